"""Programs of kernels in `.ttnn` files: times by the simulator, and circular buffers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from samples.generic_modules import generic_module, tiled_type
from samples.generic_programs import exp_program

from ttmlir.compiler import write_ttnn
from ttmlir.cost import estimate_program
from ttmlir.layout.system import board
from ttmlir.mlir.context import make_context
from ttmlir.mlir.reader import parse_module
from ttmlir.program import ProgramDescription
from ttmlir.runtime import BinaryProgram, read_binary
from ttmlir.runtime.execution.executor import GenericRunner, execute
from ttmlir.runtime.execution.prepare import prepare
from ttmlir.runtime.memory import memory_lines, overflow_of, program_memory

SHAPE = (5, 70)
"""Three tiles of float32."""


def program(
    description: ProgramDescription | None = None, shape: tuple[int, ...] = SHAPE
) -> BinaryProgram:
    """Exponentials of three tiles, on two cores."""
    context = make_context({"tt": "ttmlir.dialects.tt:TT", "ttnn": "ttmlir.dialects.ttnn:TTNN"})
    text = generic_module(description or exp_program(3), tiled_type(shape), 1)
    return read_binary(write_ttnn(parse_module(text, "x.mlir", context)), "x.ttnn").program(0)


def test_kernels_take_the_cycles_of_the_simulator() -> None:
    """Those that a run counts, and the bytes of three tiles read and written."""
    made = program()
    prepared = prepare(made)
    runner = GenericRunner.of(prepared)
    execute(prepared, [np.ones(SHAPE, np.float32)], runner=runner)
    [run] = runner.reports
    [row] = [each for each in estimate_program(made).operations if each.programs]
    assert row.name == "ttnn.generic"
    assert row.kernels.mid == run.report.cycles
    assert row.kernels.low < row.kernels.mid < row.kernels.high
    assert row.cores == 2
    assert row.bytes == 2 * 3 * 4096
    assert not row.notes


def test_what_takes_long_to_simulate_is_estimated_by_movement() -> None:
    """And the estimate says why."""
    estimate = estimate_program(program(exp_program(1024), (1024, 1024)))
    [row] = [each for each in estimate.operations if each.programs]
    assert 0 < row.time.mid < 1e6
    assert row.notes == (
        "of a program of kernels only the movement of its tensors is counted: its tensors have "
        "8,388,608 bytes, and 4,194,304 more would be simulated",
    )
    assert row.notes[0] in str(estimate)


def test_kernels_that_do_not_run_are_estimated_by_movement() -> None:
    """Such as those that wait for ever: the estimate has what the simulator says."""
    description = exp_program(3)
    reader, *others = description.kernels
    silent = replace(reader, source="void kernel_main() {}")
    made = estimate_program(program(replace(description, kernels=(silent, *others))))
    [row] = [each for each in made.operations if each.programs]
    assert "only the movement of its tensors is counted: x.ttnn: program 0" in row.notes[0]


def test_circular_buffers_are_in_l1_while_the_program_runs() -> None:
    """Two of two pages of 4 KB each, on both cores."""
    made = program()
    memory = program_memory(made, board("n150").chip(0))
    generic = next(each.index for each in made.operations if each.table == "GenericOp")
    assert memory.l1.peak == memory.l1.circular_buffers == 2 * 2 * 4096
    assert memory.l1.peak_operation == generic
    assert [level for level in memory.l1.by_operation if level] == [16384]
    assert "  16,384 bytes per core: its circular buffers" in memory_lines(memory)


def test_circular_buffers_that_do_not_fit_are_told() -> None:
    """A core of an n150 has less than 1.5 MB."""
    description = exp_program(3)
    large = tuple(replace(each, total_size=300 * 4096) for each in description.circular_buffers)
    made = program(replace(description, circular_buffers=large))
    problem = overflow_of(made, board("n150").chip(0))
    assert problem is not None
    assert "its circular buffers do not fit: with them 2,457,600 bytes" in problem
    assert "give them fewer pages, or keep tensors in DRAM" in problem
