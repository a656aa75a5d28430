"""Instructions of the vector unit (SFPU) that compute, bit by bit, on arrays of lanes.

Numbers are float32 arrays; where an instruction takes or gives integers, they are int32 arrays of
the same bits. Numbers may stand for arrays. Nothing is denormal: such operands count as 0, and such
results become 0.

The multiplier with its adder is neither fused nor does it round twice. A product keeps the 27 or 28
bits that it has above its 2^-26 part, the last of which is set if anything was cut; the smaller
addend is aligned in the same way, unless nothing of it is left; and the sum is rounded to nearest,
ties to even. Wormhole loses the last but one bit where a sum is four times its smallest exponent,
and the sign of a sum that is 0.

Sources: tt-isa-documentation, SFPMAD.md of WormholeB0 and BlackholeA0, Miscellaneous/FMA; the
simulator ttsim 1.10, whose bits the tests hold this to.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ttmlir.layout.enums import Arch

Array = NDArray[Any]
Numbers = Array | np.floating[Any] | float
"""Numbers of lanes, or one for all."""

_SIGN = np.int32(-1 << 31)
_MAGNITUDE = np.int32(0x7FFFFFFF)
_EXPONENT = np.int32(0xFF << 23)
_FRACTION = np.int32((1 << 23) - 1)
_BIAS = 127
_NAN = np.float32(np.nan)
INFINITY = np.float32(np.inf)


def bits(lanes: Numbers) -> Array:
    """The bits of numbers, as signed integers."""
    return np.asarray(lanes, np.float32).view(np.int32)


def number(integers: Array | int) -> Array:
    """The numbers with these bits."""
    return np.asarray(integers).astype(np.int32).view(np.float32)


def where(condition: Array, chosen: Numbers, others: Numbers) -> Array:
    """Numbers of one array where the condition holds, of another elsewhere."""
    return np.where(condition, np.asarray(chosen, np.float32), np.asarray(others, np.float32))


def exponent(lanes: Numbers, bias: int = _BIAS) -> Array:
    """Integers: the exponents of numbers (SFPEXEXP)."""
    return ((bits(lanes) >> 23) & 0xFF) - np.int32(bias)


def fraction(lanes: Numbers, *, hidden: bool = False) -> Array:
    """Integers: the 23 bits after the leading one, which `hidden` adds (SFPEXMAN)."""
    kept = bits(lanes) & _FRACTION
    return kept | np.int32(1 << 23) if hidden else kept


def with_exponent(lanes: Numbers, biased: Array | int) -> Array:
    """Numbers with other exponents, of which 8 bits count (SFPSETEXP)."""
    changed = np.asarray(biased).astype(np.int32) << np.int32(23) & _EXPONENT
    return number(bits(lanes) & ~_EXPONENT | changed)


def add_exponent(lanes: Numbers, by: int) -> Array:
    """Numbers times a power of 2, by their exponents alone, 255 excepted (SFPDIVP2)."""
    biased = exponent(lanes, 0)
    return where(biased == 255, lanes, with_exponent(lanes, biased + np.int32(by)))


def with_fraction(lanes: Numbers, of: Numbers) -> Array:
    """Numbers with the 23 bits of others after the leading one (SFPSETMAN)."""
    return number(bits(lanes) & ~_FRACTION | bits(of) & _FRACTION)


def with_sign(lanes: Numbers, of: Numbers) -> Array:
    """Numbers with the signs of others (SFPSETSGN)."""
    return number(bits(lanes) & _MAGNITUDE | bits(of) & _SIGN)


def negative(lanes: Numbers) -> Array:
    """Numbers with the other sign."""
    return number(bits(lanes) ^ _SIGN)


def magnitude(lanes: Numbers) -> Array:
    """Numbers without signs; negative NaN stay as they are (SFPABS)."""
    pattern = bits(lanes)
    is_nan = pattern & _MAGNITUDE > _EXPONENT
    return number(np.where(is_nan, pattern, pattern & _MAGNITUDE))


def is_negative(lanes: Numbers) -> Array:
    """Whether the sign is set, that of 0 and NaN included (SFPSETCC)."""
    return bits(lanes) < 0


def _order(lanes: Numbers) -> Array:
    pattern = bits(lanes)
    return np.where(pattern < 0, pattern ^ _MAGNITUDE, pattern)


def smaller(a: Numbers, b: Numbers) -> Array:
    """The smaller of two numbers, ordered by sign and magnitude (SFPSWAP)."""
    return where(_order(a) < _order(b), a, b)


def larger(a: Numbers, b: Numbers) -> Array:
    """The larger of two numbers, ordered by sign and magnitude (SFPSWAP)."""
    return where(_order(a) < _order(b), b, a)


def clamped(lanes: Numbers, low: float, high: float) -> Array:
    """Numbers within limits."""
    return smaller(larger(lanes, low), high)


def follows(a: Numbers, b: Numbers) -> Array:
    """Whether a number comes after another, ordered by sign and magnitude (SFPGT)."""
    return _order(a) > _order(b)


def shifted_left(integers: Array, by: Array | int) -> Array:
    """Integers shifted by amounts of which the lowest 5 bits count, to the right if negative."""
    amounts = np.asarray(by)
    unsigned = integers.view(np.uint32)
    left = unsigned << (amounts & 31).astype(np.uint32)
    right = unsigned >> (-amounts & 31).astype(np.uint32)
    return np.where(amounts >= 0, left, right).view(np.int32)


def from_integer(integers: Array) -> Array:
    """Numbers of integers of a sign and 31 bits, to nearest, ties to even (SFPCAST)."""
    wide = (integers & _MAGNITUDE).astype(np.float64)
    rounded: Array = wide.astype(np.float32)
    return with_sign(rounded, number(integers))


def to_bfloat16(lanes: Numbers) -> Array:
    """Numbers rounded to bfloat16, to nearest, ties to even; NaN becomes infinity (SFP_STOCH_RND).

    Whether a tie is one is seen in the upper 16 bits that are left: to nearest, away from zero.
    """
    pattern = bits(lanes)
    biased = pattern & _EXPONENT
    rounded = (pattern & ~np.int32(0xFFFF)) + ((pattern & np.int32(0x8000)) << np.int32(1))
    kept = np.where(biased == _EXPONENT, pattern & np.int32(-1 << 23), rounded)
    return number(np.where(biased == 0, 0, kept))


def to_small_integer(lanes: Numbers, largest: int, *, signed: bool) -> Array:
    """Integers of a sign and a magnitude of at most `largest`, ties away from zero."""
    pattern = bits(lanes)
    sign = pattern & _SIGN if signed else np.zeros_like(pattern)
    power = exponent(lanes)
    significant = fraction(lanes, hidden=True).astype(np.int64)
    shifts = np.clip(power, -1, 15).astype(np.int64)
    scaled = np.where(shifts >= 0, significant << np.maximum(shifts, 0), significant >> 1)
    found = np.minimum((scaled >> 23) + ((scaled & 0x7FFFFF) >= 0x400000), largest)
    found = np.where(power >= 16, largest, found)
    found = np.where(power < -1, 0, found).astype(np.int32)
    sign = np.where((found == 0) & (power < 16), np.int32(0), sign)
    return sign | found


# --- Limits ---------------------------------------------------------------------------------------


class Span(NamedTuple):
    """Limits of numbers, by patterns without signs that are shifted to the left."""

    first: np.uint32
    extent: np.uint32
    zero: np.uint32
    """0 less the first one."""


def span(smallest: float, largest: float) -> Span:
    """Limits of magnitudes."""
    first, last = (2 * int(np.float32(each).view(np.uint32)) for each in (smallest, largest))
    return Span(np.uint32(first), np.uint32(last - first), np.uint32((1 << 32) - first))


def all_within(values: Array, limits: Span) -> bool:
    """Whether numbers are 0 or within limits."""
    pattern = values.view(np.uint32)
    pattern = pattern + pattern
    pattern -= limits.first
    others = pattern.size - np.count_nonzero(pattern < limits.extent)
    return not others or np.count_nonzero(pattern == limits.zero) == others


def is_outside(values: Array, limits: Span) -> Array:
    """Whether each number is neither 0 nor within limits."""
    pattern = values.view(np.uint32) << np.uint32(1)
    return (pattern - limits.first >= limits.extent) & (pattern != 0)


# --- The multiplier with its adder ----------------------------------------------------------------

_MULTIPLY, _ZERO = np.multiply, np.float32(0)
PLAIN = span(2.0**-100, float("inf"))
"""Results that float32 rounds as the unit does."""
_MODERATE = 2.0**24
"""Times what is denormal, this is below all plain numbers."""
_SMALLEST_POWER, _LARGEST_POWER = 2.0**-90, 2.0**100


def _powers(values: Array) -> Array:
    """The powers of 2 of numbers; of denormal ones 0."""
    return (values.view(np.int32) & _EXPONENT).view(np.float32)


def _largest(values: Array) -> float:
    if np.ndim(values) == 0 or not values.size:
        return abs(float(values)) if np.ndim(values) == 0 else 0.0
    return float(np.maximum.reduce(np.abs(values), axis=None))


@dataclass(frozen=True)
class VectorUnit:
    """The vector unit of a generation of chips.

    Floating-point errors of NumPy mean nothing here: who calls ignores them.
    """

    is_wormhole: bool

    def mad(self, a: Numbers, b: Numbers, c: Numbers) -> Array:
        """`a * b + c` (SFPMAD), and with `c` 0 or one factor 1 SFPMUL and SFPADD.

        By whole numbers of what the adder has its last bit for; float64 has room for all.
        """
        x, y, z = (np.asarray(each, np.float32) for each in (a, b, c))
        power_z = _powers(z)
        power = _MULTIPLY(_powers(x), _powers(y), dtype=np.float64)
        product = _MULTIPLY(x, y, dtype=np.float64)
        if np.count_nonzero(power) < power.size:
            product = np.where(power == 0, 0.0, product)
        power = np.maximum(power, power_z)
        is_far = power.size and not (
            np.maximum.reduce(power, axis=None) <= _LARGEST_POWER
            and np.minimum.reduce(power, axis=None) >= _SMALLEST_POWER
        )
        unit = np.maximum(power, _SMALLEST_POWER) if is_far else power
        unit = unit * 2.0**-26
        # Of what is smaller than the last bit nothing is left.
        rest = z / unit
        rest *= power_z >= unit
        total = _to_odd(product / unit)
        total += _to_odd(rest)
        if self.is_wormhole:
            size = np.abs(total)
            if total.size and np.maximum.reduce(size, axis=None) >= 1 << 28:
                total = np.where(size >> 28 > 0, np.sign(total) * (size & ~2), total)
        result: Array = np.asarray(unit * total, np.float32)
        is_rest: Any = False
        if is_far:
            is_rest = ~(power <= _LARGEST_POWER) | ((power < _SMALLEST_POWER) & (power > 0))
        if not self.is_wormhole and np.count_nonzero(result) < result.size:
            # 0 has a sign if both addends have it.
            is_rest = is_rest | ((result == 0) & np.signbit(z))
        if is_rest is not False and is_rest.any():
            operands = (np.broadcast_to(each, result.shape) for each in (x, y, z))
            if not result.ndim:
                return self._mad_exactly(*(each.reshape(1) for each in operands)).reshape(())
            result[is_rest] = self._mad_exactly(*(each[is_rest] for each in operands))
        return result

    def mul(self, a: Numbers, b: Numbers) -> Array:
        """`a * b` (SFPMUL)."""
        x, y = (np.asarray(each, np.float32) for each in (a, b))
        result = x * y
        result = result + _ZERO
        is_plain = all_within(result, PLAIN)
        is_plain = is_plain and max(_largest(x), _largest(y)) <= _MODERATE
        return np.asarray(result) if is_plain else self._mad_outside(result, x, y, np.float32(0))

    def add(self, a: Numbers, b: Numbers) -> Array:
        """`a + b` (SFPADD)."""
        x, z = (np.asarray(each, np.float32) for each in (a, b))
        result = x + z
        if self.is_wormhole:
            result = result + _ZERO
        if all_within(result, PLAIN):
            return np.asarray(result)
        return self._mad_outside(result, x, np.float32(1), z)

    def _mad_outside(self, result: Array, x: Array, y: Any, z: Any) -> Array:
        """A result of which the numbers that are not plain are computed anew."""
        result = np.asarray(result)
        rest = is_outside(result, PLAIN)
        factors = [each for each in (x, y) if np.ndim(each) or each != 1]
        if len(factors) > 1:
            for each in factors:
                rest = rest | (np.abs(each) > _MODERATE)
        if not result.ndim:
            return self.mad(x, y, z)
        result[rest] = self.mad(*(np.broadcast_to(e, result.shape)[rest] for e in (x, y, z)))
        return result

    def _mad_exactly(self, a: Array, b: Array, c: Array) -> Array:
        """By integers of 64 bits, whatever the numbers are."""
        (sign_a, power_a, first), (sign_b, power_b, second), (sign_c, power_c, third) = (
            _unpacked(each) for each in (a, b, c)
        )
        sign_p = sign_a ^ sign_b
        product = (first * second) << 3
        product = product >> 23 | ((product & 0x7FFFFF) != 0)
        power_p = power_a + power_b - _BIAS
        third = third << 3
        # Infinity and NaN.
        special_a, special_b, special_c = (each == 255 for each in (power_a, power_b, power_c))
        too_large = power_p >= 255
        is_special = special_a | special_b | too_large | special_c
        c_is_infinite = special_c & (third == 1 << 26)
        is_nan = special_a & ((first != 1 << 23) | (second == 0))
        is_nan |= special_b & ((second != 1 << 23) | (first == 0))
        infinite_p = special_a | special_b
        against = c_is_infinite & (sign_c != sign_p)
        is_nan |= against & (infinite_p | too_large if self.is_wormhole else infinite_p)
        c_is_nan = special_c & ~c_is_infinite
        sign_of_nan = np.where(is_nan, sign_p, sign_c)
        is_nan |= c_is_nan
        special = np.where(c_is_infinite, _signed(sign_c, 255), _signed(sign_p, 255))
        if self.is_wormhole:
            power_p = np.where(is_special, np.minimum(power_p, 255), power_p)
        is_lost = (product == 0) | (power_p < 0)
        product = np.where(is_lost, 0, product)
        power_p = np.where(is_lost, 0, power_p)
        # The sum.
        power = np.maximum(power_p, power_c)
        product = _aligned(product, power - power_p)
        third = _aligned(third, power - power_c)
        sign = np.where(product >= third, sign_p, sign_c)
        total = np.where(sign_c == sign, third, -third) + np.where(
            sign_p == sign, product, -product
        )
        total = np.where(total < 0, -total, total)
        length = np.frexp(total.astype(np.float64))[1].astype(np.int64)
        right = length - 27  # By how many bits to the right its leading one stands 26 bits high.
        power = power + right
        is_tiny = power < 0 if self.is_wormhole else power <= 0
        if not self.is_wormhole:
            right = np.where(is_tiny, right + 1, right)
        drop = np.clip(right, 0, 62)
        lost = total & (1 if self.is_wormhole else (drop | 1))
        kept = np.where(
            right <= 0, total << np.clip(-right, 0, 35), total >> drop | ((lost != 0) & (drop > 0))
        )
        is_zero = total == 0
        base = np.where(is_tiny & (not self.is_wormhole), 0, power) << 23
        result = base + (kept >> 3 & 0x7FFFFF)
        result += ((kept & 7) + (result & 1)) > 4
        result = np.where(result >> 23 == 0, 0, result)
        sign = np.where(result == 0, 0, sign) if self.is_wormhole else sign
        if self.is_wormhole:
            result = np.where(is_tiny, 0, result)
            sign = np.where(is_tiny, 0, sign)
        result = np.where(power >= 255, 255 << 23, result)
        result = np.where(is_zero, 0, result)
        sign = np.where(is_zero, 0 if self.is_wormhole else sign_c & sign_p, sign)
        result = result | sign << 31
        # Nothing was added.
        alone = np.where(third > 0, _signed(sign_c, 0) | bits(c).astype(np.int64) & 0x7FFFFFFF, 0)
        zero = 0 if self.is_wormhole else (sign_c & sign_p) << 31
        result = np.where(is_lost, np.where(third > 0, alone, zero), result)
        result = np.where(is_special, special, result)
        nan = _signed(sign_of_nan, 255) | 1 if self.is_wormhole else np.int64(0x7FC00000)
        result = np.where(is_nan, nan, result)
        return result.astype(np.uint32).view(np.float32)


def _to_odd(values: Array) -> Array:
    """Whole numbers below; the last bit tells, too, what was cut."""
    floor = np.floor(values)
    whole = floor.astype(np.int64)
    return whole | (values != floor)


def _unpacked(lanes: Array) -> tuple[Array, Array, Array]:
    """Signs, exponents and significands of 24 bits, as integers of 64 bits."""
    pattern = np.ascontiguousarray(lanes, np.float32).view(np.uint32).astype(np.int64)
    power = pattern >> 23 & 0xFF
    significand = np.where(power > 0, pattern & 0x7FFFFF | 0x800000, 0)
    return pattern >> 31, power, significand


def _signed(signs: Array, biased: int) -> Array:
    return signs << 31 | np.int64(biased << 23)


def _aligned(significands: Array, by: Array) -> Array:
    """Shifted to the right; the last bit tells what was cut, if anything is left."""
    amounts = np.minimum(by, 62)
    kept = significands >> amounts
    return np.where(kept > 0, kept | ((kept << amounts) != significands), 0)


WORMHOLE = VectorUnit(is_wormhole=True)
BLACKHOLE = VectorUnit(is_wormhole=False)


class Lanes:
    """Numbers in a register of the vector unit, with the arithmetic of programs.

    A product that is added to something, or from which something is subtracted, takes one
    instruction together with that, as the compiler for the vector unit makes it; `kept` computes
    the product by itself.
    """

    __array_ufunc__ = None
    __slots__ = ("_array", "_factors", "unit")

    def __init__(
        self, unit: VectorUnit, array: Array | None, factors: tuple[Array, Array] | None = None
    ) -> None:
        """Numbers, or a product that is not computed yet."""
        self.unit = unit
        self._array = array
        self._factors = factors

    @property
    def array(self) -> Array:
        """The numbers."""
        if self._array is None:
            assert self._factors is not None
            self._array = self.unit.mul(*self._factors)
        return self._array

    def kept(self) -> Lanes:
        """The numbers as they are in a register, whatever happens to them next."""
        return self.of(self.array)

    def of(self, array: Array) -> Lanes:
        """Other numbers on the same unit."""
        return Lanes(self.unit, array)

    def __neg__(self) -> Lanes:
        """With the other sign."""
        return self.of(negative(self.array))

    def __mul__(self, other: Lanes | float) -> Lanes:
        """A product."""
        return Lanes(self.unit, None, (self.array, _array_of(other)))

    __rmul__ = __mul__

    def __add__(self, other: Lanes | float) -> Lanes:
        """A sum, of a product in one step."""
        if self._factors is not None:
            return self.of(self.unit.mad(*self._factors, _array_of(other)))
        if isinstance(other, Lanes) and other._factors is not None:
            return self.of(self.unit.mad(*other._factors, self.array))
        return self.of(self.unit.add(self.array, _array_of(other)))

    __radd__ = __add__

    def __sub__(self, other: Lanes | float) -> Lanes:
        """A difference; of numbers it is the second times -1, plus the first."""
        if not isinstance(other, Lanes):
            return self + -other
        if other._factors is not None and self._factors is None:
            first, second = other._factors
            return self.of(self.unit.mad(negative(first), second, self.array))
        if self._factors is not None:
            return self.of(self.unit.mad(*self._factors, negative(other.array)))
        return self.of(self.unit.mad(-1.0, other.array, self.array))

    def __rsub__(self, other: float) -> Lanes:
        """A number less these."""
        if self._factors is not None:
            first, second = self._factors
            return self.of(self.unit.mad(negative(first), second, other))
        return self.of(self.unit.mad(-1.0, self.array, other))


def _array_of(value: Lanes | float) -> Array:
    return value.array if isinstance(value, Lanes) else _constant(value)


@lru_cache(maxsize=1024)
def _constant(value: float) -> Array:
    return np.asarray(value, np.float32)


_NORMAL = span(2.0**-126, float("inf"))


def pack_bfloat16(values: Array) -> Array:
    """Numbers of a register in a tensor of bfloat16, through a DST of 16 bits.

    DST keeps the upper half. The packer makes 0 of denormal numbers and of -0, and infinity of NaN.
    """
    pattern = np.ascontiguousarray(values, np.float32).view(np.uint32) & np.uint32(0xFFFF0000)
    numbers = pattern.view(np.float32)
    if all_within(numbers, _NORMAL):
        return np.asarray(numbers + _ZERO)
    exponents = pattern & np.uint32(0x7F800000)
    pattern = np.where(exponents == 0x7F800000, pattern & np.uint32(0xFF800000), pattern)
    return np.where(exponents, pattern, 0).astype(np.uint32).view(np.float32)


def store_float32(values: Array) -> Array:
    """Numbers of a register in a DST of 32 bits: denormal ones become 0, with their signs."""
    numbers = np.ascontiguousarray(values, np.float32)
    if all_within(numbers, _NORMAL):
        return numbers
    pattern = numbers.view(np.uint32)
    kept = np.where(pattern & np.uint32(0x7F800000), pattern, pattern & np.uint32(1 << 31))
    return kept.astype(np.uint32).view(np.float32)


def all_bfloat16() -> Array:
    """The 65,536 numbers of bfloat16, by their patterns."""
    return (np.arange(1 << 16, dtype=np.uint32) << 16).view(np.float32)


def vector_unit(arch: Arch) -> VectorUnit:
    """The vector unit of the chips of a generation."""
    return WORMHOLE if arch is Arch.WORMHOLE_B0 else BLACKHOLE
