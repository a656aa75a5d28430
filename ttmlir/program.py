"""What compilers and runtimes agree on: kernels of users, and how they are registered."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property, lru_cache
from typing import Any, NoReturn, Protocol, TypeVar, cast, runtime_checkable

from ttmlir.errors import ArgumentError, InputError
from ttmlir.layout.data_format import DEFAULT_TILE_SHAPE, ScalarType, padded_shape
from ttmlir.layout.enums import DataType, KeywordEnum, MathFidelity, NocIndex
from ttmlir.layout.metal import CIRCULAR_BUFFERS
from ttmlir.limits import MAX_CORES, MAX_RANK, MAX_SOURCE_LENGTH

# --- Description ----------------------------------------------------------------------------------
# The description of a program: kernels in C++, circular buffers and semaphores on cores.
#
# A description is data without a device: tensors are meant by their number in a list that is given
# when the program runs, and addresses are filled in then. It is what `ttnn.generic` holds, in the
# IR and in a `.ttnn` file, and what a custom call of JAX or torch carries as text. Everything is
# checked as it is built: DescriptionError, a ValueError, says what is wrong.
#
# Sources: tt-metal, tt_metal/api/tt-metalium/program_descriptors.hpp; tt-mlir,
# include/ttmlir/Target/TTNN/operations/generic_op.fbs (late 2025).

MAX_RUNTIME_ARGS = 255
"""Run-time arguments of a kernel, common ones included (tt-metal, max_runtime_args)."""
MAX_COMPILE_TIME_ARGS = 1 << 16
"""Compile-time arguments of a kernel, all words of `TensorAccessorArgs` counted."""
MAX_NAME_LENGTH = 128
"""Most characters of the name of a kernel or a tensor."""
PROCESSORS = 3
"""What of a core runs kernels: two processors that move data, and three as one that compute."""
SEMAPHORES = 16
"""Semaphores of a core."""

Core = tuple[int, int]
"""Logical (x, y) of a core."""

_WORD = 1 << 32
_MAX_COORDINATE = 1 << 16
_IDENTIFIER = r"(?a)[A-Za-z_]\w*"


class DescriptionError(InputError, ValueError):
    """A description of a program that cannot be; the text says why."""


@dataclass(frozen=True)
class CoreRange:
    """A rectangle of cores, both corners included."""

    start: Core
    end: Core

    def __post_init__(self) -> None:
        """Refuse rectangles without cores, and those beyond any chip."""
        if min(*self.start, *self.end) < 0 or max(*self.start, *self.end) >= _MAX_COORDINATE:
            raise DescriptionError(f"cores {self} are on no chip")
        if self.end[0] < self.start[0] or self.end[1] < self.start[1]:
            raise DescriptionError(
                f"cores {self} are no rectangle: give its corner of low coordinates first"
            )

    @property
    def size(self) -> int:
        """How many cores there are."""
        return (self.end[0] - self.start[0] + 1) * (self.end[1] - self.start[1] + 1)

    def __iter__(self) -> Iterator[Core]:
        """The cores, row by row."""
        for y in range(self.start[1], self.end[1] + 1):
            for x in range(self.start[0], self.end[0] + 1):
                yield x, y

    def __str__(self) -> str:
        """Both corners."""
        return f"{self.start}-{self.end}"


CoreRanges = tuple[CoreRange, ...]


def list_cores(ranges: CoreRanges) -> tuple[Core, ...]:
    """The cores of rectangles, in order; each once."""
    return tuple(dict.fromkeys(core for each in ranges for core in each))


def _check_ranges(ranges: CoreRanges, what: str) -> None:
    if not ranges:
        raise DescriptionError(f"{what} is on no core; give it at least one")
    if sum(each.size for each in ranges) > MAX_CORES:
        raise DescriptionError(f"{what} is on more than {MAX_CORES} cores; no chip has so many")


def check_name(name: str, what: str) -> None:
    """Refuse names that messages cannot show in one line."""
    if not 0 < len(name) <= MAX_NAME_LENGTH or not name.isprintable():
        raise DescriptionError(
            f"the name of {what} is {name[:32]!r}; names have 1 to {MAX_NAME_LENGTH} characters "
            "that can be printed"
        )


def check_text(text: str, what: str) -> None:
    """Refuse texts that no file could hold: halves of characters, as JSON can write them."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        half = text[error.start]
        raise DescriptionError(f"{what} has {half!r}, which is no character of UTF-8") from error


class _OnCores(Protocol):
    @property
    def core_ranges(self) -> CoreRanges: ...


OnCoresT = TypeVar("OnCoresT", bound=_OnCores)


def limit_cores(items: Iterable[OnCoresT], what: str, most: int) -> tuple[OnCoresT, ...]:
    """The items; DescriptionError as soon as there are more of them than cores can have.

    No more items are built than are taken: each may be on thousands of cores.
    """
    taken: list[OnCoresT] = []
    cores = 0
    for item in items:
        cores += sum(each.size for each in item.core_ranges)
        if cores > most * MAX_CORES:
            raise DescriptionError(f"{what} are on more cores than there can be: a core has {most}")
        taken.append(item)
    return tuple(taken)


def limit_kernels(kernels: Iterable[KernelDescription]) -> tuple[KernelDescription, ...]:
    """The kernels of a program; see `limit_cores`."""
    return limit_cores(kernels, "kernels", PROCESSORS)


# -- arguments ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class AddressOfTensor:
    """The address of a tensor's buffer, the same in every bank."""

    tensor: int


@dataclass(frozen=True)
class CircularBufferIndex:
    """The number of a circular buffer, as kernels name it."""

    index: int


@dataclass(frozen=True)
class SemaphoreAt:
    """The number of a semaphore on its cores, as `get_semaphore` takes it.

    `semaphore` is its place in the program's list.
    """

    semaphore: int


@dataclass(frozen=True)
class TensorAccessorArgs:
    """What a kernel's `TensorAccessorArgs` reads about a tensor; as many arguments as that takes.

    Among compile-time arguments only.
    """

    tensor: int


Argument = int | AddressOfTensor | CircularBufferIndex | SemaphoreAt | TensorAccessorArgs
"""An argument of a kernel; an integer is a word of 32 bits without a sign."""
Arguments = tuple[Argument, ...]


# -- processors -----------------------------------------------------------------------------------


class Processor(IntEnum):
    """The processors of a core that move data."""

    RISCV_0 = 0
    RISCV_1 = 1


@dataclass(frozen=True)
class ReaderConfig:
    """A kernel that reads: on RISCV_1, through network 0."""


@dataclass(frozen=True)
class WriterConfig:
    """A kernel that writes: on RISCV_0, through network 1."""


@dataclass(frozen=True)
class DataMovementConfig:
    """A kernel that moves data, and the processor and the network that it uses."""

    processor: Processor = Processor.RISCV_0
    noc: NocIndex = NocIndex.NOC0


@dataclass(frozen=True, kw_only=True)
class ComputeConfig:
    """A kernel that computes, on all three compute processors."""

    math_fidelity: MathFidelity = MathFidelity.HIFI4
    fp32_dest_acc_en: bool = False
    dst_full_sync_en: bool = False
    math_approx_mode: bool = False
    bfp8_pack_precise: bool = False
    unpack_to_dest_fp32: tuple[int, ...] = ()
    """Circular buffers whose 32-bit numbers do not pass through the 19 bits of SrcA."""

    def __post_init__(self) -> None:
        """Refuse circular buffers that do not exist."""
        for index in self.unpack_to_dest_fp32:
            _check_circular_buffer(index)


KernelConfig = ReaderConfig | WriterConfig | DataMovementConfig | ComputeConfig


# -- what a program consists of -------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class KernelDescription:
    """A kernel in C++ on some cores.

    `runtime_args` are pairs of a core and its arguments; cores without any may be left out.
    `named_compile_time_args` are pairs of a name and what `get_named_compile_time_arg_val` gives
    for it.
    """

    name: str
    """What messages call the kernel, such as `reader`."""
    source: str
    config: KernelConfig
    core_ranges: CoreRanges
    compile_time_args: Arguments = ()
    named_compile_time_args: tuple[tuple[str, Argument], ...] = ()
    runtime_args: tuple[tuple[Core, Arguments], ...] = ()
    common_runtime_args: Arguments = ()
    defines: tuple[tuple[str, str], ...] = ()
    file: str = field(default="", compare=False)
    """What messages name where the text was read from a file of this machine; it is not saved."""
    include_folders: tuple[str, ...] = field(default=(), compare=False)
    """Where headers of the text are, besides the folder of `file`; it is not saved."""
    home: str = field(default="", compare=False)
    """The root of a tree of tt-metal with headers; it is not saved."""

    def __post_init__(self) -> None:
        """Refuse what no kernel can be."""
        check_name(self.name, "a kernel")
        what = f"kernel '{self.name}'"
        _check_ranges(self.core_ranges, what)
        if len(self.source) > MAX_SOURCE_LENGTH:
            raise DescriptionError(
                f"{what} has {len(self.source)} characters; at most {MAX_SOURCE_LENGTH} are taken"
            )
        check_text(self.source, what)
        cores, seen = set(self.cores), set[Core]()
        for core, arguments in self.runtime_args:
            if core not in cores or core in seen:
                reason = "a second time" if core in seen else "on which it does not run"
                raise DescriptionError(f"{what} has run-time arguments for core {core}, {reason}")
            seen.add(core)
            self._check_count(len(arguments) + len(self.common_runtime_args))
        self._check_count(len(self.common_runtime_args))
        if len(self.compile_time_args) > MAX_COMPILE_TIME_ARGS:
            raise DescriptionError(
                f"{what} has {len(self.compile_time_args)} compile-time arguments; a kernel takes "
                f"{MAX_COMPILE_TIME_ARGS} at most: put larger tables into a tensor"
            )
        for kind, arguments in self._all_arguments():
            for index, argument in enumerate(arguments):
                if type(argument) is not int or not 0 <= argument < _WORD:
                    _check_argument(argument, kind, f"{kind} argument {index} of {what}")
        self._check_names(what)

    def _check_names(self, what: str) -> None:
        """Refuse names of arguments and macros that C++ cannot have."""
        seen = set[str]()
        for name, _ in self.named_compile_time_args:
            check_name(name, f"a compile-time argument of {what}")
            if '"' in name or "\\" in name:
                raise DescriptionError(
                    f"{what} has a compile-time argument {name!r}; kernels find it by its name in "
                    "quotes, which has no quotes or backslashes"
                )
            if name in seen:
                raise DescriptionError(f"{what} has two compile-time arguments named {name!r}")
            seen.add(name)
        for name, value in self.defines:
            if not re.fullmatch(_IDENTIFIER, name):
                raise DescriptionError(f"{what} defines {name!r}, which is no name in C++")
            if "\n" in value or "\r" in value:
                raise DescriptionError(f"{what} defines {name} as more than one line")
            check_text(value, f"{what}: the macro {name}")

    @cached_property
    def cores(self) -> tuple[Core, ...]:
        """The cores that run the kernel."""
        return list_cores(self.core_ranges)

    @property
    def arguments(self) -> Iterator[Argument]:
        """All arguments, of any kind."""
        return (argument for _, each in self._all_arguments() for argument in each)

    def _all_arguments(self) -> Iterator[tuple[str, Arguments]]:
        yield "compile-time", self.compile_time_args
        yield "named compile-time", tuple(value for _, value in self.named_compile_time_args)
        yield "common run-time", self.common_runtime_args
        for _, arguments in self.runtime_args:
            yield "run-time", arguments

    def _check_count(self, count: int) -> None:
        if count > MAX_RUNTIME_ARGS:
            raise DescriptionError(
                f"kernel '{self.name}' has {count} run-time arguments; a kernel takes "
                f"{MAX_RUNTIME_ARGS} at most, common ones included: put larger tables into a tensor"
            )


def _check_argument(argument: Argument, kind: str, what: str) -> None:
    match argument:
        case CircularBufferIndex(index):
            _check_circular_buffer(index)
        case TensorAccessorArgs() if kind != "compile-time":
            raise DescriptionError(
                f"{what} is TensorAccessorArgs, which kernels read at compile time; move it to the "
                "compile-time arguments"
            )
        case int() if not 0 <= argument < _WORD:
            raise DescriptionError(f"{what} is {argument}, which is no word of 32 bits")
        case AddressOfTensor(number) | TensorAccessorArgs(number) | SemaphoreAt(number):
            if number < 0:
                raise DescriptionError(f"{what} has the number {number}; numbers begin at 0")
        case int():
            pass


def _check_circular_buffer(index: int) -> None:
    if not 0 <= index < CIRCULAR_BUFFERS:
        raise DescriptionError(
            f"circular buffer {index} does not exist; they are numbered 0 to {CIRCULAR_BUFFERS - 1}"
        )


@dataclass(frozen=True)
class CircularBufferFormat:
    """What the pages of a circular buffer are; the size of a page in bytes."""

    index: int
    data_type: DataType
    page_size: int
    tile_height: int = 32
    """Rows of its tiles, which have 32 columns."""


@dataclass(frozen=True, kw_only=True)
class CircularBufferDescription:
    """Circular buffers that share bytes of L1 on some cores, each with its number and pages.

    With a `tensor`, they are on its shards, which have to be in L1.
    """

    total_size: int
    core_ranges: CoreRanges
    formats: tuple[CircularBufferFormat, ...]
    tensor: int | None = None

    def __post_init__(self) -> None:
        """Refuse numbers that do not exist, and pages that do not fill the circular buffer."""
        if not self.formats:
            raise DescriptionError("a circular buffer without a format; give it at least one")
        for each in self.formats:
            _check_circular_buffer(each.index)
            if each.page_size < 1 or self.total_size < 1 or self.total_size % each.page_size:
                raise DescriptionError(
                    f"circular buffer {each.index}: {self.total_size} bytes are not made of pages "
                    f"of {each.page_size}; the total size has to be a multiple of the page size"
                )
        if self.total_size >= _WORD:
            raise DescriptionError(
                f"circular buffer {self.formats[0].index} of {self.total_size} bytes fits no L1"
            )
        _check_ranges(self.core_ranges, f"circular buffer {self.formats[0].index}")


@dataclass(frozen=True, kw_only=True)
class SemaphoreDescription:
    """A semaphore on some cores, and its value when the program starts."""

    core_ranges: CoreRanges
    initial_value: int = 0
    id: int | None = None
    """Its number on its cores; without one it gets the lowest that is left on all of them."""

    def __post_init__(self) -> None:
        """Refuse numbers that do not exist, and values that no word holds."""
        _check_ranges(self.core_ranges, "a semaphore")
        if self.id is not None and not 0 <= self.id < SEMAPHORES:
            raise DescriptionError(
                f"semaphore {self.id} does not exist; they are numbered 0 to {SEMAPHORES - 1}"
            )
        if not 0 <= self.initial_value < _WORD:
            raise DescriptionError(
                f"a semaphore starts at {self.initial_value}, which is no word of 32 bits"
            )


@dataclass(frozen=True, kw_only=True)
class ProgramDescription:
    """Kernels that run together, with their circular buffers and semaphores."""

    kernels: tuple[KernelDescription, ...]
    circular_buffers: tuple[CircularBufferDescription, ...] = ()
    semaphores: tuple[SemaphoreDescription, ...] = ()

    def __post_init__(self) -> None:
        """Refuse arguments that mean what the program does not have."""
        if not self.kernels:
            raise DescriptionError("a program without kernels; give it at least one")
        limit_kernels(self.kernels)
        limit_cores(self.circular_buffers, "circular buffers", CIRCULAR_BUFFERS)
        limit_cores(self.semaphores, "semaphores", SEMAPHORES)
        for kernel in self.kernels:
            for argument in kernel.arguments:
                if isinstance(argument, SemaphoreAt) and argument.semaphore >= len(self.semaphores):
                    raise DescriptionError(
                        f"an argument of kernel '{kernel.name}' is semaphore {argument.semaphore}, "
                        f"but the program has {len(self.semaphores)}"
                    )

    @property
    def _computing(self) -> tuple[tuple[KernelDescription, ComputeConfig], ...]:
        return tuple(
            (each, each.config) for each in self.kernels if isinstance(each.config, ComputeConfig)
        )

    @property
    def title(self) -> str:
        """The names of the kernels that compute, or of all if none does."""
        computing = [kernel for kernel, _ in self._computing]
        return "+".join(each.name for each in computing or self.kernels)

    @property
    def math_fidelity(self) -> MathFidelity | None:
        """Of the first kernel that computes; None if none does."""
        return next((config.math_fidelity for _, config in self._computing), None)

    @property
    def tensors(self) -> Iterator[tuple[str, int]]:
        """Every mention of a tensor: by what, and its number."""
        for kernel in self.kernels:
            for argument in kernel.arguments:
                if isinstance(argument, AddressOfTensor | TensorAccessorArgs):
                    yield f"an argument of kernel '{kernel.name}'", argument.tensor
        for each in self.circular_buffers:
            if each.tensor is not None:
                yield f"circular buffer {each.formats[0].index}", each.tensor

    def check_tensors(self, count: int) -> None:
        """DescriptionError if the program means a tensor that a list of `count` does not have."""
        for what, number in self.tensors:
            if not 0 <= number < count:
                raise DescriptionError(
                    f"{what} is about tensor {number}, but there are {count}; they are numbered "
                    "from 0"
                )


def list_ranges(cores: Sequence[Core]) -> CoreRanges:
    """Rectangles that are exactly these cores: one if they fill it, otherwise one for each."""
    if not cores:
        return ()
    columns, rows = zip(*cores, strict=True)
    whole = CoreRange((min(columns), min(rows)), (max(columns), max(rows)))
    if whole.size == len(set(cores)):
        return (whole,)
    return tuple(CoreRange(core, core) for core in dict.fromkeys(cores))


# --- Custom kernel --------------------------------------------------------------------------------
# A program of kernels with the tensors that it is for: what custom calls carry.

TARGET = "tt.kernel"
"""The target of custom calls that carry such a text."""

ELEMENT_TYPES = ("f32", "bf16", "f16", "i32", "ui32", "ui16", "ui8")
"""Element types of tensors, by their keyword in the IR: those that memory holds as they are."""
LAYOUTS = ("tile", "row_major")
MEMORIES = ("dram", "l1")
SHARDED_LAYOUTS = ("height_sharded", "width_sharded", "block_sharded")


@dataclass(frozen=True)
class Shards:
    """How a tensor in L1 is cut: `grid` has rows and columns of cores, from core (0, 0) on.

    A grid that reaches beyond the chip, such as (64, 1), counts the chip's cores row by row. A
    height-sharded tensor has one column of cores, a width-sharded one has one row.
    """

    layout: str
    grid: tuple[int, int]

    def __post_init__(self) -> None:
        """Refuse layouts without shards, and grids that do not go with them."""
        if self.layout not in SHARDED_LAYOUTS:
            raise DescriptionError(
                f"the sharded layout '{self.layout}' is not supported; supported are "
                + ", ".join(SHARDED_LAYOUTS)
            )
        rows, columns = self.grid
        if min(rows, columns) < 1 or rows * columns > MAX_CORES:
            raise DescriptionError(
                f"shards on {rows}x{columns} cores; give from 1 to {MAX_CORES} cores"
            )
        for layout, name, extent in (
            ("height_sharded", "column", columns),
            ("width_sharded", "row", rows),
        ):
            if self.layout == layout and extent != 1:
                raise DescriptionError(
                    f"a {layout} tensor is on one {name} of cores, not on {rows}x{columns}"
                )


@dataclass(frozen=True, kw_only=True)
class KernelTensor:
    """A tensor that a program reads (`in`) or makes (`out`), interleaved or in shards.

    Pages are tiles of 32x32 numbers, padded with zeros, or rows, or parts of rows that shards have.
    """

    name: str
    role: str
    shape: tuple[int, ...]
    element: str
    """Keyword of the element type in the IR."""
    layout: str = "tile"
    memory: str = "dram"
    shards: Shards | None = None
    """None: the pages go to all banks in turn."""

    def __post_init__(self) -> None:
        """Refuse what no kernel can be given."""
        check_name(self.name, "a tensor")
        what = f"tensor '{self.name}'"
        for word, value, known in (
            ("role", self.role, ("in", "out")),
            ("element type", self.element, ELEMENT_TYPES),
            ("layout", self.layout, LAYOUTS),
            ("memory", self.memory, MEMORIES),
        ):
            if value not in known:
                raise DescriptionError(
                    f"{what}: the {word} '{value}' is not supported; supported are "
                    + ", ".join(known)
                )
        if len(self.shape) > MAX_RANK or not all(0 < each < 1 << 31 for each in self.shape):
            raise DescriptionError(
                f"{what}: the shape {list(self.shape)} is not supported; kernels take tensors "
                "with elements"
            )
        if self.shards is not None:
            self._check_shards(what)

    def _check_shards(self, what: str) -> None:
        if self.memory != "l1":
            raise DescriptionError(f"{what}: shards are in the memory l1, not in {self.memory}")
        if len(self.shape) < 2:
            raise DescriptionError(
                f"{what}: a tensor of rank {len(self.shape)} has no shards; give it 2 or more"
            )
        height = DEFAULT_TILE_SHAPE[0]
        if len(self.shape) > 2 and self.layout == "tile" and self.shape[-2] % height:
            raise DescriptionError(
                f"{what}: matrices of {self.shape[-2]} rows one below the other are no whole tiles "
                f"of {height} rows; merge the dimensions before the last, or pad the rows"
            )

    @property
    def extents(self) -> tuple[int, int]:
        """Rows and columns, all dimensions but the last made rows: of tiles, or of numbers."""
        shape = (1,) * (2 - len(self.shape)) + self.shape
        if self.layout == "tile":
            *outer, columns = padded_shape(shape)
            rows = math.prod(outer)
            return rows // DEFAULT_TILE_SHAPE[0], columns // DEFAULT_TILE_SHAPE[1]
        return math.prod(shape[:-1]), shape[-1]

    @property
    def shard(self) -> tuple[int, int]:
        """Rows and columns of a shard: of tiles, or of numbers; all of an interleaved tensor."""
        if self.shards is None:
            return self.extents
        (rows, columns), (down, across) = self.extents, self.shards.grid
        return -(-rows // down), -(-columns // across)

    @property
    def data_type(self) -> DataType:
        """How memory holds the numbers."""
        return ScalarType(self.element).data_type

    def __str__(self) -> str:
        """Shape and element type, as in the IR."""
        return f"tensor<{'x'.join((*map(str, self.shape), self.element))}>"


@dataclass(frozen=True, kw_only=True)
class CustomKernel:
    """A program and the tensors that it is for: those that it reads, then those that it makes."""

    name: str
    tensors: tuple[KernelTensor, ...]
    program: ProgramDescription

    def __post_init__(self) -> None:
        """Refuse programs without a result, and those that mean tensors that are not there."""
        check_name(self.name, "a custom kernel")
        roles = [tensor.role for tensor in self.tensors]
        if roles != sorted(roles, key="out".__eq__):
            raise DescriptionError(
                f"custom kernel '{self.name}': tensors that it reads come before those that it "
                "makes"
            )
        if not self.outputs:
            raise DescriptionError(
                f"custom kernel '{self.name}' makes no tensor; give it at least one of role 'out'"
            )
        self.program.check_tensors(len(self.tensors))

    @property
    def inputs(self) -> tuple[KernelTensor, ...]:
        """The tensors that the program reads."""
        return tuple(tensor for tensor in self.tensors if tensor.role == "in")

    @property
    def outputs(self) -> tuple[KernelTensor, ...]:
        """The tensors that the program makes."""
        return tuple(tensor for tensor in self.tensors if tensor.role == "out")

    def difference(self, operands: Sequence[str], results: Sequence[str]) -> str | None:
        """How operand and result types differ from those of the kernel; None if they agree.

        Types are given as `str(KernelTensor)` writes them.
        """
        for kind, given, tensors in (
            ("operand", operands, self.inputs),
            ("result", results, self.outputs),
        ):
            if len(given) != len(tensors):
                return (
                    f"has {len(given)} {kind}s, but the kernel '{self.name}' is for {len(tensors)}"
                )
            for number, (type_, tensor) in enumerate(zip(given, tensors, strict=True)):
                if type_ != str(tensor):
                    return (
                        f"{kind} #{number} is {type_}, but '{tensor.name}' of the kernel "
                        f"'{self.name}' is {tensor}"
                    )
        return None


# --- Custom kernel text ---------------------------------------------------------------------------
# Custom kernels as texts, the `backend_config` of `stablehlo.custom_call @tt.kernel`.
#
# The text is JSON. It is complete: nothing but the operands has to be known to run it;
# `docs/bridge.md` describes it. Reading checks everything and computes nothing: the only code in a
# text is C++ for the simulator.

VERSION = 1
"""The version of the form; readers refuse others."""
MAX_LENGTH = 1 << 24
"""Most characters of the text."""

EnumT = TypeVar("EnumT", bound=KeywordEnum)
ItemT = TypeVar("ItemT")
Fields = dict[str, Any]


# -- writing --------------------------------------------------------------------------------------


def write_custom_kernel(kernel: CustomKernel) -> str:
    """The text of a kernel; the same kernel always has the same text."""
    import json  # What describes no kernels starts without it.

    program = kernel.program
    return json.dumps(
        {
            "version": VERSION,
            "name": kernel.name,
            "tensors": [_tensor_fields(each) for each in kernel.tensors],
            "kernels": [_kernel_fields(each) for each in program.kernels],
            "circular_buffers": [_buffer_fields(each) for each in program.circular_buffers],
            "semaphores": [
                {"cores": _range_items(each.core_ranges), "initial_value": each.initial_value}
                | ({} if each.id is None else {"id": each.id})
                for each in program.semaphores
            ],
        },
        ensure_ascii=False,
        separators=(",", ":"),
    )


def _tensor_fields(tensor: KernelTensor) -> Fields:
    fields: Fields = {
        "name": tensor.name,
        "role": tensor.role,
        "shape": [*tensor.shape],
        "dtype": tensor.element,
        "layout": tensor.layout,
        "memory": tensor.memory,
    }
    shards = tensor.shards
    if shards is None:
        return fields
    return fields | {"shards": {"layout": shards.layout, "grid": [*shards.grid]}}


def _kernel_fields(kernel: KernelDescription) -> Fields:
    fields: Fields = {
        "name": kernel.name,
        "source": kernel.source,
        "config": _config_fields(kernel.config),
        "cores": _range_items(kernel.core_ranges),
        "compile_time_args": _argument_items(kernel.compile_time_args),
        "runtime_args": [[[*core], _argument_items(each)] for core, each in kernel.runtime_args],
        "common_runtime_args": _argument_items(kernel.common_runtime_args),
        "defines": [[*each] for each in kernel.defines],
    }
    named = [[name, _argument_item(value)] for name, value in kernel.named_compile_time_args]
    return fields | {"named_compile_time_args": named} if named else fields


def _config_fields(config: KernelConfig) -> Fields:
    match config:
        case ReaderConfig():
            return {"kind": "reader"}
        case WriterConfig():
            return {"kind": "writer"}
        case DataMovementConfig(processor, noc):
            return {"kind": "data_movement", "processor": int(processor), "noc": noc.keyword}
        case ComputeConfig():
            return {
                "kind": "compute",
                "math_fidelity": config.math_fidelity.keyword,
                **{name: getattr(config, name) for name in _COMPUTE_FLAGS},
                "unpack_to_dest_fp32": [*config.unpack_to_dest_fp32],
            }


_COMPUTE_FLAGS = ("fp32_dest_acc_en", "dst_full_sync_en", "math_approx_mode", "bfp8_pack_precise")


def _buffer_fields(buffer: CircularBufferDescription) -> Fields:
    fields: Fields = {
        "total_size": buffer.total_size,
        "cores": _range_items(buffer.core_ranges),
        "formats": [
            {
                "index": each.index,
                "data_type": each.data_type.keyword,
                "page_size": each.page_size,
                **({} if each.tile_height == 32 else {"tile_height": each.tile_height}),
            }
            for each in buffer.formats
        ],
    }
    return fields if buffer.tensor is None else fields | {"tensor": buffer.tensor}


def _range_items(ranges: CoreRanges) -> list[list[int]]:
    return [[*each.start, *each.end] for each in ranges]


_ARGUMENT_KINDS: dict[str, Callable[[int], Argument]] = {
    "address_of_tensor": AddressOfTensor,
    "circular_buffer": CircularBufferIndex,
    "semaphore": SemaphoreAt,
    "tensor_accessor_args": TensorAccessorArgs,
}


def _argument_items(arguments: Arguments) -> list[int | dict[str, int]]:
    return [_argument_item(each) for each in arguments]


def _argument_item(argument: Argument) -> int | dict[str, int]:
    match argument:
        case AddressOfTensor(number):
            return {"address_of_tensor": number}
        case CircularBufferIndex(index):
            return {"circular_buffer": index}
        case SemaphoreAt(number):
            return {"semaphore": number}
        case TensorAccessorArgs(number):
            return {"tensor_accessor_args": number}
        case int():
            return argument


# -- reading --------------------------------------------------------------------------------------


@lru_cache(maxsize=64)
def read_custom_kernel(text: str) -> CustomKernel:
    """The kernel of a text; DescriptionError, which says where, if it is none."""
    if len(text) > MAX_LENGTH:
        _refuse("the text", f"has {len(text)} characters; at most {MAX_LENGTH} are taken")
    import json

    try:
        content: object = json.loads(text, object_pairs_hook=_once)
    except RecursionError:
        _refuse("the text", "is nested too deeply")
    except ValueError as error:
        _refuse("the text", f"is no JSON: {error}")
    version = _fields(content).get("version", VERSION)
    if type(version) is not int or version != VERSION:
        _refuse("version", f"is {_shown(version)}; this reader knows {VERSION}")
    reader = _Reader(content, "", ("version", "name", "tensors", "kernels"), _OPTIONAL_FIELDS)
    return CustomKernel(
        name=reader.text("name"),
        tensors=reader.tables("tensors", _read_tensor, *_TENSOR_FIELDS),
        program=ProgramDescription(
            kernels=limit_kernels(reader.each_table("kernels", _read_kernel, *_KERNEL_FIELDS)),
            circular_buffers=reader.tables("circular_buffers", _read_buffer, *_BUFFER_FIELDS),
            semaphores=reader.tables("semaphores", _read_semaphore, *_SEMAPHORE_FIELDS),
        ),
    )


_OPTIONAL_FIELDS = ("circular_buffers", "semaphores")
_TENSOR_FIELDS = (("name", "role", "shape", "dtype", "layout", "memory"), ("shards",))
_KERNEL_FIELDS = (
    ("name", "source", "config", "cores"),
    (
        *("compile_time_args", "named_compile_time_args", "runtime_args", "common_runtime_args"),
        "defines",
    ),
)
_SEMAPHORE_FIELDS = (("cores",), ("initial_value", "id"))
_BUFFER_FIELDS = (("total_size", "cores", "formats"), ("tensor",))


def _once(pairs: list[tuple[str, Any]]) -> Fields:
    """An object of JSON; one that says something twice is refused."""
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise ValueError("an object has a field twice")
    return fields


def _fields(content: object) -> Fields:
    """The fields of a table; none of what is no table."""
    return cast("Fields", content) if isinstance(content, dict) else {}


def _refuse(where: str, what: str) -> NoReturn:
    raise DescriptionError(f"{where} {what}")


def _shown(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= 40 else f"{shown[:40]}..."


class _Reader:
    """A table of the text; errors name the place of a field."""

    def __init__(
        self, content: object, where: str, needed: Sequence[str], optional: Sequence[str] = ()
    ) -> None:
        """Refuse what is no table, lacks a field or has one that is not known."""
        if not isinstance(content, dict):
            _refuse(where or "the text", f"is {_shown(content)}; expected a table")
        self.fields = cast("Fields", content)
        self.where = where
        for name in needed:
            if name not in self.fields:
                _refuse(self.place(name), "is missing")
        known = (*needed, *optional)
        for name in self.fields:
            if name not in known:
                _refuse(self.place(_shown(name)), f"is not known; known are {', '.join(known)}")

    def place(self, name: str) -> str:
        """Where a field is, such as `kernels[0].source`."""
        return f"{self.where}.{name}" if self.where else name

    def text(self, name: str) -> str:
        """A field of text."""
        return _text(self.fields[name], self.place(name))

    def number(self, name: str, default: int | None = None) -> int:
        """A field of an integer."""
        value = self.fields.get(name, default)
        return _number(value, self.place(name))

    def flag(self, name: str) -> bool:
        """A field that is true or false; false if it is not there."""
        value = self.fields.get(name, False)
        if not isinstance(value, bool):
            _refuse(self.place(name), f"is {_shown(value)}; expected true or false")
        return value

    def keyword(self, name: str, enum: type[EnumT]) -> EnumT:
        """A field that is a keyword of an enumeration."""
        value = self.text(name)
        if value not in enum.keywords():
            known = ", ".join(enum.keywords())
            _refuse(self.place(name), f"is {_shown(value)}; expected one of {known}")
        return enum.from_keyword(value)

    def items(self, name: str, read: Callable[[object, str], ItemT]) -> tuple[ItemT, ...]:
        """A field that is a list; empty if it is not there."""
        return _items(self.fields.get(name, []), self.place(name), read)

    def each_table(
        self,
        name: str,
        read: Callable[[_Reader], ItemT],
        needed: Sequence[str],
        optional: Sequence[str] = (),
    ) -> Iterator[ItemT]:
        """What the tables of a list are, one after another."""
        return _each_item(
            self.fields.get(name, []),
            self.place(name),
            lambda item, where: read(_Reader(item, where, needed, optional)),
        )

    def tables(
        self,
        name: str,
        read: Callable[[_Reader], ItemT],
        needed: Sequence[str],
        optional: Sequence[str] = (),
    ) -> tuple[ItemT, ...]:
        """A field that is a list of tables."""
        return tuple(self.each_table(name, read, needed, optional))


def _items(value: object, where: str, read: Callable[[object, str], ItemT]) -> tuple[ItemT, ...]:
    return tuple(_each_item(value, where, read))


def _each_item(value: object, where: str, read: Callable[[object, str], ItemT]) -> Iterator[ItemT]:
    if not isinstance(value, list):
        _refuse(where, f"is {_shown(value)}; expected a list")
    items: Iterable[tuple[int, object]] = enumerate(cast("list[object]", value))
    return (read(item, f"{where}[{index}]") for index, item in items)


def _text(value: object, where: str) -> str:
    if not isinstance(value, str):
        _refuse(where, f"is {_shown(value)}; expected a text")
    return value


def _number(value: object, where: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 1 << 32:
        _refuse(where, f"is {_shown(value)}; expected an integer of 32 bits without a sign")
    return value


def _numbers(value: object, where: str, count: int) -> tuple[int, ...]:
    numbers = _items(value, where, _number)
    if len(numbers) != count:
        _refuse(where, f"has {len(numbers)} numbers; expected {count}")
    return numbers


def _read_tensor(reader: _Reader) -> KernelTensor:
    return KernelTensor(
        name=reader.text("name"),
        role=reader.text("role"),
        shape=reader.items("shape", _number),
        element=reader.text("dtype"),
        layout=reader.text("layout"),
        memory=reader.text("memory"),
        shards=_read_shards(reader.fields["shards"], reader.place("shards"))
        if "shards" in reader.fields
        else None,
    )


def _read_shards(content: object, where: str) -> Shards:
    reader = _Reader(content, where, ("layout", "grid"))
    rows, columns = _numbers(reader.fields["grid"], reader.place("grid"), 2)
    return Shards(reader.text("layout"), (rows, columns))


def _read_kernel(reader: _Reader) -> KernelDescription:
    return KernelDescription(
        name=reader.text("name"),
        source=reader.text("source"),
        config=_read_config(reader.fields["config"], reader.place("config")),
        core_ranges=reader.items("cores", _read_range),
        compile_time_args=reader.items("compile_time_args", _read_argument),
        named_compile_time_args=reader.items("named_compile_time_args", _read_named_argument),
        runtime_args=reader.items("runtime_args", _read_core_arguments),
        common_runtime_args=reader.items("common_runtime_args", _read_argument),
        defines=reader.items("defines", _read_define),
    )


def _read_config(content: object, where: str) -> KernelConfig:
    kind = _fields(content).get("kind")
    match kind:
        case "reader":
            _Reader(content, where, ("kind",))
            return ReaderConfig()
        case "writer":
            _Reader(content, where, ("kind",))
            return WriterConfig()
        case "data_movement":
            reader = _Reader(content, where, ("kind", "processor", "noc"))
            processor = reader.number("processor")
            if processor not in (0, 1):
                _refuse(reader.place("processor"), f"is {processor}; expected 0 or 1")
            return DataMovementConfig(Processor(processor), reader.keyword("noc", NocIndex))
        case "compute":
            optional = (*_COMPUTE_FLAGS, "unpack_to_dest_fp32")
            reader = _Reader(content, where, ("kind", "math_fidelity"), optional)
            return ComputeConfig(
                math_fidelity=reader.keyword("math_fidelity", MathFidelity),
                unpack_to_dest_fp32=reader.items("unpack_to_dest_fp32", _number),
                **{name: reader.flag(name) for name in _COMPUTE_FLAGS},
            )
        case _:
            known = "reader, writer, data_movement, compute"
            _refuse(f"{where}.kind", f"is {_shown(kind)}; expected one of {known}")


def _read_range(item: object, where: str) -> CoreRange:
    x0, y0, x1, y1 = _numbers(item, where, 4)
    return CoreRange((x0, y0), (x1, y1))


def _read_argument(item: object, where: str) -> Argument:
    if isinstance(item, int):
        return _number(item, where)
    fields = _fields(item)
    kind = next(iter(fields), None)
    if len(fields) != 1 or kind not in _ARGUMENT_KINDS:
        known = ", ".join(_ARGUMENT_KINDS)
        _refuse(where, f"is {_shown(item)}; expected a number, or one of {known} with a number")
    return _ARGUMENT_KINDS[kind](_number(fields[kind], f"{where}.{kind}"))


def _read_core_arguments(item: object, where: str) -> tuple[Core, Arguments]:
    pair = _items(item, where, lambda value, _: value)
    if len(pair) != 2:
        _refuse(where, "is no pair of a core and its arguments")
    x, y = _numbers(pair[0], f"{where}[0]", 2)
    return (x, y), _items(pair[1], f"{where}[1]", _read_argument)


def _read_named_argument(item: object, where: str) -> tuple[str, Argument]:
    pair = _items(item, where, lambda value, _: value)
    if len(pair) != 2:
        _refuse(where, "is no pair of a name and an argument")
    return _text(pair[0], f"{where}[0]"), _read_argument(pair[1], f"{where}[1]")


def _read_define(item: object, where: str) -> tuple[str, str]:
    pair = _items(item, where, _text)
    if len(pair) != 2:
        _refuse(where, "is no pair of a name and its text")
    return pair[0], pair[1]


def _read_buffer(reader: _Reader) -> CircularBufferDescription:
    return CircularBufferDescription(
        total_size=reader.number("total_size"),
        core_ranges=reader.items("cores", _read_range),
        formats=reader.tables(
            "formats", _read_format, ("index", "data_type", "page_size"), ("tile_height",)
        ),
        tensor=reader.number("tensor") if "tensor" in reader.fields else None,
    )


def _read_format(reader: _Reader) -> CircularBufferFormat:
    return CircularBufferFormat(
        index=reader.number("index"),
        data_type=reader.keyword("data_type", DataType),
        page_size=reader.number("page_size"),
        tile_height=reader.number("tile_height", 32),
    )


def _read_semaphore(reader: _Reader) -> SemaphoreDescription:
    return SemaphoreDescription(
        core_ranges=reader.items("cores", _read_range),
        initial_value=reader.number("initial_value", 0),
        id=reader.number("id") if "id" in reader.fields else None,
    )


# --- Registered -----------------------------------------------------------------------------------
# What custom calls of other targets than `tt.kernel` mean, as far as the user has said so.

Specialize = Callable[[Sequence[KernelTensor], str], CustomKernel]
"""Makes the kernel for operands and results, given in this order, and a `backend_config`."""
Function = Callable[..., Any]
"""Computes results from operands: NumPy arrays in, an array or a sequence of arrays out."""


@runtime_checkable
class SpecializedKernel(Protocol):
    """A kernel for tensors of any shape, such as a `ttmlir.bridge.FrameworkKernel`."""

    def specialize(self, tensors: Sequence[KernelTensor], config: str) -> CustomKernel:
        """The kernel for these operands and results."""
        ...


@dataclass(frozen=True)
class RegisteredCall:
    """What the calls of a target mean: a kernel, a function, or both."""

    kernel: Specialize | None
    numpy: Function | None


_CALLS: dict[str, RegisteredCall] = {}


def register_custom_call(
    target: str,
    *,
    kernel: SpecializedKernel | Specialize | None = None,
    numpy: Function | None = None,
) -> None:
    """Say what calls of `target` mean, from now on and in this process.

    `kernel` gives the kernel that a call becomes in a compiled program: a `FrameworkKernel`, or a
    function of the operands and results (`KernelTensor`) and the text of the `backend_config`.
    `numpy` computes results from arrays: of operands that are constants when a program is compiled,
    and of all operands where a program is interpreted. ValueError if neither is given, or for the
    target 'tt.kernel', whose calls carry their kernel.
    """
    if target == TARGET:
        raise ArgumentError(f"calls of '{TARGET}' carry their kernel; register another target")
    if kernel is None and numpy is None:
        raise ArgumentError(
            f"'{target}' has nothing that computes it: give a kernel, a function of NumPy, or both"
        )
    specialize = kernel.specialize if isinstance(kernel, SpecializedKernel) else kernel
    _CALLS[target] = RegisteredCall(specialize, numpy)


def unregister_custom_call(target: str) -> None:
    """Forget what calls of a target mean."""
    _CALLS.pop(target, None)


def registered_call(target: str) -> RegisteredCall | None:
    """What calls of a target mean; None if nobody has said so."""
    return _CALLS.get(target)


def how_to_register(target: str) -> str:
    """What to do about calls of a target without a meaning, for messages."""
    return (
        f"ttmlir.register_custom_call('{target}', kernel=...) gives it a kernel of yours, "
        "numpy=... a function for calls on constants and for programs that are interpreted"
    )
