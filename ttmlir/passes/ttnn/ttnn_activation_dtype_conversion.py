"""Keep results that products and convolutions take in narrower formats.

Before:

    // Options: target-dtype=bfp_bf8
    #dram = #ttnn.buffer_type<dram>
    #x = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>,
        memref<2x3x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
    #w = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>,
        memref<3x3x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
    func.func @main(%x: tensor<64x96xbf16, #x>, %w: tensor<96x96xbf16, #w>)
        -> tensor<64x96xbf16, #x> {
      %0 = "ttnn.matmul"(%x, %w) <{transpose_a = false, transpose_b = false}>
          : (tensor<64x96xbf16, #x>, tensor<96x96xbf16, #w>) -> tensor<64x96xbf16, #x>
      %1 = "ttnn.matmul"(%0, %w) <{transpose_a = false, transpose_b = false}>
          : (tensor<64x96xbf16, #x>, tensor<96x96xbf16, #w>) -> tensor<64x96xbf16, #x>
      return %1 : tensor<64x96xbf16, #x>
    }

After:

    ...
        %0 = "ttnn.matmul"(%arg0, %arg1) <{transpose_a = false, transpose_b = false}> : ...
            -> tensor<64x96x!ttcore.tile<32x32, bfp_bf8>, ...>
        %1 = "ttnn.matmul"(%0, %arg1) <{transpose_a = false, transpose_b = false}> : ...
            -> tensor<64x96xbf16, #ttnn_layout>
        ...

Requires: ttnn of 2026, with layouts.
Ensures: results of bfloat16 in tiles of products, convolutions, sums, differences, multiplications
and their activations are in the format that is asked for where such operations alone take them, or
transpositions, heads and attention on the way to these, which make what they take.
Options: `target-dtype` (bfp_bf8, bfp_bf4).
Not done here: what norms, reductions and functions return take and make stays as it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import BFloat16Type

from ttmlir.ir.tensor_types import element_type
from ttmlir.ir.ttnn_types import as_tiles_of, memory_of, set_type
from ttmlir.layout.enums import DataType
from ttmlir.mlir.option_values import option
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.placement.layout_overrides import BLOCK_FLOAT

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Operation, SSAValue

_MAKING = (
    *("ttnn.matmul", "ttnn.linear", "ttnn.conv2d"),
    *("ttnn.add", "ttnn.subtract", "ttnn.multiply", "ttnn.relu", "ttnn.gelu", "ttnn.silu"),
)
"""Operations that make other formats than they take."""
_KEEPING = {
    **dict.fromkeys(("ttnn.permute", "ttnn.reshape", "ttnn.concatenate_heads"), 1),
    **dict.fromkeys(("ttnn.layer_norm", "ttnn.rms_norm"), 1),
    "ttnn.scaled_dot_product_attention": 3,
}
"""Operations that make the format that they take, and how many operands have it."""


@dataclass(frozen=True)
class TTNNActivationDtypeConversionPass(ModulePass):
    """Keep results that products and convolutions take in narrower formats."""

    name = "ttnn-activation-dtype-conversion"
    title = "TTNNActivationDtypeConversion"
    target_dtype: DataType | None = option(None, "Format of results", type=BLOCK_FLOAT)

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Narrow what all that take it can take."""
        if self.target_dtype is None:
            return
        made: dict[SSAValue, Operation] = {
            op.results[0]: op
            for op in module.walk()
            if (op.name in _MAKING or op.name in _KEEPING) and _is_wide(op.results[0])
        }
        size = -1
        while size != len(made):
            size = len(made)
            made = {value: op for value, op in made.items() if _can_be_narrow(value, op, made)}
        for value in made:
            narrow = as_tiles_of(value.type, self.target_dtype)
            assert narrow is not None, "it has floats"
            set_type(value, narrow)


def _can_be_narrow(value: SSAValue, op: Operation, made: dict[SSAValue, Operation]) -> bool:
    """True if what an operation takes is narrow where it has to be, and all that use it agree."""
    count = _KEEPING.get(op.name, 0)
    if any(each not in made for each in op.operands[:count]):
        return False
    return bool(value.uses) and all(
        use.operation.name in _MAKING
        or (use.index < _KEEPING.get(use.operation.name, 0) and use.operation.results[0] in made)
        for use in value.uses
    )


def _is_wide(value: SSAValue) -> bool:
    memory = memory_of(value.type)
    return memory is not None and memory.is_tiled and isinstance(element_type(value), BFloat16Type)
