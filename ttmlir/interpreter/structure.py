"""Calls, loops of calls and constants: what surrounds the operations that compute."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import FloatAttr, IntegerAttr
from xdsl.ir import Attribute, Operation

from ttmlir.dialects.definition.control import CaseOp, WhileOp
from ttmlir.interpreter.execution import Execution
from ttmlir.interpreter.values import Function, compute_dtype, constant_array
from ttmlir.limits import ITERATIONS_VARIABLE, iteration_limit


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


def _while(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    assert isinstance(op, WhileOp)
    values, count = list(operands), len(op.results)
    iterations = 0
    while _goes_on(execution, op, values, iterations):
        values[:count] = execution.call(op.body, values, caller=op)
        iterations += 1
    return values[:count]


def _goes_on(execution: Execution, op: WhileOp, values: Sequence[Any], iterations: int) -> bool:
    if op.condition is None:
        return iterations < (op.trip_count or 0)
    if iterations > iteration_limit():
        raise ValueError(
            f"the loop has made {iterations} iterations; {ITERATIONS_VARIABLE} sets another limit"
        )
    [answer] = execution.call(op.condition, values, caller=op)
    return bool(np.asarray(answer).reshape(()))


def _case(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    assert isinstance(op, CaseOp)
    names, index = op.callees(), int(np.asarray(operands[0]).reshape(()))
    name = names[index if 0 <= index < len(names) else -1]
    return execution.call(name, operands[1:], caller=op)


CONTROL: dict[str, Function] = {"ttir.case": _case, "ttir.while": _while}
"""Loops and branches of ttir by name."""
FUNCTIONS: dict[str, Function] = {"func.call": _call}
"""Operations of func by name."""
