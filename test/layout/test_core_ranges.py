"""Core ranges: the rectangles that grids cover."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ttmlir.layout.affine import parse_affine_map
from ttmlir.layout.errors import LayoutError
from ttmlir.layout.tensor_layout import CoreRange, Grid, core_range_set

IDENTITY = parse_affine_map("(d0, d1) -> (0, d0, d1)")
TWO_CHIPS = parse_affine_map("(d0, d1) -> (d1 floordiv 8, d0, d1 mod 8)")


@pytest.mark.parametrize("shape", [(1, 1), (1, 8), (4, 1), (3, 2), (2, 4), (8, 8)])
def test_grids_at_the_origin_are_one_rectangle(shape: tuple[int, int]):
    """Under the identity a grid is a rectangle of its own extents."""
    assert core_range_set(shape, IDENTITY) == (CoreRange(0, 0, *shape),)


@pytest.mark.parametrize(
    ("shape", "mapping", "ranges"),
    [
        ((2, 3), "(d0, d1) -> (0, d1, d0)", [(0, 0, 3, 1), (0, 1, 3, 1)]),
        (
            (1, 12),
            "(d0, d1) -> (0, d0 * 8 + d1 floordiv 8, d1 mod 8)",
            [(0, 0, 1, 8), (1, 0, 1, 4)],
        ),
        ((1, 16), "(d0, d1) -> (0, d0 * 8 + d1 floordiv 8, d1 mod 8)", [(0, 0, 2, 8)]),
        ((2, 2), "(d0, d1) -> (0, d0 * 2, d1)", [(0, 0, 1, 2), (2, 0, 1, 2)]),
        (
            (2, 2),
            "(d0, d1) -> (0, d0, (d0 + d1) mod 8)",
            [(0, 0, 1, 2), (1, 1, 1, 2)],
        ),
    ],
)
def test_other_mappings_make_more_rectangles(
    shape: tuple[int, int], mapping: str, ranges: list[tuple[int, int, int, int]]
):
    """Transposed, wrapped, strided and staircase grids."""
    expected = tuple(CoreRange(*parts) for parts in ranges)
    assert core_range_set(shape, parse_affine_map(mapping)) == expected


def test_each_chip_has_its_own_rectangles():
    """A grid of 2x12 over two chips of 8x8: 2x8 on the first, 2x4 on the second."""
    assert core_range_set((2, 12), TWO_CHIPS) == (CoreRange(0, 0, 2, 8),)
    assert core_range_set((2, 12), TWO_CHIPS, chip=1) == (CoreRange(0, 0, 2, 4),)
    assert core_range_set((2, 8), TWO_CHIPS, chip=1) == ()


def test_ranks_must_agree():
    """A grid of another rank than the device's has no cores."""
    with pytest.raises(LayoutError, match="has the rank of the device's grid, 2, got 1x2x4"):
        core_range_set((1, 2, 4), IDENTITY)


def test_absurd_grids_are_refused():
    """A grid beyond all devices is an error at once."""
    with pytest.raises(LayoutError, match="at most 65536 cores, got 99999999x99999999"):
        core_range_set((99999999, 99999999), IDENTITY)


@given(st.integers(1, 8), st.integers(1, 16))
def test_rectangles_cover_each_core_once(rows: int, columns: int):
    """The rectangles of both chips hold as many cores as the grid, and no core twice."""
    cores = [
        (chip, y, x)
        for chip in (0, 1)
        for area in core_range_set((rows, columns), TWO_CHIPS, chip)
        for y in range(area.y, area.y + area.height)
        for x in range(area.x, area.x + area.width)
    ]
    expected = [TWO_CHIPS.eval(point) for point in Grid((rows, columns)).coordinates()]
    assert sorted(cores) == sorted(expected)
