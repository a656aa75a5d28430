"""Constant expressions: what a kernel computes while it is compiled.

An expression of Python that needs nothing but constants, helpers of compiled code and functions of
the kernel is run as it would be run later, with a limit on its steps.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import cast

from ttmlir.sim.kernels.limits import MAX_FOLDED_STEPS
from ttmlir.sim.kernels.python import code
from ttmlir.sim.kernels.python.clock import THREAD
from ttmlir.sim.kernels.python.faults import FAULTS
from ttmlir.sim.kernels.python.names import NAMES, PURE

_TICK = "_tick"
_ALLOWED = frozenset((*PURE, "_put", "_put_at", "_put_bits", "_overwrite", "_missing", "_endless"))
_UNSUITABLE = (ast.Yield, ast.YieldFrom, ast.Try, ast.Raise)


_MEMBERS = frozenset(("clock", "next_compile_time_args_offset", "next_common_runtime_args_offset"))
"""Members that constants are made of."""


class TooManySteps(Exception):
    """A constant that takes too long to compute."""


@dataclass
class Folder:
    """Computes constants of one kernel."""

    functions: Mapping[str, ast.FunctionDef]
    """The kernel's functions that are compiled, by their names."""
    known: Mapping[str, ast.expr]
    """The values of variables that never change."""
    library: Mapping[str, Callable[..., object]] = field(
        default_factory=dict[str, Callable[..., object]]
    )
    """Calls of the library whose results are known, by the variables that hold them."""
    steps: int = 0
    _names: dict[str, object] = field(default_factory=dict[str, object])
    _unsuitable: set[str] = field(default_factory=set[str])

    def fold(self, node: ast.expr) -> ast.expr | None:
        """The value of an expression as literals; None if it is not known yet.

        Raises TooManySteps.
        """
        if is_literal(node):
            return node
        if not self._prepare(node, frozenset()):
            return None
        try:
            value = _run(node, self._environment())
        except (*FAULTS, AttributeError):
            return None
        return write_literal(value)

    def _environment(self) -> dict[str, object]:
        if not self._names:
            own = {_TICK: self._tick, THREAD: SimpleNamespace(clock=0)}
            self._names = {"__builtins__": {}, **NAMES, **own}
        return self._names

    def _tick(self) -> None:
        self.steps += 1
        if self.steps > MAX_FOLDED_STEPS:
            raise TooManySteps

    def _prepare(self, node: ast.AST, own: frozenset[str]) -> bool:
        """Whether a piece of code can run now; defines the functions that it calls."""
        parts = list(ast.walk(node))
        if any(isinstance(each, _UNSUITABLE) for each in parts):
            return False
        members = (each.attr for each in parts if isinstance(each, ast.Attribute))
        if not _MEMBERS.issuperset(members):
            return False
        names = [each for each in parts if isinstance(each, ast.Name)]
        bound = own | {each.id for each in names if isinstance(each.ctx, ast.Store)}
        return all(self._knows(name.id) for name in names if name.id not in bound)

    def _knows(self, name: str) -> bool:
        environment = self._environment()
        if name in _ALLOWED or name == THREAD:
            return True
        if name in self._unsuitable:
            return False
        if name in environment:
            return name not in NAMES
        if name in self.library:
            environment[name] = self.library[name]
            return True
        if name in self.known:
            return self._compute(name, self.known[name])
        return name in self.functions and self._define(name, self.functions[name])

    def _compute(self, name: str, node: ast.expr) -> bool:
        """Make a variable known whose value is written, or a call of the library."""
        environment = self._environment()
        if is_literal(node):
            environment[name] = read_literal(node)
            return True
        if not self._prepare(node, frozenset()):
            return False
        try:
            environment[name] = _run(node, environment)
        except (*FAULTS, AttributeError):
            return False
        return True

    def _define(self, name: str, function: ast.FunctionDef) -> bool:
        """Make a function of the kernel known; False if it needs what is not known yet."""
        environment = self._environment()
        environment[name] = None
        parameters = frozenset(each.arg for each in function.args.args)
        if not all(self._prepare(each, parameters | _stored(function)) for each in function.body):
            del environment[name]
            self._unsuitable.add(name)
            return False
        counted = _Counter().visit(copy.deepcopy(function))
        module = ast.fix_missing_locations(ast.Module([counted], []))
        exec(compile(module, "<constant>", "exec"), environment)
        return True


def _run(node: ast.expr, environment: dict[str, object]) -> object:
    """The value of an expression whose names are known."""
    expression = ast.Expression(copy.deepcopy(node))
    for each in ast.walk(expression):
        if isinstance(each, (ast.expr, ast.keyword)):
            each.lineno = each.end_lineno = 1
            each.col_offset = each.end_col_offset = 0
    return eval(compile(expression, "<constant>", "eval"), environment)


def _stored(function: ast.FunctionDef) -> frozenset[str]:
    """The variables that a function sets."""
    named = (each for each in ast.walk(function) if isinstance(each, ast.Name))
    return frozenset(each.id for each in named if isinstance(each.ctx, ast.Store))


class _Counter(ast.NodeTransformer):
    """Lets functions and loops count their turns."""

    def _counted(self, node: ast.FunctionDef | ast.For | ast.While) -> ast.AST:
        self.generic_visit(node)
        node.body.insert(0, ast.Expr(code.call(_TICK)))
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """A call is a step."""
        return self._counted(node)

    def visit_For(self, node: ast.For) -> ast.AST:
        """Each iteration is a step."""
        return self._counted(node)

    def visit_While(self, node: ast.While) -> ast.AST:
        """Each iteration is a step."""
        return self._counted(node)


def is_literal(node: ast.expr) -> bool:
    """Whether an expression is written with numbers only."""
    match node:
        case ast.Constant():
            return True
        case ast.List(elts=elements):
            return all(map(is_literal, elements))
        case _:
            return False


def read_literal(node: ast.expr) -> object:
    """What an expression that is written with numbers means."""
    match node:
        case ast.Constant(value=value):
            return value
        case ast.List(elts=elements):
            return [read_literal(each) for each in elements]
        case _:
            raise AssertionError("this is no literal")


def write_literal(value: object) -> ast.expr | None:
    """A number, or a list of such, as an expression; None for what is none."""
    match value:
        case bool() | int() | float() | str() | None:
            return code.constant(cast("int", value))
        case list():
            parts = list(map(write_literal, cast("list[object]", value)))
            known = [each for each in parts if each is not None]
            return code.list_of(known) if len(known) == len(parts) else None
        case _:
            return None
