"""The places that `(f(), x)`, `(x = 1)` and `++x` mean, after what happens first."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import cast

from ttmlir.cpp import tree
from ttmlir.sim.kernels.context import Context
from ttmlir.sim.kernels.expressions.lvalues import look_at, read_lvalue, stabilize
from ttmlir.sim.kernels.scope import Evaluated, InScope
from ttmlir.sim.kernels.value import Lvalue, Value

WITHOUT_EFFECT = (tree.Integer, tree.Floating, tree.Boolean)
"""Operands that are there by mistake before a comma."""


def name_found(found: Lvalue | Value, position: tree.Position | None) -> tree.Expression:
    """An expression that means what was found already."""
    return cast("tree.Expression", Evaluated(found, position=position))


def look_at_last(context: Context, node: tree.Expression, setup: list[ast.expr]) -> Lvalue | Value:
    """The place of `(f(), x)`, `(x = 1)` or `++x`, or the value of what has none.

    What happens first is added to `setup`.
    """
    match node:
        case InScope(node=inner, scope=scope):
            outer, context.scope = context.scope, scope
            found = look_at_last(context, cast("tree.Expression", inner), setup)
            context.scope = outer
            return found
        case Evaluated(found=found, setup=before):
            setup.extend(before)
            return found
        case tree.BinaryOperation(operator=",", left=first, right=last):
            if isinstance(first, WITHOUT_EFFECT) or context.unit.find("operator,", context.scope):
                return look_at(context, node)
            found = look_at(context, first)
        case tree.Assign(target=written) | tree.Update(operand=written, postfix=False):
            place = look_at_last(context, written, setup)
            if isinstance(place, Value):
                return look_at(context, node)
            last = name_found(stabilize(context, place, setup), written.position)
            is_assignment = isinstance(node, tree.Assign)
            found = context.handlers.change(
                context,
                replace(node, target=last) if is_assignment else replace(node, operand=last),
            )
            if not isinstance(found, Value):
                return found  # An operator of a class gives it.
        case _:
            return look_at(context, node)
    done = found if isinstance(found, Value) else read_lvalue(context, found)
    if context.unit.has_effect(done.node):
        setup.append(done.node)
    return look_at_last(context, last, setup)
