"""`if`, `switch`, `break` and `continue`."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ttmlir.cpp import tree
from ttmlir.sim.kernels.classes.destructors import full_expression, leave_blocks
from ttmlir.sim.kernels.context import Context, Loop
from ttmlir.sim.kernels.expressions.evaluating import (
    evaluate_condition,
    evaluate_constant,
    evaluate_number,
    fold_constant,
)
from ttmlir.sim.kernels.expressions.operators import operate
from ttmlir.sim.kernels.limits import MAX_CASES
from ttmlir.sim.kernels.python import code
from ttmlir.sim.kernels.statements.plain import execute_block
from ttmlir.sim.kernels.value import Value, build_condition, settle


def execute_if(context: Context, node: tree.If) -> None:
    """Compile an `if`; a branch that is known at compile time stays alone."""
    condition = _evaluate_whole(context, node.condition)
    if node.is_constexpr:
        _execute_constant_if(context, node, fold_constant(context, condition))
        return
    then = context.capture(lambda: execute_block(context, node.then))
    otherwise = context.capture(lambda: _execute_otherwise(context, node.otherwise))
    if condition.constant is not None:
        context.out.extend(then if condition.constant else otherwise)
        return
    branch = ast.If(build_condition(condition), then or [ast.Pass()], otherwise)
    context.emit(branch, node.position)


def _evaluate_whole(context: Context, node: tree.Expression) -> Value:
    """A condition after which its temporary objects end, before anything depends on it."""
    with full_expression(context):
        condition = evaluate_condition(context, node)
        return _keep_value(context, condition, node) if context.temporaries else condition


def _keep_value(context: Context, value: Value, node: tree.Node) -> Value:
    """A value that is computed once, now."""
    if value.constant is not None:
        return value
    identifier = context.unit.create_name("chosen", "t")
    context.emit(code.assign(code.name(identifier), value.node), node.position)
    return replace(value, node=code.name(identifier))


def _execute_constant_if(context: Context, node: tree.If, condition: Value) -> None:
    """`if constexpr`: the other branch may be written with names that do not exist."""
    if condition.constant is None:
        raise context.error(node.condition, "'if constexpr' needs a constant condition")
    if condition.constant:
        execute_block(context, node.then)
    else:
        _execute_otherwise(context, node.otherwise)


def _execute_otherwise(context: Context, node: tree.Block | tree.If | None) -> None:
    match node:
        case tree.Block():
            execute_block(context, node)
        case tree.If():
            execute_if(context, node)
        case None:
            pass


def execute_break(context: Context, node: tree.Break) -> None:
    """Compile a `break`."""
    if not context.loops:
        raise context.error(node, "'break' outside of a loop")
    leave_blocks(context, context.loops[-1].depth)
    context.emit(ast.Break(), node.position)


def execute_continue(context: Context, node: tree.Continue) -> None:
    """Compile a `continue`."""
    before = context.loops[-1].before_continue if context.loops else None
    if before is None:
        message = "'continue' outside of a loop"
        if context.loops and context.loops[-1].is_switch:
            message = "'continue' in a switch with a 'break' that ends no case is not supported"
        raise context.error(node, message)
    leave_blocks(context, context.loops[-1].depth_of_loop)
    for each in context.capture(before):
        context.emit(each, node.position)


def execute_switch(context: Context, node: tree.Switch) -> None:
    """A chain of `if`; each branch holds what its case falls through to, too."""
    what = "the condition of a switch"
    with full_expression(context):
        value = settle(evaluate_number(context, node.condition, what, scoped=True))
        value = _keep_value(context, value, node)
    groups = list(_group_cases(node.cases))
    if len(groups) > MAX_CASES:
        raise context.error(node, f"a switch of more than {MAX_CASES} cases")
    _refuse_duplicates(context, node)
    is_left = any(_breaks(each) for case in node.cases for each in _find_case_statements([case]))
    outer = context.loops[-1] if context.loops and not is_left else None
    before = None if outer is None else outer.before_continue
    around = len(context.ending) if outer is None else outer.depth_of_loop
    context.loops.append(Loop(before, len(context.ending), around, is_switch=True))
    chain: list[ast.stmt] = []
    for start, end in groups:
        if any(each.value is None for each in node.cases[start:end]):
            chain = _capture_case(context, node, end - 1)
    for start, end in reversed(groups):
        values = [each.value for each in node.cases[start:end]]
        wanted = [each for each in values if each is not None]
        if len(wanted) == len(values):
            chain = _build_branch(
                context, value, wanted, _capture_case(context, node, end - 1), chain
            )
    context.loops.pop()
    if is_left:
        once = code.tuple_of(code.constant(0))
        context.emit(ast.For(ast.Name("_", ast.Store()), once, chain, []), node.position)
    else:
        context.out.extend(chain)


def _refuse_duplicates(context: Context, node: tree.Switch) -> None:
    known = set[int | None]()
    for each in node.cases:
        number: int | None = None
        if each.value is not None:
            number = evaluate_constant(context, each.value, "the value of a case", scoped=True)
        if number in known:
            which = "'default'" if number is None else f"case {number}"
            raise context.error(each, f"{which} stands twice in this switch")
        known.add(number)


def _capture_case(context: Context, node: tree.Switch, start: int) -> list[ast.stmt]:
    statements = tuple(_find_case_statements(node.cases[start:]))
    return context.capture(lambda: execute_block(context, tree.Block(statements)))


def _build_branch(
    context: Context,
    value: Value,
    wanted: Sequence[tree.Expression],
    body: list[ast.stmt],
    otherwise: list[ast.stmt],
) -> list[ast.stmt]:
    """A branch for some values; `otherwise` is for the others."""
    tests = list[ast.expr]()
    for each in wanted:
        number = settle(evaluate_number(context, each, "the value of a case", scoped=True))
        if number.constant is None:
            raise context.error(each, "the value of a case has to be a constant expression")
        test = operate(context, "==", value, number, each)
        if test.constant is None:
            tests.append(test.node)
        elif test.constant:
            return body
    if not tests:
        return otherwise
    question = tests[0] if len(tests) == 1 else ast.BoolOp(ast.Or(), tests)
    branch = ast.If(question, body or [ast.Pass()], otherwise)
    context.unit.locate(branch, wanted[0].position)
    return [branch]


def _group_cases(cases: Sequence[tree.Case]) -> Iterator[tuple[int, int]]:
    """Ranges of cases that share the statements of the last one."""
    start = 0
    for number, case in enumerate(cases, 1):
        if case.statements or number == len(cases):
            yield start, number
            start = number


def _find_case_statements(cases: Sequence[tree.Case]) -> Iterator[tree.Statement]:
    """What runs from the first of some cases on."""
    for each in (each for case in cases for each in case.statements):
        match each:
            case tree.Break():
                return
            case tree.Block(statements=(*inside, tree.Break())):
                yield replace(each, statements=tuple(inside))
                return
            case tree.Return() | tree.Continue():
                yield each
                return
            case _:
                yield each


def _breaks(node: object) -> bool:
    """Whether a `break` in a statement leaves the switch around it."""
    match node:
        case tree.Break():
            return True
        case tree.Block(statements=statements):
            return any(map(_breaks, statements))
        case tree.If(then=then, otherwise=otherwise):
            return _breaks(then) or _breaks(otherwise)
        case _:
            return False
