"""Addresses for buffers whose lives are known: largest first, each into the tightest gap.

planner = AddressPlanner(base, end, alignment)
planner.fix(Life(3, 3), base, 4096)            # memory that is taken in step 3
planner.place([Request(2048, Life(0, 4)), ...])     # an address for each, or None
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Sequence
from dataclasses import dataclass

BUCKET = 64
"""Steps whose buffers are looked up together."""


@dataclass(frozen=True, order=True)
class Life:
    """The first and the last step in which a buffer is needed."""

    first: int
    last: int

    def overlaps(self, other: Life) -> bool:
        """True if there is a step in which both are needed."""
        return self.first <= other.last and other.first <= self.last


@dataclass(frozen=True)
class Request:
    """Memory for a buffer."""

    size: int
    life: Life


@dataclass(frozen=True, order=True)
class _Placed:
    address: int
    end: int
    life: Life
    number: int


class AddressPlanner:
    """The memory between two addresses, over the steps of a program."""

    def __init__(self, base: int, end: int, alignment: int) -> None:
        """Begin with all memory free; addresses are multiples of `alignment`."""
        self._base = self._align(base, alignment)
        self._end = end
        self._alignment = alignment
        self._buckets: dict[int, list[_Placed]] = {}
        self._count = 0

    @staticmethod
    def _align(address: int, alignment: int) -> int:
        return -(-address // alignment) * alignment

    def fix(self, life: Life, address: int, size: int) -> None:
        """Take memory at a given address."""
        placed = _Placed(address, address + size, life, self._count)
        self._count += 1
        for bucket in self._buckets_of(life):
            insort(self._buckets.setdefault(bucket, []), placed)

    def place(self, requests: Sequence[Request]) -> list[int | None]:
        """An address for each request, None where nothing is left; largest first."""
        order = sorted(
            range(len(requests)), key=lambda each: (-requests[each].size, requests[each].life)
        )
        addresses: list[int | None] = [None] * len(requests)
        for number in order:
            addresses[number] = self.place_one(requests[number])
        return addresses

    def place_one(self, request: Request) -> int | None:
        """The start of the tightest gap that a buffer fits into."""
        best: tuple[int, int] | None = None
        free = self._base
        for placed in (*self._conflicts(request.life), None):
            limit = self._end if placed is None else placed.address
            left = limit - free - request.size
            if left >= 0 and (best is None or left < best[0]):
                best = left, free
            if placed is not None:
                free = max(free, self._align(placed.end, self._alignment))
        if best is None:
            return None
        self.fix(request.life, best[1], request.size)
        return best[1]

    def _conflicts(self, life: Life) -> list[_Placed]:
        found = {
            placed
            for bucket in self._buckets_of(life)
            for placed in self._buckets.get(bucket, ())
            if placed.life.overlaps(life)
        }
        return sorted(found)

    @staticmethod
    def _buckets_of(life: Life) -> range:
        return range(life.first // BUCKET, life.last // BUCKET + 1)
