"""The kernel that computes: the stages of a region, in the loops over blocks.

A stage that depends on a reduction iterator runs in every step; one that depends on none runs
behind the last, or in front of the first if a stage in the steps reads what it computes; one that
reads nothing fills its buffer once. Blocks of inputs are waited for at their depth and popped
there. A local buffer is filled by one stage and emptied behind the last one that reads it.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from typing import cast

from xdsl.dialects.builtin import MemRefType
from xdsl.dialects.linalg.ops import GenericOp as LinalgGenericOp
from xdsl.ir import Attribute, Operation

from ttmlir.dialects import d2m
from ttmlir.ir.kernel_builder import Buffer, KernelBuilder
from ttmlir.ir.rewriting import refuse
from ttmlir.layout.affine import DimExpr
from ttmlir.layout.enums import DataType, IteratorType
from ttmlir.layout.errors import LayoutError
from ttmlir.layout.metal import iterator_positions
from ttmlir.passes.d2m.dst.capacity import capacity_of
from ttmlir.passes.d2m.dst.code import (
    Call,
    Code,
    CodeWriter,
    Format,
    Index,
    Nest,
    Setting,
    State,
    demands_of,
    enter_loop,
    first_need,
    forget_changes,
    prepare,
)
from ttmlir.passes.d2m.dst.select import stored_format
from ttmlir.passes.d2m.kernels.compute.stage import (
    Packing,
    Stage,
    compute_elementwise,
    read_stage,
    split_stage,
)
from ttmlir.passes.d2m.kernels.compute.sums import (
    Carry,
    can_wait,
    choose_carry,
    compute_accumulating,
    packs_in_order,
)
from ttmlir.passes.d2m.kernels.loops import (
    BlockLoops,
    Indices,
    looped_iterators,
    operand_depth,
)
from ttmlir.passes.d2m.kernels.plan import KernelPlan


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
    code = [node for level in levels for node in (*level.before, *level.after)]
    start, state = _startup(plan, code)
    _prepare_levels(levels, state)
    writer = CodeWriter(kernel)
    writer.write(start)

    def before(depth: int, indices: Indices) -> None:
        writer.write(levels[depth].before)

    def after(depth: int, indices: Indices) -> None:
        writer.write(levels[depth].after)

    BlockLoops(plan.generic, kernel).run(before, after)


@dataclass
class _Level:
    """The code of a depth in front of the next loop, and behind it."""

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
    """Behind the last step, or in the only one."""


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
        self._write_loads("cb_pop_front", [level.after for level in self.levels])

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
        packing = Packing(in_order=in_order and carry is not Carry.PACKER)
        begin, end = code, code
        if carry is not Carry.NOWHERE:
            begin, end = self._code_of(_Section.FIRST), self._code_of(_Section.LAST)
        if not packing.in_order and stage.op is self._writers[buffer][0].op:
            begin.append(_on_buffer("cb_reserve_back", buffer, stage.output.tiles))
        if stage.held is None:
            for part in self._parts(stage):
                code += compute_elementwise(part, capacity, packing)
        else:
            steps = compute_accumulating(stage, capacity, carry, packing)
            begin += steps.begin
            code += steps.step
            end += steps.end
        if not packing.in_order and stage.op is self._writers[buffer][-1].op:
            end.append(_on_buffer("cb_push_back", buffer, stage.output.tiles))
        if buffer in self._kept:
            end.append(_on_buffer("cb_wait_front", buffer, stage.output.tiles))
        elif buffer not in self._outputs | self._sent and buffer not in self._readers:
            end.append(_on_buffer("cb_wait_front", buffer, stage.output.tiles))
            end.append(_on_buffer("cb_pop_front", buffer, stage.output.tiles))
        self._pop(code, stage)

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
        for buffer in self._local_inputs(stage):
            if self._readers[buffer][-1].op is stage.op:
                code.append(_on_buffer("cb_pop_front", buffer, self._tiles[buffer]))

    def _local_inputs(self, stage: Stage) -> list[Buffer]:
        """The local buffers that a stage reads, and that are emptied in its section."""
        buffers = dict.fromkeys(access.buffer for access in stage.inputs)
        return [each for each in buffers if each in self._tiles and each not in self._kept]


def _on_buffer(mnemonic: str, buffer: Buffer, tiles: int) -> Call:
    return Call(mnemonic, (buffer, Index(offset=tiles)))


# --- Settings -----------------------------------------------------------------------------------


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
        # There may be no turn at all.
        forget_changes(demands, state)
    level.after = prepare(level.after, state)
