"""When the flatbuffers package, and NumPy with it, is loaded."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

MODEL = Path(__file__).parents[1] / "models" / "attention.mlir"
PROGRAM = """
import sys
from ttmlir.tools.ttmlir_opt import main
status = main(["--ttir-to-ttnn-backend-pipeline", sys.argv[1]])
loaded = sys.modules.keys() & {"flatbuffers", "numpy"}
sys.exit(f"status {status}, loaded {loaded}")
"""


def test_compiling_text_loads_no_flatbuffers() -> None:
    """ttmlir-opt needs neither package to lower a model for the default system."""
    command = [sys.executable, "-c", PROGRAM, str(MODEL)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert '"ttnn.matmul"' in done.stdout
    assert done.stderr == "status 0, loaded set()\n"
