"""Inputs that all cores of a row or column need: one core loads them and multicasts them.

In a product of matrices, the cores of a row of the chip need the same blocks of A, those of a
column the same blocks of B. The first core of the row or column reads a block; when all others have
room for it, it sends the block and then a flag, on the same way after it. All cores go through the
same steps, so their circular buffers are at the same place.

While a block is on its way, the processor can read the next one, but the flag would let it wait for
the end of the block. So a kernel puts the flag off until it has asked for the next block that it
multicasts, if there is room for that, or until it does something else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from xdsl.dialects import arith
from xdsl.ir import SSAValue

from ttmlir.dialects import d2m
from ttmlir.dialects.ttcore import device_layout_of
from ttmlir.ir.kernel_builder import KernelBuilder, Number
from ttmlir.layout.enums import MemorySpace, NocIndex
from ttmlir.layout.metal import iterator_positions, shared_cores
from ttmlir.passes.d2m.kernels.block_copy import BlockCopy
from ttmlir.passes.d2m.kernels.kernel_plan import (
    READER_NOC,
    WRITER_NOC,
    Chip,
    KernelArguments,
    block_counts,
    on_network,
)
from ttmlir.program import SEMAPHORES

Coordinates = tuple[SSAValue, SSAValue]
"""x and y of a core on the networks."""


@dataclass(frozen=True)
class Route:
    """Cores that need the same blocks of an input."""

    axis: str
    """x: those of a row; y: those of a column; rows: those of several whole rows of the chip."""
    cores: int
    semaphore: int
    """The first of two that the cores talk by."""
    is_crossed: bool = False
    """True if rows and columns share blocks that are in DRAM."""

    @property
    def noc(self) -> NocIndex:
        """On which blocks are multicast."""
        # Rows travel on the network of the writer, all else on that of the reader.
        return WRITER_NOC if self.axis == "x" else READER_NOC


MAX_ROUTES = SEMAPHORES // 2


def multicast_routes(generic: d2m.GenericOp, chip_grid: tuple[int, int]) -> dict[int, Route]:
    """The inputs that are multicast, by their numbers.

    They change with a reduction, or take part in products, and do not depend on where a core is in
    its row or column, or in rows of the chip. Each core has as many blocks as the others.
    """
    grid = generic.grid_shape
    positions = iterator_positions(generic.indexing_maps[len(generic.inputs)])
    counts = block_counts(generic)
    if any(
        counts[iterator] != generic.block_factors[iterator] * grid[position]
        for iterator, position in positions.items()
    ):
        return {}
    spread = {position: iterator for iterator, position in positions.items()}
    is_product = any(isinstance(op, d2m.TileMatmulOp) for op in generic.compute_region.walk())
    routes: dict[int, Route] = {}
    for number, value in enumerate(generic.inputs):
        used = iterator_positions(generic.indexing_maps[number])
        gathers = isinstance(d2m.buffer_of_view(value)[0].owner, d2m.ViewElementsOp)
        is_reduced = any(iterator in used for iterator in generic.reductions)
        if not is_reduced and (gathers or not is_product):
            continue
        follows = [spread.get(position) in used for position in range(len(grid))]
        shared = shared_cores(grid, follows, chip_grid)
        if shared is not None and len(routes) < MAX_ROUTES:
            routes[number] = Route(*shared, 2 * len(routes))
    in_dram = {each.axis for number, each in routes.items() if _is_in_dram(generic, number)}
    if in_dram >= {"x", "y"}:
        return {number: replace(each, is_crossed=True) for number, each in routes.items()}
    return routes


def _is_in_dram(generic: d2m.GenericOp, number: int) -> bool:
    layout = device_layout_of(d2m.buffer_of_view(generic.inputs[number])[0].type)
    return layout is not None and layout.memory_space is MemorySpace.DEVICE_DRAM


class Multicast:
    """How a block of an input gets to all cores of a row or column."""

    def __init__(
        self,
        kernel: KernelBuilder,
        copy: BlockCopy,
        arguments: KernelArguments,
        route: Route,
        chip: Chip,
    ) -> None:
        """Find the cores; the kernel is still in front of its loops."""
        self._kernel = kernel
        self._copy = copy
        self._cb = kernel.buffers[copy.stream.cb]
        self._receivers = route.cores - 1
        self._reversed = route.noc is NocIndex.NOC1
        # `ready` counts the receivers that have room; `valid` tells them that a block has arrived.
        self._ready, self._valid = (arguments.semaphore(route.semaphore + n) for n in range(2))
        self._ready_word, self._valid_word = (
            kernel.pointer(semaphore) for semaphore in (self._ready, self._valid)
        )
        if route.axis == "rows":
            self._find_rows(route, chip)
        else:
            self._find_line(route, chip)
        (self._sender_ready,) = kernel.call("get_noc_addr", *self._sender, self._ready)
        self._flags = self._rectangle(self._valid)
        kernel.call("noc_semaphore_set", self._valid_word, 1)
        self._unsignalled = kernel.variables(1)
        """1 if a block is on its way whose flag was put off."""
        self._unsignalled.store(0, 0)

    def _find_line(self, route: Route, chip: Chip) -> None:
        """The cores of a row or column.

        The first one sends: it is near to what is in L1, and its way down a column crosses none
        from DRAM. Where rows and columns share blocks in DRAM, no core sends both, which would
        keep its unpackers waiting: of a row, the one on the diagonal sends, and the second one of
        the first column.
        """
        kernel = self._kernel
        axis: Literal["x", "y"] = "x" if route.axis == "x" else "y"
        across: Literal["x", "y"] = "y" if axis == "x" else "x"
        (place,) = kernel.call(f"my_logical_{axis}_")
        (line,) = kernel.call(f"my_logical_{across}_")
        fixed = on_network(kernel, line, chip, across)

        def coordinates(along: Number) -> Coordinates:
            value = on_network(kernel, along, chip, axis)
            return (value, fixed) if axis == "x" else (fixed, value)

        if not route.is_crossed:
            sender = kernel.constant(0)
        elif axis == "x":
            sender = kernel.arithmetic(arith.RemUIOp, line, route.cores)
        else:
            sender = kernel.choose(kernel.compare("eq", line, 0), 1, 0)
        self._sends = kernel.compare("eq", place, sender)
        # Whoever sends is among the others, but gets nothing.
        self._sender = coordinates(sender)
        self._ends = (coordinates(0), coordinates(route.cores - 1))

    def _find_rows(self, route: Route, chip: Chip) -> None:
        """The cores of as many rows of the chip as it takes.

        One of the first row sends, each time in another column: what is read for those of one
        column goes through the same links.
        """
        kernel = self._kernel
        height = route.cores // len(chip.columns)
        (x,), (y,) = (kernel.call(f"my_logical_{axis}_") for axis in ("x", "y"))
        inside = kernel.arithmetic(arith.RemUIOp, y, height)
        first = kernel.arithmetic(arith.SubiOp, y, inside)
        columns = len(chip.columns)
        column = kernel.arithmetic(arith.RemUIOp, first, columns)
        is_first = kernel.compare("eq", inside, 0)
        self._sends = kernel.compare("eq", kernel.choose(is_first, x, columns), column)
        top = on_network(kernel, first, chip, "y")
        bottom = on_network(kernel, kernel.add(first, height - 1), chip, "y")
        left, right = (on_network(kernel, end, chip, "x") for end in (0, columns - 1))
        # Whoever sends is in the rectangle, but gets nothing.
        self._sender = (on_network(kernel, column, chip, "x"), top)
        self._ends = ((left, top), (right, bottom))

    def _rectangle(self, address: SSAValue) -> SSAValue:
        """All receivers."""
        # Network 1 goes up and left: a rectangle begins with its last corner.
        ends = self._ends[::-1] if self._reversed else self._ends
        corners = [value for end in ends for value in end]
        (found,) = self._kernel.call("get_noc_multicast_addr", *corners, address)
        return found

    def load(self, block: Sequence[Number], settle: Callable[[], None]) -> None:
        """Load a block on one core, and receive it on the others.

        `settle` signals what the kernel has multicast before.
        """
        self._kernel.branch(self._sends, lambda: self._send(block, settle), self._receive)
        self._kernel.call("cb_push_back", self._cb, self._copy.stream.tiles)

    def settle(self) -> None:
        """Signal what is on its way."""
        is_left = self._kernel.compare("ne", self._unsignalled.load(0), 0)
        self._kernel.branch(is_left, self._signal)

    def _send(self, block: Sequence[Number], settle: Callable[[], None]) -> None:
        kernel, tiles = self._kernel, self._copy.stream.tiles
        # Whoever waits for room must not let others wait for a flag.
        (room,) = kernel.call("cb_pages_reservable_at_back", self._cb, tiles)
        kernel.branch(room, lambda: None, settle)
        kernel.call("cb_reserve_back", self._cb, tiles)
        (address,) = kernel.call("get_write_ptr", self._cb)
        self._copy.copy_block(block, address, store=False)
        settle()
        kernel.call("noc_async_read_barrier")
        kernel.call("noc_semaphore_wait", self._ready_word, self._receivers)
        kernel.call("noc_semaphore_set", self._ready_word, 0)
        # All cores have the same buffers, so the block goes to the same address.
        target = self._rectangle(address)
        size = self._copy.block_bytes
        # Linked: the way stays reserved for the flag.
        kernel.call(
            "noc_async_write_multicast", address, target, size, self._receivers, linked=True
        )
        self._unsignalled.store(0, 1)

    def _signal(self) -> None:
        """Tell the receivers that a block has arrived."""
        kernel = self._kernel
        kernel.call("noc_async_writes_flushed")
        kernel.call("noc_semaphore_set_multicast", self._valid, self._flags, self._receivers)
        self._unsignalled.store(0, 0)

    def _receive(self) -> None:
        kernel = self._kernel
        kernel.call("cb_reserve_back", self._cb, self._copy.stream.tiles)
        kernel.call("noc_semaphore_set", self._valid_word, 0)
        kernel.call("noc_semaphore_inc", self._sender_ready, 1)
        kernel.call("noc_semaphore_wait", self._valid_word, 1)


def finish_multicasts(kernel: KernelBuilder) -> None:
    """Wait, after the loops, for what was sent and signalled."""
    kernel.call("noc_async_write_barrier")
    kernel.call("noc_async_atomic_barrier")
