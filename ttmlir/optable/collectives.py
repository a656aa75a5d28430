"""Collective operations: what each device has after devices exchanged what they had.

`parts[d]` is the array of device `d`, and every function returns such a list. Groups are lists of
numbers of devices; within a group, devices stand in the order that they are listed in. Results may
share memory with each other and with `parts`: nobody writes into them.

rows = groups_of_mesh((2, 3), axis=1)        # [[0, 1, 2], [3, 4, 5]]
parts = all_gather(numpy, parts, rows, dim=0)
"""

from __future__ import annotations

import functools
import math
import operator
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, cast

from ttmlir.errors import ArgumentError
from ttmlir.optable.op_definition import check_dimension

Array = Any
Groups = Sequence[Sequence[int]]
Combination = Callable[[Array, Array], Array]
"""What a reduction makes of two arrays of one shape."""


def groups_of_mesh(shape: Sequence[int], axis: int | None = None) -> list[list[int]]:
    """The devices that differ in their coordinate on one axis of a mesh alone.

    Devices have numbers in row-major order. With no axis, all devices are one group.
    ArgumentError for an axis that the mesh does not have.
    """
    count = math.prod(shape)
    if axis is None:
        return [list(range(count))]
    if not -len(shape) <= axis < len(shape):
        extents = "x".join(map(str, shape))
        raise ArgumentError(f"axis {axis} is not of the mesh of {extents}, which has {len(shape)}")
    axis %= len(shape)
    extent, stride = shape[axis], math.prod(shape[axis + 1 :])
    firsts = [first for first in range(count) if first // stride % extent == 0]
    return [[first + stride * index for index in range(extent)] for first in firsts]


def check_groups(groups: Groups, devices: int, *, even: bool = False, cover: bool = True) -> None:
    """Check that groups name devices that there are, each at most once.

    `even` asks for groups of one size, `cover` for each device in a group.
    ArgumentError naming the group or the device otherwise.
    """
    seen: set[int] = set()
    for group in groups:
        for device in group:
            if not 0 <= device < devices:
                raise ArgumentError(
                    f"the group {list(group)} names device {device}; there are {devices}, "
                    f"from 0 to {devices - 1}"
                )
            if device in seen:
                raise ArgumentError(f"device {device} is in the groups {_text(groups)} twice")
            seen.add(device)
    missing = [device for device in range(devices) if device not in seen]
    if cover and missing:
        raise ArgumentError(f"device {missing[0]} is in none of the groups {_text(groups)}")
    if even and len({len(group) for group in groups}) > 1:
        raise ArgumentError(f"the groups {_text(groups)} differ in size")


def check_pairs(pairs: Iterable[tuple[int, int]], devices: int) -> list[tuple[int, int]]:
    """Pairs of a source and a target as a list, no device twice a source or twice a target.

    ArgumentError naming the pair otherwise.
    """
    checked: list[tuple[int, int]] = []
    for source, target in pairs:
        if not (0 <= source < devices and 0 <= target < devices):
            raise ArgumentError(
                f"the pair ({source}, {target}) names a device that is not there; there are "
                f"{devices}, from 0 to {devices - 1}"
            )
        checked.append((source, target))
    for role, numbers in zip(("source", "target"), zip(*checked, strict=True), strict=False):
        twice = [device for device, count in Counter(numbers).items() if count > 1]
        if twice:
            raise ArgumentError(f"device {twice[0]} is the {role} of more than one pair")
    return checked


def all_gather(np: Any, parts: Sequence[Array], groups: Groups, *, dim: int) -> list[Array]:
    """Give each device the arrays of its group, one after the other along `dim`."""
    check_groups(groups, len(parts), even=True)
    axis = _axis_of(parts, dim)

    def join(group: Sequence[int]) -> list[Array]:
        whole = np.concatenate([parts[device] for device in group], axis)
        return [whole] * len(group)

    return _in_groups(parts, groups, join)


def all_reduce(
    parts: Sequence[Array], groups: Groups, *, combine: Combination | None = None
) -> list[Array]:
    """Give each device the combination of the arrays of its group, by default their sum.

    Arrays are combined from left to right in the order of the group, in their own type.
    """
    check_groups(groups, len(parts))
    _alike(parts)
    fold = operator.add if combine is None else combine

    def reduce(group: Sequence[int]) -> list[Array]:
        whole = functools.reduce(fold, [parts[device] for device in group])
        return [whole] * len(group)

    return _in_groups(parts, groups, reduce)


def reduce_scatter(
    np: Any,
    parts: Sequence[Array],
    groups: Groups,
    *,
    dim: int,
    combine: Combination | None = None,
) -> list[Array]:
    """Give each device its block, along `dim`, of the combination of the arrays of its group."""
    check_groups(groups, len(parts), even=True)
    return partition(np, all_reduce(parts, groups, combine=combine), groups, dim=dim)


def partition(np: Any, parts: Sequence[Array], groups: Groups, *, dim: int) -> list[Array]:
    """Leave each device the block, along `dim`, that its place in its group says."""
    check_groups(groups, len(parts), even=True)
    axis = _axis_of(parts, dim)

    def cut(group: Sequence[int]) -> list[Array]:
        return [
            _blocks(np, parts[device], len(group), axis)[place]
            for place, device in enumerate(group)
        ]

    return _in_groups(parts, groups, cut)


def all_to_all(
    np: Any, parts: Sequence[Array], groups: Groups, *, split_dim: int, concat_dim: int
) -> list[Array]:
    """Cut each array along one dimension, and give block i of all to device i of the group.

    A device puts the blocks that it gets together along `concat_dim`.
    """
    check_groups(groups, len(parts), even=True)
    split_axis, concat_axis = _axis_of(parts, split_dim), _axis_of(parts, concat_dim)

    def exchange(group: Sequence[int]) -> list[Array]:
        blocks = [_blocks(np, parts[device], len(group), split_axis) for device in group]
        return [np.concatenate(received, concat_axis) for received in zip(*blocks, strict=True)]

    return _in_groups(parts, groups, exchange)


def collective_permute(
    np: Any, parts: Sequence[Array], pairs: Iterable[tuple[int, int]]
) -> list[Array]:
    """Send the array of each source to its target; devices that get nothing have zeros."""
    results: list[Array | None] = [None] * len(parts)
    for source, target in check_pairs(pairs, len(parts)):
        results[target] = parts[source]
    return _with_zeros(np, parts, results)


def broadcast(np: Any, parts: Sequence[Array], groups: Groups, *, root: int = 0) -> list[Array]:
    """Give each device the array of the device at place `root` of its group.

    Devices that are in no group have zeros.
    """
    check_groups(groups, len(parts), cover=False)
    results: list[Array | None] = [None] * len(parts)
    for group in groups:
        if group and not 0 <= root < len(group):
            raise ArgumentError(
                f"the group {list(group)} has no place {root}; its places are 0 to {len(group) - 1}"
            )
        for device in group:
            results[device] = parts[group[root]]
    return _with_zeros(np, parts, results)


def all_broadcast(np: Any, parts: Sequence[Array], groups: Groups) -> list[list[Array]]:
    """Give each device the arrays of its group as a list: item i is of the group's device i.

    The outer list is over the arrays, the inner ones over the devices.
    """
    check_groups(groups, len(parts), even=True)
    size = len(groups[0]) if groups else 0
    return [broadcast(np, parts, groups, root=root) for root in range(size)]


def _in_groups(
    parts: Sequence[Array],
    groups: Groups,
    exchange: Callable[[Sequence[int]], list[Array]],
) -> list[Array]:
    """The arrays of all devices from what `exchange` gives those of each group."""
    results = list(parts)
    for group in groups:
        for device, result in zip(group, exchange(group) if group else [], strict=True):
            results[device] = result
    return results


def _with_zeros(np: Any, parts: Sequence[Array], results: list[Array | None]) -> list[Array]:
    return [
        np.zeros_like(part) if result is None else result
        for part, result in zip(parts, results, strict=True)
    ]


def _blocks(np: Any, array: Array, count: int, axis: int) -> list[Array]:
    extent = array.shape[axis]
    if extent % count:
        raise ArgumentError(
            f"dimension {axis} of {list(array.shape)} has {extent} elements, which {count} devices "
            "cannot divide evenly"
        )
    return cast("list[Array]", np.split(array, count, axis))


def _axis_of(parts: Sequence[Array], dim: int) -> int:
    """A dimension of arrays that are alike, counted from the front."""
    rank = len(_alike(parts))
    check_dimension(dim, rank)
    return dim % rank


def _alike(parts: Sequence[Array]) -> tuple[int, ...]:
    """The shape that the arrays of all devices have."""
    shapes = {tuple(part.shape) for part in parts}
    if len(shapes) != 1:
        texts = ", ".join(str(list(shape)) for shape in sorted(shapes)) or "none"
        raise ArgumentError(f"the devices have arrays of different shapes: {texts}")
    return shapes.pop()


def _text(groups: Groups) -> str:
    return str([list(group) for group in groups])
