"""Integers that stand for numbers: q for (q - zero point) * scale."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ttmlir.arrays.array import Array


@dataclass(frozen=True)
class Quantization:
    """Integers from `low` to `high`, kept in a type; q stands for (q - zero) * scale.

    `scales` and `zeros` have one number, or as many as dimension `axis` has elements; or they are
    arrays that broadcast.
    """

    dtype: str
    low: float
    high: float
    scales: Sequence[float] | Array
    zeros: Sequence[float] | Array
    axis: int | None = None


def dequantize(x: Array, by: Quantization) -> Array:
    """`(q - zero) * scale` of integers that are cast to the type to compute in."""
    return scale(_subtract_zeros(x, by), by.scales, by.axis)


def quantize(x: Array, by: Quantization) -> Array:
    """`clamp(round(x / scale) + zero, low, high)`, ties to even, in the type of x."""
    return round_to_integers(x / _parameters(x, by.scales, by.axis), by)


def round_to_integers(x: Array, by: Quantization) -> Array:
    """What is left of quantizing numbers that are divided by the scales."""
    number = x.round()
    if _has_zeros(by):
        number = number + _parameters(number, by.zeros, by.axis)
    return number.clamp(min=float(by.low), max=float(by.high)).cast(by.dtype)


def shift(x: Array, by: Quantization, dtype: str) -> Array:
    """`q - zero` as the factor of a product, in a type that holds the differences."""
    return _subtract_zeros(x.cast("f32"), by).cast(dtype)


def scale(x: Array, factors: Sequence[float] | Array, axis: int | None) -> Array:
    """The array times a number, or times one for each place along an axis."""
    if not isinstance(factors, Array) and all(factor == 1 for factor in factors):
        return x
    return x * _parameters(x, factors, axis)


def _subtract_zeros(x: Array, by: Quantization) -> Array:
    return x - _parameters(x, by.zeros, by.axis) if _has_zeros(by) else x


def _has_zeros(by: Quantization) -> bool:
    return isinstance(by.zeros, Array) or any(by.zeros)


def _parameters(x: Array, numbers: Sequence[float] | Array, axis: int | None) -> Array:
    """Numbers that broadcast against an array."""
    if isinstance(numbers, Array):
        return numbers
    if axis is None:
        return x.fill(numbers[0], (1,) * x.rank)
    # Only tensors with several scales pay for the import.
    import numpy as np

    shape = [len(numbers) if dim == axis else 1 for dim in range(x.rank)]
    return x.constant(np.array(numbers, np.float64).reshape(shape))
