"""Attributes and types from text, and what is said about text that is none."""

from __future__ import annotations

from xdsl.ir import Attribute

from ttmlir.dialects import DIALECTS
from ttmlir.mlir.context import make_context
from ttmlir.mlir.reader import parse_module
from ttmlir.mlir.reporting import DiagnosticError, file_line_col

PREFIX = "module attributes {test.a = "


def parse_attribute(text: str, definitions: str = "") -> Attribute:
    """The attribute or type that a text spells; `definitions` are lines with aliases."""
    module = parse_module(f"{definitions}\n{PREFIX}{text}}} {{}}", "t.mlir", make_context(DIALECTS))
    return module.attributes["test.a"]


def errors_of(text: str) -> list[tuple[int, str]]:
    """The errors about a text: index of the character that each points at, and message."""
    try:
        parse_module(f"{PREFIX}{text}}} {{}}", "t.mlir", make_context(DIALECTS))
    except DiagnosticError as error:
        places = [file_line_col(diagnostic.location) for diagnostic in error.diagnostics]
        columns = [place.column - 1 - len(PREFIX) if place is not None else -1 for place in places]
        messages = [diagnostic.message for diagnostic in error.diagnostics]
        return list(zip(columns, messages, strict=True))
    return []
