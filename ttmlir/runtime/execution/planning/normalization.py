"""Layer normalization as one step instead of nine."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from ttmlir.optable.row import Shape
from ttmlir.runtime.element import Array
from ttmlir.runtime.execution.planning.draft import Draft, Links, mnemonic_of, shape_of
from ttmlir.runtime.execution.planning.step import Function, Step

_SQUARES_IN_FLOAT32 = 1024
"""Up to so many squares, a sum in the lanes of a vector is as good as one in float64."""


def join_normalizations(draft: Draft) -> None:
    """Join the steps of normalizations over the last dimensions of float32."""
    search = _Search(draft)
    changed: dict[int, Step | None] = {}
    for number, step in enumerate(draft.steps):
        if mnemonic_of(step) == "multiply" and number not in changed:
            found = search.find(step)
            if found is not None:
                last, joined, left_out = found
                changed.update(dict.fromkeys(left_out))
                changed[last] = joined
    draft.replace_steps(changed)


class _Search(Links):
    """Finds normalizations by the product of what is left of the mean with a reciprocal root."""

    def find(self, scaled: Step) -> tuple[int, Step, list[int]] | None:
        """The number of the last step of a normalization, what takes its place, and the others."""
        root = self.made_by(scaled.inputs[1], "rsqrt")
        centered = self.made_by(scaled.inputs[0], "subtract", uses=2)
        if root is None or centered is None:
            return None
        above = self.made_by(root.inputs[0], "add")
        if above is None or above.inputs[1] not in self.draft.constants:
            return None
        variance = self.made_by(above.inputs[0], "mean")
        squares = None if variance is None else self.made_by(variance.inputs[0], "square")
        mean = self.made_by(centered.inputs[1], "mean")
        if variance is None or squares is None or mean is None:
            return None
        epsilon = self.draft.constants[above.inputs[1]]
        columns = _reduced(mean)
        if not (
            squares.inputs[0] == scaled.inputs[0]
            and mean.inputs[0] == centered.inputs[0]
            and columns
            and columns == _reduced(variance)
            and epsilon.size == 1
            and epsilon.dtype == np.float32
        ):
            return None
        steps = [mean, centered, squares, variance, above, root, scaled]
        inputs = [mean.inputs[0]]
        for mnemonic in ("multiply", "add"):
            following = self._follow(steps[-1], mnemonic, columns)
            if following is None:
                break
            steps.append(following)
            inputs.append(following.inputs[1])
        function = _normalize(columns, np.float32(epsilon.reshape(())), shape_of(scaled))
        last = replace(steps[-1], inputs=tuple(inputs), function=function, is_unrounded=False)
        numbers = [self.writers[step.written[0]] for step in steps]
        return numbers[-1], replace(last, is_fresh=True), numbers[:-1]

    def _follow(self, step: Step, mnemonic: str, columns: Shape) -> Step | None:
        """The only step that reads a result, if it combines it with one number for each column."""
        (slot,) = step.written
        if self.uses[slot] != 1 or slot in self.draft.outputs:
            return None
        following = self.draft.steps[self.readers[slot][0]]
        if mnemonic_of(following) != mnemonic or following.inputs[0] != slot:
            return None
        assert following.call is not None, "the step is a row"
        assert following.call.operands[1] is not None, "the operation has two operands"
        other = following.call.operands[1].desc
        fits = other.shape[-len(columns) :] == columns and other.volume == math.prod(columns)
        return following if fits and shape_of(following) == shape_of(step) else None


def _reduced(step: Step) -> Shape:
    """The extents of the last dimensions that a mean of float32 is taken of; () for others."""
    assert step.call is not None, "the step is a row"
    assert step.call.operands[0] is not None, "the operation has an operand"
    desc = step.call.operands[0].desc
    dims = step.call.parameters["dim_arg"]
    if dims is None or not step.call.parameters["keep_dim"] or not desc.volume:
        return ()
    rank = len(desc.shape)
    places = sorted(dim % rank for dim in dims)
    is_last = places == list(range(rank - len(places), rank))
    is_narrow = desc.element.compute == np.float32
    return desc.shape[rank - len(places) :] if is_last and is_narrow else ()


def _normalize(columns: Shape, epsilon: np.float32, shape: Shape) -> Function:
    count = math.prod(columns)
    weights = np.full(count, 1 / count)
    one = np.float32(1)

    def normalize(x: Array, scale: Array | None = None, offset: Array | None = None) -> Array:
        rows = x.reshape(-1, count)
        means = (rows.astype(np.float64) @ weights).astype(np.float32)
        result = rows - means[:, None]
        if count <= _SQUARES_IN_FLOAT32:
            squares = np.vecdot(result, result) / np.float32(count)
        else:
            wide = result.astype(np.float64)
            squares = (np.vecdot(wide, wide) / count).astype(np.float32)
        squares += epsilon
        np.sqrt(squares, out=squares)
        np.divide(one, squares, out=squares)
        result *= squares[:, None]
        if scale is not None:
            result *= scale.reshape(-1)
        if offset is not None:
            result += offset.reshape(-1)
        return result.reshape(shape)

    return normalize
