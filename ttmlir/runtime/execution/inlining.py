"""What functions that are computed once do, as steps of the programs that call them.

So their results are constants of the plan, and what joins steps sees what they come from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ttmlir.runtime.execution.steps import Call, PreparedProgram, Step


def inline_cached_calls(
    steps: Sequence[Step], outputs: tuple[int, ...], slots: int
) -> tuple[list[Step], tuple[int, ...], int]:
    """Steps with those of functions in place of calls, the slots of their results, and how many
    slots there are."""
    names: dict[int, int] = {}
    found: list[Step] = []
    for old in steps:
        step = replace(old, inputs=_renamed(old.inputs, names))
        if not _is_cached(step):
            found.append(step)
            continue
        assert isinstance(step.control, Call), "a call is of one function"
        [callee] = step.control.callees
        inner, results, slots = _body(callee, step.inputs, slots)
        found += inner
        names.update(zip(step.control.outputs, results, strict=True))
    return found, _renamed(outputs, names), slots


def _is_cached(step: Step) -> bool:
    return isinstance(step.control, Call) and bool(step.operation.scalar("cached"))


def _body(
    callee: PreparedProgram, inputs: tuple[int, ...], slots: int
) -> tuple[list[Step], tuple[int, ...], int]:
    """The steps of a function on the slots of a call, the slots of its results, and how many slots
    there are with its own."""
    steps, outputs, count = inline_cached_calls(callee.steps, callee.outputs, callee.slots)
    names = {slot: slots + slot for slot in range(count)}
    names.update(zip(callee.inputs, inputs, strict=True))
    return [_moved(step, names) for step in steps], _renamed(outputs, names), slots + count


def _moved(step: Step, names: dict[int, int]) -> Step:
    control, generic = step.control, step.generic
    return replace(
        step,
        inputs=_renamed(step.inputs, names),
        output=None if step.output is None else names[step.output],
        further=_renamed(step.further, names),
        control=control and replace(control, outputs=_renamed(control.outputs, names)),
        generic=generic and replace(generic, outputs=_renamed(generic.outputs, names)),
    )


def _renamed(slots: tuple[int, ...], names: dict[int, int]) -> tuple[int, ...]:
    return tuple(names.get(slot, slot) for slot in slots)
