"""Buffers as the host sees them. Source: tt-metal, tt_metal/api/tt-metalium/buffer.hpp."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import IntFlag
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ttmlir.layout.data_format import (
    BLOCK_FLOATS,
    bf16_bits,
    bf16_values,
    pack_block_float,
    tilize,
    unpack_block_float,
    untilize,
)
from ttmlir.layout.enums import MemorySpace
from ttmlir.layout.enums import TensorMemoryLayout as Layout
from ttmlir.limits import memory_advice, memory_limit
from ttmlir.metalium.cores import CoreCoord, CoreSpec, cores_of
from ttmlir.metalium.device import (
    Device,
    check_device,
    check_semaphore_value,
    existing_cores,
    find_release,
)
from ttmlir.metalium.enums import (
    BufferType,
    CBIndex,
    DataFormat,
    InterleavedBufferConfig,
    ShardedBufferConfig,
    TensorMemoryLayout,
    Tile,
    shard_cores,
    shard_pages,
)
from ttmlir.metalium.errors import MetaliumError, host_call
from ttmlir.optable.kernel.releases import Release
from ttmlir.sim.execution.program import CircularBufferSpec, GlobalPages, Program
from ttmlir.sim.machine.address_generators import (
    RUNTIME_BANKS,
    RUNTIME_NUM_BANKS,
    RUNTIME_RANK,
    RUNTIME_SHAPE,
    RUNTIME_SHARD_SHAPE,
    AccessorArgs,
    Sharding,
    split_accessor_words,
)
from ttmlir.sim.machine.address_generators import Buffer as SimBuffer
from ttmlir.sim.machine.memory import Memory
from ttmlir.sim.machine.tile_shapes import TileShape

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

    def deallocate(self) -> None:
        """Give the memory back."""
        with host_call():
            self.simulated.deallocate()

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
        aligned_page_size: bool | None = None,
    ) -> None:
        """The layout of a buffer; with the aligned size of a page in the order of late 2026.

        By default that is so on a device of tt-metal 0.81.
        """
        if not isinstance(cast("object", buffer), Buffer):
            raise MetaliumError(f"TensorAccessorArgs takes a buffer, not {buffer!r}")
        args = buffer.simulated.accessor_args()
        if aligned_page_size is None:
            aligned_page_size = buffer.device().release is Release.LATE_2026
        if aligned_page_size:
            args = replace(args, page_size=buffer.aligned_page_size())
        if not isinstance(cast("object", args_config), int):
            raise MetaliumError(f"'args_config' is flags of ArgConfig, not {args_config!r}")
        self._set(args, int(args_config))

    def _set(self, args: AccessorArgs, runtime: int) -> None:
        with host_call():
            self._words, self._common = split_accessor_words(args, runtime)

    @classmethod
    def create_dram_interleaved(cls) -> TensorAccessorArgs:
        """Those of any interleaved buffer in DRAM, for the device that was opened last."""
        return cls._interleaved(is_dram=True)

    @classmethod
    def create_l1_interleaved(cls) -> TensorAccessorArgs:
        """Those of any interleaved buffer in L1, likewise."""
        return cls._interleaved(is_dram=False)

    @classmethod
    def _interleaved(cls, *, is_dram: bool) -> TensorAccessorArgs:
        made = cls.__new__(cls)
        # tt-metal 0.81 says that a page has 0 bytes where it knows no buffer.
        page_size = 0 if find_release() is Release.LATE_2026 else None
        made._set(AccessorArgs(is_sharded=False, is_dram=is_dram, page_size=page_size), 0)
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
        """Put them after other compile-time and common run-time arguments."""
        if not isinstance(cast("object", compile_time_args), list):
            raise MetaliumError(f"append_to takes lists, not {compile_time_args!r}")
        if self._common and common_runtime_args is None:
            raise MetaliumError(
                "args_config puts a part of the layout among the common run-time arguments; give "
                "append_to their list, too"
            )
        compile_time_args.extend(self._words)
        if common_runtime_args is not None:
            common_runtime_args.extend(self._common)


# --- Circular buffers -----------------------------------------------------------------------------
# Circular buffers as the host configures, creates and changes them.
#
# Sources: tt-metal, tt_metal/api/tt-metalium/circular_buffer_config.hpp, host_api.hpp.


class CircularBufferConfig:
    """Circular buffers that share `total_size` bytes, each with its format and page size."""

    def __init__(
        self, total_size: int, data_format_spec: Mapping[CBIndex | int, DataFormat] | None = None
    ) -> None:
        """Say which circular buffers there are; `set_page_size` has to follow for each."""
        self.total_size = _check_size(total_size, "the total size")
        self.data_formats: dict[int, DataFormat] = {}
        self.page_sizes: dict[int, int] = {}
        self.tiles: dict[int, TileShape] = {}
        self.remote_page_sizes: dict[int, int] = {}
        """Of ends of a global circular buffer, 0 where none was set yet."""
        self.buffer: Buffer | None = None
        self.offset = 0
        if not isinstance(cast("object", data_format_spec or {}), Mapping):
            raise MetaliumError(
                f"the formats of circular buffers are {{index: DataFormat}}, not "
                f"{data_format_spec!r}"
            )
        for index, data_format in (data_format_spec or {}).items():
            self.set_data_format(index, data_format)

    def set_data_format(self, buffer_index: CBIndex | int, data_format: object) -> None:
        """Set the format of a circular buffer, which the configuration has from then on."""
        if not isinstance(cast("object", buffer_index), int):
            raise MetaliumError(f"a circular buffer is named by its index, not by {buffer_index!r}")
        index = int(buffer_index)
        if not isinstance(data_format, DataFormat):
            raise MetaliumError(
                f"the format of circular buffer {index} is {data_format!r}; it is one of "
                + ", ".join(f"DataFormat.{each.name}" for each in DataFormat)
            )
        self.data_formats[index] = data_format

    def set_page_size(self, buffer_index: CBIndex | int, page_size: int) -> CircularBufferConfig:
        """Set the bytes of a page; returns itself, so that calls can be chained."""
        if int(buffer_index) not in self.data_formats:
            raise MetaliumError(
                f"circular buffer {int(buffer_index)} has no data format; the configuration has "
                + (", ".join(str(index) for index in self.data_formats) or "none")
            )
        self.page_sizes[int(buffer_index)] = _check_size(page_size, "the size of a page")
        return self

    def set_tile_dims(self, buffer_index: CBIndex | int, tile: Tile) -> CircularBufferConfig:
        """Set the extents of the tiles of a circular buffer; returns itself."""
        if not isinstance(cast("object", tile), Tile):
            raise MetaliumError(f"set_tile_dims takes a Tile, such as Tile((16, 32)), not {tile!r}")
        shape = TileShape.of_height(tile.tile_shape[0])
        if not shape.is_whole:
            self.tiles[int(buffer_index)] = shape
        return self

    def set_total_size(self, total_size: int) -> CircularBufferConfig:
        """Set the bytes that the circular buffers share; returns itself."""
        self.total_size = _check_size(total_size, "the total size")
        return self

    def set_globally_allocated_address(self, buffer: Buffer) -> CircularBufferConfig:
        """Place the circular buffers on a sharded buffer in L1, whose numbers they then hold."""
        self.buffer = _check_buffer(buffer)
        return self

    def set_globally_allocated_address_and_total_size(
        self, buffer: Buffer, total_size: int
    ) -> CircularBufferConfig:
        """Both in one call."""
        return self.set_globally_allocated_address(buffer).set_total_size(total_size)

    def set_address_offset(self, offset: int) -> CircularBufferConfig:
        """Begin so many bytes after the start of the buffer; returns itself."""
        self.offset = offset
        return self

    def index(self, buffer_index: CBIndex | int) -> CircularBufferBuilder:
        """What sets the format and the page size of one of the circular buffers."""
        return CircularBufferBuilder(self, int(buffer_index))

    def remote_index(self, buffer_index: CBIndex | int) -> RemoteBufferBuilder:
        """What sets the page size of an end of a global circular buffer."""
        self.remote_page_sizes.setdefault(int(buffer_index), 0)
        return RemoteBufferBuilder(self, int(buffer_index))


class CircularBufferBuilder:
    """Sets up one circular buffer of a configuration; each call returns the builder."""

    def __init__(self, config: CircularBufferConfig, index: int) -> None:
        """`CircularBufferConfig.index` makes it."""
        self._config = config
        self._index = index

    def set_data_format(self, data_format: DataFormat) -> CircularBufferBuilder:
        """Set the format."""
        self._config.set_data_format(self._index, data_format)
        return self

    def set_page_size(self, page_size: int) -> CircularBufferBuilder:
        """Set the bytes of a page."""
        # The format may follow.
        self._config.page_sizes[self._index] = _check_size(page_size, "the size of a page")
        return self

    def set_tile_dims(self, tile: Tile) -> CircularBufferBuilder:
        """Set the extents of the tiles."""
        self._config.set_tile_dims(self._index, tile)
        return self

    def set_total_size(self, total_size: int) -> CircularBufferBuilder:
        """Set the bytes that all circular buffers of the configuration share."""
        self._config.set_total_size(total_size)
        return self


class RemoteBufferBuilder:
    """Sets up an end of a global circular buffer; each call returns the builder."""

    def __init__(self, config: CircularBufferConfig, index: int) -> None:
        """`CircularBufferConfig.remote_index` makes it."""
        self._config = config
        self._index = index

    def set_data_format(self, data_format: DataFormat) -> RemoteBufferBuilder:
        """The format, of which nothing depends."""
        return self

    def set_page_size(self, page_size: int) -> RemoteBufferBuilder:
        """Set the bytes of a page."""
        self._config.remote_page_sizes[self._index] = _check_size(page_size, "the size of a page")
        return self


def CreateCircularBuffer(
    program: Program, core_spec: CoreSpec, config: CircularBufferConfig
) -> CircularBufferSpec:
    """Create circular buffers on cores."""
    return create_circular_buffers(program, core_spec, config)


def check_config(config: object) -> None:
    """MetaliumError for what is no configuration of circular buffers."""
    if not isinstance(config, CircularBufferConfig):
        raise MetaliumError(f"CreateCircularBuffer takes a CircularBufferConfig, not {config!r}")


def create_circular_buffers(
    program: Program,
    core_spec: CoreSpec,
    config: CircularBufferConfig,
    remote: GlobalPages | None = None,
) -> CircularBufferSpec:
    """Create circular buffers on cores, with `remote` on the bytes of a global one."""
    check_config(config)
    if config.remote_page_sizes and remote is None:
        raise MetaliumError(
            "remote_index() is for the ends of a global circular buffer; call "
            "experimental.CreateCircularBuffer(program, cores, config, global_circular_buffer)"
        )
    missing = [index for index in config.data_formats if index not in config.page_sizes]
    if missing:
        raise MetaliumError(
            f"circular buffer {missing[0]} has no page size; call set_page_size({missing[0]}, ...)"
        )
    formless = [index for index in config.page_sizes if index not in config.data_formats]
    if formless:
        raise MetaliumError(
            f"circular buffer {formless[0]} has no data format; call set_data_format()"
        )
    with host_call():
        return program.add_circular_buffer(
            CircularBufferSpec(
                cores=existing_cores(core_spec),
                total_size=config.total_size,
                indices={
                    index: (config.page_sizes[index], data_format.data_type)
                    for index, data_format in config.data_formats.items()
                },
                buffer=None if config.buffer is None else config.buffer.simulated,
                offset=config.offset,
                tiles=config.tiles,
                remote=remote,
            )
        )


def GetCircularBufferConfig(
    program: Program, cb_handle: CircularBufferSpec
) -> CircularBufferConfig:
    """What circular buffers are made from now; changing it does not change them."""
    _check_handle(program, cb_handle)
    config = CircularBufferConfig(cb_handle.total_size)
    for index, (page_size, data_type) in cb_handle.indices.items():
        config.data_formats[index] = next(
            each for each in DataFormat if each.data_type == data_type
        )
        config.page_sizes[index] = page_size
    config.offset = cb_handle.offset
    config.tiles = dict(cb_handle.tiles)
    return config


def UpdateCircularBufferTotalSize(
    program: Program, cb_handle: CircularBufferSpec, total_size: int
) -> None:
    """Give circular buffers another size, for the runs that follow."""
    _update(program, cb_handle, total_size=_check_size(total_size, "the total size"))


def UpdateCircularBufferPageSize(
    program: Program, cb_handle: CircularBufferSpec, buffer_index: CBIndex | int, page_size: int
) -> None:
    """Give one of the circular buffers pages of another size."""
    index = int(buffer_index)
    if index not in cb_handle.indices:
        raise MetaliumError(
            f"circular buffer {index} is not one of {', '.join(map(str, cb_handle.indices))}"
        )
    size = _check_size(page_size, "the size of a page")
    _update(
        program,
        cb_handle,
        indices={**cb_handle.indices, index: (size, cb_handle.indices[index][1])},
    )


def UpdateDynamicCircularBufferAddress(
    program: Program, cb_handle: CircularBufferSpec, buffer: Buffer, address_offset: int = 0
) -> None:
    """Place circular buffers on another buffer in L1, for the runs that follow."""
    _check_dynamic(cb_handle)
    _update(program, cb_handle, buffer=_check_buffer(buffer).simulated, offset=address_offset)


def UpdateDynamicCircularBufferAddressAndTotalSize(
    program: Program, cb_handle: CircularBufferSpec, buffer: Buffer, total_size: int
) -> None:
    """Place circular buffers on another buffer in L1, with another size."""
    _check_dynamic(cb_handle)
    _update(
        program,
        cb_handle,
        buffer=_check_buffer(buffer).simulated,
        total_size=_check_size(total_size, "the total size"),
    )


def _update(program: Program, spec: CircularBufferSpec, **changes: object) -> None:
    """Change circular buffers of a program; MetaliumError, and no change, for what cannot be."""
    _check_handle(program, spec)
    with host_call():
        replace(spec, **changes)
    for name, value in changes.items():
        setattr(spec, name, value)


def _check_handle(program: Program, spec: object) -> None:
    if not any(spec is each for each in program.circular_buffers):
        raise MetaliumError(
            f"{spec!r} is no circular buffer of the program; give what CreateCircularBuffer "
            "returned for it"
        )


def _check_dynamic(spec: CircularBufferSpec) -> None:
    if spec.buffer is None:
        raise MetaliumError(
            "these circular buffers were not placed on a buffer; create them with "
            "set_globally_allocated_address"
        )


def _check_buffer(buffer: object) -> Buffer:
    if not isinstance(buffer, Buffer):
        raise MetaliumError(f"a circular buffer is placed on a buffer in L1, not on {buffer!r}")
    return buffer


def _check_size(size: object, what: str) -> int:
    if not isinstance(size, int):
        raise MetaliumError(f"{what} is {size!r}; sizes are whole numbers of bytes: divide with //")
    return size


# --- Global semaphores ----------------------------------------------------------------------------
# Semaphores that programs share.
#
# Source: tt-metal, tt_metal/api/tt-metalium/global_semaphore.hpp.


class GlobalSemaphore:
    """A word in the L1 of some cores, at one address; `CreateGlobalSemaphore` makes it."""

    def __init__(
        self,
        device: Device,
        cores: CoreSpec,
        initial_value: int,
        buffer_type: BufferType = BufferType.L1,
    ) -> None:
        """Take the word and write it."""
        check_semaphore_value(initial_value)
        if buffer_type is BufferType.DRAM:
            raise MetaliumError("a semaphore is in L1, not in DRAM")
        self._device = device
        self._devices = [each.simulated for each in device.get_devices()]
        self._cores = cores_of(cores)
        if not self._cores:
            raise MetaliumError("a global semaphore is on at least one core")
        first, *others = [each.allocator(MemorySpace.DEVICE_L1) for each in self._devices]
        size = device.simulated.chip.l1_alignment
        with host_call():
            for each, (x, y) in itertools.product(self._devices, self._cores):
                each.core(x, y)
            self._allocators = [first]
            address = first.allocate(size)
            for allocator in others:
                # Devices of a mesh have it at the same address.
                allocator.take(address, size)
                self._allocators.append(allocator)
        self._address = address
        self.reset_semaphore_value(initial_value)

    def __repr__(self) -> str:
        """Where it is."""
        return f"GlobalSemaphore(address {self._address} on {len(self._cores)} cores)"

    def device(self) -> Device:
        """The device that has the word."""
        return self._device

    def address(self) -> int:
        """Where the word is, on all cores."""
        return self._address

    def reset_semaphore_value(self, reset_value: int) -> None:
        """Write the word on all cores."""
        self._device.check_open()
        check_semaphore_value(reset_value)
        watch = self._device.simulated.watch
        for memory in self._memories():
            memory.write(self._address, reset_value.to_bytes(4, "little"))
            if watch is not None:
                watch.host_write(memory, self._address, 4)
                watch.semaphore_created(memory, self._address)

    def __del__(self) -> None:
        """Give the word back."""
        if not hasattr(self, "_address"):
            return
        for allocator in self._allocators:
            allocator.free(self._address)
        watch = self._device.simulated.watch
        if watch is not None:
            for memory in self._memories():
                watch.semaphore_freed(memory, self._address)

    def _memories(self) -> list[Memory]:
        """The memories that have the word."""
        places = itertools.product(self._devices, self._cores)
        return [device.core(x, y).l1 for device, (x, y) in places]


def CreateGlobalSemaphore(
    device: Device, cores: CoreSpec, initial_value: int, buffer_type: BufferType = BufferType.L1
) -> GlobalSemaphore:
    """A word in the L1 of some cores, for as long as the object lives."""
    return GlobalSemaphore(check_device(device), cores, initial_value, buffer_type)


# --- Tile data ------------------------------------------------------------------------------------
# Numbers to bytes of tiles and back.
#
# Sources: tt-metal, tt_metal/api/tt-metalium/tilize_utils.hpp, bfloat16.hpp, bfloat8.hpp.

_TILE = 32

ELEMENTS: dict[DataFormat, type[np.generic]] = {
    DataFormat.Float32: np.float32,
    DataFormat.Float16: np.float16,
    DataFormat.UInt32: np.uint32,
    DataFormat.UInt16: np.uint16,
    DataFormat.UInt8: np.uint8,
    DataFormat.RawUInt32: np.uint32,
    DataFormat.RawUInt16: np.uint16,
    DataFormat.RawUInt8: np.uint8,
}
"""The types of the numbers of formats that NumPy has."""


def tilize_nfaces(values: ArrayLike, rows: int, columns: int) -> NDArray[Any]:
    """The elements of a row-major matrix, tile by tile and face by face, in one dimension."""
    matrix = np.asarray(values)
    _check_shape(matrix.size, rows, columns)
    return tilize(matrix.reshape(rows, columns)).reshape(-1)


def untilize_nfaces(values: ArrayLike, rows: int, columns: int) -> NDArray[Any]:
    """The matrix whose elements come tile by tile and face by face; inverse of tilize_nfaces."""
    tiles = np.asarray(values)
    _check_shape(tiles.size, rows, columns)
    return untilize(tiles.reshape(rows // _TILE, columns // _TILE, -1), (rows, columns))


def _check_shape(size: int, rows: int, columns: int) -> None:
    if rows < 1 or columns < 1 or rows % _TILE or columns % _TILE:
        raise MetaliumError(
            f"a matrix of {rows}x{columns} is not made of tiles of 32x32; pad it to multiples of 32"
        )
    if size != rows * columns:
        raise MetaliumError(f"{size} elements are not a matrix of {rows}x{columns}")


def pack_bfloat16(values: ArrayLike) -> NDArray[np.uint16]:
    """The bits of numbers rounded to bfloat16, ties to even."""
    return bf16_bits(values)


def unpack_bfloat16(bits: ArrayLike) -> NDArray[np.float32]:
    """The numbers that bits of bfloat16 stand for."""
    return bf16_values(np.asarray(bits).reshape(-1).view(np.uint16))


def pack_bfloat16_vec_into_uint32_vec(values: ArrayLike) -> NDArray[np.uint32]:
    """Numbers as bfloat16, two in a word, the first in the low half."""
    bits = np.ascontiguousarray(bf16_bits(values)).reshape(-1)
    if bits.size % 2:
        raise MetaliumError(f"{bits.size} numbers do not fill words of two")
    return bits.view(np.uint32)


def unpack_uint32_vec_into_bfloat16_vec(words: ArrayLike) -> NDArray[np.float32]:
    """The numbers of words of two bfloat16 each."""
    return bf16_values(np.ascontiguousarray(words, np.uint32).reshape(-1).view(np.uint16))


def pack_two_bfloat16_into_uint32(two: tuple[float, float]) -> int:
    """Two numbers as bfloat16 in a word, the first in the low half."""
    return int(pack_bfloat16_vec_into_uint32_vec(two)[0])


def create_constant_vector_of_bfloat16(num_bytes: int, value: float) -> NDArray[np.uint32]:
    """So many bytes of one number as bfloat16, two in a word."""
    _check_words(num_bytes)
    return np.full(num_bytes // 4, pack_two_bfloat16_into_uint32((value, value)), np.uint32)


def create_random_vector_of_bfloat16(
    num_bytes: int, rand_max_float: float, seed: int, offset: float = 0.0
) -> NDArray[np.uint32]:
    """Random numbers from `offset` to `offset + rand_max_float` as bfloat16, two in a word.

    They are those that C++ makes with `std::mt19937(seed)` and libstdc++.
    """
    _check_words(num_bytes)
    generator = np.random.RandomState(seed & 0xFFFF_FFFF)
    draws = generator.randint(0, 1 << 32, num_bytes // 2, np.uint32)
    unit = np.minimum(draws.astype(np.float32) / np.float32(1 << 32), np.nextafter(1, 0, dtype="f"))
    numbers = unit * np.float32(rand_max_float) + np.float32(offset)
    return pack_bfloat16_vec_into_uint32_vec(numbers)


def _check_words(num_bytes: int) -> None:
    if num_bytes < 4 or num_bytes % 4:
        raise MetaliumError(f"{num_bytes} bytes are no words of two numbers of bfloat16")
    if num_bytes > memory_limit():
        raise MetaliumError(f"a vector of {num_bytes} bytes; {memory_advice()}")


def check_bfloat16_vector_pcc(vec_a: ArrayLike, vec_b: ArrayLike) -> float:
    """The correlation of two vectors: of their numbers, or of words of bfloat16 if they are uint16.

    Vectors that do not vary correlate if they are equal.
    """
    a, b = (
        (unpack_bfloat16(each) if each.dtype == np.uint16 else each).astype(np.float64).reshape(-1)
        for each in (np.asarray(vec_a), np.asarray(vec_b))
    )
    if a.size != b.size or a.size == 0:
        raise MetaliumError(f"vectors of {a.size} and {b.size} numbers have no correlation")
    if np.ptp(a) == 0 or np.ptp(b) == 0:
        return float(np.array_equal(a, b))
    return float(np.corrcoef(a, b)[0, 1])


def pack_tiles(matrix: ArrayLike, data_format: DataFormat) -> bytes:
    """The bytes of the tiles of a row-major matrix, in a format."""
    values = np.asarray(matrix)
    if values.ndim != 2:
        raise MetaliumError(f"a matrix has two dimensions, not {values.ndim}")
    tiles = tilize_nfaces(values, *values.shape)
    if data_format.data_type in BLOCK_FLOATS:
        return pack_block_float(tiles.reshape(-1, _TILE * _TILE), data_format.data_type)
    if data_format == DataFormat.Float16_b:
        return bf16_bits(tiles).tobytes()
    return tiles.astype(ELEMENTS[data_format]).tobytes()


def unpack_tiles(
    data: ArrayLike | bytes, data_format: DataFormat, rows: int, columns: int
) -> NDArray[Any]:
    """The matrix whose tiles have these bytes; floating-point formats as float32."""
    content = data if isinstance(data, bytes) else np.ascontiguousarray(data).tobytes()
    if data_format.data_type in BLOCK_FLOATS:
        numbers = unpack_block_float(content, data_format.data_type)
    elif data_format == DataFormat.Float16_b:
        numbers = bf16_values(np.frombuffer(content, np.uint16))
    else:
        numbers = np.frombuffer(content, ELEMENTS[data_format])
    matrix = untilize_nfaces(numbers, rows, columns)
    return matrix.astype(np.float32) if data_format == DataFormat.Float16 else matrix
