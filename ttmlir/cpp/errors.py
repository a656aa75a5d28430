"""What the C++ printer and the C++ parser raise."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ttmlir.cpp.tree import Position


class CannotEmitError(Exception):
    """A type, attribute or operation that has no C++ form; the message says which."""


class CppSyntaxError(Exception):
    """C++ text that is wrong or outside the subset that kernels are written in.

    The text of the error is complete: `file:line:col: error: ...`, the source line and a caret, and
    a line for each note.
    """

    def __init__(self, message: str, position: Position, line: str, notes: tuple[str, ...] = ()):
        """An error at a position; `line` is the line of the source that it stands in."""
        before = "".join("\t" if char == "\t" else " " for char in line[: position.column - 1])
        main = (f"{position}: error: {message}", line, f"{before}^")
        super().__init__("\n".join((*main, *(f"note: {each}" for each in notes))))
        self.message = message
        self.position = position
        self.line = line
        self.notes = notes

    def with_notes(self, *notes: str) -> CppSyntaxError:
        """The error with further notes: how one gets to its place."""
        return CppSyntaxError(self.message, self.position, self.line, (*self.notes, *notes))
