"""Inputs that all cores of a row or column need: one core loads them and multicasts them.

In a product of matrices, the cores of a row of the chip need the same blocks of A, those of a
column the same blocks of B. The first core of the row or column reads a block; when all others have
room for it, it sends the block and then a flag, on the same way behind it. All cores go through the
same steps, so their circular buffers are at the same place.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import SSAValue

from ttmlir.dialects import d2m
from ttmlir.ir.kernel_builder import KernelBuilder, Number
from ttmlir.layout.enums import NocIndex
from ttmlir.layout.metal.iteration import iterator_positions
from ttmlir.passes.d2m.kernels.arguments import (
    READER_NOC,
    WRITER_NOC,
    KernelArguments,
)
from ttmlir.passes.d2m.kernels.chip import Chip
from ttmlir.passes.d2m.kernels.loops import block_counts
from ttmlir.passes.d2m.kernels.movement.block_copy import BlockCopy


@dataclass(frozen=True)
class Route:
    """Cores that need the same blocks of an input: all that differ in one coordinate."""

    axis: str
    """x: those of a row; y: those of a column."""
    cores: int
    noc: NocIndex
    semaphore: int
    """The first of two that the cores talk by."""


MAX_ROUTES = 8
"""A core has 16 semaphores (tt-metal, NUM_SEMAPHORES)."""


def multicast_routes(generic: d2m.GenericOp, chip_grid: tuple[int, int]) -> dict[int, Route]:
    """The inputs that are multicast, by their numbers.

    They change with a reduction, and do not depend on where a core is in its row, or column. The
    cores are a rectangle of the chip, and each has as many blocks as the others.
    """
    grid = generic.grid_shape
    *outer, rows, columns = (1, 1, *grid)
    if rows > chip_grid[0] or columns > chip_grid[1] or math.prod(outer) > 1:
        return {}
    positions = iterator_positions(generic.indexing_maps[len(generic.inputs)])
    counts = block_counts(generic)
    if any(
        counts[iterator] != generic.block_factors[iterator] * grid[position]
        for iterator, position in positions.items()
    ):
        return {}
    spread = {position: iterator for iterator, position in positions.items()}
    routes: dict[int, Route] = {}
    for number in range(len(generic.inputs)):
        used = iterator_positions(generic.indexing_maps[number])
        if not any(iterator in used for iterator in generic.reductions):
            continue
        # Rows travel on the network of the writer, columns on that of the reader.
        for axis, extent, position, noc in (
            ("x", columns, len(grid) - 1, WRITER_NOC),
            ("y", rows, len(grid) - 2, READER_NOC),
        ):
            is_shared = extent > 1 and spread.get(position) not in used
            if is_shared and len(routes) < MAX_ROUTES:
                routes[number] = Route(axis, extent, noc, 2 * len(routes))
                break
    return routes


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
        self._receivers = route.cores - 1
        self._reversed = route.noc is NocIndex.NOC1
        self._axis = route.axis
        self._across = "y" if route.axis == "x" else "x"
        # `ready` counts the receivers that have room; `valid` tells them that a block has arrived.
        self._ready, self._valid = (arguments.semaphore(route.semaphore + n) for n in range(2))
        self._ready_word, self._valid_word = (
            kernel.pointer(semaphore) for semaphore in (self._ready, self._valid)
        )
        (place,) = kernel.call(f"my_logical_{self._axis}_")
        (self._fixed,) = kernel.call(f"my_{self._across}", int(route.noc))
        places = chip.columns if self._axis == "x" else chip.rows
        self._sender, *others = places[: route.cores]
        self._ends = (others[0], others[-1])
        self._sends = kernel.compare("eq", place, 0)
        (self._sender_ready,) = kernel.call(
            "get_noc_addr", *self._coordinates(self._sender), self._ready
        )
        self._flags = self._rectangle(self._valid)
        kernel.call("noc_semaphore_set", self._valid_word, 1)

    def _coordinates(self, along: int) -> Sequence[SSAValue]:
        """x and y of a core of the row or column."""
        value = self._kernel.constant(along)
        return (value, self._fixed) if self._axis == "x" else (self._fixed, value)

    def _rectangle(self, address: SSAValue) -> SSAValue:
        """All receivers."""
        kernel = self._kernel
        # Network 1 goes up and left: a rectangle begins with its last corner.
        ends = self._ends[::-1] if self._reversed else self._ends
        corners = [value for end in ends for value in self._coordinates(end)]
        (found,) = kernel.call("get_noc_multicast_addr", *corners, address)
        return found

    def load(self, block: Sequence[Number]) -> None:
        """Load a block on the first core, and receive it on the others."""
        kernel, stream = self._kernel, self._copy.stream
        cb = kernel.buffers[stream.cb]
        kernel.call("cb_reserve_back", cb, stream.tiles)
        kernel.branch(self._sends, lambda: self._send(cb, block), self._receive)
        kernel.call("cb_push_back", cb, stream.tiles)

    def _send(self, cb: SSAValue, block: Sequence[Number]) -> None:
        kernel = self._kernel
        (address,) = kernel.call("get_write_ptr", cb)
        self._copy.copy_block(block, address, store=False)
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
        kernel.call("noc_async_writes_flushed")
        kernel.call("noc_semaphore_set_multicast", self._valid, self._flags, self._receivers)

    def _receive(self) -> None:
        kernel = self._kernel
        kernel.call("noc_semaphore_set", self._valid_word, 0)
        kernel.call("noc_semaphore_inc", self._sender_ready, 1)
        kernel.call("noc_semaphore_wait", self._valid_word, 1)


def finish_multicasts(kernel: KernelBuilder) -> None:
    """Wait, behind the loops, for what was sent and signalled."""
    kernel.call("noc_async_write_barrier")
    kernel.call("noc_async_atomic_barrier")
