"""Resizing: products with a matrix along each dimension, made from coordinates."""

from __future__ import annotations

from collections.abc import Sequence

from ttmlir.arrays.array import Array


def multiply_along(x: Array, dim: int, matrix: Array) -> Array:
    """The rows along a dimension times a matrix."""
    order = [*(i for i in range(x.rank) if i != dim), dim]
    rows = x.permute(order) @ matrix.cast(x.dtype)
    return rows.permute([order.index(i) for i in range(x.rank)])


def multiply_along_last(x: Array, matrices: Sequence[Array | None]) -> Array:
    """The product with a matrix along each of the last dimensions; None leaves one as it is."""
    for dim, matrix in enumerate(matrices, x.rank - len(matrices)):
        if matrix is not None:
            x = multiply_along(x, dim, matrix)
    return x
