"""What windows over images are told, as ttnn spells it, and images as ttnn's tensors hold them.

A tensor holds images as (N, H, W, C), or flattened as (1, 1, N * H * W, C).
"""

from __future__ import annotations

from typing import Any

from ttmlir.errors import ArgumentError
from ttmlir.optable.window import WindowAxis
from ttmlir.runtime.tensor import Array
from ttmlir.ttnn.operations.operation import require_tensor
from ttmlir.ttnn.tensor.tensor import Tensor

Pair = tuple[int, int]


def as_pair(value: Any, name: str) -> Pair:
    """Two numbers: height and width, of one number or two."""
    listed = [value, value] if isinstance(value, int) else [int(each) for each in value]
    if len(listed) != 2:
        raise ArgumentError(f"{name} has one number or two, got {listed}")
    return listed[0], listed[1]


def as_padding(value: Any) -> tuple[Pair, Pair]:
    """Padding (top, bottom), (left, right), of one number, two, or four in that order."""
    listed = [value, value] if isinstance(value, int) else [int(each) for each in value]
    if len(listed) == 2:
        listed = [listed[0], listed[0], listed[1], listed[1]]
    if len(listed) != 4 or min(listed) < 0:
        raise ArgumentError(
            f"padding has one number, two (height, width) or four (top, bottom, left, right), "
            f"none negative; got {listed}"
        )
    return (listed[0], listed[1]), (listed[2], listed[3])


def window_axes_of(
    values: dict[str, Any], extents: Pair, padding: tuple[Pair, Pair], *, ceil_mode: bool = False
) -> tuple[WindowAxis, WindowAxis]:
    """The window along height and width; ValueError if it has no position."""
    names = ("kernel_size", "stride", "dilation")
    kernel, stride, dilation = (as_pair(values[name], name) for name in names)
    rows, columns = (
        WindowAxis(
            extent=extents[axis],
            kernel=kernel[axis],
            stride=stride[axis],
            dilation=dilation[axis],
            low=padding[axis][0],
            high=padding[axis][1],
            ceil_mode=ceil_mode,
        ).checked(name)
        for axis, name in ((0, "height"), (1, "width"))
    )
    return rows, columns


def as_image(tensor: Any, batch: int, height: int, width: int, channels: int) -> Array:
    """The numbers as (N, H, W, C); ValueError if there are others."""
    given: Tensor = require_tensor(tensor, "input_tensor")
    shape = given.shape
    wanted = (batch, height, width, channels)
    flat = (1, 1, batch * height * width, channels)
    if shape not in (wanted, flat):
        raise ArgumentError(
            f"input_tensor has {shape}; for these extents it must be {list(flat)} or {list(wanted)}"
        )
    return given.array.reshape(wanted)


def flatten(image: Array) -> Array:
    """(N, H, W, C) as (1, 1, N * H * W, C)."""
    return image.reshape(1, 1, -1, image.shape[-1])


def window_parameters(
    axes: tuple[WindowAxis, WindowAxis], image: Array, channels: str
) -> dict[str, Any]:
    """The parameters of a row's kernel for a window over an image, but for the padding."""
    rows, columns = axes
    return {
        "batch_size": image.shape[0],
        "input_height": image.shape[1],
        "input_width": image.shape[2],
        channels: image.shape[3],
        "kernel_height": rows.kernel,
        "kernel_width": columns.kernel,
        "stride_height": rows.stride,
        "stride_width": columns.stride,
        "dilation_height": rows.dilation,
        "dilation_width": columns.dilation,
    }
