"""Which types of C++ are the same, and what converts to what without a cast."""

from __future__ import annotations

from ttmlir.cpp.types import (
    INT,
    VOID,
    ArrayType,
    CType,
    EnumType,
    IncompleteType,
    IntType,
    PointerType,
    ReferenceType,
    StructType,
)


def is_same_number(a: CType, b: CType) -> bool:
    """Whether two integer types have the same values."""
    if not isinstance(a, IntType) or not isinstance(b, IntType):
        return False
    if isinstance(a, EnumType) or isinstance(b, EnumType):
        return a == b
    return (a.bits, a.signed) == (b.bits, b.signed)


def is_same_type(a: CType, b: CType) -> bool:
    """Whether a variable of one type may be referred to as the other, `const` or not."""
    match a, b:
        case PointerType(pointee=x), PointerType(pointee=y):
            return is_same_type(x, y)
        case ((StructType() | IncompleteType()), (StructType() | IncompleteType())):
            return a.number == b.number
        case _:
            return a == b or is_same_number(a, b)


def tag_of(type_: CType) -> str:
    """A text that is the same for types that `is_same_type` finds the same, and only for these."""
    match type_:
        case EnumType(name=name):
            return f"enum {name}"
        case IntType(bits=bits, signed=signed):
            return f"{'i' if signed else 'u'}{bits}"
        case PointerType(pointee=pointee):
            return f"{tag_of(pointee)}*"
        case ArrayType(element=element, count=count):
            return f"{tag_of(element)}[{count}]"
        case StructType(name=name, number=number) | IncompleteType(name=name, number=number):
            return f"{name}#{number}"
        case ReferenceType(referent=referent, const=const):
            return f"{tag_of(referent)}{'c' * const}&"
        case _:
            return type_.name


def is_scoped(type_: CType) -> bool:
    """Whether values become numbers by a cast only: those of an `enum class`."""
    return isinstance(type_, EnumType) and type_.is_scoped


def may_point(target: PointerType, source: PointerType) -> bool:
    """Whether a pointer converts to another type of pointers without cast."""
    is_similar = target.pointee == VOID or is_same_type(target.pointee, source.pointee)
    if isinstance(source.pointee, StructType):
        is_similar = is_similar or source.pointee.derives_from(target.pointee)
    return is_similar and keeps_const(target, source)


def keeps_const(target: PointerType, source: PointerType) -> bool:
    """Whether nothing that is `const` can be changed through a pointer after its conversion.

    `int**` is no `const int**`, through which an `int*` could be set to point to a `const int`
    (C++20, [conv.qual]).
    """
    outer: CType = target
    inner: CType = source
    all_const = True
    while isinstance(outer, PointerType) and isinstance(inner, PointerType):
        if outer.const != inner.const and not (outer.const and all_const):
            return False
        all_const = all_const and outer.const
        outer, inner = outer.pointee, inner.pointee
    return True


def promote(type_: IntType) -> IntType:
    """The type after the integer promotions: what is smaller than `int` becomes `int`."""
    if type_.bits < INT.bits:
        return INT
    return type_.underlying if isinstance(type_, EnumType) else type_


def find_common_type(a: IntType, b: IntType) -> IntType:
    """What the usual arithmetic conversions make of two integer types."""
    a, b = promote(a), promote(b)
    if a.bits != b.bits:
        return max(a, b, key=lambda each: each.bits)
    return b if a.signed else a
