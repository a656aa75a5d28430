"""Numbers of a kernel's variables as those of another type: what `(uint8_t*)&word` points to."""

from __future__ import annotations

import struct
from collections.abc import MutableSequence
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from ttmlir.sim.kernels.python.runtime import Item

FORMATS = {
    **{"u8": "B", "i8": "b", "u16": "H", "i16": "h", "u32": "I", "i32": "i", "u64": "Q"},
    **{"i64": "q", "float": "f", "double": "d"},
}
"""The formats of `struct`, by the tags of types."""


class NumberView:
    """The bytes of a list of numbers as numbers of another type, little end first."""

    __slots__ = ("_container", "_given", "_given_size", "_wanted", "_wanted_size")

    def __init__(self, container: MutableSequence[Item], given: str, wanted: str) -> None:
        """See numbers with the tag `given` as ones with the tag `wanted`."""
        self._container = container
        self._given, self._wanted = FORMATS[given], FORMATS[wanted]
        self._given_size = struct.calcsize(f"<{self._given}")
        self._wanted_size = struct.calcsize(f"<{self._wanted}")

    def convert_place(self, place: int) -> int | None:
        """The number of the element at the place of an element; None if it lies within one."""
        quotient, rest = divmod(place * self._given_size, self._wanted_size)
        return None if rest else quotient

    def count_before(self, end: int) -> int:
        """How many whole elements lie before an element."""
        return end * self._given_size // self._wanted_size

    def __getitem__(self, place: int) -> int | float:
        """The number at a place."""
        first, count, offset = self._locate(place)
        return struct.unpack_from(f"<{self._wanted}", self._pack(first, count), offset)[0]

    def __setitem__(self, place: int, value: int | float) -> None:
        """Change the number at a place."""
        first, count, offset = self._locate(place)
        # What is written as a whole may never have been set.
        whole = offset == 0 and self._wanted_size == count * self._given_size
        data = bytearray(self._wanted_size) if whole else bytearray(self._pack(first, count))
        struct.pack_into(f"<{self._wanted}", data, offset, value)
        numbers = struct.unpack(f"<{count}{self._given}", data)
        for number, each in enumerate(numbers, first):
            self._container[number] = each

    def _locate(self, place: int) -> tuple[int, int, int]:
        """The elements that a number is made of: the first one, how many, and the byte in them."""
        first, offset = divmod(place * self._wanted_size, self._given_size)
        return first, max(1, self._wanted_size // self._given_size), offset

    def _pack(self, first: int, count: int) -> bytes:
        numbers = (cast("int | float", self._container[first + i]) for i in range(count))
        # Arithmetic on what was never set says so, which `struct` would not.
        return struct.pack(f"<{count}{self._given}", *(each + 0 for each in numbers))
