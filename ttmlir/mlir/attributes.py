"""Attributes of MLIR: affine maps, elements, floating point numbers, resources and strings."""

from __future__ import annotations

import math
import struct
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, cast
from weakref import WeakKeyDictionary

from xdsl.dialects.builtin import (
    AffineMapAttr,
    AffineSetAttr,
    AnyFloat,
    ArrayAttr,
    BytesAttr,
    ComplexType,
    DenseIntOrFPElementsAttr,
    FileLineColLoc,
    FloatAttr,
    FloatData,
    FusedLoc,
    IndexType,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    RankedStructure,
    Signedness,
)
from xdsl.ir import Operation, ParametrizedAttribute
from xdsl.ir.affine import AffineBinaryOpExpr as XdslBinary
from xdsl.ir.affine import AffineBinaryOpKind as XdslKind
from xdsl.ir.affine import AffineConstantExpr as XdslConstant
from xdsl.ir.affine import AffineConstraintExpr, AffineConstraintKind
from xdsl.ir.affine import AffineDimExpr as XdslDim
from xdsl.ir.affine import AffineExpr as XdslExpr
from xdsl.ir.affine import AffineMap as XdslMap
from xdsl.ir.affine import AffineSymExpr as XdslSymbol
from xdsl.irdl import irdl_attr_definition
from xdsl.utils.exceptions import VerifyException

from ttmlir.layout import affine
from ttmlir.layout.affine import (
    AffineExpr,
    AffineKind,
    AffineMap,
    AffineParseError,
    scan_affine_map,
)
from ttmlir.mlir.core_prefix import (
    core_prefix_of,
    has_late_kernels,
    mark_as_read,
    root_of,
    use_core_prefix,
    use_late_kernels,
)
from ttmlir.mlir.long_strings import LongString, hex_digits, marked
from ttmlir.mlir.xdsl_internals import resume_from

if TYPE_CHECKING:
    from xdsl.parser import AttrParser
    from xdsl.printer import Printer

    from ttmlir.mlir.large_bytes import LargeBytes


# --- Locations ------------------------------------------------------------------------------------
# Ranges, which MLIR has since 2025 and xDSL's locations lack: both ends are fused.


@irdl_attr_definition
class RangeOfLocations(ParametrizedAttribute):
    """What tells the two ends of a range from other locations that were put together."""

    name = "builtin.range_of_locations"


def range_ends(location: FusedLoc) -> tuple[FileLineColLoc, FileLineColLoc] | None:
    """Both ends, if a location is a range."""
    if not isinstance(location.metadata, RangeOfLocations):
        return None
    start, end = cast("ArrayAttr[FileLineColLoc]", location.locations).data
    return start, end


# --- Affine ---------------------------------------------------------------------------------------
# Affine maps in attributes: between MLIR's text, `ttmlir.layout.affine` and xDSL's attribute.
#
# `layout.affine` simplifies, compares and prints as MLIR does, semi-affine expressions included;
# xDSL's `AffineMapAttr` is what upstream operations hold. `affine_map_attr` and `layout_map`
# convert.

_TO_XDSL = {
    AffineKind.ADD: XdslKind.Add,
    AffineKind.MUL: XdslKind.Mul,
    AffineKind.MOD: XdslKind.Mod,
    AffineKind.FLOORDIV: XdslKind.FloorDiv,
    AffineKind.CEILDIV: XdslKind.CeilDiv,
}
_FROM_XDSL = {kind: ours for ours, kind in _TO_XDSL.items()}


def affine_map_attr(map: AffineMap) -> AffineMapAttr:
    """The attribute `affine_map<...>` that holds a map."""
    results = tuple(_to_xdsl(result) for result in map.results)
    return AffineMapAttr(XdslMap(map.num_dims, map.num_symbols, results))


def layout_map(attr: AffineMapAttr) -> AffineMap:
    """The simplified map that an attribute holds."""
    return _layout_map(attr.data)


@lru_cache(maxsize=4096)
def _layout_map(map: XdslMap) -> AffineMap:
    return AffineMap(map.num_dims, map.num_symbols, tuple(_from_xdsl(e) for e in map.results))


def affine_map_text(attr: AffineMapAttr) -> str:
    """MLIR's text of the map, without `affine_map<>`."""
    return str(layout_map(attr))


def affine_set_text(attr: AffineSetAttr) -> str:
    """MLIR's text of a set, without `affine_set<>`: every constraint compares with zero."""
    names = AffineMap(attr.data.num_dims, attr.data.num_symbols, ())
    space = str(names).partition(" ->")[0]
    return f"{space} : ({', '.join(map(_constraint_text, attr.data.constraints))})"


def _constraint_text(constraint: AffineConstraintExpr) -> str:
    lhs, rhs = _from_xdsl(constraint.lhs), _from_xdsl(constraint.rhs)
    if constraint.kind is AffineConstraintKind.le:
        lhs, rhs = rhs, lhs
    relation = "==" if constraint.kind is AffineConstraintKind.eq else ">="
    return f"{lhs - rhs} {relation} 0"


def _to_xdsl(expr: AffineExpr) -> XdslExpr:
    match expr:
        case affine.DimExpr():
            return XdslDim(expr.position)
        case affine.SymbolExpr():
            return XdslSymbol(expr.position)
        case affine.ConstantExpr():
            return XdslConstant(expr.value)
        case affine.BinaryExpr():
            return XdslBinary(_TO_XDSL[expr.kind], _to_xdsl(expr.lhs), _to_xdsl(expr.rhs))
        case _:
            raise AssertionError(f"no kind of affine expression: {expr}")


def _from_xdsl(expr: XdslExpr) -> AffineExpr:
    match expr:
        case XdslDim():
            return affine.dim(expr.position)
        case XdslSymbol():
            return affine.symbol(expr.position)
        case XdslConstant():
            return affine.constant(expr.value)
        case XdslBinary():
            return affine.binary(_FROM_XDSL[expr.kind], _from_xdsl(expr.lhs), _from_xdsl(expr.rhs))
        case _:
            raise AssertionError(f"no kind of affine expression: {expr}")


def parse_affine_map(parser: AttrParser) -> AffineMap:
    """Read a bare map such as `(d0, d1)[s0] -> (d0 floordiv s0, d1)`, simplified."""
    try:
        map, end = scan_affine_map(parser.lexer.input.content, parser.pos)
    except AffineParseError as error:
        parser.raise_error(error.message, error.position)
    resume_from(parser, end)
    return map


# --- Floats ---------------------------------------------------------------------------------------
# Floating-point numbers as MLIR reads and prints them, bit for bit.
#
# A value is a Python float (f64). Formats up to f64 are embedded in it exactly; NaN payloads are
# kept in its high mantissa bits, as the hardware's widening does. Printing follows
# `printFloatValue` of mlir/lib/IR/AsmPrinter.cpp and `APFloat::toString` of llvm/lib/Support.

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

_EXPONENT_BITS = {"f64": 11, "f32": 8, "f16": 5, "bf16": 8, "f8E5M2": 5, "f8E4M3": 4, "f8E3M4": 3}
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


# --- Elements -------------------------------------------------------------------------------------
# Dense constants that are never expanded.
#
# Stock xDSL stores `dense<1.5> : tensor<4096x4096xf32>` as 64 MB. Importing this module gives
# `DenseIntOrFPElementsAttr` MLIR's storage instead: `data` holds **either one element (a splat) or
# all of them**, in row-major order, little-endian, each element in `element_size` bytes (`i1` and
# `index` take 1 and 8 bytes, other integers their width rounded up to whole bytes, complex numbers
# two elements). All accessors of the class follow this rule, and equal contents are always stored
# the same way, so that `==` compares values: as `bytes`, or from `LARGE` bytes on as `LargeBytes`.
#
# Use `splat_bytes`, `raw_bytes`, `large_bytes` and `element_count` rather than `data`. `raw_bytes`
# of a splat allocates; ask `splat_bytes` first. `numpy.frombuffer(raw_bytes(attr), dtype)` takes no
# copy but of large constants that were permuted.

Number: TypeAlias = int | float
ElementValue: TypeAlias = Number | tuple[int, int] | tuple[float, float]
ElementType: TypeAlias = IntegerType | IndexType | AnyFloat | ComplexType
ElementsType: TypeAlias = RankedStructure[ElementType]
Elements: TypeAlias = DenseIntOrFPElementsAttr[ElementType]

INDEX_BYTES = 8
LARGE = 1 << 16
"""Bytes from which on those of a constant are `LargeBytes`."""
HEX_THRESHOLD = 100
"""MLIR prints more elements than this as one hexadecimal string."""


def element_size(type: ElementType) -> int:
    """Bytes that one element takes in `data`."""
    if isinstance(type, ComplexType):
        return 2 * element_size(type.element_type)
    if isinstance(type, IndexType):
        return INDEX_BYTES
    if isinstance(type, IntegerType):
        return (type.width.data + 7) // 8
    return type.size


def element_count(attr: Elements) -> int:
    """The number of elements that the type says."""
    return math.prod(attr.get_shape())


def splat_bytes(attr: Elements) -> bytes | None:
    """The bytes of the one value that all elements have, or None."""
    data = attr.data.data
    return data if data and len(data) == element_size(attr.get_element_type()) else None


def splat_value(attr: Elements) -> ElementValue | None:
    """The one value that all elements have; None if they have several, or there are none."""
    data = splat_bytes(attr)
    return None if data is None else next(unpack_values(data, attr.get_element_type()))


def raw_bytes(attr: Elements) -> bytes | memoryview:
    """All elements; for a splat of n elements this allocates n times `element_size`."""
    splat = splat_bytes(attr)
    return stored_bytes(attr) if splat is None else splat * element_count(attr)


def stored_bytes(attr: Elements) -> bytes | memoryview:
    """All elements, or the one of a splat."""
    large = large_bytes(attr)
    return attr.data.data if large is None else large.contiguous()


def large_bytes(attr: Elements) -> LargeBytes | None:
    """The elements of a large constant; None of one that holds `bytes`."""
    data = cast("bytes | LargeBytes", attr.data.data)
    return None if isinstance(data, bytes) else data


def elements_attr(type: ElementsType, data: bytes | memoryview) -> Elements:
    """A constant from the bytes of one element (a splat) or of all elements.

    Raises `ValueError` if there are neither one nor as many elements as the type says. Nobody may
    change the bytes afterwards: many of them are not copied.
    """
    size = element_size(type.get_element_type())
    count = math.prod(type.get_shape())
    if len(data) not in (size * count, size):
        raise ValueError(f"{len(data)} bytes do not hold {count} elements of {size} bytes")
    if not count:
        data = b""
    elif len(data) > size and _is_repetition(data, size):
        data = data[:size]
    if len(data) < LARGE:
        return DenseIntOrFPElementsAttr(type, BytesAttr(bytes(data)))
    # NumPy is loaded only where there is something large.

    from ttmlir.mlir.large_bytes import LargeBytes

    return large_elements_attr(type, LargeBytes.of(data, size))


def large_elements_attr(type: ElementsType, data: LargeBytes) -> Elements:
    """A constant of bytes of which it is known that they are large and not all equal."""
    # They have the length, equality and hash of bytes, which is all that xDSL asks for.
    return DenseIntOrFPElementsAttr(type, BytesAttr(cast("bytes", data)))


def _is_repetition(data: bytes | memoryview, size: int) -> bool:
    """True if all elements are equal; no copy is made when an early one differs."""
    probe = min(len(data), 64 * size)
    if data[:probe] != bytes(data[:size]) * (probe // size):
        return False
    view = memoryview(data)
    return view[size:] == view[:-size]


def elements_of(type: ElementsType, values: Sequence[ElementValue]) -> Elements:
    """A constant from one value (a splat) or all values.

    Raises `ValueError` for an integer that does not fit, or a wrong number of values.
    """
    return elements_attr(type, pack_values(values, type.get_element_type()))


def pack_values(values: Sequence[ElementValue], type: ElementType) -> bytes:
    """The bytes of values of an element type."""
    if isinstance(type, ComplexType):
        pairs = cast(Sequence[tuple[Number, Number]], values)
        return pack_values([part for pair in pairs for part in pair], type.element_type)
    if isinstance(type, IndexType):
        return _pack_integers(cast(Sequence[int], values), INDEX_BYTES * 8, Signedness.SIGNED)
    if isinstance(type, IntegerType):
        width, signedness = type.width.data, type.signedness.data
        return _pack_integers(cast(Sequence[int], values), width, signedness)
    return pack_floats(cast(Sequence[float], values), type)


def _pack_integers(values: Sequence[int], width: int, signedness: Signedness) -> bytes:
    low = 0 if signedness == Signedness.UNSIGNED else -(1 << width >> 1)
    high = 1 << width >> (signedness == Signedness.SIGNED)
    size = (width + 7) // 8
    for value in values:
        if not low <= value < high:
            raise ValueError(f"integer value {value} does not fit in {width} bits")
    mask = (1 << width) - 1
    return b"".join([(value & mask).to_bytes(size, "little") for value in values])


def unpack_values(data: bytes | memoryview, type: ElementType) -> Iterator[ElementValue]:
    """The values in a buffer of whole elements."""
    if isinstance(type, ComplexType):
        parts = iter(cast(Iterable[Number], unpack_values(data, type.element_type)))
        return cast(Iterator[ElementValue], zip(parts, parts, strict=True))
    size = element_size(type)
    if not size:
        return iter(())
    patterns = (
        int.from_bytes(data[start : start + size], "little") for start in range(0, len(data), size)
    )
    if isinstance(type, IndexType):
        return (_signed(bits, INDEX_BYTES * 8) for bits in patterns)
    if isinstance(type, IntegerType):
        width = type.width.data
        if type.signedness.data == Signedness.UNSIGNED:
            return patterns
        return (_signed(bits, width) for bits in patterns)
    return (value_of(bits, type) for bits in patterns)


def _signed(bits: int, width: int) -> int:
    return bits - (1 << width) if bits >> (width - 1) & 1 else bits


def literal(element: bytes | memoryview, type: ElementType) -> str:
    """MLIR's literal for one element."""
    if isinstance(type, ComplexType):
        half = len(element) // 2
        part = type.element_type
        return f"({literal(element[:half], part)},{literal(element[half:], part)})"
    if isinstance(type, IndexType | IntegerType):
        (value,) = unpack_values(element, type)
        if isinstance(type, IntegerType) and type.width.data == 1:
            return "true" if value else "false"
        return str(value)
    return format_float_bits(int.from_bytes(element, "little"), type)


def pack_bits(data: bytes) -> bytes:
    """One bit per `i1` element, least significant first: the form inside hex strings."""
    digits = data[::-1].translate(_BIT_DIGITS)
    return int(digits or b"0", 2).to_bytes((len(data) + 7) // 8, "little")


def unpack_bits(data: bytes, count: int) -> bytes:
    """The inverse of `pack_bits`; the buffer must hold `count` bits."""
    digits = f"{int.from_bytes(data, 'little'):0{max(count, 1)}b}"[::-1][:count]
    return digits.encode().translate(_BIT_VALUES)


_BIT_DIGITS = bytes([ord("0")]) + bytes([ord("1")]) * 255
_BIT_VALUES = bytes(value == ord("1") for value in range(256))


def is_bool(type: ElementType) -> bool:
    """True for integers of one bit, which hex strings pack."""
    return isinstance(type, IntegerType) and type.width.data == 1


def is_hex(attr: Elements, hex_threshold: int = HEX_THRESHOLD) -> bool:
    """True for what `elements_text` spells as one hexadecimal string."""
    return element_count(attr) > hex_threshold >= 0 and splat_bytes(attr) is None


def hex_bytes(attr: Elements) -> LongString:
    """What MLIR's hexadecimal string of the contents spells."""
    if is_bool(attr.get_element_type()):
        return pack_bits(bytes(raw_bytes(attr)))
    return large_bytes(attr) or raw_bytes(attr)


def hex_text(attr: Elements) -> str:
    """The contents as MLIR's hexadecimal string, such as `0x0000C03F`."""
    return "0x" + hex_digits(hex_bytes(attr))


def elements_text(attr: Elements, *, hex_threshold: int = HEX_THRESHOLD) -> str:
    """What stands between `dense<` and `>`."""
    type = attr.get_element_type()
    splat = splat_bytes(attr)
    if splat is not None:
        return literal(splat, type)
    count = element_count(attr)
    if not count:
        return ""
    if not element_size(type):
        # Integers without bits have one value.
        return "0"
    if is_hex(attr, hex_threshold):
        return f'"{hex_text(attr)}"'
    data, size = raw_bytes(attr), element_size(type)
    texts = [literal(data[start : start + size], type) for start in range(0, len(data), size)]
    for extent in reversed(attr.get_shape()):
        texts = [
            f"[{', '.join(texts[start : start + extent])}]"
            for start in range(0, len(texts), extent)
        ]
    return texts[0]


def _length(self: Elements) -> int:
    return element_count(self)


def _iter_values(self: Elements) -> Iterator[ElementValue]:
    splat = splat_bytes(self)
    if splat is None:
        return unpack_values(raw_bytes(self), self.get_element_type())
    (value,) = unpack_values(splat, self.get_element_type())
    return (value for _ in range(element_count(self)))


def _get_values(self: Elements) -> tuple[ElementValue, ...]:
    return tuple(_iter_values(self))


def _iter_attrs(self: Elements) -> Iterator[IntegerAttr | FloatAttr]:
    type = self.get_element_type()
    if isinstance(type, ComplexType):
        raise NotImplementedError("complex numbers have no scalar attribute")
    values = cast(Iterator[Number], _iter_values(self))
    if isinstance(type, IntegerType | IndexType):
        return (IntegerAttr(int(value), type) for value in values)
    return (float_attr(value, type) for value in values)


def _get_attrs(self: Elements) -> Sequence[IntegerAttr | FloatAttr]:
    return tuple(_iter_attrs(self))


def _is_splat(self: Elements) -> bool:
    return splat_bytes(self) is not None


def _shape_is_complete(self: Elements) -> bool:
    return element_count(self) > 0


def _verify(self: Elements) -> None:
    size = element_size(self.get_element_type())
    held, count = len(self.data.data), element_count(self)
    if held not in (size, size * count):
        raise VerifyException(
            f"expected {size} or {size * count} bytes for {count} elements, got {held}"
        )


def _print_without_type(self: Elements, printer: Printer) -> None:
    printer.print_string(f"dense<{elements_text(self)}>")


def install() -> None:
    """Give `DenseIntOrFPElementsAttr` the storage rule of this module."""
    methods: dict[str, object] = {
        "__len__": _length,
        "iter_values": _iter_values,
        "get_values": _get_values,
        "iter_attrs": _iter_attrs,
        "get_attrs": _get_attrs,
        "is_splat": _is_splat,
        "shape_is_complete": property(_shape_is_complete),
        "from_list": staticmethod(elements_of),
        "verify": _verify,
        "print_without_type": _print_without_type,
    }
    for name, method in methods.items():
        setattr(DenseIntOrFPElementsAttr, name, method)


install()


# --- Resources ------------------------------------------------------------------------------------
# The blobs of `dense_resource<...>`, kept with the module that was read.

_ALIGNMENT_BYTES = 4
DEFAULT_ALIGNMENT = 16


class Blob(NamedTuple):
    """What a resource holds, and how it wants to be placed in memory."""

    data: memoryview
    alignment: int = DEFAULT_ALIGNMENT

    @property
    def header(self) -> str:
        """What stands before the data in its hexadecimal string in a module: `0x04000000`."""
        return f"0x{self.alignment.to_bytes(_ALIGNMENT_BYTES, 'little').hex().upper()}"

    @property
    def text_length(self) -> int:
        """Length of the string."""
        return 2 + 2 * (_ALIGNMENT_BYTES + len(self.data))


_BLOBS: WeakKeyDictionary[Operation, dict[str, Blob]] = WeakKeyDictionary()


def blob_of(text: str, contents: Sequence[bytes] = ()) -> Blob | None:
    """The blob that a string spells; None if it spells none.

    `contents` are what the marks of a text stand for (`ttmlir.mlir.long_strings`).
    """
    data = marked(text, contents)
    if data is None:
        try:
            data = bytes.fromhex(text[2:]) if text.startswith("0x") else b""
        except ValueError:
            return None
    if len(data) < _ALIGNMENT_BYTES:
        return None
    alignment = int.from_bytes(data[:_ALIGNMENT_BYTES], "little")
    return Blob(memoryview(data)[_ALIGNMENT_BYTES:], alignment)


def attach_blobs(module: Operation, blobs: Mapping[str, Blob]) -> None:
    """Give a module the blobs that its `dense_resource`s name."""
    if blobs:
        _BLOBS.setdefault(root_of(module), {}).update(blobs)


def blobs_of(op: Operation) -> Mapping[str, Blob]:
    """The blobs of the module around an operation, by name."""
    return _BLOBS.get(root_of(op), {})


def cloned(module: ModuleOp) -> ModuleOp:
    """A copy of a module with the same blobs."""
    copy = module.clone()
    attach_blobs(copy, blobs_of(module))
    with use_core_prefix(core_prefix_of(module)):
        mark_as_read(copy)
    if has_late_kernels(module):
        use_late_kernels(copy)
    return copy


def blob_bytes(op: Operation, name: str) -> memoryview | None:
    """The contents of a blob for an operation of the module, or None; no copy is made."""
    blob = blobs_of(op).get(name)
    return None if blob is None else blob.data


def metadata(
    module: Operation, names: Collection[str], size_limit: int | None = None
) -> Iterator[str | memoryview]:
    """The `{-# ... #-}` section with these blobs, or nothing if there are none.

    Comes in parts; the data of a blob stand for their hexadecimal digits.

    Blobs whose text is longer than `size_limit` are left out.
    """
    blobs = blobs_of(module)
    printed = [
        name
        for name in sorted(names)
        if name in blobs and (size_limit is None or blobs[name].text_length <= size_limit)
    ]
    if not printed:
        return
    separator = "\n{-#\n  dialect_resources: {\n    builtin: {\n"
    for name in printed:
        yield f'{separator}      {name}: "{blobs[name].header}'
        yield blobs[name].data
        separator = '",\n'
    yield '"\n    }\n  }\n#-}\n'
