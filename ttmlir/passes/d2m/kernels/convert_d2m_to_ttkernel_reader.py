"""The kernel that loads blocks of the inputs."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

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
from ttmlir.passes.d2m.kernels.convert_d2m_to_ttkernel_plan import KernelPlan


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
    copies = [
        BlockCopy(kernel, stream, tile_addresses(kernel, stream, arguments, NocIndex.NOC0, chip))
        for stream in plan.inputs
    ]
    depths = [operand_depth(generic, stream.number) for stream in plan.inputs]
    loops = BlockLoops(generic, kernel)

    def before(depth: int, indices: Indices) -> None:
        loaded = [copy for copy, at in zip(copies, depths, strict=True) if at == depth]
        # Blocks of as many chunks are loaded side by side, those of few chunks first.
        alike = sorted({tuple(copy.chunks) for copy in loaded}, key=lambda each: (len(each), each))
        for chunks in alike:
            together = [copy for copy in loaded if tuple(copy.chunks) == chunks]
            load(kernel, generic.indexing_maps, together, indices)

    loops.run(before, lambda depth, indices: None, max(depths, default=0))


def load(
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
