"""Images as rows of their patches, in other orders of dimensions, and convolutions of volumes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ttmlir.errors import ArgumentError, ArgumentTypeError
from ttmlir.metalium.enums import TensorMemoryLayout
from ttmlir.runtime.tensor import Array
from ttmlir.ttnn.operations.arguments import take_tensors
from ttmlir.ttnn.operations.elementwise.semantics import reference_of
from ttmlir.ttnn.operations.operation import (
    Operation,
    as_flag,
    common_device,
    is_integer,
    is_strict,
    require_tensor,
    store,
    table_of,
)
from ttmlir.ttnn.operations.signature import fits, spell_value
from ttmlir.ttnn.tensor.tensor import Tensor
from ttmlir.ttnn.types.enums import Layout
from ttmlir.ttnn.types.memory import MemoryConfig, ShardSpec

_TILE = 32


def _rows(
    array: Array,
    tensor: Tensor,
    memory_config: MemoryConfig | None = None,
    dtype: Any = None,
) -> Tensor:
    """A result in rows."""
    return store(
        np.ascontiguousarray(array),
        (tensor,),
        device=common_device(tensor),
        dtype=dtype,
        layout=Layout.ROW_MAJOR,
        memory_config=memory_config,
        exact=dtype is None,
    )


def _fold(values: dict[str, Any]) -> Tensor:
    """Each patch of (n, height, width, channels) as the channels of one pixel."""
    (tensor,) = take_tensors(values, "input")
    if len(tensor.shape) != 4:
        raise ArgumentError(f"input has {tensor.shape}; it is (n, height, width, channels)")
    if values["use_transpose_as_fold"] or values["output_shape"] is not None:
        raise ArgumentError("use_transpose_as_fold is not here; its result is that of ttnn.fold")
    array = np.pad(tensor.array, _read_padding(values["padding"]))
    strides = [values["stride_h"], values["stride_w"]]
    images, *extents, channels = array.shape
    for extent, stride, name in zip(extents, strides, ("stride_h", "stride_w"), strict=True):
        if not is_integer(stride) or stride < 1 or extent % stride:
            raise ArgumentError(f"{name}={stride} does not divide an extent of {extent}")
    counts = [extent // stride for extent, stride in zip(extents, strides, strict=True)]
    patches = array.reshape(images, counts[0], strides[0], counts[1], strides[1], channels)
    folded = patches.transpose(0, 1, 3, 2, 4, 5).reshape(images, *counts, -1)
    if as_flag(values["collapse_output"], "collapse_output"):
        folded = folded.reshape(1, 1, -1, folded.shape[-1])
    return _rows(folded, tensor, values["override_memory_config"])


def _read_padding(given: Any) -> list[tuple[int, int]]:
    """Of height, width and channels: 2 numbers, 4 of the sides, or 6 with channels."""
    if not fits(given, Sequence[int]) or len(given) not in (2, 4, 6) or min(given) < 0:
        raise ArgumentTypeError(
            f"padding is 2, 4 or 6 integers from 0 on, not {spell_value(given)}"
        )
    sides = [given[0], given[0], given[1], given[1]] if len(given) == 2 else [*given]
    top, bottom, left, right, *channels = sides
    return [
        (0, 0),
        (top, bottom),
        (left, right),
        (channels[0], channels[1]) if channels else (0, 0),
    ]


# --- Orders of dimensions -------------------------------------------------------------------------


def _shards_of(tensor: Tensor, layout: TensorMemoryLayout) -> ShardSpec:
    """The shards of a tensor; ArgumentError for one that is not sharded so."""
    config = tensor.memory_config()
    if config.memory_layout is not layout or config.shard_spec is None:
        raise ArgumentError(
            f"input is {config.memory_layout}, not {layout}; use ttnn.to_memory_config"
        )
    return config.shard_spec


def _swapped(tensor: Tensor, spec: ShardSpec, layout: TensorMemoryLayout) -> MemoryConfig:
    """The same shards of the transposed matrix."""
    rows, columns = spec.shape
    config = tensor.memory_config()
    return MemoryConfig(
        layout, config.buffer_type, ShardSpec(spec.grid, (columns, rows), spec.orientation)
    )


def _channels_last(values: dict[str, Any]) -> Tensor:
    """(1, images, channels, pixels) as (1, 1, images * pixels, channels), in shards of rows."""
    (tensor,) = take_tensors(values, "input")
    if len(tensor.shape) != 4 or tensor.shape[0] != 1:
        raise ArgumentError(f"input has {tensor.shape}; it is (1, images, channels, pixels)")
    config = values["memory_config"]
    if config is None:
        spec = _shards_of(tensor, TensorMemoryLayout.WIDTH_SHARDED)
        config = _swapped(tensor, spec, TensorMemoryLayout.HEIGHT_SHARDED)
    array = tensor.array[0].swapaxes(-1, -2).reshape(1, 1, -1, tensor.shape[2])
    return _rows(array, tensor, config, values["dtype"])


def _channels_first(values: dict[str, Any]) -> Tensor:
    """(1, 1, pixels, channels) as (1, 1, channels, pixels), in rows and shards of columns."""
    (tensor,) = take_tensors(values, "input")
    if len(tensor.shape) != 4 or list(tensor.shape[:2]) != [1, 1]:
        raise ArgumentError(f"input has {tensor.shape}; it is (1, 1, pixels, channels)")
    spec = _shards_of(tensor, TensorMemoryLayout.HEIGHT_SHARDED)
    channels = tensor.shape[-1]
    spec = ShardSpec(spec.grid, (spec.shape[0], channels), spec.orientation)
    config = _swapped(tensor, spec, TensorMemoryLayout.WIDTH_SHARDED)
    return _rows(tensor.array.swapaxes(-1, -2), tensor, config, values["dtype"])


# --- Convolutions of volumes ----------------------------------------------------------------------


def _three(value: Any, name: str, least: int) -> tuple[int, int, int]:
    if not fits(value, Sequence[int]) or len(value) != 3 or min(value) < least:
        raise ArgumentTypeError(
            f"{name} is three integers from {least} on, not {spell_value(value)}"
        )
    return value[0], value[1], value[2]


def _conv3d(values: dict[str, Any]) -> Tensor:
    """A volume (n, depth, height, width, channels) convolved with rows of prepared weights."""
    tensor, weight, *bias = take_tensors(
        values, "input_tensor", "weight_tensor", optional=("bias_tensor",)
    )
    if len(tensor.shape) != 5:
        raise ArgumentError(
            f"input_tensor has {tensor.shape}; it is (n, depth, height, width, channels)"
        )
    kernel = _three(values["kernel_size"], "kernel_size", 1)
    stride = _three(values["stride"], "stride", 1)
    padding = _three(values["padding"], "padding", 0)
    dilation = _three(values["dilation"], "dilation", 1)
    if values["groups"] != 1:
        raise ArgumentError(f"groups={values['groups']} is not here; use groups=1 for each part")
    if values["padding_mode"] not in ("zeros", "replicate"):
        raise ArgumentError(
            f"padding_mode is 'zeros' or 'replicate', not {values['padding_mode']!r}"
        )
    channels, outputs = tensor.shape[-1], values["output_channels"]
    if channels % _TILE and is_strict(tensor):
        raise ArgumentError(f"{channels} channels are no multiple of 32; use ttnn.pad")
    count = int(np.prod(kernel)) * channels
    if list(weight.shape[-2:]) != [count, outputs]:
        raise ArgumentError(
            f"weight_tensor has {weight.shape}; for kernels of {list(kernel)} and {channels} "
            f"channels it is ({count}, {outputs}), as of ttnn.experimental.prepare_conv3d_weights"
        )
    sides = [(0, 0), *((each, each) for each in padding), (0, 0)]
    repeats = values["padding_mode"] == "replicate"
    volume = np.pad(tensor.array, sides, "edge") if repeats else np.pad(tensor.array, sides)
    reach = [d * (k - 1) + 1 for d, k in zip(dilation, kernel, strict=True)]
    if any(size < each for size, each in zip(volume.shape[1:4], reach, strict=True)):
        raise ArgumentError(f"kernels of {list(kernel)} do not fit {tensor.shape}")
    windows = np.lib.stride_tricks.sliding_window_view(volume, reach, (1, 2, 3))
    windows = windows[:, :: stride[0], :: stride[1], :: stride[2]]
    windows = windows[..., :: dilation[0], :: dilation[1], :: dilation[2]]
    # (n, d, h, w, channels, kernel ...) becomes rows of kernel and channels.
    rows = np.moveaxis(windows, 4, -1)
    result = reference_of("matmul")(
        np, rows.reshape(*rows.shape[:4], count), weight.array.reshape(count, outputs)
    )
    if bias:
        result = result + bias[0].array.reshape(-1, outputs)[0]
    return _rows(result, tensor, values["memory_config"], values["dtype"] or tensor.dtype)


def _prepare_weights(values: dict[str, Any]) -> Tensor:
    """Weights (outputs, inputs, depth, height, width) as rows of kernel and channels."""
    weight = require_tensor(values["weight_tensor"], "weight_tensor")
    if len(weight.shape) != 5:
        raise ArgumentError(
            f"weight_tensor has {weight.shape}; it is (outputs, inputs, depth, height, width)"
        )
    if values["groups"] != 1 or values["C_in_block"]:
        raise ArgumentError("groups and C_in_block are not here: weights are prepared as a whole")
    alignment = values["alignment"]
    if not is_integer(alignment) or alignment < 1:
        raise ArgumentError(f"alignment={alignment} is no positive integer")
    outputs, inputs = weight.shape[:2]
    padded = np.pad(weight.array, [(0, 0), (0, -inputs % alignment), *[(0, 0)] * 3])
    device = weight.device() if values["device"] is None else values["device"]
    return store(
        np.ascontiguousarray(padded.transpose(2, 3, 4, 1, 0).reshape(-1, outputs)),
        (weight,),
        device=device,
        layout=Layout.ROW_MAJOR,
        exact=True,
    )


OPERATIONS: dict[str, Operation] = table_of(
    Operation(
        "fold",
        _fold,
        "input, stride_h, stride_w, use_transpose_as_fold=False, output_shape=None, "
        "padding=[0, 0], grid_size=None, override_memory_config=None, collapse_output=False",
    ),
    Operation(
        "experimental.convert_to_hwc", _channels_last, "input, *, memory_config=None, dtype=None"
    ),
    Operation("experimental.convert_to_chw", _channels_first, "input, *, dtype=None"),
    Operation(
        "experimental.conv3d",
        _conv3d,
        "*, input_tensor, weight_tensor, device=None, bias_tensor=None, config=None, dtype=None, "
        "output_channels, kernel_size, stride=[1, 1, 1], padding=[0, 0, 0], dilation=[1, 1, 1], "
        "padding_mode='zeros', groups=1, memory_config=None, compute_kernel_config",
    ),
    Operation(
        "experimental.prepare_conv3d_weights",
        _prepare_weights,
        "*, weight_tensor, groups=1, C_in_block=0, alignment=32, device=None",
    ),
)
