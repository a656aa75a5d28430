"""Factorizations of batches of matrices, by loops over rows and columns, and products in groups.

Arrays of matrices have one batch dimension. Steps are those of LAPACK's unblocked routines, so that
results have its accuracy.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from ttmlir.arrays.array import Array, Shape, concatenate, repeat
from ttmlir.composites.complex_numbers import Complex, absolute


def find_cholesky(a: Array) -> list[Array]:
    """L of A = L L^T, of the lower triangle of A; NaN everywhere if A is not positive definite."""
    zero = a.fill(0)

    def step(i: Array, rest: Array, lower: Array) -> list[Array]:
        pivot = rest.take(1, i).take(2, i)
        column = rest.take(2, i) / pivot.sqrt()
        return [rest - column.times_transposed(column), lower.put(2, i, column)]

    _, found = repeat(a.shape[1], step, a, zero)
    lower = (_rows(a) >= _columns(a)).where(found, zero)
    return [lower + (lower * 0).sum(2).sum(1)]


def solve_triangular(a: Array, b: Array, *, lower: bool, unit: bool) -> list[Array]:
    """X of A X = B, of one triangle of A; with `unit`, 1 is on its diagonal."""
    strict = _rows(a).apply("gt" if lower else "lt", _columns(a)).where(a, 0)

    def step(i: Array, x: Array) -> list[Array]:
        place = i if lower else i.fill(a.shape[1] - 1) - i
        row = x.take(1, place)
        if not unit:
            row = row / a.take(1, place).take(2, place)
        return [(x - strict.take(2, place) @ row).put(1, place, row)]

    return repeat(a.shape[1], step, b)


def factorize_by_reflections(a: Array) -> list[Array]:
    """R in the upper triangle, reflections below it, and their factors, as LAPACK's geqrf."""
    batch, m, n = a.shape
    count = min(m, n)
    factors = a.fill(0, (batch, count, 1))

    def step(i: Array, x: Array, factors: Array) -> list[Array]:
        x, factor = reflect(x, i, i)
        return [x, factors.put(1, i, factor)]

    found, factors = repeat(count, step, a, factors)
    return [found, factors.reshape((batch, count))]


def reflect(x: Array, i: Array, at: Array, *, is_similar: bool = False) -> tuple[Array, Array]:
    """Zeros below a row in a column, where the reflection is stored, and its factor.

    The columns that follow are reflected; if it is to stay similar, so are all rows.
    """
    batch, m, n = x.shape
    rows, columns = x.count(1, (batch, m, 1)), x.count(2, (batch, 1, n))
    column, alpha = x.take(2, i), x.take(1, at).take(2, i)
    is_under, is_at = (rows > at), rows.eq(at)
    tail = is_under.where(column, 0)
    square = (tail * tail).sum(1)
    norm = (alpha * alpha + square).sqrt()
    is_flat = square.eq(0)
    beta = is_flat.where(alpha, (alpha >= 0).where(-norm, norm))
    factor = (beta - alpha) / is_flat.where(1, beta)
    below = tail / is_flat.where(1, alpha - beta)
    v = is_at.where(1, below)
    x = x - v @ (columns > i).where(v.transposed_times(x) * factor, 0)
    if is_similar:
        x = x - (x @ v).times_transposed(v) * factor
    return x.put(2, i, is_under.where(below, is_at.where(beta, column))), factor


def factorize_with_pivots(a: Array) -> list[Array]:
    """As `factorize_by_reflections`, of columns in an order, which is the second result, from 1.

    The longest rest of a column is next, as in LAPACK's geqp3.
    """
    batch, m, n = a.shape
    count = min(m, n)
    rows, columns = a.count(1, (batch, m, 1)), a.count(2, (batch, 1, n))

    def step(i: Array, x: Array, factors: Array, order: Array) -> list[Array]:
        rest = (rows >= i).where(x, 0)
        length = (columns >= i).where((rest * rest).sum(1), -1)
        chosen = length.eq(length.max(2)).where(columns, n).min(2)
        chosen = (chosen < n).where(chosen, i)
        is_here, is_there = columns.eq(i), columns.eq(chosen)

        def exchange(values: Array) -> Array:
            there = is_there.where(values, 0).sum(2)
            here = values.take(2, i)
            return is_here.where(there, is_there.where(here, values))

        x, order = exchange(x), exchange(order)
        x, factor = reflect(x, i, i)
        return [x, factors.put(1, i, factor), order]

    state = a, a.fill(0, (batch, count, 1)), columns + 1
    found, factors, order = repeat(count, step, *state)
    return [found, order.reshape((batch, n)), factors.reshape((batch, count))]


def multiply_reflections(a: Array, factors: Array, columns: int | None = None) -> list[Array]:
    """The product of the reflections that `factorize_by_reflections` gives, as LAPACK's orgqr.

    There are as many as factors. Of the product there are `columns`, or as many as in the matrices.
    """
    batch, m, n = a.shape
    count = factors.shape[1]
    rows = a.count(1, (batch, m, 1))
    factors = factors.reshape((batch, count, 1))
    last = a.fill(count - 1, (), "i32")

    def step(i: Array, q: Array) -> list[Array]:
        place = last - i
        tail = (rows > place).where(a.take(2, place), 0)
        v = rows.eq(place).where(1, tail)
        return [q - v @ (v.transposed_times(q) * factors.take(1, place))]

    return repeat(count, step, _identity(a, columns or n))


def factorize_by_elimination(a: Array) -> list[Array]:
    """L and U in one matrix, the row that each was exchanged with, and the order of the rows.

    As LAPACK's getrf, but rows are counted from 0. A pivot of 0 is left as it is.
    """
    batch, m, n = a.shape
    count = min(m, n)
    rows = a.count(1, (batch, m, 1))
    columns = a.count(2, (batch, 1, n))
    pivots = a.fill(0, (batch, count, 1), "i32")

    def step(i: Array, x: Array, pivots: Array, order: Array) -> list[Array]:
        column = (rows >= i).where(x.take(2, i).abs(), -1)
        # NaN has no place among the sizes; then no rows are exchanged.
        is_best = column.eq(column.max(1))
        pivot = is_best.where(rows, m).min(1)
        pivot = (pivot < m).where(pivot, i)
        is_here, is_there = rows.eq(i), rows.eq(pivot)

        def exchange(values: Array, zero: float) -> Array:
            here = values.take(1, i)
            there = _sum_chosen(is_there, values, zero)
            return is_here.where(there, is_there.where(here, values))

        x, order = exchange(x, 0.0), exchange(order, 0)
        value = x.take(1, i).take(2, i)
        is_zero = value.eq(0)
        below = x.take(2, i) / is_zero.where(1, value)
        multiples = (rows > i).where(below, 0)
        rest = (columns > i).where(x.take(1, i), 0)
        stored = (rows > i).where(below, x.take(2, i))
        return [(x - multiples @ rest).put(2, i, stored), pivots.put(1, i, pivot), order]

    found, pivots, order = repeat(count, step, a, pivots, rows)
    return [found, pivots.reshape((batch, count)), order.reshape((batch, m))]


def find_determinants(a: Array) -> Array:
    """The determinants of square matrices."""
    factors, pivots, _ = factorize_by_elimination(a)
    is_moved = pivots.ne(pivots.count(1, pivots.shape))
    signs = is_moved.where(a.fill(-1, pivots.shape), a.fill(1, pivots.shape))
    found = _rows(a).eq(_columns(a)).where(factors, 0).sum(2, keep=False) * signs
    while found.shape[1] > 1:
        half = found.shape[1] // 2
        product = found.cut(1, 0, half) * found.cut(1, half, 2 * half)
        found = concatenate([product, found.cut(1, 2 * half, found.shape[1])], 1)
    return found.squeeze(1)


# -- symmetric matrices that need not be definite --------------------------------------------------

_GROWTH = (1 + math.sqrt(17)) / 8
"""How large pivots of one row are beside others: Bunch and Kaufman, Math. Comp. 31 (1977)."""


def solve_tridiagonal(lower: Array, diagonal: Array, upper: Array, b: Array) -> list[Array]:
    """X of A X = B, of which A has three diagonals, by elimination with pivots, as LAPACK's gtsv.

    Row i has `lower[i]` before its diagonal and `upper[i]` behind it: the first and the last of
    these do not count. B has columns.
    """
    batch, n, width = b.shape
    is_last = upper.count(1, upper.shape).eq(n - 1)

    def step(i: Array, diagonal: Array, upper: Array, second: Array, x: Array) -> list[Array]:
        below = i + 1
        here = [diagonal.take(1, i), upper.take(1, i), upper.take(1, i) * 0, x.take(1, i)]
        there = [lower.take(1, below), *(each.take(1, below) for each in (diagonal, upper, x))]
        is_less = here[0].abs() < there[0].abs()
        pairs = [*zip(here, there, strict=True)]
        pivot, *above = [is_less.where(b, a) for a, b in pairs]
        left, *rest = [is_less.where(a, b) for a, b in pairs]
        factor = left / pivot
        new = [a - factor * b for a, b in zip(rest, above, strict=True)]
        return [
            diagonal.put(1, i, pivot).put(1, below, new[0]),
            upper.put(1, i, above[0]).put(1, below, new[1]),
            second.put(1, i, above[1]),
            x.put(1, i, above[2]).put(1, below, new[2]),
        ]

    state = [diagonal, is_last.where(0, upper), upper * 0, b]
    diagonal, upper, second, b = repeat(n - 1, step, *state) if n > 1 else state
    last = diagonal.fill(n - 1, (), "i32")

    def solve(i: Array, x: Array) -> list[Array]:
        place = last - i
        found = x.take(1, place) - upper.take(1, place) * x.take(1, place + 1)
        found = found - second.take(1, place) * x.take(1, place + 2)
        return [x.put(1, place, found / diagonal.take(1, place))]

    [found] = repeat(n, solve, concatenate([b, b.fill(0, (batch, 2, width))], 1))
    return [found.cut(1, 0, n)]


def factorize_symmetric(a: Array) -> list[Array]:
    """L and D of P A P^T = L D L^T in one lower triangle, and the rows that were exchanged.

    As LAPACK's sytf2 of the lower triangle of A: D has blocks of one row, and of two, for which the
    number of the row, from 1, is there twice and negative. A pivot of 0 is left as it is.
    """
    batch, n, _ = a.shape
    rows, columns = a.count(1, (batch, n, 1)), a.count(2, (batch, 1, n))
    lower = (_rows(a) >= _columns(a)).where(a, 0)
    whole = lower + (_rows(a) > _columns(a)).where(a, 0).transpose()
    single = a.fill(0, (batch, 1, 1), "i32")

    def step(i: Array, rest: Array, found: Array, pivots: Array, done: Array) -> list[Array]:
        j = (i + 1).apply("minimum", n - 1)
        is_done = done.ne(0)
        size = rest.take(1, i).take(2, i).abs()
        under = (rows > i).where(rest.take(2, i).abs(), -1)
        largest = under.max(1).apply("maximum", 0)
        place = under.eq(largest).where(rows, n).min(1)
        place = (place < n).where(place, i)
        row = _sum_chosen(rows.eq(place), rest, 0.0)
        beside = columns.ne(place).where((columns >= i).where(row.abs(), 0), 0).max(2)
        own = columns.eq(place).where(row, 0).sum(2).abs()
        ratio = largest / beside.eq(0).where(1, beside)
        stays = (size >= largest * _GROWTH).where(
            1, (size >= largest * _GROWTH * ratio).cast("i32")
        )
        is_moved = stays.eq(0)
        is_pair = is_done.where(0, is_moved.where((own < beside * _GROWTH).cast("i32"), 0)).ne(0)
        chosen = is_moved.where(place, i)
        here = is_pair.where(j, i)
        moved = _exchange(_exchange(rest, 1, here, chosen), 2, here, chosen)
        first, second = moved.take(2, i), moved.take(2, j)
        corner, across, end = (each.take(1, k) for each, k in ((first, i), (first, j), (second, j)))
        # A block of one row ...
        is_zero = corner.eq(0)
        scaled = (rows > i).where(first * (1 / is_zero.where(1, corner)), 0)
        alone = moved - scaled.times_transposed((rows > i).where(first, 0))
        # ... or of two.
        across = is_pair.where(across, 1)
        left, right = end / across, corner / across
        factor = 1 / is_pair.where(left * right - 1, 1) / across
        is_behind = rows > j
        one = is_behind.where((first * left - second) * factor, 0)
        two = is_behind.where((second * right - first) * factor, 0)
        both = moved - is_behind.where(first, 0).times_transposed(one)
        both = both - is_behind.where(second, 0).times_transposed(two)
        updated = is_done.where(rest, is_pair.where(both, alone))
        kept = found.take(2, i)
        column = rows.eq(i).where(corner, is_pair.where(rows.eq(j).where(across, one), scaled))
        found = found.put(2, i, is_done.where(kept, (rows >= i).where(column, 0)))
        column = rows.eq(j).where(end, two)
        found = found.put(2, j, is_pair.where(column, found.take(2, j)))
        number = is_pair.where(-(chosen + 1), chosen + 1)
        pivots = pivots.put(1, i, is_done.where(pivots.take(1, i), number))
        pivots = pivots.put(1, j, is_pair.where(number, pivots.take(1, j)))
        return [updated, found, pivots, is_pair.cast("i32")]

    state = whole, a.fill(0), a.fill(0, (batch, n, 1), "i32"), single
    _, found, pivots, _ = repeat(n, step, *state)
    return [found, pivots.reshape((batch, n))]


def solve_symmetric(factors: Array, pivots: Array, b: Array) -> list[Array]:
    """X of A X = B, by what `factorize_symmetric` gives, as LAPACK's sytrs."""
    batch, n, _ = factors.shape
    rows = factors.count(1, (batch, n, 1))
    pivots = pivots.reshape((batch, n, 1))
    single = factors.fill(0, (batch, 1, 1), "i32")
    last = factors.fill(n - 1, (), "i32")

    def eliminate(i: Array, x: Array, done: Array) -> list[Array]:
        j = (i + 1).apply("minimum", n - 1)
        is_done, pivot = done.ne(0), pivots.take(1, i)
        is_pair = is_done.where(0, (pivot < 0).cast("i32")).ne(0)
        moved = _exchange(x, 1, is_pair.where(j, i), pivot.abs() - 1)
        first, second = factors.take(2, i), factors.take(2, j)
        corner, across, end = (each.take(1, k) for each, k in ((first, i), (first, j), (second, j)))
        one, two = moved.take(1, i), moved.take(1, j)
        behind = rows > is_pair.where(j, i)
        rest = moved - behind.where(first, 0) @ one
        rest = rest - is_pair.where(behind.where(second, 0), 0) @ two
        across = is_pair.where(across, 1)
        left, right = corner / across, end / across
        factor = 1 / is_pair.where((left * right - 1) * across, corner)
        upper = is_pair.where(one * right - two, one) * factor
        rest = rows.eq(i).where(upper, rest)
        rest = is_pair.where(rows.eq(j).where((two * left - one) * factor, rest), rest)
        return [is_done.where(x, rest), is_pair.cast("i32")]

    def substitute(i: Array, x: Array, done: Array) -> list[Array]:
        place = last - i
        before = (place - 1).apply("maximum", 0)
        is_done, pivot = done.ne(0), pivots.take(1, place)
        is_pair = is_done.where(0, (pivot < 0).cast("i32")).ne(0)
        known = (rows > place).where(x, 0)
        one = x.take(1, place) - factors.take(2, place).transposed_times(known)
        two = x.take(1, before) - factors.take(2, before).transposed_times(known)
        rest = is_pair.where(rows.eq(before).where(two, x), x)
        rest = _exchange(rows.eq(place).where(one, rest), 1, place, pivot.abs() - 1)
        return [is_done.where(x, rest), is_pair.cast("i32")]

    x, _ = repeat(n, eliminate, b, single)
    x, _ = repeat(n, substitute, x, single)
    return [x]


def _exchange(x: Array, dim: int, here: Array, there: Array) -> Array:
    """Two rows or columns in each other's places, which each matrix of a batch has of its own."""
    shape = (x.shape[0], x.shape[1], 1) if dim == 1 else (x.shape[0], 1, x.shape[2])
    numbers = x.count(dim, shape)
    is_here, is_there = numbers.eq(here), numbers.eq(there)
    first, second = (each.where(x, 0).sum(dim) for each in (is_here, is_there))
    return is_here.where(second, is_there.where(first, x))


def _sum_chosen(is_chosen: Array, values: Array, zero: float) -> Array:
    return is_chosen.where(values, zero).sum(1)


def _rows(a: Array) -> Array:
    return a.count(1, a.shape)


def _columns(a: Array) -> Array:
    return a.count(2, a.shape)


def _identity(a: Array, columns: int) -> Array:
    """The first columns of an identity with as many rows as the matrices."""
    batch, m, _ = a.shape
    zeros = a.fill(0, (batch, m, columns))
    return _rows(zeros).eq(_columns(zeros)).where(1, zeros)


# -- eigenvalues and singular values ---------------------------------------------------------------

MAX_SWEEPS = 20
"""Most times that all pairs of rows are rotated; six to ten are enough for most matrices."""


def orthogonalize(x: Array, *, turned: bool, is_complex: bool = False) -> list[Array]:
    """The lengths and rows of G X, which are orthogonal to each other, the longest first, and G.

    G is orthogonal, and left out unless `turned`; its last row is then the last one of X if that is
    0. Jacobi's method with one-sided rotations (M. R.
    Hestenes, 1958): half of all pairs at a time, in the order of a tournament. The number of rows
    is even. Complex rows are their real parts and then their imaginary ones, in X and in G.
    """
    batch, n, width = x.shape
    half = n // 2
    sides = _beside_identity(x, is_complex=is_complex) if turned else x
    # Rows this short are noise beside the longest one.
    least = (n * x.epsilon) ** 2
    # Angles become their squares in a sweep.
    enough = x.fill(x.epsilon**0.7, ())

    def turn(_: Array, top: Array, low: Array, most: Array) -> list[Array]:
        a, b = top.cut(2, 0, width), low.cut(2, 0, width)
        alpha, beta, gamma = (a * a).sum(2), (b * b).sum(2), (a * b).sum(2)
        if is_complex:
            low, gamma = _align(top, low, width, gamma)
        shorter, longer = alpha.minimum(beta), alpha.maximum(beta)
        is_noise = shorter <= longer.max(1) * least
        size = gamma.abs() / is_noise.where(1, shorter.sqrt() * longer.sqrt())
        angle = is_noise.where(0, size).max(1).reshape((batch, 1)).max(0).reshape(())
        gap, double = beta - alpha, gamma * 2
        sign = (gap >= 0).where(double, -double)
        below = gap.abs() + (gap * gap + double * double).sqrt()
        tangent = sign / (below > 0).where(below, 1)
        cosine = tangent.fill(1) / (tangent * tangent + 1).sqrt()
        sine = cosine * tangent
        top, low = top * cosine - low * sine, top * sine + low * cosine
        if half > 1:
            # One row stays, the others go round.
            tops = [top.cut(1, 0, 1), low.cut(1, 0, 1), top.cut(1, 1, half - 1)]
            lows = [low.cut(1, 1, half), top.cut(1, half - 1, half)]
            top, low = (concatenate(each, 1) for each in (tops, lows))
        return [top, low, most.maximum(angle)]

    def sweep(_: Array, top: Array, low: Array, most: Array) -> list[Array]:
        return repeat(n - 1, turn, top, low, most * 0)

    def goes_on(_top: Array, _low: Array, most: Array) -> Array:
        return most > enough

    top, low = sides.cut(1, 0, half), sides.cut(1, half, n)
    top, low, _ = repeat(MAX_SWEEPS, sweep, top, low, enough * 2, goes_on=goes_on)
    sides = concatenate([top, low], 1)
    lengths = (sides.cut(2, 0, width) * sides.cut(2, 0, width)).sum(2).sqrt()
    if turned:
        # A row of zeros is never rotated: it goes behind others that have become 0.
        lengths = lengths - sides.cut(2, width + n - 1, width + n).eq(1).where(1, lengths * 0)
    sides = sides.sort_descending(lengths.broadcast(sides.shape), 1)
    rows = sides.cut(2, 0, width)
    lengths = (rows * rows).sum(2).sqrt()
    return [lengths, rows, *([sides.cut(2, width, sides.shape[2])] if turned else [])]


def _beside_identity(x: Array, *, is_complex: bool) -> Array:
    eye = _identity(x, x.shape[1])
    return concatenate([x, eye, eye * 0] if is_complex else [x, eye], 2)


def _align(top: Array, low: Array, width: int, real: Array) -> tuple[Array, Array]:
    """The lower complex rows, turned so that products with the upper ones are real, and these.

    Rows of X take `width` columns; `real` are the real parts of the products.
    """
    (a, b), (c, d) = _halves(top, 0, width), _halves(low, 0, width)
    imag = (a * d - b * c).sum(2)
    size = absolute(Complex(real, imag))
    is_none = size.eq(0)
    cosine = is_none.where(1, real / is_none.where(1, size))
    sine = imag / is_none.where(1, size)
    ends = [(0, width), (width, low.shape[2])]
    pairs = [_halves(low, *each) for each in ends if each[0] < each[1]]
    found = [each for c, d in pairs for each in (c * cosine + d * sine, d * cosine - c * sine)]
    return concatenate(found, 2), size


def _halves(rows: Array, begin: int, end: int) -> tuple[Array, Array]:
    middle = (begin + end) // 2
    return rows.cut(2, begin, middle), rows.cut(2, middle, end)


def find_symmetric_eigenvectors(a: Array) -> list[Array]:
    """The eigenvectors of symmetric matrices, as columns, and the eigenvalues, ascending.

    The lower triangle counts alone.
    The rows of A + 2 |A| are orthogonalized, of which no eigenvalue is near 0.
    """
    batch, n, _ = a.shape
    a = (_rows(a) >= _columns(a)).where(a, a.transpose())
    bound = a.abs().sum(2).max(1)
    is_zero = bound.eq(0)
    scaled = a / is_zero.where(1, bound)
    size = (scaled * scaled).sum(2).sum(1).sqrt()
    # Negated, so that the longest row belongs to the least eigenvalue.
    moved = _identity(a, n) * is_zero.where(2, size * 2) - scaled
    _, rows, *_ = orthogonalize(pad_rows(moved), turned=False)
    rows = rows.cut(1, 0, n)
    rows = rows / (rows * rows).sum(2).sqrt()
    # Of a vector with an error, the error of this is the square of it.
    values = ((rows @ scaled) * rows).sum(2) * -bound
    values = -values.sort_descending(values, 1)
    return [rows.transpose(), values.reshape((batch, n))]


def find_singular_vectors(a: Array, *, full: bool) -> list[Array]:
    """U, the singular values, descending, and V^T of matrices with no fewer rows than columns.

    U has as many columns as rows if `full`, else as many as A.
    """
    batch, m, n = a.shape
    scale, upper, factors, taus = _reduce_to_triangle(a)
    lengths, rows, turned = orthogonalize(pad_rows(upper), turned=True)
    rows, turned = rows.cut(1, 0, n), turned.cut(1, 0, n).cut(2, 0, n)
    values = lengths.cut(1, 0, n)
    # Rows are orthogonal but may be 0: their reflections make what is missing.
    columns = rows.transpose()
    triangle, more = factorize_by_reflections(columns)
    [right] = multiply_reflections(triangle, more)
    diagonal = _rows(triangle).eq(_columns(triangle)).where(triangle, 0).sum(1)
    right = right * (diagonal < 0).where(diagonal.fill(-1), 1)
    [q] = multiply_reflections(factors, taus, m if full else n)
    left = q.cut(2, 0, n) @ turned.transpose()
    if full and m > n:
        left = concatenate([left, q.cut(2, n, m)], 2)
    return [left, (values * scale).reshape((batch, n)), right.transpose()]


def find_singular_values(a: Array) -> list[Array]:
    """The singular values of matrices with no fewer rows than columns, descending."""
    batch, _, n = a.shape
    scale, upper, *_ = _reduce_to_triangle(a)
    lengths, *_ = orthogonalize(pad_rows(upper), turned=False)
    return [(lengths.cut(1, 0, n) * scale).reshape((batch, n))]


def _reduce_to_triangle(a: Array) -> tuple[Array, Array, Array, Array]:
    """The size of the elements, R of what is divided by it, and the reflections with factors."""
    bound = a.abs().max(2).max(1)
    scale = bound.eq(0).where(1, bound)
    factors, taus = factorize_by_reflections(a / scale)
    upper = factors.cut(1, 0, a.shape[2])
    upper = (_rows(upper) <= _columns(upper)).where(upper, 0)
    return scale, upper, factors, taus


def pad_rows(x: Array) -> Array:
    """With a row of zeros if their number is odd; it stays as it is, and is the last one."""
    batch, n, width = x.shape
    if n % 2 == 0:
        return x
    return concatenate([x, x.fill(0, (batch, 1, width))], 1)


# -- ragged products ---------------------------------------------------------------------------


def multiply_in_groups(
    lhs: Array,
    rhs: Array,
    sizes: Array,
    dims: Mapping[str, Shape],
    *,
    ragged: int,
    group: int | None,
    shape: Shape,
    dtype: str,
) -> Array:
    """Products of which dimension `ragged` of the left side is in groups of these sizes.

    In groups are rows of the left side, each of which meets the matrix of its group, which is along
    dimension `group` of the right side; or the terms of the sums, with one product for each group,
    the first dimension of the result; or batches, which need no groups. `dims` are the dimensions
    of a general product of both sides, `shape` and `dtype` those of the result. What is of other
    groups is multiplied as zeros.
    """
    batches, terms = dims["batch_dims_lhs"], dims["contract_dims_lhs"]
    if ragged in batches:
        return lhs.create("dot_general", rhs, shape=shape, dtype=dtype, parameters={**dims})
    is_term = ragged in terms
    assert is_term or group is not None, "rows in groups meet a matrix of each group"
    before = [dim for dim in range(ragged) if dim not in batches and (dim in terms) == is_term]
    masked = _mask_groups(lhs, sizes, ragged, [*batches, *before])
    # The groups are the first dimension of the left side now.
    groups, own = ((), ()) if is_term or group is None else ((0,), (group,))
    moved = {
        **dims,
        "batch_dims_lhs": tuple(dim + 1 for dim in batches),
        "contract_dims_lhs": (*groups, *(dim + 1 for dim in terms)),
        "contract_dims_rhs": (*own, *dims["contract_dims_rhs"]),
    }
    if not is_term:
        return masked.create("dot_general", rhs, shape=shape, dtype=dtype, parameters=moved)
    count = len(batches)
    made = [*shape[1 : count + 1], shape[0], *shape[count + 1 :]]
    found = masked.create("dot_general", rhs, shape=made, dtype=dtype, parameters=moved)
    return found.permute([count, *range(count), *range(count + 1, len(made))])


def _mask_groups(lhs: Array, sizes: Array, ragged: int, prefix: Sequence[int]) -> Array:
    """The left side for each group, which are a first dimension, with zeros for other groups.

    `prefix` are the dimensions of the left side that the sizes have before that of the groups.
    """
    groups = sizes.shape[-1]
    square = [*sizes.shape, groups]
    counted = [sizes.count(dim, square) for dim in (-1, -2)]
    rows = sizes.reshape([*sizes.shape[:-1], 1, groups]).broadcast(square)
    is_before = counted[0] <= counted[1]
    ends = is_before.where(rows, 0).sum(-1).reshape(sizes.shape)
    extents = [groups, *lhs.shape]
    if sizes.rank == 1:
        placed = [groups, *(1 for _ in lhs.shape)]
        spread = [each.reshape(placed) for each in (ends - sizes, ends)]
    else:
        last = sizes.rank - 1
        order = [last, *sorted(range(last), key=lambda place: prefix[place])]
        placed = [groups, *(n if dim in prefix else 1 for dim, n in enumerate(lhs.shape))]
        spread = [each.permute(order).reshape(placed) for each in (ends - sizes, ends)]
    starts, ends = (each.broadcast(extents) for each in spread)
    place = sizes.count(ragged + 1, extents)
    is_inside = (place >= starts) & (place < ends)
    return is_inside.where(lhs.broadcast(extents), 0)
