"""NumPy kernels of reductions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ttmlir.optable.reduction import mean
from ttmlir.runtime.tensor import Array


def _sum(xp: Any, input: Array, *, keep_dim: bool, dim_arg: tuple[int, ...] | None = None) -> Array:
    return xp.sum(input, axis=dim_arg, keepdims=keep_dim, dtype=_accumulator(input))


def _mean(
    xp: Any, input: Array, *, keep_dim: bool, dim_arg: tuple[int, ...] | None = None
) -> Array:
    if not input.size:
        return mean(xp, input, keep_dim=keep_dim, dim_arg=dim_arg, dtype=np.float64)
    # NumPy's `mean` does more beside than summing few numbers takes.
    total = np.add.reduce(input, axis=dim_arg, keepdims=keep_dim, dtype=np.float64)
    return total / (input.size // total.size)


def _prod(
    xp: Any, input: Array, *, keep_dim: bool, dim_arg: tuple[int, ...] | None = None
) -> Array:
    return xp.prod(input, axis=dim_arg, keepdims=keep_dim, dtype=_accumulator(input))


def _accumulator(input: Array) -> type[np.float64] | None:
    return np.float64 if input.dtype.kind == "f" else None


KERNELS: dict[str, Callable[..., Array]] = {"sum": _sum, "mean": _mean, "prod": _prod}
"""Kernels by mnemonic, called like the definition's reference function."""
