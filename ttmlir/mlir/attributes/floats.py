"""Floating-point numbers as MLIR reads and prints them, bit for bit.

A value is a Python float (f64). Formats up to f64 are embedded in it exactly; NaN payloads are
kept in its high mantissa bits, as the hardware's widening does. Printing follows
`printFloatValue` of mlir/lib/IR/AsmPrinter.cpp and `APFloat::toString` of llvm/lib/Support.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence

from xdsl.dialects.builtin import AnyFloat, FloatAttr, FloatData

_MANTISSA_BITS = {
    "f64": 52,
    "f32": 23,
    "tf32": 10,
    "f16": 10,
    "bf16": 7,
    "f8E5M2": 2,
    "f8E5M2FNUZ": 2,
    "f8E4M3": 3,
    "f8E4M3FN": 3,
    "f8E4M3FNUZ": 3,
    "f8E4M3B11FNUZ": 3,
    "f8E3M4": 4,
    "f6E2M3FN": 3,
    "f6E3M2FN": 2,
    "f4E2M1FN": 1,
    "f8E8M0FNU": 0,
}
"""Stored mantissa bits by name of the type."""

_EXPONENT_BITS = {
    "f64": 11,
    "f32": 8,
    "f16": 5,
    "bf16": 8,
    "f8E5M2": 5,
    "f8E4M3": 4,
    "f8E3M4": 3,
}
"""Exponent bits of the formats that follow IEEE 754's layout and are handled here."""


_NAN_SIGN = {"f8E4M3FN": 0x80}
"""The sign bit, where a NaN has one and the format does not follow IEEE 754's layout."""


class UnsupportedFloatError(ValueError):
    """A value of a float type whose values are not representable here (f80, f128)."""


def _check(type: AnyFloat) -> None:
    if type.name not in _MANTISSA_BITS:
        raise UnsupportedFloatError(
            f"values of type '{type.name}' are not supported; use f64 or a smaller float type"
        )


def bits_of(value: float, type: AnyFloat) -> int:
    """The bit pattern of `value` rounded to `type` (to nearest, ties to even)."""
    _check(type)
    exponent_bits = _EXPONENT_BITS.get(type.name)
    (wide,) = struct.unpack("<Q", struct.pack("<d", value))
    if exponent_bits is None:
        bits = int.from_bytes(type.pack((value,)), "little")
        is_negative_nan = math.isnan(value) and wide >> 63
        return bits | _NAN_SIGN.get(type.name, 0) if is_negative_nan else bits
    if type.name == "f64":
        return wide
    if math.isnan(value):
        return _narrow_nan(wide, exponent_bits, _MANTISSA_BITS[type.name])
    try:
        return int.from_bytes(type.pack((value,)), "little")
    except OverflowError:
        sign = wide >> 63
        mantissa_bits = _MANTISSA_BITS[type.name]
        return (sign << exponent_bits | (1 << exponent_bits) - 1) << mantissa_bits


def _narrow_nan(wide: int, exponent_bits: int, mantissa_bits: int) -> int:
    payload = (wide & (1 << 52) - 1) >> (52 - mantissa_bits)
    payload = payload or 1 << (mantissa_bits - 1)
    sign = wide >> 63
    return (sign << exponent_bits | (1 << exponent_bits) - 1) << mantissa_bits | payload


def value_of(bits: int, type: AnyFloat) -> float:
    """The value with this bit pattern."""
    _check(type)
    exponent_bits = _EXPONENT_BITS.get(type.name)
    if exponent_bits is not None:
        mantissa_bits = _MANTISSA_BITS[type.name]
        payload = bits & (1 << mantissa_bits) - 1
        exponent = bits >> mantissa_bits & (1 << exponent_bits) - 1
        if payload and exponent == (1 << exponent_bits) - 1:
            sign = bits >> (mantissa_bits + exponent_bits)
            wide = sign << 63 | 0x7FF << 52 | payload << (52 - mantissa_bits)
            return struct.unpack("<d", struct.pack("<Q", wide))[0]
    value = type.unpack(bits.to_bytes(type.size, "little"), 1)[0]
    if math.isnan(value) and bits & _NAN_SIGN.get(type.name, 0):
        return math.copysign(value, -1.0)
    return value


def float_attr(value: float, type: AnyFloat) -> FloatAttr:
    """A `FloatAttr` with `value` rounded to `type`; NaN payloads stay, overflow gives infinity."""
    rounded = value_of(bits_of(value, type), type)
    return FloatAttr.new((FloatData(rounded), type))


def float_attr_of_bits(bits: int, type: AnyFloat) -> FloatAttr:
    """A `FloatAttr` with this bit pattern."""
    return FloatAttr.new((FloatData(value_of(bits, type)), type))


def exact_float32(value: float) -> float | None:
    """The value as one that f32 holds, NaN included; None if it is not one."""
    try:
        (rounded,) = struct.unpack("<f", struct.pack("<f", value))
    except OverflowError:
        return None
    return rounded if rounded == value or math.isnan(rounded) else None


def pack_floats(values: Sequence[float], type: AnyFloat) -> bytes:
    """The values rounded to `type`, little-endian."""
    has_nan = any(value != value for value in values)
    if type.name == "f64" or (type.name == "f32" and not has_nan):
        try:
            packed = type.pack(values)
        except OverflowError:
            pass
        else:
            return packed
    size = type.size
    return b"".join(bits_of(value, type).to_bytes(size, "little") for value in values)


def format_float(value: float, type: AnyFloat) -> str:
    """The literal that MLIR prints for `value` of `type`."""
    return format_float_bits(bits_of(value, type), type)


def format_float_bits(bits: int, type: AnyFloat) -> str:
    """The literal that MLIR prints for the value of `type` with this bit pattern."""
    value = value_of(bits, type)
    if math.isfinite(value):
        precision = _MANTISSA_BITS[type.name] + 1
        text = _scientific(value, precision)
        if bits_of(float(text), type) == bits:
            return text
        text = _shortest(value, precision)
        if "." in text:
            return text
    return f"0x{bits:X}"


def format_all_digits(value: float, type: AnyFloat) -> str:
    """All digits that the format can hold, always scientific, such as `1.500000000e+00`.

    The value must be finite.
    """
    _check(type)
    if value == 0:
        return "-0.0e+00" if math.copysign(1.0, value) < 0 else "0.0e+00"
    precision = _MANTISSA_BITS[type.name] + 1
    return _scientific(value_of(bits_of(value, type), type), precision, 2 + precision * 59 // 196)


def _scientific(value: float, precision: int, limit: int = 6) -> str:
    """`limit` digits after the point and at least two in the exponent, such as `1.500000e+00`."""
    sign = "-" if math.copysign(1.0, value) < 0 else ""
    if value == 0:
        return sign + "0.000000e+00"
    digits, exponent = _decimal(value, precision, limit)
    exponent += len(digits) - 1
    fraction = digits[1:].ljust(limit, "0")
    return f"{sign}{digits[0]}.{fraction}e{'-' if exponent < 0 else '+'}{abs(exponent):02}"


def _shortest(value: float, precision: int) -> str:
    """All digits that the format can hold, positional unless that takes many zeros."""
    sign = "-" if math.copysign(1.0, value) < 0 else ""
    if value == 0:
        return sign + "0"
    limit = 2 + precision * 59 // 196
    digits, exponent = _decimal(value, precision, limit)
    count = len(digits)
    leading = exponent + count - 1
    too_long = exponent > 3 or count + exponent > limit if exponent >= 0 else -leading > 3
    if too_long:
        fraction = digits[1:] or "0"
        return f"{sign}{digits[0]}.{fraction}E{'-' if leading < 0 else '+'}{abs(leading)}"
    if exponent >= 0:
        return sign + digits + "0" * exponent
    if leading >= 0:
        return f"{sign}{digits[: leading + 1]}.{digits[leading + 1 :]}"
    return f"{sign}0.{'0' * (-leading - 1)}{digits}"


def _decimal(value: float, precision: int, limit: int) -> tuple[str, int]:
    """Decimal digits and exponent of a non-zero value, as APFloat finds them.

    The value is `digits * 10**exponent` with at most `limit` digits. LLVM first cuts the exact
    decimal expansion (truncating) to about `limit` digits, then rounds half up.
    """
    fraction, exponent = math.frexp(abs(value))
    significand = int(fraction * (1 << precision))
    exponent -= precision
    zeros = (significand & -significand).bit_length() - 1
    significand >>= zeros
    exponent += zeros
    if exponent > 0:
        significand <<= exponent
        exponent = 0
    else:
        significand *= 5**-exponent
    significand, exponent = _cut(significand, exponent, limit)
    text = str(significand)
    digits = text.rstrip("0")
    return _round(digits, exponent + len(text) - len(digits), limit)


def _cut(significand: int, exponent: int, limit: int) -> tuple[int, int]:
    needed_bits = (limit * 196 + 58) // 59
    surplus = (significand.bit_length() - needed_bits) * 59 // 196
    if significand.bit_length() <= needed_bits or not surplus:
        return significand, exponent
    return significand // 10**surplus, exponent + surplus


def _round(digits: str, exponent: int, limit: int) -> tuple[str, int]:
    surplus = len(digits) - limit
    if surplus <= 0:
        return digits, exponent
    kept = digits[:limit]
    if digits[limit] < "5":
        kept = kept.rstrip("0")
    else:
        kept = kept.rstrip("9")
        if not kept:
            return "1", exponent + len(digits)
        kept = kept[:-1] + str(int(kept[-1]) + 1)
    return kept, exponent + len(digits) - len(kept)
