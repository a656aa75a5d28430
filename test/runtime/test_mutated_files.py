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
from samples.control_programs import calling, function, goes_on, packed
from samples.generic_modules import generic_module, tiled_type
from samples.generic_programs import exp_program
from samples.metal_examples import EXAMPLES

from ttmlir.compiler import write_ttnn
from ttmlir.errors import Error
from ttmlir.layout.errors import LayoutError
from ttmlir.layout.system import system_desc_from_table
from ttmlir.limits import ITERATIONS_VARIABLE, MEMORY_VARIABLE
from ttmlir.mlir.context import make_context
from ttmlir.mlir.reader import parse_module
from ttmlir.runtime import Tensor, open_device, read_binary, submit
from ttmlir.runtime.binary import chip_of
from ttmlir.runtime.execution.executor import GenericRunner
from ttmlir.runtime.execution.executor import execute as execute_operations
from ttmlir.runtime.execution.prepare import prepare
from ttmlir.runtime.metal_program import MetalProgram
from ttmlir.runtime.metal_session import TT_MLIR_LENIENCIES, MetalGolden, execute
from ttmlir.runtime.tensor import convert
from ttmlir.runtime.ttrt.running import generate_inputs
from ttmlir.schema.types import FlatbufferError
from ttmlir.schema.versions import load_system_desc
from ttmlir.sim.options import SimOptions
from ttmlir.target.flatbuffer.ttmetal import ttmetal_to_flatbuffer

TEST_ROOT = Path(__file__).resolve().parents[1]
SOURCES = sorted(path for path in (TEST_ROOT / "golden").iterdir() if path.suffix[:4] == ".ttm")
SOURCES += sorted((TEST_ROOT / "golden").glob("*.tt[ns]*"))
SEED = "TTMLIR_MUTANTS_SEED"
GIB = 0.25
CONTEXT = make_context({"tt": "ttmlir.dialects.tt:TT", "ttnn": "ttmlir.dialects.ttnn:TTNN"})
KERNEL_OPTIONS = SimOptions(cycle_limit=200_000)
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
            execute(program, values, OPTIONS, observer=MetalGolden(program, list(values)))
        elif any(each.table == "GenericOp" for each in program.operations):
            prepared = prepare(program)
            values = [
                convert(each, ref.desc.element.compute)
                for each, ref in zip(inputs, program.inputs, strict=True)
            ]
            runner = GenericRunner(chip_of(binary), KERNEL_OPTIONS)
            execute_operations(prepared, values, runner=runner)
        else:
            submit(open_device(), binary, program.index, [Tensor.from_numpy(x) for x in inputs])


def check(data: bytes, name: str) -> bool:
    """True if the file was used, False if it was refused in words that name it."""
    try:
        with confined(megabytes=1024, cpu_seconds=20):
            use(data, name)
    except LayoutError:
        return False
    except (Error, FlatbufferError) as error:
        message = str(error)
    else:
        return True
    assert name in message
    return False


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_mutants_are_used_or_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No exception but the runtime's, no gigabytes, no minutes."""
    monkeypatch.setenv(MEMORY_VARIABLE, str(GIB))
    check_mutants(path.read_bytes(), path.name)


def test_mutants_with_kernels_are_used_or_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither do programs of kernels among other operations ask for more."""
    monkeypatch.setenv(MEMORY_VARIABLE, str(GIB))
    module = parse_module(generic_module(exp_program(3), tiled_type((5, 70))), "x.mlir", CONTEXT)
    check_mutants(write_ttnn(module), "exp.ttnn")


def test_mutants_of_programs_on_memrefs_are_used_or_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Buffers in blocks, described kernels and references of several operations."""
    monkeypatch.setenv(MEMORY_VARIABLE, str(GIB))
    check_mutants(ttmetal_to_flatbuffer(EXAMPLES["sums_of_rows"]().module), "sums.ttm")


def test_mutants_of_loops_are_used_or_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers of functions and iterations that are changed."""
    monkeypatch.setenv(MEMORY_VARIABLE, str(GIB))
    monkeypatch.setenv(ITERATIONS_VARIABLE, "100")
    functions = function("f"), goes_on(), calling("inner", 0)
    check_mutants(packed(*functions, body=2, condition=1, trip_count=5), "loops.ttnn")


def check_mutants(data: bytes, name: str) -> None:
    """The file is used, of its mutants some are and some are refused."""
    assert check(data, name)
    count, seed = int(os.environ.get("TTMLIR_MUTANTS", "60")), os.environ.get(SEED, "1")
    used = [check(mutant, name) for mutant in mutants(data, count, int(seed))]
    assert 1 <= sum(used) < len(used)
