"""Multiply two matrices on all Tensix cores, each of which makes a block of C.

    python examples/metalium/matmul_multi_core_reuse.py [--m 512] [--k 1024] [--n 768] ...

A core holds a block of A and a block of B in L1 and uses every tile of A for all columns of its
block of C, and every tile of B for all of its rows. The block of C is made in subblocks that fit
into DST, for which the unpackers bring a tile once for several products.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from blocking import choose_blocking
from matrix_data import from_tiles, random_matrix, to_tiles
from matrix_options import MatrixOptions, open_device
from outcome import Outcome, main, product_outcome, recording

from ttmlir.metalium import (
    NOC,
    Buffer,
    BufferType,
    CBIndex,
    CircularBufferConfig,
    CloseDevice,
    ComputeConfig,
    CoreCoord,
    CoreRange,
    CreateBuffer,
    CreateCircularBuffer,
    CreateKernel,
    CreateProgram,
    DataFormat,
    DataMovementConfig,
    DataMovementProcessor,
    EnqueueProgram,
    EnqueueReadBuffer,
    EnqueueWriteBuffer,
    Finish,
    InterleavedBufferConfig,
    SetRuntimeArgs,
    tile_size,
)

KERNELS = Path(__file__).parent / "kernels"


def run(options: MatrixOptions) -> Outcome:
    """Multiply on the device, and compare with NumPy."""
    # Device, command queue, program.
    device = open_device(options)
    queue = device.command_queue()
    queue.timeline = recording(options)
    program = CreateProgram()

    # How C is cut: a block for each core, filled up so that all blocks are equal.
    columns, rows = device.compute_with_storage_grid_size()
    cut = choose_blocking(options, columns, rows)
    cores = CoreRange(CoreCoord(0, 0), CoreCoord(cut.grid_x - 1, cut.grid_y - 1))
    tile_bytes = tile_size(options.data_format)

    # Buffers in DRAM: a page is a tile, and consecutive pages lie in different banks.
    def in_dram(num_tiles: int) -> Buffer:
        return CreateBuffer(
            InterleavedBufferConfig(
                device=device,
                size=num_tiles * tile_bytes,
                page_size=tile_bytes,
                buffer_type=BufferType.DRAM,
            )
        )

    a, b, c = in_dram(cut.m * cut.k), in_dram(cut.k * cut.n), in_dram(cut.m * cut.n)

    # Circular buffers in L1: two blocks of A and of B, so that one can arrive while one is used; a
    # block of C, and one of sums that wait for further blocks along K.
    for index, num_tiles, data_format in (
        (CBIndex.c_0, 2 * cut.block_m * cut.block_k, options.data_format),
        (CBIndex.c_1, 2 * cut.block_k * cut.block_n, options.data_format),
        (CBIndex.c_16, cut.block_m * cut.block_n, options.data_format),
        (CBIndex.c_24, cut.block_m * cut.block_n, DataFormat.Float16_b),
    ):
        page = tile_size(data_format)
        config = CircularBufferConfig(num_tiles * page, {index: data_format})
        CreateCircularBuffer(program, cores, config.set_page_size(index, page))

    # Kernels, with the extents as compile-time arguments.
    reader = CreateKernel(
        program,
        KERNELS / "read_blocks.cpp",
        cores,
        DataMovementConfig(
            processor=DataMovementProcessor.RISCV_1,
            noc=NOC.NOC_0,
            compile_args=[cut.k, cut.n, cut.block_m, cut.block_k, cut.block_n],
        ),
    )
    CreateKernel(
        program,
        KERNELS / "multiply_blocks.cpp",
        cores,
        ComputeConfig(
            math_fidelity=options.fidelity,
            compile_args=[
                *(cut.num_blocks, cut.block_m, cut.block_k, cut.block_n),
                *(cut.subblock_m, cut.subblock_n),
            ],
        ),
    )
    writer = CreateKernel(
        program,
        KERNELS / "write_block.cpp",
        cores,
        DataMovementConfig(
            processor=DataMovementProcessor.RISCV_0,
            noc=NOC.NOC_1,
            compile_args=[cut.n, cut.block_m, cut.block_n, cut.subblock_m, cut.subblock_n],
        ),
    )

    # Run-time arguments: where the buffers are, and where the core's block of C begins.
    for y in range(cut.grid_y):
        for x in range(cut.grid_x):
            corner = [y * cut.block_m, x * cut.block_n]
            SetRuntimeArgs(program, reader, CoreCoord(x, y), [a, b, *corner])
            SetRuntimeArgs(program, writer, CoreCoord(x, y), [c, *corner])

    # Enqueue the data and the program, and wait.
    first = random_matrix(options.m, options.k, options.seed)
    second = random_matrix(options.k, options.n, options.seed + 1)
    EnqueueWriteBuffer(queue, a, to_tiles(first, options.data_format, cut.m, cut.k), False)
    EnqueueWriteBuffer(queue, b, to_tiles(second, options.data_format, cut.k, cut.n), False)
    EnqueueProgram(queue, program, False)
    Finish(queue)

    # Read the result.
    data = EnqueueReadBuffer(queue, c, dtype=np.uint8)
    product = from_tiles(data, options.data_format, (options.m, options.n), cut.n)
    CloseDevice(device)
    return product_outcome("matmul_multi_core_reuse", queue, options, first, second, product)


if __name__ == "__main__":
    sys.exit(main(run, __doc__ or ""))
