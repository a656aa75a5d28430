"""Binary files with words changed, swapped and copied: an answer or an error, in little memory.

`TTMLIR_MUTANTS=1000` and `TTMLIR_MUTANTS_SEED=7` try more of them, or others.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from running.confinement import confined
from samples.binary_mutations import mutants

from ttmlir.layout.errors import LayoutError
from ttmlir.layout.system.system_tables import system_desc_from_table
from ttmlir.limits import MEMORY_VARIABLE
from ttmlir.runtime import RuntimeFailure, Tensor, open_device, read_binary, submit
from ttmlir.runtime.element import convert
from ttmlir.runtime.metal.program import MetalProgram
from ttmlir.runtime.metal.session import TT_MLIR_LENIENCIES, execute
from ttmlir.runtime.ttrt.running.inputs import generate_inputs
from ttmlir.schema.errors import FlatbufferError
from ttmlir.schema.system_desc import load_system_desc
from ttmlir.sim.options import SimOptions

TEST_ROOT = Path(__file__).resolve().parents[1]
SOURCES = sorted(path for path in (TEST_ROOT / "golden").iterdir() if path.suffix[:4] == ".ttm")
SOURCES += sorted((TEST_ROOT / "golden").glob("*.tt[ns]*"))
SEED = "TTMLIR_MUTANTS_SEED"
GIB = 0.25
OPTIONS = SimOptions(leniencies=TT_MLIR_LENIENCIES, cycle_limit=200_000)


def use(data: bytes, name: str) -> None:
    """Read a file to its end and run what is in it."""
    if name.endswith(".ttsys"):
        root = load_system_desc(data, name).root
        root.to_json()
        system_desc_from_table(root.system_desc)
        return
    binary = read_binary(data, name)
    binary.view.to_json()
    for program in binary.programs:
        inputs = generate_inputs(program, "randn", np.random.default_rng(0))
        if isinstance(program, MetalProgram):
            values = [
                convert(each, ref.desc.element.compute)
                for each, ref in zip(inputs, program.inputs, strict=True)
            ]
            execute(program, values, OPTIONS)
        else:
            submit(open_device(), binary, program.index, [Tensor.from_numpy(x) for x in inputs])


def check(data: bytes, name: str) -> bool:
    """True if the file was used, False if it was refused in words that name it."""
    try:
        with confined(megabytes=1024, cpu_seconds=20):
            use(data, name)
    except LayoutError:
        return False
    except (RuntimeFailure, FlatbufferError) as error:
        message = str(error)
    else:
        return True
    assert name in message
    return False


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_mutants_are_used_or_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No exception but the runtime's, no gigabytes, no minutes."""
    monkeypatch.setenv(MEMORY_VARIABLE, str(GIB))
    data = path.read_bytes()
    assert check(data, path.name)
    count, seed = int(os.environ.get("TTMLIR_MUTANTS", "60")), os.environ.get(SEED, "1")
    used = [check(mutant, path.name) for mutant in mutants(data, count, int(seed))]
    assert 1 <= sum(used) < len(used)
