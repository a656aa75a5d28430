"""Circular buffers whose size and place change between runs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from ttmlir.layout.enums import DataType
from ttmlir.metalium import (
    Buffer,
    BufferType,
    CircularBufferConfig,
    CreateBuffer,
    CreateCircularBuffer,
    CreateDevice,
    CreateKernelFromString,
    CreateProgram,
    DataFormat,
    Device,
    GetCircularBufferConfig,
    InterleavedBufferConfig,
    MetaliumError,
    Program,
    ReaderDataMovementConfig,
    UpdateCircularBufferPageSize,
    UpdateCircularBufferTotalSize,
    UpdateDynamicCircularBufferAddress,
    UpdateDynamicCircularBufferAddressAndTotalSize,
    detail,
)
from ttmlir.sim.execution.program import CircularBufferSpec

FILL = """
#include "api/dataflow/dataflow_api.h"
void kernel_main() {
    auto words = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(get_write_ptr(3));
    words[0] = get_local_cb_interface(3).fifo_size;
    words[1] = get_local_cb_interface(3).fifo_page_size;
}
"""


def in_l1(device: Device) -> Buffer:
    """64 bytes in L1, of which core (0, 0) has the first 32."""
    return CreateBuffer(
        InterleavedBufferConfig(device=device, size=64, page_size=32, buffer_type=BufferType.L1)
    )


def make_program(device: Device) -> tuple[Program, CircularBufferSpec, Buffer]:
    """A kernel that writes what its circular buffer is into the buffer that it lies on."""
    buffer, program = in_l1(device), CreateProgram()
    config = CircularBufferConfig(32, {3: DataFormat.UInt32}).set_page_size(3, 16)
    handle = CreateCircularBuffer(program, (0, 0), config.set_globally_allocated_address(buffer))
    CreateKernelFromString(program, FILL, (0, 0), ReaderDataMovementConfig())
    return program, handle, buffer


def test_circular_buffers_move_to_other_buffers() -> None:
    """With another size and pages of another size; the first buffer keeps what it has."""
    device = CreateDevice(0)
    program, handle, first = make_program(device)
    second = in_l1(device)
    for each in (first, second):
        detail.WriteToBuffer(each, np.zeros(16, np.uint32))
    detail.LaunchProgram(device, program)
    assert detail.ReadFromBuffer(first)[:2].tolist() == [32, 16]
    UpdateCircularBufferPageSize(program, handle, 3, 8)
    UpdateDynamicCircularBufferAddress(program, handle, second)
    detail.LaunchProgram(device, program)
    assert detail.ReadFromBuffer(second)[:2].tolist() == [32, 8]
    UpdateDynamicCircularBufferAddressAndTotalSize(program, handle, first, 24)
    detail.LaunchProgram(device, program)
    assert detail.ReadFromBuffer(first)[:2].tolist() == [24, 8]
    UpdateCircularBufferTotalSize(program, handle, 16)
    UpdateDynamicCircularBufferAddress(program, handle, second, 16)
    detail.LaunchProgram(device, program)
    assert detail.ReadFromBuffer(second)[:6].tolist() == [32, 8, 0, 0, 16, 8]
    config = GetCircularBufferConfig(program, handle)
    assert (config.total_size, config.page_sizes, config.data_formats) == (
        16,
        {3: 8},
        {3: DataFormat.UInt32},
    )


def with_pages_of(size: int) -> CircularBufferConfig:
    """Circular buffer 2, of which only its pages are known."""
    config = CircularBufferConfig(192)
    config.index(2).set_page_size(size)
    return config


def create_one(program: Program, config: CircularBufferConfig) -> CircularBufferSpec:
    """Create it on one core."""
    return CreateCircularBuffer(program, (0, 0), config)


WRONG: list[tuple[Callable[[Program, CircularBufferSpec, Buffer], object], str]] = [
    (
        lambda program, handle, _: UpdateCircularBufferTotalSize(program, handle, 40),
        "circular buffer 3: 40 bytes are not made of pages of 16",
    ),
    (
        lambda program, handle, _: UpdateCircularBufferPageSize(program, handle, 4, 16),
        "circular buffer 4 is not one of 3",
    ),
    (
        lambda _, handle, __: UpdateCircularBufferTotalSize(CreateProgram(), handle, 16),
        "is no circular buffer of the program",
    ),
    (
        lambda program, _, __: UpdateCircularBufferTotalSize(program, 3, 16),
        "3 is no circular buffer of the program; give what CreateCircularBuffer returned",
    ),
    (
        lambda program, handle, _: UpdateDynamicCircularBufferAddress(program, handle, 0x1000),
        "a circular buffer is placed on a buffer in L1, not on 4096",
    ),
    (
        lambda program, _, buffer: UpdateDynamicCircularBufferAddress(
            program,
            CreateCircularBuffer(
                program,
                (0, 0),
                CircularBufferConfig(16, {5: DataFormat.UInt8}).set_page_size(5, 16),
            ),
            buffer,
        ),
        "were not placed on a buffer; create them with set_globally_allocated_address",
    ),
    (
        lambda program, handle, _: UpdateCircularBufferTotalSize(program, handle, 16 / 2),
        "the total size is 8.0; sizes are whole numbers of bytes: divide with //",
    ),
    (lambda *_: CircularBufferConfig(64, {0: "bf16"}), "the format of circular buffer 0 is 'bf16'"),
    (
        lambda *_: CircularBufferConfig(64, [0]),
        r"the formats of circular buffers are \{index: DataFormat\}, not \[0\]",
    ),
    (
        lambda *_: CircularBufferConfig(64).set_page_size(2, 64),
        "circular buffer 2 has no data format; the configuration has none",
    ),
    (
        lambda program, *_: create_one(program, with_pages_of(64)),
        r"circular buffer 2 has no data format; call set_data_format\(\)",
    ),
]


def test_formats_may_follow_pages() -> None:
    """A configuration is filled in any order."""
    config = with_pages_of(96)
    config.index(2).set_data_format(DataFormat.UInt16)
    handle = create_one(CreateProgram(), config)
    assert handle.indices == {2: (96, DataType.U16)}


@pytest.mark.parametrize(("case", "message"), WRONG)
def test_wrong_changes(
    case: Callable[[Program, CircularBufferSpec, Buffer], object], message: str
) -> None:
    """They say what is allowed, and change nothing."""
    program, handle, buffer = make_program(CreateDevice(0))
    with pytest.raises(MetaliumError, match=message):
        case(program, handle, buffer)
    assert (handle.total_size, handle.indices[3][0], handle.buffer) == (32, 16, buffer.simulated)
