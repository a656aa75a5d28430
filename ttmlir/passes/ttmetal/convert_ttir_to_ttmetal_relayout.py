"""Layout changes that move data: between host and device, and over the network on chip."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from dataclasses import replace as changed

from xdsl.ir import SSAValue

from ttmlir.dialects import tt, ttir, ttmetal
from ttmlir.dialects.definition.names import SCRATCH
from ttmlir.dialects.ttkernel import NocConfigAttr
from ttmlir.ir.builder import Builder
from ttmlir.ir.kernel_builder import KernelBuilder
from ttmlir.ir.rewriting import refuse, replace
from ttmlir.ir.tensor_types import value_shape
from ttmlir.layout.data_movement import (
    Copy,
    PlacedTensor,
    batches,
    network_unit,
    plan_copies,
)
from ttmlir.layout.device import DeviceView
from ttmlir.layout.enums import MemorySpace, NocIndex
from ttmlir.layout.errors import LayoutError
from ttmlir.layout.system.chip import ChipDesc
from ttmlir.layout.tensor_layout import TensorLayout
from ttmlir.passes.ttmetal.dispatch_builder import Launch, replace_by_dispatch

_WORD = 4
"""Bytes that a processor moves at once."""


def move_to_or_from_host(op: ttir.ToLayoutOp, source: TensorLayout, target: TensorLayout) -> None:
    """Replace a move between host and device by a host command."""
    if source.with_memory_space(target.memory_space) != target:
        refuse(
            op,
            "moves between host and device and changes the layout as well; do one after the other, "
            "as ttir-split-compound-layout does",
        )
    if source.memory_space.is_system and target.memory_space.is_system:
        refuse(op, "moves from host to host; use the tensor where it is")
    command = ttmetal.HostWriteOp if source.memory_space.is_system else ttmetal.HostReadOp
    types = [init.type for init in op.inits]
    move = Builder.before(op).create_op(command, op.inputs, types, inits=op.inits)
    replace(op, *move.results)


def move_on_chip(
    op: ttir.ToLayoutOp,
    source: PlacedTensor,
    target: PlacedTensor,
    device: DeviceView,
    chip: ChipDesc,
) -> None:
    """Replace a move between memories of a chip by one kernel for each core that copies.

    Runs of bytes that the network cannot copy pass through the operation's scratch memory.

    LayoutError if there is no such memory or if no kernel makes the move.
    """
    launches: list[Launch] = []
    reads = target.layout.memory_space is MemorySpace.DEVICE_L1
    unit = network_unit(source.layout, target.layout, chip)
    for part in plan_copies(value_shape(op.operands[0]), source, target, device, chip):
        kernel = KernelBuilder(op.location)
        mover = _Mover(kernel, unit, source.layout.element.size_bytes, reads=reads)
        direct = [copy for copy in part.copies if copy.keeps_offset(unit)]
        others = [copy for copy in part.copies if not copy.keeps_offset(unit)]
        for copy in direct:
            mover.copy(copy)
        if direct:
            mover.wait()
        if others:
            mover.copy_through(_scratch(op, others[0], unit), others)
        area = ttmetal.Area(part.core, (1, 1))
        launches.append(Launch(kernel, area, NocConfigAttr(NocIndex.NOC0)))
    replace_by_dispatch(op, op.inputs, op.inits, launches)


def _scratch(op: ttir.ToLayoutOp, copy: Copy, unit: int) -> tt.ArgumentAllocationAttr:
    scratch = op.attributes.get(SCRATCH)
    if isinstance(scratch, tt.ArgumentAllocationAttr):
        return scratch
    raise LayoutError(
        f"the network copies between addresses that are equal modulo {unit}, got {copy.source} and "
        f"{copy.target}, and has no scratch memory to bring them together; run ttir-allocate, "
        f"which notes it as {SCRATCH}"
    )


@dataclass(frozen=True)
class _Mover:
    """Writes the calls that copy, in one direction, elements of so many bytes."""

    kernel: KernelBuilder
    unit: int
    element_bytes: int
    _: KW_ONLY
    reads: bool

    def copy(self, copy: Copy) -> None:
        """Let the network copy."""
        numbers = (*copy.remote, copy.source, copy.target, copy.size)
        y, x, source, target, size = map(self.kernel.constant, numbers)
        if self.reads:
            (address,) = self.kernel.call("get_noc_addr", x, y, source)
            self.kernel.call("noc_async_read", address, target, size)
        else:
            (address,) = self.kernel.call("get_noc_addr", x, y, target)
            self.kernel.call("noc_async_write", source, address, size)

    def wait(self) -> None:
        """Let the copies arrive."""
        self.kernel.call("noc_async_read_barrier" if self.reads else "noc_async_write_barrier")

    def copy_through(self, scratch: tt.ArgumentAllocationAttr, copies: Sequence[Copy]) -> None:
        """Copy by way of scratch memory, as much as it holds at a time.

        What lies there has the offset of the remote end; the processor moves it on its own core.
        """
        for batch in batches(copies, self.unit, scratch.size):
            moves: list[Copy] = []
            for copy, place in batch:
                remote = copy.source if self.reads else copy.target
                between = scratch.address + place + remote % self.unit
                first, second = changed(copy, target=between), changed(copy, source=between)
                if self.reads:
                    self.copy(first)
                    moves.append(second)
                else:
                    self._move(first)
                    self.copy(second)
            self.wait()
            for move in moves:
                self._move(move)

    def _move(self, copy: Copy) -> None:
        """Let the processor copy, by whole words where both ends are such."""
        is_words = not any(number % _WORD for number in (copy.source, copy.target, copy.size))
        size = _WORD if is_words else self.element_bytes
        source, target = (
            self.kernel.pointer(address, 8 * size) for address in (copy.source, copy.target)
        )

        def move(places: Sequence[SSAValue]) -> None:
            (value,) = self.kernel.call("load_from_l1", source, places[0])
            self.kernel.call("store_to_l1", value, target, places[0])

        self.kernel.walk([copy.size // size], [[1]], [self.kernel.constant(0)], move)
