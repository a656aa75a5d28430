"""Checks that a flatbuffer is what its schema says before anything in it is used.

The walk reaches everything that a reader can reach, once. Offsets only point forward, so there are
no cycles; the objects of a sound file do not overlap, so their sizes add up to no more than the
size of the file, and a file whose offsets claim more is refused. The time is therefore proportional
to the size of the file, whatever it contains.

Objects may be shared. A reader that follows every offset meets them again and again, so what the
file has written out, with everything as often as it is met, is bounded by the file's size, too.
"""

from __future__ import annotations

from dataclasses import dataclass

from flatbuffers import util
from flatbuffers.encode import FILE_IDENTIFIER_LENGTH
from flatbuffers.packer import soffset, uoffset, voffset

from ttmlir.schema.errors import ALTERED, OTHER_SCHEMA, FlatbufferError
from ttmlir.schema.types import (
    OFFSET_SIZE,
    UBYTE,
    VTABLE_HEADER_SIZE,
    ElementType,
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
MAX_EXPANSION = 64
"""How many times its own size a file may have with everything as often as it is referred to."""
_HALF = 32
_LOW_HALF = (1 << _HALF) - 1
_ALWAYS_ALLOWED = 1 << 22
"""Bytes that any file may have written out."""


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
    verifier.check_expansion(type, position)


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
        self.most = MAX_EXPANSION * self.end + _ALWAYS_ALLOWED
        """Bytes that the file may have written out."""
        self.union_bytes = 0
        self.owner: int = 0
        """Where the table or vector is that is being checked."""
        self.references: list[int] = []
        """Where a table or a vector is, and where one is that it refers to: two halves of 32 bits,
        which are sorted faster than pairs."""
        self.repeated: dict[int, int] = {}
        """Bytes of the strings that a table or a vector refers to, and of its numbers."""

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
        self.owner = position
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
                target = self.target(place, entry.where)
                self.pending.append((type, target))
                self.references.append(self.owner << _HALF | target)
            case UnionType() as type:
                self.union(type, entry, position)
            case VectorType() as type:
                self.vector(type, entry, position)
            case _:
                pass

    def refer(self, type: TableType, position: int) -> None:
        """Note that what is being checked refers to a table, which becomes pending."""
        self.pending.append((type, position))
        self.references.append(self.owner << _HALF | position)

    def repeat(self, size: int) -> None:
        """Note that what is being checked has bytes that a reader copies each time."""
        self.repeated[self.owner] = self.repeated.get(self.owner, 0) + size

    def check_expansion(self, type: TableType, root: int) -> None:
        """Refuse a file that is much larger written out than it is."""
        sizes = dict(self.repeated)
        # Offsets point forward: what something refers to stands behind it, and is done before.
        self.references.sort(reverse=True)
        for reference in self.references:
            owner = reference >> _HALF
            size = sizes.get(reference & _LOW_HALF, 0)
            sizes[owner] = sizes.get(owner, 0) + size + OFFSET_SIZE
        if sizes.get(root, 0) > self.most:
            raise self.too_often(sizes[root], type.name, root)

    def too_often(self, size: int, where: str, offset: int) -> FlatbufferError:
        """An error about sharing."""
        problem = (
            f"the parts of the file refer to each other so often that it has {size} bytes written "
            f"out; supported are {MAX_EXPANSION} times its size"
        )
        return self.error(problem, where, offset, ALTERED)

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
        self.repeat(size)
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
        self.refer(type.by_name[str(tag)], target)

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
        if isinstance(type.element, UnionType):
            # What the members are is said by the tags, which another table may have others of.
            self.repeat(size)
            self.union_bytes += size
            if self.union_bytes > self.most:
                raise self.too_often(self.union_bytes, where, position)
            self.union_members(type.element, entry, position, places)
            return
        self.references.append(self.owner << _HALF | start)
        if is_new:
            outer = self.owner
            self.owner = start
            # Bytes are never copied out of the file.
            self.repeat(0 if type.element is UBYTE else size)
            self.elements(type.element, places, where)
            self.owner = outer

    def elements(self, element: ElementType, places: range, where: str) -> None:
        """Check the elements of a vector."""
        match element:
            case EnumType():
                for place in places:
                    self.enumerator(element, place, where)
            case StringType():
                for place in places:
                    self.string(place, where)
            case TableType():
                for place in places:
                    self.refer(element, self.target(place, where))
            case _:
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
                self.refer(type.by_name[str(tag)], self.target(place, where))


def _element(field: Field) -> object:
    return field.type.element if isinstance(field.type, VectorType) else field.type


def _needs_check(field: Field) -> bool:
    """True for fields whose bytes can be wrong although they lie within their table."""
    return not isinstance(field.type, ScalarType | StructType)
