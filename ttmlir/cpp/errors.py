"""What the C++ printer and the C++ parser raise."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Self

from ttmlir.cpp.tree import (
    Block,
    Evaluate,
    Function,
    FunctionCall,
    Include,
    Item,
    Name,
    Namespace,
    Position,
    TranslationUnit,
)
from ttmlir.errors import KernelError
from ttmlir.layout.enums import ThreadType

# --- Frames ---------------------------------------------------------------------------------------
# What stands around the body of a kernel: its headers, and the way in for each processor.
#
# The frames are those of tt-mlir at 880154e3c2
# (lib/Conversion/TTKernelToEmitC/TTKernelToEmitC.cpp).

ENTRY = "kernel_main"
"""The function that a kernel is."""

HEADERS = {
    ThreadType.NOC: ("dataflow_api.h",),
    ThreadType.TENSIX: (
        "compute_kernel_api/common.h",
        "compute_kernel_api/tilize.h",
        "compute_kernel_api/untilize.h",
        "compute_kernel_api/eltwise_binary.h",
    ),
    ThreadType.ETHERNET: (),
}
"""Headers that every kernel of a thread type includes."""

_COVERED = {
    ThreadType.NOC: ("compute_kernel_api/cb_api.h",),
    ThreadType.TENSIX: (
        "compute_kernel_api/cb_api.h",
        "compute_kernel_api/pack.h",
        "compute_kernel_api/reg_api.h",
        "dataflow_api.h",
    ),
    ThreadType.ETHERNET: (),
}
"""Headers whose calls come with others: `common.h` includes those of compute kernels, and
`dataflow_api.h` declares the calls for circular buffers, too."""

_EVERYWHERE = ("cstdint", "compile_time_args.h")


def frame(
    body: Block, thread: ThreadType, headers: Iterable[str], position: Position | None
) -> TranslationUnit:
    """The source of a kernel; `headers` are those that declare its calls."""
    covered = (*_COVERED[thread], *_EVERYWHERE)
    paths = dict.fromkeys((*HEADERS[thread], *(each for each in headers if each not in covered)))
    includes = (Include("cstdint", standard=True), *map(Include, paths))
    function = Function(ENTRY, definition=body, position=position)
    items: tuple[Item, ...] = (function,)
    if thread is ThreadType.TENSIX:
        # Each of the three compute processors is compiled from this text, in its own namespace.
        main = Function("MAIN", definition=Block((Evaluate(FunctionCall(Name(ENTRY))),)))
        items = (Namespace("NAMESPACE", (function, main)),)
    return TranslationUnit((*includes, *items), position=position)


# --- Source map -----------------------------------------------------------------------------------
# C++ texts that were made from another language, and know from where.
#
# A kernel in Python becomes C++ before it runs; what goes wrong in it is at a line of the Python.

# --- Inclusions -----------------------------------------------------------------------------------
# The sources that a kernel is made of, for messages: lines to quote, and how one gets to them.

_MOST_LISTED = 3


class Inclusions:
    """A kernel and the headers that were read for it, by the names that messages call them."""

    def __init__(self, file: str, text: str, includes: Sequence[Include] = ()) -> None:
        """The kernel itself, and its `#include`s."""
        self.file = file
        self.texts = {file: text}
        self.includes = list[Include]()
        """All `#include`s, those of the kernel first."""
        self.missing = list[Include]()
        """The `#include`s that found nothing, those of the kernel first."""
        self._included_at = dict[str, Position]()
        self._lines = dict[str, list[str]]()
        self._add(includes)

    def _add(self, includes: Sequence[Include]) -> None:
        self.includes += includes
        self.missing += [each for each in includes if each.status == "missing"]
        for each in includes:
            header = each.header
            if header is None or header.file in self.texts:
                continue
            self.texts[header.file] = header.text
            if each.position is not None:
                self._included_at[header.file] = each.position
            self._add(header.includes)

    def line(self, position: Position) -> str:
        """The line of a place; empty if it is in none of the sources."""
        file = position.file
        if file not in self._lines:
            self._lines[file] = self.texts.get(file, "").split("\n")
        lines = self._lines[file]
        return lines[position.line - 1].rstrip("\r") if 0 < position.line <= len(lines) else ""

    def notes(self, file: str) -> tuple[str, ...]:
        """How one gets from the kernel to a header; nothing for the kernel."""
        found = list[str]()
        while file in self._included_at:
            position = self._included_at[file]
            found.append(f"in file included from {position}")
            file = position.file
        return tuple(found)

    def describe_missing(self) -> str:
        """Where else a name may come from, to follow a message; empty if all headers were found."""
        missing = self.missing
        if not missing:
            return ""
        listed = ", ".join(map(self._describe, missing[:_MOST_LISTED]))
        more = " and others" if missing[_MOST_LISTED:] else ""
        found = "which was not found" if len(missing) == 1 else "which were not found"
        reasons = {each.reason: None for each in missing if each.reason}
        why = f" ({'; '.join(reasons)})" if reasons else ""
        folders = "its folder" if len(missing) == 1 else "their folders"
        advice = f"give {folders} with -I or include_folders"
        return f"; it may come from {listed}{more}, {found}{why}: {advice}"

    def _describe(self, include: Include) -> str:
        position = include.position
        if position is None:
            return f"'{include.path}'"
        line = f"line {position.line}"
        where = line if position.file == self.file else f"{line} of {position.file}"
        return f"'{include.path}' ({where})"


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
        return _show("warning", self.message, self.position, self.line)


def _show(severity: str, message: str, position: Position, line: str) -> str:
    before = "".join("\t" if char == "\t" else " " for char in line[: position.column - 1])
    return f"{position}: {severity}: {message}\n{line}\n{before}^"


class CppSyntaxError(KernelError):
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


# --- Error list -----------------------------------------------------------------------------------
# All errors of a text, not only the first one: what follows from an error before is left out.


class TooManyErrorsError(CppSyntaxError):
    """The list is full; its text is that of the last error."""


class ErrorList:
    """Errors in the order in which they are found, each once."""

    def __init__(self, limit: int) -> None:
        """Nothing is wrong yet; the list holds so many errors."""
        self.errors = list[CppSyntaxError]()
        self._limit = limit
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
        if len(self.errors) >= self._limit:
            raise TooManyErrorsError(error.message, error.position, error.line, error.notes)

    def add_note(self, note: str) -> None:
        """Add a note after the last error; an empty one is none."""
        if self.errors and note:
            self.errors[-1] = self.errors[-1].with_notes(note)
