"""Rules of `ttir-decomposition` for convolutions and pools of 2026 whose images have another order.

The library takes images as batch, height, width and channels: others are permuted, and the result
is permuted back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import IntegerAttr, TensorType, i64

from ttmlir.dialects.ttir import op_class
from ttmlir.ir.tensor_types import element_type, value_shape

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from xdsl.ir import Operation, SSAValue

    from ttmlir.ir.builder import Builder
    from ttmlir.ir.greedy_rewriting import GreedyRewriter, Rule

_IMAGE = ("batch_dim", "height_dim", "width_dim", "channel_dim")
_VOLUME = ("batch_dim", "depth_dim", "height_dim", "width_dim", "channel_dim")
_LINE = ("batch_dim", "length_dim", "channel_dim")


def _channels_last(names: tuple[str, ...]) -> Rule:
    """The rule of a convolution whose dimensions have these names, in the order of the library."""

    def rule(op: Operation, rewriter: GreedyRewriter) -> bool:
        order = tuple(
            cast("IntegerAttr", op.properties[name]).value.data if name in op.properties else place
            for place, name in enumerate(names)
        )
        if order == tuple(range(len(names))):
            return False
        build = rewriter.builder(op)
        result = op.results[0]
        places = {name: IntegerAttr(place, i64) for place, name in enumerate(names)}
        operands = [_permute(build, op.operands[0], order), *op.operands[1:]]
        if len(operands) > 2:
            operands[2] = _permute(build, operands[2], order)
        shape = [value_shape(result)[dim] for dim in order]
        new = op_class(op.name.removeprefix("ttir.")).create(
            operands=operands,
            result_types=[TensorType(element_type(result), shape)],
            properties={**op.properties, **places},
            attributes=dict(op.attributes),
            location=op.location,
        )
        build.insert(new)
        back = tuple(order.index(dim) for dim in range(len(order)))
        rewriter.replace(op, _permute(build, new.results[0], back))
        return True

    return rule


def _permute(build: Builder, value: SSAValue, order: Sequence[int]) -> SSAValue:
    extents = value_shape(value)
    type_ = TensorType(element_type(value), [extents[dim] for dim in order])
    return build.create("permute", (value,), type_, permutation=tuple(order))


RULES: Mapping[str, Sequence[Rule]] = {
    "ttir.conv1d": (_channels_last(_LINE),),
    "ttir.conv2d": (_channels_last(_IMAGE),),
    "ttir.conv_transpose2d": (_channels_last(_IMAGE),),
    "ttir.conv3d": (_channels_last(_VOLUME),),
}
"""Rules by the name of the operation."""
