"""Initial values: braces, zeros, and nothing at all."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import replace

from ttmlir.cpp import tree
from ttmlir.cpp.types import (
    ArrayType,
    CType,
    FloatType,
    IntType,
    ObjectType,
    StructType,
    count_of,
    size_of,
)
from ttmlir.sim.kernels.context import Context
from ttmlir.sim.kernels.expressions.conversions import convert_implicitly
from ttmlir.sim.kernels.expressions.evaluating import evaluate_scalar
from ttmlir.sim.kernels.expressions.library_calls import (
    evaluate_argument,
    evaluate_template_arguments,
)
from ttmlir.sim.kernels.expressions.places import describe_missing_member
from ttmlir.sim.kernels.limits import STACK_BYTES
from ttmlir.sim.kernels.python import code
from ttmlir.sim.kernels.scope import StructDefinition
from ttmlir.sim.kernels.value import Value, make_floating, make_integer, settle


def evaluate_construct(context: Context, node: tree.Construct) -> Value:
    """The value of `T{...}`."""
    type_ = context.unit.resolve_type(node.type, context.scope).type
    if (size_of(type_) or 0) > STACK_BYTES:
        message = f"a '{type_.name}' takes {size_of(type_)} bytes; there are {STACK_BYTES}"
        raise context.error(node, message)
    context.unit.spend(node, count_of(type_))
    braces = tree.Braces(node.elements, position=node.position)
    return build_initial(context, type_, braces, node.type)


def build_initial(
    context: Context,
    type_: CType,
    value: tree.Expression | tree.Braces,
    written: tree.Type | None = None,
) -> Value:
    """The value that a variable, member or element starts with."""
    if not isinstance(value, tree.Braces):
        result = convert_implicitly(context, evaluate_scalar(context, value), type_, value)
        is_copy = isinstance(type_, StructType) and not isinstance(value, tree.Construct)
        return replace(result, node=code.call("_copied", result.node)) if is_copy else result
    match type_:
        case StructType():
            return _build_struct(context, type_, value)
        case ArrayType():
            return _build_array(context, type_, value)
        case ObjectType():
            return _build_object(context, type_, value, written)
        case _:
            return _build_single(context, type_, value)


def _build_single(context: Context, type_: CType, braces: tree.Braces) -> Value:
    if len(braces.elements) > 1 or any(each.member for each in braces.elements):
        raise context.error(braces, f"braces for '{type_.name}' hold one value")
    if not braces.elements:
        return build_zero(context, type_)
    return build_initial(context, type_, braces.elements[0].value)


def build_zero(context: Context, type_: CType) -> Value:
    """The value of what is initialised with `{}`."""
    match type_:
        case IntType():
            return make_integer(0, type_)
        case FloatType():
            return make_floating(0.0, type_)
        case ArrayType():
            node = _repeat_element(context, type_, lambda: build_zero(context, type_.element).node)
            return Value(type_, node)
        case StructType():
            return _build_struct(context, type_, tree.Braces())
        case ObjectType():
            node = build_object_call(context, type_, (), None, tree.Braces())
            return Value(type_, node)
        case _:
            return Value(type_, code.constant(0))


def build_unset(context: Context, type_: CType) -> Value:
    """What a variable holds that is declared without initial value."""
    match type_:
        case ArrayType():
            return Value(
                type_,
                _repeat_element(context, type_, lambda: build_unset(context, type_.element).node),
            )
        case StructType(fields=fields):
            defaults = _find_defaults(context, type_)
            members = [
                build_initial(context, field.type, defaults[field.name])
                if field.name in defaults
                else build_unset(context, field.type)
                for field in fields
            ]
            return Value(type_, code.list_of(settle(each).node for each in members))
        case _:
            return Value(type_, code.name("_unset"))


def _repeat_element(
    context: Context, type_: ArrayType, element: Callable[[], ast.expr]
) -> ast.expr:
    if isinstance(type_.element, (ArrayType, StructType)):
        return code.list_of(element() for _ in range(type_.count))
    return code.binary("*", code.list_of([element()]), code.constant(type_.count))


def _find_defaults(context: Context, type_: StructType) -> dict[str, tree.Expression | tree.Braces]:
    symbol = context.unit.find(type_.name, context.scope)
    return dict(symbol.defaults) if isinstance(symbol, StructDefinition) else {}


def _build_struct(context: Context, type_: StructType, braces: tree.Braces) -> Value:
    given = dict[str, tree.Expression | tree.Braces]()
    for number, each in enumerate(braces.elements):
        if each.member is None and number >= len(type_.fields):
            message = f"'{type_.name}' has {len(type_.fields)} members only"
            raise context.error(each, message)
        name = each.member or type_.fields[number].name
        if type_.index(name) is None:
            names = [field.name for field in type_.fields]
            raise context.error(each, describe_missing_member(type_.name, name, names))
        given[name] = each.value
    given = _find_defaults(context, type_) | given
    members = [
        build_initial(context, field.type, given[field.name])
        if field.name in given
        else build_zero(context, field.type)
        for field in type_.fields
    ]
    return Value(type_, code.list_of(settle(each).node for each in members))


def _build_array(context: Context, type_: ArrayType, braces: tree.Braces) -> Value:
    if len(braces.elements) > type_.count:
        raise context.error(braces, f"too many elements for '{type_.name}'")
    given = [build_initial(context, type_.element, each.value) for each in braces.elements]
    if not given:
        return build_zero(context, type_)
    rest = [build_zero(context, type_.element) for _ in range(type_.count - len(given))]
    return Value(type_, code.list_of(settle(each).node for each in (*given, *rest)))


def _build_object(
    context: Context, type_: ObjectType, braces: tree.Braces, written: tree.Type | None
) -> Value:
    return Value(type_, build_object_call(context, type_, braces.elements, written, braces))


def build_object_call(
    context: Context,
    type_: ObjectType,
    elements: Sequence[tree.Initializer],
    written: tree.Type | None,
    node: tree.Node,
) -> ast.Call:
    """The call that makes an object of the kernel library."""
    positional = list[ast.expr]()
    keywords = dict[str, ast.expr]()
    library = context.unit.library
    if isinstance(written, tree.NamedType) and written.template_arguments:
        template = written.template_arguments
        keywords["template"] = evaluate_template_arguments(context, type_.name, template)
    names = library.parameter_names(type_.name)
    for each in elements:
        if isinstance(each.value, tree.Braces):
            raise context.error(each, "braces in braces are not supported here")
        if each.member is None:
            parameter = library.find_parameter(type_.name, len(positional))
            positional.append(evaluate_argument(context, each.value, parameter))
            continue
        if each.member not in names:
            raise context.error(each, describe_missing_member(type_.name, each.member, names))
        if each.member in keywords:
            raise context.error(each, f"'{each.member}' is given twice")
        parameter = library.find_parameter(type_.name, names.index(each.member))
        keywords[each.member] = evaluate_argument(context, each.value, parameter)
    misfit = context.unit.library.describe_misfit(type_.name, len(positional), keywords)
    if misfit:
        raise context.error(node, misfit)
    return code.call(context.unit.bind(type_.name), *positional, **keywords)
