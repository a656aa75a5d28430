"""The types that a flatbuffer schema declares.

A type knows its size and alignment where it stands in a table, vector or struct; strings, vectors,
tables and unions stand there as a 4-byte offset.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from struct import Struct
from typing import TYPE_CHECKING, Any

from flatbuffers import number_types
from flatbuffers.builder import VtableMetadataFields

from ttmlir.errors import ArgumentError, FileError, InputError, plural

if TYPE_CHECKING:
    from flatbuffers.number_types import Flags


# --- Errors ---------------------------------------------------------------------------------------
# Errors of the flatbuffer engine.


class SchemaError(FileError, ValueError):
    """A schema text is not in the subset of the flatbuffers schema language that is read here."""


class PackError(InputError, ValueError):
    """A value does not fit the table or field that it is to be stored in."""


class FlatbufferError(FileError, ValueError):
    """A file is not what its schema says: truncated, altered, or written for another schema."""

    def __init__(
        self, source: str, problem: str, *, where: str = "", offset: int | None = None, remedy: str
    ) -> None:
        """Describe a problem of the file `source`.

        `where` is the table and field (`TensorDesc.shape`), `offset` the byte from the start of
        the file, `remedy` what the user can do.
        """
        place = where if offset is None else f"{where} at byte {offset}".lstrip()
        super().__init__(": ".join(filter(None, (source, place, problem))) + "; " + remedy)
        self.source = source
        self.problem = problem
        self.where = where
        self.offset = offset


ALTERED = "the file is damaged: write it again from its source"
OTHER_SCHEMA = "the file is damaged or was written for another schema: compile it again"


# --- Types ----------------------------------------------------------------------------------------

# pyright: reportUntypedNamedTuple=false
# The structs are known at run time only.


OFFSET_SIZE = number_types.UOffsetTFlags.bytewidth
VTABLE_HEADER_SIZE = VtableMetadataFields * number_types.VOffsetTFlags.bytewidth
"""Bytes of a vtable before its entries: its own size and that of the tables that have it."""


@dataclass(eq=False)
class ScalarType:
    """A number."""

    name: str
    flags: Flags
    """Its class in `flatbuffers.number_types`."""

    @property
    def packer(self) -> Struct:
        """Conversion between the number and its little-endian bytes."""
        return self.flags.packer_type

    @property
    def code(self) -> str:
        """Format character of the `struct` module."""
        return self.packer.format[-1]

    @property
    def size(self) -> int:
        """Bytes."""
        return self.flags.bytewidth

    @property
    def alignment(self) -> int:
        """Bytes."""
        return self.flags.bytewidth


SCALARS: Mapping[str, ScalarType] = {
    name: ScalarType(names[0], flags)
    for flags, names in {
        number_types.BoolFlags: ("bool",),
        number_types.Int8Flags: ("byte", "int8"),
        number_types.Uint8Flags: ("ubyte", "uint8"),
        number_types.Int16Flags: ("short", "int16"),
        number_types.Uint16Flags: ("ushort", "uint16"),
        number_types.Int32Flags: ("int", "int32"),
        number_types.Uint32Flags: ("uint", "uint32"),
        number_types.Int64Flags: ("long", "int64"),
        number_types.Uint64Flags: ("ulong", "uint64"),
        number_types.Float32Flags: ("float", "float32"),
        number_types.Float64Flags: ("double", "float64"),
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
                raise ArgumentError(
                    f"{self.name} has no {value!r}; it has {', '.join(self.members)}"
                )
            return sum(self.members[name] for name in dict.fromkeys(names))
        if self.decode(value) is None:
            raise ArgumentError(f"{self.name} has no number {value}")
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
    def offsets(self) -> Sequence[int]:
        """Where each field starts, in bytes; each stands at a multiple of its alignment."""
        offsets: list[int] = []
        end = 0
        for _, type in self.fields:
            offsets.append(end + -end % type.alignment)
            end = offsets[-1] + type.size
        return offsets

    @cached_property
    def size(self) -> int:
        """Bytes, a multiple of the alignment."""
        end = self.offsets[-1] + self.fields[-1][1].size
        return end + -end % self.alignment

    @cached_property
    def tuple_type(self) -> Any:
        """The named tuple that a value is read as."""
        names: list[str] = [name for name, _ in self.fields]
        return namedtuple(self.name, names)

    def parts(self, value: Mapping[str, Any] | Sequence[Any]) -> Sequence[Any]:
        """Contents of the fields of a value that is a mapping or a sequence in field order.

        Raises ValueError if fields are missing or left over.
        """
        if isinstance(value, Mapping):
            if set(value) != {name for name, _ in self.fields}:
                expected = ", ".join(name for name, _ in self.fields)
                raise ArgumentError(f"{self.name} needs the fields {expected}")
            return [value[name] for name, _ in self.fields]
        if len(value) != len(self.fields):
            raise ArgumentError(
                f"{self.name} needs {plural(len(self.fields), 'value')}, not {len(value)}"
            )
        return value


class _ReferredTo:
    """What stands outside and is referred to by an offset."""

    size = OFFSET_SIZE
    alignment = OFFSET_SIZE


@dataclass(eq=False)
class StringType(_ReferredTo):
    """A text in UTF-8."""

    name: str = "string"


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

    @property
    def entry(self) -> int:
        """Byte of the vtable at which the field's place in the table stands."""
        return VTABLE_HEADER_SIZE + self.slot * number_types.VOffsetTFlags.bytewidth


@dataclass(eq=False)
class TableType(_ReferredTo):
    """Fields that may be absent."""

    name: str
    fields: Sequence[Field] = ()
    """In declaration order; a union has its tag, `NAME_type`, as a field in front of it."""

    @cached_property
    def by_name(self) -> Mapping[str, Field]:
        """Field of each name."""
        return {field.name: field for field in self.fields}

    @cached_property
    def widest_first(self) -> Sequence[Field]:
        """Fields in the order in which they are stored, which leaves no gaps between them."""
        return sorted(self.fields, key=lambda field: -field.type.alignment)


@dataclass(eq=False)
class UnionType(_ReferredTo):
    """One of several tables."""

    name: str
    members: Sequence[TableType] = ()

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
class VectorType(_ReferredTo):
    """Any number of elements of one type."""

    element: ElementType
    name: str = field(init=False)

    def __post_init__(self) -> None:
        """Name the vector by its elements, as the schema does."""
        self.name = f"[{self.element.name}]"


PlainType = ScalarType | EnumType | StructType | StringType | TableType
"""What needs nothing but its own place to be read, unlike unions, which have a tag."""
ElementType = PlainType | UnionType
Type = ElementType | VectorType


def tag_field_name(field_name: str) -> str:
    """Name of the field that holds the tag of a union field."""
    return field_name + "_type"
