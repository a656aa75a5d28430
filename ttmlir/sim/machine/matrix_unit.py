"""Sums and products of the matrix unit (FPU), bit by bit, in DST of bfloat16 or float32.

Numbers are float32 arrays whose values the registers hold: those of SrcA and SrcB have 10 bits
after the leading one (bfloat16 has 7 of them), exponents of 8 bits, of which 255 is an ordinary one
and 0 makes a number 0.

A result comes of two terms and what DST held. All are aligned to the largest of their exponents,
each rounded to 23 bits below it, and to 10 for a DST of 16 bits, then added exactly and rounded
once more. Halves go away from zero in DST and in results, and towards positive numbers in terms.

Sources: tt-isa-documentation, WormholeB0/TensixTile/TensixCoprocessor/{ELWMUL,MVMUL,SrcASrcB}.md;
the simulator ttsim 1.10, whose bits the tests hold this to.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ttmlir.layout.enums import MathFidelity
from ttmlir.sim.machine.vector_unit import Array
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
    """DST, at first 0, after products of SrcA and SrcB of the same shape were added (ELWMUL)."""
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


def add(a: Array, b: Array, *, wide: bool, wormhole: bool, dst: Array | None = None) -> Array:
    """The sum of SrcA and SrcB, added to DST if there is one (ELWADD)."""
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


def add_ordinary(a: Array, b: Array, *, wide: bool, wormhole: bool) -> Array:
    """As `add` in an empty DST, and faster.

    The smaller one is rounded to 10 bits below the exponent of the larger one, in a DST of 16 bits
    the sum to 7; both times halves go away from zero.
    """
    a, b = np.broadcast_arrays(a, b)
    is_larger = np.abs(a) >= np.abs(b)
    large, small = np.where(is_larger, a, b), np.where(is_larger, b, a)
    power = large.view(np.int32) & np.int32(0x7F800000)
    scale = (np.uint32(264 << 23) - power.view(np.uint32)).view(np.float32)
    with np.errstate(all="ignore"):
        steps = small * scale
        steps = np.trunc(steps + np.copysign(np.float32(0.5), steps))
        total = large + steps * (power - np.int32(10 << 23)).view(np.float32)
    pattern = total.view(np.int32)
    if not wide:
        pattern = pattern + np.int32(0x8000) & np.int32(-1 << 16)
    result = np.where(pattern << np.int32(1) == 0, 0, pattern).astype(np.int32).view(np.float32)
    result_power = result.view(np.int32) >> 23 & 0xFF
    rest = (power < 20 << 23) | (power > 250 << 23) | ((result_power < 2) & (result != 0))
    rest |= small.view(np.int32) & np.int32(0x7F800000) == 0
    if rest.any():
        result[rest] = add(a[rest], b[rest], wide=wide, wormhole=wormhole)
    return result


def subtract(a: Array, b: Array, *, wide: bool, wormhole: bool) -> Array:
    """The difference of SrcA and SrcB (ELWSUB)."""
    return add(a, -b, wide=wide, wormhole=wormhole)


def matmul(
    in0: Array, in1: Array, dst: Array, fidelity: MathFidelity, *, wide: bool, wormhole: bool
) -> Array:
    """DST (M x N) after the product of in0 (M x K) and in1 (K x N) was added; 32 divides K.

    Tiles follow each other along the inner dimension; of each, phases are the outer loop and steps
    of 16 the inner one (MVMUL).
    """
    total = dst
    for start in range(0, in0.shape[-1], 2 * _INSTRUCTION):
        for phase in range(fidelity_phases(fidelity)):
            for step in (start, start + _INSTRUCTION):
                part = slice(step, step + _INSTRUCTION)
                total = _add_products(in0[:, part], in1[part], total, phase, wide, wormhole)
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
