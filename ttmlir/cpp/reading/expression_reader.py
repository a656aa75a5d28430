"""Expressions of the tree from the grammar's nodes.

The parser builds on it; apart, because the forms of expressions are half of C++.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import reduce
from typing import TYPE_CHECKING, ClassVar, cast

from ttmlir.cpp.errors import CppSyntaxError
from ttmlir.cpp.reading.type_reader import TypeReader
from ttmlir.cpp.tree import (
    ASSIGNMENT_OPERATORS,
    BINARY_OPERATORS,
    UNARY_OPERATORS,
    Assign,
    BinaryOperation,
    Block,
    Boolean,
    Braces,
    Capture,
    Cast,
    CastKind,
    Character,
    Conditional,
    Construct,
    CountOf,
    Expansion,
    Expression,
    Floating,
    Fold,
    FunctionCall,
    Index,
    Initializer,
    Integer,
    Lambda,
    Member,
    Name,
    NamedType,
    Null,
    Parameter,
    Place,
    SizeOf,
    String,
    TemplateArgument,
    This,
    Type,
    Unary,
    Update,
)

if TYPE_CHECKING:
    from tree_sitter import Node

_INTEGER = re.compile(
    r"(0[xX][0-9a-fA-F']+|0[bB][01']+|0[0-7']*|[1-9][0-9']*)([uU]?[lL]{0,2}[uU]?)"
)
_FLOATING = re.compile(
    r"(([0-9][0-9']*\.?[0-9']*|\.[0-9][0-9']*)([eE][+-]?[0-9]+)?"
    r"|0[xX]([0-9a-fA-F][0-9a-fA-F']*\.?[0-9a-fA-F']*|\.[0-9a-fA-F][0-9a-fA-F']*)[pP][+-]?[0-9]+)"
    r"[fFlL]?"
)
_MAX_DIGITS = 128

_CASTS = ("static_cast", "reinterpret_cast", "const_cast")
_OPERATOR_WORDS = {
    **{"and": "&&", "or": "||", "not": "!", "compl": "~", "not_eq": "!=", "bitand": "&"},
    **{"bitor": "|", "xor": "^", "and_eq": "&=", "or_eq": "|=", "xor_eq": "^="},
}
"""Operators that are words."""
_COMPARISONS = frozenset({"<", ">", "<=", ">="})
_EXPRESSIONS = (
    "literals, names, calls, casts, sizeof, indices, members, initializers and the operators on "
    "integers"
)


class MisreadComparisonError(CppSyntaxError):
    """The grammar takes `a < b && c > (d)` for a call, but `a` is a variable."""

    def __init__(self, error: CppSyntaxError, variable: Node) -> None:
        """What to say if the text cannot be read in another way, and where `a` is."""
        super().__init__(error.message, error.position, error.line, error.notes)
        self.start = variable.start_byte
        self.end = variable.end_byte


class ExpressionReader(TypeReader):
    """Turns the nodes of expressions into nodes of the tree; a method per kind."""

    def block(self, node: Node) -> Block:
        """The statements between braces."""
        raise NotImplementedError

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
        """What a variable, member, element or parameter starts as."""
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
            message = f"'{digits}' is no number that is supported: integers and fractions"
            raise self.error(node, message)
        return Unary(sign, literal, position=position) if sign else literal

    def _string(self, node: Node) -> String:
        text = self.text(node)
        if not text.startswith('"'):
            raise self.error(node, "strings with a prefix are not supported")
        return String(text[1:-1], position=self.at(node))

    def _strings(self, node: Node) -> String:
        """Literals next to each other are one."""
        parts = [self._string(each).text for each in node.named_children]
        return String("".join(parts), position=self.at(node))

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
        found = self.qualified_name(node)
        return Name(found.text, found.arguments, found.scope, position=self.at(node))

    def _this(self, node: Node) -> This:
        return This(position=self.at(node))

    def _call(self, node: Node) -> Expression:
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
                return FunctionCall(member, self.arguments(listed), arguments, position=position)
            case "parenthesized_expression" if callee.named_children[0].type in (
                "identifier",
                "qualified_identifier",
                "template_function",
            ):
                type_ = self.named_type(callee.named_children[0])
                if type_.name in self.variables:
                    name = self.expression(callee)
                    return FunctionCall(name, self.arguments(listed), position=position)
                value = self._chained(listed.named_children)
                return Cast("c", type_, value, position=position)
            case _:
                called = self.expression(callee)
                return FunctionCall(called, self.arguments(listed), position=position)

    def _functional_cast(self, type_: Type, listed: Node, node: Node) -> Expression:
        """`T(value)`, or `T()`, which is `T{}`."""
        position = self.at(node)
        if not listed.named_children:
            return Construct(type_, (), position=position)
        return Cast("functional", type_, self._single(listed), position=position)

    def _named_call(self, node: Node, callee: Node, listed: Node) -> Expression:
        name, arguments, scope = self.qualified_name(callee)
        position = self.at(node)
        if name in _CASTS:
            descriptors = self.field(callee, "arguments").named_children
            if len(descriptors) != 1 or descriptors[0].type != "type_descriptor":
                raise self.error(node, f"{name} takes one type")
            type_ = self.type_descriptor(descriptors[0])
            return Cast(cast("CastKind", name), type_, self._single(listed), position=position)
        if arguments and name in self.variables and name not in self.templates:
            message = f"'{name}' is a variable, which has no template arguments"
            raise MisreadComparisonError(self.error(node, message), self.field(callee, "name"))
        function = Name(name, (), scope, position=self.at(callee))
        return FunctionCall(function, self.arguments(listed), arguments, position=position)

    def arguments(self, node: Node) -> tuple[Expression | Braces, ...]:
        """Those of a call."""
        return tuple(map(self.initial_value, node.named_children))

    def _single(self, node: Node) -> Expression:
        values = node.named_children
        if len(values) != 1:
            raise self.error(node, "a cast takes one value")
        return self.expression(values[0])

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
        type_ = self.written_type(self.field(node, "type"))
        elements = self._elements(self.field(node, "value"))
        return Construct(type_, elements, position=self.at(node))

    def _size_of(self, node: Node) -> SizeOf | CountOf:
        if any(child.type == "..." for child in node.children):
            pack = self.text(self.field(node, "value")).strip("() ")
            return CountOf(pack, position=self.at(node))
        type_ = node.child_by_field_name("type")
        if type_ is not None:
            operand = self.type_or_name(self.type_descriptor(type_))
        else:
            operand = self.expression(self.field(node, "value"))
        return SizeOf(operand, position=self.at(node))

    def _align_of(self, node: Node) -> SizeOf:
        operand = self.type_or_name(self.type_descriptor(node.named_children[0]))
        return SizeOf(operand, True, position=self.at(node))

    def _unary(self, node: Node) -> Unary:
        operand = self.expression(self.field(node, "argument"))
        return Unary(self._unary_operator(node), operand, position=self.at(node))

    def _unary_operator(self, node: Node) -> str:
        operator = self._operator(node)
        if operator not in UNARY_OPERATORS:
            raise self.error(node, f"'{operator}' is not supported; write the operator as a sign")
        return operator

    def _operator(self, node: Node) -> str:
        operator = self.text(self.field(node, "operator"))
        return _OPERATOR_WORDS.get(operator, operator)

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
        operator = self._operator(node)
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
        operator = self._operator(node)
        if operator not in ASSIGNMENT_OPERATORS:
            raise self.error(node, f"'{operator}' is not supported as an assignment")
        target = self._place(self.field(node, "left"))
        value = self.field(node, "right")
        if value.type == "initializer_list":
            raise self.error(value, "braces are supported in declarations; write 'T{...}' here")
        return Assign(target, operator, self.expression(value), position=self.at(node))

    def _fold(self, node: Node) -> Fold:
        left, right = self.field(node, "left"), self.field(node, "right")
        operator = _OPERATOR_WORDS.get(text := self.text(self.field(node, "operator")), text)
        position = self.at(node)
        if right.type == "...":
            return Fold(operator, self.expression(left), position=position)
        if left.type == "...":
            return Fold(operator, self.expression(right), None, True, position=position)
        # Which of the two is the pack is found where the packs are known.
        start = self.expression(right)
        return Fold(operator, self.expression(left), start, position=position)

    def _expansion(self, node: Node) -> Expansion:
        return Expansion(self.expression(node.named_children[0]), position=self.at(node))

    def _lambda(self, node: Node) -> Lambda:
        declarator = node.child_by_field_name("declarator")
        parameters: tuple[Parameter, ...] = ()
        result: Type | None = None
        is_mutable = False
        if declarator is not None:
            parameters = self.parameters(self.field(declarator, "parameters"))
            is_mutable = any(self.text(each) == "mutable" for each in declarator.named_children)
            result = self.trailing_result(declarator)
        captures = list[Capture]()
        default = by_reference = ""
        for child in self.field(node, "captures").children:
            if child.type == "lambda_default_capture":
                default = self.text(child)
            elif child.type in ("&", "..."):
                by_reference = "&"
            elif child.is_named:
                captures.append(self._capture(child, bool(by_reference)))
                by_reference = ""
        body = self.block(self.field(node, "body"))
        return Lambda(
            body,
            parameters,
            tuple(captures),
            default,
            result,
            is_mutable,
            position=self.at(node),
        )

    def _capture(self, node: Node, by_reference: bool) -> Capture:
        position = self.at(node)
        match node.type:
            case "lambda_capture_initializer":
                left = self.field(node, "left")
                reference = by_reference or self.text(node).startswith("&")
                value = self.initial_value(self.field(node, "right"))
                return Capture(self.text(left), reference, value, position=position)
            case "parameter_pack_expansion":
                name = self.text(node.named_children[0])
                return Capture(name, by_reference, None, True, position=position)
            case "this" | "identifier":
                return Capture(self.text(node), by_reference, position=position)
            case _:
                raise self.unsupported(node, "captures of variables and of 'this'")

    def trailing_result(self, declarator: Node) -> Type | None:
        """The type behind `->` after the parameters of a function, if there is one."""
        trailing = (x for x in declarator.named_children if x.type == "trailing_return_type")
        found = next(trailing, None)
        return None if found is None else self.type_descriptor(found.named_children[0])

    def _place(self, node: Node) -> Place:
        match self.expression(node):
            case Name() | Index() | Member() | Unary(operator="*") | FunctionCall() as place:
                return place
            case Assign() | Update(postfix=False) | Cast() | Conditional() | This() as place:
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
        member, arguments = self._templated_member(node)
        if arguments:
            raise self.error(node, "template arguments are supported in calls and types only")
        return member

    def _templated_member(self, node: Node) -> tuple[Member, tuple[TemplateArgument, ...]]:
        """`base.member<arguments>`."""
        base = self.expression(self.field(node, "argument"))
        operator, member = self.text(self.field(node, "operator")), self.field(node, "field")
        arguments: tuple[TemplateArgument, ...] = ()
        while member.type == "dependent_name":
            member = member.named_children[-1]
        if member.type in ("template_method", "template_function"):
            arguments = self.qualified_name(member).arguments
            member = self.field(member, "name")
        if member.type == "qualified_field_identifier":
            member = self.field(member, "name")
        kinds = ("field_identifier", "identifier", "operator_name")
        if operator not in (".", "->") or member.type not in kinds:
            raise self.unsupported(member, "the names of members")
        name = self.name_text(member)
        return Member(base, name, operator == "->", position=self.at(node)), arguments

    _READERS: ClassVar[dict[str, Callable[[ExpressionReader, Node], Expression]]] = {
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
        "null": _null,
        "number_literal": _number,
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
