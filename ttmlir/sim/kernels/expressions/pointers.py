"""What can be done with pointers."""

from __future__ import annotations

import ast
from dataclasses import replace

from ttmlir.cpp import tree
from ttmlir.cpp.conversions import is_scoped
from ttmlir.cpp.types import (
    BOOL,
    INT,
    UNSIGNED,
    ArrayType,
    FunctionType,
    IntType,
    ObjectType,
    PointerType,
    StructType,
    size_of,
)
from ttmlir.sim.kernels.context import Context
from ttmlir.sim.kernels.place import (
    EitherPlace,
    ItemPlace,
    LocalPlace,
    MemoryPlace,
    Place,
    PointedPlace,
    point_into,
)
from ttmlir.sim.kernels.python import code
from ttmlir.sim.kernels.scope import Variable
from ttmlir.sim.kernels.value import (
    Space,
    Value,
    apply_binary,
    apply_unary,
    convert,
    make_integer,
    make_value,
    settle,
)


def find_pointee(
    context: Context, pointer: Value, node: tree.Node, offset: Value | None = None
) -> Place:
    """The place that a pointer points to, or that lies so many elements behind it."""
    type_ = pointer.type
    if not isinstance(type_, PointerType):
        raise context.error(node, f"'{type_.name}' is no pointer")
    is_whole = isinstance(type_.pointee, (ObjectType, FunctionType, PointerType))
    is_known = is_whole and pointer.space is Space.LOCAL
    if size_of(type_.pointee) is None and not is_known:
        message = f"'{type_.name}' points to nothing that can be read; cast it first"
        raise context.error(node, message)
    if pointer.space is Space.LOCAL:
        place = code.constant(0) if offset is None else settle(offset).node
        return PointedPlace(type_.pointee, pointer.node, place, type_.const)
    if offset is not None and offset.constant != 0:
        pointer = advance_pointer(context, pointer, offset, node)
    if pointer.space is Space.MEMORY:
        return find_pointee_in_memory(context, pointer)
    first = again = pointer.node
    if not isinstance(first, ast.Name):
        temporary = context.unit.create_name("pointer", "t")
        first, again = code.walrus(temporary, first), code.name(temporary)
    local = PointedPlace(type_.pointee, again, code.constant(0), type_.const)
    memory = MemoryPlace(type_.pointee, make_value(UNSIGNED, again), type_.volatile, type_.const)
    return EitherPlace(type_.pointee, first, local, memory, type_.const)


def find_pointee_in_memory(context: Context, pointer: Value) -> MemoryPlace:
    """The place in memory that an address means."""
    type_ = pointer.type
    assert isinstance(type_, PointerType)
    address = make_value(UNSIGNED, pointer.node)
    return MemoryPlace(type_.pointee, address, type_.volatile, type_.const)


def advance_pointer(context: Context, pointer: Value, count: Value, node: tree.Node) -> Value:
    """A pointer to a later element."""
    type_ = pointer.type
    if not isinstance(type_, PointerType):
        raise context.error(node, f"'{type_.name}' has no elements")
    size = size_of(type_.pointee)
    if size is None:
        raise context.error(node, f"arithmetic on '{type_.name}' needs a cast first")
    steps = settle(count).node
    if pointer.space is Space.LOCAL:
        return replace(pointer, node=code.call("_advance", pointer.node, steps))
    if pointer.space is Space.ANY:
        called = code.call("_advance_any", pointer.node, steps, code.constant(size))
        return replace(pointer, node=called)
    scaled = apply_binary(
        "*", convert(count, INT if count.low < 0 else UNSIGNED), make_integer(size, INT)
    )
    assert scaled is not None
    address = apply_binary("+", make_value(UNSIGNED, pointer.node), scaled)
    assert address is not None
    return Value(type_, settle(address).node)


def take_address(context: Context, place: Place, node: tree.Node) -> Value:
    """A pointer to a place."""
    match place:
        case MemoryPlace():
            pointer = PointerType(place.type, place.volatile, place.is_const)
            return Value(pointer, settle(place.address).node)
        case EitherPlace():
            local, memory = (take_address(context, x, node) for x in (place.local, place.memory))
            test = code.call("_is_local", place.pointer)
            chosen = code.choice(test, local.node, memory.node)
            return Value(memory.type, chosen, space=Space.ANY)
        case PointedPlace():
            type_ = PointerType(place.type, const=place.is_const)
            pointer = Value(type_, place.pointer, space=Space.LOCAL)
            if isinstance(place.offset, ast.Constant) and place.offset.value == 0:
                return pointer
            return advance_pointer(context, pointer, make_value(INT, place.offset), node)
        case ItemPlace():
            pointer = PointerType(place.type, const=place.is_const)
            return point_into(place.container, place.index, place.count, pointer)
        case LocalPlace() if isinstance(place.type, (StructType, ArrayType)):
            holder = code.list_of([code.name(place.identifier)])
            pointer = PointerType(place.type, const=place.is_const)
            return point_into(holder, code.constant(0), None, pointer)
        case _:
            raise context.error(node, "the address of this is not supported")


def operate_on_pointer(
    context: Context, operator: str, left: Value, right: Value, node: tree.Node
) -> Value | None:
    """A binary operator with a pointer; None if it does not go with it."""
    a, b = left.type, right.type
    if isinstance(a, PointerType) and isinstance(b, PointerType):
        return _operate_on_pointers(context, operator, left, right)
    if operator in code.COMPARE:
        return _compare_with_null(context, operator, left, right)
    if operator == "+" and isinstance(b, PointerType):
        left, right = right, left
    if not isinstance(right.type, IntType) or operator not in ("+", "-"):
        return None
    if is_scoped(right.type):
        return None
    if operator == "-" and isinstance(b, PointerType):
        return None
    count = settle(right)
    if operator == "-":
        negative = apply_unary("-", convert(count, INT))
        assert negative is not None
        count = settle(negative)
    return advance_pointer(context, left, count, node)


def _operate_on_pointers(
    context: Context, operator: str, left: Value, right: Value
) -> Value | None:
    type_ = left.type
    assert isinstance(type_, PointerType)
    size = size_of(type_.pointee)
    in_memory = left.space is right.space is Space.MEMORY
    if operator in ("==", "!=") and not in_memory:
        same = code.call("_is_same", left.node, right.node)
        return Value(BOOL, same if operator == "==" else code.negation(same), 0, 1)
    if operator in code.COMPARE and in_memory:
        return Value(BOOL, code.compare(operator, left.node, right.node), 0, 1)
    if size is None or (operator != "-" and operator not in code.COMPARE):
        return None
    if in_memory:
        bytes_ = code.binary("-", left.node, right.node)
        return make_value(INT, code.call("_quotient", bytes_, code.constant(size)))
    distance = code.call("_distance", left.node, right.node, code.constant(size))
    if operator == "-":
        return make_value(INT, distance)
    return Value(BOOL, code.compare(operator, distance, code.constant(0)), 0, 1)


def _compare_with_null(context: Context, operator: str, left: Value, right: Value) -> Value | None:
    number, pointer = (left, right) if isinstance(left.type, IntType) else (right, left)
    if number.constant != 0 or operator not in ("==", "!="):
        return None
    if pointer.space is Space.LOCAL and isinstance(pointer.node, ast.Name):
        return make_integer(int(operator == "!="), BOOL)
    return Value(BOOL, code.compare(operator, pointer.node, code.constant(0)), 0, 1)


def fit_pointer(context: Context, value: Value, place: Place, node: tree.Node) -> Value:
    """A value of the place's type, if the place can hold where it points to."""
    if not isinstance(value.type, PointerType):
        return value
    match place:
        case LocalPlace(space=space) if space.join(value.space) is not space:
            context.widen(place.origin)
        case MemoryPlace() if value.space is Space.LOCAL:
            message = "the address of a local variable is not known to the simulator"
            raise context.error(node, f"{message}; it cannot be kept in memory")
        case _:
            pass
    return value


def take_memory_address(context: Context, pointer: Value) -> ast.expr:
    """The address that a pointer holds, which must not point to a variable."""
    if pointer.space is Space.MEMORY:
        return pointer.node
    return code.call("_address", pointer.node)


def evaluate_this(context: Context, node: tree.This) -> Value:
    """`this` as a pointer."""
    symbol = context.scope.find("this")
    if not isinstance(symbol, Variable) or isinstance(symbol.meaning, Value):
        raise context.error(node, "there is no object here that 'this' could point to")
    return take_address(context, symbol.meaning, node)
