"""What compiled kernels call beside the API: arithmetic that Python has no operator for, checks.

`NAMES` gives each function its name in compiled code.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, MutableSequence
from typing import NoReturn, TypeAlias

Item: TypeAlias = "int | float | list[Item] | None"
ROUNDS = 1 << 26
"""How often a loop goes round that neither waits nor looks at memory; it is endless then."""
_NULL = "this dereferences a null pointer"
LocalPointer: TypeAlias = tuple[MutableSequence[Item], int]


class KernelFault(Exception):
    """Something that C++ leaves undefined; the message says what."""


def quotient(a: int, b: int) -> int:
    """`a / b` in C++: rounds toward zero."""
    result = abs(a) // abs(b)
    return result if (a < 0) == (b < 0) else -result


def remainder(a: int, b: int) -> int:
    """`a % b` in C++: has the sign of `a`."""
    result = abs(a) % abs(b)
    return -result if a < 0 else result


def shift_count(count: int, bits: int) -> int:
    """The number of places of a shift, which has to be smaller than the type."""
    if not 0 <= count < bits:
        raise KernelFault(f"a shift by {count} places of a type of {bits} bits is undefined")
    return count


def index(value: int) -> int:
    """An index that may be negative."""
    if value < 0:
        raise KernelFault(f"the index {value} lies before the start of the array")
    return value


def as_float32(value: float) -> float:
    """The value rounded to single precision."""
    try:
        return struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)


def float_quotient(a: float, b: float) -> float:
    """`a / b` of floating-point numbers."""
    if b:
        return a / b
    if a == 0 or math.isnan(a):
        return math.nan
    return math.copysign(math.inf, a) * math.copysign(1.0, b)


def truncated(value: float, low: int, high: int) -> int:
    """A floating-point number as an integer."""
    if math.isnan(value) or not low - 1 < value < high + 1:
        raise KernelFault(f"{value} is no value of the integer type that it is converted to")
    return int(value)


def float_bits(value: float) -> int:
    """The bits of a `float`."""
    return struct.unpack("<I", struct.pack("<f", value))[0]


def bits_float(bits: int) -> float:
    """The `float` of some bits."""
    return struct.unpack("<f", struct.pack("<I", bits & 0xFFFFFFFF))[0]


def put(value: Item, container: MutableSequence[Item], place: int) -> Item:
    """An assignment to an element, as an expression."""
    container[place] = value
    return value


def put_attribute(value: Item, holder: object, member: str) -> Item:
    """An assignment to a member of an object of the kernel library, as an expression."""
    setattr(holder, member, value)
    return value


def advance(pointer: LocalPointer, count: int) -> LocalPointer:
    """A pointer to a later element of the same array."""
    return pointer[0], pointer[1] + count


def difference(a: LocalPointer, b: LocalPointer) -> int:
    """How many elements lie between two places in one array."""
    if a[0] is not b[0]:
        raise KernelFault("these pointers point into different variables")
    return a[1] - b[1]


def is_same(a: LocalPointer, b: LocalPointer) -> bool:
    """Whether two pointers are equal."""
    return a[0] is b[0] and a[1] == b[1]


def copied(value: list[Item]) -> list[Item]:
    """A copy of a struct or array with everything in it."""
    return [copied(each) if isinstance(each, list) else each for each in value]


def overwrite(place: list[Item], value: list[Item]) -> list[Item]:
    """The assignment of a struct."""
    place[:] = copied(value)
    return place


def printed(value: int, base: int, width: int) -> str:
    """An integer as `DPRINT` shows it after `HEX()`, `OCT()` or `SETW()`."""
    text = format(value, {8: "o", 10: "d", 16: "x"}[base])
    return text.rjust(width)


def checked_load(load: Callable[[int, int, bool], int]) -> Callable[[int, int, bool], int]:
    """A load from memory that refuses addresses that the processor cannot load from."""

    def checked(address: int, size: int, signed: bool) -> int:
        if not address:
            raise KernelFault(_NULL)
        return load(address, size, signed)

    return checked


def checked_store(
    store: Callable[[int, int, int], object],
) -> Callable[[int, int, int], int]:
    """A store to memory, likewise; the result is the value."""

    def checked(value: int, address: int, size: int) -> int:
        if not address:
            raise KernelFault(_NULL)
        store(address, size, value)
        return value

    return checked


def character(number: int) -> str:
    """A `char` as `DPRINT` shows it."""
    return chr(number)


def endless() -> NoReturn:
    """The end of a loop that has gone round `ROUNDS` times."""
    raise KernelFault(
        "this loop goes round without end: nothing that it waits for can change while it runs"
    )


def missing(message: str) -> NoReturn:
    """The end of a function that has to return a value."""
    raise KernelFault(message)


NAMES: dict[str, object] = {
    "_quotient": quotient,
    "_remainder": remainder,
    "_shift_count": shift_count,
    "_index": index,
    "_float32": as_float32,
    "_float_quotient": float_quotient,
    "_truncated": truncated,
    "_float_bits": float_bits,
    "_bits_float": bits_float,
    "_put": put,
    "_put_attribute": put_attribute,
    "_advance": advance,
    "_difference": difference,
    "_is_same": is_same,
    "_copied": copied,
    "_overwrite": overwrite,
    "_printed": printed,
    "_checked_load": checked_load,
    "_checked_store": checked_store,
    "_character": character,
    "_endless": endless,
    "_missing": missing,
    "_min": min,
    "_max": max,
    "float": float,
    "range": range,
    "_rounds": range(ROUNDS),
}

PURE = frozenset(NAMES) - {"_put", "_put_attribute", "_overwrite", "_missing", "_endless"}
"""Those that only find a value."""
