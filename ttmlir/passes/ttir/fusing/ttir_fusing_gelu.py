"""The rule of `ttir-fusing` for gelu by tanh, which the library computes by erf."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ttmlir.passes.ttir.fusing.ttir_fusing_elementwise import replace_by_unary
from ttmlir.passes.ttir.value_rewriting import either_way, made_by, number_known

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from xdsl.ir import Operation, SSAValue

    from ttmlir.ir.greedy_rewriting import GreedyRewriter, Rule


def _is_number(value: SSAValue, number: float) -> bool:
    """True for a tensor filled with a number, or one near it in the precision of bf16."""
    found = number_known(value)
    return found is not None and math.isclose(found, number, rel_tol=1e-2)


def _factors(value: SSAValue) -> list[SSAValue]:
    """What a product multiplies."""
    product = made_by(value, "multiply")
    if product is None:
        return [value]
    return [factor for operand in product.operands for factor in _factors(operand)]


def _gelu(op: Operation, rewriter: GreedyRewriter) -> bool:
    """0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))), in any order."""
    factors = _factors(op.results[0])
    rest = [value for value in factors if not _is_number(value, 0.5)]
    if len(rest) != 2 or len(factors) != 3:
        return False
    for x, bell in (rest, rest[::-1]):
        added = made_by(bell, "add")
        for number, grown in () if added is None else either_way(added):
            inner = made_by(grown, "tanh")
            if inner is None or not _is_number(number, 1):
                continue
            if _is_tanh_argument(inner.operands[0], x):
                return replace_by_unary(op, rewriter, "gelu", x)
    return False


def _is_tanh_argument(value: SSAValue, x: SSAValue) -> bool:
    product = made_by(value, "multiply")
    if product is None:
        return False
    for number, total in either_way(product):
        added = made_by(total, "add")
        if added is None or not _is_number(number, math.sqrt(2 / math.pi)):
            continue
        for first, second in either_way(added):
            cubed = _factors(second)
            others = [each for each in cubed if not _is_number(each, 0.044715)]
            if first is x and len(cubed) == 4 and all(each is x for each in others):
                return len(others) == 3
    return False


RULES: Mapping[str, Sequence[Rule]] = {"ttir.multiply": (_gelu,)}
"""Rules by the name of the operation."""
