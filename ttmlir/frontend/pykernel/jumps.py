"""Statements without jumps: what `break`, `continue` and early `return` mean as conditions.

scf has no jumps. What follows an `if` with a jump moves into the arm that goes on; where that is
not enough, a flag says that the rest is left out. Flags have names that Python cannot spell.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

RESULT = "$result"
"""The name of the value that a function returns."""
_RETURNED = "$returned"


@dataclass(frozen=True)
class SetFlag:
    """A flag gets a value."""

    name: str
    value: bool
    node: ast.stmt


@dataclass(frozen=True)
class SetResult:
    """The value that the function returns; None for a result that a loop will set."""

    value: ast.expr | None
    node: ast.stmt


@dataclass(frozen=True)
class Branch:
    """An `if`, by its test or by flags none of which may be set."""

    test: ast.expr | None
    flags: tuple[str, ...]
    then: tuple[Step, ...]
    otherwise: tuple[Step, ...]
    node: ast.stmt


@dataclass(frozen=True)
class Loop:
    """A `for` or `while`, which ends when one of `exits` is set, too."""

    node: ast.For | ast.While
    body: tuple[Step, ...]
    exits: tuple[str, ...]


@dataclass(frozen=True)
class Plain:
    """A statement that has no others in it."""

    node: ast.stmt


Step = SetFlag | SetResult | Branch | Loop | Plain


def without_jumps(function: ast.FunctionDef) -> tuple[Step, ...]:
    """The body of a function as steps; the value that it returns goes to RESULT."""
    return _Lowering(function).steps()


def assigned(steps: Sequence[Step]) -> Iterator[str]:
    """The names that steps give a value to, some of them several times."""
    for step in steps:
        match step:
            case SetFlag(name=name):
                yield name
            case SetResult():
                yield RESULT
            case Branch(then=then, otherwise=otherwise):
                yield from assigned(then)
                yield from assigned(otherwise)
            case Loop(node=node, body=body):
                if isinstance(node, ast.For):
                    yield from _targets(node.target)
                yield from assigned(body)
            case Plain(node=node):
                yield from _assigned_by(node)


def _assigned_by(node: ast.stmt) -> Iterator[str]:
    match node:
        case ast.Assign(targets=targets):
            for target in targets:
                yield from _targets(target)
        case ast.AugAssign(target=target) | ast.AnnAssign(target=target):
            yield from _targets(target)
        case _:
            pass


def _targets(target: ast.expr) -> Iterator[str]:
    match target:
        case ast.Name(id=name):
            yield name
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            for each in elements:
                yield from _targets(each)
        case _:
            pass


_LOOPS = (ast.For, ast.While)


def _has(statements: Sequence[ast.stmt], *kinds: type[ast.stmt], inner: bool = False) -> bool:
    """Whether there is such a jump; one in an inner loop counts with `inner` only."""
    for node in statements:
        if isinstance(node, kinds):
            return True
        if isinstance(node, ast.If) and (
            _has(node.body, *kinds, inner=inner) or _has(node.orelse, *kinds, inner=inner)
        ):
            return True
        if isinstance(node, _LOOPS):
            if inner and _has(node.body, *kinds, inner=True):
                return True
            # A jump behind `else` leaves the loop around.
            if _has(node.orelse, *kinds, inner=inner):
                return True
    return False


def _always_jumps(statements: Sequence[ast.stmt]) -> bool:
    """Whether what follows the statements is never reached."""
    for node in statements:
        match node:
            case ast.Break() | ast.Continue() | ast.Return():
                return True
            case ast.If(body=body, orelse=orelse) if _always_jumps(body) and _always_jumps(orelse):
                return True
            case _:
                pass
    return False


@dataclass
class _Around:
    """The loop that statements are in; both names are empty outside of loops."""

    broken: str = ""
    continued: str = ""
    uses_continued: bool = False


class _Lowering:
    def __init__(self, function: ast.FunctionDef) -> None:
        self._function = function
        self._loops = 0
        self._uses_returned = False

    def steps(self) -> tuple[Step, ...]:
        """The whole body."""
        function = self._function
        body = list(self._lower(function.body, _Around(), tail=True))
        first = function.body[0]
        in_loop = any(
            isinstance(each, _LOOPS) and _has([each], ast.Return, inner=True)
            for each in ast.walk(function)
        )
        if self._uses_returned or in_loop:
            body.insert(0, SetFlag(_RETURNED, False, first))
            if any(isinstance(each, ast.Return) and each.value for each in ast.walk(function)):
                body.insert(0, SetResult(None, first))
        return tuple(body)

    def _lower(
        self, statements: Sequence[ast.stmt], around: _Around, *, tail: bool
    ) -> tuple[Step, ...]:
        """Steps; behind those at the `tail` nothing of the same loop or function follows."""
        steps = list[Step]()
        for index, node in enumerate(statements):
            rest = statements[index + 1 :]
            match node:
                case ast.Break() | ast.Continue() | ast.Return():
                    steps += self._jump(node, around, tail=tail)
                    return tuple(steps)
                case ast.If():
                    flags = self._flags([node], around)
                    if flags and rest and _always_jumps(node.body):
                        steps.append(self._branch(node, (), rest, around, tail=tail))
                        return tuple(steps)
                    if flags and rest and _always_jumps(node.orelse):
                        steps.append(self._branch(node, rest, (), around, tail=tail))
                        return tuple(steps)
                    ends = tail and not rest
                    steps.append(self._branch(node, (), (), around, tail=ends or not flags))
                case ast.For() | ast.While():
                    steps += self._loop(node, around, tail=tail and not rest)
                    flags = self._flags([node], around)
                case _:
                    steps.append(Plain(node))
                    flags = ()
            if flags and rest:
                self._note(flags, around)
                others = self._lower(rest, around, tail=tail)
                steps.append(Branch(None, flags, others, (), rest[0]))
                return tuple(steps)
        return tuple(steps)

    def _flags(self, statements: Sequence[ast.stmt], around: _Around) -> tuple[str, ...]:
        """The flags that jumps in the statements set, seen from behind them."""
        flags = list[str]()
        if _has(statements, ast.Break):
            flags.append(around.broken)
        if _has(statements, ast.Continue):
            flags.append(around.continued)
        if _has(statements, ast.Return, inner=True):
            flags.append(_RETURNED)
        return tuple(flags)

    def _note(self, flags: Sequence[str], around: _Around) -> None:
        """Remember which flags have to be there."""
        around.uses_continued |= around.continued in flags and bool(around.continued)
        self._uses_returned |= _RETURNED in flags

    def _jump(
        self, node: ast.Break | ast.Continue | ast.Return, around: _Around, *, tail: bool
    ) -> Iterator[Step]:
        match node:
            case ast.Break():
                yield SetFlag(around.broken, True, node)
            case ast.Continue():
                if not tail:
                    yield SetFlag(around.continued, True, node)
            case ast.Return(value=value):
                if value is not None:
                    yield SetResult(value, node)
                if around.broken or not tail:
                    yield SetFlag(_RETURNED, True, node)

    def _branch(
        self,
        node: ast.If,
        then_rest: Sequence[ast.stmt],
        else_rest: Sequence[ast.stmt],
        around: _Around,
        *,
        tail: bool,
    ) -> Branch:
        """A branch whose arms go on with these statements."""
        then = self._lower([*node.body, *then_rest], around, tail=tail)
        otherwise = self._lower([*node.orelse, *else_rest], around, tail=tail)
        return Branch(node.test, (), then, otherwise, node)

    def _loop(self, node: ast.For | ast.While, around: _Around, *, tail: bool) -> Iterator[Step]:
        self._loops += 1
        inside = _Around(f"$broken{self._loops}", f"$continued{self._loops}")
        body = self._lower(node.body, inside, tail=True)
        if inside.uses_continued:
            body = (SetFlag(inside.continued, False, node.body[0]), *body)
        exits = list[str]()
        if _has(node.body, ast.Break):
            exits.append(inside.broken)
            yield SetFlag(inside.broken, False, node)
        if _has(node.body, ast.Return, inner=True):
            exits.append(_RETURNED)
        yield Loop(node, body, tuple(exits))
        if node.orelse:
            others = self._lower(node.orelse, around, tail=tail)
            if exits:
                yield Branch(None, tuple(exits), others, (), node.orelse[0])
            else:
                yield from others
