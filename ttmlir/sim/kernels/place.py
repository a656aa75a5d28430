"""Places: what expressions can be assigned to, and how they are read and written in Python."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TypeAlias

from ttmlir.sim.kernels import code
from ttmlir.sim.kernels.types import (
    BOOL,
    FLOAT,
    UNSIGNED,
    ArrayType,
    CType,
    FloatType,
    IntType,
    PointerType,
    StructType,
    size_of,
)
from ttmlir.sim.kernels.value import Value, settled, truth, unsigned, whole


@dataclass(frozen=True)
class LocalPlace:
    """A variable that only its function knows: a local variable of Python."""

    type: CType
    identifier: str
    low: int | None = None
    high: int | None = None
    """Bounds, where they are closer than those of the type."""
    is_const: bool = False


@dataclass(frozen=True)
class ItemPlace:
    """An element of a list: of an array or struct, or a variable that others may change."""

    type: CType
    container: ast.expr
    index: ast.expr
    is_const: bool = False


@dataclass(frozen=True)
class MemoryPlace:
    """A place in memory."""

    type: CType
    address: Value
    volatile: bool = False
    is_const: bool = False


@dataclass(frozen=True)
class AttributePlace:
    """A member of an object of the kernel library."""

    type: CType
    holder: ast.expr
    member: str
    is_const: bool = False


Place: TypeAlias = LocalPlace | ItemPlace | MemoryPlace | AttributePlace


def node_of(place: LocalPlace | ItemPlace | AttributePlace) -> ast.expr:
    """The expression of Python that reads a place, and that can be assigned to."""
    match place:
        case LocalPlace():
            return code.name(place.identifier)
        case ItemPlace():
            return code.subscript(place.container, place.index)
        case AttributePlace():
            return code.attribute(place.holder, place.member)


def read(place: Place) -> Value:
    """The value in a place; that of an array is a pointer to its first element."""
    if isinstance(place.type, ArrayType):
        return _decayed(place, place.type)
    if isinstance(place, MemoryPlace):
        return _loaded(place)
    value = whole(place.type, node_of(place))
    if isinstance(place, LocalPlace) and place.low is not None and place.high is not None:
        return Value(place.type, value.node, place.low, place.high)
    return value


def _decayed(place: Place, array: ArrayType) -> Value:
    if isinstance(place, MemoryPlace):
        return Value(PointerType(array.element, volatile=place.volatile), place.address.node)
    start = code.pair(node_of(place), code.constant(0))
    return Value(PointerType(array.element, local=True), start)


def _loaded(place: MemoryPlace) -> Value:
    address = settled(place.address).node
    match place.type:
        case StructType():
            return Value(place.type, _contents(place))
        case FloatType(bits=32):
            word = code.call("_load", address, code.constant(4), code.constant(False))
            return Value(FLOAT, code.call("_bits_float", word))
        case type_:
            signed = isinstance(type_, IntType) and type_.signed
            size = code.constant(size_of(type_))
            value = whole(type_, code.call("_load", address, size, code.constant(signed)))
            return truth(whole(UNSIGNED, value.node)) if type_ == BOOL else value


def _contents(place: MemoryPlace) -> ast.expr:
    """Everything in a struct or array in memory, as a list."""
    match place.type:
        case StructType(fields=fields):
            return code.listed(_contents(member_of_memory(place, i)) for i in range(len(fields)))
        case ArrayType(element=element, count=count):
            size = size_of(element) or 0
            starts = (moved(place.address, i * size) for i in range(count))
            return code.listed(
                _contents(MemoryPlace(element, start, place.volatile)) for start in starts
            )
        case _:
            return read(place).node


def member_of_memory(place: MemoryPlace, number: int) -> MemoryPlace:
    """A member of a struct in memory."""
    assert isinstance(place.type, StructType)
    field = place.type.fields[number]
    return MemoryPlace(field.type, moved(place.address, field.offset), place.volatile)


def moved(address: Value, offset: int) -> Value:
    """An address some bytes later."""
    if not offset:
        return address
    node = code.binary("+", address.node, code.constant(offset))
    return Value(UNSIGNED, node, address.low + offset, address.high + offset)


def assignment(place: Place, value: Value) -> ast.stmt:
    """The statement that puts a value of the place's own type into it."""
    value = settled(value)
    if isinstance(place, MemoryPlace):
        return ast.Expr(stored(place, value))
    if isinstance(place.type, StructType):
        return ast.Expr(code.call("_overwrite", node_of(place), value.node))
    return code.assign(node_of(place), value.node)


def assigned(place: Place, value: Value) -> ast.expr:
    """The same as an expression; its value is the one that was assigned."""
    value = settled(value)
    match place:
        case MemoryPlace():
            return stored(place, value)
        case _ if isinstance(place.type, StructType):
            return code.call("_overwrite", node_of(place), value.node)
        case LocalPlace():
            return code.walrus(place.identifier, value.node)
        case ItemPlace():
            return code.call("_put", value.node, place.container, place.index)
        case AttributePlace():
            member = code.constant(place.member)
            return code.call("_put_attribute", value.node, place.holder, member)


def stored(place: MemoryPlace, value: Value) -> ast.expr:
    """A store to memory; the value of the expression is the bits that were stored."""
    size = code.constant(size_of(place.type))
    match place.type:
        case IntType(bits=bits):
            word = unsigned(value, max(bits, 8)).node
        case FloatType():
            word = code.call("_float_bits", value.node)
        case _:
            word = value.node
    return code.call("_store", word, settled(place.address).node, size)
