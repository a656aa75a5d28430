"""Cores and rectangles of cores. Source: tt-metal, tt_metal/api/tt-metalium/core_coord.hpp."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple, Self, TypeAlias, cast

from ttmlir.errors import ArgumentTypeError
from ttmlir.limits import MAX_CORES
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
            raise ArgumentTypeError("CoreCoord takes x and y, or a pair of them")
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
        """The cores, row by row; MetaliumError for more than any chip has."""
        if self.size() > MAX_CORES:
            raise MetaliumError(f"{self} has {self.size()} cores; no chip has that many")
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


# --- Work split -----------------------------------------------------------------------------------
# Divides equal units of work among cores.
#
# Source: tt-metal, tt_metal/common/work_split.cpp.

Split = tuple[int, CoreRangeSet, CoreRangeSet, CoreRangeSet, int, int]


def num_cores_to_corerangeset(
    num_cores: int, grid_size: tuple[int, int], row_wise: bool = False
) -> CoreRangeSet:
    """The first cores of a grid, column by column, or row by row with `row_wise`."""
    columns, rows = _read_grid(grid_size)
    if not 0 <= num_cores <= columns * rows:
        raise MetaliumError(f"{num_cores} cores are more than the {columns}x{rows} of the grid")
    return _span(0, num_cores, CoreCoord(columns, rows), row_wise)


def num_cores_to_corerangeset_in_subcoregrids(
    start_core: tuple[int, int],
    num_cores: int,
    sub_core_grids: CoreRangeSet,
    row_wise: bool = False,
) -> CoreRangeSet:
    """So many cores of a set from one of them on, range by range."""
    listed = corerange_to_cores(sub_core_grids, row_wise=row_wise)
    if start_core not in listed:
        raise MetaliumError(f"core {CoreCoord(*start_core)} is not one of {sub_core_grids}")
    first = listed.index(CoreCoord(*start_core))
    if not 0 <= num_cores <= len(listed) - first:
        raise MetaliumError(
            f"{num_cores} cores are more than the {len(listed) - first} from "
            f"{CoreCoord(*start_core)} on"
        )
    return set_of_cores(listed[first : first + num_cores])


def split_work_to_cores(
    grid_size: tuple[int, int] | CoreRangeSet, units_to_divide: int, row_wise: bool = False
) -> Split:
    """Divide units as evenly as whole units allow, on a grid or the cores of a set.

    Returns the number of cores, all of them, those that get one unit more, those that do not, and
    how many units a core of each of the two groups gets. If all get the same, the second group is
    empty and its cores get 0.
    """
    if not isinstance(cast("object", units_to_divide), int):
        raise MetaliumError(f"{units_to_divide!r} units of work; they are whole: divide with //")
    if units_to_divide < 1:
        raise MetaliumError(f"{units_to_divide} units of work; there has to be at least one")
    if isinstance(grid_size, CoreRangeSet):
        listed = corerange_to_cores(grid_size, row_wise=row_wise)
        available = len(listed)
        if not listed:
            raise MetaliumError("an empty CoreRangeSet has no cores for work")
        grid = CoreCoord(0, 0)
    else:
        listed = []
        grid = _read_grid(grid_size)
        available = grid.x * grid.y
    num_cores = min(units_to_divide, available)

    def cores(begin: int, end: int) -> CoreRangeSet:
        if listed:
            return set_of_cores(listed[begin:end])
        return _span(begin, end, grid, row_wise)

    units, more = divmod(units_to_divide, num_cores)
    every = cores(0, num_cores)
    if more == 0:
        return num_cores, every, every, CoreRangeSet(), units, 0
    return num_cores, every, cores(0, more), cores(more, num_cores), units + 1, units


def _read_grid(grid: object) -> CoreCoord:
    match grid:
        case (int(columns), int(rows)):
            return CoreCoord(columns, rows)
        case _:
            raise MetaliumError(
                "a grid is its columns and rows, such as device.compute_with_storage_grid_size(), "
                f"not {grid!r}"
            )


def corerange_to_cores(
    crs: CoreRangeSet | CoreRange, max_cores: int | None = None, row_wise: bool = False
) -> list[CoreCoord]:
    """The cores of each range in turn, column by column, or row by row with `row_wise`.

    No more than `max_cores`, if it is given.
    """
    ranges = (crs,) if isinstance(crs, CoreRange) else crs.ranges()
    cores = [
        core
        for each in ranges
        for core in (each if row_wise else sorted(each, key=lambda core: (core.x, core.y)))
    ]
    return cores if max_cores is None else cores[:max_cores]


def grid_to_cores(
    num_cores: int | tuple[int, int],
    grid_size_x: int | tuple[int, int],
    grid_size_y: int | bool = False,
    row_wise: bool = False,
) -> list[CoreCoord]:
    """The first cores of a grid, or all from a first to a last one; column by column by default.

    Forms: `grid_to_cores(num_cores, columns, rows, row_wise)` and
    `grid_to_cores(start, end, row_wise)`.
    """
    match num_cores, grid_size_x:
        case (int(start_x), int(start_y)), (int(end_x), int(end_y)):
            whole = CoreRange((start_x, start_y), (end_x, end_y))
            return corerange_to_cores(whole, row_wise=bool(grid_size_y) or row_wise)
        case int(count), int(columns):
            if not 0 <= count <= columns * int(grid_size_y):
                raise MetaliumError(
                    f"{count} cores are more than the {columns}x{int(grid_size_y)} of the grid"
                )
            grid = CoreRange((0, 0), (columns - 1, int(grid_size_y) - 1))
            return corerange_to_cores(grid, count, row_wise)
        case _:
            raise MetaliumError(
                "grid_to_cores takes a number of cores with the columns and rows of a grid, or a "
                "first and a last core"
            )


def select_from_corerangeset(
    crs: CoreRangeSet, start_index: int, end_index: int, row_wise: bool = False
) -> CoreRangeSet:
    """The cores of a set from one number to another one, both included."""
    cores = corerange_to_cores(crs, row_wise=row_wise)
    if not 0 <= start_index <= end_index < len(cores):
        raise MetaliumError(
            f"cores {start_index} to {end_index} of a set that has cores 0 to {len(cores) - 1}"
        )
    return set_of_cores(cores[start_index : end_index + 1])


def _span(begin: int, end: int, grid: CoreCoord, row_wise: bool) -> CoreRangeSet:
    """Cores by their numbers, as few rectangles: a part of a line, whole lines, a part of one."""
    length = grid.x if row_wise else grid.y
    ranges: list[CoreRange] = []
    while begin < end:
        line, place = divmod(begin, length)
        lines = (end - begin) // length if place == 0 else 0
        last = length if lines else min(length, place + end - begin)
        end_line = line + max(lines, 1) - 1
        if row_wise:
            ranges.append(CoreRange((place, line), (last - 1, end_line)))
        else:
            ranges.append(CoreRange((line, place), (end_line, last - 1)))
        begin += lines * length or last - place
    return CoreRangeSet(ranges)
