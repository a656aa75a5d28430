"""What is the same in each run is computed once, and what a run computes twice as well."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace

import numpy as np

from ttmlir.runtime.element import Array
from ttmlir.runtime.execution.planning.draft import Draft
from ttmlir.runtime.execution.planning.step import DATA_ERRORS, Step

_ROOM = 16 << 20
"""Bytes that results of constants may take, in addition to as many as the constants take."""
_SMALL = 64 << 10
"""Bytes of a result that may be kept for long instead of being computed again."""
_NEAR = 16
"""Steps for which any result may be kept."""


def fold_constants(draft: Draft) -> None:
    """Compute the steps that depend on constants alone."""
    room = _ROOM + sum(step.constant.nbytes for step in draft.steps if step.constant is not None)
    left: list[Step] = []
    for step in draft.steps:
        value = step.constant
        if value is None and _is_constant(step, draft):
            value = _compute(step, draft, room)
            room -= 0 if value is None else value.nbytes
        if value is None or step.output is None:
            left.append(step)
        else:
            draft.constants[step.output] = read_only(value)
    draft.steps = left


def _is_constant(step: Step, draft: Draft) -> bool:
    return (
        step.is_pure and not step.further and all(slot in draft.constants for slot in step.inputs)
    )


def _compute(step: Step, draft: Draft, room: int) -> Array | None:
    """The result of a step on constants; None if it is too large, or if there is none."""
    assert step.function is not None, "pure steps have a function"
    assert step.output_desc is not None, "pure steps have a result"
    if step.output_desc.volume * step.output_desc.element.compute.itemsize > room:
        return None
    try:
        return np.asarray(step.function(*(draft.constants[slot] for slot in step.inputs)))
    except DATA_ERRORS:
        # The run says so, when it gets there.
        return None


def read_only(array: Array) -> Array:
    """The array, which nobody writes to through what is returned."""
    view = array.view()
    view.flags.writeable = False
    return view


def join_equal_steps(draft: Draft) -> None:
    """Use the result of an equal step instead of computing it again, where memory allows."""
    seen: dict[Hashable, tuple[int, int]] = {}
    names: dict[int, int] = {}
    left: list[Step] = []
    for number, old in enumerate(draft.steps):
        step = old
        if any(slot in names for slot in step.inputs):
            step = replace(step, inputs=tuple(names.get(slot, slot) for slot in step.inputs))
        key = _meaning(step)
        if key is not None and step.output is not None:
            first, slot = seen.get(key, (number, step.output))
            if slot != step.output and (number - first <= _NEAR or _is_small(step)):
                names[step.output] = slot
                continue
            seen[key] = number, step.output
        left.append(step)
    draft.steps = left
    draft.outputs = tuple(names.get(slot, slot) for slot in draft.outputs)


def _is_small(step: Step) -> bool:
    assert step.output_desc is not None, "the step has a result"
    return step.output_desc.volume * step.output_desc.element.compute.itemsize <= _SMALL


def _meaning(step: Step) -> Hashable:
    """What equal steps have in common; None if the step may not be joined with another."""
    if not step.is_pure or step.call is None or step.further:
        return None
    parameters = tuple(sorted(step.call.parameters.items()))
    desc = step.output_desc
    try:
        key = step.call.row.mnemonic, step.inputs, parameters, step.call.compute_config, desc
        hash(key)
    except TypeError:
        return None
    # Equal numbers of different types are equal keys: True and 1, 0.0 and -0.0.
    return key, repr(parameters)
