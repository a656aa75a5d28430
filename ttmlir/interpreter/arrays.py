"""Functions of arrays as what operations compute: the numbers that stand for values of the IR.

An array is named after the element type of the IR, and kept in its compute type: bf16 in float32.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import IndexType, TensorType
from xdsl.ir import Attribute, Operation, SSAValue

from ttmlir.arrays.array import Array
from ttmlir.arrays.carriers import NumPyCarrier
from ttmlir.errors import ArgumentTypeError
from ttmlir.interpreter.execution import Execution, Function, convert_to
from ttmlir.ir.tensor_types import dtype_of, element_of, element_type
from ttmlir.passes.core.ttir_conversion import ArrayFunction
from ttmlir.runtime.tensor import Array as Numbers


class _ComputeCarrier(NumPyCarrier):
    """Numbers in the types that stand for those of the IR."""

    def keep(self, numbers: Numbers, dtype: str) -> Numbers:
        """Numbers in the compute type of an element type, which they may exceed."""
        return in_type(numbers, element_of(dtype))


_CARRIER = _ComputeCarrier()


def in_type(value: Any, element: Attribute) -> Numbers:
    """Numbers in the type that stands for one of the IR."""
    numbers = np.asarray(value)
    if isinstance(element, IndexType):
        return numbers.astype(np.int64)
    converted = convert_to(numbers, element)
    if converted is None:
        raise ArgumentTypeError(f"numbers of type '{element}' cannot be computed with")
    return converted


def array_for(value: SSAValue, numbers: Any) -> Array:
    """What a value of the IR holds, as an array; a number has no dimensions."""
    numbers = np.asarray(numbers)
    return Array(_CARRIER, numbers, numbers.shape, dtype_of(element_of_value(value)))


def element_of_value(value: SSAValue) -> Attribute:
    """The type of the numbers in a tensor, or of a number."""
    return element_type(value) if isinstance(value.type, TensorType) else value.type


def by_arrays(function: ArrayFunction) -> Function:
    """The function of an operation that gives what a function makes of its operands' arrays."""

    def run(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
        arrays = [
            None if numbers is None else array_for(value, numbers)
            for value, numbers in zip(op.operands, operands, strict=True)
        ]
        found = function(op, *arrays)
        return [each.value for each in ([found] if isinstance(found, Array) else found)]

    return run
