"""Arguments of kernels, as the host gives them.

Source of the calls: tt-metal, tt_metal/api/tt-metalium/host_api.hpp, runtime_args_data.hpp.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import SupportsIndex, cast, overload

from ttmlir.metalium.buffers import Buffer
from ttmlir.metalium.cores import CoreRange, CoreRangeSet, CoreSpec, cores_of
from ttmlir.metalium.device import Device
from ttmlir.metalium.errors import MetaliumError
from ttmlir.metalium.global_semaphores import GlobalSemaphore
from ttmlir.sim.execution.program import Kernel, Program

MAX_RUNTIME_ARGS = 255
"""Run-time arguments of a kernel, common ones included (tt-metal, max_runtime_args)."""

Argument = int | Buffer | GlobalSemaphore
"""What stands for a word of 32 bits: buffers and global semaphores for their addresses."""


def argument_words(values: object, what: str) -> tuple[int, ...]:
    """Arguments as words of 32 bits; MetaliumError for what is none."""
    if isinstance(values, str | bytes | Mapping) or not hasattr(values, "__iter__"):
        raise MetaliumError(f"{what}s are given as a list, not as {values!r}")
    listed = cast("Sequence[object]", values)
    return tuple(argument_word(value, f"{what} {index}") for index, value in enumerate(listed))


def argument_word(value: object, what: str) -> int:
    """An argument as a word of 32 bits, a buffer as its address; MetaliumError for what is none."""
    match value:
        case Buffer() | GlobalSemaphore():
            return value.address()
        case SupportsIndex():
            number = value.__index__()
        case _:
            raise MetaliumError(
                f"{what} is {value!r}; arguments are integers of 32 bits; of a floating-point "
                "number pass the bits: int(np.float32(value).view(np.uint32))"
            )
    if not -(1 << 31) <= number < 1 << 32:
        raise MetaliumError(f"{what} is {number}, which has more than 32 bits")
    return number & 0xFFFF_FFFF


class RuntimeArgsData(Sequence[int]):
    """The run-time arguments of a kernel on a core, which can be set one by one."""

    def __init__(self, words: Sequence[int]) -> None:
        """Words of 32 bits."""
        self._words = list(words)

    def size(self) -> int:
        """How many there are."""
        return len(self._words)

    def data(self) -> list[int]:
        """The words."""
        return list(self._words)

    def __len__(self) -> int:
        """How many there are."""
        return len(self._words)

    def __iter__(self) -> Iterator[int]:
        """The words."""
        return iter(self._words)

    @overload
    def __getitem__(self, index: int) -> int: ...
    @overload
    def __getitem__(self, index: slice) -> list[int]: ...
    def __getitem__(self, index: int | slice) -> int | list[int]:
        """An argument; MetaliumError if there is none."""
        if isinstance(index, slice):
            return self._words[index]
        return self._words[self._place(index)]

    def __setitem__(self, index: int, value: Argument) -> None:
        """Set an argument for the runs that follow."""
        self._words[self._place(index)] = argument_word(value, f"run-time argument {index}")

    def _place(self, index: int) -> int:
        if not -len(self._words) <= index < len(self._words):
            raise MetaliumError(
                f"run-time argument {index} of {len(self._words)}; SetRuntimeArgs says how many "
                "there are"
            )
        return index

    def __eq__(self, other: object) -> bool:
        """Whether the words are the same as those of another sequence."""
        return isinstance(other, Sequence) and list(cast("Sequence[object]", other)) == self._words

    def __repr__(self) -> str:
        """The words."""
        return repr(self._words)


def SetRuntimeArgs(
    program: Program | Device,
    kernel: Kernel,
    core_spec: CoreSpec | Sequence[tuple[int, int]],
    runtime_args: Sequence[Argument] | Sequence[Sequence[Argument]],
) -> None:
    """Set the run-time arguments of a kernel on cores; a buffer stands for its address.

    `core_spec` is a core, a range or a set, which get the same arguments, or a list of cores with
    a list of arguments for each.
    """
    check_kernel(program, kernel)
    if isinstance(core_spec, CoreRange | CoreRangeSet) or _is_core(core_spec):
        words = argument_words(runtime_args, "run-time argument")
        _set(kernel, dict.fromkeys(cores_of(cast("CoreSpec", core_spec)), words))
        return
    if not isinstance(core_spec, list | tuple):
        cores_of(cast("CoreSpec", core_spec))
    cores = [core for each in cast("Sequence[CoreSpec]", core_spec) for core in cores_of(each)]
    lists = list(runtime_args)
    if len(lists) != len(cores):
        raise MetaliumError(
            f"{len(cores)} cores and {len(lists)} lists of run-time arguments; a list of cores "
            "takes a list of arguments for each"
        )
    _set(
        kernel,
        {
            core: argument_words(each, f"run-time argument of core {core}:")
            for core, each in zip(cores, lists, strict=True)
        },
    )


def _is_core(spec: object) -> bool:
    match spec:
        case (int(), int()):
            return True
        case _:
            return False


def _set(kernel: Kernel, words: Mapping[tuple[int, int], Sequence[int]]) -> None:
    for core, each in words.items():
        _check_count(len(each) + len(kernel.common_arguments))
        if core not in kernel.cores:
            raise MetaliumError(
                f"run-time arguments for core {core}, on which kernel {kernel.name} does not run"
            )
    for core, each in words.items():
        kernel.arguments[core] = RuntimeArgsData(each)


def SetCommonRuntimeArgs(
    program: Program, kernel: Kernel, runtime_args: Sequence[Argument]
) -> None:
    """Set the run-time arguments that all cores of a kernel have in common."""
    check_kernel(program, kernel)
    words = argument_words(runtime_args, "common run-time argument")
    _check_count(len(words) + max((len(each) for each in kernel.arguments.values()), default=0))
    kernel.common_arguments = RuntimeArgsData(words)


@overload
def GetRuntimeArgs(program: Program, kernel: Kernel, core: tuple[int, int]) -> RuntimeArgsData: ...
@overload
def GetRuntimeArgs(program: Program, kernel: Kernel) -> list[list[RuntimeArgsData]]: ...
def GetRuntimeArgs(
    program: Program, kernel: Kernel, core: tuple[int, int] | None = None
) -> RuntimeArgsData | list[list[RuntimeArgsData]]:
    """The run-time arguments of a kernel on a core, or on all: `args[x][y]`.

    What is assigned to one of them holds for the runs that follow.
    """
    check_kernel(program, kernel)
    if core is not None:
        ((x, y),) = cores_of(core)
        if (x, y) not in kernel.cores:
            raise MetaliumError(f"kernel {kernel.name} does not run on core {(x, y)}")
        return _arguments_of(kernel, (x, y))
    columns, rows = (max(extents) + 1 for extents in zip(*kernel.cores, strict=True))
    return [[_arguments_of(kernel, (x, y)) for y in range(rows)] for x in range(columns)]


def GetCommonRuntimeArgs(program: Program, kernel: Kernel) -> RuntimeArgsData:
    """The run-time arguments that all cores of a kernel have in common."""
    check_kernel(program, kernel)
    if not isinstance(kernel.common_arguments, RuntimeArgsData):
        kernel.common_arguments = RuntimeArgsData(kernel.common_arguments)
    return kernel.common_arguments


def _arguments_of(kernel: Kernel, core: tuple[int, int]) -> RuntimeArgsData:
    words = kernel.arguments.get(core, ())
    if isinstance(words, RuntimeArgsData):
        return words
    made = RuntimeArgsData(words)
    if core in kernel.arguments:
        kernel.arguments[core] = made
    return made


def check_kernel(program: object, kernel: object) -> None:
    """MetaliumError for what is no kernel of a program; old forms name the device instead."""
    if not isinstance(kernel, Kernel):
        raise MetaliumError(
            f"{kernel!r} is no kernel; give what CreateKernel returned for the program"
        )
    if isinstance(program, Program) and not any(kernel is each for each in program.kernels):
        raise MetaliumError(f"kernel {kernel.name} is not one of this program's")
    if not isinstance(program, Program | Device):
        raise MetaliumError(f"{program!r} is no program; CreateProgram() makes one")


def _check_count(count: int) -> None:
    if count > MAX_RUNTIME_ARGS:
        raise MetaliumError(
            f"{count} run-time arguments; a kernel takes {MAX_RUNTIME_ARGS} at most, common ones "
            "included: put larger tables into a buffer"
        )
