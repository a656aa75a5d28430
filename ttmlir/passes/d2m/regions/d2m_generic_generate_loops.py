"""Write the loops over blocks into the regions of generics, in the form of 2025.

Before:

    #l1 = #ttcore.memory_space<l1>
    #map = affine_map<(d0, d1) -> (d0, d1)>
    #parallel = #ttcore.iterator_type<parallel>
    !remote = memref<2x2x2x4x!ttcore.tile<32x32, f32>, #ttcore.shard<16384x4096>, #l1>
    !local = memref<2x4x!ttcore.tile<32x32, f32>, #l1>
    func.func @f(%x: !remote, %y: !remote) {
      d2m.generic {block_factors = [2, 1], grid = #ttcore.grid<1x2>, indexing_maps = [#map, #map],
          iterator_types = [#parallel, #parallel], threads = [#d2m.thread<datamovement>]}
          ins(%x : !remote) outs(%y : !remote) {
      ^datamovement0(%cb0: !d2m.cb<!local>, %cb1: !d2m.cb<!local>):
        %0 = d2m.reserve %cb0 : !d2m.cb<!local> -> !local
        %i = d2m.iter_index(0) : index
        %tx = d2m.dma %x[%i, %i], %0 : (!remote, !local) -> !d2m.mem_tx
        d2m.dma_wait %tx
      }
      return
    }

After:

    ...
      d2m.generic {block_factors = [], grid = #ttcore.grid<1x2>, indexing_maps = [],
          iterator_types = [], threads = [#d2m.thread<datamovement>]}
          ...
      ^datamovement0(%cb0: ..., %cb1: ...):
        ...
        scf.for %arg2 = %c0 to %c2 step %c1 {
          ...
          scf.for %arg3 = %c0_0 to %c1_1 step %c1_2 {
            %0 = d2m.reserve %cb0 : ...
            %tx = d2m.dma %arg0[%arg2, %arg2], %0 : ...
            d2m.dma_wait %tx
          }
        }
    ...

Requires: generics on memrefs, with maps that nothing in a region needs any more.
Ensures: a loop for each iterator in each region, the first one outermost; the generic has no maps,
factors and iterator types. A loop of one step goes with `canonicalize`.
Options: none.
Not done here: indices of blocks that movements have maps for (`d2m-generic-lower-dmas`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from ttmlir.dialects import d2m
from ttmlir.dialects.d2m.late import BlockIndexOp, BlockOffsetOp, GetBlockFactorOp
from ttmlir.ir.rewriting import refuse, replace
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.d2m.regions.region_builder import (
    RegionBuilder,
    forget_maps,
    generics_in,
    wrap_in_loops,
)

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Block, Operation, Region


@dataclass(frozen=True)
class D2MGenericGenerateLoopsPass(ModulePass):
    """Write the loops over blocks into the regions of generics, as in 2025."""

    name = "d2m-generic-generate-loops"
    title = "D2MGenericGenerateLoops"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Take every generic on memrefs that has maps."""
        for op in generics_in(module):
            if op.has_maps and not op.results:
                for region in op.regions:
                    _add_loops(op, region)
                forget_maps(op)


def _add_loops(op: d2m.GenericOp, region: Region) -> None:
    for each in region.walk():
        if isinstance(each, BlockIndexOp | BlockOffsetOp | GetBlockFactorOp):
            refuse(
                each,
                "is an index of 2026; use d2m-generate-outer-loops and "
                "d2m-generic-lower-to-explicit-form",
            )
        if isinstance(each, d2m.DMAOp) and (each.map_of("src") or each.map_of("dst")):
            refuse(each, "has a map of the generic; run d2m-generic-lower-dmas before")

    def make(build: RegionBuilder, iterator: int) -> tuple[Operation, Block]:
        inner, _ = build.count(op.block_factors[iterator])
        return cast("Operation", inner.block.parent_op()), inner.block

    numbers = wrap_in_loops(op, region.block, make)
    for each in list(region.walk()):
        if isinstance(each, d2m.IterIndexOp):
            replace(each, numbers[each.number])
