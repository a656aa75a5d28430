"""Write the loops over blocks into the regions of generics, with bounds that may still change.

Before:

    #l1 = #ttcore.memory_space<l1>
    #map = affine_map<(d0, d1) -> (d0, d1)>
    #parallel = #ttcore.iterator_type<parallel>
    !remote = memref<2x2x2x4x!ttcore.tile<32x32, f32>, #ttcore.shard<16384x4096, 1>, #l1>
    !local = memref<2x4x!ttcore.tile<32x32, f32>, #l1>
    func.func @f(%x: !remote, %y: !remote) {
      d2m.generic {block_factors = [2, 1], grid = #ttcore.grid<1x2>, indexing_maps = [#map, #map],
          iterator_types = [#parallel, #parallel], threads = [#d2m.thread<unified>]}
          ins(%x : !remote) outs(%y : !remote) {
        %i = d2m.block_index(0) : index
        %j = d2m.block_index(1) : index
        %buffer = memref.alloc() : !local
        %0 = d2m.remote_load %buffer %x[%i, %j] : !local, !remote -> !local
        d2m.remote_store %y[%i, %j] %0 : !remote, !local
      }
      return
    }

After:

    ...
        %block_factor0 = d2m.get_block_factor(0) : index
        affine.for %arg2 = 0 to %block_factor0 {
          %block_factor1 = d2m.get_block_factor(1) : index
          affine.for %arg3 = 0 to %block_factor1 {
            %block_offset0 = d2m.block_offset(0) : index
            %0 = affine.apply #map1(%arg2)[%block_offset0]
            ...
          } {d2m.blocking_loop = 1 : i64}
        } {d2m.blocking_loop = 0 : i64}
    ...

Requires: generics on memrefs, with maps.
Ensures: a loop for each iterator in each region, the first one outermost, with the iterator's
number as `d2m.blocking_loop`; a block's index is the core's first block and the step. What names
arguments of the generic stays in front.
Options: none.
Not done here: numbers in place of `d2m.get_block_factor` and `d2m.block_offset`, which
`d2m-generic-lower-to-explicit-form` knows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.dialects import affine
from xdsl.dialects.builtin import IndexType, IntegerAttr, i64
from xdsl.ir import Block, Operation, Region

from ttmlir.dialects import d2m
from ttmlir.dialects.d2m.late import BlockIndexOp, BlockOffsetOp, GetBlockFactorOp
from ttmlir.ir.rewriting import replace
from ttmlir.layout.affine import AffineMap, DimExpr, SymbolExpr
from ttmlir.mlir.attributes import affine_map_attr
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.d2m.regions.region_builder import RegionBuilder, generics_in, wrap_in_loops

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp

BLOCKING_LOOP = "d2m.blocking_loop"
"""On a loop over blocks: the number of its iterator."""


@dataclass(frozen=True)
class D2MGenerateOuterLoopsPass(ModulePass):
    """Write the loops over blocks into the regions of generics."""

    name = "d2m-generate-outer-loops"
    title = "D2MGenerateOuterLoops"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Take every generic on memrefs that has no loops over blocks yet."""
        for op in generics_in(module):
            has_loops = any(BLOCKING_LOOP in each.attributes for each in op.walk())
            if op.has_maps and not op.results and not has_loops:
                for region in op.regions:
                    _add_loops(op, region)


def _add_loops(op: d2m.GenericOp, region: Region) -> None:
    numbers = wrap_in_loops(op, region.block, _loop)
    step = DimExpr(0)
    for each in list(region.walk()):
        if isinstance(each, d2m.IterIndexOp):
            replace(each, numbers[each.number])
        elif isinstance(each, BlockIndexOp):
            build = RegionBuilder.before(each)
            first = build.add_op(BlockOffsetOp.at(each.number)).results[0]
            sum_ = build.apply(step + SymbolExpr(0), [numbers[each.number], first], symbols=1)
            replace(each, sum_)


def _loop(build: RegionBuilder, iterator: int) -> tuple[Operation, Block]:
    factor = build.add_op(GetBlockFactorOp.at(iterator)).results[0]
    block = Block([affine.YieldOp.get()], arg_types=[IndexType()])
    last = affine_map_attr(AffineMap(0, 1, (SymbolExpr(0),)))
    loop = affine.ForOp.from_region([], [factor], [], [], 0, last, Region(block))
    loop.attributes[BLOCKING_LOOP] = IntegerAttr(iterator, i64)
    return build.add_op(loop), block
