"""Runs a program of kernels on the simulator, with the reference of its operations beside it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from ttmlir.runtime.binary import BinaryProgram
from ttmlir.runtime.element import Array, convert
from ttmlir.runtime.metal.golden import MetalGolden
from ttmlir.runtime.metal.program import Command, MetalProgram
from ttmlir.runtime.metal.session import MetalRun, execute
from ttmlir.runtime.ttrt.running.program import ProgramRun, RunSettings
from ttmlir.sim.options import SimOptions


def run_kernels(
    program: BinaryProgram,
    inputs: list[Array],
    settings: RunSettings,
    options: SimOptions,
    *,
    print_line: Callable[[str], None] | None = None,
    record: bool = False,
) -> ProgramRun:
    """Run a program of a `.ttm` file.

    `print_line` takes what kernels print; `record` keeps what their threads did when.
    """
    assert isinstance(program, MetalProgram), "the program is one of a .ttm file"
    values = [
        convert(array, ref.desc.element.compute)
        for array, ref in zip(inputs, program.inputs, strict=True)
    ]
    golden = None
    if settings.golden:
        keep = settings.keep_golden
        golden = MetalGolden(program, values, settings.tolerance, keep_tensors=keep)
    durations: list[int] = []
    run: MetalRun | None = None
    for number in settings.runs():
        start = time.perf_counter_ns()
        run = execute(
            program,
            values,
            options,
            observer=golden if number == 0 else None,
            pages_of=golden.pages_of if golden is not None and number == 0 else _keep_no_pages,
            print_line=print_line,
            record=record,
        )
        durations.append(time.perf_counter_ns() - start)
    assert run is not None, "there is at least one run"
    outputs = [
        convert(values, ref.desc.element.host)
        for values, ref in zip(run.outputs, program.outputs, strict=True)
    ]
    return ProgramRun(
        inputs=inputs,
        outputs=outputs,
        durations=durations,
        golden=golden,
        peak_bytes={},
        kernels=run,
        details=_details(run),
    )


def _keep_no_pages(command: Command) -> None:
    """Nobody looks at the pages of circular buffers."""


def _details(run: MetalRun) -> dict[str, Any]:
    return {
        "cycles": run.cycles,
        "commands": [
            {"index": each.command.index, "cycles": each.report.cycles} for each in run.reports
        ],
        "findings": [str(f) for each in run.reports for f in each.report.findings],
    }
