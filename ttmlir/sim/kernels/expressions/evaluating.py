"""Values of expressions where something is wanted of them."""

from __future__ import annotations

from ttmlir.cpp import tree
from ttmlir.cpp.conversions import is_scoped
from ttmlir.cpp.types import NULL, VOID, ArrayType, IntType, ObjectType, StructType
from ttmlir.sim.kernels.context import Context
from ttmlir.sim.kernels.value import Value, convert_to_bool, settle


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
    number = evaluate_number(context, node, what, scoped=scoped).constant
    if number is None:
        raise context.error(node, f"{what} has to be a constant expression")
    return int(number)


def evaluate_condition(context: Context, node: tree.Expression) -> Value:
    """The value of an expression as `bool`."""
    value = evaluate_scalar(context, node)
    is_enumerator = is_scoped(value.type) and value.type != NULL
    if isinstance(value.type, (StructType, ObjectType, ArrayType)) or is_enumerator:
        raise context.error(node, f"'{value.type.name}' is no condition")
    value = convert_to_bool(value)
    context.unit.locate(value.node, node.position)
    return value
