"""Folds over parameter packs, and how many elements these have."""

from __future__ import annotations

from functools import reduce
from typing import cast

from ttmlir.cpp import tree
from ttmlir.cpp.types import BOOL, UNSIGNED, VOID
from ttmlir.sim.kernels.context import Context
from ttmlir.sim.kernels.python import code
from ttmlir.sim.kernels.scope import InScope, Pack
from ttmlir.sim.kernels.templates.packs import expand_pattern, find_packs
from ttmlir.sim.kernels.value import Value, make_integer

_EMPTY = {"&&": True, "||": False}


def evaluate_fold(context: Context, node: tree.Fold) -> Value:
    """`(xs + ...)` and its like (C++17, [expr.prim.fold])."""
    pattern, start, leftward = node.pattern, node.start, node.leftward
    if start is not None and not find_packs(context, pattern):
        pattern, start, leftward = start, pattern, True
    parts: list[tree.Expression] = [
        cast("tree.Expression", each) for each in expand_pattern(context, pattern, node)
    ]
    if start is not None:
        parts = [start, *parts] if leftward else [*parts, start]
    if not parts:
        if node.operator in _EMPTY:
            return make_integer(_EMPTY[node.operator], BOOL)
        if node.operator == ",":
            return Value(VOID, code.constant(None))
        raise context.error(node, f"a fold over '{node.operator}' needs at least one element")

    def join(a: tree.Expression, b: tree.Expression) -> tree.Expression:
        return tree.BinaryOperation(node.operator, a, b, position=node.position)

    if leftward:
        return context.evaluate(reduce(join, parts))
    return context.evaluate(reduce(lambda a, b: join(b, a), reversed(parts)))


def evaluate_count(context: Context, node: tree.CountOf) -> Value:
    """`sizeof...(xs)`."""
    symbol = context.scope.find(node.pack)
    if not isinstance(symbol, Pack):
        raise context.error(node, f"'{node.pack}' is no parameter pack")
    return make_integer(len(symbol.symbols), UNSIGNED)


def evaluate_in_scope(context: Context, node: InScope) -> Value:
    """An expression whose names mean what they do in a scope of its own."""
    outer, context.scope = context.scope, node.scope
    value = context.evaluate(cast("tree.Expression", node.node))
    context.scope = outer
    return value
