"""Kernels of ttnn's DRAM prefetcher, with the arguments of its factory, against NumPy.

    PYTHONPATH=. python test/vendor/prefetching.py ROOT

ROOT is the folder of ttnn's package of 0.81, which has the kernels. A reader and a writer per bank
of DRAM send blocks of the tiles of two tensors to two receivers each, layer by layer, through a
global circular buffer; kernels of our own write what arrives to DRAM, where it is compared.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from ttmlir.metalium import (
    NOC,
    Buffer,
    BufferType,
    CircularBufferConfig,
    CoreCoord,
    CoreRange,
    CoreRangeSet,
    CreateBuffer,
    CreateCircularBuffer,
    CreateDevice,
    CreateKernel,
    CreateKernelFromString,
    CreateProgram,
    DataFormat,
    DataMovementConfig,
    DataMovementProcessor,
    Device,
    EnqueueProgram,
    InterleavedBufferConfig,
    Program,
    SetRuntimeArgs,
    experimental,
)
from ttmlir.metalium.detail import ReadFromBuffer, WriteToBuffer, WriteToDeviceL1

FOLDER = "ttnn/cpp/ttnn/operations/prefetcher/prefetcher/device/kernels"
TILE, END, TENSORS, LAYERS, BLOCKS, RECEIVERS = 2048, 31, 2, 2, 4, 2
SHAPES = ((8, 4), (12, 6))
"""Tiles of each tensor in a bank: rows and columns, which receivers share."""
SLOTS = 3
"""Blocks that are on their way in a reader."""
STAGED, ADDRESSES, DONE = 0, 1, 2
"""Indices of circular buffers."""

RECEIVER = """
#include "dataflow_api.h"
#include "api/remote_circular_buffer.h"
void kernel_main() {
    uint32_t arg = 0;
    uint32_t target = get_arg_val<uint32_t>(arg++);
    const uint32_t bank = get_arg_val<uint32_t>(arg++);
    const uint32_t blocks = get_arg_val<uint32_t>(arg++);
    const uint32_t layers = get_arg_val<uint32_t>(arg++);
    for (uint32_t layer = 0; layer < layers; layer++) {
        for (uint32_t tensor = 0; tensor < 2; tensor++) {
            const uint32_t page = get_arg_val<uint32_t>(arg + tensor);
            experimental::resize_remote_receiver_cb_interface<true>(31, page, noc_index);
            experimental::align_local_cbs_to_remote_cb<1>(31, {3});
            for (uint32_t block = 0; block < blocks; block++) {
                cb_reserve_back(3, page / 2048);
                experimental::remote_cb_wait_front(31, 1);
                cb_push_back(3, page / 2048);
                cb_wait_front(3, page / 2048);
                noc_async_write(
                    get_read_ptr(3), get_noc_addr_from_bank_id<true>(bank, target), page);
                noc_async_write_barrier();
                cb_pop_front(3, page / 2048);
                experimental::remote_cb_pop_front(31, 1);
                target += page;
            }
        }
    }
    experimental::update_remote_cb_config_in_l1(31);
    noc_async_atomic_barrier();
}
"""


def _add_buffer(program: Program, core: CoreCoord, index: int, pages: int, page: int) -> None:
    config = CircularBufferConfig(pages * page, {index: DataFormat.Float16_b})
    CreateCircularBuffer(program, core, config.set_page_size(index, page))


def _banks(device: Device, size: int) -> Buffer:
    """So many bytes in each bank of DRAM."""
    total = size * device.num_dram_channels()
    return CreateBuffer(InterleavedBufferConfig(device=device, size=total, page_size=size))


def _fill(device: Device, buffer: Buffer, seed: int) -> Any:
    rng = np.random.default_rng(seed)
    words = rng.integers(
        0, 1 << 32, (device.num_dram_channels(), buffer.page_size() // 4), np.uint32
    )
    WriteToBuffer(buffer, words)
    return words


def prefetch(board: str, size: int) -> int:
    """Two banks, each with two receivers of `size` bytes: the cycles."""
    device = CreateDevice(0, board=board, tt_metal="0.81")
    senders = [CoreCoord(0, y) for y in range(2)]
    receivers = [[CoreCoord(x, y) for x in (1, 3)] for y in range(2)]
    ends = [
        (one, CoreRangeSet([CoreRange(each, each) for each in others]))
        for one, others in zip(senders, receivers, strict=True)
    ]
    pipe = experimental.CreateGlobalCircularBuffer(device, ends, size)
    weights = [
        [_banks(device, rows * columns * TILE) for rows, columns in SHAPES] for _ in range(LAYERS)
    ]
    data = [[_fill(device, each, 7 + n) for n, each in enumerate(layer)] for layer in weights]
    each_gets = LAYERS * sum(rows * columns for rows, columns in SHAPES) // RECEIVERS * TILE
    results = [_banks(device, each_gets) for _ in range(RECEIVERS)]
    tiles = [rows // BLOCKS * columns for rows, columns in SHAPES]
    most = max(tiles)
    program = CreateProgram()
    for bank, (sender, others) in enumerate(zip(senders, receivers, strict=True)):
        _add_sender(program, device, sender, bank, tiles, weights, pipe)
        for number, core in enumerate(others):
            config = CircularBufferConfig(size, {3: DataFormat.Float16_b}).set_page_size(3, TILE)
            config.remote_index(END).set_page_size(most // RECEIVERS * TILE)
            experimental.CreateCircularBuffer(program, core, config, pipe)
            kernel = CreateKernelFromString(program, RECEIVER, core, DataMovementConfig())
            pages = [each // RECEIVERS * TILE for each in tiles]
            given = [results[number].address(), bank, BLOCKS, LAYERS, *pages]
            SetRuntimeArgs(program, kernel, core, given)
    EnqueueProgram(device.command_queue(), program)
    for number, result in enumerate(results):
        got = np.asarray(ReadFromBuffer(result), np.uint32).reshape(device.num_dram_channels(), -1)
        for bank in range(len(senders)):
            expected = [
                part[bank].reshape(rows, RECEIVERS, -1)[:, number].ravel()
                for layer in data
                for part, (rows, _) in zip(layer, SHAPES, strict=True)
            ]
            assert np.array_equal(got[bank], np.concatenate(expected))
    return device.command_queue().reports[-1].cycles


def _add_sender(
    program: Program,
    device: Device,
    core: CoreCoord,
    bank: int,
    tiles: Sequence[int],
    weights: Sequence[Sequence[Buffer]],
    pipe: experimental.GlobalCircularBuffer,
) -> None:
    """The reader of a bank, and the writer to its receivers."""
    most = max(tiles)
    _add_buffer(program, core, STAGED, SLOTS * most, TILE)
    _add_buffer(program, core, DONE, 1, 32)
    addresses = CreateBuffer(
        InterleavedBufferConfig(
            device=device, size=64 * 64, page_size=64, buffer_type=BufferType.L1
        )
    )
    words = [each.address() for layer in weights for each in layer]
    WriteToDeviceL1(device, core, addresses.address(), words)
    config = CircularBufferConfig(64, {ADDRESSES: DataFormat.UInt32}).set_page_size(ADDRESSES, 64)
    CreateCircularBuffer(program, core, config.set_globally_allocated_address(addresses))
    joined = CircularBufferConfig(pipe.size())
    joined.remote_index(END).set_page_size(most // RECEIVERS * TILE)
    experimental.CreateCircularBuffer(program, core, joined, pipe)
    kernel = CreateKernel(
        program,
        f"{FOLDER}/reader_dram.cpp",
        core,
        DataMovementConfig(
            processor=DataMovementProcessor.RISCV_1,
            noc=NOC.NOC_0,
            compile_args=[
                *(LAYERS, TENSORS, BLOCKS, SLOTS * most * TILE, most, most * TILE),
                *(STAGED, ADDRESSES, DONE, 0),
            ],
        ),
    )
    parts = [columns // RECEIVERS * TILE for _, columns in SHAPES]
    heights = [rows // BLOCKS for rows, _ in SHAPES]
    counts = [each * RECEIVERS for each in heights]
    SetRuntimeArgs(program, kernel, core, [bank, 0, SLOTS, *parts, *counts, *tiles])
    kernel = CreateKernel(
        program,
        f"{FOLDER}/writer_l1.cpp",
        core,
        DataMovementConfig(
            noc=NOC.NOC_1,
            compile_args=[LAYERS, TENSORS, BLOCKS, RECEIVERS, most, STAGED, END, DONE, 0],
        ),
    )
    SetRuntimeArgs(program, kernel, core, [*parts, 1, 1, *tiles, TILE, TILE, *heights])


def main(root: str) -> None:
    """Run it on Wormhole and on Blackhole, with room for two of the larger blocks, and for ten."""
    os.environ["TT_METAL_HOME"] = root
    for board in ("n150", "p150"):
        for size in (40960, 200704):
            print(f"prefetcher on {board}, {size} bytes: right; cycles {prefetch(board, size)}")


if __name__ == "__main__":
    main(sys.argv[1])
