"""Short ways to build nodes of Python's `ast`, and what is known about finished ones."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cache, partial
from types import CodeType, SimpleNamespace, TracebackType
from typing import Any, NoReturn, cast

from ttmlir.cpp.errors import Position
from ttmlir.layout.enums import Arch
from ttmlir.layout.system import BLACKHOLE
from ttmlir.optable.kernel import ALL_CALLS, LIBRARY_CALLS, Form
from ttmlir.optable.kernel.kernel_call import FREE, Role
from ttmlir.sim.errors import Position as SimPosition
from ttmlir.sim.errors import SimError
from ttmlir.sim.kernels.limits import MAX_FOLDED_STEPS
from ttmlir.sim.kernels.python import runtime
from ttmlir.sim.kernels.python.runtime import OUTSIDE, UNSET_READ, KernelFault
from ttmlir.sim.timing.costs import page_address_cycles

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


def list_names(node: ast.AST) -> Iterator[str]:
    """The variables of Python that an expression names."""
    return (each.id for each in walk(node) if isinstance(each, ast.Name))


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
        for field_ in _fields_of_parts(type(each)):
            part = known.get(field_)
            if type(part) is list:
                pending += part
            elif part is not None:
                pending.append(part)
        if _has_place(type(each)):
            known["lineno"] = known["end_lineno"] = line
            known["col_offset"], known["end_col_offset"] = column, end


def locate_rest(node: ast.AST, position: Position, shift: int) -> None:
    """Give a place to all parts that have none, also to those below one that has one."""
    for each in walk(node):
        if _has_place(type(each)) and "lineno" not in each.__dict__:
            locate(each, position, shift)


@cache
def _has_place(kind: type[ast.AST]) -> bool:
    return issubclass(kind, (ast.expr, ast.stmt, ast.keyword, ast.arg, ast.excepthandler))


def list_children(node: ast.AST) -> list[ast.AST]:
    """The nodes right below a node, as `ast.iter_child_nodes` gives them but faster."""
    found = list[ast.AST]()
    known = node.__dict__
    for field_ in _fields_of_children(type(node)):
        each = known.get(field_)
        if type(each) is list:
            if each:
                found += [one for one in cast("list[object]", each) if isinstance(one, ast.AST)]
        elif isinstance(each, ast.AST):
            found.append(each)
    return found


@cache
def _fields_of_children(kind: type[ast.AST]) -> tuple[str, ...]:
    """The fields that may hold nodes, in the order in which they are written."""
    return tuple(each for each in kind._fields if each not in _WORDS.get(kind, ()))


_WORDS: dict[type[ast.AST], tuple[str, ...]] = {
    ast.Constant: ("value", "kind"),
    ast.Name: ("id",),
    ast.Attribute: ("attr",),
    ast.keyword: ("arg",),
    ast.arg: ("arg", "type_comment"),
    ast.FunctionDef: ("name", "type_comment"),
    ast.Assign: ("type_comment",),
    ast.For: ("type_comment",),
    ast.ExceptHandler: ("name",),
}
"""Fields that hold names and numbers."""


@cache
def _fields_of_parts(kind: type[ast.AST]) -> tuple[str, ...]:
    """The fields that may hold expressions, statements, or what holds these."""
    return tuple(each for each in _fields_of_children(kind) if each not in ("ctx", "op", "ops"))


def walk(node: ast.AST) -> Iterator[ast.AST]:
    """The node and all nodes below it, in no particular order, without operators."""
    pending = [node]
    while pending:
        each = pending.pop()
        yield each
        known = each.__dict__
        for field_ in _fields_of_parts(type(each)):
            part = known.get(field_)
            if type(part) is list:
                # Only the keys of dictionaries, which kernels lack, are lists with gaps.
                pending += part
            elif part is not None:
                pending.append(part)


# --- Dead code ------------------------------------------------------------------------------------
# Removal of code without effect: of variables that nothing needs, and of loops around nothing.
#
# What a processor leaves out of a kernel would otherwise leave the index arithmetic of the calls
# behind. As in C++, a loop without effect is taken to end.

_Effect = Callable[[ast.AST], bool]


def remove_dead_code(
    body: list[ast.stmt], has_effect: _Effect, volatile: Iterable[str] = ()
) -> list[ast.stmt]:
    """The statements of a function that matter, as all do that assign to volatile variables."""
    return _Pruner(has_effect, volatile).run(body)


class _Pruner:
    """Marks what matters until nothing is added, then leaves out the rest."""

    def __init__(self, has_effect: _Effect, needed: Iterable[str]) -> None:
        self._effects = dict[int, bool]()
        self._find_effect = has_effect
        self.needed = set(needed)
        self.alive = set[int]()
        self.changed = False

    def has_effect(self, node: ast.expr) -> bool:
        """Whether an expression has an effect, which is found once for all rounds."""
        known = self._effects.get(id(node))
        if known is None:
            known = self._effects[id(node)] = self._find_effect(node)
        return known

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
        for each in (each for read in reads for each in walk(read)):
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
    return not any(isinstance(each, ast.Break) for each in walk(node))


# --- Clock ----------------------------------------------------------------------------------------
# Cycles of the processor that runs a kernel: an estimate for each stretch of code.
#
# One instruction per cycle, but for loads, multiplications and divisions. Source:
# tt-isa-documentation, WormholeB0/TensixTile/BabyRISCV/README.md: multiply 2 cycles, divide 6 to
# 33, load from L1 at least 8 and from local memory 2, one narrow store to L1 every 5. Compilers
# divide by a constant with a multiplication and shifts, or with a mask, and multiply by one with
# shifts and additions, or from one iteration of a loop to the next.

THREAD = "_thread"
"""The variable of the thread whose `clock` counts."""
STEP = "_step"
"""That of its method that counts cycles which may pass while units work."""

_CALL = 3
"""Instructions of a call beside its arguments: jump, return, and what is saved."""
_BRANCH = 2
_OPERATORS: dict[type[ast.AST], int] = {ast.Mult: 2, ast.FloorDiv: 20, ast.Mod: 20, ast.Div: 20}
_CALLS = {
    **{"_load": 8, "_store": 5, "_element_at": 10, "_put_at": 10, "_range": 0},
    **{"_quotient": 20, "_remainder": 20, "_float32": 10},
    **{"_point": 0, "_point_at_one": 0, "_is_local": 0, "_address": 0, "_pointer_to": 0},
    **{"_point_at_bits": 0, "_make_place": 0, "_late_array": 0},
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
    hidden: bool
    """The processor runs ahead of the units that it hands its calls over to."""


_INLINED = 2
"""A call that works on tiles is inlined, down to what starts the program of a unit (`ALWI` in
tt-metal's compute_kernel_api)."""


@cache
def _tile_calls() -> frozenset[str]:
    """The variables of calls that keep a unit busy."""
    return frozenset(f"c_{call.cpp}" for call in LIBRARY_CALLS if call.cost is not FREE)


def clock_costs(arch_macro: str, role: Role) -> ClockCosts:
    """The cycles of a processor of a generation, by the macro that kernels for it see."""
    arch = Arch.BLACKHOLE if arch_macro == BLACKHOLE.macro else Arch.WORMHOLE_B0
    return ClockCosts(page_address_cycles(arch), role in Role.COMPUTE)


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
                yield from _flush(stretch, cycles, node, self._costs.hidden)
                node.body = list(self.count(node.body, 0))
                node.orelse = list(self.count(node.orelse, 0))
                yield node
            elif isinstance(node, ast.For):
                yield from _flush(stretch, cycles + self._cost(node.iter), node, self._costs.hidden)
                # A limit on the rounds of a loop (`else`) is none of the kernel's.
                node.body = list(self.count(node.body, 0 if node.orelse else 1 + _BRANCH))
                yield node
            elif isinstance(node, ast.While) and not is_wait(node):
                yield from _flush(
                    stretch, cycles + self._cost(node.test) + _BRANCH, node, self._costs.hidden
                )
                node.body = list(self.count(node.body, self._cost(node.test) + _BRANCH))
                yield node
            else:
                cycles += self._cost(node.test if isinstance(node, ast.While) else node)
                stretch.append(node)
                if not isinstance(node, ast.While):
                    continue
                yield from _flush(stretch, cycles, node, self._costs.hidden)
            stretch, cycles = [], 0
        if stretch or (cycles and body):
            yield from _flush(stretch, cycles, body[-1], self._costs.hidden)

    def _cost(self, node: ast.AST) -> int:
        return sum(map(self._own_cost, walk(node)))

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


def _flush(
    stretch: list[ast.stmt], cycles: int, place: ast.stmt, hidden: bool
) -> Iterator[ast.stmt]:
    if cycles:
        add: ast.stmt
        if hidden:
            add = ast.Expr(ast.Call(ast.Name(STEP, ast.Load()), [ast.Constant(cycles)], []))
        else:
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


# --- Faults ---------------------------------------------------------------------------------------
# What Python raises for undefined behaviour of a kernel, as errors at its place in the source.

FAULTS = (
    *(KernelFault, ZeroDivisionError, IndexError, NameError, TypeError, RecursionError),
    *(OverflowError, ValueError),
)
"""The exceptions that code of a kernel raises itself."""


def translate_fault(error: Exception, thread: object) -> Exception:
    """The error to raise instead: the same one, if it comes from outside of the kernel."""
    place = _place(error.__traceback__, through_calls=isinstance(error, KernelFault))
    if place is None:
        return error
    message = _message(error)
    kernel = getattr(thread, "kernel", None)
    core = getattr(getattr(thread, "core", None), "logical", None)
    place = place if kernel is None else kernel.position(place.line, place.column)
    line = kernel.line(place) if kernel is not None else ""
    role = getattr(thread, "role_name", "")
    raised = SimError(message, place, core, role, rule="undefined", source_line=line)
    raised.__suppress_context__ = True
    return raised


def _message(error: Exception) -> str:
    match error:
        case ZeroDivisionError():
            return "division by zero"
        case IndexError():
            return OUTSIDE
        case NameError() | TypeError():
            return UNSET_READ
        case RecursionError():
            return "this function calls itself without end"
        case _:
            return str(error)


def _place(traceback: TracebackType | None, *, through_calls: bool) -> SimPosition | None:
    """The innermost place in the kernel; None if the exception comes from what it called.

    With `through_calls` what it called is not to blame.
    """
    entry = traceback.tb_frame.f_code.co_filename if traceback is not None else ""
    found: SimPosition | None = None
    while traceback is not None:
        frame = traceback.tb_frame.f_code
        if frame.co_filename == entry:
            found = _position(frame, traceback)
        elif frame.co_filename != runtime.__file__ and not through_calls:
            return None
        traceback = traceback.tb_next
    return found


def _position(frame: CodeType, traceback: TracebackType) -> SimPosition:
    positions = list(frame.co_positions())
    _, _, column, _ = positions[traceback.tb_lasti // 2]
    return SimPosition(frame.co_filename, traceback.tb_lineno, 1 if column is None else column + 1)


# --- Names ----------------------------------------------------------------------------------------
# What compiled kernels may consist of: a list of helpers, and a check of the finished code.
#
# Compiled code runs without Python's built-in functions. Each name in it is one of `NAMES`, or one
# that the compiler made, which begins with a letter for its kind: `v_` for variables of the kernel,
# `t_` for temporary ones, `f_` for functions, `c_` for calls of the library. Since no name of the
# kernel's text is ever used as it stands, none can mean something else in Python.

NAMES: dict[str, object] = {
    "_quotient": runtime.quotient,
    "_remainder": runtime.remainder,
    "_shift_count": runtime.shift_count,
    "_index": runtime.index,
    "_float32": runtime.as_float32,
    "_float": float,
    "_float_quotient": runtime.float_quotient,
    "_truncated": runtime.truncate,
    "_float_bits": runtime.float_bits,
    "_bits_float": runtime.bits_float,
    "_double_bits": runtime.double_bits,
    "_bits_double": runtime.bits_double,
    "_sqrt": runtime.square_root,
    "_floor": runtime.round_down,
    "_ctz": runtime.count_trailing_zeros,
    "_clz": runtime.count_leading_zeros,
    "_popcount": runtime.count_ones,
    "_put": runtime.put,
    "_bits": runtime.bits_at,
    "_put_bits": runtime.put_bits,
    "_put_parts": runtime.put_parts,
    "_point": runtime.point,
    "_point_at_one": runtime.point_at_one,
    "_is_local": runtime.is_local,
    "_element_at": runtime.element_at,
    "_put_at": runtime.put_at,
    "_named": runtime.find_named,
    "_advance": runtime.advance,
    "_advance_any": runtime.advance_any,
    "_distance": runtime.distance,
    "_is_same": runtime.is_same,
    "_address": runtime.address,
    "_pointer_to": runtime.pointer_to,
    "_point_at_bits": runtime.point_at_bits,
    "_make_place": runtime.make_place,
    "_late_array": runtime.late_array,
    "_put_member": runtime.put_member,
    "_awaited": runtime.awaited,
    "_copied": runtime.copy,
    "_overwrite": runtime.overwrite,
    "_sliced": runtime.slice_object,
    "_base": runtime.base_pointer,
    "_printed": runtime.printed,
    "_printed_float": runtime.printed_float,
    "_formatted": runtime.formatted,
    "_character": runtime.character,
    "_endless": runtime.endless,
    "_missing": runtime.missing,
    "_no_function": runtime.no_function,
    "_member": runtime.find_member,
    "_next_argument": runtime.next_argument,
    "_min": min,
    "_max": max,
    "_range": range,
    "_rounds": range(runtime.ROUNDS),
    "_unset": runtime.UNSET,
    "_fault": translate_fault,
    "_FAULTS": FAULTS,
}
"""What compiled code calls beside the API."""

_ACTING = {
    *(
        "_put",
        "_put_bits",
        "_put_parts",
        "_put_at",
        "_make_place",
        "_put_member",
        "_overwrite",
        "_awaited",
        "_missing",
        "_no_function",
        "_next_argument",
    ),
    *("_endless", "_fault"),
}

PURE = frozenset(NAMES) - _ACTING
"""Those that only find a value."""

MEMBERS = frozenset(name for definition in ALL_CALLS for name, _ in definition.members)
"""Members of the library's objects that compiled code reads."""

METHODS = frozenset(
    definition.cpp for definition in LIBRARY_CALLS if definition.form == Form.METHOD
)
"""Member functions of the library's objects that compiled code calls."""

_CLOCK = "clock"
_ENTRY = "_kernel"
_UNUSED = "_"
_ERROR = "_error"
_VARIABLES = ("v_", "t_")
_OWN = (*_VARIABLES, "f_")

_STATEMENTS = (
    *(ast.Module, ast.FunctionDef, ast.arguments, ast.arg, ast.Return, ast.Pass, ast.Expr),
    *(ast.Assign, ast.AugAssign, ast.If, ast.For, ast.While, ast.Break, ast.Continue),
    *(ast.Try, ast.ExceptHandler, ast.Raise),
)
_EXPRESSIONS = (
    *(ast.Name, ast.Constant, ast.Call, ast.keyword, ast.Attribute, ast.Subscript, ast.NamedExpr),
    *(ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Tuple, ast.List),
    *(ast.Yield, ast.YieldFrom, ast.Load, ast.Store),
    *(ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.LShift, ast.RShift),
    *(ast.BitAnd, ast.BitOr, ast.BitXor, ast.And, ast.Or, ast.Not, ast.Invert, ast.USub),
    *(ast.Eq, ast.NotEq, ast.Lt, ast.Gt, ast.LtE, ast.GtE),
)
_KINDS = frozenset((*_STATEMENTS, *_EXPRESSIONS))
_WITH_NAMES = (
    *(ast.Name, ast.Constant, ast.Call, ast.Attribute, ast.keyword, ast.arg, ast.FunctionDef),
    *(ast.arguments, ast.ExceptHandler),
)
_ANYWHERE = _KINDS.difference(_WITH_NAMES)
_CONSTANTS = frozenset((int, float, bool, str, type(None)))


def find_forbidden(module: ast.Module, bindings: Collection[str]) -> ast.AST | None:
    """The first node of compiled code that should not be there; None if there is none.

    `bindings` are the variables that hold the library. The compiler makes nothing of the kind;
    this is asked of every kernel so that a mistake in it cannot become one of safety.
    """
    check = _Check(frozenset(bindings))
    pending: list[ast.AST] = [module]
    while pending:
        node = pending.pop()
        if type(node) not in _ANYWHERE and not check.allows(node):
            return node
        pending += list_children(node)
    return None


class _Check:
    """What is allowed beside names of the compiler."""

    def __init__(self, bindings: frozenset[str]) -> None:
        self.bindings = bindings
        self.known = bindings | NAMES.keys()

    def allows(self, node: ast.AST) -> bool:
        """Whether a node may stand where it stands; those below it are none of its business."""
        match node:
            case ast.Name():
                return self._allows_name(node)
            case ast.Constant(value=value):
                return type(value) in _CONSTANTS
            case ast.Call(func=function):
                return self._allows_call(function)
            case ast.Attribute():
                return self._allows_attribute(node)
            case ast.keyword(arg=word):
                return word == "template" or word in MEMBERS
            case ast.arg(arg=name):
                return name.startswith(_VARIABLES) or name in self.bindings
            case ast.FunctionDef() | ast.arguments() | ast.ExceptHandler():
                return self._allows_function(node)
            case _:
                return False

    def _allows_name(self, node: ast.Name) -> bool:
        if isinstance(node.ctx, ast.Store):
            return node.id.startswith(_VARIABLES) or node.id == _UNUSED
        return node.id.startswith(_OWN) or node.id in self.known or node.id == _ERROR

    def _allows_attribute(self, node: ast.Attribute) -> bool:
        if isinstance(node.ctx, ast.Store):
            return node.attr == _CLOCK and isinstance(node.value, ast.Name)
        return node.attr in MEMBERS or node.attr in METHODS

    def _allows_function(self, node: ast.FunctionDef | ast.arguments | ast.ExceptHandler) -> bool:
        match node:
            case ast.FunctionDef(name=name, decorator_list=decorators):
                return (name.startswith("f_") or name == _ENTRY) and not decorators
            case ast.arguments():
                return not (node.defaults or node.kw_defaults or node.vararg or node.kwarg)
            case ast.ExceptHandler(type=ast.Name(id="_FAULTS"), name=name):
                return name == _ERROR
            case _:
                return False

    def _allows_call(self, function: ast.expr) -> bool:
        match function:
            case ast.Name(id=name):
                return name.startswith("f_") or name in self.known
            case ast.Attribute(attr=member):
                return member in METHODS
            case _:
                return False


# --- Folding --------------------------------------------------------------------------------------
# Constant expressions: what a kernel computes while it is compiled.
#
# An expression of Python that needs nothing but constants, helpers of compiled code and functions
# of the kernel is run as it would be run later, with a limit on its steps.

_TICK = "_tick"
_ALLOWED = frozenset(
    (*PURE, "_put", "_put_at", "_put_bits", "_put_parts", "_overwrite", "_missing", "_endless")
)
_UNSUITABLE = (ast.Yield, ast.YieldFrom, ast.Try, ast.Raise)


_MEMBERS = frozenset(("clock", "next_compile_time_args_offset", "next_common_runtime_args_offset"))
"""Members that constants are made of."""


class TooManySteps(Exception):
    """A constant that takes too long to compute."""


_LOAD = "_load"


def _refuse_load(address: int, size: int, signed: bool) -> NoReturn:
    """A load from memory, which no constant has; code for pointers to anywhere may name it."""
    raise KernelFault(f"{size} bytes at {address:#x} are not known")


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
    chosen: dict[str, Callable[..., str]] = field(default_factory=dict[str, Callable[..., str]])
    """What calls through pointers go through: gives the name of the function that is called."""
    steps: int = 0
    _names: dict[str, object] = field(default_factory=dict[str, object])
    _unsuitable: set[str] = field(default_factory=set[str])
    _calls: dict[str, int] = field(default_factory=dict[str, int])
    """How often functions were called that Python has not compiled."""

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
            own = {_TICK: self._tick, THREAD: SimpleNamespace(clock=0), STEP: int}
            own |= {_LOAD: _refuse_load}
            self._names = {"__builtins__": {}, **NAMES, **own}
        return self._names

    def _tick(self) -> None:
        self.steps += 1
        if self.steps > MAX_FOLDED_STEPS:
            raise TooManySteps

    def _prepare(self, node: ast.AST, own: frozenset[str]) -> bool:
        """Whether a piece of code can run now; defines the functions that it calls."""
        parts = list(walk(node))
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
        if name in _ALLOWED or name in (THREAD, STEP):
            return True
        if name in self._unsuitable:
            return False
        if name in environment:
            return name not in NAMES
        if name in self.library:
            environment[name] = self.library[name]
            return True
        if name in self.chosen:
            environment[name] = partial(self._call_chosen, self.chosen[name])
            return True
        if name in self.known:
            return self._compute(name, self.known[name])
        return name in self.functions and self._define(name, self.functions[name])

    def _call_chosen(self, choose: Callable[..., str], pointer: int, *arguments: object) -> object:
        """A call through a pointer."""
        name = choose(pointer)
        if not self._knows(name):
            raise KernelFault("what the pointer points to is not known yet")
        called = cast("Callable[..., object]", self._environment()[name])
        return called(*arguments)

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
        own = frozenset(each.arg for each in function.args.args) | _stored(function)
        if not all(self._prepare(each, own) for each in function.body):
            del environment[name]
            self._unsuitable.add(name)
            return False
        result = _find_result(function)
        if result is not None and all(
            environment.get(each, each) is not None for each in list_names(result)
        ):
            environment[name] = partial(self._call_short, function, result)
        else:
            self._make(function)
        return True

    def _make(self, function: ast.FunctionDef) -> Callable[..., object]:
        """Let Python compile a function."""
        environment = self._environment()
        exec(_compile(ast.Module([_count_steps(function)], []), "exec"), environment)
        return cast("Callable[..., object]", environment[function.name])

    def _call_short(
        self, function: ast.FunctionDef, result: ast.expr, *arguments: object
    ) -> object:
        """A call of a function that only returns something: most are called a few times only."""
        calls = self._calls[function.name] = self._calls.get(function.name, 0) + 1
        if calls > _FEW_CALLS:
            return self._make(function)(*arguments)
        self._tick()
        names = (each.arg for each in function.args.args)
        return _compute(result, _Inner(self._names, zip(names, arguments, strict=True)))


def _run(node: ast.expr, environment: dict[str, object]) -> object:
    """The value of an expression whose names are known."""
    # Most of them are a call or a comparison, which is computed before Python has compiled it.
    if _is_computed(node):
        return _compute(node, environment)
    return eval(_compile(ast.Expression(node), "eval"), environment)


_FEW_CALLS = 16
"""So many calls of a function take less time than to compile it."""


def _find_result(function: ast.FunctionDef) -> ast.expr | None:
    """What a function returns that does nothing else; None if Python has to compile it."""
    match function.body:
        case [ast.Return(value=ast.expr() as value)] if _is_computed(value):
            return value
        case _:
            return None


def _is_computed(node: ast.expr) -> bool:
    return all(type(each) in _COMPUTED for each in walk(node))


_Names = dict[str, Any]


class _Inner(_Names):
    """Names in a function; those around it are seen through them."""

    def __init__(self, outer: _Names, own: Iterable[tuple[str, Any]]) -> None:
        super().__init__(own)
        self._outer = outer

    def __missing__(self, name: str) -> Any:
        return self._outer[name]


def _compute(node: Any, names: _Names) -> Any:
    """The value of an expression of the kinds in `_COMPUTED`, as Python finds it."""
    return _COMPUTED[type(node)](node, names)


def _compute_comparison(node: ast.Compare, names: _Names) -> Any:
    left = _compute(node.left, names)
    for operation, each in zip(node.ops, node.comparators, strict=True):
        right = _compute(each, names)
        if not (found := _COMPUTED_OPERATORS[type(operation)](left, right)):
            return found
        left = right
    return True


def _compute_logical(node: ast.BoolOp, names: _Names) -> Any:
    found = None
    for each in node.values:
        found = _compute(each, names)
        if bool(found) == isinstance(node.op, ast.Or):
            break
    return found


_COMPUTED_OPERATORS: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Eq: lambda a, b: a == b,
    ast.NotEq: lambda a, b: a != b,
    ast.Lt: lambda a, b: a < b,
    ast.Gt: lambda a, b: a > b,
    ast.LtE: lambda a, b: a <= b,
    ast.GtE: lambda a, b: a >= b,
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Mod: lambda a, b: a % b,
    ast.Div: lambda a, b: a / b,
    ast.FloorDiv: lambda a, b: a // b,
    ast.LShift: lambda a, b: a << b,
    ast.RShift: lambda a, b: a >> b,
    ast.BitAnd: lambda a, b: a & b,
    ast.BitOr: lambda a, b: a | b,
    ast.BitXor: lambda a, b: a ^ b,
}
_COMPUTED_SIGNS: dict[type[ast.AST], Callable[[Any], Any]] = {
    ast.Not: lambda a: not a,
    ast.USub: lambda a: -a,
    ast.Invert: lambda a: ~a,
}

_COMPUTED: dict[type[ast.AST], Callable[[Any, _Names], Any]] = {
    ast.Constant: lambda node, names: node.value,
    ast.Name: lambda node, names: names[node.id],
    ast.Call: lambda node, names: _compute(node.func, names)(
        *[_compute(each, names) for each in node.args]
    ),
    ast.List: lambda node, names: [_compute(each, names) for each in node.elts],
    ast.Tuple: lambda node, names: tuple(_compute(each, names) for each in node.elts),
    ast.Subscript: lambda node, names: _compute(node.value, names)[_compute(node.slice, names)],
    ast.Compare: _compute_comparison,
    ast.BoolOp: _compute_logical,
    ast.UnaryOp: lambda node, names: _COMPUTED_SIGNS[type(node.op)](_compute(node.operand, names)),
    ast.BinOp: lambda node, names: _COMPUTED_OPERATORS[type(node.op)](
        _compute(node.left, names), _compute(node.right, names)
    ),
    ast.IfExp: lambda node, names: _compute(
        node.body if _compute(node.test, names) else node.orelse, names
    ),
}
"""What expressions are computed by; calls have no keywords, which are nodes of another kind."""

_ANY_PLACE = {"lineno": 1, "end_lineno": 1, "col_offset": 0, "end_col_offset": 0}


def _compile(node: ast.Module | ast.Expression, mode: str) -> CodeType:
    """The code of nodes; those without a place are given one in the kernel later, see `locate`."""
    without_place = [each.__dict__ for each in walk(node) if "lineno" not in each.__dict__]
    for known in without_place:
        known.update(_ANY_PLACE)
    try:
        return compile(node, "<constant>", mode)
    finally:
        for known in without_place:
            for name in _ANY_PLACE:
                known.pop(name, None)


def _stored(function: ast.FunctionDef) -> frozenset[str]:
    """The variables that a function sets."""
    named = (each for each in walk(function) if isinstance(each, ast.Name))
    return frozenset(each.id for each in named if isinstance(each.ctx, ast.Store))


def _count_steps(statement: ast.stmt) -> ast.stmt:
    """A copy in which each call of a function and each iteration of a loop is a step."""
    known = dict(statement.__dict__)
    for part in ("body", "orelse"):
        if part in known:
            known[part] = list(map(_count_steps, known[part]))
    if isinstance(statement, (ast.FunctionDef, ast.For, ast.While)):
        known["body"].insert(0, ast.Expr(call(_TICK)))
    return type(statement)(**known)


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
    """The value of an expression that is written with numbers."""
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
            return constant(cast("int", value))
        case list():
            parts = list(map(write_literal, cast("list[object]", value)))
            known = [each for each in parts if each is not None]
            return list_of(known) if len(known) == len(parts) else None
        case _:
            return None
