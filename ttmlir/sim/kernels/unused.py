"""Functions that a kernel does not call: a compiler finds what is wrong with them all the same.

Those of headers are left alone: much of what headers hold is for other kernels.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from ttmlir.cpp import tree
from ttmlir.cpp.errors import CppSyntaxError
from ttmlir.cpp.types import IncompleteType, ObjectType, SignatureType, is_deduced
from ttmlir.sim.kernels.context import Argument, Context, Handlers
from ttmlir.sim.kernels.destructors import THIS
from ttmlir.sim.kernels.expressions.function_pointers import describe_argument
from ttmlir.sim.kernels.expressions.signatures import find_object_of, find_signature
from ttmlir.sim.kernels.independent import check_statements, list_open_names
from ttmlir.sim.kernels.limits import MAX_STEPS
from ttmlir.sim.kernels.scope import ClassTemplate, Functions, Scope, list_declared_names
from ttmlir.sim.kernels.unit import Unit
from ttmlir.sim.kernels.unknown_names import ENTRIES, check_template, mentions

_NOT_HERE = (
    *("support", "known here", "known to the simulator", "declared but never defined"),
    *("'__", "the size of an array has to be a constant"),
)
"""Words of messages about what may be right, and is not possible here."""


def check_unused(unit: Unit, handlers: Handlers) -> None:
    """Raise the first error in a function of the kernel's own text that was not compiled.

    All of them together may be as large as a kernel; what is beyond that is left alone.
    """
    compiled = {key[0] for key in unit.instances}
    unit.steps = 0
    for function, scope in list(_list_functions(unit)):
        if unit.steps > MAX_STEPS:
            return
        is_own = function.position is not None and function.position.file == unit.file
        is_left_out = id(function) in compiled or function.name in ENTRIES
        if not is_own or is_left_out or function.definition is None:
            continue
        context = Context(unit, scope, handlers, function=function)
        is_template = bool(function.template_parameters) or function.specialized is not None
        if is_template or any(is_deduced(each.type) for each in function.parameters):
            _check_template(context, function, ())
        elif function.kind == "function":
            _compile_alone(context, function)
    unit.is_left_out = True
    for check in list(unit.left_out.values()):
        if unit.steps <= MAX_STEPS:
            _run(unit, check)
    for template in _list_templates(unit):
        parameters = {each.name for each in template.definition.template_parameters}
        if all(mentions((each,), parameters) for each in template.definition.bases):
            # What depends on the arguments is not looked for in such bases.
            _check_class_template(unit, handlers, template)


def _list_functions(unit: Unit) -> Iterator[tuple[tree.Function, Scope]]:
    """The functions of the kernel, and the member functions of its classes."""
    classes = (each.scope for each in unit.classes.values() if each.template is None)
    for scope in (unit.root, *unit.namespaces.values(), *classes):
        for symbol in list(scope.symbols.values()):
            if isinstance(symbol, Functions) and symbol.scope is scope:
                yield from ((each, scope) for each in symbol.definitions)


def _list_templates(unit: Unit) -> Iterator[ClassTemplate]:
    for scope in (unit.root, *unit.namespaces.values()):
        for symbol in list(scope.symbols.values()):
            position = symbol.definition.position if isinstance(symbol, ClassTemplate) else None
            if isinstance(symbol, ClassTemplate) and position and position.file == unit.file:
                yield symbol


def _compile_alone(context: Context, function: tree.Function) -> None:
    """Compile a function for arguments that may be anywhere."""
    unit = context.unit
    try:
        with unit.trying():
            written = tree.FunctionOf(tree.NamedType("void"), function.parameters)
            signature = find_signature(context, written)
            if any(isinstance(x.type, (ObjectType, IncompleteType)) for x in signature.parameters):
                return
            arguments = [*_find_this(context), *_describe(signature)]
            context.handlers.find_instance(context, function, context.scope, arguments, function)
    except CppSyntaxError as error:
        _report(unit, error)


_ELSEWHERE = re.compile(r"division by zero|is outside of|'[A-Z_\d]+' is not declared")
"""What is no mistake in a branch that is left out: values are not computed, macros are others."""
_SURE = re.compile(
    r"takes \d+ argument|has no members?\b|cannot be called|declared twice|outside of a loop|"
    r"'return' needs a value|without result returns a value|there is no function"
)
"""What a compiler says about statements of templates before these are used."""


def _run(unit: Unit, check: Callable[[], None], *, is_open: bool = False) -> None:
    """A check, after which what is wrong is said; of templates only what is surely so."""
    try:
        with unit.trying():
            check()
    except CppSyntaxError as error:
        sure = _SURE.search(error.message) if is_open else not _ELSEWHERE.search(error.message)
        if sure:
            _report(unit, error)


def _report(unit: Unit, error: CppSyntaxError) -> None:
    is_possible = any(each in str(error).partition("\n")[0] for each in _NOT_HERE)
    if is_possible or unit.steps > MAX_STEPS:
        return
    if unit.errors is None:
        raise error
    if all(each.position != error.position for each in unit.errors.errors):
        # Two checks may find the same mistake and say it differently.
        unit.errors.add(error)


def _describe(signature: SignatureType) -> list[Argument]:
    return [describe_argument(each, number) for number, each in enumerate(signature.parameters)]


def _find_this(context: Context) -> list[Argument]:
    """The object of a member function, which a static one does not have."""
    assert context.function is not None
    this = find_object_of(context, context.function, context.scope)
    return [] if this is None else [describe_argument(this, THIS)]


# Templates: the names that depend on no argument.


def _check_class_template(unit: Unit, handlers: Handlers, template: ClassTemplate) -> None:
    """The member functions of a class template, in which all of its members are known."""
    definition = template.definition
    members = {name for each in definition.members for name in list_declared_names(each)}
    members |= set(_list_field_names(definition))
    members |= {each.name for each in definition.template_parameters}
    members.add(definition.name)
    for each in (*definition.members, *template.methods):
        if isinstance(each, tree.Function) and each.definition is not None:
            context = Context(unit, template.scope, handlers, function=each)
            _check_template(context, each, members)


def _list_field_names(node: tree.Struct) -> Iterator[str]:
    """The members of an object, those in unnamed structs and unions too."""
    inner = {each.name: each for each in node.members if isinstance(each, tree.Struct)}
    for field in node.fields:
        yield from (each.name for each in field.declarators)
        if not field.declarators and isinstance(field.type, tree.NamedType):
            if field.type.name in inner:
                yield from _list_field_names(inner[field.type.name])


def _check_template(context: Context, function: tree.Function, own: Iterable[str]) -> None:
    """The names in the body of a template that mean something whatever its arguments are."""
    _run(context.unit, lambda: check_template(context, function, own))
    _run(context.unit, lambda: _check_body(context, function, own), is_open=True)


def _check_body(context: Context, function: tree.Function, own: Iterable[str]) -> None:
    """The statements of a template that depend on no argument of it."""
    depending = set(own) | list_open_names(function)
    body = function.body
    if body is None or function.kind != "function" or context.unit.steps > MAX_STEPS:
        return
    inner = context.handlers.open_function(context, function, depending)
    check_statements(inner, (body,), depending)
