"""Declarations of variables."""

from __future__ import annotations

import ast
from dataclasses import replace

from ttmlir.cpp import tree
from ttmlir.cpp.conversions import is_same_type
from ttmlir.cpp.type_names import is_deduced
from ttmlir.cpp.types import (
    VOID,
    ArrayType,
    CType,
    FloatType,
    IntType,
    ObjectType,
    PointerType,
    QualifiedType,
    StructType,
    count_of,
    size_of,
)
from ttmlir.sim.kernels.context import Context
from ttmlir.sim.kernels.expressions.conversions import convert_implicitly
from ttmlir.sim.kernels.expressions.evaluating import evaluate_constant, evaluate_scalar
from ttmlir.sim.kernels.expressions.initial_values import (
    build_initial,
    build_object_call,
    build_unset,
    build_zero,
)
from ttmlir.sim.kernels.expressions.own_calls import check_reference
from ttmlir.sim.kernels.expressions.places import find_place, is_constant_name, is_place
from ttmlir.sim.kernels.expressions.pointers import find_pointee, take_address
from ttmlir.sim.kernels.limits import STACK_BYTES
from ttmlir.sim.kernels.place import (
    EitherPlace,
    ItemPlace,
    LocalPlace,
    MemoryPlace,
    Place,
    PointedPlace,
    protect_place,
)
from ttmlir.sim.kernels.python import code
from ttmlir.sim.kernels.python.runtime import describe_shift
from ttmlir.sim.kernels.scope import Variable
from ttmlir.sim.kernels.statements.plain import emit_setup
from ttmlir.sim.kernels.value import Space, Value, settle

_OBJECT_BYTES = 16
"""An address generator, about."""


def execute_declaration(context: Context, node: tree.Declaration) -> None:
    """Compile a declaration."""
    for each in node.declarators:
        declare_variable(context, node, each)


def declare_variable(context: Context, node: tree.Declaration, declarator: tree.Declarator) -> None:
    """Compile the declaration of one variable."""
    if isinstance(node.type, tree.Reference):
        _declare_reference(context, node.type, declarator)
        return
    declared, value = find_declared(context, node, declarator)
    type_, is_const = declared.type, declared.const
    if is_const and value is None and not isinstance(type_, (ObjectType, StructType)):
        message = f"'{declarator.name}' is constant and needs a value"
        raise context.error(declarator, message)
    if "static" in node.specifiers or not context.in_function:
        _declare_static(context, type_, value, declarator, is_const)
        return
    unchanging = is_const or declarator.name not in context.changed
    if "constexpr" in node.specifiers:
        _require_constant(context, value, declarator)
    if value is not None and value.constant is not None and unchanging:
        if declarator.name not in context.shared:
            bind_variable(context, declarator, value)
            return
    _declare_local(context, type_, value, declarator, is_const)


def _require_constant(context: Context, value: Value | None, declarator: tree.Declarator) -> None:
    if value is None or not isinstance(value.type, (IntType, FloatType)):
        return
    if value.constant is None:
        reason = _find_undefined(value) or "its value is no constant"
        raise context.error(declarator, f"'{declarator.name}' is constexpr, and {reason}")


def _find_undefined(value: Value) -> str:
    """The shift of constants that makes a value undefined, in words, if there is one."""
    for node in ast.walk(value.node):
        match node:
            case ast.Call(
                ast.Name("_shift_count"), [ast.Constant(int(count)), ast.Constant(int(bits))]
            ):
                return describe_shift(count, bits)
            case _:
                pass
    return ""


def find_declared(
    context: Context, node: tree.Declaration, declarator: tree.Declarator
) -> tuple[QualifiedType, Value | None]:
    """The type of a variable and its initial value."""
    initial = declarator.value
    if is_deduced(node.type):
        if initial is None or isinstance(initial, tree.Braces):
            raise context.error(declarator, "'auto' needs a value to take its type from")
        value = evaluate_scalar(context, initial)
        declared = context.unit.resolve_declared_type(node.type, context.scope, value.type)
        value = settle(convert_implicitly(context, value, declared.type, initial))
    else:
        declared = context.unit.resolve_type(node.type, context.scope)
        type_, value = _find_initial(context, node, declarator, declared.type)
        declared = replace(declared, type=type_)
    if value is not None:
        declared = replace(declared, type=value.type)
    return replace(declared, const=declared.const or "constexpr" in node.specifiers), value


def _find_initial(
    context: Context, node: tree.Declaration, declarator: tree.Declarator, base: CType
) -> tuple[CType, Value | None]:
    """The type of a variable with its sizes, and its initial value."""
    initial = declarator.value
    if base == VOID:
        raise context.error(declarator, "a variable cannot be 'void'")
    type_ = _apply_sizes(context, base, declarator)
    if initial is None:
        if isinstance(type_, ObjectType):
            return type_, Value(type_, build_object_call(context, type_, (), node.type, declarator))
        return type_, None
    if isinstance(type_, ArrayType) and not isinstance(initial, tree.Braces):
        raise context.error(initial, "an array is initialised with braces")
    return type_, settle(build_initial(context, type_, initial, node.type))


def _apply_sizes(context: Context, type_: CType, declarator: tree.Declarator) -> CType:
    for number, size in reversed(list(enumerate(declarator.sizes))):
        if size is not None:
            count = evaluate_constant(context, size, "the size of an array")
        elif number == 0 and isinstance(declarator.value, tree.Braces):
            count = len(declarator.value.elements)
        else:
            raise context.error(declarator, "the size of this array is missing")
        if count <= 0:
            raise context.error(declarator, f"an array of {count} elements is not supported")
        type_ = ArrayType(type_, count)
    _reserve_stack(context, type_, declarator)
    return type_


def _reserve_stack(context: Context, type_: CType, declarator: tree.Declarator) -> None:
    """Count what a variable takes of the memory of the processor."""
    if not isinstance(type_, (ArrayType, StructType)):
        return
    size = size_of(type_)
    if size is None:
        size = count_of(type_) * _OBJECT_BYTES
    context.stack += size
    if context.stack > STACK_BYTES:
        message = f"'{declarator.name}' takes {size} bytes, and the variables of this function"
        raise context.error(
            declarator, f"{message} have {STACK_BYTES}; a circular buffer has room for more"
        )
    context.unit.spend(declarator, count_of(type_))


def _declare_local(
    context: Context, type_: CType, value: Value | None, declarator: tree.Declarator, is_const: bool
) -> None:
    identifier = context.unit.create_name(declarator.name)
    in_list = isinstance(type_, (StructType, ArrayType))
    if declarator.name in context.shared and not in_list and not isinstance(type_, ObjectType):
        start = code.name("_unset") if value is None else value.node
        context.emit(code.assign(code.name(identifier), code.list_of([start])), declarator.position)
        place: Place = ItemPlace(type_, code.name(identifier), code.constant(0), is_const)
    else:
        if value is None and in_list:
            value = build_unset(context, type_)
        place = LocalPlace(type_, identifier, is_const=is_const, origin=declarator)
        if isinstance(type_, PointerType):
            place = replace(place, space=_find_space(context, declarator, value))
        if value is not None:
            context.emit(code.assign(code.name(identifier), value.node), declarator.position)
            if declarator.name not in context.changed and isinstance(type_, IntType):
                place = replace(place, low=value.low, high=value.high)
    elements = _find_table(context, value) if is_const else None
    bind_variable(context, declarator, place, elements=elements)


def _find_space(context: Context, origin: tree.Node, value: Value | None) -> Space:
    """Where a pointer may point to: where it points at first, until it is known better."""
    if context.wide is None or id(origin) in context.wide:
        return Space.ANY
    return Space.MEMORY if value is None else value.space


def _find_table(context: Context, value: Value | None) -> tuple[Value, ...] | None:
    """The elements of an array of constants."""
    if value is None or not isinstance(value.type, ArrayType):
        return None
    element = value.type.element
    if not isinstance(value.node, ast.List) or not isinstance(element, IntType):
        return None
    nodes = value.node.elts
    if not all(isinstance(each, ast.Constant) for each in nodes):
        return None
    return tuple(
        Value(element, each, int(each.value), int(each.value))
        for each in nodes
        if isinstance(each, ast.Constant) and isinstance(each.value, int)
    )


def _declare_static(
    context: Context, type_: CType, value: Value | None, declarator: tree.Declarator, is_const: bool
) -> None:
    """A variable of the whole kernel: a list of one element around the functions."""
    value = build_zero(context, type_) if value is None else value
    if is_const and value.constant is not None and declarator.name not in context.shared:
        bind_variable(context, declarator, value, is_global=True)
        return
    identifier = context.unit.create_name(declarator.name)
    in_list = isinstance(type_, (StructType, ArrayType, ObjectType))
    node = value.node if in_list else code.list_of([value.node])
    context.unit.add_global(code.assign(code.name(identifier), node), declarator.position)
    if in_list:
        place: Place = LocalPlace(type_, identifier, is_const=is_const)
    else:
        place = ItemPlace(type_, code.name(identifier), code.constant(0), is_const)
    elements = _find_table(context, value) if is_const else None
    bind_variable(context, declarator, place, is_global=True, elements=elements)


def _declare_reference(
    context: Context, type_: tree.Reference, declarator: tree.Declarator
) -> None:
    initial = declarator.value
    if initial is None or isinstance(initial, tree.Braces):
        raise context.error(declarator, "a reference needs a variable that it refers to")
    resolve = context.unit.resolve_declared_type
    if not is_place(context, initial) or is_constant_name(context, initial):
        is_const = is_constant_name(context, initial)
        _declare_copy(context, type_.referent, initial, declarator, is_const=is_const)
        return
    place = find_place(context, initial)
    target = resolve(type_.referent, context.scope, place.type, place.is_const)
    if target.const and _is_number(target.type) and not is_same_type(target.type, place.type):
        _declare_copy(context, type_.referent, initial, declarator)
        return
    check_reference(context, target, place, initial)
    setup = list[ast.expr]()
    place = _fix_place(context, place, setup)
    emit_setup(context, setup, declarator)
    if target.const:
        place = protect_place(place)
    bind_variable(context, declarator, place, is_reference=True)


def _declare_copy(
    context: Context,
    referent: tree.Type,
    initial: tree.Expression,
    declarator: tree.Declarator,
    *,
    is_const: bool = False,
) -> None:
    """What a constant reference refers to that is made for it: a value of its type."""
    value = settle(evaluate_scalar(context, initial))
    resolve = context.unit.resolve_declared_type
    target = resolve(referent, context.scope, value.type, is_const)
    if isinstance(value.type, ObjectType) and target.type == value.type:
        _declare_local(context, value.type, value, declarator, is_const=target.const)
        return
    if not target.const:
        message = "a reference that is not const needs a variable here"
        raise context.error(initial, message)
    value = settle(convert_implicitly(context, value, target.type, initial))
    _declare_local(context, value.type, value, declarator, is_const=True)


def _is_number(type_: CType) -> bool:
    return isinstance(type_, (IntType, FloatType))


def _fix_place(context: Context, place: Place, setup: list[ast.expr]) -> Place:
    """The same place whatever happens to the variables that it was found with."""

    def kept(node: ast.expr) -> ast.expr:
        if isinstance(node, ast.Constant):
            return node
        identifier = context.unit.create_name("reference", "t")
        setup.append(code.walrus(identifier, node))
        return code.name(identifier)

    match place:
        case ItemPlace():
            return replace(place, container=kept(place.container), index=kept(place.index))
        case PointedPlace():
            pointer, offset = kept(place.pointer), kept(place.offset)
            return replace(place, pointer=pointer, offset=offset)
        case MemoryPlace():
            address = settle(place.address)
            return replace(place, address=replace(address, node=kept(address.node)))
        case EitherPlace():
            return _fix_either(context, place, setup)
        case _:
            return place


def _fix_either(context: Context, place: EitherPlace, setup: list[ast.expr]) -> EitherPlace:
    """The same place as what its address points to: one pointer that is kept."""
    pointer = take_address(context, place, tree.Null())
    identifier = context.unit.create_name("reference", "t")
    setup.append(code.walrus(identifier, pointer.node))
    kept = replace(pointer, node=code.name(identifier))
    fixed = find_pointee(context, kept, tree.Null())
    assert isinstance(fixed, EitherPlace)
    return fixed


def bind_variable(
    context: Context,
    declarator: tree.Declarator,
    meaning: Place | Value,
    *,
    is_global: bool = False,
    elements: tuple[Value, ...] | None = None,
    is_reference: bool = False,
) -> None:
    """Give a declared name its meaning."""
    if declarator.name in context.scope.symbols:
        raise context.error(declarator, f"'{declarator.name}' is declared twice")
    context.scope.symbols[declarator.name] = Variable(
        declarator.name, meaning, is_global, elements, is_reference
    )
