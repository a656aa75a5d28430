"""Reads tables of a verified flatbuffer, field by field."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from flatbuffers.table import Table

from ttmlir.schema.types import (
    UBYTE,
    ElementType,
    EnumType,
    Field,
    PlainType,
    ScalarType,
    StringType,
    StructType,
    TableType,
    UnionType,
    VectorType,
    tag_field_name,
)


class TableView(Mapping[str, Any]):
    """A table in a file; nothing is read before it is asked for.

    Fields are attributes and, for names that are Python's (`in`), items. Reading gives

    - numbers, also where the file leaves a default out;
    - the name of an enumerator, and the names of flags with blanks between them;
    - named tuples for structs, `str` for strings, views for tables and members of unions;
    - a `memoryview` of the file for vectors of bytes, a tuple for other vectors;
    - None for what is absent and is not a number.

    Names of its own are not names of fields: `table_type`, `file_name`, `identity`, the methods.
    As a mapping it has the fields that the file holds, so a view can be packed again.
    """

    __slots__ = ("_table", "file_name", "table_type")

    def __init__(self, data: memoryview, position: int, type: TableType, source: str) -> None:
        """View the table at byte `position` of the file `source`, which has been verified."""
        self._table = Table(data, position)
        self.table_type = type
        self.file_name = source

    def __getattr__(self, name: str) -> Any:
        """Value of a field."""
        field = self.table_type.by_name.get(name)
        if field is None:
            raise AttributeError(f"{self.table_type.name} has no field {name}")
        return self._read(field)

    def __getitem__(self, name: str) -> Any:
        """Value of a field."""
        return self._read(self.table_type.by_name[name])

    def __iter__(self) -> Iterator[str]:
        """Names of the fields that the file holds."""
        return (field.name for field in self.table_type.fields if self._offset(field))

    def __len__(self) -> int:
        """Number of fields that the file holds."""
        return sum(1 for _ in self)

    def __contains__(self, name: object) -> bool:
        """True for a field that the file holds."""
        field = self.table_type.by_name.get(str(name))
        return field is not None and self._offset(field) != 0

    def __eq__(self, other: object) -> bool:
        """True for views of the same table of the same file."""
        if not isinstance(other, TableView):
            return NotImplemented
        return self.identity == other.identity

    def __hash__(self) -> int:
        """Hash of the place in the file."""
        return hash(self.identity)

    def __repr__(self) -> str:
        """Kind and place of the table."""
        return f"<{self.table_type.name} at byte {self._table.Pos} of {self.file_name}>"

    def as_dict(self, *, defaults: bool = True, max_bytes: int | None = None) -> dict[str, Any]:
        """The table as plain dicts, lists, strings and numbers, as flatc writes it to JSON.

        `defaults` includes numbers that the file leaves out. Tables that the file shares are one
        dict in several places. Vectors of more than `max_bytes` bytes become a text with their
        size.
        """
        from ttmlir.schema.json_form import table_as_dict

        return table_as_dict(self, defaults, max_bytes)

    def to_json(
        self, *, defaults: bool = True, indent: int | None = 2, max_bytes: int | None = None
    ) -> str:
        """JSON text of the table, in the form of `as_dict`."""
        from ttmlir.schema.json_form import table_as_json

        return table_as_json(self, defaults, indent, max_bytes)

    @property
    def identity(self) -> tuple[int, int]:
        """The same for two views of the same table of the same file."""
        return id(self._table.Bytes.obj), self._table.Pos

    def _offset(self, field: Field) -> int:
        """Where a field is stored, counted from the start of the table; 0 if it is absent."""
        return self._table.Offset(field.entry)

    def _read(self, field: Field) -> Any:
        offset = self._offset(field)
        match field.type:
            case EnumType() as type if offset == 0:
                return type.decode(field.default)
            case _ if offset == 0:
                return field.default
            case VectorType(element=element):
                return self._vector(element, offset, field)
            case UnionType() as type:
                tag = self[tag_field_name(field.name)]
                return self._member(type, tag, self._table.Pos + offset)
            case type:
                return self._value(type, self._table.Pos + offset)

    def _vector(self, element: ElementType, offset: int, field: Field) -> Any:
        first = self._table.Vector(offset)
        end = first + self._table.VectorLen(offset) * element.size
        places = range(first, end, element.size)
        if element is UBYTE:
            return self._table.Bytes[first:end]
        if isinstance(element, UnionType):
            pairs = zip(self[tag_field_name(field.name)], places, strict=True)
            return tuple(self._member(element, tag, place) for tag, place in pairs)
        return tuple(self._value(element, place) for place in places)

    def _member(self, type: UnionType, tag: str, place: int) -> TableView | None:
        return None if tag == "NONE" else self._value(type.by_name[tag], place)

    def _value(self, type: PlainType, place: int) -> Any:
        """What stands at a byte: a value or the offset of one."""
        table = self._table
        match type:
            case ScalarType():
                return table.Get(type.flags, place)
            case EnumType():
                return type.decode(table.Get(type.base.flags, place))
            case StructType():
                members = zip(type.fields, type.offsets, strict=True)
                return type.tuple_type(
                    *(self._value(member, place + offset) for (_, member), offset in members)
                )
            case StringType():
                return table.String(place).decode()
            case TableType():
                return TableView(table.Bytes, table.Indirect(place), type, self.file_name)
