"""Free the memory that several tensors share when the last of them ends.

A tensor that is another one, reshaped, may be in the same memory; runtimes keep memory as long as
others know it, unless its end is forced.

Before:

    #dram = #ttnn.buffer_type<dram>
    #a = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>,
        memref<2x2x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
    #b = #ttnn.ttnn_layout<(d0, d1, d2) -> (d0 * 64 + d1, d2), <1x1>,
        memref<2x2x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
    func.func @main(%a: tensor<64x64xbf16, #a>) -> tensor<1x64x64xbf16, #b> {
      %0 = "ttnn.reshape"(%a) <{shape = [1 : i32, 64 : i32, 64 : i32]}>
          : (tensor<64x64xbf16, #a>) -> tensor<1x64x64xbf16, #b>
      "ttnn.deallocate"(%a) <{force = false}> : (tensor<64x64xbf16, #a>) -> ()
      %1 = "ttnn.exp"(%0) : (tensor<1x64x64xbf16, #b>) -> tensor<1x64x64xbf16, #b>
      "ttnn.deallocate"(%0) <{force = false}> : (tensor<1x64x64xbf16, #b>) -> ()
      return %1 : tensor<1x64x64xbf16, #b>
    }

After:

    ...
        "ttnn.deallocate"(%arg0) <{force = false}> : (tensor<64x64xbf16, #ttnn_layout>) -> ()
        ...
        "ttnn.deallocate"(%0) <{force = true}> : (tensor<1x64x64xbf16, #ttnn_layout1>) -> ()
        ...

Requires: ttnn of 2026, after `ttnn-deallocate`.
Ensures: where several tensors may be in one memory and all of them are deallocated, the last
deallocation is forced. What a function returns keeps its memory.
Options: none.
Not done here: finding out whether the library really makes no copy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import IntegerAttr

from ttmlir.passes.core.base import ModulePass

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Operation, SSAValue

_SHARING = (
    *("ttnn.reshape", "ttnn.to_layout", "ttnn.to_memory_config", "ttnn.to_device"),
    *("debug.annotate", "ttcore.optimization_barrier"),
)
"""Operations whose result may be in the memory of the first operand."""


@dataclass(frozen=True)
class TTNNForceFinalDeallocsPass(ModulePass):
    """Free the memory that several tensors share when the last of them ends."""

    name = "ttnn-force-final-deallocs"
    title = "TTNNForceFinalDeallocs"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Force the last deallocation of each memory."""
        root: dict[SSAValue, SSAValue] = {}
        ends: dict[SSAValue, list[Operation]] = {}
        for op in module.walk():
            if op.name in _SHARING:
                value = op.operands[0]
                root[op.results[0]] = root.get(value, value)
            elif op.name == "ttnn.deallocate":
                value = op.operands[0]
                ends.setdefault(root.get(value, value), []).append(op)
        names: dict[SSAValue, list[SSAValue]] = {}
        for value, first in root.items():
            names.setdefault(first, [first]).append(value)
        for first, values in names.items():
            if len(ends.get(first, ())) == len(values):
                ends[first][-1].properties["force"] = IntegerAttr.from_bool(True)
