"""Write loads and stores of blocks as transfers, with the waiting that they need.

Before:

    #l1 = #ttcore.memory_space<l1>
    !remote = memref<2x2x2x4x!ttcore.tile<32x32, f32>, #ttcore.shard<16384x4096, 1>, #l1>
    !cb = !d2m.cb<memref<2x4x!ttcore.tile<32x32, f32>, #l1>>
    func.func @f(%x: !remote, %y: !remote) {
      d2m.generic {block_factors = [], grid = #ttcore.grid<2x2>, indexing_maps = [],
          iterator_types = [], threads = [#d2m.thread<datamovement>]}
          ins(%x : !remote) outs(%y : !remote) {
        %cb0 = d2m.get_cb(0) : !cb
        %i = d2m.core_index(0) : index
        %j = d2m.core_index(1) : index
        d2m.remote_load %x[%i, %j] into %cb0 : !remote into !cb
        d2m.remote_store %y[%i, %j] from %cb0 : !remote from !cb
      }
      return
    }

After:

    ...
        %0 = d2m.reserve %cb : ...
        %tx = d2m.dma_read %arg0[%core0, %core1], %0, <0> : ...
        d2m.dma_wait %tx
        d2m.push %cb : ...
        %1 = d2m.wait %cb : ...
        %tx_0 = d2m.dma_write %1, %arg1[%core0, %core1], <0> : ...
        d2m.dma_wait %tx_0
        d2m.pop %cb : ...
    ...

Requires: for a load that several cores share, the cores and its semaphores
(`d2m-generic-lower-to-explicit-form`, `d2m-preallocate-mcast-semaphores`).
Ensures: a transfer of a whole shard, `<0>`, for each block; what is loaded into a circular buffer
is pushed, what is stored from one popped. Of cores that share a block, the first one loads it,
waits until the others have room, sends it, and lets them go on.
Options: none.
Not done here: bytes and addresses (`d2m-lower-dma-to-fully-indexed-form`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import ArrayAttr, IntegerAttr
from xdsl.ir import Attribute, Operation, SSAValue

from ttmlir.dialects import d2m
from ttmlir.dialects.d2m.late import GetArgOp, PopOp, PushOp
from ttmlir.ir.rewriting import erase, refuse
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.d2m.regions.d2m_preallocate_mcast_semaphores import PREALLOCATED
from ttmlir.passes.d2m.regions.region_builder import Index, RegionBuilder, constant_of, generics_in

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp


@dataclass(frozen=True)
class D2MLowerLoadStoreOpsToDMAPass(ModulePass):
    """Write loads and stores of blocks as transfers."""

    name = "d2m-lower-load-store-ops-to-dma"
    title = "D2MLowerLoadStoreOpsToDMA"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Convert every load and store in a region on memrefs."""
        for op in generics_in(module):
            if op.results:
                continue
            for each in list(op.walk()):
                if isinstance(each, d2m.RemoteLoadOp):
                    _load(op, each)
                elif isinstance(each, d2m.RemoteStoreOp):
                    _store(each)


def _load(op: d2m.GenericOp, load: d2m.RemoteLoadOp) -> None:
    if load.group("mcastDims"):
        refuse(
            load,
            "sends a block along dimensions of the grid; run d2m-generic-lower-to-explicit-form "
            "before, which names the cores",
        )
    build = RegionBuilder.before(load)
    cbs = load.group("cb")
    if cbs:
        local = build.add_op(d2m.ReserveOp.on(cbs[0])).results[0]
    else:
        (local,) = load.group("localBuffer")
    if load.group("mcastStartIndex"):
        _send(op, load, local, build)
    else:
        _read(load, local, build)
    if cbs:
        build.add_op(PushOp.create(operands=[cbs[0]]))
    for result in load.results:
        result.replace_all_uses_with(local)
    erase(load)


def _read(load: d2m.RemoteLoadOp, local: SSAValue, build: RegionBuilder) -> None:
    read = d2m.DMAReadOp.of(load.remote, local, src_indices=load.indices, count=0)
    build.add_op(d2m.DMAWaitOp.of(build.add_op(read).results[0]))


def _store(store: d2m.RemoteStoreOp) -> None:
    if store.group("startDevice") or store.group("deviceMcastShape"):
        refuse(store, "stores a block on other chips; supported is the chip of the core")
    build = RegionBuilder.before(store)
    cbs = store.group("cb")
    if cbs:
        local = build.add_op(d2m.WaitOp.on(cbs[0])).results[0]
    else:
        (local,) = store.group("localBuffer")
    write = d2m.DMAWriteOp.of(local, store.remote, dst_indices=store.indices, count=0)
    build.add_op(d2m.DMAWaitOp.of(build.add_op(write).results[0]))
    if cbs:
        build.add_op(PopOp.create(operands=[cbs[0]]))
    for result in store.results:
        result.replace_all_uses_with(store.remote)
    erase(store)


# --- Blocks that several cores share --------------------------------------------------------------


def _send(op: d2m.GenericOp, load: d2m.RemoteLoadOp, local: SSAValue, build: RegionBuilder) -> None:
    """Load a block on the first of the cores that share it, which sends it to the others."""
    room, arrived = _semaphores(op, load)
    start, extents = load.group("mcastStartIndex"), load.group("mcastShape")
    is_first: SSAValue | None = None
    others: Index = 1
    for dim, (first, extent) in enumerate(zip(start, extents, strict=True)):
        if constant_of(extent) == 1:
            continue
        here = build.compare("eq", build.core(dim, op.grid_shape), first)
        is_first = (
            here if is_first is None else build.add_op(arith.AndIOp(is_first, here)).results[0]
        )
        number = constant_of(extent)
        others = build.multiply(others, extent if number is None else number)
    if is_first is None:
        _read(load, local, build)
        return
    sender, receiver = build.branch(is_first, has_else=True)
    _read(load, local, sender)
    zero, one = sender.constant(0), sender.constant(1)
    sender.add_op(d2m.SemaphoreWaitOp.of(room, sender.value(sender.add(others, -1)), zero))
    write = d2m.DMAWriteOp.of(local, local, core=start, mcast=extents, count=0)
    sender.add_op(d2m.DMAWaitOp.of(sender.add_op(write).results[0]))
    sender.add_op(d2m.SemaphoreSetOp.of(arrived, one, start, extents))
    zero, one = receiver.constant(0), receiver.constant(1)
    receiver.add_op(d2m.SemaphoreIncOp.of(room, one, start))
    receiver.add_op(d2m.SemaphoreWaitOp.of(arrived, one, zero))


def _semaphores(op: d2m.GenericOp, load: d2m.RemoteLoadOp) -> tuple[SSAValue, SSAValue]:
    listed = load.attributes.get(PREALLOCATED)
    given = cast("ArrayAttr[Attribute]", listed).data if isinstance(listed, ArrayAttr) else ()
    numbers = [each.value.data for each in given if isinstance(each, IntegerAttr)]
    first, last = len(op.buffers), len(op.operands)
    is_semaphore = [
        first <= number < last and "semaphore" in op.operands[number].type.name
        for number in numbers
    ]
    if is_semaphore != [True, True]:
        refuse(
            load,
            f"shares a block with other cores without '{PREALLOCATED}', the numbers of two "
            "semaphores; run d2m-preallocate-mcast-semaphores before",
        )
    region = load.parent_region()
    while region is not None and region.parent is not op:
        region = region.parent_region() if region.parent is None else region.parent.parent_region()
    assert region is not None, "the load is in a region of the generic"
    first = cast("Operation", region.block.first_op)
    build = RegionBuilder.before(first)
    made = [
        build.add_op(GetArgOp.of(number, op.operands[number].type)).results[0] for number in numbers
    ]
    return made[0], made[1]
