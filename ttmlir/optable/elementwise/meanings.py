"""What elementwise operations compute, where it is more than one function of NumPy.

Booleans are 0 and 1; arithmetic on them follows StableHLO (addition is or, multiplication is and).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def _is_integer(xp: Any, *arrays: Any) -> bool:
    return all(xp.issubdtype(array.dtype, xp.integer) for array in arrays)


def _is_boolean(*arrays: Any) -> bool:
    return all(array.dtype == bool for array in arrays)


def negate(xp: Any, x: Any) -> Any:
    """The negative; of a truth value, itself."""
    return x if _is_boolean(x) else -x


def subtract(xp: Any, x: Any, y: Any) -> Any:
    """The difference; of truth values, whether they differ."""
    return xp.logical_xor(x, y) if _is_boolean(x, y) else x - y


def divide(xp: Any, x: Any, y: Any) -> Any:
    """Division; of integers, rounded toward zero, and 0 where the divisor is 0."""
    if not _is_integer(xp, x, y):
        return xp.true_divide(x, y)
    quotient = xp.floor_divide(x, y)
    inexact = quotient * y != x
    return quotient + (inexact & ((x < 0) != (y < 0)) & (y != 0))


def remainder(xp: Any, x: Any, y: Any) -> Any:
    """What a division leaves, with the sign of x; of integers and truth values by 0, x."""
    if _is_boolean(x, y):
        return xp.greater(x, y)
    if not _is_integer(xp, x, y):
        return xp.fmod(x, y)
    return xp.where(y == 0, x, xp.fmod(x, y))


def raise_to_power(xp: Any, x: Any, y: Any) -> Any:
    """Power; of integers, as often as they are multiplied, and a fraction rounded toward zero."""
    if not _is_integer(xp, x, y):
        return xp.power(x, y)
    power = xp.power(x, xp.maximum(y, 0))
    # Only 1 and -1 have a reciprocal that is an integer.
    inverse = xp.where(x == 1, 1, xp.where(x == -1, 1 - 2 * (y & 1), 0))
    return xp.where(y < 0, inverse, power).astype(power.dtype)


def sigmoid(xp: Any, x: Any) -> Any:
    """The logistic function."""
    # exp(-|x|) cannot overflow; the subtraction takes booleans, which have no negative.
    decay = xp.exp(0.0 - xp.abs(x))
    return xp.where(x >= 0, 1.0, decay) / (1.0 + decay)


def sign(xp: Any, x: Any) -> Any:
    """-1, 0 or 1; of a truth value, itself."""
    return x if _is_boolean(x) else xp.sign(x)


def round_by(xp: Any, function: Any, x: Any) -> Any:
    """What a function of NumPy rounds to; integers stay as they are."""
    return x if _is_boolean(x) or _is_integer(xp, x) else function(x)


def _require_bits(xp: Any, *operands: Any) -> None:
    if not all(_is_boolean(x) or _is_integer(xp, x) for x in operands):
        raise ValueError("bits are those of integers and booleans; typecast other numbers")


def bitwise(function: str) -> Callable[..., Any]:
    """A function of NumPy that takes integers and booleans only."""

    def reference(xp: Any, *operands: Any) -> Any:
        _require_bits(xp, *operands)
        return getattr(xp, function)(*operands)

    return reference


def count_ones(xp: Any, x: Any) -> Any:
    """How many bits are 1."""
    _require_bits(xp, x)
    return xp.bitwise_count(_unsigned(xp, x)).astype(x.dtype)


def count_leading_zeros(xp: Any, x: Any) -> Any:
    """How many bits are above the highest 1."""
    _require_bits(xp, x)
    bits = _unsigned(xp, x)
    width = 1 if _is_boolean(x) else 8 * x.dtype.itemsize
    # Ones are spread to the right of the first one, so that counting them gives its place.
    distance = 1
    while distance < width:
        bits = bits | bits >> bits.dtype.type(distance)
        distance *= 2
    return (width - xp.bitwise_count(bits).astype(xp.int64)).astype(x.dtype)


def _unsigned(xp: Any, x: Any) -> Any:
    """The same bits as numbers that are not negative."""
    return x.astype(xp.uint8) if _is_boolean(x) else x.view(f"u{x.dtype.itemsize}")


def bitcast(xp: Any, x: Any, *, source: Any, target: Any) -> Any:
    """The same bits as numbers of the type `target`."""
    return x.astype(source).view(target)


def shift(direction: str, *, arithmetic: bool = False) -> Callable[[Any, Any, Any], Any]:
    """A shift; the distance is an unsigned number, which may be larger than the width."""

    def reference(xp: Any, x: Any, distance: Any) -> Any:
        _require_bits(xp, x, distance)
        if _is_boolean(x):
            return x & (distance == 0)
        width = 8 * x.dtype.itemsize
        has_sign = arithmetic and xp.issubdtype(x.dtype, xp.signedinteger)
        bits = x if has_sign else _unsigned(xp, x)
        steps = _unsigned(xp, distance)
        inside = xp.minimum(steps, width - 1).astype(bits.dtype)
        shifted = getattr(xp, f"{direction}_shift")(bits, inside)
        if not has_sign:
            shifted = xp.where(steps < width, shifted, bits.dtype.type(0))
        return shifted.view(x.dtype)

    return reference


def identity(xp: Any, x: Any) -> Any:
    """The operand itself."""
    return x


def clamp(xp: Any, x: Any, *, min: float, max: float) -> Any:
    """The nearest number within the limits."""
    return xp.minimum(xp.maximum(x, min), max)


def leaky_relu(xp: Any, x: Any, *, parameter: float) -> Any:
    """The number itself, or `parameter` times a negative one."""
    return xp.where(x >= 0, x, parameter * x)


def where(xp: Any, condition: Any, on_true: Any, on_false: Any) -> Any:
    """One of two operands, by a third."""
    return xp.where(condition != 0, on_true, on_false)
