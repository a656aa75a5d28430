"""What the C++ printer and the C++ parser raise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ttmlir.cpp.tree import Position


class CannotEmitError(Exception):
    """A type, attribute or operation that has no C++ form; the message says which."""


@dataclass(frozen=True)
class CppWarning:
    """Something about a C++ text that is no error."""

    message: str
    position: Position
    line: str
    """The line of the source."""

    def __str__(self) -> str:
        """`file:line:col: warning: ...`, the source line and a caret."""
        return _show("warning", self.message, self.position, self.line)


def _show(severity: str, message: str, position: Position, line: str) -> str:
    before = "".join("\t" if char == "\t" else " " for char in line[: position.column - 1])
    return f"{position}: {severity}: {message}\n{line}\n{before}^"


class CppSyntaxError(Exception):
    """C++ text that is wrong or outside the subset that kernels are written in.

    The text of the error is complete: `file:line:col: error: ...`, the source line and a caret, and
    a line for each note.
    """

    def __init__(self, message: str, position: Position, line: str, notes: tuple[str, ...] = ()):
        """An error at a position; `line` is the line of the source that it stands in."""
        shown = _show("error", message, position, line)
        super().__init__("\n".join((shown, *(f"note: {each}" for each in notes))))
        self.message = message
        self.position = position
        self.line = line
        self.notes = notes
        self.others: tuple[CppSyntaxError, ...] = ()
        """Further errors of the same text, if they were wanted."""

    def with_notes(self, *notes: str) -> CppSyntaxError:
        """The error with further notes: how one gets to its place."""
        return CppSyntaxError(self.message, self.position, self.line, (*self.notes, *notes))
