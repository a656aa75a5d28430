"""Rounding to floating point formats of 8 bits and fewer, whose numbers bf16 holds.

Values and roundings are those of the package ml_dtypes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from xdsl.dialects.builtin import TensorType, f32, i1, i32
from xdsl.ir import Attribute, SSAValue

from ttmlir.ir.builder import Builder
from ttmlir.ir.tensor_types import tensor_of, value_shape


@dataclass(frozen=True)
class SmallFloat:
    """A format by its stored mantissa bits, least normal exponent and largest number."""

    mantissa_bits: int
    least_exponent: int
    largest: float
    beyond: float = math.nan
    """What numbers become that are too large: infinite, NaN, or `largest`."""
    has_nan: bool = True
    has_negative_zero: bool = True
    is_scale: bool = False
    """True for powers of two above 0; halves between them go up."""


SMALL_FLOATS: dict[str, SmallFloat] = {
    "f8E4M3FN": SmallFloat(3, -6, 448.0),
    "f8E5M2": SmallFloat(2, -14, 57344.0, math.inf),
    "f8E4M3FNUZ": SmallFloat(3, -7, 240.0, has_negative_zero=False),
    "f8E5M2FNUZ": SmallFloat(2, -15, 57344.0, has_negative_zero=False),
    "f8E4M3B11FNUZ": SmallFloat(3, -10, 30.0, has_negative_zero=False),
    "f8E4M3": SmallFloat(3, -6, 240.0, math.inf),
    "f8E3M4": SmallFloat(4, -2, 15.5, math.inf),
    "f8E8M0FNU": SmallFloat(0, -126, 2.0**127, is_scale=True),
    "f6E2M3FN": SmallFloat(3, 0, 7.5, 7.5, has_nan=False),
    "f6E3M2FN": SmallFloat(2, -2, 28.0, 28.0, has_nan=False),
    "f4E2M1FN": SmallFloat(1, 0, 6.0, 6.0, has_nan=False),
}
"""The formats by the names of their types."""

_F32_MANTISSA_BITS = 23


def round_to_small_float(build: Builder, x: SSAValue, form: SmallFloat) -> SSAValue:
    """A tensor of f32 rounded to the nearest numbers of a format, ties to even; f32 as well."""
    number = build.create("abs", (x,), x.type)
    rounded = _round_normal(build, x, form)
    if not form.is_scale:
        # Below the least normal exponent numbers are the same step apart.
        step = math.ldexp(1.0, form.least_exponent - form.mantissa_bits)
        small = _compute(build, "multiply", x, 1 / step)
        small = _compute(build, "multiply", build.create("round", (small,), x.type), step)
        is_small = _compare(build, "lt", number, math.ldexp(1.0, form.least_exponent))
        rounded = build.create("where", (is_small, small, rounded), x.type)
    if form.beyond == form.largest:
        rounded = build.create("clamp", (rounded,), x.type, min=-form.largest, max=form.largest)
    else:
        rounded = _replace_large(build, rounded, form)
    is_nan = build.create("ne", (x, x), _truth(x))
    if form.is_scale:
        is_nan = build.create("logical_or", (is_nan, _compare(build, "le", x, 0.0)), _truth(x))
    nan = build.create_scalar(math.nan if form.has_nan else -0.0, f32)
    rounded = build.create("where", (is_nan, nan, rounded), x.type)
    return rounded if form.has_negative_zero else _compute(build, "add", rounded, 0.0)


def _round_normal(build: Builder, x: SSAValue, form: SmallFloat) -> SSAValue:
    """Cut the mantissa, after adding half of what is cut, less one bit unless it is odd."""
    lost = _F32_MANTISSA_BITS - form.mantissa_bits
    bits = build.create("bitcast_convert", (x,), tensor_of(i32, value_shape(x)))
    half = 1 << (lost - 1)
    if form.is_scale:
        bits = _compute(build, "add", bits, half)
    else:
        last = _compute(build, "logical_right_shift", bits, lost)
        last = _compute(build, "bitwise_and", last, 1)
        bits = build.create("add", (bits, last), bits.type)
        bits = _compute(build, "add", bits, half - 1)
    bits = _compute(build, "bitwise_and", bits, -1 << lost)
    return build.create("bitcast_convert", (bits,), x.type)


def _replace_large(build: Builder, rounded: SSAValue, form: SmallFloat) -> SSAValue:
    is_above = _compare(build, "gt", rounded, form.largest)
    is_below = _compare(build, "lt", rounded, -form.largest)
    for is_large, beyond in ((is_above, form.beyond), (is_below, -form.beyond)):
        number = build.create_scalar(beyond, f32)
        rounded = build.create("where", (is_large, number, rounded), rounded.type)
    return rounded


def _compute(build: Builder, mnemonic: str, x: SSAValue, number: float) -> SSAValue:
    element = f32 if isinstance(number, float) else i32
    return build.create(mnemonic, (x, build.create_scalar(number, element)), x.type)


def _compare(build: Builder, mnemonic: str, x: SSAValue, number: float) -> SSAValue:
    return build.create(mnemonic, (x, build.create_scalar(number, f32)), _truth(x))


def _truth(x: SSAValue) -> TensorType[Attribute]:
    return tensor_of(i1, value_shape(x))
