"""Calls and constants: what surrounds the operations that compute."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import FloatAttr, IntegerAttr
from xdsl.ir import Attribute, Operation

from ttmlir.interpreter.execution import Execution
from ttmlir.interpreter.values import Function, compute_dtype, constant_array


def _call(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    callee = cast("Any", op.properties["callee"]).root_reference.data
    return execution.call(callee, operands, caller=op)


def constant(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    """A constant of arith."""
    value: Attribute = op.properties["value"]
    if isinstance(value, IntegerAttr | FloatAttr):
        scalar = cast("IntegerAttr | FloatAttr", value)
        return (np.asarray(scalar.value.data, compute_dtype(scalar.type)),)
    return (constant_array(op, value),)


FUNCTIONS: dict[str, Function] = {"func.call": _call}
"""Operations of func by name."""
