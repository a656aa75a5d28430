"""The quant dialect: integers that stand for real numbers.

`!quant.uniform<i8:f32, 0.1:5>` is the type of integers q of 8 bits that stand for (q - 5) * 0.1 of
f32. `<i8<-127:127>:f32, 0.1>` has another range than the storage type, `u8` has no sign, and
`<i8:f32:1, {0.1:5, 0.2}>` has a scale and a zero point for each place along dimension 1.
`quant.qcast` gives them of numbers, `quant.dcast` the numbers, `quant.scast` the plain integers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, cast

from xdsl.dialects.builtin import AnyFloat, Float64Type, IntegerType, Signedness, TensorType
from xdsl.ir import Attribute, Data, Dialect, SSAValue, TypeAttribute
from xdsl.irdl import irdl_attr_definition, traits_def
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.traits import Pure

from ttmlir.dialects.definition.assembly import ConversionOp
from ttmlir.dialects.definition.ods import TENSOR, Signature, refuse, values
from ttmlir.dialects.definition.syntax import expect, parse_signed
from ttmlir.mlir.attributes import format_float

MAX_STORAGE_BITS = 32


@dataclass(frozen=True)
class Uniform:
    """Integers of `width` bits from `low` to `high`; q stands for (q - zero) * scale.

    `scales` and `zeros` have one number, or as many as dimension `axis` has places.
    """

    width: int
    is_signed: bool
    expressed: AnyFloat
    low: int
    high: int
    scales: tuple[float, ...]
    zeros: tuple[int, ...]
    axis: int | None = None

    @property
    def storage(self) -> IntegerType:
        """The smallest type of integers of 8, 16 or 32 bits that holds them."""
        width = next(bits for bits in (8, 16, 32) if bits >= self.width)
        return IntegerType(width, Signedness.SIGNLESS if self.is_signed else Signedness.UNSIGNED)

    @property
    def kind(self) -> tuple[object, ...]:
        """What types have in common whose values can be operands of one operation."""
        return self.width, self.is_signed, self.expressed, self.low, self.high


def range_of(width: int, *, is_signed: bool) -> tuple[int, int]:
    """The least and the most of integers of so many bits."""
    return (-(1 << width - 1), (1 << width - 1) - 1) if is_signed else (0, (1 << width) - 1)


@irdl_attr_definition
class UniformType(Data[Uniform], TypeAttribute):
    """`!quant.uniform<i8:f32, 0.1:5>`, for the whole tensor or for each place along an axis."""

    name = "quant.uniform"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Uniform:
        """Read `<storage<low:high>:expressed:axis, scale:zero>`."""
        expect(parser, "<")
        width, is_signed = _parse_storage(parser)
        least, most = range_of(width, is_signed=is_signed)
        low, high = least, most
        if parser.parse_optional_punctuation("<") is not None:
            position = parser.pos
            low = parse_signed(parser)
            expect(parser, ":")
            high = parse_signed(parser)
            expect(parser, ">")
            if not least <= low < high <= most:
                parser.raise_error(
                    f"illegal range of storage {low}:{high}; the first number is less than the "
                    f"second, and both are within {least}:{most}",
                    position,
                )
        expect(parser, ":")
        position = parser.pos
        expressed = parser.parse_type()
        if not isinstance(expressed, AnyFloat):
            parser.raise_error("expressed type must be floating point", position)
        axis = None
        if parser.parse_optional_punctuation(":") is not None:
            position = parser.pos
            axis = parse_signed(parser)
            if axis < 0:
                parser.raise_error(f"illegal quantized dimension: {axis}", position)
        expect(parser, ",")
        pairs: list[tuple[float, int]] = []
        if axis is None:
            pairs.append(_parse_parameters(parser))
        else:
            expect(parser, "{")
            pairs.append(_parse_parameters(parser))
            while parser.parse_optional_punctuation(",") is not None:
                pairs.append(_parse_parameters(parser))
            expect(parser, "}")
        expect(parser, ">")
        scales, zeros = zip(*pairs, strict=True)
        return Uniform(width, is_signed, expressed, low, high, scales, zeros, axis)

    def print_parameter(self, printer: Printer) -> None:
        """Write what `parse_parameter` reads."""
        each = self.data
        printer.print_string(f"<{'i' if each.is_signed else 'u'}{each.width}")
        if (each.low, each.high) != range_of(each.width, is_signed=each.is_signed):
            printer.print_string(f"<{each.low}:{each.high}>")
        printer.print_string(":")
        printer.print_attribute(each.expressed)
        pairs = [
            format_float(scale, Float64Type()) + (f":{zero}" if zero else "")
            for scale, zero in zip(each.scales, each.zeros, strict=True)
        ]
        if each.axis is None:
            printer.print_string(f", {pairs[0]}>")
        else:
            printer.print_string(f":{each.axis}, {{{','.join(pairs)}}}>")


def _parse_storage(parser: AttrParser) -> tuple[int, bool]:
    position = parser.pos
    # MLIR spells types without sign u8, which is no type of its own.
    word = parser.parse_optional_identifier() or ""
    digits = word.lstrip("siu")
    prefix = word.removesuffix(digits)
    if prefix not in ("i", "u", "ui", "si") or not digits.isdecimal():
        parser.raise_error("expected a type of integers as storage, such as i8 or u8", position)
    width = int(digits) if len(digits) < 4 else 0
    if not 1 < width <= MAX_STORAGE_BITS:
        parser.raise_error(f"illegal storage type size: {digits}; it has 2 to 32 bits", position)
    return width, prefix in ("i", "si")


def _parse_parameters(parser: AttrParser) -> tuple[float, int]:
    position = parser.pos
    scale = parser.parse_number()
    if not isinstance(scale, float):
        parser.raise_error("scales have a point, as in 1.0 or 1.0e-50", position)
    if not 0 < scale < math.inf:
        parser.raise_error(f"illegal scale: {scale}; scales are above 0 and finite", position)
    zero = parse_signed(parser) if parser.parse_optional_punctuation(":") is not None else 0
    return scale, zero


def uniform_of(type: Attribute) -> Uniform | None:
    """What elements of a type stand for; None for other types than quantized ones."""
    return type.data if isinstance(type, UniformType) else None


# -- operations ----------------------------------------------------------------------------------


class _QuantCastOp(ConversionOp):
    """Syntax `%operand : type to type`, of tensors of one shape, of which one is quantized."""

    FORMAT = "operands attr-dict `:` type(operands) `to` type(results)"

    SIGNATURE: ClassVar = Signature(values(input=TENSOR), values(result=TENSOR))
    traits = traits_def(Pure())

    def check_elements(self, plain: Attribute, uniform: Uniform) -> None:
        """Ask for the type that the quantized one has for plain elements."""
        if plain != uniform.expressed:
            refuse(f"expressed type {uniform.expressed} is not the element type {plain}")

    def verify_quantized(self, plain: SSAValue, quantized: SSAValue) -> None:
        """Ask for one shape, and for types that belong together."""
        ours, theirs = (cast("TensorType[Attribute]", each.type) for each in (plain, quantized))
        if ours.get_shape() != theirs.get_shape():
            refuse("requires the same shape for all operands and results")
        uniform = uniform_of(theirs.element_type)
        if uniform is None:
            refuse(
                f"{theirs} is no tensor of a quantized type, such as !quant.uniform<i8:f32, 0.1>"
            )
        self.check_elements(ours.element_type, uniform)


class QuantizeCastOp(_QuantCastOp):
    """Quantized numbers from others, rounded to the nearest, ties to even."""

    name = "quant.qcast"

    def verify_op(self) -> None:
        """Ask for a quantized result."""
        self.verify_quantized(self.operands[0], self.results[0])


class DequantizeCastOp(_QuantCastOp):
    """The numbers that quantized ones stand for."""

    name = "quant.dcast"

    def verify_op(self) -> None:
        """Ask for a quantized operand."""
        self.verify_quantized(self.results[0], self.operands[0])


class StorageCastOp(_QuantCastOp):
    """Integers as quantized numbers, or the other way round."""

    name = "quant.scast"

    def check_elements(self, plain: Attribute, uniform: Uniform) -> None:
        """Ask for integers as wide as the stored ones, without a sign of their own."""
        if plain != IntegerType(uniform.width):
            refuse(f"storage type i{uniform.width} is not the element type {plain}")

    def verify_op(self) -> None:
        """Ask for one quantized type, on either side."""
        pair = self.operands[0], self.results[0]
        quantized = cast("TensorType[Attribute]", pair[0].type).element_type
        plain, other = pair[::-1] if isinstance(quantized, UniformType) else pair
        self.verify_quantized(plain, other)


QUANT = Dialect("quant", [DequantizeCastOp, QuantizeCastOp, StorageCastOp], [UniformType])
"""The dialect, for an xDSL context."""
