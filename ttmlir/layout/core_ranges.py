"""Rectangles of cores that a grid covers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from ttmlir.layout.affine import AffineMap
from ttmlir.layout.errors import LayoutError
from ttmlir.layout.grid import Grid, shape_text

MAX_CORES = 1 << 16
"""Far above any device: larger grids are mistakes, and counting their cores would take for ever."""


@dataclass(frozen=True, slots=True)
class CoreRange:
    """A rectangle of cores on one chip."""

    y: int
    x: int
    height: int
    width: int


@lru_cache(maxsize=1024)
def core_range_set(
    grid_shape: tuple[int, ...], mapping: AffineMap, chip: int = 0
) -> tuple[CoreRange, ...]:
    """The cores of one chip that a layout's grid covers, as rectangles in order of the grid.

    `mapping` is that of the device's worker grid. LayoutError if the ranks differ or the grid has
    more than MAX_CORES cores.
    """
    if len(grid_shape) != mapping.num_dims:
        raise LayoutError(
            f"a layout's grid has the rank of the device's grid, {mapping.num_dims}, "
            f"got {shape_text(grid_shape)}"
        )
    grid = Grid(grid_shape)
    if grid.volume > MAX_CORES:
        raise LayoutError(f"a layout's grid has at most {MAX_CORES} cores, got {grid}")
    ranges: list[CoreRange] = []
    for coordinate in grid.coordinates():
        owner, y, x = mapping.eval(coordinate)
        if owner == chip:
            _add_core(ranges, y, x)
    return tuple(ranges)


def _add_core(ranges: list[CoreRange], y: int, x: int) -> None:
    last = ranges[-1] if ranges else None
    if last is not None and (last.y, last.x + last.width, last.height) == (y, x, 1):
        ranges[-1] = CoreRange(last.y, last.x, 1, last.width + 1)
    else:
        ranges.append(CoreRange(y, x, 1, 1))
    _stack_last_two(ranges)


def _stack_last_two(ranges: list[CoreRange]) -> None:
    """Join the last two rectangles if the later one stands right below the earlier one."""
    if len(ranges) < 2:
        return
    upper, lower = ranges[-2:]
    if (upper.x, upper.width, upper.y + upper.height) == (lower.x, lower.width, lower.y):
        height = upper.height + lower.height
        ranges[-2:] = [CoreRange(upper.y, upper.x, height, upper.width)]
