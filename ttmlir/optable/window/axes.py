"""What a window does along the dimensions of an image, and the parameters that say so."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from ttmlir.optable.row import Shape
from ttmlir.optable.shapes import require, spell_shape


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


def image_shape(input: Shape, channels: int, parameters: Mapping[str, Any]) -> Shape:
    """Shape of the image that a tensor, which may be flattened, holds."""
    names = ("batch_size", "input_height", "input_width")
    image = (*(parameters[name] for name in names), channels)
    require(
        math.prod(image) == math.prod(input),
        f"an image of {spell_shape(image)} does not fit an input of {spell_shape(input)}",
    )
    return image


def even_window_axes(parameters: Mapping[str, Any]) -> tuple[WindowAxis, WindowAxis]:
    """The axes of a window operation with the same padding on both sides."""
    sides = {"top": "height", "bottom": "height", "left": "width", "right": "width"}
    padding = {f"padding_{side}": parameters[f"padding_{axis}"] for side, axis in sides.items()}
    return window_axes({**parameters, **padding})


def window_extents(axes: Sequence[WindowAxis]) -> Shape:
    """Positions of the window along the height and the width; ValueError if it fits nowhere."""
    height, width = axes
    return height.checked("height").positions, width.checked("width").positions
