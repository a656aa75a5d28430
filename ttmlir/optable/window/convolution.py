"""Convolutions of every form, and the transposed convolution of images.

`ttir.convolution` is the general form: any number of spatial dimensions in any order, padding of
each side (negative padding cuts off), dilation of input and weight, groups of features and of
batches. It never reaches ttnn: `ttir-decomposition` turns it into `ttir.conv2d`,
`ttir.conv_transpose2d` and movements of elements. Its `dimension_numbers` are StableHLO's text:

    [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]

is an image of batch, height, width, features, a weight of height, width, input features, output
features, and an output like the image. The optional bias has an element for each output feature.

`ttir.conv_transpose2d` takes NHWC images and a weight of input channels, output channels of a
group, height, width; the weight is not reversed (as in torch).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ttmlir.optable.row import Family, Flatbuffer, Kind, Operand, Parameter, Row, Shape
from ttmlir.optable.shapes import require, spell_shape
from ttmlir.optable.window.axes import WindowAxis, image_parameters, image_shape

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
            raise ValueError(_MALFORMED.format(text=text))
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
        raise ValueError(_MALFORMED.format(text=text))
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
    require(
        batch % batches == 0,
        f"a batch of {batch} cannot be split into {batches} groups",
    )
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
        matrix = xp.reshape(patches, (-1, inner * _product(weight.shape[2:])))
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


def _product(extents: Sequence[int]) -> int:
    result = 1
    for extent in extents:
        result *= extent
    return result


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
        bias is None or _product(bias) == outer,
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

_OPERANDS = (
    Operand(name="input"),
    Operand(name="weight"),
    Operand(name="bias", optional=True),
)

ROWS = (
    Row(
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
    Row(
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
