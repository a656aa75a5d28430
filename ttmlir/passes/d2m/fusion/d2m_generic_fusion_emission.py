"""Building a fused generic after its plan, for `d2m-generic-fusion`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from xdsl.dialects.builtin import LocationAttr, TensorType
from xdsl.dialects.linalg.attrs import IteratorType as LinalgIteratorType
from xdsl.dialects.linalg.attrs import IteratorTypeAttr as LinalgIteratorTypeAttr
from xdsl.dialects.linalg.ops import YieldOp as LinalgYieldOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ttmlir.dialects import d2m
from ttmlir.dialects.linalg import GenericOp as LinalgGenericOp
from ttmlir.dialects.ttcore import shard_type_of
from ttmlir.ir.builder import OpBuilder
from ttmlir.layout.affine import AffineExpr, AffineMap, ConstantExpr, DimExpr
from ttmlir.layout.enums import IteratorType
from ttmlir.mlir.attributes import affine_map_attr
from ttmlir.passes.d2m.fusion.d2m_generic_fusion_plan import Classes, FusionPlan
from ttmlir.passes.d2m.fusion.d2m_generic_fusion_stages import Read, Shape, Stage
from ttmlir.passes.d2m.references import (
    REFERENCE,
    Reference,
    ReferenceOutput,
    ReferenceRow,
    reference_of,
)


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
