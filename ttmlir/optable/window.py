"""Sliding window operations on images whose last dimension is the channels (NHWC).

The ttnn forms carry the image's extents as parameters, since their tensors may be flattened to
(1, 1, N*H*W, C); the results are shaped (N, OH, OW, C) and the caller flattens them if need be.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from ttmlir.optable.row import Family, Flatbuffer, Kind, Operand, Parameter, Row, Shape


def _parameters(kind: Kind, *names: str) -> tuple[Parameter, ...]:
    return tuple(Parameter(name=name, kind=kind) for name in names)


def output_extent(
    extent: int,
    kernel: int,
    stride: int,
    padding: int,
    dilation: int,
    ceil_mode: bool = False,
    leading: int | None = None,
) -> int:
    """Number of window positions along one dimension; `padding` counts both sides together.

    With `ceil_mode` a last, partly filled window counts if it starts inside the image or its
    leading padding, which is half of `padding` unless it is given.
    """
    reach = extent + padding - dilation * (kernel - 1) - 1
    if not ceil_mode:
        return reach // stride + 1
    positions = -(-reach // stride) + 1
    inside = (positions - 1) * stride < extent + (padding // 2 if leading is None else leading)
    return positions if inside else positions - 1


@dataclass(frozen=True, kw_only=True)
class WindowAxis:
    """What a window does along one dimension of an image."""

    extent: int
    kernel: int
    stride: int = 1
    dilation: int = 1
    low: int = 0
    """Padding in front."""
    high: int = 0
    """Padding behind."""
    ceil_mode: bool = False

    @property
    def reach(self) -> int:
        """Elements from the first to the last one under the window."""
        return self.dilation * (self.kernel - 1) + 1

    @property
    def positions(self) -> int:
        """Number of positions of the window."""
        return output_extent(
            self.extent,
            self.kernel,
            self.stride,
            self.low + self.high,
            self.dilation,
            self.ceil_mode,
            self.low,
        )

    @property
    def margin(self) -> tuple[int, int]:
        """Elements to add on both sides, so that every position is filled.

        With `ceil_mode` the last window may reach beyond the padding.
        """
        needed = (self.positions - 1) * self.stride + self.reach
        return self.low, max(0, needed - self.extent - self.low)

    def covered(self, padded: bool) -> list[int]:
        """Elements of the image, or of the padded image, under the window at each position."""
        first, end = (-self.low, self.extent + self.high) if padded else (0, self.extent)
        starts = range(-self.low, -self.low + self.positions * self.stride, self.stride)
        return [
            sum(first <= start + step < end for step in range(0, self.reach, self.dilation))
            for start in starts
        ]

    def checked(self, name: str) -> WindowAxis:
        """The axis; ValueError if no window can slide along the dimension `name`."""
        if min(self.kernel, self.stride, self.dilation) < 1:
            raise ValueError(f"kernel, stride and dilation of the {name} must be positive")
        if min(self.low, self.high) < 0:
            raise ValueError(f"padding of the {name} must not be negative")
        if self.extent < 1 or self.reach > self.extent + self.low + self.high:
            raise ValueError(
                f"the window reaches over {self.reach} elements, more than the {name} "
                f"{self.extent} and its padding of {self.low} and {self.high}"
            )
        return self


def window_axes(parameters: Mapping[str, Any], **more: int) -> tuple[WindowAxis, WindowAxis]:
    """What a window operation of an image, with padding for each side, does along its axes.

    `more` overrides parameters, such as `input_height` and `input_width` where ttir reads them from
    a shape.
    """
    values: dict[str, Any] = {**parameters, **more}
    sides = (("height", "top", "bottom"), ("width", "left", "right"))
    return cast(
        "tuple[WindowAxis, WindowAxis]",
        tuple(
            WindowAxis(
                extent=values[f"input_{axis}"],
                kernel=values[f"kernel_{axis}"],
                stride=values[f"stride_{axis}"],
                dilation=values[f"dilation_{axis}"],
                low=values[f"padding_{low}"],
                high=values[f"padding_{high}"],
                ceil_mode=bool(values.get("ceil_mode", False)),
            )
            for axis, low, high in sides
        ),
    )


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


def image_parameters(
    parameters: Mapping[str, Any], shapes: Sequence[Shape], result: Shape
) -> dict[str, Any]:
    """The parameters of a window operation of ttnn, which repeats the extents of its tensors.

    `shapes` are those of the image and, for a convolution, the weight. More than one leading
    dimension is a batch. Names that an operation does not take are among them, too.
    """
    *batches, height, width, channels = shapes[0]
    pixels = math.prod((*batches, height, width))
    height = parameters.get("original_height", height)
    width = parameters.get("original_width", width)
    values = {
        **parameters,
        # Flattened, the images of a batch follow each other along the rows.
        "batch_size": pixels // max(1, height * width),
        "input_height": height,
        "input_width": width,
        "channels": channels,
        "in_channels": channels,
        "out_channels": result[-1],
    }
    if len(shapes) > 1:
        values["kernel_height"], values["kernel_width"] = shapes[1][-2:]
    return values


def evenly_padded_parameters(
    parameters: Mapping[str, Any], shapes: Sequence[Shape], result: Shape
) -> dict[str, Any]:
    """The same for an operation that takes one padding for both sides."""
    top, bottom, left, right = (
        parameters[f"padding_{side}"] for side in ("top", "bottom", "left", "right")
    )
    if top != bottom or left != right:
        raise ValueError(
            "padding must be the same above and below and the same left and right, but is "
            f"top {top}, bottom {bottom}, left {left}, right {right}; "
            "run ttir-sliding-window-2d-fix-shapes before, which pads unevenly"
        )
    values = image_parameters(parameters, shapes, result)
    return {**values, "padding_height": top, "padding_width": right}


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
        device=True,
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
