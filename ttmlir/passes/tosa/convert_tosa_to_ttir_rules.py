"""Rules of tosa's operations, for `convert-tosa-to-ttir`.

Most elementwise operations mean what one row of the operation table means; here are those that
depend on an attribute or the element type.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import AnyFloat, FloatAttr, IntegerAttr, IntegerType, i1
from xdsl.ir import Attribute, Operation, SSAValue

from ttmlir.ir.builder import Builder
from ttmlir.ir.constants import constant_numbers
from ttmlir.ir.rewriting import refuse_to_legalize, replace
from ttmlir.ir.tensor_types import check_static_shape, element_type, limits_of, value_shape
from ttmlir.mlir.attributes import exact_float32
from ttmlir.optable import named_in
from ttmlir.optable.row import Family, Row
from ttmlir.passes.core.ttir_conversion import ConversionRule, becomes
from ttmlir.passes.tosa.tosa_operands import check_nan_mode, check_zero_points, number, numbers


def _elementwise(row: Row) -> ConversionRule:
    """The rule of an operation that means what a row means."""
    convert = becomes(row.mnemonic)

    def rule(op: Operation) -> None:
        check_nan_mode(op)
        # tosa lets operations on bits pass on floating point numbers.
        element = element_type(op.operands[0])
        if row.takes_bits and not isinstance(element, IntegerType):
            refuse_to_legalize(
                op, f"its operands are {element}, but operations on bits take integers"
            )
        convert(op)

    return rule


def _cast(op: Operation) -> None:
    builder = Builder.before(op)
    source, target = element_type(op.operands[0]), element_type(op.results[0])
    operands = list(op.operands)
    if isinstance(source, AnyFloat) and isinstance(target, IntegerType) and target != i1:
        # A typecast rounds toward zero, a cast to the nearest integer.
        operands = [builder.create("round", operands, operands[0].type)]
    replace(op, builder.create("typecast", operands, op.results[0].type))


def _clamp(op: Operation) -> None:
    builder = Builder.before(op)
    check_nan_mode(op)
    element = element_type(op.operands[0])
    later = "min_val" in op.properties
    if isinstance(element, IntegerType):
        names = ("min_val", "max_val") if later else ("min_int", "max_int")
        low, high = _integer_bounds(op, names)
    else:
        names = ("min_val", "max_val") if later else ("min_fp", "max_fp")
        low, high = (_bound(op, name, _number(op, name)) for name in names)
    replace(op, builder.create("clamp", op.operands, op.results[0].type, min=low, max=high))


def _integer_bounds(op: Operation, names: tuple[str, str]) -> tuple[float, float]:
    lowest, highest = limits_of(element_type(op.operands[0]))
    low, high = (_number(op, name) for name in names)
    # f32 does not hold the largest 32-bit integer, but the next number, which bounds as well.
    high = highest + 1 if high >= highest else high
    return _bound(op, names[0], max(low, lowest)), _bound(op, names[1], high)


def _number(op: Operation, name: str) -> float:
    return cast("FloatAttr | IntegerAttr", op.properties[name]).value.data


def _bound(op: Operation, name: str, value: float) -> float:
    bound = exact_float32(value)
    if bound is None:
        refuse_to_legalize(
            op, f"{name} is {value}, but the bounds of ttir.clamp are numbers that f32 holds"
        )
    return bound


def _mul(op: Operation) -> None:
    builder = Builder.before(op)
    shift = (_number(op, "shift"),) if "shift" in op.properties else _constant_shift(op)
    if any(shift):
        refuse_to_legalize(
            op, f"it shifts the product by {int(shift[0])} bits; supported is a shift of 0"
        )
    # tosa multiplies narrow integers to wide ones.
    element = element_type(op.results[0])
    factors = [_widen(op, factor, element) for factor in op.operands[:2]]
    replace(op, builder.create("multiply", factors, op.results[0].type))


def _constant_shift(op: Operation) -> tuple[float, ...]:
    shift = constant_numbers(op.operands[2])
    if shift is None:
        refuse_to_legalize(op, "it shifts the product by a computed number; supported is 0")
    return shift


def _widen(op: Operation, factor: SSAValue, element: Attribute) -> SSAValue:
    """An operand of `op`, converted to an element type."""
    builder = Builder.before(op)
    check_static_shape(op, factor.type)
    return builder.cast(factor, element)


def _negate(op: Operation) -> None:
    builder = Builder.before(op)
    check_zero_points(op, 1)
    replace(op, builder.create("neg", op.operands[:1], op.results[0].type))


def _right_shift(op: Operation) -> None:
    builder = Builder.before(op)
    if cast("IntegerAttr", op.properties["round"]).value.data:
        refuse_to_legalize(op, "it rounds; supported is round = false")
    replace(op, builder.create("right_shift", op.operands, op.results[0].type))


# -- movement ----------------------------------------------------------------------------------


def _concat(op: Operation) -> None:
    builder = Builder.before(op)
    replace(
        op,
        builder.create("concat", op.operands, op.results[0].type, dim=number(op, "axis")),
    )


def _pad(op: Operation) -> None:
    builder = Builder.before(op)
    check_zero_points(op, len(op.operands))
    fill = 0.0
    if len(op.operands) > 2:
        given = constant_numbers(op.operands[2])
        if given is None:
            refuse_to_legalize(op, "what it pads with is computed; supported are constants")
        fill = float(given[0])
    padding = numbers(op, "padding", 1)
    replace(
        op, builder.create("pad", op.operands[:1], op.results[0].type, padding=padding, value=fill)
    )


def _reshape(op: Operation) -> None:
    builder = Builder.before(op)
    shape = value_shape(op.results[0])
    replace(op, builder.create("reshape", op.operands[:1], op.results[0].type, shape=shape))


def _reverse(op: Operation) -> None:
    builder = Builder.before(op)
    dims = (number(op, "axis"),)
    replace(op, builder.create("reverse", op.operands, op.results[0].type, dimensions=dims))


def _slice(op: Operation) -> None:
    builder = Builder.before(op)
    starts = numbers(op, "start", 1)
    ends = [start + size for start, size in zip(starts, value_shape(op.results[0]), strict=True)]
    replace(op, builder.slice(op.operands[0], starts, ends))


def _tile(op: Operation) -> None:
    builder = Builder.before(op)
    result, source = value_shape(op.results[0]), value_shape(op.operands[0])
    counts = tuple(to // max(1, of) for to, of in zip(result, source, strict=True))
    replace(
        op,
        builder.create("repeat", op.operands[:1], op.results[0].type, repeat_dimensions=counts),
    )


def _transpose(op: Operation) -> None:
    builder = Builder.before(op)
    replace(op, builder.permute(op.operands[0], numbers(op, "perms", 1)))


def _identity(op: Operation) -> None:
    replace(op, op.operands[0])


# -- reading and writing by number -------------------------------------------------------------


def _gather(op: Operation) -> None:
    builder = Builder.before(op)
    shape = value_shape(op.operands[1])
    index = builder.reshape(op.operands[1], (*shape, 1))
    replace(op, builder.create("gather", [op.operands[0], index], op.results[0].type, dim=1))


def _scatter(op: Operation) -> None:
    builder = Builder.before(op)
    values, indices, source = op.operands
    index = builder.reshape(indices, (*value_shape(indices), 1))
    replace(op, builder.create("scatter", [values, index, source], op.results[0].type, dim=1))


# -- reductions --------------------------------------------------------------------------------


def _reduction(mnemonic: str) -> ConversionRule:
    def rule(op: Operation) -> None:
        builder = Builder.before(op)
        check_nan_mode(op)
        dims = (number(op, "axis"),)
        replace(
            op,
            builder.create(mnemonic, op.operands, op.results[0].type, keep_dim=True, dim_arg=dims),
        )

    return rule


def _argmax(op: Operation) -> None:
    builder = Builder.before(op)
    check_nan_mode(op)
    dims = (number(op, "axis"),)
    replace(
        op, builder.create("argmax", op.operands, op.results[0].type, keep_dim=False, dim_arg=dims)
    )


# -- convolutions and pools --------------------------------------------------------------------


def _convolution(
    op: Operation,
    weight: SSAValue,
    numbers_: str,
    padding: Sequence[int],
    *,
    groups: int = 1,
    strides: Sequence[int] | None = None,
    holes: Sequence[int] | None = None,
    is_reversed: bool = False,
) -> None:
    """Replace a convolution; `holes` are the distances of the image's elements."""
    builder = Builder.before(op)
    check_zero_points(op, 3)
    count = len(padding) // 2
    dilation = numbers(op, "dilation", -1) if "dilation" in op.properties else (1,) * count
    element = element_type(op.results[0])
    image, kernel, bias = (
        builder.cast(value, element) for value in (op.operands[0], weight, op.operands[2])
    )
    features = value_shape(op.results[0])[-1]
    is_single = value_shape(bias) == (1,) != (features,)
    result = builder.create(
        "convolution",
        [image, kernel] if is_single else [image, kernel, bias],
        op.results[0].type,
        dimension_numbers=numbers_,
        window_strides=tuple(strides or (1,) * count),
        padding=tuple(padding),
        input_dilation=tuple(holes or (1,) * count),
        weight_dilation=tuple(dilation),
        window_reversal=(is_reversed,) * count,
        feature_group_count=groups,
        batch_group_count=1,
    )
    # A bias of one element is the same for all features.
    replace(op, builder.create("add", [result, bias], op.results[0].type) if is_single else result)


def _conv(spatial: str) -> ConversionRule:
    image = f"[b, {spatial}, f]"

    def rule(op: Operation) -> None:
        _convolution(
            op,
            op.operands[1],
            f"{image}x[o, {spatial}, i]->{image}",
            numbers(op, "pad", -1),
            strides=numbers(op, "stride", -1),
        )

    return rule


def _depthwise_conv2d(op: Operation) -> None:
    builder = Builder.before(op)
    height, width, channels, multiplier = value_shape(op.operands[1])
    weight = builder.reshape(op.operands[1], (height, width, 1, channels * multiplier))
    _convolution(
        op,
        weight,
        "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]",
        numbers(op, "pad", -1),
        strides=numbers(op, "stride", -1),
        groups=channels,
    )


def _transpose_conv2d(op: Operation) -> None:
    _, height, width, _ = value_shape(op.operands[1])
    # The image with holes, seen through the weight from back to front: the more is padded, the
    # less the weight reaches over the border.
    top, bottom, left, right = numbers(op, "out_pad", -1)
    _convolution(
        op,
        op.operands[1],
        "[b, 0, 1, f]x[o, 0, 1, i]->[b, 0, 1, f]",
        (height - 1 + top, height - 1 + bottom, width - 1 + left, width - 1 + right),
        holes=numbers(op, "stride", -1),
        is_reversed=True,
    )


def _pool(mnemonic: str) -> ConversionRule:
    def rule(op: Operation) -> None:
        builder = Builder.before(op)
        check_zero_points(op, 1)
        check_nan_mode(op)
        kernel, stride = numbers(op, "kernel", -1), numbers(op, "stride", -1)
        top, bottom, left, right = numbers(op, "pad", -1)
        is_average = mnemonic == "avg_pool2d"
        element = element_type(op.operands[0])
        if is_average and isinstance(element, IntegerType):
            refuse_to_legalize(
                op,
                f"it rounds averages of {element}; supported are averages of floating point "
                "numbers",
            )
        replace(
            op,
            builder.create(
                mnemonic,
                op.operands[:1],
                op.results[0].type,
                kernel_height=kernel[0],
                kernel_width=kernel[1],
                stride_height=stride[0],
                stride_width=stride[1],
                dilation_height=1,
                dilation_width=1,
                ceil_mode=False,
                padding_top=top,
                padding_bottom=bottom,
                padding_left=left,
                padding_right=right,
                **({"count_include_pad": False} if is_average else {}),
            ),
        )

    return rule


# -- products of matrices ----------------------------------------------------------------------


def _matmul(op: Operation) -> None:
    builder = Builder.before(op)
    check_zero_points(op, 2)
    element = element_type(op.results[0])
    factors = [builder.cast(factor, element) for factor in op.operands[:2]]
    replace(op, builder.create("matmul", factors, op.results[0].type))


def _fully_connected(op: Operation) -> None:
    builder = Builder.before(op)
    check_zero_points(op, 3)
    element = element_type(op.results[0])
    image, weight, bias = (builder.cast(value, element) for value in op.operands)
    product = builder.create("matmul", [image, builder.permute(weight, (1, 0))], op.results[0].type)
    replace(op, builder.create("add", [product, bias], op.results[0].type))


# -- constants ---------------------------------------------------------------------------------


def _const(op: Operation) -> None:
    builder = Builder.before(op)
    value = op.properties.get("value", op.properties.get("values"))
    assert value is not None, "a constant has a value"
    replace(op, builder.create_constant(value, op.results[0].type))


def _keep(op: Operation) -> None:
    """Leave an operation until its users are converted."""


ELEMENTWISE: dict[str, ConversionRule] = {
    **{
        name: _elementwise(row)
        for name, row in named_in("tosa").items()
        if row.family.is_elementwise
    },
    "tosa.arithmetic_right_shift": _right_shift,
    "tosa.cast": _cast,
    "tosa.clamp": _clamp,
    "tosa.mul": _mul,
    "tosa.negate": _negate,
}
"""Rules of elementwise operations by their full name."""

RULES: dict[str, ConversionRule] = {
    **ELEMENTWISE,
    "tosa.concat": _concat,
    "tosa.identity": _identity,
    "tosa.pad": _pad,
    "tosa.reshape": _reshape,
    "tosa.reverse": _reverse,
    "tosa.slice": _slice,
    "tosa.tile": _tile,
    "tosa.transpose": _transpose,
    "tosa.gather": _gather,
    "tosa.scatter": _scatter,
    **{
        name: _reduction(row.mnemonic)
        for name, row in named_in("tosa").items()
        if row.family is Family.REDUCTION
    },
    "tosa.argmax": _argmax,
    "tosa.avg_pool2d": _pool("avg_pool2d"),
    "tosa.conv2d": _conv("0, 1"),
    "tosa.conv3d": _conv("0, 1, 2"),
    "tosa.depthwise_conv2d": _depthwise_conv2d,
    "tosa.max_pool2d": _pool("max_pool2d"),
    "tosa.transpose_conv2d": _transpose_conv2d,
    "tosa.fully_connected": _fully_connected,
    "tosa.matmul": _matmul,
    "tosa.const": _const,
    "tosa.const_shape": _keep,
}
"""Rules by the full name of the operation."""
