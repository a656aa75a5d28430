"""Types and expressions of the tree from the grammar's nodes.

The parser builds on it; apart, because the forms of expressions are half of C++.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import reduce
from typing import TYPE_CHECKING, ClassVar, NamedTuple, cast

from ttmlir.cpp.errors import CppSyntaxError
from ttmlir.cpp.preprocessor.preprocess import PreprocessedText
from ttmlir.cpp.tree import (
    ASSIGNMENT_OPERATORS,
    BINARY_OPERATORS,
    SPECIFIERS,
    UNARY_OPERATORS,
    Assign,
    BinaryOperation,
    Boolean,
    Braces,
    Cast,
    CastKind,
    Character,
    Conditional,
    Construct,
    Expression,
    Floating,
    FunctionCall,
    Index,
    Initializer,
    Integer,
    Member,
    Name,
    NamedType,
    Null,
    Place,
    Pointer,
    Position,
    Reference,
    SizeOf,
    String,
    TemplateArgument,
    Type,
    Unary,
    Update,
)
from ttmlir.cpp.type_names import is_built_in_type
from ttmlir.nesting import MAX_NESTING

if TYPE_CHECKING:
    from tree_sitter import Node

_INTEGER = re.compile(
    r"(0[xX][0-9a-fA-F']+|0[bB][01']+|0[0-7']*|[1-9][0-9']*)([uU]?[lL]{0,2}[uU]?)"
)
_FLOATING = re.compile(r"([0-9][0-9']*\.?[0-9']*|\.[0-9][0-9']*)([eE][+-]?[0-9]+)?[fFlL]?")
_MAX_DIGITS = 128

_CASTS = ("static_cast", "reinterpret_cast", "const_cast")
_COMPARISONS = frozenset({"<", ">", "<=", ">="})
_QUALIFIERS = {"const": "const", "volatile": "volatile", "_Atomic": "tt_l1_ptr"}

_EXPRESSIONS = (
    "literals, names, calls, casts, sizeof, indices, members, initializers and the operators on "
    "integers"
)


_WORDS = {
    "alias_declaration": "an alias",
    "class_specifier": "a class",
    "declaration": "a declaration",
    "delete_expression": "delete",
    "enum_specifier": "an enumeration",
    "for_range_loop": "a loop over a range",
    "goto_statement": "goto",
    "initializer_list": "a list in braces",
    "labeled_statement": "a label",
    "lambda_expression": "a lambda",
    "linkage_specification": "a linkage specification",
    "new_expression": "new",
    "optional_parameter_declaration": "a default argument",
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


class ExpressionReader:
    """Turns the nodes of the grammar into nodes of the tree; a method per kind."""

    def __init__(self, source: PreprocessedText, *, is_header: bool = False) -> None:
        """A reader of what the preprocessor has left of a kernel, or of a header."""
        self.source = source
        self.is_header = is_header
        self.variables = set[str]()
        self.depth = 0

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
                if child.type not in allowed:
                    raise self.unsupported(child, "the plain forms")

    def deeper(self, node: Node) -> None:
        """Count a level of nesting, which the caller takes back."""
        self.depth += 1
        if self.depth > MAX_NESTING:
            raise self.error(node, f"nested more than {MAX_NESTING} levels deep")

    # Types.

    def words(self, node: Node) -> Words:
        """The type and specifiers with which a declaration begins."""
        qualifiers, specifiers = list[str](), list[str]()
        type_ = self.field(node, "type")
        for index, child in enumerate(node.children):
            if not child.is_named or node.field_name_for_child(index) is not None:
                continue
            word = self.text(child)
            if child.type == "type_qualifier" and word in _QUALIFIERS:
                qualifiers.append(_QUALIFIERS[word])
            elif child.type in ("type_qualifier", "storage_class_specifier"):
                if word not in SPECIFIERS:
                    raise self.error(child, f"'{word}' is not supported in a declaration")
                specifiers.append(word)
            else:
                raise self.unsupported(child, "plain declarations")
        return Words(self.named_type(type_, tuple(qualifiers)), tuple(specifiers))

    def declared(self, node: Node, type_: Type) -> Declared:
        """The name in a declarator, and what it makes of the type before it."""
        sizes = list[Expression | None]()
        while True:
            match node.type:
                case "identifier" | "field_identifier" | "type_identifier":
                    return Declared(self.text(node), type_, tuple(reversed(sizes)))
                case "array_declarator" | "abstract_array_declarator":
                    self.only(node)
                    size = node.child_by_field_name("size")
                    sizes.append(None if size is None else self.expression(size))
                    inner = node.child_by_field_name("declarator")
                    if inner is None:
                        return Declared(None, type_, tuple(reversed(sizes)))
                    node = inner
                case kind if kind.endswith(("pointer_declarator", "reference_declarator")):
                    if sizes:
                        raise self.error(node, "a pointer to an array is not supported")
                    has_name = any(each.type != "type_qualifier" for each in node.named_children)
                    type_, inner = self.pointed(node, type_)
                    if not has_name:
                        return Declared(None, type_, ())
                    node = inner
                case "function_declarator":
                    message = "initialise with '=': 'T name = T(...)', or declare functions outside"
                    raise self.error(node, message)
                case _:
                    raise self.unsupported(node, "names, pointers, references and arrays")

    def pointed(self, node: Node, type_: Type) -> tuple[Type, Node]:
        """The type with the pointer or reference of a declarator, and the declarator in it."""
        position = self.at(node)
        if node.type.endswith("reference_declarator"):
            if not self.text(node).startswith("&") or self.text(node).startswith("&&"):
                raise self.error(node, "'&&' is not supported; use a value or a reference")
            result: Type = Reference(type_, position=position)
        else:
            words = [self.text(each) for each in node.children if each.type == "type_qualifier"]
            if any(word != "const" for word in words):
                raise self.error(node, "only 'const' is supported after '*'")
            result = Pointer(type_, const=bool(words), position=position)
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
        if declared.sizes or declared.name is not None:
            raise self.unsupported(declarator, "pointers and references")
        return declared.type

    def named_type(self, node: Node, qualifiers: tuple[str, ...] = ()) -> NamedType:
        """The type that a node names."""
        match node.type:
            case "primitive_type" | "sized_type_specifier" | "type_identifier" | "identifier":
                name, arguments = " ".join(self.text(node).split()), ()
            case "placeholder_type_specifier" if self.text(node) == "auto":
                name, arguments = "auto", ()
            case "qualified_identifier" | "template_type" | "template_function":
                name, arguments = self._templated_name(node)
            case _:
                raise self.unsupported(node, "built-in types, names of types and pointers to them")
        return NamedType(name, arguments, qualifiers, position=self.at(node))

    def _templated_name(self, node: Node) -> tuple[str, tuple[TemplateArgument, ...]]:
        """A name that may end in template arguments, without and with these."""
        last = node
        while last.type == "qualified_identifier":
            scope = last.child_by_field_name("scope")
            if scope is not None and scope.type != "namespace_identifier":
                raise self.error(scope, "a member of a type with template arguments is unsupported")
            last = self.field(last, "name")
        if last.type not in ("template_type", "template_function"):
            return self.name_text(node), ()
        name = self.field(last, "name")
        text = self.source.text[node.start_byte : name.end_byte]
        arguments = self.field(last, "arguments").named_children
        return re.sub(r"\s+", "", text), tuple(map(self._template_argument, arguments))

    def _template_argument(self, node: Node) -> TemplateArgument:
        if node.type != "type_descriptor":
            return self.expression(node)
        return self._type_or_name(self.type_descriptor(node))

    def _type_or_name(self, type_: Type) -> TemplateArgument:
        """A name that is no built-in type stays a name: it may be that of a constant."""
        match type_:
            case NamedType(name=name, template_arguments=(), qualifiers=()):
                is_name = not is_built_in_type(name)
                return Name(name, position=type_.position) if is_name else type_
            case _:
                return type_

    def name_text(self, node: Node) -> str:
        """A name without the space in it."""
        return re.sub(r"\s+", "", self.text(node))

    # Expressions.

    def expression(self, node: Node) -> Expression:
        """The expression that a node stands for."""
        reader = self._READERS.get(node.type)
        if reader is None:
            raise self.unsupported(node, _EXPRESSIONS)
        self.deeper(node)
        expression = reader(self, node)
        self.depth -= 1
        return expression

    def initial_value(self, node: Node) -> Expression | Braces:
        """What a variable, member or element starts as."""
        if node.type == "argument_list":
            raise self.error(node, "initialise with '=': 'T name = value' or 'T name = T(...)'")
        if node.type != "initializer_list":
            return self.expression(node)
        self.deeper(node)
        braces = Braces(self._elements(node), position=self.at(node))
        self.depth -= 1
        return braces

    def _elements(self, node: Node) -> tuple[Initializer, ...]:
        return tuple(map(self._element, node.named_children))

    def _element(self, node: Node) -> Initializer:
        if node.type != "initializer_pair":
            return Initializer(self.initial_value(node), position=self.at(node))
        designators = node.children_by_field_name("designator")
        if len(designators) != 1 or designators[0].type != "field_designator":
            raise self.error(node, "supported designators are single members: '.member = value'")
        member = self.text(designators[0].named_children[0])
        value = self.initial_value(self.field(node, "value"))
        return Initializer(value, member, position=self.at(node))

    def _parenthesized(self, node: Node) -> Expression:
        return self.expression(node.named_children[0])

    def _number(self, node: Node) -> Expression:
        text = self.text(node)
        position = self.at(node)
        sign, digits = (text[0], text[1:]) if text[0] in "+-" else ("", text)
        if len(digits) > _MAX_DIGITS:
            raise self.error(node, f"a number of more than {_MAX_DIGITS} digits")
        literal: Expression
        if _INTEGER.fullmatch(digits) and "'" not in digits[-1:]:
            literal = Integer(digits, position=position)
        elif _FLOATING.fullmatch(digits):
            literal = Floating(digits, position=position)
        else:
            message = f"'{digits}' is no number that is supported: integers and decimal fractions"
            raise self.error(node, message)
        return Unary(sign, literal, position=position) if sign else literal

    def _string(self, node: Node) -> String:
        text = self.text(node)
        if not text.startswith('"'):
            raise self.error(node, "strings with a prefix are not supported")
        return String(text[1:-1], position=self.at(node))

    def _character(self, node: Node) -> Character:
        text = self.text(node)
        if not text.startswith("'"):
            raise self.error(node, "characters with a prefix are not supported")
        return Character(text[1:-1], position=self.at(node))

    def _boolean(self, node: Node) -> Boolean:
        return Boolean(node.type == "true", position=self.at(node))

    def _null(self, node: Node) -> Null | Name:
        if self.text(node) == "nullptr":
            return Null(position=self.at(node))
        return Name(self.text(node), position=self.at(node))

    def _name(self, node: Node) -> Name:
        text, arguments = self._templated_name(node)
        if arguments:
            raise self.error(node, "template arguments are supported in calls and types only")
        return Name(text, position=self.at(node))

    def _call(self, node: Node) -> Expression:
        callee = self.field(node, "function")
        listed = self.field(node, "arguments")
        position = self.at(node)
        match callee.type:
            case "primitive_type" | "sized_type_specifier":
                type_ = self.named_type(callee)
                return Cast("functional", type_, self._single(listed), position=position)
            case "template_function" | "qualified_identifier" | "identifier":
                return self._named_call(node, callee, listed)
            case "field_expression":
                return FunctionCall(
                    self._member(callee), self._arguments(listed), position=position
                )
            case "parenthesized_expression" if callee.named_children[0].type in (
                "identifier",
                "qualified_identifier",
                "template_function",
            ):
                type_ = self.named_type(callee.named_children[0])
                self._refuse_variable(callee, type_)
                value = self._chained(listed.named_children)
                return Cast("c", type_, value, position=position)
            case _:
                raise self.error(callee, "only functions and member functions can be called")

    def _named_call(self, node: Node, callee: Node, listed: Node) -> Expression:
        name, arguments = self._templated_name(callee)
        position = self.at(node)
        if name in _CASTS:
            descriptors = self.field(callee, "arguments").named_children
            if len(descriptors) != 1 or descriptors[0].type != "type_descriptor":
                raise self.error(node, f"{name} takes one type")
            type_ = self.type_descriptor(descriptors[0])
            return Cast(cast("CastKind", name), type_, self._single(listed), position=position)
        if arguments and name in self.variables:
            message = f"'{name}' is a variable; put the comparison that starts here in parentheses"
            raise self.error(node, message)
        function = Name(name, position=self.at(callee))
        return FunctionCall(function, self._arguments(listed), arguments, position=position)

    def _arguments(self, node: Node) -> tuple[Expression, ...]:
        return tuple(map(self.expression, node.named_children))

    def _single(self, node: Node) -> Expression:
        arguments = self._arguments(node)
        if len(arguments) != 1:
            raise self.error(node, "a cast takes one value")
        return arguments[0]

    def _refuse_variable(self, node: Node, type_: Type) -> None:
        if isinstance(type_, NamedType) and type_.name in self.variables:
            message = f"this reads as a cast; '{type_.name}' is a variable, write it without '()'"
            raise self.error(node, message)

    def _cast(self, node: Node) -> Cast:
        type_ = self.type_descriptor(self.field(node, "type"))
        self._refuse_variable(node, type_)
        value = self.expression(self.field(node, "value"))
        return Cast("c", type_, value, position=self.at(node))

    def _construct(self, node: Node) -> Construct:
        if self.text(node).startswith("("):
            raise self.error(node, "'(T){...}' is not supported; write 'T{...}'")
        type_ = self.named_type(self.field(node, "type"))
        elements = self._elements(self.field(node, "value"))
        return Construct(type_, elements, position=self.at(node))

    def _size_of(self, node: Node) -> SizeOf:
        if any(child.type == "..." for child in node.children):
            raise self.error(node, "'sizeof...' is not supported; supported is sizeof")
        type_ = node.child_by_field_name("type")
        if type_ is not None:
            operand = self._type_or_name(self.type_descriptor(type_))
        else:
            operand = self.expression(self.field(node, "value"))
        return SizeOf(operand, position=self.at(node))

    def _unary(self, node: Node) -> Unary:
        operand = self.expression(self.field(node, "argument"))
        return Unary(self._unary_operator(node), operand, position=self.at(node))

    def _unary_operator(self, node: Node) -> str:
        operator = self.text(self.field(node, "operator"))
        if operator not in UNARY_OPERATORS:
            raise self.error(node, f"'{operator}' is not supported; write the operator as a sign")
        return operator

    def _update(self, node: Node) -> Expression:
        argument = self.field(node, "argument")
        operator = self.text(self.field(node, "operator"))
        if node.field_name_for_child(0) == "argument":
            return self._postfix(node, operator, argument)
        return Update(operator, self._place(argument), position=self.at(node))

    def _postfix(self, node: Node, operator: str, argument: Node) -> Expression:
        """`x++`; the grammar reads some of `*-x++` as `(*-x)++`, which C++ does not."""
        prefixes: list[Node] = []
        while argument.type in ("unary_expression", "pointer_expression"):
            self.deeper(argument)
            prefixes.append(argument)
            argument = self.field(argument, "argument")
        position = self.at(argument)
        result: Expression = Update(operator, self._place(argument), True, position=position)
        for prefix in reversed(prefixes):
            result = Unary(self._unary_operator(prefix), result, position=self.at(prefix))
            self.depth -= 1
        return result

    def _binary(self, node: Node) -> BinaryOperation:
        operator = self.text(self.field(node, "operator"))
        if operator not in BINARY_OPERATORS:
            raise self.error(
                node, f"'{operator}' is not supported; supported are {' '.join(BINARY_OPERATORS)}"
            )
        left, right = self.field(node, "left"), self.field(node, "right")
        if operator in _COMPARISONS and self._is_comparison(left):
            raise self.error(left, "this compares a comparison; put it in parentheses")
        return BinaryOperation(
            operator, self.expression(left), self.expression(right), position=self.at(node)
        )

    def _is_comparison(self, node: Node) -> bool:
        operator = node.child_by_field_name("operator")
        return (
            node.type == "binary_expression"
            and operator is not None
            and self.text(operator) in _COMPARISONS
        )

    def _comma(self, node: Node) -> Expression:
        parts: list[Node] = []
        while node.type == "comma_expression":
            parts.append(self.field(node, "left"))
            node = self.field(node, "right")
        return self._chained([*parts, node])

    def _chained(self, nodes: list[Node]) -> Expression:
        """The comma operator between expressions."""
        expressions = map(self.expression, nodes)
        return reduce(lambda a, b: BinaryOperation(",", a, b, position=a.position), expressions)

    def _conditional(self, node: Node) -> Conditional:
        names = ("condition", "consequence", "alternative")
        condition, true, false = (self.expression(self.field(node, name)) for name in names)
        return Conditional(condition, true, false, position=self.at(node))

    def _assignment(self, node: Node) -> Assign:
        operator = self.text(self.field(node, "operator"))
        if operator not in ASSIGNMENT_OPERATORS:
            raise self.error(node, f"'{operator}' is not supported as an assignment")
        target = self._place(self.field(node, "left"))
        value = self.field(node, "right")
        if value.type == "initializer_list":
            raise self.error(value, "braces are supported in declarations; write 'T{...}' here")
        return Assign(target, operator, self.expression(value), position=self.at(node))

    def _place(self, node: Node) -> Place:
        match self.expression(node):
            case Name() | Index() | Member() | Unary(operator="*") as place:
                return place
            case _:
                message = "only names, elements, members and '*pointer' can be assigned to"
                raise self.error(node, message)

    def _index(self, node: Node) -> Index:
        argument = self.field(node, "argument")
        if argument.type == "number_literal":
            raise self.error(node, "a number has no elements; write pointer[index]")
        base = self.expression(argument)
        indices = self.field(node, "indices").named_children
        if len(indices) != 1:
            raise self.error(node, "an index is one number")
        return Index(base, self.expression(indices[0]), position=self.at(node))

    def _member(self, node: Node) -> Member:
        base = self.expression(self.field(node, "argument"))
        operator, member = self.text(self.field(node, "operator")), self.field(node, "field")
        if operator not in (".", "->") or member.type != "field_identifier":
            raise self.unsupported(member, "the names of members")
        return Member(base, self.text(member), operator == "->", position=self.at(node))

    _READERS: ClassVar[dict[str, Callable[[ExpressionReader, Node], Expression]]] = {
        "assignment_expression": _assignment,
        "binary_expression": _binary,
        "call_expression": _call,
        "cast_expression": _cast,
        "char_literal": _character,
        "comma_expression": _comma,
        "compound_literal_expression": _construct,
        "conditional_expression": _conditional,
        "false": _boolean,
        "field_expression": _member,
        "identifier": _name,
        "null": _null,
        "number_literal": _number,
        "parenthesized_expression": _parenthesized,
        "pointer_expression": _unary,
        "qualified_identifier": _name,
        "sizeof_expression": _size_of,
        "string_literal": _string,
        "subscript_expression": _index,
        "true": _boolean,
        "unary_expression": _unary,
        "update_expression": _update,
    }
