"""Located messages: what a user sees of bad input.

    raise OpError(op, "Input A must be at least a 2D tensor")   # 'ttir.matmul' op Input A ...
    raise LocatedError(location, "missing system description")   # the message alone

Both are `DiagnosticError`s, which carry one or more `Diagnostic`s; a tool catches `DiagnosticError`
and prints `render_all(error.diagnostics, sources)`:

    file.mlir:6:8: error: 'ttir.matmul' op Input A must be at least a 2D tensor
      %1 = "ttir.matmul"(%arg0, %arg1, %0) : ...
           ^

What is no reason to refuse is said with `warn`, and heard by whoever `listening`s.

Importing this module also replaces xDSL's `Operation.emit_error`, which would print the whole
module into the message: refusals become `OpError`s, other exceptions pass as they are.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, NoReturn, TypeAlias

from xdsl.dialects.builtin import LocationAttr, UnknownLoc
from xdsl.ir import Operation
from xdsl.utils.exceptions import DiagnosticException

from ttmlir.mlir.printing.text import MAX_SHOWN
from ttmlir.mlir.reporting.colours import paint
from ttmlir.mlir.reporting.locations import FileLineCol, file_line_col
from ttmlir.terminal import printable

Severity: TypeAlias = Literal["error", "warning", "remark", "note"]
TAB_STOP = 8
_MAX_QUOTED = 1000
"""Longest part of a source line that is shown, in characters."""
_MAX_MESSAGE = 4 * MAX_SHOWN
CURRENT_OPERATION = "see current operation: "
"""How the note begins that shows an operation; `-verify-diagnostics` does not ask for it."""


@dataclass(frozen=True)
class Diagnostic:
    """A message about a place in the source, with notes about others."""

    severity: Severity
    location: LocationAttr
    message: str
    notes: tuple[Diagnostic, ...] = ()
    show_source: bool = True
    """False prints the message without the source line."""
    line: str | None = None
    """The source line, of a file that is not among the sources."""

    def with_note(self, note: Diagnostic) -> Diagnostic:
        """The same with one more note."""
        return replace(self, notes=(*self.notes, note))

    def without_operation(self) -> Diagnostic:
        """The same without the note that shows the operation."""
        notes = tuple(note for note in self.notes if not note.message.startswith(CURRENT_OPERATION))
        return replace(self, notes=notes)


def note(location: LocationAttr, message: str, *, show_source: bool = True) -> Diagnostic:
    """A note to attach to another diagnostic."""
    return Diagnostic("note", location, message, show_source=show_source)


class DiagnosticError(Exception):
    """Input that is refused; `diagnostics` says where and why."""

    def __init__(self, *diagnostics: Diagnostic):
        """An error with at least one diagnostic."""
        super().__init__(*diagnostics)
        self.diagnostics: Sequence[Diagnostic] = diagnostics

    def __str__(self) -> str:
        """All messages, without source lines and without the texts of operations."""
        short = (diagnostic.without_operation() for diagnostic in self.diagnostics)
        return render_all(short, {}).rstrip("\n")


class LocatedError(DiagnosticError):
    """An error at a location."""

    def __init__(
        self,
        location: LocationAttr,
        message: str,
        notes: Iterable[Diagnostic] = (),
        line: str | None = None,
    ):
        """An error with the bare message; `line` is quoted if the file is not among the sources."""
        super().__init__(Diagnostic("error", location, message, tuple(notes), line=line))


class OpError(DiagnosticError):
    """An error about an operation: the message gets `'dialect.name' op ` before it."""

    def __init__(self, op: Operation, message: str, notes: Iterable[Diagnostic] = ()):
        """An error at the location of `op`."""
        super().__init__(op_diagnostic(op, message, notes))
        self.op = op


_heard: ContextVar[dict[str, Diagnostic] | None] = ContextVar("heard", default=None)


@contextmanager
def listening() -> Generator[dict[str, Diagnostic]]:
    """Collect, by their messages, the warnings that are given inside of the `with` statement."""
    warnings: dict[str, Diagnostic] = {}
    token = _heard.set(warnings)
    try:
        yield warnings
    finally:
        _heard.reset(token)


def warn(warning: Diagnostic) -> None:
    """Give a warning; one message is heard once, at its first place, and lost if nobody listens."""
    warnings = _heard.get()
    if warnings is not None:
        _ = warnings.setdefault(warning.message, warning)


def op_diagnostic(
    op: Operation,
    message: str,
    notes: Iterable[Diagnostic] = (),
    *,
    severity: Severity = "error",
    with_name: bool = True,
) -> Diagnostic:
    """A diagnostic about an operation, in MLIR's form: errors show the operation in a note."""
    text = f"'{op_name(op)}' op {message}" if with_name else message
    shown = (_current_operation(op),) if severity == "error" else ()
    return Diagnostic(severity, op.location, text, (*shown, *notes))


def _current_operation(op: Operation) -> Diagnostic:
    from ttmlir.mlir.printing.printer import DEFAULT_ELISION_LIMIT, PrintOptions, show_op

    options = PrintOptions(
        generic=True,
        local_scope=True,
        skip_regions=True,
        elide_larger_than=DEFAULT_ELISION_LIMIT,
    )
    text = show_op(op, options)
    return note(op.location, CURRENT_OPERATION + text, show_source=False)


def op_name(op: Operation) -> str:
    """The name of an operation as it is written, also of one without a definition."""
    name = op.attributes.get("op_name__")
    return str(getattr(name, "data", op.name))


@dataclass(frozen=True)
class Source:
    """A text that diagnostics quote; `first_line` is the number of its first line."""

    text: str
    first_line: int = 1

    def line(self, number: int) -> str | None:
        """The line with this number, or None."""
        index = number - self.first_line
        if not 0 <= index < len(self._line_ends):
            return None
        start = self._line_ends[index - 1] + 1 if index else 0
        return self.text[start : self._line_ends[index]]

    @cached_property
    def _line_ends(self) -> Sequence[int]:
        """Where each line ends."""
        return [*(match.start() for match in re.finditer("\n", self.text)), len(self.text)]


def render(diagnostic: Diagnostic, sources: Mapping[str, Source], *, coloured: bool = False) -> str:
    """`file:line:col: severity: message`, the source line and a caret; notes follow."""
    place = file_line_col(diagnostic.location)
    lines = [_heading(diagnostic, place, coloured=coloured)]
    source = None if place is None else sources.get(place.file)
    if source is None and place is not None and diagnostic.line is not None:
        source = Source(diagnostic.line, place.line)
    if place is not None and diagnostic.show_source and source is not None:
        quotation = _quotation(source, place.line, place.column)
        lines += quotation[:-1]
        lines += [paint(caret, "caret", coloured=coloured) for caret in quotation[-1:]]
    text = "\n".join(lines) + "\n"
    return text + "".join(render(note, sources, coloured=coloured) for note in diagnostic.notes)


def render_all(
    diagnostics: Iterable[Diagnostic], sources: Mapping[str, Source], *, coloured: bool = False
) -> str:
    """The texts of several diagnostics, on request with the colours of a terminal."""
    return "".join(render(diagnostic, sources, coloured=coloured) for diagnostic in diagnostics)


def _heading(diagnostic: Diagnostic, place: FileLineCol | None, *, coloured: bool) -> str:
    message = printable(_cut_message(diagnostic.message))
    if place is not None:
        where = f"{printable(place.file)}:{place.line}:{place.column}:"
    else:
        where = "<unknown>:0:"
        if not isinstance(diagnostic.location, UnknownLoc):
            from ttmlir.mlir.printing.printer import show_attribute

            message = f"{show_attribute(diagnostic.location)}: {message}"
    severity = paint(f"{diagnostic.severity}:", diagnostic.severity, coloured=coloured)
    return f"{paint(where, 'place', coloured=coloured)} {severity} {message}"


def _cut_message(message: str) -> str:
    """A message without the middle of a very long text, such as a name, that it quotes."""
    if len(message) <= _MAX_MESSAGE:
        return message
    half = _MAX_MESSAGE // 2
    return f"{message[:half]}...{message[-half:]}"


def _quotation(source: Source, line: int, column: int) -> list[str]:
    text = source.line(line)
    if text is None:
        return []
    text = text.rstrip("\r")
    prefix = text.encode("utf-8", "surrogateescape")[: column - 1].decode("utf-8", "ignore")
    return _excerpt(text, len(prefix))


def _excerpt(text: str, position: int) -> list[str]:
    """A line, or what is around a place in a long one, above a caret at that place."""
    first, last = 0, len(text)
    if len(text) > _MAX_QUOTED:
        first = min(max(0, position - _MAX_QUOTED // 2), len(text) - _MAX_QUOTED)
        last = first + _MAX_QUOTED
    before, after = "..." if first else "", "..." if last < len(text) else ""
    shown = before + printable(text[first:last])
    prefix = shown[: len(before) + position - first].expandtabs(TAB_STOP)
    return [shown.expandtabs(TAB_STOP) + after, " " * len(prefix) + "^"]


def _emit_error(self: Operation, message: str, underlying_error: Exception) -> NoReturn:
    if isinstance(underlying_error, DiagnosticException):
        raise OpError(self, bare_message(self, str(underlying_error))) from underlying_error
    raise underlying_error


_MLIR_WORDS = {
    "must be the last operation in its parent block": (
        "must be the last operation in the parent block"
    ),
}
"""Messages of xDSL's traits that MLIR words in another way."""


def bare_message(op: Operation, message: str) -> str:
    """A message of xDSL's without the operation's name that some begin with."""
    for prefix in (f"'{op.name}' op ", f"'{op.name}' ", f"{op.name} ", f"Operation {op.name} "):
        message = message.removeprefix(prefix)
    return _MLIR_WORDS.get(message, message)


Operation.emit_error = _emit_error
