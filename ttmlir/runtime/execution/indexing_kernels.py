"""NumPy kernels of products of integers and of reading and writing by number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ttmlir.optable import row
from ttmlir.optable.indexing import check_numbers
from ttmlir.runtime.element import Array

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


def _is_one_list(index: Array, dim: int) -> bool:
    """True if the numbers are the same for all places in the other dimensions."""
    return index.size == index.shape[dim]


def _gather(xp: Any, input: Array, index: Array, *, dim: int) -> Array:
    numbers = index.astype(np.int64, copy=False)
    check_numbers(numbers, input.shape[dim])
    if _is_one_list(numbers, dim):
        return xp.take(input, numbers.reshape(-1), axis=dim)
    return xp.take_along_axis(input, numbers, axis=dim)


def _scatter(mnemonic: str, function: Any) -> Callable[..., Array]:
    element_by_element = row(mnemonic).reference

    def scatter(xp: Any, input: Array, index: Array, source: Array, *, dim: int) -> Array:
        if not _is_one_list(index, dim):
            return element_by_element(xp, input, index, source, dim=dim)
        output = input.copy()
        rows, places = xp.moveaxis(source, dim, 0), index.reshape(-1).astype(np.int64)
        inside = (places >= 0) & (places < input.shape[dim])
        if not inside.all():
            rows, places = rows[inside], places[inside]
        target = xp.moveaxis(output, dim, 0)
        if function is None:
            target[places] = rows
        else:
            function.at(target, places, rows)
        return output

    return scatter


def _cumsum(xp: Any, input: Array, *, dim: int) -> Array:
    accumulator = np.float64 if input.dtype.kind == "f" else None
    return xp.cumsum(input, axis=dim, dtype=accumulator)


KERNELS: dict[str, Callable[..., Array]] = {
    "cumsum": _cumsum,
    "gather": _gather,
    "matmul": _matmul,
    "scatter": _scatter("scatter", None),
    "scatter_add": _scatter("scatter_add", np.add),
    "scatter_maximum": _scatter("scatter_maximum", np.maximum),
    "scatter_minimum": _scatter("scatter_minimum", np.minimum),
    "scatter_multiply": _scatter("scatter_multiply", np.multiply),
}
"""Kernels by mnemonic, called like the row's reference function."""
