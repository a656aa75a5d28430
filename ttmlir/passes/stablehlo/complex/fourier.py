"""Discrete Fourier transforms as products with matrices.

A transform of n numbers is a product with an n x n matrix. If n has factors, it is one of many
transforms of n1 numbers, multiplied element by element, and many of n2 numbers (J. W. Cooley and J.
W. Tukey, "An Algorithm for the Machine Calculation of Complex Fourier Series", 1965). Long ones of
prime length are convolutions, computed by transforms of a length with factors (L. Bluestein, 1970).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import Float64Type, TensorType
from xdsl.ir import SSAValue

from ttmlir.ir.tensor_types import element_type, tensor_like, value_shape
from ttmlir.mlir.attributes.elements import elements_attr
from ttmlir.passes.stablehlo.complex.parts import Arithmetic, Parts

_DIRECT = 128
"""Up to this length one product is taken even if there are factors."""
_LONGEST_PRIME = 512
"""Up to this length one product is taken if there are none."""


class Fourier:
    """Transforms of pairs of real tensors along their last dimensions."""

    def __init__(self, arithmetic: Arithmetic) -> None:
        """Compute with the operations of `arithmetic`."""
        self._do = arithmetic
        self._build = arithmetic.build

    def transform(
        self, x: Parts | SSAValue, count: int, *, inverse: bool = False, factor: float = 1.0
    ) -> Parts:
        """The transform along `count` of the last dimensions, of both parts or of real numbers.

        The inverse one only has the other sign; all numbers are multiplied with `factor`.
        """
        rank = len(_shape(x))
        found = self._last(x, inverse=inverse, factor=factor)
        for dim in range(rank - count, rank - 1):
            found = self._along(found, dim, inverse=inverse)
        return found

    def transform_real(self, x: SSAValue, count: int, *, factor: float = 1.0) -> Parts:
        """The transform of real numbers: of the last dimension, the part that says all."""
        n = value_shape(x)[-1]
        half = n // 2 + 1
        rank = len(value_shape(x))
        if _is_direct(n):
            matrix = self._pair(_matrix(n, inverse=False)[:, :half] * factor, x)
            found = matrix.map(lambda part: self._times(x, part))
        else:
            found = self._last(x, inverse=False, factor=factor)
            found = found.map(lambda part: self._build.slice_along(part, rank - 1, 0, half))
        for dim in range(rank - count, rank - 1):
            found = self._along(found, dim, inverse=False)
        return found

    def invert_to_real(self, x: Parts, count: int, n: int, *, factor: float) -> SSAValue:
        """Real numbers from the part of their transform that says all.

        `n` is the extent of the last dimension; numbers are multiplied with `factor`.
        """
        rank = len(value_shape(x.real))
        for dim in range(rank - count, rank - 1):
            x = self._along(x, dim, inverse=True)
        # What is left out are the conjugates of what is there, in the other order.
        first, last = (1, n // 2 + 1) if n % 2 else (1, n // 2)
        if _is_direct(n):
            rows = _matrix(n, inverse=True)[: n // 2 + 1] * factor
            rows[first:last] *= 2
            matrix = self._pair(rows, x.real)
            return self._do.apply(
                "subtract", self._times(x.real, matrix.real), self._times(x.imag, matrix.imag)
            )
        rest = x.map(lambda part: self._build.slice_along(part, rank - 1, first, last))
        turned = self._do.conjugate(rest.map(self._reverse))
        real = self._build.concat([x.real, turned.real], rank - 1)
        x = Parts(real, self._build.concat([x.imag, turned.imag], rank - 1))
        return self._last(x, inverse=True, factor=factor).real

    def _reverse(self, value: SSAValue) -> SSAValue:
        last = len(value_shape(value)) - 1
        return self._build.create("reverse", (value,), value.type, dimensions=(last,))

    def _along(self, x: Parts, dim: int, *, inverse: bool) -> Parts:
        rank = len(value_shape(x.real))
        order = [*(i for i in range(rank) if i != dim), dim]
        back = [order.index(i) for i in range(rank)]
        moved = x.map(lambda part: self._build.permute(part, order))
        found = self._last(moved, inverse=inverse)
        return found.map(lambda part: self._build.permute(part, back))

    def _last(self, x: Parts | SSAValue, *, inverse: bool, factor: float = 1.0) -> Parts:
        """The transform of the last dimension, times a factor; of both parts or real numbers."""
        n = _shape(x)[-1]
        if _is_direct(n):
            return self._product(x, inverse=inverse, factor=factor)
        divisor = _divisor(n)
        if divisor > 1:
            return self._divide(x, divisor, n // divisor, inverse=inverse, factor=factor)
        if not isinstance(x, Parts):
            x = Parts(x, self._do.fill(0, x))
        return self._convolve(x, inverse=inverse, factor=factor)

    def _product(self, x: Parts | SSAValue, *, inverse: bool, factor: float) -> Parts:
        circle = _matrix(_shape(x)[-1], inverse=inverse) * factor
        times, apply = self._times, self._do.apply
        if not isinstance(x, Parts):
            return self._pair(circle, x).map(lambda part: times(x, part))
        matrix = self._pair(circle, x.real)
        return Parts(
            apply("subtract", times(x.real, matrix.real), times(x.imag, matrix.imag)),
            apply("add", times(x.real, matrix.imag), times(x.imag, matrix.real)),
        )

    def _divide(
        self, x: Parts | SSAValue, n1: int, n2: int, *, inverse: bool, factor: float
    ) -> Parts:
        """Number n2 * i + j becomes number k + n1 * l."""
        shape = _shape(x)
        rank = len(shape)
        swap = (*range(rank - 1), rank, rank - 1)

        def turn(part: SSAValue) -> SSAValue:
            return self._build.permute(part, swap)

        def divide(part: SSAValue) -> SSAValue:
            return turn(self._build.reshape(part, (*shape[:-1], n1, n2)))

        columns = x.map(divide) if isinstance(x, Parts) else divide(x)
        # Behind this, j is in front of k.
        found = self._last(columns, inverse=inverse)
        turns = np.outer(np.arange(n2), np.arange(n1)) / (n1 * n2)
        factors = self._pair(_circle(turns, inverse=inverse) * factor, found.real)
        found = self._do.multiply(found, self._widen(factors, rank + 1))
        found = self._last(found.map(turn), inverse=inverse).map(turn)
        return found.map(lambda part: self._build.reshape(part, shape))

    def _convolve(self, x: Parts, *, inverse: bool, factor: float) -> Parts:
        """j * k is (j² + k² - (k - j)²) / 2: factors before and behind a convolution."""
        shape = value_shape(x.real)
        n, rank = shape[-1], len(shape)
        length = 1 << (2 * n - 2).bit_length()
        squares = np.arange(n, dtype=object) ** 2 % (2 * n)
        turns = squares.astype(np.float64) / (2 * n)
        chirp = _circle(turns, inverse=inverse)
        kernel = np.zeros(length, np.complex128)
        kernel[:n] = chirp.conj()
        kernel[-(n - 1) :] = chirp.conj()[:0:-1]
        spectrum = np.fft.fft(kernel)
        around = self._widen(self._pair(chirp, x.real), rank)
        margins = [(0, 0)] * (rank - 1) + [(0, length - n)]
        product = self._do.multiply(x, around)
        wide = product.map(lambda part: self._build.pad(part, margins, 0))
        factors = self._widen(self._pair(spectrum * (factor / length), x.real), rank)
        moved = self._do.multiply(self._last(wide, inverse=False), factors)
        back = self._last(moved, inverse=True)
        cut = back.map(lambda part: self._build.slice_along(part, rank - 1, 0, n))
        return self._do.multiply(cut, around)

    # -- matrices ------------------------------------------------------------------------------

    def _pair(self, numbers: NDArray[np.complex128], like: SSAValue) -> Parts:
        element = element_type(like)
        dtype = np.float64 if isinstance(element, Float64Type) else np.float32
        type_: Any = TensorType(element, numbers.shape)

        def create(part: NDArray[np.float64]) -> SSAValue:
            elements = elements_attr(type_, part.astype(dtype).tobytes())
            return self._build.create_constant(elements, type_)

        return Parts(create(numbers.real), create(numbers.imag))

    def _widen(self, parts: Parts, rank: int) -> Parts:
        """The same with as many dimensions, ones in front."""
        shape = value_shape(parts.real)
        widened = (1,) * (rank - len(shape)) + shape
        return parts.map(lambda part: self._build.reshape(part, widened))

    def _times(self, x: SSAValue, matrix: SSAValue) -> SSAValue:
        """The rows of the last dimension, times a matrix."""
        shape = value_shape(x)
        rows = self._build.reshape(x, (math.prod(shape[:-1]), shape[-1]))
        columns = value_shape(matrix)[1]
        type_ = tensor_like(rows, (value_shape(rows)[0], columns))
        found = self._build.create("matmul", (rows, matrix), type_)
        return self._build.reshape(found, (*shape[:-1], columns))


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
    """Numbers on the unit circle after some turns, the other way round for the inverse."""
    sign = 1 if inverse else -1
    return np.exp(sign * 2j * np.pi * turns)


def _shape(x: Parts | SSAValue) -> tuple[int, ...]:
    return value_shape(x.real if isinstance(x, Parts) else x)
