"""Steps of an LSTM as one step each, as they are too short for single calls of NumPy."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ttmlir.optable.row import Shape
from ttmlir.runtime.element import Array
from ttmlir.runtime.execution.planning.draft import Draft, Links, mnemonic_of, shape_of
from ttmlir.runtime.execution.planning.step import Step

Key = tuple[slice, ...]


def join_cells(draft: Draft) -> None:
    """Join what computes the next states from the gates, and the gates from the states."""
    search = _Search(draft)
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


class _Search(Links):
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
                if sigmoid is None or not _are_alike(outer, inner, *slices, candidate, state=kept):
                    continue
                steps = [*slices, sigmoid, candidate, added, kept, inner, tangent]
                return self._join(outer, inner, sigmoid.inputs[0], state, slices, steps)
        return None

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
            function, inputs = partial(_next_states, keys), (gates, state)
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
        shifted = None if total is None else self.made_by(total.inputs[0], "add")
        shaped = None if shifted is None else self.made_by(shifted.inputs[0], "reshape")
        product = None if shaped is None else self.made_by(shaped.inputs[0], "matmul")
        if total is None or shifted is None or shaped is None or product is None:
            return None
        columns = shape_of(product)[-1]
        if shape_of(shaped)[-1] != columns or len(shape_of(product)) != 2:
            return None
        if _operand_shape(shifted, 1) != (columns,):
            return None
        added = _operand_shape(total, 1)
        if added[-2:] != shape_of(product) or math.prod(added) != math.prod(shape_of(total)):
            return None
        joined = [total, shifted, shaped, product]
        outer, weights = product.inputs
        flattened = self.made_by(outer, "reshape")
        if flattened is not None:
            joined.append(flattened)
            outer = flattened.inputs[0]
        return joined, (outer, weights, shifted.inputs[1], total.inputs[1])


def _operand_shape(step: Step, place: int) -> Shape:
    assert step.call is not None, "the step is a row"
    operand = step.call.operands[place]
    assert operand is not None, "the operation has all operands"
    return operand.desc.shape


def _are_alike(*steps: Step, state: Step) -> bool:
    """True if all results, and the operands of a product, are float32 of one shape."""
    shapes = {shape_of(step) for step in steps}
    shapes |= {_operand_shape(state, 0), _operand_shape(state, 1)}
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
