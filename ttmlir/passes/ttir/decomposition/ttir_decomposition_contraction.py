"""Rules of general sums of products, for `ttir-decomposition`.

A general product is a product of matrices after its operands are brought to the shape (batch...,
rows, columns). Dimensions that stand side by side are merged before the others change places: of a
tensor in row-major order, that moves no element, nor does a change of places by itself.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Operation, SSAValue

from ttmlir.dialects.ttir import ContractionOp
from ttmlir.ir.builder import Builder
from ttmlir.ir.rewriting import replace
from ttmlir.ir.tensor_types import element_type, value_shape
from ttmlir.optable.contraction import DotDimensions
from ttmlir.optable.op_definition import Shape
from ttmlir.passes.core.ttir_conversion import ConversionRule


def _dot_general(op: Operation) -> None:
    builder = Builder.before(op)
    assert isinstance(op, ContractionOp)
    lhs, rhs = op.inputs
    dims = cast("dict[str, Shape]", op.parameters())
    terms = sorted(
        zip(dims["contract_dims_lhs"], dims["contract_dims_rhs"], strict=True),
        # The larger operand keeps the order of its dimensions.
        key=lambda pair: pair[_elements(lhs) < _elements(rhs)],
    )
    left = DotDimensions.of(
        len(value_shape(lhs)), dims["batch_dims_lhs"], tuple(pair[0] for pair in terms)
    )
    right = DotDimensions.of(
        len(value_shape(rhs)), dims["batch_dims_rhs"], tuple(pair[1] for pair in terms)
    )
    a = _matrices(builder, lhs, left.batch, left.free, left.contract)
    b = _matrices(builder, rhs, right.batch, right.contract, right.free)
    type_ = TensorType(element_type(op.results[0]), (*value_shape(a)[:-1], value_shape(b)[-1]))
    product = builder.create("matmul", (a, b), type_)
    replace(op, builder.reshape(product, value_shape(op.results[0])))


def _elements(value: SSAValue) -> int:
    return math.prod(value_shape(value))


def _matrices(
    builder: Builder,
    value: SSAValue,
    batch: Sequence[int],
    rows: Sequence[int],
    columns: Sequence[int],
) -> SSAValue:
    """The operand as a batch of matrices whose rows and columns are these dimensions, merged."""
    extents = value_shape(value)
    parts = [[dim] for dim in batch] + _runs(rows) + _runs(columns)
    places = sorted(parts)
    order = [places.index(part) for part in parts]
    if order != sorted(order):
        value = builder.reshape(value, [math.prod(extents[dim] for dim in part) for part in places])
        value = builder.permute(value, order)
    matrix = (math.prod(extents[dim] for dim in dims) for dims in (rows, columns))
    return builder.reshape(value, [*(extents[dim] for dim in batch), *matrix])


def _runs(dims: Sequence[int]) -> list[list[int]]:
    """Dimensions in lists of those that follow each other in the tensor as well."""
    runs: list[list[int]] = []
    for dim in dims:
        if runs and runs[-1][-1] + 1 == dim:
            runs[-1].append(dim)
        else:
            runs.append([dim])
    return runs


RULES: dict[str, ConversionRule] = {"ttir.dot_general": _dot_general}
"""Rules by the full name of the operation."""
