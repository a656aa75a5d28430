"""What a program of Metal 2.0 is made of: kernels that know everything else by names.

Kernels read the names as `args::n`, `dfb::in`, `sem::ready` and `tensor::source`. Where C++ has a
list in braces, a dictionary with the same names does, too. Source: tt-metal of late 2026,
tt-metalium/experimental/metal2_host_api.
"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, TypeVar, cast

from ttmlir.layout.enums import MathFidelity
from ttmlir.metalium.buffers import Buffer
from ttmlir.metalium.cores import CoreSpec
from ttmlir.metalium.enums import (
    NOC,
    NOC_MODE,
    DataFormat,
    DataMovementProcessor,
    KernelBuildOptLevel,
    UnpackToDestMode,
)
from ttmlir.metalium.errors import MetaliumError, names_fields

_Made = TypeVar("_Made")


class DFBEndpointType(IntEnum):
    """Which end of a dataflow buffer a kernel has."""

    PRODUCER = 0
    CONSUMER = 1


@names_fields
@dataclass(kw_only=True)
class DataflowBufferAdvancedOptions:
    """What few dataflow buffers need."""

    alias_with: Sequence[str] = ()
    """Other dataflow buffers that share the memory."""


@names_fields
@dataclass(kw_only=True)
class DataflowBufferSpec:
    """A dataflow buffer: a circular buffer on all cores of the kernels that bind it."""

    unique_id: str
    entry_size: int
    """Bytes of a page."""
    num_entries: int
    data_format_metadata: DataFormat | None = None
    """The format of its tiles; bytes without a format if it is None."""
    borrowed_from: str | None = None
    """The tensor in L1 whose shards it lies on."""
    advanced_options: DataflowBufferAdvancedOptions | Mapping[str, Any] = field(
        default_factory=DataflowBufferAdvancedOptions
    )


@names_fields
@dataclass(kw_only=True)
class SemaphoreSpec:
    """A semaphore on some cores."""

    unique_id: str
    target_nodes: CoreSpec
    initial_value: int = 0


@names_fields
@dataclass(kw_only=True)
class TensorParameter:
    """A tensor that kernels know by a name; the buffers of runs have the layout of `spec`."""

    unique_id: str
    spec: Buffer


@names_fields
@dataclass(kw_only=True)
class DFBBinding:
    """The name by which a kernel knows a dataflow buffer: `dfb::accessor_name`."""

    dfb_spec_name: str
    accessor_name: str
    endpoint_type: DFBEndpointType


@names_fields
@dataclass(kw_only=True)
class SemaphoreBinding:
    """The name by which a kernel knows a semaphore: `sem::accessor_name`."""

    semaphore_spec_name: str
    accessor_name: str


@names_fields
@dataclass(kw_only=True)
class TensorBinding:
    """The name by which a kernel knows a tensor: `tensor::accessor_name`."""

    tensor_parameter_name: str
    accessor_name: str


@names_fields
@dataclass(kw_only=True)
class RuntimeArgSchema:
    """Names of run-time arguments: `get_arg(args::name)`."""

    runtime_arg_names: Sequence[str] = ()
    common_runtime_arg_names: Sequence[str] = ()


@names_fields
@dataclass(kw_only=True)
class CompilerOptions:
    """How a kernel is compiled."""

    defines: Mapping[str, str] = field(default_factory=dict[str, str])
    include_folders: Sequence[str] = ()
    """Where headers are; C++ has no such option."""
    opt_level: KernelBuildOptLevel = KernelBuildOptLevel.O2
    """Changes nothing here."""


@names_fields
@dataclass(kw_only=True)
class DataMovement1XXConfig:
    """The processor and the network of a kernel that moves data."""

    processor: DataMovementProcessor = DataMovementProcessor.RISCV_0
    noc: NOC = NOC.RISCV_0_default
    noc_mode: NOC_MODE = NOC_MODE.DM_DEDICATED_NOC


@names_fields
@dataclass(kw_only=True)
class DataMovementHardwareConfig:
    """A kernel that moves data."""

    config_1xx: DataMovement1XXConfig | Mapping[str, Any] = field(
        default_factory=DataMovement1XXConfig
    )


def create_reader_datamovement_config() -> DataMovementHardwareConfig:
    """The usual configuration of a kernel that reads: RISCV_1, on network 0."""
    config = DataMovement1XXConfig(processor=DataMovementProcessor.RISCV_1, noc=NOC.NOC_0)
    return DataMovementHardwareConfig(config_1xx=config)


def create_writer_datamovement_config() -> DataMovementHardwareConfig:
    """The usual configuration of a kernel that writes: RISCV_0, on network 1."""
    config = DataMovement1XXConfig(processor=DataMovementProcessor.RISCV_0, noc=NOC.NOC_1)
    return DataMovementHardwareConfig(config_1xx=config)


@names_fields
@dataclass(kw_only=True)
class ComputeHardwareConfig:
    """A kernel that computes."""

    math_fidelity: MathFidelity = MathFidelity.HIFI4
    enable_32_bit_dest: bool = False
    dst_full_sync_en: bool = False
    math_approx_mode: bool = False
    unpack_modes: Mapping[str, UnpackToDestMode] = field(
        default_factory=dict[str, UnpackToDestMode]
    )
    """By dataflow buffer."""


@names_fields
@dataclass(kw_only=True)
class KernelAdvancedOptions:
    """What few kernels need."""

    num_runtime_varargs: int = 0
    """Run-time arguments without names: `get_vararg(i)`."""
    num_common_runtime_varargs: int = 0
    """Common ones: `get_common_vararg(i)`."""


@names_fields
@dataclass(kw_only=True)
class KernelSpec:
    """A kernel, and the names that it knows."""

    unique_id: str
    source: str
    """The file of the kernel, or its text if that has several lines."""
    dfb_bindings: Sequence[DFBBinding] = ()
    semaphore_bindings: Sequence[SemaphoreBinding] = ()
    tensor_bindings: Sequence[TensorBinding] = ()
    compile_time_args: Mapping[str, int] = field(default_factory=dict[str, int])
    runtime_arg_schema: RuntimeArgSchema | Mapping[str, Any] = field(
        default_factory=RuntimeArgSchema
    )
    compiler_options: CompilerOptions | Mapping[str, Any] = field(default_factory=CompilerOptions)
    hw_config: DataMovementHardwareConfig | ComputeHardwareConfig
    advanced_options: KernelAdvancedOptions | Mapping[str, Any] = field(
        default_factory=KernelAdvancedOptions
    )


@names_fields
@dataclass(kw_only=True)
class WorkUnitSpec:
    """Kernels that run together on some cores."""

    name: str
    kernels: Sequence[str]
    target_nodes: CoreSpec


@names_fields
@dataclass(kw_only=True)
class ProgramSpec:
    """A program."""

    name: str = "program"
    kernels: list[KernelSpec] = field(default_factory=list[KernelSpec])
    dataflow_buffers: list[DataflowBufferSpec] = field(default_factory=list[DataflowBufferSpec])
    semaphores: list[SemaphoreSpec] = field(default_factory=list[SemaphoreSpec])
    tensor_parameters: list[TensorParameter] = field(default_factory=list[TensorParameter])
    work_units: list[WorkUnitSpec] = field(default_factory=list[WorkUnitSpec])


@names_fields
@dataclass(kw_only=True)
class KernelRunAdvancedArgs:
    """Arguments without names."""

    runtime_varargs: MutableMapping[tuple[int, int], Sequence[int]] = field(
        default_factory=dict[tuple[int, int], Sequence[int]]
    )
    """By core."""
    common_runtime_varargs: Sequence[int] = ()


@names_fields
@dataclass(kw_only=True)
class KernelRunArgs:
    """The run-time arguments of a kernel by their names."""

    kernel: str
    runtime_arg_values: MutableMapping[tuple[int, int], Mapping[str, int]] = field(
        default_factory=dict[tuple[int, int], Mapping[str, int]]
    )
    """By core, then by name."""
    common_runtime_arg_values: Mapping[str, int] = field(default_factory=dict[str, int])
    advanced_options: KernelRunAdvancedArgs | Mapping[str, Any] = field(
        default_factory=KernelRunAdvancedArgs
    )


@names_fields
@dataclass
class TensorArgument:
    """The buffer that a name stands for in a run."""

    tensor: Buffer


@names_fields
@dataclass(kw_only=True)
class ProgramRunArgs:
    """What changes from run to run."""

    kernel_run_args: list[KernelRunArgs] = field(default_factory=list[KernelRunArgs])
    tensor_args: MutableMapping[str, TensorArgument | Buffer] = field(
        default_factory=dict[str, "TensorArgument | Buffer"]
    )


def AddRuntimeArgsForNode(
    runtime_arg_values: MutableMapping[tuple[int, int], Mapping[str, int]],
    node: tuple[int, int],
    args: Mapping[str, int],
) -> None:
    """Add the arguments of a core to those of a `KernelRunArgs`."""
    runtime_arg_values[node] = {**runtime_arg_values.get(node, {}), **args}


def take_options(made: type[_Made], given: object) -> _Made:
    """Options that may come as a dictionary; MetaliumError for what is neither."""
    if isinstance(given, made):
        return given
    if isinstance(given, Mapping):
        return made(**cast("dict[str, Any]", given))
    raise MetaliumError(f"{given!r} is neither a {made.__name__} nor a dictionary")
