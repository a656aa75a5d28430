"""Poolings of images whose last dimension is the channels."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ttmlir.errors import ArgumentError
from ttmlir.optable.window import WindowAxis
from ttmlir.runtime.tensor import Array
from ttmlir.ttnn.operations.elementwise.meanings import meaning_of
from ttmlir.ttnn.operations.operation import (
    Operation,
    common_device,
    require_tensor,
    store,
    table_of,
)
from ttmlir.ttnn.operations.window.extents import (
    as_image,
    as_padding,
    as_pair,
    flatten,
    window_axes_of,
    window_parameters,
)
from ttmlir.ttnn.tensor.tensor import Tensor
from ttmlir.ttnn.types.enums import DataType, Layout


def _image_of(values: dict[str, Any]) -> tuple[Tensor, Array]:
    tensor = require_tensor(values["input_tensor"], "input_tensor")
    common_device(tensor)
    names = ("batch_size", "input_h", "input_w", "channels")
    return tensor, as_image(tensor, *(values[name] for name in names))


def _check_padding(values: dict[str, Any]) -> None:
    """ValueError for windows that lie more in the padding than half."""
    kernel = as_pair(values["kernel_size"], "kernel_size")
    for sides, extent in zip(as_padding(values["padding"]), kernel, strict=True):
        if 2 * max(sides) > extent:
            raise ArgumentError(
                f"padding of {max(sides)} is more than half of the kernel's {extent}; use ttnn.pad "
                "first"
            )


def _finish(image: Array, values: dict[str, Any], tensor: Tensor, name: str) -> Tensor:
    """(1, 1, N * H * W, C) in rows, unless tiles are asked for."""
    dtype, layout = values["dtype"], values["output_layout"]
    made = store(
        flatten(image),
        (tensor,),
        device=common_device(tensor),
        dtype=dtype,
        layout=Layout.ROW_MAJOR if layout is None else layout,
        memory_config=values["memory_config"],
    )
    if values["deallocate_input"]:
        tensor.deallocate(force=True)
    return made


def _result_type(values: dict[str, Any], tensor: Tensor) -> dict[str, Any]:
    """The values with a data type: block floats, which have no rows, become bfloat16."""
    dtype = values["dtype"]
    if dtype is None and tensor.dtype.facts.is_block:
        dtype = DataType.BFLOAT16
    return {**values, "dtype": dtype}


def _filled(
    image: Array, axes: tuple[WindowAxis, WindowAxis], fill: float
) -> tuple[Array, tuple[WindowAxis, WindowAxis]]:
    """The image with all that windows reach, and windows that need no padding."""
    margins = [axis.margin for axis in axes]
    whole = np.pad(image, ((0, 0), *margins, (0, 0)), constant_values=fill)
    rows, columns = (
        WindowAxis(
            extent=(axis.positions - 1) * axis.stride + axis.reach,
            kernel=axis.kernel,
            stride=axis.stride,
            dilation=axis.dilation,
        )
        for axis in axes
    )
    return whole[:, : rows.extent, : columns.extent], (rows, columns)


def _max_pool2d(values: dict[str, Any]) -> Any:
    _check_padding(values)
    tensor, image = _image_of(values)
    values = _result_type(values, tensor)
    axes = window_axes_of(
        values, image.shape[1:3], as_padding(values["padding"]), ceil_mode=values["ceil_mode"]
    )
    lowest = -np.inf if image.dtype.kind == "f" else np.iinfo(image.dtype).min
    whole, inner = _filled(image, axes, lowest)
    if values["return_indices"]:
        return _with_indices(values, tensor, whole, inner, axes, image.shape[2])
    result = meaning_of("max_pool2d")(
        np,
        whole,
        **window_parameters(inner, whole, "channels"),
        padding_height=0,
        padding_width=0,
        ceil_mode=False,
    )
    return _finish(result, values, tensor, "max_pool2d")


def _with_indices(
    values: dict[str, Any],
    tensor: Tensor,
    whole: Array,
    inner: tuple[WindowAxis, WindowAxis],
    axes: tuple[WindowAxis, WindowAxis],
    width: int,
) -> tuple[Tensor, Tensor]:
    """The largest numbers, and their places in the image of each channel, row by row."""
    (rows, columns), (tall, wide) = inner, axes
    view = np.lib.stride_tricks.sliding_window_view(whole, (rows.reach, columns.reach), (1, 2))
    view = view[:, :: rows.stride, :: columns.stride, :, :: rows.dilation, :: columns.dilation]
    taps = view.reshape(*view.shape[:4], -1)
    best = taps.argmax(-1)
    down, across = np.divmod(best, columns.kernel)
    starts = [np.arange(axis.positions) * axis.stride - axis.low for axis in (tall, wide)]
    lines = starts[0][:, None, None] + down * rows.dilation
    places = lines * width + starts[1][:, None] + across * columns.dilation
    result = np.take_along_axis(taps, best[..., None], -1)[..., 0]
    large = tall.extent * wide.extent > np.iinfo(np.uint16).max
    made = store(
        flatten(places),
        (tensor,),
        device=common_device(tensor),
        dtype=DataType.UINT32 if large else DataType.UINT16,
        layout=Layout.ROW_MAJOR,
        memory_config=values["memory_config"],
    )
    return _finish(result, values, tensor, "max_pool2d"), made


def _avg_pool2d(values: dict[str, Any]) -> Tensor:
    _check_padding(values)
    tensor, image = _image_of(values)
    values = _result_type({"dilation": (1, 1), **values}, tensor)
    padding = as_padding(values["padding"])
    axes = window_axes_of(values, image.shape[1:3], padding, ceil_mode=values["ceil_mode"])
    divisor = values["divisor_override"]
    average = meaning_of("avg_pool2d")
    if divisor is None:
        (top, bottom), (left, right) = padding
        result = average(
            np,
            image,
            **window_parameters(axes, image, "channels"),
            padding_top=top,
            padding_bottom=bottom,
            padding_left=left,
            padding_right=right,
            ceil_mode=values["ceil_mode"],
            count_include_pad=values["count_include_pad"],
        )
        return _finish(result, values, tensor, "avg_pool2d")
    if divisor == 0:
        raise ArgumentError("divisor_override is not 0")
    whole, inner = _filled(image, axes, 0)
    sides = ("top", "bottom", "left", "right")
    result = average(
        np,
        whole,
        **window_parameters(inner, whole, "channels"),
        **{f"padding_{side}": 0 for side in sides},
        ceil_mode=False,
        count_include_pad=True,
    )
    result = result * (math.prod(axis.kernel for axis in axes) / divisor)
    return _finish(result, values, tensor, "avg_pool2d")


def _global_avg_pool2d(values: dict[str, Any]) -> Tensor:
    """The mean of each channel of (N, H, W, C): (N, 1, 1, C)."""
    tensor = require_tensor(values["input_tensor"], "input_tensor")
    device = common_device(tensor)
    if len(tensor.shape) != 4:
        raise ArgumentError(f"input_tensor has {tensor.shape}; it must be (N, H, W, C)")
    result = meaning_of("mean")(np, tensor.array, keep_dim=True, dim_arg=(1, 2))
    return store(
        result,
        (tensor,),
        device=device,
        dtype=values["dtype"],
        memory_config=values["memory_config"],
    )


def _adaptive(values: dict[str, Any], *, largest: bool) -> Tensor:
    """Parts of the image, which may overlap, each to one number of the result."""
    tensor, image = _image_of(values)
    values = _result_type(values, tensor)
    sizes = as_pair(values["output_size"], "output_size")
    if min(sizes) < 1:
        raise ArgumentError(f"output_size has no size of 0, got {list(sizes)}")
    result = image
    for axis, size in enumerate(sizes, 1):
        extent = image.shape[axis]
        parts = [
            result.take(range(i * extent // size, -(-(i + 1) * extent // size)), axis)
            for i in range(size)
        ]
        # Means along one extent after the other are means of the whole part.
        result = np.stack(
            [part.max(axis) if largest else part.mean(axis, dtype=np.float64) for part in parts],
            axis,
        )
    return _finish(result, values, tensor, "adaptive_pool2d")


def _adaptive_avg_pool2d(values: dict[str, Any]) -> Tensor:
    return _adaptive(values, largest=False)


def _adaptive_max_pool2d(values: dict[str, Any]) -> Tensor:
    return _adaptive(values, largest=True)


_IMAGE = "input_tensor, batch_size, input_h, input_w, channels"
_TAIL = (
    "memory_config=None, dram_slice_config, applied_shard_scheme, compute_kernel_config, "
    "deallocate_input=False, reallocate_halo_output, dtype=None, output_layout=None, "
    "config_tensor_in_dram"
)

OPERATIONS: dict[str, Operation] = table_of(
    Operation(
        "max_pool2d",
        _max_pool2d,
        f"{_IMAGE}, kernel_size, stride, padding, dilation=(1, 1), ceil_mode=False, *, "
        f"return_indices=False, {_TAIL}",
    ),
    Operation(
        "avg_pool2d",
        _avg_pool2d,
        f"{_IMAGE}, kernel_size, stride, padding, ceil_mode=False, count_include_pad=True, "
        f"divisor_override=None, *, {_TAIL}",
    ),
    Operation(
        "global_avg_pool2d",
        _global_avg_pool2d,
        "input_tensor, *, dtype=None, memory_config=None, compute_kernel_config",
    ),
    Operation("adaptive_avg_pool2d", _adaptive_avg_pool2d, f"{_IMAGE}, output_size, *, {_TAIL}"),
    Operation("adaptive_max_pool2d", _adaptive_max_pool2d, f"{_IMAGE}, output_size, *, {_TAIL}"),
)
