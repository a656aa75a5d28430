"""Operations that move elements, after the StableHLO specification."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Operation

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


def _get_dimension_size(
    execution: Execution, op: Operation, operands: Sequence[Any]
) -> Sequence[Any]:
    return (np.int32(operands[0].shape[integer(op, "dimension")]),)


def counted(extent: int) -> Array:
    """0, 1, 2 ..."""
    return cast("Any", np).arange(extent)


def without(count: int, *left_out: Sequence[int]) -> list[int]:
    """The dimensions below `count` that are in none of the lists."""
    return [i for i in range(count) if not any(i in dimensions for dimensions in left_out)]


MOVEMENT: dict[str, Function] = {
    "stablehlo.broadcast": _broadcast,
    "stablehlo.broadcast_in_dim": _broadcast_in_dim,
    "stablehlo.concatenate": _concatenate,
    "stablehlo.get_dimension_size": _get_dimension_size,
    "stablehlo.pad": _pad,
    "stablehlo.reshape": _reshape,
    "stablehlo.reverse": _reverse,
    "stablehlo.slice": _slice,
    "stablehlo.transpose": _transpose,
}
"""Operations of this module by name."""
