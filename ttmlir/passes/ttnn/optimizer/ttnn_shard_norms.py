"""Let many cores compute the norms of few long rows, of which each has some columns.

Before:

    #dram = #ttnn.buffer_type<dram>
    #l = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x64x!ttcore.tile<32x32, bf16>,
        #dram>, <interleaved>>
    module {
      ttcore.device @default_device = <workerGrid = #ttcore.grid<8x8, (d0, d1) -> (0, d0, d1)>,
          l1Map = (d0, d1)[s0, s1] -> (0, d0 floordiv s0, d1 floordiv s1, (d0 mod s0) * s1
          + d1 mod s1), dramMap = (d0, d1)[s0, s1] -> (0, 0, 0, d0 * s1 + d1), meshShape = ,
          chipIds = [0]>
      func.func @main(%a: tensor<7x2048xbf16, #l>) -> tensor<7x2048xbf16, #l> {
        %0 = "ttnn.rms_norm"(%a) <{epsilon = 1.0e-05 : f32,
            operandSegmentSizes = array<i32: 1, 0, 0>}>
            : (tensor<7x2048xbf16, #l>) -> tensor<7x2048xbf16, #l>
        return %0 : tensor<7x2048xbf16, #l>
      }
    }

After:

    ...
        %0 = "ttnn.to_tensor_spec"(%arg0)
            : (tensor<7x2048xbf16, #ttnn_layout>) -> tensor<7x2048xbf16, #ttnn_layout1>
        %1 = "ttnn.rms_norm"(%0) <{...}>
            : (tensor<7x2048xbf16, #ttnn_layout1>) -> tensor<7x2048xbf16, #ttnn_layout1>
        %2 = "ttnn.to_tensor_spec"(%1)
            : (tensor<7x2048xbf16, #ttnn_layout1>) -> tensor<7x2048xbf16, #ttnn_layout>
        return %2 : tensor<7x2048xbf16, #ttnn_layout>
        ...

Requires: ttnn of 2026, with layouts, and a `ttcore.device`.
Ensures: `ttnn.rms_norm` and `ttnn.layer_norm` of rows of at least 32 tiles, where there are fewer
rows of tiles than an eighth of the cores, are of shards by columns in L1, on whole rows of cores,
where those of source and result fit there. Interleaved, each row of tiles would be one core's.
Options: none.
Not done here: norms of rows of fewer than 32 tiles, which stay as they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from ttmlir.dialects.ttcore import device_of
from ttmlir.ir.tensor_types import value_shape
from ttmlir.ir.ttnn_types import is_sharded, memory_of
from ttmlir.layout.data_format import DEFAULT_TILE_SHAPE, padded_shape
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.ttnn.optimizer.spread_layouts import (
    L1_SHARE,
    by_columns,
    cores_by_columns,
    make_shards,
    move,
    shard_bytes,
    usable_l1_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import SSAValue

_NORMS = ("ttnn.rms_norm", "ttnn.layer_norm")
_LEAST_COLUMNS = 32
"""Of tiles: moving shorter rows to shards and back takes as long as is won."""
_LEAST_SHARE = 8
"""So many times more cores than rows of tiles."""
_LEAST_TILES = 4
"""Of a shard: cores give each other the sums of their columns, which takes longer for more."""


@dataclass(frozen=True)
class TTNNShardNormsPass(ModulePass):
    """Let many cores compute the norms of few long rows, of which each has some columns."""

    name = "ttnn-shard-norms"
    title = "TTNNShardNorms"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Move what fits to shards and back."""
        for op in [op for op in module.walk() if op.name in _NORMS]:
            device = device_of(op)
            if device is None:
                continue
            workers = device.worker_grid.data.shape
            cores = _cores_of(op.operands[0], workers)
            memory = memory_of(op.operands[0].type)
            if cores is not None and memory is not None and memory.is_tiled:
                source, result = op.operands[0], op.results[0]
                taken, made = (by_columns(each.type, cores, workers) for each in (source, result))
                usable = usable_l1_of(op)
                if usable is None or shard_bytes(taken) + shard_bytes(made) <= L1_SHARE * usable:
                    op.operands[0] = move(source, taken, op, op.location)
                    make_shards(op, made)


def _cores_of(value: SSAValue, workers: Sequence[int]) -> int | None:
    """How many cores have columns of a tensor; None if it stays as it is."""
    shape = padded_shape(value_shape(value))
    if len(shape) < 2 or is_sharded(value.type):
        return None
    height, width = DEFAULT_TILE_SHAPE
    rows, columns = prod(shape[:-1]) // height, shape[-1] // width
    if columns < _LEAST_COLUMNS or rows * _LEAST_SHARE > prod(workers):
        return None
    count = cores_by_columns(columns, rows * columns // _LEAST_TILES, workers)
    return count if count >= 2 * rows else None
