"""The steps of a program as they run where nobody watches each of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ttmlir.runtime.element import Array
from ttmlir.runtime.execution.planning.constants import fold_constants, join_equal_steps
from ttmlir.runtime.execution.planning.direct import call_directly
from ttmlir.runtime.execution.planning.draft import Draft
from ttmlir.runtime.execution.planning.gates import apply_before_slicing
from ttmlir.runtime.execution.planning.lookups import multiply_before_lookups
from ttmlir.runtime.execution.planning.movement import join_moves, sink_views
from ttmlir.runtime.execution.planning.normalization import join_normalizations
from ttmlir.runtime.execution.planning.recurrent import join_cells
from ttmlir.runtime.execution.planning.reuse import reuse_memory
from ttmlir.runtime.execution.planning.sequences import join_sequences
from ttmlir.runtime.execution.planning.step import Step, with_releases
from ttmlir.runtime.execution.planning.views import join_views


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What a run does, and the slots that it begins with."""

    steps: tuple[Step, ...]
    values: tuple[Array | None, ...]
    """The constants by slot; None for slots that are written."""
    outputs: tuple[int, ...]


def make_plan(steps: Sequence[Step], outputs: tuple[int, ...], slots: int) -> Plan:
    """The fastest way that is known to compute the same results.

    Results agree with those of the steps but for the last digits of sums of floating point numbers.
    """
    draft = Draft([step for step in steps if not step.is_idle], outputs, slots)
    fold_constants(draft)
    join_equal_steps(draft)
    apply_before_slicing(draft)
    join_cells(draft)
    join_sequences(draft)
    join_normalizations(draft)
    multiply_before_lookups(draft)
    sink_views(draft)
    call_directly(draft)
    join_moves(draft)
    join_views(draft)
    reuse_memory(draft)
    constants = {slot for slot in draft.count_uses() if slot in draft.constants}
    keep = {*draft.outputs, *constants}
    return Plan(
        steps=with_releases([replace(step, release=()) for step in draft.steps], keep=keep),
        values=tuple(
            draft.constants[slot] if slot in constants else None for slot in range(draft.slots)
        ),
        outputs=draft.outputs,
    )
