"""Programs from specifications: names become numbers of circular buffers, semaphores, arguments."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar, cast
from weakref import WeakKeyDictionary

from ttmlir.metalium.arguments import SetCommonRuntimeArgs, SetRuntimeArgs, argument_word
from ttmlir.metalium.buffers import Buffer, TensorAccessorArgs
from ttmlir.metalium.circular_buffers import CircularBufferConfig, CreateCircularBuffer
from ttmlir.metalium.configs import ComputeConfig, DataMovementConfig
from ttmlir.metalium.cores import CoreRangeSet, cores_of, set_of_cores
from ttmlir.metalium.device import Device
from ttmlir.metalium.enums import DataFormat, UnpackToDestMode
from ttmlir.metalium.errors import MetaliumError, suggest
from ttmlir.metalium.experimental.specs import (
    CompilerOptions,
    ComputeHardwareConfig,
    DataflowBufferAdvancedOptions,
    DataflowBufferSpec,
    DataMovement1XXConfig,
    DataMovementHardwareConfig,
    KernelAdvancedOptions,
    KernelRunAdvancedArgs,
    KernelRunArgs,
    KernelSpec,
    ProgramRunArgs,
    ProgramSpec,
    RuntimeArgSchema,
    TensorArgument,
    take_options,
)
from ttmlir.metalium.host_api import (
    CreateKernel,
    CreateProgram,
    CreateSemaphore,
    create_named_kernel,
)
from ttmlir.sim.execution.program import CircularBufferSpec, Kernel, Program
from ttmlir.sim.kernels.build import BindingNames, TensorNames
from ttmlir.sim.machine.circular_buffer import COUNT

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


_made: WeakKeyDictionary[Program, _MadeProgram] = WeakKeyDictionary()


def MakeProgramFromSpec(device: Device, spec: ProgramSpec) -> Program:
    """The program of a specification; `SetProgramRunArgs` says what it runs with."""
    if not isinstance(cast("object", spec), ProgramSpec):
        raise MetaliumError(f"MakeProgramFromSpec takes a ProgramSpec, not {spec!r}")
    device.check_open()
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
            (
                each.accessor_name,
                _pick(semaphores, each.semaphore_spec_name, "semaphore", who),
            )
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
    made = _made.get(program)
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
