"""Loops: those that count become `for ... in range(...)`, the others `while`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar

from ttmlir.cpp import tree
from ttmlir.sim.kernels import code
from ttmlir.sim.kernels.enumerators import bare_name
from ttmlir.sim.kernels.place import LocalPlace, MemoryPlace
from ttmlir.sim.kernels.scope import Scope, Variable, changed_names, root_name, walk
from ttmlir.sim.kernels.statements import Loop, StatementCompiler
from ttmlir.sim.kernels.types import BOOL, IntType, common_type
from ttmlir.sim.kernels.value import Value, as_condition, converted, settled

_MIRRORED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "!=": "!="}
_STEADY = (
    *(tree.Integer, tree.Boolean, tree.Character, tree.Name, tree.Cast, tree.SizeOf),
    *(tree.Conditional, tree.NamedType, tree.Member, tree.Index),
)


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


class LoopCompiler(StatementCompiler):
    """`for`, `while` and `do`."""

    def _for(self, node: tree.For) -> None:
        outer = self.scope
        self.scope = Scope(outer)
        count = self._count(node)
        if count is None or not self._counted(node, count):
            self._general(node)
        self.scope = outer

    # Loops that count.

    def _count(self, node: tree.For) -> Count | None:
        """How a loop counts; None if it may do something else."""
        if not isinstance(node.start, tree.Declaration) or "static" in node.start.specifiers:
            return None
        match node.condition:
            case tree.Binary(operator=operator, left=tree.Name(text=name), right=bound) if (
                operator in _MIRRORED and self._declarator(node.start, name)
            ):
                pass
            case tree.Binary(operator=operator, left=bound, right=tree.Name(text=name)) if (
                operator in _MIRRORED
            ):
                operator = _MIRRORED[operator]
            case _:
                return None
        declarator = self._declarator(node.start, name)
        parts = tuple(_comma_parts(node.step))
        steps = [part for part in parts if self._step(part, name) is not None]
        if declarator is None or declarator.value is None or len(steps) != 1:
            return None
        step = self._step(steps[0], name)
        rest = tuple(part for part in parts if part is not steps[0])
        changed = changed_names((node.body, rest, bound), self.unit.references)
        if name in changed or name in self.shared or step is None:
            return None
        if not self._is_steady(bound, changed):
            return None
        return Count(declarator, operator, bound, step, rest)

    def _declarator(self, start: tree.Declaration, name: str) -> tree.Declarator | None:
        return next((each for each in start.declarators if each.name == name), None)

    def _step(self, node: tree.Expression, name: str) -> int | None:
        """By how much an expression moves the counter."""
        match node:
            case tree.Update(operator=operator, operand=tree.Name(text=text)) if text == name:
                return 1 if operator == "++" else -1
            case tree.Assign(
                target=tree.Name(text=text), operator="+=" | "-=" as operator, value=amount
            ) if text == name:
                number = self._known_number(amount)
                return number if operator == "+=" or number is None else -number
            case _:
                return None

    def _known_number(self, node: tree.Expression) -> int | None:
        if not all(isinstance(each, _STEADY) for each in walk(node)):
            return None
        value = settled(self.value(node))
        constant = value.constant
        return int(constant) if isinstance(value.type, IntType) and constant else None

    def _is_steady(self, node: tree.Expression, changed: frozenset[str]) -> bool:
        """Whether an expression keeps its value while a loop runs."""
        return all(self._keeps(each, changed) for each in walk(node))

    def _keeps(self, node: tree.Node, changed: frozenset[str]) -> bool:
        match node:
            case tree.Name(text=text):
                return self._is_steady_name(text, changed)
            case tree.Member() | tree.Index():
                return root_name(node) is not None
            case tree.Binary(operator=operator):
                return operator != ","
            case tree.Unary(operator=operator):
                return operator not in ("*", "&")
            case tree.Call(callee=tree.Name(text=text)):
                steady = self.unit.library.is_steady(text)
                known = steady or bare_name(text) == "get_compile_time_arg_val"
                return known and self.unit.find(text, self.scope) is None
            case _:
                return isinstance(node, _STEADY)

    def _is_steady_name(self, name: str, changed: frozenset[str]) -> bool:
        symbol = self.unit.find(name, self.scope)
        if not isinstance(symbol, Variable) or isinstance(symbol.meaning, Value):
            return True
        if symbol.meaning.is_const and not isinstance(symbol.meaning, MemoryPlace):
            return True
        is_own = isinstance(symbol.meaning, LocalPlace) and not symbol.is_global
        return is_own and name not in changed and name not in self.shared

    def _counted(self, node: tree.For, count: Count) -> bool:
        """Compile a loop that counts; False, with nothing done, if it cannot be proven to."""
        assert isinstance(node.start, tree.Declaration)
        scope = self.scope
        self.scope = Scope(scope)
        before = self.out
        self.out = []
        made = self._range(node.start, count)
        emitted, self.out = self.out, before
        if made is None:
            self.scope = scope
            return False
        for each in emitted:
            self.out.append(each)
        identifier, numbers = made
        body = self.captured(lambda: self._body(node.body, lambda: self._after(count)))
        target = ast.Name(identifier, ast.Store())
        self.emit(ast.For(target, numbers, body or [ast.Pass()], []), node.position)
        return True

    def _range(self, start: tree.Declaration, count: Count) -> tuple[str, ast.expr] | None:
        """The counter's identifier and the numbers that it takes."""
        for each in start.declarators:
            if each is not count.declarator:
                self.declare(start, each)
        type_, first = self._declared(start, count.declarator)
        bound = self.number(count.bound, "the bound of a loop")
        if not isinstance(type_, IntType) or type_ == BOOL or first is None:
            return None
        assert isinstance(bound.type, IntType)
        common = common_type(type_, bound.type)
        bound = settled(converted(bound, common))
        limits = _limits(type_, common, first, bound, count)
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
        identifier = self.unit.fresh(count.declarator.name)
        place = LocalPlace(type_, identifier, max(low, type_.low), min(high, type_.high))
        self._bind(count.declarator, place)
        return identifier, code.call("_range", *numbers)

    def _after(self, count: Count) -> None:
        for each in count.rest:
            self.effect(each)

    def _body(self, block: tree.Block, after: Callable[[], None]) -> None:
        """The body of a loop that goes on at the top after something else."""

        def before_continue() -> None:
            after()
            self.out.append(ast.Continue())

        self.loops.append(Loop(before_continue))
        self.block(block)
        self.loops.pop()
        after()

    # Other loops.

    def _general(self, node: tree.For) -> None:
        if isinstance(node.start, tree.Declaration):
            self._declaration(node.start)
        elif node.start is not None:
            self.effect(node.start.expression)
        parts = tuple(_comma_parts(node.step))

        def after() -> None:
            for each in parts:
                self.effect(each)

        self._repeat(node.condition, node.body, after, node)

    def _while(self, node: tree.While) -> None:
        self._repeat(node.condition, node.body, lambda: None, node)

    def _repeat(
        self,
        condition: tree.Expression | None,
        block: tree.Block,
        after: Callable[[], None],
        node: tree.Node,
    ) -> None:
        loads, waits = self.loads, self.waits
        test = None if condition is None else self.condition(condition)
        body = self.captured(lambda: self._body(block, after))
        if test is not None and test.constant is not None and not test.constant:
            return
        forever = test is None or test.constant is not None
        body = self._polled(body, loads, waits, forever, node)
        question = None if test is None or forever else as_condition(test)
        if self.waits > waits:
            question = code.constant(True) if question is None else question
            self.emit(ast.While(question, body, []), node.position)
            return
        if question is not None:
            body = [_leave_unless(question, node.position), *body]
        self.emit(_limited(body), node.position)

    def _polled(
        self, body: list[ast.stmt], loads: int, waits: int, forever: bool, node: tree.Node
    ) -> list[ast.stmt]:
        """A body that lets other processors run, if it may wait for what they write."""
        never_ends = forever and not any(map(_leaves, body))
        if self.waits > waits or (self.loads == loads and not never_ends):
            return body
        self.waits += 1
        poll = code.wait_for(code.call(self.unit.bound("poll")))
        code.locate(poll, node.position)
        return [poll, *body]

    def _do(self, node: tree.DoWhile) -> None:
        loads, waits = self.loads, self.waits

        def go_on() -> None:
            test = self.condition(node.condition)
            if test.constant is None:
                self.emit(ast.If(as_condition(test), [ast.Continue()], []), node.position)
            self.emit(ast.Continue() if test.constant else ast.Break(), node.position)

        def body() -> None:
            self.loops.append(Loop(go_on))
            self.block(node.body)
            self.loops.pop()

        statements = self.captured(body)
        test = self.condition(node.condition)
        never = test.constant is not None and not test.constant
        if never and not any(map(_jumps, statements)):
            self.out.extend(statements)
            return
        statements = self._polled(statements, loads, waits, bool(test.constant), node)
        if test.constant is None:
            statements.append(_leave_unless(as_condition(test), node.condition.position))
        elif never:
            statements.append(ast.Break())
        if self.waits > waits:
            self.emit(ast.While(code.constant(True), statements, []), node.position)
        else:
            self.emit(_limited(statements), node.position)

    STATEMENTS: ClassVar[dict[type, Callable[..., None]]] = StatementCompiler.STATEMENTS | {
        tree.For: _for,
        tree.While: _while,
        tree.DoWhile: _do,
    }


def _leave_unless(question: ast.expr, position: tree.Position | None) -> ast.stmt:
    leave = ast.If(code.negation(question), [ast.Break()], [])
    code.locate(leave, position)
    return leave


def _limited(body: list[ast.stmt]) -> ast.For:
    """A loop that nobody else can end, and that gives up some time if it does not end itself."""
    give_up = ast.Expr(code.call("_endless"))
    return ast.For(ast.Name("_", ast.Store()), code.name("_rounds"), body, [give_up])


def _comma_parts(node: tree.Expression | None) -> Iterator[tree.Expression]:
    match node:
        case None:
            return
        case tree.Binary(operator=",", left=left, right=right):
            yield from _comma_parts(left)
            yield from _comma_parts(right)
        case _:
            yield node


def _limits(
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
        return _limits_of_unequal(first, bound, step)
    if upward != (count.operator in ("<", "<=")):
        return None
    if upward:
        last = bound.high - 1 + inclusive
        fits = may_not_wrap or last + step <= most
        return (first.low, max(last, first.low), inclusive) if fits else None
    last = bound.low + 1 + inclusive
    fits = may_not_wrap or last + step >= least
    return (min(last, first.high), first.high, inclusive) if fits else None


def _limits_of_unequal(first: Value, bound: Value, step: int) -> tuple[int, int, int] | None:
    """Those of `i != bound`, which counts only if the bound is not on the other side."""
    if step == 1 and first.high <= bound.low:
        return first.low, max(bound.high - 1, first.low), 0
    if step == -1 and first.low >= bound.high:
        return min(bound.low + 1, first.high), first.high, 0
    return None


def _leaves(statement: ast.AST) -> bool:
    """Whether a statement may leave the loop around it, or the function."""
    if isinstance(statement, (ast.Break, ast.Return)):
        return True
    inside = list(ast.walk(statement))
    if isinstance(statement, (ast.For, ast.While)):
        return any(isinstance(each, ast.Return) for each in inside)
    return any(map(_leaves, ast.iter_child_nodes(statement)))


def _jumps(statement: ast.stmt) -> bool:
    return any(isinstance(each, (ast.Break, ast.Continue)) for each in ast.walk(statement))
