"""Sorting by several keys, and places of extremes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ttmlir.arrays.array import Array
from ttmlir.composites.bits import in_total_order


@dataclass(frozen=True)
class SortKey:
    """An operand that elements are ordered by."""

    operand: int
    descending: bool
    is_total: bool = False
    """True if -0 is less than 0, and NaN with a sign less than all."""


def sort_by(
    arrays: Sequence[Array], keys: Sequence[SortKey], dim: int, counts: Sequence[bool]
) -> list[Array]:
    """Arrays of one shape in the order of some of them, the most important key first.

    `counts` says of which arrays the elements are their places along the dimension. The least
    important key is sorted first, since equal elements keep their order.
    """
    for number, key in enumerate(keys):
        if counts[key.operand] and not key.descending:
            # Elements that are equal so far are in the order of their places already.
            keys = keys[:number]
            break
    if not keys:
        return [*arrays]
    order: Array | None = None
    values = arrays[keys[0].operand]
    for key in reversed(keys):
        given = arrays[key.operand]
        if key.is_total:
            given = in_total_order(given)
        moved = given if order is None else given.gather(dim, order)
        values, places = moved.sort(dim, descending=key.descending, stable=True)
        order = places if order is None else order.gather(dim, places)
    assert order is not None, "there are keys"
    results: list[Array] = []
    for number, each in enumerate(arrays):
        if number == keys[0].operand and not keys[0].is_total:
            results.append(values)
        else:
            results.append(order.cast(each.dtype) if counts[number] else each.gather(dim, order))
    return results


def in_opposite_order(x: Array) -> Array:
    """Numbers of which the largest is where the smallest was, NaN where it was."""
    return -x if x.is_real else x.bitwise_not()
