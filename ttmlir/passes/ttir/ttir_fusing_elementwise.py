"""Rules of `ttir-fusing` for elementwise operations."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from ttmlir.ir.constants import number_of_elements
from ttmlir.passes.ttir.ttir_value_forms import elements_known

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from xdsl.ir import Operation, SSAValue

    from ttmlir.ir.greedy_rewriting import GreedyRewriter, Rule


def number_of(value: SSAValue) -> float | None:
    """The one number that a tensor is filled with; None for others."""
    owner = value.owner
    if getattr(owner, "name", "") in ("ttir.broadcast", "ttir.reshape"):
        return number_of(cast("Operation", owner).operands[0])
    elements = elements_known(value)
    return None if elements is None else number_of_elements(elements)


def maker(value: SSAValue, name: str) -> Operation | None:
    """The operation that makes a value, if it is called so."""
    owner = value.owner
    return cast("Operation", owner) if getattr(owner, "name", "") == name else None


def _relu(op: Operation, rewriter: GreedyRewriter) -> bool:
    """The maximum of a tensor and 0."""
    for index, operand in enumerate(op.operands):
        other = op.operands[1 - index]
        if number_of(operand) == 0 and other.type == op.results[0].type:
            build = rewriter.builder(op)
            rewriter.replace(op, build.create("relu", (other,), op.results[0].type))
            return True
    return False


def _sigmoid(op: Operation, rewriter: GreedyRewriter) -> bool:
    """1 / (1 + exp(-x))."""
    one, total = op.operands
    added = maker(total, "ttir.add")
    if number_of(one) != 1 or added is None:
        return False
    for index in (0, 1):
        grown = maker(added.operands[index], "ttir.exp")
        negated = None if grown is None else maker(grown.operands[0], "ttir.neg")
        if negated is not None and number_of(added.operands[1 - index]) == 1:
            build = rewriter.builder(op)
            x = negated.operands[0]
            rewriter.replace(op, build.create("sigmoid", (x,), op.results[0].type))
            return True
    return False


RULES: Mapping[str, Sequence[Rule]] = {"ttir.maximum": (_relu,), "ttir.div": (_sigmoid,)}
"""Rules by the name of the operation."""
