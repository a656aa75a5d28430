"""Damaged text is read or refused with a place; nothing else ever happens."""

from __future__ import annotations

import re
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.mlir_opt import FILE

from ttmlir.dialects import DIALECTS
from ttmlir.mlir.context import make_context
from ttmlir.mlir.module_printer import print_module
from ttmlir.mlir.reader import parse_module
from ttmlir.mlir.reporting import DiagnosticError, Source, render_all
from ttmlir.mlir.verifier import verify_module

TEST_ROOT = Path(__file__).parents[2]
FILES = [
    *sorted((TEST_ROOT / "mlir" / "Inputs").glob("*.mlir")),
    *sorted((TEST_ROOT / "models").glob("*.mlir")),
]
LINES = [line for path in FILES for line in path.read_text().splitlines() if line.strip()]
TEXTS = [path.read_text()[:4000] for path in FILES]
FRAGMENTS = [
    *"( ) { } [ ] < > -> : , = % # ! ^ @ - ? * x 1 0x 1.5 é \0 // \\".split(" "),
    *'" %0 #map !t @f ^bb0 99999999999999999999 true unit f32 {-# #-} ... <{ }>'.split(),
    *"loc( dense< affine_map< affine_set< tensor< memref< strided< vector<[ array<i32:".split(),
    *"distinct[ dense_resource< opaque< sparse<".split(),
]


@st.composite
def damaged_texts(draw: st.DrawFn) -> str:
    """A file, or some lines of several, with a few tokens changed."""
    if draw(st.booleans()):
        text = draw(st.sampled_from(TEXTS))
    else:
        text = "\n".join(draw(st.lists(st.sampled_from(LINES), min_size=1, max_size=6)))
    tokens = re.findall(r"\w+|\s+|[^\w\s]", text)
    for _ in range(draw(st.integers(1, 4))):
        where = draw(st.integers(0, max(len(tokens) - 1, 0)))
        count = draw(st.integers(0, 5))
        replacement = draw(st.lists(st.sampled_from(FRAGMENTS), max_size=2))
        source = draw(st.integers(0, max(len(tokens) - 1, 0)))
        copied = tokens[source : source + draw(st.sampled_from([0, 0, 1, 5]))]
        tokens[where : where + count] = [*replacement, *copied]
    return "".join(tokens)


@settings(max_examples=300, deadline=None)
@given(damaged_texts())
def test_damaged_text_is_read_or_refused(text: str) -> None:
    """Any text gives a module that prints and reads back, or errors that can be shown."""
    context = make_context(DIALECTS, allow_unregistered=True)
    sources = {FILE: Source(text)}
    try:
        module = parse_module(text, FILE, context)
    except DiagnosticError as error:
        messages = render_all(error.diagnostics, sources)
    else:
        messages = render_all(verify_module(module), sources)
        if not messages:
            printed = print_module(module)
            assert print_module(parse_module(printed, FILE, context)) == printed
            return
    assert " error: " in messages
