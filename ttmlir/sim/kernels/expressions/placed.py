"""Objects that are made in a place, and ended by their name: `new (place) T`, `place->~T()`."""

from __future__ import annotations

from dataclasses import replace

from ttmlir.cpp import tree
from ttmlir.cpp.types import (
    VOID,
    CType,
    PointerType,
    StructType,
    complete_type,
    is_same_type,
    size_of,
    tag_of,
)
from ttmlir.sim.kernels.context import Context
from ttmlir.sim.kernels.destructors import check_destructor, ends_with_effect, find_destructor
from ttmlir.sim.kernels.expressions.casts import enter_bytes
from ttmlir.sim.kernels.expressions.initial_values import build_initial, build_zero
from ttmlir.sim.kernels.expressions.lvalues import (
    convert_implicitly,
    evaluate_scalar,
    find_pointee,
)
from ttmlir.sim.kernels.expressions.own_calls import call_own_function
from ttmlir.sim.kernels.packs import expand_all
from ttmlir.sim.kernels.python import code
from ttmlir.sim.kernels.scope import Functions
from ttmlir.sim.kernels.value import Lvalue, Space, Value, build_assigned, settle


def evaluate_new(context: Context, node: tree.New) -> Value:
    """The pointer to an object that is made where another pointer points to."""
    place = evaluate_scalar(context, node.place)
    written = context.unit.resolve_type(node.type, context.scope)
    type_ = complete_type(written.type, context.unit.structs)
    if not isinstance(place.type, PointerType):
        raise context.error(node.place, f"a '{place.type.name}' is no place for an object")
    if place.type.const:
        raise context.error(node.place, f"'{place.type.name}' converts to no 'void*'")
    if not is_same_type(place.type.pointee, type_):
        place = enter_bytes(context, place, node.place)
    assert isinstance(place.type, PointerType)
    inner = place.type.pointee
    is_fitting = inner == VOID or size_of(inner) == 1 or is_same_type(inner, type_)
    if place.space is Space.LOCAL and not is_fitting:
        raise context.error(
            node.place,
            f"the variable here is no '{type_.name}': objects are made in variables of their own "
            f"type, in arrays of bytes, in L1, and in a 'union {{ {type_.name} value; }}' that has "
            "no other member",
        )
    pointer = replace(place, type=PointerType(type_, place.type.volatile))
    if place.space is not Space.MEMORY:
        tag, size = code.constant(tag_of(type_)), code.constant(size_of(type_) or 0)
        there = place.node
        if not is_same_type(inner, type_):
            there = code.call("_pointer_to", there, tag, size)
        pointer = replace(pointer, node=code.call("_make_place", there, tag))
    value = _make(context, type_, node)
    if value is None:
        return pointer
    where, made = (context.unit.create_name(each, "t") for each in ("place", "made"))
    known, value = replace(pointer, node=code.name(where)), settle(value)
    stored = build_assigned(
        find_pointee(context, known, node), replace(value, node=code.name(made))
    )
    setup = (code.walrus(where, pointer.node), code.walrus(made, value.node))
    return replace(pointer, node=code.last_of(*setup, stored, known.node))


def _make(context: Context, type_: CType, node: tree.New) -> Value | None:
    """The object; None if it keeps what is in its place."""
    if isinstance(type_, StructType):
        arguments = node.arguments or ()
        return context.handlers.construct(context, type_, arguments, node, braced=node.braced)
    if node.arguments is None:
        return None
    arguments = list(expand_all(context, node.arguments))
    only = arguments[0] if arguments else None
    if only is None:
        return build_zero(context, type_)
    if len(arguments) > 1 or isinstance(only, tree.Braces):
        raise context.error(node, f"a '{type_.name}' takes one value")
    if node.braced:
        elements = (tree.Initializer(only, position=node.position),)
        braces = tree.Braces(elements, position=node.position)
        return build_initial(context, type_, braces, is_direct=True)
    return convert_implicitly(context, evaluate_scalar(context, only), type_, node)


def end_object(context: Context, node: tree.FunctionCall, base: Lvalue) -> Lvalue | Value:
    """A call of a destructor; types without one have no effect."""
    type_ = complete_type(base.type, context.unit.structs)
    if node.arguments:
        raise context.error(node, "a destructor takes no arguments")
    check_destructor(context, type_, node)
    if not isinstance(type_, StructType) or not ends_with_effect(context, type_):
        return Value(VOID, code.constant(0))
    info = context.unit.classes[type_.number]
    function = find_destructor(info, node)
    functions = Functions(function.name, (function,), info.scope)
    return call_own_function(context, node, functions, (), (), base)
