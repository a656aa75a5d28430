"""Let operations of ttnn compute what stands before and after them.

Before:

    #dram = #ttnn.buffer_type<dram>
    #l = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, f32>, #dram>,
        <interleaved>>
    func.func @main(%a: tensor<5x7xf32, #l>, %b: tensor<5x7xf32, #l>) -> tensor<5x7xf32, #l> {
      %0 = "ttnn.exp"(%a) : (tensor<5x7xf32, #l>) -> tensor<5x7xf32, #l>
      %1 = "ttnn.add"(%0, %b) <{activations = [], input_tensor_a_activations = [],
          input_tensor_b_activations = []}>
          : (tensor<5x7xf32, #l>, tensor<5x7xf32, #l>) -> tensor<5x7xf32, #l>
      return %1 : tensor<5x7xf32, #l>
    }

After:

    ...
      func.func @main(%arg0: ..., %arg1: ...) -> ... {
        %0 = "ttnn.add"(%arg0, %arg1) <{activations = [],
            input_tensor_a_activations = [#ttnn.unary_with_param<op_type = exp>],
            input_tensor_b_activations = []}> : ...
        return %0 : ...
      }
    }

Requires: ttnn of 2026.
Ensures: no rule of `ttnn_fusing_*.py` applies: each file is a family of rules, which `_FAMILIES`
names.
Options: `enable-eltwise-activation-fusion` (true): whether operations of two tensors compute
functions of single elements, too. `enable-rope-fusion`, `enable-sdpa-fusion` and
`enable-op-constraints` are those of tt-mlir, false by default; true is refused.
Not done here: fusions of ttir, which `ttir-fusing` does before.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ttmlir.ir.greedy_rewriting import GreedyRewriter, collect_rules
from ttmlir.mlir.option_values import OptionError, option
from ttmlir.passes.core.base import ModulePass

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp

_FAMILIES = ("ttmlir.passes.ttnn.ttnn_fusing_products",)
_ACTIVATIONS = "ttmlir.passes.ttnn.ttnn_fusing_activations"
"""The modules of rules, in the order in which rules of an operation are tried."""


@dataclass(frozen=True)
class TTNNFusingPass(ModulePass):
    """Let operations of ttnn compute what stands before and after them."""

    name = "ttnn-fusing"
    title = "TTNNFusing"

    enable_eltwise_activation_fusion: bool = option(
        True, "Let operations of two tensors compute functions of single elements, too"
    )
    enable_rope_fusion: bool = option(
        False, "Not done here: rotary embeddings stay products and sums"
    )
    enable_sdpa_fusion: bool = option(False, "Not done here: attention stays products and softmax")
    enable_op_constraints: bool = option(False, "Not done here: it asks a model of the device")

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Fuse what can be fused."""
        for name in ("enable_rope_fusion", "enable_sdpa_fusion", "enable_op_constraints"):
            if getattr(self, name):
                flag = name.replace("_", "-")
                raise OptionError(
                    f"for the --{flag} option: ttnn-fusing does not do it; leave it out"
                )
        activations = (_ACTIVATIONS,) if self.enable_eltwise_activation_fusion else ()
        GreedyRewriter(collect_rules((*_FAMILIES, *activations))).run(module)
