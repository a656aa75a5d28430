"""NumPy kernels of softmax and of running sums."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ttmlir.runtime.tensor import Array

_CACHED = 1 << 15
"""Numbers that are computed at a time."""
_LANES = 1024
"""Up to so many positive numbers, a sum in the lanes of a vector is as good as one in float64."""
_LEAST_SUM = np.float32(1e-7)
"""From this sum of powers on, those that underflow are below 1e-30 of it."""


def _softmax(xp: Any, input: Array, *, dimension: int) -> Array:
    if not input.size:
        return input
    is_last = dimension in (-1, input.ndim - 1)
    if not is_last or input.dtype != np.float32:
        return _softmax_of_lines(input, dimension)
    rows = input.reshape(-1, input.shape[-1])
    result = np.empty(rows.shape, np.float32)
    count = max(1, _CACHED // rows.shape[1])
    for first in range(0, len(rows), count):
        part = slice(first, first + count)
        _softmax_of_rows(rows[part], result[part])
    return result.reshape(input.shape)


def _softmax_of_rows(rows: Array, out: Array) -> None:
    """One maximum serves all rows unless they differ so much that powers of some are too small."""
    np.subtract(rows, rows.max(), out=out)
    np.exp(out, out=out)
    totals = _row_sums(out)
    if totals.min() >= _LEAST_SUM:
        np.divide(out, totals[:, None], out=out)
    else:
        # Also where the maximum is not finite.
        out[...] = _softmax_of_lines(rows, -1)


def _row_sums(rows: Array) -> Array:
    """The sums of rows of positive numbers."""
    count, columns = rows.shape
    ones = np.ones(min(columns, _LANES), np.float32)
    if columns <= _LANES:
        return rows @ ones
    whole = columns // _LANES * _LANES
    parts = (rows[:, :whole].reshape(count, -1, _LANES) @ ones).sum(-1, dtype=np.float64)
    return (parts + rows[:, whole:] @ ones[: columns - whole]).astype(np.float32)


def _softmax_of_lines(input: Array, dimension: int) -> Array:
    powers = input - np.max(input, axis=dimension, keepdims=True)
    if powers.dtype.kind == "f":
        np.exp(powers, out=powers)
    else:
        powers = np.exp(powers)
    total = np.sum(powers, axis=dimension, keepdims=True, dtype=np.float64)
    return np.divide(powers, total.astype(powers.dtype), out=powers)


def _cumsum(xp: Any, input: Array, *, dim: int) -> Array:
    accumulator = np.float64 if input.dtype.kind == "f" else None
    return xp.cumsum(input, axis=dim, dtype=accumulator)


KERNELS: dict[str, Callable[..., Array]] = {"softmax": _softmax, "cumsum": _cumsum}
"""Kernels by mnemonic, called like the definition's reference function."""
