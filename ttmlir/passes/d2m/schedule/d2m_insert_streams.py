"""Give each operand of generics a stream, without addresses.

Before:

    // After ttir-load-system-desc
    #dram = #ttcore.memory_space<dram>
    #l1 = #ttcore.memory_space<l1>
    #map = affine_map<(d0, d1) -> (d0, d1)>
    #parallel = #ttcore.iterator_type<parallel>
    !tile = !ttcore.tile<32x32, f32>
    !buffer = memref<1x1x16x12x!tile, #ttcore.interleaved<49152x4096>, #dram>
    !blocks = memref<16x4x1x3x!tile,
        #ttcore.view<(d0, d1, d2, d3) -> (0, 0, d0, d1 * 3 + d3)>, #dram>
    !shard = memref<1x3x!tile, #l1>
    func.func @exp(%x: !buffer, %y: !buffer) {
      %vx = d2m.view_layout %x : !buffer -> !blocks
      %vy = d2m.view_layout %y : !buffer -> !blocks
      d2m.generic {block_factors = [2, 1], grid = #ttcore.grid<8x4>,
          indexing_maps = [#map, #map], iterator_types = [#parallel, #parallel],
          threads = [#d2m.thread<compute>]} ins(%vx : !blocks) outs(%vy : !blocks) {
      ^compute0(%cb0: !d2m.cb<!shard>, %cb1: !d2m.cb<!shard>):
        %i = d2m.wait %cb0 : !d2m.cb<!shard> -> !shard
        %o = d2m.reserve %cb1 : !d2m.cb<!shard> -> !shard
        linalg.generic {indexing_maps = [#map, #map],
            iterator_types = ["parallel", "parallel"]} ins(%i : !shard) outs(%o : !shard) {
        ^bb0(%a: !tile, %b: !tile):
          %e = "d2m.tile_exp"(%a) : (!tile) -> !tile
          linalg.yield %e : !tile
        }
      }
      return
    }

After:

    ...
        %alloc = memref.alloc() : memref<8x4x1x3x!ttcore.tile<32x32, f32>,
            #ttcore.shard<12288x4096, 2>, #l1>
        %stream = "d2m.stream_layout"(%view, %alloc) : ...
        %alloc_1 = memref.alloc() : ...
        %stream_2 = "d2m.stream_layout"(%view_0, %alloc_1) : ...
        d2m.generic {...}
            ins(%stream : ...)
            outs(%stream_2 : ...) {
    ...

Requires: generics on memrefs in blocks (`d2m-grid-selection`); the machine on the module.
Ensures: every operand is a stream, whose circular buffer has several blocks if it is filled more
than once and they fit.
Options: how many blocks a circular buffer holds.
Not done here: addresses, which `d2m-allocate` gives to these streams, and to all buffers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ttmlir.dialects import d2m
from ttmlir.ir.tensor_types import require_system_desc
from ttmlir.passes.core.base import option
from ttmlir.passes.d2m.frontend.unified_form import ComputingModulePass
from ttmlir.passes.d2m.schedule.block_choice import check_stream_buffers
from ttmlir.passes.d2m.schedule.d2m_allocate import Streams

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp


@dataclass(frozen=True)
class D2MInsertStreamsPass(ComputingModulePass):
    """Give each operand of generics a stream, without addresses."""

    name = "d2m-insert-streams"
    title = "D2MInsertStreams"
    num_stream_buffers: int = option(2, "Blocks that a circular buffer of several steps holds")

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Insert the streams of every generic on memrefs."""
        check_stream_buffers(self.num_stream_buffers)
        for op in tuple(module.walk()):
            if isinstance(op, d2m.GenericOp) and op.is_compute_only and _is_in_blocks(op):
                chip = require_system_desc(module, self.name).chip_descs[0]
                Streams(op, chip, self.num_stream_buffers).insert(has_addresses=False)


def _is_in_blocks(op: d2m.GenericOp) -> bool:
    """True for memrefs that maps say the blocks of."""
    return op.has_maps and bool(op.regions) and not op.results
