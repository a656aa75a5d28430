"""Operations that fold, order and combine elements by a function that the program gives.

The function works on single elements. Where it is made of elementwise operations, it is computed
for many elements at a time: its operations do not ask for shapes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Operation, Region, SSAValue

from ttmlir.dialects.stablehlo.attrs import ScatterDimensionNumbersAttr
from ttmlir.dialects.stablehlo.text.form import integer, integers
from ttmlir.interpreter.execution import Execution
from ttmlir.interpreter.stablehlo.contraction import window_padding
from ttmlir.interpreter.stablehlo.elementwise import ELEMENTWISE
from ttmlir.interpreter.stablehlo.movement import counted, index_vectors, padded, without
from ttmlir.interpreter.values import Function, compute_dtype
from ttmlir.mlir.reporting.diagnostics import OpError
from ttmlir.runtime.element import Array, convert

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
        values[op.results[0]] = _typed(result, op.results[0].type)
    results = [values[v] if v in values else execution.value(v) for v in last.operands]
    shape = np.broadcast_shapes(*(argument.shape for argument in arguments))
    return [np.broadcast_to(result, shape) for result in results]


def _typed(value: Any, type: Attribute) -> Array:
    dtype = compute_dtype(cast("TensorType[Attribute]", type).element_type)
    array = np.asarray(value)
    return array if dtype is None else convert(array, dtype)


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


def _ones(op: Operation, name: str, count: int) -> tuple[int, ...]:
    return integers(op, name) or (1,) * count


def _window_extents(
    shape: Sequence[int], window: Sequence[int], strides: Sequence[int], dilations: Sequence[int]
) -> list[int]:
    """How many windows fit in each dimension."""
    return [
        max(0, (size - (taps - 1) * dilation - 1) // stride + 1)
        for size, taps, stride, dilation in zip(shape, window, strides, dilations, strict=True)
    ]


def _element_of_each(
    array: Array,
    place: Sequence[int],
    extents: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
) -> Array:
    """The element at one place of all windows."""
    parts = zip(place, extents, strides, dilations, strict=True)
    return array[
        tuple(
            slice(tap * dilation, tap * dilation + max(0, extent - 1) * stride + 1, stride)
            if extent
            else slice(0)
            for tap, extent, stride, dilation in parts
        )
    ]


def _reduce_window(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    count = len(operands) // 2
    starts = operands[count:]
    rank = operands[0].ndim
    window = integers(op, "window_dimensions")
    strides = _ones(op, "window_strides", rank)
    dilations = _ones(op, "window_dilations", rank)
    low, high = zip(*window_padding(op, rank), strict=True) if rank else ((), ())
    gaps = [factor - 1 for factor in _ones(op, "base_dilations", rank)]
    inputs = [
        padded(array, start[()], low, high, gaps)
        for array, start in zip(operands[:count], starts, strict=True)
    ]
    extents = _window_extents(inputs[0].shape, window, strides, dilations)
    totals: list[Array] = [np.broadcast_to(start, extents) for start in starts]
    ufunc = single_ufunc(op.regions[0])
    for place in product(*map(range, window)):
        elements = [_element_of_each(array, place, extents, strides, dilations) for array in inputs]
        if ufunc is not None:
            totals = [ufunc(totals[0], elements[0])]
        else:
            totals = apply_region(execution, op.regions[0], [*totals, *elements])
    return totals


def _select_and_scatter(
    execution: Execution, op: Operation, operands: Sequence[Any]
) -> Sequence[Any]:
    array, source, start = operands
    rank = array.ndim
    window = _ones(op, "window_dimensions", rank)
    strides = _ones(op, "window_strides", rank)
    ones = (1,) * rank
    low, high = zip(*window_padding(op, rank), strict=True) if rank else ((), ())
    numbers: Array = counted(array.size).reshape(array.shape)
    places = padded(numbers, -1, low, high)
    extents = _window_extents(places.shape, window, strides, ones)
    flat = array.reshape(-1)
    chosen = np.full(extents, -1)
    for place in product(*map(range, window)):
        candidate = _element_of_each(places, place, extents, strides, ones)
        (keeps,) = apply_region(execution, op.regions[0], [flat[chosen], flat[candidate]])
        chosen = np.where((candidate >= 0) & ((chosen < 0) | ~keeps), candidate, chosen)
    result: Array = np.broadcast_to(start, array.shape).copy().reshape(-1)
    taken = chosen.reshape(-1)
    hit = taken >= 0
    combine(execution, op.regions[1], [result], taken[hit], [source.reshape(-1)[hit]])
    return (result.reshape(array.shape),)


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


def _scatter(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    count = len(operands) // 2
    inputs, indices, updates = operands[:count], operands[count], operands[count + 1 :]
    numbers = cast("ScatterDimensionNumbersAttr", op.properties["scatter_dimension_numbers"])
    shape, target = updates[0].shape, inputs[0].shape
    vectors = index_vectors(indices, numbers.index_vector_dim)
    batch_dims = without(len(shape), numbers.update_window_dims)
    window_dims = without(len(target), numbers.inserted_window_dims, numbers.input_batching_dims)

    def along(extents: Sequence[int], dims: Sequence[int], value: Array) -> Array:
        places = [1] * len(shape)
        for dim, extent in zip(dims, extents, strict=True):
            places[dim] = extent
        return value.reshape(places)

    place: list[Array] = [np.zeros((), np.int64)] * len(target)
    for position, dim in enumerate(numbers.scatter_dims_to_operand_dims):
        start: Array = vectors[..., position]
        place[dim] = along(start.shape, batch_dims, start)
    for dim, source in zip(
        numbers.input_batching_dims, numbers.scatter_indices_batching_dims, strict=True
    ):
        source = source - (source > numbers.index_vector_dim)
        extent = vectors.shape[source]
        place[dim] = along([extent], [batch_dims[source]], counted(extent))
    for dim, update_dim in zip(window_dims, numbers.update_window_dims, strict=True):
        offset = along([shape[update_dim]], [update_dim], counted(shape[update_dim]))
        place[dim] = place[dim] + offset
    whole = [np.broadcast_to(part, shape).reshape(-1) for part in place]
    is_inside = np.ones(math.prod(shape), bool)
    for part, extent in zip(whole, target, strict=True):
        is_inside &= (part >= 0) & (part < extent)
    flat_places = np.zeros(int(is_inside.sum()), np.int64)
    if target:
        inside = tuple(part[is_inside] for part in whole)
        flat_places = np.ravel_multi_index(inside, target)
    results = [array.copy().reshape(-1) for array in inputs]
    flat_updates = [update.reshape(-1)[is_inside] for update in updates]
    combine(execution, op.regions[0], results, flat_places, flat_updates)
    return [result.reshape(target) for result in results]


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


def _batch_shape(op: Operation, array: Array) -> tuple[tuple[int, ...], list[int]]:
    """The shape in which a value for each feature broadcasts, and the other dimensions."""
    feature = integer(op, "feature_index")
    shape = [1] * array.ndim
    shape[feature] = array.shape[feature]
    return tuple(shape), without(array.ndim, [feature])


def _epsilon(op: Operation) -> float:
    return float(cast("Any", op.properties["epsilon"]).value.data)


def _batch_norm_inference(
    execution: Execution, op: Operation, operands: Sequence[Any]
) -> Sequence[Any]:
    array, *features = operands
    shape, _ = _batch_shape(op, array)
    scale, offset, mean, variance = (value.reshape(shape) for value in features)
    return ((array - mean) / np.sqrt(variance + _epsilon(op)) * scale + offset,)


def _batch_norm_training(
    execution: Execution, op: Operation, operands: Sequence[Any]
) -> Sequence[Any]:
    array, scale, offset = operands
    shape, others = _batch_shape(op, array)
    mean = array.mean(axis=tuple(others), keepdims=True)
    variance = ((array - mean) ** 2).mean(axis=tuple(others), keepdims=True)
    normal = (array - mean) / np.sqrt(variance + _epsilon(op))
    output = normal * scale.reshape(shape) + offset.reshape(shape)
    return output, mean.reshape(-1), variance.reshape(-1)


def _batch_norm_grad(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    array, scale, mean, variance, grad = operands
    shape, others = _batch_shape(op, array)
    axes = tuple(others)
    inverse = 1 / np.sqrt(variance.reshape(shape) + _epsilon(op))
    normal = (array - mean.reshape(shape)) * inverse
    grad_scale = (grad * normal).sum(axis=axes, keepdims=True)
    grad_offset = grad.sum(axis=axes, keepdims=True)
    count = array.size / array.shape[integer(op, "feature_index")]
    centred = grad - grad_offset / count - normal * grad_scale / count
    return scale.reshape(shape) * inverse * centred, grad_scale.reshape(-1), grad_offset.reshape(-1)


REDUCTION: dict[str, Function] = {
    "stablehlo.batch_norm_grad": _batch_norm_grad,
    "stablehlo.batch_norm_inference": _batch_norm_inference,
    "stablehlo.batch_norm_training": _batch_norm_training,
    "stablehlo.map": _map,
    "stablehlo.reduce": _reduce,
    "stablehlo.reduce_window": _reduce_window,
    "stablehlo.scatter": _scatter,
    "stablehlo.select_and_scatter": _select_and_scatter,
    "stablehlo.sort": _sort,
}
"""Operations of this module by name."""
