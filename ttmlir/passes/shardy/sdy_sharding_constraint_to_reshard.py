"""Move tensors to where constraints want them.

Before:

    sdy.mesh @mesh = <["x"=1, "y"=2]>
    func.func @main(%a: tensor<64x32xf32>) -> tensor<64x32xf32> {
      %0 = sdy.sharding_constraint %a <@mesh, [{"y"}, {}]> : tensor<64x32xf32>
      return %0 : tensor<64x32xf32>
    }

After:

    ...
        %0 = sdy.reshard %arg0 <@mesh, [{"y"}, {}]> : tensor<64x32xf32>
        return %0 : tensor<64x32xf32>
      }
    }

Requires: nothing.
Ensures: there is no `sdy.sharding_constraint`, and no `sdy.propagation_barrier`, which is over.
Options: none.
Not done here: what a move takes (`sdy-reshard-to-collectives`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ttmlir.dialects import sdy
from ttmlir.ir.rewriting import insert_before, replace
from ttmlir.passes.core.base import FunctionPass

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.func import FuncOp


@dataclass(frozen=True)
class SdyShardingConstraintToReshardPass(FunctionPass):
    """Move tensors to where constraints want them."""

    name = "sdy-sharding-constraint-to-reshard"
    title = "ShardingConstraintToReshardPass"

    def apply(self, ctx: Context, function: FuncOp) -> None:
        """Replace every constraint, and leave out barriers."""
        for op in [op for op in function.walk() if op.name == sdy.PropagationBarrierOp.name]:
            replace(op, *op.operands)
        for op in [op for op in function.walk() if op.name == sdy.ShardingConstraintOp.name]:
            new = sdy.ReshardOp.create(
                operands=[*op.operands],
                result_types=[op.results[0].type],
                properties={**op.properties},
                attributes={**op.attributes},
                location=op.location,
            )
            insert_before(op, new)
            replace(op, *new.results)
