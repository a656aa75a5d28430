"""Regions of elementwise operations, computed on NumPy arrays while a program is compiled."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import AnyFloat, IntegerType
from xdsl.ir import Attribute, Data, Operation, Region, SSAValue

from ttmlir.ir.constants import splat_number
from ttmlir.ir.tensor_types import element_type, is_boolean
from ttmlir.optable import named_on_truth, row
from ttmlir.optable.row import Row
from ttmlir.passes.stablehlo.stablehlo_scalars import elementwise_row

_LOGIC = named_on_truth("stablehlo")


def array_type(element: Attribute) -> np.dtype[Any]:
    """What numbers of a type are computed in: floating point ones in float64."""
    if isinstance(element, AnyFloat):
        return np.dtype(np.float64)
    if is_boolean(element):
        return np.dtype(np.bool_)
    integer = cast("IntegerType", element)
    kind = "u" if integer.signedness.data.name == "UNSIGNED" else "i"
    return np.dtype(f"{kind}{max(1, integer.width.data // 8)}")


def evaluate(
    region: Region, arguments: Sequence[Any], allowed: Collection[Row] | None = None
) -> list[Any] | None:
    """The results of a region on arrays.

    None if it has operations other than constants and elementwise ones, of the `allowed` rows if
    these are given.
    """
    known: dict[SSAValue, Any] = dict(zip(region.block.args, arguments, strict=True))
    for op in region.block.ops:
        if op.name == "stablehlo.constant":
            number = splat_number(op.results[0])
            if number is None:
                return None
            known[op.results[0]] = np.asarray(number, array_type(element_type(op.results[0])))
            continue
        operands = [known.get(value) for value in op.operands]
        if any(operand is None for operand in operands):
            return None
        if op.name == "stablehlo.return":
            shape = np.shape(arguments[0])
            return [np.broadcast_to(np.asarray(operand), shape) for operand in operands]
        result = compute_elementwise(op, operands, allowed)
        if result is None:
            return None
        known[op.results[0]] = np.asarray(result).astype(array_type(element_type(op.results[0])))
    return None


def compute_elementwise(
    op: Operation, operands: Sequence[Any], allowed: Collection[Row] | None = None
) -> Any:
    """What an operation on each element makes of arrays; None for other operations.

    Only operations of the `allowed` rows are computed if these are given.
    """
    if allowed is None and op.name == "stablehlo.convert":
        return operands[0]
    if allowed is None and op.name == "stablehlo.clamp":
        low, inner, high = operands
        return row("minimum").reference(np, row("maximum").reference(np, low, inner), high)
    if is_total_order(op):
        operands = [_in_total_order(operand) for operand in operands]
    is_truth = all(is_boolean(element_type(value)) for value in op.operands)
    found = (_LOGIC.get(op.name) if is_truth else None) or elementwise_row(op)
    if found is None or found.takes_types or (allowed is not None and found not in allowed):
        return None
    return found.reference(np, *operands)


def is_total_order(op: Operation) -> bool:
    """True for a comparison in which -0 is less than 0, and NaN has a place at both ends."""
    kind = op.properties.get("compare_type")
    return kind is not None and cast("Data[str]", kind).data == "TOTALORDER"


def _in_total_order(array: Any) -> Any:
    """Integers in the order of the bits of float64; other numbers as they are."""
    if array.dtype.kind != "f":
        return array
    bits = np.ascontiguousarray(array).view(np.int64).reshape(array.shape)
    return np.where(bits < 0, np.int64(np.iinfo(np.int64).min) - bits - 1, bits)
