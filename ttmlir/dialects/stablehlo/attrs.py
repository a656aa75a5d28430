"""Attributes of StableHLO with fields, such as `#stablehlo.dot<lhs_contracting_dimensions = [1]>`.

The fields are Python properties under StableHLO's names: lists are tuples of integers.

    numbers = op.properties["dot_dimension_numbers"]
    numbers.lhs_contracting_dimensions    # (1,)
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, ClassVar, Self, TypeAlias, overload

from xdsl.dialects.builtin import f64
from xdsl.ir import Data
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import ParseError
from xdsl.utils.lexer import Span

from ttmlir.dialects.definition.syntax import expect, expect_keyword, parse_signed
from ttmlir.dialects.stablehlo.enums import ResultAccuracyModeAttr
from ttmlir.dialects.stablehlo.text.convolution import (
    ConvolutionDimensions,
    parse_convolution_dimensions,
    print_convolution_dimensions,
)
from ttmlir.mlir.attributes.floats import format_float

FieldValue: TypeAlias = int | tuple[int, ...]


class Dimensions:
    """A field that lists dimensions; empty if the text leaves it out."""

    default: FieldValue = ()

    def __set_name__(self, owner: type, name: str) -> None:
        """Remember the name of the field."""
        self.name = name

    @overload
    def __get__(self, attr: None, owner: type) -> Self: ...

    @overload
    def __get__(self, attr: Data[tuple[FieldValue, ...]], owner: type) -> tuple[int, ...]: ...

    def __get__(self, attr: Any, owner: type) -> Any:
        """The value of the field in an attribute."""
        return self if attr is None else attr.data[attr.fields().index(self)]


class Number:
    """A field that is one number; 0 if the text leaves it out."""

    default: FieldValue = 0

    def __set_name__(self, owner: type, name: str) -> None:
        """Remember the name of the field."""
        self.name = name

    @overload
    def __get__(self, attr: None, owner: type) -> Self: ...

    @overload
    def __get__(self, attr: Data[tuple[FieldValue, ...]], owner: type) -> int: ...

    def __get__(self, attr: Any, owner: type) -> Any:
        """The value of the field in an attribute."""
        return self if attr is None else attr.data[attr.fields().index(self)]


def parse_dimension_list(parser: AttrParser) -> tuple[int, ...]:
    """Read `[1, 2]`, possibly empty."""
    expect(parser, "[")
    if parser.parse_optional_punctuation("]") is not None:
        return ()
    dimensions = [parse_signed(parser)]
    while parser.parse_optional_punctuation(",") is not None:
        dimensions.append(parse_signed(parser))
    expect(parser, "]")
    return tuple(dimensions)


def dimension_list_text(dimensions: Sequence[int]) -> str:
    """`[1, 2]`."""
    return f"[{', '.join(map(str, dimensions))}]"


@cache
def _fields_of(cls: type) -> tuple[Dimensions | Number, ...]:
    return tuple(v for v in vars(cls).values() if isinstance(v, Dimensions | Number))


class FieldsAttr(Data[tuple[FieldValue, ...]]):
    """Fields in any order; those that are empty or 0 are not written."""

    SUMMARY: ClassVar[str] = ""
    """What messages call the attribute."""

    @classmethod
    def fields(cls) -> tuple[Dimensions | Number, ...]:
        """The fields in the order in which they are declared."""
        return _fields_of(cls)

    @classmethod
    def of(cls, **values: Sequence[int] | int) -> Self:
        """Make an attribute from the fields that are not empty, by name."""
        names = [field.name for field in cls.fields()]
        unknown = values.keys() - set(names)
        assert not unknown, f"{cls.name} has no field {', '.join(sorted(unknown))}"
        data: list[FieldValue] = []
        for field in cls.fields():
            value = values.get(field.name, field.default)
            data.append(value if isinstance(value, int) else tuple(value))
        return cls(tuple(data))

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[FieldValue, ...]:
        """Read `<name = value, ...>`."""
        expect(parser, "<")
        found: dict[str, FieldValue] = {}
        try:
            while parser.parse_optional_punctuation(">") is None:
                if found:
                    expect(parser, ",")
                cls._parse_field(parser, found)
        except ParseError as error:
            span = Span(parser.pos, parser.pos, parser.lexer.input)
            raise ParseError(span, f"failed parsing {cls.SUMMARY} attribute") from error
        return tuple(found.get(field.name, field.default) for field in cls.fields())

    @classmethod
    def _parse_field(cls, parser: AttrParser, found: dict[str, FieldValue]) -> None:
        position = parser.pos
        name = parser.parse_optional_identifier()
        field = next((field for field in cls.fields() if field.name == name), None)
        if field is None:
            names = ", ".join(f"`{field.name}`" for field in cls.fields())
            parser.raise_error(f"expected one of: {names}", position)
        if field.name in found:
            parser.raise_error(f"duplicated `{name}` entry", position)
        expect(parser, "=")
        is_list = isinstance(field, Dimensions)
        found[field.name] = parse_dimension_list(parser) if is_list else parse_signed(parser)

    def print_parameter(self, printer: Printer) -> None:
        """Write `<name = value, ...>`."""
        parts = [
            f"{field.name} = {value if isinstance(value, int) else dimension_list_text(value)}"
            for field, value in zip(self.fields(), self.data, strict=True)
            if value != field.default
        ]
        printer.print_string(f"<{', '.join(parts)}>")


@irdl_attr_definition
class DotDimensionNumbersAttr(FieldsAttr):
    """Which dimensions of a contraction are batches and which are summed over."""

    name = "stablehlo.dot"
    SUMMARY: ClassVar = "dot dimension numbers"
    lhs_batching_dimensions: ClassVar = Dimensions()
    rhs_batching_dimensions: ClassVar = Dimensions()
    lhs_contracting_dimensions: ClassVar = Dimensions()
    rhs_contracting_dimensions: ClassVar = Dimensions()


@irdl_attr_definition
class RaggedDotDimensionNumbersAttr(FieldsAttr):
    """The dimensions of a contraction whose rows stand in groups."""

    name = "chlo.ragged_dot"
    SUMMARY: ClassVar = "ragged dot dimension numbers"
    lhs_batching_dimensions: ClassVar = Dimensions()
    rhs_batching_dimensions: ClassVar = Dimensions()
    lhs_contracting_dimensions: ClassVar = Dimensions()
    rhs_contracting_dimensions: ClassVar = Dimensions()
    lhs_ragged_dimensions: ClassVar = Dimensions()
    rhs_group_dimensions: ClassVar = Dimensions()


@irdl_attr_definition
class GatherDimensionNumbersAttr(FieldsAttr):
    """What the dimensions of a gather mean."""

    name = "stablehlo.gather"
    SUMMARY: ClassVar = "gather dimension numbers"
    offset_dims: ClassVar = Dimensions()
    collapsed_slice_dims: ClassVar = Dimensions()
    operand_batching_dims: ClassVar = Dimensions()
    start_indices_batching_dims: ClassVar = Dimensions()
    start_index_map: ClassVar = Dimensions()
    index_vector_dim: ClassVar = Number()


@irdl_attr_definition
class ScatterDimensionNumbersAttr(FieldsAttr):
    """What the dimensions of a scatter mean."""

    name = "stablehlo.scatter"
    SUMMARY: ClassVar = "scatter dimension numbers"
    update_window_dims: ClassVar = Dimensions()
    inserted_window_dims: ClassVar = Dimensions()
    input_batching_dims: ClassVar = Dimensions()
    scatter_indices_batching_dims: ClassVar = Dimensions()
    scatter_dims_to_operand_dims: ClassVar = Dimensions()
    index_vector_dim: ClassVar = Number()


class StructAttr(FieldsAttr):
    """Fields in their order, all of them written."""

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[FieldValue, ...]:
        """Read `<name = value, ...>`."""
        expect(parser, "<")
        values: list[FieldValue] = []
        for index, field in enumerate(cls.fields()):
            if index:
                expect(parser, ",")
            expect_keyword(parser, field.name)
            expect(parser, "=")
            is_list = isinstance(field, Dimensions)
            values.append(parse_dimension_list(parser) if is_list else parse_signed(parser))
        expect(parser, ">")
        return tuple(values)

    def print_parameter(self, printer: Printer) -> None:
        """Write `<name = value, ...>`."""
        parts = [
            f"{field.name} = {value if isinstance(value, int) else dimension_list_text(value)}"
            for field, value in zip(self.fields(), self.data, strict=True)
        ]
        printer.print_string(f"<{', '.join(parts)}>")


@irdl_attr_definition
class ChannelHandleAttr(StructAttr):
    """The channel that a collective operation uses."""

    name = "stablehlo.channel_handle"
    handle: ClassVar = Number()
    type: ClassVar = Number()


@irdl_attr_definition
class OutputOperandAliasAttr(StructAttr):
    """An output that lies in the memory of an operand."""

    name = "stablehlo.output_operand_alias"
    output_tuple_indices: ClassVar = Dimensions()
    operand_index: ClassVar = Number()
    operand_tuple_indices: ClassVar = Dimensions()


@irdl_attr_definition
class ConvDimensionNumbersAttr(Data[ConvolutionDimensions]):
    """What the dimensions of a convolution mean: `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`."""

    name = "stablehlo.conv"

    @property
    def input_batch_dimension(self) -> int:
        """Batch dimension of the input."""
        return self.data.input.first

    @property
    def input_feature_dimension(self) -> int:
        """Feature dimension of the input."""
        return self.data.input.second

    @property
    def input_spatial_dimensions(self) -> tuple[int, ...]:
        """Spatial dimensions of the input, in the order of the window."""
        return self.data.input.spatial

    @property
    def kernel_input_feature_dimension(self) -> int:
        """Dimension of the kernel that runs over the input's features."""
        return self.data.kernel.first

    @property
    def kernel_output_feature_dimension(self) -> int:
        """Dimension of the kernel that runs over the output's features."""
        return self.data.kernel.second

    @property
    def kernel_spatial_dimensions(self) -> tuple[int, ...]:
        """Spatial dimensions of the kernel, in the order of the window."""
        return self.data.kernel.spatial

    @property
    def output_batch_dimension(self) -> int:
        """Batch dimension of the output."""
        return self.data.output.first

    @property
    def output_feature_dimension(self) -> int:
        """Feature dimension of the output."""
        return self.data.output.second

    @property
    def output_spatial_dimensions(self) -> tuple[int, ...]:
        """Spatial dimensions of the output, in the order of the window."""
        return self.data.output.spatial

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> ConvolutionDimensions:
        """Read `<[b, 0, f]x[0, i, o]->[b, 0, f]>`."""
        expect(parser, "<")
        dimensions = parse_convolution_dimensions(parser)
        expect(parser, ">")
        return dimensions

    def print_parameter(self, printer: Printer) -> None:
        """Write `<[b, 0, f]x[0, i, o]->[b, 0, f]>`."""
        printer.print_string("<")
        print_convolution_dimensions(printer, self.data)
        printer.print_string(">")


_ALGORITHM_TYPES = ("lhs_precision_type", "rhs_precision_type", "accumulation_type")
_ALGORITHM_COUNTS = (
    "lhs_component_count",
    "rhs_component_count",
    "num_primitive_operations",
    "allow_imprecise_accumulation",
)


@irdl_attr_definition
class DotAlgorithmAttr(Data[tuple[str, ...]]):
    """With which types and steps a contraction computes; the texts of the fields in order."""

    name = "stablehlo.dot_algorithm"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[str, ...]:
        """Read `<lhs_precision_type = tf32, ...>`."""
        expect(parser, "<")
        values: list[str] = []
        for name in (*_ALGORITHM_TYPES, *_ALGORITHM_COUNTS):
            if values:
                expect(parser, ",")
            expect_keyword(parser, name)
            expect(parser, "=")
            if name in _ALGORITHM_TYPES:
                values.append(str(parser.parse_type()))
            elif name == _ALGORITHM_COUNTS[-1]:
                values.append("true" if parser.parse_boolean() else "false")
            else:
                values.append(str(parse_signed(parser)))
        expect(parser, ">")
        return tuple(values)

    def print_parameter(self, printer: Printer) -> None:
        """Write `<lhs_precision_type = tf32, ...>`."""
        names = (*_ALGORITHM_TYPES, *_ALGORITHM_COUNTS)
        parts = [f"{name} = {value}" for name, value in zip(names, self.data, strict=True)]
        printer.print_string(f"<{', '.join(parts)}>")


@irdl_attr_definition
class ResultAccuracyAttr(Data[tuple[float, float, int, ResultAccuracyModeAttr]]):
    """How exactly a function is computed: absolute and relative tolerance, ulps, mode."""

    name = "stablehlo.result_accuracy"

    @property
    def mode(self) -> str:
        """`DEFAULT`, `HIGHEST` or `TOLERANCE`."""
        return self.data[3].data

    @classmethod
    def parse_parameter(
        cls, parser: AttrParser
    ) -> tuple[float, float, int, ResultAccuracyModeAttr]:
        """Read `<mode = ...>` or `<atol = 1.0, rtol = 0.0, ulps = 2, mode = ...>`."""
        expect(parser, "<")
        atol, rtol, ulps = 0.0, 0.0, 0
        if parser.parse_optional_keyword("atol") is not None:
            expect(parser, "=")
            atol = float(parser.parse_number())
            expect(parser, ",")
            expect_keyword(parser, "rtol")
            expect(parser, "=")
            rtol = float(parser.parse_number())
            expect(parser, ",")
            expect_keyword(parser, "ulps")
            expect(parser, "=")
            ulps = parse_signed(parser)
            expect(parser, ",")
        expect_keyword(parser, "mode")
        expect(parser, "=")
        position = parser.pos
        mode = parser.parse_attribute()
        if not isinstance(mode, ResultAccuracyModeAttr):
            parser.raise_error("invalid kind of attribute specified", position)
        expect(parser, ">")
        return atol, rtol, ulps, mode

    def print_parameter(self, printer: Printer) -> None:
        """Write the fields; tolerances only if there are some."""
        atol, rtol, ulps, mode = self.data
        printer.print_string("<")
        if atol or rtol or ulps:
            texts = (format_float(atol, f64), format_float(rtol, f64))
            printer.print_string(f"atol = {texts[0]}, rtol = {texts[1]}, ulps = {ulps}, ")
        printer.print_string("mode = ")
        printer.print_attribute(mode)
        printer.print_string(">")


@irdl_attr_definition
class BoundsAttr(Data[tuple[int | None, ...]]):
    """Upper bounds of the extents of a tensor, None where there is none."""

    name = "stablehlo.bounds"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[int | None, ...]:
        """Read `<?, 3>`."""
        expect(parser, "<")
        bounds: list[int | None] = []
        while parser.parse_optional_punctuation(">") is None:
            if bounds:
                expect(parser, ",")
            unbounded = parser.parse_optional_punctuation("?") is not None
            bounds.append(None if unbounded else parse_signed(parser))
        return tuple(bounds)

    def print_parameter(self, printer: Printer) -> None:
        """Write `<?, 3>`."""
        texts = ["?" if bound is None else str(bound) for bound in self.data]
        printer.print_string(f"<{', '.join(texts)}>")


STABLEHLO_ATTRS = (
    DotDimensionNumbersAttr,
    ConvDimensionNumbersAttr,
    GatherDimensionNumbersAttr,
    ScatterDimensionNumbersAttr,
    ChannelHandleAttr,
    OutputOperandAliasAttr,
    DotAlgorithmAttr,
    ResultAccuracyAttr,
    BoundsAttr,
)
