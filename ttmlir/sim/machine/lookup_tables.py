"""Lines by tables: `SFPLUT` and `SFPLUTFP32` of the vector unit.

The size of a number chooses an entry of a table in registers, a slope and an intercept of a line.
Source: tt-isa-documentation, WormholeB0, SFPLUT.md and SFPLUTFP32.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

BYTES, HALVES, WORDS, SIX_TO_3, SIX_TO_4 = range(5)
"""Tables: three entries with slope and intercept of 8 or of 16 bits in a register, three of 32 bits
in two registers, six of 16 bits, of which the last two part at 3 or at 4."""

_THREE = np.array([1, 2], np.float32)
_SIX = {
    SIX_TO_3: np.array([0.5, 1, 1.5, 2, 3], np.float32),
    SIX_TO_4: np.array([0.5, 1, 1.5, 2, 4], np.float32),
}


def look_up(x: Array, registers: Sequence[Array], table: int, *, keeps_sign: bool) -> Array:
    """Slope times size plus intercept, by lanes; with the sign of x, or its own.

    `registers` are those with the slopes, or both, and then those with the intercepts.
    """
    size = np.abs(x)
    limits = _SIX.get(table, _THREE)
    # By its bits a NaN is larger than all numbers.
    entry = np.searchsorted(limits.view(np.uint32), size.view(np.uint32), side="right")
    six = table in _SIX
    words = [
        np.choose(entry // 2 if six else entry, [each.view(np.uint32) for each in part])
        for part in (registers[:3], registers[3:])
    ]
    if table == WORDS:
        slope, intercept = (each.view(np.float32) for each in words)
    elif six:
        slope, intercept = (_float_of_half(each >> (entry % 2 * 16)) for each in words)
    elif table == HALVES:
        slope, intercept = _float_of_half(words[0] >> 16), _float_of_half(words[0])
    else:
        slope, intercept = _float_of_byte(words[0] >> 8), _float_of_byte(words[0])
    # Rounded once.
    line = slope.astype(np.float64) * size + intercept
    found = line.astype(np.float32)
    return np.copysign(found, x) if keeps_sign else found


def _float_of_byte(bits: Array) -> Array:
    """A sign, 3 bits of an exponent down from 0, and 4 bits of a fraction; 255 is 0."""
    byte = (bits & 255).astype(np.uint32)
    words = (byte >> 7 << 31) | (127 - (byte >> 4 & 7) << 23) | (byte & 15) << 19
    return np.where(byte == 255, np.uint32(0), words.astype(np.uint32)).view(np.float32)


def _float_of_half(bits: Array) -> Array:
    """FP16 without denormal numbers, whose largest exponent stands for 0."""
    half = (bits & 0xFFFF).astype(np.uint32)
    exponent = half >> 10 & 31
    words = (half >> 15 << 31) | (exponent + 112 << 23) | (half & 0x3FF) << 13
    zero = half >> 15 << 31
    return np.where(exponent == 31, zero, words).astype(np.uint32).view(np.float32)
