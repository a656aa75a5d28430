"""Writes flatbuffers from plain values.

A table is a mapping from field names to values; None and missing fields are absent. A mapping that
occurs in several places is stored once. Enumerators are names or numbers, structs are mappings or
sequences in field order, byte vectors are anything with a buffer, or a `LargeVector`. A union is
two fields, as in JSON: `NAME_type` names the table, `NAME` is the table.

Large vectors are copied once, into the file, when all else is in place.
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Any, Protocol, cast, runtime_checkable

from flatbuffers.builder import Builder, BuilderSizeError

from ttmlir.errors import ArgumentError
from ttmlir.schema.types import (
    UBYTE,
    EnumType,
    Field,
    PackError,
    ScalarType,
    StringType,
    StructType,
    TableType,
    Type,
    UnionType,
    VectorType,
    tag_field_name,
)
from ttmlir.schema.view import TableView

# Most files fit, so their bytes are not moved while they grow.
_INITIAL_SIZE = 1 << 20
_SHARED = 1 << 10
"""Equal vectors of as many bytes are in the file once, however often they occur."""
_LARGE = 1 << 18
"""Bytes from which on a vector is counted before the buffer grows."""
_ROOM_FOR_TABLES = 1 << 24


class SharedText(str):
    """A text that a file holds once, however often it occurs."""

    __slots__ = ()


@runtime_checkable
class LargeVector(Protocol):
    """A vector of bytes that are put in order where they are written; equal ones are one vector."""

    def __len__(self) -> int:
        """The number of bytes."""
        ...

    def __hash__(self) -> int:
        """Hash of the bytes, or of some of them."""
        ...

    def copy_into(self, target: memoryview) -> None:
        """Write the bytes to memory of the same size."""
        ...

    def move_to(self, source: memoryview | None) -> None:
        """Take the bytes from a place in the file from now on; None lets go of where they are."""
        ...


def pack(root: Mapping[str, Any], type: TableType, identifier: str) -> bytes:
    """Bytes of a size-prefixed flatbuffer with the table `root`.

    Equal values give equal bytes. Raises PackError naming the table and field that does not fit.
    Each `LargeVector` refers to the file afterwards.
    """
    packer = _Packer(root)
    try:
        place = packer.table(type, root)
        packer.builder.FinishSizePrefixed(place, identifier.encode())
    except BuilderSizeError as error:
        raise PackError("the file would exceed the 2 GiB that a flatbuffer can hold") from error
    return packer.finish()


_TAGGED = (UnionType, VectorType)
"""Fields that may have another that names their tables; a tuple, which is asked for each field."""


@dataclass(frozen=True)
class _Hole:
    """Where a large vector belongs that is not copied yet."""

    place: int
    """Of its first byte, counted from the end of the file."""
    size: int
    contents: list[LargeVector | memoryview]
    """Equal vectors, of which the first is copied."""


class _Packer:
    """Puts values into a builder; what is put is known by its place there.

    A table or vector can be built only when all that it refers to has been, so this happens in two
    steps: `stored` builds what a value has outside and tells what represents it, `put` places that.
    """

    def __init__(self, root: Mapping[str, Any]) -> None:
        self.root = root
        self.builder = Builder(_INITIAL_SIZE)
        self.has_reserved = False
        # Keeping each mapping in its entry keeps its id from being given to another.
        self.tables: dict[tuple[Hashable, TableType], tuple[Mapping[str, Any], int]] = {}
        self.vectors: dict[bytes, int] = {}
        self.large: dict[LargeVector, tuple[int, _Hole]] = {}
        self.holes: list[_Hole] = []

    def table(self, type: TableType, value: Mapping[str, Any]) -> int:
        """Build a table; its place."""
        key = (value.identity if isinstance(value, TableView) else id(value), type)
        known = self.tables.get(key)
        if known is not None:
            return known[1]
        if not value.keys() <= type.by_name.keys():
            unknown = ", ".join(name for name in value if name not in type.by_name)
            raise PackError(f"{type.name} has no field {unknown}")
        place = self.fields(type, value)
        self.tables[key] = (value, place)
        return place

    def fields(self, type: TableType, value: Mapping[str, Any]) -> int:
        """Build a table of known fields; its place."""
        field: Field | None = None
        stored: dict[str, Any] = {}
        try:
            for field in type.fields:
                content = value.get(field.name)
                if content is None:
                    continue
                kind = field.type
                if isinstance(kind, _TAGGED):
                    tag = value.get(tag_field_name(field.name))
                    stored[field.name] = self.stored(kind, content, tag)
                elif isinstance(kind, EnumType):
                    stored[field.name] = kind.encode(content)
                else:
                    stored[field.name] = self.stored(kind, content)
            self.builder.StartObject(len(type.fields))
            for field in type.widest_first:
                if field.name in stored:
                    self.put_field(field, stored[field.name])
            return self.builder.EndObject()
        except (ValueError, TypeError, AttributeError, OverflowError, struct.error) as error:
            if isinstance(error, PackError) or field is None:
                raise
            reason = f"{_show(value[field.name])} does not fit {field.type.name}: {error}"
            raise PackError(f"{type.name}.{field.name}: {reason}") from error

    def stored(self, type: Type, content: Any, tag: Any = None) -> Any:
        """What represents a value where it stands: a number, struct or place."""
        match type:
            case StringType() if isinstance(content, SharedText):
                return self.builder.CreateSharedString(content)
            case StringType():
                return self.builder.CreateString(content)
            case TableType():
                return self.table(type, content)
            case UnionType():
                return self.table(_member(type, tag), content)
            case VectorType():
                return self.vector(type.element, content, tag)
            case EnumType():
                return type.encode(content)
            case ScalarType(code="f" | "d"):
                # JSON has infinities and NaN as strings.
                return float(content)
            case _:
                return content

    def vector(self, element: Type, content: Any, tags: Any) -> int:
        """Build a vector; its place."""
        if element is UBYTE and isinstance(content, LargeVector):
            return self.large_vector(content)
        if element is UBYTE:
            return self.byte_vector(_bytes(content))
        if not isinstance(element, UnionType):
            items = [self.stored(element, item) for item in content]
        elif tags is None:
            raise ArgumentError("the field that names its tables is missing")
        else:
            pairs = zip(content, tags, strict=True)
            items = [self.stored(element, item, tag) for item, tag in pairs]
        self.builder.StartVector(element.size, len(items), element.alignment)
        for item in reversed(items):
            self.put(element, item)
        return self.builder.EndVector()

    def byte_vector(self, content: bytes | memoryview) -> int:
        """Build a vector of bytes from memory that is copied only into the file; its place."""
        size = len(content)
        digest = b""
        if size >= _SHARED:
            # Loaded here, since most files have no vector of that size.
            from hashlib import sha256

            digest = sha256(content).digest()
        if digest in self.vectors:
            return self.vectors[digest]
        if size >= _LARGE:
            place, _ = self.leave_hole(memoryview(content))
        else:
            self.builder.StartVector(1, size, 1)
            head = self.builder.head - size
            self.builder.head = head
            self.builder.Bytes[head : head + size] = content
            place = self.builder.EndVector()
        if digest:
            self.vectors[digest] = place
        return place

    def large_vector(self, content: LargeVector) -> int:
        """Leave room for a vector that comes later; its place."""
        known = self.large.get(content)
        if known is None:
            known = self.large[content] = self.leave_hole(content)
        else:
            known[1].contents.append(content)
        return known[0]

    def leave_hole(self, content: LargeVector | memoryview) -> tuple[int, _Hole]:
        """Leave room for a vector of bytes; the place of the vector, and the hole."""
        if not self.has_reserved:
            self.reserve(_large_bytes(self.root, set()))
        builder = self.builder
        builder.StartVector(1, len(content), 1)
        builder.head -= len(content)
        hole = _Hole(builder.Offset(), len(content), [content])
        self.holes.append(hole)
        return builder.EndVector(), hole

    def finish(self) -> bytes:
        """The bytes of the file; large vectors are copied one by one, and then refer to it."""
        builder = self.builder
        head = builder.Head()
        made = memoryview(builder.Bytes)[head:]
        if not self.holes:
            return bytes(made)
        size = len(made)
        # Memory that nobody wrote to takes none, and BytesIO hands its own over.
        file = BytesIO(bytes(size))
        target = file.getbuffer()
        position = 0
        for hole in reversed(self.holes):
            start = size - hole.place
            target[position:start] = made[position:start]
            position = start + hole.size
            _fill(target[start:position], hole.contents)
        target[position:] = made[position:]
        # BytesIO copies what somebody else looks at.
        self.move_contents(None)
        target.release()
        packed = file.getvalue()
        self.move_contents(memoryview(packed))
        return packed

    def move_contents(self, file: memoryview | None) -> None:
        """Let all large vectors refer to the file, or to nothing."""
        for hole in self.holes:
            for content in hole.contents:
                if isinstance(content, memoryview):
                    continue
                if file is None:
                    content.move_to(None)
                else:
                    start = len(file) - hole.place
                    content.move_to(file[start : start + hole.size])

    def reserve(self, size: int) -> None:
        """Make room for this many bytes at once; pages take no memory before they are written."""
        self.has_reserved = True
        builder = self.builder
        used = len(builder.Bytes) - builder.head
        if size + used > Builder.MAX_BUFFER_SIZE:
            raise BuilderSizeError
        room = min(size + used + _ROOM_FOR_TABLES, Builder.MAX_BUFFER_SIZE)
        grown = BytesIO(bytes(room)).getbuffer()
        grown[room - used :] = memoryview(builder.Bytes)[builder.head :]
        builder.Bytes, builder.head = grown, room - used

    def put_field(self, field: Field, stored: Any) -> None:
        """Put a field of the table that is being built, unless it is the default."""
        match field.type:
            case ScalarType(flags=flags) | EnumType(base=ScalarType(flags=flags)):
                # The builder takes -0.0 for 0.0, but it is another number.
                default = field.default
                if default is not None and math.copysign(1, stored) != math.copysign(1, default):
                    default = None
                self.builder.PrependSlot(flags, field.slot, stored, default)
            case type:
                self.put(type, stored)
                self.builder.Slot(field.slot)

    def put(self, type: Type, stored: Any) -> None:
        """Put what represents a value into the table, vector or struct that is being built."""
        match type:
            case ScalarType(flags=flags) | EnumType(base=ScalarType(flags=flags)):
                self.builder.Prepend(flags, stored)
            case StructType():
                self.put_struct(type, stored)
            case _:
                self.builder.PrependUOffsetTRelative(stored)

    def put_struct(self, type: StructType, value: Any) -> None:
        """Put a struct; like everything, from its end to its beginning."""
        self.builder.Prep(type.alignment, type.size)
        end = type.size
        members = [*zip(type.fields, type.offsets, type.parts(value), strict=True)]
        for (_, member), offset, part in reversed(members):
            self.builder.Pad(end - offset - member.size)
            self.put(member, part)
            end = offset


def _member(type: UnionType, tag: Any) -> TableType:
    """The table that the tag of a union names."""
    name = None if tag is None else type.tag.decode(type.tag.encode(tag))
    if name in (None, "NONE"):
        raise ArgumentError("the field that names its table is missing")
    return type.by_name[str(name)]


def _bytes(content: Any) -> bytes | memoryview:
    """Bytes of a value with a buffer, which is not copied, or of a list of numbers."""
    if isinstance(content, list | tuple):
        return bytes(cast("list[int]", content))
    return memoryview(content).cast("B")


def _fill(target: memoryview, contents: Sequence[LargeVector | memoryview]) -> None:
    """Copy the first of equal vectors, and let all refer to the copy."""
    first = contents[0]
    if isinstance(first, memoryview):
        target[:] = first
    else:
        first.copy_into(target)
    for content in contents:
        if not isinstance(content, memoryview):
            # What they came from is free before the next one is copied.
            content.move_to(target)


def _large_bytes(value: Any, seen: set[int | LargeVector]) -> int:
    """The bytes of all large vectors in a tree of tables; shared tables and bytes count once."""
    if isinstance(value, bytes | memoryview | bytearray):
        view = memoryview(cast("bytes", value)).cast("B")
        if view.nbytes < _LARGE:
            return 0
        # No key of a table is negative.
        key = -1 - zlib.crc32(view)
        size = 0 if key in seen else view.nbytes
        seen.add(key)
        return size
    parts: Iterable[Any] = ()
    if isinstance(value, Mapping):
        parts = cast("Mapping[str, Any]", value).values()
    elif isinstance(value, list | tuple):
        parts = cast("Sequence[Any]", value)
        parts = parts if len(parts) and not isinstance(parts[0], int) else ()
    elif not isinstance(value, str | int | float | None) and isinstance(value, LargeVector):
        size = 0 if value in seen else len(value)
        seen.add(value)
        return size
    key = id(cast("object", value))
    if not parts or key in seen:
        return 0
    seen.add(key)
    return sum(_large_bytes(part, seen) for part in parts)


def _show(content: Any) -> str:
    text = " ".join(repr(content).split())
    return text if len(text) <= 60 else text[:57] + "..."
