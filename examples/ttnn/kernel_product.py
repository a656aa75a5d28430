"""Multiply two matrices on one core by kernels of one's own in a program of ttnn.

    python -m ttmlir examples/ttnn/kernel_product.py

The kernels are those of `examples/metalium/matmul_multi_core_reuse.py`. The program is ttnn's: with
its library, `python examples/ttnn/kernel_product.py` runs it on a card.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import ttnn

KERNELS = Path(__file__).resolve().parents[1] / "metalium" / "kernels"
TILE, PAGE = 32, 32 * 32 * 2
M, K, N = 2, 6, 3
"""Extents in tiles."""
BLOCK_K = 2
SUBBLOCK = (1, N)
CORE = ttnn.CoreRangeSet([ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(0, 0))])


def kernel(name: str, config: object, compile_args: list[int], arguments: list[int]) -> object:
    """A kernel of the core."""
    return ttnn.KernelDescriptor(
        kernel_source=str(KERNELS / name),
        source_type=ttnn.KernelDescriptor.SourceType.FILE_PATH,
        core_ranges=CORE,
        compile_time_args=compile_args,
        runtime_args=[(ttnn.CoreCoord(0, 0), arguments)],
        config=config,
    )


def pages(index: int, count: int) -> object:
    """A circular buffer."""
    form = ttnn.CBFormatDescriptor(buffer_index=index, data_format=ttnn.bfloat16, page_size=PAGE)
    return ttnn.CBDescriptor(total_size=count * PAGE, core_ranges=CORE, format_descriptors=[form])


def multiply(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The product, by way of the device."""
    device = ttnn.open_device(device_id=0)
    x, y = (
        ttnn.Tensor(
            each.flatten().tolist(), [1, 1, *each.shape], ttnn.bfloat16, ttnn.TILE_LAYOUT, device
        )
        for each in (a, b)
    )
    shape = ttnn.Shape([1, 1, M * TILE, N * TILE])
    result = ttnn.allocate_tensor_on_device(shape, ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
    program = ttnn.ProgramDescriptor(
        kernels=[
            kernel(
                "read_blocks.cpp",
                ttnn.ReaderConfigDescriptor(),
                [K, N, M, BLOCK_K, N],
                [x.buffer_address(), y.buffer_address(), 0, 0],
            ),
            kernel(
                "multiply_blocks.cpp",
                ttnn.ComputeConfigDescriptor(),
                [K // BLOCK_K, M, BLOCK_K, N, *SUBBLOCK],
                [],
            ),
            kernel(
                "write_block.cpp",
                ttnn.WriterConfigDescriptor(),
                [N, M, N, *SUBBLOCK],
                [result.buffer_address(), 0, 0],
            ),
        ],
        semaphores=[],
        cbs=[
            *(pages(0, 2 * M * BLOCK_K), pages(1, 2 * BLOCK_K * N)),
            *(pages(16, M * N), pages(24, M * N)),
        ],
    )
    ttnn.generic_op([x, y, result], program)
    numbers = np.array(result.cpu().to(ttnn.ROW_MAJOR_LAYOUT).to_list())
    ttnn.close_device(device)
    return numbers.reshape(M * TILE, N * TILE)


if __name__ == "__main__":
    numbers = np.random.default_rng(1)
    first = numbers.integers(-2, 3, (M * TILE, K * TILE)).astype(np.float32)
    second = numbers.integers(-2, 3, (K * TILE, N * TILE)).astype(np.float32)
    difference = np.abs(multiply(first, second) - first @ second).max()
    print(f"largest difference: {difference}")
