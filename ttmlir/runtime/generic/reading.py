"""Reads programs of kernels from the tables of a `.ttnn` file; everything is checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ttmlir.layout.enums import DataType, MathFidelity, NocIndex
from ttmlir.program.description import (
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
    DataMovementConfig,
    DescriptionError,
    KernelConfig,
    KernelDescription,
    Processor,
    ProgramDescription,
    ReaderConfig,
    SemaphoreAt,
    SemaphoreDescription,
    TensorAccessorArgs,
    WriterConfig,
    limit_kernels,
)
from ttmlir.runtime.binary import Operation
from ttmlir.runtime.errors import BinaryError, UnsupportedError
from ttmlir.runtime.generic.run import GenericProgram

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
        raise BinaryError(f"{where}: {error}") from None


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
