"""The operations of tosa that choose, repeat and remember: regions and variables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Self, cast

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, StringAttr, TensorType, i1
from xdsl.ir import Attribute
from xdsl.irdl import traits_def
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import IsTerminator, Pure, RecursiveMemoryEffect

from ttmlir.dialects.definition import ods
from ttmlir.dialects.definition.assembly import AssemblyOp, parse_operands
from ttmlir.dialects.definition.ods import Property, Signature, ValueGroup
from ttmlir.dialects.tosa.forms import BOOLEANS, NUMBERS, TYPE, TosaOp, op_class

_MANY = (ValueGroup("output", NUMBERS, variadic=True),)


class YieldOp(AssemblyOp):
    """The end of a region: the values that it gives."""

    name = "tosa.yield"
    SIGNATURE: ClassVar = Signature(operands=(ValueGroup("inputs", NUMBERS, variadic=True),))
    traits = traits_def(IsTerminator(), Pure())

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read the operation after its name."""
        operands = parse_operands(parser)
        _, attributes = cls.parse_dict(parser, {})
        position = parser.pos
        types: list[Attribute] = []
        if parser.parse_optional_punctuation(":") is not None:
            types = parser.parse_comma_separated_list(Parser.Delimiter.NONE, parser.parse_type)
        return cls.create(
            operands=parser.resolve_operands(operands, types, position), attributes=attributes
        )

    def print(self, printer: Printer) -> None:
        """Write the operation after its name."""
        if self.operands:
            printer.print_string(" ")
            printer.print_list(self.operands, printer.print_operand)
        self.print_dict(printer)
        if self.operands:
            printer.print_string(" : ")
            printer.print_list(self.operand_types, printer.print_attribute)


def _parse_types(parser: Parser) -> Sequence[Attribute]:
    """Read `type` or `(type, ...)`."""
    types = parser.parse_optional_comma_separated_list(Parser.Delimiter.PAREN, parser.parse_type)
    return [parser.parse_type()] if types is None else types


class IfOp(AssemblyOp):
    """One of two regions, by a condition.

    MLIR 19 does not write the type of the condition, later versions do; both are read.
    """

    name = "tosa.cond_if"
    SIGNATURE: ClassVar = Signature(
        operands=(ValueGroup("cond", BOOLEANS), ValueGroup("inputs", NUMBERS, variadic=True)),
        results=_MANY,
        regions=2,
    )
    traits = traits_def(RecursiveMemoryEffect())

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read the operation after its name."""
        position = parser.pos
        condition = parser.parse_unresolved_operand()
        written = parser.parse_optional_punctuation(":") is not None
        type = parser.parse_type() if written else TensorType(i1, [])
        parser.parse_punctuation("->")
        results = _parse_types(parser)
        chosen = parser.parse_region()
        parser.parse_keyword("else")
        other = parser.parse_region()
        _, attributes = cls.parse_dict(parser, {})
        return cls.create(
            operands=parser.resolve_operands([condition], [type], position),
            result_types=results,
            regions=[chosen, other],
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        """Write the operation after its name."""
        printer.print_string(" ")
        printer.print_operand(self.operands[0])
        if self.operands[0].type != TensorType(i1, []):
            printer.print_string(" : ")
            printer.print_attribute(self.operands[0].type)
        printer.print_string(" -> (")
        printer.print_list(self.result_types, printer.print_attribute)
        printer.print_string(") ")
        printer.print_region(self.regions[0])
        printer.print_string(" else ")
        printer.print_region(self.regions[1])
        self.print_dict(printer)


class WhileOp(AssemblyOp):
    """Repetition of a region for as long as another gives true."""

    name = "tosa.while_loop"
    SIGNATURE: ClassVar = Signature(
        operands=(ValueGroup("inputs", NUMBERS, variadic=True),), results=_MANY, regions=2
    )
    traits = traits_def(RecursiveMemoryEffect())

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read the operation after its name."""

        def start() -> tuple[Parser.UnresolvedArgument, UnresolvedOperand]:
            argument = parser.parse_argument(expect_type=False)
            parser.parse_punctuation("=")
            return argument, parser.parse_unresolved_operand()

        starts = parser.parse_comma_separated_list(Parser.Delimiter.PAREN, start)
        parser.parse_punctuation(":")
        position = parser.pos
        type = parser.parse_function_type()
        inputs = type.inputs.data
        operands = parser.resolve_operands([value for _, value in starts], inputs, position)
        arguments = [argument for argument, _ in starts]
        condition = parser.parse_region(
            argument.resolve(type) for argument, type in zip(arguments, inputs, strict=True)
        )
        parser.parse_keyword("do")
        body = parser.parse_region()
        _, attributes = cls.parse_dict(parser, {})
        return cls.create(
            operands=operands,
            result_types=type.outputs.data,
            regions=[condition, body],
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        """Write the operation after its name."""
        condition, body = self.regions
        entry = condition.blocks.first
        arguments = () if entry is None else entry.args
        printer.print_string(" (")
        for number, (argument, value) in enumerate(zip(arguments, self.operands, strict=True)):
            printer.print_string(", " if number else "")
            printer.print_ssa_value(argument)
            printer.print_string(" = ")
            printer.print_ssa_value(value)
        printer.print_string(") : ")
        printer.print_operation_type(self)
        printer.print_string(" ")
        printer.print_region(condition, print_entry_block_args=False)
        printer.print_string(" do ")
        printer.print_region(body)
        self.print_dict(printer)


_NAME = Property("name", ods.STRING)


class _VariableOp(AssemblyOp):
    """An operation on the variable `name`, which is written as a symbol."""

    @classmethod
    def parse_name(cls, parser: Parser) -> dict[str, Attribute]:
        """Read the name."""
        return {"name": parser.parse_symbol_name()}

    def print_name(self, printer: Printer) -> None:
        """Write the name."""
        printer.print_string(" ")
        printer.print_symbol_name(cast("StringAttr", self.properties["name"]).data)


class VariableOp(_VariableOp):
    """A tensor that keeps its value between calls."""

    name = "tosa.variable"
    SPELLED: ClassVar = ("name", "type", "initial_value")
    SIGNATURE: ClassVar = Signature(
        properties=(
            _NAME,
            Property("type", TYPE),
            Property("initial_value", ods.ELEMENTS, optional=True),
        )
    )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read the operation after its name."""
        spelled = cls.parse_name(parser)
        _, attributes = cls.parse_dict(parser, {})
        if parser.parse_optional_punctuation("=") is not None:
            position = parser.pos
            value = parser.parse_attribute()
            if not isinstance(value, DenseIntOrFPElementsAttr):
                parser.raise_error("expected dense elements", position)
            spelled |= {"initial_value": value, "type": value.get_type()}
        else:
            parser.parse_punctuation(":")
            spelled["type"] = parser.parse_type()
        return cls.create(properties=spelled, attributes=attributes)

    def print(self, printer: Printer) -> None:
        """Write the operation after its name."""
        self.print_name(printer)
        self.print_dict(printer)
        value = self.properties.get("initial_value")
        printer.print_string(" : " if value is None else " = ")
        printer.print_attribute(value or self.properties["type"])


class VariableReadOp(_VariableOp):
    """The value of a variable."""

    name = "tosa.variable.read"
    SPELLED: ClassVar = ("name",)
    SIGNATURE: ClassVar = Signature(results=(ValueGroup("value", NUMBERS),), properties=(_NAME,))

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read the operation after its name."""
        spelled = cls.parse_name(parser)
        _, attributes = cls.parse_dict(parser, {})
        parser.parse_punctuation(":")
        return cls.create(
            properties=spelled, attributes=attributes, result_types=[parser.parse_type()]
        )

    def print(self, printer: Printer) -> None:
        """Write the operation after its name."""
        self.print_name(printer)
        self.print_dict(printer)
        printer.print_string(" : ")
        printer.print_attribute(self.results[0].type)


class VariableWriteOp(_VariableOp):
    """A new value for a variable."""

    name = "tosa.variable.write"
    SPELLED: ClassVar = ("name",)
    SIGNATURE: ClassVar = Signature(operands=(ValueGroup("value", NUMBERS),), properties=(_NAME,))

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read the operation after its name."""
        spelled = cls.parse_name(parser)
        parser.parse_punctuation(",")
        position = parser.pos
        value = parser.parse_unresolved_operand()
        _, attributes = cls.parse_dict(parser, {})
        parser.parse_punctuation(":")
        type = parser.parse_type()
        return cls.create(
            operands=parser.resolve_operands([value], [type], position),
            properties=spelled,
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        """Write the operation after its name."""
        self.print_name(printer)
        printer.print_string(", ")
        printer.print_operand(self.operands[0])
        self.print_dict(printer)
        printer.print_string(" : ")
        printer.print_attribute(self.operands[0].type)


_CUSTOM = (
    Signature(
        operands=(ValueGroup("inputs", NUMBERS, variadic=True),),
        results=(ValueGroup("outputs", NUMBERS, variadic=True),),
        properties=tuple(
            Property(name, ods.STRING)
            for name in ("operator_name", "domain_name", "implementation_attrs")
        ),
    ),
)

OPERATIONS = (
    YieldOp,
    IfOp,
    WhileOp,
    VariableOp,
    VariableReadOp,
    VariableWriteOp,
    op_class(TosaOp, "custom", *_CUSTOM),
)
"""The operations of this module."""
