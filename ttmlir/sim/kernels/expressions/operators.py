"""Operators that change nothing."""

from __future__ import annotations

import ast

from ttmlir.cpp import tree
from ttmlir.cpp.conversions import is_scoped
from ttmlir.cpp.types import BOOL, NULL, CType, IntType, PointerType
from ttmlir.sim.kernels.context import Context
from ttmlir.sim.kernels.expressions.conversions import unify_types
from ttmlir.sim.kernels.expressions.evaluating import evaluate_condition, evaluate_scalar
from ttmlir.sim.kernels.expressions.places import find_place, read_place
from ttmlir.sim.kernels.expressions.pointers import operate_on_pointer, take_address
from ttmlir.sim.kernels.place import EitherPlace, MemoryPlace
from ttmlir.sim.kernels.python import code
from ttmlir.sim.kernels.value import (
    Value,
    apply_binary,
    apply_unary,
    build_condition,
    reinterpret_bits,
    settle,
)


def evaluate_unary(context: Context, node: tree.Unary) -> Value:
    """A prefix operator."""
    match node.operator:
        case "*":
            return _read_punned(context, node.operand) or read_place(
                context, find_place(context, node)
            )
        case "&":
            return take_address(context, find_place(context, node.operand), node)
        case operator:
            value = evaluate_scalar(context, node.operand)
            result = None if is_scoped(value.type) else apply_unary(operator, value)
            if result is None:
                message = f"'{operator}' does not go with '{value.type.name}'"
                raise context.error(node, message)
            return result


def _read_punned(context: Context, node: tree.Expression) -> Value | None:
    """A local number read through a pointer to another type: `*(uint32_t*)&x`."""
    match node:
        case tree.Cast(
            type=tree.Pointer(pointee=pointee), value=tree.Unary(operator="&", operand=operand)
        ):
            place = find_place(context, operand)
            target = context.unit.resolve_type(pointee, context.scope).type
            if isinstance(place, (MemoryPlace, EitherPlace)) or place.type == target:
                return None
            return reinterpret_bits(read_place(context, place), target)
        case _:
            return None


def evaluate_binary(context: Context, node: tree.BinaryOperation) -> Value:
    """A binary operator."""
    match node.operator:
        case ",":
            return _evaluate_comma(context, node)
        case "&&" | "||":
            return _evaluate_logical(context, node)
        case _:
            left, right = evaluate_scalar(context, node.left), evaluate_scalar(context, node.right)
            return operate(context, node.operator, left, right, node)


def operate(context: Context, operator: str, left: Value, right: Value, node: tree.Node) -> Value:
    """A binary operator, on pointers too."""
    if isinstance(left.type, PointerType) or isinstance(right.type, PointerType):
        result = operate_on_pointer(context, operator, left, right, node)
    elif not _may_compute(operator, left.type, right.type):
        result = None
    else:
        _refuse_undefined(context, operator, left, right, node)
        result = apply_binary(operator, left, right)
    if result is None:
        message = f"'{operator}' does not go with '{left.type.name}' and '{right.type.name}'"
        raise context.error(node, message)
    return result


def _may_compute(operator: str, left: CType, right: CType) -> bool:
    """Whether an operator computes with numbers of these types; scoped enumerators compare only."""
    if not is_scoped(left) and not is_scoped(right):
        return True
    return left == right and operator in (("==", "!=") if left == NULL else code.COMPARE)


def _refuse_undefined(
    context: Context, operator: str, left: Value, right: Value, node: tree.Node
) -> None:
    ints = isinstance(left.type, IntType) and isinstance(right.type, IntType)
    if operator in ("/", "%") and ints and right.constant == 0:
        raise context.error(node, "division by zero")


def _evaluate_logical(context: Context, node: tree.BinaryOperation) -> Value:
    left, right = evaluate_condition(context, node.left), evaluate_condition(context, node.right)
    decisive = node.operator == "||"
    if left.constant is not None:
        return left if bool(left.constant) == decisive else right
    if right.constant is not None and bool(right.constant) != decisive:
        return left
    operator = ast.Or() if decisive else ast.And()
    if isinstance(left.node, ast.BoolOp) and isinstance(left.node.op, type(operator)):
        return Value(BOOL, ast.BoolOp(operator, [*left.node.values, right.node]), 0, 1)
    return Value(BOOL, ast.BoolOp(operator, [left.node, right.node]), 0, 1)


def _evaluate_comma(context: Context, node: tree.BinaryOperation) -> Value:
    left, right = context.evaluate(node.left), context.evaluate(node.right)
    if not context.unit.has_effect(left.node):
        return right
    right = settle(right)
    joined = code.last_of(left.node, right.node)
    return Value(right.type, joined, right.low, right.high)


def evaluate_conditional(context: Context, node: tree.Conditional) -> Value:
    """`a ? b : c`."""
    condition = evaluate_condition(context, node.condition)
    a, b = context.evaluate(node.true_value), context.evaluate(node.false_value)
    a, b = unify_types(context, a, b, node)
    if condition.constant is not None:
        return a if condition.constant else b
    choice = code.choice(build_condition(condition), a.node, b.node)
    space = a.space.join(b.space)
    return Value(a.type, choice, min(a.low, b.low), max(a.high, b.high), space)
