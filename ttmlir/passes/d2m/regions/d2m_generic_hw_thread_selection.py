"""Merge the threads of a generic that move data into as many as a core has processors for.

Before:

    #l1 = #ttcore.memory_space<l1>
    #map = affine_map<(d0, d1) -> (d0, d1)>
    #parallel = #ttcore.iterator_type<parallel>
    !remote = memref<2x2x2x4x!ttcore.tile<32x32, f32>, #ttcore.shard<16384x4096>, #l1>
    !local = memref<2x4x!ttcore.tile<32x32, f32>, #l1>
    func.func @f(%x: !remote, %y: !remote) {
      d2m.generic {block_factors = [1, 1], grid = #ttcore.grid<2x2>, indexing_maps = [#map, #map],
          iterator_types = [#parallel, #parallel],
          threads = [#d2m.thread<datamovement>, #d2m.thread<datamovement>, #d2m.thread<compute>]}
          ins(%x : !remote) outs(%y : !remote) {
      ^datamovement0(%cb0: !d2m.cb<!local>, %cb1: !d2m.cb<!local>):
        %0 = d2m.reserve %cb0 : !d2m.cb<!local> -> !local
      }, {
      ^datamovement1(%cb0: !d2m.cb<!local>, %cb1: !d2m.cb<!local>):
        %0 = d2m.wait %cb1 : !d2m.cb<!local> -> !local
      }, {
      ^compute0(%cb0: !d2m.cb<!local>, %cb1: !d2m.cb<!local>):
        %0 = d2m.wait %cb0 : !d2m.cb<!local> -> !local
        %1 = d2m.reserve %cb1 : !d2m.cb<!local> -> !local
      }
      return
    }

After:

    ...
      threads = [#d2m.thread<datamovement>, #d2m.thread<compute>]}
          ...
      ^datamovement0(%cb0: ..., %cb1: ...):
        %0 = d2m.reserve %cb0 : ...
      }, {
      ^compute0(%cb0: ..., %cb1: ...):
        %0 = d2m.wait %cb0 : ...
        %1 = d2m.reserve %cb1 : ...
        %2 = d2m.wait %cb1 : ...
    ...

Requires: one thread of data movement for each operand (`d2m-generic-generate-datamovement`).
Ensures: a thread for an output that only waits is part of the one that computes; others are part of
the last one that moves data. Inputs beyond the processors go round among them.
Options: none.
Not done here: dividing what one thread moves, which `d2m-schedule-dma` does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ttmlir.dialects import d2m
from ttmlir.ir.rewriting import refuse
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.d2m.regions.d2m_schedule_dma import PROCESSORS
from ttmlir.passes.d2m.regions.region_builder import generics_in, set_threads

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Region


@dataclass(frozen=True)
class D2MGenericHWThreadSelectionPass(ModulePass):
    """Merge threads of data movement into as many as a core runs."""

    name = "d2m-generic-hw-thread-selection"
    title = "D2MGenericHWThreadSelection"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Take every generic with more threads than a core runs, or with a trivial one."""
        for op in generics_in(module):
            if len(op.regions) > 1:
                _merge(op)


def _merge(op: d2m.GenericOp) -> None:
    pairs = list(zip(op.threads, op.regions, strict=True))
    moving = [pair for pair in pairs if pair[0].kind is d2m.ThreadKind.DATAMOVEMENT]
    computing = [pair for pair in pairs if pair[0].kind is d2m.ThreadKind.COMPUTE]
    inputs = len(op.inputs)
    if len(moving) == len(op.buffers) and computing:
        for pair in moving[inputs:]:
            if all(isinstance(each, d2m.WaitOp) for each in pair[1].block.ops):
                _append(pair[1], computing[0][1])
                moving.remove(pair)
        outputs = moving[inputs:]
        kept = moving[: min(inputs, PROCESSORS)]
        for number, pair in enumerate(moving[len(kept) : inputs]):
            _append(pair[1], kept[number % len(kept)][1])
        for pair in outputs:
            if len(kept) < PROCESSORS:
                kept.append(pair)
            else:
                _append(pair[1], kept[-1][1])
        moving = kept
    if len(moving) > PROCESSORS or len(computing) > 1:
        refuse(
            op,
            f"invalid number of regions ({len(moving) + len(computing)}), expected at most "
            f"({PROCESSORS + 1})",
        )
    chosen = [*moving, *computing]
    set_threads(op, [thread for thread, _ in chosen], [region for _, region in chosen])


def _append(region: Region, target: Region) -> None:
    """Move what a region does to the end of another one with the same arguments."""
    for old, new in zip(region.block.args, target.block.args, strict=True):
        old.replace_all_uses_with(new)
    for each in list(region.block.ops):
        each.detach()
        target.block.add_op(each)
