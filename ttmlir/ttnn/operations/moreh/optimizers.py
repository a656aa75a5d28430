"""Steps of optimizers, as torch's: `ttnn.moreh_sgd`, `ttnn.moreh_adam`, `ttnn.moreh_adamw`."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ttmlir.errors import ArgumentError
from ttmlir.ttnn.operations.arguments import CONFIG, keep, take_tensors
from ttmlir.ttnn.operations.operation import Operation, table_of
from ttmlir.ttnn.tensor.tensor import Tensor


def _require_one_shape(*tensors: Tensor) -> None:
    first = tensors[0]
    for each in tensors[1:]:
        if each.shape != first.shape:
            raise ArgumentError(
                f"parameters, gradients and moments have one shape, not {first.shape} and "
                f"{each.shape}"
            )


def _adam(values: dict[str, Any], *, decouples: bool) -> list[Tensor | None]:
    """The parameter and its moments after a step; the largest second moment with `amsgrad`."""
    tensors = [
        *take_tensors(
            values,
            *("param_in", "grad", "exp_avg_in", "exp_avg_sq_in"),
            optional=("max_exp_avg_sq_in",),
        )
    ]
    _require_one_shape(*tensors)
    param, grad, first, second = (each.array.astype(np.float64) for each in tensors[:4])
    rate, decay = values["lr"], values["weight_decay"]
    beta1, beta2, step = values["beta1"], values["beta2"], values["step"]
    if decouples:
        param = param * (1 - rate * decay)
    else:
        grad = grad + decay * param
    first = beta1 * first + (1 - beta1) * grad
    second = beta2 * second + (1 - beta2) * grad * grad
    largest = second
    if values["amsgrad"] and len(tensors) > 4:
        largest = np.maximum(tensors[4].array, second)
    with np.errstate(all="ignore"):
        correction = np.float64(1 - beta1**step), np.float64(1 - beta2**step)
        size = np.sqrt(largest / correction[1]) + values["eps"]
        param = param - rate * (first / correction[0]) / size
    found = [(param, "param_out"), (first, "exp_avg_out"), (second, "exp_avg_sq_out")]
    made: list[Tensor | None] = [
        keep(array, model, values, output)
        for (array, output), model in zip(found, (tensors[0], *tensors[2:4]), strict=True)
    ]
    if not values["amsgrad"]:
        return [*made, None]
    return [*made, keep(largest, tensors[3], values, "max_exp_avg_sq_out")]


def _sgd(values: dict[str, Any]) -> list[Tensor | None]:
    """The parameter after a step, and the momentum if there is any."""
    tensors = take_tensors(values, "param_in", "grad", optional=("momentum_buffer_in",))
    _require_one_shape(*tensors)
    param, grad = (each.array.astype(np.float64) for each in tensors[:2])
    momentum, made = values["momentum"], None
    grad = grad + values["weight_decay"] * param
    if momentum:
        buffer = grad
        if values["momentum_initialized"]:
            if len(tensors) < 3:
                raise ArgumentError("momentum_buffer_in is missing where momentum_initialized=True")
            buffer = momentum * tensors[2].array + (1 - values["dampening"]) * grad
        grad = grad + momentum * buffer if values["nesterov"] else buffer
        made = keep(
            buffer,
            tensors[-1],
            values,
            "momentum_buffer_out",
            "momentum_buffer_out_memory_config",
        )
    result = param - values["lr"] * grad
    return [keep(result, tensors[0], values, "param_out", "param_out_memory_config"), made]


_OUTPUTS = (
    "max_exp_avg_sq_in=None, param_out=None, exp_avg_out=None, exp_avg_sq_out=None, "
    f"max_exp_avg_sq_out=None, {CONFIG}"
)

OPERATIONS: dict[str, Operation] = table_of(
    Operation(
        "moreh_adam",
        partial(_adam, decouples=False),
        "param_in, grad, exp_avg_in, exp_avg_sq_in, *, lr=0.001, beta1=0.9, beta2=0.999, eps=1e-8, "
        f"weight_decay=0.0, step=0, amsgrad=False, {_OUTPUTS}",
    ),
    Operation(
        "moreh_adamw",
        partial(_adam, decouples=True),
        "param_in, grad, exp_avg_in, exp_avg_sq_in, lr=0.001, beta1=0.9, beta2=0.999, eps=1e-8, "
        f"weight_decay=0.01, step=0, amsgrad=False, *, {_OUTPUTS}",
    ),
    Operation(
        "moreh_sgd",
        _sgd,
        "param_in, grad, momentum_buffer_in=None, param_out=None, momentum_buffer_out=None, "
        "lr=0.001, momentum=0.0, dampening=0.0, weight_decay=0.0, nesterov=False, *, "
        "momentum_initialized, param_out_memory_config=None, "
        "momentum_buffer_out_memory_config=None, compute_kernel_config",
    ),
)
