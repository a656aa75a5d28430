"""Calls of the kernel's own functions."""

from __future__ import annotations

import ast
from dataclasses import replace

from ttmlir.cpp import tree
from ttmlir.cpp.conversions import is_same_type, may_point
from ttmlir.cpp.types import (
    ArrayType,
    CType,
    FloatType,
    IntType,
    ObjectType,
    PointerType,
    QualifiedType,
    StructType,
)
from ttmlir.sim.kernels.context import Argument, Context
from ttmlir.sim.kernels.expressions.conversions import convert_implicitly
from ttmlir.sim.kernels.expressions.evaluating import evaluate_scalar
from ttmlir.sim.kernels.expressions.places import find_place, is_constant_name, is_place
from ttmlir.sim.kernels.expressions.pointers import take_address
from ttmlir.sim.kernels.place import (
    EitherPlace,
    ItemPlace,
    LocalPlace,
    MemberPlace,
    MemoryPlace,
    Place,
    PointedPlace,
    build_node,
)
from ttmlir.sim.kernels.python import code
from ttmlir.sim.kernels.scope import Alias, Functions, Scope, Symbol, Variable
from ttmlir.sim.kernels.value import Value, make_value, settle


def call_own_function(context: Context, node: tree.FunctionCall, functions: Functions) -> Value:
    """The value of a call of one of the kernel's functions."""
    function = _choose_overload(context, node, functions)
    known = dict[int, Value]()
    scope = _bind_template(context, function, functions, node, known)
    given = len(node.arguments)
    arguments = [
        _pass_argument(context, parameter, each, scope, known.get(number))
        for number, (parameter, each) in enumerate(
            zip(function.parameters[:given], node.arguments, strict=True)
        )
    ]
    arguments += [_pass_default(context, each, node, scope) for each in function.parameters[given:]]
    instance = context.handlers.find_instance(context, function, scope, arguments, node)
    nodes = [each.node for each in arguments]
    called: ast.expr = code.call(instance.identifier, *nodes)
    if instance.waits:
        context.waits += 1
        called = ast.YieldFrom(called)
    context.loads += instance.loads
    return make_value(instance.result, called, instance.space)


def _pass_default(
    context: Context, parameter: tree.Parameter, node: tree.FunctionCall, scope: Scope
) -> Argument:
    """What is passed for a parameter for which a call has no argument."""
    assert parameter.default is not None
    if any(each is parameter for each in context.unit.defaults):
        message = f"the default argument of '{parameter.name}' needs itself"
        raise context.error(parameter, message)
    context.unit.defaults.append(parameter)
    argument = _pass_argument(context, parameter, parameter.default, scope, None)
    context.unit.defaults.pop()
    return argument


def _choose_overload(
    context: Context, node: tree.FunctionCall, functions: Functions
) -> tree.Function:
    count = len(node.arguments)
    fitting = [
        each
        for each in functions.definitions
        if each.definition is not None and _accepts(each, count)
    ]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        message = f"'{functions.name}' has overloads that differ in types only: not supported"
        raise context.error(node, message)
    if all(each.definition is None for each in functions.definitions):
        raise context.error(node, f"'{functions.name}' is declared but never defined")
    takes = " or ".join(_describe_arity(each) for each in functions.definitions)
    message = f"'{functions.name}' takes {takes} arguments, not {count}"
    raise context.error(node, message)


def _bind_template(
    context: Context,
    function: tree.Function,
    functions: Functions,
    node: tree.FunctionCall,
    known: dict[int, Value],
) -> Scope:
    """The names that a function sees around it, its template parameters among them.

    The values of arguments that say something about template parameters are noted in `known`.
    """
    if not function.template_parameters:
        if node.template_arguments:
            raise context.error(node, f"'{function.name}' is no template")
        return functions.scope
    scope = Scope(functions.scope)
    if len(node.template_arguments) > len(function.template_parameters):
        raise context.error(node, f"too many template arguments for '{function.name}'")
    pairs = zip(function.template_parameters, node.template_arguments, strict=False)
    for parameter, argument in pairs:
        scope.symbols[parameter.name] = _bind_template_argument(context, parameter, argument, scope)
    names = [each.name for each in function.template_parameters]
    pairs = zip(function.parameters, node.arguments, strict=False)
    for number, (each, argument) in enumerate(pairs):
        name = _find_deducible(each.type)
        if name in names and name not in scope.symbols:
            known[number] = evaluate_scalar(context, argument)
            given = QualifiedType(known[number].type, _is_const(context, each.type, argument))
            scope.symbols[name] = Alias(_deduce(each.type, given))
    for name in names:
        if name and name not in scope.symbols:
            message = f"nothing says what '{name}' of '{function.name}' is"
            raise context.error(node, f"{message}; write it in angle brackets before the arguments")
    return scope


def _is_const(context: Context, type_: tree.Type, argument: tree.Expression) -> bool:
    """Whether a parameter of a type refers to what cannot be changed."""
    if not isinstance(type_, tree.Reference):
        return False
    if is_constant_name(context, argument):
        return True
    return is_place(context, argument) and find_place(context, argument).is_const


def _bind_template_argument(
    context: Context,
    parameter: tree.TemplateParameter,
    argument: tree.TemplateArgument,
    scope: Scope,
) -> Symbol:
    if parameter.type is None:
        return Alias(context.unit.resolve_type(argument, context.scope))
    if isinstance(argument, (tree.NamedType, tree.Pointer, tree.Reference)):
        raise context.error(argument, f"'{parameter.name}' is a number, not a type")
    value = evaluate_scalar(context, argument)
    target = context.unit.resolve_declared_type(parameter.type, scope, value.type).type
    value = settle(convert_implicitly(context, value, target, argument))
    if value.constant is None:
        raise context.error(argument, "a template argument has to be a constant expression")
    return Variable(parameter.name, value)


def _pass_argument(
    context: Context,
    parameter: tree.Parameter,
    node: tree.Expression,
    scope: Scope,
    known: Value | None,
) -> Argument:
    """What is passed for a parameter of a function whose types mean what they do in a scope.

    `known` is the value of the argument, if it was looked at before.
    """
    type_ = parameter.type
    if isinstance(type_, tree.Reference):
        return _pass_by_reference(context, type_, node, scope, known)
    value = known or evaluate_scalar(context, node)
    target = context.unit.resolve_declared_type(type_, scope, value.type)
    value = settle(convert_implicitly(context, value, target.type, node))
    if isinstance(target.type, StructType):
        value = replace(value, node=code.call("_copied", value.node))
    return Argument(value.type, "value", value.node, value.space, target.const)


def _pass_by_reference(
    context: Context,
    type_: tree.Reference,
    node: tree.Expression,
    scope: Scope,
    known: Value | None,
) -> Argument:
    referent = type_.referent
    if not is_place(context, node) or is_constant_name(context, node):
        value = known or evaluate_scalar(context, node)
        target = context.unit.resolve_declared_type(referent, scope, value.type)
        if not target.const:
            raise context.error(node, "a reference that is not const needs a variable here")
        return _pass_constant_reference(context, target.type, value, node)
    place = find_place(context, node)
    target = context.unit.resolve_declared_type(referent, scope, place.type, place.is_const)
    if target.const and isinstance(target.type, (IntType, FloatType, PointerType)):
        value = known or evaluate_scalar(context, node)
        return _pass_constant_reference(context, target.type, value, node)
    check_reference(context, target, place, node)
    const = target.const
    match place:
        case MemoryPlace():
            pointer = PointerType(place.type, volatile=place.volatile)
            node_ = settle(place.address).node
            return Argument(pointer, "address", node_, is_const=const)
        case PointedPlace() | EitherPlace():
            pointer = take_address(context, place, node)
            return Argument(pointer.type, "pointer", pointer.node, pointer.space, const)
        case _ if isinstance(place.type, (StructType, ArrayType, ObjectType)):
            return Argument(place.type, "object", build_node(place), is_const=const)
        case ItemPlace():
            pair = code.tuple_of(place.container, place.index)
            return Argument(place.type, "pair", pair, is_const=const)
        case LocalPlace() | MemberPlace():
            raise context.error(node, "a reference to this is not supported")


def check_reference(context: Context, target: QualifiedType, place: Place, node: tree.Node) -> None:
    """Refuse a reference to a variable of another type, or one that drops its `const`."""
    name = f"{'const ' if target.const else ''}{target.type.name}"
    if not _may_refer(target, place.type):
        raise context.error(node, f"a reference to '{name}' does not go with '{place.type.name}'")
    if place.is_const and not target.const:
        message = f"a reference to '{name}' could change what is const here"
        raise context.error(node, f"{message}; declare it 'const {name}&'")


def _may_refer(target: QualifiedType, given: CType) -> bool:
    if isinstance(target.type, PointerType) and isinstance(given, PointerType):
        volatile = replace(given, volatile=target.type.volatile)
        return target.type == volatile or (target.const and may_point(target.type, given))
    return is_same_type(target.type, given)


def _pass_constant_reference(
    context: Context, target: CType, value: Value, node: tree.Expression
) -> Argument:
    value = settle(convert_implicitly(context, value, target, node))
    return Argument(value.type, "value", value.node, value.space, is_const=True)


def _accepts(function: tree.Function, count: int) -> bool:
    """Whether a function can be called with so many arguments."""
    required = sum(each.default is None for each in function.parameters)
    return required <= count <= len(function.parameters)


def _describe_arity(function: tree.Function) -> str:
    required = sum(each.default is None for each in function.parameters)
    most = len(function.parameters)
    return str(most) if required == most else f"{required} to {most}"


def _find_deducible(type_: tree.Type) -> str:
    """The name in a parameter's type that the argument may give a meaning."""
    match type_:
        case tree.NamedType(name=name):
            return name
        case tree.Pointer(pointee=inner) | tree.Reference(referent=inner):
            return _find_deducible(inner)


def _deduce(type_: tree.Type, given: QualifiedType) -> QualifiedType:
    """What the name in a parameter's type means for an argument of a type."""
    match type_, given.type:
        case tree.Pointer(pointee=inner), PointerType(pointee, volatile, const):
            return _deduce(inner, QualifiedType(pointee, const, volatile))
        case tree.Reference(referent=inner), _:
            return _deduce(inner, given)
        case tree.NamedType(qualifiers=qualifiers), _:
            is_const = given.const and "const" not in qualifiers
            return replace(given, const=is_const)
        case _:
            return given
