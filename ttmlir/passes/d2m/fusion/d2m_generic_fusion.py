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
indexed by a reduction iterator runs in each step of it, all others after the last step. A value
that is needed elsewhere is one more output; one that is read twice in the same blocks is one
operand.
Options: whether to fuse at all, and the limits of a fused generic.
Not done here: large products one into another, and what would compute a value again for each block.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import LocationAttr, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.dialects.linalg.attrs import IteratorType as LinalgIteratorType
from xdsl.dialects.linalg.attrs import IteratorTypeAttr as LinalgIteratorTypeAttr
from xdsl.dialects.linalg.ops import YieldOp as LinalgYieldOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ttmlir.dialects import d2m
from ttmlir.dialects.linalg import GenericOp as LinalgGenericOp
from ttmlir.dialects.ttcore import shard_type_of
from ttmlir.ir.builder import OpBuilder
from ttmlir.ir.rewriting import erase, erase_unused, refuse
from ttmlir.layout.affine import AffineExpr, AffineMap, ConstantExpr, DimExpr
from ttmlir.layout.enums import IteratorType
from ttmlir.layout.errors import LayoutError
from ttmlir.mlir.attributes import affine_map_attr
from ttmlir.passes.core.base import option
from ttmlir.passes.d2m.frontend.unified_form import ComputingModulePass
from ttmlir.passes.d2m.fusion.d2m_generic_fusion_plan import (
    Classes,
    FusionPlan,
    Read,
    Shape,
    Stage,
    buffer_below,
    plan_fusion,
    read_stage,
)
from ttmlir.passes.d2m.references import (
    REFERENCE,
    Reference,
    ReferenceOutput,
    ReferenceRow,
    reference_of,
)

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp

_SIBLING_TILES = 2048
"""Tiles of the results of products that become one because they have the same left factor."""


@dataclass(frozen=True)
class D2MGenericFusionPass(ComputingModulePass):
    """Make one generic of several."""

    name = "d2m-generic-fusion"
    title = "D2MGenericFusion"
    enable_fusion: bool = option(True, "Make one generic of several; without it, nothing is done")
    enable_eltwise_reduction_fusion: bool = option(
        True, "Fuse sums and extremes with other operations, too"
    )
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
                    _BlockFusion(
                        block,
                        self.max_dst_physical_size_tiles,
                        with_reductions=self.enable_eltwise_reduction_fusion,
                    ).run()
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

    def __init__(self, block: Block, dst_tiles: int, *, with_reductions: bool) -> None:
        self._block = block
        self._with_reductions = with_reductions
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
        """The position after which a group may stand, as far as others than one say."""
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
        if not self._with_reductions and any(
            each.reductions and not each.is_product for each in stages
        ):
            return consumer
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
    """Put each operation after those whose results it reads, else in the order as it is."""
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


# --- Emission -------------------------------------------------------------------------------------
# Building a fused generic after its plan, for `d2m-generic-fusion`.


def build_fused(plan: FusionPlan, before: Operation) -> d2m.GenericOp:
    """The generic of a plan in front of an operation; its results are those of the outputs."""
    return _Emitter(plan, before).build()


def map_of(classes: Classes, iterators: Sequence[int]) -> AffineMap:
    """The map from iterators, each of a class, to the dimensions of a tensor."""
    results: tuple[AffineExpr, ...] = tuple(
        DimExpr(iterators.index(each)) if each in iterators else ConstantExpr(0) for each in classes
    )
    return AffineMap(len(iterators), 0, results)


@dataclass
class _Body:
    """The body of a loop nest in the making."""

    block: Block
    inputs: list[SSAValue] = field(default_factory=list[SSAValue])
    maps: list[AffineMap] = field(default_factory=list[AffineMap])
    arguments: dict[tuple[SSAValue, AffineMap], SSAValue] = field(
        default_factory=dict[tuple[SSAValue, AffineMap], SSAValue]
    )

    def argument(self, shard: SSAValue, index_map: AffineMap) -> SSAValue:
        """The tile of a shard that a map leads to; one argument for all that read it so."""
        key = (shard, index_map)
        if key not in self.arguments:
            element = cast("TensorType[Attribute]", shard.type).get_element_type()
            self.arguments[key] = self.block.insert_arg(element, len(self.inputs))
            self.inputs.append(shard)
            self.maps.append(index_map)
        return self.arguments[key]


class _Emitter:
    def __init__(self, plan: FusionPlan, before: Operation) -> None:
        self._plan = plan
        self._stages = plan.stages
        self._made = {stage.result: number for number, stage in enumerate(plan.stages)}
        self._outside = OpBuilder.before(before)
        self._outside.location = plan.stages[max(plan.outputs)].op.location
        parallel, reductions = plan.iterators()
        self._iterators = (*parallel, *reductions)
        self._kinds = (
            *(IteratorType.PARALLEL,) * len(parallel),
            *(IteratorType.REDUCTION,) * len(reductions),
        )
        self._outputs = sorted(plan.outputs)
        self._inputs: dict[tuple[SSAValue, AffineMap], int] = {}
        operands: list[SSAValue] = []
        for number, stage in enumerate(plan.stages):
            for read in stage.reads:
                key = self._input_key(number, read)
                if read.buffer not in self._made and key not in self._inputs:
                    self._inputs[key] = len(operands)
                    # What it was may have become the result of a fused generic.
                    operands.append(stage.op.operands[read.operand])
        self._operands = operands

    def _input_key(self, number: int, read: Read) -> tuple[SSAValue, AffineMap]:
        classes = self._plan.of_places(number, read.places)
        return read.value, map_of(classes, self._iterators)

    def build(self) -> d2m.GenericOp:
        """Put the generic there."""
        outputs = [map_of(self._plan.results[number], self._iterators) for number in self._outputs]
        generic = d2m.GenericOp.of(
            self._operands,
            [self._stages[number].op.outputs[0] for number in self._outputs],
            [*(index_map for _, index_map in self._inputs), *outputs],
            self._kinds,
            [d2m.ThreadKind.COMPUTE],
            grid=(1,) * len(self._plan.results[self._outputs[0]]),
            block_factors=(1,) * len(self._iterators),
        )
        reference = self._merge_references()
        if reference is not None:
            generic.attributes[REFERENCE] = reference.attr
        generic.location = self._outside.location
        self._outside.insert(generic)
        self._fill(generic)
        return generic

    # --- The region ----------------------------------------------------------------------------

    def _fill(self, generic: d2m.GenericOp) -> None:
        block = generic.compute_region.block
        self._region = OpBuilder(block, generic.location)
        count = len(self._inputs)
        self._waited = [self._add(d2m.WaitOp.on(cb)) for cb in block.args[:count]]
        reserved = [self._add(d2m.ReserveOp.on(cb)) for cb in block.args[count:]]
        targets = dict(zip(self._outputs, reserved, strict=True))
        self._held: dict[int, SSAValue] = {}
        yielded: dict[int, SSAValue] = {}
        for number in range(len(self._stages)):
            if number not in self._plan.heads[number]:
                continue
            target = targets.get(number)
            if target is not None and not self._is_read(number):
                yielded[number] = self._compute(number, target)
                continue
            empty = d2m.EmptyOp.of(shard_type_of(self._stages[number].result.type))
            self._held[number] = self._compute(number, self._add(empty))
            if target is not None:
                yielded[number] = self._copy(number, target)
        end = d2m.YieldOp.create(operands=[yielded[number] for number in self._outputs])
        end.location = generic.location
        self._region.insert(end)

    def _add(self, op: Operation) -> SSAValue:
        op.location = self._region.location
        return self._region.insert(op).results[0]

    def _is_read(self, number: int) -> bool:
        """True if another stage reads a result."""
        result = self._stages[number].result
        return any(read.buffer is result for stage in self._stages for read in stage.reads)

    def _compute(self, head: int, target: SSAValue) -> SSAValue:
        """The loop nest of a stage and of those that are computed in its body."""
        stage, classes = self._stages[head], self._plan.classes[head]
        element = cast("TensorType[Attribute]", target.type).get_element_type()
        body = _Body(Block(arg_types=[element]))
        tiles: dict[int, SSAValue] = {}
        for number, each in enumerate(self._stages[: head + 1]):
            if head in self._plan.heads[number]:
                tiles[number] = self._inline(number, each, body, tiles, classes)
        end = LinalgYieldOp(tiles[head])
        end.location = stage.loops.location
        body.block.add_op(end)
        kinds = [
            LinalgIteratorType.REDUCTION
            if each in stage.reductions
            else LinalgIteratorType.PARALLEL
            for each in range(len(classes))
        ]
        maps = [*body.maps, map_of(self._plan.results[head], classes)]
        return self._add_loops(body, maps, kinds, target, stage.loops.location)

    def _inline(
        self,
        number: int,
        stage: Stage,
        body: _Body,
        tiles: Mapping[int, SSAValue],
        iterators: Shape,
    ) -> SSAValue:
        """Put the body of a stage into another; the tile that it computes."""
        block = stage.loops.body.block
        values: dict[SSAValue, SSAValue] = {block.args[-1]: body.block.args[-1]}
        for read in stage.reads:
            source = self._made.get(read.buffer)
            if source is not None and source in tiles:
                tile = tiles[source]
            elif source is not None:
                assert read.buffer_places is not None, "the plan follows views"
                classes = self._plan.of_places(number, read.buffer_places)
                tile = body.argument(self._held[source], map_of(classes, iterators))
            else:
                shard = self._waited[self._inputs[self._input_key(number, read)]]
                classes = self._plan.of_places(number, read.places)
                tile = body.argument(shard, map_of(classes, iterators))
            values[block.args[read.argument]] = tile
        for op in stage.operations:
            clone = op.clone(values)
            clone.location = op.location
            body.block.add_op(clone)
        end = block.last_op
        assert end is not None, "bodies end in a yield"
        return values.get(end.operands[0], end.operands[0])

    def _copy(self, number: int, target: SSAValue) -> SSAValue:
        """A result that stages read, in the output as well."""
        held = self._held[number]
        rank = len(cast("TensorType[Attribute]", held.type).get_shape())
        element = cast("TensorType[Attribute]", held.type).get_element_type()
        body = _Body(Block(arg_types=[element]))
        identity = AffineMap.identity(rank)
        location = self._stages[number].loops.location
        end = LinalgYieldOp(body.argument(held, identity))
        end.location = location
        body.block.add_op(end)
        kinds = [LinalgIteratorType.PARALLEL] * rank
        return self._add_loops(body, [identity] * 2, kinds, target, location)

    def _add_loops(
        self,
        body: _Body,
        maps: Iterable[AffineMap],
        kinds: Iterable[LinalgIteratorType],
        target: SSAValue,
        location: LocationAttr,
    ) -> SSAValue:
        loops = LinalgGenericOp(
            body.inputs,
            [target],
            Region(body.block),
            [affine_map_attr(each) for each in maps],
            [LinalgIteratorTypeAttr(each) for each in kinds],
            [target.type],
        )
        loops.location = location
        return self._region.insert(loops).results[0]

    # --- The reference -------------------------------------------------------------------------

    def _merge_references(self) -> Reference | None:
        """The rows of all stages on the operands of the new generic; None if one has none."""
        first = len(self._inputs) + len(self._outputs)
        numbers: dict[SSAValue, int] = {}
        for (value, _), number in self._inputs.items():
            numbers.setdefault(value, number)
        rows: list[ReferenceRow] = []
        outputs: list[ReferenceOutput] = []
        for number, stage in enumerate(self._stages):
            reference = reference_of(stage.op)
            if reference is None:
                return None
            values = {
                read.operand: numbers[read.buffer if read.buffer in self._made else read.value]
                for read in stage.reads
            }
            for own, row in enumerate(reference.rows, len(stage.op.operands)):
                rows.append(row.renumber(values))
                values[own] = first + len(rows) - 1
            (output,) = reference.outputs
            numbers[stage.result] = values[output.value]
            if number in self._plan.outputs:
                buffer = len(self._inputs) + len(outputs)
                outputs.append(ReferenceOutput(buffer, values[output.value], output.layout))
        return Reference(tuple(rows), tuple(outputs))
