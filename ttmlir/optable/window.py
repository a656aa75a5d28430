"""Operations on windows of images: convolutions, poolings, averages."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from ttmlir.errors import ArgumentError
from ttmlir.optable.op_definition import (
    Family,
    Flatbuffer,
    Kind,
    OpDefinition,
    Operand,
    Parameter,
    Shape,
    require,
    spell_shape,
)

# --- Axes -----------------------------------------------------------------------------------------
# What a window does along the dimensions of an image, and the parameters that say so.


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
    """Padding before the first element."""
    high: int = 0
    """Padding after the last element."""
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
            raise ArgumentError(f"kernel, stride and dilation of the {name} must be positive")
        if min(self.low, self.high) < 0:
            raise ArgumentError(f"padding of the {name} must not be negative")
        if self.extent < 1 or self.reach > self.extent + self.low + self.high:
            raise ArgumentError(
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
        raise ArgumentError(
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


# --- Convolution ----------------------------------------------------------------------------------
# Convolutions of every form, and the transposed convolution of images.
#
# `ttir.convolution` is the general form: any number of spatial dimensions in any order, padding of
# each side (negative padding cuts off), dilation of input and weight, groups of features and of
# batches. It never reaches ttnn: `ttir-decomposition` turns it into `ttir.conv2d`,
# `ttir.conv_transpose2d` and movements of elements. Its `dimension_numbers` are StableHLO's text:
#
#     [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]
#
# is an image of batch, height, width, features, a weight of height, width, input features, output
# features, and an output like the image. The optional bias has an element for each output feature.
#
# `ttir.conv_transpose2d` takes NHWC images and a weight of input channels, output channels of a
# group, height, width; the weight is not reversed (as in torch).

_SINCE = "2026-08"


@dataclass(frozen=True)
class Dimensions:
    """The dimensions of one tensor of a convolution, by what they mean."""

    first: int
    """Batch, or, of a weight, input features."""
    feature: int
    """Features, or, of a weight, output features."""
    spatial: tuple[int, ...]

    @property
    def spatial_last(self) -> tuple[int, ...]:
        """The dimensions in the order batch (or input features), features, spatial ones."""
        return (self.first, self.feature, *self.spatial)

    @property
    def feature_last(self) -> tuple[int, ...]:
        """The dimensions in the order batch (or input features), spatial ones, features."""
        return (self.first, *self.spatial, self.feature)


@dataclass(frozen=True)
class DimensionNumbers:
    """Which dimension of input, weight and output is which."""

    input: Dimensions
    weight: Dimensions
    output: Dimensions

    @classmethod
    def parse(cls, text: str) -> DimensionNumbers:
        """Read `[b, 0, f]x[0, i, o]->[b, 0, f]`; ValueError if the text is of another form."""
        found = re.fullmatch(r"\s*\[(.*)\]\s*x\s*\[(.*)\]\s*->\s*\[(.*)\]\s*", text)
        if found is None:
            raise ArgumentError(_MALFORMED.format(text=text))
        names = [[name.strip() for name in part.split(",")] for part in found.groups()]
        count = len(names[0]) - 2
        read = (
            _dimensions(part, first, feature, count, text)
            for part, (first, feature) in zip(names, ("bf", "io", "bf"), strict=True)
        )
        return cls(*read)

    def __str__(self) -> str:
        """The text that `parse` reads."""
        sides = ((self.input, "bf"), (self.weight, "io"), (self.output, "bf"))
        source, weight, output = (_spell(part, *names) for part, names in sides)
        return f"{source}x{weight}->{output}"


_MALFORMED = (
    'dimension numbers "{text}" must have the form "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]" with '
    "every dimension named once"
)


def _dimensions(names: list[str], first: str, feature: str, count: int, text: str) -> Dimensions:
    spatial = [str(number) for number in range(count)]
    if sorted(names) != sorted([first, feature, *spatial]):
        raise ArgumentError(_MALFORMED.format(text=text))
    return Dimensions(
        names.index(first), names.index(feature), tuple(names.index(name) for name in spatial)
    )


def _spell(part: Dimensions, first: str, feature: str) -> str:
    names = {part.first: first, part.feature: feature}
    names |= {dim: str(number) for number, dim in enumerate(part.spatial)}
    return f"[{', '.join(names[dim] for dim in range(len(names)))}]"


def convolution_axes(
    input: Shape, weight: Shape, numbers: DimensionNumbers, parameters: Mapping[str, Any]
) -> tuple[WindowAxis, ...]:
    """The window along each spatial dimension of the input with its holes; ValueError if none."""
    count = len(numbers.input.spatial)
    names = ("window_strides", "input_dilation", "weight_dilation", "window_reversal")
    for name in names:
        require(
            len(parameters[name]) == count,
            f"{name} must have one entry for each of the {count} spatial dimensions",
        )
    padding = parameters["padding"]
    require(
        len(padding) == 2 * count,
        f"padding must have two entries for each of the {count} spatial dimensions",
    )
    axes: list[WindowAxis] = []
    for number, dim in enumerate(numbers.input.spatial):
        dilation = parameters["input_dilation"][number]
        require(dilation >= 1, f"input dilation of spatial dimension {number} must be positive")
        axis = WindowAxis(
            # Negative padding cuts off what the window does not see.
            extent=(input[dim] - 1) * dilation + 1 + padding[2 * number] + padding[2 * number + 1],
            kernel=weight[numbers.weight.spatial[number]],
            stride=parameters["window_strides"][number],
            dilation=parameters["weight_dilation"][number],
        )
        axes.append(axis.checked(f"spatial dimension {number}"))
    return tuple(axes)


def convolved_shape(
    input: Shape, weight: Shape, bias: Shape | None = None, **parameters: Any
) -> Shape:
    """Shape of a general convolution."""
    numbers = DimensionNumbers.parse(parameters["dimension_numbers"])
    rank = len(numbers.input.spatial) + 2
    require(
        len(input) == len(weight) == rank,
        f"input and weight must have the {rank} dimensions that the dimension numbers name",
    )
    groups, batches = parameters["feature_group_count"], parameters["batch_group_count"]
    features, batch = input[numbers.input.feature], input[numbers.input.first]
    inner, outer = weight[numbers.weight.first], weight[numbers.weight.feature]
    require(
        groups >= 1 and batches >= 1 and 1 in (groups, batches),
        "feature_group_count and batch_group_count must be positive, and one of them 1",
    )
    require(
        features == inner * groups,
        f"{features} input features must be {groups} groups of the weight's {inner}",
    )
    require(batch % batches == 0, f"a batch of {batch} cannot be split into {batches} groups")
    require(
        outer % (groups * batches) == 0,
        f"{outer} output features cannot be split into {groups * batches} groups",
    )
    if bias is not None:
        count = 1
        for extent in bias:
            count *= extent
        require(count == outer, f"the bias must have {outer} elements, one per output feature")
    result = [0] * rank
    result[numbers.output.first], result[numbers.output.feature] = batch // batches, outer
    axes = convolution_axes(input, weight, numbers, parameters)
    for dim, axis in zip(numbers.output.spatial, axes, strict=True):
        result[dim] = axis.positions
    return tuple(result)


def _convolution(xp: Any, input: Any, weight: Any, bias: Any = None, **parameters: Any) -> Any:
    numbers = DimensionNumbers.parse(parameters["dimension_numbers"])
    groups, batches = parameters["feature_group_count"], parameters["batch_group_count"]
    image = xp.transpose(input, numbers.input.spatial_last)
    weight = xp.transpose(weight, numbers.weight.spatial_last)
    for number, is_reversed in enumerate(parameters["window_reversal"]):
        if is_reversed:
            weight = xp.flip(weight, number + 2)
    image = _spread(xp, image, parameters["input_dilation"])
    image = _pad(xp, image, parameters["padding"])
    axes = convolution_axes(input.shape, weight_shape(weight, numbers), numbers, parameters)
    spans = [axis.reach for axis in axes]
    view = image
    if axes:
        spatial = tuple(range(2, len(axes) + 2))
        view = xp.lib.stride_tricks.sliding_window_view(image, spans, axis=spatial)
        starts = [slice(None, None, axis.stride) for axis in axes]
        taps = [slice(None, None, axis.dilation) for axis in axes]
        view = view[(slice(None), slice(None), *starts, *taps)]
    positions = [axis.positions for axis in axes]
    batch = image.shape[0] // batches
    inner, outer = weight.shape[0], weight.shape[1] // (groups * batches)
    parts: list[Any] = []
    for group in range(groups * batches):
        rows = slice(group * batch, (group + 1) * batch) if batches > 1 else slice(None)
        features = slice(group * inner, (group + 1) * inner) if groups > 1 else slice(None)
        filters = weight[:, group * outer : (group + 1) * outer]
        # Batch, positions, input features, taps against input features, taps, output features.
        patches = xp.moveaxis(view[rows, features], 1, len(axes) + 1)
        matrix = xp.reshape(patches, (-1, inner * math.prod(weight.shape[2:])))
        columns = xp.reshape(xp.moveaxis(filters, 1, -1), (-1, outer))
        parts.append(xp.reshape(xp.matmul(matrix, columns), (batch, *positions, outer)))
    result = xp.concatenate(parts, axis=-1)
    if bias is not None:
        result = result + xp.reshape(bias, (-1,))
    order = [0] * result.ndim
    for place, dim in enumerate(numbers.output.feature_last):
        order[dim] = place
    return xp.transpose(result, order)


def weight_shape(weight: Any, numbers: DimensionNumbers) -> Shape:
    """Shape that a weight in the order input features, output features, spatial ones had."""
    shape = [0] * weight.ndim
    for extent, dim in zip(weight.shape, numbers.weight.spatial_last, strict=True):
        shape[dim] = extent
    return tuple(shape)


def _spread(xp: Any, image: Any, dilation: Sequence[int]) -> Any:
    """The image with zeros between its elements."""
    if all(step == 1 for step in dilation):
        return image
    extents = [(n - 1) * step + 1 for n, step in zip(image.shape[2:], dilation, strict=True)]
    result = xp.zeros((*image.shape[:2], *extents), image.dtype)
    result[(slice(None), slice(None), *(slice(None, None, step) for step in dilation))] = image
    return result


def _pad(xp: Any, image: Any, padding: Sequence[int]) -> Any:
    """The image with zeros around it; negative padding cuts off."""
    pairs = list(zip(padding[::2], padding[1::2], strict=True))
    margins = [(max(low, 0), max(high, 0)) for low, high in pairs]
    image = xp.pad(image, [(0, 0), (0, 0), *margins])
    cuts = [
        slice(max(-low, 0), extent - max(-high, 0))
        for (low, high), extent in zip(pairs, image.shape[2:], strict=True)
    ]
    return image[(slice(None), slice(None), *cuts)]


def transposed_extent(
    extent: int, kernel: int, stride: int, padding: int, output_padding: int, dilation: int
) -> int:
    """Extent of a transposed convolution's output; `padding` counts both sides together."""
    return (extent - 1) * stride - padding + dilation * (kernel - 1) + output_padding + 1


def transposed_shape(
    input: Shape, weight: Shape, bias: Shape | None, parameters: Mapping[str, Any]
) -> Shape:
    """Shape of a transposed convolution of an NHWC image; ValueError says why there is none."""
    groups, channels = parameters["groups"], input[-1]
    require(
        groups >= 1 and channels % groups == 0,
        f"{channels} input channels cannot be split into {groups} groups",
    )
    require(
        weight[0] == channels,
        f"the weight is for {weight[0]} input channels, but the image has {channels}",
    )
    outer = weight[1] * groups
    require(
        bias is None or math.prod(bias) == outer,
        f"the bias must have {outer} elements, one per output channel",
    )
    extents: list[int] = []
    for number, (axis, low, high) in enumerate(
        (("height", "top", "bottom"), ("width", "left", "right"))
    ):
        stride, dilation = parameters[f"stride_{axis}"], parameters[f"dilation_{axis}"]
        sides = parameters[f"padding_{low}"], parameters[f"padding_{high}"]
        more = parameters[f"output_padding_{axis}"]
        require(min(stride, dilation) >= 1, f"stride and dilation of the {axis} must be positive")
        require(min(*sides, more) >= 0, f"padding of the {axis} must not be negative")
        extent = transposed_extent(
            input[1 + number], weight[2 + number], stride, sum(sides), more, dilation
        )
        require(extent >= 1, f"padding leaves nothing of the {axis}")
        extents.append(extent)
    return (input[0], *extents, outer)


def conv_transpose2d_shape(
    input: Shape, weight: Shape, bias: Shape | None = None, **p: Any
) -> Shape:
    """Shape of a transposed convolution of the image that the parameters `p` describe."""
    inner, outer, groups = p["in_channels"], p["out_channels"], p["groups"]
    image = image_shape(input, inner, p)
    require(
        groups >= 1 and outer % groups == 0,
        f"{outer} output channels cannot be split into {groups} groups",
    )
    filters = (inner, outer // groups, p["kernel_height"], p["kernel_width"])
    require(weight == filters, f"weight is {spell_shape(weight)}; expected {spell_shape(filters)}")
    return transposed_shape(image, weight, bias, p)


def _conv_transpose2d(xp: Any, input: Any, weight: Any, bias: Any = None, **parameters: Any) -> Any:
    p = parameters
    image = xp.reshape(
        input, (p["batch_size"], p["input_height"], p["input_width"], p["in_channels"])
    )
    strides = p["stride_height"], p["stride_width"]
    dilations = p["dilation_height"], p["dilation_width"]
    kernel = weight.shape[2:]
    groups, inner = p["groups"], p["in_channels"] // p["groups"]
    reach = [d * (k - 1) for d, k in zip(dilations, kernel, strict=True)]
    # A convolution of the image with holes, by the weight from back to front.
    flipped = xp.flip(weight, (2, 3))
    parts = [
        _convolution(
            xp,
            image[..., group * inner : (group + 1) * inner],
            flipped[group * inner : (group + 1) * inner],
            dimension_numbers="[b, 0, 1, f]x[i, o, 0, 1]->[b, 0, 1, f]",
            window_strides=(1, 1),
            padding=(
                reach[0] - p["padding_top"],
                reach[0] - p["padding_bottom"] + p["output_padding_height"],
                reach[1] - p["padding_left"],
                reach[1] - p["padding_right"] + p["output_padding_width"],
            ),
            input_dilation=strides,
            weight_dilation=dilations,
            window_reversal=(False, False),
            feature_group_count=1,
            batch_group_count=1,
        )
        for group in range(groups)
    ]
    result = xp.concatenate(parts, axis=-1)
    return result if bias is None else result + xp.reshape(bias, (-1,))


def _parameters(kind: Kind, *names: str) -> tuple[Parameter, ...]:
    return tuple(Parameter(name=name, kind=kind) for name in names)


_TRANSPOSED_WINDOW = (
    *("stride_height", "stride_width", "dilation_height", "dilation_width", "groups"),
    *("padding_left", "padding_right", "padding_top", "padding_bottom"),
    *("output_padding_height", "output_padding_width"),
)
_IMAGE = (
    *("in_channels", "out_channels", "batch_size", "input_height", "input_width"),
    *("kernel_height", "kernel_width"),
)

_OPERANDS = (Operand(name="input"), Operand(name="weight"), Operand(name="bias", optional=True))

CONVOLUTION_DEFINITIONS = (
    OpDefinition(
        mnemonic="convolution",
        summary="Convolution (cross-correlation) over any number of dimensions in any order.",
        family=Family.WINDOW,
        operands=_OPERANDS,
        parameters=(
            Parameter(
                name="dimension_numbers",
                kind=Kind.STRING,
                doc="Meaning of the dimensions: batch b, features f, input features i, output "
                "features o and the spatial ones by number, as in "
                "`[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`.",
            ),
            Parameter(name="window_strides", kind=Kind.DENSE_I64),
            Parameter(
                name="padding",
                kind=Kind.DENSE_I64,
                doc="Zeros below and above, two entries per spatial dimension; negative ones cut "
                "off.",
            ),
            Parameter(
                name="input_dilation", kind=Kind.DENSE_I64, doc="Distance of the input's elements."
            ),
            Parameter(
                name="weight_dilation",
                kind=Kind.DENSE_I64,
                doc="Distance of the elements under the window.",
            ),
            Parameter(
                name="window_reversal",
                kind=Kind.DENSE_BOOL,
                doc="Whether the weight is taken from back to front.",
            ),
            Parameter(
                name="feature_group_count",
                kind=Kind.I64,
                doc="Groups of input features that are convolved on their own.",
            ),
            Parameter(
                name="batch_group_count",
                kind=Kind.I64,
                doc="Groups of the batch that are convolved on their own and become features.",
            ),
        ),
        reference=_convolution,
        result_shape=convolved_shape,
        in_ttnn=False,
        flatbuffer=None,
        since=_SINCE,
    ),
    OpDefinition(
        mnemonic="conv_transpose2d",
        summary="Transposed two-dimensional convolution: the gradient of a convolution's image.",
        formula="output[n, y*sh + i*dh - pt, x*sw + j*dw - pl, o] sums up "
        "input[n, y, x, c] * weight[c, o, i, j], plus bias[o]",
        family=Family.WINDOW,
        multiplies=True,
        operands=_OPERANDS,
        parameters=_parameters(Kind.SI32, *_IMAGE, *_TRANSPOSED_WINDOW),
        ttir_parameters=_parameters(Kind.SI32, *_TRANSPOSED_WINDOW),
        reference=_conv_transpose2d,
        result_shape=conv_transpose2d_shape,
        device=True,
        ttnn_parameters=image_parameters,
        flatbuffer=Flatbuffer(
            table="ConvTranspose2dOp",
            fields=(
                ("input", "input"),
                ("weight", "weight"),
                ("bias", "bias"),
                ("out", "output"),
                ("device", "device"),
                *((name, name) for name in (*_IMAGE, *_TRANSPOSED_WINDOW)),
            ),
        ),
        since=_SINCE,
    ),
)


# --- Image ----------------------------------------------------------------------------------------
# Sliding window operations on images whose last dimension is the channels (NHWC).
#
# The ttnn forms carry the image's extents as parameters, since their tensors may be flattened to
# (1, 1, N*H*W, C); the results are shaped (N, OH, OW, C) and the caller flattens them if need be.


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

IMAGE_DEFINITIONS = (
    OpDefinition(
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
    OpDefinition(
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


# --- Pooling --------------------------------------------------------------------------------------
# Pooling over any dimensions, and the average of image windows.
#
# `ttir.pooling` is the general form: a window over all dimensions of a tensor, with padding of each
# side and dilation of input and window, whose elements are combined by `pooling_method`: `max`,
# `min`, `sum`, `average`, `product`, `and` or `or`. What is added around or between the elements
# never counts, except that `average` divides by the full size of the window. It never reaches ttnn:
# `ttir-decomposition` turns it into poolings of images, cumulative sums or elementwise operations.
#
# `ttir.avg_pool2d` takes NHWC images, as `ttir.max_pool2d` does, with padding of its own for each
# side. With `count_include_pad` it divides by the number of elements of the padded image under the
# window, otherwise by those of the image.

COMBINERS = {
    "max": "maximum",
    "min": "minimum",
    "sum": "add",
    "product": "multiply",
    "and": "logical_and",
    "or": "logical_or",
}
"""For each method of `ttir.pooling` that combines the elements of a window two by two, the mnemonic
of the operation that does."""
METHODS = ("max", "min", "sum", "average", "product", "and", "or")
"""What `ttir.pooling` does with the elements of a window."""


def method_of(combiner: OpDefinition) -> str | None:
    """The method that combines elements by an operation; None if there is none."""
    return next((name for name, found in COMBINERS.items() if found == combiner.mnemonic), None)


def pooling_axes(input: Shape, parameters: dict[str, Any]) -> tuple[WindowAxis, ...]:
    """The window along each dimension of the input with its holes and padding."""
    names = ("window_dimensions", "window_strides", "base_dilations", "window_dilations")
    for name in names:
        require(
            len(parameters[name]) == len(input),
            f"{name} must have one entry for each of the {len(input)} dimensions",
        )
    padding = parameters["padding"]
    require(
        len(padding) == 2 * len(input),
        f"padding must have two entries for each of the {len(input)} dimensions",
    )
    axes: list[WindowAxis] = []
    for dim, extent in enumerate(input):
        dilation = parameters["base_dilations"][dim]
        require(dilation >= 1, f"base dilation of dimension {dim} must be positive")
        axis = WindowAxis(
            # Negative padding cuts off what the window does not see.
            extent=(extent - 1) * dilation + 1 + padding[2 * dim] + padding[2 * dim + 1],
            kernel=parameters["window_dimensions"][dim],
            stride=parameters["window_strides"][dim],
            dilation=parameters["window_dilations"][dim],
        )
        axes.append(axis.checked(f"dimension {dim}"))
    return tuple(axes)


def pooled_shape(input: Shape, **parameters: Any) -> Shape:
    """Shape of a general pooling: the positions of the window along each dimension."""
    method = parameters["pooling_method"]
    require(method in METHODS, f'pooling method "{method}" must be one of {", ".join(METHODS)}')
    return tuple(axis.positions for axis in pooling_axes(input, parameters))


def avg_pool2d_shape(input: Shape, **parameters: Any) -> Shape:
    """Shape of averages of the image that the parameters describe."""
    image = image_shape(input, parameters["channels"], parameters)
    return (image[0], *window_extents(window_axes(parameters)), image[3])


def _neutral(xp: Any, method: str, dtype: Any) -> Any:
    """The value that changes no result."""
    if method in ("max", "min"):
        if xp.issubdtype(dtype, xp.integer):
            limits = xp.iinfo(dtype)
            return limits.min if method == "max" else limits.max
        if xp.issubdtype(dtype, xp.bool_):
            return method == "min"
        return -xp.inf if method == "max" else xp.inf
    return 1 if method in ("product", "and") else 0


def _pooling(xp: Any, input: Any, **parameters: Any) -> Any:
    axes = pooling_axes(input.shape, parameters)
    method = parameters["pooling_method"]
    steps, padding = parameters["base_dilations"], parameters["padding"]
    fill = _neutral(xp, method, input.dtype)
    extents = [(n - 1) * step + 1 for n, step in zip(input.shape, steps, strict=True)]
    spread = xp.full(extents, fill, input.dtype)
    spread[tuple(slice(None, None, step) for step in steps)] = input
    pairs = list(zip(padding[::2], padding[1::2], strict=True))
    margins = [(max(low, 0), max(high, 0)) for low, high in pairs]
    padded = xp.pad(spread, margins, constant_values=fill)
    padded = padded[
        tuple(
            slice(max(-low, 0), extent - max(-high, 0))
            for (low, high), extent in zip(pairs, padded.shape, strict=True)
        )
    ]
    if not axes:
        return padded
    view = xp.lib.stride_tricks.sliding_window_view(padded, [axis.reach for axis in axes])
    starts = [slice(None, None, axis.stride) for axis in axes]
    taps = [slice(None, None, axis.dilation) for axis in axes]
    view = view[(*starts, *taps)]
    over = tuple(range(len(axes), 2 * len(axes)))
    combine = {"product": xp.prod, "and": xp.all, "or": xp.any, "max": xp.max, "min": xp.min}
    if method in combine:
        return combine[method](view, axis=over)
    total = xp.sum(view, axis=over)
    if method == "sum":
        return total
    count = 1
    for axis in axes:
        count *= axis.kernel
    return total / count


def compute_on_image(
    xp: Any,
    definition: OpDefinition,
    inputs: Sequence[Any],
    result: Shape,
    parameters: Mapping[str, Any],
) -> Any:
    """What the reference function of a definition computes from the parameters of its ttir
    operation.

    ttir says less than ttnn, since its images are not flattened, and has a padding for each side.
    """
    image, *rest = inputs
    shapes = [each.shape for each in inputs if each is not None]
    values = image_parameters(parameters, shapes, result)
    height, width = values["input_height"], values["input_width"]
    image = xp.reshape(image, (-1, height, width, image.shape[-1]))
    names = [parameter.name for parameter in definition.parameters]
    if "padding_height" in names:
        top, bottom, left, right = (values[f"padding_{side}"] for side in _SIDES)
        if (top, left) != (bottom, right):
            fill = _neutral(xp, "max", image.dtype) if len(inputs) == 1 else 0
            margins = ((0, 0), (top, bottom), (left, right), (0, 0))
            image = xp.pad(image, margins, constant_values=fill)
            values |= {"input_height": image.shape[1], "input_width": image.shape[2]}
            top = left = 0
        values |= {"padding_height": top, "padding_width": left}
    return definition.reference(xp, image, *rest, **{name: values[name] for name in names})


_SIDES = ("top", "bottom", "left", "right")


def window_counts(
    axes: Sequence[WindowAxis], count_include_pad: bool
) -> tuple[list[int], list[int]]:
    """Elements that count, for each position along the height and along the width.

    Their product is what an average divides by; where a window lies in the padding alone, that is
    1, since its sum is 0.
    """
    rows, columns = ([max(1, n) for n in axis.covered(count_include_pad)] for axis in axes)
    return rows, columns


def _avg_pool2d(xp: Any, input: Any, *, count_include_pad: bool, **parameters: Any) -> Any:
    shape = (
        *(parameters["batch_size"], parameters["input_height"]),
        *(parameters["input_width"], parameters["channels"]),
    )
    axes = window_axes(parameters)
    image = xp.pad(xp.reshape(input, shape), ((0, 0), *(axis.margin for axis in axes), (0, 0)))
    total: Any = 0
    height, width = axes
    for top in range(0, height.reach, height.dilation):
        rows = slice(top, top + (height.positions - 1) * height.stride + 1, height.stride)
        for left in range(0, width.reach, width.dilation):
            columns = slice(left, left + (width.positions - 1) * width.stride + 1, width.stride)
            total = total + image[:, rows, columns]
    by_row, by_column = (xp.asarray(n) for n in window_counts(axes, count_include_pad))
    return total / (by_row[:, None, None] * by_column[:, None])


_WINDOW = (
    *("kernel_height", "kernel_width", "stride_height", "stride_width"),
    *("dilation_height", "dilation_width"),
)
_POOLING_IMAGE = ("batch_size", "input_height", "input_width", "channels")
_PADDING = ("padding_left", "padding_right", "padding_top", "padding_bottom")
_MODES = (
    Parameter(
        name="ceil_mode", kind=Kind.BOOL, doc="Round the number of positions up instead of down."
    ),
    Parameter(
        name="count_include_pad",
        kind=Kind.BOOL,
        doc="Divide by the number of elements with padding instead of those of the image.",
    ),
)


def _pooling_parameters(*names: str) -> tuple[Parameter, ...]:
    return tuple(Parameter(name=name, kind=Kind.SI32) for name in names)


POOLING_DEFINITIONS = (
    OpDefinition(
        mnemonic="pooling",
        summary="Combination of the elements under each position of a window over all dimensions.",
        family=Family.WINDOW,
        operands=(Operand(name="input"),),
        parameters=(
            Parameter(name="pooling_method", kind=Kind.STRING, doc=f"One of {', '.join(METHODS)}."),
            *(
                Parameter(name=name, kind=Kind.DENSE_I64, doc=doc)
                for name, doc in (
                    ("window_dimensions", "Extents of the window."),
                    ("window_strides", "Distances of its positions."),
                    ("base_dilations", "Distances of the input's elements."),
                    ("window_dilations", "Distances of the elements under the window."),
                    ("padding", "Padding below and above, two entries per dimension."),
                )
            ),
        ),
        reference=_pooling,
        result_shape=pooled_shape,
        in_ttnn=False,
        flatbuffer=None,
        since=_SINCE,
    ),
    OpDefinition(
        mnemonic="avg_pool2d",
        summary="Average under each position of a window.",
        formula="output[n, y, x, c] = sum over i, j of "
        "input[n, y*sh + i*dh - pt, x*sw + j*dw - pl, c] / number of elements",
        family=Family.WINDOW,
        operands=(Operand(name="input"),),
        parameters=(*_pooling_parameters(*_POOLING_IMAGE, *_WINDOW, *_PADDING), *_MODES),
        ttir_parameters=(*_pooling_parameters(*_WINDOW, *_PADDING), *_MODES),
        reference=_avg_pool2d,
        result_shape=avg_pool2d_shape,
        device=True,
        ttnn_parameters=image_parameters,
        flatbuffer=Flatbuffer(
            table="AvgPool2dOp",
            fields=(
                ("in", "input"),
                ("out", "output"),
                ("device", "device"),
                *((name, name) for name in (*_POOLING_IMAGE, *_WINDOW, *_PADDING)),
                ("ceil_mode", "ceil_mode"),
                ("count_include_pad", "count_include_pad"),
            ),
        ),
        since=_SINCE,
    ),
)


# --- Window ---------------------------------------------------------------------------------------

DEFINITIONS = (*IMAGE_DEFINITIONS, *CONVOLUTION_DEFINITIONS, *POOLING_DEFINITIONS)
