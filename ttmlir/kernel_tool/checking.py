"""Compiles kernels and says what is wrong with them: `check_kernel`."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

from ttmlir.cpp.errors import CppSyntaxError
from ttmlir.cpp.preprocessor.include_path import IncludePath
from ttmlir.cpp.tree import Position
from ttmlir.kernel_tool.errors import KernelToolError
from ttmlir.kernel_tool.kernel_files import KernelRole, find_role, read_kernel
from ttmlir.layout.enums import DataType
from ttmlir.optable.kernel import Role
from ttmlir.sim.calls.compute_api import ComputeSettings
from ttmlir.sim.calls.data_movement_api import DataMovementApi
from ttmlir.sim.execution.kernel_build import build_facts_of_chip
from ttmlir.sim.execution.run import COMPUTE_APIS
from ttmlir.sim.kernels import compile_kernel
from ttmlir.sim.kernels.assumptions import AssumedArguments
from ttmlir.sim.kernels.build import Build
from ttmlir.sim.machine.chip import SimChip
from ttmlir.sim.machine.circular_buffer import COUNT


@dataclass(frozen=True, kw_only=True)
class CheckOptions:
    """What kernels are compiled with."""

    role: KernelRole | None = None
    """None: what each of them looks like."""
    board: str = "n150"
    include_folders: tuple[str, ...] = ()
    home: str = ""
    """The root of a tree of tt-metal, where headers are looked for last."""
    defines: Mapping[str, str] = field(default_factory=dict[str, str])
    compile_time_args: tuple[int, ...] = ()
    named_compile_time_args: Mapping[str, int] = field(default_factory=dict[str, int])


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What became of a kernel."""

    file: str
    role: KernelRole | None
    """None if the file could not be read."""
    seconds: float
    message: str = ""
    """What is wrong; empty if nothing is."""
    position: Position | None = None
    """Where, perhaps in a header."""
    text: str = ""
    """The message as compilers print it."""
    assumed: AssumedArguments = field(default_factory=AssumedArguments)
    """Compile-time arguments that the kernel asked for and that were not given."""
    warnings: tuple[str, ...] = ()
    """What is no error, as compilers print it; of kernels that compile."""

    @property
    def compiles(self) -> bool:
        """Whether nothing is wrong."""
        return not self.message


def check_kernel(path: str, options: CheckOptions) -> Verdict:
    """Compile a kernel for all its processors; the first error is what is wrong.

    Circular buffers have tiles of bf16, and compile-time arguments beyond those in the options are
    as `AssumedArguments` says.
    """
    start = time.perf_counter()
    role = options.role
    try:
        text = read_kernel(path)
        role = role or find_role(text, path)
        assumed, warnings = _compile(text, path, role, options)
    except KernelToolError as error:
        message = str(error).partition(": error: ")[2]
        seconds = time.perf_counter() - start
        return Verdict(file=path, role=role, seconds=seconds, message=message, text=str(error))
    except CppSyntaxError as error:
        return Verdict(
            file=path,
            role=role,
            seconds=time.perf_counter() - start,
            message=error.message,
            position=error.position,
            text=str(error),
        )
    except Exception as error:
        if os.environ.get("TTMLIR_DEBUG"):
            raise
        # One such kernel must not keep the others of a folder from being checked.
        message = f"internal error: {type(error).__name__}: {error}"
        note = "note: this is a mistake in ttmlir, not in the kernel"
        return Verdict(
            file=path,
            role=role,
            seconds=time.perf_counter() - start,
            message=message,
            text=f"{path}: error: {message}\n{note}; TTMLIR_DEBUG=1 shows the traceback",
        )
    return Verdict(
        file=path,
        role=role,
        seconds=time.perf_counter() - start,
        assumed=assumed,
        warnings=warnings,
    )


def _compile(
    text: str, path: str, role: KernelRole, options: CheckOptions
) -> tuple[AssumedArguments, tuple[str, ...]]:
    """Compile for all processors of a role; the arguments that the kernel lacks, and warnings."""
    lacking = AssumedArguments()
    warnings: dict[str, None] = {}
    for processor in role.processors:
        try:
            compiled = compile_kernel(
                text,
                path,
                processor,
                api=COMPUTE_APIS.get(processor, DataMovementApi),
                defines=options.defines,
                compile_time_args=options.compile_time_args,
                named_compile_time_args=options.named_compile_time_args,
                arch_macro=_chip(options.board).spec.macro,
                build=_build(options.board, role, processor),
                include_path=IncludePath.of_kernel(path, options.include_folders, options.home),
                assume_arguments=True,
            )
        except CppSyntaxError as error:
            if processor is role.processors[0]:
                raise
            raise error.with_notes(f"compiled for {processor.name}") from None
        if compiled.assumed is not None:
            lacking.positions |= compiled.assumed.positions
            lacking.names |= compiled.assumed.names
        warnings.update(dict.fromkeys(map(str, compiled.warnings)))
    return lacking, tuple(warnings)


@cache
def _chip(board: str) -> SimChip:
    return SimChip.of_board(board)


@cache
def _build(board: str, role: KernelRole, processor: Role) -> Build:
    formats = dict.fromkeys(range(COUNT), DataType.BF16)
    return build_facts_of_chip(
        _chip(board),
        formats,
        processor,
        settings=ComputeSettings(),
        noc_index=role.noc_index,
    )
