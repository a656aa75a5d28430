"""Lists and sets of cores for work."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ttmlir.metalium import (
    CoreRange,
    CoreRangeSet,
    MetaliumError,
    corerange_to_cores,
    grid_to_cores,
    num_cores_to_corerangeset_in_subcoregrids,
    select_from_corerangeset,
    split_work_to_cores,
)

TWO = CoreRangeSet([CoreRange((0, 0), (1, 1)), CoreRange((4, 2), (4, 3))])


def test_lists_of_cores() -> None:
    """Column by column, or row by row."""
    columns = [(0, 0), (0, 1), (1, 0), (1, 1), (4, 2), (4, 3)]
    rows = [(0, 0), (1, 0), (0, 1), (1, 1), (4, 2), (4, 3)]
    assert corerange_to_cores(TWO) == columns
    assert corerange_to_cores(TWO, 3, True) == rows[:3]
    assert corerange_to_cores(CoreRange((2, 5), (3, 5))) == [(2, 5), (3, 5)]
    assert grid_to_cores(3, 4, 2) == [(0, 0), (0, 1), (1, 0)]
    assert grid_to_cores(3, 4, 2, True) == [(0, 0), (1, 0), (2, 0)]
    assert grid_to_cores((1, 1), (2, 2), True) == [(1, 1), (2, 1), (1, 2), (2, 2)]
    assert list(select_from_corerangeset(TWO, 1, 2, True)) == [(1, 0), (0, 1)]
    assert set(num_cores_to_corerangeset_in_subcoregrids((1, 0), 3, TWO)) == {
        (1, 0),
        (1, 1),
        (4, 2),
    }


def test_work_on_the_cores_of_a_set() -> None:
    """Seven units on six cores: the first gets two."""
    number, every, first, second, most, least = split_work_to_cores(TWO, 7)
    assert (number, set(every), set(first)) == (6, set(TWO), {(0, 0)})
    assert (set(second), most, least) == (set(TWO) - {(0, 0)}, 2, 1)
    assert split_work_to_cores(TWO, 2, True)[1] == CoreRangeSet(CoreRange((0, 0), (1, 0)))


def test_sets_from_one_another() -> None:
    """Unions, differences and what two have in common."""
    other = CoreRangeSet(CoreRange((1, 1), (4, 2)))
    assert set(TWO.intersection(other)) == {(1, 1), (4, 2)}
    assert TWO.intersects(other)
    assert not TWO.intersects((3, 3))
    assert CoreRangeSet((5, 5)).ranges() == (CoreRange((5, 5)),)
    assert CoreRangeSet(TWO) == TWO
    cut = CoreRangeSet([CoreRange((0, 0)), CoreRange((1, 0)), CoreRange((0, 1), (1, 1))])
    assert cut.merge_ranges().ranges() == (CoreRange((0, 0), (1, 1)),)
    assert CoreRange((0, 0), (3, 3)).intersection(CoreRange((2, 3), (9, 9))) == CoreRange(
        (2, 3), (3, 3)
    )
    assert not CoreRange((0, 0)).intersects(CoreRange((1, 0)))


WRONG: list[tuple[Callable[[], object], str]] = [
    (lambda: grid_to_cores(9, 4, 2), "9 cores are more than the 4x2 of the grid"),
    (lambda: grid_to_cores("a", 4, 2), "grid_to_cores takes a number of cores with the columns"),
    (lambda: select_from_corerangeset(TWO, 2, 6), "cores 2 to 6 of a set that has cores 0 to 5"),
    (lambda: split_work_to_cores(CoreRangeSet(), 2), "an empty CoreRangeSet has no cores"),
    (
        lambda: num_cores_to_corerangeset_in_subcoregrids((9, 9), 1, TWO),
        r"core \(x=9,y=9\) is not one of CoreRangeSet",
    ),
    (
        lambda: num_cores_to_corerangeset_in_subcoregrids((4, 2), 3, TWO),
        r"3 cores are more than the 2 from \(x=4,y=2\) on",
    ),
    (lambda: CoreRange(3, 4), r"a core is a pair of integers \(x, y\), not 3"),
    (lambda: CoreRangeSet([(0, 0)]), r"a CoreRangeSet is made of CoreRanges, not of \(0, 0\)"),
    (lambda: CoreRangeSet(7), "a CoreRangeSet is made of CoreRanges, not of 7"),
]


@pytest.mark.parametrize(("case", "message"), WRONG)
def test_wrong_cores(case: Callable[[], object], message: str) -> None:
    """Each says what is allowed."""
    with pytest.raises(MetaliumError, match=message):
        case()
