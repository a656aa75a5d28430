"""Tensors that are made from nothing, for `ttir-to-d2m`; constants are in `ttir_to_d2m`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import AnyFloat, TensorType
from xdsl.ir import Operation

from ttmlir.dialects.definition.row_ops import RowOperation
from ttmlir.ir.tensor_types import element_type, value_shape
from ttmlir.layout.errors import LayoutError
from ttmlir.mlir.attributes.elements import ElementsType, elements_of
from ttmlir.passes.d2m.frontend.ttir_to_d2m import OTHER_ROAD, Conversion, RuleTable
from ttmlir.passes.d2m.frontend.ttir_to_d2m_builder import DeviceTensor, matrix_shape
from ttmlir.passes.d2m.frontend.ttir_to_d2m_movement import broadcast

_MOST = 1 << 20
"""Numbers of an `arange` that are made."""


def _convert_arange(conversion: Conversion, op: Operation) -> DeviceTensor:
    """A constant along one dimension, repeated along all others."""
    assert isinstance(op, RowOperation)
    parameters = cast("dict[str, int]", op.parameters())
    shape, element = value_shape(op.results[0]), element_type(op.results[0])
    dim = parameters["arange_dimension"] % len(shape)
    numbers: Sequence[int] = range(parameters["start"], parameters["end"], parameters["step"])
    if len(numbers) > _MOST:
        raise LayoutError(f"has more than {_MOST} numbers; {OTHER_ROAD}")
    type_ = TensorType(element, [extent if n == dim else 1 for n, extent in enumerate(shape)])
    convert = float if isinstance(element, AnyFloat) else int
    values = elements_of(cast("ElementsType", type_), [convert(number) for number in numbers])
    constant = ConstantOp.create(result_types=[type_], properties={"value": values})
    row = conversion.builder.load(conversion.builder.add(constant))
    target = matrix_shape(shape)
    return row if row.shape == target else broadcast(row, target)


RULES: RuleTable = {"ttir.arange": _convert_arange}
"""Rules by the full name of the operation."""
