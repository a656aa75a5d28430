"""Operations of PyKernel as kernels of frameworks.

An operation makes its program for tensors of ttnn, with their addresses as plain numbers. So it is
asked twice, for tensors at different addresses: the arguments that differ are addresses.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeGuard, cast, runtime_checkable

from ttmlir.layout.enums import MathFidelity, NocIndex
from ttmlir.program.custom_kernel import KernelTensor
from ttmlir.program.description import (
    AddressOfTensor,
    Argument,
    Arguments,
    CircularBufferDescription,
    CircularBufferFormat,
    ComputeConfig,
    DataMovementConfig,
    DescriptionError,
    KernelConfig,
    KernelDescription,
    Processor,
    ProgramDescription,
    ReaderConfig,
    SemaphoreDescription,
    WriterConfig,
    list_ranges,
)


@runtime_checkable
class Operation(Protocol):
    """What `pykernel.PyKernelOp` is."""

    invoke: Callable[..., Any]

    def make_program(self, tensors: Sequence[Any], options: Mapping[str, Any]) -> Any:
        """The program for tensors of ttnn."""
        ...


def is_operation(function: object) -> TypeGuard[Operation]:
    """True for operations of PyKernel."""
    return isinstance(function, Operation)


def describe_operation(
    operation: Operation, tensors: Sequence[KernelTensor], arguments: Mapping[str, Any]
) -> ProgramDescription:
    """The program of an operation, whose tensors are given by name, as its constants are.

    DescriptionError for programs that compute with addresses on the host.
    """
    # Only kernels in Python need ttnn.
    from ttmlir import ttnn

    device = ttnn.open_device(device_id=0)
    try:
        kept: list[Any] = []
        found: list[tuple[Any, list[int]]] = []
        for _ in range(2):
            made = {each.name: _make_tensor(ttnn, each, device) for each in tensors}
            # Those of the second round lie behind those of the first.
            kept.append(made)
            named = {name: made.get(name, value) for name, value in arguments.items()}
            positional = [named.pop(name) for name in list(named) if name in made]
            addresses = [made[each.name].buffer_address() for each in tensors]
            found.append((operation.make_program(positional, named), addresses))
        return _Reading(tensors, kept[0], found[0][1], found[1][1]).program(
            found[0][0], found[1][0]
        )
    finally:
        ttnn.close_device(device)


_DTYPES = {
    "f32": "float32",
    "bf16": "bfloat16",
    "ui32": "uint32",
    "i32": "int32",
    "ui16": "uint16",
    "ui8": "uint8",
}


def _make_tensor(ttnn: Any, tensor: KernelTensor, device: Any) -> Any:
    name = _DTYPES.get(tensor.element)
    if name is None:
        raise DescriptionError(
            f"'{tensor.name}' has elements of type {tensor.element}; kernels in Python take "
            + ", ".join(_DTYPES)
        )
    return ttnn.empty(
        tensor.shape,
        dtype=getattr(ttnn, name),
        layout=ttnn.TILE_LAYOUT if tensor.layout == "tile" else ttnn.ROW_MAJOR_LAYOUT,
        device=device,
        memory_config=(
            ttnn.DRAM_MEMORY_CONFIG if tensor.memory == "dram" else ttnn.L1_MEMORY_CONFIG
        ),
    )


class _Reading:
    """Two descriptors of one program, at different addresses."""

    def __init__(
        self,
        tensors: Sequence[KernelTensor],
        made: Mapping[str, Any],
        first: Sequence[int],
        second: Sequence[int],
    ) -> None:
        self._places = {pair: number for number, pair in enumerate(zip(first, second, strict=True))}
        self._numbers = {id(made[each.name]): n for n, each in enumerate(tensors)}

    def program(self, first: Any, second: Any) -> ProgramDescription:
        """The description of both."""
        if [each.id for each in first.semaphores] != list(range(len(first.semaphores))):
            raise DescriptionError("semaphores are numbered 0, 1, 2 ... in the order of their list")
        kernels = zip(first.kernels, second.kernels, strict=True)
        return ProgramDescription(
            kernels=tuple(self._kernel(n, *pair) for n, pair in enumerate(kernels)),
            circular_buffers=tuple(map(self._circular_buffer, first.cbs)),
            semaphores=tuple(
                SemaphoreDescription(
                    core_ranges=_ranges(each.core_ranges), initial_value=each.initial_value
                )
                for each in first.semaphores
            ),
        )

    def _kernel(self, number: int, first: Any, second: Any) -> KernelDescription:
        from ttmlir.metalium.cores import cores_of
        from ttmlir.ttnn.programs.descriptors import SourceType, arguments_by_core

        if first.source_type is not SourceType.SOURCE_CODE:
            raise DescriptionError("a kernel is the name of a file; give its text")
        by_core = [
            arguments_by_core(each.runtime_args, each.core_ranges) for each in (first, second)
        ]
        name = f"kernel_{number}"
        return KernelDescription(
            name=name,
            source=first.kernel_source,
            config=_config(first.config),
            core_ranges=list_ranges([(core[0], core[1]) for core in cores_of(first.core_ranges)]),
            compile_time_args=self._arguments(
                name, first.compile_time_args, second.compile_time_args
            ),
            runtime_args=tuple(
                ((core[0], core[1]), self._arguments(name, words, by_core[1][core]))
                for core, words in by_core[0].items()
            ),
            common_runtime_args=self._arguments(
                name, first.common_runtime_args, second.common_runtime_args
            ),
            defines=tuple((key, str(value)) for key, value in first.defines),
        )

    def _arguments(self, name: str, first: Sequence[int], second: Sequence[int]) -> Arguments:
        return tuple(self._argument(name, *pair) for pair in zip(first, second, strict=True))

    def _argument(self, name: str, first: int, second: int) -> Argument:
        if first == second:
            return int(first) & 0xFFFF_FFFF
        number = self._places.get((first, second))
        if number is None:
            raise DescriptionError(
                f"an argument of {name} is computed from an address; pass the address itself, and "
                "compute in the kernel"
            )
        return AddressOfTensor(number)

    def _circular_buffer(self, buffers: Any) -> CircularBufferDescription:
        return CircularBufferDescription(
            total_size=buffers.total_size,
            core_ranges=_ranges(buffers.core_ranges),
            formats=tuple(
                CircularBufferFormat(
                    int(each.buffer_index), each.data_format.facts.storage, each.page_size
                )
                for each in buffers.format_descriptors
            ),
            tensor=None if buffers.tensor is None else self._numbers[id(buffers.tensor)],
        )


def _ranges(cores: Any) -> Any:
    from ttmlir.metalium.cores import cores_of

    return list_ranges([(core[0], core[1]) for core in cores_of(cores)])


def _config(config: Any) -> KernelConfig:
    match type(config).__name__:
        case "ReaderConfigDescriptor":
            return ReaderConfig()
        case "WriterConfigDescriptor":
            return WriterConfig()
        case "DataMovementConfigDescriptor":
            return DataMovementConfig(Processor(int(config.processor)), NocIndex(int(config.noc)))
        case _:
            modes = cast("Sequence[Any]", config.unpack_to_dest_mode)
            return ComputeConfig(
                math_fidelity=MathFidelity[config.math_fidelity.name.upper()],
                fp32_dest_acc_en=config.fp32_dest_acc_en,
                dst_full_sync_en=config.dst_full_sync_en,
                math_approx_mode=config.math_approx_mode,
                bfp8_pack_precise=config.bfp8_pack_precise,
                unpack_to_dest_fp32=tuple(
                    index for index, mode in enumerate(modes) if "Fp32" in mode.name
                ),
            )
