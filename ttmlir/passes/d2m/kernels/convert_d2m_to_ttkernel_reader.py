"""The kernel that loads blocks of the inputs."""

from __future__ import annotations

from collections.abc import Sequence

from ttmlir.ir.kernel_builder import KernelBuilder, Number
from ttmlir.layout.affine import AffineMap, DimExpr
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
from ttmlir.passes.d2m.kernels.convert_d2m_to_ttkernel_plan import KernelPlan, Stream


def block_of(index_map: AffineMap, indices: Indices) -> list[Number]:
    """The block of an operand, from where the core is along the iterators."""
    return [
        indices[result.position] if isinstance(result, DimExpr) else 0
        for result in index_map.results
    ]


def build_reader(
    plan: KernelPlan, kernel: KernelBuilder, arguments: KernelArguments, chip: Chip
) -> None:
    """Load each input at its depth; LayoutError for what cannot be moved."""
    generic = plan.generic
    copies = {
        stream.number: BlockCopy(
            kernel, stream, tile_addresses(kernel, stream, arguments, NocIndex.NOC0, chip)
        )
        for stream in plan.inputs
    }
    depths = {stream.number: operand_depth(generic, stream.number) for stream in plan.inputs}
    loops = BlockLoops(generic, kernel)

    def before(depth: int, indices: Indices) -> None:
        loaded = [stream for stream in plan.inputs if depths[stream.number] == depth]
        if loaded:
            _load(kernel, plan, loaded, copies, indices)

    loops.run(before, lambda depth, indices: None, max(depths.values(), default=0))


def _load(
    kernel: KernelBuilder,
    plan: KernelPlan,
    streams: Sequence[Stream],
    copies: dict[int, BlockCopy],
    indices: Indices,
) -> None:
    """Copy a block of each stream; the copies overlap."""
    maps = plan.generic.indexing_maps
    for stream in streams:
        cb = kernel.buffers[stream.cb]
        kernel.call("cb_reserve_back", cb, stream.tiles)
        (address,) = kernel.call("get_write_ptr", cb)
        block = block_of(maps[stream.number], indices)
        copies[stream.number].write_copies(block, address, store=False)
    kernel.call("noc_async_read_barrier")
    for stream in streams:
        kernel.call("cb_push_back", kernel.buffers[stream.cb], stream.tiles)
