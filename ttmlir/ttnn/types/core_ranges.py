"""Cores of ranges in an order, and ranges of some of them."""

from __future__ import annotations

from itertools import islice
from typing import Any, overload

from ttmlir.errors import ArgumentError, ArgumentTypeError, UsageError
from ttmlir.metalium.cores import CoreCoord, CoreRange, CoreRangeSet


def _cores(ranges: CoreRangeSet, row_wise: bool) -> list[CoreCoord]:
    """The cores of each range after the other, by rows or by columns."""
    found: list[CoreCoord] = []
    for each in ranges.ranges():
        first, last = each.start, each.end
        columns, rows = range(first.x, last.x + 1), range(first.y, last.y + 1)
        if row_wise:
            found.extend(CoreCoord(x, y) for y in rows for x in columns)
        else:
            found.extend(CoreCoord(x, y) for x in columns for y in rows)
    return found


def corerange_to_cores(
    core_range_set: CoreRangeSet | CoreRange, max_cores: int | None = None, row_wise: bool = False
) -> list[CoreCoord]:
    """The cores of ranges in order, by columns unless by rows; at most so many."""
    if max_cores is not None and max_cores < 0:
        raise ArgumentError(f"max_cores={max_cores} is negative")
    ranges = core_range_set
    if isinstance(ranges, CoreRange):
        ranges = CoreRangeSet([ranges])
    return list(islice(_cores(ranges, row_wise), max_cores))


def num_cores_to_corerangeset_in_subcoregrids(
    start_core: CoreCoord | tuple[int, int],
    target_num_cores: int,
    sub_core_grids: CoreRangeSet,
    row_wise: bool = False,
) -> CoreRangeSet:
    """So many cores of ranges, from one of them on; RuntimeError if there are fewer."""
    cores = _cores(sub_core_grids, row_wise)
    start = CoreCoord(*start_core)
    if start not in cores:
        raise UsageError(f"start_core {start} is none of {sub_core_grids}")
    chosen = cores[cores.index(start) :][:target_num_cores]
    if target_num_cores < 1 or len(chosen) < target_num_cores:
        raise UsageError(
            f"target_num_cores={target_num_cores}, but there are {len(chosen)} from {start} on"
        )
    return CoreRangeSet([CoreRange(core, core) for core in chosen])


@overload
def grid_to_cores(
    num_cores: int, grid_size_x: int, grid_size_y: int, row_wise: bool = False, /
) -> list[CoreCoord]: ...


@overload
def grid_to_cores(
    start: CoreCoord, end: CoreCoord, row_wise: bool = False, /
) -> list[CoreCoord]: ...


def grid_to_cores(first: Any, second: Any, *more: Any) -> list[CoreCoord]:
    """So many cores of a grid of columns and rows, or those between two, by columns or by rows.

    RuntimeError for more cores than the grid has.
    """
    if not isinstance(first, int):
        ranges = CoreRangeSet([CoreRange(first, second)])
        return _cores(ranges, row_wise=bool(more and more[0]))
    if not more:
        raise ArgumentTypeError("grid_to_cores takes num_cores, grid_size_x and grid_size_y")
    rows, *row_wise = more
    if not 0 <= first <= second * rows:
        raise UsageError(f"a grid of {second}x{rows} cores has no {first}")
    ranges = CoreRangeSet([CoreRange((0, 0), (second - 1, rows - 1))])
    return _cores(ranges, row_wise=bool(row_wise and row_wise[0]))[:first]
