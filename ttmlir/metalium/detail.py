"""The names of `tt_metal::detail`: programs and memory without a command queue.

Source: tt-metal, tt_metal/api/tt-metalium/tt_metal.hpp.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from ttmlir.metalium.buffers import Buffer
from ttmlir.metalium.cores import cores_of
from ttmlir.metalium.device import Device, check_device
from ttmlir.metalium.enums import DataFormat, tile_size
from ttmlir.metalium.errors import MetaliumError, host_call
from ttmlir.metalium.host_api import (
    EnqueueProgram,
    EnqueueReadBuffer,
    EnqueueWriteBuffer,
    host_bytes,
)
from ttmlir.sim.execution.program import Program
from ttmlir.sim.execution.run import ProgramReport
from ttmlir.sim.machine.memory import Memory

__all__ = [
    "LaunchProgram",
    "ReadFromBuffer",
    "ReadFromDeviceDRAMChannel",
    "ReadFromDeviceL1",
    "TileSize",
    "WriteToBuffer",
    "WriteToDeviceDRAMChannel",
    "WriteToDeviceL1",
]


def LaunchProgram(
    device: Device, program: Program, wait_until_cores_done: bool = True
) -> ProgramReport:
    """Run a program; returns what its threads did."""
    return EnqueueProgram(check_device(device).command_queue(), program, True)


def WriteToBuffer(buffer: Buffer, host_buffer: ArrayLike | bytes) -> None:
    """Fill a buffer."""
    EnqueueWriteBuffer(buffer.device().command_queue(), buffer, host_buffer, True)


def ReadFromBuffer(
    buffer: Buffer,
    host_buffer: NDArray[Any] | list[int] | None = None,
    *,
    dtype: DTypeLike = np.uint32,
) -> NDArray[Any]:
    """Read a buffer; returns what was read."""
    return EnqueueReadBuffer(
        buffer.device().command_queue(), buffer, host_buffer, True, dtype=dtype
    )


def WriteToDeviceL1(
    device: Device, logical_core: tuple[int, int], address: int, host_buffer: ArrayLike | bytes
) -> bool:
    """Write bytes to the L1 of a core."""
    _write(device, _l1(device, logical_core), address, host_buffer)
    return True


def ReadFromDeviceL1(
    device: Device,
    logical_core: tuple[int, int],
    address: int,
    size: int,
    host_buffer: list[int] | None = None,
) -> NDArray[np.uint32]:
    """The words of so many bytes of the L1 of a core; a list is filled with them, too."""
    return _read(device, _l1(device, logical_core), address, size, host_buffer)


def WriteToDeviceDRAMChannel(
    device: Device, dram_channel: int, address: int, host_buffer: ArrayLike | bytes
) -> bool:
    """Write bytes to a channel of DRAM."""
    _write(device, _dram(device, dram_channel), address, host_buffer)
    return True


def ReadFromDeviceDRAMChannel(
    device: Device, dram_channel: int, address: int, size: int, host_buffer: list[int] | None = None
) -> NDArray[np.uint32]:
    """The words of so many bytes of a channel of DRAM; a list is filled with them, too."""
    return _read(device, _dram(device, dram_channel), address, size, host_buffer)


def TileSize(data_format: DataFormat) -> int:
    """Bytes of a tile; `tile_size` by its name of 2024."""
    return tile_size(data_format)


def _l1(device: Device, logical_core: tuple[int, int]) -> Memory:
    check_device(device)
    ((x, y),) = cores_of(logical_core)
    with host_call():
        return device.simulated.core(x, y).l1


def _dram(device: Device, channel: int) -> Memory:
    check_device(device)
    channels = device.simulated.dram
    if not 0 <= channel < len(channels):
        raise MetaliumError(
            f"channel {channel} of DRAM; device {device.id()} has channels 0 to {len(channels) - 1}"
        )
    return channels[channel]


def _write(device: Device, memory: Memory, address: int, host_buffer: ArrayLike | bytes) -> None:
    data = host_bytes(host_buffer)
    _check_range(memory, address, len(data))
    device.command_queue().settle()
    memory.write(address, data)
    if device.simulated.watch is not None:
        device.simulated.watch.host_write(memory, address, len(data))


def _read(
    device: Device, memory: Memory, address: int, size: int, host_buffer: list[int] | None
) -> NDArray[np.uint32]:
    _check_range(memory, address, size)
    device.command_queue().settle()
    if device.simulated.watch is not None:
        device.simulated.watch.host_read(memory, address, size)
    words = np.frombuffer(bytes(memory.read(address, size)), np.uint32).copy()
    if host_buffer is not None:
        host_buffer[:] = words.tolist()
    return words


def _check_range(memory: Memory, address: int, size: int) -> None:
    """MetaliumError for what is no whole number of words in the memory."""
    if address % 4 or size % 4 or size < 1:
        raise MetaliumError(
            f"{size} bytes from address {address} on; memory is written and read in words of 4 "
            "bytes"
        )
    if not 0 <= address <= memory.size - size:
        raise MetaliumError(
            f"{size} bytes from address {address:#x} on are not in {memory.size:#x} bytes"
        )
