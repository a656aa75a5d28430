"""The kernel that stores blocks of the outputs; what travels on its network it also loads."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from ttmlir.ir.kernel_builder import KernelBuilder, Number
from ttmlir.passes.d2m.kernels.convert_d2m_to_ttkernel_arguments import WRITER_NOC, KernelArguments
from ttmlir.passes.d2m.kernels.convert_d2m_to_ttkernel_chip import Chip
from ttmlir.passes.d2m.kernels.convert_d2m_to_ttkernel_loops import (
    BlockLoops,
    Indices,
    operand_depth,
)
from ttmlir.passes.d2m.kernels.convert_d2m_to_ttkernel_movement import (
    BlockCopy,
    tile_addresses,
)
from ttmlir.passes.d2m.kernels.convert_d2m_to_ttkernel_plan import KernelPlan
from ttmlir.passes.d2m.kernels.convert_d2m_to_ttkernel_reader import Loader, block_of


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
    loader = Loader(plan, kernel, arguments, chip, WRITER_NOC)
    loops = BlockLoops(generic, kernel)

    def after(depth: int, indices: Indices) -> None:
        for copy, at in zip(copies, depths, strict=True):
            if at == depth:
                block = block_of(generic.indexing_maps[copy.stream.number], indices)
                _store(kernel, copy, block)

    loops.run(loader.load, after, max(*depths, loader.depth))
    loader.finish()
    kernel.call("noc_async_write_barrier")


def _store(kernel: KernelBuilder, copy: BlockCopy, block: Sequence[Number]) -> None:
    """Copy a block from its circular buffer, chunk by chunk."""
    cb = kernel.buffers[copy.stream.cb]
    place = copy.start(block)

    def store_chunk(numbers: Sequence[SSAValue]) -> None:
        kernel.call("cb_wait_front", cb, copy.chunk_tiles)
        (address,) = kernel.call("get_read_ptr", cb)
        copy.copy_chunk(place, numbers, address, store=True)
        # What has left L1 may be written over; that it has arrived matters at the end only.
        kernel.call("noc_async_writes_flushed")
        kernel.call("cb_pop_front", cb, copy.chunk_tiles)

    kernel.walk(copy.chunks, copy.chunk_strides, place.first, store_chunk)
