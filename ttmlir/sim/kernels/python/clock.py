"""Cycles of the processor that runs a kernel: an estimate for each stretch of code.

One instruction per cycle, but for loads, multiplications and divisions. Source:
tt-isa-documentation, WormholeB0/TensixTile/BabyRISCV/README.md: multiply 2 cycles, divide 6 to 33,
load from L1 at least 8 and from local memory 2, one narrow store to L1 every 5. Compilers divide by
a constant with a multiplication and shifts, or with a mask, and multiply by one with shifts and
additions, or from one turn of a loop to the next.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from ttmlir.layout.enums import Arch
from ttmlir.layout.system.arch import BLACKHOLE
from ttmlir.optable.kernel import LIBRARY_CALLS
from ttmlir.optable.kernel.row import FREE
from ttmlir.sim.kernels.python import code
from ttmlir.sim.timing.costs import page_address_cycles

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
_DIVISIONS = {"_quotient", "_remainder"}
_BY_CONSTANT = 6
"""To divide by a constant: load it, multiply, take the high half, shift, correct the sign."""

_MASKS = frozenset((1 << bits) - 1 for bits in (8, 16, 32, 64))
_HALVES = frozenset(1 << (bits - 1) for bits in (8, 16, 32, 64))


@dataclass(frozen=True)
class ClockCosts:
    """Cycles of what differs between generations of chips."""

    page_address: int
    """`get_noc_addr` of a page of a tensor."""


_INLINED = 2
"""A call that works on tiles is inlined, down to what starts the program of a unit (`ALWI` in
tt-metal's compute_kernel_api)."""


@cache
def _tile_calls() -> frozenset[str]:
    """The variables of calls that keep a unit busy."""
    return frozenset(f"c_{call.cpp}" for call in LIBRARY_CALLS if call.cost is not FREE)


def clock_costs(arch_macro: str) -> ClockCosts:
    """The cycles of a generation, by the macro that kernels for it see."""
    arch = Arch.BLACKHOLE if arch_macro == BLACKHOLE.macro else Arch.WORMHOLE_B0
    return ClockCosts(page_address_cycles(arch))


def add_clock(body: list[ast.stmt], costs: ClockCosts) -> list[ast.stmt]:
    """The statements with what adds to the clock before each stretch without branches."""
    return list(_Counter(costs).count(body, 0))


class _Counter:
    """Adds what counts cycles to the statements of a kernel."""

    def __init__(self, costs: ClockCosts) -> None:
        self._costs = costs

    def count(self, body: Sequence[ast.stmt], before: int) -> Iterator[ast.stmt]:
        """Each stretch adds its cycles in front; `before` are cycles of what comes before it."""
        stretch = list[ast.stmt]()
        cycles = before
        for node in body:
            if isinstance(node, ast.If):
                cycles += self._cost(node.test) + _BRANCH
                yield from _flush(stretch, cycles, node)
                node.body = list(self.count(node.body, 0))
                node.orelse = list(self.count(node.orelse, 0))
                yield node
            elif isinstance(node, ast.For):
                yield from _flush(stretch, cycles + self._cost(node.iter), node)
                # A limit on the rounds of a loop (`else`) is none of the kernel's.
                node.body = list(self.count(node.body, 0 if node.orelse else 1 + _BRANCH))
                yield node
            elif isinstance(node, ast.While) and not is_wait(node):
                yield from _flush(stretch, cycles + self._cost(node.test) + _BRANCH, node)
                node.body = list(self.count(node.body, self._cost(node.test) + _BRANCH))
                yield node
            else:
                cycles += self._cost(node.test if isinstance(node, ast.While) else node)
                stretch.append(node)
                if not isinstance(node, ast.While):
                    continue
                yield from _flush(stretch, cycles, node)
            stretch, cycles = [], 0
        if stretch or (cycles and body):
            yield from _flush(stretch, cycles, body[-1])

    def _cost(self, node: ast.AST) -> int:
        return sum(map(self._own_cost, code.walk(node)))

    def _own_cost(self, node: ast.AST) -> int:
        match node:
            case ast.BinOp(op=operator, right=right):
                return _operator_cost(operator, right)
            case ast.UnaryOp() | ast.Compare() | ast.BoolOp() | ast.Assign():
                return 1
            case ast.IfExp() | ast.Subscript():
                return 2
            case ast.Call():
                return self._call_cost(node)
            case _:
                return 0

    def _call_cost(self, node: ast.Call) -> int:
        match node:
            case ast.Call(func=ast.Name(id=name), args=[*_, divisor]) if name in _DIVISIONS:
                return _constant_division(divisor) or _CALLS[name]
            case ast.Call(func=ast.Name(id=name)) if name in _CALLS:
                return _CALLS[name]
            case ast.Call(func=ast.Name(id=name)) if name in _tile_calls():
                return _INLINED
            case ast.Call(func=ast.Attribute(attr="get_noc_addr")):
                return self._costs.page_address
            case ast.Call(func=ast.Name(id="c_get_noc_addr"), args=[_, _]):
                return self._costs.page_address
            case _:
                return _CALL + len(node.args)


def _operator_cost(operator: ast.operator, right: ast.expr) -> int:
    if _wraps(operator, right):
        return 0
    if isinstance(operator, ast.Mult) and isinstance(right, ast.Constant):
        return 1
    divides = isinstance(operator, (ast.FloorDiv, ast.Mod))
    found = _constant_division(right) if divides else 0
    return found or _OPERATORS.get(type(operator), 1)


def _constant_division(divisor: ast.expr) -> int:
    """Cycles to divide by a constant; 0 if the divisor is none."""
    match divisor:
        case ast.Constant(value=int(number)) if number > 0:
            return 1 if number & (number - 1) == 0 else _BY_CONSTANT
        case _:
            return 0


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


def _wraps(operator: ast.operator, right: ast.expr) -> bool:
    """Whether an operation only does for Python what registers do by their width."""
    if not isinstance(right, ast.Constant):
        return False
    numbers = _MASKS if isinstance(operator, ast.BitAnd) else _HALVES
    return isinstance(operator, (ast.BitAnd, ast.Add, ast.Sub)) and right.value in numbers
