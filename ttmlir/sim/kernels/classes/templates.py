"""Names with template arguments, or within types: what they mean."""

from __future__ import annotations

from collections.abc import Sequence

from ttmlir.cpp import tree
from ttmlir.cpp.types import CType, ObjectType, QualifiedType
from ttmlir.sim.kernels.classes.declare import find_alias, find_class, make_class
from ttmlir.sim.kernels.classes.traits import find_trait_type, find_trait_value
from ttmlir.sim.kernels.context import Context
from ttmlir.sim.kernels.expressions.given import Given
from ttmlir.sim.kernels.expressions.own_calls import make_function_value, take_arguments
from ttmlir.sim.kernels.scope import (
    Alias,
    AliasTemplate,
    ClassTemplate,
    Functions,
    LateVariable,
    Pack,
    Scope,
    StructDefinition,
    Symbol,
    Variable,
)
from ttmlir.sim.kernels.templates.binding import (
    Deduction,
    bind_defaults,
    bind_explicit,
    key_of,
    within_scope,
)


def find_templated_type(context: Context, node: tree.NamedType | tree.Name) -> QualifiedType | None:
    """The type that a name with template arguments or within a type means; None if none."""
    name = node.name if isinstance(node, tree.NamedType) else node.text
    if node.scope is None:
        symbol = context.unit.find(name, context.scope)
    else:
        symbol = _find_within(context, node.scope, name)
    arguments = node.template_arguments
    if arguments:
        symbol = find_own_template(context, symbol)
    match symbol:
        case ClassTemplate() if arguments:
            return find_class(context, symbol, arguments, node)
        case ClassTemplate():
            return context.unit.find_type(name, context.scope)
        case AliasTemplate():
            return find_alias(context, symbol, arguments, node)
        case Alias(type=type_):
            return type_
        case StructDefinition(type=type_):
            return QualifiedType(type_)
        case None if node.scope is None:
            trait = find_trait_type(context, name, arguments, node)
            return trait or context.unit.find_type(name, context.scope)
        case None:
            assert node.scope is not None
            holder = context.unit.resolve_type(node.scope, context.scope).type
            raise context.error(node, f"'{holder.name}' has no type '{name}'")
        case _:
            return None


def find_own_template(context: Context, symbol: Symbol | None) -> Symbol | None:
    """The template of a class that its own name means where template arguments follow."""
    if isinstance(symbol, StructDefinition):
        info = context.unit.classes.get(symbol.type.number)
        if info is not None and info.template is not None:
            return info.template
    return symbol


def _find_within(context: Context, written: tree.Type, name: str) -> Symbol | None:
    """What a name means as a member of a type."""
    holder = context.unit.resolve_type(written, context.scope).type
    first, _, rest = name.partition("::")
    for scope in context.unit.find_members(holder):
        symbol = scope.find_here(first)
        if symbol is not None and rest:
            return context.unit.find(name, scope)
        if symbol is not None:
            return symbol
    return None


def find_templated_symbol(context: Context, node: tree.Name) -> Symbol | None:
    """What a name with template arguments or within a type means as a value."""
    if node.scope is not None:
        holder = context.unit.resolve_type(node.scope, context.scope).type
        symbol = _find_within(context, node.scope, node.text)
        if symbol is None:
            if isinstance(holder, ObjectType):
                raise context.error(node, f"'{holder.name}' has no static member '{node.text}'")
            raise context.error(node, f"'{holder.name}' has no member '{node.text}'")
    else:
        symbol = context.unit.find(node.text, context.scope)
    if symbol is None:
        return find_trait_value(context, node)
    if isinstance(symbol, LateVariable):
        if symbol.declaration.template_parameters:
            return _instantiate_variable(context, symbol, node)
        return context.handlers.declare_late(context, symbol, node)
    if isinstance(symbol, Functions) and node.template_arguments:
        value = make_function_value(context, symbol, node.template_arguments)
        return Variable(node.text, value)
    return symbol


def _instantiate_variable(context: Context, late: LateVariable, node: tree.Name) -> Symbol:
    """A variable template with arguments."""
    parameters = late.declaration.template_parameters
    scope = Scope(late.scope)
    name = late.declarator.name
    bind_explicit(context, parameters, node.template_arguments, scope, name)
    bind_defaults(context, parameters, scope, name, node)
    keys = tuple(key_of(scope.symbols[each.name]) for each in parameters)
    known = context.unit.variables.get((id(late.declarator), keys))
    if known is None:
        plain = LateVariable(late.declaration, late.declarator, scope)
        known = context.handlers.declare_late(context, plain, node)
        context.unit.variables[(id(late.declarator), keys)] = known
    return known


def find_constructed(
    context: Context,
    written: tree.Type,
    elements: Sequence[tree.Initializer],
    node: tree.Node,
) -> CType:
    """The type that `T{elements}` makes, where T may be a template without arguments."""
    if isinstance(written, tree.NamedType) and not written.template_arguments:
        if written.scope is None:
            symbol = context.unit.find(written.name, context.scope)
            if isinstance(symbol, ClassTemplate):
                values = [each.value for each in elements]
                return _deduce_class(context, symbol, values, node).type
    return context.unit.resolve_type(written, context.scope).type


def find_class_of_call(context: Context, symbol: Symbol, node: tree.FunctionCall) -> QualifiedType:
    """The type that `T(arguments)` makes."""
    if node.template_arguments:
        symbol = find_own_template(context, symbol) or symbol
    match symbol:
        case ClassTemplate() if node.template_arguments:
            return find_class(context, symbol, node.template_arguments, node)
        case ClassTemplate():
            assert isinstance(node.callee, tree.Name)
            own = context.unit.find_type(node.callee.text, context.scope)
            return own or _deduce_class(context, symbol, node.arguments, node)
        case AliasTemplate():
            return find_alias(context, symbol, node.template_arguments, node)
        case StructDefinition(type=type_):
            return QualifiedType(type_)
        case Alias(type=found):
            return found
        case _:
            raise AssertionError("this is no type")


def _deduce_class(
    context: Context,
    template: ClassTemplate,
    arguments: Sequence[tree.Expression | tree.Braces],
    node: tree.Node,
) -> QualifiedType:
    """The class that arguments say a template makes (C++17, [over.match.class.deduct])."""
    own = context.unit.find_type(template.name, context.scope)
    if own is not None:
        return own
    given = take_arguments(context, arguments)
    definition = template.definition
    parameters = definition.template_parameters
    if template.name == "array" and given:
        return _deduce_array(context, template, given, node)
    if template.name == "tuple" and given:
        types = [Alias(QualifiedType(each.value.type)) for each in given]
        scope = Scope(template.scope)
        scope.symbols[parameters[0].name] = Pack(tuple(types))
        return make_class(context, template, scope, node)
    makers = [
        each.parameters
        for each in definition.members
        if isinstance(each, tree.Function)
        and each.kind == "constructor"
        and len(each.parameters) == len(given)
        and not each.template_parameters
    ]
    fields = tuple(
        tree.Parameter(each.type, one.name)
        for each in definition.fields
        for one in each.declarators
    )
    for listed in (*makers, fields):
        scope = Scope(template.scope)
        if not Deduction(context, parameters, scope).match_call(listed, given):
            continue
        if all(
            each.name in scope.symbols or each.default is not None or each.is_pack
            for each in parameters
        ):
            bind_defaults(context, parameters, scope, template.name, node)
            return make_class(context, template, scope, node)
    message = f"the arguments do not say what the template arguments of '{template.name}' are"
    raise context.error(node, f"{message}; write them in angle brackets")


def _deduce_array(
    context: Context, template: ClassTemplate, given: Sequence[Given], node: tree.Node
) -> QualifiedType:
    """`std::array{1, 2, 3}`."""
    first = given[0].value.type
    count = tree.Integer(str(len(given)), position=node.position)
    scope = Scope(context.scope)
    scope.symbols["T"] = Alias(QualifiedType(first))
    with within_scope(context, scope):
        return find_class(context, template, (tree.Name("T"), count), node)


def evaluate_function_name(context: Context, symbol: Functions) -> Variable:
    """A function that is named without a call."""
    return Variable(symbol.name, make_function_value(context, symbol, ()))
