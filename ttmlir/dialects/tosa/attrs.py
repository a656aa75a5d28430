"""Attributes and types of tosa: words that choose a mode, zero points, and lists of extents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Self

from xdsl.dialects.builtin import ArrayAttr, IntAttr, StringAttr
from xdsl.ir import Attribute, Data, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer


class ModeAttr(Data[str]):
    """One of several words, as `#tosa.nan_mode<PROPAGATE>`."""

    WORDS: ClassVar[tuple[str, ...]]

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> str:
        """Read `<WORD>`."""
        with parser.in_angle_brackets():
            return cls.parse_word(parser)

    @classmethod
    def parse_word(cls, parser: AttrParser) -> str:
        """Read one of the words."""
        position = parser.pos
        word = parser.parse_identifier()
        if word not in cls.WORDS:
            parser.raise_error(f"expected {' or '.join(cls.WORDS)}, got {word}", position)
        return word

    def print_parameter(self, printer: Printer) -> None:
        """Write `<WORD>`."""
        with printer.in_angle_brackets():
            printer.print_string(self.data)


@irdl_attr_definition
class NanModeAttr(ModeAttr):
    """What a comparison with NaN gives: NaN, or the other number."""

    name = "tosa.nan_mode"
    WORDS: ClassVar = ("PROPAGATE", "IGNORE")


@irdl_attr_definition
class RoundingModeAttr(ModeAttr):
    """How a rescaled number is rounded."""

    name = "tosa.rounding_mode"
    WORDS: ClassVar = ("SINGLE_ROUND", "INEXACT_ROUND", "DOUBLE_ROUND")


@irdl_attr_definition
class ResizeModeAttr(ModeAttr):
    """How pixels between given ones are found."""

    name = "tosa.resize_mode"
    WORDS: ClassVar = ("NEAREST_NEIGHBOR", "BILINEAR")


MODES: dict[str, type[ModeAttr]] = {
    "nan_mode": NanModeAttr,
    "rounding_mode": RoundingModeAttr,
    "mode": ResizeModeAttr,
}
"""By the name of the property: the class of its value, which the syntax spells as a word."""


def mode_word(attr: Attribute | None, default: str) -> str:
    """The word of a mode, which older text gives as a string."""
    return attr.data if isinstance(attr, (ModeAttr, StringAttr)) else default


@irdl_attr_definition
class ShapeType(ParametrizedAttribute, TypeAttribute):
    """`!tosa.shape<rank>`: so many numbers that are known when the program is compiled."""

    name = "tosa.shape"
    rank: IntAttr

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        """Read `<rank>`."""
        with parser.in_angle_brackets():
            return [IntAttr(parser.parse_integer(allow_boolean=False, allow_negative=False))]

    def print_parameters(self, printer: Printer) -> None:
        """Write `<rank>`."""
        with printer.in_angle_brackets():
            printer.print_string(str(self.rank.data))


class ZeroPointsAttr(ParametrizedAttribute):
    """Zero points of quantized operands, as `#tosa.conv_quant<input_zp = 0, weight_zp = 3>`."""

    FIELDS: ClassVar[tuple[str, ...]]

    values: ArrayAttr[IntAttr]

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        """Read `<field = number, ...>`."""
        values: list[IntAttr] = []
        with parser.in_angle_brackets():
            for number, field in enumerate(cls.FIELDS):
                if number:
                    parser.parse_punctuation(",")
                parser.parse_keyword(field)
                parser.parse_punctuation("=")
                values.append(IntAttr(parser.parse_integer(allow_boolean=False)))
        return [ArrayAttr(values)]

    def print_parameters(self, printer: Printer) -> None:
        """Write `<field = number, ...>`."""
        texts = (
            f"{field} = {value.data}"
            for field, value in zip(self.FIELDS, self.values.data, strict=True)
        )
        with printer.in_angle_brackets():
            printer.print_string(", ".join(texts))

    @classmethod
    def of(cls, *values: int) -> Self:
        """The attribute of these zero points, in the order of the fields."""
        return cls(ArrayAttr([IntAttr(value) for value in values]))


@irdl_attr_definition
class UnaryQuantAttr(ZeroPointsAttr):
    """Zero points of an operand and the result."""

    name = "tosa.unary_quant"
    FIELDS: ClassVar = ("input_zp", "output_zp")


@irdl_attr_definition
class ConvQuantAttr(ZeroPointsAttr):
    """Zero points of an image and weights."""

    name = "tosa.conv_quant"
    FIELDS: ClassVar = ("input_zp", "weight_zp")


@irdl_attr_definition
class MatMulQuantAttr(ZeroPointsAttr):
    """Zero points of two matrices."""

    name = "tosa.matmul_quant"
    FIELDS: ClassVar = ("a_zp", "b_zp")


@irdl_attr_definition
class PadQuantAttr(ZeroPointsAttr):
    """Zero point of what is padded."""

    name = "tosa.pad_quant"
    FIELDS: ClassVar = ("input_zp",)


ATTRIBUTES = (
    NanModeAttr,
    RoundingModeAttr,
    ResizeModeAttr,
    ShapeType,
    UnaryQuantAttr,
    ConvQuantAttr,
    MatMulQuantAttr,
    PadQuantAttr,
)
"""Every attribute and type of the dialect."""
