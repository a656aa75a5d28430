"""Views of views in one step."""

from __future__ import annotations

from dataclasses import replace

from ttmlir.runtime.element import Array
from ttmlir.runtime.execution.planning.draft import Draft, mnemonic_of
from ttmlir.runtime.execution.planning.step import Function, Step

VIEWS = {"reshape", "transpose", "permute", "slice"}
"""Results that may share the memory of their operand, and can be written to if it can."""


def join_views(draft: Draft) -> None:
    """Make a view of a view, which nothing else needs, from the tensor itself."""
    uses = draft.count_uses()
    views: dict[int, int] = {}
    changed: dict[int, Step | None] = {}
    for number, old in enumerate(draft.steps):
        if mnemonic_of(old) not in VIEWS or old.output is None or old.function is None:
            continue
        step = old
        before = views.get(step.inputs[0])
        if before is not None and uses[step.inputs[0]] == 1:
            first = changed.get(before) or draft.steps[before]
            assert first.function is not None, "views are made by a function"
            function = _one_after_another(first.function, old.function)
            step = replace(step, inputs=first.inputs, function=function)
            changed[before] = None
            changed[number] = step
        views[old.output] = number
    draft.replace_steps(changed)


def _one_after_another(first: Function, second: Function) -> Function:
    def view(array: Array) -> Array:
        return second(first(array))

    return view
