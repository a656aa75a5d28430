"""Rules of `ttir-fusing` for elementwise operations."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ttmlir.passes.ttir.ttir_value_forms_elementwise import CLAMPS
from ttmlir.passes.ttir.value_rewriting import adapted, either_way, made_by, number_known

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from xdsl.ir import Operation, SSAValue

    from ttmlir.ir.greedy_rewriting import GreedyRewriter, Rule


def is_number(value: SSAValue, number: float) -> bool:
    """True for a tensor filled with a number, or one near it in the precision of bf16."""
    found = number_known(value)
    return found is not None and math.isclose(found, number, rel_tol=1e-2)


def _replace_by_unary(
    op: Operation, rewriter: GreedyRewriter, mnemonic: str, operand: SSAValue
) -> bool:
    if operand.type != op.results[0].type:
        return False
    build = rewriter.builder(op)
    rewriter.replace(op, build.create(mnemonic, (operand,), op.results[0].type))
    return True


def _relu(op: Operation, rewriter: GreedyRewriter) -> bool:
    """The maximum of a tensor and 0."""
    for number, operand in either_way(op):
        if number_known(number) == 0 and _replace_by_unary(op, rewriter, "relu", operand):
            return True
    return False


def _relu6(op: Operation, rewriter: GreedyRewriter) -> bool:
    """The minimum of a relu and 6."""
    for number, operand in either_way(op):
        inner = made_by(operand, "relu")
        if number_known(number) == 6 and inner is not None and operand.has_one_use():
            return _replace_by_unary(op, rewriter, "relu6", inner.operands[0])
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
            return _replace_by_unary(op, rewriter, "hardsigmoid", operand)
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
            return _replace_by_unary(op, rewriter, "sigmoid", negated.operands[0])
    return False


def _silu(op: Operation, rewriter: GreedyRewriter) -> bool:
    """x * sigmoid(x)."""
    for operand, other in either_way(op):
        inner = made_by(other, "sigmoid")
        if inner is not None and inner.operands[0] is operand and other.has_one_use():
            return _replace_by_unary(op, rewriter, "silu", operand)
    return False


def _factors(value: SSAValue) -> list[SSAValue]:
    """What a product multiplies."""
    product = made_by(value, "multiply")
    if product is None:
        return [value]
    return [factor for operand in product.operands for factor in _factors(operand)]


def _gelu(op: Operation, rewriter: GreedyRewriter) -> bool:
    """0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))), in any order."""
    factors = _factors(op.results[0])
    rest = [value for value in factors if not is_number(value, 0.5)]
    if len(rest) != 2 or len(factors) != 3:
        return False
    for x, bell in (rest, rest[::-1]):
        added = made_by(bell, "add")
        for number, grown in () if added is None else either_way(added):
            inner = made_by(grown, "tanh")
            if inner is None or not is_number(number, 1):
                continue
            if _is_tanh_argument(inner.operands[0], x):
                return _replace_by_unary(op, rewriter, "gelu", x)
    return False


def _is_tanh_argument(value: SSAValue, x: SSAValue) -> bool:
    product = made_by(value, "multiply")
    if product is None:
        return False
    for number, total in either_way(product):
        added = made_by(total, "add")
        if added is None or not is_number(number, math.sqrt(2 / math.pi)):
            continue
        for first, second in either_way(added):
            cubed = _factors(second)
            others = [each for each in cubed if not is_number(each, 0.044715)]
            if first is x and len(cubed) == 4 and all(each is x for each in others):
                return len(others) == 3
    return False


RULES: Mapping[str, Sequence[Rule]] = {
    "ttir.maximum": (_relu,),
    "ttir.minimum": (_relu6,),
    "ttir.div": (_sigmoid, _hardsigmoid),
    "ttir.multiply": (_silu, _gelu),
    **adapted(CLAMPS),
}
"""Rules by the name of the operation."""
