"""Elements that a function of the program's own combines, two at a time."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from ttmlir.arrays.array import Array

Step = Callable[[Sequence[Array]], Sequence[Array]]
"""Combines elements, one of each array, with as many others after them."""


def fold_neighbours(arrays: Sequence[Array], dim: int, step: Step) -> Sequence[Array]:
    """One element along a dimension, all in order: neighbours are combined, all pairs at once."""
    extent = arrays[0].shape[dim]
    if extent == 1:
        return arrays
    even = extent - extent % 2
    firsts = [each.cut(dim, 0, even, 2) for each in arrays]
    seconds = [each.cut(dim, 1, even, 2) for each in arrays]
    folded = fold_neighbours(step([*firsts, *seconds]), dim, step)
    if extent == even:
        return folded
    return step([*folded, *(each.cut(dim, even, extent) for each in arrays)])


def fold_in_order(
    arrays: Sequence[Array], dims: Sequence[int], state: Sequence[Array], step: Step
) -> Sequence[Array]:
    """The elements along dimensions, which are gone, combined with a state one after the other."""
    shape = arrays[0].shape
    kept = [dim for dim in range(len(shape)) if dim not in dims]
    rest = [shape[dim] for dim in kept]
    length = math.prod(shape[dim] for dim in dims)
    rows = [each.permute([*dims, *kept]).reshape((length, *rest)) for each in arrays]
    state = [each.broadcast(rest) for each in state]
    for number in range(length):
        now = [each.cut(0, number, number + 1).reshape(rest) for each in rows]
        state = step([*state, *now])
    return state
