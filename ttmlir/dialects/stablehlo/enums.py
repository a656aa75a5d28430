"""Enumerations of StableHLO, such as `#stablehlo<comparison_direction GE>`.

The text of a member is the attribute's `data`, here "GE". CHLO has copies of some of them under its
own name.
"""

from __future__ import annotations

from typing import ClassVar

from xdsl.ir import Data, SpacedOpaqueSyntaxAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from ttmlir.dialects.definition.syntax import expect, parameter


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


STABLEHLO_ENUMS = (
    ComparisonDirectionAttr,
    ComparisonTypeAttr,
    PrecisionAttr,
    FftTypeAttr,
    RngAlgorithmAttr,
    RngDistributionAttr,
    TransposeAttr,
    ResultAccuracyModeAttr,
)
CHLO_ENUMS = (ChloComparisonDirectionAttr, ChloComparisonTypeAttr, ChloPrecisionAttr)
