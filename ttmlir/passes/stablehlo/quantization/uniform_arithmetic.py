"""Between integers and the numbers that they stand for, in ttir."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import bf16, f32

from ttmlir.ir.tensor_types import tensor_of, value_shape

if TYPE_CHECKING:
    from xdsl.ir import SSAValue

    from ttmlir.dialects.quant import Uniform
    from ttmlir.ir.builder import Builder

_BYTE_BITS = 8


def dequantize(build: Builder, value: SSAValue, uniform: Uniform) -> SSAValue:
    """`(value - zero) * scale`, computed in f32, in the type that the integers stand for."""
    number = _subtract_zeros(build, build.cast(value, f32), uniform)
    return build.cast(scale(build, number, uniform.scales, uniform.axis), uniform.expressed)


def quantize(build: Builder, value: SSAValue, uniform: Uniform) -> SSAValue:
    """`clamp(round(value / scale) + zero, low, high)`, ties to even, in the storage type."""
    number = build.cast(value, f32)
    scales = _parameters(build, uniform.scales, uniform.axis, number)
    return round_to_integers(build, build.create("div", (number, scales), number.type), uniform)


def round_to_integers(build: Builder, value: SSAValue, uniform: Uniform) -> SSAValue:
    """What is left of quantizing numbers that are divided by the scales."""
    number = build.create("round", (value,), value.type)
    if any(uniform.zeros):
        zeros = _parameters(build, uniform.zeros, uniform.axis, number)
        number = build.create("add", (number, zeros), number.type)
    limits = {"min": float(uniform.low), "max": float(uniform.high)}
    number = build.create("clamp", (number,), number.type, **limits)
    return build.cast(number, uniform.storage)


def shift(build: Builder, value: SSAValue, uniform: Uniform) -> SSAValue:
    """`value - zero`, as the factor of a product whose sums are f32.

    Differences of bytes are whole numbers of up to 255, which bf16 holds.
    """
    number = _subtract_zeros(build, build.cast(value, f32), uniform)
    return build.cast(number, bf16 if uniform.width <= _BYTE_BITS else f32)


def scale(build: Builder, value: SSAValue, factors: Sequence[float], axis: int | None) -> SSAValue:
    """The tensor times a number, or times one for each place along an axis."""
    if all(factor == 1 for factor in factors):
        return value
    return build.create("multiply", (value, _parameters(build, factors, axis, value)), value.type)


def _subtract_zeros(build: Builder, number: SSAValue, uniform: Uniform) -> SSAValue:
    if not any(uniform.zeros):
        return number
    zeros = _parameters(build, uniform.zeros, uniform.axis, number)
    return build.create("subtract", (number, zeros), number.type)


def _parameters(
    build: Builder, numbers: Sequence[float], axis: int | None, like: SSAValue
) -> SSAValue:
    """A constant that broadcasts against a tensor."""
    shape = [1] * len(value_shape(like))
    if axis is not None:
        shape[axis] = len(numbers)
    return build.create_numbers(numbers, tensor_of(f32, shape))
