"""Operators that change nothing."""

from __future__ import annotations

import ast
from typing import cast

from ttmlir.cpp import tree
from ttmlir.cpp.conversions import is_scoped
from ttmlir.cpp.types import (
    BOOL,
    INT,
    NULL,
    VOID,
    CType,
    EnumType,
    FloatType,
    FunctionType,
    IntType,
    PointerType,
    StructType,
)
from ttmlir.sim.kernels.context import Context
from ttmlir.sim.kernels.expressions.conversions import unify_types
from ttmlir.sim.kernels.expressions.evaluating import evaluate_condition
from ttmlir.sim.kernels.expressions.places import (
    evaluate_place,
    find_place,
    look_at,
    look_for_value,
    read_place,
)
from ttmlir.sim.kernels.expressions.pointers import operate_on_pointer, take_address
from ttmlir.sim.kernels.place import Place
from ttmlir.sim.kernels.python import code
from ttmlir.sim.kernels.scope import Evaluated
from ttmlir.sim.kernels.value import (
    Value,
    apply_binary,
    apply_unary,
    build_condition,
    settle,
)


def has_own_operators(type_: CType) -> bool:
    """Whether an operator on a value may be one of the kernel's own."""
    return isinstance(type_, (StructType, EnumType)) and type_ != NULL


def evaluate_unary(context: Context, node: tree.Unary) -> Value:
    """A prefix operator."""
    match node.operator:
        case "*":
            return evaluate_place(context, node)
        case "&":
            return _evaluate_address(context, node)
        case operator:
            found = look_for_value(context, node.operand)
            if has_own_operators(found.type):
                own = context.handlers.call_operator(
                    context, f"operator{operator}", (node.operand,), node, (found,)
                )
                if own is not None:
                    return own if isinstance(own, Value) else read_place(context, own)
            value = found if isinstance(found, Value) else read_place(context, found)
            if value.type == VOID:
                raise context.error(node.operand, "this has no value")
            if isinstance(value.type, StructType):
                value = _convert_operand(context, value, operator, node)
            result = None if is_scoped(value.type) else apply_unary(operator, value)
            if result is None:
                message = f"'{operator}' does not go with '{value.type.name}'"
                raise context.error(node, message)
            return result


def _convert_operand(context: Context, value: Value, operator: str, node: tree.Node) -> Value:
    """An object as what it converts to, if an operator takes that."""
    wanted = BOOL if operator in ("!", "&&", "||") else INT
    converted = context.handlers.convert_object(context, value, wanted, node)
    if converted is None:
        message = f"'{operator}' does not go with '{value.type.name}'"
        raise context.error(node, message)
    return converted


def _evaluate_address(context: Context, node: tree.Unary) -> Value:
    """`&place`, or the address of a function, which is the function."""
    found = look_at(context, node.operand)
    if isinstance(found, Value) and isinstance(found.type, FunctionType):
        return found
    place = find_place(context, node.operand) if isinstance(found, Value) else found
    return take_address(context, place, node)


def evaluate_binary(context: Context, node: tree.BinaryOperation) -> Value:
    """A binary operator."""
    match node.operator:
        case ",":
            return _evaluate_comma(context, node)
        case "&&" | "||":
            return _evaluate_logical(context, node)
        case operator:
            left, right = look_for_value(context, node.left), look_for_value(context, node.right)
            if has_own_operators(left.type) or has_own_operators(right.type):
                own = _operate_on_objects(context, node, left, right)
                if own is not None:
                    return own
            a, b = (
                _read_operand(context, left, node.left),
                _read_operand(context, right, node.right),
            )
            return operate(context, operator, a, b, node)


def _read_operand(context: Context, found: Place | Value, node: tree.Expression) -> Value:
    value = found if isinstance(found, Value) else read_place(context, found)
    if value.type == VOID:
        raise context.error(node, "this has no value")
    return value


def _operate_on_objects(
    context: Context, node: tree.BinaryOperation, left: Place | Value, right: Place | Value
) -> Value | None:
    """A binary operator of the kernel's own, or on what objects convert to."""
    operands = (node.left, node.right)
    found = (left, right)
    name = f"operator{node.operator}"
    own = context.handlers.call_operator(context, name, operands, node, found)
    if own is None and node.operator == "!=":
        equal = context.handlers.call_operator(context, "operator==", operands, node, found)
        if equal is not None:
            value = equal if isinstance(equal, Value) else read_place(context, equal)
            return apply_unary("!", value)
    if own is not None:
        return own if isinstance(own, Value) else read_place(context, own)
    values = [_read_operand(context, each, node) for each in found]
    if not any(isinstance(each.type, StructType) for each in values):
        return None
    for number, each in enumerate(values):
        if isinstance(each.type, StructType):
            other = values[1 - number].type
            wanted = other if isinstance(other, (IntType, FloatType)) else INT
            converted = context.handlers.convert_object(context, each, wanted, node)
            if converted is None:
                return None
            values[number] = converted
    return operate(context, node.operator, values[0], values[1], node)


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
    if context.unit.classes:
        found = tuple(look_for_value(context, each) for each in (node.left, node.right))
        if any(has_own_operators(each.type) for each in found):
            own = context.handlers.call_operator(
                context, f"operator{node.operator}", (node.left, node.right), node, found
            )
            if own is not None:
                return own if isinstance(own, Value) else read_place(context, own)
        left, right = (
            evaluate_condition(
                context, cast("tree.Expression", Evaluated(each, position=side.position))
            )
            for each, side in zip(found, (node.left, node.right), strict=True)
        )
    else:
        left, right = (evaluate_condition(context, each) for each in (node.left, node.right))
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
