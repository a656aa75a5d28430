"""The example models train, compile, run, and agree with their frameworks."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("sklearn", reason="needs the data set that scikit-learn ships")

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "models"
SCRIPTS = [path for path in sorted(FOLDER.glob("*.py")) if "__main__" in path.read_text("utf-8")]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_model_agrees_with_its_framework(script: Path, tmp_path: Path) -> None:
    """As a user calls it, from another folder; exit status 0 says that results agree."""
    source = script.read_text(encoding="utf-8")
    pytest.importorskip("torch" if "import torch" in source else "jax")
    result = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert result.returncode == 0, result.stdout + result.stderr
    assert "correlation" in result.stdout
    assert len(source.splitlines()) < 80, "an example is one page"
