"""Lookup of names with template arguments, or within types."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import reduce

from ttmlir.cpp import tree
from ttmlir.cpp.errors import CppSyntaxError
from ttmlir.cpp.types import (
    BOOL,
    UNSIGNED,
    VOID,
    ArrayType,
    CType,
    EnumType,
    Field,
    FloatType,
    IntType,
    ObjectType,
    PointerType,
    QualifiedType,
    ReferenceType,
    SignatureType,
    StructType,
    find_common_type,
    find_integer_type,
    has_constant_member,
    is_same_type,
    tag_of,
)
from ttmlir.errors import plural
from ttmlir.sim.kernels.classes import find_alias, find_class, make_class
from ttmlir.sim.kernels.context import Context
from ttmlir.sim.kernels.destructors import ends_with_effect
from ttmlir.sim.kernels.expressions.accessor_types import find_layout_flag
from ttmlir.sim.kernels.expressions.initial_values import Given
from ttmlir.sim.kernels.expressions.lvalues import evaluate_constant
from ttmlir.sim.kernels.expressions.own_calls import make_function_value, take_arguments
from ttmlir.sim.kernels.packs import expand_all, read_as_value
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
from ttmlir.sim.kernels.templates import (
    CallOfOwn,
    Deduction,
    bind_defaults,
    bind_explicit,
    choose_function,
    key_of,
    within_scope,
)
from ttmlir.sim.kernels.value import make_integer

# --- Traits ---------------------------------------------------------------------------------------
# The traits of `<type_traits>` that ask about types, or make types of types.

_Ask = Callable[[QualifiedType], bool]


def _is_integral(given: QualifiedType) -> bool:
    return isinstance(given.type, IntType) and not isinstance(given.type, EnumType)


def _is_arithmetic(given: QualifiedType) -> bool:
    return _is_integral(given) or isinstance(given.type, FloatType)


def _is_signed(given: QualifiedType) -> bool:
    type_ = given.type
    return isinstance(type_, FloatType) or (isinstance(type_, IntType) and type_.signed)


def _is_unsigned(given: QualifiedType) -> bool:
    return _is_integral(given) and not _is_signed(given)


_ASKED: Mapping[str, _Ask] = {
    "is_integral": _is_integral,
    "is_arithmetic": _is_arithmetic,
    "is_fundamental": lambda given: _is_arithmetic(given) or given.type == VOID,
    "is_floating_point": lambda given: isinstance(given.type, FloatType),
    "is_signed": _is_signed,
    "is_unsigned": _is_unsigned,
    "is_enum": lambda given: isinstance(given.type, EnumType),
    "is_pointer": lambda given: isinstance(given.type, PointerType),
    "is_array": lambda given: isinstance(given.type, ArrayType),
    "is_const": lambda given: given.const,
    "is_void": lambda given: given.type == VOID,
    "is_class": lambda given: isinstance(given.type, (StructType, ObjectType)),
    "is_function": lambda given: isinstance(given.type, SignatureType),
    "is_union": lambda given: isinstance(given.type, StructType) and given.type.is_union,
    "is_scalar": lambda given: isinstance(given.type, (IntType, FloatType, PointerType)),
    "is_standard_layout": lambda given: True,
    "is_default_constructible": lambda given: not has_constant_member(given.type),
}
"""Traits of one type with a truth; a name may end in `_v`."""


_REFERENCES: Mapping[str, tuple[str, ...]] = {
    "is_lvalue_reference": ("&",),
    "is_rvalue_reference": ("&&",),
    "is_reference": ("&", "&&"),
}
"""Traits that ask how a type refers."""


def _make_unsigned(given: QualifiedType) -> CType:
    type_ = given.type
    return find_integer_type(type_.bits, False) if isinstance(type_, IntType) else type_


def _make_signed(given: QualifiedType) -> CType:
    type_ = given.type
    return find_integer_type(type_.bits, True) if isinstance(type_, IntType) else type_


def _decay(given: QualifiedType) -> CType:
    type_ = given.type
    return PointerType(type_.element) if isinstance(type_, ArrayType) else type_


def _underlying(given: QualifiedType) -> CType:
    return given.type.underlying if isinstance(given.type, EnumType) else given.type


def _remove_pointer(given: QualifiedType) -> CType:
    return given.type.pointee if isinstance(given.type, PointerType) else given.type


def _requalify(given: QualifiedType, **qualifiers: bool) -> QualifiedType:
    """The type with other qualifiers of its own, of which references have none."""
    return given if given.reference else replace(given, **qualifiers)


def _refer(given: QualifiedType, reference: str) -> QualifiedType:
    return given if given.type == VOID else given.refer(reference)


_CHANGED: Mapping[str, Callable[[QualifiedType], QualifiedType]] = {
    "remove_cv_t": lambda given: _requalify(given, const=False, volatile=False),
    "remove_const_t": lambda given: _requalify(given, const=False),
    "remove_volatile_t": lambda given: _requalify(given, volatile=False),
    "remove_reference_t": lambda given: replace(given, reference=""),
    "remove_cvref_t": lambda given: QualifiedType(given.type),
    "add_const_t": lambda given: _requalify(given, const=True),
    "add_lvalue_reference_t": lambda given: _refer(given, "&"),
    "add_rvalue_reference_t": lambda given: _refer(given, "&&"),
    "type_identity_t": lambda given: given,
    "decay_t": lambda given: QualifiedType(_decay(given)),
    "make_unsigned_t": lambda given: QualifiedType(_make_unsigned(given)),
    "make_signed_t": lambda given: QualifiedType(_make_signed(given)),
    "underlying_type_t": lambda given: QualifiedType(_underlying(given)),
    "add_pointer_t": lambda given: QualifiedType(
        PointerType(given.type, given.volatile, given.const)
    ),
    "remove_pointer_t": lambda given: QualifiedType(_remove_pointer(given)),
}
"""Types that are made of one type."""


def _strip(name: str) -> str | None:
    """The name of a trait without its namespace; None if it is not of `std`."""
    bare = name.removeprefix("::")
    return bare.removeprefix("std::") if bare.startswith("std::") else None


def find_trait_value(context: Context, node: tree.Name) -> Symbol | None:
    """The truth of a trait such as `std::is_same_v<A, B>`; None if a name is none."""
    name = _strip(node.text)
    if name is None or not name.endswith("_v"):
        return None
    arguments = expand_all(context, node.template_arguments)
    return _find_truth(context, name.removesuffix("_v"), arguments, node)


def _find_truth(
    context: Context, name: str, arguments: Sequence[tree.TemplateArgument], node: tree.Node
) -> Symbol | None:
    def resolve(number: int) -> QualifiedType:
        if number >= len(arguments):
            raise context.error(
                node, f"'std::{name}' needs {plural(number + 1, 'template argument')}"
            )
        return context.unit.resolve_type(arguments[number], context.scope)

    truth: bool | None = None
    if name in _PLAIN:
        truth = _is_plain(context, name, resolve(0).type)
    elif name in _ASKED:
        given = resolve(0)
        truth = not given.reference and _ASKED[name](given)
    elif name == "is_same":
        truth = is_same(resolve(0), resolve(1))
    elif name in _REFERENCES:
        truth = resolve(0).reference in _REFERENCES[name]
    elif name == "is_base_of":
        base, derived = resolve(0).type, resolve(1).type
        truth = isinstance(derived, StructType) and derived.derives_from(base)
    elif name == "is_convertible":
        truth = _converts(resolve(0).type, resolve(1).type)
    elif name in ("tuple_size", "extent"):
        return Variable(name, make_integer(_count(resolve(0).type), UNSIGNED))
    return None if truth is None else Variable(name, make_integer(truth, BOOL))


def is_same(a: QualifiedType, b: QualifiedType) -> bool:
    """Whether two types are one."""
    if (a.const, a.volatile, a.reference) != (b.const, b.volatile, b.reference):
        return False
    is_character = "char" in (a.type.name, b.type.name)
    if is_character and a.type.name != b.type.name:
        return False
    return tag_of(a.type) == tag_of(b.type) and is_same_type(a.type, b.type)


_PLAIN = (
    *("is_trivially_copyable", "is_trivially_destructible", "is_trivial", "is_aggregate"),
    *("is_copy_assignable", "is_copy_constructible", "is_trivially_default_constructible"),
)


def _is_plain(context: Context, name: str, type_: CType) -> bool:
    """Traits that ask how objects of a class are made, copied and ended."""
    info = context.unit.classes.get(type_.number) if isinstance(type_, StructType) else None
    if name == "is_trivially_default_constructible":
        parts = type_.fields if isinstance(type_, StructType) else ()
        is_made = info is not None and bool(info.constructors or info.defaults)
        return not is_made and all(_is_plain(context, name, each.type) for each in parts)
    if name == "is_copy_assignable":
        own = () if info is None else (info.scope.find_here("operator="),)
        deleted = any(isinstance(x, Functions) and x.definitions[0].is_deleted for x in own)
        return not has_constant_member(type_) and not deleted
    if name == "is_copy_constructible":
        if info is not None and (info.copying or info.moving):
            return info.copying is not None and not info.copying.is_deleted
        parts = type_.fields if isinstance(type_, StructType) else ()
        is_whole = not isinstance(type_, (ArrayType, SignatureType)) and type_ != VOID
        return is_whole and all(_is_plain(context, name, _strip_arrays(x.type)) for x in parts)
    if name == "is_aggregate":
        is_closed = info is not None and bool(info.constructors or info.node.hidden)
        return isinstance(type_, (StructType, ArrayType)) and not is_closed
    if ends_with_effect(context, type_):
        return False
    if name == "is_trivially_destructible" or info is None:
        return True
    is_made = name == "is_trivial" and bool(info.constructors or info.defaults)
    own = (each for each in (info.copying, info.moving) if each is not None)
    return all(each.is_defaulted for each in own) and not is_made


def _strip_arrays(type_: CType) -> CType:
    while isinstance(type_, ArrayType):
        type_ = type_.element
    return type_


def _converts(source: CType, target: CType) -> bool:
    numbers = (IntType, FloatType)
    if isinstance(source, numbers) and isinstance(target, numbers):
        scoped = isinstance(source, EnumType) and source.is_scoped
        return not scoped and not isinstance(target, EnumType)
    if isinstance(source, StructType):
        return source.derives_from(target)
    return source == target


def _count(type_: CType) -> int:
    match type_:
        case ArrayType(count=count):
            return count
        case StructType(name=name, fields=fields) if name.startswith("std::array<"):
            inner = fields[0].type
            return inner.count if isinstance(inner, ArrayType) else 0
        case StructType(fields=fields):
            return len(fields)
        case _:
            return 0


def find_trait_type(
    context: Context, name: str, arguments: Sequence[tree.TemplateArgument], node: tree.Node
) -> QualifiedType | None:
    """The type that a trait such as `std::conditional_t` makes; None if a name is none."""
    bare = _strip(name)
    if bare is None:
        return None
    arguments = expand_all(context, arguments)
    unit, scope = context.unit, context.scope
    if bare in _CHANGED and len(arguments) == 1:
        return _CHANGED[bare](unit.resolve_type(arguments[0], scope))
    match bare:
        case "conditional_t" if len(arguments) == 3:
            truth = evaluate_constant(context, read_as_value(arguments[0]), "the condition")
            return unit.resolve_type(arguments[1 if truth else 2], scope)
        case "enable_if_t" if 1 <= len(arguments) <= 2:
            if not evaluate_constant(context, read_as_value(arguments[0]), "the condition"):
                raise context.error(node, "the condition of 'std::enable_if_t' does not hold")
            return (
                QualifiedType(VOID)
                if len(arguments) == 1
                else unit.resolve_type(arguments[1], scope)
            )
        case _:
            return _find_other_type(context, bare, arguments, node)


def _find_other_type(
    context: Context, bare: str, arguments: Sequence[tree.TemplateArgument], node: tree.Node
) -> QualifiedType | None:
    unit, scope = context.unit, context.scope
    match bare:
        case "void_t":
            for each in arguments:
                unit.resolve_type(each, scope)
            return QualifiedType(VOID)
        case "tuple_element_t" if len(arguments) == 2:
            number = evaluate_constant(context, read_as_value(arguments[0]), "a number")
            type_ = unit.resolve_type(arguments[1], scope).type
            if isinstance(type_, StructType) and 0 <= number < len(type_.fields):
                return _find_element(type_.fields[number])
            raise context.error(node, f"'{type_.name}' has no element {number}")
        case "byte":
            return QualifiedType(find_integer_type(8, False))
        case "common_type_t" if arguments:
            first, *rest = (unit.resolve_type(each, scope).type for each in arguments)
            return QualifiedType(reduce(_find_common, rest, first))
        case _:
            return None


def _find_common(a: CType, b: CType) -> CType:
    """What `condition ? a : b` is of."""
    match a, b:
        case _ if a == b:
            return a
        case IntType(), IntType():
            return find_common_type(a, b)
        case FloatType(), FloatType():
            return a if a.bits >= b.bits else b
        case _:
            return b if isinstance(a, IntType) else a


def _find_element(field: Field) -> QualifiedType:
    """The type that a member is declared with."""
    match field.type:
        case ReferenceType(referent=referent, const=const, volatile=volatile):
            reference = "&&" if field.type.is_rvalue else "&"
            return QualifiedType(referent, const, volatile, reference)
        case type_:
            return QualifiedType(type_, field.const)


# --- Templates ------------------------------------------------------------------------------------


def find_templated_type(context: Context, node: tree.NamedType | tree.Name) -> QualifiedType | None:
    """The type that a name with template arguments or within a type means; None if none."""
    name = node.name if isinstance(node, tree.NamedType) else node.text
    if node.scope is None:
        symbol = context.unit.find(name, context.scope)
    else:
        holder = context.unit.resolve_type(node.scope, context.scope).type
        symbol = _find_within(context, holder, name, node)
    arguments = node.template_arguments
    if arguments:
        symbol = find_own_template(context, symbol)
    match symbol:
        case ClassTemplate() if arguments:
            return find_class(context, symbol, arguments, node)
        case ClassTemplate():
            return _find_by_defaults(context, symbol, node)
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


def _find_by_defaults(
    context: Context, template: ClassTemplate, node: tree.NamedType | tree.Name
) -> QualifiedType | None:
    """The class that a template means within itself, or where its arguments have defaults."""
    own = context.unit.find_type(template.name, context.scope)
    parameters = template.definition.template_parameters
    if own is None and all(each.default or each.is_pack for each in parameters):
        return find_class(context, template, (), node)
    return own


def find_own_template(context: Context, symbol: Symbol | None) -> Symbol | None:
    """The template of a class that its own name means where template arguments follow."""
    if isinstance(symbol, StructDefinition):
        info = context.unit.classes.get(symbol.type.number)
        if info is not None and info.template is not None:
            return info.template
    return symbol


def _find_within(context: Context, holder: CType, name: str, node: tree.Node) -> Symbol | None:
    """The member of a type that a name denotes."""
    first, _, rest = name.partition("::")
    if isinstance(holder, StructType):
        context.unit.check_access(holder, first, node, context.scope)
    for scope in context.unit.find_members(holder):
        symbol = scope.find_here(first)
        if symbol is not None and rest:
            return context.unit.find(name, scope)
        if symbol is not None:
            return symbol
    return None


def find_templated_symbol(context: Context, node: tree.Name) -> Symbol | None:
    """The value that a name with template arguments or within a type denotes."""
    if node.scope is not None:
        holder = context.unit.resolve_type(node.scope, context.scope).type
        symbol = _find_within(context, holder, node.text, node)
        if symbol is None:
            if isinstance(holder, ObjectType):
                layout = ObjectType("TensorAccessorArgs", holder.arguments)
                known = find_layout_flag(context, layout, node.text)
                if known is not None:
                    return Variable(node.text, make_integer(known, BOOL))
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
    context: Context, written: tree.Type, elements: Sequence[tree.Initializer], node: tree.Node
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
    guided = _follow_guides(context, template, given, node) if template.guides else None
    if guided is not None:
        return guided
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


def _follow_guides(
    context: Context, template: ClassTemplate, given: Sequence[Given], node: tree.Node
) -> QualifiedType | None:
    """The class that deduction guides, or constructors beside them, make of arguments.

    None if they say nothing; a guide goes before a constructor that fits as well.
    """
    definition = template.definition
    names = (
        tree.Expansion(tree.Name(each.name)) if each.is_pack else tree.Name(each.name)
        for each in definition.template_parameters
    )
    own = tree.NamedType(template.name, tuple(names), position=node.position)
    makers = [
        replace(
            each,
            definition=tree.Block(),
            result=own,
            kind="function",
            template_parameters=(*definition.template_parameters, *each.template_parameters),
        )
        for each in definition.members
        if isinstance(each, tree.Function) and each.kind == "constructor"
    ]
    for listed in ([*template.guides, *makers], template.guides):
        functions = Functions(template.name, tuple(listed), template.scope)
        try:
            with context.unit.trying():
                chosen = choose_function(context, functions, CallOfOwn(node, (), given))
        except CppSyntaxError:
            continue
        return context.unit.resolve_type(chosen.function.result, chosen.scope)
    return None


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
