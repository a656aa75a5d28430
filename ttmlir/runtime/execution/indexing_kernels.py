"""NumPy kernels of reading and writing by number."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ttmlir.optable import definition
from ttmlir.optable.indexing import check_numbers
from ttmlir.optable.library import scattered_rows
from ttmlir.optable.op_definition import Shape
from ttmlir.runtime.execution.operations import OperationCall
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
    order = _order_of(places)
    if order.rounds:
        combined = rows[order.rounds[0]]
        for following in order.rounds[1:]:
            part = combined[: len(following)]
            function(part, rows[following], out=part)
    else:
        combined = function.reduceat(rows[order.sorted], order.starts, axis=0)
    target[order.places] = function(target[order.places], combined)


_ROUNDS = 64
"""The most rows of one place that are added one after another to those of all places at once."""


@dataclass(frozen=True)
class _Order:
    """How rows that belong to the same place are found; ufunc.at would take each on its own."""

    given: Array
    """The place of each row."""
    places: Array
    """The places that have rows."""
    rounds: list[Array]
    """The first row of each of these, then the second ones of those that have more, in front, and
    so on; empty if there are too many."""
    sorted: Array
    """Otherwise all rows, those of one place together."""
    starts: Array
    """Where the rows of each place begin there."""


_last: list[_Order] = []
"""What was found last: a graph's layers, and often its calls, have the same edges."""
_REMEMBERED = 1 << 16
"""The most rows whose order is kept."""


def _order_of(places: Array) -> _Order:
    for known in _last[:1]:
        if known.given.dtype == places.dtype and np.array_equal(known.given, places):
            return known
    order = _find_order(places)
    if len(places) <= _REMEMBERED:
        _last[:] = [order]
    return order


def _find_order(places: Array) -> _Order:
    # NumPy sorts numbers of 16 bits by their digits.
    short = places.astype(np.uint16) if places.max() < 1 << 16 else places
    order = np.argsort(short, kind="stable")
    in_order = places[order]
    starts = np.flatnonzero(np.diff(in_order, prepend=-1))
    counts = np.diff(starts, append=len(places))
    found = in_order[starts]
    most = int(counts.max())
    if most > _ROUNDS:
        return _Order(places.copy(), found, [], order, starts)
    by_count = np.argsort(-counts, kind="stable")
    firsts, falling = starts[by_count], -counts[by_count]
    # Places with more rows than the number of the round are in front.
    ends = np.searchsorted(falling, -np.arange(most))
    rounds = [order[firsts[:end] + number] for number, end in enumerate(ends)]
    return _Order(places.copy(), found[by_count], rounds, order, starts)


def _rows_scatter(
    xp: Any, input: Array, index: Array, source: Array, *, reduction: str, **parameters: Any
) -> Array:
    """Rows of all batches are combined at once; whole rows that an index spells out are such."""
    places = parameters | _whole_rows(input.shape, index, **parameters)
    index = index[:, : len(places["sizes"]), :: places.pop("step", 1)]
    numbers, row = scattered_rows(input.shape, index, **places)
    output = input.copy()
    put_rows(output.reshape(-1, *row), numbers, source.reshape(-1, *row), reduction)
    return output


def put_rows(target: Array, numbers: Array, rows: Array, reduction: str) -> None:
    """Combine rows with those of the target with these numbers; without a reduction they take their
    place. Numbers that it does not have are left out."""
    rows = rows.astype(target.dtype, copy=False)
    if numbers.size and (numbers.min() < 0 or numbers.max() >= len(target)):
        inside = (numbers >= 0) & (numbers < len(target))
        numbers, rows = numbers[inside], rows[inside]
    function = _COMBINERS.get(reduction)
    if function is None:
        target[numbers] = rows
    elif numbers.size:
        _combine(function, target, numbers, rows)


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


def refusing_outside(call: OperationCall, function: Callable[..., Array]) -> Callable[..., Array]:
    """The function of a call, after it has refused places that the first operand does not have.

    Those of operations that read or write by number, and do not refuse or fill anyway.
    """
    given, name = call.parameters, call.definition.mnemonic
    is_write = name == "rows_scatter" or name.startswith("scatter")
    if not is_write and (name != "rows_gather" or given["fill_out_of_bounds"]):
        return function
    what = "written to" if is_write else "picked from"

    def run(input: Array, index: Array, *source: Array) -> Array:
        if "dim" in given:
            check_numbers(index, input.shape[given["dim"]], what)
        else:
            for place, (size, window) in enumerate(
                zip(given["sizes"], given["windows"], strict=True)
            ):
                check_numbers(index[:, place], size - window + 1, what)
        return function(input, index, *source)

    return run


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
