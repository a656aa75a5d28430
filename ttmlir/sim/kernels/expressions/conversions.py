"""Conversions that C++ makes by itself."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from ttmlir.cpp import tree
from ttmlir.cpp.conversions import is_scoped, keeps_const, may_point
from ttmlir.cpp.types import (
    BOOL,
    NULL,
    CType,
    EnumType,
    FloatType,
    IncompleteType,
    IntType,
    PointerType,
    StringType,
    StructType,
    complete_type,
)
from ttmlir.sim.kernels.classes.destructors import keep_temporary
from ttmlir.sim.kernels.context import Context
from ttmlir.sim.kernels.python import code
from ttmlir.sim.kernels.scope import Evaluated
from ttmlir.sim.kernels.value import Value, apply_binary, convert, convert_to_bool, settle


def convert_implicitly(
    context: Context,
    value: Value,
    target: CType,
    node: tree.Node,
    *,
    is_explicit: bool = False,
) -> Value:
    """A value in the type of what it is assigned to, without cast.

    With `is_explicit` a cast asks for it, which takes explicit constructors, too.
    """
    source = value.type
    if isinstance(target, IncompleteType):
        target = complete_type(target, context.unit.structs)
    match target, source:
        case ((IntType() | FloatType()), (IntType() | FloatType())):
            if target != source and (isinstance(target, EnumType) or is_scoped(source)):
                raise context.error(node, _describe_conversion(source, target))
            return convert(value, target)
        case IntType(), PointerType() if target == BOOL:
            return convert_to_bool(value)
        case PointerType(), _ if source == NULL:
            return Value(target, code.constant(0))
        case PointerType(), IntType() if value.constant == 0 and isinstance(node, tree.Integer):
            return Value(target, code.constant(0))
        case PointerType(), PointerType() if may_point(target, source):
            pointer = replace(target, volatile=target.volatile or source.volatile)
            return Value(pointer, value.node, space=value.space)
        case _ if source == target:
            return value
        case _:
            return _convert_classes(context, value, target, node, is_explicit)


def _convert_classes(
    context: Context, value: Value, target: CType, node: tree.Node, is_explicit: bool
) -> Value:
    source = value.type
    if isinstance(source, StructType) and isinstance(target, StructType):
        if source.derives_from(target):
            return _take_base(value, target)
    if isinstance(source, StructType) or isinstance(target, StructType):
        converted = _convert_object(context, value, target, node, is_explicit)
        if converted is not None:
            return converted
    raise context.error(node, _describe_conversion(source, target))


def _take_base(value: Value, target: StructType) -> Value:
    """The part of an object that is of its base."""
    count = len(target.fields)
    assert isinstance(value.type, StructType)
    if len(value.type.fields) == count:
        return Value(target, value.node)
    return Value(target, code.call("_sliced", value.node, code.constant(count)))


def _convert_object(
    context: Context, value: Value, target: CType, node: tree.Node, is_explicit: bool
) -> Value | None:
    """What a conversion function, or a constructor with one argument, makes of a value."""
    found = context.handlers.convert_object(context, value, target, node)
    if found is not None or not isinstance(target, StructType):
        return found
    info = context.unit.classes.get(target.number)
    makers = () if info is None else info.constructors
    fitting = [
        each
        for each in makers
        if each.parameters
        and all(one.default is not None or one.is_pack for one in each.parameters[1:])
        and (is_explicit or "explicit" not in each.specifiers)
    ]
    if not fitting:
        return None
    known = cast("tree.Expression", Evaluated(value, position=node.position))
    made = context.handlers.construct(context, target, (known,), node)
    return keep_temporary(context, made, node)


def unify_types(
    context: Context, a: Value, b: Value, node: tree.Conditional
) -> tuple[Value, Value]:
    """Two values in the type that they have in common."""
    numbers = (IntType, FloatType)
    if a.type == b.type:
        return settle(a), settle(b)
    mixed_null = NULL in (a.type, b.type) and PointerType in (type(a.type), type(b.type))
    if (is_scoped(a.type) or is_scoped(b.type)) and not mixed_null:
        raise context.error(node, _describe_mixture(a.type, b.type))
    if isinstance(a.type, numbers) and isinstance(b.type, numbers):
        total = apply_binary("+", a, b)
        assert total is not None
        target = total.type
        assert isinstance(target, numbers)
        return settle(convert(a, target)), settle(convert(b, target))
    if isinstance(a.type, PointerType) and isinstance(b.type, PointerType):
        if may_point(b.type, a.type):
            return convert_implicitly(context, a, b.type, node.true_value), b
    if isinstance(a.type, PointerType):
        return a, convert_implicitly(context, b, a.type, node.false_value)
    return convert_implicitly(context, a, b.type, node.true_value), b


def _describe_mixture(a: CType, b: CType) -> str:
    return f"'{a.name}' and '{b.name}' have no type in common; cast one of them"


def _describe_conversion(source: CType, target: CType) -> str:
    if source == NULL:
        return f"nullptr is a pointer and no '{target.name}'; write a value of that type"
    if isinstance(target, PointerType) and isinstance(source, IntType):
        return (
            f"an integer is no '{target.name}'; write reinterpret_cast<{target.name}>(...), "
            "with volatile tt_l1_ptr for memory that others write"
        )
    if isinstance(target, IntType) and isinstance(source, PointerType):
        return f"a pointer is no '{target.name}'; write reinterpret_cast<uint32_t>(...)"
    if isinstance(target, PointerType) and isinstance(source, PointerType):
        if not keeps_const(target, source):
            return (
                f"'{source.name}' does not convert to '{target.name}', through which what is const "
                "could be changed; declare the pointer with const, or use const_cast"
            )
    if isinstance(target, EnumType) or is_scoped(source):
        return (
            f"'{source.name}' does not convert to '{target.name}'; write "
            f"static_cast<{target.name}>(...)"
        )
    if isinstance(source, StringType):
        return f"a string is no '{target.name}'"
    return f"'{source.name}' does not convert to '{target.name}'"
