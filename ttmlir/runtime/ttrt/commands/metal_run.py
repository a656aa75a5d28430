"""`ttrt run` on `.ttm` files: programs of kernels on the simulator."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, cast

from ttmlir.runtime.binary import Program
from ttmlir.runtime.element import Array, convert
from ttmlir.runtime.errors import InputError
from ttmlir.runtime.golden import Tolerance
from ttmlir.runtime.metal.golden import MetalGolden
from ttmlir.runtime.metal.program import MetalProgram
from ttmlir.runtime.metal.session import TT_MLIR_LENIENCIES, MetalRun, execute
from ttmlir.sim.errors import SimError
from ttmlir.sim.options import SimOptions

if TYPE_CHECKING:
    from ttmlir.runtime.ttrt.commands.run import Run


@dataclass
class MetalResult:
    """What running a program gave."""

    inputs: list[Array]
    outputs: list[Array]
    durations: list[int]
    run: MetalRun
    golden: MetalGolden | None


def run_metal(
    command: Run, program: Program, inputs: list[Array], *, record: bool = False
) -> MetalResult:
    """Run a program as often as the options say; inputs are arrays of the host's types.

    `record` keeps what the threads of kernels did when.
    """
    assert isinstance(program, MetalProgram), "the program is one of a .ttm file"
    options = sim_options(command)
    refs = program.inputs
    values = [
        convert(array, ref.desc.element.compute) for array, ref in zip(inputs, refs, strict=True)
    ]
    golden = None
    if command["golden"] or command["save_golden_tensors"]:
        tolerance = Tolerance(
            pcc=command["pcc"], rtol=command["rtol_allclose"], atol=command["atol_allclose"]
        )
        golden = MetalGolden(
            program, values, tolerance, keep_tensors=command["save_golden_tensors"]
        )
    durations: list[int] = []
    run: MetalRun | None = None
    for loop in range(command["loops"]):
        start = time.perf_counter_ns()
        run = execute(
            program,
            values,
            options,
            observer=golden if loop == 0 else None,
            print_line=command.logger.output,
            record=record,
        )
        durations.append(time.perf_counter_ns() - start)
    assert run is not None, "there is at least one loop"
    outputs = [
        convert(values, ref.desc.element.host)
        for values, ref in zip(run.outputs, program.outputs, strict=True)
    ]
    return MetalResult(inputs, outputs, durations, run, golden)


def sim_options(command: Run) -> SimOptions:
    """The simulator's options; InputError for values that it refuses."""
    lenient: Sequence[str] = command["lenient"]
    try:
        return SimOptions(
            numerics=cast('Literal["exact", "device"]', command["numerics"]),
            sanitize=not command["no_sanitize"],
            schedule_seed=command["schedule_seed"],
            delay_copies=command["delay_copies"],
            cycle_limit=command["cycle_limit"],
            leniencies=frozenset(lenient) if lenient else TT_MLIR_LENIENCIES,
        )
    except SimError as error:
        raise InputError(str(error)) from error


def details_of(result: MetalResult) -> dict[str, Any]:
    """What the results file says about the simulated device."""
    return {
        "cycles": result.run.cycles,
        "commands": [
            {"index": each.command.index, "cycles": each.report.cycles}
            for each in result.run.reports
        ],
        "findings": [str(f) for each in result.run.reports for f in each.report.findings],
    }
