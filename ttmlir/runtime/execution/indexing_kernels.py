"""NumPy kernels of reading and writing by number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ttmlir.optable import row
from ttmlir.optable.indexing import check_numbers
from ttmlir.runtime.element import Array


def _is_one_list(index: Array, dim: int) -> bool:
    """True if the numbers are the same for all places in the other dimensions."""
    return index.size == index.shape[dim]


def _gather(xp: Any, input: Array, index: Array, *, dim: int) -> Array:
    numbers = index.astype(np.int64, copy=False)
    check_numbers(numbers, input.shape[dim])
    if _is_one_list(numbers, dim):
        return xp.take(input, numbers.reshape(-1), axis=dim)
    return xp.take_along_axis(input, numbers, axis=dim)


def _scatter(mnemonic: str, function: np.ufunc | None) -> Callable[..., Array]:
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
        elif places.size:
            _combine(function, target, places, rows)
        return output

    return scatter


def _combine(function: np.ufunc, target: Array, places: Array, rows: Array) -> None:
    """Combine rows with those of the target at their places, in their order."""
    if target.ndim == 1 or target[0].size == 1:
        function.at(target, places, rows)
        return
    order = np.argsort(places, kind="stable")
    places = places[order]
    starts = np.flatnonzero(np.diff(places, prepend=-1))
    # What belongs to one place is together now; ufunc.at would take every row on its own.
    combined = function.reduceat(rows[order], starts, axis=0)
    found = places[starts]
    target[found] = function(target[found], combined)


KERNELS: dict[str, Callable[..., Array]] = {
    "gather": _gather,
    "scatter": _scatter("scatter", None),
    "scatter_add": _scatter("scatter_add", np.add),
    "scatter_maximum": _scatter("scatter_maximum", np.maximum),
    "scatter_minimum": _scatter("scatter_minimum", np.minimum),
    "scatter_multiply": _scatter("scatter_multiply", np.multiply),
}
"""Kernels by mnemonic, called like the row's reference function."""
