"""The places that `(f(), x)`, `(x = 1)`, `++x`, and casts and choices of them mean."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import cast

from ttmlir.cpp import tree
from ttmlir.sim.kernels.context import Context
from ttmlir.sim.kernels.expressions.lvalues import has_address, look_at, read_lvalue, stabilize
from ttmlir.sim.kernels.scope import Evaluated, InScope, find_reference
from ttmlir.sim.kernels.value import Lvalue, Value

WITHOUT_EFFECT = (tree.Integer, tree.Floating, tree.Boolean)
"""Operands that are there by mistake before a comma."""


def name_found(found: Lvalue | Value, position: tree.Position | None) -> tree.Expression:
    """An expression that means what was found already."""
    return cast("tree.Expression", Evaluated(found, position=position))


def acts_first(node: tree.Expression) -> bool:
    """Whether something happens before the place is there that an expression means."""
    match node:
        case tree.Assign() | tree.Update(postfix=False) | tree.BinaryOperation(operator=","):
            return True
        case tree.Cast(value=inner):
            return acts_first(inner)
        case tree.Conditional(true_value=a, false_value=b):
            return acts_first(a) or acts_first(b)
        case _:
            return False


def look_at_last(context: Context, node: tree.Expression, setup: list[ast.expr]) -> Lvalue | Value:
    """The place of what acts first, or the value of what has none.

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
            return _look_at_other(context, node, setup)
    done = found if isinstance(found, Value) else read_lvalue(context, found)
    if context.unit.has_effect(done.node):
        setup.append(done.node)
    return look_at_last(context, last, setup)


def _look_at_other(
    context: Context, node: tree.Expression, setup: list[ast.expr]
) -> Lvalue | Value:
    match node:
        case tree.Cast(type=type_, value=inner) if acts_first(inner) and find_reference(
            type_, context.scope
        ):
            known = name_found(look_at_last(context, inner, setup), inner.position)
            return look_at(context, replace(node, value=known))
        case tree.Conditional() if acts_first(node):
            return _choose(context, node)
        case _:
            return look_at(context, node)


def _choose(context: Context, node: tree.Conditional) -> Lvalue | Value:
    """`c ? ++a : b` as `*(c ? &++a : &b)`, if both are places of one type."""
    values = (node.true_value, node.false_value)
    with context.unit.looking():
        found = [look_at_last(context, each, []) for each in values]
    if not all(map(has_address, found)) or found[0].type != found[1].type:
        return look_at(context, node)
    a, b = (tree.Unary("&", each, position=each.position) for each in values)
    pointer = replace(node, true_value=a, false_value=b)
    return look_at(context, tree.Unary("*", pointer, position=node.position))
