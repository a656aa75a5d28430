"""NumPy kernels that are faster or more exact than a row's reference function.

Operations that are not listed in `KERNELS` run their reference function. Kernels take the same
arguments. Sums of floating point numbers accumulate in float64, so that the result is the float32
nearest to the sum, or its neighbour, whatever the order of the elements.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ttmlir.runtime.element import Array
from ttmlir.runtime.execution import indexing_kernels, window_kernels


def _sum(xp: Any, input: Array, *, keep_dim: bool, dim_arg: tuple[int, ...] | None = None) -> Array:
    return xp.sum(input, axis=dim_arg, keepdims=keep_dim, dtype=_accumulator(input))


def _mean(
    xp: Any, input: Array, *, keep_dim: bool, dim_arg: tuple[int, ...] | None = None
) -> Array:
    return xp.mean(input, axis=dim_arg, keepdims=keep_dim, dtype=np.float64)


def _prod(
    xp: Any, input: Array, *, keep_dim: bool, dim_arg: tuple[int, ...] | None = None
) -> Array:
    return xp.prod(input, axis=dim_arg, keepdims=keep_dim, dtype=_accumulator(input))


def _accumulator(input: Array) -> type[np.float64] | None:
    return np.float64 if input.dtype.kind == "f" else None


def _softmax(xp: Any, input: Array, *, dimension: int) -> Array:
    if not input.size:
        return input
    powers = input - xp.max(input, axis=dimension, keepdims=True)
    if powers.dtype.kind == "f":
        xp.exp(powers, out=powers)
    else:
        powers = xp.exp(powers)
    total = xp.sum(powers, axis=dimension, keepdims=True, dtype=np.float64)
    return xp.divide(powers, total.astype(powers.dtype), out=powers)


KERNELS: dict[str, Callable[..., Array]] = {
    "sum": _sum,
    "mean": _mean,
    "prod": _prod,
    "softmax": _softmax,
    **window_kernels.KERNELS,
    **indexing_kernels.KERNELS,
}
"""Kernels by mnemonic, called like the row's reference function."""
