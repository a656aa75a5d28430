"""Blocks, expressions as statements, `return`."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from ttmlir.cpp import tree
from ttmlir.cpp.types import VOID, PointerType, StructType
from ttmlir.sim.kernels.context import Context
from ttmlir.sim.kernels.expressions.assignments import prepare_assignment, prepare_update
from ttmlir.sim.kernels.expressions.conversions import convert_implicitly
from ttmlir.sim.kernels.expressions.evaluating import evaluate_scalar
from ttmlir.sim.kernels.expressions.library_calls import (
    build_library_call,
    evaluate_arguments,
    find_library_call,
)
from ttmlir.sim.kernels.expressions.printing import find_printed
from ttmlir.sim.kernels.library import LibraryCall
from ttmlir.sim.kernels.place import build_assignment
from ttmlir.sim.kernels.python import code
from ttmlir.sim.kernels.scope import Scope
from ttmlir.sim.kernels.value import settle


def execute_block(context: Context, node: tree.Block) -> None:
    """Compile statements in a scope of their own."""
    outer = context.scope
    context.scope = Scope(outer)
    for each in node.statements:
        context.execute(each)
    context.scope = outer


def execute_evaluation(context: Context, node: tree.Evaluate) -> None:
    """Compile an expression that is a statement."""
    execute_effect(context, node.expression)


def execute_effect(context: Context, node: tree.Expression) -> None:
    """Compile an expression whose value nobody wants."""
    match node:
        case tree.BinaryOperation(operator=","):
            execute_effect(context, node.left)
            execute_effect(context, node.right)
        case tree.Assign():
            _execute_assignment(context, node)
        case tree.Update():
            setup, place, _, new = prepare_update(context, node)
            emit_setup(context, setup, node)
            context.emit(build_assignment(place, new), node.position)
        case tree.Conditional():
            then, otherwise = (
                tree.Block((tree.Evaluate(each, position=each.position),), position=each.position)
                for each in (node.true_value, node.false_value)
            )
            context.execute(tree.If(node.condition, then, otherwise, position=node.position))
        case _:
            _execute_call(context, node)


def _execute_assignment(context: Context, node: tree.Assign) -> None:
    setup, place, value = prepare_assignment(context, node)
    emit_setup(context, setup, node)
    context.emit(build_assignment(place, value), node.position)


def emit_setup(context: Context, setup: Sequence[ast.expr], node: tree.Node) -> None:
    """Emit what has to happen first."""
    for each in setup:
        context.emit(ast.Expr(each), node.position)


def _execute_call(context: Context, node: tree.Expression) -> None:
    shown = find_printed(context, node)
    if shown is not None:
        context.emit(ast.Expr(code.call(context.unit.bind("dprint"), *shown)), node.position)
        return
    found = find_library_call(context, node)
    if found is not None and found.waits:
        assert isinstance(node, tree.FunctionCall)
        _emit_wait(context, node, found)
        return
    value = context.evaluate(node)
    for each in _split_parts(value.node):
        if context.unit.has_effect(each):
            context.emit(ast.Expr(each), node.position)


def _emit_wait(context: Context, node: tree.FunctionCall, found: LibraryCall) -> None:
    arguments = [
        _evaluate_once(context, each, node)
        for each in evaluate_arguments(context, node, found.name)
    ]
    context.waits += 1
    context.emit(code.wait_for(build_library_call(context, node, found, arguments)), node.position)


def _evaluate_once(context: Context, argument: ast.expr, node: tree.Node) -> ast.expr:
    if code.is_stable(argument) or isinstance(argument, ast.Constant):
        return argument
    identifier = context.unit.create_name("argument", "t")
    context.emit(code.assign(code.name(identifier), argument), node.position)
    return code.name(identifier)


def execute_return(context: Context, node: tree.Return) -> None:
    """Compile a `return`."""
    if node.value is None:
        if context.result not in (VOID, None):
            raise context.error(node, "'return' needs a value here")
        context.result = VOID
        context.emit(ast.Return(None), node.position)
        return
    if context.result == VOID:
        raise context.error(node, "a function without result returns a value here")
    value = evaluate_scalar(context, node.value)
    target = value.type if context.result is None else context.result
    value = settle(convert_implicitly(context, value, target, node.value))
    if context.result is None:
        context.result = value.type
    if isinstance(value.type, PointerType):
        known = context.result_space
        context.result_space = value.space if known is None else known.join(value.space)
    if isinstance(value.type, StructType):
        value = replace(value, node=code.call("_copied", value.node))
    context.emit(ast.Return(value.node), node.position)


def _split_parts(node: ast.expr) -> Sequence[ast.expr]:
    """What an expression without wanted value consists of."""
    match node:
        case ast.Subscript(value=ast.Tuple(elts=parts)):
            return parts
        case _:
            return [node]
