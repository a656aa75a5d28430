"""Sums and products of the matrix unit (FPU), bit by bit, in DST of bfloat16 or float32.

Numbers are float32 arrays whose values the registers hold: those of SrcA and SrcB have 10 bits
after the leading one (bfloat16 has 7 of them), exponents of 8 bits, of which 255 is an ordinary one
and 0 makes a number 0.

A result comes of two terms and what DST held. All are aligned to the largest of their exponents,
each rounded to 23 bits below it, and to 10 for a DST of 16 bits, then added exactly and rounded
once more. Halves go away from zero in DST and in results, and towards positive numbers in terms.
Floating-point errors of NumPy mean nothing here: who calls ignores them.

Sources: tt-isa-documentation, WormholeB0/TensixTile/TensixCoprocessor/{ELWMUL,MVMUL,SrcASrcB}.md;
the simulator ttsim 1.10, whose bits the tests hold this to.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from ttmlir.layout.enums import MathFidelity
from ttmlir.sim.machine.vector_unit import Array, all_within, is_outside, span
from ttmlir.sim.timing.costs import fidelity_phases

_EXPONENT_BIAS = 127
_INSTRUCTION = 16
"""Products along the inner dimension that one instruction adds."""
_GROUP = 8
"""Those of them that are aligned together."""


class _Terms(NamedTuple):
    """Signed integers that are to be multiplied by 2 to the power of exponents."""

    negative: Array
    """1 where a term counts as negative; it may be 0 all the same."""
    power: Array
    size: Array


def _unpacked(values: Array) -> _Terms:
    """Source registers: 11 bits, the leading one included; 0 where the exponent is 0."""
    pattern = np.ascontiguousarray(values, np.float32).view(np.int32)
    power = pattern >> 23 & 0xFF
    size = np.where(power > 0, pattern >> 13 & 0x3FF | 0x400, 0)
    return _Terms((pattern < 0).astype(np.int32), power, size)


def _shifted(size: Array, by: Array, down: Array | int) -> Array:
    """Integers shifted to the right and rounded, halves down where `down` is 1; 0 from 31 bits."""
    amounts = np.clip(by, 0, 30)
    halves = (np.int32(1) << np.maximum(amounts - 1, 0)) - down
    rounded = size + np.where(amounts > 0, halves, 0) >> amounts
    return np.where(by < 31, rounded, 0)


def _accumulate(terms: tuple[_Terms, ...], dst: Array, *, wide: bool, wormhole: bool) -> Array:
    """DST after terms, of 24 bits or a few more, were added to it."""
    pattern = np.ascontiguousarray(dst, np.float32).view(np.int32)
    negative, power_dst = (pattern < 0).astype(np.int32), pattern >> 23 & 0xFF
    size = np.where(power_dst > 0, pattern & 0x7FFFFF | 0x800000, 0)
    power = power_dst
    for each in terms:
        power = np.maximum(power, each.power)
    total = _shifted(size, power - power_dst, 0)
    if not wide:
        total = total + (1 << 12) & ~0x1FFF
    for each in terms:
        size = _shifted(each.size, power - each.power, each.negative)
        if not wide:
            size = size + (1 << 12) - each.negative & ~0x1FFF
        total = total + np.where(each.negative == negative, size, -size)
    is_early_zero = (power <= 0) | (total == 0)
    negative = np.where(total < 0, 1 - negative, negative)
    total = np.abs(total)
    length = np.frexp(total.astype(np.float64))[1]
    left = (24 - length).astype(np.int32)
    if wormhole:
        # The leading bits of -1 are counted wrongly.
        left = np.where((negative == 1) & (total == 1), left - 27, left)
    power = power - left
    if not wide:
        left = left - 16
    right = np.clip(-left, 0, 31)
    total = np.where(
        left < 0,
        total + (np.int32(1) << np.maximum(right - 1, 0)) >> right,
        total << np.clip(left, 0, 24),
    )
    if not wide:
        total = total << 16
    power = power + (total >> 24 & 1)
    result = np.where(power >= 255, 255 << 23, power << 23 | total & 0x7FFFFF)
    result = np.where(is_early_zero | (power <= 0), 0, result | negative << 31)
    return result.astype(np.int32).view(np.float32)


def _phase_parts(a: _Terms, b: _Terms, phase: int) -> tuple[Array, Array, int]:
    """The bits of SrcA and SrcB that a phase multiplies, and what that does to the exponent."""
    first = (a.size >> 1 & 31) if phase & 1 else a.size >> 6
    second = (b.size & 15) << 3 if phase & 2 else b.size >> 4
    return first, second, -_EXPONENT_BIAS - 5 * (phase & 1) - 7 * (phase >> 1)


def multiply(
    a: Array,
    b: Array,
    fidelity: MathFidelity,
    *,
    wide: bool,
    wormhole: bool,
    dst: Array | None = None,
) -> Array:
    """DST, at first 0, after products of SrcA and SrcB were added (ELWMUL)."""
    if dst is None:
        part = partial(_multiply_part, fidelity=fidelity, wide=wide, wormhole=wormhole)
        return _by_parts(part, a, b)
    return _multiply_exactly(a, b, fidelity=fidelity, wide=wide, wormhole=wormhole, dst=dst)


def _multiply_exactly(
    a: Array,
    b: Array,
    *,
    fidelity: MathFidelity,
    wide: bool,
    wormhole: bool,
    dst: Array | None = None,
) -> Array:
    first, second = _unpacked(a), _unpacked(b)
    total = np.zeros(np.shape(a), np.float32) if dst is None else dst
    for phase in range(fidelity_phases(fidelity)):
        left, right, adjust = _phase_parts(first, second, phase)
        power = first.power + second.power + np.int32(adjust)
        is_zero = (first.power == 0) | (second.power == 0) | (power <= 0)
        term = _Terms(
            np.where(is_zero, 0, first.negative ^ second.negative),
            np.where(is_zero, max(adjust, 0), power),
            np.where(is_zero, 0, left * right << 13),
        )
        total = _accumulate((term,), total, wide=wide, wormhole=wormhole)
    return total


# --- Ordinary numbers -----------------------------------------------------------------------------
# Floating point computes with them what the unit does: each step is exact, or is rounded to where a
# large number that is added and subtracted again has its last bit. A factor beside 1, or what is
# added, breaks ties.

_PART = 1 << 14
"""Numbers that are computed at a time, so that they stay in the cache."""
# Constants are arrays, which NumPy takes sooner than numbers.
_INT32, _UINT32 = np.dtype(np.int32), np.dtype(np.uint32)
_FLOAT32 = np.dtype(np.float32)
_EXPONENT, _ZERO = np.array(0x7F800000, _INT32), np.array(0, _FLOAT32)
_HALF_OF_16_BITS, _UPPER_HALF = np.array(0x8000, _INT32), np.array(-1 << 16, _INT32)
_AWAY = np.array(1 + 2.0**-20, _FLOAT32)
_AWAY_NEGATED = np.array(-_AWAY)
_HALF_UP = np.array(2.0**-22, _FLOAT32)
_TEN_BITS = np.array(1.5 * 2**13, _FLOAT32)
"""Times a power of 2, what has its last bit 10 bits below that."""


_ORDINARY = span(2.0**-50, 2.0**50)
"""No step of these makes a number that is denormal or infinite."""
_SUMS = span(2.0**-100, 2.0**110)
"""Results that float32 has computed as the unit does, whatever the numbers were."""
_FIRST_POWER = np.array(2.0**-90, _FLOAT32).view(_INT32)
_POWERS = int(np.float32(2.0**100).view(_INT32) - _FIRST_POWER)
"""So many patterns from the first one on are exponents of numbers whose sums are ordinary."""


def _by_parts(function: Callable[[Array, Array], Array], a: Array, b: Array) -> Array:
    """A function of two arrays of float32 that broadcast, part by part."""
    a, b = (np.asarray(each, np.float32) for each in (a, b))
    if max(a.size, b.size) <= _PART:
        return function(a, b)
    a, b = np.broadcast_arrays(a, b)
    result = np.empty(a.shape, np.float32)
    flat, first, second = (each.reshape(-1) for each in (result, a, b))
    for start in range(0, flat.size, _PART):
        part = slice(start, start + _PART)
        flat[part] = function(first[part], second[part])
    return result


def _with_exact(
    result: Array, rest: Array, exactly: Callable[[Array, Array], Array], a: Array, b: Array
) -> Array:
    """A result whose numbers at the places that a mask has are computed exactly."""
    a, b = np.broadcast_arrays(a, b)
    if not result.ndim:
        return exactly(a.reshape(1), b.reshape(1)).reshape(())
    result[rest] = exactly(a[rest], b[rest])
    return result


def _to_8_bits(values: Array) -> Array:
    """Numbers of DST of 16 bits: halves go away from zero, and 0 has no sign."""
    pattern = (values + np.float32(0)).view(np.int32)
    pattern += _HALF_OF_16_BITS
    pattern &= _UPPER_HALF
    return pattern.view(np.float32)


def _cut(values: Array, bits: int) -> Array:
    """Numbers without all but so many bits, the leading one included."""
    return (values.view(np.int32) & np.int32(-1 << (24 - bits))).view(np.float32)


def _multiply_part(a: Array, b: Array, fidelity: MathFidelity, wide: bool, wormhole: bool) -> Array:
    if all_within(a, _ORDINARY) and all_within(b, _ORDINARY):
        return _multiply_ordinary(fidelity, wide, a, b)
    result = np.asarray(_multiply_ordinary(fidelity, wide, a, b))
    rest = is_outside(a, _ORDINARY) | is_outside(b, _ORDINARY)
    exactly = partial(_multiply_exactly, fidelity=fidelity, wide=wide, wormhole=wormhole)
    return _with_exact(result, rest, exactly, a, b)


def _multiply_ordinary(fidelity: MathFidelity, wide: bool, a: Array, b: Array) -> Array:
    phases = fidelity_phases(fidelity)
    # The last one of SrcA's 11 bits is in no phase.
    whole_a, high_a, high_b = _cut(a, 10), _cut(a, 5), _cut(b, 7)
    low_a, low_b = whole_a - high_a, b - high_b
    terms = [high_a * high_b]
    if phases > 1:
        terms += [low_a * high_b, high_a * low_b, low_a * low_b][: phases - 1]
    total = terms[0] if wide else _to_8_bits(terms[0])
    for term in terms[1:]:
        if wide:
            total = total + term
            continue
        power = (total.view(np.int32) & _EXPONENT).view(np.float32)
        large = power * _TEN_BITS
        total = _to_8_bits(total + ((term + power * _HALF_UP) + large - large))
    return total + np.float32(0)


def add(a: Array, b: Array, *, wide: bool, wormhole: bool, dst: Array | None = None) -> Array:
    """The sum of SrcA and SrcB, added to DST if there is one (ELWADD)."""
    if dst is None:
        return _by_parts(partial(_add_part, wide=wide, wormhole=wormhole), a, b)
    return _add_exactly(a, b, wide=wide, wormhole=wormhole, dst=dst)


def add_ordinary(a: Array, b: Array, sign: float, out: Array, *, wide: bool) -> bool:
    """Put the sum of SrcA and `sign` times SrcB into `out`; False where their numbers forbid it.

    It takes the fewest possible steps, none of which makes a floating-point error.
    """
    if out.size > _PART:
        a, b = (np.broadcast_to(each, out.shape).reshape(-1) for each in (a, b))
        flat = out.reshape(-1)
        parts = [slice(start, start + _PART) for start in range(0, out.size, _PART)]
        return all(add_ordinary(a[part], b[part], sign, flat[part], wide=wide) for part in parts)
    power = _larger_power(a, b)
    above = (power - _FIRST_POWER).view(_UINT32)
    has_zeros = not np.maximum.reduce(above, axis=None) < _POWERS
    if has_zeros and np.count_nonzero(above >= _POWERS) != np.count_nonzero((a == 0) & (b == 0)):
        return False
    _add_with_power(power, a, b, sign, out, wide=wide)
    if has_zeros:
        out += _ZERO
    return True


def _larger_power(a: Array, b: Array) -> Array:
    return np.maximum(a.view(_INT32) & _EXPONENT, b.view(_INT32) & _EXPONENT)


def _add_with_power(
    power: Array, a: Array, b: Array, sign: float, out: Array, *, wide: bool
) -> None:
    """The smaller one is rounded to 10 bits below the exponent of the larger one, then the sum."""
    large = power.view(_FLOAT32)
    large *= _TEN_BITS
    total = a * _AWAY + large
    other = b * (_AWAY if sign > 0 else _AWAY_NEGATED) - large
    if wide:
        np.add(total, other, out)
        return
    total += other
    pattern = total.view(_INT32)
    pattern += _HALF_OF_16_BITS
    np.bitwise_and(pattern, _UPPER_HALF, out.view(_INT32))


def _add_part(a: Array, b: Array, *, wide: bool, wormhole: bool) -> Array:
    power = np.asarray(_larger_power(a, b))
    # A NaN that is all ones is rounded to 0, which looks as a sum does.
    is_special = None if wide else np.asarray(power == _EXPONENT)
    result = np.empty(power.shape, np.float32)
    _add_with_power(power, a, b, 1, result, wide=wide)
    result += _ZERO
    has_special = is_special is not None and is_special.any()
    if all_within(result, _SUMS) and not has_special:
        return result
    rest = is_outside(result, _SUMS)
    exactly = partial(_add_exactly, wide=wide, wormhole=wormhole)
    return _with_exact(result, rest | is_special if has_special else rest, exactly, a, b)


def _add_exactly(
    a: Array, b: Array, *, wide: bool, wormhole: bool, dst: Array | None = None
) -> Array:
    first, second = _unpacked(a), _unpacked(b)
    swap = (first.power << 11) + first.size < (second.power << 11) + second.size
    large, small = (
        _Terms(*(np.where(swap, one, two) for one, two in zip(x, y, strict=True)))
        for x, y in ((second, first), (first, second))
    )
    by = large.power - small.power
    size = np.where(by < 12, _shifted(small.size, by, 0), 0)
    size = large.size + np.where(large.negative == small.negative, size, -size) << 13
    total = np.zeros(np.shape(a), np.float32) if dst is None else dst
    term = _Terms(large.negative, large.power, size)
    return _accumulate((term,), total, wide=wide, wormhole=wormhole)


def subtract(a: Array, b: Array, *, wide: bool, wormhole: bool) -> Array:
    """The difference of SrcA and SrcB (ELWSUB)."""
    return add(a, -b, wide=wide, wormhole=wormhole)


def matmul(
    in0: Array,
    in1: Array,
    dst: Array,
    fidelity: MathFidelity,
    *,
    wide: bool,
    wormhole: bool,
    pools: bool = False,
) -> Array:
    """DST (M x N) after the product of in0 (M x K) and in1 (K x N) was added; 32 divides K.

    Tiles follow each other along the inner dimension; of each, phases are the outer loop and steps
    of 16 the inner one (MVMUL), or if it `pools` the other way round (GAPOOL).
    """
    in0, in1, dst = (np.ascontiguousarray(each, np.float32) for each in (in0, in1, dst))
    # Parts that are 0 everywhere leave DST as it is.
    has_low_a, has_low_b = (np.count_nonzero(part) for part in (_low_a(in1), _low_b(in0)))
    phases = [
        phase
        for phase in range(fidelity_phases(fidelity))
        if (not phase & 1 or has_low_a) and (not phase & 2 or has_low_b)
    ]
    order = [(phase, step) for phase in phases for step in (0, 1)]
    if pools:
        order.sort(key=itemgetter(1))
    ordinary = all(all_within(each, _ORDINARY) for each in (in0, in1))
    if ordinary and all_within(dst, _SUMS):
        return _matmul_ordinary(in0, in1, dst, order, wide=wide, wormhole=wormhole)
    result = np.empty(dst.shape, np.float32)
    rows = max(1, _PART // (_GROUP // 2 * max(1, in1.shape[1])))
    for first in range(0, dst.shape[0], rows):
        of_rows = slice(first, first + rows)
        total, factors = dst[of_rows], in0[of_rows]
        for start in range(0, in0.shape[1], 2 * _INSTRUCTION):
            for phase, step in order:
                first_one = start + step * _INSTRUCTION
                part = slice(first_one, first_one + _INSTRUCTION)
                total = _add_products(factors[:, part], in1[part], total, phase, wide, wormhole)
        result[of_rows] = total
    return result


def _low_a(values: Array) -> Array:
    return _cut(values, 10) - _cut(values, 5)


def _low_b(values: Array) -> Array:
    return values - _cut(values, 7)


_LEAST_POWER = np.float32(2.0**-100)
"""That of the product of the smallest ordinary numbers."""
_BITS_64 = np.int64(0x7FF << 52)
_ABOVE_TIE = 2.0**-20
"""Added to a whole number, what makes halves of it go towards positive numbers."""


def _matmul_ordinary(
    in0: Array,
    in1: Array,
    dst: Array,
    order: list[tuple[int, int]],
    *,
    wide: bool,
    wormhole: bool,
) -> Array:
    """As `matmul`, of ordinary numbers; `order` has the phase and the step of each instruction.

    Products of a group are added to a large number, whose bits count the last place then.
    """
    (rows, depth), columns = in0.shape, in1.shape[1]
    result = np.empty(dst.shape, np.float32)
    powers0, powers1 = ((each.view(np.int32) & _EXPONENT).view(np.float32) for each in (in0, in1))
    lefts, rights = (_cut(in1, 5) * _AWAY, _low_a(in1) * _AWAY), (_cut(in0, 7), _low_b(in0))
    lowers = {phase: 5 * (phase & 1) + 7 * (phase >> 1) for phase, _ in order}
    height = max(1, min(rows, 2 * _PART // (_GROUP * max(1, columns))))
    length = 2 * _INSTRUCTION * max(1, _PART // (_INSTRUCTION * height * max(1, columns)))
    for first in range(0, rows, height):
        of_rows = slice(first, first + height)
        total = dst[of_rows].astype(np.float64)
        # By the place along the inner dimension, the row of in0, the column of in1.
        power0, *right = (
            np.ascontiguousarray(each[of_rows].T)[:, :, None] for each in (powers0, *rights)
        )
        for start in range(0, depth, length):
            part = slice(start, start + length)
            power = power0[part] * powers1[part][:, None, :]
            grouped = (-1, _GROUP, *power.shape[1:])
            power = np.maximum.reduce(power.reshape(grouped), axis=1)
            last_bits = power.astype(np.float64)
            last_bits *= 2.0**-10
            large = np.maximum(power, _LEAST_POWER)
            large *= _TEN_BITS
            terms: dict[int, Array] = {}
            for phase, lower in lowers.items():
                products = right[phase >> 1][part] * lefts[phase & 1][part][:, None, :]
                products = products.reshape(grouped)
                added = large * np.float32(2.0**-lower)
                products += added[:, None]
                count = np.add.reduce(products.view(np.int32), axis=1, dtype=np.int32)
                count -= added.view(np.int32) << np.int32(3)
                term = count + _ABOVE_TIE
                term *= last_bits
                term *= 2.0**-lower
                # By the tile, the step, the group in it.
                terms[phase] = term.reshape(-1, 2, 2, *power.shape[1:])
            largest = last_bits.reshape(-1, 2, 2, *power.shape[1:]).max(axis=2)
            for tile, powers in enumerate(largest):
                for phase, step in order:
                    total = _add_terms(
                        total,
                        terms[phase][tile, step],
                        powers[step] * 2.0 ** (10 - lowers[phase]),
                        wide=wide,
                        wormhole=wormhole,
                    )
        result[of_rows] = total
    return result


def _add_terms(total: Array, terms: Array, power: Array, *, wide: bool, wormhole: bool) -> Array:
    """DST, as float64, after two terms were added whose larger power of 2 is given.

    Rounding a term to 23 bits and then to 10 is what adding half of the 23rd and half of the 10th
    and cutting does.
    """
    power = np.maximum(power, (total.view(np.int64) & _BITS_64).view(np.float64))
    large = power * (1.5 * 2.0 ** (29 if wide else 42))
    if not wide:
        terms = terms + power * 2.0**-24
        terms += large
    else:
        terms = terms + large
    terms -= large
    total = total * (1 + 2.0**-26)
    total += large
    total -= large
    total += terms[0]
    total += terms[1]
    if wide and wormhole:
        # The leading bits of -1 are counted wrongly.
        power *= -(2.0**-23)
        is_miscounted = total == power
        if is_miscounted.any():
            total[is_miscounted] = power[is_miscounted] * 2.0**27
    pattern = total.view(np.int64)
    drop = 29 if wide else 45
    pattern += 1 << (drop - 1)
    pattern &= -1 << drop
    return total


def _add_products(
    in0: Array, in1: Array, dst: Array, phase: int, wide: bool, wormhole: bool
) -> Array:
    second, first = _unpacked(in0), _unpacked(in1)
    left, right, adjust = _phase_parts(first, second, phase)
    adjust_zero = np.int32(max(adjust, 0))
    terms: list[_Terms] = []
    for start in range(0, in0.shape[1], _GROUP):
        rows, columns = slice(start, start + _GROUP), (slice(None), slice(start, start + _GROUP))
        # By the row of in0, the place along the inner dimension, the column of in1.
        power = second.power[columns][:, :, None] + (first.power[rows] + np.int32(adjust))[None]
        is_zero = (second.power[columns] == 0)[:, :, None] | (first.power[rows] == 0)[None]
        size = right[columns][:, :, None] * left[rows][None]
        sign = second.negative[columns][:, :, None] ^ first.negative[rows][None]
        power = np.where(is_zero, adjust_zero, power)
        largest: Array = power.max(axis=1)
        by = np.minimum(largest[:, None] - power, 30)
        size = ((size << 1) + (np.int32(1) << by)) >> (by + 1)
        size = np.where(is_zero, 0, np.where(sign == 1, -size, size))
        total = size.sum(axis=1, dtype=np.int32)
        is_lost = largest <= 0
        total = np.where(is_lost, 0, total)
        terms.append(
            _Terms((total < 0).astype(np.int32), np.where(is_lost, 0, largest), np.abs(total) << 13)
        )
    return _accumulate(tuple(terms), dst, wide=wide, wormhole=wormhole)
