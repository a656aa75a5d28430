"""Which of the functions of a name is called: overload resolution (C++17, [over.match])."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ttmlir.cpp import tree
from ttmlir.cpp.conversions import is_same_type, is_scoped, may_point, promote
from ttmlir.cpp.errors import CppSyntaxError
from ttmlir.cpp.type_names import is_deduced
from ttmlir.cpp.types import (
    BOOL,
    NULL,
    ArrayType,
    CType,
    EnumType,
    FloatType,
    IntType,
    PointerType,
    StructType,
)
from ttmlir.sim.kernels.context import Context
from ttmlir.sim.kernels.expressions.given import Given
from ttmlir.sim.kernels.python import code
from ttmlir.sim.kernels.scope import Functions, Scope, walk
from ttmlir.sim.kernels.templates.binding import (
    Deduction,
    bind_defaults,
    bind_explicit,
    key_of,
)
from ttmlir.sim.kernels.value import Value, make_value

EXACT, PROMOTION, CONVERSION, USER_DEFINED = 0.0, 1.0, 2.0, 3.0


@dataclass(frozen=True)
class CallOfOwn:
    """A call of one of the kernel's functions as it is written."""

    node: tree.Node
    explicit: Sequence[tree.TemplateArgument]
    given: Sequence[Given]
    on_const: bool = False
    """Whether the object that a member function is called on is const."""


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
    pool = list(_list_candidates(functions, len(call.given)))
    if call.explicit:
        templates = [each for each in pool if each[0].template_parameters]
        if pool and not templates:
            raise context.error(call.node, f"'{functions.name}' is no template")
        pool = templates
    if len(pool) == 1:
        function, scope = pool[0]
        return _bind(context, function, scope, call)
    if not pool:
        raise context.error(call.node, _describe_misfit(functions, len(call.given)))
    return _choose_best(context, functions, pool, call)


def _list_candidates(functions: Functions, count: int) -> list[tuple[tree.Function, Scope]]:
    found = list[tuple[tree.Function, Scope]]()
    for group in (functions, *functions.others):
        for each in group.definitions:
            is_callable = each.definition is not None and each.specialized is None
            if is_callable and _accepts(each, count):
                found.append((each, group.scope))
    return found


def _accepts(function: tree.Function, count: int) -> bool:
    """Whether a function can be called with so many arguments."""
    required = sum(each.default is None and not each.is_pack for each in function.parameters)
    has_pack = bool(function.parameters) and function.parameters[-1].is_pack
    return required <= count and (has_pack or count <= len(function.parameters))


def _describe_misfit(functions: Functions, count: int) -> str:
    every = [each for group in (functions, *functions.others) for each in group.definitions]
    if all(each.definition is None for each in every):
        return f"'{functions.name}' is declared but never defined"
    takes = " or ".join(dict.fromkeys(map(_describe_arity, every)))
    return f"'{functions.name}' takes {takes} arguments, not {count}"


def _describe_arity(function: tree.Function) -> str:
    required = sum(each.default is None and not each.is_pack for each in function.parameters)
    most = len(function.parameters)
    if function.parameters and function.parameters[-1].is_pack:
        return f"at least {required}"
    return str(most) if required == most else f"{required} to {most}"


def _bind(context: Context, function: tree.Function, outer: Scope, call: CallOfOwn) -> Candidate:
    """A function with what the call says about its template parameters."""
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
    special = [each for each in definitions if each.specialized is not None and each.definition]
    for each in special:
        assert each.specialized is not None
        wanted = [key_of(scope.symbols[x.name]) for x in function.template_parameters if x.name]
        given = Scope(outer)
        bind_explicit(context, function.template_parameters, each.specialized, given, each.name)
        keys = [key_of(symbol) for symbol in given.symbols.values()]
        if keys == wanted[: len(keys)] and keys:
            return each
    return function


def _choose_best(
    context: Context,
    functions: Functions,
    pool: Sequence[tuple[tree.Function, Scope]],
    call: CallOfOwn,
) -> Candidate:
    viable = list[Candidate]()
    failure: CppSyntaxError | None = None
    for function, scope in pool:
        try:
            bound = _bind(context, function, scope, call)
            ranks = _rank_all(context, bound, call)
            if ranks is not None and function.template_parameters:
                _substitute(context, bound)
        except CppSyntaxError as error:
            failure = error
            continue
        if ranks is not None:
            viable.append(Candidate(bound.function, bound.scope, ranks))
    if not viable:
        types = ", ".join(f"'{each.found.type.name}'" for each in call.given if not each.braces)
        message = f"no '{functions.name}' takes arguments of types {types or 'such as these'}"
        if failure is not None:
            message = f"{message}: {failure.message}"
        raise context.error(call.node, message)
    best = [
        each for each in viable if all(each is other or _is_better(each, other) for other in viable)
    ]
    if len(best) != 1:
        places = ", ".join(str(each.function.position) for each in viable)
        message = f"this call of '{functions.name}' is ambiguous between those at {places}"
        raise context.error(call.node, message)
    return best[0]


def _substitute(context: Context, candidate: Candidate) -> None:
    """Raise CppSyntaxError if a type of a function does not exist for the template arguments."""
    function = candidate.function
    if not is_deduced(function.result):
        context.unit.resolve_type(function.result, candidate.scope)
    for each in function.template_parameters:
        if each.type is not None and not is_deduced(each.type):
            context.unit.resolve_type(each.type, candidate.scope)


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
        for each in walk(parameter.type):
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
        if call.on_const and not function.is_const:
            return None
        ranks.append(0.5 if function.is_const and not call.on_const else EXACT)
    else:
        ranks.append(EXACT)
    last = len(function.parameters) - 1
    for number, given in enumerate(call.given):
        parameter = function.parameters[min(number, last)]
        if parameter.is_pack and not is_deduced(parameter.type):
            ranks.append(EXACT)
            continue
        rank = _rank(context, parameter, given, candidate.scope)
        if rank is None:
            return None
        ranks.append(rank)
    return tuple(ranks)


def _rank(context: Context, parameter: tree.Parameter, given: Given, scope: Scope) -> float | None:
    type_ = parameter.type
    if given.braces is not None:
        target = context.unit.resolve_type(_referent(type_), scope).type
        fits = isinstance(target, (StructType, ArrayType)) or len(given.braces.elements) <= 1
        return CONVERSION if fits else None
    found = given.found
    if isinstance(type_, tree.Reference):
        given_type = found.type
        unit = context.unit
        target = unit.resolve_declared_type(type_.referent, scope, given_type, given.is_const)
        is_same = is_same_type(target.type, given_type)
        if type_.is_rvalue:
            is_forwarding = _is_forwarding(type_, scope)
            if not isinstance(found, Value) and not is_forwarding and not _is_moved(given.node):
                return None
            return -0.25 if is_same else rank_conversion(context, given.value, target.type)
        if not target.const:
            return EXACT if is_same and not isinstance(found, Value) else None
        if is_same:
            return EXACT if given.is_const or isinstance(found, Value) else 0.25
        return rank_conversion(context, given.value, target.type)
    value = given.value
    target = context.unit.resolve_declared_type(type_, scope, value.type)
    return rank_conversion(context, value, target.type)


def _referent(type_: tree.Type) -> tree.Type:
    return type_.referent if isinstance(type_, tree.Reference) else type_


def _is_forwarding(type_: tree.Reference, scope: Scope) -> bool:
    referent = type_.referent
    if not isinstance(referent, tree.NamedType) or referent.qualifiers:
        return False
    return referent.name == "auto" or referent.name in scope.symbols


def _is_moved(node: tree.Node) -> bool:
    match node:
        case tree.FunctionCall(callee=tree.Name(text=text)):
            return text in ("std::move", "std::forward")
        case _:
            return False


def rank_conversion(context: Context, value: Value, target: CType) -> float | None:
    """How far a type is from that of a value; None if it does not convert."""
    rank = _rank_standard(value, target)
    if rank is None and has_conversion(context, value, target):
        return USER_DEFINED
    return rank


def _rank_standard(value: Value, target: CType) -> float | None:
    """The same for conversions that no class defines."""
    source = value.type
    if source == target or is_same_type(source, target):
        return EXACT
    match target, source:
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
            return any(_makes(context, each, info.scope, value) for each in info.constructors)
    return False


def _gives(context: Context, function: tree.Function, scope: Scope, target: CType) -> bool:
    """Whether a conversion function gives a type, or a number that becomes one of it."""
    if is_deduced(function.result) or function.template_parameters:
        return True
    result = context.unit.resolve_type(function.result, scope).type
    return _rank_standard(make_value(result, code.constant(0)), target) is not None


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
    return _rank_standard(value, target) is not None
