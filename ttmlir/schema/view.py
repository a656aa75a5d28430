"""Reads tables of a verified flatbuffer, field by field."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from typing import Any

from ttmlir.schema.types import (
    OFFSET_SIZE,
    UBYTE,
    EnumType,
    Field,
    ScalarType,
    StringType,
    StructType,
    TableType,
    UnionType,
    VectorType,
    tag_field_name,
)

_UINT = struct.Struct("<I")
_INT = struct.Struct("<i")
_USHORT = struct.Struct("<H")


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

    __slots__ = ("_data", "_entries", "_position", "file_name", "table_type")

    def __init__(self, data: memoryview, position: int, type: TableType, source: str) -> None:
        """View the table at byte `position` of the file `source`, which has been verified."""
        self._data = data
        self._position = position
        vtable = position - _INT.unpack_from(data, position)[0]
        # Fields beyond those of the schema are of a later one.
        count = min(_USHORT.unpack_from(data, vtable)[0] // 2 - 2, len(type.fields))
        self._entries = struct.unpack_from(f"<{count}H", data, vtable + 4)
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
        return (field.name for field in self.table_type.fields if self._place(field))

    def __len__(self) -> int:
        """Number of fields that the file holds."""
        return sum(1 for _ in self)

    def __contains__(self, name: object) -> bool:
        """True for a field that the file holds."""
        field = self.table_type.by_name.get(str(name))
        return field is not None and self._place(field) != 0

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
        return f"<{self.table_type.name} at byte {self._position} of {self.file_name}>"

    def as_dict(self, *, defaults: bool = True) -> dict[str, Any]:
        """The table as plain dicts, lists, strings and numbers, as flatc writes it to JSON.

        `defaults` includes numbers that the file leaves out. Tables that the file shares are one
        dict in several places.
        """
        from ttmlir.schema.json_form import table_as_dict

        return table_as_dict(self, defaults)

    def to_json(self, *, defaults: bool = True, indent: int | None = 2) -> str:
        """JSON text of the table, in the form of `as_dict`."""
        from ttmlir.schema.json_form import table_as_json

        return table_as_json(self, defaults, indent)

    @property
    def identity(self) -> tuple[int, int]:
        """The same for two views of the same table of the same file."""
        return id(self._data.obj), self._position

    def _place(self, field: Field) -> int:
        """Byte at which a field is stored, 0 if it is absent."""
        if field.slot >= len(self._entries) or self._entries[field.slot] == 0:
            return 0
        return self._position + self._entries[field.slot]

    def _read(self, field: Field) -> Any:
        place = self._place(field)
        default = field.default
        match field.type:
            case ScalarType() as type:
                return type.packer.unpack_from(self._data, place)[0] if place else default
            case EnumType() as type:
                packer = type.base.packer
                return type.decode(packer.unpack_from(self._data, place)[0] if place else default)
            case _ if place == 0:
                return None
            case StructType() as type:
                return type.build(iter(type.packer.unpack_from(self._data, place)))
            case StringType():
                return self._string(place)
            case TableType() as type:
                return self._table(type, place)
            case UnionType() as type:
                tag = self[tag_field_name(field.name)]
                return None if tag == "NONE" else self._table(type.by_name[tag], place)
            case VectorType() as type:
                return self._vector(type, place, field)

    def _target(self, place: int) -> int:
        return place + _UINT.unpack_from(self._data, place)[0]

    def _table(self, type: TableType, place: int) -> TableView:
        return TableView(self._data, self._target(place), type, self.file_name)

    def _string(self, place: int) -> str:
        start = self._target(place)
        size = _UINT.unpack_from(self._data, start)[0]
        return str(self._data[start + OFFSET_SIZE : start + OFFSET_SIZE + size], "utf-8")

    def _vector(self, type: VectorType, place: int, field: Field) -> Any:
        start = self._target(place)
        count = _UINT.unpack_from(self._data, start)[0]
        first = start + OFFSET_SIZE
        places = range(first, first + OFFSET_SIZE * count, OFFSET_SIZE)
        match type.element:
            case ScalarType() as element if element is UBYTE:
                return self._data[first : first + count]
            case ScalarType() as element:
                return struct.unpack_from(f"<{count}{element.code}", self._data, first)
            case EnumType() as element:
                numbers = struct.unpack_from(f"<{count}{element.base.code}", self._data, first)
                return tuple(element.decode(number) for number in numbers)
            case StructType() as element:
                items = self._data[first : first + count * element.size]
                numbers = element.packer.iter_unpack(items)
                return tuple(element.build(iter(item)) for item in numbers)
            case StringType():
                return tuple(self._string(item) for item in places)
            case TableType() as element:
                return tuple(self._table(element, item) for item in places)
            case UnionType() as element:
                tags = self[tag_field_name(field.name)]
                return tuple(
                    None if tag == "NONE" else self._table(element.by_name[tag], item)
                    for tag, item in zip(tags, places, strict=True)
                )
