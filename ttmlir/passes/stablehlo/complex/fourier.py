"""Discrete Fourier transforms as products with matrices.

A transform of n numbers is a product with an n x n matrix. If n has factors, it is one of many
transforms of n1 numbers, multiplied element by element, and many of n2 numbers (J. W. Cooley and J.
W. Tukey, "An Algorithm for the Machine Calculation of Complex Fourier Series", 1965). Long ones of
prime length are convolutions, computed by transforms of a length with factors (L. Bluestein, 1970).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
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

    def transform(self, x: Parts, lengths: Sequence[int], *, inverse: bool = False) -> Parts:
        """The transform along as many of the last dimensions as there are lengths."""
        rank = len(value_shape(x.real))
        for dim in range(rank - len(lengths), rank):
            x = self._along(x, dim, inverse=inverse)
        if not inverse:
            return x
        share = 1 / math.prod(lengths)
        return x.map(lambda part: self._do.scale(part, share))

    def transform_real(self, x: SSAValue, lengths: Sequence[int]) -> Parts:
        """The transform of real numbers: of the last dimension, the part that says all."""
        half = lengths[-1] // 2 + 1
        rank = len(value_shape(x))
        found = self._last(Parts(x, self._do.fill(0, x)), inverse=False)
        found = found.map(lambda part: self._build.slice_along(part, rank - 1, 0, half))
        for dim in range(rank - len(lengths), rank - 1):
            found = self._along(found, dim, inverse=False)
        return found

    def invert_to_real(self, x: Parts, lengths: Sequence[int]) -> SSAValue:
        """The real numbers that have a transform."""
        rank = len(value_shape(x.real))
        for dim in range(rank - len(lengths), rank - 1):
            x = self._along(x, dim, inverse=True)
        n = lengths[-1]
        # What is left out are the conjugates of what is there, in the other order.
        first, last = (1, n // 2 + 1) if n % 2 else (1, n // 2)
        if last > first:
            rest = x.map(lambda part: self._build.slice_along(part, rank - 1, first, last))
            turned = self._do.conjugate(rest.map(self._reverse))
            real = self._build.concat([x.real, turned.real], rank - 1)
            x = Parts(real, self._build.concat([x.imag, turned.imag], rank - 1))
        found = self._last(x, inverse=True)
        return self._do.scale(found.real, 1 / math.prod(lengths))

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

    def _last(self, x: Parts, *, inverse: bool) -> Parts:
        """The transform of the last dimension, without the factor of the inverse one."""
        n = value_shape(x.real)[-1]
        factor = max((d for d in range(2, math.isqrt(n) + 1) if n % d == 0), default=1)
        if n <= _DIRECT or (factor == 1 and n <= _LONGEST_PRIME):
            return self._product(x, inverse=inverse)
        if factor == 1:
            return self._convolve(x, inverse=inverse)
        return self._divide(x, factor, n // factor, inverse=inverse)

    def _product(self, x: Parts, *, inverse: bool) -> Parts:
        n = value_shape(x.real)[-1]
        # Of whole numbers, so that angles are exact.
        turns = np.outer(np.arange(n), np.arange(n)) % n
        matrix = self._circle(turns / n, x.real, inverse=inverse)
        rows, times, apply = x.map(self._rows), self._times, self._do.apply
        found = Parts(
            apply("subtract", times(rows.real, matrix.real), times(rows.imag, matrix.imag)),
            apply("add", times(rows.real, matrix.imag), times(rows.imag, matrix.real)),
        )
        return found.map(lambda part: self._build.reshape(part, value_shape(x.real)))

    def _divide(self, x: Parts, n1: int, n2: int, *, inverse: bool) -> Parts:
        """Number n2 * i + j becomes number k + n1 * l."""
        shape = value_shape(x.real)
        outer = shape[:-1]
        rank = len(shape)
        swap = (*range(rank - 1), rank, rank - 1)

        def turn(parts: Parts) -> Parts:
            return parts.map(lambda part: self._build.permute(part, swap))

        columns = turn(x.map(lambda part: self._build.reshape(part, (*outer, n1, n2))))
        # Behind this, j is in front of k.
        found = self._last(columns, inverse=inverse)
        turns = np.outer(np.arange(n2), np.arange(n1)) / (n1 * n2)
        factors = self._circle(turns, x.real, inverse=inverse)
        found = self._do.multiply(found, self._widen(factors, rank + 1))
        found = turn(self._last(turn(found), inverse=inverse))
        return found.map(lambda part: self._build.reshape(part, shape))

    def _convolve(self, x: Parts, *, inverse: bool) -> Parts:
        """j * k is (j² + k² - (k - j)²) / 2: factors before and behind a convolution."""
        shape = value_shape(x.real)
        n, rank = shape[-1], len(shape)
        length = 1 << (2 * n - 2).bit_length()
        squares = np.arange(n, dtype=object) ** 2 % (2 * n)
        turns = squares.astype(np.float64) / (2 * n)
        sign = 1 if inverse else -1
        chirp = np.exp(sign * 2j * np.pi * turns)
        kernel = np.zeros(length, np.complex128)
        kernel[:n] = chirp.conj()
        kernel[-(n - 1) :] = chirp.conj()[:0:-1]
        spectrum = np.fft.fft(kernel)
        around = self._widen(self._pair(chirp, x.real), rank)
        margins = [(0, 0)] * (rank - 1) + [(0, length - n)]
        product = self._do.multiply(x, around)
        wide = product.map(lambda part: self._build.pad(part, margins, 0))
        factors = self._widen(self._pair(spectrum / length, x.real), rank)
        moved = self._do.multiply(self._last(wide, inverse=False), factors)
        back = self._last(moved, inverse=True)
        cut = back.map(lambda part: self._build.slice_along(part, rank - 1, 0, n))
        return self._do.multiply(cut, around)

    # -- matrices ------------------------------------------------------------------------------

    def _circle(self, turns: NDArray[np.float64], like: SSAValue, *, inverse: bool) -> Parts:
        """Numbers on the unit circle after some turns, the other way round for the inverse."""
        sign = 1 if inverse else -1
        return self._pair(np.exp(sign * 2j * np.pi * turns), like)

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

    def _rows(self, value: SSAValue) -> SSAValue:
        shape = value_shape(value)
        return self._build.reshape(value, (math.prod(shape[:-1]), shape[-1]))

    def _times(self, rows: SSAValue, matrix: SSAValue) -> SSAValue:
        shape = (value_shape(rows)[0], value_shape(matrix)[1])
        return self._build.create("matmul", (rows, matrix), tensor_like(rows, shape))
