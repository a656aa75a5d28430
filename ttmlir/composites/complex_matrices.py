"""Batches of matrices of complex numbers: products, factorizations, singular values.

The factorizations are those of `linear_algebra`, step by step.
"""

from __future__ import annotations

from collections.abc import Callable

from ttmlir.arrays.array import Array, concatenate, repeat
from ttmlir.composites.complex_numbers import Complex, is_not_zero
from ttmlir.composites.linear_algebra import orthogonalize, pad_rows


def product(a: Complex, b: Complex) -> Complex:
    """The products of batches of matrices."""
    return Complex(a.real @ b.real - a.imag @ b.imag, a.real @ b.imag + a.imag @ b.real)


def adjoint(a: Complex) -> Complex:
    """The conjugated transposed matrices."""
    return Complex(a.real.transpose(), -a.imag.transpose())


def chosen(is_chosen: Array, a: Complex, dim: int) -> Complex:
    """The sums of chosen elements along a dimension, which stays."""
    return a.map(lambda part: is_chosen.where(part, 0).sum(dim))


def scaled(a: Complex, factor: Array) -> Complex:
    """It times real numbers."""
    return a.map(lambda part: part * factor)


def taking(dim: int, place: Array) -> Callable[[Array], Array]:
    """The function that takes the part at a place along a dimension."""
    return lambda part: part.take(dim, place)


def find_cholesky(a: Complex) -> Complex:
    """L of A = L L^H, of the lower triangle of A; NaN everywhere if A is not positive definite."""
    n = a.real.shape[1]
    rows, columns = a.real.count(1, a.real.shape), a.real.count(2, a.real.shape)

    def step(i: Array, *state: Array) -> list[Array]:
        rest = Complex(*state[:2])
        # A diagonal is real.
        root = rest.real.take(1, i).take(2, i).sqrt()
        column = rest.map(lambda part: part.take(2, i) / root)
        rest = rest - product(column, adjoint(column))
        put = (part.put(2, i, new) for part, new in zip(state[2:], parts(column), strict=True))
        return [*parts(rest), *put]

    zero = a.real.fill(0)
    found = Complex(*repeat(n, step, *parts(a), zero, zero)[2:])
    found = found.where(rows < columns, 0)
    wrong = ((found.real + found.imag) * 0).sum(2).sum(1)
    return found.map(lambda part: part + wrong)


def solve_triangular(a: Complex, b: Complex, *, lower: bool, unit: bool) -> Complex:
    """X of A X = B, of one triangle of A; with `unit`, 1 is on its diagonal."""
    n = a.real.shape[1]
    rows, columns = a.real.count(1, a.real.shape), a.real.count(2, a.real.shape)
    strict = a.where(rows <= columns if lower else rows >= columns, 0)
    last = a.real.fill(n - 1, (), "i32")

    def step(i: Array, *state: Array) -> list[Array]:
        x = Complex(*state)
        place = i if lower else last - i
        row = x.map(taking(1, place))
        if not unit:
            row = row / a.map(lambda part: part.take(1, place).take(2, place))
        x = x - product(strict.map(taking(2, place)), row)
        return [x.real.put(1, place, row.real), x.imag.put(1, place, row.imag)]

    return Complex(*repeat(n, step, *parts(b)))


def factorize_by_elimination(a: Complex) -> tuple[Complex, Array, Array]:
    """L and U in one matrix, the row that each was exchanged with, and the order of the rows.

    The largest sum of the sizes of both parts is the next pivot, as in LAPACK.
    """
    batch, m, n = a.real.shape
    count = min(m, n)
    rows, columns = a.real.count(1, (batch, m, 1)), a.real.count(2, (batch, 1, n))

    def step(i: Array, *state: Array) -> list[Array]:
        x, (pivots, order) = Complex(*state[:2]), state[2:]
        column = x.map(taking(2, i))
        size = (rows >= i).where(column.real.abs() + column.imag.abs(), -1)
        pivot = size.eq(size.max(1)).where(rows, m).min(1)
        pivot = (pivot < m).where(pivot, i)
        is_here, is_there = rows.eq(i), rows.eq(pivot)
        there = chosen(is_there, x, 1)
        here = x.map(taking(1, i))
        x = Complex(
            *(
                is_here.where(new, is_there.where(old, part))
                for new, old, part in zip(parts(there), parts(here), parts(x), strict=True)
            )
        )
        moved = is_there.where(order, 0).sum(1)
        order = is_here.where(moved, is_there.where(order.take(1, i), order))
        value = x.map(lambda part: part.take(1, i).take(2, i))
        is_value = is_not_zero(value)
        divisor = Complex(is_value.where(value.real, 1), value.imag)
        column = x.map(taking(2, i))
        below = column / divisor
        multiples = below.map(lambda part: (rows > i).where(part, 0))
        rest = x.map(lambda part: (columns > i).where(part.take(1, i), 0))
        stored = Complex(
            (rows > i).where(below.real, column.real), (rows > i).where(below.imag, column.imag)
        )
        x = x - product(multiples, rest)
        return [
            x.real.put(2, i, stored.real),
            x.imag.put(2, i, stored.imag),
            pivots.put(1, i, pivot),
            order,
        ]

    pivots = a.real.fill(0, (batch, count, 1), "i32")
    real, imag, pivots, order = repeat(count, step, *parts(a), pivots, rows)
    return Complex(real, imag), pivots.reshape((batch, count)), order.reshape((batch, m))


def factorize_by_reflections(a: Complex) -> tuple[Complex, Complex]:
    """R in the upper triangle, reflections below it, and their factors, as LAPACK's geqrf.

    The diagonal of R is real.
    """
    batch, m, n = a.real.shape
    count = min(m, n)
    rows, columns = a.real.count(1, (batch, m, 1)), a.real.count(2, (batch, 1, n))
    none = a.real.fill(0, (batch, count, 1))

    def step(i: Array, *state: Array) -> list[Array]:
        x, factors = Complex(*state[:2]), state[2:]
        column = x.map(taking(2, i))
        alpha = column.map(taking(1, i))
        tail = column.where(rows <= i, 0)
        square = _squares(tail).sum(1) + alpha.imag * alpha.imag
        norm = (alpha.real * alpha.real + square).sqrt()
        is_flat = square.eq(0)
        beta = is_flat.where(alpha.real, (alpha.real >= 0).where(-norm, norm))
        scale = is_flat.where(1, beta)
        factor = Complex((beta - alpha.real) / scale, -alpha.imag / scale)
        below = tail / Complex(is_flat.where(1, alpha.real - beta), alpha.imag)
        v = Complex(rows.eq(i).where(1, below.real), below.imag)
        rest = product(adjoint(v), x) * factor.conjugate()
        x = x - product(v, rest.where(columns <= i, 0))
        is_under = rows > i
        real = is_under.where(below.real, rows.eq(i).where(beta, column.real))
        imag = is_under.where(below.imag, rows.eq(i).where(0, column.imag))
        put = (part.put(1, i, new) for part, new in zip(factors, parts(factor), strict=True))
        return [x.real.put(2, i, real), x.imag.put(2, i, imag), *put]

    found = repeat(count, step, *parts(a), none, none)
    return Complex(*found[:2]), Complex(*found[2:])


def multiply_reflections(a: Complex, factors: Complex, columns: int) -> Complex:
    """So many columns of the product of the reflections that `factorize_by_reflections` gives."""
    batch, m, _ = a.real.shape
    count = factors.real.shape[1]
    rows = a.real.count(1, (batch, m, 1))
    last = a.real.fill(count - 1, (), "i32")
    zeros = a.real.fill(0, (batch, m, columns))
    eye = zeros.count(1, zeros.shape).eq(zeros.count(2, zeros.shape)).where(1, zeros)

    def step(i: Array, *state: Array) -> list[Array]:
        q, place = Complex(*state), last - i
        tail = a.map(taking(2, place)).where(rows <= place, 0)
        v = Complex(rows.eq(place).where(1, tail.real), tail.imag)
        return parts(q - product(v, product(adjoint(v), q) * factors.map(taking(1, place))))

    return Complex(*repeat(count, step, eye, zeros))


def find_hermitian_eigenvectors(a: Complex) -> list[Array]:
    """Both parts of the eigenvectors, as columns, and the eigenvalues, ascending.

    As `linear_algebra.find_symmetric_eigenvectors`: the lower triangle counts alone.
    """
    batch, n, _ = a.real.shape
    rows, columns = a.real.count(1, a.real.shape), a.real.count(2, a.real.shape)
    imag = (rows > columns).where(a.imag, (rows < columns).where(-a.imag.transpose(), 0))
    a = Complex((rows >= columns).where(a.real, a.real.transpose()), imag)
    bound = (a.real.abs() + a.imag.abs()).sum(2).max(1)
    is_zero = bound.eq(0)
    small = a.map(lambda part: part / is_zero.where(1, bound))
    size = _squares(small).sum(2).sum(1).sqrt()
    moved = rows.eq(columns).where(is_zero.where(2, size * 2), 0) - small.real
    _, found = _orthogonalize(Complex(moved, -small.imag), turned=False)
    vectors = found[0].map(lambda part: part / _squares(found[0]).sum(2).sqrt())
    image = product(vectors, small)
    values = (image.real * vectors.real + image.imag * vectors.imag).sum(2) * -bound
    values = -values.sort_descending(values, 1)
    return [*parts(adjoint(vectors)), values.reshape((batch, n))]


def find_singular_vectors(a: Complex, *, full: bool) -> list[Array]:
    """Both parts of U and of V^H, and the singular values between them, descending.

    As `linear_algebra.find_singular_vectors`, of matrices with no fewer rows than columns.
    """
    batch, m, n = a.real.shape
    scale, upper, factors, taus = _reduce_to_triangle(a)
    lengths, (rows, turned) = _orthogonalize(upper, turned=True)
    # Rows are orthogonal but may be 0: their reflections make what is missing.
    triangle, more = factorize_by_reflections(adjoint(rows))
    right = multiply_reflections(triangle, more, n)
    diagonal = _diagonal(triangle.real)
    right = scaled(right, (diagonal < 0).where(diagonal.fill(-1), 1))
    q = multiply_reflections(factors, taus, m if full else n)
    left = product(q.map(lambda part: part.cut(2, 0, n)), adjoint(turned))
    if full and m > n:
        pairs = zip(parts(left), parts(q), strict=True)
        left = Complex(*(concatenate([a, b.cut(2, n, m)], 2) for a, b in pairs))
    values = (lengths * scale).reshape((batch, n))
    return [*parts(left), values, *parts(adjoint(right))]


def find_singular_values(a: Complex) -> list[Array]:
    """The singular values of matrices with no fewer rows than columns, descending."""
    batch, _, n = a.real.shape
    scale, upper, *_ = _reduce_to_triangle(a)
    lengths, _ = _orthogonalize(upper, turned=False)
    return [(lengths * scale).reshape((batch, n))]


def _reduce_to_triangle(a: Complex) -> tuple[Array, Complex, Complex, Complex]:
    """The size of the elements, R of what is divided by it, and the reflections with factors."""
    n = a.real.shape[2]
    bound = a.real.abs().maximum(a.imag.abs()).max(2).max(1)
    scale = bound.eq(0).where(1, bound)
    factors, taus = factorize_by_reflections(a.map(lambda part: part / scale))
    upper = factors.map(lambda part: part.cut(1, 0, n))
    shape = upper.real.shape
    is_below = upper.real.count(1, shape) > upper.real.count(2, shape)
    return scale, upper.where(is_below, 0), factors, taus


def _orthogonalize(x: Complex, *, turned: bool) -> tuple[Array, list[Complex]]:
    """The lengths of the rows of G X, which are orthogonal, these rows, and G if `turned`."""
    n = x.real.shape[1]
    rows = pad_rows(concatenate(parts(x), 2))
    lengths, *found = orthogonalize(rows, turned=turned, is_complex=True)
    halves = [
        Complex(each.cut(2, 0, each.shape[2] // 2), each.cut(2, each.shape[2] // 2, each.shape[2]))
        for each in found
    ]
    cut = [each.map(lambda part: part.cut(1, 0, n).cut(2, 0, n)) for each in halves]
    return lengths.cut(1, 0, n), cut


def _squares(x: Complex) -> Array:
    """The squares of the absolute values."""
    return x.real * x.real + x.imag * x.imag


def _diagonal(x: Array) -> Array:
    """The diagonal as a row."""
    return x.count(1, x.shape).eq(x.count(2, x.shape)).where(x, 0).sum(1)


def parts(*values: Complex) -> list[Array]:
    """The real and imaginary parts, one after the other."""
    return [part for each in values for part in (each.real, each.imag)]
