"""Texts whose lines have no end: time linear in the text, and messages of a screen."""

from __future__ import annotations

import pytest
from oracles.mlir_opt import FILE
from running.confinement import confined

from ttmlir.dialects import DIALECTS
from ttmlir.mlir.context import make_context
from ttmlir.mlir.reader import ModuleReader, parse_module
from ttmlir.mlir.reporting import DiagnosticError, Source, file_line_col, render_all

MEGABYTE = 1 << 20


def context():
    """A context that keeps unknown operations."""
    return make_context(DIALECTS, allow_unregistered=True)


def message(text: str) -> str:
    """What a tool prints about a text that is refused."""
    with pytest.raises(DiagnosticError) as caught:
        parse_module(text, FILE, context())
    return render_all(caught.value.diagnostics, {FILE: Source(text)})


def test_many_operations_before_a_long_rest_of_a_line() -> None:
    """Each operation is read without looking at all that follows on its line."""
    text = '"a.b"() : () -> () ' * 2000 + "// " + "x" * (20 * MEGABYTE)
    with confined(megabytes=400, cpu_seconds=20):
        assert len(list(parse_module(text, FILE, context()).ops)) == 2000


def test_columns_of_many_positions_in_a_long_line() -> None:
    """Columns in bytes are found without counting from the start of the line each time."""
    text = "// " + "é" * 5 * MEGABYTE + "\n// é"
    reader = ModuleReader(context(), text, FILE)
    with confined(megabytes=100, cpu_seconds=10):
        for position in range(0, 5 * MEGABYTE, 250):
            place = file_line_col(reader.location_at(position + 3))
            assert place is not None
            assert place.column == 4 + 2 * position
    place = file_line_col(reader.location_at(len(text)))
    assert place is not None
    assert (place.line, place.column) == (2, 6)


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("filling", ["x", "é", "\t"])
def test_error_in_a_long_line_shows_what_is_around_it(filling: str) -> None:
    """A line of megabytes is quoted in part, and the caret stands under the place."""
    long = filling * 5 * MEGABYTE
    shown = message(f'"a.b"() {{x = "{long}", yy = ?, z = "{long}"}} : () -> ()')
    heading, line, caret = shown.splitlines()
    assert heading.endswith("error: expected attribute value")
    assert len(shown) < 20_000
    assert line.startswith("...")
    assert line.endswith("...")
    assert line[caret.index("^") :].startswith(" ?, z")


def test_error_at_the_start_of_a_long_line() -> None:
    """The beginning of the line is shown as it is."""
    _, line, caret = message("?" + "x" * MEGABYTE).splitlines()
    assert line == "?" + "x" * 999 + "..."
    assert caret == "^"


def test_error_at_the_end_of_a_long_line() -> None:
    """The end of the line is shown as it is."""
    _, line, caret = message('"a.b"() {x = "' + "x" * MEGABYTE + '"} : (').splitlines()
    assert line.startswith("...x")
    assert line.endswith('x"} : (')
    assert caret.index("^") in (len(line), len(line) - 1)


def test_long_names_are_not_repeated_in_full() -> None:
    """A message that quotes a name of megabytes has its beginning and its end."""
    shown = message('"a.b"() {x = #' + "x" * MEGABYTE + "} : () -> ()")
    assert len(shown) < 50_000
    assert "..." in shown.splitlines()[0]


def test_byte_order_mark_is_named() -> None:
    """A mark at the start of the text, which cannot be seen, is said to be there."""
    assert "error: the text begins with a byte order mark (U+FEFF)" in message("\ufeffmodule {}")
    assert "error: unexpected character" in message("module {}\ufeff")
