"""Rules of `ttir-fusing` for convolutions, and means over images."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import TensorType

from ttmlir.ir.tensor_types import element_type, value_shape
from ttmlir.passes.ttir.fusing.ttir_fusing_reduction import reduced_dims
from ttmlir.passes.ttir.value_rewriting import made_by

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from xdsl.dialects.builtin import IntegerAttr
    from xdsl.ir import Operation, SSAValue

    from ttmlir.ir.greedy_rewriting import GreedyRewriter, Rule

_CONVOLUTIONS = ("ttir.conv2d", "ttir.conv_transpose2d")


def _bias(op: Operation, rewriter: GreedyRewriter) -> bool:
    """A convolution and a number for each channel."""
    for index in (0, 1):
        convolution = op.operands[index].owner
        if getattr(convolution, "name", "") not in _CONVOLUTIONS:
            continue
        conv = cast("Operation", convolution)
        if len(conv.operands) != 2 or not op.operands[index].has_one_use():
            continue
        bias = _bias_of(op.operands[1 - index], conv)
        if bias is None or op.operands[index].type != op.results[0].type:
            continue
        conv.detach()
        block = op.parent
        assert block is not None, "the operation is in a block"
        block.insert_op_before(conv, op)
        conv.operands = [*conv.operands, bias]
        rewriter.replace(op, conv.results[0])
        rewriter.add(conv)
        return True
    return False


def _bias_of(value: SSAValue, conv: Operation) -> SSAValue | None:
    """The tensor of a number a channel that is repeated along all else; None for others."""
    inner = made_by(value, "broadcast")
    value = value if inner is None else inner.operands[0]
    said = conv.properties.get("channel_dim")
    dim = 3 if said is None else cast("IntegerAttr", said).value.data
    wanted = [1] * 4
    wanted[dim] = value_shape(conv.results[0])[dim]
    return value if value_shape(value) == tuple(wanted) else None


def _spatial_mean(op: Operation, rewriter: GreedyRewriter) -> bool:
    """The mean over rows and columns of images is one over both as one dimension."""
    shape = value_shape(op.operands[0])
    if len(shape) != 4 or sorted(reduced_dims(op)) != [1, 2]:
        return False
    batch, height, width, channels = shape
    result, element = op.results[0], element_type(op.operands[0])
    build = rewriter.builder(op)
    flat = (batch, 1, height * width, channels)
    image = build.create("reshape", op.operands, TensorType(element, flat), shape=flat)
    kept = (batch, 1, 1, channels)
    mean = build.create(
        "mean", (image,), TensorType(element_type(result), kept), dim_arg=(2,), keep_dim=True
    )
    if value_shape(result) != kept:
        assert math.prod(kept) == math.prod(value_shape(result)), "only extents of 1 are left out"
        mean = build.create("reshape", (mean,), result.type, shape=value_shape(result))
    rewriter.replace(op, mean)
    return True


RULES: Mapping[str, Sequence[Rule]] = {
    "ttir.add": (_bias,),
    "ttir.mean": (_spatial_mean,),
}
"""Rules by the name of the operation."""
