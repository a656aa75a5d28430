"""Operators that are sums of products of matrices and vectors."""

from __future__ import annotations

import math

from ttmlir.arrays.array import Array
from ttmlir.composites.contraction import einsum
from ttmlir.composites.linear_algebra import (
    factorize_by_elimination,
    find_determinants,
    solve_triangular,
)
from ttmlir.frontend.onnx.call import Call, Rule, on_arrays

MAX_ROWS = 64
"""Of matrices whose determinants and inverses are found."""


def _matmul(a: Array, b: Array) -> Array:
    return a @ b


def _gemm(call: Call) -> Array:
    """`alpha * A @ B + beta * C`, with either matrix transposed."""
    a, b = call.array("A"), call.array("B")
    a = a.transpose() if call["transA"] else a
    b = b.transpose() if call["transB"] else b
    value = _times(a @ b, float(call["alpha"]))
    if not call.has("C") or call["beta"] == 0:
        return value
    return value + _times(call.array("C"), float(call["beta"]))


def _times(x: Array, factor: float) -> Array:
    return x if factor == 1 else x * factor


def _einsum(call: Call) -> Array:
    return einsum(str(call.required("equation")), call.arrays("Inputs"))


def _determinant(call: Call) -> Array:
    matrices, batch = _matrices(call)
    return find_determinants(matrices).reshape(batch)


def invert(call: Call) -> Array:
    """The inverses of square matrices."""
    matrices, batch = _matrices(call)
    count, extent, _ = matrices.shape
    factors, _, order = factorize_by_elimination(matrices)
    columns = order.count(2, (count, 1, extent))
    exchanged = order.unsqueeze(2).eq(columns).cast(matrices.dtype)
    [lower] = solve_triangular(factors, exchanged, lower=True, unit=True)
    [found] = solve_triangular(factors, lower, lower=False, unit=False)
    return found.reshape((*batch, extent, extent))


def _matrices(call: Call) -> tuple[Array, list[int]]:
    """Square matrices (number, rows, columns), and the dimensions before rows and columns."""
    x = call.array("X")
    if x.rank < 2 or x.shape[-1] != x.shape[-2]:
        call.refuse(f"matrices have as many rows as columns; the tensor is {list(x.shape)}")
    *batch, extent, _ = x.shape
    if extent > MAX_ROWS:
        call.refuse(f"matrices have up to {MAX_ROWS} rows, each of which is operations of its own")
    return x.reshape((math.prod(batch), extent, extent)), batch


RULES: dict[str, Rule] = {
    "Det": _determinant,
    "Einsum": _einsum,
    "Gemm": _gemm,
    "MatMul": on_arrays(_matmul, "A", "B"),
}
"""Rules by the names of operators."""
