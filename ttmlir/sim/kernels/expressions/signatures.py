"""Functions as values of a written type: `R (*f)(A)`, `R (&f)(A)`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ttmlir.cpp import tree
from ttmlir.cpp.errors import CppSyntaxError
from ttmlir.cpp.types import (
    ArrayType,
    CType,
    FunctionType,
    MemberPointerType,
    PassedType,
    PointerType,
    SignatureType,
    StructType,
    is_deduced,
    is_same_type,
)
from ttmlir.sim.kernels.context import Context
from ttmlir.sim.kernels.expressions.initial_values import Given
from ttmlir.sim.kernels.expressions.own_calls import find_element_scope, find_member_functions
from ttmlir.sim.kernels.python import code
from ttmlir.sim.kernels.scope import Evaluated, Functions, Pack, Scope
from ttmlir.sim.kernels.templates import CallOfOwn, choose_function
from ttmlir.sim.kernels.value import LocalLvalue, Lvalue, Value


def find_signature(context: Context, node: tree.FunctionOf) -> SignatureType:
    """The type of functions that is written, with the packs in its parameters expanded."""
    passed = list[PassedType]()
    for each in node.parameters:
        for scope in _list_scopes(context.scope, each):
            passed.append(_find_passed(context, each.type, scope))
    return SignatureType(_find_passed(context, node.result, context.scope), tuple(passed))


def _list_scopes(scope: Scope, parameter: tree.Parameter) -> Iterator[Scope]:
    """Where the type of a parameter is looked up; of a pack, for each of its elements."""
    if not parameter.is_pack:
        yield scope
        return
    names = (each.name for each in tree.walk(parameter.type) if isinstance(each, tree.NamedType))
    packs = [symbol for name in names if isinstance(symbol := scope.find(name), Pack)]
    for number in range(len(packs[0].symbols) if packs else 0):
        yield find_element_scope(scope, parameter.type, number)


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
        functions = _find_lambda(context, value.type)
        is_fit = functions is not None and _find_exact(context, functions, signature) is not None
        return value if is_fit else None
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


def _find_lambda(context: Context, type_: StructType) -> Functions | None:
    """The function of a lambda without captures."""
    node = context.unit.closures.get(type_.number)
    if node is None or node.captures or node.default:
        return None
    return find_member_functions(context, type_, "operator()")


def _find_exact(
    context: Context, functions: Functions, signature: SignatureType
) -> Functions | None:
    """The function without template parameters that has a type."""
    for group in (functions, *functions.others):
        for each in group.definitions:
            is_plain = not each.template_parameters and each.specialized is None
            if is_plain and each.definition and _has_type(context, each, group.scope, signature):
                return Functions(functions.name, (each,), group.scope)
    return None


def _has_type(
    context: Context, function: tree.Function, scope: Scope, signature: SignatureType
) -> bool:
    outer, context.scope = context.scope, scope
    try:
        result = signature.result
        if not is_deduced(function.result):
            result = _find_passed(context, function.result, scope)
        of = tree.FunctionOf(tree.NamedType("void"), function.parameters)
        found = replace(find_signature(context, of), result=result)
    finally:
        context.scope = outer
    return is_same_type(found, signature)


def _find_made(
    context: Context, functions: Functions, signature: SignatureType, call: CallOfOwn
) -> Functions | None:
    """The function that a template makes for a type."""
    given = [_pass(context, each, call.node) for each in signature.parameters]
    try:
        with context.unit.trying():
            chosen = choose_function(context, functions, replace(call, given=given))
    except CppSyntaxError:
        return None
    made = replace(chosen.function, template_parameters=())
    fits = _has_type(context, made, chosen.scope, signature)
    return Functions(functions.name, (made,), chosen.scope) if fits else None


def _pass(context: Context, passed: PassedType, node: tree.Node) -> Given:
    """An argument of which only the type matters."""
    found: Lvalue | Value = Value(passed.type, code.constant(0))
    if passed.reference == "&":
        found = LocalLvalue(passed.type, "unused", is_const=passed.const)
    return Given(context, Evaluated(found, position=node.position), found)
