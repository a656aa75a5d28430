"""Let reductions keep the dimensions that they reduce, and reshape what they give.

Before:

    func.func @main(%a: tensor<4x33x70xf32>) -> tensor<4x70xf32> {
      %0 = "ttir.sum"(%a) <{dim_arg = [1 : i32], keep_dim = false}>
          : (tensor<4x33x70xf32>) -> tensor<4x70xf32>
      return %0 : tensor<4x70xf32>
    }

After:

    module {
      func.func @main(%arg0: tensor<4x33x70xf32>) -> tensor<4x70xf32> {
        %0 = "ttir.sum"(%arg0) <{dim_arg = [1 : i32], keep_dim = true}>
            : (tensor<4x33x70xf32>) -> tensor<4x1x70xf32>
        %1 = "ttir.reshape"(%0) <{shape = [4 : i32, 70 : i32]}>
            : (tensor<4x1x70xf32>) -> tensor<4x70xf32>
        return %1 : tensor<4x70xf32>
      }
    }

Requires: ttir of 2026.
Ensures: `keep_dim` is true in every reduction.
Options: none.
Not done here: nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ttmlir.ir.greedy_rewriting import GreedyRewriter
from ttmlir.ir.tensor_types import tensor_like, value_shape
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.ttir.value_rewriting import (
    REDUCTIONS,
    adapted,
    mnemonic_of,
    parameters_of,
    reduced_dims,
)

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Operation, SSAValue

    from ttmlir.ir.builder import Builder


@dataclass(frozen=True)
class TTIRReductionForceKeepDimPass(ModulePass):
    """Let reductions keep the dimensions that they reduce, and reshape what they give."""

    name = "ttir-reduction-force-keep-dim"
    title = "TTIRReductionForceKeepDim"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Rewrite the reductions."""
        GreedyRewriter(adapted(dict.fromkeys(REDUCTIONS, (_keep,)))).run(module)


def _keep(op: Operation, builder: Builder) -> SSAValue | None:
    said, dims = parameters_of(op), reduced_dims(op)
    if said["keep_dim"]:
        return None
    kept = [1 if n in dims else extent for n, extent in enumerate(value_shape(op.operands[0]))]
    type_ = tensor_like(op.results[0], kept)
    new = builder.create(mnemonic_of(op), op.operands, type_, **{**said, "keep_dim": True})
    return builder.reshape(new, value_shape(op.results[0]))
