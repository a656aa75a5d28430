"""Functions of one number as programs of the vector unit compute them, step by step.

Each is a function of `Lanes` and of whether DST has 32 bits: for a DST of 16 bits there are shorter
polynomials, and results are rounded to bfloat16 first. Blackhole has an instruction for reciprocals
and compares without subtracting. What NaN, infinity and signs of 0 become follows from the steps.

Polynomials, reductions and limits are those of tt-metal 0.81, ckernel_sfpu_*.h; the tests hold
results to those of a functional simulator of the chips, bit by bit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from ttmlir.layout.enums import MathFidelity
from ttmlir.sim.machine import matrix_unit
from ttmlir.sim.machine import vector_unit as vu
from ttmlir.sim.machine.vector_unit import Array, Lanes

Function = Callable[[Lanes, bool], Lanes]
"""Of numbers, and whether DST has 32 bits."""

_INF = float("inf")
_NAN = float("nan")


def choose(condition: Array, chosen: Lanes | float, others: Lanes | float) -> Lanes:
    """The first where the condition holds, else the second; one of them at least has lanes."""
    lanes = chosen if isinstance(chosen, Lanes) else others
    assert isinstance(lanes, Lanes), "one of them has lanes"
    first, second = (each.array if isinstance(each, Lanes) else each for each in (chosen, others))
    return lanes.of(vu.where(condition, first, second))


def polynomial(x: Lanes, *coefficients: float) -> Lanes:
    """By Horner's rule, coefficients of rising powers."""
    *others, second, first = coefficients
    result = x * first + second
    for each in reversed(others):
        result = x * result + each
    return result


def rounded(x: Lanes, wide: bool) -> Lanes:
    """To bfloat16 where DST has 16 bits."""
    return x if wide else x.of(vu.to_bfloat16(x.array))


def bits_of(x: Lanes) -> Array:
    """The bits of numbers, as signed integers."""
    return vu.bits(x.array)


# --- Exponentials ---------------------------------------------------------------------------------


def _exp2_split(z: Lanes, c: tuple[float, ...]) -> Lanes:
    """2 to the power of `z - 127` for z from 0 to 255.."""
    power = vu.shifted_left(vu.fraction(z.array, hidden=True), vu.exponent(z.array))
    as_number = vu.number(power)
    part = z.of(vu.from_integer(vu.fraction(as_number)))
    return z.of(vu.with_exponent(polynomial(part, *c).array, vu.exponent(as_number, 0)))


_EXP2 = (1.0017248, 7.839635491371155e-08, 4.791750143340323e-15)


def exp_21(x: Lanes, wide: bool, c0: float = _EXP2[0]) -> Lanes:
    """e to the power of x to 21 bits, after Moroz et al. (2022), doi 10.1109/MSP.2022.3157460."""
    z = x * 1.4426950216293334961 + 127.0
    z = z.of(vu.clamped(z.array, 0.0, 255.0))
    return rounded(_exp2_split(z, (c0, *_EXP2[1:])), wide)


def exp_wide(a: Lanes, safe: bool = True) -> Lanes:
    """2 to the power of a whole number, times a polynomial of what is left."""
    j = (1.442695 * a).kept()
    sm = vu.to_small_integer(j.array, 32767, signed=True)
    j = a.of(vu.from_integer(sm))
    f = j * -6.93145752e-1 + a
    f = j * -1.42860677e-6 + f
    r = polynomial(f, 4.99999851e-1, 1.66664720e-1, 4.16695364e-2, 8.37312452e-3, 1.37805939e-3)
    i = np.where(sm < 0, -(sm & 0x7FFFFFFF), sm)
    y = r * f + 1.0
    r = y * f + 1.0
    e = vu.exponent(r.array, 0) + i
    result = a.of(vu.with_exponent(r.array, e))
    if not safe:
        return result
    overflows = (e >= 255).any()
    if a.unit.is_wormhole:
        zero = a.of(vu.number(bits_of(y) - 1)) * 0.0
        out = choose(e >= 1, zero.kept() + _INF, zero) if overflows else zero
        return choose((e >= 1) & (e < 255), result, out)
    result = choose(e < 1, 0.0, result)
    return choose(e < 255, result, (y * _INF).kept()) if overflows else result


def exp(x: Lanes, wide: bool) -> Lanes:
    """e to the power of x."""
    if wide:
        return exp_wide(x)
    # The last coefficient has 10 bits after the leading one.
    return exp_21(x, wide, float(np.float16(1.0017248)))


def exp_approximate(x: Lanes, wide: bool) -> Lanes:
    """e to the power of x to 4 %, by the bits of a straight line (Schraudolph, 1999)."""
    line = x.of(vu.larger(x.array, -88.5)) * 369.329925537109375 + 32500.818359375
    return x.of(vu.number(vu.to_small_integer(line.array, 65535, signed=False) << np.int32(15)))


def accurate_exp(x: Lanes, wide: bool) -> Lanes:
    """As other functions use it."""
    return exp_wide(x) if wide else exp_21(x, False)


# --- Reciprocals ----------------------------------------------------------------------------------

_RECIPROCAL = (2.121212482452392578125, 1.4545459747314453125, 0.3232325017452239990234375)
_RECIPROCAL_16 = (2.1200883388519287109375, 1.4514148235321044921875, 0.32133400440216064453125)


def reciprocal_iter(
    x: Lanes, steps: int, c: tuple[float, float, float] = _RECIPROCAL, to16: bool = False
) -> Lanes:
    """1 / x by this many steps of Newton, from a polynomial or a table."""
    if x.unit.is_wormhole:
        negative = x.of(vu.with_fraction(np.float32(-1), x.array))
        y = c[1] + c[2] * negative
        scale = x.of(vu.with_fraction(vu.number(~bits_of(x)), 0.0))
        y = y * negative + c[0]
        t = negative * y + 1.0
        scale = scale * 0.5
        y = y * t + y
        if steps > 1:
            t = negative * y + 1.0
            y = y * t + y
        if to16:
            y = y.of(vu.to_bfloat16(y.array))
        return x.of(vu.with_sign((y * scale).array, x.array))
    y = x.of(approximate_reciprocal(x.array))
    if steps == 0:
        return y
    t = x * y - 2.0
    if steps == 1:
        return choose(bits_of(t) < 0, y * -t, y)
    y1 = (y * -t).kept()
    t1 = x * y1 - 2.0
    return choose(bits_of(t) < 0, y1 * -t1, y)


def reciprocal_normalized(x: Lanes) -> Lanes:
    """Of numbers from 1 to 2, with the sign of the number."""
    if x.unit.is_wormhole:
        negative = x.of(vu.number(bits_of(x) | np.int32(-1 << 31)))
        y = negative * _RECIPROCAL[2] + _RECIPROCAL[1]
        y = y * negative + _RECIPROCAL[0]
        y = y * (negative * y + 1.0) + y
        return x.of(vu.with_sign(y.array, x.array))
    y = x.of(approximate_reciprocal(x.array))
    t = x * y - 2.0
    return y * -t - 0.0


def approximate_reciprocal(x: Array) -> Array:
    """To 7 bits (SFPARECIP)."""
    pattern = vu.bits(x)
    size = pattern & 0x7FFFFFFF
    steps = np.arange(128)
    table = np.round(256 / (1 + (steps + 0.5) / 128) - 128).astype(np.int32)
    kept = (253 - (size >> 23)) << 23 | table[(size >> 16) & 0x7F] << 16
    kept = np.where(size < 0x7E800000, kept, 0)
    kept = np.where(size < 0x800000, 0x7F800000, kept)
    return vu.number(pattern & np.int32(-1 << 31) | kept)


def reciprocal(x: Lanes, wide: bool) -> Lanes:
    """1 / x."""
    if x.unit.is_wormhole:
        if wide:
            return reciprocal_iter(x, 2)
        return reciprocal_iter(x, 1, _RECIPROCAL_16, to16=True)
    if wide:
        y = x.of(approximate_reciprocal(x.array))
        e = -x * y + 1.0
        p = (e * e + e) * e + e
        return x.of(vu.smaller(p.array, 1.0)) * y + y
    y = x.of(approximate_reciprocal(x.array))
    low = y.of(vu.number(bits_of(y) | 0x8000))
    t = x.of(x.unit.mad(0.0, 0.0, x.array)) * low - 1.0
    return x.of(vu.number(bits_of(low) + ((bits_of(t).view(np.uint32) >> 16).view(np.int32))))


# --- Roots ----------------------------------------------------------------------------------------


def _sqrt_body(x: Lanes, reciprocal: bool) -> Lanes:
    c = (2.2825186, 2.2533049)
    infinity = np.int32(0x7F800000)
    i = (bits_of(x).view(np.uint32) >> 1).view(np.int32)
    y = x.of(vu.number(np.int32(0x5F1110A0) - i))
    xy = (x * y).kept()
    k = (-y * xy).kept()
    y = (y * (k * (k + c[1]) + c[0])).kept()
    xy = (x * y).kept()
    rest = -y * xy + 1.0
    left = infinity - bits_of(x)
    is_zero = bits_of(x) << np.int32(1) == 0
    is_negative = bits_of(x) < 0
    if reciprocal:
        half = x.of(vu.add_exponent(y.array, -1))
        result = choose(is_negative, _NAN, rest * half + y)
        return choose((left != 0) & ~is_zero, result, x.of(vu.number(left)))
    result = choose(bits_of(x) < infinity, rest * (0.5 * xy) + xy, y)
    return choose(is_zero, x, choose(is_negative, _NAN, result))


def rsqrt_approximate(x: Lanes, wide: bool) -> Lanes:
    """1 / the square root, of one step."""
    infinity = np.int32(0x7F800000)
    i = (bits_of(x).view(np.uint32) >> 1).view(np.int32)
    y = x.of(vu.number(np.int32(0x5F0B3892) - i))
    result = (y * (-y * (x * y).kept() + 1.89099014875)).kept()
    left = infinity - bits_of(x)
    result = choose((left != 0) & ~is_zero(x), result, x.of(vu.number(left)))
    return rounded(choose(bits_of(x) < 0, _NAN, result), wide)


def sqrt(x: Lanes, wide: bool) -> Lanes:
    """The square root."""
    return rounded(_sqrt_body(x, False), wide)


def rsqrt(x: Lanes, wide: bool) -> Lanes:
    """1 / the square root."""
    return rounded(_sqrt_body(x, True), wide)


# --- Logarithms -----------------------------------------------------------------------------------

_LN2_23 = float(np.float32(0.693147182) * np.float32(1.19209290e-7))


def _log_reduced(e: Array, m: Lanes, wide: bool) -> tuple[Lanes, Lanes]:
    s = (m * m).kept()
    if wide:
        r = polynomial(
            m,
            -0.5,
            float.fromhex("0x1.555572p-2"),
            -float.fromhex("0x1.00001ap-2"),
            *map(
                float.fromhex,
                (
                    "0x1.998p-3",
                    "-0x1.55p-3",
                    "0x1.274p-3",
                    "-0x1.0c4p-3",
                    "0x1.b84p-4",
                    "-0x1.92cp-5",
                ),
            ),
        )
    else:
        r = polynomial(m, -float.fromhex("0x1.008p-1"), float.fromhex("0x1.744p-2"), -0.25)
    size = m.of(vu.from_integer(np.abs(e)))
    return r * s + m, m.of(vu.with_sign(size.array, vu.number(e)))


def log_in_register(x: Lanes, wide: bool) -> Lanes:
    """The natural logarithm of numbers that are not NaN, 0 or negative, not yet rounded for DST."""
    power, rest = _log_parts(x, wide)
    return _log_of(x, power * _LN2_23 + rest)


def _log_parts(x: Lanes, wide: bool) -> tuple[Lanes, Lanes]:
    """The exponent, times 2^23, and the logarithm of the rest, which is from 3/4 to 3/2."""
    e = (bits_of(x) - np.int32(0x3F400000)) & np.int32(-1 << 23)
    m = x.of(vu.number(bits_of(x) - e)) - 1.0
    rest, power = _log_reduced(e, m, wide)
    return power, rest


def _log_of(a: Lanes, result: Lanes) -> Lanes:
    """The result, of infinity and NaN their product with it, of negative numbers NaN."""
    half = a.of(vu.add_exponent(a.array, -1))
    result = choose(vu.exponent(half.array, 0) >= 255, result * half, result)
    return choose(bits_of(a) < 0, _NAN, result)


def _without_small(x: Lanes) -> Lanes:
    return x * 1.0 + 0.0


def log(x: Lanes, wide: bool) -> Lanes:
    """The natural logarithm."""
    return rounded(log_in_register(_without_small(x), wide), wide)


def log2(x: Lanes, wide: bool) -> Lanes:
    """The logarithm to base 2."""
    a = _without_small(x)
    power, rest = _log_parts(a, wide)
    result = power * 1.19209290e-7 + (rest * 1.4426950408889634).kept()
    return rounded(_log_of(a, result), wide)


def log10(x: Lanes, wide: bool) -> Lanes:
    """The logarithm to base 10."""
    a = _without_small(x)
    power, rest = _log_parts(a, wide)
    result = ((power * _LN2_23 + rest) * 0.4342944819032518).kept()
    return rounded(_log_of(a, result), wide)


def log1p_in_register(a: Lanes, wide: bool) -> Lanes:
    """ln(1 + a), not yet rounded for DST."""
    u = a + 1.0
    e = (bits_of(u) - np.int32(0x3F400000)) & np.int32(-1 << 23)
    m = a.of(vu.number(bits_of(a) - e))
    s = a.of(vu.number(np.int32(vu.bits(-4.0)) - e))
    m = m + (-0.25 * s + -1.0)
    r, power = _log_reduced(e, m, wide)
    result = power * _LN2_23 + r
    result = choose(bits_of(u) >= np.int32(0x7F800000), u, result)
    return choose(bits_of(u) < 0, _NAN, result)


def log1p(x: Lanes, wide: bool) -> Lanes:
    """ln(1 + x)."""
    return rounded(log1p_in_register(x, wide), wide)


# --- Trigonometric functions ----------------------------------------------------------------------

_H = float.fromhex


def _reduced(v: Lanes, j: Lanes, scale: int) -> Lanes:
    a = j * (-_H("0x1.92p+0") * scale) + v
    a = j * (-_H("0x1.fbp-12") * scale) + a
    a = j * (-_H("0x1.51p-22") * scale) + a
    return j * (-_H("0x1.0b4612p-34") * scale) + a


_BIG = 12582912.0
_FRAC_1_PI = 0.31830987334251404


def _sine(a: Lanes, q: Array, wide: bool) -> Lanes:
    q = q << np.int32(31)
    s = (a * a).kept()
    a = a.of(vu.number(bits_of(a) ^ q))
    if wide:
        c = map(_H, ("-0x1.55554cp-3", "0x1.110edap-7", "-0x1.9f70fp-13", "0x1.5dc908p-19"))
    else:
        c = map(_H, ("-0x1.5554a4p-3", "0x1.10c2a2p-7", "-0x1.8b10a4p-13"))
    r = polynomial(s, *c)
    return rounded(r * (a * s).kept() + a, wide)


def sin(v: Lanes, wide: bool) -> Lanes:
    """The sine."""
    j = v * _FRAC_1_PI + _BIG
    q = bits_of(j)
    return _sine(_reduced(v, j + -_BIG, 2), q, wide)


def cos(v: Lanes, wide: bool) -> Lanes:
    """The cosine."""
    j = v * _FRAC_1_PI + 0.5
    j = j + _BIG
    q = bits_of(j)
    j = (j + -_BIG) * 2.0 + -1.0
    return _sine(_reduced(v, j, 1), q, wide)


def tan(v: Lanes, wide: bool) -> Lanes:
    """The tangent."""
    j = v * 0.6366197466850281 + _BIG
    odd = (bits_of(j) << np.int32(31)) < 0
    a = _reduced(v, j + -_BIG, 1)
    s = (a * a).kept()
    if wide:
        c = (
            "0x1.555556p-2",
            "0x1.111072p-3",
            "0x1.ba5716p-5",
            "0x1.620abcp-6",
            "0x1.4787dp-7",
            "0x1.2b404p-10",
            "0x1.fa9f82p-9",
        )
    else:
        c = ("0x1.55953p-2", "0x1.02b98p-3", "0x1.4f1f4ep-4")
    t = (polynomial(s, *map(_H, c)) * s).kept()
    r = t * a + a
    if v.unit.is_wormhole:
        negative = v.of(vu.with_fraction(np.float32(-1), r.array))
        y = negative * _RECIPROCAL[2] + _RECIPROCAL[1]
        scale = v.of(vu.with_fraction(vu.number(~bits_of(r)), 0.0))
        y = y * negative + _RECIPROCAL[0]
        scale = scale * 0.5
        e = negative * y + 1.0
        y = y * e + y
        inverse = (y * scale).kept()
    else:
        y = v.of(approximate_reciprocal(r.array))
        e = -r * y + 1.0
        inverse = -y * e - y
    if wide:
        rest = t * a + (r * -1.0 + a)
        z = r * inverse + 1.0
        z = rest * inverse + z
        inverse = z * inverse + inverse
    return rounded(choose(odd, inverse, r), wide)


# --- Comparisons ----------------------------------------------------------------------------------


def below(x: Lanes, limit: Lanes | float) -> Array:
    """Whether x < limit: by the sign of the difference, on Blackhole by the order of numbers."""
    if not isinstance(limit, Lanes) and limit == 0:
        return vu.is_negative(x.array)
    if x.unit.is_wormhole:
        return vu.is_negative((x - limit).array)
    other = limit.array if isinstance(limit, Lanes) else limit
    return vu.follows(other, x.array)


def above(x: Lanes, limit: Lanes | float) -> Array:
    """Whether x > limit."""
    if not isinstance(limit, Lanes) and limit == 0:
        return bits_of(x) > 0
    if x.unit.is_wormhole:
        return bits_of(x - limit) > 0
    other = limit.array if isinstance(limit, Lanes) else limit
    return vu.follows(x.array, other)


def is_zero(x: Lanes) -> Array:
    """Whether numbers are 0, of either sign."""
    return bits_of(x) << np.int32(1) == 0


def is_finite(x: Lanes) -> Array:
    """Whether numbers are neither infinite nor NaN."""
    return vu.exponent(x.array, 0) < 255


# --- Inverse trigonometric functions --------------------------------------------------------------

_PI_2 = 1.5707963705062866


def _positive_reciprocal(x: Lanes, wide: bool) -> Lanes:
    if x.unit.is_wormhole:
        y = x.of(vu.number(np.int32(0xFEF392E0 - (1 << 32)) - bits_of(x)))
        e = x * y + 1.0
        if wide:
            y = y * e + y
            e = x * y + 1.0
        p = e * e + e
        y = -y
        return y * p + y
    y = x.of(approximate_reciprocal(x.array))
    e = -x * y + 1.0
    y = y * e + y
    if wide:
        e = -x * y + 1.0
        y = y * e + y
    return y


def atan(x: Lanes, wide: bool) -> Lanes:
    """The arc tangent."""
    size = x.of(vu.magnitude(x.array))
    if not wide:
        large = bits_of(size - 1.0) >= 0
        t0 = choose(large, reciprocal_iter(size, 2), size)
        t1 = polynomial(
            t0 * t0,
            0.999787867069244384765625,
            -0.325808584690093994140625,
            0.1555790007114410400390625,
            -4.4326744973659515380859375e-2,
        )
        t1 = (t1 * t0).kept()
        t1 = choose(large, _PI_2 - t1, t1)
        result = x.of(vu.with_sign(t1.array, x.array))
        is_nan = (vu.exponent(x.array, 0) >= 255) & (vu.fraction(x.array) != 0)
        return rounded(choose(is_nan, _NAN, result), wide)
    ax = x.of(vu.number(bits_of(x) & 0x7FFFFFFF))
    e = vu.exponent(ax.array)
    far = x.of(vu.number(bits_of(ax) - 1)) * 0.0
    a = choose(e >= 0, choose(e < 26, _positive_reciprocal(ax, True), far), ax)
    s = (a * a).kept()
    p = polynomial(
        s,
        *map(
            _H,
            (
                "-0x1.555552p-2",
                "0x1.999384p-3",
                "-0x1.24p-3",
                "0x1.bd4p-4",
                "-0x1.48cp-4",
                "0x1.93p-5",
                "-0x1.4bcp-6",
                "0x1.01cp-8",
            ),
        ),
    )
    r = p * (s * a).kept() + a
    r = choose(e >= 0, _PI_2 - r, r)
    return x.of(vu.with_sign(r.array, x.array))


def _sqrt_custom(x: Lanes, steps: int = 2) -> Lanes:
    half = (x * -0.5).kept()
    y = x.of(vu.number(np.int32(0x5F370000) - (bits_of(x).view(np.uint32) >> 1).view(np.int32)))
    for _ in range(steps):
        y = ((y * y).kept() * half + 1.5) * y
        y = y.kept()
    return choose(~is_zero(x) & is_finite(x), y * x, x)


def _sqrt_endpoint(x: Lanes) -> Lanes:
    i = (bits_of(x).view(np.uint32) >> 1).view(np.int32)
    y = x.of(vu.number(np.int32(0x5F1110A0) - i))
    xy = (x * y).kept()
    c = (-y * xy).kept()
    y = (y * (c * (c + 2.2533049) + 2.2825186)).kept()
    xy = (x * y).kept()
    return (-y * xy + 1.0) * (0.5 * xy) + xy


def _asin_16(x: Lanes) -> Lanes:
    size = x.of(vu.magnitude(x.array))
    end = size - 0.625
    z = _sqrt_custom(((1.0 - size) * 0.5).kept())
    z = choose(bits_of(end) < 0, size, z)
    ratio = polynomial(
        z * z,
        0.999978601932525634765625,
        0.16771225631237030029296875,
        0.06381262838840484619140625,
        0.083148844540119171142578125,
    )
    r = (z * ratio).kept()
    r = choose(bits_of(end) >= 0, _PI_2 - 2.0 * r, r)
    return x.of(vu.with_sign(r.array, x.array))


def _asin_wide(x: Lanes, coefficients: tuple[str, ...]) -> tuple[Lanes, Lanes, Lanes, Lanes]:
    ax = x.of(vu.magnitude(x.array))
    half = ((1.0 - ax) * 0.5).kept()
    t = ax - 0.5625
    z = choose(bits_of(t) < 0, ax, _sqrt_endpoint(half))
    s = (z * z).kept()
    p = polynomial(s, *map(_H, coefficients))
    return (p * s).kept(), z, t, half


def asin(x: Lanes, wide: bool) -> Lanes:
    """The arc sine."""
    if wide:
        p, z, t, half = _asin_wide(
            x, ("0x1.55578cp-3", "0x1.329a74p-4", "0x1.7dcp-5", "0x1.364p-6", "0x1.9e0000p-5")
        )
        r = p * z + z
        r = choose(bits_of(t) >= 0, r * -2.0 + _PI_2, r)
        r = x.of(vu.with_sign(r.array, x.array))
        return choose(bits_of(half) < 0, _NAN, r)
    outside = above(x.of(vu.magnitude(x.array)), 1.0)
    return rounded(choose(outside, _NAN, _asin_16(x)), wide)


def acos(x: Lanes, wide: bool) -> Lanes:
    """The arc cosine."""
    if wide:
        p, z, t, half = _asin_wide(
            x,
            (
                "0x1.555552p-3",
                "0x1.33411ep-4",
                "0x1.6acp-5",
                "0x1.158p-5",
                "0x1.ca0000p-8",
                "0x1.830p-5",
            ),
        )
        signs = x.of(vu.number(bits_of(x) ^ bits_of(t)))
        z = x.of(vu.with_sign(z.array, signs.array))
        r = p * z + z
        r = choose((bits_of(z) | bits_of(t)) < 0, r + _PI_2, r)
        r = choose(bits_of(t) >= 0, r + r, r)
        return choose(bits_of(half) < 0, _NAN, r)
    outside = above(x.of(vu.magnitude(x.array)), 1.0)
    return rounded(choose(outside, _NAN, _PI_2 - _asin_16(x)), wide)


# --- Hyperbolic functions -------------------------------------------------------------------------


def _quarter_exp(x: Lanes, wide: bool) -> Lanes:
    j = (x * 1.442695).kept()
    a = x.of(vu.number(bits_of(x) & 0x7FFFFFFF))
    m = vu.to_small_integer(j.array, 255, signed=False)
    j = x.of(vu.from_integer(m))
    if wide:
        f = j * -0.693145752 + a
        f = j * -1.42860677e-6 + f
        r = polynomial(
            f, 1.0, 4.99999851e-1, 1.66664720e-1, 4.16695364e-2, 8.37312452e-3, 1.37805939e-3
        )
    else:
        f = j * -0.6931471805599453 + a
        r = polynomial(f, 0.999963462, 0.500122011, 0.168174848, 0.038877178)
    i = m + 125
    r = r * f + 1.0
    return choose(i < 255, r * x.of(vu.number(i << 23)), a * _INF)


def cosh(x: Lanes, wide: bool) -> Lanes:
    """The hyperbolic cosine."""
    q = _quarter_exp(x.of(vu.number(bits_of(x) & 0x7FFFFFFF)), wide)
    r = (_positive_reciprocal(q, wide) * 0.125).kept()
    y = q + q
    return rounded(choose(vu.exponent(q.array) < 24, y + r, y), wide)


def _quarter_expm1(x: Lanes, wide: bool) -> Lanes:
    j = (x * 1.442695).kept()
    a = x.of(vu.number(bits_of(x) & 0x7FFFFFFF))
    m = vu.to_small_integer(j.array, 255, signed=False)
    j = x.of(vu.from_integer(m))
    if wide:
        f = j * -0.693145752 + a
        f = j * -1.42860677e-6 + f
        c = (
            4.999999702e-1,
            1.666667163e-1,
            4.166680202e-2,
            8.333439939e-3,
            1.393107930e-3,
            1.974105835e-04,
        )
    else:
        f = j * -0.6931471805599453 + a
        c = (0.5, 1.666259766e-01, 4.177856445e-02, 8.361816406e-03)
    r = polynomial(f, *c) * (f * f).kept() + f
    scale = x.of(vu.number((m << 23) + vu.bits(0.25)))
    return choose(m < 130, r * scale + (scale - 0.25), a * _INF)


def sinh(x: Lanes, wide: bool) -> Lanes:
    """The hyperbolic sine."""
    q = _quarter_expm1(x, wide)
    e = 4.0 * q + 1.0
    r = _positive_reciprocal(e, wide)
    power = vu.exponent(q.array)
    y = q + q
    y = choose(power < 23, y * r + y, y)
    y = choose(power >= -27, y, x)
    return rounded(x.of(vu.with_sign(y.array, x.array)), wide)


def _sqrt_positive(x: Lanes, wide: bool) -> Lanes:
    half = x.of(vu.add_exponent(x.array, -1))
    y = x.of(vu.number(np.int32(0x5F1110A0) - (bits_of(x).view(np.uint32) >> 1).view(np.int32)))
    for _ in range(3 if wide else 2):
        y = (y * (1.5 - (half * y).kept() * y)).kept()
    a = (x * y).kept()
    a = (0.5 * (x - a * a)).kept() * y + a
    return choose(is_zero(x), 0.0, a)


def acosh(x: Lanes, wide: bool) -> Lanes:
    """The inverse of the hyperbolic cosine."""
    large = 268435456.0
    arg = x - 1.0
    arg = choose(below(x, large), arg + _sqrt_positive(((x + 1.0) * arg).kept(), wide), arg)
    if not wide:
        arg = _stored(arg)
    r = log1p_in_register(arg, wide)
    r = choose(~below(x, large), r + 0.6931471805599453, r)
    one = is_zero(x - 1.0)
    r = choose(one, 0.0, choose(below(x, 1.0), _NAN, r))
    return rounded(r, wide)


def _stored(x: Lanes) -> Lanes:
    """What is left of numbers in a DST of 16 bits."""
    return x.of(vu.number(bits_of(x) & np.int32(-1 << 16)))


def asinh(x: Lanes, wide: bool) -> Lanes:
    """The inverse of the hyperbolic sine."""
    large = 268435456.0
    size = x.of(vu.magnitude(x.array))
    square = (x * x).kept()
    root = _sqrt_positive(x * x + 1.0, wide)
    middle = square * _positive_reciprocal(root + 1.0, wide) + size
    arg = choose(~below(size, large), size - 1.0, choose(~below(size, 0.75), middle, 0.0))
    if not wide:
        arg = _stored(arg)
    r = log1p_in_register(arg, wide)
    r = choose(~below(size, large), r + 0.6931471805599453, r)
    p = polynomial(
        square,
        1.0,
        -1.666652262e-01,
        7.495806366e-02,
        -4.417778924e-02,
        2.785361186e-02,
        -1.484858524e-02,
        4.375355784e-03,
    )
    r = choose(below(size, 0.75), size * p, r)
    return rounded(x.of(vu.with_sign(r.array, x.array)), wide)


def atanh(x: Lanes, wide: bool) -> Lanes:
    """The inverse of the hyperbolic tangent."""
    size = x.of(vu.magnitude(x.array))
    a = choose(~below(size, 1.0), 0.0, size)
    arg = ((a + a) * _positive_reciprocal(1.0 - a, wide)).kept()
    if not wide:
        arg = _stored(arg)
    r = 0.5 * log1p_in_register(arg, wide)
    r = x.of(vu.with_sign(r.array, x.array))
    r = choose(
        above(size, 1.0),
        _NAN,
        choose(is_zero(size - 1.0), x.of(vu.with_sign(vu.INFINITY, x.array)), r),
    )
    return rounded(r, wide)


# --- Sigmoids -------------------------------------------------------------------------------------


def _tanh_wide(x: Lanes) -> Lanes:
    j = (x * (2.0 * float(np.float32(1.442695)))).kept()
    a = x + x
    m = vu.to_small_integer(j.array, 255, signed=False)
    j = x.of(vu.from_integer(m))
    a = x.of(vu.number(bits_of(a) & 0x7FFFFFFF))
    f = j * -0.6931471805599453 + a
    r = polynomial(
        f, 0.5, 1.666667163e-1, 4.166680202e-2, 8.331298828e-3, 1.393318176e-3, 1.974105835e-04
    )
    r = r * (f * f).kept() + f
    scale = x.of(vu.with_exponent(np.zeros_like(x.array), m + 126))
    bias = scale - 0.5
    y = x.of(vu.number(bits_of(a) - 1)) * 0.0 + 1.0
    x0 = r * scale + bias
    x1 = x0 + 1.0
    if x.unit.is_wormhole:
        inverse = x.of(vu.number(np.int32(0xFEF30000 - (1 << 32)) - bits_of(x1)))
        t = x1 * inverse + 1.0
        t = t * t + t
    else:
        inverse = x.of(approximate_reciprocal(x1.array))
        t = -x1 * inverse + 1.0
    inverse = inverse * t + inverse
    y0 = (x0 * inverse).kept()
    t = (x1 if x.unit.is_wormhole else -x1) * y0 + x0
    near = choose(vu.exponent(x.array, 0) >= 115, t * inverse + y0, x)
    y = choose(m < 61, near, y)
    return x.of(vu.with_sign(y.array, x.array))


_TANH = (
    0.0,
    0.999004364013671875,
    3.0897438526153564453125e-2,
    -0.4890659749507904052734375,
    0.281917631626129150390625,
    -6.6649019718170166015625e-2,
    5.876733921468257904052734375e-3,
)


def tanh(x: Lanes, wide: bool) -> Lanes:
    """The hyperbolic tangent."""
    if wide:
        return _tanh_wide(x)
    size = x.of(vu.magnitude(x.array))
    r = (polynomial(size, *_TANH[1:]) * size).kept()
    r = x.of(vu.smaller(r.array, 1.0))
    return rounded(x.of(vu.with_sign(r.array, x.array)), wide)


def _sigmoid(x: Lanes, wide: bool) -> Lanes:
    e = exp_wide(-x) if wide else exp_21(-x, True)
    return reciprocal_iter(e + 1.0, 2 if wide else 1)


def sigmoid(x: Lanes, wide: bool) -> Lanes:
    """1 / (1 + exp(-x))."""
    return rounded(_sigmoid(x, wide), wide)


def silu(x: Lanes, wide: bool) -> Lanes:
    """x * sigmoid(x)."""
    return rounded((x * _sigmoid(x, wide)).kept(), wide)


def mish(x: Lanes, wide: bool) -> Lanes:
    """x * tanh(ln(1 + exp(x))), which is a quotient of polynomials of exp(x)."""
    u = accurate_exp(x, wide)
    one = u + 1.0
    inverse = reciprocal_iter(one * one + 1.0, 2 if wide else 1)
    result = x * ((u * (u + 2.0)).kept() * inverse).kept()
    if not x.unit.is_wormhole:
        result = choose(bits_of(x) >= 0, x * (1.0 - 2.0 * inverse), result)
    return rounded(choose(below(x, 8.0), result, x), wide)


def tanhshrink(x: Lanes, wide: bool) -> Lanes:
    """x - tanh(x)."""
    ax = x.of(vu.number(bits_of(x) & 0x7FFFFFFF))
    u = (x * x).kept()
    if wide:
        c = (
            3.3333331347e-01,
            -1.3333128393e-01,
            5.3934831172e-02,
            -2.1660288796e-02,
            8.2192532718e-03,
            -2.5107525289e-03,
            4.2079269770e-04,
        )
    else:
        c = (3.3329936862e-01, -1.3223160803e-01, 4.8076551408e-02, -1.0762925260e-02)
    result = (x * u).kept() * polynomial(u, *c)
    if wide:
        limited = x.of(vu.smaller(ax.array, 9.0))
        e = exp_wide((-2.0 * limited).kept(), safe=False)
        t = 2.0 * reciprocal_iter(e + 1.0, 2) - 1.0
        far = x.of(vu.with_sign((ax - t).array, x.array))
    else:
        p = polynomial(ax, 6.1829000893e-02, 1.0561303143e00, -4.0859283753e-01, 5.3348409333e-02)
        p = vu.smaller(p.array, 1.0)
        far = x - x.of(vu.with_sign(p, x.array))
    return rounded(choose(above(ax, 1.0), far, result), wide)


_SOFTPLUS = (
    6.9310557842e-01,
    -4.9926245213e-01,
    1.2186349183e-01,
    5.6753782555e-03,
    -1.0528374463e-02,
    2.7290175203e-03,
    -3.4358495031e-04,
    2.1285692128e-05,
    -4.8245715334e-07,
)
_SOFTPLUS_16 = (
    6.9423984729e-01,
    -5.0932420424e-01,
    1.4279095486e-01,
    -1.3000584069e-02,
    -1.8627923291e-03,
    5.0152968088e-04,
    -3.1273466851e-05,
)


def _exp_negative(x: Lanes, wide: bool) -> Lanes:
    z = x * 1.4426950408889634
    t = z.kept() + _BIG
    k = t - _BIG
    i = bits_of(t) - vu.bits(_BIG)
    r = k * -0.6931152343750000 + x
    r = k * -3.19461832987e-05 + r
    c = (1.0, 1.0, 0.5, 0.166666667, 0.0416666667, 0.00833333333, 0.00138888889, 0.000198412698)
    p = polynomial(r, *(c if wide else c[:6]))
    power = vu.exponent(p.array, 0) + i
    return choose(power > 0, x.of(vu.with_exponent(p.array, power)), 0.0)


def softplus(x: Lanes, wide: bool, beta: float = 1.0, threshold: float = 20.0) -> Lanes:
    """ln(1 + exp(beta * x)) / beta; x above the threshold."""
    t = (beta * x).kept()
    a = x.of(vu.number(bits_of(t) & 0x7FFFFFFF))
    if wide:
        rest = polynomial(a, *_SOFTPLUS)
        e = _exp_negative(-a, wide)
        far = e * (e * (e * 0.333333343 + -0.5) + 1.0)
    else:
        rest, far = polynomial(a, *_SOFTPLUS_16), 0.0
    rest = choose(above(a, 5.0), far, rest)
    result = (1.0 / beta) * (x.of(vu.larger(t.array, 0.0)) + rest)
    return choose(~above(t, threshold), rounded(result.kept(), wide), x)


# --- Other exponentials ---------------------------------------------------------------------------


def exp2(x: Lanes, wide: bool) -> Lanes:
    """2 to the power of x."""
    if not wide:
        z = x + 127.0
        return rounded(_exp2_split(z.of(vu.clamped(z.array, 0.0, 255.0)), _EXP2), wide)
    sm = vu.to_small_integer(x.array, 32767, signed=True)
    j = x.of(vu.from_integer(sm))
    f = x - j
    y = polynomial(f, *map(_H, ("0x1.c6afd8p-5", "0x1.3b4p-7", "0x1.5f4p-10", "0x1.41cp-13")))
    i = np.where(sm < 0, -(sm & 0x7FFFFFFF), sm)
    r = y * f + _H("0x1.ebfba0p-3")
    r = r * f + _H("0x1.62e42ep-1")
    r = r * f + 1.0
    e = vu.exponent(r.array, 0) + i
    inside = choose(e < 1, 0.0, x.of(vu.with_exponent(r.array, e)))
    result = choose(e < 255, inside, y * _INF)
    return choose(bits_of(x.of(vu.magnitude(x.array))) >= 0, result, y * _INF)


def expm1(a: Lanes, wide: bool) -> Lanes:
    """exp(x) - 1."""
    j = a * 1.442695 + _BIG
    i = bits_of(j)
    j = j - _BIG
    half = vu.bits(0.5)
    if not wide:
        f = j * -0.6931471805599453 + a
        r = (
            polynomial(f, 0.5, 1.666259766e-01, 4.177856445e-02, 8.361816406e-03) * (f * f).kept()
            + f
        )
        two = j + -2.0
        scale = a.of(vu.number((i << np.int32(23)) + half))
        tail = vu.to_small_integer(vu.magnitude(two.array), 127, signed=True)
        s = scale * r + (scale - 0.5)
        out = choose(bits_of(two) < 0, -0.5, two * _INF)
        s = choose(tail >= 127, out, s)
        return rounded(choose(is_zero(j), r, s * 2.0), wide)
    f = j * -0.693145752 + a
    f = j * -1.42860677e-6 + f
    s = (f * f).kept()
    c0 = float(vu.number(np.array([int(half) - 1]))[0])
    r = polynomial(
        f, c0, 1.666667163e-1, 4.166680202e-2, 8.333439939e-3, 1.393107930e-3, 1.974105835e-04
    )
    one = j + -1.0
    is_one = is_zero(one)
    u = choose(is_one, f + 0.5, f)
    r = r * s + u
    t = a.of(vu.number((i << np.int32(23)) + half))
    y = t - 0.5
    x = (t - y) - 0.5
    two = one + -1.0
    q = r * t + x
    tail = vu.to_small_integer(vu.magnitude(two.array), 127, signed=True)
    q = q + y
    q = choose(tail >= 127, choose(bits_of(two) < 0, -0.5, two * _INF), q)
    q = choose(is_one, r, q)
    return choose(is_zero(j), r, q * 2.0)


def _expm1_limited(x: Lanes, wide: bool) -> Lanes:
    x = x.of(vu.larger(x.array, -87.0))
    t = x * 1.4426950408889634 + _BIG
    k = t - _BIG
    r = k * -0.6931152343750000 + x
    r = k * -3.19461832987e-05 + r
    if wide:
        c = (1.0, 5.0e-01, 1.6666504741e-01, 4.1666239500e-02, 8.3691505715e-03, 1.3948583510e-03)
    else:
        c = (1.0, 4.9999371171e-01, 1.6666433215e-01, 4.1875664145e-02, 8.3751315251e-03)
    h = (r * polynomial(r, *c)).kept()
    two = x.of(vu.with_exponent(np.ones_like(x.array), bits_of(t) - np.int32(0x4B3FFF81)))
    return two * h + (two - 1.0)


def elu(x: Lanes, wide: bool, alpha: float = 1.0) -> Lanes:
    """x, or alpha * (exp(x) - 1) below 0."""
    return choose(
        bits_of(x) >= 0, rounded(x, wide), rounded((alpha * _expm1_limited(x, wide)).kept(), wide)
    )


def celu(x: Lanes, wide: bool, alpha: float = 1.0) -> Lanes:
    """x, or alpha * (exp(x / alpha) - 1) below 0."""
    inner = (float(np.float32(1) / np.float32(alpha)) * x).kept()
    return choose(
        bits_of(x) >= 0,
        rounded(x, wide),
        rounded((alpha * _expm1_limited(inner, wide)).kept(), wide),
    )


def selu(
    x: Lanes, wide: bool, scale: float = 1.0507009873554805, alpha: float = 1.6732632423543772
) -> Lanes:
    """scale * x, or scale * alpha * (exp(x) - 1) below 0."""
    both = float(np.float32(scale) * np.float32(alpha))
    result = choose(bits_of(x) >= 0, scale * x, both * _expm1_limited(x, wide))
    return rounded(result, wide)


# --- Error functions ------------------------------------------------------------------------------

_ERF = (
    (1.1280932447, 2.7609212279e-01, 4.5400281738e-02, 7.4481184425e-04),
    (1.0, 5.7439188334e-01, 1.3675764810e-01, 8.2844606784e-03, 2.4813862145e-05),
)
_ERF_WIDE = (
    (
        1.1283791065,
        2.1477432549e-01,
        6.2133435160e-02,
        5.6230435148e-03,
        6.1307044234e-04,
        1.7678321456e-05,
        2.7384647439e-08,
        -2.8632063387e-10,
    ),
    (
        1.0,
        5.2367275953e-01,
        1.2961706519e-01,
        1.9642570987e-02,
        1.9545555115e-03,
        1.3179056987e-04,
        1.3156344494e-06,
        -3.5153888689e-09,
        -6.7350725691e-12,
    ),
)


def _rational(x: Lanes, c: tuple[tuple[float, ...], tuple[float, ...]]) -> tuple[Lanes, Lanes]:
    s = (x * x).kept()
    return (polynomial(s, *c[0]) * x).kept(), polynomial(s, *c[1])


def erf(x: Lanes, wide: bool) -> Lanes:
    """The error function."""
    limited = vu.smaller(vu.magnitude(x.array), 10.0)
    x = x.of(vu.with_sign(limited, x.array))
    above, below = _rational(x, _ERF_WIDE if wide else _ERF)
    r = above * reciprocal_iter(below, 2)
    return x.of(vu.clamped(r.array, -1.0, 1.0))


def erfc(x: Lanes, wide: bool) -> Lanes:
    """1 - erf(x)."""
    a = x.of(vu.smaller(vu.magnitude(x.array), 5.0))
    near = (
        polynomial(
            a, 1.0000233650, -1.3375675678, 6.8185544014e-01, -1.5691982210e-01, 1.3746744953e-02
        ),
        polynomial(
            a,
            1.0,
            -2.0801517367e-01,
            4.3667086959e-01,
            -3.4568668343e-03,
            2.5104774162e-02,
            2.8375532478e-02,
        ),
    )
    far = (
        polynomial(
            a,
            -2.5655237550e-05,
            2.1275576728e-05,
            -6.6162156145e-06,
            9.1439767402e-07,
            -4.7387182178e-08,
        ),
        polynomial(
            a,
            1.0,
            -1.6457208991e-01,
            -2.0572184026e-01,
            -1.3888636231e-01,
            1.2677097321e-01,
            -2.1375391632e-02,
        ),
    )
    is_far = ~below(a, 2.5)
    top, bottom = (choose(is_far, f, n) for n, f in zip(near, far, strict=True))
    r = (top * reciprocal_iter(bottom, 0)).kept()
    return choose(bits_of(x) < 0, 2.0 - r, r)


def erfinv(x: Lanes, wide: bool) -> Lanes:
    """The inverse of the error function (Winitzki)."""
    v = log_in_register(_without_small(1.0 - x * x), wide=False)
    t = -0.5 * v + -4.330746750799873
    c = t * t - (v * 6.802721088435375).kept()
    inner = _sqrt_custom(c)
    r = _sqrt_custom(t + inner)
    return x.of(vu.with_sign(r.array, x.array))


# --- Gelu and the cube root -----------------------------------------------------------------------

_GELU_ODD = (
    3.9894227818e-01,
    -6.6361041488e-02,
    9.7720050615e-03,
    -1.0717806322e-03,
    8.1812159812e-05,
    -3.8082057209e-06,
    7.9821413868e-08,
)


def gelu(x: Lanes, wide: bool) -> Lanes:
    """x times the normal distribution of x."""
    if wide:
        z = (x * 0.7071067811865475).kept()
        z = x.of(vu.smaller(z.array, 10.0))
        top, bottom = _rational(z, _ERF_WIDE)
        e = top * reciprocal_iter(bottom, 2)
        e = x.of(vu.clamped(e.array, -1.0, 1.0))
        r = x * (0.5 * e + 0.5)
        r = choose(is_zero(e - -1.0), x * 2.9802322387695313e-08, r)
        return choose(above(x, -5.54259443), r, x - x)
    s = (x * x).kept()
    z = s * -0.72134752044 + 127.0
    h = _exp2_split(z, _EXP2) * polynomial(
        x, 3.0369991064e-01, 9.5413386822e-02, 1.3809983619e-02, 7.5950479368e-04
    )
    h = (h.kept() + 0.375) - 0.375
    tail = (x * h).kept()
    odd = polynomial(s, *_GELU_ODD)
    core = x * (x * odd + 0.5)
    r = choose(~below(x, -3.125), core, tail)
    r = choose(~below(x, 2.78125), x, r)
    return rounded(choose(above(x, -5.54259443), r, 0.0), wide)


_GELU_LINES = (
    (0.5, 0.1928, -0.00010443),
    (1.0, 0.4939, -0.1604),
    (1.5, 0.6188, -0.2796),
    (2.0, 0.6099, -0.2635),
    (3.0, 0.5402, -0.1194),
)
"""Up to which |x| lines hold that are added to x / 2, and their slopes and heights in 16 bits."""


def gelu_approximate(x: Lanes, wide: bool) -> Lanes:
    """gelu by straight lines (SFPLUTFP32)."""
    size = vu.number(bits_of(x) & 0x7FFFFFFF)
    slope, height = np.full_like(size, 0.5), np.zeros_like(size)
    for limit, *line in reversed(_GELU_LINES):
        steep, high = (np.float32(np.float16(each)) for each in line)
        is_inside = vu.bits(size) < vu.bits(limit)
        slope, height = np.where(is_inside, steep, slope), np.where(is_inside, high, height)
    line = x.of(size) * x.of(slope) + x.of(height)
    return x * 0.5 + line


_I1 = (
    (4.9992737740e-01, 5.4503594600e-02, 1.6126291630e-03, 2.0223499130e-05),
    (1.0, -1.6242591070e-02, 1.0333660750e-04, -2.5076132990e-07),
)
_I1_WIDE = (
    (
        5.0000000000e-01,
        5.6819390506e-02,
        1.9247245509e-03,
        2.8397364076e-05,
        2.0916867527e-07,
        7.7937084564e-10,
        1.2293555930e-12,
    ),
    (
        1.0,
        -1.1361218989e-02,
        6.1268139689e-05,
        -1.9771712800e-07,
        3.8127551116e-10,
        -3.1218170410e-13,
        -3.0635529988e-16,
        7.4301498523e-19,
    ),
)


def i1(x: Lanes, wide: bool) -> Lanes:
    """The modified Bessel function of order 1, of 16 bits."""
    x = x.of(vu.clamped(x.array, -88.5, 88.5))
    size = x.of(vu.magnitude(x.array))
    t = (x * x).kept()
    above_line, below_line = (polynomial(t, *c) for c in (_I1_WIDE if wide else _I1))
    near = ((above_line * x).kept() * reciprocal_iter(below_line, 2)).kept()
    if wide:
        power = exp_wide(size, safe=False)
    else:
        power = _exp2_split(size * 1.4426950216293334961 + 127.0, _EXP2)
    y = _rsqrt_steps(size)
    far = polynomial(
        (y * y).kept(),
        3.9894228967e-01,
        -1.4960495444e-01,
        -4.6652925320e-02,
        -4.3674591560e-02,
        -1.9748322314e-02,
        -3.3467922914e-01,
    )
    far = ((power * y).kept() * far).kept()
    far = x.of(vu.with_sign(far.array, x.array))
    return rounded(choose(above(size, 10.0), far, near), wide)


def _rsqrt_steps(x: Lanes) -> Lanes:
    half_bits = (bits_of(x).view(np.uint32) >> 1).view(np.int32)
    y = x.of(vu.number(np.int32(0x5F1110A0) - half_bits))
    c = (-y * (x * y).kept()).kept()
    y = (y * (c * (c + 2.2533049) + 2.2825186)).kept()
    rest = -y * (x * y).kept() + 1.0
    return rest * x.of(vu.add_exponent(y.array, -1)) + y


def logical_not(x: Lanes, wide: bool) -> Lanes:
    """1 where all bits are 0."""
    return choose(bits_of(x) == 0, 1.0, x.of(np.zeros_like(x.array)))


def cbrt(a: Lanes, wide: bool) -> Lanes:
    """The cube root."""
    third = -_H("0x1.555556p-10")
    x = a.of(vu.magnitude(a.array))
    f = a.of(vu.from_integer(bits_of(x))) * third + (13929516.0)
    y = a.of(vu.number(bits_of(f) << np.int32(8)))
    k = (_H("0x1.c09806p0"), -_H("0x1.403e6cp0"), _H("0x1.04cdb2p-1"))
    if wide:
        c = ((x * y).kept() * (y * y).kept()).kept()
        y = (y * (c * (c * k[2] + k[1]) + k[0])).kept()
        d = (x * (y * y).kept()).kept()
        c = d * y + -1.0
        t = c * a.of(vu.add_exponent(np.float32(third), 8)) + 1.0
    else:
        d = (x * (y * y).kept()).kept()
        c = (d * y).kept()
        t = c * (c * k[2] + k[1]) + k[0]
    d = a.of(vu.with_sign(d.array, a.array))
    return rounded((d * (t * t).kept()).kept(), wide)


# --- Roundings and pieces -------------------------------------------------------------------------


def _whole(x: Lanes) -> Lanes:
    e = vu.exponent(x.array)
    mask = np.where(
        e >= 0,
        np.where(e > 23, -1, vu.shifted_left(np.full_like(e, -1), np.maximum(23 - e, 0))),
        np.int32(-1 << 31),
    )
    return x.of(vu.number(bits_of(x) & mask))


def trunc(x: Lanes, wide: bool) -> Lanes:
    """The whole number towards 0."""
    return _whole(x)


def floor(x: Lanes, wide: bool) -> Lanes:
    """The whole number below."""
    t = _whole(x)
    smaller = (bits_of(x) < 0) & (bits_of(x) - bits_of(t) > 0)
    return choose(smaller, t + -1.0, t)


def ceil(x: Lanes, wide: bool) -> Lanes:
    """The whole number above."""
    t = _whole(x)
    return choose((bits_of(x) >= 0) & (bits_of(t) - bits_of(x) < 0), t + 1.0, t)


def frac(x: Lanes, wide: bool) -> Lanes:
    """What trunc leaves."""
    return x - _whole(x)


def round_even(x: Lanes, wide: bool, decimals: float = 0) -> Lanes:
    """The nearest number of so many decimals, ties to even."""
    v = (x * 10.0**decimals).kept() if decimals else x
    t = (x.of(vu.number(bits_of(v) & 0x7FFFFFFF)) + 8388608.0) + -8388608.0
    whole = choose(vu.exponent(v.array) < 23, x.of(vu.with_sign(t.array, v.array)), v)
    return 10.0**-decimals * whole if decimals else whole


def square(x: Lanes, wide: bool) -> Lanes:
    """x * x."""
    r = (x * x).kept()
    if wide:
        return r
    b = bits_of(r)
    return x.of(vu.number((b + 0x7FFF + (b >> 16 & 1)) & np.int32(-1 << 16)))


def sign(x: Lanes, wide: bool) -> Lanes:
    """-1, 0 or 1."""
    return choose(is_zero(x), 0.0, x.of(vu.with_sign(np.float32(1), x.array)))


def softsign(x: Lanes, wide: bool) -> Lanes:
    """x / (1 + |x|)."""
    return x * reciprocal_iter(x.of(vu.magnitude(x.array)) + 1.0, 2)


def hardsigmoid(x: Lanes, wide: bool) -> Lanes:
    """x / 6 + 1/2 within 0 and 1."""
    t = x * 0.1666666716337204 + 0.5
    t = choose(above(t, 1.0), 1.0, t)
    return choose(bits_of(t) < 0, 0.0, t)


def hardswish(x: Lanes, wide: bool) -> Lanes:
    """x * hardsigmoid(x), two operations on a card, the second on the matrix unit."""
    factor = hardsigmoid(x, wide)
    if wide:
        return x * factor
    first = vu.pack_bfloat16(factor.array)
    wormhole = x.unit.is_wormhole
    return x.of(
        matrix_unit.multiply(first, x.array, MathFidelity.HIFI4, wide=False, wormhole=wormhole)
    )


def hardmish(x: Lanes, wide: bool) -> Lanes:
    """x * (x / 2 + 1), the factor within 0 and 1."""
    t = x * 0.5 + 1.0
    return x * x.of(vu.clamped(t.array, 0.0, 1.0))


def relu6(x: Lanes, wide: bool) -> Lanes:
    """x within 0 and 6."""
    t = choose(above(x, 6.0), 6.0, x)
    return choose(bits_of(t) < 0, 0.0, t)


def leaky_relu(x: Lanes, wide: bool, parameter: float = 0.01) -> Lanes:
    """x, or its multiple below 0."""
    return choose(bits_of(x) < 0, x * parameter, x)


def hardshrink(x: Lanes, wide: bool, lambd: float = 0.5) -> Lanes:
    """x, or 0 within the limits."""
    size = x.of(vu.number(bits_of(x) & 0x7FFFFFFF))
    is_inside = bits_of(lambd - size) >= 0 if x.unit.is_wormhole else ~above(size, lambd)
    return choose(is_inside, 0.0, x)


def softshrink(x: Lanes, wide: bool, lambd: float = 0.5) -> Lanes:
    """x less its part within the limits."""
    return x - x.of(vu.clamped(x.array, -lambd, lambd))


def hardtanh(x: Lanes, wide: bool, min_val: float = -1.0, max_val: float = 1.0) -> Lanes:
    """x within limits."""
    return x.of(vu.clamped(x.array, min_val, max_val))


def i0(x: Lanes, wide: bool) -> Lanes:
    """The modified Bessel function of order 0."""
    s = (x * x).kept()
    return (
        polynomial(
            s,
            0.25,
            0.015625,
            0.0004340277778,
            0.000006781684028,
            6.78e-08,
            4.71e-10,
            2.40e-12,
            9.39e-15,
            2.90e-17,
            7.24e-20,
            1.50e-22,
        )
        * s
        + 1.0
    )


def rad2deg(x: Lanes, wide: bool) -> Lanes:
    """Degrees of radians."""
    return x * 57.2957795130823


def deg2rad(x: Lanes, wide: bool) -> Lanes:
    """Radians of degrees."""
    return x * 0.017453292519943


def absolute(x: Lanes, wide: bool) -> Lanes:
    """The absolute value."""
    return x.of(vu.magnitude(x.array))


def negate(x: Lanes, wide: bool) -> Lanes:
    """-x."""
    return -x


def identity(x: Lanes, wide: bool) -> Lanes:
    """x."""
    return x


def relu(x: Lanes, wide: bool) -> Lanes:
    """x, or 0 below 0."""
    return choose(bits_of(x) < 0, 0.0, x)


def signbit(x: Lanes, wide: bool) -> Lanes:
    """1 where the sign is set."""
    return choose(bits_of(x) < 0, 1.0, x.of(np.zeros_like(x.array)))


def heaviside(x: Lanes, wide: bool, value: float) -> Lanes:
    """0 or 1, and the value at 0."""
    half = x.of(vu.with_sign(np.float32(0.5), x.array))
    return choose(is_zero(x), value, half + 0.5)


def threshold(x: Lanes, wide: bool, threshold: float, value: float) -> Lanes:
    """x above the threshold, elsewhere the value."""
    return choose(above(x, threshold), x, value)


def clamp(x: Lanes, wide: bool, min: float, max: float) -> Lanes:
    """x within limits."""
    return x.of(vu.clamped(x.array, min, max))


FUNCTIONS: Mapping[str, Callable[..., Lanes]] = {
    **{
        each.__name__: each
        for each in (
            *(exp, exp2, expm1, log, log2, log10, log1p, sqrt, rsqrt, cbrt, reciprocal, square),
            *(sin, cos, tan, asin, acos, atan, sinh, cosh, tanh, asinh, acosh, atanh),
            *(sigmoid, silu, mish, softplus, softsign, tanhshrink, gelu, erf, erfc, erfinv, i0),
            *(elu, celu, selu, leaky_relu, relu, relu6, hardsigmoid, hardswish, hardmish),
            *(hardtanh, hardshrink, softshrink, clamp, threshold, heaviside, identity),
            *(floor, ceil, trunc, frac, sign, signbit, rad2deg, deg2rad, logical_not, i1),
            *(exp_approximate, gelu_approximate),
        )
    },
    "abs": absolute,
    "neg": negate,
    "round": round_even,
}
"""Functions by the names that ttnn has for them; parameters have ttnn's names, too."""
