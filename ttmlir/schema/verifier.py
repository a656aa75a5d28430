"""Checks that a flatbuffer is what its schema says before anything in it is used.

The walk reaches everything that a reader can reach, once. Offsets only point forward, so there are
no cycles; the objects of a sound file do not overlap, so their sizes add up to no more than the
size of the file, and a file whose offsets claim more is refused. The time is therefore proportional
to the size of the file, whatever it contains.
"""

from __future__ import annotations

from dataclasses import dataclass

from flatbuffers import util
from flatbuffers.encode import FILE_IDENTIFIER_LENGTH
from flatbuffers.packer import soffset, uoffset, voffset

from ttmlir.schema.errors import ALTERED, OTHER_SCHEMA, FlatbufferError
from ttmlir.schema.types import (
    OFFSET_SIZE,
    VTABLE_HEADER_SIZE,
    EnumType,
    Field,
    ScalarType,
    StringType,
    StructType,
    TableType,
    UnionType,
    VectorType,
)

# Size, offset of the root table, identifier.
_HEADER_SIZE = 2 * OFFSET_SIZE + FILE_IDENTIFIER_LENGTH
_NO_ENTRY = 0
# A writer may share equal bytes between objects of different types, which then count several times.
_MAX_OVERLAP = 4


def root_position(data: memoryview, identifier: str, source: str) -> int:
    """Byte at which the root table starts; FlatbufferError if the head of the file is wrong."""
    if len(data) < _HEADER_SIZE:
        problem = f"{len(data)} bytes are too few for a flatbuffer"
        raise FlatbufferError(source, problem, remedy=ALTERED)
    if not util.BufferHasIdentifier(data, 0, identifier.encode(), size_prefixed=True):
        _refuse_identifier(data, identifier, source)
    expected = uoffset.unpack_from(data)[0] + OFFSET_SIZE
    if expected != len(data):
        state = "truncated" if expected > len(data) else "followed by something else"
        problem = f"the file is {state}: it has {len(data)} bytes instead of {expected}"
        raise FlatbufferError(source, problem, where="size prefix", offset=0, remedy=ALTERED)
    return OFFSET_SIZE + uoffset.unpack_from(data, OFFSET_SIZE)[0]


def _refuse_identifier(data: memoryview, identifier: str, source: str) -> None:
    where = "file identifier"
    if util.BufferHasIdentifier(data, 0, identifier.encode()):
        problem = "the file does not start with its size"
        remedy = "write it size-prefixed (flatc has the option --size-prefixed for this)"
        raise FlatbufferError(source, problem, where=where, offset=4, remedy=remedy)
    found = bytes(util.GetBufferIdentifier(data, 0, size_prefixed=True))
    shown = found.decode() if found.isalnum() else found.hex(" ")
    problem = f"expected {identifier}, got {shown}"
    remedy = "give a file of the right kind"
    raise FlatbufferError(source, problem, where=where, offset=8, remedy=remedy)


def verify(data: memoryview, type: TableType, position: int, source: str) -> None:
    """Check the table at byte `position` and all that it refers to.

    Raises FlatbufferError naming the file, table, field and byte.
    """
    verifier = _Verifier(data, source)
    verifier.pending.append((type, position))
    while verifier.pending:
        verifier.table(*verifier.pending.pop())


@dataclass
class _Entry:
    """A field of a table that has to be looked at: where it is from the start of the table."""

    field: Field
    where: str
    at: int
    tag_at: int
    """Of a union, where its tag is."""


class _Verifier:
    def __init__(self, data: memoryview, source: str) -> None:
        self.data = data
        self.end = len(data)
        self.source = source
        self.pending: list[tuple[TableType, int]] = []
        self.seen: set[tuple[object, int]] = set()
        self.layouts: dict[tuple[TableType, int], tuple[int, list[_Entry]]] = {}
        self.claimed = 0

    def error(
        self, problem: str, where: str, offset: int, remedy: str = OTHER_SCHEMA
    ) -> FlatbufferError:
        """An error at a byte of the file."""
        return FlatbufferError(self.source, problem, where=where, offset=offset, remedy=remedy)

    def is_new(self, type: object, position: int, size: int, where: str) -> bool:
        """Count the `size` bytes of an object, and tell whether it has not been met before."""
        if position + size > self.end:
            problem = f"{size} bytes reach beyond the end of the file at byte {self.end}"
            raise self.error(problem, where, position)
        key = (type, position)
        if key in self.seen:
            return False
        self.seen.add(key)
        self.claimed += size
        if self.claimed > _MAX_OVERLAP * self.end:
            raise self.error("objects of the file overlap", where, position)
        return True

    def table(self, type: TableType, position: int) -> None:
        """Check a table; those that it refers to become pending."""
        if not self.is_new(type, position, OFFSET_SIZE, type.name):
            return
        vtable = position - soffset.unpack_from(self.data, position)[0]
        layout = self.layouts.get((type, vtable))
        if layout is None:
            layout = self.layouts[type, vtable] = self.layout(type, vtable, position)
        size, entries = layout
        if position + size > self.end:
            problem = f"{size} bytes reach beyond the end of the file at byte {self.end}"
            raise self.error(problem, type.name, position)
        self.claimed += size
        for entry in entries:
            self.entry(entry, position)

    def layout(self, type: TableType, vtable: int, position: int) -> tuple[int, list[_Entry]]:
        """Size of the tables with this vtable, and the fields to look at."""
        if vtable < 0 or vtable + VTABLE_HEADER_SIZE > self.end:
            problem = f"its vtable would be at byte {vtable}, outside the file"
            raise self.error(problem, type.name, position)
        vtable_size = voffset.unpack_from(self.data, vtable)[0]
        size = voffset.unpack_from(self.data, vtable + voffset.size)[0]
        if vtable_size < VTABLE_HEADER_SIZE or vtable_size % 2 or vtable + vtable_size > self.end:
            problem = f"its vtable at byte {vtable} has the impossible size {vtable_size}"
            raise self.error(problem, type.name, position)
        if size < OFFSET_SIZE:
            raise self.error(f"it has the impossible size {size}", type.name, position)
        entries: list[_Entry] = []
        tag_at = _NO_ENTRY
        for field in type.fields:
            at = _NO_ENTRY
            if field.entry < vtable_size:
                at = voffset.unpack_from(self.data, vtable + field.entry)[0]
            where = f"{type.name}.{field.name}"
            if at != _NO_ENTRY and not OFFSET_SIZE <= at <= size - field.type.size:
                problem = f"it does not lie within its table of {size} bytes"
                raise self.error(problem, where, position + at)
            is_union = isinstance(_element(field), UnionType)
            if at != _NO_ENTRY or (is_union and tag_at != _NO_ENTRY):
                entries.append(_Entry(field, where, at, tag_at))
            tag_at = at
        return size, [entry for entry in entries if _needs_check(entry.field)]

    def entry(self, entry: _Entry, position: int) -> None:
        """Check a field of the table at byte `position`."""
        place = position + entry.at
        match entry.field.type:
            case EnumType() as type:
                self.enumerator(type, place, entry.where)
            case StringType():
                self.string(place, entry.where)
            case TableType() as type:
                self.pending.append((type, self.target(place, entry.where)))
            case UnionType() as type:
                self.union(type, entry, position)
            case VectorType() as type:
                self.vector(type, entry, position)
            case _:
                pass

    def target(self, place: int, where: str) -> int:
        """Where the offset at a byte leads, with room for a number there."""
        offset = uoffset.unpack_from(self.data, place)[0]
        if offset < OFFSET_SIZE or place + offset + OFFSET_SIZE > self.end:
            raise self.error(f"offset {offset} leads out of the file", where, place)
        return place + offset

    def enumerator(self, type: EnumType, place: int, where: str) -> str | int:
        """Check a number; its name."""
        number = type.base.packer.unpack_from(self.data, place)[0]
        name = type.decode(number)
        if name is None:
            known = ", ".join(type.members)
            raise self.error(f"{type.name} has no number {number}; it has {known}", where, place)
        return name

    def string(self, place: int, where: str) -> None:
        """Check the string that the offset at a byte leads to."""
        start = self.target(place, where)
        size = uoffset.unpack_from(self.data, start)[0]
        # The NUL after a string is not counted in its size.
        if not self.is_new(StringType, start, OFFSET_SIZE + size + 1, where):
            return
        try:
            str(self.data[start + OFFSET_SIZE : start + OFFSET_SIZE + size], "utf-8")
        except UnicodeDecodeError as error:
            offset = start + OFFSET_SIZE + error.start
            raise self.error("the string is not UTF-8", where, offset, ALTERED) from error

    def union(self, type: UnionType, entry: _Entry, position: int) -> None:
        """Check a member of a union; without a tag, nothing reads it."""
        if entry.tag_at == _NO_ENTRY:
            return
        tag = self.enumerator(type.tag, position + entry.tag_at, entry.where)
        if tag == "NONE":
            return
        if entry.at == _NO_ENTRY:
            raise self.error(f"there is no {tag}", entry.where, position)
        target = self.target(position + entry.at, entry.where)
        self.pending.append((type.by_name[str(tag)], target))

    def vector(self, type: VectorType, entry: _Entry, position: int) -> None:
        """Check a vector and what it refers to."""
        where = entry.where
        if entry.at == _NO_ENTRY:
            raise self.error("the vector of union members is missing", where, position)
        start = self.target(position + entry.at, where)
        count = uoffset.unpack_from(self.data, start)[0]
        first = start + OFFSET_SIZE
        size = count * type.element.size
        is_new = self.is_new(type, start, OFFSET_SIZE + size, where)
        places = range(first, first + size, type.element.size)
        match type.element:
            case UnionType() as element:
                self.union_members(element, entry, position, places)
            case _ if not is_new:
                return
            case EnumType() as element:
                for place in places:
                    self.enumerator(element, place, where)
            case StringType():
                for place in places:
                    self.string(place, where)
            case TableType() as element:
                self.pending += [(element, self.target(place, where)) for place in places]
            case ScalarType() | StructType():
                pass

    def union_members(self, type: UnionType, entry: _Entry, position: int, places: range) -> None:
        """Check the members of a vector of unions against the vector of their tags."""
        where = entry.where
        if entry.tag_at == _NO_ENTRY:
            raise self.error("the vector of union tags is missing", where, position)
        start = self.target(position + entry.tag_at, where)
        count = uoffset.unpack_from(self.data, start)[0]
        if count != len(places):
            problem = f"{len(places)} union members have {count} tags"
            raise self.error(problem, where, position + entry.at)
        for tag_place, place in enumerate(places, start + OFFSET_SIZE):
            tag = self.enumerator(type.tag, tag_place, where)
            if tag != "NONE":
                self.pending.append((type.by_name[str(tag)], self.target(place, where)))


def _element(field: Field) -> object:
    return field.type.element if isinstance(field.type, VectorType) else field.type


def _needs_check(field: Field) -> bool:
    """True for fields whose bytes can be wrong although they lie within their table."""
    return not isinstance(field.type, ScalarType | StructType)
