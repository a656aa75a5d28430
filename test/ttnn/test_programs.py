"""Programs as people write them, unchanged, as `python -m ttmlir` runs them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PROGRAMS = sorted((Path(__file__).parent / "Inputs").glob("*.py"))
RUN = "import sys; from ttmlir.__main__ import main; [main([path]) for path in sys.argv[1:]]"


def test_programs() -> None:
    """They run, and agree with torch where they ask; in one process, which loads torch once."""
    command = [sys.executable, "-c", RUN, *map(str, PROGRAMS)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert done.returncode == 0
    assert len(PROGRAMS) == 5
