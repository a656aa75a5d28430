"""Diagnostics: where they point, how they are shown, and which of them a test expects."""

from __future__ import annotations

import os
import re
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Literal, NamedTuple, NoReturn, TextIO, TypeAlias, TypeVar, cast

from xdsl.dialects.builtin import (
    UNKNOWN_LOC,
    ArrayAttr,
    CallSiteLoc,
    FileLineColLoc,
    FusedLoc,
    IntAttr,
    LocationAttr,
    NameLoc,
    NoneAttr,
    StringAttr,
    UnknownLoc,
)
from xdsl.ir import Attribute, Operation
from xdsl.utils.exceptions import DiagnosticException

from ttmlir.errors import DEBUG_VARIABLE, CompilationError
from ttmlir.mlir.attributes import RangeOfLocations
from ttmlir.mlir.core_prefix import written_name
from ttmlir.mlir.option_values import OptionError
from ttmlir.mlir.quoting import MAX_SHOWN
from ttmlir.mlir.text_files import Chunk
from ttmlir.terminal import cut_middle, excerpt, printable

# --- Locations ------------------------------------------------------------------------------------
# Source locations: what they say, and how to make them.
#
# `ttmlir.ir.rewriting` holds the driver that gives new operations the location of the old.


class FileLineCol(NamedTuple):
    """A place in a file; lines and columns count from 1, columns in bytes."""

    file: str
    line: int
    column: int


def file_line_col(location: Attribute) -> FileLineCol | None:
    """The first place in a file that a location holds, outermost first, or None."""
    for part in _parts(location):
        if isinstance(part, FileLineColLoc):
            return FileLineCol(part.filename.data, part.line.data, part.column.data)
    return None


def name_of(location: Attribute) -> str | None:
    """The first name (`loc("name")`) that a location holds, outermost first, or None."""
    return next((part.desc.data for part in _parts(location) if isinstance(part, NameLoc)), None)


def override_name(location: Attribute) -> str | None:
    """The name under which options pick an operation, or None for an unknown location.

    That is the name of a named location, `caller/callee` for a call site of two names, the first
    of several fused ones, and `file.mlir:12`, without folders, for a place in a file.
    """
    match location:
        case NameLoc():
            return location.desc.data
        case CallSiteLoc():
            names = (name_of(location.caller), name_of(location.callee))
            return "/".join(name for name in names if name is not None) or None
        case FusedLoc():
            first = cast(ArrayAttr[Attribute], location.locations).data[:1]
            return override_name(first[0]) if first else None
        case FileLineColLoc():
            file = re.split(r"[/\\]", location.filename.data)[-1]
            return f"{file}:{location.line.data}"
        case _:
            return None


def _parts(location: Attribute) -> Iterator[Attribute]:
    """A location and those that it is made of, outermost first; what it shares comes once."""
    pending: list[Attribute] = [location]
    seen: set[int] = set()
    while pending:
        current = pending.pop()
        if id(current) in seen:
            continue
        seen.add(id(current))
        yield current
        match current:
            case NameLoc():
                pending.append(current.location)
            case CallSiteLoc():
                pending += (current.caller, current.callee)
            case FusedLoc():
                pending += reversed(cast(ArrayAttr[Attribute], current.locations).data)
            case _:
                pass


@lru_cache(maxsize=1 << 14)
def _number(value: int) -> IntAttr:
    return IntAttr(value)


@lru_cache(maxsize=64)
def _file(name: str) -> StringAttr:
    return StringAttr(name)


def file_location(file: str, line: int, column: int) -> FileLineColLoc:
    """`loc("file":line:column)`."""
    return FileLineColLoc(_file(file), _number(line), _number(column))


def range_location(
    file: str, line: int, column: int, end_line: int, end_column: int
) -> LocationAttr:
    """`loc("file":line:column to end_line:end_column)`; a place alone if it has no extent.

    xDSL's locations have no ranges: both ends are put together.
    """
    start, end = file_location(file, line, column), file_location(file, end_line, end_column)
    return start if start == end else FusedLoc((start, end), RangeOfLocations())


def name_location(name: str, child: LocationAttr | None = None) -> NameLoc:
    """`loc("name")` or `loc("name"(child))`."""
    return NameLoc(StringAttr(name), NoneAttr() if child is None else child)


def fused_location(locations: Sequence[LocationAttr]) -> LocationAttr:
    """The location of something made from several: duplicates and unknown ones are dropped."""
    known = list(dict.fromkeys(loc for loc in locations if loc != UNKNOWN_LOC))
    if not known:
        return UNKNOWN_LOC
    return known[0] if len(known) == 1 else FusedLoc(tuple(known), NoneAttr())


# --- Diagnostics ----------------------------------------------------------------------------------
# Located messages: what a user sees of bad input.
#
#     raise OpError(op, "Input A must be at least a 2D tensor")   # 'ttir.matmul' op Input A ...
#     raise LocatedError(location, "missing system description")   # the message alone
#
# Both are `DiagnosticError`s, which carry one or more `Diagnostic`s; a tool catches
# `DiagnosticError` and prints `render_all(error.diagnostics, sources)`:
#
#     file.mlir:6:8: error: 'ttir.matmul' op Input A must be at least a 2D tensor
#       %1 = "ttir.matmul"(%arg0, %arg1, %0) : ...
#            ^
#
# What is no reason to refuse is said with `warn`, and heard by whoever `listening`s.
#
# Importing this module also replaces xDSL's `Operation.emit_error`, which would print the whole
# module into the message: refusals become `OpError`s, other exceptions pass as they are.

# --- Colours --------------------------------------------------------------------------------------
# Colours of messages on a terminal, as clang has them.

_BOLD, _RED, _GREEN, _BLUE, _MAGENTA, _GREY = "1", "1;31", "1;32", "1;34", "1;35", "1;90"

STYLES = {
    "place": _BOLD,
    "error": _RED,
    "warning": _MAGENTA,
    "remark": _BLUE,
    "note": _GREY,
    "caret": _GREEN,
}
"""Numbers of the terminal's SGR sequence for each part of a message."""


def uses_colour(stream: TextIO, environment: Mapping[str, str] = os.environ) -> bool:
    """True for a terminal that shows colours, unless the user wants none (no-color.org)."""
    is_wanted = not environment.get("NO_COLOR") and environment.get("TERM") != "dumb"
    return is_wanted and stream.isatty()


def paint(text: str, part: str, *, coloured: bool) -> str:
    """A part of a message in its colour; unchanged if there are to be none."""
    return f"\x1b[{STYLES[part]}m{text}\x1b[0m" if coloured else text


# --- Spelling -------------------------------------------------------------------------------------
# Names that a misspelled one may stand for.

LIKE = 0.65
"""Least share of letters that a misspelled name and the right one have in common."""
ALMOST = 0.75
"""Least share of letters that the names of related operations have in common."""

_MOST = 3


def near_names(name: str, known: Iterable[str], similarity: float = LIKE) -> list[str]:
    """The known names of operations that are most like `name`, the nearest first.

    Only what follows the name of the dialect is compared.
    """
    # Only needed for messages.
    import difflib

    by_mnemonic: dict[str, list[str]] = {}
    for each in sorted(known):
        by_mnemonic.setdefault(_mnemonic(each), []).append(each)
    near = difflib.get_close_matches(_mnemonic(name), by_mnemonic, _MOST, similarity)
    return [each for mnemonic in near for each in by_mnemonic[mnemonic]][:_MOST]


def _mnemonic(name: str) -> str:
    return name.partition(".")[2] or name


# --- Diagnostics ----------------------------------------------------------------------------------

Severity: TypeAlias = Literal["error", "warning", "remark", "note"]
TAB_STOP = 8
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
    file: str = ""
    """The file, of a message without a place in a text."""

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


class DiagnosticError(CompilationError):
    """Input that is refused; `diagnostics` says where and why."""

    diagnostics: Sequence[Diagnostic]

    def __init__(self, *diagnostics: Diagnostic):
        """An error with at least one diagnostic."""
        super().__init__(diagnostics=diagnostics)
        # What a copy is made of.
        self.args = diagnostics

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


def refuse_bytes(text: str, file: str, first_line: int = 1) -> None:
    """Raise LocatedError for a byte that is no UTF-8; in a text that was read it is a surrogate."""
    found = None if text.isascii() else re.search("[\udc80-\udcff]", text)
    if found is not None:
        before = text[: found.start()]
        column = len(before[before.rfind("\n") + 1 :].encode()) + 1
        place = file_location(file, first_line + before.count("\n"), column)
        raise LocatedError(
            place, f"expected text in UTF-8, found the byte 0x{ord(found[0]) & 0xFF:02X}"
        )


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
    return Diagnostic(severity, location_of(op), text, (*shown, *notes))


_Kind = TypeVar("_Kind", bound=Operation)


def around(op: Operation, kind: type[_Kind]) -> _Kind | None:
    """The nearest operation of a kind that an operation is in."""
    parent = op.parent_op()
    while parent is not None and not isinstance(parent, kind):
        parent = parent.parent_op()
    return parent


def location_of(op: Operation) -> LocationAttr:
    """Where an operation is; if no file is known, also where its function is called first.

    The functions of a library that JAX calls by name have no lines of their own.
    """
    from xdsl.dialects.func import CallOp, FuncOp

    location, seen = op.location, {op}
    while file_line_col(location) is None:
        function = around(op, FuncOp)
        module = None if function is None else function.parent_op()
        # What is public is called from outside.
        if function is None or module is None or function.sym_visibility is None:
            break
        name = function.sym_name.data
        calls = (each for each in module.walk() if isinstance(each, CallOp))
        call = next((each for each in calls if each.callee.string_value() == name), None)
        if call is None or call in seen:
            break
        seen.add(call)
        op, location = call, CallSiteLoc(location, call.location)
    return location


def _current_operation(op: Operation) -> Diagnostic:
    from ttmlir.mlir.printing import DEFAULT_ELISION_LIMIT, PrintOptions, show_op

    options = PrintOptions(
        generic=True, local_scope=True, skip_regions=True, elide_larger_than=DEFAULT_ELISION_LIMIT
    )
    text = show_op(op, options)
    return note(op.location, CURRENT_OPERATION + text, show_source=False)


def op_name(op: Operation) -> str:
    """The name of an operation as it is written, also of one without a definition."""
    name = op.attributes.get("op_name__")
    return str(getattr(name, "data", written_name(op)))


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
    message = printable(cut_middle(diagnostic.message, _MAX_MESSAGE))
    if place is not None:
        where = f"{printable(place.file)}:{place.line}:{place.column}:"
    elif diagnostic.file:
        where = f"{printable(diagnostic.file)}:"
    else:
        where = "<unknown>:0:"
        if not isinstance(diagnostic.location, UnknownLoc):
            from ttmlir.mlir.printing import show_attribute

            message = f"{show_attribute(diagnostic.location)}: {message}"
    severity = paint(f"{diagnostic.severity}:", diagnostic.severity, coloured=coloured)
    return f"{paint(where, 'place', coloured=coloured)} {severity} {message}"


def _quotation(source: Source, line: int, column: int) -> list[str]:
    text = source.line(line)
    if text is None:
        return []
    text = text.rstrip("\r")
    prefix = text.encode("utf-8", "surrogateescape")[: column - 1].decode("utf-8", "ignore")
    return [shown.expandtabs(TAB_STOP) for shown in excerpt(text, len(prefix))]


def _emit_error(self: Operation, message: str, underlying_error: Exception) -> NoReturn:
    if isinstance(underlying_error, DiagnosticException):
        raise OpError(self, bare_message(self, str(underlying_error))) from underlying_error
    raise underlying_error


_MLIR_WORDS = {
    "must be the last operation in its parent block": (
        "must be the last operation in the parent block"
    )
}
"""Messages of xDSL's traits that MLIR words in another way."""


def bare_message(op: Operation, message: str) -> str:
    """A message of xDSL's without the operation's name that some begin with."""
    for prefix in (f"'{op.name}' op ", f"'{op.name}' ", f"{op.name} ", f"Operation {op.name} "):
        # Some sentences of ttnn begin with the name, which belongs to them.
        if not prefix.startswith("ttnn."):
            message = message.removeprefix(prefix)
    return _MLIR_WORDS.get(message, message)


Operation.emit_error = _emit_error


# --- Expected -------------------------------------------------------------------------------------
# `-verify-diagnostics`: comparing diagnostics with the comments that expect them.
#
#     // expected-error @+1 {{'func.return' op has 0 operands}}
#     return
#
# A comment `expected-error`, `-warning`, `-remark` or `-note` names a line (its own, `@+N`, `@-N`,
# `@above`, `@below`, or no line with `@unknown`) and a part of the message. With `-re`, the parts
# of the text in `{{...}}` are regular expressions. Every diagnostic needs one comment and every
# comment one diagnostic. Consecutive comments count as one line for `@above` and `@below`.
#
# Source of the rules: `SourceMgrDiagnosticVerifierHandler` in mlir/lib/IR/Diagnostics.cpp.

# Few runs read these comments: Python compiles the patterns at their first use.
_DESIGNATOR = (
    r"expected-(?P<severity>error|note|remark|warning)(?P<regex>-re)? *"
    r"(?:@(?P<line>[+-][0-9]{1,9}|above|below|unknown))? *\{\{(?P<text>.*)\}\}$"
)
_REGEX_BLOCK = r"\{\{(.*?)\}\}"


@dataclass
class _Expectation:
    """A comment that expects a diagnostic."""

    severity: str
    text: str
    pattern: re.Pattern[str]
    comment_line: int
    comment_column: int
    line: int | None
    """Where the diagnostic has to be; None: nowhere in particular."""
    is_met: bool = False


def mismatches(chunk: Chunk, file: str, diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """What differs between diagnostics and the comments in a text; empty if nothing does."""
    try:
        expectations = list(_expectations(chunk, file))
    except LocatedError as error:
        return list(error.diagnostics)
    differences: list[Diagnostic] = []
    for diagnostic in diagnostics:
        for each in (diagnostic, *diagnostic.without_operation().notes):
            differences += _match(each, file, expectations)
    differences += [_not_produced(each, file) for each in expectations if not each.is_met]
    return differences


def _expectations(chunk: Chunk, file: str) -> Iterator[_Expectation]:
    lines = chunk.text.split("\n")
    last_plain_line = chunk.first_line
    waiting: list[_Expectation] = []
    for number, line in enumerate(lines, start=chunk.first_line):
        match = re.search(_DESIGNATOR, line.rstrip())
        if match is None:
            for expectation in waiting:
                expectation.line = number
            yield from waiting
            waiting = []
            last_plain_line = number
            continue
        expectation = _expectation(match, file, number, last_plain_line)
        if match["line"] == "below":
            # If nothing follows, the last line is meant.
            expectation.line = chunk.first_line + len(lines) - 1
            waiting.append(expectation)
        else:
            yield expectation
    yield from waiting


def _expectation(match: re.Match[str], file: str, line: int, last_plain: int) -> _Expectation:
    column = len(match.string[: match.start()].encode("utf-8")) + 1
    where = match["line"]
    expected_line: int | None = line
    if where == "unknown":
        expected_line = None
    elif where == "above":
        expected_line = last_plain
    elif where is not None and where != "below":
        expected_line = line + int(where)
    text = match["text"]
    if match["regex"]:
        pattern = _pattern(text, file, line, column)
    else:
        pattern = re.compile(re.escape(text))
    return _Expectation(match["severity"], text, pattern, line, column, expected_line)


def _pattern(text: str, file: str, line: int, column: int) -> re.Pattern[str]:
    """The pattern of a text whose `{{...}}` are regular expressions."""
    location = file_location(file, line, column)
    parts = re.split(_REGEX_BLOCK, text)
    for literal in parts[::2]:
        if "{{" in literal:
            raise LocatedError(location, "found start of regex with no end '}}'")
    if "" in parts[1::2]:
        raise LocatedError(location, "found empty regex")
    pieces = [f"({part})" if index % 2 else re.escape(part) for index, part in enumerate(parts)]
    try:
        return re.compile("".join(pieces))
    except re.error as error:
        raise LocatedError(location, f"invalid regex: {error}") from error


def _match(diagnostic: Diagnostic, file: str, expectations: list[_Expectation]) -> list[Diagnostic]:
    """Take the first comment that expects a diagnostic; the complaint if there is none."""
    place = file_line_col(diagnostic.location)
    line = place.line if place is not None else None
    is_elsewhere = place is not None and place.file != file
    other: _Expectation | None = None
    for each in expectations:
        if is_elsewhere or each.is_met or each.line != line:
            continue
        if each.pattern.search(diagnostic.message) is None:
            continue
        if each.severity == diagnostic.severity:
            each.is_met = True
            return []
        other = other or each
    if other is None:
        message = f"unexpected {diagnostic.severity}: {diagnostic.message}"
    else:
        message = f"'{diagnostic.severity}' diagnostic emitted when expecting a '{other.severity}'"
    return [Diagnostic("error", diagnostic.location, message)]


def _not_produced(expectation: _Expectation, file: str) -> Diagnostic:
    location = file_location(file, expectation.comment_line, expectation.comment_column)
    message = f'expected {expectation.severity} "{expectation.text}" was not produced'
    return Diagnostic("error", location, message)


# --- Internal errors ------------------------------------------------------------------------------
# Mistakes of the project itself, as a user sees them: what went wrong, and that the input is fine.
#
# A tool turns every exception that no user can cause into such a message; the traceback is shown
# only where the environment variable `TTMLIR_DEBUG` is set.


@contextmanager
def reporting_mistakes(activity: str, file: str, line: int) -> Generator[None]:
    """Turn exceptions of the body that are mistakes in this project into diagnostics."""
    try:
        yield
    except (DiagnosticError, OptionError):
        raise
    except Exception as error:
        raise internal_error(file_location(file, line, 1), activity, error) from error


_INTERNAL = "internal error "


def is_internal(error: DiagnosticError) -> bool:
    """True for what `internal_error` made: a mistake in the project, no refusal."""
    return error.diagnostics[0].message.startswith(_INTERNAL)


def internal_error(
    location: LocationAttr,
    activity: str,
    error: BaseException,
    notes: Iterable[Diagnostic] = (),
    culprit: str = "ttmlir",
) -> DiagnosticError:
    """The message for an exception that is a mistake in this project, met during `activity`.

    `culprit` is where the mistake is, which may be a package that extends the project.
    """
    text = f"{type(error).__name__}: {error}".removesuffix(": ")
    ours = note(
        location,
        f"this is a mistake in {culprit}, not in the input; {DEBUG_VARIABLE}=1 shows the traceback",
        show_source=False,
    )
    message = f"{_INTERNAL}{activity}: {text}"
    found = DiagnosticError(Diagnostic("error", location, message, (ours, *notes)))
    found.__cause__ = error
    return found
