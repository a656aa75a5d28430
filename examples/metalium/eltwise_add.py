"""Add two matrices, tile by tile, on one Tensix core.

    python examples/metalium/eltwise_add.py [--m 512] [--n 768] [--format bf16|bfp8] ...

The smallest program there is: one kernel brings tiles from DRAM into two circular buffers, one
adds them, one takes the sums back to DRAM. The three run at the same time, each as far as the
circular buffers between them allow.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from matrix_data import from_tiles, random_matrix, to_tiles
from matrix_options import MatrixOptions, open_device, tiles_of
from outcome import Outcome, main, recording, sum_outcome

from ttmlir.metalium import (
    NOC,
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
    """Add on the device, and compare with NumPy."""
    # Device and program. One core of the grid does all the work.
    device = open_device(options)
    queue = device.command_queue()
    queue.timeline = recording(options)
    program = CreateProgram()
    core = CoreCoord(0, 0)

    # Buffers in DRAM: a page is a tile, and consecutive pages lie in different banks.
    tile_bytes = tile_size(options.data_format)
    num_tiles = tiles_of(options.m) * tiles_of(options.n)
    a, b, c = (
        CreateBuffer(
            InterleavedBufferConfig(
                device=device,
                size=num_tiles * tile_bytes,
                page_size=tile_bytes,
                buffer_type=BufferType.DRAM,
            )
        )
        for _ in range(3)
    )

    # Circular buffers in L1: room for two tiles, so that one can arrive while one is used.
    for index in (CBIndex.c_0, CBIndex.c_1, CBIndex.c_16):
        config = CircularBufferConfig(2 * tile_bytes, {index: options.data_format})
        CreateCircularBuffer(program, core, config.set_page_size(index, tile_bytes))

    # Kernels: one for each data-movement processor, one for the three compute processors.
    reader = CreateKernel(
        program,
        KERNELS / "read_two_tensors.cpp",
        core,
        DataMovementConfig(processor=DataMovementProcessor.RISCV_1, noc=NOC.NOC_0),
    )
    writer = CreateKernel(
        program,
        KERNELS / "write_tiles.cpp",
        core,
        DataMovementConfig(processor=DataMovementProcessor.RISCV_0, noc=NOC.NOC_1),
    )
    adder = CreateKernel(
        program,
        KERNELS / "add_tiles.cpp",
        core,
        ComputeConfig(math_fidelity=options.fidelity),
    )

    # Run-time arguments: where the buffers are, and how much there is to do.
    SetRuntimeArgs(program, reader, core, [a, b, num_tiles])
    SetRuntimeArgs(program, adder, core, [num_tiles])
    SetRuntimeArgs(program, writer, core, [c, 0, num_tiles])

    # Enqueue: the data, the program, and wait.
    first = random_matrix(options.m, options.n, options.seed)
    second = random_matrix(options.m, options.n, options.seed + 1)
    EnqueueWriteBuffer(queue, a, to_tiles(first, options.data_format), False)
    EnqueueWriteBuffer(queue, b, to_tiles(second, options.data_format), False)
    EnqueueProgram(queue, program, False)
    Finish(queue)

    # Read the result.
    data = EnqueueReadBuffer(queue, c, dtype=np.uint8)
    result = from_tiles(data, options.data_format, (options.m, options.n))
    CloseDevice(device)
    return sum_outcome("eltwise_add", queue, options, first, second, result)


if __name__ == "__main__":
    sys.exit(main(run, __doc__ or ""))
