"""The pretty syntax of operations, as data.

A `Form` lists what stands between the name of an operation and its attribute dictionary, separated
by commas, and how the types are written after it:

    Form((OPERANDS, Setting("dims", IntegerList("permutation"))), FUNCTIONAL)

is the syntax of `stablehlo.transpose %0, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    ComplexType,
    DenseArrayBase,
    IntegerAttr,
    IntegerType,
    StringAttr,
    TensorType,
    TupleType,
    i64,
)
from xdsl.ir import Attribute, Operation
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.utils.mlir_lexer import MLIRTokenKind as Kind

from ttmlir.dialects.definition.syntax import expect, expect_keyword, parse_signed
from ttmlir.dialects.stablehlo.attrs import (
    DotAlgorithmAttr,
    DotDimensionNumbersAttr,
    EnumAttr,
    PrecisionAttr,
    dimension_list_text,
    parse_dimension_list,
)
from ttmlir.mlir.xdsl_internals import current_token

# --- Type forms -----------------------------------------------------------------------------------
# How the types of an operation are written after the colon of its pretty syntax.

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


# --- Form -----------------------------------------------------------------------------------------
# The pretty syntax of operations, as data.
#
# A `Form` lists what stands between the name of an operation and its attribute dictionary,
# separated by commas, and how the types are written after it:
#
#     Form((OPERANDS, Setting("dims", IntegerList("permutation"))), FUNCTIONAL)
#
# is the syntax of `stablehlo.transpose %0, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>`.


@dataclass
class Reading:
    """What was read of an operation so far."""

    operands: list[UnresolvedOperand] = field(default_factory=list[UnresolvedOperand])
    properties: dict[str, Attribute] = field(default_factory=dict[str, Attribute])


class PropertyText(Protocol):
    """The text of a property after `name =`."""

    @property
    def name(self) -> str:
        """The property that the text stands for."""
        ...

    @property
    def names(self) -> tuple[str, ...]:
        """The same with others that the text stands for."""
        ...

    def read(self, parser: Parser, reading: Reading) -> None:
        """Read the text."""
        ...

    def write(self, printer: Printer, op: Operation) -> None:
        """Write the text."""
        ...

    def is_written(self, op: Operation) -> bool:
        """True if the operation's text has it."""
        ...


@dataclass(frozen=True)
class _Value:
    name: str

    @property
    def names(self) -> tuple[str, ...]:
        """The properties that the text stands for."""
        return (self.name,)

    def is_written(self, op: Operation) -> bool:
        """True if the operation has the property."""
        return self.name in op.properties


@dataclass(frozen=True)
class IntegerList(_Value):
    """`[1, 0]`, kept as `array<i64: 1, 0>`."""

    def read(self, parser: Parser, reading: Reading) -> None:
        """Read the list."""
        reading.properties[self.name] = DenseArrayBase.from_list(i64, parse_dimension_list(parser))

    def write(self, printer: Printer, op: Operation) -> None:
        """Write the list."""
        printer.print_string(dimension_list_text(integers(op, self.name)))


@dataclass(frozen=True)
class Integer(_Value):
    """A number, kept as i64 or as another integer type."""

    width: int = 64

    def read(self, parser: Parser, reading: Reading) -> None:
        """Read the number."""
        value = parse_signed(parser)
        reading.properties[self.name] = IntegerAttr(value, IntegerType(self.width))

    def write(self, printer: Printer, op: Operation) -> None:
        """Write the number."""
        printer.print_string(str(integer(op, self.name)))


@dataclass(frozen=True)
class Flag(_Value):
    """`true`, kept as `true`; not written if it is false, which is what absence means."""

    def read(self, parser: Parser, reading: Reading) -> None:
        """Read the truth value."""
        position = parser.pos
        value = parser.parse_optional_boolean()
        if value is None:
            parser.raise_error("expected 'true' or 'false'", position)
        reading.properties[self.name] = IntegerAttr(int(value), IntegerType(1))

    def write(self, printer: Printer, op: Operation) -> None:
        """Write the truth value."""
        printer.print_string("true" if integer(op, self.name) else "false")

    def is_written(self, op: Operation) -> bool:
        """True if the property is true."""
        return self.name in op.properties and integer(op, self.name) != 0


@dataclass(frozen=True)
class Text(_Value):
    """A string in quotes."""

    def read(self, parser: Parser, reading: Reading) -> None:
        """Read the string."""
        reading.properties[self.name] = StringAttr(parser.parse_str_literal())

    def write(self, printer: Printer, op: Operation) -> None:
        """Write the string."""
        printer.print_string_literal(cast("StringAttr", op.properties[self.name]).data)


@dataclass(frozen=True)
class Member(_Value):
    """The bare text of an enumeration's member."""

    enum: type[EnumAttr]

    def read(self, parser: Parser, reading: Reading) -> None:
        """Read the member."""
        reading.properties[self.name] = self.enum(self.enum.parse_case(parser))

    def write(self, printer: Printer, op: Operation) -> None:
        """Write the member."""
        printer.print_string(cast("EnumAttr", op.properties[self.name]).data)


@dataclass(frozen=True)
class Precisions(_Value):
    """`[HIGH, DEFAULT]`: how exactly each operand is taken."""

    def read(self, parser: Parser, reading: Reading) -> None:
        """Read the list."""
        expect(parser, "[")
        members: list[PrecisionAttr] = []
        while parser.parse_optional_punctuation("]") is None:
            if members:
                expect(parser, ",")
            members.append(PrecisionAttr(PrecisionAttr.parse_case(parser)))
        reading.properties[self.name] = ArrayAttr(members)

    def write(self, printer: Printer, op: Operation) -> None:
        """Write the list."""
        members = cast("ArrayAttr[PrecisionAttr]", op.properties[self.name]).data
        printer.print_string(f"[{', '.join(member.data for member in members)}]")


@dataclass(frozen=True)
class Algorithm(_Value):
    """`<lhs_precision_type = tf32, ...>`: with which types and steps a contraction computes."""

    def read(self, parser: Parser, reading: Reading) -> None:
        """Read the algorithm."""
        reading.properties[self.name] = DotAlgorithmAttr(DotAlgorithmAttr.parse_parameter(parser))

    def write(self, printer: Printer, op: Operation) -> None:
        """Write the algorithm."""
        cast("DotAlgorithmAttr", op.properties[self.name]).print_parameter(printer)


_FLOAT_FORMAT = re.compile(r"e([0-9]+)m([0-9]+)")


@dataclass(frozen=True)
class FloatFormat(_Value):
    """`e5m10`: bits of the exponent and, under `mantissa_bits`, of the mantissa."""

    @property
    def names(self) -> tuple[str, ...]:
        """Both properties."""
        return ("exponent_bits", "mantissa_bits")

    def read(self, parser: Parser, reading: Reading) -> None:
        """Read the format."""
        position = parser.pos
        word = parser.parse_optional_identifier()
        if word is None:
            parser.raise_error("expected valid keyword", position)
        match = _FLOAT_FORMAT.fullmatch(word)
        if match is None:
            parser.raise_error("expected exponent mantissa in format e#m#, saw " + word, position)
        for name, digits in zip(("exponent_bits", "mantissa_bits"), match.groups(), strict=True):
            reading.properties[name] = IntegerAttr(int(digits), IntegerType(32))

    def write(self, printer: Printer, op: Operation) -> None:
        """Write the format."""
        bits = (integer(op, "exponent_bits"), integer(op, "mantissa_bits"))
        printer.print_string(f"e{bits[0]}m{bits[1]}")


class Item(Protocol):
    """One of the parts that commas separate."""

    @property
    def is_optional(self) -> bool:
        """True if the part may be missing."""
        ...

    @property
    def expected(self) -> str:
        """What messages say when the part is missing."""
        ...

    def stands_at(self, parser: Parser) -> bool:
        """True if the next token begins this part."""
        ...

    def read(self, parser: Parser, reading: Reading) -> None:
        """Read the part."""
        ...

    def write(self, printer: Printer, op: Operation) -> bool:
        """Write the part; False if there is nothing to write."""
        ...

    def is_written(self, op: Operation) -> bool:
        """True if the operation's text has this part."""
        ...

    @property
    def spelled(self) -> tuple[str, ...]:
        """The properties that this part spells."""
        ...


@dataclass(frozen=True)
class Operands:
    """All operands, separated by commas."""

    is_optional: bool = False
    expected: str = "SSA operand"
    spelled: tuple[str, ...] = ()

    def stands_at(self, parser: Parser) -> bool:
        """True before `%`."""
        return current_token(parser).kind is Kind.PERCENT_IDENT

    def read(self, parser: Parser, reading: Reading) -> None:
        """Read one operand; the commas between them are those of the form."""
        reading.operands.append(parser.parse_unresolved_operand())

    def is_written(self, op: Operation) -> bool:
        """True: the blank before operands stands there even without any."""
        return True

    def write(self, printer: Printer, op: Operation) -> bool:
        """Write the operands."""
        printer.print_list(op.operands, printer.print_operand)
        return True


OPERANDS = Operands()


@dataclass(frozen=True)
class Setting:
    """`keyword = value`."""

    keyword: str
    value: PropertyText
    is_optional: bool = False

    @property
    def expected(self) -> str:
        """The keyword in quotes."""
        return f"'{self.keyword}'"

    @property
    def spelled(self) -> tuple[str, ...]:
        """The property that the value stands for."""
        return self.value.names

    def stands_at(self, parser: Parser) -> bool:
        """True before the keyword."""
        return current_token(parser).text == self.keyword

    def read(self, parser: Parser, reading: Reading) -> None:
        """Read keyword and value."""
        expect_keyword(parser, self.keyword)
        expect(parser, "=")
        self.value.read(parser, reading)

    def is_written(self, op: Operation) -> bool:
        """True if the value is written."""
        return self.value.is_written(op)

    def write(self, printer: Printer, op: Operation) -> bool:
        """Write keyword and value."""
        printer.print_string(f"{self.keyword} = ")
        self.value.write(printer, op)
        return True


@dataclass(frozen=True)
class Word:
    """A value without a keyword, such as the direction of a comparison."""

    value: PropertyText
    is_optional: bool = False

    @property
    def expected(self) -> str:
        """What stands here in general."""
        return f"keyword for '{self.value.name}'"

    @property
    def spelled(self) -> tuple[str, ...]:
        """The property that the value stands for."""
        return self.value.names

    def stands_at(self, parser: Parser) -> bool:
        """True before a word."""
        return current_token(parser).kind is Kind.BARE_IDENT

    def read(self, parser: Parser, reading: Reading) -> None:
        """Read the value."""
        self.value.read(parser, reading)

    def is_written(self, op: Operation) -> bool:
        """True if the value is written."""
        return self.value.is_written(op)

    def write(self, printer: Printer, op: Operation) -> bool:
        """Write the value."""
        self.value.write(printer, op)
        return True


@dataclass(frozen=True)
class DimensionPairs:
    """`batching_dims = [0] x [0]` or `contracting_dims = [1] x [0]` of `dot_general`."""

    kind: str
    is_optional: bool
    spelled: tuple[str, ...] = ("dot_dimension_numbers",)

    @property
    def expected(self) -> str:
        """The keyword in quotes."""
        return f"'{self.kind}_dims'"

    def stands_at(self, parser: Parser) -> bool:
        """True before the keyword."""
        return current_token(parser).text == f"{self.kind}_dims"

    def read(self, parser: Parser, reading: Reading) -> None:
        """Read the two lists into the attribute."""
        expect_keyword(parser, f"{self.kind}_dims")
        expect(parser, "=")
        lhs = parse_dimension_list(parser)
        expect_keyword(parser, "x")
        rhs = parse_dimension_list(parser)
        before = reading.properties.get("dot_dimension_numbers")
        fields = DotDimensionNumbersAttr.of().data
        if isinstance(before, DotDimensionNumbersAttr):
            fields = before.data
        pair = (lhs, rhs)
        fields = (*pair, *fields[2:]) if self.kind == "batching" else (*fields[:2], *pair)
        reading.properties["dot_dimension_numbers"] = DotDimensionNumbersAttr(fields)

    def is_written(self, op: Operation) -> bool:
        """Contracting dimensions always are, batches if there are some."""
        return not self.is_optional or any(self._lists(op))

    def _lists(self, op: Operation) -> Sequence[Sequence[int]]:
        numbers = cast("DotDimensionNumbersAttr", op.properties["dot_dimension_numbers"])
        lists = cast("Sequence[Sequence[int]]", numbers.data)
        return lists[:2] if self.kind == "batching" else lists[2:]

    def write(self, printer: Printer, op: Operation) -> bool:
        """Write the two lists."""
        lhs, rhs = map(dimension_list_text, self._lists(op))
        printer.print_string(f"{self.kind}_dims = {lhs} x {rhs}")
        return True


@dataclass(frozen=True)
class Form:
    """The syntax of an operation."""

    items: tuple[Item, ...]
    types: TypeForm

    @property
    def spelled(self) -> frozenset[str]:
        """The properties that the form spells outside the attribute dictionary."""
        return frozenset(name for item in self.items for name in item.spelled)

    def read(self, parser: Parser) -> Reading:
        """Read the parts that commas separate."""
        reading = Reading()
        place = 0
        if not any(item.stands_at(parser) for item in self.items):
            self._fail_on_missing(parser, place)
            return reading
        while True:
            place = self._read_item(parser, reading, place)
            if parser.parse_optional_punctuation(",") is None:
                self._fail_on_missing(parser, place)
                return reading

    def _read_item(self, parser: Parser, reading: Reading, place: int) -> int:
        """Read one part; returns the place of the items that may follow."""
        for index in range(place, len(self.items)):
            item = self.items[index]
            if item.stands_at(parser):
                item.read(parser, reading)
                return index if isinstance(item, Operands) else index + 1
            is_read = isinstance(item, Operands) and reading.operands
            if not item.is_optional and not is_read:
                parser.raise_error(f"expected {item.expected}")
        expected = [item.expected for item in self.items[place:]]
        parser.raise_error(f"expected {' or '.join(expected) or 'no further comma'}")

    def _fail_on_missing(self, parser: Parser, place: int) -> None:
        for item in self.items[place:]:
            if not item.is_optional and not isinstance(item, Operands):
                parser.raise_error(f"expected {item.expected}")

    def write(self, printer: Printer, op: Operation) -> None:
        """Write the parts with a blank before the first."""
        separator = " "
        for item in self.items:
            if item.is_written(op):
                printer.print_string(separator)
                item.write(printer, op)
                separator = ", "


def integers(op: Operation, name: str) -> tuple[int, ...]:
    """The numbers of a property `array<i64: ...>`; none if it is missing."""
    attr = op.properties.get(name)
    if attr is None:
        return ()
    return tuple(cast("DenseArrayBase[IntegerType]", attr).iter_values())


def integer(op: Operation, name: str) -> int:
    """The number of an integer property."""
    return cast("IntegerAttr", op.properties[name]).value.data
