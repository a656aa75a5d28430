"""Operations that read, write and fill parts of tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from ttmlir.errors import ArgumentError, ArgumentTypeError
from ttmlir.metalium.enums import TensorMemoryLayout
from ttmlir.runtime.tensor import Array
from ttmlir.ttnn.operations.arguments import keep, take_tensors
from ttmlir.ttnn.operations.movement import slice_places
from ttmlir.ttnn.operations.moves import interleaved_to_sharded, typecast
from ttmlir.ttnn.operations.operation import (
    Operation,
    as_dimension,
    as_places,
    common_device,
    is_integer,
    require_tensor,
    store,
    table_of,
)
from ttmlir.ttnn.operations.signature import spell_value
from ttmlir.ttnn.tensor.tensor import Tensor, round_to
from ttmlir.ttnn.types.enums import DataType, Layout
from ttmlir.ttnn.types.memory import DRAM_MEMORY_CONFIG

# --- By number ------------------------------------------------------------------------------------


def _require_places(places: Array, extent: int) -> Array:
    if places.size and not 0 <= places.min() <= places.max() < extent:
        raise ArgumentError(
            f"indices from {places.min()} to {places.max()} along an extent of {extent}"
        )
    return places


def _indexed_fill(values: dict[str, Any]) -> Tensor:
    """The first tensor, with parts along a dimension from the second, at numbers."""
    index, tensor, source = take_tensors(values, "batch_id", "input_tensor_a", "input_tensor_b")
    dim = as_dimension(values["dim"], len(tensor.shape))
    places = _require_places(as_places(index.array).reshape(-1), tensor.shape[dim])
    expected = [*tensor.shape[:dim], len(places), *tensor.shape[dim + 1 :]]
    if [*source.shape] != expected:
        raise ArgumentError(
            f"input_tensor_b has {source.shape}; for {len(places)} numbers along dimension {dim} "
            f"of {tensor.shape} it has {expected}"
        )
    result = tensor.array.copy()
    result[(*[slice(None)] * dim, places)] = source.array
    return keep(result, tensor, values)


def _rows_by_number(values: dict[str, Any]) -> tuple[Tensor, Array]:
    tensor, index = take_tensors(values, "input", "index")
    if len(tensor.shape) != 3 or len(index.shape) != 2 or tensor.shape[0] != index.shape[0]:
        raise ArgumentError(
            f"input has {tensor.shape} and index {index.shape}; they are (n, rows, columns) and "
            "(n, numbers)"
        )
    return tensor, _require_places(as_places(index.array), tensor.shape[1])[..., None]


def _gather_rows(values: dict[str, Any]) -> Tensor:
    """For each of n the rows (numbers, columns) at its numbers."""
    tensor, places = _rows_by_number(values)
    config = values["memory_config"]
    in_dram = {"memory_config": DRAM_MEMORY_CONFIG if config is None else config}
    return keep(np.take_along_axis(tensor.array, places, 1), tensor, in_dram)


def _scatter_rows(values: dict[str, Any]) -> Tensor:
    """The tensor with other rows at each one's numbers."""
    tensor, places = _rows_by_number(values)
    source = require_tensor(values["src"], "src")
    expected = (tensor.shape[0], places.shape[1], tensor.shape[2])
    if tuple(source.shape) != expected:
        raise ArgumentError(f"src has {source.shape}; it has {list(expected)}")
    result = tensor.array.copy()
    np.put_along_axis(result, places, source.array, 1)
    return keep(result, tensor, values)


def _largest(values: dict[str, Any]) -> Tensor:
    """Places of the k largest numbers of each row, in order; all bits for those of -inf."""
    (tensor,) = take_tensors(values, "input_tensor")
    count, width = values["k"], tensor.shape[-1] if tensor.shape else 0
    length = values["valid_length"]
    most = width if length is None else length
    if not is_integer(count) or count % 16 or not 16 <= count <= min(2048, width):
        raise ArgumentError(f"k={count} is no multiple of 16 from 16 to {min(2048, width)}")
    if not is_integer(most) or not count <= most <= width:
        raise ArgumentError(f"valid_length={length} is not from {count} to {width}")
    for name in ("valid_length_tensor", "valid_end_tensor"):
        if values[name] is not None:
            raise ArgumentError(f"{name} is not here; give valid_length")
    numbers = tensor.array[..., :most]
    places = np.argsort(-numbers, axis=-1, kind="stable")[..., :count]
    chosen = np.take_along_axis(numbers, places, -1)
    found = np.where(np.isneginf(chosen), 0xFFFFFFFF, places).astype(np.uint32)
    return store(
        found,
        (tensor,),
        device=common_device(tensor),
        dtype=DataType.UINT32,
        layout=Layout.ROW_MAJOR,
    )


# --- Slices ---------------------------------------------------------------------------------------


def _slice_write(values: dict[str, Any]) -> Tensor:
    """The output tensor, with the input written into a slice of it."""
    tensor, output = take_tensors(values, "input_tensor", "output_tensor")
    places = _read_slice(output, values["start"], values["end"], values["step"])
    part = output.array[places]
    if part.shape != tensor.array.shape:
        raise ArgumentError(
            f"the slice has {list(part.shape)} and input_tensor {tensor.shape}; they have one shape"
        )
    result = output.array.copy()
    result[places] = round_to(tensor.array, output.dtype)
    output.storage.array = result
    return output


def _read_slice(tensor: Tensor, starts: Any, ends: Any, steps: Any) -> tuple[slice, ...]:
    given = {"starts": starts, "ends": ends, "steps": steps}
    for name, each in given.items():
        if each is not None and not isinstance(each, list | tuple):
            raise ArgumentTypeError(f"{name} is a list of integers, not {spell_value(each)}")
    return tuple(map(slice, *slice_places(tensor.shape, given)))


def _padded_slice(values: dict[str, Any]) -> Tensor:
    """A slice, in the shards that are asked for."""
    (tensor,) = take_tensors(values, "input_tensor")
    names = ("padded_slice_start", "padded_slice_end", "padded_slice_step")
    places = _read_slice(tensor, *(values[name] for name in names))
    config = values["memory_config"]
    if not config.is_sharded():
        raise ArgumentError("memory_config is sharded; use ttnn.slice for other memories")
    return store(
        tensor.array[places],
        (tensor,),
        device=common_device(tensor),
        layout=Layout.ROW_MAJOR,
        memory_config=config,
        output_tensor=values["output_tensor"],
        exact=True,
    )


def _read_slice_number(values: dict[str, Any], extent: int) -> tuple[int, int]:
    """Where one of several slices of an extent begins and ends."""
    count, index = values["num_slices"], values["slice_index"]
    if not is_integer(count) or count < 1 or extent % count:
        raise ArgumentError(f"num_slices={count} does not divide {extent} rows")
    if not is_integer(index) or not 0 <= index < count:
        raise ArgumentError(f"slice_index={index} of num_slices={count}")
    size = extent // count
    return index * size, (index + 1) * size


def _part_to_shards(values: dict[str, Any]) -> Tensor:
    """One of several slices of the rows, in shards."""
    (tensor,) = take_tensors(values, "input_tensor")
    rows = tensor.array.reshape(-1, tensor.shape[-1])
    first, last = _read_slice_number(values, len(rows))
    part = store(rows[None, None, first:last], (tensor,), device=tensor.device(), exact=True)
    if not isinstance(values["shard_scheme"], TensorMemoryLayout):
        raise ArgumentTypeError(
            f"shard_scheme is a ttnn.TensorMemoryLayout, not {spell_value(values['shard_scheme'])}"
        )
    return interleaved_to_sharded(
        part,
        values["grid"],
        values["shard_shape"],
        values["shard_scheme"],
        values["shard_orientation"],
        values["output_dtype"],
    )


def _shards_to_part(values: dict[str, Any]) -> Tensor:
    """The cache, with the shards as one of several slices of its rows."""
    tensor, cache = take_tensors(values, "input_tensor", "cache_tensor")
    if not tensor.is_sharded():
        raise ArgumentError("input_tensor is not sharded; use ttnn.experimental.slice_write")
    rows = cache.array.reshape(-1, cache.shape[-1]).copy()
    first, last = _read_slice_number(values, len(rows))
    if tensor.array.size != (last - first) * cache.shape[-1]:
        raise ArgumentError(f"{tensor.shape} is no slice of {last - first} rows of {cache.shape}")
    rows[first:last] = round_to(tensor.array.reshape(last - first, -1), cache.dtype)
    cache.storage.array = rows.reshape(cache.array.shape)
    return cache


def _transpose_rows(values: dict[str, Any]) -> Tensor:
    """The last two dimensions exchanged, of rows and whole tiles of them."""
    (tensor,) = take_tensors(values, "input")
    if tensor.layout is not Layout.ROW_MAJOR:
        raise ArgumentError("it takes a tensor in rows; use ttnn.transpose")
    if len(tensor.shape) < 2 or any(extent % 32 or not extent for extent in tensor.shape[-2:]):
        raise ArgumentError(f"the last two extents of {tensor.shape} are multiples of 32")
    return keep(np.swapaxes(tensor.array, -1, -2), tensor, {"memory_config": None})


# --- Rectangles -----------------------------------------------------------------------------------


def _fill_corner(values: dict[str, Any]) -> Tensor:
    """Images (n, c, h, w) of one number in the upper left corner, and another elsewhere."""
    (like,) = take_tensors(values, "any")
    names = ("N", "C", "H", "W", "hOnes", "wOnes")
    for name in names:
        if not is_integer(values[name]) or not 0 <= values[name] <= 2**20:
            raise ArgumentError(f"{name}={spell_value(values[name])} is no number of elements")
    if like.dtype is not DataType.BFLOAT16:
        raise ArgumentError(f"any is of bfloat16, not {like.dtype}; use ttnn.typecast")
    images, channels, rows, columns, high, wide = (int(values[name]) for name in names)
    if images * channels * rows * columns > 2**30:
        raise ArgumentError("images of more than 2**30 numbers are made by no card")
    if high > rows or wide > columns:
        raise ArgumentError(f"a corner of {high}x{wide} of images of {rows}x{columns}")
    array = np.full((images, channels, rows, columns), values.get("val_lo", 0.0), np.float32)
    array[..., :high, :wide] = values.get("val_hi", 1.0)
    return store(
        array,
        (like,),
        device=common_device(like),
        layout=Layout.ROW_MAJOR,
        memory_config=values["memory_config"],
    )


def _typecast(values: dict[str, Any]) -> Tensor:
    return typecast(
        values["input_tensor"],
        values["dtype"],
        memory_config=values["memory_config"],
        output_tensor=values["optional_output_tensor"],
    )


_CORNER = "N, C, H, W, hOnes, wOnes, any"
_SLICES = "num_slices, slice_index"

OPERATIONS: dict[str, Operation] = table_of(
    Operation(
        "indexed_fill",
        _indexed_fill,
        "batch_id, input_tensor_a, input_tensor_b, *, memory_config=None, dim=0",
    ),
    Operation("tosa_gather", _gather_rows, "input, index, *, memory_config=None"),
    Operation("tosa_scatter", _scatter_rows, "input, index, src, *, memory_config=None"),
    Operation(
        "experimental.topk_large_indices",
        _largest,
        "input_tensor, *, k, valid_length=None, valid_length_tensor=None, valid_length_offset=0, "
        "subdevice_id, sub_core_grids, valid_end_tensor=None",
    ),
    Operation(
        "experimental.slice_write", _slice_write, "input_tensor, output_tensor, start, end, step"
    ),
    Operation(
        "experimental.padded_slice",
        _padded_slice,
        "input_tensor, padded_slice_start, padded_slice_end, padded_slice_step=None, *, "
        "memory_config, output_tensor=None, pad_value=None",
    ),
    Operation(
        "interleaved_to_sharded_partial",
        _part_to_shards,
        f"input_tensor, grid, shard_shape, {_SLICES}, shard_scheme, shard_orientation, *, "
        "output_dtype=None",
    ),
    Operation(
        "sharded_to_interleaved_partial",
        _shards_to_part,
        f"input_tensor, cache_tensor, {_SLICES}, *, memory_config=None, output_dtype=None",
    ),
    Operation("experimental.transpose_rm", _transpose_rows, "input"),
    Operation("fill_ones_rm", _fill_corner, f"{_CORNER}, *, memory_config=None"),
    Operation("fill_rm", _fill_corner, f"{_CORNER}, val_hi, val_lo, *, memory_config=None"),
    Operation(
        "experimental.typecast",
        _typecast,
        "input_tensor, dtype, memory_config=None, optional_output_tensor=None",
    ),
)
