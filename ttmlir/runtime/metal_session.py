"""Runs the commands of a `.ttm` program on a simulated device.

    run = execute(program, inputs, SimOptions(numerics="exact"))
    print(run.outputs[0], run.cycles)

Every run begins with a device of its own, whose memory nobody has written but for the inputs.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from ttmlir.files import safe_file_name
from ttmlir.layout.data_format import untilize
from ttmlir.layout.enums import MemorySpace, TensorMemoryLayout
from ttmlir.limits import memory_advice, memory_limit
from ttmlir.optable.kernel import Role
from ttmlir.program import ProgramDescription
from ttmlir.runtime.binary import BinaryProgram, Operation, TensorRef
from ttmlir.runtime.errors import BinaryError, ExecutionError, UnsupportedError
from ttmlir.runtime.execution.operations import OperationCall
from ttmlir.runtime.generic import create_sim_program
from ttmlir.runtime.golden import GoldenResult, Tolerance, compare, reference_function
from ttmlir.runtime.hooks import log_operation, log_program
from ttmlir.runtime.mesh_kernels import Exchange, ExchangeOfChips, MeshRun, run_plan
from ttmlir.runtime.metal_program import (
    CREATE,
    DEALLOCATE,
    PROGRAM,
    READ,
    WRITE,
    BlockPlacement,
    CircularBufferDesc,
    Command,
    HostBuffer,
    KernelDesc,
    MetalBinary,
    MetalProgram,
    MetalTensor,
    Reference,
    ReferenceOutput,
    ReferenceRow,
    elementwise_reference,
)
from ttmlir.runtime.tensor import (
    Array,
    ElementType,
    Numerics,
    Tensor,
    TensorDesc,
    convert,
    decode_numbers,
    host_desc,
)
from ttmlir.sim.calls.compute_api import ComputeSettings
from ttmlir.sim.errors import SimError
from ttmlir.sim.execution.program import CircularBufferSpec, Kernel
from ttmlir.sim.execution.program import Program as KernelProgram
from ttmlir.sim.execution.run import PageLog, ProgramReport, PushedPage, run_program
from ttmlir.sim.machine.address_generators import Buffer, Sharding
from ttmlir.sim.machine.device import SimDevice
from ttmlir.sim.options import SimOptions
from ttmlir.sim.timing.timeline import Timeline

# --- Session --------------------------------------------------------------------------------------
# Runs the commands of a `.ttm` program on a simulated device.
#
#     run = execute(program, inputs, SimOptions(numerics="exact"))
#     print(run.outputs[0], run.cycles)
#
# Every run begins with a device of its own, whose memory nobody has written but for the inputs.


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
    mesh: MeshRun | None = None
    """What each of several devices did; reports are those of the chips that took longest."""

    @property
    def cycles(self) -> int:
        """Cycles of all programs one after another, without launching them; 0 without clocks."""
        return sum(each.report.cycles for each in self.reports)


class Observer(Protocol):
    """Sees a run after every command."""

    def after(self, session: Session, command: Command) -> None:
        """Called when the command is done."""
        ...


def keep_no_pages(command: Command) -> None:
    """Nobody looks at the pages of circular buffers."""


class Session:
    """A device and the tensors on it while a program runs."""

    def __init__(
        self,
        program: MetalProgram,
        options: SimOptions,
        *,
        print_line: Callable[[str], None] | None = None,
        record: bool = False,
        pages_of: Callable[[Command], PageLog | None] = keep_no_pages,
    ) -> None:
        """A device that nothing has run on; `record` what the threads of kernels do when.

        `pages_of` gives what keeps the pages that a command's kernels hand over.
        """
        self._pages_of = pages_of
        assert isinstance(program.binary, MetalBinary), "the program is one of a .ttm file"
        self.program = program
        log_program(program)
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
        log_operation(command.debug_info, command.where)
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
    observer: Observer | MeshGolden | None = None,
    print_line: Callable[[str], None] | None = None,
    record: bool = False,
    pages_of: Callable[[Command], PageLog | None] = keep_no_pages,
) -> MetalRun:
    """Run a program; inputs are in compute types and of the right shapes.

    `record` keeps what the threads of kernels did when, `pages_of` gives what keeps the pages that
    the kernels of a command hand over. Raises ExecutionError for what the
    simulator finds, BinaryError and UnsupportedError for what the file says.
    """
    if program.mesh_plan is not None:
        golden = observer if isinstance(observer, MeshGolden) else None
        arrays = [
            convert(array, ref.desc.element.host)
            for array, ref in zip(inputs, program.inputs, strict=True)
        ]
        run = run_on_mesh(
            program, arrays, options, print_line=print_line, record=record, golden=golden
        )
        return MetalRun(results_of_mesh(program, run), _reports_of(program, run), run)
    session = Session(program, options, print_line=print_line, record=record, pages_of=pages_of)
    try:
        for tensor, values in zip(program.input_tensors, inputs, strict=True):
            session.give(tensor, values)
        for command in program.commands:
            session.carry_out(command)
            if observer is not None:
                assert not isinstance(observer, MeshGolden), "the program is for one device"
                observer.after(session, command)
        where = f"{program.where}: outputs"
        outputs = [session.value(tensor, where) for tensor in program.output_tensors]
    finally:
        # The collector would find the device late: the next one's memory would be the system's.
        session.device.release()
    return MetalRun(outputs, session.reports)


def run_on_mesh(
    program: MetalProgram,
    arrays: Sequence[Array],
    options: SimOptions,
    *,
    print_line: Callable[[str], None] | None = None,
    record: bool = False,
    golden: MeshGolden | None = None,
) -> MeshRun:
    """Run a program of several devices on arrays in the host's types, which all of them are given.

    Otherwise as `execute`.
    """

    def run_program(
        part: BinaryProgram,
        given: Sequence[Array],
        chosen: SimOptions,
        observer: MetalGolden | None = None,
    ) -> MetalRun:
        assert isinstance(part, MetalProgram), "it is a function of a .ttm file"
        return execute(
            part,
            given,
            replace(chosen, leniencies=chosen.leniencies | needed_leniencies(part)),
            observer=observer,
            print_line=print_line,
            record=record,
            pages_of=keep_no_pages if observer is None else observer.pages_of,
        )

    def run_beside(part: BinaryProgram, given: Sequence[Array], observer: MetalGolden) -> MetalRun:
        return run_program(part, given, options, observer)

    plan = program.mesh_plan
    assert plan is not None, "the program is for several devices"
    reference = None if golden is None else _MeshReference(golden, program, run_beside)
    return run_plan(
        plan,
        arrays,
        options,
        where=program.where,
        run_program=run_program,
        reference=reference,
    )


def results_of_mesh(program: MetalProgram, run: MeshRun) -> list[Array]:
    """What all devices have of the results, in compute types; ExecutionError where they differ."""
    plan = program.mesh_plan
    assert plan is not None, "the program is for several devices"
    found: list[Array] = []
    for number, ref in zip(plan.plan.outputs, program.outputs, strict=True):
        first, *others = run.values[number]
        if first.shape != ref.desc.shape:
            raise BinaryError(
                f"{program.where} gives a tensor of shape {list(first.shape)}, and says "
                f"{ref.desc.type_text}"
            )
        for device, part in enumerate(others, 1):
            is_same = part is first or np.array_equal(
                part, first, equal_nan=first.dtype.kind not in "iub"
            )
            if not is_same:
                raise ExecutionError(
                    f"{program.where} returns what device 0 and device {device} have different "
                    "numbers of; use run_on_devices"
                )
        found.append(convert(first, ref.desc.element.compute))
    return found


def _reports_of(program: MetalProgram, run: MeshRun) -> list[CommandReport]:
    """What programs and exchanges did on the chips that took longest."""
    found: list[CommandReport] = []
    for each in run.longest:
        if isinstance(each, MetalRun):
            found += each.reports
        elif isinstance(each, ExchangeOfChips):
            command = Command(
                index=len(found),
                kind=PROGRAM,
                debug_info=each.exchange.debug_info,
                tensors=(),
                where=program.where,
                title=each.exchange.name,
            )
            found.append(CommandReport(command, each.report))
    return found


# --- Golden ---------------------------------------------------------------------------------------
# Golden runs of `.ttm` programs: the operation of every kernel, computed in float64.
#
# The file may name the operations of a program of kernels (`reference`): one, or several of a fused
# program. Otherwise they follow from the calls that the kernels make: files of tt-mlir add,
# multiply, tilize, untilize and copy. Values have no padding here, wherever they are kept. The
# golden run starts from the same inputs and never looks at the results of the run that it judges.

_FLOAT64 = np.dtype(np.float64)
_COMPUTED = ("add", "multiply")
_MOVES = ("tilize", "untilize", "move")


def reference_of(command: Command) -> Reference:
    """What a program of kernels computes; without rows, it only moves numbers.

    BinaryError if neither the file nor the calls of its kernels say so.
    """
    if command.reference is not None:
        return command.reference
    count = len(command.tensors)
    if command.description is None:
        if command.meaning in _COMPUTED and count == 3:
            return elementwise_reference(command.meaning, (0, 1), count)
        if command.meaning in _MOVES:
            return Reference((), (ReferenceOutput(count - 1, 0),))
    raise BinaryError(
        f"{command.where}: the file does not say what its kernels compute, so there is no "
        "reference to compare with; run it without --golden"
    )


def read_output(session: Session, command: Command, output: ReferenceOutput) -> Array:
    """What a program of kernels has left in one of its buffers, without padding."""
    tensor = command.tensors[output.operand]
    values = session.value(tensor, command.where)
    if output.shape is None:
        return values
    layout = HostBuffer(output.shape, output.strides, tensor.ref.desc.volume)
    layout.check(command.where)
    return layout.unpad(values)


@dataclass
class MetalGolden:
    """Runs the reference beside a program and compares after every program of kernels."""

    program: MetalProgram
    inputs: list[Array]
    tolerance: Tolerance = field(default_factory=Tolerance)
    keep_tensors: bool = False
    results: list[GoldenResult] = field(default_factory=list[GoldenResult])
    without_reference: Sequence[Operation] = ()

    def __post_init__(self) -> None:
        """Start from the inputs."""
        self._values: dict[int, Array] = {}
        self._log = PageLog()
        for tensor, values in zip(self.program.input_tensors, self.inputs, strict=True):
            self._values[tensor.id] = _store(values, tensor.ref.desc.element)

    def find_failure(self, outputs: Sequence[Array], *, confirmed: bool) -> GoldenResult | None:
        """The first program of kernels that is off, whatever the outputs are."""
        return next((result for result in self.results if not result.passed), None)

    def pages_of(self, command: Command) -> PageLog:
        """What keeps the pages of the next launch, to tell which kernel is wrong."""
        self._log = PageLog()
        return self._log

    def after(self, session: Session, command: Command) -> None:
        """Compute the golden result of a command, and compare that of a program of kernels."""
        if command.kind in (READ, WRITE):
            source, target = command.tensors
            self._values[target.id] = self._value(source, command.where)
        elif command.is_launch:
            self._compute(session, command)

    def _compute(self, session: Session, command: Command) -> None:
        reference = reference_of(command)
        # All values are computed before one of the operands changes.
        values = self._rows(reference, command)
        for output in reference.outputs:
            self._compare(session, command, reference, output, values[output.value])

    def _rows(self, reference: Reference, command: Command) -> dict[int, Array]:
        """The values of a program by number: of the operands that are used, and of all rows."""
        count = len(command.tensors)
        used = {each.value for each in reference.outputs}
        used |= {each for row in reference.rows for each in row.operands if isinstance(each, int)}
        values = {
            number: self._value(command.tensors[number], command.where)
            for number in sorted(used)
            if number < count
        }
        elements = {
            number: tensor.ref.desc.element for number, tensor in enumerate(command.tensors)
        }
        last_uses = reference.last_uses(count)
        for number, row in enumerate(reference.rows, count):
            output = command.tensors[-1].ref.desc
            elements[number] = row.element or output.element
            shape = output.shape if row.shape is None else row.shape
            operands = [
                (values[each], elements[each])
                if isinstance(each, int)
                else _constant(each, row, elements, output.element)
                for each in row.operands
            ]
            result = host_desc(shape, elements[number])
            needed = sum(each.nbytes for each in values.values())
            needed += math.prod(shape) * _FLOAT64.itemsize
            if needed > memory_limit():
                raise BinaryError(
                    f"{command.where}: the values of its reference take {needed} bytes; "
                    f"{memory_advice()}"
                )
            values[number] = _evaluate(self.program, command, row, operands, result)
            for each in last_uses.get(number, ()):
                del values[each]
        return values

    def _compare(
        self,
        session: Session,
        command: Command,
        reference: Reference,
        output: ReferenceOutput,
        value: Array,
    ) -> None:
        tensor = command.tensors[output.operand]
        actual = read_output(session, command, output)
        golden = _store(_repeat(value, actual.shape, command), tensor.ref.desc.element)
        self._values[tensor.id] = golden
        tolerance = self.tolerance
        accuracy = compare(actual, golden, rtol=tolerance.rtol, atol=tolerance.atol)
        name = f"ttir.{reference.title}" if reference.rows else command.meaning
        passed = tolerance.accepts(accuracy)
        self.results.append(
            GoldenResult(
                operation=Operation(command.index, name, command.debug_info, self.program, {}),
                name=name,
                accuracy=accuracy,
                passed=passed,
                golden=np.array(golden) if self.keep_tensors else None,
                tile="" if passed else self._find_tile(command, output, actual, golden),
            )
        )

    def _find_tile(
        self, command: Command, output: ReferenceOutput, actual: Array, golden: Array
    ) -> str:
        """The first tile of a result that is off, and whether a circular buffer has it right."""
        height, width = command.tensors[output.operand].ref.desc.tile
        if (height, width) == (1, 1) or actual.ndim < 2:
            return ""
        cb = len(command.storages) - len(command.tensors) + output.operand
        pages = [
            tile_of_page(page, command.tensors[output.operand].ref.desc)
            for (_, index), kept in self._log.pages.items()
            if index == cb and command.description is not None
            for page in kept
        ]
        for place in _tiles_of(actual.shape, (height, width)):
            wanted = golden[place]
            if self._agree(actual[place], wanted):
                continue
            starts = [each.start for each in place]
            at = (*starts[:-2], starts[-2] // height, starts[-1] // width)
            where = f"its first wrong tile is {at}"
            if not pages:
                return where
            rows, columns = wanted.shape[-2:]
            is_pushed = any(
                self._agree(page[:rows, :columns].reshape(wanted.shape), wanted) for page in pages
            )
            return (
                f"{where}, which circular buffer {cb} holds: the writer is wrong"
                if is_pushed
                else f"{where}, which circular buffer {cb} does not hold: the compute kernel is "
                "wrong, or what it reads"
            )
        return ""

    def _agree(self, actual: Array, golden: Array) -> bool:
        tolerance = self.tolerance
        accuracy = compare(actual, golden, rtol=tolerance.rtol, atol=tolerance.atol)
        return tolerance.accepts(accuracy)

    def outputs(self) -> list[Array]:
        """What the program should give."""
        where = f"{self.program.where}: outputs"
        return [self._value(tensor, where) for tensor in self.program.output_tensors]

    def _value(self, tensor: MetalTensor, where: str) -> Array:
        if tensor.id in self._values:
            return self._values[tensor.id]
        constant = tensor.ref.constant
        if constant is None:
            raise BinaryError(f"{where}: tensor {tensor.id} has no numbers yet")
        return _store(constant, tensor.ref.desc.element)


@dataclass
class MeshGolden:
    """Runs the references of a program of several devices, which exchange what they have."""

    tolerance: Tolerance = field(default_factory=Tolerance)
    keep_tensors: bool = False
    results: list[GoldenResult] = field(default_factory=list[GoldenResult])
    """Of each program of kernels and exchange, those of the device that is furthest off."""
    without_reference: Sequence[Operation] = ()

    def find_failure(self, outputs: Sequence[Array], *, confirmed: bool) -> GoldenResult | None:
        """The first program of kernels, or exchange, that is off, whatever the outputs are."""
        return next((result for result in self.results if not result.passed), None)


@dataclass
class _MeshReference:
    golden: MeshGolden
    program: MetalProgram
    run: Callable[[BinaryProgram, Sequence[Array], MetalGolden], MetalRun]
    found: list[list[GoldenResult]] = field(default_factory=list[list[GoldenResult]])
    """Of the devices that have run the program of a step."""

    def run_program(
        self,
        program: BinaryProgram,
        device: int,
        arrays: Sequence[Array],
        expected: Sequence[Array],
    ) -> tuple[MetalRun, list[Array]]:
        """Run a program of one chip with its reference beside it."""
        assert isinstance(program, MetalProgram), "it is a function of a .ttm file"
        golden = self.golden
        own = MetalGolden(program, [*expected], golden.tolerance, keep_tensors=golden.keep_tensors)
        run = self.run(program, arrays, own)
        self.found.append([replace(result, device=device) for result in own.results])
        return run, own.outputs()

    def compare(self, step: Exchange, parts: Sequence[Array], expected: Sequence[Array]) -> None:
        """Compare what the devices have after an exchange."""
        tolerance = self.golden.tolerance
        for device, (part, wanted) in enumerate(zip(parts, expected, strict=True)):
            accuracy = compare(part, wanted, rtol=tolerance.rtol, atol=tolerance.atol)
            result = GoldenResult(
                operation=Operation(0, step.name, step.debug_info, self.program, {}),
                name=step.name,
                accuracy=accuracy,
                passed=tolerance.accepts(accuracy),
                golden=np.array(wanted) if self.golden.keep_tensors else None,
                device=device,
            )
            self.found.append([result])
        self.end_step()

    def end_step(self) -> None:
        """Keep the worst of what the devices have."""
        results = self.golden.results
        for of_devices in zip(*self.found, strict=True):
            worst = min(of_devices, key=lambda each: (each.passed, each.accuracy.pcc))
            operation = replace(worst.operation, index=len(results))
            results.append(replace(worst, operation=operation))
        self.found.clear()


def _tiles_of(shape: tuple[int, ...], tile: tuple[int, int]) -> Iterator[tuple[slice, ...]]:
    """The parts of an array that its tiles hold, in rows."""
    extents = (*(1 for _ in shape[:-2]), *tile)
    steps = [range(0, whole, extent) for whole, extent in zip(shape, extents, strict=True)]
    for starts in itertools.product(*steps):
        yield tuple(
            slice(start, min(start + extent, whole))
            for start, extent, whole in zip(starts, extents, shape, strict=True)
        )


def tile_of_page(page: PushedPage, desc: TensorDesc) -> Array:
    """The numbers of a page that is a tile of a tensor, in compute types."""
    volume = math.prod(desc.tile)
    numbers = decode_numbers(page.data, desc.element, page.data_format, volume)
    tile = untilize(numbers.reshape(1, 1, volume), desc.tile, desc.tile)
    return convert(tile, desc.element.compute)


def _repeat(values: Array, shape: tuple[int, ...], command: Command) -> Array:
    """Numbers in the shape of what they are written to, repeated if the program broadcasts."""
    try:
        return np.broadcast_to(values, shape)
    except ValueError as error:
        raise BinaryError(
            f"{command.where}: moves a tensor of shape {values.shape} to one of shape {shape}"
        ) from error


def _constant(
    value: float, row: ReferenceRow, elements: dict[int, ElementType], output: ElementType
) -> tuple[Array, ElementType]:
    """A constant in the type that the operands have."""
    others = [each for each in row.operands if isinstance(each, int)]
    element = elements[others[-1]] if others else output
    return _store(np.asarray(value), element), element


def _evaluate(
    program: MetalProgram,
    command: Command,
    row: ReferenceRow,
    operands: list[tuple[Array, ElementType]],
    result: TensorDesc,
) -> Array:
    """The result of an operation by its reference function."""
    operation = Operation(command.index, f"ttir.{row.mnemonic}", "", program, {})
    call = OperationCall(
        definition=row.definition,
        operation=operation,
        operands=tuple(TensorRef(0, host_desc(each.shape, kind)) for each, kind in operands),
        parameters=dict(row.parameters),
        outputs=(TensorRef(0, result),),
    )
    try:
        with np.errstate(all="ignore"):
            values = reference_function(call)(*(each for each, _ in operands))
    except (ValueError, TypeError, ArithmeticError) as error:
        raise ExecutionError(f"{command.where}: reference of {row.mnemonic}: {error}") from error
    return _store(np.broadcast_to(np.asarray(values), result.shape), result.element)


def _store(values: Array, element: ElementType) -> Array:
    return convert(np.asarray(values), _FLOAT64 if element.is_float else element.compute)
