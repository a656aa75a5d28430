"""Devices, programs, buffers, kernels and semaphores as the host creates them.

Names and parameters are those of tt-metal, tt_metal/api/tt-metalium/host_api.hpp. Wrong arguments
raise MetaliumError, a ValueError.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, SupportsIndex, TypeAlias, TypeVar, cast, overload

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from ttmlir.cpp.errors import MappedText
from ttmlir.cpp.include_path import HOME_VARIABLE, IncludePath
from ttmlir.layout.enums import MathFidelity
from ttmlir.metalium.buffers import Buffer, BufferRegion, GlobalSemaphore, pages_of
from ttmlir.metalium.cores import CoreRange, CoreRangeSet, CoreSpec, cores_of
from ttmlir.metalium.device import Device, check_semaphore_value, chip_of_board, existing_cores
from ttmlir.metalium.enums import (
    NOC,
    NOC_MODE,
    ComputeConfig,
    CoreType,
    DataMovementConfig,
    DataMovementProcessor,
    EthernetConfig,
    InterleavedBufferConfig,
    ShardedBufferConfig,
    UnpackToDestMode,
)
from ttmlir.metalium.errors import MetaliumError, host_call, names_options
from ttmlir.optable.kernel import Role
from ttmlir.sim.calls.compute_api import ComputeSettings
from ttmlir.sim.errors import SimError
from ttmlir.sim.execution.program import Kernel, Program, find_kernel, read_kernel
from ttmlir.sim.execution.run import CommandQueue, ProgramReport
from ttmlir.sim.options import Numerics, SimOptions

# --- Arguments ------------------------------------------------------------------------------------
# Arguments of kernels, as the host gives them.
#
# Source of the calls: tt-metal, tt_metal/api/tt-metalium/host_api.hpp, runtime_args_data.hpp.

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


# --- Queues ---------------------------------------------------------------------------------------
# What the host enqueues: writes and reads of buffers, programs, events.
#
# Names and parameters are those of tt-metal, tt_metal/api/tt-metalium/host_api.hpp; vectors are
# NumPy arrays. What goes wrong while a program runs raises SimError, whose text points into the
# kernel.


def EnqueueWriteBuffer(
    cq: CommandQueue, buffer: Buffer, src: ArrayLike | bytes, blocking: bool = True
) -> None:
    """Fill a buffer with the bytes of an array of any type; a list of integers is of uint32."""
    _write(cq, buffer, src, None)


def EnqueueWriteSubBuffer(
    cq: CommandQueue,
    buffer: Buffer,
    src: ArrayLike | bytes,
    region: BufferRegion,
    blocking: bool = True,
) -> None:
    """Fill some pages of a buffer."""
    _write(cq, buffer, src, pages_of(_check_buffer(buffer), region))


def EnqueueReadBuffer(
    cq: CommandQueue,
    buffer: Buffer,
    dst: NDArray[Any] | list[int] | None = None,
    blocking: bool = True,
    *,
    dtype: DTypeLike = np.uint32,
) -> NDArray[Any]:
    """Read a buffer into `dst`, or into a new array of type `dtype`; returns the array.

    A list is filled like a vector: it gets as many numbers as there are. Without `blocking`, an
    array holds the data after `Finish`, and ones in all bits before.
    """
    return _read(cq, buffer, dst, blocking, dtype, None)


def EnqueueReadSubBuffer(
    cq: CommandQueue,
    buffer: Buffer,
    dst: NDArray[Any] | list[int] | None,
    region: BufferRegion,
    blocking: bool = True,
    *,
    dtype: DTypeLike = np.uint32,
) -> NDArray[Any]:
    """Read some pages of a buffer."""
    pages = pages_of(_check_buffer(buffer), region)
    return _read(cq, buffer, dst, blocking, dtype, pages)


def EnqueueProgram(cq: CommandQueue, program: Program, blocking: bool = False) -> ProgramReport:
    """Run a program; returns what its threads did."""
    if not isinstance(cast("object", program), Program):
        raise MetaliumError(f"{program!r} is no program; CreateProgram() makes one")
    try:
        return _check_queue(cq).run(program)
    except SimError as error:
        # How the simulator found it says nothing to who wrote the kernel.
        raise error.with_traceback(None) from None


def Finish(cq: CommandQueue) -> None:
    """Wait until all commands of a queue are done."""
    _check_queue(cq).finish()


class Event:
    """A moment in a queue: what was enqueued before has happened for the host, too."""

    def __init__(self) -> None:
        """A moment that no queue has recorded yet."""
        self.queue: CommandQueue | None = None

    def __repr__(self) -> str:
        """Whether it was recorded."""
        return "Event(recorded)" if self.queue is not None else "Event()"


def EnqueueRecordEvent(cq: CommandQueue, event: Event | None = None) -> Event:
    """Let an event, or a new one, stand for the moment after the last command."""
    made = Event() if event is None else event
    made.queue = _check_queue(cq)
    return made


def EnqueueWaitForEvent(cq: CommandQueue, event: Event) -> None:
    """Let the commands that follow wait for a moment of another queue."""
    _check_queue(cq)
    _recording_queue(event)


def EventSynchronize(event: Event) -> None:
    """Wait for a moment."""
    _recording_queue(event).finish()


def EventQuery(event: Event) -> bool:
    """Whether a moment has passed, which it has: commands take effect when they are enqueued."""
    EventSynchronize(event)
    return True


def _recording_queue(event: object) -> CommandQueue:
    if not isinstance(event, Event) or event.queue is None:
        raise MetaliumError(f"{event!r} was not recorded; call EnqueueRecordEvent first")
    return event.queue


def _write(cq: CommandQueue, buffer: Buffer, src: ArrayLike | bytes, pages: range | None) -> None:
    size = _check_buffer(buffer).size() if pages is None else len(pages) * buffer.page_size()
    data = host_bytes(src, size)
    with host_call():
        _check_queue(cq).write(buffer.simulated, data, pages=pages)


def host_bytes(src: ArrayLike | bytes, size: int | None = None) -> bytes:
    """The bytes of what the host writes; MetaliumError if they are not `size`, if that is given."""
    hint = ""
    if isinstance(src, bytes):
        data = src
    else:
        array = cast("NDArray[Any]", src) if isinstance(src, np.ndarray) else _words(src)
        if array.dtype.hasobject:
            raise MetaliumError("an array of Python objects has no bytes of its own")
        if array.dtype.itemsize == 8:
            hint = (
                f": each number of {array.dtype} has 8 bytes; convert the array, such as by "
                ".astype(np.uint32) or pack_bfloat16"
            )
        data = np.ascontiguousarray(array).tobytes()
    if size is not None and len(data) != size:
        raise MetaliumError(
            f"{len(data)} bytes are written to a buffer of {size}; write all of it{hint}"
        )
    return data


def _words(numbers: object) -> NDArray[np.uint32]:
    """A list of integers as a vector of uint32."""
    try:
        array = np.asarray(numbers)
    except ValueError as error:
        raise MetaliumError(f"the numbers are no vector: {error}") from error
    if array.dtype.kind not in "iub" or array.size == 0:
        raise MetaliumError(
            f"a list of {array.dtype} has no size in bytes; give an array, such as "
            "np.asarray(values, np.float32) or pack_bfloat16(values)"
        )
    if int(array.max()) >= 1 << 32 or int(array.min()) < -(1 << 31):
        raise MetaliumError("a list of integers is one of uint32, but there are larger ones")
    return (array.astype(np.int64) & 0xFFFF_FFFF).astype(np.uint32)


def _read(
    cq: CommandQueue,
    buffer: Buffer,
    dst: NDArray[Any] | list[int] | None,
    blocking: bool,
    dtype: DTypeLike,
    pages: range | None,
) -> NDArray[Any]:
    size = _check_buffer(buffer).size() if pages is None else len(pages) * buffer.page_size()
    return read_parts(size, dst, blocking, dtype, [(cq, buffer, pages, lambda flat: flat)])


Part = tuple[CommandQueue, Buffer, range | None, Callable[[NDArray[np.uint8]], NDArray[np.uint8]]]
"""A queue, a buffer, its pages, and what picks the bytes that they fill."""


def read_parts(
    size: int,
    dst: NDArray[Any] | list[int] | None,
    blocking: bool,
    dtype: DTypeLike,
    parts: Sequence[Part],
) -> NDArray[Any]:
    """Read parts of an array of `size` bytes, which is made if `dst` is none; returns the array."""
    try:
        numbers = np.dtype(dtype)
    except TypeError:
        raise MetaliumError(f"'dtype' is a type of NumPy, not {dtype!r}") from None
    target = _destination(size, dst, numbers)
    flat = target.reshape(-1).view(np.uint8)
    if not blocking:
        flat[:] = 0xFF

    def deliver(place: NDArray[np.uint8], data: bytes) -> None:
        place[:] = np.frombuffer(data, np.uint8).reshape(place.shape)
        if isinstance(dst, list):
            dst[:] = target.tolist()

    for cq, buffer, pages, pick in parts:
        with host_call():
            _check_queue(cq).read(
                buffer.simulated, partial(deliver, pick(flat)), blocking=blocking, pages=pages
            )
    return target


def _destination(
    size: int, dst: NDArray[Any] | list[int] | None, dtype: np.dtype[Any]
) -> NDArray[Any]:
    if not isinstance(dst, np.ndarray):
        if dst is not None and not isinstance(cast("object", dst), list):
            raise MetaliumError(f"dst is an array or a list, not {dst!r}")
        if dtype.hasobject or size % max(dtype.itemsize, 1) or dtype.itemsize == 0:
            raise MetaliumError(
                f"a buffer of {size} bytes does not hold whole numbers of type {dtype}"
            )
        return np.empty(size // dtype.itemsize, dtype)
    if (
        dst.nbytes != size
        or not dst.flags.c_contiguous
        or not dst.flags.writeable
        or dst.dtype.hasobject
    ):
        raise MetaliumError(
            f"dst has {dst.nbytes} bytes, the buffer {size}; dst has to be a contiguous, "
            "writeable array of as many bytes"
        )
    return dst


def _check_buffer(buffer: object) -> Buffer:
    if not isinstance(buffer, Buffer):
        raise MetaliumError(f"{buffer!r} is no buffer; CreateBuffer(config) makes one")
    return buffer


def _check_queue(cq: object) -> CommandQueue:
    if not isinstance(cq, CommandQueue):
        raise MetaliumError(f"{cq!r} is no command queue; device.command_queue() is one")
    return cq


# --- Host api -------------------------------------------------------------------------------------

AnyDevice = TypeVar("AnyDevice", bound=Device)

KernelConfig: TypeAlias = DataMovementConfig | EthernetConfig | ComputeConfig
"""What a kernel is made with."""

_PROCESSORS = {
    DataMovementProcessor.RISCV_0: Role.BRISC,
    DataMovementProcessor.RISCV_1: Role.NCRISC,
}


@names_options
def CreateDevice(
    device_id: int = 0,
    *,
    board: str = "n150",
    numerics: Numerics = "device",
    sanitize: bool = True,
    timed: bool = True,
    schedule_seed: int | None = None,
    delay_copies: bool = False,
    cycle_limit: int = SimOptions.cycle_limit,
    leniencies: frozenset[str] = frozenset(),
    max_findings: int = 1,
    tt_metal: str | None = None,
    print_line: Callable[[str], None] | None = None,
) -> Device:
    """Open a simulated device of a board; the options are those of `SimOptions`.

    `print_line` takes the lines that kernels print as they are printed.
    """
    return open_device(
        Device,
        device_id,
        board,
        print_line,
        numerics=numerics,
        sanitize=sanitize,
        timed=timed,
        schedule_seed=schedule_seed,
        delay_copies=delay_copies,
        cycle_limit=cycle_limit,
        leniencies=leniencies,
        max_findings=max_findings,
        tt_metal=tt_metal,
    )


def open_device(
    made: type[AnyDevice],
    device_id: int,
    board: str,
    print_line: Callable[[str], None] | None,
    **options: Any,
) -> AnyDevice:
    """A device of a kind; `options` are the fields of `SimOptions`."""
    if not isinstance(cast("object", device_id), int):
        raise MetaliumError(f"a device is opened by its number, not by {device_id!r}")
    with host_call():
        chosen = SimOptions(**options)
    return made(device_id, chip_of_board(board, device_id), chosen, print_line)


def CloseDevice(device: Device) -> bool:
    """Close a device."""
    device.close()
    return True


def CreateProgram() -> Program:
    """A program without kernels."""
    return Program()


def CreateBuffer(
    config: InterleavedBufferConfig | ShardedBufferConfig, address: int | None = None
) -> Buffer:
    """Take memory of a device for a buffer, at an address if it is given."""
    if not isinstance(cast("object", config), InterleavedBufferConfig | ShardedBufferConfig):
        raise MetaliumError(
            "CreateBuffer takes an InterleavedBufferConfig or a ShardedBufferConfig, not "
            f"{config!r}"
        )
    return Buffer(config, address=address)


def DeallocateBuffer(buffer: Buffer) -> None:
    """Give the memory of a buffer back."""
    _check_buffer(buffer).deallocate()


@names_options
def CreateKernel(
    program: Program,
    file_name: str | Path,
    core_spec: CoreSpec,
    config: KernelConfig,
    *,
    include_folders: Sequence[str | Path] = (),
) -> Kernel:
    """Put the kernel in a file on cores.

    The file and the headers that it includes are looked for below `TT_METAL_HOME`, too, if this
    variable is set; headers also in the folder of the kernel and in `include_folders`.
    """
    home = os.environ.get(HOME_VARIABLE, "")
    path = find_kernel(_check_path(file_name), home)
    with host_call():
        text = read_kernel(path)
    headers = IncludePath.of_kernel(path, tuple(include_folders), home)
    return _create_kernel(program, Path(path).stem, str(path), text, core_spec, config, headers)


@names_options
def CreateKernelFromString(
    program: Program,
    kernel_src_code: str,
    core_spec: CoreSpec,
    config: KernelConfig,
    *,
    include_folders: Sequence[str | Path] = (),
) -> Kernel:
    """Put a kernel on cores; messages name it by its number in the program.

    One that was made from another language, such as a kernel in Python, is known by its name there.
    Headers are looked for in `include_folders` and below `TT_METAL_HOME`, if it is set.
    """
    _check_parts(program, config)
    if not isinstance(cast("object", kernel_src_code), str):
        raise MetaliumError(f"the text of a kernel is a str, not {kernel_src_code!r}")
    name = f"kernel_{len(program.kernels)}"
    return create_named_kernel(program, name, kernel_src_code, core_spec, config, include_folders)


def create_named_kernel(
    program: Program,
    name: str,
    text: str,
    core_spec: CoreSpec,
    config: KernelConfig,
    include_folders: Sequence[str | Path] = (),
) -> Kernel:
    """Put a kernel on cores, whose text is known by a name in messages."""
    home = os.environ.get(HOME_VARIABLE, "")
    headers = IncludePath(tuple(map(str, include_folders)), home)
    file = f"{name}.cpp"
    if isinstance(text, MappedText):
        name, file = text.name, text.source_map.file
    return _create_kernel(program, name, file, text, core_spec, config, headers)


def _create_kernel(
    program: Program,
    name: str,
    file: str,
    text: str,
    core_spec: CoreSpec,
    config: KernelConfig,
    headers: IncludePath,
) -> Kernel:
    _check_parts(program, config)
    for folder in headers.folders:
        if not os.path.isdir(folder):
            raise MetaliumError(f"include_folders: there is no folder '{folder}'")
    is_compute = isinstance(config, ComputeConfig)
    on_ethernet = isinstance(config, EthernetConfig)
    kernel = Kernel(
        name=name,
        file=file,
        text=text,
        cores=cores_of(core_spec) if on_ethernet else existing_cores(core_spec),
        on_ethernet=on_ethernet,
        role=Role.COMPUTE if is_compute else _PROCESSORS[config.processor],
        noc_index=0 if is_compute else int(config.noc),
        compile_time_args=argument_words(config.compile_args, "compile-time argument"),
        named_compile_time_args={
            name: argument_word(value, f"compile-time argument '{name}'")
            for name, value in _read_mapping(
                config.named_compile_args, "named_compile_args"
            ).items()
        },
        defines=_read_defines(config.defines),
        include_path=headers,
        compute=_settings(config) if is_compute else ComputeSettings(),
    )
    with host_call():
        return program.add_kernel(kernel)


def _check_path(path: object) -> str | Path:
    if not isinstance(path, str | Path) or "\n" in str(path):
        raise MetaliumError(
            "CreateKernel takes the path of a file; CreateKernelFromString takes the text of a "
            "kernel"
        )
    return path


def _check_parts(program: object, config: object) -> None:
    """MetaliumError for what no kernel can be made from."""
    if not isinstance(program, Program):
        raise MetaliumError(f"{program!r} is no program; CreateProgram() makes one")
    if not isinstance(config, KernelConfig):
        raise MetaliumError(
            "a kernel takes a DataMovementConfig, ReaderDataMovementConfig(), "
            f"WriterDataMovementConfig(), EthernetConfig or ComputeConfig, not {config!r}"
        )
    if isinstance(config, ComputeConfig):
        if not isinstance(cast("object", config.math_fidelity), MathFidelity):
            known = ", ".join(f"MathFidelity.{each.schema_name}" for each in MathFidelity)
            raise MetaliumError(
                f"'math_fidelity' is {config.math_fidelity!r}; it is one of {known}"
            )
        return
    if config.noc not in (NOC.NOC_0, NOC.NOC_1):
        raise MetaliumError(f"'noc' is {config.noc!r}; it is NOC.NOC_0 or NOC.NOC_1")
    if config.processor not in _PROCESSORS:
        known = " or ".join(f"DataMovementProcessor.{each.name}" for each in _PROCESSORS)
        raise MetaliumError(f"'processor' is {config.processor!r}; it is {known}")
    if isinstance(config, DataMovementConfig) and config.noc_mode != NOC_MODE.DM_DEDICATED_NOC:
        raise MetaliumError(
            "noc_mode DM_DYNAMIC_NOC is not simulated; give each processor a network of its own, "
            "and name the other one in the calls that use it"
        )


def _read_mapping(given: object, what: str) -> Mapping[str, object]:
    """Things by their names, which may come as pairs; MetaliumError for what has no names."""
    try:
        made = dict(cast("Mapping[str, object]", given))
    except (TypeError, ValueError):
        raise MetaliumError(f"'{what}' is a dictionary, not {given!r}") from None
    wrong = next((each for each in made if not isinstance(cast("object", each), str)), None)
    if wrong is not None:
        raise MetaliumError(f"'{what}' has the name {wrong!r}, which is no text")
    return made


_MACRO = re.compile(r"[A-Za-z_]\w*(?:\([^()]*\))?", re.ASCII)


def _read_defines(defines: object) -> dict[str, str]:
    """Macros with their texts."""
    made = dict[str, str]()
    for name, value in _read_mapping(defines, "defines").items():
        if not _MACRO.fullmatch(name):
            raise MetaliumError(f"'defines' has {name!r}, which is no name of a macro")
        if not isinstance(value, str):
            raise MetaliumError(
                f"the macro '{name}' is {value!r}; macros are texts: write str({value!r})"
            )
        made[name] = value
    return made


def _settings(config: ComputeConfig) -> ComputeSettings:
    if not isinstance(cast("object", config.unpack_to_dest_mode), list | tuple):
        raise MetaliumError(
            "'unpack_to_dest_mode' is a list with an UnpackToDestMode for each circular buffer, "
            f"not {config.unpack_to_dest_mode!r}"
        )
    return ComputeSettings(
        fidelity=config.math_fidelity,
        fp32_dest_acc_en=config.fp32_dest_acc_en,
        dst_full_sync_en=config.dst_full_sync_en,
        math_approx_mode=config.math_approx_mode,
        unpack_to_dest=frozenset(
            index
            for index, mode in enumerate(config.unpack_to_dest_mode)
            if mode == UnpackToDestMode.UnpackToDestFp32
        ),
    )


@names_options
def CreateSemaphore(
    program: Program,
    core_spec: CoreSpec,
    initial_value: int,
    core_type: CoreType = CoreType.WORKER,
) -> int:
    """Create a semaphore on cores; the number that a kernel's `get_semaphore` takes."""
    on_ethernet = core_type == CoreType.ETH
    cores = cores_of(core_spec) if on_ethernet else existing_cores(core_spec)
    with host_call():
        return program.add_semaphore(
            cores, check_semaphore_value(initial_value), on_ethernet=on_ethernet
        )
