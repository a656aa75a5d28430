"""`torch.linalg` and torch's older names, against torch in 64 bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import ttmlir

LINALG: Any = torch.linalg
torch.manual_seed(0)
SQUARE = torch.randn(2, 5, 5)
DEFINITE = SQUARE @ SQUARE.mT + torch.eye(5)
# Pivots of one row and of two, in either place.
INDEFINITE = torch.stack(
    [SQUARE[0] + SQUARE[0].mT, torch.ones(5, 5).tril(-1) + torch.ones(5, 5).triu(1)]
)
TALL, RIGHT = torch.randn(7, 4), torch.randn(2, 5, 3)
LOWER = LINALG.cholesky(DEFINITE)

CASES: dict[str, tuple[Callable[..., Any], tuple[torch.Tensor, ...]]] = {
    "cholesky": (LINALG.cholesky, (DEFINITE,)),
    "cholesky upper": (lambda a: LINALG.cholesky(a, upper=True), (DEFINITE,)),
    "cholesky_solve": (torch.cholesky_solve, (RIGHT, LOWER)),
    "cholesky_inverse": (torch.cholesky_inverse, (LOWER,)),
    "solve": (LINALG.solve, (SQUARE, RIGHT)),
    "solve right": (lambda a, b: LINALG.solve(a, b.mT, left=False), (SQUARE, RIGHT)),
    "solve_triangular": (
        lambda a, b: LINALG.solve_triangular(a, b.mT, upper=False, left=False),
        (LOWER, RIGHT),
    ),
    "triangular_solve": (
        lambda b, a: torch.triangular_solve(b, a, upper=False, transpose=True)[0],
        (RIGHT, LOWER),
    ),
    "inv": (LINALG.inv, (SQUARE,)),
    "pinv": (LINALG.pinv, (TALL,)),
    "pinv with rtol": (lambda a: LINALG.pinv(a, rtol=0.5), (TALL,)),
    "lstsq": (lambda a, b: LINALG.lstsq(a, b, driver="gelsd"), (TALL, torch.randn(7, 2))),
    "lstsq of vectors": (
        lambda a, b: LINALG.lstsq(a, b).solution,
        (torch.randn(2, 4, 6), torch.randn(2, 4)),
    ),
    "lstsq of low rank": (
        lambda a, b: LINALG.lstsq(a, b, rcond=1e-3)[0],
        (TALL[:, :2] @ TALL[:2], torch.randn(7, 3)),
    ),
    "det": (LINALG.det, (SQUARE,)),
    "slogdet": (LINALG.slogdet, (SQUARE,)),
    "lu": (LINALG.lu, (TALL,)),
    "lu_factor": (LINALG.lu_factor, (SQUARE,)),
    "lu_solve adjoint": (
        lambda a, b: LINALG.lu_solve(*LINALG.lu_factor(a), b, adjoint=True),
        (SQUARE, RIGHT),
    ),
    "ldl_factor": (LINALG.ldl_factor, (INDEFINITE,)),
    "ldl_solve": (lambda a, b: LINALG.ldl_solve(*LINALG.ldl_factor(a), b), (INDEFINITE, RIGHT[0])),
    "qr": (LINALG.qr, (TALL,)),
    "qr complete": (lambda a: LINALG.qr(a, mode="complete"), (TALL,)),
    "ormqr": (lambda a: torch.ormqr(*torch.geqrf(a), a, transpose=True), (TALL,)),
    "householder_product": (lambda a: LINALG.householder_product(*torch.geqrf(a)), (TALL,)),
    "eigvalsh": (LINALG.eigvalsh, (DEFINITE,)),
    "svdvals": (LINALG.svdvals, (TALL,)),
    "cond": (LINALG.cond, (SQUARE,)),
    "rank": (lambda a: LINALG.matrix_rank(a, rtol=1e-3), (TALL[:, :2] @ TALL[:2],)),
    "exp": (LINALG.matrix_exp, (SQUARE,)),
    "exp of large": (LINALG.matrix_exp, (-4 * DEFINITE,)),
    "gradient of det": (torch.func.grad(lambda a: LINALG.det(a).sum()), (SQUARE,)),
    "gradient of cholesky": (torch.func.grad(lambda a: LINALG.cholesky(a).sum()), (DEFINITE,)),
    "gradient of eigh": (torch.func.grad(lambda a: (LINALG.eigvalsh(a) ** 2).sum()), (DEFINITE,)),
}


@pytest.mark.sampled(every=3)
@pytest.mark.filterwarnings("ignore:.*tensors of f64")
@pytest.mark.filterwarnings("ignore:torch.triangular_solve is deprecated")
@pytest.mark.parametrize("name", CASES)
def test_functions(name: str) -> None:
    """Batches, too."""
    function, args = CASES[name]
    found = torch.utils._pytree.tree_leaves(ttmlir.compile(function, *args)(*args))
    wide = torch.utils._pytree.tree_leaves(function(*(each.double() for each in args)))
    for result, expected in zip(found, wide, strict=True):
        scale = float(expected.abs().max())
        assert result.shape == expected.shape
        torch.testing.assert_close(result.double(), expected.double(), rtol=1e-3, atol=1e-4 * scale)


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("full", [True, False])
def test_singular_vectors(full: bool) -> None:
    """Their signs are free; compared by what they multiply to."""
    # Of a square matrix all vectors are the same with `full` and without.
    for a in (TALL, TALL.mT.contiguous(), *(() if full else (SQUARE,))):
        left, values, right = ttmlir.compile(lambda a: LINALG.svd(a, full_matrices=full), a)(a)
        expected = LINALG.svd(a, full_matrices=full)
        assert (left.shape, right.shape) == (expected.U.shape, expected.Vh.shape)
        count = values.shape[-1]
        product = (left[..., :count] * values.unsqueeze(-2)) @ right[..., :count, :]
        torch.testing.assert_close(product, a, rtol=1e-5, atol=1e-5)
        for columns in (left, right.mT):
            unit = torch.eye(columns.shape[-1]).expand(*columns.shape[:-2], -1, -1)
            torch.testing.assert_close(columns.mT @ columns, unit, rtol=0, atol=1e-5)


@pytest.mark.exhaustive
def test_complex_matrices() -> None:
    """Systems, factors and determinants, and eigenvectors of real and complex matrices."""
    a = torch.complex(SQUARE, SQUARE.flip(1))
    b = torch.complex(RIGHT, RIGHT.flip(2))
    positive = a @ a.mH + torch.eye(5)

    def compute(a: Any, b: Any, positive: Any, real: Any) -> list[Any]:
        factor = LINALG.cholesky(positive)
        return [
            *(LINALG.solve(a, b), LINALG.solve(a, b.mT, left=False), LINALG.inv(a), LINALG.det(a)),
            *(*LINALG.slogdet(a), factor, LINALG.cholesky(positive, upper=True)),
            *(torch.cholesky_solve(b, factor), torch.cholesky_inverse(factor)),
            LINALG.solve_triangular(a, b, upper=True),
            LINALG.lu_solve(*LINALG.lu_factor(a), b, adjoint=True),
            *(_put_together(*LINALG.eig(each)) for each in (a, real)),
            LINALG.eigvals(real).abs().sort().values,
        ]

    found = ttmlir.compile(compute, a, b, positive, SQUARE)(a, b, positive, SQUARE)
    wide = [a.cdouble(), b.cdouble(), positive.cdouble(), SQUARE.double()]
    for result, expected in zip(found, compute(*wide), strict=True):
        scale = float(expected.abs().max())
        torch.testing.assert_close(
            result.to(expected.dtype), expected, rtol=1e-3, atol=1e-4 * scale
        )


def _put_together(values: Any, vectors: Any) -> Any:
    """What the eigenvalues and eigenvectors are those of."""
    return (vectors * values.unsqueeze(-2)) @ LINALG.inv(vectors)


def test_eigenvectors_of_the_upper_triangle() -> None:
    """The other one is not read."""
    a = DEFINITE.triu()
    values, vectors = ttmlir.compile(lambda a: LINALG.eigh(a, UPLO="U"), a)(a)
    found = (vectors * values.unsqueeze(-2)) @ vectors.mT
    torch.testing.assert_close(found, DEFINITE, rtol=1e-5, atol=1e-5)


def test_checks_of_results_are_no_part_of_a_trace() -> None:
    """torch keeps them in order by a token, which is no tensor."""
    a = DEFINITE[0]
    assert "differs" not in str(ttmlir.compile(LINALG.inv, a).bisect(a))
