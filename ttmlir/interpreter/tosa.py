"""The operations of tosa: constants and control flow here, all others by their array functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import FloatAttr, IntegerAttr
from xdsl.ir import Operation

from ttmlir.interpreter.arrays import by_arrays
from ttmlir.interpreter.execution import Execution, Function, constant_array
from ttmlir.interpreter.structure import run_if, run_while
from ttmlir.ir.tensor_types import element_type
from ttmlir.passes.tosa.convert_tosa_to_ttir_rules import FUNCTIONS as ON_ARRAYS
from ttmlir.passes.tosa.convert_tosa_to_ttir_rules import clamp_names

_Operands = Sequence[Any]


def _constant(execution: Execution, op: Operation, operands: _Operands) -> _Operands:
    value = op.properties.get("value")
    return (constant_array(op, op.properties["values"] if value is None else value),)


def _no_value(execution: Execution, op: Operation, operands: _Operands) -> _Operands:
    """Shapes are read where they are used."""
    return (None,)


def _clamp(execution: Execution, op: Operation, operands: _Operands) -> _Operands:
    """Between any bounds; the conversion has those that f32 holds."""
    bounds = (cast("FloatAttr | IntegerAttr", op.properties[name]) for name in clamp_names(op))
    low, high = (bound.value.data for bound in bounds)
    return (np.minimum(np.maximum(operands[0], low), high),)


FUNCTIONS: dict[str, Function] = {
    **{name: by_arrays(function) for name, function in ON_ARRAYS.items()},
    "tosa.clamp": _clamp,
    "tosa.cond_if": run_if,
    "tosa.const": _constant,
    "tosa.const_shape": _no_value,
    "tosa.while_loop": run_while,
}
"""Operations of tosa by name."""


def can_interpret(op: Operation) -> bool:
    """False for what the conversion refuses for the type of its elements."""
    return op.name != "tosa.avg_pool2d" or "f" in str(element_type(op.operands[0]))
