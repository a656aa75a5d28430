"""Operators that are sums of products of matrices and vectors."""

from __future__ import annotations

from ttmlir.arrays.array import Array
from ttmlir.composites.contraction import einsum
from ttmlir.frontend.onnx.call import Call, Rule, on_arrays


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


RULES: dict[str, Rule] = {
    "Einsum": _einsum,
    "Gemm": _gemm,
    "MatMul": on_arrays(_matmul, "A", "B"),
}
"""Rules by the names of operators."""
