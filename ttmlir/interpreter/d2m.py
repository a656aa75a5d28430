"""The tensor form of d2m: layouts and views, generics on one core, and loops over tiles.

A tensor of tiles is an array with two dimensions more: rows and columns within a tile. What is
beyond the shape of a tensor from the host is 0. All else that nothing was written to is NaN, or a
number that is not to be expected, so that what reads it shows. The body of a `linalg.generic` runs
once for all its parallel iterators at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, TensorType
from xdsl.dialects.linalg.attrs import IteratorType
from xdsl.dialects.linalg.ops import GenericOp as LinalgGenericOp
from xdsl.ir import Attribute, Operation

from ttmlir.dialects import d2m
from ttmlir.dialects.tt.layout import TileType
from ttmlir.dialects.ttcore import metal_layout_of
from ttmlir.interpreter.execution import (
    Execution,
    Function,
    array_shape,
    compute_dtype,
    convert_to,
    element_of_tensor,
    runtime_element,
)
from ttmlir.layout.affine import AffineMap, DimExpr
from ttmlir.layout.data_format import DEFAULT_TILE_SHAPE
from ttmlir.layout.metal import TILE, MetalLayout
from ttmlir.mlir.attributes import layout_map
from ttmlir.mlir.reporting import OpError
from ttmlir.optable.kernel.tile_calls import TileOperation
from ttmlir.runtime.tensor import Array, cast_rounding, convert

# --- Tiles ----------------------------------------------------------------------------------------
# What the operations on tiles of d2m compute, by the definitions that they are made from.
#
# Tiles are the last two dimensions of arrays; those in front are loops. Tiles of floating-point
# numbers are float32, those of integers have their own width, without sign below 32 bits.


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
    definition = op.TILE_OPERATION.definition
    reference = _of_call(op.TILE_OPERATION) if definition is None else definition.reference
    return _fit(op, reference(np, *operands, **op.parameters()))


def _of_call(operation: TileOperation) -> Callable[..., Any]:
    """What the only call of an operation computes."""
    from ttmlir.optable.kernel import CALLS

    (name,) = (step.call for step in operation.call.floats or ())
    (reference,) = (each.reference for each in CALLS if each.mnemonic == name)
    assert reference is not None, "calls on tiles say what they compute"
    return reference


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


def _bitcast(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    elements = [runtime_element(_number_type(each.type)) for each in (*op.operands, *op.results)]
    source, target = (each.host for each in elements if each is not None)
    return _fit(op, operands[0].astype(source).view(target))


def _number_type(type_: Attribute) -> Attribute:
    """The type of the numbers in a tile."""
    return type_.scalar_type if isinstance(type_, TileType) else type_


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
    "d2m.tile_bitcast": _bitcast,
    "d2m.tile_fill": _fill,
    "d2m.tile_mask": _mask,
    "d2m.tile_matmul": _matmul,
    "d2m.tile_reduce_max": _reduce(np.maximum),
    "d2m.tile_reduce_mean": _reduce(np.add),
    "d2m.tile_reduce_sum": _reduce(np.add),
    "d2m.tile_transpose": _transpose,
    "d2m.tile_typecast": _typecast,
}
"""Operations on tiles by name."""


# --- D2m ------------------------------------------------------------------------------------------

_ODD = 0x5A
"""What integers of padding hold."""


def undefined(type_: Attribute) -> Array:
    """A tensor that nothing was written to."""
    tensor = cast("TensorType[Attribute]", type_)
    dtype = compute_dtype(tensor.element_type)
    assert dtype is not None, "tensors of tiles have a number format"
    return np.full(array_shape(tensor), _padding(dtype), dtype)


def _padding(dtype: np.dtype[Any]) -> float:
    return math.nan if dtype.kind == "f" else _ODD


# --- Layouts -------------------------------------------------------------------------------------


def _empty(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    return (undefined(op.results[0].type),)


def _full(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    number = cast("FloatAttr | IntegerAttr", op.properties["fill_value"]).value.data
    result = undefined(op.results[0].type)
    return (np.full_like(result, number),)


def to_layout(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    """The numbers of a tensor in another layout; formats of tiles change as those of numbers."""
    source, target = op.operands[0].type, op.results[0].type
    logical = _numbers_of(op, operands[0], source, target)
    is_loaded = metal_layout_of(source) is None and not execution.poisons_padding
    return (_divide(op, logical, target, is_loaded),)


def _layout_of(op: Operation, type_: Attribute) -> MetalLayout | None:
    layout = metal_layout_of(type_)
    if layout is not None and layout.data.is_view:
        raise OpError(op, "reads a view; only d2m.view_layout and d2m.generic can be interpreted")
    return None if layout is None else layout.data


def _numbers_of(op: Operation, array: Array, type_: Attribute, other: Attribute) -> Array:
    """The tensor as the host has it, in the element type of the other side if that is known."""
    layout = _layout_of(op, type_)
    if layout is None:
        return array
    order = _interleaved_axes(layout.device_rank, len(array.shape))
    flat = np.ascontiguousarray(array.transpose(order)).reshape(-1)
    view = _logical_view(flat, layout)
    element = element_of_tensor(other)
    wanted = element_of_tensor(type_) if isinstance(element, TileType) else element
    return of_storage(np.array(view), wanted)


def logical_numbers(op: Operation, result: Array) -> Array | None:
    """What a generic computed, in rows and without padding; None for what other operations do."""
    if not isinstance(op, d2m.GenericOp):
        return None
    type_ = op.results[0].type
    return _numbers_of(op, result, type_, type_)


def _logical_view(flat: Array, layout: MetalLayout) -> Array:
    """The numbers of the logical shape in a padded buffer."""
    strides = [stride * flat.itemsize for stride in layout.host_strides]
    return np.lib.stride_tricks.as_strided(flat, layout.logical_shape, strides)


def _divide(op: Operation, array: Array, type_: Attribute, pads_zeros: bool) -> Array:
    """Numbers as tiles on a grid, or as the host has them; transfers of the host pad by zeros."""
    layout = _layout_of(op, type_)
    tensor = cast("TensorType[Attribute]", type_)
    if layout is None:
        return array.reshape(tensor.get_shape())
    element = tensor.element_type
    dtype = compute_dtype(element)
    assert dtype is not None, "tensors on grids have a number format"
    flat = np.full(layout.host_volume, 0 if pads_zeros else _padding(dtype), dtype)
    stored = to_storage(array.reshape(layout.logical_shape), element)
    _logical_view(flat, layout)[...] = stored
    shape = array_shape(tensor)
    order = _interleaved_axes(layout.device_rank, len(shape))
    return flat.reshape([shape[axis] for axis in order]).transpose(np.argsort(order))


def _interleaved_axes(rank: int, axes: int) -> list[int]:
    """The axes (grid, shard, tile) in the order of a buffer in row-major order of numbers."""
    order = [axis for pair in zip(range(rank), range(rank, 2 * rank), strict=True) for axis in pair]
    if axes > 2 * rank:
        order.insert(len(order) - 2, 2 * rank)
        order.append(2 * rank + 1)
    return order


def _view_layout(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    layout = metal_layout_of(op.results[0].type)
    tensor = cast("TensorType[Attribute]", op.results[0].type)
    shape = tuple(tensor.get_shape())
    if layout is None or not layout.data.is_view:
        return (operands[0].reshape(array_shape(tensor)),)
    points = cast("Sequence[int]", np.indices(shape, sparse=True))
    places = np.broadcast_arrays(*layout.index_map.eval(points), np.zeros(shape, np.int8))[:-1]
    extents = cast("TensorType[Attribute]", op.operands[0].type).get_shape()
    is_there = np.ones(shape, np.bool_)
    for place, extent in zip(places, extents, strict=True):
        is_there &= (place >= 0) & (place < extent)
    if not is_there.all():
        raise OpError(op, f"the map leads out of the buffer: '{layout.index_map}'")
    return (operands[0][tuple(places)],)


def _view_elements(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    assert isinstance(op, d2m.ViewElementsOp | d2m.ViewNumberedOp)
    points = cast("Sequence[int]", np.indices(op.shape, sparse=True))
    if isinstance(op, d2m.ViewNumberedOp):
        numbers = _elements_at(operands[1], op.places, points, op.shape)
        named = np.clip(numbers.astype(np.int64), 0, op.count - 1)
        found = _elements_at(operands[0], op.map, (*points, named), op.shape)
    else:
        found = _elements_at(operands[0], op.map, points, op.shape)
    result = undefined(op.results[0].type)
    *outer, rows, columns = points
    place = (rows // TILE, columns // TILE, rows % TILE, columns % TILE)
    result.reshape(result.shape[len(op.shape) :])[(*outer, *place)] = found
    return (result,)


def _elements_at(
    tiles: Any, index_map: AffineMap, points: Sequence[Any], shape: Sequence[int]
) -> Any:
    """The elements of tiles on a grid of ones that a map leads to from points of a shape."""
    places = np.broadcast_arrays(*index_map.eval(points), np.zeros(shape, np.int8))[:-1]
    rows, columns = places[-2:]
    tile = (rows // TILE, columns // TILE, rows % TILE, columns % TILE)
    return tiles.reshape(tiles.shape[len(places) :])[(*places[:-2], *tile)]


# --- Generics ------------------------------------------------------------------------------------


def _generic(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    assert isinstance(op, d2m.GenericOp)
    if {*op.grid_shape, *op.block_factors, *sum((x.grid_shape for x in op.layouts), ())} != {1}:
        raise OpError(op, "runs on several cores or blocks; one of each can be interpreted")
    shards = [
        array.reshape(array.shape[len(layout.grid_shape) :])
        for array, layout in zip(operands, op.layouts, strict=True)
    ]
    results = execution.run_region(op.regions[0], shards)
    return [
        result.reshape(array_shape(cast("TensorType[Attribute]", value.type)))
        for result, value in zip(results, op.results, strict=True)
    ]


def _shard(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    return (operands[0],)


def loop_over_tiles(
    execution: Execution, op: LinalgGenericOp, operands: Sequence[Any]
) -> Sequence[Any]:
    """A loop over tiles with one output; accumulators start from what they combine with."""
    if len(op.outputs) != 1:
        raise OpError(op, "is a loop over tiles with several outputs; one can be interpreted")
    maps = [layout_map(each) for each in op.indexing_maps.data]
    out = np.array(operands[-1])
    combines = any(kind.data is not IteratorType.PARALLEL for kind in op.iterator_types.data)
    for step, point in enumerate(points_of(op, maps, operands)):
        inputs = zip(operands[:-1], maps[:-1], strict=True)
        tiles = [array[index_map.eval(point)] for array, index_map in inputs]
        target = maps[-1].eval(point)
        held = _identity(op, out.dtype) if combines and not step else out[target]
        (result,) = execution.run_iteration(op.body, [*tiles, held], point)
        out[target] = result
    return (out,)


def points_of(
    op: LinalgGenericOp, maps: Sequence[AffineMap], operands: Sequence[Array]
) -> Iterator[list[Any]]:
    """Where the iterators of a loop are: all parallel ones everywhere, the others one by one."""
    extents = extents_of(maps, operands)
    kinds = [kind.data for kind in op.iterator_types.data]
    parallel = [n for n, kind in enumerate(kinds) if kind is IteratorType.PARALLEL]
    others = [n for n, kind in enumerate(kinds) if kind is not IteratorType.PARALLEL]
    point: list[Any] = [0] * len(kinds)
    for axis, iterator in enumerate(parallel):
        shape = [1] * len(parallel)
        shape[axis] = extents[iterator]
        point[iterator] = np.arange(extents[iterator]).reshape(shape)
    for places in np.ndindex(*(extents[iterator] for iterator in others)):
        for iterator, place in zip(others, places, strict=True):
            point[iterator] = place
        yield point


def extents_of(maps: Sequence[AffineMap], operands: Sequence[Array]) -> Sequence[int]:
    """How far iterators go: over the dimensions that each indexes alone."""
    found: dict[int, int] = {}
    for index_map, array in zip(maps, operands, strict=True):
        for result, extent in zip(index_map.results, array.shape, strict=False):
            if isinstance(result, DimExpr):
                found[result.position] = extent
    return [found[iterator] for iterator in range(maps[0].num_dims)]


def _identity(op: LinalgGenericOp, dtype: np.dtype[Any]) -> Array:
    """What an accumulator starts from."""
    held = op.body.block.args[-1]
    number = next((_identity_of(use.operation) for use in held.uses), 0.0)
    if dtype.kind != "f" and math.isinf(number):
        limits = np.iinfo(dtype)
        number = limits.min if number < 0 else limits.max
    return np.asarray(number, dtype)


def _identity_of(op: Operation) -> float:
    if isinstance(op, d2m.CombiningTileOp):
        return op.IDENTITY
    definition = op.TILE_OPERATION.definition if isinstance(op, d2m.ElementwiseTileOp) else None
    if definition is None or definition.identity is None:
        raise OpError(op, "combines nothing, but has an accumulator as operand")
    return definition.identity


FUNCTIONS: dict[str, Function] = {
    **TILE_FUNCTIONS,
    "d2m.empty": _empty,
    "d2m.full": _full,
    "d2m.generic": _generic,
    "d2m.reserve": _shard,
    "d2m.to_layout": to_layout,
    "d2m.view_elements": _view_elements,
    "d2m.view_numbered": _view_elements,
    "d2m.view_layout": _view_layout,
    "d2m.wait": _shard,
}
"""Operations of d2m by name."""
