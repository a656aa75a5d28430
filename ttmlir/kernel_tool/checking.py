"""Compiles kernels and says what is wrong with them: `check_kernel`."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache

from ttmlir.cpp.errors import CppSyntaxError
from ttmlir.cpp.preprocessor.include_path import IncludePath
from ttmlir.cpp.tree import Position
from ttmlir.kernel_tool.assumed_macros import find_missing_macros
from ttmlir.kernel_tool.errors import KernelToolError
from ttmlir.kernel_tool.kernel_files import KernelRole, find_role, read_kernel
from ttmlir.layout.enums import DataType
from ttmlir.optable.kernel import Role
from ttmlir.sim.calls.compute_api import ComputeSettings
from ttmlir.sim.calls.data_movement_api import DataMovementApi
from ttmlir.sim.execution.kernel_build import build_facts_of_chip
from ttmlir.sim.execution.run import COMPUTE_APIS
from ttmlir.sim.kernels import compile_kernel
from ttmlir.sim.kernels.assumptions import ASSUMED_ARGUMENTS, AssumedArguments, is_note_of_assumed
from ttmlir.sim.kernels.build import Build
from ttmlir.sim.machine.chip import SimChip
from ttmlir.sim.machine.circular_buffer import COUNT

MAX_ERRORS = 20
"""How many errors of a kernel are shown."""


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
class KernelMistake:
    """Something that is wrong with a kernel."""

    message: str
    position: Position
    """Perhaps in a header."""
    text: str
    """The message as compilers print it."""
    processors: tuple[str, ...]
    """Those of the kernel's processors for which it is wrong."""


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What became of a kernel."""

    file: str
    role: KernelRole | None
    """None if the file could not be read."""
    seconds: float
    message: str = ""
    """What is wrong first; empty if nothing is."""
    text: str = ""
    """All messages as compilers print them."""
    mistakes: tuple[KernelMistake, ...] = ()
    """What is wrong in the text; none if it could not be read."""
    assumed: AssumedArguments = field(default_factory=AssumedArguments)
    """Compile-time arguments that the kernel asked for and that were not given."""
    assumed_macros: Mapping[str, str] = field(default_factory=dict[str, str])
    """Macros that the kernel needs and that were not given."""
    warnings: tuple[str, ...] = ()
    """What is no error, as compilers print it; of kernels that compile."""

    @property
    def compiles(self) -> bool:
        """Whether nothing is wrong."""
        return not self.message


def check_kernel(path: str, options: CheckOptions) -> Verdict:
    """Compile a kernel for all its processors; up to `MAX_ERRORS` errors are what is wrong.

    Circular buffers have tiles of bf16, compile-time arguments beyond those in the options are the
    first of `ASSUMED_ARGUMENTS` that makes nothing wrong, and macros that are missing as
    `MACRO_DEFAULTS` says.
    """
    start = time.perf_counter()
    role = options.role
    try:
        text = read_kernel(path)
        role = role or find_role(text, path)
        return _check_text(text, path, role, options, start)
    except KernelToolError as error:
        message = str(error).partition(": error: ")[2]
        seconds = time.perf_counter() - start
        return Verdict(file=path, role=role, seconds=seconds, message=message, text=str(error))
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


def _check_text(
    text: str, path: str, role: KernelRole, options: CheckOptions, start: float
) -> Verdict:
    compilation, mistakes = _compile_text(text, path, role, options, ASSUMED_ARGUMENTS[0])
    if compilation.has_assumed_wrongly:
        for number in ASSUMED_ARGUMENTS[1:]:
            other, others = _compile_text(text, path, role, options, number)
            if not others:
                compilation, mistakes = other, others
                break
    macros = compilation.macros
    return Verdict(
        file=path,
        role=role,
        seconds=time.perf_counter() - start,
        message=mistakes[0].message if mistakes else "",
        text="\n".join((*(each.text for each in mistakes), *_note_macros(macros))),
        mistakes=tuple(mistakes),
        assumed=compilation.assumed,
        assumed_macros=macros,
        warnings=() if mistakes else tuple(compilation.warnings),
    )


def _compile_text(
    text: str, path: str, role: KernelRole, options: CheckOptions, number: int
) -> tuple[_Compilation, list[KernelMistake]]:
    """Compile with the macros that are missing, and with a number for missing arguments."""
    macros = dict[str, str]()
    while True:
        compilation = _Compilation(text, path, role, options, macros, number)
        mistakes = compilation.run()
        messages = [each.message for each in mistakes]
        missing = find_missing_macros(text, messages, {**options.defines, **macros})
        if not missing:
            return compilation, mistakes
        macros |= missing


def _note_macros(macros: Mapping[str, str]) -> Iterator[str]:
    if macros:
        listed = ", ".join(f"{name}={value}".rstrip("=") for name, value in macros.items())
        yield f"note: macros that are not given are taken as {listed}"


class _Compilation:
    """A kernel for all processors of its role."""

    def __init__(
        self,
        text: str,
        path: str,
        role: KernelRole,
        options: CheckOptions,
        macros: Mapping[str, str],
        number: int,
    ) -> None:
        """`macros` are those that are assumed, `number` what arguments are taken as."""
        self.text = text
        self.path = path
        self.role = role
        self.options = options
        self.macros = macros
        self.assumed = AssumedArguments(number)
        """The arguments that the kernel lacks."""
        self.warnings: dict[str, None] = {}
        """What is no error, each once."""
        self.has_assumed_wrongly = False
        """Whether something is wrong in a kernel with assumed arguments."""

    def run(self) -> list[KernelMistake]:
        """What is wrong, up to `MAX_ERRORS` errors."""
        found = dict[tuple[Position, str], list[tuple[Role, CppSyntaxError]]]()
        for processor in self.role.processors:
            try:
                self._compile(processor)
            except CppSyntaxError as error:
                for each in (error, *error.others):
                    self.has_assumed_wrongly |= any(map(is_note_of_assumed, each.notes))
                    found.setdefault((each.position, each.message), []).append((processor, each))
        return [self._describe(each) for each in list(found.values())[:MAX_ERRORS]]

    def _describe(self, found: list[tuple[Role, CppSyntaxError]]) -> KernelMistake:
        """An error that several processors may have."""
        error = found[0][1]
        names = tuple(processor.name or "" for processor, _ in found)
        if len(names) < len(self.role.processors):
            error = error.with_notes(f"compiled for {' and '.join(names)}")
        return KernelMistake(
            message=error.message, position=error.position, text=str(error), processors=names
        )

    def _compile(self, processor: Role) -> None:
        options = self.options
        compiled = compile_kernel(
            self.text,
            self.path,
            processor,
            api=COMPUTE_APIS.get(processor, DataMovementApi),
            defines={**options.defines, **self.macros},
            compile_time_args=options.compile_time_args,
            named_compile_time_args=options.named_compile_time_args,
            arch_macro=_chip(options.board).spec.macro,
            build=_build(options.board, self.role, processor),
            include_path=IncludePath.of_kernel(self.path, options.include_folders, options.home),
            assume_arguments=self.assumed.number,
            error_limit=MAX_ERRORS,
        )
        if compiled.assumed is not None:
            self.assumed.positions |= compiled.assumed.positions
            self.assumed.names |= compiled.assumed.names
        self.warnings.update(dict.fromkeys(map(str, compiled.warnings)))


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
