"""Objects of classes: how they are made, and what starts with which value."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import cast

from ttmlir.cpp import tree
from ttmlir.cpp.types import (
    ArrayType,
    CType,
    IncompleteType,
    ObjectType,
    ReferenceType,
    StructType,
    complete_type,
)
from ttmlir.sim.kernels.classes.destructors import full_expression
from ttmlir.sim.kernels.context import Context
from ttmlir.sim.kernels.expressions.conversions import convert_implicitly
from ttmlir.sim.kernels.expressions.given import Given
from ttmlir.sim.kernels.expressions.initial_values import (
    build_initial,
    build_object_call,
    build_struct,
    build_unset,
    build_zero,
    copy_struct,
)
from ttmlir.sim.kernels.expressions.own_calls import call_candidate, take_arguments
from ttmlir.sim.kernels.expressions.places import find_this, retype_place
from ttmlir.sim.kernels.expressions.pointers import take_address
from ttmlir.sim.kernels.place import ItemPlace, Place, build_assignment, find_member_place
from ttmlir.sim.kernels.python import code
from ttmlir.sim.kernels.scope import ClassInfo, Evaluated, Functions
from ttmlir.sim.kernels.templates.overloads import CallOfOwn, choose_function
from ttmlir.sim.kernels.templates.packs import expand_all
from ttmlir.sim.kernels.value import Value, settle

Arguments = Sequence[tree.Expression | tree.Braces]


def find_info(context: Context, type_: CType) -> ClassInfo | None:
    """What is known of a class beside its layout."""
    if isinstance(type_, (StructType, IncompleteType)):
        return context.unit.classes.get(type_.number)
    return None


def construct(
    context: Context,
    type_: CType,
    arguments: Arguments,
    node: tree.Node,
    *,
    braced: bool = False,
) -> Value:
    """The object that `T(arguments)` makes, or with `braced` `T{arguments}`."""
    type_ = complete_type(type_, context.unit.structs)
    arguments = expand_all(context, arguments)
    info = find_info(context, type_)
    if not isinstance(type_, StructType) or info is None:
        return _construct_plain(context, type_, arguments, node)
    if info.constructors:
        return _call_constructor(context, type_, info, arguments, node)
    if not arguments:
        return build_zero(context, type_)
    if len(arguments) == 1 and not isinstance(arguments[0], tree.Braces):
        given = Given(context, arguments[0])
        source = given.found.type
        is_copy = isinstance(source, StructType) and source.derives_from(type_)
        if is_copy or not braced:
            return copy_struct(context, convert_implicitly(context, given.value, type_, node), node)
        known = Evaluated(given.found, position=arguments[0].position)
        arguments = (cast("tree.Expression", known),)
    braced = braced or type_.name.startswith("std::tuple<")
    if not braced and not _is_single_braces(arguments):
        message = f"'{type_.name}' has no constructor with {len(arguments)} arguments"
        raise context.error(node, f"{message}; write braces to set its members")
    if _is_single_braces(arguments) and not braced:
        braces = arguments[0]
        assert isinstance(braces, tree.Braces)
        return build_struct(context, type_, braces)
    elements = tuple(tree.Initializer(each, position=node.position) for each in arguments)
    return build_struct(context, type_, tree.Braces(elements, position=node.position))


def _is_single_braces(arguments: Arguments) -> bool:
    return len(arguments) == 1 and isinstance(arguments[0], tree.Braces)


def _construct_plain(
    context: Context, type_: CType, arguments: Arguments, node: tree.Node
) -> Value:
    """`T(value)` of what is no class of the kernel."""
    if not arguments:
        return build_zero(context, type_)
    if len(arguments) != 1:
        raise context.error(node, f"a conversion to '{type_.name}' takes one value")
    return build_initial(context, type_, arguments[0])


def _call_constructor(
    context: Context, type_: StructType, info: ClassInfo, arguments: Arguments, node: tree.Node
) -> Value:
    given = take_arguments(context, arguments)
    copied = _find_copied(type_, given)
    if copied is not None:
        same = settle(convert_implicitly(context, copied.value, type_, node))
        return copy_struct(context, same, node)
    functions = Functions(info.node.name, info.constructors, info.scope)
    chosen = choose_function(context, functions, CallOfOwn(node, (), given))
    raw = Value(type_, _build_raw(context, type_))
    this = ItemPlace(type_, code.list_of([raw.node]), code.constant(0))
    made = call_candidate(context, chosen, given, node, this)
    assert isinstance(made, Value)
    return Value(type_, made.node)


def _find_copied(type_: StructType, given: Sequence[Given]) -> Given | None:
    """The object that a call of a constructor copies, if it copies one."""
    if len(given) != 1 or given[0].braces is not None:
        return None
    source = given[0].found.type
    is_same = isinstance(source, StructType) and source.derives_from(type_)
    return given[0] if is_same else None


def _build_raw(context: Context, type_: StructType) -> ast.expr:
    """An object whose members have no values yet."""
    if type_.is_union:
        return code.list_of([code.name("_unset")])
    nodes = list[ast.expr]()
    for field in type_.fields:
        inner = complete_type(field.type, context.unit.structs)
        info = find_info(context, inner)
        if isinstance(inner, StructType) and info is not None and info.constructors:
            nodes.append(_build_raw(context, inner))
        else:
            nodes.append(build_unset(context, inner).node)
    return code.list_of(nodes)


# Constructors.


def initialize_members(context: Context, function: tree.Function) -> None:
    """What a constructor does before its body."""
    this = find_this(context, function)
    type_ = this.type
    assert isinstance(type_, StructType)
    info = context.unit.classes[type_.number]
    given = {each.type.name.rpartition("::")[2]: each for each in function.initializers}
    if info.node.name in given:
        _construct_base(context, this, type_, given[info.node.name])
        return
    own = len(type_.fields) - sum(len(each.fields) for each in type_.bases[:1])
    for base in type_.bases:
        base_info = context.unit.classes[base.number]
        initializer = _find_base_initializer(context, function, base)
        if initializer is not None or base_info.constructors:
            _construct_base(context, this, base, initializer, function)
        else:
            _default_members(context, this, base, len(base.fields))
    first = len(type_.fields) - own
    for number in range(first, len(type_.fields)):
        with full_expression(context):
            _initialize_member(context, this, type_, number, given, info, function)


def _find_base_initializer(
    context: Context, function: tree.Function, base: StructType
) -> tree.MemberInitializer | None:
    for each in function.initializers:
        name = each.type.name.rpartition("::")[2]
        symbol = context.scope.find(name)
        if each.type.template_arguments or each.type.scope is not None:
            found = context.unit.resolve_type(each.type, context.scope)
        elif symbol is None or type(symbol).__name__ in ("FieldName", "Variable"):
            continue
        else:
            found = context.unit.find_type(each.type.name, context.scope)
        if found is not None and getattr(found.type, "number", None) == base.number:
            return each
    return None


def _construct_base(
    context: Context,
    this: Place,
    base: StructType,
    initializer: tree.MemberInitializer | None,
    function: tree.Node | None = None,
) -> None:
    """Make the part of an object that is of a base, or all of it by another constructor."""
    node = initializer or function
    assert node is not None
    arguments = () if initializer is None else initializer.arguments
    info = context.unit.classes[base.number]
    if not info.constructors:
        braced = initializer is not None and initializer.braced
        value = construct(context, base, arguments, node, braced=braced)
        part = context.unit.create_name("base", "t")
        context.emit(code.assign(code.name(part), settle(value).node), node.position)
        for number, field in enumerate(base.fields):
            item = code.subscript(code.name(part), code.constant(number))
            target = find_member_place(retype_place(this, base), number)
            context.emit(build_assignment(target, Value(field.type, item)), node.position)
        return
    given = take_arguments(context, arguments)
    functions = Functions(info.node.name, info.constructors, info.scope)
    chosen = choose_function(context, functions, CallOfOwn(node, (), given))
    made = call_candidate(context, chosen, given, node, retype_place(this, base))
    assert isinstance(made, Value)
    context.emit(ast.Expr(made.node), node.position)


def _default_members(context: Context, this: Place, base: StructType, count: int) -> None:
    """Give the members of a base without constructor their initial values."""
    defaults = context.unit.classes[base.number].defaults
    scope, context.scope = context.scope, context.unit.classes[base.number].scope
    for number in range(count):
        field = base.fields[number]
        if field.name in defaults:
            value = build_initial(context, field.type, defaults[field.name])
            target = find_member_place(retype_place(this, base), number)
            context.emit(build_assignment(target, value), None)
    context.scope = scope


def _initialize_member(
    context: Context,
    this: Place,
    type_: StructType,
    number: int,
    given: dict[str, tree.MemberInitializer],
    info: ClassInfo,
    function: tree.Function,
) -> None:
    field = type_.fields[number]
    initializer = given.get(field.name)
    target = find_member_place(this, number)
    field_type = complete_type(field.type, context.unit.structs)
    if isinstance(field_type, ReferenceType):
        _bind_reference(context, target, field_type, initializer, function)
        return
    node: tree.Node = function if initializer is None else initializer
    if initializer is not None:
        value = _build_member(context, field_type, initializer)
    elif field.name in info.defaults:
        value = build_initial(context, field_type, info.defaults[field.name])
    else:
        inner = find_info(context, field_type)
        if not isinstance(field_type, StructType) or inner is None or not inner.constructors:
            return
        value = construct(context, field_type, (), node)
    context.emit(build_assignment(target, settle(value)), node.position)


def _build_member(context: Context, type_: CType, initializer: tree.MemberInitializer) -> Value:
    arguments = expand_all(context, initializer.arguments)
    node = initializer
    if isinstance(type_, StructType):
        return construct(context, type_, arguments, node, braced=initializer.braced)
    if isinstance(type_, ArrayType) or not arguments:
        elements = tuple(tree.Initializer(each, position=node.position) for each in arguments)
        return build_initial(context, type_, tree.Braces(elements, position=node.position))
    if isinstance(type_, ObjectType) and len(arguments) != 1:
        elements = tuple(tree.Initializer(each, position=node.position) for each in arguments)
        return Value(type_, build_object_call(context, type_, elements, None, node))
    if len(arguments) != 1:
        raise context.error(node, f"a member of type '{type_.name}' takes one value")
    return build_initial(context, type_, arguments[0])


def _bind_reference(
    context: Context,
    target: Place,
    type_: ReferenceType,
    initializer: tree.MemberInitializer | None,
    function: tree.Function,
) -> None:
    """Let a member that is a reference refer to what it is given."""
    if initializer is None or len(initializer.arguments) != 1:
        raise context.error(function, "a member that is a reference needs a variable")
    given = Given(context, initializer.arguments[0])
    value = make_reference(context, given, initializer)
    context.emit(build_assignment(retype_place(target, value.type), value), initializer.position)


def make_reference(context: Context, given: Given, node: tree.Node) -> Value:
    """A pointer to what a reference refers to; a value gets a place of its own."""
    place = given.place
    if place is None:
        holder = code.list_of([settle(given.value).node])
        place = ItemPlace(given.value.type, holder, code.constant(0), is_const=True)
    return take_address(context, place, node)
