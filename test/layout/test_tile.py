"""Tiles: order of numbers in memory, padding, and the way back."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ttmlir.layout.data_format import (
    element_index,
    face_shape,
    pad_to_tiles,
    padded_shape,
    repeated_bytes,
    tilize,
    untilize,
)
from ttmlir.layout.errors import LayoutError
from ttmlir.layout.system import SUPPORTED_TILE_SIZES


def test_order_of_a_tile_by_the_published_formula():
    """Four faces of 16x16, each row by row."""
    tile = tilize(np.arange(1024).reshape(32, 32))[0, 0]
    for i in range(32):
        for j in range(32):
            index = (2 * (i // 16) + j // 16) * 256 + (i % 16) * 16 + j % 16
            assert element_index(i, j) == index
            assert tile[index] == i * 32 + j


@pytest.mark.parametrize("element_bytes", [1, 2, 4])
@pytest.mark.parametrize("part", ["row", "col", "scalar"])
def test_bytes_of_a_part_that_is_repeated(part: str, element_bytes: int):
    """All of the row, the column or the number is there, and no more than a face's part of it."""
    rows = {"row": np.s_[:1], "col": np.s_[:, :1], "scalar": np.s_[:1, :1]}[part]
    places = np.arange(1024).reshape(32, 32)[rows].ravel()
    tile = tilize(np.arange(1024).reshape(32, 32))[0, 0].ravel().tolist()
    wanted = {tile.index(place) * element_bytes for place in places}
    parts = repeated_bytes(part, element_bytes)
    found = {byte for first, size in parts for byte in range(first, first + size, element_bytes)}
    assert wanted <= found
    assert len(found) == {"row": 32, "col": 512, "scalar": 16}[part]


def test_tiles_are_in_rows():
    """A 64x96 array has 2x3 tiles; the first number of each is its upper left corner."""
    array = np.arange(64 * 96).reshape(64, 96)
    tiles = tilize(array)
    assert tiles.shape == (2, 3, 1024)
    assert tiles[:, :, 0].tolist() == [[0, 32, 64], [32 * 96, 32 * 96 + 32, 32 * 96 + 64]]


@pytest.mark.parametrize("tile_shape", SUPPORTED_TILE_SIZES)
def test_small_tiles_have_small_faces(tile_shape: tuple[int, int]):
    """Every supported tile size agrees with `element_index`."""
    height, width = tile_shape
    tile = tilize(np.arange(height * width).reshape(height, width), tile_shape)[0, 0]
    for row in range(height):
        for column in range(width):
            assert tile[element_index(row, column, tile_shape)] == row * width + column
    assert face_shape(tile_shape) == (min(height, 16), 16)


def test_padding_has_the_given_value_and_only_outside():
    """33x17 fills up to 64x32 with the fill value."""
    padded = pad_to_tiles(np.ones((33, 17)), fill=-2)
    assert padded.shape == (64, 32)
    assert (padded[:33, :17] == 1).all()
    assert padded.sum() == 33 * 17 - 2 * (64 * 32 - 33 * 17)


@pytest.mark.parametrize(
    ("shape", "padded"),
    [
        ((), (32, 32)),
        ((5,), (32, 32)),
        ((33, 17), (64, 32)),
        ((2, 3, 64, 65), (2, 3, 64, 96)),
        ((0, 5), (0, 32)),
    ],
)
def test_padded_shape(shape: tuple[int, ...], padded: tuple[int, ...]):
    """Only the last two extents are filled up; a row is a shape of rank 2."""
    assert padded_shape(shape) == padded
    assert pad_to_tiles(np.zeros(shape)).shape == padded


@given(
    st.lists(st.integers(0, 40), min_size=0, max_size=4).map(tuple),
    st.sampled_from(SUPPORTED_TILE_SIZES),
    st.sampled_from(["<f4", "<u2", "<i8", "?"]),
)
def test_untilize_undoes_tilize(shape: tuple[int, ...], tile_shape: tuple[int, int], dtype: str):
    """Any array comes back as it was."""
    array = np.random.default_rng(1).integers(0, 2**15, shape).astype(dtype)
    back = untilize(tilize(array, tile_shape), shape, tile_shape)
    assert back.dtype == array.dtype
    np.testing.assert_array_equal(back, array)


def test_refusals():
    """Tiles that faces do not fill, and arrays that are not the tiles of a shape."""
    with pytest.raises(LayoutError, match="a tile of 24x32 is not made of faces: its extents are"):
        tilize(np.zeros((24, 32)), (24, 32))
    with pytest.raises(LayoutError, match="a tile of 0x16 is not made of faces"):
        face_shape((0, 16))
    with pytest.raises(LayoutError) as error:
        untilize(np.zeros((1, 1, 1024)), (33, 5))
    assert str(error.value) == (
        "tiles of 32x32 of an array of shape (33, 5) have the shape (2, 1, 1024), got (1, 1, 1024)"
    )
