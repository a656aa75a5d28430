"""Rules of general convolutions and poolings, for `ttir-decomposition`.

A convolution becomes `ttir.conv2d` on an image of batch, height, width and features; dilation of
the input becomes `ttir.conv_transpose2d` where the weight is taken from back to front, and zeros
between the elements elsewhere. A third spatial dimension becomes a sum over the weight's depth.

A pooling becomes `ttir.max_pool2d` and `ttir.avg_pool2d`, two dimensions at a time. What these do
not compute (integers other than maxima, products, truth values) becomes elementwise operations on
slices, one dimension at a time.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeGuard, cast

from xdsl.dialects.builtin import AnyFloat, DenseIntOrFPElementsAttr, TensorType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ttmlir.arrays.array import Array
from ttmlir.composites.windows import iterate_taps, take_tap
from ttmlir.dialects.definition.table_ops import TableOperation
from ttmlir.ir import rewriting
from ttmlir.ir.builder import Builder, TTIRCarrier, array_in
from ttmlir.ir.constants import identity_of, logic_of, splat_number
from ttmlir.ir.rewriting import refuse_to_legalize
from ttmlir.ir.tensor_types import (
    element_type,
    invert_permutation,
    limits_of,
    tensor_like,
    value_shape,
)
from ttmlir.optable import definition
from ttmlir.optable.window import COMBINERS, DimensionNumbers, WindowAxis, method_of
from ttmlir.passes.core.ttir_conversion import ConversionRule, result_dtype

Shape = tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class _Spatial:
    """What a convolution does along one spatial dimension."""

    stride: int = 1
    low: int = 0
    high: int = 0
    input_dilation: int = 1
    weight_dilation: int = 1
    is_reversed: bool = False

    def positions(self, extent: int, kernel: int) -> int:
        """Extent of the output."""
        wide = (extent - 1) * self.input_dilation + 1 + self.low + self.high
        return WindowAxis(
            extent=wide, kernel=kernel, stride=self.stride, dilation=self.weight_dilation
        ).positions


@dataclass(frozen=True)
class _Convolution:
    """A convolution of an image (batch, spatial dimensions, features).

    The weight is (output features, input features, spatial dimensions).
    """

    image: Array
    weight: Array
    bias: Array | None
    spatial: tuple[_Spatial, ...]
    groups: int

    @property
    def kernel(self) -> Shape:
        """Extents of the weight's spatial dimensions."""
        return self.weight.shape[2:]

    @property
    def positions(self) -> Shape:
        """Extents of the output's spatial dimensions."""
        extents = zip(self.spatial, self.image.shape[1:-1], self.kernel, strict=True)
        return tuple(axis.positions(extent, kernel) for axis, extent, kernel in extents)

    @property
    def features(self) -> int:
        """Number of output features."""
        return self.weight.shape[0]


def _convolution(op: Operation) -> None:
    assert isinstance(op, TableOperation)
    parameters: dict[str, Any] = op.parameters()
    numbers = DimensionNumbers.parse(parameters["dimension_numbers"])
    if len(numbers.input.spatial) > 3:
        refuse_to_legalize(
            op,
            f"it has {len(numbers.input.spatial)} spatial dimensions; supported are up to three",
        )
    reversal, weight = _without_reversal(op.operands[1], numbers, parameters["window_reversal"])
    carrier = TTIRCarrier(Builder.before(op))
    given = (op.operands[0], weight, *op.group("bias"))
    image, filters, *bias = (array_in(carrier, each).cast(result_dtype(op)) for each in given)
    low_high = zip(parameters["padding"][::2], parameters["padding"][1::2], strict=True)
    convolution = _Convolution(
        image.permute(numbers.input.feature_last),
        filters.permute((numbers.weight.feature, numbers.weight.first, *numbers.weight.spatial)),
        bias[0] if bias else None,
        tuple(
            _Spatial(
                stride=stride,
                low=low,
                high=high,
                input_dilation=input_dilation,
                weight_dilation=weight_dilation,
                is_reversed=is_reversed,
            )
            for stride, (low, high), input_dilation, weight_dilation, is_reversed in zip(
                parameters["window_strides"],
                low_high,
                parameters["input_dilation"],
                parameters["weight_dilation"],
                reversal,
                strict=True,
            )
        ),
        parameters["feature_group_count"],
    )
    if (batches := parameters["batch_group_count"]) > 1:
        convolution = _with_features_of_batches(convolution, batches)
    result = _convolve(convolution)
    reverse = op.operands[1].owner
    rewriting.replace(op, result.permute(invert_permutation(numbers.output.feature_last)).value)
    if _is_reverse(reverse):
        rewriting.erase_unused([reverse])


def _without_reversal(
    weight: SSAValue, numbers: DimensionNumbers, reversal: Sequence[bool]
) -> tuple[tuple[bool, ...], SSAValue]:
    """The weight before it was reversed, and what remains to reverse.

    Gradients of images reverse the weight on its own.
    """
    owner = weight.owner
    flags = list(reversal)
    if _is_reverse(owner):
        dims = cast("Shape", owner.parameters()["dimensions"])
        if all(dim in numbers.weight.spatial for dim in dims):
            weight = owner.operands[0]
            for dim in dims:
                flags[numbers.weight.spatial.index(dim)] ^= True
    return tuple(flags), weight


def _is_reverse(owner: Operation | Block) -> TypeGuard[TableOperation]:
    return isinstance(owner, TableOperation) and owner.DEFINITION.mnemonic == "reverse"


def _with_features_of_batches(c: _Convolution, groups: int) -> _Convolution:
    """Groups of the batch side by side as groups of features."""
    batch, *extents, features = c.image.shape
    part, pixels = batch // groups, math.prod(extents)
    beside = c.image.reshape((groups, part, pixels, features)).permute((1, 2, 0, 3))
    return replace(c, image=beside.reshape((part, *extents, groups * features)), groups=groups)


def _convolve(c: _Convolution) -> Array:
    """The output (batch, spatial dimensions, features) of a convolution."""
    if len(c.spatial) > 2:
        return _sum_over_depth(c)
    batch, *extents, features = c.image.shape
    ones = (1,) * (2 - len(c.spatial))
    image = replace(
        c,
        image=c.image.reshape((batch, *ones, *extents, features)),
        weight=c.weight.reshape((*c.weight.shape[:2], *ones, *c.kernel)),
        spatial=(*(_Spatial() for _ in ones), *c.spatial),
    )
    return _convolve_image(image).reshape((batch, *c.positions, c.features))


def _sum_over_depth(c: _Convolution) -> Array:
    """Convolutions of the images at each depth of the weight, added up."""
    first, *rest = c.spatial
    depth, *_ = c.kernel
    positions, *_ = c.positions
    image = c.image.dilate(1, first.input_dilation, 0.0)
    margins = [(0, 0)] * image.rank
    margins[1] = (first.low, first.high)
    image = image.pad(margins, 0.0)
    batch, _, *extents = image.shape
    result: Array | None = None
    for number in range(depth):
        begin = number * first.weight_dilation
        part = image.cut(1, begin, begin + (positions - 1) * first.stride + 1, first.stride)
        layer = depth - 1 - number if first.is_reversed else number
        term = _convolve(
            replace(
                c,
                image=part.reshape((batch * positions, *extents)),
                weight=c.weight.cut(2, layer, layer + 1).squeeze(2),
                bias=None if number else c.bias,
                spatial=tuple(rest),
            )
        )
        result = term if result is None else result + term
    assert result is not None, "verified: the kernel is not empty"
    return result.reshape((batch, positions, *result.shape[1:]))


def _convolve_image(c: _Convolution) -> Array:
    """The output of a convolution with two spatial dimensions."""
    shape = c.image.shape[0], *c.positions, c.features
    bias = [] if c.bias is None else [c.bias.reshape((1, 1, 1, c.features))]
    height, width = c.spatial
    parameters = {
        "dilation_height": height.weight_dilation,
        "dilation_width": width.weight_dilation,
        "groups": c.groups,
    }
    if (paddings := _transposed_padding(c)) is not None:
        parameters |= {
            "stride_height": height.input_dilation,
            "stride_width": width.input_dilation,
            **paddings,
        }
        operands = [_transposed_weight(c), *bias]
        return c.image.create("conv_transpose2d", *operands, shape=shape, parameters=parameters)
    image, weight = c.image, c.weight
    for dim, axis in enumerate(c.spatial, 1):
        image = image.dilate(dim, axis.input_dilation, 0.0)
    backward = tuple(dim for dim, axis in enumerate(c.spatial, 2) if axis.is_reversed)
    if backward:
        weight = weight.create("reverse", parameters={"dimensions": backward})
    # What the window does not see is cut off; padding proper is the convolution's own.
    cuts = [(min(axis.low, 0), min(axis.high, 0)) for axis in c.spatial]
    image = image.pad([(0, 0), *cuts, (0, 0)], 0.0)
    parameters |= {
        "stride_height": height.stride,
        "stride_width": width.stride,
        "padding_top": max(height.low, 0),
        "padding_bottom": max(height.high, 0),
        "padding_left": max(width.low, 0),
        "padding_right": max(width.high, 0),
    }
    return image.create("conv2d", weight, *bias, shape=shape, parameters=parameters)


def _transposed_padding(c: _Convolution) -> dict[str, int] | None:
    """Padding of the transposed convolution that computes the same; None if there is none."""
    if all(axis.input_dilation == 1 for axis in c.spatial):
        return None
    result: dict[str, int] = {}
    sides = (("height", "top", "bottom"), ("width", "left", "right"))
    for axis, kernel, (name, low, high) in zip(c.spatial, c.kernel, sides, strict=True):
        reach = axis.weight_dilation * (kernel - 1)
        front, back = reach - axis.low, reach - axis.high
        is_backward = axis.is_reversed or kernel == 1
        if axis.stride != 1 or not is_backward or front < 0 or -back >= axis.input_dilation:
            return None
        result[f"padding_{low}"] = front
        result[f"padding_{high}"] = max(back, 0)
        result[f"output_padding_{name}"] = max(-back, 0)
    return result


def _transposed_weight(c: _Convolution) -> Array:
    """The weight as (input features of all groups, output features of a group, height, width)."""
    outer, inner, *kernel = c.weight.shape
    if c.groups == 1:
        return c.weight.permute((1, 0, 2, 3))
    part = outer // c.groups
    apart = c.weight.reshape((c.groups, part, inner, math.prod(kernel)))
    return apart.permute((0, 2, 1, 3)).reshape((c.groups * inner, part, *kernel))


# -- pooling ---------------------------------------------------------------------------------------


def _pooling(op: Operation) -> None:
    builder = Builder.before(op)
    assert isinstance(op, TableOperation)
    parameters: dict[str, Any] = op.parameters()
    value, method = op.operands[0], cast("str", parameters["pooling_method"])
    element = element_type(value)
    fill = 0.0
    if method in COMBINERS:
        combining = definition(COMBINERS[method])
        if method in ("max", "min"):
            combining = logic_of(combining, element)
        method = method_of(combining) or method
        fill = float(identity_of(combining, element) or 0)
    for dim, step in enumerate(parameters["base_dilations"]):
        value = builder.dilate(value, dim, step, fill)
    padding = parameters["padding"]
    pairs = list(zip(padding[::2], padding[1::2], strict=True))
    cuts = [(min(low, 0), min(high, 0)) for low, high in pairs]
    value = builder.pad(value, cuts, fill)
    axes = [
        WindowAxis(
            extent=extent,
            kernel=parameters["window_dimensions"][dim],
            stride=parameters["window_strides"][dim],
            dilation=parameters["window_dilations"][dim],
            low=max(pairs[dim][0], 0),
            high=max(pairs[dim][1], 0),
        )
        for dim, extent in enumerate(value_shape(value))
    ]
    active = [
        dim for dim, axis in enumerate(axes) if axis != WindowAxis(extent=axis.extent, kernel=1)
    ]
    is_float = isinstance(element, AnyFloat)
    division = _division(op, axes) if is_float and method == "sum" else None
    if division is not None:
        value = _pool_in_pairs(builder, value, "average", axes, active)
        rewriting.replace(division, value)
        rewriting.erase(op)
        return
    if method == "sum" and (dim := _running(axes, active)) is not None:
        value = _running_sum(builder, value, dim, axes[dim])
    elif method == "min" and is_float:
        value = builder.create("neg", [value], value.type)
        value = _pool_in_pairs(builder, value, "max", axes, active)
        value = builder.create("neg", [value], value.type)
    elif method == "max" or (is_float and method in ("sum", "average")):
        value = _pool_in_pairs(builder, value, method, axes, active)
    else:
        value = _combine_along(op, value, method, axes, active, fill)
    rewriting.replace(op, value)


def _division(op: Operation, axes: Sequence[WindowAxis]) -> Operation | None:
    """The division of sums by the size of the window, if it is their only use."""
    result = op.results[0]
    use = result.get_user_of_unique_use()
    if use is None or use.name != "ttir.div" or use.operands[0] is not result:
        return None
    is_mean = splat_number(use.operands[1]) == math.prod(axis.kernel for axis in axes)
    return use if is_mean and use.results[0].type == result.type else None


def _running(axes: Sequence[WindowAxis], active: Sequence[int]) -> int | None:
    """The dimension along which the window takes all elements from one end on; None if none."""
    if len(active) != 1:
        return None
    (dim,) = active
    axis = axes[dim]
    is_whole = axis.kernel >= axis.extent > 1 and axis.stride == axis.dilation == 1
    reach = axis.kernel - 1
    return dim if is_whole and (axis.low, axis.high) in ((reach, 0), (0, reach)) else None


def _running_sum(builder: Builder, value: SSAValue, dim: int, axis: WindowAxis) -> SSAValue:
    """Sums of all elements up to each one, or from each one on."""
    if axis.low:
        return builder.create("cumsum", [value], value.type, dim=dim)
    value = builder.create("reverse", [value], value.type, dimensions=(dim,))
    value = builder.create("cumsum", [value], value.type, dim=dim)
    return builder.create("reverse", [value], value.type, dimensions=(dim,))


def _pool_in_pairs(
    builder: Builder,
    value: SSAValue,
    method: str,
    axes: Sequence[WindowAxis],
    active: Sequence[int],
) -> SSAValue:
    """The pooling of a tensor of any rank by poolings of images, two dimensions at a time."""
    for number in range(0, len(active), 2):
        value = _pool_image(builder, value, method, axes, active[number : number + 2])
    count = math.prod(axes[dim].kernel for dim in active)
    if method != "sum" or count == 1:
        return value
    factor_type = TensorType(element_type(value), [1] * len(axes))
    # Averages of windows of one size are sums but for a factor.
    factor = builder.create_constant(_splat(factor_type, count), factor_type)
    return builder.create("multiply", [value, factor], value.type)


def _splat(type_: TensorType[Attribute], value: float) -> Attribute:
    return DenseIntOrFPElementsAttr.from_list(cast("Any", type_), [value])


def _pool_image(
    builder: Builder, value: SSAValue, method: str, axes: Sequence[WindowAxis], dims: Sequence[int]
) -> SSAValue:
    """The pooling along one or two dimensions."""
    shape = value_shape(value)
    others = [dim for dim in range(len(shape)) if dim not in dims]
    # Channels are what follows the window's dimensions, or else the last of the others.
    channels = [dim for dim in others if dim > dims[0]] or others[-1:]
    batches = [dim for dim in others if dim not in channels]
    order = (*batches, *dims, *channels)
    image = builder.permute(value, order)
    sides = (*(axes[dim] for dim in dims), *(WindowAxis(extent=1, kernel=1),) * (2 - len(dims)))
    batch = math.prod(shape[dim] for dim in batches)
    features = math.prod(shape[dim] for dim in channels)
    height, width = sides
    image = builder.reshape(image, (batch, height.extent, width.extent, features))
    if method == "max" and any(axis.kernel > axis.extent for axis in sides):
        margins = [(axis.low, axis.high) for axis in sides]
        image = builder.pad(image, [(0, 0), *margins, (0, 0)], limits_of(element_type(value))[0])
        height, width = (
            WindowAxis(
                extent=axis.low + axis.extent + axis.high,
                kernel=axis.kernel,
                stride=axis.stride,
                dilation=axis.dilation,
            )
            for axis in sides
        )
    average = {} if method == "max" else {"count_include_pad": True}
    pooled = builder.create(
        "max_pool2d" if method == "max" else "avg_pool2d",
        [image],
        tensor_like(value, (batch, height.positions, width.positions, features)),
        kernel_height=height.kernel,
        kernel_width=width.kernel,
        stride_height=height.stride,
        stride_width=width.stride,
        dilation_height=height.dilation,
        dilation_width=width.dilation,
        padding_top=height.low,
        padding_bottom=height.high,
        padding_left=width.low,
        padding_right=width.high,
        ceil_mode=False,
        **average,
    )
    extents = {dim: axes[dim].positions for dim in dims}
    result = builder.reshape(pooled, [extents.get(dim, shape[dim]) for dim in order])
    return builder.permute(result, invert_permutation(order))


def _combine_along(
    op: Operation,
    value: SSAValue,
    method: str,
    axes: Sequence[WindowAxis],
    active: Sequence[int],
    fill: float,
) -> SSAValue:
    """The pooling as elementwise operations on what the window's elements meet."""
    builder = Builder.before(op)
    if method not in COMBINERS:
        refuse_to_legalize(
            op,
            f"it takes the {method} of {element_type(value)}; supported are floating point types",
        )
    x = array_in(builder, value)
    for dim in active:
        window = [
            axes[dim] if i == dim else WindowAxis(extent=n, kernel=1) for i, n in enumerate(x.shape)
        ]
        wide = x.pad([axis.margin for axis in window], fill)
        x, *others = (take_tap(wide, tap, window) for tap in iterate_taps(window))
        for tap in others:
            x = x.apply(COMBINERS[method], tap)
    return x.value


# -- tensors without elements ----------------------------------------------------------------------


def _of_nothing(op: Operation) -> None:
    """Windows that see no element give what a sum or a maximum starts from, and the bias."""
    assert isinstance(op, TableOperation)
    builder = Builder.before(op)
    type_ = cast("TensorType[Attribute]", op.results[0].type)
    parameters = op.parameters()
    method = cast("str", parameters.get("pooling_method", ""))
    if op.DEFINITION.mnemonic == "max_pool2d":
        method = "max"
    combining = definition(COMBINERS[method]) if method in COMBINERS else None
    start = None if combining is None else identity_of(combining, type_.element_type)
    value = builder.create_splat(start or 0, type_)
    has_bias = "bias" in {operand.name for operand in op.DEFINITION.operands}
    bias: Sequence[SSAValue] = op.group("bias") if has_bias else ()
    if bias and 0 not in type_.get_shape():
        shape = [1] * len(type_.get_shape())
        dim = -1
        if op.DEFINITION.mnemonic == "convolution":
            text = cast("str", parameters["dimension_numbers"])
            dim = DimensionNumbers.parse(text).output.feature
        shape[dim] = math.prod(value_shape(bias[0]))
        beside = builder.cast(builder.reshape(bias[0], shape), type_.element_type)
        value = builder.create("add", [value, beside], type_)
    rewriting.replace(op, value)


RULES: dict[str, ConversionRule] = {
    "empty": _of_nothing,
    "ttir.convolution": _convolution,
    "ttir.pooling": _pooling,
}
"""Rules by the full name of the operation; "empty" is that of tensors without elements."""
