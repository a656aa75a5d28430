"""Runs the programs of kernels of a `.ttnn` file, and keeps what they did."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ttmlir.program.description import ProgramDescription
from ttmlir.runtime.binary import Operation
from ttmlir.runtime.compiled_for import chip_of
from ttmlir.runtime.element import Array
from ttmlir.runtime.execution.prepare import PreparedProgram
from ttmlir.runtime.generic.run import GenericProgram, run_generic, simulator_options
from ttmlir.sim.execution.run import ProgramReport
from ttmlir.sim.machine.chip import SimChip
from ttmlir.sim.options import SimOptions
from ttmlir.sim.timing.timeline import Timeline


@dataclass(frozen=True)
class GenericReport:
    """What the program of kernels of an operation did."""

    operation: Operation
    description: ProgramDescription
    report: ProgramReport
    timeline: Timeline | None

    @property
    def title(self) -> str:
        """The names of its kernels that compute, or of all if none does."""
        return self.description.title


@dataclass
class GenericRunner:
    """Runs programs of kernels one after another, each on a device of its own."""

    chip: SimChip
    options: SimOptions
    print_line: Callable[[str], None] | None = None
    record: bool = False
    """Keep what the threads of kernels do when."""
    reports: list[GenericReport] = field(default_factory=list[GenericReport])

    @classmethod
    def of(cls, prepared: PreparedProgram) -> GenericRunner:
        """For the chip and the numerics of a program."""
        return cls(chip_of(prepared.program.binary), simulator_options(prepared.numerics))

    def run(
        self, operation: Operation, program: GenericProgram, inputs: Sequence[Array]
    ) -> tuple[Array, ...]:
        """The tensors that a program writes."""
        run = run_generic(
            program,
            inputs,
            self.chip,
            self.options,
            print_line=self.print_line,
            record=self.record,
        )
        self.reports.append(GenericReport(operation, program.description, run.report, run.timeline))
        return run.outputs
