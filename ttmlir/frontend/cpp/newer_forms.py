"""Forms of C++ that kernels use and the IR has no place for."""

from __future__ import annotations

from ttmlir.cpp import tree
from ttmlir.cpp.walk import descendants

_KINDS: dict[type[tree.Node], str] = {
    tree.ArrayOf: "the type of an array",
    tree.Assembly: "assembly",
    tree.Binding: "a declaration of several names",
    tree.CountOf: "'sizeof...'",
    tree.Decltype: "decltype",
    tree.Expansion: "a parameter pack",
    tree.Fold: "a fold over a parameter pack",
    tree.FunctionOf: "the type of a function",
    tree.Lambda: "a lambda",
    tree.NamespaceAlias: "the name of a namespace",
    tree.RangeFor: "a loop over a range",
    tree.This: "'this'",
}


def find_newer_form(unit: tree.TranslationUnit) -> tuple[tree.Node, str] | None:
    """The first node of a form that the IR has no place for, with what it is called."""
    for node in descendants(unit):
        found = _KINDS.get(type(node)) or _describe(node)
        if found:
            return node, found
    return None


def _describe(node: tree.Node) -> str:
    """What is new about a node; nothing for those that are read."""
    match node:
        case tree.Struct(members=(_, *_)) | tree.Struct(bases=(_, *_)):
            return "a class with more than fields"
        case tree.Struct(kind=kind) if kind != "struct":
            return f"a {kind}"
        case tree.Struct(template_parameters=(_, *_)) | tree.Struct(is_defined=False):
            return "a template of a class"
        case tree.Reference(is_rvalue=True):
            return "'&&'"
        case tree.NamedType(scope=scope) | tree.Name(scope=scope) if scope is not None:
            return "a member of a type with template arguments"
        case tree.Name(template_arguments=(_, *_)):
            return "template arguments without a call"
        case _:
            return _describe_declaration(node) or _describe_expression(node)


def _describe_declaration(node: tree.Node) -> str:
    match node:
        case tree.Function(kind=kind) if kind != "function":
            return f"a {kind}"
        case tree.Function(scope=scope) if scope is not None:
            return "a member function"
        case tree.Declarator(arguments=arguments) if arguments is not None:
            return "a variable with arguments in parentheses"
        case (
            tree.Declaration(template_parameters=(_, *_)) | tree.Alias(template_parameters=(_, *_))
        ):
            return "a template of a variable or alias"
        case tree.TemplateParameter(default=default) if default is not None:
            return "a default template argument"
        case _:
            return ""


def _describe_expression(node: tree.Node) -> str:
    match node:
        case tree.FunctionCall(callee=callee) if not isinstance(callee, (tree.Name, tree.Member)):
            return "a call of what is no function"
        case tree.FunctionCall(callee=tree.Member(), template_arguments=(_, *_)):
            return "a member function with template arguments"
        case tree.FunctionCall(arguments=arguments) if any(
            isinstance(each, tree.Braces) for each in arguments
        ):
            return "braces as an argument"
        case tree.Return(value=tree.Braces()):
            return "braces as a result"
        case tree.Assign(target=target) if not isinstance(
            target, (tree.Name, tree.Index, tree.Member, tree.Unary)
        ):
            return "an assignment to what is no variable"
        case _:
            return ""
