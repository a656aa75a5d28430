"""Write ttir operations that stand together as one that computes the same.

Before:

    func.func @main(%a: tensor<5x7xf32>) -> tensor<5x7xf32> {
      %0 = "ttir.full"() <{fill_value = 0.0 : f32, shape = array<i32: 5, 7>}>
          : () -> tensor<5x7xf32>
      %1 = "ttir.maximum"(%a, %0) : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
      return %1 : tensor<5x7xf32>
    }

After:

    module {
      func.func @main(%arg0: tensor<5x7xf32>) -> tensor<5x7xf32> {
        %0 = "ttir.relu"(%arg0) : (tensor<5x7xf32>) -> tensor<5x7xf32>
        return %0 : tensor<5x7xf32>
      }
    }

Requires: ttir of 2026.
Ensures: no rule of `ttir_fusing_*.py` applies: each file is a family of rules, which `_FAMILIES`
names.
Options: `enable-permute-matmul-fusion` (true): whether products transpose their operands;
`enable-gelu-tanh-fusion` (true): whether gelu by tanh becomes `ttir.gelu`, as tt-mlir has it. The
library computes that by erf: up to 5e-4 from what is written; `join-whole-tiles` (false): whether
products of one matrix are joined only where slices copy tiles, as all but one have whole tiles of
columns.
Not done here: fusions that only ttnn has, which `ttnn-fusing` does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ttmlir.ir.greedy_rewriting import GreedyRewriter, collect_rules
from ttmlir.mlir.option_values import option
from ttmlir.passes.core.base import ModulePass

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp

_APPROXIMATE = "ttmlir.passes.ttir.fusing.ttir_fusing_gelu"
_FAMILIES = (
    "ttmlir.passes.ttir.fusing.ttir_fusing_elementwise",
    _APPROXIMATE,
    "ttmlir.passes.ttir.fusing.ttir_fusing_reduction",
    "ttmlir.passes.ttir.fusing.ttir_fusing_rotation",
    "ttmlir.passes.ttir.fusing.ttir_fusing_attention",
    "ttmlir.passes.ttir.fusing.ttir_fusing_contraction",
    "ttmlir.passes.ttir.fusing.ttir_fusing_window",
    "ttmlir.passes.ttir.fusing.ttir_fusing_norm",
    "ttmlir.passes.ttir.fusing.ttir_fusing_ordering",
    "ttmlir.passes.ttir.fusing.ttir_fusing_cache",
)
"""The modules of rules, in the order in which rules of an operation are tried."""

_TRANSPOSING = "ttmlir.passes.ttir.fusing.ttir_fusing_transposition"
_PRODUCTS = "ttmlir.passes.ttir.fusing.ttir_fusing_product"
"""Those of products, from the first to the last, when no other rule applies."""


@dataclass(frozen=True)
class TTIRFusingPass(ModulePass):
    """Write ttir operations that stand together as one that computes the same."""

    name = "ttir-fusing"
    title = "TTIRFusing"

    enable_permute_matmul_fusion: bool = option(True, "Let products transpose their operands")

    enable_gelu_tanh_fusion: bool = option(True, "Let gelu by tanh be gelu, which is that by erf")

    join_whole_tiles: bool = option(
        False, "Join products of one matrix only where their columns fill tiles"
    )

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Fuse what can be fused."""
        left_out = () if self.enable_gelu_tanh_fusion else (_APPROXIMATE,)
        families = [each for each in _FAMILIES if each not in left_out]
        GreedyRewriter(collect_rules(families)).run(module)
        transposing = (_TRANSPOSING,) if self.enable_permute_matmul_fusion else ()
        named = {_PRODUCTS: "OF_WHOLE_TILES"} if self.join_whole_tiles else {}
        products = collect_rules((*transposing, _PRODUCTS), named)
        GreedyRewriter(products, top_down=True).run(module)
