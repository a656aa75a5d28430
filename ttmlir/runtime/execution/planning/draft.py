"""Steps that are being rewritten, and what is known of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from ttmlir.runtime.element import Array
from ttmlir.runtime.execution.planning.step import Step
from ttmlir.runtime.tensor import TensorDesc


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

    def definitions(self) -> dict[int, Step]:
        """The step that writes each slot."""
        return {slot: step for step in self.steps for slot in step.written}

    def descriptions(self) -> dict[int, TensorDesc]:
        """What each slot that a step writes or a row reads holds."""
        known: dict[int, TensorDesc] = {}
        for step in self.steps:
            known.update(zip(step.written, step.written_descs, strict=True))
        return known

    def replace_steps(self, changed: dict[int, Step | None]) -> None:
        """Put other steps in the place of some, by number; None leaves one out."""
        steps = [changed.get(number, step) for number, step in enumerate(self.steps)]
        self.steps = [step for step in steps if step is not None]


def mnemonic_of(step: Step | None) -> str:
    """The operation of a step that any other way to compute it may replace; empty for others."""
    if step is None or not step.is_unrounded or step.call is None:
        return ""
    return step.call.row.mnemonic


def shape_of(step: Step) -> Sequence[int]:
    """The shape of a step's result."""
    assert step.output_desc is not None, "the step has a result"
    return step.output_desc.shape
