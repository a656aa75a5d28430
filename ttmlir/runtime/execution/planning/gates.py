"""Functions of slices as slices of functions, as of the gates of recurrent networks."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

from ttmlir.runtime.execution.planning.draft import Draft, mnemonic_of
from ttmlir.runtime.execution.planning.step import Step

_FUNCTIONS = {"sigmoid", "tanh", "relu", "exp", "silu", "gelu"}
_LARGEST = 1 << 16
"""Elements up to which a call costs enough to compute some that are not needed."""


def apply_before_slicing(draft: Draft) -> None:
    """Apply a function to a whole tensor once where it is applied to most of it in slices."""
    slices = {
        step.output: number
        for number, step in enumerate(draft.steps)
        if mnemonic_of(step) == "slice" and step.output is not None
    }
    uses = draft.count_uses()
    applied: dict[tuple[int, str], list[int]] = defaultdict(list)
    for number, step in enumerate(draft.steps):
        if mnemonic_of(step) in _FUNCTIONS and step.inputs[0] in slices:
            slot = step.inputs[0]
            if uses[slot] == 1:
                source = draft.steps[slices[slot]].inputs[0]
                applied[source, mnemonic_of(step)].append(number)
    before: dict[int, list[Step]] = defaultdict(list)
    changed: dict[int, Step | None] = {}
    for (source, _), numbers in applied.items():
        functions = [draft.steps[number] for number in numbers]
        places = [slices[step.inputs[0]] for step in functions]
        whole = draft.steps[places[0]].call
        assert whole is not None, "slices are rows"
        assert whole.operands[0] is not None, "slices have an operand"
        desc = whole.operands[0].desc
        taken = sum(step.output_desc.volume for step in functions if step.output_desc is not None)
        if len(functions) < 2 or 2 * taken < desc.volume or desc.volume > _LARGEST:
            continue
        call = functions[0].call
        assert call is not None, "functions are rows"
        slot = draft.new_slot()
        call = replace(call, operands=whole.operands, outputs=(replace(call.output, desc=desc),))
        before[min(places)].append(
            replace(functions[0], inputs=(source,), output=slot, output_desc=desc, call=call)
        )
        for number, step, place in zip(numbers, functions, places, strict=True):
            changed[number] = None
            changed[place] = replace(draft.steps[place], inputs=(slot,), output=step.output)
    steps: list[Step] = []
    for number, step in enumerate(draft.steps):
        steps += before[number]
        new = changed.get(number, step)
        if new is not None:
            steps.append(new)
    draft.steps = steps
