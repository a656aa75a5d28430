"""Chains of steps that only move numbers, as borders that are repeated, in one step."""

from __future__ import annotations

import math
from dataclasses import replace
from operator import itemgetter, methodcaller

import numpy as np

from ttmlir.optable.row import Family, Shape
from ttmlir.runtime.element import Array
from ttmlir.runtime.execution.planning.draft import Draft, mnemonic_of, shape_of
from ttmlir.runtime.execution.planning.step import Function, Step
from ttmlir.runtime.execution.planning.views import VIEWS

_LARGEST = 1 << 22
"""Numbers up to which it is worked out beforehand where each of them goes."""


def sink_views(draft: Draft) -> None:
    """Apply functions of single numbers before their operand is put in another shape.

    So views come to stand beside other views.
    """
    uses = draft.count_uses()
    steps = draft.steps
    views: dict[int, int] = {}
    for number, step in enumerate(steps):
        view = views.get(step.inputs[0]) if len(step.inputs) == 1 else None
        if mnemonic_of(step) in VIEWS - {"slice"} and step.output is not None:
            views[step.output] = number
        elif view is not None and uses[step.inputs[0]] == 1 and _is_unary(step):
            before, call = steps[view].call, step.call
            assert before is not None, "views are rows"
            assert call is not None, "functions are rows"
            assert before.operands[0] is not None, "views have an operand"
            desc, slot = before.operands[0].desc, draft.new_slot()
            call = replace(
                call, operands=before.operands, outputs=(replace(call.output, desc=desc),)
            )
            moved = replace(steps[view], inputs=(slot,), output=step.output)
            steps[view] = replace(
                step, inputs=steps[view].inputs, output=slot, output_desc=desc, call=call
            )
            steps[number] = moved
            assert step.output is not None, "functions have a result"
            views[step.output] = number


def _is_unary(step: Step) -> bool:
    """True for a function of single numbers whose results are like its operands."""
    if not mnemonic_of(step) or step.call is None or step.call.row.family is not Family.UNARY:
        return False
    operand, result = step.call.operands[0], step.call.output
    return operand is not None and (operand.desc.shape, operand.desc.element) == (
        result.desc.shape,
        result.desc.element,
    )


def join_moves(draft: Draft) -> None:
    """Take the results of chains with lookups in constant places at once from their operand."""
    uses = draft.count_uses()
    chains: dict[int, list[int]] = {}
    """The steps of the chain that makes a slot."""
    for number, step in enumerate(draft.steps):
        source = _source_of(step, draft.constants)
        if source is not None and step.output is not None:
            before = chains.get(source, []) if uses[source] == 1 else []
            chains[step.output] = [*before, number]
            chains.pop(source, None) if before else None
    changed: dict[int, Step | None] = {}
    for numbers in chains.values():
        steps = [draft.steps[number] for number in numbers]
        lookups = sum(mnemonic_of(step) == "embedding" for step in steps)
        if not lookups or len(steps) < 2:
            continue
        joined = _join(steps, draft.constants)
        if joined is not None:
            changed.update(dict.fromkeys(numbers))
            changed[numbers[-1]] = joined
    draft.replace_steps(changed)


def _source_of(step: Step, constants: dict[int, Array]) -> int | None:
    """The slot whose numbers a step puts elsewhere; None if it does anything else."""
    mnemonic = mnemonic_of(step)
    if mnemonic in VIEWS and isinstance(step.function, methodcaller | itemgetter):
        return step.inputs[0]
    if mnemonic == "embedding" and step.inputs[0] in constants:
        return step.inputs[1]
    return None


def _join(steps: list[Step], constants: dict[int, Array]) -> Step | None:
    """The last step of a chain, from the operand of the first one; None if it is too large."""
    first, last = steps[0].call, steps[-1]
    assert first is not None, "steps that move numbers are rows"
    ref = first.operands[1 if mnemonic_of(steps[0]) == "embedding" else 0]
    assert ref is not None, "steps that move numbers have all operands"
    shape = ref.desc.shape
    if not 0 < max(math.prod(shape), math.prod(shape_of(last))) <= _LARGEST:
        return None
    places = np.arange(math.prod(shape)).reshape(shape)
    for step in steps:
        if mnemonic_of(step) == "embedding":
            rows, desc = constants[step.inputs[0]].astype(np.int64), step.output_desc
            assert desc is not None, "lookups have a result"
            table = places.reshape(-1, desc.shape[-1])
            if rows.size and not 0 <= rows.min() <= rows.max() < len(table):
                # The run says so, when it gets there.
                return None
            places = table[rows].reshape(desc.shape)
        else:
            assert step.function is not None, "views are made by a function"
            places = step.function(places)
    source = _source_of(steps[0], constants)
    assert source is not None, "the first step has an operand"
    function = _take(places.reshape(-1), shape, shape_of(last))
    return replace(last, inputs=(source,), function=function, is_unrounded=False, is_fresh=True)


def _take(places: Array, source: Shape, shape: Shape) -> Function:
    """The numbers at places of a flat tensor, as many neighbours at a time as stay neighbours."""
    breaks = np.flatnonzero(np.diff(places) != 1) + 1
    starts = places[np.concatenate([[0], breaks])]
    ends = math.gcd(places.size, math.prod(source))
    run = int(np.gcd.reduce(np.concatenate([breaks, starts, [ends]])))
    rows = places[::run] // run

    def take(array: Array) -> Array:
        return array.reshape(-1, run).take(rows, axis=0).reshape(shape)

    return take
