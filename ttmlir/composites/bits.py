"""Numbers by their bits: rounding, neighbours, order, and other widths."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

from ttmlir.arrays.array import Array, concatenate

FORMAT_BITS = {"f16": (5, 10), "bf16": (8, 7), "f32": (8, 23), "f64": (11, 52)}
"""Bits of the exponent and of the mantissa of floating point types."""


def largest_number(dtype: str) -> float:
    """The largest finite number of a floating point type."""
    exponent_bits, mantissa_bits = FORMAT_BITS[dtype]
    return (2 - 2.0**-mantissa_bits) * 2.0 ** ((1 << (exponent_bits - 1)) - 1)


def width_of(dtype: str) -> int:
    """The bits of a type such as `f32`, `bf16` or `ui8`."""
    return int(dtype.lstrip("bfuis"))


def bits_of(x: Array) -> Array:
    """The bits of floating point numbers, as signed integers of the same width."""
    return x.bitcast(f"i{width_of(x.dtype)}")


# -- whole numbers -----------------------------------------------------------------------------


def round_half_away(x: Array) -> Array:
    """The nearest whole number, the one farther from 0 of two."""
    whole = x.trunc()
    # The rest of the number is exact; adding 0.5 to the number is not.
    is_far = (x - whole).abs() >= 0.5
    return is_far.where(whole + x.sign(), whole)


def divide_rounded(x: Array, y: Array, *, upward: bool) -> Array:
    """The quotient of integers rounded toward plus or minus infinity."""
    quotient, rest = x / y, x.remainder(y)
    zero, one = (x.fill(number, ()) for number in (0, 1))
    # The quotient is rounded toward 0, that is, up where the rest and the divisor differ.
    was_raised = (rest < zero).logical_xor(y < zero)
    is_toward_zero = was_raised.logical_not() if upward else was_raised
    is_changed = is_toward_zero.logical_and(rest.ne(zero))
    return is_changed.where(quotient + one if upward else quotient - one, quotient)


def multiply_high(a: Array, b: Array) -> Array:
    """The upper half of the bits of a product of integers of up to 32 bits."""
    own, width = a.dtype, width_of(a.dtype)
    is_unsigned = own.startswith("u")
    if width < 32:
        product = a.cast("i32") * b.cast("i32")
        return (product >> width if is_unsigned else product.right_shift(width)).cast(own)
    a, b = a.bitcast("i32"), b.bitcast("i32")
    middle = (a >> 16) * (b & 0xFFFF) + ((a & 0xFFFF) * (b & 0xFFFF) >> 16)
    other = (a & 0xFFFF) * (b >> 16) + (middle & 0xFFFF)
    found = (a >> 16) * (b >> 16) + (middle >> 16) + (other >> 16)
    if not is_unsigned:
        for sign, factor in ((a, b), (b, a)):
            found = (sign < 0).where(found - factor, found)
    return found.bitcast(own)


def divide_unsigned(x: Array, y: Array) -> Array:
    """The quotient of `ui32`, computed by numbers with a sign; by 0 all ones.

    Half of the dividend has no sign. Twice its quotient is the quotient, or one less (Warren,
    Hacker's Delight, section 9-3); by a divisor from 2^31 on it is 0 or 1.
    """
    a, b = x.bitcast("i32"), y.bitcast("i32")
    even = ((a >> 1) / b) << 1
    rest = (a - even * b).bitcast(x.dtype)
    quotient = even + (rest >= y).cast("i32")
    quotient = (b < 0).where((x >= y).cast("i32"), quotient)
    return b.eq(0).where(-1, quotient).bitcast(x.dtype)


def remainder_unsigned(x: Array, y: Array) -> Array:
    """What the division of `ui32` leaves; by 0 the dividend."""
    return x - divide_unsigned(x, y) * y


def count_ones(x: Array) -> Array:
    """How many bits of integers are set, in sums of 2, 4, 8 ... of them side by side.

    The same as `count_bits`, which takes five times the operations (Warren, Hacker's Delight,
    section 5-1).
    """
    bits = _as_words(x)
    pairs = bits - ((bits >> 1) & 0x5555_5555)
    fours = (pairs & 0x3333_3333) + ((pairs >> 2) & 0x3333_3333)
    eights = (fours + (fours >> 4)) & 0x0F0F_0F0F
    halves = eights + (eights >> 8)
    return ((halves + (halves >> 16)) & 0x3F).cast(x.dtype)


def count_zeros_above(x: Array) -> Array:
    """How many bits of integers are above the highest that is set; all bits of 0."""
    bits, step = _as_words(x), 1
    while step < width_of(x.dtype):
        bits = bits | (bits >> step)
        step *= 2
    return (width_of(x.dtype) - count_ones(bits)).cast(x.dtype)


def shift_down(x: Array, distance: Array) -> Array:
    """Bits of integers of up to 16 bits moved down by distances without a sign, zeros above."""
    return _as_words(x).apply("logical_right_shift", distance.cast("i32")).cast(x.dtype)


def _as_words(x: Array) -> Array:
    """Integers as `i32` with zeros above."""
    words = x.cast("i32") if width_of(x.dtype) < 32 else x.bitcast("i32")
    is_extended = x.dtype in ("i8", "i16")
    return words & ((1 << width_of(x.dtype)) - 1) if is_extended else words


def count_bits(x: Array) -> Array:
    """How many bits of integers are set: the sum of all bits, the lowest one first."""
    one, count = x.fill(1, x.shape), x.fill(0, x.shape)
    bits = width_of(x.dtype)
    for number in range(bits):
        count = count + x.apply("bitwise_and", one)
        if number < bits - 1:
            x = x.apply("logical_right_shift", one)
    return count


def count_leading_zeros(x: Array) -> Array:
    """How many bits are not set once all below the highest are."""
    step = 1
    while step < width_of(x.dtype):
        x = x.apply("bitwise_or", x.apply("logical_right_shift", x.fill(step, x.shape)))
        step *= 2
    return count_bits(x.apply("bitwise_not"))


# -- order -------------------------------------------------------------------------------------


def in_total_order(x: Array) -> Array:
    """Integers in the order in which -0 is less than 0 and NaN has a place at both ends.

    The bits of a float without its sign are in the order of the numbers; those of negative ones
    are turned round.
    """
    bits = bits_of(x)
    return bits ^ (bits.right_shift(width_of(x.dtype) - 1) >> 1)


def next_after(x: Array, y: Array) -> Array:
    """The next number after x in the direction of y."""
    bits = bits_of(x)
    is_up = y > x
    # Away from 0 the bits grow; the least numbers besides 0 have the bits 1 and the sign.
    grow, fall = bits + 1, bits - 1
    moved = (x > 0).where(is_up.where(grow, fall), is_up.where(fall, grow))
    least = is_up.where(bits.fill(1), 1 - (1 << (width_of(x.dtype) - 1)))
    found = x.eq(0).where(least, moved).bitcast(x.dtype)
    found = x.ne(x).where(x, x.eq(y).where(y, found))
    return y.ne(y).where(y, found)


# -- halves of words ---------------------------------------------------------------------------


def cast_halves(x: Array, dtype: str) -> Array:
    """Numbers of 16 bits as others of the same bits, by way of words: `f32` and `i32`."""
    if x.dtype == "f16":
        bits = _bits_of_half(x)
    elif x.is_real:
        bits = x.cast("f32").bitcast("i32").right_shift(16)
    else:
        bits = x.cast("i32")
    if dtype == "f16":
        return _half_of_bits(bits)
    if "f" in dtype:
        return (bits << 16).bitcast("f32").cast(dtype)
    return bits.cast(dtype)


_HALF_BIAS, _HALF_LOST = 127 - 15, 23 - 10
"""How much smaller exponents of f16 are than those of f32, and how many bits mantissas lose."""


def _bits_of_half(x: Array) -> Array:
    """The bits of numbers of `f16` as `i32`."""
    bits = x.cast("f32").bitcast("i32")
    size = bits & 0x7FFF_FFFF
    found = (size >> _HALF_LOST) - (_HALF_BIAS << 10)
    # Below the least normal number are multiples of 2^-24; above all are infinity and NaN.
    small = (size.bitcast("f32") * 2.0**24).cast("i32")
    found = (size < (_HALF_BIAS + 1) << 23).where(small, found)
    found = (size >= 0x7F80_0000).where(((size >> _HALF_LOST) & 0x3FF) | 0x7C00, found)
    return found | ((bits >> 16) & 0x8000)


def _half_of_bits(bits: Array) -> Array:
    """The number of `f16` of the lower 16 bits of `i32`."""
    size = bits & 0x7FFF
    number = (size << _HALF_LOST) + (_HALF_BIAS << 23)
    small = (size.cast("f32") * 2.0**-24).bitcast("i32")
    number = (size < 1 << 10).where(small, number)
    number = (size >= 0x7C00).where((size << _HALF_LOST) + (2 * _HALF_BIAS << 23), number)
    return (number | ((bits & 0x8000) << 16)).bitcast("f32").cast("f16")


# -- other widths ------------------------------------------------------------------------------


def cast_bits(x: Array, shape: Sequence[int], dtype: str) -> Array:
    """The same bits as narrower numbers along a last dimension, or as wider ones without it."""
    narrow, wide = sorted(map(width_of, (x.dtype, dtype)))
    bits = _as_integers(x)
    steps = range(0, wide, narrow)
    if width_of(x.dtype) == wide:
        # The sign is kept, as the narrow type has it.
        parts = [
            (bits << 32 - narrow - step).right_shift(32 - narrow).reshape((*bits.shape, 1))
            for step in steps
        ]
        joined = concatenate(parts, bits.rank)
    else:
        mask = (1 << narrow) - 1
        shifted = [
            (bits.cut(bits.rank - 1, place, place + 1).reshape(shape) & mask) << step
            for place, step in enumerate(steps)
        ]
        joined = reduce(Array.__or__, shifted)
        if wide == 16:
            joined = (joined << 16).right_shift(16)
    return _from_integers(joined, dtype)


def _as_integers(x: Array) -> Array:
    """The bits of numbers as integers of 32 bits."""
    return bits_of(x).cast("i32")


def _from_integers(bits: Array, dtype: str) -> Array:
    return bits.cast(f"i{width_of(dtype)}").bitcast(dtype)


# -- rounding to formats -----------------------------------------------------------------------


def round_to_format(x: Array, exponent_bits: int, mantissa_bits: int) -> Array:
    """Numbers rounded to so many bits of exponent and mantissa, as XLA does.

    Ties go to even, what is too large is infinite, what is too small 0.
    """
    own_exponent_bits, own_mantissa_bits = FORMAT_BITS[x.dtype]
    bits = _as_integers(x)
    infinite = ((1 << own_exponent_bits) - 1) << own_mantissa_bits
    if mantissa_bits < own_mantissa_bits:
        lost = own_mantissa_bits - mantissa_bits
        # Half a step less one bit, and one more for an odd last bit: ties go to even.
        bits = (bits + (bits >> lost & 1) + ((1 << (lost - 1)) - 1)) & -1 << lost
    if exponent_bits < own_exponent_bits:
        bias, own_bias = ((1 << (count - 1)) - 1 for count in (exponent_bits, own_exponent_bits))
        sign = bits & -1 << (own_exponent_bits + own_mantissa_bits)
        exponent = bits & infinite
        is_infinite = exponent > (own_bias + bias) << own_mantissa_bits
        bits = is_infinite.where(sign | infinite, bits)
        bits = (exponent <= (own_bias - bias) << own_mantissa_bits).where(sign, bits)
    return x.ne(x).where(x, _from_integers(bits, x.dtype))


@dataclass(frozen=True)
class SmallFloat:
    """A format by its stored mantissa bits, least normal exponent and largest number."""

    mantissa_bits: int
    least_exponent: int
    largest: float
    beyond: float = math.nan
    """What numbers become that are too large: infinite, NaN, or `largest`."""
    has_nan: bool = True
    has_negative_zero: bool = True
    is_scale: bool = False
    """True for powers of two above 0; halves between them go up."""


SMALL_FLOATS: dict[str, SmallFloat] = {
    "f8E4M3FN": SmallFloat(3, -6, 448.0),
    "f8E5M2": SmallFloat(2, -14, 57344.0, math.inf),
    "f8E4M3FNUZ": SmallFloat(3, -7, 240.0, has_negative_zero=False),
    "f8E5M2FNUZ": SmallFloat(2, -15, 57344.0, has_negative_zero=False),
    "f8E4M3B11FNUZ": SmallFloat(3, -10, 30.0, has_negative_zero=False),
    "f8E4M3": SmallFloat(3, -6, 240.0, math.inf),
    "f8E3M4": SmallFloat(4, -2, 15.5, math.inf),
    "f8E8M0FNU": SmallFloat(0, -126, 2.0**127, is_scale=True),
    "f6E2M3FN": SmallFloat(3, 0, 7.5, 7.5, has_nan=False),
    "f6E3M2FN": SmallFloat(2, -2, 28.0, 28.0, has_nan=False),
    "f4E2M1FN": SmallFloat(1, 0, 6.0, 6.0, has_nan=False),
}
"""The formats of 8 bits and fewer, whose numbers bf16 holds, by the names of their types.

Numbers and roundings are those of the package ml_dtypes.
"""


def round_to_small_float(x: Array, form: SmallFloat) -> Array:
    """Numbers of f32 rounded to the nearest ones of a format, ties to even; f32 as well."""
    size = x.abs()
    rounded = _round_normal(x, form)
    if not form.is_scale:
        # Below the least normal exponent numbers are the same step apart.
        step = math.ldexp(1.0, form.least_exponent - form.mantissa_bits)
        small = (x * (1 / step)).round() * step
        rounded = (size < math.ldexp(1.0, form.least_exponent)).where(small, rounded)
    if form.beyond == form.largest:
        rounded = rounded.clamp(min=-form.largest, max=form.largest)
    else:
        is_above, is_below = rounded > form.largest, rounded < -form.largest
        rounded = is_above.where(form.beyond, rounded)
        rounded = is_below.where(-form.beyond, rounded)
    is_nan = x.ne(x)
    if form.is_scale:
        is_nan = is_nan | (x <= 0.0)
    rounded = is_nan.where(math.nan if form.has_nan else -0.0, rounded)
    return rounded if form.has_negative_zero else rounded + 0.0


def small_float_of_bits(bits: Array, form: SmallFloat) -> Array:
    """The finite numbers of f32 whose 8 bits in a format, no scale, are integers of 32 bits."""
    first_normal = 1 << form.mantissa_bits
    size = bits & 127
    is_small = size < first_normal
    # Below the least normal exponent: as if in it, less what it begins with.
    raised = is_small.where(size + first_normal, size)
    lost = FORMAT_BITS["f32"][1] - form.mantissa_bits
    number = ((raised << lost) + ((126 + form.least_exponent) << 23)).bitcast("f32")
    number = is_small.where(number - math.ldexp(1.0, form.least_exponent), number)
    return (bits > 127).where(-number, number)


def unpack_bits(packed: Array, width: int) -> Array:
    """Integers of so few bits, of 32: of the lowest bits of all bytes first, along dimension 0."""
    words, mask = packed.cast("i32"), (1 << width) - 1
    parts = [(words >> shift) & mask for shift in range(0, 8, width)]
    return concatenate(parts, 0)


def _round_normal(x: Array, form: SmallFloat) -> Array:
    """Cut the mantissa, after adding half of what is cut, less one bit unless it is odd."""
    lost = FORMAT_BITS["f32"][1] - form.mantissa_bits
    bits = x.bitcast("i32")
    half = 1 << (lost - 1)
    if form.is_scale:
        bits = bits + half
    else:
        bits = bits + (bits >> lost & 1) + (half - 1)
    return (bits & -1 << lost).bitcast(x.dtype)
