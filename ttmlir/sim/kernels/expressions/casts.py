"""Casts, however they are written, and `std::bit_cast`."""

from __future__ import annotations

from dataclasses import replace

from ttmlir.cpp import tree
from ttmlir.cpp.types import (
    UNSIGNED,
    VOID,
    ArrayType,
    CType,
    Field,
    FloatType,
    FunctionType,
    IntType,
    Member,
    ObjectType,
    PointerType,
    QualifiedType,
    StructType,
    complete_type,
    is_deduced,
    is_same_type,
    keeps_const,
    lay_out_struct,
    size_of,
    tag_of,
)
from ttmlir.sim.kernels.context import Context
from ttmlir.sim.kernels.destructors import keep_temporary
from ttmlir.sim.kernels.expressions.lvalues import (
    convert_implicitly,
    evaluate_lvalue,
    evaluate_scalar,
    find_pointee,
    has_bytes,
    points_to_function,
    read_lvalue,
    refuse_derived,
    take_memory_address,
)
from ttmlir.sim.kernels.python import code
from ttmlir.sim.kernels.scope import is_given_up
from ttmlir.sim.kernels.value import (
    LocalLvalue,
    Space,
    Value,
    build_assigned,
    convert,
    convert_to_unsigned,
    find_member_lvalue,
    make_value,
    point_at_base,
    reinterpret_bits,
    settle,
)


def evaluate_bit_cast(context: Context, node: tree.FunctionCall) -> Value:
    """`std::bit_cast<T>(x)`, of numbers and objects of as many bytes."""
    if (
        len(node.arguments) != 1
        or len(node.template_arguments) != 1
        or isinstance(node.arguments[0], tree.Braces)
    ):
        raise context.error(node, "std::bit_cast<type>(value) takes one value")
    target = context.unit.resolve_type(node.template_arguments[0], context.scope).type
    value = evaluate_scalar(context, node.arguments[0])
    found = reinterpret_bits(value, target) or _read_through_union(context, value, target)
    if found is None:
        message = f"'{value.type.name}' has not the bits of a '{target.name}'"
        raise context.error(node, f"{message}; std::bit_cast takes values of equal size")
    return found


def _read_through_union(context: Context, value: Value, target: CType) -> Value | None:
    """An object as another type reads its bytes; None for other sizes and types."""
    target = complete_type(target, context.unit.structs)
    of_bytes = (IntType, FloatType, StructType)
    if not isinstance(value.type, of_bytes) or not isinstance(target, of_bytes):
        return None
    if size_of(value.type) != size_of(target):
        return None
    members = [Member(name, QualifiedType(x)) for name, x in (("from", value.type), ("to", target))]
    union = lay_out_struct("std::bit_cast", len(context.unit.structs), members, is_union=True)
    context.unit.structs.append(union)
    held = context.unit.create_name("bits", "t")
    place = LocalLvalue(union, held)
    made = code.walrus(held, code.list_of([code.constant(0)]))
    put = build_assigned(find_member_lvalue(place, 0), settle(value))
    found = read_lvalue(context, find_member_lvalue(place, 1))
    return replace(found, node=code.last_of(made, put, found.node))


def evaluate_cast(context: Context, node: tree.Cast) -> Value:
    """A cast, however it is written."""
    if isinstance(node.type, tree.Reference):
        return evaluate_lvalue(context, node)
    if is_deduced(node.type):
        return evaluate_scalar(context, node.value)
    target = context.unit.resolve_type(node.type, context.scope).type
    is_made = node.kind == "functional" or is_given_up(node.value, context.scope)
    if is_made and isinstance(target, (StructType, ObjectType)):
        made = context.handlers.construct(context, target, (node.value,), node)
        return keep_temporary(context, made, node)
    if node.kind == "reinterpret_cast" or isinstance(target, PointerType):
        value = evaluate_scalar(context, node.value)
        if isinstance(value.type, FunctionType) or points_to_function(target):
            is_closure = isinstance(value.type, StructType)
            if is_closure or isinstance(value.type, FunctionType):
                return convert_implicitly(context, value, target, node)
        _refuse_lost_const(context, value.type, target, node)
        return _reinterpret(context, value, target, node)
    return cast_value(context, context.evaluate(node.value), target, node)


def _refuse_lost_const(context: Context, source: CType, target: CType, node: tree.Cast) -> None:
    """Refuse a cast that gives leave to change what is const, which `const_cast` does."""
    if node.kind not in ("static_cast", "reinterpret_cast"):
        return
    if not isinstance(source, PointerType) or not isinstance(target, PointerType):
        return
    if not keeps_const(target, source):
        message = f"{node.kind} from '{source.name}' to '{target.name}' casts const away"
        raise context.error(node, f"{message}; keep the const, or use const_cast")


def cast_value(context: Context, value: Value, target: CType, node: tree.Node) -> Value:
    """A value converted with a cast."""
    match target, value.type:
        case ((IntType() | FloatType()), (IntType() | FloatType())):
            return convert(value, target)
        case IntType(), PointerType():
            return _reinterpret(context, value, target, node)
        case _ if target == VOID:
            return Value(VOID, value.node)
        case _ if target == value.type:
            return value
        case PointerType(), FunctionType():
            return convert_implicitly(context, value, target, node)
        case (StructType(), _) | (_, StructType()) if _has_conversion(context, value.type, target):
            return convert_implicitly(context, value, target, node, is_explicit=True)
        case _:
            message = f"'{value.type.name}' cannot be cast to '{target.name}'"
            raise context.error(node, message)


def _has_conversion(context: Context, source: CType, target: CType) -> bool:
    """Whether classes may say how one type becomes another one."""
    if isinstance(source, StructType) and source.derives_from(target):
        return True
    infos = [
        context.unit.classes.get(each.number)
        for each in (source, target)
        if isinstance(each, StructType)
    ]
    return any(each is not None and (each.constructors or each.conversions) for each in infos)


def _reinterpret(context: Context, value: Value, target: CType, node: tree.Node) -> Value:
    match target, value.type:
        case PointerType(), PointerType():
            return _cast_pointer(context, value, target, node)
        case PointerType(), IntType():
            return Value(target, convert_to_unsigned(value, 32).node)
        case IntType(), PointerType():
            if value.space is Space.LOCAL:
                message = "the address of a local variable is not known to the simulator"
                raise context.error(node, message)
            return convert(make_value(UNSIGNED, take_memory_address(context, value)), target)
        case _:
            return cast_value(context, value, target, node)


def _cast_pointer(context: Context, value: Value, target: PointerType, node: tree.Node) -> Value:
    """A pointer for elements of another type; those of a variable keep their type."""
    given = value.type
    assert isinstance(given, PointerType)
    if isinstance(given.pointee, StructType) and given.pointee.derives_from(target.pointee):
        return replace(point_at_base(value, target.pointee), type=target)
    if isinstance(target.pointee, StructType) and isinstance(given.pointee, StructType):
        refuse_derived(context, target.pointee, given.pointee, node)
    if not is_same_type(target.pointee, given.pointee):
        value = enter_bytes(context, value, node)
        given = value.type
        assert isinstance(given, PointerType)
    cast = replace(value, type=target)
    if value.space is Space.MEMORY or target.pointee == VOID:
        return cast
    if is_same_type(target.pointee, given.pointee) or _is_related(target.pointee, given.pointee):
        return cast
    is_number = has_bytes(given.pointee) and has_bytes(target.pointee)
    is_byte = has_bytes(given.pointee) and size_of(given.pointee) == 1
    if value.space is Space.ANY or given.pointee == VOID or is_number or is_byte:
        tag = code.constant(tag_of(target.pointee))
        size = code.constant(size_of(target.pointee) or 0)
        return replace(cast, node=code.call("_pointer_to", value.node, tag, size))
    raise context.error(
        node,
        f"a local variable of type '{given.pointee.name}' cannot be read as "
        f"'{target.pointee.name}' through a pointer; only memory and numbers have bytes",
    )


def enter_bytes(context: Context, pointer: Value, node: tree.Node) -> Value:
    """A pointer to a struct of nothing but bytes, `std::aligned_storage_t`, as one to the first."""
    assert isinstance(pointer.type, PointerType)
    struct = complete_type(pointer.type.pointee, context.unit.structs)
    if pointer.space is Space.MEMORY or not isinstance(struct, StructType):
        return pointer
    match struct.fields:
        case (Field(type=ArrayType(element=element)),) if size_of(element) == 1:
            bytes_ = find_member_lvalue(find_pointee(context, pointer, node), 0)
            return read_lvalue(context, bytes_)
        case _:
            return pointer


def _is_related(a: CType, b: CType) -> bool:
    """Whether one of two classes is a base of the other one."""
    if isinstance(a, StructType) and a.derives_from(b):
        return True
    return isinstance(b, StructType) and b.derives_from(a)
