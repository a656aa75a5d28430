"""Tensors as the pages of interleaved buffers, as kernels find them.

The page of a tiled tensor is a tile, its faces one after another; that of a row-major tensor is a
row, the last dimension. Dimensions before the last two follow each other. Padding of tiles is zero.

Source: tt-metal, tech_reports/tensor_layouts/tensor_layouts.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ttmlir.layout.data_format import packed_tile_bytes
from ttmlir.layout.element_type import TileFormat, is_block_float
from ttmlir.layout.enums import MemorySpace
from ttmlir.layout.tile import padded_shape, tilize, untilize
from ttmlir.runtime.element import Array, convert
from ttmlir.runtime.stored_bytes import decode_numbers, encode_numbers
from ttmlir.runtime.tensor import TensorDesc
from ttmlir.sim.errors import SimError
from ttmlir.sim.machine.buffer import Buffer
from ttmlir.sim.machine.device import SimDevice


def page_bytes(desc: TensorDesc) -> int:
    """Bytes of a page."""
    volume = math.prod(desc.tile)
    if is_block_float(desc.data_type):
        return packed_tile_bytes(desc.data_type, volume)
    width = volume if desc.is_tiled else math.prod(desc.shape[-1:])
    return width * TileFormat(1, 1, desc.data_type).size_bytes


def create_buffer(device: SimDevice, desc: TensorDesc) -> Buffer:
    """An interleaved buffer for a tensor; SimError for one that is kept otherwise, or empty."""
    if desc.memory_space not in (MemorySpace.DEVICE_DRAM, MemorySpace.DEVICE_L1):
        raise SimError("it is in host memory; kernels take tensors in dram or l1")
    if desc.memory_layout.is_sharded:
        raise SimError(
            f"it is {desc.memory_layout.keyword}; supported are interleaved tensors in dram or l1"
        )
    if desc.volume == 0:
        raise SimError("it is empty; kernels take tensors with elements")
    return Buffer(device, desc.size_in_bytes, page_bytes(desc), desc.memory_space)


def write_tensor(buffer: Buffer, desc: TensorDesc, values: Array) -> None:
    """Fill a buffer with the numbers of a tensor."""
    numbers = tilize(values, desc.tile) if desc.is_tiled else values
    buffer.write(encode_numbers(numbers, desc.data_type, math.prod(desc.tile)))


def read_tensor(buffer: Buffer, desc: TensorDesc) -> Array:
    """The numbers of a tensor, in the type that operations compute in, without padding."""
    volume = math.prod(desc.tile)
    numbers = decode_numbers(buffer.read(), desc.element, desc.data_type, volume)
    if desc.is_tiled:
        shape = (1,) * (2 - len(desc.shape)) + desc.shape
        tiles = numbers.reshape(_tiles(shape, desc.tile))
        numbers = untilize(tiles, shape, desc.tile)
    return convert(numbers.reshape(desc.shape), desc.element.compute)


def _tiles(shape: Sequence[int], tile: tuple[int, int]) -> tuple[int, ...]:
    *outer, rows, columns = padded_shape(shape, tile)
    return (*outer, rows // tile[0], columns // tile[1], math.prod(tile))
