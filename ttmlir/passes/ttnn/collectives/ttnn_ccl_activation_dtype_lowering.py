"""Let collectives of ttnn move blocks of floats, which are half as long as bfloat16.

Before:

    #dram = #ttnn.buffer_type<dram>
    #a = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>,
        memref<1x1x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
    #b = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>,
        memref<2x1x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
    func.func @main(%a: tensor<32x32xbf16, #a>) -> tensor<64x32xbf16, #b> {
      %0 = "ttnn.all_gather"(%a) <{all_gather_dim = 0 : si32, cluster_axis = 1 : ui32}>
          : (tensor<32x32xbf16, #a>) -> tensor<64x32xbf16, #b>
      return %0 : tensor<64x32xbf16, #b>
    }

After:

    ...
        %0 = "ttnn.typecast"(%arg0) : (tensor<32x32xbf16, #ttnn_layout>)
            -> tensor<32x32x!ttcore.tile<32x32, bfp_bf8>, #ttnn_layout2>
        %1 = "ttnn.all_gather"(%0) <{all_gather_dim = 0 : si32, cluster_axis = 1 : ui32}>
            : (tensor<32x32x!ttcore.tile<32x32, bfp_bf8>, #ttnn_layout2>)
            -> tensor<64x32x!ttcore.tile<32x32, bfp_bf8>, #ttnn_layout3>
        %2 = "ttnn.typecast"(%1) : (tensor<64x32x!ttcore.tile<32x32, bfp_bf8>, #ttnn_layout3>)
            -> tensor<64x32xbf16, #ttnn_layout1>
        return %2 : tensor<64x32xbf16, #ttnn_layout1>
      }
    }

Requires: ttnn of 2026, with layouts.
Ensures: `all_gather`, `all_reduce` and `reduce_scatter` of floats in tiles take and give bfp_bf8;
what comes before and after has the elements that it had.
Options: none.
Not done here: other collectives, rows, and integers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ttmlir.ir.ttnn_types import as_tiles_of, memory_of, set_type
from ttmlir.ir.ttnn_values import TTNNValueBuilder
from ttmlir.layout.enums import DataType
from ttmlir.passes.core.base import ModulePass

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Operation

_MOVING = ("ttnn.all_gather", "ttnn.all_reduce", "ttnn.reduce_scatter")


@dataclass(frozen=True)
class TTNNCCLActivationDtypeLoweringPass(ModulePass):
    """Let collectives of ttnn move blocks of floats."""

    name = "ttnn-ccl-activation-dtype-lowering"
    title = "TTNNCCLActivationDtypeLowering"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Convert around every collective."""
        for op in tuple(module.walk()):
            if op.name in _MOVING:
                _lower(op)


def _lower(op: Operation) -> None:
    value, result = op.operands[0], op.results[0]
    memory, given = memory_of(value.type), result.type
    narrow = as_tiles_of(value.type, DataType.BFP_BF8), as_tiles_of(given, DataType.BFP_BF8)
    if memory is None or not memory.is_tiled or narrow[0] is None or narrow[1] is None:
        return
    op.operands[0] = TTNNValueBuilder.before(op).typecast(value, narrow[0])
    new, following = set_type(result, narrow[1]), op.next_op
    assert following is not None, "no operation of ttnn is the last of a block"
    build = TTNNValueBuilder.before(following)
    build.location = op.location
    wide = build.typecast(new, given)
    new.replace_uses_with_if(wide, lambda use: use.operation is not wide.owner)
