"""Attributes of StableHLO with fields, such as `#stablehlo.dot<lhs_contracting_dimensions = [1]>`.

The fields are Python properties under StableHLO's names: lists are tuples of integers.

    numbers = op.properties["dot_dimension_numbers"]
    numbers.lhs_contracting_dimensions    # (1,)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, ClassVar, NamedTuple, Self, TypeAlias, TypeVar, cast, overload

from xdsl.dialects.builtin import (
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    IntegerType,
    TensorType,
    f64,
    i1,
    i64,
)
from xdsl.ir import Attribute, Data, SpacedOpaqueSyntaxAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import ParseError
from xdsl.utils.lexer import Span

from ttmlir.dialects.definition.ods import classes_in
from ttmlir.dialects.definition.syntax import expect, expect_keyword, parameter, parse_signed
from ttmlir.mlir.attributes import elements_of, format_float

# --- Enums ----------------------------------------------------------------------------------------
# Enumerations of StableHLO, such as `#stablehlo<comparison_direction GE>`.
#
# The text of a member is the attribute's `data`, here "GE". CHLO has copies of some of them under
# its own name.


class EnumAttr(Data[str]):
    """A member of an enumeration, by its text."""

    CASES: ClassVar[tuple[str, ...]]
    """The texts of all members, in the order in which messages list them."""
    CPP: ClassVar[str]
    """Name of the enumeration in C++, which messages say."""

    @classmethod
    def parse_case(cls, parser: AttrParser) -> str:
        """Read the bare text of a member."""
        position = parser.pos
        case = parser.parse_optional_identifier_or_str_literal()
        if case is None:
            parser.raise_error("expected valid keyword or string", position)
        if case not in cls.CASES:
            parser.raise_error(f"expected {cls.CPP} to be one of: {', '.join(cls.CASES)}", position)
        return case

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> str:
        """Read the text of a member inside `#stablehlo<...>`."""
        definition = f"{cls.CPP.split('::')[-1]}Attr"
        owner = "StableHLO" if "stablehlo" in cls.CPP else "CHLO"
        with parameter(parser, f"{owner}_{definition}", "value", cls.CPP):
            return cls.parse_case(parser)

    def print_parameter(self, printer: Printer) -> None:
        """Write the text of the member."""
        printer.print_string(self.data)


class _OpaqueEnumAttr(EnumAttr, SpacedOpaqueSyntaxAttribute):
    """An enumeration whose text has the name of the attribute inside the angle brackets."""


_DIRECTIONS = ("EQ", "NE", "GE", "GT", "LE", "LT")
_TYPES = ("NOTYPE", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED")
_PRECISIONS = ("DEFAULT", "HIGH", "HIGHEST")


@irdl_attr_definition
class ComparisonDirectionAttr(_OpaqueEnumAttr):
    """How two values are compared."""

    name = "stablehlo.comparison_direction"
    CASES: ClassVar = _DIRECTIONS
    CPP: ClassVar = "::mlir::stablehlo::ComparisonDirection"


@irdl_attr_definition
class ComparisonTypeAttr(_OpaqueEnumAttr):
    """As what two values are compared."""

    name = "stablehlo.comparison_type"
    CASES: ClassVar = _TYPES
    CPP: ClassVar = "::mlir::stablehlo::ComparisonType"


@irdl_attr_definition
class PrecisionAttr(_OpaqueEnumAttr):
    """How exactly an operand of a contraction is taken."""

    name = "stablehlo.precision"
    CASES: ClassVar = _PRECISIONS
    CPP: ClassVar = "::mlir::stablehlo::Precision"


@irdl_attr_definition
class FftTypeAttr(_OpaqueEnumAttr):
    """Kind of Fourier transform."""

    name = "stablehlo.fft_type"
    CASES: ClassVar = ("FFT", "IFFT", "RFFT", "IRFFT")
    CPP: ClassVar = "::mlir::stablehlo::FftType"


@irdl_attr_definition
class RngAlgorithmAttr(_OpaqueEnumAttr):
    """Generator of random bits."""

    name = "stablehlo.rng_algorithm"
    CASES: ClassVar = ("DEFAULT", "THREE_FRY", "PHILOX")
    CPP: ClassVar = "::mlir::stablehlo::RngAlgorithm"


@irdl_attr_definition
class RngDistributionAttr(_OpaqueEnumAttr):
    """Distribution of random numbers."""

    name = "stablehlo.rng_distribution"
    CASES: ClassVar = ("UNIFORM", "NORMAL")
    CPP: ClassVar = "::mlir::stablehlo::RngDistribution"


@irdl_attr_definition
class TransposeAttr(_OpaqueEnumAttr):
    """Whether the matrix of a linear system is taken as it is."""

    name = "stablehlo.transpose"
    CASES: ClassVar = ("TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT")
    CPP: ClassVar = "::mlir::stablehlo::Transpose"


@irdl_attr_definition
class ResultAccuracyModeAttr(EnumAttr):
    """How exactly a function is computed."""

    name = "stablehlo.result_accuracy_mode"
    CASES: ClassVar = ("DEFAULT", "HIGHEST", "TOLERANCE")
    CPP: ClassVar = "::mlir::stablehlo::ResultAccuracyMode"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> str:
        """Read `<HIGHEST>`."""
        expect(parser, "<")
        case = super().parse_parameter(parser)
        expect(parser, ">")
        return case

    def print_parameter(self, printer: Printer) -> None:
        """Write `<HIGHEST>`."""
        printer.print_string(f"<{self.data}>")


@irdl_attr_definition
class ChloComparisonDirectionAttr(_OpaqueEnumAttr):
    """How two values are compared, in CHLO."""

    name = "chlo.comparison_direction"
    CASES: ClassVar = _DIRECTIONS
    CPP: ClassVar = "::mlir::chlo::ComparisonDirection"


@irdl_attr_definition
class ChloComparisonTypeAttr(_OpaqueEnumAttr):
    """As what two values are compared, in CHLO."""

    name = "chlo.comparison_type"
    CASES: ClassVar = _TYPES
    CPP: ClassVar = "::mlir::chlo::ComparisonType"


@irdl_attr_definition
class ChloPrecisionAttr(_OpaqueEnumAttr):
    """How exactly an operand of a contraction is taken, in CHLO."""

    name = "chlo.precision"
    CASES: ClassVar = _PRECISIONS
    CPP: ClassVar = "::mlir::chlo::Precision"


# --- Convolution ----------------------------------------------------------------------------------
# The text of a convolution: its dimensions and its window.
#
#     dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
#     window = {stride = [2, 2], pad = [[0, 1], [0, 1]],
#               rhs_dilate = [1, 2], reverse = [false, true]}
#
# Each list of dimensions stands for one tensor: a letter or number for each of its dimensions, the
# numbers counting the dimensions of the window.

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
            if parser.parse_optional_punctuation("}") is not None:
                break
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


# --- Attrs ----------------------------------------------------------------------------------------

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


_ATTRIBUTES = classes_in(globals(), Attribute)
STABLEHLO_ATTRS = [attr for attr in _ATTRIBUTES if attr.name.startswith("stablehlo.")]
CHLO_ATTRS = [attr for attr in _ATTRIBUTES if attr.name.startswith("chlo.")]
