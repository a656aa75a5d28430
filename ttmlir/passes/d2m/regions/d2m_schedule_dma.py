"""Divide the movements of blocks among the processors of a core that move data.

Before:

    #l1 = #ttcore.memory_space<l1>
    !remote = memref<2x2x2x4x!ttcore.tile<32x32, f32>, #ttcore.shard<16384x4096, 1>, #l1>
    !cb = !d2m.cb<memref<2x4x!ttcore.tile<32x32, f32>, #l1>>
    func.func @f(%x: !remote, %y: !remote, %z: !remote) {
      d2m.generic {block_factors = [], grid = #ttcore.grid<2x2>, indexing_maps = [],
          iterator_types = [], threads = [#d2m.thread<datamovement>]}
          ins(%x, %y : !remote, !remote) outs(%z : !remote) {
        %cb0 = d2m.get_cb(0) : !cb
        %cb1 = d2m.get_cb(1) : !cb
        %i = d2m.core_index(0) : index
        %j = d2m.core_index(1) : index
        d2m.remote_load %x[%i, %j] into %cb0 : !remote into !cb
        d2m.remote_load %y[%i, %j] into %cb1 : !remote into !cb
      }
      return
    }

After:

    ...
    threads = [#d2m.thread<datamovement>, #d2m.thread<datamovement>]}
        ...
      d2m.remote_load %arg0[%core0, %core1] into %cb : ...
    }, {
      ...
      d2m.remote_load %arg1[%core0, %core1] into %cb : ...
    }
    ...

Requires: threads that `d2m-split-unified-thread` makes.
Ensures: where one thread moves the blocks of several circular buffers and the other processor has
nothing to do, each of the two moves about half of the bytes; stores go to the second one. The
movements of one circular buffer stay together, in their order.
Options: none.
Not done here: how data is moved (`d2m-lower-load-store-ops-to-dma`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from xdsl.ir import SSAValue

from ttmlir.dialects import d2m
from ttmlir.dialects.tt.layout import element_of
from ttmlir.ir.rewriting import refuse
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.d2m.regions.d2m_split_unified_thread import MOVEMENT
from ttmlir.passes.d2m.regions.region_builder import (
    generics_in,
    keep_only,
    operations_in,
    set_threads,
)

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Region

    from ttmlir.dialects.d2m import CBType

PROCESSORS = 2
"""Processors of a core that move data."""


@dataclass(frozen=True)
class D2MScheduleDMAPass(ModulePass):
    """Divide the movements of blocks among the processors that move data."""

    name = "d2m-schedule-dma"
    title = "D2MScheduleDMA"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Take every generic with one thread that moves data."""
        for op in generics_in(module):
            moving = [
                number
                for number, thread in enumerate(op.threads)
                if thread.kind is d2m.ThreadKind.DATAMOVEMENT
            ]
            if len(moving) > PROCESSORS:
                refuse(
                    op,
                    f"invalid number of regions ({len(moving)}), expected at most ({PROCESSORS}): "
                    "a core has so many processors that move data",
                )
            if len(moving) == 1 and op.threads[moving[0]].symbol is None:
                _divide(op, moving[0])


def _moves(region: Region) -> list[d2m.RemoteLoadOp | d2m.RemoteStoreOp]:
    return [
        each
        for each in operations_in(region)
        if isinstance(each, d2m.RemoteLoadOp | d2m.RemoteStoreOp) and each.group("cb")
    ]


def _divide(op: d2m.GenericOp, number: int) -> None:
    """Make two threads of one, if it moves the blocks of several circular buffers."""
    region = op.regions[number]
    others = [each for each in region.walk() if isinstance(each, d2m.DataMovementOp)]
    cbs: dict[SSAValue, int] = {}
    stored = set[SSAValue]()
    for each in _moves(region):
        (cb,) = each.group("cb")
        shard = cast("CBType", cb.type)
        cbs[cb] = math.prod(shard.shape) * element_of(shard.element_type).size_bytes
        if isinstance(each, d2m.RemoteStoreOp):
            stored.add(cb)
    if len(cbs) < PROCESSORS or others:
        return
    loads = [0, sum(cbs[cb] for cb in stored)]
    second = set(stored) if len(stored) < len(cbs) else set[SSAValue]()
    for cb, size in sorted(cbs.items(), key=lambda item: -item[1]):
        if cb in second:
            continue
        chosen = 0 if loads[0] <= loads[1] else 1
        loads[chosen] += size
        if chosen:
            second.add(cb)
    if not second or len(second) == len(cbs):
        return
    goes_second = [each.group("cb")[0] in second for each in _moves(region)]
    parts = [region.clone(), region.clone()]
    for part, is_second in zip(parts, (False, True), strict=True):
        moves = zip(_moves(part), goes_second, strict=True)
        keep_only(part, [each for each, goes in moves if goes is is_second])
    regions, threads = list(op.regions), list(op.threads)
    regions[number : number + 1] = parts
    threads[number : number + 1] = [MOVEMENT, MOVEMENT]
    set_threads(op, threads, regions)
