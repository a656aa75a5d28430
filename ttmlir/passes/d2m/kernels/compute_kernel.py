"""The kernel that computes: the stages of a region, in the loops over blocks.

A stage that depends on a reduction iterator runs in every step; one that depends on none runs
after the last, or in front of the first if a stage in the steps reads what it computes; one that
reads nothing fills its buffer once. Blocks of inputs are waited for at their depth and popped
there. A local buffer is filled by one stage and emptied after the last one that reads it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from functools import partial
from typing import cast

from xdsl.dialects.builtin import MemRefType
from xdsl.dialects.linalg.attrs import IteratorType as LinalgIteratorType
from xdsl.dialects.linalg.ops import GenericOp as LinalgGenericOp
from xdsl.ir import Attribute, Operation, SSAValue

from ttmlir.dialects import d2m
from ttmlir.ir.kernel_builder import Buffer, KernelBuilder, RegisterCalls, TileCall
from ttmlir.ir.rewriting import refuse
from ttmlir.ir.tensor_types import element_of, limits_of
from ttmlir.layout.affine import AffineMap, DimExpr
from ttmlir.layout.data_format import row_major_strides
from ttmlir.layout.enums import DataType, IteratorType
from ttmlir.layout.errors import LayoutError
from ttmlir.layout.metal import iterator_positions
from ttmlir.mlir.attributes import layout_map
from ttmlir.passes.d2m.dst.select import (
    ADDED_BY_PACKER,
    Selector,
    capacity_of,
    is_wide_element,
    scalar_of_tile,
    stored_format,
)
from ttmlir.passes.d2m.dst.tile_program import (
    Call,
    Code,
    CodeWriter,
    Filled,
    Format,
    Index,
    Needs,
    Nest,
    Plan,
    Preparation,
    Setting,
    Source,
    State,
    TooManyTilesError,
    copy_tile,
    demands_of,
    enter_loop,
    first_need,
    forget_changes,
    is_copied_only,
    mark_ways,
    on_registers,
    plan,
    prepare,
    users_of,
)
from ttmlir.passes.d2m.kernels.kernel_plan import (
    BlockLoops,
    Indices,
    KernelPlan,
    blocks_of,
    looped_iterators,
    operand_depth,
)


def build_compute(
    plan: KernelPlan,
    kernel: KernelBuilder,
    dst_tiles: int = 0,
    *,
    by_tile: bool = False,
) -> None:
    """Write the kernel; LayoutError for stages that kernels do not compute.

    `dst_tiles` are those of the whole of DST, 0 for the chip's; `by_tile`: whether products
    are computed tile by tile, instead of in blocks that DST holds.
    """
    region = _Region(plan, dst_tiles, by_tile=by_tile)
    levels = region.levels
    _mark_ways(plan, levels)
    code = [node for level in levels for node in (*level.before, *level.after)]
    start, state = _startup(plan, code)
    _prepare_levels(levels, state)
    writer = CodeWriter(kernel)
    writer.write(start)

    def before(depth: int, indices: Indices) -> None:
        writer.write(levels[depth].before)

    def after(depth: int, indices: Indices) -> None:
        writer.write(levels[depth].after)

    BlockLoops(plan.generic, kernel).run(before, after, without=region.ending)


@dataclass
class _Level:
    """The code of a depth in front of the next loop, and after it."""

    before: list[Call | Nest] = field(default_factory=list[Call | Nest])
    after: list[Call | Nest] = field(default_factory=list[Call | Nest])


class _Section(Enum):
    """When a stage runs, in the order in which sections are written."""

    CONSTANT = auto()
    """Once: it reads nothing."""
    FIRST = auto()
    """In front of the steps over reductions, which read its result."""
    STEP = auto()
    """In each step."""
    LAST = auto()
    """After the last step, or in the only one."""


class _Region:
    """The code of a compute region, by depth."""

    def __init__(self, plan: KernelPlan, dst_tiles: int, *, by_tile: bool) -> None:
        self._by_tile = by_tile
        self._plan = plan
        self._generic = generic = plan.generic
        self._capacity = capacity_of(generic, dst_tiles)
        numbers = dict(plan.numbers)
        ops: list[LinalgGenericOp] = []
        self._sent: set[Buffer] = set()
        """Local buffers that other cores get."""
        self._received: dict[Buffer, int] = {}
        """The tiles of local buffers that other cores fill."""
        self._labels: dict[Buffer, tuple[int | None, ...]] = {}
        for op in generic.compute_region.block.ops:
            match op:
                case d2m.WaitOp() | d2m.ReserveOp():
                    numbers[op.results[0]] = plan.numbers[op.operands[0]]
                case LinalgGenericOp():
                    ops.append(op)
                case d2m.AllGatherOp():
                    # The reader takes what this core has computed, and brings that of all.
                    part, parts = (Buffer(plan.numbers[value]) for value in op.operands)
                    self._sent.add(part)
                    shape = cast("MemRefType[Attribute]", op.operands[1].type).get_shape()
                    self._received[parts] = math.prod(shape)
                    self._labels[parts] = (None,) * len(shape)
                case _ if op.results and op.results[0] in numbers:
                    pass  # A local buffer.
                case _:
                    refuse(op, "is no loop over tiles; compute kernels are made of these alone")
        self._stages = [read_stage(op, numbers) for op in ops]
        loops = looped_iterators(generic)
        reduction = (generic.iterator_types[each] is IteratorType.REDUCTION for each in loops)
        self._steps = frozenset(each for each, kind in zip(loops, reduction, strict=True) if kind)
        """The iterators along which the generic reduces in steps."""
        self.ending = 0
        """The last steps over a reduction that stand as one after the loop over the others."""
        self._sums: set[Operation] = set()
        """The loops over tiles that accumulate from step to step."""
        self._last = len(loops)
        self._parallel = len(loops) - len(self._steps)
        self._inputs = {Buffer(stream.cb): stream for stream in plan.inputs}
        self._outputs = {Buffer(stream.cb) for stream in plan.outputs}
        for stream in plan.streams:
            self._labels[Buffer(stream.cb)] = tuple(
                result.position if isinstance(result, DimExpr) else None
                for result in generic.indexing_maps[stream.number].results
            )
        self.levels = [_Level() for _ in range(self._last + 1)]
        self._write()

    # --- Where stages run -----------------------------------------------------------------------

    def _sort(self) -> dict[_Section, list[Stage]]:
        """The stages of each section, in order."""
        in_steps: set[Buffer] = set()
        accumulated: set[Buffer] = set()
        steps: list[Stage] = []
        for stage in self._stages:
            read = {access.buffer for access in stage.inputs}
            labels = self._label(stage)
            if not any(self._is_reduced(each) or each in in_steps for each in read):
                continue
            if read & accumulated:
                raise LayoutError(
                    "has a loop over tiles that takes part in a reduction and reads the result of "
                    "it; compute it in another generic"
                )
            steps.append(stage)
            sums = stage.held is not None and any(
                labels.get(each) in self._steps for each in stage.reduced
            )
            if sums:
                self._sums.add(stage.op)
            (accumulated if sums else in_steps).add(stage.output.buffer)
        wanted = {access.buffer for stage in steps for access in stage.inputs}
        sections: dict[_Section, list[Stage]] = {section: [] for section in _Section}
        for stage in reversed(self._stages):
            if stage in steps:
                section = _Section.STEP
            elif not stage.inputs and stage.output.buffer not in self._outputs:
                section = _Section.CONSTANT
            elif stage.output.buffer in wanted:
                section = _Section.FIRST
                wanted |= {access.buffer for access in stage.inputs}
            else:
                section = _Section.LAST
            sections[section].insert(0, stage)
        return sections

    def _label(self, stage: Stage) -> dict[int, int | None]:
        """The iterator of the generic that each iterator of a stage goes on along, if any.

        Notes the same for the dimensions of the buffer that it writes to.
        """
        labels: dict[int, int | None] = {}
        for access, index_map in zip(stage.inputs, stage.maps, strict=False):
            for result, label in zip(index_map.results, self._labels[access.buffer], strict=True):
                if isinstance(result, DimExpr) and labels.get(result.position) is None:
                    labels[result.position] = label
        if stage.output.buffer not in self._labels:
            self._labels[stage.output.buffer] = tuple(
                labels.get(result.position) if isinstance(result, DimExpr) else None
                for result in stage.maps[-1].results
            )
        return labels

    def _is_reduced(self, buffer: Buffer) -> bool:
        """True for an input of which there is another block in each step of a reduction."""
        stream = self._inputs.get(buffer)
        if stream is None:
            return False
        used = iterator_positions(self._generic.indexing_maps[stream.number])
        return not self._steps.isdisjoint(used)

    def _code_of(self, section: _Section) -> list[Call | Nest]:
        """Where the code of a section goes."""
        match section:
            case _Section.CONSTANT:
                return self.levels[0].before
            case _Section.FIRST:
                return self.levels[self._parallel].before
            case _Section.STEP:
                return self.levels[-1].before
            case _Section.LAST:
                level = self.levels[self._parallel]
                return level.before if self._parallel == self._last else level.after

    # --- Code -----------------------------------------------------------------------------------

    def _write(self) -> None:
        sections = self._sort()
        self._find_users(sections)
        arriving = self._find_arriving(sections)
        self._late = self._find_late(sections, arriving)
        self._popped: set[Buffer] = set()
        for section, stages in sections.items():
            if section is _Section.FIRST:
                others = (*arriving.values(), *self._late.values())
                self._write_loads(
                    "cb_wait_front",
                    [level.before for level in self.levels],
                    {buffer for buffers in others for buffer in buffers},
                )
            for stage in stages:
                waits = arriving.get(stage.op, ())
                numbers = (n for n, each in enumerate(stage.inputs) if each.buffer in waits)
                self._write_stage(
                    replace(stage, arriving=tuple(numbers)), section, is_alone=len(stages) == 1
                )
        for buffer, section in self._kept.items():
            depth = 0 if section is _Section.CONSTANT else self._parallel
            self.levels[depth].after.append(_on_buffer("cb_pop_front", buffer, self._tiles[buffer]))
        self._write_loads("cb_pop_front", [level.after for level in self.levels], self._popped)

    def _find_arriving(
        self, sections: dict[_Section, list[Stage]]
    ) -> dict[LinalgGenericOp, list[Buffer]]:
        """For loops over tiles, the inputs whose tiles they wait for one after the other.

        They are the first to read them, and so begin while others still arrive.
        """
        found: dict[LinalgGenericOp, list[Buffer]] = {}
        for section, stages in sections.items():
            for stage in stages:
                for number, access in enumerate(stage.inputs):
                    stream = self._inputs.get(access.buffer)
                    if stream is None or self._readers[access.buffer][0].op is not stage.op:
                        continue
                    level = self.levels[operand_depth(self._generic, stream.number)]
                    times = sum(each.buffer == access.buffer for each in stage.inputs)
                    is_here = self._code_of(section) is level.before
                    if is_here and times == 1 and can_wait(stage, number):
                        found.setdefault(stage.op, []).append(access.buffer)
        return found

    def _find_late(
        self,
        sections: dict[_Section, list[Stage]],
        arriving: dict[LinalgGenericOp, list[Buffer]],
    ) -> dict[LinalgGenericOp, list[Buffer]]:
        """For loops over tiles, the other inputs that nothing before them reads.

        They are waited for in front of these loops, so that what is before runs meanwhile.
        """
        found: dict[LinalgGenericOp, list[Buffer]] = {}
        for section, stages in sections.items():
            for stage in stages:
                for buffer in dict.fromkeys(access.buffer for access in stage.inputs):
                    stream = self._inputs.get(buffer)
                    if stream is None or self._readers[buffer][0].op is not stage.op:
                        continue
                    level = self.levels[operand_depth(self._generic, stream.number)]
                    code = self._code_of(section)
                    is_once = code is level.before or section is _Section.LAST
                    if is_once and buffer not in arriving.get(stage.op, ()):
                        found.setdefault(stage.op, []).append(buffer)
        return found

    def _write_loads(
        self,
        mnemonic: str,
        code: Sequence[list[Call | Nest]],
        without: Collection[Buffer] = (),
    ) -> None:
        """Wait for blocks of the inputs, or pop them, at their depths."""
        for buffer, stream in self._inputs.items():
            if buffer in without:
                continue
            depth = operand_depth(self._generic, stream.number)
            code[depth].append(_on_buffer(mnemonic, buffer, stream.tiles))

    def _find_users(self, sections: dict[_Section, list[Stage]]) -> None:
        """Find out who is the first and the last to use each buffer."""
        self._tiles = {each.output.buffer: each.output.tiles for each in self._stages}
        self._tiles |= self._received
        self._kept: dict[Buffer, _Section] = {}
        self._writers: dict[Buffer, list[Stage]] = {}
        self._readers: dict[Buffer, list[Stage]] = {}
        made: dict[Buffer, _Section] = {}
        read: dict[Buffer, set[_Section]] = {}
        for section, stages in sections.items():
            for stage in stages:
                buffer = stage.output.buffer
                self._writers.setdefault(buffer, []).append(stage)
                made[buffer] = _Section.LAST if stage.op in self._sums else section
                for buffer in dict.fromkeys(access.buffer for access in stage.inputs):
                    self._readers.setdefault(buffer, []).append(stage)
                    read.setdefault(buffer, set()).add(section)
        for buffer, section in made.items():
            if buffer in self._outputs and buffer in read:
                raise LayoutError(
                    "has a loop over tiles that reads an output; run d2m-insert-scratch-buffers "
                    "before"
                )
            if read.get(buffer, {section}) != {section}:
                self._kept[buffer] = section

    def _write_stage(self, stage: Stage, section: _Section, *, is_alone: bool) -> None:
        code, buffer = self._code_of(section), stage.output.buffer
        carry = Carry.NOWHERE
        is_product = isinstance(stage.root_op, d2m.TileMatmulOp)
        capacity = 1 if is_product and self._by_tile else self._capacity
        if stage.op in self._sums:
            is_local = buffer not in self._outputs
            carry = choose_carry(stage, capacity, is_alone=is_alone, is_local=is_local)
        in_order = packs_in_order(stage, capacity) and len(self._writers[buffer]) == 1
        if carry is Carry.RELOAD and not in_order:
            raise LayoutError(
                "combines blocks in several steps in another order than that of tiles"
            )
        self._wait(code, stage)
        pushes = carry is Carry.PACKER and in_order and is_alone and self._can_end_apart(stage)
        packing = Packing(in_order=in_order and carry is not Carry.PACKER)
        begin, end = code, code
        if carry is not Carry.NOWHERE:
            begin, end = self._code_of(_Section.FIRST), self._code_of(_Section.LAST)
        parts = self._parts(stage)
        if not packing.in_order and stage.op is self._writers[buffer][0].op:
            begin += [_on_output("cb_reserve_back", part) for part in parts]
        if stage.held is None:
            for part in parts:
                code += compute_elementwise(part, capacity, packing)
        else:
            if pushes:
                self.ending = self._choose_ending(stage)
                end += self._end_apart(parts, capacity)
            for part in parts:
                steps = compute_accumulating(part, capacity, carry, packing)
                begin += steps.begin
                code += steps.step
                end += steps.end
        if not (packing.in_order or pushes) and stage.op is self._writers[buffer][-1].op:
            end += [_on_output("cb_push_back", part) for part in parts]
        self._read_early(stage, end)
        self._pop(code, stage)

    def _can_end_apart(self, stage: Stage) -> bool:
        """True for sums in an output, of which the last steps may stand after the loop.

        They are complete then, and stored while these steps go on.
        """
        are_read = all(access.buffer in self._inputs for access in stage.inputs)
        return stage.output.buffer in self._outputs and are_read and len(self._steps) == 1

    def _choose_ending(self, stage: Stage) -> int:
        """How many steps may be one: there is room for their blocks and one more, side by side."""
        streams = [self._inputs[access.buffer] for access in stage.inputs]
        if any(operand_depth(self._generic, each.number) < self._last for each in streams):
            return 1
        (iterator,) = self._steps
        steps = self._generic.block_factors[iterator]
        room = [blocks_of(self._plan.storages[each.cb]) for each in streams]
        if any(steps % blocks for blocks in room):
            return 1
        return max(1, min(*room, steps) - 1)

    def _end_apart(self, parts: Sequence[Stage], capacity: int) -> Code:
        """The code of the last steps."""
        blocks = {
            buffer: self.ending * stream.tiles
            for buffer, stream in self._inputs.items()
            if operand_depth(self._generic, stream.number) == self._last
        }
        return [
            *(_on_buffer("cb_wait_front", *each) for each in blocks.items()),
            *compute_last([part.over_blocks(self.ending) for part in parts], capacity),
            *(_on_buffer("cb_pop_front", *each) for each in blocks.items()),
        ]

    def _read_early(self, stage: Stage, end: list[Call | Nest]) -> None:
        """Wait for what a stage has written, if others read it later, or nobody does."""
        buffer = stage.output.buffer
        if buffer in self._kept:
            end.append(_on_output("cb_wait_front", stage))
        elif buffer not in self._outputs | self._sent and buffer not in self._readers:
            end.append(_on_output("cb_wait_front", stage))
            end.append(_on_output("cb_pop_front", stage))

    def _parts(self, stage: Stage) -> tuple[Stage, ...]:
        """A stage, or two of which each computes what one kernel stores."""
        stream = self._plan.stored_by_reader.get(stage.output.buffer.number)
        if stream is None:
            return (stage,)
        buffer = Buffer(stream.cb)
        target = Format(plan_format(self._plan, buffer), buffer)
        return split_stage(
            stage, replace(stage.output, buffer=buffer, format=target, tiles=stream.tiles)
        )

    def _wait(self, code: list[Call | Nest], stage: Stage) -> None:
        """Wait for local buffers, and for inputs, that a stage is the first to read."""
        for buffer in self._local_inputs(stage):
            if self._readers[buffer][0].op is stage.op:
                code.append(_on_buffer("cb_wait_front", buffer, self._tiles[buffer]))
        for buffer in self._late.get(stage.op, ()):
            code.append(_on_buffer("cb_wait_front", buffer, self._inputs[buffer].tiles))

    def _pop(self, code: list[Call | Nest], stage: Stage) -> None:
        """Free what a stage is the last to read."""
        for buffer in self._local_inputs(stage):
            if self._readers[buffer][-1].op is stage.op:
                code.append(_on_buffer("cb_pop_front", buffer, self._tiles[buffer]))
        for buffer in dict.fromkeys(access.buffer for access in stage.inputs):
            # The next block of an input is read while others go on with what came of this one.
            stream = self._inputs.get(buffer)
            if stream is None or self._readers[buffer][-1].op is not stage.op:
                continue
            if code is self.levels[operand_depth(self._generic, stream.number)].before:
                code.append(_on_buffer("cb_pop_front", buffer, stream.tiles))
                self._popped.add(buffer)

    def _local_inputs(self, stage: Stage) -> list[Buffer]:
        """The local buffers that a stage reads, and that are emptied in its section."""
        buffers = dict.fromkeys(access.buffer for access in stage.inputs)
        return [each for each in buffers if each in self._tiles and each not in self._kept]


def _on_buffer(mnemonic: str, buffer: Buffer, tiles: int) -> Call:
    return Call(mnemonic, (buffer, Index(offset=tiles)))


def _on_output(mnemonic: str, stage: Stage) -> Call:
    return _on_buffer(mnemonic, stage.output.buffer, stage.output.tiles)


# --- Settings -------------------------------------------------------------------------------------


def _startup(plan: KernelPlan, code: Code) -> tuple[Code, State]:
    """The call that begins a kernel, and what is set after it: what the code needs first."""
    first = Buffer(0)
    other = Format(plan_format(plan, first), first)
    needs = [
        first_need(code, setting)
        for setting in (Setting.SOURCE_A, Setting.SOURCE_B, Setting.PACKER)
    ]
    packed = needs[2] if isinstance(needs[2], Format) else other
    a = needs[0] if isinstance(needs[0], Format) else packed
    b = needs[1] if isinstance(needs[1], Format) else a
    call = Call("compute_kernel_hw_startup", (a.buffer, b.buffer, packed.buffer))
    state: State = {
        Setting.SOURCE_A: a,
        Setting.SOURCE_B: b,
        Setting.PACKER: packed,
        Setting.MASK: "",
        Setting.ADDS: False,
    }
    return [call], state


def _mark_ways(plan: KernelPlan, levels: Sequence[_Level]) -> None:
    """Tell formats of circular buffers apart whose tiles go to DST in different ways."""
    users: dict[Buffer, set[str]] = {}
    for level in levels:
        users_of(level.before, users)
        users_of(level.after, users)
    to_dst = {
        buffer
        for buffer, calls in users.items()
        if is_wide_element(plan.cb_types[buffer.number].memref.element_type)
        and is_copied_only(calls)
    }
    for level in levels:
        level.before = mark_ways(level.before, to_dst)
        level.after = mark_ways(level.after, to_dst)


def plan_format(plan: KernelPlan, buffer: Buffer) -> DataType:
    """The number format of a circular buffer."""
    return stored_format(plan.cb_types[buffer.number].memref.element_type)


def _prepare_levels(levels: Sequence[_Level], state: State) -> None:
    """Let the code of all depths set what it needs, in front of loops where that is enough."""
    level = levels[0]
    level.before = prepare(level.before, state)
    if len(levels) > 1:
        inner = [node for each in levels[1:] for node in (*each.before, *each.after)]
        demands = demands_of(inner)
        level.before += enter_loop(demands, state)
        _prepare_levels(levels[1:], state)
        # There may be no iteration at all.
        forget_changes(demands, state)
    level.after = prepare(level.after, state)


# --- Sums -----------------------------------------------------------------------------------------
# Stages with an accumulator: products of matrices, reductions, and what combines tiles.
#
# Results of a block are in DST while the stage runs over its reduction iterators. Where the generic
# takes several steps over blocks, `Carry` says where they are between steps.


_MASKS = {
    d2m.ReduceDim.R: "REDUCE_ROW",
    d2m.ReduceDim.C: "REDUCE_COL",
    d2m.ReduceDim.RC: "REDUCE_SCALAR",
}


class Carry(Enum):
    """Where results are between the steps of a generic over blocks."""

    NOWHERE = auto()
    """There is one step."""
    DST = auto()
    """They stay in DST."""
    PACKER = auto()
    """The packer adds them to what is in L1."""
    RELOAD = auto()
    """They are copied from a local buffer, and packed to it again."""


@dataclass
class Steps:
    """The code of a stage: in front of the steps over blocks, in each of them, after them."""

    begin: list[Call | Nest] = field(default_factory=list[Call | Nest])
    step: list[Call | Nest] = field(default_factory=list[Call | Nest])
    end: list[Call | Nest] = field(default_factory=list[Call | Nest])


def choose_carry(stage: Stage, capacity: int, *, is_alone: bool, is_local: bool) -> Carry:
    """Where the results of a stage stay between steps; LayoutError if there is no place.

    `is_alone`: nothing else is computed in a step; `is_local`: they go to a local buffer.
    """
    if is_alone and _tiles_at_once(stage, capacity) <= capacity:
        return Carry.DST
    if _is_sum(stage) and stage.output.format.data_type in ADDED_BY_PACKER:
        return Carry.PACKER
    if not is_local:
        raise LayoutError(
            "combines blocks in several steps into more tiles than DST holds; run "
            "d2m-insert-scratch-buffers before, so that they go through a local buffer"
        )
    return Carry.RELOAD


def _is_sum(stage: Stage) -> bool:
    op = stage.root_op
    if isinstance(op, d2m.TileMatmulOp | d2m.TileReduceSumOp):
        return True
    definition = op.TILE_OPERATION.definition if isinstance(op, d2m.ElementwiseTileOp) else None
    return definition is not None and definition.mnemonic == "add"


def compute_accumulating(stage: Stage, capacity: int, carry: Carry, packing: Packing) -> Steps:
    """The code of a stage with an accumulator."""
    maker = _maker_of(stage, capacity, carry)
    packing = maker.packing(packing)
    steps = Steps()
    if carry is Carry.DST:
        points = maker.all_points()
        steps.begin = [Call("tile_regs_acquire"), *maker.begin(points)]
        steps.step = list(maker.step(points))
        steps.end = list(packing.pack(stage.output, maker.results(points)))
        return steps
    if carry is Carry.PACKER:
        packing = replace(packing, in_order=False, adds=True)
        steps.begin = _pack_identity(stage, Packing(in_order=False), 0)
    elif carry is Carry.RELOAD:
        packing = replace(packing, in_order=True)
        steps.begin = _pack_identity(stage, Packing(), _identity(stage))

    steps.step = list(maker.walk(capacity, partial(_accumulate, maker, carry, packing)))
    return steps


def _maker_of(stage: Stage, capacity: int, carry: Carry) -> _Maker:
    op = stage.root_op
    if isinstance(op, d2m.TileMatmulOp):
        return _Product(stage, op, capacity)
    if isinstance(op, d2m.TileReduceSumOp | d2m.TileReduceMaxOp):
        return _Reduction(stage, op, carry)
    return _Combination(stage, capacity)


def _accumulate(
    maker: _Maker, carry: Carry, packing: Packing, points: Sequence[Point]
) -> list[Call | Nest]:
    """The code of a step for some results that are not in DST between steps."""
    reload = carry is Carry.RELOAD
    begin = _reload(maker.stage, maker, points) if reload else maker.begin(points)
    return [
        Call("tile_regs_acquire"),
        *begin,
        *maker.step(points),
        *(maker.combine(points) if reload else ()),
        *packing.pack(maker.stage.output, maker.results(points)),
    ]


def compute_last(parts: Sequence[Stage], capacity: int) -> Code:
    """The code of the last steps of sums in outputs, whose pages are pushed as they come.

    Results of parts of a stage are computed in turn, so that both kernels store at the same time.
    """
    makers = [_maker_of(part, capacity, Carry.PACKER) for part in parts]
    packing = Packing(adds=True, is_reserved=True)
    code = [partial(_accumulate, each, Carry.PACKER, each.packing(packing)) for each in makers]
    if len({part.extents for part in parts}) > 1:
        pairs = zip(makers, code, strict=True)
        return [node for maker, chunk in pairs for node in maker.walk(capacity, chunk)]
    origins = [[access.offset for access in part.accesses] for part in parts]

    def chunk(points: Sequence[Point]) -> Code:
        found: list[Call | Nest] = []
        for of_part, origin in zip(code, origins, strict=True):
            ways = [here - there for here, there in zip(origin, origins[0], strict=True)]
            moved = [[at + way for at, way in zip(point, ways, strict=True)] for point in points]
            found += of_part(moved)
        return found

    return makers[0].walk(capacity, chunk)


def can_wait(stage: Stage, number: int) -> bool:
    """True if a stage can wait for the tiles of an input one after the other."""
    op = stage.root_op
    is_reduction = isinstance(op, d2m.TileReduceSumOp | d2m.TileReduceMaxOp)
    return (stage.held is None or is_reduction) and stage.reads_in_order(number)


def packs_in_order(stage: Stage, capacity: int) -> bool:
    """True if a stage packs the tiles of its block one after the other."""
    if isinstance(stage.root_op, d2m.TileMatmulOp):
        return _Product(stage, stage.root_op, capacity).is_in_order
    extents, accesses = stage.along(stage.parallel)
    return is_in_order(extents, stage.output, accesses[-1][1])


def _identity(stage: Stage) -> float:
    op = stage.root_op
    if isinstance(op, d2m.CombiningTileOp):
        return op.IDENTITY
    definition = op.TILE_OPERATION.definition if isinstance(op, d2m.ElementwiseTileOp) else None
    if definition is None or definition.identity is None:
        raise LayoutError("combines tiles by an operation that has no identity to begin with")
    element = scalar_of_tile(stage.root.type)
    lowest, highest = limits_of(element_of(element.keyword))
    return min(max(definition.identity, lowest), highest)


def _pack_identity(stage: Stage, packing: Packing, number: float) -> list[Call | Nest]:
    """Fill the whole block with what an accumulator begins with."""
    output = stage.output
    filled = Filled(number=number, element=scalar_of_tile(stage.root.type))
    begin, *end = packing.pack(output, [(0, Index(0))])
    # One tile of DST is packed to all places.
    loop = [each for each in end if each.mnemonic not in ("tile_regs_wait", "tile_regs_release")]
    return [
        Call("tile_regs_acquire"),
        *filled.calls((), 0, lambda source: Index()),
        begin,
        Call("tile_regs_wait"),
        Nest((output.tiles,), (Index(),), ((1,),), loop),
        Call("tile_regs_release"),
    ]


def _reload(stage: Stage, maker: _Maker, points: Sequence[Point]) -> list[Call]:
    output = stage.output
    source = Source(0, output.buffer, output.format)
    slots = [slot + maker.reloaded for slot, _ in maker.results(points)]
    count = Index(offset=len(slots))
    return [
        Call("cb_wait_front", (output.buffer, count)),
        *(copy_tile(source, Index(offset=place), slot) for place, slot in enumerate(slots)),
        Call("cb_pop_front", (output.buffer, count)),
    ]


def _tiles_at_once(stage: Stage, capacity: int) -> int:
    """Tiles of DST that all results of a block need; more than there are if that is not known."""
    op = stage.root_op
    results = math.prod(stage.extents[each] for each in stage.parallel)
    if isinstance(op, d2m.TileMatmulOp):
        product = _Product(stage, op, capacity)
        return results if product.is_one_block else capacity + 1
    if isinstance(op, d2m.TileReduceSumOp | d2m.TileReduceMaxOp):
        return results
    return results * plan_body(stage, capacity).tiles


# --- What computes chunks -------------------------------------------------------------------------


class _Maker:
    """Makes the code for some results; `points` says where the tiles of each buffer begin."""

    tiles = 1
    """Tiles of DST for each point."""
    reloaded = 0
    """Which of them holds what earlier steps have accumulated."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage

    def packing(self, packing: Packing) -> Packing:
        """How results are packed."""
        return packing

    def begin(self, points: Sequence[Point]) -> Code:
        """Set the accumulators to what they begin with; tiles of DST are zeros before."""
        return []

    def step(self, points: Sequence[Point]) -> Code:
        """Accumulate."""
        raise NotImplementedError

    def combine(self, points: Sequence[Point]) -> Code:
        """Combine what was reloaded with the results of a step, unless these went on with it."""
        return []

    def results(self, points: Sequence[Point]) -> list[tuple[int, Index]]:
        """The tiles of DST with results, and where in the output each goes."""
        return [(number * self.tiles, point[-1]) for number, point in enumerate(points)]

    def all_points(self) -> list[Point]:
        """Where all results of a block are."""
        stage = self.stage
        extents = [stage.extents[each] for each in stage.parallel]
        return [
            [
                Index(
                    offset=access.offset
                    + sum(
                        access.strides[iterator] * place
                        for iterator, place in zip(stage.parallel, places, strict=True)
                    )
                )
                for access in stage.accesses
            ]
            for places in _product(extents)
        ]

    def walk(self, capacity: int, chunk: Chunk) -> Code:
        """Loops over the results of a block."""
        stage = self.stage
        extents, accesses = stage.along(stage.parallel)
        return walk(extents, accesses, capacity // self.tiles, chunk)

    def reduce(self, point: Point, body: Code) -> Nest:
        """Loops over the reduction iterators; in it, running number n is that of input n."""
        stage = self.stage
        extents = tuple(stage.extents[each] for each in stage.reduced)
        strides = tuple(
            tuple(access.strides[each] for each in stage.reduced) for access in stage.inputs
        )
        starts = tuple(Index(index.number) for index in point[:-1])
        return Nest(extents, starts, strides, body)

    def inside(self, point: Point) -> Point:
        """Where tiles of the inputs are within these loops."""
        return [Index(number, index.offset) for number, index in enumerate(point[:-1])]


def _product(extents: Sequence[int]) -> list[tuple[int, ...]]:
    places: list[tuple[int, ...]] = [()]
    for extent in extents:
        places = [(*place, each) for place in places for each in range(extent)]
    return places


class _Combination(_Maker):
    """A body that combines the accumulator with a tile it computes."""

    def __init__(self, stage: Stage, capacity: int) -> None:
        super().__init__(stage)
        self._body = plan_body(stage, capacity)
        self.tiles = self._body.tiles

    def begin(self, points: Sequence[Point]) -> Code:
        filled = Filled(number=_identity(self.stage), element=scalar_of_tile(self.stage.root.type))
        return [
            call
            for slot, _ in self.results(points)
            for call in filled.calls((), slot, lambda source: Index())
        ]

    def step(self, points: Sequence[Point]) -> Code:
        inside = [self.inside(point) for point in points]
        return [self.reduce(points[0], compute_tiles(self._body, inside))]


class _Reduction(_Maker):
    """`tile_reduce_sum` and `tile_reduce_max`."""

    def __init__(
        self, stage: Stage, op: d2m.TileReduceSumOp | d2m.TileReduceMaxOp, carry: Carry
    ) -> None:
        super().__init__(stage)
        pool = "SUM" if isinstance(op, d2m.TileReduceSumOp) else "MAX"
        self.mask = _MASKS[op.reduce_dim]
        self._templates = (("reduce_type", pool), ("reduce_dim", self.mask))
        self._operands = tuple(_argument(stage, value) for value in op.operands[:2])
        if carry is Carry.RELOAD and (pool, self.mask) == ("MAX", "REDUCE_ROW"):
            # The matrix unit keeps such maxima in row 0 of DST, and only column 0 is packed.
            self.tiles, self.reloaded = 2, 1

    def packing(self, packing: Packing) -> Packing:
        return replace(packing, mask=self.mask)

    def combine(self, points: Sequence[Point]) -> Code:
        calls = RegisterCalls()
        for slot, _ in self.results(points) if self.reloaded else ():
            calls.call("binary_max_tile", (slot, slot + self.reloaded, slot))
        return on_registers(calls)

    def step(self, points: Sequence[Point]) -> Code:
        stage = self.stage
        tile, scaler = (stage.accesses[each] for each in self._operands)
        buffers = (tile.buffer, scaler.buffer)
        prepared = Preparation(
            ("reduce_tile", self._templates, tile.format, scaler.format, stage.output.format),
            TileCall("reduce_init", (*buffers, stage.output.buffer), self._templates),
            (
                (Setting.SOURCE_A, tile.format),
                (Setting.SOURCE_B, scaler.format),
                (Setting.PACKER, stage.output.format),
                (Setting.MASK, self.mask),
            ),
        )
        code: list[Call | Nest] = []
        for slot, point in enumerate(points):
            inside = self.inside(point)
            places = [inside[each] for each in self._operands]
            call = Call(
                "reduce_tile",
                (*buffers, *places, Index(offset=slot * self.tiles)),
                self._templates,
                {Setting.MATRIX: prepared},
            )
            code.append(self.reduce(point, [*stage.wait(inside), call]))
        return code


def _argument(stage: Stage, value: SSAValue) -> int:
    """Which operand of a stage a value of its body is."""
    arguments = stage.op.body.block.args
    if value not in arguments:
        raise LayoutError(
            "has an operation that takes a tile from a circular buffer, but the tile is computed; "
            "run d2m-insert-scratch-buffers before"
        )
    return arguments.index(value)


class _Product(_Maker):
    """`tile_matmul`, in blocks of rows and columns of tiles that DST holds."""

    def __init__(self, stage: Stage, op: d2m.TileMatmulOp, capacity: int) -> None:
        super().__init__(stage)
        right = op.operands[1]
        self._transposes = isinstance(right.owner, d2m.TileTransposeOp)
        if isinstance(right.owner, d2m.TileTransposeOp):
            right = right.owner.operands[0]
        self._a, self._b = _argument(stage, op.operands[0]), _argument(stage, right)
        a, b = (stage.accesses[each].strides for each in (self._a, self._b))
        rows = [each for each in stage.parallel if not b[each] and a[each]]
        columns = [each for each in stage.parallel if not a[each] and b[each] == 1]
        self._choose(rows, columns, capacity)

    def _choose(self, rows: Sequence[int], columns: Sequence[int], capacity: int) -> None:
        """The shape of blocks, and the iterators along them: a long side first, then many tiles.

        The tiles of the shorter side stay in their source register in turn, while all of the longer
        side stream past (tt-llk, llk_unpack_AB_matmul.h): so its length is what saves unpacking.
        """
        extents = self.stage.extents
        best = (1, 1, None, None)
        for row in (None, *rows):
            for column in (None, *columns):
                for rt in _divisors(1 if row is None else extents[row], capacity):
                    for ct in _divisors(1 if column is None else extents[column], capacity // rt):
                        if (max(rt, ct), rt * ct) > (max(best[:2]), best[0] * best[1]):
                            best = (rt, ct, row, column)
        self._rt, self._ct, self._row, self._column = best

    @property
    def is_one_block(self) -> bool:
        """True if one block holds all results."""
        results = math.prod(self.stage.extents[each] for each in self.stage.parallel)
        return results == self._rt * self._ct

    @property
    def is_in_order(self) -> bool:
        """True if blocks after each other are tiles after each other."""
        extents, _, strides = self._loops()
        inner = self._inner_strides(-1)
        return is_in_order(
            [*extents, self._rt, self._ct], self.stage.output, [*strides[-1], *inner]
        )

    def _inner_strides(self, access: int) -> list[int]:
        strides = self.stage.accesses[access].strides
        return [0 if each is None else strides[each] for each in (self._row, self._column)]

    def _loops(self) -> tuple[list[int], list[int], list[list[int]]]:
        """Extents of the loops over blocks, first tiles and strides of each buffer."""
        stage = self.stage
        sizes = {self._row: self._rt, self._column: self._ct}
        extents = [stage.extents[each] // sizes.get(each, 1) for each in stage.parallel]
        strides = [
            [access.strides[each] * sizes.get(each, 1) for each in stage.parallel]
            for access in stage.accesses
        ]
        return extents, [access.offset for access in stage.accesses], strides

    def walk(self, capacity: int, chunk: Chunk) -> Code:
        extents, offsets, strides = self._loops()
        return walk(extents, list(zip(offsets, strides, strict=True)), 1, chunk)

    def all_points(self) -> list[Point]:
        return [[Index(offset=access.offset) for access in self.stage.accesses]]

    def results(self, points: Sequence[Point]) -> list[tuple[int, Index]]:
        (point,) = points
        down, right = self._inner_strides(-1)
        return [
            (row * self._ct + column, point[-1] + (row * down + column * right))
            for row in range(self._rt)
            for column in range(self._ct)
        ]

    def step(self, points: Sequence[Point]) -> Code:
        (point,) = points
        stage = self.stage
        a, b = stage.accesses[self._a], stage.accesses[self._b]
        down = self._inner_strides(self._a)[0]
        sizes = (int(self._transposes), self._ct, self._rt, max(down, 1))
        prepared = Preparation(
            ("matmul_block", sizes, a.format, b.format),
            TileCall("mm_block_init_short", (a.buffer, b.buffer, *sizes)),
        )
        needs = {
            Setting.SOURCE_A: b.format,
            Setting.SOURCE_B: a.format,
            Setting.MATRIX: prepared,
        }
        inside = self.inside(point)
        operands = (a.buffer, b.buffer, inside[self._a], inside[self._b], Index(offset=0))
        numbers = tuple(Index(offset=each) for each in sizes)
        call = Call("matmul_block", (*operands, *numbers), needs=needs)
        return [self.reduce(point, [call])]


def _divisors(extent: int, most: int) -> list[int]:
    return [each for each in range(1, min(extent, most) + 1) if extent % each == 0]


# --- Stages ---------------------------------------------------------------------------------------
# One loop over tiles of a compute region (a stage): what it walks over, and its code.
#
# Several tiles are computed between two hand-overs of DST, as many as fit: call by call for all of
# them, so that what prepares a call stands there once.


Shape = tuple[int, ...]
Point = Sequence[Index]
"""Where in each buffer the tile in hand is."""
Chunk = Callable[[Sequence[Point]], Code]
"""Makes the code for some tiles that follow each other."""


@dataclass(frozen=True)
class Access:
    """The tiles of a buffer that a stage reads or writes, by its iterators."""

    buffer: Buffer
    format: Format
    tiles: int
    """Of the whole block."""
    offset: int
    strides: Shape


@dataclass(frozen=True)
class Stage:
    """A `linalg.generic` on blocks of tiles."""

    op: LinalgGenericOp
    accesses: tuple[Access, ...]
    """Of the inputs, then of the output."""
    maps: tuple[AffineMap, ...]
    """From the iterators to dimensions of blocks, in the same order."""
    extents: Shape
    """Tiles along each iterator."""
    reduced: tuple[int, ...]
    """The iterators that are reductions."""
    arriving: tuple[int, ...] = ()
    """The inputs that nothing has waited for: tiles are waited for as they are read."""

    @property
    def output(self) -> Access:
        """What is written."""
        return self.accesses[-1]

    @property
    def inputs(self) -> tuple[Access, ...]:
        """What is read."""
        return self.accesses[:-1]

    @property
    def parallel(self) -> tuple[int, ...]:
        """The other iterators, in the order of the output's dimensions."""
        strides = self.output.strides
        kept = (each for each in range(len(self.extents)) if each not in self.reduced)
        return tuple(sorted(kept, key=lambda each: -strides[each]))

    def over_blocks(self, count: int) -> Stage:
        """The same over so many blocks of each input, one behind another, which are reduced."""
        *inputs, output = self.accesses
        return replace(
            self,
            accesses=(
                *(replace(each, strides=(*each.strides, each.tiles)) for each in inputs),
                replace(output, strides=(*output.strides, 0)),
            ),
            extents=(*self.extents, count),
            reduced=(len(self.extents), *self.reduced),
        )

    def along(self, iterators: Sequence[int]) -> tuple[list[int], list[tuple[int, list[int]]]]:
        """The extents of some iterators, and of each buffer the first tile and the strides."""
        accesses = [
            (access.offset, [access.strides[each] for each in iterators])
            for access in self.accesses
        ]
        return [self.extents[each] for each in iterators], accesses

    def reads_in_order(self, number: int) -> bool:
        """True if an input is read tile after tile, all of it."""
        extents, accesses = self.along((*self.parallel, *self.reduced))
        return is_in_order(extents, self.inputs[number], accesses[number][1])

    def wait(self, point: Point) -> list[Call]:
        """Wait for the tiles up to a place."""
        return [
            Call("cb_wait_front", (self.inputs[number].buffer, point[number] + 1))
            for number in self.arriving
        ]

    @property
    def root(self) -> SSAValue:
        """The tile that the body yields."""
        end = self.op.body.block.last_op
        assert end is not None, "verified: bodies have a terminator"
        return end.operands[0]

    @property
    def held(self) -> SSAValue | None:
        """The accumulator, if the body has one."""
        argument = self.op.body.block.args[-1]
        return argument if argument.uses else None

    @property
    def root_op(self) -> Operation | None:
        """The operation that computes the result; None for a copy."""
        owner = self.root.owner
        return owner if isinstance(owner, Operation) else None

    @property
    def sources(self) -> tuple[Source, ...]:
        """The inputs as what bodies read."""
        return tuple(
            Source(number, access.buffer, access.format)
            for number, access in enumerate(self.inputs)
        )


def read_stage(op: LinalgGenericOp, numbers: Mapping[SSAValue, int]) -> Stage:
    """A stage whose operands are circular buffers of these numbers."""
    maps = [layout_map(each) for each in op.indexing_maps.data]
    shapes = [cast("MemRefType[Attribute]", value.type).get_shape() for value in op.operands]
    extents = _extents(maps, shapes)
    accesses: list[Access] = []
    for value, index_map, shape in zip(op.operands, maps, shapes, strict=True):
        offset, strides = linear_access(index_map, shape, extents)
        buffer = Buffer(numbers[value])
        data_type = stored_format(cast("MemRefType[Attribute]", value.type).element_type)
        accesses.append(
            Access(buffer, Format(data_type, buffer), math.prod(shape), offset, strides)
        )
    kinds = [kind.data for kind in op.iterator_types.data]
    reduced = tuple(n for n, kind in enumerate(kinds) if kind is not LinalgIteratorType.PARALLEL)
    return Stage(op, tuple(accesses), tuple(maps), extents, reduced)


def _extents(maps: Sequence[AffineMap], shapes: Sequence[Sequence[int]]) -> Shape:
    found = {
        result.position: extent
        for index_map, shape in zip(maps, shapes, strict=True)
        for result, extent in zip(index_map.results, shape, strict=True)
        if isinstance(result, DimExpr)
    }
    missing = [f"d{each}" for each in range(maps[0].num_dims) if each not in found]
    if missing:
        raise LayoutError(f"has loops over tiles along {', '.join(missing)}, which no operand has")
    return tuple(found[iterator] for iterator in range(maps[0].num_dims))


def linear_access(
    index_map: AffineMap, shape: Sequence[int], extents: Sequence[int]
) -> tuple[int, Shape]:
    """The number of the first tile in a block, and how it grows along each iterator.

    LayoutError for a map that is not linear within the extents.
    """
    weights = row_major_strides(shape)

    def number(point: Sequence[int]) -> int:
        places = index_map.eval(point)
        return sum(place * weight for place, weight in zip(places, weights, strict=True))

    origin = [0] * len(extents)
    offset = number(origin)
    strides: list[int] = []
    for iterator in range(len(extents)):
        next_ = [int(each == iterator) for each in range(len(extents))]
        strides.append(number(next_) - offset)
    last = [extent - 1 for extent in extents]
    expected = offset + sum(place * by for place, by in zip(last, strides, strict=True))
    if number(last) != expected:
        raise LayoutError(
            f"reads tiles of a block by the map {index_map}, which kernels do not follow; let a "
            "view of the operand do so"
        )
    return offset, tuple(strides)


def split_stage(stage: Stage, last: Access) -> tuple[Stage, Stage]:
    """A stage that packs in order as two, the second of which packs the last tiles elsewhere."""
    iterator = next(each for each in stage.parallel if stage.extents[each] > 1)
    whole, output = stage.extents[iterator], stage.output
    first = whole - whole * last.tiles // output.tiles

    def part(begin: int, end: int, target: Access) -> Stage:
        extents = list(stage.extents)
        extents[iterator] = end - begin
        inputs = (
            replace(access, offset=access.offset + access.strides[iterator] * begin)
            for access in stage.inputs
        )
        return replace(stage, extents=tuple(extents), accesses=(*inputs, target))

    rest = replace(output, tiles=output.tiles - last.tiles)
    target = replace(last, offset=0, strides=output.strides)
    return part(0, first, rest), part(first, whole, target)


# --- Walks ----------------------------------------------------------------------------------------


def walk(
    extents: Sequence[int],
    accesses: Sequence[tuple[int, Sequence[int]]],
    most: int,
    chunk: Chunk,
) -> Code:
    """Loops over the tiles along some iterators, at most so many at once.

    `accesses` are the first tile of each buffer and its strides along the iterators.
    """
    # Buffers that are walked over alike have one number.
    walks = list(dict.fromkeys((offset, tuple(each)) for offset, each in accesses))
    number_of = [walks.index((offset, tuple(each))) for offset, each in accesses]
    extents, strides = _merge(extents, [each for _, each in walks])
    *outer, inner = extents
    count = _chunk_size(inner, most)
    iterations, rest = divmod(inner, count)
    steps = [each[-1] for each in strides]
    numbers = tuple(map(Index, range(len(walks))))

    def points(first: int, tiles: int) -> list[Point]:
        return [
            [numbers[each] + (first + tile) * steps[each] for each in number_of]
            for tile in range(tiles)
        ]

    body: list[Call | Nest] = [
        Nest(
            (iterations,),
            numbers,
            tuple((count * step,) for step in steps),
            chunk(points(0, count)),
        )
    ]
    if rest:
        body += chunk(points(iterations * count, rest))
    starts = tuple(Index(offset=offset) for offset, _ in walks)
    return [Nest(tuple(outer), starts, tuple(tuple(each[:-1]) for each in strides), body)]


def _merge(
    extents: Sequence[int], strides: Sequence[Sequence[int]]
) -> tuple[list[int], list[list[int]]]:
    """Loops of which as many as possible are one; at least one is left."""
    merged: list[int] = []
    by: list[list[int]] = [[] for _ in strides]
    for depth, extent in enumerate(extents):
        if extent == 1:
            continue
        steps = [each[depth] for each in strides]
        if merged and all(done[-1] == step * extent for done, step in zip(by, steps, strict=True)):
            merged[-1] *= extent
            for done, step in zip(by, steps, strict=True):
                done[-1] = step
        else:
            merged.append(extent)
            for done, step in zip(by, steps, strict=True):
                done.append(step)
    return (merged, by) if merged else ([1], [[0] for _ in strides])


def _chunk_size(extent: int, most: int) -> int:
    """Tiles at once: so many that few are left, of those that fit."""
    most = min(extent, most)
    divisor = next(size for size in range(most, 0, -1) if extent % size == 0)
    return divisor if 2 * divisor >= most else -(-extent // -(-extent // most))


def is_in_order(extents: Sequence[int], access: Access, strides: Sequence[int]) -> bool:
    """True if loops of these extents meet the tiles of a block one after the other, all of them."""
    stride = 1
    for extent, step in zip(reversed(extents), reversed(strides), strict=True):
        if extent > 1 and step != stride:
            return False
        stride *= extent
    return access.offset == 0 and stride == access.tiles


# --- Packing --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Packing:
    """How a stage packs its results."""

    in_order: bool = True
    """Pages are reserved and pushed as they come; else the caller does so for the whole block."""
    mask: str = ""
    adds: bool = False
    """True to add to what is there; then the caller reserves and pushes."""
    is_reserved: bool = False
    """True if the caller has reserved the whole block; pages are only pushed as they come."""

    def pack(self, output: Access, results: Sequence[tuple[int, Index]]) -> list[Call]:
        """Hand DST over and pack tiles of it, each to its place, which is said as an index."""
        needs: Needs = {
            Setting.PACKER: output.format,
            Setting.MASK: self.mask,
            Setting.ADDS: self.adds,
        }
        buffer, count = output.buffer, Index(offset=len(results))
        templates = () if self.in_order else (("out_of_order", True),)
        calls = [Call("tile_regs_commit"), Call("tile_regs_wait")]
        if self.in_order and not self.is_reserved:
            calls.append(Call("cb_reserve_back", (buffer, count)))
        for number, (slot, place) in enumerate(results):
            where = Index(offset=number) if self.in_order else place
            operands = (Index(offset=slot), buffer, where)
            calls.append(Call("pack_tile", operands, templates, needs))
        calls.append(Call("tile_regs_release"))
        if self.in_order:
            calls.append(Call("cb_push_back", (buffer, count)))
        return calls


# --- Elementwise stages ---------------------------------------------------------------------------


def plan_body(stage: Stage, capacity: int) -> Plan:
    """The plan of a body; LayoutError if DST does not hold what it computes with."""
    failure: TooManyTilesError | None = None
    in_loop = stage.held is not None
    for multiplies in (False,) if in_loop else (True, False):
        selector = Selector(
            stage.sources, stage.held, stage.output.format, multiplies_onto_zeros=multiplies
        )
        try:
            return plan(selector.select(stage.root), capacity)
        except TooManyTilesError as error:
            failure = error
    assert failure is not None, "one of the plans failed"
    raise LayoutError(
        f"has a body that needs {failure.needed} tiles of DST, which holds {capacity}; run "
        "d2m-insert-scratch-buffers before"
    )


def compute_elementwise(stage: Stage, capacity: int, packing: Packing) -> Code:
    """The code of a stage without accumulator."""
    body = plan_body(stage, capacity)

    def chunk(points: Sequence[Point]) -> Code:
        waits = stage.wait(points[-1])
        calls = [*waits, Call("tile_regs_acquire"), *compute_tiles(body, points)]
        results = [
            (body.result + number * body.tiles, point[-1]) for number, point in enumerate(points)
        ]
        return [*calls, *packing.pack(stage.output, results)]

    extents, accesses = stage.along((*stage.parallel, *stage.reduced))
    return walk(extents, accesses, capacity // body.tiles, chunk)


def compute_tiles(body: Plan, points: Sequence[Point]) -> list[Call]:
    """The calls of a body for some tiles, each in tiles of DST of its own."""
    calls: list[Call] = []
    for instruction in body.instructions:
        for number, point in enumerate(points):
            base = number * body.tiles
            calls += instruction.value.calls(
                [slot + base for slot in instruction.slots],
                instruction.result + base,
                lambda source, point=point: point[source.operand],
            )
    return calls
