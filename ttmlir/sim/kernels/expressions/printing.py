"""What `DPRINT` prints."""

from __future__ import annotations

import ast

from ttmlir.cpp import tree
from ttmlir.cpp.conversions import is_scoped
from ttmlir.cpp.types import BOOL, CHAR, INT, FloatType, IntType, PointerType, StringType
from ttmlir.sim.kernels.context import Context
from ttmlir.sim.kernels.expressions.evaluating import evaluate_constant, evaluate_scalar
from ttmlir.sim.kernels.expressions.pointers import take_memory_address
from ttmlir.sim.kernels.python import code
from ttmlir.sim.kernels.value import Space, convert, convert_to_unsigned, settle

_WIDEST = 255
"""What SETW takes at most: it keeps the width in a `char`."""


_DPRINT = "DPRINT"


_BASES = {"HEX": 16, "DEC": 10, "OCT": 8}


def find_printed(context: Context, node: tree.Expression) -> list[ast.expr] | None:
    """The values that `DPRINT << a << b` prints; None if an expression is none."""
    parts = list[tree.Expression]()
    while isinstance(node, tree.BinaryOperation) and node.operator == "<<":
        parts.append(node.right)
        node = node.left
    if not isinstance(node, tree.Name) or node.text != _DPRINT:
        return None
    base, width = 10, 0
    shown = list[ast.expr]()
    for each in reversed(parts):
        name = (
            each.callee.text
            if isinstance(each, tree.FunctionCall) and isinstance(each.callee, tree.Name)
            else ""
        )
        if name in _BASES:
            base = _BASES[name]
        elif name == "ENDL":
            shown.append(code.constant("\n"))
        elif name == "SETW" and isinstance(each, tree.FunctionCall):
            width = _evaluate_width(context, each)
        else:
            shown.append(_show_value(context, each, base, width))
            width = 0
    return shown


def _evaluate_width(context: Context, node: tree.FunctionCall) -> int:
    if len(node.arguments) != 1 or isinstance(node.arguments[0], tree.Braces):
        raise context.error(node, "SETW takes one number")
    width = evaluate_constant(context, node.arguments[0], "a width")
    if not 0 <= width <= _WIDEST:
        raise context.error(node, f"a width of {width}; SETW takes 0 to {_WIDEST}")
    return width


def _show_value(context: Context, node: tree.Expression, base: int, width: int) -> ast.expr:
    value = settle(evaluate_scalar(context, node))
    match value.type:
        case type_ if is_scoped(type_):
            raise context.error(node, f"DPRINT does not print '{type_.name}'; cast it to a number")
        case IntType() if value.type == CHAR:
            return code.call("_character", value.node)
        case IntType() if base != 10 or width:
            number = convert_to_unsigned(value, max(value.type.bits, 8)) if base != 10 else value
            return code.call("_printed", number.node, code.constant(base), code.constant(width))
        case IntType() if value.type == BOOL:
            return (
                convert(value, INT).node
                if value.constant is None
                else code.constant(int(value.constant))
            )
        case IntType() | FloatType() | StringType():
            return value.node
        case PointerType() if value.space is not Space.LOCAL:
            return take_memory_address(context, value)
        case type_:
            raise context.error(node, f"DPRINT does not print '{type_.name}'")
