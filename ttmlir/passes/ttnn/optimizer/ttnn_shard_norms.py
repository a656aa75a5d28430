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

from xdsl.dialects.builtin import TensorType

from ttmlir.dialects import ttnn
from ttmlir.dialects.ttcore import device_of
from ttmlir.ir.tensor_types import value_shape
from ttmlir.ir.ttnn_types import Shards, is_sharded, memory_of, set_type, tensor_in
from ttmlir.layout.data_format import DEFAULT_TILE_SHAPE, padded_shape
from ttmlir.layout.enums import BufferType, TTNNTensorMemoryLayout
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.ttnn.optimizer.spread_layouts import L1_SHARE, move, shard_bytes, usable_l1_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Attribute, Operation, SSAValue

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
                shards = [_in_shards(op.operands[0].type, cores, workers)]
                shards.append(_in_shards(op.results[0].type, cores, workers))
                usable = usable_l1_of(op)
                if usable is None or sum(map(shard_bytes, shards)) <= L1_SHARE * usable:
                    _shard(op, *shards)


def _cores_of(value: SSAValue, workers: Sequence[int]) -> int | None:
    """How many cores have columns of a tensor; None if it stays as it is."""
    shape = padded_shape(value_shape(value))
    if len(shape) < 2 or is_sharded(value.type):
        return None
    height, width = DEFAULT_TILE_SHAPE
    rows, columns = prod(shape[:-1]) // height, shape[-1] // width
    if columns < _LEAST_COLUMNS or rows * _LEAST_SHARE > prod(workers):
        return None
    across, most = workers[1], min(prod(workers), rows * columns // _LEAST_TILES)
    fitting = (
        count
        for count in range(most, 0, -1)
        if columns % count == 0 and (count % across == 0 or count < across)
    )
    count = next(fitting, 1)
    return count if count >= 2 * rows else None


def _shard(op: Operation, source: Attribute, target: Attribute) -> None:
    whole = op.results[0].type
    op.operands[0] = move(op.operands[0], source, op, op.location)
    set_type(op.results[0], target)
    result = op.results[0]
    back = ttnn.op_class("to_tensor_spec").create(
        operands=[result], result_types=[whole], location=op.location
    )
    block = op.parent
    assert block is not None, "it is in a function"
    block.insert_op_after(back, op)
    for use in tuple(result.uses):
        if use.operation is not back:
            use.operation.operands[use.index] = back.results[0]


def _in_shards(type_: Attribute, cores: int, workers: Sequence[int]) -> TensorType[Attribute]:
    shards = Shards.on(TTNNTensorMemoryLayout.WIDTH_SHARDED, (1, cores), workers)
    return tensor_in(type_, tiled=True, buffer=BufferType.L1, shards=shards)
