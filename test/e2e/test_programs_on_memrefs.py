"""Programs of ttmetal on memrefs, from the module to the file to the simulator, against NumPy."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from samples.metal_examples import EXAMPLES, Example
from xdsl.dialects.builtin import ModuleOp

from ttmlir.dialects.ttcore import DeviceModuleOp
from ttmlir.runtime import Tensor, open_device, read_binary, submit
from ttmlir.runtime.metal_program import MetalProgram
from ttmlir.runtime.metal_session import MetalGolden, MetalRun, execute
from ttmlir.sim.options import SimOptions
from ttmlir.target.flatbuffer.ttmetal import ttmetal_to_flatbuffer


@cache
def example(name: str) -> tuple[Example, MetalProgram]:
    """An example and the only program of its file."""
    made = EXAMPLES[name]()
    [program] = read_binary(ttmetal_to_flatbuffer(made.module), f"{name}.ttm").programs
    assert isinstance(program, MetalProgram)
    return made, program


def run(name: str, options: SimOptions) -> tuple[MetalRun, Example]:
    """A run of an example, whose kernels need no leniency."""
    made, program = example(name)
    return execute(program, made.inputs(), options), made


@pytest.mark.parametrize("seed", [None, 1, 2])
@pytest.mark.parametrize("name", EXAMPLES)
def test_exact_results_are_numpys(name: str, seed: int | None) -> None:
    """In any order of the threads, with copies at their barriers, and clean under the sanitizer."""
    options = SimOptions(numerics="exact", schedule_seed=seed, delay_copies=seed == 2)
    result, made = run(name, options)
    expected = made.reference(*made.inputs())
    # Sums of 150 products of numbers in f32, and of two of 8 bits in bf16.
    for output, numbers in zip(result.outputs, expected, strict=True):
        assert output.shape == numbers.shape
        np.testing.assert_allclose(output, numbers, rtol=1e-5, atol=1e-5)
    assert not [finding for each in result.reports for finding in each.report.findings]


@pytest.mark.parametrize("name", EXAMPLES)
def test_device_results_are_near(name: str) -> None:
    """As the chip rounds."""
    result, made = run(name, SimOptions(numerics="device"))
    for output, numbers in zip(result.outputs, made.reference(*made.inputs()), strict=True):
        largest = np.abs(numbers).max()
        assert np.abs(output - numbers).max() <= made.tolerance * largest
    assert result.cycles > 0


@pytest.mark.parametrize("name", EXAMPLES)
def test_golden_runs_agree(name: str) -> None:
    """The references in the file say what the kernels compute, program by program."""
    made, program = example(name)
    golden = MetalGolden(program, made.inputs(), keep_tensors=True)
    result = execute(program, made.inputs(), SimOptions(numerics="exact"), observer=golden)
    assert len(golden.results) == len(result.reports)
    assert all(each.passed for each in golden.results)
    numbers = made.reference(*made.inputs())[-1]
    last = golden.results[-1].golden
    assert last is not None
    np.testing.assert_allclose(last, numbers, rtol=1e-12, atol=1e-12)


def test_programs_run_on_tensors_of_the_runtime() -> None:
    """Host tensors have their own shape, whatever padding the program gives them."""
    made = EXAMPLES["multicast_matmul"]()
    binary = read_binary(ttmetal_to_flatbuffer(made.module), "matmul.ttm")
    inputs = [Tensor.from_numpy(each) for each in made.inputs()]
    [result] = submit(open_device(), binary, 0, inputs)
    np.testing.assert_allclose(result.to_numpy(), made.reference(*made.inputs())[0], rtol=1e-5)


def test_modules_of_the_device_are_found() -> None:
    """Functions and the system stand in the module of a `ttcore.device_module`."""
    made = EXAMPLES["exp_on_shards"]()
    inner = made.module
    outer = ModuleOp([DeviceModuleOp.of(inner)])
    outer.verify()
    binary = read_binary(ttmetal_to_flatbuffer(outer), "exp.ttm")
    [program] = binary.programs
    assert isinstance(program, MetalProgram)
    [output] = execute(program, made.inputs(), SimOptions(numerics="exact")).outputs
    np.testing.assert_allclose(output, made.reference(*made.inputs())[0], rtol=1e-5)


def test_files_are_the_same_each_time() -> None:
    """Equal modules give equal bytes."""
    first, second = (ttmetal_to_flatbuffer(EXAMPLES["sums_of_rows"]().module) for _ in range(2))
    assert first == second
