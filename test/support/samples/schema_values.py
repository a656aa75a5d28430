"""Random values of the tables of a schema."""

from __future__ import annotations

import struct
from typing import Any

from hypothesis import strategies as st

from ttmlir.schema.types import (
    UBYTE,
    EnumType,
    Field,
    ScalarType,
    StructType,
    TableType,
    Type,
    UnionType,
    VectorType,
    tag_field_name,
)

_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)


def scalars(type: ScalarType) -> st.SearchStrategy[Any]:
    """Numbers that a scalar holds exactly; NaN, which equals nothing, is left out."""
    if type.code == "?":
        return st.booleans()
    if type.code in "fd":
        return st.floats(width=struct.calcsize(type.code) * 8, allow_nan=False)
    bits = 8 * type.size
    if type.code.islower():
        return st.integers(-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
    return st.integers(0, (1 << bits) - 1)


def enumerators(type: EnumType) -> st.SearchStrategy[Any]:
    """Names of members, or sets of flags."""
    if not type.bit_flags:
        return st.sampled_from(list(type.members))
    flags = st.sets(st.sampled_from(list(type.members)))
    return flags.map(lambda names: type.decode(sum(type.members[name] for name in names)))


def structs(type: StructType) -> st.SearchStrategy[Any]:
    """Tuples, nested where the struct is."""
    parts = [
        scalars(inner) if isinstance(inner, ScalarType) else structs(inner)
        for _, inner in type.fields
    ]
    return st.tuples(*parts)


class _Drawer:
    """Draws tables, some of which it uses several times."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.known: dict[TableType, list[dict[str, Any]]] = {}

    def table(self, type: TableType) -> dict[str, Any]:
        """A table in which any field may be absent."""
        value: dict[str, Any] = {}
        for field in type.fields:
            is_tag = field.name.endswith("_type")
            if not is_tag and self.draw(st.integers(0, 3)):
                value |= self.field(field)
        return value

    def field(self, field: Field) -> dict[str, Any]:
        """A field, with its tag if it has one."""
        match field.type:
            case VectorType(element=UnionType() as union):
                members = self.draw(st.lists(st.sampled_from(union.members), max_size=3))
                tags = [member.name for member in members]
                contents = [self.shared(member) for member in members]
                return {tag_field_name(field.name): tags, field.name: contents}
            case VectorType(element=element):
                size = self.draw(st.integers(0, 3))
                items = [self.content(element) for _ in range(size)]
                return {field.name: bytes(items) if element is UBYTE else items}
            case UnionType() as union:
                member = self.draw(st.sampled_from(union.members))
                tag = {tag_field_name(field.name): member.name}
                return tag | {field.name: self.shared(member)}
            case type:
                return {field.name: self.content(type)}

    def content(self, type: Type) -> Any:
        """A value of anything but a union or vector."""
        match type:
            case TableType():
                return self.shared(type)
            case ScalarType():
                return self.draw(scalars(type))
            case EnumType():
                return self.draw(enumerators(type))
            case StructType():
                return self.draw(structs(type))
            case _:
                return self.draw(_TEXT)

    def shared(self, type: TableType) -> dict[str, Any]:
        """A new table or one that is used already."""
        known = self.known.setdefault(type, [])
        if known and self.draw(st.booleans()):
            return self.draw(st.sampled_from(known))
        known.append(self.table(type))
        return known[-1]


@st.composite
def tables(draw: st.DrawFn, type: TableType) -> dict[str, Any]:
    """Tables in which any field may be absent and any table may be shared."""
    return _Drawer(draw).table(type)
