"""Discrete Fourier transforms as products with matrices.

A transform of n numbers is a product with an n x n matrix. If n has factors, it is one of many
transforms of n1 numbers, multiplied element by element, and many of n2 numbers (J. W. Cooley and J.
W. Tukey, "An Algorithm for the Machine Calculation of Complex Fourier Series", 1965). Long ones of
prime length are convolutions, computed by transforms of a length with factors (L. Bluestein, 1970).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ttmlir.arrays.array import Array, Shape, concatenate
from ttmlir.composites.complex_numbers import Complex

_DIRECT = 128
"""Up to this length one product is taken even if there are factors."""
_LONGEST_PRIME = 512
"""Up to this length one product is taken if there are none."""


def transform(
    x: Complex | Array, count: int, *, inverse: bool = False, factor: float = 1.0
) -> Complex:
    """The transform along `count` of the last dimensions, of complex or of real numbers.

    The inverse one only has the other sign; all numbers are multiplied with `factor`.
    """
    rank = len(_shape(x))
    found = _last(x, inverse=inverse, factor=factor)
    for dim in range(rank - count, rank - 1):
        found = _along(found, dim, inverse=inverse)
    return found


def transform_real(x: Array, count: int, *, factor: float = 1.0) -> Complex:
    """The transform of real numbers: of the last dimension, the part that says all."""
    n, rank = x.shape[-1], x.rank
    half = n // 2 + 1
    if _is_direct(n):
        matrix = _pair(_matrix(n, inverse=False)[:, :half] * factor, x)
        found = matrix.map(lambda part: _times(x, part))
    else:
        found = _last(x, inverse=False, factor=factor)
        found = found.map(lambda part: part.cut(rank - 1, 0, half))
    for dim in range(rank - count, rank - 1):
        found = _along(found, dim, inverse=False)
    return found


def invert_to_real(x: Complex, count: int, n: int, *, factor: float) -> Array:
    """Real numbers from the part of their transform that says all.

    `n` is the extent of the last dimension; numbers are multiplied with `factor`.
    """
    rank = x.real.rank
    for dim in range(rank - count, rank - 1):
        x = _along(x, dim, inverse=True)
    # What is left out are the conjugates of what is there, in the other order.
    first, last = (1, n // 2 + 1) if n % 2 else (1, n // 2)
    if _is_direct(n):
        rows = _matrix(n, inverse=True)[: n // 2 + 1] * factor
        rows[first:last] *= 2
        matrix = _pair(rows, x.real)
        return _times(x.real, matrix.real) - _times(x.imag, matrix.imag)
    rest = x.map(lambda part: part.cut(rank - 1, first, last).reverse(-1)).conjugate()
    x = Complex(
        concatenate([x.real, rest.real], rank - 1), concatenate([x.imag, rest.imag], rank - 1)
    )
    return _last(x, inverse=True, factor=factor).real


def _along(x: Complex, dim: int, *, inverse: bool) -> Complex:
    rank = x.real.rank
    order = [*(i for i in range(rank) if i != dim), dim]
    back = [order.index(i) for i in range(rank)]
    found = _last(x.map(lambda part: part.permute(order)), inverse=inverse)
    return found.map(lambda part: part.permute(back))


def _last(x: Complex | Array, *, inverse: bool, factor: float = 1.0) -> Complex:
    """The transform of the last dimension, times a factor."""
    n = _shape(x)[-1]
    if _is_direct(n):
        return _product(x, inverse=inverse, factor=factor)
    divisor = _divisor(n)
    if divisor > 1:
        return _divide(x, divisor, n // divisor, inverse=inverse, factor=factor)
    if isinstance(x, Array):
        x = Complex(x, x.fill(0))
    return _convolve(x, inverse=inverse, factor=factor)


def _product(x: Complex | Array, *, inverse: bool, factor: float) -> Complex:
    circle = _matrix(_shape(x)[-1], inverse=inverse) * factor
    if isinstance(x, Array):
        return _pair(circle, x).map(lambda part: _times(x, part))
    matrix = _pair(circle, x.real)
    return Complex(
        _times(x.real, matrix.real) - _times(x.imag, matrix.imag),
        _times(x.real, matrix.imag) + _times(x.imag, matrix.real),
    )


def _divide(x: Complex | Array, n1: int, n2: int, *, inverse: bool, factor: float) -> Complex:
    """Number n2 * i + j becomes number k + n1 * l."""
    shape = _shape(x)

    def divide(part: Array) -> Array:
        return part.reshape((*shape[:-1], n1, n2)).transpose()

    columns = x.map(divide) if isinstance(x, Complex) else divide(x)
    # Behind this, j is in front of k.
    found = _last(columns, inverse=inverse)
    turns = np.outer(np.arange(n2), np.arange(n1)) / (n1 * n2)
    factors = _pair(_circle(turns, inverse=inverse) * factor, found.real)
    found = found * _widen(factors, len(shape) + 1)
    found = _last(found.map(Array.transpose), inverse=inverse).map(Array.transpose)
    return found.map(lambda part: part.reshape(shape))


def _convolve(x: Complex, *, inverse: bool, factor: float) -> Complex:
    """j * k is (j² + k² - (k - j)²) / 2: factors before and behind a convolution."""
    rank, n = x.real.rank, x.real.shape[-1]
    length = 1 << (2 * n - 2).bit_length()
    squares = np.arange(n, dtype=object) ** 2 % (2 * n)
    turns = squares.astype(np.float64) / (2 * n)
    chirp = _circle(turns, inverse=inverse)
    kernel = np.zeros(length, np.complex128)
    kernel[:n] = chirp.conj()
    kernel[-(n - 1) :] = chirp.conj()[:0:-1]
    spectrum = np.fft.fft(kernel)
    around = _widen(_pair(chirp, x.real), rank)
    margins = [(0, 0)] * (rank - 1) + [(0, length - n)]
    wide = (x * around).map(lambda part: part.pad(margins, 0))
    factors = _widen(_pair(spectrum * (factor / length), x.real), rank)
    back = _last(_last(wide, inverse=False) * factors, inverse=True)
    return back.map(lambda part: part.cut(rank - 1, 0, n)) * around


# -- matrices --------------------------------------------------------------------------------------


def _pair(numbers: NDArray[np.complex128], like: Array) -> Complex:
    return Complex(like.constant(numbers.real), like.constant(numbers.imag))


def _widen(x: Complex, rank: int) -> Complex:
    """The same with as many dimensions, ones in front."""
    shape = (1,) * (rank - x.real.rank) + x.real.shape
    return x.map(lambda part: part.reshape(shape))


def _times(x: Array, matrix: Array) -> Array:
    """The rows of the last dimension, times a matrix."""
    rows = x.reshape((math.prod(x.shape[:-1]), x.shape[-1]))
    return (rows @ matrix).reshape((*x.shape[:-1], matrix.shape[1]))


def _divisor(n: int) -> int:
    """The largest divisor that is no larger than the root."""
    return max((d for d in range(2, math.isqrt(n) + 1) if n % d == 0), default=1)


def _is_direct(n: int) -> bool:
    """True for lengths for which one product is taken."""
    return n <= _DIRECT or (n <= _LONGEST_PRIME and _divisor(n) == 1)


def _matrix(n: int, *, inverse: bool) -> NDArray[np.complex128]:
    # Of whole numbers, so that angles are exact.
    return _circle(np.outer(np.arange(n), np.arange(n)) % n / n, inverse=inverse)


def _circle(turns: NDArray[np.float64], *, inverse: bool) -> NDArray[np.complex128]:
    """Numbers on the unit circle after some turns, the other way round for the inverse.

    Quarters are exact: sums that have no imaginary part have none, so that their angles are right.
    """
    sign = 1 if inverse else -1
    numbers = np.exp(sign * 2j * np.pi * turns)
    quarters = np.rint(turns * 4)
    exact = np.array([1, complex(0, sign), -1, complex(0, -sign)])[quarters.astype(np.int64) % 4]
    return np.where(turns * 4 == quarters, exact, numbers)


def _shape(x: Complex | Array) -> Shape:
    return x.shape if isinstance(x, Array) else x.real.shape
