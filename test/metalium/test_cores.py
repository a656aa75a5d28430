"""Ranges of cores: what is in them, and when two are the same."""

from __future__ import annotations

import pytest

from ttmlir.metalium import CoreCoord, CoreRange, CoreRangeSet
from ttmlir.metalium.errors import MetaliumError


def test_ranges_are_equal_by_both_corners() -> None:
    """One that differs in either corner, in either coordinate, is another one."""
    given = CoreRange((1, 2), (3, 5))
    assert given == CoreRange(CoreCoord(1, 2), CoreCoord(3, 5))
    assert hash(given) == hash(CoreRange((1, 2), (3, 5)))
    others = [((0, 2), (3, 5)), ((1, 1), (3, 5)), ((1, 2), (4, 5)), ((1, 2), (3, 4))]
    assert all(given != CoreRange(*corners) for corners in others)
    assert given != ((1, 2), (3, 5))
    assert CoreRange((4, 4)) == CoreRange((4, 4), (4, 4))
    assert len({given, CoreRange((1, 2), (3, 5)), CoreRange((1, 2), (3, 4))}) == 2


def test_cores_of_a_range() -> None:
    """Row by row, both corners included."""
    given = CoreRange((1, 2), (3, 3))
    assert list(given) == [(1, 2), (2, 2), (3, 2), (1, 3), (2, 3), (3, 3)]
    assert (given.size(), given.grid_size()) == (6, (3, 2))
    with pytest.raises(MetaliumError, match="goes from its first to its last corner"):
        CoreRange((1, 2), (3, 1))


def test_sets_are_equal_by_their_cores() -> None:
    """However they are cut into ranges."""
    whole = CoreRangeSet([CoreRange((0, 0), (3, 0))])
    cut = CoreRangeSet([CoreRange((2, 0), (3, 0)), CoreRange((0, 0), (1, 0))])
    assert whole == cut
    assert hash(whole) == hash(cut)
    assert whole != CoreRangeSet([CoreRange((0, 0), (2, 0))])
    assert CoreCoord(3, 0) in cut
    assert CoreCoord(3, 1) not in cut
    with pytest.raises(MetaliumError, match="must not overlap"):
        CoreRangeSet([CoreRange((0, 0), (1, 1)), CoreRange((1, 1), (2, 2))])
