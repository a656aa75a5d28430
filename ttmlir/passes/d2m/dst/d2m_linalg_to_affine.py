"""Write the loops over tiles of a region out: `linalg.generic` on memrefs as `affine.for`.

Before:

    #map = affine_map<(d0, d1) -> (d0, d1)>
    #parallel = #ttcore.iterator_type<parallel>
    #l1 = #ttcore.memory_space<l1>
    !remote = memref<1x1x2x4x!ttcore.tile<32x32, f32>, #ttcore.shard<16384x4096, 1>, #l1>
    !local = memref<2x4x!ttcore.tile<32x32, f32>, #l1>
    func.func @f(%x: !remote, %y: !remote) {
      d2m.generic {block_factors = [1, 1], grid = #ttcore.grid<1x1>, indexing_maps = [#map, #map],
          iterator_types = [#parallel, #parallel], threads = [#d2m.thread<compute>]}
          ins(%x : !remote) outs(%y : !remote) {
        %cb0 = d2m.get_cb(0) : !d2m.cb<!local>
        %cb1 = d2m.get_cb(1) : !d2m.cb<!local>
        %in = d2m.wait %cb0 : !d2m.cb<!local> -> !local
        %out = d2m.reserve %cb1 : !d2m.cb<!local> -> !local
        linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
            ins(%in : !local) outs(%out : !local) {
        ^bb0(%a: !ttcore.tile<32x32, f32>, %b: !ttcore.tile<32x32, f32>):
          %0 = "d2m.tile_exp"(%a) : (!ttcore.tile<32x32, f32>) -> !ttcore.tile<32x32, f32>
          linalg.yield %0 : !ttcore.tile<32x32, f32>
        }
      }
      return
    }

After:

    ...
        affine.for %arg2 = 0 to 2 {
          affine.for %arg3 = 0 to 4 {
            %2 = affine.load %0[%arg2, %arg3] : ...
            %3 = "d2m.tile_exp"(%2) : ...
            affine.store %3, %1[%arg2, %arg3] : ...
          }
        } {d2m.linalg_root}
    ...

Requires: `linalg.generic` on memrefs of static shapes.
Ensures: a nest of loops for each, in the order of its iterators; the outermost has
`d2m.linalg_root`. An output is loaded only where the body reads it.
Options: `use-tile-matmul`: false leaves loops of products to those that multiply blocks.
Not done here: loops on tensors, which stay as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from xdsl.dialects import affine
from xdsl.dialects.builtin import IndexType, IntegerAttr, MemRefType, ModuleOp, UnitAttr
from xdsl.dialects.linalg.ops import YieldOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ttmlir.dialects import d2m
from ttmlir.dialects.linalg import GenericOp
from ttmlir.ir.rewriting import erase, replace
from ttmlir.layout.affine import DimExpr
from ttmlir.mlir.attributes import layout_map
from ttmlir.mlir.option_values import option
from ttmlir.passes.core.base import ModulePass

if TYPE_CHECKING:
    from xdsl.context import Context

LINALG_ROOT = "d2m.linalg_root"
"""On a loop: it is the outermost of those that took the place of a `linalg.generic`."""


@dataclass(frozen=True)
class D2MLinalgToAffinePass(ModulePass):
    """Write loops over tiles as loops of affine."""

    name = "d2m-linalg-to-affine"
    title = "D2MLinalgToAffine"

    use_tile_matmul: bool = option(True, "Write the loops of products out, too, tile by tile")

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Convert all loops, in order."""
        for op in [each for each in module.walk() if isinstance(each, GenericOp)]:
            if self._takes(op):
                convert_to_loops(op)

    def _takes(self, op: GenericOp) -> bool:
        types = [value.type for value in op.operands]
        if op.results or not all(
            isinstance(type_, MemRefType)
            and all(extent >= 0 for extent in cast("MemRefType[Attribute]", type_).get_shape())
            for type_ in types
        ):
            return False
        is_product = any(isinstance(each, d2m.TileMatmulOp) for each in op.walk())
        return self.use_tile_matmul or not is_product


def convert_to_loops(op: GenericOp) -> None:
    """Let a nest of loops take the place of the operation."""
    extents = _extents(op)
    blocks = [Block(arg_types=[IndexType()]) for _ in extents]
    loops = [
        affine.ForOp.from_region([], [], [], [], 0, extent, Region(block))
        for extent, block in zip(extents, blocks, strict=True)
    ]
    for block, inner in zip(blocks, loops[1:], strict=False):
        block.add_ops((inner, affine.YieldOp.get()))
    steps = [block.args[0] for block in blocks]
    parent = op.parent
    assert parent is not None, "the operation is in a region"
    body = _body(op, steps)
    if loops:
        loops[0].attributes[LINALG_ROOT] = UnitAttr()
        parent.insert_op_before(loops[0], op)
        blocks[-1].add_ops((*body, affine.YieldOp.get()))
        for loop in loops:
            loop.location = op.location
            cast("Operation", loop.body.block.last_op).location = op.location
    else:
        parent.insert_ops_before(body, op)
    erase(op)


def _extents(op: GenericOp) -> tuple[int, ...]:
    """Steps of each iterator: the extent of a dimension that it counts."""
    found: dict[int, int] = {}
    for attr, value in zip(op.indexing_maps.data, op.operands, strict=True):
        shape = cast("MemRefType[Attribute]", value.type).get_shape()
        for result, extent in zip(layout_map(attr).results, shape, strict=True):
            if isinstance(result, DimExpr):
                found.setdefault(result.position, extent)
    return tuple(found[number] for number in range(len(op.iterator_types.data)))


def _body(op: GenericOp, steps: Sequence[SSAValue]) -> list[Operation]:
    """What is done in each step: loads, the operations of the body, stores."""
    for each in [each for each in op.walk() if each.name == "linalg.index"]:
        number = cast("IntegerAttr", each.properties["dim"]).value.data
        replace(each, steps[number])
    made: list[Operation] = []
    block = op.body.block
    maps = op.indexing_maps.data
    for argument, operand, index_map in zip(block.args, op.operands, maps, strict=True):
        if argument.uses:
            load = affine.LoadOp(operand, steps, index_map)
            load.location = op.location
            argument.replace_all_uses_with(load.result)
            made.append(load)
    first = len(op.inputs)
    for each in tuple(block.ops):
        if isinstance(each, YieldOp):
            places = zip(each.operands, op.operands[first:], maps[first:], strict=True)
            for value, out, index_map in places:
                store = affine.StoreOp(value, out, steps, index_map)
                store.location = op.location
                made.append(store)
            break
        each.detach()
        made.append(each)
    return made
