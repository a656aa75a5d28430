"""Divisors of integers, and the parts, signs and powers of floating point numbers."""

from __future__ import annotations

import math

from ttmlir.arrays.array import Array
from ttmlir.arrays.carriers import array_of
from ttmlir.composites.bits import bits_of, width_of

# -- integers --------------------------------------------------------------------------------------


def gcd(a: Array, b: Array) -> Array:
    """The greatest common divisor, by Euclid's algorithm."""
    a, b = a.abs(), b.abs()
    # Neighbours in Fibonacci's sequence take longest: 1.44 steps for each bit.
    for _ in range(math.ceil(1.45 * width_of(a.dtype))):
        is_done = b.eq(0)
        rest = is_done.where(0, a.remainder(is_done.where(1, b)))
        a, b = is_done.where(a, b), rest
    return a


def lcm(a: Array, b: Array) -> Array:
    """The least common multiple; 0 if one number is."""
    return (a / gcd(a, b).limit(low=1) * b).abs()


# -- floating point numbers ------------------------------------------------------------------------


def tanh_gelu(x: Array) -> Array:
    """The Gaussian error linear unit by a hyperbolic tangent (https://arxiv.org/abs/1606.08415)."""
    inner = (x + x.square() * x * 0.044715) * math.sqrt(2 / math.pi)
    gate = inner.tanh() + 1.0
    return x * 0.5 * gate


def floor_remainder(a: Array, b: Array) -> Array:
    """The remainder with the sign of the divisor."""
    rest = a.remainder(b)
    return is_on_wrong_side(rest, b).where(rest + b, rest)


def floor_quotient(a: Array, b: Array) -> Array:
    """The largest whole number that is no larger than a quotient, also than one that is rounded.

    As in Python and torch: 1 // 0.1 is 9, since the number nearest to 0.1 is larger; of infinities
    there is none.
    """
    rest = a.remainder(b)
    # Near a whole number, which rounding may have missed by little.
    quotient = (a - rest) / b - is_on_wrong_side(rest, b).cast(a.dtype)
    whole = quotient.floor()
    return b.eq(0).where(a / b, whole + (quotient - whole > 0.5).cast(a.dtype))


def is_on_wrong_side(rest: Array, divisor: Array) -> Array:
    """True where a remainder is not 0 and has another sign than the divisor."""
    return rest.ne(0) & ((rest < 0) ^ (divisor < 0))


def signbit(x: Array) -> Array:
    """Whether the sign is minus, that of zeros and NaN included."""
    return bits_of(x) < 0 if x.is_real else x < 0


def copysign(size: Array, sign: Array) -> Array:
    """The size of one number with the sign of another."""
    size = size.abs()
    return signbit(sign).where(-size, size)


def angle(x: Array) -> Array:
    """The angle of a real number in the plane of complex ones: pi below 0, else 0."""
    return x.is_nan().where(x, (x < 0).where(array_of(math.pi, x.dtype), 0))


_FRACTION, _HALF, _BIAS, _EXPONENT = 0x807FFFFF - (1 << 32), 0x3F000000, 126, 0xFF
"""Of the bits of f32: sign and fraction, those of 0.5, and the exponent with its offset."""


def frexp(x: Array) -> tuple[Array, Array]:
    """Each number as one of [0.5, 1) times a power of 2, whose exponents are i32."""
    wide = x.cast("f32")
    # Numbers that are too small for a full fraction are made larger.
    is_small = wide.abs() < 2.0**-126
    bits = is_small.where(wide * 2.0**24, wide).bitcast("i32")
    exponent = (bits.right_shift(23) & _EXPONENT) - _BIAS
    exponent = is_small.where(exponent - 24, exponent)
    fraction = ((bits & _FRACTION) | _HALF).bitcast("f32")
    is_plain = wide.ne(0) & wide.isfinite()
    return is_plain.where(fraction, wide).cast(x.dtype), is_plain.where(exponent, 0)


def power(x: Array, exponent: float) -> Array:
    """Real numbers to the power of a number, by cheaper operations where there are some."""
    match exponent:
        case 0:
            return x.fill(1)
        case 1:
            return x
        case 2:
            return x.square()
        case 3:
            return x.square() * x
        case 0.5:
            return x.sqrt()
        case -0.5:
            return x.rsqrt()
        case -1:
            return x.reciprocal()
        case _:
            return x.pow(exponent)


def ldexp(x: Array, exponent: Array) -> Array:
    """Numbers times powers of 2."""
    # In two factors: one alone may be too large, or too small, for the type.
    half = (exponent * 0.5).floor() if exponent.is_real else exponent.right_shift(1)
    first, second = (each.cast("f32").exp2().cast(x.dtype) for each in (half, exponent - half))
    return x * first * second
