"""Order statistics, and functions of statistics that torch cannot trace."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

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
    start = torch.cummax(torch.where(begins, position, 0), dim).values
    best = (position - start).argmax(dim, keepdim=True)
    return _kept(values.gather(dim, best), places.gather(dim, best), dim, keepdim)


# -- covariances and combinations --------------------------------------------------------------


def _cov(x: Any, *, correction: int = 1, fweights: Any = None, aweights: Any = None) -> Any:
    """How the rows of numbers change together: sums of products of their distances to the means.

    As in `torch.cov`: a column counts `fweights` times, with the importance `aweights`.
    """
    torch = torch_package()
    rows = x.unsqueeze(0) if x.dim() < 2 else x
    weights = None
    if fweights is not None:
        weights = fweights.to(x.dtype)
    if aweights is not None:
        weights = aweights.to(x.dtype) if weights is None else weights * aweights
    if weights is None:
        count = rows.shape[1]
        mean = rows.mean(1, keepdim=True)
        distances = rows - mean
        weighted = distances
        divisor: Any = max(count - correction, 0)
    else:
        total = weights.sum()
        distances = rows - (rows * weights).sum(1, keepdim=True) / total
        weighted = distances * weights
        lost = correction
        if aweights is not None and correction:
            lost = correction * (weights * aweights).sum() / total
        divisor = torch.clamp(total - lost, min=0)
    return (weighted @ distances.T / divisor).squeeze()


def _corrcoef(x: Any) -> Any:
    """The covariances of rows divided by their deviations, between -1 and 1."""
    torch = torch_package()
    covariances = _cov(x)
    if covariances.dim() == 0:
        return covariances / covariances
    deviations = covariances.diagonal().sqrt()
    scaled = covariances / deviations.unsqueeze(1) / deviations.unsqueeze(0)
    return torch.clamp(scaled, -1, 1)


def _combinations(x: Any, r: int = 2, with_replacement: bool = False) -> Any:
    """All choices of `r` of some numbers, a row for each."""
    torch = torch_package()
    chosen = (
        itertools.combinations_with_replacement(range(len(x)), r)
        if with_replacement
        else itertools.combinations(range(len(x)), r)
    )
    places = torch.tensor(list(chosen), dtype=torch.int64).reshape(-1, r)
    return x[places]


DECOMPOSITIONS: dict[str, Callable[..., Any]] = {
    "kthvalue": _at_least_one_dimension(_kthvalue),
    "median.default": _of_all(_median),
    "median.dim": _at_least_one_dimension(_median),
    "mode": _at_least_one_dimension(_mode),
    "nanmedian.default": _of_all(_nanmedian),
    "nanmedian.dim": _at_least_one_dimension(_nanmedian),
}
"""Functions in torch by the names of operations."""


UNTRACEABLE: dict[str, Callable[..., Any]] = {
    "combinations": _combinations,
    "corrcoef": _corrcoef,
    "cov": _cov,
}
"""Functions in torch by the names of those of torch that look at numbers while they are traced."""
