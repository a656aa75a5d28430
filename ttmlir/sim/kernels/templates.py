"""Templates: binding of parameters, packs, overloads, and classes made from templates."""

from __future__ import annotations

import ast
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import cast

from ttmlir.cpp import tree
from ttmlir.cpp.errors import CppSyntaxError
from ttmlir.cpp.types import (
    BOOL,
    CHAR,
    NULL,
    UNSIGNED,
    ArrayType,
    CType,
    EnumType,
    FloatType,
    FunctionType,
    IntType,
    MemberPointerType,
    MemberType,
    ObjectType,
    PointerType,
    QualifiedType,
    SignatureType,
    StringType,
    StructType,
    complete_type,
    is_deduced,
    is_like_tuple,
    is_same_type,
    is_scoped,
    may_point,
    promote,
    tag_of,
)
from ttmlir.errors import plural
from ttmlir.light_dataclasses import dataclass
from ttmlir.sim.kernels.context import Context
from ttmlir.sim.kernels.expressions.initial_values import (
    Given,
    find_list_element,
    find_type_of_elements,
    is_list,
)
from ttmlir.sim.kernels.expressions.lvalues import (
    convert_implicitly,
    evaluate_scalar,
    fold_constant,
)
from ttmlir.sim.kernels.library import ENUM_TYPES
from ttmlir.sim.kernels.packs import expand_all, expand_elements, read_as_value
from ttmlir.sim.kernels.python import code
from ttmlir.sim.kernels.python.code import is_literal
from ttmlir.sim.kernels.scope import (
    Alias,
    AliasTemplate,
    ClassTemplate,
    Functions,
    InScope,
    Pack,
    Scope,
    StructDefinition,
    Symbol,
    Variable,
    find_reference,
    list_used_names,
)
from ttmlir.sim.kernels.unit import Unit
from ttmlir.sim.kernels.value import (
    ItemLvalue,
    LocalLvalue,
    Lvalue,
    Value,
    make_integer,
    make_value,
    promote_value,
    settle,
)

# --- Template binding -----------------------------------------------------------------------------
# What the parameters of templates stand for: given, deduced, or by default.

Parameters = Sequence[tree.TemplateParameter]


@contextmanager
def within_scope(context: Context, scope: Scope) -> Generator[None]:
    """Look names up in another scope for a while."""
    outer, context.scope = context.scope, scope
    try:
        yield
    finally:
        context.scope = outer


def _list_defaults(template: ClassTemplate, count: int) -> Iterator[tree.TemplateArgument]:
    """The default arguments behind so many that are given, up to one that depends on others."""
    parameters = template.definition.template_parameters
    names = {each.name for each in parameters}
    for each in parameters[count:]:
        if each.default is None or names & list_used_names(each.default):
            return
        default = InScope(each.default, template.scope, position=each.position)
        yield cast("tree.Expression", default)


def key_of(symbol: Symbol) -> object:
    """Equal for template arguments that name the same instance."""
    match symbol:
        case Alias(type=QualifiedType(type=type_, const=const, volatile=volatile)):
            return (tag_of(type_), const, volatile, symbol.type.reference)
        case Variable(storage=Value() as value):
            type_ = value.type
            if isinstance(type_, StructType):
                return (tag_of(type_), ast.dump(value.node))
            is_told = isinstance(type_, (FunctionType, EnumType))
            return (value.constant, tag_of(type_) if is_told else "")
        case Pack(symbols=symbols):
            return tuple(map(key_of, symbols))
        case _:
            return id(symbol)


def show_symbol(symbol: Symbol) -> str:
    """A template argument as messages and names of types show it."""
    match symbol:
        case Alias(type=QualifiedType(type=type_, const=const, reference=reference)):
            return f"{'const ' * const}{type_.name}{reference}"
        case Variable(storage=Value() as value):
            if isinstance(value.type, FunctionType):
                return value.type.name
            if isinstance(value.type, StructType):
                return f"{value.type.name}{{...}}"
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
    """Bind parameters to the arguments in angle brackets."""
    expanded = expand_all(context, arguments)
    for number, parameter in enumerate(parameters):
        key = parameter.name or f"(parameter {number})"
        if parameter.is_pack:
            rest = expanded[number:]
            if rest:
                bound = (bind_argument(context, parameter, each, scope) for each in rest)
                scope.symbols[key] = Pack(tuple(bound))
            return
        if number == len(expanded):
            return
        scope.symbols[key] = bind_argument(context, parameter, expanded[number], scope)
    if len(expanded) > len(parameters):
        raise context.error(expanded[-1], f"too many template arguments for '{name}'")


def bind_argument(
    context: Context,
    parameter: tree.TemplateParameter,
    argument: tree.TemplateArgument,
    scope: Scope,
) -> Symbol:
    """The value or type of a template argument; its names are looked up in the context."""
    if parameter.is_template:
        return _find_template(context, argument)
    if parameter.type is None:
        element = _find_element(argument)
        if element is not None:
            return element
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
    is_known = isinstance(value.type, StructType) and is_literal(value.node)
    if value.constant is None and not is_known:
        raise context.error(argument, "a template argument has to be a constant expression")
    return Variable(parameter.name, value)


def _find_element(argument: tree.TemplateArgument) -> Alias | None:
    """What a name stands for that is an element of a pack, if that is a type."""
    match argument:
        case InScope(node=tree.NamedType(name=name) as inner, scope=scope) if inner.is_plain:
            symbol = scope.symbols.get(name)
        case InScope(node=tree.Name(text=name, template_arguments=(), scope=None), scope=scope):
            symbol = scope.symbols.get(name)
        case _:
            return None
    is_complete = isinstance(symbol, Alias) and isinstance(symbol.type.type, StructType)
    return symbol if is_complete and isinstance(symbol, Alias) else None


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
    """Bind parameters that are not bound yet to their defaults."""
    for number, parameter in enumerate(parameters):
        key = parameter.name or f"(parameter {number})"
        if key in scope.symbols:
            continue
        if parameter.is_pack:
            scope.symbols[key] = Pack(())
        elif parameter.default is not None:
            with within_scope(context, scope):
                scope.symbols[key] = bind_argument(context, parameter, parameter.default, scope)
        else:
            which = f"'{parameter.name}'" if parameter.name else f"parameter {number + 1}"
            message = f"nothing says what {which} of '{name}' is"
            raise context.error(node, f"{message}; write it in angle brackets")


# Deduction.


class Deduction:
    """Template arguments deduced from the types of arguments."""

    def __init__(self, context: Context, parameters: Parameters, scope: Scope) -> None:
        """Bind the parameters that are not bound in the scope."""
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
        # Where nothing is left to deduce, arguments may convert to the type of the parameter, which
        # is checked later.
        if not self._is_open(pattern):
            return True
        if given.braces is not None:
            return self._match_braces(pattern, given)
        if isinstance(pattern, tree.Reference):
            qualified = QualifiedType(given.found.type, given.is_const)
            if not self.match_type(pattern, qualified):
                return False
            self._note_category(pattern, given)
            return True
        type_ = given.value.type
        if isinstance(type_, StringType) and isinstance(pattern, tree.Pointer):
            type_ = _POINTER_TO_STRING
        return self.match_type(pattern, QualifiedType(type_))

    def _match_braces(self, pattern: tree.Type, given: Given) -> bool:
        """Deduce the elements of a list; other types do not follow from braces."""
        match _referent(pattern):
            case tree.NamedType(name=name, template_arguments=(argument,)) if (
                name.removeprefix("std::") == "initializer_list"
            ):
                assert given.braces is not None
                with within_scope(self.context, given.braces_scope):
                    element = find_type_of_elements(self.context, given.braces)
                return self.match_argument(argument, Alias(QualifiedType(element)))
            case _:
                return True

    def _note_category(self, pattern: tree.Reference, given: Given) -> None:
        """Remember that a parameter `T&&` is given a place."""
        match pattern:
            case tree.Reference(referent=tree.NamedType(name=name, qualifiers=()), is_rvalue=True):
                known = self.scope.symbols.get(name)
                if name in self.open and isinstance(known, Alias) and not is_moved(given):
                    self.scope.symbols[name] = Alias(known.type.refer("&"))
            case _:
                pass

    def _is_open(self, pattern: tree.Node) -> bool:
        """Whether a type names a parameter that is not bound yet."""
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
            case tree.FunctionOf(result=result, parameters=parameters, holder=holder):
                if holder is not None and self._is_open(holder):
                    return True
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
                # `const T` takes the `const` of the argument away from T.
                const = given.const and "const" not in pattern.qualifiers
                volatile = given.volatile and "volatile" not in pattern.qualifiers
                return self._bind(name, Alias(replace(given, const=const, volatile=volatile)))
            case tree.NamedType(template_arguments=(_, *_)), _:
                return self._match_class(pattern, given)
            case ((tree.Pointer() | tree.FunctionOf()), FunctionType() as type_):
                return self._match_function(pattern, type_)
            case tree.Pointer(holder=None, pointee=inner), PointerType(pointee, volatile, const):
                return self.match_type(inner, QualifiedType(pointee, const, volatile))
            case tree.Pointer(pointee=inner), ArrayType(element=element):
                # An array decays to a pointer to its first element.
                return self.match_type(inner, QualifiedType(element, given.const))
            case tree.FunctionOf(), SignatureType() as signature:
                return self._match_functions(pattern, signature)
            case tree.Pointer(), _:
                return self._match_member(pattern, given.type)
            case tree.Reference(referent=inner), _:
                return self.match_type(inner, replace(given, reference=""))
            case tree.ArrayOf(), _:
                return self._match_array(pattern, given)
            case _:
                return True

    def _bind_patterns(self, patterns: Sequence[tree.TemplateArgument]) -> bool:
        """Bind the names among patterns of access to the one that is not known."""
        unknown = make_integer(0, ENUM_TYPES["dfb::AccessPattern"])
        names = (
            each.text if isinstance(each, tree.Name) else getattr(each, "name", "")
            for each in patterns
        )
        return all(self._bind(each, Variable(each, unknown)) for each in names if each in self.open)

    def _match_functions(self, pattern: tree.FunctionOf, signature: SignatureType) -> bool:
        """Whether the type of functions goes with a pattern."""
        if signature.is_member != (pattern.holder is not None):
            return False
        passed = (signature.result, *signature.parameters)
        return self._match_types(pattern, [QualifiedType(x.type, x.const) for x in passed])

    def _match_member(self, pattern: tree.Pointer, type_: CType) -> bool:
        """Whether a pointer to a data member goes with a pattern."""
        match type_:
            case PointerType(pointee=MemberType(type=pointee, holder=holder)) if pattern.holder:
                pairs = ((pattern.pointee, pointee), (pattern.holder, holder))
                return all(self.match_type(x, QualifiedType(y)) for x, y in pairs)
            case _:
                return False

    def _match_function(self, pattern: tree.Pointer | tree.FunctionOf, type_: FunctionType) -> bool:
        """Whether a function, or what a pointer to a member points to, goes with a pattern."""
        match pattern, type_:
            case tree.Pointer(pointee=inner, holder=tree.NamedType() as outer), MemberPointerType():
                pairs = ((inner, type_.pointee), (outer, type_.holder))
                return all(self.match_type(each, QualifiedType(given)) for each, given in pairs)
            case _, MemberPointerType():
                return False
            case (tree.Pointer(pointee=tree.FunctionOf() as inner), _) | (
                tree.FunctionOf() as inner,
                _,
            ):
                return self._match_signature(inner, type_)
            case _:
                return False

    def _match_signature(self, pattern: tree.FunctionOf, type_: FunctionType) -> bool:
        """What the types of a function say, if there is one of its name only."""
        functions, explicit = self.context.unit.function_values[type_.number]
        if len(functions.definitions) != 1 or functions.others or explicit:
            return True
        function = functions.definitions[0]
        if function.template_parameters or is_deduced(function.result):
            return True
        types = [
            self.context.unit.resolve_type(each, functions.scope)
            for each in (function.result, *(x.type for x in function.parameters))
        ]
        if pattern.holder is not None:
            if functions.scope.owner is None:
                return False
            types.insert(1, QualifiedType(self.context.unit.structs[functions.scope.owner]))
        return self._match_types(pattern, types)

    def _match_types(self, pattern: tree.FunctionOf, types: list[QualifiedType]) -> bool:
        """The same for a result and the types of parameters."""
        patterns = [pattern.result, *(each.type for each in pattern.parameters)]
        if pattern.holder is not None:
            patterns.insert(1, replace(pattern.holder, qualifiers=()))
        last = pattern.parameters[-1] if pattern.parameters else None
        if last is not None and last.is_pack:
            match last.type:
                case tree.NamedType(name=name) if name in self.open:
                    rest = Pack(tuple(map(Alias, types[len(patterns) - 1 :])))
                    if not self._bind(name, rest):
                        return False
                case _:
                    return True
            del patterns[-1], types[len(patterns) :]
        is_same = len(patterns) == len(types)
        return is_same and all(map(self.match_type, patterns, types))

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
        if isinstance(given.type, IntType) and pattern.name == "DFBBindingToken":
            # `dfb::name` is a number here, and says nothing of its patterns.
            return self._bind_patterns(pattern.template_arguments)
        if not isinstance(given.type, StructType):
            return False
        info = self.context.unit.classes.get(given.type.number)
        symbol = self.context.unit.find(pattern.name, self.scope)
        if isinstance(symbol, StructDefinition) and pattern.template_arguments:
            # Within a class that is made from the template, its name means the class.
            own = self.context.unit.classes.get(symbol.type.number)
            symbol = symbol if own is None else own.template
        if info is not None and info.template is not None:
            if pattern.name in self.open and self.open[pattern.name].is_template:
                return self._bind(pattern.name, info.template) and self.match_arguments(
                    pattern.template_arguments, info.arguments
                )
            if symbol is info.template:
                patterns = pattern.template_arguments
                if not any(isinstance(each, tree.Expansion) for each in patterns):
                    patterns += tuple(_list_defaults(info.template, len(patterns)))
                return self.match_arguments(patterns, info.arguments)
        if isinstance(symbol, AliasTemplate):
            return self._match_alias(pattern, symbol, given)
        # An object also goes for a base of its class.
        return any(self._match_class(pattern, QualifiedType(x)) for x in given.type.bases)

    def _match_alias(
        self, pattern: tree.NamedType, alias: AliasTemplate, given: QualifiedType
    ) -> bool:
        """Whether a type is one that an alias template names."""
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
            case tree.NamedType() | tree.Pointer() | tree.Reference() | tree.ArrayOf() if (
                isinstance(symbol, Alias)
            ):
                if self._is_open(pattern):
                    return self._match_type_argument(pattern, symbol.type)
            case _:
                pass
        return self._is_same(pattern, symbol)

    def _match_type_argument(self, pattern: tree.Type, given: QualifiedType) -> bool:
        """Whether a type that is a template argument goes with a pattern: nothing converts."""
        match pattern:
            case tree.Reference(referent=referent):
                is_same = find_reference(pattern, self.scope) == given.reference
                return is_same and self.match_argument(
                    referent, Alias(replace(given, reference=""))
                )
            case tree.Pointer() if isinstance(given.type, ArrayType):
                return False
            case tree.NamedType(qualifiers=qualifiers) if "const" in qualifiers and not given.const:
                return False
            case _:
                return self.match_type(pattern, given)

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
        """Bind a name; False if it is bound otherwise."""
        known = self.scope.symbols.get(name)
        if known is None:
            parameter = self.open[name]
            if parameter.type is not None and isinstance(symbol, Variable):
                symbol = self._convert_number(parameter, symbol)
            self.scope.symbols[name] = symbol
            return True
        return key_of(known) == key_of(symbol)

    def _convert_number(self, parameter: tree.TemplateParameter, symbol: Variable) -> Symbol:
        value = symbol.storage
        if not isinstance(value, Value) or not isinstance(value.type, IntType):
            return symbol
        assert parameter.type is not None
        unit = self.context.unit
        target = unit.resolve_declared_type(parameter.type, self.scope, value.type).type
        if isinstance(target, IntType):
            return Variable(parameter.name, make_integer(int(value.constant or 0), target))
        return symbol


# --- Overloads ------------------------------------------------------------------------------------
# Which of the functions of a name is called: overload resolution (C++17, [over.match]).

EXACT, PROMOTION, CONVERSION, USER_DEFINED, ELLIPSIS = 0.0, 1.0, 2.0, 3.0, 4.0
OF_MOVED = 0.25
"""How much better `T&&` takes a value than `const T&` does."""
OF_ADDED_CONST = 0.125
"""How much worse `const T&&` takes a value that is not const than `T&&` does."""


@dataclass(frozen=True)
class CallOfOwn:
    """A call of one of the kernel's functions as it is written."""

    node: tree.Node
    explicit: Sequence[tree.TemplateArgument]
    given: Sequence[Given]
    on_const: bool = False
    """Whether the object that a member function is called on is const."""
    on_moved: bool = False
    """Whether nobody needs that object any more."""


@dataclass(frozen=True)
class Candidate:
    """A function that a call may mean, with what its template parameters stand for."""

    function: tree.Function
    scope: Scope
    ranks: tuple[float, ...] = ()

    @property
    def is_member(self) -> bool:
        """Whether it is called on an object."""
        return self.scope_of_class.owner is not None and "static" not in self.function.specifiers

    @property
    def scope_of_class(self) -> Scope:
        """The scope that the function stands in."""
        if self.function.template_parameters:
            assert self.scope.outer is not None
            return self.scope.outer
        return self.scope


def choose_function(context: Context, functions: Functions, call: CallOfOwn) -> Candidate:
    """The function that a call means."""
    return _refuse_deleted(context, _choose(context, functions, call), functions, call)


def choose_operator(
    context: Context, functions: Functions, call: CallOfOwn, *, compares: bool
) -> Candidate | None:
    """The function that an operator means (C++17, [over.match.oper]).

    None if that of the language is meant.
    """
    unevaluated = context.unit.unevaluated > 0
    pool = _list_candidates(functions, len(call.given), unevaluated=unevaluated)
    viable, _ = _list_viable(context, pool, call)
    types = [each.found.type for each in call.given]
    if not any(isinstance(each, StructType) for each in types):
        viable = [each for each in viable if _takes_enumerator(context, each, types)]
        if compares and is_same_type(types[0], types[-1]):
            # The language compares two enumerators of one type without conversions, too.
            viable = [each for each in viable if max(each.ranks) < PROMOTION]
            viable = [each for each in viable if not each.function.template_parameters]
    if not viable:
        return None
    best = _find_best(context, functions, viable, call)
    return _refuse_deleted(context, best, functions, call)


def _takes_enumerator(context: Context, candidate: Candidate, types: Sequence[CType]) -> bool:
    """Whether a parameter of a function is of the type of its operand, an enumeration."""
    for parameter, type_ in zip(candidate.function.parameters, types, strict=False):
        wanted = context.unit.resolve_declared_type(
            _referent(parameter.type), candidate.scope, type_
        ).type
        if isinstance(type_, EnumType) and is_same_type(wanted, type_):
            return True
    return False


def _refuse_deleted(
    context: Context, chosen: Candidate, functions: Functions, call: CallOfOwn
) -> Candidate:
    if chosen.function.is_deleted:
        where = chosen.function.position
        message = f"'{functions.name}' is deleted for such arguments, at {where}"
        raise context.error(call.node, f"{message}; convert them to those of another overload")
    return chosen


def _choose(context: Context, functions: Functions, call: CallOfOwn) -> Candidate:
    unevaluated = context.unit.unevaluated > 0
    pool = _list_candidates(functions, len(call.given), unevaluated=unevaluated)
    if call.explicit:
        templates = [each for each in pool if each[0].template_parameters]
        if pool and not templates:
            raise context.error(call.node, f"'{functions.name}' is no template")
        pool = templates
    if len(pool) == 1:
        function, scope = pool[0]
        if not _fits_object(function, call):
            of = "is no place" if call.on_moved else "stays in use; write std::move(...) around it"
            message = f"'{function.name}' is declared '{function.category}', and its object {of}"
            raise context.error(call.node, message)
        return _bind(context, function, scope, call)
    if not pool:
        raise context.error(call.node, _describe_misfit(functions, len(call.given)))
    return _choose_best(context, functions, pool, call)


def _list_candidates(
    functions: Functions, count: int, *, unevaluated: bool
) -> list[tuple[tree.Function, Scope]]:
    """The functions that take so many arguments; what is not evaluated needs no definition."""
    found = list[tuple[tree.Function, Scope]]()
    for group in (functions, *functions.others):
        for each in group.definitions:
            is_defined = each.definition is not None or each.is_deleted or unevaluated
            is_callable = is_defined and each.specialized is None
            if is_callable and _accepts(each, count):
                found.append((each, group.scope))
    return found


def _accepts(function: tree.Function, count: int) -> bool:
    """Whether a function can be called with so many arguments."""
    required = sum(each.default is None and not each.is_pack for each in function.parameters)
    has_pack = bool(function.parameters) and function.parameters[-1].is_pack
    is_open = has_pack or function.is_variadic
    return required <= count and (is_open or count <= len(function.parameters))


def _describe_misfit(functions: Functions, count: int) -> str:
    every = [each for group in (functions, *functions.others) for each in group.definitions]
    if all(each.definition is None for each in every):
        return f"'{functions.name}' is declared but never defined"
    takes = " or ".join(dict.fromkeys(map(_describe_arity, every)))
    return f"'{functions.name}' takes {plural(takes, 'argument')}, not {count}"


def _describe_arity(function: tree.Function) -> str:
    required = sum(each.default is None and not each.is_pack for each in function.parameters)
    most = len(function.parameters)
    if function.is_variadic or (function.parameters and function.parameters[-1].is_pack):
        return f"at least {required}"
    return str(most) if required == most else f"{required} to {most}"


def _bind(context: Context, function: tree.Function, outer: Scope, call: CallOfOwn) -> Candidate:
    """A function with the template arguments that a call gives or implies."""
    parameters = function.template_parameters
    if not parameters:
        return Candidate(function, outer)
    scope = Scope(outer)
    bind_explicit(context, parameters, call.explicit, scope, function.name)
    deduction = Deduction(context, parameters, scope)
    if not deduction.match_call(function.parameters, call.given):
        message = f"the arguments do not go with the parameters of '{function.name}'"
        raise context.error(call.node, message)
    bind_defaults(context, parameters, scope, function.name, call.node)
    return Candidate(_find_specialized(context, function, scope, outer), scope)


def _find_specialized(
    context: Context, function: tree.Function, scope: Scope, outer: Scope
) -> tree.Function:
    """The specialisation of a function template for its arguments; itself, if there is none."""
    known = outer.find_here(function.name)
    definitions = known.definitions if isinstance(known, Functions) else ()
    for each in definitions:
        if each.specialized is None or (each.definition is None and not each.is_deleted):
            continue
        wanted = [key_of(scope.symbols[x.name]) for x in function.template_parameters if x.name]
        given = Scope(outer)
        bind_explicit(context, function.template_parameters, each.specialized, given, each.name)
        keys = [key_of(symbol) for symbol in given.symbols.values()]
        if keys == wanted[: len(keys)] and keys:
            return each
    return function


def refuse_repeated(
    unit: Unit,
    node: tree.Struct | tree.Function,
    others: Sequence[tree.Struct | tree.Function],
    scope: Scope,
) -> None:
    """Refuse a specialisation for types that differ in C++ from those of another, and not here.

    Where both are defined alike, it does not matter which one is taken.
    """
    described = _describe_specialized(unit, node, scope)
    for each in others:
        if each.specialized is None or each.specialized == node.specialized:
            continue
        known, given = _list_defined(each), _list_defined(node)
        if known is None or given is None or known == given:
            continue
        if _describe_specialized(unit, each, scope) == described:
            message = f"'{node.name}' is specialised for these types at {each.position}"
            told = "'int' and 'long' are one type here, and so are 'char' and 'uint8_t'"
            raise unit.error(node, f"{message} already: {told}; leave one of them out")


def _describe_specialized(unit: Unit, node: tree.Struct | tree.Function, scope: Scope) -> str:
    """The arguments of a specialisation, with integers by their width and sign."""
    text = repr(node.specialized)
    for each in tree.walk(node.specialized):
        if isinstance(each, tree.NamedType) and each.scope is None:
            found = unit.find_type(each.name, scope)
            if found is not None and isinstance(found.type, IntType):
                text = text.replace(f"name={each.name!r}", f"name='{tag_of(found.type)}'")
    return text


def _list_defined(node: tree.Struct | tree.Function) -> object:
    """What a class or function is defined as, but for its name; None if it is only declared."""
    if isinstance(node, tree.Function):
        return node.definition
    return (node.fields, node.members, node.bases) if node.is_defined else None


def _choose_best(
    context: Context,
    functions: Functions,
    pool: Sequence[tuple[tree.Function, Scope]],
    call: CallOfOwn,
) -> Candidate:
    viable, failure = _list_viable(context, pool, call)
    if not viable:
        types = ", ".join(f"'{each.found.type.name}'" for each in call.given if not each.braces)
        message = f"no '{functions.name}' takes arguments of types {types or 'such as these'}"
        if failure is not None:
            message = f"{message}: {failure.message}"
        raise context.error(call.node, message)
    return _find_best(context, functions, viable, call)


def _list_viable(
    context: Context, pool: Sequence[tuple[tree.Function, Scope]], call: CallOfOwn
) -> tuple[list[Candidate], CppSyntaxError | None]:
    """The functions that take the arguments of a call, and why one of the others does not."""
    viable = list[Candidate]()
    failure: CppSyntaxError | None = None
    for function, scope in pool:
        try:
            with context.unit.trying():
                bound = _bind(context, function, scope, call)
                ranks = _rank_all(context, bound, call)
                if ranks is not None and function.template_parameters:
                    _substitute(context, bound)
        except CppSyntaxError as error:
            failure = error
            continue
        if ranks is not None:
            viable.append(Candidate(bound.function, bound.scope, ranks))
    return viable, failure


def _find_best(
    context: Context, functions: Functions, viable: Sequence[Candidate], call: CallOfOwn
) -> Candidate:
    """The function that takes the arguments of a call best."""
    best = [
        each for each in viable if all(each is other or _is_better(each, other) for other in viable)
    ]
    if len(best) != 1:
        lvalues = ", ".join(str(each.function.position) for each in viable)
        message = f"this call of '{functions.name}' is ambiguous between those at {lvalues}"
        raise context.error(call.node, message)
    return best[0]


def _substitute(context: Context, candidate: Candidate) -> None:
    """Raise CppSyntaxError if a type of a function does not exist for the template arguments."""
    function = candidate.function
    if not is_deduced(function.result):
        resolve_result(context.unit, function, candidate.scope)
    for each in function.template_parameters:
        if each.type is not None and not is_deduced(each.type):
            context.unit.resolve_type(each.type, candidate.scope)


def resolve_result(unit: Unit, function: tree.Function, scope: Scope) -> QualifiedType:
    """The type of what a function gives, which may name its parameters: `-> decltype(f(a))`."""
    return unit.resolve_type(function.result, scope_of_result(unit, function, scope))


def scope_of_result(unit: Unit, function: tree.Function, scope: Scope) -> Scope:
    """Where the type of what a function gives is looked up."""
    if not any(isinstance(each, tree.Decltype) for each in tree.walk(function.result)):
        return scope
    used = list_used_names(function.result)
    inner = Scope(scope)
    holder: Scope | None = scope
    while holder is not None and holder.owner is None:
        holder = holder.outer
    if holder is not None and holder.owner is not None and scope.find("this") is None:
        this = LocalLvalue(unit.structs[holder.owner], "unused", is_const=function.is_const)
        inner.symbols["this"] = Variable("this", this)
    for each in function.parameters:
        if each.name is None or each.name not in used or is_deduced(each.type):
            continue
        described = [_describe_parameter(unit, each, one) for one in list_scopes(scope, each)]
        inner.symbols[each.name] = Pack(tuple(described)) if each.is_pack else described[0]
    return inner


def list_scopes(scope: Scope, parameter: tree.Parameter) -> Iterator[Scope]:
    """Where the type of a parameter is looked up; of a pack, for each of its elements."""
    if not parameter.is_pack:
        yield scope
        return
    names = (each.name for each in tree.walk(parameter.type) if isinstance(each, tree.NamedType))
    packs = [symbol for name in names if isinstance(symbol := scope.find(name), Pack)]
    for number in range(len(packs[0].symbols) if packs else 0):
        yield find_element_scope(scope, parameter.type, number)


def find_element_scope(scope: Scope, pattern: tree.Type, number: int) -> Scope:
    """What the packs in the type of a parameter stand for in one of its elements."""
    inner = Scope(scope)
    for each in tree.walk(pattern):
        if isinstance(each, (tree.Name, tree.NamedType)):
            name = each.text if isinstance(each, tree.Name) else each.name
            symbol = scope.find(name)
            if isinstance(symbol, Pack) and number < len(symbol.symbols):
                inner.symbols[name] = symbol.symbols[number]
    return inner


def _describe_parameter(unit: Unit, parameter: tree.Parameter, scope: Scope) -> Variable:
    """A parameter of which only the type matters."""
    found = unit.resolve_type(_referent(parameter.type), scope)
    reference = find_reference(parameter.type, scope)
    place: Lvalue = LocalLvalue(found.type, "unused", is_const=found.const)
    if reference:
        place = ItemLvalue(found.type, code.name("unused"), code.constant(0), found.const)
    return Variable(parameter.name or "", place, reference=reference)


def _is_better(a: Candidate, b: Candidate) -> bool:
    """Whether a call means one function rather than another one."""
    pairs = list(zip(a.ranks, b.ranks, strict=False))
    if any(x > y for x, y in pairs):
        return False
    if any(x < y for x, y in pairs):
        return True
    generic = (bool(a.function.template_parameters), bool(b.function.template_parameters))
    if generic[0] != generic[1]:
        return generic[1]
    return _measure_specificity(a.function) > _measure_specificity(b.function)


def _measure_specificity(function: tree.Function) -> int:
    """How much the parameters of a template say about their arguments."""
    names = {each.name for each in function.template_parameters}
    total = 0
    for parameter in function.parameters:
        total -= 100 * parameter.is_pack
        for each in tree.walk(parameter.type):
            match each:
                case tree.NamedType(name=name, template_arguments=arguments, qualifiers=words):
                    total += (name not in names) + bool(arguments) + len(words)
                case tree.Pointer() | tree.ArrayOf():
                    total += 2
                case _:
                    pass
    return total


def _rank_all(context: Context, candidate: Candidate, call: CallOfOwn) -> tuple[float, ...] | None:
    """How well each argument goes with its parameter; None if one does not."""
    function = candidate.function
    ranks = list[float]()
    if candidate.is_member and function.kind == "function":
        if not _fits_object(function, call) or (call.on_const and not function.is_const):
            return None
        rank = 0.5 if function.is_const and not call.on_const else EXACT
        ranks.append(rank - OF_MOVED * (function.category == "&&"))
    else:
        ranks.append(EXACT)
    last = len(function.parameters) - 1
    for number, given in enumerate(call.given):
        if function.is_variadic and number > last:
            ranks.append(ELLIPSIS)
            continue
        parameter = function.parameters[min(number, last)]
        if parameter.is_pack and not is_deduced(parameter.type):
            ranks.append(EXACT)
            continue
        rank = _rank(context, parameter, given, candidate)
        if rank is None:
            return None
        ranks.append(rank)
    return tuple(ranks)


def _fits_object(function: tree.Function, call: CallOfOwn) -> bool:
    """Whether a member function takes the object that it is called on: `f() &`, `f() &&`."""
    if not call.on_moved:
        return function.category != "&&"
    return function.category != "&" or function.is_const


def _rank(
    context: Context, parameter: tree.Parameter, given: Given, candidate: Candidate
) -> float | None:
    type_, scope = parameter.type, candidate.scope
    if given.braces is not None:
        referent = context.unit.resolve_type(_referent(type_), scope)
        target = referent.type
        if is_list(target):
            return rank_list(context, given, target)
        fits = isinstance(target, (StructType, ArrayType)) or len(given.braces.elements) <= 1
        is_moving = isinstance(type_, tree.Reference) and type_.is_rvalue
        better = (OF_MOVED - OF_ADDED_CONST * referent.const) * is_moving
        return CONVERSION - better if fits else None
    found = given.found
    if isinstance(type_, tree.Reference):
        given_type = found.type
        unit = context.unit
        target = unit.resolve_declared_type(type_.referent, scope, given_type, given.is_const)
        is_same = is_same_type(target.type, given_type)
        if type_.is_rvalue:
            takes_all = is_forwarding(type_, candidate.function)
            if not takes_all and (not is_moved(given) or (given.is_const and not target.const)):
                return None
            rank = EXACT if is_same else rank_conversion(context, given.value, target.type)
            adds_const = target.const and not given.is_const
            return None if rank is None else rank - OF_MOVED + OF_ADDED_CONST * adds_const
        is_over = is_moved(given)
        if not target.const:
            return EXACT if is_same and not is_over and not given.is_const else None
        if is_same:
            return EXACT if given.is_const or is_over else 0.25
        return rank_conversion(context, given.value, target.type)
    value = given.value
    if value.width and isinstance(given.node, tree.Update) and given.node.postfix:
        # What `s.bits++` gives converts to `int` first for g++, and `s.bits` to its declared type.
        value = promote_value(value)
    target = context.unit.resolve_declared_type(type_, scope, value.type)
    return rank_conversion(context, value, target.type)


def rank_list(context: Context, given: Given, target: CType) -> float | None:
    """How well braces go with a list: as well as the worst one of their elements."""
    element = complete_type(find_list_element(target), context.unit.structs)
    assert given.braces is not None
    worst = EXACT
    with within_scope(context, given.braces_scope):
        for each in expand_elements(context, given.braces.elements):
            one = Given(context, each.value)
            rank: float | None = CONVERSION
            if one.braces is None:
                rank = rank_conversion(context, one.value, element)
            elif not isinstance(element, (StructType, ArrayType)):
                rank = None if len(one.braces.elements) > 1 else CONVERSION
            if rank is None:
                return None
            worst = max(worst, rank)
    return worst


def _referent(type_: tree.Type) -> tree.Type:
    return type_.referent if isinstance(type_, tree.Reference) else type_


def is_forwarding(type_: tree.Reference, function: tree.Function) -> bool:
    """Whether a parameter takes places as well as values: `T&&` of a template of `T`."""
    referent = type_.referent
    if not isinstance(referent, tree.NamedType) or referent.qualifiers or not type_.is_rvalue:
        return False
    names = (each.name for each in function.template_parameters)
    return referent.name == "auto" or referent.name in names


def is_moved(given: Given) -> bool:
    """Whether an argument is a value, or a place that nobody needs any more."""
    return isinstance(given.found, Value) or given.found.is_over


_POINTER_TO_STRING = PointerType(CHAR, const=True)


def rank_conversion(context: Context, value: Value, target: CType) -> float | None:
    """How far a type is from that of a value; None if it does not convert."""
    if isinstance(value.type, StringType) and target == _POINTER_TO_STRING:
        return EXACT
    rank = _rank_standard(context, value, target)
    if rank is None and has_conversion(context, value, target):
        return USER_DEFINED
    return rank


def _rank_standard(context: Context, value: Value, target: CType) -> float | None:
    """The same for conversions that no class defines."""
    source = value.type
    if _adds_qualifiers(source, target):
        return _rank_pointer(value, target)
    if source == target or is_same_type(source, target):
        return EXACT
    match target, source:
        case ((PointerType(pointee=SignatureType()) | SignatureType()), _) if source != NULL:
            fits = context.handlers.fit_function(context, value, target, tree.Integer("0"))
            return None if fits is None else EXACT
        case IntType(), IntType():
            if isinstance(target, EnumType) or is_scoped(source):
                return None
            return PROMOTION if is_same_type(promote(source), target) else CONVERSION
        case FloatType(), FloatType():
            return PROMOTION if target.bits > source.bits else CONVERSION
        case ((IntType() | FloatType()), (IntType() | FloatType())):
            is_refused = isinstance(target, EnumType) or is_scoped(source)
            return None if is_refused else CONVERSION
        case (PointerType(), _) | (_, PointerType()):
            return _rank_pointer(value, target)
        case StructType(), StructType() if source.derives_from(target):
            return CONVERSION
        case _:
            return None


def _adds_qualifiers(source: CType, target: CType) -> bool:
    """Whether a pointer becomes one to something const or volatile."""
    match source, target:
        case PointerType(), PointerType():
            words = {(each.const, each.volatile) for each in (source, target)}
            return len(words) > 1 and not isinstance(target.pointee, SignatureType)
        case _:
            return False


def _rank_pointer(value: Value, target: CType) -> float | None:
    source = value.type
    match target, source:
        case PointerType(), PointerType():
            if not may_point(target, source):
                return None
            return 0.5 if is_same_type(target.pointee, source.pointee) else CONVERSION
        case PointerType(), IntType():
            return CONVERSION if source == NULL or value.constant == 0 else None
        case IntType(), PointerType():
            return CONVERSION + 0.5 if target == BOOL else None
        case _:
            return None


def has_conversion(context: Context, value: Value, target: CType) -> bool:
    """Whether a class says how a value becomes one of another type."""
    source = value.type
    if isinstance(source, StructType):
        for each in (source, *source.bases):
            info = context.unit.classes.get(each.number)
            if info is not None and any(
                _gives(context, function, info.scope, target) for function in info.conversions
            ):
                return True
    if isinstance(target, StructType):
        info = context.unit.classes.get(target.number)
        if info is not None:
            makes = any(_makes(context, each, info.scope, value) for each in info.constructors)
            return makes or is_like_tuple(source, target)
    return False


def _gives(context: Context, function: tree.Function, scope: Scope, target: CType) -> bool:
    """Whether a conversion function gives a type, or a number that becomes one of it."""
    if is_deduced(function.result) or function.template_parameters:
        return True
    result = context.unit.resolve_type(function.result, scope).type
    return _rank_standard(context, make_value(result, code.name("unused")), target) is not None


def _makes(context: Context, function: tree.Function, scope: Scope, value: Value) -> bool:
    """Whether a constructor makes an object of a value without being asked to."""
    if not _accepts(function, 1) or "explicit" in function.specifiers:
        return False
    if not function.parameters or function.template_parameters or function.parameters[0].is_pack:
        return True
    type_ = _referent(function.parameters[0].type)
    if is_deduced(type_):
        return True
    target = context.unit.resolve_type(type_, scope).type
    return _rank_standard(context, value, target) is not None
