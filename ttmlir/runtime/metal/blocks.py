"""Buffers that are divided into blocks on a grid, and host buffers with padding (late 2025).

A buffer's numbers are those of all shards side by side, in rows; the shards are blocks of them. A
shard is stored row by row or, if the buffer is tiled, tile by tile. In L1 each core holds a shard
at the buffer's address (`grid_cores` says which); in DRAM the shards lie one after another, in
pages that go round the banks.

Source: tt-mlir, DeviceAttr and the memref layouts of ttcore (late 2025).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ttmlir.layout.data_format import packed_tile_bytes
from ttmlir.layout.element_type import TileFormat, is_block_float
from ttmlir.layout.enums import MemorySpace, TensorMemoryLayout
from ttmlir.layout.errors import LayoutError
from ttmlir.layout.metal.device_memory import grid_cores
from ttmlir.layout.tile import tilize, untilize
from ttmlir.limits import MAX_CORES, memory_advice, memory_limit
from ttmlir.runtime.element import Array, convert
from ttmlir.runtime.errors import BinaryError
from ttmlir.runtime.stored_bytes import decode_numbers, encode_numbers
from ttmlir.runtime.tensor import TensorDesc
from ttmlir.sim.machine.buffer import Buffer, Sharding
from ttmlir.sim.machine.device import SimDevice

Shape = tuple[int, ...]
Table = Mapping[str, Any]

_MAX_BUFFER = 1 << 40
"""Bytes; far above every memory."""


@dataclass(frozen=True)
class BlockPlacement:
    """The place of a buffer; `shard` counts elements or, if the buffer is tiled, tiles."""

    desc: TensorDesc
    grid: Shape
    shard: Shape
    address: int
    bank_bytes: int
    """Bytes of each core in L1, of all of it in DRAM."""
    page_bytes: int
    """Bytes that go to one bank of DRAM; 0 in L1."""
    where: str
    """Names the buffer in messages."""

    @classmethod
    def read(cls, table: Table, desc: TensorDesc, where: str) -> BlockPlacement:
        """The place that a `TensorRef` table gives; BinaryError if it cannot be."""
        buffer: Table = table["buffer"]
        memory: Table = table["desc"]["layout"]["memory_desc"]
        extents = tuple(int(each) for each in memory["shape"] or ())
        grid = tuple(int(each) for each in buffer["grid"] or ())
        if len(grid) != len(extents) or len(grid) < 1 or min(*grid, *extents) < 1:
            raise BinaryError(
                f"{where} is divided by a grid of {list(grid)} and has shards of {list(extents)}; "
                "both have the same number of extents, of 1 or more"
            )
        in_l1 = desc.memory_space is MemorySpace.DEVICE_L1
        if not in_l1 and any(whole % cores for whole, cores in zip(extents, grid, strict=True)):
            raise BinaryError(f"{where}: a grid of {list(grid)} does not divide {list(extents)}")
        whole = extents
        if in_l1:
            whole = tuple(cores * extent for cores, extent in zip(grid, extents, strict=True))
        shard = tuple(extent // cores for extent, cores in zip(whole, grid, strict=True))
        placement = cls(
            desc=desc,
            grid=grid,
            shard=shard,
            address=int(table["address"]),
            bank_bytes=int(table["size"]),
            page_bytes=int(buffer["page_size"]),
            where=where,
        )
        placement._check(int(buffer["num_buffers"]))
        return placement

    def _check(self, num_buffers: int) -> None:
        if self.desc.is_tiled and len(self.shard) < 2:
            raise BinaryError(f"{self.where} has tiles, but shards of one dimension")
        tile = ((1,) * len(self.shard) + self.desc.tile)[-len(self.shard) :]
        factors = zip(self.grid, self.shard, tile, strict=True)
        numbers = tuple(math.prod(each) for each in factors)
        if self.desc.shape != numbers:
            raise BinaryError(
                f"{self.where} has the shape {list(self.desc.shape)}, but its shards have "
                f"{list(numbers)} numbers side by side"
            )
        if self.in_l1:
            if math.prod(self.grid) > MAX_CORES:
                raise BinaryError(f"{self.where} is on more than {MAX_CORES} cores")
            needed = num_buffers * self.shard_bytes
            if not 0 < needed <= self.bank_bytes:
                raise BinaryError(
                    f"{self.where} has {self.bank_bytes} bytes on each core; {num_buffers} "
                    f"buffers of its shards take {needed}"
                )
        elif self.bank_bytes != self.total_bytes or num_buffers != 1:
            raise BinaryError(
                f"{self.where} has {self.bank_bytes} bytes and {num_buffers} buffers in dram; its "
                f"shards take {self.total_bytes}"
            )
        elif self.page_bytes < 1 or self.bank_bytes % self.page_bytes:
            raise BinaryError(
                f"{self.where}: {self.bank_bytes} bytes are not made of pages of {self.page_bytes}"
            )
        if self.bank_bytes > _MAX_BUFFER:
            raise BinaryError(f"{self.where} has {self.bank_bytes} bytes, which fit no memory")

    @property
    def in_l1(self) -> bool:
        """True if worker cores hold the buffer, False for DRAM."""
        return self.desc.memory_space is MemorySpace.DEVICE_L1

    @property
    def shard_bytes(self) -> int:
        """Bytes of one shard."""
        volume = math.prod(self.desc.tile)
        if is_block_float(self.desc.data_type):
            return math.prod(self.shard) * packed_tile_bytes(self.desc.data_type, volume)
        return math.prod(self.shard) * volume * TileFormat(1, 1, self.desc.data_type).size_bytes

    @property
    def total_bytes(self) -> int:
        """Bytes of all shards."""
        return math.prod(self.grid) * self.shard_bytes

    def create(self, device: SimDevice) -> Buffer:
        """The buffer on a device; SimError if its memory cannot be had."""
        space = self.desc.memory_space
        chip = device.chip
        alignment = chip.l1_alignment if self.in_l1 else chip.dram_alignment
        if self.address % alignment:
            raise BinaryError(
                f"{self.where} is at address {self.address}; addresses in {space.keyword} are "
                f"multiples of {alignment}"
            )
        if not self.in_l1:
            return Buffer(device, self.bank_bytes, self.page_bytes, space, address=self.address)
        columns, rows = chip.grid
        try:
            cores = grid_cores(self.grid, (rows, columns))
        except LayoutError as error:
            raise BinaryError(f"{self.where}: {error}") from None
        return Buffer(
            device,
            self.bank_bytes * len(cores),
            self.bank_bytes,
            space,
            sharding=Sharding(
                layout=TensorMemoryLayout.BLOCK_SHARDED,
                cores=cores,
                shape=(len(cores), 1),
                shard_shape=(1, 1),
            ),
            address=self.address,
        )

    def write(self, buffer: Buffer, values: Array) -> None:
        """Fill the buffer with numbers; what lies behind a shard in L1 stays as it was."""
        data = self._encode(values)
        buffer.write(data, page_bytes=self.shard_bytes if self.in_l1 else None)

    def read_values(self, buffer: Buffer) -> Array:
        """The numbers of the buffer."""
        return self._decode(buffer.read(page_bytes=self.shard_bytes if self.in_l1 else None))

    @cached_property
    def _numbers(self) -> Shape:
        """The extents of a shard in numbers."""
        if self.total_bytes > memory_limit() or math.prod(self.desc.shape) * 8 > memory_limit():
            raise BinaryError(f"{self.where} has {self.total_bytes} bytes; {memory_advice()}")
        return tuple(
            extent // cores for extent, cores in zip(self.desc.shape, self.grid, strict=True)
        )

    def _encode(self, values: Array) -> bytes:
        rank, shard = len(self.grid), self._numbers
        mixed = [extent for pair in zip(self.grid, shard, strict=True) for extent in pair]
        order = (*range(0, 2 * rank, 2), *range(1, 2 * rank, 2))
        blocks = values.reshape(mixed).transpose(order).reshape(-1, *shard)
        desc = self.desc
        numbers = tilize(blocks, desc.tile) if desc.is_tiled else blocks
        return encode_numbers(numbers, desc.data_type, math.prod(desc.tile))

    def _decode(self, data: bytes) -> Array:
        desc, rank, shard = self.desc, len(self.grid), self._numbers
        volume = math.prod(desc.tile)
        numbers = decode_numbers(data, desc.element, desc.data_type, volume)
        if desc.is_tiled:
            tiles = numbers.reshape(-1, *self.shard, volume)
            numbers = untilize(tiles, (len(tiles), *shard), desc.tile)
        order = [axis + half * rank for axis in range(rank) for half in range(2)]
        blocks = numbers.reshape(*self.grid, *shard).transpose(order)
        return convert(blocks.reshape(desc.shape), desc.element.compute)


@dataclass(frozen=True)
class HostBuffer:
    """Where the numbers of a tensor are in a padded buffer of the host, in elements."""

    shape: Shape
    strides: Shape
    volume: int

    def check(self, where: str) -> None:
        """BinaryError for numbers outside of the buffer, and buffers that no host should make."""
        last = sum(
            (extent - 1) * stride for extent, stride in zip(self.shape, self.strides, strict=False)
        )
        if (
            len(self.strides) != len(self.shape)
            or min(self.strides, default=0) < 0
            or (math.prod(self.shape) and last >= self.volume)
        ):
            raise BinaryError(
                f"{where}: a tensor of shape {list(self.shape)} with the strides "
                f"{list(self.strides)} is not within {self.volume} elements"
            )
        if self.volume * 8 > memory_limit():
            raise BinaryError(f"{where}: {self.volume} elements; {memory_advice()}")

    def pad(self, values: Array) -> Array:
        """The buffer that holds a tensor, its padding zero."""
        flat = np.zeros(self.volume, values.dtype)
        self._view(flat)[...] = values
        return flat

    def unpad(self, flat: Array) -> Array:
        """The tensor that a buffer holds."""
        return np.array(self._view(flat.reshape(-1)))

    def _view(self, flat: Array) -> Array:
        strides = [stride * flat.itemsize for stride in self.strides]
        return np.lib.stride_tricks.as_strided(flat, self.shape, strides)
