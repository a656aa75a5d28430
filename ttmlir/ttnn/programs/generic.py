"""Runs a program of kernels on tensors."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from ttmlir.layout.enums import MathFidelity as Fidelity
from ttmlir.metalium.configs import (
    ComputeConfig,
    DataMovementConfig,
    ReaderDataMovementConfig,
    WriterDataMovementConfig,
)
from ttmlir.metalium.cores import cores_of
from ttmlir.metalium.host_api import (
    CreateKernel,
    CreateKernelFromString,
    EnqueueProgram,
    SetCommonRuntimeArgs,
    SetRuntimeArgs,
)
from ttmlir.sim.execution.program import CircularBufferSpec, Program, SemaphoreSpec
from ttmlir.sim.execution.run import ProgramReport
from ttmlir.ttnn.operations.operation import (
    Operation,
    common_device,
    operations_of,
    remember_program,
    require_tensor,
)
from ttmlir.ttnn.programs.descriptors import (
    CBDescriptor,
    ComputeConfigDescriptor,
    DataMovementConfigDescriptor,
    KernelDescriptor,
    ProgramDescriptor,
    ReaderConfigDescriptor,
    SemaphoreDescriptor,
    SourceType,
    arguments_by_core,
)
from ttmlir.ttnn.tensor.tensor import Tensor
from ttmlir.ttnn.types.enums import CoreType, MathFidelity


def generic_op(io_tensors: Sequence[Tensor], program_descriptor: ProgramDescriptor) -> Tensor:
    """Run a program on tensors; the last of them, which holds the result, is returned.

    RuntimeError for tensors on the host, for less than two, and for what the simulator finds in a
    kernel.
    """
    tensors = [require_tensor(each, "an entry of io_tensors") for each in io_tensors]
    if len(tensors) < 2:
        raise RuntimeError(
            f"io_tensors has {len(tensors)} tensors; give the inputs and, as the last one, the "
            "output"
        )
    device = common_device(*tensors)
    for tensor in tensors:
        # From now on the bytes of the tensor are what kernels see.
        tensor.buffer_address()
    EnqueueProgram(device.command_queue(), build_program(program_descriptor))
    remember_program(device, ("generic_op", id(program_descriptor), *(t.spec for t in tensors)))
    return tensors[-1]


def last_report(tensor: Tensor) -> ProgramReport:
    """What the last program on the device of a tensor did: its cycles, findings and lines."""
    device = common_device(tensor)
    reports = device.command_queue().reports
    if not reports:
        raise RuntimeError("no program has run on the device")
    return reports[-1]


def build_program(descriptor: ProgramDescriptor) -> Program:
    """The program that a descriptor describes."""
    program = Program()
    for semaphore in descriptor.semaphores:
        _add_semaphore(program, semaphore)
    for buffers in descriptor.cbs:
        _add_circular_buffers(program, buffers)
    for kernel in descriptor.kernels:
        _add_kernel(program, kernel)
    return program


def _add_semaphore(program: Program, descriptor: SemaphoreDescriptor) -> None:
    if descriptor.core_type != CoreType.WORKER:
        raise RuntimeError("semaphores are on worker cores; Ethernet cores run no kernels here")
    cores = cores_of(descriptor.core_ranges)
    spec = SemaphoreSpec(index=descriptor.id, cores=cores, initial=descriptor.initial_value)
    for other in program.semaphores:
        if other.index == spec.index and set(other.cores) & set(cores):
            raise RuntimeError(f"semaphore {spec.index} was already created on one of the cores")
    program.semaphores.append(spec)


def _add_circular_buffers(program: Program, descriptor: CBDescriptor) -> None:
    tensor = descriptor.tensor
    program.add_circular_buffer(
        CircularBufferSpec(
            cores=cores_of(descriptor.core_ranges),
            total_size=descriptor.total_size,
            indices={
                int(each.buffer_index): (each.page_size, each.data_format.facts.storage)
                for each in descriptor.format_descriptors
            },
            buffer=None if tensor is None else tensor.device_storage().buffer,
        )
    )


def _add_kernel(program: Program, descriptor: KernelDescriptor) -> None:
    if descriptor.named_compile_time_args:
        raise RuntimeError(
            "named_compile_time_args are not here yet; use compile_time_args or defines"
        )
    config = _config(descriptor)
    if descriptor.source_type is SourceType.SOURCE_CODE:
        kernel = CreateKernelFromString(
            program, descriptor.kernel_source, descriptor.core_ranges, config
        )
    else:
        path = _find_kernel(descriptor.kernel_source)
        kernel = CreateKernel(program, path, descriptor.core_ranges, config)
    SetCommonRuntimeArgs(program, kernel, [*descriptor.common_runtime_args])
    arguments = arguments_by_core(descriptor.runtime_args, descriptor.core_ranges)
    for core, values in arguments.items():
        SetRuntimeArgs(program, kernel, core, values)


def _find_kernel(source: str) -> str:
    """The path of a kernel: as it is given, or below the root of tt-metal."""
    root = os.environ.get("TT_METAL_HOME", "")
    below = Path(root) / source
    return str(below) if root and not Path(source).exists() and below.exists() else source


def _config(descriptor: KernelDescriptor) -> DataMovementConfig | ComputeConfig:
    compile_args, defines = [*descriptor.compile_time_args], dict(descriptor.defines)
    match descriptor.config:
        case ComputeConfigDescriptor() as config:
            if config.math_fidelity is MathFidelity.Invalid:
                raise RuntimeError("math_fidelity is LoFi, HiFi2, HiFi3 or HiFi4, not Invalid")
            return ComputeConfig(
                math_fidelity=Fidelity(config.math_fidelity.value),
                fp32_dest_acc_en=config.fp32_dest_acc_en,
                dst_full_sync_en=config.dst_full_sync_en,
                unpack_to_dest_mode=config.unpack_to_dest_mode,
                math_approx_mode=config.math_approx_mode,
                compile_args=compile_args,
                defines=defines,
            )
        case DataMovementConfigDescriptor() as config:
            return DataMovementConfig(
                processor=config.processor,
                noc=config.noc,
                compile_args=compile_args,
                defines=defines,
            )
        case ReaderConfigDescriptor():
            return ReaderDataMovementConfig(compile_args, defines)
        case _:
            return WriterDataMovementConfig(compile_args, defines)


OPERATIONS: dict[str, Operation] = operations_of(generic_op)
