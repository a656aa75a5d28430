"""Take all deallocations away, so that every tensor can be looked at.

Before:

    #l = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>,
        memref<32x64xbf16, #ttnn.buffer_type<dram>>, <interleaved>>
    func.func @main(%a: tensor<32x64xbf16, #l>) {
      "ttnn.deallocate"(%a) <{force = false}> : (tensor<32x64xbf16, #l>) -> ()
      return
    }

After:

    ...
      func.func @main(%arg0: tensor<32x64xbf16, #ttnn_layout>) {
        return
      }
    }

Requires: nothing.
Ensures: there is no `ttnn.deallocate`; tensors are on the device until their function ends.
Options: none.
Not done here: `ttnn.dealloc` of 2024 stays.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ttmlir.ir.rewriting import erase
from ttmlir.passes.core.base import ModulePass

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp


@dataclass(frozen=True)
class TTNNRemoveDeallocsPass(ModulePass):
    """Take all deallocations away, so that every tensor can be looked at."""

    name = "ttnn-remove-deallocs"
    title = "TTNNRemoveDeallocs"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Erase them."""
        for op in tuple(module.walk()):
            if op.name == "ttnn.deallocate":
                erase(op)
