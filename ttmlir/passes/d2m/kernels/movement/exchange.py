"""What the cores of a row tell each other in each step (`d2m.all_gather`).

Each core writes its part to the same place on all of them, itself among them, and raises a
semaphore there. Circular buffers of parts hold two steps, and semaphores come in pairs: a core that
has the parts of a step may send its part of the next one while others wait for the first. It cannot
go two steps ahead, as for that it needs a part that the others send behind their own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute, SSAValue

from ttmlir.dialects import d2m
from ttmlir.dialects.tt.layout import element_of
from ttmlir.ir.kernel_builder import KernelBuilder
from ttmlir.passes.d2m.kernels.arguments import KernelArguments
from ttmlir.passes.d2m.kernels.chip import Chip, on_network
from ttmlir.passes.d2m.kernels.plan import KernelPlan
from ttmlir.passes.d2m.schedule.row_split import exchanges_of

_READY = 0
"""The semaphore that counts the cores of the row that have room; pairs follow."""


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
        self._number, first = x, 0
        if rows > chip.grid[0] or math.prod(outer) > 1:
            # Cores are counted row by row, and several groups are in a row of the chip.
            self._number = kernel.arithmetic(arith.RemUIOp, x, count)
            first = kernel.arithmetic(arith.SubiOp, x, self._number)
        self._columns = [
            on_network(kernel, kernel.add(first, number), chip.columns) for number in range(count)
        ]
        # By the place on the chip, so that half of the cores may use the other network.
        self._y = on_network(kernel, y, chip.rows)
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
        kernel, count = self._kernel, len(self._columns)
        kernel.call("noc_semaphore_wait_min", kernel.pointer(self._ready), count)
        odd = self._state.load(1)
        is_odd = kernel.compare("ne", odd, 0)
        for part in self._parts:
            self._send(part, is_odd)
        self._state.store(0, 0)
        self._state.store(1, kernel.arithmetic(arith.SubiOp, 1, odd))

    def _send(self, part: _Part, is_odd: SSAValue) -> None:
        kernel, count = self._kernel, len(self._columns)
        even, other = part.semaphores
        semaphore = kernel.choose(is_odd, other, even)
        kernel.call("cb_wait_front", part.source, part.tiles)
        self._reserve(part)
        (source,) = kernel.call("get_read_ptr", part.source)
        (target,) = kernel.call("get_write_ptr", part.target)
        place = kernel.value(kernel.add(kernel.multiply(self._number, part.bytes), target))
        for column in self._columns:
            (there,) = kernel.call("get_noc_addr", column, self._y, place)
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
        tiles = 2 * len(self._columns) * part.tiles
        self._kernel.call("cb_reserve_back", part.target, tiles)

    def _signal(self, semaphore: SSAValue) -> None:
        """Raise a semaphore on all cores of the row."""
        kernel = self._kernel
        for column in self._columns:
            (there,) = kernel.call("get_noc_addr", column, self._y, semaphore)
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
