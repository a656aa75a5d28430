"""Addresses of buffers: the same in every bank of a memory.

Buffers in DRAM are allocated from the bottom up, buffers in L1 from the top down, so that circular
buffers can grow up from the first unreserved byte of L1. Each takes the first gap from its side.
Addresses are multiples of the alignment of DRAM in both memories, for pages are copied between
them. Source: tt-metal, tech_reports/memory/allocator.md; impl/allocator/bank_manager.cpp.
"""

from __future__ import annotations

from bisect import bisect, bisect_left, bisect_right, insort

from ttmlir.sim.errors import AllocationError


class Allocator:
    """The part of a bank that buffers may take, and which of it they have taken."""

    def __init__(self, name: str, start: int, end: int, alignment: int, *, top_down: bool) -> None:
        """All bytes from `start` on and before `end` are free."""
        self.name = name
        self.start = start
        self.end = end
        self.alignment = alignment
        self.top_down = top_down
        self._taken: dict[int, int] = {}
        """Address and size of what is taken, by address."""
        self._starts: list[int] = []
        """The addresses of what is taken, in order."""
        self._gaps = [(start, end)]
        """Start and end of what is free, in order."""

    @property
    def taken(self) -> list[tuple[int, int]]:
        """Address and size of everything that is taken, in order."""
        return sorted(self._taken.items())

    @property
    def lowest(self) -> int:
        """The first byte that is taken; the end if none is."""
        return min(self._taken, default=self.end)

    @property
    def largest_gap(self) -> int:
        """Bytes per bank of the largest buffer for which there is room."""
        return max((high - self._aligned(low) for low, high in self._gaps), default=0)

    def block_at(self, address: int) -> tuple[int, int] | None:
        """Start and end of what is taken there; None if nothing is."""
        index = bisect_right(self._starts, address) - 1
        if index < 0:
            return None
        start = self._starts[index]
        end = start + self._taken[start]
        return (start, end) if address < end else None

    def allocate(self, size: int, *, bottom_up: bool | None = None) -> int:
        """Take bytes of every bank; AllocationError if no gap is large enough.

        `bottom_up` says from which side, for buffers that do not go by their memory.
        """
        size = self._aligned(size)
        top_down = self.top_down if bottom_up is None else not bottom_up
        gaps = reversed(self._gaps) if top_down else self._gaps
        for low, high in gaps:
            if high - self._aligned(low) >= size:
                top = (high - size) // self.alignment * self.alignment
                address = top if top_down else self._aligned(low)
                self._take(address, size)
                return address
        raise AllocationError(
            f"{size} bytes per bank do not fit into {self.name}: the largest gap has "
            f"{max(self.largest_gap, 0)} of its {self.end - self.start} bytes; deallocate buffers "
            "or make them smaller",
            rule="out-of-memory",
            detail=self.map(),
        )

    def take(self, address: int, size: int) -> None:
        """Take bytes at a given address; AllocationError if others have them."""
        end = address + size
        if not self.start <= address <= end <= self.end:
            raise AllocationError(
                f"bytes {address:#x} to {end:#x} are outside of what buffers may take of "
                f"{self.name}: {self.start:#x} to {self.end:#x}",
                rule="out-of-memory",
            )
        for other, other_size in self.taken:
            if address < other + other_size and other < end:
                raise AllocationError(
                    f"bytes {address:#x} to {end:#x} of {self.name} overlap the buffer at "
                    f"{other:#x}, which has {other_size} bytes",
                    rule="out-of-memory",
                    detail=self.map(),
                )
        self._take(address, size)

    def free(self, address: int) -> None:
        """Give bytes back."""
        low, high = address, address + self._taken.pop(address)
        del self._starts[bisect_left(self._starts, address)]
        index = bisect(self._gaps, (low, high))
        if index < len(self._gaps) and self._gaps[index][0] == high:
            high = self._gaps.pop(index)[1]
        if index and self._gaps[index - 1][1] == low:
            index -= 1
            low = self._gaps.pop(index)[0]
        if high > low:
            self._gaps.insert(index, (low, high))

    def _aligned(self, number: int) -> int:
        return -(-number // self.alignment) * self.alignment

    def _take(self, address: int, size: int) -> None:
        """Take bytes of a gap, which is known to have them."""
        self._taken[address] = size
        insort(self._starts, address)
        index = bisect(self._gaps, (address, self.end)) - 1
        if index < 0 or size == 0:
            return
        low, high = self._gaps[index]
        rest = [(low, address), (address + size, high)]
        self._gaps[index : index + 1] = [gap for gap in rest if gap[0] < gap[1]]

    def map(self) -> tuple[str, ...]:
        """What is taken, a line each."""
        return tuple(
            f"{self.name}: {address:#x} to {address + size:#x}, {size} bytes: buffer"
            for address, size in self.taken
        )
