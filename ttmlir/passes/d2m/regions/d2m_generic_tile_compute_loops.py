"""Divide loops over tiles so that the tiles of each part fit in DST.

Before:

    #l1 = #ttcore.memory_space<l1>
    #map = affine_map<(d0, d1) -> (d0, d1)>
    !remote = memref<1x1x2x8x!ttcore.tile<32x32, f32>, #ttcore.shard<32768x4096>, #l1>
    !local = memref<2x8x!ttcore.tile<32x32, f32>, #l1>
    func.func @f(%x: !remote, %y: !remote) {
      d2m.generic {block_factors = [], grid = #ttcore.grid<1x1>, indexing_maps = [],
          iterator_types = [], threads = [#d2m.thread<compute>]}
          ins(%x : !remote) outs(%y : !remote) {
      ^compute0(%cb0: !d2m.cb<!local>, %cb1: !d2m.cb<!local>):
        %0 = d2m.wait %cb0 : !d2m.cb<!local> -> !local
        %1 = d2m.reserve %cb1 : !d2m.cb<!local> -> !local
        linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
            ins(%0 : !local) outs(%1 : !local) {
        ^bb0(%a: !ttcore.tile<32x32, f32>, %b: !ttcore.tile<32x32, f32>):
          %2 = "d2m.tile_exp"(%a) : (!ttcore.tile<32x32, f32>) -> !ttcore.tile<32x32, f32>
          linalg.yield %2 : !ttcore.tile<32x32, f32>
        }
      }
      return
    }

After:

    ...
        scf.for %arg2 = %c0 to %c2 step %c1 {
          ...
          scf.for %arg3 = %c0_0 to %c8 step %c4 {
            %subview = memref.subview %0[%arg2, %arg3] [1, 4] [1, 1] : ...
            %subview_1 = memref.subview %1[%arg2, %arg3] [1, 4] [1, 1] : ...
            linalg.generic {...} ins(%subview : ...) outs(%subview_1 : ...) {
    ...

Requires: `linalg.generic` on memrefs of static shapes, in a region that computes.
Ensures: the output of each part has at most as many tiles as DST, the last dimension first, where
each operation has one tile in DST and overwrites it; else one tile. Reductions stay whole.
Options: tiles of DST.
Not done here: registers (`d2m-insert-dst-register-access`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from xdsl.dialects import memref, scf
from xdsl.dialects.builtin import IndexType, MemRefType, NoneAttr, StridedLayoutAttr
from xdsl.ir import Attribute, Block, SSAValue

from ttmlir.dialects import d2m
from ttmlir.dialects.linalg import GenericOp
from ttmlir.dialects.tt.layout import TileType, element_of
from ttmlir.layout.affine import AffineMap, DimExpr
from ttmlir.layout.data_format import row_major_strides
from ttmlir.layout.metal import DST_TILES, dst_capacity
from ttmlir.mlir.attributes import layout_map
from ttmlir.mlir.option_values import option
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.d2m.regions.region_builder import RegionBuilder, generics_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Operation

MemRef = MemRefType[Attribute]


@dataclass(frozen=True)
class D2MGenericTileComputeLoopsPass(ModulePass):
    """Divide loops over tiles so that their parts fit in DST."""

    name = "d2m-generic-tile-compute-loops"
    title = "D2MGenericTileComputeLoops"
    max_dst_physical_size_tiles: int = option(
        0, "Tiles of 16-bit numbers in DST; 0 for those of the chip"
    )

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Take every loop on memrefs in a region of a generic."""
        for generic in generics_in(module):
            for op in [each for each in generic.walk() if isinstance(each, GenericOp)]:
                if computes_on_memrefs(op):
                    self._tile(op)

    def _tile(self, op: GenericOp) -> None:
        out = cast("MemRef", op.outputs[0].type)
        extents = dict[int, int]()
        maps = [layout_map(attr) for attr in op.indexing_maps.data]
        for index_map, value in zip(maps, op.operands, strict=True):
            for result, extent in zip(
                index_map.results, cast("MemRef", value.type).get_shape(), strict=True
            ):
                if isinstance(result, DimExpr):
                    extents.setdefault(result.position, extent)
        part = self.part_of(op, out.get_shape())
        sizes = dict(extents)
        for result, extent in zip(maps[len(op.inputs)].results, part, strict=True):
            if isinstance(result, DimExpr):
                sizes[result.position] = extent
        if sizes != extents:
            _divide(op, maps, extents, sizes)

    def part_of(self, op: GenericOp, block: Sequence[int]) -> tuple[int, ...]:
        """The extents of a part of the output."""
        steps = tile_operations(op)
        if not all(step.IN_PLACE and len(step.DST_OPERANDS) == 1 for step in steps):
            return (1,) * len(block)
        left = capacity_for(op, self.max_dst_physical_size_tiles)
        found: list[int] = []
        is_whole = True
        for extent in reversed(block):
            size = (
                max(size for size in range(1, min(extent, left) + 1) if extent % size == 0)
                if is_whole
                else 1
            )
            is_whole = size == extent
            left //= size
            found.append(size)
        return tuple(reversed(found))


def computes_on_memrefs(op: GenericOp) -> bool:
    """True for a loop over tiles in memory, of static shapes."""
    shapes = [
        cast("MemRef", value.type).get_shape()
        for value in op.operands
        if value.type.name == "memref"
    ]
    is_static = all(extent > 0 for shape in shapes for extent in shape)
    counts = (len(shapes), len(op.outputs), len(op.results))
    return is_static and counts == (len(op.operands), 1, 0)


def tile_operations(op: Operation) -> list[d2m.TileOp]:
    """The operations on tiles in a body, but for conversions of what is in DST."""
    return [each for each in op.walk() if isinstance(each, d2m.TileOp)]


def capacity_for(op: Operation, physical_tiles: int) -> int:
    """Tiles of DST that an operation has, from the element types of those in it."""
    types = {
        value.type
        for each in op.walk()
        for value in (*each.operands, *each.results)
        if isinstance(value.type, TileType)
    }
    elements = [element_of(type_) for type_ in types]
    return dst_capacity(elements, physical_tiles=physical_tiles or DST_TILES)


def _divide(
    op: GenericOp, maps: Sequence[AffineMap], extents: dict[int, int], sizes: dict[int, int]
) -> None:
    """Put a loop around for each iterator that is divided."""
    build = RegionBuilder.before(op)
    starts = dict[int, SSAValue]()
    for iterator, extent in sorted(extents.items()):
        if sizes[iterator] == extent:
            continue
        block = Block([scf.YieldOp()], arg_types=[IndexType()])
        first, end, step = (build.constant(each) for each in (0, extent, sizes[iterator]))
        build.add_op(scf.ForOp(first, end, step, [], block))
        starts[iterator] = block.args[0]
        build = RegionBuilder(block, op.location, before=block.last_op)
    for number, (index_map, value) in enumerate(zip(maps, op.operands, strict=True)):
        used = [each.position for each in index_map.results if isinstance(each, DimExpr)]
        if not any(iterator in starts for iterator in used):
            continue
        offsets: list[SSAValue | int] = []
        shape: list[int] = []
        whole = cast("MemRef", value.type)
        for result, extent in zip(index_map.results, whole.get_shape(), strict=True):
            is_dim = isinstance(result, DimExpr)
            offsets.append(starts.get(result.position, 0) if is_dim else 0)
            shape.append(sizes[result.position] if is_dim else extent)
        type_ = _part_type(whole, shape)
        view = memref.SubviewOp.get(value, offsets, shape, [1] * len(shape), type_)
        op.operands[number] = build.add_op(view).results[0]
    op.detach()
    build.insert(op)


def _part_type(whole: MemRef, shape: Sequence[int]) -> MemRef:
    layout: Attribute = whole.layout
    strides = [*row_major_strides(whole.get_shape())]
    if isinstance(layout, StridedLayoutAttr):
        strides = [each for each in layout.get_strides() or () if each is not None]
    else:
        assert isinstance(layout, NoneAttr), "local buffers are dense, or parts of dense ones"
    return MemRefType(
        whole.element_type, shape, StridedLayoutAttr(strides, None), whole.memory_space
    )
