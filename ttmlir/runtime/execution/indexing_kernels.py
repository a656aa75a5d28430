"""NumPy kernels of reading and writing by number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ttmlir.optable import definition
from ttmlir.optable.indexing import check_numbers
from ttmlir.optable.library import scattered_rows
from ttmlir.optable.op_definition import Shape
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


def _rows_scatter(
    xp: Any, input: Array, index: Array, source: Array, *, reduction: str, **parameters: Any
) -> Array:
    """Rows of all batches are combined at once; whole rows that an index spells out are such."""
    places = parameters | _whole_rows(input.shape, index, **parameters)
    index = index[:, : len(places["sizes"]), :: places.pop("step", 1)]
    function = _COMBINERS.get(reduction)
    numbers, row = scattered_rows(input.shape, index, **places)
    output = input.copy()
    target = output.reshape(-1, *row)
    rows = source.reshape(-1, *row).astype(output.dtype, copy=False)
    inside = numbers >= 0
    if not inside.all():
        numbers, rows = numbers[inside], rows[inside]
    if function is None:
        target[numbers] = rows
    elif numbers.size:
        _combine(function, target, numbers, rows)
    return output


def _whole_rows(
    input: Shape, index: Array, *, sizes: Shape, windows: Shape, column: bool
) -> dict[str, Any]:
    """What is said of an index that names all columns of rows, if only the rows are named."""
    width = sizes[-1]
    del column  # Numbers that are rows of their own stand in rows, too.
    batches, places, count = index.shape
    if places < 2 or windows[-1] != 1 or width < 2 or count % width or not count:
        return {}
    if input[1:] != (*sizes,):
        return {}
    spelled = index.reshape(batches, places, -1, width)
    if not np.array_equal(spelled[:, -1], np.broadcast_to(np.arange(width), spelled[:, -1].shape)):
        return {}
    if not (spelled[:, :-1] == spelled[:, :-1, :, :1]).all():
        return {}
    return {"sizes": sizes[:-1], "windows": windows[:-1], "column": False, "step": width}


_COMBINERS = {"sum": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum}


KERNELS: dict[str, Callable[..., Array]] = {
    "gather": _gather,
    "rows_scatter": _rows_scatter,
    "scatter": _scatter("scatter", None),
    "scatter_add": _scatter("scatter_add", np.add),
    "scatter_maximum": _scatter("scatter_maximum", np.maximum),
    "scatter_minimum": _scatter("scatter_minimum", np.minimum),
    "scatter_multiply": _scatter("scatter_multiply", np.multiply),
}
"""Kernels by mnemonic, called like the definition's reference function."""
