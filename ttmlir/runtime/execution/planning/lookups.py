"""Products of rows that are looked up, as rows of products: each row of a table is multiplied once.

Messages along the edges of a graph are such products: `concat([x[begin], x[end]]) @ weights` is
`(x @ upper)[begin] + (x @ lower)[end]`.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ttmlir.runtime.element import Array
from ttmlir.runtime.execution.planning.draft import Draft, Links, mnemonic_of, shape_of
from ttmlir.runtime.execution.planning.step import Function, Step

_DEEP = 32
"""Columns of a table from which on its product takes longer than sums of what is looked up."""


def multiply_before_lookups(draft: Draft) -> None:
    """Multiply tables instead of the rows that are taken from them, where these are more."""
    search = _Search(draft)
    instead: dict[int, list[Step]] = {}
    for number, step in enumerate(draft.steps):
        if mnemonic_of(step) == "matmul":
            instead |= search.find(number)
    draft.steps = [
        each for number, step in enumerate(draft.steps) for each in instead.get(number, [step])
    ]


class _Search(Links):
    """Finds products of a matrix with rows of tables, which may stand side by side."""

    def find(self, number: int) -> dict[int, list[Step]]:
        """What takes the place of a product's and other steps; nothing if it is no such product."""
        product = self.draft.steps[number]
        rows, weights = product.inputs
        joined = self.made_by(rows, "concat")
        slots = (rows,) if joined is None else joined.inputs
        lookups = [self.made_by(slot, "embedding") for slot in slots]
        found = [each for each in lookups if each is not None and _is_cheaper(product, each)]
        if len(found) != len(slots) or sum(shape_of(each)[-1] for each in found) != _depth(product):
            return {}
        instead: dict[int, list[Step]] = {}
        for each in (*found, *([] if joined is None else [joined])):
            instead[self.writers[each.written[0]]] = []
        instead[number] = self._steps(product, weights, found)
        return instead

    def _steps(self, product: Step, weights: int, lookups: list[Step]) -> list[Step]:
        """Products of tables, rows of these, and their sums."""
        steps: list[Step] = []
        total = None
        first = 0
        for lookup in lookups:
            call, depth = lookup.call, shape_of(lookup)[-1]
            assert call is not None, "lookups are rows"
            part, chosen = self.draft.new_slot(), self.draft.new_slot()
            multiply = _multiply(slice(first, first + depth))
            made = replace(product, is_unrounded=False, is_fresh=True)
            table = lookup.inputs[1]
            steps.append(replace(made, function=multiply, inputs=(table, weights), output=part))
            desc = product.output_desc
            assert desc is not None, "products have a result"
            call = replace(call, outputs=(replace(call.output, desc=desc),))
            taken = (lookup.inputs[0], part)
            steps.append(replace(lookup, inputs=taken, output=chosen, output_desc=desc, call=call))
            if total is not None:
                both = (total, chosen)
                chosen = self.draft.new_slot()
                steps.append(replace(made, function=_add, inputs=both, output=chosen))
            total, first = chosen, first + depth
        steps[-1] = replace(steps[-1], output=product.output)
        return steps


def _depth(product: Step) -> int:
    """The columns of the first operand of a product of two float32 matrices; 0 for others."""
    assert product.call is not None, "products are rows"
    descs = [ref.desc for ref in product.call.operands if ref is not None]
    if any(len(desc.shape) != 2 or desc.element.compute != np.float32 for desc in descs):
        return 0
    return descs[0].shape[1]


def _is_cheaper(product: Step, lookup: Step) -> bool:
    """True if a table has at most half as many rows as are taken from it, and enough columns."""
    assert lookup.call is not None, "lookups are rows"
    table = lookup.call.operands[1]
    assert table is not None, "lookups have a table"
    rows, *columns = shape_of(lookup)
    is_matrix = len(columns) == len(table.desc.shape) - 1 == 1 and columns[0] >= _DEEP
    return is_matrix and rows == shape_of(product)[0] and 2 * table.desc.shape[0] <= rows


def _multiply(rows: slice) -> Function:
    def multiply(table: Array, weights: Array) -> Array:
        return np.matmul(table, weights[rows])

    return multiply


def _add(total: Array, more: Array) -> Array:
    return np.add(total, more, out=total)
