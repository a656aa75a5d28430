"""The ttnn examples agree with NumPy, without torch, and are short."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "examples" / "ttnn").glob("*.py"))


@pytest.mark.parametrize("name", ["feed_forward", "attention"])
def test_examples(name: str) -> None:
    """An example, run as its text says, agrees and shows its cycles; it needs no torch."""
    code = (
        "import sys; sys.modules['torch'] = None\n"
        f"from ttmlir.__main__ import main; main(['examples/ttnn/{name}.py'])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    assert "agrees with NumPy: PCC 0.99" in done.stdout
    cycles = re.search(r"took (\d+) cycles on one core", done.stdout)
    assert cycles is not None
    assert int(cycles[1]) > 1000


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_are_short(path: Path) -> None:
    """Each is read in one go."""
    assert len(path.read_text(encoding="utf-8").splitlines()) < 100
