"""Pointers to data members: known from their type, or chosen while a kernel runs.

The latter are numbers in Python: that of the member in its class, counted from 1; 0 is null.
"""

from __future__ import annotations

import ast
from dataclasses import replace

from ttmlir.cpp import tree
from ttmlir.cpp.types import (
    UNSIGNED,
    CType,
    MemberPointerType,
    MemberType,
    PointerType,
    StructType,
    complete_type,
    is_same_type,
)
from ttmlir.sim.kernels.context import Context
from ttmlir.sim.kernels.expressions.lvalues import (
    find_member,
    find_path,
    find_symbol,
    hold_whole,
    is_function,
    list_fields,
    look_at,
    points_to_function,
    read_lvalue,
)
from ttmlir.sim.kernels.python import code
from ttmlir.sim.kernels.scope import FieldName
from ttmlir.sim.kernels.value import (
    BitsLvalue,
    EitherLvalue,
    ItemLvalue,
    Lvalue,
    MemoryLvalue,
    Value,
    build_node,
    find_base_lvalue,
    make_value,
)


def name_member(context: Context, node: tree.Expression) -> Value | None:
    """What `&C::member` points to, given what is behind the `&`; None for something else."""
    if not isinstance(node, tree.Name) or ("::" not in node.text and node.scope is None):
        return None
    symbol = find_symbol(context, node)
    if not isinstance(symbol, FieldName):
        return None
    holder, _, name = node.text.rpartition("::")
    written = node.scope or tree.NamedType(holder, position=node.position)
    named = context.unit.resolve_type(written, context.scope).type
    struct = _find_holder(named, name) if isinstance(named, StructType) else None
    path = None if struct is None else find_path(struct, name)
    if struct is None or path is None:
        return None
    context.unit.check_access(struct, name, node, context.scope)
    field = list_fields(struct, path)[-1]
    if field.bits is not None:
        raise context.error(node, f"'{name}' is a bit-field, to which nothing can point")
    type_ = MemberPointerType(f"&{struct.name}::{name}", path[0], struct, field.type)
    return Value(type_, code.constant(0))


def _find_holder(struct: StructType, name: str) -> StructType | None:
    """The class that declares a member: the class itself or one of its bases."""
    path = find_path(struct, name)
    if path is not None and path[0] >= struct.count_inherited():
        return struct
    found = (_find_holder(each, name) for each in struct.bases)
    return next((each for each in found if each is not None), None)


def point_at_member(context: Context, value: Value, target: CType, node: tree.Node) -> Value | None:
    """A pointer to a data member as one of a type; None if it is none that converts."""
    assert isinstance(target, PointerType)
    wanted = target.pointee
    assert isinstance(wanted, MemberType)
    match value.type:
        case MemberPointerType(number=number, holder=holder, pointee=pointee):
            found = complete_type(holder, context.unit.structs)
            assert isinstance(found, StructType)
            const = found.fields[number].const
            node_ = code.constant(number + 1)
            if found.fields[number].name != value.type.member:
                message = "a member of an unnamed struct or union is not chosen while a kernel runs"
                raise context.error(node, f"{message}; give it a name")
        case PointerType(pointee=MemberType(type=pointee, holder=holder, const=const)):
            node_ = value.node
        case _:
            return None
    outer = complete_type(wanted.holder, context.unit.structs)
    if not is_same_type(wanted.type, pointee) or (const and not wanted.const):
        return None
    if not isinstance(outer, StructType) or not outer.derives_from(holder):
        return None
    if outer.find_path_to(holder):
        message = f"'{holder.name}' is not the first base of '{outer.name}' with members"
        raise context.error(node, f"{message}: a pointer to its members is not converted")
    return Value(target, node_)


def find_pointed_member(context: Context, node: tree.PointedMember) -> Lvalue | Value:
    """`base.*pointer`."""
    base = hold_whole(look_at(context, node.base), node.base)
    found = look_at(context, node.pointer)
    type_ = found.type
    if is_function(type_) or points_to_function(type_):
        message = "this points to a function, not to a member with a value"
        raise context.error(node.pointer, f"{message}: call it, as in '(object.*pointer)()'")
    struct = complete_type(base.type, context.unit.structs)
    member = type_.pointee if isinstance(type_, PointerType) else type_
    if not isinstance(member, (MemberType, MemberPointerType)):
        raise context.error(node.pointer, f"a '{type_.name}' is no pointer to a member")
    holder = member.holder
    if not isinstance(struct, StructType) or not struct.derives_from(holder):
        raise context.error(node, f"'{base.type.name}' has no member '{type_.name}'")
    if isinstance(member, MemberPointerType):
        return _find_known(context, base, member, node)
    pointer = found if isinstance(found, Value) else read_lvalue(context, found)
    inner = complete_type(holder, context.unit.structs)
    assert isinstance(inner, StructType)
    return _choose_member(context, find_base_lvalue(base, inner), inner, member, pointer, node)


def _find_known(
    context: Context, base: Lvalue, type_: MemberPointerType, node: tree.Node
) -> Lvalue | Value:
    holder = complete_type(type_.holder, context.unit.structs)
    assert isinstance(holder, StructType)
    return find_member(context, find_base_lvalue(base, holder), type_.member, node)


def _choose_member(
    context: Context,
    base: Lvalue,
    struct: StructType,
    member: MemberType,
    pointer: Value,
    node: tree.Node,
) -> Lvalue:
    """The member that a number means."""
    fitting = [x for x in struct.fields if is_same_type(x.type, member.type) and x.bits is None]
    if struct.is_union or isinstance(base, BitsLvalue):
        raise context.error(node, "a member of a union is not chosen while a kernel runs")
    is_const = member.const or any(x.const for x in fitting) or base.is_const
    index = code.call("_member", pointer.node)
    return _index_member(base, struct, member.type, index, is_const=is_const)


def _index_member(
    base: Lvalue, struct: StructType, type_: CType, index: ast.expr, *, is_const: bool
) -> Lvalue:
    match base:
        case MemoryLvalue():
            return _index_memory(base, struct, type_, index, is_const=is_const)
        case EitherLvalue(local=local, memory=memory):
            list_ = ItemLvalue(type_, build_node(local), index, is_const)
            there = _index_memory(memory, struct, type_, index, is_const=is_const)
            return replace(base, type=type_, local=list_, memory=there, is_const=is_const)
        case _:
            return ItemLvalue(type_, build_node(base), index, is_const, is_over=base.is_over)


def _index_memory(
    base: MemoryLvalue, struct: StructType, type_: CType, index: ast.expr, *, is_const: bool
) -> MemoryLvalue:
    offsets = code.tuple_of(*(code.constant(each.offset) for each in struct.fields))
    node = code.binary("+", base.address.node, code.subscript(offsets, index))
    address = make_value(UNSIGNED, node)
    return replace(base, type=type_, address=address, is_const=is_const, bits=None)
