"""What becomes of the operations of tosa that move, reduce and multiply whole tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import IntegerType, TensorType
from xdsl.ir import Attribute, Operation, SSAValue

from ttmlir.dialects.tosa.attrs import ZeroPointsAttr, mode_word
from ttmlir.ir.builder import Builder
from ttmlir.ir.constants import constant_numbers
from ttmlir.ir.rewriting import refuse_to_legalize, replace
from ttmlir.ir.tensor_types import check_static_shape, element_type, value_shape
from ttmlir.optable import named_in
from ttmlir.optable.row import Family
from ttmlir.passes.core.ttir_conversion import ConversionRule
from ttmlir.passes.tosa.tosa_shapes import number, numbers


def check_zero_points(op: Operation, first: int) -> None:
    """Refuse zero points other than 0, in `quantization_info` or in operands from `first` on."""
    info = op.properties.get("quantization_info")
    if isinstance(info, ZeroPointsAttr):
        values: list[float] = [value.data for value in info.values.data]
    else:
        values = []
    for operand in op.operands[first:]:
        found = constant_numbers(operand)
        if found is None:
            refuse_to_legalize(op, "its zero points are computed; supported are constants of 0")
        values += found
    if any(values):
        refuse_to_legalize(
            op,
            f"its zero points are {values}; supported are zero points of 0, on numbers that "
            "are not quantized",
        )


def check_nan_mode(op: Operation) -> None:
    """Refuse to ignore NaN."""
    if mode_word(op.properties.get("nan_mode"), "PROPAGATE") != "PROPAGATE":
        refuse_to_legalize(op, "it ignores NaN; supported is nan_mode = PROPAGATE")


def _shape(op: Operation, type: Attribute) -> tuple[int, ...]:
    check_static_shape(op, type)
    return cast("TensorType[Attribute]", type).get_shape()


def _result_shape(op: Operation) -> tuple[int, ...]:
    return _shape(op, op.results[0].type)


def _reshape(op: Operation) -> None:
    builder = Builder.before(op)
    shape = _result_shape(op)
    replace(op, builder.create("reshape", op.operands[:1], op.results[0].type, shape=shape))


def _transpose(op: Operation) -> None:
    builder = Builder.before(op)
    replace(op, builder.permute(op.operands[0], numbers(op, "perms", 1)))


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


def _slice(op: Operation) -> None:
    builder = Builder.before(op)
    starts = numbers(op, "start", 1)
    ends = [start + size for start, size in zip(starts, _result_shape(op), strict=True)]
    replace(op, builder.slice(op.operands[0], starts, ends))


def _tile(op: Operation) -> None:
    builder = Builder.before(op)
    result, source = _result_shape(op), _shape(op, op.operands[0].type)
    counts = tuple(to // max(1, of) for to, of in zip(result, source, strict=True))
    replace(
        op,
        builder.create("repeat", op.operands[:1], op.results[0].type, repeat_dimensions=counts),
    )


def _reverse(op: Operation) -> None:
    builder = Builder.before(op)
    dims = (number(op, "axis"),)
    replace(op, builder.create("reverse", op.operands, op.results[0].type, dimensions=dims))


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


def _matmul(op: Operation) -> None:
    builder = Builder.before(op)
    check_zero_points(op, 2)
    element = element_type(op.results[0])
    factors = [_widen(op, factor, element) for factor in op.operands[:2]]
    replace(op, builder.create("matmul", factors, op.results[0].type))


def _widen(op: Operation, factor: SSAValue, element: Attribute) -> SSAValue:
    builder = Builder.before(op)
    check_static_shape(op, factor.type)
    return builder.cast(factor, element)


def _fully_connected(op: Operation) -> None:
    builder = Builder.before(op)
    check_zero_points(op, 3)
    element = element_type(op.results[0])
    image, weight, bias = (_widen(op, value, element) for value in op.operands)
    product = builder.create("matmul", [image, builder.permute(weight, (1, 0))], op.results[0].type)
    replace(op, builder.create("add", [product, bias], op.results[0].type))


def _gather(op: Operation) -> None:
    builder = Builder.before(op)
    shape = _shape(op, op.operands[1].type)
    index = builder.reshape(op.operands[1], (*shape, 1))
    replace(op, builder.create("gather", [op.operands[0], index], op.results[0].type, dim=1))


def _scatter(op: Operation) -> None:
    builder = Builder.before(op)
    values, indices, source = op.operands
    index = builder.reshape(indices, (*_shape(op, indices.type), 1))
    replace(op, builder.create("scatter", [values, index, source], op.results[0].type, dim=1))


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
        _widen(op, value, element) for value in (op.operands[0], weight, op.operands[2])
    )
    features = _result_shape(op)[-1]
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
    height, width, channels, multiplier = _shape(op, op.operands[1].type)
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
    _, height, width, _ = _shape(op, op.operands[1].type)
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


RULES: dict[str, ConversionRule] = {
    **{
        name: _reduction(row.mnemonic)
        for name, row in named_in("tosa").items()
        if row.family is Family.REDUCTION
    },
    "tosa.argmax": _argmax,
    "tosa.avg_pool2d": _pool("avg_pool2d"),
    "tosa.concat": _concat,
    "tosa.conv2d": _conv("0, 1"),
    "tosa.conv3d": _conv("0, 1, 2"),
    "tosa.depthwise_conv2d": _depthwise_conv2d,
    "tosa.fully_connected": _fully_connected,
    "tosa.gather": _gather,
    "tosa.matmul": _matmul,
    "tosa.max_pool2d": _pool("max_pool2d"),
    "tosa.pad": _pad,
    "tosa.reshape": _reshape,
    "tosa.reverse": _reverse,
    "tosa.scatter": _scatter,
    "tosa.slice": _slice,
    "tosa.tile": _tile,
    "tosa.transpose": _transpose,
    "tosa.transpose_conv2d": _transpose_conv2d,
}
"""What becomes of each operation."""
