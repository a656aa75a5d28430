"""The syntax of what attributes hold, as data: one description to read and to write it by.

    class KernelCBFormatAttr(ContentAttr[CircularBufferFormat]):
        CONTENT = fields(
            CircularBufferFormat,
            Field("buffer_index", NUMBER, "index"),
            Field("dtype", keyword(DataType, "::mlir::tt::DataType"), "data_type"),
            Field("page_size", NUMBER),
        )

is read from and written as `<buffer_index = 0, dtype = bf16, page_size = 2048>`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import takewhile
from operator import attrgetter
from typing import Any, ClassVar, Generic, TypeVar

from xdsl.ir import Attribute, Data
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from ttmlir.dialects.definition.syntax import (
    EnumT,
    expect,
    expect_keyword,
    parse_dimensions,
    parse_keyword,
    parse_nested,
    parse_signed,
    parse_unsigned,
)
from ttmlir.layout.tensor_layout import shape_text

ValueT = TypeVar("ValueT")
ItemT = TypeVar("ItemT")
KeyT = TypeVar("KeyT")


@dataclass(frozen=True)
class ValueSyntax(Generic[ValueT]):
    """How a value is read and written."""

    read: Callable[[AttrParser], ValueT]
    write: Callable[[Printer, ValueT], None]


def plain(
    read: Callable[[AttrParser], ValueT], text: Callable[[ValueT], str] = str
) -> ValueSyntax[ValueT]:
    """A value that is written as a text."""
    return ValueSyntax(read, lambda printer, value: printer.print_string(text(value)))


def keyword(enum: type[EnumT], cpp_type: str) -> ValueSyntax[EnumT]:
    """The keyword of an enumeration, whose name in C++ messages say."""
    return plain(lambda parser: parse_keyword(parser, enum, cpp_type), lambda value: value.keyword)


def one_of(*words: str) -> ValueSyntax[str]:
    """One of a few words."""

    def read(parser: AttrParser) -> str:
        position = parser.pos
        word = parser.parse_optional_identifier()
        if word not in words:
            parser.raise_error(f"expected one of: {', '.join(words)}", position)
        return word

    return plain(read)


def only(word: str) -> ValueSyntax[None]:
    """A word that always stands there."""
    return ValueSyntax(
        lambda parser: expect_keyword(parser, word),
        lambda printer, value: printer.print_string(word),
    )


def contents_of(kind: type[Data[ValueT]]) -> ValueSyntax[ValueT]:
    """What an attribute holds, written without the attribute's name."""
    return ValueSyntax(
        lambda parser: parse_nested(parser, kind).data,
        lambda printer, value: kind(value).print_parameter(printer),
    )


def items(item: ValueSyntax[ItemT]) -> ValueSyntax[tuple[ItemT, ...]]:
    """A list in square brackets; it may be empty."""

    def write(printer: Printer, values: tuple[ItemT, ...]) -> None:
        with printer.in_square_brackets():
            printer.print_list(values, lambda value: item.write(printer, value))

    return ValueSyntax(
        lambda parser: tuple(
            parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: item.read(parser))
        ),
        write,
    )


def assigned(
    key: ValueSyntax[KeyT], value: ValueSyntax[ValueT]
) -> ValueSyntax[tuple[KeyT, ValueT]]:
    """Two values with the sign `=` between them."""

    def read(parser: AttrParser) -> tuple[KeyT, ValueT]:
        left = key.read(parser)
        expect(parser, "=")
        return left, value.read(parser)

    def write(printer: Printer, pair: tuple[KeyT, ValueT]) -> None:
        key.write(printer, pair[0])
        printer.print_string(" = ")
        value.write(printer, pair[1])

    return ValueSyntax(read, write)


def bracketed(inner: ValueSyntax[ValueT]) -> ValueSyntax[ValueT]:
    """A value in angle brackets."""

    def read(parser: AttrParser) -> ValueT:
        expect(parser, "<")
        value = inner.read(parser)
        expect(parser, ">")
        return value

    def write(printer: Printer, value: ValueT) -> None:
        with printer.in_angle_brackets():
            inner.write(printer, value)

    return ValueSyntax(read, write)


NUMBER = plain(parse_unsigned)
SIGNED = plain(parse_signed)
FLAG = plain(lambda parser: parser.parse_boolean(), lambda value: str(value).lower())
EXTENTS = plain(parse_dimensions, shape_text)
QUOTED: ValueSyntax[str] = ValueSyntax(
    lambda parser: parser.parse_str_literal(),
    lambda printer, value: printer.print_string_literal(value),
)
SYMBOL: ValueSyntax[str] = ValueSyntax(
    lambda parser: parser.parse_symbol_name().data,
    lambda printer, value: printer.print_symbol_name(value),
)

ATTRIBUTE: ValueSyntax[Attribute] = ValueSyntax(
    lambda parser: parser.parse_attribute(), lambda printer, attr: printer.print_attribute(attr)
)

_REQUIRED = object()


@dataclass(frozen=True)
class Field:
    """A field `name = value`; one with a default is not written where the value is that."""

    name: str
    syntax: ValueSyntax[Any]
    member: str | None = ""
    """Where the value is, if not under the field's name; None where it is always the same."""
    default: Any = _REQUIRED

    @property
    def path(self) -> str:
        """The member that the field stands for."""
        return self.member or self.name

    @property
    def is_optional(self) -> bool:
        """True where the field may be left out."""
        return self.default is not _REQUIRED


def fields(make: Callable[..., ValueT], *listed: Field) -> ValueSyntax[ValueT]:
    """Named fields in order, of which `make` makes the value; optional ones come in any order."""

    def read(parser: AttrParser) -> ValueT:
        values = {field.path: field.default for field in listed if field.is_optional}
        left = list(listed)
        while left:
            if len(left) < len(listed):
                if not all(field.is_optional for field in left):
                    expect(parser, ",")
                elif parser.parse_optional_punctuation(",") is None:
                    break
            field = _read_name(parser, left)
            value = field.syntax.read(parser)
            if field.member is not None:
                values[field.path] = value
        return make(**values)

    def write(printer: Printer, whole: ValueT) -> None:
        separator = ""
        for field in listed:
            value = None if field.member is None else attrgetter(field.path)(whole)
            if value != field.default:
                printer.print_string(f"{separator}{field.name} = ")
                field.syntax.write(printer, value)
                separator = ", "

    return ValueSyntax(read, write)


def _read_name(parser: AttrParser, left: list[Field]) -> Field:
    """Read a name and the sign after it; takes from `left` what cannot come any more."""
    optional = list(takewhile(lambda field: field.is_optional, left))
    expected = left[: len(optional) + 1]
    position = parser.pos
    name = parser.parse_optional_identifier()
    found = next((field for field in expected if field.name == name), None)
    if found is None:
        words = " or ".join(f"'{field.name}'" for field in expected)
        parser.raise_error(f"expected {words}", position)
    expect(parser, "=")
    gone = [found] if found.is_optional else expected
    left[:] = [field for field in left if field not in gone]
    return found


class ContentAttr(Data[ValueT]):
    """An attribute whose text is its content in angle brackets."""

    CONTENT: ClassVar[ValueSyntax[Any]]

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> ValueT:
        """Read `<...>`."""
        return bracketed(cls.CONTENT).read(parser)

    def print_parameter(self, printer: Printer) -> None:
        """Write `<...>`."""
        bracketed(self.CONTENT).write(printer, self.data)
