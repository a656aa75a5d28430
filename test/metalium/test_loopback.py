"""Programs without compute: copies through circular buffers, multicasts, semaphores."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from running.host_programs import create_cbs, create_pages

from ttmlir.metalium import (
    NOC,
    CBIndex,
    CloseDevice,
    CoreCoord,
    CoreRange,
    CreateDevice,
    CreateKernelFromString,
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
    ReaderDataMovementConfig,
    SetRuntimeArgs,
    WriterDataMovementConfig,
    split_work_to_cores,
)

READER = """
#include <cstdint>
#include "dataflow_api.h"

void kernel_main() {
    const uint32_t address = get_arg_val<uint32_t>(0);
    const uint32_t first = get_arg_val<uint32_t>(1);
    const uint32_t count = get_arg_val<uint32_t>(2);
    constexpr uint32_t cb = get_compile_time_arg_val(0);
    const InterleavedAddrGenFast<true> source = {
        .bank_base_address = address,
        .page_size = get_tile_size(cb),
        .data_format = get_dataformat(cb)};
    for (uint32_t i = first; i < first + count; i++) {
        cb_reserve_back(cb, 1);
        noc_async_read_tile(i, source, get_write_ptr(cb));
        noc_async_read_barrier();
        cb_push_back(cb, 1);
    }
}
"""

WRITER = """
#include <cstdint>
#include "dataflow_api.h"

void kernel_main() {
    const uint32_t address = get_arg_val<uint32_t>(0);
    const uint32_t first = get_arg_val<uint32_t>(1);
    const uint32_t count = get_arg_val<uint32_t>(2);
    constexpr uint32_t cb = get_compile_time_arg_val(0);
    const InterleavedAddrGenFast<true> target = {
        .bank_base_address = address,
        .page_size = get_tile_size(cb),
        .data_format = get_dataformat(cb)};
    for (uint32_t i = first; i < first + count; i++) {
        cb_wait_front(cb, 1);
        noc_async_write_tile(i, target, get_read_ptr(cb));
        noc_async_write_barrier();
        cb_pop_front(cb, 1);
    }
}
"""

SCHEDULES: list[dict[str, Any]] = [
    {},
    {"timed": False},
    {"timed": False, "sanitize": False},
    {"schedule_seed": 1},
    {"schedule_seed": 2, "delay_copies": True, "timed": False},
    {"delay_copies": True},
]


def copy_program(device: Device, pages: int, grid: CoreCoord) -> tuple[Any, Any, Program]:
    """Buffers, and a program that copies the first to the second."""
    source, target = create_pages(device, pages), create_pages(device, pages)
    program = CreateProgram()
    _, cores, first_group, _, many, few = split_work_to_cores(grid, pages)
    create_cbs(program, cores, CBIndex.c_0, pages=3)
    args = [int(CBIndex.c_0)]
    reader = CreateKernelFromString(program, READER, cores, ReaderDataMovementConfig(args))
    writer = CreateKernelFromString(program, WRITER, cores, WriterDataMovementConfig(args))
    first = 0
    for core in cores:
        count = many if core in first_group else few
        SetRuntimeArgs(program, reader, core, [source, first, count])
        SetRuntimeArgs(program, writer, core, [target.address(), first, count])
        first += count
    assert first == pages
    return source, target, program


@pytest.mark.parametrize("options", SCHEDULES)
@pytest.mark.parametrize("grid", [CoreCoord(1, 1), CoreCoord(3, 2)])
def test_copy_through_a_circular_buffer(grid: CoreCoord, options: dict[str, Any]) -> None:
    """Every tile of a buffer in DRAM arrives in the other buffer."""
    pages = 29
    data = np.random.default_rng(1).integers(0, 1 << 16, (pages, 1024), np.uint16)
    device = CreateDevice(0, **options)
    queue = device.command_queue()
    source, target, program = copy_program(device, pages, grid)
    EnqueueWriteBuffer(queue, source, data)
    EnqueueProgram(queue, program)
    result = EnqueueReadBuffer(queue, target, dtype=np.uint16)
    np.testing.assert_array_equal(result.reshape(pages, 1024), data)
    CloseDevice(device)


MULTICAST = """
#include <cstdint>
#include "dataflow_api.h"

void kernel_main() {
    const uint32_t address = get_arg_val<uint32_t>(0);
    const uint32_t is_sender = get_arg_val<uint32_t>(1);
    const uint32_t target = get_arg_val<uint32_t>(2);
    const uint32_t place = get_arg_val<uint32_t>(3);
    const uint32_t start_x = get_arg_val<uint32_t>(4), start_y = get_arg_val<uint32_t>(5);
    const uint32_t end_x = get_arg_val<uint32_t>(6), end_y = get_arg_val<uint32_t>(7);
    constexpr uint32_t cb = get_compile_time_arg_val(0);
    constexpr uint32_t receivers = get_compile_time_arg_val(1);
    constexpr uint32_t size = get_compile_time_arg_val(2);
    const uint32_t ready_address = get_semaphore(get_compile_time_arg_val(3));
    const uint32_t valid_address = get_semaphore(get_compile_time_arg_val(4));
    volatile tt_l1_ptr uint32_t* ready =
        reinterpret_cast<volatile tt_l1_ptr uint32_t*>(ready_address);
    volatile tt_l1_ptr uint32_t* valid =
        reinterpret_cast<volatile tt_l1_ptr uint32_t*>(valid_address);
    const InterleavedAddrGen<true> source = {.bank_base_address = address, .page_size = size};
    const InterleavedAddrGen<true> results = {.bank_base_address = target, .page_size = size};

    cb_reserve_back(cb, 1);
    const uint32_t data = get_write_ptr(cb);
    if (is_sender) {
        noc_async_read_page(0, source, data);
        noc_async_read_barrier();
        noc_semaphore_wait(ready, receivers);
        noc_semaphore_set(ready, 0);
        const uint64_t rectangle = get_noc_multicast_addr(start_x, start_y, end_x, end_y, data);
        noc_async_write_multicast(data, rectangle, size, receivers);
        noc_semaphore_set(valid, VALID);
        noc_semaphore_set_multicast(
            valid_address,
            get_noc_multicast_addr(start_x, start_y, end_x, end_y, valid_address),
            receivers);
        noc_async_write_barrier();
    } else {
        noc_semaphore_inc(get_noc_addr(start_x, start_y, ready_address), 1);
        noc_semaphore_wait(valid, VALID);
        noc_async_atomic_barrier();
    }
    cb_push_back(cb, 1);
    cb_wait_front(cb, 1);
    noc_async_write_page(place, results, get_read_ptr(cb));
    noc_async_write_barrier();
    cb_pop_front(cb, 1);
}
"""


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("options", SCHEDULES)
@pytest.mark.parametrize("noc", [NOC.NOC_0, NOC.NOC_1])
def test_multicast_and_semaphores(noc: NOC, options: dict[str, Any]) -> None:
    """One core reads a page and gives it to all others of a 3x2 rectangle."""
    size = 96
    device = CreateDevice(0, **options)
    queue = device.command_queue()
    cores = CoreRange((1, 2), (3, 3))
    source, target = create_pages(device, 1, size), create_pages(device, cores.size(), size)
    program = CreateProgram()
    create_cbs(program, cores, 5, pages=1, page_size=size, data_format=DataFormat.UInt8)
    semaphores = [CreateSemaphore(program, cores, 0) for _ in range(2)]
    kernel = CreateKernelFromString(
        program,
        MULTICAST,
        cores,
        DataMovementConfig(
            processor=DataMovementProcessor.RISCV_1,
            noc=noc,
            compile_args=[5, cores.size() - 1, size, *semaphores],
        ),
    )
    first = device.worker_core_from_logical_core(cores.start_coord)
    last = device.worker_core_from_logical_core(cores.end_coord)
    for place, core in enumerate(cores):
        is_sender = core == cores.start_coord
        rectangle = (*last, *first) if is_sender and noc == NOC.NOC_1 else (*first, *last)
        SetRuntimeArgs(program, kernel, core, [source, int(is_sender), target, place, *rectangle])
    data = np.random.default_rng(2).integers(0, 256, size, np.uint8)
    EnqueueWriteBuffer(queue, source, data)
    EnqueueProgram(queue, program)
    result = np.empty((cores.size(), size), np.uint8)
    EnqueueReadBuffer(queue, target, result, blocking=False)
    assert (result == 0xFF).all()
    Finish(queue)
    np.testing.assert_array_equal(result, np.tile(data, (cores.size(), 1)))
    CloseDevice(device)
