"""Linear algebra by factorizations that have rules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ttmlir.frontend.torch.elements import torch_package

_TERMS = 12
"""Terms of the series of the exponential, of matrices with a norm of at most a half."""
_SQUARES = 24
"""Most times that an exponential is squared: others leave the range of float32."""


def _order_of(pivots: Any, rows: int) -> Any:
    """The rows of a matrix after exchanges of row i with row `pivots[i] - 1`, one by one."""
    torch = torch_package()
    places = torch.arange(rows)
    order = places.expand(*pivots.shape[:-1], rows)
    for i in range(pivots.shape[-1]):
        there = pivots[..., i : i + 1].long() - 1
        is_there = places == there
        here = order[..., i : i + 1]
        moved = torch.where(is_there, order, 0).sum(-1, keepdim=True)
        order = torch.where(places == i, moved, torch.where(is_there, here, order))
    return order


def _unpack(factors: Any, pivots: Any) -> tuple[Any, Any, Any]:
    torch = torch_package()
    rows, columns = factors.shape[-2:]
    least = min(rows, columns)
    order = _order_of(pivots, rows)
    exchange = (order.unsqueeze(-2) == torch.arange(rows).unsqueeze(-1)).to(factors.dtype)
    lower = factors[..., :least].tril(-1) + torch.eye(rows, least, dtype=factors.dtype)
    return exchange, lower, factors[..., :least, :].triu()


def _lu_unpack(
    factors: Any, pivots: Any, unpack_data: bool = True, unpack_pivots: bool = True
) -> tuple[Any, Any, Any]:
    return _unpack(factors, pivots)


def _lu(a: Any, *, pivot: bool = True) -> tuple[Any, Any, Any]:
    factors, pivots = torch_package().linalg.lu_factor_ex(a)[:2]
    return _unpack(factors, pivots)


def _solve_factored(factors: Any, pivots: Any, b: Any) -> Any:
    solve = torch_package().linalg.solve_triangular
    exchange, lower, upper = _unpack(factors, pivots)
    first = solve(lower, exchange.mT @ b, upper=False, unitriangular=True)
    return solve(upper, first, upper=True)


def _lu_solve(
    factors: Any, pivots: Any, b: Any, *, left: bool = True, adjoint: bool = False
) -> Any:
    solve = torch_package().linalg.solve_triangular
    if not left:
        return _lu_solve(factors, pivots, b.mH, adjoint=not adjoint).mH
    if not adjoint:
        return _solve_factored(factors, pivots, b)
    exchange, lower, upper = _unpack(factors, pivots)
    first = solve(upper.mH, b, upper=False)
    return exchange @ solve(lower.mH, first, upper=True, unitriangular=True)


def _solve(
    a: Any, b: Any, *, left: bool = True, check_errors: bool = False
) -> tuple[Any, Any, Any, Any]:
    is_vector = b.dim() == 1 or (b.dim() == a.dim() - 1 and b.shape == a.shape[:-1])
    factors, pivots, info = torch_package().linalg.lu_factor_ex(a)
    columns = b.unsqueeze(-1) if is_vector else b
    found = _lu_solve(factors, pivots, columns, left=left or is_vector)
    return found.squeeze(-1) if is_vector else found, factors, pivots, info


def _inverse(a: Any, *, check_errors: bool = False) -> tuple[Any, Any]:
    factors, pivots, info = torch_package().linalg.lu_factor_ex(a)
    eye = torch_package().eye(a.shape[-1], dtype=a.dtype).expand(a.shape)
    return _solve_factored(factors, pivots, eye), info


def _sign_of(pivots: Any) -> Any:
    """1, or -1 for an odd number of rows that were exchanged with others."""
    places = torch_package().arange(1, pivots.shape[-1] + 1, dtype=pivots.dtype)
    return 1 - 2 * ((pivots != places).sum(-1) % 2)


def _determinant(a: Any) -> tuple[Any, Any, Any]:
    factors, pivots, _ = torch_package().linalg.lu_factor_ex(a)
    product = factors.diagonal(0, -2, -1).prod(-1)
    return product * _sign_of(pivots).to(a.dtype), factors, pivots


def _log_determinant(a: Any) -> tuple[Any, Any, Any, Any]:
    factors, pivots, _ = torch_package().linalg.lu_factor_ex(a)
    diagonal = factors.diagonal(0, -2, -1)
    sign = diagonal.sgn().prod(-1) * _sign_of(pivots).to(a.dtype)
    return sign, diagonal.abs().log().sum(-1), factors, pivots


def _cholesky(a: Any, upper: bool = False) -> Any:
    return torch_package().linalg.cholesky_ex(a, upper=upper)[0]


def _cholesky_solve(b: Any, factor: Any, upper: bool = False) -> Any:
    solve = torch_package().linalg.solve_triangular
    lower = factor.mH if upper else factor
    return solve(lower.mH, solve(lower, b, upper=False), upper=True)


def _cholesky_inverse(factor: Any, upper: bool = False) -> Any:
    eye = torch_package().eye(factor.shape[-1], dtype=factor.dtype)
    return _cholesky_solve(eye.expand(factor.shape), factor, upper)


def _triangular_solve(
    b: Any, a: Any, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> tuple[Any, Any]:
    solve = torch_package().linalg.solve_triangular
    given = a.mT if transpose else a
    found = solve(given, b, upper=upper != transpose, unitriangular=unitriangular)
    return found, a.clone()


def _qr(a: Any, mode: str = "reduced") -> tuple[Any, Any]:
    torch = torch_package()
    rows, columns = a.shape[-2:]
    factors, taus = torch.geqrf(a)
    least = min(rows, columns)
    if mode == "r":
        return a.new_zeros(0), factors[..., :least, :].triu()
    count = rows if mode == "complete" else least
    q = _reflections(factors, taus, count)
    return q, factors[..., :count, :].triu()


def _reflections(factors: Any, taus: Any, count: int) -> Any:
    """So many columns of a product of reflections."""
    torch = torch_package()
    missing = count - factors.shape[-1]
    if missing > 0:
        factors = torch.nn.functional.pad(factors, (0, missing))
    return torch.linalg.householder_product(factors[..., :count], taus)


def _multiply_by_reflections(
    a: Any, taus: Any, other: Any, left: bool = True, transpose: bool = False
) -> Any:
    q = _reflections(a, taus, a.shape[-2])
    q = q.mT if transpose else q
    return q @ other if left else other @ q


def _pseudoinverse(a: Any, *, atol: Any = None, rtol: Any = None, hermitian: bool = False) -> Any:
    torch = torch_package()
    if hermitian:
        values, vectors = torch.linalg.eigh(a)
        return (vectors * _reciprocals(values, a, atol, rtol).unsqueeze(-2)) @ vectors.mT
    left, values, right = torch.linalg.svd(a, full_matrices=False)
    return (right.mT * _reciprocals(values, a, atol, rtol).unsqueeze(-2)) @ left.mT


def _reciprocals(values: Any, a: Any, atol: Any, rtol: Any) -> Any:
    """Of the values that are not small, else 0."""
    torch = torch_package()
    size = values.abs()
    largest = size.amax(-1, keepdim=True)
    if rtol is None:
        default = max(a.shape[-2:]) * torch.finfo(a.dtype).eps
        rtol = 0.0 if atol is None else torch.where(atol > 0, 0.0, default)
        rtol = default if atol is None else rtol.unsqueeze(-1)
    else:
        rtol = rtol.unsqueeze(-1)
    least = largest * rtol
    if atol is not None:
        least = torch.maximum(least, atol.unsqueeze(-1).to(a.dtype).expand_as(least))
    is_large = size > least
    return torch.where(is_large, 1 / torch.where(is_large, values, 1), 0)


def _exponential(a: Any) -> Any:
    """The series of a matrix divided by a power of 2, squared as often."""
    torch = torch_package()
    norm = a.abs().sum(-2).amax(-1)
    times = torch.log2(norm.clamp(min=0.5)).add(1).ceil().clamp(0, _SQUARES)
    scaled = a / torch.exp2(times)[..., None, None]
    eye = torch.eye(a.shape[-1], dtype=a.dtype)
    found = eye + scaled / _TERMS
    for term in range(_TERMS - 1, 0, -1):
        found = eye + (scaled @ found) / term
    for number in range(_SQUARES):
        found = torch.where((times > number)[..., None, None], found @ found, found)
    return found


DECOMPOSITIONS: dict[str, Callable[..., Any]] = {
    "_linalg_det": _determinant,
    "_linalg_slogdet": _log_determinant,
    "_linalg_solve_ex": _solve,
    "cholesky": _cholesky,
    "cholesky_inverse": _cholesky_inverse,
    "cholesky_solve": _cholesky_solve,
    "linalg_inv_ex": _inverse,
    "linalg_lu": _lu,
    "linalg_lu_solve": _lu_solve,
    "linalg_matrix_exp": _exponential,
    "linalg_pinv.atol_rtol_tensor": _pseudoinverse,
    "linalg_qr": _qr,
    "lu_unpack": _lu_unpack,
    "ormqr": _multiply_by_reflections,
    "triangular_solve": _triangular_solve,
}
"""The functions by the names of the operations that they express."""
