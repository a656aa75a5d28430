"""Calls, whatever is called."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ttmlir.cpp import tree
from ttmlir.cpp.types import ObjectType
from ttmlir.sim.kernels.context import Context
from ttmlir.sim.kernels.enumerators import strip_namespaces
from ttmlir.sim.kernels.expressions.build_facts import BUILT
from ttmlir.sim.kernels.expressions.casts import cast_functionally, evaluate_bit_cast
from ttmlir.sim.kernels.expressions.library_calls import (
    call_library,
    call_method,
    evaluate_assertion,
    evaluate_compile_time_argument,
    evaluate_extreme,
    evaluate_named_compile_time_argument,
)
from ttmlir.sim.kernels.expressions.memory_calls import MEMORY
from ttmlir.sim.kernels.expressions.own_calls import call_own_function
from ttmlir.sim.kernels.scope import Functions, Variable
from ttmlir.sim.kernels.value import Value


def evaluate_call(context: Context, node: tree.FunctionCall) -> Value:
    """A call for its value."""
    if isinstance(node.callee, tree.Member):
        return call_method(context, node, node.callee)
    special = SPECIAL.get(strip_namespaces(node.callee.text))
    symbol = context.unit.find(node.callee.text, context.scope)
    if symbol is None and special is not None:
        return special(context, node)
    match symbol:
        case Functions():
            return call_own_function(context, node, symbol)
        case Variable():
            raise context.error(node, f"'{symbol.name}' is a variable and cannot be called")
        case _:
            pass
    found = context.unit.find_type(node.callee.text, context.scope)
    if found is not None and not isinstance(found.type, ObjectType):
        return cast_functionally(context, node, found.type)
    return call_library(context, node, node.callee.text)


SPECIAL: Mapping[str, Callable[[Context, tree.FunctionCall], Value]] = {
    **BUILT,
    **MEMORY,
    "ASSERT": evaluate_assertion,
    "get_compile_time_arg_val": evaluate_compile_time_argument,
    "get_named_compile_time_arg_val": evaluate_named_compile_time_argument,
    "bit_cast": evaluate_bit_cast,
    "min": evaluate_extreme,
    "max": evaluate_extreme,
}
"""Calls that the compiler knows."""
