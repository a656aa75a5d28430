"""The features of C++17 that kernels use: each program notes what g++ finds.

The first line of a program is the title of the feature, the second one says what it covers.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from cpp_page import CHAPTERS
from oracles.kernel_oracle import noted, noted_by_gcc

from ttmlir.cpp.parse import parse
from ttmlir.cpp.render import render

FEATURES = sorted((Path(__file__).parent / "features").glob("*.cpp"))


def test_the_page_shows_every_feature() -> None:
    """docs/cpp.md has a section for each program."""
    shown = sorted(name for names in CHAPTERS.values() for name in names)
    assert shown == [path.stem for path in FEATURES]


@pytest.mark.parametrize("path", FEATURES, ids=lambda path: path.stem)
def test_the_tree_survives_text(path: Path) -> None:
    """What is read can be written, and reads the same."""
    tree = parse(path.read_text(), path.name)
    assert parse(render(tree), path.name) == tree


@pytest.mark.exhaustive
def test_programs_note_what_gcc_finds(tmp_path: Path) -> None:
    """All at once, for the compiler's sake."""
    texts = [path.read_text() for path in FEATURES]
    assert all(text.startswith("// ") and text.split("\n")[1].startswith("// ") for text in texts)
    found = [[int(each) for each in noted(text)] for text in texts]
    assert found == noted_by_gcc(texts, tmp_path)
