"""Divides equal units of work among cores.

Source: tt-metal, tt_metal/common/work_split.cpp.
"""

from __future__ import annotations

from ttmlir.metalium.cores import CoreCoord, CoreRange, CoreRangeSet, set_of_cores
from ttmlir.metalium.errors import MetaliumError

Split = tuple[int, CoreRangeSet, CoreRangeSet, CoreRangeSet, int, int]


def num_cores_to_corerangeset(
    num_cores: int, grid_size: tuple[int, int], row_wise: bool = False
) -> CoreRangeSet:
    """The first cores of a grid, column by column, or row by row with `row_wise`."""
    columns, rows = grid_size
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
        grid = CoreCoord(*grid_size)
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
