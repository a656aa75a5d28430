"""Compute in DST: copy tiles there before they are computed on, and back to L1 afterwards.

Before:

    #l1 = #ttcore.memory_space<l1>
    #map = affine_map<(d0, d1) -> (d0, d1)>
    !remote = memref<1x1x1x2x!ttcore.tile<32x32, bf16>, #ttcore.shard<4096x2048>, #l1>
    !local = memref<1x2x!ttcore.tile<32x32, bf16>, #l1>
    func.func @f(%x: !remote, %y: !remote) {
      d2m.generic {block_factors = [], grid = #ttcore.grid<1x1>, indexing_maps = [],
          iterator_types = [], threads = [#d2m.thread<compute>]}
          ins(%x : !remote) outs(%y : !remote) {
      ^compute0(%cb0: !d2m.cb<!local>, %cb1: !d2m.cb<!local>):
        %0 = d2m.wait %cb0 : !d2m.cb<!local> -> !local
        %1 = d2m.reserve %cb1 : !d2m.cb<!local> -> !local
        linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
            ins(%0 : !local) outs(%1 : !local) {
        ^bb0(%a: !ttcore.tile<32x32, bf16>, %b: !ttcore.tile<32x32, bf16>):
          %2 = "d2m.tile_exp"(%a) : (!ttcore.tile<32x32, bf16>) -> !ttcore.tile<32x32, bf16>
          linalg.yield %2 : !ttcore.tile<32x32, bf16>
        }
      }
      return
    }

After:

    ...
        %dst = d2m.acquire_dst() : memref<4x1x2x!ttcore.tile<32x32, bf16>, #dst>
        affine.for %arg2 = 0 to 1 {
          affine.for %arg3 = 0 to 2 {
            %2 = affine.load %0[%arg2, %arg3] : ...
            affine.store %2, %dst[0, %arg2, %arg3] : ...
          }
        }
        affine.for %arg2 = 0 to 1 {
          affine.for %arg3 = 0 to 2 {
            %2 = affine.load %dst[0, %arg2, %arg3] : ...
            %3 = "d2m.tile_exp"(%2) : ...
            affine.store %3, %dst[0, %arg2, %arg3] : ...
          }
        }
        affine.for %arg2 = 0 to 1 {
          affine.for %arg3 = 0 to 2 {
            %2 = affine.load %dst[0, %arg2, %arg3] : ...
            affine.store %2, %1[%arg2, %arg3] : ...
    ...

Requires: `linalg.generic` on memrefs, or the loops that `d2m-linalg-to-affine` makes of it, whose
output fits in DST (`d2m-generic-tile-compute-loops`).
Ensures: operands that operations read from DST are copied to slices of it, in order of appearance;
a result takes the slice of the only one, if it overwrites that, else the next. What accumulates is
loaded again in all steps of a reduction but the first. A product of tiles is one of blocks.
Options: tiles of DST; `use-tile-matmul`: products stay loops over tiles.
Not done here: who may use DST when (`ttkernel-control-dst-section`).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from xdsl.dialects import affine, arith
from xdsl.dialects.builtin import AffineMapAttr, MemRefType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.traits import IsTerminator

from ttmlir.dialects import d2m
from ttmlir.dialects.linalg import GenericOp
from ttmlir.dialects.tt.layout import MemorySpaceAttr
from ttmlir.ir.rewriting import erase, refuse
from ttmlir.layout.affine import AffineExpr, AffineMap, ConstantExpr, DimExpr
from ttmlir.layout.enums import MemorySpace
from ttmlir.mlir.attributes import affine_map_attr, layout_map
from ttmlir.mlir.option_values import option
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.d2m.dst.d2m_linalg_to_affine import LINALG_ROOT, convert_to_loops
from ttmlir.passes.d2m.regions.d2m_generate_outer_loops import BLOCKING_LOOP
from ttmlir.passes.d2m.regions.d2m_generic_tile_compute_loops import (
    capacity_for,
    computes_on_memrefs,
    tile_operations,
)
from ttmlir.passes.d2m.regions.d2m_insert_tile_matmul_block import block_product
from ttmlir.passes.d2m.regions.region_builder import RegionBuilder, generics_in

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp

MemRef = MemRefType[Attribute]


@dataclass(frozen=True)
class D2MInsertDstRegisterAccessPass(ModulePass):
    """Compute in DST, with copies from L1 and to it."""

    name = "d2m-insert-dst-register-access"
    title = "D2MInsertDstRegisterAccess"
    use_tile_matmul: bool = option(False, "Multiply tile by tile instead of block by block")
    max_dst_physical_size_tiles: int = option(
        0, "Tiles of 16-bit numbers in DST; 0 for those of the chip"
    )

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Take every loop over tiles in a region of a generic."""
        for generic in generics_in(module):
            for op in [each for each in generic.walk() if isinstance(each, GenericOp)]:
                if computes_on_memrefs(op):
                    convert_to_loops(op)
            for op in [each for each in generic.walk() if LINALG_ROOT in each.attributes]:
                if isinstance(op, affine.ForOp) and tile_operations(op):
                    self._insert(generic, op)

    def _insert(self, generic: d2m.GenericOp, root: affine.ForOp) -> None:
        capacity = capacity_for(root, self.max_dst_physical_size_tiles)
        access = _Access(generic, root)
        access.insert(capacity)
        if not self.use_tile_matmul:
            block_product(root, access.output)
        root.attributes.pop(LINALG_ROOT, None)


def innermost_block(root: affine.ForOp) -> tuple[list[affine.ForOp], Block]:
    """The loops of a nest, and what the inner one does."""
    loops = [root]
    while True:
        inner = [each for each in loops[-1].body.block.ops if not each.has_trait(IsTerminator)]
        if len(inner) != 1 or not isinstance(inner[0], affine.ForOp):
            return loops, loops[-1].body.block
        loops.append(inner[0])


@dataclass
class _Access:
    """One nest of loops over tiles, and the slices of DST that it uses."""

    generic: d2m.GenericOp
    root: affine.ForOp
    loads: list[tuple[affine.LoadOp, int]] = field(default_factory=list[tuple[affine.LoadOp, int]])
    """What is copied to DST, with the slices."""
    slices: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    used: int = 0
    accumulators: set[Operation] = field(default_factory=set[Operation])

    def __post_init__(self) -> None:
        """Find what is computed."""
        self.loops, self.block = innermost_block(self.root)
        self.ops = [each for each in self.block.ops if not each.has_trait(IsTerminator)]
        stores = [each for each in self.ops if isinstance(each, affine.StoreOp)]
        if not stores:
            refuse(self.root, "computes tiles and stores none of them")
        if len({each.memref for each in stores}) > 1:
            refuse(self.root, "stores to several buffers; run linalg.generic with one output each")
        self.store = stores[-1]
        self.output = self.store.memref

    def insert(self, capacity: int) -> None:
        """Write the copies and let the nest use DST."""
        self._number()
        shape = cast("MemRef", self.output.type).get_shape()
        volume = math.prod(shape)
        places = capacity // volume
        if self.used > places:
            refuse(
                self.root,
                f"needs {self.used} slices of {volume} tiles in DST, which has {capacity} tiles; "
                "run d2m-generic-tile-compute-loops before, or compute it in several loops",
            )
        space = MemorySpaceAttr(MemorySpace.REGISTER_DST)
        element = cast("MemRef", self.output.type).element_type
        type_ = MemRefType(element, (places, *shape), memory_space=space)
        build = RegionBuilder.before(self.root)
        dst = build.add_op(d2m.AcquireDstOp.of(type_)).results[0]
        for load, number in self.loads:
            self._copy_in(load, number, dst, build)
        after = RegionBuilder.after(self.root)
        self._copy_out(dst, after)
        self._use(dst)

    # --- Slices ----------------------------------------------------------------------------------

    def _number(self) -> None:
        """Give operands and results their slices, in the order in which they appear."""
        taken = dict[Operation, int]()
        for op in self.ops:
            if not isinstance(op, d2m.TileOp | d2m.DstReinterpretCastOp):
                continue
            places: list[int] = []
            operands = op.DST_OPERANDS if isinstance(op, d2m.TileOp) else (0,)
            for number in operands:
                value = op.operands[number]
                owner = value.owner
                if isinstance(owner, affine.LoadOp):
                    if owner not in taken:
                        taken[owner] = self._next()
                        self.loads.append((owner, taken[owner]))
                        if isinstance(op, d2m.CombiningTileOp):
                            self.accumulators.add(owner)
                    places.append(taken[owner])
                elif value in self.slices:
                    places.append(self.slices[value])
            is_kept = isinstance(op, d2m.DstReinterpretCastOp) or (op.IN_PLACE and len(places) == 1)
            for result in op.results:
                self.slices[result] = places[0] if is_kept and places else self._next()

    def _next(self) -> int:
        self.used += 1
        return self.used - 1

    # --- Copies ----------------------------------------------------------------------------------

    def _nest(
        self, build: RegionBuilder, indices: Collection[SSAValue]
    ) -> tuple[RegionBuilder, Mapping[SSAValue, SSAValue]]:
        """The loops that indices count, once more; the numbers of their steps for the first's."""
        numbers = dict[SSAValue, SSAValue]()
        used = {*indices, *_indices_in_map(self.store)}
        for loop in self.loops:
            if loop.body.block.args[0] not in used:
                continue
            block = Block([affine.YieldOp.get()], arg_types=[loop.body.block.args[0].type])
            made = affine.ForOp.create(
                operands=[numbers.get(each, each) for each in loop.operands],
                properties=dict(loop.properties),
                regions=[Region(block)],
            )
            build.add_op(made)
            numbers[loop.body.block.args[0]] = block.args[0]
            build = RegionBuilder(block, self.root.location, before=block.last_op)
        return build, numbers

    def _copy_in(
        self, load: affine.LoadOp, number: int, dst: SSAValue, build: RegionBuilder
    ) -> None:
        if load in self.accumulators:
            again: SSAValue | None = None
            for step in _reduction_steps(self.generic, self.root, build):
                later = build.compare("ne", step, 0)
                again = (
                    later if again is None else build.add_op(arith.OrIOp(again, later)).results[0]
                )
            if again is None:
                return  # the only step: DST begins with 0
            build, _ = build.branch(again, has_else=False)
        else:
            self._check_place(load)
        inner, numbers = self._nest(build, _indices_in_map(load))
        place = _place_of(load, numbers)
        tile = inner.add_op(affine.LoadOp(load.memref, *place)).results[0]
        self._store(tile, number, dst, inner, numbers)

    def _check_place(self, load: affine.LoadOp) -> None:
        """Refuse tiles that would overwrite each other: a slice has those of the output."""
        steps = {loop.body.block.args[0] for loop in self.loops}
        lost = steps & _indices_in_map(load) - _indices_in_map(self.store)
        if lost:
            refuse(
                load,
                "is a tile of a reduction that an operation reads from DST, where there is one for "
                "each tile of the output; compute it in a d2m.generic of its own",
            )

    def _copy_out(self, dst: SSAValue, build: RegionBuilder) -> None:
        inner, numbers = self._nest(build, ())
        tile = self._load(self.slices.get(self.store.value, 0), dst, inner, numbers)
        inner.add_op(affine.StoreOp(tile, self.output, *_place_of(self.store, numbers)))

    def _place(
        self, number: int, numbers: Mapping[SSAValue, SSAValue]
    ) -> tuple[list[SSAValue], AffineMapAttr]:
        """Where the tile of a step is in a slice: as in the output."""
        indices, attr = _place_of(self.store, numbers)
        index_map = layout_map(attr)
        results = (ConstantExpr(number), *index_map.results)
        return indices, affine_map_attr(AffineMap(index_map.num_dims, 0, results))

    def _load(
        self,
        number: int,
        dst: SSAValue,
        build: RegionBuilder,
        numbers: Mapping[SSAValue, SSAValue],
    ) -> SSAValue:
        return build.add_op(affine.LoadOp(dst, *self._place(number, numbers))).results[0]

    def _store(
        self,
        tile: SSAValue,
        number: int,
        dst: SSAValue,
        build: RegionBuilder,
        numbers: Mapping[SSAValue, SSAValue],
    ) -> None:
        tile = _as_type(tile, cast("MemRef", dst.type).element_type, build)
        build.add_op(affine.StoreOp(tile, dst, *self._place(number, numbers)))

    def _use(self, dst: SSAValue) -> None:
        """Let operations take tiles from DST, and leave them there."""
        copied = dict(self.loads)
        stores = [each for each in self.ops if isinstance(each, affine.StoreOp)]
        for op in stores:
            if op.value not in self.slices:
                refuse(op, "stores a tile that no operation on tiles computes")
        for op in self.ops:
            if isinstance(op, affine.LoadOp) and op in copied:
                build = RegionBuilder.before(op)
                tile = self._load(copied[op], dst, build, {})
                op.result.replace_all_uses_with(_as_type(tile, op.result.type, build))
                erase(op)
            elif isinstance(op, d2m.TileOp):
                self._store_result(op, dst)
        for op in stores:
            erase(op)

    def _store_result(self, op: d2m.TileOp, dst: SSAValue) -> None:
        (result,) = op.results
        uses = [use for use in result.uses if not isinstance(use.operation, affine.StoreOp)]
        build = RegionBuilder.after(op)
        self._store(result, self.slices[result], dst, build, {})
        if uses:
            again = self._load(self.slices[result], dst, build, {})
            again = _as_type(again, result.type, build)
            for use in uses:
                use.operation.operands[use.index] = again


def _indices_in_map(op: affine.LoadOp | affine.StoreOp) -> set[SSAValue]:
    """The indices that the place of a tile depends on."""
    return set(_place_of(op, {})[0])


def _place_of(
    op: affine.LoadOp | affine.StoreOp, numbers: Mapping[SSAValue, SSAValue]
) -> tuple[list[SSAValue], AffineMapAttr]:
    """The indices that a place depends on, in another nest, and the map that they are for."""
    index_map = layout_map(op.map)
    used = sorted({dim for result in index_map.results for dim in result.used_dims()})
    renamed: dict[AffineExpr, AffineExpr] = {
        DimExpr(dim): DimExpr(number) for number, dim in enumerate(used)
    }
    results = tuple(result.replace(renamed) for result in index_map.results)
    indices = [numbers.get(op.indices[dim], op.indices[dim]) for dim in used]
    return indices, affine_map_attr(AffineMap(len(used), 0, results))


def _as_type(tile: SSAValue, type_: Attribute, build: RegionBuilder) -> SSAValue:
    """A tile of DST under another element type."""
    if tile.type == type_:
        return tile
    cast_ = d2m.DstReinterpretCastOp.create(operands=[tile], result_types=[type_])
    return build.add_op(cast_).results[0]


def _reduction_steps(
    generic: d2m.GenericOp, root: Operation, build: RegionBuilder
) -> list[SSAValue]:
    """The numbers of the steps in which blocks are added to the same output."""
    around: list[affine.ForOp] = []
    parent = root.parent_op()
    while parent is not None and parent is not generic:
        if isinstance(parent, affine.ForOp) and BLOCKING_LOOP in parent.attributes:
            around.append(parent)
        parent = parent.parent_op()
    if around:
        stored = _indices_of_stores(generic)
        return [
            loop.body.block.args[0]
            for loop in reversed(around)
            if loop.body.block.args[0] not in stored
        ]
    return [build.add_op(d2m.IterIndexOp.at(number)).results[0] for number in generic.reductions]


def _indices_of_stores(generic: d2m.GenericOp) -> set[SSAValue]:
    """What the blocks that are stored depend on."""
    found = set[SSAValue]()
    waiting = [
        index
        for each in generic.walk()
        if isinstance(each, d2m.RemoteStoreOp)
        for index in each.indices
    ]
    while waiting:
        value = waiting.pop()
        if value not in found:
            found.add(value)
            owner = value.owner
            if isinstance(owner, arith.AddiOp | affine.ApplyOp):
                waiting += owner.operands
    return found
