"""The schemas of the project and the files that they describe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from flatbuffers import util

from ttmlir.schema.errors import SchemaError
from ttmlir.schema.parser import SchemaDocument, parse_schema
from ttmlir.schema.types import TableType
from ttmlir.schema.view import TableView

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

    def pack(self, root: Mapping[str, Any]) -> bytes:
        """Bytes of a file; see `ttmlir.schema.packer` for the values and errors."""
        from ttmlir.schema.packer import pack

        return pack(root, self.root, self.identifier)

    def read(self, data: bytes | bytearray | memoryview, source: str = "flatbuffer") -> TableView:
        """View the root table of a file, after checking the whole file.

        `source` names the file in messages. Raises FlatbufferError if the file is not what the
        schema says.
        """
        from ttmlir.schema.verifier import root_position, verify

        view = memoryview(data).cast("B").toreadonly()
        position = root_position(view, self.identifier, source)
        verify(view, self.root, position, source)
        return TableView(view, position, self.root, source)


@cache
def load_schema(name: str) -> Schema:
    """The schema in the file `name` below the schema folder, such as `TTNN/binary.fbs`."""
    folder = resources.files("ttmlir_schema")
    document = parse_schema(name, lambda path: folder.joinpath(path).read_text("utf-8"))
    if document.root is None:
        raise SchemaError(f"{name}: no root_type is declared")
    return Schema(document, document.root, document.identifier, document.extension)


def identify(data: bytes | bytearray | memoryview) -> str | None:
    """Identifier of a file: `TTNN`, `TTM0` or `TTSY`; None if it is something else."""
    identifier = util.GetBufferIdentifier(memoryview(data), 0, size_prefixed=True)
    found = bytes(identifier).decode("ascii", "replace")
    return found if found in SCHEMA_OF_IDENTIFIER else None
