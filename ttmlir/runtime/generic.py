"""Runs generic operations: kernels of the flatbuffer or of the user, on the simulator's cores."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from ttmlir.errors import plural
from ttmlir.files import safe_file_name
from ttmlir.layout.data_format import (
    DEFAULT_TILE_SHAPE,
    TileFormat,
    is_block_float,
    packed_tile_bytes,
    padded_shape,
    tilize,
    untilize,
)
from ttmlir.layout.enums import DataType, MathFidelity, MemorySpace, NocIndex, TensorMemoryLayout
from ttmlir.optable.kernel import Role
from ttmlir.optable.op_definition import spell_shape
from ttmlir.program import (
    MAX_COMPILE_TIME_ARGS,
    AddressOfTensor,
    Argument,
    Arguments,
    CircularBufferDescription,
    CircularBufferFormat,
    CircularBufferIndex,
    ComputeConfig,
    Core,
    CoreRange,
    CoreRanges,
    CustomKernel,
    DataMovementConfig,
    DescriptionError,
    KernelConfig,
    KernelDescription,
    KernelTensor,
    Processor,
    ProgramDescription,
    ReaderConfig,
    SemaphoreAt,
    SemaphoreDescription,
    TensorAccessorArgs,
    WriterConfig,
    limit_kernels,
    list_cores,
    list_ranges,
)
from ttmlir.runtime.binary import Operation
from ttmlir.runtime.errors import BinaryError, ExecutionError, InputError, UnsupportedError
from ttmlir.runtime.tensor import (
    ELEMENT_TYPES,
    Array,
    ElementType,
    Numerics,
    TensorDesc,
    convert,
    decode_numbers,
    encode_numbers,
)
from ttmlir.sim.calls.compute_api import ComputeSettings
from ttmlir.sim.errors import SimError
from ttmlir.sim.execution.program import (
    CircularBufferSpec,
    Kernel,
    Program,
    find_headers,
    inline_headers,
)
from ttmlir.sim.execution.run import ProgramReport, run_program
from ttmlir.sim.machine.address_generators import Buffer, Sharding, accessor_words
from ttmlir.sim.machine.device import SimChip, SimDevice
from ttmlir.sim.machine.tile_shapes import WHOLE, TileShape
from ttmlir.sim.options import SimOptions
from ttmlir.sim.timing.timeline import Timeline

# --- Sim program ----------------------------------------------------------------------------------
# Makes a simulator's program of the description of one, for buffers at given addresses.

_ROLES = {Processor.RISCV_0: Role.BRISC, Processor.RISCV_1: Role.NCRISC}


def create_sim_program(
    description: ProgramDescription, tensors: Sequence[Buffer], storages: Sequence[Buffer] = ()
) -> Program:
    """The program with the addresses of these tensors filled in.

    Storages, memory of circular buffers that hold no tensor, are numbered after the tensors.

    DescriptionError for tensors that are not there, SimError for what cannot be on a core at once.
    Addresses are bound: after buffers have moved, make another program.
    """
    description.check_tensors(len(tensors) + len(storages))
    program = Program()
    semaphores = _add_semaphores(program, description.semaphores)
    binding = _Binding((*tensors, *storages), semaphores, len(tensors))
    for each in description.circular_buffers:
        program.add_circular_buffer(binding.bind_circular_buffer(each))
    for each in description.kernels:
        program.add_kernel(binding.bind_kernel(each))
    return program


def _add_semaphores(program: Program, semaphores: Sequence[SemaphoreDescription]) -> list[int]:
    """The numbers of semaphores: first those that have one, so that the others get what is left."""
    numbers = [0] * len(semaphores)
    for place, each in sorted(enumerate(semaphores), key=lambda pair: pair[1].id is None):
        cores = list_cores(each.core_ranges)
        numbers[place] = program.add_semaphore(cores, each.initial_value, each.id)
    return numbers


@dataclass(frozen=True)
class _Binding:
    """What the numbers of a description stand for."""

    tensors: Sequence[Buffer]
    semaphores: Sequence[int]
    num_tensors: int
    """The rest of `tensors` are storages."""

    def bind_kernel(self, kernel: KernelDescription) -> Kernel:
        role, noc = _processor(kernel.config)
        name = safe_file_name(kernel.name)
        return Kernel(
            name=name,
            file=kernel.file or f"{name}.cpp",
            text=kernel.source,
            cores=kernel.cores,
            role=role,
            noc_index=noc,
            compile_time_args=self._compile_time_words(kernel),
            named_compile_time_args={
                each: self._words((value,))[0] for each, value in kernel.named_compile_time_args
            },
            defines=dict(kernel.defines),
            include_path=find_headers(*_header_places(kernel)),
            compute=_settings(kernel.config),
            common_arguments=self._words(kernel.common_runtime_args),
            arguments={core: self._words(each) for core, each in kernel.runtime_args},
        )

    def bind_circular_buffer(self, description: CircularBufferDescription) -> CircularBufferSpec:
        buffer = None if description.tensor is None else self.tensors[description.tensor]
        if buffer is not None and buffer.sharding is None:
            raise SimError(
                f"circular buffer {description.formats[0].index} is on tensor "
                f"{description.tensor}, which is interleaved; shard it over the cores in l1, or "
                "give the circular buffer bytes of its own"
            )
        cores = list_cores(description.core_ranges)
        if buffer is not None and buffer.sharding is not None:
            missing = set(cores) - set(buffer.sharding.cores)
            if missing:
                raise SimError(
                    f"circular buffer {description.formats[0].index} is on core {min(missing)}, "
                    f"but tensor {description.tensor} has no shard there"
                )
        return CircularBufferSpec(
            cores=cores,
            total_size=description.total_size,
            indices={each.index: (each.page_size, each.data_type) for each in description.formats},
            tiles={
                each.index: TileShape.of_height(each.tile_height)
                for each in description.formats
                if each.tile_height != WHOLE.height
            },
            buffer=buffer,
            is_storage=(description.tensor or 0) >= self.num_tensors,
        )

    def _compile_time_words(self, kernel: KernelDescription) -> tuple[int, ...]:
        """SimError for more words than a kernel takes: an accessor has some for each core."""
        words: list[int] = []
        for argument in kernel.compile_time_args:
            words += self._value(argument)
            if len(words) > MAX_COMPILE_TIME_ARGS:
                raise SimError(
                    f"the compile-time arguments of kernel '{kernel.name}' are more than "
                    f"{MAX_COMPILE_TIME_ARGS} words, with all that TensorAccessorArgs stand for; "
                    "give each tensor once, and put tables into a tensor"
                )
        return tuple(words)

    def _words(self, arguments: Arguments) -> tuple[int, ...]:
        return tuple(word for argument in arguments for word in self._value(argument))

    def _value(self, argument: Argument) -> tuple[int, ...]:
        match argument:
            case AddressOfTensor(number):
                return (self.tensors[number].address,)
            case TensorAccessorArgs(number):
                return accessor_words(self.tensors[number].accessor_args())
            case CircularBufferIndex(index):
                return (index,)
            case SemaphoreAt(number):
                return (self.semaphores[number],)
            case int():
                return (argument,)


def describe_sim_program(program: Program, tensors: Sequence[Buffer]) -> ProgramDescription:
    """The description of a program; addresses in it stay the numbers that they are.

    `tensors` are those that circular buffers may be on. DescriptionError for circular buffers on
    others, or on a part of one.
    """
    return ProgramDescription(
        kernels=tuple(map(_describe_kernel, program.kernels)),
        circular_buffers=tuple(
            _describe_circular_buffer(each, tensors) for each in program.circular_buffers
        ),
        semaphores=tuple(
            SemaphoreDescription(
                core_ranges=list_ranges(each.cores), initial_value=each.initial, id=each.index
            )
            for each in program.semaphores
        ),
    )


def _header_places(kernel: KernelDescription) -> tuple[str, tuple[str, ...], str]:
    """Where the headers of a kernel are that was described on this machine."""
    # Kernels in Python are in files, too, but their headers are not beside them.
    file = kernel.file if type(kernel.source) is str else ""
    return file, kernel.include_folders, kernel.home


def inline_kernel_headers(program: ProgramDescription) -> ProgramDescription:
    """The program with the text of all headers in its kernels; SimError if that is too much."""
    return replace(program, kernels=tuple(map(_inline_headers, program.kernels)))


def _inline_headers(kernel: KernelDescription) -> KernelDescription:
    if type(kernel.source) is not str:
        return kernel
    headers = find_headers(*_header_places(kernel))
    source = inline_headers(kernel.source, kernel.file or kernel.name, headers)
    if source == kernel.source:
        return kernel
    # Lines are no longer those of the file.
    return replace(kernel, source=source, file="", include_folders=(), home="")


def _describe_kernel(kernel: Kernel) -> KernelDescription:
    is_in_file = bool(kernel.include_path.kernel) or type(kernel.text) is not str
    return KernelDescription(
        name=kernel.name,
        file=kernel.file if is_in_file else "",
        include_folders=kernel.include_path.folders,
        home=kernel.include_path.home,
        source=kernel.text,
        config=_describe_config(kernel),
        core_ranges=list_ranges(kernel.cores),
        compile_time_args=tuple(kernel.compile_time_args),
        named_compile_time_args=tuple(kernel.named_compile_time_args.items()),
        runtime_args=tuple((core, tuple(each)) for core, each in kernel.arguments.items()),
        common_runtime_args=tuple(kernel.common_arguments),
        defines=tuple(kernel.defines.items()),
    )


def _describe_config(kernel: Kernel) -> KernelConfig:
    if kernel.role != Role.COMPUTE:
        processor = next(each for each, role in _ROLES.items() if role == kernel.role)
        return DataMovementConfig(processor, NocIndex(kernel.noc_index))
    settings = kernel.compute
    return ComputeConfig(
        math_fidelity=settings.fidelity,
        fp32_dest_acc_en=settings.fp32_dest_acc_en,
        dst_full_sync_en=settings.dst_full_sync_en,
        math_approx_mode=settings.math_approx_mode,
        unpack_to_dest_fp32=tuple(sorted(settings.unpack_to_dest)),
    )


def _describe_circular_buffer(
    spec: CircularBufferSpec, tensors: Sequence[Buffer]
) -> CircularBufferDescription:
    tensor = next((i for i, each in enumerate(tensors) if each is spec.buffer), None)
    if (spec.buffer is not None and tensor is None) or spec.offset:
        raise DescriptionError(
            f"circular buffer {min(spec.indices)} is on a buffer that is no argument, or on a part "
            "of one; place it on an argument, or give it bytes of its own"
        )
    return CircularBufferDescription(
        total_size=spec.total_size,
        core_ranges=list_ranges(spec.cores),
        formats=tuple(
            CircularBufferFormat(index, data_type, page_size, spec.tiles.get(index, WHOLE).height)
            for index, (page_size, data_type) in spec.indices.items()
        ),
        tensor=tensor,
    )


def _processor(config: KernelConfig) -> tuple[Role, int]:
    """The processor of a kernel, and the network that it uses."""
    match config:
        case ReaderConfig():
            return Role.NCRISC, int(NocIndex.NOC0)
        case WriterConfig():
            return Role.BRISC, int(NocIndex.NOC1)
        case DataMovementConfig(processor, noc):
            return _ROLES[processor], int(noc)
        case ComputeConfig():
            return Role.COMPUTE, int(NocIndex.NOC0)


def _settings(config: KernelConfig) -> ComputeSettings:
    """How a kernel that computes is compiled; of others, what is not used."""
    if not isinstance(config, ComputeConfig):
        return ComputeSettings()
    return ComputeSettings(
        fidelity=config.math_fidelity,
        fp32_dest_acc_en=config.fp32_dest_acc_en,
        dst_full_sync_en=config.dst_full_sync_en,
        math_approx_mode=config.math_approx_mode,
        unpack_to_dest=frozenset(config.unpack_to_dest_fp32),
    )


# --- Run ------------------------------------------------------------------------------------------
# Runs a described program on tensors: NumPy arrays in, NumPy arrays out, cycles beside them.

# --- Pages ----------------------------------------------------------------------------------------
# Tensors as the pages of buffers, as kernels find them.
#
# The page of a tiled tensor is a tile, its faces one after another; that of a row-major tensor is a
# row of the last dimension, or the part of one that a shard has. Dimensions before the last two
# follow each other. Padding is zero. Pages of sharded tensors lie in the L1 of the cores that their
# layout names, the shards row by row.
#
# Source: tt-metal, tech_reports/tensor_layouts/tensor_layouts.md.

_MEMORIES = (MemorySpace.DEVICE_DRAM, MemorySpace.DEVICE_L1)


def page_shape(desc: TensorDesc) -> tuple[int, int]:
    """Rows and columns of a page, in elements."""
    if desc.is_tiled:
        return desc.tile
    columns = desc.shard[-1] if desc.shard else math.prod(desc.shape[-1:])
    return 1, max(columns, 1)


def page_bytes(desc: TensorDesc) -> int:
    """Bytes of a page."""
    volume = math.prod(page_shape(desc))
    if is_block_float(desc.data_type):
        return packed_tile_bytes(desc.data_type, volume)
    return volume * TileFormat(1, 1, desc.data_type).size_bytes


def count_pages(desc: TensorDesc) -> tuple[int, int]:
    """Rows and columns of pages, all dimensions but the last made rows."""
    *outer, columns = _padded(desc)
    height, width = page_shape(desc)
    return math.prod(outer) // height, -(-columns // width)


def create_buffer(device: SimDevice, desc: TensorDesc) -> Buffer:
    """A buffer for a tensor, on its cores if it is sharded.

    SimError for a tensor on the host, an empty one, and shards that do not hold it.
    """
    if desc.memory_space not in _MEMORIES:
        raise SimError("it is in host memory; kernels take tensors in dram or l1")
    if desc.volume == 0:
        raise SimError("it is empty; kernels take tensors with elements")
    size = page_bytes(desc)
    sharding = _sharding(device, desc) if desc.memory_layout.is_sharded else None
    return Buffer(
        device, math.prod(count_pages(desc)) * size, size, desc.memory_space, sharding=sharding
    )


def _sharding(device: SimDevice, desc: TensorDesc) -> Sharding:
    rows, columns = count_pages(desc)
    height, width = math.prod(desc.shard[:-1]), 1
    if desc.is_tiled:
        width = math.prod(desc.shard[-1:])
    if not desc.core_ranges or min(height, width) < 1:
        raise SimError(f"it is {desc.memory_layout.keyword}, but no core has a shard")
    down, across = -(-rows // height), -(-columns // width)
    cores = _cores(desc, device.chip.grid)
    if len(desc.core_ranges) == 1 and (down > len(cores) or across > len(cores[0])):
        # Shards of one dimension lie on a rectangle row by row.
        listed = [core for line in cores for core in line]
        if across == 1:
            cores = [[core] for core in listed]
        elif down == 1:
            cores = [listed]
    if down > len(cores) or across > len(cores[0]):
        raise SimError(
            f"{rows}x{columns} pages are {spell_shape((down, across))} shards of "
            f"{spell_shape((height, width))} pages, but its layout has "
            f"{spell_shape((len(cores), len(cores[0])))} cores; use larger shards or more cores"
        )
    return Sharding(
        layout=desc.memory_layout,
        cores=tuple(core for line in cores[:down] for core in line[:across]),
        shape=(rows, columns),
        shard_shape=(height, width),
    )


def _cores(desc: TensorDesc, chip_grid: tuple[int, int]) -> list[list[tuple[int, int]]]:
    """The cores, (x, y), of each row of shards.

    A grid that reaches beyond the chip, such as 64x1, is a way to count its cores row by row.
    """
    columns, rows = chip_grid
    y, x, height, width = desc.core_ranges[0]
    if len(desc.core_ranges) > 1:
        # Cores that are no rectangle are counted; only one dimension is cut.
        listed = [
            (x + i, y + j)
            for y, x, high, wide in desc.core_ranges
            for j in range(high)
            for i in range(wide)
        ]
        is_across = desc.memory_layout is TensorMemoryLayout.WIDTH_SHARDED
        lines = [listed] if is_across else [[core] for core in listed]
    elif y + height <= rows and x + width <= columns:
        lines = [[(x + i, y + j) for i in range(width)] for j in range(height)]
    else:
        lines = [
            [((j * width + i) % columns, (j * width + i) // columns) for i in range(width)]
            for j in range(height)
        ]
    for line in lines:
        for core in line:
            if core[0] >= columns or core[1] >= rows:
                raise SimError(
                    f"it is on core {core}, but the chip has {columns} columns and {rows} rows"
                )
    return lines


def write_tensor(buffer: Buffer, desc: TensorDesc, values: Array) -> None:
    """Fill a buffer with the numbers of a tensor."""
    if desc.is_tiled:
        numbers = tilize(values.reshape(_matrices(desc)), desc.tile)
    else:
        matrix = values.reshape(-1, math.prod(desc.shape[-1:]))
        columns = count_pages(desc)[1] * page_shape(desc)[1]
        numbers = np.pad(matrix, [(0, 0), (0, columns - matrix.shape[1])])
    buffer.write(encode_numbers(numbers, desc.data_type, math.prod(desc.tile)))


def read_tensor(buffer: Buffer, desc: TensorDesc) -> Array:
    """The numbers of a tensor, in the type that operations compute in, without padding."""
    volume = math.prod(desc.tile)
    numbers = decode_numbers(buffer.read(), desc.element, desc.data_type, volume)
    if desc.is_tiled:
        shape = _matrices(desc)
        tiles = numbers.reshape(_tiles(shape, desc.tile))
        numbers = untilize(tiles, shape, desc.tile)
    else:
        numbers = numbers.reshape(count_pages(desc)[0], -1)[:, : math.prod(desc.shape[-1:])]
    return convert(numbers.reshape(desc.shape), desc.element.compute)


def _matrices(desc: TensorDesc) -> tuple[int, int, int]:
    """The shape as matrices one after another: arrays of any rank have tiles."""
    *outer, rows, columns = (1,) * (2 - len(desc.shape)) + desc.shape
    return math.prod(outer), rows, columns


def _padded(desc: TensorDesc) -> tuple[int, ...]:
    """The shape with at least two dimensions, the last two filled up to whole tiles."""
    shape = (1,) * (2 - len(desc.shape)) + desc.shape
    return padded_shape(shape, desc.tile) if desc.is_tiled else shape


def _tiles(shape: Sequence[int], tile: tuple[int, int]) -> tuple[int, ...]:
    *outer, rows, columns = padded_shape(shape, tile)
    return (*outer, rows // tile[0], columns // tile[1], math.prod(tile))


# --- Run ------------------------------------------------------------------------------------------


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
            raise BinaryError(f"{self.where}: {error}") from error

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


# --- Custom kernel --------------------------------------------------------------------------------
# Runs custom kernels on the simulator: NumPy arrays in and out.

_SPACES = {"dram": MemorySpace.DEVICE_DRAM, "l1": MemorySpace.DEVICE_L1}


@dataclass(frozen=True)
class KernelRun:
    """What a kernel made, and what it took."""

    outputs: tuple[Array, ...]
    report: ProgramReport

    @property
    def cycles(self) -> int:
        """When the last thread ended."""
        return self.report.cycles


@cache
def element_of(keyword: str) -> ElementType:
    """The element type of a keyword of the IR."""
    return next(each for each in ELEMENT_TYPES.values() if each.keyword == keyword)


def run_custom_kernel(
    kernel: CustomKernel,
    inputs: Sequence[Array],
    *,
    board: str = "n150",
    numerics: Numerics | str = Numerics.DEVICE,
    print_line: Callable[[str], None] | None = None,
) -> KernelRun:
    """Run a kernel on a simulated board.

    InputError for arrays of other shapes or types, ExecutionError for what the kernel does wrong.
    """
    if len(inputs) != len(kernel.inputs):
        raise InputError(
            f"'{kernel.name}' takes {plural(len(kernel.inputs), 'array')}, got {len(inputs)}"
        )
    values: list[Array] = []
    for tensor, array in zip(kernel.inputs, inputs, strict=True):
        element = element_of(tensor.element)
        if array.shape != tensor.shape or array.dtype != element.host:
            raise InputError(
                f"'{tensor.name}' of '{kernel.name}' is {tensor}; got an array of shape "
                f"{array.shape} and dtype {array.dtype}"
            )
        values.append(convert(array, element.compute))
    program = GenericProgram(
        description=kernel.program,
        descs=tuple(map(_desc, kernel.tensors)),
        num_outputs=len(kernel.outputs),
        where=f"kernel '{kernel.name}'",
    )
    options = simulator_options(Numerics(numerics))
    run = run_generic(program, values, _chip(board), options, print_line=print_line)
    outputs = tuple(
        np.ascontiguousarray(convert(array, element_of(tensor.element).host))
        for array, tensor in zip(run.outputs, kernel.outputs, strict=True)
    )
    return KernelRun(outputs, run.report)


def _desc(tensor: KernelTensor) -> TensorDesc:
    element = element_of(tensor.element)
    return TensorDesc(
        shape=tensor.shape,
        element=element,
        data_type=tensor.data_type,
        memory_space=_SPACES[tensor.memory],
        memory_layout=TensorMemoryLayout.from_keyword(
            "interleaved" if tensor.shards is None else tensor.shards.layout
        ),
        tile=DEFAULT_TILE_SHAPE if tensor.layout == "tile" else (1, 1),
        core_ranges=() if tensor.shards is None else ((0, 0, *tensor.shards.grid),),
        shard=() if tensor.shards is None else tensor.shard,
    )


@cache
def _chip(board: str) -> SimChip:
    return SimChip.of_board(board, 0)


# --- Reading --------------------------------------------------------------------------------------
# Reads programs of kernels from the tables of a `.ttnn` file; everything is checked.

Table = Mapping[str, Any]

TABLE = "GenericOp"
"""Member of the schema's `OpType` union."""


def read_generic(operation: Operation) -> GenericProgram:
    """The program of an operation; BinaryError or UnsupportedError if it cannot be run."""
    where = operation.where
    tensors = operation.tensors("io_tensors")
    return GenericProgram(
        description=read_program(operation.table_field("program"), where),
        descs=tuple(each.desc for each in tensors),
        num_outputs=int(operation.scalar("num_outputs")),
        where=where,
    )


def read_program(table: Table, where: str) -> ProgramDescription:
    """The program of a `ProgramDescriptor`; BinaryError or UnsupportedError if it cannot be."""
    try:
        return _program(table, where)
    except DescriptionError as error:
        raise BinaryError(f"{where}: {error}") from error


def _program(table: Table, where: str) -> ProgramDescription:
    return ProgramDescription(
        kernels=limit_kernels(
            _kernel(each, index, f"{where}: kernel {index}")
            for index, each in enumerate(table["kernels"] or ())
        ),
        circular_buffers=tuple(
            _circular_buffer(each, f"{where}: circular buffer {index}")
            for index, each in enumerate(table["cbs"] or ())
        ),
        semaphores=tuple(
            _semaphore(each, f"{where}: semaphore {index}")
            for index, each in enumerate(table["semaphores"] or ())
        ),
    )


def _kernel(table: Table, index: int, where: str) -> KernelDescription:
    if table["source_type"] != "SOURCE_CODE":
        raise UnsupportedError(
            f"{where} is the name of a file; no file of the machine that runs a program is opened: "
            "compile it with the text of its kernels"
        )
    return KernelDescription(
        name=table["name"] or f"kernel_{index}",
        source=table["source"] or "",
        config=_config(table, where),
        core_ranges=_core_ranges(table["core_ranges"]),
        compile_time_args=_core_args(table["ct_args"], where),
        named_compile_time_args=tuple(
            _named_argument(each, where) for each in table["named_ct_args"] or ()
        ),
        runtime_args=tuple(_runtime_args(each, where) for each in table["rt_args"] or ()),
        common_runtime_args=_core_args(table["common_rt_args"], where),
        defines=tuple((each["name"] or "", each["value"] or "") for each in table["defines"] or ()),
    )


def _config(table: Table, where: str) -> KernelConfig:
    config: Table | None = table["config"]
    match table["config_type"]:
        case "ReaderKernelConfig":
            return ReaderConfig()
        case "WriterKernelConfig":
            return WriterConfig()
        case "DataMovementKernelConfig" if config is not None:
            return DataMovementConfig(
                Processor[config["processor"]], NocIndex.from_schema_name(config["noc"])
            )
        case "ComputeKernelConfig" if config is not None:
            modes: Sequence[str] = config["unpack_to_dest_modes"] or ()
            return ComputeConfig(
                math_fidelity=MathFidelity.from_schema_name(config["math_fidelity"]),
                fp32_dest_acc_en=config["fp32_dest_acc_en"],
                dst_full_sync_en=config["dst_full_sync_en"],
                bfp8_pack_precise=config["bfp8_pack_precise"],
                math_approx_mode=config["math_approx_mode"],
                unpack_to_dest_fp32=tuple(i for i, mode in enumerate(modes) if mode == "Fp32"),
            )
        case _:
            raise BinaryError(f"{where}: field 'config' is missing")


def _core_args(table: Table | None, where: str) -> Arguments:
    return () if table is None else _arguments(table["args"] or (), where)


def _runtime_args(table: Table, where: str) -> tuple[Core, Arguments]:
    core = table["core_coord"]
    if core is None:
        raise BinaryError(f"{where}: run-time arguments without a core")
    return (core.x, core.y), _arguments(table["args"] or (), where)


def _arguments(tables: Sequence[Table], where: str) -> Arguments:
    return tuple(_argument(each, where) for each in tables)


def _argument(table: Table, where: str) -> Argument:
    argument: Table | None = table["arg"]
    if argument is None:
        raise BinaryError(f"{where}: an argument says nothing")
    match table["arg_type"]:
        case "KernelArgCBBufferIndex":
            return CircularBufferIndex(argument["buffer_index"])
        case "KernelArgBufferAddressOfTensor":
            return AddressOfTensor(argument["tensor_index"])
        case "KernelArgSemaphoreAt":
            return SemaphoreAt(argument["semaphore_index"])
        case "KernelArgTensorAccessorArgs":
            return TensorAccessorArgs(argument["operand_index"])
        case "KernelArgScalar":
            return argument["value"]
        case kind:
            raise UnsupportedError(
                f"{where} has an argument of kind {kind}; addresses come from tensors, so that "
                "a program cannot name what is not its own"
            )


def _named_argument(table: Table, where: str) -> tuple[str, Argument]:
    value: Table | None = table["value"]
    if value is None:
        raise BinaryError(f"{where}: an argument says nothing")
    return table["name"] or "", _argument(value, where)


def _circular_buffer(table: Table, where: str) -> CircularBufferDescription:
    buffer: Table | None = table["buffer"]
    return CircularBufferDescription(
        total_size=table["total_size"],
        core_ranges=_core_ranges(table["core_range"]),
        formats=tuple(
            CircularBufferFormat(
                each["buffer_index"], DataType.from_schema_name(each["dtype"]), each["page_size"]
            )
            for each in table["formats"] or ()
        ),
        tensor=None if buffer is None else buffer["tensor_operand_index"],
    )


def _semaphore(table: Table, where: str) -> SemaphoreDescription:
    if table["core_type"] != "WORKER":
        raise UnsupportedError(
            f"{where} is one of {table['core_type']} cores; the simulator has worker cores"
        )
    return SemaphoreDescription(
        core_ranges=_core_ranges(table["core_ranges"]),
        initial_value=table["initial_value"],
        id=None if table["id"] == -1 else table["id"],
    )


def _core_ranges(table: Table | None) -> CoreRanges:
    ranges: Sequence[Any] = () if table is None else table["core_ranges"] or ()
    return tuple(
        CoreRange((each.start_coord.x, each.start_coord.y), (each.end_coord.x, each.end_coord.y))
        for each in ranges
    )
