"""Operators that classes and enumerations of the kernel define."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ttmlir.cpp import tree
from ttmlir.cpp.conversions import is_same_type
from ttmlir.cpp.types import CType, EnumType, FloatType, IntType, StructType, complete_type
from ttmlir.sim.kernels.context import Context
from ttmlir.sim.kernels.expressions.calls import find_associated_scopes
from ttmlir.sim.kernels.expressions.given import Given
from ttmlir.sim.kernels.expressions.own_calls import (
    call_candidate,
    call_own_function,
    find_member_functions,
    hold_object,
)
from ttmlir.sim.kernels.expressions.places import look_at, read_place
from ttmlir.sim.kernels.place import Place
from ttmlir.sim.kernels.scope import Functions
from ttmlir.sim.kernels.templates.overloads import Candidate
from ttmlir.sim.kernels.value import Value


def call_operator(
    context: Context,
    name: str,
    operands: Sequence[tree.Expression],
    node: tree.Node,
    found: Sequence[Place | Value] = (),
) -> Place | Value | None:
    """What an operator of the kernel gives; None if it has none for such operands."""
    looked = [
        found[number] if number < len(found) else look_at(context, each)
        for number, each in enumerate(operands)
    ]
    return call_operator_on(context, name, operands, looked, node)


def call_operator_on(
    context: Context,
    name: str,
    operands: Sequence[tree.Expression],
    found: Sequence[Place | Value],
    node: tree.Node,
) -> Place | Value | None:
    """The same for operands that were looked at."""
    given = [Given(context, operand, each) for operand, each in zip(operands, found, strict=True)]
    member = find_member_functions(context, found[0].type, name)
    if member is not None:
        this = hold_object(context, found[0])
        return call_own_function(context, node, member, given[1:], (), this)
    functions = _find_functions(context, name, found)
    if functions is None or not _may_take(context, functions, found):
        return None
    return call_own_function(context, node, functions, given)


def _find_functions(
    context: Context, name: str, found: Sequence[Place | Value]
) -> Functions | None:
    """The functions of an operator where it is used, and where its operands are declared."""
    groups = list[Functions]()
    symbol = context.unit.find(name, context.scope)
    if isinstance(symbol, Functions) and symbol.scope.owner is None:
        groups.append(symbol)
    for each in found:
        for scope in find_associated_scopes(context, each):
            symbol = scope.symbols.get(name)
            is_free = isinstance(symbol, Functions) and symbol.scope.owner is None
            if is_free and isinstance(symbol, Functions):
                groups.append(symbol)
        if isinstance(each.type, EnumType):
            groups += _find_of_enumeration(context, name)
    unique = list({id(each.definitions): each for each in groups}.values())
    if not unique:
        return None
    return replace(unique[0], others=tuple(unique[1:]))


def _find_of_enumeration(context: Context, name: str) -> list[Functions]:
    """The operators in all namespaces: an enumeration does not know its own."""
    symbols = (each.symbols.get(name) for each in context.unit.namespaces.values())
    return [each for each in symbols if isinstance(each, Functions)]


def _may_take(context: Context, functions: Functions, found: Sequence[Place | Value]) -> bool:
    """Whether one of the functions is meant for operands of such types."""
    if any(isinstance(each.type, StructType) for each in found):
        return True
    for group in (functions, *functions.others):
        for function in group.definitions:
            if function.template_parameters:
                continue
            for parameter, each in zip(function.parameters, found, strict=False):
                type_ = context.unit.resolve_type(parameter.type, group.scope).type
                if isinstance(each.type, EnumType) and is_same_type(type_, each.type):
                    return True
    return False


def convert_object(context: Context, value: Value, target: CType, node: tree.Node) -> Value | None:
    """What a conversion function makes of an object; None if there is none."""
    source = complete_type(value.type, context.unit.structs)
    if not isinstance(source, StructType):
        return None
    best: tuple[int, Candidate] | None = None
    for type_ in (source, *source.bases):
        info = context.unit.classes.get(type_.number)
        for function in () if info is None else info.conversions:
            assert info is not None
            result = context.unit.resolve_type(function.result, info.scope).type
            rank = _rank(result, target)
            if rank is not None and (best is None or rank < best[0]):
                best = (rank, Candidate(function, info.scope))
    if best is None:
        return None
    made = call_candidate(context, best[1], (), node, hold_object(context, value))
    converted = made if isinstance(made, Value) else read_place(context, made)
    if converted.type == target:
        return converted
    return context.handlers.cast(context, converted, target, node)


def _rank(result: CType, target: CType) -> int | None:
    if is_same_type(result, target):
        return 0
    numbers = (IntType, FloatType)
    return 1 if isinstance(result, numbers) and isinstance(target, numbers) else None
