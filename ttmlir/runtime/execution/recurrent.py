"""Steps of recurrent networks in plans: LSTM, sequences of them, and GRU, as one step each."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import itemgetter, methodcaller
from typing import Any

import numpy as np

from ttmlir.optable.op_definition import Shape
from ttmlir.runtime.execution.drafts import Draft, Links, mnemonic_of, read_only, shape_of
from ttmlir.runtime.execution.steps import Function, Step
from ttmlir.runtime.tensor import Array

# --- Cells ----------------------------------------------------------------------------------------
# Steps of an LSTM as one step each, as they are too short for single calls of NumPy.

Key = tuple[slice, ...]


def join_cells(draft: Draft) -> None:
    """Join what computes the next states from the gates, and the gates from the states."""
    search = _RecurrentSearch(draft)
    changed: dict[int, Step | None] = {}
    for number, step in enumerate(draft.steps):
        if mnemonic_of(step) == "multiply":
            cell = search.find(number)
            if cell is not None:
                changed.update(dict.fromkeys(cell.joined))
                changed[number] = cell.step
    draft.replace_steps(changed)


@dataclass(frozen=True)
class _Cell:
    """What takes the place of a step, and the numbers of the others that it does the work of."""

    step: Step
    joined: list[int]


class _RecurrentSearch(Links):
    """Finds cells by the product of the output gate with the tangent of the inner state."""

    def _operands(self, step: Step, first: str, second: str) -> tuple[Step, Step] | None:
        """The operations that make the operands of a step, in either order."""
        for one, other in (step.inputs, step.inputs[::-1]):
            found = self.made_by(one, first), self.made_by(other, second)
            if found[0] is not None and found[1] is not None:
                return found[0], found[1]
        return None

    def find(self, number: int) -> _Cell | None:
        """The cell whose outer state is the result of a step; None if there is none."""
        outer = self.draft.steps[number]
        gated = self._operands(outer, "slice", "tanh")
        if gated is None:
            return None
        output_gate, tangent = gated
        inner = self.made_by(tangent.inputs[0], "add", uses=None)
        products = None if inner is None else self._operands(inner, "multiply", "multiply")
        if inner is None or products is None:
            return None
        later = [each for each in self.readers[inner.written[0]] if each < number]
        if later != [self.writers[tangent.written[0]]]:
            # Somebody else needs the inner state before the outer one is there.
            return None
        for added, kept in (products, products[::-1]):
            entering = self._operands(added, "slice", "tanh")
            for gate, state in (kept.inputs, kept.inputs[::-1]):
                forget_gate = self.made_by(gate, "slice")
                if entering is None or forget_gate is None:
                    continue
                input_gate, candidate = entering
                taken = self.made_by(candidate.inputs[0], "slice")
                if taken is None:
                    continue
                slices = [output_gate, forget_gate, input_gate, taken]
                sigmoid = self._sigmoid_of(slices)
                memory = self._spread(state, shape_of(outer))
                alike = _are_alike(
                    outer, inner, *slices, candidate, state=kept, is_spread=memory != state
                )
                if sigmoid is None or memory is None or not alike:
                    continue
                steps = [*slices, sigmoid, candidate, added, kept, inner, tangent]
                return self._join(outer, inner, sigmoid.inputs[0], memory, slices, steps)
        return None

    def _spread(self, slot: int, shape: Shape) -> int | None:
        """The slot itself, or, of one number that is the same in each run, another with as many as
        a shape has; None if it cannot be spread."""
        value = self.draft.constants.get(slot)
        if value is None or value.shape == shape:
            return slot
        if value.size != 1:
            return None
        whole = self.draft.new_slot()
        self.draft.constants[whole] = read_only(np.full(shape, value.reshape(()), value.dtype))
        return whole

    def _sigmoid_of(self, slices: list[Step]) -> Step | None:
        """The sigmoid of all gates that the first three slices are taken of."""
        *gates, taken = slices
        slots = {step.inputs[0] for step in gates}
        sigmoid = self.made_by(slots.pop(), "sigmoid", uses=3) if len(slots) == 1 else None
        return sigmoid if sigmoid is not None and sigmoid.inputs == taken.inputs else None

    def _join(
        self,
        outer: Step,
        inner: Step,
        gates: int,
        state: int,
        slices: list[Step],
        steps: list[Step],
    ) -> _Cell:
        output_gate, forget_gate, input_gate, candidate = map(_key_of, slices)
        keys = output_gate, forget_gate, input_gate, candidate
        projection = self._projection_of(gates)
        if projection is None:
            function, inputs = _StatesFunction(keys), (gates, state)
        else:
            made_by, inputs = projection
            steps = [*steps, *made_by]
            function, inputs = CellFunction(keys, shape_of(made_by[0])), (*inputs, state)
        step = replace(
            outer,
            function=function,
            inputs=inputs,
            further=inner.written,
            is_unrounded=False,
            is_pure=False,
            is_fresh=True,
        )
        return _Cell(step, [self.writers[each.written[0]] for each in steps])

    def _projection_of(self, gates: int) -> tuple[list[Step], tuple[int, ...]] | None:
        """The steps of states @ weights + offsets + inputs, and the slots of these four."""
        total = self.made_by(gates, "add", uses=2)
        found = None if total is None else self._shifted_product(total.inputs[0])
        if total is None or found is None:
            return None
        shifted, product, joined = found
        columns = shape_of(product)[-1]
        added = _operand_shape(total, 1)
        if added[-2:] != shape_of(product) or math.prod(added) != math.prod(shape_of(total)):
            return None
        if shape_of(total)[-1] != columns:
            return None
        joined = [total, *joined]
        outer, weights = product.inputs
        flattened = self.made_by(outer, "reshape")
        if flattened is not None:
            joined.append(flattened)
            outer = flattened.inputs[0]
        return joined, (outer, weights, shifted.inputs[1], total.inputs[1])

    def _shifted_product(self, slot: int, uses: int = 1) -> tuple[Step, Step, list[Step]] | None:
        """The sum of a product of matrices with a number for each column, the product, and all
        steps that make a slot of them: the shape is changed before or after the sum."""
        steps = _back_to_product(self, slot, uses) or []
        shifts = [step for step in steps if mnemonic_of(step) == "add"]
        if len(shifts) != 1 or len(shape_of(steps[-1])) != 2:
            return None
        if _operand_shape(shifts[0], 1) != shape_of(steps[-1])[-1:]:
            return None
        return shifts[0], steps[-1], steps


def _back_to_product(links: Links, slot: int, uses: int) -> list[Step] | None:
    """The steps from a slot back to the product of matrices that it is but for sums, and for shapes
    with as many columns; None for anything else."""
    steps: list[Step] = []
    while not steps or mnemonic_of(steps[-1]) != "matmul":
        made = (links.made_by(slot, name, uses=uses) for name in ("add", "reshape", "matmul"))
        step = next((each for each in made if each is not None), None)
        if step is None or shape_of(step)[-1:] != shape_of((steps or [step])[0])[-1:]:
            return None
        steps.append(step)
        slot, uses = step.inputs[0], 1
    return steps


def _operand_shape(step: Step, place: int) -> Shape:
    assert step.call is not None, "the step is a row"
    operand = step.call.operands[place]
    assert operand is not None, "the operation has all operands"
    return operand.desc.shape


def _are_alike(*steps: Step, state: Step, is_spread: bool = False) -> bool:
    """True if all results, and operands but for a constant number, are float32 of one shape."""
    shapes = {shape_of(step) for step in steps}
    operands = {_operand_shape(state, 0), _operand_shape(state, 1)}
    shapes |= {shape for shape in operands if is_spread is False or math.prod(shape) != 1}
    narrow = all(
        step.output_desc is not None and step.output_desc.element.compute == np.float32
        for step in steps
    )
    return narrow and len(shapes) == 1


def _key_of(step: Step) -> Key:
    """What a slice takes."""
    assert step.call is not None, "the step is a row"
    parameters: dict[str, Any] = step.call.parameters
    bounds = zip(parameters["begins"], parameters["ends"], parameters["step"], strict=True)
    return tuple(slice(*each) for each in bounds)


@dataclass(frozen=True)
class _StatesFunction:
    """From gates and inner state to outer and inner state."""

    keys: tuple[Key, Key, Key, Key]
    """Where output gate, forget gate, input gate and candidate are among the gates."""

    def __call__(self, gates: Array, state: Array) -> tuple[Array, Array]:
        """The next states."""
        return _next_states(self.keys, gates, state)


@dataclass(frozen=True)
class CellFunction:
    """From outer state, weights, offsets, inputs and inner state to outer and inner state."""

    keys: tuple[Key, Key, Key, Key]
    """Where output gate, forget gate, input gate and candidate are among the gates."""
    shape: Shape
    """The shape of the gates."""

    def __call__(
        self, outer: Array, weights: Array, offsets: Array, inputs: Array, state: Array
    ) -> tuple[Array, Array]:
        """The next states."""
        gates = np.matmul(outer.reshape(-1, len(weights)), weights)
        np.add(gates, offsets, out=gates)
        gates = gates.reshape(self.shape)
        np.add(gates, inputs, out=gates)
        return _next_states(self.keys, gates, state)


def _next_states(
    keys: tuple[Key, Key, Key, Key], gates: Array, state: Array
) -> tuple[Array, Array]:
    """From gates and inner state to outer and inner state."""
    output_gate, forget_gate, input_gate, candidate = keys
    entering = np.tanh(gates[candidate])
    # A gate is 1 / (1 + exp(-x)); what passes it is divided by the reciprocal.
    closed = np.negative(gates)
    np.exp(closed, out=closed)
    np.add(closed, np.float32(1), out=closed)
    np.divide(entering, closed[input_gate], out=entering)
    inner = np.divide(state, closed[forget_gate])
    np.add(inner, entering, out=inner)
    np.tanh(inner, out=entering)
    np.divide(entering, closed[output_gate], out=entering)
    return entering, inner


# --- Sequences ------------------------------------------------------------------------------------
# Steps of an LSTM one after another as one step of the plan.
#
# States and gates have a row for each feature there and a column for each sequence of the batch: so
# the product with the weights takes less time, and each gate is in one piece. What cells are given
# is multiplied together with their states where it is a product: that takes no longer than one
# large product, which would have to be put in this order and added.


def join_sequences(draft: Draft) -> None:
    """Join cells that pass their states on to the next one and nothing but outer states beside."""
    search = _SequenceSearch(draft)
    changed: dict[int, Step | None] = {}
    for numbers in search.sequences():
        changed.update(search.join(numbers))
    draft.replace_steps(changed)


@dataclass(frozen=True)
class _Product:
    """A product that all cells are given parts of."""

    slot: int
    """What is multiplied: for each cell, the features of each sequence of the batch."""
    weights: Array
    """(features, gates)"""
    offsets: Array
    """What is added to all gates."""
    order: list[int]
    """Which part each cell is given."""


@dataclass(frozen=True)
class _States:
    """Which outer states the steps after a sequence need."""

    places: list[int]
    """The cells whose states are needed one by one."""
    is_whole: bool = False
    """True where those of all cells are needed one after another."""
    is_turned: bool = False
    """True where the first one of these is that of the last cell."""


class _SequenceSearch(Links):
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
        return (
            step.function == following.function
            and following.inputs[1:3] == step.inputs[1:3]
            and self._passes_on(step, following)
        )

    def _passes_on(self, step: Step, following: Step) -> bool:
        outer, inner = step.written
        return (following.inputs[0], following.inputs[-1]) == (outer, inner) and (
            self.uses[inner] == 1
        )

    def join(self, numbers: list[int]) -> dict[int, Step | None]:
        """One step for all cells, and what it does the work of, by number; nothing if it cannot
        come there."""
        cells = [self.draft.steps[number] for number in numbers]
        first = cells[0]
        function = first.function
        assert isinstance(function, CellFunction), "cells have such a function"
        weights, offsets = (self.draft.constants.get(slot) for slot in first.inputs[1:3])
        if weights is None or offsets is None:
            return {}
        starts = _starts_of(function.keys, shape_of(first))
        if starts is None or shape_of(first)[-1] != len(weights):
            return {}
        inputs = [cell.inputs[3] for cell in cells]
        states = (first.inputs[-1], first.inputs[0])
        joined = list(cells)
        begun = self._beginning(first, function, offsets)
        if begun is not None:
            cell, total, given = begun
            cells, inputs, states = [cell, *cells], [given, *inputs], cell.inputs[1:]
            joined += [cell, total]
        # What later cells are given is there before the first one, or comes from the states.
        place = self.writers[cells[0].written[0]]
        if any(self.writers.get(slot, -1) > place for slot in (*inputs, *states)):
            return {}
        found = self._product_of(inputs, shape_of(first))
        product = None
        if found is not None:
            product, steps = found
            joined += steps
            inputs = [product.slot]
        whole, results = self._results_of(cells)
        joined += [] if whole is None else [whole]
        run = _sequence(starts, weights, offsets, len(cells), product, results)
        outers = [cells[number].written[0] for number in results.places]
        first_of_all = () if whole is None else whole.written
        outputs = (*first_of_all, *outers, cells[-1].written[1])
        changed: dict[int, Step | None] = {}
        changed.update(dict.fromkeys(self.writers[step.written[0]] for step in joined))
        changed[place] = replace(
            cells[0],
            function=run,
            inputs=(*states, *inputs),
            output=outputs[0],
            output_desc=(whole or first).output_desc,
            further=outputs[1:],
            is_fresh=False,
        )
        return changed

    def _beginning(
        self, first: Step, function: CellFunction, offsets: Array
    ) -> tuple[Step, Step, int] | None:
        """The cell before the first one, if its outer state is 0, so that nothing is multiplied;
        the step that makes its gates, and what it is given."""
        number = self.writers.get(first.inputs[0])
        cell = None if number is None else self.draft.steps[number]
        if cell is None or not isinstance(cell.function, _StatesFunction):
            return None
        total = self.made_by(cell.inputs[0], "add")
        if cell.function.keys != function.keys or total is None or not self._passes_on(cell, first):
            return None
        for constant, given in (total.inputs, total.inputs[::-1]):
            value = self.draft.constants.get(constant)
            # Then the product of the states with the weights was 0.
            if value is not None and np.array_equal(value, np.broadcast_to(offsets, value.shape)):
                alike = math.prod(_operand_shape(total, total.inputs.index(given)))
                return (cell, total, given) if alike == value.size else None
        return None

    def _product_of(self, inputs: list[int], state: Shape) -> tuple[_Product, list[Step]] | None:
        """The product that inputs are all parts of, and the steps that this makes needless."""
        batch, gates = math.prod(state[:-1]), 4 * state[-1]
        if batch < _BATCH:
            return None
        cuts = [self._cut_of(slot, len(inputs) * batch, gates) for slot in inputs]
        order = [start for start, _, _ in cuts]
        sources = {source for _, source, _ in cuts}
        if len(sources) != 1 or sorted(order) != list(range(len(inputs))):
            return None
        made = _back_to_product(self, sources.pop(), len(inputs))
        if made is None:
            return None
        *others, product = made
        shifts = [step for step in others if mnemonic_of(step) == "add"]
        offsets = self.draft.constants.get(shifts[0].inputs[1]) if len(shifts) == 1 else None
        weights = self.draft.constants.get(product.inputs[1])
        if weights is None or weights.size != weights.shape[-2] * gates:
            return None
        if shifts and (offsets is None or offsets.size != gates or offsets.shape[-1] != gates):
            return None
        slot = product.inputs[0]
        flattened = self.made_by(slot, "reshape")
        if flattened is not None:
            made, slot = [*made, flattened], flattened.inputs[0]
        if offsets is None:
            offsets = np.zeros(gates, np.float32)
        weights = weights.reshape(-1, gates)
        made += [step for _, _, steps in cuts for step in steps]
        return _Product(slot, weights, offsets.reshape(-1), order), made

    def _cut_of(self, slot: int, count: int, columns: int) -> tuple[int, int, list[Step]]:
        """The place and the slot that all columns of a matrix's rows are taken from, one of some
        parts of all rows, and the steps that do so; place and slot are -1 of anything else."""
        shaped = self.made_by(slot, "reshape")
        cut = self.made_by(slot if shaped is None else shaped.inputs[0], "slice")
        if cut is None or shape_of(cut)[0] != 1:
            return -1, -1, []
        whole, (place, *others) = _operand_shape(cut, 0), _key_of(cut)
        is_all = tuple(others) == tuple(slice(0, extent, 1) for extent in whole[1:])
        if not is_all or math.prod(whole) != count * columns or whole[-1] != columns:
            return -1, -1, []
        return place.start, cut.inputs[0], [cut] if shaped is None else [cut, shaped]

    def _results_of(self, cells: list[Step]) -> tuple[Step | None, _States]:
        """The step that puts all outer states one after another, and which are needed beside."""
        outers = [cell.written[0] for cell in cells]
        shape = (len(cells), *shape_of(cells[0])[1:])
        whole, is_turned = None, False
        for number in self.readers[outers[0]]:
            step = self.draft.steps[number]
            if mnemonic_of(step) != "concat" or shape_of(step) != shape:
                continue
            if list(step.inputs) in (outers, outers[::-1]):
                whole, is_turned = step, step.inputs[0] != outers[0]
        inside = [1 + (whole is not None)] * (len(cells) - 1) + [int(whole is not None)]
        places = [
            number
            for number, (slot, known) in enumerate(zip(outers, inside, strict=True))
            if self.uses[slot] > known
        ]
        return whole, _States(places, whole is not None, is_turned)


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


_BLOCK = 1 << 16
"""Numbers that are given to as many steps at once as have no more, unless one has."""
_BATCH = 8
"""Sequences from which on products of what is given to each step take no longer than one large
product."""


def _sequence(
    starts: list[int],
    weights: Array,
    offsets: Array,
    count: int,
    product: _Product | None,
    results: _States,
) -> Function:
    """From inner state, outer state unless it is 0, and inputs of all cells to their states.

    `weights` (features, gates) and `offsets` (gates) are those of all gates. A gate is
    (1 + tanh(x / 2)) / 2; the division is left for later, and states are twice as large until then.
    """
    width = len(weights)
    half, one, two = np.float32(0.5), np.float32(1), np.float32(2)
    # Input gate, forget gate, output gate, candidate.
    columns = [slice(starts[place], starts[place] + width) for place in (2, 1, 0, 3)]
    scales = np.repeat(np.array([0.5, 0.5, 0.5, 1], np.float32), width)[:, None]
    parts = [weights * half]
    if product is not None:
        parts += [product.weights, (product.offsets + offsets)[None]]
    joined = np.concatenate(parts)
    turned = np.concatenate([joined[:, each].T for each in columns])
    matrix = np.ascontiguousarray(turned * scales)

    def run(memory: Array, *inputs: Array) -> tuple[Array, ...]:
        shape = memory.shape
        batch = memory.size // width
        states = np.empty((count + 1, matrix.shape[1], batch), np.float32)
        known = len(inputs) - (count if product is None else 1)
        # The first outer state may have another shape than what cells make of it.
        states[0, :width] = inputs[0].reshape(batch, width).T * two if known else 0
        given = inputs[known:]
        if product is not None:
            features = given[0].reshape(count, batch, -1)[product.order]
            states[:count, width:-1] = features.transpose(0, 2, 1)
            states[:count, -1] = one
            added = None
        else:
            added = _turned(given, offsets, columns, scales, batch)
        gates = np.empty((5 * width, batch), np.float32)
        inner = gates[4 * width :]
        inner[...] = memory.reshape(batch, width).T
        total, opened, entering = gates[: 4 * width], gates[: 3 * width], gates[3 * width :]
        passing, leaving = gates[: 2 * width], gates[2 * width : 3 * width]
        kept = np.empty((2 * width, batch), np.float32)
        new, old = kept[:width], kept[width:]
        for before, after in zip(states[:-1], states[1:, :width], strict=True):
            np.matmul(matrix, before, out=total)
            if added is not None:
                np.add(total, next(added), out=total)
            np.tanh(total, out=total)
            np.add(opened, one, out=opened)
            # The candidate by the input gate, and the inner state by the forget gate.
            np.multiply(passing, entering, out=kept)
            np.add(new, old, out=inner)
            np.multiply(inner, half, out=inner)
            np.tanh(inner, out=after)
            np.multiply(after, leaving, out=after)
        found: list[Array] = []
        outer = states[1:, :width].transpose(0, 2, 1)
        if results.is_whole:
            # In the order that it has in memory.
            outer = outer * half
            found.append(outer[:: -1 if results.is_turned else 1].reshape(count, *shape[1:]))
        for place in results.places:
            each = outer[place] if results.is_whole else outer[place] * half
            found.append(each.reshape(shape))
        return (*found, inner.T.reshape(shape))

    return run


def _turned(
    given: Sequence[Array], offsets: Array, columns: list[slice], scales: Array, batch: int
) -> Iterator[Array]:
    """What each step is given, and the offsets, gates along rows."""
    gates = offsets.size
    # New memory for what is given to all steps would take longer than the steps.
    block = min(len(given), max(1, _BLOCK // (gates * batch)))
    turned = np.empty((block, gates, batch), np.float32)
    width = gates // 4
    for first in range(0, len(given), block):
        rows = np.stack([each.reshape(batch, -1) for each in given[first : first + block]])
        rows += offsets
        parts = turned[: len(rows)]
        for place, each in enumerate(columns):
            into = slice(place * width, (place + 1) * width)
            np.multiply(rows[:, :, each].transpose(0, 2, 1), scales[into], out=parts[:, into])
        yield from parts


# --- Gated units ----------------------------------------------------------------------------------
# Steps of a GRU as one step each.


def join_gated_units(draft: Draft) -> None:
    """Join what computes the next state of a GRU from the state, down to the same digits."""
    search = _GatedSearch(draft)
    changed: dict[int, Step | None] = {}
    for number, step in enumerate(draft.steps):
        if mnemonic_of(step) == "add":
            unit = search.find(number)
            if unit is not None:
                changed.update(dict.fromkeys(unit.joined))
                changed[number] = unit.step
    draft.replace_steps(changed)


class _GatedSearch(_RecurrentSearch):
    """Finds units by (state - candidate) * update gate + candidate."""

    def find(self, number: int) -> _Cell | None:
        """The unit whose next state is the result of a step; None if there is none."""
        last = self.draft.steps[number]
        for one, other in (last.inputs, last.inputs[::-1]):
            kept, candidate = self.made_by(one, "multiply"), self.made_by(other, "tanh", uses=2)
            ends = None if kept is None else self._operands(kept, "subtract", "sigmoid")
            if kept is None or candidate is None or ends is None:
                continue
            change, update = ends
            total = self.made_by(candidate.inputs[0], "add")
            sums = None if total is None else self._operands(total, "multiply", "slice")
            if change.inputs[1] != other or total is None or sums is None:
                continue
            entering, given = sums
            gated = self._operands(entering, "slice", "sigmoid")
            if gated is None:
                continue
            hidden, reset = gated
            joined = [kept, candidate, change, update, total, entering, given, hidden, reset]
            return self._unit(last, change.inputs[0], joined)
        return None

    def _unit(self, last: Step, state: int, joined: list[Step]) -> _Cell | None:
        _, _, change, update, _, _, given, hidden, reset = joined
        pairs: list[tuple[Step, Step]] = []
        for gate in (reset, update):
            total = self.made_by(gate.inputs[0], "add")
            slices = None if total is None else self._operands(total, "slice", "slice")
            if total is None or slices is None:
                return None
            joined += [total, *slices]
            first, second = slices
            is_hidden = first.inputs == hidden.inputs
            pairs.append((first, second) if is_hidden else (second, first))
        pairs.append((hidden, given))
        if not _are_alike(last, *joined[:3], hidden, state=joined[2]):
            return None
        starts: list[int] | None = None
        for sliced in zip(*pairs, strict=True):
            found = _starts_of(tuple(map(_key_of, sliced)), shape_of(sliced[0]))
            if len({step.inputs for step in sliced}) != 1 or starts not in (None, found):
                return None
            starts = found
        width = shape_of(last)[-1]
        found = self._shifted_product(hidden.inputs[0], uses=3)
        if found is None:
            return None
        shifted, product, made_by = found
        outer = self.made_by(product.inputs[0], "reshape")
        if starts not in ([0, width, 2 * width], [width, 0, 2 * width]):
            return None
        if outer is None or outer.inputs[0] != state:
            return None
        if not _are_rows(last, change, given, product, shifted):
            return None
        step = replace(
            last,
            function=partial(_next_state, shape_of(last), starts[0], starts[1]),
            inputs=(state, product.inputs[1], shifted.inputs[1], given.inputs[0]),
            is_unrounded=False,
            is_pure=False,
            is_fresh=True,
        )
        joined += [*made_by, outer]
        return _Cell(step, [self.writers[each.written[0]] for each in joined])


def _are_rows(last: Step, change: Step, given: Step, product: Step, shifted: Step) -> bool:
    """Whether each state has inputs of its own: those repeated for several stay in their parts."""
    size, width = math.prod(shape_of(last)), shape_of(last)[-1]
    inputs = _operand_shape(given, 0)
    return (
        math.prod(_operand_shape(change, 0)) == size
        and (inputs[-1], math.prod(inputs)) == (3 * width, 3 * size)
        and shape_of(product) == (size // width, 3 * width)
        and _operand_shape(shifted, 1) == (3 * width,)
    )


def _next_state(
    shape: Shape,
    reset: int,
    update: int,
    state: Array,
    weights: Array,
    offsets: Array,
    inputs: Array,
) -> Array:
    """The next state of a GRU, of a shape; `reset` and `update` are where these gates begin."""
    width = len(weights)
    state = state.reshape(-1, width)
    hidden = np.matmul(state, weights)
    np.add(hidden, offsets, out=hidden)
    inputs = inputs.reshape(hidden.shape)
    gates = np.add(hidden[:, : 2 * width], inputs[:, : 2 * width])
    np.negative(gates, out=gates)
    np.exp(gates, out=gates)
    np.add(gates, np.float32(1), out=gates)
    np.reciprocal(gates, out=gates)
    candidate = np.multiply(hidden[:, 2 * width :], gates[:, reset : reset + width])
    np.add(candidate, inputs[:, 2 * width :], out=candidate)
    np.tanh(candidate, out=candidate)
    following = np.subtract(state, candidate)
    np.multiply(following, gates[:, update : update + width], out=following)
    np.add(following, candidate, out=following)
    return following.reshape(shape)


# --- Gates ----------------------------------------------------------------------------------------
# Functions of slices as slices of functions, as of the gates of recurrent networks.

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


def slice_after_reshaping(draft: Draft) -> None:
    """Give a tensor more dimensions of one before slices are taken of it, not each slice.

    So slices that recurrent networks take of sums of matrices are alike.
    """
    links = Links(draft)
    shaped: dict[tuple[int, int], int] = {}
    changed: dict[int, list[Step]] = {}
    reshapes = [each for each in enumerate(draft.steps) if mnemonic_of(each[1]) == "reshape"]
    # The tensor is reshaped in front of the first of its slices, in the order of these.
    for number, step in sorted(reshapes, key=lambda each: links.writers.get(each[1].inputs[0], -1)):
        cut = links.made_by(step.inputs[0], "slice")
        if cut is None or cut.call is None or step.call is None or not step.call.operands[0]:
            continue
        key, shape = _key_of(cut), shape_of(step)
        more = len(shape) - len(key)
        ones = (1,) * more
        if (
            more < 1
            or shape != (*ones, *shape_of(cut))
            or any(k.start < 0 or k.stop < 0 for k in key)
        ):
            continue
        [source], taken = cut.inputs, cut.call.operands[0]
        assert taken is not None, "slices have an operand"
        desc = replace(taken.desc, shape=(*ones, *taken.desc.shape))
        whole = replace(taken, desc=desc)
        before: list[Step] = []
        if (source, more) not in shaped:
            shaped[source, more] = draft.new_slot()
            call = replace(
                step.call, operands=(taken,), outputs=(whole,), parameters={"shape": desc.shape}
            )
            before = [
                replace(
                    step,
                    function=methodcaller("reshape", desc.shape),
                    inputs=(source,),
                    output=shaped[source, more],
                    output_desc=desc,
                    call=call,
                )
            ]
        parameters = {
            name: (*((1,) * more if name != "begins" else (0,) * more), *numbers)
            for name, numbers in cut.call.parameters.items()
        }
        call = replace(
            cut.call, operands=(whole,), outputs=step.call.outputs, parameters=parameters
        )
        moved = replace(
            cut,
            function=itemgetter((*(slice(0, 1, 1) for _ in ones), *key)),
            inputs=(shaped[source, more],),
            output=step.output,
            output_desc=step.output_desc,
            call=call,
        )
        changed[links.writers[step.inputs[0]]] = [*before, moved]
        changed[number] = []
    draft.steps = [
        each for number, step in enumerate(draft.steps) for each in changed.get(number, [step])
    ]
