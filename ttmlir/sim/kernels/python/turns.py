"""Makes loops count their turns, so that a kernel that never ends is stopped."""

from __future__ import annotations

import ast

from ttmlir.sim.kernels.python import code
from ttmlir.sim.kernels.python.clock import is_wait
from ttmlir.sim.kernels.unit import Unit

_FEW = 64
"""Turns that are known beforehand and not worth counting."""


class TurnCounter(ast.NodeTransformer):
    """Lets the API give out the turns of loops: by `limited(range)`, and for others `turns()`."""

    def __init__(self, unit: Unit) -> None:
        """Bind the calls in a unit where they are needed."""
        self.unit = unit

    def visit_For(self, node: ast.For) -> ast.For:
        """`for i in range(n)` becomes `for i in limited(range(n))`."""
        self.generic_visit(node)
        if not _is_short(node.iter):
            node.iter = code.call(self.unit.bind("limited"), node.iter)
        return node

    def visit_While(self, node: ast.While) -> ast.While | ast.For:
        """`while test` becomes `for _ in turns()`, left when the test fails."""
        if is_wait(node):
            return node
        self.generic_visit(node)
        body = node.body
        if not isinstance(node.test, ast.Constant):
            leave = ast.If(code.negation(node.test), [ast.Break()], [])
            body = [ast.copy_location(leave, node.test), *body]
        loop = ast.For(ast.Name("_", ast.Store()), code.call(self.unit.bind("turns")), body, [])
        return ast.copy_location(loop, node)


def _is_short(numbers: ast.expr) -> bool:
    if not isinstance(numbers, ast.Call):
        return False
    ends = [each.value for each in numbers.args if isinstance(each, ast.Constant)]
    known = [each for each in ends if isinstance(each, int)]
    return len(known) == len(numbers.args) and len(range(*known)) <= _FEW
