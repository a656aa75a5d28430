"""Rules of `ttnn-workaround` for what devices of a mesh exchange: the library's have four
dimensions."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import IntegerAttr

from ttmlir.dialects.ttnn import DeviceComputeConfigAttr
from ttmlir.ir.tensor_types import value_shape
from ttmlir.ir.ttnn_types import with_shape
from ttmlir.ir.ttnn_values import TTNNValueBuilder
from ttmlir.layout.enums import DeviceComputeConfig, MathFidelity

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from xdsl.dialects.builtin import IntegerType
    from xdsl.ir import Operation

    from ttmlir.ir.greedy_rewriting import GreedyRewriter, Rule

_RANK = 4
_SUMS = DeviceComputeConfig(
    math_fidelity=MathFidelity.HIFI4,
    math_approx_mode=False,
    fp32_dest_acc_en=True,
    packer_l1_acc=False,
)
"""How devices add what others send."""


def _reduce(op: Operation, rewriter: GreedyRewriter) -> bool:
    """Sums are of tensors of four dimensions."""
    value, rank = op.operands[0], len(value_shape(op.operands[0]))
    scattered = op.properties.get("scatter_dim")
    if rank >= _RANK:
        return _say_how_to_add(op)
    ones = (1,) * (_RANK - rank)
    build = TTNNValueBuilder.within(rewriter, op)
    shape, result = (*ones, *value_shape(value)), (*ones, *value_shape(op.results[0]))
    whole = build.create("reshape", (value,), with_shape(value.type, shape), shape=shape)
    type_ = with_shape(op.results[0].type, result)
    found = build.create(op.name.removeprefix("ttnn."), (whole,), type_)
    made = cast("Operation", found.owner)
    made.properties |= op.properties
    if isinstance(scattered, IntegerAttr):
        said = cast("IntegerAttr[IntegerType]", scattered)
        dim = said.value.data % rank + len(ones)
        made.properties["scatter_dim"] = IntegerAttr(dim, said.type)
    _say_how_to_add(made)
    own = value_shape(op.results[0])
    rewriter.replace(op, build.create("reshape", (found,), op.results[0].type, shape=own))
    return True


def _say_how_to_add(op: Operation) -> bool:
    if op.name != "ttnn.reduce_scatter" or "compute_config" in op.properties:
        return False
    op.properties["compute_config"] = DeviceComputeConfigAttr(_SUMS)
    return True


RULES: Mapping[str, Sequence[Rule]] = {
    "ttnn.all_reduce": (_reduce,),
    "ttnn.reduce_scatter": (_reduce,),
}
"""Rules by the name of the operation."""
