"""The help of `ttmlir-opt`: every pass and flag in order, with the placeholder of its value."""

from __future__ import annotations

import re

from ttmlir.passes.core.registry import HIDDEN, PASSES, PIPELINES
from ttmlir.tools.opt.help import help_text


def entries(hidden: bool, first: str, last: str | None) -> list[str]:
    """Names of passes in a part of the help."""
    text = help_text("ttmlir-opt", hidden=hidden)
    part = text[text.index(first) : None if last is None else text.index(last)]
    return re.findall(r"^    --([\w-]+)", part, re.MULTILINE)


def test_passes_in_alphabetical_order() -> None:
    """Those that are hidden only where all are asked for."""
    for hidden in (False, True):
        for table, first, last in (
            (PASSES, "    Passes:", "    Pass Pipelines:"),
            (PIPELINES, "    Pass Pipelines:", None),
        ):
            shown = entries(hidden, first, last)
            assert shown == sorted(shown)
            assert {*shown} <= {*table}
            assert hidden or not {*shown} & {*HIDDEN}
            if hidden:
                assert {*table} & {*HIDDEN} <= {*shown}


def test_flags_in_alphabetical_order() -> None:
    """With placeholders: of a value that must be there, one that may be, a letter's, none."""
    text = help_text("ttmlir-opt", hidden=True)
    part = text[text.index("OPTIONS:") : text.index("  Compiler passes to run")]
    found = re.findall(r"^  --([\w-]+)", part, re.MULTILINE)
    assert found == sorted(found)
    assert "  --mlir-timing-display=<value>" in part
    assert "  --split-input-file[=<" in part
    assert "  --mlir-print-ir-before=<string,...>  -" in part
    assert re.search(r"^  --debug  ", part, re.MULTILINE)
    assert "      --region-simplify=<value>        - " in text
    assert "      --fp32-dest-acc-en               - " in text
