"""Tensor layouts: the tables of the layout arithmetic, hand computations, and bijectivity."""

import math
from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ttmlir.layout.affine import parse_affine_map
from ttmlir.layout.data_format import ScalarType, TileFormat
from ttmlir.layout.enums import DataType, MemorySpace, OOBVal, TensorMemoryLayout
from ttmlir.layout.errors import LayoutError
from ttmlir.layout.tensor_layout import (
    DEFAULT_COLLAPSE,
    Grid,
    TensorLayout,
    collapse,
    linear_from_strides,
)

F32 = ScalarType("f32")
TILE = TileFormat(32, 32, DataType.F32)


@pytest.mark.parametrize(
    ("shape", "rank", "intervals", "results"),
    [
        ((2, 3, 64, 128), 2, DEFAULT_COLLAPSE, "d0 * 192 + d1 * 64 + d2, d3"),
        ((2, 3, 64, 128), 3, ((1, -1),), "d0, d1 * 64 + d2, d3"),
        ((2, 3, 64, 128), 3, ((0, 2),), "d0 * 3 + d1, d2, d3"),
        ((8, 96, 32), 3, DEFAULT_COLLAPSE, "d0 * 96 + d1, d1, d2"),
        ((8, 64, 128), 3, DEFAULT_COLLAPSE, "d0 * 64 + d1, d1, d2"),
        ((2, 3, 64, 128), 4, DEFAULT_COLLAPSE, "d0 * 192 + d1 * 64 + d2, d1, d2, d3"),
        ((1, 1, 1, 64), 2, DEFAULT_COLLAPSE, "d0 + d1 + d2, d3"),
        ((128,), 1, DEFAULT_COLLAPSE, "d0"),
        ((128,), 2, DEFAULT_COLLAPSE, "0, d0"),
        ((128,), 3, DEFAULT_COLLAPSE, "0, 0, d0"),
        ((7, 9), 1, ((0, 2),), "d0 * 9 + d1"),
        ((2, 3, 64, 128), 4, (), "d0, d1, d2, d3"),
        ((3, 4), 4, DEFAULT_COLLAPSE, "0, 0, d0, d1"),
        ((2, 3, 4), 4, DEFAULT_COLLAPSE, "0, d0 * 3 + d1, d1, d2"),
        ((2, 3, 5, 7), 3, ((-3, -1),), "d0, d1 * 5 + d2, d3"),
        ((2, 3, 5, 7), 2, ((0, 2), (2, 4)), "d0 * 3 + d1, d2 * 7 + d3"),
        # Two intervals, the second beyond the grid's rank: groups are taken in order.
        (
            (2, 3, 5, 7, 11, 13, 17),
            4,
            ((0, 3), (-3, -1)),
            "d0 * 15 + d1 * 5 + d2, d3, d4 * 13 + d5, d6",
        ),
        # Intervals without dimensions collapse nothing, in order as well as in place.
        ((2, 3), 2, ((0, 0),), "d0, d1"),
        ((2, 3, 5, 7), 3, ((1, 1), (0, 2)), "d0 * 3 + d1, d2, d3"),
        (
            (2, 3, 5, 7, 11, 13, 17),
            4,
            ((0, 3), (3, 3), (-3, -1), (6, 6)),
            "d0 * 15 + d1 * 5 + d2, d3, d4 * 13 + d5, d6",
        ),
        ((2, 3, 5, 7), 3, ((4, 4), (2, 4)), "d0, d1, d2 * 7 + d3"),
        ((), 2, DEFAULT_COLLAPSE, "0, 0"),
        ((), 1, (), "0"),
    ],
)
def test_collapse(
    shape: tuple[int, ...], rank: int, intervals: tuple[tuple[int, int], ...], results: str
):
    """Intervals of dimensions become physical ones."""
    linear = collapse(shape, rank, intervals)
    assert str(linear).split(" -> ")[1] == f"({results})"
    assert linear.num_dims == len(shape)


@pytest.mark.parametrize(
    ("shape", "rank", "intervals", "message"),
    [
        (
            (2, 3, 64, 128),
            2,
            ((1, -1),),
            "collapse intervals [(1, 3)] leave 3 of the 4 dimensions of the tensor 2x3x64x128, but "
            "the grid has rank 2; collapse more of them or use a grid of rank 3",
        ),
        (
            (2, 3, 4),
            2,
            (),
            "collapse intervals [] leave 3 of the 3 dimensions of the tensor 2x3x4, but the grid "
            "has rank 2; collapse more of them or use a grid of rank 3",
        ),
        ((2, 3), 2, ((0, 3),), "collapse interval (0, 3) is not within the 2 dimensions"),
        ((2, 3), 2, ((1, 0),), "collapse interval (1, 0) is not within the 2 dimensions"),
        ((2, 3), 2, ((-3, 1),), "collapse interval (-3, 1) is not within the 2 dimensions"),
        ((2, 3, 4, 5), 2, ((0, 3), (2, 4)), "collapse intervals [(0, 3), (2, 4)] overlap"),
        ((2, -1), 2, DEFAULT_COLLAPSE, "needs a static shape"),
    ],
)
def test_impossible_collapses_are_refused(
    shape: tuple[int, ...], rank: int, intervals: tuple[tuple[int, int], ...], message: str
):
    """What does not fit is told with shape, grid and remedy."""
    with pytest.raises(LayoutError) as error:
        collapse(shape, rank, intervals)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("shape", "grid", "physical", "stride", "scalar_shard", "tile_shard"),
    [
        ((64, 128), (1, 1), (64, 128), (128, 1), (64, 128), (2, 4)),
        ((17, 33), (1, 1), (17, 33), (33, 1), (17, 33), (1, 2)),
        ((32,), (1, 1), (1, 32), (1,), (1, 32), (1, 1)),
        ((128,), (1, 4), (1, 128), (1,), (1, 32), (1, 1)),
        ((1, 1, 32, 64), (1, 1), (32, 64), (2048, 2048, 64, 1), (32, 64), (1, 2)),
        ((8, 64, 128), (8, 8), (512, 128), (8192, 128, 1), (64, 16), (2, 1)),
        ((2, 3, 64, 128), (2, 4), (384, 128), (24576, 8192, 128, 1), (192, 32), (6, 1)),
        ((), (1, 1), (1, 1), (), (1, 1), (1, 1)),
        ((0, 5), (1, 1), (0, 5), (5, 1), (0, 5), (0, 1)),
        ((2, 0, 3, 7), (1, 1), (0, 7), (0, 21, 7, 1), (0, 7), (0, 1)),
    ],
)
def test_shapes_and_strides(
    shape: tuple[int, ...],
    grid: tuple[int, ...],
    physical: tuple[int, ...],
    stride: tuple[int, ...],
    scalar_shard: tuple[int, ...],
    tile_shard: tuple[int, ...],
):
    """Physical shape, strides and shards, with scalars and with tiles of 32x32."""
    scalars = TensorLayout.of(shape, F32, MemorySpace.DEVICE_L1, grid)
    assert scalars.physical_shape(shape) == physical
    assert scalars.stride(shape) == stride
    assert scalars.shard == scalar_shard
    assert TensorLayout.of(shape, TILE, MemorySpace.DEVICE_L1, grid).shard == tile_shard
    assert scalars.with_element(TILE).shard == tile_shard


def test_stride_of_a_dimension_in_two_results_is_the_outer_one():
    """8x96x32 with d1 in the first two results: 3072 = 96 * 32 from the outer, not 32."""
    layout = TensorLayout.of((8, 96, 32), F32, grid=(2, 1, 2))
    # Physical 768x96x32: d0 moves 96 rows of 96*32 numbers, d1 one such row.
    assert layout.stride((8, 96, 32)) == (96 * 96 * 32, 96 * 32, 1)


def test_tiled_shape_replaces_the_row_expression_everywhere():
    """With (d0 * 96 + d1, d1, d2) the row d1 counts in tiles in the first result, too."""
    layout = TensorLayout.of((8, 96, 32), TILE, grid=(2, 1, 2))
    # At (7, 95, 31): 7 * 96 + 95 floordiv 32 = 674, 95 floordiv 32 = 2, 31 floordiv 32 = 0.
    assert layout.tiled_shape((8, 96, 32)) == (675, 3, 1)


@pytest.mark.parametrize(
    ("shape", "grid", "tiled"),
    [
        ((64, 128), (1, 1), (2, 4)),
        ((53, 63), (3, 2), (2, 2)),
        ((2, 3, 64, 128), (2, 4), (12, 4)),
        ((5,), (1, 1), (1, 1)),
    ],
)
def test_tiled_shape(shape: tuple[int, ...], grid: tuple[int, ...], tiled: tuple[int, ...]):
    """The physical shape in tiles of 32x32."""
    assert TensorLayout.of(shape, TILE, grid=grid).tiled_shape(shape) == tiled


def test_tiled_shape_of_a_row_major_layout_is_its_physical_shape():
    """Without tiles nothing is divided."""
    assert TensorLayout.of((3, 40, 33), F32, grid=(1, 1)).tiled_shape((3, 40, 33)) == (120, 33)


def test_without_a_grid_there_is_one_core_per_dimension():
    """The default grid has the tensor's rank, and system memory is the default."""
    layout = TensorLayout.of((2, 3, 64, 128), F32)
    assert layout.grid == Grid((1, 1, 1, 1))
    assert layout.memory_space is MemorySpace.SYSTEM
    assert layout.memory_layout is TensorMemoryLayout.NONE
    assert layout.oob_val is OOBVal.UNDEF
    assert layout.shard == (384, 3, 64, 128)


def test_tiles_and_back_keep_the_padding():
    """50x70 in tiles is 2x3 of them, so 64x96 numbers, also after going back to scalars."""
    layout = TensorLayout.of((50, 70), F32, MemorySpace.DEVICE_DRAM, (1, 1))
    tiled = layout.with_element(TILE)
    assert tiled.shard == (2, 3)
    assert tiled.scalar_shard == (64, 96)
    assert tiled.with_element(F32).shard == (64, 96)


def test_derived_layouts_change_one_thing():
    """The other fields are those of the original."""
    layout = TensorLayout.of(
        (64, 96),
        TILE,
        MemorySpace.DEVICE_L1,
        (2, 3),
        memory_layout=TensorMemoryLayout.BLOCK_SHARDED,
        oob_val=OOBVal.ZERO,
    )
    dram = layout.with_memory_space(MemorySpace.DEVICE_DRAM)
    assert (dram.memory_space, dram.shard) == (MemorySpace.DEVICE_DRAM, (1, 1))
    interleaved = layout.with_memory_layout(TensorMemoryLayout.INTERLEAVED)
    assert interleaved.memory_layout is TensorMemoryLayout.INTERLEAVED
    wider = layout.with_grid((64, 96), (1, 3))
    assert (wider.shard, wider.grid.shape) == ((2, 1), (1, 3))
    assert (wider.element, wider.oob_val) == (TILE, OOBVal.ZERO)
    assert wider.memory_layout is TensorMemoryLayout.BLOCK_SHARDED
    bfp = layout.with_element(TileFormat(32, 32, DataType.BFP_BF8))
    assert (bfp.linear, bfp.oob_val, bfp.memory_space) == (
        layout.linear,
        layout.oob_val,
        layout.memory_space,
    )


@pytest.mark.parametrize(
    ("space", "memory_layout", "expected"),
    [
        (MemorySpace.DEVICE_L1, TensorMemoryLayout.HEIGHT_SHARDED, True),
        (MemorySpace.DEVICE_L1, TensorMemoryLayout.INTERLEAVED, False),
        (MemorySpace.DEVICE_DRAM, TensorMemoryLayout.HEIGHT_SHARDED, False),
    ],
)
def test_only_sharded_layouts_in_l1_are_sharded(
    space: MemorySpace, memory_layout: TensorMemoryLayout, expected: bool
):
    """DRAM has no shards, and interleaved pages are none."""
    layout = TensorLayout.of((64, 64), F32, space, (1, 1), memory_layout=memory_layout)
    assert layout.is_sharded is expected


def test_sizes_and_padding():
    """53x63 on 3x2: shards of 18x32, so 54x64 with padding; in tiles 96x64."""
    scalars = TensorLayout.of((53, 63), F32, MemorySpace.DEVICE_L1, (3, 2))
    assert scalars.shard_bytes == 18 * 32 * 4
    assert scalars.padded_shape((53, 63)) == (54, 64)
    tiles = scalars.with_element(TileFormat(32, 32, DataType.BF16))
    assert tiles.shard_bytes == 2048
    assert tiles.padded_shape((53, 63)) == (96, 64)
    assert tiles.scalar_element == ScalarType("bf16")


def test_memory_map_takes_the_shard_for_the_symbols():
    """Symbols become shard extents, in tiles if tiled; the projection starts at the tensor."""
    device_map = parse_affine_map("(d0, d1)[s0, s1] -> (d0 floordiv s0, d1 floordiv s1, d1 mod s1)")
    layout = TensorLayout.of((2, 3, 64, 128), F32, MemorySpace.DEVICE_L1, (2, 4))
    assert str(layout.memory_map(device_map)) == (
        "(d0, d1) -> (d0 floordiv 192, d1 floordiv 32, d1 mod 32)"
    )
    assert str(layout.project_onto(device_map)) == (
        "(d0, d1, d2, d3) -> ((d0 * 192 + d1 * 64 + d2) floordiv 192, d3 floordiv 32, d3 mod 32)"
    )
    # The last row of the second batch: 192 + 2 * 64 + 63 = 383 is in the second row of cores.
    assert layout.project_onto(device_map).eval((1, 2, 63, 100)) == (1, 3, 4)


def test_refusals_of_layouts():
    """Ranks, tiles and grids that cannot be are told with what was expected."""
    with pytest.raises(LayoutError, match="tiles cover the last two dimensions, got a shape of"):
        TensorLayout.of((128,), TILE, grid=(4,))
    with pytest.raises(
        LayoutError, match="a grid has at least one core in each dimension, got 0x1"
    ):
        TensorLayout.of((4, 4), F32, grid=(0, 1))
    with pytest.raises(LayoutError, match="a tile of 0x7 holds no numbers"):
        TensorLayout.of((4, 4), TileFormat(0, 7, DataType.F32), grid=(1, 1))
    odd = TensorLayout(
        linear=parse_affine_map("(d0, d1) -> (d0, d1)"),
        grid=Grid((1, 1, 1)),
        shard=(4,),
        element=F32,
        memory_space=MemorySpace.SYSTEM,
    )
    with pytest.raises(LayoutError, match="have the same rank, got 2, 3 and 1"):
        odd.padded_shape((4, 4))
    with pytest.raises(LayoutError, match="have the same rank, got 2, 3 and 1"):
        replace(odd, element=TILE).tiled_shape((4, 4))
    with pytest.raises(LayoutError, match="for a tensor of rank 2, got the shape 2x3x4"):
        TensorLayout.of((4, 4), F32, grid=(1, 1)).padded_shape((2, 3, 4))


@pytest.mark.parametrize(
    ("strides", "rank", "linear"),
    [
        ((8192, 128, 1), 2, "(d0, d1) -> (d0, d1)"),
        ((49152, 24576, 8192, 128, 1), 2, "(d0, d1, d2, d3) -> (d0 * 192 + d1 * 64 + d2, d3)"),
        ((32, 1), 2, "(d0) -> (0, d0)"),
    ],
)
def test_linear_map_of_strides(strides: tuple[int, ...], rank: int, linear: str):
    """The old form: the volume of 2x3x64x128, and then the distance along each dimension."""
    assert str(linear_from_strides(strides, rank)) == linear


@pytest.mark.parametrize("strides", [(8,), (8192, 100, 1), (8192, 128, 2), (0, 0, 1)])
def test_strides_of_no_rows_are_refused(strides: tuple[int, ...]):
    """Strides must be multiples of a row's length and end in 1."""
    with pytest.raises(LayoutError, match="are not those of rows of numbers"):
        linear_from_strides(strides, 2)


SHAPES = st.lists(st.integers(1, 5), min_size=1, max_size=4).map(tuple)


@given(SHAPES)
def test_the_default_layout_maps_a_tensor_one_to_one_onto_its_physical_shape(
    shape: tuple[int, ...],
):
    """Every place of the physical shape belongs to exactly one element."""
    layout = TensorLayout.of(shape, F32, grid=(1, 1))
    places = {layout.linear.eval(point) for point in product(*map(range, shape))}
    assert places == set(product(*map(range, layout.physical_shape(shape))))
    assert len(places) == math.prod(shape)


@given(SHAPES)
def test_strides_number_the_elements_in_row_major_order(shape: tuple[int, ...]):
    """The dot product of point and strides counts 0, 1, 2, ... in row-major order."""
    stride = TensorLayout.of(shape, F32, grid=(1, 1)).stride(shape)
    points = product(*map(range, shape))
    numbers = [sum(a * b for a, b in zip(point, stride, strict=True)) for point in points]
    assert numbers == list(range(math.prod(shape)))


@given(SHAPES, st.integers(1, 4), st.integers(1, 4), st.booleans())
def test_shards_cover_the_physical_shape_with_less_than_a_shard_of_padding(
    shape: tuple[int, ...], rows: int, columns: int, tiled: bool
):
    """All shards hold all elements, and no smaller shard would."""
    layout = TensorLayout.of(shape, TILE if tiled else F32, grid=(rows, columns))
    physical, padded = layout.physical_shape(shape), layout.padded_shape(shape)
    unit = TILE.shape if tiled else (1, 1)
    for extent, total, cores, step in zip(physical, padded, (rows, columns), unit, strict=True):
        assert extent <= total
        assert total - cores * step < extent or total == cores * step
