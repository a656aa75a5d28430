"""Pieces of attribute syntax that MLIR's generated parsers are made of, with their messages.

A parameter that cannot be read is reported twice, as MLIR does: what was expected, where it was
expected, and then the name of the parameter, at the token where reading stopped. The second error
is raised *from* the first; whoever prints errors prints that cause first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any, Generic, Literal, TypeVar, cast

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute, Data, ParametrizedAttribute, TypeAttribute
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import ParseError
from xdsl.utils.lexer import Span

from ttmlir.layout.enums import KeywordEnum
from ttmlir.layout.errors import LayoutError
from ttmlir.mlir.core_prefix import TT, TTCORE, core_prefix, spelled_name
from ttmlir.mlir.printing import MlirPrinter
from ttmlir.mlir.xdsl_internals import resume_from

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


class PlainType(ParametrizedAttribute, TypeAttribute):
    """A type without parameters."""

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        """Read nothing."""
        return []


_DEFINITIONS = {
    "tt": ("::mlir::tt::", "TT"),
    "ttcore": ("::mlir::tt::ttcore::", "TTCore"),
    "ttkernel": ("::mlir::tt::ttkernel::", "TTKernel"),
    "ttnn": ("::mlir::tt::ttnn::", "TTNN"),
    "d2m": ("::mlir::tt::d2m::", "D2M"),
}
"""The name space of each dialect in C++, and what the names of its definitions begin with."""


class KeywordAttr(Data[EnumT], Generic[EnumT]):
    """The keyword of an enumeration in angle brackets, such as `#tt.arch<blackhole>`.

    A subclass is given the enumeration, and its name in C++ where that is not the name of the class
    without `Attr`: messages say it, as those of MLIR do.
    """

    enum: type[EnumT]
    cpp_type: str
    _definition: str

    def __init_subclass__(cls, *, enum: type[EnumT] | None = None, cpp: str = "") -> None:
        """Remember what to read and what to say."""
        super().__init_subclass__()
        if enum is not None:
            cpp = cpp or cls.__name__.removesuffix("Attr")
            name_space, stem = _DEFINITIONS[cls.name.partition(".")[0]]
            cls.enum = enum
            cls.cpp_type, cls._definition = f"{name_space}{cpp}", f"{stem}_{cpp}Attr"

    @property
    def value(self) -> EnumT:
        """The member of the enumeration."""
        return self.data

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> EnumT:
        """Read `<keyword>`."""
        expect(parser, "<")
        with parameter(parser, cls._definition, "value", cls.cpp_type):
            value = parse_keyword(parser, cls.enum, cls.cpp_type)
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
