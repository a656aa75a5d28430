"""Steps of a plan that are being rewritten, and what is known of them."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field

from ttmlir.optable.op_definition import Shape
from ttmlir.runtime.execution.steps import Step
from ttmlir.runtime.tensor import Array


@dataclass
class Draft:
    """Steps in their order. Each slot is written once."""

    steps: list[Step]
    outputs: tuple[int, ...]
    slots: int
    constants: dict[int, Array] = field(default_factory=dict[int, Array])
    """Slots that hold the same in each run. No step writes them."""

    def new_slot(self) -> int:
        """A slot that nothing uses."""
        self.slots += 1
        return self.slots - 1

    def count_uses(self) -> Counter[int]:
        """How often each slot is read, by steps and as a result."""
        uses = Counter(self.outputs)
        for step in self.steps:
            uses.update(step.inputs)
        return uses

    def replace_steps(self, changed: dict[int, Step | None]) -> None:
        """Put other steps in the place of some, by number; None leaves one out."""
        steps = [changed.get(number, step) for number, step in enumerate(self.steps)]
        self.steps = [step for step in steps if step is not None]


def mnemonic_of(step: Step | None) -> str:
    """The operation of a step that any other way to compute it may replace; empty for others."""
    if step is None or not step.is_unrounded or step.call is None:
        return ""
    return step.call.definition.mnemonic


def shape_of(step: Step) -> Shape:
    """The shape of a step's result."""
    assert step.output_desc is not None, "the step has a result"
    return step.output_desc.shape


class Links:
    """Who writes and who reads each slot of a draft, as long as that is not changed."""

    def __init__(self, draft: Draft) -> None:
        """Look at all steps."""
        self.draft = draft
        self.uses = draft.count_uses()
        self.writers: dict[int, int] = {}
        """The number of the step that writes a slot."""
        self.readers: dict[int, list[int]] = defaultdict(list)
        """The numbers of the steps that read it."""
        for number, step in enumerate(draft.steps):
            self.writers.update(dict.fromkeys(step.written, number))
            for slot in step.inputs:
                self.readers[slot].append(number)

    def made_by(self, slot: int, mnemonic: str, *, uses: int | None = 1) -> Step | None:
        """The step that writes a slot which is read so often, if it is such an operation."""
        number = self.writers.get(slot)
        if number is None or uses not in (None, self.uses[slot]):
            return None
        step = self.draft.steps[number]
        return step if mnemonic_of(step) == mnemonic else None


def read_only(array: Array) -> Array:
    """The array, which nobody writes to through what is returned."""
    view = array.view()
    view.flags.writeable = False
    return view
