"""The bits of numbers: between widths, and rounded to formats that no type has."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import cast

from xdsl.dialects.builtin import AnyFloat, ComplexType, IntegerType, Signedness, TensorType
from xdsl.ir import Attribute, Operation, SSAValue

from ttmlir.arrays.array import Array, concatenate
from ttmlir.composites import bessel, bits, special
from ttmlir.composites.bits import FORMAT_BITS
from ttmlir.composites.complex_numbers import arc_kernel
from ttmlir.composites.random_numbers import (
    draw_between,
    draw_philox,
    draw_threefry,
)
from ttmlir.composites.special import Poles
from ttmlir.dialects.stablehlo.attrs import EnumAttr
from ttmlir.dialects.stablehlo.elementwise import BitcastConvertOp
from ttmlir.dialects.stablehlo.form import integer
from ttmlir.ir.builder import Builder, TTIRCarrier, array_in, build_function, complex_in
from ttmlir.ir.constants import constant_elements, splat_number
from ttmlir.ir.rewriting import refuse_to_legalize, replace
from ttmlir.ir.stablehlo_arrays import StableHLOCarrier, replace_by
from ttmlir.ir.tensor_types import element_type, real_type, value_shape
from ttmlir.mlir.attributes import ElementsType, elements_attr, raw_bytes
from ttmlir.passes.core.ttir_conversion import ConversionRule, computes
from ttmlir.passes.stablehlo.convert_stablehlo_to_ttir_elementwise import PRECISIONS
from ttmlir.passes.stablehlo.specification.broadcasting import module_of

# --- Words ----------------------------------------------------------------------------------------
# Integers of 64 bits as pairs of 32-bit words, which devices hold.
#
# The two words are the last dimension, the lower one first, as `stablehlo.bitcast_convert` has
# them.

_WORD = "ui32"
WORD = IntegerType(32, Signedness.UNSIGNED)
_WORDS = 64 // 32


def take_words(build: Builder, value: SSAValue) -> SSAValue:
    """The words of integers or floating point numbers of 64 bits, as ui32.

    Words that were joined before are found again, so that they survive on devices, where other
    numbers of 64 bits keep 32.
    """
    shape = (*value_shape(value), _WORDS)
    type_ = cast("ElementsType", TensorType(WORD, shape))
    owner = value.owner
    if isinstance(owner, BitcastConvertOp) and value_shape(owner.operands[0]) == shape:
        return array_in(build, owner.operands[0]).bitcast(_WORD).value
    elements = constant_elements(value)
    if elements is not None:
        return build.create_constant(elements_attr(type_, raw_bytes(elements)), type_)
    x = array_in(build, value).bitcast("i64")
    upper = x >> 32
    words = [each.cast(_WORD).reshape((*x.shape, 1)) for each in (x, upper)]
    return concatenate(words, x.rank).value


def join_words(op: Operation) -> None:
    """Compute what a bitcast makes of pairs of words."""
    [result] = op.results
    words = array_in(Builder.before(op), op.operands[0]).bitcast(_WORD)
    shape, last = value_shape(result), words.rank - 1
    lower, upper = (words.cut(last, n, n + 1).reshape(shape).cast("i64") for n in range(_WORDS))
    replace(op, (lower | (upper << 32)).bitcast(str(element_type(result))).value)


# --- Bits -----------------------------------------------------------------------------------------

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
    own = FORMAT_BITS.get(str(element_type(op.operands[0])))
    asked = integer(op, "exponent_bits"), integer(op, "mantissa_bits")
    if own is None or own > FORMAT_BITS["f32"] or asked in PRECISIONS:
        return False
    return asked[0] < own[0] or asked[1] < own[1]


def cast_bits(op: Operation) -> None:
    """Take numbers apart into narrower ones along a last dimension, or join those into one."""
    (operand,), (result,) = op.operands, op.results
    narrow, wide = sorted(width_of(element_type(value)) for value in (operand, result))
    if wide == 64:
        _cast_bits_of_words(op, narrow)
        return
    x = array_in(Builder.before(op), operand)
    replace(op, bits.cast_bits(x, value_shape(result), str(element_type(result))).value)


def _cast_bits_of_words(op: Operation, narrow: int) -> None:
    """Go over words of 32 bits, which are along a dimension after those of the numbers."""
    write, build = StableHLOCarrier.before(op), Builder.before(op)
    (operand,), (result,) = op.operands, op.results
    parts = 32 // narrow
    if width_of(element_type(operand)) == 64:
        words = take_words(build, operand)
        found = write.make_one("bitcast_convert", (words,), _split(result, parts))
        replace_by(op, "reshape", (found,), result.type)
        return
    apart = write.make_one("reshape", (operand,), _split(operand, parts))
    shape = (*value_shape(result), 2)
    words = write.make_one("bitcast_convert", (apart,), TensorType(WORD, shape))
    replace_by(op, "bitcast_convert", (words,), result.type)


def _split(value: SSAValue, parts: int) -> TensorType[Attribute]:
    """The type of narrow numbers whose last dimension has two words of so many parts."""
    shape = value_shape(value)[:-1]
    return TensorType(element_type(value), (*shape, 2, *([parts] if parts > 1 else [])))


def is_of_words(op: Operation) -> bool:
    """True for a bitcast that joins words to numbers of 64 bits."""
    widths = [width_of(element_type(each)) for each in (op.operands[0], op.results[0])]
    return widths == [32, 64]


def round_to_format(op: Operation) -> None:
    """Round numbers to so many bits of exponent and mantissa, as XLA does."""
    x = array_in(Builder.before(op), op.operands[0])
    counts = integer(op, "exponent_bits"), integer(op, "mantissa_bits")
    replace(op, bits.round_to_format(x, *counts).value)


# -- random numbers ----------------------------------------------------------------------------
# THREE_FRY: a state of two numbers of 64 bits is a key and a counter, which grows by one for each
# pair of words. The first dimension with an even extent (or else the longest) is halved; words of a
# pair are neighbours in it. PHILOX, which DEFAULT is on CPUs: the counter has the two or three
# numbers of the state, the lowest one second; the key is the first one. It grows by one for four
# words. Numbers of 8 and 16 bits are the lower bits of a word each, those of 64 bits are two words.
#
# `stablehlo.rng` has no state: XLA draws other numbers in every run. Here such an operation draws
# words of Threefry, the same ones in every run: its key is 1 for the last one of a module, 2 for
# the one before it, and so on.


_INTEGERS: dict[int, Attribute] = {8: IntegerType(8), 16: IntegerType(16)}
"""Integers of fewer bits than a word."""


def _generate_bits(op: Operation) -> None:
    """Draw words, and count on."""
    (state,) = op.operands
    algorithm = cast("EnumAttr", op.properties["rng_algorithm"]).data
    is_threefry = algorithm == "THREE_FRY"
    sizes = (2,) if is_threefry else (2, 3)
    count = value_shape(state)[0]
    if count not in sizes:
        refuse_to_legalize(
            op,
            f"the state of {algorithm} has {' or '.join(map(str, sizes))} numbers of 64 bits, not "
            f"{count}",
        )
    build = Builder.before(op)
    words = array_in(build, take_words(build, state))
    type_ = cast("TensorType[Attribute]", op.results[1].type)
    shape, in_pairs = type_.get_shape(), width_of(type_.element_type) == 64
    if in_pairs:
        shape = (*shape, 2)
    if is_threefry:
        drawn, counter = draw_threefry(words, shape, in_pairs=in_pairs)
    else:
        drawn, counter = draw_philox(words, shape)
    new = concatenate([words.cut(0, 0, 1), counter], 0)
    joined = StableHLOCarrier.before(op).make_one("bitcast_convert", (new.value,), state.type)
    replace(op, joined, _as_numbers(op, build, drawn.value, type_))


def _as_numbers(
    op: Operation, build: Builder, words: SSAValue, type_: TensorType[Attribute]
) -> SSAValue:
    """Words as numbers of as many or fewer bits, pairs of words as those of 64."""
    element = type_.element_type
    width = width_of(element)
    if width == 64:
        return StableHLOCarrier.before(op).make_one("bitcast_convert", (words,), type_)
    bits = build.cast(words, _INTEGERS.get(width, WORD))
    if bits.type == type_:
        return bits
    if isinstance(element, IntegerType) and width < 32:
        return build.cast(words, type_.element_type)
    return build.create("bitcast_convert", (bits,), type_)


def _draw(op: Operation) -> None:
    """Numbers of a distribution, of words that no state counts."""
    type_ = cast("TensorType[Attribute]", op.results[0].type)
    is_normal = cast("EnumAttr", op.properties["rng_distribution"]).data == "NORMAL"
    if not isinstance(type_.element_type, AnyFloat) and (
        is_normal or width_of(type_.element_type) == 64
    ):
        refuse_to_legalize(
            op,
            "normal numbers have to be floating point numbers, and uniform ones to have at most 32 "
            "bits; draw others and convert them",
        )
    carrier = TTIRCarrier(Builder.before(op))
    first, second = (
        array_in(carrier, operand).broadcast(type_.get_shape()) for operand in op.operands[:2]
    )
    replace(op, draw_between(number_of_draw(op), first, second, is_normal=is_normal).value)


def number_of_draw(op: Operation) -> int:
    """How many such operations there are from this one to the end of the module."""
    same = [other for other in module_of(op).walk() if other.name == op.name]
    return len(same) - same.index(op)


# -- functions of CHLO -------------------------------------------------------------------------
# They are computed in float32. Values outside of the domains are those of XLA.


def _function(function: Callable[..., Array]) -> ConversionRule:
    """The rule of a function of real numbers."""

    def rule(op: Operation) -> None:
        element = element_type(op.results[0])
        if isinstance(element, ComplexType):
            refuse_to_legalize(op, "it is supported for real numbers only")
        replace(op, build_function(Builder.before(op), function, op.operands, element))

    return rule


def _family(function: Callable[..., Array], least: int) -> ConversionRule:
    """The rule of functions with a number each; of one whole number they hold left of 0, too."""

    def rule(op: Operation) -> None:
        number = splat_number(op.operands[0])
        found = partial(function, poles=Poles.BOTH_SIDES)
        if number is None or not least <= number <= _LARGEST_ORDER or number % 1:
            _function(found)(op)
            return
        build, element = Builder.before(op), element_type(op.results[0])
        found = partial(function, int(number), poles=Poles.BOTH_SIDES)
        replace(op, build_function(build, found, op.operands[1:], element))

    return rule


_LARGEST_ORDER = 29
"""Factorials of larger ones leave the range of float32."""


def _next_after(op: Operation, x: Array, y: Array) -> Array:
    """The next number in the direction of another, by the order of the bits."""
    if bits.width_of(x.dtype) > 32:
        refuse_to_legalize(op, "numbers of 64 bits have no neighbours on a device; use f32")
    return bits.next_after(x, y)


def multiply_high(op: Operation, x: Array, y: Array) -> Array:
    """The upper half of the bits of a product, from products of halves."""
    width = bits.width_of(x.dtype)
    if width not in (8, 16, 32):
        refuse_to_legalize(op, f"products of integers of {width} bits are not computed on a device")
    return bits.multiply_high(x, y)


def _arc_kernel(op: Operation) -> None:
    """What the inverse trigonometric and hyperbolic functions of complex numbers share."""
    write = StableHLOCarrier.before(op)
    parts = [
        write.make_one(part, op.operands, real_type(op.operands[0].type))
        for part in ("real", "imag")
    ]
    found = arc_kernel(complex_in(Builder.before(op), *parts))
    both = found.real.value, found.imag.value
    replace_by(op, "complex", both, op.results[0].type)


RULES: dict[str, ConversionRule] = {
    "stablehlo.rng": _draw,
    "stablehlo.rng_bit_generator": _generate_bits,
    "chlo._asin_acos_kernel": _arc_kernel,
    "chlo.bessel_i1e": _function(bessel.i1e),
    "chlo.digamma": _function(partial(special.digamma, poles=Poles.BOTH_SIDES)),
    "chlo.mulhi": computes(multiply_high),
    "chlo.next_after": computes(_next_after),
    "chlo.polygamma": _family(special.polygamma, 0),
    "chlo.zeta": _family(special.zeta, 2),
}
"""Rules by the full name of the operation."""
