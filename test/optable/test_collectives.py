"""Collective operations against what each of them says of single devices."""

from __future__ import annotations

import re

import numpy as np
import pytest

from ttmlir.errors import ArgumentError
from ttmlir.optable import collectives

ROWS = [[0, 1, 2], [3, 4, 5]]
COLUMNS = [[0, 3], [1, 4], [2, 5]]
OUT_OF_ORDER = [[4, 0, 2], [1, 5, 3]]


def make_parts(shape: tuple[int, ...] = (6, 5)) -> list[np.ndarray]:
    """An array of each of six devices."""
    return list(np.random.default_rng(3).integers(-9, 9, (6, *shape)))


def test_groups_of_a_mesh() -> None:
    """Devices along an axis differ in one coordinate; without one, all are together."""
    assert collectives.groups_of_mesh((2, 3), 1) == ROWS
    assert collectives.groups_of_mesh((2, 3), -2) == COLUMNS
    assert collectives.groups_of_mesh((2, 3)) == [[0, 1, 2, 3, 4, 5]]
    numbers = np.arange(12).reshape(2, 3, 2)
    assert collectives.groups_of_mesh((2, 3, 2), 1) == [
        numbers[i, :, k].tolist() for i in range(2) for k in range(2)
    ]
    with pytest.raises(ArgumentError, match="axis 2 is not of the mesh of 2x3, which has 2"):
        collectives.groups_of_mesh((2, 3), 2)


@pytest.mark.parametrize("groups", [ROWS, COLUMNS, OUT_OF_ORDER], ids=str)
@pytest.mark.parametrize("dim", [0, 1, -1])
def test_results_of_each_device(groups: list[list[int]], dim: int) -> None:
    """What a device has is made of what those of its group had, in the order of the group."""
    size = len(groups[0])
    parts = make_parts((6, 12))
    gathered = collectives.all_gather(np, parts, groups, dim=dim)
    reduced = collectives.all_reduce(parts, groups)
    largest = collectives.all_reduce(parts, groups, combine=np.maximum)
    scattered = collectives.reduce_scatter(np, parts, groups, dim=dim)
    partitioned = collectives.partition(np, parts, groups, dim=dim)
    exchanged = collectives.all_to_all(np, parts, groups, split_dim=dim, concat_dim=0)
    listed = collectives.all_broadcast(np, parts, groups)
    for group in groups:
        members = np.stack([parts[device] for device in group])
        for place, device in enumerate(group):
            block = parts[0].shape[dim] // size
            own = list(range(place * block, (place + 1) * block))
            np.testing.assert_array_equal(gathered[device], np.concatenate([*members], dim))
            np.testing.assert_array_equal(reduced[device], members.sum(0))
            np.testing.assert_array_equal(largest[device], members.max(0))
            np.testing.assert_array_equal(scattered[device], members.sum(0).take(own, dim))
            np.testing.assert_array_equal(partitioned[device], members[place].take(own, dim))
            np.testing.assert_array_equal(
                exchanged[device], np.concatenate([each.take(own, dim) for each in members])
            )
            for other in range(size):
                np.testing.assert_array_equal(listed[other][device], members[other])


def test_reductions_go_from_left_to_right() -> None:
    """The order of a group is that of its additions, in the arrays' own type."""
    parts = [np.array([value], np.float16) for value in (2048, 1, 1, 4)]
    [*_, last] = collectives.all_reduce(parts, [[0, 1, 2, 3]])
    assert last == np.float16(2052), "2048 + 1 is 2048 in half precision"
    [*_, last] = collectives.all_reduce(parts, [[1, 2, 0, 3]])
    assert last == np.float16(2054)


def test_devices_that_get_nothing_have_zeros() -> None:
    """Sources send to their targets alone, and the first of a group to the group."""
    parts = make_parts()
    permuted = collectives.collective_permute(np, parts, [(0, 4), (4, 0), (2, 2), (3, 1)])
    for device, source in enumerate([4, 3, 2, None, 0, None]):
        expected = np.zeros((6, 5)) if source is None else parts[source]
        np.testing.assert_array_equal(permuted[device], expected)
    sent = collectives.broadcast(np, parts, [[5, 1], [2, 3]])
    for device, source in enumerate([None, 5, 2, 2, None, 5]):
        expected = np.zeros((6, 5)) if source is None else parts[source]
        np.testing.assert_array_equal(sent[device], expected)
    sent = collectives.broadcast(np, parts, [[5, 1]], root=1)
    np.testing.assert_array_equal(sent[5], parts[1])
    assert collectives.collective_permute(np, parts, [])[0].sum() == 0


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ([[0, 1, 2], [3, 4, 6]], "the group [3, 4, 6] names device 6; there are 6, from 0 to 5"),
        ([[0, 1, 2], [3, 4, 1]], "device 1 is in the groups [[0, 1, 2], [3, 4, 1]] twice"),
        ([[0, 1, 2], [4, 5]], "device 3 is in none of the groups [[0, 1, 2], [4, 5]]"),
        ([[0, 1, 2, 3], [4, 5]], "the groups [[0, 1, 2, 3], [4, 5]] differ in size"),
        ([[0, 1, 2, 3, 4, 5]], "dimension 1 of [6, 5] has 5 elements, which 6 devices cannot"),
    ],
)
def test_refused_groups(groups: list[list[int]], message: str) -> None:
    """Groups have each device once, are of one size, and divide the dimension."""
    with pytest.raises(ArgumentError, match=re.escape(message)):
        collectives.reduce_scatter(np, make_parts(), groups, dim=1)


def test_other_refusals() -> None:
    """Pairs name a target once; arrays are alike; dimensions and places are there."""
    parts = make_parts()
    with pytest.raises(ArgumentError, match="device 2 is the target of more than one pair"):
        collectives.collective_permute(np, parts, [(0, 2), (1, 2)])
    with pytest.raises(ArgumentError, match="device 0 is the source of more than one pair"):
        collectives.collective_permute(np, parts, [(0, 2), (0, 1)])
    with pytest.raises(
        ArgumentError, match=re.escape("the pair (0, 6) names a device that is not")
    ):
        collectives.collective_permute(np, parts, [(0, 6)])
    with pytest.raises(ArgumentError, match=re.escape("the group [0, 1] has no place 2")):
        collectives.broadcast(np, parts, [[0, 1]], root=2)
    with pytest.raises(ArgumentError, match=re.escape("different shapes: [5, 6], [6, 5]")):
        collectives.all_reduce([*parts[1:], parts[0].T], ROWS)
    with pytest.raises(ArgumentError, match="Dimension 2 is out of range for rank 2"):
        collectives.all_gather(np, parts, ROWS, dim=2)
