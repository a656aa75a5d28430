"""Pointers to functions that are chosen while a kernel runs.

Such a pointer is a number in Python. A call through one calls a function that all calls through
pointers of its type share, and that calls the one that the number means: it is written when the
whole kernel is compiled, and all functions are known that a pointer may point to.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from functools import partial
from typing import cast

from ttmlir.cpp import tree
from ttmlir.cpp.types import (
    CType,
    FloatType,
    FunctionType,
    IntType,
    PassedType,
    PointerType,
    QualifiedType,
    SignatureType,
    StructType,
    complete_type,
    tag_of,
)
from ttmlir.sim.kernels.context import Argument, Context
from ttmlir.sim.kernels.destructors import THIS
from ttmlir.sim.kernels.expressions.initial_values import Given, pass_argument
from ttmlir.sim.kernels.expressions.lvalues import (
    find_pointee,
    hold_value,
    points_to_function,
    read_lvalue,
    take_address,
)
from ttmlir.sim.kernels.expressions.own_calls import (
    build_call,
    call_function_value,
    call_member,
    take_arguments,
)
from ttmlir.sim.kernels.expressions.signatures import find_lambda, find_object_of, find_type_of
from ttmlir.sim.kernels.python import code
from ttmlir.sim.kernels.python.runtime import KernelFault
from ttmlir.sim.kernels.scope import Alias, Evaluated, Scope
from ttmlir.sim.kernels.unit import (
    POINTER_STEP,
    Dispatcher,
    Instance,
    PointedFunction,
    Unit,
)
from ttmlir.sim.kernels.value import ItemLvalue, Lvalue, Space, Value, settle

_POINTER = "v_pointer"


# Numbers of functions.


def point_at_function(context: Context, function: Value, node: tree.Node) -> Value:
    """A function or lambda that is known as a pointer, whose type is that of the function."""
    signature = find_type_of(context, function, node)
    return point_at(context, function, PointerType(signature), node)


def point_at(context: Context, function: Value, target: PointerType, node: tree.Node) -> Value:
    """A function or lambda that is known, and has the type, as a pointer of a type."""
    assert isinstance(target.pointee, SignatureType)
    tag = tag_of(target.pointee)
    known = context.unit.pointed
    number = next((i for i, x in enumerate(known) if x.value.type == function.type), len(known))
    if number == len(known):
        known.append(PointedFunction(function, tag, node))
    return Value(target, code.constant(POINTER_STEP * (number + 1)))


def points_to_base(context: Context, source: PointerType, target: PointerType) -> bool:
    """Whether a pointer is one to member functions of a base of another pointer's class."""
    given, wanted = source.pointee, target.pointee
    if not isinstance(given, SignatureType) or not isinstance(wanted, SignatureType):
        return False
    return tag_of(given) in _list_tags(context, wanted)


def _list_tags(context: Context, signature: SignatureType) -> set[str]:
    """The tags of the types that pointers of a type may come from: those of bases, too."""
    tags = {tag_of(signature)}
    if not signature.is_member:
        return tags
    this, *rest = signature.parameters
    pending = [complete_type(this.type, context.unit.structs)]
    while pending:
        type_ = pending.pop()
        assert isinstance(type_, StructType)
        parameters = (replace(this, type=type_), *rest)
        tags.add(tag_of(replace(signature, parameters=parameters)))
        pending += type_.bases[:1]
    return tags


# Calls.


def call_pointer(
    context: Context, node: tree.FunctionCall, pointer: Value, this: Lvalue | None = None
) -> Lvalue | Value:
    """A call through a pointer, of a member function of an object if there is one."""
    given = take_arguments(context, node.arguments)
    assert isinstance(pointer.type, PointerType)
    signature = pointer.type.pointee
    assert isinstance(signature, SignatureType)
    known = context.unit.find_pointed(pointer)
    if signature.is_member != (this is not None):
        message = "this points to a member function: call it as '(object.*pointer)()'"
        raise context.error(node, message)
    if known is not None and isinstance(known.type, FunctionType):
        return call_function_value(context, node, known.type, given, this)
    if known is not None:
        assert isinstance(known.type, StructType)
        functions = find_lambda(context, known.type)
        assert functions is not None
        return call_member(context, node, known, functions)
    if this is not None:
        callee = Evaluated(this, position=node.position)
        given = [Given(context, cast("tree.Expression", callee), this), *given]
    if len(given) != len(signature.parameters):
        count = len(signature.parameters) - signature.is_member
        given = given[signature.is_member :]
        message = f"a '{signature.name}' takes {count} argument{'s' * (count != 1)}"
        raise context.error(node, f"{message}, not {len(given)}")
    nodes = [pointer.node]
    for number, (passed, each) in enumerate(zip(signature.parameters, given, strict=True)):
        scope, parameter = _write_parameter(passed)
        argument = pass_argument(context, parameter, each, scope, number)
        nodes.append(_make_uniform(context, argument, passed, node))
    return build_call(context, _find_dispatcher(context, signature, node), nodes, node)


def _find_dispatcher(context: Context, signature: SignatureType, node: tree.Node) -> Instance:
    """The function that calls through pointers of a type go through."""
    unit, tag = context.unit, tag_of(signature)
    known = unit.dispatchers.get(tag)
    if known is None:
        result, is_reference = _find_result(signature)
        instance = Instance(
            unit.create_name("through_pointer", "f"),
            result,
            is_reference=is_reference,
            waits=tag in unit.waiting_tags,
            loads=1,
            finished=True,
        )
        known = unit.dispatchers[tag] = Dispatcher(instance, signature, node)
        unit.folder.chosen[instance.identifier] = partial(_find_chosen, context, tag)
    return known.instance


def _find_chosen(context: Context, tag: str, pointer: int) -> str:
    """The function that a pointer of a type means, while a constant is computed."""
    unit, number = context.unit, pointer // POINTER_STEP - 1
    tags = _list_tags(context, unit.dispatchers[tag].signature)
    if not 0 <= number < len(unit.pointed) or unit.pointed[number].tag not in tags:
        raise KernelFault("this points to no function")
    entries = unit.dispatchers[tag].entries
    if number not in entries:
        signature = unit.dispatchers[tag].signature
        entries[number] = _compile(context, unit.pointed[number], signature)
    found = entries[number][0]
    if found.is_reference and not unit.dispatchers[tag].instance.is_reference:
        raise KernelFault("this gives a reference to a number")
    return found.identifier


def _find_result(signature: SignatureType) -> tuple[CType, bool]:
    """What calls through pointers give, and whether that is a reference."""
    passed = signature.result
    is_number = isinstance(passed.type, (IntType, FloatType, PointerType))
    if not passed.reference or (passed.reference == "&" and passed.const and is_number):
        return passed.type, False
    return PointerType(passed.type, const=passed.const), True


def _is_copied(passed: PassedType) -> bool:
    """Whether an argument is passed as a value: `const F&` of pointers to functions is."""
    is_constant = passed.reference == "&" and passed.const
    return not passed.reference or (is_constant and points_to_function(passed.type))


def _decay(passed: PassedType) -> PassedType:
    """A reference to a function as a pointer to it; others as they are."""
    is_function = isinstance(passed.type, SignatureType)
    return PassedType(PointerType(passed.type)) if is_function else passed


def _write_parameter(passed: PassedType) -> tuple[Scope, tree.Parameter]:
    """A parameter of a type, with the scope in which its type is meant."""
    scope = Scope()
    scope.symbols["T"] = Alias(QualifiedType(passed.type, passed.const))
    written: tree.Type = tree.NamedType("T")
    if passed.reference:
        written = tree.Reference(written, passed.reference == "&&")
    return scope, tree.Parameter(written, None)


def _make_uniform(
    context: Context, argument: Argument, passed: PassedType, node: tree.Node
) -> ast.expr:
    """An argument as all functions of a type take it, wherever it is."""
    type_ = argument.type
    passed = _decay(passed)
    if _is_copied(passed):
        known = Value(type_, argument.node)
        if isinstance(type_, FunctionType) or _is_lambda(context, type_):
            assert isinstance(passed.type, PointerType)
            return point_at(context, known, passed.type, node).node
        return argument.node
    match argument.mode:
        case "address" | "pointer":
            return argument.node
        case "pair":
            pair = argument.node
            if isinstance(pair, ast.Tuple):
                container, number = pair.elts
            else:
                name = context.unit.create_name("pair", "t")
                container = code.subscript(code.walrus(name, pair), code.constant(0))
                number = code.subscript(code.name(name), code.constant(1))
            return take_address(context, ItemLvalue(type_, container, number), node).node
        case _:
            return take_address(context, hold_value(Value(type_, argument.node)), node).node


def _is_lambda(context: Context, type_: CType) -> bool:
    return isinstance(type_, StructType) and type_.number in context.unit.closures


# What is written at the end.


def add_dispatchers(context: Context) -> None:
    """Write the functions that calls through pointers go through.

    Notes the types of which functions wait: if others were taken to, the kernel is compiled again.
    """
    unit = context.unit
    written = set[str]()
    waiting = set[str]()
    while len(written) < len(unit.dispatchers):
        for tag, dispatcher in list(unit.dispatchers.items()):
            if tag not in written:
                written.add(tag)
                waiting |= {tag} & _compile_pointed(context, tag, dispatcher)
    for tag, dispatcher in unit.dispatchers.items():
        # Functions that calls through other pointers compiled may have got addresses of their own.
        waiting |= {tag} & _compile_pointed(context, tag, dispatcher)
    waiting -= unit.waiting_tags
    unit.found_waiting = (
        unit.waiting_tags | _spread(unit, waiting) if waiting else unit.waiting_tags
    )
    for dispatcher in unit.dispatchers.values():
        _write_dispatcher(context, dispatcher)


def _spread(unit: Unit, waiting: set[str]) -> set[str]:
    """The types of which functions wait because they call through pointers of types that do."""
    callers = dict[str, list[str]]()
    for identifier, function in unit.by_name.items():
        for name in set(code.list_names(function)):
            callers.setdefault(name, []).append(identifier)
    for dispatcher in unit.dispatchers.values():
        for instance, _ in dispatcher.entries.values():
            callers.setdefault(instance.identifier, []).append(dispatcher.instance.identifier)
    pending = [unit.dispatchers[tag].instance.identifier for tag in waiting]
    found = set(pending)
    while pending:
        new = set(callers.get(pending.pop(), ())) - found
        found |= new
        pending += new
    return {tag for tag, each in unit.dispatchers.items() if each.instance.identifier in found}


def _compile_pointed(context: Context, tag: str, dispatcher: Dispatcher) -> set[str]:
    """Compile the functions that pointers of a type may point to; the type if one waits."""
    waits = False
    tags = _list_tags(context, dispatcher.signature)
    for number, each in enumerate(context.unit.pointed):
        if each.tag in tags:
            if number not in dispatcher.entries:
                found = _compile(context, each, dispatcher.signature)
                dispatcher.entries[number] = found
            waits = waits or dispatcher.entries[number][0].waits
    return {tag} if waits else set()


def _compile(
    context: Context, pointed: PointedFunction, signature: SignatureType
) -> tuple[Instance, bool]:
    """A function compiled for arguments wherever they are, and whether it is a lambda."""
    own = signature.parameters[signature.is_member :]
    arguments = [describe_argument(passed, i) for i, passed in enumerate(own)]
    type_ = pointed.value.type
    is_lambda = isinstance(type_, StructType)
    if is_lambda:
        functions = find_lambda(context, type_)
        this = Argument(type_, "object", code.list_of(()), is_const=True, number=THIS)
        arguments.insert(0, this)
    else:
        assert isinstance(type_, FunctionType)
        functions = context.unit.function_values[type_.number][0]
    assert functions is not None
    function, scope = functions.definitions[0], functions.scope
    if signature.is_member:
        this = find_object_of(context, function, _find_class(scope))
        assert this is not None
        arguments.insert(0, describe_argument(this, THIS))
    find = context.handlers.find_instance
    return find(context, function, scope, arguments, pointed.node), is_lambda


def _find_class(scope: Scope) -> Scope:
    """The scope of the class around that of a function."""
    while scope.owner is None and scope.outer is not None:
        scope = scope.outer
    return scope


def describe_argument(passed: PassedType, number: int) -> Argument:
    """What a function gets for a parameter that is called through a pointer."""
    node = code.name("unused")
    passed = _decay(passed)
    if _is_copied(passed):
        is_const = bool(passed.reference)
        return Argument(passed.type, "value", node, Space.ANY, is_const, number)
    pointer = PointerType(passed.type, const=passed.const)
    return Argument(pointer, "pointer", node, Space.ANY, passed.const, number)


def _write_dispatcher(context: Context, dispatcher: Dispatcher) -> None:
    names = [f"v_{i}" for i in range(len(dispatcher.signature.parameters))]
    arguments = [code.name(each) for each in names]
    body = list[ast.stmt]()
    for number, (instance, is_lambda) in sorted(dispatcher.entries.items()):
        this = [code.list_of(())] if is_lambda else []
        called: ast.expr = code.call(instance.identifier, *this, *arguments)
        if instance.waits:
            called = ast.YieldFrom(called)
        if instance.is_reference and not dispatcher.instance.is_reference:
            pointer = Value(instance.result, called, space=instance.space)
            found = find_pointee(context, pointer, dispatcher.node)
            called = settle(read_lvalue(context, found)).node
        test = code.compare("==", code.name(_POINTER), code.constant(POINTER_STEP * (number + 1)))
        body.append(ast.If(test, [ast.Return(called)], []))
    missing = code.call("_no_function", code.name(_POINTER))
    body.append(ast.Return(missing))
    if dispatcher.instance.waits and not any(x.waits for x, _ in dispatcher.entries.values()):
        body.append(ast.Expr(ast.Yield()))
    identifier = dispatcher.instance.identifier
    context.unit.add_function(identifier, (_POINTER, *names), body, dispatcher.node.position)
