"""The text of a convolution's dimensions: `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`.

Each list stands for one tensor: a letter or number for each of its dimensions, the numbers counting
the dimensions of the window.
"""

from __future__ import annotations

from typing import NamedTuple

from xdsl.parser import AttrParser
from xdsl.printer import Printer

from ttmlir.dialects.syntax import expect


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
