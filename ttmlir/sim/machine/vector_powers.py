"""Powers, remainders and quotients as programs of the vector unit compute them, step by step.

As in `vector_functions`; those with a number beside a tensor have programs of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from ttmlir.layout.enums import MathFidelity
from ttmlir.sim.machine import matrix_unit
from ttmlir.sim.machine import vector_functions as vf
from ttmlir.sim.machine import vector_operands as vo
from ttmlir.sim.machine import vector_unit as vu
from ttmlir.sim.machine.vector_functions import (
    above,
    below,
    bits_of,
    choose,
    is_zero,
    polynomial,
    rounded,
)
from ttmlir.sim.machine.vector_operands import divide, packed
from ttmlir.sim.machine.vector_unit import Array, Lanes

_NAN = float("nan")
_INF = float("inf")
_H = float.fromhex


def _is_same(a: Lanes, b: Lanes) -> Array:
    """Whether registers hold the same bits, which is how the unit compares two of them."""
    return bits_of(a) == bits_of(b)


def _less(a: Lanes, product: Lanes) -> Lanes:
    """A number less a product, for which Wormhole takes two steps."""
    return a - product.kept() if a.unit.is_wormhole else a - product


def _lanes_like(x: Lanes, number: float) -> Lanes:
    return x.of(np.full_like(x.array, number))


# --- Powers ---------------------------------------------------------------------------------------

_LOG2 = (_H("-0x1.952992p+0"), _H("0x2.4f5388p+0"), _H("-0xd.e712ap-4"), _H("0x2.44734p-4"))


def _positive_integer(x: Lanes) -> Array:
    """Whole numbers below positive ones, 0 below 1, the largest of 31 bits from 2^31."""
    power = vu.exponent(x.array)
    shifted = vu.shifted_left(vu.fraction(x.array, hidden=True), np.clip(power - 23, -31, 31))
    return np.where(power < 0, 0, np.where(power > 30, 0x7FFFFFFF, shifted)).astype(np.int32)


def _power_21(base: Lanes, power: Lanes, one_by_ln2: float, size: Lanes) -> Lanes:
    """|base| to the power, to 21 bits: 2 to the power of a polynomial's logarithm."""
    series = polynomial(size.of(vu.with_exponent(size.array, 127)), *_LOG2)
    whole = base.of(vu.exponent(base.array).astype(np.float32))
    z = (power * (series * one_by_ln2 + whole)).kept()
    z = choose(below(z, -127.0), -127.0, z)
    z = z.of(vu.add_exponent(z.array, 23)) + 1065353216.0
    bits = z.of(vu.number(_positive_integer(z)))
    exponent, fraction = vu.exponent(bits.array), vu.fraction(bits.array)
    first, second = (
        z.of(vu.from_integer((fraction + np.int32(each)).astype(np.int32)))
        for each in (0xF94EE7, 0x560E)
    )
    significand = _positive_integer(((first * 0.40196114e-7).kept() * second).kept())
    return z.of(vu.with_exponent(vu.number(significand), exponent + 127))


def _signed_power(base: Lanes, power: Lanes, result: Lanes) -> Lanes:
    """Of negative bases NaN, or by whole powers with the sign that these give."""
    whole = vu.to_small_integer(power.array, 32767, signed=True)
    sign = vu.number(whole << np.int32(31))
    is_whole = _is_same(power.of(vu.from_integer(whole)), power)
    signed = result.of(vu.with_sign(result.array, sign))
    return choose(bits_of(base) < 0, choose(is_whole, signed, _NAN), result)


def power(base: Lanes, exponent: Lanes, wide: bool) -> Lanes:
    """The first to the power of the second."""
    size = base.of(vu.number(bits_of(base) & 0x7FFFFFFF))
    y = _signed_power(base, exponent, _power_21(base, exponent, 1.442695, size))
    of_zero = choose(bits_of(exponent) < 0, _NAN, 0.0 * exponent.of(np.zeros_like(y.array)))
    y = choose(is_zero(size) & ~is_zero(exponent), of_zero, y)
    return rounded(y, wide)


def power_by_number(x: Lanes, wide: bool, value: float) -> Lanes:
    """x to the power of a number: by products if it is whole and not negative."""
    if value >= 0 and value == int(value):
        return _power_by_products(x, int(value))
    if wide:
        return _power_by_number_wide(x, value)
    exponent = _lanes_like(x, value)
    size = x.of(vu.magnitude(x.array))
    y = _signed_power(x, exponent, _power_21(x, exponent, 1.4426950408889634, size))
    return rounded(choose(is_zero(size), 0.0 if value > 0 else _NAN, y), wide)


def _power_by_products(x: Lanes, exponent: int) -> Lanes:
    if exponent == 0:
        return _lanes_like(x, 1.0)
    result, left = x, exponent - 1
    while left:
        if left & 1:
            result = (result * x).kept()
        x = (x * x).kept()
        left >>= 1
    return result


def number_to_power(x: Lanes, wide: bool, value: float) -> Lanes:
    """A number to the power of x."""
    return power(_lanes_like(x, value), x, wide)


def _power_61(base: Lanes, power: Lanes, first: float, second: float) -> tuple[Lanes, Lanes]:
    """The logarithm to base 2 of |base|, times the power, in two parts that add up to it."""
    size = base.of(vu.magnitude(base.array))
    m = size.of(vu.with_exponent(size.array, 127))
    exponent = vu.exponent(size.array)
    is_high = ~below(m, 1.4142135381698608)
    m = choose(is_high, m.of(vu.add_exponent(m.array, -1)), m)
    whole = m.of(np.where(is_high, exponent + 1, exponent).astype(np.float32))
    t = m + 1.0
    inverse = first - second * t
    for _ in range(3):
        inverse = (inverse * (2.0 - t * inverse)).kept()
    z = ((m - 1.0) * inverse).kept()
    p = polynomial(
        (z * z).kept(),
        1.0,
        0.3333333333333333,
        0.2,
        0.14285714285714285,
        0.1111111111111111,
        0.09090909090909091,
    )
    ln = (2.0 * (z * p).kept()).kept()
    parts = (power * 4097.0).kept()
    high = parts - (parts - power)
    low = power - high
    rest = (power * (ln * 1.4426950408889634).kept()).kept()
    return (high * whole).kept(), low * whole + rest


_FACTORIALS = (1.0, 1.0, 0.5, 1 / 6, 1 / 24, 1 / 120, 1 / 720, 1 / 5040)


def _power_by_number_wide(x: Lanes, value: float) -> Lanes:
    exponent = _lanes_like(x, value)
    high, low = _power_61(x, exponent, 1.003, 0.244)
    s = high + low
    rest = low - (s - high)
    s = s.of(vu.larger(s.array, _H("-0x7e.ffff8p0")))
    t = s + 12582912.0
    k = t - 12582912.0
    f = (s - k) + rest
    r = (f * 0.693359375).kept() + f * -2.12194440e-4
    p = polynomial(r, *_FACTORIALS)
    steps = bits_of(t) - vu.bits(12582912.0)
    y = p.of(vu.with_exponent(p.array, vu.exponent(p.array, 0) + steps))
    y = _signed_power(x, exponent, choose(~below(s, 128.0), _INF, y))
    is_nothing = is_zero(x.of(vu.magnitude(x.array)))
    return choose(is_nothing, 0.0 if value > 0 else _NAN, y)


# --- Quotients ------------------------------------------------------------------------------------


def number_by(x: Lanes, wide: bool, value: float) -> Lanes:
    """A number divided by x."""
    inverse = vf.reciprocal_iter(x, 2 if wide else 1)
    return rounded(inverse.kept(), wide) * value


def divide_no_nan(a: Lanes, b: Lanes, wide: bool) -> Lanes:
    """a / b, of divisions by 0 it is 0."""
    quotient = divide(a, b, wide)
    return choose(is_zero(b), 0.0, quotient if wide else packed(quotient))


def floor_divide(a: Lanes, b: Lanes, wide: bool) -> Lanes:
    """The whole number below a / b; what is infinite stays."""
    quotient = divide(a, b, wide)
    quotient = quotient.kept() if wide else packed(quotient)
    is_infinite = bits_of(quotient) & 0x7FFFFFFF == 0x7F800000
    return choose(is_infinite, quotient, vf.floor(quotient, wide))


# --- Logarithms and exponentials ------------------------------------------------------------------


def _in_dst(x: Lanes, wide: bool) -> Lanes:
    """Numbers that were stored in DST and are loaded from it again."""
    pattern = bits_of(x)
    pattern = pattern if wide else pattern & np.int32(-1 << 16)
    return x.of(vu.number(np.where(vu.exponent(x.array, 0) == 0, 0, pattern).astype(np.int32)))


def xlogy(a: Lanes, b: Lanes, wide: bool) -> Lanes:
    """a times the natural logarithm of b, to 8 bits."""
    is_nan = bits_of(b) == vu.bits(_NAN)
    b = _in_dst(b, wide)
    series = polynomial(
        b.of(vu.with_exponent(b.array, 127)), -1.49277612, 2.11263230, -0.72910421, 0.10968964
    )
    result = b.of(vu.exponent(b.array).astype(np.float32)) * 0.69314718 + series
    result = _in_dst(choose(is_zero(b), -_INF, result), wide)
    return choose((bits_of(b) < 0) | is_nan, _NAN, (result * a).kept())


def ldexp(a: Lanes, b: Lanes, wide: bool) -> Lanes:
    """a times 2 to the power of b, which is stored in between."""
    power = vf.exp2(b, wide)
    if wide:
        return a * power
    wormhole = a.unit.is_wormhole
    factors = (a.array, packed(power).array)
    return a.of(matrix_unit.multiply(*factors, MathFidelity.HIFI4, wide=False, wormhole=wormhole))


def logaddexp2(a: Lanes, b: Lanes, wide: bool) -> Lanes:
    """The logarithm to base 2 of the sum of 2 to the powers of both."""
    gap, result = vo.gap_and_larger(a, b)
    if wide:
        one = vf.log1p_in_register(vf.exp_wide((gap * -0.693147182).kept()), True)
        return one * 1.442695041 + result
    e = vf.exp2(-gap, False)
    return rounded(vo.log1p_of_unit(e).kept() * 1.442695041 + result, wide)


def log_sigmoid(x: Lanes, wide: bool) -> Lanes:
    """ln(sigmoid(x)), from an approximate exponential."""
    negative = -x
    e = _in_dst(vf.exp_approximate(negative, wide), wide)
    near = polynomial(
        negative,
        0.6924354434013367,
        0.49275708198547363,
        0.12142381817102432,
        0.0031102809589356184,
        -0.00330807245336473,
        -0.00028794066747650504,
        5.3185409342404455e-05,
        7.1853546614875086e-06,
        7.4961114648886e-08,
    )
    is_low, is_high = below(negative, -4.0), ~below(negative, 4.0)
    return choose(is_low, -e, choose(is_high, x, -near))


def logit(x: Lanes, wide: bool) -> Lanes:
    """ln(x / (1 - x))."""
    rest = vo.rounded_to_even(1.0 - x, wide)
    return vf.log(divide(x, rest, wide).kept(), wide)


# --- Remainders -----------------------------------------------------------------------------------


def _quotient(scaled: Lanes) -> tuple[Array, Lanes]:
    """The whole part of a number, and its exponent."""
    power = vu.exponent(scaled.array)
    by = np.clip(power - 23, -31, 0)
    cut = vu.shifted_left(vu.shifted_left(bits_of(scaled), by), -by)
    whole = choose(power < 23, scaled.of(vu.number(cut)), scaled)
    return power, choose(power < 0, 0.0, whole)


def _without_steps(v: Lanes, size: float) -> Lanes:
    for _ in range(10):
        v = choose(~below(v, size), v - size, v)
    return choose(is_zero(v.of(vu.magnitude(v.array)) - size), 0.0, v)


def fmod_by_number(x: Lanes, wide: bool, value: float) -> Lanes:
    """What is left of x by a number, with the sign of x."""
    size, inverse = abs(value), abs(float(np.float32(1) / np.float32(value)))
    v = x.of(vu.magnitude(x.array))
    power, whole = _quotient((v * inverse).kept())
    is_more = above((whole * size).kept(), v) & (power < 23)
    whole = choose(is_more, whole - 1.0, whole)
    v = _less(v, whole * size)
    v = v.of(vu.with_sign(v.array, x.array))
    return _without_steps(v, size)


def remainder_by_number(x: Lanes, wide: bool, value: float) -> Lanes:
    """What is left of x by a number, with the sign of the number."""
    size, inverse = abs(value), abs(float(np.float32(1) / np.float32(value)))
    v = x.of(vu.magnitude(x.array))
    scaled = (v * inverse).kept()
    _, whole = _quotient(scaled)
    whole = choose(above(whole, scaled), whole - 1.0, whole)
    v = _less(v, whole * size)
    v = choose((bits_of(x) < 0) & ~is_zero(v), size - v, v)
    if value < 0:
        v = choose(is_zero(v), v, v + value)
    v = v.of(vu.with_sign(v.array, np.float32(value)))
    return _without_steps(v, size)


def fmod(a: Lanes, b: Lanes, wide: bool) -> Lanes:
    """What is left of a by b, with the sign of a."""
    size = b.of(vu.magnitude(b.array))
    whole = vf.trunc((a * vf.reciprocal_iter(b, 2)).kept(), wide)
    result = _less(a, whole * b).kept()
    is_large = ~below(result.of(vu.magnitude(result.array)), size)
    nearer = choose(bits_of(result) >= 0, result - size, result + size)
    result = choose(is_large, nearer, result)
    is_positive = bits_of(a) >= 0
    result_of_positive = choose(bits_of(result) < 0, result + size, result)
    result_of_negative = choose(bits_of(result) > 0, result - size, result)
    result = choose(is_positive, result_of_positive, result_of_negative)
    result = choose(_is_same(a, b), 0.0, result)
    return rounded(choose(bits_of(b) == 0, _NAN, result), wide)


def remainder(a: Lanes, b: Lanes, wide: bool) -> Lanes:
    """What is left of a by b, with the sign of b."""
    whole = vf.floor((a * vf.reciprocal_iter(b, 2)).kept(), wide)
    result = _less(a, whole * b).kept()
    is_against = (bits_of(result) != 0) & (bits_of(result) ^ bits_of(b) < 0)
    result = choose(is_against, result + b, result)
    less = (result - b).kept()
    result = choose((bits_of(b) > 0) & (bits_of(a) > 0) & (bits_of(less) >= 0), less, result)
    less = (result - b).kept()
    both_negative = (bits_of(b) < 0) & (bits_of(a) < 0)
    result = choose(both_negative & (bits_of(less) <= 0), less, result)
    return rounded(choose(bits_of(b) == 0, _NAN, result), wide)


BY_NUMBER: Mapping[str, Callable[..., Lanes]] = {
    "pow": power_by_number,
    "rpow": number_to_power,
    "rdiv": number_by,
    "fmod": fmod_by_number,
    "remainder": remainder_by_number,
}
"""Functions of a tensor and a number, by the names that ttnn has for them."""

LOGARITHMS: Mapping[str, Callable[..., Lanes]] = {"log_sigmoid": log_sigmoid, "logit": logit}
"""Functions of one tensor, by the names that ttnn has for them."""

POWERS: Mapping[str, Callable[..., Lanes]] = {
    "pow": power,
    "fmod": fmod,
    "remainder": remainder,
    "div_no_nan": divide_no_nan,
    "floor_div": floor_divide,
    "xlogy": xlogy,
    "ldexp": ldexp,
    "logaddexp2": logaddexp2,
}
"""Functions of two tensors, by the names that ttnn has for them."""
