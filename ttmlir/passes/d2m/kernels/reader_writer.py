"""The two kernels that move data: one loads blocks of inputs, the other stores those of outputs.

The writer also loads what travels on its network.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import MemRefType
from xdsl.dialects.linalg.attrs import IteratorType as LinalgIteratorType
from xdsl.dialects.linalg.ops import GenericOp as LinalgGenericOp
from xdsl.ir import Attribute, SSAValue

from ttmlir.dialects import d2m
from ttmlir.dialects.tt.layout import element_of
from ttmlir.dialects.ttcore import device_layout_of
from ttmlir.ir.kernel_builder import KernelBuilder, Number
from ttmlir.layout.affine import AffineMap, DimExpr
from ttmlir.layout.enums import IteratorType, MemorySpace, NocIndex
from ttmlir.layout.errors import LayoutError
from ttmlir.layout.metal import iterator_positions
from ttmlir.passes.d2m.kernels.block_copy import (
    BlockCopy,
    BlockPlace,
    BytesSomewhere,
    RepeatedParts,
    TileAddresses,
    tile_addresses,
    tile_bytes_of,
)
from ttmlir.passes.d2m.kernels.gather import GatheredTiles, NumberedTiles
from ttmlir.passes.d2m.kernels.kernel_plan import (
    READER_NOC,
    WRITER_NOC,
    BlockLoops,
    Chip,
    Indices,
    KernelArguments,
    KernelPlan,
    Stream,
    blocks_of,
    looped_iterators,
    on_network,
    operand_depth,
)
from ttmlir.passes.d2m.kernels.multicast import (
    Multicast,
    finish_multicasts,
    multicast_routes,
)
from ttmlir.passes.d2m.schedule.block_choice import Kept, kept_blocks
from ttmlir.passes.d2m.schedule.iteration_space import Parts, repeated_parts
from ttmlir.passes.d2m.schedule.row_split import exchanges_of


def block_of(index_map: AffineMap, indices: Indices) -> list[Number]:
    """The block of an operand, from where the core is along the iterators."""
    return [
        indices[result.position] if isinstance(result, DimExpr) else 0
        for result in index_map.results
    ]


class Loader:
    """Loads inputs in one kernel: those that its network multicasts; the reader, all others."""

    def __init__(
        self,
        plan: KernelPlan,
        kernel: KernelBuilder,
        arguments: KernelArguments,
        chip: Chip,
        noc: NocIndex,
        loops: BlockLoops,
    ) -> None:
        """LayoutError for what cannot be moved; `loops` are those that it loads in."""
        routes = multicast_routes(plan.generic, chip.grid)
        self._kernel = kernel
        self._generic = plan.generic
        self._storages = plan.storages
        self._loops = loops
        self._copies: dict[int, BlockCopy] = {}
        self._multicasts: dict[int, Multicast] = {}
        for stream in plan.inputs:
            number, route = stream.number, routes.get(stream.number)
            if (READER_NOC if route is None else route.noc) is noc:
                # What is multicast is copied from circular buffers, as a whole.
                parts = repeated_parts(plan.generic, number) if route is None else ()
                tiles = input_addresses(kernel, plan, stream, arguments, chip, parts)
                self._copies[number] = BlockCopy(kernel, stream, tiles)
                if route is not None:
                    multicast = Multicast(kernel, self._copies[number], arguments, route, chip)
                    self._multicasts[number] = multicast
        self._first_reads = _first_reads(plan.generic)
        self._last = _read_after_steps(plan.generic)
        self._depths = {each: operand_depth(plan.generic, each) for each in self._copies}
        self._kept = {
            number: kept.loop
            for number, copy in self._copies.items()
            if (kept := self._find_kept(copy.stream)) is not None
        }
        """The loops in whose first steps all blocks of an input come, which stay for the others."""

    def _find_kept(self, stream: Stream) -> Kept | None:
        """The loop in whose first steps alone an input comes, as all its blocks have room."""
        generic = self._generic
        used = iterator_positions(generic.indexing_maps[stream.number])
        kept = kept_blocks(used, generic.block_factors)
        if kept is None or blocks_of(self._storages[stream.cb]) != kept.blocks:
            return None
        inner = range(kept.loop + 1, len(generic.block_factors))
        return kept if all(map(self._loops.has_equal_steps, inner)) else None

    @property
    def depth(self) -> int:
        """The depth of the deepest input."""
        return max(self._depths.values(), default=0)

    def load(self, depth: int, indices: Indices) -> None:
        """Load the inputs of a depth, in front of what is inside."""
        self._load(depth, indices, after=False)

    def load_after(self, depth: int, indices: Indices) -> None:
        """Load those inputs of a depth that are read after what is inside."""
        self._load(depth, indices, after=True)

    def _load(self, depth: int, indices: Indices, *, after: bool) -> None:
        numbers = [
            number
            for number, at in self._depths.items()
            if at == depth and (number in self._last) is after
        ]
        shared = [each for each in numbers if each in self._multicasts]
        # What is needed as soon as what is multicast does not wait for that.
        begin = min((self._first_reads[each] for each in shared), default=-1)
        first: list[BlockCopy] = []
        others: list[BlockCopy] = []
        for number in numbers:
            if number not in shared and number in self._kept:
                self._load_once(number, indices)
            elif number not in shared:
                is_first = not after and self._first_reads[number] <= begin
                (first if is_first else others).append(self._copies[number])
        self._load_single(first, indices)
        for number in shared:
            self._load_once(number, indices)
        self._load_single(others, indices)

    def _load_once(self, number: int, indices: Indices) -> None:
        """Load a block by itself, unless it is at its place since the first step of a loop."""
        kernel, copy, loop = self._kernel, self._copies[number], self._kept.get(number)

        def load() -> None:
            if number in self._multicasts:
                block = block_of(self._generic.indexing_maps[number], indices)
                self._multicasts[number].load(block, self.settle)
            else:
                self._load_single([copy], indices)

        def offer() -> None:
            self.settle()
            kernel.call("cb_reserve_back", kernel.buffers[copy.stream.cb], copy.stream.tiles)
            kernel.call("cb_push_back", kernel.buffers[copy.stream.cb], copy.stream.tiles)

        if loop is None:
            load()
        else:
            kernel.branch(self._loops.is_first(loop, indices), load, offer)

    def _load_single(self, copies: Sequence[BlockCopy], indices: Indices) -> None:
        """Load what other cores do not need.

        What the same loops read first is loaded side by side, if it is in as many chunks. Blocks of
        few chunks are first among those.
        """
        if copies:
            self.settle()
        alike: dict[tuple[int, int, tuple[int, ...]], list[BlockCopy]] = {}
        for copy in copies:
            chunks = tuple(copy.chunks)
            key = (self._first_reads[copy.stream.number], len(chunks), chunks)
            alike.setdefault(key, []).append(copy)
        for key in sorted(alike):
            _load_chunks(self._kernel, self._generic.indexing_maps, alike[key], indices)

    def settle(self) -> None:
        """Signal blocks that are on their way, in front of whatever waits for other threads."""
        for multicast in self._multicasts.values():
            multicast.settle()

    def load_during(self, depth: int, indices: Indices, meanwhile: Callable[[], None]) -> None:
        """Load the inputs of a depth as a whole, and do something else while they travel.

        Or do that before, if there is no room for them beside those of the step before.
        """
        kernel, maps = self._kernel, self._generic.indexing_maps
        copies = [copy for number, copy in self._copies.items() if self._depths[number] == depth]
        if any(blocks_of(self._storages[copy.stream.cb]) < 2 for copy in copies):
            meanwhile()
            self.load(depth, indices)
            return
        for copy in copies:
            cb, stream = kernel.buffers[copy.stream.cb], copy.stream
            kernel.call("cb_reserve_back", cb, stream.tiles)
            (address,) = kernel.call("get_write_ptr", cb)
            copy.copy_block(block_of(maps[stream.number], indices), address, store=False)
        meanwhile()
        kernel.call("noc_async_read_barrier")
        for copy in copies:
            kernel.call("cb_push_back", kernel.buffers[copy.stream.cb], copy.stream.tiles)

    def finish(self) -> None:
        """Wait, after the loops, for what was sent."""
        self.settle()
        if self._multicasts:
            finish_multicasts(self._kernel)


def _first_reads(generic: d2m.GenericOp) -> list[int]:
    """For each input, where the first loops that read it stand among all of the region."""
    block = generic.compute_region.block
    places = {op: place for place, op in enumerate(block.ops)}
    waits = [
        [use.operation for use in cb.uses if isinstance(use.operation, d2m.WaitOp)]
        for cb in block.args[: len(generic.inputs)]
    ]
    return [
        min(
            (places.get(use.operation, 0) for wait in each for use in wait.results[0].uses),
            default=0,
        )
        for each in waits
    ]


def _read_after_steps(generic: d2m.GenericOp) -> frozenset[int]:
    """The inputs that are read after the steps of a reduction, one block after the last of each.

    They are loaded when all else is, while the last steps are computed.
    """
    loops = looped_iterators(generic)
    parallel = [each for each in loops if generic.iterator_types[each] is IteratorType.PARALLEL]
    if len(parallel) == len(loops):
        return frozenset()
    reduces = [
        any(kind.data is not LinalgIteratorType.PARALLEL for kind in op.iterator_types.data)
        if isinstance(op, LinalgGenericOp)
        else False
        for op in generic.compute_region.block.ops
    ]
    last = max((place for place, each in enumerate(reduces) if each), default=0)
    return frozenset(
        number
        for number, first in enumerate(_first_reads(generic))
        if first > last and operand_depth(generic, number) == len(parallel)
    )


def build_reader(
    plan: KernelPlan, kernel: KernelBuilder, arguments: KernelArguments, chip: Chip
) -> None:
    """Load inputs at their depths, and store parts of outputs; LayoutError for what cannot move."""
    generic = plan.generic
    storers: list[tuple[int, BlockCopy, Storer]] = []
    for stream in plan.stored_by_reader.values():
        copy = BlockCopy(kernel, stream, tile_addresses(kernel, stream, arguments, chip))
        storers.append((operand_depth(generic, stream.number), copy, Storer(kernel, copy)))
    loops = BlockLoops(generic, kernel)
    loader = Loader(plan, kernel, arguments, chip, READER_NOC, loops)
    exchange = Exchange(plan, kernel, arguments, chip) if exchanges_of(generic) else None
    last = len(looped_iterators(generic))

    def after(depth: int, indices: Indices) -> None:
        loader.load_after(depth, indices)
        for at, copy, storer in storers:
            if at == depth:
                loader.settle()
                storer.store(block_of(generic.indexing_maps[copy.stream.number], indices))

    load = loader.load if exchange is None else _load_and_exchange(loader, exchange, last)
    deepest = max((loader.depth, *(depth for depth, _, _ in storers)))
    loops.run(load, after, deepest if exchange is None else last)
    if exchange is not None:
        exchange.finish_step()
    else:
        loader.finish()
    if storers:
        kernel.call("noc_async_write_barrier")


def _load_and_exchange(
    loader: Loader, exchange: Exchange, last: int
) -> Callable[[int, Indices], None]:
    """What to load at each depth, between what the cores of a group tell each other."""

    def load(depth: int, indices: Indices) -> None:
        if depth < last or not last:
            if depth:
                exchange.finish_step()
            loader.load(depth, indices)
        else:
            # The step before needs what others compute, so this one's inputs travel meanwhile.
            loader.load_during(depth, indices, exchange.finish_step)
        if depth == last:
            exchange.begin_step()

    return load


def _load_chunks(
    kernel: KernelBuilder,
    maps: Sequence[AffineMap],
    copies: Sequence[BlockCopy],
    indices: Indices,
) -> None:
    """Copy a block of each stream to its circular buffer, chunk by chunk."""
    places = [copy.start(block_of(maps[copy.stream.number], indices)) for copy in copies]
    strides = [stride for copy in copies for stride in copy.chunk_strides]
    first = [number for place in places for number in place.first]

    def load_chunks(numbers: Sequence[SSAValue]) -> None:
        left = list(numbers)
        for copy, place in zip(copies, places, strict=True):
            cb = kernel.buffers[copy.stream.cb]
            mine, left = left[: len(place.first)], left[len(place.first) :]
            kernel.call("cb_reserve_back", cb, copy.chunk_tiles)
            (address,) = kernel.call("get_write_ptr", cb)
            copy.copy_chunk(place, mine, address, store=False)
        kernel.call("noc_async_read_barrier")
        for copy in copies:
            kernel.call("cb_push_back", kernel.buffers[copy.stream.cb], copy.chunk_tiles)

    kernel.walk(copies[0].chunks, strides, first, load_chunks)


# --- Inputs ---------------------------------------------------------------------------------------
# How the tiles of an input are loaded: as they are in a buffer, or gathered.


def input_addresses(
    kernel: KernelBuilder,
    plan: KernelPlan,
    stream: Stream,
    arguments: KernelArguments,
    chip: Chip,
    parts: Parts = (),
) -> TileAddresses:
    """How to load the tiles of an input, or these parts; LayoutError if kernels cannot."""
    view = stream.buffer.owner
    if not isinstance(view, d2m.Gather):
        tiles = tile_addresses(kernel, stream, arguments, chip, parts)
        return RepeatedParts(tiles, parts) if parts else tiles
    if stream.bounce is None:
        raise LayoutError(
            f"operand #{stream.number} is gathered, and there is no memory to do it in; run "
            "ttcore-one-shot-bufferize before"
        )
    bounce = kernel.buffers[stream.bounce]
    below, alignment = _bytes_below(view.input, arguments.address(stream.number), chip)
    if isinstance(view, d2m.ViewElementsOp):
        return GatheredTiles(kernel, view, below, alignment, bounce)
    number = plan.operand_in(view.numbers)
    if number is None:
        raise LayoutError(
            f"the elements of operand #{stream.number} are named by numbers, which are no operand"
        )
    numbers, _ = _bytes_below(view.numbers, arguments.address(number), chip)
    return NumberedTiles(kernel, view, (below, numbers), alignment, bounce)


def _bytes_below(buffer: SSAValue, base: SSAValue, chip: Chip) -> tuple[BytesSomewhere, int]:
    """The bytes of a buffer, and the alignment of reads from it."""
    layout = device_layout_of(buffer.type)
    if layout is None or layout.index_map is not None:
        raise LayoutError("a view on elements is made of a buffer, not of another view")
    is_dram = layout.memory_space is MemorySpace.DEVICE_DRAM
    return (
        tile_bytes_of(layout, base, chip),
        chip.dram_alignment if is_dram else chip.l1_alignment,
    )


# --- Exchange of partial sums ---------------------------------------------------------------------
# What the cores of a group tell each other in each step (`d2m.all_gather`).
#
# Each core writes its part to the same place on all of them, itself among them, and raises a
# semaphore there. Circular buffers of parts hold two steps, and semaphores come in pairs: a core
# that has the parts of a step may send its part of the next one while others wait for the first. It
# cannot go two steps ahead, as for that it needs a part that the others send after their own.


_READY = 0
"""The semaphore that counts the cores of the group that have room; pairs follow."""


@dataclass(frozen=True)
class _Part:
    """Local memory that other cores get."""

    source: SSAValue
    """The circular buffer of this core's part."""
    target: SSAValue
    """That of all parts."""
    tiles: int
    """Of a part."""
    bytes: int
    semaphores: tuple[SSAValue, SSAValue]
    """Of even and odd steps."""


class Exchange:
    """The exchanges of a step, in order, one step after another."""

    def __init__(
        self, plan: KernelPlan, kernel: KernelBuilder, arguments: KernelArguments, chip: Chip
    ) -> None:
        """Let the other cores know that there is room; the kernel is in front of its loops."""
        self._kernel = kernel
        self._ready = arguments.semaphore(_READY)
        self._parts = [
            _part(plan, kernel, arguments, op, number)
            for number, op in enumerate(exchanges_of(plan.generic))
        ]
        x, y = (kernel.call(f"my_logical_{axis}_")[0] for axis in ("x", "y"))
        *outer, rows, count = plan.generic.grid_shape
        self._number = x
        is_counted = rows > chip.grid[0] or math.prod(outer) > 1
        width = chip.grid[1]
        columns: list[Number] = [*range(count)]
        lines = [y] * count
        if is_counted and width % count == 0:
            # Cores are counted row by row, and several groups are in a row of the chip.
            self._number = kernel.arithmetic(arith.RemUIOp, x, count)
            first = kernel.arithmetic(arith.SubiOp, x, self._number)
            columns = [kernel.add(first, number) for number in range(count)]
        elif is_counted:
            # Rows of the chip end within some groups.
            own = kernel.add(kernel.multiply(y, width), x)
            self._number = kernel.arithmetic(arith.RemUIOp, own, count)
            first = kernel.arithmetic(arith.SubiOp, own, self._number)
            cores = [kernel.add(first, number) for number in range(count)]
            columns = [kernel.arithmetic(arith.RemUIOp, core, width) for core in cores]
            lines = [kernel.arithmetic(arith.DivUIOp, core, width) for core in cores]
        # By the place on the chip, so that half of the cores may use the other network.
        there = [on_network(kernel, column, chip, "x") for column in columns]
        own_line = on_network(kernel, y, chip, "y")
        self._cores = [
            (column, own_line if line is y else on_network(kernel, line, chip, "y"))
            for column, line in zip(there, lines, strict=True)
        ]
        self._state = kernel.variables(2)
        """Whether a step waits for its exchanges, and whether it is an odd one."""
        for number in range(2):
            self._state.store(number, 0)
        for part in self._parts:
            self._reserve(part)
        self._signal(self._ready)

    def begin_step(self) -> None:
        """Note that a step has all of its inputs."""
        self._state.store(0, 1)

    def finish_step(self) -> None:
        """Run the exchanges of the step that waits for them, if one does."""
        kernel = self._kernel
        waits = kernel.compare("ne", self._state.load(0), 0)
        kernel.branch(waits, self._run)

    def _run(self) -> None:
        kernel, count = self._kernel, len(self._cores)
        kernel.call("noc_semaphore_wait_min", kernel.pointer(self._ready), count)
        odd = self._state.load(1)
        is_odd = kernel.compare("ne", odd, 0)
        for part in self._parts:
            self._send(part, is_odd)
        self._state.store(0, 0)
        self._state.store(1, kernel.arithmetic(arith.SubiOp, 1, odd))

    def _send(self, part: _Part, is_odd: SSAValue) -> None:
        kernel, count = self._kernel, len(self._cores)
        even, other = part.semaphores
        semaphore = kernel.choose(is_odd, other, even)
        kernel.call("cb_wait_front", part.source, part.tiles)
        self._reserve(part)
        (source,) = kernel.call("get_read_ptr", part.source)
        (target,) = kernel.call("get_write_ptr", part.target)
        place = kernel.value(kernel.add(kernel.multiply(self._number, part.bytes), target))
        for column, row in self._cores:
            (there,) = kernel.call("get_noc_addr", column, row, place)
            kernel.call("noc_async_write", source, there, part.bytes)
        kernel.call("noc_async_write_barrier")
        kernel.call("cb_pop_front", part.source, part.tiles)
        self._signal(semaphore)
        word = kernel.pointer(semaphore)
        kernel.call("noc_semaphore_wait", word, count)
        kernel.call("noc_semaphore_set", word, 0)
        kernel.call("cb_push_back", part.target, count * part.tiles)

    def _reserve(self, part: _Part) -> None:
        """Make room for this step and the next one."""
        tiles = 2 * len(self._cores) * part.tiles
        self._kernel.call("cb_reserve_back", part.target, tiles)

    def _signal(self, semaphore: SSAValue) -> None:
        """Raise a semaphore on all cores of the group."""
        kernel = self._kernel
        for column, row in self._cores:
            (there,) = kernel.call("get_noc_addr", column, row, semaphore)
            kernel.call("noc_semaphore_inc", there, 1)
        kernel.call("noc_async_atomic_barrier")


def _part(
    plan: KernelPlan,
    kernel: KernelBuilder,
    arguments: KernelArguments,
    op: d2m.AllGatherOp,
    number: int,
) -> _Part:
    buffers: Sequence[SSAValue] = kernel.buffers
    part, parts = op.operands
    type_ = cast("MemRefType[Attribute]", part.type)
    tiles = math.prod(type_.get_shape())
    first = _READY + 1 + 2 * number
    return _Part(
        buffers[plan.numbers[part]],
        buffers[plan.numbers[parts]],
        tiles,
        tiles * element_of(type_.element_type).stored_bytes,
        (arguments.semaphore(first), arguments.semaphore(first + 1)),
    )


# --- Writer ---------------------------------------------------------------------------------------
# The kernel that stores blocks of the outputs; what travels on its network it also loads.


def build_writer(
    plan: KernelPlan, kernel: KernelBuilder, arguments: KernelArguments, chip: Chip
) -> None:
    """Store each output at its depth; LayoutError for what cannot be moved."""
    generic = plan.generic
    copies = [
        BlockCopy(kernel, stream, tile_addresses(kernel, stream, arguments, chip))
        for stream in plan.outputs
    ]
    depths = [operand_depth(generic, stream.number) for stream in plan.outputs]
    loops = BlockLoops(generic, kernel)
    loader = Loader(plan, kernel, arguments, chip, WRITER_NOC, loops)
    storers = [
        LateStorer(kernel, copy, steps)
        if (steps := _steps(generic, depth, loader.depth)) > 1
        and LateStorer.is_possible(copy, plan.storages[copy.stream.cb])
        else Storer(kernel, copy)
        for copy, depth in zip(copies, depths, strict=True)
    ]

    def before(depth: int, indices: Indices) -> None:
        loader.load(depth, indices)
        if depth == loader.depth:
            for storer in storers:
                if isinstance(storer, LateStorer):
                    loader.settle()
                    storer.step()

    def after(depth: int, indices: Indices) -> None:
        loader.load_after(depth, indices)
        if depth in depths:
            loader.settle()
        for copy, storer, at in zip(copies, storers, depths, strict=True):
            if at == depth:
                storer.store(block_of(generic.indexing_maps[copy.stream.number], indices))

    loops.run(before, after, max(*depths, loader.depth))
    for storer in storers:
        storer.finish()
    loader.finish()
    kernel.call("noc_async_write_barrier")


def _steps(generic: d2m.GenericOp, stored: int, loaded: int) -> int:
    """How many times inputs are loaded for each block of an output, if there are several blocks."""
    factors = [generic.block_factors[iterator] for iterator in looped_iterators(generic)]
    return math.prod(factors[stored:loaded]) if stored and stored < loaded else 1


# --- Stores ---------------------------------------------------------------------------------------
# How blocks of an output get from their circular buffer to memory: at once, or step by step.
#
# A kernel that also multicasts an input would let all cores wait while it stores a block. So it
# puts that off: in each step of the next block, after the input of that step, it stores some
# chunks. The circular buffer has to hold two blocks then.


class Storer:
    """Stores blocks of an output when they are computed."""

    def __init__(self, kernel: KernelBuilder, copy: BlockCopy) -> None:
        """Nothing is stored yet."""
        self._kernel = kernel
        self._copy = copy

    def store(self, block: Sequence[Number]) -> None:
        """Store a block, or see to it that it is stored."""
        place = self._copy.start(block)
        self._kernel.walk(
            self._copy.chunks,
            self._copy.chunk_strides,
            place.first,
            lambda numbers: self._store_chunk(place, numbers),
        )

    def step(self) -> None:
        """Do something of what is left, in a step of the next block."""

    def finish(self) -> None:
        """Do all that is left."""

    def _store_chunk(self, place: BlockPlace, numbers: Sequence[SSAValue]) -> None:
        kernel, copy = self._kernel, self._copy
        cb = kernel.buffers[copy.stream.cb]
        kernel.call("cb_wait_front", cb, copy.chunk_tiles)
        (address,) = kernel.call("get_read_ptr", cb)
        copy.copy_chunk(place, numbers, address, store=True)
        # What has left L1 may be written over; that it has arrived matters at the end only.
        kernel.call("noc_async_writes_flushed")
        kernel.call("cb_pop_front", cb, copy.chunk_tiles)


class LateStorer(Storer):
    """Stores the chunks of a block in the steps of the next one."""

    def __init__(self, kernel: KernelBuilder, copy: BlockCopy, steps: int) -> None:
        """`steps` of each block ask for some chunks; the kernel is in front of its loops."""
        super().__init__(kernel, copy)
        self._chunks = math.prod(copy.chunks)
        self._share = -(-self._chunks // steps)
        # The next chunk, then where the block begins.
        self._state = kernel.variables(1 + copy.num_places)
        self._state.store(0, self._chunks)

    @staticmethod
    def is_possible(copy: BlockCopy, storage: SSAValue) -> bool:
        """True if two blocks have room, and a few numbers say where a chunk goes."""
        return blocks_of(storage) > 1 and not copy.is_divided

    def store(self, block: Sequence[Number]) -> None:
        """Keep in mind where the block goes; what is left of the one before is stored now."""
        self._store_chunks(self._chunks)
        for number, place in enumerate(self._copy.start(block).fixed, 1):
            self._state.store(number, place)
        self._state.store(0, 0)

    def step(self) -> None:
        """Store some chunks."""
        self._store_chunks(self._share)

    def finish(self) -> None:
        """Store all chunks that are left."""
        self._store_chunks(self._chunks)

    def _store_chunks(self, most: int) -> None:
        kernel, copy = self._kernel, self._copy
        left = kernel.arithmetic(arith.SubiOp, self._chunks, self._state.load(0))
        extent = left if most == self._chunks else kernel.arithmetic(arith.MinUIOp, left, most)

        def store_next(_: SSAValue) -> None:
            number = self._state.load(0)
            fixed = [self._state.load(1 + each) for each in range(copy.num_places)]
            place = copy.place_at(fixed)
            numbers: list[Number] = list(place.first)
            rest: Number = number
            for loop in reversed(range(len(copy.chunks))):
                index = rest
                if loop:
                    index = kernel.arithmetic(arith.RemUIOp, rest, copy.chunks[loop])
                    rest = kernel.arithmetic(arith.DivUIOp, rest, copy.chunks[loop])
                for each, strides in enumerate(copy.chunk_strides):
                    numbers[each] = kernel.add(kernel.multiply(index, strides[loop]), numbers[each])
            self._store_chunk(place, [kernel.value(each) for each in numbers])
            self._state.store(0, kernel.add(number, 1))

        kernel.count(extent, store_next)
