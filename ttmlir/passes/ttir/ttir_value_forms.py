"""Canonical forms of ttir operations that make their results, for the pass `canonicalize`."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, TensorType

from ttmlir.ir.constants import constant_elements
from ttmlir.ir.tensor_types import value_shape
from ttmlir.mlir.attributes import Elements, ElementsType, elements_attr, splat_bytes
from ttmlir.passes.ttir import ttir_value_forms_movement

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from xdsl.dialects.builtin import DenseArrayBase, IntegerType
    from xdsl.ir import Attribute, Operation, SSAValue

    from ttmlir.ir.greedy_rewriting import GreedyRewriter, Rule


def fold(op: Operation) -> SSAValue | Attribute | None:
    """What the result of an operation is without it; None if it is needed."""
    if op.name in _VANISHES_WHERE_EQUAL and op.operands[0].type == op.results[0].type:
        if op.name != "ttir.permute" or _is_identity(op):
            return op.operands[0]
    if op.name in ("ttir.reshape", "ttir.broadcast"):
        found = _fold_splat(op)
        if found is not None:
            return found
    return ttir_value_forms_movement.fold(op)


_VANISHES_WHERE_EQUAL = frozenset(
    ("ttir.reshape", "ttir.broadcast", "ttir.typecast", "ttir.permute", "ttir.repeat")
)
"""Operations that change nothing where the types of operand and result are equal."""


def _is_identity(op: Operation) -> bool:
    order = cast("DenseArrayBase[IntegerType]", op.properties["permutation"]).get_values()
    return tuple(order) == tuple(range(len(order)))


def _fold_splat(op: Operation) -> Attribute | None:
    """A constant of one number in another shape is a constant."""
    elements = constant_elements(op.operands[0])
    if not isinstance(elements, DenseIntOrFPElementsAttr):
        return None
    return reshaped(cast("Elements", elements), value_shape(op.results[0]))


def reshaped(elements: Elements, shape: Sequence[int]) -> Elements | None:
    """A constant of one number in another shape; None for several numbers."""
    number = splat_bytes(elements)
    if number is None:
        return None
    type_ = cast("ElementsType", TensorType(elements.get_element_type(), shape))
    return elements_attr(type_, number)


def _reshape(op: Operation, rewriter: GreedyRewriter) -> bool:
    """A reshape after another is one."""
    inner = op.operands[0].owner
    if getattr(inner, "name", "") != "ttir.reshape":
        return False
    rewriter.set_operand(op, 0, cast("Operation", inner).operands[0])
    rewriter.add(cast("Operation", inner))
    return True


RULES: Mapping[str, Sequence[Rule]] = {
    "ttir.reshape": (_reshape,),
    **ttir_value_forms_movement.RULES,
}
"""Rules by the name of the operation."""
