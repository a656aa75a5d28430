"""What the operations on tiles of d2m compute, by the rows that they are made from.

Tiles are the last two dimensions of arrays; those in front are loops. Tiles of floating-point
numbers are float32, those of integers have their own width, without sign below 32 bits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from xdsl.ir import Attribute, Operation

from ttmlir.dialects import d2m
from ttmlir.dialects.definition.row_ops import parameter_value
from ttmlir.dialects.tt.layout import TileType
from ttmlir.interpreter.execution import Execution
from ttmlir.interpreter.values import Function, compute_dtype, convert_to, runtime_element
from ttmlir.layout.element_type import DEFAULT_TILE_SHAPE
from ttmlir.runtime.element import Array, cast_rounding, convert


def of_storage(array: Array, element: Attribute) -> Array:
    """What tiles hold as numbers of an element type: with a sign, or as truth values."""
    dtype = compute_dtype(element)
    assert dtype is not None, "only types with a number format are in tiles"
    if dtype.kind == "b":
        return array != 0
    return _wrap(array, dtype)


def to_storage(array: Array, tile: Attribute) -> Array:
    """Numbers of an element type as tiles hold them."""
    dtype = compute_dtype(tile)
    assert dtype is not None, "tiles have a number format"
    return _wrap(array, dtype)


def _wrap(array: Array, dtype: np.dtype[Any]) -> Array:
    """The lower bits of integers; other numbers as conversions make them."""
    if array.dtype.kind in "iu" and dtype.kind in "iu":
        return array.astype(dtype)
    return convert(array, dtype)


def _fit(op: Operation, result: Any) -> tuple[Array]:
    return (to_storage(np.asarray(result), op.results[0].type),)


def _elementwise(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    assert isinstance(op, d2m.ElementwiseTileOp)
    row = op.TILE_OPERATION.row
    assert row is not None, "comparisons with zero have functions of their own"
    parameters = {
        each.name: parameter_value(op.properties[each.name], each.kind)
        for each in row.ttir_signature
        if each.name in op.properties
    }
    return _fit(op, row.reference(np, *operands, **parameters))


def _typecast(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    source = op.properties.get("source", op.operands[0].type)
    target = op.properties.get("target", op.results[0].type)
    numbers = of_storage(operands[0], source)
    element = runtime_element(_number_type(target))
    rounding = None if element is None else cast_rounding(element)
    if element is not None and rounding is not None:
        numbers = rounding(convert(numbers, element.compute))
    made = convert_to(numbers, target)
    assert made is not None, "verified: the target has a number format"
    return _fit(op, made)


def _number_type(type_: Attribute) -> Attribute:
    """The type of the numbers in a tile."""
    return type_.scalar_type if isinstance(type_, TileType) else type_


def _with_zero(compare: Callable[[Array, int], Any]) -> Function:
    def function(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
        return _fit(op, compare(operands[0], 0))

    return function


def _matmul(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    a, b, c = operands
    return _fit(op, c + np.matmul(a, b))


def _reduce(combine: np.ufunc) -> Function:
    """A reduction; what is not in the first column or row of its result is undefined."""

    def function(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
        assert isinstance(op, d2m.TileReduceSumOp | d2m.TileReduceMaxOp)
        a, b, c = operands
        axes = {"R": (-1,), "C": (-2,), "RC": (-2, -1)}[op.reduce_dim.keyword]
        found: Any = np.asarray(a * b)
        for axis in axes:
            found = combine.reduce(found, axis=axis, keepdims=True)
        held = np.broadcast_to(c, np.broadcast_shapes(np.shape(c), np.shape(a)))
        kept = tuple(slice(0, 1) if axis in axes else slice(None) for axis in (-2, -1))
        result = np.full(held.shape, np.nan, np.float32)
        result[..., *kept] = combine(held[..., *kept], found)
        return _fit(op, result)

    return function


def _transpose(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    return (np.swapaxes(operands[0], -1, -2),)


def _bcast(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    assert isinstance(op, d2m.TileBcastOp)
    tile = operands[0]
    rows = slice(None) if op.kind is d2m.BroadcastKind.COLUMN else slice(0, 1)
    columns = slice(None) if op.kind is d2m.BroadcastKind.ROW else slice(0, 1)
    return (np.broadcast_to(tile[..., rows, columns], tile.shape),)


def _fill(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    assert isinstance(op, d2m.TileFillOp)
    return _fit(op, np.full(DEFAULT_TILE_SHAPE, op.number))


def _mask(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    assert isinstance(op, d2m.TileMaskOp)
    tile, row, column = operands
    height, width = DEFAULT_TILE_SHAPE
    rows = np.asarray(row)[..., None, None] * height + np.arange(height)[:, None]
    columns = np.asarray(column)[..., None, None] * width + np.arange(width)
    keeps = (rows < op.valid[0]) & (columns < op.valid[1])
    return _fit(op, np.where(keeps, tile, to_storage(np.asarray(op.number), op.results[0].type)))


TILE_FUNCTIONS: dict[str, Function] = {
    **{op.name: _elementwise for op in d2m.ELEMENTWISE_OPS},
    "d2m.tile_bcast": _bcast,
    "d2m.tile_eqz": _with_zero(np.equal),
    "d2m.tile_fill": _fill,
    "d2m.tile_gez": _with_zero(np.greater_equal),
    "d2m.tile_gtz": _with_zero(np.greater),
    "d2m.tile_lez": _with_zero(np.less_equal),
    "d2m.tile_ltz": _with_zero(np.less),
    "d2m.tile_mask": _mask,
    "d2m.tile_matmul": _matmul,
    "d2m.tile_nez": _with_zero(np.not_equal),
    "d2m.tile_reduce_max": _reduce(np.maximum),
    "d2m.tile_reduce_sum": _reduce(np.add),
    "d2m.tile_transpose": _transpose,
    "d2m.tile_typecast": _typecast,
}
"""Operations on tiles by name."""
