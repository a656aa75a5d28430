"""One operation of a prepared program."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ttmlir.runtime.binary import Operation
from ttmlir.runtime.element import Array
from ttmlir.runtime.execution.operations import OperationCall
from ttmlir.runtime.tensor import TensorDesc

if TYPE_CHECKING:
    from ttmlir.runtime.execution.control import Branch, Loop
    from ttmlir.runtime.generic.run import GenericProgram

Function = Callable[..., Any]

DATA_ERRORS = (ValueError, TypeError, IndexError, ArithmeticError, MemoryError)
"""What kernels raise for data that an operation is not defined on."""


@dataclass(frozen=True)
class GenericStep:
    """A program of kernels on the arrays of a step's `inputs`, and the slots of its results."""

    program: GenericProgram
    outputs: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Step:
    """One operation of a prepared program."""

    operation: Operation
    function: Function | None = None
    """Maps the arrays of `inputs` to that of `output`, or to a tuple where there are `further`
    results; None where no number changes."""
    inputs: tuple[int, ...] = ()
    output: int | None = None
    output_desc: TensorDesc | None = None
    further: tuple[int, ...] = ()
    """Slots of the results after the first one."""
    release: tuple[int, ...] = ()
    """Slots that no later step uses."""
    call: OperationCall | None = None
    """The row and parameters of a computing operation."""
    generic: GenericStep | None = None
    """A program of kernels, which runs on the simulator instead of a function."""
    control: Loop | Branch | None = None
    """Functions of the file, which run instead of one of NumPy."""
    constant: Array | None = None
    """The result, where it is the same in each run."""
    is_pure: bool = False
    """True where the function does nothing but compute its result, from its arguments alone."""
    is_unrounded: bool = False
    """True where the result is what the row's function computes, in the type that it computes in
    and, but for images, in the shape: any other way to compute it may take its place."""
    is_fresh: bool = False
    """True where the result is known to be in memory of its own."""

    @property
    def is_idle(self) -> bool:
        """True where no number changes."""
        return self.function is None and self.generic is None and self.control is None

    @property
    def written(self) -> tuple[int, ...]:
        """Slots of all results."""
        if self.control is not None:
            return self.control.outputs
        if self.generic is not None:
            return self.generic.outputs
        return () if self.output is None else (self.output, *self.further)

    @property
    def written_descs(self) -> tuple[TensorDesc, ...]:
        """The descriptions of all results."""
        if self.control is not None:
            return self.control.output_descs
        if self.generic is not None:
            return self.generic.program.output_descs
        if self.further:
            assert self.call is not None, "only rows have several results"
            return tuple(ref.desc for ref in self.call.outputs)
        return () if self.output_desc is None else (self.output_desc,)


def with_releases(steps: Sequence[Step], keep: set[int]) -> tuple[Step, ...]:
    """Note at each step which slots it is the last one to touch."""
    seen = set(keep)
    result: list[Step] = []
    for step in reversed(steps):
        touched = dict.fromkeys((*step.inputs, *step.written))
        release = tuple(slot for slot in touched if slot not in seen)
        seen.update(release)
        result.append(replace(step, release=release))
    return tuple(reversed(result))
