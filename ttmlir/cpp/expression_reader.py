"""Expressions of the tree from the grammar's nodes.

The parser builds on it; apart, because the forms of expressions are half of C++.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING, ClassVar, NamedTuple, cast

from ttmlir.cpp import tree
from ttmlir.cpp.errors import CppSyntaxError
from ttmlir.cpp.member_pointers import ACCESS, read_function, read_pointer
from ttmlir.cpp.preprocess import PreprocessedText
from ttmlir.cpp.types import is_built_in_type
from ttmlir.nesting import MAX_NESTING

if TYPE_CHECKING:
    from tree_sitter import Node


# --- Type reader ----------------------------------------------------------------------------------
# Types, and the names that declarations give them, from the grammar's nodes.

_QUALIFIERS = {"const": "const", "volatile": "volatile", "_Atomic": "tt_l1_ptr"}
_IGNORED_QUALIFIERS = frozenset(("__restrict", "__restrict__", "noexcept", "register"))
_ALIGNED = ("aligned", "__aligned__")
_ATTRIBUTES = frozenset(
    ("attribute_declaration", "attribute_specifier", "alignas_qualifier", "attribute")
)
"""Nodes that stand beside the type and the names of a declaration."""
_SPECIFIER_NODES = frozenset(
    ("type_qualifier", "storage_class_specifier", "explicit_function_specifier")
)
_OTHER_PARTS = frozenset(
    ("field_initializer_list", "bitfield_clause", "default_method_clause", "delete_method_clause")
)
"""Parts of a declaration that stand after its names."""
_DEFINITIONS = frozenset(("struct_specifier", "class_specifier", "union_specifier"))

_WORDS = {
    "alias_declaration": "an alias",
    "attribute_declaration": "an attribute",
    "catch_clause": "catch",
    "class_specifier": "a class",
    "concept_definition": "a concept",
    "declaration": "a declaration",
    "delete_expression": "delete",
    "enum_specifier": "an enumeration",
    "for_range_loop": "a loop over a range",
    "initializer_list": "a list in braces",
    "lambda_expression": "a lambda",
    "new_expression": "new",
    "optional_parameter_declaration": "a default argument",
    "pure_virtual_clause": "a virtual function",
    "requires_clause": "requires",
    "requires_expression": "requires",
    "static_assert_declaration": "static_assert",
    "struct_specifier": "a struct",
    "switch_statement": "switch",
    "template_declaration": "a template",
    "template_method": "a member function with template arguments",
    "throw_statement": "throw",
    "try_statement": "try",
    "type_definition": "typedef",
    "template_function": "template arguments without a call",
    "union_specifier": "a union",
    "user_defined_literal": "a literal with a suffix of its own",
    "using_declaration": "a using declaration",
    "variadic_parameter_declaration": "a variadic parameter",
    "virtual": "a virtual function",
    "virtual_specifier": "a virtual function",
}


DEFAULT_BRACES = "braces_of_parameter"
"""The type that no text has, of braces that a parameter starts as."""


class Words(NamedTuple):
    """The words before the names of a declaration."""

    type: tree.Type
    specifiers: tuple[str, ...]


class Declared(NamedTuple):
    """A name with the type and the array sizes that its declarator gives it."""

    name: str | None
    type: tree.Type
    sizes: tuple[tree.Expression | None, ...]
    is_pack: bool = False


class QualifiedName(NamedTuple):
    """A name as it is written: in a type with template arguments, with some of its own."""

    text: str
    arguments: tuple[tree.TemplateArgument, ...]
    scope: tree.Type | None


class MisreadError(CppSyntaxError):
    """The grammar reads something else than C++, as it does not know what the names are.

    `a < b && c > (d)` for a call of a template, though `a` is a variable; `(a) && b` for the
    address of a label, cast to `a`; `(T) & b` for an operation, though `T` is a type.
    """

    def __init__(self, error: CppSyntaxError, *insertions: tuple[int, str]) -> None:
        """What to say if the text cannot be read in another way, and what makes it clear."""
        super().__init__(error.message, error.position, error.line, error.notes)
        self.insertions = insertions


class TypeReader:
    """Turns the nodes of types into nodes of the tree."""

    def __init__(self, source: PreprocessedText, *, is_header: bool = False) -> None:
        """A reader of what the preprocessor has left of a kernel, or of a header."""
        self.source = source
        self.is_header = is_header
        self.variables = set[str]()
        """Names of variables, enumerators and data members outside of functions."""
        self.templates = set[str]()
        """Names of templates, which may stand before `<` though a variable has the name, too."""
        self.types = set[str]()
        """Names of types outside of functions, which the grammar cannot know."""
        self.locals: dict[str, bool] | None = None
        """Whether names that the template or function around declares are those of variables."""
        self.pending: list[tree.Struct | tree.Enumeration] = []
        """Structs and enumerations that are defined where a type is written."""
        self.jumps: dict[tree.Position | None, Node] = {}
        """The jumps and labels of the function that is read."""
        self.inner_cases: list[tuple[tree.Label, tree.Case]] | None = None
        """The cases in blocks of the `switch` that is read; None outside of one."""
        self.unnamed_count: int = 0
        """How many types without names there are so far."""
        self.depth: int = 0

    # What readers that build on this one read.

    def expression(self, node: Node) -> tree.Expression:
        """The expression that a node stands for."""
        raise NotImplementedError

    def parameters(self, node: Node) -> tuple[tree.Parameter, ...]:
        """The parameters of a function."""
        raise NotImplementedError

    def defined_type(self, node: Node) -> str:
        """The name of a struct or enumeration that is defined or named here."""
        raise NotImplementedError

    # What names are.

    def declare(self, name: str) -> None:
        """Note that a name is that of a variable from here on."""
        if self.locals is None:
            self.variables.add(name)
        else:
            self.locals[name] = True

    def declare_type(self, name: str) -> None:
        """Note that a name is that of a type from here on."""
        if self.locals is None:
            self.types.add(name)
        else:
            self.locals[name] = False

    def is_variable(self, name: str, *, is_qualified: bool = False) -> bool:
        """Whether a name is that of a variable, which has no template arguments.

        What a function declares is not meant behind `::`.
        """
        if not is_qualified and self.locals is not None and name in self.locals:
            return self.locals[name]
        return name in self.variables and name not in self.templates and name not in self.types

    def is_type(self, name: str) -> bool:
        """Whether a name is that of a type."""
        if self.locals is not None and name in self.locals:
            return not self.locals[name]
        return is_built_in_type(name) or name in self.types

    @contextmanager
    def scope(self) -> Generator[None]:
        """What is declared inside is not known behind."""
        outer = self.locals
        self.locals = dict(outer or {})
        try:
            yield
        finally:
            self.locals = outer

    # Places and refusals.

    def at(self, node: Node) -> tree.Position:
        """Where a node stands in the source."""
        return self.source.position(node.start_byte)

    def text(self, node: Node) -> str:
        """The text of a node."""
        return self.source.text[node.start_byte : node.end_byte]

    def error(self, node: Node, message: str) -> CppSyntaxError:
        """An error about a node."""
        return self.source.error(node.start_byte, message)

    def misread(self, start: int, end: int, message: str) -> MisreadError:
        """What the grammar reads in another way with parentheses around a part of the text."""
        return MisreadError(self.source.error(start, message), (start, "("), (end, ")"))

    def unsupported(self, node: Node, supported: str) -> CppSyntaxError:
        """The error about a kind of node that the tree has no place for."""
        what = _WORDS.get(node.type, node.type.replace("_", " "))
        return self.error(node, f"{what} is not supported here; supported are {supported}")

    def field(self, node: Node, name: str) -> Node:
        """The child of a node in a field."""
        child = node.child_by_field_name(name)
        if child is None:
            raise self.error(node, f"{node.type.replace('_', ' ')} without {name}")
        return child

    def only(self, node: Node, *allowed: str) -> None:
        """Refuse named children that are neither in a field nor of an allowed kind."""
        for index, child in enumerate(node.children):
            if child.is_named and node.field_name_for_child(index) is None:
                if child.type not in allowed and child.type not in _ATTRIBUTES:
                    raise self.unsupported(child, "the plain forms")

    def deeper(self, node: Node) -> None:
        """Count a level of nesting, which the caller takes back."""
        self.depth += 1
        if self.depth > MAX_NESTING:
            raise self.error(node, f"nested more than {MAX_NESTING} levels deep")

    # Types.

    def words(self, node: Node) -> Words:
        """The type and specifiers with which a declaration begins; constructors have no type."""
        qualifiers, specifiers, seen = list[str](), list[str](), set[str]()
        for index, child in enumerate(node.children):
            self._refuse_virtual(child)
            if not child.is_named or node.field_name_for_child(index) is not None:
                continue
            word = self.text(child)
            # `alignas` is a qualifier with a child, which `alignments` reads.
            is_alignment = child.type == "type_qualifier" and bool(child.named_children)
            if is_alignment or child.type in _ATTRIBUTES or word in _IGNORED_QUALIFIERS:
                continue
            if child.type == "type_qualifier" and word in _QUALIFIERS:
                if word in seen:
                    raise self.error(child, f"'{word}' is written twice")
                seen.add(word)
                qualifiers.append(_QUALIFIERS[word])
            elif child.type in _SPECIFIER_NODES:
                if word not in tree.SPECIFIERS and word not in tree.MEMBER_SPECIFIERS:
                    raise self.error(child, f"'{word}' is not supported in a declaration")
                specifiers.append(word)
            elif child.type not in _OTHER_PARTS:
                raise self.unsupported(child, "plain declarations")
        written = node.child_by_field_name("type")
        if written is None:
            type_: tree.Type = tree.NamedType("void", position=self.at(node))
        else:
            type_ = self.written_type(written, tuple(qualifiers))
        return Words(type_, tuple(specifiers))

    def _refuse_virtual(self, node: Node) -> None:
        if node.type == "virtual":
            message = "virtual functions are not supported: tt-metal does not load the tables of"
            raise self.error(node, f"{message} classes that have them")

    def alignments(self, node: Node) -> tuple[tree.TemplateArgument, ...]:
        """What `alignas` and the attribute `aligned` ask of a declaration."""
        return tuple(each for child in node.named_children for each in self._alignment(child))

    def _alignment(self, node: Node) -> Iterator[tree.TemplateArgument]:
        match node.type:
            case "type_qualifier":
                yield from self.alignments(node)
            case "alignas_qualifier":
                yield from map(self.template_argument, node.named_children)
            case "attribute_specifier":
                for each in node.named_children[0].named_children:
                    if each.type == "call_expression" and self.text(each).startswith(_ALIGNED):
                        listed = self.field(each, "arguments").named_children
                        yield from map(self.template_argument, listed)
            case _:
                pass

    def declared(self, node: Node, type_: tree.Type) -> Declared:
        """The name in a declarator, and what it makes of the type before it."""
        sizes, is_pack = list[tree.Expression | None](), False
        inner: Node | None = node
        while inner is not None:
            node = inner
            if node.type in ("identifier", "field_identifier", "type_identifier"):
                return Declared(self.text(node), type_, tuple(reversed(sizes)), is_pack)
            if node.type == "qualified_identifier":
                name = self.qualified_name(node).text.rpartition("::")[2]
                return Declared(name, type_, tuple(reversed(sizes)), is_pack)
            if node.type.endswith("array_declarator"):
                type_, inner = self._array_declarator(node, type_, sizes)
            elif node.type == "variadic_declarator":
                is_pack = True
                inner = node.named_children[0] if node.named_children else None
            else:
                if sizes:
                    raise self.error(node, "a pointer to an array is not supported")
                type_, inner = self._inner_declarator(node, type_)
        return Declared(None, type_, tuple(reversed(sizes)), is_pack)

    def _inner_declarator(self, node: Node, type_: tree.Type) -> tuple[tree.Type, Node | None]:
        """What a declarator makes of a type, and the declarator in it, if there is one."""
        kind = node.type
        if kind.endswith(("pointer_declarator", "reference_declarator")):
            type_, inner = self.pointed(node, type_)
            return type_, None if inner is node else inner
        if kind.endswith("function_declarator"):
            inner, type_ = self._function_type(node, type_)
            return type_, None if inner is node else inner
        if kind.endswith(("parenthesized_declarator", "attributed_declarator")):
            return type_, node.named_children[0]
        raise self.unsupported(node, "names, pointers, references and arrays")

    def _array_declarator(
        self, node: Node, type_: tree.Type, sizes: list[tree.Expression | None]
    ) -> tuple[tree.Type, Node | None]:
        """The type before an array, and the declarator in it; adds its size."""
        self.only(node)
        size = node.child_by_field_name("size")
        sizes.append(None if size is None else self.expression(size))
        inner = node.child_by_field_name("declarator")
        if inner is not None and inner.type.endswith("parenthesized_declarator"):
            # `T (&name)[2]`: what is in the parentheses refers to the array.
            for each in sizes:
                type_ = tree.ArrayOf(type_, each, position=self.at(node))
            sizes.clear()
            inner = inner.named_children[0]
        return type_, inner

    def _function_type(self, node: Node, result: tree.Type) -> tuple[Node, tree.Type]:
        """`(*name)(parameters)` as what the name points to, with what is in the parentheses."""
        inner = node.child_by_field_name("declarator")
        is_named = inner is not None and inner.type == "type_identifier"
        if not (inner is None or is_named or inner.type.endswith("parenthesized_declarator")):
            message = "initialise with '=': 'T name = T(...)', or declare functions outside"
            raise self.error(node, message)
        parameters = self.parameters(self.field(node, "parameters"))
        type_ = replace(read_function(result, parameters), position=self.at(node))
        if inner is None:
            return node, type_
        return (inner if is_named else inner.named_children[0]), type_

    def pointed(self, node: Node, type_: tree.Type) -> tuple[tree.Type, Node]:
        """The type with the pointer or reference of a declarator, and the declarator in it."""
        position = self.at(node)
        if isinstance(type_, tree.Reference):
            raise self.error(node, "nothing refers or points to a reference; leave one of them out")
        if node.type.endswith("reference_declarator"):
            rvalue = self.text(node).startswith("&&")
            result: tree.Type = tree.Reference(type_, rvalue, position=position)
        else:
            words = [self.text(each) for each in node.children if each.type == "type_qualifier"]
            words = [each for each in words if each not in _IGNORED_QUALIFIERS]
            if any(word not in ("const", "volatile") for word in words):
                raise self.error(node, "only 'const' is supported after '*'")
            result = tree.Pointer(type_, const="const" in words, position=position)
        inner = [each for each in node.named_children if each.type != "type_qualifier"]
        return result, inner[-1] if inner else node

    def type_descriptor(self, node: Node) -> tree.Type:
        """A type that is written without a name, as in a cast."""
        words = self.words(node)
        if words.specifiers:
            raise self.error(node, f"'{words.specifiers[0]}' does not go with this type")
        declarator = node.child_by_field_name("declarator")
        if declarator is None:
            return words.type
        declared = self.declared(declarator, words.type)
        if declared.name is not None:
            raise self.unsupported(declarator, "pointers and references")
        type_ = declared.type
        for size in reversed(declared.sizes):
            type_ = tree.ArrayOf(type_, size, position=self.at(declarator))
        return type_

    def written_type(self, node: Node, qualifiers: tuple[str, ...] = ()) -> tree.Type:
        """The type that a node names or defines, or computes."""
        while node.type == "dependent_type":
            node = node.named_children[-1]
        match node.type:
            case "decltype":
                return self.decltype(node)
            case "placeholder_type_specifier" if self.text(node) != "auto":
                value = _find_value_of_auto(node)
                if value is not None:
                    return self._decltype_of(value, node)
                return tree.NamedType("auto", (), qualifiers, position=self.at(node))
            case _:
                return read_pointer(self.named_type(node, qualifiers))

    def decltype(self, node: Node) -> tree.Decltype:
        """`decltype(expression)`."""
        return self._decltype_of(node.named_children[0], node)

    def _decltype_of(self, operand: Node, node: Node) -> tree.Decltype:
        in_brackets = operand.type == "parenthesized_expression"
        return tree.Decltype(self.expression(operand), in_brackets, position=self.at(node))

    def named_type(self, node: Node, qualifiers: tuple[str, ...] = ()) -> tree.NamedType:
        """The type that a node names."""
        found = QualifiedName("", (), None)
        while node.type in ("dependent_type", "dependent_name"):
            node = node.named_children[-1]
        match node.type:
            case "primitive_type" | "sized_type_specifier" | "type_identifier" | "identifier":
                found = found._replace(text=" ".join(self.text(node).split()))
            case "field_identifier" | "namespace_identifier":
                found = found._replace(text=self.text(node))
            case "placeholder_type_specifier" if self.text(node) == "auto":
                found = found._replace(text="auto")
            case kind if kind in _DEFINITIONS or kind == "enum_specifier":
                found = found._replace(text=self.defined_type(node))
            case "qualified_identifier" | "template_type" | "template_function" | "template_method":
                found = self.qualified_name(node)
            case _:
                raise self.unsupported(node, "built-in types, names of types and pointers to them")
        return tree.NamedType(
            found.text, found.arguments, qualifiers, found.scope, position=self.at(node)
        )

    def qualified_name(self, node: Node) -> QualifiedName:
        """A name with what stands before it: namespaces, and types with template arguments."""
        whole, prefix, scope = node, "", None
        depth = 0
        while node.type == "qualified_identifier":
            self.deeper(node)
            depth += 1
            outer = node.child_by_field_name("scope")
            while outer is not None and outer.type in ("dependent_name", "dependent_type"):
                outer = outer.named_children[-1]
            if outer is None:
                prefix += "::"
            elif outer.type == "decltype":
                scope = self.decltype(outer)
            elif outer.type == "template_type":
                name = prefix + self.text(self.field(outer, "name"))
                listed = self._template_arguments(outer)
                scope, prefix = tree.NamedType(name, listed, (), scope, position=self.at(outer)), ""
            else:
                prefix += f"{self.text(outer)}::"
            node = self._last_name(node)
        self.depth -= depth
        if node.type in ("template_type", "template_function", "template_method"):
            name = self.text(self.field(node, "name"))
            is_qualified = bool(prefix) or scope is not None
            if prefix != "std::" and self.is_variable(name, is_qualified=is_qualified):
                message = f"'{name}' is a variable, which has no template arguments"
                raise self.misread(whole.start_byte, self.field(node, "name").end_byte, message)
            arguments = self._template_arguments(node)
            return QualifiedName(re.sub(r"\s+", "", prefix + name), arguments, scope)
        return QualifiedName(re.sub(r"\s+", "", prefix + self.text(node)), (), scope)

    def _last_name(self, node: Node) -> Node:
        """What stands after the `::`, without `template` before it."""
        name = self.field(node, "name")
        if name.type == "template":
            name = node.named_children[-1]
        while name.type in ("dependent_name", "dependent_type"):
            name = name.named_children[-1]
        return name

    def _template_arguments(self, node: Node) -> tuple[tree.TemplateArgument, ...]:
        listed = self.field(node, "arguments").named_children
        return tuple(map(self.template_argument, listed))

    def template_argument(self, node: Node) -> tree.TemplateArgument:
        """A type or an expression between angle brackets."""
        match node.type:
            case "type_descriptor":
                self.deeper(node)
                type_ = self.type_descriptor(node)
                self.depth -= 1
                return _as_call(type_) or self.type_or_name(type_)
            case "parameter_pack_expansion":
                pattern = self.template_argument(node.named_children[0])
                return tree.Expansion(pattern, position=self.at(node))
            case _:
                return self.expression(node)

    def type_or_name(self, type_: tree.Type) -> tree.TemplateArgument:
        """A name that is no built-in type stays a name: it may be that of a constant."""
        match type_:
            case tree.NamedType(
                name=name, template_arguments=arguments, qualifiers=(), scope=scope
            ):
                if is_built_in_type(name):
                    return type_
                return tree.Name(name, arguments, scope, position=type_.position)
            case _:
                return type_

    def name_text(self, node: Node) -> str:
        """A name without the space in it."""
        return re.sub(r"\s+", "", self.text(node))


def _built_on(type_: tree.Type) -> str:
    """The name of the type that another one points to, refers to, or has as elements; or ''."""
    match type_:
        case tree.Pointer(inner) | tree.Reference(inner) | tree.ArrayOf(inner):
            return inner.name if isinstance(inner, tree.NamedType) else _built_on(inner)
        case tree.FunctionOf(result=result):
            return _built_on(result)
        case _:
            return ""


def _as_call(type_: tree.Type) -> tree.Expression | None:
    """`decltype(a)::next()`, or a cast, which the grammar takes for the type of a function."""
    match type_:
        case tree.FunctionOf(
            result=tree.NamedType(qualifiers=()) as result, parameters=parameters
        ) if not is_built_in_type(result.name):
            arguments = list[tree.Expression]()
            for each in parameters:
                match each:
                    case tree.Parameter(type=tree.NamedType(qualifiers=()) as given, name=None):
                        arguments.append(_as_value(given, each.position))
                    case _:
                        return None
            return call_of_type(result, tuple(arguments), type_.position)
        case _:
            return None


def _as_value(type_: tree.NamedType, position: tree.Position | None) -> tree.Expression:
    """A name or a constant that the grammar took for a type."""
    if type_.name in ("true", "false"):
        return tree.Boolean(type_.name == "true", position=position)
    if type_.name == "nullptr":
        return tree.Null(position=position)
    return tree.Name(type_.name, type_.template_arguments, type_.scope, position=position)


def call_of_type(
    type_: tree.NamedType, arguments: tuple[tree.Expression, ...], position: tree.Position | None
) -> tree.Expression:
    """`name<...>(arguments)` where the grammar took the name for a type: a call, or a cast."""
    written = type_.template_arguments
    if type_.name in _CASTS and len(written) == len(arguments) == 1:
        kind, target = cast("tree.CastKind", type_.name), written[0]
        if isinstance(target, tree.Name):
            target = tree.NamedType(
                target.text, target.template_arguments, (), target.scope, position=target.position
            )
        return tree.Cast(kind, cast("tree.Type", target), arguments[0], position=position)
    callee = tree.Name(type_.name, (), type_.scope, position=position)
    return tree.FunctionCall(callee, arguments, written, position=position)


# --- Expression reader ----------------------------------------------------------------------------
# Expressions of the tree from the grammar's nodes.
#
# The parser builds on it; apart, because the forms of expressions are half of C++.

_INTEGER = re.compile(
    r"(0[xX][0-9a-fA-F']+|0[bB][01']+|0[0-7']*|[1-9][0-9']*)([uU]?[lL]{0,2}[uU]?)"
)
_FLOATING = re.compile(
    r"(([0-9][0-9']*\.?[0-9']*|\.[0-9][0-9']*)([eE][+-]?[0-9]+)?"
    r"|0[xX]([0-9a-fA-F][0-9a-fA-F']*\.?[0-9a-fA-F']*|\.[0-9a-fA-F][0-9a-fA-F']*)[pP][+-]?[0-9]+)"
    r"[fFlL]?"
)
_MAX_DIGITS = 128

_WITH_VALUE = (
    *("declaration", "function_definition", "lambda_expression"),
    *("parameter_declaration", "optional_parameter_declaration"),
)
_CASTS = ("static_cast", "reinterpret_cast", "const_cast")
_OPERATOR_WORDS = {
    **{"and": "&&", "or": "||", "not": "!", "compl": "~", "not_eq": "!=", "bitand": "&"},
    **{"bitor": "|", "xor": "^", "and_eq": "&=", "or_eq": "|=", "xor_eq": "^="},
}
"""Operators that are words."""
_COMPARISONS = frozenset({"<", ">", "<=", ">="})
_TOLD = re.compile(r"\s*<\s*((true|false)\s*,|[\w:]+\s*\.\.\.\s*>\s*::)")
"""What nothing is compared with, so that a class template stands before, known or not: headers that
include nothing do not know those of the headers before them."""
_SIGNS = frozenset({"+", "-", "*", "&"})
"""Operators of two operands that are operators of one, too."""
_EXPRESSIONS = (
    "literals, names, calls, casts, sizeof, indices, members, initializers and the operators on "
    "integers"
)


class ExpressionReader(TypeReader):
    """Turns the nodes of expressions into nodes of the tree; a method per kind."""

    def function_body(self, node: Node) -> tree.Block:
        """The statements of a function or lambda."""
        raise NotImplementedError

    def template_parameter(self, node: Node) -> tree.TemplateParameter:
        """A parameter of a template or lambda."""
        raise NotImplementedError

    def expression(self, node: Node) -> tree.Expression:
        """The expression that a node stands for."""
        reader = self._READERS.get(node.type)
        if reader is None:
            raise self.unsupported(node, _EXPRESSIONS)
        self.deeper(node)
        expression = reader(self, node)
        self.depth -= 1
        return expression

    def initial_value(self, node: Node) -> tree.Expression | tree.Braces:
        """What a variable, member, element or parameter starts as."""
        if node.type == "compound_literal_expression":
            type_ = node.child_by_field_name("type")
            if type_ is not None and self.text(type_) == DEFAULT_BRACES:
                node = self.field(node, "value")
        if node.type != "initializer_list":
            return self.expression(node)
        self.deeper(node)
        braces = tree.Braces(self._elements(node), position=self.at(node))
        self.depth -= 1
        return braces

    def _elements(self, node: Node) -> tuple[tree.Initializer, ...]:
        return tuple(map(self._element, node.named_children))

    def _element(self, node: Node) -> tree.Initializer:
        if node.type != "initializer_pair":
            return tree.Initializer(self.initial_value(node), position=self.at(node))
        designators = node.children_by_field_name("designator")
        if len(designators) != 1 or designators[0].type != "field_designator":
            raise self.error(node, "supported designators are single members: '.member = value'")
        member = self.text(designators[0].named_children[0])
        value = self.initial_value(self.field(node, "value"))
        return tree.Initializer(value, member, position=self.at(node))

    def _parenthesized(self, node: Node) -> tree.Expression:
        return self.expression(node.named_children[0])

    def _number(self, node: Node) -> tree.Expression:
        text = self.text(node)
        position = self.at(node)
        sign, digits = (text[0], text[1:]) if text[0] in "+-" else ("", text)
        if len(digits) > _MAX_DIGITS:
            raise self.error(node, f"a number of more than {_MAX_DIGITS} digits")
        literal: tree.Expression
        if _INTEGER.fullmatch(digits) and "'" not in digits[-1:]:
            literal = tree.Integer(digits, position=position)
        elif _FLOATING.fullmatch(digits):
            literal = tree.Floating(digits, position=position)
        else:
            message = f"'{digits}' is no number that is supported: integers and fractions"
            raise self.error(node, message)
        return tree.Unary(sign, literal, position=position) if sign else literal

    def _string(self, node: Node) -> tree.String:
        text = self.text(node)
        if not text.startswith('"'):
            raise self.error(node, "strings with a prefix are not supported")
        return tree.String(text[1:-1], position=self.at(node))

    def _strings(self, node: Node) -> tree.String:
        """Literals next to each other are one."""
        parts = [self._string(each).text for each in node.named_children]
        return tree.String("".join(parts), position=self.at(node))

    def _character(self, node: Node) -> tree.Character:
        text = self.text(node)
        if not text.startswith("'"):
            raise self.error(node, "characters with a prefix are not supported")
        return tree.Character(text[1:-1], position=self.at(node))

    def _boolean(self, node: Node) -> tree.Boolean:
        return tree.Boolean(node.type == "true", position=self.at(node))

    def _null(self, node: Node) -> tree.Null | tree.Name:
        if self.text(node) == "nullptr":
            return tree.Null(position=self.at(node))
        return tree.Name(self.text(node), position=self.at(node))

    def _name(self, node: Node) -> tree.Name:
        found = self.qualified_name(node)
        return tree.Name(found.text, found.arguments, found.scope, position=self.at(node))

    def _this(self, node: Node) -> tree.This:
        return tree.This(position=self.at(node))

    def _call(self, node: Node) -> tree.Expression:
        callee = self.field(node, "function")
        listed = self.field(node, "arguments")
        position = self.at(node)
        while callee.type == "dependent_name":
            callee = callee.named_children[-1]
        match callee.type:
            case "primitive_type" | "sized_type_specifier":
                return self._functional_cast(self.named_type(callee), listed, node)
            case "dependent_type" | "decltype":
                return self._functional_cast(self.written_type(callee), listed, node)
            case "template_function" | "template_type" | "qualified_identifier" | "identifier":
                return self._named_call(node, callee, listed)
            case "field_expression":
                member, arguments = self._templated_member(callee)
                return tree.FunctionCall(
                    member, self.arguments(listed), arguments, position=position
                )
            case "parenthesized_expression" if callee.named_children[0].type in (
                "identifier",
                "qualified_identifier",
                "template_function",
            ):
                type_ = self.named_type(callee.named_children[0])
                if self.is_variable(type_.name):
                    name = self.expression(callee)
                    return tree.FunctionCall(name, self.arguments(listed), position=position)
                self._refuse_type(listed.named_children[-1])
                value = self._chained(listed.named_children)
                return tree.Cast("c", type_, value, position=position)
            case _:
                called = self.expression(callee)
                return tree.FunctionCall(called, self.arguments(listed), position=position)

    def _new(self, node: Node) -> tree.New:
        """An object that is made in a place; there is no heap for others."""
        placed = node.child_by_field_name("placement")
        written = node.child_by_field_name("arguments")
        if placed is None:
            raise self.unsupported(node, _EXPRESSIONS)
        if node.child_by_field_name("declarator") is not None:
            message = "an array is not made in a place here: make its elements one by one"
            raise self.error(node, message)
        arguments: tuple[tree.Expression | tree.Braces, ...] | None = None
        if written is not None:
            arguments = self.arguments(written)
        return tree.New(
            self._single(placed),
            self.written_type(self.field(node, "type")),
            arguments,
            written is not None and written.type == "initializer_list",
            position=self.at(node),
        )

    def _functional_cast(self, type_: tree.Type, listed: Node, node: Node) -> tree.Expression:
        """`T(value)`, or `T()`, which is `T{}`."""
        position = self.at(node)
        if not listed.named_children:
            return tree.Construct(type_, (), position=position)
        return tree.Cast("functional", type_, self._single(listed), position=position)

    def _named_call(self, node: Node, callee: Node, listed: Node) -> tree.Expression:
        name, arguments, scope = self.qualified_name(callee)
        position = self.at(node)
        if name in _CASTS:
            descriptors = self.field(callee, "arguments").named_children
            if len(descriptors) != 1 or descriptors[0].type != "type_descriptor":
                raise self.error(node, f"{name} takes one type")
            type_ = self.type_descriptor(descriptors[0])
            return tree.Cast(
                cast("tree.CastKind", name), type_, self._single(listed), position=position
            )
        if name == ACCESS:
            base, pointer = (self.expression(each) for each in listed.named_children)
            return tree.PointedMember(base, pointer, position=base.position)
        function = tree.Name(name, (), scope, position=self.at(callee))
        return tree.FunctionCall(function, self.arguments(listed), arguments, position=position)

    def arguments(self, node: Node) -> tuple[tree.Expression | tree.Braces, ...]:
        """Those of a call."""
        return tuple(map(self.initial_value, node.named_children))

    def _single(self, node: Node) -> tree.Expression:
        values = node.named_children
        if len(values) != 1:
            raise self.error(node, "a cast takes one value")
        return self.expression(values[0])

    def _cast(self, node: Node) -> tree.Cast:
        written, value = self.field(node, "type"), self.field(node, "value")
        type_ = self.type_descriptor(written)
        if self._is_operand(type_) or self._is_conjunction(value):
            close = next(each for each in node.children if each.type == ")")
            message = "this reads as a cast; write the operand before the operator without '()'"
            raise self.misread(node.start_byte, close.end_byte, message)
        return tree.Cast("c", type_, self.expression(value), position=self.at(node))

    def _is_operand(self, type_: tree.Type) -> bool:
        """Whether what stands where a cast has its type is none that a value can have."""
        match type_:
            case tree.NamedType(name=name):
                last = name.rpartition("::")[2]
                return self.is_variable(last) or (last in self.templates - self.types)
            case tree.ArrayOf() | tree.FunctionOf():
                return True
            case _:
                return False

    def _is_conjunction(self, node: Node) -> bool:
        """Whether `&& x` is read as the address of an address, which nothing has."""
        inner = node
        while inner.type == "pointer_expression":
            node, inner = inner, self.field(inner, "argument")
            if self.text(node).startswith("&&"):
                return True
        return False

    def _construct(self, node: Node) -> tree.Construct:
        written = self.field(node, "type")
        # `(T){...}` of C, which compilers take in C++, too.
        is_of_c = written.type == "type_descriptor"
        type_ = self.type_descriptor(written) if is_of_c else self.written_type(written)
        elements = self._elements(self.field(node, "value"))
        return tree.Construct(type_, elements, position=self.at(node))

    def _size_of(self, node: Node) -> tree.SizeOf | tree.CountOf:
        if any(child.type == "..." for child in node.children):
            pack = self.text(self.field(node, "value")).strip("() ")
            return tree.CountOf(pack, position=self.at(node))
        type_ = node.child_by_field_name("type")
        if type_ is not None:
            written = self.type_descriptor(type_)
            if self.is_variable(_built_on(written).rpartition("::")[2]):
                raise self.misread(type_.start_byte, type_.end_byte, "this is no type")
            operand = _as_call(written) or self.type_or_name(written)
        else:
            operand = self.expression(self.field(node, "value"))
        return tree.SizeOf(operand, position=self.at(node))

    def _offset_of(self, node: Node) -> tree.OffsetOf:
        type_ = self.type_descriptor(self.field(node, "type"))
        member = self.text(self.field(node, "member"))
        return tree.OffsetOf(type_, member, position=self.at(node))

    def _align_of(self, node: Node) -> tree.SizeOf:
        operand = self.type_or_name(self.type_descriptor(node.named_children[0]))
        return tree.SizeOf(operand, True, position=self.at(node))

    def _unary(self, node: Node) -> tree.Unary:
        operand = self.expression(self.field(node, "argument"))
        return tree.Unary(self._unary_operator(node), operand, position=self.at(node))

    def _unary_operator(self, node: Node) -> str:
        operator = self._operator(node)
        if operator not in tree.UNARY_OPERATORS:
            raise self.error(node, f"'{operator}' is not supported; write the operator as a sign")
        return operator

    def _operator(self, node: Node) -> str:
        operator = self.text(self.field(node, "operator"))
        return _OPERATOR_WORDS.get(operator, operator)

    def _update(self, node: Node) -> tree.Expression:
        argument = self.field(node, "argument")
        operator = self.text(self.field(node, "operator"))
        if node.field_name_for_child(0) == "argument":
            return self._postfix(node, operator, argument)
        return tree.Update(operator, self._lvalue(argument), position=self.at(node))

    def _postfix(self, node: Node, operator: str, argument: Node) -> tree.Expression:
        """`x++`; the grammar reads some of `*-x++` as `(*-x)++`, which C++ does not."""
        prefixes: list[Node] = []
        while argument.type in ("unary_expression", "pointer_expression"):
            self.deeper(argument)
            prefixes.append(argument)
            argument = self.field(argument, "argument")
        position = self.at(argument)
        result: tree.Expression = tree.Update(
            operator, self._lvalue(argument), True, position=position
        )
        for prefix in reversed(prefixes):
            result = tree.Unary(self._unary_operator(prefix), result, position=self.at(prefix))
            self.depth -= 1
        return result

    def _binary(self, node: Node) -> tree.BinaryOperation:
        operator = self._operator(node)
        if operator not in tree.BINARY_OPERATORS:
            raise self.error(
                node,
                f"'{operator}' is not supported; supported are {' '.join(tree.BINARY_OPERATORS)}",
            )
        left, right = self.field(node, "left"), self.field(node, "right")
        if operator == "<":
            self._refuse_template(left)
        operands = self.expression(left), self.expression(right)
        if operator in _COMPARISONS and self._is_comparison(left):
            raise self.error(left, "this compares a comparison; put it in parentheses")
        if operator in _SIGNS:
            while left.type == "binary_expression":
                left = self.field(left, "right")
            if left.type == "parenthesized_expression":
                self._refuse_type(left.named_children[0])
        return tree.BinaryOperation(operator, *operands, position=self.at(node))

    def _refuse_type(self, node: Node) -> None:
        """Read the text again where the grammar takes the type of a cast for an operand."""
        name = self.text(node)
        if node.type == "identifier" and self.is_type(name):
            error = self.error(node, f"'{name}' is a type, which is no operand")
            raise MisreadError(error, (node.start_byte, "__restrict__ "))

    def _refuse_template(self, node: Node) -> None:
        """Read the text again where the grammar compares a class template with its arguments."""
        if node.type not in ("identifier", "qualified_identifier"):
            return
        name = self.text(node)
        last = name.rpartition("::")[2]
        is_told = _TOLD.match(self.source.text, node.end_byte) and not self.is_variable(last)
        if is_told or self.is_type(last):
            error = self.error(node, f"'{name}' is a type, which is no operand")
            raise MisreadError(error, (node.start_byte, "typename "))

    def _is_comparison(self, node: Node) -> bool:
        operator = node.child_by_field_name("operator")
        return (
            node.type == "binary_expression"
            and operator is not None
            and self.text(operator) in _COMPARISONS
        )

    def _comma(self, node: Node) -> tree.Expression:
        parts: list[Node] = []
        while node.type == "comma_expression":
            parts.append(self.field(node, "left"))
            node = self.field(node, "right")
        return self._chained([*parts, node])

    def _chained(self, nodes: list[Node]) -> tree.Expression:
        """The comma operator between expressions."""
        expressions = map(self.expression, nodes)
        return reduce(
            lambda a, b: tree.BinaryOperation(",", a, b, position=a.position), expressions
        )

    def _conditional(self, node: Node) -> tree.Conditional:
        names = ("condition", "consequence", "alternative")
        condition, true, false = (self.expression(self.field(node, name)) for name in names)
        return tree.Conditional(condition, true, false, position=self.at(node))

    def _assignment(self, node: Node) -> tree.Expression:
        return self._assigned(self.field(node, "left"), node)

    def _assigned(self, left: Node, node: Node) -> tree.Expression:
        if left.type == "conditional_expression":
            # In brackets the grammar takes `c ? a : b = 4` for `(c ? a : b) = 4`.
            condition, true = (
                self.expression(self.field(left, name)) for name in ("condition", "consequence")
            )
            false = self._assigned(self.field(left, "alternative"), node)
            return tree.Conditional(condition, true, false, position=self.at(node))
        operator = self._operator(node)
        if operator not in tree.ASSIGNMENT_OPERATORS:
            raise self.error(node, f"'{operator}' is not supported as an assignment")
        target = self._lvalue(left)
        value = self.field(node, "right")
        if value.type == "initializer_list":
            if operator != "=":
                raise self.error(value, "braces are supported behind '='; write 'T{...}' here")
            made = tree.Construct(
                tree.Decltype(target, position=self.at(value)),
                self._elements(value),
                position=self.at(value),
            )
            return tree.Assign(target, operator, made, position=self.at(node))
        return tree.Assign(target, operator, self.expression(value), position=self.at(node))

    def _fold(self, node: Node) -> tree.Fold:
        left, right = self.field(node, "left"), self.field(node, "right")
        operator = _OPERATOR_WORDS.get(text := self.text(self.field(node, "operator")), text)
        position = self.at(node)
        if right.type == "...":
            return tree.Fold(operator, self.expression(left), position=position)
        if left.type == "...":
            return tree.Fold(operator, self.expression(right), None, True, position=position)
        # Which of the two is the pack is found where the packs are known.
        start = self.expression(right)
        return tree.Fold(operator, self.expression(left), start, position=position)

    def _expansion(self, node: Node) -> tree.Expansion:
        return tree.Expansion(self.expression(node.named_children[0]), position=self.at(node))

    def _lambda(self, node: Node) -> tree.Lambda:
        with self.scope():
            return self._read_lambda(node)

    def _read_lambda(self, node: Node) -> tree.Lambda:
        written = node.child_by_field_name("template_parameters")
        nodes = [] if written is None else written.named_children
        listed = tuple(map(self.template_parameter, nodes))
        declarator = node.child_by_field_name("declarator")
        parameters: tuple[tree.Parameter, ...] = ()
        result: tree.Type | None = None
        is_mutable = False
        if declarator is not None:
            parameters = self.parameters(self.field(declarator, "parameters"))
            is_mutable = any(self.text(each) == "mutable" for each in declarator.named_children)
            result = self.trailing_result(declarator)
        captures = list[tree.Capture]()
        default = by_reference = ""
        for child in self.field(node, "captures").children:
            if child.type == "lambda_default_capture":
                default = self.text(child)
            elif child.type in ("&", "..."):
                by_reference = "&"
            elif child.is_named:
                captures.append(self._capture(child, bool(by_reference)))
                by_reference = ""
        body = self.function_body(self.field(node, "body"))
        return tree.Lambda(
            body,
            parameters,
            tuple(captures),
            default,
            result,
            is_mutable,
            listed,
            position=self.at(node),
        )

    def _capture(self, node: Node, by_reference: bool) -> tree.Capture:
        position = self.at(node)
        match node.type:
            case "lambda_capture_initializer":
                left = self.field(node, "left")
                reference = by_reference or self.text(node).startswith("&")
                value = self.initial_value(self.field(node, "right"))
                return tree.Capture(self.text(left), reference, value, position=position)
            case "parameter_pack_expansion":
                name = self.text(node.named_children[0])
                return tree.Capture(name, by_reference, None, True, position=position)
            case "this" if node.prev_sibling is not None and node.prev_sibling.type == "*":
                return tree.Capture("*this", position=position)
            case "this" | "identifier":
                return tree.Capture(self.text(node), by_reference, position=position)
            case _:
                raise self.unsupported(node, "captures of variables and of 'this'")

    def trailing_result(self, declarator: Node) -> tree.Type | None:
        """The type after `->` after the parameters of a function, if there is one."""
        trailing = (x for x in declarator.named_children if x.type == "trailing_return_type")
        found = next(trailing, None)
        return None if found is None else self.type_descriptor(found.named_children[0])

    def _lvalue(self, node: Node) -> tree.LvalueExpression:
        match self.expression(node):
            case (
                tree.Name()
                | tree.Index()
                | tree.Member()
                | tree.PointedMember()
                | tree.Unary(operator="*")
                | tree.BinaryOperation(operator=",")
                | tree.FunctionCall() as lvalue
            ):
                return lvalue
            case (
                tree.Assign()
                | tree.Update(postfix=False)
                | tree.Cast()
                | tree.Conditional()
                | tree.This()
                | tree.Construct() as lvalue
            ):
                return lvalue
            case _:
                message = "only names, elements, members and '*pointer' can be assigned to"
                raise self.error(node, message)

    def _index(self, node: Node) -> tree.Index:
        argument = self.field(node, "argument")
        if argument.type == "number_literal":
            raise self.error(node, "a number has no elements; write pointer[index]")
        base = self.expression(argument)
        indices = self.field(node, "indices").named_children
        if len(indices) != 1:
            raise self.error(node, "an index is one number")
        return tree.Index(base, self.expression(indices[0]), position=self.at(node))

    def _member(self, node: Node) -> tree.Member:
        member, arguments = self._templated_member(node)
        if arguments:
            message = "template arguments are supported in calls and types only"
            raise self.misread(node.start_byte, self._member_name(node).end_byte, message)
        return member

    def _member_name(self, node: Node) -> Node:
        """What names the member, without template arguments."""
        member = self.field(node, "field")
        while member.type == "dependent_name":
            member = member.named_children[-1]
        if member.type in ("template_method", "template_function"):
            member = self.field(member, "name")
        return member

    def _templated_member(
        self, node: Node
    ) -> tuple[tree.Member, tuple[tree.TemplateArgument, ...]]:
        """`base.member<arguments>`."""
        base = self.expression(self.field(node, "argument"))
        operator, member = self.text(self.field(node, "operator")), self.field(node, "field")
        arguments: tuple[tree.TemplateArgument, ...] = ()
        while member.type == "dependent_name":
            member = member.named_children[-1]
        if member.type in ("template_method", "template_function"):
            named = self.field(member, "name")
            if self.is_variable(self.text(named)):
                message = f"'{self.text(named)}' is a variable, which has no template arguments"
                raise self.misread(node.start_byte, named.end_byte, message)
            arguments = self._template_arguments(member)
            member = named
        if member.type == "qualified_identifier" and operator in (".", "->"):
            return self._member_of_base(node, base, operator == "->", self.qualified_name(member))
        kinds = ("field_identifier", "identifier", "operator_name", "destructor_name")
        if operator not in (".", "->") or member.type not in kinds:
            raise self.unsupported(member, "the names of members")
        name = self.name_text(member)
        return tree.Member(base, name, operator == "->", position=self.at(node)), arguments

    def _member_of_base(
        self, node: Node, base: tree.Expression, is_arrow: bool, named: QualifiedName
    ) -> tuple[tree.Member, tuple[tree.TemplateArgument, ...]]:
        """`b.A::x` as `static_cast<A&>(b).x`."""
        position = self.at(node)
        path, _, name = named.text.rpartition("::")
        holder = (
            tree.NamedType(path, (), (), named.scope, position=position) if path else named.scope
        )
        if holder is None:
            raise self.unsupported(self.field(node, "field"), "the names of members")
        if is_arrow:
            base = tree.Unary("*", base, position=position)
        part = tree.Cast("static_cast", tree.Reference(holder), base, position=position)
        return tree.Member(part, name, position=position), named.arguments

    _READERS: ClassVar[dict[str, Callable[[ExpressionReader, Node], tree.Expression]]] = {
        "assignment_expression": _assignment,
        "binary_expression": _binary,
        "call_expression": _call,
        "cast_expression": _cast,
        "char_literal": _character,
        "comma_expression": _comma,
        "concatenated_string": _strings,
        "compound_literal_expression": _construct,
        "conditional_expression": _conditional,
        "false": _boolean,
        "field_expression": _member,
        "fold_expression": _fold,
        "identifier": _name,
        "lambda_expression": _lambda,
        "new_expression": _new,
        "null": _null,
        "number_literal": _number,
        "offsetof_expression": _offset_of,
        "parameter_pack_expansion": _expansion,
        "parenthesized_expression": _parenthesized,
        "alignof_expression": _align_of,
        "pointer_expression": _unary,
        "qualified_identifier": _name,
        "sizeof_expression": _size_of,
        "string_literal": _string,
        "subscript_expression": _index,
        "template_function": _name,
        "template_type": _name,
        "this": _this,
        "true": _boolean,
        "unary_expression": _unary,
        "update_expression": _update,
    }


def _find_value_of_auto(node: Node) -> Node | None:
    """The expression whose type `decltype(auto)` is: of a variable, or of the only `return`.

    None if a function declares variables, which its expression may name, or returns several.
    """
    holder = node.parent
    while holder is not None and holder.type not in _WITH_VALUE:
        holder = holder.parent
    if holder is None:
        return None
    if holder.type == "declaration":
        declarator = holder.child_by_field_name("declarator")
        return None if declarator is None else declarator.child_by_field_name("value")
    body = holder.child_by_field_name("body")
    statements = [] if body is None else body.named_children
    only = statements[0] if len(statements) == 1 else None
    if only is None or only.type != "return_statement" or not only.named_children:
        return None
    value = only.named_children[0]
    rest = [value]
    while rest:
        each = rest.pop()
        if each.type in ("lambda_expression", "initializer_list"):
            return None
        rest += each.named_children
    return value
