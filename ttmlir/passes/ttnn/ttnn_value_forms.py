"""Canonical forms of ttnn operations that make their results, for the pass `canonicalize`."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from ttmlir.ir.ttnn_types import set_type

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from xdsl.ir import Attribute, Operation, SSAValue

    from ttmlir.ir.greedy_rewriting import GreedyRewriter, Rule

_CONVERSIONS = ("ttnn.to_tensor_spec", "ttnn.to_layout")


def fold(op: Operation) -> SSAValue | Attribute | None:
    """What the result of an operation is without it; None if it is needed."""
    if op.name in _CONVERSIONS and op.operands[0].type == op.results[0].type:
        return op.operands[0]
    return None


def _merge(op: Operation, rewriter: GreedyRewriter) -> bool:
    """A conversion after another is one."""
    inner = op.operands[0].owner
    if getattr(inner, "name", "") not in _CONVERSIONS:
        return False
    rewriter.set_operand(op, 0, cast("Operation", inner).operands[0])
    rewriter.add(cast("Operation", inner))
    return True


_CREATIONS = ("ttnn.full", "ttnn.zeros", "ttnn.ones")


def _make_converted(op: Operation, rewriter: GreedyRewriter) -> bool:
    """What is made to be converted alone is made so."""
    operand = op.operands[0]
    maker = operand.owner
    if getattr(maker, "name", "") not in _CREATIONS or not operand.has_one_use():
        return False
    rewriter.replace(op, set_type(operand, op.results[0].type))
    rewriter.add(cast("Operation", maker))
    return True


def _merge_reshapes(op: Operation, rewriter: GreedyRewriter) -> bool:
    """A reshape of what is reshaped for it alone is one."""
    operand = op.operands[0]
    if getattr(operand.owner, "name", "") != op.name or not operand.has_one_use():
        return False
    rewriter.set_operand(op, 0, cast("Operation", operand.owner).operands[0])
    rewriter.add(cast("Operation", operand.owner))
    return True


RULES: Mapping[str, Sequence[Rule]] = {
    **dict.fromkeys(_CONVERSIONS, (_merge, _make_converted)),
    "ttnn.reshape": (_merge_reshapes,),
}
"""Rules by the name of the operation."""
