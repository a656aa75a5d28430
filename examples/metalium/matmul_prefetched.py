"""Multiply two matrices, with the columns of B sent to the cores by one that reads ahead.

    python examples/metalium/matmul_prefetched.py [--m 512] [--k 1024] [--n 768] ...

A sender reads blocks of B from DRAM and writes a column of tiles into the L1 of each receiver: a
global circular buffer with room for two columns, so that the next one comes while one is used. The
receivers' circular buffer for B is on the same bytes.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from matrix_data import from_tiles, random_matrix, to_tiles
from matrix_options import MatrixOptions, open_device, tiles_of
from outcome import Outcome, main, product_outcome, recording

from ttmlir.metalium import (
    Buffer,
    CBIndex,
    CircularBufferConfig,
    CloseDevice,
    ComputeConfig,
    CoreCoord,
    CoreRange,
    CoreRangeSet,
    CreateBuffer,
    CreateCircularBuffer,
    CreateKernel,
    CreateProgram,
    EnqueueProgram,
    EnqueueReadBuffer,
    EnqueueWriteBuffer,
    InterleavedBufferConfig,
    ReaderDataMovementConfig,
    SetRuntimeArgs,
    WriterDataMovementConfig,
    experimental,
    tile_size,
)

KERNELS = Path(__file__).parent / "prefetch_kernels"
SENDER = CoreCoord(0, 0)
MOST = 6
"""Receivers of a sender."""


def run(options: MatrixOptions) -> Outcome:
    """Multiply on the device, and compare with NumPy."""
    device = open_device(options)
    queue = device.command_queue()
    queue.timeline = recording(options)
    program = CreateProgram()

    # Extents in tiles; each receiver has as many columns of B.
    Mt, Kt, Nt = tiles_of(options.m), tiles_of(options.k), tiles_of(options.n)
    tile_bytes = tile_size(options.data_format)
    num_receivers = max(count for count in range(1, MOST + 1) if Nt % count == 0)
    receivers = [CoreCoord(1 + i, 0) for i in range(num_receivers)]
    receiver_set = CoreRangeSet([CoreRange(receivers[0], receivers[-1])])
    num_columns, room = Nt // num_receivers, 2 * Kt

    # The global circular buffer: pages are columns of tiles of B.
    columns = experimental.CreateGlobalCircularBuffer(
        device, [(SENDER, receiver_set)], room * tile_bytes
    )
    config = CircularBufferConfig(room * tile_bytes)
    config.remote_index(CBIndex.c_31).set_page_size(Kt * tile_bytes)
    experimental.CreateCircularBuffer(program, SENDER, config, columns)
    config = CircularBufferConfig(room * tile_bytes, {CBIndex.c_1: options.data_format})
    config.set_page_size(CBIndex.c_1, tile_bytes)
    config.remote_index(CBIndex.c_31).set_page_size(Kt * tile_bytes)
    experimental.CreateCircularBuffer(program, receiver_set, config, columns)

    # Circular buffers of a core alone: blocks of B on their way, tiles of A and of C.
    for cores, index, tiles in (
        (SENDER, CBIndex.c_0, Kt * num_receivers),
        (receiver_set, CBIndex.c_0, 2),
        (receiver_set, CBIndex.c_16, 2),
    ):
        config = CircularBufferConfig(tiles * tile_bytes, {index: options.data_format})
        CreateCircularBuffer(program, cores, config.set_page_size(index, tile_bytes))

    def in_dram(num_tiles: int) -> Buffer:
        size = num_tiles * tile_bytes
        return CreateBuffer(InterleavedBufferConfig(device=device, size=size, page_size=tile_bytes))

    a, b, c = in_dram(Mt * Kt), in_dram(Kt * Nt), in_dram(Mt * Nt)

    # Kernels of the sender, and of the receivers.
    sender = CreateKernel(
        program,
        KERNELS / "prefetch_columns.cpp",
        SENDER,
        ReaderDataMovementConfig([Kt, Nt, num_receivers]),
    )
    SetRuntimeArgs(program, sender, SENDER, [b])
    reader = CreateKernel(
        program,
        KERNELS / "receive_columns.cpp",
        receiver_set,
        ReaderDataMovementConfig([Mt, Kt, num_columns, room]),
    )
    CreateKernel(
        program,
        KERNELS / "multiply_columns.cpp",
        receiver_set,
        ComputeConfig(math_fidelity=options.fidelity, compile_args=[Mt, Kt, num_columns]),
    )
    writer = CreateKernel(
        program,
        KERNELS / "write_columns.cpp",
        receiver_set,
        WriterDataMovementConfig([Mt, Nt, num_receivers]),
    )
    for column, core in enumerate(receivers):
        SetRuntimeArgs(program, reader, core, [a])
        SetRuntimeArgs(program, writer, core, [c, column])

    # Data, program, result.
    first = random_matrix(options.m, options.k, options.seed)
    second = random_matrix(options.k, options.n, options.seed + 1)
    EnqueueWriteBuffer(queue, a, to_tiles(first, options.data_format))
    EnqueueWriteBuffer(queue, b, to_tiles(second, options.data_format))
    EnqueueProgram(queue, program)
    data = EnqueueReadBuffer(queue, c, dtype=np.uint8)
    product = from_tiles(data, options.data_format, (options.m, options.n))
    CloseDevice(device)
    return product_outcome("matmul_prefetched", queue, options, first, second, product)


if __name__ == "__main__":
    sys.exit(main(run, __doc__ or ""))
