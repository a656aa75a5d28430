"""Repeat a tensor at once instead of putting copies of it side by side.

Before:

    func.func @main(%a: tensor<64x32xf32>) -> tensor<64x2x32xf32> {
      %0 = stablehlo.concatenate %a, %a, dim = 1
          : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x64xf32>
      %1 = stablehlo.reshape %0 : (tensor<64x64xf32>) -> tensor<64x2x32xf32>
      return %1 : tensor<64x2x32xf32>
    }

After:

    module {
      func.func @main(%arg0: tensor<64x32xf32>) -> tensor<64x2x32xf32> {
        %0 = stablehlo.broadcast_in_dim %arg0, dims = [0, 2]
            : (tensor<64x32xf32>) -> tensor<64x2x32xf32>
        return %0 : tensor<64x2x32xf32>
      }
    }

Requires: nothing.
Ensures: no `reshape` separates the copies that a `concatenate` makes of one tensor.
Options: none.
Not done here: copies that several operations use.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import DenseArrayBase, i64
from xdsl.ir import Operation

from ttmlir.dialects.stablehlo.form import integer
from ttmlir.dialects.stablehlo.movement import BroadcastInDimOp
from ttmlir.ir.rewriting import erase, insert_before, replace
from ttmlir.ir.tensor_types import value_shape
from ttmlir.passes.core.base import ModulePass

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp


@dataclass(frozen=True)
class StableHLOFusingPass(ModulePass):
    """Repeat a tensor at once instead of putting copies of it side by side."""

    name = "stablehlo-fusing"
    title = "StableHLOFusingPass"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Replace every pair of operations."""
        for op in [op for op in module.walk() if op.name == "stablehlo.reshape"]:
            _fuse(op)


def _fuse(op: Operation) -> None:
    joined = op.operands[0].owner
    if not isinstance(joined, Operation) or joined.name != "stablehlo.concatenate":
        return
    value, count = joined.operands[0], len(joined.operands)
    dim, shape = integer(joined, "dimension"), value_shape(value)
    repeated = (*shape[:dim], count, *shape[dim:])
    is_alone = len(tuple(joined.results[0].uses)) == 1
    if count < 2 or {*joined.operands} != {value} or value_shape(op.results[0]) != repeated:
        return
    dims = [axis for axis in range(len(repeated)) if axis != dim]
    new = BroadcastInDimOp.create(
        operands=[value],
        result_types=[op.results[0].type],
        properties={"broadcast_dimensions": DenseArrayBase.from_list(i64, dims)},
        location=op.location,
    )
    insert_before(op, new)
    replace(op, *new.results)
    if is_alone:
        erase(joined)
