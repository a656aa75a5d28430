"""Operations on rows in segments, whose lengths are numbers of a tensor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ttmlir.errors import ArgumentError
from ttmlir.frontend.torch.elements import torch_package

_NEUTRAL = {"sum": 0.0, "mean": 0.0, "prod": 1.0, "max": float("-inf"), "min": float("inf")}
_SCATTERS = {"sum": "sum", "mean": "sum", "prod": "prod", "max": "amax", "min": "amin"}


def reduce_segments(
    data: Any,
    reduce: str,
    *,
    lengths: Any = None,
    indices: Any = None,
    offsets: Any = None,
    axis: int = 0,
    unsafe: bool = False,
    initial: Any = None,
) -> Any:
    """One row for each segment of a dimension, as `torch.segment_reduce`.

    Of a segment without rows there is the initial value, or NaN for a mean. Nothing looks at the
    lengths: rows behind the last segment are left out.
    """
    torch = torch_package()
    if reduce not in _NEUTRAL or indices is not None or (lengths is None) == (offsets is None):
        raise ArgumentError(
            f"segment_reduce takes one of {', '.join(_NEUTRAL)}, and lengths or offsets"
        )
    if lengths is None:
        begins, ends = offsets[..., :-1], offsets[..., 1:]
    else:
        ends = lengths.cumsum(-1)
        begins = ends - lengths
    axis %= data.dim()
    outer, count = ends.shape[:-1], ends.shape[-1]
    if axis != len(outer) or data.shape[:axis] != outer:
        raise ArgumentError("lengths and offsets have the dimensions of the data up to the axis")
    shape = (*outer, count + 1, *data.shape[axis + 1 :])
    place = torch.arange(data.shape[axis]).expand((*outer, -1)).contiguous()
    segment = torch.searchsorted(ends.to(place.dtype).contiguous(), place, right=True)
    if offsets is not None:
        segment = torch.where(place < begins[..., :1], count, segment)
    inner = (1,) * (data.dim() - axis - 1)
    segment = segment.reshape((*segment.shape, *inner)).expand(data.shape)
    start = torch.full(shape, _NEUTRAL[reduce] if initial is None else initial, dtype=data.dtype)
    found = start.scatter_reduce(axis, segment, data, _SCATTERS[reduce]).narrow(axis, 0, count)
    if reduce != "mean":
        return found
    sizes = (ends - begins).reshape((*outer, count, *inner))
    empty = float("nan") if initial is None else initial
    return torch.where(sizes > 0, found / sizes.clamp(min=1), empty)


def count_numbers(x: Any, weights: Any = None, minlength: int = 0) -> Any:
    """How often each whole number below `minlength` is there, as `torch.bincount`.

    Larger ones are out of bounds, where torch would make the result longer.
    """
    torch = torch_package()
    if not minlength:
        return torch.ops.aten.bincount(x, weights)
    if weights is None:
        weights = torch.ones_like(x, dtype=torch.int64)
    elif weights.dtype != torch.float32:
        weights = weights.to(torch.float64)
    return torch.zeros(minlength, dtype=weights.dtype).scatter_add(0, x.long(), weights)


def _repeat_places(repeats: Any, *, output_size: int | None = None) -> Any:
    """The place of each of `output_size` elements among those that are repeated so often."""
    torch = torch_package()
    if output_size is None:
        return NotImplemented
    ends = repeats.long().cumsum(0)
    return torch.searchsorted(ends, torch.arange(output_size), right=True).to(repeats.dtype)


DECOMPOSITIONS: dict[str, Callable[..., Any]] = {
    "repeat_interleave.Tensor": _repeat_places,
    "segment_reduce": reduce_segments,
}
"""The functions by the names of the operations that they express."""
