"""Buffers as the host sees them. Source: tt-metal, tt_metal/api/tt-metalium/buffer.hpp."""

from __future__ import annotations

from dataclasses import replace

from ttmlir.layout.enums import MemorySpace
from ttmlir.layout.enums import TensorMemoryLayout as Layout
from ttmlir.metalium.configs import (
    InterleavedBufferConfig,
    ShardedBufferConfig,
    shard_cores,
    shard_pages,
)
from ttmlir.metalium.device import Device
from ttmlir.metalium.enums import BufferType, TensorMemoryLayout
from ttmlir.metalium.errors import MetaliumError, host_call
from ttmlir.sim.machine.address_generators import accessor_words
from ttmlir.sim.machine.buffer import Buffer as SimBuffer
from ttmlir.sim.machine.buffer import Sharding

_SPACES = {BufferType.DRAM: MemorySpace.DEVICE_DRAM, BufferType.L1: MemorySpace.DEVICE_L1}

_LAYOUTS = {
    TensorMemoryLayout.HEIGHT_SHARDED: Layout.HEIGHT_SHARDED,
    TensorMemoryLayout.WIDTH_SHARDED: Layout.WIDTH_SHARDED,
    TensorMemoryLayout.BLOCK_SHARDED: Layout.BLOCK_SHARDED,
}


class Buffer:
    """Memory on a device; `CreateBuffer` makes it."""

    def __init__(self, config: InterleavedBufferConfig | ShardedBufferConfig) -> None:
        """Take memory; MetaliumError if sizes do not fit each other or memory is full."""
        config.device.check_open()
        if config.buffer_type not in _SPACES:
            raise MetaliumError(f"a buffer is in DRAM or L1, not in {config.buffer_type.name}")
        self._device = config.device
        self._type = config.buffer_type
        with host_call():
            self.simulated = SimBuffer(
                config.device.simulated,
                config.size,
                config.page_size,
                _SPACES[config.buffer_type],
                sharding=_sharding(config) if isinstance(config, ShardedBufferConfig) else None,
            )
            """The buffer as the simulator knows it."""

    def __repr__(self) -> str:
        """Size and place."""
        return (
            f"Buffer({self.size():,} bytes in pages of {self.page_size():,}, "
            f"{self._type.name} address {self.address()})"
        )

    def device(self) -> Device:
        """The device that has the buffer."""
        return self._device

    def address(self) -> int:
        """The address in each of the banks."""
        return self.simulated.address

    def size(self) -> int:
        """Bytes of all pages."""
        return self.simulated.size

    def page_size(self) -> int:
        """Bytes of a page."""
        return self.simulated.page_size

    def num_pages(self) -> int:
        """How many pages there are."""
        return self.simulated.num_pages

    def buffer_type(self) -> BufferType:
        """The memory that the buffer is in."""
        return self._type


def _sharding(config: ShardedBufferConfig) -> Sharding:
    if config.buffer_layout not in _LAYOUTS:
        raise MetaliumError(
            "a sharded buffer is HEIGHT_SHARDED, WIDTH_SHARDED or BLOCK_SHARDED; use "
            "InterleavedBufferConfig for the others"
        )
    spec = config.shard_parameters
    return Sharding(
        layout=_LAYOUTS[config.buffer_layout],
        cores=tuple((core.x, core.y) for core in shard_cores(spec, config.buffer_layout)),
        shape=spec.tensor2d_shape,
        shard_shape=shard_pages(spec),
    )


class TensorAccessorArgs:
    """What a kernel's `TensorAccessorArgs` reads of a buffer from its compile-time arguments.

    Source: tt-metal, tt_metal/api/tt-metalium/tensor_accessor_args.hpp.
    """

    def __init__(self, buffer: Buffer, *, aligned_page_size: bool = False) -> None:
        """The layout of a buffer; with the aligned size of a page in the order of late 2026."""
        args = buffer.simulated.accessor_args()
        if aligned_page_size:
            args = replace(args, page_size=buffer.simulated.pages.stride)
        self._words = accessor_words(args)

    def get_compile_time_args(self) -> list[int]:
        """The compile-time arguments."""
        return list(self._words)

    def append_to(self, compile_time_args: list[int]) -> None:
        """Put them behind other compile-time arguments."""
        compile_time_args.extend(self._words)
