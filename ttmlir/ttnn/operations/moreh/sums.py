"""Sums, means, norms and their gradients, along dimensions, as `ttnn.moreh_sum`."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ttmlir.errors import ArgumentError, ArgumentTypeError
from ttmlir.runtime.tensor import Array
from ttmlir.ttnn.operations.arguments import (
    CONFIG,
    keep,
    read_dims,
    read_number,
    read_shape,
    reduce_shape,
    restore_dims,
    take_tensors,
)
from ttmlir.ttnn.operations.operation import (
    Operation,
    as_dimension,
    as_flag,
    require_tensor,
    store,
    table_of,
)
from ttmlir.ttnn.operations.signature import spell_value
from ttmlir.ttnn.tensor.tensor import Tensor


def _sum(values: dict[str, Any]) -> Tensor:
    (tensor,) = take_tensors(values, "input")
    wide = np.float64 if tensor.dtype.facts.is_float else np.int64
    return _reduce(tensor, values, partial(np.sum, dtype=wide))


def _mean(values: dict[str, Any]) -> Tensor:
    (tensor,) = take_tensors(values, "input")
    if values["divisor"] is not None:
        raise ArgumentError("divisor is not taken; use ttnn.moreh_sum and ttnn.div")
    return _reduce(tensor, values, partial(np.mean, dtype=np.float64))


def _reduce(tensor: Tensor, values: dict[str, Any], function: Callable[..., Array]) -> Tensor:
    dims = read_dims(values["dim"], len(tensor.shape))
    shape = reduce_shape(tensor.shape, dims, keepdim=as_flag(values["keepdim"], "keepdim"))
    with np.errstate(all="ignore"):
        return keep(np.asarray(function(tensor.array, axis=dims)).reshape(shape), tensor, values)


def _norm(values: dict[str, Any]) -> Tensor:
    """The p-norm: the largest size for infinity, the smallest for -infinity, a count for 0."""
    (tensor,) = take_tensors(values, "input")
    order = read_number(values["p"], "p")
    return _reduce(tensor, values, partial(measure, order=order))


def measure(array: Array, *, order: float, axis: tuple[int, ...] | None = None) -> Array:
    """The p-norm of numbers along dimensions."""
    sizes = np.abs(array)
    if math.isinf(order):
        return np.max(sizes, axis=axis) if order > 0 else np.min(sizes, axis=axis)
    if order == 0:
        return np.asarray(np.count_nonzero(sizes, axis=axis))
    total = np.sum(np.power(sizes.astype(np.float64), order), axis=axis)
    return np.power(total, 1 / order)


def _abs_pow(values: dict[str, Any]) -> Tensor:
    (tensor,) = take_tensors(values, "input")
    order = read_number(values["p"], "p")
    with np.errstate(all="ignore"):
        return keep(np.power(np.abs(tensor.array).astype(np.float64), order), tensor, values)


def _spread(values: dict[str, Any], shape: tuple[int, ...]) -> tuple[Array, int]:
    """A gradient of a reduction for each number that was reduced, and how many those are."""
    (grad,) = take_tensors(values, "output_grad")
    dims = read_dims(values["dim"], len(shape))
    keepdim = as_flag(values["keepdim"], "keepdim")
    array = restore_dims(grad.array, shape, dims, keepdim=keepdim, name="output_grad")
    return np.broadcast_to(array, shape), math.prod(shape[dim] for dim in dims)


def _sum_backward(values: dict[str, Any]) -> Tensor:
    given = values["input"] if values["input"] is not None else values["input_grad"]
    if given is None:
        raise ArgumentError("either input or input_grad is given: the result has its shape")
    model = require_tensor(given, "input")
    spread, _ = _spread(values, tuple(model.shape))
    return keep(spread, values["output_grad"], values, "input_grad")


def _mean_backward(values: dict[str, Any]) -> Tensor:
    shape = values["input_grad_shape"]
    if shape is None and values["input_grad"] is None:
        raise ArgumentError("either input_grad_shape or input_grad is given")
    if shape is None:
        shape = require_tensor(values["input_grad"], "input_grad").shape
    spread, count = _spread(values, read_shape(shape, "input_grad_shape"))
    return keep(spread / count, values["output_grad"], values, "input_grad")


def _norm_backward(values: dict[str, Any]) -> Tensor:
    """Of a p-norm, by its operand, its result and the gradient of that."""
    tensor, output, _ = take_tensors(values, "input", "output", "output_grad")
    order, shape = read_number(values["p"], "p"), tuple(tensor.shape)
    spread, _ = _spread(values, shape)
    dims = read_dims(values["dim"], len(shape))
    keepdim = as_flag(values["keepdim"], "keepdim")
    norm = restore_dims(output.array, shape, dims, keepdim=keepdim, name="output")
    norm, x = norm.astype(np.float64), tensor.array.astype(np.float64)
    with np.errstate(all="ignore"):
        if order == 0:
            result = np.zeros_like(x)
        elif math.isinf(order):
            # Numbers of the same size share the gradient.
            found = np.abs(x) == norm
            result = np.sign(x) * found * spread / np.sum(found, axis=dims, keepdims=True)
        else:
            result = np.sign(x) * np.power(np.abs(x) / norm, order - 1) * spread
            result = np.where(norm == 0, 0.0, result)
    return keep(result, tensor, values, "input_grad")


def _cumsum(values: dict[str, Any]) -> Tensor:
    (tensor,) = take_tensors(values, "input")
    dim = as_dimension(values["dim"], len(tensor.shape))
    wide = np.float64 if tensor.dtype.facts.is_float else np.int64
    return keep(np.cumsum(tensor.array, axis=dim, dtype=wide), tensor, values)


def _cumsum_backward(values: dict[str, Any]) -> Tensor:
    (grad,) = take_tensors(values, "output_grad")
    dim = as_dimension(values["dim"], len(grad.shape))
    total = np.cumsum(np.flip(grad.array, dim), axis=dim, dtype=np.float64)
    return keep(np.flip(total, dim), grad, values, "input_grad")


def _clip_grad_norm(values: dict[str, Any]) -> Tensor:
    """The norm of all gradients together, which are scaled so that it is `max_norm` at most."""
    given: Any = values["inputs"]
    if not isinstance(given, list | tuple):
        raise ArgumentTypeError(f"inputs is a list of tensors, not {spell_value(given)}")
    listed: list[Any] = [*given]
    tensors = [require_tensor(each, "inputs") for each in listed]
    if not tensors:
        raise ArgumentError("inputs is empty; it has at least one gradient")
    order = read_number(values["norm_type"], "norm_type")
    limit = read_number(values["max_norm"], "max_norm")
    norms = np.asarray([measure(each.array, order=order) for each in tensors])
    total = measure(norms, order=order)
    if values["error_if_nonfinite"] and not np.isfinite(total):
        raise ArgumentError(
            f"the norm of the gradients is {total}; error_if_nonfinite=False scales them anyway"
        )
    with np.errstate(all="ignore"):
        factor = np.minimum(limit / (total + 1e-6), 1.0)
        for each in tensors:
            store(each.array * factor, (each,), device=each.device(), output_tensor=each)
    return keep(np.full((1, 1), total), tensors[0], values, "total_norm")


_BACKWARD = "*, dim=None, keepdim=False"

OPERATIONS: dict[str, Operation] = table_of(
    Operation("moreh_sum", _sum, f"input, dim=None, *, keepdim=False, output=None, {CONFIG}"),
    Operation(
        "moreh_mean",
        _mean,
        f"input, *, dim=None, keepdim=False, divisor=None, output=None, {CONFIG}",
    ),
    Operation("moreh_norm", _norm, f"input, p, *, dim=None, keepdim=False, output=None, {CONFIG}"),
    Operation("moreh_abs_pow", _abs_pow, f"input, p, *, output=None, {CONFIG}"),
    Operation(
        "moreh_sum_backward",
        _sum_backward,
        f"output_grad, *, input=None, dim=None, keepdim=False, input_grad=None, {CONFIG}",
    ),
    Operation(
        "moreh_mean_backward",
        _mean_backward,
        f"output_grad, {_BACKWARD}, input_grad_shape=None, input_grad=None, {CONFIG}",
    ),
    Operation(
        "moreh_norm_backward",
        _norm_backward,
        f"input, output, output_grad, p, {_BACKWARD}, input_grad=None, {CONFIG}",
    ),
    Operation("moreh_cumsum", _cumsum, "input, dim, *, output=None, memory_config=None"),
    Operation(
        "moreh_cumsum_backward",
        _cumsum_backward,
        "output_grad, dim, *, input_grad=None, memory_config=None",
    ),
    Operation(
        "moreh_clip_grad_norm",
        _clip_grad_norm,
        f"inputs, max_norm, norm_type=2.0, error_if_nonfinite=False, *, total_norm=None, {CONFIG}",
    ),
)
