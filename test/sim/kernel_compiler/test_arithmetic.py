"""Compiled kernels calculate what g++ makes of the same text."""

from __future__ import annotations

from pathlib import Path

import pytest
from kernel_oracle import noted, noted_by_gcc

INPUTS = sorted((Path(__file__).parent / "Inputs").glob("*.cpp"))


@pytest.mark.parametrize("path", INPUTS, ids=lambda path: path.stem)
def test_hand_written_programs(path: Path, tmp_path: Path) -> None:
    """Every number is the one that g++ finds."""
    text = path.read_text()
    assert noted(text) == noted_by_gcc([text], tmp_path)[0]
