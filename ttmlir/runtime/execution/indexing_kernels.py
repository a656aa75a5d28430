"""NumPy kernels of reading and writing by number."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ttmlir.optable import definition
from ttmlir.optable.indexing import check_numbers
from ttmlir.optable.library import scatter_rows
from ttmlir.runtime.tensor import Array


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
    element_by_element = definition(mnemonic).reference

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
    # NumPy sorts numbers of 16 bits by their digits.
    short = places.astype(np.uint16) if len(target) <= 1 << 16 else places
    order = np.argsort(short, kind="stable")
    places = places[order]
    starts = np.flatnonzero(np.diff(places, prepend=-1))
    counts = np.diff(starts, append=len(places))
    found = places[starts]
    # What belongs to one place is together now; ufunc.at would take every row on its own.
    if counts.max() <= _ROUNDS:
        combined = _combine_in_rounds(function, rows, order, starts, counts)
    else:
        combined = function.reduceat(rows[order], starts, axis=0)
    target[found] = function(target[found], combined)


_ROUNDS = 64
"""The most rows of one place that are added one after another to those of all places at once."""


def _combine_in_rounds(
    function: np.ufunc, rows: Array, order: Array, starts: Array, counts: Array
) -> Array:
    """What `reduceat` gives; in each round, every place that has one more row takes it."""
    by_count = np.argsort(-counts, kind="stable")
    firsts, falling = starts[by_count], -counts[by_count]
    combined = rows[order[firsts]]
    for number in range(1, -int(falling[0])):
        # Places with more rows than `number` are in front.
        left = int(np.searchsorted(falling, -number))
        part = combined[:left]
        function(part, rows[order[firsts[:left] + number]], out=part)
    result = np.empty_like(combined)
    result[by_count] = combined
    return result


KERNELS: dict[str, Callable[..., Array]] = {
    "gather": _gather,
    "rows_scatter": partial(scatter_rows, combine=_combine),
    "scatter": _scatter("scatter", None),
    "scatter_add": _scatter("scatter_add", np.add),
    "scatter_maximum": _scatter("scatter_maximum", np.maximum),
    "scatter_minimum": _scatter("scatter_minimum", np.minimum),
    "scatter_multiply": _scatter("scatter_multiply", np.multiply),
}
"""Kernels by mnemonic, called like the definition's reference function."""
