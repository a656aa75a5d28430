"""Batches of matrices of complex numbers: products and factorizations.

The factorizations are those of `linear_algebra`, step by step.
"""

from __future__ import annotations

from collections.abc import Callable

from ttmlir.arrays.array import Array, repeat
from ttmlir.composites.complex_numbers import Complex, is_not_zero


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


def parts(*values: Complex) -> list[Array]:
    """The real and imaginary parts, one after the other."""
    return [part for each in values for part in (each.real, each.imag)]
