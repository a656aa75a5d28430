"""Setting up programs by hand with the host API: buffers, circular buffers, and their run."""

from __future__ import annotations

from typing import Any

from ttmlir.metalium import (
    Buffer,
    BufferType,
    CircularBufferConfig,
    CreateBuffer,
    CreateCircularBuffer,
    DataFormat,
    Device,
    EnqueueProgram,
    InterleavedBufferConfig,
    Program,
    tile_size,
)

TILE_BYTES = tile_size(DataFormat.Float16_b)


def create_pages(
    device: Device,
    pages: int,
    page_size: int = TILE_BYTES,
    space: BufferType = BufferType.DRAM,
) -> Buffer:
    """An interleaved buffer, in DRAM unless it is said otherwise."""
    return CreateBuffer(
        InterleavedBufferConfig(
            device=device, size=pages * page_size, page_size=page_size, buffer_type=space
        )
    )


def create_cbs(
    program: Program,
    cores: Any,
    *indices: int,
    pages: int = 2,
    page_size: int | None = None,
    data_format: DataFormat = DataFormat.Float16_b,
    on: Buffer | None = None,
) -> None:
    """Circular buffers of one format, of tiles unless it is said otherwise, perhaps on a buffer."""
    size = page_size or tile_size(data_format)
    for index in indices:
        config = CircularBufferConfig(pages * size, {index: data_format})
        if on is not None:
            config.set_globally_allocated_address(on)
        CreateCircularBuffer(program, cores, config.set_page_size(index, size))


def run_without_errors(device: Device, program: Program) -> set[str]:
    """Run a program in which the sanitizer finds no error; the rules of its warnings."""
    report = EnqueueProgram(device.command_queue(), program)
    assert not [each for each in report.findings if each.severity == "error"]
    return {each.rule for each in report.findings if each.severity == "warning"}
