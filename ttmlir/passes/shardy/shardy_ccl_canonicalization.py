"""Let sums of which each device needs a part be one operation.

Before:

    sdy.mesh @mesh = <["x"=1, "y"=2]>
    func.func @main(%a: tensor<64x32xf32>) -> tensor<64x32xf32> {
      %0 = sdy.all_reduce {"y"} %a out_sharding=<@mesh, [{}, {}]> : tensor<64x32xf32>
      %1 = sdy.all_slice [{"y"}, {}] %0 out_sharding=<@mesh, [{"y"}, {}]> : tensor<64x32xf32>
      return %1 : tensor<64x32xf32>
    }

After:

    ...
        %0 = sdy.reduce_scatter [{"y"}, {}] %arg0 out_sharding=<@mesh, [{"y"}, {}]>
            : tensor<64x32xf32>
        return %0 : tensor<64x32xf32>
      }
    }

Requires: moves are said by collectives (`sdy-reshard-to-collectives`).
Ensures: a sum that is sliced along the axes that it is over, and used by nothing else, is a
`sdy.reduce_scatter`.
Options: none.
Not done here: sums that are sliced along other axes, too.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from xdsl.dialects.func import FuncOp

from ttmlir.dialects import sdy
from ttmlir.ir.rewriting import erase, insert_before, replace
from ttmlir.passes.core.base import ModulePass

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Operation

_AXIS = re.compile(r'"[^"]*"(?::\(\d+\)\d+)?')


@dataclass(frozen=True)
class ShardyCCLCanonicalizationPass(ModulePass):
    """Let sums of which each device needs a part be one operation."""

    name = "shardy-ccl-canonicalization"
    title = "ShardyCCLCanonicalizationPass"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Look at the slices of all functions."""
        for function in [op for op in module.ops if isinstance(op, FuncOp)]:
            for op in [op for op in function.walk() if op.name == sdy.AllSliceOp.name]:
                _join(op)


def _join(op: Operation) -> None:
    total = op.operands[0].owner
    if getattr(total, "name", "") != sdy.AllReduceOp.name or len([*op.operands[0].uses]) != 1:
        return
    total = cast("Operation", total)
    summed = _AXIS.findall(cast("sdy.AxesAttr", total.properties["reduction_axes"]).data)
    sliced = cast("sdy.AxesAttr", op.properties["slicing_axes"])
    if sorted(summed) != sorted(_AXIS.findall(sliced.data)):
        return
    new = sdy.ReduceScatterOp.create(
        operands=total.operands,
        result_types=[op.results[0].type],
        properties={
            "reduce_scatter_axes": sliced,
            "out_sharding": op.properties["out_sharding"],
        },
        attributes={**total.attributes},
        location=op.location,
    )
    insert_before(op, new)
    replace(op, *new.results)
    erase(total)
