"""Types, and the names that declarations give them, from the grammar's nodes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from ttmlir.cpp.errors import CppSyntaxError
from ttmlir.cpp.preprocessor.preprocess import PreprocessedText
from ttmlir.cpp.tree import (
    MEMBER_SPECIFIERS,
    SPECIFIERS,
    ArrayOf,
    Decltype,
    Enumeration,
    Expansion,
    Expression,
    FunctionCall,
    FunctionOf,
    Name,
    NamedType,
    Parameter,
    Pointer,
    Position,
    Reference,
    Struct,
    TemplateArgument,
    Type,
)
from ttmlir.cpp.type_names import is_built_in_type
from ttmlir.nesting import MAX_NESTING

if TYPE_CHECKING:
    from tree_sitter import Node

_QUALIFIERS = {"const": "const", "volatile": "volatile", "_Atomic": "tt_l1_ptr"}
_IGNORED_QUALIFIERS = frozenset(("__restrict", "__restrict__", "noexcept", "register"))
_ATTRIBUTES = frozenset(
    ("attribute_declaration", "attribute_specifier", "alignas_qualifier", "attribute")
)
"""What says nothing about what a declaration means."""
_SPECIFIER_NODES = frozenset(
    ("type_qualifier", "storage_class_specifier", "explicit_function_specifier")
)
_OTHER_PARTS = frozenset(
    ("field_initializer_list", "bitfield_clause", "default_method_clause", "delete_method_clause")
)
"""Parts of a declaration that stand behind its names."""
_DEFINITIONS = frozenset(("struct_specifier", "class_specifier", "union_specifier"))

_WORDS = {
    "alias_declaration": "an alias",
    "attribute_declaration": "an attribute",
    "bitfield_clause": "a bit-field",
    "catch_clause": "catch",
    "class_specifier": "a class",
    "concept_definition": "a concept",
    "declaration": "a declaration",
    "delete_expression": "delete",
    "enum_specifier": "an enumeration",
    "for_range_loop": "a loop over a range",
    "goto_statement": "goto",
    "initializer_list": "a list in braces",
    "labeled_statement": "a label",
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


class Words(NamedTuple):
    """The words before the names of a declaration."""

    type: Type
    specifiers: tuple[str, ...]


class Declared(NamedTuple):
    """A name with the type and the array sizes that its declarator gives it."""

    name: str | None
    type: Type
    sizes: tuple[Expression | None, ...]
    is_pack: bool = False


class QualifiedName(NamedTuple):
    """A name as it is written: in a type with template arguments, with some of its own."""

    text: str
    arguments: tuple[TemplateArgument, ...]
    scope: Type | None


class TypeReader:
    """Turns the nodes of types into nodes of the tree."""

    def __init__(self, source: PreprocessedText, *, is_header: bool = False) -> None:
        """A reader of what the preprocessor has left of a kernel, or of a header."""
        self.source = source
        self.is_header = is_header
        self.variables = set[str]()
        self.templates = set[str]()
        """Names of templates, which may stand before `<` though a variable has the name, too."""
        self.pending: list[Struct | Enumeration] = []
        """Structs and enumerations that are defined where a type is written."""
        self.unnamed_count = 0
        """How many types without names there are so far."""
        self.depth: int = 0

    # What readers that build on this one read.

    def expression(self, node: Node) -> Expression:
        """The expression that a node stands for."""
        raise NotImplementedError

    def parameters(self, node: Node) -> tuple[Parameter, ...]:
        """The parameters of a function."""
        raise NotImplementedError

    def defined_type(self, node: Node) -> str:
        """The name of a struct or enumeration that is defined or named here."""
        raise NotImplementedError

    # Places and refusals.

    def at(self, node: Node) -> Position:
        """Where a node stands in the source."""
        return self.source.position(node.start_byte)

    def text(self, node: Node) -> str:
        """The text of a node."""
        return self.source.text[node.start_byte : node.end_byte]

    def error(self, node: Node, message: str) -> CppSyntaxError:
        """An error about a node."""
        return self.source.error(node.start_byte, message)

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
        qualifiers, specifiers = list[str](), list[str]()
        for index, child in enumerate(node.children):
            if child.type == "virtual":
                raise self.unsupported(child, "plain member functions")
            if not child.is_named or node.field_name_for_child(index) is not None:
                continue
            word = self.text(child)
            if child.type in _ATTRIBUTES or word in _IGNORED_QUALIFIERS:
                continue
            if child.type == "type_qualifier" and word in _QUALIFIERS:
                qualifiers.append(_QUALIFIERS[word])
            elif child.type in _SPECIFIER_NODES:
                if word not in SPECIFIERS and word not in MEMBER_SPECIFIERS:
                    raise self.error(child, f"'{word}' is not supported in a declaration")
                specifiers.append(word)
            elif child.type not in _OTHER_PARTS:
                raise self.unsupported(child, "plain declarations")
        written = node.child_by_field_name("type")
        if written is None:
            type_: Type = NamedType("void", position=self.at(node))
        else:
            type_ = self.written_type(written, tuple(qualifiers))
        return Words(type_, tuple(specifiers))

    def declared(self, node: Node, type_: Type) -> Declared:
        """The name in a declarator, and what it makes of the type before it."""
        sizes, is_pack = list[Expression | None](), False
        inner: Node | None = node
        while inner is not None:
            node = inner
            if node.type in ("identifier", "field_identifier", "type_identifier"):
                return Declared(self.text(node), type_, tuple(reversed(sizes)), is_pack)
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

    def _inner_declarator(self, node: Node, type_: Type) -> tuple[Type, Node | None]:
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
        self, node: Node, type_: Type, sizes: list[Expression | None]
    ) -> tuple[Type, Node | None]:
        """The type before an array, and the declarator in it; adds its size."""
        self.only(node)
        size = node.child_by_field_name("size")
        sizes.append(None if size is None else self.expression(size))
        inner = node.child_by_field_name("declarator")
        if inner is not None and inner.type.endswith("parenthesized_declarator"):
            # `T (&name)[2]`: what is in the parentheses refers to the array.
            for each in sizes:
                type_ = ArrayOf(type_, each, position=self.at(node))
            sizes.clear()
            inner = inner.named_children[0]
        return type_, inner

    def _function_type(self, node: Node, result: Type) -> tuple[Node, Type]:
        """`(*name)(parameters)` as what the name points to, with what is in the parentheses."""
        inner = node.child_by_field_name("declarator")
        if inner is not None and not inner.type.endswith("parenthesized_declarator"):
            message = "initialise with '=': 'T name = T(...)', or declare functions outside"
            raise self.error(node, message)
        parameters = self.parameters(self.field(node, "parameters"))
        type_ = FunctionOf(result, parameters, position=self.at(node))
        return (node if inner is None else inner.named_children[0]), type_

    def pointed(self, node: Node, type_: Type) -> tuple[Type, Node]:
        """The type with the pointer or reference of a declarator, and the declarator in it."""
        position = self.at(node)
        if node.type.endswith("reference_declarator"):
            rvalue = self.text(node).startswith("&&")
            result: Type = Reference(type_, rvalue, position=position)
        else:
            words = [self.text(each) for each in node.children if each.type == "type_qualifier"]
            words = [each for each in words if each not in _IGNORED_QUALIFIERS]
            if any(word not in ("const", "volatile") for word in words):
                raise self.error(node, "only 'const' is supported after '*'")
            result = Pointer(type_, const="const" in words, position=position)
        inner = [each for each in node.named_children if each.type != "type_qualifier"]
        return result, inner[-1] if inner else node

    def type_descriptor(self, node: Node) -> Type:
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
            type_ = ArrayOf(type_, size, position=self.at(declarator))
        return type_

    def written_type(self, node: Node, qualifiers: tuple[str, ...] = ()) -> Type:
        """The type that a node names or defines, or computes."""
        while node.type == "dependent_type":
            node = node.named_children[-1]
        match node.type:
            case "decltype":
                return self.decltype(node)
            case "placeholder_type_specifier" if self.text(node) != "auto":
                return NamedType("auto", (), qualifiers, position=self.at(node))
            case _:
                return self.named_type(node, qualifiers)

    def decltype(self, node: Node) -> Decltype:
        """`decltype(expression)`."""
        return Decltype(self.expression(node.named_children[0]), position=self.at(node))

    def named_type(self, node: Node, qualifiers: tuple[str, ...] = ()) -> NamedType:
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
        return NamedType(
            found.text, found.arguments, qualifiers, found.scope, position=self.at(node)
        )

    def qualified_name(self, node: Node) -> QualifiedName:
        """A name with what stands before it: namespaces, and types with template arguments."""
        prefix, scope = "", None
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
                scope, prefix = NamedType(name, listed, (), scope, position=self.at(outer)), ""
            else:
                prefix += f"{self.text(outer)}::"
            node = self._last_name(node)
        self.depth -= depth
        if node.type in ("template_type", "template_function", "template_method"):
            name = self.text(self.field(node, "name"))
            arguments = self._template_arguments(node)
            return QualifiedName(re.sub(r"\s+", "", prefix + name), arguments, scope)
        return QualifiedName(re.sub(r"\s+", "", prefix + self.text(node)), (), scope)

    def _last_name(self, node: Node) -> Node:
        """What stands behind the `::`, without `template` before it."""
        name = self.field(node, "name")
        if name.type == "template":
            name = node.named_children[-1]
        while name.type in ("dependent_name", "dependent_type"):
            name = name.named_children[-1]
        return name

    def _template_arguments(self, node: Node) -> tuple[TemplateArgument, ...]:
        listed = self.field(node, "arguments").named_children
        return tuple(map(self.template_argument, listed))

    def template_argument(self, node: Node) -> TemplateArgument:
        """A type or an expression between angle brackets."""
        match node.type:
            case "type_descriptor":
                self.deeper(node)
                type_ = self.type_descriptor(node)
                self.depth -= 1
                return _as_call(type_) or self.type_or_name(type_)
            case "parameter_pack_expansion":
                pattern = self.template_argument(node.named_children[0])
                return Expansion(pattern, position=self.at(node))
            case _:
                return self.expression(node)

    def type_or_name(self, type_: Type) -> TemplateArgument:
        """A name that is no built-in type stays a name: it may be that of a constant."""
        match type_:
            case NamedType(name=name, template_arguments=arguments, qualifiers=(), scope=scope):
                if is_built_in_type(name):
                    return type_
                return Name(name, arguments, scope, position=type_.position)
            case _:
                return type_

    def name_text(self, node: Node) -> str:
        """A name without the space in it."""
        return re.sub(r"\s+", "", self.text(node))


def _as_call(type_: Type) -> FunctionCall | None:
    """`decltype(a)::next()`, which the grammar takes for the type of a function."""
    match type_:
        case FunctionOf(result=NamedType(qualifiers=()) as result, parameters=parameters) if (
            not is_built_in_type(result.name)
        ):
            arguments = list[Expression]()
            for each in parameters:
                match each:
                    case Parameter(type=NamedType(name=name, qualifiers=()) as given, name=None):
                        found = Name(
                            name, given.template_arguments, given.scope, position=each.position
                        )
                        arguments.append(found)
                    case _:
                        return None
            callee = Name(result.name, (), result.scope, position=type_.position)
            return FunctionCall(
                callee, tuple(arguments), result.template_arguments, position=type_.position
            )
        case _:
            return None
