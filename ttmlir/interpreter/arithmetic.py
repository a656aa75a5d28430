"""The operations of arith and math, on numbers and on tensors, in place by place.

Numbers inside of loops are arrays too: of all places of the loop at once. What the operations
compute is what the conversion to ttir says, but for what ttir has less exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from xdsl.ir import Operation

from ttmlir.errors import ArgumentTypeError
from ttmlir.interpreter.arrays import array_for, element_of_value, in_type
from ttmlir.interpreter.execution import Execution, Function, compute_dtype
from ttmlir.interpreter.structure import constant
from ttmlir.ir.tensor_types import dtype_of
from ttmlir.passes.linalg.convert_arith_to_ttir import CONVERTED, compute


def _run(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    arrays = [array_for(*pair) for pair in zip(op.operands, operands, strict=True)]
    return (compute(op, arrays, dtype_of(element_of_value(op.results[0]))).value,)


def _exactly(function: Callable[..., Any]) -> Function:
    """A function of NumPy, in the type of the result."""

    def run(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
        arrays = map(np.asarray, operands)
        return (in_type(function(*arrays), element_of_value(op.results[0])),)

    return run


def _bitcast(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    [value] = map(np.asarray, operands)
    dtype = compute_dtype(element_of_value(op.results[0]))
    if dtype is None or dtype.itemsize != value.dtype.itemsize:
        raise ArgumentTypeError("bits can be taken for numbers of the same size only")
    return (value.view(dtype),)


ARITH_AND_MATH: dict[str, Function] = {
    **dict.fromkeys(CONVERTED, _run),
    "arith.bitcast": _bitcast,
    "arith.constant": constant,
    "math.copysign": _exactly(np.copysign),
    "math.log10": _exactly(np.log10),
    "math.log2": _exactly(np.log2),
}
