"""The functions of the host API.

Names and parameters are those of tt-metal, tt_metal/api/tt-metalium/host_api.hpp; vectors are
NumPy arrays. Wrong arguments raise MetaliumError, a ValueError; what goes wrong while a program
runs raises SimError, whose text points into the kernel.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from ttmlir.cpp.preprocessor.include_path import HOME_VARIABLE, IncludePath
from ttmlir.cpp.source_map import MappedText
from ttmlir.metalium.arguments import argument_word, argument_words
from ttmlir.metalium.buffers import Buffer
from ttmlir.metalium.configs import (
    CircularBufferConfig,
    ComputeConfig,
    DataMovementConfig,
    InterleavedBufferConfig,
    ShardedBufferConfig,
)
from ttmlir.metalium.cores import CoreSpec, cores_of
from ttmlir.metalium.device import Device, check_cores, chip_of_board
from ttmlir.metalium.enums import DataMovementProcessor, UnpackToDestMode
from ttmlir.metalium.errors import MetaliumError, host_call
from ttmlir.optable.kernel import Role
from ttmlir.sim.calls.compute_api import ComputeSettings
from ttmlir.sim.errors import SimError
from ttmlir.sim.execution.command_queue import CommandQueue
from ttmlir.sim.execution.program import (
    CircularBufferSpec,
    Kernel,
    Program,
    find_kernel,
    read_kernel,
)
from ttmlir.sim.execution.run import ProgramReport
from ttmlir.sim.options import Numerics, SimOptions

MAX_RUNTIME_ARGS = 255
"""Run-time arguments of a kernel, common ones included (tt-metal, max_runtime_args)."""

_PROCESSORS = {
    DataMovementProcessor.RISCV_0: Role.BRISC,
    DataMovementProcessor.RISCV_1: Role.NCRISC,
}


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
    print_line: Callable[[str], None] | None = None,
) -> Device:
    """Open a simulated device of a board; the options are those of `SimOptions`.

    `print_line` takes the lines that kernels print as they are printed.
    """
    with host_call():
        options = SimOptions(
            numerics=numerics,
            sanitize=sanitize,
            timed=timed,
            schedule_seed=schedule_seed,
            delay_copies=delay_copies,
            cycle_limit=cycle_limit,
            leniencies=leniencies,
            max_findings=max_findings,
        )
    return Device(device_id, chip_of_board(board, device_id), options, print_line)


def CloseDevice(device: Device) -> bool:
    """Close a device."""
    device.close()
    return True


def CreateProgram() -> Program:
    """A program without kernels."""
    return Program()


def CreateBuffer(config: InterleavedBufferConfig | ShardedBufferConfig) -> Buffer:
    """Take memory of a device for a buffer."""
    return Buffer(config)


def DeallocateBuffer(buffer: Buffer) -> None:
    """Give the memory of a buffer back."""
    with host_call():
        buffer.simulated.deallocate()


def CreateCircularBuffer(
    program: Program, core_spec: CoreSpec, config: CircularBufferConfig
) -> CircularBufferSpec:
    """Create circular buffers on cores."""
    missing = [index for index in config.data_formats if index not in config.page_sizes]
    if missing:
        raise MetaliumError(
            f"circular buffer {missing[0]} has no page size; call set_page_size({missing[0]}, ...)"
        )
    with host_call():
        return program.add_circular_buffer(
            CircularBufferSpec(
                cores=_existing_cores(core_spec),
                total_size=config.total_size,
                indices={
                    index: (config.page_sizes[index], data_format.data_type)
                    for index, data_format in config.data_formats.items()
                },
                buffer=None if config.buffer is None else config.buffer.simulated,
            )
        )


def CreateKernel(
    program: Program,
    file_name: str | Path,
    core_spec: CoreSpec,
    config: DataMovementConfig | ComputeConfig,
    *,
    include_folders: Sequence[str | Path] = (),
) -> Kernel:
    """Put the kernel in a file on cores.

    The file and the headers that it includes are looked for below `TT_METAL_HOME`, too, if this
    variable is set; headers also in the folder of the kernel and in `include_folders`.
    """
    home = os.environ.get(HOME_VARIABLE, "")
    path = find_kernel(file_name, home)
    with host_call():
        text = read_kernel(path)
    headers = IncludePath.of_kernel(path, tuple(include_folders), home)
    return _create_kernel(program, Path(path).stem, str(path), text, core_spec, config, headers)


def CreateKernelFromString(
    program: Program,
    kernel_src_code: str,
    core_spec: CoreSpec,
    config: DataMovementConfig | ComputeConfig,
    *,
    include_folders: Sequence[str | Path] = (),
) -> Kernel:
    """Put a kernel on cores; messages name it by its number in the program.

    One that was made from another language, such as a kernel in Python, is known by its name there.
    Headers are looked for in `include_folders` and below `TT_METAL_HOME`, if it is set.
    """
    home = os.environ.get(HOME_VARIABLE, "")
    headers = IncludePath(tuple(map(str, include_folders)), home)
    if isinstance(kernel_src_code, MappedText):
        name, file = kernel_src_code.name, kernel_src_code.source_map.file
        return _create_kernel(program, name, file, kernel_src_code, core_spec, config, headers)
    name = f"kernel_{len(program.kernels)}"
    file = f"{name}.cpp"
    return _create_kernel(program, name, file, kernel_src_code, core_spec, config, headers)


def _create_kernel(
    program: Program,
    name: str,
    file: str,
    text: str,
    core_spec: CoreSpec,
    config: DataMovementConfig | ComputeConfig,
    headers: IncludePath,
) -> Kernel:
    is_compute = isinstance(config, ComputeConfig)
    kernel = Kernel(
        name=name,
        file=file,
        text=text,
        cores=_existing_cores(core_spec),
        role=Role.COMPUTE if is_compute else _PROCESSORS[config.processor],
        noc_index=0 if is_compute else int(config.noc),
        compile_time_args=argument_words(config.compile_args, "compile-time argument"),
        named_compile_time_args={
            name: argument_word(value, f"compile-time argument '{name}'")
            for name, value in config.named_compile_args.items()
        },
        defines=dict(config.defines),
        include_path=headers,
        compute=_settings(config) if is_compute else ComputeSettings(),
    )
    with host_call():
        return program.add_kernel(kernel)


def _existing_cores(core_spec: CoreSpec) -> tuple[tuple[int, int], ...]:
    cores = cores_of(core_spec)
    check_cores(cores)
    return cores


def _settings(config: ComputeConfig) -> ComputeSettings:
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


def SetRuntimeArgs(
    program: Program, kernel: Kernel, core_spec: CoreSpec, runtime_args: Sequence[int | Buffer]
) -> None:
    """Set the run-time arguments of a kernel on cores; a buffer stands for its address."""
    words = argument_words(runtime_args, "run-time argument")
    _check_count(len(words) + len(kernel.common_arguments))
    for core in cores_of(core_spec):
        if core not in kernel.cores:
            raise MetaliumError(
                f"run-time arguments for core {core}, on which kernel {kernel.name} does not run"
            )
        kernel.arguments[core] = words


def SetCommonRuntimeArgs(
    program: Program, kernel: Kernel, runtime_args: Sequence[int | Buffer]
) -> None:
    """Set the run-time arguments that all cores of a kernel have in common."""
    words = argument_words(runtime_args, "common run-time argument")
    _check_count(len(words) + max((len(each) for each in kernel.arguments.values()), default=0))
    kernel.common_arguments = words


def GetRuntimeArgs(program: Program, kernel: Kernel, core: tuple[int, int]) -> list[int]:
    """The run-time arguments of a kernel on a core."""
    return list(kernel.arguments.get((core[0], core[1]), ()))


def _check_count(count: int) -> None:
    if count > MAX_RUNTIME_ARGS:
        raise MetaliumError(
            f"{count} run-time arguments; a kernel takes {MAX_RUNTIME_ARGS} at most, common ones "
            "included: put larger tables into a buffer"
        )


def CreateSemaphore(program: Program, core_spec: CoreSpec, initial_value: int) -> int:
    """Create a semaphore on cores; the number that a kernel's `get_semaphore` takes."""
    with host_call():
        return program.add_semaphore(_existing_cores(core_spec), initial_value)


def EnqueueWriteBuffer(
    cq: CommandQueue, buffer: Buffer, src: ArrayLike | bytes, blocking: bool = True
) -> None:
    """Fill a buffer with the bytes of an array of any type."""
    data = src if isinstance(src, bytes) else np.ascontiguousarray(src).tobytes()
    if len(data) != buffer.size():
        raise MetaliumError(
            f"{len(data)} bytes are written to a buffer of {buffer.size()}; write all of it"
        )
    with host_call():
        cq.write(buffer.simulated, data)


def EnqueueReadBuffer(
    cq: CommandQueue,
    buffer: Buffer,
    dst: NDArray[Any] | None = None,
    blocking: bool = True,
    *,
    dtype: DTypeLike = np.uint32,
) -> NDArray[Any]:
    """Read a buffer into `dst`, or into a new array of type `dtype`; returns the array.

    Without `blocking`, the array holds the data after `Finish`, and ones in all bits before.
    """
    target = _destination(buffer, dst, np.dtype(dtype))
    flat = target.reshape(-1).view(np.uint8)
    if not blocking:
        flat[:] = 0xFF

    def deliver(data: bytes) -> None:
        flat[:] = np.frombuffer(data, np.uint8)

    with host_call():
        cq.read(buffer.simulated, deliver, blocking=blocking)
    return target


def _destination(buffer: Buffer, dst: NDArray[Any] | None, dtype: np.dtype[Any]) -> NDArray[Any]:
    if dst is None:
        if buffer.size() % dtype.itemsize:
            raise MetaliumError(
                f"a buffer of {buffer.size()} bytes does not hold whole numbers of type {dtype}"
            )
        return np.empty(buffer.size() // dtype.itemsize, dtype)
    if dst.nbytes != buffer.size() or not dst.flags.c_contiguous or not dst.flags.writeable:
        raise MetaliumError(
            f"dst has {dst.nbytes} bytes, the buffer {buffer.size()}; dst has to be a contiguous, "
            "writeable array of as many bytes"
        )
    return dst


def EnqueueProgram(cq: CommandQueue, program: Program, blocking: bool = False) -> ProgramReport:
    """Run a program; returns what its threads did."""
    try:
        return cq.run(program)
    except SimError as error:
        # How the simulator found it says nothing to who wrote the kernel.
        raise error.with_traceback(None) from None


def Finish(cq: CommandQueue) -> None:
    """Wait until all commands of a queue are done."""
    cq.finish()
