"""The example of ttnn_jit is one kernel launch, and agrees with NumPy."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_cosh() -> None:
    """It runs as its text says, without torch."""
    code = (
        "import runpy, sys; sys.modules['torch'] = None\n"
        "runpy.run_path('examples/jit/cosh.py', run_name='__main__')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    assert re.search(r"cosh is 1 kernel launch of \d+ cycles", done.stdout)
    assert "agrees with NumPy: PCC 0.999" in done.stdout
