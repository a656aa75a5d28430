"""Reads flatbuffer schemas (`.fbs`).

The subset: include, namespace, enum (with `bit_flags`), struct, table, union of tables, root_type,
file_identifier, file_extension, and defaults of scalar fields, `null` among them. Field numbers are
declaration order. Everything else is refused, since reading it wrongly would shift fields.
"""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, cast

from flatbuffers import util

from ttmlir.schema.types import (
    SCALARS,
    STRING,
    ElementType,
    EnumType,
    Field,
    ScalarType,
    SchemaError,
    StructType,
    TableType,
    Type,
    UnionType,
    VectorType,
    tag_field_name,
)
from ttmlir.schema.view import TableView

if TYPE_CHECKING:
    from ttmlir.schema.packer import Packing

_TOKEN = re.compile(
    r'//.*|"[^"]*"|[A-Za-z_][\w.]*|[-+]?[\d.][\w.+-]*|[{}()\[\]:;,=]|(?P<unexpected>\S)'
)
"""A token of a line, or a comment."""

Named = EnumType | StructType | TableType | UnionType


@dataclass
class SchemaDocument:
    """All that a schema and its includes declare."""

    types: dict[str, Named] = field(default_factory=dict[str, Named])
    """By qualified name."""
    root: TableType | None = None
    identifier: str = ""
    extension: str = ""


def parse_schema(path: str, read: Callable[[str], str]) -> SchemaDocument:
    """Read the schema `path` and what it includes.

    `read` returns the text of a path; paths are relative, with `/`. Raises SchemaError with the
    path and line of what is not understood.
    """
    document = SchemaDocument()
    unresolved: list[Callable[[], None]] = []
    _parse_file(path, read, document, unresolved, set())
    for resolve in unresolved:
        resolve()
    _refuse_recursion(document)
    return document


def _parse_file(
    path: str,
    read: Callable[[str], str],
    document: SchemaDocument,
    unresolved: list[Callable[[], None]],
    done: set[str],
) -> None:
    if path in done:
        return
    done.add(path)
    parser = _FileParser(path, read(path), document, unresolved)
    for included in parser.includes():
        _parse_file(_join(path, included), read, document, unresolved, done)
    # What a schema includes does not choose its root.
    document.root, document.identifier, document.extension = None, "", ""
    parser.declarations()


def _join(path: str, included: str) -> str:
    """Path of an include, which is spelled relative to the file that includes it."""
    parts = path.split("/")[:-1]
    for part in included.split("/"):
        if part == "..":
            parts.pop()
        else:
            parts.append(part)
    return "/".join(parts)


class _FileParser:
    """Recursive descent over the tokens of one file.

    Types may be used before they are declared, so fields are filled in by `unresolved` functions
    that run when all files have been read.
    """

    def __init__(
        self, path: str, text: str, document: SchemaDocument, unresolved: list[Callable[[], None]]
    ) -> None:
        self.path = path
        self.document = document
        self.unresolved = unresolved
        self.namespace = ""
        self.tokens = list(self._tokens(text))
        self.index = 0

    def _tokens(self, text: str) -> Iterator[tuple[str, int]]:
        lines = text.split("\n")
        for line, content in enumerate(lines, 1):
            for match in _TOKEN.finditer(content):
                token = match[0]
                if match["unexpected"]:
                    raise SchemaError(f"{self.path}:{line}: unexpected character {token!r}")
                if not token.startswith("//"):
                    yield token, line
        yield "", len(lines)

    def error(self, message: str, place: int | None = None) -> SchemaError:
        """An error at the token number `place`, or at the current one."""
        line = self.tokens[self.index if place is None else place][1]
        return SchemaError(f"{self.path}:{line}: {message}")

    def peek(self) -> str:
        """The current token, empty at the end."""
        return self.tokens[self.index][0]

    def next(self) -> str:
        """Take the current token."""
        token = self.peek()
        self.index += 1
        return token

    def accept(self, token: str) -> bool:
        """Take the token if it is the current one."""
        if self.peek() != token:
            return False
        self.index += 1
        return True

    def expect(self, token: str) -> None:
        """Take the token, which must be the current one."""
        if not self.accept(token):
            raise self.error(f"expected {token!r}, got {self.peek()!r}")

    def name(self) -> str:
        """Take a name."""
        if not (self.peek()[:1].isalpha() or self.peek().startswith("_")):
            raise self.error(f"expected a name, got {self.peek()!r}")
        return self.next()

    def string(self) -> str:
        """Take a quoted string."""
        if not self.peek().startswith('"'):
            raise self.error(f"expected a quoted string, got {self.peek()!r}")
        return self.next()[1:-1]

    def includes(self) -> Iterator[str]:
        """Take the includes, which stand at the head of a file."""
        while self.accept("include"):
            yield self.string()
            self.expect(";")

    def declarations(self) -> None:
        """Take the rest of the file."""
        readers = {
            "namespace": self._namespace,
            "enum": self._enum,
            "struct": self._struct,
            "table": self._table,
            "union": self._union,
            "root_type": self._root_type,
            "file_identifier": self._file_identifier,
            "file_extension": self._file_extension,
        }
        while keyword := self.peek():
            if keyword not in readers:
                expected = ", ".join(readers)
                raise self.error(f"unsupported declaration {keyword!r}; supported are {expected}")
            self.next()
            readers[keyword]()

    def _namespace(self) -> None:
        self.namespace = self.name()
        self.expect(";")

    def _root_type(self) -> None:
        place = self.index
        namespace = self.namespace
        name = self.name()
        self.expect(";")

        def resolve() -> None:
            root = self._resolve(name, namespace, place)
            if not isinstance(root, TableType):
                raise self.error(f"the root type {name} is not a table", place)
            self.document.root = root

        self.unresolved.append(resolve)

    def _file_identifier(self) -> None:
        self.document.identifier = self.string()
        self.expect(";")

    def _file_extension(self) -> None:
        self.document.extension = self.string()
        self.expect(";")

    def _declare(self, type: Named) -> None:
        qualified = f"{self.namespace}.{type.name}".lstrip(".")
        if qualified in self.document.types:
            raise self.error(f"{qualified} is declared twice")
        self.document.types[qualified] = type

    def _enum(self) -> None:
        name = self.name()
        self.expect(":")
        base = SCALARS.get(self.peek())
        if base is None or base.code in "?fd":
            raise self.error(f"{self.peek()!r} is not an integer type")
        self.next()
        bit_flags = False
        if self.accept("("):
            self.expect("bit_flags")
            self.expect(")")
            bit_flags = True
        members: dict[str, int] = {}
        number = 0
        self.expect("{")
        while not self.accept("}"):
            member = self.name()
            if self.accept("="):
                number = int(self.next(), 0)
            members[member] = 1 << number if bit_flags else number
            number += 1
            if not self.accept(","):
                self.expect("}")
                break
        self._declare(EnumType(name, base, members, bit_flags))

    def _fields(self) -> Iterator[tuple[str, str, bool, str | None, int]]:
        """Fields as (name, type, whether it is a vector, default, place of the type)."""
        self.expect("{")
        while not self.accept("}"):
            name = self.name()
            self.expect(":")
            is_vector = self.accept("[")
            place = self.index
            type = self.name()
            if is_vector:
                self.expect("]")
            default = self.next() if self.accept("=") else None
            if self.peek() == "(":
                raise self.error(f"attributes of fields are not supported, here of {name}")
            self.expect(";")
            yield name, type, is_vector, default, place

    def _struct(self) -> None:
        name = self.name()
        namespace = self.namespace
        raw = list(self._fields())
        declared = StructType(name, ())
        self._declare(declared)

        def resolve() -> None:
            fields: list[tuple[str, ScalarType | StructType]] = []
            for field_name, type_name, is_vector, default, place in raw:
                type = self._resolve(type_name, namespace, place)
                is_value = isinstance(type, ScalarType | StructType)
                if is_vector or default is not None or not is_value:
                    message = f"{name}.{field_name}: structs hold numbers and structs only"
                    raise self.error(message, place)
                fields.append((field_name, type))
            declared.fields = fields

        self.unresolved.append(resolve)

    def _table(self) -> None:
        name = self.name()
        namespace = self.namespace
        raw = list(self._fields())
        declared = TableType(name)
        self._declare(declared)

        def resolve() -> None:
            fields: list[Field] = []
            for field_name, type_name, is_vector, default, place in raw:
                element = self._resolve(type_name, namespace, place)
                if isinstance(element, UnionType):
                    tag: Type = VectorType(element.tag) if is_vector else element.tag
                    default_tag = self._default(tag, None, place)
                    tag_name = tag_field_name(field_name)
                    fields.append(Field(tag_name, tag, len(fields), default_tag))
                type = VectorType(element) if is_vector else element
                number = self._default(type, default, place)
                fields.append(Field(field_name, type, len(fields), number))
            declared.fields = fields

        self.unresolved.append(resolve)

    def _default(self, type: Type, text: str | None, place: int) -> bool | int | float | None:
        """Value of an absent field; None where there is no number."""
        if text is not None and not isinstance(type, ScalarType | EnumType):
            raise self.error(f"a field of type {type.name} cannot have the default {text}", place)
        if text == "null":
            return None
        match type:
            case EnumType():
                number = 0 if text is None else type.members.get(text)
                if number is None or type.decode(number) is None:
                    raise self.error(f"{type.name} has no member {text or 0} as default", place)
                return number
            case ScalarType(code="?"):
                return text == "true"
            case ScalarType(code="f" | "d"):
                return float(text or 0)
            case ScalarType():
                return int(text or "0", 0)
            case _:
                return None

    def _union(self) -> None:
        name = self.name()
        namespace = self.namespace
        raw: list[tuple[str, int]] = []
        self.expect("{")
        while not self.accept("}"):
            raw.append((self.peek(), self.index))
            self.name()
            if not self.accept(","):
                self.expect("}")
                break
        declared = UnionType(name)
        self._declare(declared)

        def resolve() -> None:
            members: list[TableType] = []
            for member_name, place in raw:
                member = self._resolve(member_name, namespace, place)
                if not isinstance(member, TableType):
                    raise self.error(f"{name}.{member_name} is not a table", place)
                members.append(member)
            declared.members = members

        # Tables read the members of their unions, so unions are resolved first.
        self.unresolved.insert(0, resolve)

    def _resolve(self, name: str, namespace: str, place: int) -> ElementType:
        """The type that a name stands for in a namespace or those around it."""
        if name in SCALARS:
            return SCALARS[name]
        if name == "string":
            return STRING
        parts = namespace.split(".")
        for depth in range(len(parts), -1, -1):
            found = self.document.types.get(".".join([*parts[:depth], name]))
            if found is not None:
                return found
        raise self.error(f"unknown type {name}", place)


def _refuse_recursion(document: SchemaDocument) -> None:
    """Refuse tables that contain themselves, so that a walk down a file has a bounded depth."""
    finished: set[TableType] = set()

    def visit(table: TableType, path: tuple[TableType, ...]) -> None:
        if table in path:
            raise SchemaError(f"table {table.name} contains itself, which is not supported")
        if table in finished:
            return
        for member in table.fields:
            type = member.type.element if isinstance(member.type, VectorType) else member.type
            inner = type.members if isinstance(type, UnionType) else (type,)
            for inner_type in inner:
                if isinstance(inner_type, TableType):
                    visit(inner_type, (*path, table))
        finished.add(table)

    if document.root is not None:
        visit(document.root, ())


# --- Catalog --------------------------------------------------------------------------------------
# The schemas of the project and the files that they describe.

SCHEMA_OF_IDENTIFIER = {
    "TTNN": "TTNN/binary.fbs",
    "TTM0": "TTMetal/binary.fbs",
    "TTSY": "Common/system_desc.fbs",
}


@dataclass(frozen=True, eq=False)
class Schema:
    """A schema with a root table: reads and writes the files that hold it."""

    document: SchemaDocument
    root: TableType
    identifier: str
    extension: str

    def table_type(self, name: str) -> TableType:
        """The table of a name with its namespaces."""
        return cast("TableType", self.document.types[name])

    def packing(self) -> Packing:
        """A file whose tables are packed one by one."""
        from ttmlir.schema.packer import Packing

        return Packing(self.root, self.identifier)

    def pack(self, root: Mapping[str, Any]) -> bytes:
        """Bytes of a file; see `ttmlir.schema.packer` for the values and errors."""
        return self.packing().finish(root)

    def read(self, data: bytes | bytearray | memoryview, source: str = "flatbuffer") -> TableView:
        """View the root table of a file, after checking the whole file.

        `source` names the file in messages. Raises FlatbufferError if the file is not what the
        schema says.
        """
        from ttmlir.schema.view import root_position, verify

        view = memoryview(data).cast("B").toreadonly()
        position = root_position(view, self.identifier, source)
        verify(view, self.root, position, source)
        return TableView(view, position, self.root, source)


@cache
def load_schema(name: str) -> Schema:
    """The schema in the file `name` below the schema folder, such as `TTNN/binary.fbs`."""

    def read(path: str) -> str:
        data = pkgutil.get_data("ttmlir_schema", path)
        assert data is not None, "modules and data of the package are read alike"
        return data.decode("utf-8")

    document = parse_schema(name, read)
    if document.root is None:
        raise SchemaError(f"{name}: no root_type is declared")
    return Schema(document, document.root, document.identifier, document.extension)


def identify(data: bytes | bytearray | memoryview) -> str | None:
    """Identifier of a file: `TTNN`, `TTM0` or `TTSY`; None if it is something else."""
    identifier = util.GetBufferIdentifier(memoryview(data), 0, size_prefixed=True)
    found = bytes(identifier).decode("ascii", "replace")
    return found if found in SCHEMA_OF_IDENTIFIER else None
