"""Values of expressions where something is wanted of them."""

from __future__ import annotations

import ast

from ttmlir.cpp import tree
from ttmlir.cpp.conversions import is_scoped
from ttmlir.cpp.types import BOOL, NULL, VOID, ArrayType, CType, IntType, ObjectType, StructType
from ttmlir.sim.kernels.context import Context
from ttmlir.sim.kernels.limits import MAX_FOLDED_STEPS
from ttmlir.sim.kernels.python import code
from ttmlir.sim.kernels.python.folding import TooManySteps, is_literal
from ttmlir.sim.kernels.python.names import PURE
from ttmlir.sim.kernels.value import Value, convert_to_bool, make_integer, settle


def evaluate_scalar(context: Context, node: tree.Expression) -> Value:
    """The value of an expression that has one."""
    value = context.evaluate(node)
    if value.type == VOID:
        raise context.error(node, "this has no value")
    return value


def evaluate_number(
    context: Context, node: tree.Expression, what: str, *, scoped: bool = False
) -> Value:
    """The value of an expression that has to be an integer, or with `scoped` an enumerator."""
    value = settle(context.evaluate(node))
    is_refused = value.type == NULL or (is_scoped(value.type) and not scoped)
    if not isinstance(value.type, IntType) or is_refused:
        raise context.error(node, f"{what} is an integer, not '{value.type.name}'")
    return value


def evaluate_constant(
    context: Context, node: tree.Expression, what: str, *, scoped: bool = False
) -> int:
    """The value of an expression that has to be a known integer, or with `scoped` enumerator."""
    value = evaluate_number(context, node, what, scoped=scoped)
    number = fold_constant(context, value).constant
    if number is None:
        raise context.error(node, f"{what} has to be a constant expression")
    return int(number)


def fold_constant(context: Context, value: Value) -> Value:
    """A value with what it is, if that can be found without running the kernel."""
    if is_literal(value.node):
        return value
    try:
        literal = context.unit.folder.fold(settle(value).node)
    except TooManySteps:
        assert context.unit.last is not None
        message = f"the constants of this kernel take more than {MAX_FOLDED_STEPS} steps"
        raise context.error(context.unit.last, message) from None
    if literal is None:
        return value
    return make_literal(value.type, literal)


def is_fixed_by_host(context: Context, value: Value) -> bool:
    """Whether a value follows from what the host sets up before the kernel runs."""
    fixed = {variable for variable, name in context.unit.bindings.items() if name in _FIXED_BY_HOST}
    if not fixed:
        return False
    return not code.has_effect(value.node, PURE | fixed)


_FIXED_BY_HOST = ("get_tile_size", "get_dataformat", "get_tile_hw")
"""Calls about what the host sets up; C++ knows their values when it compiles."""


def make_literal(type_: CType, literal: ast.expr) -> Value:
    """A value that is written with numbers only."""
    if not isinstance(literal, ast.Constant) or literal.value is None:
        return Value(type_, literal)
    number = literal.value
    if isinstance(type_, IntType) and isinstance(number, (int, float)):
        return make_integer(int(number), type_)
    return Value(type_, literal)


def evaluate_condition(context: Context, node: tree.Expression) -> Value:
    """The value of an expression as `bool`."""
    value = evaluate_scalar(context, node)
    is_enumerator = is_scoped(value.type) and value.type != NULL
    if isinstance(value.type, StructType):
        converted = context.handlers.convert_object(context, value, BOOL, node)
        value = converted or value
    if isinstance(value.type, (ObjectType, ArrayType, StructType)) or is_enumerator:
        raise context.error(node, f"'{value.type.name}' is no condition")
    value = convert_to_bool(value)
    context.unit.locate(value.node, node.position)
    return value
