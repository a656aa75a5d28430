"""Operations that move elements, after the StableHLO specification."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Operation

from ttmlir.dialects.stablehlo.attrs import GatherDimensionNumbersAttr
from ttmlir.dialects.stablehlo.text.form import integer, integers
from ttmlir.interpreter.execution import Execution
from ttmlir.interpreter.values import Function
from ttmlir.runtime.element import Array


def result_shape(op: Operation, number: int = 0) -> tuple[int, ...]:
    """The extents of a result."""
    return cast("TensorType[Attribute]", op.results[number].type).get_shape()


def _broadcast_in_dim(
    execution: Execution, op: Operation, operands: Sequence[Any]
) -> Sequence[Any]:
    (value,) = operands
    shape = result_shape(op)
    places = [1] * len(shape)
    for dimension, extent in zip(integers(op, "broadcast_dimensions"), value.shape, strict=True):
        places[dimension] = extent
    order = np.argsort(integers(op, "broadcast_dimensions"))
    return (np.broadcast_to(np.transpose(value, order).reshape(places), shape),)


def _broadcast(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    return (np.broadcast_to(operands[0], result_shape(op)),)


def _reshape(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    return (np.reshape(operands[0], result_shape(op)),)


def _transpose(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    return (np.transpose(operands[0], integers(op, "permutation")),)


def _reverse(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    return (np.flip(operands[0], integers(op, "dimensions")),)


def _concatenate(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    return (np.concatenate(operands, integer(op, "dimension")),)


def padded(
    array: Array,
    value: Any,
    low: Sequence[int],
    high: Sequence[int],
    interior: Sequence[int] | None = None,
) -> Array:
    """An array with a value between and around its elements; negative amounts cut off."""
    between = interior or [0] * array.ndim
    extents = [max(0, n + (n - 1) * gap) for n, gap in zip(array.shape, between, strict=True)]
    spread = np.full(extents, value, array.dtype)
    spread[tuple(slice(None, None, gap + 1) for gap in between)] = array
    amounts = [(max(0, a), max(0, b)) for a, b in zip(low, high, strict=True)]
    around = np.pad(spread, amounts, constant_values=value)
    cuts = [
        slice(max(0, -a), extent - max(0, -b))
        for a, b, extent in zip(low, high, around.shape, strict=True)
    ]
    return around[tuple(cuts)]


def _pad(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    array, value = operands
    names = ("edge_padding_low", "edge_padding_high", "interior_padding")
    return (padded(array, value[()], *(integers(op, name) for name in names)),)


def _slice(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    names = ("start_indices", "limit_indices", "strides")
    ranges = zip(*(integers(op, name) for name in names), strict=True)
    return (operands[0][tuple(slice(*item) for item in ranges)],)


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


def _get_dimension_size(
    execution: Execution, op: Operation, operands: Sequence[Any]
) -> Sequence[Any]:
    return (np.int32(operands[0].shape[integer(op, "dimension")]),)


def counted(extent: int) -> Array:
    """0, 1, 2 ..."""
    return cast("Any", np).arange(extent)


def index_vectors(indices: Array, vector_dim: int) -> Array:
    """The start indices with the numbers of one vector in the last dimension."""
    if vector_dim == indices.ndim:
        return indices[..., None].astype(np.int64)
    return np.moveaxis(indices, vector_dim, -1).astype(np.int64)


def without(count: int, *left_out: Sequence[int]) -> list[int]:
    """The dimensions below `count` that are in none of the lists."""
    return [i for i in range(count) if not any(i in dimensions for dimensions in left_out)]


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


MOVEMENT: dict[str, Function] = {
    "stablehlo.broadcast": _broadcast,
    "stablehlo.broadcast_in_dim": _broadcast_in_dim,
    "stablehlo.concatenate": _concatenate,
    "stablehlo.dynamic_slice": _dynamic_slice,
    "stablehlo.dynamic_update_slice": _dynamic_update_slice,
    "stablehlo.gather": _gather,
    "stablehlo.get_dimension_size": _get_dimension_size,
    "stablehlo.pad": _pad,
    "stablehlo.reshape": _reshape,
    "stablehlo.reverse": _reverse,
    "stablehlo.slice": _slice,
    "stablehlo.transpose": _transpose,
}
"""Operations of this module by name."""
