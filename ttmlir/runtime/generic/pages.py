"""Tensors as the pages of buffers, as kernels find them.

The page of a tiled tensor is a tile, its faces one after another; that of a row-major tensor is a
row of the last dimension, or the part of one that a shard has. Dimensions before the last two
follow each other. Padding is zero. Pages of sharded tensors lie in the L1 of the cores that their
layout names, the shards row by row.

Source: tt-metal, tech_reports/tensor_layouts/tensor_layouts.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ttmlir.layout.data_format import packed_tile_bytes
from ttmlir.layout.element_type import TileFormat, is_block_float
from ttmlir.layout.enums import MemorySpace, TensorMemoryLayout
from ttmlir.layout.tile import padded_shape, tilize, untilize
from ttmlir.optable.shapes import spell_shape
from ttmlir.runtime.element import Array, convert
from ttmlir.runtime.stored_bytes import decode_numbers, encode_numbers
from ttmlir.runtime.tensor import TensorDesc
from ttmlir.sim.errors import SimError
from ttmlir.sim.machine.buffer import Buffer, Sharding
from ttmlir.sim.machine.device import SimDevice

_MEMORIES = (MemorySpace.DEVICE_DRAM, MemorySpace.DEVICE_L1)


def page_shape(desc: TensorDesc) -> tuple[int, int]:
    """Rows and columns of a page, in elements."""
    if desc.is_tiled:
        return desc.tile
    columns = desc.shard[-1] if desc.shard else math.prod(desc.shape[-1:])
    return 1, max(columns, 1)


def page_bytes(desc: TensorDesc) -> int:
    """Bytes of a page."""
    volume = math.prod(page_shape(desc))
    if is_block_float(desc.data_type):
        return packed_tile_bytes(desc.data_type, volume)
    return volume * TileFormat(1, 1, desc.data_type).size_bytes


def count_pages(desc: TensorDesc) -> tuple[int, int]:
    """Rows and columns of pages, all dimensions but the last made rows."""
    *outer, columns = _padded(desc)
    height, width = page_shape(desc)
    return math.prod(outer) // height, -(-columns // width)


def create_buffer(device: SimDevice, desc: TensorDesc) -> Buffer:
    """A buffer for a tensor, on its cores if it is sharded.

    SimError for a tensor on the host, an empty one, and shards that do not hold it.
    """
    if desc.memory_space not in _MEMORIES:
        raise SimError("it is in host memory; kernels take tensors in dram or l1")
    if desc.volume == 0:
        raise SimError("it is empty; kernels take tensors with elements")
    size = page_bytes(desc)
    sharding = _sharding(device, desc) if desc.memory_layout.is_sharded else None
    return Buffer(
        device, math.prod(count_pages(desc)) * size, size, desc.memory_space, sharding=sharding
    )


def _sharding(device: SimDevice, desc: TensorDesc) -> Sharding:
    rows, columns = count_pages(desc)
    height, width = math.prod(desc.shard[:-1]), 1
    if desc.is_tiled:
        width = math.prod(desc.shard[-1:])
    if not desc.core_ranges or min(height, width) < 1:
        raise SimError(f"it is {desc.memory_layout.keyword}, but no core has a shard")
    down, across = -(-rows // height), -(-columns // width)
    cores = _cores(desc, device.chip.grid)
    if len(desc.core_ranges) == 1 and (down > len(cores) or across > len(cores[0])):
        # Shards of one dimension lie on a rectangle row by row.
        listed = [core for line in cores for core in line]
        if across == 1:
            cores = [[core] for core in listed]
        elif down == 1:
            cores = [listed]
    if down > len(cores) or across > len(cores[0]):
        raise SimError(
            f"{rows}x{columns} pages are {spell_shape((down, across))} shards of "
            f"{spell_shape((height, width))} pages, but its layout has "
            f"{spell_shape((len(cores), len(cores[0])))} cores; use larger shards or more cores"
        )
    return Sharding(
        layout=desc.memory_layout,
        cores=tuple(core for line in cores[:down] for core in line[:across]),
        shape=(rows, columns),
        shard_shape=(height, width),
    )


def _cores(desc: TensorDesc, chip_grid: tuple[int, int]) -> list[list[tuple[int, int]]]:
    """The cores, (x, y), of each row of shards.

    A grid that reaches beyond the chip, such as 64x1, is a way to count its cores row by row.
    """
    columns, rows = chip_grid
    y, x, height, width = desc.core_ranges[0]
    if len(desc.core_ranges) > 1:
        # Cores that are no rectangle are counted; only one dimension is cut.
        listed = [
            (x + i, y + j)
            for y, x, high, wide in desc.core_ranges
            for j in range(high)
            for i in range(wide)
        ]
        is_across = desc.memory_layout is TensorMemoryLayout.WIDTH_SHARDED
        lines = [listed] if is_across else [[core] for core in listed]
    elif y + height <= rows and x + width <= columns:
        lines = [[(x + i, y + j) for i in range(width)] for j in range(height)]
    else:
        lines = [
            [((j * width + i) % columns, (j * width + i) // columns) for i in range(width)]
            for j in range(height)
        ]
    for line in lines:
        for core in line:
            if core[0] >= columns or core[1] >= rows:
                raise SimError(
                    f"it is on core {core}, but the chip has {columns} columns and {rows} rows"
                )
    return lines


def write_tensor(buffer: Buffer, desc: TensorDesc, values: Array) -> None:
    """Fill a buffer with the numbers of a tensor."""
    if desc.is_tiled:
        numbers = tilize(values.reshape(_matrices(desc)), desc.tile)
    else:
        matrix = values.reshape(-1, math.prod(desc.shape[-1:]))
        columns = count_pages(desc)[1] * page_shape(desc)[1]
        numbers = np.pad(matrix, [(0, 0), (0, columns - matrix.shape[1])])
    buffer.write(encode_numbers(numbers, desc.data_type, math.prod(desc.tile)))


def read_tensor(buffer: Buffer, desc: TensorDesc) -> Array:
    """The numbers of a tensor, in the type that operations compute in, without padding."""
    volume = math.prod(desc.tile)
    numbers = decode_numbers(buffer.read(), desc.element, desc.data_type, volume)
    if desc.is_tiled:
        shape = _matrices(desc)
        tiles = numbers.reshape(_tiles(shape, desc.tile))
        numbers = untilize(tiles, shape, desc.tile)
    else:
        numbers = numbers.reshape(count_pages(desc)[0], -1)[:, : math.prod(desc.shape[-1:])]
    return convert(numbers.reshape(desc.shape), desc.element.compute)


def _matrices(desc: TensorDesc) -> tuple[int, int, int]:
    """The shape as matrices one after another: arrays of any rank have tiles."""
    *outer, rows, columns = (1,) * (2 - len(desc.shape)) + desc.shape
    return math.prod(outer), rows, columns


def _padded(desc: TensorDesc) -> tuple[int, ...]:
    """The shape with at least two dimensions, the last two filled up to whole tiles."""
    shape = (1,) * (2 - len(desc.shape)) + desc.shape
    return padded_shape(shape, desc.tile) if desc.is_tiled else shape


def _tiles(shape: Sequence[int], tile: tuple[int, int]) -> tuple[int, ...]:
    *outer, rows, columns = padded_shape(shape, tile)
    return (*outer, rows // tile[0], columns // tile[1], math.prod(tile))
