"""Tensors that are made from nothing, for `ttir-to-d2m`; constants are in `ttir_to_d2m`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.ir import Operation

from ttmlir.dialects.definition.table_ops import TableOperation
from ttmlir.ir.tensor_types import element_type, limits_of, value_shape
from ttmlir.layout.errors import LayoutError
from ttmlir.passes.d2m.frontend.ttir_to_d2m import OTHER_PIPELINE, Conversion, RuleTable
from ttmlir.passes.d2m.frontend.ttir_to_d2m_builder import (
    MOST_CONSTANTS,
    DeviceTensor,
    matrix_shape,
)
from ttmlir.passes.d2m.frontend.ttir_to_d2m_movement import broadcast


def _convert_arange(conversion: Conversion, op: Operation) -> DeviceTensor:
    """A constant along one dimension, repeated along all others."""
    assert isinstance(op, TableOperation)
    parameters = cast("dict[str, int]", op.parameters())
    shape, element = value_shape(op.results[0]), element_type(op.results[0])
    dim = parameters["arange_dimension"] % len(shape)
    numbers: Sequence[int] = range(parameters["start"], parameters["end"], parameters["step"])
    if len(numbers) > MOST_CONSTANTS:
        raise LayoutError(f"has more than {MOST_CONSTANTS} numbers; {OTHER_PIPELINE}")
    lowest, highest = limits_of(element)
    if numbers and (min(numbers) < lowest or max(numbers) > highest):
        raise LayoutError(
            f"counts from {numbers[0]} to {numbers[-1]}, which {element} does not hold; use a "
            "wider type"
        )
    extents = [extent if n == dim else 1 for n, extent in enumerate(shape)]
    row = conversion.builder.load_constant(element, extents, numbers)
    target = matrix_shape(shape)
    return row if row.shape == target else broadcast(row, target)


RULES: RuleTable = {"ttir.arange": _convert_arange}
"""Rules by the full name of the operation."""
