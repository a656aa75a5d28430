"""Addresses of functions in variables of the whole kernel, which tt-metal does not load."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ttmlir.cpp import tree
from ttmlir.cpp.types import (
    ArrayType,
    CType,
    PointerType,
    SignatureType,
    StructType,
    size_of,
)
from ttmlir.sim.kernels.context import Context
from ttmlir.sim.kernels.python.code import is_literal
from ttmlir.sim.kernels.unit import Unit
from ttmlir.sim.kernels.value import Value

_FILLED_IN_PLACE = 16
"""Bytes of initial values that the compiler writes one by one."""


def refuse_static_functions(context: Context, value: Value, node: tree.Declarator) -> None:
    """Refuse a variable of the whole kernel that starts with the address of a function."""
    if _holds_function(value.type, value.node):
        message = f"'{node.name}' starts with the address of a function, which tt-metal does not"
        raise context.error(
            node, f"{message} load ('unexpected dynamic relocations'); assign it in a function"
        )


def refuse_large_table(context: Context, value: Value, node: tree.Declarator) -> None:
    """Refuse a variable of a function that the compiler fills from static data."""
    size = size_of(value.type) or 0
    is_known = size > _FILLED_IN_PLACE and is_literal(value.node)
    if is_known and _holds_function(value.type, value.node):
        message = f"the {size} bytes of '{node.name}' are known and hold addresses of functions"
        raise context.error(
            node,
            f"{message}: more than {_FILLED_IN_PLACE} are copied from static data, which tt-metal "
            "does not load ('unexpected dynamic relocations'); assign the elements",
        )


def note_static_functions(
    context: Context, identifier: str, value: Value, node: tree.Declarator
) -> None:
    """Note a constant of the whole kernel that holds addresses of functions."""
    if _holds_function(value.type, value.node):
        context.unit.static_functions[identifier] = node


def _holds_function(type_: CType, node: ast.expr) -> bool:
    match type_, node:
        case PointerType(pointee=SignatureType()), ast.Constant(value=number):
            return bool(number)
        case ArrayType(element=element), ast.List(elts=parts):
            return any(_holds_function(element, each) for each in parts)
        case StructType(fields=fields, is_union=False), ast.List(elts=parts):
            pairs = zip(fields, parts, strict=False)
            return any(_holds_function(field.type, each) for field, each in pairs)
        case _:
            return False


def _list_reached(unit: Unit, entry: ast.FunctionDef) -> Iterator[ast.FunctionDef]:
    """The functions that the kernel may call, without those of constants alone."""
    known = dict(unit.by_name)
    pending = [entry]
    while pending:
        function = pending.pop()
        yield function
        names = {each.id for each in ast.walk(function) if isinstance(each, ast.Name)}
        pending += (known.pop(each) for each in names & known.keys())


def check_static_functions(unit: Unit, entry: ast.FunctionDef) -> None:
    """Refuse constants with addresses of functions that are looked at while the kernel runs."""
    if not unit.static_functions:
        return
    for function in _list_reached(unit, entry):
        for each in ast.walk(function):
            if isinstance(each, ast.Name) and each.id in unit.static_functions:
                node = unit.static_functions[each.id]
                message = f"'{node.name}' holds addresses of functions, and an element is taken"
                raise unit.error(
                    node,
                    f"{message} that is not known before: tt-metal does not load that from static "
                    "data ('unexpected dynamic relocations'); declare it in the function, "
                    "without 'static'",
                )
