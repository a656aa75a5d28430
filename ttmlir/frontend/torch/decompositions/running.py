"""Running products, maxima and the like: in steps over distances of 1, 2, 4 and so on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ttmlir.frontend.torch.elements import torch_package

Combine = Callable[[Sequence[Any], Sequence[Any]], Sequence[Any]]
"""What becomes of tensors of earlier elements and tensors of later ones."""


def _scan(tensors: Sequence[Any], dim: int, combine: Combine) -> Sequence[Any]:
    """All elements combined with those before them along a dimension."""
    torch = torch_package()
    if not tensors[0].dim():
        return tensors
    count, distance = tensors[0].shape[dim], 1
    while distance < count:
        rest = count - distance
        before = [each.narrow(dim, 0, rest) for each in tensors]
        after = [each.narrow(dim, distance, rest) for each in tensors]
        combined = combine(before, after)
        tensors = [
            torch.cat([each.narrow(dim, 0, distance), new], dim)
            for each, new in zip(tensors, combined, strict=True)
        ]
        distance *= 2
    return tensors


def running_maximum(x: Any, dim: int) -> Any:
    """The largest element so far."""
    return _scan([x], dim, lambda a, b: [torch_package().maximum(a[0], b[0])])[0]


def _cumprod(x: Any, dim: int, *, dtype: Any = None) -> Any:
    torch = torch_package()
    if dtype is None:
        dtype = x.dtype if x.is_floating_point() or x.is_complex() else torch.int64
    return _scan([x.to(dtype)], dim, lambda a, b: [a[0] * b[0]])[0]


def _extreme(name: str) -> Callable[..., Any]:
    """The largest or smallest element so far, and the last place where it is."""

    def decomposition(x: Any, dim: int) -> Any:
        torch = torch_package()

        def combine(a: Sequence[Any], b: Sequence[Any]) -> Sequence[Any]:
            is_later = getattr(torch, name)(b[0], a[0])
            if x.is_floating_point():
                # NaN stays once it is there.
                is_later = torch.logical_or(is_later, b[0].isnan())
                is_later = torch.where(a[0].isnan(), b[0].isnan(), is_later)
            return [torch.where(is_later, b[0], a[0]), torch.where(is_later, b[1], a[1])]

        if not x.dim():
            return x.clone(), torch.zeros_like(x, dtype=torch.int64)
        shape = [1] * x.dim()
        shape[dim] = x.shape[dim]
        places = torch.arange(x.shape[dim]).reshape(shape).expand(x.shape)
        return tuple(_scan([x, places], dim, combine))

    return decomposition


def _logcumsumexp(x: Any, dim: int) -> Any:
    torch = torch_package()

    def combine(a: Sequence[Any], b: Sequence[Any]) -> Sequence[Any]:
        return [torch.logaddexp(a[0], b[0])]

    return _scan([x], dim, combine)[0]


DECOMPOSITIONS: dict[str, Callable[..., Any]] = {
    "cummax": _extreme("ge"),
    "cummin": _extreme("le"),
    "cumprod": _cumprod,
    "logcumsumexp": _logcumsumexp,
}
"""Functions in torch by the names of operations."""
