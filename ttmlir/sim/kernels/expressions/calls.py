"""Calls, whatever is called."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from ttmlir.cpp import tree
from ttmlir.cpp.errors import CppSyntaxError
from ttmlir.cpp.standard_headers import VECTORS, find_bare_namespace
from ttmlir.cpp.types import (
    CType,
    FunctionType,
    IncompleteType,
    ObjectType,
    QualifiedType,
    StructType,
    complete_type,
)
from ttmlir.sim.kernels.class_templates import find_class_of_call, find_templated_type
from ttmlir.sim.kernels.classes import construct
from ttmlir.sim.kernels.context import Context
from ttmlir.sim.kernels.destructors import keep_temporary
from ttmlir.sim.kernels.expressions.initial_values import Given, build_zero
from ttmlir.sim.kernels.expressions.library_calls import call_library, call_method
from ttmlir.sim.kernels.expressions.lvalues import (
    find_known,
    find_known_of_accessor,
    find_member,
    find_own_member,
    find_pointed_object,
    hold_value,
    is_function,
    look_at,
    look_for_value,
    points_to_function,
    read_lvalue,
)
from ttmlir.sim.kernels.expressions.own_calls import (
    call_closure,
    call_function_value,
    call_member,
    call_own_function,
    find_member_functions,
    hold_object,
    take_arguments,
)
from ttmlir.sim.kernels.expressions.placed import end_object
from ttmlir.sim.kernels.expressions.standard import SPECIAL
from ttmlir.sim.kernels.library import LibraryCall, strip_namespaces
from ttmlir.sim.kernels.packs import expand_all
from ttmlir.sim.kernels.scope import (
    Alias,
    AliasTemplate,
    ClassTemplate,
    FieldName,
    Functions,
    LateVariable,
    Scope,
    StructDefinition,
    Symbol,
    Variable,
)
from ttmlir.sim.kernels.templates import CallOfOwn, choose_function
from ttmlir.sim.kernels.unit import SHARED_NAMES
from ttmlir.sim.kernels.value import Lvalue, Value


def find_library_call(context: Context, node: tree.Expression) -> LibraryCall | None:
    """The call of the library that an expression is, if it is one."""
    if not isinstance(node, tree.FunctionCall) or not isinstance(node.callee, tree.Name):
        return None
    found = context.unit.library.find_call(node.callee.text)
    symbol = None if found is None else context.unit.find(node.callee.text, context.scope)
    if symbol is None:
        return found
    if isinstance(symbol, Functions) and symbol.scope.owner is None:
        given = take_arguments(context, node.arguments)
        return found if _is_meant_for_library(context, node, symbol, given) else None
    return None


def evaluate_call(context: Context, node: tree.FunctionCall) -> Value:
    """A call for its value."""
    found = call(context, node)
    return found if isinstance(found, Value) else read_lvalue(context, found)


def call(context: Context, node: tree.FunctionCall) -> Lvalue | Value:
    """A call: the place that it gives a reference to, or its value."""
    match node.callee:
        case tree.Member() as callee:
            constant = find_known_of_accessor(context, node)
            if constant is not None and constant.constant is not None:
                return constant
            return _call_member(context, node, callee)
        case tree.PointedMember() as callee:
            return _call_pointed(context, node, callee)
        case tree.Name(scope=None) as callee:
            return _call_name(context, node, callee.text)
        case tree.Name() as callee:
            return _call_within(context, node, callee)
        case callee:
            return _call_object(context, node, look_for_value(context, callee))


def _call_name(context: Context, node: tree.FunctionCall, name: str) -> Lvalue | Value:
    symbol = context.unit.find(name, context.scope)
    if name in SHARED_NAMES and context.unit.has_vectors:
        symbol = _find_of_vectors(context, node, name, symbol)
    if symbol is None:
        special = SPECIAL.get(strip_namespaces(name))
        if special is not None:
            return special(context, node)
        symbol = _find_by_arguments(context, node, name)
    if symbol is None:
        return _call_library_or_type(context, node, name)
    return _call_symbol(context, node, symbol)


def _find_of_vectors(
    context: Context, node: tree.FunctionCall, name: str, symbol: Symbol | None
) -> Symbol | None:
    """A function of vectors, if it is called with one; else the symbol of the name."""
    holder = context.unit.namespaces[VECTORS]
    functions = holder.find_here(name)
    given = take_arguments(context, node.arguments)
    types = [complete_type(each.found.type, context.unit.structs) for each in given]
    if any(isinstance(each, StructType) for each in types):
        return symbol or functions
    return None if symbol is functions else symbol


def _call_symbol(context: Context, node: tree.FunctionCall, symbol: Symbol) -> Lvalue | Value:
    match symbol:
        case Functions():
            given = take_arguments(context, node.arguments)
            if symbol.scope.owner is None and _is_meant_for_library(context, node, symbol, given):
                return call_library(context, node, symbol.name)
            return call_own_function(context, node, symbol, given, node.template_arguments)
        case LateVariable():
            declared = context.handlers.declare_late(context, symbol, node)
            return _call_symbol(context, node, declared)
        case Variable(storage=storage):
            return _call_object(context, node, storage)
        case FieldName():
            return _call_object(context, node, find_own_member(context, symbol, node))
        case ClassTemplate() | AliasTemplate() | StructDefinition() | Alias():
            found = find_class_of_call(context, symbol, node)
            return _construct(context, node, found)
        case _:
            assert isinstance(node.callee, tree.Name)
            raise context.error(node, f"'{node.callee.text}' cannot be called")


def _is_meant_for_library(
    context: Context, node: tree.FunctionCall, symbol: Functions, given: Sequence[Given]
) -> bool:
    """Whether a call means that of the library with the name of one of the kernel's functions."""
    if context.unit.library.find_call(symbol.name) is None:
        return False
    try:
        with context.unit.trying():
            choose_function(context, symbol, CallOfOwn(node, node.template_arguments, given))
    except CppSyntaxError:
        return True
    return False


def _call_object(context: Context, node: tree.FunctionCall, base: Lvalue | Value) -> Lvalue | Value:
    found = call_closure(context, node, base)
    if found is not None:
        return found
    if isinstance(node.callee, tree.Name):
        message = f"'{node.callee.text}' is a variable and cannot be called"
        raise context.error(node, message)
    raise context.error(node, "only functions and member functions can be called")


def _call_library_or_type(context: Context, node: tree.FunctionCall, name: str) -> Lvalue | Value:
    written = tree.NamedType(name, node.template_arguments, position=node.position)
    found = find_templated_type(context, written)
    if found is not None and not isinstance(found.type, ObjectType):
        return _construct(context, node, found)
    return call_library(context, node, name)


def _construct(context: Context, node: tree.FunctionCall, found: QualifiedType) -> Lvalue | Value:
    """`T(arguments)`."""
    type_ = complete_type(found.type, context.unit.structs)
    if isinstance(type_, StructType):
        return keep_temporary(context, construct(context, type_, node.arguments, node), node)
    if isinstance(type_, IncompleteType):
        raise context.error(node, f"'{type_.name}' is not complete here")
    if isinstance(type_, ObjectType):
        # The arguments of an alias are not those of the class.
        return call_library(context, replace(node, template_arguments=()), type_.name)
    arguments = expand_all(context, node.arguments)
    if node.arguments and not arguments:
        return build_zero(context, type_)
    if len(arguments) != 1 or isinstance(arguments[0], tree.Braces):
        raise context.error(node, f"a conversion to '{type_.name}' takes one value")
    value = context.evaluate(arguments[0])
    return context.handlers.cast(context, value, type_, node)


def _call_within(context: Context, node: tree.FunctionCall, callee: tree.Name) -> Lvalue | Value:
    """`A<int>::f(arguments)`."""
    assert callee.scope is not None
    holder = context.unit.resolve_type(callee.scope, context.scope).type
    first, _, rest = callee.text.partition("::")
    for scope in context.unit.find_members(holder):
        symbol = scope.find_here(first)
        if symbol is not None and rest:
            symbol = context.unit.find(f"{first}::{rest}", scope)
        if symbol is not None:
            return _call_symbol(context, node, symbol)
    if isinstance(holder, ObjectType):
        return _call_static_method(context, node, holder, callee)
    raise context.error(callee, f"'{holder.name}' has no member '{callee.text}'")


def _call_static_method(
    context: Context, node: tree.FunctionCall, holder: ObjectType, callee: tree.Name
) -> Lvalue | Value:
    """A static member function of a class of the library: `decltype(args)::next()`."""
    inner = callee.scope
    if isinstance(inner, tree.Decltype):
        base = look_at(context, inner.expression)
    else:
        made = tree.Construct(cast("tree.NamedType", inner), (), position=callee.position)
        base = context.evaluate(made)
    member = tree.Member(tree.This(), callee.text, position=callee.position)
    return call_method(context, node, member, base)


def _call_member(context: Context, node: tree.FunctionCall, callee: tree.Member) -> Lvalue | Value:
    """`object.name(arguments)`, or through a pointer."""
    base: Lvalue | Value
    if callee.arrow:
        if not isinstance(callee.base, tree.This):
            found = look_at(context, callee.base)
            if isinstance(found.type, ObjectType):
                message = "a call through a pointer is not supported; write '.'"
                raise context.error(callee, message)
        base = find_pointed_object(context, callee)
    else:
        base = look_at(context, callee.base)
    type_ = complete_type(base.type, context.unit.structs)
    if callee.member.startswith("~"):
        return end_object(context, node, hold_value(base))
    if not isinstance(type_, StructType):
        extension = _find_extension(context, callee, type_)
        if extension is not None:
            given = [Given(context, callee.base, base), *take_arguments(context, node.arguments)]
            return call_own_function(context, node, extension, given, node.template_arguments)
        return call_method(context, node, callee, base)
    functions = find_member_functions(context, type_, callee.member)
    if functions is not None:
        context.unit.check_access(type_, callee.member, callee, context.scope)
        return call_member(context, node, base, functions)
    info = context.unit.classes.get(type_.number)
    known = None if info is None else info.scope.find_here(callee.member)
    if known is None and callee.member == f"operator {type_.name}":
        return base
    constant = find_known(context, callee)
    if constant is not None and constant.constant is not None:
        return _call_object(context, node, constant)
    member = find_member(context, hold_value(base), callee.member, callee)
    return _call_object(context, node, member)


def _call_pointed(
    context: Context, node: tree.FunctionCall, callee: tree.PointedMember
) -> Lvalue | Value:
    """`(object.*pointer)(arguments)`."""
    found = look_at(context, callee.pointer)
    is_known = is_function(found.type)
    if not is_known and not points_to_function(found.type):
        return _call_object(context, node, look_at(context, callee))
    this = hold_object(context, look_at(context, callee.base))
    if is_known:
        assert isinstance(found.type, FunctionType)
        given = take_arguments(context, node.arguments)
        return call_function_value(context, node, found.type, given, this)
    pointer = found if isinstance(found, Value) else read_lvalue(context, found)
    return context.handlers.call_pointer(context, node, pointer, this)


def _find_extension(context: Context, callee: tree.Member, type_: CType) -> Functions | None:
    """A member function that the package's headers have as `Class_name(object, ...)`."""
    if not isinstance(type_, ObjectType):
        return None
    name = f"{type_.name}_{callee.member}"
    if find_bare_namespace(name) is None:
        return None
    symbol = context.unit.find(name, context.scope)
    return symbol if isinstance(symbol, Functions) else None


def _find_by_arguments(context: Context, node: tree.FunctionCall, name: str) -> Symbol | None:
    """A function found in the namespaces of its arguments (C++17, [basic.lookup.argdep])."""
    if "::" in name or not context.unit.classes:
        return None
    if context.unit.library.find_call(name) is not None:
        return None
    if context.unit.find_type(name, context.scope) is not None:
        return None
    for argument in node.arguments:
        if isinstance(argument, (tree.Braces, tree.Expansion)):
            continue
        if not isinstance(argument, (tree.Name, tree.Construct, tree.FunctionCall)):
            continue
        if not isinstance(argument, tree.Name):
            continue
        found = look_at(context, argument)
        for scope in find_associated_scopes(context, found):
            symbol = scope.find_here(name)
            if isinstance(symbol, Functions):
                return symbol
    return None


def find_associated_scopes(context: Context, found: Lvalue | Value) -> list[Scope]:
    """The namespaces that a value's class stands in, and its friends."""
    type_ = complete_type(found.type, context.unit.structs)
    if not isinstance(type_, StructType):
        return []
    info = context.unit.classes.get(type_.number)
    if info is None:
        return []
    around = list[Scope]()
    holders: list[StructType] = [type_]
    for each in holders:
        known = context.unit.classes.get(each.number)
        if known is not None and known.friends is not None:
            around.append(known.friends)
        holders += each.bases
    scope = info.scope.outer
    while scope is not None:
        around.append(scope)
        scope = scope.outer
    return around
