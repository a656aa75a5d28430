"""Rules of `ttir-fusing` for elementwise operations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ttmlir.passes.ttir.ttir_value_forms_elementwise import CLAMPS
from ttmlir.passes.ttir.value_rewriting import adapted, either_way, made_by, number_known

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from xdsl.ir import Operation, SSAValue

    from ttmlir.ir.greedy_rewriting import GreedyRewriter, Rule


def replace_by_unary(
    op: Operation, rewriter: GreedyRewriter, mnemonic: str, operand: SSAValue
) -> bool:
    """Put a function of an operand in the place of an operation, if it has the same type."""
    if operand.type != op.results[0].type:
        return False
    build = rewriter.builder(op)
    rewriter.replace(op, build.create(mnemonic, (operand,), op.results[0].type))
    return True


def _relu(op: Operation, rewriter: GreedyRewriter) -> bool:
    """The maximum of a tensor and 0."""
    for number, operand in either_way(op):
        if number_known(number) == 0 and replace_by_unary(op, rewriter, "relu", operand):
            return True
    return False


def _relu6(op: Operation, rewriter: GreedyRewriter) -> bool:
    """The minimum of a relu and 6."""
    for number, operand in either_way(op):
        inner = made_by(operand, "relu")
        if number_known(number) == 6 and inner is not None and operand.has_one_use():
            return replace_by_unary(op, rewriter, "relu6", inner.operands[0])
    return False


def _hardsigmoid(op: Operation, rewriter: GreedyRewriter) -> bool:
    """relu6(x + 3) / 6."""
    top, bottom = op.operands
    inner = made_by(top, "relu6")
    added = None if inner is None else made_by(inner.operands[0], "add")
    if added is None or number_known(bottom) != 6:
        return False
    for number, operand in either_way(added):
        if number_known(number) == 3:
            return replace_by_unary(op, rewriter, "hardsigmoid", operand)
    return False


def _sigmoid(op: Operation, rewriter: GreedyRewriter) -> bool:
    """1 / (1 + exp(-x))."""
    one, total = op.operands
    added = made_by(total, "add")
    if number_known(one) != 1 or added is None:
        return False
    for number, operand in either_way(added):
        grown = made_by(operand, "exp")
        negated = None if grown is None else made_by(grown.operands[0], "neg")
        if negated is not None and number_known(number) == 1:
            return replace_by_unary(op, rewriter, "sigmoid", negated.operands[0])
    return False


def _silu(op: Operation, rewriter: GreedyRewriter) -> bool:
    """x * sigmoid(x)."""
    for operand, other in either_way(op):
        inner = made_by(other, "sigmoid")
        if inner is not None and inner.operands[0] is operand and other.has_one_use():
            return replace_by_unary(op, rewriter, "silu", operand)
    return False


RULES: Mapping[str, Sequence[Rule]] = {
    "ttir.maximum": (_relu,),
    "ttir.minimum": (_relu6,),
    "ttir.div": (_sigmoid, _hardsigmoid),
    "ttir.multiply": (_silu,),
    **adapted(CLAMPS),
}
"""Rules by the name of the operation."""
