"""Rules of `ttir-fusing` for products of matrices: biases and transposed operands."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from ttmlir.ir.tensor_types import value_shape
from ttmlir.passes.ttir.ttir_fusing_elementwise import maker

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, IntegerType
    from xdsl.ir import Operation, SSAValue

    from ttmlir.ir.greedy_rewriting import GreedyRewriter, Rule


def _flag(op: Operation, name: str) -> bool:
    return bool(cast("IntegerAttr", op.properties[name]).value.data)


def _bias(op: Operation, rewriter: GreedyRewriter) -> bool:
    """A product and a bias along its columns."""
    for index in (0, 1):
        product = maker(op.operands[index], "ttir.matmul")
        if product is None or not op.operands[index].has_one_use():
            continue
        if op.operands[index].type != op.results[0].type:
            continue
        bias = _bias_of(op.operands[1 - index], value_shape(op.results[0]))
        if bias is None:
            continue
        build = rewriter.builder(op)
        flags = {name: _flag(product, name) for name in ("transpose_a", "transpose_b")}
        new = build.create("linear", (*product.operands, bias), op.results[0].type, **flags)
        rewriter.replace(op, new)
        return True
    return False


def _bias_of(value: SSAValue, shape: Sequence[int]) -> SSAValue | None:
    """The tensor of one dimension that is repeated along all others; None for other values."""
    inner = maker(value, "ttir.broadcast")
    value = value if inner is None else inner.operands[0]
    inner = maker(value, "ttir.reshape")
    if inner is not None and len(value_shape(inner.operands[0])) == 1:
        value = inner.operands[0]
    extents = value_shape(value)
    if any(extent != 1 for extent in extents[:-1]) or not extents or extents[-1] != shape[-1]:
        return None
    return value


def _transposed(op: Operation, rewriter: GreedyRewriter) -> bool:
    """Matrices that are transposed before a product alone."""
    for index, name in ((0, "transpose_a"), (1, "transpose_b")):
        moved = maker(op.operands[index], "ttir.permute")
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
    "ttir.add": (_bias,),
    "ttir.matmul": (_transposed,),
    "ttir.linear": (_transposed,),
}
"""Rules by the name of the operation."""
