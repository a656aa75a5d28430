"""Divides equal units of work among cores.

Source: tt-metal, tt_metal/common/work_split.cpp.
"""

from __future__ import annotations

from ttmlir.metalium.cores import CoreCoord, CoreRange, CoreRangeSet
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


def split_work_to_cores(
    grid_size: tuple[int, int], units_to_divide: int, row_wise: bool = False
) -> Split:
    """Divide units as evenly as whole units allow.

    Returns the number of cores, all of them, those that get one unit more, those that do not, and
    how many units a core of each of the two groups gets. If all get the same, the second group is
    empty and its cores get 0.
    """
    if units_to_divide < 1:
        raise MetaliumError(f"{units_to_divide} units of work; there has to be at least one")
    grid = CoreCoord(*grid_size)
    num_cores = min(units_to_divide, grid.x * grid.y)
    units, more = divmod(units_to_divide, num_cores)
    every = _span(0, num_cores, grid, row_wise)
    if more == 0:
        return num_cores, every, every, CoreRangeSet(), units, 0
    first = _span(0, more, grid, row_wise)
    second = _span(more, num_cores, grid, row_wise)
    return num_cores, every, first, second, units + 1, units


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
