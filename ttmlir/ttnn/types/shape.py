"""Shapes of tensors."""

from __future__ import annotations

from collections.abc import Iterable

from ttmlir.errors import ArgumentError, UsageError

Extents = Iterable[int]


class Shape(tuple[int, ...]):
    """The extents of a tensor: a tuple, which is printed as ttnn prints it."""

    __slots__ = ()

    def __new__(cls, extents: Extents = ()) -> Shape:
        """The shape with these extents; ValueError for negative ones."""
        shape = super().__new__(cls, map(int, extents))
        if shape and min(shape) < 0:
            raise ArgumentError(f"extents of a shape are not negative, got {list(shape)}")
        return shape

    @property
    def rank(self) -> int:
        """How many dimensions there are."""
        return len(self)

    def to_rank(self, rank: int) -> Shape:
        """The shape with ones in front, or without; RuntimeError if others would be lost."""
        dropped = max(len(self) - rank, 0)
        if any(extent != 1 for extent in self[:dropped]):
            raise UsageError(f"{self} has no rank {rank}: only leading ones can be dropped")
        return Shape((1,) * (rank - len(self)) + self[dropped:])

    def __eq__(self, other: object) -> bool:
        """Whether another shape, or a list, has the same extents."""
        if isinstance(other, list):
            return [*self] == other
        return super().__eq__(other)

    def __ne__(self, other: object) -> bool:
        """The opposite."""
        return not self == other

    def __hash__(self) -> int:
        """As that of a tuple."""
        return super().__hash__()

    def __repr__(self) -> str:
        """As ttnn prints it."""
        return f"Shape({list(self)})"
