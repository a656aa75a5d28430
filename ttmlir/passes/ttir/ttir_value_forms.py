"""Canonical forms of ttir operations that make their results, for the pass `canonicalize`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, cast

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, IntegerType, TensorType

from ttmlir.dialects.ttir import ElementwiseOp
from ttmlir.ir.constants import number_of_elements
from ttmlir.ir.greedy_rewriting import constant_value
from ttmlir.ir.tensor_types import element_type, limits_of, tensor_of, value_shape
from ttmlir.mlir.attributes import Elements, ElementsType, elements_attr, elements_of, splat_bytes
from ttmlir.passes.ttir import ttir_value_forms_movement

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from xdsl.dialects.builtin import DenseArrayBase
    from xdsl.ir import Attribute, Operation, SSAValue

    from ttmlir.ir.greedy_rewriting import GreedyRewriter, Rule


def fold(op: Operation) -> SSAValue | Attribute | None:
    """What the result of an operation is without it; None if it is needed."""
    if op.name in _VANISHES_WHERE_EQUAL and op.operands[0].type == op.results[0].type:
        if op.name != "ttir.permute" or _is_identity(op):
            return op.operands[0]
    if op.name in ("ttir.reshape", "ttir.broadcast", "ttir.permute"):
        return _fold_moved(op)
    return _fold_elementwise(op)


_VANISHES_WHERE_EQUAL = frozenset(
    ("ttir.reshape", "ttir.broadcast", "ttir.typecast", "ttir.permute", "ttir.repeat")
)
"""Operations that change nothing where the types of operand and result are equal."""


def _is_identity(op: Operation) -> bool:
    order = cast("DenseArrayBase[IntegerType]", op.properties["permutation"]).get_values()
    return tuple(order) == tuple(range(len(order)))


def elements_known(value: SSAValue) -> Elements | None:
    """The elements of a constant of any form; None for other values."""
    owner = value.owner
    found = constant_value(cast("Operation", owner)) if hasattr(owner, "properties") else None
    return cast("Elements", found) if isinstance(found, DenseIntOrFPElementsAttr) else None


def _fold_moved(op: Operation) -> Attribute | None:
    """A constant of one number in another shape is a constant; so is one that is reshaped."""
    elements = elements_known(op.operands[0])
    if elements is None:
        return None
    number = splat_bytes(elements)
    if number is None:
        return None
    shape = value_shape(op.results[0])
    return elements_attr(
        cast("ElementsType", TensorType(elements.get_element_type(), shape)), number
    )


def _fold_elementwise(op: Operation) -> Attribute | None:
    """What is computed of constants of one number is such a constant."""
    if not isinstance(op, ElementwiseOp) or not op.operands or len(op.results) != 1:
        return None
    numbers: list[float] = []
    for operand in op.operands:
        elements = elements_known(operand)
        number = None if elements is None else number_of_elements(elements)
        if number is None:
            return None
        numbers.append(number)
    element = element_type(op.results[0])
    if op.DEFINITION.gives_truth:
        return None
    if op.name not in ("ttir.typecast", "ttir.clamp") and isinstance(element, IntegerType):
        return None
    found = _compute(op, numbers)
    if found is None or (isinstance(element, IntegerType) and not math.isfinite(found)):
        return None
    type_ = cast("ElementsType", tensor_of(element_type(op.results[0]), value_shape(op.results[0])))
    if isinstance(element, IntegerType):
        low, high = limits_of(type_.get_element_type())
        return elements_of(type_, [int(min(max(found, low), high))])
    return elements_of(type_, [float(found)])


def _compute(op: ElementwiseOp, numbers: Sequence[float]) -> float | None:
    """The number that the operation makes of numbers, in 64 bits."""
    import numpy as np

    if op.name == "ttir.typecast":
        return numbers[0]
    arrays: list[Any] = [np.asarray(number, "f8") for number in numbers]
    with np.errstate(all="ignore"):
        try:
            return float(op.DEFINITION.reference(np, *arrays, **op.parameters()))
        except (TypeError, ValueError):
            return None


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
