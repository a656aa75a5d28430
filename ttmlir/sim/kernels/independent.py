"""Statements that no template argument changes, of what is not compiled otherwise.

A compiler finds what is wrong with them in templates that nobody uses, and in branches that
`if constexpr` leaves out. They are compiled here, and what they become is thrown away.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ttmlir.cpp import tree
from ttmlir.cpp.types import is_deduced
from ttmlir.sim.kernels.context import Context, Loop
from ttmlir.sim.kernels.scope import Scope, list_declared_names
from ttmlir.sim.kernels.unknown_names import list_depending, mentions


def check_statements(
    context: Context, statements: Sequence[tree.Statement], depending: set[str]
) -> None:
    """Raise the first error in statements that name nothing that depends on a template argument.

    `depending` are the names that do; what the context is given is thrown away.
    """
    context.ending.append([])
    context.scope = Scope(context.scope)
    depth = len(context.ending)
    _Check(context, set(depending), Loop(_go_on, depth, depth)).run(statements)


def check_left_out(context: Context, branch: tree.Block | tree.If) -> None:
    """A branch that `if constexpr` leaves out; in a template, what depends on no argument."""
    function = context.function
    if function is None or _is_of_template(context):
        return
    is_open = any(is_deduced(each.type) for each in function.parameters)
    is_open = is_open or bool(function.template_parameters) or function.specialized is not None
    check_statements(context, (branch,), list_open_names(function) if is_open else set())


def list_open_names(function: tree.Function) -> set[str]:
    """The names in a template whose types or values depend on its arguments."""
    names = list_depending(function) | {each.name for each in function.template_parameters}
    for each in function.parts:
        declared = list_declared_names(each)
        if declared and mentions((each,), names):
            names.update(declared)
    return names


def _is_of_template(context: Context) -> bool:
    """Whether a place is in a class that is made from a template, or in a lambda."""
    scope: Scope | None = context.scope
    while scope is not None:
        number = scope.owner
        info = None if number is None else context.unit.classes.get(number)
        if number in context.unit.closures or (info is not None and info.template is not None):
            return True
        scope = scope.outer
    return False


def _go_on() -> None:
    """Nothing happens before `continue` in what is thrown away."""


def _copy_scope(context: Context, scope: Scope) -> Scope:
    """The names in a function as they are now: loops take theirs back."""
    unit = context.unit
    is_shared = scope.owner is not None or scope in (unit.root, *unit.namespaces.values())
    if is_shared or scope.outer is None:
        return scope
    copied = Scope(_copy_scope(context, scope.outer))
    copied.symbols, copied.more = dict(scope.symbols), scope.more
    return copied


def snapshot(context: Context) -> Context:
    """A place in a function as it is now, for what is compiled there later."""
    return replace(
        context,
        scope=_copy_scope(context, context.scope),
        out=[],
        loops=[replace(x, before_continue=x.before_continue and _go_on) for x in context.loops],
        ending=[[*each] for each in context.ending],
        temporaries={},
        widened=set(),
        wide=None,
    )


class _Check:
    """A walk through statements, with the names that depend on template arguments so far."""

    def __init__(self, context: Context, depending: set[str], inside: Loop) -> None:
        self.context = context
        self.depending = depending
        self.inside = inside
        function = context.function
        result = None if function is None else function.result
        self.has_open_result = result is not None and (
            is_deduced(result) or mentions((result,), depending)
        )

    def run(self, statements: Sequence[tree.Statement]) -> None:
        """Compile those that depend on nothing; look into the others."""
        for each in statements:
            is_open = isinstance(each, tree.Return) and self.has_open_result
            # A `static_assert` may fail where nobody gets to: g++ 13 and later follow CWG 2518.
            is_open = is_open or any(isinstance(x, tree.StaticAssert) for x in tree.walk(each))
            if is_open or mentions((each,), self.depending):
                self._look_into(each)
            else:
                self.context.execute(each)

    def _look_into(self, node: tree.Statement) -> None:
        match node:
            case tree.Block(statements=statements):
                self._run_inner(statements)
            case tree.If(then=then, otherwise=otherwise):
                self._run_inner(then.statements)
                if otherwise is not None:
                    self._look_into(otherwise)
            case tree.For(start=start, body=body):
                if start is not None:
                    self.depending.update(list_declared_names(start))
                self._run_loop(body)
            case tree.RangeFor(declaration=declaration, body=body):
                self.depending.update(list_declared_names(declaration))
                self._run_loop(body)
            case tree.While(body=body) | tree.DoWhile(body=body):
                self._run_loop(body)
            case tree.Switch():
                for each in tree.walk(node):
                    self.depending.update(list_declared_names(each))
            case _:
                self.depending.update(list_declared_names(node))

    def _run_loop(self, body: tree.Block) -> None:
        self.context.loops.append(self.inside)
        self._run_inner(body.statements)
        self.context.loops.pop()

    def _run_inner(self, statements: Sequence[tree.Statement]) -> None:
        outer, self.context.scope = self.context.scope, Scope(self.context.scope)
        known = set(self.depending)
        self.run(statements)
        self.depending = known
        self.context.scope = outer
