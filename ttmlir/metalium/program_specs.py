"""Programs from specifications: names become numbers of circular buffers, semaphores, arguments."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, TypeVar, cast
from weakref import WeakKeyDictionary

from ttmlir.layout.enums import MathFidelity
from ttmlir.metalium.buffers import (
    Buffer,
    CircularBufferConfig,
    CreateCircularBuffer,
    TensorAccessorArgs,
)
from ttmlir.metalium.cores import CoreRangeSet, CoreSpec, cores_of, set_of_cores
from ttmlir.metalium.device import Device, check_device
from ttmlir.metalium.enums import (
    NOC,
    NOC_MODE,
    ComputeConfig,
    DataFormat,
    DataMovementConfig,
    DataMovementProcessor,
    KernelBuildOptLevel,
    UnpackToDestMode,
)
from ttmlir.metalium.errors import MetaliumError, names_fields, suggest
from ttmlir.metalium.host_api import (
    CreateKernel,
    CreateProgram,
    CreateSemaphore,
    SetCommonRuntimeArgs,
    SetRuntimeArgs,
    argument_word,
    create_named_kernel,
)
from ttmlir.sim.execution.program import CircularBufferSpec, Kernel, Program
from ttmlir.sim.kernels.build import BindingNames, TensorNames
from ttmlir.sim.machine.memory import COUNT

# --- Specs ----------------------------------------------------------------------------------------
# What a program of Metal 2.0 is made of: kernels that know everything else by names.
#
# Kernels read the names as `args::n`, `dfb::in`, `sem::ready` and `tensor::source`. Where C++ has a
# list in braces, a dictionary with the same names does, too. Source: tt-metal of late 2026,
# tt-metalium/experimental/metal2_host_api.

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


# --- Programs -------------------------------------------------------------------------------------

_Part = TypeVar("_Part")


class _MadeProgram:
    """What a specification has become, for the arguments of its runs."""

    def __init__(self, spec: ProgramSpec, program: Program) -> None:
        """Nothing has been made yet."""
        self.spec = spec
        self.program = program
        self.kernels: dict[str, tuple[KernelSpec, Kernel]] = {}
        self.borrowed: dict[str, list[CircularBufferSpec]] = {}
        """Circular buffers that lie on tensors."""
        self.tensors = _by_name(
            [(each.unique_id, each.spec) for each in spec.tensor_parameters], "tensor parameter"
        )


_LISTS: dict[str, type[Any]] = {
    "kernels": KernelSpec,
    "dataflow_buffers": DataflowBufferSpec,
    "semaphores": SemaphoreSpec,
    "tensor_parameters": TensorParameter,
    "work_units": WorkUnitSpec,
}
"""What the lists of a ProgramSpec have."""

_made: WeakKeyDictionary[Program, _MadeProgram] = WeakKeyDictionary()


def MakeProgramFromSpec(device: Device, spec: ProgramSpec) -> Program:
    """The program of a specification; `SetProgramRunArgs` says what it runs with."""
    if not isinstance(cast("object", spec), ProgramSpec):
        raise MetaliumError(f"MakeProgramFromSpec takes a ProgramSpec, not {spec!r}")
    check_device(device)
    for name, type_ in _LISTS.items():
        for each in getattr(spec, name):
            if not isinstance(each, type_):
                raise MetaliumError(f"'{name}' of a ProgramSpec has {each!r}: no {type_.__name__}")
    if not spec.kernels:
        raise MetaliumError("a ProgramSpec has at least one kernel")
    program = CreateProgram()
    made = _MadeProgram(spec, program)
    cores = _cores_of_kernels(spec)
    numbers = _create_dataflow_buffers(made, cores)
    semaphores = _by_name([(each.unique_id, each) for each in spec.semaphores], "semaphore")
    indices = {
        name: CreateSemaphore(program, each.target_nodes, each.initial_value)
        for name, each in semaphores.items()
    }
    for each in spec.kernels:
        kernel = _create_kernel(made, each, cores[each.unique_id], numbers, indices)
        made.kernels[each.unique_id] = each, kernel
    _made[program] = made
    return program


def _by_name(pairs: Sequence[tuple[str, _Part]], what: str) -> dict[str, _Part]:
    """Parts by their names; MetaliumError for a name that two of them have."""
    found: dict[str, _Part] = {}
    for name, part in pairs:
        if name in found:
            raise MetaliumError(f"two {what}s have the name '{name}'")
        found[name] = part
    return found


def _pick(parts: Mapping[str, _Part], name: str, what: str, who: str) -> _Part:
    """The part of a name; MetaliumError with the known ones if there is none."""
    if name not in parts:
        known = ", ".join(f"'{each}'" for each in parts) or "none"
        hint = suggest(name, parts) or ";"
        raise MetaliumError(f"{who} names {what} '{name}'{hint} there are {known}")
    return parts[name]


def _cores_of_kernels(spec: ProgramSpec) -> dict[str, CoreRangeSet]:
    """Where each kernel runs: on the cores of all work units that have it."""
    kernels = _by_name([(each.unique_id, each) for each in spec.kernels], "kernel")
    places: dict[str, set[tuple[int, int]]] = {name: set() for name in kernels}
    for unit in spec.work_units:
        for name in unit.kernels:
            _pick(kernels, name, "kernel", f"work unit '{unit.name}'")
            places[name].update(cores_of(unit.target_nodes))
    for name, cores in places.items():
        if not cores:
            raise MetaliumError(
                f"kernel '{name}' is in no work unit, which would say where it runs"
            )
    return {name: set_of_cores(cores) for name, cores in places.items()}


def _create_dataflow_buffers(
    made: _MadeProgram, cores: Mapping[str, CoreRangeSet]
) -> dict[str, int]:
    """Make circular buffers, numbered in their order; returns the numbers by name."""
    spec = made.spec
    buffers = _by_name(
        [(each.unique_id, each) for each in spec.dataflow_buffers], "dataflow buffer"
    )
    if len(buffers) > COUNT:
        raise MetaliumError(f"{len(buffers)} dataflow buffers; a core has {COUNT}")
    places: dict[str, set[tuple[int, int]]] = {name: set() for name in buffers}
    for kernel in spec.kernels:
        for binding in kernel.dfb_bindings:
            who = f"kernel '{kernel.unique_id}'"
            _pick(buffers, binding.dfb_spec_name, "dataflow buffer", who)
            places[binding.dfb_spec_name].update(cores[kernel.unique_id])
    numbers = {name: number for number, name in enumerate(buffers)}
    groups = _groups_of_aliases(buffers)
    for group in groups:
        used = set[tuple[int, int]]().union(*(places[name] for name in group))
        if used:
            _create_group(made, [buffers[name] for name in group], numbers, set_of_cores(used))
    return numbers


def _groups_of_aliases(buffers: Mapping[str, DataflowBufferSpec]) -> list[list[str]]:
    """Names of dataflow buffers that share memory, in the order of the first of each group."""
    groups: list[list[str]] = []
    for name, each in buffers.items():
        options = take_options(DataflowBufferAdvancedOptions, each.advanced_options)
        for other in options.alias_with:
            _pick(buffers, other, "dataflow buffer", f"dataflow buffer '{name}'")
        near = next(
            (
                group
                for group in groups
                if name in group or any(other in group for other in options.alias_with)
            ),
            None,
        )
        if near is None:
            groups.append([name, *options.alias_with])
        else:
            near += [other for other in (name, *options.alias_with) if other not in near]
    return groups


def _create_group(
    made: _MadeProgram,
    group: Sequence[DataflowBufferSpec],
    numbers: Mapping[str, int],
    cores: CoreRangeSet,
) -> None:
    sizes = {each.unique_id: each.entry_size * each.num_entries for each in group}
    if len({*sizes.values()}) > 1:
        shown = ", ".join(f"'{name}' has {size} bytes" for name, size in sizes.items())
        raise MetaliumError(f"dataflow buffers that share memory are equally large: {shown}")
    first = group[0]
    formats = {
        numbers[each.unique_id]: each.data_format_metadata or DataFormat.UInt8 for each in group
    }
    config = CircularBufferConfig(sizes[first.unique_id], formats)
    for each in group:
        config.set_page_size(numbers[each.unique_id], each.entry_size)
    borrowed = first.borrowed_from
    if borrowed is not None:
        who = f"dataflow buffer '{first.unique_id}'"
        config.set_globally_allocated_address(_pick(made.tensors, borrowed, "tensor", who))
    handle = CreateCircularBuffer(made.program, cores, config)
    if borrowed is not None:
        made.borrowed.setdefault(borrowed, []).append(handle)


def _create_kernel(
    made: _MadeProgram,
    spec: KernelSpec,
    cores: CoreRangeSet,
    numbers: Mapping[str, int],
    semaphores: Mapping[str, int],
) -> Kernel:
    who = f"kernel '{spec.unique_id}'"
    schema = take_options(RuntimeArgSchema, spec.runtime_arg_schema)
    advanced = take_options(KernelAdvancedOptions, spec.advanced_options)
    layouts: list[int] = []
    tensors: list[tuple[str, TensorNames]] = []
    address = len(schema.common_runtime_arg_names) + advanced.num_common_runtime_varargs
    for binding in spec.tensor_bindings:
        buffer = _pick(made.tensors, binding.tensor_parameter_name, "tensor", who)
        names = TensorNames(layout=len(layouts), address=address + len(tensors))
        tensors.append((binding.accessor_name, names))
        TensorAccessorArgs(buffer, aligned_page_size=True).append_to(layouts)
    constants = {
        name: argument_word(value, f"compile-time argument '{name}'")
        for name, value in spec.compile_time_args.items()
    }
    arguments = (*schema.runtime_arg_names, *schema.common_runtime_arg_names, *constants)
    _check_names(arguments, "argument", who)
    _check_names([each.accessor_name for each in spec.dfb_bindings], "dataflow buffer", who)
    _check_names([each.accessor_name for each in spec.semaphore_bindings], "semaphore", who)
    _check_names([each.accessor_name for each in spec.tensor_bindings], "tensor", who)
    options = take_options(CompilerOptions, spec.compiler_options)
    config = _read_hardware(spec, layouts, options, numbers)
    folders, source = options.include_folders, os.fspath(spec.source)
    if "\n" in source:
        kernel = create_named_kernel(made.program, spec.unique_id, source, cores, config, folders)
    else:
        kernel = CreateKernel(made.program, source, cores, config, include_folders=folders)
    kernel.names = BindingNames(
        arguments=tuple(schema.runtime_arg_names),
        common_arguments=tuple(schema.common_runtime_arg_names),
        constants=tuple(constants.items()),
        circular_buffers=tuple(
            (each.accessor_name, numbers[each.dfb_spec_name]) for each in spec.dfb_bindings
        ),
        semaphores=tuple(
            (each.accessor_name, _pick(semaphores, each.semaphore_spec_name, "semaphore", who))
            for each in spec.semaphore_bindings
        ),
        tensors=tuple(tensors),
    )
    return kernel


def _check_names(names: Iterable[str], what: str, who: str) -> None:
    """MetaliumError for what is no name in C++, or is one twice."""
    seen = set[str]()
    for name in names:
        if not (name.isidentifier() and name.isascii()):
            raise MetaliumError(f"{who} calls {what} {name!r}, which is no name in C++")
        if name in seen:
            raise MetaliumError(f"{who} has two {what}s with the name '{name}'")
        seen.add(name)


def _read_hardware(
    spec: KernelSpec, words: Sequence[int], options: CompilerOptions, numbers: Mapping[str, int]
) -> DataMovementConfig | ComputeConfig:
    """The configuration of the kernel as the older calls take it."""
    match cast("object", spec.hw_config):
        case DataMovementHardwareConfig() as config:
            chosen = take_options(DataMovement1XXConfig, config.config_1xx)
            return DataMovementConfig(
                processor=chosen.processor,
                noc=chosen.noc,
                noc_mode=chosen.noc_mode,
                compile_args=words,
                defines=options.defines,
            )
        case ComputeHardwareConfig() as config:
            modes = [UnpackToDestMode.Default] * COUNT
            for name, mode in config.unpack_modes.items():
                who = f"kernel '{spec.unique_id}'"
                modes[_pick(numbers, name, "dataflow buffer", who)] = mode
            return ComputeConfig(
                math_fidelity=config.math_fidelity,
                fp32_dest_acc_en=config.enable_32_bit_dest,
                dst_full_sync_en=config.dst_full_sync_en,
                math_approx_mode=config.math_approx_mode,
                unpack_to_dest_mode=modes,
                compile_args=words,
                defines=options.defines,
            )
        case other:
            raise MetaliumError(
                f"'hw_config' of kernel '{spec.unique_id}' is a DataMovementHardwareConfig or a "
                f"ComputeHardwareConfig, not {other!r}"
            )


def SetProgramRunArgs(program: Program, run_args: ProgramRunArgs) -> None:
    """Set the arguments and the tensors of the runs that follow."""
    made = _made.get(program) if isinstance(cast("object", program), Program) else None
    if made is None:
        raise MetaliumError("SetProgramRunArgs takes a program of MakeProgramFromSpec")
    tensors = _read_tensors(made, run_args)
    runs = _by_name(
        [(each.kernel, each) for each in run_args.kernel_run_args], "kernel's arguments"
    )
    for name in runs:
        _pick(made.kernels, name, "kernel", "KernelRunArgs")
    for name, (spec, kernel) in made.kernels.items():
        _set_arguments(program, spec, kernel, runs.get(name) or KernelRunArgs(kernel=name), tensors)
    for name, handles in made.borrowed.items():
        for handle in handles:
            handle.buffer = tensors[name].simulated


def _read_tensors(made: _MadeProgram, run_args: ProgramRunArgs) -> dict[str, Buffer]:
    """The buffers of the tensors; MetaliumError where one is missing or has another layout."""
    tensors: dict[str, Buffer] = {}
    for name, given in run_args.tensor_args.items():
        declared = _pick(made.tensors, name, "tensor", "tensor_args")
        buffer = given.tensor if isinstance(given, TensorArgument) else given
        if not isinstance(cast("object", buffer), Buffer):
            raise MetaliumError(f"tensor '{name}' is a buffer, not {buffer!r}")
        layouts = [
            TensorAccessorArgs(each, aligned_page_size=True).get_compile_time_args()
            for each in (declared, buffer)
        ]
        if layouts[0] != layouts[1]:
            raise MetaliumError(
                f"tensor '{name}' has another layout than its TensorParameter: {buffer!r}, "
                f"declared is {declared!r}"
            )
        tensors[name] = buffer
    missing = next((name for name in made.tensors if name not in tensors), None)
    if missing is not None:
        raise MetaliumError(f"tensor '{missing}' has no buffer in tensor_args")
    return tensors


def _set_arguments(
    program: Program,
    spec: KernelSpec,
    kernel: Kernel,
    run: KernelRunArgs,
    tensors: Mapping[str, Buffer],
) -> None:
    who = f"kernel '{spec.unique_id}'"
    schema = take_options(RuntimeArgSchema, spec.runtime_arg_schema)
    counts = take_options(KernelAdvancedOptions, spec.advanced_options)
    more = take_options(KernelRunAdvancedArgs, run.advanced_options)
    common = _in_order(schema.common_runtime_arg_names, run.common_runtime_arg_values, who)
    common += _take_varargs(
        more.common_runtime_varargs, counts.num_common_runtime_varargs, f"{who}, common"
    )
    common += [tensors[each.tensor_parameter_name].address() for each in spec.tensor_bindings]
    SetCommonRuntimeArgs(program, kernel, common)
    for node in (*run.runtime_arg_values, *more.runtime_varargs):
        if cores_of(node)[0] not in kernel.cores:
            raise MetaliumError(f"arguments of {who} for core {node}, on which it does not run")
    if not schema.runtime_arg_names and not counts.num_runtime_varargs:
        return
    for core in kernel.cores:
        given = run.runtime_arg_values.get(core, {})
        words = _in_order(schema.runtime_arg_names, given, f"{who} on core {core}")
        words += _take_varargs(
            more.runtime_varargs.get(core, ()), counts.num_runtime_varargs, f"{who}, core {core}"
        )
        SetRuntimeArgs(program, kernel, core, words)


def _in_order(names: Sequence[str], values: Mapping[str, int], who: str) -> list[int]:
    """Values in the order of their names."""
    for name in values:
        _pick(dict.fromkeys(names, 0), name, "argument", who)
    missing = next((name for name in names if name not in values), None)
    if missing is not None:
        raise MetaliumError(f"{who} has no value for argument '{missing}'")
    return [argument_word(values[name], f"argument '{name}'") for name in names]


def _take_varargs(values: Sequence[int], count: int, who: str) -> list[int]:
    if len(values) != count:
        raise MetaliumError(
            f"{who}: {len(values)} arguments without names, but its advanced_options say {count}"
        )
    return list(values)
