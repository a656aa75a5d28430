"""Running values, places among sorted numbers, histograms and distances."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from ttmlir.arrays.array import Array, concatenate
from ttmlir.arrays.carriers import array_of
from ttmlir.composites.arithmetic import power
from ttmlir.composites.normalization import put_along

# -- running values, in steps over distances of 1, 2, 4 and so on --------------------------------

Combine = Callable[[Sequence[Array], Sequence[Array]], Sequence[Array]]
"""What becomes of arrays of earlier elements and arrays of later ones."""


def scan(parts: Sequence[Array], dim: int, combine: Combine) -> Sequence[Array]:
    """All elements combined with those before them along a dimension; the operation is associative.

    There are as many steps as the extent has bits.
    """
    if not parts[0].rank:
        return parts
    count, distance = parts[0].shape[dim], 1
    while distance < count:
        earlier = [each.cut(dim, 0, count - distance) for each in parts]
        later = [each.cut(dim, distance, count) for each in parts]
        pairs = zip(parts, combine(earlier, later), strict=True)
        parts = [concatenate([each.cut(dim, 0, distance), new], dim) for each, new in pairs]
        distance *= 2
    return parts


def multiply_running(x: Array, dim: int) -> Array:
    """The product of the elements up to each one."""
    return scan([x], dim, lambda a, b: [a[0] * b[0]])[0]


def add_exponentials_running(x: Array, dim: int) -> Array:
    """The logarithm of the sum of the exponentials of the elements up to each one."""
    return scan([x], dim, lambda a, b: [add_exponentials(a[0], b[0])])[0]


def add_exponentials(a: Array, b: Array) -> Array:
    """log(exp(a) + exp(b)), also of infinities."""
    found = a.maximum(b) + (-(a - b).abs()).exp().log1p()
    # The difference of equal infinities is NaN.
    return a.eq(b).where(a + math.log(2), found)


def find_running_extreme(x: Array, dim: int, *, largest: bool) -> tuple[Array, Array]:
    """The largest or smallest element so far, and the last place where it is; NaN stays."""
    if not x.rank:
        return x, array_of(0, "i64")

    def combine(a: Sequence[Array], b: Sequence[Array]) -> Sequence[Array]:
        is_later = b[0].apply("ge" if largest else "le", a[0])
        if x.is_real:
            later_nan = b[0].is_nan()
            is_later = a[0].is_nan().where(later_nan, is_later | later_nan)
        return [is_later.where(new, old) for old, new in zip(a, b, strict=True)]

    places = put_along(array_of(np.arange(x.shape[dim])), x, dim).broadcast(x.shape)
    found, last = scan([x, places], dim, combine)
    return found, last


# -- order statistics: values and the places where they are, with an extent of 1 ----------------


def find_in_order(x: Array, number: int, dim: int) -> tuple[Array, Array]:
    """The value before which there are so many in ascending order."""
    values, places = x.sort(dim)
    return values.cut(dim, number, number + 1), places.cut(dim, number, number + 1)


def median(x: Array, dim: int) -> tuple[Array, Array]:
    """The lower one of two in the middle; NaN where there is one."""
    found, place = find_in_order(x, (x.shape[dim] - 1) // 2, dim)
    if x.is_real:
        is_nan = x.is_nan()
        has_nan, first = is_nan.any(dim), is_nan.cast("i32").argmax(dim, "i32")
        found, place = has_nan.where(math.nan, found), has_nan.where(first, place)
    return found, place


def nanmedian(x: Array, dim: int) -> tuple[Array, Array]:
    """The lower one of two in the middle of those that are not NaN."""
    values, places = x.sort(dim)
    # NaN comes last.
    count = x.is_nan().logical_not().cast("i64").sum(dim)
    middle = ((count - 1) / 2).limit(low=0)
    return values.gather(dim, middle), places.gather(dim, middle)


def mode(x: Array, dim: int) -> tuple[Array, Array]:
    """The smallest of the most frequent numbers, and the place of the last one."""
    values, places = x.sort(dim, stable=True)
    count = x.shape[dim]
    is_new = values.cut(dim, 1, count).ne(values.cut(dim, 0, count - 1))
    first = array_of(np.ones([*x.shape[:dim], 1, *x.shape[dim + 1 :]], np.bool_))
    position = put_along(array_of(np.arange(count)), x, dim)
    begin = concatenate([first, is_new], dim).where(position, 0)
    begin = scan([begin], dim, lambda a, b: [a[0].maximum(b[0])])[0]
    longest = (position - begin).argmax(dim)
    return values.gather(dim, longest), places.gather(dim, longest)


# -- places among sorted numbers, and histograms -------------------------------------------------

_FEW = 64
"""Up to so many boundaries, each number is compared with all of them."""


def search_sorted(boundaries: Array, values: Array, *, right: bool) -> Array:
    """How many boundaries are below each number, as i64; those that equal it count if `right`.

    The boundaries are one row for all values, or a row for each row of values.
    """
    count = boundaries.shape[-1]
    is_one_row = boundaries.rank == 1
    if count <= _FEW:
        rows = boundaries if is_one_row else boundaries.unsqueeze(-2)
        below = _is_below(rows, values.unsqueeze(-1), right=right)
        return below.cast("i64").sum(-1, keep=False)
    low = values.fill(0, dtype="i64")
    # Halving: as many boundaries are below a number as the sum of the steps that were taken.
    step = 1 << (count.bit_length() - 1)
    while step:
        last = low + (step - 1)
        at = last.limit(high=count - 1)
        found = boundaries.select(0, at) if is_one_row else boundaries.gather(-1, at)
        is_below = _is_below(found, values, right=right) & (last < count)
        low = is_below.where(low + step, low)
        step //= 2
    return low


def _is_below(boundaries: Array, values: Array, *, right: bool) -> Array:
    """Nothing is above NaN."""
    return (boundaries > values if right else boundaries >= values).logical_not()


def count_in_equal_parts(x: Array, bins: int, low: float, high: float) -> Array:
    """How many numbers are in each of equal parts of a range, as `torch.histc` counts them.

    An empty range stands for that of the numbers, or one of 2 around them if all are the same.
    """
    flat = x.reshape((math.prod(x.shape),))
    least, most = flat.fill(low, (1,)), flat.fill(high, (1,))
    if low == high:
        least, most = _range_around(flat, 1.0)
    inside = (flat >= least) & (flat <= most)
    part = ((flat - least) * float(bins) / (most - least)).cast("i64").limit(0, bins - 1)
    return _add_parts(bins, part, inside, flat.fill(1))


def _range_around(flat: Array, margin: float) -> tuple[Array, Array]:
    """The least and the largest number, apart at least twice the margin."""
    least, most = flat.min(0), flat.max(0)
    is_one = least.eq(most)
    return is_one.where(least - margin, least), is_one.where(most + margin, most)


def _add_parts(parts: int, number: Array, inside: Array, weights: Array) -> Array:
    """The sums of weights by numbers of parts; what is outside is left out."""
    # It goes after the last part, and away.
    number = inside.where(number, parts)
    sums = weights.fill(0, (parts + 1,)).scatter(0, number, weights, "add")
    return sums.cut(0, 0, parts)


def make_histogram_edges(x: Array, bins: int, bounds: Sequence[float] | None) -> Array:
    """The edges of equal parts of a range; without one, of that of the numbers."""
    flat = x.reshape((math.prod(x.shape),))
    if bounds is None:
        low, high = _range_around(flat, 0.5)
    else:
        low, high = (array_of([end], x.dtype) for end in bounds)
    # From both ends, so that each is itself.
    step = (high - low) / float(bins)
    places = np.arange(bins + 1)
    from_low, from_high = (array_of(each, x.dtype) for each in (places, bins - places))
    return array_of(places < (bins + 1) // 2).where(low + step * from_low, high - step * from_high)


def add_between_edges(
    x: Array, edges: Array, weights: Array | None = None, *, density: bool = False
) -> Array:
    """The sums of weights between edges, of which the last belongs to the last part.

    With `density`, the integral over the parts is 1.
    """
    flat, parts = x.reshape((math.prod(x.shape),)), edges.shape[0] - 1
    number = search_sorted(edges, flat, right=True) - 1
    number = flat.eq(edges.cut(0, parts, parts + 1)).where(parts - 1, number)
    weights = flat.fill(1) if weights is None else weights.reshape(flat.shape)
    sums = _add_parts(parts, number, (number >= 0) & (number < parts), weights)
    if density:
        sums = sums / sums.sum(0) / (edges.cut(0, 1, parts + 1) - edges.cut(0, 0, parts))
    return sums


# -- norms and distances -------------------------------------------------------------------------


def norm(x: Array, order: float, dims: Sequence[int], *, keep: bool = True) -> Array:
    """The norm along dimensions, which stay if `keep`; of order 0, how many are not 0."""
    if order == 2:
        return x.square().sum(*dims, keep=keep).sqrt()
    if order == 0:
        return x.ne(0).cast(x.dtype).sum(*dims, keep=keep)
    size = x.abs()
    if math.isinf(order):
        return size.max(*dims, keep=keep) if order > 0 else size.min(*dims, keep=keep)
    total = power(size, order).sum(*dims, keep=keep)
    return power(total, 1 / order)


def differentiate_norm(x: Array, norms: Array, order: float) -> Array:
    """How norms change with the elements that they are of; not at all where they are 0."""
    if order == 0:
        return x.fill(0)
    sign = x.is_nan().where(0, x.sign())
    if order == 1:
        return sign
    size = x.abs()
    if math.isinf(order):
        return size.eq(norms).where(sign, 0)
    slope = x / norms if order == 2 else sign * power(size, order - 1) / power(norms, order - 1)
    return (norms.eq(0) | sign.eq(0)).where(0, slope)


def measure_distances(a: Array, b: Array, order: float, *, by_products: bool) -> Array:
    """The distances of all rows of one array from all rows of another one.

    Those of order 2 may come from a product of matrices, which is faster and less precise.
    """
    if order == 2 and by_products:
        squares = a.square().sum(-1) + b.square().sum(-1).transpose()
        return (squares - (a @ b.transpose()) * 2).limit(low=0).sqrt()
    return norm(_differences(a, b), order, [-1], keep=False)


def differentiate_distances(
    gradient: Array, a: Array, b: Array, order: float, distances: Array
) -> Array:
    """The gradient of the first rows."""
    slope = differentiate_norm(_differences(a, b), distances.unsqueeze(-1), order)
    return (gradient.unsqueeze(-1) * slope).sum(-2, keep=False)


def _differences(a: Array, b: Array) -> Array:
    return a.unsqueeze(-2) - b.unsqueeze(-3)


def measure_own_distances(x: Array, order: float) -> Array:
    """The distances of each row of a matrix from those after it."""
    first, second = _pairs(x)
    return norm(x.select(0, first) - x.select(0, second), order, [-1], keep=False)


def differentiate_own_distances(gradient: Array, x: Array, order: float, distances: Array) -> Array:
    """The gradient of the rows."""
    first, second = _pairs(x)
    difference = x.select(0, first) - x.select(0, second)
    part = gradient.unsqueeze(-1) * differentiate_norm(difference, distances.unsqueeze(-1), order)
    added = x.fill(0).scatter(0, first.unsqueeze(-1), part, "add")
    return added.scatter(0, second.unsqueeze(-1), -part, "add")


def _pairs(x: Array) -> tuple[Array, Array]:
    """The numbers of the rows of each pair."""
    first, second = np.triu_indices(x.shape[0], 1)
    return array_of(first, "i64"), array_of(second, "i64")
