"""Take away what keeps the compiler from moving operations.

Before:

    func.func @main(%a: tensor<5x7xf32>) -> tensor<5x7xf32> {
      %0 = "ttcore.optimization_barrier"(%a) : (tensor<5x7xf32>) -> tensor<5x7xf32>
      return %0 : tensor<5x7xf32>
    }

After:

    module {
      func.func @main(%arg0: tensor<5x7xf32>) -> tensor<5x7xf32> {
        return %arg0 : tensor<5x7xf32>
      }
    }

Requires: nothing.
Ensures: there is no `ttcore.optimization_barrier`.
Options: none.
Not done here: passes that come before see the barriers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ttmlir.dialects.ttcore import OptimizationBarrierOp
from ttmlir.ir.rewriting import replace
from ttmlir.passes.core.base import ModulePass

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp


@dataclass(frozen=True)
class TTCoreOptimizationBarrierFoldPass(ModulePass):
    """Take away what keeps the compiler from moving operations."""

    name = "ttcore-optimization-barrier-fold"
    title = "TTCoreOptimizationBarrierFold"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Let users take the operands of barriers."""
        for op in tuple(module.walk()):
            if isinstance(op, OptimizationBarrierOp):
                replace(op, *op.operands)
