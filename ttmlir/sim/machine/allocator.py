"""Addresses of buffers: the same in every bank of a memory.

Buffers in DRAM are allocated from the bottom up, buffers in L1 from the top down, so that circular
buffers can grow up from the first unreserved byte of L1. Source: tt-metal,
tech_reports/memory/allocator.md.
"""

from __future__ import annotations

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

    @property
    def taken(self) -> list[tuple[int, int]]:
        """Address and size of everything that is taken, in order."""
        return sorted(self._taken.items())

    @property
    def lowest(self) -> int:
        """The first byte that is taken; the end if none is."""
        return min(self._taken, default=self.end)

    def allocate(self, size: int) -> int:
        """Take bytes of every bank; AllocationError if no gap is large enough."""
        size = -(-size // self.alignment) * self.alignment
        gaps = [(low, high) for low, high in self._gaps() if high - low >= size]
        if not gaps:
            largest = max((high - low for low, high in self._gaps()), default=0)
            raise AllocationError(
                f"{size} bytes per bank do not fit into {self.name}: the largest gap has {largest} "
                f"of its {self.end - self.start} bytes; deallocate buffers or make them smaller",
                rule="out-of-memory",
                detail=self.map(),
            )
        if self.top_down:
            address = (gaps[-1][1] - size) // self.alignment * self.alignment
        else:
            address = gaps[0][0]
        self._taken[address] = size
        return address

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
        self._taken[address] = size

    def free(self, address: int) -> None:
        """Give bytes back."""
        del self._taken[address]

    def map(self) -> tuple[str, ...]:
        """What is taken, a line each."""
        return tuple(
            f"{self.name}: {address:#x} to {address + size:#x}, {size} bytes: buffer"
            for address, size in self.taken
        )

    def _gaps(self) -> list[tuple[int, int]]:
        """Start and end of what is free, starts aligned."""
        gaps: list[tuple[int, int]] = []
        low = self.start
        for address, size in [*self.taken, (self.end, 0)]:
            low = -(-low // self.alignment) * self.alignment
            if address > low:
                gaps.append((low, address))
            low = max(low, address + size)
        return gaps
