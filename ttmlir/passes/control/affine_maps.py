"""Maps and sets of affine as operations of arith."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerAttr
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineConstraintKind,
    AffineDimExpr,
    AffineSymExpr,
)

from ttmlir.ir.rewriting import insert_before, replace

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from xdsl.dialects import affine
    from xdsl.ir import Operation, SSAValue
    from xdsl.ir.affine import AffineExpr, AffineMap, AffineSet

_KINDS = {
    AffineBinaryOpKind.Add: arith.AddiOp,
    AffineBinaryOpKind.Mul: arith.MuliOp,
    AffineBinaryOpKind.FloorDiv: arith.FloorDivSIOp,
    AffineBinaryOpKind.CeilDiv: arith.CeilDivSIOp,
}
_PREDICATES = {
    AffineConstraintKind.eq: "eq",
    AffineConstraintKind.ge: "sge",
    AffineConstraintKind.le: "sle",
}


def create_place(before: Operation, number: int) -> SSAValue:
    """A constant of type `index`."""
    return _add(before, arith.ConstantOp(IntegerAttr(number, IndexType())))


def results_of_map(
    before: Operation, map: AffineMap, operands: Sequence[SSAValue]
) -> list[SSAValue]:
    """What a map makes of its dimensions and symbols."""
    return [_compute(before, each, operands, map.num_dims) for each in map.results]


def combine(
    before: Operation,
    function: Callable[[SSAValue, SSAValue], Operation],
    values: Sequence[SSAValue],
) -> SSAValue:
    """What a function of two numbers makes of all numbers."""
    first, *others = values
    for other in others:
        first = _add(before, function(first, other))
    return first


def apply_map(op: Operation) -> None:
    """Replace an `affine.apply`."""
    apply = cast("affine.ApplyOp", op)
    replace(op, *results_of_map(op, apply.map.data, op.operands))


def apply_minimum(op: Operation) -> None:
    """Replace an `affine.min`."""
    minimum = cast("affine.MinOp", op)
    numbers = results_of_map(op, minimum.map.data, op.operands)
    replace(op, combine(op, arith.MinSIOp, numbers))


def holds(before: Operation, set: AffineSet, operands: Sequence[SSAValue]) -> SSAValue:
    """Whether all conditions of a set are true."""
    truths: list[SSAValue] = []
    for each in set.constraints:
        left, right = (
            _compute(before, side, operands, set.num_dims) for side in (each.lhs, each.rhs)
        )
        truths.append(_add(before, arith.CmpiOp(left, right, _PREDICATES[each.kind])))
    return combine(before, arith.AndIOp, truths)


def _compute(
    before: Operation, expression: AffineExpr, operands: Sequence[SSAValue], dims: int
) -> SSAValue:
    match expression:
        case AffineConstantExpr(value=number):
            return create_place(before, number)
        case AffineDimExpr(position=position):
            return operands[position]
        case AffineSymExpr(position=position):
            return operands[dims + position]
        case AffineBinaryOpExpr(kind=kind, lhs=lhs, rhs=rhs):
            left, right = (_compute(before, each, operands, dims) for each in (lhs, rhs))
            if kind in _KINDS:
                return _add(before, _KINDS[kind](left, right))
            # What a division that rounds down leaves.
            quotient = _add(before, arith.FloorDivSIOp(left, right))
            whole = _add(before, arith.MuliOp(quotient, right))
            return _add(before, arith.SubiOp(left, whole))
        case _:
            raise AssertionError(f"an affine expression is {expression}")


def _add(before: Operation, op: Operation) -> SSAValue:
    op.location = before.location
    insert_before(before, op)
    return op.results[0]
