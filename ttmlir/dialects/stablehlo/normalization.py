"""Batch normalization of StableHLO and its gradients."""

from __future__ import annotations

from typing import ClassVar

from ttmlir.dialects.definition.ods import Signature, ValueGroup, properties, values
from ttmlir.dialects.stablehlo import reduction as reduction_rules
from ttmlir.dialects.stablehlo.constraints import (
    DIMENSION,
    FLOAT,
    FLOAT_32,
    QUANTIZED,
    of_rank,
    ranked,
)
from ttmlir.dialects.stablehlo.operation import PURE, StableHLOOp

_IMAGE = ranked(FLOAT, QUANTIZED)
_VECTOR = of_rank(1, FLOAT, QUANTIZED)
_FLOAT_VECTOR = of_rank(1, FLOAT)
_NORMALIZATION = properties(epsilon=FLOAT_32, feature_index=DIMENSION)


class BatchNormInferenceOp(StableHLOOp):
    """Normalization with given mean and variance for each feature."""

    name = "stablehlo.batch_norm_inference"
    RULE: ClassVar = staticmethod(reduction_rules.batch_norm)
    SIGNATURE: ClassVar = Signature(
        (
            ValueGroup("operand", _IMAGE),
            *(ValueGroup(name, _VECTOR) for name in ("scale", "offset", "mean", "variance")),
        ),
        values(result=_IMAGE),
        _NORMALIZATION,
    )
    traits = PURE


class BatchNormTrainingOp(StableHLOOp):
    """Normalization with the mean and variance of the operand, which are results, too."""

    name = "stablehlo.batch_norm_training"
    RULE: ClassVar = staticmethod(reduction_rules.batch_norm)
    SIGNATURE: ClassVar = Signature(
        values(operand=_IMAGE, scale=_VECTOR, offset=_VECTOR),
        values(output=_IMAGE, batch_mean=_FLOAT_VECTOR, batch_var=_FLOAT_VECTOR),
        _NORMALIZATION,
    )
    traits = PURE


class BatchNormGradOp(StableHLOOp):
    """The gradients of a normalization."""

    name = "stablehlo.batch_norm_grad"
    RULE: ClassVar = staticmethod(reduction_rules.batch_norm)
    SIGNATURE: ClassVar = Signature(
        (
            ValueGroup("operand", _IMAGE),
            *(ValueGroup(name, _VECTOR) for name in ("scale", "mean", "variance")),
            ValueGroup("grad_output", _IMAGE),
        ),
        values(grad_operand=_IMAGE, grad_scale=_FLOAT_VECTOR, grad_offset=_FLOAT_VECTOR),
        _NORMALIZATION,
    )
    traits = PURE


NORMALIZATION = (BatchNormGradOp, BatchNormInferenceOp, BatchNormTrainingOp)
"""The operations of this module."""
