"""Operators that select elements: how many is known only when the model runs.

Their results have the largest size there can be, beside how many of their elements count.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ttmlir.arrays.array import TRUTH, Array, concatenate
from ttmlir.arrays.carriers import array_of
from ttmlir.composites import indexing
from ttmlir.frontend.body import BodyBuilder
from ttmlir.frontend.onnx.bounded import (
    Extent,
    bounded,
    compact,
    fill,
    flatten,
    make,
    resize,
    size_of_mask,
    valid_along,
    valid_in,
)
from ttmlir.frontend.onnx.call import Call, Rule
from ttmlir.frontend.onnx.elements import Bounded, Size, Tensor
from ttmlir.frontend.onnx.loops import run_loop


def read(call: Call, name: str) -> Bounded:
    """An input whose size may be known only when the model runs."""
    value = call.inputs.get(name)
    if isinstance(value, Bounded):
        return value
    return bounded(Tensor(call.array(name), call.tensor(name).type))


# -- masks -----------------------------------------------------------------------------------------


def _find_nonzero(call: Call) -> Array | Bounded:
    given = read(call, "X")
    x = given.array
    if x.carrier.holds_numbers and not given.sizes:
        return array_of(np.array(np.atleast_1d(x.value).nonzero(), np.int64))
    mask = x if x.dtype == TRUTH else x.ne(0)
    if (valid := valid_in(given)) is not None:
        mask = mask & valid
    flat = mask.reshape((math.prod(x.shape),))
    order = indexing.find_chosen(flat, flat.shape[0]).limit(low=0)
    columns = indexing.split_place(order, x.shape or (1,))
    found = concatenate([each.unsqueeze(0) for each in columns], 0)
    size = size_of_mask(flat, None if given.sizes else x.value)
    return make(found, {1: size}, places=(mask, False))


def _compress(call: Call) -> Array | Bounded:
    # As in onnxruntime, the condition may have more than one dimension.
    given, chosen = read(call, "input"), _flat(read(call, "condition"))
    if call["axis"] is None:
        given = _flat(given)
    x = given.array
    dim = call.dims(x.rank, (call["axis"] or 0,), "axis")[0]
    if chosen.array.shape[0] > x.shape[dim] and not given.sizes and not chosen.sizes:
        call.refuse(f"the condition is longer than dimension {dim}, which has {x.shape[dim]}")
    others = {each: size for each, size in given.sizes.items() if each != dim}
    mask = resize(fill(chosen, False), 0, x.shape[dim])
    if mask.carrier.holds_numbers and dim not in given.sizes:
        places = np.flatnonzero(mask.value)
        found = indexing.take(x, dim, array_of(places)) if places.size else x.cut(dim, 0, 0)
        return make(found, others)
    if dim in given.sizes:
        mask = mask & valid_along(given.sizes[dim], x.shape[dim])
    if not x.shape[dim]:
        return make(x, others)
    found, size = compact(x, dim, mask)
    return make(found, {**others, dim: size})


def _flat(value: Bounded) -> Bounded:
    """All elements that count, along one dimension."""
    if value.array.rank == 1:
        return value
    array, extent = flatten(value)
    return Bounded(array, {} if isinstance(extent, int) else {0: extent}, value.type)


# -- different elements ----------------------------------------------------------------------------


def _unique(call: Call) -> tuple[Array | Bounded, ...]:
    """Elements or slices, the places of their first ones, for each its number, and how many."""
    given = read(call, "X")
    if call["axis"] is None:
        x, extent = flatten(given)
        dim, others = 0, dict[int, Size]()
    else:
        x = given.array
        dim = call.dims(x.rank, (call["axis"],), "axis")[0]
        extent = given.sizes.get(dim, x.shape[dim])
        others = {each: size for each, size in given.sizes.items() if each != dim}
        # Of slices, only what counts is compared.
        x = fill(given, 0, [*others])
    count = x.shape[dim]
    if 0 in x.shape:
        return x, *(array_of(np.zeros(0, np.int64)) for _ in range(3))
    table = x.permute([dim, *(each for each in range(x.rank) if each != dim)])
    table = table.reshape((count, math.prod(table.shape[1:])))
    valid = None if isinstance(extent, int) else valid_along(extent, count)
    order, is_first = _sort_slices(table.cast("ui8") if table.dtype == TRUTH else table, valid)
    # Elements that do not count are in no group.
    group = (is_first.cast("i64").cumsum(0) - 1).limit(low=0)
    starts = indexing.find_chosen(is_first, count).limit(low=0)
    first = order.select(0, starts)
    size = size_of_mask(is_first)
    zeros = array_of(np.zeros(count, np.int64))
    if not call["sorted"]:
        is_new = zeros.scatter(0, order, is_first.cast("i64")).ne(0)
        place = (is_new.cast("i64").cumsum(0) - 1).limit(low=0).select(0, first)
        group = place.select(0, group)
        first = indexing.find_chosen(is_new, count).limit(low=0)
    inverse = zeros.scatter(0, order, group)
    ones = array_of(np.ones(count, np.int64)) if valid is None else valid.cast("i64")
    counts = zeros.scatter(0, inverse, ones, "add")
    own = {} if isinstance(extent, int) else {0: extent}
    size = replace(size, least=min(1, extent if isinstance(extent, int) else extent.least))
    return (
        make(indexing.take(x, dim, first), {**others, dim: size}),
        make(first, {0: size}),
        make(inverse, own),
        make(counts, {0: size}),
    )


def _sort_slices(table: Array, valid: Array | None) -> tuple[Array, Array]:
    """The order of rows, the first number before the others, and which of them are new in it.

    Rows that do not count come last, and are not new.
    """
    count, width = table.shape
    order = array_of(np.arange(count))
    columns = [table.cut(1, each, each + 1).reshape((count,)) for each in range(width)]
    for column in reversed(columns):
        order = _sort_by(column.select(0, order), order)
    if valid is not None:
        order = _sort_by(1 - _take_truth(valid, order), order)
    rows = table.select(0, order)
    before, after = rows.cut(0, 0, count - 1), rows.cut(0, 1, count)
    differ = after.ne(before)
    if table.is_real:
        differ = differ & (after.is_nan() & before.is_nan()).logical_not()
    is_first = array_of(np.ones(1, np.int32))
    if count > 1:
        others = differ.cast("i32").max(1, keep=False)
        is_first = concatenate([is_first, others], 0)
    is_first = is_first.ne(0)
    return order, is_first if valid is None else is_first & _take_truth(valid, order).ne(0)


def _sort_by(keys: Array, order: Array) -> Array:
    """An order put into that of keys; what is equal stays."""
    _, places = keys.sort(0, stable=True)
    return order.select(0, places)


def _take_truth(truth: Array, order: Array) -> Array:
    """Truth values at places, as 0 and 1."""
    return truth.cast("i32").select(0, order)


# -- boxes -----------------------------------------------------------------------------------------


def _select_boxes(call: Call) -> Array | Bounded:
    """Batch, class and place of boxes that overlap no better one too much."""
    boxes, scores = read(call, "boxes"), read(call, "scores")
    shapes = boxes.array.shape, scores.array.shape
    is_right = boxes.array.rank == scores.array.rank == 3 and shapes[0][2] == 4
    if not is_right or (
        not boxes.sizes
        and not scores.sizes
        and (shapes[0][0] != shapes[1][0] or shapes[0][1] != shapes[1][2])
    ):
        call.refuse(
            f"boxes have the shape {list(shapes[0])} and scores {list(shapes[1])}; they have to be "
            "[batches, boxes, 4] and [batches, classes, boxes]"
        )
    batches, classes, count = shapes[1]
    corners = resize(resize(boxes.array, 0, batches), 1, count).cast("f32")
    most: Extent = 0
    limit = call.optional("max_output_boxes_per_class")
    if limit is not None:
        limit = limit.reshape(()).cast("i64")
        is_known = limit.carrier.holds_numbers
        most = min(count, max(int(limit.value), 0)) if is_known else count
    if not most * batches * classes:
        return array_of(np.zeros((0, 3), np.int64))
    # What is taken or suppressed has the score -inf; scores that are it come before those.
    left = scores.array.cast("f32").maximum(float(np.finfo(np.float32).min))
    is_candidate = valid_in(scores)
    if (threshold := call.optional("score_threshold")) is not None:
        is_better = scores.array > threshold.cast("f32").reshape(())
        is_candidate = is_better if is_candidate is None else is_better & is_candidate
    if is_candidate is not None:
        left = is_candidate.where(left, -math.inf)
    sides = _sides(call, corners)
    overlap = call.optional("iou_threshold")
    overlap = array_of(np.float32(0)) if overlap is None else overlap.cast("f32").reshape(())
    chosen = _choose_boxes(call, left, sides, overlap, most)
    if limit is not None and not limit.carrier.holds_numbers:
        is_in = array_of(np.arange(most)) < limit
        chosen = is_in.where(chosen, -1)
    flat = chosen.cast("i64").reshape((batches * classes * most,))
    mask = flat >= 0
    order = indexing.find_chosen(mask, flat.shape[0]).limit(low=0)
    batch, class_, _ = indexing.split_place(order, (batches, classes, most))
    columns = [batch, class_, flat.select(0, order)]
    found = concatenate([each.unsqueeze(1) for each in columns], 1)
    return make(found, {0: size_of_mask(mask)})


def _sides(call: Call, boxes: Array) -> list[Array]:
    """Left, top, right, bottom and area of boxes, each `[batches, 1, boxes]`."""
    parts = [boxes.cut(2, each, each + 1).squeeze(2).unsqueeze(1) for each in range(4)]
    if call["center_point_box"]:
        x, y, width, height = parts
        half = width / 2, height / 2
        left, top, right, bottom = x - half[0], y - half[1], x + half[0], y + half[1]
    else:
        first, second, third, fourth = parts
        left, right = second.minimum(fourth), second.maximum(fourth)
        top, bottom = first.minimum(third), first.maximum(third)
    return [left, top, right, bottom, (right - left) * (bottom - top)]


def _choose_boxes(
    call: Call, left: Array, sides: Sequence[Array], overlap: Array, most: int
) -> Array:
    """The places of boxes by falling score, `[batches, classes, most]`; -1 after the last one."""
    batches, classes, count = left.shape
    place = np.arange(count, dtype=np.int32)

    slots = np.arange(most, dtype=np.int32)

    def step(
        inner: BodyBuilder,
        number: Array,
        mine: Sequence[Array],
        own: Sequence[Array],
        others: Sequence[Array],
    ) -> tuple[list[Array], list[Array]]:
        """The scores that are left, and the places with those of the best boxes."""
        del inner, own
        (left, chosen), (*sides, overlap) = mine, others
        best = left.argmax(2, "i32")
        found = left.max(2) > -math.inf
        *edges, area = (each.gather(2, best) for each in sides)
        *limits, areas = sides
        width = edges[2].minimum(limits[2]) - edges[0].maximum(limits[0])
        height = edges[3].minimum(limits[3]) - edges[1].maximum(limits[1])
        common = width * height
        union = area + areas - common
        is_near = (width > 0) & (height > 0) & (area > 0) & (areas > 0) & (union > 0)
        is_near = is_near & (common / is_near.where(union, 1.0) > overlap)
        left = (is_near | best.eq(array_of(place))).where(-math.inf, left)
        is_now = array_of(slots).eq(number)
        return [left, is_now.where(found.where(best, -1), chosen)], []

    def goes_on(number: Array, mine: Sequence[Array], others: Sequence[Array]) -> Array:
        del others
        return (mine[0].max(0, 1, 2, keep=False) > -math.inf) & (number < most)

    none = array_of(np.full((batches, classes, most), -1, np.int32))
    state = [left, none]
    [_, chosen], _ = run_loop(call, step, state, [], [*sides, overlap], count=None, goes_on=goes_on)
    return chosen


RULES: dict[str, Rule] = {
    "Compress": _compress,
    "NonMaxSuppression": _select_boxes,
    "NonZero": _find_nonzero,
    "Unique": _unique,
}
"""Rules by the names of operators; their inputs may be bounded, too."""
