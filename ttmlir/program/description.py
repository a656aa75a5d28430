"""The description of a program: kernels in C++, circular buffers and semaphores on cores.

A description is data without a device: tensors are meant by their number in a list that is given
when the program runs, and addresses are filled in then. It is what `ttnn.generic` holds, in the IR
and in a `.ttnn` file, and what a custom call of JAX or torch carries as text. Everything is checked
as it is built: DescriptionError, a ValueError, says what is wrong.

Sources: tt-metal, tt_metal/api/tt-metalium/program_descriptors.hpp; tt-mlir,
include/ttmlir/Target/TTNN/operations/generic_op.fbs (late 2025).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property
from typing import Protocol, TypeVar

from ttmlir.layout.enums import DataType, MathFidelity, NocIndex
from ttmlir.layout.metal.device_memory import CIRCULAR_BUFFERS
from ttmlir.limits import MAX_CORES, MAX_SOURCE_LENGTH

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
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*", re.ASCII)


class DescriptionError(ValueError):
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
        raise DescriptionError(f"{what} has {half!r}, which is no character of UTF-8") from None


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
            if not _IDENTIFIER.fullmatch(name):
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
