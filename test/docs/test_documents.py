"""Every command and snippet of the README and the guides works as written."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from running.markdown_blocks import Block, blocks_of, matches
from running.warm_python import Outcome, WarmPython
from running.warm_shell import WarmShell

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
VISIBLE = ("examples", "schema", "test")
"""Folders of the checkout that commands may name."""
TIME_LIMIT = 120


@pytest.fixture(scope="session", name="python")
def start_python() -> Iterator[WarmPython]:
    """Where the Python of documents runs."""
    python = WarmPython()
    yield python
    python.close()


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_blocks_of_document_work(
    document: Path, tmp_path: Path, python: WarmPython, shell: WarmShell
) -> None:
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
        elif block.language in ("bash", "python") and block.option("needs") is None:
            outcome = run(block, tmp_path, python, shell)
            printed = outcome.printed
            expected = int(block.option("exit") or 0)
            assert outcome.returncode == expected, (
                f"{where}: exit status {outcome.returncode}\n{printed}"
            )


def test_every_block_about_cards_works_or_needs_one() -> None:
    """None is for the reader alone; those that need a card say so."""
    blocks = [*blocks_of(ROOT / "docs" / "card.md")]
    assert {block.option("needs") for block in blocks} == {None, "card"}
    for block in blocks:
        assert block.language != "text" or "output" in block.words, f"card.md:{block.line}"


def run(block: Block, folder: Path, python: WarmPython, shell: WarmShell) -> Outcome:
    """Run a block."""
    env = dict(os.environ)
    script = re.fullmatch(r"python (\w+\.py)", block.text.strip())
    if block.language == "python":
        return python.run(block.text, folder, env, TIME_LIMIT)
    if script is not None:
        return python.run_file(script[1], folder, env, TIME_LIMIT)
    result = shell.run(block.text, folder, env, TIME_LIMIT)
    return Outcome(returncode=result.returncode, printed=result.stdout)


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
