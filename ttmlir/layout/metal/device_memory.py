"""Where shards lie in the memories of a device, and what buffers of the metal path take there.

Positions are (device, y, x or bank, byte). L1 is addressed by core; in DRAM the shards of a tensor
follow each other in row-major order of the grid, and pages go round the banks.

Source of the maps: tt-mlir, DeviceAttr (late 2025).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from ttmlir.layout.affine import AffineMap, constant, dims, symbols
from ttmlir.layout.element_type import DEFAULT_TILE_SHAPE, Element, TileFormat
from ttmlir.layout.enums import DeviceMemoryLayout
from ttmlir.layout.errors import LayoutError
from ttmlir.layout.grid import shape_text

DST_TILES = 16
"""Tiles of 16-bit numbers in the whole of DST."""
CIRCULAR_BUFFERS = 32
"""Of a core."""
WIDE_BYTES = 4
"""Bytes of the numbers of which DST holds half as many."""


def l1_memory_map() -> AffineMap:
    """From grid y, grid x and the byte in a shard; the symbol is the address of the buffer."""
    y, x, byte = dims(3)
    (base,) = symbols(1)
    return AffineMap(3, 1, (constant(0), y, x, byte + base))


def dram_memory_map(banks: int) -> AffineMap:
    """From grid y, grid x and the byte in a shard to a bank and a byte in it.

    The symbols are rows and columns of the grid, rows and columns of the shard, bytes of a page,
    the address of the buffer in each bank, and bytes of an element.
    """
    y, x, byte = dims(3)
    _, grid_x, shard_y, shard_x, page_size, base, element_size = symbols(7)
    shard_size = shard_y * (shard_x * element_size)
    address = (y * grid_x) * shard_size + x * shard_size + byte
    page = address // page_size
    in_bank = (page // banks) * page_size + address % page_size + base
    return AffineMap(3, 7, (constant(0), constant(0), page % banks, in_bank))


def grid_cores(grid: Sequence[int], chip_grid: tuple[int, int]) -> tuple[tuple[int, int], ...]:
    """The (x, y) of the core that each shard in L1 is on, in row-major order of a buffer's grid.

    `chip_grid` is rows and columns of the chip. A grid of such cores begins at (0, 0); one that
    reaches beyond them, such as 64x1, or that has further dimensions counts the chip's cores row by
    row. LayoutError if it has more cores than the chip.
    """
    rows, columns = chip_grid
    count = math.prod(grid)
    *outer, height, width = (1, 1, *grid)
    if height <= rows and width <= columns and math.prod(outer) == 1:
        return tuple((x, y) for y in range(height) for x in range(width))
    if count > rows * columns:
        raise LayoutError(
            f"a grid of {shape_text(grid)} has {count} cores; the chip has {rows * columns}, in "
            f"{rows} rows and {columns} columns"
        )
    return tuple((number % columns, number // columns) for number in range(count))


def shared_cores(
    grid: Sequence[int], follows: Sequence[bool], chip_grid: tuple[int, int]
) -> tuple[str, int] | None:
    """Which cores of a grid have the same part of a tensor, and how many: what is sent to them.

    `follows` says for each dimension of the grid whether the tensor is divided along it. They are
    the cores of a row of the chip (x), of a column (y), or of several whole rows, which one
    rectangle has (rows); None if they are none of these.
    """
    rows, columns = chip_grid
    *outer, height, width = (1, 1, *grid)
    shares = (False, False, *(not each for each in follows))
    if height <= rows and width <= columns and math.prod(outer) == 1:
        for axis, extent, is_shared in (("x", width, shares[-1]), ("y", height, shares[-2])):
            if extent > 1 and is_shared:
                return axis, extent
        return None
    # Such a grid counts the chip's cores row by row.
    count = 1
    for extent, is_shared in zip(reversed(grid), reversed(shares), strict=False):
        if extent > 1 and not is_shared:
            break
        count *= extent
    is_whole = count % columns == 0 == math.prod(grid) % columns
    return ("rows", count) if is_whole and math.prod(grid) <= rows * columns else None


def grid_of_rank(grid: Sequence[int], rank: int, chip_grid: tuple[int, int]) -> tuple[int, ...]:
    """A grid of other rank, 2 or more, on the same cores: for buffers beside that of the grid."""
    *outer, height, width = (1, 1, *grid)
    if math.prod(outer) == 1 and height <= chip_grid[0] and width <= chip_grid[1]:
        return (*(1,) * (rank - 2), height, width)
    # One row of cores; where the chip's are shorter, it is counted row by row.
    return (*(1,) * (rank - 1), math.prod(grid))


def shard_strides(shard: Sequence[int], element: Element) -> tuple[int, ...]:
    """Bytes from one element of a shard to the next in each dimension."""
    strides: list[int] = []
    stride = element.stored_bytes
    for extent in reversed(shard):
        strides.append(stride)
        stride *= extent
    return tuple(reversed(strides))


def shard_bytes(shard: Sequence[int], element: Element, buffers: int = 1) -> int:
    """Bytes of a shard, or of several buffers of it."""
    return math.prod(shard) * element.stored_bytes * buffers


def dram_page_bytes(
    shard: Sequence[int], element: Element, memory_layout: DeviceMemoryLayout
) -> int:
    """Bytes that go to one bank of DRAM before the next one's turn.

    A whole shard, if the tensor is sharded; else a tile or a row.
    """
    if memory_layout is DeviceMemoryLayout.SHARDED:
        return shard_bytes(shard, element)
    if isinstance(element, TileFormat):
        return element.stored_bytes
    return shard_strides(shard, element)[0]


def cb_page_bytes(element: Element) -> int:
    """Bytes of a page of a circular buffer: a tile of the element type, also for scalars."""
    if isinstance(element, TileFormat):
        return element.stored_bytes
    return TileFormat.of(element, DEFAULT_TILE_SHAPE).stored_bytes


def cb_pages(shard: Sequence[int], element: Element) -> int:
    """Pages of a circular buffer that hold one shard."""
    return -(-shard_bytes(shard, element) // cb_page_bytes(element))


def l1_buffer_bytes(shard: Sequence[int], element: Element, buffers: int = 1) -> int:
    """Bytes that a buffer takes in the L1 of each core: whole pages of a circular buffer.

    Each of several shards begins with a page.
    """
    return buffers * cb_pages(shard, element) * cb_page_bytes(element)


def dst_capacity(
    elements: Iterable[Element], *, physical_tiles: int = DST_TILES, full_sync: bool = False
) -> int:
    """Tiles of DST that a kernel has at a time, from the element types that it computes on.

    Half of DST, as the packer has the other half, unless both wait for each other (`full_sync`);
    half of that if numbers of 32 bits are among them. LayoutError if nothing is left.
    """
    tiles = physical_tiles if full_sync else physical_tiles // 2
    if any(element.scalar.size_bytes >= WIDE_BYTES for element in elements):
        tiles //= 2
    if tiles < 1:
        raise LayoutError(
            f"DST of {physical_tiles} tiles has no room for a tile; "
            "give max-dst-physical-size-tiles 4 or more"
        )
    return tiles
