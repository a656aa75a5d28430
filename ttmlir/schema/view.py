"""Reads tables of a verified flatbuffer, field by field."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from flatbuffers import util
from flatbuffers.encode import FILE_IDENTIFIER_LENGTH
from flatbuffers.packer import float32, soffset, uoffset, voffset
from flatbuffers.table import Table

from ttmlir.errors import MissingNameError
from ttmlir.schema.types import (
    ALTERED,
    OFFSET_SIZE,
    OTHER_SCHEMA,
    UBYTE,
    VTABLE_HEADER_SIZE,
    ElementType,
    EnumType,
    Field,
    FlatbufferError,
    PlainType,
    ScalarType,
    StringType,
    StructType,
    TableType,
    Type,
    UnionType,
    VectorType,
    tag_field_name,
)

# --- Verifier -------------------------------------------------------------------------------------
# Checks that a flatbuffer is what its schema says before anything in it is used.
#
# The walk reaches everything that a reader can reach, once. Offsets only point forward, so there
# are no cycles; the objects of a sound file do not overlap, so their sizes add up to no more than
# the size of the file, and a file whose offsets claim more is refused. The time is therefore
# proportional to the size of the file, whatever it contains.
#
# Objects may be shared. A reader that follows every offset meets them again and again, so what the
# file has written out, with everything as often as it is met, is bounded by the file's size, too.

# Size, offset of the root table, identifier.
_HEADER_SIZE = 2 * OFFSET_SIZE + FILE_IDENTIFIER_LENGTH
_NO_ENTRY = 0
# A writer may share equal bytes between objects of different types, which then count several times.
_MAX_OVERLAP = 4
MAX_EXPANSION = 64
"""How many times its own size a file may have with everything as often as it is referred to."""
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
    verifier.check_room(OFFSET_SIZE, position, type.name)
    size = verifier.table(type, position)
    if size > verifier.most:
        raise verifier.too_often(size, type.name, position)


@dataclass
class _Entry:
    """A field of a table that has to be looked at: where it is from the start of the table."""

    field: Field
    where: str
    at: int
    tag_at: int
    """Of a union, where its tag is."""


class _Verifier:
    """Checks objects, each one once, by recursion: no type of a schema contains itself.

    What checks an object returns how many bytes it has written out, apart from its own fields.
    """

    def __init__(self, data: memoryview, source: str) -> None:
        self.data = data
        self.end = len(data)
        self.source = source
        self.sizes: dict[tuple[object, int], int] = {}
        """Of what has been checked: the bytes that it has written out."""
        self.layouts: dict[tuple[TableType, int], tuple[int, Sequence[_Step]]] = {}
        self.claimed = 0
        self.most = MAX_EXPANSION * self.end + _ALWAYS_ALLOWED
        """Bytes that the file may have written out."""
        self.union_bytes = 0
        self.checks: dict[object, _Check] = {
            EnumType: self.enum_field,
            StringType: self.string_field,
            TableType: self.table_field,
            UnionType: self.union_field,
            VectorType: self.vector_field,
        }

    def error(
        self, problem: str, where: str, offset: int, remedy: str = OTHER_SCHEMA
    ) -> FlatbufferError:
        """An error at a byte of the file."""
        return FlatbufferError(self.source, problem, where=where, offset=offset, remedy=remedy)

    def too_often(self, size: int, where: str, offset: int) -> FlatbufferError:
        """An error about sharing."""
        problem = (
            f"the parts of the file refer to each other so often that it has {size} bytes written "
            f"out; supported are {MAX_EXPANSION} times its size"
        )
        return self.error(problem, where, offset, ALTERED)

    def check_room(self, size: int, position: int, where: str) -> None:
        """Refuse an object that is longer than the rest of the file."""
        if position + size > self.end:
            problem = f"{size} bytes reach beyond the end of the file at byte {self.end}"
            raise self.error(problem, where, position)

    def claim(self, size: int, position: int, where: str) -> None:
        """Count the `size` bytes of an object that has not been met before."""
        if position + size > self.end:
            self.check_room(size, position, where)
        self.claimed += size
        if self.claimed > _MAX_OVERLAP * self.end:
            raise self.error("objects of the file overlap", where, position)

    def table(self, type: TableType, position: int) -> int:
        """Check a table."""
        key = (type, position)
        known = self.sizes.get(key)
        if known is not None:
            return known
        vtable = position - soffset.unpack_from(self.data, position)[0]
        layout = self.layouts.get((type, vtable))
        if layout is None:
            layout = self.layouts[type, vtable] = self.layout(type, vtable, position)
        size, steps = layout
        self.claim(size, position, type.name)
        written = 0
        for check, entry in steps:
            written += check(entry, position)
        self.sizes[key] = written
        return written

    def layout(self, type: TableType, vtable: int, position: int) -> tuple[int, Sequence[_Step]]:
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
        return size, [
            (check, entry)
            for entry in entries
            # Numbers and structs cannot be wrong where they lie within their table.
            if (check := self.checks.get(entry.field.type.__class__)) is not None
        ]

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

    def string(self, place: int, where: str) -> int:
        """Check the string that the offset at a byte leads to."""
        start = self.target(place, where)
        size = uoffset.unpack_from(self.data, start)[0]
        key = (StringType, start)
        if key in self.sizes:
            return size
        # The NUL after a string is not counted in its size.
        self.claim(OFFSET_SIZE + size + 1, start, where)
        self.sizes[key] = size
        try:
            str(self.data[start + OFFSET_SIZE : start + OFFSET_SIZE + size], "utf-8")
        except UnicodeDecodeError as error:
            offset = start + OFFSET_SIZE + error.start
            raise self.error("the string is not UTF-8", where, offset, ALTERED) from error
        return size

    # Fields of the table at byte `position`.

    def enum_field(self, entry: _Entry, position: int) -> int:
        """Check a field that is an enumerator."""
        self.enumerator(cast("EnumType", entry.field.type), position + entry.at, entry.where)
        return 0

    def string_field(self, entry: _Entry, position: int) -> int:
        """Check a field that is a string."""
        return self.string(position + entry.at, entry.where)

    def table_field(self, entry: _Entry, position: int) -> int:
        """Check a field that is a table."""
        target = self.target(position + entry.at, entry.where)
        return OFFSET_SIZE + self.table(cast("TableType", entry.field.type), target)

    def union_field(self, entry: _Entry, position: int) -> int:
        """Check a member of a union; without a tag, nothing reads it."""
        if entry.tag_at == _NO_ENTRY:
            return 0
        type = cast("UnionType", entry.field.type)
        tag = self.enumerator(type.tag, position + entry.tag_at, entry.where)
        if tag == "NONE":
            return 0
        if entry.at == _NO_ENTRY:
            raise self.error(f"there is no {tag}", entry.where, position)
        target = self.target(position + entry.at, entry.where)
        return OFFSET_SIZE + self.table(type.by_name[str(tag)], target)

    def vector_field(self, entry: _Entry, position: int) -> int:
        """Check a vector and what it refers to."""
        type, where = cast("VectorType", entry.field.type), entry.where
        if entry.at == _NO_ENTRY:
            raise self.error("the vector of union members is missing", where, position)
        start = self.target(position + entry.at, where)
        key = (type, start)
        is_of_unions = isinstance(type.element, UnionType)
        known = self.sizes.get(key)
        if known is not None and not is_of_unions:
            return OFFSET_SIZE + known
        count = uoffset.unpack_from(self.data, start)[0]
        size = count * type.element.size
        if known is None:
            self.claim(OFFSET_SIZE + size, start, where)
        places = range(start + OFFSET_SIZE, start + OFFSET_SIZE + size, type.element.size)
        if isinstance(type.element, UnionType):
            # What the members are is said by the tags, which another table may have others of.
            self.union_bytes += size
            if self.union_bytes > self.most:
                raise self.too_often(self.union_bytes, where, position)
            written = self.union_members(type.element, entry, position, places)
        else:
            written = self.elements(type.element, places, where)
        # Bytes are never copied out of the file.
        self.sizes[key] = written = written + (0 if type.element is UBYTE else size)
        return OFFSET_SIZE + written

    def elements(self, element: ElementType, places: range, where: str) -> int:
        """Check the elements of a vector."""
        match element:
            case EnumType():
                for place in places:
                    self.enumerator(element, place, where)
                return 0
            case StringType():
                return sum(self.string(place, where) for place in places)
            case TableType():
                written = sum(self.table(element, self.target(place, where)) for place in places)
                return written + OFFSET_SIZE * len(places)
            case _:
                return 0

    def union_members(self, type: UnionType, entry: _Entry, position: int, places: range) -> int:
        """Check the members of a vector of unions against the vector of their tags."""
        where = entry.where
        if entry.tag_at == _NO_ENTRY:
            raise self.error("the vector of union tags is missing", where, position)
        start = self.target(position + entry.tag_at, where)
        count = uoffset.unpack_from(self.data, start)[0]
        if count != len(places):
            problem = f"{len(places)} union members have {count} tags"
            raise self.error(problem, where, position + entry.at)
        written = 0
        for tag_place, place in enumerate(places, start + OFFSET_SIZE):
            tag = self.enumerator(type.tag, tag_place, where)
            if tag != "NONE":
                written += OFFSET_SIZE
                written += self.table(type.by_name[str(tag)], self.target(place, where))
        return written


_Check = Callable[[_Entry, int], int]
"""Checks a field of the table at a byte; how many bytes it has written out."""
_Step = tuple[_Check, _Entry]


def _element(field: Field) -> object:
    return field.type.element if isinstance(field.type, VectorType) else field.type


# --- View -----------------------------------------------------------------------------------------


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
            raise MissingNameError(f"{self.table_type.name} has no field {name}")
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

        return table_as_dict(self, defaults, max_bytes)

    def to_json(
        self, *, defaults: bool = True, indent: int | None = 2, max_bytes: int | None = None
    ) -> str:
        """JSON text of the table, in the form of `as_dict`."""

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
                return None if field.default is None else type.decode(field.default)
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


# --- Json form ------------------------------------------------------------------------------------
# The JSON form of a flatbuffer, as `flatc --json --defaults-json` gives it.
#
# Differences in spelling: floats are written with as many digits as tell them apart from their
# neighbours instead of six decimals, and those that JSON has no number for are the strings "nan",
# "inf" and "-inf", which flatc reads too.

# Written out, tables that a file shares between many places can exceed any memory.
_MAX_VALUES = 50_000_000


def table_as_dict(view: TableView, defaults: bool, max_bytes: int | None = None) -> dict[str, Any]:
    """Plain dicts, lists, strings and numbers of a table and all that it refers to.

    A table that the file shares is one dict that occurs in several places, so packing the result
    keeps the sharing. Longer vectors than `max_bytes` become a text with their size.
    """
    return _Converter(defaults, max_bytes).table(view)


def table_as_json(
    view: TableView, defaults: bool, indent: int | None, max_bytes: int | None = None
) -> str:
    """JSON text of a table and all that it refers to."""
    value = table_as_dict(view, defaults, max_bytes)
    if _count_values(value, {}) > _MAX_VALUES:
        problem = f"written out, shared tables have more than {_MAX_VALUES} values"
        remedy = "read the parts that are of interest"
        raise FlatbufferError(view.file_name, problem, where=view.table_type.name, remedy=remedy)
    import json  # Few files are shown so.

    return json.dumps(value, indent=indent)


class _Converter:
    def __init__(self, defaults: bool, max_bytes: int | None) -> None:
        self.defaults = defaults
        self.max_bytes = max_bytes
        self.tables: dict[tuple[tuple[int, int], str], dict[str, Any]] = {}

    def table(self, view: TableView) -> dict[str, Any]:
        """Dict of a table, the same one for the same table."""
        key = (view.identity, view.table_type.name)
        known = self.tables.get(key)
        if known is not None:
            return known
        result = self.tables[key] = dict[str, Any]()
        for field in view.table_type.fields:
            if not self.is_shown(view, field):
                continue
            content = view[field.name]
            if content is not None:
                result[field.name] = self.convert(field.type, content)
        return result

    def is_shown(self, view: TableView, field: Field) -> bool:
        """True for fields that the file holds and for defaults if they are wanted."""
        return self.defaults or field.name in view

    def convert(self, type: Type, content: Any) -> Any:
        """Plain form of a value."""
        match content:
            case TableView():
                return self.table(content)
            case memoryview():
                numbers = cast("memoryview[int]", content)
                if self.max_bytes is not None and len(numbers) > self.max_bytes:
                    return f"<{len(numbers)} bytes>"
                return numbers.tolist()
            case _ if isinstance(type, VectorType):
                return [self.convert(type.element, item) for item in content]
            case _ if isinstance(type, StructType):
                pairs = zip(type.fields, content, strict=True)
                return {name: self.convert(inner, item) for (name, inner), item in pairs}
            case float():
                return _shortest(content, isinstance(type, ScalarType) and type.code == "f")
            case _:
                return content


def _shortest(number: float, is_float32: bool) -> float | str:
    """The shortest decimal that is read back as the same number."""
    if math.isnan(number):
        return "nan"
    if math.isinf(number):
        return "inf" if number > 0 else "-inf"
    is_short_integer = number.is_integer() and abs(number) < 1e16
    if not is_float32 or is_short_integer:
        return number
    for digits in range(6, 9):
        candidate = float(f"{number:.{digits}g}")
        # A candidate just above the largest float32 is out of its range.
        if abs(candidate) <= 3.4e38 and float32.unpack(float32.pack(candidate))[0] == number:
            return candidate
    return float(f"{number:.9g}")


def _count_values(value: Any, known: dict[int, int]) -> int:
    """Number of values that a tree with shared parts has when it is written out."""
    if not isinstance(value, dict | list):
        return 1
    tree = cast("dict[str, Any] | list[Any]", value)
    if id(tree) not in known:
        parts = tree.values() if isinstance(tree, dict) else tree
        known[id(tree)] = 1 + sum(_count_values(part, known) for part in parts)
    return known[id(tree)]
