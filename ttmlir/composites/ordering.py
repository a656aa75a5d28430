"""Sorting by several keys, and by comparisons of each number with each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ttmlir.arrays.array import Array, concatenate
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


# -- by comparisons of each with each ----------------------------------------------------------
# For machines that compare and add many numbers at a time, but move single ones slowly: the place
# of a number in order is how many come before it. Those are the smaller ones, and the equal ones
# that stand in front of it.

_EXACT_TERMS = 1 << 11
"""Integers below it have 11 bits, the least that machines keep of an `f32` that they add up."""
_PARTS = (128, 256, 512)
"""Numbers of a part, where few of many are looked for part by part: the least that has four times
as many as are looked for, or the most where comparisons take less time than more programs."""
_MANY = 8192
"""Numbers from which on it is the least."""
_NEIGHBOURS = 16
"""So many that stay side by side are moved faster than one by one."""
_LAST = (1 << 31) - 1


def order_by_counting(x: Array, dim: int, count: int, *, descending: bool) -> Array:
    """The places, as `i32`, of the first `count` numbers in order along a dimension.

    NaN is the largest number, -0 equals 0, and equal ones stay in their order, in both directions.
    n numbers take n * n comparisons, or where few of many are wanted some 128 to 512 for each.
    """
    dim %= x.rank
    order = [*(each for each in range(x.rank) if each != dim), dim]
    *outer, extent = (x.shape[each] for each in order)
    rows = x.permute(order).reshape((math.prod(outer), extent))
    keys = _keys_in_order(rows)
    places = _first_places(keys.bitwise_not() if descending else keys, count)
    return places.reshape((*outer, count)).permute([order.index(each) for each in range(x.rank)])


def _keys_in_order(x: Array) -> Array:
    """Numbers of `i32` in the order of other numbers, of whose bits 32 count."""
    if x.is_real:
        bits = x.cast("f32").bitcast("i32")
        size = bits & _LAST
        keys = (bits < 0).where(-size, bits)
        return (size > 0x7F80_0000).where(_LAST, keys)
    if x.dtype in ("ui32", "ui64"):
        return x.cast("ui32").bitcast("i32") ^ -(1 << 31)
    return x.cast("i32")


def _first_places(keys: Array, count: int) -> Array:
    """The places of the first numbers of each row in ascending order."""
    rows, extent = keys.shape
    parts = _PARTS if extent >= _MANY else _PARTS[-1:]
    part = next((each for each in parts if each >= 4 * count), extent)
    if extent > 2 * part:
        return _first_of_parts(keys, count, part)
    own, others = keys.reshape((rows, extent, 1)), keys.reshape((rows, 1, extent))
    here, there = keys.count(1, (1, extent, 1)), keys.count(2, (1, 1, extent))
    is_before = (there < here).where(others <= own, others < own)
    number = is_before.cast("f32").sum(2)
    is_at = number.eq(keys.count(2, (1, 1, count), "f32"))

    def name(places: Array) -> Array:
        return is_at.where(places.cast("f32"), 0.0).sum(1).cast("i32").reshape((rows, count))

    if extent <= _EXACT_TERMS:
        return name(here)
    return (name(here >> 10) << 10) + name(here & 1023)


def _first_of_parts(keys: Array, count: int, part: int) -> Array:
    """The first ones of all are among the first ones of the parts, whose order they keep."""
    rows, extent = keys.shape
    parts = -(-extent // part)
    behind = keys.fill(_LAST, (rows, parts * part - extent))
    keys = concatenate([keys, behind], 1).reshape((rows * parts, part))
    kept = count if count < _NEIGHBOURS else -(-count // _NEIGHBOURS) * _NEIGHBOURS
    within = _first_places(keys, kept)
    begins = keys.count(1, (1, parts, 1)) * part
    places = (within.reshape((rows, parts, kept)) + begins).reshape((rows, parts * kept))
    found = keys.gather(1, within).reshape(places.shape)
    return places.gather(1, _first_places(found, count))
