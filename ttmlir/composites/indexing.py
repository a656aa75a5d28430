"""Elements read from, written to and combined at places that are numbers in arrays."""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import Enum
from itertools import pairwise

import numpy as np

from ttmlir.arrays.array import TRUTH, Array, concatenate
from ttmlir.arrays.carriers import array_of, host_dtype
from ttmlir.optable import DEFINITIONS
from ttmlir.optable.op_definition import broadcast_shape

# -- indices of several dimensions, as NumPy has them ------------------------------------------


def take(x: Array, dim: int, index: Array) -> Array:
    """`Array.select`, which is a slice where the indices are known and in equal steps."""
    bounds = find_slice(index)
    return x.select(dim, index) if bounds is None else x.cut(dim % x.rank, *bounds)


def find_slice(index: Array) -> tuple[int, int, int] | None:
    """Begin, end and step of a slice that selects indices; None if there is none."""
    if not index.carrier.holds_numbers or index.rank != 1 or not index.shape[0]:
        return None
    numbers: list[int] = index.value.tolist()
    step = numbers[1] - numbers[0] if len(numbers) > 1 else 1
    if step < 1 or numbers[0] < 0 or any(b - a != step for a, b in pairwise(numbers)):
        return None
    return numbers[0], numbers[-1] + 1, step


def count_from_start(index: Array, extent: int) -> Array:
    """Indices of which those below 0 count from the end, counted from the start."""
    return (index < 0).where(index + extent, index)


def _join(indices: Sequence[Array], extents: Sequence[int]) -> Array:
    """One index for several into dimensions that lie next to each other.

    It is out of bounds, too, where one of them is.
    """
    pairs = zip(indices, extents, strict=True)
    first, *others = (count_from_start(index.cast("i64"), extent) for index, extent in pairs)
    for index, extent in zip(others, extents[1:], strict=True):
        inside = (index >= 0) & (index < extent)
        first = inside.where(first * extent + index, -1)
    return first.broadcast(broadcast_shape(*(index.shape for index in indices)))


def _order(x: Array, indices: Sequence[Array | None]) -> tuple[list[int], list[int], int]:
    """The dimensions that have indices, all others, and where the indices' dimensions go.

    They go in front if there are others in between.
    """
    dims = [dim for dim, index in enumerate(indices) if index is not None]
    others = [dim for dim in range(x.rank) if dim not in dims]
    return dims, others, dims[0] if dims == [*range(dims[0], dims[-1] + 1)] else 0


def read_at(x: Array, indices: Sequence[Array | None]) -> Array:
    """The elements at indices that broadcast together; a missing one is a whole dimension."""
    given = [index for index in indices if index is not None]
    if not given:
        return x
    dims, others, at = _order(x, indices)
    extents = [x.shape[dim] for dim in dims]
    rest = [x.shape[dim] for dim in others]
    moved = x.permute([*others[:at], *dims, *others[at:]])
    merged = moved.reshape((*rest[:at], math.prod(extents), *rest[at:]))
    return take(merged, at, _join(given, extents))


def write_at(x: Array, indices: Sequence[Array | None], values: Array, combine: str = "") -> Array:
    """x with the elements of `read_at` replaced by values that broadcast.

    They are combined with those that are there as in `Array.scatter`.
    """
    dims, others, at = _order(x, indices)
    extents = [x.shape[dim] for dim in dims]
    rest = [x.shape[dim] for dim in others]
    flat = _join([index for index in indices if index is not None], extents)
    values = values.broadcast((*rest[:at], *flat.shape, *rest[at:]))
    middle = range(at, at + flat.rank)
    values = values.permute([*middle, *(i for i in range(values.rank) if i not in middle)])
    columns, count = math.prod(rest), math.prod(flat.shape)
    if not count * columns:
        return x
    order = [*dims, *others]
    table = x.permute(order).reshape((math.prod(extents), columns))
    written = table.scatter(
        0,
        flat.reshape((count, 1)),
        values.reshape((count, columns)),
        combine,
    )
    return written.reshape((*extents, *rest)).permute([order.index(i) for i in range(x.rank)])


def write_where(x: Array, mask: Array, dim: int, values: Array, *, accumulate: bool) -> Array:
    """x with the same values, or with them added, where a mask of dimensions from one on is true.

    `values` are broadcast to `x[mask]`, whose dimension of selected elements they have once.
    """
    after = x.rank - dim - mask.rank
    shape = (*(1,) * (dim + 1 + after - values.rank), *values.shape)
    values = values.reshape((*shape[:dim], *(1,) * mask.rank, *shape[dim + 1 :]))
    mask = mask.reshape((*mask.shape, *(1,) * after))
    return mask.where(x + values if accumulate else values, x)


def unfold(x: Array, dim: int, size: int, step: int) -> Array:
    """The windows of a dimension, at the end."""
    count = (x.shape[dim] - size) // step + 1
    if step == size:
        windows = x.cut(dim, 0, count * size)
    else:
        places = np.arange(count)[:, None] * step + np.arange(size)
        windows = x.select(dim, array_of(places.reshape(-1)))
    windows = windows.reshape((*x.shape[:dim], count, size, *x.shape[dim + 1 :]))
    return windows.permute([*(i for i in range(windows.rank) if i != dim + 1), dim + 1])


# -- writing ---------------------------------------------------------------------------------------


class Combine(Enum):
    """What becomes of elements that meet at a place."""

    ADD = "add"
    MULTIPLY = "multiply"
    MAXIMUM = "maximum"
    MINIMUM = "minimum"
    MEAN = "mean"


def scatter(x: Array, dim: int, index: Array, source: Array, combine: str = "") -> Array:
    """`Array.scatter`, where the index may be shorter than x along other dimensions, too.

    What x has beyond it stays.
    """
    if 0 in index.shape:
        return x
    dim %= x.rank
    part = x
    for other, count in enumerate(source.shape):
        if other != dim:
            part = part.cut(other, 0, count)
    written = part.scatter(dim, index, source, combine)
    if written.shape == x.shape:
        return written
    return x.create("slice_write", written, array_of(np.zeros(x.rank, np.int64)))


def scatter_by_comparing(
    x: Array, dim: int, index: Array, source: Array, combine: str = ""
) -> Array:
    """`Array.scatter` of indices that are compared with all places: as many as x has elements.

    For machines that compute with many elements at a time, but move single ones slowly. What is
    combined is that of the indices first, then with x.
    """
    dim %= x.rank
    count, rest = index.shape[dim], [each for each in range(x.rank) if each != dim]
    extents = [n if each == dim else 1 for each, n in enumerate(x.shape)]
    # Sums of floats within matrices have fewer bits than sums of matrices.
    is_vector = math.prod(index.shape) == count and not (combine and (x.is_real or x.rank > 1))
    if x.rank == 1 and not is_vector:
        own, index, source = (each.unsqueeze(0) for each in (x, index, source))
        return scatter_by_comparing(own, 1, index, source, combine).reshape(x.shape)
    along = 1 if is_vector else 0
    places = x.count(dim, extents).reshape((x.shape[dim], 1) if is_vector else (1, *extents))

    def apart(each: Array) -> Array:
        """What is written, along a dimension of its own."""
        if is_vector:
            return each.reshape((1, count))
        shape = [1 if other == dim else n for other, n in enumerate(each.shape)]
        return each.permute([dim, *rest]).reshape((count, *shape))

    is_here = apart(index).cast("i32").eq(places)
    if combine:
        values = is_here.where(apart(source), _neutral(x, Combine(combine)))
        parameters = {"keep_dim": False, "dim_arg": (along,)}
        shape = [n for each, n in enumerate(values.shape) if each != along]
        reduction = next(name for name, each in DEFINITIONS.items() if each.combiner == combine)
        total = values.create(reduction, shape=shape, parameters=parameters)
        return x.apply(combine, total)
    writes = x.count(along, [count if each == along else 1 for each in range(places.rank)])
    last = is_here.where(writes, -1).max(along, keep=False)
    last = last.reshape(extents) if is_vector else last
    return (last < 0).where(x, source.gather(dim, last.maximum(0)))


def combine_at(
    x: Array, dim: int, index: Array, source: Array, combine: Combine, *, keep: bool
) -> Array:
    """Elements combined with others at places along a dimension, and with those of x if `keep`.

    Without it, x is left where nothing is written. Means of integers are rounded down.
    """
    start = x
    if not keep:
        start = scatter(x, dim, index, source.fill(_neutral(x, combine)))
    if combine is not Combine.MEAN:
        return scatter(start, dim, index, source, combine.value)
    count = scatter(x.fill(1 if keep else 0), dim, index, source.fill(1), "add")
    if not keep:
        # What nothing is written to stays.
        count = count.maximum(1)
    total = scatter(start, dim, index, source, "add")
    mean = total / count
    if x.is_real:
        return mean
    # Rounded toward zero is one too many where there is a remainder below 0.
    return mean - (total.remainder(count) < 0).cast(x.dtype)


def _neutral(x: Array, combine: Combine) -> float:
    """The number that leaves every other as it is."""
    if x.dtype == TRUTH:
        return combine in (Combine.MULTIPLY, Combine.MINIMUM)
    match combine:
        case Combine.ADD | Combine.MEAN:
            return 0
        case Combine.MULTIPLY:
            return 1
        case Combine.MAXIMUM:
            return -math.inf if x.is_real else int(np.iinfo(host_dtype(x.dtype)).min)
        case Combine.MINIMUM:
            return math.inf if x.is_real else int(np.iinfo(host_dtype(x.dtype)).max)


def combine_slices(
    x: Array, dim: int, index: Array, source: Array, combine: Combine | None, *, keep: bool
) -> Array:
    """Whole slices combined at places along a dimension, or put there without `combine`."""
    x = x if x.rank else x.reshape((1,))
    dim, count = dim % x.rank, math.prod(index.shape)
    index = index.reshape([count if each == dim else 1 for each in range(x.rank)])
    source = source.reshape((*x.shape[:dim], count, *x.shape[dim + 1 :]))
    if combine is None:
        return scatter(x, dim, index, source)
    return combine_at(x, dim, index, source, combine, keep=keep)


def put_flat(x: Array, index: Array, source: Array, *, accumulate: bool) -> Array:
    """Elements written or added to places over all dimensions; below 0 they are from the end."""
    count = math.prod(x.shape)
    places = count_from_start(index, count).reshape((math.prod(index.shape),))
    flat = x.reshape((count,))
    values = source.reshape(places.shape)
    return flat.scatter(0, places, values, "add" if accumulate else "").reshape(x.shape)


# -- what masks choose -----------------------------------------------------------------------------


def _rank_chosen(mask: Array) -> Array:
    """How many chosen elements are before each element of a flat mask, or it, less 1."""
    return mask.cast("i64").cumsum(0) - 1


def put_masked(x: Array, mask: Array, source: Array) -> Array:
    """The first elements of `source`, in order, where a mask of the shape of x is true."""
    count = math.prod(source.shape)
    place = _rank_chosen(mask.reshape((math.prod(mask.shape),))).limit(0, count - 1)
    found = source.reshape((count,)).select(0, place)
    return mask.where(found.reshape(x.shape), x)


def take_masked(x: Array, mask: Array, count: int) -> Array:
    """So many elements of x that a mask of its shape chooses, in order; then 0."""
    flat = mask.reshape((math.prod(mask.shape),))
    place = _rank_chosen(flat)
    # What is not chosen goes after the last one, and away.
    place = (flat & (place < count)).where(place, count)
    found = x.fill(0, (count + 1,)).scatter(0, place, x.reshape(flat.shape), "add")
    return found.cut(0, 0, count)


def find_nonzero(x: Array, size: int, missing: int) -> Array:
    """The places of the first `size` elements that are not 0, a row for each; else `missing`."""
    if not x.rank:
        return array_of(np.zeros((size, 0), np.int64))
    order = find_chosen(x.cast("i1").reshape((math.prod(x.shape),)), size).unsqueeze(1)
    columns = split_place(order.limit(low=0), x.shape)
    return (order >= 0).where(concatenate(columns, 1), missing)


def find_chosen(mask: Array, size: int) -> Array:
    """The places of the first `size` true elements of a flat mask, in order; then -1."""
    rank = _rank_chosen(mask)
    # All other elements go after the last row, and away.
    row = (mask & (rank < size)).where(rank, size)
    order = array_of(np.full(size + 1, -1)).scatter(0, row, array_of(np.arange(mask.shape[0])))
    return order.cut(0, 0, size)


def split_place(place: Array, shape: Sequence[int]) -> list[Array]:
    """The places along each dimension of what are places among all elements of a shape."""
    columns: list[Array] = []
    for extent in reversed(shape):
        columns.append(place.remainder(extent))
        place = place / extent
    return columns[::-1]


# -- bags of rows of a table -----------------------------------------------------------------------
# A bag begins at each offset. Numbers of rows that are `padding` do not count; below 0 there are
# none.


class Reduce(Enum):
    """What becomes of the rows of a bag."""

    SUM = "sum"
    MEAN = "mean"
    MAX = "max"


def number_bags(count: int, offsets: Array) -> Array:
    """The bag that each of so many numbers is in."""
    position = array_of(np.arange(count)[:, None])
    return (position >= offsets.cast("i64").unsqueeze(0)).cast("i64").sum(1, keep=False) - 1


def reduce_bags(
    table: Array,
    indices: Array,
    offsets: Array,
    reduce: Reduce,
    factors: Array | None,
    padding: int,
) -> tuple[Array, Array, Array, Array]:
    """Sums, means or maxima of the rows of bags; 0 for empty ones.

    Then the bag of each number, the sizes of bags, and the rows of maxima.
    """
    bags = offsets.shape[0]
    bag = number_bags(indices.shape[0], offsets)
    number = array_of(np.arange(bags)[:, None])
    member = bag.unsqueeze(0).eq(number) & indices.ne(padding)
    rows = table.select(0, indices)
    size = member.cast("i64").sum(1, keep=False)
    if reduce is Reduce.MAX:
        hidden = member.unsqueeze(2).where(rows.unsqueeze(0), -math.inf)
        found = (size > 0).unsqueeze(1).where(hidden.max(1, keep=False), 0)
        largest = indices.select(0, hidden.argmax(1).squeeze(1))
        return found, bag, size, largest
    if factors is not None:
        rows = rows * factors.unsqueeze(1)
    total = member.cast(rows.dtype) @ rows
    if reduce is Reduce.MEAN:
        total = total / size.limit(low=1).cast(total.dtype).unsqueeze(1)
    return total, bag, size, array_of(np.zeros(bags, np.int64))


def differentiate_table(
    gradient: Array,
    indices: Array,
    bag: Array,
    size: Array,
    largest: Array,
    rows: int,
    reduce: Reduce,
    factors: Array | None,
    padding: int,
    *,
    divide_by_count: bool,
) -> Array:
    """The gradient of a table of so many rows, of that of reduced bags.

    With `divide_by_count`, each row's is divided by how often the row is looked up.
    """
    table = gradient.fill(0, (rows, gradient.shape[1]))
    if reduce is Reduce.MAX:
        # Empty bags have no largest row.
        return table.scatter(0, largest, (size > 0).unsqueeze(1).where(gradient, 0), "add")
    if reduce is Reduce.MEAN:
        gradient = gradient / size.limit(low=1).cast(gradient.dtype).unsqueeze(1)
    parts = gradient.select(0, bag)
    if factors is not None:
        parts = parts * factors.unsqueeze(1)
    if divide_by_count:
        # Of indices that are known, the counts are, too.
        ones = array_of(np.ones(indices.shape), gradient.dtype)
        counts = array_of(np.zeros(rows), gradient.dtype).scatter(0, indices, ones, "add")
        parts = parts / counts.select(0, indices).unsqueeze(1)
    parts = _without_padding(indices, parts, padding)
    return table.scatter(0, indices.unsqueeze(1), parts, "add")


def differentiate_factors(
    gradient: Array, table: Array, indices: Array, offsets: Array, padding: int
) -> Array:
    """The gradient of the factors of rows."""
    bag = number_bags(indices.shape[0], offsets)
    parts = gradient.select(0, bag) * table.select(0, indices)
    return _without_padding(indices, parts, padding).sum(1, keep=False)


def _without_padding(indices: Array, rows: Array, padding: int) -> Array:
    return rows if padding < 0 else indices.eq(padding).unsqueeze(1).where(0, rows)


def shorten_rows(table: Array, indices: Array, longest: float, norms: Array) -> Array:
    """A table with the rows that are looked up no longer than a number, given their norms."""
    flat = indices.reshape((math.prod(indices.shape),))
    count = table.shape[0]
    ones = array_of(np.ones(flat.shape, np.int32))
    looked_up = array_of(np.zeros(count, np.int32)).scatter(0, flat, ones).ne(0)
    # The small number is torch's.
    is_long = looked_up.unsqueeze(1) & (norms > longest)
    return table * is_long.where(longest / (norms + 1e-7), 1)
