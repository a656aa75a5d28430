"""Calls, constants and destinations: what surrounds the operations that compute."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import FloatAttr, IntegerAttr
from xdsl.ir import Attribute, Operation

from ttmlir.interpreter.execution import Execution
from ttmlir.interpreter.values import Function, compute_dtype, constant_array, tensor_type
from ttmlir.mlir.reporting.diagnostics import OpError


def _call(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    callee = cast("Any", op.properties["callee"]).root_reference.data
    return execution.call(callee, operands, caller=op)


def empty_tensor(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    """Memory of a result that is not read before it is written, without memory for each element."""
    type_ = tensor_type(op.results[0].type)
    if type_ is None:
        raise OpError(op, "the shape of its result is not known; give tensors static shapes")
    return (np.broadcast_to(np.zeros((), compute_dtype(type_.element_type)), type_.get_shape()),)


def _constant(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    value: Attribute = op.properties["value"]
    if isinstance(value, IntegerAttr | FloatAttr):
        scalar = cast("IntegerAttr | FloatAttr", value)
        return (np.asarray(scalar.value.data, compute_dtype(scalar.type)),)
    return (constant_array(op, value),)


FUNCTIONS: dict[str, Function] = {
    "arith.constant": _constant,
    "func.call": _call,
    "tensor.empty": empty_tensor,
}
"""Operations of arith, func and tensor by name."""
