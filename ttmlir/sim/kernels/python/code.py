"""Short ways to build nodes of Python's `ast`, and what is known about finished ones."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Set
from typing import cast

from ttmlir.cpp.tree import Position

BINARY: dict[str, type[ast.operator]] = {
    "+": ast.Add,
    "-": ast.Sub,
    "*": ast.Mult,
    "/": ast.Div,
    "//": ast.FloorDiv,
    "%": ast.Mod,
    "<<": ast.LShift,
    ">>": ast.RShift,
    "&": ast.BitAnd,
    "|": ast.BitOr,
    "^": ast.BitXor,
}
COMPARE: dict[str, type[ast.cmpop]] = {
    "==": ast.Eq,
    "!=": ast.NotEq,
    "<": ast.Lt,
    ">": ast.Gt,
    "<=": ast.LtE,
    ">=": ast.GtE,
}

_SIMPLE = (
    ast.Name,
    ast.Constant,
    ast.BinOp,
    ast.UnaryOp,
    ast.Compare,
    ast.BoolOp,
    ast.IfExp,
    ast.Subscript,
    ast.Tuple,
    ast.List,
    ast.Attribute,
    ast.operator,
    ast.unaryop,
    ast.cmpop,
    ast.boolop,
    ast.expr_context,
    ast.keyword,
)


def name(identifier: str) -> ast.Name:
    """A variable that is read."""
    return ast.Name(identifier, ast.Load())


def constant(value: float | str | None) -> ast.Constant:
    """A literal."""
    return ast.Constant(value)


def call(function: ast.expr | str, *arguments: ast.expr, **keywords: ast.expr) -> ast.Call:
    """A call."""
    callee = name(function) if isinstance(function, str) else function
    words = [ast.keyword(word, value) for word, value in keywords.items()]
    return ast.Call(callee, list(arguments), words)


def attribute(base: ast.expr, member: str) -> ast.Attribute:
    """`base.member`."""
    return ast.Attribute(base, member, ast.Load())


def binary(operator: str, left: ast.expr, right: ast.expr) -> ast.BinOp:
    """A binary operator of Python."""
    return ast.BinOp(left, BINARY[operator](), right)


def compare(operator: str, left: ast.expr, right: ast.expr) -> ast.Compare:
    """A comparison."""
    return ast.Compare(left, [COMPARE[operator]()], [right])


def negation(operand: ast.expr) -> ast.UnaryOp:
    """`not operand`."""
    return ast.UnaryOp(ast.Not(), operand)


def choice(condition: ast.expr, then: ast.expr, otherwise: ast.expr) -> ast.IfExp:
    """`then if condition else otherwise`."""
    return ast.IfExp(condition, then, otherwise)


def subscript(base: ast.expr, index: ast.expr) -> ast.Subscript:
    """`base[index]`."""
    return ast.Subscript(base, index, ast.Load())


def tuple_of(*elements: ast.expr) -> ast.Tuple:
    """A tuple."""
    return ast.Tuple(list(elements), ast.Load())


def list_of(elements: Iterable[ast.expr]) -> ast.List:
    """A list."""
    return ast.List(list(elements), ast.Load())


def walrus(identifier: str, value: ast.expr) -> ast.NamedExpr:
    """`(identifier := value)`."""
    return ast.NamedExpr(ast.Name(identifier, ast.Store()), value)


def assign(target: ast.expr, value: ast.expr) -> ast.Assign:
    """`target = value`, where the target was built to be read."""
    match target:
        case ast.Name(id=identifier):
            target = ast.Name(identifier, ast.Store())
        case ast.Subscript(value=base, slice=index):
            target = ast.Subscript(base, index, ast.Store())
        case _:
            raise AssertionError(f"{type(target).__name__} cannot be assigned to")
    return ast.Assign([target], value)


def last_of(*values: ast.expr) -> ast.expr:
    """All values in order; the last one is the result."""
    if len(values) == 1:
        return values[0]
    return subscript(tuple_of(*values), constant(-1))


def wait_for(condition: ast.expr) -> ast.While:
    """`while not condition: yield`."""
    return ast.While(negation(condition), [ast.Expr(ast.Yield())], [])


def has_effect(node: ast.AST, pure_calls: Set[str]) -> bool:
    """Whether evaluating an expression does more than find a value."""
    return not all(_is_pure(each, pure_calls) for each in walk(node))


def _is_pure(node: ast.AST, pure_calls: Set[str]) -> bool:
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id in pure_calls
    return isinstance(node, _SIMPLE)


def is_stable(node: ast.expr) -> bool:
    """Whether an expression can be written twice: it is cheap and calls nothing."""
    allowed = (ast.Name, ast.Constant, ast.expr_context)
    inner = (*allowed, ast.BinOp, ast.operator, ast.Subscript)
    return all(isinstance(each, inner) for each in walk(node))


def locate(node: ast.AST, position: Position | None, shift: int = 0) -> None:
    """Give a place in the C++ source to all parts of a node that have none yet.

    Lines of headers are those of the kernel, shifted: see `KernelSources`.
    """
    if position is None:
        return
    line, column, end = position.line + shift, position.column - 1, position.column
    pending = [node]
    while pending:
        each = pending.pop()
        known = each.__dict__
        if "lineno" in known:
            continue
        pending.extend(list_children(each))
        if isinstance(each, _LOCATED):
            known["lineno"] = known["end_lineno"] = line
            known["col_offset"], known["end_col_offset"] = column, end


_LOCATED = (ast.expr, ast.stmt, ast.keyword, ast.arg)


def list_children(node: ast.AST) -> list[ast.AST]:
    """The nodes right below a node, as `ast.iter_child_nodes` gives them but twice as fast."""
    found = list[ast.AST]()
    for each in node.__dict__.values():
        if isinstance(each, ast.AST):
            found.append(each)
        elif type(each) is list:
            found += [one for one in cast("list[object]", each) if isinstance(one, ast.AST)]
    return found


def walk(node: ast.AST) -> Iterator[ast.AST]:
    """The node and all nodes below it, in no particular order."""
    pending = [node]
    while pending:
        each = pending.pop()
        yield each
        pending += list_children(each)
