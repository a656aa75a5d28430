"""Operations that read and write elements by computed numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from xdsl.ir import Operation

from ttmlir.dialects.stablehlo.attrs import GatherDimensionNumbersAttr, ScatterDimensionNumbersAttr
from ttmlir.dialects.stablehlo.text.form import integers
from ttmlir.interpreter.execution import Execution
from ttmlir.interpreter.stablehlo.movement import counted, result_shape, without
from ttmlir.interpreter.stablehlo.reduction import combine
from ttmlir.interpreter.values import Function
from ttmlir.runtime.element import Array


def _window_at(array: Array, starts: Sequence[Any], sizes: Sequence[int]) -> tuple[slice, ...]:
    """The part of given size that begins at indices, which are moved so that it fits."""
    begins = [
        min(max(int(start), 0), extent - size)
        for start, extent, size in zip(starts, array.shape, sizes, strict=True)
    ]
    return tuple(slice(begin, begin + size) for begin, size in zip(begins, sizes, strict=True))


def _dynamic_slice(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    array, *starts = operands
    return (array[_window_at(array, starts, integers(op, "slice_sizes"))],)


def _dynamic_update_slice(
    execution: Execution, op: Operation, operands: Sequence[Any]
) -> Sequence[Any]:
    array, update, *starts = operands
    result = array.copy()
    result[_window_at(array, starts, update.shape)] = update
    return (result,)


def index_vectors(indices: Array, vector_dim: int) -> Array:
    """The start indices with the numbers of one vector in the last dimension."""
    if vector_dim == indices.ndim:
        return indices[..., None].astype(np.int64)
    return np.moveaxis(indices, vector_dim, -1).astype(np.int64)


def _gather(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    array, indices, *_ = operands
    numbers = cast("GatherDimensionNumbersAttr", op.properties["dimension_numbers"])
    sizes = integers(op, "slice_sizes")
    vectors = index_vectors(indices, numbers.index_vector_dim)
    shape = result_shape(op)
    batch_dims = without(len(shape), numbers.offset_dims)
    window_dims = without(array.ndim, numbers.collapsed_slice_dims, numbers.operand_batching_dims)

    def along(extents: Sequence[int], dims: Sequence[int], value: Array) -> Array:
        """An array of the batch's (or an offset's) shape in its place in the result."""
        places = [1] * len(shape)
        for dim, extent in zip(dims, extents, strict=True):
            places[dim] = extent
        return value.reshape(places)

    place: list[Any] = [np.zeros((), np.int64)] * array.ndim
    for position, dim in enumerate(numbers.start_index_map):
        start: Array = np.clip(vectors[..., position], 0, array.shape[dim] - sizes[dim])
        place[dim] = along(start.shape, batch_dims, start)
    batches = vectors.shape[:-1]
    vector_dim = numbers.index_vector_dim
    for dim, source in zip(
        numbers.operand_batching_dims, numbers.start_indices_batching_dims, strict=True
    ):
        source = source - (source > vector_dim)
        extent = batches[source]
        place[dim] = along([extent], [batch_dims[source]], counted(extent))
    for dim, result_dim in zip(window_dims, numbers.offset_dims, strict=True):
        offset = along([sizes[dim]], [result_dim], counted(sizes[dim]))
        place[dim] = place[dim] + offset
    return (np.broadcast_to(array[tuple(place)] if place else array, shape),)


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


INDEXING: dict[str, Function] = {
    "stablehlo.dynamic_slice": _dynamic_slice,
    "stablehlo.dynamic_update_slice": _dynamic_update_slice,
    "stablehlo.gather": _gather,
    "stablehlo.scatter": _scatter,
}
"""Operations of this module by name."""
