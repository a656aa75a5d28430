"""Classes from their text: layout, members, and what templates of classes are made to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ttmlir.cpp import tree
from ttmlir.cpp.errors import CppSyntaxError
from ttmlir.cpp.types import (
    ArrayType,
    IncompleteType,
    ObjectType,
    QualifiedType,
    ReferenceType,
    StructType,
    lay_out_struct,
    size_of,
)
from ttmlir.sim.kernels.context import Context
from ttmlir.sim.kernels.expressions.evaluating import evaluate_constant
from ttmlir.sim.kernels.limits import MAX_CALL_NESTING
from ttmlir.sim.kernels.scope import (
    AliasTemplate,
    ClassInfo,
    ClassTemplate,
    FieldName,
    Functions,
    LateVariable,
    Pack,
    Scope,
    StructDefinition,
    Symbol,
    walk,
)
from ttmlir.sim.kernels.templates.binding import (
    Deduction,
    bind_defaults,
    bind_explicit,
    key_of,
    show_arguments,
    within_scope,
)


def declare_struct(context: Context, node: tree.Struct) -> None:
    """Compile a class, or a class template, that stands in the scope of the context."""
    scope, unit = context.scope, context.unit
    unit.add_references((node.members, node.fields))
    known = None if node.name.startswith("(") else scope.symbols.get(node.name)
    if node.specialized is not None:
        _declare_specialization(context, node)
    elif node.template_parameters:
        _declare_template(context, node, known)
    elif not node.is_defined:
        if known is None:
            _reserve(context, node)
    else:
        if known is not None and not _is_incomplete(known):
            raise unit.error(node, f"'{node.name}' is declared twice")
        _define(context, node, known)


def _is_incomplete(symbol: Symbol) -> bool:
    return isinstance(symbol, StructDefinition) and isinstance(symbol.type, IncompleteType)


def _declare_template(context: Context, node: tree.Struct, known: Symbol | None) -> None:
    symbols = context.scope.symbols
    if isinstance(known, ClassTemplate):
        if node.is_defined and known.definition.is_defined:
            raise context.error(node, f"'{node.name}' is declared twice")
        if node.is_defined:
            known.definition = _keep_defaults(node, known.definition)
        return
    if known is not None:
        raise context.error(node, f"'{node.name}' is declared twice")
    symbols[node.name] = ClassTemplate(node.name, node, context.scope)


def _keep_defaults(node: tree.Struct, before: tree.Struct) -> tree.Struct:
    """A definition with the default arguments of the declaration before it."""
    pairs = zip(node.template_parameters, before.template_parameters, strict=False)
    parameters = tuple(
        each if each.default is not None else replace(each, default=old.default)
        for each, old in pairs
    )
    return replace(node, template_parameters=parameters)


def _declare_specialization(context: Context, node: tree.Struct) -> None:
    template = context.unit.find(node.name, context.scope)
    if not isinstance(template, ClassTemplate):
        raise context.error(node, f"there is no class template '{node.name}' to specialise")
    template.specializations.append(node)


def _reserve(context: Context, node: tree.Struct) -> int:
    """A number for a class whose members come later."""
    structs = context.unit.structs
    itself = IncompleteType(node.name, len(structs))
    structs.append(itself)
    context.scope.symbols[node.name] = StructDefinition(itself)
    return itself.number


def _define(context: Context, node: tree.Struct, known: Symbol | None) -> None:
    if isinstance(known, StructDefinition) and isinstance(known.type, IncompleteType):
        number = known.type.number
    else:
        number = _reserve(context, node)
    made = define_class(context, node, number, node.name)
    context.scope.symbols[node.name] = StructDefinition(made)


def define_class(
    context: Context,
    node: tree.Struct,
    number: int,
    name: str,
    template: ClassTemplate | None = None,
    arguments: tuple[Symbol, ...] = (),
) -> StructType:
    """The class of a number with all of its members; the context's scope is around it."""
    unit = context.unit
    scope = Scope(context.scope)
    scope.owner = number
    info = ClassInfo(node, scope, template=template, arguments=arguments)
    unit.classes[number] = info
    if template is not None:
        scope.symbols[node.name] = StructDefinition(unit.structs[number])
    bases = _find_bases(context, node)
    scope.more = tuple(unit.classes[each.number].scope for each in bases)
    inner = Context(unit, scope, context.handlers)
    _declare_members(inner, info, node)
    members = list[tuple[str, QualifiedType]]()
    for field in node.fields:
        unit.spend(field)
        members += _declare_fields(inner, info, field)
    made = lay_out_struct(name, number, members, bases, is_union=node.kind == "union")
    unit.structs[number] = made
    if template is not None:
        scope.symbols[node.name] = StructDefinition(made)
    for each in node.members:
        if isinstance(each, tree.StaticAssert):
            inner.execute(each)
    return made


def _find_bases(context: Context, node: tree.Struct) -> list[StructType]:
    bases = list[StructType]()
    for each in node.bases:
        type_ = context.unit.resolve_type(each, context.scope).type
        if isinstance(type_, IncompleteType) or not isinstance(type_, StructType):
            raise context.error(each, f"'{type_.name}' cannot be a base")
        bases.append(type_)
    if any(each.fields for each in bases[1:]):
        raise context.error(node, "only the first base of a class can have members with values")
    return bases


def _declare_fields(
    context: Context, info: ClassInfo, field: tree.Declaration
) -> list[tuple[str, QualifiedType]]:
    """The members that a declaration gives each object."""
    unit = context.unit
    base = unit.resolve_type(field.type, context.scope)
    if not field.declarators:
        assert isinstance(field.type, tree.NamedType)
        _name_inner_fields(context, base.type)
        return [(field.type.name, base)]
    members = list[tuple[str, QualifiedType]]()
    for each in field.declarators:
        type_ = base.type
        for size in reversed(each.sizes):
            if size is None:
                raise unit.error(each, "the size of this array is missing")
            count = evaluate_constant(context, size, "the size of an array")
            if count < 0:
                raise unit.error(each, f"an array of {count} elements is not supported")
            type_ = ArrayType(type_, count)
        if isinstance(field.type, tree.Reference):
            type_ = ReferenceType(type_, base.const, base.volatile)
        is_held = isinstance(type_, ObjectType)
        if size_of(type_) is None and not is_held:
            raise unit.error(each, f"a member of type '{type_.name}' is not supported")
        unit.spend(each)
        if isinstance(context.scope.symbols.get(each.name), FieldName):
            raise unit.error(each, f"'{each.name}' is declared twice")
        members.append((each.name, replace(base, type=type_)))
        context.scope.symbols[each.name] = FieldName(each.name)
        if each.value is not None:
            info.defaults[each.name] = each.value
    return members


def _name_inner_fields(context: Context, type_: object) -> None:
    """The members of an unnamed struct or union are named as those of the one around it."""
    if not isinstance(type_, StructType):
        return
    for field in type_.fields:
        if field.name.startswith("("):
            _name_inner_fields(context, field.type)
        else:
            context.scope.symbols[field.name] = FieldName(field.name)


def _declare_members(context: Context, info: ClassInfo, node: tree.Struct) -> None:
    """Types, static members and functions; these are compiled when they are used."""
    for each in node.members:
        context.unit.spend(each)
        _declare_member(context, info, each)
    if info.template is not None:
        for function in info.template.methods:
            _define_member_function(context, info, function)
    if info.has_default and info.constructors:
        # `T() = default;` beside other constructors; without any the class is an aggregate.
        default = tree.Function(node.name, (), tree.Block(), kind="constructor")
        info.constructors = (*info.constructors, replace(default, position=node.position))


def _declare_member(context: Context, info: ClassInfo, each: tree.ClassMember) -> None:
    match each:
        case tree.Function():
            _declare_member_function(context, info, each)
        case tree.Declaration():
            for declarator in each.declarators:
                late = LateVariable(each, declarator, info.scope)
                context.scope.symbols[declarator.name] = late
        case tree.Struct():
            declare_struct(context, each)
        case tree.Alias(template_parameters=(_, *_)):
            context.scope.symbols[each.name] = AliasTemplate(each, context.scope)
        case tree.Alias() | tree.Enumeration():
            context.execute(each)
        case tree.UsingName(name=name):
            _use_member(context, each, name)
        case tree.StaticAssert():
            pass


def _use_member(context: Context, node: tree.UsingName, name: str) -> None:
    """`using Base::name;`."""
    symbol = context.unit.find(name, context.scope)
    if symbol is not None:
        context.scope.symbols[name.rpartition("::")[2]] = symbol


def _declare_member_function(context: Context, info: ClassInfo, function: tree.Function) -> None:
    if function.kind == "constructor" and _is_copying(info, function):
        info.copying = function
    if function.is_deleted:
        return
    match function.kind:
        case "constructor" if function.is_defaulted:
            info.has_default = info.has_default or not function.parameters
        case "constructor":
            info.constructors = (*info.constructors, function)
        case "conversion":
            info.conversions = (*info.conversions, function)
        case "destructor":
            info.destructor = function
        case "function" if "friend" in function.specifiers:
            info.friends = info.friends or Scope(context.scope)
            add_function(info.friends, function)
        case "function":
            add_function(context.scope, function)


def _is_copying(info: ClassInfo, function: tree.Function) -> bool:
    """Whether a constructor makes a copy in another way than member by member."""
    if function.is_defaulted or not function.parameters:
        return False
    first, *others = function.parameters
    if not isinstance(first.type, tree.Reference) or any(each.default is None for each in others):
        return False
    named = first.type.referent
    return isinstance(named, tree.NamedType) and named.name == info.node.name


def add_function(scope: Scope, function: tree.Function) -> None:
    """Add a function to those of its name."""
    known = scope.symbols.get(function.name)
    before = known.definitions if isinstance(known, Functions) else ()
    scope.symbols[function.name] = Functions(function.name, (*before, function), scope)


def define_outside(context: Context, function: tree.Function) -> None:
    """A member function that is defined outside of its class."""
    scope = function.scope
    assert isinstance(scope, tree.NamedType)
    symbol = context.unit.find(scope.name, context.scope)
    context.unit.add_reference(function.name, function.parameters)
    if isinstance(symbol, ClassTemplate):
        symbol.methods.append(function)
        return
    found = context.unit.find_type(scope.name, context.scope)
    number = getattr(None if found is None else found.type, "number", None)
    info = context.unit.classes.get(number) if isinstance(number, int) else None
    if info is None:
        raise context.error(function, f"there is no class '{scope.name}'")
    inner = Context(context.unit, info.scope, context.handlers)
    _define_member_function(inner, info, function)


def _define_member_function(context: Context, info: ClassInfo, function: tree.Function) -> None:
    """Put a definition in the place of the declaration in the class."""

    def replaced(known: Sequence[tree.Function]) -> tuple[tree.Function, ...]:
        found = False
        result = list[tree.Function]()
        for each in known:
            if not found and each.definition is None and _is_declared_by(each, function):
                found = True
                body = replace(
                    each,
                    definition=function.definition,
                    parameters=_join_parameters(each, function),
                    initializers=function.initializers,
                )
                result.append(body)
            else:
                result.append(each)
        if not found:
            raise context.error(function, f"the class declares no such '{function.name}'")
        return tuple(result)

    if function.kind == "constructor":
        info.constructors = replaced(info.constructors)
        return
    if function.kind == "destructor":
        info.destructor = function
        return
    known = info.scope.symbols.get(function.name)
    if not isinstance(known, Functions):
        raise context.error(function, f"the class declares no '{function.name}'")
    info.scope.symbols[function.name] = replace(known, definitions=replaced(known.definitions))


def _is_declared_by(declared: tree.Function, defined: tree.Function) -> bool:
    types = [each.type for each in declared.parameters]
    is_same = types == [each.type for each in defined.parameters]
    return is_same and declared.is_const == defined.is_const


def _join_parameters(declared: tree.Function, defined: tree.Function) -> tuple[tree.Parameter, ...]:
    """The names of the definition with the default arguments of the declaration."""
    pairs = zip(declared.parameters, defined.parameters, strict=True)
    return tuple(replace(new, default=old.default or new.default) for old, new in pairs)


# Templates.


def find_class(
    context: Context,
    template: ClassTemplate,
    arguments: Sequence[tree.TemplateArgument],
    node: tree.Node,
) -> QualifiedType:
    """The class that a template makes of arguments, whose names are those of the context."""
    scope = Scope(template.scope)
    parameters = template.definition.template_parameters
    bind_explicit(context, parameters, arguments, scope, template.name)
    bind_defaults(context, parameters, scope, template.name, node)
    return make_class(context, template, scope, node)


def make_class(
    context: Context, template: ClassTemplate, scope: Scope, node: tree.Node
) -> QualifiedType:
    """The class that a template makes of what a scope gives its parameters."""
    unit = context.unit
    parameters = template.definition.template_parameters
    symbols = tuple(
        scope.symbols[each.name or f"(parameter {number})"]
        for number, each in enumerate(parameters)
    )
    key = (id(template), tuple(map(key_of, symbols)))
    known = unit.specializations.get(key)
    if known is not None:
        return QualifiedType(_latest(context, known))
    name = show_arguments(template.name, parameters, scope)
    if template.scope in unit.namespaces.values():
        path = next(x for x, each in unit.namespaces.items() if each is template.scope)
        name = f"{path}::{name}" if path == "std" else name
    definition, inner = _choose_specialization(context, template, symbols, scope)
    if name.startswith("std::tuple<"):
        definition, inner = _define_tuple(definition, symbols, scope)
    if not definition.is_defined:
        raise context.error(node, f"'{name}' is declared but never defined")
    if len(unit.instantiations) >= MAX_CALL_NESTING:
        message = f"'{name}' is the last of {MAX_CALL_NESTING} templates that need each other"
        raise context.error(node, message)
    number = len(unit.structs)
    unit.structs.append(IncompleteType(name, number))
    unit.specializations[key] = QualifiedType(unit.structs[number])
    unit.instantiations.append((name, node))
    try:
        with within_scope(context, inner):
            made = define_class(context, definition, number, name, template, symbols)
    except Exception:
        del unit.specializations[key]
        raise
    finally:
        unit.instantiations.pop()
    unit.specializations[key] = QualifiedType(made)
    return QualifiedType(made)


def _define_tuple(
    definition: tree.Struct, symbols: Sequence[Symbol], scope: Scope
) -> tuple[tree.Struct, Scope]:
    """A tuple: it has a member for each of its types."""
    (pack,) = symbols
    assert isinstance(pack, Pack)
    inner = Scope(scope)
    fields = list[tree.Declaration]()
    for number, each in enumerate(pack.symbols):
        inner.symbols[f"Type{number}"] = each
        declarator = tree.Declarator(f"element{number}")
        fields.append(tree.Declaration(tree.NamedType(f"Type{number}"), (declarator,)))
    return replace(definition, fields=tuple(fields)), inner


def _latest(context: Context, known: QualifiedType) -> StructType | IncompleteType:
    assert isinstance(known.type, (StructType, IncompleteType))
    return context.unit.structs[known.type.number]


def _choose_specialization(
    context: Context, template: ClassTemplate, symbols: Sequence[Symbol], scope: Scope
) -> tuple[tree.Struct, Scope]:
    """The text of a class for template arguments, with what its own parameters stand for."""
    best: tuple[tree.Struct, Scope] | None = None
    for each in template.specializations:
        assert each.specialized is not None
        inner = Scope(template.scope)
        deduction = Deduction(context, each.template_parameters, inner)
        listed = [one for x in symbols for one in (x.symbols if isinstance(x, Pack) else (x,))]
        if not _matches(context, deduction, each, listed):
            continue
        if best is None or _is_narrower(each, best[0]):
            best = (each, inner)
    return best or (template.definition, scope)


def _matches(
    context: Context, deduction: Deduction, node: tree.Struct, symbols: Sequence[Symbol]
) -> bool:
    assert node.specialized is not None
    try:
        if not deduction.match_arguments(node.specialized, symbols):
            return False
        parameters = node.template_parameters
        bind_defaults(context, parameters, deduction.scope, node.name, node)
        return all(x.name in deduction.scope.symbols for x in parameters if x.name)
    except CppSyntaxError:
        return False


def _is_narrower(a: tree.Struct, b: tree.Struct) -> bool:
    """Whether a specialisation is for fewer classes than another one."""
    return _measure(a) > _measure(b)


def _measure(node: tree.Struct) -> int:
    names = {each.name for each in node.template_parameters}
    total = -len(names)
    for each in walk(node.specialized):
        match each:
            case tree.Name(text=name) | tree.NamedType(name=name):
                total += name not in names
            case tree.Expansion():
                total -= 1
            case _:
                total += 1
    return total


def find_alias(
    context: Context,
    template: AliasTemplate,
    arguments: Sequence[tree.TemplateArgument],
    node: tree.Node,
) -> QualifiedType:
    """The type that an alias with template parameters means."""
    definition = template.definition
    scope = Scope(template.scope)
    bind_explicit(context, definition.template_parameters, arguments, scope, definition.name)
    bind_defaults(context, definition.template_parameters, scope, definition.name, node)
    if len(context.unit.instantiations) >= MAX_CALL_NESTING:
        raise context.error(node, f"'{definition.name}' needs itself")
    context.unit.instantiations.append((definition.name, node))
    try:
        return context.unit.resolve_type(definition.type, scope)
    finally:
        context.unit.instantiations.pop()
