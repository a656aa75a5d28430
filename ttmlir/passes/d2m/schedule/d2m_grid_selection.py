"""Divide generics into blocks, and spread the blocks over the cores of the chip.

Before:

    // After ttir-load-system-desc
    #dram = #ttcore.memory_space<dram>
    #l1 = #ttcore.memory_space<l1>
    #map = affine_map<(d0, d1) -> (d0, d1)>
    #parallel = #ttcore.iterator_type<parallel>
    !tile = !ttcore.tile<32x32, f32>
    !buffer = memref<1x1x16x12x!tile, #ttcore.interleaved<49152x4096>, #dram>
    !shard = memref<16x12x!tile, #l1>
    func.func @exp(%x: !buffer, %y: !buffer) {
      d2m.generic {block_factors = [1, 1], grid = #ttcore.grid<1x1>,
          indexing_maps = [#map, #map], iterator_types = [#parallel, #parallel],
          threads = [#d2m.thread<compute>]} ins(%x : !buffer) outs(%y : !buffer) {
      ^compute0(%cb0: !d2m.cb<!shard>, %cb1: !d2m.cb<!shard>):
        %i = d2m.wait %cb0 : !d2m.cb<!shard> -> !shard
        %o = d2m.reserve %cb1 : !d2m.cb<!shard> -> !shard
        linalg.generic {indexing_maps = [#map, #map],
            iterator_types = ["parallel", "parallel"]} ins(%i : !shard) outs(%o : !shard) {
        ^bb0(%a: !tile, %b: !tile):
          %e = "d2m.tile_exp"(%a) : (!tile) -> !tile
          linalg.yield %e : !tile
        }
      }
      return
    }

After:

    ...
        %view = d2m.view_layout %arg0 : ... -> memref<16x12x1x1x!ttcore.tile<32x32, f32>,
            #ttcore.view<(d0, d1, d2, d3) -> (0, 0, d0, d1)>, #dram>
        %view_0 = d2m.view_layout %arg1 : ... -> ...
        d2m.generic {block_factors = [1, 3], grid = #ttcore.grid<16x4>, ...}
            ins(%view : ...)
            outs(%view_0 : ...) {
        ^compute0(%cb0: !d2m.cb<memref<1x1x!ttcore.tile<32x32, f32>, ...):
        ...

Requires: generics on whole memrefs with one compute region of loops, without `linalg.index`
(`ttcore-one-shot-bufferize`, `d2m-mask-padding`); the machine on the module.
Ensures: every operand is a view in blocks of a buffer; block sizes divide extents. Of a grid of
cores that does not divide the blocks, the last cores have fewer. Iterators are parallel ones, then
reductions. Where neighbours share rows (`row_split.py`), the columns are an iterator, too. What
steps of a reduction add to is in memory of the core if DST does not hold it; that of a product
alone is the block of the output. Where its rows are stored in the last steps, and where cores that
share rows wait for each other, `d2m.input_blocks` says how many blocks of inputs have room.
On tensors: the operands of a generic on grids of their own, the largest that divide their tiles
(`tensor_grids.py`).
Options: cores, L1, buffers of a circular buffer, the order of the loops of products, tiles of DST,
approximations.
Not done here: memory, which `d2m-allocate` gives.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import IntegerAttr, MemRefType, NoneAttr, i64
from xdsl.dialects.memref import AllocOp
from xdsl.ir import Attribute, SSAValue
from xdsl.rewriter import Rewriter

from ttmlir.dialects import d2m
from ttmlir.dialects.d2m.structure import INPUT_BLOCKS, STORED_BY_READER
from ttmlir.dialects.tt.layout import MemorySpaceAttr, element_of
from ttmlir.dialects.ttcore import ViewLayoutAttr, memory_space_of
from ttmlir.ir.builder import OpBuilder
from ttmlir.ir.rewriting import erase, insert_before, refuse
from ttmlir.ir.tensor_types import require_system_desc
from ttmlir.layout.affine import AffineExpr, AffineMap, ConstantExpr, constant, dim, dims
from ttmlir.layout.enums import Arch, IteratorType, MemorySpace
from ttmlir.layout.errors import LayoutError
from ttmlir.layout.metal import CIRCULAR_BUFFERS
from ttmlir.mlir.attributes import affine_map_attr
from ttmlir.mlir.option_values import OptionError
from ttmlir.mlir.reporting import op_diagnostic, warn
from ttmlir.optable.kernel import call_named
from ttmlir.passes.core.base import option
from ttmlir.passes.d2m.dst.select import (
    ADDED_BY_PACKER,
    capacity_of,
    is_narrow_to_compute,
    stored_format,
)
from ttmlir.passes.d2m.frontend.unified_form import ComputingModulePass
from ttmlir.passes.d2m.schedule.block_choice import (
    Blocks,
    Machine,
    Nest,
    Schedule,
    Work,
    check_stream_buffers,
    choose_schedule,
    restrict_l1,
)
from ttmlir.passes.d2m.schedule.bufferize_generic import copy_shard
from ttmlir.passes.d2m.schedule.iteration_space import (
    Access,
    IterationSpace,
    Labels,
    Loops,
    count_circular_buffers,
    operand_number,
    read_bytes,
    shape_of,
)
from ttmlir.passes.d2m.schedule.row_split import (
    buffers_of_local,
    columns_of,
    exchanges_of,
    split_rows,
)
from ttmlir.passes.d2m.schedule.tensor_grids import divide_tensors

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp

MemRef = MemRefType[Attribute]

MOST_L1_BYTES = 8 << 20
"""Of all cores, for a buffer that is expected to stay in L1."""


@dataclass(frozen=True)
class D2MGridSelectionPass(ComputingModulePass):
    """Divide generics into blocks, and spread the blocks over cores."""

    name = "d2m-grid-selection"
    title = "D2MGridSelection"
    override_device_shape: tuple[int, ...] = option(
        (), "Rows and columns of the cores to use, instead of all of the chip"
    )
    num_stream_buffers: int = option(2, "Blocks that a circular buffer of several steps holds")
    matmul_interchange: tuple[int, ...] = option(
        (), "Order of the loops of products over rows, columns and terms; terms stay innermost"
    )
    max_dst_physical_size_tiles: int = option(
        0, "Tiles of 16-bit numbers in DST; 0 for those of the chip"
    )
    available_l1_addr_range: tuple[int, ...] = option(
        (), "First address in L1 that buffers may have, and the end; of the chip by default"
    )
    test_assume_l1_capacity: int = option(0, "Bytes of L1 to assume; 0 for those of the chip")
    math_approx_mode: bool = option(False, "Count exponentials as approximate ones")

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Divide every generic with one region of loops."""
        machine = self._machine(module)
        divide_tensors(module, (machine.rows, machine.columns))
        costs = _Costs(self.math_approx_mode, machine)
        self._check_interchange(module)
        for op in [each for each in module.walk() if isinstance(each, d2m.GenericOp)]:
            if op.is_compute_only and op.has_maps and not op.results and _has_loops(op):
                self._divide(op, machine, costs)

    def _check_interchange(self, module: ModuleOp) -> None:
        """Refuse what is no order, and warn where terms would not be innermost."""
        order = self.matmul_interchange
        given = ",".join(map(str, order))
        if order and sorted(order) != [0, 1, 2]:
            raise OptionError(
                "for the --matmul-interchange option: expected an order of 0,1,2, which are rows, "
                f"columns and terms; got {given}"
            )
        if order and order[-1] != 2:
            taken = ",".join(str(each) for each in (*(each for each in order if each != 2), 2))
            text = f"--matmul-interchange={given} is taken as {taken}: terms stay innermost"
            warn(op_diagnostic(module, text, severity="warning", with_name=False))

    def _divide(self, op: d2m.GenericOp, machine: Machine, costs: _Costs) -> None:
        try:
            best = self._plan(op, machine, costs)
        except LayoutError as error:
            refuse(op, str(error))
        for cores in _sharers(op, machine):
            split = split_rows(op, cores)
            if split is None:
                break
            plan = self._plan_split(split, cores, machine, costs)
            worse = split
            if plan is not None and plan.schedule.cycles < best.schedule.cycles:
                worse, best = best.op, plan
            if worse is not op:
                erase(worse)
        if best.op is not op:
            erase(op)
        _Division(best).rewrite()

    def _plan(self, op: d2m.GenericOp, machine: Machine, costs: _Costs, sharers: int = 1) -> _Plan:
        """The best schedule of a generic; LayoutError if no block fits."""
        space = IterationSpace(op)
        order = sorted(
            range(len(space.extents)),
            key=lambda each: op.iterator_types[each] is IteratorType.REDUCTION,
        )
        if self.matmul_interchange and len(op.reductions) == 1 and len(order) > 2:
            *outer, rows, columns, terms = order
            # What is written before the last step of the terms would not be finished.
            swaps = self.matmul_interchange.index(0) > self.matmul_interchange.index(1)
            order = [*outer, *((columns, rows) if swaps else (rows, columns)), terms]
        dst_tiles = capacity_of(op, self.max_dst_physical_size_tiles)
        nest = _nest_of(space, order, dst_tiles, costs)
        if sharers > 1:
            exchanges = len(exchanges_of(op))
            nest = replace(nest, shared=len(order) - 1, sharers=sharers, exchanges=exchanges)
        return _Plan(op, space, order, _choose(nest, machine), dst_tiles)

    def _plan_split(
        self, op: d2m.GenericOp, cores: int, machine: Machine, costs: _Costs
    ) -> _Plan | None:
        """The best schedule of a generic whose rows cores share; None if no block fits."""
        try:
            return self._plan(op, machine, costs, cores)
        except LayoutError:
            return None

    def _machine(self, module: ModuleOp) -> Machine:
        chip = restrict_l1(
            require_system_desc(module, self.name).chip_descs[0],
            self.available_l1_addr_range,
            self.test_assume_l1_capacity,
        )
        rows, columns = chip.grid
        if self.override_device_shape:
            shape = self.override_device_shape
            if len(shape) != 2 or not (0 < shape[0] <= rows and 0 < shape[1] <= columns):
                raise OptionError(
                    "for the --override-device-shape option: expected rows and columns of at most "
                    f"{rows},{columns} cores, got {','.join(map(str, shape))}"
                )
            rows, columns = shape
        check_stream_buffers(self.num_stream_buffers)
        return Machine(
            rows,
            columns,
            chip.usable_l1_size,
            chip.num_dram_channels,
            self.num_stream_buffers,
            chip.arch,
        )


@dataclass(frozen=True)
class _Plan:
    """How a generic will be divided."""

    op: d2m.GenericOp
    space: IterationSpace
    order: Sequence[int]
    schedule: Schedule
    dst_tiles: int


def _has_loops(op: d2m.GenericOp) -> bool:
    """False for what works on whole shards, which keeps them."""
    whole = d2m.TileTilizeBlockOp | d2m.TileUntilizeBlockOp
    return not any(isinstance(each, whole) for each in op.walk())


def _sharers(op: d2m.GenericOp, machine: Machine) -> list[int]:
    """How many cores could share each row of a generic."""
    width = columns_of(op)
    if width is None:
        return []
    return [cores for cores in range(2, machine.columns + 1) if width % cores == 0]


def _choose(nest: Nest, machine: Machine) -> Schedule:
    """The best schedule; where not even one tile fits several times, with single buffers."""
    try:
        return choose_schedule(nest, machine)
    except LayoutError:
        return choose_schedule(nest, replace(machine, buffers=1))


# --- The nest of a generic ------------------------------------------------------------------------


def _nest_of(space: IterationSpace, order: Sequence[int], dst_tiles: int, costs: _Costs) -> Nest:
    op = space.op
    number_of = {iterator: number for number, iterator in enumerate(order)}

    def renumber(labels: Sequence[int | None]) -> tuple[int | None, ...]:
        return tuple(None if each is None else number_of[each] for each in labels)

    def blocks_of(access: Access, value: SSAValue) -> Blocks:
        below, _ = d2m.buffer_of_view(value)
        return Blocks(
            renumber(access.iterators),
            access.extents,
            tile_bytes(value),
            isinstance(below.owner, d2m.Gather),
            not _fits_in_l1(below),
        )

    operands = [
        blocks_of(access, value) for access, value in zip(space.accesses, op.operands, strict=True)
    ]
    inputs = [
        replace(each, read_bytes=read_bytes(op, number))
        for number, each in enumerate(operands[: len(op.inputs)])
    ]
    outputs = operands[len(op.inputs) :]
    reductions = len(op.reductions)
    parallel = len(order) - reductions
    spread = [
        each
        for each in outputs[0].iterators
        if each is not None and each < parallel and all(out.follows(each) for out in outputs)
    ]
    return Nest(
        tuple(space.extents[each] for each in order),
        reductions,
        tuple(spread),
        tuple(inputs),
        tuple(outputs),
        tuple(
            Blocks(
                renumber(space.labels_of(each.memref)),
                shape_of(each.memref),
                tile_bytes(each.memref) * buffers_of_local(each.memref),
            )
            for each in space.locals
        ),
        tuple(
            Work(renumber(each.labels), tuple(each.extents), costs.of(each), _is_product(each))
            for each in space.loops
        ),
        dst_tiles,
        any(each.accumulates for each in space.loops),
        adds_in_output(space),
        _stores_last(space),
        is_serial=not op.reductions and any(each.accumulates for each in space.loops),
    )


def adds_in_output(space: IterationSpace) -> bool:
    """True for a product alone, whose sums the packer adds up where they are stored from."""
    op = space.op
    if not len(space.loops) == len(op.outputs) == len(op.reductions) == 1:
        return False
    (loops,) = space.loops
    element = cast("MemRef", loops.op.outputs[0].type).element_type
    return _is_product(loops) and stored_format(element) in ADDED_BY_PACKER


def _stores_last(space: IterationSpace) -> bool:
    """True if one loop nest alone writes the only output, tile after tile, after products."""
    if len(space.op.outputs) != 1 or not any(map(_is_product, space.loops)):
        return False
    number = len(space.op.inputs)
    writers = [each for each, _ in space.users_of(number)]
    return len(writers) == 1 and (_is_product(writers[0]) or not writers[0].accumulates)


def tile_bytes(value: SSAValue) -> int:
    """Bytes of an element of a memref."""
    return element_of(cast("MemRef", value.type).element_type).stored_bytes


def _fits_in_l1(value: SSAValue) -> bool:
    """True for a buffer that prefers L1, and that takes little enough to stay there."""
    memref = cast("MemRef", value.type)
    if memory_space_of(memref) is not MemorySpace.DEVICE_L1:
        return False
    return math.prod(memref.get_shape()) * tile_bytes(value) <= MOST_L1_BYTES


def _is_product(loops: Loops) -> bool:
    """True for products of matrices."""
    return any(each.name == "d2m.tile_matmul" for each in loops.op.body.block.ops)


@dataclass(frozen=True)
class _Costs:
    """How long operations on tiles take."""

    approximate: bool
    """True if functions are approximate where that is modelled."""
    machine: Machine

    def of(self, loops: Loops) -> int:
        """Cycles of a point: of the busiest of unpacking, computing and packing."""
        names = [each.name.removeprefix("d2m.tile_") for each in loops.op.body.block.ops]
        if _is_product(loops):
            # Whatever the fidelity: networks and the packer limit those that are fast.
            return self.machine.figures.unpack_tile
        unpack = self.machine.figures.unpack_tile * max(1, len(loops.op.inputs))
        # What combines tiles takes them from circular buffers, and packs once for many points.
        if loops.accumulates:
            return max(unpack, self._operations(names, loops))
        return max(unpack, self.machine.figures.pack_tile, self._operations(names, loops))

    def _operations(self, names: Sequence[str], loops: Loops) -> int:
        generic = loops.op.parent_op()
        narrow = isinstance(generic, d2m.GenericOp) and is_narrow_to_compute(generic)
        return sum(self._operation(each, narrow=narrow) for each in names)

    def _operation(self, name: str, *, narrow: bool) -> int:
        """Cycles of the math thread for an operation on a tile."""
        if name in ("reduce_sum", "reduce_max"):
            return self.machine.figures.reduce_tile
        if name == "linalg.yield":
            return 0
        for candidate in (f"{name}_tile", f"{name}_binary_tile"):
            try:
                call = call_named(candidate)
            except KeyError:
                continue
            faster = call.approximation
            is_taken = self.approximate and faster is not None and faster.reference is not None
            cost = faster.cost if faster is not None and is_taken else call.cost
            return (
                cost.math_on(blackhole=self.machine.arch is Arch.BLACKHOLE, narrow=narrow)
                or self.machine.figures.operation
            )
        return self.machine.figures.operation


# --- Rewriting ------------------------------------------------------------------------------------


class _Division:
    """A generic on whole buffers, as one on blocks."""

    def __init__(self, plan: _Plan) -> None:
        self._space = plan.space
        self._op = plan.op
        self._order = plan.order
        self._number_of = {iterator: number for number, iterator in enumerate(plan.order)}
        self._schedule = plan.schedule
        self._dst_tiles = plan.dst_tiles
        self._adds_in_output = adds_in_output(plan.space)

    def rewrite(self) -> None:
        """Replace the generic by one on views of its operands."""
        op, space, schedule = self._op, self._space, self._schedule
        views = [
            self._view(value, access)
            for value, access in zip(op.operands, space.accesses, strict=True)
        ]
        extents = [space.extents[each] for each in self._order]
        regions = [op.detach_region(region) for region in tuple(op.regions)]
        made = d2m.GenericOp.of(
            views[: len(op.inputs)],
            views[len(op.inputs) :],
            [self._indexing_map(access) for access in space.accesses],
            [op.iterator_types[each] for each in self._order],
            op.threads,
            grid=self._grid(),
            block_factors=schedule.factors(extents),
            regions=regions,
        )
        made.attributes.update(op.attributes)
        if schedule.input_blocks is not None:
            made.attributes[INPUT_BLOCKS] = IntegerAttr(schedule.input_blocks, i64)
        made.location = op.location
        insert_before(op, made)
        below = list(op.operands)
        erase(op)
        for value in below:
            _erase_unused_views(value)
        self._divide_region(made)

    def _size(self, iterator: int) -> int:
        return self._schedule.sizes[self._number_of[iterator]]

    def _view(self, value: SSAValue, access: Access) -> SSAValue:
        """The operand in blocks, as a view of its buffer."""
        rank = len(access.extents)
        places = dims(2 * rank)
        counts: list[int] = []
        sizes: list[int] = []
        coordinates: list[AffineExpr] = []
        for number, (iterator, extent) in enumerate(
            zip(access.iterators, access.extents, strict=True)
        ):
            size = extent if iterator is None else self._size(iterator)
            counts.append(extent // size)
            sizes.append(size)
            coordinates.append(
                _scaled(places[number], size, extent // size)
                + _scaled(places[rank + number], 1, size)
            )
        shard = tuple(result.rename(coordinates) for result in access.coordinates)
        index_map = AffineMap(2 * rank, 0, (*(constant(0) for _ in shard), *shard))
        buffer = value
        while isinstance(buffer.owner, d2m.ViewLayoutOp):
            attr = cast("ViewLayoutAttr", cast("MemRef", buffer.type).layout)
            index_map = attr.map.compose(index_map)
            buffer = buffer.owner.input
        memref = cast("MemRef", buffer.type)
        type_ = MemRefType(
            memref.element_type,
            (*counts, *sizes),
            ViewLayoutAttr.of(index_map),
            memref.memory_space,
        )
        view = d2m.ViewLayoutOp.of(buffer, type_)
        view.location = self._op.location
        insert_before(self._op, view)
        return view.results[0]

    def _indexing_map(self, access: Access) -> AffineMap:
        return AffineMap(
            len(self._order),
            0,
            tuple(
                ConstantExpr(0) if each is None else dim(self._number_of[each])
                for each in access.iterators
            ),
        )

    def _grid(self) -> tuple[int, ...]:
        output = self._space.accesses[len(self._op.inputs)]
        return tuple(
            1 if each is None else self._schedule.cores[self._number_of[each]]
            for each in output.iterators
        )

    # --- The region ----------------------------------------------------------------------------

    def _divide_region(self, made: d2m.GenericOp) -> None:
        """Give circular buffers, shards and local memrefs the sizes of blocks."""
        space = self._space
        for loops in space.loops:
            self._replace_maps(loops)
        for local in space.locals:
            labels = space.labels_of(local.memref)
            _resize(local.memref, self._block(labels, shape_of(local.memref)))
        for number, access in enumerate(space.accesses):
            cb = made.cb(number)
            block = self._block(access.iterators, access.extents)
            shard = MemRefType(
                cast("d2m.CBType", cb.type).element_type,
                block,
                NoneAttr(),
                MemorySpaceAttr(MemorySpace.DEVICE_L1),
            )
            changed = Rewriter.replace_value_with_new_type(cb, d2m.CBType(shard))
            for use in tuple(changed.uses):
                _resize(use.operation.results[0], block)
        if any(made.block_factors[each] > 1 for each in made.reductions):
            self._keep_sums(made)
        if self._schedule.shares_stores and count_circular_buffers(made) < CIRCULAR_BUFFERS:
            self._share_stores(made)

    def _block(
        self, labels: Sequence[int | None] | Labels, extents: Sequence[int]
    ) -> tuple[int, ...]:
        return tuple(
            extent if each is None else self._size(each)
            for each, extent in zip(labels, extents, strict=True)
        )

    def _replace_maps(self, loops: Loops) -> None:
        """Let loops go over windows where they went over parts of operands."""
        maps = list(loops.op.indexing_maps.data)
        for number, value in enumerate(loops.op.operands):
            operand = operand_number(value)
            access = None if operand is None else self._space.accesses[operand]
            if access is not None and access.loops_map is not None:
                maps[number] = affine_map_attr(access.loops_map)
        loops.op.indexing_maps = type(loops.op.indexing_maps)(maps)

    def _keep_sums(self, made: d2m.GenericOp) -> None:
        """Let loops that add in several steps write to local memory if DST does not hold it."""
        block = made.compute_region.block
        for loops in self._space.loops:
            target = loops.op.outputs[0]
            adds = any(
                reduces and label is not None and self._steps(label) > 1
                for reduces, label in zip(loops.reductions, loops.labels, strict=True)
            )
            tiles = math.prod(shape_of(target))
            if not adds or not isinstance(target.owner, d2m.ReserveOp):
                continue
            if tiles <= self._dst_tiles or self._adds_in_output:
                continue
            local = AllocOp((), (), target.type)
            local.location = loops.op.location
            insert_before(loops.op, local)
            for use in tuple(target.uses):
                use.operation.operands[use.index] = local.memref
            copy_shard(OpBuilder(block, loops.op.location), local.memref, target)

    def _share_stores(self, made: d2m.GenericOp) -> None:
        """Give the reader memory for the last half of a block of the output."""
        number = len(made.inputs)
        access = self._space.accesses[number]
        shape = list(self._block(access.iterators, access.extents))
        halved = next(place for place, extent in enumerate(shape) if extent > 1)
        shape[halved] //= 2
        tile = cast("d2m.CBType", made.cb(number).type).element_type
        space = MemorySpaceAttr(MemorySpace.DEVICE_L1)
        local = AllocOp((), (), MemRefType(tile, shape, NoneAttr(), space))
        local.attributes[STORED_BY_READER] = IntegerAttr(number, i64)
        local.location = made.location
        made.compute_region.block.add_op(local)

    def _steps(self, iterator: int) -> int:
        number = self._number_of[iterator]
        schedule = self._schedule
        extent = self._space.extents[iterator]
        return -(-extent // (schedule.sizes[number] * schedule.cores[number]))


def _scaled(place: AffineExpr, factor: int, count: int) -> AffineExpr:
    """A coordinate times a factor; the only one of `count` 1 is 0."""
    return constant(0) if count == 1 else place * factor


def _resize(value: SSAValue, shape: Sequence[int]) -> None:
    memref = cast("MemRef", value.type)
    Rewriter.replace_value_with_new_type(
        value, MemRefType(memref.element_type, shape, memref.layout, memref.memory_space)
    )


def _erase_unused_views(value: SSAValue) -> None:
    owner = value.owner
    if isinstance(owner, d2m.ViewLayoutOp) and value.first_use is None and owner.parent:
        below = owner.input
        erase(owner)
        _erase_unused_views(below)
