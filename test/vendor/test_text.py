"""Modules of Tenstorrent's compiler of 2026: read, verified, and printed byte for byte."""

from __future__ import annotations

import pytest
from answers import Archive

from ttmlir.dialects import DIALECTS
from ttmlir.mlir.chunk_processing import verify as verify_module
from ttmlir.mlir.context import make_context
from ttmlir.mlir.module_printer import print_module
from ttmlir.mlir.reader import parse_module

ARCHIVES = {board: Archive(board) for board in ("p150", "n150")}
"""The answers by board."""
GROUPS = 24
"""So many tests share the programs of an archive."""


def print_again(text: str) -> str:
    """The text of the module that a text spells, which is verified."""
    module = parse_module(text, "module.mlir", make_context(DIALECTS))
    verify_module(module)
    return print_module(module, debuginfo=True)


def group_of(board: str, number: int) -> list[str]:
    """Every `GROUPS`-th program of an archive."""
    return ARCHIVES[board].names()[number::GROUPS]


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("stage", ["ttir", "ttnn", "ttnn_runtime"])
@pytest.mark.parametrize(
    ("board", "number"),
    [
        *(
            ("p150", n) if n < 2 else pytest.param("p150", n, marks=pytest.mark.exhaustive)
            for n in range(GROUPS)
        ),
        ("n150", 0),
    ],
)
def test_modules_are_printed_as_they_were(board: str, number: int, stage: str) -> None:
    """Every module of a stage, with its locations."""
    count = 0
    for name in group_of(board, number):
        text = getattr(ARCHIVES[board][name], stage)
        if text is not None:
            count += 1
            assert print_again(text) == text, name
    assert count
