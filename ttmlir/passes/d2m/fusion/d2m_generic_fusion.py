"""Make one generic of several: a producer's stages stand in front of those of its consumer.

Before:

    #layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32,
        collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
    #map = affine_map<(d0, d1) -> (d0, d1)>
    #parallel = #ttcore.iterator_type<parallel>
    !tile = !ttcore.tile<32x32, f32>
    !tensor = tensor<1x1x2x3x!tile, #layout>
    !shard = tensor<2x3x!tile>
    func.func @f(%x: !tensor) -> !tensor {
      %e0 = d2m.empty() : !tensor
      %0 = d2m.generic {block_factors = [1, 1], grid = #ttcore.grid<1x1>, indexing_maps = [#map,
          #map], iterator_types = [#parallel, #parallel], threads = [#d2m.thread<compute>]}
          ins(%x : !tensor) outs(%e0 : !tensor) {
      ^compute0(%cb0: !d2m.cb<!shard>, %cb1: !d2m.cb<!shard>):
        %i = d2m.wait %cb0 : !d2m.cb<!shard> -> !shard
        %o = d2m.reserve %cb1 : !d2m.cb<!shard> -> !shard
        %r = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel",
            "parallel"]} ins(%i : !shard) outs(%o : !shard) {
        ^bb0(%a: !tile, %b: !tile):
          %t = "d2m.tile_exp"(%a) : (!tile) -> !tile
          linalg.yield %t : !tile
        } -> !shard
        d2m.yield %r : (!shard)
      } : !tensor
      %e1 = d2m.empty() : !tensor
      %1 = d2m.generic {block_factors = [1, 1], grid = #ttcore.grid<1x1>, indexing_maps = [#map,
          #map, #map], iterator_types = [#parallel, #parallel], threads = [#d2m.thread<compute>]}
          ins(%0, %x : !tensor, !tensor) outs(%e1 : !tensor) {
      ^compute0(%cb0: !d2m.cb<!shard>, %cb1: !d2m.cb<!shard>, %cb2: !d2m.cb<!shard>):
        %i = d2m.wait %cb0 : !d2m.cb<!shard> -> !shard
        %j = d2m.wait %cb1 : !d2m.cb<!shard> -> !shard
        %o = d2m.reserve %cb2 : !d2m.cb<!shard> -> !shard
        %r = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel",
            "parallel"]} ins(%i, %j : !shard, !shard) outs(%o : !shard) {
        ^bb0(%a: !tile, %b: !tile, %c: !tile):
          %t = "d2m.tile_mul"(%a, %b) : (!tile, !tile) -> !tile
          linalg.yield %t : !tile
        } -> !shard
        d2m.yield %r : (!shard)
      } : !tensor
      return %1 : !tensor
    }

After:

    ...
        %1 = d2m.generic {block_factors = [1, 1], grid = #ttcore.grid<1x1>, indexing_maps = [#map,
            #map], iterator_types = [#parallel, #parallel], threads = [#d2m.thread<compute>]}
            ins(%arg0 : tensor<1x1x2x3x!ttcore.tile<32x32, f32>, #layout>)
            outs(%0 : tensor<1x1x2x3x!ttcore.tile<32x32, f32>, #layout>) {
        ^compute0(...):
          ...
          ^bb0(%in: !ttcore.tile<32x32, f32>, %out: !ttcore.tile<32x32, f32>):
            %5 = "d2m.tile_exp"(%in) : ...
            %6 = "d2m.tile_mul"(%5, %in) : ...
            linalg.yield %6 : !ttcore.tile<32x32, f32>
          ...
          d2m.yield %4 : (tensor<2x3x!ttcore.tile<32x32, f32>>)
        } : tensor<1x1x2x3x!ttcore.tile<32x32, f32>, #layout>
        return %1 : tensor<1x1x2x3x!ttcore.tile<32x32, f32>, #layout>
      }
    }

Requires: generics on tensors on a grid of ones; `ttir-to-d2m` makes them.
Ensures: every value that is used is computed as before. The iterators of a fused generic are those
that its stages share; all other dimensions are whole in each block. In its region, stages stand in
order, with local tensors (`d2m.empty` without layout) between them. A stage that reads a tensor
indexed by a reduction iterator runs in each step of it, all others behind the last step. A value
that is needed elsewhere is one more output; one that is read twice in the same blocks is one
operand.
Options: whether to fuse at all, and the limits of a fused generic.
Not done here: large products one into another, and what would compute a value again for each block.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue

from ttmlir.dialects import d2m
from ttmlir.ir.rewriting import erase, erase_unused, refuse
from ttmlir.layout.errors import LayoutError
from ttmlir.passes.core.base import ModulePass, option
from ttmlir.passes.d2m.fusion.d2m_generic_fusion_emission import build_fused
from ttmlir.passes.d2m.fusion.d2m_generic_fusion_plan import FusionPlan, plan_fusion
from ttmlir.passes.d2m.fusion.d2m_generic_fusion_stages import (
    Shape,
    Stage,
    buffer_below,
    read_stage,
)

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp


_SIBLING_TILES = 2048
"""Tiles of the results of products that become one because they have the same left factor."""


@dataclass(frozen=True)
class D2MGenericFusionPass(ModulePass):
    """Make one generic of several."""

    name = "d2m-generic-fusion"
    title = "D2MGenericFusion"
    enable_fusion: bool = option(True, "Make one generic of several; without it, nothing is done")
    max_dst_physical_size_tiles: int = option(
        0, "Tiles of 16-bit numbers in DST; 0 for those of the chip"
    )

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Fuse within every block of every function."""
        if not self.enable_fusion:
            return
        for function in [op for op in module.walk() if isinstance(op, FuncOp)]:
            for block in function.body.blocks:
                erase_unused(op for op in block.ops if _computes_tensors(op))
                try:
                    _BlockFusion(block, self.max_dst_physical_size_tiles).run()
                except LayoutError as error:
                    refuse(function, f"cannot be fused: {error}")


def _computes_tensors(op: Operation) -> bool:
    """True for what only its users need."""
    kinds = (d2m.GenericOp, d2m.ViewLayoutOp, d2m.EmptyOp, d2m.ToLayoutOp)
    return isinstance(op, kinds) and bool(op.results)


@dataclass(eq=False)
class _Group:
    """Generics that become one, at the place of one of them."""

    stages: tuple[Stage, ...]
    position: int
    """Where it stands among the operations of the block."""
    first_use: int | None = None
    """A position before which no other operation reads a result."""
    plan: FusionPlan | None = None

    def note_use(self, position: int) -> None:
        """An operation reads a result."""
        if self.first_use is None or position < self.first_use:
            self.first_use = position


class _BlockFusion:
    """Goes through a block once; each generic joins those whose results it reads."""

    def __init__(self, block: Block, dst_tiles: int) -> None:
        self._block = block
        self._dst_tiles = dst_tiles
        self._ops = tuple(block.ops)
        self._groups: dict[Operation, _Group] = {}
        self._positions: dict[Operation, int] = {}
        """Of all other operations, but -1 for those that could stand at the beginning."""
        self._uses: dict[SSAValue, int] = {}
        self._products: dict[tuple[SSAValue, Shape], list[Stage]] = {}
        """By left factors and extents."""

    def run(self) -> None:
        """Find the groups, build their generics, and put the operations in order."""
        for position, op in enumerate(self._ops):
            stage = read_stage(op, position) if isinstance(op, d2m.GenericOp) else None
            if stage is None:
                self._pass_by(op, position)
                continue
            group = _Group((stage,), position)
            self._groups[op] = group
            for producer in self._producers_of(stage):
                group = self._merge(producer, group)
            for sibling in self._siblings_of(stage):
                group = self._merge(sibling, group)
            for producer in self._producers(group):
                producer.note_use(group.position)
        groups = list(dict.fromkeys(self._groups.values()))
        made = [group for group in groups if self._build(group)]
        if made:
            _sort(self._block)

    def _pass_by(self, op: Operation, position: int) -> None:
        """An operation that stays as it is."""
        if isinstance(op, d2m.ViewLayoutOp):
            return
        sources = [buffer_below(value).owner for value in op.operands]
        is_free = not isinstance(op, d2m.GenericOp)
        for source in sources:
            if isinstance(source, Operation) and source in self._groups:
                self._groups[source].note_use(position)
                is_free = False
            elif isinstance(source, Operation) and self._positions.get(source, -1) >= 0:
                is_free = False
        self._positions[op] = -1 if is_free else position

    def _producers_of(self, stage: Stage) -> list[_Group]:
        """The groups whose results a stage reads."""
        owners = [read.buffer.owner for read in stage.reads]
        found = [
            self._groups[owner]
            for owner in owners
            if isinstance(owner, Operation) and owner in self._groups
        ]
        return list(dict.fromkeys(found))

    def _siblings_of(self, stage: Stage) -> list[_Group]:
        """The groups with products of the same left factor, which is then read once.

        Large products keep the matrix unit busy alone, in larger blocks.
        """
        if not stage.is_product or stage.left is None:
            return []
        same = self._products.setdefault((stage.left, stage.extents), [])
        same.append(stage)
        tiles = len(same) * stage.result_tiles
        found = [self._groups[each.op] for each in same[:-1]] if tiles <= _SIBLING_TILES else []
        return list(dict.fromkeys(found))

    def _producers(self, group: _Group) -> list[_Group]:
        """The other groups whose results a group reads."""
        found = [each for stage in group.stages for each in self._producers_of(stage)]
        return [each for each in dict.fromkeys(found) if each is not group]

    def _last_source(self, group: _Group, but: _Group) -> int:
        """The position behind which a group may stand, as far as others than one say."""
        others = [each.position for each in self._producers(group) if each is not but]
        fixed = [
            self._positions.get(read.buffer.owner, -1)
            for stage in group.stages
            for read in stage.reads
            if isinstance(read.buffer.owner, Operation)
        ]
        return max([-1, *others, *fixed])

    def _merge(self, producer: _Group, consumer: _Group) -> _Group:
        """Both groups as one, or the consumer as it is."""
        if producer is consumer:
            return consumer
        if producer.first_use is None or producer.first_use > consumer.position:
            position = consumer.position
        elif self._last_source(consumer, producer) < producer.position:
            position = producer.position
        else:
            return consumer
        stages = sorted((*producer.stages, *consumer.stages), key=lambda each: each.position)
        plan = plan_fusion(stages, self._count_uses, self._dst_tiles)
        if plan is None:
            return consumer
        merged = _Group(tuple(stages), position, plan=plan)
        for each in (producer, consumer):
            if each.first_use is not None:
                merged.note_use(each.first_use)
        for stage in stages:
            self._groups[stage.op] = merged
        for each in self._producers(merged):
            each.note_use(position)
        return merged

    def _count_uses(self, value: SSAValue) -> int:
        """How often operations read a value, through views, too."""
        if value not in self._uses:
            self._uses[value] = sum(
                self._count_uses(use.operation.results[0])
                if isinstance(use.operation, d2m.ViewLayoutOp)
                else 1
                for use in value.uses
            )
        return self._uses[value]

    def _build(self, group: _Group) -> bool:
        plan = group.plan
        if plan is None:
            return False
        fused = build_fused(plan, self._ops[group.position])
        for number, result in zip(sorted(plan.outputs), fused.results, strict=True):
            value = plan.stages[number].result
            result.name_hint = value.name_hint
            value.replace_all_uses_with(result)
        destinations = [stage.op.outputs[0].owner for stage in group.stages]
        for stage in reversed(group.stages):
            self._erase_unused_views(stage.result)
            erase(stage.op)
        erase_unused(each for each in destinations if isinstance(each, Operation))
        return True

    def _erase_unused_views(self, value: SSAValue) -> None:
        for use in tuple(value.uses):
            if isinstance(use.operation, d2m.ViewLayoutOp):
                self._erase_unused_views(use.operation.results[0])
                erase(use.operation)


def _sort(block: Block) -> None:
    """Put each operation behind those whose results it reads, else in the order as it is."""
    ops = tuple(block.ops)
    own, done = set(ops), set[Operation]()
    ordered: list[Operation] = []
    for first in ops:
        waiting = [first]
        while waiting:
            op = waiting[-1]
            before = [
                value.owner
                for value in op.operands
                if isinstance(value.owner, Operation)
                and value.owner in own
                and value.owner not in done
            ]
            if before and op not in done:
                waiting += reversed(before)
                continue
            waiting.pop()
            if op not in done:
                done.add(op)
                ordered.append(op)
    for op in ordered:
        op.detach()
        block.add_op(op)
