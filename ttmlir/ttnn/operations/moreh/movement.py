"""Tensors of one number or a sequence, parts by number, and images of their patches."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from ttmlir.errors import ArgumentError, ArgumentTypeError
from ttmlir.runtime.tensor import Array
from ttmlir.ttnn.operations.arguments import keep, read_number, read_shape, take_tensors
from ttmlir.ttnn.operations.operation import (
    Operation,
    as_dimension,
    as_flag,
    as_places,
    is_strict,
    require_tensor,
    table_of,
)
from ttmlir.ttnn.tensor.conversion import full, full_like, make_tensor
from ttmlir.ttnn.tensor.tensor import Tensor
from ttmlir.ttnn.types.enums import DataType, Layout


def _require_type(dtype: DataType, other: str) -> None:
    """ArgumentError for what a card's kernel does not write."""
    if dtype not in (DataType.BFLOAT16, DataType.FLOAT32, DataType.INT32):
        raise ArgumentError(f"it makes bfloat16, float32 or int32, not {dtype}; use {other}")


_MOST = 2**30
"""How long a sequence may be: as many numbers of 32 bits as the memory of a board holds."""


def _arange(values: dict[str, Any]) -> Tensor:
    """Numbers from `start` on, before `end`: a row of tiles, or a vector in rows."""
    dtype = DataType.BFLOAT16 if values["dtype"] is None else values["dtype"]
    in_rows = as_flag(values["untilize_out"], "untilize_out")
    _require_type(dtype, "ttnn.arange")
    start, end, step = (read_number(values[name], name) for name in ("start", "end", "step"))
    if not step or (end - start) / step <= 0:
        raise ArgumentError(f"from {start:g} to {end:g} in steps of {step:g} there are no numbers")
    if (end - start) / step > _MOST:
        raise ArgumentError(f"from {start:g} to {end:g} there are more than {_MOST} numbers")
    array: Array = np.arange(start, end, step)
    return make_tensor(
        array if in_rows else array[None],
        dtype,
        layout=Layout.ROW_MAJOR if in_rows else Layout.TILE,
        device=values["device"],
        memory_config=values["memory_config"],
    )


def _full(values: dict[str, Any]) -> Tensor:
    dtype = DataType.BFLOAT16 if values["dtype"] is None else values["dtype"]
    _require_type(dtype, "ttnn.full")
    if len(read_shape(values["shape"], "shape")) < 2:
        raise ArgumentError("shape has at least two extents; use ttnn.full for vectors")
    return full(
        read_shape(values["shape"], "shape"),
        _whole(values["fill_value"], dtype),
        dtype=dtype,
        layout=Layout.TILE if values["layout"] is None else values["layout"],
        device=values["device"],
        memory_config=values["memory_config"],
    )


def _whole(number: Any, dtype: DataType) -> Any:
    """A number, without its fraction for tensors of integers."""
    return number if dtype.facts.is_float else int(number)


def _full_like(values: dict[str, Any]) -> Tensor:
    (tensor,) = take_tensors(values, "input")
    _require_type(tensor.dtype if values["dtype"] is None else values["dtype"], "ttnn.full_like")
    return full_like(
        tensor,
        _whole(values["fill_value"], tensor.dtype if values["dtype"] is None else values["dtype"]),
        dtype=values["dtype"],
        layout=values["layout"],
        memory_config=values["memory_config"],
    )


def _getitem(values: dict[str, Any]) -> Tensor:
    """The parts of a tensor at numbers along neighbouring dimensions."""
    (tensor,) = take_tensors(values, "input")
    dims = [as_dimension(dim, len(tensor.shape)) for dim in values["index_dims"]]
    numbers = _read_numbers(values["index_tensors"], dims, tensor)
    in_tiles = tensor.layout is Layout.TILE
    part = tensor.array[(*[slice(None)] * dims[0], *numbers)]
    if in_tiles:
        # A card keeps the other dimensions, with extent 1.
        kept = (*tensor.shape[: dims[0]], *[1] * (len(dims) - 1), numbers[0].size)
        part = part.reshape(*kept, *tensor.shape[dims[-1] + 1 :])
    return keep(part, tensor, values)


def _read_numbers(given: Any, dims: list[int], tensor: Tensor) -> list[Array]:
    """The numbers of the parts along each dimension, as many for one as for another."""
    indices = [require_tensor(each, "index_tensors") for each in given]
    if not indices or len(indices) != len(dims):
        raise ArgumentError(
            f"index_tensors has {len(indices)} tensors and index_dims {len(dims)} dimensions; "
            "there is one of each for a dimension"
        )
    if any(second != first + 1 for first, second in pairwise(dims)):
        raise ArgumentError(f"index_dims={dims} are no neighbours; use ttnn.moreh_getitem twice")
    if is_strict(tensor):
        _check_indices(indices, dims, tensor)
    numbers = [as_places(each.array).reshape(-1) for each in indices]
    for dim, each in zip(dims, numbers, strict=True):
        extent = tensor.shape[dim]
        if each.size and not -extent <= each.min() <= each.max() < extent:
            raise ArgumentError(
                f"indices from {each.min()} to {each.max()} along an extent of {extent}"
            )
    if len({each.size for each in numbers}) > 1:
        raise ArgumentError(
            f"index_tensors have {[each.size for each in numbers]} numbers; they have as many each"
        )
    return numbers


def _check_indices(indices: list[Tensor], dims: list[int], tensor: Tensor) -> None:
    """ArgumentError for indices that a card does not read."""
    for each in indices:
        if each.dtype is not DataType.INT32:
            raise ArgumentError(
                f"indices are int32, not {each.dtype}; use ttnn.typecast(indices, ttnn.int32)"
            )
    if tensor.layout is Layout.ROW_MAJOR and dims[-1] == len(tensor.shape) - 1:
        raise ArgumentError("of rows it takes no numbers of the last dimension; use tiles")


def _fold(values: dict[str, Any]) -> Tensor:
    """Images as the sums of their patches, as `torch.nn.functional.fold`."""
    (tensor,) = take_tensors(values, "input")
    if tensor.layout is not Layout.ROW_MAJOR and is_strict(tensor):
        raise ArgumentError("it takes a tensor in rows; use ttnn.to_layout")
    if len(tensor.shape) not in (2, 3):
        raise ArgumentError(f"it takes patches of 2 or 3 dimensions, not {tensor.shape}")
    names = ("output_size", "kernel_size", "dilation", "padding", "stride")
    size, kernel, dilation, padding, stride = (_pair(values[name], name) for name in names)
    counts = [
        (size[i] + 2 * padding[i] - dilation[i] * (kernel[i] - 1) - 1) // stride[i] + 1
        for i in range(2)
    ]
    rows, patches = tensor.shape[-2:]
    area = kernel[0] * kernel[1]
    if rows % area or patches != counts[0] * counts[1]:
        raise ArgumentError(
            f"input has {tensor.shape}; of kernels of {list(kernel)} there are {counts} patches in "
            f"{list(size)}, so that its last extents are channels * {area} and "
            f"{counts[0] * counts[1]}"
        )
    images = int(np.prod(tensor.shape[:-2], dtype=int))
    blocks = tensor.array.reshape(images, rows // area, *kernel, *counts).astype(np.float64)
    padded = [size[i] + 2 * padding[i] for i in range(2)]
    total = np.zeros((images, rows // area, *padded))
    for y in range(kernel[0]):
        for x in range(kernel[1]):
            top, left = y * dilation[0], x * dilation[1]
            bottom, right = top + stride[0] * counts[0], left + stride[1] * counts[1]
            total[:, :, top : bottom : stride[0], left : right : stride[1]] += blocks[:, :, y, x]
    inner = total[:, :, padding[0] : padding[0] + size[0], padding[1] : padding[1] + size[1]]
    shape = (*tensor.shape[:-2], rows // area, *size)
    return keep(inner.reshape(shape), tensor, values)


def _pair(value: Any, name: str) -> tuple[int, int]:
    if value is None:
        raise ArgumentTypeError(f"{name} is missing: a pair of integers")
    listed = [int(each) for each in value]
    if len(listed) != 2 or min(listed) < (0 if name == "padding" else 1):
        raise ArgumentError(f"{name} is a pair of positive integers, not {listed}")
    return listed[0], listed[1]


OPERATIONS: dict[str, Operation] = table_of(
    Operation(
        "moreh_arange",
        _arange,
        "start, end, step, device, *, output=None, untilize_out=False, dtype=None, "
        "memory_config=None",
    ),
    Operation(
        "moreh_full",
        _full,
        "shape, fill_value, device, *, dtype=None, layout=None, memory_config=None",
    ),
    Operation(
        "moreh_full_like",
        _full_like,
        "input, fill_value, dtype=None, layout=None, memory_config=None",
    ),
    Operation(
        "moreh_getitem",
        _getitem,
        "input, index_tensors, index_dims, *, output=None, memory_config=None",
    ),
    Operation(
        "moreh_fold",
        _fold,
        "input, output=None, output_size=None, kernel_size=None, dilation=[1, 1], padding=[0, 0], "
        "stride=[1, 1], memory_config=None",
    ),
)
