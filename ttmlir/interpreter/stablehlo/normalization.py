"""Batch normalization and its gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from xdsl.ir import Operation

from ttmlir.dialects.stablehlo.text.form import integer
from ttmlir.interpreter.execution import Execution
from ttmlir.interpreter.stablehlo.movement import without
from ttmlir.interpreter.values import Function
from ttmlir.runtime.element import Array


def _batch_shape(op: Operation, array: Array) -> tuple[tuple[int, ...], list[int]]:
    """The shape in which a value for each feature broadcasts, and the other dimensions."""
    feature = integer(op, "feature_index")
    shape = [1] * array.ndim
    shape[feature] = array.shape[feature]
    return tuple(shape), without(array.ndim, [feature])


def _epsilon(op: Operation) -> float:
    return float(cast("Any", op.properties["epsilon"]).value.data)


def _batch_norm_inference(
    execution: Execution, op: Operation, operands: Sequence[Any]
) -> Sequence[Any]:
    array, *features = operands
    shape, _ = _batch_shape(op, array)
    scale, offset, mean, variance = (value.reshape(shape) for value in features)
    return ((array - mean) / np.sqrt(variance + _epsilon(op)) * scale + offset,)


def _batch_norm_training(
    execution: Execution, op: Operation, operands: Sequence[Any]
) -> Sequence[Any]:
    array, scale, offset = operands
    shape, others = _batch_shape(op, array)
    mean = array.mean(axis=tuple(others), keepdims=True)
    variance = ((array - mean) ** 2).mean(axis=tuple(others), keepdims=True)
    normal = (array - mean) / np.sqrt(variance + _epsilon(op))
    output = normal * scale.reshape(shape) + offset.reshape(shape)
    return output, mean.reshape(-1), variance.reshape(-1)


def _batch_norm_grad(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    array, scale, mean, variance, grad = operands
    shape, others = _batch_shape(op, array)
    axes = tuple(others)
    inverse = 1 / np.sqrt(variance.reshape(shape) + _epsilon(op))
    normal = (array - mean.reshape(shape)) * inverse
    grad_scale = (grad * normal).sum(axis=axes, keepdims=True)
    grad_offset = grad.sum(axis=axes, keepdims=True)
    count = array.size / array.shape[integer(op, "feature_index")]
    centred = grad - grad_offset / count - normal * grad_scale / count
    return scale.reshape(shape) * inverse * centred, grad_scale.reshape(-1), grad_offset.reshape(-1)


NORMALIZATION: dict[str, Function] = {
    "stablehlo.batch_norm_grad": _batch_norm_grad,
    "stablehlo.batch_norm_inference": _batch_norm_inference,
    "stablehlo.batch_norm_training": _batch_norm_training,
}
"""Operations of this module by name."""
