"""Every command and snippet of the README and the guides works as written."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from running.markdown_blocks import Block, blocks_of, matches

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
VISIBLE = ("examples", "schema", "test")
"""Folders of the checkout that commands may name."""
TIME_LIMIT = 120


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_blocks_of_document_work(document: Path, tmp_path: Path) -> None:
    """The blocks of a document run in order, in a folder of their own."""
    for name in VISIBLE:
        (tmp_path / name).symlink_to(ROOT / name)
    printed = ""
    for block in blocks_of(document):
        where = f"{document.name}:{block.line}"
        if "output" in block.words:
            assert matches(block.text, printed), f"{where}: printed instead:\n{printed}"
        elif name := block.option("file"):
            (tmp_path / name).write_text(block.text, encoding="utf-8")
        elif block.language in ("bash", "python"):
            printed = run(block, tmp_path, where)


def run(block: Block, folder: Path, where: str) -> str:
    """Run a block and return what it printed."""
    command = [sys.executable, "-"] if block.language == "python" else ["bash", "-euo", "pipefail"]
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    result = subprocess.run(
        command,
        input=block.text,
        cwd=folder,
        env={**os.environ, "PATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=TIME_LIMIT,
        check=False,
    )
    expected = int(block.option("exit") or 0)
    assert result.returncode == expected, (
        f"{where}: exit status {result.returncode}\n{result.stdout}"
    )
    return result.stdout


@pytest.mark.parametrize(
    ("expected", "printed", "agrees"),
    [
        ("a\nb\n", "a\nb\n", True),
        ("b\n", "a\nb\nc\n", True),
        ("a ... c\n", "a 1\n2 c\n", True),
        ("a\nc\n", "a\nb\nc\n", False),
        ("a.c\n", "abc\n", False),
        ("a\n", "ab\n", False),
    ],
)
def test_expected_output_is_compared_by_line(expected: str, printed: str, agrees: bool) -> None:
    """The lines have to be there as they are; only `...` stands for other text."""
    assert matches(expected, printed) == agrees
