"""The flags of `ttmlir-translate`: those of MLIR's translation drivers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ttmlir.mlir.option_values import STRINGS, ValueType
from ttmlir.mlir.text_files import DEFAULT_MARKER
from ttmlir.tools.command_line import flag

if TYPE_CHECKING:
    from ttmlir.schema.versions import LaterStamp


def _parse_define(text: str) -> tuple[str, ...]:
    if not re.match(r"[A-Za-z_]\w*(\([^()]*\))?(=|$)", text, re.ASCII):
        raise ValueError(f"'{text}' is no macro; write NAME or NAME=BODY")
    return (text,)


_ONE = ValueType(placeholder="<folder>", parse=lambda text: (text,))
_DEFINE = ValueType(placeholder="<name>[=<body>]", parse=_parse_define)


def _parse_kernel_api(text: str) -> str:
    if text not in _KERNEL_APIS:
        raise ValueError(f"'{text}' is no form of kernels; write {' or '.join(_KERNEL_APIS)}")
    return text


_KERNEL_APIS = ("2024", "2026")
_KERNEL_API = ValueType(placeholder="<year>", parse=_parse_kernel_api, choices=_KERNEL_APIS)


def _parse_schema_of(path: str) -> LaterStamp:
    from ttmlir.files import read_file
    from ttmlir.schema.versions import LaterStamp

    try:
        return LaterStamp.of_file(read_file(path), path)
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror or error}") from error


_SCHEMA_OF = ValueType(placeholder="<file>", parse=_parse_schema_of)


def _parse_shapes(text: str) -> tuple[tuple[str, tuple[int, ...]], ...]:
    found: list[tuple[str, tuple[int, ...]]] = []
    for part in text.split(","):
        name, equals, shape = part.rpartition("=")
        extents = shape.split("x") if shape else []
        if not (equals and name and all(re.fullmatch(r"\d{1,9}", each) for each in extents)):
            raise ValueError(f"'{part}' is no shape of an input; write NAME=2x3")
        found.append((name, tuple(map(int, extents))))
    return tuple(found)


_SHAPES = ValueType(placeholder="<name>=<shape>,...", parse=_parse_shapes)

_NO_EFFECT = "Accepted for compatibility, has no effect"


@dataclass(frozen=True, kw_only=True)
class TranslateFlags:
    """What the command line of `ttmlir-translate` says, apart from the translation."""

    input: str = "-"
    output: str = flag("-", "Output filename", name="o")
    allow_unregistered_dialect: bool = flag(
        False, "Allow operation with no registered dialects (discouraged: testing only!)"
    )
    no_implicit_module: bool = flag(False, "Disable the parsing of an implicit top-level module op")
    split_input_file: str = flag(
        "",
        "Split the input file into chunks using the given or default marker and process each"
        " chunk independently",
        implied=DEFAULT_MARKER,
    )
    output_split_marker: str = flag("", "Split marker to use for merging the output")
    verify_diagnostics: bool = flag(
        False, "Check that emitted diagnostics match expected-* lines on the corresponding line"
    )
    include_folders: tuple[str, ...] = flag(
        (), "Folder in which a kernel's headers are", name="I", type=_ONE, joined=True
    )
    defines: tuple[str, ...] = flag(
        (), "Macro of a kernel in C++, 1 if it has no body", name="D", type=_DEFINE, joined=True
    )
    declare_variables_at_top: bool = flag(False, "Declare variables at top when emitting C/C++")
    kernel_api: str = flag(
        "",
        "Year of the tt-metal that kernels are written for; by default that of the module's form",
        type=_KERNEL_API,
    )
    schema_of: LaterStamp | None = flag(
        None,
        "A .ttnn file of 2026, in whose schema, version and hashes the file is written",
        type=_SCHEMA_OF,
    )
    input_shapes: tuple[tuple[str, tuple[int, ...]], ...] = flag(
        (),
        "Shapes of inputs of a model of ONNX that leaves them open, separated by commas",
        name="input-shapes",
        type=_SHAPES,
    )
    mlir_print_debuginfo: bool = flag(False, "Print debug info in MLIR output")
    help: bool = flag(False, "Display available options (--help-hidden for more)", aliases=("h",))
    help_list: bool = flag(False, "Display list of available options")
    help_hidden: bool = flag(False, "Display all available options")
    version: bool = flag(False, "Display the version of this program")
    error_diagnostics_only: bool = flag(
        False, "Filter all non-error diagnostics (discouraged: testing only!)", hidden=True
    )
    color: bool = flag(
        False,
        "Colour diagnostics; the default is to do so on a terminal, unless the variable NO_COLOR is"
        " set",
    )
    debug: bool = flag(False, _NO_EFFECT)
    debug_only: tuple[str, ...] = flag((), _NO_EFFECT, type=STRINGS)
    mlir_disable_threading: bool = flag(False, _NO_EFFECT, hidden=True)
