"""Places in C++ texts, and the errors about them that the printer and the parser raise."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Self

from ttmlir.errors import KernelError
from ttmlir.terminal import cut_names, excerpt


@dataclass(frozen=True)
class Position:
    """A place in a source; lines and columns count from 1, columns in characters."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        """`file:line:column`."""
        return f"{self.file}:{self.line}:{self.column}"


# --- Source map -----------------------------------------------------------------------------------
# C++ texts that were made from another language, and know from where.
#
# A kernel in Python becomes C++ before it runs; what goes wrong in it is at a line of the Python.

# --- Source map -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class SourceMap:
    """Where the lines of a C++ text come from: all of them from one file."""

    file: str
    positions: tuple[Position, ...]
    """For each line of the C++ text, in order."""
    text: str = field(repr=False, compare=False)
    """The text of the file, to quote from."""
    assertions: tuple[tuple[Position, str], ...] = ()
    """The texts of the file's assertions, by the positions of their conditions."""

    def position(self, line: int) -> Position:
        """The original position of a line of the C++ text, counted from 1."""
        return self.positions[min(line, len(self.positions)) - 1]


class MappedText(str):
    """A C++ text with its map; `name` is what reports call it."""

    name: str
    source_map: SourceMap

    def __new__(cls, text: str, name: str, source_map: SourceMap) -> Self:
        """The text with a map."""
        made = super().__new__(cls, text)
        made.name = name
        made.source_map = source_map
        return made


def map_of(text: str) -> SourceMap | None:
    """The map of a text, if it has one."""
    return text.source_map if isinstance(text, MappedText) else None


# --- Errors ---------------------------------------------------------------------------------------


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
        return _show("warning", cut_names(self.message), self.position, self.line)


def _show(severity: str, message: str, position: Position, line: str) -> str:
    return "\n".join((f"{position}: {severity}: {message}", *excerpt(line, position.column - 1)))


class CppSyntaxError(KernelError):
    """C++ text that is wrong or outside the subset that kernels are written in.

    The text of the error is complete: `file:line:col: error: ...`, the source line and a caret, and
    a line for each note.
    """

    def __init__(self, message: str, position: Position, line: str, notes: tuple[str, ...] = ()):
        """An error at a position; `line` is the line of the source that it stands in."""
        message, notes = cut_names(message), tuple(map(cut_names, notes))
        shown = _show("error", message, position, line)
        super().__init__("\n".join((shown, *(f"note: {each}" for each in notes))))
        self.message = message
        self.position = position
        self.line = line
        self.notes = notes
        self.others: tuple[CppSyntaxError, ...] = ()
        """Further errors of the same text, if they were wanted."""
        self.is_certain = False
        """Whether one of these or this is there whatever the constants of the text are."""

    def with_notes(self, *notes: str) -> CppSyntaxError:
        """The error with further notes: how one gets to its place."""
        return CppSyntaxError(self.message, self.position, self.line, (*self.notes, *notes))


class DifferingError(CppSyntaxError):
    """A text that is read for several processors says something else to some of them."""

    def with_notes(self, *notes: str) -> CppSyntaxError:
        """The same: nobody reads it."""
        return self


# --- Error list -----------------------------------------------------------------------------------
# All errors of a text, not only the first one: what follows from an error before is left out.


class TooManyErrorsError(CppSyntaxError):
    """The list is full; its text is that of the last error."""


class ErrorList:
    """Errors in the order in which they are found, each once."""

    def __init__(self, limit: int, ends: Callable[[str], bool] | None = None) -> None:
        """Nothing is wrong yet; the list holds so many errors, none after a message that `ends`."""
        self.errors = list[CppSyntaxError]()
        self._limit = limit
        self._ends = ends
        self.is_certain = False
        """Whether there are errors whatever the constants of the text are."""
        self._unknown = set[str]()
        """Names whose declarations are wrong."""

    def add(
        self, error: CppSyntaxError, used: Iterable[str] = (), declared: Iterable[str] = ()
    ) -> None:
        """Add the error of a statement that uses and declares some names.

        One that uses what a wrong statement declares is no error of its own. Raises
        TooManyErrorsError if the list is full.
        """
        if isinstance(error, TooManyErrorsError):
            raise error
        follows = not self._unknown.isdisjoint(used)
        self._unknown.update(declared)
        known = any(
            each.position == error.position and each.message == error.message
            for each in self.errors
        )
        if follows or known:
            return
        self.errors.append(error)
        if self._is_last(error) or len(self.errors) >= self._limit:
            raise TooManyErrorsError(error.message, error.position, error.line, error.notes)

    def end_with(self, groups: Iterable[Sequence[CppSyntaxError]]) -> None:
        """Add groups all of whose errors end the list; raises TooManyErrorsError if there are.

        The first of another kind, which makes what comes after it mean something else, is found
        when it is compiled.
        """
        found = list[CppSyntaxError]()
        for group in groups:
            if not all(map(self._is_last, group)):
                self.is_certain = True
                break
            found += group
        if found:
            self.errors += found
            last = found[-1]
            raise TooManyErrorsError(last.message, last.position, last.line, last.notes)

    def _is_last(self, error: CppSyntaxError) -> bool:
        return self._ends is not None and self._ends(error.message)

    def add_note(self, note: str) -> None:
        """Add a note after the last error; an empty one is none."""
        if self.errors and note:
            self.errors[-1] = self.errors[-1].with_notes(note)
