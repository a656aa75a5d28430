"""NumPy kernels of softmax and of running sums."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ttmlir.runtime.element import Array


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


def _cumsum(xp: Any, input: Array, *, dim: int) -> Array:
    accumulator = np.float64 if input.dtype.kind == "f" else None
    return xp.cumsum(input, axis=dim, dtype=accumulator)


KERNELS: dict[str, Callable[..., Array]] = {
    "softmax": _softmax,
    "cumsum": _cumsum,
}
"""Kernels by mnemonic, called like the row's reference function."""
