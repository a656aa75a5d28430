"""In how many bits numbers are summed, for `ttir-to-d2m`.

A DST of 16 bits rounds at each addition. An addition takes 16 numbers on the matrix unit, and one
on the vector unit. After n of them the error is about the square root of n roundings, and n at
worst (Higham, Accuracy and Stability of Numerical Algorithms, chapter 4); from 2^8 on, what is
added to a sum of bf16 may be half of its last place, and lost. Where the sum has 32 bits, it is
rounded once, when it is converted.
"""

from __future__ import annotations

from enum import Enum

from xdsl.dialects.builtin import bf16, f16, f32
from xdsl.ir import Attribute

NUMBERS_PER_ADDITION = 16
"""What an instruction of the matrix unit sums up: products, and columns or rows of a face."""
LONG_SUM = 64
"""Additions from which on sums are long: about eight times the error of one rounding."""


class Accumulation(Enum):
    """Where sums of 16-bit numbers have 32 bits."""

    AUTO = "auto"
    """Where they are long."""
    ALWAYS = "true"
    NEVER = "false"


def sum_element(element: Attribute, additions: int, accumulation: Accumulation) -> Attribute:
    """The element type of a sum of this one after so many additions, before it is converted."""
    is_long = accumulation is Accumulation.AUTO and additions >= LONG_SUM
    is_wide = element in (bf16, f16) and (is_long or accumulation is Accumulation.ALWAYS)
    return f32 if is_wide else element
