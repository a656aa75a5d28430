"""Cores and rectangles of cores. Source: tt-metal, tt_metal/api/tt-metalium/core_coord.hpp."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple, Self, TypeAlias, cast

from ttmlir.metalium.errors import MetaliumError


class _Place(NamedTuple):
    x: int
    y: int


class CoreCoord(_Place):
    """A core, or the extent of a grid: column x and row y, counted from 0."""

    __slots__ = ()

    def __new__(cls, x: int | tuple[int, int], y: int | None = None) -> Self:
        """The core in a column and row, which may come as a pair."""
        if isinstance(x, tuple):
            return super().__new__(cls, *x)
        if y is None:
            raise TypeError("CoreCoord takes x and y, or a pair of them")
        return super().__new__(cls, x, y)

    def __repr__(self) -> str:
        """As tt-metal prints it."""
        return f"(x={self.x},y={self.y})"

    __str__ = __repr__


class CoreRange:
    """A rectangle of cores from `start_coord` to `end_coord`, both included."""

    def __init__(self, start: tuple[int, int], end: tuple[int, int] | None = None) -> None:
        """The rectangle between two corners, or one core; MetaliumError if they are swapped."""
        self.start_coord = _coordinate(start)
        self.end_coord = _coordinate(start if end is None else end)
        if self.end_coord.x < self.start_coord.x or self.end_coord.y < self.start_coord.y:
            raise MetaliumError(
                f"a range of cores goes from its first to its last corner; {self.end_coord} is "
                f"before {self.start_coord}"
            )

    @property
    def start(self) -> CoreCoord:
        """The first corner."""
        return self.start_coord

    @property
    def end(self) -> CoreCoord:
        """The last corner."""
        return self.end_coord

    def contains(self, other: tuple[int, int] | CoreRange | CoreRangeSet) -> bool:
        """Whether all cores of another range, or a core, are in this one."""
        return set(cores_of(other)) <= set(self)

    def intersection(self, other: CoreRange) -> CoreRange | None:
        """The cores that both rectangles have; None if there are none."""
        left, top = (max(pair) for pair in zip(self.start_coord, other.start_coord, strict=True))
        right, bottom = (min(pair) for pair in zip(self.end_coord, other.end_coord, strict=True))
        return CoreRange((left, top), (right, bottom)) if left <= right and top <= bottom else None

    def intersects(self, other: CoreRange) -> bool:
        """Whether both rectangles have a core."""
        return self.intersection(other) is not None

    def grid_size(self) -> CoreCoord:
        """Columns and rows of the rectangle."""
        return CoreCoord(
            self.end_coord.x - self.start_coord.x + 1, self.end_coord.y - self.start_coord.y + 1
        )

    def size(self) -> int:
        """How many cores it has."""
        columns, rows = self.grid_size()
        return columns * rows

    def __iter__(self) -> Iterator[CoreCoord]:
        """The cores, row by row."""
        for y in range(self.start_coord.y, self.end_coord.y + 1):
            for x in range(self.start_coord.x, self.end_coord.x + 1):
                yield CoreCoord(x, y)

    def __eq__(self, other: object) -> bool:
        """Whether another range has the same corners."""
        if not isinstance(other, CoreRange):
            return NotImplemented
        return (self.start_coord, self.end_coord) == (other.start_coord, other.end_coord)

    def __hash__(self) -> int:
        """By the corners."""
        return hash((self.start_coord, self.end_coord))

    def __repr__(self) -> str:
        """As a call that makes it."""
        return f"CoreRange({tuple(self.start_coord)}, {tuple(self.end_coord)})"


class CoreRangeSet:
    """Rectangles of cores that do not overlap."""

    def __init__(
        self, ranges: CoreRange | CoreRangeSet | tuple[int, int] | Iterable[CoreRange] = ()
    ) -> None:
        """The union of ranges, or of one range or core; MetaliumError if two share a core."""
        self._ranges = _ranges_of(ranges)
        cores = [core for each in self._ranges for core in each]
        if len(set(cores)) < len(cores):
            raise MetaliumError(f"ranges of a CoreRangeSet must not overlap: {self}")

    def ranges(self) -> tuple[CoreRange, ...]:
        """The rectangles."""
        return self._ranges

    def num_cores(self) -> int:
        """How many cores they have together."""
        return sum(each.size() for each in self._ranges)

    def size(self) -> int:
        """How many rectangles there are."""
        return len(self._ranges)

    def empty(self) -> bool:
        """Whether there is no core."""
        return not self._ranges

    def bounding_box(self) -> CoreRange:
        """The smallest rectangle with all cores; MetaliumError if there is no core."""
        if not self._ranges:
            raise MetaliumError("an empty CoreRangeSet has no bounding box")
        columns = [x for x, _ in self]
        rows = [y for _, y in self]
        return CoreRange((min(columns), min(rows)), (max(columns), max(rows)))

    def contains(self, other: tuple[int, int] | CoreRange | CoreRangeSet) -> bool:
        """Whether all cores of others, or a core, are in this set."""
        return set(cores_of(other)) <= set(self)

    def merge(self, other: CoreRangeSet | Iterable[CoreRange]) -> CoreRangeSet:
        """The cores of either set."""
        added = other if isinstance(other, CoreRangeSet) else CoreRangeSet(other)
        return set_of_cores({*self, *added})

    def merge_ranges(self) -> CoreRangeSet:
        """The same cores in as few rectangles as neighbouring runs of rows make."""
        return set_of_cores(set(self))

    def subtract(self, other: CoreRangeSet) -> CoreRangeSet:
        """The cores of this set that another one has not."""
        return set_of_cores(set(self) - set(other))

    def intersection(self, other: CoreRangeSet) -> CoreRangeSet:
        """The cores that both sets have."""
        return set_of_cores(set(self) & set(other))

    def intersects(self, other: tuple[int, int] | CoreRange | CoreRangeSet) -> bool:
        """Whether both have a core."""
        return not set(self).isdisjoint(cores_of(other))

    def __iter__(self) -> Iterator[CoreCoord]:
        """The cores, range by range, each row by row."""
        for each in self._ranges:
            yield from each

    def __contains__(self, core: object) -> bool:
        """Whether a core is in one of the ranges."""
        return any(core == each for each in self)

    def __eq__(self, other: object) -> bool:
        """Whether another set has the same cores."""
        return set(self) == set(other) if isinstance(other, CoreRangeSet) else NotImplemented

    def __hash__(self) -> int:
        """By the cores."""
        return hash(frozenset(self))

    def __repr__(self) -> str:
        """As a call that makes it."""
        return f"CoreRangeSet([{', '.join(repr(each) for each in self._ranges)}])"


def _coordinate(place: object) -> CoreCoord:
    """A corner of a rectangle; MetaliumError for what is no pair of integers."""
    match place:
        case (int(x), int(y)):
            return CoreCoord(x, y)
        case _:
            raise MetaliumError(f"a core is a pair of integers (x, y), not {place!r}")


def _ranges_of(given: object) -> tuple[CoreRange, ...]:
    """The ranges that a set is made of."""
    match given:
        case CoreRangeSet():
            return given.ranges()
        case CoreRange():
            return (given,)
        case (int(x), int(y)):
            return (CoreRange((x, y)),)
        case Iterable():
            listed = tuple(cast("Iterable[object]", given))
            wrong = next((each for each in listed if not isinstance(each, CoreRange)), None)
            if wrong is None:
                return cast("tuple[CoreRange, ...]", listed)
            given = wrong
        case _:
            pass
    raise MetaliumError(f"a CoreRangeSet is made of CoreRanges, not of {given!r}")


CoreSpec: TypeAlias = CoreCoord | CoreRange | CoreRangeSet | tuple[int, int]
"""Where a call takes cores: one of them, a rectangle, or several."""


def cores_of(spec: CoreSpec) -> tuple[tuple[int, int], ...]:
    """The (x, y) of all cores that are meant."""
    match spec:
        case CoreRange() | CoreRangeSet():
            return tuple((core.x, core.y) for core in spec)
        case (int(x), int(y)):
            return ((x, y),)
        case _:
            raise MetaliumError(
                f"cores are given as CoreCoord, CoreRange or CoreRangeSet, not as {spec!r}"
            )


def set_of_cores(cores: Iterable[tuple[int, int]]) -> CoreRangeSet:
    """The set of these cores: runs of rows, and equal runs of neighbouring rows as a rectangle."""
    runs: list[CoreRange] = []
    for x, y in sorted(cores, key=lambda core: (core[1], core[0])):
        last = runs[-1] if runs else None
        if last is not None and (last.end.x + 1, last.end.y) == (x, y):
            runs[-1] = CoreRange(last.start, (x, y))
        else:
            runs.append(CoreRange((x, y)))
    ranges: list[CoreRange] = []
    for run in runs:
        for index, above in enumerate(ranges):
            if (above.start.x, above.end.x, above.end.y + 1) == (run.start.x, run.end.x, run.end.y):
                ranges[index] = CoreRange(above.start, run.end)
                break
        else:
            ranges.append(run)
    return CoreRangeSet(ranges)
