"""Which versions of a file can be used, and the stamp of those that are written here.

Files carry the version of the tt-mlir whose schema they follow. Here it is the one that this
project is compatible with, so that its tools take the files; who has really written a file is in
its field `producer`. Fields were moved, enumerators renumbered and union members inserted later,
none of which a file says of itself before June 2025, when a digest of the schema took the place of
the git hash. A file of another version is therefore used only if what it says twice agrees.

`.ttnn` files of two later states are read, each by a schema of its own (`LATER_SCHEMAS`), and
`.ttsys` files of one; those with another digest are refused, as the numbers of their operations are
not known.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ttmlir.schema.parser import SCHEMA_OF_IDENTIFIER, Schema, identify, load_schema
from ttmlir.schema.types import STRING, Field, FlatbufferError, StructType, TableType
from ttmlir.schema.view import TableView, root_position, verify
from ttmlir.version import EMULATED_TTMLIR_HASH, EMULATED_TTMLIR_VERSION, VERSION

_RECOMPILE = "compile it again with this program, or with tt-mlir " + ".".join(
    str(part) for part in EMULATED_TTMLIR_VERSION
)
_DESCRIBE_AGAIN = "describe the machine again with ttrt query --save-artifacts"
_SHA256_DIGITS = 64


@dataclass(frozen=True)
class LaterSchema:
    """A schema of files that carry the digest of their schema."""

    path: str
    """Below the schema folder."""
    name: str
    """Whose files they are."""
    digest: str = ""
    """SHA-256 of its text; empty where it is not known."""
    git_hash: str = ""
    """First digits of the commit that its files name; empty where they name none."""


LATER_SCHEMAS = (
    LaterSchema(
        "2026/TTNN/binary_19c86fca45.fbs", "tt-mlir of 21 August 2026", git_hash="19c86fca45"
    ),
    LaterSchema(
        "2026/TTNN/binary_912b70aa54.fbs",
        "jax-tt-plugin 0.1.3",
        digest="912b70aa54f878b01d094638d22c35ee6e20c7e7f1813913242a47e7f79c9bd2",
    ),
)
"""The schemas of later versions of `.ttnn` files that are read, the latest one last."""
LATER_SYSTEM_SCHEMA = LaterSchema(
    "2026/Common/system_desc.fbs",
    "jax-tt-plugin 0.1.3",
    digest="f0b54f1568f8f39c9910f4e652cd40fa551fdb1bf4172fab3710429031c23159",
)
"""The later schema of `.ttsys` files that is read and written."""
_LATER_OF_IDENTIFIER = {"TTNN": LATER_SCHEMAS, "TTSY": (LATER_SYSTEM_SCHEMA,)}

# Bytes of an element; block formats share exponents and have none of their own.
_ELEMENT_SIZES = {"Float32": 4, "Float16": 2, "BFloat16": 2, "UInt32": 4, "UInt16": 2, "UInt8": 1}


@dataclass(frozen=True)
class LoadedFile:
    """A file that can be used."""

    root: TableView
    identifier: str
    warning: str | None
    """What the user should know about its version."""
    later: LaterSchema | None = None
    """The schema that it has been read with, if that is not the one that is written here."""


@dataclass(frozen=True)
class LaterStamp:
    """What a file of a later version says of its own: in its words, files of it are written."""

    later: LaterSchema
    version: tuple[int, int, int]
    digest: str
    git_hash: str

    @classmethod
    def latest(cls) -> LaterStamp:
        """The stamp of files of the latest schema that is known."""
        later = LATER_SCHEMAS[-1]
        return cls(later, (0, 0, 0), later.digest, later.git_hash or "unknown")

    @classmethod
    def of_file(cls, data: bytes, source: str) -> LaterStamp:
        """The stamp of a `.ttnn` file that another program wrote.

        Raises FlatbufferError for other files, and for schemas that are not known.
        """
        loaded = load(data, source)
        if loaded.later is None or loaded.identifier != "TTNN":
            problem = "no .ttnn file of a version with a schema of its own"
            raise FlatbufferError(source, problem, remedy="give a .ttnn file of 2026")
        root = loaded.root
        version = root.version
        numbers = (version.major, version.minor, version.patch)
        return cls(loaded.later, numbers, root.schema_hash, root.ttmlir_git_hash or "unknown")


def version_stamp() -> dict[str, Any]:
    """The fields of a root table that say which version a file is of and who has written it."""
    return {
        "version": EMULATED_TTMLIR_VERSION,
        "ttmlir_git_hash": EMULATED_TTMLIR_HASH,
        "producer": f"ttmlir-py {VERSION}",
    }


def unknown_kind(source: str) -> FlatbufferError:
    """The error about a file without an identifier of ours."""
    problem = "neither a TTNN nor a TTMetal program nor a system description"
    return FlatbufferError(source, problem, remedy="give a .ttnn, .ttm or .ttsys file")


def load(
    data: bytes | bytearray | memoryview, source: str, *, ignore_version: bool = False
) -> LoadedFile:
    """Read a `.ttnn`, `.ttm` or `.ttsys` file, the check of its version included.

    `source` names the file in messages; `ignore_version` takes programs of 2024 also if they
    contradict themselves. Raises FlatbufferError if the file is none of these, damaged, or of a
    version that cannot be used.
    """
    identifier = identify(data)
    if identifier is None and not ignore_version:
        raise unknown_kind(source)
    # What has another identifier is refused by that of the schema.
    identifier = identifier or "TTNN"
    schema = load_schema(SCHEMA_OF_IDENTIFIER[identifier])
    stamp = _read_stamp(schema, data, source)
    version = stamp.version
    remedy = _DESCRIBE_AGAIN if identifier == "TTSY" else _RECOMPILE
    later = _later_schema(data, stamp, identifier, source, remedy)
    if later is not None:
        return LoadedFile(load_schema(later.path).read(data, source), identifier, None, later)
    try:
        root = schema.read(data, source)
        if ignore_version:
            return LoadedFile(root, identifier, None)
    except FlatbufferError as error:
        if version is None or version == EMULATED_TTMLIR_VERSION:
            raise
        problem = f"{_show(version)}, whose schema does not fit: {error.problem}"
        raise FlatbufferError(source, problem, where=error.where, remedy=remedy) from error
    return LoadedFile(root, identifier, check_version(root))


def check_version(root: TableView) -> str | None:
    """Decide whether a file may be used that its schema describes.

    Returns None for the version that is written here, a warning for another one. Raises
    FlatbufferError if the file contradicts itself, read with this version's numbers.
    """
    version = root.version
    if version == EMULATED_TTMLIR_VERSION:
        return None
    if root.table_type.name != "SystemDescRoot":
        _refuse_contradiction(root)
    expected = ".".join(str(part) for part in EMULATED_TTMLIR_VERSION)
    return (
        f"{root.file_name}: {_show(version)}; it is read as version {expected}, which its fields "
        "allow, but numbers may mean something else"
    )


def _read_stamp(schema: Schema, data: bytes | bytearray | memoryview, source: str) -> TableView:
    """View of the version and the text after it, which are in the same place in all versions."""
    version = schema.root.by_name["version"].type
    assert isinstance(version, StructType)
    fields = (Field("version", version, 0), Field("text", STRING, 1))
    return _view_fields(schema, data, source, fields)


def _view_fields(
    schema: Schema, data: bytes | bytearray | memoryview, source: str, fields: tuple[Field, ...]
) -> TableView:
    """View of some fields of the root table."""
    type = TableType(schema.root.name, fields)
    view = memoryview(data).cast("B").toreadonly()
    position = root_position(view, schema.identifier, source)
    verify(view, type, position, source)
    return TableView(view, position, type, source)


def _later_schema(
    data: bytes | bytearray | memoryview,
    stamp: TableView,
    identifier: str,
    source: str,
    remedy: str,
) -> LaterSchema | None:
    """The schema of a file whose second field is the digest of its schema, not a git hash.

    None for all other files; FlatbufferError for a digest that is not known.
    """
    digest = stamp.text or ""
    if re.fullmatch(rf"[0-9a-f]{{{_SHA256_DIGITS}}}", digest) is None:
        return None
    commit = ""
    later = _LATER_OF_IDENTIFIER.get(identifier, ())
    if later:
        found = next((each for each in later if each.digest == digest), None)
        if found is not None:
            return found
        schema = load_schema(SCHEMA_OF_IDENTIFIER[identifier])
        commit = _view_fields(schema, data, source, (Field("commit", STRING, 2),)).commit or ""
        for each in later:
            if each.git_hash and commit.startswith(each.git_hash):
                return each
        known = ", ".join(
            f"{each.digest[:12]}... ({each.name})"
            if each.digest
            else f"that of commit {each.git_hash} ({each.name})"
            for each in later
        )
        remedy = f"the later schemas that are read are {known}; {remedy}, or with one of these"
    if not re.fullmatch(r"[0-9a-f]{7,40}", commit):
        commit = "unknown"
    problem = (
        f"{_show(stamp.version)}, commit {commit}, with another schema (SHA-256 {digest[:12]}...)"
    )
    raise FlatbufferError(source, problem, where="version", remedy=remedy)


def _show(version: Any) -> str:
    if version is None:
        return "written by an unknown version"
    return "written by tt-mlir " + ".".join(str(part) for part in version)


def _refuse_contradiction(root: TableView) -> None:
    """Refuse programs whose operations or sizes are not what their text or shapes say."""
    for program in root.programs or ():
        for reference in (*(program.inputs or ()), *(program.outputs or ())):
            _check_size(root, reference)
        for operation in program.get("operations") or ():
            _check_mnemonic(root, operation)


def _check_size(root: TableView, reference: TableView) -> None:
    desc = reference.desc
    memory = desc and desc.layout and desc.layout.memory_desc
    if not memory or memory.data_type not in _ELEMENT_SIZES or memory.tile_shape is None:
        return
    size = _ELEMENT_SIZES[memory.data_type] * memory.tile_shape.y * memory.tile_shape.x
    for extent in memory.shape or ():
        size *= extent
    if size != memory.size:
        problem = f"{memory.size} bytes instead of {size} for {memory.data_type}"
        _refuse(root, "MemoryDesc.size", problem)


def _check_mnemonic(root: TableView, operation: TableView) -> None:
    match = re.search(r'"ttnn\.(\w+)"', operation.debug_info or "")
    if match is None:
        return
    kind = operation.type_type.removesuffix("Op")
    if kind in ("Eltwise", "Reduction", "Scatter"):
        kind = operation.type.type
    if not _abbreviates(match.group(1), kind):
        _refuse(root, "Operation.type", f"{kind} instead of {match.group(1)}")


def _abbreviates(mnemonic: str, kind: str) -> bool:
    """True if an operation's name in the IR can stand for its name in the schema.

    It is the words of that name in lower case (`MaxPool2d`, `max_pool2d`; `IsFinite`, `isfinite`),
    their initials (`GreaterEqual`, `ge`), or the beginning of a word (`Equal`, `eq`).
    """
    words = re.findall(r"[A-Z][a-z0-9]*", kind)
    initials = "".join(word[0] for word in words).lower()
    squeezed = kind.lower()
    is_start = len(words) == 1 and squeezed.startswith(mnemonic)
    return is_start or mnemonic == initials or mnemonic.replace("_", "") == squeezed


def _refuse(root: TableView, where: str, problem: str) -> None:
    problem = f"{_show(root.version)}, whose schema does not fit: {problem}"
    raise FlatbufferError(root.file_name, problem, where=where, remedy=_RECOMPILE)


# --- System desc ----------------------------------------------------------------------------------
# System description files (`.ttsys`).

_IDENTIFIER = "TTSY"
_REMEDY = "give a .ttsys file, as ttrt query --save-artifacts writes one"


def pack_system_desc(system_desc: Mapping[str, Any], product_identifier: str = "unknown") -> bytes:
    """Bytes of a file with this `SystemDesc` table, stamped with this program's version."""
    root = {"product_identifier": product_identifier, "system_desc": system_desc}
    return load_schema(SCHEMA_OF_IDENTIFIER[_IDENTIFIER]).pack(version_stamp() | root)


def pack_later_system_desc(
    system_desc: Mapping[str, Any], product_identifier: str = "unknown"
) -> bytes:
    """Bytes of a file of 2026 with this `SystemDesc` table of that year."""
    root = {
        "version": (0, 0, 0),
        "schema_hash": LATER_SYSTEM_SCHEMA.digest,
        "ttmlir_git_hash": "unknown",
        "product_identifier": product_identifier,
        "system_desc": system_desc,
    }
    return load_schema(LATER_SYSTEM_SCHEMA.path).pack(root)


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
