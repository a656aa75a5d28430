"""Places: what expressions can be assigned to, and how they are read and written in Python."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace
from typing import TypeAlias

from ttmlir.cpp import tree
from ttmlir.cpp.conversions import tag_of
from ttmlir.cpp.types import (
    BOOL,
    UNSIGNED,
    ArrayType,
    CType,
    FloatType,
    IntType,
    PointerType,
    StructType,
    size_of,
)
from ttmlir.sim.kernels.python import code
from ttmlir.sim.kernels.value import (
    Space,
    Value,
    convert_to_bool,
    convert_to_unsigned,
    make_value,
    settle,
)


@dataclass(frozen=True)
class LocalPlace:
    """A variable that only its function knows: a local variable of Python."""

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


@dataclass(frozen=True)
class ItemPlace:
    """An element of a list: of an array or struct, or a variable that others may change."""

    type: CType
    container: ast.expr
    index: ast.expr
    is_const: bool = False
    count: int | None = None
    """How many elements the list has, if it is an array."""


@dataclass(frozen=True)
class PointedPlace:
    """What a pointer to a variable points to."""

    type: CType
    pointer: ast.expr
    offset: ast.expr
    """In elements."""
    is_const: bool = False


@dataclass(frozen=True)
class MemoryPlace:
    """A place in memory."""

    type: CType
    address: Value
    volatile: bool = False
    is_const: bool = False


@dataclass(frozen=True)
class EitherPlace:
    """What a pointer points to that may point to a variable or into memory."""

    type: CType
    pointer: ast.expr
    """Evaluated first, and once."""
    local: ItemPlace | PointedPlace
    memory: MemoryPlace
    is_const: bool = False


@dataclass(frozen=True)
class MemberPlace:
    """A member of an object of the kernel library."""

    type: CType
    holder: ast.expr
    member: str
    is_const: bool = True


Place: TypeAlias = LocalPlace | ItemPlace | PointedPlace | MemoryPlace | EitherPlace | MemberPlace


def protect_place(place: Place) -> Place:
    """The same place as one that cannot be changed."""
    if isinstance(place, EitherPlace):
        local, memory = (replace(each, is_const=True) for each in (place.local, place.memory))
        return replace(place, is_const=True, local=local, memory=memory)
    return replace(place, is_const=True)


_OF_BITS = {32: "_bits_float", 64: "_bits_double"}
_BITS_OF = {32: "_float_bits", 64: "_double_bits"}


def build_node(place: LocalPlace | ItemPlace | PointedPlace | MemberPlace) -> ast.expr:
    """The expression of Python that reads a place that is not in memory."""
    match place:
        case LocalPlace():
            return code.name(place.identifier)
        case ItemPlace():
            return code.subscript(place.container, place.index)
        case PointedPlace():
            return code.call("_element_at", place.pointer, place.offset)
        case MemberPlace():
            return code.attribute(place.holder, place.member)


def read(place: Place) -> Value:
    """The value in a place; that of an array is a pointer to its first element."""
    if isinstance(place, EitherPlace):
        return _either(place)
    if isinstance(place.type, ArrayType):
        return _decay(place, place.type)
    if isinstance(place, MemoryPlace):
        return _load(place)
    space = place.space if isinstance(place, LocalPlace) else Space.ANY
    value = make_value(place.type, build_node(place), space)
    if isinstance(place, LocalPlace) and place.low is not None and place.high is not None:
        return Value(place.type, value.node, place.low, place.high)
    return value


def _either(place: EitherPlace) -> Value:
    local, memory = read(place.local), settle(read(place.memory))
    choice = code.choice(_is_local(place), local.node, memory.node)
    space = local.space.join(memory.space)
    return Value(
        memory.type, choice, min(local.low, memory.low), max(local.high, memory.high), space
    )


def _is_local(place: EitherPlace) -> ast.expr:
    return code.call("_is_local", place.pointer)


def _decay(
    place: LocalPlace | ItemPlace | PointedPlace | MemoryPlace | MemberPlace, array: ArrayType
) -> Value:
    if isinstance(place, MemoryPlace):
        pointer = PointerType(array.element, place.volatile, place.is_const)
        return Value(pointer, place.address.node)
    pointer = PointerType(array.element, const=place.is_const)
    return point_into(build_node(place), code.constant(0), array.count, pointer)


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


def _load(place: MemoryPlace) -> Value:
    address = settle(place.address).node
    match place.type:
        case StructType():
            return Value(place.type, _contents(place))
        case FloatType() as type_:
            size = code.constant(type_.bits // 8)
            word = code.call("_load", address, size, code.constant(False))
            return interpret_bits(type_, word)
        case type_:
            signed = isinstance(type_, IntType) and type_.signed
            size = code.constant(size_of(type_))
            value = make_value(type_, code.call("_load", address, size, code.constant(signed)))
            return convert_to_bool(make_value(UNSIGNED, value.node)) if type_ == BOOL else value


def interpret_bits(type_: FloatType, word: ast.expr) -> Value:
    """The floating-point number whose bits an expression gives."""
    return Value(type_, code.call(_OF_BITS[type_.bits], word))


def _contents(place: MemoryPlace) -> ast.expr:
    """Everything in a struct or array in memory, as a list."""
    match place.type:
        case StructType(fields=fields):
            return code.list_of(
                _contents(find_member_in_memory(place, i)) for i in range(len(fields))
            )
        case ArrayType(element=element, count=count):
            size = size_of(element) or 0
            starts = (offset_address(place.address, i * size) for i in range(count))
            return code.list_of(
                _contents(MemoryPlace(element, start, place.volatile)) for start in starts
            )
        case _:
            return read(place).node


def find_member_place(place: Place, number: int) -> ItemPlace | MemoryPlace | EitherPlace:
    """A member of a struct."""
    match place:
        case MemoryPlace():
            return find_member_in_memory(place, number)
        case EitherPlace():
            memory = find_member_in_memory(place.memory, number)
            local = _member_of_list(place.local, number)
            return replace(
                place, type=memory.type, local=local, memory=memory, is_const=local.is_const
            )
        case _:
            return _member_of_list(place, number)


def _member_of_list(
    place: LocalPlace | ItemPlace | PointedPlace | MemberPlace, number: int
) -> ItemPlace:
    assert isinstance(place.type, StructType)
    field = place.type.fields[number]
    is_const = place.is_const or field.const
    return ItemPlace(field.type, build_node(place), code.constant(number), is_const)


def find_member_in_memory(place: MemoryPlace, number: int) -> MemoryPlace:
    """A member of a struct in memory."""
    assert isinstance(place.type, StructType)
    field = place.type.fields[number]
    address = offset_address(place.address, field.offset)
    return MemoryPlace(field.type, address, place.volatile, place.is_const or field.const)


def offset_address(address: Value, offset: int) -> Value:
    """An address some bytes later."""
    if not offset:
        return address
    node = code.binary("+", address.node, code.constant(offset))
    return Value(UNSIGNED, node, address.low + offset, address.high + offset)


def build_assignment(place: Place, value: Value) -> ast.stmt:
    """The statement that puts a value of the place's own type into it."""
    value = settle(value)
    match place:
        case EitherPlace():
            then, otherwise = (
                build_assignment(each, value) for each in (place.local, place.memory)
            )
            return ast.If(_is_local(place), [then], [otherwise])
        case LocalPlace() | ItemPlace() if not isinstance(place.type, StructType):
            return code.assign(build_node(place), value.node)
        case _:
            return ast.Expr(build_assigned(place, value))


def build_assigned(place: Place, value: Value) -> ast.expr:
    """The same as an expression; its value is the one that was assigned."""
    value = settle(value)
    match place:
        case MemoryPlace():
            return build_store(place, value)
        case EitherPlace():
            local, memory = build_assigned(place.local, value), build_assigned(place.memory, value)
            return code.choice(_is_local(place), local, memory)
        case _ if isinstance(place.type, StructType):
            return code.call("_overwrite", build_node(place), value.node)
        case LocalPlace():
            return code.walrus(place.identifier, value.node)
        case ItemPlace():
            return code.call("_put", value.node, place.container, place.index)
        case PointedPlace():
            return code.call("_put_at", value.node, place.pointer, place.offset)
        case MemberPlace():
            member = code.constant(place.member)
            return code.call("_put_member", value.node, place.holder, member)


def build_store(place: MemoryPlace, value: Value) -> ast.expr:
    """A store to memory; the value of the expression is the bits that were stored."""
    size = code.constant(size_of(place.type))
    match place.type:
        case IntType(bits=bits):
            word = convert_to_unsigned(value, max(bits, 8)).node
        case FloatType(bits=bits):
            word = code.call(_BITS_OF[bits], value.node)
        case PointerType() if value.space is not Space.MEMORY:
            word = code.call("_address", value.node)
        case _:
            word = value.node
    return code.call("_store", word, settle(place.address).node, size)
