"""`-verify-diagnostics`: comparing diagnostics with the comments that expect them.

    // expected-error @+1 {{'func.return' op has 0 operands}}
    return

A comment `expected-error`, `-warning`, `-remark` or `-note` names a line (its own, `@+N`, `@-N`,
`@above`, `@below`, or no line with `@unknown`) and a part of the message. With `-re`, the parts of
the text in `{{...}}` are regular expressions. Every diagnostic needs one comment and every comment
one diagnostic. Consecutive comments count as one line for `@above` and `@below`.

Source of the rules: `SourceMgrDiagnosticVerifierHandler` in mlir/lib/IR/Diagnostics.cpp.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ttmlir.mlir.files.text_files import Chunk
from ttmlir.mlir.reporting.diagnostics import Diagnostic, LocatedError
from ttmlir.mlir.reporting.locations import file_line_col, file_location

_DESIGNATOR = re.compile(
    r"expected-(?P<severity>error|note|remark|warning)(?P<regex>-re)? *"
    r"(?:@(?P<line>[+-][0-9]{1,9}|above|below|unknown))? *\{\{(?P<text>.*)\}\}$"
)
_REGEX_BLOCK = re.compile(r"\{\{(.*?)\}\}")


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
        match = _DESIGNATOR.search(line.rstrip())
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
    parts = _REGEX_BLOCK.split(text)
    for literal in parts[::2]:
        if "{{" in literal:
            raise LocatedError(location, "found start of regex with no end '}}'")
    if "" in parts[1::2]:
        raise LocatedError(location, "found empty regex")
    pieces = [f"({part})" if index % 2 else re.escape(part) for index, part in enumerate(parts)]
    try:
        return re.compile("".join(pieces))
    except re.error as error:
        raise LocatedError(location, f"invalid regex: {error}") from None


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
