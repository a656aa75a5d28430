"""Functions as values of a written type: `R (*f)(A)`, `R (&f)(A)`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from ttmlir.cpp import tree
from ttmlir.cpp.errors import CppSyntaxError
from ttmlir.cpp.types import (
    ArrayType,
    CType,
    FunctionType,
    IncompleteType,
    MemberPointerType,
    PassedType,
    PointerType,
    SignatureType,
    StructType,
    complete_type,
    is_deduced,
    is_same_type,
    tag_of,
)
from ttmlir.sim.kernels.context import Context
from ttmlir.sim.kernels.expressions.initial_values import Given
from ttmlir.sim.kernels.expressions.own_calls import find_member_functions
from ttmlir.sim.kernels.python import code
from ttmlir.sim.kernels.scope import CLOSURES, Evaluated, Functions, Scope
from ttmlir.sim.kernels.templates import (
    CallOfOwn,
    choose_function,
    key_of,
    list_scopes,
    scope_of_result,
)
from ttmlir.sim.kernels.value import LocalLvalue, Lvalue, Value


def find_signature(context: Context, node: tree.FunctionOf) -> SignatureType:
    """The type of functions that is written, with the packs in its parameters expanded."""
    context.unit.add_reference(CLOSURES, node)
    passed = list[PassedType]()
    for each in node.parameters:
        for scope in list_scopes(context.scope, each):
            passed.append(_find_passed(context, each.type, scope))
    result = _find_passed(context, node.result, context.scope)
    if node.holder is None:
        return _bounded(context, SignatureType(result, tuple(passed)), node)
    holder = context.unit.resolve_type(node.holder, context.scope)
    if not isinstance(holder.type, (StructType, IncompleteType)):
        raise context.error(node.holder, f"'{holder.type.name}' is no class")
    this = PassedType(holder.type, "&", holder.const)
    return _bounded(context, SignatureType(result, (this, *passed), is_member=True), node)


def _bounded(context: Context, made: SignatureType, node: tree.FunctionOf) -> SignatureType:
    context.unit.spend_name(node, tag_of(made))
    return made


def _find_passed(context: Context, written: tree.Type, scope: Scope) -> PassedType:
    found = context.unit.resolve_type(written, scope)
    match written, found.type:
        case tree.Reference(is_rvalue=is_rvalue), _:
            return PassedType(found.type, "&&" if is_rvalue else "&", found.const)
        case _, ArrayType(element=element):
            return PassedType(PointerType(element, found.volatile, found.const))
        case _, SignatureType() as function:
            return PassedType(PointerType(function))
        case _, type_:
            return PassedType(type_)


def fit_function(context: Context, value: Value, target: CType, node: tree.Node) -> Value | None:
    """A function, the one of its overloads or the lambda that has a written type.

    None if no type of functions is written, or the value is none that has it.
    """
    signature = target.pointee if isinstance(target, PointerType) else target
    if not isinstance(signature, SignatureType):
        return None
    if isinstance(value.type, StructType):
        functions = find_lambda(context, value.type)
        if functions is None or signature.is_member:
            return None
        found = _find_exact(context, functions, signature, is_lambda=True)
        return None if found is None else value
    if not isinstance(value.type, FunctionType) or isinstance(value.type, MemberPointerType):
        return None
    functions, explicit = context.unit.function_values[value.type.number]
    found = None if explicit else _find_exact(context, functions, signature)
    found = found or _find_made(context, functions, signature, CallOfOwn(node, explicit, ()))
    return None if found is None else _name_function(context, found)


def _name_function(context: Context, functions: Functions) -> Value:
    known = context.unit.function_values
    numbers = (number for number, (each, _) in enumerate(known) if each == functions)
    number = next(numbers, len(known))
    if number == len(known):
        known.append((functions, ()))
    return Value(FunctionType(functions.name, number), code.constant(0))


def find_lambda(context: Context, type_: StructType) -> Functions | None:
    """The function of a lambda without captures."""
    node = context.unit.closures.get(type_.number)
    if node is None or node.captures or node.default:
        return None
    return find_member_functions(context, type_, "operator()")


def find_type_of(context: Context, value: Value, node: tree.Node) -> SignatureType:
    """The type of a function or lambda that is known."""
    explicit: Sequence[tree.TemplateArgument] = ()
    if isinstance(value.type, StructType):
        functions = find_lambda(context, value.type)
        if functions is None:
            raise context.error(node, f"'{value.type.name}' is no function: it captures variables")
    else:
        assert isinstance(value.type, FunctionType)
        functions, explicit = context.unit.function_values[value.type.number]
    assert functions is not None
    function = functions.definitions[0]
    is_lambda = isinstance(value.type, StructType)
    is_generic = any(is_deduced(each.type) for each in function.parameters)
    if len(functions.definitions) + len(functions.others) > 1 or is_generic:
        message = f"which '{functions.name}' is meant has to be said here"
        raise context.error(node, f"{message}: cast it to the type of the pointer")
    if explicit or function.template_parameters:
        message = f"'{functions.name}' is a template, of which no function is chosen here"
        raise context.error(node, message)
    outer, context.scope = context.scope, functions.scope
    try:
        written = tree.FunctionOf(tree.NamedType("void"), function.parameters)
        signature = find_signature(context, written)
        if not is_deduced(function.result):
            inner = scope_of_result(context.unit, function, context.scope)
            result = _find_passed(context, function.result, inner)
            found = replace(signature, result=result)
            this = None if is_lambda else find_object_of(context, function, context.scope)
            return found if this is None else _add_object(found, this)
    finally:
        context.scope = outer
    return replace(signature, result=_find_result(context, value, signature, node))


def find_object_of(context: Context, function: tree.Function, scope: Scope) -> PassedType | None:
    """What a member function gets for its object; None for other functions."""
    owner = scope.owner
    if owner is None or "static" in function.specifiers or "friend" in function.specifiers:
        return None
    return PassedType(context.unit.structs[owner], "&", function.is_const)


def _add_object(signature: SignatureType, this: PassedType) -> SignatureType:
    parameters = (this, *signature.parameters)
    return replace(signature, parameters=parameters, is_member=True)


def _find_result(
    context: Context, value: Value, signature: SignatureType, node: tree.Node
) -> PassedType:
    """What a function gives whose result is deduced."""
    given = [_pass(context, each, node) for each in signature.parameters]
    callee = cast("tree.Expression", Evaluated(value, position=node.position))
    called = tree.FunctionCall(callee, tuple(each.node for each in given), position=node.position)
    found = context.handlers.call(context, called)
    is_reference = not isinstance(found, Value)
    return PassedType(found.type, "&" if is_reference else "", is_reference and found.is_const)


def _find_exact(
    context: Context, functions: Functions, signature: SignatureType, *, is_lambda: bool = False
) -> Functions | None:
    """The function without template parameters that has a type."""
    for group in (functions, *functions.others):
        for each in group.definitions:
            is_plain = not each.template_parameters and each.specialized is None
            if not is_plain or not each.definition:
                continue
            this = None if is_lambda else find_object_of(context, each, group.scope)
            if _has_type(context, each, group.scope, signature, this):
                return Functions(functions.name, (each,), group.scope)
    return None


def _has_type(
    context: Context,
    function: tree.Function,
    scope: Scope,
    signature: SignatureType,
    this: PassedType | None = None,
) -> bool:
    if signature.is_member:
        wanted, *rest = signature.parameters
        holder = complete_type(wanted.type, context.unit.structs)
        if this is None or not isinstance(holder, StructType) or this.const != wanted.const:
            return False
        if not holder.derives_from(this.type):
            return False
        signature = replace(signature, parameters=tuple(rest), is_member=False)
    elif this is not None:
        return False
    outer, context.scope = context.scope, scope
    try:
        result = signature.result
        if not is_deduced(function.result):
            inner = scope_of_result(context.unit, function, scope)
            result = _find_passed(context, function.result, inner)
        of = tree.FunctionOf(tree.NamedType("void"), function.parameters)
        found = replace(find_signature(context, of), result=result)
    finally:
        context.scope = outer
    return is_same_type(found, signature)


def _find_made(
    context: Context, functions: Functions, signature: SignatureType, call: CallOfOwn
) -> Functions | None:
    """The function that a template makes for a type."""
    own = signature.parameters[signature.is_member :]
    given = [_pass(context, each, call.node) for each in own]
    try:
        with context.unit.trying():
            chosen = choose_function(context, functions, replace(call, given=given))
    except CppSyntaxError:
        return None
    symbols = chosen.scope.symbols.items()
    key = (id(chosen.function), tuple((name, key_of(symbol)) for name, symbol in symbols))
    known = context.unit.made_functions.get(key)
    if known is None:
        plain = replace(chosen.function, template_parameters=())
        known = Functions(functions.name, (plain,), chosen.scope)
        context.unit.made_functions[key] = known
    this = find_object_of(context, known.definitions[0], chosen.scope_of_class)
    fits = _has_type(context, known.definitions[0], known.scope, signature, this)
    return known if fits else None


def _pass(context: Context, passed: PassedType, node: tree.Node) -> Given:
    """An argument of which only the type matters."""
    found: Lvalue | Value = Value(passed.type, code.constant(0))
    if passed.reference == "&":
        found = LocalLvalue(passed.type, "unused", is_const=passed.const)
    return Given(context, Evaluated(found, position=node.position), found)
