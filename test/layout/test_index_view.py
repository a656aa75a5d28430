"""Views of elements are what NumPy makes of an array of places; whole tiles are found."""

from __future__ import annotations

import numpy as np
import pytest

from ttmlir.layout.metal import IndexView

Array = np.ndarray


def places(view: IndexView, buffer: tuple[int, ...]) -> Array:
    """The position in the buffer of each element of a view."""
    points = np.indices(view.shape)
    coordinates = view.element_map().eval(list(points))
    whole = np.zeros(view.shape, np.int64)
    for coordinate, extent in zip(coordinates, buffer, strict=True):
        whole = whole * extent + coordinate
    return whole


def numbered(*shape: int) -> Array:
    """An array of the positions of its elements."""
    return np.arange(int(np.prod(shape))).reshape(shape)


def test_permutation_and_reshape() -> None:
    """Splitting and merging dimensions, in any order."""
    x = numbered(4, 6, 5)
    view = IndexView.identity(x.shape).permute((2, 0, 1)).reshape((5, 2, 12))
    assert view is not None
    np.testing.assert_array_equal(places(view, x.shape), x.transpose(2, 0, 1).reshape(5, 2, 12))
    back = view.reshape((5, 4, 6))
    assert back is not None
    np.testing.assert_array_equal(places(back, x.shape), x.transpose(2, 0, 1))


def test_reshape_that_is_no_view() -> None:
    """Rows of 7 do not divide rows of 5."""
    assert IndexView.identity((5, 7)).reshape((7, 5)) is None


@pytest.mark.parametrize(
    ("begin", "count", "step"), [(0, 12, 1), (5, 1, 3), (3, 2, 4), (6, 6, 1), (8, 3, 1), (2, 5, 2)]
)
def test_slices_of_merged_dimensions(begin: int, count: int, step: int) -> None:
    """Whole digits, or what is within one step of the outer digit."""
    x = numbered(2, 3, 4)
    merged = IndexView.identity(x.shape).permute((1, 0, 2)).reshape((6, 4))
    assert merged is not None
    view = merged.permute((1, 0)).reshape((24,))
    assert view is not None
    expected = x.transpose(1, 0, 2).reshape(6, 4).T.reshape(24)
    found = view.slice(0, begin, count, step)
    if found is None:
        assert step > 1 or begin % 2 or count % 2
        return
    np.testing.assert_array_equal(
        places(found, x.shape), expected[begin : begin + (count - 1) * step + 1 : step]
    )


def test_opposite_order_and_repetition() -> None:
    """Of a dimension of two digits."""
    x = numbered(3, 4, 5)
    merged = IndexView.identity(x.shape).permute((2, 0, 1)).reshape((15, 4))
    assert merged is not None
    view = merged.reverse(0).repeat(1, 3)
    expected = np.tile(x.transpose(2, 0, 1).reshape(15, 4)[::-1], (1, 3))
    np.testing.assert_array_equal(places(view, x.shape), expected)


def test_repetition_of_one_element_is_narrow() -> None:
    """Other dimensions stay."""
    view = IndexView.identity((1, 5)).repeat(0, 7)
    assert view.narrow().shape == (1, 5)
    assert IndexView.identity((2, 5)).repeat(0, 7).narrow().shape == (14, 5)


def test_heads_are_whole_tiles() -> None:
    """Of 64 columns each: the map is that of attention."""
    view = IndexView.identity((1, 512, 768)).reshape((1, 512, 12, 64))
    assert view is not None
    heads = view.permute((0, 2, 1, 3))
    tiles = heads.tile_map((1, 512, 768))
    assert tiles is not None
    assert not tiles.transposes
    assert [str(each) for each in tiles.places] == ["0", "d2", "d1 * 2 + d3"]
    keys = heads.permute((0, 1, 3, 2)).tile_map((1, 512, 768))
    assert keys is not None
    assert keys.transposes


@pytest.mark.parametrize(
    ("begin", "count", "is_whole"), [(0, 5, True), (32, 38, True), (5, 32, False)]
)
def test_slices_of_whole_tiles(begin: int, count: int, is_whole: bool) -> None:
    """They begin where a tile begins."""
    view = IndexView.identity((40, 70)).slice(1, begin, count)
    assert view is not None
    assert (view.tile_map((40, 70)) is not None) == is_whole


def test_elements_beyond_the_buffer_are_no_tiles() -> None:
    """A dimension that is wider than its tiles."""
    view = IndexView.identity((40, 70))
    near, far = view.widen(1, 96), view.widen(1, 97)
    assert near is not None
    assert far is not None
    assert near.tile_map((40, 70)) is not None
    assert far.tile_map((40, 70)) is None
