"""Operators on integers that stand for numbers."""

from __future__ import annotations

import math
from functools import reduce
from operator import add

import numpy as np

from ttmlir.arrays.array import Array
from ttmlir.arrays.carriers import host_dtype
from ttmlir.composites.quantization import Quantization, dequantize, round_to_integers
from ttmlir.frontend.onnx.call import Call, Rule
from ttmlir.frontend.onnx.elements import (
    DTYPES,
    SMALL_FLOATS,
    SMALL_INTEGERS,
    Tensor,
    type_name,
)
from ttmlir.frontend.onnx.rules.elementwise import round_to_format
from ttmlir.frontend.onnx.rules.window import check_kernel, convolve
from ttmlir.ir.builder import EXACT_SUM


def _along(call: Call, x: Array, given: Array) -> Array:
    """Scales or zero points in a shape that broadcasts against a tensor."""
    if given.rank == 0 or given.shape == (1,):
        return given.reshape((1,) * x.rank)
    dim = call.dim(x.rank, default=1)
    block = int(call["block_size"] or 0)
    if not block:
        if given.rank != 1 or given.shape[0] != x.shape[dim]:
            call.refuse(
                f"scales and zero points of the shape {list(given.shape)} do not fit dimension "
                f"{dim} of {list(x.shape)}"
            )
        return given.reshape([n if i == dim else 1 for i, n in enumerate(x.shape)])
    extents = [-(-n // block) if i == dim else n for i, n in enumerate(x.shape)]
    if list(given.shape) != extents:
        call.refuse(
            f"scales and zero points of the shape {list(given.shape)} do not fit blocks of {block} "
            f"along dimension {dim} of {list(x.shape)}"
        )
    wide = [*given.shape[: dim + 1], block, *given.shape[dim + 1 :]]
    merged = [n * block if i == dim else n for i, n in enumerate(given.shape)]
    return given.unsqueeze(dim + 1).broadcast(wide).reshape(merged).cut(dim, 0, x.shape[dim])


def _limits(name: str) -> tuple[int, int]:
    """The least and the largest integer of a type by ONNX's name."""
    if name in SMALL_INTEGERS:
        return SMALL_INTEGERS[name]
    limits = np.iinfo(host_dtype(DTYPES[name]))
    return int(limits.min), int(limits.max)


def round_to_type(x: Array, name: str, zero: Array | None) -> Tensor:
    """Numbers that are divided by the scale as integers of a type by ONNX's name."""
    low, high = _limits(name)
    zeros = (0,) if zero is None else zero
    by = Quantization(DTYPES[name], low, high, (1,), zeros)
    return Tensor(round_to_integers(x, by), name)


def _quantize(call: Call) -> Tensor:
    x = call.array("x")
    zero = call.optional("y_zero_point")
    if zero is not None:
        name = call.tensor("y_zero_point").type
    else:
        name = type_name(call["output_dtype"]) if call["output_dtype"] else "UINT8"
    dtype = call.dtype_of(type_name(call["precision"])) if call["precision"] else x.dtype
    x = x.cast(dtype) if dtype[0] != "i" else x.cast("f32")
    x = x / _along(call, x, call.array("y_scale").cast(x.dtype))
    zero = None if zero is None else _along(call, x, zero.cast(x.dtype))
    if name in SMALL_FLOATS:
        x = x if zero is None else x + zero
        return Tensor(round_to_format(x, name, saturate=call["saturate"] != 0), name)
    return round_to_type(x, name, zero)


def _dequantize(call: Call) -> Tensor:
    x, scale = call.array("x").cast("f32"), call.tensor("x_scale")
    name = type_name(call["output_dtype"]) if call["output_dtype"] else scale.type
    scales = _along(call, x, call.use(scale.array).cast("f32"))
    zero = call.optional("x_zero_point")
    zeros = (0,) if zero is None else _along(call, x, zero.cast("f32"))
    by = Quantization("f32", 0, 0, scales, zeros)
    return Tensor(dequantize(x, by).cast(call.dtype_of(name)), name)


# -- products of integers ----------------------------------------------------------------------
#
# Devices multiply floating point numbers. Differences of integers of 8 bits and their zero points
# have 9 bits with their sign, and sums of up to so many products are exact in f32.

_TERMS = EXACT_SUM // 255**2


def take_factor(call: Call, name: str, zero: str, *, dim: int) -> Array:
    """Integers without their zero point; there may be one for each place of a dimension."""
    x = call.array(name).cast("f32")
    point = call.optional(zero)
    if point is None:
        return x
    point = point.cast("f32")
    if point.rank == 1 and x.rank > 1:
        dim %= x.rank
        extent = point.shape[0]
        if extent not in (1, x.shape[dim]):
            call.refuse(f"'{zero}' has {extent} numbers; dimension {dim} has {x.shape[dim]}")
        point = point.reshape([extent if i == dim else 1 for i in range(x.rank)])
    return x - point


def multiply(call: Call, a: Array, b: Array) -> Array:
    """The product of matrices of integers, as integers; it is computed in parts."""
    if not a.rank or not b.rank or a.shape[-1] != b.shape[max(b.rank - 2, 0)]:
        call.refuse(f"the shapes {list(a.shape)} and {list(b.shape)} are not those of a product")
    terms, row = a.shape[-1], max(b.rank - 2, 0)
    parts = [
        (
            a.cut(a.rank - 1, first, min(first + _TERMS, terms))
            @ b.cut(row, first, min(first + _TERMS, terms))
        ).cast("i32")
        for first in range(0, terms, _TERMS)
    ]
    return reduce(add, parts)


def _convolve(call: Call, x: Array, weight: Array) -> Array:
    """The convolution of integers, as integers; channels are added in parts."""
    check_kernel(call, x, weight)
    groups, (_, channels, *kernel) = max(int(call["group"]), 1), weight.shape
    step = max(1, _TERMS // max(math.prod(kernel), 1))
    if channels <= step:
        return convolve(call, x, weight).cast("i32")
    if x.shape[1] != channels * groups:
        call.refuse(f"the image has {x.shape[1]} channels, and the weight takes {channels}")
    apart = x.reshape((x.shape[0], groups, channels, *x.shape[2:]))
    parts: list[Array] = []
    for first in range(0, channels, step):
        end = min(first + step, channels)
        own = apart.cut(2, first, end)
        own = own.reshape((x.shape[0], groups * (end - first), *x.shape[2:]))
        parts.append(convolve(call, own, weight.cut(1, first, end)).cast("i32"))
    return reduce(add, parts)


def _matmul_integer(call: Call) -> Array:
    a = take_factor(call, "A", "a_zero_point", dim=-2)
    return multiply(call, a, take_factor(call, "B", "b_zero_point", dim=-1))


def _conv_integer(call: Call) -> Array:
    x = take_factor(call, "x", "x_zero_point", dim=1)
    return _convolve(call, x, take_factor(call, "w", "w_zero_point", dim=0))


def _requantize(call: Call, product: Array, scales: Array) -> Tensor:
    """Sums of products of integers as integers of the result's scale and zero point."""
    x = product.cast("f32") * (scales / call.array("y_scale").cast("f32"))
    zero = call.tensor("y_zero_point")
    if zero.type in SMALL_FLOATS:
        x = x + call.use(zero.array).cast("f32")
        return Tensor(round_to_format(x, zero.type, saturate=True), zero.type)
    return round_to_type(x, zero.type, call.use(zero.array).cast("f32"))


def _qlinear_matmul(call: Call) -> Tensor:
    a = take_factor(call, "a", "a_zero_point", dim=-2)
    b = take_factor(call, "b", "b_zero_point", dim=-1)
    left, right = (call.array(name).cast("f32") for name in ("a_scale", "b_scale"))
    left = left.unsqueeze(1) if left.rank == 1 and left.shape[0] > 1 else left
    is_float = call.tensor("a").type in SMALL_FLOATS
    return _requantize(call, a @ b if is_float else multiply(call, a, b), left * right)


def _qlinear_conv(call: Call) -> Tensor:
    x = take_factor(call, "x", "x_zero_point", dim=1)
    weight = take_factor(call, "w", "w_zero_point", dim=0)
    product = _convolve(call, x, weight)
    bias = call.optional("B")
    if bias is not None:
        product = product + bias.reshape((bias.shape[0], *(1,) * (x.rank - 2)))
    left, right = (call.array(name).cast("f32") for name in ("x_scale", "w_scale"))
    if right.rank == 1:
        right = right.reshape((right.shape[0], *(1,) * (x.rank - 2)))
    return _requantize(call, product, left.reshape(()) * right)


def _dynamic(call: Call) -> tuple[Array, Array, Array]:
    """Integers of 8 bits without sign, with a scale and a zero point of their least and largest."""
    x = call.array("x")
    dims = range(x.rank)
    low, high = x.min(*dims, keep=False).minimum(0), x.max(*dims, keep=False).maximum(0)
    scale = (high - low) / 255
    scale = scale.eq(0).where(1.0, scale)
    zero = (-low / scale).round().limit(0.0, 255.0)
    by = Quantization("ui8", 0, 255, (1,), zero)
    return round_to_integers(x / scale, by), scale, zero.cast("ui8")


RULES: dict[str, Rule] = {
    "ConvInteger": _conv_integer,
    "DequantizeLinear": _dequantize,
    "DynamicQuantizeLinear": _dynamic,
    "MatMulInteger": _matmul_integer,
    "QLinearConv": _qlinear_conv,
    "QLinearMatMul": _qlinear_matmul,
    "QuantizeLinear": _quantize,
}
"""Rules by the names of operators."""
