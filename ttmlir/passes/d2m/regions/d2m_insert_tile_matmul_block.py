"""Multiply blocks of tiles at once, where loops multiply all their tiles.

Before:

    #l1 = #ttcore.memory_space<l1>
    !tile = !ttcore.tile<32x32, bf16>
    !remote = memref<1x1x2x2x!tile, #ttcore.shard<4096x2048, 1>, #l1>
    !local = memref<2x2x!tile, #l1>
    func.func @f(%x: !remote, %y: !remote) {
      d2m.generic {block_factors = [], grid = #ttcore.grid<1x1>, indexing_maps = [],
          iterator_types = [], threads = [#d2m.thread<compute>]}
          ins(%x : !remote) outs(%y : !remote) {
        %cb0 = d2m.get_cb(0) : !d2m.cb<!local>
        %cb1 = d2m.get_cb(1) : !d2m.cb<!local>
        %0 = d2m.wait %cb0 : !d2m.cb<!local> -> !local
        %1 = d2m.reserve %cb1 : !d2m.cb<!local> -> !local
        affine.for %i = 0 to 2 {
          affine.for %j = 0 to 2 {
            affine.for %k = 0 to 2 {
              %a = affine.load %0[%i, %k] : !local
              %b = affine.load %0[%k, %j] : !local
              %c = affine.load %1[%i, %j] : !local
              %2 = "d2m.tile_matmul"(%a, %b, %c) : (!tile, !tile, !tile) -> !tile
              affine.store %2, %1[%i, %j] : !local
            }
          }
        } {d2m.linalg_root}
      }
      return
    }

After:

    ...
        %1 = d2m.reserve %cb_0 : ...
        "d2m.tile_matmul_block"(%0, %0, %1) : ...
    ...

Requires: loops that only multiply tiles and add the products to those of another block.
Ensures: one operation in place of the loops.
Options: none.
Not done here: products that other operations follow in the same loops.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from xdsl.dialects import affine
from xdsl.dialects.builtin import MemRefType
from xdsl.traits import IsTerminator

from ttmlir.dialects import d2m
from ttmlir.ir.rewriting import erase
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.d2m.dst.d2m_linalg_to_affine import LINALG_ROOT
from ttmlir.passes.d2m.regions.region_builder import RegionBuilder, generics_in

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Attribute, Operation, SSAValue


@dataclass(frozen=True)
class D2MInsertTileMatmulBlockPass(ModulePass):
    """Multiply blocks of tiles at once."""

    name = "d2m-insert-tile-matmul-block"
    title = "D2MInsertTileMatmulBlock"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Take every outermost loop over tiles."""
        for generic in generics_in(module):
            for op in [each for each in generic.walk() if isinstance(each, affine.ForOp)]:
                if LINALG_ROOT in op.attributes:
                    block_product(op, None)


def block_product(root: affine.ForOp, output: SSAValue | None) -> bool:
    """Put a product of blocks in place of loops, if these are one; True if it is so.

    The product is added to `output`, by default to what the loops store to.
    """
    inside: list[Operation] = [root]
    parts = list[str]()
    products: list[d2m.TileMatmulOp] = []
    for op in root.walk():
        if isinstance(op, affine.ForOp) or op.has_trait(IsTerminator):
            continue
        parts.append(op.name)
        if isinstance(op, d2m.TileMatmulOp):
            products.append(op)
        elif isinstance(op, affine.StoreOp):
            inside.append(op)
    expected = ["affine.load"] * 3 + ["affine.store", "d2m.tile_matmul"]
    if sorted(parts) != expected or len(products) != 1:
        return False
    loads = [each.owner for each in products[0].operands if isinstance(each.owner, affine.LoadOp)]
    if len(loads) != 3:
        return False
    target = output
    if target is None:
        (store,) = (each for each in inside if isinstance(each, affine.StoreOp))
        target = store.memref
    left, right = (each.memref for each in loads[:2])
    if math.prod(cast("MemRefType[Attribute]", left.type).get_shape()[:-2]) != 1:
        return False  # several products, tile by tile
    block = d2m.TileMatmulBlockOp.create(operands=[left, right, target])
    RegionBuilder.before(root).add_op(block)
    erase(root)
    return True
