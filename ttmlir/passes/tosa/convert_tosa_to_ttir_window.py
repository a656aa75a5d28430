"""Rules of tosa's convolutions and pools, for `convert-tosa-to-ttir`."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Operation, SSAValue

from ttmlir.ir.builder import Builder
from ttmlir.ir.rewriting import refuse_to_legalize, replace
from ttmlir.ir.tensor_types import element_type, value_shape
from ttmlir.passes.core.ttir_conversion import ConversionRule
from ttmlir.passes.tosa.tosa_operands import check_nan_mode, check_zero_points, numbers


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


RULES: dict[str, ConversionRule] = {
    "tosa.avg_pool2d": _pool("avg_pool2d"),
    "tosa.conv2d": _conv("0, 1"),
    "tosa.conv3d": _conv("0, 1, 2"),
    "tosa.depthwise_conv2d": _depthwise_conv2d,
    "tosa.max_pool2d": _pool("max_pool2d"),
    "tosa.transpose_conv2d": _transpose_conv2d,
}
"""Rules by the full name of the operation."""
