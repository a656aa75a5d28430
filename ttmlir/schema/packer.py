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
from collections.abc import Generator, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from itertools import zip_longest
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

_INITIAL_SIZE = 1 << 20
"""Most files fit, so their bytes are not moved while they grow."""
_SHARED = 1 << 10
"""Equal vectors of as many bytes are in the file once, however often they occur."""
_LARGE = 1 << 18
"""Bytes from which on a vector is copied when all else is in place."""


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


class PackedTable(int):
    """A table that is in the file already, by its place, instead of a mapping."""

    __slots__ = ()


class _GrowingBuilder(Builder):
    """A builder in memory that takes none before it is written, which is handed over in the end.

    Holes are left where large vectors belong, and are not copied when the memory grows.
    """

    def __init__(self) -> None:
        super().__init__(0)
        self.holes: list[_Hole] = []
        self.head = _INITIAL_SIZE
        self.use(_INITIAL_SIZE)

    def use(self, size: int) -> None:
        """Begin with empty memory of this many bytes."""
        # BytesIO takes over bytes that nobody else has, and zeros take no memory.
        self.file = BytesIO(bytes(size))
        self.memory = self.Bytes = self.file.getbuffer()

    def GrowByteBuffer(self) -> None:
        """Double the memory; BuilderSizeError beyond what offsets reach."""
        old, size = self.memory, len(self.memory)
        if size == self.MAX_BUFFER_SIZE:
            raise BuilderSizeError
        self.use(min(2 * size, self.MAX_BUFFER_SIZE))
        end = len(self.memory)
        for first, last in self.written(size - self.head):
            self.memory[end - first : end - last] = old[size - first : size - last]
        self.head += end - size

    def written(self, size: int) -> Iterator[tuple[int, int]]:
        """What lies between the holes of `size` bytes: first and last, from the file's end."""
        for hole in reversed(self.holes):
            yield size, hole.place
            size = hole.place - hole.size
        yield size, 0

    def take_file(self) -> bytes:
        """The bytes of the file, without a copy; large vectors are filled in, and refer to it."""
        size = self.Offset()
        target, position = self.memory, 0
        for (first, last), hole in zip_longest(self.written(size), reversed(self.holes)):
            # Nothing is overwritten that is still to be moved, as all moves to the front.
            end = size - last
            target[position:end] = target[self.head + size - first : self.head + end]
            position = end
            if hole is not None:
                position += hole.size
                _fill(target[end:position], hole.contents)
        # BytesIO copies what somebody else looks at.
        self.move_contents(None)
        target.release()
        self.file.truncate(size)
        packed = self.file.getvalue()
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


class Packing:
    """A file that is being packed: puts values into a builder, and knows them by their places.

    A table or vector can be built only when all that it refers to has been, so this happens in two
    steps: `stored` builds what a value has outside and tells what represents it, `put` places that.
    """

    def __init__(self, root: TableType, identifier: str) -> None:
        """Start a size-prefixed file whose root is of a type."""
        self.root = root
        self.identifier = identifier
        self.builder = _GrowingBuilder()
        # Keeping each mapping in its entry keeps its id from being given to another.
        self.tables: dict[tuple[Hashable, TableType], tuple[Mapping[str, Any], int]] = {}
        self.vectors: dict[bytes, int] = {}
        self.large: dict[LargeVector, tuple[int, _Hole]] = {}

    def add(self, type: TableType, value: dict[str, Any]) -> PackedTable:
        """Pack a table of its own, and let go of it and of the members of unions in it.

        Raises PackError as `finish` does.
        """
        with _too_large():
            place = self.fields(type, value)
        for field in type.fields:
            if isinstance(field.type, UnionType) and field.name in value:
                member = _member(field.type, value[tag_field_name(field.name)])
                self.tables.pop((id(value[field.name]), member), None)
        return PackedTable(place)

    def finish(self, root: Mapping[str, Any]) -> bytes:
        """The bytes of the file with the table `root`, after which no more can be packed.

        Equal values give equal bytes. Raises PackError naming the table and field that does not
        fit. Each `LargeVector` refers to the file afterwards.
        """
        with _too_large():
            place = self.table(self.root, root)
            self.builder.FinishSizePrefixed(place, self.identifier.encode())
        return self.builder.take_file()

    def table(self, type: TableType, value: Mapping[str, Any] | PackedTable) -> int:
        """Build a table; its place."""
        if isinstance(value, PackedTable):
            return value
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
        builder = self.builder
        builder.StartVector(1, len(content), 1)
        builder.head -= len(content)
        hole = _Hole(builder.Offset(), len(content), [content])
        builder.holes.append(hole)
        return builder.EndVector(), hole

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


@contextmanager
def _too_large() -> Generator[None]:
    """PackError for files that offsets cannot hold."""
    try:
        yield
    except BuilderSizeError as error:
        raise PackError("the file would exceed the 2 GiB that a flatbuffer can hold") from error


def _show(content: Any) -> str:
    text = " ".join(repr(content).split())
    return text if len(text) <= 60 else text[:57] + "..."
