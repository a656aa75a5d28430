"""The kinds of changes: which nodes of a module can become which others.

A change that Python itself would refuse wherever it is executed (a text minus a number, a missing
argument) says nothing about tests, so kinds leave out what is mostly that.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass

Edit = tuple[ast.expr | ast.stmt, ast.expr | ast.stmt]
"""A node of the module, and the node to put in its place."""


@dataclass(frozen=True)
class Place:
    """A node that may be changed and what its surroundings say about it."""

    node: ast.AST
    at_import: bool
    """Whether it is executed when the module is loaded: a table, a default, a field."""


def _compare(place: Place) -> Iterator[Edit]:
    """`<` for `<=`, `==` for `!=`, `in` for `not in`."""
    match place.node:
        case ast.Compare(left, operators, right) as node:
            for at, each in enumerate(operators):
                changed = [*operators[:at], _OTHER_COMPARISON[type(each)](), *operators[at + 1 :]]
                yield node, ast.Compare(left, changed, right)


_OTHER_COMPARISON: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}


def _connective(place: Place) -> Iterator[Edit]:
    """`and` for `or`; a `not` left out."""
    match place.node:
        case ast.BoolOp(ast.And(), values) as node:
            yield node, ast.BoolOp(ast.Or(), values)
        case ast.BoolOp(ast.Or(), values) as node:
            yield node, ast.BoolOp(ast.And(), values)
        case ast.UnaryOp(ast.Not(), operand) as node:
            yield node, operand


def _arithmetic(place: Place) -> Iterator[Edit]:
    """`+` for `-`, `*` for `//`, `<<` for `>>`."""
    match place.node:
        case ast.BinOp(left, operator, right) as node if not (_is_text(left) or _is_text(right)):
            if other := _OTHER_OPERATOR.get(type(operator)):
                yield node, ast.BinOp(left, other(), right)


_OTHER_OPERATOR: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.Div: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
}


def _is_text(node: ast.expr) -> bool:
    match node:
        case ast.Constant(value=str() | bytes()) | ast.JoinedStr() | ast.List() | ast.Tuple():
            return True
        case ast.BinOp(left=left, right=right):
            return _is_text(left) or _is_text(right)
        case _:
            return False


def _constant(place: Place) -> Iterator[Edit]:
    """A number one more, one less or doubled; True for False."""
    match place.node:
        case ast.Constant(bool(value)) as node:
            yield node, ast.Constant(not value)
        case ast.Constant(int(value)) as node:
            yield node, ast.Constant(value + 1)
            if value > 0:
                yield node, ast.Constant(value - 1)
        case ast.Constant(float(value)) as node:
            yield node, ast.Constant(2 * value or 1.0)


def _extent(place: Place) -> Iterator[Edit]:
    """A range or slice that ends one earlier, or starts one later."""
    match place.node:
        case ast.Call(ast.Name("range"), [*first, last], keywords=[]) as node:
            yield node, ast.Call(node.func, [*first, _plus(last, -1)], [])
            if first:
                yield node, ast.Call(node.func, [_plus(first[0], 1), *first[1:], last], [])
        case ast.Subscript(value, ast.Slice(lower, upper, step)) as node:
            if lower and not isinstance(lower, ast.Constant):
                changed = ast.Slice(_plus(lower, 1), upper, step)
                yield node, ast.Subscript(value, changed, node.ctx)
            if upper and not isinstance(upper, ast.Constant):
                changed = ast.Slice(lower, _plus(upper, -1), step)
                yield node, ast.Subscript(value, changed, node.ctx)


def _plus(node: ast.expr, change: int) -> ast.expr:
    operator = ast.Add() if change > 0 else ast.Sub()
    return ast.BinOp(node, operator, ast.Constant(abs(change)))


def _leave_out(place: Place) -> Iterator[Edit]:
    """A call, an assignment to a member or element, `continue` or `break` left out."""
    match place.node:
        case ast.Expr(ast.Call(ast.Name("assert_never"))):
            return
        case (
            ast.Expr(ast.Call() | ast.YieldFrom() | ast.Yield())
            | ast.AugAssign()
            | ast.Assign([ast.Attribute() | ast.Subscript()])
            | ast.Continue()
            | ast.Break()
            | ast.Delete() as node
        ) if not place.at_import:
            yield node, ast.Pass()


def _guard(place: Place) -> Iterator[Edit]:
    """A condition that never leaves, or that is always or never met."""
    match place.node:
        case ast.If(test, [*_, ast.Raise() | ast.Return() | ast.Continue() | ast.Break()], []):
            yield test, ast.Constant(False)
        case ast.If(test) | ast.IfExp(test):
            yield test, ast.Constant(False)
            yield test, ast.Constant(True)
        case ast.comprehension(ifs=conditions):
            for condition in conditions:
                yield condition, ast.Constant(True)


def _swap_arguments(place: Place) -> Iterator[Edit]:
    """Two neighbouring arguments of a call exchanged."""
    match place.node:
        case ast.Call(ast.Name(name)) if name in _ORDERED_BY_TYPE:
            return
        case ast.Call(function, arguments, keywords) as node:
            for swapped in _swaps(arguments):
                yield node, ast.Call(function, swapped, keywords)


_ORDERED_BY_TYPE = {"isinstance", "issubclass", "getattr", "hasattr", "setattr", "cast", "zip"}


def _swaps(nodes: list[ast.expr]) -> Iterator[list[ast.expr]]:
    """The list with one pair of neighbours exchanged that differ."""
    for at in range(len(nodes) - 1):
        first, second = nodes[at : at + 2]
        if ast.dump(first) == ast.dump(second):
            continue
        if not (isinstance(first, ast.Starred) or isinstance(second, ast.Starred)):
            yield [*nodes[:at], second, first, *nodes[at + 2 :]]


def _leave_out_argument(place: Place) -> Iterator[Edit]:
    """An argument that is given by name left to its default."""
    match place.node:
        case ast.Call(function, arguments, keywords) as node:
            for at, keyword in enumerate(keywords):
                if keyword.arg not in (None, "strict"):
                    rest = [*keywords[:at], *keywords[at + 1 :]]
                    yield node, ast.Call(function, arguments, rest)


def _result(place: Place) -> Iterator[Edit]:
    """A function that returns nothing, the opposite, or two results exchanged."""
    match place.node:
        case ast.Return(None | ast.Constant()):
            return
        case ast.Return(ast.Compare() | ast.BoolOp() | ast.UnaryOp(ast.Not()) as value):
            yield value, ast.UnaryOp(ast.Not(), value)
        case ast.Return(ast.Tuple(elements) as value) if len(elements) > 1:
            for swapped in _swaps(elements):
                yield value, ast.Tuple(swapped, ast.Load())
        case ast.Return(value) if value:
            yield value, ast.Constant(None)


def _function(place: Place) -> Iterator[Edit]:
    """`min` for `max`, `any` for `all`, `floor` for `ceil`, an order left as it comes."""
    match place.node:
        case ast.Call(ast.Name(name), arguments, keywords) as node if name in _OTHER_FUNCTION:
            other = ast.Name(_OTHER_FUNCTION[name], ast.Load())
            kept = keywords if other.id != "list" else []
            yield node, ast.Call(other, arguments, kept)
        case ast.Call(ast.Attribute(value, name), arguments, keywords) as node:
            if name in _OTHER_METHOD:
                other = ast.Attribute(value, _OTHER_METHOD[name], ast.Load())
                yield node, ast.Call(other, arguments, keywords)


def _both_ways(*pairs: tuple[str, str]) -> dict[str, str]:
    return {name: other for pair in pairs for name, other in (pair, pair[::-1])}


_OTHER_FUNCTION = {
    **_both_ways(("min", "max"), ("any", "all"), ("ceil", "floor")),
    "sorted": "list",
    "reversed": "list",
}
_OTHER_METHOD = _both_ways(
    ("minimum", "maximum"), ("floor", "ceil"), ("startswith", "endswith"), ("any", "all")
)


def _table(place: Place) -> Iterator[Edit]:
    """An entry of a table dropped, or the values of two entries exchanged."""
    if not place.at_import:
        return
    match place.node:
        case ast.Dict(keys, values) as node if len(keys) > 2:
            for at in range(len(keys)):
                yield node, ast.Dict(_without(keys, at), _without(values, at))
            if None not in keys:
                yield from ((node, ast.Dict(keys, swapped)) for swapped in _swaps(values))
        case ast.Tuple() | ast.List() | ast.Set() as node if len(node.elts) > 2:
            if not isinstance(getattr(node, "ctx", None), ast.Store):
                for at in range(len(node.elts)):
                    yield node, type(node)(_without(node.elts, at), *_context(node))


def _context(node: ast.expr) -> list[ast.expr_context]:
    return [node.ctx] if isinstance(node, ast.Tuple | ast.List) else []


def _without(elements: list, at: int) -> list:
    return [*elements[:at], *elements[at + 1 :]]


@dataclass(frozen=True)
class Kind:
    """A kind of change; `weight` says how many of them a sample holds."""

    name: str
    weight: int
    edits: Callable[[Place], Iterator[Edit]]


KINDS = (
    Kind("comparison", 3, _compare),
    Kind("connective", 2, _connective),
    Kind("arithmetic", 2, _arithmetic),
    Kind("constant", 3, _constant),
    Kind("extent", 1, _extent),
    Kind("statement left out", 3, _leave_out),
    Kind("condition", 4, _guard),
    Kind("arguments exchanged", 1, _swap_arguments),
    Kind("argument left out", 2, _leave_out_argument),
    Kind("result", 2, _result),
    Kind("function", 1, _function),
    Kind("table", 2, _table),
)
