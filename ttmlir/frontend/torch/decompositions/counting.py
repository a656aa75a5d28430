"""Histograms, and places among sorted numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ttmlir.frontend.torch.elements import torch_package

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


DECOMPOSITIONS: dict[str, Callable[..., Any]] = {
    "bucketize": _bucketize,
    "histc": _histc,
    "searchsorted": _searchsorted,
}
"""Functions in torch by the names of operations."""
