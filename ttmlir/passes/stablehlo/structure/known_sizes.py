"""Sizes that a program of StableHLO computes from constants and from extents of static shapes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, cast

from xdsl.dialects.builtin import DYNAMIC_INDEX, IntegerType
from xdsl.ir import Operation, SSAValue

from ttmlir.dialects.stablehlo.text.form import integer, integers
from ttmlir.ir.constants import constant_numbers
from ttmlir.ir.rewriting import refuse_to_legalize
from ttmlir.ir.tensor_types import element_type, value_shape

MOST = 64
"""Elements of the largest tensor that is computed."""
_SAME_NUMBERS = ("stablehlo.convert", "stablehlo.reshape", "stablehlo.broadcast_in_dim")


class KnownSizes:
    """Small tensors of integers whose elements are known while compiling."""

    def __init__(self) -> None:
        """Nothing is known."""
        self._known: dict[SSAValue, tuple[int, ...] | None] = {}

    def find(self, value: SSAValue) -> tuple[int, ...] | None:
        """The elements in the order of rows; None if they are not known."""
        if value not in self._known:
            shape = value_shape(value)
            owner = value.owner
            is_small = DYNAMIC_INDEX not in shape and math.prod(shape) <= MOST
            known = None
            if isinstance(owner, Operation) and is_small:
                known = self._compute(owner, shape)
            self._known[value] = known
        return self._known[value]

    def numbers(self, op: Operation, number: int, what: str) -> tuple[int, ...]:
        """The elements of an operand, which `what` says in the message if they are not known."""
        found = self.find(op.operands[number])
        if found is None:
            refuse_to_legalize(
                op,
                f"the {what} depend on what the program computes, and programs of devices have "
                "buffers of fixed sizes; supported are constants, extents of static shapes and "
                "what is computed from these",
            )
        return found

    def _compute(self, op: Operation, shape: Sequence[int]) -> tuple[int, ...] | None:
        if op.name == "stablehlo.constant":
            return cast("tuple[int, ...] | None", constant_numbers(op.results[0]))
        if op.name == "stablehlo.get_dimension_size":
            extent = value_shape(op.operands[0])[integer(op, "dimension")]
            return (extent,) if extent >= 0 else None
        if len(op.results) != 1:
            return None
        operands = [self.find(value) for value in op.operands]
        if None in operands or not operands:
            return None
        return self._computed(op, cast("list[tuple[int, ...]]", operands), shape)

    def _computed(
        self, op: Operation, operands: list[tuple[int, ...]], shape: Sequence[int]
    ) -> tuple[int, ...] | None:
        if op.name == "stablehlo.concatenate":
            # Sizes are vectors, and other tensors are none.
            return tuple(n for part in operands for n in part) if len(shape) == 1 else None
        if op.name == "stablehlo.slice" and len(shape) == 1:
            names = ("start_indices", "limit_indices", "strides")
            (start,), (limit,), (stride,) = (integers(op, name) for name in names)
            return operands[0][start:limit:stride]
        if op.name in _SAME_NUMBERS:
            count = math.prod(shape)
            if len(operands[0]) == count:
                return operands[0]
            return operands[0] * count if len(operands[0]) == 1 else None
        return _elementwise(op, operands)


def _elementwise(op: Operation, operands: list[tuple[int, ...]]) -> tuple[int, ...] | None:
    """What an operation on each element makes of integers; None for other operations."""
    values = (*op.operands, *op.results)
    if not all(isinstance(element_type(value), IntegerType) for value in values):
        return None
    # NumPy is loaded only for programs that compute sizes.
    import numpy as np

    from ttmlir.passes.stablehlo.regions.evaluation import array_type, compute_elementwise

    arrays = [
        np.array(numbers, array_type(element_type(value)))
        for numbers, value in zip(operands, op.operands, strict=True)
    ]
    with np.errstate(all="ignore"):
        result: Any = compute_elementwise(op, arrays)
    if result is None:
        return None
    found = np.asarray(result).astype(array_type(element_type(op.results[0])))
    return tuple(int(number) for number in found.reshape(-1))
