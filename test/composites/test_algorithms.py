"""Algorithms on the carriers that need no IR: matrices, complex numbers and random words."""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from running.randomness import TestGenerator

from ttmlir.arrays.array import Array
from ttmlir.arrays.carriers import ShapeCarrier, array_of
from ttmlir.composites import complex_numbers, fourier, linear_algebra
from ttmlir.composites.complex_numbers import Complex
from ttmlir.composites.random_numbers import draw_philox, draw_threefry

jax: Any = import_module("jax")
Numbers = NDArray[Any]
RANDOM = TestGenerator(__name__)
MATRICES = RANDOM.normal(size=(3, 6, 6))
TALL = RANDOM.normal(size=(2, 7, 4))


@pytest.mark.parametrize(("dtype", "atol"), [("f64", 1e-12), ("f32", 2e-5)])
def test_factorizations(dtype: str, atol: float) -> None:
    """Against LAPACK, as NumPy calls it, in the precision of the matrices."""
    positive = MATRICES @ MATRICES.transpose(0, 2, 1) + np.eye(6)
    (lower,) = linear_algebra.find_cholesky(array_of(positive, dtype))
    assert lower.dtype == dtype
    np.testing.assert_allclose(lower.value, np.linalg.cholesky(positive), 0, 10 * atol)
    (solved,) = linear_algebra.solve_triangular(
        array_of(np.tril(positive), dtype), array_of(MATRICES, dtype), lower=True, unit=False
    )
    expected = np.linalg.solve(np.tril(positive), MATRICES)
    np.testing.assert_allclose(solved.value, expected, 10 * atol, 10 * atol)
    left, values, right = linear_algebra.find_singular_vectors(array_of(TALL, dtype), full=False)
    np.testing.assert_allclose(values.value, np.linalg.svd(TALL, compute_uv=False), 0, 10 * atol)
    product = left.value * values.value[:, None, :] @ right.value
    np.testing.assert_allclose(product, TALL, 0, 10 * atol)
    symmetric = MATRICES + MATRICES.transpose(0, 2, 1)
    vectors, values = linear_algebra.find_symmetric_eigenvectors(array_of(symmetric, dtype))
    np.testing.assert_allclose(values.value, np.linalg.eigvalsh(symmetric), 0, 10 * atol)
    product = vectors.value * values.value[:, None, :] @ vectors.value.transpose(0, 2, 1)
    np.testing.assert_allclose(product, symmetric, 0, 10 * atol)
    factors, _, order = linear_algebra.factorize_by_elimination(array_of(MATRICES, dtype))
    unit = np.tril(factors.value, -1) + np.eye(6)
    for number, rows in enumerate(order.value):
        product = unit[number] @ np.triu(factors.value[number])
        np.testing.assert_allclose(product, MATRICES[number][rows], 0, 10 * atol)


def test_shapes_of_factorizations() -> None:
    """Without numbers, loops are followed once."""
    a = Array(ShapeCarrier(), None, (2, 7, 4), "f32")
    left, values, right = linear_algebra.find_singular_vectors(a, full=True)
    assert (left.shape, values.shape, right.shape) == ((2, 7, 7), (2, 4), (2, 4, 4))


POINTS: NDArray[np.complex128] = np.array(
    [a + 1j * b for a in (-2.5, -0.5, 0.25, 3.0) for b in (-1.5, -0.25, 0.75, 2.0)]
)


def _logistic(x: Numbers) -> Numbers:
    return 1 / (1 + np.exp(-x))


def _gate(x: Numbers) -> Numbers:
    return x * _logistic(x)


def _reciprocal_root(x: Numbers) -> Numbers:
    return 1 / np.sqrt(x)


NUMPY: dict[str, Any] = {
    **{"neg": np.negative, "multiply": np.multiply, "div": np.divide, "pow": np.power},
    **{"add": np.add, "subtract": np.subtract, "eq": np.equal, "ne": np.not_equal},
    **{"abs": np.abs, "acos": np.arccos, "acosh": np.arccosh, "asin": np.arcsin},
    **{"asinh": np.arcsinh, "atan": np.arctan, "atanh": np.arctanh},
    **{"sigmoid": _logistic, "silu": _gate},
    **{"rsqrt": _reciprocal_root, "isfinite": np.isfinite},
}
"""Functions of NumPy that have other names than the rows."""


@pytest.mark.parametrize("name", complex_numbers.FUNCTIONS)
def test_functions_of_complex_numbers(name: str) -> None:
    """In f64, against NumPy's own."""
    function: Any = NUMPY.get(name, getattr(np, name, None))
    count = 2 if getattr(function, "nin", 1) == 2 else 1
    inputs = (POINTS, POINTS[::-1])[:count]
    made = [Complex(array_of(each.real), array_of(each.imag)) for each in inputs]
    found = complex_numbers.FUNCTIONS[name](*made)
    numbers = found.value if isinstance(found, Array) else found.real.value + 1j * found.imag.value
    np.testing.assert_allclose(numbers, function(*inputs), 1e-13, 1e-14)


@pytest.mark.parametrize("n", [6, 128, 131, 360, 1031])
def test_fourier_transforms(n: int) -> None:
    """Products, divided ones and convolutions, against NumPy's, in f64."""
    x = RANDOM.normal(size=(3, n)) + 1j * RANDOM.normal(size=(3, n))
    pair = Complex(array_of(x.real), array_of(x.imag))
    found = fourier.transform(pair, 1)
    np.testing.assert_allclose(_join(found), np.fft.fft(x), 0, 1e-10)
    half = fourier.transform_real(array_of(x.real), 1)
    np.testing.assert_allclose(_join(half), np.fft.rfft(x.real), 0, 1e-10)
    # The numbers without an imaginary part have none: angles of negative ones would have any sign.
    assert n == 1031 or not half.imag.value[:, 0].any()
    assert n % 2 or not half.imag.value[:, -1].any()
    back = fourier.invert_to_real(half, 1, n, factor=1 / n)
    np.testing.assert_allclose(back.value, x.real, 0, 1e-11)


def _join(x: Complex) -> Numbers:
    return x.real.value + 1j * x.imag.value


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("shape", [(6,), (5,), (3, 5), (4, 3), ()])
def test_random_words(shape: tuple[int, ...]) -> None:
    """Those of XLA's generators, bit for bit, and the states that they leave."""
    for algorithm, draw in (
        ("RNG_THREE_FRY", partial(draw_threefry, in_pairs=False)),
        ("RNG_PHILOX", draw_philox),
    ):
        state = np.array([7, 2**32 - 1, 2**32 - 2, 3], np.uint32).reshape(2, 2)
        kind = getattr(jax.lax.RandomAlgorithm, algorithm)
        with jax.enable_x64(True):
            key = state.reshape(-1).view(np.uint64)
            after, expected = jax.lax.rng_bit_generator(key, shape, algorithm=kind)
            after = np.asarray(after).view(np.uint32).reshape(2, 2)
        words, counter = draw(array_of(state), shape)
        np.testing.assert_array_equal(words.value, expected)
        np.testing.assert_array_equal(counter.value, after[1:])
