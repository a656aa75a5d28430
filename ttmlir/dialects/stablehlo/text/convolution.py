"""The text of a convolution: its dimensions and its window.

    dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
    window = {stride = [2, 2], pad = [[0, 1], [0, 1]], rhs_dilate = [1, 2], reverse = [false, true]}

Each list of dimensions stands for one tensor: a letter or number for each of its dimensions, the
numbers counting the dimensions of the window.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeVar, cast

from xdsl.dialects.builtin import (
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    IntegerType,
    TensorType,
    i1,
    i64,
)
from xdsl.ir import Attribute
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from ttmlir.dialects.definition.syntax import expect, parse_signed
from ttmlir.mlir.attributes.elements import elements_of

ElementT = TypeVar("ElementT")


class TensorDimensions(NamedTuple):
    """The dimensions of one tensor."""

    first: int
    """Batch dimension, or that of the input's features in a kernel."""
    second: int
    """Feature dimension; that of the output's features in a kernel."""
    spatial: tuple[int, ...]
    """Spatial dimensions in the order of the window."""


class ConvolutionDimensions(NamedTuple):
    """The dimensions of all three tensors."""

    input: TensorDimensions
    kernel: TensorDimensions
    output: TensorDimensions


_LETTERS = (("b", "f"), ("i", "o"), ("b", "f"))


def parse_convolution_dimensions(parser: AttrParser) -> ConvolutionDimensions:
    """Read the three lists."""
    input = _parse_tensor(parser, _LETTERS[0])
    # `x[0` is a word and a bracket for MLIR's tokens, too.
    if parser.parse_optional_keyword("x") is None:
        parser.raise_error("expected 'x'")
    kernel = _parse_tensor(parser, _LETTERS[1])
    if parser.parse_optional_punctuation("->") is None:
        parser.raise_error("expected '->'")
    output = _parse_tensor(parser, _LETTERS[2])
    return ConvolutionDimensions(input, kernel, output)


def _parse_tensor(parser: AttrParser, letters: tuple[str, str]) -> TensorDimensions:
    expect(parser, "[")
    named: dict[str, int] = {}
    spatial: dict[int, int] = {}
    place = 0
    while parser.parse_optional_punctuation("]") is None:
        if place:
            expect(parser, ",")
        position = parser.pos
        number = parser.parse_optional_integer(allow_boolean=False, allow_negative=False)
        if number is not None:
            if number in spatial:
                parser.raise_error(f"Duplicate entries for spatial dimension {number}", position)
            spatial[number] = place
        else:
            _parse_letter(parser, letters, named, place)
        place += 1
    for letter in letters:
        if letter not in named:
            parser.raise_error(f"Expected dimension {letter} not specified")
    for number in range(len(spatial)):
        if number not in spatial:
            parser.raise_error(f"Expected spatial dimension {number} not specified")
    ordered = tuple(spatial[number] for number in range(len(spatial)))
    return TensorDimensions(named[letters[0]], named[letters[1]], ordered)


def _parse_letter(
    parser: AttrParser, letters: tuple[str, str], named: dict[str, int], place: int
) -> None:
    position = parser.pos
    letter = parser.parse_optional_identifier()
    if letter is None:
        parser.raise_error("expected valid keyword", position)
    left = [expected for expected in letters if expected not in named]
    if letter not in left:
        expected = left[0] if left else "a spatial dimension"
        parser.raise_error(f"Unexpected dimension {letter}, expecting {expected}", position)
    named[letter] = place


def print_convolution_dimensions(printer: Printer, dimensions: ConvolutionDimensions) -> None:
    """Write the three lists."""
    input, kernel, output = (
        _tensor_text(tensor, letters) for tensor, letters in zip(dimensions, _LETTERS, strict=True)
    )
    printer.print_string(f"{input}x{kernel}->{output}")


def _tensor_text(tensor: TensorDimensions, letters: tuple[str, str]) -> str:
    names = {tensor.first: letters[0], tensor.second: letters[1]}
    names |= {place: str(number) for number, place in enumerate(tensor.spatial)}
    return f"[{', '.join(names[place] for place in range(len(names)))}]"


WINDOW_ATTRIBUTES = {
    "stride": "window_strides",
    "pad": "padding",
    "lhs_dilate": "lhs_dilation",
    "rhs_dilate": "rhs_dilation",
    "reverse": "window_reversal",
}
"""Property of each entry of a window, in the order of the text."""


def parse_window(parser: AttrParser) -> dict[str, Attribute]:
    """Read `{stride = [1, 1], pad = [[0, 0], [0, 0]], ...}` as properties."""
    expect(parser, "{")
    properties: dict[str, Attribute] = {}
    first = True
    while parser.parse_optional_punctuation("}") is None:
        if not first:
            expect(parser, ",")
        first = False
        position = parser.pos
        keyword = parser.parse_optional_identifier()
        if keyword is None:
            parser.raise_error("expected valid keyword", position)
        name = WINDOW_ATTRIBUTES.get(keyword)
        if name is None or name in properties:
            parser.raise_error(f"Unexpected keyword {keyword}", position)
        expect(parser, "=")
        properties[name] = _parse_window_entry(parser, keyword)
    return properties


def _parse_window_entry(parser: AttrParser, keyword: str) -> Attribute:
    if keyword == "pad":
        position = parser.pos
        rows = _parse_brackets(
            parser, lambda: _parse_brackets(parser, lambda: parse_signed(parser))
        )
        if any(len(row) != 2 for row in rows):
            parser.raise_error("expected two numbers, low and high, for each dimension", position)
        type = TensorType(i64, (len(rows), 2))
        return elements_of(type, [value for row in rows for value in row])
    if keyword == "reverse":
        flags = _parse_brackets(parser, lambda: _parse_flag(parser))
        return DenseArrayBase.from_list(i1, flags)
    return DenseArrayBase.from_list(i64, _parse_numbers(parser))


def _parse_numbers(parser: AttrParser) -> list[int]:
    return _parse_brackets(parser, lambda: parse_signed(parser))


def _parse_flag(parser: AttrParser) -> int:
    position = parser.pos
    flag = parser.parse_optional_boolean()
    if flag is None:
        parser.raise_error("expected 'true' or 'false'", position)
    return int(flag)


def _parse_brackets(parser: AttrParser, element: Callable[[], ElementT]) -> list[ElementT]:
    expect(parser, "[")
    elements: list[ElementT] = []
    while parser.parse_optional_punctuation("]") is None:
        if elements:
            expect(parser, ",")
        elements.append(element())
    return elements


def window_text(properties: Mapping[str, Attribute]) -> str:
    """`{stride = [1, 1], ...}` of the properties that are there."""
    entries = [
        f"{keyword} = {_entry_text(keyword, properties[name])}"
        for keyword, name in WINDOW_ATTRIBUTES.items()
        if name in properties
    ]
    return "{" + ", ".join(entries) + "}"


def _entry_text(keyword: str, attr: Attribute) -> str:
    if keyword == "pad":
        values = list(cast("DenseIntOrFPElementsAttr", attr).get_values())
        rows = [f"[{values[i]}, {values[i + 1]}]" for i in range(0, len(values), 2)]
        return f"[{', '.join(rows)}]"
    numbers = cast("DenseArrayBase[IntegerType]", attr).iter_values()
    if keyword == "reverse":
        return f"[{', '.join('true' if number else 'false' for number in numbers)}]"
    return f"[{', '.join(map(str, numbers))}]"
