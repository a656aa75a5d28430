"""Covariances, correlations, combinations, and histograms with their edges."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

from ttmlir.frontend.torch.elements import torch_package


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


def _histogram(
    x: Any,
    bins: int = 100,
    *,
    range: Sequence[float] | None = None,
    weight: Any = None,
    density: bool = False,
) -> tuple[Any, Any]:
    """Sums of weights in equal parts of a range, that of the numbers by default, and the edges."""
    torch = torch_package()
    flat = x.reshape(-1)
    if range is None:
        low, high = flat.amin(), flat.amax()
        is_one = low == high
        low, high = torch.where(is_one, low - 0.5, low), torch.where(is_one, high + 0.5, high)
    else:
        low, high = (torch.full((), float(end), dtype=x.dtype) for end in range)
    # As torch.linspace does it: from both ends, so that each is itself.
    step = (high - low) / bins
    places = torch.arange(bins + 1)
    edges = torch.where(
        places < (bins + 1) // 2, low + step * places, high - step * (bins - places)
    )
    return _count(flat, edges, weight, density)


def _histogram_of_edges(
    x: Any, bins: Any, *, weight: Any = None, density: bool = False
) -> tuple[Any, Any]:
    """Sums of weights between edges."""
    return _count(x.reshape(-1), bins, weight, density)


def _count(flat: Any, edges: Any, weight: Any, density: bool) -> tuple[Any, Any]:
    """Sums of weights between edges, of which the last belongs to the last part."""
    torch = torch_package()
    parts = edges.shape[0] - 1
    last = edges[-1]
    place = torch.searchsorted(edges, flat, right=True) - 1
    place = torch.where(flat == last, parts - 1, place)
    # What is outside goes behind the last part, and away.
    place = torch.where(torch.logical_or(place < 0, place >= parts), parts, place)
    weights = torch.ones_like(flat) if weight is None else weight.reshape(-1)
    sums = torch.zeros(parts + 1, dtype=flat.dtype).scatter_add(0, place, weights)
    sums = sums.narrow(0, 0, parts)
    if density:
        sums = sums / sums.sum() / (edges[1:] - edges[:-1])
    return sums, edges


DECOMPOSITIONS: dict[str, Callable[..., Any]] = {
    "histogram.bin_ct": _histogram,
    "histogram.bins_tensor": _histogram_of_edges,
}
"""Functions in torch by the names of operations."""

UNTRACEABLE: dict[str, Callable[..., Any]] = {
    "combinations": _combinations,
    "corrcoef": _corrcoef,
    "cov": _cov,
}
"""Functions in torch by the names of those of torch that look at numbers while they are traced."""
