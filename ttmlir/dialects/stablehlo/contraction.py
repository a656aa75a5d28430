"""Operations of StableHLO that sum products, and those of linear algebra."""

from __future__ import annotations

from typing import ClassVar

from ttmlir.dialects.definition import ods
from ttmlir.dialects.definition.ods import Property, Signature, ValueGroup
from ttmlir.dialects.stablehlo.enums import FftTypeAttr
from ttmlir.dialects.stablehlo.operation import PURE, FormOp, StableHLOOp
from ttmlir.dialects.stablehlo.rules import contraction as contraction_rules
from ttmlir.dialects.stablehlo.rules.constraints import (
    ANY,
    ANY_AXIS,
    COMPLEX,
    DIMENSIONS,
    FLOAT,
    QUANTIZED,
    enum,
    enum_array,
    ranked,
)
from ttmlir.dialects.stablehlo.text.form import (
    OPERANDS,
    Algorithm,
    DimensionPairs,
    Flag,
    Form,
    IntegerList,
    Member,
    Precisions,
    Setting,
    Text,
)
from ttmlir.dialects.stablehlo.text.type_forms import FUNCTIONAL, SAME

PRECISION = Property("precision_config", enum_array("stablehlo.precision"), optional=True)
_PRECISION_ITEM = Setting("precision", Precisions("precision_config"), is_optional=True)
_ANALYTIC = ranked(FLOAT, COMPLEX)


class DotGeneralOp(FormOp):
    """Sums over contracting dimensions of products, for each pair of batches."""

    name = "stablehlo.dot_general"
    RULE: ClassVar = staticmethod(contraction_rules.dot_general)
    SIGNATURE: ClassVar = Signature(
        operands=(ValueGroup("lhs", ANY), ValueGroup("rhs", ANY_AXIS)),
        results=(ValueGroup("result", ANY_AXIS),),
        properties=(
            Property("dot_dimension_numbers", enum("stablehlo.dot")),
            PRECISION,
            Property("algorithm", enum("stablehlo.dot_algorithm"), optional=True),
        ),
    )
    FORM: ClassVar = Form(
        (
            OPERANDS,
            DimensionPairs("batching", is_optional=True),
            DimensionPairs("contracting", is_optional=False),
            _PRECISION_ITEM,
            Setting("algorithm", Algorithm("algorithm"), is_optional=True),
        ),
        FUNCTIONAL,
    )
    traits = PURE


class DotOp(FormOp):
    """The product of vectors or matrices."""

    name = "stablehlo.dot"
    RULE: ClassVar = staticmethod(contraction_rules.dot)
    SIGNATURE: ClassVar = Signature(
        operands=(ValueGroup("lhs", ANY), ValueGroup("rhs", ANY_AXIS)),
        results=(ValueGroup("result", ANY_AXIS),),
        properties=(PRECISION,),
    )
    FORM: ClassVar = Form((OPERANDS, _PRECISION_ITEM), FUNCTIONAL)
    traits = PURE


class EinsumOp(FormOp):
    """Einstein's sum of products of two tensors."""

    name = "stablehlo.einsum"
    SIGNATURE: ClassVar = Signature(
        operands=(ValueGroup("lhs", ANY), ValueGroup("rhs", ANY)),
        results=(ValueGroup("result", ANY),),
        properties=(Property("einsum_config", ods.STRING),),
    )
    FORM: ClassVar = Form((OPERANDS, Setting("config", Text("einsum_config"))), FUNCTIONAL)
    traits = PURE


class UnaryEinsumOp(FormOp):
    """Einstein's sum over one tensor."""

    name = "stablehlo.unary_einsum"
    SIGNATURE: ClassVar = Signature(
        operands=(ValueGroup("operand", ANY),),
        results=(ValueGroup("result", ANY),),
        properties=(Property("einsum_config", ods.STRING),),
    )
    FORM: ClassVar = Form((OPERANDS, Setting("config", Text("einsum_config"))), FUNCTIONAL)
    traits = PURE


class CholeskyOp(FormOp):
    """The triangular factor of a positive definite matrix."""

    name = "stablehlo.cholesky"
    RULE: ClassVar = staticmethod(contraction_rules.cholesky)
    SIGNATURE: ClassVar = Signature(
        operands=(ValueGroup("a", ranked(FLOAT, COMPLEX, QUANTIZED)),),
        results=(ValueGroup("result", ranked(FLOAT, COMPLEX, QUANTIZED)),),
        properties=(Property("lower", ods.BOOL, optional=True),),
    )
    FORM: ClassVar = Form((OPERANDS, Setting("lower", Flag("lower"), is_optional=True)), SAME)
    traits = PURE


class TriangularSolveOp(StableHLOOp):
    """The solution of a linear system with a triangular matrix."""

    name = "stablehlo.triangular_solve"
    RULE: ClassVar = staticmethod(contraction_rules.triangular_solve)
    SIGNATURE: ClassVar = Signature(
        operands=(ValueGroup("a", _ANALYTIC), ValueGroup("b", _ANALYTIC)),
        results=(ValueGroup("result", _ANALYTIC),),
        properties=(
            Property("left_side", ods.BOOL),
            Property("lower", ods.BOOL),
            Property("unit_diagonal", ods.BOOL),
            Property("transpose_a", enum("stablehlo.transpose")),
        ),
    )
    traits = PURE


class FftOp(FormOp):
    """Fourier transform over the last dimensions."""

    name = "stablehlo.fft"
    RULE: ClassVar = staticmethod(contraction_rules.fft)
    SIGNATURE: ClassVar = Signature(
        operands=(ValueGroup("operand", _ANALYTIC),),
        results=(ValueGroup("result", _ANALYTIC),),
        properties=(
            Property("fft_type", enum("stablehlo.fft_type")),
            Property("fft_length", DIMENSIONS),
        ),
    )
    FORM: ClassVar = Form(
        (
            OPERANDS,
            Setting("type", Member("fft_type", FftTypeAttr)),
            Setting("length", IntegerList("fft_length")),
        ),
        FUNCTIONAL,
    )
    traits = PURE


CONTRACTION = (
    CholeskyOp,
    DotGeneralOp,
    DotOp,
    EinsumOp,
    FftOp,
    TriangularSolveOp,
    UnaryEinsumOp,
)
"""The operations of this module."""
