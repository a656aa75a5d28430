"""Numbers the statements of functions, so that what tests execute can be recorded and found."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator

Numbered = ast.stmt | ast.Lambda
_FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


def number_statements(tree: ast.Module) -> list[tuple[str, Numbered]]:
    """The statements inside functions and the lambdas, each with the name of its scope.

    Each node gets its place in the list as the attribute `number`.
    """
    found = list(_statements_in(tree, "", False))
    for number, (_, node) in enumerate(found):
        node.number = number
    return found


def _statements_in(parent: ast.AST, scope: str, inside: bool) -> Iterator[tuple[str, Numbered]]:
    for node in ast.iter_child_nodes(parent):
        if isinstance(node, ast.Lambda) or (inside and isinstance(node, ast.stmt)):
            yield scope, node
        yield from _statements_in(
            node, inner_scope(scope, node), inside or isinstance(node, _FUNCTIONS)
        )


def inner_scope(scope: str, node: ast.AST) -> str:
    """The name of the scope of what is inside `node`."""
    match node:
        case ast.FunctionDef(name) | ast.AsyncFunctionDef(name) | ast.ClassDef(name):
            return f"{scope}.{name}" if scope else name
        case _:
            return scope


def statement_keys(tree: ast.Module) -> list[str]:
    """What names each numbered statement although the code around it changes."""
    seen = Counter[str]()
    keys: list[str] = []
    for scope, node in number_statements(tree):
        name = f"{scope}: {ast.unparse(node).partition(chr(10))[0]}"
        seen[name] += 1
        keys.append(f"{name} #{seen[name]}")
    return keys


class Instrumenter(ast.NodeTransformer):
    """Puts `__hits__[number] = 1` before each numbered statement."""

    def __init__(self, base: int) -> None:
        """Count from `base`, so that modules do not share numbers."""
        self._base = base

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """Instrument the children, then the lists of statements."""
        super().generic_visit(node)
        for _, block in ast.iter_fields(node):
            if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
                block[:] = [each for statement in block for each in self._recorded(statement)]
        return node

    def _recorded(self, node: ast.stmt) -> Iterator[ast.stmt]:
        number = getattr(node, "number", None)
        if number is not None and not isinstance(node, ast.Nonlocal | ast.Global):
            hit = ast.Assign([self._hit(number, ast.Store())], ast.Constant(1))
            yield ast.fix_missing_locations(ast.copy_location(hit, node))
        yield node

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        """Record before the body: a call of `__setitem__` is None, so `or` goes on."""
        self.generic_visit(node)
        target = ast.Attribute(ast.Name("__hits__", ast.Load()), "__setitem__", ast.Load())
        call = ast.Call(target, [ast.Constant(self._base + node.number), ast.Constant(1)], [])
        node.body = ast.BoolOp(ast.Or(), [call, node.body])
        return ast.fix_missing_locations(ast.copy_location(node, node))

    def _hit(self, number: int, context: ast.expr_context) -> ast.Subscript:
        name = ast.Name("__hits__", ast.Load())
        return ast.Subscript(name, ast.Constant(self._base + number), context)
