"""Name the bytes that transfers move.

Before:

    #l1 = #ttcore.memory_space<l1>
    #map = affine_map<(d0, d1) -> (d0, d1)>
    #parallel = #ttcore.iterator_type<parallel>
    !remote = memref<2x2x2x4x!ttcore.tile<32x32, f32>, #ttcore.shard<16384x4096>, #l1>
    !local = memref<2x4x!ttcore.tile<32x32, f32>, #l1>
    func.func @f(%x: !remote, %y: !remote) {
      d2m.generic {block_factors = [1, 1], grid = #ttcore.grid<2x2>, indexing_maps = [#map, #map],
          iterator_types = [#parallel, #parallel], threads = [#d2m.thread<datamovement>]}
          ins(%x : !remote) outs(%y : !remote) {
      ^datamovement0(%cb0: !d2m.cb<!local>, %cb1: !d2m.cb<!local>):
        %0 = d2m.reserve %cb0 : !d2m.cb<!local> -> !local
        %tx = d2m.dma %x<#map>, %0 : (!remote, !local) -> !d2m.mem_tx
        d2m.dma_wait %tx
      }
      return
    }

After:

    ...
        %0 = d2m.reserve %cb0 : ...
        %core0 = d2m.core_index(0) : index
        %iter0 = d2m.iter_index(0) : index
        %1 = arith.addi %core0, %iter0 : index
        %core1 = d2m.core_index(1) : index
        %iter1 = d2m.iter_index(1) : index
        %2 = arith.addi %core1, %iter1 : index
        ...
        %tx = d2m.dma_read %arg0[%1, %2, %c0], %0[%c0_0], <8> : ...
        d2m.dma_wait %tx
    ...

Requires: transfers with a map of their generic, with indices of a shard, or of all of a local
buffer; for DRAM the machine on the module.
Ensures: what reads a remote buffer is a `d2m.dma_read` of row, column and byte, in DRAM of 0, bank
and byte; all else a `d2m.dma_write`. A shard that does not lie in one piece is moved by loops, in
the largest pieces that all cores have.
Options: none.
Not done here: addresses of buffers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, cast

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType, MemRefType
from xdsl.ir import Attribute, Block, Region, SSAValue

from ttmlir.dialects import d2m
from ttmlir.dialects.tt.layout import element_of
from ttmlir.dialects.ttcore import InterleavedLayoutAttr, ShardLayoutAttr, device_layout_of
from ttmlir.ir.rewriting import refuse, replace
from ttmlir.layout.affine import AffineExpr, AffineMap, ConstantExpr, DimExpr, dims
from ttmlir.layout.enums import MemorySpace
from ttmlir.layout.metal import dram_page_bytes
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.d2m.kernels.kernel_plan import chip_of
from ttmlir.passes.d2m.regions.region_builder import (
    Index,
    RegionBuilder,
    generics_in,
    output_positions,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp

    from ttmlir.dialects.ttcore import DeviceLayout

Transfer = d2m.DMAOp | d2m.DMAReadOp | d2m.DMAWriteOp
MOST_POINTS = 1 << 18
"""Elements whose places are compared; beyond, they are moved one by one."""


@dataclass(frozen=True)
class D2MGenericLowerDMAsPass(ModulePass):
    """Name the bytes that transfers move."""

    name = "d2m-generic-lower-dmas"
    title = "D2MGenericLowerDMAs"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Convert every transfer in a region on memrefs."""
        for op in generics_in(module):
            for each in list(op.walk()):
                if isinstance(each, d2m.DMAOp) or (
                    isinstance(each, d2m.DMAReadOp | d2m.DMAWriteOp) and each.count == 0
                ):
                    _lower(op, each)


def _lower(op: d2m.GenericOp, dma: Transfer) -> None:
    layouts = [device_layout_of(value.type) for value in (dma.src, dma.dst)]
    if layouts[0] is not None and layouts[1] is not None:
        refuse(dma, "has both src and dst remote; go by a local buffer")
    build = RegionBuilder.before(dma)
    if layouts[0] is None and layouts[1] is None:
        _move_local(dma, build)
        return
    is_read = layouts[0] is not None
    side = "src" if is_read else "dst"
    remote, local = (dma.src, dma.dst) if is_read else (dma.dst, dma.src)
    given = dma.src_indices if is_read else dma.dst_indices
    layout = layouts[0] or layouts[1]
    assert layout is not None, "one end is remote"
    index_map = dma.map_of(side) if isinstance(dma, d2m.DMAOp) else None
    indices: list[Index] = (
        list(given) if index_map is None else _block_indices(op, index_map, build)
    )
    rank = len(layout.grid_shape)
    if len(indices) != rank:
        refuse(
            dma,
            f"has {len(indices)} indices of a buffer with a grid of {rank} dimensions; supported "
            "are those of a shard",
        )
    _Copy(op, dma, remote, local, layout, is_read=is_read).write(indices, build)


def _block_indices(op: d2m.GenericOp, index_map: AffineMap, build: RegionBuilder) -> list[Index]:
    """The block that this core moves in this step."""
    if not op.has_maps:
        refuse(op, "has no maps for the blocks that its transfers have maps for")
    positions = output_positions(op)
    found: list[Index] = []
    for result in index_map.results:
        if not isinstance(result, DimExpr):
            found.append(build.constant(cast("ConstantExpr", result).value))
            continue
        iterator = result.position
        core: Index = 0
        if iterator in positions:
            core = build.multiply(
                build.core(positions[iterator], op.grid_shape), op.block_factors[iterator]
            )
        step = build.add_op(d2m.IterIndexOp.at(iterator)).results[0]
        found.append(build.add(core, step))
    return found


def _move_local(dma: Transfer, build: RegionBuilder) -> None:
    """All of a local buffer, to one of this core or of others."""
    if dma.src_indices or dma.dst_indices:
        refuse(dma, "has indices of a local buffer; supported is all of it")
    shape = cast("MemRefType[Attribute]", dma.src.type).get_shape()
    zero = build.constant(0)
    write = d2m.DMAWriteOp.of(
        dma.src,
        dma.dst,
        src_indices=[zero],
        dst_indices=[zero],
        core=dma.mcast_start_index,
        mcast=dma.mcast_shape,
        count=math.prod(shape),
    )
    replace(dma, build.add_op(write).results[0])


# --- Bytes of remote buffers ----------------------------------------------------------------------


@dataclass(frozen=True)
class _Copy:
    """A block of a remote buffer, and the local buffer that holds it."""

    op: d2m.GenericOp
    dma: Transfer
    remote: SSAValue
    local: SSAValue
    layout: DeviceLayout
    is_read: bool

    def write(self, indices: Sequence[Index], build: RegionBuilder) -> None:
        """Write the transfers in place of the operation."""
        places = self._places()
        volume = math.prod(self.layout.shard_shape)
        piece = self._piece(places)
        element = element_of(self.layout.element_type).stored_bytes
        if piece == volume:
            zeros: list[Index] = [0] * len(self.layout.shard_shape)
            transfer = self._transfer(places, [*indices, *zeros], 0, piece, build)
            replace(self.dma, transfer)
            return
        start = build.add_op(d2m.NullTxOp.of()).results[0]
        result = self._loop(places, list(indices), [], (piece, element), start, build)
        replace(self.dma, result)

    def _places(self) -> AffineMap:
        """From a shard and a place in it to what names a byte: row, column, byte."""
        buffer, view = d2m.buffer_of_view(self.remote)
        layout = device_layout_of(buffer.type)
        if layout is None or len(layout.grid_shape) < 2:
            refuse(self.dma, "moves data of a buffer without rows and columns of cores")
        memory: Attribute = cast("MemRefType[Attribute]", buffer.type).layout
        element = element_of(layout.element_type)
        rank = len(layout.grid_shape)
        *cores, x = dims(2 * rank)[:rank]
        y: AffineExpr = ConstantExpr(0)
        for core, extent in zip(cores, layout.grid_shape, strict=False):
            y = y * extent + core
        if isinstance(memory, ShardLayoutAttr | InterleavedLayoutAttr):
            strides = memory.strides
        else:
            refuse(self.dma, "moves data of a view whose buffer is not known here")
        byte: AffineExpr = ConstantExpr(0)
        for place, stride in zip(dims(2 * rank)[rank:], strides, strict=True):
            byte = byte + place * stride
        results: tuple[AffineExpr, ...] = (y, x, byte)
        if layout.memory_space is MemorySpace.DEVICE_DRAM:
            banks = chip_of(self.op).dram_banks
            page = dram_page_bytes(layout.shard_shape, element, layout.memory_layout)
            size = math.prod(layout.shard_shape) * element.stored_bytes
            address = (y * layout.grid_shape[-1] + x) * size + byte
            number = address // page
            in_bank = (number // banks) * page + address % page
            results = (ConstantExpr(0), number % banks, in_bank)
        return AffineMap(2 * rank, 0, results).compose(view)

    def _piece(self, places: AffineMap) -> int:
        """Elements that lie one after another wherever a block begins, on all cores."""
        element = element_of(self.layout.element_type).stored_bytes
        shard = self.layout.shard_shape
        volume = math.prod(shard)
        if volume * math.prod(self.layout.grid_shape) > MOST_POINTS:
            return 1
        piece = volume
        for core in product(*map(range, self.layout.grid_shape)):
            run, before = 0, None
            for place in product(*map(range, shard)):
                here = places.eval((*core, *place))
                if before is not None and here != (*before[:-1], before[-1] + element):
                    piece, run = math.gcd(piece, run), 0
                run += 1
                before = here
            piece = math.gcd(piece, run)
            if piece == 1:
                break
        return piece

    def _transfer(
        self,
        places: AffineMap,
        point: Sequence[Index],
        byte: Index,
        count: int,
        build: RegionBuilder,
    ) -> SSAValue:
        known = {
            DimExpr(dim): ConstantExpr(index)
            for dim, index in enumerate(point)
            if isinstance(index, int)
        }
        values = [index for index in point if not isinstance(index, int)]
        renamed = iter(range(len(values)))
        names: dict[AffineExpr, AffineExpr] = {
            DimExpr(dim): known.get(DimExpr(dim)) or DimExpr(next(renamed))
            for dim in range(len(point))
        }
        there: list[SSAValue] = []
        for result in places.results:
            expr = result.replace(names)
            match expr:
                case ConstantExpr():
                    there.append(build.constant(expr.value))
                case DimExpr():
                    there.append(values[expr.position])
                case _:
                    there.append(build.apply(expr, values))
        here = [build.value(byte)]
        if self.is_read:
            made = d2m.DMAReadOp.of(
                self.remote, self.local, src_indices=there, dst_indices=here, count=count
            )
        else:
            made = d2m.DMAWriteOp.of(
                self.local, self.remote, src_indices=here, dst_indices=there, count=count
            )
        return build.add_op(made).results[0]

    def _loop(
        self,
        places: AffineMap,
        indices: list[Index],
        inside: list[SSAValue],
        sizes: tuple[int, int],
        before: SSAValue,
        build: RegionBuilder,
    ) -> SSAValue:
        """Loops over the place in a shard; a transfer where a piece begins; the last transfer."""
        shard = self.layout.shard_shape
        depth = len(inside)
        piece, element = sizes
        if depth == len(shard):
            number: AffineExpr = ConstantExpr(0)
            for dim, extent in enumerate(shard):
                number = number * extent + DimExpr(dim)
            flat = build.apply(number, inside)
            byte = build.multiply(flat, element)
            if piece == 1:
                return self._transfer(places, [*indices, *inside], byte, 1, build)
            rest = build.add_op(arith.RemUIOp(flat, build.constant(piece))).results[0]
            begins = build.compare("eq", rest, 0)
            then, otherwise = Block(), Block()
            moved = self._transfer(
                places, [*indices, *inside], byte, piece, RegionBuilder(then, build.location)
            )
            then.add_op(scf.YieldOp(moved))
            otherwise.add_op(scf.YieldOp(before))
            branch = scf.IfOp(begins, [before.type], Region(then), Region(otherwise))
            return build.add_op(branch).results[0]
        block = Block(arg_types=[IndexType(), before.type])
        first, end, step = (build.constant(number) for number in (0, shard[depth], 1))
        loop = scf.ForOp(first, end, step, [before], block)
        build.add_op(loop)
        inner = RegionBuilder(block, build.location)
        last = self._loop(places, indices, [*inside, block.args[0]], sizes, block.args[1], inner)
        inner.add_op(scf.YieldOp(last))
        return loop.results[0]
