"""The syntax of operations that MLIR calls assembly: pieces of it, and syntax that is written down.

    class AssignOp(FormatOp):
        FORMAT = "$value `:` type($value) `to` $var `:` type($var) attr-dict"

is the syntax of `emitc.assign %0 : i32 to %1 : !emitc.lvalue<i32>`. A `FORMAT` has the words of
MLIR's `assemblyFormat`: text in backticks, `$name` for operands and properties, `operands`,
`region`, `type(...)`, `functional-type(operands, results)`, `attr-dict`, and `( ... )?` for what
may be left out: `^` stands behind the part that decides whether it is written. Blanks are those of
MLIR's generated printers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, Self, cast

from xdsl.dialects.builtin import (
    IntegerAttr,
    IntegerType,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
    i32,
    i64,
)
from xdsl.ir import Attribute, Data, Region, SSAValue
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from ttmlir.dialects.definition import ods
from ttmlir.dialects.definition.ods import SEGMENTS, ODSOperation, refuse, segments_attr
from ttmlir.dialects.definition.syntax import parse_nested, parse_signed, parse_unsigned

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
        """Read the attribute dictionary; returns properties and attributes.

        A property of the dictionary takes the place of one that the syntax spelled, as in MLIR.
        """
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
        if SEGMENTS in spelled:
            properties[SEGMENTS] = spelled[SEGMENTS]
        return {**spelled, **properties}, attributes

    def print_dict(self, printer: Printer) -> None:
        """Write the attribute dictionary, with the properties that the syntax does not spell."""
        properties = {k: v for k, v in self.properties.items() if k not in self.SPELLED}
        entries = {**properties, **self.attributes}
        printer.print_op_attributes(dict(sorted(entries.items())))

    @classmethod
    def parse_rest(
        cls,
        parser: Parser,
        spelled: dict[str, Attribute],
        operands: Sequence[UnresolvedOperand],
        regions: Sequence[Region] = (),
    ) -> Self:
        """Read `{...} : (operand types) -> result types` and make the operation."""
        properties, attributes = cls.parse_dict(parser, spelled)
        parser.parse_punctuation(":")
        position = parser.pos
        type = parser.parse_function_type()
        return cls.create(
            operands=parser.resolve_operands(operands, type.inputs.data, position),
            result_types=type.outputs.data,
            properties=properties,
            attributes=attributes,
            regions=regions,
        )

    def print_rest(self, printer: Printer) -> None:
        """Write `{...} : (operand types) -> result types`."""
        self.print_dict(printer)
        printer.print_string(" : ")
        printer.print_operation_type(self)


def parse_operands(parser: Parser) -> list[UnresolvedOperand]:
    """Read `%a, %b, ...`, possibly nothing."""
    first = parser.parse_optional_unresolved_operand()
    if first is None:
        return []
    operands = [first]
    while parser.parse_optional_punctuation(",") is not None:
        operands.append(parser.parse_unresolved_operand())
    return operands


# --- Formats --------------------------------------------------------------------------------------

OPERANDS = "operands"
RESULTS = "results"


def _write_attribute(printer: Printer, attr: Attribute) -> None:
    printer.print_attribute(attr)


def _write_symbol(printer: Printer, attr: Attribute) -> None:
    printer.print_symbol_name(cast("StringAttr", attr).data)


def _write_number(printer: Printer, attr: Attribute) -> None:
    printer.print_string(str(cast("IntegerAttr", attr).value.data))


def _write_parameter(printer: Printer, attr: Attribute) -> None:
    cast("Data[Any]", attr).print_parameter(printer)


@dataclass(frozen=True)
class Spelling:
    """How a property of some kind is read and written."""

    read: Callable[[Parser], Attribute]
    write: Callable[[Printer, Attribute], None] = _write_attribute


SYMBOL = Spelling(lambda parser: parser.parse_symbol_name(), _write_symbol)
"""A name, written with an `@`."""
_ATTRIBUTE = Spelling(lambda parser: parser.parse_attribute())


def number(type: IntegerType, *, allow_negative: bool = True) -> Spelling:
    """A number without its type."""

    def read(parser: Parser) -> Attribute:
        found = parse_signed(parser) if allow_negative else parse_unsigned(parser, type.width.data)
        return IntegerAttr(found, type)

    return Spelling(read, _write_number)


def word_of(words: Sequence[str], type: IntegerType, op: str, attribute: str) -> Spelling:
    """A word or a string for its number; messages name the operation and the attribute."""

    def read(parser: Parser) -> Attribute:
        position = parser.pos
        word = parser.parse_optional_identifier_or_str_literal()
        if word not in words:
            parser.raise_error(
                f"custom op '{op}' expected string or keyword containing one of the following "
                f"enum values for attribute '{attribute}' [{', '.join(words)}]",
                position,
            )
        return IntegerAttr(words.index(word), type)

    def write(printer: Printer, attr: Attribute) -> None:
        printer.print_string(words[cast("IntegerAttr", attr).value.data])

    return Spelling(read, write)


def parameter_of(kind: type[Data[Any]]) -> Spelling:
    """An attribute of a dialect without its name."""
    return Spelling(lambda parser: kind.new(kind.parse_parameter(parser)), _write_parameter)


def nested(kind: type[Data[Any]]) -> Spelling:
    """The same, which may also be read with its name or by an alias."""
    return Spelling(lambda parser: parse_nested(parser, kind), _write_parameter)


_KnownType = Attribute | str | tuple[str, Callable[[Attribute], Attribute]]
"""A type, or that of another operand or result, from which a function may make it."""


class FormatOp(AssemblyOp):
    """An operation whose syntax is its `FORMAT`."""

    FORMAT: ClassVar[str]
    TYPES: ClassVar[Mapping[str, _KnownType]] = {}
    """Types that the text does not have, by operand or result."""
    SPELLINGS: ClassVar[Mapping[str, Spelling]] = {}
    """How properties are written that are not as their constraints tell."""

    def __init_subclass__(cls) -> None:
        """Note which properties the syntax spells."""
        super().__init_subclass__()
        if "FORMAT" in cls.__dict__:
            cls.SPELLED = (*re.findall(r"\$(\w+)", cls.FORMAT), SEGMENTS)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read the operation after its name."""
        reading = _Reading(cls, parser)
        _read_parts(reading, _parts_of(cls))
        return cast("Self", reading.finish())

    def print(self, printer: Printer) -> None:
        """Write the operation after its name."""
        _write_parts(_Writing(self, printer), _parts_of(type(self)))

    @classmethod
    def parse_type_of(cls, parser: Parser, name: str) -> Attribute:
        """Read the type of an operand or result."""
        return parser.parse_type()

    def print_type_of(self, printer: Printer, name: str, type: Attribute) -> None:
        """Write what `parse_type_of` reads."""
        printer.print_attribute(type)

    def types_of(self, name: str) -> Sequence[Attribute]:
        """The types of a group of operands or results."""
        if name == OPERANDS:
            return self.operand_types
        form = self.form()
        if name in form.operand_index:
            return [value.type for value in self.group(name)]
        if name == RESULTS or form.has_variadic_results:
            return self.result_types
        return [self.results[[value.name for value in form.results].index(name)].type]


class ConversionOp(FormatOp):
    """What makes one value of another."""

    FORMAT = "operands attr-dict `:` type(operands) `->` type(results)"

    @classmethod
    def of(cls, operand: SSAValue, type: Attribute) -> Self:
        """The operation that makes a value of a type of another value."""
        return cls.create(operands=[operand], result_types=[type])


class FunctionalOp(FormatOp):
    """An operation whose operands and results have any types."""

    FORMAT = "operands attr-dict `:` functional-type(operands, results)"


class TextOp(FormatOp):
    """A value that is the text `value` of a language."""

    FORMAT = "$value attr-dict `:` type(results)"

    def verify_op(self) -> None:
        """Refuse empty text."""
        value = self.properties["value"]
        if isinstance(value, StringAttr) and not value.data:
            refuse("value must not be empty")


_SPELLINGS: Mapping[ods.AttrConstraint, Spelling] = {
    ods.STRING: Spelling(lambda parser: StringAttr(parser.parse_str_literal())),
    ods.FLAT_SYMBOL: Spelling(lambda parser: SymbolRefAttr(parser.parse_symbol_name())),
    ods.TYPE: Spelling(lambda parser: parser.parse_type()),
    ods.I32: number(i32),
    ods.I64: number(i64),
}


def _spelling_of(cls: type[FormatOp], name: str) -> Spelling:
    constraint = cls.SIGNATURE.by_name[name].constraint
    is_symbol = name == "sym_name" and constraint is ods.STRING
    default = SYMBOL if is_symbol else _SPELLINGS.get(constraint, _ATTRIBUTE)
    return cls.SPELLINGS.get(name, default)


class _Reading:
    """What was read of an operation so far."""

    def __init__(self, cls: type[FormatOp], parser: Parser) -> None:
        self.cls, self.parser = cls, parser
        self.operands: dict[str, Sequence[UnresolvedOperand]] = {}
        self.types: dict[str, Sequence[Attribute]] = {}
        self.properties: dict[str, Attribute] = {}
        self.given: dict[str, Attribute] = {}
        """Properties of the attribute dictionary."""
        self.attributes: dict[str, Attribute] = {}
        self.regions: list[Region] = []
        self.types_position = parser.pos

    def types_of(self, name: str, count: int) -> Sequence[Attribute]:
        """The types of a group: those of the text, or those that follow."""
        if name in self.types:
            return self.types[name]
        known = self.cls.TYPES.get(name)
        if known is None:
            return ()
        if isinstance(known, str):
            known = self.types_of(known, 1)[0]
        elif isinstance(known, tuple):
            other, make = known
            known = make(self.types_of(other, 1)[0])
        return (known,) * count

    def finish(self) -> FormatOp:
        """The operation."""
        cls, form = self.cls, self.cls.SIGNATURE
        properties = {**self.properties, **self.given}
        groups = [self.operands.get(name, ()) for name in form.operand_index]
        if form.has_segments and OPERANDS not in self.operands:
            properties[SEGMENTS] = segments_attr(tuple(map(len, groups)))
        names = self.operands.get(OPERANDS, [name for group in groups for name in group])
        types = self.types.get(OPERANDS)
        if types is None:
            each = zip(form.operand_index, groups, strict=True)
            types = [type for name, group in each for type in self.types_of(name, len(group))]
        operands = self.parser.resolve_operands(names, types, self.types_position)
        results = self.types.get(RESULTS)
        if results is None:
            results = [type for group in form.results for type in self.types_of(group.name, 1)]
        return cls.create(
            operands=operands,
            result_types=results,
            properties=properties,
            attributes=self.attributes,
            regions=self.regions,
        )


class _Writing:
    """An operation that is written, and whether a blank comes next, as MLIR decides it."""

    def __init__(self, op: FormatOp, printer: Printer) -> None:
        self.op, self.printer = op, printer
        self.wants_blank, self.is_after_punctuation = True, False
        self.regions = iter(op.regions)

    def separate(self) -> None:
        """Write the blank before anything but literal text."""
        if self.wants_blank or not self.is_after_punctuation:
            self.printer.print_string(" ")
        self.wants_blank, self.is_after_punctuation = True, False

    def write_literal(self, text: str) -> None:
        """Write literal text; nothing at all only keeps blanks away."""
        tight = ">)}]," if self.is_after_punctuation else "<>(){}[],"
        is_tight = text in ("", " ") or (len(text) == 1 and text in tight)
        self.printer.print_string(f" {text}" if self.wants_blank and not is_tight else text)
        self.wants_blank = text not in ("", " ", "<", "(", "{", "[")
        self.is_after_punctuation = not text[:1].isalpha()


class _Part:
    """A part of a format. Reading what may be left out tells whether it was there."""

    def read(self, reading: _Reading, *, is_optional: bool = False) -> bool:
        raise NotImplementedError

    def write(self, writing: _Writing) -> None:
        raise NotImplementedError

    def is_written(self, op: FormatOp) -> bool:
        return True


@dataclass(frozen=True)
class _Literal(_Part):
    text: str

    def read(self, reading: _Reading, *, is_optional: bool = False) -> bool:
        parser, text = reading.parser, self.text
        if text.isidentifier():
            read = parser.parse_optional_keyword if is_optional else parser.parse_keyword
            return read(text) is not None
        if text.strip():
            read = parser.parse_optional_characters if is_optional else parser.parse_characters
            return read(text) is not None
        return True

    def write(self, writing: _Writing) -> None:
        writing.write_literal(self.text)


@dataclass(frozen=True)
class _Values(_Part):
    name: str
    is_single: bool

    def read(self, reading: _Reading, *, is_optional: bool = False) -> bool:
        parser = reading.parser
        if self.is_single:
            first = None
            if is_optional:
                first = parser.parse_optional_unresolved_operand()
            else:
                first = parser.parse_unresolved_operand()
            found = [] if first is None else [first]
        else:
            found = parse_operands(parser)
        reading.operands[self.name] = found
        return bool(found)

    def write(self, writing: _Writing) -> None:
        writing.separate()
        op = writing.op
        values = op.operands if self.name == OPERANDS else op.group(self.name)
        writing.printer.print_list(values, writing.printer.print_operand)

    def is_written(self, op: FormatOp) -> bool:
        return bool(op.types_of(self.name))


@dataclass(frozen=True)
class _Property(_Part):
    name: str
    spelling: Spelling
    is_unit: bool

    def read(self, reading: _Reading, *, is_optional: bool = False) -> bool:
        attr = UnitAttr() if self.is_unit else self.spelling.read(reading.parser)
        reading.properties[self.name] = attr
        return True

    def write(self, writing: _Writing) -> None:
        if not self.is_unit:
            writing.separate()
            self.spelling.write(writing.printer, writing.op.properties[self.name])

    def is_written(self, op: FormatOp) -> bool:
        return self.name in op.properties


@dataclass(frozen=True)
class _Types(_Part):
    name: str
    is_single: bool
    is_of_operands: bool

    def read(self, reading: _Reading, *, is_optional: bool = False) -> bool:
        parser = reading.parser
        reading.types_position = parser.pos

        def read_type() -> Attribute:
            return reading.cls.parse_type_of(parser, self.name)

        reading.types[self.name] = (
            [read_type()]
            if self.is_single
            else parser.parse_comma_separated_list(parser.Delimiter.NONE, read_type)
        )
        return True

    def write(self, writing: _Writing) -> None:
        writing.separate()
        op, printer = writing.op, writing.printer
        printer.print_list(
            op.types_of(self.name), lambda type: op.print_type_of(printer, self.name, type)
        )

    def is_written(self, op: FormatOp) -> bool:
        return bool(op.types_of(self.name))


class _FunctionalType(_Part):
    def read(self, reading: _Reading, *, is_optional: bool = False) -> bool:
        reading.types_position = reading.parser.pos
        type = reading.parser.parse_function_type()
        reading.types |= {OPERANDS: type.inputs.data, RESULTS: type.outputs.data}
        return True

    def write(self, writing: _Writing) -> None:
        writing.separate()
        writing.printer.print_operation_type(writing.op)


class _Dictionary(_Part):
    def read(self, reading: _Reading, *, is_optional: bool = False) -> bool:
        reading.given, reading.attributes = reading.cls.parse_dict(reading.parser, {})
        return True

    def write(self, writing: _Writing) -> None:
        writing.op.print_dict(writing.printer)
        writing.is_after_punctuation = False


class _Region(_Part):
    def read(self, reading: _Reading, *, is_optional: bool = False) -> bool:
        reading.regions.append(reading.parser.parse_region())
        return True

    def write(self, writing: _Writing) -> None:
        writing.separate()
        writing.printer.print_region(next(writing.regions))


@dataclass(frozen=True)
class _Optional(_Part):
    parts: Sequence[_Part]
    anchor: _Part

    def read(self, reading: _Reading, *, is_optional: bool = False) -> bool:
        anchor = self.anchor
        if isinstance(anchor, _Types) and anchor.is_of_operands:
            is_there = bool(reading.operands.get(anchor.name))
            _read_parts(reading, self.parts if is_there else ())
            return is_there
        first, *others = (part for part in self.parts if part != _Literal(" "))
        is_there = first.read(reading, is_optional=True)
        _read_parts(reading, others if is_there else ())
        return is_there

    def write(self, writing: _Writing) -> None:
        if self.anchor.is_written(writing.op):
            _write_parts(writing, self.parts)


def _read_parts(reading: _Reading, parts: Sequence[_Part]) -> None:
    for part in parts:
        part.read(reading)


def _write_parts(writing: _Writing, parts: Sequence[_Part]) -> None:
    for part in parts:
        part.write(writing)


_TOKEN = re.compile(r"`[^`]*`|type\(\$?\w+\)|functional-type\(.*?\)|[\w$-]+|\)\?|[(^]")


@cache
def _parts_of(cls: type[FormatOp]) -> Sequence[_Part]:
    """The parts of an operation's format."""
    return _make_parts(cls, iter(_TOKEN.findall(cls.FORMAT)))[0]


def _make_parts(cls: type[FormatOp], tokens: Iterator[str]) -> tuple[Sequence[_Part], _Part | None]:
    """The parts up to the end of an optional part, and the one that is marked."""
    parts: list[_Part] = []
    anchor: _Part | None = None
    for token in tokens:
        if token == ")?":
            break
        if token == "^":
            anchor = parts[-1]
        elif token == "(":
            inner, marked = _make_parts(cls, tokens)
            assert marked is not None, f"{cls.name}: an optional part marks what decides on it"
            parts.append(_Optional(inner, marked))
        else:
            parts.append(_make_part(cls, token))
    return parts, anchor


def _make_part(cls: type[FormatOp], token: str) -> _Part:
    form = cls.SIGNATURE
    name = token.removeprefix("type(").rstrip(")").removeprefix("$")
    groups = {group.name: group for group in (*form.operands, *form.results)}
    is_single = name in groups and not groups[name].variadic
    if token.startswith("`"):
        return _Literal(token.strip("`"))
    if token.startswith("type("):
        return _Types(name, is_single, name == OPERANDS or name in form.operand_index)
    if token.startswith("functional-type("):
        return _FunctionalType()
    if token == "attr-dict":
        return _Dictionary()
    if token == "region":
        return _Region()
    if name in form.by_name:
        is_unit = form.by_name[name].constraint is ods.UNIT
        return _Property(name, _spelling_of(cls, name), is_unit)
    return _Values(name, is_single)
