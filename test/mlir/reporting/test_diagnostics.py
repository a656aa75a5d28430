"""How diagnostics look, and how they are compared with what a file expects."""

from __future__ import annotations

import pytest
from oracles.mlir_opt import mlir_opt
from xdsl.dialects.builtin import UNKNOWN_LOC, CallSiteLoc, FusedLoc, NoneAttr
from xdsl.utils.exceptions import VerifyException

from ttmlir.mlir.context import make_context
from ttmlir.mlir.reader import parse_module
from ttmlir.mlir.reporting import (
    Diagnostic,
    DiagnosticError,
    LocatedError,
    OpError,
    Source,
    file_location,
    fused_location,
    mismatches,
    name_location,
    note,
    render,
    render_all,
)
from ttmlir.mlir.text_files import Chunk
from ttmlir.mlir.verifier import verify_module

FILE = "f.mlir"


def error(line: int, message: str) -> Diagnostic:
    """An error at the start of a line."""
    return Diagnostic("error", file_location(FILE, line, 1), message)


def test_rendered_with_source_line_and_caret() -> None:
    """Heading, line, caret; notes after it; tabs count to the next multiple of eight."""
    diagnostic = error(2, "wrong").with_note(note(file_location(FILE, 1, 3), "because"))
    source = Source("  first\n\tsecond\n")
    assert render(diagnostic, {FILE: source}) == (
        "f.mlir:2:1: error: wrong\n        second\n^\nf.mlir:1:3: note: because\n  first\n  ^\n"
    )
    tabbed = Diagnostic("warning", file_location(FILE, 2, 2), "w")
    assert render(tabbed, {FILE: source}).split("\n")[2] == " " * 8 + "^"


@pytest.mark.parametrize(
    ("location", "heading"),
    [
        (UNKNOWN_LOC, "<unknown>:0: error: m"),
        (name_location("n"), '<unknown>:0: error: loc("n"): m'),
        (name_location("n", file_location("g", 4, 5)), "g:4:5: error: m"),
        (FusedLoc((name_location("a"), file_location("g", 6, 7)), NoneAttr()), "g:6:7: error: m"),
        (CallSiteLoc(file_location("g", 8, 9), UNKNOWN_LOC), "g:8:9: error: m"),
    ],
)
def test_heading_of_every_location(location, heading: str) -> None:
    """The first place in a file is shown; without one, the location itself."""
    assert render(Diagnostic("error", location, "m"), {}) == heading + "\n"


def test_fused_location_drops_what_says_nothing() -> None:
    """Duplicates and unknown locations are dropped; one location stays alone."""
    a, b = name_location("a"), name_location("b")
    assert fused_location([a, UNKNOWN_LOC, a]) == a
    assert fused_location([a, b, a]) == FusedLoc((a, b), NoneAttr())
    assert fused_location([UNKNOWN_LOC]) is UNKNOWN_LOC


def test_error_about_an_operation_names_it() -> None:
    """`OpError` gives name, place and text of the operation; its short form leaves the text out."""
    op = next(iter(parse_module("\n%0 = tensor.empty() : tensor<i8>", FILE, make_context()).ops))
    raised = OpError(op, "is not wanted", [note(UNKNOWN_LOC, "a note")])
    (diagnostic,) = raised.diagnostics
    assert render(diagnostic, {}).split("\n") == [
        "f.mlir:2:6: error: 'tensor.empty' op is not wanted",
        'f.mlir:2:6: note: see current operation: %0 = "tensor.empty"() : () -> tensor<i8>',
        "<unknown>:0: note: a note",
        "",
    ]
    assert "see current" not in str(raised)


def test_xdsl_errors_do_not_print_the_module() -> None:
    """xDSL's own way to report becomes an error about the operation; mistakes pass through."""
    op = next(iter(parse_module("%0 = tensor.empty() : tensor<i8>", FILE, make_context()).ops))
    with pytest.raises(OpError, match=r"'tensor\.empty' op says so"):
        op.emit_error("Operation does not verify: says so", VerifyException("says so"))
    with pytest.raises(KeyError):
        op.emit_error("Error while applying pattern: x", KeyError("x"))


def compare(text: str, *diagnostics: Diagnostic, first_line: int = 1) -> list[str]:
    """The differences as `line:column: message`."""
    found = mismatches(Chunk(text, first_line), FILE, diagnostics)
    return [str(DiagnosticError(each)).replace("f.mlir:", "") for each in found]


@pytest.mark.parametrize(
    "text",
    [
        "x // expected-error {{is wrong}}",
        "// expected-error @+1 {{is wrong}}\nx",
        "// expected-error@below {{is wrong}}\nx",
        "// expected-error@below {{is}}\n// unrelated expected-note@below {{n}}\nx",
        "x\n// expected-error @-1 {{is wrong}}",
        "x\n// expected-error @above {{is wrong}}",
        "x // expected-error-re {{this {{i.}} wrong}}",
        "x // expected-error-re {{{{^}}this is}}",
    ],
)
def test_expected_diagnostic(text: str) -> None:
    """Every way to name the line, and regular expressions."""
    line = text.split("\n").index(next(row for row in text.split("\n") if row[0] == "x")) + 1
    notes = [note(file_location(FILE, line, 1), "n")] if "note" in text else []
    diagnostic = error(line, "this is wrong")
    for each in notes:
        diagnostic = diagnostic.with_note(each)
    assert compare(text, diagnostic) == []


@pytest.mark.parametrize(
    ("text", "diagnostics", "differences"),
    [
        ("x", [error(1, "m")], ["1:1: error: unexpected error: m"]),
        (
            "x // expected-error {{other}}",
            [error(1, "m")],
            [
                "1:1: error: unexpected error: m",
                '1:6: error: expected error "other" was not produced',
            ],
        ),
        (
            "x // expected-warning {{m}}",
            [error(1, "m")],
            [
                "1:1: error: 'error' diagnostic emitted when expecting a 'warning'",
                '1:6: error: expected warning "m" was not produced',
            ],
        ),
        (
            "x // expected-error {{m}}",
            [error(1, "m"), error(1, "m")],
            ["1:1: error: unexpected error: m"],
        ),
        (
            "x // expected-error-re {{a{{b}}",
            [],
            ["1:6: error: found start of regex with no end '}}'"],
        ),
        ("x // expected-error-re {{a{{}}}}", [], ["1:6: error: found empty regex"]),
        (
            "// expected-remark @below {{m}}",
            [],
            ['1:4: error: expected remark "m" was not produced'],
        ),
    ],
)
def test_differences(text: str, diagnostics: list[Diagnostic], differences: list[str]) -> None:
    """What is missing and what is too much is said at its place."""
    assert compare(text, *diagnostics) == differences


def test_unknown_places_and_parts_of_a_file() -> None:
    """`@unknown` expects no place; lines of a later part are those of the file."""
    nowhere = Diagnostic("error", UNKNOWN_LOC, "m")
    assert compare("// expected-error @unknown {{m}}", nowhere) == []
    assert compare("x // expected-error {{m}}", error(11, "m"), first_line=11) == []
    elsewhere = Diagnostic("error", file_location("other", 1, 1), "m")
    assert len(compare("x // expected-error {{m}}", elsewhere)) == 2


@pytest.mark.parametrize(
    "text",
    [
        "func.func @f() -> i32 {\n  // expected-error @below {{has 0 operands}}\n  return\n}\n",
        "func.func @f() -> i32 {\n  // expected-warning @below {{has 0 operands}}\n  return\n}\n",
        "func.func @f() -> i32 {\n  return // expected-error {{has 1 operands}}\n}\n",
        "func.func @f() {\n  return\n  // expected-error-re @above {{[{{x}}}}\n}\n",
        '%0 = "a.b"() : () -> i8\n%0 = "a.b"() : () -> i8\n'
        "// expected-error @-1 {{redefinition}}\n// expected-note @-3 {{previously}}\n",
    ],
)
def test_verdicts_are_those_of_mlir_opt(text: str) -> None:
    """mlir-opt -verify-diagnostics finds the same differences."""
    try:
        module = parse_module(text, FILE, make_context(allow_unregistered=True))
        diagnostics = verify_module(module)
    except DiagnosticError as raised:
        diagnostics = list(raised.diagnostics)
    theirs = mlir_opt(text, "-verify-diagnostics", file=FILE).split("\n")
    messages = [line.partition(" error: ")[2] for line in theirs if " error: " in line]
    found = mismatches(Chunk(text, 1), FILE, diagnostics)
    assert [diagnostic.message for diagnostic in found] == messages


def test_lines_outside_of_a_source_are_none() -> None:
    """A source may be a part of a file that begins further down."""
    source = Source("a\nb", first_line=5)
    assert [source.line(number) for number in (3, 4, 5, 6, 7)] == [None, None, "a", "b", None]


def test_control_characters_of_a_text_do_not_reach_the_terminal() -> None:
    """Escape sequences in a source line, a message and a file name are shown, not obeyed."""
    location = file_location("a\x1b[2Jb.mlir", 1, 7)
    error = LocatedError(location, "'x\x1b]0;title\x07' is\x9b no \u202ename")
    source = Source('"a.\x1b[31m" ?\t!')
    shown = render_all(error.diagnostics, {"a\x1b[2Jb.mlir": source})
    assert shown.splitlines()[0] == (
        "a\ufffd[2Jb.mlir:1:7: error: 'x\ufffd]0;title\ufffd' is\ufffd no \ufffdname"
    )
    assert shown.splitlines()[1] == '"a.\ufffd[31m" ?     !'
    assert shown.splitlines()[2] == "      ^"
