"""Let tensors be made where a constraint wants them, instead of being moved there.

Before:

    sdy.mesh @mesh = <["x"=1, "y"=2]>
    func.func @main(%a: tensor<64x32xf32>) -> tensor<64x32xf32> {
      %0 = stablehlo.negate %a : tensor<64x32xf32>
      %1 = sdy.sharding_constraint %0 <@mesh, [{"y"}, {}]> : tensor<64x32xf32>
      return %1 : tensor<64x32xf32>
    }

After:

    ...
        %0 = stablehlo.negate %arg0 {sdy.sharding =
            #sdy.sharding_per_value<[<@mesh, [{"y"}, {}]>]>} : tensor<64x32xf32>
        %1 = sdy.sharding_constraint %0 <@mesh, [{"y"}, {}]> : tensor<64x32xf32>
        ...

Requires: nothing.
Ensures: what a constraint takes has its sharding, if it had none and no other constraint wants
another. What a `sdy.data_flow_edge` stands for has the sharding of the edge, which is gone.
Options: none.
Not done here: constraints of constraints.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument, Operation

from ttmlir.dialects import sdy
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.shardy.spreading.flow import take_edges
from ttmlir.passes.shardy.spreading.shardings import (
    SHARDING,
    Sharding,
    per_value,
    set_argument,
    sharding_of,
)

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp

_CONSTRAINT = sdy.ShardingConstraintOp.name


@dataclass(frozen=True)
class SdyApplyShardingConstraintsPass(ModulePass):
    """Let tensors be made where a constraint wants them."""

    name = "sdy-apply-sharding-constraints"
    title = "ApplyShardingConstraintsPass"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Apply every edge, then every constraint."""
        take_edges([*module.walk()])
        for op in [op for op in module.walk() if op.name == _CONSTRAINT]:
            _apply(op)


def _apply(op: Operation) -> None:
    value = op.operands[0]
    wanted = {
        cast("sdy.TensorShardingAttr", use.operation.properties["sharding"]).data
        for use in value.uses
        if use.operation.name == _CONSTRAINT
    }
    if sharding_of(value) is not None or len(wanted) > 1:
        return
    text = wanted.pop()
    if isinstance(value, BlockArgument):
        parent = value.owner.parent_op()
        if isinstance(parent, FuncOp):
            set_argument(parent, value.index, sdy__sharding=sdy.TensorShardingAttr(text))
        return
    owner = cast("Operation", value.owner)
    if len(owner.results) == 1:
        owner.attributes[SHARDING] = per_value((Sharding.parse(text, op),))
