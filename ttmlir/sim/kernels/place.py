"""Places: what expressions can be assigned to, and how they are read and written in Python."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

from ttmlir.cpp import tree
from ttmlir.cpp.conversions import tag_of
from ttmlir.cpp.types import (
    BOOL,
    UINT8,
    UNSIGNED,
    ArrayType,
    CType,
    Field,
    FloatType,
    IntType,
    PointerType,
    ReferenceType,
    StructType,
    size_of,
)
from ttmlir.sim.kernels.python import code
from ttmlir.sim.kernels.value import (
    Space,
    Value,
    apply_binary,
    convert,
    convert_to_bool,
    convert_to_unsigned,
    make_integer,
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
class BitsPlace:
    """A member of a union of the kernel, which is a list with the bits of all its members."""

    type: CType
    holder: ast.expr
    """The list."""
    shift: Value
    """The number of bits before the member."""
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
    local: ItemPlace | PointedPlace | BitsPlace
    memory: MemoryPlace
    is_const: bool = False


@dataclass(frozen=True)
class MemberPlace:
    """A member of an object of the kernel library."""

    type: CType
    holder: ast.expr
    member: str
    is_const: bool = True


ListPlace: TypeAlias = LocalPlace | ItemPlace | PointedPlace | MemberPlace
"""What has a value of its own in Python."""
Place: TypeAlias = ListPlace | BitsPlace | MemoryPlace | EitherPlace


def protect_place(place: Place) -> Place:
    """The same place as one that cannot be changed."""
    if isinstance(place, EitherPlace):
        local, memory = (replace(each, is_const=True) for each in (place.local, place.memory))
        return replace(place, is_const=True, local=local, memory=memory)
    return replace(place, is_const=True)


_OF_BITS = {32: "_bits_float", 64: "_bits_double"}
_BITS_OF = {32: "_float_bits", 64: "_double_bits"}


def build_node(place: ListPlace | BitsPlace) -> ast.expr:
    """The expression of Python that reads a place that is not in memory."""
    match place:
        case BitsPlace():
            return settle(read(place)).node
        case LocalPlace():
            return code.name(place.identifier)
        case ItemPlace(container=ast.List(elts=[only]), index=ast.Constant(value=0)):
            return only
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
    if isinstance(place, BitsPlace):
        return _read_bits(place)
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


def _read_bits(place: BitsPlace) -> Value:
    """The value of a member of a union."""
    match place.type:
        case StructType(fields=fields):
            parts = (find_member_place(place, i) for i in range(len(fields)))
            return Value(place.type, code.list_of(settle(read(each)).node for each in parts))
        case ArrayType(count=count):
            indices = (make_integer(i, UNSIGNED) for i in range(count))
            parts = (find_element_of_bits(place, each) for each in indices)
            return Value(place.type, code.list_of(settle(read(each)).node for each in parts))
        case type_:
            bits = 8 * (size_of(type_) or 0)
            shift = settle(place.shift).node
            word = code.call("_bits", place.holder, shift, code.constant(bits))
    match type_:
        case FloatType():
            return interpret_bits(type_, word)
        case IntType():
            unsigned = IntType(f"uint{bits}_t", bits, False)
            return settle(convert(Value(unsigned, word, 0, unsigned.high), type_))
        case _:
            return Value(type_, word)


def find_element_of_bits(place: BitsPlace, index: Value) -> BitsPlace:
    """An element of an array in a union."""
    assert isinstance(place.type, ArrayType)
    element = place.type.element
    bits = apply_binary("*", index, make_integer(8 * (size_of(element) or 0), UNSIGNED))
    assert bits is not None
    shift = apply_binary("+", place.shift, bits)
    assert shift is not None
    return BitsPlace(element, place.holder, shift, place.is_const)


def _decay(place: ListPlace | MemoryPlace, array: ArrayType) -> Value:
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


_FALSE = ast.Constant(False)


def _load(place: MemoryPlace) -> Value:
    address = settle(place.address).node
    match place.type:
        case StructType():
            return Value(place.type, _contents(place))
        case ReferenceType():
            return Value(place.type, code.call("_load", address, code.constant(4), _FALSE))
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
        case StructType(is_union=True, size=size):
            parts = (offset_address(place.address, i) for i in range(0, size, 4))
            words = [
                read(MemoryPlace(UNSIGNED if size % 4 == 0 else UINT8, each, place.volatile))
                for each in (parts if size % 4 == 0 else _bytes_of(place, size))
            ]
            width = 32 if size % 4 == 0 else 8
            node: ast.expr = settle(words[0]).node
            for number, word in enumerate(words[1:], 1):
                shifted = code.binary("<<", settle(word).node, code.constant(width * number))
                node = code.binary("|", node, shifted)
            return code.list_of([node])
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


def _bytes_of(place: MemoryPlace, size: int) -> Iterator[Value]:
    return (offset_address(place.address, i) for i in range(size))


def find_member_place(
    place: Place, number: int
) -> ItemPlace | BitsPlace | MemoryPlace | EitherPlace:
    """A member of a struct or union."""
    match place:
        case BitsPlace(type=StructType(fields=fields)):
            return _bits_of_member(place.holder, fields[number], place.shift, place.is_const)
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


def _bits_of_member(holder: ast.expr, field: Field, shift: Value, is_const: bool) -> BitsPlace:
    total = apply_binary("+", shift, make_integer(8 * field.offset, UNSIGNED))
    assert total is not None
    return BitsPlace(field.type, holder, total, is_const or field.const)


def _member_of_list(place: ListPlace | BitsPlace, number: int) -> ItemPlace | BitsPlace:
    assert isinstance(place.type, StructType)
    field = place.type.fields[number]
    is_const = place.is_const or field.const
    if isinstance(place, BitsPlace):
        return _bits_of_member(place.holder, field, place.shift, is_const)
    if place.type.is_union:
        return _bits_of_member(build_node(place), field, make_integer(0, UNSIGNED), is_const)
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
        case BitsPlace():
            return _build_bits(place, value)
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


def _build_bits(place: BitsPlace, value: Value) -> ast.expr:
    """A store to a member of a union; the value of the expression is the value."""
    bits = 8 * (size_of(place.type) or 0)
    match place.type:
        case IntType():
            word = convert_to_unsigned(value, bits).node
        case FloatType(bits=width):
            word = code.call(_BITS_OF[width], value.node)
        case _:
            word = value.node
    shift = settle(place.shift).node
    put = code.call("_put_bits", word, place.holder, shift, code.constant(bits))
    return put


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
