"""Programs as tt-metal's users write them, that leave out what they can do without.

None of them needs a leniency: what the sanitizer says of them are warnings at most.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from running.host_programs import create_cbs, create_pages, run_without_errors

from ttmlir.metalium import (
    Buffer,
    BufferType,
    CBIndex,
    ComputeConfig,
    CoreCoord,
    CoreRange,
    CreateBuffer,
    CreateDevice,
    CreateKernelFromString,
    CreateProgram,
    CreateSemaphore,
    DataFormat,
    Device,
    EnqueueReadBuffer,
    EnqueueWriteBuffer,
    ReaderDataMovementConfig,
    SetRuntimeArgs,
    ShardedBufferConfig,
    ShardSpecBuffer,
    WriterDataMovementConfig,
    pack_tiles,
    unpack_tiles,
)

BF16 = DataFormat.Float16_b
TILE = 2048
SCHEDULES: list[dict[str, Any]] = [
    {},
    {"schedule_seed": 1, "timed": False},
    {"schedule_seed": 2, "delay_copies": True},
]
ON_SCHEDULES = pytest.mark.parametrize("options", SCHEDULES)

ADD_SHARDS = """
#include "compute_kernel_api/eltwise_binary.h"
#include "compute_kernel_api/tile_move_copy.h"

namespace NAMESPACE {
void MAIN {
    constexpr uint32_t tiles = get_compile_time_arg_val(0);
    constexpr auto cb_a = tt::CBIndex::c_0, cb_b = tt::CBIndex::c_1, cb_sum = tt::CBIndex::c_16;
    binary_op_init_common(cb_a, cb_b, cb_sum);
    add_tiles_init(cb_a, cb_b);
    for (uint32_t tile = 0; tile < tiles; tile++) {
        tile_regs_acquire();
        add_tiles(cb_a, cb_b, tile, tile, 0);
        tile_regs_commit();
        tile_regs_wait();
        pack_tile<true>(0, cb_sum, tile);
        tile_regs_release();
    }
}
}
"""

SEND_TILES = """
#include "dataflow_api.h"

void kernel_main() {
    const uint32_t source = get_arg_val<uint32_t>(0);
    const uint32_t tiles = get_arg_val<uint32_t>(1);
    const uint32_t x_start = get_arg_val<uint32_t>(2), y_start = get_arg_val<uint32_t>(3);
    const uint32_t x_end = get_arg_val<uint32_t>(4), y_end = get_arg_val<uint32_t>(5);
    const uint32_t receivers = get_arg_val<uint32_t>(6);
    const InterleavedAddrGenFast<true> tensor = {
        .bank_base_address = source, .page_size = 2048, .data_format = DataFormat::Float16_b};
    const uint32_t ready = get_semaphore(0), sent = get_semaphore(1);
    auto* ready_word = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(ready);
    auto* sent_word = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(sent);
    *sent_word = VALID;

    const uint32_t page = get_write_ptr(0);
    const uint64_t pages = get_noc_multicast_addr(x_start, y_start, x_end, y_end, page);
    const uint64_t flags = get_noc_multicast_addr(x_start, y_start, x_end, y_end, sent);
    for (uint32_t tile = 0; tile < tiles; tile++) {
        noc_semaphore_wait(ready_word, receivers);
        noc_semaphore_set(ready_word, 0);
        noc_async_read_tile(tile, tensor, page);
        noc_async_read_barrier();
        noc_async_write_multicast(page, pages, 2048, receivers, true);
        noc_semaphore_set_multicast(sent, flags, receivers);
    }
}
"""

RECEIVE_TILES = """
#include "dataflow_api.h"

void kernel_main() {
    const uint32_t tiles = get_arg_val<uint32_t>(0);
    const uint64_t ready = get_noc_addr(
        get_arg_val<uint32_t>(1), get_arg_val<uint32_t>(2), get_semaphore(0));
    auto* sent = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(get_semaphore(1));
    for (uint32_t tile = 0; tile < tiles; tile++) {
        cb_reserve_back(0, 1);
        noc_semaphore_set(sent, INVALID);
        noc_semaphore_inc(ready, 1);
        noc_semaphore_wait(sent, VALID);
        cb_push_back(0, 1);
    }
}
"""

WRITE_TILES = """
#include "dataflow_api.h"

void kernel_main() {
    const uint32_t target = get_arg_val<uint32_t>(0);
    const uint32_t tiles = get_arg_val<uint32_t>(1);
    const uint32_t first = get_arg_val<uint32_t>(2);
    const InterleavedAddrGenFast<true> tensor = {
        .bank_base_address = target, .page_size = 2048, .data_format = DataFormat::Float16_b};
    for (uint32_t tile = first; tile < first + tiles; tile++) {
        cb_wait_front(0, 1);
        noc_async_write_tile(tile, tensor, get_read_ptr(0));
        noc_async_write_barrier();
        cb_pop_front(0, 1);
    }
}
"""

REDUCE_READER = """
#include "dataflow_api.h"

void kernel_main() {
    const uint32_t source = get_arg_val<uint32_t>(0);
    const uint32_t tiles = get_arg_val<uint32_t>(1);
    const InterleavedAddrGenFast<true> tensor = {
        .bank_base_address = source, .page_size = 2048, .data_format = DataFormat::Float16_b};

    cb_reserve_back(2, 1);
    auto* scaler = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(get_write_ptr(2));
    for (uint32_t word = 0; word < 512; word++) {
        scaler[word] = word % 128 < 8 ? 0x3F803F80 : 0;
    }
    cb_push_back(2, 1);
    for (uint32_t tile = 0; tile < tiles; tile++) {
        cb_reserve_back(1, 1);
        noc_async_read_tile(tile, tensor, get_write_ptr(1));
        noc_async_read_barrier();
        cb_push_back(1, 1);
    }
}
"""

REDUCE_ROWS = """
#include "compute_kernel_api/reduce.h"

namespace NAMESPACE {
void MAIN {
    constexpr uint32_t tiles = get_compile_time_arg_val(0);
    compute_kernel_hw_startup(1, 2, 0);
    reduce_init<PoolType::SUM, ReduceDim::REDUCE_ROW>(1, 2, 0);
    for (uint32_t tile = 0; tile < tiles; tile++) {
        cb_wait_front(1, 1);
        tile_regs_acquire();
        reduce_tile<PoolType::SUM, ReduceDim::REDUCE_ROW>(1, 2, 0, 0, 0);
        tile_regs_commit();
        cb_pop_front(1, 1);
        cb_reserve_back(0, 1);
        tile_regs_wait();
        pack_tile(0, 0);
        tile_regs_release();
        cb_push_back(0, 1);
    }
}
}
"""

COPY_THROUGH_L1 = """
#include "dataflow_api.h"

void kernel_main() {
    const uint32_t l1 = get_arg_val<uint32_t>(0);
    const InterleavedAddrGen<true> source = {
        .bank_base_address = get_arg_val<uint32_t>(1), .page_size = 256};
    const InterleavedAddrGen<true> target = {
        .bank_base_address = get_arg_val<uint32_t>(2), .page_size = 256};
    const uint32_t pages = get_arg_val<uint32_t>(3);
    const uint32_t counts = get_write_ptr(3);
    auto* count = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(counts);
    count[0] = 0;
    for (uint32_t page = 0; page < pages; page++) {
        noc_async_read(get_noc_addr(page, source), l1, 256);
        noc_async_read_barrier();
        noc_async_write(l1, get_noc_addr(page, target), 256);
        noc_async_write_barrier();
        count[0] = count[0] + 1;
    }
    DPRINT << count[0] << ENDL();
}
"""


def matrix(rows: int, columns: int, seed: int) -> Any:
    """Numbers that bfloat16 has, of so few bits that sums of 32 have no more than 8."""
    return np.random.default_rng(seed).integers(-3, 4, (rows, columns)).astype(np.float32)


def upload(device: Device, target: Buffer, values: Any) -> None:
    """The tiles of a matrix."""
    data = np.frombuffer(pack_tiles(values, BF16), np.uint16)
    EnqueueWriteBuffer(device.command_queue(), target, data)


def download(device: Device, source: Buffer, rows: int, columns: int) -> Any:
    """The matrix in a buffer."""
    data = EnqueueReadBuffer(device.command_queue(), source, dtype=np.uint8)
    return unpack_tiles(data, BF16, rows, columns)


@ON_SCHEDULES
def test_sum_of_shards_without_the_protocol(options: dict[str, Any]) -> None:
    """Nobody reserves, pushes or waits: the tensors are in L1 when the kernel starts."""
    device, program = CreateDevice(0, **options), CreateProgram()
    cores, rows, columns = CoreRange(CoreCoord(0, 0), CoreCoord(2, 0)), 96, 64
    shards = ShardSpecBuffer(cores, (32, columns), tensor2d_shape=(rows // 32, columns // 32))
    a, b, total = (
        CreateBuffer(
            ShardedBufferConfig(
                device=device, size=2 * rows * columns, page_size=TILE, shard_parameters=shards
            )
        )
        for _ in range(3)
    )
    x, y = matrix(rows, columns, 0), matrix(rows, columns, 1)
    upload(device, a, x)
    upload(device, b, y)
    for index, tensor in ((CBIndex.c_0, a), (CBIndex.c_1, b), (CBIndex.c_16, total)):
        create_cbs(program, cores, index, on=tensor)
    CreateKernelFromString(program, ADD_SHARDS, cores, ComputeConfig(compile_args=[2]))
    assert run_without_errors(device, program) == set()
    np.testing.assert_array_equal(download(device, total, rows, columns), x + y)


@ON_SCHEDULES
def test_multicast_from_one_page(options: dict[str, Any]) -> None:
    """A sender fills one page again and again; its last multicast has no barrier."""
    device, program = CreateDevice(0, **options), CreateProgram()
    sender, receivers = CoreCoord(0, 0), CoreRange(CoreCoord(1, 0), CoreCoord(3, 0))
    everyone = CoreRange(CoreCoord(0, 0), CoreCoord(3, 0))
    tiles = 3
    source, target = (create_pages(device, count * tiles) for count in (1, 3))
    x = matrix(tiles * 32, 32, 0)
    upload(device, source, x)
    create_cbs(program, everyone, CBIndex.c_0, pages=1)
    for _ in range(2):
        CreateSemaphore(program, everyone, 0)
    first = device.worker_core_from_logical_core(sender)
    start, end = (device.worker_core_from_logical_core(CoreCoord(x, 0)) for x in (1, 3))
    send = CreateKernelFromString(program, SEND_TILES, sender, ReaderDataMovementConfig())
    rectangle = [start.x, start.y, end.x, end.y]
    corners = rectangle if send.noc_index == 0 else [*rectangle[2:], *rectangle[:2]]
    SetRuntimeArgs(program, send, sender, [source, tiles, *corners, 3])
    receive = CreateKernelFromString(program, RECEIVE_TILES, receivers, ReaderDataMovementConfig())
    SetRuntimeArgs(program, receive, receivers, [tiles, first.x, first.y])
    write = CreateKernelFromString(program, WRITE_TILES, receivers, WriterDataMovementConfig())
    for number in range(3):
        arguments = [target, tiles, number * tiles]
        SetRuntimeArgs(program, write, CoreCoord(number + 1, 0), arguments)
    assert run_without_errors(device, program) == {"missing-barrier", "cb-unreserved-write"}
    result = download(device, target, 3 * tiles * 32, 32)
    np.testing.assert_array_equal(result, np.concatenate([x, x, x]))


@ON_SCHEDULES
def test_reduction_that_never_waits_for_its_scaler(options: dict[str, Any]) -> None:
    """The wait for the first tile is one for the scaler, which the reader has pushed before."""
    device, program = CreateDevice(0, **options), CreateProgram()
    core, tiles = CoreCoord(1, 2), 3
    source, target = (create_pages(device, tiles) for _ in range(2))
    x = matrix(tiles * 32, 32, 0)
    upload(device, source, x)
    for index, pages in ((CBIndex.c_0, 2), (CBIndex.c_1, 2), (CBIndex.c_2, 1)):
        create_cbs(program, core, index, pages=pages)
    read = CreateKernelFromString(program, REDUCE_READER, core, ReaderDataMovementConfig())
    CreateKernelFromString(program, REDUCE_ROWS, core, ComputeConfig(compile_args=[tiles]))
    write = CreateKernelFromString(program, WRITE_TILES, core, WriterDataMovementConfig())
    SetRuntimeArgs(program, read, core, [source, tiles])
    SetRuntimeArgs(program, write, core, [target, tiles, 0])
    assert run_without_errors(device, program) == {"cb-unwaited-read"}
    result = download(device, target, tiles * 32, 32)
    np.testing.assert_array_equal(result[:, 0], x.sum(1))


@ON_SCHEDULES
def test_loopback_through_a_buffer_in_l1(options: dict[str, Any]) -> None:
    """A circular buffer serves as memory for words; what goes by is in a buffer in L1."""
    lines: list[str] = []
    device = CreateDevice(0, print_line=lines.append, **options)
    program, core, pages = CreateProgram(), CoreCoord(0, 0), 20
    l1 = create_pages(device, 1, 256, BufferType.L1)
    source, target = (create_pages(device, pages, 256) for _ in range(2))
    numbers = np.random.default_rng(0).integers(0, 1 << 32, pages * 64, np.uint32)
    EnqueueWriteBuffer(device.command_queue(), source, numbers)
    create_cbs(program, core, CBIndex.c_3, pages=1)
    kernel = CreateKernelFromString(program, COPY_THROUGH_L1, core, ReaderDataMovementConfig())
    SetRuntimeArgs(program, kernel, core, [l1, source, target, pages])
    assert run_without_errors(device, program) == {"cb-unreserved-write"}
    np.testing.assert_array_equal(EnqueueReadBuffer(device.command_queue(), target), numbers)
    assert lines[0].endswith(": 20")
