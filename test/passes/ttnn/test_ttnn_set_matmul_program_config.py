"""Products are divided over cores as Tenstorrent's compiler (0.1.3) divides them on a p150."""

from __future__ import annotations

import re

import pytest

from ttmlir.mlir.core_prefix import TTCORE, use_core_prefix
from ttmlir.passes.ttnn.ttnn_set_matmul_program_config import Product, config_of

# Batches, and tiles of rows, sums and columns; then the kind, in0_block_w, out_subblock_h and _w,
# per_core_m and _n, which the compiler has written for products of whole tiles.
ANSWERS = [
    ((1, 1, 16, 1), ("1d", 8, 1, 1, 1, 1)),
    ((1, 1, 12, 1), ("1d", 6, 1, 1, 1, 1)),
    ((1, 4, 64, 4), ("2d", 32, 1, 1, 1, 1)),
    ((1, 12, 8, 16), ("2d", 4, 2, 2, 2, 2)),
    ((1, 32, 32, 32), ("2d", 16, 4, 1, 4, 3)),
    ((1, 64, 16, 64), ("2d", 8, 1, 1, 7, 5)),
    ((1, 200, 4, 1), ("1d", 2, 2, 1, 2, 1)),
    ((1, 1, 4, 200), ("1d", 2, 1, 2, 1, 2)),
    ((1, 16, 4, 2), ("2d", 2, 2, 1, 2, 1)),
    ((1, 18, 4, 2), ("1d", 2, 1, 2, 1, 2)),
    ((1, 20, 2, 40), ("2d", 1, 2, 2, 2, 4)),
    ((8, 4, 4, 4), ("2d", 2, 1, 1, 1, 1)),
    ((16, 4, 4, 4), ("reuse", 2, 2, 2, 4, 4)),
    ((32, 8, 3, 2), ("reuse", 1, 2, 2, 8, 2)),
    ((20, 1, 16, 8), ("reuse", 8, 1, 4, 1, 8)),
    ((200, 3, 2, 2), ("reuse", 1, 3, 1, 3, 2)),
    ((1, 3, 8, 130), ("1d", 4, 3, 1, 3, 1)),
    ((1, 2, 48, 260), ("1d", 24, 2, 2, 2, 2)),
    ((1, 40, 36, 40), ("2d", 18, 2, 2, 4, 4)),
]
_KINDS = {"1d": "_multi_cast_1d", "2d": "_multi_cast", "reuse": ""}
_FIELDS = ("in0_block_w", "out_subblock_h", "out_subblock_w", "per_core_m", "per_core_n")


@pytest.mark.parametrize(("tiles", "answer"), ANSWERS)
def test_products_are_divided_as_there(
    tiles: tuple[int, int, int, int], answer: tuple[str, int, int, int, int, int]
) -> None:
    """The kind of config, and its numbers."""
    batch, rows, depth, columns = tiles
    with use_core_prefix(TTCORE):
        text = str(config_of(Product(batch, rows, depth, columns), (13, 10)))
    kind, *numbers = answer
    assert f"#ttnn.matmul_multi_core_reuse{_KINDS[kind]}_program_config<" in text
    found = [int(re.findall(rf"\b{name} = (\d+)", text)[0]) for name in _FIELDS]
    assert found == numbers


# Tiles of rows, sums and columns, bytes of a tile, and in0_block_w on 8x8 cores of an n150.
BLOCKS = [
    ((1, 64, 128), 4096, 32),
    ((1, 128, 128), 2048, 32),
    ((1, 288, 128), 4096, 32),
    ((1, 784, 128), 2048, 28),
    ((1, 289, 128), 4096, 17),
    ((128, 288, 2), 2048, 32),
    ((22, 288, 22), 2048, 32),
    ((22, 288, 22), 4096, 24),
    ((1, 68, 8 * 64), 4096, 17),
    ((1, 68, 9 * 64), 4096, 4),
    ((1, 68, 16 * 64), 2048, 17),
    ((1, 68, 17 * 64), 2048, 4),
    ((1, 124, 4 * 64), 4096, 31),
    ((1, 124, 9 * 64), 2048, 4),
    ((1, 92, 6 * 64), 4096, 4),
    ((1, 128, 10 * 64), 2048, 16),
]


@pytest.mark.parametrize(("tiles", "tile_bytes", "answer"), BLOCKS)
def test_blocks_fit_into_l1(tiles: tuple[int, int, int], tile_bytes: int, answer: int) -> None:
    """As many tiles are summed at once as there."""
    rows, depth, columns = tiles
    sides = (tile_bytes, tile_bytes, tile_bytes)
    product = Product(1, rows, depth, columns, tile_bytes=sides)
    with use_core_prefix(TTCORE):
        text = str(config_of(product, (8, 8)))
    assert f"in0_block_w = {answer}," in text


# Tiles of rows, sums and columns, bytes of a tile, and the tiles that a core computes at once: of
# 25 rows and 12 or 18 columns of f32, those of which the library says that they do not fit.
PARTS = [
    ((1568, 3, 12), 4096, (25, 4)),
    ((1568, 3, 18), 4096, (5, 18)),
    ((1568, 3, 9), 4096, (25, 9)),
    ((1568, 3, 12), 2048, (25, 6)),
]


@pytest.mark.parametrize(("tiles", "tile_bytes", "block"), PARTS)
def test_parts_that_do_not_fit_are_divided(
    tiles: tuple[int, int, int], tile_bytes: int, block: tuple[int, int]
) -> None:
    """Into the largest blocks that do, of which all parts are multiples."""
    rows, depth, columns = tiles
    sides = (tile_bytes, tile_bytes, tile_bytes)
    with use_core_prefix(TTCORE):
        text = str(config_of(Product(1, rows, depth, columns, tile_bytes=sides), (8, 8)))
    names = ("out_block_h", "out_block_w", "per_core_m", "per_core_n")
    found = [int(re.findall(rf"\b{name} = (\d+)", text)[0]) for name in names]
    assert found == [*block, 25, columns]
