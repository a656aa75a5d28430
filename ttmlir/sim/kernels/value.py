"""Typed expressions, and arithmetic on them that wraps only where it has to.

The Python expression of an integer value may leave the range of its C++ type: it is congruent to
the value modulo the type's size, and `low` and `high` bound it. `settle` brings it into the range;
sums, differences, products and bitwise operators need no settled operands. Constants fold.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from enum import Enum, auto
from functools import reduce
from typing import TypeAlias

from ttmlir.cpp import tree
from ttmlir.cpp.types import (
    BOOL,
    DOUBLE,
    FLOAT,
    INT,
    UINT8,
    UNSIGNED,
    ArrayType,
    BitField,
    CType,
    Field,
    FloatType,
    FunctionType,
    IntType,
    PointerType,
    ReferenceType,
    StructType,
    find_common_type,
    promote,
    size_of,
    tag_of,
)
from ttmlir.light_dataclasses import dataclass
from ttmlir.sim.kernels.python import code
from ttmlir.sim.kernels.python.runtime import as_float32, quotient, remainder

_TOO_WIDE = 1 << 64


class Space(Enum):
    """Where a pointer may point to: what its Python value is."""

    MEMORY = auto()
    """Into memory, or nowhere: an address."""
    LOCAL = auto()
    """To a variable of the kernel: a `LocalPointer`."""
    ANY = auto()
    """Not known before the kernel runs: either."""

    def join(self, other: Space) -> Space:
        """Where a pointer may point to that is one of two."""
        return self if self is other else Space.ANY


@dataclass(frozen=True)
class Value:
    """An expression of a C++ type as one of Python."""

    type: CType
    node: ast.expr
    low: int = 0
    high: int = 0
    """Bounds of the Python value, where the type is an integer."""
    space: Space = Space.MEMORY
    """Where it points to, if it is a pointer."""
    width: int = 0
    """Of the bit-field that it was read from, which decides how it is promoted; 0 for others."""
    is_over: bool = False
    """Whether it was read from a place that nobody needs any more."""
    is_const: bool = False
    """Whether it is an object that a function gives, or somebody gives up, as a constant."""

    @property
    def constant(self) -> int | float | None:
        """The number that the value is known to be."""
        node = self.node
        if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
            return node.value
        return None


def make_integer(value: int, type_: IntType) -> Value:
    """A constant; wraps into the type."""
    number = type_.wrap(value)
    return Value(type_, code.constant(bool(number) if type_ == BOOL else number), number, number)


def make_floating(value: float, type_: FloatType) -> Value:
    """A constant, rounded to the type."""
    rounded = as_float32(value) if type_ == FLOAT else float(value)
    return Value(type_, code.constant(rounded))


def make_value(type_: CType, node: ast.expr, space: Space = Space.MEMORY) -> Value:
    """A value that may be any of its type."""
    if isinstance(type_, IntType):
        return Value(type_, node, type_.low, type_.high)
    return Value(type_, node, space=space)


def read_after(setup: Sequence[ast.expr], value: Value) -> Value:
    """A value that is read after something else."""
    value = settle(value)
    match setup:
        case (*_, ast.NamedExpr(target=ast.Name(id=written))) if (
            isinstance(value.node, ast.Name) and value.node.id == written
        ):
            node = code.last_of(*setup)  # A variable that was just set.
        case _:
            node = code.last_of(*setup, value.node)
    return replace(value, node=node)


def settle(value: Value) -> Value:
    """The same value with a Python expression that stays in the range of the type."""
    type_ = value.type
    if not isinstance(type_, IntType):
        return value
    if type_.low <= value.low and value.high <= type_.high:
        return value
    constant = value.constant
    if constant is not None:
        return make_integer(int(constant), type_)
    # Python's integers do not wrap: cut the lower bits out, around 0 for a type with sign.
    mask = code.constant((1 << type_.bits) - 1)
    if not type_.signed:
        node: ast.expr = code.binary("&", value.node, mask)
    else:
        half = -type_.low
        shifted = code.binary("+", value.node, code.constant(half))
        node = code.binary("-", code.binary("&", shifted, mask), code.constant(half))
    return Value(type_, node, type_.low, type_.high)


def convert_to_bool(value: Value) -> Value:
    """The value as `bool`."""
    if value.type == BOOL:
        return value
    if isinstance(value.type, FunctionType):
        return make_integer(1, BOOL)  # It is known, and so it is not null.
    value = settle(value)
    if value.constant is not None:
        return make_integer(int(value.constant != 0), BOOL)
    if isinstance(value.type, IntType) and (value.low > 0 or value.high < 0):
        if code.is_stable(value.node):
            return make_integer(1, BOOL)
    if isinstance(value.type, PointerType) and value.space is Space.LOCAL:
        # The address of a variable is never null; an expression may still have to be evaluated.
        if isinstance(value.node, ast.Name):
            return make_integer(1, BOOL)
    return Value(BOOL, code.compare("!=", value.node, code.constant(0)), 0, 1)


def build_condition(value: Value) -> ast.expr:
    """The truth of a value, for `if`, `while` and `not`."""
    condition = convert_to_bool(value)
    match condition.node:
        case ast.Compare(left=left, ops=[ast.NotEq()], comparators=[ast.Constant(value=0)]):
            return left
        case node:
            return node


def convert(value: Value, target: IntType | FloatType) -> Value:
    """An arithmetic value in another arithmetic type."""
    if value.type is target or value.type == target:
        return replace(value, width=0) if value.width else value
    if isinstance(target, FloatType):
        return _to_float(value, target)
    if target == BOOL:
        return convert_to_bool(value)
    if isinstance(value.type, FloatType):
        if value.constant is not None and abs(value.constant) < _TOO_WIDE:
            return make_integer(int(value.constant), target)
        node = code.call("_truncated", value.node, *map(code.constant, (target.low, target.high)))
        return Value(target, node, target.low, target.high)
    if not isinstance(value.type, IntType):
        return make_value(target, value.node)
    # A wider type shows bits above the narrower one, so these have to be cut before; in a type as
    # wide or narrower they may stay until somebody needs the value in its range.
    if target.bits > value.type.bits:
        value = settle(value)
    converted_ = Value(target, value.node, value.low, value.high, value.space)
    return settle(converted_) if value.constant is not None else converted_


def fit_bits(value: Value, width: int) -> Value:
    """A number as a bit-field of its type keeps it; without width the same."""
    type_ = value.type
    if not width or not isinstance(type_, IntType) or type_ == BOOL:
        return settle(value)
    kept = settle(convert(value, IntType(type_.name, width, type_.signed)))
    return replace(kept, type=type_, width=width)


def promote_value(value: Value) -> Value:
    """An integer after the integer promotions; a bit-field becomes `int` if that holds it."""
    type_ = value.type
    assert isinstance(type_, IntType)
    if value.width and type(type_) is IntType and type_ != BOOL:
        if value.width < INT.bits + type_.signed:
            return convert(value, INT)
        if value.width == UNSIGNED.bits:
            return convert(value, UNSIGNED)
    return convert(value, promote(type_))


def reinterpret_bits(value: Value, target: CType) -> Value | None:
    """A number of 32 bits as another type reads its bits; None for other types."""
    match target, value.type:
        case FloatType(bits=32), IntType(bits=32):
            return Value(target, code.call("_bits_float", convert_to_unsigned(value, 32).node))
        case IntType(bits=32), FloatType(bits=32):
            word = make_value(UNSIGNED, code.call("_float_bits", settle(value).node))
            return convert(word, target)
        case IntType(bits=here), IntType(bits=there) if here == there:
            return convert(value, target)
        case _:
            return None


def _to_float(value: Value, target: FloatType) -> Value:
    value = settle(value)
    if value.constant is not None:
        return make_floating(float(value.constant), target)
    if target == FLOAT:
        return Value(target, code.call("_float32", value.node))
    if isinstance(value.type, FloatType):
        return Value(target, value.node)
    return Value(target, code.call("_float", value.node))


def apply_unary(operator: str, value: Value) -> Value | None:
    """`+x`, `-x`, `~x` or `!x`; None if the operator does not go with the type."""
    if operator == "!":
        condition = convert_to_bool(value)
        if condition.constant is not None:
            return make_integer(int(not condition.constant), BOOL)
        return Value(BOOL, code.negation(build_condition(value)), 0, 1)
    if isinstance(value.type, FloatType) and operator in "+-":
        return value if operator == "+" else _negative_float(value)
    if not isinstance(value.type, IntType):
        return None
    return _INTEGER_UNARY[operator](promote_value(value))


def _negative_float(value: Value) -> Value:
    if value.constant is not None:
        return replace(value, node=code.constant(-value.constant))
    return replace(value, node=ast.UnaryOp(ast.USub(), value.node))


def _negative(value: Value) -> Value:
    return _fold(value, lambda x: -x, ast.USub(), -value.high, -value.low)


def _invert(value: Value) -> Value:
    return _fold(value, lambda x: ~x, ast.Invert(), ~value.high, ~value.low)


def _fold(
    value: Value, fold: Callable[[int], int], operator: ast.unaryop, low: int, high: int
) -> Value:
    assert isinstance(value.type, IntType)
    if value.constant is not None:
        return make_integer(fold(int(value.constant)), value.type)
    return Value(value.type, ast.UnaryOp(operator, value.node), low, high)


_INTEGER_UNARY: dict[str, Callable[[Value], Value]] = {
    "+": lambda value: value,
    "-": _negative,
    "~": _invert,
}


def apply_binary(operator: str, left: Value, right: Value) -> Value | None:
    """A binary operator on numbers, but for the logical ones; None if it does not go with them."""
    if operator in code.COMPARE:
        return _comparison(operator, left, right)
    if isinstance(left.type, FloatType) or isinstance(right.type, FloatType):
        return _float_arithmetic(operator, left, right)
    if not isinstance(left.type, IntType) or not isinstance(right.type, IntType):
        return None
    if operator in ("<<", ">>"):
        return _shift(operator, promote_value(left), right)
    common, left, right = _find_common(left, right)
    a, b = _narrow(convert(left, common)), _narrow(convert(right, common))
    # The lower bits of quotients and remainders depend on the upper bits of the operands.
    if operator in ("/", "%"):
        return _division(operator, settle(a), settle(b), common)
    if a.constant is not None and b.constant is not None:
        return make_integer(_FOLD[operator](int(a.constant), int(b.constant)), common)
    low, high = _BOUNDS[operator](a, b)
    same = _unchanged(operator, a, b)
    return same if same is not None else Value(common, _binary(operator, a, b), low, high)


def _find_common(a: Value, b: Value) -> tuple[IntType, Value, Value]:
    """The common type of two integers, and both after the promotions."""
    if a.width or b.width:
        a, b = promote_value(a), promote_value(b)
    assert isinstance(a.type, IntType)
    assert isinstance(b.type, IntType)
    return find_common_type(a.type, b.type), a, b


def _binary(operator: str, a: Value, b: Value) -> ast.expr:
    """`x + -1` is `x - 1`."""
    if operator == "+" and b.constant is not None and b.constant < 0:
        return code.binary("-", a.node, code.constant(-b.constant))
    return code.binary(operator, a.node, b.node)


def _unchanged(operator: str, a: Value, b: Value) -> Value | None:
    """`x + 0`, `x * 1` and the like are x."""
    if b.constant == (1 if operator == "*" else 0) and operator in "+-*|^":
        return a
    if a.constant == (1 if operator == "*" else 0) and operator in "+*|^":
        return b
    return None


def _narrow(value: Value) -> Value:
    """Keep intermediate values from growing without end."""
    return settle(value) if max(-value.low, value.high) > _TOO_WIDE else value


_FOLD: dict[str, Callable[[int, int], int]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
}


def _product_bounds(a: Value, b: Value) -> tuple[int, int]:
    products = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
    return min(products), max(products)


def _and_bounds(a: Value, b: Value) -> tuple[int, int]:
    bounds = [each.high for each in (a, b) if each.low >= 0]
    return (0, min(bounds)) if bounds else _bit_bounds(a, b)


def _bit_bounds(a: Value, b: Value) -> tuple[int, int]:
    numbers = (a.low, a.high, b.low, b.high)
    size = max((~x if x < 0 else x).bit_length() for x in numbers)
    return (0 if min(numbers) >= 0 else -(1 << size)), (1 << size) - 1


_BOUNDS: dict[str, Callable[[Value, Value], tuple[int, int]]] = {
    "+": lambda a, b: (a.low + b.low, a.high + b.high),
    "-": lambda a, b: (a.low - b.high, a.high - b.low),
    "*": _product_bounds,
    "&": _and_bounds,
    "|": _bit_bounds,
    "^": _bit_bounds,
}


def _division(operator: str, a: Value, b: Value, type_: IntType) -> Value:
    divide = quotient if operator == "/" else remainder
    if a.constant is not None and b.constant:
        return make_integer(divide(int(a.constant), int(b.constant)), type_)
    if a.low >= 0 and b.low >= 0:
        node: ast.expr = code.binary("//" if operator == "/" else "%", a.node, b.node)
        high = a.high // max(b.low, 1) if operator == "/" else min(a.high, max(b.high - 1, 0))
        return Value(type_, node, 0, high)
    node = code.call("_quotient" if operator == "/" else "_remainder", a.node, b.node)
    limit = max(-a.low, a.high)
    return Value(type_, node, -limit, limit)


def _shift(operator: str, value: Value, count: Value) -> Value:
    type_ = value.type
    assert isinstance(type_, IntType)
    count = settle(promote_value(count)) if isinstance(count.type, IntType) else count
    value = settle(value) if operator == ">>" else _narrow(value)
    in_range = 0 <= count.low and count.high < type_.bits
    if in_range and value.constant is not None and count.constant is not None:
        a, b = int(value.constant), int(count.constant)
        return make_integer(a << b if operator == "<<" else a >> b, type_)
    least, most = max(count.low, 0), min(count.high, type_.bits - 1)
    shifts = [least, most] if least <= most else [0]
    amount = count.node
    if not in_range:
        amount = code.call("_shift_count", count.node, code.constant(type_.bits))
        shifts = [0, type_.bits - 1]
    ends = [
        end << shift if operator == "<<" else end >> shift
        for end in (value.low, value.high)
        for shift in shifts
    ]
    return Value(type_, code.binary(operator, value.node, amount), min(ends), max(ends))


def _comparison(operator: str, left: Value, right: Value) -> Value | None:
    if isinstance(left.type, FloatType) or isinstance(right.type, FloatType):
        if not all(isinstance(each.type, (IntType, FloatType)) for each in (left, right)):
            return None
        type_ = _find_common_float(left, right)
        a, b = (_round_to(settle(each), type_) for each in (left, right))
    elif isinstance(left.type, IntType) and isinstance(right.type, IntType):
        common, left, right = _find_common(left, right)
        a, b = settle(convert(left, common)), settle(convert(right, common))
        known = _known_order(operator, a, b)
        if known is not None:
            return make_integer(known, BOOL)
    else:
        return None
    return Value(BOOL, code.compare(operator, a.node, b.node), 0, 1)


_ORDER: dict[str, Callable[[float, float], bool]] = {
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    ">": lambda a, b: a > b,
    "<=": lambda a, b: a <= b,
    ">=": lambda a, b: a >= b,
}


def _known_order(operator: str, a: Value, b: Value) -> bool | None:
    """What a comparison gives whatever the values are."""
    if not (code.is_stable(a.node) and code.is_stable(b.node)):
        return None
    # Values with effects are evaluated even where the outcome is known, hence the test above.
    ask = _ORDER[operator]
    if operator in ("==", "!="):
        apart = a.high < b.low or b.high < a.low
        if apart or (a.constant is not None and b.constant is not None):
            return ask(a.low, b.low)
        return None
    results = {ask(x, y) for x, y in ((a.low, b.high), (a.high, b.low))}
    return results.pop() if len(results) == 1 else None


def _find_common_float(a: Value, b: Value) -> FloatType:
    return DOUBLE if DOUBLE in (a.type, b.type) else FLOAT


def _round_to(value: Value, type_: FloatType) -> Value:
    """A number to compare in a type; Python compares as it is what the type holds exactly."""
    exact = 1 << (24 if type_ == FLOAT else 53)
    if isinstance(value.type, FloatType) or (-exact <= value.low and value.high <= exact):
        return value
    return convert(value, type_)


def _float_arithmetic(operator: str, left: Value, right: Value) -> Value | None:
    if operator not in ("+", "-", "*", "/"):
        return None
    if not all(isinstance(each.type, (IntType, FloatType)) for each in (left, right)):
        return None
    type_ = _find_common_float(left, right)
    # One operation on float32 in double precision, rounded to float32, is correctly rounded: a
    # double has more than twice the digits.
    a, b = convert(left, type_), convert(right, type_)
    if operator == "/":
        node: ast.expr = code.call("_float_quotient", a.node, b.node)
    else:
        node = code.binary(operator, a.node, b.node)
    return Value(type_, code.call("_float32", node) if type_ == FLOAT else node)


def convert_to_unsigned(value: Value, bits: int) -> Value:
    """The bits of an integer as an unsigned number."""
    return settle(convert(value, IntType(f"uint{bits}_t", bits, False)))


ADDRESS = UNSIGNED
"""What an address in L1 is calculated in."""


# --- Place ----------------------------------------------------------------------------------------
# Places: what expressions can be assigned to, and how they are read and written in Python.


@dataclass(frozen=True)
class LocalLvalue:
    """A variable of one function, whose address is not taken: a local variable of Python."""

    type: CType
    identifier: str
    low: int | None = None
    high: int | None = None
    """Bounds, where they are closer than those of the type."""
    is_const: bool = False
    space: Space = Space.MEMORY
    """Where it points to, if it is a pointer."""
    origin: tree.Node | None = None
    """What declares it."""
    is_over: bool = False
    """Whether nobody needs what is there any more."""


@dataclass(frozen=True)
class ItemLvalue:
    """An element of a list: of an array or struct, or a variable that others may change."""

    type: CType
    container: ast.expr
    index: ast.expr
    is_const: bool = False
    count: int | None = None
    """How many elements the list has, if it is an array."""
    width: int = 0
    """Of a bit-field."""
    is_over: bool = False


@dataclass(frozen=True)
class PointedLvalue:
    """What a pointer to a variable points to."""

    type: CType
    pointer: ast.expr
    offset: ast.expr
    """In elements."""
    is_const: bool = False
    is_over: bool = False


@dataclass(frozen=True)
class BitsLvalue:
    """A member of a union of the kernel, which is a list with the bits of all its members."""

    type: CType
    holder: ast.expr
    """The list."""
    shift: Value
    """The number of bits before the member."""
    is_const: bool = False
    width: int = 0
    """Of a bit-field."""
    size: int = 0
    """Of the union, in bytes."""
    is_over: bool = False


@dataclass(frozen=True)
class MemoryLvalue:
    """An object in the memory of a core, at an address."""

    type: CType
    address: Value
    volatile: bool = False
    is_const: bool = False
    bits: BitField | None = None
    """Which bits of the words at the address it is, if it is a bit-field."""
    is_over: bool = False


@dataclass(frozen=True)
class EitherLvalue:
    """What a pointer points to that may point to a variable or into memory."""

    type: CType
    pointer: ast.expr
    """Evaluated first, and once."""
    local: ItemLvalue | PointedLvalue | BitsLvalue
    memory: MemoryLvalue
    is_const: bool = False
    is_over: bool = False


@dataclass(frozen=True)
class MemberLvalue:
    """A member of an object of the kernel library."""

    type: CType
    holder: ast.expr
    member: str
    is_const: bool = True
    is_over: bool = False


ListLvalue: TypeAlias = LocalLvalue | ItemLvalue | PointedLvalue | MemberLvalue
"""What has a value of its own in Python."""
Lvalue: TypeAlias = ListLvalue | BitsLvalue | MemoryLvalue | EitherLvalue
"""What C++ calls an lvalue: where a value is stored, and what can be assigned."""


def width_of(lvalue: Lvalue) -> int:
    """The width of a bit-field; 0 for other places."""
    match lvalue:
        case ItemLvalue() | BitsLvalue():
            return lvalue.width
        case MemoryLvalue():
            return 0 if lvalue.bits is None else lvalue.bits.width
        case EitherLvalue():
            return width_of(lvalue.local)
        case _:
            return 0


def protect_lvalue(lvalue: Lvalue) -> Lvalue:
    """The same place as one that cannot be changed."""
    if isinstance(lvalue, EitherLvalue):
        local, memory = (replace(each, is_const=True) for each in (lvalue.local, lvalue.memory))
        return replace(lvalue, is_const=True, local=local, memory=memory)
    return replace(lvalue, is_const=True)


_OF_BITS = {32: "_bits_float", 64: "_bits_double"}
_BITS_OF = {32: "_float_bits", 64: "_double_bits"}


def build_node(lvalue: ListLvalue | BitsLvalue) -> ast.expr:
    """The expression of Python that reads a place that is not in memory."""
    match lvalue:
        case BitsLvalue():
            return settle(read(lvalue)).node
        case LocalLvalue():
            return code.name(lvalue.identifier)
        case ItemLvalue(container=ast.List(elts=[only]), index=ast.Constant(value=0)):
            return only
        case ItemLvalue():
            return code.subscript(lvalue.container, lvalue.index)
        case PointedLvalue():
            return code.call("_element_at", lvalue.pointer, lvalue.offset)
        case MemberLvalue():
            return code.attribute(lvalue.holder, lvalue.member)


def read(lvalue: Lvalue) -> Value:
    """The value in a place; that of an array is a pointer to its first element."""
    if isinstance(lvalue, EitherLvalue):
        return _either(lvalue)
    if isinstance(lvalue, BitsLvalue):
        return _read_bits(lvalue)
    if isinstance(lvalue.type, ArrayType):
        return _decay(lvalue, lvalue.type)
    if isinstance(lvalue, MemoryLvalue):
        return _load(lvalue)
    space = lvalue.space if isinstance(lvalue, LocalLvalue) else Space.ANY
    value = make_value(lvalue.type, build_node(lvalue), space)
    if isinstance(lvalue, LocalLvalue) and lvalue.low is not None and lvalue.high is not None:
        return Value(lvalue.type, value.node, lvalue.low, lvalue.high)
    return describe_bits(value, width_of(lvalue))


def describe_bits(value: Value, width: int) -> Value:
    """What was read from a bit-field, with its bounds; without width the same."""
    type_ = value.type
    if not width or not isinstance(type_, IntType) or type_ == BOOL:
        return value
    kept = IntType(type_.name, width, type_.signed)
    low, high = max(value.low, kept.low), min(value.high, kept.high)
    return replace(value, low=low, high=high, width=width)


def _either(lvalue: EitherLvalue) -> Value:
    local, memory = read(lvalue.local), settle(read(lvalue.memory))
    choice = code.choice(_is_local(lvalue), local.node, memory.node)
    space = local.space.join(memory.space)
    low, high = min(local.low, memory.low), max(local.high, memory.high)
    return Value(memory.type, choice, low, high, space, local.width)


def _is_local(lvalue: EitherLvalue) -> ast.expr:
    return code.call("_is_local", lvalue.pointer)


def _read_bits(lvalue: BitsLvalue) -> Value:
    """The value of a member of a union."""
    match lvalue.type:
        case StructType(fields=fields):
            parts = (find_member_lvalue(lvalue, i) for i in range(len(fields)))
            return Value(lvalue.type, code.list_of(settle(read(each)).node for each in parts))
        case ArrayType(count=count):
            indices = (make_integer(i, UNSIGNED) for i in range(count))
            parts = (find_element_of_bits(lvalue, each) for each in indices)
            return Value(lvalue.type, code.list_of(settle(read(each)).node for each in parts))
        case type_:
            bits = lvalue.width or 8 * (size_of(type_) or 0)
            shift = settle(lvalue.shift).node
            word = code.call("_bits", lvalue.holder, shift, code.constant(bits))
    match type_:
        case FloatType():
            return interpret_bits(type_, word)
        case IntType():
            return _read_integer(type_, word, bits, lvalue.width)
        case _:
            return Value(type_, word)


def _read_integer(type_: IntType, word: ast.expr, bits: int, width: int) -> Value:
    """An integer, of which an expression gives the bits; with `width` it is a bit-field."""
    unsigned = IntType(f"uint{bits}_t", bits, False)
    value = Value(unsigned, word, 0, unsigned.high)
    if not width or type_ == BOOL:
        return settle(convert(value, type_))
    kept = settle(convert(value, IntType(type_.name, width, type_.signed)))
    return replace(kept, type=type_, width=width)


def find_element_of_bits(lvalue: BitsLvalue, index: Value) -> BitsLvalue:
    """An element of an array in a union."""
    assert isinstance(lvalue.type, ArrayType)
    element = lvalue.type.element
    bits = apply_binary("*", index, make_integer(8 * (size_of(element) or 0), UNSIGNED))
    assert bits is not None
    shift = apply_binary("+", lvalue.shift, bits)
    assert shift is not None
    return replace(lvalue, type=element, shift=shift)


def _decay(lvalue: ListLvalue | MemoryLvalue, array: ArrayType) -> Value:
    if isinstance(lvalue, MemoryLvalue):
        pointer = PointerType(array.element, lvalue.volatile, lvalue.is_const)
        return Value(pointer, lvalue.address.node)
    pointer = PointerType(array.element, const=lvalue.is_const)
    return point_into(build_node(lvalue), code.constant(0), array.count, pointer)


def point_into(
    container: ast.expr, index: ast.expr, count: int | None, pointer: PointerType
) -> Value:
    """A pointer to an element of a list; without `count` the others are of other types."""
    tag = code.constant(tag_of(pointer.pointee))
    if count is None:
        node = code.call("_point_at_one", container, index, tag)
    else:
        node = code.call("_point", container, index, code.constant(count), tag)
    return Value(pointer, node, space=Space.LOCAL)


_FALSE = ast.Constant(False)


def _load(lvalue: MemoryLvalue) -> Value:
    if lvalue.bits is not None:
        return _load_bits(lvalue, lvalue.bits)
    address = settle(lvalue.address).node
    match lvalue.type:
        case StructType():
            return Value(lvalue.type, _contents(lvalue))
        case ReferenceType():
            return Value(lvalue.type, code.call("_load", address, code.constant(4), _FALSE))
        case FloatType() as type_:
            size = code.constant(type_.bits // 8)
            word = code.call("_load", address, size, code.constant(False))
            return interpret_bits(type_, word)
        case type_:
            signed = isinstance(type_, IntType) and type_.signed
            size = code.constant(size_of(type_))
            value = make_value(type_, code.call("_load", address, size, code.constant(signed)))
            return convert_to_bool(make_value(UNSIGNED, value.node)) if type_ == BOOL else value


def _load_bits(lvalue: MemoryLvalue, bits: BitField) -> Value:
    """The value of a bit-field in memory."""
    assert isinstance(lvalue.type, IntType)
    word = reduce(
        lambda low, high: code.binary("|", low, high),
        (
            code.binary("<<", _load_word(lvalue, bits, i), code.constant(8 * bits.word * i))
            for i in range(bits.words)
        ),
    )
    mask = code.constant((1 << bits.width) - 1)
    word = code.binary("&", code.binary(">>", word, code.constant(bits.shift)), mask)
    return _read_integer(lvalue.type, word, bits.width, bits.width)


def _load_word(lvalue: MemoryLvalue, bits: BitField, number: int) -> ast.expr:
    address = settle(offset_address(lvalue.address, bits.word * number)).node
    return code.call("_load", address, code.constant(bits.word), _FALSE)


def interpret_bits(type_: FloatType, word: ast.expr) -> Value:
    """The floating-point number whose bits an expression gives."""
    return Value(type_, code.call(_OF_BITS[type_.bits], word))


def _contents(lvalue: MemoryLvalue) -> ast.expr:
    """Everything in a struct or array in memory, as a list."""
    match lvalue.type:
        case StructType(is_union=True, size=size):
            parts = (offset_address(lvalue.address, i) for i in range(0, size, 4))
            words = [
                read(MemoryLvalue(UNSIGNED if size % 4 == 0 else UINT8, each, lvalue.volatile))
                for each in (parts if size % 4 == 0 else _bytes_of(lvalue, size))
            ]
            width = 32 if size % 4 == 0 else 8
            node: ast.expr = settle(words[0]).node
            for number, word in enumerate(words[1:], 1):
                shifted = code.binary("<<", settle(word).node, code.constant(width * number))
                node = code.binary("|", node, shifted)
            return code.list_of([node])
        case StructType(fields=fields):
            return code.list_of(
                _contents(find_member_in_memory(lvalue, i)) for i in range(len(fields))
            )
        case ArrayType(element=element, count=count):
            size = size_of(element) or 0
            starts = (offset_address(lvalue.address, i * size) for i in range(count))
            return code.list_of(
                _contents(MemoryLvalue(element, start, lvalue.volatile)) for start in starts
            )
        case _:
            return read(lvalue).node


def _bytes_of(lvalue: MemoryLvalue, size: int) -> Iterator[Value]:
    return (offset_address(lvalue.address, i) for i in range(size))


def find_member_lvalue(
    lvalue: Lvalue, number: int
) -> ItemLvalue | BitsLvalue | MemoryLvalue | EitherLvalue:
    """A member of a struct or union."""
    match lvalue:
        case BitsLvalue(type=StructType(fields=fields)):
            return _bits_of_member(lvalue, fields[number])
        case MemoryLvalue():
            return find_member_in_memory(lvalue, number)
        case EitherLvalue():
            memory = find_member_in_memory(lvalue.memory, number)
            local = _member_of_list(lvalue.local, number)
            return replace(
                lvalue, type=memory.type, local=local, memory=memory, is_const=local.is_const
            )
        case _:
            return _member_of_list(lvalue, number)


def find_base_lvalue(lvalue: Lvalue, base: StructType) -> Lvalue:
    """The part of an object that is of a base of its class, or of the class itself."""
    path = lvalue.type.find_path_to(base) if isinstance(lvalue.type, StructType) else None
    for number in path or ():
        lvalue = find_member_lvalue(lvalue, number)
    if isinstance(lvalue, EitherLvalue):
        local, memory = replace(lvalue.local, type=base), replace(lvalue.memory, type=base)
        return replace(lvalue, type=base, local=local, memory=memory)
    return replace(lvalue, type=base)


def point_at_base(pointer: Value, base: CType) -> Value:
    """A pointer to an object as one to a base of its class; others as they are."""
    type_ = pointer.type
    if not isinstance(type_, PointerType) or not isinstance(type_.pointee, StructType):
        return pointer
    path = type_.pointee.find_path_to(base)
    if not path or pointer.constant == 0:
        return pointer
    offset, inner = 0, type_.pointee
    for number in path:
        offset += inner.fields[number].offset
        next_ = inner.fields[number].type
        assert isinstance(next_, StructType)
        inner = next_
    numbers = code.tuple_of(*map(code.constant, path))
    found = code.call("_base", pointer.node, code.constant(offset), numbers, _tag(base))
    return replace(pointer, type=replace(type_, pointee=base), node=found)


def _tag(type_: CType) -> ast.expr:
    return code.constant(tag_of(type_))


def _bits_of_member(lvalue: BitsLvalue, field: Field) -> BitsLvalue:
    inside, width = (0, 0) if field.bits is None else (field.bits.shift, field.bits.width)
    total = apply_binary("+", lvalue.shift, make_integer(8 * field.offset + inside, UNSIGNED))
    assert total is not None
    is_const = field.is_const_in(is_const=lvalue.is_const)
    return replace(lvalue, type=field.type, shift=total, is_const=is_const, width=width)


def _member_of_list(lvalue: ListLvalue | BitsLvalue, number: int) -> ItemLvalue | BitsLvalue:
    assert isinstance(lvalue.type, StructType)
    field = lvalue.type.fields[number]
    is_const = field.is_const_in(is_const=lvalue.is_const)
    if isinstance(lvalue, BitsLvalue):
        return _bits_of_member(lvalue, field)
    if lvalue.type.is_union:
        start, size = make_integer(0, UNSIGNED), lvalue.type.size
        whole = BitsLvalue(lvalue.type, build_node(lvalue), start, is_const, 0, size)
        return _bits_of_member(replace(whole, is_over=lvalue.is_over), field)
    width = 0 if field.bits is None else field.bits.width
    place, is_over = code.constant(number), lvalue.is_over
    return ItemLvalue(field.type, build_node(lvalue), place, is_const, None, width, is_over)


def find_member_in_memory(lvalue: MemoryLvalue, number: int) -> MemoryLvalue:
    """A member of a struct in memory."""
    assert isinstance(lvalue.type, StructType)
    field = lvalue.type.fields[number]
    address = offset_address(lvalue.address, field.offset)
    is_const = field.is_const_in(is_const=lvalue.is_const)
    return replace(lvalue, type=field.type, address=address, is_const=is_const, bits=field.bits)


def offset_address(address: Value, offset: int) -> Value:
    """An address some bytes later."""
    if not offset:
        return address
    node = code.binary("+", address.node, code.constant(offset))
    return Value(UNSIGNED, node, address.low + offset, address.high + offset)


def build_assignment(lvalue: Lvalue, value: Value) -> ast.stmt:
    """The statement that puts a value of the place's own type into it."""
    value = fit_bits(value, width_of(lvalue))
    match lvalue:
        case EitherLvalue():
            then, otherwise = (
                build_assignment(each, value) for each in (lvalue.local, lvalue.memory)
            )
            return ast.If(_is_local(lvalue), [then], [otherwise])
        case LocalLvalue() | ItemLvalue() if not isinstance(lvalue.type, StructType):
            return code.assign(build_node(lvalue), value.node)
        case _:
            return ast.Expr(build_assigned(lvalue, value))


def build_assigned(lvalue: Lvalue, value: Value) -> ast.expr:
    """The same as an expression; its value is the one that was assigned."""
    value = fit_bits(value, width_of(lvalue))
    match lvalue:
        case MemoryLvalue():
            return build_store(lvalue, value)
        case EitherLvalue():
            local, memory = (
                build_assigned(lvalue.local, value),
                build_assigned(lvalue.memory, value),
            )
            return code.choice(_is_local(lvalue), local, memory)
        case BitsLvalue():
            return _build_bits(lvalue, value)
        case _ if isinstance(lvalue.type, StructType):
            return code.call("_overwrite", build_node(lvalue), value.node)
        case LocalLvalue():
            return code.walrus(lvalue.identifier, value.node)
        case ItemLvalue():
            return code.call("_put", value.node, lvalue.container, lvalue.index)
        case PointedLvalue():
            return code.call("_put_at", value.node, lvalue.pointer, lvalue.offset)
        case MemberLvalue():
            member = code.constant(lvalue.member)
            return code.call("_put_member", value.node, lvalue.holder, member)


def _build_bits(lvalue: BitsLvalue, value: Value) -> ast.expr:
    """A store to a member of a union; the value of the expression is the value."""
    bits = lvalue.width or 8 * (size_of(lvalue.type) or 0)
    match lvalue.type:
        case StructType() | ArrayType():
            parts = _describe_parts(lvalue.type)
            return code.call("_put_parts", value.node, lvalue.holder, lvalue.shift.node, parts)
        case IntType():
            word = convert_to_unsigned(value, bits).node
        case FloatType(bits=width):
            word = code.call(_BITS_OF[width], value.node)
        case _:
            word = value.node
    shift = settle(lvalue.shift).node
    put = code.call("_put_bits", word, lvalue.holder, shift, code.constant(bits))
    return put


def _describe_parts(type_: StructType | ArrayType) -> ast.expr:
    """Where the parts of an object lie: bits before each, its width, and what it is."""
    match type_:
        case StructType(is_union=True, size=size):
            places = [(0, 8 * size, None)]
        case StructType(fields=fields):
            places = [_place_of(each) for each in fields]
        case ArrayType(element=element, count=count):
            bits = 8 * (size_of(element) or 0)
            places = [(bits * i, bits, element) for i in range(count)]
    parts = list[ast.expr]()
    for shift, width, inner in places:
        kind: ast.expr = code.constant("f" if isinstance(inner, FloatType) else None)
        if isinstance(inner, (StructType, ArrayType)):
            kind = _describe_parts(inner)
        parts.append(code.tuple_of(code.constant(shift), code.constant(width), kind))
    return code.tuple_of(*parts)


def _place_of(field: Field) -> tuple[int, int, CType]:
    if field.bits is not None:
        return 8 * field.offset + field.bits.shift, field.bits.width, field.type
    return 8 * field.offset, 8 * (size_of(field.type) or 0), field.type


def build_store(lvalue: MemoryLvalue, value: Value) -> ast.expr:
    """A store to memory; the value of the expression is the bits that were stored.

    That to a bit-field writes its address and value several times, so that they must be stable.
    """
    if lvalue.bits is not None:
        return _build_store_of_bits(lvalue, lvalue.bits, value)
    size = code.constant(size_of(lvalue.type))
    match lvalue.type:
        case StructType():
            return code.last_of(*_store_parts(lvalue, value.node), value.node)
        case ReferenceType():
            word = code.call("_address", value.node)
        case IntType(bits=bits):
            word = convert_to_unsigned(value, max(bits, 8)).node
        case FloatType(bits=bits):
            word = code.call(_BITS_OF[bits], value.node)
        case PointerType() if value.space is not Space.MEMORY:
            word = code.call("_address", value.node)
        case _:
            word = value.node
    return code.call("_store", word, settle(lvalue.address).node, size)


def _store_parts(lvalue: MemoryLvalue, node: ast.expr) -> Iterator[ast.expr]:
    """Stores of everything in a struct or array to memory; the list is read several times."""
    match lvalue.type:
        case StructType(is_union=True, size=size):
            word = code.subscript(node, code.constant(0))
            for number in range(size):
                byte = code.binary(">>", word, code.constant(8 * number))
                place = MemoryLvalue(UINT8, offset_address(lvalue.address, number))
                yield build_store(place, Value(UINT8, byte, 0, 1 << 8 * (size - number)))
        case StructType(fields=fields):
            for number in range(len(fields)):
                part = code.subscript(node, code.constant(number))
                yield from _store_parts(find_member_in_memory(lvalue, number), part)
        case ArrayType(element=element, count=count):
            size = size_of(element) or 0
            for number in range(count):
                place = MemoryLvalue(element, offset_address(lvalue.address, number * size))
                yield from _store_parts(place, code.subscript(node, code.constant(number)))
        case type_:
            yield build_store(lvalue, make_value(type_, node, Space.ANY))


def _build_store_of_bits(lvalue: MemoryLvalue, bits: BitField, value: Value) -> ast.expr:
    """A store to a bit-field, which keeps what else is in its words."""
    bits_of_word = 8 * bits.word
    word = code.binary("<<", convert_to_unsigned(value, bits.width).node, code.constant(bits.shift))
    mask = (1 << bits.width) - 1 << bits.shift
    stores = list[ast.expr]()
    for number in range(bits.words):
        part = mask >> bits_of_word * number & (1 << bits_of_word) - 1
        kept = code.constant((1 << bits_of_word) - 1 & ~part)
        before = code.binary("&", _load_word(lvalue, bits, number), kept)
        shifted = code.binary(">>", word, code.constant(bits_of_word * number))
        new = code.binary("|", before, code.binary("&", shifted, code.constant(part)))
        address = settle(offset_address(lvalue.address, bits.word * number)).node
        stores.append(code.call("_store", new, address, code.constant(bits.word)))
    return code.last_of(*stores)
