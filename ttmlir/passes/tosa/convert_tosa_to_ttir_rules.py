"""What the operations of tosa compute, on arrays, for `convert-tosa-to-ttir` and the interpreter.

Most elementwise operations mean what one definition of the operation table means; here are those
that depend on an attribute or the element type, those that move elements, and those on windows.

Source: the TOSA specification, version 1.0.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import cast

from xdsl.dialects.builtin import FloatAttr, IntegerAttr
from xdsl.ir import Operation

from ttmlir.arrays.array import Array
from ttmlir.dialects.definition.table_ops import int_property
from ttmlir.ir.builder import Builder
from ttmlir.ir.constants import constant_numbers
from ttmlir.ir.rewriting import refuse_to_legalize, replace
from ttmlir.ir.tensor_types import element_type, limits_of, value_shape
from ttmlir.mlir.attributes import exact_float32
from ttmlir.optable import named_in
from ttmlir.optable.op_definition import Family, OpDefinition
from ttmlir.passes.core.ttir_conversion import (
    ArrayFunction,
    ConversionRule,
    computes,
    create_result,
    means,
    result_dtype,
)
from ttmlir.passes.tosa.tosa_operands import check_nan_mode, check_zero_points, numbers
from ttmlir.passes.tosa.tosa_quantized import FUNCTIONS as QUANTIZED


def _elementwise(definition: OpDefinition) -> ArrayFunction:
    """The function of an operation that means what a definition means."""
    compute = means(definition)

    def function(op: Operation, *operands: Array) -> Array:
        check_nan_mode(op)
        # tosa lets operations on bits pass on floating point numbers.
        if definition.takes_bits and operands[0].is_real:
            refuse_to_legalize(
                op, f"its operands are {operands[0].dtype}, but operations on bits take integers"
            )
        return cast("Array", compute(op, *operands))

    return function


def _cast(op: Operation, x: Array) -> Array:
    dtype = result_dtype(op)
    # A typecast rounds toward zero, a cast to the nearest integer.
    is_rounded = x.is_real and "f" not in dtype and dtype != "i1"
    return create_result(op, "typecast", x.round() if is_rounded else x)


def _clamp(op: Operation, x: Array) -> Array:
    check_nan_mode(op)
    names = clamp_names(op)
    low, high = (_number(op, name) for name in names)
    if not x.is_real:
        lowest, highest = limits_of(element_type(op.operands[0]))
        # f32 does not hold the largest 32-bit integer, but the next number, which bounds as well.
        low, high = max(low, lowest), highest + 1 if high >= highest else high
    for name, value in zip(names, (low, high), strict=True):
        if exact_float32(value) is None:
            refuse_to_legalize(
                op, f"{name} is {value}, but the bounds of ttir.clamp are numbers that f32 holds"
            )
    return x.clamp(min=float(low), max=float(high))


def clamp_names(op: Operation) -> tuple[str, str]:
    """The properties that have the bounds of a clamp."""
    is_real = "f" in str(element_type(op.operands[0]))
    kind = "val" if "min_val" in op.properties else "fp" if is_real else "int"
    return f"min_{kind}", f"max_{kind}"


def _number(op: Operation, name: str) -> float:
    return cast("FloatAttr | IntegerAttr", op.properties[name]).value.data


def _mul(op: Operation, a: Array, b: Array, *_: Array) -> Array:
    shift = (_number(op, "shift"),) if "shift" in op.properties else _constant_shift(op)
    if any(shift):
        refuse_to_legalize(
            op, f"it shifts the product by {int(shift[0])} bits; supported is a shift of 0"
        )
    # tosa multiplies narrow integers to wide ones.
    dtype = result_dtype(op)
    return create_result(op, "multiply", a.cast(dtype), b.cast(dtype))


def _constant_shift(op: Operation) -> tuple[float, ...]:
    shift = constant_numbers(op.operands[2])
    if shift is None:
        refuse_to_legalize(op, "it shifts the product by a computed number; supported is 0")
    return shift


def _negate(op: Operation, x: Array, *_: Array) -> Array:
    check_zero_points(op, 1)
    return create_result(op, "neg", x)


def _right_shift(op: Operation, x: Array, amount: Array) -> Array:
    if cast("IntegerAttr", op.properties["round"]).value.data:
        refuse_to_legalize(op, "it rounds; supported is round = false")
    return create_result(op, "right_shift", x, amount)


# -- movement ----------------------------------------------------------------------------------


def _concat(op: Operation, *parts: Array) -> Array:
    return create_result(op, "concat", *parts, dim=int_property(op, "axis"))


def _pad(op: Operation, x: Array, *_: Array) -> Array:
    check_zero_points(op, len(op.operands))
    fill = 0.0
    if len(op.operands) > 2:
        given = constant_numbers(op.operands[2])
        if given is None:
            refuse_to_legalize(op, "what it pads with is computed; supported are constants")
        fill = float(given[0])
    return create_result(op, "pad", x, padding=numbers(op, "padding", 1), value=fill)


def _reshape(op: Operation, x: Array, *_: Array) -> Array:
    return create_result(op, "reshape", x, shape=value_shape(op.results[0]))


def _reverse(op: Operation, x: Array) -> Array:
    return x.reverse(int_property(op, "axis"))


def _slice(op: Operation, x: Array, *_: Array) -> Array:
    starts = numbers(op, "start", 1)
    sizes = value_shape(op.results[0])
    return x.slice(starts, [start + size for start, size in zip(starts, sizes, strict=True)])


def _tile(op: Operation, x: Array, *_: Array) -> Array:
    pairs = zip(value_shape(op.results[0]), x.shape, strict=True)
    counts = tuple(to // max(1, of) for to, of in pairs)
    return create_result(op, "repeat", x, repeat_dimensions=counts)


def _transpose(op: Operation, x: Array, *_: Array) -> Array:
    return x.permute(numbers(op, "perms", 1))


def _identity(op: Operation, x: Array) -> Array:
    return x


# -- reading and writing by number -------------------------------------------------------------


def _gather(op: Operation, x: Array, index: Array) -> Array:
    rows = index.unsqueeze(2).broadcast((*index.shape, x.shape[2]))
    return create_result(op, "gather", x, rows, dim=1)


def _scatter(op: Operation, values: Array, index: Array, source: Array) -> Array:
    return values.scatter(1, index.unsqueeze(2), source)


# -- reductions --------------------------------------------------------------------------------


def _reduction(mnemonic: str, *, keep_dim: bool = True) -> ArrayFunction:
    def function(op: Operation, x: Array) -> Array:
        check_nan_mode(op)
        dims = (int_property(op, "axis"),)
        return create_result(op, mnemonic, x, keep_dim=keep_dim, dim_arg=dims)

    return function


# -- convolutions and pools --------------------------------------------------------------------


def _convolution(
    op: Operation,
    image: Array,
    weight: Array,
    bias: Array,
    dimension_numbers: str,
    padding: Sequence[int],
    *,
    groups: int = 1,
    strides: Sequence[int] | None = None,
    holes: Sequence[int] | None = None,
    is_reversed: bool = False,
) -> Array:
    """A convolution; `holes` are the distances of the image's elements."""
    check_zero_points(op, 3)
    count = len(padding) // 2
    dilation = numbers(op, "dilation", -1) if "dilation" in op.properties else (1,) * count
    image, weight, bias = (each.cast(result_dtype(op)) for each in (image, weight, bias))
    is_single = bias.shape == (1,) != value_shape(op.results[0])[-1:]
    result = create_result(
        op,
        "convolution",
        *((image, weight) if is_single else (image, weight, bias)),
        dimension_numbers=dimension_numbers,
        window_strides=tuple(strides or (1,) * count),
        padding=tuple(padding),
        input_dilation=tuple(holes or (1,) * count),
        weight_dilation=tuple(dilation),
        window_reversal=(is_reversed,) * count,
        feature_group_count=groups,
        batch_group_count=1,
    )
    # A bias of one element is the same for all features.
    return result + bias if is_single else result


def _conv(spatial: str, op: Operation, x: Array, weight: Array, bias: Array, *_: Array) -> Array:
    image = f"[b, {spatial}, f]"
    dims = f"{image}x[o, {spatial}, i]->{image}"
    padding, strides = (numbers(op, name, -1) for name in ("pad", "stride"))
    return _convolution(op, x, weight, bias, dims, padding, strides=strides)


def _depthwise_conv2d(op: Operation, x: Array, weight: Array, bias: Array, *_: Array) -> Array:
    height, width, channels, multiplier = weight.shape
    weight = weight.reshape((height, width, 1, channels * multiplier))
    dims = "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]"
    padding, strides = (numbers(op, name, -1) for name in ("pad", "stride"))
    return _convolution(op, x, weight, bias, dims, padding, strides=strides, groups=channels)


def _transpose_conv2d(op: Operation, x: Array, weight: Array, bias: Array, *_: Array) -> Array:
    height, width = weight.shape[1:3]
    # The image with holes, seen through the weight from back to front: the more is padded, the
    # less the weight reaches over the border.
    top, bottom, left, right = numbers(op, "out_pad", -1)
    dims = "[b, 0, 1, f]x[o, 0, 1, i]->[b, 0, 1, f]"
    padding = (height - 1 + top, height - 1 + bottom, width - 1 + left, width - 1 + right)
    holes = numbers(op, "stride", -1)
    return _convolution(op, x, weight, bias, dims, padding, holes=holes, is_reversed=True)


def _pool(mnemonic: str, op: Operation, x: Array, *_: Array) -> Array:
    check_zero_points(op, 1)
    check_nan_mode(op)
    is_average = mnemonic == "avg_pool2d"
    if is_average and not x.is_real:
        refuse_to_legalize(
            op,
            f"it rounds averages of {x.dtype}; supported are averages of floating point numbers",
        )
    kernel, stride, padding = (numbers(op, name, -1) for name in ("kernel", "stride", "pad"))
    sides = ("top", "bottom", "left", "right")
    return create_result(
        op,
        mnemonic,
        x,
        kernel_height=kernel[0],
        kernel_width=kernel[1],
        stride_height=stride[0],
        stride_width=stride[1],
        dilation_height=1,
        dilation_width=1,
        ceil_mode=False,
        **{f"padding_{side}": count for side, count in zip(sides, padding, strict=True)},
        **({"count_include_pad": False} if is_average else {}),
    )


# -- products of matrices ----------------------------------------------------------------------


def _matmul(op: Operation, a: Array, b: Array, *_: Array) -> Array:
    check_zero_points(op, 2)
    a, b = (each.cast(result_dtype(op)) for each in (a, b))
    return create_result(op, "matmul", a, b)


def _fully_connected(op: Operation, x: Array, weight: Array, bias: Array, *_: Array) -> Array:
    check_zero_points(op, 3)
    x, weight, bias = (each.cast(result_dtype(op)) for each in (x, weight, bias))
    return create_result(op, "matmul", x, weight.transpose()) + bias


# -- constants ---------------------------------------------------------------------------------


def _const(op: Operation) -> None:
    value = op.properties.get("value", op.properties.get("values"))
    assert value is not None, "a constant has a value"
    replace(op, Builder.before(op).create_constant(value, op.results[0].type))


def _keep(op: Operation) -> None:
    """Leave an operation until its users are converted."""


ELEMENTWISE: dict[str, ArrayFunction] = {
    **{
        name: _elementwise(definition)
        for name, definition in named_in("tosa").items()
        if definition.family.is_elementwise
    },
    "tosa.arithmetic_right_shift": _right_shift,
    "tosa.cast": _cast,
    "tosa.clamp": _clamp,
    "tosa.mul": _mul,
    "tosa.negate": _negate,
}
"""Functions of elementwise operations by their full name."""

FUNCTIONS: dict[str, ArrayFunction] = {
    **ELEMENTWISE,
    **QUANTIZED,
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
        name: _reduction(definition.mnemonic)
        for name, definition in named_in("tosa").items()
        if definition.family is Family.REDUCTION
    },
    "tosa.argmax": _reduction("argmax", keep_dim=False),
    "tosa.avg_pool2d": partial(_pool, "avg_pool2d"),
    "tosa.conv2d": partial(_conv, "0, 1"),
    "tosa.conv3d": partial(_conv, "0, 1, 2"),
    "tosa.depthwise_conv2d": _depthwise_conv2d,
    "tosa.max_pool2d": partial(_pool, "max_pool2d"),
    "tosa.transpose_conv2d": _transpose_conv2d,
    "tosa.fully_connected": _fully_connected,
    "tosa.matmul": _matmul,
}
"""Functions by the full name of the operation."""

RULES: dict[str, ConversionRule] = {
    **{name: computes(function) for name, function in FUNCTIONS.items()},
    "tosa.const": _const,
    "tosa.const_shape": _keep,
}
"""Rules by the full name of the operation."""
