"""Let products of few rows read their weights from the bank of DRAM next to each of some cores.

Before:

    #dram = #ttnn.buffer_type<dram>
    #l = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x64x!ttcore.tile<32x32, bf16>,
        #dram>, <interleaved>>
    #w = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<64x96x!ttcore.tile<32x32, bf16>,
        #dram>, <interleaved>>
    #r = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x96x!ttcore.tile<32x32, bf16>,
        #dram>, <interleaved>>
    module {
      ttcore.device @default_device = <workerGrid = #ttcore.grid<8x8, virt_to_physical_map =
          (d0, d1) -> (0, d0, d1), physical_to_virt_map = (d0, d1, d2) -> (d1, d2)>,
          dramGrid = #ttcore.grid<1x12>, l1Map = (d0, d1, d2)[s0] -> (0, d0, d1, d2 + s0),
          dramMap = (d0, d1, d2)[s0, s1, s2, s3, s4, s5, s6] -> (0, 0, 0, d2 + s6),
          meshShape = , chipIds = [0]>
      func.func @main(%a: tensor<7x2048xbf16, #l>,
          %w: tensor<2048x3072xbf16, #w> {ttcore.argument_type = #ttcore.argument_type<parameter>})
          -> tensor<7x3072xbf16, #r> {
        %0 = "ttnn.matmul"(%a, %w) <{transpose_a = false, transpose_b = false}>
            : (tensor<7x2048xbf16, #l>, tensor<2048x3072xbf16, #w>) -> tensor<7x3072xbf16, #r>
        return %0 : tensor<7x3072xbf16, #r>
      }
    }

After:

    ...
        %0 = "ttnn.to_tensor_spec"(%arg1)
            : (tensor<2048x3072xbf16, #ttnn_layout1>) -> tensor<2048x3072xbf16, #ttnn_layout3>
        %1 = "ttnn.to_tensor_spec"(%arg0)
            : (tensor<7x2048xbf16, #ttnn_layout>) -> tensor<7x2048xbf16, #ttnn_layout4>
        %2 = "ttnn.matmul"(%1, %0) <{matmul_program_config =
            #ttnn.matmul_multi_core_reuse_multi_cast_dram_sharded_program_config<in0_block_w = 4,
            per_core_m = 1, per_core_n = 4>, transpose_a = false, transpose_b = false}>
            : ...
        %3 = "ttnn.to_tensor_spec"(%2)
            : (tensor<7x3072xbf16, #ttnn_layout5>) -> tensor<7x3072xbf16, #ttnn_layout2>
        return %3 : tensor<7x3072xbf16, #ttnn_layout2>
        ...

Requires: ttnn of 2026, with layouts, and a `ttcore.device` with banks of DRAM.
Ensures: products of at most 32 rows by large matrices that are there before a call have these
sharded by columns over the banks of DRAM, the rows and the result by columns over L1, where their
blocks fit there. Elementwise operations on such results, norms and further products take the shards
as they are, and others get them back where they were.
Options: none.
Not done here: biases and functions of products, and products whose shards do not fit.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from ttmlir.dialects.definition.ods import is_set
from ttmlir.dialects.ttcore import device_of
from ttmlir.dialects.ttnn.configs import MatmulDRAMShardedConfigAttr
from ttmlir.ir.rewriting import erase_unused
from ttmlir.ir.tensor_types import value_shape
from ttmlir.ir.ttnn_types import TILE, Shards, elements_in, is_sharded, memory_of, tensor_in
from ttmlir.layout.enums import BufferType, TTNNTensorMemoryLayout
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.general.const_eval_hoist_transform import is_computed_once
from ttmlir.passes.ttnn.optimizer.spread_layouts import (
    L1_SHARE,
    by_columns,
    cores_by_columns,
    device_functions,
    is_elementwise,
    layout_attr,
    make_shards,
    move,
    shard_bytes,
)
from ttmlir.program import CoreRange

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xdsl.context import Context
    from xdsl.dialects.builtin import TensorType
    from xdsl.ir import Attribute, Block, SSAValue

_MOVE = "ttnn.to_tensor_spec"
_LEAST_BYTES = 3_000_000
"""Of a matrix: with smaller ones, moving rows to shards and back takes as long as is won."""
_LEAST_TILES = 4
"""Of a shard in L1, where the row has as many for a core: each core gives its own to all."""
_SUM_BYTES = 4096
"""A tile of sums, of 32 bits each."""
_BLOCKS = 3
"""Blocks of a matrix that a core has room for: two that come, and one that is multiplied."""


@dataclass(frozen=True)
class TTNNShardProductsPass(ModulePass):
    """Let products of few rows read their weights from the bank of DRAM next to each core."""

    name = "ttnn-shard-products"
    title = "TTNNShardProducts"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Shard what fits."""
        for block, workers, usable in device_functions(module):
            device = device_of(cast("Operation", block.parent_op()))
            banks = None if device is None else device.data.dram_grid
            if banks is not None:
                _Sharding(workers, prod(banks), int(L1_SHARE * usable)).run(block)


class _Sharding:
    """What of one function is in shards."""

    def __init__(self, workers: Sequence[int], banks: int, most: int) -> None:
        """Begin with the rows and columns of cores, the banks of DRAM, and bytes of L1."""
        self._workers, self._banks, self._most = workers, banks, most

    def run(self, block: Block) -> None:
        """Go through all operations in order."""
        for op in tuple(block.ops):
            if op.name == "ttnn.matmul":
                self._shard_product(op)
            elif is_elementwise(op):
                self._shard_elementwise(op)
            elif op.name == _MOVE and is_sharded(op.results[0].type):
                source = _source_of(op.operands[0])
                if source is not None and source.type == op.results[0].type:
                    op.results[0].replace_all_uses_with(source)
        erase_unused(op for op in block.ops if op.name == _MOVE)

    def _shard_product(self, op: Operation) -> None:
        rows, weight = op.operands
        shape, result = value_shape(weight), op.results[0]
        known = {"transpose_a", "transpose_b", "compute_config"}
        if len(shape) != 2 or not known.issuperset(op.properties):
            return
        if is_set(op, "transpose_a") or is_set(op, "transpose_b"):
            return
        if not all(map(_is_one_row_of_tiles, (rows, result))) or not _is_large(weight):
            return
        if not is_computed_once(weight):
            return
        depth, columns = (extent // TILE for extent in shape)
        source = _source_of(rows)
        cores = self._cores_for(depth) if source is None else _grid_of(source)
        given = self._cores_for(columns)
        width = self._block_width(op, depth // cores if depth % cores == 0 else 0)
        if not width or given == 1:
            return
        banks = Shards(
            TTNNTensorMemoryLayout.WIDTH_SHARDED,
            (1, self._banks),
            (CoreRange((0, 0), (self._banks - 1, 0)),),
        )
        placed = tensor_in(weight.type, tiled=True, shards=banks)
        op.operands[1] = move(weight, placed, op, op.location)
        if source is None:
            type_ = self._by_columns(rows.type, cores)
            op.operands[0] = _existing(rows, type_, op) or move(rows, type_, op, op.location)
        else:
            op.operands[0] = source
        op.properties["matmul_program_config"] = MatmulDRAMShardedConfigAttr(
            (("in0_block_w", width), ("per_core_m", 1), ("per_core_n", columns // given))
        )
        make_shards(op, self._by_columns(result.type, given))

    def _block_width(self, op: Operation, most: int) -> int:
        """Tiles that are summed at once of a shard of so many; 0 if no blocks fit into L1."""
        weight, result = op.operands[1], op.results[0]
        columns = -(-value_shape(weight)[1] // TILE // self._banks)
        sums = columns * (_SUM_BYTES + _tile_bytes(result))
        around = 2 * most * _tile_bytes(op.operands[0])
        room = self._most - sums - around
        fitting = (
            width
            for width in range(min(most, 16), 0, -1)
            if most % width == 0 and _BLOCKS * width * columns * _tile_bytes(weight) <= room
        )
        return next(fitting, 0)

    def _shard_elementwise(self, op: Operation) -> None:
        """Keep the shards of an operand where all operands are as large as the result."""
        shape = value_shape(op.results[0])
        found = [source for each in op.operands if (source := _source_of(each)) is not None]
        if not found or any(value_shape(each) != shape for each in op.operands):
            return
        if any(memory_of(each.type) is None for each in (*op.operands, op.results[0])):
            return
        grid = _grid_of(found[0])
        if is_sharded(op.results[0].type) or not _is_one_row_of_tiles(op.results[0]):
            return
        for number, each in enumerate(op.operands):
            type_ = self._by_columns(each.type, grid)
            source = _source_of(each)
            if source is not None and source.type == type_:
                op.operands[number] = source
            else:
                op.operands[number] = _existing(each, type_, op) or move(
                    each, type_, op, op.location
                )
        make_shards(op, self._by_columns(op.results[0].type, grid))

    def _cores_for(self, tiles: int) -> int:
        """How many cores have shards of a row of so many tiles, of at least four each."""
        return cores_by_columns(tiles, tiles // _LEAST_TILES, self._workers)

    def _by_columns(self, type_: Attribute, cores: int) -> TensorType[Attribute]:
        return by_columns(type_, cores, self._workers)


def _is_one_row_of_tiles(value: SSAValue) -> bool:
    """True for tiles of at most 32 rows, whose columns are whole tiles."""
    shape, memory = value_shape(value), memory_of(value.type)
    if memory is None or not memory.is_tiled or len(shape) < 2 or shape[-1] % TILE:
        return False
    return prod(shape[:-2]) == 1 and shape[-2] <= TILE


def _is_large(weight: SSAValue) -> bool:
    """True for whole tiles that are interleaved in DRAM, and take long to read."""
    memory = memory_of(weight.type)
    if memory is None or not memory.is_tiled or memory.buffer is not BufferType.DRAM:
        return False
    if is_sharded(weight.type) or any(extent % TILE for extent in value_shape(weight)):
        return False
    return shard_bytes(weight.type) >= _LEAST_BYTES


def _tile_bytes(value: SSAValue) -> int:
    layout = layout_attr(value.type)
    assert layout is not None, "tensors of ttnn have layouts"
    return layout.tensor_layout.shard_bytes // prod(layout.memref.get_shape())


def _source_of(value: SSAValue) -> SSAValue | None:
    """The shards by columns that were moved to where a value is; None for others."""
    owner = value.owner
    if not isinstance(owner, Operation) or owner.name != _MOVE or is_sharded(value.type):
        return None
    source = owner.operands[0]
    layout = layout_attr(source.type)
    if layout is None or not is_sharded(source.type):
        return None
    spread = layout.tensor_layout.memory_layout
    is_by_columns = spread.keyword == TTNNTensorMemoryLayout.WIDTH_SHARDED.keyword
    kept = elements_in(source.type) == elements_in(value.type)
    return source if is_by_columns and kept else None


def _grid_of(value: SSAValue) -> int:
    layout = layout_attr(value.type)
    assert layout is not None, "shards have layouts"
    return layout.grid.data.shape[1]


def _existing(value: SSAValue, type_: Attribute, before: Operation) -> SSAValue | None:
    """What a value was moved to before, if that is as wanted."""
    block = before.parent
    for use in value.uses:
        user = use.operation
        if user.name != _MOVE or user.results[0].type != type_ or user.parent is not block:
            continue
        if user.is_before_in_block(before):
            return user.results[0]
    return None
