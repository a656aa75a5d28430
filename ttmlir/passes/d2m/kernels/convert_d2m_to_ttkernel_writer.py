"""The kernel that stores blocks of the outputs."""

from __future__ import annotations

from ttmlir.ir.kernel_builder import KernelBuilder
from ttmlir.layout.enums import NocIndex
from ttmlir.passes.d2m.kernels.convert_d2m_to_ttkernel_arguments import KernelArguments
from ttmlir.passes.d2m.kernels.convert_d2m_to_ttkernel_loops import (
    BlockLoops,
    Indices,
    operand_depth,
)
from ttmlir.passes.d2m.kernels.convert_d2m_to_ttkernel_movement import (
    BlockCopy,
    Chip,
    tile_addresses,
)
from ttmlir.passes.d2m.kernels.convert_d2m_to_ttkernel_plan import KernelPlan
from ttmlir.passes.d2m.kernels.convert_d2m_to_ttkernel_reader import block_of


def build_writer(
    plan: KernelPlan, kernel: KernelBuilder, arguments: KernelArguments, chip: Chip
) -> None:
    """Store each output at its depth; LayoutError for what cannot be moved."""
    generic = plan.generic
    copies = {
        stream.number: BlockCopy(
            kernel, stream, tile_addresses(kernel, stream, arguments, NocIndex.NOC1, chip)
        )
        for stream in plan.outputs
    }
    depths = {stream.number: operand_depth(generic, stream.number) for stream in plan.outputs}
    loops = BlockLoops(generic, kernel)

    def after(depth: int, indices: Indices) -> None:
        for stream in plan.outputs:
            if depths[stream.number] != depth:
                continue
            cb = kernel.buffers[stream.cb]
            kernel.call("cb_wait_front", cb, stream.tiles)
            (address,) = kernel.call("get_read_ptr", cb)
            block = block_of(generic.indexing_maps[stream.number], indices)
            copies[stream.number].write_copies(block, address, store=True)
            kernel.call("noc_async_write_barrier")
            kernel.call("cb_pop_front", cb, stream.tiles)

    loops.run(lambda depth, indices: None, after, max(depths.values(), default=0))
