"""Dense constants that are never expanded.

Stock xDSL stores `dense<1.5> : tensor<4096x4096xf32>` as 64 MB. Importing this module gives
`DenseIntOrFPElementsAttr` MLIR's storage instead: `data` holds **either one element (a splat) or
all of them**, in row-major order, little-endian, each element in `element_size` bytes (`i1` and
`index` take 1 and 8 bytes, other integers their width rounded up to whole bytes, complex numbers
two elements). All accessors of the class follow this rule, and equal contents are always stored the
same way, so that `==` compares values: as `bytes`, or from `LARGE` bytes on as `LargeBytes`.

Use `splat_bytes`, `raw_bytes`, `large_bytes` and `element_count` rather than `data`. `raw_bytes` of
a splat allocates; ask `splat_bytes` first. `numpy.frombuffer(raw_bytes(attr), dtype)` takes no copy
but of large constants that were permuted.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeAlias, cast

from xdsl.dialects.builtin import (
    AnyFloat,
    BytesAttr,
    ComplexType,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    RankedStructure,
    Signedness,
)
from xdsl.utils.exceptions import VerifyException

from ttmlir.mlir.attributes.floats import float_attr, format_float_bits, pack_floats, value_of
from ttmlir.mlir.attributes.long_strings import LongString, hex_digits

if TYPE_CHECKING:
    from xdsl.printer import Printer

    from ttmlir.mlir.attributes.large_bytes import LargeBytes

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
    if splat is not None:
        return splat * element_count(attr)
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
    from ttmlir.mlir.attributes.large_bytes import LargeBytes

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
        return _pack_integers(cast(Sequence[int], values), INDEX_BYTES * 8, Signedness.SIGNLESS)
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
