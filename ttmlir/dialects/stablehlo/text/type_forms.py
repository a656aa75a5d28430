"""How the types of an operation are written after the colon of its pretty syntax."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, cast

from xdsl.dialects.builtin import ComplexType, TensorType, TupleType
from xdsl.ir import Attribute, Operation
from xdsl.parser import Parser
from xdsl.printer import Printer

from ttmlir.mlir.xdsl_internals import current_token

Types = tuple[Sequence[Attribute], Sequence[Attribute]]
"""The types of the operands and those of the results."""


class TypeForm(Protocol):
    """How the types of an operation are written after the colon."""

    def read(self, parser: Parser, operands: int) -> Types:
        """Read the types of so many operands, and those of the results."""
        ...

    def write(self, printer: Printer, op: Operation) -> None:
        """Write the types."""
        ...


class Functional:
    """`(operand types) -> result types`."""

    def read(self, parser: Parser, operands: int) -> Types:
        """Read both lists."""
        type = parser.parse_function_type()
        return type.inputs.data, type.outputs.data

    def write(self, printer: Printer, op: Operation) -> None:
        """Write both lists."""
        printer.print_function_type(op.operand_types, op.result_types)


FUNCTIONAL = Functional()


class Same:
    """One type if operands and result have the same, else `(operand types) -> result types`."""

    def read(self, parser: Parser, operands: int) -> Types:
        """Read either form."""
        if current_token(parser).text == "(":
            return FUNCTIONAL.read(parser, operands)
        type = parser.parse_type()
        return [type] * operands, [type]

    def write(self, printer: Printer, op: Operation) -> None:
        """Write the shorter form if possible."""
        first, *others = (*op.result_types, *op.operand_types)
        if all(type == first for type in others):
            printer.print_attribute(first)
        else:
            FUNCTIONAL.write(printer, op)


SAME = Same()


class ResultOnly:
    """The type of the result of an operation without operands."""

    def read(self, parser: Parser, operands: int) -> Types:
        """Read the type of the result."""
        return [], [parser.parse_type()]

    def write(self, printer: Printer, op: Operation) -> None:
        """Write the type of the result."""
        printer.print_attribute(op.results[0].type)


RESULT = ResultOnly()


class Arrow:
    """`operand types -> result types`, as CHLO has it."""

    def read(self, parser: Parser, operands: int) -> Types:
        """Read both lists."""
        types = [parser.parse_type()]
        while parser.parse_optional_punctuation(",") is not None:
            types.append(parser.parse_type())
        parser.parse_punctuation("->")
        results = parser.parse_optional_comma_separated_list(
            parser.Delimiter.PAREN, parser.parse_type
        )
        return types, [parser.parse_type()] if results is None else list(results)

    def write(self, printer: Printer, op: Operation) -> None:
        """Write both lists."""
        printer.print_list(op.operand_types, printer.print_attribute)
        printer.print_string(" -> ")
        many = len(op.results) > 1
        printer.print_string("(" if many else "")
        printer.print_list(op.result_types, printer.print_attribute)
        printer.print_string(")" if many else "")


ARROW = Arrow()


class ComplexResult:
    """The type of the result, whose parts are the operands; or `(types) -> type`."""

    def read(self, parser: Parser, operands: int) -> Types:
        """Read either form."""
        if current_token(parser).text == "(":
            return FUNCTIONAL.read(parser, operands)
        position = parser.pos
        type = parser.parse_type()
        part = _part_type(type)
        if part is None:
            parser.raise_error("expected tensor with complex element type", position)
        return [part] * operands, [type]

    def write(self, printer: Printer, op: Operation) -> None:
        """Write the shorter form if possible."""
        result = op.results[0].type
        part = _part_type(result)
        if all(type == part for type in op.operand_types):
            printer.print_attribute(result)
        else:
            FUNCTIONAL.write(printer, op)


def _part_type(type: Attribute) -> Attribute | None:
    """The type of the real parts of a tensor of complex numbers."""
    if not isinstance(type, TensorType):
        return None
    shaped = cast("TensorType[Attribute]", type)
    element = shaped.element_type
    if not isinstance(element, ComplexType):
        return None
    part: Attribute = cast("ComplexType", element).element_type
    return TensorType(part, shaped.shape, shaped.encoding)


COMPLEX_RESULT = ComplexResult()


class PredicateAndSame:
    """The type of the first operand and the one of all others; or `(types) -> type`."""

    def read(self, parser: Parser, operands: int) -> Types:
        """Read either form."""
        if current_token(parser).text == "(":
            return FUNCTIONAL.read(parser, operands)
        predicate = parser.parse_type()
        parser.parse_punctuation(",")
        type = parser.parse_type()
        return [predicate, *[type] * (operands - 1)], [type]

    def write(self, printer: Printer, op: Operation) -> None:
        """Write the shorter form if possible."""
        predicate, *others = op.operand_types
        result = op.results[0].type
        if all(type == result for type in others):
            printer.print_attribute(predicate)
            printer.print_string(", ")
            printer.print_attribute(result)
        else:
            FUNCTIONAL.write(printer, op)


PREDICATE_AND_SAME = PredicateAndSame()


class Each:
    """One type for each operand and its result."""

    def read(self, parser: Parser, operands: int) -> Types:
        """Read as many types as there are operands."""
        types = [parser.parse_type()]
        while parser.parse_optional_punctuation(",") is not None:
            types.append(parser.parse_type())
        return types, types

    def write(self, printer: Printer, op: Operation) -> None:
        """Write the types of the operands."""
        printer.print_list(op.operand_types, printer.print_attribute)


EACH = Each()


class TupleOfOperands:
    """The type of the tuple that the operands make."""

    def read(self, parser: Parser, operands: int) -> Types:
        """Read the tuple's type."""
        position = parser.pos
        type = parser.parse_type()
        if not isinstance(type, TupleType):
            parser.raise_error("expected tuple type", position)
        return type.types.data, [type]

    def write(self, printer: Printer, op: Operation) -> None:
        """Write the tuple's type."""
        printer.print_attribute(op.results[0].type)


TUPLE_OF_OPERANDS = TupleOfOperands()
