"""Runs a described program on tensors: NumPy arrays in, NumPy arrays out, cycles beside them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ttmlir.program.description import DescriptionError, ProgramDescription
from ttmlir.runtime.element import Array, Numerics
from ttmlir.runtime.errors import BinaryError, ExecutionError
from ttmlir.runtime.generic.pages import create_buffer, read_tensor, write_tensor
from ttmlir.runtime.generic.sim_program import create_sim_program
from ttmlir.runtime.tensor import TensorDesc
from ttmlir.sim.errors import SimError
from ttmlir.sim.execution.run import ProgramReport, run_program
from ttmlir.sim.machine.buffer import Buffer
from ttmlir.sim.machine.chip import SimChip
from ttmlir.sim.machine.device import SimDevice
from ttmlir.sim.options import SimOptions
from ttmlir.sim.timing.timeline import Timeline


@dataclass(frozen=True)
class GenericRun:
    """What a program left in the tensors that it writes, and what its threads did."""

    outputs: tuple[Array, ...]
    report: ProgramReport
    timeline: Timeline | None = None


@dataclass(frozen=True, kw_only=True)
class GenericProgram:
    """A program on tensors: `descs` are those that it reads, then those that it writes."""

    description: ProgramDescription
    descs: tuple[TensorDesc, ...]
    num_outputs: int
    where: str
    """What messages begin with."""
    kept: tuple[int, ...] = ()
    """Which of the outputs begin with what was written to them before; the others are memory that
    nobody has written."""

    def __post_init__(self) -> None:
        """BinaryError if the program means tensors that are not there."""
        if not 1 <= self.num_outputs <= len(self.descs):
            raise BinaryError(
                f"{self.where}: writes {self.num_outputs} of {len(self.descs)} tensors; a program "
                "writes at least one of its tensors"
            )
        try:
            self.description.check_tensors(len(self.descs))
        except DescriptionError as error:
            raise BinaryError(f"{self.where}: {error}") from None

    @property
    def input_descs(self) -> tuple[TensorDesc, ...]:
        """The tensors that the program is given: those that it reads, then the kept outputs."""
        reads = self.descs[: len(self.descs) - self.num_outputs]
        return (*reads, *(self.output_descs[number] for number in self.kept))

    @property
    def output_descs(self) -> tuple[TensorDesc, ...]:
        """The tensors that the program writes."""
        return self.descs[len(self.descs) - self.num_outputs :]


def simulator_options(numerics: Numerics) -> SimOptions:
    """The simulator's options for the numerics of a run."""
    return SimOptions(numerics="exact" if numerics is Numerics.EXACT else "device")


def run_generic(
    program: GenericProgram,
    inputs: Sequence[Array],
    chip: SimChip,
    options: SimOptions,
    *,
    print_line: Callable[[str], None] | None = None,
    record: bool = False,
) -> GenericRun:
    """Run a program on a device of its own; `record` what its threads do when.

    Inputs are the numbers of `input_descs`, in their compute types. ExecutionError for what the
    simulator refuses.
    """
    device = SimDevice(chip, options, print_line=print_line)
    timeline = Timeline() if record else None
    buffers: list[Buffer] = []
    for number, desc in enumerate(program.descs):
        try:
            buffers.append(create_buffer(device, desc))
        except SimError as error:
            raise ExecutionError(f"{program.where}: tensor {number}: {error.message}") from error
    written = buffers[len(buffers) - program.num_outputs :]
    given = [*buffers[: len(buffers) - len(written)], *(written[each] for each in program.kept)]
    try:
        for buffer, desc, values in zip(given, program.input_descs, inputs, strict=True):
            write_tensor(buffer, desc, values)
        report = run_program(
            device, create_sim_program(program.description, buffers), timeline=timeline
        )
        outputs = tuple(
            read_tensor(buffer, desc)
            for buffer, desc in zip(written, program.output_descs, strict=True)
        )
    except SimError as error:
        raise ExecutionError(f"{program.where}: {error}") from error
    return GenericRun(outputs, report, timeline)
