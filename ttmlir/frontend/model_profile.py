"""What a compiled model did on a simulated chip: cycles, traffic and waits of each program."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ttmlir.files import write_file
from ttmlir.runtime.compiled_for import chip_of
from ttmlir.runtime.errors import InputError
from ttmlir.runtime.generic.run import simulator_options
from ttmlir.runtime.generic.runner import GenericRunner
from ttmlir.runtime.metal.session import needed_leniencies
from ttmlir.runtime.ttrt.reports.kernel_times import (
    KernelProgram,
    KernelRuns,
    perf_summary,
    trace_of,
)
from ttmlir.runtime.ttrt.running.kernels import run_kernels
from ttmlir.runtime.ttrt.running.program import RunSettings, run_operations
from ttmlir.sim.timing.report import thread_table

if TYPE_CHECKING:
    from ttmlir.runtime.binary import BinaryProgram
    from ttmlir.runtime.element import Array, Numerics


@dataclass(frozen=True)
class ModelProfile:
    """One run of a compiled model; what is counted are its programs of kernels."""

    name: str
    output: Any = field(repr=False)
    """What the call returned."""
    runs: KernelRuns = field(repr=False)

    def __repr__(self) -> str:
        """How long and how much."""
        count = len(self.programs)
        return (
            f"ModelProfile({self.name}: {self.cycles:,} cycles, {self.nanoseconds / 1e3:,.1f} us, "
            f"{count} program{'s' * (count != 1)}, {self.dram_bytes:,} bytes of DRAM)"
        )

    @property
    def programs(self) -> tuple[KernelProgram, ...]:
        """The programs in the order in which they were launched."""
        return self.runs.programs

    @property
    def cycles(self) -> int:
        """Of all programs one after another, without launching them."""
        return self.runs.cycles

    @property
    def nanoseconds(self) -> float:
        """The same in time."""
        return sum(each.times.kernel_ns for each in self.programs)

    @property
    def dram_bytes(self) -> int:
        """Read from and written to DRAM by kernels."""
        return sum(each.dram_bytes for each in self.programs)

    def threads(self) -> str:
        """A table as CSV: for each thread its cycles, and in which calls it waited."""
        return thread_table([each.times for each in self.programs])

    def trace(self) -> str:
        """The timeline, as JSON that chrome://tracing and ui.perfetto.dev show."""
        return trace_of(self.runs)

    def write_trace(self, path: str | Path) -> None:
        """Write the timeline to a file."""
        write_file(path, self.trace().encode())

    def __str__(self) -> str:
        """The programs that take longest, and what binds them."""
        return perf_summary(self.name, [self.runs])


def run_recorded(
    program: BinaryProgram, inputs: list[Array], numerics: Numerics
) -> tuple[list[Array], KernelRuns]:
    """The outputs of a program, and what its kernels did; InputError if it has none."""
    settings = RunSettings(numerics=numerics)
    if program.binary.is_metal:
        options = replace(simulator_options(numerics), leniencies=needed_leniencies(program))
        run = run_kernels(program, inputs, settings, options, record=True)
    else:
        run = run_operations(program, inputs, settings, lambda: None, _make_runner(numerics))
    kernels = KernelRuns.of_run(program, run)
    if kernels is None:
        raise InputError(
            f"{program.where} has no kernels, and NumPy takes no cycles; compile the model with "
            "target='kernels'"
        )
    return run.outputs, kernels


def _make_runner(numerics: Numerics) -> Callable[[BinaryProgram], GenericRunner]:
    """What runs programs of kernels among the operations of a `.ttnn` file."""
    return lambda program: GenericRunner(
        chip_of(program.binary), simulator_options(numerics), record=True
    )
