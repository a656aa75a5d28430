"""Order statistics, by sorting."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ttmlir.frontend.torch.decompositions.running import running_maximum
from ttmlir.frontend.torch.elements import torch_package


def _at_least_one_dimension(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function of a tensor and a dimension, on numbers without dimensions, too."""

    def decomposition(x: Any, *args: Any, **kwargs: Any) -> Any:
        if x.dim():
            return function(x, *args, **kwargs)
        return tuple(each.reshape(()) for each in function(x.reshape(1), *args, **kwargs))

    return decomposition


def _kept(values: Any, places: Any, dim: int, keepdim: bool) -> tuple[Any, Any]:
    """Results with one element along a dimension, which is dropped unless it is kept."""
    return (values, places) if keepdim else (values.squeeze(dim), places.squeeze(dim))


def _kthvalue(x: Any, k: int, dim: int = -1, keepdim: bool = False) -> Any:
    values, places = torch_package().sort(x, dim)
    return _kept(values.narrow(dim, k - 1, 1), places.narrow(dim, k - 1, 1), dim, keepdim)


def _median(x: Any, dim: int, keepdim: bool = False) -> Any:
    """The lower one of two in the middle; NaN where there is one."""
    torch = torch_package()
    values, places = torch.sort(x, dim)
    count = x.shape[dim]
    middle = (count - 1) // 2
    found, place = values.narrow(dim, middle, 1), places.narrow(dim, middle, 1)
    if x.is_floating_point():
        # NaN comes last, the first of them is where they begin.
        is_nan = x.isnan()
        has_nan = is_nan.any(dim, keepdim=True)
        found = torch.where(has_nan, torch.nan, found)
        place = torch.where(has_nan, is_nan.to(torch.int32).argmax(dim, keepdim=True), place)
    return _kept(found, place, dim, keepdim)


def _nanmedian(x: Any, dim: int, keepdim: bool = False) -> Any:
    """The lower one of two in the middle of those that are not NaN."""
    torch = torch_package()
    values, places = torch.sort(x, dim)
    numbers = torch.logical_not(x.isnan()).to(torch.int64).sum(dim, keepdim=True)
    middle = torch.clamp((numbers - 1) // 2, min=0)
    return _kept(values.gather(dim, middle), places.gather(dim, middle), dim, keepdim)


def _of_all(function: Callable[..., Any]) -> Callable[..., Any]:
    def decomposition(x: Any) -> Any:
        return function(x.reshape(-1), 0)[0]

    return decomposition


def _mode(x: Any, dim: int = -1, keepdim: bool = False) -> Any:
    """The smallest of the most frequent numbers, and the place of the last one."""
    torch = torch_package()
    values, places = torch.sort(x, stable=True, dim=dim)
    count = x.shape[dim]
    shape = [1] * x.dim()
    shape[dim] = count
    position = torch.arange(count).reshape(shape)
    begins = values.narrow(dim, 1, count - 1) != values.narrow(dim, 0, count - 1)
    begins = torch.cat([torch.ones_like(values.narrow(dim, 0, 1), dtype=torch.bool), begins], dim)
    start = running_maximum(torch.where(begins, position, 0), dim)
    best = (position - start).argmax(dim, keepdim=True)
    return _kept(values.gather(dim, best), places.gather(dim, best), dim, keepdim)


DECOMPOSITIONS: dict[str, Callable[..., Any]] = {
    "kthvalue": _at_least_one_dimension(_kthvalue),
    "median.default": _of_all(_median),
    "median.dim": _at_least_one_dimension(_median),
    "mode": _at_least_one_dimension(_mode),
    "nanmedian.default": _of_all(_nanmedian),
    "nanmedian.dim": _at_least_one_dimension(_nanmedian),
}
"""Functions in torch by the names of operations."""
