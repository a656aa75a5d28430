"""Buffers: pages of bytes that are spread over the banks of a device's memory.

Source: tt-metal, tt_metal/impl/buffers/buffer.hpp.
"""

from __future__ import annotations

from dataclasses import dataclass

from ttmlir.layout.enums import MemorySpace, TensorMemoryLayout
from ttmlir.limits import memory_advice, memory_limit
from ttmlir.sim.errors import SimError
from ttmlir.sim.machine.address_generators import AccessorArgs, Interleaved, Sharded
from ttmlir.sim.machine.device import SimDevice
from ttmlir.sim.machine.noc import noc_address
from ttmlir.sim.sanitizer.spaces import PageGrid


@dataclass(frozen=True, kw_only=True)
class Sharding:
    """How a two-dimensional array of pages is cut into shards, one for each core.

    `cores` are the logical (x, y) that the shards go to, row of shards by row of shards.
    """

    layout: TensorMemoryLayout
    cores: tuple[tuple[int, int], ...]
    shape: tuple[int, int]
    """Rows and columns of the array, in pages."""
    shard_shape: tuple[int, int]
    """Rows and columns of a shard, in pages."""

    def __post_init__(self) -> None:
        """Refuse layouts without shards, and more shards than cores."""
        if not self.layout.name.endswith("_SHARDED"):
            raise SimError(
                f"{self.layout.keyword} is no sharded layout; shards are height_sharded, "
                "width_sharded or block_sharded"
            )
        if min(*self.shape, *self.shard_shape) < 1:
            raise SimError(f"shards of {self.shard_shape} pages of {self.shape} cannot be")
        if self.num_shards > len(self.cores):
            raise SimError(
                f"{self.shape[0]}x{self.shape[1]} pages make {self.num_shards} shards of "
                f"{self.shard_shape[0]}x{self.shard_shape[1]}, but there are {len(self.cores)} "
                "cores; use larger shards or more cores"
            )

    @property
    def num_shards(self) -> int:
        """How many shards the array is cut into, the last ones perhaps not full."""
        rows, columns = (
            -(-extent // shard) for extent, shard in zip(self.shape, self.shard_shape, strict=True)
        )
        return rows * columns


class Buffer:
    """Pages of one size; `address` is the same in every bank."""

    def __init__(
        self,
        device: SimDevice,
        size: int,
        page_size: int,
        space: MemorySpace = MemorySpace.DEVICE_DRAM,
        *,
        sharding: Sharding | None = None,
        address: int | None = None,
        bottom_up: bool | None = None,
    ) -> None:
        """Take memory of a device, at a given address if there is one.

        Pages are interleaved over all banks unless the buffer is sharded. `bottom_up` says from
        which side of the memory it is taken; None: DRAM from the bottom, L1 from the top.

        Raises SimError for sizes that do not fit each other, AllocationError if there is no room.
        """
        _check(size, page_size, space, sharding)
        self.device = device
        self.size = size
        self.page_size = page_size
        self.space = space
        self.sharding = sharding
        self.allocated = True
        self.allocator = device.allocator(space)
        self.pages = self._pages(0)
        self.bank_size = self._bank_pages * self.pages.stride
        if address is None:
            address = self.allocator.allocate(self.bank_size, bottom_up=bottom_up)
        else:
            self.allocator.take(address, self.bank_size)
        self.address = address
        self.pages = self._pages(address)
        for bank in self.pages.banks:
            bank.memory.poison(address, self.bank_size)
        if device.watch is not None:
            grid = PageGrid(
                page_size=page_size,
                stride=self.pages.stride,
                bank_size=self.bank_size,
                num_pages=self.num_pages if sharding is None else None,
            )
            for bank in self.pages.banks:
                device.watch.allocated(bank.memory, address, grid)

    def _pages(self, address: int) -> Interleaved | Sharded:
        is_dram = self.space == MemorySpace.DEVICE_DRAM
        chip = self.device.chip
        alignment = chip.dram_alignment if is_dram else chip.l1_alignment
        if self.sharding is None:
            network = self.device.network
            banks = network.dram if is_dram else network.l1_banks
            return Interleaved(banks, alignment, address, self.page_size)
        cores = [self.device.core(x, y) for x, y in self.sharding.cores[: self.sharding.num_shards]]
        return Sharded(self.accessor_args(), cores, alignment, address, self.page_size)

    @property
    def _bank_pages(self) -> int:
        """Pages of the bank that has most of them."""
        if self.sharding is not None:
            rows, columns = self.sharding.shard_shape
            return rows * columns
        return -(-self.num_pages // len(self.pages.banks))

    @property
    def num_pages(self) -> int:
        """How many pages the buffer has."""
        return self.size // self.page_size

    @property
    def layout(self) -> TensorMemoryLayout:
        """How the pages are spread."""
        return TensorMemoryLayout.INTERLEAVED if self.sharding is None else self.sharding.layout

    def accessor_args(self) -> AccessorArgs:
        """What a kernel's `TensorAccessorArgs` has to know about the layout."""
        is_dram = self.space == MemorySpace.DEVICE_DRAM
        if self.sharding is None:
            return AccessorArgs(is_sharded=False, is_dram=is_dram)
        used = self.sharding.cores[: self.sharding.num_shards]
        return AccessorArgs(
            is_sharded=True,
            is_dram=is_dram,
            shape=self.sharding.shape,
            shard_shape=self.sharding.shard_shape,
            banks=tuple(self.device.chip.noc_coordinate(core) for core in used),
        )

    def noc_address(self, page: int) -> int:
        """The address of a page on the network."""
        bank, address = self.pages.locate(page)
        return noc_address(*bank.coordinate, address)

    def write(
        self,
        data: bytes | memoryview,
        *,
        page_bytes: int | None = None,
        pages: range | None = None,
    ) -> None:
        """Fill the buffer from the host; SimError for another number of bytes.

        `page_bytes` is how many bytes of each page are given, from its first one on; all if None.
        `pages` are those that are filled; all if None.
        """
        pages = self._check_pages(pages)
        length = self.page_size if page_bytes is None else page_bytes
        if len(data) != length * len(pages):
            raise SimError(f"{len(data)} bytes for a buffer of {length * len(pages)}")
        data = memoryview(data)
        watch = self.device.watch
        for number, page in enumerate(pages):
            bank, address = self.pages.locate(page)
            start = number * length
            bank.memory.write(address, data[start : start + length])
            if watch is not None:
                watch.host_write(bank.memory, address, length)

    def read(self, *, page_bytes: int | None = None, pages: range | None = None) -> bytes:
        """What is in the buffer, page after page; of each page the first `page_bytes` if given.

        `pages` are those that are read; all if None.
        """
        pages = self._check_pages(pages)
        length = self.page_size if page_bytes is None else page_bytes
        watch = self.device.watch
        result = bytearray(length * len(pages))
        for number, page in enumerate(pages):
            bank, address = self.pages.locate(page)
            start = number * length
            if watch is not None:
                watch.host_read(bank.memory, address, length)
            result[start : start + length] = bank.memory.read(address, length)
        return bytes(result)

    def _check_pages(self, pages: range | None) -> range:
        """The pages that are meant; SimError if the buffer is gone or does not have them."""
        self._check_use()
        if pages is None:
            return range(self.num_pages)
        if pages and not (0 <= pages[0] and pages[-1] < self.num_pages):
            raise SimError(
                f"pages {pages[0]} to {pages[-1]} of a buffer that has pages 0 to "
                f"{self.num_pages - 1}"
            )
        return pages

    def deallocate(self) -> None:
        """Give the memory back; SimError if that was done before."""
        self._check_use()
        self.allocator.free(self.address)
        self.allocated = False
        if self.device.watch is not None:
            for bank in self.pages.banks:
                self.device.watch.freed(bank.memory, self.address, self.bank_size)

    def _check_use(self) -> None:
        if not self.allocated:
            raise SimError(f"the buffer at {self.address:#x} was deallocated")


def _check(size: int, page_size: int, space: MemorySpace, sharding: Sharding | None) -> None:
    if space not in (MemorySpace.DEVICE_DRAM, MemorySpace.DEVICE_L1):
        raise SimError(f"a device has no {space.keyword} memory; buffers are in dram or l1")
    if page_size < 1 or size < 1 or size % page_size:
        raise SimError(
            f"a buffer of {size} bytes is not made of pages of {page_size}; the size has to be a "
            "multiple of the page size"
        )
    if size > memory_limit():
        raise SimError(f"a buffer of {size} bytes; {memory_advice()}", rule="out-of-memory")
    if sharding is None:
        return
    if space != MemorySpace.DEVICE_L1:
        raise SimError("sharded buffers are in l1: shards belong to cores")
    rows, columns = sharding.shape
    if rows * columns * page_size != size:
        raise SimError(
            f"{rows}x{columns} pages of {page_size} bytes are {rows * columns * page_size} bytes, "
            f"but the buffer has {size}"
        )
