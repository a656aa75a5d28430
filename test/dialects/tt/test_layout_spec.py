"""Every example of tt-mlir's tensor layout specification, built and read.

Where the specification shows a number that does not follow from its own rules, the test says so and
computes the number by hand.
"""

import pytest
from running.attribute_io import parse_attribute
from xdsl.dialects.builtin import TensorType, f32

from ttmlir.dialects.tt import GridAttr, LayoutAttr, TileType
from ttmlir.layout.enums import DataType, MemorySpace, OOBVal, TensorMemoryLayout
from ttmlir.layout.errors import LayoutError
from ttmlir.mlir.printing import attribute_text

BFP8 = TileType.get(32, 32, DataType.BFP_BFloat8)
DEFAULT = [(0, -1)]


def layout_of(
    shape: tuple[int, ...],
    grid: tuple[int, ...],
    intervals: list[tuple[int, int]] = DEFAULT,
) -> LayoutAttr:
    """The layout of an f32 tensor in L1."""
    return LayoutAttr.get(
        TensorType(f32, shape),
        MemorySpace.DeviceL1,
        GridAttr.get(grid),
        intervals,
        OOBVal.Undef,
        TensorMemoryLayout.None_,
    )


@pytest.mark.parametrize(
    ("shape", "grid", "intervals", "linear", "memref"),
    [
        (
            (2, 3, 64, 128),
            (1, 1),
            DEFAULT,
            "(d0, d1, d2, d3) -> (d0 * 192 + d1 * 64 + d2, d3)",
            "384x128xf32",
        ),
        (
            (2, 3, 64, 128),
            (2, 4),
            DEFAULT,
            "(d0, d1, d2, d3) -> (d0 * 192 + d1 * 64 + d2, d3)",
            "192x32xf32",
        ),
        ((8, 300), (1, 2), DEFAULT, "(d0, d1) -> (d0, d1)", "8x150xf32"),
        ((8, 96, 32), (2, 1), DEFAULT, "(d0, d1, d2) -> (d0 * 96 + d1, d2)", "384x32xf32"),
        (
            (8, 96, 32),
            (2, 1, 2),
            DEFAULT,
            "(d0, d1, d2) -> (d0 * 96 + d1, d1, d2)",
            "384x96x16xf32",
        ),
        (
            (5, 3, 2, 2, 7, 32, 32),
            (3, 2, 2, 2),
            DEFAULT,
            "(d0, d1, d2, d3, d4, d5, d6) -> "
            "(d0 * 2688 + d1 * 896 + d2 * 448 + d3 * 224 + d4 * 32 + d5, d4, d5, d6)",
            "4480x4x16x16xf32",
        ),
        ((3, 64, 128), (3, 2), DEFAULT, "(d0, d1, d2) -> (d0 * 64 + d1, d2)", "64x64xf32"),
        ((53, 63), (3, 2), DEFAULT, "(d0, d1) -> (d0, d1)", "18x32xf32"),
        ((2, 8, 32), (1, 2), DEFAULT, "(d0, d1, d2) -> (d0 * 8 + d1, d2)", "16x16xf32"),
        (
            (2, 3, 64, 128),
            (2, 2, 4),
            [(1, -1)],
            "(d0, d1, d2, d3) -> (d0, d1 * 64 + d2, d3)",
            # 1 batch per grid plane, 192 rows over 2, 128 columns over 4.
            "1x96x32xf32",
        ),
    ],
)
def test_examples_with_scalars(
    shape: tuple[int, ...],
    grid: tuple[int, ...],
    intervals: list[tuple[int, int]],
    linear: str,
    memref: str,
):
    """Linear map and memref; the printed type is the specification's."""
    layout = layout_of(shape, grid, intervals)
    text = (
        f"#tt.layout<{linear}, undef, <{'x'.join(map(str, grid))}>, "
        f"memref<{memref}, #tt.memory_space<l1>>>"
    )
    assert attribute_text(layout) == text
    dims = "x".join(map(str, shape))
    encoded = parse_attribute(f"tensor<{dims}xf32,\n  {text}\n>")
    assert isinstance(encoded, TensorType)
    assert encoded.encoding == layout


@pytest.mark.parametrize(
    ("shape", "grid", "intervals", "memref"),
    [
        ((3, 64, 128), (3, 2), DEFAULT, "2x2"),
        ((53, 63), (3, 2), DEFAULT, "1x1"),
        # 96 rows are 3 tiles, 32 columns 1.
        ((2, 3, 64, 128), (2, 2, 4), [(1, -1)], "1x3x1"),
        ((2, 8, 32), (1, 2), DEFAULT, "1x1"),
    ],
)
def test_examples_with_tiles(
    shape: tuple[int, ...],
    grid: tuple[int, ...],
    intervals: list[tuple[int, int]],
    memref: str,
):
    """The scalar shard in tiles of 32x32, rounded up; linear map and grid stay."""
    scalars = layout_of(shape, grid, intervals)
    tiles = scalars.with_element_type(BFP8)
    assert f"memref<{memref}x!tt.tile<32x32, bfp_bf8>, #tt.memory_space<l1>>" in str(tiles)
    assert (tiles.linear, tiles.grid) == (scalars.linear, scalars.grid)
    assert str(tiles.scalar_element_type) == "bf16"


def test_specified_spelling_of_tiles():
    """The specification writes blanks in `32 x 32`; they are read but not printed."""
    text = (
        "#tt.layout<(d0, d1, d2) -> (d0 * 64 + d1, d2), undef, <3x2>, "
        "memref<2x2x!tt.tile<32 x 32, bfp_bf8>, #tt.memory_space<l1>>>"
    )
    assert parse_attribute(text) == layout_of((3, 64, 128), (3, 2)).with_element_type(BFP8)


def test_indexing_walkthrough():
    """Element [1, 1, 6, 100] is at row 262 and column 100; the last one at (383, 127)."""
    linear = layout_of((2, 3, 64, 128), (1, 1)).linear
    # The specification writes the row as 1 * 192 + 1 * 64 + 6.
    assert linear.eval((1, 1, 6, 100)) == (262, 100)
    assert linear.eval((2 - 1, 3 - 1, 64 - 1, 128 - 1)) == (383, 127)
    assert linear.eval_shape((2, 3, 64, 128)) == (384, 128)


@pytest.mark.parametrize(
    ("shape", "rank", "intervals", "results"),
    [
        ((5, 7, 11), 2, [(0, -1)], "d0 * 7 + d1, d2"),
        ((5, 7, 11, 13), 3, [(1, -1)], "d0, d1 * 11 + d2, d3"),
        ((5, 7, 11, 13), 3, [(0, 2)], "d0 * 7 + d1, d2, d3"),
        # tt-mlir itself stops with an assertion on this one.
        (
            (2, 3, 5, 7, 11, 13, 17),
            4,
            [(0, 3), (-3, -1)],
            "d0 * 15 + d1 * 5 + d2, d3, d4 * 13 + d5, d6",
        ),
    ],
)
def test_examples_of_collapse_intervals(
    shape: tuple[int, ...], rank: int, intervals: list[tuple[int, int]], results: str
):
    """The specification's `d0 <> d1` is the row-major join of both."""
    linear = layout_of(shape, (1,) * rank, intervals).linear
    assert str(linear).endswith(f"-> ({results})")


def test_padding_of_the_example_grid():
    """53x63 on 3x2: one row and one column of padding in the last cores."""
    layout = layout_of((53, 63), (3, 2))
    assert layout.tensor_layout.padded_shape((53, 63)) == (53 + 1, 63 + 1)


def test_padding_of_the_tilized_example():
    """In tiles each core has 32 - 18 = 14 rows of padding.

    The last core has 15 of them, as the specification says: its 18 rows hold 53 - 2 * 18 = 17.
    """
    layout = layout_of((53, 63), (3, 2)).with_element_type(BFP8)
    assert layout.shard_shape == (32, 32)
    assert layout.shard_shape[0] - 18 == 14
    assert layout.shard_shape[0] - (53 - 2 * 18) == 15


def test_bumping_the_stride_puts_batches_into_tiles_of_their_own():
    """With (d0 * 32 + d1, d2) the two batches of 2x8x32 lie 32 rows apart.

    The specification stops before the memref: the rows end at 1 * 32 + 7, so 40 of them are two
    tiles, and the last tile is not full.
    """
    packed = layout_of((2, 8, 32), (1, 2)).with_element_type(TileType.get(32, 32, DataType.F32))
    assert packed.tensor_layout.tiled_shape((2, 8, 32)) == (1, 1)
    spread = parse_attribute(
        "#tt.layout<(d0, d1, d2) -> (d0 * 32 + d1, d2), undef, <1x2>, "
        "memref<2x1x!tt.tile<32x32, f32>, #tt.memory_space<l1>>>"
    )
    assert isinstance(spread, LayoutAttr)
    assert spread.tensor_layout.physical_shape((2, 8, 32)) == (40, 32)
    assert spread.tensor_layout.tiled_shape((2, 8, 32)) == (2, 1)
    # Rows 0..7 of batch 0 are in tile 0, those of batch 1 in tile 1.
    assert [spread.linear.eval((batch, 7, 0))[0] // 32 for batch in (0, 1)] == [0, 1]


def test_wide_virtual_grids_are_legal():
    """A grid may be wider than the chip: 1x64 for width sharding."""
    assert layout_of((32, 2048), (1, 64)).shard_shape == (32, 32)


@pytest.mark.parametrize(
    ("space", "keyword"),
    [
        (MemorySpace.System, "system"),
        (MemorySpace.SystemMMIO, "mmio"),
        (MemorySpace.DeviceDRAM, "dram"),
        (MemorySpace.DeviceL1, "l1"),
    ],
)
def test_memory_spaces(space: MemorySpace, keyword: str):
    """The four memories of the specification by their keyword."""
    layout = layout_of((8, 300), (1, 2)).with_memory_space(space)
    assert f"#tt.memory_space<{keyword}>" in str(layout)
    assert layout.memory_space is space


# --- The rest of the interface ---------------------------------------------------------------


def test_derived_layouts():
    """Other grids, memories, memory layouts and elements."""
    layout = layout_of((64, 96), (2, 3))
    assert layout.with_grid((64, 96), (1, 3)).shard_shape == (64, 32)
    assert layout.with_grid((2, 32, 96), (2, 1, 3), [(1, -1)]).shard_shape == (1, 32, 32)
    assert layout.with_memory_layout(TensorMemoryLayout.BlockSharded).tensor_layout.is_sharded
    tiles = layout.with_element_type(TileType.of(f32))
    assert (tiles.is_tiled, layout.is_tiled) == (True, False)
    assert tiles.element_type == TileType.get(32, 32, DataType.F32)
    assert tiles.with_element_type(f32) == layout
    assert layout.stride((64, 96)) == (96, 1)
    assert LayoutAttr.from_tensor_layout(layout.tensor_layout) == layout


def test_equal_layouts_are_the_same_object():
    """Layouts are built once, so that comparing types is cheap."""
    assert layout_of((64, 96), (2, 3)) is layout_of((64, 96), (2, 3))
    assert layout_of((64, 96), (2, 3)).with_element_type(BFP8) is layout_of(
        (64, 96), (2, 3)
    ).with_element_type(BFP8)


def test_default_layout_has_a_grid_of_ones_in_system_memory():
    """Without arguments a tensor lies on the host."""
    layout = LayoutAttr.get(TensorType(f32, [2, 3, 64]))
    assert (layout.grid.shape, layout.memory_space) == ((1, 1, 1), MemorySpace.SYSTEM)
    assert (layout.oob_val, layout.memory_layout) == (OOBVal.UNDEF, TensorMemoryLayout.NONE)


@pytest.mark.parametrize(
    "memref",
    [
        "memref<2x3xf32, strided<[6, 2]>, #tt.memory_space<l1>>",
        "memref<2x3xf32, affine_map<(d0, d1) -> (d1, d0)>, #tt.memory_space<l1>>",
        "memref<2x?xf32, #tt.memory_space<l1>>",
    ],
)
def test_shards_are_contiguous(memref: str) -> None:
    """A shard whose elements do not lie one after the other, or are not counted, is refused."""
    layout = parse_attribute(f"#tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, {memref}>")
    assert isinstance(layout, LayoutAttr)
    with pytest.raises(LayoutError, match="the memref of a layout is contiguous and static, got"):
        _ = layout.tensor_layout
