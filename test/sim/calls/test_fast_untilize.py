"""Rows of tiles as rows of numbers, by the calls of late 2026."""

from __future__ import annotations

import numpy as np
import pytest

from ttmlir.metalium import (
    CircularBufferConfig,
    ComputeConfig,
    CoreCoord,
    CreateBuffer,
    CreateCircularBuffer,
    CreateDevice,
    CreateKernelFromString,
    CreateProgram,
    DataFormat,
    EnqueueProgram,
    EnqueueReadBuffer,
    EnqueueWriteBuffer,
    InterleavedBufferConfig,
    ReaderDataMovementConfig,
    SetRuntimeArgs,
    WriterDataMovementConfig,
)

CORE, TILE = CoreCoord(0, 0), 2048
MOVE = """
#include "api/dataflow/dataflow_api.h"
void kernel_main() {
    const InterleavedAddrGen<true> tensor = {
        .bank_base_address = get_arg_val<uint32_t>(0), .page_size = 2048 * WIDTH};
    BODY
}
"""
READ = """cb_reserve_back(0, WIDTH);
    noc_async_read(get_noc_addr(0, tensor), get_write_ptr(0), 2048 * WIDTH);
    noc_async_read_barrier();
    cb_push_back(0, WIDTH);"""
WRITE = """cb_wait_front(16, WIDTH);
    noc_async_write(get_read_ptr(16), get_noc_addr(0, tensor), 2048 * WIDTH);
    noc_async_write_barrier();
    cb_pop_front(16, WIDTH);"""
COMPUTE = """
#include "api/compute/compute_kernel_hw_startup.h"
#include "api/compute/experimental/fast_untilize.h"
void kernel_main() {
    compute_kernel_hw_startup(0, 16);
    fast_untilize_init<WIDTH>(0, 16);
    cb_wait_front(0, WIDTH);
    cb_reserve_back(16, WIDTH);
    fast_untilize_block<WIDTH>(0, 16);
    cb_push_back(16, WIDTH);
    cb_pop_front(0, WIDTH);
    fast_untilize_uninit<WIDTH>(16);
}
"""


@pytest.mark.parametrize("width", [1, 3, 10])
def test_rows_of_tiles(width: int) -> None:
    """Whether DST takes the row at once, or two tiles at a time."""
    device, program = CreateDevice(0, cycle_limit=10_000_000), CreateProgram()
    queue, size = device.command_queue(), TILE * width
    config = InterleavedBufferConfig(device=device, size=size, page_size=size)
    source, target = CreateBuffer(config), CreateBuffer(config)
    # Small numbers of bf16, each of them exact.
    numbers = np.random.default_rng(3).integers(0, 100, (32, 32 * width)).astype(np.float32)
    rows = (numbers.view(np.uint32) >> 16).astype(np.uint16)
    tiles = rows.reshape(2, 16, width, 2, 16).transpose(2, 0, 3, 1, 4)
    EnqueueWriteBuffer(queue, source, np.ascontiguousarray(tiles).reshape(1, -1))
    for index in (0, 16):
        buffer = CircularBufferConfig(size, {index: DataFormat.Float16_b})
        CreateCircularBuffer(program, CORE, buffer.set_page_size(index, TILE))
    defines = {"WIDTH": str(width)}
    moves = (
        (READ, source, ReaderDataMovementConfig(defines=defines)),
        (WRITE, target, WriterDataMovementConfig(defines=defines)),
    )
    for body, tensor, settings in moves:
        kernel = CreateKernelFromString(program, MOVE.replace("BODY", body), CORE, settings)
        SetRuntimeArgs(program, kernel, CORE, [tensor.address()])
    CreateKernelFromString(program, COMPUTE, CORE, ComputeConfig(defines=defines))
    EnqueueProgram(queue, program)
    found = np.zeros((32, 32 * width), np.uint16)
    EnqueueReadBuffer(queue, target, found)
    np.testing.assert_array_equal(found, rows)
