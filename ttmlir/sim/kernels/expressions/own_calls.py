"""Calls of the kernel's own functions and member functions."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from ttmlir.cpp import tree
from ttmlir.cpp.errors import CppSyntaxError
from ttmlir.cpp.types import (
    CType,
    FunctionType,
    IncompleteType,
    PointerType,
    StructType,
    is_deduced,
    is_same_type,
)
from ttmlir.sim.kernels.context import Argument, Context
from ttmlir.sim.kernels.destructors import THIS, keep_temporary
from ttmlir.sim.kernels.expressions.initial_values import Given, pass_argument, refer_to
from ttmlir.sim.kernels.expressions.lvalues import (
    find_pointee,
    find_this,
    hold_value,
    points_to_function,
    read_lvalue,
    retype_lvalue,
)
from ttmlir.sim.kernels.expressions.variadic import asks_for_rest, pass_rest
from ttmlir.sim.kernels.packs import expand_all
from ttmlir.sim.kernels.python import code
from ttmlir.sim.kernels.scope import Functions, InScope, Scope, Symbol
from ttmlir.sim.kernels.templates import (
    CallOfOwn,
    Candidate,
    choose_function,
    find_element_scope,
    is_forwarding,
    is_moved,
    resolve_result,
    show_arguments,
)
from ttmlir.sim.kernels.unit import Instance
from ttmlir.sim.kernels.value import (
    LocalLvalue,
    Lvalue,
    Value,
    make_value,
)


def take_arguments(context: Context, nodes: Sequence[tree.Expression | tree.Braces]) -> list[Given]:
    """The arguments of a call, with packs expanded."""
    return [Given(context, each) for each in expand_all(context, nodes)]


def call_own_function(
    context: Context,
    node: tree.Node,
    functions: Functions,
    given: Sequence[Given],
    explicit: Sequence[tree.TemplateArgument] = (),
    this: Lvalue | None = None,
    *,
    is_over: bool = False,
) -> Lvalue | Value:
    """A call of one of the kernel's functions: the place that it refers to, or its value.

    `this` is the object that a member function is called on; it `is_over` if nobody needs it.
    """
    if functions.scope.owner is not None and this is None:
        this = _find_object(context, functions.scope)
    call = CallOfOwn(node, explicit, given, this is not None and this.is_const, is_over)
    chosen = choose_function(context, functions, call)
    return call_candidate(context, chosen, given, node, this)


def _find_object(context: Context, scope: Scope) -> Lvalue | None:
    """The object of a member function that calls another one; None in a static one."""
    symbol = context.scope.find("this")
    return None if symbol is None else find_this(context, tree.This())


def call_candidate(
    context: Context,
    chosen: Candidate,
    given: Sequence[Given],
    node: tree.Node,
    this: Lvalue | None = None,
) -> Lvalue | Value:
    """A call of a function that is known."""
    function, scope = chosen.function, chosen.scope
    _check_access(context, chosen, node)
    if function.definition is None:
        return _describe_result(context, function, scope)
    arguments = list[Argument]()
    if chosen.is_member and function.kind != "constructor":
        if this is None:
            raise context.error(node, f"'{function.name}' is a member function: it needs an object")
        if this.is_const and not function.is_const:
            message = f"'{function.name}' may change its object, which is const here"
            raise context.error(node, f"{message}; declare the function const")
        arguments.append(_pass_object(context, chosen, this, node))
    elif this is not None and function.kind == "constructor":
        arguments.append(_pass_object(context, chosen, this, node))
    arguments += pass_all(context, function, scope, given, node)
    show = None
    if function.template_parameters:
        show = partial(show_arguments, function.name, function.template_parameters, scope)
    try:
        instance = compile_instance(context, function, scope, arguments, node, show)
    except CppSyntaxError:
        if show is None or not context.unit.is_left_out or is_deduced(function.result):
            raise
        return _describe_result(context, function, scope)
    return build_call(context, instance, [each.node for each in arguments], node)


def _describe_result(context: Context, function: tree.Function, scope: Scope) -> Lvalue | Value:
    """What a function without definition gives, of which only the type matters."""
    found = resolve_result(context.unit, function, scope)
    if found.reference:
        is_over = found.reference == "&&"
        return LocalLvalue(found.type, "unused", is_const=found.const, is_over=is_over)
    return make_value(found.type, code.name("unused"))


def _check_access(context: Context, chosen: Candidate, node: tree.Node) -> None:
    function, owner = chosen.function, chosen.scope_of_class.owner
    if not function.access or owner is None:
        return
    holder = context.unit.structs[owner]
    if isinstance(holder, StructType) and not context.unit.may_use(
        holder, function.access, context.scope
    ):
        raise context.error(node, f"'{function.name}' is {function.access} in '{holder.name}'")


def compile_instance(
    context: Context,
    function: tree.Function,
    scope: Scope,
    arguments: Sequence[Argument],
    node: tree.Node,
    show: Callable[[], str] | None = None,
) -> Instance:
    """A function compiled for its arguments; errors in it show the call, if it is a template."""
    if show is None:
        return context.handlers.find_instance(context, function, scope, arguments, node)
    context.unit.instantiations.append((show, node))
    try:
        return context.handlers.find_instance(context, function, scope, arguments, node)
    finally:
        context.unit.instantiations.pop()


def _pass_object(context: Context, chosen: Candidate, this: Lvalue, node: tree.Node) -> Argument:
    """The object of a member function, as one of the class that the function is of."""
    owner = chosen.scope_of_class.owner
    type_: CType = this.type if owner is None else context.unit.structs[owner]
    if isinstance(type_, IncompleteType):
        type_ = context.unit.structs[type_.number]
    if isinstance(this.type, StructType) and not this.type.derives_from(type_):
        type_ = this.type
    if isinstance(this.type, StructType) and this.type.find_path_to(type_):
        this = retype_lvalue(this, type_)
    is_const = this.is_const or chosen.function.is_const
    argument = refer_to(context, this, node, is_const=is_const)
    if argument.mode == "object":
        argument = Argument(type_, "object", argument.node, is_const=is_const)
    elif isinstance(argument.type, PointerType):
        pointer = PointerType(type_, argument.type.volatile, argument.type.const)
        argument = Argument(pointer, argument.mode, argument.node, argument.space, is_const)
    return replace(argument, number=THIS)


def pass_all(
    context: Context, function: tree.Function, scope: Scope, given: Sequence[Given], node: tree.Node
) -> list[Argument]:
    """What is passed for the parameters of a function."""
    parameters = function.parameters
    passed = list[Argument]()
    last = len(parameters) - 1
    rest = given[len(parameters) :] if asks_for_rest(function) else None
    if function.is_variadic and rest is not None:
        given = given[: len(parameters)]
    elif function.is_variadic:
        given = _drop_unnamed(context, given, len(parameters), node)
    for number, each in enumerate(given):
        index = min(number, last)
        inner = scope
        if parameters[index].is_pack:
            inner = find_element_scope(scope, parameters[index].type, number - index)
        _check_category(context, function, parameters[index].type, each, inner)
        argument = pass_argument(context, parameters[index], each, inner, index)
        passed.append(argument)
    for number in range(len(given), len(parameters)):
        if not parameters[number].is_pack:
            passed.append(_pass_default(context, parameters[number], scope, number))
    if rest is not None:
        passed.append(pass_rest(context, rest))
    return passed


def _drop_unnamed(
    context: Context, given: Sequence[Given], count: int, node: tree.Node
) -> Sequence[Given]:
    """The arguments that have parameters; nobody can see the others."""
    for each in given[count:]:
        if context.unit.has_effect(each.value.node):
            message = "what is passed for '...' only has a value here"
            raise context.error(each.node, f"{message}: keep it in a variable before")
    return given[:count]


def _check_category(
    context: Context, function: tree.Function, type_: tree.Type, given: Given, scope: Scope
) -> None:
    """Refuse `T&&` for a place that stays in use, and `T&` for one that nobody needs any more."""
    if not isinstance(type_, tree.Reference) or given.braces is not None:
        return
    lvalue = given.lvalue
    if lvalue is None or is_forwarding(type_, function) or is_moved(given) == type_.is_rvalue:
        return
    target = context.unit.resolve_declared_type(type_.referent, scope, lvalue.type, lvalue.is_const)
    if not type_.is_rvalue:
        if not target.const:
            message = "a reference that is not const needs a variable here, not what is moved"
            raise context.error(given.node, message)
    elif is_same_type(target.type, lvalue.type):
        name = target.type.name
        message = f"'{name}&&' takes what nobody needs any more: write std::move(...) around it"
        raise context.error(given.node, message)


def _pass_default(
    context: Context, parameter: tree.Parameter, scope: Scope, number: int
) -> Argument:
    """What is passed for a parameter for which a call has no argument."""
    assert parameter.default is not None
    if any(each is parameter for each in context.unit.defaults):
        message = f"the default argument of '{parameter.name}' needs itself"
        raise context.error(parameter, message)
    context.unit.defaults.append(parameter)
    outer, context.scope = context.scope, scope
    given = Given(context, parameter.default)
    argument = pass_argument(context, parameter, given, scope, number)
    context.scope = outer
    context.unit.defaults.pop()
    return argument


def build_call(
    context: Context, instance: Instance, nodes: Sequence[ast.expr], node: tree.Node
) -> Lvalue | Value:
    """The call of a compiled function."""
    called: ast.expr = code.call(instance.identifier, *nodes)
    if instance.waits:
        context.waits += 1
        called = ast.YieldFrom(called)
    context.loads += instance.loads
    value = make_value(instance.result, called, instance.space)
    if instance.is_const:
        value = replace(value, is_const=True)
    if instance.is_reference:
        found = find_pointee(context, value, node)
        return replace(found, is_over=instance.is_over)
    return keep_temporary(context, value, node)


# Functions as values.


def make_function_value(
    context: Context, functions: Functions, explicit: Sequence[tree.TemplateArgument]
) -> Value:
    """A function as a value: its type says which one it is."""
    unit = context.unit
    scoped = tuple(_within(context, each) for each in explicit)
    for number, (known, arguments) in enumerate(unit.function_values):
        if known.definitions is functions.definitions and _is_same_list(arguments, scoped):
            return make_integer_of(FunctionType(functions.name, number))
    unit.function_values.append((functions, scoped))
    return make_integer_of(FunctionType(functions.name, len(unit.function_values) - 1))


def make_integer_of(type_: FunctionType) -> Value:
    """A value that nothing is known of but its type."""
    return Value(type_, code.constant(0))


def _within(context: Context, node: tree.TemplateArgument) -> tree.TemplateArgument:
    return InScope(node, context.scope, position=node.position)


def _is_same_list(a: Sequence[tree.TemplateArgument], b: Sequence[tree.TemplateArgument]) -> bool:
    return len(a) == len(b) and not a


def call_function_value(
    context: Context,
    node: tree.Node,
    type_: FunctionType,
    given: Sequence[Given],
    this: Lvalue | None = None,
) -> Lvalue | Value:
    """A call through a pointer to a function, of a member function of an object if there is one."""
    functions, explicit = context.unit.function_values[type_.number]
    return call_own_function(context, node, functions, given, explicit, this)


# Member functions.


def find_member_functions(context: Context, type_: CType, name: str) -> Functions | None:
    """The member functions of a name that objects of a class have."""
    if isinstance(type_, IncompleteType):
        type_ = context.unit.structs[type_.number]
    if not isinstance(type_, (StructType, IncompleteType)):
        return None
    info = context.unit.classes.get(type_.number)
    symbol: Symbol | None = None if info is None else info.scope.find_here(name)
    return symbol if isinstance(symbol, Functions) else None


def call_member(
    context: Context, node: tree.FunctionCall, base: Lvalue | Value, functions: Functions
) -> Lvalue | Value:
    """`object.name(arguments)` of a class of the kernel."""
    given = take_arguments(context, node.arguments)
    this = hold_object(context, base)
    explicit = node.template_arguments
    moved = isinstance(base, Value) or base.is_over
    return call_own_function(context, node, functions, given, explicit, this, is_over=moved)


def hold_object(context: Context, base: Lvalue | Value) -> Lvalue:
    """An object as a place: one that was just made gets a variable of its own."""
    if not isinstance(base, Value):
        return base
    node = base.node
    if isinstance(node, ast.Name):
        return LocalLvalue(base.type, node.id, is_const=base.is_const)
    if isinstance(base.type, StructType):
        return replace(hold_value(base), is_const=base.is_const)
    return hold_value(base)


def call_closure(
    context: Context, node: tree.FunctionCall, base: Lvalue | Value
) -> Lvalue | Value | None:
    """`object(arguments)`: a call of a lambda, a function, or `operator()`."""
    type_ = base.type
    if isinstance(type_, FunctionType):
        return call_function_value(context, node, type_, take_arguments(context, node.arguments))
    if points_to_function(type_):
        pointer = base if isinstance(base, Value) else read_lvalue(context, base)
        return context.handlers.call_pointer(context, node, pointer, None)
    functions = find_member_functions(context, type_, "operator()")
    return None if functions is None else call_member(context, node, base, functions)
