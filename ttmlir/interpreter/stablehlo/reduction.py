"""Operations that fold, order and combine elements by a function that the program gives.

The function works on single elements. Where it is made of elementwise operations, it is computed
for many elements at a time: its operations do not ask for shapes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from xdsl.ir import Operation, Region, SSAValue

from ttmlir.dialects.stablehlo.text.form import integer, integers
from ttmlir.interpreter.execution import Execution, store_elements
from ttmlir.interpreter.stablehlo.elementwise import ELEMENTWISE, element_type
from ttmlir.interpreter.stablehlo.movement import counted, without
from ttmlir.interpreter.values import Function
from ttmlir.mlir.reporting.diagnostics import OpError
from ttmlir.runtime.element import Array

Arrays = Sequence[Array]


def apply_region(execution: Execution, region: Region, arguments: Arrays) -> list[Array]:
    """What a region of elementwise operations makes of arrays, element by element."""
    block = region.block
    values: dict[SSAValue, Any] = dict(zip(block.args, arguments, strict=True))
    last = block.last_op
    assert last is not None, "the verifier asks for a terminator"
    for op in block.ops:
        if op is last:
            break
        operands = [execution.value(v) if v not in values else values[v] for v in op.operands]
        function = ELEMENTWISE.get(op.name)
        if function is None:
            raise OpError(
                op,
                "cannot be interpreted in a function of elements; elementwise operations can be",
            )
        (result,) = function(execution, op, operands)
        values[op.results[0]] = store_elements(op, result, element_type(op))
    results = [values[v] if v in values else execution.value(v) for v in last.operands]
    shape = np.broadcast_shapes(*(argument.shape for argument in arguments))
    return [np.broadcast_to(result, shape) for result in results]


_UFUNCS: dict[str, np.ufunc] = {
    "stablehlo.add": np.add,
    "stablehlo.multiply": np.multiply,
    "stablehlo.maximum": np.maximum,
    "stablehlo.minimum": np.minimum,
    "stablehlo.and": np.bitwise_and,
    "stablehlo.or": np.bitwise_or,
    "stablehlo.xor": np.bitwise_xor,
}


def single_ufunc(region: Region) -> np.ufunc | None:
    """NumPy's function of a region that is one commutative operation of its two arguments."""
    ops = list(region.block.ops)
    if len(ops) != 2 or len(region.block.args) != 2:
        return None
    folded, last = ops
    if set(folded.operands) != set(region.block.args):
        return None
    return _UFUNCS.get(folded.name) if list(last.operands) == list(folded.results) else None


def _reduce(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    count = len(operands) // 2
    inputs, starts = operands[:count], operands[count:]
    dimensions = integers(op, "dimensions")
    ufunc = single_ufunc(op.regions[0])
    if ufunc is not None:
        total = ufunc.reduce(inputs[0], axis=dimensions)
        return (ufunc(total.astype(inputs[0].dtype), starts[0]),)
    kept = without(inputs[0].ndim, dimensions)
    order = (*dimensions, *kept)
    shape = [inputs[0].shape[dim] for dim in kept]
    columns = [array.transpose(order).reshape(-1, *shape) for array in inputs]
    totals: list[Array] = [np.broadcast_to(start, shape) for start in starts]
    for row in range(len(columns[0])):
        arguments = [*totals, *(column[row] for column in columns)]
        totals = apply_region(execution, op.regions[0], arguments)
    return totals


def combine(
    execution: Execution, region: Region, results: list[Array], places: Array, updates: Arrays
) -> None:
    """Combine flat results with updates at places, one after the other where places repeat."""
    ufunc = single_ufunc(region)
    if ufunc is not None:
        ufunc.at(results[0], places, updates[0])
        return
    # The n-th updates of all places go together: so none meets another of the same place.
    order = np.argsort(places, kind="stable")
    ordered = places[order]
    is_first = np.ones(len(ordered), bool)
    is_first[1:] = ordered[1:] != ordered[:-1]
    firsts = np.flatnonzero(is_first)
    turn = counted(len(ordered)) - firsts[np.cumsum(is_first) - 1]
    for number in range(int(turn.max(initial=-1)) + 1):
        now = order[turn == number]
        where = places[now]
        arguments = [*(result[where] for result in results), *(u[now] for u in updates)]
        for result, value in zip(results, apply_region(execution, region, arguments), strict=True):
            result[where] = value


def _map(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    return apply_region(execution, op.regions[0], operands)


def _sort(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    dimension = integer(op, "dimension") if "dimension" in op.properties else -1
    if operands[0].ndim == 0:
        return operands
    columns = [np.moveaxis(array, dimension, 0) for array in operands]
    order = _sorted_order(execution, op.regions[0], columns)
    return [np.moveaxis(np.take_along_axis(column, order, 0), 0, dimension) for column in columns]


def _sorted_order(execution: Execution, region: Region, columns: Arrays) -> Array:
    """Places of the elements in order, along the first dimension; equal ones keep their order.

    Batcher's merge exchange: each step compares many pairs of places at once.
    """
    length = len(columns[0])
    rest = columns[0].shape[1:]
    order = np.broadcast_to(counted(length).reshape(-1, *(1,) * len(rest)), (length, *rest))
    order = order.copy()
    for firsts, distance in _exchanges(length):
        seconds = firsts + distance
        a, b = order[firsts], order[seconds]
        left = [np.take_along_axis(column, a, 0) for column in columns]
        right = [np.take_along_axis(column, b, 0) for column in columns]
        (comes_after,) = _less(execution, region, right, left)
        (comes_before,) = _less(execution, region, left, right)
        swap = comes_after | (~comes_before & (b < a))
        order[firsts] = np.where(swap, b, a)
        order[seconds] = np.where(swap, a, b)
    return order


def _less(execution: Execution, region: Region, a: Arrays, b: Arrays) -> list[Array]:
    pairs = [array for pair in zip(a, b, strict=True) for array in pair]
    return apply_region(execution, region, pairs)


def _exchanges(length: int) -> list[tuple[Array, int]]:
    """First places of the pairs, and their distance, of each step (Knuth 5.2.2, algorithm M)."""
    steps: list[tuple[Array, int]] = []
    if length < 2:
        return steps
    top = 1 << ((length - 1).bit_length() - 1)
    p = top
    while p:
        q, r, d = top, 0, p
        while True:
            places = counted(length - d)
            steps.append((places[(places & p) == r], d))
            if q == p:
                break
            d, q, r = q - p, q >> 1, p
        p >>= 1
    return steps


def _top_k(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    (array,) = operands
    count = integer(op, "k")
    # Stable from the largest: equal elements come in the order of their places.
    descending = np.argsort(np.flip(array, -1), -1, kind="stable")
    places = array.shape[-1] - 1 - np.flip(descending, -1)[..., :count]
    return np.take_along_axis(array, places, -1), places


REDUCTION: dict[str, Function] = {
    "chlo.top_k": _top_k,
    "stablehlo.map": _map,
    "stablehlo.reduce": _reduce,
    "stablehlo.sort": _sort,
}
"""Operations of this module by name."""
