"""Rules of `ttnn-workaround` that write elementwise operations as others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.dialects.builtin import AnyFloat, IntegerType, Signedness

from ttmlir.ir.tensor_types import element_type
from ttmlir.ir.ttnn_types import with_element
from ttmlir.ir.ttnn_values import TTNNValueBuilder
from ttmlir.passes.ttnn.workarounds.ttnn_workarounds_elementwise import SI32

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from xdsl.ir import Operation

    from ttmlir.ir.greedy_rewriting import GreedyRewriter, Rule


_SIGNED = {"ui32": SI32, "ui64": IntegerType(64, Signedness.SIGNED)}


def _where(op: Operation, rewriter: GreedyRewriter) -> bool:
    """Numbers without sign are chosen from by their bits."""
    condition, *values = op.operands
    result = op.results[0]
    signed = _SIGNED.get(str(element_type(result)))
    if signed is None:
        return False
    build = TTNNValueBuilder.within(rewriter, op)
    bits = [
        build.create("bitcast_convert", (value,), with_element(value.type, signed))
        for value in values
    ]
    chosen = build.create("where", (condition, *bits), with_element(result.type, signed))
    rewriter.replace(op, build.create("bitcast_convert", (chosen,), result.type))
    return True


def _typecast(op: Operation, rewriter: GreedyRewriter) -> bool:
    """Numbers of 16 bits are made of whole ones: the library rounds others to the nearest."""
    operand, result = op.operands[0], op.results[0]
    maker = getattr(operand.owner, "name", "")
    if str(element_type(result)) != "ui16" or not isinstance(element_type(operand), AnyFloat):
        return False
    if maker == "ttnn.floor":
        return False
    build = TTNNValueBuilder.within(rewriter, op)
    whole = build.create("floor", (operand,), operand.type)
    rewriter.replace(op, build.typecast(whole, result.type))
    return True


RULES: Mapping[str, Sequence[Rule]] = {"ttnn.where": (_where,), "ttnn.typecast": (_typecast,)}
"""Rules by the name of the operation."""
