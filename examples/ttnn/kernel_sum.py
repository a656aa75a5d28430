"""A sum of two tensors by kernels of one's own, as a ttnn operation would be written."""

from __future__ import annotations

from pathlib import Path

import ttnn

KERNELS = Path(__file__).resolve().parents[1] / "metalium" / "kernels"


def add_by_kernels(x: ttnn.Tensor, y: ttnn.Tensor) -> tuple[ttnn.Tensor, int]:
    """The sum of two tensors in tiles in DRAM, and the cycles that one core takes for it."""
    device = x.device()
    result = ttnn.allocate_tensor_on_device(x.shape, x.dtype, ttnn.TILE_LAYOUT, device)
    core = ttnn.CoreRangeSet([ttnn.CoreRange((0, 0), (0, 0))])
    tiles, page = x.volume() // 1024, x.tile.get_tile_size(x.dtype)

    def kernel(name: str, arguments: list[int], config: object) -> ttnn.KernelDescriptor:
        return ttnn.KernelDescriptor(
            kernel_source=str(KERNELS / name),
            core_ranges=core,
            runtime_args=[(ttnn.CoreCoord(0, 0), arguments)],
            config=config,
        )

    def pages(index: int) -> ttnn.CBDescriptor:
        form = ttnn.CBFormatDescriptor(buffer_index=index, data_format=x.dtype, page_size=page)
        return ttnn.CBDescriptor(total_size=2 * page, core_ranges=core, format_descriptors=[form])

    program = ttnn.ProgramDescriptor(
        kernels=[
            kernel(
                "read_two_tensors.cpp",
                [x.buffer_address(), y.buffer_address(), tiles],
                ttnn.ReaderConfigDescriptor(),
            ),
            kernel("add_tiles.cpp", [tiles], ttnn.ComputeConfigDescriptor()),
            kernel(
                "write_tiles.cpp",
                [result.buffer_address(), 0, tiles],
                ttnn.WriterConfigDescriptor(),
            ),
        ],
        semaphores=[],
        cbs=[pages(0), pages(1), pages(16)],
    )
    ttnn.generic_op([x, y, result], program)
    return result, device.command_queue().reports[-1].cycles
