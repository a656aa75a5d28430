"""Products of the matrices whose tiles the cores of a group have: all cores' at once.

Cores that multiply matrices share factors: those of a row of tiles of the result one factor, those
of a column the other one. Their tiles are decoded together and make matrices again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ttmlir.sim.calls.unpack_api import ARRANGEMENT, NUMBERS, Arrangement, TileReader
from ttmlir.sim.machine.memory import Memory
from ttmlir.sim.machine.numerics import (
    BLOCK_FLOATS,
    INTEGERS,
    TILE_VOLUME,
    rows_of_tiles,
)

Floats = NDArray[np.float32]
Places = NDArray[np.intp]

_KEPT = 4096
"""Tiles of one kind of factor that are kept, each of 4 KiB: more than chains of a page take."""


class FetchedPage(Protocol):
    """A page of each core that was copied from a memory, which nobody writes."""

    memories: Sequence[Memory]
    sources: Sequence[int]
    size: int


class Factors:
    """The tiles of one format in one arrangement, as rows of numbers, by where they are."""

    def __init__(self, reader: TileReader, form: int) -> None:
        """See `TileReader.read`."""
        self._reader = reader
        self.bits_of = reader.bits_of
        self._arrangement = form & ARRANGEMENT
        self._places: dict[tuple[int, int], int] = {}
        self._tiles = np.empty((0, 32, 32), np.float32)

    @staticmethod
    def suit(reader: TileReader, form: int) -> bool:
        """Whether tiles can be decoded together, and be put together to matrices."""
        arrangement = form & ARRANGEMENT
        is_whole = arrangement in (Arrangement.PLAIN, Arrangement.TRANSPOSED)
        data_type = reader.data_type
        is_scalar = data_type not in BLOCK_FLOATS and data_type not in INTEGERS
        return is_whole and is_scalar and reader.tile.is_whole

    def find(self, pages: Sequence[FetchedPage]) -> Places | None:
        """Places of the tiles of pages, a row for each page: good until the next call.

        None if these are more tiles than are kept.
        """
        # Each page is a factor of several products, and may be fetched several times.
        rows: dict[tuple[tuple[int, ...], tuple[int, ...]], int] = {}
        different: list[FetchedPage] = []
        row_of: dict[int, int] = {}
        for page in pages:
            if id(page) not in row_of:
                key = tuple(page.sources), tuple(map(id, page.memories))
                row = row_of[id(page)] = rows.setdefault(key, len(rows))
                if row == len(different):
                    different.append(page)
        memories = np.array([memory for _, memory in rows], np.int64)
        sources = np.array([source for source, _ in rows], np.int64)
        banks, bank_of = np.unique(memories, return_inverse=True)
        numbers = bank_of.reshape(sources.shape) + sources * len(banks)
        _, firsts, inverse = np.unique(numbers, return_index=True, return_inverse=True)
        banks_of_tiles, starts = (each.flat[firsts].tolist() for each in (memories, sources))
        keys = [*zip(banks_of_tiles, starts, strict=True)]
        places = self._places
        new = [place for place, key in enumerate(keys) if key not in places]
        if new:
            if len(new) > _KEPT:
                return None
            if len(places) + len(new) > _KEPT:
                places.clear()
                return self.find(pages)
            first, size = len(places), pages[0].size
            places.update((keys[place], first + count) for count, place in enumerate(new))
            if len(places) > len(self._tiles):
                tiles = np.empty((min(2 * len(places), _KEPT), 32, 32), np.float32)
                tiles[:first] = self._tiles[:first]
                self._tiles = tiles
            lanes = sources.shape[1]
            parts: list[memoryview] = []
            for place in new:
                row, lane = divmod(int(firsts[place]), lanes)
                parts.append(different[row].memories[lane].read(keys[place][1], size))
            self._tiles[first : len(places)] = self._decode(b"".join(parts))
        found = np.array([places[key] for key in keys], np.intp)[inverse].reshape(sources.shape)
        return found[[row_of[id(page)] for page in pages]]

    def tiles(self, places: Places) -> Floats:
        """The numbers of tiles: 32 rows of 32 for each place."""
        return self._tiles[places]

    def _decode(self, data: bytes) -> Floats:
        numbers = self._reader.decode(np.frombuffer(data, np.uint8), NUMBERS)
        rows = rows_of_tiles(numbers)
        return rows.transpose(0, 2, 1) if self._arrangement else rows


def add_grid(
    starts: Floats,
    a: tuple[Factors, Places],
    b: tuple[Factors, Places],
    multiply: Callable[[Floats, Floats, Floats], Floats | None],
) -> Floats | None:
    """Tiles (by faces, a row for each) after chains of products were added to them.

    `a` and `b` are SrcA and SrcB: for each tile of DST the places of its factors, in their order.
    `multiply` adds the product of two matrices to one. None if tiles do not lie in a grid, whose
    rows share `b` and whose columns share `a`, or if `multiply` leaves their numbers to others.
    """
    (factors_a, places_a), (factors_b, places_b) = a, b
    rows: dict[bytes, int] = {}
    columns: dict[bytes, int] = {}
    tiles: dict[tuple[int, int], int] = {}
    for tile, (of_a, of_b) in enumerate(zip(places_a, places_b, strict=True)):
        row = rows.setdefault(of_b.tobytes(), len(rows))
        column = columns.setdefault(of_a.tobytes(), len(columns))
        tiles[row, column] = tile
    height, width = len(rows), len(columns)
    if not len(tiles) == height * width == len(starts):
        return None
    grid = np.array([[tiles[row, column] for column in range(width)] for row in range(height)])
    length = places_a.shape[1]
    in0 = factors_b.tiles(places_b[grid[:, 0]])
    in0 = in0.transpose(0, 2, 1, 3).reshape(32 * height, 32 * length)
    in1 = factors_a.tiles(places_a[grid[0]])
    in1 = in1.transpose(1, 2, 0, 3).reshape(32 * length, 32 * width)
    faces = starts[grid].reshape(height, width, 2, 2, 16, 16)
    start = faces.transpose(0, 2, 4, 1, 3, 5).reshape(32 * height, 32 * width)
    result = multiply(start, in0, in1)
    if result is None:
        return None
    faces = result.reshape(height, 2, 16, width, 2, 16).transpose(0, 3, 1, 4, 2, 5)
    found = np.empty_like(starts)
    found[grid.reshape(-1)] = faces.reshape(-1, TILE_VOLUME)
    return found


_SIDE = 4
"""Rows and columns of tiles of a product that stay in the cache with what is added to them."""


def multiply_floats(start: Floats, in0: Floats, in1: Floats, *, is_new: bool) -> Floats:
    """`start` (M x N) after in0 (M x K) @ in1 (K x N) was added, tile by tile along K, in float32.

    If it `is_new`, the first tiles are the product of those alone. NumPy adds up numbers of larger
    matrices in another order than those of tiles, so it gets a stack of these.
    """
    total, rows, columns = (_as_tiles(each) for each in (start, in0, in1))
    for top in range(0, len(total), _SIDE):
        for left in range(0, total.shape[1], _SIDE):
            block = np.s_[top : top + _SIDE, left : left + _SIDE]
            tiles = total[block].copy()
            product = np.empty_like(tiles)
            for place in range(len(columns)):
                factors = rows[block[0], None, place], columns[None, place, block[1]]
                if is_new and place == 0:
                    np.matmul(*factors, tiles)
                else:
                    np.add(tiles, np.matmul(*factors, product), tiles)
            total[block] = tiles
    return total.swapaxes(1, 2).reshape(start.shape)


def _as_tiles(matrix: Floats) -> Floats:
    """The tiles of a matrix by row and column, each as 32 rows of 32."""
    height, width = matrix.shape
    return np.ascontiguousarray(matrix.reshape(height // 32, 32, width // 32, 32).swapaxes(1, 2))
