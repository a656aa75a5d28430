"""System description files (`.ttsys`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ttmlir.schema.catalog import SCHEMA_OF_IDENTIFIER, identify, load_schema
from ttmlir.schema.errors import FlatbufferError
from ttmlir.schema.versions import LoadedFile, load, version_stamp

_IDENTIFIER = "TTSY"
_REMEDY = "give a .ttsys file, as ttrt query --save-artifacts writes one"


def pack_system_desc(system_desc: Mapping[str, Any], product_identifier: str = "unknown") -> bytes:
    """Bytes of a file with this `SystemDesc` table, stamped with this program's version."""
    root = {"product_identifier": product_identifier, "system_desc": system_desc}
    return load_schema(SCHEMA_OF_IDENTIFIER[_IDENTIFIER]).pack(version_stamp() | root)


def load_system_desc(data: bytes | bytearray | memoryview, source: str) -> LoadedFile:
    """Read a file; its root's field `system_desc` is there.

    `source` names the file in messages. Raises FlatbufferError if it holds no system description.
    """
    if identify(data) is None:
        raise FlatbufferError(source, "it is no system description", remedy=_REMEDY)
    loaded = load(data, source)
    if loaded.identifier != _IDENTIFIER:
        problem = f"expected a system description, got a program ({loaded.identifier})"
        raise FlatbufferError(source, problem, remedy=_REMEDY)
    if loaded.root.system_desc is None:
        problem = "the system description is missing"
        remedy = "write the file again with ttrt query --save-artifacts"
        raise FlatbufferError(source, problem, where="SystemDescRoot.system_desc", remedy=remedy)
    return loaded
