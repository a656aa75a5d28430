"""NumPy kernels of functions of single numbers, for float32; other types take the reference.

What NumPy has no function for takes up to twenty steps, each over a part of the numbers that stays
in the cache.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ttmlir.optable import definition
from ttmlir.runtime.tensor import Array

_CACHED = 1 << 15
"""Numbers that are computed at a time."""

_LOG_ODDS = tuple(
    np.float32(coefficient)
    for coefficient in (
        1.6163475891062262e-07,
        -6.008829586789943e-06,
        8.965267625171691e-05,
        -0.0006247739656828344,
        -0.00018687674310058355,
        0.10276754200458527,
        1.1283793449401855,
    )
)
"""atanh(erf(x)) / x as a polynomial of x * x, highest power first.

Fitted to 40 digits at 500 points of [0, 3.95], with weights for the relative error of erf(x) and
the absolute one of gelu, which are below 3.3e-7 and, for x < 0, 1.2e-7 in float32. From 3.95 on,
where erf(x) is 1, it grows without end.
"""

Steps = Callable[[Array, Array, Array], None]
"""Computes a function of the first array into the second; the third is there to work with."""


_GELU = tuple(
    np.float32(-2 * float(coefficient) * math.sqrt(0.5) ** (2 * power + 1))
    for power, coefficient in zip(range(len(_LOG_ODDS) - 1, -1, -1), _LOG_ODDS, strict=True)
)
"""-2 * atanh(erf(x / sqrt(2))) / x in the same form."""


def _odd_polynomial(
    coefficients: Sequence[np.float32], x: Array, out: Array, square: Array
) -> None:
    """x times a polynomial of x * x."""
    np.multiply(x, x, out=square)
    np.multiply(square, coefficients[0], out=out)
    for coefficient in coefficients[1:-1]:
        np.add(out, coefficient, out=out)
        np.multiply(out, square, out=out)
    np.add(out, coefficients[-1], out=out)
    np.multiply(out, x, out=out)


def _erf(x: Array, out: Array, square: Array) -> None:
    _odd_polynomial(_LOG_ODDS, x, out, square)
    np.tanh(out, out=out)


def _gelu(x: Array, out: Array, square: Array) -> None:
    """x / (1 + exp(-2 atanh(erf(x / sqrt(2))))), which keeps the digits of small results."""
    _odd_polynomial(_GELU, x, out, square)
    np.exp(out, out=out)
    np.add(out, np.float32(1), out=out)
    np.divide(x, out, out=out)


def _sigmoid(x: Array, out: Array, _: Array) -> None:
    np.negative(x, out=out)
    np.exp(out, out=out)
    np.add(out, np.float32(1), out=out)
    np.reciprocal(out, out=out)


def _silu(x: Array, out: Array, _: Array) -> None:
    np.negative(x, out=out)
    np.exp(out, out=out)
    np.add(out, np.float32(1), out=out)
    np.divide(x, out, out=out)


def _in_parts(mnemonic: str, steps: Steps) -> Callable[..., Array]:
    reference = definition(mnemonic).reference

    def kernel(xp: Any, x: Array) -> Array:
        if x.dtype != np.float32:
            return reference(xp, x)
        result = np.empty_like(x)
        if x.size <= _CACHED:
            steps(x, result, np.empty_like(x))
            return result
        if result.strides != x.strides:
            x = x.copy(order="K")
        # Both lie in memory in the same order.
        numbers, out = x.ravel(order="K"), result.ravel(order="K")
        space = np.empty(_CACHED, np.float32)
        for first in range(0, x.size, _CACHED):
            part = slice(first, first + _CACHED)
            steps(numbers[part], out[part], space[: out[part].size])
        return result

    return kernel


KERNELS: dict[str, Callable[..., Array]] = {
    name: _in_parts(name, steps)
    for name, steps in (("erf", _erf), ("gelu", _gelu), ("sigmoid", _sigmoid), ("silu", _silu))
}
"""Kernels by mnemonic, called like the definition's reference function."""
