"""Which generics may become one, and how, for `d2m-generic-fusion`.

The iterators of all stages fall into classes: those that go over the same dimension of a tensor
are one. A class is an iterator of the fused generic, or it is whole in each block. Whole are
dimensions that a stage goes over after another has reduced them, and those that not all stages
have; the rest can be divided freely.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import cast

from xdsl.dialects.linalg.attrs import IteratorType as LinalgIteratorType
from xdsl.dialects.linalg.ops import IndexOp
from xdsl.dialects.linalg.ops import YieldOp as LinalgYieldOp
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue

from ttmlir.dialects import d2m
from ttmlir.dialects.linalg import GenericOp as LinalgGenericOp
from ttmlir.dialects.tt.layout import TileType
from ttmlir.dialects.ttcore import metal_layout_of
from ttmlir.ir.tensor_types import element_type, value_shape
from ttmlir.layout.affine import AffineExpr, ConstantExpr, DimExpr
from ttmlir.layout.metal import CIRCULAR_BUFFERS
from ttmlir.mlir.attributes import layout_map
from ttmlir.passes.d2m.dst.select import needs_buffer, tiles_at_once

# --- Stages ---------------------------------------------------------------------------------------
# Generics with one loop nest, as `d2m-generic-fusion` sees them: stages of a fused generic.


Places = tuple[int | None, ...]
"""The iterator that goes over each dimension of a tensor; None where it has one tile."""
Shape = tuple[int, ...]


NARROW = 4
"""Tiles of the terms, or columns, of a product that may be whole in each block."""


def tile_shape(value: SSAValue) -> Shape:
    """The extents of a tensor on a grid of ones, in tiles."""
    shape = value_shape(value)
    return shape[len(shape) // 2 :]


def tile_bytes(value: SSAValue) -> int:
    """The size of a tile of a tensor."""
    return cast("TileType", element_type(value)).format.data.stored_bytes


def buffer_below(value: SSAValue) -> SSAValue:
    """What views lead to in the end."""
    while isinstance(value.owner, d2m.ViewLayoutOp):
        value = value.owner.input
    return value


@dataclass(frozen=True)
class Read:
    """An input of a stage."""

    operand: int
    value: SSAValue
    """The operand as it was read: a buffer or a view."""
    places: Places
    buffer: SSAValue
    """What is below the views."""
    buffer_places: Places | None
    """The iterators that go over the dimensions of the buffer; None where no others do."""
    argument: int
    """The argument of the body that has a tile of it."""


@dataclass(frozen=True, eq=False)
class Stage:
    """The loop nest of a generic, whose maps take iterators to tiles."""

    op: d2m.GenericOp
    loops: LinalgGenericOp
    position: int
    """Of the operation in its block."""
    reads: tuple[Read, ...]
    output_places: Places
    extents: Shape
    reductions: frozenset[int]

    @property
    def result(self) -> SSAValue:
        """What it computes."""
        return self.op.results[0]

    @cached_property
    def operations(self) -> tuple[Operation, ...]:
        """The body without its end."""
        *operations, _ = self.loops.body.block.ops
        return tuple(operations)

    @cached_property
    def is_product(self) -> bool:
        """True for products of matrices, whose blocks the schedule divides in all dimensions."""
        return any(isinstance(op, d2m.TileMatmulOp) for op in self.operations)

    @cached_property
    def narrow_sides(self) -> frozenset[int]:
        """The terms and columns of a product of which one are few tiles, as in attention.

        They may be whole in each block: reading all of the right factor for each row of tiles then
        takes no longer than writing and reading what is between two products.
        """
        if not self.is_product:
            return frozenset()
        columns = self.columns
        tiles = (
            math.prod(self.extents[each] for each in side) for side in (self.reductions, columns)
        )
        return self.reductions | columns if min(tiles) <= NARROW else frozenset()

    @cached_property
    def columns(self) -> frozenset[int]:
        """The iterators of a product that only its right factor and its result follow."""
        product = next(op for op in self.operations if isinstance(op, d2m.TileMatmulOp))
        left, right = (self._iterators_of(value) for value in product.operands[:2])
        return right - left

    @cached_property
    def left(self) -> SSAValue | None:
        """The left factor of a product, if it is read as it is."""
        for op in self.operations:
            if isinstance(op, d2m.TileMatmulOp):
                for read in self.reads:
                    if self.loops.body.block.args[read.argument] is op.operands[0]:
                        return read.value
        return None

    def _iterators_of(self, value: SSAValue) -> frozenset[int]:
        """The iterators that a tile of the body follows."""
        if isinstance(value.owner, d2m.TileOp):
            return frozenset[int]().union(*map(self._iterators_of, value.owner.operands))
        return frozenset(
            each
            for read in self.reads
            if self.loops.body.block.args[read.argument] is value
            for each in read.places
            if each is not None
        )

    @cached_property
    def has_positions(self) -> bool:
        """True if the body asks where its loops are."""
        return any(isinstance(op, IndexOp) for op in self.operations)

    @cached_property
    def is_elementwise(self) -> bool:
        """True if each tile of the result depends on one of each input alone."""
        held = self.loops.body.block.args[-1]
        return not (self.reductions or self.has_positions or held.uses)

    @property
    def result_tiles(self) -> int:
        """Tiles of what it computes."""
        return math.prod(tile_shape(self.result))

    @property
    def domain(self) -> int:
        """The number of times that the body runs."""
        return math.prod(self.extents)

    @cached_property
    def tiles(self) -> frozenset[Attribute]:
        """The types of tiles that the body works on."""
        return frozenset(
            value.type
            for op in self.operations
            for value in (*op.operands, *op.results)
            if isinstance(value.type, TileType)
        ) | {each.type for each in self.loops.body.block.args}

    @cached_property
    def constants(self) -> frozenset[tuple[float, Attribute]]:
        """Numbers that the body reads from circular buffers."""
        return frozenset(
            (value.owner.number, value.type)
            for value in self._read_again
            if isinstance(value.owner, d2m.TileFillOp)
        )

    @cached_property
    def scratch(self) -> tuple[tuple[frozenset[int], int], ...]:
        """Tiles that are computed and then read from circular buffers.

        Of each, the iterators that it depends on, and its bytes.
        """
        arguments = self.loops.body.block.args
        places: dict[SSAValue, frozenset[int]] = {
            arguments[read.argument]: frozenset(each for each in read.places if each is not None)
            for read in self.reads
        }
        for op in self.operations:
            found = frozenset[int]().union(*(places.get(each, ()) for each in op.operands))
            places.update(dict.fromkeys(op.results, found))
        return tuple(
            (places[value], cast("TileType", value.type).format.data.stored_bytes)
            for value in self._read_again
            if not isinstance(value.owner, d2m.TileFillOp)
        )

    @cached_property
    def _read_again(self) -> tuple[SSAValue, ...]:
        """Results of operations of the body that others take from circular buffers."""
        found: dict[SSAValue, None] = {}
        for op in self.operations:
            if isinstance(op, d2m.TileOp):
                for index, value in enumerate(op.operands):
                    if index not in op.DST_OPERANDS and isinstance(value.owner, d2m.TileOp):
                        found[value] = None
            if op.name == "d2m.tile_div" and isinstance(op.operands[1].owner, d2m.TileBcastOp):
                # Of what is repeated, the reciprocal is computed first.
                found[op.operands[1]] = None
        return tuple(found)

    def takes_registers(self, argument: int) -> bool:
        """True if all uses of an argument of the body take it where another operation leaves it."""
        return all(
            isinstance(use.operation, LinalgYieldOp)
            or (isinstance(use.operation, d2m.TileOp) and use.index in use.operation.DST_OPERANDS)
            for use in self.loops.body.block.args[argument].uses
        )


def read_stage(op: d2m.GenericOp, position: int) -> Stage | None:
    """The only loop nest of a generic; None for a generic of another form."""
    if len(op.outputs) != 1 or not isinstance(op.outputs[0].owner, d2m.EmptyOp):
        return None
    if {*op.grid_shape, *op.block_factors} != {1} or not op.is_compute_only:
        return None
    block = op.compute_region.block
    loops = [each for each in block.ops if isinstance(each, LinalgGenericOp)]
    others = [
        each
        for each in block.ops
        if not isinstance(each, LinalgGenericOp | d2m.WaitOp | d2m.ReserveOp | d2m.YieldOp)
    ]
    if len(loops) != 1 or others or len(loops[0].outputs) != 1:
        return None
    (nest,) = loops
    operands = [_operand_of(op, value) for value in nest.operands]
    if operands[-1] != len(op.inputs) or {*operands} != {*range(len(op.operands))}:
        return None
    shapes = [tile_shape(op.operands[each]) for each in operands if each is not None]
    maps = [layout_map(each).results for each in nest.indexing_maps.data]
    placed = [_places(results, shape) for results, shape in zip(maps, shapes, strict=True)]
    extents = _extents(len(nest.iterator_types.data), placed, shapes)
    if extents is None:
        return None
    *inputs, output = [places for places in placed if places is not None]
    reads = tuple(
        _read(op, operand, places, argument)
        for argument, (operand, places) in enumerate(zip(operands, inputs, strict=False))
        if operand is not None
    )
    kinds = [kind.data for kind in nest.iterator_types.data]
    reductions = frozenset(
        number for number, kind in enumerate(kinds) if kind is not LinalgIteratorType.PARALLEL
    )
    return Stage(op, nest, position, reads, output, extents, reductions)


def _operand_of(op: d2m.GenericOp, value: SSAValue) -> int | None:
    """The operand of a generic whose shard a value in its region is."""
    owner = value.owner
    if isinstance(owner, d2m.WaitOp | d2m.ReserveOp):
        cb = owner.operands[0]
        if isinstance(cb, BlockArgument):
            return cb.index
    return None


def _places(results: Sequence[AffineExpr], shape: Shape) -> Places | None:
    """The iterators of a map; None for a map that is no projected permutation."""
    places: list[int | None] = []
    for result, extent in zip(results, shape, strict=True):
        if isinstance(result, DimExpr):
            places.append(result.position)
        elif result == ConstantExpr(0) and extent == 1:
            places.append(None)
        else:
            return None
    return tuple(places)


def _extents(count: int, placed: Sequence[Places | None], shapes: Sequence[Shape]) -> Shape | None:
    """How far iterators go; None if two tensors do not agree on it."""
    found: dict[int, int] = {}
    for places, shape in zip(placed, shapes, strict=True):
        if places is None:
            return None
        for place, extent in zip(places, shape, strict=True):
            if place is not None and found.setdefault(place, extent) != extent:
                return None
    if len(found) != count:
        return None
    return tuple(found[number] for number in range(count))


def _read(op: d2m.GenericOp, operand: int, places: Places, argument: int) -> Read:
    value = op.operands[operand]
    below, found = value, places
    while found is not None and isinstance(below.owner, d2m.ViewLayoutOp):
        found = _through_view(below, found)
        below = below.owner.input
    return Read(operand, value, places, buffer_below(value), found, argument)


def _through_view(view: SSAValue, places: Places) -> Places | None:
    """The iterators over the tiles below a view; None if it does more than reorder dimensions."""
    assert isinstance(view.owner, d2m.ViewLayoutOp)
    below = tile_shape(view.owner.input)
    layout = metal_layout_of(view.type)
    if layout is None or not layout.data.is_view:
        return places if tile_shape(view) == below else None
    rank, shape = len(places), tile_shape(view)
    found: list[int | None] = []
    for result, extent in zip(layout.data.index_map.results[len(below) :], below, strict=True):
        if isinstance(result, DimExpr) and result.position >= rank:
            dim = result.position - rank
            if shape[dim] != extent:
                return None
            found.append(places[dim])
        elif result == ConstantExpr(0) and extent == 1:
            found.append(None)
        else:
            return None
    return tuple(found)


# --- Plan -----------------------------------------------------------------------------------------

MAX_BUFFERS = 24
"""Circular buffers of a fused generic for operands and results of stages."""
MAX_BYTES = 1360 << 10
"""L1 that the smallest block takes on a core, of 1463 KiB or more."""
MAX_STAGES = 32
"""More stages are no use, and every one makes the next comparison longer."""
_FEW_CORES = 8
"""Blocks that a fused generic has at least..."""
_MANY_CORES = 32
"""...or this many if products have whole dimensions, which could use all cores alone..."""
_FEW_TILES = 256
"""...unless its stages are as small as this."""
_CHEAP = 8
"""Operations on a tile that may be computed again for each block that reads it."""

_ONCE = 0
"""Operations of none that is computed again."""

Classes = tuple[int | None, ...]
"""The class of each dimension of a tensor."""


class _Union:
    """Iterators that are the same."""

    def __init__(self) -> None:
        self._parents: list[int] = []
        self.extents: list[int] = []

    def add(self, extent: int) -> int:
        self._parents.append(len(self._parents))
        self.extents.append(extent)
        return len(self._parents) - 1

    def find(self, number: int) -> int:
        while self._parents[number] != number:
            self._parents[number] = self._parents[self._parents[number]]
            number = self._parents[number]
        return number

    def join(self, first: int, second: int) -> bool:
        """Make two iterators one; False if they go to different ends."""
        first, second = sorted((self.find(first), self.find(second)))
        self._parents[second] = first
        return self.extents[first] == self.extents[second]


@dataclass
class FusionPlan:
    """How stages become one generic."""

    stages: Sequence[Stage]
    outputs: frozenset[int]
    """The stages whose results are needed outside."""
    classes: list[Shape] = field(default_factory=list[Shape])
    """Of each stage, the class of each of its iterators."""
    results: list[Shape] = field(default_factory=list[Shape])
    """Of each stage, the class of each dimension of its result."""
    extents: Mapping[int, int] = field(default_factory=dict[int, int])
    whole: set[int] = field(default_factory=set[int])
    """Classes that are whole in each block."""
    heads: dict[int, frozenset[int]] = field(default_factory=dict[int, frozenset[int]])
    """The stages in whose bodies that of each stage is computed."""

    def of_places(self, stage: int, places: Places) -> Classes:
        """The classes of the dimensions that iterators of a stage go over."""
        return tuple(None if each is None else self.classes[stage][each] for each in places)

    def iterators(self) -> tuple[Shape, Shape]:
        """The classes that are parallel iterators of the generic, and those that are reductions."""
        reduced = self._reduced()
        first = min(self.outputs)
        looped = {c for each in self.classes for c in each}
        ordered = [c for c in self.results[first] if c in looped]
        ordered += [c for each in self.classes for c in each if self.extents[c] > 1]
        parallel = [c for c in ordered if c not in self.whole and c not in reduced]
        reductions = [c for each in self.classes for c in each if c in reduced - self.whole]
        return tuple(dict.fromkeys(parallel)), tuple(dict.fromkeys(reductions))

    def _reduced(self) -> set[int]:
        """The classes that some stage reduces."""
        return {
            classes[each]
            for stage, classes in zip(self.stages, self.classes, strict=True)
            for each in stage.reductions
        }

    def block_classes(self, classes: Classes) -> Classes:
        """The classes that divide a tensor into blocks; None where it is whole."""
        return tuple(None if each in self.whole else each for each in classes)


def plan_fusion(
    stages: Sequence[Stage], uses: Callable[[SSAValue], int], dst_tiles: int = 0
) -> FusionPlan | None:
    """How stages, in the order of the program, become one generic; None if they do not.

    `uses` is the number of times that a value is read, through views, too; `dst_tiles` are those of
    the whole of DST, 0 for the chip's.
    """
    if len(stages) > MAX_STAGES:
        return None
    for shares in (True, False):
        planner = _Planner(stages, uses, dst_tiles, shares=shares)
        if planner.run():
            return planner.plan
        if not any(stage.is_product for stage in stages):
            return None
    return None


class _Planner:
    """One attempt."""

    def __init__(
        self,
        stages: Sequence[Stage],
        uses: Callable[[SSAValue], int],
        dst_tiles: int,
        *,
        shares: bool,
    ) -> None:
        self._stages = stages
        self._dst_tiles = dst_tiles
        self._shares = shares
        self._made = {stage.result: number for number, stage in enumerate(stages)}
        self._union = _Union()
        self._first = [[self._union.add(extent) for extent in stage.extents] for stage in stages]
        # A dimension of one tile that no iterator goes over is one that readers go over.
        self._results = [
            [
                self._union.add(1) if place is None else classes[place]
                for place in stage.output_places
            ]
            for stage, classes in zip(stages, self._first, strict=True)
        ]
        inside = dict.fromkeys(self._made, 0)
        for stage in stages:
            for read in stage.reads:
                if read.buffer in inside:
                    inside[read.buffer] += 1
        self._inside = inside
        outputs = {n for value, n in self._made.items() if uses(value) > inside[value]}
        self.plan = FusionPlan(stages, frozenset(outputs))

    def run(self) -> bool:
        """Fill the plan; False if the stages stay apart."""
        return bool(
            self.plan.outputs
            and self._join_results()
            and self._join_inputs()
            and self._number()
            and self._choose_whole()
            and (self._choose_heads(_ONCE) or self._choose_heads(_CHEAP))
        )

    # --- Classes -------------------------------------------------------------------------------

    def _join_results(self) -> bool:
        """Let readers of a result go over it as the stage that makes it."""
        for number, stage in enumerate(self._stages):
            for read in stage.reads:
                source = self._made.get(read.buffer)
                if source is None:
                    continue
                if read.buffer_places is None:
                    return False
                for there, here in zip(self._results[source], read.buffer_places, strict=True):
                    if here is None:
                        if self._union.extents[self._union.find(there)] > 1:
                            return False
                    elif not self._union.join(there, self._first[number][here]):
                        return False
        return True

    def _join_inputs(self) -> bool:
        """Let stages that read a tensor from outside go over it in the same way, if they can."""
        if not self._shares:
            return True
        kinds = self._kinds()
        known: dict[SSAValue, tuple[int, Read]] = {}
        for number, stage in enumerate(self._stages):
            for read in stage.reads:
                if read.buffer in self._made:
                    continue
                first, other = known.setdefault(read.value, (number, read))
                pairs = [
                    (
                        self._union.find(self._first[first][there]),
                        self._union.find(self._first[number][here]),
                    )
                    for there, here in zip(other.places, read.places, strict=True)
                    if there is not None and here is not None
                ]
                if all(kinds.get(there) == kinds.get(here) for there, here in pairs):
                    for pair in pairs:
                        self._union.join(*pair)
        self._join_columns()
        return True

    def _join_columns(self) -> None:
        """Let products with one left factor go over their columns together, if they are as many."""
        known: dict[tuple[SSAValue | None, Shape], list[int]] = {}
        for stage, classes in zip(self._stages, self._first, strict=True):
            if stage.is_product and stage.left is not None:
                first = known.setdefault((stage.left, stage.extents), classes)
                for column in stage.columns:
                    self._union.join(first[column], classes[column])

    def _kinds(self) -> dict[int, str]:
        """What products make of iterators; those of two kinds are not made one."""
        kinds: dict[int, str] = {}
        for stage, classes in zip(self._stages, self._first, strict=True):
            if stage.is_product:
                for place, each in enumerate(classes):
                    kind = "term" if place in stage.reductions else "free"
                    kinds[self._union.find(each)] = kind
        return kinds

    def _number(self) -> bool:
        """Name the classes; False if a stage has two iterators that became one."""
        plan, find = self.plan, self._union.find
        plan.classes = [tuple(map(find, each)) for each in self._first]
        plan.results = [tuple(map(find, each)) for each in self._results]
        plan.extents = {
            c: self._union.extents[c] for each in (*plan.classes, *plan.results) for c in each
        }
        return all(len({*each}) == len(each) for each in plan.classes)

    # --- What is whole -------------------------------------------------------------------------

    def _choose_whole(self) -> bool:
        """Find the classes that cannot be iterators; False if one is of a product."""
        plan = self.plan
        rigid = {
            c
            for stage, classes in zip(self._stages, plan.classes, strict=True)
            if stage.is_product
            for number, c in enumerate(classes)
            if plan.extents[c] > 1 and number not in stage.narrow_sides
        }
        while True:
            found = self._find_whole() - plan.whole
            if found & rigid:
                return False
            if not found:
                return self._keeps_cores()
            plan.whole |= found

    def _find_whole(self) -> set[int]:
        """Classes that cannot be iterators, given those that are none."""
        plan = self.plan
        finished = self._finished()
        found: set[int] = set()
        for number, classes in enumerate(plan.classes):
            found |= {*classes} & finished[number]
        reduced = [self._reductions(number) for number in range(len(self._stages))]
        all_reduced = {c for each in reduced for c in each}
        for number in plan.outputs:
            found |= {c for c in plan.results[number] if c in all_reduced}
        if found - plan.whole:
            return found
        found |= self._conflicts(reduced)
        if found - plan.whole:
            return found
        return found | self._not_shared(all_reduced, finished)

    def _reductions(self, number: int) -> set[int]:
        """The reduction iterators of a stage that are not whole."""
        plan = self.plan
        classes = plan.classes[number]
        return {classes[each] for each in self._stages[number].reductions} - plan.whole

    def _finished(self) -> list[set[int]]:
        """For each stage, the classes that those before it, on which it depends, have reduced."""
        finished: list[set[int]] = []
        for stage in self._stages:
            before: set[int] = set()
            for read in stage.reads:
                source = self._made.get(read.buffer)
                if source is not None:
                    classes = self.plan.classes[source]
                    before |= finished[source]
                    before |= {classes[each] for each in self._stages[source].reductions}
            finished.append(before)
        return finished

    def _conflicts(self, reduced: Sequence[set[int]]) -> set[int]:
        """Reductions beside others, and those that need what does not run in their steps."""
        sets = list(dict.fromkeys(frozenset(each) for each in reduced if each))
        if len(sets) > 1:
            products = [
                each
                for each, stage in zip(reduced, self._stages, strict=True)
                if stage.is_product and each
            ]
            kept = products[0] if products else set[int]()
            return {c for each in sets for c in each} - kept
        if not sets:
            return set()
        (steps,) = sets
        before = self._before(reduced)
        for number, (stage, classes) in enumerate(
            zip(self._stages, self.plan.classes, strict=True)
        ):
            runs_in_steps = bool(steps & {*classes})
            if number in before and not runs_in_steps:
                return set(steps)
            # What is reduced within each block would look as if it went on in the next step.
            if runs_in_steps and stage.reductions and not reduced[number]:
                return set(steps)
        return set()

    def _before(self, reduced: Sequence[set[int]]) -> set[int]:
        """The stages whose results those that reduce depend on."""
        before: set[int] = set()
        for number in reversed(range(len(self._stages))):
            if reduced[number] or number in before:
                before |= {
                    self._made[read.buffer]
                    for read in self._stages[number].reads
                    if read.buffer in self._made
                }
        return before

    def _not_shared(self, reduced: set[int], finished: Sequence[set[int]]) -> set[int]:
        """Parallel classes that a stage lacks which is not computed again for each block."""
        plan = self.plan
        parallel = {
            c
            for each in plan.classes
            for c in each
            if plan.extents[c] > 1 and c not in plan.whole and c not in reduced
        }
        feeds_product = self._before([{1} if stage.is_product else set() for stage in self._stages])
        found: set[int] = set()
        for number, stage in enumerate(self._stages):
            missing = parallel - {*plan.classes[number]}
            is_cheap = (
                stage.is_elementwise
                and not finished[number]
                and number not in plan.outputs
                and number not in feeds_product
                and len(stage.operations) <= _CHEAP
            )
            if missing and not is_cheap:
                found |= missing
        return found

    def _keeps_cores(self) -> bool:
        """True if enough blocks are left to share, or there is little to do."""
        plan = self.plan
        if all(plan.extents[c] == 1 for c in plan.whole):
            return True
        parallel, _ = plan.iterators()
        blocks = math.prod(plan.extents[c] for c in parallel)
        domain = max(stage.domain for stage in self._stages)
        has_products = any(stage.is_product for stage in self._stages)
        return blocks >= (_MANY_CORES if has_products else _FEW_CORES) or domain <= _FEW_TILES

    # --- Bodies --------------------------------------------------------------------------------

    def _choose_heads(self, again: int) -> bool:
        """Compute results in the bodies of their readers where they can stay in registers.

        One with several readers has to be of at most `again` operations. False if what is left in
        memory does not fit.
        """
        plan = self.plan
        readers: list[list[tuple[int, Read]]] = [[] for _ in self._stages]
        for number, stage in enumerate(self._stages):
            for read in stage.reads:
                if read.buffer in self._made:
                    readers[self._made[read.buffer]].append((number, read))
        for number in reversed(range(len(self._stages))):
            plan.heads[number] = frozenset({number})
            heads = frozenset[int]().union(*(plan.heads[reader] for reader, _ in readers[number]))
            if not heads or number in plan.outputs:
                continue
            is_cheap = len(heads) == 1 or len(self._stages[number].operations) <= again
            if is_cheap and all(self._joins_body(number, each, readers[number]) for each in heads):
                plan.heads[number] = heads
        return self._fits()

    def _joins_body(self, number: int, head: int, reads: Sequence[tuple[int, Read]]) -> bool:
        return (
            self._stages[number].is_elementwise
            and self._stages[head].is_elementwise
            and self._long(number) == self._long(head)
            and all(self._stages[reader].takes_registers(read.argument) for reader, read in reads)
        )

    def _long(self, number: int) -> set[int]:
        """The classes of a stage over more than one tile."""
        return {c for c in self.plan.classes[number] if self.plan.extents[c] > 1}

    # --- Limits --------------------------------------------------------------------------------

    def _fits(self) -> bool:
        """True if circular buffers and L1 hold the smallest block."""
        plan = self.plan
        inputs: dict[tuple[SSAValue, Classes], Classes] = {}
        for number, stage in enumerate(self._stages):
            for read in stage.reads:
                if read.buffer not in self._made:
                    classes = plan.of_places(number, read.places)
                    inputs[read.value, plan.block_classes(classes)] = classes
        buffers = [(value, classes) for (value, _), classes in inputs.items()]
        for number, stage in enumerate(self._stages):
            if number in plan.heads[number]:
                count = 2 if number in plan.outputs and self._inside[stage.result] else 1
                buffers += [(stage.result, plan.results[number])] * count
        # A result that is combined in steps may be copied to its output in the end. The schedule
        # keeps memory for that beside each output of a generic with steps.
        copies = sum(bool(self._stages[number].reductions) for number in plan.outputs)
        _, steps = plan.iterators()
        kept = [
            (self._stages[number].result, plan.results[number]) for number in plan.outputs if steps
        ]
        scratch = [*self._scratch(), *self._spilled()]
        constants = {each for stage in self._stages for each in stage.constants}
        bounces = [
            tile_bytes(value) * d2m.bounce_tiles(value.owner)
            for value, _ in inputs
            if isinstance(value.owner, d2m.Gather)
        ]
        total = sum(bounces) + sum(
            size * math.prod(plan.extents[c] for c in classes if c in plan.whole)
            for size, classes in (
                *((tile_bytes(value), classes) for value, classes in (*buffers, *kept)),
                *scratch,
            )
        )
        others = len(scratch) + len(constants) + len(bounces) + copies
        return (
            len(buffers) <= MAX_BUFFERS
            # A core has no more, with those for tiles that bodies compute and read again, for
            # constants and for elements that are gathered.
            and len(buffers) + others <= CIRCULAR_BUFFERS
            and total <= MAX_BYTES
        )

    def _scratch(self) -> Iterator[tuple[int, Shape]]:
        """Bytes of a tile, and classes, of what bodies compute and read again.

        What is computed in several bodies is in a buffer for each.
        """
        plan = self.plan
        for number, (stage, classes) in enumerate(zip(self._stages, plan.classes, strict=True)):
            for iterators, size in stage.scratch:
                yield from [(size, tuple(classes[each] for each in iterators))] * len(
                    plan.heads[number]
                )

    def _spilled(self) -> Iterator[tuple[int, Shape]]:
        """The same of what DST may not hold of long bodies."""
        tiles = {tile for stage in self._stages for tile in stage.tiles}
        capacity = tiles_at_once(tiles, self._dst_tiles)
        for head, stage in enumerate(self._stages):
            members = {
                number: each
                for number, each in enumerate(self._stages)
                if head in self.plan.heads[number]
            }
            count = count_spills(members, self._made, capacity)
            yield from [(tile_bytes(stage.result), self.plan.classes[head])] * count


# --- Bodies ---------------------------------------------------------------------------------------
# How many tiles of a long body do not fit DST, as `d2m-generic-fusion` has to know in advance.
#
# `d2m-insert-scratch-buffers` lets those go through local buffers. This is never less than it
# makes.


_TEMPORARIES = 1
"""Tiles of DST that an operation needs, at most, besides operands and result."""
_SOURCES = (d2m.TileFillOp, d2m.TileBcastOp, d2m.TileTransposeOp, IndexOp)
"""Operations whose tiles are brought to DST anew for each use."""

Tile = tuple[int, SSAValue]
"""A stage, and a value of its body."""


def count_spills(stages: Mapping[int, Stage], made: Mapping[SSAValue, int], capacity: int) -> int:
    """Local buffers, at most, for tiles of one body that DST of so many tiles does not hold.

    `stages` are those of the body by their numbers, `made` are the numbers of results.
    """
    return _Body(stages, made).count_spills(capacity)


class _Body:
    """The expression that stages compute together."""

    def __init__(self, stages: Mapping[int, Stage], made: Mapping[SSAValue, int]) -> None:
        self._operands: dict[Tile, Sequence[Tile]] = {}
        """Of the tiles that are computed in DST, operands in front of what uses them."""
        self._names: dict[Tile, Tile] = {}
        """What arguments of bodies are, if other stages compute them."""
        for number, stage in stages.items():
            block = stage.loops.body.block
            for read in stage.reads:
                source = made.get(read.buffer)
                if source is not None and source in stages:
                    end = stages[source].loops.body.block.last_op
                    assert end is not None, "bodies end in a yield"
                    argument = (number, block.args[read.argument])
                    self._names[argument] = self._named((source, end.operands[0]))
            for op in stage.operations:
                self._add(number, op)

    def _named(self, tile: Tile) -> Tile:
        return self._names.get(tile, tile)

    def _add(self, number: int, op: Operation) -> None:
        if isinstance(op, _SOURCES) or not op.results:
            return
        from_buffers = needs_buffer(op)
        read = [self._named((number, value)) for value in op.operands if value not in from_buffers]
        self._operands[number, op.results[0]] = list(dict.fromkeys(read))

    def count_spills(self, capacity: int) -> int:
        """As in a tree, and those that several operations use, which stay in DST meanwhile."""
        uses = Counter(each for operands in self._operands.values() for each in operands)
        shared = sum(uses[tile] > 1 for tile in self._operands)
        spilled, most = self._spill_in_tree(capacity)
        return 0 if most + shared <= capacity else spilled + shared

    def _spill_in_tree(self, capacity: int) -> tuple[int, int]:
        """Spilled tiles if each is used once, and the tiles of DST that are needed without."""
        spilled = most = 0
        needs: dict[Tile, int] = {}
        for tile, operands in self._operands.items():
            found = sorted((needs.get(each, 1) for each in operands), reverse=True)
            most = max(most, _tiles_needed(found))
            while _tiles_needed(found) > capacity and found[0] > 1:
                spilled += 1
                found = sorted([1, *found[1:]], reverse=True)
            needs[tile] = _tiles_needed(found)
        return spilled, most


def _tiles_needed(operands: Sequence[int]) -> int:
    """Tiles for an operation whose operands need so many, the largest number first."""
    kept = max((need + held for held, need in enumerate(operands)), default=1)
    return max(kept, len(operands) + _TEMPORARIES)
