"""Write the layers of models as operations of the library, further than tt-mlir does.

Before:

    func.func @main(%x: tensor<45x96xf32>, %w: tensor<96xf32>, %b: tensor<96xf32>)
        -> tensor<45x96xf32> {
      %eps = "ttir.full"() <{fill_value = 1.0e-05 : f32, shape = array<i32: 45, 1>}>
          : () -> tensor<45x1xf32>
      %0 = "ttir.mean"(%x) <{dim_arg = [1 : i32], keep_dim = true}>
          : (tensor<45x96xf32>) -> tensor<45x1xf32>
      %1 = "ttir.subtract"(%x, %0) : (tensor<45x96xf32>, tensor<45x1xf32>) -> tensor<45x96xf32>
      %2 = "ttir.multiply"(%1, %1) : (tensor<45x96xf32>, tensor<45x96xf32>) -> tensor<45x96xf32>
      %3 = "ttir.mean"(%2) <{dim_arg = [1 : i32], keep_dim = true}>
          : (tensor<45x96xf32>) -> tensor<45x1xf32>
      %4 = "ttir.add"(%3, %eps) : (tensor<45x1xf32>, tensor<45x1xf32>) -> tensor<45x1xf32>
      %5 = "ttir.rsqrt"(%4) : (tensor<45x1xf32>) -> tensor<45x1xf32>
      %6 = "ttir.multiply"(%1, %5) : (tensor<45x96xf32>, tensor<45x1xf32>) -> tensor<45x96xf32>
      %7 = "ttir.multiply"(%6, %w) : (tensor<45x96xf32>, tensor<96xf32>) -> tensor<45x96xf32>
      %8 = "ttir.add"(%7, %b) : (tensor<45x96xf32>, tensor<96xf32>) -> tensor<45x96xf32>
      return %8 : tensor<45x96xf32>
    }

After:

    module {
      func.func @main(%arg0: ..., %arg1: ..., %arg2: ...) -> tensor<45x96xf32> {
        %0 = "ttir.layer_norm"(%arg0, %arg1, %arg2) <{epsilon = 9.99999974E-6 : f32,
            normalized_shape = array<i64: 96>, operandSegmentSizes = array<i32: 1, 1, 1>}> : ...
        return %0 : tensor<45x96xf32>
      }
    }

Requires: ttir of 2026.
Ensures: no rule of `_FAMILIES` applies. Layer norms along the last dimension are `ttir.layer_norm`.
Batch norms after convolutions are computed by these, by weights that follow from theirs, whatever
the numbers are: where the weights are constants or stay on the device, once. So are sums, products
and quotients of their channels with numbers that are there before a call. Functions of products
that are reshaped are computed before, and choices among weights of attention after, so that
`ttir-fusing` finds both beside the products.
Options: none.
Not done here: norms of batches in parts, by numbers that come with each call.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ttmlir.ir.greedy_rewriting import GreedyRewriter, collect_rules
from ttmlir.passes.core.base import ModulePass

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp

_FAMILIES = (
    # Means, and repeated heads, are found before the norms and the attention that use them.
    "ttmlir.passes.ttir.fusing.ttir_fusing_reduction",
    "ttmlir.passes.ttir.fusing.ttir_fusing_ordering",
    "ttmlir.passes.ttir.fusing.ttir_fuse_layers_norm",
    "ttmlir.passes.ttir.fusing.ttir_fuse_layers_product",
)
"""The modules of rules, in the order in which rules of an operation are tried."""


@dataclass(frozen=True)
class TTIRFuseLayersPass(ModulePass):
    """Write the layers of models as operations of the library, further than tt-mlir does."""

    name = "ttir-fuse-layers"
    title = "TTIRFuseLayers"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Fuse what can be fused."""
        GreedyRewriter(collect_rules(_FAMILIES)).run(module)
