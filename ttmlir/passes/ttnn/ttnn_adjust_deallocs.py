"""Let programs that are run again keep what they are given and what is computed once.

Before:

    #dram = #ttnn.buffer_type<dram>
    #l = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>,
        memref<1x1x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
    func.func @main(%a: tensor<5x7xbf16, #l>) -> tensor<5x7xbf16, #l> {
      %0 = "ttnn.exp"(%a) : (tensor<5x7xbf16, #l>) -> tensor<5x7xbf16, #l>
      "ttnn.deallocate"(%a) <{force = false}> : (tensor<5x7xbf16, #l>) -> ()
      %1 = "ttnn.neg"(%0) : (tensor<5x7xbf16, #l>) -> tensor<5x7xbf16, #l>
      "ttnn.deallocate"(%0) <{force = false}> : (tensor<5x7xbf16, #l>) -> ()
      return %1 : tensor<5x7xbf16, #l>
    }

After:

    ...
      func.func @main(%arg0: tensor<5x7xbf16, #ttnn_layout>) -> tensor<5x7xbf16, #ttnn_layout> {
        %0 = "ttnn.exp"(%arg0)
            : (tensor<5x7xbf16, #ttnn_layout>) -> tensor<5x7xbf16, #ttnn_layout>
        %1 = "ttnn.neg"(%0)
            : (tensor<5x7xbf16, #ttnn_layout>) -> tensor<5x7xbf16, #ttnn_layout>
        "ttnn.deallocate"(%0) <{force = false}> : (tensor<5x7xbf16, #ttnn_layout>) -> ()
        return %1 : tensor<5x7xbf16, #ttnn_layout>
      }
    }

Requires: ttnn of 2026, after `ttnn-deallocate`.
Ensures: no argument, no part of a tuple that is an argument, and no result of `ttcore.load_cached`
is deallocated.
Options: none.
Not done here: deallocations that are missing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.ir import BlockArgument, Operation, SSAValue

from ttmlir.ir.rewriting import erase
from ttmlir.passes.core.base import ModulePass

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp

_REMEMBERING = "ttcore.load_cached"
_PART = "ttcore.get_tuple_element"


@dataclass(frozen=True)
class TTNNAdjustDeallocsPass(ModulePass):
    """Let programs keep what they are given and what is computed once."""

    name = "ttnn-adjust-deallocs"
    title = "TTNNAdjustDeallocs"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Erase the deallocations of what is to stay."""
        for op in tuple(module.walk()):
            if op.name == "ttnn.deallocate" and _stays(op.operands[0]):
                erase(op)


def _stays(value: SSAValue) -> bool:
    owner = value.owner
    if isinstance(owner, Operation) and owner.name == _PART:
        return _stays(owner.operands[0])
    return isinstance(value, BlockArgument) or (
        isinstance(owner, Operation) and owner.name == _REMEMBERING
    )
