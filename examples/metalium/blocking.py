"""How a product of matrices is cut into blocks for cores, and these into subblocks for DST."""

from __future__ import annotations

from dataclasses import dataclass

from matrix_options import MatrixOptions, tiles_of

DST_TILES = 8
"""Tiles of 16-bit numbers in the half of DST that a thread has at a time."""

LARGEST_BLOCK_K = 8
"""Tiles along K that a core holds at once, twice: while it multiplies some, others arrive."""

SMALLEST_BLOCK_K = 2
"""With fewer, cores would wait for each other longer than a block takes."""


@dataclass(frozen=True, kw_only=True)
class Blocking:
    """Extents in tiles. Each core makes a block of C, from blocks of A and B along K."""

    grid_x: int
    grid_y: int
    """Columns and rows of cores."""
    block_m: int
    block_k: int
    block_n: int
    num_blocks: int
    """Along K."""
    subblock_m: int
    subblock_n: int
    """The part of a block of C that is in DST at a time."""

    @property
    def m(self) -> int:
        """Tiles of the rows of C, with those that only fill up the last cores' blocks."""
        return self.grid_y * self.block_m

    @property
    def k(self) -> int:
        """Tiles along K."""
        return self.num_blocks * self.block_k

    @property
    def n(self) -> int:
        """Tiles of the columns of C, with those that only fill up the last cores' blocks."""
        return self.grid_x * self.block_n


def choose_blocking(
    options: MatrixOptions, columns: int, rows: int, *, block_per_column: bool = False
) -> Blocking:
    """Blocks for a grid of cores; rows and columns are filled up so that all blocks are equal.

    `block_per_column` cuts K into a block for each column of cores, if it has tiles for all.
    """
    block_m, grid_y = _divide(tiles_of(options.m), rows)
    block_n, grid_x = _divide(tiles_of(options.n), columns)
    num_blocks = -(-tiles_of(options.k) // LARGEST_BLOCK_K)
    if block_per_column:
        num_blocks = choose_columns(tiles_of(options.k), grid_x)
    subblock_m, subblock_n = choose_subblock(block_m, block_n)
    return Blocking(
        grid_x=grid_x,
        grid_y=grid_y,
        block_m=block_m,
        block_k=-(-tiles_of(options.k) // num_blocks),
        block_n=block_n,
        num_blocks=num_blocks,
        subblock_m=subblock_m,
        subblock_n=subblock_n,
    )


def choose_columns(tiles: int, columns: int) -> int:
    """Columns of cores that K is spread over: those that waste the fewest tiles, as many as can.

    Blocks of less than `SMALLEST_BLOCK_K` are not worth it, those of more than `LARGEST_BLOCK_K`
    only where all columns are needed.
    """
    most = max(min(columns, tiles // SMALLEST_BLOCK_K), 1)
    fitting = [each for each in range(1, most + 1) if tiles <= each * LARGEST_BLOCK_K]
    return min(fitting or [columns], key=lambda each: (-tiles % each, -each))


def choose_subblock(block_m: int, block_n: int) -> tuple[int, int]:
    """The subblock that fits into DST and needs the fewest tiles unpacked for each product.

    Of m x n tiles the shorter side is unpacked once for each of its tiles, the longer side again
    for each of these: 1 + 1 / max(m, n) tiles for each product. Only subblocks of one row or of
    whole rows are taken: a block that is made of them in turn has its tiles row by row.
    """
    fitting = [
        (m, n)
        for m in range(1, block_m + 1)
        for n in range(1, block_n + 1)
        if block_m % m == 0 and block_n % n == 0 and m * n <= DST_TILES and (m == 1 or n == block_n)
    ]
    return max(fitting, key=lambda each: (max(each), each[0] * each[1], each[1]))


def _divide(tiles: int, cores: int) -> tuple[int, int]:
    """Tiles for each core, and how many cores that takes."""
    block = -(-tiles // cores)
    return block, -(-tiles // block)
