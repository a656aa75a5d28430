"""Rules of StableHLO's batch normalization and its gradients, for `convert-stablehlo-to-ttir`."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from xdsl.ir import Operation, SSAValue

from ttmlir.dialects.stablehlo.text.form import integer
from ttmlir.ir.builder import Builder
from ttmlir.ir.rewriting import replace
from ttmlir.ir.tensor_types import (
    check_static_shapes,
    element_type,
    value_shape,
)
from ttmlir.passes.core.ttir_conversion import ConversionRule

if TYPE_CHECKING:
    from xdsl.dialects.builtin import (
        FloatAttr,
    )


def _feature_of(op: Operation) -> tuple[int, float]:
    epsilon = cast("FloatAttr", op.properties["epsilon"]).value.data
    return integer(op, "feature_index"), epsilon


def _batch_norm_inference(op: Operation) -> None:
    builder = Builder.before(op)
    dimension, epsilon = _feature_of(op)
    replace(
        op,
        builder.create(
            "batch_norm_inference",
            op.operands,
            op.results[0].type,
            dimension=dimension,
            epsilon=epsilon,
        ),
    )


def _batch_norm_training(op: Operation) -> None:
    builder = Builder.before(op)
    check_static_shapes(op)
    dimension, epsilon = _feature_of(op)
    value, scale, offset = op.operands
    features = op.results[1].type
    others = tuple(dim for dim in range(len(value_shape(value))) if dim != dimension)
    mean = builder.create("mean", [value], features, keep_dim=False, dim_arg=others)
    centered = builder.create(
        "subtract", [value, _beside(builder, mean, value, dimension)], value.type
    )
    squares = builder.create("multiply", [centered, centered], value.type)
    variance = builder.create("mean", [squares], features, keep_dim=False, dim_arg=others)
    inputs = [value, scale, offset, mean, variance]
    result = builder.create(
        "batch_norm_inference", inputs, value.type, dimension=dimension, epsilon=epsilon
    )
    replace(op, result, mean, variance)


def _batch_norm_grad(op: Operation) -> None:
    """The gradients, with c = x - mean and s = 1 / sqrt(variance + epsilon).

    grad_offset = sum(g), grad_scale = sum(g * c) * s and
    grad_operand = scale * s * (g - mean(g) - c * mean(g * c) * s * s).
    """
    builder = Builder.before(op)
    check_static_shapes(op)
    dimension, epsilon = _feature_of(op)
    value, scale, mean, variance, gradient = op.operands
    features = op.results[1].type
    others = tuple(dim for dim in range(len(value_shape(value))) if dim != dimension)

    def over_others(mnemonic: str, values: SSAValue) -> SSAValue:
        return builder.create(mnemonic, [values], features, keep_dim=False, dim_arg=others)

    def multiplied(first: SSAValue, second: SSAValue) -> SSAValue:
        return builder.create("multiply", [first, second], first.type)

    shift = builder.create_scalar(epsilon, element_type(variance))
    inverse = builder.create(
        "rsqrt", [builder.create("add", [variance, shift], variance.type)], variance.type
    )
    centered = builder.create(
        "subtract", [value, _beside(builder, mean, value, dimension)], value.type
    )
    products = multiplied(gradient, centered)
    grad_offset = over_others("sum", gradient)
    grad_scale = multiplied(over_others("sum", products), inverse)
    slope = multiplied(multiplied(over_others("mean", products), inverse), inverse)
    trend = multiplied(centered, _beside(builder, slope, value, dimension))
    level = _beside(builder, over_others("mean", gradient), value, dimension)
    rest = builder.create("subtract", [gradient, level], value.type)
    rest = builder.create("subtract", [rest, trend], value.type)
    factor = _beside(builder, multiplied(scale, inverse), value, dimension)
    replace(op, multiplied(rest, factor), grad_scale, grad_offset)


def _beside(builder: Builder, features: SSAValue, value: SSAValue, dimension: int) -> SSAValue:
    """One number for each feature in a shape that broadcasts against the whole tensor."""
    shape = [1] * len(value_shape(value))
    shape[dimension] = value_shape(features)[0]
    return builder.reshape(features, shape)


RULES: dict[str, ConversionRule] = {
    "stablehlo.batch_norm_grad": _batch_norm_grad,
    "stablehlo.batch_norm_inference": _batch_norm_inference,
    "stablehlo.batch_norm_training": _batch_norm_training,
}
"""Rules by the full name of the operation."""
