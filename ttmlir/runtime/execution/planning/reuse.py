"""Results in the memory of operands that nothing needs any more."""

from __future__ import annotations

import sys
from dataclasses import replace

from ttmlir.runtime.element import Array
from ttmlir.runtime.execution.planning.draft import Draft, mnemonic_of
from ttmlir.runtime.execution.planning.step import Function, Step
from ttmlir.runtime.execution.planning.views import VIEWS
from ttmlir.runtime.execution.planning.writers import Writer, writer_of

_FRESH = {
    *("conv2d", "conv_transpose2d", "matmul", "embedding", "concat", "mean", "sum", "max_pool2d"),
    *("erf", "gelu", "sigmoid", "silu"),
}
"""Results of floating point numbers in memory of their own, other than those with a writer."""


def reuse_memory(draft: Draft) -> None:
    """Let steps write into an operand that they are the last to read."""
    writers = [writer_of(step) for step in draft.steps]
    memory = _Memory(draft, writers)
    for number, (step, writer) in enumerate(zip(draft.steps, writers, strict=True)):
        if writer is None or step.call is None or step.output is None:
            continue
        shape = step.call.output.desc.shape
        element = step.call.output.desc.element
        for place, (slot, operand) in enumerate(zip(step.inputs, step.call.operands, strict=True)):
            if operand is None or (operand.desc.shape, operand.desc.element) != (shape, element):
                continue
            if memory.is_free(slot, number):
                draft.steps[number] = replace(step, function=_write_into(writer, place))
                memory.join(step.output, slot)
                break


def _write_into(writer: Writer, place: int) -> Function:
    def write(*operands: Array) -> Array:
        return writer(*operands, out=operands[place])

    return write


class _Memory:
    """Which slots may share memory, and when it is read for the last time."""

    def __init__(self, draft: Draft, writers: list[Writer | None]) -> None:
        """Follow the steps."""
        self._first: dict[int, int] = {}
        """The slot that the memory of another slot was made for. Others are not known: their
        memory may belong to anybody."""
        self._last: dict[int, int] = {}
        """The last step that reads the memory of a first slot."""
        for number, (step, writer) in enumerate(zip(draft.steps, writers, strict=True)):
            self._follow(number, step, writer)
        for slot in draft.outputs:
            self._read(slot, sys.maxsize)

    def _follow(self, number: int, step: Step, writer: Writer | None) -> None:
        mnemonic = mnemonic_of(step)
        for slot in step.inputs:
            self._read(slot, number)
        is_fresh = (step.is_fresh or writer is not None) or (
            mnemonic in _FRESH
            and step.output_desc is not None
            and step.output_desc.element.is_float
        )
        if is_fresh and step.output is not None:
            self._first[step.output] = step.output
            self._last[step.output] = number
        elif mnemonic in VIEWS and step.inputs[0] in self._first and step.output is not None:
            self._first[step.output] = self._first[step.inputs[0]]
        else:
            # The result may be a part of any operand, and live as long as it likes.
            for slot in step.inputs:
                self._read(slot, sys.maxsize)

    def _read(self, slot: int, number: int) -> None:
        if slot in self._first:
            first = self._first_of(slot)
            self._last[first] = max(self._last[first], number)

    def _first_of(self, slot: int) -> int:
        first = self._first[slot]
        while first != self._first[first]:
            first = self._first[first]
        return first

    def is_free(self, slot: int, number: int) -> bool:
        """True if nothing reads the memory of a slot after a step."""
        return slot in self._first and self._last[self._first_of(slot)] == number

    def join(self, slot: int, into: int) -> None:
        """A slot is written into the memory of another one."""
        first = self._first_of(into)
        self._last[first] = max(self._last[first], self._last[slot])
        self._first[slot] = first
