"""Devices, programs, buffers, kernels and semaphores as the host creates them.

Names and parameters are those of tt-metal, tt_metal/api/tt-metalium/host_api.hpp. Wrong arguments
raise MetaliumError, a ValueError.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar, cast

from ttmlir.cpp.preprocessor.include_path import HOME_VARIABLE, IncludePath
from ttmlir.cpp.source_map import MappedText
from ttmlir.metalium.arguments import argument_word, argument_words
from ttmlir.metalium.buffers import Buffer
from ttmlir.metalium.configs import (
    ComputeConfig,
    DataMovementConfig,
    InterleavedBufferConfig,
    ShardedBufferConfig,
)
from ttmlir.metalium.cores import CoreSpec
from ttmlir.metalium.device import Device, chip_of_board, existing_cores
from ttmlir.metalium.enums import NOC_MODE, DataMovementProcessor, UnpackToDestMode
from ttmlir.metalium.errors import MetaliumError, host_call, names_options
from ttmlir.optable.kernel import Role
from ttmlir.sim.calls.compute_api import ComputeSettings
from ttmlir.sim.execution.program import Kernel, Program, find_kernel, read_kernel
from ttmlir.sim.options import Numerics, SimOptions

AnyDevice = TypeVar("AnyDevice", bound=Device)

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
    with host_call():
        buffer.simulated.deallocate()


@names_options
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
    config: DataMovementConfig | ComputeConfig,
    *,
    include_folders: Sequence[str | Path] = (),
) -> Kernel:
    """Put a kernel on cores; messages name it by its number in the program.

    One that was made from another language, such as a kernel in Python, is known by its name there.
    Headers are looked for in `include_folders` and below `TT_METAL_HOME`, if it is set.
    """
    _check_parts(program, config)
    name = f"kernel_{len(program.kernels)}"
    return create_named_kernel(program, name, kernel_src_code, core_spec, config, include_folders)


def create_named_kernel(
    program: Program,
    name: str,
    text: str,
    core_spec: CoreSpec,
    config: DataMovementConfig | ComputeConfig,
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
    config: DataMovementConfig | ComputeConfig,
    headers: IncludePath,
) -> Kernel:
    _check_parts(program, config)
    is_compute = isinstance(config, ComputeConfig)
    kernel = Kernel(
        name=name,
        file=file,
        text=text,
        cores=existing_cores(core_spec),
        role=Role.COMPUTE if is_compute else _PROCESSORS[config.processor],
        noc_index=0 if is_compute else int(config.noc),
        compile_time_args=argument_words(config.compile_args, "compile-time argument"),
        named_compile_time_args={
            name: argument_word(value, f"compile-time argument '{name}'")
            for name, value in config.named_compile_args.items()
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
    if not isinstance(config, DataMovementConfig | ComputeConfig):
        raise MetaliumError(
            "a kernel takes a DataMovementConfig, ReaderDataMovementConfig(), "
            f"WriterDataMovementConfig() or ComputeConfig, not {config!r}"
        )
    if isinstance(config, ComputeConfig):
        return
    if config.processor not in _PROCESSORS:
        known = " or ".join(f"DataMovementProcessor.{each.name}" for each in _PROCESSORS)
        raise MetaliumError(f"'processor' is {config.processor!r}; it is {known}")
    if config.noc_mode != NOC_MODE.DM_DEDICATED_NOC:
        raise MetaliumError(
            "noc_mode DM_DYNAMIC_NOC is not simulated; give each processor a network of its own, "
            "and name the other one in the calls that use it"
        )


def _read_defines(defines: Mapping[str, object]) -> dict[str, str]:
    """Macros with their texts."""
    made = dict[str, str]()
    for name, value in defines.items():
        if not isinstance(value, str):
            raise MetaliumError(
                f"the macro '{name}' is {value!r}; macros are texts: write str({value!r})"
            )
        made[name] = value
    return made


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


def CreateSemaphore(program: Program, core_spec: CoreSpec, initial_value: int) -> int:
    """Create a semaphore on cores; the number that a kernel's `get_semaphore` takes."""
    with host_call():
        return program.add_semaphore(existing_cores(core_spec), initial_value)
