"""`for`, `while` and `do`; those that count are in `counting`."""

from __future__ import annotations

import ast
from collections.abc import Callable

from ttmlir.cpp import tree
from ttmlir.sim.kernels.classes.destructors import ending_block, full_expression
from ttmlir.sim.kernels.context import Context, Loop
from ttmlir.sim.kernels.expressions.evaluating import evaluate_condition
from ttmlir.sim.kernels.python import code
from ttmlir.sim.kernels.scope import Scope
from ttmlir.sim.kernels.statements.counting import (
    execute_body,
    execute_counted_for,
    find_count,
    split_commas,
)
from ttmlir.sim.kernels.statements.declarations import execute_declaration
from ttmlir.sim.kernels.statements.plain import execute_block, execute_effect
from ttmlir.sim.kernels.value import build_condition


def execute_for(context: Context, node: tree.For) -> None:
    """Compile a `for`."""
    outer = context.scope
    context.scope = Scope(outer)
    count = find_count(context, node)
    with ending_block(context):
        if count is None or not execute_counted_for(context, node, count):
            _execute_general_for(context, node)
    context.scope = outer


def _execute_general_for(context: Context, node: tree.For) -> None:
    if isinstance(node.start, tree.Declaration):
        execute_declaration(context, node.start)
    elif node.start is not None:
        with full_expression(context):
            execute_effect(context, node.start.expression)
    parts = tuple(split_commas(node.step))

    def after() -> None:
        for each in parts:
            with full_expression(context):
                execute_effect(context, each)

    _repeat(context, node.condition, node.body, after, node)


def execute_while(context: Context, node: tree.While) -> None:
    """Compile a `while`."""
    _repeat(context, node.condition, node.body, lambda: None, node)


def _repeat(
    context: Context,
    condition: tree.Expression | None,
    block: tree.Block,
    after: Callable[[], None],
    node: tree.Node,
) -> None:
    loads, waits = context.loads, context.waits
    test = None if condition is None else evaluate_condition(context, condition)
    body = context.capture(lambda: execute_body(context, block, after))
    if test is not None and test.constant is not None and not test.constant:
        return
    forever = test is None or test.constant is not None
    body = _add_poll(context, body, loads, waits, forever, node)
    question = None if test is None or forever else build_condition(test)
    if context.waits > waits:
        question = code.constant(True) if question is None else question
        context.emit(ast.While(question, body, []), node.position)
        return
    if question is not None:
        body = [_build_exit(context, question, node.position), *body]
    context.emit(_limit_rounds(body), node.position)


def _add_poll(
    context: Context, body: list[ast.stmt], loads: int, waits: int, forever: bool, node: tree.Node
) -> list[ast.stmt]:
    """A body that lets other processors run, if it may wait for what they write."""
    never_ends = forever and not any(map(_has_exit, body))
    if context.waits > waits or (context.loads == loads and not never_ends):
        return body
    context.waits += 1
    poll = code.wait_for(code.call(context.unit.bind("poll")))
    context.unit.locate(poll, node.position)
    return [poll, *body]


def execute_do(context: Context, node: tree.DoWhile) -> None:
    """Compile a `do`."""
    loads, waits = context.loads, context.waits

    def go_on() -> None:
        test = evaluate_condition(context, node.condition)
        if test.constant is None:
            context.emit(ast.If(build_condition(test), [ast.Continue()], []), node.position)
        context.emit(ast.Continue() if test.constant else ast.Break(), node.position)

    def body() -> None:
        depth = len(context.ending)
        context.loops.append(Loop(go_on, depth, depth))
        execute_block(context, node.body)
        context.loops.pop()

    statements = context.capture(body)
    test = evaluate_condition(context, node.condition)
    never = test.constant is not None and not test.constant
    if never and not any(map(_has_jump, statements)):
        context.out.extend(statements)
        return
    statements = _add_poll(context, statements, loads, waits, bool(test.constant), node)
    if test.constant is None:
        statements.append(_build_exit(context, build_condition(test), node.condition.position))
    elif never:
        statements.append(ast.Break())
    if context.waits > waits:
        context.emit(ast.While(code.constant(True), statements, []), node.position)
    else:
        context.emit(_limit_rounds(statements), node.position)


def _build_exit(context: Context, question: ast.expr, position: tree.Position | None) -> ast.stmt:
    leave = ast.If(code.negation(question), [ast.Break()], [])
    context.unit.locate(leave, position)
    return leave


def _limit_rounds(body: list[ast.stmt]) -> ast.For:
    """A loop that nobody else can end, and that gives up some time if it does not end itself."""
    give_up = ast.Expr(code.call("_endless"))
    return ast.For(ast.Name("_", ast.Store()), code.name("_rounds"), body, [give_up])


def _has_exit(statement: ast.AST) -> bool:
    """Whether a statement may leave the loop around it, or the function."""
    if isinstance(statement, (ast.Break, ast.Return)):
        return True
    inside = list(code.walk(statement))
    if isinstance(statement, (ast.For, ast.While)):
        return any(isinstance(each, ast.Return) for each in inside)
    return any(map(_has_exit, code.list_children(statement)))


def _has_jump(statement: ast.stmt) -> bool:
    return any(isinstance(each, (ast.Break, ast.Continue)) for each in code.walk(statement))
