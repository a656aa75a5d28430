"""Rules of `ttir-decomposition` for general sums of products of 2026.

A general product is a product of matrices whose batches, rows and columns are merged dimensions:
both operands are permuted and reshaped first, whatever their order is.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import TensorType

from ttmlir.ir.tensor_types import element_type, value_shape

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from xdsl.dialects.builtin import DenseArrayBase, IntegerType
    from xdsl.ir import Operation, SSAValue

    from ttmlir.ir.builder import Builder
    from ttmlir.ir.greedy_rewriting import GreedyRewriter, Rule


def _dims(op: Operation, name: str) -> tuple[int, ...]:
    return tuple(cast("DenseArrayBase[IntegerType]", op.properties[name]).get_values())


def _dot_general(op: Operation, rewriter: GreedyRewriter) -> bool:
    """A product of matrices between changes of shape."""
    lhs, rhs = op.operands
    build = rewriter.builder(op)
    sides: list[tuple[SSAValue, tuple[int, ...], tuple[int, ...], tuple[int, ...]]] = []
    for value, name in ((lhs, "lhs"), (rhs, "rhs")):
        batch, contract = _dims(op, f"batch_dims_{name}"), _dims(op, f"contract_dims_{name}")
        free = tuple(
            dim for dim in range(len(value_shape(value))) if dim not in (*batch, *contract)
        )
        sides.append((value, batch, free, contract))
    (lhs, *left), (rhs, *right) = sides
    left_batch, rows, left_sum = left
    right_batch, columns, right_sum = right
    a = _permute(build, lhs, (*left_batch, *rows, *left_sum))
    b = _permute(build, rhs, (*right_batch, *right_sum, *columns))
    a = _merge(build, a, lhs, left_batch, rows, left_sum)
    b = _merge(build, b, rhs, right_batch, right_sum, columns)
    shape = (*value_shape(a)[:-1], value_shape(b)[-1])
    result = op.results[0]
    product = build.create("matmul", (a, b), TensorType(element_type(result), shape))
    cast("Operation", product.owner).attributes.update(op.attributes)
    shape = value_shape(result)
    type_ = TensorType(element_type(result), shape)
    rewriter.replace(op, build.create("reshape", (product,), type_, shape=shape))
    return True


def _permute(build: Builder, value: SSAValue, order: Sequence[int]) -> SSAValue:
    extents = value_shape(value)
    type_ = TensorType(element_type(value), [extents[dim] for dim in order])
    return build.create("permute", (value,), type_, permutation=tuple(order))


def _merge(
    build: Builder, moved: SSAValue, value: SSAValue, batch: Sequence[int], *groups: Sequence[int]
) -> SSAValue:
    """The batches, and each group of dimensions as one."""
    extents = value_shape(value)
    shape = [extents[dim] for dim in batch]
    shape += [math.prod(extents[dim] for dim in group) for group in groups]
    type_ = TensorType(element_type(value), shape)
    return build.create("reshape", (moved,), type_, shape=tuple(shape))


RULES: Mapping[str, Sequence[Rule]] = {"ttir.dot_general": (_dot_general,)}
"""Rules by the name of the operation."""
