"""Operations of StableHLO on the windows of images."""

from __future__ import annotations

from typing import ClassVar, Self, cast

from xdsl.parser import Parser
from xdsl.printer import Printer

from ttmlir.dialects.definition.ods import Property, Signature, ValueGroup, values
from ttmlir.dialects.definition.syntax import expect, expect_keyword
from ttmlir.dialects.stablehlo import contraction as contraction_rules
from ttmlir.dialects.stablehlo import reduction as reduction_rules
from ttmlir.dialects.stablehlo.attrs import (
    WINDOW_ATTRIBUTES,
    ConvDimensionNumbersAttr,
    parse_convolution_dimensions,
    parse_window,
    print_convolution_dimensions,
    window_text,
)
from ttmlir.dialects.stablehlo.constraints import (
    ANY,
    ANY_AXIS,
    DIMENSIONS,
    FLAGS,
    PADDING,
    POSITIVE_I64,
    enum,
)
from ttmlir.dialects.stablehlo.contraction import PRECISION
from ttmlir.dialects.stablehlo.operation import PURE, StableHLOOp
from ttmlir.dialects.stablehlo.reduction import INPUTS, RESULTS


class ReduceWindowOp(StableHLOOp):
    """Folds each window of the inputs with a function."""

    name = "stablehlo.reduce_window"
    RULE: ClassVar = staticmethod(reduction_rules.reduce_window)
    SIGNATURE: ClassVar = Signature(
        (INPUTS, ValueGroup("init_values", ANY, variadic=True)),
        (RESULTS,),
        (
            Property("window_dimensions", DIMENSIONS),
            Property("window_strides", DIMENSIONS, optional=True),
            Property("base_dilations", DIMENSIONS, optional=True),
            Property("window_dilations", DIMENSIONS, optional=True),
            Property("padding", PADDING, optional=True),
        ),
        regions=1,
        same_sizes=True,
    )
    REGIONS: ClassVar[tuple[str, ...]] = ("body",)
    traits = PURE


WINDOW_PROPERTIES = (
    Property("window_strides", DIMENSIONS, optional=True),
    Property("lhs_dilation", DIMENSIONS, optional=True),
    Property("rhs_dilation", DIMENSIONS, optional=True),
    Property("window_reversal", FLAGS, optional=True),
)
_CONVOLUTION_PROPERTIES = (
    *WINDOW_PROPERTIES,
    Property("dimension_numbers", enum("stablehlo.conv")),
    Property("feature_group_count", POSITIVE_I64),
    Property("batch_group_count", POSITIVE_I64),
    PRECISION,
)


class ConvolutionOp(StableHLOOp):
    """Sums of products over the windows of an image."""

    name = "stablehlo.convolution"
    RULE: ClassVar = staticmethod(contraction_rules.convolution)
    SIGNATURE: ClassVar = Signature(
        values(lhs=ANY, rhs=ANY_AXIS),
        values(result=ANY_AXIS),
        (*_CONVOLUTION_PROPERTIES, Property("padding", PADDING, optional=True)),
    )
    SPELLED: ClassVar[tuple[str, ...]] = ("dimension_numbers", *WINDOW_ATTRIBUTES.values())
    traits = PURE

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read `(%lhs, %rhs) dim_numbers = ..., window = {...} {...} : types`."""
        operands = parser.parse_comma_separated_list(
            parser.Delimiter.PAREN, parser.parse_unresolved_operand
        )
        expect_keyword(parser, "dim_numbers")
        expect(parser, "=")
        numbers = ConvDimensionNumbersAttr(parse_convolution_dimensions(parser))
        expect(parser, ",")
        expect_keyword(parser, "window")
        expect(parser, "=")
        window = parse_window(parser)
        return cls.parse_rest(parser, {"dimension_numbers": numbers, **window}, operands)

    def print(self, printer: Printer) -> None:
        """Write `(%lhs, %rhs) dim_numbers = ..., window = {...} {...} : types`."""
        numbers = cast("ConvDimensionNumbersAttr", self.properties["dimension_numbers"])
        printer.print_string("(")
        printer.print_list(self.operands, printer.print_operand)
        printer.print_string(") dim_numbers = ")
        print_convolution_dimensions(printer, numbers.data)
        printer.print_string(f", window = {window_text(self.properties)}")
        self.print_rest(printer)


class SelectAndScatterOp(StableHLOOp):
    """Adds each source element to the element that its window selects."""

    name = "stablehlo.select_and_scatter"
    RULE: ClassVar = staticmethod(reduction_rules.select_and_scatter)
    SIGNATURE: ClassVar = Signature(
        values(operand=ANY, source=ANY, init_value=ANY),
        values(result=ANY),
        (
            Property("window_dimensions", DIMENSIONS, optional=True),
            Property("window_strides", DIMENSIONS, optional=True),
            Property("padding", PADDING, optional=True),
        ),
        regions=2,
    )
    REGIONS: ClassVar[tuple[str, ...]] = ("select", "scatter")
    traits = PURE


WINDOW = (ConvolutionOp, ReduceWindowOp, SelectAndScatterOp)
"""The operations of this module."""
