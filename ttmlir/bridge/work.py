"""How the programs of a launch grid are dealt to cores."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ttmlir.program.description import Core

CHIP_GRID = (8, 8)
"""Columns and rows of cores that every supported chip has."""


def assign_programs(
    grid: Sequence[int], chip_grid: tuple[int, int] = CHIP_GRID
) -> tuple[tuple[Core, int, int], ...]:
    """Cores with the first and the number of the programs that each runs.

    The programs of `grid` are numbered in row-major order. A grid that fits a row or the rectangle
    of cores, columns first, has a core for each of them; others are dealt in equal shares to as few
    cores as need no more than the fewest turns. ValueError for a grid without programs.
    """
    count = math.prod(grid)
    if count < 1 or min(grid, default=1) < 1:
        raise ValueError(f"the grid {tuple(grid)} has no programs; give extents of at least 1")
    columns, rows = chip_grid
    share = -(-count // (columns * rows))
    cores = -(-count // share)
    return tuple(
        ((core % columns, core // columns), core * share, min(share, count - core * share))
        for core in range(cores)
    )
