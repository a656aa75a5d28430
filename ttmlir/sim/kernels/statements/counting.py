"""Loops that count, which become `for ... in range(...)`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ttmlir.cpp import tree
from ttmlir.cpp.conversions import find_common_type
from ttmlir.cpp.types import BOOL, EnumType, IntType
from ttmlir.sim.kernels.classes.destructors import full_expression
from ttmlir.sim.kernels.context import Context, Loop
from ttmlir.sim.kernels.enumerators import strip_namespaces
from ttmlir.sim.kernels.expressions.evaluating import evaluate_number
from ttmlir.sim.kernels.expressions.places import find_array
from ttmlir.sim.kernels.place import LocalPlace, MemoryPlace
from ttmlir.sim.kernels.python import code
from ttmlir.sim.kernels.scope import Scope, Variable, find_changed_names, root_names, walk
from ttmlir.sim.kernels.statements.declarations import (
    bind_variable,
    declare_variable,
    find_declared,
)
from ttmlir.sim.kernels.statements.plain import execute_block, execute_effect
from ttmlir.sim.kernels.value import Value, convert, settle

_COMPILE_TIME_ARGUMENTS = ("get_compile_time_arg_val", "get_named_compile_time_arg_val")

_STEADY = (
    *(tree.Integer, tree.Boolean, tree.Character, tree.Name, tree.Cast, tree.SizeOf),
    *(tree.Conditional, tree.NamedType, tree.Member, tree.Index),
)


_MIRRORED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "!=": "!="}


@dataclass(frozen=True)
class Count:
    """How a loop counts, as far as its text says."""

    declarator: tree.Declarator
    operator: str
    """Between the counter and the bound."""
    bound: tree.Expression
    step: int
    rest: tuple[tree.Expression, ...]
    """What else happens after each iteration."""


def find_count(context: Context, node: tree.For) -> Count | None:
    """How a loop counts; None if it may do something else."""
    if not isinstance(node.start, tree.Declaration) or "static" in node.start.specifiers:
        return None
    match node.condition:
        case tree.BinaryOperation(operator=operator, left=tree.Name(text=name), right=bound) if (
            operator in _MIRRORED and _find_declarator(context, node.start, name)
        ):
            pass
        case tree.BinaryOperation(operator=operator, left=bound, right=tree.Name(text=name)) if (
            operator in _MIRRORED
        ):
            operator = _MIRRORED[operator]
        case _:
            return None
    declarator = _find_declarator(context, node.start, name)
    parts = tuple(split_commas(node.step))
    steps = [part for part in parts if _find_step(context, part, name) is not None]
    if declarator is None or declarator.value is None or len(steps) != 1:
        return None
    step = _find_step(context, steps[0], name)
    rest = tuple(part for part in parts if part is not steps[0])
    changed = find_changed_names((node.body, rest, bound), context.unit.references)
    if name in changed or name in context.shared or step is None:
        return None
    # What the loop declares is not known yet: it may hide another variable of its name.
    moving = {each.name for each in node.start.declarators} & (changed | context.shared)
    if not moving.isdisjoint(each.text for each in walk(bound) if isinstance(each, tree.Name)):
        return None
    if not is_steady(context, bound, changed):
        return None
    return Count(declarator, operator, bound, step, rest)


def _find_declarator(
    context: Context, start: tree.Declaration, name: str
) -> tree.Declarator | None:
    return next((each for each in start.declarators if each.name == name), None)


def _find_step(context: Context, node: tree.Expression, name: str) -> int | None:
    """By how much an expression moves the counter."""
    match node:
        case tree.Update(operator=operator, operand=tree.Name(text=text)) if text == name:
            return 1 if operator == "++" else -1
        case tree.Assign(
            target=tree.Name(text=text), operator="+=" | "-=" as operator, value=amount
        ) if text == name:
            number = _find_known_number(context, amount)
            return number if operator == "+=" or number is None else -number
        case _:
            return None


def _find_known_number(context: Context, node: tree.Expression) -> int | None:
    if not all(isinstance(each, _STEADY) for each in walk(node)):
        return None
    value = settle(context.evaluate(node))
    constant = value.constant
    return int(constant) if isinstance(value.type, IntType) and constant else None


def is_steady(context: Context, node: tree.Expression, changed: frozenset[str]) -> bool:
    """Whether an expression keeps its value while a loop runs."""
    return all(_keeps_value(context, each, changed) for each in walk(node))


def _keeps_value(context: Context, node: tree.Node, changed: frozenset[str]) -> bool:
    match node:
        case tree.Name(text=text):
            return _is_steady_name(context, text, changed)
        case tree.Member(arrow=arrow):
            return any(root_names(node)) and not arrow
        case tree.Index(base=base):
            is_element = isinstance(base, tree.Name) and context.unit.library.is_array(base.text)
            return is_element or find_array(context, base) is not None
        case tree.BinaryOperation(operator=operator):
            return operator != ","
        case tree.Unary(operator=operator):
            return operator not in ("*", "&")
        case tree.FunctionCall(callee=tree.Name(text=text)):
            steady = context.unit.library.is_steady(text)
            known = steady or strip_namespaces(text) in _COMPILE_TIME_ARGUMENTS
            return known and context.unit.find(text, context.scope) is None
        case _:
            return isinstance(node, _STEADY)


def _is_steady_name(context: Context, name: str, changed: frozenset[str]) -> bool:
    symbol = context.unit.find(name, context.scope)
    if not isinstance(symbol, Variable) or isinstance(symbol.meaning, Value):
        return True
    if symbol.is_reference:
        return False
    if symbol.meaning.is_const and not isinstance(symbol.meaning, MemoryPlace):
        return True
    is_own = isinstance(symbol.meaning, LocalPlace) and not symbol.is_global
    return is_own and name not in changed and name not in context.shared


def execute_counted_for(context: Context, node: tree.For, count: Count) -> bool:
    """Compile a loop that counts; False, with nothing done, if it cannot be proven to."""
    assert isinstance(node.start, tree.Declaration)
    scope = context.scope
    context.scope = Scope(scope)
    before = context.out
    context.out = []
    made = _build_range(context, node.start, count)
    emitted, context.out = context.out, before
    if made is None:
        context.scope = scope
        return False
    for each in emitted:
        context.out.append(each)
    identifier, numbers = made
    body = context.capture(
        lambda: execute_body(context, node.body, lambda: _execute_rest(context, count))
    )
    target = ast.Name(identifier, ast.Store())
    context.emit(ast.For(target, numbers, body or [ast.Pass()], []), node.position)
    return True


def _build_range(
    context: Context, start: tree.Declaration, count: Count
) -> tuple[str, ast.expr] | None:
    """The counter's identifier and the numbers that it takes."""
    for each in start.declarators:
        if each is not count.declarator:
            declare_variable(context, start, each)
    declared, first = find_declared(context, start, count.declarator)
    type_ = declared.type
    bound = evaluate_number(context, count.bound, "the bound of a loop")
    if not isinstance(type_, IntType) or isinstance(type_, EnumType) or declared.const:
        return None
    if type_ == BOOL or first is None:
        return None
    assert isinstance(bound.type, IntType)
    common = find_common_type(type_, bound.type)
    bound = settle(convert(bound, common))
    limits = _find_limits(type_, common, first, bound, count)
    if limits is None:
        return None
    low, high, past = limits
    end = bound.node
    if past and bound.constant is not None:
        end = code.constant(bound.constant + past)
    elif past:
        end = code.binary("+" if past > 0 else "-", end, code.constant(abs(past)))
    numbers = [first.node, end] if first.constant != 0 or count.step != 1 else [end]
    if count.step != 1:
        numbers.append(code.constant(count.step))
    identifier = context.unit.create_name(count.declarator.name)
    place = LocalPlace(type_, identifier, max(low, type_.low), min(high, type_.high))
    bind_variable(context, count.declarator, place)
    return identifier, code.call("_range", *numbers)


def _execute_rest(context: Context, count: Count) -> None:
    for each in count.rest:
        with full_expression(context):
            execute_effect(context, each)


def _find_limits(
    type_: IntType, common: IntType, first: Value, bound: Value, count: Count
) -> tuple[int, int, int] | None:
    """Bounds of the counter, and what to add to the bound for `range`.

    None if the counter might leave its type, where it would wrap; that of a signed type of at least
    32 bits must not in C++.
    """
    step = count.step
    upward = step > 0
    may_not_wrap = type_.signed and type_.bits >= 32
    least, most = type_.low, type_.high
    if type_.signed and not common.signed:
        least, may_not_wrap = 0, may_not_wrap and upward
        if first.low < 0:
            return None
    inclusive = {"<": 0, "<=": 1, ">": 0, ">=": -1}.get(count.operator)
    if inclusive is None:
        return _find_limits_of_unequal(first, bound, step)
    if upward != (count.operator in ("<", "<=")):
        return None
    if upward:
        last = bound.high - 1 + inclusive
        fits = may_not_wrap or last + step <= most
        return (first.low, max(last, first.low), inclusive) if fits else None
    last = bound.low + 1 + inclusive
    fits = may_not_wrap or last + step >= least
    return (min(last, first.high), first.high, inclusive) if fits else None


def _find_limits_of_unequal(first: Value, bound: Value, step: int) -> tuple[int, int, int] | None:
    """Those of `i != bound`, which counts only if the bound is not on the other side."""
    if step == 1 and first.high <= bound.low:
        return first.low, max(bound.high - 1, first.low), 0
    if step == -1 and first.low >= bound.high:
        return min(bound.low + 1, first.high), first.high, 0
    return None


def execute_body(context: Context, block: tree.Block, after: Callable[[], None]) -> None:
    """The body of a loop that goes on at the top after something else."""

    def before_continue() -> None:
        after()
        context.out.append(ast.Continue())

    depth = len(context.ending)
    context.loops.append(Loop(before_continue, depth, depth))
    execute_block(context, block)
    context.loops.pop()
    after()


def split_commas(node: tree.Expression | None) -> Iterator[tree.Expression]:
    """The parts of a comma expression."""
    match node:
        case None:
            return
        case tree.BinaryOperation(operator=",", left=left, right=right):
            yield from split_commas(left)
            yield from split_commas(right)
        case _:
            yield node
