"""NumPy kernels of products."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ttmlir.runtime.tensor import Array

_EXACT_IN_FLOAT64 = 2.0**53
"""Up to here, float64 has all integers."""


def _matmul(xp: Any, a: Array, b: Array) -> Array:
    """NumPy multiplies floating point matrices some thirty times as fast as integer ones."""
    product_type = np.result_type(a, b)
    if product_type.kind not in "iu" or not a.size or not b.size:
        return xp.matmul(a, b)
    largest = a.shape[-1] * _largest(a) * _largest(b)
    if largest >= _EXACT_IN_FLOAT64:
        return xp.matmul(a, b)
    product = xp.matmul(a.astype(np.float64), b.astype(np.float64))
    # The modulus of the result's type is that of integer arithmetic.
    return product.astype(np.int64).astype(product_type)


def _largest(array: Array) -> float:
    return max(abs(float(array.max())), abs(float(array.min())))


KERNELS: dict[str, Callable[..., Array]] = {"matmul": _matmul}
"""Kernels by mnemonic, called like the definition's reference function."""
