"""Where shards lie, what buffers take, views and iteration: by hand, and against all elements."""

from __future__ import annotations

from itertools import product
from math import prod

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ttmlir.layout.affine import AffineMap, constant, dims
from ttmlir.layout.data_format import ScalarType, TileFormat
from ttmlir.layout.enums import DataType, DeviceMemoryLayout
from ttmlir.layout.errors import LayoutError
from ttmlir.layout.metal import (
    block_of,
    cb_page_bytes,
    cb_pages,
    compose_views,
    dram_memory_map,
    dram_page_bytes,
    dst_capacity,
    grid_cores,
    grid_of_rank,
    infer_block_factors,
    iterator_extents,
    l1_buffer_bytes,
    l1_memory_map,
    permutation_map,
    reblocking_map,
    shard_bytes,
    shard_strides,
    split_device_shape,
)

BF16 = TileFormat(32, 32, DataType.BF16)
F32 = TileFormat(32, 32, DataType.F32)


def test_l1_map() -> None:
    """The core, and the byte behind the buffer's address."""
    assert str(l1_memory_map()) == "(d0, d1, d2)[s0] -> (0, d0, d1, d2 + s0)"
    assert l1_memory_map().eval((3, 5, 100), (1024,)) == (0, 3, 5, 1124)


def test_dram_map_by_hand() -> None:
    """Shards of 2x3 elements of 4 bytes on a grid of 2x3, pages of 16 bytes, 4 banks, base 64."""
    symbols = (2, 3, 2, 3, 16, 64, 4)
    dram = dram_memory_map(4)
    # The first shard: pages 0 and half of 1.
    assert dram.eval((0, 0, 0), symbols) == (0, 0, 0, 64)
    assert dram.eval((0, 0, 20), symbols) == (0, 0, 1, 68)
    # Core (1, 2) has shard 5, at byte 120: page 7 in bank 3, in its second round.
    assert dram.eval((1, 2, 0), symbols) == (0, 0, 3, 64 + 16 + 8)


@settings(max_examples=50, deadline=None)
@given(
    st.integers(1, 4),
    st.tuples(st.integers(1, 3), st.integers(1, 3)),
    st.tuples(st.integers(1, 3), st.integers(1, 3)),
    st.integers(1, 9),
)
def test_dram_map_uses_each_byte_once(banks, grid, shard, page_size) -> None:
    """No two bytes of a tensor meet, and pages fill the banks in turn."""
    symbols = (*grid, *shard, page_size, 0, 2)
    dram = dram_memory_map(banks)
    bytes_ = prod(shard) * 2
    places = [
        dram.eval((y, x, byte), symbols)
        for y, x, byte in product(range(grid[0]), range(grid[1]), range(bytes_))
    ]
    expected = [
        (0, 0, page % banks, page // banks * page_size + byte)
        for page, byte in (divmod(address, page_size) for address in range(len(places)))
    ]
    assert places == expected
    assert len(set(places)) == len(places)


def test_sizes() -> None:
    """Shards, pages and circular buffers."""
    assert shard_strides((2, 3), BF16) == (6144, 2048)
    assert shard_strides((4, 2, 3), ScalarType("f32")) == (24, 12, 4)
    assert shard_bytes((2, 3), BF16) == 12288
    assert shard_bytes((2, 3), BF16, buffers=2) == 24576
    assert dram_page_bytes((2, 3), BF16, DeviceMemoryLayout.SHARDED) == 12288
    assert dram_page_bytes((2, 3), BF16, DeviceMemoryLayout.INTERLEAVED) == 2048
    assert dram_page_bytes((5, 70), ScalarType("f32"), DeviceMemoryLayout.INTERLEAVED) == 280
    # A circular buffer of numbers has the pages of tiles of them.
    assert cb_page_bytes(ScalarType("f32")) == 4096
    assert cb_page_bytes(ScalarType("bf16")) == 2048
    assert cb_page_bytes(TileFormat(32, 32, DataType.BFP_BF8)) == 1088
    assert cb_pages((2, 3), BF16) == 6
    assert cb_pages((33, 32), ScalarType("f32")) == 2
    assert l1_buffer_bytes((33, 32), ScalarType("f32")) == 8192
    assert l1_buffer_bytes((2, 3), BF16, buffers=2) == 24576
    # 5280 bytes take two pages of 4096, which no shard shares with the next one.
    assert l1_buffer_bytes((33, 40), ScalarType("f32"), buffers=2) == 16384


@pytest.mark.parametrize(
    ("elements", "options", "tiles"),
    [
        ([BF16], {}, 8),
        ([BF16, F32], {}, 4),
        ([TileFormat(32, 32, DataType.SI32)], {}, 4),
        ([TileFormat(32, 32, DataType.BFP_BF8)], {}, 8),
        ([BF16], {"full_sync": True}, 16),
        ([F32], {"full_sync": True}, 8),
        ([F32], {"physical_tiles": 8}, 2),
        ([], {}, 8),
    ],
)
def test_dst_capacity(elements, options, tiles) -> None:
    """Half of DST, and half of that for 32 bits."""
    assert dst_capacity(elements, **options) == tiles


def test_no_dst_is_left() -> None:
    """Of two tiles there is no half for 32 bits."""
    with pytest.raises(LayoutError, match="give max-dst-physical-size-tiles 4 or more"):
        dst_capacity([F32], physical_tiles=2)


# --- Views ---------------------------------------------------------------------------------------


def all_points(shape):
    """Every coordinate of a shape."""
    return product(*map(range, shape))


def element(point, shard):
    """The coordinates in the whole tensor of a place in a grid and a shard."""
    rank = len(shard)
    return tuple(
        point[axis] * shard[axis] + point[rank + axis] for axis in range(rank)
    )  # by the definition of grid and shard


@st.composite
def divisions(draw: st.DrawFn):
    """Three ways to divide a tensor into shards."""
    extents = draw(st.lists(st.sampled_from([1, 2, 4, 6, 12]), min_size=1, max_size=3))
    made = []
    for _ in range(3):
        grid = tuple(
            draw(st.sampled_from([n for n in range(1, extent + 1) if extent % n == 0]))
            for extent in extents
        )
        shard = tuple(extent // cores for extent, cores in zip(extents, grid, strict=True))
        made.append((grid, shard))
    return made


@settings(max_examples=60, deadline=None)
@given(divisions())
def test_views_show_the_same_elements(ways) -> None:
    """A view, and a view of a view, find the element that is there."""
    buffer, view, upper = ways
    lower_map = reblocking_map(*buffer, *view)
    upper_map = reblocking_map(*view, *upper)
    for point in all_points((*view[0], *view[1])):
        assert element(lower_map.eval(point), buffer[1]) == element(point, view[1])
    composed = compose_views(upper_map, lower_map)
    for point in all_points((*upper[0], *upper[1])):
        assert element(composed.eval(point), buffer[1]) == element(point, upper[1])


def test_reblocking_by_hand() -> None:
    """From two rows of one shard of 4x6 to a grid of 4x2."""
    found = reblocking_map((2, 1), (4, 6), (4, 2), (2, 3))
    assert str(found) == (
        "(d0, d1, d2, d3) -> ((d0 * 2 + d2) floordiv 4, (d1 * 3 + d3) floordiv 6, "
        "(d0 * 2 + d2) mod 4, (d1 * 3 + d3) mod 6)"
    )
    assert found.eval((3, 1, 1, 2)) == (1, 0, 3, 5)
    assert reblocking_map((2, 1), (4, 6), (2, 1), (4, 6)).is_identity
    with pytest.raises(LayoutError, match="a view of 2x2 shards of 4x6 does not cover 2x1 shards"):
        reblocking_map((2, 1), (4, 6), (2, 2), (4, 6))


def test_other_views() -> None:
    """Permutations, empty maps, and shapes that are no grid and shard."""
    assert str(permutation_map((1, 0))) == "(d0, d1, d2, d3) -> (d1, d0, d3, d2)"
    # Dimension 0 of the view is dimension 2 of the buffer, and so on.
    assert permutation_map((2, 0, 1)).eval((7, 8, 9, 4, 5, 6)) == (8, 9, 7, 5, 6, 4)
    swap = permutation_map((1, 0))
    assert compose_views(swap, AffineMap.identity(0)) == swap
    assert compose_views(AffineMap.identity(0), swap) == swap
    assert compose_views(swap, swap).is_identity
    assert split_device_shape((8, 4, 2, 1)) == ((8, 4), (2, 1))
    with pytest.raises(LayoutError, match="even rank, got 8x4x2"):
        split_device_shape((8, 4, 2))


# --- Iteration -----------------------------------------------------------------------------------

D0, D1, D2 = dims(3)
LHS, RHS, OUT = AffineMap(3, 0, (D0, D2)), AffineMap(3, 0, (D2, D1)), AffineMap(3, 0, (D0, D1))


@pytest.mark.parametrize(
    ("grids", "cores", "factors"),
    [
        (((8, 8), (8, 8), (8, 8)), (8, 8), (1, 1, 8)),
        (((4, 2), (2, 6), (4, 6)), (2, 3), (2, 2, 2)),
        (((1, 5), (5, 1), (1, 1)), (1, 1), (1, 1, 5)),
    ],
)
def test_block_factors(grids, cores, factors) -> None:
    """Of a product of matrices."""
    lhs, rhs, out = grids
    assert infer_block_factors(OUT, out, cores, [(LHS, lhs), (RHS, rhs)]) == factors
    assert iterator_extents(OUT, cores, factors) == (out[0], out[1], lhs[1])


def test_blocks_of_a_core() -> None:
    """Core (1, 2) of 2x3 in step (1, 0, 1) with factors (2, 2, 2)."""
    where = {"core": (1, 2), "step": (1, 0, 1), "block_factors": (2, 2, 2), "output_map": OUT}
    assert block_of(OUT, **where) == (3, 4)
    assert block_of(LHS, **where) == (3, 1)
    assert block_of(RHS, **where) == (1, 4)
    assert block_of(AffineMap(3, 0, (D0, constant(0))), **where) == (3, 0)


def test_an_iterator_of_no_operand() -> None:
    """Nothing says how often it steps."""
    with pytest.raises(LayoutError, match="no operand is indexed by d2"):
        infer_block_factors(OUT, (2, 2), (2, 2), [(OUT, (2, 2))])


def test_grids_of_other_rank_are_on_the_same_cores() -> None:
    """On 8 rows of 7 cores, 8 cores in a row go on in the next one, and are no column."""
    chip = (8, 7)
    for grid in [(2, 3), (8, 1), (1, 8), (2, 2, 2), (3, 1, 5), (56, 1), (4,)]:
        for rank in (2, 3, 5):
            other = grid_of_rank(grid, rank, chip)
            assert len(other) == rank
            assert grid_cores(other, chip) == grid_cores(grid, chip)
