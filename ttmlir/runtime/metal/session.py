"""Runs the commands of a `.ttm` program on a simulated device.

    run = execute(program, inputs, SimOptions(numerics="exact"))
    print(run.outputs[0], run.cycles)

Every run begins with a device of its own, whose memory nobody has written but for the inputs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from ttmlir.files import safe_file_name
from ttmlir.layout.enums import MemorySpace, TensorMemoryLayout
from ttmlir.optable.kernel import Role
from ttmlir.program.description import ProgramDescription
from ttmlir.runtime.binary import BinaryProgram
from ttmlir.runtime.element import Array, Numerics, convert
from ttmlir.runtime.errors import BinaryError, ExecutionError, UnsupportedError
from ttmlir.runtime.generic.sim_program import create_sim_program
from ttmlir.runtime.metal.blocks import BlockPlacement
from ttmlir.runtime.metal.program import (
    CREATE,
    DEALLOCATE,
    PROGRAM,
    READ,
    WRITE,
    CircularBufferDesc,
    Command,
    KernelDesc,
    MetalBinary,
    MetalProgram,
    MetalTensor,
)
from ttmlir.runtime.tensor import Tensor
from ttmlir.sim.calls.compute_api import ComputeSettings
from ttmlir.sim.errors import SimError
from ttmlir.sim.execution.page_log import PageLog
from ttmlir.sim.execution.program import CircularBufferSpec, Kernel
from ttmlir.sim.execution.program import Program as KernelProgram
from ttmlir.sim.execution.run import ProgramReport, run_program
from ttmlir.sim.machine.buffer import Buffer, Sharding
from ttmlir.sim.machine.device import SimDevice
from ttmlir.sim.options import SimOptions
from ttmlir.sim.timing.timeline import Timeline


@dataclass(frozen=True)
class CommandReport:
    """What a program on the device did."""

    command: Command
    report: ProgramReport
    timeline: Timeline | None = None
    """What its threads did when, if that was recorded."""


@dataclass
class MetalRun:
    """A run of a program; `reports` has one entry for each program of kernels."""

    outputs: list[Array]
    reports: list[CommandReport] = field(default_factory=list[CommandReport])

    @property
    def cycles(self) -> int:
        """Cycles of all programs one after another, without launching them; 0 without clocks."""
        return sum(each.report.cycles for each in self.reports)


class Observer(Protocol):
    """Sees a run after every command."""

    def after(self, session: Session, command: Command) -> None:
        """Called when the command is done."""
        ...


class Session:
    """A device and the tensors on it while a program runs."""

    def __init__(
        self,
        program: MetalProgram,
        options: SimOptions,
        *,
        print_line: Callable[[str], None] | None = None,
        record: bool = False,
        pages_of: Callable[[Command], PageLog | None] = lambda _: None,
    ) -> None:
        """A device that nothing has run on; `record` what the threads of kernels do when.

        `pages_of` gives what keeps the pages that a command's kernels hand over.
        """
        self._pages_of = pages_of
        assert isinstance(program.binary, MetalBinary), "the program is one of a .ttm file"
        self.program = program
        self.device = SimDevice(program.binary.chip, options, print_line=print_line)
        self._record = record
        self.reports: list[CommandReport] = []
        self._host: dict[int, Array] = {}
        self._buffers: dict[int, Buffer] = {}

    def give(self, tensor: MetalTensor, values: Array) -> None:
        """Put an input where the program expects it; BinaryError if there is no such place."""
        if tensor.placement is None:
            self._host[tensor.id] = values
            return
        try:
            self._create(tensor)
            self._write(tensor, values, self.program.where)
        except SimError as error:
            raise BinaryError(f"{self.program.where}: {error}") from error

    def value(self, tensor: MetalTensor, where: str) -> Array:
        """The numbers of a tensor; BinaryError if nothing has made it."""
        if tensor.placement is not None:
            return self._read(tensor, where)
        if tensor.id in self._host:
            return self._host[tensor.id]
        constant = tensor.ref.constant
        if constant is None:
            raise BinaryError(f"{where}: tensor {tensor.id} is used before anything makes it")
        return constant.astype(tensor.ref.desc.element.compute)

    def carry_out(self, command: Command) -> None:
        """Do a command; ExecutionError for what the simulator refuses."""
        try:
            self._carry_out(command)
        except SimError as error:
            raise ExecutionError(f"{command.where}: {error}") from error

    def _carry_out(self, command: Command) -> None:
        match command.kind:
            case kind if kind == PROGRAM:
                self._run(command)
            case kind if kind in (WRITE, READ):
                self._copy(command)
            case kind if kind == CREATE:
                self._create(command.tensors[0])
            case kind if kind == DEALLOCATE:
                self._buffer(command.tensors[0], command.where).deallocate()
                del self._buffers[command.tensors[0].id]
            case _:
                pass

    # -- tensors ----------------------------------------------------------------------------------

    def _create(self, tensor: MetalTensor) -> None:
        if tensor.placement is not None:
            if tensor.id in self._buffers:
                raise BinaryError(f"{self.program.where}: tensor {tensor.id} is made twice")
            self._buffers[tensor.id] = tensor.placement.create(self.device)

    def _copy(self, command: Command) -> None:
        source, target = command.tensors
        values = self.value(source, command.where)
        if isinstance(target.placement, BlockPlacement):
            values = _to_blocks(values, source, target, command.where)
        elif isinstance(source.placement, BlockPlacement):
            values = _from_blocks(values, target, command.where)
        if target.placement is None:
            self._host[target.id] = values
        else:
            self._write(target, values, command.where)

    def _write(self, tensor: MetalTensor, values: Array, where: str) -> None:
        placement = tensor.placement
        assert placement is not None, "the tensor is on the device"
        placement.write(self._buffer(tensor, where), values)

    def _read(self, tensor: MetalTensor, where: str) -> Array:
        placement = tensor.placement
        assert placement is not None, "the tensor is on the device"
        return placement.read_values(self._buffer(tensor, where))

    def _buffer(self, tensor: MetalTensor, where: str) -> Buffer:
        buffer = self._buffers.get(tensor.id)
        if buffer is None:
            raise BinaryError(f"{where}: tensor {tensor.id} has no buffer on the device")
        return buffer

    # -- kernels ----------------------------------------------------------------------------------

    def _run(self, command: Command) -> None:
        own: list[Buffer] = []
        if command.description is None:
            program = self._kernel_program(command, own)
        else:
            program = self._described_program(command, command.description)
        timeline = Timeline() if self._record else None
        try:
            pages = self._pages_of(command)
            report = run_program(self.device, program, timeline=timeline, page_log=pages)
        finally:
            for buffer in own:
                buffer.deallocate()
        self.reports.append(CommandReport(command, report, timeline))

    def _described_program(
        self, command: Command, description: ProgramDescription
    ) -> KernelProgram:
        """The program of a description; BinaryError for tensors that are not on the device."""
        tensors, storages = (
            [self._buffer(each, command.where) for each in group]
            for group in (command.tensors, command.storages)
        )
        return create_sim_program(description, tensors, storages)

    def _kernel_program(self, command: Command, own: list[Buffer]) -> KernelProgram:
        """The program of kernels with circular buffers of their own, which go to `own`."""
        program = KernelProgram()
        for index, desc in enumerate(command.kernels):
            kernel = self._kernel(command, desc, index, program)
            for each in desc.circular_buffers:
                spec = self._circular_buffer(command, desc, each, own)
                if spec is not None and not _is_there(program, spec):
                    program.add_circular_buffer(spec)
            program.add_kernel(kernel)
        return program

    def _kernel(
        self, command: Command, desc: KernelDesc, index: int, program: KernelProgram
    ) -> Kernel:
        role, thread, noc_index = _role(desc, command.where)
        name = f"{safe_file_name(self.program.name)}_{command.index}_{thread}"
        if len(command.kernels) > 1:
            name += f"_{index}"
        arguments = [self._argument(command, desc, each, program) for each in desc.arguments]
        settings = ComputeSettings()
        if role == Role.COMPUTE:
            settings = ComputeSettings(
                fidelity=desc.fidelity,
                fp32_dest_acc_en=desc.settings["fp32_dest_acc_en"],
                math_approx_mode=desc.settings["math_approx_mode"],
                unpack_to_dest=_unpacked_to_dest(desc),
            )
        return Kernel(
            name=name,
            file=f"{name}.cpp",
            text=desc.source,
            cores=desc.cores,
            role=role,
            noc_index=noc_index,
            compute=settings,
            arguments={core: arguments for core in desc.cores} if arguments else {},
        )

    def _argument(
        self, command: Command, desc: KernelDesc, argument: tuple[str, int], program: KernelProgram
    ) -> int:
        kind, number = argument
        if kind == "RuntimeArgSemaphoreAddress":
            index = program.add_semaphore(desc.cores, number)
            chip = self.device.chip
            return chip.semaphore_base + index * chip.l1_alignment
        if not 0 <= number < len(command.tensors):
            raise BinaryError(
                f"{command.where}: a run-time argument is the address of operand {number}, but "
                f"there are {len(command.tensors)}"
            )
        placement = command.tensors[number].placement
        if placement is None:
            raise BinaryError(f"{command.where}: operand {number} is not on the device")
        return placement.address

    def _circular_buffer(
        self, command: Command, kernel: KernelDesc, desc: CircularBufferDesc, own: list[Buffer]
    ) -> CircularBufferSpec | None:
        if desc.tensor is not None:
            buffer = self._buffer(desc.tensor, command.where)
            if buffer.address != desc.address:
                raise BinaryError(
                    f"{command.where}: circular buffer {desc.port} is at {desc.address}, its "
                    f"tensor at {buffer.address}"
                )
        else:
            sharding = Sharding(
                layout=TensorMemoryLayout.HEIGHT_SHARDED,
                cores=kernel.cores,
                shape=(len(kernel.cores), 1),
                shard_shape=(1, 1),
            )
            buffer = Buffer(
                self.device,
                desc.total_size * len(kernel.cores),
                desc.total_size,
                MemorySpace.DEVICE_L1,
                sharding=sharding,
                address=desc.address,
            )
            own.append(buffer)
        return CircularBufferSpec(
            cores=kernel.cores,
            total_size=desc.total_size,
            indices={desc.port: (desc.page_size, desc.data_format)},
            buffer=buffer,
        )


def _to_blocks(values: Array, source: MetalTensor, target: MetalTensor, where: str) -> Array:
    """The numbers of a tensor of the host in the shape of a buffer of the device."""
    host = source.host
    if host is None:
        raise BinaryError(f"{where}: a buffer of blocks is written from the host only")
    host.check(where)
    shape = target.ref.desc.shape
    if host.volume != math.prod(shape):
        raise BinaryError(
            f"{where}: the host's buffer has {host.volume} elements, that of the device the shape "
            f"{list(shape)}"
        )
    return host.pad(values).reshape(shape)


def _from_blocks(values: Array, target: MetalTensor, where: str) -> Array:
    """The numbers of a buffer of the device as those of a tensor of the host."""
    host = target.host
    if host is None:
        raise BinaryError(f"{where}: a buffer of blocks is read to the host only")
    host.check(where)
    if host.volume != values.size:
        raise BinaryError(
            f"{where}: the host's buffer has {host.volume} elements, that of the device "
            f"{values.size}"
        )
    return convert(host.unpad(values), target.ref.desc.element.compute)


def _is_there(program: KernelProgram, spec: CircularBufferSpec) -> bool:
    """True if another kernel of the same cores has named the circular buffer already."""
    return any(
        other.indices == spec.indices and set(other.cores) >= set(spec.cores)
        for other in program.circular_buffers
    )


def _role(desc: KernelDesc, where: str) -> tuple[Role, str, int]:
    """The processor, the name of the kernel's thread and the network that it uses.

    tt-mlir, runtime/lib/ttmetal/command_queue.cpp: network 0 is the reader's, network 1 the
    writer's.
    """
    match desc.config:
        case "NocConfig" if desc.settings["noc_index"] == "Noc0":
            return Role.NCRISC, "noc0", 0
        case "NocConfig":
            return Role.BRISC, "noc1", 1
        case "TensixConfig":
            return Role.COMPUTE, "tensix", 0
        case _:
            raise UnsupportedError(
                f"{where}: a kernel of kind {desc.config}; the simulator runs kernels of worker "
                "cores, which move data (NocConfig) or compute (TensixConfig)"
            )


def _unpacked_to_dest(desc: KernelDesc) -> frozenset[int]:
    if not desc.settings["preserve_fp32_precision"]:
        return frozenset()
    return frozenset(each.port for each in desc.circular_buffers)


TT_MLIR_LENIENCIES = frozenset({"pop-unfilled", "unallocated-write"})
"""What kernels of tt-mlir need: they pop pages of tensors that nobody pushed, and keep scratch
memory in L1 that the compiler has placed, of which a program does not tell."""


def needed_leniencies(program: BinaryProgram) -> frozenset[str]:
    """What the kernels of a program need: nothing where they are described in full."""
    assert isinstance(program, MetalProgram), "the program is one of a .ttm file"
    described = all(command.description is not None for command in program.launches)
    return frozenset() if described else TT_MLIR_LENIENCIES


def run_tensors(
    program: BinaryProgram, inputs: Sequence[Tensor], numerics: Numerics
) -> list[Array]:
    """Run a program of kernels on tensors that were checked; the outputs in compute types.

    Nobody is told how long it took, so that nothing is timed.
    """
    assert isinstance(program, MetalProgram), "the program is one of a .ttm file"
    options = SimOptions(
        numerics="exact" if numerics is Numerics.EXACT else "device",
        timed=False,
        leniencies=needed_leniencies(program),
    )
    values = [
        convert(tensor.values, ref.desc.element.compute)
        for tensor, ref in zip(inputs, program.inputs, strict=True)
    ]
    return execute(program, values, options).outputs


def execute(
    program: MetalProgram,
    inputs: Sequence[Array],
    options: SimOptions,
    *,
    observer: Observer | None = None,
    print_line: Callable[[str], None] | None = None,
    record: bool = False,
    pages_of: Callable[[Command], PageLog | None] = lambda _: None,
) -> MetalRun:
    """Run a program; inputs are in compute types and of the right shapes.

    `record` keeps what the threads of kernels did when, `pages_of` gives what keeps the pages that
    the kernels of a command hand over. Raises ExecutionError for what the
    simulator finds, BinaryError and UnsupportedError for what the file says.
    """
    session = Session(program, options, print_line=print_line, record=record, pages_of=pages_of)
    for tensor, values in zip(program.input_tensors, inputs, strict=True):
        session.give(tensor, values)
    for command in program.commands:
        session.carry_out(command)
        if observer is not None:
            observer.after(session, command)
    where = f"{program.where}: outputs"
    outputs = [session.value(tensor, where) for tensor in program.output_tensors]
    return MetalRun(outputs, session.reports)
