"""Factorizations and linear systems of JAX, compared with NumPy in 64 bits."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.linalg
from jax.scipy.linalg import cho_factor, cho_solve, solve_triangular
from running.sampling import sampled

import ttmlir
from ttmlir.tools.ttrt import main

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


@pytest.mark.sampled(every=2)
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


@pytest.mark.sampled(every=2)
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


EPSILON = float(np.finfo(np.float32).eps)


def assert_orthogonal(columns: np.ndarray) -> None:
    """Columns of length 1 at right angles."""
    product = np.swapaxes(columns, -1, -2) @ columns
    atol = 8 * EPSILON * columns.shape[-2]
    np.testing.assert_allclose(
        product, np.broadcast_to(np.eye(product.shape[-1]), product.shape), atol=atol
    )


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("shape", [(1, 1), (2, 2), (3, 7, 7), (40, 40)])
def test_eigenvectors_of_symmetric_matrices(shape: tuple[int, ...]) -> None:
    """Odd and even numbers of rows; signs of vectors are free."""
    a = matrix(*shape)
    a = a + np.swapaxes(a, -1, -2)
    values, vectors = run(LINALG.eigh, a)
    size = np.abs(np.linalg.eigvalsh(wide(a))).max()
    atol = 8 * EPSILON * shape[-1] * size
    np.testing.assert_allclose(values, np.linalg.eigvalsh(wide(a)), atol=atol)
    assert (np.diff(values) >= 0).all()
    assert_orthogonal(vectors)
    np.testing.assert_allclose(wide(a) @ vectors, vectors * values[..., None, :], atol=atol)


EQUAL = np.array(
    [np.zeros((5, 5)), np.eye(5), np.diag([1e30, 3e30, 3e30, 3e30, 1e30]), np.ones((5, 5))],
    np.float32,
)
"""Matrices with equal eigenvalues."""


def test_equal_eigenvalues() -> None:
    """Vectors of equal ones are orthogonal, too; numbers whose squares are too large."""
    found = zip(EQUAL, *run(LINALG.eigh, EQUAL), strict=True)
    for a, values, vectors in found:
        assert_orthogonal(vectors)
        scale = max(1.0, float(np.abs(a).max()))
        np.testing.assert_allclose(values / scale, np.linalg.eigvalsh(wide(a)) / scale, atol=1e-5)
        np.testing.assert_allclose((vectors * (values / scale)) @ vectors.T, a / scale, atol=1e-5)


def low_rank(rows: int, columns: int, rank: int) -> np.ndarray:
    """A matrix with fewer singular values than columns."""
    return matrix(rows, rank) @ matrix(rank, columns, seed=1)


SINGULAR = {
    "1x1": matrix(1, 1),
    "2x5x7": matrix(2, 5, 7),
    "33x21": matrix(33, 21),
    "rank 3": low_rank(9, 7, 3),
    "zeros": np.zeros((4, 3), np.float32),
    "large": matrix(6, 5) * np.float32(1e30),
}


@pytest.mark.parametrize(("name", "full"), sampled(SINGULAR, [True, False]))
def test_singular_vectors(name: str, full: bool) -> None:
    """Vectors of singular values that are 0 complete the others."""
    a = SINGULAR[name]
    left, values, right = run(lambda a: LINALG.svd(a, full_matrices=full), a)
    expected = np.linalg.svd(wide(a), full_matrices=full)
    assert (left.shape, right.shape) == (expected.U.shape, expected.Vh.shape)
    assert_orthogonal(left)
    assert_orthogonal(np.swapaxes(right, -1, -2))
    atol = 8 * EPSILON * max(a.shape) * max(float(expected.S.max()), 1e-30)
    np.testing.assert_allclose(values, expected.S, atol=atol)
    count = values.shape[-1]
    product = (wide(left[..., :count]) * values[..., None, :]) @ right[..., :count, :]
    np.testing.assert_allclose(product, a, atol=atol)


TALL, SQUARE = matrix(7, 4), matrix(5, 5) + 3 * np.eye(5, dtype=np.float32)
DERIVED: dict[str, tuple[Callable[..., Any], Callable[..., Any], np.ndarray]] = {
    "pinv": (LINALG.pinv, np.linalg.pinv, TALL),
    "lstsq": (
        lambda a: LINALG.lstsq(a, a[:, :2] ** 2)[0],
        lambda a: np.linalg.lstsq(a, a[:, :2] ** 2)[0],
        TALL,
    ),
    "svdvals": (LINALG.svdvals, np.linalg.svdvals, TALL),
    "rank": (LINALG.matrix_rank, lambda a: 2, low_rank(6, 5, 2)),
    "norm 2": (lambda a: LINALG.norm(a, 2), lambda a: np.linalg.norm(a, 2), TALL),
    "nuclear": (lambda a: LINALG.norm(a, "nuc"), lambda a: np.linalg.norm(a, "nuc"), TALL),
    "cond": (LINALG.cond, np.linalg.cond, SQUARE),
    "power": (
        lambda a: LINALG.matrix_power(a, -3),
        lambda a: np.linalg.matrix_power(a, -3),
        SQUARE,
    ),
    "expm": (lambda a: jax.scipy.linalg.expm(a / 3), lambda a: scipy.linalg.expm(a / 3), SQUARE),
    "polar": (lambda a: jax.scipy.linalg.polar(a)[1], lambda a: scipy.linalg.polar(a)[1], TALL),
    "lu": (jax.scipy.linalg.lu, scipy.linalg.lu, matrix(5, 3)),
    "toeplitz": (
        lambda a: jax.scipy.linalg.toeplitz(a[0]),
        lambda a: scipy.linalg.toeplitz(a[0]),
        TALL,
    ),
    "block_diag": (
        lambda a: jax.scipy.linalg.block_diag(a, a),
        lambda a: scipy.linalg.block_diag(a, a),
        TALL,
    ),
}


OF_SINGULAR_VALUES = {"norm 2", "nuclear"}
"""The largest value and the sum of what `svdvals` gives: `cond` divides by both ends of it."""


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(each, marks=pytest.mark.exhaustive if each in OF_SINGULAR_VALUES else ())
        for each in DERIVED
    ],
)
def test_what_follows_from_factors(name: str) -> None:
    """Functions that the framework makes of factorizations."""
    function, reference, a = DERIVED[name]
    expected = jax.tree.leaves(reference(wide(a)))
    for found, value in zip(run(function, a), expected, strict=True):
        np.testing.assert_allclose(found, value, 1e-3, 1e-4)


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("function", [LINALG.eigvalsh, lambda a: LINALG.svd(a)[1] ** 3])
def test_gradients(function: Callable[..., Any]) -> None:
    """Those of JAX, of the same operations."""
    a = definite(5, 5)
    weights = np.arange(5, dtype=np.float32)
    [found] = run(jax.grad(lambda a: (function(a) * weights).sum()), a)
    with jax.enable_x64(True):
        expected = jax.grad(lambda a: (function(a) * weights).sum())(jnp.asarray(wide(a)))
    np.testing.assert_allclose(found, expected, 1e-3, 1e-3)


def test_device_numerics() -> None:
    """Rotations are no products of matrices, so that they are as exact as the vector unit."""
    a = definite(12, 12)
    values = ttmlir.compile(LINALG.eigvalsh, a)(a, numerics="device")
    np.testing.assert_allclose(values, np.linalg.eigvalsh(wide(a)), 0.02)


def complex_matrix(*shape: int) -> np.ndarray:
    """Numbers near 0."""
    return matrix(*shape) + 1j * matrix(*shape, seed=1)


SPECIAL = {
    "any": matrix(5, 5),
    "zeros": np.zeros((5, 5), np.float32),
    "permutation": np.eye(5, dtype=np.float32)[[1, 2, 3, 4, 0]],
    "triangle": np.triu(matrix(5, 5)),
    "a block that is alone": scipy.linalg.block_diag(matrix(2, 2), matrix(3, 3)),
    "large": matrix(5, 5) * np.float32(1e30),
}
GENERAL = {
    "1x1": matrix(1, 1),
    "2x3x5x5": np.reshape([*SPECIAL.values()], (2, 3, 5, 5)),
    "11x11": matrix(11, 11),
    "complex": complex_matrix(2, 6, 6),
    "rotation": np.array([[0, 1], [-1, 0]], np.float32),
}


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("name", GENERAL)
def test_eigenvectors_of_other_matrices(name: str) -> None:
    """Real and complex eigenvalues in any order; the largest element of a vector is positive."""
    batch = GENERAL[name]
    values, vectors = run(LINALG.eig, batch)
    assert (values.dtype, vectors.shape) == (np.complex64, batch.shape)
    count = batch.shape[-1]
    matrices, columns = (each.reshape(-1, count, count) for each in (batch, vectors))
    for a, found, own in zip(matrices, values.reshape(-1, count), columns, strict=True):
        check_eigenvectors(a, found, own)


def check_eigenvectors(a: np.ndarray, values: np.ndarray, vectors: np.ndarray) -> None:
    """Compare with LAPACK's eigenvalues; vectors keep their direction."""
    count = len(a)
    size = max(float(np.abs(a).max()), 1e-30)
    expected = np.linalg.eigvals(a.astype(np.complex128))
    atol = 64 * EPSILON * count * size
    distance = np.abs(values[:, None] - expected)
    assert distance.min(0).max() < atol
    assert distance.min(1).max() < atol
    scaled = vectors * (values / size)
    np.testing.assert_allclose((a / size) @ vectors, scaled, atol=64 * EPSILON * count)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=-2), 1, atol=1e-6)
    largest = np.take_along_axis(vectors, np.abs(vectors).argmax(0)[None, :], 0)
    np.testing.assert_allclose(largest.imag, 0, atol=1e-6)
    if not np.iscomplexobj(a):
        is_real = values.imag == 0
        assert is_real.sum() == (np.abs(expected.imag) < atol).sum()


@pytest.mark.exhaustive
def test_vectors_that_do_not_exist() -> None:
    """A matrix of which only one direction stays what it is."""
    values, vectors = run(LINALG.eig, np.array([[2, 1, 0], [0, 2, 1], [0, 0, 2]], np.float32))
    np.testing.assert_allclose(values, 2)
    np.testing.assert_allclose(vectors, [[1, 1, 1], [0, 0, 0], [0, 0, 0]], atol=1e-5)


def test_schur_forms() -> None:
    """Z T Z^H, of batches; and what JAX makes of the form."""
    a = complex_matrix(5, 5)
    t, z = run(lambda a: jax.scipy.linalg.schur(a, output="complex"), a)
    np.testing.assert_array_equal(np.tril(t, -1), 0)
    np.testing.assert_allclose(z @ t @ z.conj().T, a, atol=1e-5)
    np.testing.assert_allclose(z @ z.conj().T, np.eye(5), atol=1e-5)
    b = definite(3, 3)
    [root] = run(jax.scipy.linalg.sqrtm, b)
    np.testing.assert_allclose(root, scipy.linalg.sqrtm(wide(b)), 1e-4, 1e-5)


def test_real_schur_forms() -> None:
    """Blocks of pairs of eigenvalues in LAPACK's form; also where shifts alone do not help."""
    turning = np.roll(np.eye(5, dtype=np.float32), 1, axis=0)
    both = np.block([[matrix(2, 2), matrix(2, 3)], [np.zeros((3, 2)), matrix(3, 3)]])
    batch = np.stack([matrix(5, 5), turning, both, definite(5, 5), np.zeros((5, 5)), np.eye(5)])
    for a in (batch.astype(np.float32), matrix(2, 2)):
        t, z = run(jax.scipy.linalg.schur, a)
        np.testing.assert_allclose(z @ t @ np.swapaxes(z, -1, -2), a, atol=2e-5)
        np.testing.assert_allclose(
            z @ np.swapaxes(z, -1, -2), np.eye(a.shape[-1]) + 0 * a, atol=1e-5
        )
        np.testing.assert_array_equal(np.tril(t, -2), 0)
        below, above = (np.diagonal(t, step, -2, -1) for step in (-1, 1))
        assert not (below[..., 1:] * below[..., :-1]).any()
        diagonal = np.diagonal(t, 0, -2, -1)
        is_pair = below != 0
        assert (below * above < 0)[is_pair].all()
        np.testing.assert_array_equal(diagonal[..., 1:][is_pair], diagonal[..., :-1][is_pair])
        expected, found = (np.sort_complex(np.linalg.eigvals(wide(each))) for each in (a, t))
        np.testing.assert_allclose(found, expected, atol=1e-4)


def test_hessenberg_forms_and_pivots() -> None:
    """The signs are those of LAPACK, and the order of columns is."""
    a = matrix(6, 6)
    [form] = run(jax.scipy.linalg.hessenberg, a)
    np.testing.assert_allclose(form, scipy.linalg.hessenberg(wide(a)), 1e-4, 1e-5)
    for shape in ((7, 4), (4, 7)):
        b = matrix(*shape) * np.arange(1, shape[1] + 1, dtype=np.float32)
        found = run(lambda a: jax.scipy.linalg.qr(a, mode="economic", pivoting=True), b)
        expected = scipy.linalg.qr(wide(b), mode="economic", pivoting=True)
        for each, wanted in zip(found, expected, strict=True):
            np.testing.assert_allclose(each, wanted, 1e-4, 1e-5)


def test_factors_of_complex_matrices() -> None:
    """Cholesky, elimination with the pivots of LAPACK, and triangles in every position."""
    a, b = complex_matrix(2, 5, 5), complex_matrix(2, 5, 3)
    positive = a @ np.swapaxes(a, -1, -2).conj() + np.eye(5)
    positive = positive.astype(np.complex64)
    checks: dict[str, tuple[Callable[..., Any], Callable[..., Any], tuple[Any, ...]]] = {
        "cholesky": (LINALG.cholesky, np.linalg.cholesky, (positive,)),
        "upper": (
            lambda a: LINALG.cholesky(a, upper=True),
            lambda a: np.linalg.cholesky(a, upper=True),
            (positive,),
        ),
        "solve": (LINALG.solve, np.linalg.solve, (a, b)),
        "inv": (LINALG.inv, np.linalg.inv, (a,)),
        "det": (LINALG.det, np.linalg.det, (a,)),
        "lu": (
            lambda a: jax.scipy.linalg.lu_factor(a),
            lambda a: scipy.linalg.lu_factor(a),
            (complex_matrix(4, 4),),
        ),
    }
    for trans in (0, 1, 2):
        for lower in (True, False):
            checks[f"triangle {trans} {lower}"] = (
                lambda a, b, trans=trans, lower=lower: solve_triangular(
                    a, b, trans=trans, lower=lower
                ),
                lambda a, b, trans=trans, lower=lower: scipy.linalg.solve_triangular(
                    a, b, trans=trans, lower=lower
                ),
                (a[0] + 3 * np.eye(5, dtype=np.complex64), b[0]),
            )

    def ours(*values: Any) -> Any:
        given = iter(values)
        return [function(*(next(given) for _ in args)) for function, _, args in checks.values()]

    found = iter(run(ours, *(each for _, _, args in checks.values() for each in args)))
    for name, (_, reference, args) in checks.items():
        expected = reference(*(each.astype(np.complex128) for each in args))
        for wanted in expected if isinstance(expected, tuple) else [expected]:
            np.testing.assert_allclose(next(found), wanted, 2e-3, 2e-4, err_msg=name)


REFUSED: dict[str, tuple[Callable[..., Any], str]] = {
    "complex QR with pivots": (
        lambda a: jax.scipy.linalg.qr(a + 0j, pivoting=True)[1],
        "QR factors with pivots",
    ),
    "complex tridiagonal form": (
        lambda a: jax.lax.linalg.tridiagonal(a + 0j)[1],
        "the tridiagonal form of a matrix",
    ),
}


def test_other_forms_that_are_refused() -> None:
    """Vectors from the left."""
    with pytest.raises(ttmlir.CompilationError) as caught:
        ttmlir.compile(lambda a: jax.lax.linalg.eig(a)[1], matrix(4, 4))
    assert "those of the transposed matrix, conjugated" in str(caught.value)


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


def test_large_matrices_of_which_rows_are_rotated_are_refused() -> None:
    """Every pair of rows would be."""
    with pytest.raises(ttmlir.CompilationError) as caught:
        ttmlir.compile(LINALG.svd, jax.ShapeDtypeStruct((300, 257), jnp.float32))
    assert "1024 rows and columns, and at most 256 of one of them; compute" in str(caught.value)


@pytest.mark.exhaustive
def test_files_are_compared_behind_loops(tmp_path: Path) -> None:
    """Golden runs go on from what a loop computed; it has no reference of its own."""
    a = definite(4, 4)
    path = ttmlir.compile(LINALG.eigvalsh, a).save(tmp_path / "e.ttnn", golden=True)
    results = tmp_path / "results.json"
    assert main(["run", "--golden", "--result-file", str(results), str(path)]) == 0
