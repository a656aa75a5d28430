"""Layouts of tensors among the common run-time arguments, and parts of buffers."""

from __future__ import annotations

import numpy as np
import pytest

from ttmlir.metalium import (
    ArgConfig,
    Buffer,
    BufferRegion,
    CircularBufferConfig,
    CoreRange,
    CreateBuffer,
    CreateCircularBuffer,
    CreateDevice,
    CreateKernelFromString,
    CreateProgram,
    DataFormat,
    Device,
    EnqueueReadBuffer,
    EnqueueReadSubBuffer,
    EnqueueWriteBuffer,
    EnqueueWriteSubBuffer,
    InterleavedBufferConfig,
    MetaliumError,
    ReaderDataMovementConfig,
    SetCommonRuntimeArgs,
    SetRuntimeArgs,
    ShardedBufferConfig,
    ShardSpecBuffer,
    TensorAccessorArgs,
    TensorMemoryLayout,
    detail,
)

SHOW = """
#include "api/dataflow/dataflow_api.h"
void kernel_main() {
    const auto tensor = TensorAccessor(TensorAccessorArgs<0, 0>(), get_arg_val<uint32_t>(0), 64);
    for (uint32_t page = 0; page < 12; page++) {
        DPRINT << tensor.get_noc_addr(page) << ENDL();
    }
}
"""


def sharded(device: Device) -> Buffer:
    """4x3 pages in shards of 3x2 on four cores."""
    spec = ShardSpecBuffer(
        CoreRange((1, 2), (2, 3)), (3, 32), page_shape=(1, 16), tensor2d_shape=(4, 3)
    )
    return CreateBuffer(
        ShardedBufferConfig(
            device=device,
            size=12 * 64,
            page_size=64,
            buffer_layout=TensorMemoryLayout.BLOCK_SHARDED,
            shard_parameters=spec,
        )
    )


@pytest.mark.parametrize(
    ("config", "constants"),
    [
        (0, 9),
        (ArgConfig.RuntimeTensorShape, 7),
        (ArgConfig.RuntimeBankCoords | ArgConfig.RuntimeNumBanks, 6),
        (ArgConfig.Runtime, 1),
    ],
)
def test_layouts_at_run_time(config: ArgConfig, constants: int) -> None:
    """Kernels find the same pages, wherever the parts of the layout are."""
    device, program = CreateDevice(0), CreateProgram()
    buffer = sharded(device)
    compile_time: list[int] = []
    common: list[int] = []
    TensorAccessorArgs(buffer, config).append_to(compile_time, common)
    # Flags, rank, banks, two shapes of two extents, four places in two words.
    assert (len(compile_time), len(compile_time) + len(common)) == (constants, 9)
    kernel = CreateKernelFromString(program, SHOW, (0, 0), ReaderDataMovementConfig(compile_time))
    SetRuntimeArgs(program, kernel, (0, 0), [buffer])
    SetCommonRuntimeArgs(program, kernel, common)
    detail.LaunchProgram(device, program)
    expected = list[str]()
    for row in range(4):
        for column in range(3):
            x, y = device.worker_core_from_logical_core((1 + column // 2, 2 + row // 3))
            address = buffer.address() + 64 * (row % 3 * 2 + column % 2)
            expected.append(f"core (0, 0) NCRISC: {y << 42 | x << 36 | address}")
    assert device.printed == expected


def test_layouts_that_cannot_be() -> None:
    """The rank goes with the shapes, and the second list has to be there."""
    buffer = sharded(CreateDevice(0))
    with pytest.raises(MetaliumError, match="the rank can be a run-time argument only with both"):
        TensorAccessorArgs(buffer, ArgConfig.RuntimeRank)
    with pytest.raises(MetaliumError, match="give append_to their list, too"):
        TensorAccessorArgs(buffer, ArgConfig.RuntimeTensorShape).append_to([])
    assert TensorAccessorArgs.create_dram_interleaved().get_compile_time_args() == [2]
    assert TensorAccessorArgs.create_l1_interleaved().get_compile_time_args() == [0]


COPY = """
#include "api/dataflow/dataflow_api.h"
void kernel_main() {
    constexpr auto from = TensorAccessorArgs<1>();
    constexpr auto to = TensorAccessorArgs<from.next_compile_time_args_offset()>();
    constexpr uint32_t last = get_compile_time_arg_val(to.next_compile_time_args_offset());
    const auto source = TensorAccessor(from, get_arg_val<uint32_t>(0), 64);
    const auto target = TensorAccessor(to, get_arg_val<uint32_t>(1), 64);
    const uint32_t l1 = get_write_ptr(0);
    for (uint32_t page = 0; page < get_compile_time_arg_val(0); page++) {
        noc_async_read(source.get_noc_addr(page), l1, 64);
        noc_async_read_barrier();
        noc_async_write(l1, target.get_noc_addr(page + last), 64);
        noc_async_write_barrier();
    }
}
"""


def test_arguments_without_buffer() -> None:
    """Those of tt-metal 0.81 have a page size of 0, which the kernel says: arguments follow."""
    before = CreateDevice(0)
    device, program = CreateDevice(0, tt_metal="0.81"), CreateProgram()
    size = 7 * 64
    source, target = (
        CreateBuffer(InterleavedBufferConfig(device=device, size=size, page_size=64))
        for _ in range(2)
    )
    arguments = [5]
    TensorAccessorArgs.create_dram_interleaved().append_to(arguments)
    TensorAccessorArgs(target).append_to(arguments)
    # As the words of libtt_metal 0.81.1: the flags, 0 for what is not known, 64.
    assert [each & 0xFF for each in arguments] == [5, 2, 0, 2, 64]
    words = TensorAccessorArgs.create_l1_interleaved().get_compile_time_args()
    assert [each & 0xFF for each in words] == [0, 0]
    CreateCircularBuffer(
        program, (0, 0), CircularBufferConfig(64, {0: DataFormat.UInt32}).set_page_size(0, 64)
    )
    kernel = CreateKernelFromString(
        program, COPY, (0, 0), ReaderDataMovementConfig([*arguments, 2])
    )
    SetRuntimeArgs(program, kernel, (0, 0), [source, target])
    numbers = np.arange(size // 4, dtype=np.uint32) * 3
    queue = device.command_queue()
    EnqueueWriteBuffer(queue, source, numbers)
    EnqueueWriteBuffer(queue, target, np.zeros_like(numbers))
    detail.LaunchProgram(device, program)
    expected = np.zeros_like(numbers)
    expected[32:] = numbers[:80]
    assert EnqueueReadBuffer(queue, target).tolist() == expected.tolist()
    assert device.close()
    assert before.is_open
    assert TensorAccessorArgs.create_dram_interleaved().get_compile_time_args() == [2]


def test_parts_of_buffers() -> None:
    """Whole pages are written and read; the others stay."""
    device = CreateDevice(0)
    queue = device.command_queue()
    buffer = CreateBuffer(InterleavedBufferConfig(device=device, size=320, page_size=32))
    numbers = np.arange(80, dtype=np.uint32)
    EnqueueWriteBuffer(queue, buffer, numbers)
    EnqueueWriteSubBuffer(queue, buffer, [7] * 16, BufferRegion(96, 64))
    numbers[24:40] = 7
    part = np.zeros(24, np.uint32)
    EnqueueReadSubBuffer(queue, buffer, part, BufferRegion(64, 96), False)
    assert EnqueueReadBuffer(queue, buffer).tolist() == numbers.tolist()
    assert part.tolist() == numbers[16:40].tolist()
    with pytest.raises(MetaliumError, match="64 bytes are written to a buffer of 32; write all"):
        EnqueueWriteSubBuffer(queue, buffer, [7] * 16, BufferRegion(96, 32))
    with pytest.raises(MetaliumError, match="a region of 0 bytes from 0 on is not in a buffer"):
        EnqueueReadSubBuffer(queue, buffer, None, BufferRegion())
