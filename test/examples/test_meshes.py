"""The examples of meshes agree with NumPy, and are short."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ttmlir.__main__ import main

ROOT = Path(__file__).resolve().parents[2]
COMPILED = "llama_tensor_parallel"
"""What `test/meshes` runs."""
EXAMPLES = [
    path for path in sorted((ROOT / "examples" / "meshes").glob("*.py")) if path.stem != COMPILED
]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each, run as its text says, agrees, and is read in one go."""
    main([str(path)])
    assert re.search("agrees with NumPy(: PCC 0.99|; )", capsys.readouterr().out)
    assert len(path.read_text(encoding="utf-8").splitlines()) < 100
