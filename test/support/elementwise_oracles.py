"""What elementwise operations compute, for NumPy arrays of float64, int64 and bool.

Written from the meaning of the operations, for programs whose numbers are known beforehand.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

Array = Any
Domain = Callable[[Array], bool]


def _everywhere(x: Array) -> bool:
    return True


def within(low: float, high: float) -> Domain:
    """Numbers between two."""
    return lambda x: bool(low <= x.min() and x.max() <= high)


def away_from_zero(x: Array) -> bool:
    """Numbers whose size is at least a quarter."""
    return bool(np.abs(x).min() >= 0.25)


_ERF = np.vectorize(math.erf, otypes=[np.float64])
_POSITIVE = within(0.25, math.inf)

SMOOTH: dict[str, tuple[Callable[[Array], Array], Domain, float, str]] = {
    "abs": (np.abs, _everywhere, 1, ""),
    "neg": (np.negative, _everywhere, 1, ""),
    "relu": (lambda x: np.where(x > 0, x, 0), _everywhere, 1, ""),
    "square": (lambda x: x * x, within(-8, 8), 16, ""),
    "clamp": (
        lambda x: np.where(x < -0.5, -0.5, np.where(x > 1.25, 1.25, x)),
        _everywhere,
        1,
        "min = -0.5 : f32, max = 1.25 : f32",
    ),
    "leaky_relu": (
        lambda x: np.where(x > 0, x, 0.25 * x),
        _everywhere,
        1,
        "parameter = 0.25 : f32",
    ),
    "sigmoid": (lambda x: 1 / (1 + np.exp(-x)), within(-99, 99), 1, ""),
    "tanh": (np.tanh, _everywhere, 1, ""),
    "sin": (np.sin, within(-99, 99), 1, ""),
    "cos": (np.cos, within(-99, 99), 1, ""),
    "tan": (np.tan, within(-1, 1), 4, ""),
    "atan": (np.arctan, _everywhere, 1, ""),
    "erf": (_ERF, _everywhere, 2, ""),
    "gelu": (lambda x: x * (1 + _ERF(x / math.sqrt(2))) / 2, _everywhere, 2, ""),
    "silu": (lambda x: x / (1 + np.exp(-x)), within(-99, 99), 2, ""),
    "exp": (np.exp, within(-99, 3), 21, ""),
    "expm1": (np.expm1, within(-99, 3), 21, ""),
    "log": (np.log, _POSITIVE, 4, ""),
    "log1p": (np.log1p, within(-0.5, math.inf), 2, ""),
    "sqrt": (np.sqrt, _POSITIVE, 1, ""),
    "rsqrt": (lambda x: 1 / np.sqrt(x), _POSITIVE, 4, ""),
    "cbrt": (np.cbrt, away_from_zero, 1, ""),
    "reciprocal": (lambda x: 1 / x, away_from_zero, 16, ""),
    "exp2": (np.exp2, within(-99, 3), 8, ""),
    "sinh": (np.sinh, within(-3, 3), 11, ""),
    "cosh": (np.cosh, within(-3, 3), 11, ""),
    "asin": (np.arcsin, within(-0.95, 0.95), 4, ""),
    "acos": (np.arccos, within(-0.95, 0.95), 4, ""),
    "asinh": (np.arcsinh, _everywhere, 1, ""),
    "acosh": (np.arccosh, within(1.25, math.inf), 2, ""),
    "atanh": (np.arctanh, within(-0.95, 0.95), 11, ""),
    "erfc": (lambda x: 1 - _ERF(x), _everywhere, 2, ""),
}
"""Functions of floats: where they are applied, their largest slope there, parameters."""

STEPS: dict[str, Callable[[Array], Array]] = {
    "floor": np.floor,
    "ceil": np.ceil,
    "trunc": np.trunc,
    "round": np.rint,
    "sign": lambda x: 1.0 * (x > 0) - (x < 0),
    "logical_not": lambda x: x == 0,
    "isfinite": np.isfinite,
}
"""Functions of floats that jump."""

OF_INTEGERS: dict[str, Callable[[Array], Array]] = {
    "abs": np.abs,
    "neg": np.negative,
    "relu": lambda x: np.maximum(x, 0),
    "square": lambda x: x * x,
    "sign": np.sign,
    "floor": lambda x: x,
    "bitwise_not": lambda x: -1 - x,
    "logical_not": lambda x: x == 0,
}

COMPARISONS: dict[str, Callable[[Array, Array], Array]] = {
    "eq": lambda x, y: x == y,
    "ne": lambda x, y: x != y,
    "gt": lambda x, y: x > y,
    "ge": lambda x, y: x >= y,
    "lt": lambda x, y: x < y,
    "le": lambda x, y: x <= y,
    "logical_and": lambda x, y: (x != 0) & (y != 0),
    "logical_or": lambda x, y: (x != 0) | (y != 0),
    "logical_xor": lambda x, y: (x != 0) ^ (y != 0),
}

ARITHMETIC: dict[str, Callable[[Array, Array], Array]] = {
    "add": lambda x, y: x + y,
    "subtract": lambda x, y: x - y,
    "multiply": lambda x, y: x * y,
    "maximum": lambda x, y: np.where(x > y, x, y),
    "minimum": lambda x, y: np.where(x < y, x, y),
}


def _quotient(x: Array, y: Array) -> Array:
    return np.sign(x) * np.sign(y) * (np.abs(x) // np.abs(y))


DIVISIONS: dict[str, Callable[[Array, Array], Array]] = {
    "div": _quotient,
    "remainder": lambda x, y: x - y * _quotient(x, y),
}
BITWISE: dict[str, Callable[[Array, Array], Array]] = {
    "bitwise_and": lambda x, y: x & y,
    "bitwise_or": lambda x, y: x | y,
    "bitwise_xor": lambda x, y: x ^ y,
}
OF_BOOLEANS: dict[str, Callable[[Array, Array], Array]] = {
    **BITWISE,
    "add": lambda x, y: x | y,
    "multiply": lambda x, y: x & y,
    "maximum": lambda x, y: x | y,
    "minimum": lambda x, y: x & y,
    "eq": lambda x, y: x == y,
    "ne": lambda x, y: x != y,
}


def wrapped(x: Array) -> Array:
    """What 32 bits keep of integers."""
    return (x.astype(np.int64) + 2**31) % 2**32 - 2**31


def _fraction_bits(x: Array) -> float:
    """Bits after the binary point; infinity if they are more than a few."""
    return next((n for n in range(9) if not np.any(np.fmod(x * 2.0**n, 1))), math.inf)


def is_exact(size: Array, *factors: Array) -> bool:
    """True if sums of products of such factors need no rounding in 32 bits.

    `size` is the sum of the sizes of the products.
    """
    bits = sum(_fraction_bits(factor) for factor in factors)
    return float(np.abs(size).max()) * 2.0**bits <= 2.0**24


EXACT = {"abs", "neg", "relu", "square", "clamp", "leaky_relu"}
"""Functions that are computed without rounding where the result needs none."""


def wrapped_product(x: Array, dim: int) -> Array:
    """The product along a dimension, which stays, in 32 bits."""
    result = np.ones_like(np.take(x, [0], dim))
    for index in range(x.shape[dim]):
        result = wrapped(result * np.take(x, [index], dim))
    return result


def wrapped_matmul(x: Array, y: Array) -> Array:
    """Matrix product with one sum at a time, so that 64 bits do not overflow unnoticed."""
    result = np.zeros((*x.shape[:-1], y.shape[-1]), np.int64)
    for k in range(x.shape[-1]):
        result = wrapped(result + x[..., :, k, None] * y[..., None, k, :])
    return result
