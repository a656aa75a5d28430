"""Operations of StableHLO whose shapes are operands."""

from __future__ import annotations

from typing import ClassVar

from xdsl.ir import Operation

from ttmlir.dialects.definition.ods import Property, Signature, classes_in, properties, values
from ttmlir.dialects.stablehlo import movement as movement_rules
from ttmlir.dialects.stablehlo.constraints import (
    ANY,
    ANY_AXIS,
    ANY_ELEMENTS,
    DIMENSION,
    DIMENSIONS,
    FLOAT,
    INDEX,
    INTEGER,
    PER_AXIS,
    POSITIVE_I64,
    QUANTIZED,
    SHAPE,
    SIGNLESS_32,
    enum,
    enum_array,
    of_rank,
    ranked,
    static_of_rank,
)
from ttmlir.dialects.stablehlo.form import (
    FUNCTIONAL,
    OPERANDS,
    SAME,
    Form,
    Integer,
    IntegerList,
    Setting,
)
from ttmlir.dialects.stablehlo.operation import PURE, FormOp, StableHLOOp
from ttmlir.dialects.stablehlo.window import WINDOW_PROPERTIES

_INDICES = of_rank(1, INDEX, INTEGER)
_RESULT = values(result=ANY)


class DynamicBroadcastInDimOp(FormOp):
    """`broadcast_in_dim` to a shape that is an operand."""

    name = "stablehlo.dynamic_broadcast_in_dim"
    SIGNATURE: ClassVar = Signature(
        values(operand=ANY_AXIS, output_dimensions=SHAPE),
        values(result=ANY_AXIS),
        (
            Property("broadcast_dimensions", DIMENSIONS),
            Property("known_expanding_dimensions", DIMENSIONS, optional=True),
            Property("known_nonexpanding_dimensions", DIMENSIONS, optional=True),
        ),
    )
    FORM: ClassVar = Form(
        (OPERANDS, Setting("dims", IntegerList("broadcast_dimensions"))), FUNCTIONAL
    )
    traits = PURE


class DynamicConvOp(StableHLOOp):
    """`convolution` with padding that is an operand."""

    name = "stablehlo.dynamic_conv"
    SIGNATURE: ClassVar = Signature(
        values(lhs=ANY, rhs=ANY, padding=static_of_rank(2, "integer tensor", INTEGER)),
        _RESULT,
        (
            *WINDOW_PROPERTIES,
            Property("dimension_numbers", enum("stablehlo.conv")),
            Property("feature_group_count", POSITIVE_I64),
            Property("batch_group_count", POSITIVE_I64),
            Property("precision_config", enum_array("stablehlo.precision"), optional=True),
        ),
    )
    traits = PURE


class DynamicIotaOp(FormOp):
    """`iota` of a shape that is an operand."""

    name = "stablehlo.dynamic_iota"
    SIGNATURE: ClassVar = Signature(
        values(output_shape=SHAPE), _RESULT, properties(iota_dimension=DIMENSION)
    )
    FORM: ClassVar = Form((OPERANDS, Setting("dim", Integer("iota_dimension"))), FUNCTIONAL)
    traits = PURE


class DynamicPadOp(FormOp):
    """`pad` with amounts that are operands."""

    name = "stablehlo.dynamic_pad"
    SIGNATURE: ClassVar = Signature(
        values(
            operand=ANY,
            padding_value=of_rank(0, *ANY_ELEMENTS),
            edge_padding_low=_INDICES,
            edge_padding_high=_INDICES,
            interior_padding=_INDICES,
        ),
        _RESULT,
    )
    FORM: ClassVar = Form((OPERANDS,), FUNCTIONAL)
    traits = PURE


class DynamicReshapeOp(FormOp):
    """`reshape` to a shape that is an operand."""

    name = "stablehlo.dynamic_reshape"
    SIGNATURE: ClassVar = Signature(
        values(operand=ANY_AXIS, output_shape=SHAPE), values(result=ANY_AXIS)
    )
    FORM: ClassVar = Form((OPERANDS,), FUNCTIONAL)
    traits = PURE


class RealDynamicSliceOp(FormOp):
    """`slice` with indices that are operands."""

    name = "stablehlo.real_dynamic_slice"
    SIGNATURE: ClassVar = Signature(
        values(operand=ANY, start_indices=_INDICES, limit_indices=_INDICES, strides=_INDICES),
        _RESULT,
    )
    FORM: ClassVar = Form((OPERANDS,), FUNCTIONAL)
    traits = PURE


class UniformQuantizeOp(FormOp):
    """Quantized numbers from others, or from quantized ones with other scales."""

    name = "stablehlo.uniform_quantize"
    SIGNATURE: ClassVar = Signature(
        values(operand=ranked(FLOAT, QUANTIZED, PER_AXIS)),
        values(result=ranked(QUANTIZED, PER_AXIS)),
    )
    FORM: ClassVar = Form((OPERANDS,), SAME)
    traits = PURE


class UniformDequantizeOp(FormOp):
    """The numbers that quantized ones stand for."""

    name = "stablehlo.uniform_dequantize"
    SIGNATURE: ClassVar = Signature(
        values(operand=ranked(QUANTIZED, PER_AXIS)), values(result=ranked(FLOAT))
    )
    FORM: ClassVar = Form((OPERANDS,), SAME)
    traits = PURE


class GetDimensionSizeOp(FormOp):
    """The extent of a dimension."""

    name = "stablehlo.get_dimension_size"
    RULE: ClassVar = staticmethod(movement_rules.get_dimension_size)
    SIGNATURE: ClassVar = Signature(
        values(operand=ANY_AXIS),
        values(result=ranked(SIGNLESS_32)),
        properties(dimension=DIMENSION),
    )
    FORM: ClassVar = Form((OPERANDS, Setting("dim", Integer("dimension"))), FUNCTIONAL)
    traits = PURE


class SetDimensionSizeOp(FormOp):
    """The operand with an extent that is only known when the program runs."""

    name = "stablehlo.set_dimension_size"
    SIGNATURE: ClassVar = Signature(
        values(operand=ANY, size=ranked(SIGNLESS_32)),
        values(result=ANY),
        properties(dimension=DIMENSION),
    )
    FORM: ClassVar = Form((OPERANDS, Setting("dim", Integer("dimension"))), FUNCTIONAL)
    traits = PURE


DYNAMISM = classes_in(globals(), Operation)
"""The operations of this module."""
