"""The operation whose program is given: kernels of one's own on tensors."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, cast

from ttmlir.cpp.errors import MappedText
from ttmlir.cpp.include_path import HOME_VARIABLE
from ttmlir.errors import UsageError, plural
from ttmlir.layout.enums import MathFidelity as Fidelity
from ttmlir.layout.enums import NocIndex
from ttmlir.metalium.cores import CoreCoord, CoreRangeSet, cores_of
from ttmlir.metalium.cores import CoreRange as CoreRectangle
from ttmlir.metalium.enums import UnpackToDestMode
from ttmlir.metalium.host_api import EnqueueProgram, argument_word, argument_words
from ttmlir.metalium.mesh_shapes import MeshCoordinateRange
from ttmlir.metalium.meshes import run_together
from ttmlir.program import (
    CircularBufferDescription,
    CircularBufferFormat,
    ComputeConfig,
    CoreRange,
    CoreRanges,
    DataMovementConfig,
    KernelConfig,
    KernelDescription,
    Processor,
    ProgramDescription,
    ReaderConfig,
    SemaphoreDescription,
    WriterConfig,
    list_ranges,
)
from ttmlir.runtime.generic import create_sim_program
from ttmlir.sim.execution.program import Program, find_kernel, read_kernel
from ttmlir.ttnn.operations.operation import (
    Operation,
    common_device,
    operations_of,
    remember_program,
    require_tensor,
)
from ttmlir.ttnn.programs.descriptors import (
    CBDescriptor,
    CBFormatDescriptor,
    ComputeConfigDescriptor,
    DataMovementConfigDescriptor,
    KernelDescriptor,
    MeshProgramDescriptor,
    ProgramDescriptor,
    ReaderConfigDescriptor,
    SemaphoreDescriptor,
    SourceType,
    TileDescriptor,
    arguments_by_core,
)
from ttmlir.ttnn.tensor.tensor import Tensor
from ttmlir.ttnn.types.enums import CoreType, MathFidelity

if TYPE_CHECKING:
    from ttmlir.sim.execution.run import CommandQueue
    from ttmlir.ttnn.device.queue import TensorQueue

# --- Programs from their descriptors --------------------------------------------------------------


def describe_program(
    descriptor: ProgramDescriptor, number_of: Callable[[Tensor], int]
) -> ProgramDescription:
    """The program of a descriptor; addresses in it stay the numbers that they are.

    `number_of` numbers the tensors that circular buffers are on. RuntimeError, DescriptionError or
    MetaliumError for what no program can be, SimError for a file that cannot be read.
    """
    return ProgramDescription(
        kernels=tuple(
            _describe_kernel(each, index) for index, each in enumerate(descriptor.kernels)
        ),
        circular_buffers=tuple(_describe_buffers(each, number_of) for each in descriptor.cbs),
        semaphores=tuple(map(_describe_semaphore, descriptor.semaphores)),
    )


def _describe_kernel(descriptor: KernelDescriptor, index: int) -> KernelDescription:
    name, file, source = _read_source(descriptor, index)
    arguments = arguments_by_core(descriptor.runtime_args, descriptor.core_ranges)
    return KernelDescription(
        name=name,
        file=file,
        source=source,
        config=_describe_config(descriptor),
        core_ranges=_describe_cores(descriptor.core_ranges),
        compile_time_args=argument_words(descriptor.compile_time_args, "compile-time argument"),
        named_compile_time_args=tuple(
            (each, argument_word(value, f"compile-time argument '{each}'"))
            for each, value in descriptor.named_compile_time_args
        ),
        runtime_args=tuple(
            (core, argument_words(values, "run-time argument"))
            for core, values in arguments.items()
        ),
        common_runtime_args=argument_words(
            descriptor.common_runtime_args, "common run-time argument"
        ),
        defines=tuple(dict(descriptor.defines).items()),
        include_folders=tuple(os.fspath(each) for each in descriptor.include_folders),
        home=os.environ.get(HOME_VARIABLE, ""),
    )


def _read_source(descriptor: KernelDescriptor, index: int) -> tuple[str, str, str]:
    """The name of a kernel, the file that messages name, and the text."""
    source = descriptor.kernel_source
    if descriptor.source_type is not SourceType.SOURCE_CODE:
        path = str(find_kernel(source, os.environ.get(HOME_VARIABLE, "")))
        return Path(path).stem, path, read_kernel(path)
    if isinstance(source, MappedText):
        # A kernel in Python is known by its name there.
        return source.name, source.source_map.file, source
    return f"kernel_{index}", "", source


def _describe_config(descriptor: KernelDescriptor) -> KernelConfig:
    match descriptor.config:
        case ComputeConfigDescriptor() as config:
            if config.math_fidelity is MathFidelity.Invalid:
                raise UsageError("math_fidelity is LoFi, HiFi2, HiFi3 or HiFi4, not Invalid")
            return ComputeConfig(
                math_fidelity=Fidelity(config.math_fidelity.value),
                fp32_dest_acc_en=config.fp32_dest_acc_en,
                dst_full_sync_en=config.dst_full_sync_en,
                math_approx_mode=config.math_approx_mode,
                bfp8_pack_precise=config.bfp8_pack_precise,
                unpack_to_dest_fp32=tuple(
                    index
                    for index, mode in enumerate(config.unpack_to_dest_mode)
                    if mode == UnpackToDestMode.UnpackToDestFp32
                ),
            )
        case DataMovementConfigDescriptor() as config:
            return DataMovementConfig(Processor(int(config.processor)), NocIndex(int(config.noc)))
        case ReaderConfigDescriptor():
            return ReaderConfig()
        case _:
            return WriterConfig()


def _describe_buffers(
    descriptor: CBDescriptor, number_of: Callable[[Tensor], int]
) -> CircularBufferDescription:
    return CircularBufferDescription(
        total_size=descriptor.total_size,
        core_ranges=_describe_cores(descriptor.core_ranges),
        formats=tuple(
            CircularBufferFormat(
                int(each.buffer_index),
                each.data_format.facts.storage,
                each.page_size,
                _find_height(each),
            )
            for each in descriptor.format_descriptors
        ),
        tensor=None if descriptor.tensor is None else number_of(descriptor.tensor),
    )


def _find_height(format_: CBFormatDescriptor) -> int:
    match format_.tile:
        case None:
            return 32
        case TileDescriptor(height=height, width=width, transpose=transpose):
            pass
        case tile:
            (height, width), transpose = tile.tile_shape, tile.transpose_tile
    if width != 32 or transpose:
        raise UsageError(
            f"circular buffer {int(format_.buffer_index)} holds "
            f"{'transposed ' * transpose}tiles of {height}x{width}; tiles have 32 columns here and "
            "are not transposed"
        )
    return height


def _describe_semaphore(descriptor: SemaphoreDescriptor) -> SemaphoreDescription:
    if descriptor.core_type != CoreType.WORKER:
        raise UsageError("semaphores are on worker cores; Ethernet cores run no kernels here")
    return SemaphoreDescription(
        core_ranges=_describe_cores(descriptor.core_ranges),
        initial_value=argument_word(descriptor.initial_value, "the value of a semaphore"),
        id=descriptor.id,
    )


def _describe_cores(cores: CoreRangeSet | CoreRectangle | CoreCoord) -> CoreRanges:
    match cores:
        case CoreRangeSet():
            return tuple(map(_describe_rectangle, cores.ranges()))
        case CoreRectangle():
            return (_describe_rectangle(cores),)
        case _:
            return list_ranges(cores_of(cores))


def _describe_rectangle(cores: CoreRectangle) -> CoreRange:
    return CoreRange((cores.start.x, cores.start.y), (cores.end.x, cores.end.y))


# --- The operation --------------------------------------------------------------------------------


def generic_op(
    io_tensors: Sequence[Tensor], program_descriptor: ProgramDescriptor | MeshProgramDescriptor
) -> Tensor:
    """Run a program on tensors; the last of them, which holds the result, is returned.

    Each device of a mesh runs the program with the parts that it has, or that of the devices it is
    among: all at once if the mesh was opened with a fabric (`set_fabric_config`), over which their
    kernels may send. RuntimeError for tensors on the host, for less than two, and for what the
    simulator finds in a kernel.
    """
    tensors = [require_tensor(each, "an entry of io_tensors") for each in io_tensors]
    if len(tensors) < 2:
        raise UsageError(
            f"io_tensors has {plural(len(tensors), 'tensor')}; give the inputs and, as the last "
            "one, the "
            "output"
        )
    mesh = common_device(*tensors)
    runs: list[tuple[CommandQueue, Program]] = []
    for index, place in enumerate(MeshCoordinateRange(mesh.shape)):
        program = program_descriptor
        if isinstance(program, MeshProgramDescriptor):
            program = program.program_at(place)
        if program is not None:
            queue = mesh.units[index].command_queue()
            runs.append((queue, _build(index, tensors, program)))
            if mesh.fabric is None:
                EnqueueProgram(*runs[-1])
    if mesh.fabric is not None and mesh.cluster is not None and runs:
        with ExitStack() as stack:
            for unit in mesh.units:
                queue = cast("TensorQueue", unit.command_queue())
                stack.enter_context(queue.seen_by_programs())
            run_together(mesh.cluster, mesh.fabric, runs)
    remember_program(mesh, id(program_descriptor))
    return tensors[-1]


def _build(index: int, tensors: Sequence[Tensor], descriptor: ProgramDescriptor) -> Program:
    """The program of the device with this number in the mesh of the tensors."""
    # From now on the bytes of the tensors are what kernels see.
    buffers = [tensor.parts[index].device_storage().buffer for tensor in tensors]

    def number_of(tensor: Tensor) -> int:
        """The number of the tensor of a circular buffer, which may be none of `io_tensors`."""
        part = tensor if tensor.mesh_storage is None else tensor.parts[index]
        buffers.append(part.device_storage().buffer)
        return len(buffers) - 1

    description = describe_program(descriptor, number_of)
    return create_sim_program(description, buffers)


OPERATIONS: dict[str, Operation] = operations_of(generic_op, crosses_devices=True)
