"""Pieces of attribute syntax that MLIR's generated parsers are made of, with their messages.

A parameter that cannot be read is reported twice, as MLIR does: what was expected, where it was
expected, and then the name of the parameter, at the token where reading stopped. The second error
is raised *from* the first; whoever prints errors prints that cause first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar, Generic, Literal, Self, TypeVar, cast

from xdsl.dialects.builtin import MemRefType, StringAttr, SymbolRefAttr
from xdsl.ir import Attribute, Data, SSAValue
from xdsl.parser import AttrParser, Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.utils.exceptions import ParseError, VerifyException
from xdsl.utils.lexer import Span

from ttmlir.dialects.definition.ods import ODSOperation, refuse
from ttmlir.layout.enums import KeywordEnum
from ttmlir.layout.errors import LayoutError
from ttmlir.mlir.core_prefix import TT, TTCORE, core_prefix, spelled_name
from ttmlir.mlir.printing import MlirPrinter
from ttmlir.mlir.xdsl_internals import resume_from

# --- Assembly -------------------------------------------------------------------------------------
# Pieces of the pretty syntax of upstream operations that we define.


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

    @staticmethod
    def parse_operand_type(parser: Parser) -> Attribute:
        """Read the type of the operand."""
        return parser.parse_type()

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
        value = parser.resolve_operand(operand, cls.parse_operand_type(parser))
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


class NamedOp(FunctionalOp):
    """Syntax `"text"(operands) attr-dict : function type`; the text is spelled first."""

    NEEDS_PARENTHESES: ClassVar[bool] = True
    """Whether they are there also without operands."""

    @classmethod
    def parse_spelled(
        cls, parser: Parser
    ) -> tuple[dict[str, Attribute], Sequence[UnresolvedOperand]]:
        """Read the text and the operands in parentheses."""
        name: Attribute = StringAttr(parser.parse_str_literal())
        operands: list[UnresolvedOperand] = []
        if cls.NEEDS_PARENTHESES:
            parser.parse_punctuation("(")
        elif parser.parse_optional_punctuation("(") is None:
            return {cls.SPELLED[0]: name}, operands
        operands = parse_operands(parser)
        parser.parse_punctuation(")")
        return {cls.SPELLED[0]: name}, operands

    def print_spelled(self, printer: Printer) -> None:
        """Write the text and the operands."""
        printer.print_attribute(self.properties[self.SPELLED[0]])
        printer.print_operands(self.operands)


class TextOp(AssemblyOp):
    """Syntax `"text" attr-dict : type`: a value that is the text `value` of a language."""

    SPELLED = ("value",)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read the operation after its name."""
        value: Attribute = StringAttr(parser.parse_str_literal())
        properties, attributes = cls.parse_dict(parser, {"value": value})
        parser.parse_punctuation(":")
        return cls.create(
            result_types=[parser.parse_type()], properties=properties, attributes=attributes
        )

    def print(self, printer: Printer) -> None:
        """Write the operation after its name."""
        printer.print_string(" ")
        printer.print_attribute(self.properties["value"])
        self.print_dict(printer)
        printer.print_string(" : ")
        printer.print_attribute(self.results[0].type)

    def verify_op(self) -> None:
        """Refuse empty text."""
        value = self.properties["value"]
        if isinstance(value, StringAttr) and not value.data:
            refuse("value must not be empty")


class FormatOp(AssemblyOp):
    """Syntax `"text" (args operands)? attr-dict (: types)?`: lines with operands in them."""

    SPELLED = ("value",)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read the operation after its name."""
        value: Attribute = StringAttr(parser.parse_str_literal())
        operands: list[UnresolvedOperand] = []
        if parser.parse_optional_keyword("args") is not None:
            operands = parse_operands(parser)
        properties, attributes = cls.parse_dict(parser, {"value": value})
        return cls.create(
            operands=parse_types_of(parser, operands),
            properties=properties,
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        """Write the operation after its name."""
        printer.print_string(" ")
        printer.print_attribute(self.properties["value"])
        if self.operands:
            printer.print_string(" args ")
            printer.print_list(self.operands, printer.print_operand)
        self.print_dict(printer)
        if self.operands:
            printer.print_string(" : ")
            printer.print_list(self.operand_types, printer.print_attribute)


def parse_types_of(parser: Parser, operands: Sequence[UnresolvedOperand]) -> Sequence[SSAValue]:
    """Read `: types` of operands; nothing where there are none."""
    types: list[Attribute] = []
    if operands:
        parser.parse_punctuation(":")
        types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
    return parser.resolve_operands(operands, types, parser.pos)


class SymbolOp(AssemblyOp):
    """An operation that names a global variable, by its first spelled property."""

    @staticmethod
    def parse_symbol(parser: Parser) -> Attribute:
        """Read the name."""
        return SymbolRefAttr(parser.parse_symbol_name())


class SymbolReadOp(SymbolOp):
    """Syntax `@name : type attr-dict`."""

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read the operation after its name."""
        symbol = cls.parse_symbol(parser)
        parser.parse_punctuation(":")
        type = parser.parse_type()
        properties, attributes = cls.parse_dict(parser, {cls.SPELLED[0]: symbol})
        return cls.create(result_types=[type], properties=properties, attributes=attributes)

    def print(self, printer: Printer) -> None:
        """Write the operation after its name."""
        printer.print_string(" ")
        printer.print_attribute(self.properties[self.SPELLED[0]])
        printer.print_string(" : ")
        printer.print_attribute(self.results[0].type)
        self.print_dict(printer)


class SymbolWriteOp(SymbolOp):
    """Syntax `@name = value : type attr-dict`."""

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read the operation after its name."""
        symbol = cls.parse_symbol(parser)
        parser.parse_punctuation("=")
        operand = parser.parse_unresolved_operand()
        parser.parse_punctuation(":")
        value = parser.resolve_operand(operand, parser.parse_type())
        properties, attributes = cls.parse_dict(parser, {cls.SPELLED[0]: symbol})
        return cls.create(operands=[value], properties=properties, attributes=attributes)

    def print(self, printer: Printer) -> None:
        """Write the operation after its name."""
        printer.print_string(" ")
        printer.print_attribute(self.properties[self.SPELLED[0]])
        printer.print_string(" = ")
        printer.print_operand(self.operands[0])
        printer.print_string(" : ")
        printer.print_attribute(self.operands[0].type)
        self.print_dict(printer)


# --- Syntax ---------------------------------------------------------------------------------------

Punctuation = Literal["<", ">", "(", ")", "[", "]", "{", "}", ",", "=", "|", ":"]
DataT = TypeVar("DataT", bound="Data[object]")
EnumT = TypeVar("EnumT", bound=KeywordEnum)
ElementT = TypeVar("ElementT")

_DIMENSION = r"[0-9]+"
_DIMENSIONS = re.compile(rf"{_DIMENSION}(?:\s*x\s*{_DIMENSION})*")
_MAX_DIGITS = 19


def expect(parser: AttrParser, punctuation: Punctuation) -> None:
    """Read this token or refuse."""
    if parser.parse_optional_punctuation(punctuation) is None:
        parser.raise_error(f"expected '{punctuation}'")


def expect_keyword(parser: AttrParser, keyword: str) -> None:
    """Read this word or refuse."""
    if parser.parse_optional_keyword(keyword) is None:
        parser.raise_error(f"expected '{keyword}'")


@contextmanager
def parameter(parser: AttrParser, owner: str, name: str, cpp_type: str) -> Generator[None]:
    """Report errors inside as the failure of this parameter of an attribute, too."""
    try:
        yield
    except ParseError as error:
        message = f"failed to parse {owner} parameter '{name}' which is to be a `{cpp_type}`"
        raise ParseError(Span(parser.pos, parser.pos, parser.lexer.input), message) from error


@contextmanager
def verify_at(parser: AttrParser, position: int) -> Generator[None]:
    """Report values that the layout package refuses at this position."""
    try:
        yield
    except LayoutError as error:
        parser.raise_error(str(error), position)


def parse_dimensions(parser: AttrParser) -> tuple[int, ...]:
    """Static extents such as `2x4` or `2 x 4`; none at all is a shape of rank 0."""
    text, start = parser.lexer.input.content, parser.pos
    found = _DIMENSIONS.match(text, start)
    if found is None:
        if text[start : start + 1] == "?":
            parser.raise_error("expected static shape")
        return ()
    after = found.end()
    if re.compile(r"\s*x\s*\?").match(text, after):
        parser.raise_error("expected static shape", start)
    resume_from(parser, after)
    extents = re.split(r"\s*x\s*", found[0])
    if any(len(extent) >= _MAX_DIGITS for extent in extents):
        parser.raise_error("expected extents below 2**63", start)
    return tuple(map(int, extents))


def parse_unsigned(parser: AttrParser, bits: int = 32) -> int:
    """An integer from 0 to 2**bits - 1."""
    position = parser.pos
    value = parser.parse_optional_integer(allow_boolean=False, allow_negative=False)
    if value is None:
        parser.raise_error("expected integer value")
    if value >= 1 << bits:
        parser.raise_error("integer value too large", position)
    return value


def parse_signed(parser: AttrParser) -> int:
    """An integer of 64 bits."""
    position = parser.pos
    value = parser.parse_optional_integer(allow_boolean=False)
    if value is None:
        parser.raise_error("expected integer value")
    if not -(1 << 63) <= value < 1 << 63:
        parser.raise_error("integer value too large", position)
    return value


def parse_list(parser: AttrParser, element: Callable[[], ElementT]) -> tuple[ElementT, ...]:
    """One or more elements in square brackets."""
    expect(parser, "[")
    elements = [element()]
    while parser.parse_optional_punctuation(",") is not None:
        elements.append(element())
    expect(parser, "]")
    return tuple(elements)


def parse_keyword(parser: AttrParser, enum: type[EnumT], cpp_type: str) -> EnumT:
    """The bare keyword of an enumeration."""
    position = parser.pos
    keyword = parser.parse_optional_identifier()
    if keyword is None:
        parser.raise_error("expected valid keyword", position)
    known = enum.keywords(late=core_prefix() == TTCORE)
    if keyword not in known:
        parser.raise_error(f"expected {cpp_type} to be one of: {', '.join(known)}", position)
    return enum.from_keyword(keyword)


def parse_keyword_or_string(parser: AttrParser, enum: type[EnumT], summary: str) -> EnumT:
    """The keyword of an enumeration, with or without quotes."""
    position = parser.pos
    keyword = parser.parse_optional_identifier_or_str_literal()
    if keyword is None:
        parser.raise_error(f"expected keyword for {summary}", position)
    if keyword not in enum.keywords(late=core_prefix() == TTCORE):
        parser.raise_error(f"invalid {summary} specification: {keyword}", position)
    return enum.from_keyword(keyword)


def parse_nested(parser: AttrParser, attribute: type[DataT]) -> DataT:
    """An attribute inside another: without its name (`<1x2>`), with it, or by an alias."""
    position = parser.pos
    if parser.lexer.input.content.startswith("<", position):
        return attribute.new(attribute.parse_parameter(parser))
    value = parser.parse_optional_attribute()
    if value is None:
        parser.raise_error("expected '<'", position)
    if not isinstance(value, attribute):
        parser.raise_error("invalid kind of attribute specified", position)
    return value


def parse_memref(parser: AttrParser) -> MemRefType[Attribute]:
    """A builtin memref type."""
    position = parser.pos
    memref = parser.parse_type()
    if not isinstance(memref, MemRefType):
        parser.raise_error("invalid kind of type specified", position)
    return cast("MemRefType[Attribute]", memref)


class KeywordAttr(Data[EnumT], Generic[EnumT]):
    """The keyword of an enumeration in angle brackets, such as `#tt.arch<blackhole>`.

    A subclass is given the enumeration, its C++ name and the name of the attribute's definition,
    for the messages: `class ArchAttr(KeywordAttr[Arch], enum=Arch, cpp="::mlir::tt::Arch", ...)`.
    """

    _enum: type[EnumT]
    _cpp_type: str
    _definition: str

    def __init_subclass__(
        cls, *, enum: type[EnumT] | None = None, cpp: str = "", definition: str = ""
    ) -> None:
        """Remember what to read and what to say."""
        super().__init_subclass__()
        if enum is not None:
            cls._enum, cls._cpp_type, cls._definition = enum, cpp, definition

    @property
    def value(self) -> EnumT:
        """The member of the enumeration."""
        return self.data

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> EnumT:
        """Read `<keyword>`."""
        expect(parser, "<")
        with parameter(parser, cls._definition, "value", cls._cpp_type):
            value = parse_keyword(parser, cls._enum, cls._cpp_type)
        expect(parser, ">")
        return value

    def print_parameter(self, printer: Printer) -> None:
        """Write `<keyword>`."""
        printer.print_string(f"<{self.data.keyword}>")


def spelled(printer: Printer, name: str) -> str:
    """The name of an attribute of `tt` as a printer spells it: `tt.grid` or `ttcore.grid`."""
    return spelled_name(name, printer.core_prefix if isinstance(printer, MlirPrinter) else TT)


def print_stripped(printer: Printer, attribute: Data[Any]) -> None:
    """Write an attribute inside another: its alias, or what follows its name."""
    if isinstance(printer, MlirPrinter):
        printer.print_stripped_attribute(attribute)
    else:
        attribute.print_parameter(printer)
