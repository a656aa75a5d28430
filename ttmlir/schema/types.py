# pyright: reportUntypedNamedTuple=false
# The structs are known at run time only.
"""The types that a flatbuffer schema declares.

A type knows its size and alignment where it stands in a table, vector or struct; strings, vectors,
tables and unions stand there as a 4-byte offset.
"""

from __future__ import annotations

import struct
from collections import namedtuple
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

OFFSET_SIZE = 4


@dataclass(eq=False)
class ScalarType:
    """A number."""

    name: str
    code: str
    """Format character of the `struct` module."""

    @cached_property
    def packer(self) -> struct.Struct:
        """Conversion between the number and its little-endian bytes."""
        return struct.Struct("<" + self.code)

    @property
    def size(self) -> int:
        """Bytes."""
        return self.packer.size

    @property
    def alignment(self) -> int:
        """Bytes."""
        return self.packer.size


SCALARS: Mapping[str, ScalarType] = {
    name: ScalarType(names[0], code)
    for code, names in {
        "?": ("bool",),
        "b": ("byte", "int8"),
        "B": ("ubyte", "uint8"),
        "h": ("short", "int16"),
        "H": ("ushort", "uint16"),
        "i": ("int", "int32"),
        "I": ("uint", "uint32"),
        "q": ("long", "int64"),
        "Q": ("ulong", "uint64"),
        "f": ("float", "float32"),
        "d": ("double", "float64"),
    }.items()
    for name in names
}
UBYTE = SCALARS["ubyte"]


@dataclass(eq=False)
class EnumType:
    """Named numbers; with `bit_flags`, sets of named bits."""

    name: str
    base: ScalarType
    members: Mapping[str, int]
    """Stored number of each name; of a flag, its bit."""
    bit_flags: bool = False

    @property
    def size(self) -> int:
        """Bytes."""
        return self.base.size

    @property
    def alignment(self) -> int:
        """Bytes."""
        return self.base.size

    @cached_property
    def names(self) -> dict[int, str]:
        """Name of each stored number that has been met; see `decode`."""
        return {number: name for name, number in self.members.items()}

    def decode(self, number: int) -> str | int | None:
        """Name of a stored number, None if it has none.

        A set of flags is their names, separated by blanks, or the number 0 if it is empty.
        """
        name = self.names.get(number)
        if name is not None or not self.bit_flags:
            return name
        if number == 0:
            return 0
        known = [name for name, bit in self.members.items() if number & bit]
        if sum(self.members[name] for name in known) != number:
            return None
        return self.names.setdefault(number, " ".join(known))

    def encode(self, value: str | int) -> int:
        """Stored number of a name, of flags separated by blanks, or of a number that has a name.

        Raises ValueError for anything else.
        """
        if isinstance(value, str):
            names = value.split() if self.bit_flags else [value]
            if any(name not in self.members for name in names):
                raise ValueError(f"{self.name} has no {value!r}; it has {', '.join(self.members)}")
            return sum(self.members[name] for name in dict.fromkeys(names))
        if self.decode(value) is None:
            raise ValueError(f"{self.name} has no number {value}")
        return int(value)


@dataclass(eq=False)
class StructType:
    """Numbers of fixed size that are stored in place."""

    name: str
    fields: Sequence[tuple[str, ScalarType | StructType]]

    @cached_property
    def alignment(self) -> int:
        """Bytes."""
        return max(type.alignment for _, type in self.fields)

    @cached_property
    def format(self) -> str:
        """Format of the `struct` module, padding included."""
        parts: list[str] = []
        used = 0
        for _, type in self.fields:
            padding = -used % type.alignment
            inner = type.code if isinstance(type, ScalarType) else type.format
            parts += ["x" * padding, inner]
            used += padding + type.size
        parts.append("x" * (-used % self.alignment))
        return "".join(parts)

    @cached_property
    def packer(self) -> struct.Struct:
        """Conversion between the flat tuple of the numbers and their bytes."""
        return struct.Struct("<" + self.format)

    @property
    def size(self) -> int:
        """Bytes."""
        return self.packer.size

    @cached_property
    def tuple_type(self) -> Any:
        """The named tuple that a value is read as."""
        names: list[str] = [name for name, _ in self.fields]
        return namedtuple(self.name, names)

    @cached_property
    def is_flat(self) -> bool:
        """True where all fields are numbers."""
        return all(isinstance(type, ScalarType) for _, type in self.fields)

    def build(self, numbers: Iterator[Any]) -> Any:
        """Value as a named tuple, from its numbers in order."""
        if self.is_flat:
            return self.tuple_type(*(next(numbers) for _ in self.fields))
        return self.tuple_type(
            *(
                next(numbers) if isinstance(type, ScalarType) else type.build(numbers)
                for _, type in self.fields
            )
        )

    def flatten(self, value: Mapping[str, Any] | Sequence[Any]) -> list[Any]:
        """Numbers of a value that is a mapping by field name or a sequence in field order.

        Raises ValueError if fields are missing or left over.
        """
        if isinstance(value, Mapping):
            if set(value) != {name for name, _ in self.fields}:
                expected = ", ".join(name for name, _ in self.fields)
                raise ValueError(f"{self.name} needs the fields {expected}")
            value = [value[name] for name, _ in self.fields]
        if len(value) != len(self.fields):
            raise ValueError(f"{self.name} needs {len(self.fields)} values, not {len(value)}")
        if self.is_flat:
            return list(value)
        numbers: list[Any] = []
        for (_, type), part in zip(self.fields, value, strict=True):
            numbers += [part] if isinstance(type, ScalarType) else type.flatten(part)
        return numbers


@dataclass(eq=False)
class StringType:
    """A text in UTF-8."""

    name: str = "string"
    size: int = OFFSET_SIZE
    alignment: int = OFFSET_SIZE


STRING = StringType()


@dataclass(eq=False)
class Field:
    """A field of a table."""

    name: str
    type: Type
    slot: int
    """Place in the vtable."""
    default: Any = None
    """Value that an absent scalar stands for; of an enumerator, its number."""


@dataclass(eq=False)
class TableType:
    """Fields that may be absent."""

    name: str
    fields: Sequence[Field] = ()
    """In declaration order; a union has its tag, `NAME_type`, as a field in front of it."""
    size: int = OFFSET_SIZE
    alignment: int = OFFSET_SIZE

    @cached_property
    def by_name(self) -> Mapping[str, Field]:
        """Field of each name."""
        return {field.name: field for field in self.fields}


@dataclass(eq=False)
class UnionType:
    """One of several tables."""

    name: str
    members: Sequence[TableType] = ()
    size: int = OFFSET_SIZE
    alignment: int = OFFSET_SIZE

    @cached_property
    def tag(self) -> EnumType:
        """Which member it is; `NONE` is number 0."""
        names = ["NONE", *(member.name for member in self.members)]
        return EnumType(self.name, UBYTE, {name: number for number, name in enumerate(names)})

    @cached_property
    def by_name(self) -> Mapping[str, TableType]:
        """Member of each tag."""
        return {member.name: member for member in self.members}


@dataclass(eq=False)
class VectorType:
    """Any number of elements of one type."""

    element: ElementType
    size: int = OFFSET_SIZE
    alignment: int = OFFSET_SIZE
    name: str = field(init=False)

    def __post_init__(self) -> None:
        """Name the vector by its elements, as the schema does."""
        self.name = f"[{self.element.name}]"


ElementType = ScalarType | EnumType | StructType | StringType | TableType | UnionType
Type = ElementType | VectorType


def tag_field_name(field_name: str) -> str:
    """Name of the field that holds the tag of a union field."""
    return field_name + "_type"
