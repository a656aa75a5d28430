"""Inputs of which loops repeat a row, a column or a number: nothing else of their tiles is read."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from ml_dtypes import bfloat16
from running.kernel_runs import run_kernels
from running.pass_runner import lowered
from samples.ttir_text import FunctionText, tensor

from ttmlir.mlir.module_printer import print_module
from ttmlir.runtime import read_binary
from ttmlir.runtime.metal_program import MetalBinary
from ttmlir.runtime.metal_session import execute
from ttmlir.sim.options import SimOptions
from ttmlir.target.flatbuffer.ttmetal import ttmetal_to_flatbuffer

Array = np.ndarray[Any, Any]
ROWS, COLUMNS = 70, 100
VECTORS = {"row": (1, COLUMNS), "col": (ROWS, 1), "scalar": (1, 1)}
MEMORIES = {
    "dram": "default-input-memspace=dram default-output-memspace=dram",
    "l1": "",
}


def numbers(shape: tuple[int, ...], element: str) -> Array:
    """The same each time; those of bf16 are rounded to it."""
    drawn = np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)
    if element == "i32":
        return (drawn * 100).astype(np.int32)
    return drawn.astype(bfloat16).astype(np.float32) if element == "bf16" else drawn


def text_of(mnemonic: str, vector: tuple[int, int], element: str, *, also_whole: bool) -> str:
    """A matrix and a vector; `also_whole`: the vector is returned, too, with twice its value."""
    matrix = tensor(ROWS, COLUMNS, element=element)
    other = tensor(*vector, element=element)
    text = FunctionText([matrix, other])
    results = [text.op(mnemonic, ["%arg0", "%arg1"], matrix)]
    if also_whole:
        results.append(text.op("add", ["%arg1", "%arg1"], other))
    return text.returning(*results)


def sizes_of_reads(text: str, options: str) -> list[int]:
    """Bytes of the transactions that are no whole tiles."""
    module = print_module(lowered(text, f"ttir-to-ttmetal-pipeline={options}"))
    reader = module[module.index("func.func private @reader0") :].partition("\n  }")[0]
    reads = re.findall(r'"ttkernel.noc_async_read"\(%\w+, %\w+, %c(\d+)_i32\)', reader)
    return [int(each) for each in reads]


@pytest.mark.parametrize("element", ["bf16", "f32", "i32"])
@pytest.mark.parametrize("kind", VECTORS)
@pytest.mark.parametrize("memory", MEMORIES)
def test_only_what_is_repeated_is_read(memory: str, kind: str, element: str) -> None:
    """A row is in two faces, a column fills two faces, a number is in the first row of one."""
    text = text_of("multiply", VECTORS[kind], element, also_whole=False)
    element_bytes = 2 if element == "bf16" else 4
    parts = {"row": [16, 16], "col": [256, 256], "scalar": [16]}[kind]
    wanted = [each * element_bytes for each in parts]
    if memory == "l1":
        # The matrix is read as runs of tiles, too.
        assert set(wanted) <= set(sizes_of_reads(text, MEMORIES[memory]))
    else:
        assert sizes_of_reads(text, MEMORIES[memory]) == wanted
    x, y = numbers((ROWS, COLUMNS), element), numbers(VECTORS[kind], element)
    [result] = run_kernels(text, x, y, options=MEMORIES[memory]).outputs
    np.testing.assert_allclose(result, x * y, rtol=2**-7 if element == "bf16" else 1e-6)


@pytest.mark.parametrize("kind", VECTORS)
def test_what_is_read_as_a_whole_elsewhere(kind: str) -> None:
    """The vector is an operand of elementwise loops, as it is: they need all of its tiles."""
    text = text_of("add", VECTORS[kind], "f32", also_whole=True)
    x, y = numbers((ROWS, COLUMNS), "f32"), numbers(VECTORS[kind], "f32")
    first, second = run_kernels(text, x, y, options=MEMORIES["dram"]).outputs
    np.testing.assert_allclose(first, x + y, rtol=1e-6)
    np.testing.assert_allclose(second, y + y, rtol=1e-6)


def test_a_vector_that_is_computed_before_it_is_repeated() -> None:
    """Its tiles are computed as a whole, so they are read as a whole."""
    matrix, definition = tensor(ROWS, COLUMNS), tensor(1, COLUMNS)
    text = FunctionText([matrix, definition])
    root = text.op("abs", ["%arg1"], definition)
    program = text.returning(text.op("add", ["%arg0", root], matrix))
    assert sizes_of_reads(program, MEMORIES["dram"]) == []
    x, y = numbers((ROWS, COLUMNS), "f32"), numbers((1, COLUMNS), "f32")
    [result] = run_kernels(program, x, y, options=MEMORIES["dram"]).outputs
    np.testing.assert_allclose(result, x + np.abs(y), rtol=1e-6)


def layer_norm() -> tuple[str, Callable[..., Array]]:
    """Of rows, with a scale and an offset for each column."""
    matrix, column, definition = (
        tensor(*shape, element="bf16") for shape in ((ROWS, COLUMNS), (ROWS, 1), (1, COLUMNS))
    )
    text = FunctionText([matrix, definition, definition])
    over = "dim_arg = [1 : i32], keep_dim = true"
    mean = text.op("mean", ["%arg0"], column, over)
    centered = text.op("subtract", ["%arg0", mean], matrix)
    square = text.op("multiply", [centered, centered], matrix)
    factor = text.op("rsqrt", [text.op("mean", [square], column, over)], column)
    scaled = text.op("multiply", [text.op("multiply", [centered, factor], matrix), "%arg1"], matrix)

    def expected(x: Array, scale: Array, offset: Array) -> Array:
        centered = x - x.mean(1, keepdims=True)
        return np.asarray(centered / np.sqrt((centered**2).mean(1, keepdims=True)) * scale + offset)

    return text.returning(text.op("add", [scaled, "%arg2"], matrix)), expected


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize(
    "options",
    [
        {"numerics": "exact", "schedule_seed": 1},
        {"numerics": "exact", "schedule_seed": 2, "delay_copies": True},
        {"numerics": "device", "schedule_seed": 3, "delay_copies": True},
    ],
    ids=["seed 1", "late copies", "device"],
)
def test_layer_norm_in_other_schedules(options: dict[str, Any]) -> None:
    """Scale and offset are parts of tiles; deviations are multiplied by the matrix unit."""
    text, expected = layer_norm()
    module = lowered(text, f"ttir-to-ttmetal-pipeline={MEMORIES['dram']}")
    binary = read_binary(ttmetal_to_flatbuffer(module), "norm.ttm")
    assert isinstance(binary, MetalBinary)
    inputs = [numbers((ROWS, COLUMNS), "bf16"), *(numbers((1, COLUMNS), "bf16") for _ in range(2))]
    run = execute(binary.metal_programs[0], inputs, SimOptions(**options))
    assert not [finding for each in run.reports for finding in each.report.findings]
    np.testing.assert_allclose(run.outputs[0], expected(*inputs), rtol=0.03, atol=0.06)
