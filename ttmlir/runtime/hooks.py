"""Callbacks around every operation of every program: for debuggers, profilers and comparisons.

With the environment variable `TTMLIR_RUNTIME_LOGGER_LEVEL=Debug` the programs that run are named on
standard error, with `Trace` their operations, too.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from ttmlir.runtime.binary import Binary, BinaryProgram, Operation
from ttmlir.runtime.errors import InputError
from ttmlir.runtime.execution.executor import Observer, Run
from ttmlir.runtime.execution.steps import Step
from ttmlir.runtime.tensor import Tensor, convert, host_desc
from ttmlir.terminal import printable


@dataclass(frozen=True)
class ProgramContext:
    """The run of a program that an operation belongs to."""

    run: Run

    @property
    def program(self) -> BinaryProgram:
        """The program."""
        return self.run.prepared.program


@dataclass(frozen=True)
class OpContext:
    """The operation that is about to run or has just run."""

    step: Step

    @property
    def operation(self) -> Operation:
        """The operation."""
        return self.step.operation


LEVEL_VARIABLE = "TTMLIR_RUNTIME_LOGGER_LEVEL"
_LEVELS = ("TRACE", "DEBUG", "INFO", "WARNING", "ERROR", "FATAL")
"""Those of tt-mlir's runtime; the messages here are of the first two."""

Callback = Callable[[Binary, ProgramContext, OpContext], None]


@dataclass(frozen=True)
class DebugHooks:
    """The registered callbacks; `DebugHooks.get(pre, post)` replaces them."""

    pre: Callback | None
    post: Callback | None

    _registered: ClassVar[DebugHooks | None] = None

    @classmethod
    def get(cls, pre: Callback | None = None, post: Callback | None = None) -> DebugHooks:
        """Register callbacks for before and after each operation; they hold until `unregister`."""
        cls._registered = cls(pre, post)
        return cls._registered

    @classmethod
    def registered(cls) -> DebugHooks | None:
        """The callbacks in force."""
        return cls._registered

    @classmethod
    def unregister(cls) -> None:
        """Call nothing any more."""
        cls._registered = None

    def before(self, run: Run, step: Step) -> None:
        """Call the first callback."""
        if self.pre is not None:
            self.pre(run.prepared.program.binary, ProgramContext(run), OpContext(step))

    def after(self, run: Run, step: Step) -> None:
        """Call the second callback."""
        if self.post is not None:
            self.post(run.prepared.program.binary, ProgramContext(run), OpContext(step))


@dataclass(frozen=True)
class _Tracer:
    """Names each operation before another observer, if there is one, sees it."""

    observer: Observer | None

    @property
    def enters_functions(self) -> bool:
        """Whether operations of loops and branches are seen."""
        return self.observer is None or getattr(self.observer, "enters_functions", False)

    def before(self, run: Run, step: Step) -> None:
        """Name the operation."""
        log_operation(step.operation.debug_info, step.operation.where)
        if self.observer is not None:
            self.observer.before(run, step)

    def after(self, run: Run, step: Step) -> None:
        """Nothing is said after it."""
        if self.observer is not None:
            self.observer.after(run, step)


def with_trace(observer: Observer | None) -> Observer | None:
    """An observer that also names operations, if the environment asks for that."""
    return _Tracer(observer) if _is_logged("TRACE") else observer


def log_program(program: BinaryProgram) -> None:
    """Name a program that begins, if the environment asks for that."""
    _log("DEBUG", f"Starting execution of program: {program.name}")


def log_operation(debug_info: str, where: str) -> None:
    """Name an operation that begins, if the environment asks for that."""
    _log("TRACE", f"Executing operation: {debug_info or where}")


def _log(level: str, message: str) -> None:
    if _is_logged(level):
        text = f"{datetime.now():%F %T.%f} | {level} | Runtime | {message}"
        print(printable(text), file=sys.stderr)


def _is_logged(level: str) -> bool:
    asked = os.environ.get(LEVEL_VARIABLE, "").upper()
    if not asked:
        return False
    if asked not in _LEVELS:
        raise InputError(f"{LEVEL_VARIABLE} is '{asked}'; supported are {', '.join(_LEVELS)}")
    return asked in _LEVELS[: _LEVELS.index(level) + 1]


def get_op_debug_str(op_context: OpContext) -> str:
    """The operation's text in the IR; empty if the file has none."""
    return op_context.operation.debug_info


def get_op_loc_info(op_context: OpContext) -> str:
    """The operation's source location; empty if unknown."""
    return op_context.operation.location


def get_op_output_tensor(op_context: OpContext, program_context: ProgramContext) -> Tensor | None:
    """A copy of the operation's result on the host; None for operations without one.

    After an operation that is its result, before it there is none.
    """
    step = op_context.step
    values = program_context.run.output_of(step)
    if values is None or step.output_desc is None:
        return None
    element = step.output_desc.element
    copy = convert(values, element.host).copy()
    return Tensor(host_desc(copy.shape, element), copy)
