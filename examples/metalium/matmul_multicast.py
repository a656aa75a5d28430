"""Multiply two matrices on all Tensix cores, which pass blocks on instead of reading them again.

    python examples/metalium/matmul_multicast.py [--m 512] [--k 1024] [--n 768] ...

All cores of a row of the grid need the same blocks of A, all cores of a column the same blocks of
B. So only the first core of a row or column reads a block from DRAM, and multicasts it to the
others. A travels on network 1, B on network 0.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from blocking import Blocking, choose_blocking
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
    CreateSemaphore,
    DataFormat,
    DataMovementConfig,
    DataMovementProcessor,
    Device,
    EnqueueProgram,
    EnqueueReadBuffer,
    EnqueueWriteBuffer,
    Finish,
    InterleavedBufferConfig,
    Program,
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

    # Buffers in DRAM: a page is a tile, and consecutive pages lie in different banks.
    a = dram_buffer(device, cut.m * cut.k, options.data_format)
    b = dram_buffer(device, cut.k * cut.n, options.data_format)
    c = dram_buffer(device, cut.m * cut.n, options.data_format)

    # Circular buffers, semaphores, kernels and their run-time arguments.
    create_circular_buffers(program, cut, options.data_format)
    create_multiplier(program, cut, options)
    multicast_a(device, program, cut, a, c)
    multicast_b(device, program, cut, b)

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
    return product_outcome("matmul_multicast", queue, options, first, second, product)


def dram_buffer(device: Device, num_tiles: int, data_format: DataFormat) -> Buffer:
    """Tiles that are spread over the banks of DRAM."""
    page = tile_size(data_format)
    return CreateBuffer(
        InterleavedBufferConfig(
            device=device, size=num_tiles * page, page_size=page, buffer_type=BufferType.DRAM
        )
    )


def create_circular_buffers(
    program: Program, cut: Blocking, data_format: DataFormat, c_in_l1: Buffer | None = None
) -> None:
    """Two blocks of A and of B, so that one can arrive while one is used; blocks of C and of sums.

    If C stays in L1, its circular buffer is the core's part of it.
    """
    for index, num_tiles, its_format in (
        (CBIndex.c_0, 2 * cut.block_m * cut.block_k, data_format),
        (CBIndex.c_1, 2 * cut.block_k * cut.block_n, data_format),
        (CBIndex.c_16, cut.block_m * cut.block_n, data_format),
        (CBIndex.c_24, cut.block_m * cut.block_n, DataFormat.Float16_b),
    ):
        page = tile_size(its_format)
        config = CircularBufferConfig(num_tiles * page, {index: its_format})
        config.set_page_size(index, page)
        if index == CBIndex.c_16 and c_in_l1 is not None:
            config.set_globally_allocated_address(c_in_l1)
        CreateCircularBuffer(program, all_cores(cut), config)


def create_multiplier(program: Program, cut: Blocking, options: MatrixOptions) -> None:
    """The compute kernel of all cores."""
    CreateKernel(
        program,
        KERNELS / "multiply_blocks.cpp",
        all_cores(cut),
        ComputeConfig(
            math_fidelity=options.fidelity,
            compile_args=[
                *(cut.num_blocks, cut.block_m, cut.block_k, cut.block_n),
                *(cut.subblock_m, cut.subblock_n),
            ],
        ),
    )


def multicast_a(device: Device, program: Program, cut: Blocking, a: Buffer, c: Buffer) -> None:
    """The kernels that bring A along the rows on network 1, and C to DRAM."""
    last = cut.grid_x - 1
    semaphores = [CreateSemaphore(program, all_cores(cut), 0) for _ in ("ready", "valid")]
    extents = [cut.k, cut.n, cut.block_m, cut.block_k, cut.block_n, cut.subblock_m, cut.subblock_n]
    for sends, first_x, last_x in ((1, 0, 0), (0, 1, last)):
        if first_x > last_x:
            continue
        cores = CoreRange(CoreCoord(first_x, 0), CoreCoord(last_x, cut.grid_y - 1))
        kernel = CreateKernel(
            program,
            KERNELS / "multicast_a.cpp",
            cores,
            DataMovementConfig(
                processor=DataMovementProcessor.RISCV_0,
                noc=NOC.NOC_1,
                compile_args=[sends, last, *extents, *semaphores],
            ),
        )
        for x, y in cores:
            block = [y * cut.block_m, x * cut.block_n]
            sender = on_network(device, (0, y))
            # Network 1 goes up and left: a rectangle starts with its last corner.
            receivers = on_network(device, (last, y), (min(1, last), y))
            arguments = [a, c, *block, *sender, *receivers]
            SetRuntimeArgs(program, kernel, CoreCoord(x, y), arguments)


def multicast_b(device: Device, program: Program, cut: Blocking, b: Buffer) -> None:
    """The kernels that bring B along the columns on network 0."""
    last = cut.grid_y - 1
    semaphores = [CreateSemaphore(program, all_cores(cut), 0) for _ in ("ready", "valid")]
    for sends, first_y, last_y in ((1, 0, 0), (0, 1, last)):
        if first_y > last_y:
            continue
        cores = CoreRange(CoreCoord(0, first_y), CoreCoord(cut.grid_x - 1, last_y))
        kernel = CreateKernel(
            program,
            KERNELS / "multicast_b.cpp",
            cores,
            DataMovementConfig(
                processor=DataMovementProcessor.RISCV_1,
                noc=NOC.NOC_0,
                compile_args=[sends, last, cut.k, cut.n, cut.block_k, cut.block_n, *semaphores],
            ),
        )
        for x, y in cores:
            sender = on_network(device, (x, 0))
            receivers = on_network(device, (x, min(1, last)), (x, last))
            arguments = [b, x * cut.block_n, *sender, *receivers]
            SetRuntimeArgs(program, kernel, CoreCoord(x, y), arguments)


def all_cores(cut: Blocking) -> CoreRange:
    """The cores that make a block of C each."""
    return CoreRange(CoreCoord(0, 0), CoreCoord(cut.grid_x - 1, cut.grid_y - 1))


def on_network(device: Device, *cores: Sequence[int]) -> list[int]:
    """Where on the network cores are, x and y of one after the other: kernels name cores so."""
    places = (device.worker_core_from_logical_core(CoreCoord(*core)) for core in cores)
    return [coordinate for place in places for coordinate in place]


if __name__ == "__main__":
    sys.exit(main(run, __doc__ or ""))
