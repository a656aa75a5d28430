"""Golden functions of activations, as `ttnn.operations.activations`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ttmlir.errors import UsageError
from ttmlir.ttnn.operations.elementwise.activations import UnaryOpType, UnaryWithParam
from ttmlir.ttnn.operations.golden.functions import get_golden_function
from ttmlir.ttnn.registry import find_operation


def get_golden_function_for_activation(activation: Any) -> Callable[..., Any] | None:
    """The function of torch for the name, the type or the chain link of an activation.

    None for None; RuntimeError for what is no activation.
    """
    if activation is None:
        return None
    if isinstance(activation, UnaryWithParam):
        activation = activation.op_type
    if isinstance(activation, UnaryOpType):
        activation = activation.name.lower()
    if not isinstance(activation, str):
        raise UsageError(f"{activation!r} is not supported as activation function")
    if activation == "gelu_tanh":
        from torch.nn.functional import gelu

        return partial(gelu, approximate="tanh")
    try:
        operation = find_operation(activation.removesuffix("_approx"))
    except KeyError:
        raise UsageError(f"Unsupported activation: {activation}") from None
    return get_golden_function(operation)
