"""Casts, and the sizes of types."""

from __future__ import annotations

from dataclasses import replace

from ttmlir.cpp import tree
from ttmlir.cpp.conversions import is_same_type, keeps_const, tag_of
from ttmlir.cpp.type_names import is_deduced
from ttmlir.cpp.types import (
    UNSIGNED,
    VOID,
    CType,
    FloatType,
    IntType,
    ObjectType,
    PointerType,
    StructType,
    alignment_of,
    size_of,
)
from ttmlir.sim.kernels.classes.destructors import keep_temporary
from ttmlir.sim.kernels.context import Context
from ttmlir.sim.kernels.expressions.conversions import convert_implicitly
from ttmlir.sim.kernels.expressions.evaluating import evaluate_scalar
from ttmlir.sim.kernels.expressions.places import evaluate_place, find_array
from ttmlir.sim.kernels.expressions.pointers import take_memory_address
from ttmlir.sim.kernels.python import code
from ttmlir.sim.kernels.python.number_view import FORMATS
from ttmlir.sim.kernels.value import (
    Space,
    Value,
    convert,
    convert_to_unsigned,
    make_integer,
    make_value,
    reinterpret_bits,
)

_TYPES = (
    *(tree.NamedType, tree.Pointer, tree.Reference, tree.ArrayOf, tree.FunctionOf),
    tree.Decltype,
)


def evaluate_bit_cast(context: Context, node: tree.FunctionCall) -> Value:
    """`std::bit_cast<T>(x)`, of numbers."""
    if (
        len(node.arguments) != 1
        or len(node.template_arguments) != 1
        or (isinstance(node.arguments[0], tree.Braces))
    ):
        raise context.error(node, "std::bit_cast<type>(value) takes one value")
    target = context.unit.resolve_type(node.template_arguments[0], context.scope).type
    value = evaluate_scalar(context, node.arguments[0])
    found = reinterpret_bits(value, target)
    if found is None:
        message = f"'{value.type.name}' has not the bits of a '{target.name}'"
        raise context.error(node, f"{message}; std::bit_cast takes numbers of equal size")
    return found


def evaluate_cast(context: Context, node: tree.Cast) -> Value:
    """A cast, however it is written."""
    if isinstance(node.type, tree.Reference):
        return evaluate_place(context, node)
    if is_deduced(node.type):
        return evaluate_scalar(context, node.value)
    target = context.unit.resolve_type(node.type, context.scope).type
    if node.kind == "functional" and isinstance(target, (StructType, ObjectType)):
        made = context.handlers.construct(context, target, (node.value,), node)
        return keep_temporary(context, made, node)
    if node.kind == "reinterpret_cast" or isinstance(target, PointerType):
        value = evaluate_scalar(context, node.value)
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
        case (StructType(), _) | (_, StructType()) if has_conversion(context, value.type, target):
            return convert_implicitly(context, value, target, node, is_explicit=True)
        case _:
            message = f"'{value.type.name}' cannot be cast to '{target.name}'"
            raise context.error(node, message)


def has_conversion(context: Context, source: CType, target: CType) -> bool:
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
    cast = replace(value, type=target)
    if value.space is Space.MEMORY or target.pointee == VOID:
        return cast
    if is_same_type(target.pointee, given.pointee) or is_related(target.pointee, given.pointee):
        return cast
    is_number = _has_bytes(given.pointee) and _has_bytes(target.pointee)
    if value.space is Space.ANY or given.pointee == VOID or is_number:
        tag = code.constant(tag_of(target.pointee))
        return replace(cast, node=code.call("_pointer_to", value.node, tag))
    raise context.error(
        node,
        f"a local variable of type '{given.pointee.name}' cannot be read as "
        f"'{target.pointee.name}' through a pointer; only memory and numbers have bytes",
    )


def _has_bytes(type_: CType) -> bool:
    """Whether variables of a type can be seen as numbers of another type."""
    return tag_of(type_) in FORMATS


def is_related(a: CType, b: CType) -> bool:
    """Whether one of two classes is a base of the other one."""
    if isinstance(a, StructType) and a.derives_from(b):
        return True
    return isinstance(b, StructType) and b.derives_from(a)


def evaluate_size(context: Context, node: tree.SizeOf) -> Value:
    """`sizeof` of a type or an expression, or `alignof` of a type."""
    operand = node.operand
    type_: CType | None = None
    if isinstance(operand, tree.Name):
        if operand.template_arguments or operand.scope is not None:
            found = context.handlers.find_templated_type(context, operand)
        else:
            found = context.unit.find_type(operand.text, context.scope)
        type_ = None if found is None else found.type
    elif isinstance(operand, _TYPES):
        type_ = context.unit.resolve_type(operand, context.scope).type
    if type_ is None:
        assert not isinstance(operand, _TYPES)
        place = find_array(context, operand)
        type_ = evaluate_scalar(context, operand).type if place is None else place.type
    size = size_of(type_)
    if size is None:
        raise context.error(node, f"the size of '{type_.name}' is not known")
    return make_integer(alignment_of(type_) if node.is_alignment else size, UNSIGNED)
