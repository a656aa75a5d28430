"""What the branches of the cf dialect hand to the blocks that they go to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from xdsl.dialects import cf
from xdsl.ir import Operation, SSAValue


def branch_fault(op: Operation) -> str | None:
    """MLIR's words for operands that are not the arguments of a successor; None if all fit."""
    operands_of = _OPERANDS.get(type(op))
    if operands_of is None:
        return None
    for number, (block, operands) in enumerate(zip(op.successors, operands_of(op), strict=True)):
        if len(operands) != len(block.args):
            return (
                f"branch has {len(operands)} operands for successor #{number}, but target block "
                f"has {len(block.args)}"
            )
        for index, (operand, argument) in enumerate(zip(operands, block.args, strict=True)):
            if operand.type != argument.type:
                return f"type mismatch for bb argument #{index} of successor #{number}"
    return None


def _of_jump(op: Operation) -> Sequence[Sequence[SSAValue]]:
    return (op.operands,)


def _of_condition(op: Operation) -> Sequence[Sequence[SSAValue]]:
    branch = cast("cf.ConditionalBranchOp", op)
    return branch.then_arguments, branch.else_arguments


def _of_switch(op: Operation) -> Sequence[Sequence[SSAValue]]:
    switch = cast("cf.SwitchOp", op)
    return switch.default_operands, *switch.case_operand


_OPERANDS: dict[type[Operation], Callable[[Operation], Sequence[Sequence[SSAValue]]]] = {
    cf.BranchOp: _of_jump,
    cf.ConditionalBranchOp: _of_condition,
    cf.SwitchOp: _of_switch,
}
