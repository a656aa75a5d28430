"""Give each operation on tiles loops of its own, so that its preparation is called once.

Before:

    #l1 = #ttcore.memory_space<l1>
    #dst = #ttcore.memory_space<dst>
    !tile = !ttcore.tile<32x32, bf16>
    !remote = memref<1x1x1x2x!tile, #ttcore.shard<4096x2048>, #l1>
    !dst = memref<4x1x2x!tile, #dst>
    func.func @f(%x: !remote) {
      d2m.generic {block_factors = [], grid = #ttcore.grid<1x1>, indexing_maps = [],
          iterator_types = [], threads = [#d2m.thread<compute>]} ins() outs(%x : !remote) {
        %dst = d2m.acquire_dst() : !dst
        affine.for %i = 0 to 2 {
          %0 = affine.load %dst[0, 0, %i] : !dst
          %1 = "d2m.tile_exp"(%0) : (!tile) -> !tile
          affine.store %1, %dst[0, 0, %i] : !dst
          %2 = affine.load %dst[0, 0, %i] : !dst
          %3 = "d2m.tile_abs"(%2) : (!tile) -> !tile
          affine.store %3, %dst[0, 0, %i] : !dst
        }
      }
      return
    }

After:

    ...
        affine.for %arg1 = 0 to 2 {
          %0 = affine.load %dst[0, 0, %arg1] : ...
          %1 = "d2m.tile_exp"(%0) : ...
          affine.store %1, %dst[0, 0, %arg1] : ...
        }
        affine.for %arg1 = 0 to 2 {
          %0 = affine.load %dst[0, 0, %arg1] : ...
          %1 = "d2m.tile_abs"(%0) : ...
          affine.store %1, %dst[0, 0, %arg1] : ...
        }
    ...

Requires: loops over tiles of DST (`d2m-insert-dst-register-access`), which load, compute and store.
Ensures: loops up to each store, in order, where nothing else is handed from one to the next and
each step has tiles of its own.
Options: none.
Not done here: products, reductions and changes of format of blocks, which stay in one loop.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from xdsl.dialects import affine
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute, Operation
from xdsl.traits import IsTerminator

from ttmlir.dialects import d2m
from ttmlir.dialects.ttcore import memory_space_of
from ttmlir.ir.rewriting import erase
from ttmlir.layout.affine import DimExpr
from ttmlir.layout.enums import MemorySpace
from ttmlir.mlir.attributes import layout_map
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.d2m.regions.d2m_insert_dst_register_access import innermost_block
from ttmlir.passes.d2m.regions.region_builder import RegionBuilder, generics_in

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp


@dataclass(frozen=True)
class D2MSFPUTileLoopFissionPass(ModulePass):
    """Give each operation on tiles loops of its own."""

    name = "d2m-sfpu-tile-loop-fission"
    title = "D2MSFPUTileLoopFission"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Take every nest of loops with several stores to DST."""
        for generic in generics_in(module):
            for op in [each for each in generic.walk() if isinstance(each, affine.ForOp)]:
                if op.parent is not None and not isinstance(op.parent_op(), affine.ForOp):
                    _divide(op)


def _divide(root: affine.ForOp) -> None:
    loops, block = innermost_block(root)
    ops = [each for each in block.ops if not each.has_trait(IsTerminator)]
    groups: list[list[Operation]] = [[]]
    for op in ops:
        groups[-1].append(op)
        if isinstance(op, affine.StoreOp):
            groups.append([])
    if groups[-1] or len(groups) < 3 or not _is_elementwise(loops, ops):
        return
    numbers = {op: number for number, group in enumerate(groups) for op in group}
    crosses = any(
        isinstance(value.owner, Operation) and numbers.get(value.owner, numbers[op]) != numbers[op]
        for op in ops
        for value in op.operands
    )
    if crosses:
        return
    build = RegionBuilder.before(root)
    for number in range(len(groups) - 1):
        copy = build.insert(root.clone())
        _, inner = innermost_block(copy)
        for old, new in reversed(list(zip(ops, list(inner.ops), strict=False))):
            if numbers[old] != number:
                erase(new)
    erase(root)


def _is_elementwise(loops: list[affine.ForOp], ops: list[Operation]) -> bool:
    """True where steps have tiles of DST of their own, and operations work on single tiles."""
    numbers = {loop.body.block.args[0] for loop in loops}
    for op in ops:
        if isinstance(op, affine.LoadOp | affine.StoreOp):
            type_ = cast("MemRefType[Attribute]", op.memref.type)
            used = {
                op.indices[result.position]
                for result in layout_map(op.map).results
                if isinstance(result, DimExpr)
            }
            if memory_space_of(type_) is not MemorySpace.REGISTER_DST or used != numbers:
                return False
        elif not isinstance(op, d2m.ElementwiseTileOp | d2m.DstReinterpretCastOp):
            return False
    return True
