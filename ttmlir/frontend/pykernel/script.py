"""Operations of kernels in Python as scripts, which run these kernels on a card."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from ttmlir.bridge.host_programs import describe_operation
from ttmlir.errors import ArgumentError, ArgumentTypeError, Error, NotSupportedError, UsageError
from ttmlir.frontend.pykernel.compilation import Kernel
from ttmlir.frontend.scripts import ScriptData, check_script_path, write_files
from ttmlir.program import (
    CoreRange,
    CoreRanges,
    KernelDescription,
    ProgramDescription,
    TensorAccessorArgs,
)
from ttmlir.target.python.kernel_script import mend_rows
from ttmlir.target.python.operation_script import (
    ChipText,
    ShardsText,
    TensorText,
    write_operation_script,
)

_BOARDS = ("n150", "p150")
"""The boards that scripts are for."""


def save_operation(
    path: str | Path,
    title: str,
    tensors: Mapping[str, Any],
    build: Callable[[Sequence[Any]], Any],
    run: Callable[[], Any],
) -> Path:
    """Write a script of an operation, and the numbers of its tensors and of the result of `run`.

    `build` makes the program for other tensors of the same kinds. NotSupportedError or
    DescriptionError for what no script can have.
    """
    script = check_script_path(path)
    device = _device_of(tensors)

    def refuse(message: str) -> NoReturn:
        raise NotSupportedError(f"{title} {message}")

    def mended(made: Sequence[Any]) -> Any:
        program = build(made)
        for each in program.kernels:
            source = each.kernel_source
            if isinstance(source, Kernel) and getattr(each.config, "fp32_dest_acc_en", False):
                text = mend_rows(source.module, source, refuse)
                each.kernel_source = Kernel(
                    source.name, text, None, source.module, source.thread_type
                )
        return program

    def describe(board: str) -> ProgramDescription:
        return describe_operation(title, board, [*tensors.values()], mended)

    program = describe(device.chip.name)
    for each in program.kernels:
        _check_offsets(each, refuse)
    described = [_describe(name, each, refuse) for name, each in tensors.items()]
    chip = _chip_of(device)
    if all(_is_alike(program, board, describe) for board in _BOARDS):
        chip = ChipText("", _extent(program), 0)
    text = write_operation_script(
        program, described, chip, title=title, script=script.name, refuse=refuse
    )
    inputs = {name: np.array(each.array) for name, each in tensors.items()}
    data = ScriptData(title, [*inputs.values()], [np.array(run().array)], None, False)
    return write_files(script, text, data, inputs)


def _device_of(tensors: Mapping[str, Any]) -> Any:
    for name, each in tensors.items():
        if not hasattr(each, "memory_config"):
            raise ArgumentTypeError(f"{name} is a tensor of ttnn, not {each!r}")
    device = next((each.device() for each in tensors.values()), None)
    if device is None:
        raise UsageError("save takes tensors on a device; ttnn.to_device moves them there")
    return device


def names_of_tensors(invoke: Callable[..., Any], tensors: Sequence[Any]) -> list[str]:
    """What the parameters of `invoke` call tensors."""
    try:
        bound = inspect.signature(invoke).bind_partial(*tensors).arguments
    except TypeError as error:
        raise ArgumentError(f"invoke does not take these tensors: {error}") from error
    kinds = inspect.signature(invoke).parameters
    names = list[str]()
    for name, value in bound.items():
        if kinds[name].kind is inspect.Parameter.VAR_POSITIONAL:
            names += [f"{name}_{number}" for number in range(len(value))]
        else:
            names.append(name)
    return names


def _check_offsets(kernel: KernelDescription, refuse: Callable[[str], NoReturn]) -> None:
    """Refuse what reads an argument behind an accessor, whose words are more on cards."""
    accessors = [isinstance(each, TensorAccessorArgs) for each in kernel.compile_time_args]
    if True not in accessors:
        return
    first = accessors.index(True)
    for offset in map(int, _ACCESSOR.findall(kernel.source)):
        if offset > first:
            refuse(
                f"has TensorAccessorArgs({offset}, ...) in kernel '{kernel.name}', behind those of "
                "another tensor, which are more words on cards; tensors that lie alike share "
                f"TensorAccessorArgs({first}, 0)"
            )


_ACCESSOR = re.compile(r"TensorAccessorArgs<(\d+)")


def _is_alike(
    program: ProgramDescription, board: str, describe: Callable[[str], ProgramDescription]
) -> bool:
    """Whether the program for a board is the same."""
    try:
        return describe(board) == program
    except Error:
        return False


def _chip_of(device: Any) -> ChipText:
    grid, banks = device.compute_with_storage_grid_size(), device.dram_grid_size()
    return ChipText(device.arch().name.lower(), (grid.x, grid.y), banks.x * banks.y)


def _extent(program: ProgramDescription) -> tuple[int, int]:
    """Columns and rows of cores that a program needs."""
    parts = (*program.kernels, *program.circular_buffers, *program.semaphores)
    ends = [each.end for part in parts for each in part.core_ranges]
    return max((x for x, _ in ends), default=0) + 1, max((y for _, y in ends), default=0) + 1


def _describe(name: str, tensor: Any, refuse: Callable[[str], NoReturn]) -> TensorText:
    memory = tensor.memory_config()
    if tuple(tensor.spec.tile.tile_shape) != (32, 32):
        refuse(f"has tiles of another shape than 32x32 in '{name}', which scripts do not make")
    shards: ShardsText | None = None
    if memory.is_sharded():
        spec = memory.shard_spec
        if spec is None:
            refuse(f"has shards of any rank in '{name}'; scripts have a ttnn.ShardSpec")
        shards = ShardsText(
            memory.memory_layout.name, _ranges(spec.grid), tuple(spec.shape), spec.orientation.name
        )
    return TensorText(
        name, tensor.dtype.name.lower(), tensor.layout.name, memory.buffer_type.name, shards
    )


def _ranges(cores: Any) -> CoreRanges:
    return tuple(
        CoreRange((each.start.x, each.start.y), (each.end.x, each.end.y)) for each in cores.ranges()
    )
