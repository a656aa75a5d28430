"""Writes flatbuffers from plain values.

A table is a mapping from field names to values; None and missing fields are absent. A mapping that
occurs in several places is stored once. Enumerators are names or numbers, structs are mappings or
sequences in field order, byte vectors are anything with a buffer, which is copied once, into the
result. A union is two fields, as in JSON: `NAME_type` names the table, `NAME` is the table.

Offsets point forward, so a file is made from its end to its beginning: places are counted in bytes
from the end until the size is known.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, cast

from ttmlir.schema.errors import PackError
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
from ttmlir.schema.view import TableView

MAX_ALIGNMENT = 8
_UINT = struct.Struct("<I")
_HEADER = struct.Struct("<II4s")


def pack(root: Mapping[str, Any], type: TableType, identifier: str) -> bytes:
    """Bytes of a size-prefixed flatbuffer with the table `root`.

    Equal values give equal bytes. Raises PackError naming the table and field that does not fit.
    """
    packer = _Packer()
    place = packer.table(type, root)
    return packer.finish(place, identifier)


class _RowLayout:
    """How a table with a given set of fields present is laid out.

    Fields follow the 4-byte offset of the vtable, the widest first, so that there are no gaps.
    """

    def __init__(self, fields: Sequence[Field]) -> None:
        order = sorted(range(len(fields)), key=lambda i: -fields[i].type.alignment)
        formats: list[str] = []
        entries = [0] * (max((field.slot for field in fields), default=-1) + 1)
        end = 0
        # For each field, its distance from the start of the first field.
        self.starts = [0] * len(fields)
        for i in order:
            type = fields[i].type
            formats.append(_inline_format(type))
            self.starts[i] = end
            entries[fields[i].slot] = OFFSET_SIZE + end
            end += type.size
        self.order = order
        self.packer = struct.Struct("<" + "".join(formats))
        self.size = end
        self.alignment = max([OFFSET_SIZE, *(field.type.alignment for field in fields)])
        header = (4 + 2 * len(entries), OFFSET_SIZE + end)
        self.vtable = struct.pack(f"<{2 + len(entries)}H", *header, *entries)


def _inline_format(type: Any) -> str:
    """Format of what stands in the table itself."""
    match type:
        case ScalarType():
            return type.code
        case EnumType():
            return type.base.code
        case StructType():
            return f"{type.size}s"
        case _:
            return "I"


class _Packer:
    def __init__(self) -> None:
        # From the last to the first.
        self.chunks: list[bytes | memoryview] = []
        self.used = 0
        # Keeping each mapping in its entry keeps its id from being given to another.
        self.tables: dict[tuple[Hashable, TableType], tuple[Mapping[str, Any], int]] = {}
        self.vtables: dict[bytes, int] = {}
        self.layouts: dict[tuple[TableType, tuple[int, ...]], _RowLayout] = {}

    def put(self, chunk: bytes | memoryview) -> int:
        """Put bytes in front of all others; their place."""
        self.chunks.append(chunk)
        self.used += len(chunk)
        return self.used

    def align(self, size: int, alignment: int) -> None:
        """Pad so that the next `size` bytes will start at a multiple of `alignment`."""
        padding = -(self.used + size) % alignment
        if padding:
            self.put(bytes(padding))

    def finish(self, root: int, identifier: str) -> bytes:
        """The file with the table at the place `root`."""
        self.align(_HEADER.size, MAX_ALIGNMENT)
        size = self.used + _HEADER.size - OFFSET_SIZE
        if size > 0x7FFFFFFF:
            raise PackError(f"{size} bytes exceed the 2 GiB that a flatbuffer can hold")
        self.put(_HEADER.pack(size, size - root, identifier.encode()))
        return b"".join(reversed(self.chunks))

    def table(self, type: TableType, value: Mapping[str, Any]) -> int:
        """Put a table; its place."""
        key = (value.identity if isinstance(value, TableView) else id(value), type)
        known = self.tables.get(key)
        if known is not None:
            return known[1]
        fields: list[Field] = []
        contents: list[Any] = []
        if not value.keys() <= type.by_name.keys():
            unknown = ", ".join(name for name in value if name not in type.by_name)
            raise PackError(f"{type.name} has no field {unknown}")
        for field in type.fields:
            content = value.get(field.name)
            if content is None:
                continue
            stored = self.field(type, field, content, value)
            if stored is not None:
                fields.append(field)
                contents.append(stored)
        place = self.row(type, fields, contents)
        self.tables[key] = (value, place)
        return place

    def row(self, type: TableType, fields: Sequence[Field], contents: list[Any]) -> int:
        """Put a table whose strings, vectors and tables have been put; its place."""
        key = (type, tuple(field.slot for field in fields))
        layout = self.layouts.get(key)
        if layout is None:
            layout = self.layouts[key] = _RowLayout(fields)
        self.align(layout.size, layout.alignment)
        first = self.used + layout.size
        for i, field in enumerate(fields):
            if not isinstance(field.type, ScalarType | EnumType | StructType):
                contents[i] = first - layout.starts[i] - contents[i]
        self.put(layout.packer.pack(*(contents[i] for i in layout.order)))
        place = self.used + OFFSET_SIZE
        vtable = self.vtables.get(layout.vtable)
        if vtable is None:
            vtable = self.vtables[layout.vtable] = place + len(layout.vtable)
            self.put(struct.pack("<i", vtable - place))
            self.put(layout.vtable)
        else:
            self.put(struct.pack("<i", vtable - place))
        return place

    def field(self, table: TableType, field: Field, content: Any, value: Mapping[str, Any]) -> Any:
        """What stands in the table for a field: number, bytes, place, or None for the default."""
        try:
            match field.type:
                case ScalarType() as type:
                    return _stored_number(type, content, field.default)
                case EnumType() as type:
                    number = type.encode(content)
                    return None if number == field.default else number
                case StructType() as type:
                    return type.packer.pack(*type.flatten(content))
                case StringType():
                    return self.string(content)
                case TableType() as type:
                    return self.table(type, content)
                case UnionType() as type:
                    return self.union(type, value.get(tag_field_name(field.name)), content)
                case VectorType() as type:
                    return self.vector(type, content, value.get(tag_field_name(field.name)))
        except PackError:
            raise
        except (ValueError, TypeError, AttributeError, OverflowError, struct.error) as error:
            reason = f"{_shown(content)} does not fit {field.type.name}: {error}"
            raise PackError(f"{table.name}.{field.name}: {reason}") from error

    def string(self, text: str) -> int:
        """Put a string; its place."""
        data = text.encode()
        self.align(len(data) + 1, OFFSET_SIZE)
        self.put(data + b"\0")
        return self.put(_UINT.pack(len(data)))

    def union(self, type: UnionType, tag: Any, content: Any) -> int:
        """Put a member of a union; its place."""
        name = type.tag.decode(type.tag.encode("NONE" if tag is None else tag))
        if name == "NONE":
            raise ValueError("the field that names its table is missing")
        return self.table(type.by_name[str(name)], content)

    def vector(self, type: VectorType, content: Any, tags: Any) -> int:
        """Put a vector; its place."""
        match type.element:
            case ScalarType() as element if element is UBYTE:
                data = _byte_view(content)
                return self.numbers(data, len(data), element)
            case ScalarType() as element:
                data = struct.pack(f"<{len(content)}{element.code}", *content)
                return self.numbers(data, len(content), element)
            case EnumType() as element:
                numbers = [element.encode(item) for item in content]
                data = struct.pack(f"<{len(numbers)}{element.base.code}", *numbers)
                return self.numbers(data, len(numbers), element)
            case StructType() as element:
                data = b"".join(element.packer.pack(*element.flatten(item)) for item in content)
                return self.numbers(data, len(content), element)
            case StringType():
                return self.offsets([self.string(item) for item in content])
            case TableType() as element:
                return self.offsets([self.table(element, item) for item in content])
            case UnionType() as element:
                if tags is None:
                    raise ValueError("the field that names its tables is missing")
                pairs = zip(tags, content, strict=True)
                return self.offsets([self.union(element, tag, item) for tag, item in pairs])

    def numbers(
        self, data: bytes | memoryview, count: int, element: ScalarType | EnumType | StructType
    ) -> int:
        """Put a vector of what needs no offset; its place."""
        self.align(len(data), max(OFFSET_SIZE, element.alignment))
        self.put(data)
        return self.put(_UINT.pack(count))

    def offsets(self, places: Sequence[int]) -> int:
        """Put a vector of offsets to places; its place."""
        self.align(OFFSET_SIZE * len(places), OFFSET_SIZE)
        first = self.used + OFFSET_SIZE * len(places)
        distances = (first - OFFSET_SIZE * i - place for i, place in enumerate(places))
        self.put(struct.pack(f"<{len(places)}I", *distances))
        return self.put(_UINT.pack(len(places)))


def _stored_number(type: ScalarType, content: Any, default: int | float) -> Any:
    """The number of a field, None if it is the default.

    The field is packed by itself first: the error is about it then, not about its table.
    """
    number = float(content) if type.code in "fd" else content
    type.packer.pack(number)
    is_default = number == default and math.copysign(1, number) == math.copysign(1, default)
    return None if is_default else number


def _byte_view(content: Any) -> bytes | memoryview:
    """Bytes without a copy where the value has a buffer."""
    if isinstance(content, list | tuple):
        return bytes(cast("list[int]", content))
    return memoryview(content).cast("B")


def _shown(content: Any) -> str:
    text = " ".join(repr(content).split())
    return text if len(text) <= 60 else text[:57] + "..."
