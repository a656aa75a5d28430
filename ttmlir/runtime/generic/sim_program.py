"""Makes a simulator's program of the description of one, for buffers at given addresses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ttmlir.files import safe_file_name
from ttmlir.layout.enums import NocIndex
from ttmlir.optable.kernel import Role
from ttmlir.program.description import (
    MAX_COMPILE_TIME_ARGS,
    AddressOfTensor,
    Argument,
    Arguments,
    CircularBufferDescription,
    CircularBufferFormat,
    CircularBufferIndex,
    ComputeConfig,
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
    list_cores,
    list_ranges,
)
from ttmlir.sim.calls.compute_api import ComputeSettings
from ttmlir.sim.errors import SimError
from ttmlir.sim.execution.inlined_headers import inline_headers
from ttmlir.sim.execution.program import CircularBufferSpec, Kernel, Program, find_headers
from ttmlir.sim.machine.address_generators import accessor_words
from ttmlir.sim.machine.buffer import Buffer

_ROLES = {Processor.RISCV_0: Role.BRISC, Processor.RISCV_1: Role.NCRISC}


def create_sim_program(
    description: ProgramDescription, tensors: Sequence[Buffer], storages: Sequence[Buffer] = ()
) -> Program:
    """The program with the addresses of these tensors filled in.

    Storages, memory of circular buffers that hold no tensor, are numbered behind the tensors.

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
            CircularBufferFormat(index, data_type, page_size)
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
