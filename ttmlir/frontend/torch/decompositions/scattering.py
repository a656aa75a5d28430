"""Writing to numbered places, and combining what meets there."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from ttmlir.frontend.torch.elements import torch_package


def _index_reduce(
    x: Any, dim: int, index: Any, source: Any, reduce: str, *, include_self: bool = True
) -> Any:
    """Whole slices combined at numbered places."""
    if not x.dim():
        x, source = x.reshape(1), source.reshape(1)
        return _index_reduce(x, 0, index, source, reduce, include_self=include_self).reshape(())
    shape = [1] * x.dim()
    shape[dim] = index.numel()
    places = index.reshape(shape).expand(source.shape)
    return x.scatter_reduce(dim, places, source, reduce, include_self=include_self)


def _masked_scatter(x: Any, mask: Any, source: Any) -> Any:
    """The first elements of `source`, in order, where a mask is true."""
    torch = torch_package()
    x, mask = torch.broadcast_tensors(x, mask)
    flat = mask.reshape(-1)
    place = torch.clamp(flat.to(torch.int64).cumsum(0) - 1, 0, source.numel() - 1)
    found = source.reshape(-1).index_select(0, place).reshape(x.shape)
    return torch.where(mask, found, x)


def _put(x: Any, index: Any, source: Any, accumulate: bool = False) -> Any:
    """Elements written to places that are counted over all dimensions."""
    count = x.numel()
    torch = torch_package()
    places = torch.where(index < 0, index + count, index).reshape(-1)
    flat = x.reshape(-1).index_put([places], source.reshape(-1), accumulate)
    return flat.reshape(x.shape)


def _nonzero_static(x: Any, *, size: int, fill_value: int = -1) -> Any:
    """The places of the first `size` elements that are not 0, one in each row."""
    torch = torch_package()
    if not x.dim():
        return torch.zeros(size, 0, dtype=torch.int64)
    flat = (x != 0).reshape(-1)
    # Each such element goes to its row, all others behind the last one, and away.
    rank = flat.to(torch.int64).cumsum(0) - 1
    row = torch.where(torch.logical_and(flat, rank < size), rank, size)
    order = torch.full((size + 1,), -1, dtype=torch.int64)
    order = order.scatter(0, row, torch.arange(flat.shape[0])).narrow(0, 0, size)
    columns: list[Any] = []
    rest = torch.clamp(order, min=0)
    for extent in reversed(x.shape):
        columns.append(rest % extent)
        rest = rest // extent
    places = torch.stack(columns[::-1], 1)
    return torch.where((order >= 0).unsqueeze(1), places, fill_value)


def _masked_scatter_backward(gradient: Any, mask: Any, sizes: Sequence[int]) -> Any:
    """The chosen elements, in order, and 0 for those of the source that were not needed."""
    torch = torch_package()
    gradient, mask = torch.broadcast_tensors(gradient, mask)
    flat, count = mask.reshape(-1), math.prod(sizes)
    rank = flat.to(torch.int64).cumsum(0) - 1
    # What is not chosen goes behind the last one, and away.
    place = torch.where(torch.logical_and(flat, rank < count), rank, count)
    found = torch.zeros(count + 1, dtype=gradient.dtype)
    found = found.scatter_add(0, place, gradient.reshape(-1))
    return found.narrow(0, 0, count).reshape(sizes)


DECOMPOSITIONS: dict[str, Callable[..., Any]] = {
    "index_reduce": _index_reduce,
    "masked_scatter": _masked_scatter,
    "masked_scatter_backward": _masked_scatter_backward,
    "nonzero_static": _nonzero_static,
    "put": _put,
}
"""Functions in torch by the names of operations."""
