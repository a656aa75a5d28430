"""What the parameters of templates stand for: given, deduced, or by default."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import cast

from ttmlir.cpp import tree
from ttmlir.cpp.conversions import tag_of
from ttmlir.cpp.types import (
    UNSIGNED,
    ArrayType,
    FunctionType,
    IntType,
    ObjectType,
    PointerType,
    QualifiedType,
    StructType,
)
from ttmlir.sim.kernels.context import Context
from ttmlir.sim.kernels.expressions.conversions import convert_implicitly
from ttmlir.sim.kernels.expressions.evaluating import evaluate_scalar, fold_constant
from ttmlir.sim.kernels.expressions.given import Given
from ttmlir.sim.kernels.scope import (
    Alias,
    AliasTemplate,
    ClassTemplate,
    InScope,
    Pack,
    Scope,
    Symbol,
    Variable,
)
from ttmlir.sim.kernels.templates.packs import expand_all, read_as_value
from ttmlir.sim.kernels.value import Value, make_integer, settle

Parameters = Sequence[tree.TemplateParameter]


@contextmanager
def within_scope(context: Context, scope: Scope) -> Generator[None]:
    """Let names mean for a while what they do in another scope."""
    outer, context.scope = context.scope, scope
    try:
        yield
    finally:
        context.scope = outer


def key_of(symbol: Symbol) -> object:
    """What is the same for what template parameters cannot tell apart."""
    match symbol:
        case Alias(type=QualifiedType(type=type_, const=const, volatile=volatile)):
            return (tag_of(type_), const, volatile)
        case Variable(meaning=Value() as value):
            type_ = value.type
            return (value.constant, tag_of(type_) if isinstance(type_, FunctionType) else "")
        case Pack(symbols=symbols):
            return tuple(map(key_of, symbols))
        case _:
            return id(symbol)


def show_symbol(symbol: Symbol) -> str:
    """A template argument as messages and names of types show it."""
    match symbol:
        case Alias(type=QualifiedType(type=type_, const=const)):
            return f"{'const ' * const}{type_.name}"
        case Variable(meaning=Value() as value):
            if isinstance(value.type, FunctionType):
                return value.type.name
            constant = value.constant
            return str(constant).lower() if isinstance(constant, bool) else str(constant)
        case Pack(symbols=symbols):
            return ", ".join(map(show_symbol, symbols))
        case ClassTemplate(name=name):
            return name
        case _:
            return "?"


def show_arguments(name: str, parameters: Parameters, scope: Scope) -> str:
    """A template with its arguments: `f<int, 3>`."""
    known = [scope.symbols[each.name] for each in parameters if each.name in scope.symbols]
    return f"{name}<{', '.join(filter(None, map(show_symbol, known)))}>"


def bind_explicit(
    context: Context,
    parameters: Parameters,
    arguments: Sequence[tree.TemplateArgument],
    scope: Scope,
    name: str,
) -> None:
    """Give parameters the meanings of the arguments in angle brackets."""
    expanded = expand_all(context, arguments)
    for number, parameter in enumerate(parameters):
        if parameter.is_pack:
            rest = expanded[number:]
            if rest:
                bound = (bind_argument(context, parameter, each, scope) for each in rest)
                scope.symbols[parameter.name] = Pack(tuple(bound))
            return
        if number == len(expanded):
            return
        symbol = bind_argument(context, parameter, expanded[number], scope)
        scope.symbols[parameter.name or f"(parameter {number})"] = symbol
    if len(expanded) > len(parameters):
        raise context.error(expanded[-1], f"too many template arguments for '{name}'")


def bind_argument(
    context: Context,
    parameter: tree.TemplateParameter,
    argument: tree.TemplateArgument,
    scope: Scope,
) -> Symbol:
    """What a template argument means; its names are those of the context."""
    if parameter.is_template:
        return _find_template(context, argument)
    if parameter.type is None:
        return Alias(context.unit.resolve_type(argument, context.scope))
    inner: object = argument
    while isinstance(inner, InScope):
        inner = inner.node
    if isinstance(inner, (tree.Pointer, tree.Reference, tree.Decltype)) or (
        isinstance(inner, tree.NamedType)
    ):
        raise context.error(argument, f"'{parameter.name}' is a number, not a type")
    value = evaluate_scalar(context, read_as_value(argument))
    target = context.unit.resolve_declared_type(parameter.type, scope, value.type).type
    value = settle(convert_implicitly(context, value, target, argument))
    value = fold_constant(context, value)
    if value.constant is None:
        raise context.error(argument, "a template argument has to be a constant expression")
    return Variable(parameter.name, value)


def _find_template(context: Context, argument: tree.TemplateArgument) -> Symbol:
    match argument:
        case InScope(node=inner, scope=scope):
            with within_scope(context, scope):
                return _find_template(context, cast("tree.TemplateArgument", inner))
        case tree.Name(text=text) | tree.NamedType(name=text):
            symbol = context.unit.find(text, context.scope)
            if isinstance(symbol, (ClassTemplate, AliasTemplate)):
                return symbol
        case _:
            pass
    raise context.error(argument, "the template argument is a class template here")


def bind_defaults(
    context: Context, parameters: Parameters, scope: Scope, name: str, node: tree.Node
) -> None:
    """Give parameters that nothing else gives a meaning their defaults."""
    for number, parameter in enumerate(parameters):
        key = parameter.name or f"(parameter {number})"
        if key in scope.symbols:
            continue
        if parameter.is_pack:
            scope.symbols[key] = Pack(())
        elif parameter.default is not None:
            with within_scope(context, scope):
                scope.symbols[key] = bind_argument(context, parameter, parameter.default, scope)
        elif parameter.name:
            message = f"nothing says what '{parameter.name}' of '{name}' is"
            raise context.error(node, f"{message}; write it in angle brackets before the arguments")


# Deduction.


class Deduction:
    """What the types of arguments say about the parameters of a template."""

    def __init__(self, context: Context, parameters: Parameters, scope: Scope) -> None:
        """Those parameters that have no meaning in the scope are given one there."""
        self.context = context
        self.scope = scope
        self.open = {
            each.name: each
            for each in parameters
            if each.name and (each.name not in scope.symbols or each.is_pack)
        }

    def match_call(self, parameters: Sequence[tree.Parameter], given: Sequence[Given]) -> bool:
        """Whether the arguments of a call go with the types of parameters."""
        for number, parameter in enumerate(parameters):
            if parameter.is_pack:
                return self._match_pack(parameter.type, given[number:])
            if number == len(given):
                return True
            if not self._match_given(parameter.type, given[number]):
                return False
        return True

    def _match_given(self, pattern: tree.Type, given: Given) -> bool:
        if given.braces is not None or not self._is_open(pattern):
            return True
        if isinstance(pattern, tree.Reference):
            return self.match_type(pattern, QualifiedType(given.found.type, given.is_const))
        return self.match_type(pattern, QualifiedType(given.value.type))

    def _is_open(self, pattern: tree.Node) -> bool:
        """Whether a type names what has no meaning yet."""
        match pattern:
            case tree.NamedType(name=name, template_arguments=arguments):
                return name in self.open or any(map(self._is_open, arguments))
            case tree.Name(text=name, template_arguments=arguments):
                return name in self.open or any(map(self._is_open, arguments))
            case tree.Pointer(pointee=inner) | tree.Reference(referent=inner):
                return self._is_open(inner)
            case tree.ArrayOf(element=inner, size=size):
                return self._is_open(inner) or (size is not None and self._is_open(size))
            case tree.Expansion(pattern=inner):
                return self._is_open(inner)
            case tree.FunctionOf(result=result, parameters=parameters):
                return self._is_open(result) or any(self._is_open(x.type) for x in parameters)
            case _:
                return False

    def _match_pack(self, pattern: tree.Type, given: Sequence[Given]) -> bool:
        """Elements of a pack, each of which says what the names in the pattern are for it."""
        names = [name for name, each in self.open.items() if each.is_pack]
        named = [name for name in names if name not in self.scope.symbols]
        if not named:
            return True
        columns = {name: list[Symbol]() for name in named}
        for each in given:
            inner = Deduction(self.context, (), Scope(self.scope))
            inner.open = {
                name: replace(parameter, is_pack=False) for name, parameter in self.open.items()
            }
            if not inner._match_given(pattern, each):
                return False
            for name in named:
                if name not in inner.scope.symbols:
                    return True
                columns[name].append(inner.scope.symbols[name])
        for name, symbols in columns.items():
            self.scope.symbols[name] = Pack(tuple(symbols))
        return True

    def match_type(self, pattern: tree.Type, given: QualifiedType) -> bool:
        """Whether a type goes with the pattern of one."""
        match pattern, given.type:
            case tree.NamedType(name=name, template_arguments=(), scope=None), _ if (
                name in self.open
            ):
                const = given.const and "const" not in pattern.qualifiers
                return self._bind(name, Alias(replace(given, const=const)))
            case tree.NamedType(template_arguments=(_, *_)), _:
                return self._match_class(pattern, given)
            case tree.Pointer(pointee=tree.FunctionOf()), FunctionType():
                return True
            case tree.Pointer(pointee=inner), PointerType(pointee, volatile, const):
                return self.match_type(inner, QualifiedType(pointee, const, volatile))
            case tree.Pointer(pointee=inner), ArrayType(element=element):
                return self.match_type(inner, QualifiedType(element, given.const))
            case tree.Pointer(), _:
                return False
            case tree.Reference(referent=inner), _:
                return self.match_type(inner, given)
            case tree.ArrayOf(), _:
                return self._match_array(pattern, given)
            case _:
                return True

    def _match_array(self, pattern: tree.ArrayOf, given: QualifiedType) -> bool:
        array = given.type
        if not isinstance(array, ArrayType):
            return False
        if not self.match_type(pattern.element, QualifiedType(array.element, given.const)):
            return False
        number = Variable("", make_integer(array.count, UNSIGNED))
        return pattern.size is None or self.match_argument(pattern.size, number)

    def _match_class(self, pattern: tree.NamedType, given: QualifiedType) -> bool:
        """Whether a class is made from the template that a pattern names, or one of its bases."""
        if isinstance(given.type, ObjectType):
            return True
        if not isinstance(given.type, StructType):
            return False
        info = self.context.unit.classes.get(given.type.number)
        symbol = self.context.unit.find(pattern.name, self.scope)
        if info is not None and info.template is not None:
            if pattern.name in self.open and self.open[pattern.name].is_template:
                return self._bind(pattern.name, info.template) and self.match_arguments(
                    pattern.template_arguments, info.arguments
                )
            if symbol is info.template:
                return self.match_arguments(pattern.template_arguments, info.arguments)
        if isinstance(symbol, AliasTemplate):
            return self._match_alias(pattern, symbol, given)
        return any(self._match_class(pattern, QualifiedType(x)) for x in given.type.bases)

    def _match_alias(
        self, pattern: tree.NamedType, alias: AliasTemplate, given: QualifiedType
    ) -> bool:
        """Whether a type is what an alias with template parameters means."""
        parameters = alias.definition.template_parameters
        inner = Deduction(self.context, parameters, Scope(alias.scope))
        if not inner.match_type(alias.definition.type, given):
            return False
        known = inner.scope.symbols
        if any(each.name not in known for each in parameters):
            return True
        symbols = [known[each.name] for each in parameters]
        return self.match_arguments(pattern.template_arguments, symbols)

    def match_arguments(
        self, patterns: Sequence[tree.TemplateArgument], symbols: Sequence[Symbol]
    ) -> bool:
        """Whether template arguments go with the patterns of some."""
        listed = list[Symbol]()
        for each in symbols:
            listed += each.symbols if isinstance(each, Pack) else (each,)
        for number, pattern in enumerate(patterns):
            if isinstance(pattern, tree.Expansion):
                return self._match_rest(pattern.pattern, listed[number:])
            if number >= len(listed) or not self.match_argument(pattern, listed[number]):
                return False
        return len(patterns) == len(listed)

    def _match_rest(self, pattern: tree.TemplateArgument, symbols: Sequence[Symbol]) -> bool:
        match pattern:
            case tree.Name(text=name) | tree.NamedType(name=name) if name in self.open:
                return self._bind(name, Pack(tuple(symbols)))
            case _:
                return False

    def match_argument(self, pattern: tree.TemplateArgument, symbol: Symbol) -> bool:
        """Whether a template argument goes with a pattern."""
        match pattern:
            case tree.Name(text=name, template_arguments=(), scope=None) if name in self.open:
                return self._bind(name, symbol)
            case tree.Name(text=name, template_arguments=(_, *_) as arguments, scope=scope) if (
                isinstance(symbol, Alias)
            ):
                written = tree.NamedType(name, arguments, (), scope, position=pattern.position)
                if self._is_open(written):
                    return self.match_type(written, symbol.type)
            case tree.NamedType() | tree.Pointer() | tree.Reference() if isinstance(symbol, Alias):
                if self._is_open(pattern):
                    if isinstance(pattern, tree.NamedType) and "const" in pattern.qualifiers:
                        return symbol.type.const and self.match_type(pattern, symbol.type)
                    return self.match_type(pattern, symbol.type)
            case _:
                pass
        return self._is_same(pattern, symbol)

    def _is_same(self, pattern: tree.TemplateArgument, symbol: Symbol) -> bool:
        """Whether a pattern without open names means the same as an argument."""
        is_type = isinstance(symbol, Alias)
        parameter = tree.TemplateParameter("", None if is_type else tree.NamedType("auto"))
        if isinstance(symbol, (ClassTemplate, AliasTemplate)):
            parameter = replace(parameter, is_template=True)
        with within_scope(self.context, self.scope):
            meant = bind_argument(self.context, parameter, pattern, self.scope)
        return key_of(meant) == key_of(symbol)

    def _bind(self, name: str, symbol: Symbol) -> bool:
        """Give a name a meaning; whether it has no other one."""
        known = self.scope.symbols.get(name)
        if known is None:
            parameter = self.open[name]
            if parameter.type is not None and isinstance(symbol, Variable):
                symbol = self._convert_number(parameter, symbol)
            self.scope.symbols[name] = symbol
            return True
        return key_of(known) == key_of(symbol)

    def _convert_number(self, parameter: tree.TemplateParameter, symbol: Variable) -> Symbol:
        value = symbol.meaning
        if not isinstance(value, Value) or not isinstance(value.type, IntType):
            return symbol
        assert parameter.type is not None
        unit = self.context.unit
        target = unit.resolve_declared_type(parameter.type, self.scope, value.type).type
        if isinstance(target, IntType):
            return Variable(parameter.name, make_integer(int(value.constant or 0), target))
        return symbol
