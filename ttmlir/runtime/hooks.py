"""Callbacks around every operation of every program: for debuggers, profilers and comparisons."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from ttmlir.runtime.binary import Binary, BinaryProgram, Operation
from ttmlir.runtime.element import convert
from ttmlir.runtime.execution.executor import Run
from ttmlir.runtime.execution.prepare import Step
from ttmlir.runtime.tensor import Tensor, host_desc


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
