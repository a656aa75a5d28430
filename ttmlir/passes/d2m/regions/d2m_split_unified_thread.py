"""Divide a unified thread into one that loads blocks, one that computes, and one that stores them.

Before:

    #l1 = #ttcore.memory_space<l1>
    !remote = memref<2x2x2x4x!ttcore.tile<32x32, f32>, #ttcore.shard<16384x4096, 1>, #l1>
    !local = memref<2x4x!ttcore.tile<32x32, f32>, #l1>
    func.func @f(%x: !remote, %y: !remote) {
      d2m.generic {block_factors = [], grid = #ttcore.grid<2x2>, indexing_maps = [],
          iterator_types = [], threads = [#d2m.thread<unified>]}
          ins(%x : !remote) outs(%y : !remote) {
        %i = d2m.core_index(0) : index
        %j = d2m.core_index(1) : index
        %in = memref.alloc() : !local
        %0 = d2m.remote_load %in %x[%i, %j] : !local, !remote -> !local
        %out = memref.alloc() : !local
        "d2m.tile_matmul_block"(%0, %0, %out) : (!local, !local, !local) -> ()
        d2m.remote_store %y[%i, %j] %out : !remote, !local
      }
      return
    }

After:

    ...
    threads = [#d2m.thread<datamovement>, #d2m.thread<datamovement>, #d2m.thread<compute>]}
        ...
      %cb = d2m.get_cb(0) : ...
      %core0 = d2m.core_index(0) : index
      %core1 = d2m.core_index(1) : index
      d2m.remote_load %arg0[%core0, %core1] into %cb : ...
    }, {
      %cb = d2m.get_cb(1) : ...
      ...
      d2m.remote_store %arg1[%core0, %core1] from %cb : ...
    }, {
      %cb = d2m.get_cb(0) : ...
      %cb_0 = d2m.get_cb(1) : ...
      %0 = d2m.wait %cb : ...
      %1 = d2m.reserve %cb_0 : ...
      "d2m.tile_matmul_block"(%0, %0, %1) : ...
      d2m.push %cb_0 : ...
      d2m.pop %cb : ...
    }
    ...

Requires: generics on memrefs with one thread, which is unified; a block is loaded, or computed, in
the block of operations that uses it, or stores it.
Ensures: threads of data movement, then one that computes, where it has something to do; a block
goes from one to the other by the circular buffer of its operand. One that is only copied has that
of the operand it comes from.
Options: none.
Not done here: semaphores, and which processor moves what (`d2m-schedule-dma`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.traits import IsTerminator, is_side_effect_free

from ttmlir.dialects import d2m
from ttmlir.dialects.d2m.late import GetCBOp, PopOp, PushOp
from ttmlir.ir.rewriting import erase, refuse
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.d2m.regions.region_builder import (
    RegionBuilder,
    erase_unused_values,
    generics_in,
    keep_only,
    operations_in,
    set_threads,
)

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp

MOVEMENT = d2m.ThreadAttr.of(d2m.ThreadKind.DATAMOVEMENT)
COMPUTE = d2m.ThreadAttr.of(d2m.ThreadKind.COMPUTE)


@dataclass(frozen=True)
class D2MSplitUnifiedThreadPass(ModulePass):
    """Divide unified threads into those that load, compute and store blocks."""

    name = "d2m-split-unified-thread"
    title = "D2MSplitUnifiedThread"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Take every generic on memrefs with one unified thread."""
        for op in generics_in(module):
            kinds = [thread.kind for thread in op.threads]
            if kinds == [d2m.ThreadKind.UNIFIED] and not op.results:
                _split(op)


@dataclass
class _Buffers:
    """The circular buffers of one region, by the number of the operand."""

    op: d2m.GenericOp
    region: Region
    made: dict[int, SSAValue] = field(default_factory=dict[int, SSAValue])

    def __post_init__(self) -> None:
        """Begin where the region does."""
        self.place = self.region.block.first_op

    def of(self, number: int, local: Attribute) -> SSAValue:
        """The circular buffer of an operand, for blocks of this type."""
        if self.region.block.args:
            return self.region.block.args[number]
        if number not in self.made:
            type_ = cast("MemRefType[Attribute]", local)
            shard = MemRefType(type_.element_type, type_.shape, memory_space=type_.memory_space)
            get = GetCBOp.of(number, d2m.CBType(shard))
            get.location = self.op.location
            later = [self.made[each] for each in sorted(self.made) if each > number]
            place = later[0].owner if later else self.place
            self.region.block.insert_op_before(get, cast("Operation", place))
            self.made[number] = get.results[0]
        return self.made[number]


def _split(op: d2m.GenericOp) -> None:
    region = op.regions[0]
    copies = [region.clone() for _ in range(3)]
    threads: list[d2m.ThreadAttr] = []
    regions: list[Region] = []
    for copy, kind in zip(copies, (d2m.RemoteLoadOp, d2m.RemoteStoreOp), strict=False):
        if _keep_movement(op, copy, kind):
            regions.append(copy)
            threads.append(MOVEMENT)
    if _keep_computation(op, copies[2]):
        regions.append(copies[2])
        threads.append(COMPUTE)
    if not threads:
        refuse(op, "has a unified thread that does nothing")
    set_threads(op, threads, regions)


def operand_number(op: d2m.GenericOp, moved: d2m.RemoteLoadOp | d2m.RemoteStoreOp) -> int:
    """Which operand of the generic a block is moved from or to."""
    for number, value in enumerate(op.buffers):
        if value is moved.remote:
            return number
    refuse(moved, "moves a block of what is no operand of the d2m.generic around it")


def _copied_from(store: d2m.RemoteStoreOp) -> d2m.RemoteLoadOp | None:
    """The load of a block that is stored as it is."""
    local = store.group("localBuffer")
    owner = local[0].owner if local else None
    if isinstance(owner, d2m.RemoteLoadOp):
        return owner
    loads = [
        use.operation
        for value in local
        for use in value.uses
        if isinstance(use.operation, d2m.RemoteLoadOp)
    ]
    return loads[0] if loads else None


def _keep_movement(
    op: d2m.GenericOp, region: Region, kind: type[d2m.RemoteLoadOp | d2m.RemoteStoreOp]
) -> bool:
    """Leave the loads, or the stores, with what tells when and where; False if there are none."""
    buffers = _Buffers(op, region)
    made: list[Operation] = []
    for each in operations_in(region):
        if not isinstance(each, kind):
            continue
        if each.group("cb"):
            made.append(each)
            continue
        source = each
        if isinstance(each, d2m.RemoteStoreOp):
            source = _copied_from(each) or each
        (local,) = each.group("localBuffer")
        cb = buffers.of(operand_number(op, source), local.type)
        new = each.through(cb)
        RegionBuilder.before(each).add_op(new)
        made.append(new)
    keep_only(region, made)
    return bool(made)


def _keep_computation(op: d2m.GenericOp, region: Region) -> bool:
    """Take blocks from circular buffers and hand them over; False if nothing is computed."""
    buffers = _Buffers(op, region)
    moves = [
        each
        for each in operations_in(region)
        if isinstance(each, d2m.RemoteLoadOp | d2m.RemoteStoreOp) and not each.group("cb")
    ]
    copied = [
        load
        for each in moves
        if isinstance(each, d2m.RemoteStoreOp) and (load := _copied_from(each)) is not None
    ]
    ends: list[tuple[Block, SSAValue]] = []
    for each in moves:
        (local,) = each.group("localBuffer")
        if isinstance(each, d2m.RemoteLoadOp) and each not in copied:
            cb = buffers.of(operand_number(op, each), local.type)
            block = RegionBuilder.before(each).add_op(d2m.WaitOp.on(cb)).results[0]
            for result in each.results:
                result.replace_all_uses_with(block)
            _use_instead(each, local, block)
            ends.append((cast("Block", each.parent), cb))
        elif isinstance(each, d2m.RemoteStoreOp) and _copied_from(each) is None:
            cb = buffers.of(operand_number(op, each), local.type)
            place = _first_use(each, local)
            block = RegionBuilder.before(place).add_op(d2m.ReserveOp.on(cb)).results[0]
            RegionBuilder.before(each).add_op(PushOp.create(operands=[cb]))
            _use_instead(each, local, block)
    for each in moves:
        if isinstance(each, d2m.RemoteLoadOp) and each in copied and each.results:
            each.results[0].replace_all_uses_with(each.group("localBuffer")[0])
        erase(each)
    for block, cb in ends:
        RegionBuilder.at_end(block, op).add_op(PopOp.create(operands=[cb]))
    erase_unused_values(region)
    given = (d2m.WaitOp, d2m.ReserveOp, PushOp, PopOp)
    return any(
        not each.regions
        and not each.has_trait(IsTerminator)
        and not isinstance(each, given)
        and not is_side_effect_free(each)
        for each in region.walk()
    )


def _use_instead(move: Operation, local: SSAValue, block: SSAValue) -> None:
    """Let what uses a local buffer use a block of a circular buffer, unless it moves data."""
    for use in list(local.uses):
        if use.operation is not move and not isinstance(use.operation, d2m.RemoteLoadOp):
            use.operation.operands[use.index] = block


def _first_use(store: d2m.RemoteStoreOp, local: SSAValue) -> Operation:
    """Where, in the block of operations of a store, its block is first needed."""
    block = cast("Block", store.parent)
    users = {use.operation for use in local.uses}
    for each in block.ops:
        if each is local.owner or any(inner in users for inner in each.walk()):
            return each
    return store
