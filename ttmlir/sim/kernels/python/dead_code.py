"""Removal of code without effect: of variables that nothing needs, and of loops around nothing.

What a processor leaves out of a kernel would otherwise leave the index arithmetic of the calls
behind. As in C++, a loop without effect is taken to end.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from ttmlir.sim.kernels.python import code

_Effect = Callable[[ast.AST], bool]


def remove_dead_code(body: list[ast.stmt], has_effect: _Effect) -> list[ast.stmt]:
    """The statements of a function that matter."""
    return _Pruner(has_effect).run(body)


class _Pruner:
    """Marks what matters until nothing is added, then leaves out the rest."""

    def __init__(self, has_effect: _Effect) -> None:
        self.has_effect = has_effect
        self.needed = set[str]()
        self.alive = set[int]()
        self.changed = False

    def run(self, body: list[ast.stmt]) -> list[ast.stmt]:
        self.changed = True
        while self.changed:
            self.changed = False
            self._mark_all(body, False)
        return self._kept(body)

    def _mark_all(self, body: Sequence[ast.stmt], in_live_loop: bool) -> bool:
        """Mark statements; whether one of them has an effect, jumps apart."""
        effects = [self._mark(each, in_live_loop) for each in reversed(body)]
        return any(effects)

    def _mark(self, node: ast.stmt, in_live_loop: bool) -> bool:
        match node:
            case ast.Break() | ast.Continue():
                if in_live_loop:
                    self._live(node)
                return False
            case ast.Pass():
                return False
            case ast.Expr(value=value):
                return self._live(node, value) if self.has_effect(value) else False
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                matters = name in self.needed or self.has_effect(value)
                return self._live(node, value) if matters else False
            case ast.If():
                return self._mark_if(node, in_live_loop)
            case ast.For() | ast.While():
                return self._mark_loop(node)
            case _:
                return self._live(node, node)

    def _mark_if(self, node: ast.If, in_live_loop: bool) -> bool:
        then = self._mark_all(node.body, in_live_loop)
        otherwise = self._mark_all(node.orelse, in_live_loop)
        effect = then or otherwise or self.has_effect(node.test)
        jumps = any(id(each) in self.alive for each in (*node.body, *node.orelse))
        if effect or jumps:
            self._live(node, node.test)
        return effect

    def _mark_loop(self, node: ast.For | ast.While) -> bool:
        head = node.iter if isinstance(node, ast.For) else node.test
        effect = self._mark_all(node.body, id(node) in self.alive)
        if effect or self.has_effect(head) or _is_endless(node):
            return self._live(node, head)
        return False

    def _live(self, node: ast.stmt, *reads: ast.AST) -> bool:
        if id(node) in self.alive:
            return True
        self.changed = True
        self.alive.add(id(node))
        for each in (each for read in reads for each in code.walk(read)):
            if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load):
                self.needed.add(each.id)
        return True

    def _kept(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        kept = list[ast.stmt]()
        for node in body:
            if id(node) not in self.alive:
                continue
            if isinstance(node, ast.If):
                node = self._kept_if(node)
            elif isinstance(node, (ast.For, ast.While)):
                node.body = self._kept(node.body) or [_at(ast.Pass(), node)]
            kept.append(node)
        return kept

    def _kept_if(self, node: ast.If) -> ast.stmt:
        node.body = self._kept(node.body)
        node.orelse = self._kept(node.orelse)
        if not node.body and not node.orelse:
            return ast.copy_location(ast.Expr(node.test), node)
        if not node.body:
            node.test = ast.copy_location(ast.UnaryOp(ast.Not(), node.test), node.test)
            node.body, node.orelse = node.orelse, []
        return node


def _at(node: ast.stmt, place: ast.stmt) -> ast.stmt:
    return ast.copy_location(node, place)


def _is_endless(node: ast.For | ast.While) -> bool:
    """Whether a loop is `while True` and nothing leaves it."""
    if isinstance(node, ast.For) or not isinstance(node.test, ast.Constant):
        return False
    return not any(isinstance(each, ast.Break) for each in code.walk(node))
