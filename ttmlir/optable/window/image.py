"""Sliding window operations on images whose last dimension is the channels (NHWC).

The ttnn forms carry the image's extents as parameters, since their tensors may be flattened to
(1, 1, N*H*W, C); the results are shaped (N, OH, OW, C) and the caller flattens them if need be.
"""

from __future__ import annotations

import math
from typing import Any

from ttmlir.optable.row import Family, Flatbuffer, Kind, Operand, Parameter, Row, Shape
from ttmlir.optable.shapes import require, spell_shape
from ttmlir.optable.window.axes import (
    even_window_axes,
    evenly_padded_parameters,
    image_shape,
    output_extent,
    window_extents,
)


def _parameters(kind: Kind, *names: str) -> tuple[Parameter, ...]:
    return tuple(Parameter(name=name, kind=kind) for name in names)


def conv2d_shape(input: Shape, weight: Shape, bias: Shape | None = None, **p: Any) -> Shape:
    """Shape of a convolution of the image that the parameters `p` describe."""
    inner, outer, groups = p["in_channels"], p["out_channels"], p["groups"]
    require(
        groups >= 1 and inner % groups == 0 and outer % groups == 0,
        f"{inner} input and {outer} output channels cannot be split into {groups} groups",
    )
    image = image_shape(input, inner, p)
    filters = (outer, inner // groups, p["kernel_height"], p["kernel_width"])
    require(weight == filters, f"weight is {spell_shape(weight)}; expected {spell_shape(filters)}")
    require(
        bias is None or math.prod(bias) == outer,
        f"bias is {spell_shape(bias or ())}; expected {outer} elements",
    )
    return (image[0], *window_extents(even_window_axes(p)), outer)


def max_pool2d_shape(input: Shape, **p: Any) -> Shape:
    """Shape of a pooling of the image that the parameters `p` describe."""
    image = image_shape(input, p["channels"], p)
    return (image[0], *window_extents(even_window_axes(p)), image[3])


def _windows(
    xp: Any, image: Any, kernel: Shape, stride: Shape, dilation: Shape, positions: Shape
) -> Any:
    """View of shape (N, OH, OW, C, KH, KW): the elements under each position of the window."""
    span = tuple(d * (k - 1) + 1 for k, d in zip(kernel, dilation, strict=True))
    view = xp.lib.stride_tricks.sliding_window_view(image, span, axis=(1, 2))
    rows = slice(0, (positions[0] - 1) * stride[0] + 1, stride[0])
    columns = slice(0, (positions[1] - 1) * stride[1] + 1, stride[1])
    return view[:, rows, columns, :, :: dilation[0], :: dilation[1]]


def _conv2d(
    xp: Any,
    input: Any,
    weight: Any,
    bias: Any = None,
    *,
    in_channels: int,
    out_channels: int,
    batch_size: int,
    input_height: int,
    input_width: int,
    kernel_height: int,
    kernel_width: int,
    stride_height: int,
    stride_width: int,
    padding_height: int,
    padding_width: int,
    dilation_height: int,
    dilation_width: int,
    groups: int,
) -> Any:
    image = xp.reshape(input, (batch_size, input_height, input_width, in_channels))
    margins = ((0, 0), (padding_height,) * 2, (padding_width,) * 2, (0, 0))
    if padding_height or padding_width:
        image = xp.pad(image, margins)
    positions = (
        output_extent(
            input_height, kernel_height, stride_height, 2 * padding_height, dilation_height
        ),
        output_extent(input_width, kernel_width, stride_width, 2 * padding_width, dilation_width),
    )
    windows = _windows(
        xp,
        image,
        (kernel_height, kernel_width),
        (stride_height, stride_width),
        (dilation_height, dilation_width),
        positions,
    )
    group_in, group_out = in_channels // groups, out_channels // groups
    parts: list[Any] = []
    for group in range(groups):
        patches = windows[:, :, :, group * group_in : (group + 1) * group_in]
        matrix = xp.reshape(patches, (batch_size * positions[0] * positions[1], -1))
        filters = weight[group * group_out : (group + 1) * group_out]
        parts.append(xp.matmul(matrix, xp.reshape(filters, (group_out, -1)).T))
    output = parts[0] if groups == 1 else xp.concatenate(parts, axis=1)
    if bias is not None:
        output = output + xp.reshape(bias, (1, out_channels))
    return xp.reshape(output, (batch_size, *positions, out_channels))


def _max_pool2d(
    xp: Any,
    input: Any,
    *,
    batch_size: int,
    input_height: int,
    input_width: int,
    channels: int,
    kernel_height: int,
    kernel_width: int,
    stride_height: int,
    stride_width: int,
    dilation_height: int,
    dilation_width: int,
    ceil_mode: bool,
    padding_height: int,
    padding_width: int,
) -> Any:
    image = xp.reshape(input, (batch_size, input_height, input_width, channels))
    positions = (
        output_extent(
            input_height,
            kernel_height,
            stride_height,
            2 * padding_height,
            dilation_height,
            ceil_mode,
        ),
        output_extent(
            input_width, kernel_width, stride_width, 2 * padding_width, dilation_width, ceil_mode
        ),
    )
    # In ceil mode the last window may reach beyond the padding: those elements never win.
    needed = (
        (positions[0] - 1) * stride_height + dilation_height * (kernel_height - 1) + 1,
        (positions[1] - 1) * stride_width + dilation_width * (kernel_width - 1) + 1,
    )
    margins = (
        (0, 0),
        (padding_height, max(needed[0] - input_height - padding_height, padding_height)),
        (padding_width, max(needed[1] - input_width - padding_width, padding_width)),
        (0, 0),
    )
    lowest = xp.iinfo(image.dtype).min if xp.issubdtype(image.dtype, xp.integer) else -xp.inf
    if any(count for margin in margins for count in margin):
        image = xp.pad(image, margins, constant_values=lowest)
    windows = _windows(
        xp,
        image,
        (kernel_height, kernel_width),
        (stride_height, stride_width),
        (dilation_height, dilation_width),
        positions,
    )
    return xp.max(windows, axis=(4, 5))


_TTIR_PADDING = ("padding_left", "padding_right", "padding_top", "padding_bottom")


_CONV2D_ATTRIBUTES = (
    "in_channels",
    "out_channels",
    "batch_size",
    "input_height",
    "input_width",
    "kernel_height",
    "kernel_width",
    "stride_height",
    "stride_width",
    "padding_height",
    "padding_width",
    "dilation_height",
    "dilation_width",
    "groups",
)
_POOL_WINDOW = (
    "kernel_height",
    "kernel_width",
    "stride_height",
    "stride_width",
    "dilation_height",
    "dilation_width",
)
_POOL_IMAGE = ("batch_size", "input_height", "input_width", "channels")
_CEIL_MODE = Parameter(
    name="ceil_mode", kind=Kind.BOOL, doc="Round the number of positions up instead of down."
)
_POOL_PADDING = ("padding_height", "padding_width")

ROWS = (
    Row(
        mnemonic="conv2d",
        summary="Two-dimensional convolution (cross-correlation) of an image.",
        formula="output[n, y, x, o] = bias[o] + sum over i, j, c of "
        "input[n, y*sh + i*dh - ph, x*sw + j*dw - pw, c] * weight[o, c, i, j]",
        family=Family.WINDOW,
        multiplies=True,
        operands=(
            Operand(name="input"),
            Operand(name="weight"),
            Operand(name="bias", optional=True),
        ),
        parameters=_parameters(Kind.I32, *_CONV2D_ATTRIBUTES),
        ttir_parameters=_parameters(
            Kind.SI32,
            "stride_height",
            "stride_width",
            "dilation_height",
            "dilation_width",
            "groups",
            *_TTIR_PADDING,
        ),
        reference=_conv2d,
        result_shape=conv2d_shape,
        device=True,
        takes_host_operands=True,
        ttnn_parameters=evenly_padded_parameters,
        flatbuffer=Flatbuffer(
            table="Conv2dOp",
            fields=(
                ("input", "input"),
                ("weight", "weight"),
                ("bias", "bias"),
                ("out", "output"),
                ("device", "device"),
                *((name, name) for name in _CONV2D_ATTRIBUTES),
            ),
        ),
    ),
    Row(
        mnemonic="max_pool2d",
        summary="Largest value under each position of a window.",
        formula="output[n, y, x, c] = max over i, j of "
        "input[n, y*sh + i*dh - ph, x*sw + j*dw - pw, c]",
        family=Family.WINDOW,
        operands=(Operand(name="input"),),
        parameters=(
            *_parameters(Kind.SI32, *_POOL_IMAGE, *_POOL_WINDOW),
            _CEIL_MODE,
            *_parameters(Kind.SI32, *_POOL_PADDING),
        ),
        ttir_parameters=(
            *_parameters(Kind.SI32, *_POOL_WINDOW),
            _CEIL_MODE,
            *_parameters(Kind.SI32, *_TTIR_PADDING),
            Parameter(name="original_height", kind=Kind.SI32, optional=True),
            Parameter(name="original_width", kind=Kind.SI32, optional=True),
        ),
        reference=_max_pool2d,
        result_shape=max_pool2d_shape,
        device=True,
        ttnn_parameters=evenly_padded_parameters,
        flatbuffer=Flatbuffer(
            table="MaxPool2dOp",
            fields=(
                ("in", "input"),
                ("out", "output"),
                ("device", "device"),
                *((name, name) for name in (*_POOL_IMAGE, *_POOL_WINDOW)),
                ("ceil_mode", "ceil_mode"),
                *((name, name) for name in _POOL_PADDING),
            ),
        ),
    ),
)
