"""Names that mean nothing in what is not compiled: branches left out, templates not used."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace
from typing import cast

from ttmlir.cpp import tree
from ttmlir.cpp.errors import CppSyntaxError
from ttmlir.cpp.types import is_deduced
from ttmlir.sim.kernels.context import Context
from ttmlir.sim.kernels.expressions.standard import SPECIAL
from ttmlir.sim.kernels.expressions.variables import is_known_name, unknown_variable
from ttmlir.sim.kernels.scope import Functions, list_declared_names

_WORDS = ("auto", "this", "void")
"""What is written like a type, and is none that could be looked up."""

ENTRIES = ("kernel_main", "MAIN")
"""Functions that are surely of no template."""


def check_branch(context: Context, branch: tree.Node) -> None:
    """Find names that mean nothing in a branch that `if constexpr` leaves out.

    Functions that are called with more than literals may be found by what is passed, in a template.
    """
    function = context.function
    is_entry = function is not None and function.name in ENTRIES
    if is_entry and not context.unit.instantiations:
        _check_names(context, tree.walk(branch), (), lambda call: False)
    else:
        _check_names(context, tree.walk(branch), (), _has_arguments)


def find_unknown_names(context: Context, function: tree.Function) -> Iterator[list[CppSyntaxError]]:
    """Errors of names that mean nothing in what is compiled whatever the constants are.

    That is a function and those of the text that it calls, without branches of `if constexpr`.
    Errors of an expression or a declaration, which is compiled up to one of them, stand together.
    """
    unit = context.unit
    functions, seen = [function], {id(function)}
    while functions:
        function = functions.pop()
        declared = {name for each in function.parts for name in _list_all_declared(each)}
        declared.update(each.name or "" for each in function.parameters)
        if any(isinstance(each, (tree.Struct, tree.Lambda)) for each in function.parts):
            continue
        for each in _list_certain(function.body):
            names = [x for x in tree.walk(each) if isinstance(x, tree.Name) and x.scope is None]
            bare = [x for x in names if "::" not in x.text and x.text not in declared]
            if any(x.text.startswith(_PRINTING) for x in bare):
                continue
            unknown = [
                x for x in bare if x.text not in SPECIAL and not is_known_name(context, x.text)
            ]
            if unknown:
                yield [unknown_variable(context, x) for x in unknown]
            for x in bare:
                called = unit.find(x.text, unit.root)
                if isinstance(called, Functions) and len(called.definitions) == 1:
                    only = called.definitions[0]
                    if id(only) not in seen and _is_plain(only, unit.file):
                        seen.add(id(only))
                        functions.append(only)


_PRINTING = ("DPRINT", "DEVICE_PRINT")
"""Beginnings of names that print, with words of their own."""


def _is_plain(function: tree.Function, file: str) -> bool:
    """Whether a function of the text is compiled as it stands where it is called."""
    is_own = function.position is not None and function.position.file == file
    is_open = any(is_deduced(each.type) for each in function.parameters)
    is_template = bool(function.template_parameters) or function.specialized is not None
    return is_own and not is_open and not is_template and function.body is not None


def _list_certain(body: object) -> Iterator[tree.Evaluate | tree.Declaration]:
    """Expressions and declarations that no constant leaves out, in the order of the text."""
    pending = [body]
    while pending:
        each = pending.pop()
        if isinstance(each, tuple):
            pending += reversed(cast("tuple[object, ...]", each))
        elif isinstance(each, (tree.Evaluate, tree.Declaration)):
            yield each
        elif isinstance(each, tree.Node) and not (isinstance(each, tree.If) and each.is_constexpr):
            pending += tree.list_parts(each)


def _has_arguments(call: tree.FunctionCall) -> bool:
    literals = (tree.Integer, tree.Floating, tree.Boolean, tree.Character)
    return not all(isinstance(each, literals) for each in call.arguments)


def check_template(context: Context, function: tree.Function, own: Iterable[str]) -> None:
    """Find names that mean nothing in a template, whatever its arguments are.

    `own` are the names of the class around it, whose types depend on its arguments.
    """
    depending = set(own) | list_depending(function)
    nodes = (function, *tree.walk(function.template_parameters), *function.parts)
    nodes = (*nodes, *tree.walk(function.parameters))

    def depends(call: tree.FunctionCall) -> bool:
        return mentions(call.arguments, depending)

    _check_names(context, nodes, own, depends)


def list_depending(function: tree.Function) -> set[str]:
    """Template parameters that are types, and variables whose types may depend on them."""
    depending = set[str]()
    for each in (*function.template_parameters, *function.parameters):
        type_ = each.type
        if type_ is None or is_deduced(type_) or mentions((type_,), depending):
            depending.add(each.name or "")
    for each in function.parts:
        match each:
            case tree.Declaration(type=type_):
                if is_deduced(type_) or mentions((type_,), depending):
                    depending.update(list_declared_names(each))
            case tree.Binding() | tree.Struct() | tree.Alias() | tree.UsingName():
                depending.update(list_declared_names(each))
            case tree.Lambda(parameters=parameters, captures=captures):
                depending.update(x.name for x in (*parameters, *captures) if x.name)
            case _:
                pass
    return depending


def mentions(nodes: Iterable[object], names: Collection[str]) -> bool:
    """Whether some nodes name one of some names, or what may depend on them in other ways."""
    for each in (inner for node in nodes for inner in tree.walk(node)):
        match each:
            case tree.Name(text=name) | tree.NamedType(name=name):
                if name.partition("::")[0] in names:
                    return True
            case tree.This() | tree.Lambda() | tree.Decltype():
                return bool(names)
            case tree.CountOf(pack=name) if name in names:
                return True
            case _:
                pass
    return False


def _check_names(
    context: Context,
    nodes: Iterable[tree.Node],
    own: Iterable[str],
    depends: Callable[[tree.FunctionCall], bool],
) -> None:
    listed = list(nodes)
    declared = {name for each in listed for name in _list_all_declared(each)} | set(own)
    called = {
        id(each.callee) for each in listed if isinstance(each, tree.FunctionCall) and depends(each)
    }
    for each in listed:
        if isinstance(each, tree.NamedType):
            _check_type(context, each, declared)
        if isinstance(each, tree.Name) and each.scope is None and "::" not in each.text:
            # Capital letters are those of what is printed and of macros.
            if each.text in declared or each.text in SPECIAL or each.text.isupper():
                continue
            if id(each) not in called and not is_known_name(context, each.text):
                raise unknown_variable(context, each)


def _check_type(context: Context, node: tree.NamedType, declared: Collection[str]) -> None:
    """Refuse a type that is not known."""
    is_plain = node.scope is None and "::" not in node.name and node.name not in declared
    if is_plain and node.name not in _WORDS and context.unit.find(node.name, context.scope) is None:
        context.unit.resolve_type(replace(node, template_arguments=()), context.scope)


def _list_all_declared(node: tree.Node) -> Iterator[str]:
    match node:
        case tree.Parameter(name=name) | tree.Declarator(name=name):
            yield name or ""
        case tree.TemplateParameter(name=name) | tree.Capture(name=name):
            yield name
        case _:
            yield from list_declared_names(node)
