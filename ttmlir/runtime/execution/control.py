"""Loops and branches of prepared programs: functions of the file that run again and again.

An iteration costs little more than its steps: all functions are prepared once, and arrays pass from
iteration to iteration as they are. Writing a slice into a carried tensor copies the whole tensor,
unless nothing else sees it: such tensors are copied once before the first iteration, and written in
place after.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ttmlir.layout.element_type import is_block_float
from ttmlir.optable.indexing import window_at
from ttmlir.runtime.binary import BinaryProgram, Operation
from ttmlir.runtime.element import Array, Numerics, Rounding, convert, storage_rounding
from ttmlir.runtime.errors import BinaryError
from ttmlir.runtime.tensor import TensorDesc
from ttmlir.terminal import shown_name

if TYPE_CHECKING:
    from ttmlir.runtime.execution.prepare import Function, PreparedProgram, Step


@dataclass(frozen=True, kw_only=True)
class Loop:
    """Calls of a function on the arrays of a step's `inputs`, the first of which are carried."""

    body: PreparedProgram
    trip_count: int | None
    """None where the condition is asked before each iteration."""
    condition: PreparedProgram | None
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
class Branch:
    """One of several functions; the first of a step's `inputs` says which."""

    callees: tuple[PreparedProgram, ...]
    outputs: tuple[int, ...]
    output_descs: tuple[TensorDesc, ...]
    known_iterations: int = 1


def function_of(caller: BinaryProgram, operation: Operation, number: int) -> BinaryProgram:
    """A function of the file that an operation calls; BinaryError if it may not."""
    functions = caller.binary.functions
    most = caller.index if caller.is_function else len(functions)
    if not 0 <= number < len(functions):
        raise BinaryError(
            f"{operation.where}: calls function {number}, but the file has {len(functions)}"
        )
    if number >= most:
        raise BinaryError(
            f"{operation.where}: calls function {number}, which is not before function "
            f"{caller.index}; functions call only those before them, so that none calls itself"
        )
    return functions[number]


def check_call(operation: Operation, callee: BinaryProgram, given: Sequence[TensorDesc]) -> None:
    """Refuse arguments that a function does not take."""
    taken = [ref.desc for ref in callee.inputs]
    _check_tensors(operation, callee, "takes", "input", taken, given)


def check_results(
    operation: Operation,
    callee: BinaryProgram,
    returned: Sequence[TensorDesc],
    wanted: Sequence[TensorDesc],
) -> None:
    """Refuse results that are not those of the operation."""
    _check_tensors(operation, callee, "returns", "output", returned, wanted)


def _check_tensors(
    operation: Operation,
    callee: BinaryProgram,
    verb: str,
    what: str,
    own: Sequence[TensorDesc],
    others: Sequence[TensorDesc],
) -> None:
    where = f"{operation.where}: function {callee.index} '{shown_name(callee.name)}'"
    if len(own) != len(others):
        raise BinaryError(f"{where} {verb} {len(own)} tensors, but the operation has {len(others)}")
    for number, (desc, other) in enumerate(zip(own, others, strict=True)):
        if not desc.agrees_with(other):
            differences = "; ".join(desc.differences(other))
            raise BinaryError(f"{where}: {what} {number} has {differences}")


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
    return step.call is not None and step.call.row.mnemonic == "slice_write"


def _write_of(step: Step, slot: int, numerics: Numerics) -> Function | None:
    """The function of a step that writes to a tensor in place; None if it cannot."""
    if not _is_write(step) or step.inputs[0] != slot or slot in step.inputs[1:]:
        return None
    assert step.call is not None, "a write is a row"
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
