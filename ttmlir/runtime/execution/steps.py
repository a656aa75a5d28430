"""Prepared programs: their steps, and the loops and branches among these."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ttmlir.layout.data_format import is_block_float
from ttmlir.layout.enums import MemorySpace
from ttmlir.optable.indexing import window_at
from ttmlir.runtime.binary import BinaryProgram, Operation
from ttmlir.runtime.execution.operations import OperationCall
from ttmlir.runtime.tensor import (
    Array,
    Counters,
    Numerics,
    Rounding,
    TensorDesc,
    convert,
    storage_rounding,
)

if TYPE_CHECKING:
    from ttmlir.runtime.execution.exchanges import Exchange
    from ttmlir.runtime.generic import GenericProgram

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
    """The definition and parameters of a computing operation."""
    generic: GenericStep | None = None
    """A program of kernels, which runs on the simulator instead of a function."""
    control: Loop | Branch | Call | None = None
    """Functions of the file, which run instead of one of NumPy."""
    exchange: Exchange | None = None
    """What the devices of a mesh give each other instead."""
    constant: Array | None = None
    """The result, where it is the same in each run."""
    is_pure: bool = False
    """True where the function does nothing but compute its result, from its arguments alone."""
    is_unrounded: bool = False
    """True where the result is what the definition's function computes, in the type that it
    computes in and, but for images, in the shape: any other way to compute it may take its
    place."""
    is_fresh: bool = False
    """True where the result is known to be in memory of its own."""

    @property
    def is_idle(self) -> bool:
        """True where no number changes."""
        does = (self.function, self.generic, self.control, self.exchange)
        return all(each is None for each in does)

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
            assert self.call is not None, "only definitions have several results"
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


@dataclass(frozen=True, kw_only=True)
class PreparedProgram:
    """A program that is ready to run; see `ttmlir.runtime.execution.executor`."""

    program: BinaryProgram
    numerics: Numerics
    steps: tuple[Step, ...]
    slots: int
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    output_descs: tuple[TensorDesc, ...]
    chip_ids: tuple[int, ...]
    traffic: Counters
    """What one run moves between host and device."""
    peak_bytes: dict[MemorySpace, int]
    """Largest number of bytes in use at a time per device memory space, inputs included."""
    host_bytes: int
    """Largest number of bytes that its arrays take at a time, inputs included."""
    depth: int
    """How deep the functions nest that it calls."""
    devices: int = 1
    """How many devices run it."""
    card_steps: int = 0
    """Steps of a card's units that are computed one by one."""
    derived: dict[str, Any] = field(
        init=False, default_factory=dict[str, Any], compare=False, repr=False
    )
    """What `plan_of` keeps."""

    @property
    def has_exchanges(self) -> bool:
        """True if devices exchange something, also in functions."""
        return any(
            step.exchange is not None or (step.control is not None and step.control.has_exchanges)
            for step in self.steps
        )

    @property
    def waits(self) -> bool:
        """True if devices wait for others, also in functions."""
        return any(
            (step.exchange is not None and step.exchange.waits)
            or (step.control is not None and any(p.waits for p in step.control.callees))
            for step in self.steps
        )

    @property
    def has_kernels(self) -> bool:
        """True if programs of kernels are among the operations, also of functions."""
        return any(
            step.generic is not None
            or (step.control is not None and any(p.has_kernels for p in step.control.callees))
            for step in self.steps
        )


# --- Control --------------------------------------------------------------------------------------
# Loops and branches of prepared programs: functions of the file that run again and again.
#
# An iteration costs little more than its steps: all functions are prepared once, and arrays pass
# from iteration to iteration as they are. Writing a slice into a carried tensor copies the whole
# tensor, unless nothing else sees it: such tensors are copied once before the first iteration, and
# written in place after.


Bound = tuple[int, int | None]
"""A number, or the place of the input that has it."""


def count_iterations(first: int, limit: int, step: int) -> int | None:
    """How often a counter is below its limit; None if it does not count."""
    return None if step == 0 else max(0, -((first - limit) // step))


class _Control:
    """Functions of the file that a step runs."""

    callees: Any

    @property
    def has_exchanges(self) -> bool:
        """True if devices exchange something in one of them."""
        return any(callee.has_exchanges for callee in self.callees)


@dataclass(frozen=True, kw_only=True)
class Loop(_Control):
    """Calls of a function on the arrays of a step's `inputs`, the first of which are carried."""

    body: PreparedProgram
    trip_count: int | None
    """None where the condition is asked before each iteration, or where inputs say it."""
    condition: PreparedProgram | None
    bounds: tuple[Bound, ...] = ()
    """First number, end and step of a counter, where inputs say them."""
    owned: tuple[int, ...]
    """The carried values that the body writes in place."""
    outputs: tuple[int, ...]
    output_descs: tuple[TensorDesc, ...]

    @property
    def callees(self) -> tuple[PreparedProgram, ...]:
        """What is called."""
        return (self.body,) if self.condition is None else (self.body, self.condition)

    @property
    def known_iterations(self) -> int:
        """The number of iterations; 1 where data decides."""
        return 1 if self.trip_count is None else self.trip_count


@dataclass(frozen=True, kw_only=True)
class Branch(_Control):
    """One of several functions; the first of a step's `inputs` says which."""

    callees: tuple[PreparedProgram, ...]
    outputs: tuple[int, ...]
    output_descs: tuple[TensorDesc, ...]
    known_iterations: int = 1


@dataclass(frozen=True, kw_only=True)
class Call(_Control):
    """A function that is called once."""

    callees: tuple[PreparedProgram, ...]
    outputs: tuple[int, ...]
    output_descs: tuple[TensorDesc, ...]
    known_iterations: int = 1


def write_in_place(body: PreparedProgram, carried: int) -> tuple[PreparedProgram, tuple[int, ...]]:
    """The body of a loop that writes slices of carried tensors in place, and which these are.

    Nothing else of an iteration may see such a tensor's memory: what else reads it copies what it
    takes.
    """
    steps = list(body.steps)
    owned = tuple(
        place
        for place in range(carried)
        if _write_one(steps, body.inputs[place], body.outputs[place], body)
    )
    if not owned:
        return body, ()
    return replace(body, steps=tuple(steps)), owned


_IMPURE = {"is_pure": False, "is_unrounded": False}
"""What holds of a step that writes to its operand, or that copies before others do."""


def _write_one(steps: list[Step], first: int, last: int, body: PreparedProgram) -> bool:
    """Follow a carried tensor from its first slot to its last one; False if it is seen outside."""
    if first == last or body.outputs.count(last) != 1:
        return False
    changed: dict[int, Step] = {}
    slot, left = first, set[int]()
    for number, step in enumerate(steps):
        if not left.isdisjoint(step.inputs):
            # What was there before the write is still needed.
            return False
        if slot not in step.inputs or step.is_idle:
            continue
        if step.function is None:
            return False
        write = _write_of(step, slot, body.numerics)
        if write is None:
            apart = partial(_apart, step.function, step.inputs.index(slot))
            changed[number] = replace(step, function=apart, **_IMPURE)
        else:
            assert step.output is not None, "a write has a result"
            changed[number] = replace(step, function=write, **_IMPURE)
            left.add(slot)
            slot = step.output
    if slot != last or not left:
        return False
    for number, step in changed.items():
        steps[number] = step
    return True


def _is_write(step: Step) -> bool:
    return step.call is not None and step.call.definition.mnemonic == "slice_write"


def _write_of(step: Step, slot: int, numerics: Numerics) -> Function | None:
    """The function of a step that writes to a tensor in place; None if it cannot."""
    if not _is_write(step) or step.inputs[0] != slot or slot in step.inputs[1:]:
        return None
    assert step.call is not None, "a write is a definition"
    assert step.output_desc is not None, "a write has a result"
    source = step.call.operands[0]
    desc = step.output_desc
    if source is None or is_block_float(desc.data_type):
        return None
    if (source.desc.element, source.desc.data_type) != (desc.element, desc.data_type):
        return None
    rounding = storage_rounding(desc.element, desc.data_type, numerics)
    return partial(_write_slice, desc.element.compute, rounding)


def _write_slice(
    dtype: np.dtype[np.generic],
    rounding: Rounding | None,
    target: Array,
    update: Array,
    begins: Array,
) -> Array:
    values = convert(update, dtype)
    window = window_at(np, target.shape, begins, update.shape)
    target[window] = values if rounding is None else rounding(values)
    return target


def _apart(function: Function, place: int, *arrays: Array) -> Array:
    """The result of a function in memory of its own, not that of the operand at a place."""
    result = function(*arrays)
    return np.array(result) if np.may_share_memory(result, arrays[place]) else result
