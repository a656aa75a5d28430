"""Programs of kernels as tables of the schema's `generic_op.fbs`."""

from __future__ import annotations

from ttmlir.layout.metal.device_memory import CIRCULAR_BUFFERS
from ttmlir.program.description import (
    AddressOfTensor,
    Argument,
    Arguments,
    CircularBufferDescription,
    CircularBufferIndex,
    ComputeConfig,
    CoreRanges,
    DataMovementConfig,
    KernelConfig,
    KernelDescription,
    ProgramDescription,
    ReaderConfig,
    SemaphoreAt,
    TensorAccessorArgs,
    WriterConfig,
)
from ttmlir.target.flatbuffer.tensors import Table

_NO_ID = -1
"""The `id` of a semaphore that has none."""


def program_table(program: ProgramDescription) -> Table:
    """The `ProgramDescriptor` of a program."""
    return {
        "kernels": [_kernel(each) for each in program.kernels],
        "semaphores": [
            {
                "core_type": "WORKER",
                "core_ranges": _core_ranges(each.core_ranges),
                "initial_value": each.initial_value,
                "id": _NO_ID if each.id is None else each.id,
            }
            for each in program.semaphores
        ],
        "cbs": [_circular_buffer(each) for each in program.circular_buffers],
    }


def _kernel(kernel: KernelDescription) -> Table:
    member, config = _config(kernel.config)
    table: Table = {
        "source": kernel.source,
        "source_type": "SOURCE_CODE",
        "config_type": member,
        "config": config,
        "core_ranges": _core_ranges(kernel.core_ranges),
        "ct_args": {"args": _arguments(kernel.compile_time_args)},
        "rt_args": [
            {"core_coord": core, "args": _arguments(each)} for core, each in kernel.runtime_args
        ],
        "common_rt_args": {"args": _arguments(kernel.common_runtime_args)},
        "name": kernel.name,
        "defines": [{"name": name, "value": value} for name, value in kernel.defines],
    }
    if kernel.named_compile_time_args:
        table["named_ct_args"] = [
            {"name": name, "value": _argument_table(value)}
            for name, value in kernel.named_compile_time_args
        ]
    return table


def _config(config: KernelConfig) -> tuple[str, Table]:
    """The member of the union `KernelConfig`, and its table."""
    match config:
        case ReaderConfig():
            return "ReaderKernelConfig", {}
        case WriterConfig():
            return "WriterKernelConfig", {}
        case DataMovementConfig(processor, noc):
            return "DataMovementKernelConfig", {
                "processor": processor.name,
                "noc": noc.schema_name,
            }
        case ComputeConfig():
            return "ComputeKernelConfig", {
                "math_fidelity": config.math_fidelity.schema_name,
                "fp32_dest_acc_en": config.fp32_dest_acc_en,
                "dst_full_sync_en": config.dst_full_sync_en,
                "unpack_to_dest_modes": [
                    "Fp32" if index in config.unpack_to_dest_fp32 else "Default"
                    for index in range(CIRCULAR_BUFFERS)
                ],
                "bfp8_pack_precise": config.bfp8_pack_precise,
                "math_approx_mode": config.math_approx_mode,
            }


def _arguments(arguments: Arguments) -> list[Table]:
    return [_argument_table(each) for each in arguments]


def _argument_table(argument: Argument) -> Table:
    member, table = _argument(argument)
    return {"arg_type": member, "arg": table}


def _argument(argument: Argument) -> tuple[str, Table]:
    """The member of the union `KernelArgType`, and its table."""
    match argument:
        case CircularBufferIndex(index):
            return "KernelArgCBBufferIndex", {"buffer_index": index}
        case AddressOfTensor(number):
            return "KernelArgBufferAddressOfTensor", {"tensor_index": number}
        case SemaphoreAt(number):
            return "KernelArgSemaphoreAt", {"semaphore_index": number}
        case TensorAccessorArgs(number):
            return "KernelArgTensorAccessorArgs", {"operand_index": number}
        case int():
            return "KernelArgScalar", {"value": argument}


def _circular_buffer(buffer: CircularBufferDescription) -> Table:
    table: Table = {
        "total_size": buffer.total_size,
        "core_range": _core_ranges(buffer.core_ranges),
        "formats": [
            {
                "buffer_index": each.index,
                "dtype": each.data_type.schema_name,
                "page_size": each.page_size,
            }
            for each in buffer.formats
        ],
    }
    if buffer.tensor is not None:
        table["buffer"] = {"tensor_operand_index": buffer.tensor}
    return table


def _core_ranges(ranges: CoreRanges) -> Table:
    return {"core_ranges": [(each.start, each.end) for each in ranges]}
