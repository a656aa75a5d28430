"""Buffers as the host sees them. Source: tt-metal, tt_metal/api/tt-metalium/buffer.hpp."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntFlag
from typing import cast

from ttmlir.layout.enums import MemorySpace
from ttmlir.layout.enums import TensorMemoryLayout as Layout
from ttmlir.metalium.configs import (
    InterleavedBufferConfig,
    ShardedBufferConfig,
    shard_cores,
    shard_pages,
)
from ttmlir.metalium.cores import CoreCoord
from ttmlir.metalium.device import Device
from ttmlir.metalium.enums import BufferType, TensorMemoryLayout
from ttmlir.metalium.errors import MetaliumError, host_call
from ttmlir.sim.machine.address_generators import (
    RUNTIME_BANKS,
    RUNTIME_NUM_BANKS,
    RUNTIME_RANK,
    RUNTIME_SHAPE,
    RUNTIME_SHARD_SHAPE,
    AccessorArgs,
    split_accessor_words,
)
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

    def __init__(
        self,
        config: InterleavedBufferConfig | ShardedBufferConfig,
        *,
        address: int | None = None,
        bottom_up: bool | None = None,
    ) -> None:
        """Take memory; MetaliumError if sizes do not fit each other or memory is full.

        `bottom_up` says from which side of the memory; None: DRAM from the bottom, L1 from the top.
        """
        if not isinstance(cast("object", config.device), Device):
            raise MetaliumError(f"'device' is an open device, not {config.device!r}")
        config.device.check_open()
        if config.buffer_type not in _SPACES:
            raise MetaliumError(f"a buffer is in DRAM or L1, not in {config.buffer_type!s}")
        for name in ("size", "page_size"):
            if not isinstance(getattr(config, name), int):
                raise MetaliumError(
                    f"'{name}' is {getattr(config, name)!r}; sizes are whole numbers of bytes: "
                    "divide with //"
                )
        if isinstance(config, InterleavedBufferConfig) and config.buffer_layout in _LAYOUTS:
            raise MetaliumError(
                f"{config.buffer_layout!s} is a layout with shards; use ShardedBufferConfig"
            )
        self._device = config.device
        self._type = config.buffer_type
        self._config = config
        with host_call():
            self.simulated = SimBuffer(
                config.device.simulated,
                config.size,
                config.page_size,
                _SPACES[config.buffer_type],
                sharding=_sharding(config) if isinstance(config, ShardedBufferConfig) else None,
                address=address,
                bottom_up=bottom_up,
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

    def aligned_page_size(self) -> int:
        """Bytes from a page to the next one of a bank."""
        return self.simulated.pages.stride

    def aligned_size(self) -> int:
        """Bytes of all pages with what fills them up."""
        return self.num_pages() * self.aligned_page_size()

    def num_pages(self) -> int:
        """How many pages there are."""
        return self.simulated.num_pages

    def buffer_type(self) -> BufferType:
        """The memory that the buffer is in."""
        return self._type

    def buffer_layout(self) -> TensorMemoryLayout:
        """How the pages are spread over banks."""
        return self._config.buffer_layout

    def is_dram(self) -> bool:
        """Whether the buffer is in DRAM."""
        return self._type is BufferType.DRAM

    def is_l1(self) -> bool:
        """Whether the buffer is in L1."""
        return self._type is BufferType.L1

    def is_allocated(self) -> bool:
        """Whether its memory was not given back."""
        return self.simulated.allocated

    def noc_coordinates(self, bank_id: int = 0) -> CoreCoord:
        """Where on the network a bank is that the buffer has pages in."""
        banks = self.simulated.pages.banks
        if not 0 <= bank_id < len(banks):
            raise MetaliumError(f"bank {bank_id} of a buffer that has banks 0 to {len(banks) - 1}")
        return CoreCoord(*banks[bank_id].coordinate)

    def page_address(self, bank_id: int, page_index: int) -> int:
        """The address of a page in its bank; MetaliumError if it is in another bank."""
        if not 0 <= page_index < self.num_pages():
            raise MetaliumError(
                f"page {page_index} of a buffer that has pages 0 to {self.num_pages() - 1}"
            )
        bank, address = self.simulated.pages.locate(page_index)
        own = self.simulated.pages.banks.index(bank)
        if own != bank_id:
            raise MetaliumError(f"page {page_index} is in bank {own}, not in bank {bank_id}")
        return address


@dataclass(frozen=True)
class BufferRegion:
    """A part of a buffer, from an offset on; both in bytes."""

    offset: int = 0
    size: int = 0


def pages_of(buffer: Buffer, region: BufferRegion) -> range:
    """The pages of a region; MetaliumError if it is not made of whole pages of the buffer."""
    page = buffer.page_size()
    if region.offset < 0 or region.size < 1 or region.offset + region.size > buffer.size():
        raise MetaliumError(
            f"a region of {region.size} bytes from {region.offset} on is not in a buffer of "
            f"{buffer.size()} bytes"
        )
    if region.offset % page or region.size % page:
        raise MetaliumError(
            f"a region of {region.size} bytes from {region.offset} on is not made of whole pages "
            f"of {page} bytes"
        )
    return range(region.offset // page, (region.offset + region.size) // page)


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


class ArgConfig(IntFlag):
    """What of a layout is among the common run-time arguments.

    Source: tt-metal, tt_metal/hostdevcommon/api/hostdevcommon/tensor_accessor/arg_config.hpp.
    """

    RuntimeRank = RUNTIME_RANK
    RuntimeNumBanks = RUNTIME_NUM_BANKS
    RuntimeTensorShape = RUNTIME_SHAPE
    RuntimeShardShape = RUNTIME_SHARD_SHAPE
    RuntimeBankCoords = RUNTIME_BANKS
    Runtime = RUNTIME_RANK | RUNTIME_NUM_BANKS | RUNTIME_SHAPE | RUNTIME_SHARD_SHAPE | RUNTIME_BANKS


class TensorAccessorArgs:
    """What a kernel's `TensorAccessorArgs` reads of a buffer from its arguments.

    Source: tt-metal, tt_metal/api/tt-metalium/tensor_accessor_args.hpp.
    """

    def __init__(
        self,
        buffer: Buffer,
        args_config: ArgConfig | int = 0,
        *,
        aligned_page_size: bool = False,
    ) -> None:
        """The layout of a buffer; with the aligned size of a page in the order of late 2026."""
        if not isinstance(cast("object", buffer), Buffer):
            raise MetaliumError(f"TensorAccessorArgs takes a buffer, not {buffer!r}")
        args = buffer.simulated.accessor_args()
        if aligned_page_size:
            args = replace(args, page_size=buffer.aligned_page_size())
        self._set(args, int(args_config))

    def _set(self, args: AccessorArgs, runtime: int) -> None:
        with host_call():
            self._words, self._common = split_accessor_words(args, runtime)

    @classmethod
    def create_dram_interleaved(cls) -> TensorAccessorArgs:
        """Those of any interleaved buffer in DRAM."""
        return cls._interleaved(is_dram=True)

    @classmethod
    def create_l1_interleaved(cls) -> TensorAccessorArgs:
        """Those of any interleaved buffer in L1."""
        return cls._interleaved(is_dram=False)

    @classmethod
    def _interleaved(cls, *, is_dram: bool) -> TensorAccessorArgs:
        made = cls.__new__(cls)
        made._set(AccessorArgs(is_sharded=False, is_dram=is_dram), 0)
        return made

    def get_compile_time_args(self) -> list[int]:
        """The compile-time arguments."""
        return list(self._words)

    def get_common_runtime_args(self) -> list[int]:
        """The common run-time arguments."""
        return list(self._common)

    def append_to(
        self, compile_time_args: list[int], common_runtime_args: list[int] | None = None
    ) -> None:
        """Put them behind other compile-time and common run-time arguments."""
        if self._common and common_runtime_args is None:
            raise MetaliumError(
                "args_config puts a part of the layout among the common run-time arguments; give "
                "append_to their list, too"
            )
        compile_time_args.extend(self._words)
        if common_runtime_args is not None:
            common_runtime_args.extend(self._common)
