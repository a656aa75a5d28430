"""Order statistics, running maxima, histograms and covariances."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
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
    start = running_maximum(torch.where(begins, position, 0), dim)
    best = (position - start).argmax(dim, keepdim=True)
    return _kept(values.gather(dim, best), places.gather(dim, best), dim, keepdim)


# -- running products and maxima, in steps over distances of 1, 2, 4 and so on -----------------


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


# -- histograms, and places among sorted numbers -----------------------------------------------


_FEW = 64
"""Up to so many boundaries, each number is compared with all of them."""


def _histc(x: Any, bins: int = 100, min: float = 0, max: float = 0) -> Any:
    """How many numbers are in each of some equal parts of a range, that of the numbers if empty."""
    torch = torch_package()
    flat = x.reshape(-1)
    low: Any = min
    high: Any = max
    if min == max:
        low, high = flat.amin(), flat.amax()
        # All numbers are the same: a range of 2 around them.
        low, high = (
            torch.where(low == high, low - 1, low),
            torch.where(low == high, high + 1, high),
        )
    inside = torch.logical_and(flat >= low, flat <= high)
    place = ((flat - low) * bins / (high - low)).to(torch.int64)
    # What is outside goes behind the last part, and away.
    place = torch.where(inside, torch.clamp(place, 0, bins - 1), bins)
    counts = torch.zeros(bins + 1, dtype=x.dtype)
    ones = torch.ones_like(flat)
    return counts.scatter_add(0, place, ones).narrow(0, 0, bins)


def _search(boundaries: Any, values: Any, *, right: bool, out_int32: bool) -> Any:
    """How many boundaries are below each number; those that equal it count if `right`."""
    torch = torch_package()
    dtype = torch.int32 if out_int32 else torch.int64
    count = boundaries.shape[-1]
    is_one_list = boundaries.dim() == 1
    if count <= _FEW:
        along = boundaries if is_one_list else boundaries.unsqueeze(-2)
        return _is_below(along, values.unsqueeze(-1), right).to(dtype).sum(-1, dtype=dtype)
    low = torch.zeros_like(values, dtype=torch.int64)
    # Halving: as many boundaries are below a number as the sum of the steps that were taken.
    step = 1 << (count.bit_length() - 1)
    while step:
        last = low + (step - 1)
        at = torch.clamp(last, max=count - 1)
        found = boundaries[at] if is_one_list else boundaries.gather(-1, at)
        is_below = torch.logical_and(_is_below(found, values, right), last < count)
        low = torch.where(is_below, low + step, low)
        step //= 2
    return low.to(dtype)


def _is_below(boundaries: Any, values: Any, right: bool) -> Any:
    """Nothing is above NaN."""
    torch = torch_package()
    above = boundaries > values if right else boundaries >= values
    return torch.logical_not(above)


def _bucketize(x: Any, boundaries: Any, *, out_int32: bool = False, right: bool = False) -> Any:
    values = x if hasattr(x, "dim") else torch_package().full((), x)
    return _search(boundaries, values, right=right, out_int32=out_int32)


def _searchsorted(
    boundaries: Any,
    values: Any,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Any = None,
) -> Any:
    if sorter is not None:
        boundaries = boundaries.gather(-1, sorter)
    given = values if hasattr(values, "dim") else torch_package().full((), values)
    found = _search(
        boundaries,
        given.reshape(1) if not given.dim() else given,
        right=right or side == "right",
        out_int32=out_int32,
    )
    return found.reshape(given.shape)


# -- covariances, combinations, and histograms with their edges --------------------------------


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
    "kthvalue": _at_least_one_dimension(_kthvalue),
    "median.default": _of_all(_median),
    "median.dim": _at_least_one_dimension(_median),
    "mode": _at_least_one_dimension(_mode),
    "nanmedian.default": _of_all(_nanmedian),
    "nanmedian.dim": _at_least_one_dimension(_nanmedian),
    "cummax": _extreme("ge"),
    "cummin": _extreme("le"),
    "cumprod": _cumprod,
    "logcumsumexp": _logcumsumexp,
    "bucketize": _bucketize,
    "histc": _histc,
    "searchsorted": _searchsorted,
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
