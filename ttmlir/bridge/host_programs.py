"""Kernels whose functions are written with ttnn's API or with TT-Metalium's.

Such a function, as an operation of PyKernel does, makes its program for tensors on a device, with
their addresses as plain numbers. So it is asked twice, for tensors at different addresses: the
arguments that differ are addresses.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol

from ttmlir.errors import ArgumentError, Error
from ttmlir.layout.data_format import DEFAULT_TILE_SHAPE, TileFormat
from ttmlir.layout.enums import DataType
from ttmlir.program import (
    AddressOfTensor,
    Argument,
    Arguments,
    CircularBufferDescription,
    CircularBufferFormat,
    Core,
    CoreRanges,
    DescriptionError,
    KernelDescription,
    KernelTensor,
    ProgramDescription,
    TensorAccessorArgs,
    list_ranges,
)

# --- Tensor argument ------------------------------------------------------------------------------
# Tensors as the functions that build programs see them: what is known before the numbers are.

# --- Work -----------------------------------------------------------------------------------------
# How the programs of a launch grid are dealt to cores.

CHIP_GRID = (8, 8)
"""Columns and rows of cores that every supported chip has."""


def assign_programs(
    grid: Sequence[int], chip_grid: tuple[int, int] = CHIP_GRID
) -> tuple[tuple[Core, int, int], ...]:
    """Cores with the first and the number of the programs that each runs.

    The programs of `grid` are numbered in row-major order. A grid that fits a row or the rectangle
    of cores, columns first, has a core for each of them; others are dealt in equal shares to as few
    cores as need no more than the fewest turns. ValueError for a grid without programs.
    """
    count = math.prod(grid)
    if count < 1 or min(grid, default=1) < 1:
        raise ArgumentError(f"the grid {tuple(grid)} has no programs; give extents of at least 1")
    columns, rows = chip_grid
    share = -(-count // (columns * rows))
    cores = -(-count // share)
    return tuple(
        ((core % columns, core // columns), core * share, min(share, count - core * share))
        for core in range(cores)
    )


# --- Tensor argument ------------------------------------------------------------------------------


@dataclass(frozen=True)
class TensorArgument:
    """A tensor that a program reads or makes, and its number among those of the program."""

    tensor: KernelTensor
    number: int

    @property
    def name(self) -> str:
        """The name of the function's parameter."""
        return self.tensor.name

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents, without padding."""
        return self.tensor.shape

    @property
    def dtype(self) -> str:
        """Keyword of the element type in the IR, such as `bf16`."""
        return self.tensor.element

    @property
    def data_type(self) -> DataType:
        """How memory holds the numbers."""
        return self.tensor.data_type

    @property
    def is_output(self) -> bool:
        """True for a tensor that the program makes."""
        return self.tensor.role == "out"

    @property
    def address(self) -> AddressOfTensor:
        """The argument of a kernel that is the tensor's address."""
        return AddressOfTensor(self.number)

    @property
    def accessor(self) -> TensorAccessorArgs:
        """The compile-time arguments of a kernel that `TensorAccessorArgs` reads."""
        return TensorAccessorArgs(self.number)

    @property
    def page_size(self) -> int:
        """Bytes of a page: of a tile, or of a row of the tensor or of a shard."""
        if self.tensor.layout == "tile":
            return TileFormat(*DEFAULT_TILE_SHAPE, self.data_type).size_bytes
        return self.tensor.shard[1] * TileFormat(1, 1, self.data_type).size_bytes

    @property
    def num_pages(self) -> int:
        """How many pages there are: tiles, or rows, of which each shard has its part."""
        rows, columns = self.tensor.extents
        if self.tensor.layout == "tile":
            return rows * columns
        return rows * -(-columns // self.tensor.shard[1])

    @property
    def shard_shape(self) -> tuple[int, int]:
        """Rows and columns of a shard in numbers, whole tiles if there are tiles."""
        rows, columns = self.tensor.shard
        height, width = DEFAULT_TILE_SHAPE if self.tensor.layout == "tile" else (1, 1)
        return rows * height, columns * width

    @property
    def shard_pages(self) -> int:
        """How many pages a shard has, those that are not used included."""
        rows, columns = self.tensor.shard
        return rows * columns if self.tensor.layout == "tile" else rows

    @property
    def shard_cores(self) -> CoreRanges:
        """The cores that have shards, the shards row by row; none of an interleaved tensor."""
        shards = self.tensor.shards
        if shards is None:
            return ()
        (rows, columns), (height, width) = self.tensor.extents, self.tensor.shard
        places = [
            (row, column)
            for row in range(-(-rows // height))
            for column in range(-(-columns // width))
        ]
        if shards.grid[0] > CHIP_GRID[1] or shards.grid[1] > CHIP_GRID[0]:
            counted = [row * shards.grid[1] + column for row, column in places]
            return list_ranges([(each % CHIP_GRID[0], each // CHIP_GRID[0]) for each in counted])
        return list_ranges([(column, row) for row, column in places])

    def circular_buffer(
        self, index: int, core_ranges: CoreRanges, pages: int = 2
    ) -> CircularBufferDescription:
        """A circular buffer for some pages of the tensor."""
        return CircularBufferDescription(
            total_size=pages * self.page_size,
            core_ranges=core_ranges,
            formats=(CircularBufferFormat(index, self.data_type, self.page_size),),
        )

    def shard_buffer(self, index: int) -> CircularBufferDescription:
        """The circular buffer that is the shards of the tensor, on the cores that have them."""
        return CircularBufferDescription(
            total_size=self.shard_pages * self.page_size,
            core_ranges=self.shard_cores,
            formats=(CircularBufferFormat(index, self.data_type, self.page_size),),
            tensor=self.number,
        )


# --- Host programs --------------------------------------------------------------------------------

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
    return _describe(host, name, [partial(host.create, each) for each in arguments], build)


def describe_operation(
    name: str, board: str, tensors: Sequence[Any], build: Callable[[Sequence[Any]], Any]
) -> ProgramDescription:
    """The program that an operation makes for tensors such as these of ttnn, on a board.

    Accessors of tensors are left to the library that runs it. DescriptionError as above.
    """
    host = _Operation(board)
    return _describe(host, name, [partial(host.like, each) for each in tensors], build)


def _describe(
    host: _Host,
    name: str,
    makers: Sequence[Callable[[], Any]],
    build: Callable[[Sequence[Any]], Any],
) -> ProgramDescription:
    first, before = _describe_once(host, name, makers, build)
    # In the other order, no sum of an address and a number is an address both times.
    host.reserve(_PAD)
    second, after = _describe_once(host, name, makers, build, backwards=True)
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
    makers: Sequence[Callable[[], Any]],
    build: Callable[[Sequence[Any]], Any],
    *,
    backwards: bool = False,
) -> tuple[ProgramDescription, list[int]]:
    """The program for tensors that are made for it, and their addresses."""
    order = range(len(makers))
    made = {number: makers[number]() for number in (reversed(order) if backwards else order)}
    values = [made[number] for number in order]
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

    def __init__(self, board: str = BOARD) -> None:
        # Only kernels of this API need ttnn.
        from ttmlir import ttnn
        from ttmlir.sim.options import SimOptions
        from ttmlir.ttnn.device.mesh import MeshDevice, chip_of

        self._ttnn: Any = ttnn
        # The devices that the user has opened stay as they are.
        self._device: Any = MeshDevice(0, chip_of(board, 0), SimOptions())

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
        from ttmlir.ttnn.programs.generic import describe_program

        if not isinstance(program, self._ttnn.ProgramDescriptor):
            return None

        def number_of(tensor: Any) -> int:
            for number, each in enumerate(made):
                if each is tensor:
                    return number
            raise DescriptionError("a circular buffer is on a tensor that is no argument")

        try:
            return describe_program(program, number_of)
        except Error as error:
            raise DescriptionError(str(error)) from error


class _Operation(_TTNN):
    """ttnn, with arguments of kernels that say which tensor an accessor is of."""

    def like(self, tensor: Any) -> Any:
        """A tensor of the same kind."""
        ttnn = self._ttnn
        return ttnn.empty(
            tensor.shape,
            dtype=tensor.dtype,
            layout=tensor.layout,
            device=self._device,
            memory_config=tensor.memory_config(),
        )

    def describe(self, program: Any, made: Sequence[Any]) -> ProgramDescription | None:
        description = super().describe(program, made)
        if description is None:
            return None
        numbers = {id(each): number for number, each in enumerate(made)}
        kernels = [
            replace(each, compile_time_args=_with_accessors(given.compile_time_args, each, numbers))
            for each, given in zip(description.kernels, program.kernels, strict=True)
        ]
        return replace(description, kernels=tuple(kernels))


def _with_accessors(
    given: Sequence[int], kernel: KernelDescription, numbers: Mapping[int, int]
) -> Arguments:
    """The arguments of a kernel, one for all words of an accessor."""
    from ttmlir.ttnn.programs.descriptors import AccessorWord

    found: list[Argument] = []
    for word, argument in zip(given, kernel.compile_time_args, strict=True):
        if not isinstance(word, AccessorWord):
            found.append(argument)
        elif word.is_first:
            number = numbers.get(id(word.tensor))
            if number is None:
                raise DescriptionError(
                    f"kernel '{kernel.name}' has a TensorAccessorArgs of a tensor that is no "
                    "argument"
                )
            found.append(TensorAccessorArgs(number))
    return tuple(found)


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
        from ttmlir.runtime.generic import describe_sim_program
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
