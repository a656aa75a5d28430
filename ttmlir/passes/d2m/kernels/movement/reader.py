"""The kernel that loads blocks of the inputs, and what both kernels load with."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects.linalg.attrs import IteratorType as LinalgIteratorType
from xdsl.dialects.linalg.ops import GenericOp as LinalgGenericOp
from xdsl.ir import SSAValue

from ttmlir.dialects import d2m
from ttmlir.dialects.ttcore import device_layout_of
from ttmlir.ir.kernel_builder import KernelBuilder, Number
from ttmlir.layout.affine import AffineMap, DimExpr
from ttmlir.layout.enums import IteratorType, NocIndex
from ttmlir.passes.d2m.kernels.arguments import READER_NOC, KernelArguments
from ttmlir.passes.d2m.kernels.chip import Chip
from ttmlir.passes.d2m.kernels.loops import (
    BlockLoops,
    Indices,
    looped_iterators,
    operand_depth,
)
from ttmlir.passes.d2m.kernels.movement.block_copy import (
    BlockCopy,
    tile_addresses,
)
from ttmlir.passes.d2m.kernels.movement.exchange import Exchange
from ttmlir.passes.d2m.kernels.movement.inputs import input_addresses
from ttmlir.passes.d2m.kernels.movement.multicast import (
    Multicast,
    finish_multicasts,
    multicast_routes,
)
from ttmlir.passes.d2m.kernels.movement.store import Storer
from ttmlir.passes.d2m.kernels.plan import KernelPlan
from ttmlir.passes.d2m.repeated_parts import repeated_parts
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
    ) -> None:
        """LayoutError for what cannot be moved."""
        routes = multicast_routes(plan.generic, chip.grid)
        self._kernel = kernel
        self._generic = plan.generic
        self._storages = plan.storages
        self._copies: list[BlockCopy] = []
        self._multicasts: dict[int, Multicast] = {}
        for stream in plan.inputs:
            route = routes.get(stream.number)
            if (READER_NOC if route is None else route.noc) is noc:
                # What is multicast is copied from circular buffers, as a whole.
                parts = repeated_parts(plan.generic, stream.number) if route is None else ()
                tiles = input_addresses(kernel, plan, stream, arguments, chip, parts)
                copy = BlockCopy(kernel, stream, tiles)
                self._copies.append(copy)
                if route is not None:
                    multicast = Multicast(kernel, copy, arguments, route, chip)
                    self._multicasts[stream.number] = multicast
        self._first_reads = _first_reads(plan.generic)
        self._last = _read_behind_steps(plan.generic)
        self._depths = [operand_depth(plan.generic, each.stream.number) for each in self._copies]

    @property
    def depth(self) -> int:
        """The depth of the deepest input."""
        return max(self._depths, default=0)

    def load(self, depth: int, indices: Indices) -> None:
        """Load the inputs of a depth, in front of what is inside."""
        self._load(depth, indices, behind=False)

    def load_behind(self, depth: int, indices: Indices) -> None:
        """Load those inputs of a depth that are read behind what is inside."""
        self._load(depth, indices, behind=True)

    def _load(self, depth: int, indices: Indices, *, behind: bool) -> None:
        maps = self._generic.indexing_maps
        copies = [
            copy
            for copy, at in zip(self._copies, self._depths, strict=True)
            if at == depth and (copy.stream.number in self._last) is behind
        ]
        shared = [copy.stream.number for copy in copies if copy.stream.number in self._multicasts]
        # What is needed as soon as what is multicast does not wait for that.
        begin = min((self._first_reads[number] for number in shared), default=-1)
        first: list[BlockCopy] = []
        others: list[BlockCopy] = []
        for copy in copies:
            if copy.stream.number not in shared:
                is_first = not behind and self._first_reads[copy.stream.number] <= begin
                (first if is_first else others).append(copy)
        self._load_single(first, indices)
        for number in shared:
            self._multicasts[number].load(block_of(maps[number], indices), self.settle)
        self._load_single(others, indices)

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
        copies = [copy for copy, at in zip(self._copies, self._depths, strict=True) if at == depth]
        if not all(_holds_two_blocks(self._storages[copy.stream.cb]) for copy in copies):
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
        """Wait, behind the loops, for what was sent."""
        self.settle()
        if self._multicasts:
            finish_multicasts(self._kernel)


def _holds_two_blocks(storage: SSAValue) -> bool:
    layout = device_layout_of(storage.type)
    return layout is not None and layout.buffers > 1


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


def _read_behind_steps(generic: d2m.GenericOp) -> frozenset[int]:
    """The inputs that are read behind the steps of a reduction, one block behind the last of each.

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
    loader = Loader(plan, kernel, arguments, chip, READER_NOC)
    exchange = Exchange(plan, kernel, arguments, chip) if exchanges_of(generic) else None
    last = len(looped_iterators(generic))

    def after(depth: int, indices: Indices) -> None:
        loader.load_behind(depth, indices)
        for at, copy, storer in storers:
            if at == depth:
                loader.settle()
                storer.store(block_of(generic.indexing_maps[copy.stream.number], indices))

    load = loader.load if exchange is None else _load_and_exchange(loader, exchange, last)
    deepest = max((loader.depth, *(depth for depth, _, _ in storers)))
    BlockLoops(generic, kernel).run(load, after, deepest if exchange is None else last)
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
