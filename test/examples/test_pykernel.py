"""The PyKernel examples run as written, check their own results, and show their cycles."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from running.warm_shell import WarmShell

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples" / "pykernel"

PRINTED = {
    "eltwise_sfpu": r"EltwiseSFPUPyKernelOp: (\d+) cycles, [\d.]+ us, 1 core; .*matching: True\n",
    "vector_add": r"VectorAdd: (\d+) cycles, [\d.]+ us, 4 cores\n",
    "matmul_on_one_core": r"MatmulOp: (\d+) cycles, [\d.]+ us, 1 core\n",
    "matmul_on_many_cores": r"MatmulOp: (\d+) cycles, [\d.]+ us, 12 cores\n",
    "softmax": r"Softmax: (\d+) cycles, [\d.]+ us, 3 cores; largest error \S+\n",
    "control_flow": r"(?:.*\n){7}Report: (\d+) cycles, [\d.]+ us, 1 core\n",
}


def run(shell: WarmShell, name: str) -> str:
    """What an example prints."""
    result = shell.run(f"python -m ttmlir pykernel/{name}.py", EXAMPLES.parent, os.environ, 120)
    assert result.returncode == 0, result.stdout
    return result.stdout


@pytest.mark.parametrize("name", PRINTED)
def test_example(shell: WarmShell, name: str) -> None:
    """It ends well, and says how long it took."""
    found = re.fullmatch(PRINTED[name], run(shell, name))
    assert found is not None
    assert int(found[1]) > 1000


def test_a_core_prints_what_python_does(shell: WarmShell) -> None:
    """The example with every form of control flow."""
    core, _, host = run(shell, "control_flow").partition("Python:\n")
    assert re.sub("^core .*?: ", "", core, flags=re.MULTILINE) == "".join(
        host.splitlines(keepends=True)[:-1]
    )


def test_examples_are_short() -> None:
    """Under 100 lines each."""
    lengths = {path.name: len(path.read_text().splitlines()) for path in EXAMPLES.glob("*.py")}
    assert {name: each for name, each in lengths.items() if each >= 100} == {}
