"""Grids of cores and the text of shapes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from ttmlir.layout.affine import AffineMap

NO_MAPPING = AffineMap.identity(0)
"""The mapping of a grid that says nothing about where its cores are: `() -> ()`."""


def shape_text(shape: Sequence[int]) -> str:
    """Extents as the IR writes them, such as `2x4`."""
    return "x".join(map(str, shape))


@dataclass(frozen=True, slots=True)
class Grid:
    """A grid of cores: its extents and, for a device's grid, where each core is.

    The mapping takes a coordinate of the grid to (chip index, core y, core x).
    """

    shape: tuple[int, ...]
    mapping: AffineMap = NO_MAPPING

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def volume(self) -> int:
        """The number of cores."""
        return math.prod(self.shape)

    def coordinates(self) -> Iterator[tuple[int, ...]]:
        """All coordinates in row-major order."""
        return product(*map(range, self.shape))

    def __str__(self) -> str:
        """The IR text between the angle brackets."""
        text = shape_text(self.shape)
        return text if self.mapping == NO_MAPPING else f"{text}, {self.mapping}"
