"""Layouts of the direct-to-metal path, against a table and a walk over all elements."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ttmlir.layout.affine import AffineMap, dims
from ttmlir.layout.data_format import ScalarType, TileFormat
from ttmlir.layout.enums import DataType, DeviceMemoryLayout, MemorySpace, OOBVal
from ttmlir.layout.errors import LayoutError
from ttmlir.layout.metal import MetalLayout

L1 = MemorySpace.DEVICE_L1
TILE = TileFormat(32, 32, DataType.BF16)


@pytest.mark.parametrize(
    ("logical", "intervals", "alignments", "physical", "tiles"),
    [
        ((4, 43, 7), ((0, 2), (2, 3)), (1, 32, 32), (256, 32), (8, 1)),
        ((9, 43, 7), ((0, 2), (2, 3)), (256, 32, 32), (768, 32), (24, 1)),
        ((31, 33, 447), (), (1, 32, 256), (31, 64, 512), (31, 2, 16)),
        ((512, 256), ((0, 1), (1, 2)), (256, 32), (512, 256), (16, 8)),
        ((2, 3, 5, 70), ((0, -1),), (1, 1, 32, 32), (192, 96), (6, 3)),
        ((2, 3, 5, 70), ((1, 3),), (1, 1, 32, 32), (2, 96, 96), (2, 3, 3)),
    ],
)
def test_physical_shapes(logical, intervals, alignments, physical, tiles) -> None:
    """Products of the merged extents, rounded up from the last dimension to the first."""
    layout = MetalLayout.of(logical, L1, intervals=intervals, alignments=alignments)
    assert layout.physical_shape() == physical
    assert layout.physical_shape(TILE) == tiles


@pytest.mark.parametrize(
    ("logical", "intervals", "alignments"),
    [
        ((4, 43, 7), ((0, 2), (2, 3)), (1, 32, 32)),
        ((512, 256), ((0, 1), (1, 2)), (32, 32)),
        ((2, 3, 5, 7), ((0, 3), (3, 4)), (1, 1, 32, 32)),
    ],
)
def test_defaults(logical, intervals, alignments) -> None:
    """All but the last dimension are merged; matrices are rounded up to tiles."""
    layout = MetalLayout.of(logical, L1)
    assert (layout.intervals, layout.alignments) == (intervals, alignments)
    assert (layout.oob_val, layout.memory_layout) == (OOBVal.UNDEF, DeviceMemoryLayout.SHARDED)


def test_nothing_is_merged_without_intervals() -> None:
    """Then the last two dimensions are aligned."""
    layout = MetalLayout.of((31, 33, 447), L1, intervals=())
    assert layout.normalized_intervals == ((0, 1), (1, 2), (2, 3))
    assert layout.alignments == (1, 32, 32)
    assert layout.device_rank == 3


@pytest.mark.parametrize(
    ("logical", "intervals", "grid", "alignments"),
    [
        ((9, 43, 7), None, (8, 8), (256, 32, 32)),
        ((4, 43, 7), None, (8, 8), (1, 32, 32)),
        ((31, 33, 447), (), (8, 8), (1, 32, 256)),
        ((512, 256), None, (8, 8), (256, 32)),
        ((512, 288), None, (8, 8), (256, 256)),
        ((512, 288), None, (10, 10), (320, 32)),
    ],
)
def test_alignments_for_a_grid(logical, intervals, grid, alignments) -> None:
    """Where there is more than a tile for each core, the extent divides by the cores."""
    layout = MetalLayout.of(logical, L1, intervals=intervals)
    assert layout.grid_alignments(grid) == alignments


def test_negative_intervals_count_from_the_end() -> None:
    """As the layouts of ttnn's tensors are written."""
    for given_, counted in (((0, -1), (0, 3)), ((-3, -1), (1, 3)), ((1, 4), (1, 4))):
        layout = MetalLayout((2, 3, 5, 7), (1, 1, 1, 1), (given_,))
        assert counted in layout.normalized_intervals
        assert MetalLayout((2, 3, 5, 7), (1, 1, 1, 1), (counted,)).physical_shape() == (
            layout.physical_shape()
        )


def test_shards() -> None:
    """What a grid divides, and what it does not."""
    layout = MetalLayout.of((9, 43, 7), L1, alignments=(256, 32, 32))
    assert layout.device_shape((8, 1), TILE) == (8, 1, 3, 1)
    assert layout.device_shape((8, 2)) == (8, 2, 96, 16)
    with pytest.raises(LayoutError, match="a grid of 7x1 does not divide 24x1 tiles"):
        layout.shard_shape((7, 1), TILE)
    with pytest.raises(LayoutError, match="a grid of 8 does not divide 768x32 elements"):
        layout.shard_shape((8,))
    with pytest.raises(LayoutError, match="a grid of 0x1 does not divide"):
        layout.shard_shape((0, 1))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: MetalLayout.of((7,), L1), "reshape it to 1xN"),
        (lambda: MetalLayout((2, 3), (1,), ()), r"size \(1\) must match logical_shape rank \(2\)"),
        (lambda: MetalLayout((2, 3), (1, 0), ()), r"dim_alignments\[1\] must be positive, got 0"),
        (lambda: MetalLayout((2, 3), (1, 1), ((0, 2), (1, 2))), r"do not overlap, got \[1, 2\)"),
        (
            lambda: MetalLayout((2, 3), (1, 1), ((0, 3),)),
            r"end index 3 \(normalized: 3\) is out of bounds",
        ),
        (lambda: MetalLayout((2, 3), (1, 1), ((1, 1),)), r"got \[1, 1\)"),
        (lambda: MetalLayout((2, 3), (1, 1), ()).physical_shape(TILE), "align the last two"),
        (lambda: MetalLayout((64,), (32,), ()).physical_shape(TILE), "merge fewer dimensions"),
        (
            lambda: MetalLayout((2, 3), (1, 1), ()).with_index_map(AffineMap.of(3, [0])),
            "the coordinates of a grid and a shard",
        ),
    ],
)
def test_refusals(make, message) -> None:
    """Parts that do not fit together."""
    with pytest.raises(LayoutError, match=message):
        make()


def test_views() -> None:
    """The identity is no view."""
    layout = MetalLayout.of((64, 96), L1)
    assert not layout.with_index_map(AffineMap.identity(4)).is_view
    d0, d1, d2, d3 = dims(4)
    assert layout.with_index_map(AffineMap(4, 0, (d1, d0, d3, d2))).is_view


def test_text() -> None:
    """What is not the default is said."""
    layout = MetalLayout.of((64, 96), L1, memory_layout=DeviceMemoryLayout.INTERLEAVED)
    assert str(layout).endswith(": tensor<2x2xi64>, undef, l1, interleaved")
    assert str(layout.with_memory(MemorySpace.SYSTEM)).endswith("tensor<2x2xi64>, undef")


@st.composite
def layouts(draw: st.DrawFn) -> MetalLayout:
    """Small shapes with any intervals and alignments."""
    shape = tuple(draw(st.lists(st.integers(1, 5), min_size=1, max_size=4)))
    alignments = tuple(draw(st.sampled_from([1, 2, 3, 4])) for _ in shape)
    cuts = sorted(draw(st.sets(st.integers(0, len(shape)))))
    intervals = tuple(
        (first, last if draw(st.booleans()) or last == len(shape) else last - len(shape))
        for first, last in pairwise(cuts)
        if draw(st.booleans())
    )
    return MetalLayout(shape, alignments, intervals)


@settings(max_examples=200, deadline=None)
@given(layouts())
def test_host_strides_place_every_element_once(layout: MetalLayout) -> None:
    """The padded buffer, seen as the physical shape, has each element at its merged coordinates."""
    buffer = np.full(layout.host_volume, -1)
    for number, index in enumerate(product(*map(range, layout.logical_shape))):
        place = sum(i * stride for i, stride in zip(index, layout.host_strides, strict=True))
        assert buffer[place] == -1
        buffer[place] = number
    physical = buffer.reshape(layout.physical_shape())
    # The oracle pads one dimension after the other, from the last of each interval to its first.
    array = np.arange(np.prod(layout.logical_shape)).reshape(layout.logical_shape)
    for first, last in reversed(layout.normalized_intervals):
        for dimension in reversed(range(first, last)):
            if dimension + 1 < last:
                shape = array.shape
                merged = shape[dimension] * shape[dimension + 1]
                array = array.reshape(*shape[:dimension], merged, *shape[dimension + 2 :])
            missing = -array.shape[dimension] % layout.alignments[dimension]
            padding = [(0, missing if axis == dimension else 0) for axis in range(array.ndim)]
            array = np.pad(array, padding, constant_values=-1)
    np.testing.assert_array_equal(physical, array)


def test_element_types() -> None:
    """Scalars are not divided by tiles; a tile in memory has the exponents of block floats."""
    assert MetalLayout.of((64, 96), L1).physical_shape(ScalarType("f32")) == (64, 96)
    sizes = {"bf16": 2048, "f32": 4096, "si32": 4096, "bfp_bf8": 1088, "bfp_bf4": 576}
    for keyword, size in sizes.items():
        assert TileFormat(32, 32, DataType.from_keyword(keyword)).stored_bytes == size
