"""Pieces of the pretty syntax of upstream operations that we define."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Self

from xdsl.ir import Attribute, SSAValue
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from ttmlir.dialects.definition.ods import ODSOperation


class AssemblyOp(ODSOperation):
    """An operation with syntax of its own beside the generic form."""

    SPELLED: ClassVar[tuple[str, ...]] = ()
    """Properties that the syntax spells outside the attribute dictionary."""

    @classmethod
    def parse_dict(
        cls, parser: Parser, spelled: dict[str, Attribute]
    ) -> tuple[dict[str, Attribute], dict[str, Attribute]]:
        """Read the attribute dictionary; returns properties and attributes."""
        position = parser.pos
        attributes = parser.parse_optional_attr_dict()
        return cls.split_dict(parser, spelled, attributes, position)

    @classmethod
    def split_dict(
        cls,
        parser: Parser,
        spelled: dict[str, Attribute],
        attributes: dict[str, Attribute],
        position: int,
    ) -> tuple[dict[str, Attribute], dict[str, Attribute]]:
        """Take the properties out of an attribute dictionary."""
        try:
            properties = cls.convert_properties(None, attributes)
        except VerifyException as error:
            parser.raise_error(f"custom op '{cls.name}' {error}", position)
        return {**properties, **spelled}, attributes

    def print_dict(self, printer: Printer) -> None:
        """Write the attribute dictionary, with the properties that the syntax does not spell."""
        properties = {k: v for k, v in self.properties.items() if k not in self.SPELLED}
        entries = {**properties, **self.attributes}
        printer.print_op_attributes(dict(sorted(entries.items())))


class ConversionOp(AssemblyOp):
    """Syntax `%operand attr-dict : type -> type`, of what makes one value of another."""

    WORD: ClassVar[str] = "->"
    """What stands between the types."""

    @classmethod
    def of(cls, operand: SSAValue, type: Attribute) -> Self:
        """The operation that makes a value of a type of another value."""
        return cls.create(operands=[operand], result_types=[type])

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read the operation after its name."""
        operand = parser.parse_unresolved_operand()
        properties, attributes = cls.parse_dict(parser, {})
        parser.parse_punctuation(":")
        value = parser.resolve_operand(operand, parser.parse_type())
        parser.parse_characters(cls.WORD)
        return cls.create(
            operands=[value],
            result_types=[parser.parse_type()],
            properties=properties,
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        """Write the operation after its name."""
        printer.print_string(" ")
        printer.print_operand(self.operands[0])
        self.print_dict(printer)
        printer.print_string(" : ")
        printer.print_attribute(self.operands[0].type)
        printer.print_string(f" {self.WORD} ")
        printer.print_attribute(self.results[0].type)


def parse_operands(parser: Parser) -> list[UnresolvedOperand]:
    """Read `%a, %b, ...`, possibly nothing."""
    first = parser.parse_optional_unresolved_operand()
    if first is None:
        return []
    operands = [first]
    while parser.parse_optional_punctuation(",") is not None:
        operands.append(parser.parse_unresolved_operand())
    return operands


class FunctionalOp(AssemblyOp):
    """Syntax `operands attr-dict : (operand types) -> result types`."""

    @classmethod
    def parse_spelled(
        cls, parser: Parser
    ) -> tuple[dict[str, Attribute], Sequence[UnresolvedOperand]]:
        """Read what stands before the attribute dictionary."""
        return {}, parse_operands(parser)

    def print_spelled(self, printer: Printer) -> None:
        """Write what stands before the attribute dictionary."""
        printer.print_list(self.operands, printer.print_operand)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read the operation after its name."""
        spelled, operands = cls.parse_spelled(parser)
        properties, attributes = cls.parse_dict(parser, spelled)
        parser.parse_punctuation(":")
        position = parser.pos
        type = parser.parse_function_type()
        return cls.create(
            operands=parser.resolve_operands(operands, type.inputs.data, position),
            result_types=type.outputs.data,
            properties=properties,
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        """Write the operation after its name."""
        printer.print_string(" ")
        self.print_spelled(printer)
        self.print_dict(printer)
        printer.print_string(" : ")
        printer.print_operation_type(self)
