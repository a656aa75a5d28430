"""Layout changes that move data: between host and device, and over the network on chip."""

from __future__ import annotations

from ttmlir.dialects import ttir, ttmetal
from ttmlir.dialects.ttkernel import NocConfigAttr
from ttmlir.layout.chip import ChipDesc
from ttmlir.layout.data_movement import Copy, PlacedTensor, plan_copies
from ttmlir.layout.device import Device
from ttmlir.layout.enums import MemorySpace, NocIndex
from ttmlir.layout.tensor_layout import TensorLayout
from ttmlir.passes.kernel_building import Kernel, Launch, replace_by_dispatch
from ttmlir.passes.layouts import value_shape
from ttmlir.passes.rewriting import insert_before, refuse, replace


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
    move = command.dps(op.inputs, op.inits, location=op.location)
    insert_before(op, move)
    replace(op, *move.results)


def move_on_chip(
    op: ttir.ToLayoutOp, source: PlacedTensor, target: PlacedTensor, device: Device, chip: ChipDesc
) -> None:
    """Replace a move between memories of a chip by one kernel for each core that copies.

    LayoutError if the network cannot make the copies.
    """
    launches: list[Launch] = []
    reads = target.layout.memory_space is MemorySpace.DEVICE_L1
    for part in plan_copies(value_shape(op.operands[0]), source, target, device, chip):
        kernel = Kernel(op.location)
        for copy in part.copies:
            _copy(kernel, copy, reads=reads)
        kernel.call("noc_async_read_barrier" if reads else "noc_async_write_barrier")
        area = ttmetal.Area(part.core, (1, 1))
        launches.append(Launch(kernel, area, NocConfigAttr(NocIndex.NOC0)))
    replace_by_dispatch(op, op.inputs, op.inits, launches)


def _copy(kernel: Kernel, copy: Copy, *, reads: bool) -> None:
    numbers = (*copy.remote, copy.source, copy.target, copy.size)
    y, x, source, target, size = map(kernel.constant, numbers)
    if reads:
        (address,) = kernel.call("get_noc_addr", x, y, source)
        kernel.call("noc_async_read", address, target, size)
    else:
        (address,) = kernel.call("get_noc_addr", x, y, target)
        kernel.call("noc_async_write", source, address, size)
