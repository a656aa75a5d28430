"""Multiply two matrices of which one, and the product, stay in L1 in shards.

    python examples/metalium/matmul_sharded.py [--m 512] [--k 1024] [--n 768] ...

Like `matmul_multicast.py`, but the cores have blocks of A in their L1 from the beginning; those of
a row take turns in multicasting theirs. A block of C is packed right to where it stays. Only B
comes from DRAM. This is the arrangement that tt-metal's GEMM report measures
(tech_reports/GEMM_FLOPS/GEMM_FLOPS.md).
"""

from __future__ import annotations

import sys

import numpy as np
from blocking import Blocking, choose_blocking
from matmul_multicast import (
    KERNELS,
    all_cores,
    create_circular_buffers,
    create_multiplier,
    dram_buffer,
    multicast_b,
    on_network,
)
from matrix_data import from_tiles, random_matrix, to_tiles
from matrix_options import TILE, MatrixOptions, open_device
from outcome import Outcome, main, product_outcome, recording

from ttmlir.metalium import (
    NOC,
    Buffer,
    BufferType,
    CloseDevice,
    CoreCoord,
    CoreRange,
    CoreRangeSet,
    CreateBuffer,
    CreateKernel,
    CreateProgram,
    CreateSemaphore,
    DataFormat,
    DataMovementConfig,
    DataMovementProcessor,
    Device,
    EnqueueProgram,
    EnqueueReadBuffer,
    EnqueueWriteBuffer,
    Finish,
    Program,
    SetRuntimeArgs,
    ShardedBufferConfig,
    ShardOrientation,
    ShardSpecBuffer,
    TensorMemoryLayout,
    tile_size,
)


def run(options: MatrixOptions) -> Outcome:
    """Multiply on the device, and compare with NumPy."""
    device = open_device(options)
    queue = device.command_queue()
    queue.timeline = recording(options)
    program = CreateProgram()
    columns, rows = device.compute_with_storage_grid_size()
    cut = choose_blocking(options, columns, rows, block_per_column=True)

    a = sharded_buffer(
        device, cut.num_blocks, cut.grid_y, (cut.block_m, cut.block_k), options.data_format
    )
    b = dram_buffer(device, cut.k * cut.n, options.data_format)
    c = sharded_buffer(
        device, cut.grid_x, cut.grid_y, (cut.block_m, cut.block_n), options.data_format
    )
    create_circular_buffers(program, cut, options.data_format, c_in_l1=c)
    create_multiplier(program, cut, options)
    multicast_shards_of_a(device, program, cut, a)
    multicast_b(device, program, cut, b)

    first = random_matrix(options.m, options.k, options.seed)
    second = random_matrix(options.k, options.n, options.seed + 1)
    EnqueueWriteBuffer(queue, a, to_tiles(first, options.data_format, cut.m, cut.k), False)
    EnqueueWriteBuffer(queue, b, to_tiles(second, options.data_format, cut.k, cut.n), False)
    EnqueueProgram(queue, program, False)
    Finish(queue)
    data = EnqueueReadBuffer(queue, c, dtype=np.uint8)
    product = from_tiles(data, options.data_format, (options.m, options.n), cut.n)
    CloseDevice(device)
    return product_outcome("matmul_sharded", queue, options, first, second, product)


def sharded_buffer(
    device: Device, columns: int, rows: int, block: tuple[int, int], data_format: DataFormat
) -> Buffer:
    """A matrix in L1: each of so many columns and rows of cores has a block of tiles of it."""
    page = tile_size(data_format)
    shape = rows * block[0], columns * block[1]
    shards = ShardSpecBuffer(
        CoreRangeSet([CoreRange(CoreCoord(0, 0), CoreCoord(columns - 1, rows - 1))]),
        (TILE * block[0], TILE * block[1]),
        ShardOrientation.ROW_MAJOR,
        (TILE, TILE),
        shape,
    )
    return CreateBuffer(
        ShardedBufferConfig(
            device=device,
            size=shape[0] * shape[1] * page,
            page_size=page,
            buffer_type=BufferType.L1,
            buffer_layout=TensorMemoryLayout.BLOCK_SHARDED,
            shard_parameters=shards,
        )
    )


def multicast_shards_of_a(device: Device, program: Program, cut: Blocking, a: Buffer) -> None:
    """The kernel in which the cores of a row take turns, on network 1."""
    cores = all_cores(cut)
    semaphores = [CreateSemaphore(program, cores, 0) for _ in ("ready", "valid")]
    kernel = CreateKernel(
        program,
        KERNELS / "multicast_shards_of_a.cpp",
        cores,
        DataMovementConfig(
            processor=DataMovementProcessor.RISCV_0,
            noc=NOC.NOC_1,
            compile_args=[cut.num_blocks, cut.grid_x, cut.block_m * cut.block_k, *semaphores],
        ),
    )
    for x, y in cores:
        row = on_network(device, (cut.grid_x - 1, y), (0, y))
        senders = on_network(device, *((sender, y) for sender in range(cut.num_blocks)))
        SetRuntimeArgs(program, kernel, (x, y), [a, x, *row, *senders])


if __name__ == "__main__":
    sys.exit(main(run, __doc__ or ""))
