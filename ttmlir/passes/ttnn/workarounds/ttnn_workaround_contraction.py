"""Rules of `ttnn-workaround` that write products of matrices as others."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, cast

from ttmlir.dialects.ttnn.attrs import ShapeAttr
from ttmlir.ir.tensor_types import value_shape
from ttmlir.ir.ttnn_types import with_shape
from ttmlir.ir.ttnn_values import NO_ACTIVATIONS, TTNNValueBuilder

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from xdsl.ir import Operation, SSAValue

    from ttmlir.ir.greedy_rewriting import GreedyRewriter, Rule


def _repeat_matrices(op: Operation, rewriter: GreedyRewriter) -> bool:
    """Both sides have as many matrices; the library repeats a second side of one matrix alone."""
    batches = [value_shape(value)[:-2] for value in op.operands[:2]]
    result = value_shape(op.results[0])
    if len(result) <= 2 or any(len(value_shape(value)) < 2 for value in op.operands[:2]):
        return False
    wanted = result[:-2]
    is_one = math.prod(batches[1]) == 1 and batches[0] == wanted
    if is_one or batches[0] == batches[1]:
        return False
    build = TTNNValueBuilder.within(rewriter, op)
    repeated = [_repeat(build, value, wanted) for value in op.operands[:2]]
    op.operands = [*repeated, *op.operands[2:]]
    return True


def _repeat(build: TTNNValueBuilder, value: SSAValue, batch: tuple[int, ...]) -> SSAValue:
    own, matrix = value_shape(value)[:-2], value_shape(value)[-2:]
    own = (1,) * (len(batch) - len(own)) + own
    if value_shape(value) != (*own, *matrix):
        shape = (*own, *matrix)
        value = build.create("reshape", (value,), with_shape(value.type, shape), shape=shape)
    times = tuple(extent // each for extent, each in zip(batch, own, strict=True))
    if math.prod(times) == 1:
        return value
    type_ = with_shape(value.type, (*batch, *matrix))
    return build.create("repeat", (value,), type_, repeat_dims=ShapeAttr.of((*times, 1, 1)))


def _separate_bias(op: Operation, rewriter: GreedyRewriter) -> bool:
    """The library adds no bias to products of several second matrices: a sum does."""
    if len(op.operands) < 3 or math.prod(value_shape(op.operands[1])[:-2]) == 1:
        return False
    left, right, bias = op.operands[:3]
    type_ = op.results[0].type
    build = TTNNValueBuilder.within(rewriter, op)
    shape, own = value_shape(bias), value_shape(op.results[0])
    whole = (*(1,) * (len(shape) - len(own)), *own)
    # The result may have more dimensions than the product, as many as the bias.
    multiplied = (*value_shape(left)[:-2], *own[-2:])
    product = build.create("matmul", (left, right), with_shape(type_, multiplied))
    maker = cast("Operation", product.owner)
    maker.properties |= {name: op.properties[name] for name in ("transpose_a", "transpose_b")}
    result = build.create("add", (product, bias), with_shape(type_, whole), **NO_ACTIVATIONS)
    if whole != own:
        result = build.create("reshape", (result,), type_, shape=own)
    rewriter.replace(op, result)
    return True


RULES: Mapping[str, Sequence[Rule]] = {
    "ttnn.matmul": (_repeat_matrices,),
    "ttnn.linear": (_repeat_matrices, _separate_bias),
}
"""Rules by the name of the operation."""
