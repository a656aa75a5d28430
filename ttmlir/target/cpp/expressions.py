"""C++ expressions: the right-hand sides of operations that compute one.

An `emitc.expression` nests operations into one C++ expression; operands bind as tightly as C++'s
precedence says, parentheses stand where it says otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    StringAttr,
    SymbolRefAttr,
)
from xdsl.ir import Attribute, Operation, SSAValue

from ttmlir.cpp.errors import CannotEmitError
from ttmlir.target.cpp.types import type_text

BINARY = {
    "emitc.mul": ("*", 13),
    "emitc.div": ("/", 13),
    "emitc.rem": ("%", 13),
    "emitc.add": ("+", 12),
    "emitc.sub": ("-", 12),
    "emitc.bitwise_left_shift": ("<<", 11),
    "emitc.bitwise_right_shift": (">>", 11),
    "emitc.bitwise_and": ("&", 7),
    "emitc.bitwise_xor": ("^", 6),
    "emitc.bitwise_or": ("|", 5),
    "emitc.logical_and": ("&&", 4),
    "emitc.logical_or": ("||", 3),
}
"""C++ operator and its precedence; a higher one binds more tightly."""

UNARY = {
    "emitc.bitwise_not": "~",
    "emitc.logical_not": "!",
    "emitc.unary_minus": "-",
    "emitc.unary_plus": "+",
}

COMPARISONS = (("==", 8), ("!=", 8), ("<", 9), ("<=", 9), (">", 9), (">=", 9), ("<=>", 10))
"""By the number of the predicate of `emitc.cmp`."""

_CALL, _PREFIX, _CONDITIONAL, _LOWEST = 16, 15, 2, 0


def property_of(op: Operation, name: str) -> Attribute | None:
    """A property, or in older spellings an attribute, of an operation."""
    return op.properties.get(name, op.attributes.get(name))


def text_of(op: Operation, name: str) -> str:
    """The text of a required string or symbol property."""
    attribute = property_of(op, name)
    if attribute is None:
        raise CannotEmitError(f"requires attribute '{name}'")
    return string_text(attribute)


def string_text(attribute: Attribute) -> str:
    """The text of a string or symbol."""
    match attribute:
        case StringAttr():
            return attribute.data
        case SymbolRefAttr():
            return attribute.root_reference.data
        case _:
            raise CannotEmitError(f"expected a string or symbol, got {attribute}")


def elements_of(op: Operation, name: str) -> tuple[Attribute, ...] | None:
    """The elements of an array property; None if it is absent."""
    attribute = property_of(op, name)
    if not isinstance(attribute, ArrayAttr):
        return None
    return cast("ArrayAttr[Attribute]", attribute).data


def is_expression_part(op: Operation) -> bool:
    """True if the operation may stand in an `emitc.expression`."""
    return op.name in _RENDERERS


class ExpressionRenderer:
    """Renders operations to C++ expressions.

    `name_of` gives the text of a value that has been emitted before; `literal` that of an
    attribute.
    """

    def __init__(
        self, name_of: Callable[[SSAValue], str], literal: Callable[[Attribute], str]
    ) -> None:
        """A renderer without parts."""
        self.name_of = name_of
        self.literal = literal
        # Text and precedence of the operations inside `emitc.expression`s.
        self._parts: dict[SSAValue, tuple[str, int]] = {}

    def render(self, op: Operation) -> str:
        """The expression that computes the result of `op`."""
        return self._render(op)[0]

    def render_region(self, expression: Operation) -> str:
        """The expression that an `emitc.expression` holds."""
        *parts, terminator = expression.regions[0].block.ops
        for op in parts:
            self._parts[op.results[0]] = self._render(op)
        text, _ = self._parts[terminator.operands[0]]
        return text

    def operand(self, value: SSAValue, precedence: int = _LOWEST) -> str:
        """An operand of an operation whose operator has this precedence."""
        if value in self._parts:
            text, own = self._parts[value]
            return f"({text})" if own <= precedence else text
        if isinstance(value.owner, Operation) and is_inlined(value.owner):
            return self.render_region(value.owner)
        return self.name_of(value)

    def operands(self, values: Sequence[SSAValue]) -> str:
        """Operands in a list, which need no parentheses."""
        return ", ".join(map(self.operand, values))

    def _render(self, op: Operation) -> tuple[str, int]:
        if op.name not in _RENDERERS:
            raise CannotEmitError(f"'{op.name}' cannot be part of an expression")
        return _RENDERERS[op.name](self, op)

    def binary(self, op: Operation) -> tuple[str, int]:
        """`lhs + rhs`."""
        return self._infix(op, *BINARY[op.name])

    def compare(self, op: Operation) -> tuple[str, int]:
        """`lhs < rhs`."""
        predicate = property_of(op, "predicate")
        if not isinstance(predicate, IntegerAttr):
            raise CannotEmitError("requires attribute 'predicate'")
        return self._infix(op, *COMPARISONS[predicate.value.data])

    def _infix(self, op: Operation, operator: str, precedence: int) -> tuple[str, int]:
        lhs, rhs = (self.operand(value, precedence) for value in op.operands)
        return f"{lhs} {operator} {rhs}", precedence

    def unary(self, op: Operation) -> tuple[str, int]:
        """`-value`."""
        return UNARY[op.name] + self.operand(op.operands[0], _PREFIX), _PREFIX

    def apply(self, op: Operation) -> tuple[str, int]:
        """`&value` or `*value`."""
        operator = text_of(op, "applicableOperator")
        return operator + self.operand(op.operands[0], _PREFIX), _PREFIX

    def cast(self, op: Operation) -> tuple[str, int]:
        """`(type) value`."""
        value = self.operand(op.operands[0], _PREFIX)
        return f"({type_text(op.results[0].type)}) {value}", _PREFIX

    def conditional(self, op: Operation) -> tuple[str, int]:
        """`condition ? value : value`."""
        condition, true, false = (self.operand(value, _CONDITIONAL) for value in op.operands)
        return f"{condition} ? {true} : {false}", _CONDITIONAL

    def call(self, op: Operation) -> tuple[str, int]:
        """`function(operands)`."""
        return f"{text_of(op, 'callee')}({self.operands(op.operands)})", _CALL

    def call_opaque(self, op: Operation) -> tuple[str, int]:
        """`function<template arguments>(arguments)`."""
        callee = text_of(op, "callee")
        template_args, args = elements_of(op, "template_args"), elements_of(op, "args")
        if template_args is not None:
            callee += f"<{', '.join(map(self.literal, template_args))}>"
        if args is None:
            return f"{callee}({self.operands(op.operands)})", _CALL
        listed = ", ".join(self._argument(op, argument) for argument in args)
        return f"{callee}({listed})", _CALL

    def _argument(self, op: Operation, argument: Attribute) -> str:
        """A literal, or for an integer of type index the operand with that number."""
        if not isinstance(argument, IntegerAttr):
            return self.literal(argument)
        number = cast("IntegerAttr[IntegerType | IndexType]", argument)
        if not isinstance(number.type, IndexType):
            return self.literal(number)
        return self.operand(op.operands[number.value.data])


_RENDERERS: dict[str, Callable[[ExpressionRenderer, Operation], tuple[str, int]]] = {
    **dict.fromkeys(BINARY, ExpressionRenderer.binary),
    **dict.fromkeys(UNARY, ExpressionRenderer.unary),
    "emitc.apply": ExpressionRenderer.apply,
    "emitc.call": ExpressionRenderer.call,
    "emitc.call_opaque": ExpressionRenderer.call_opaque,
    "emitc.cast": ExpressionRenderer.cast,
    "emitc.cmp": ExpressionRenderer.compare,
    "emitc.conditional": ExpressionRenderer.conditional,
}


def is_inlined(op: Operation) -> bool:
    """True for an `emitc.expression` that stands where its result is used.

    Not where that would repeat it, move a side effect, or need a variable: in the index of a
    subscript and in operations that could have been part of the expression.
    """
    if op.name != "emitc.expression" or property_of(op, "do_not_inline") is not None:
        return False
    if _has_side_effects(op) or not op.results[0].has_one_use():
        return False
    user = next(iter(op.results[0].uses)).operation
    return user.name != "emitc.subscript" and not is_expression_part(user)


def _has_side_effects(expression: Operation) -> bool:
    return any(_touches_memory(op) for op in expression.regions[0].block.ops)


def _touches_memory(op: Operation) -> bool:
    """True for opaque calls, reads through pointers, and reads of variables."""
    if op.name == "emitc.call_opaque":
        return True
    if op.name == "emitc.apply":
        return text_of(op, "applicableOperator") == "*"
    return any(
        isinstance(value.owner, Operation) and value.owner.name == "emitc.variable"
        for value in op.operands
    )
