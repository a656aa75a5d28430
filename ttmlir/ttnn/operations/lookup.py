"""Operations that read, write and find by number: embedding, gather, scatter, nonzero."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from ttmlir.errors import ArgumentError
from ttmlir.runtime.tensor import Array
from ttmlir.ttnn.operations.elementwise.semantics import reference_of
from ttmlir.ttnn.operations.operation import (
    Operation,
    as_dimension,
    as_places,
    common_device,
    is_strict,
    require_tensor,
    store,
    table_of,
)
from ttmlir.ttnn.tensor.tensor import Tensor
from ttmlir.ttnn.types.enums import DataType, Layout
from ttmlir.ttnn.types.memory import Shape


def _embedding(values: dict[str, Any]) -> Tensor:
    """Rows of a table by number, as the table is kept, or in rows where indices fill no tiles."""
    indices = require_tensor(values["input_tensor"], "input_tensor")
    weight = require_tensor(values["weight"], "weight")
    device = common_device(indices, weight)
    if is_strict(weight):
        _check_embedding(indices, weight, values)
    if not weight.shape:
        raise ArgumentError("weight has no dimensions; it is a table of rows")
    table = weight.array.reshape(-1, weight.shape[-1])
    numbers = as_places(indices.array)
    result = reference_of("embedding")(np, numbers, table)
    layout, is_block = values["layout"], weight.dtype.facts.is_block
    if layout is None:
        fills_tiles = bool(indices.shape) and indices.shape[-1] % weight.tile.tile_shape[0] == 0
        layout = weight.layout if fills_tiles else Layout.ROW_MAJOR
    return store(
        result,
        (weight,),
        device=device,
        dtype=DataType.BFLOAT16 if is_block and values["dtype"] is None else values["dtype"],
        layout=layout,
        memory_config=values["memory_config"],
        output_tensor=values["output_tensor"],
    )


def _check_embedding(indices: Tensor, weight: Tensor, values: dict[str, Any]) -> None:
    """ArgumentError for what a card's kernel does not read or write."""
    if indices.dtype not in (DataType.UINT32, DataType.BFLOAT16):
        raise ArgumentError(
            f"indices are uint32 or bfloat16, not {indices.dtype}; use ttnn.typecast(indices, "
            "ttnn.uint32)"
        )
    if weight.dtype not in (DataType.BFLOAT16, DataType.BFLOAT8_B):
        raise ArgumentError(
            f"weight is of bfloat16 or bfloat8_b, not {weight.dtype}; use ttnn.typecast(weight, "
            "ttnn.bfloat16)"
        )
    if values["dtype"] not in (None, DataType.BFLOAT16) and values["layout"] is not Layout.TILE:
        raise ArgumentError("rows are of bfloat16; another dtype takes layout=ttnn.TILE_LAYOUT")


def _check_index(tensor: Tensor, index: Tensor) -> None:
    """ArgumentError for indices that a card does not gather by."""
    if index.dtype not in (DataType.UINT32, DataType.UINT16):
        raise ArgumentError(
            f"index is of uint32 or uint16, not {index.dtype}; use ttnn.typecast(index, "
            "ttnn.uint32)"
        )
    if index.layout is not tensor.layout:
        raise ArgumentError(
            f"index is in {index.layout} and the tensor in {tensor.layout}; use ttnn.to_layout"
        )


def _check_scatter(tensor: Tensor, index: Tensor) -> None:
    """ArgumentError for a tensor that a card does not scatter into."""
    if index.dtype.facts.is_float:
        raise ArgumentError(
            f"index is of integers, not {index.dtype}; use ttnn.typecast(index, ttnn.uint32)"
        )
    in_tiles = tensor.layout is Layout.TILE
    if in_tiles and tensor.dtype in (DataType.FLOAT32, DataType.BFLOAT4_B):
        raise ArgumentError(
            f"in tiles it takes no {tensor.dtype}; use ttnn.to_layout(tensor, "
            "ttnn.ROW_MAJOR_LAYOUT) or ttnn.typecast(tensor, ttnn.bfloat16)"
        )


def _gather(values: dict[str, Any]) -> Tensor:
    tensor = require_tensor(values["input_tensor"], "input_tensor")
    index = require_tensor(values["index"], "index")
    device = common_device(tensor, index)
    if is_strict(tensor):
        _check_index(tensor, index)
    dim = as_dimension(values["dim"], len(tensor.shape))
    places = _places(index.array, tensor, dim)
    result = np.take_along_axis(_first(tensor.array, places, dim), places, dim)
    return store(
        result,
        (tensor,),
        device=device,
        memory_config=values["memory_config"],
        output_tensor=values["out"],
        exact=True,
    )


def _scatter(values: dict[str, Any]) -> Tensor:
    """The tensor with numbers of another at places along a dimension; several there combine."""
    tensor = require_tensor(values["input_tensor"], "input_tensor")
    index, source = require_tensor(values["index"], "index"), require_tensor(values["src"], "src")
    device = common_device(tensor, index, source)
    if is_strict(tensor):
        _check_scatter(tensor, index)
    dim = as_dimension(values["dim"], len(tensor.shape))
    places = _places(index.array, tensor, dim)
    if source.array.ndim != places.ndim or np.any(np.greater(places.shape, source.shape)):
        raise ArgumentError(f"an index of {index.shape} reads beyond src, which is {source.shape}")
    where = cast("list[Array]", list(np.indices(places.shape)))
    where[dim] = places
    numbers = source.array[tuple(slice(extent) for extent in places.shape)]
    result = tensor.array.copy()
    match values["reduce"]:
        case None:
            result[tuple(where)] = numbers
        case "add":
            np.add.at(result, tuple(where), numbers)
        case "multiply":
            np.multiply.at(result, tuple(where), numbers)
        case "amax":
            np.maximum.at(result, tuple(where), numbers)
        case "amin":
            np.minimum.at(result, tuple(where), numbers)
        case other:
            raise ArgumentError(f"reduce is add, multiply, amax, amin or None, not {other!r}")
    return store(
        result,
        (tensor,),
        device=device,
        dtype=DataType.BFLOAT16 if tensor.dtype.facts.is_block else None,
        memory_config=values["memory_config"],
    )


def _scatter_add(values: dict[str, Any]) -> Tensor:
    return _scatter({**values, "reduce": "add"})


def _nonzero(values: dict[str, Any]) -> list[Tensor]:
    """How many elements are not 0, and their four indices each, one after the other.

    The first is number 0 of [1, 1, 1, 8], as on a card; the indices are uint32 in rows of as many
    as there could be, and what is behind those that there are, is 0.
    """
    tensor = require_tensor(values["input_tensor"], "input_tensor")
    device = common_device(tensor)
    if len(tensor.shape) != 4:
        raise ArgumentError(
            f"it takes tensors of 4 dimensions, not {len(tensor.shape)}; use ttnn.unsqueeze_to_4D"
        )
    found = np.argwhere(tensor.array).astype(np.uint32)
    count = np.zeros((1, 1, 1, 8), np.uint32)
    count[..., 0] = len(found)
    indices = np.zeros((1, 1, 1, 4 * tensor.array.size), np.uint32)
    indices[..., : found.size] = found.reshape(-1)
    return [
        store(
            each,
            (tensor,),
            device=device,
            dtype=DataType.UINT32,
            layout=Layout.ROW_MAJOR,
            memory_config=values["memory_config"],
            exact=True,
        )
        for each in (count, indices)
    ]


def _places(index: Array, tensor: Tensor, dim: int) -> Array:
    """Places along a dimension; ValueError for those that the tensor does not have."""
    shape = tensor.shape
    fits = index.ndim == len(shape) and all(
        own <= extent
        for axis, (own, extent) in enumerate(zip(index.shape, shape, strict=True))
        if axis != dim
    )
    if not fits:
        raise ArgumentError(
            f"an index of {Shape(index.shape)} along dimension {dim} of a tensor of {shape}"
        )
    places = as_places(index)
    if places.size and not 0 <= places.min() <= places.max() < shape[dim]:
        raise ArgumentError(
            f"indices from {places.min()} to {places.max()} along an extent of {shape[dim]}"
        )
    return places


def _first(array: Array, places: Array, dim: int) -> Array:
    """The part of an array that an index, which may be smaller, looks at."""
    extents = [slice(extent) for extent in places.shape]
    extents[dim] = slice(None)
    return array[tuple(extents)]


_SCATTER = "input_tensor, dim, index, src, *, memory_config=None, sub_core_grids"

OPERATIONS: dict[str, Operation] = table_of(
    Operation(
        "embedding",
        _embedding,
        "input_tensor, weight, *, padding_idx=None, layout=None, embeddings_type=None, "
        "dtype=None, output_tensor=None, memory_config=None",
    ),
    Operation(
        "gather",
        _gather,
        "input_tensor, dim, index, *, sparse_grad=False, memory_config=None, out=None, "
        "sub_core_grids",
    ),
    Operation("nonzero", _nonzero, "input_tensor, *, memory_config=None"),
    Operation("scatter", _scatter, f"{_SCATTER}, reduce=None"),
    Operation("scatter_add", _scatter_add, _SCATTER),
)
