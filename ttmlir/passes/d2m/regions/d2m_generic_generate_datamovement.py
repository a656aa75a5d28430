"""Add threads that move data to generics that only compute, one for each operand.

Before:

    #l1 = #ttcore.memory_space<l1>
    #map = affine_map<(d0, d1) -> (d0, d1)>
    #parallel = #ttcore.iterator_type<parallel>
    !remote = memref<2x2x2x4x!ttcore.tile<32x32, f32>, #ttcore.shard<16384x4096>, #l1>
    !view = memref<2x2x2x4x!ttcore.tile<32x32, f32>, #ttcore.view<map(4)>, #l1>
    !local = memref<2x4x!ttcore.tile<32x32, f32>, #l1>
    func.func @f(%x: !remote, %buffer: !remote, %y: !remote) {
      %s = "d2m.stream_layout"(%x, %buffer) : (!remote, !remote) -> !view
      d2m.generic {block_factors = [1, 1], grid = #ttcore.grid<2x2>, indexing_maps = [#map, #map],
          iterator_types = [#parallel, #parallel], threads = [#d2m.thread<compute>]}
          ins(%s : !view) outs(%y : !remote) {
      ^compute0(%cb0: !d2m.cb<!local>, %cb1: !d2m.cb<!local>):
        %0 = d2m.wait %cb0 : !d2m.cb<!local> -> !local
        %1 = d2m.reserve %cb1 : !d2m.cb<!local> -> !local
      }
      return
    }

After:

    ...
      threads = [#d2m.thread<datamovement>, #d2m.thread<datamovement>, #d2m.thread<compute>]}
          ...
      ^datamovement0(%cb0: ..., %cb1: ...):
        %0 = d2m.reserve %cb0 : ...
        %tx = d2m.dma %stream<#map>, %0 : ...
        d2m.dma_wait %tx
      }, {
      ^datamovement1(%cb0: ..., %cb1: ...):
        %0 = d2m.wait %cb1 : ...
      }, {
      ^compute0(%cb0: ..., %cb1: ...):
    ...

Requires: generics on memrefs of 2025, with maps and one region, which computes.
Ensures: a region for each operand, in front of the one that computes. An operand that is a stream
is moved block by block; the memory of another one is its circular buffer. Where a reduction is
spread over cores, one of the cores that need a block loads it and sends it to the others, by two
semaphores that all regions get.
Options: none.
Not done here: indices (`d2m-generic-lower-dmas`), and which processor runs which region
(`d2m-generic-hw-thread-selection`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.ir import Block, Region

from ttmlir.dialects import d2m
from ttmlir.ir.rewriting import refuse
from ttmlir.layout.affine import DimExpr
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.d2m.regions.d2m_split_unified_thread import MOVEMENT
from ttmlir.passes.d2m.regions.region_builder import (
    Index,
    RegionBuilder,
    generics_in,
    set_threads,
)

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import SSAValue


@dataclass(frozen=True)
class D2MGenericGenerateDatamovementPass(ModulePass):
    """Add threads that move data to generics that only compute."""

    name = "d2m-generic-generate-datamovement"
    title = "D2MGenericGenerateDatamovement"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Take every generic on memrefs with one thread, which computes."""
        for op in generics_in(module):
            has_arguments = bool(op.regions[0].block.args)
            if op.is_compute_only and op.has_maps and not op.results and has_arguments:
                _add_movement(op)


def _add_movement(op: d2m.GenericOp) -> None:
    shared = {number: dim for number in range(len(op.inputs)) for dim in _shared_dims(op, number)}
    compute = op.compute_region
    first = len(compute.block.args)
    for _ in range(2 * len(shared)):
        compute.block.insert_arg(d2m.SemaphoreType(), len(compute.block.args))
    types = [each.type for each in compute.block.args]
    regions: list[Region] = []
    semaphore = first
    for number in range(len(op.buffers)):
        block = Block(arg_types=types)
        build = RegionBuilder(block, op.location)
        if number >= len(op.inputs):
            build.add_op(d2m.WaitOp.on(block.args[number]))
        else:
            local = build.add_op(d2m.ReserveOp.on(block.args[number])).results[0]
            if isinstance(op.buffers[number].owner, d2m.StreamLayoutOp):
                if number in shared:
                    pair = (block.args[semaphore], block.args[semaphore + 1])
                    _send(op, number, shared[number], local, pair, build)
                    semaphore += 2
                else:
                    _load(op, number, local, build)
        regions.append(Region(block))
    set_threads(op, [*[MOVEMENT] * len(regions), *op.threads], [*regions, compute])


def _shared_dims(op: d2m.GenericOp, number: int) -> list[int]:
    """The dimension of the grid along which cores need the same blocks of an operand."""
    if not isinstance(op.buffers[number].owner, d2m.StreamLayoutOp):
        return []
    found = [
        dim
        for dim, result in enumerate(op.indexing_maps[number].results)
        if isinstance(result, DimExpr)
        and result.position in op.reductions
        and op.grid_shape[dim] > 1
    ]
    if len(found) > 1:
        refuse(op, "reduces over several dimensions of the grid; supported is one for each operand")
    return found


def _load(op: d2m.GenericOp, number: int, local: SSAValue, build: RegionBuilder) -> None:
    dma = d2m.DMAOp.of(op.buffers[number], local, src_map=op.indexing_maps[number])
    build.add_op(d2m.DMAWaitOp.of(build.add_op(dma).results[0]))


def _send(
    op: d2m.GenericOp,
    number: int,
    dim: int,
    local: SSAValue,
    semaphores: tuple[SSAValue, SSAValue],
    build: RegionBuilder,
) -> None:
    """Let the first core along a dimension load a block and send it to the others."""
    room, arrived = semaphores
    rank = len(op.grid_shape)
    core = [build.core(each, op.grid_shape) for each in range(rank)]
    is_first = build.compare("eq", core[dim], 0)
    sender, receiver = build.branch(is_first, has_else=True)
    others = op.grid_shape[dim] - 1

    def at(place: RegionBuilder, index: Index) -> list[SSAValue]:
        return [place.value(index) if each == dim else core[each] for each in range(rank)]

    _load(op, number, local, sender)
    zero, one = sender.constant(0), sender.constant(1)
    count = sender.constant(others)
    sender.add_op(d2m.SemaphoreWaitOp.of(room, count, zero))
    start = at(sender, 1)
    extents = [count if each == dim else one for each in range(rank)]
    dma = d2m.DMAOp.of(local, local, core=start, mcast=extents)
    sender.add_op(d2m.DMAWaitOp.of(sender.add_op(dma).results[0]))
    sender.add_op(d2m.SemaphoreSetOp.of(arrived, one, start, extents))
    zero, one = receiver.constant(0), receiver.constant(1)
    receiver.add_op(d2m.SemaphoreIncOp.of(room, one, at(receiver, 0)))
    receiver.add_op(d2m.SemaphoreWaitOp.of(arrived, one, zero))
