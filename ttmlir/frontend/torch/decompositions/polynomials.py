"""Orthogonal polynomials of a degree that is known, by their recurrences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ttmlir.frontend.torch.elements import torch_package

Step = Callable[[int, Any, Any, Any], Any]
"""The polynomial of degree k + 1 from k, the argument, and those of degrees k and k - 1."""


def _family(first: Callable[[Any], Any], step: Step, *, shifted: bool = False) -> Any:
    """The polynomials that begin with 1 and `first`; 0 for degrees below 0, as in torch."""

    def polynomial(x: Any, n: float) -> Any:
        torch = torch_package()
        x = x if x.is_floating_point() else x.to(torch.get_default_dtype())
        if n < 0:
            return torch.zeros_like(x)
        argument = 2 * x - 1 if shifted else x
        before: Any = torch.zeros_like(x)
        here: Any = torch.ones_like(x)
        for k in range(int(n)):
            after = step(k, argument, here, before) if k else first(argument)
            before, here = here, after
        return here

    return polynomial


def _double(x: Any) -> Any:
    return 2 * x


def _itself(x: Any) -> Any:
    return x


def _chebyshev(k: int, x: Any, here: Any, before: Any) -> Any:
    del k
    return 2 * x * here - before


def _hermite(k: int, x: Any, here: Any, before: Any) -> Any:
    return 2 * x * here - 2 * k * before


def _probabilists_hermite(k: int, x: Any, here: Any, before: Any) -> Any:
    return x * here - k * before


def _laguerre(k: int, x: Any, here: Any, before: Any) -> Any:
    return ((2 * k + 1 - x) * here - k * before) / (k + 1)


def _legendre(k: int, x: Any, here: Any, before: Any) -> Any:
    return ((2 * k + 1) * x * here - k * before) / (k + 1)


_FIRST: dict[str, Callable[[Any], Any]] = {
    "t": _itself,
    "u": _double,
    "v": lambda x: 2 * x - 1,
    "w": lambda x: 2 * x + 1,
}
"""The polynomials of Chebyshev of degree 1, by their kinds."""

DECOMPOSITIONS: dict[str, Callable[..., Any]] = {
    **{
        f"special_{prefix}chebyshev_polynomial_{kind}.n_scalar": _family(
            first, _chebyshev, shifted=bool(prefix)
        )
        for prefix in ("", "shifted_")
        for kind, first in _FIRST.items()
    },
    "special_hermite_polynomial_h.n_scalar": _family(_double, _hermite),
    "special_hermite_polynomial_he.n_scalar": _family(_itself, _probabilists_hermite),
    "special_laguerre_polynomial_l.n_scalar": _family(lambda x: 1 - x, _laguerre),
    "special_legendre_polynomial_p.n_scalar": _family(_itself, _legendre),
}
"""Functions in torch by the names of operations."""
