"""Give operations of ttnn what the library computes with.

Before:

    #dram = #ttnn.buffer_type<dram>
    #l = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, f32>, #dram>,
        <interleaved>>
    func.func @main(%a: tensor<5x7xf32, #l>) -> tensor<5x7xf32, #l> {
      %0 = "ttnn.exp"(%a) : (tensor<5x7xf32, #l>) -> tensor<5x7xf32, #l>
      return %0 : tensor<5x7xf32, #l>
    }

After:

    ...
      func.func @main(%arg0: tensor<5x7xf32, #ttnn_layout>) -> tensor<5x7xf32, #ttnn_layout> {
        %0 = "ttnn.exp"(%arg0)
            : (tensor<5x7xf32, #ttnn_layout>) -> tensor<5x7xf32, #ttnn_layout>
        return %0 : tensor<5x7xf32, #ttnn_layout>
      }
    }

Requires: ttnn of 2026, with layouts.
Ensures: no rule of a family applies (`ttnn_workarounds_*.py`, named in `_DECOMPOSITIONS` and
`_LAYOUTS`): rules of decompositions write operations as others, rules of layouts say which element
types, memories and forms operations take and make, and conversions are inserted around them.
Options: `ttnn-enable-decomposition-workaround-pass`, `ttnn-enable-layout-workaround-pass`: which of
both are done; `divide-integers`: whether quotients of integers are left as they are;
`images-by-rows`: whether images of convolutions become rows, which the library does itself where
they are tiles; `keep-element-types`: whether layouts alone say what the library computes with.
Not done here: what the library does right by itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ttmlir.ir.greedy_rewriting import GreedyRewriter, collect_rules
from ttmlir.mlir.option_values import option
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.ttnn.workarounds.ttnn_workarounds import apply_layouts
from ttmlir.passes.ttnn.workarounds.ttnn_workarounds_movement import raise_rows

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp

_DECOMPOSITIONS = (
    "ttmlir.passes.ttnn.workarounds.ttnn_workaround_contraction",
    "ttmlir.passes.ttnn.workarounds.ttnn_workaround_distribution",
    "ttmlir.passes.ttnn.workarounds.ttnn_workaround_elementwise",
)
"""The modules of rules that write operations as others, in the order in which they are tried."""


@dataclass(frozen=True)
class TTNNWorkaroundPass(ModulePass):
    """Give operations of ttnn what the library computes with."""

    name = "ttnn-workaround"
    title = "TTNNWorkarounds"
    ttnn_enable_decomposition_workaround_pass: bool = option(
        True, "Write operations as others that the library computes right"
    )
    ttnn_enable_layout_workaround_pass: bool = option(
        True, "Convert operands and results to what the library takes and makes"
    )
    divide_integers: bool = option(
        False, "Leave quotients of integers to the library, which has them exactly in Python"
    )

    images_by_rows: bool = option(
        True, "Convert images of convolutions to rows, and not leave that to the library"
    )
    keep_element_types: bool = option(
        False, "Let memory hold other elements, where tensors would have others"
    )

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Decompose, then convert operands and results."""
        if self.ttnn_enable_decomposition_workaround_pass:
            GreedyRewriter(collect_rules(_DECOMPOSITIONS)).run(module)
        if self.ttnn_enable_layout_workaround_pass:
            without = ("ttnn.div",) * self.divide_integers
            apply_layouts(
                module,
                without=without,
                images_by_rows=self.images_by_rows,
                keeps_elements=self.keep_element_types,
            )
            raise_rows(module)
