"""The bits of numbers: between widths, and rounded to formats that no type has."""

from __future__ import annotations

from functools import reduce
from typing import cast

from xdsl.dialects.builtin import AnyFloat, IntegerType, TensorType, i32
from xdsl.ir import Attribute, Operation, SSAValue

from ttmlir.dialects.stablehlo.text.form import integer
from ttmlir.ir.builder import Builder
from ttmlir.ir.rewriting import replace
from ttmlir.ir.tensor_types import element_type, value_shape
from ttmlir.passes.stablehlo.complex.parts import Arithmetic
from ttmlir.passes.stablehlo.convert_stablehlo_to_ttir_elementwise import OWN_BITS, PRECISIONS
from ttmlir.passes.stablehlo.specification.numbers import Number
from ttmlir.passes.stablehlo.specification.words import WORD, take_words
from ttmlir.passes.stablehlo.specification.writer import Writer

_WIDTHS = (8, 16, 32, 64)


def width_of(element: Attribute) -> int:
    """The bits of a number; 0 for what is none."""
    if isinstance(element, IntegerType):
        return cast("IntegerType", element).width.data
    return 8 * element.size if isinstance(element, AnyFloat) else 0


def is_between_widths(op: Operation) -> bool:
    """True for a bitcast that makes one number of several, or several of one.

    Words of 64 bits stay until all that takes them apart again has been expanded.
    """
    widths = {width_of(element_type(value)) for value in (*op.operands, *op.results)}
    return len(widths) == 2 and widths <= set(_WIDTHS) and not is_of_words(op)


def has_no_type(op: Operation) -> bool:
    """True for rounding to a format that is neither that of a type nor wider than the own one."""
    own = OWN_BITS.get(element_type(op.operands[0]).name)
    asked = integer(op, "exponent_bits"), integer(op, "mantissa_bits")
    if own is None or own > OWN_BITS["f32"] or asked in PRECISIONS:
        return False
    return asked[0] < own[0] or asked[1] < own[1]


def cast_bits(op: Operation) -> None:
    """Take numbers apart into narrower ones along a last dimension, or join those into one."""
    build = Builder.before(op)
    (operand,), (result,) = op.operands, op.results
    source, target = element_type(operand), element_type(result)
    narrow, wide = sorted((width_of(source), width_of(target)))
    if wide == 64:
        _cast_bits_of_words(op, narrow)
        return
    bits = Number(Arithmetic(build), _as_integers(build, operand))
    steps = range(0, wide, narrow)
    if width_of(source) == wide:
        # The sign is kept, as the narrow type has it.
        parts = [
            bits.apply("logical_left_shift", wide_shift).apply("right_shift", 32 - narrow)
            for wide_shift in (32 - narrow - step for step in steps)
        ]
        shape = (*value_shape(operand), 1)
        joined = build.concat([build.reshape(part.value, shape) for part in parts], len(shape) - 1)
    else:
        last = len(value_shape(operand)) - 1
        slices = [
            build.slice_along(bits.value, last, place, place + 1) for place in range(len(steps))
        ]
        shape = value_shape(result)
        numbers = [Number(bits.do, build.reshape(part, shape)) for part in slices]
        mask = (1 << narrow) - 1
        shifted = [
            (number.apply("bitwise_and", mask)).apply("logical_left_shift", step)
            for number, step in zip(numbers, steps, strict=True)
        ]
        joined = reduce(lambda a, b: a.apply("bitwise_or", b), shifted).value
        if wide == 16:
            signed = (
                Number(bits.do, joined).apply("logical_left_shift", 16).apply("right_shift", 16)
            )
            joined = signed.value
    replace(op, _from_integers(build, joined, target))


def _cast_bits_of_words(op: Operation, narrow: int) -> None:
    """Go over words of 32 bits, which stand along a dimension behind that of the numbers."""
    write, build = Writer(op), Builder.before(op)
    (operand,), (result,) = op.operands, op.results
    parts = 32 // narrow
    if width_of(element_type(operand)) == 64:
        words = take_words(build, operand)
        found = write.create("bitcast_convert", (words,), _split(result, parts))
        replace(op, write.create("reshape", (found,), result.type))
        return
    apart = write.create("reshape", (operand,), _split(operand, parts))
    shape = (*value_shape(result), 2)
    words = write.create("bitcast_convert", (apart,), TensorType(WORD, shape))
    replace(op, write.create("bitcast_convert", (words,), result.type))


def _split(value: SSAValue, parts: int) -> TensorType[Attribute]:
    """The type of narrow numbers whose last dimension has two words of so many parts."""
    shape = value_shape(value)[:-1]
    return TensorType(element_type(value), (*shape, 2, *([parts] if parts > 1 else [])))


def is_of_words(op: Operation) -> bool:
    """True for a bitcast that joins words to numbers of 64 bits."""
    widths = [width_of(element_type(each)) for each in (op.operands[0], op.results[0])]
    return widths == [32, 64]


def _as_integers(build: Builder, value: SSAValue) -> SSAValue:
    """The bits of numbers as integers of 32 bits."""
    type_ = TensorType(IntegerType(width_of(element_type(value))), value_shape(value))
    same = value if type_ == value.type else build.create("bitcast_convert", (value,), type_)
    return build.cast(same, i32)


def _from_integers(build: Builder, value: SSAValue, element: Attribute) -> SSAValue:
    bits = build.cast(value, IntegerType(width_of(element)))
    type_ = TensorType(element, value_shape(value))
    return bits if bits.type == type_ else build.create("bitcast_convert", (bits,), type_)


def round_to_format(op: Operation) -> None:
    """Round numbers to so many bits of exponent and mantissa, as XLA does."""
    build = Builder.before(op)
    do = Arithmetic(build)
    exponent_bits, mantissa_bits = integer(op, "exponent_bits"), integer(op, "mantissa_bits")
    x = Number(do, op.operands[0])
    element = element_type(x.value)
    own_exponent_bits, own_mantissa_bits = OWN_BITS[element.name]
    bits = Number(do, _as_integers(build, x.value))
    infinite = ((1 << own_exponent_bits) - 1) << own_mantissa_bits
    if mantissa_bits < own_mantissa_bits:
        lost = own_mantissa_bits - mantissa_bits
        # Half a step less one bit, and one more for an odd last bit: ties go to even.
        last = bits.apply("logical_right_shift", lost).apply("bitwise_and", 1)
        bits = (bits + last + ((1 << (lost - 1)) - 1)).apply("bitwise_and", -1 << lost)
    if exponent_bits < own_exponent_bits:
        bias, own_bias = ((1 << (count - 1)) - 1 for count in (exponent_bits, own_exponent_bits))
        sign = bits.apply("bitwise_and", -1 << (own_exponent_bits + own_mantissa_bits))
        exponent = bits.apply("bitwise_and", infinite)
        infinity = sign.apply("bitwise_or", infinite)
        bits = bits.where(exponent.is_true("gt", (own_bias + bias) << own_mantissa_bits), infinity)
        bits = bits.where(exponent.is_true("le", (own_bias - bias) << own_mantissa_bits), sign)
    rounded = Number(do, _from_integers(build, bits.value, element))
    replace(op, rounded.where(x.is_true("ne", x), x).value)
