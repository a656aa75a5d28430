"""Products of matrices of bytes, in the floating point of the device's matrix unit.

The matrix unit has no integers. bf16 holds each integer of 8 bits, and sums in f32 are exact while
they stay within 2^24: products whose sums may become larger are computed in parts, which are added
as integers.
"""

from __future__ import annotations

from xdsl.dialects.builtin import bf16, f32, i32
from xdsl.ir import SSAValue

from ttmlir.ir.builder import Builder
from ttmlir.ir.tensor_types import element_type, limits_of, tensor_of, value_shape

EXACT_SUM = 1 << 24
"""Sums of integers in f32 are exact up to it."""


def multiply_byte_matrices(build: Builder, a: SSAValue, b: SSAValue) -> SSAValue:
    """The exact product, in i32, of two matrices of integers of up to 8 bits."""
    (rows, terms), columns = value_shape(a), value_shape(b)[1]
    length = terms_of_exact_sum(a, b)
    total: SSAValue | None = None
    for first in range(0, terms, length):
        end = min(terms, first + length)
        parts = (
            build.slice(a, (0, first), (rows, end)) if length < terms else a,
            build.slice(b, (first, 0), (end, columns)) if length < terms else b,
        )
        factors = [build.cast(part, bf16) for part in parts]
        part = build.create("matmul", factors, tensor_of(f32, (rows, columns)))
        part = build.cast(part, i32)
        total = part if total is None else build.create("add", (total, part), part.type)
    if total is None:
        return build.create_splat(0, tensor_of(i32, (rows, columns)))
    return total


def terms_of_exact_sum(a: SSAValue, b: SSAValue) -> int:
    """How many products of integers of two tensors can be added in f32 without rounding."""
    largest = [max(map(abs, limits_of(element_type(value)))) for value in (a, b)]
    return int(EXACT_SUM // (largest[0] * largest[1]))
