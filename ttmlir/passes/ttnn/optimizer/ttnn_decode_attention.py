"""Let attention of one position of each sequence read keys and values once for all heads.

Before:

    #dram = #ttnn.buffer_type<dram>
    #q = #ttnn.ttnn_layout<(d0, d1, d2, d3) -> (d0 * 192 + d1 * 32 + d2, d3), <1x1>,
        memref<18x2x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
    #k = #ttnn.ttnn_layout<(d0, d1, d2, d3) -> (d0 * 192 + d1 * 96 + d2, d3), <1x1>,
        memref<18x2x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
    module {
      ttcore.device @default_device = <workerGrid = #ttcore.grid<8x8, (d0, d1) -> (0, d0, d1)>,
          l1Map = (d0, d1)[s0, s1] -> (0, d0 floordiv s0, d1 floordiv s1, (d0 mod s0) * s1
          + d1 mod s1), dramMap = (d0, d1)[s0, s1] -> (0, 0, 0, d0 * s1 + d1), meshShape = ,
          chipIds = [0]>
      func.func @main(%q: tensor<3x6x1x64xbf16, #q>, %k: tensor<3x2x96x64xbf16, #k>,
          %v: tensor<3x2x96x64xbf16, #k>) -> tensor<3x6x1x64xbf16, #q> {
        %0 = "ttnn.scaled_dot_product_attention"(%q, %k, %v) <{is_causal = false,
            operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>, scale = 1.250000e-01 : f32}>
            : (tensor<3x6x1x64xbf16, #q>, tensor<3x2x96x64xbf16, #k>, tensor<3x2x96x64xbf16, #k>)
            -> tensor<3x6x1x64xbf16, #q>
        return %0 : tensor<3x6x1x64xbf16, #q>
      }
    }

After:

    ...
        %0 = "ttnn.reshape"(%arg0) <{shape = [1 : i32, 3 : i32, 6 : i32, 64 : i32]}> : ...
        %1 = "ttnn.scaled_dot_product_attention_decode"(%0, %arg1, %arg2) <{is_causal = false,
            operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>, scale = 1.250000e-01 : f32}> : ...
        %2 = "ttnn.reshape"(%1) <{shape = [3 : i32, 6 : i32, 1 : i32, 64 : i32]}> : ...
        return %2 : ...

Requires: ttnn of 2026, and a `ttcore.device`.
Ensures: `ttnn.scaled_dot_product_attention` of bfloat16 with one row of queries, for not more
sequences than there are cores, and keys that are whole tiles, is
`ttnn.scaled_dot_product_attention_decode`; a mask is repeated for all heads, as the library asks.
Options: none.
Not done here: sinks, windows, and paged caches.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import BFloat16Type

from ttmlir.dialects.definition.ods import ODSOperation
from ttmlir.dialects.ttcore import device_of
from ttmlir.dialects.ttnn.attrs import ShapeAttr
from ttmlir.ir.greedy_rewriting import GreedyRewriter
from ttmlir.ir.tensor_types import element_type, value_shape
from ttmlir.ir.ttnn_types import with_shape
from ttmlir.ir.ttnn_values import TTNNValueBuilder
from ttmlir.layout.data_format import DEFAULT_TILE_SHAPE
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.ttnn.ttnn_decomposition_attention import scale_of

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import IntegerAttr, ModuleOp
    from xdsl.ir import Operation, SSAValue


@dataclass(frozen=True)
class TTNNDecodeAttentionPass(ModulePass):
    """Let attention of one position of each sequence read keys and values once for all heads."""

    name = "ttnn-decode-attention"
    title = "TTNNDecodeAttention"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Replace what fits."""
        GreedyRewriter({"ttnn.scaled_dot_product_attention": (_decode,)}).run(module)


def _decode(op: Operation, rewriter: GreedyRewriter) -> bool:
    assert isinstance(op, ODSOperation)
    query, key, value = (op.group(name)[0] for name in ("query", "key", "value"))
    if not _fits(op, query, key, value):
        return False
    build = TTNNValueBuilder.within(rewriter, op)
    users, heads, _, size = value_shape(query)
    form = (1, users, heads, size)
    masks = op.group("attention_mask")
    mask = _mask_of_heads(build, masks[0], (users, heads)) if masks else None
    new = build.create_grouped(
        "scaled_dot_product_attention_decode",
        (_reshape(build, query, form), key, value, mask, None, None),
        (with_shape(op.results[0].type, form),),
        is_causal=False,
        **scale_of(op),
    )
    rewriter.replace(op, _reshape(build, new.results[0], value_shape(op.results[0])))
    return True


def _fits(op: ODSOperation, *tensors: SSAValue) -> bool:
    if op.group("attention_sink") or "sliding_window_size" in op.properties:
        return False
    if cast("IntegerAttr", op.properties["is_causal"]).value.data:
        return False
    device, (query, key, value) = device_of(op), map(value_shape, tensors)
    if device is None or query[2] != 1 or query[0] > prod(device.worker_grid.data.shape):
        return False
    if not all(isinstance(element_type(each), BFloat16Type) for each in tensors):
        return False
    result = op.results[0]
    if with_shape(result.type, value_shape(result)) != result.type:
        return False  # It is in shards, which reshaping would not keep.
    return key == value and key[2] % DEFAULT_TILE_SHAPE[0] == 0 and key[0] == query[0]


def _mask_of_heads(build: TTNNValueBuilder, mask: SSAValue, wanted: tuple[int, int]) -> SSAValue:
    """[sequences or 1, heads or 1, 1, keys] as [sequences, 1, heads, keys]."""
    sequences, heads, _, keys = value_shape(mask)
    moved = _reshape(build, mask, (sequences, 1, heads, keys))
    factors = (wanted[0] // sequences, 1, wanted[1] // heads, 1)
    if prod(factors) == 1:
        return moved
    type_ = with_shape(mask.type, (wanted[0], 1, wanted[1], keys))
    return build.create("repeat", (moved,), type_, repeat_dims=ShapeAttr.of(factors))


def _reshape(build: TTNNValueBuilder, value: SSAValue, shape: tuple[int, ...]) -> SSAValue:
    if value_shape(value) == shape:
        return value
    return build.create("reshape", (value,), with_shape(value.type, shape), shape=shape)
