"""Results are named as mlir-opt names them."""

from __future__ import annotations

import re
from pathlib import Path

from oracles.mlir_opt import mlir_opt, ours

NAMED = (Path(__file__).parents[1] / "Inputs" / "named_results.txt").read_text()


def test_names_of_results() -> None:
    """Each operation whose results have names; we write some of them in the generic form."""
    expected = re.findall(r"^ *(%\S+) =", mlir_opt(NAMED), re.MULTILINE)
    text = ours(mlir_opt(NAMED, "--mlir-print-op-generic"))
    assert re.findall(r"^ *(%\S+) =", text, re.MULTILINE) == expected
    assert len(expected) > 25
