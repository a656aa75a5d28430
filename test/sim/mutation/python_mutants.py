"""Mutants of a kernel in Python: the changes of `mutants`, on Python's trees."""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from mutants import Mutant, difference

_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
}
_OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
_ENUMERATORS = {
    "SUM": "MAX",
    "REDUCE_ROW": "REDUCE_COL",
    "ROW": "COL",
    "ELWADD": "ELWMUL",
}
_JUMPS: dict[type[ast.stmt], type[ast.stmt]] = {ast.Break: ast.Continue, ast.Continue: ast.Break}


def python_mutants(text: str) -> list[Mutant]:
    """All mutants of a kernel as `ast.unparse` writes it, in the order of its text."""
    found = list[Mutant]()
    texts, keys = {text}, Counter[str]()
    tree = ast.parse(text)
    for changed in _changed(tree):
        mutated = ast.unparse(changed)
        if mutated in texts:
            continue
        texts.add(mutated)
        key = difference(text, mutated)
        keys[key] += 1
        found.append(Mutant(key if keys[key] == 1 else f"{key} #{keys[key]}", mutated))
    return found


def _changed(tree: ast.Module) -> Iterator[ast.Module]:
    """The tree with one change, for each change there is."""
    function = tree.body[0]
    assert isinstance(function, ast.FunctionDef), "a text is one kernel"
    nodes = [node for each in function.body for node in ast.walk(each)]
    for node in nodes:
        for name, value in ast.iter_fields(node):
            for i, child in enumerate(value if isinstance(value, list) else [value]):
                for other in _others(child):
                    yield _replaced(tree, node, name, i if isinstance(value, list) else None, other)
    for i, statement in enumerate(function.body):
        for other in _others(statement):
            yield _replaced(tree, function, "body", i, other)


def _replaced(
    tree: ast.Module, node: ast.AST, name: str, index: int | None, other: ast.AST
) -> ast.Module:
    """A copy of the tree with another child of a node."""
    old = getattr(node, name)
    setattr(node, name, other if index is None else [*old[:index], other, *old[index + 1 :]])
    changed = copy.deepcopy(tree)
    setattr(node, name, old)
    return ast.fix_missing_locations(changed)


def _others(node: object) -> Iterator[ast.AST]:
    match node:
        case ast.stmt():
            yield from _other_statements(node)
        case ast.Call(args=arguments):
            yield from _with_other_arguments(node, arguments)
        case ast.Compare(left=left, ops=[operator], comparators=right):
            if other := _COMPARISONS.get(type(operator)):
                yield ast.Compare(left, [other()], right)
        case ast.BinOp(left=left, op=operator, right=right):
            if other := _OPERATORS.get(type(operator)):
                yield ast.BinOp(left, other(), right)
        case ast.Constant() | ast.Attribute():
            yield from _other_words(node)
        case _:
            pass


def _other_statements(node: ast.stmt) -> Iterator[ast.stmt]:
    match node:
        case ast.Expr(value=ast.Call()):
            yield ast.Pass()
        case ast.Break() | ast.Continue():
            yield _JUMPS[type(node)]()
        case ast.Assign(value=value) | ast.AugAssign(value=value):
            for other in _off(value):
                changed = copy.copy(node)
                changed.value = other
                yield changed
        case ast.If(test=test):
            yield ast.If(ast.UnaryOp(ast.Not(), test), node.body, node.orelse)
        case _:
            pass


def _other_words(node: ast.Constant | ast.Attribute) -> Iterator[ast.expr]:
    match node:
        case ast.Constant(value=bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(value=int(value)):
            numbers = (value + 1, value - 1, 2 * value) if value else (1,)
            yield from (ast.Constant(each) for each in numbers)
        case ast.Attribute(value=scope, attr=member) if member in _ENUMERATORS:
            yield ast.Attribute(scope, _ENUMERATORS[member], ast.Load())
        case _:
            pass


def _with_other_arguments(call: ast.Call, arguments: list[ast.expr]) -> Iterator[ast.Call]:
    for i, (left, right) in enumerate(pairwise(arguments)):
        if ast.dump(left) != ast.dump(right):
            yield ast.Call(call.func, [*arguments[:i], right, left, *arguments[i + 2 :]], [])
    for i, argument in enumerate(arguments):
        for other in _off(argument):
            yield ast.Call(call.func, [*arguments[:i], other, *arguments[i + 1 :]], [])


def _off(value: ast.expr) -> Iterator[ast.expr]:
    """One more, twice, half of a size, address or index; literals change by themselves."""
    if isinstance(value, ast.Name | ast.BinOp | ast.Call):
        yield ast.BinOp(value, ast.Add(), ast.Constant(1))
        yield ast.BinOp(value, ast.Mult(), ast.Constant(2))
        yield ast.BinOp(value, ast.FloorDiv(), ast.Constant(2))
