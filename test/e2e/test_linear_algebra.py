"""Factorizations and linear systems of JAX, compared with NumPy in 64 bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.scipy.linalg import cho_factor, cho_solve, solve_triangular

import ttmlir

LINALG = jnp.linalg


def matrix(*shape: int, seed: int = 0) -> np.ndarray:
    """Numbers near 0, in f32."""
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def definite(*shape: int) -> np.ndarray:
    """Symmetric matrices of positive eigenvalues."""
    a = matrix(*shape)
    product = a @ np.swapaxes(a, -1, -2) / shape[-1] + np.eye(shape[-1])
    return product.astype(np.float32)


def run(function: Callable[..., Any], *args: np.ndarray) -> list[np.ndarray]:
    """What the compiled program computes."""
    return [np.asarray(each) for each in jax.tree.leaves(ttmlir.compile(function, *args)(*args))]


def wide(array: np.ndarray) -> np.ndarray:
    """The same numbers in 64 bits."""
    return array.astype(np.float64)


@pytest.mark.parametrize("shape", [(1, 1), (40, 40), (2, 3, 5, 5)])
def test_cholesky(shape: tuple[int, ...]) -> None:
    """The lower factor, of batches, too."""
    a = definite(*shape)
    [factor] = run(LINALG.cholesky, a)
    np.testing.assert_allclose(factor, np.linalg.cholesky(wide(a)), 1e-5, 1e-5)


def test_what_is_not_positive_definite_has_no_factor() -> None:
    """JAX says so by NaN in the whole triangle."""
    a = definite(7, 7) - 5 * np.eye(7, dtype=np.float32)
    [factor] = run(LINALG.cholesky, a)
    np.testing.assert_array_equal(np.isnan(factor), np.tri(7, dtype=bool))


@pytest.mark.parametrize(
    ("lower", "trans", "unit"),
    [(False, 0, False), (False, 1, True), (True, 0, True), (True, 1, False)],
)
def test_triangular_systems(lower: bool, trans: int, unit: bool) -> None:
    """Only one triangle of the matrix counts."""
    a, b = matrix(6, 6) / 6 + 2 * np.eye(6, dtype=np.float32), matrix(6, 3, seed=1)
    [x] = run(
        lambda a, b: solve_triangular(a, b, trans=trans, lower=lower, unit_diagonal=unit), a, b
    )
    triangle = np.tril(wide(a)) if lower else np.triu(wide(a))
    if unit:
        np.fill_diagonal(triangle, 1)
    solved = np.linalg.solve(triangle.T if trans else triangle, wide(b))
    np.testing.assert_allclose(x, solved, 1e-5, 1e-5)


def test_systems() -> None:
    """With pivots: the first element is 0."""
    a, b = matrix(9, 9), matrix(9, 2, seed=1)
    a[0, 0] = 0
    [x] = run(LINALG.solve, a, b)
    np.testing.assert_allclose(x, np.linalg.solve(wide(a), wide(b)), 1e-3, 1e-4)


def test_inverses() -> None:
    """Of a batch."""
    a = matrix(2, 30, 30) + 9 * np.eye(30, dtype=np.float32)
    [inverse] = run(LINALG.inv, a)
    np.testing.assert_allclose(inverse, np.linalg.inv(wide(a)), 1e-3, 1e-5)


def test_determinants() -> None:
    """The sign follows from the pivots."""
    a = matrix(8, 8)
    [determinant] = run(LINALG.det, a)
    np.testing.assert_allclose(determinant, np.linalg.det(wide(a)), 1e-4)
    sign, logarithm = run(LINALG.slogdet, a)
    expected = np.linalg.slogdet(wide(a))
    assert sign == expected.sign
    np.testing.assert_allclose(logarithm, expected.logabsdet, 1e-5)


def test_systems_of_a_factor() -> None:
    """Two triangular systems, one of the transposed matrix."""
    a, b = definite(30, 30), matrix(30, 2)
    [x] = run(lambda a, b: cho_solve(cho_factor(a), b), a, b)
    np.testing.assert_allclose(x, np.linalg.solve(wide(a), wide(b)), 1e-4, 1e-5)


@pytest.mark.parametrize("shape", [(33, 30), (5, 7)])
def test_orthogonal_factors(shape: tuple[int, ...]) -> None:
    """The signs are those of LAPACK."""
    a = matrix(*shape)
    q, r = run(LINALG.qr, a)
    expected = np.linalg.qr(wide(a))
    np.testing.assert_allclose(q, expected.Q, 1e-4, 1e-5)
    np.testing.assert_allclose(r, expected.R, 1e-4, 1e-5)


def test_reflections_of_nothing() -> None:
    """A column of zeros is left as it is."""
    a = matrix(4, 3)
    a[:, 1] = 0
    q, r = run(LINALG.qr, a)
    np.testing.assert_allclose(q @ r, a, 1e-5, 1e-5)
    np.testing.assert_allclose(q.T @ q, np.eye(3), 1e-5, 1e-5)


REFUSED: dict[str, tuple[Callable[..., Any], str]] = {
    "eigh": (LINALG.eigh, "eigenvalues and eigenvectors of a symmetric matrix"),
    "svd": (LINALG.svd, "singular values and vectors"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_is_named(name: str) -> None:
    """By what it computes, not by a routine of LAPACK alone."""
    function, words = REFUSED[name]
    with pytest.raises(ttmlir.CompilationError) as caught:
        ttmlir.compile(function, matrix(4, 4))
    assert f"{words} (" in str(caught.value)
    assert "compute them on the host" in str(caught.value)
    assert "supported are" in str(caught.value)


def test_large_matrices_are_refused() -> None:
    """A loop has an iteration for each column."""
    with pytest.raises(ttmlir.CompilationError) as caught:
        ttmlir.compile(LINALG.cholesky, jax.ShapeDtypeStruct((1025, 1025), jnp.float32))
    assert (
        "matrices of 1025 x 1025 f32 are not supported; supported are those of f16, bf16, f32, f64 "
        "with 1 to 1024 rows and columns"
    ) in str(caught.value)
