"""Steps of an LSTM one after another as one step of the plan.

States and gates have a row for each feature there and a column for each sequence of the batch: so
the product with the weights takes less time, and each gate is in one piece. Gates come with the
other sign, as exp(-x) is what is needed of them.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ttmlir.optable.row import Shape
from ttmlir.runtime.element import Array
from ttmlir.runtime.execution.planning.draft import Draft, Links, shape_of
from ttmlir.runtime.execution.planning.recurrent import CellFunction, Key
from ttmlir.runtime.execution.planning.step import Function, Step


def join_sequences(draft: Draft) -> None:
    """Join cells that pass their states on to the next one and nothing but outer states beside."""
    search = _Search(draft)
    changed: dict[int, Step | None] = {}
    for numbers in search.sequences():
        joined = search.join(numbers)
        if joined is not None:
            changed.update(dict.fromkeys(numbers[1:]))
            changed[numbers[0]] = joined
    draft.replace_steps(changed)


class _Search(Links):
    """Finds cells with the same weights, each of which is given the states of the one before."""

    def sequences(self) -> list[list[int]]:
        """The numbers of the steps of each sequence of two cells or more."""
        found: dict[int, list[int]] = {}
        for number, step in enumerate(self.draft.steps):
            if not isinstance(step.function, CellFunction):
                continue
            before = self.writers.get(step.inputs[0])
            sequence = found.pop(before, []) if before is not None else []
            if sequence and not self._goes_on(self.draft.steps[sequence[-1]], step):
                found[sequence[-1]] = sequence
                sequence = []
            found[number] = [*sequence, number]
        return [numbers for numbers in found.values() if len(numbers) > 1]

    def _goes_on(self, step: Step, following: Step) -> bool:
        """True if a cell is the next one of a sequence, and the only one that needs the inner state
        before."""
        outer, inner = step.written
        return (
            step.function == following.function
            and following.inputs[0] == outer
            and following.inputs[-1] == inner
            and following.inputs[1:3] == step.inputs[1:3]
            and self.uses[inner] == 1
        )

    def join(self, numbers: list[int]) -> Step | None:
        """One step for all cells, in the place of the first one; None if it cannot come there."""
        cells = [self.draft.steps[number] for number in numbers]
        first, last = cells[0], cells[-1]
        function = first.function
        assert isinstance(function, CellFunction), "cells have such a function"
        constants = self.draft.constants
        weights, offsets = (constants.get(slot) for slot in first.inputs[1:3])
        inputs = [cell.inputs[3] for cell in cells]
        # What later cells are given is there before the first one, or comes from the states.
        if weights is None or offsets is None:
            return None
        if any(self.writers.get(slot, -1) > numbers[0] for slot in inputs):
            return None
        starts = _starts_of(function.keys, shape_of(first))
        if starts is None or shape_of(first)[-1] != len(weights):
            return None
        run = _sequence(starts, weights, offsets, len(cells))
        further = (*(cell.written[0] for cell in cells[1:]), last.written[1])
        return replace(
            first,
            function=run,
            inputs=(first.inputs[0], first.inputs[-1], *inputs),
            further=further,
            is_fresh=False,
        )


def _starts_of(keys: tuple[Key, ...], shape: Shape) -> list[int] | None:
    """The first column of each gate; None if one is not a range of as many as the state has."""
    *outer, width = shape
    for key in keys:
        *others, columns = key
        whole = all(
            (part.start, part.stop, part.step) == (0, extent, 1)
            for part, extent in zip(others, outer, strict=True)
        )
        if not whole or columns.step != 1 or columns.stop - columns.start != width:
            return None
    return [key[-1].start for key in keys]


def _sequence(starts: list[int], weights: Array, offsets: Array, count: int) -> Function:
    """From outer and inner state and the inputs of all cells to all outer states and the inner one.

    `weights` (features, gates) and `offsets` (gates) are those of all gates.
    """
    width = len(weights)
    columns = [slice(start, start + width) for start in starts]
    places = [slice(place * width, (place + 1) * width) for place in range(4)]
    signs = np.repeat(np.array([-1, -1, -1, 1], np.float32), width)[:, None]
    matrix = np.ascontiguousarray(np.concatenate([weights[:, each].T for each in columns]) * signs)
    one = np.float32(1)

    def run(outer: Array, inner: Array, *inputs: Array) -> tuple[Array, ...]:
        # The first outer state may have another shape than what cells make of it.
        shape = inner.shape
        batch = inner.size // width
        state = np.array(outer.reshape(batch, width).T, order="C")
        memory = np.array(inner.reshape(batch, width).T, order="C")
        given = np.stack([each.reshape(batch, -1) for each in inputs])
        given += offsets
        added = np.empty((count, 4 * width, batch), np.float32)
        for place, each in zip(places, columns, strict=True):
            added[:, place] = given[:, :, each].transpose(0, 2, 1)
        gates = np.empty((4 * width, batch), np.float32)
        output_gate, forget_gate, input_gate, entering = (gates[place] for place in places)
        closed, shutting = gates[: 3 * width], added[:, : 3 * width]
        opening = added[:, 3 * width :]
        states = np.empty((count, width, batch), np.float32)
        for number in range(count):
            np.matmul(matrix, state, out=gates)
            np.subtract(closed, shutting[number], out=closed)
            np.add(entering, opening[number], out=entering)
            # A gate is 1 / (1 + exp(-x)); what passes it is divided by the reciprocal.
            np.exp(closed, out=closed)
            np.add(closed, one, out=closed)
            np.tanh(entering, out=entering)
            np.divide(entering, input_gate, out=entering)
            np.divide(memory, forget_gate, out=memory)
            np.add(memory, entering, out=memory)
            state = states[number]
            np.tanh(memory, out=state)
            np.divide(state, output_gate, out=state)
        return tuple(each.T.reshape(shape) for each in (*states, memory))

    return run
