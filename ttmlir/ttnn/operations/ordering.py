"""Operations that put numbers in order, and that write at places."""

from __future__ import annotations

from typing import Any

import numpy as np

from ttmlir.errors import ArgumentError
from ttmlir.optable.ordering import order_places
from ttmlir.runtime.tensor import Array
from ttmlir.ttnn.operations.operation import (
    Operation,
    as_dimension,
    as_places,
    common_device,
    require_tensor,
    store,
    table_of,
)
from ttmlir.ttnn.tensor.tensor import Tensor
from ttmlir.ttnn.types.enums import DataType


def _order(array: Array, dim: int, *, descending: bool) -> Array:
    """Places of the numbers in order, after a check of the dimension."""
    return order_places(np, array, as_dimension(dim, array.ndim), descending=descending)


def _index_type(tensor: Tensor, extent: int) -> DataType:
    """16 bits where numbers have 16 or fewer in floating point, and they suffice for all places."""
    is_short = tensor.dtype.facts.is_float and tensor.dtype is not DataType.FLOAT32
    suffices = extent <= np.iinfo(np.uint16).max
    return DataType.UINT16 if is_short and suffices else DataType.UINT32


def _store_pair(
    tensor: Tensor, places: Array, indices: Array, dim: int, values: dict[str, Any], name: str
) -> list[Tensor]:
    """The numbers at places, and what the places are called."""
    device = common_device(tensor)
    numbers = np.take_along_axis(tensor.array, places, dim)
    outputs = values[name] or (None, None)
    if len(outputs) != 2:
        raise ArgumentError(f"{name} has two tensors, for values and indices, got {len(outputs)}")
    config = values["memory_config"]
    made = [
        store(
            numbers,
            (tensor,),
            device=device,
            memory_config=config,
            output_tensor=outputs[0],
            exact=True,
        ),
        store(
            indices,
            (tensor,),
            device=device,
            dtype=None if outputs[1] is not None else _index_type(tensor, tensor.shape[dim]),
            memory_config=config,
            output_tensor=outputs[1],
            exact=True,
        ),
    ]
    return made


def _sort(values: dict[str, Any]) -> list[Tensor]:
    tensor = require_tensor(values["input_tensor"], "input_tensor")
    dim = values["dim"]
    common_device(tensor)
    places = _order(tensor.array, dim, descending=values["descending"])
    return _store_pair(tensor, places, places, dim, values, "out")


def _topk(values: dict[str, Any]) -> list[Tensor]:
    """The k largest or smallest numbers in order, and their places."""
    tensor = require_tensor(values["input_tensor"], "input_tensor")
    dim, count = values["dim"], values["k"]
    common_device(tensor)
    places = _order(tensor.array, dim, descending=values["largest"])
    if not 0 <= count <= tensor.shape[dim]:
        raise ArgumentError(f"k={count} of {tensor.shape[dim]} numbers along dimension {dim}")
    places = np.take(places, range(count), dim)
    given = values["indices_tensor"]
    if given is None:
        return _store_pair(tensor, places, places, dim, values, "output_tensor")
    names = require_tensor(given, "indices_tensor").array
    if names.shape != tensor.shape:
        raise ArgumentError(f"indices_tensor has {given.shape}, the tensor {tensor.shape}")
    named = np.take_along_axis(names, places, dim)
    return _store_pair(tensor, places, named, dim, values, "output_tensor")


def _plus_one(values: dict[str, Any]) -> Tensor:
    """One more, in place; negative numbers stay if asked for."""
    tensor = require_tensor(values["input_tensor"], "input_tensor")
    if tensor.dtype.facts.is_float:
        raise ArgumentError(f"plus_one takes integers, got {tensor.dtype}")
    device = common_device(tensor)
    array = tensor.array
    added = array + array.dtype.type(1)
    if values["skip_negative_entries"] and array.dtype.kind == "i":
        added = np.where(array < 0, array, added)
    return store(added, (tensor,), device=device, output_tensor=tensor)


def _index_fill(values: dict[str, Any]) -> Tensor:
    """One number at some places along a dimension."""
    tensor = require_tensor(values["input_tensor"], "input_tensor")
    index = require_tensor(values["index"], "index")
    device = common_device(tensor, index)
    dim = as_dimension(values["dim"], len(tensor.shape))
    places = as_places(index.array).reshape(-1)
    if places.size and not 0 <= places.min() <= places.max() < tensor.shape[dim]:
        raise ArgumentError(
            f"indices from {places.min()} to {places.max()} along an extent of {tensor.shape[dim]}"
        )
    result = tensor.array.copy()
    result[(slice(None),) * dim + (places,)] = values["value"]
    return store(result, (tensor,), device=device, memory_config=values["memory_config"])


OPERATIONS: dict[str, Operation] = table_of(
    Operation(
        "sort",
        _sort,
        "input_tensor, dim=-1, descending=False, stable=False, *, memory_config=None, out=None",
    ),
    Operation(
        "topk",
        _topk,
        "input_tensor, k=32, dim=-1, largest=True, sorted=True, *, output_tensor=None, "
        "memory_config=None, sub_core_grids, indices_tensor=None",
    ),
    Operation(
        "plus_one", _plus_one, "input_tensor, sub_core_grids=None, skip_negative_entries=False"
    ),
    (
        Operation(name, _index_fill, "input_tensor, dim, index, value, *, memory_config=None")
        for name in ("index_fill", "index_fill_new")
    ),
)
