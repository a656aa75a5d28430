"""Cycles of the processor that runs a kernel: an estimate for each stretch of code.

One instruction per cycle, but for loads, multiplications and divisions. Source:
tt-isa-documentation, WormholeB0/TensixTile/BabyRISCV/README.md: multiply 2 cycles, divide 6 to 33,
load from L1 at least 8 and from local memory 2, one narrow store to L1 every 5.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

THREAD = "_thread"
"""The variable of the thread whose `clock` counts."""

_CALL = 3
"""Instructions of a call beside its arguments: jump, return, and what is saved."""
_BRANCH = 2
_OPERATORS: dict[type[ast.AST], int] = {ast.Mult: 2, ast.FloorDiv: 20, ast.Mod: 20, ast.Div: 20}
_CALLS = {
    **{"_load": 8, "_store": 5, "_element_at": 10, "_put_at": 10, "_range": 0},
    **{"_quotient": 20, "_remainder": 20, "_float32": 10},
    **{"_point": 0, "_point_at_one": 0, "_is_local": 0, "_address": 0, "_pointer_to": 0},
}
_MASKS = frozenset((1 << bits) - 1 for bits in (8, 16, 32, 64))
_HALVES = frozenset(1 << (bits - 1) for bits in (8, 16, 32, 64))


def add_clock(body: list[ast.stmt]) -> list[ast.stmt]:
    """The statements with what adds to the clock before each stretch without branches."""
    return list(_count(body, 0))


def _count(body: Sequence[ast.stmt], before: int) -> Iterator[ast.stmt]:
    """Each stretch adds its cycles in front; `before` are cycles that belong to the first one."""
    stretch = list[ast.stmt]()
    cycles = before
    for node in body:
        if isinstance(node, ast.If):
            cycles += _cost(node.test) + _BRANCH
            yield from _flush(stretch, cycles, node)
            node.body = list(_count(node.body, 0))
            node.orelse = list(_count(node.orelse, 0))
            yield node
        elif isinstance(node, ast.For):
            yield from _flush(stretch, cycles + _cost(node.iter), node)
            # A limit on the rounds of a loop (`else`) is none of the kernel's.
            node.body = list(_count(node.body, 0 if node.orelse else 1 + _BRANCH))
            yield node
        elif isinstance(node, ast.While) and not is_wait(node):
            yield from _flush(stretch, cycles + _cost(node.test) + _BRANCH, node)
            node.body = list(_count(node.body, _cost(node.test) + _BRANCH))
            yield node
        else:
            cycles += _cost(node.test if isinstance(node, ast.While) else node)
            stretch.append(node)
            if not isinstance(node, ast.While):
                continue
            yield from _flush(stretch, cycles, node)
        stretch, cycles = [], 0
    if stretch or (cycles and body):
        yield from _flush(stretch, cycles, body[-1])


def _flush(stretch: list[ast.stmt], cycles: int, place: ast.stmt) -> Iterator[ast.stmt]:
    if cycles:
        target = ast.Attribute(ast.Name(THREAD, ast.Load()), "clock", ast.Store())
        add = ast.AugAssign(target, ast.Add(), ast.Constant(cycles))
        first = stretch[0] if stretch else place
        for each in ast.walk(add):
            if isinstance(each, (ast.expr, ast.stmt)):
                ast.copy_location(each, first)
        yield add
    yield from stretch


def is_wait(node: ast.While) -> bool:
    """Whether a loop is a blocking call, which is made again until it is done."""
    match node.body:
        case [ast.Expr(value=ast.Yield())]:
            return True
        case _:
            return False


def _cost(node: ast.AST) -> int:
    return sum(map(_own_cost, ast.walk(node)))


def _own_cost(node: ast.AST) -> int:
    match node:
        case ast.BinOp(op=operator, right=right):
            return 0 if _wraps(operator, right) else _OPERATORS.get(type(operator), 1)
        case ast.UnaryOp() | ast.Compare() | ast.BoolOp() | ast.Assign():
            return 1
        case ast.IfExp():
            return _BRANCH
        case ast.Call(func=ast.Name(id=name)) if name in _CALLS:
            return _CALLS[name]
        case ast.Call(args=arguments):
            return _CALL + len(arguments)
        case ast.Subscript():
            return 2
        case _:
            return 0


def _wraps(operator: ast.operator, right: ast.expr) -> bool:
    """Whether an operation only does for Python what registers do by their width."""
    if not isinstance(right, ast.Constant):
        return False
    numbers = _MASKS if isinstance(operator, ast.BitAnd) else _HALVES
    return isinstance(operator, (ast.BitAnd, ast.Add, ast.Sub)) and right.value in numbers
