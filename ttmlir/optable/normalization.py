"""Softmax, and batch normalization with given statistics.

`ttir.batch_norm_inference` has the operands input, scale, offset, mean and variance, of which the
last four hold one element for each feature, the features being the input's dimension `dimension`.
Training, which takes mean and variance from the input, is spelled out by the conversions.
"""

from __future__ import annotations

from typing import Any

from ttmlir.errors import ArgumentError
from ttmlir.optable.op_definition import (
    Domain,
    Family,
    Flatbuffer,
    Kind,
    OpDefinition,
    Operand,
    Parameter,
    Shape,
    require,
)


def softmax_shape(input: Shape, *, dimension: int) -> Shape:
    """Shape of the input, which has the dimension."""
    require(
        -len(input) <= dimension < len(input),
        "Dimension attribute must be within the bounds of the input tensor",
    )
    return input


def normalized_shape(input: Shape, *statistics: Shape, dimension: int, epsilon: float) -> Shape:
    """Shape of the input, if each of the others has an element for each feature."""
    if not 0 <= dimension < len(input):
        raise ArgumentError(f"Dimension {dimension} is out of range for rank {len(input)}.")
    features = input[dimension]
    if any(shape != (features,) for shape in statistics):
        raise ArgumentError(
            f"Scale, offset, mean and variance must have one dimension of extent {features}, the "
            f"extent of the input's dimension {dimension}."
        )
    return input


def _softmax(xp: Any, input: Any, *, dimension: int) -> Any:
    if not input.size:
        return input
    # Subtracting the maximum changes nothing but keeps exp from overflowing.
    powers = xp.exp(input - xp.max(input, axis=dimension, keepdims=True))
    return powers / xp.sum(powers, axis=dimension, keepdims=True)


def _batch_norm_inference(
    xp: Any,
    input: Any,
    scale: Any,
    offset: Any,
    mean: Any,
    variance: Any,
    *,
    dimension: int,
    epsilon: float,
) -> Any:
    shape = [1] * input.ndim
    shape[dimension] = -1
    factor = scale / xp.sqrt(variance + xp.asarray(epsilon, variance.dtype))
    centered = input - xp.reshape(mean, shape)
    return centered * xp.reshape(factor, shape) + xp.reshape(offset, shape)


DEFINITIONS = (
    OpDefinition(
        mnemonic="softmax",
        summary="Exponentials along a dimension, scaled to the sum 1.",
        formula="exp(x) / sum(exp(x))",
        family=Family.NORMALIZATION,
        operands=(Operand(name="input"),),
        parameters=(Parameter(name="dimension", kind=Kind.SI32, doc="Dimension of the sum."),),
        reference=_softmax,
        result_shape=softmax_shape,
        flatbuffer=Flatbuffer(
            table="SoftmaxOp",
            fields=(("in", "input"), ("out", "output"), ("dimension", "dimension")),
        ),
    ),
    OpDefinition(
        mnemonic="batch_norm_inference",
        summary="Features scaled to given mean and variance.",
        formula="(input - mean) / sqrt(variance + epsilon) * scale + offset",
        family=Family.NORMALIZATION,
        operands=tuple(
            Operand(name=name) for name in ("input", "scale", "offset", "mean", "variance")
        ),
        parameters=(
            Parameter(name="dimension", kind=Kind.SI32, doc="Dimension of the features."),
            Parameter(name="epsilon", kind=Kind.F32, doc="Added to the variance."),
        ),
        reference=_batch_norm_inference,
        result_shape=normalized_shape,
        domains=(Domain.REAL, Domain.REAL, Domain.REAL, Domain.REAL, Domain.POSITIVE),
        flatbuffer=Flatbuffer(
            table="BatchNormInferenceOp",
            fields=(
                ("input", "input"),
                ("scale", "scale"),
                ("offset", "offset"),
                ("mean", "mean"),
                ("variance", "variance"),
                ("out", "output"),
                ("dimension", "dimension"),
                ("epsilon", "epsilon"),
            ),
        ),
        since="2026-08",
    ),
)
