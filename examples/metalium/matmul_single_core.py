"""Multiply two matrices on one Tensix core, a tile of C after the other.

    python examples/metalium/matmul_single_core.py [--m 512] [--k 1024] [--n 768] ...

For each tile of C a row of tiles of A and a column of tiles of B come from DRAM. Nothing is kept:
every tile of A is read once for each column of C, and every tile of B once for each row.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from matrix_data import from_tiles, random_matrix, to_tiles
from matrix_options import MatrixOptions, open_device, tiles_of
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
    CreateBuffer,
    CreateCircularBuffer,
    CreateKernel,
    CreateProgram,
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
    # Device, command queue, program. One core of the grid does all the work.
    device = open_device(options)
    queue = device.command_queue()
    queue.timeline = recording(options)
    program = CreateProgram()
    core = CoreCoord(0, 0)

    # Extents in tiles.
    Mt, Kt, Nt = tiles_of(options.m), tiles_of(options.k), tiles_of(options.n)
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

    a, b, c = in_dram(Mt * Kt), in_dram(Kt * Nt), in_dram(Mt * Nt)

    # Circular buffers in L1: room for two tiles, so that one can arrive while one is used.
    for index in (CBIndex.c_0, CBIndex.c_1, CBIndex.c_16):
        config = CircularBufferConfig(2 * tile_bytes, {index: options.data_format})
        CreateCircularBuffer(program, core, config.set_page_size(index, tile_bytes))

    # Kernels, with the extents as compile-time arguments.
    reader = CreateKernel(
        program,
        KERNELS / "read_rows_and_columns.cpp",
        core,
        DataMovementConfig(
            processor=DataMovementProcessor.RISCV_1,
            noc=NOC.NOC_0,
            compile_args=[Kt, Nt],
        ),
    )
    multiplier = CreateKernel(
        program,
        KERNELS / "multiply_tiles.cpp",
        core,
        ComputeConfig(math_fidelity=options.fidelity, compile_args=[Kt]),
    )
    writer = CreateKernel(
        program,
        KERNELS / "write_tiles.cpp",
        core,
        DataMovementConfig(processor=DataMovementProcessor.RISCV_0, noc=NOC.NOC_1),
    )

    # Run-time arguments: where the buffers are, and which tiles of C to make.
    SetRuntimeArgs(program, reader, core, [a, b, 0, Mt * Nt])
    SetRuntimeArgs(program, multiplier, core, [Mt * Nt])
    SetRuntimeArgs(program, writer, core, [c, 0, Mt * Nt])

    # Enqueue the data and the program, and wait.
    first = random_matrix(options.m, options.k, options.seed)
    second = random_matrix(options.k, options.n, options.seed + 1)
    EnqueueWriteBuffer(queue, a, to_tiles(first, options.data_format), False)
    EnqueueWriteBuffer(queue, b, to_tiles(second, options.data_format), False)
    EnqueueProgram(queue, program, False)
    Finish(queue)

    # Read the result.
    data = EnqueueReadBuffer(queue, c, dtype=np.uint8)
    product = from_tiles(data, options.data_format, (options.m, options.n))
    CloseDevice(device)
    return product_outcome("matmul_single_core", queue, options, first, second, product)


if __name__ == "__main__":
    sys.exit(main(run, __doc__ or ""))
