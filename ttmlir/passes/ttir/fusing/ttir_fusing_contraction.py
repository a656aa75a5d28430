"""Rules of `ttir-fusing` for products of matrices: what is added, and transposed operands."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from ttmlir.ir.tensor_types import value_shape
from ttmlir.passes.ttir.value_rewriting import (
    adapted,
    either_way,
    inputs_of,
    made_by,
    parameters_of,
    rank_of,
    under,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, IntegerType
    from xdsl.ir import Operation, SSAValue

    from ttmlir.ir.builder import Builder
    from ttmlir.ir.greedy_rewriting import GreedyRewriter, Rule


def _flag(op: Operation, name: str) -> bool:
    return bool(cast("IntegerAttr", op.properties[name]).value.data)


def _linear(op: Operation, builder: Builder) -> SSAValue | None:
    """A product and a bias of its columns."""
    for value, added in either_way(op):
        product, reshape = value, made_by(value, "reshape")
        if reshape is not None and value.has_one_use():
            product = inputs_of(reshape)[0]
        matmul, bias = made_by(product, "matmul"), _bias_of(added, value_shape(op.results[0]))
        if matmul is None or bias is None or not product.has_one_use():
            continue
        if value_shape(value)[-1:] != value_shape(product)[-1:]:
            continue
        if value_shape(value) != value_shape(op.results[0]):
            continue
        builder.location = op.location
        linear = builder.create(
            "linear", (*inputs_of(matmul), bias), product.type, **parameters_of(matmul)
        )
        return builder.reshape(linear, value_shape(op.results[0]))
    return None


def _add_to_matrix(op: Operation, builder: Builder) -> SSAValue | None:
    """A product whose result gets more dimensions to be added: the sum repeats them."""
    for value, other in either_way(op):
        reshape = made_by(value, "reshape")
        product = value if reshape is None else inputs_of(reshape)[0]
        if product is value or made_by(product, "matmul") is None or not value.has_one_use():
            continue
        shape = value_shape(op.results[0])
        if (
            value_shape(other)
            == shape
            == (*(1,) * (len(shape) - rank_of(product)), *value_shape(product))
        ):
            return builder.create("add", (product, other), op.results[0].type)
    return None


def _bias_of(value: SSAValue, shape: Sequence[int]) -> SSAValue | None:
    """The tensor of one dimension that is repeated along all others; None for other values."""
    value = under(value, "broadcast")
    inner = made_by(value, "reshape")
    if inner is not None and len(value_shape(inner.operands[0])) == 1:
        value = inner.operands[0]
    extents = value_shape(value)
    if any(extent != 1 for extent in extents[:-1]) or extents[-1:] != shape[-1:] or not shape:
        return None
    return value


def _transposed(op: Operation, rewriter: GreedyRewriter) -> bool:
    """Matrices that are transposed before a product alone."""
    for index, name in ((0, "transpose_a"), (1, "transpose_b")):
        moved = made_by(op.operands[index], "permute")
        if moved is None or not _swaps_last(moved):
            continue
        from xdsl.dialects.builtin import IntegerAttr

        op.properties[name] = IntegerAttr.from_bool(not _flag(op, name))
        rewriter.set_operand(op, index, moved.operands[0])
        rewriter.add(moved)
        return True
    return False


def _swaps_last(op: Operation) -> bool:
    order = tuple(cast("DenseArrayBase[IntegerType]", op.properties["permutation"]).get_values())
    rank = len(order)
    return rank >= 2 and order == (*range(rank - 2), rank - 1, rank - 2)


RULES: Mapping[str, Sequence[Rule]] = {
    **adapted({"add": [_linear, _add_to_matrix]}),
    "ttir.matmul": (_transposed,),
    "ttir.linear": (_transposed,),
}
"""Rules by the name of the operation."""
