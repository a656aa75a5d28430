"""Functions of several numbers as the vector unit and the matrix unit compute them, step by step.

As in `vector_functions`; numbers that stand beside tensors are rounded to bfloat16 where these have
16 bits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

import numpy as np

from ttmlir.sim.machine import matrix_unit
from ttmlir.sim.machine import vector_functions as vf
from ttmlir.sim.machine import vector_unit as vu
from ttmlir.sim.machine.vector_functions import bits_of, choose, is_zero, rounded
from ttmlir.sim.machine.vector_unit import Lanes

_NAN = float("nan")
_H = float.fromhex


def rounded_to_even(x: Lanes, wide: bool) -> Lanes:
    """To bfloat16, ties to even, where DST has 16 bits; by integers, whatever the number is."""
    if wide:
        return x
    pattern = bits_of(x)
    return x.of(vu.number((pattern + 0x7FFF + (pattern >> 16 & 1)) & np.int32(-1 << 16)))


def packed(x: Lanes) -> Lanes:
    """As a tensor of bfloat16 holds them between two operations of one call."""
    return x.of(vu.pack_bfloat16(x.array))


def add(a: Lanes, b: Lanes, wide: bool) -> Lanes:
    """a + b, of 16 bits on the matrix unit."""
    if wide:
        return a + b
    wormhole = a.unit.is_wormhole
    return a.of(matrix_unit.add(a.array, b.array, wide=False, wormhole=wormhole))


def subtract(a: Lanes, b: Lanes, wide: bool) -> Lanes:
    """a - b."""
    if wide:
        return a - b
    return add(a, -b, wide)


def rsub(a: Lanes, b: Lanes, wide: bool) -> Lanes:
    """b - a; of 16 bits -a is stored in between."""
    return b - a if wide else add(packed(-a), b, wide)


def multiply(a: Lanes, b: Lanes, wide: bool) -> Lanes:
    """a * b."""
    product = (a * b).kept()
    if wide:
        return product
    result = rounded_to_even(product, wide)
    if vu.all_within(product.array, vu.PLAIN):
        return result
    return choose(is_zero(a) | is_zero(b), 0.0, result)


def _reciprocal_of_16_bits(x: Lanes) -> Lanes:
    patterns = np.ascontiguousarray(x.array).view(np.uint16)[..., 1::2]
    return x.of(_reciprocals(x.unit).take(patterns).reshape(x.array.shape))


@cache
def _reciprocals(unit: vu.VectorUnit) -> vu.Array:
    return vf.reciprocal_iter(Lanes(unit, vu.all_bfloat16()), 2).array


def divide(a: Lanes, b: Lanes, wide: bool) -> Lanes:
    """a / b."""
    if not wide:
        result = (a * _reciprocal_of_16_bits(b)).kept()
        if vu.all_within(result.array, vu.PLAIN) and b.array.all():
            return rounded_to_even(result, wide)
        by_zero = choose(is_zero(a), _NAN, a.of(vu.with_sign(vu.INFINITY, a.array)))
        return rounded_to_even(choose(is_zero(b), by_zero, result), wide)
    ma, mb = (x.of(vu.with_exponent(x.array, 127)) for x in (a, b))
    r = vf.reciprocal_normalized(mb)
    q = (ma * r).kept()
    q = (q * -mb + ma) * r + q
    ea, eb = vu.exponent(a.array, 0), vu.exponent(b.array)
    power = ea - eb + vu.exponent(q.array, 0)
    half = (power.view(np.uint32) >> 1).view(np.int32)
    one = np.ones_like(q.array)
    result = q.of(vu.with_exponent(q.array, half)) * q.of(vu.with_exponent(one, power - half))
    inside = (ea >= 1) & (ea < 255) & (eb >= -126) & (eb < 128)
    infinity = np.int32(0x7F800000)
    scale = b.of(vu.number((bits_of(b) & np.int32(-1 << 23)) ^ infinity))
    outside = choose((bits_of(b) & 0x7FFFFFFF) > infinity, b, a * scale)
    return choose(inside, result, outside)


def maximum(a: Lanes, b: Lanes, wide: bool) -> Lanes:
    """The larger one."""
    return a.of(vu.larger(a.array, b.array))


def minimum(a: Lanes, b: Lanes, wide: bool) -> Lanes:
    """The smaller one."""
    return a.of(vu.smaller(a.array, b.array))


def squared_difference(a: Lanes, b: Lanes, wide: bool) -> Lanes:
    """The square of a - b."""
    return vf.square(subtract(a, b, wide).kept(), wide)


def bias_gelu(a: Lanes, b: Lanes, wide: bool) -> Lanes:
    """gelu(a + b)."""
    return vf.gelu(add(a, b, wide).kept(), wide)


def hypot(a: Lanes, b: Lanes, wide: bool) -> Lanes:
    """The square root of a * a + b * b, squares stored in between."""
    first, second = (vf.square(x, wide) for x in (a, b))
    if not wide:
        first, second = packed(first), packed(second)
    return vf.sqrt(add(first, second, wide).kept(), wide)


def gap_and_larger(a: Lanes, b: Lanes) -> tuple[Lanes, Lanes]:
    """The distance of two numbers, 0 where there is none, and the larger one."""
    result = maximum(a, b, True)
    gap = a - b
    gap = gap.of(vu.magnitude(gap.array))
    is_nan = (vu.exponent(gap.array, 0) >= 255) & (vu.fraction(gap.array) != 0)
    return choose(is_nan, 0.0, gap), choose(is_nan, a + b, result)


def logaddexp(a: Lanes, b: Lanes, wide: bool) -> Lanes:
    """ln(exp(a) + exp(b))."""
    gap, result = gap_and_larger(a, b)
    if wide:
        return result + vf.log1p_in_register(vf.exp_wide(-gap), True)
    e = vf.exp_21(-gap.of(vu.smaller(gap.array, 88.0)), False)
    return rounded(result + log1p_of_unit(e), wide)


def log1p_of_unit(e: Lanes) -> Lanes:
    """ln(1 + e) for e from 0 to 1, to 8 bits."""
    r = vf.polynomial(e, -_H("0x1.f48448p-2"), _H("0x1.074d5ap-2"), -_H("0x1.3402cep-4"))
    return r * (e * e).kept() + e


def atan2(y: Lanes, x: Lanes, wide: bool) -> Lanes:
    """The angle of the point (x, y)."""
    ax, ay = (v.of(vu.number(bits_of(v) & 0x7FFFFFFF)) for v in (x, y))
    low, high = minimum(ax, ay, wide), maximum(ax, ay, wide)
    a = (low * vf.reciprocal_iter(high, 2 if wide else 0)).kept()
    s = (a * a).kept()
    if wide:
        c = (
            "-0x1.555558p-2",
            "0x1.99938ap-3",
            "-0x1.24p-3",
            "0x1.bd4p-4",
            "-0x1.48cp-4",
            "0x1.93p-5",
            "-0x1.4bcp-6",
            "0x1.01cp-8",
        )
    else:
        c = ("-0x1.54p-2", "0x1.668p-3", "-0x1.de8p-5")
    half_pi = _H("0x1.921fb6p+0")
    r = (vf.polynomial(s, *map(_H, c)) * s).kept() * a + a
    equal = bits_of(low) >= bits_of(high)
    middle = r.of(np.where(is_zero(high), np.float32(0), np.float32(half_pi / 2)))
    turned = choose(equal, middle, half_pi - r)
    r = choose(bits_of(low) >= bits_of(ax), turned, r)
    r = choose(bits_of(x) < 0, half_pi * 2 - r, r)
    r = rounded(r, wide)
    r = r.of(vu.with_sign(r.array, y.array))
    return choose(np.int32(0x7F800000) < bits_of(high), _NAN, r)


def where(condition: Lanes, chosen: Lanes, others: Lanes, wide: bool) -> Lanes:
    """The second operand where the first is not 0, else the third."""
    return choose(bits_of(condition) != 0, chosen, others)


def addcmul(a: Lanes, b: Lanes, c: Lanes, wide: bool, value: float = 1.0) -> Lanes:
    """a + value * b * c."""
    return rounded((value * b).kept() * c + a, wide)


def addcdiv(a: Lanes, b: Lanes, c: Lanes, wide: bool, value: float = 1.0) -> Lanes:
    """a + value * b / c."""
    reciprocal = vf.reciprocal_iter(c, 2) if wide else _reciprocal_of_16_bits(c)
    return rounded_to_even((b * value).kept() * reciprocal + a, wide)


def lerp(a: Lanes, b: Lanes, c: Lanes, wide: bool) -> Lanes:
    """a + c * (b - a)."""
    return rounded_to_even(c * (b - a) + a, wide)


OPERATIONS: Mapping[str, Callable[..., Lanes]] = {
    each.__name__: each
    for each in (
        *(add, subtract, rsub, multiply, divide, maximum, minimum, squared_difference, bias_gelu),
        *(hypot, logaddexp, atan2, where, addcmul, addcdiv, lerp),
    )
}
