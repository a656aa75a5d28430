"""Kernels whose functions are written with ttnn's API or with TT-Metalium's.

Such a function, as an operation of PyKernel does, makes its program for tensors on a device, with
their addresses as plain numbers. So it is asked twice, for tensors at different addresses: the
arguments that differ are addresses.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from ttmlir.bridge.tensor_argument import TensorArgument
from ttmlir.metalium.errors import MetaliumError
from ttmlir.program.custom_kernel import KernelTensor
from ttmlir.program.description import (
    AddressOfTensor,
    Argument,
    Arguments,
    DescriptionError,
    KernelDescription,
    ProgramDescription,
)

BOARD = "n150"
"""The board whose device functions see."""
_PAD = 64
"""Bytes per bank that move the tensors of the second call."""


def describe_host_program(
    api: str,
    name: str,
    tensors: Sequence[KernelTensor],
    build: Callable[[Sequence[Any]], Any],
) -> ProgramDescription:
    """The program that a function of an API builds for tensors, given in the order of `tensors`.

    DescriptionError for programs that compute with addresses on the host, or that differ between
    two calls.
    """
    host = _HOSTS[api]()
    arguments = [TensorArgument(tensor, number) for number, tensor in enumerate(tensors)]
    first, before = _describe_once(host, name, arguments, build)
    # In the other order, no sum of an address and a number is an address both times.
    host.reserve(_PAD)
    second, after = _describe_once(host, name, arguments, build, backwards=True)
    numbers = {pair: number for number, pair in enumerate(zip(before, after, strict=True))}
    return _bind(name, first, second, numbers)


class _Host(Protocol):
    """An API on a device of its own."""

    def reserve(self, size: int) -> None:
        """Take bytes of each bank of both memories."""
        ...

    def create(self, tensor: TensorArgument) -> Any:
        """A tensor on the device."""
        ...

    def address(self, made: Any) -> int:
        """The address of a tensor."""
        ...

    def release(self, made: Any) -> None:
        """Give the memory of a tensor back."""
        ...

    def describe(self, program: Any, made: Sequence[Any]) -> ProgramDescription | None:
        """The program that a function returned; None if it is none."""
        ...

    expected: str
    """What a function returns."""


def _describe_once(
    host: _Host,
    name: str,
    arguments: Sequence[TensorArgument],
    build: Callable[[Sequence[Any]], Any],
    *,
    backwards: bool = False,
) -> tuple[ProgramDescription, list[int]]:
    """The program for tensors that are made for it, and their addresses."""
    made: dict[int, Any] = {}
    for each in reversed(arguments) if backwards else arguments:
        made[each.number] = host.create(each)
    values = [made[each.number] for each in arguments]
    addresses = [host.address(each) for each in values]
    program = build(values)
    description = host.describe(program, values)
    if description is None:
        raise DescriptionError(
            f"'{name}' returned a {type(program).__name__}; a function of this api returns "
            f"{host.expected}"
        )
    for each in values:
        host.release(each)
    return description, addresses


# -- ttnn -----------------------------------------------------------------------------------------

_TTNN_TYPES = {
    "f32": "float32",
    "bf16": "bfloat16",
    "ui32": "uint32",
    "i32": "int32",
    "ui16": "uint16",
    "ui8": "uint8",
}


class _TTNN:
    expected = "its ttnn.ProgramDescriptor, and does not run it"

    def __init__(self) -> None:
        # Only kernels of this API need ttnn.
        from ttmlir import ttnn
        from ttmlir.sim.options import SimOptions
        from ttmlir.ttnn.device.mesh import MeshDevice, chip_of

        self._ttnn: Any = ttnn
        # The devices that the user has opened stay as they are.
        self._device: Any = MeshDevice(0, chip_of(BOARD, 0), SimOptions())

    def reserve(self, size: int) -> None:
        for allocator in self._device.allocators.values():
            allocator.allocate(size)

    def create(self, tensor: TensorArgument) -> Any:
        ttnn = self._ttnn
        name = _TTNN_TYPES.get(tensor.dtype)
        if name is None:
            raise DescriptionError(
                f"'{tensor.name}' has elements of type {tensor.dtype}; kernels in Python and of "
                "ttnn take " + ", ".join(_TTNN_TYPES)
            )
        is_tiled = tensor.tensor.layout == "tile"
        return ttnn.empty(
            tensor.shape,
            dtype=getattr(ttnn, name),
            layout=ttnn.TILE_LAYOUT if is_tiled else ttnn.ROW_MAJOR_LAYOUT,
            device=self._device,
            memory_config=self._memory_config(tensor),
        )

    def _memory_config(self, tensor: TensorArgument) -> Any:
        ttnn, shards = self._ttnn, tensor.tensor.shards
        if shards is None:
            is_dram = tensor.tensor.memory == "dram"
            return ttnn.DRAM_MEMORY_CONFIG if is_dram else ttnn.L1_MEMORY_CONFIG
        cores = ttnn.CoreRangeSet(
            [ttnn.CoreRange(each.start, each.end) for each in tensor.shard_cores]
        )
        return ttnn.MemoryConfig(
            ttnn.TensorMemoryLayout[shards.layout.upper()],
            ttnn.BufferType.L1,
            ttnn.ShardSpec(cores, tensor.shard_shape),
        )

    def address(self, made: Any) -> int:
        return made.buffer_address()

    def release(self, made: Any) -> None:
        self._ttnn.deallocate(made)

    def describe(self, program: Any, made: Sequence[Any]) -> ProgramDescription | None:
        from ttmlir.ttnn.programs.describing import describe_program

        if not isinstance(program, self._ttnn.ProgramDescriptor):
            return None

        def number_of(tensor: Any) -> int:
            for number, each in enumerate(made):
                if each is tensor:
                    return number
            raise DescriptionError("a circular buffer is on a tensor that is no argument")

        try:
            return describe_program(program, number_of)
        except (RuntimeError, MetaliumError) as error:
            raise DescriptionError(str(error)) from None


# -- TT-Metalium ----------------------------------------------------------------------------------


class _Metalium:
    expected = "its Program, and does not run it"

    def __init__(self) -> None:
        # Only kernels of this API need it.
        from ttmlir import metalium

        self._metalium: Any = metalium
        self._device: Any = metalium.CreateDevice(0, board=BOARD)

    def reserve(self, size: int) -> None:
        from ttmlir.layout.enums import MemorySpace

        for space in (MemorySpace.DEVICE_DRAM, MemorySpace.DEVICE_L1):
            self._device.simulated.allocator(space).allocate(size)

    def create(self, tensor: TensorArgument) -> Any:
        metalium, shards = self._metalium, tensor.tensor.shards
        is_dram = tensor.tensor.memory == "dram"
        config: dict[str, Any] = {
            "device": self._device,
            "size": tensor.num_pages * tensor.page_size,
            "page_size": tensor.page_size,
            "buffer_type": metalium.BufferType.DRAM if is_dram else metalium.BufferType.L1,
        }
        if shards is None:
            return metalium.CreateBuffer(metalium.InterleavedBufferConfig(**config))
        cores = [metalium.CoreRange(each.start, each.end) for each in tensor.shard_cores]
        page = (32, 32) if tensor.tensor.layout == "tile" else (1, tensor.shard_shape[1])
        rows, columns = tensor.tensor.extents
        if tensor.tensor.layout != "tile":
            columns = -(-columns // page[1])
        parameters = metalium.ShardSpecBuffer(
            metalium.CoreRangeSet(cores),
            tensor.shard_shape,
            page_shape=page,
            tensor2d_shape=(rows, columns),
        )
        return metalium.CreateBuffer(
            metalium.ShardedBufferConfig(
                **config,
                buffer_layout=metalium.TensorMemoryLayout[shards.layout.upper()],
                shard_parameters=parameters,
            )
        )

    def address(self, made: Any) -> int:
        return made.address()

    def release(self, made: Any) -> None:
        self._metalium.DeallocateBuffer(made)

    def describe(self, program: Any, made: Sequence[Any]) -> ProgramDescription | None:
        from ttmlir.runtime.generic.sim_program import describe_sim_program
        from ttmlir.sim.execution.program import Program

        if not isinstance(program, Program):
            return None
        return describe_sim_program(program, [each.simulated for each in made])


_HOSTS: Mapping[str, Callable[[], _Host]] = {"ttnn": _TTNN, "metalium": _Metalium}


# -- addresses ------------------------------------------------------------------------------------


def _bind(
    name: str,
    first: ProgramDescription,
    second: ProgramDescription,
    numbers: Mapping[tuple[int, int], int],
) -> ProgramDescription:
    """The program of two descriptions; `numbers` are those of tensors by their addresses."""
    if _form(first) != _form(second):
        raise DescriptionError(
            f"'{name}' builds another program when it is called again; build it from its "
            "arguments alone"
        )
    pairs = zip(first.kernels, second.kernels, strict=True)
    return replace(first, kernels=tuple(_bind_kernel(*pair, numbers) for pair in pairs))


_BARE: dict[str, Any] = {
    "compile_time_args": (),
    "named_compile_time_args": (),
    "runtime_args": (),
    "common_runtime_args": (),
}


def _form(program: ProgramDescription) -> object:
    """All of a program but the values of its arguments."""
    kernels = tuple(replace(each, **_BARE) for each in program.kernels)
    counts = [
        (
            len(each.compile_time_args),
            [name for name, _ in each.named_compile_time_args],
            [(core, len(arguments)) for core, arguments in each.runtime_args],
            len(each.common_runtime_args),
        )
        for each in program.kernels
    ]
    return replace(program, kernels=kernels), counts


def _bind_kernel(
    first: KernelDescription,
    second: KernelDescription,
    numbers: Mapping[tuple[int, int], int],
) -> KernelDescription:
    def bind(one: Argument, other: Argument) -> Argument:
        if one == other:
            return one
        assert isinstance(one, int), "programs of these APIs have plain numbers"
        assert isinstance(other, int), "programs of these APIs have plain numbers"
        number = numbers.get((one, other))
        if number is None:
            raise DescriptionError(
                f"an argument of kernel '{first.name}' is computed from an address; pass the "
                "address itself, and compute in the kernel"
            )
        return AddressOfTensor(number)

    def bind_all(one: Arguments, other: Arguments) -> Arguments:
        return tuple(bind(*pair) for pair in zip(one, other, strict=True))

    named = zip(first.named_compile_time_args, second.named_compile_time_args, strict=True)
    by_core = zip(first.runtime_args, second.runtime_args, strict=True)
    return replace(
        first,
        compile_time_args=bind_all(first.compile_time_args, second.compile_time_args),
        named_compile_time_args=tuple(
            (name, bind(one, other)) for (name, one), (_, other) in named
        ),
        runtime_args=tuple((core, bind_all(one, other)) for (core, one), (_, other) in by_core),
        common_runtime_args=bind_all(first.common_runtime_args, second.common_runtime_args),
    )
