"""Where the numbers of a tensor of a `.ttm` file are, as bytes in the memories of a device.

A tensor's dimensions but the last become rows. The rows are cut into shards, one for each core of
the tensor's grid; a shard is stored row by row, or tile by tile with its faces one after another.
In L1 each core holds its shard at the tensor's address. In DRAM the shards lie one after another,
as if every core of the device had one, in pages of 8192 elements that go round the channels.

Sources: tt-mlir, docs/src/specs/tensor-layout.md and device.md; tt-metal,
tech_reports/tensor_layouts/tensor_layouts.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from ttmlir.layout.data_format import packed_tile_bytes
from ttmlir.layout.device import DRAM_PAGE_SIZE
from ttmlir.layout.element_type import TileFormat, is_block_float
from ttmlir.layout.enums import MemorySpace, TensorMemoryLayout
from ttmlir.layout.tile import tilize, untilize
from ttmlir.limits import memory_advice, memory_limit
from ttmlir.runtime.element import Array, convert
from ttmlir.runtime.errors import BinaryError
from ttmlir.runtime.stored_bytes import decode_numbers, encode_numbers
from ttmlir.runtime.tensor import TensorDesc
from ttmlir.sim.machine.buffer import Buffer, Sharding
from ttmlir.sim.machine.device import SimDevice

Shape2D = tuple[int, int]


class Placement(Protocol):
    """Where a tensor is on the device, and how its numbers are kept there."""

    @property
    def desc(self) -> TensorDesc:
        """The tensor."""
        ...

    @property
    def address(self) -> int:
        """The first byte, the same in every bank."""
        ...

    def create(self, device: SimDevice) -> Buffer:
        """The buffer on a device; SimError if its memory cannot be had."""
        ...

    def write(self, buffer: Buffer, values: Array) -> None:
        """Fill the buffer with numbers."""
        ...

    def read_values(self, buffer: Buffer) -> Array:
        """The numbers in the buffer."""
        ...


@dataclass(frozen=True)
class TensorPlacement:
    """The place of one tensor; `shard` counts elements or, if the tensor is tiled, tiles."""

    desc: TensorDesc
    shard: Shape2D
    address: int
    where: str
    """Names the tensor in messages."""

    @property
    def in_l1(self) -> bool:
        """True if worker cores hold the tensor, False for DRAM."""
        return self.desc.memory_space is MemorySpace.DEVICE_L1

    @cached_property
    def grid(self) -> Shape2D:
        """Rows and columns of the cores that hold a shard."""
        ranges = self.desc.core_ranges or ((0, 0, 1, 1),)
        rows = max(y + height for y, _, height, _ in ranges)
        columns = max(x + width for _, x, _, width in ranges)
        covered = {
            (y + row, x + column)
            for y, x, height, width in ranges
            for row in range(height)
            for column in range(width)
        }
        if len(covered) != rows * columns:
            raise BinaryError(f"{self.where}: its cores are no rectangle that begins at (0, 0)")
        return rows, columns

    @property
    def cores(self) -> tuple[tuple[int, int], ...]:
        """Logical (x, y) of the cores that hold a shard, in the order of the shards."""
        rows, columns = self.grid
        return tuple((x, y) for y in range(rows) for x in range(columns))

    @property
    def element_bytes(self) -> int:
        """Bytes of one element of a shard: of a number, or of a tile."""
        volume = math.prod(self.desc.tile)
        if is_block_float(self.desc.data_type):
            return packed_tile_bytes(self.desc.data_type, volume)
        return volume * TileFormat(1, 1, self.desc.data_type).size_bytes

    @property
    def shard_bytes(self) -> int:
        """Bytes that one core holds."""
        return math.prod(self.shard) * self.element_bytes

    @property
    def dram_page_bytes(self) -> int:
        """Bytes that go to one channel of DRAM before the next one's turn."""
        return DRAM_PAGE_SIZE * self.element_bytes

    def dram_bytes(self, device_columns: int) -> int:
        """Bytes of all shards in DRAM, of cores that have none too; whole pages if several."""
        rows, columns = self.grid
        elements = ((rows - 1) * device_columns + columns) * math.prod(self.shard)
        if elements > DRAM_PAGE_SIZE:
            elements = -(-elements // DRAM_PAGE_SIZE) * DRAM_PAGE_SIZE
        return elements * self.element_bytes

    def create(self, device: SimDevice) -> Buffer:
        """The buffer on a device; SimError if its memory cannot be had."""
        if self.in_l1:
            size, space = self.shard_bytes, MemorySpace.DEVICE_L1
            sharding = Sharding(
                layout=TensorMemoryLayout.BLOCK_SHARDED,
                cores=self.cores,
                shape=self.grid,
                shard_shape=(1, 1),
            )
            total = size * len(self.cores)
        else:
            space, sharding = MemorySpace.DEVICE_DRAM, None
            total = self.dram_bytes(device.chip.grid[0])
            size = min(total, self.dram_page_bytes)
        return Buffer(device, total, size, space, sharding=sharding, address=self.address)

    def write(self, buffer: Buffer, values: Array) -> None:
        """Fill the buffer with numbers; padding is zero."""
        shards = self.shards(values)
        if self.in_l1:
            buffer.write(b"".join(shards))
            return
        data = bytearray(buffer.size)
        for start, shard in zip(self._starts(buffer), shards, strict=True):
            data[start : start + len(shard)] = shard
        buffer.write(bytes(data))

    def read_values(self, buffer: Buffer) -> Array:
        """The numbers in the buffer."""
        data, size = buffer.read(), self.shard_bytes
        return self.values([data[start : start + size] for start in self._starts(buffer)])

    def _starts(self, buffer: Buffer) -> list[int]:
        """Where each shard begins among the bytes of the buffer's pages."""
        if self.in_l1:
            return [index * self.shard_bytes for index in range(len(self.cores))]
        columns = buffer.device.chip.grid[0]
        return [(y * columns + x) * self.shard_bytes for x, y in self.cores]

    @cached_property
    def _padded(self) -> Shape2D:
        """Rows and columns of all shards side by side."""
        height, width = (
            extent * tile * cores
            for extent, tile, cores in zip(self.shard, self.desc.tile, self.grid, strict=True)
        )
        if height * width * self.desc.element.compute.itemsize > memory_limit():
            raise BinaryError(
                f"{self.where}: shards of {list(self.shard)} on {self.grid[0]}x{self.grid[1]} "
                f"cores make {height}x{width} numbers; {memory_advice()}"
            )
        return height, width

    @cached_property
    def _rows(self) -> Shape2D:
        """Rows and columns of the tensor without padding."""
        shape = self.desc.shape
        last = len(shape) - 1
        # All dimensions but the last become rows; other layouts are recognised by their shards.
        for split in (last, *range(last - 1, -1, -1)) if shape else (0,):
            rows, columns = math.prod(shape[:split]), math.prod(shape[split:])
            if rows <= self._padded[0] and columns <= self._padded[1]:
                return rows, columns
        raise BinaryError(
            f"{self.where}: a tensor of shape {list(shape)} does not fit into shards of "
            f"{list(self.shard)} on {self.grid[0]}x{self.grid[1]} cores"
        )

    def shards(self, values: Array) -> list[bytes]:
        """The bytes of each shard; padding is zero."""
        rows, columns = self._rows
        padded = np.zeros(self._padded, values.dtype)
        padded[:rows, :columns] = values.reshape(rows, columns)
        height, width = (
            extent * tile for extent, tile in zip(self.shard, self.desc.tile, strict=True)
        )
        return [
            self._encoded(padded[y * height : (y + 1) * height, x * width : (x + 1) * width])
            for x, y in self.cores
        ]

    def values(self, shards: list[bytes]) -> Array:
        """The numbers of a tensor whose shards hold these bytes."""
        padded = np.zeros(self._padded, self.desc.element.compute)
        height, width = (
            extent * tile for extent, tile in zip(self.shard, self.desc.tile, strict=True)
        )
        for (x, y), data in zip(self.cores, shards, strict=True):
            padded[y * height : (y + 1) * height, x * width : (x + 1) * width] = self._decoded(data)
        rows, columns = self._rows
        return padded[:rows, :columns].reshape(self.desc.shape)

    def _encoded(self, shard: Array) -> bytes:
        desc = self.desc
        numbers = tilize(shard, desc.tile) if desc.is_tiled else shard
        return encode_numbers(numbers, desc.data_type, math.prod(desc.tile))

    def _decoded(self, data: bytes) -> Array:
        desc = self.desc
        volume = math.prod(desc.tile)
        numbers = decode_numbers(data, desc.element, desc.data_type, volume)
        shape = self.shard[0] * desc.tile[0], self.shard[1] * desc.tile[1]
        if desc.is_tiled:
            rows = untilize(numbers.reshape(*self.shard, volume), shape, desc.tile)
        else:
            rows = numbers.reshape(shape)
        return convert(rows, desc.element.compute)
