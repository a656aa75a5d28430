"""Rows of tables and places of tensors that numbers choose: read, summed and written."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from inspect import signature
from typing import Any

from ttmlir.frontend.torch.elements import torch_package

_SUM, _MEAN, _MAX = range(3)


def _embedding_bag(
    weight: Any,
    indices: Any,
    offsets: Any,
    scale_grad_by_freq: bool = False,
    mode: int = _SUM,
    sparse: bool = False,
    per_sample_weights: Any = None,
    include_last_offset: bool = False,
    padding_idx: int = -1,
) -> tuple[Any, Any, Any, Any]:
    """Sums, means or maxima of the rows of a table that bags of numbers name.

    A bag begins at each offset. Rows with the number `padding_idx` do not count.
    """
    torch = torch_package()
    if include_last_offset:
        offsets = offsets.narrow(0, 0, offsets.shape[0] - 1)
    bags = offsets.shape[0]
    bag = _bags(indices, offsets)
    counted = indices != padding_idx
    member = torch.logical_and(bag.unsqueeze(0) == torch.arange(bags).unsqueeze(1), counted)
    rows = weight.index_select(0, indices.reshape(-1))
    size = member.to(torch.int64).sum(1)
    none = torch.zeros(bags, dtype=indices.dtype)
    if mode == _MAX:
        hidden = torch.where(member.unsqueeze(2), rows.unsqueeze(0), -torch.inf)
        largest = indices[hidden.argmax(1)]
        found = torch.where((size > 0).unsqueeze(1), hidden.amax(1), 0)
        return found, bag, size, largest
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.unsqueeze(1)
    total = member.to(rows.dtype) @ rows
    if mode == _MEAN:
        total = total / torch.clamp(size, min=1).to(total.dtype).unsqueeze(1)
    return total, bag, size, none


def _bags(indices: Any, offsets: Any) -> Any:
    """The bag that each number is in."""
    torch = torch_package()
    position = torch.arange(indices.shape[0]).unsqueeze(1)
    return (position >= offsets.unsqueeze(0)).to(torch.int64).sum(1) - 1


def _embedding_bag_backward(
    gradient: Any,
    indices: Any,
    offsets: Any,
    offset2bag: Any,
    bag_size: Any,
    maximum_indices: Any,
    num_weights: int,
    scale_grad_by_freq: bool,
    mode: int,
    sparse: bool,
    per_sample_weights: Any,
    padding_idx: int = -1,
) -> Any:
    """The gradient of the table; torch has a sparse tensor for it if `sparse`."""
    return _embedding_bag_dense_backward(
        gradient,
        indices,
        _bags(indices, offsets),
        bag_size,
        maximum_indices,
        num_weights,
        scale_grad_by_freq,
        mode,
        per_sample_weights,
        padding_idx,
    )


def _embedding_bag_dense_backward(
    gradient: Any,
    indices: Any,
    offset2bag: Any,
    bag_size: Any,
    maximum_indices: Any,
    num_weights: int,
    scale_grad_by_freq: bool,
    mode: int,
    per_sample_weights: Any,
    padding_idx: int = -1,
) -> Any:
    """The gradient of the table."""
    torch = torch_package()
    table = torch.zeros((num_weights, gradient.shape[1]), dtype=gradient.dtype)
    if mode == _MAX:
        # Empty bags have no largest row.
        part = torch.where((bag_size > 0).unsqueeze(1), gradient, 0)
        return table.scatter_add(0, maximum_indices, part)
    if mode == _MEAN:
        sizes = torch.clamp(bag_size, min=1).to(gradient.dtype)
        gradient = gradient / sizes.unsqueeze(1)
    rows = gradient.index_select(0, offset2bag)
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.unsqueeze(1)
    if scale_grad_by_freq:
        ones = torch.ones_like(indices, dtype=gradient.dtype)
        counts = torch.zeros(num_weights, dtype=gradient.dtype).index_add(0, indices, ones)
        rows = rows / counts.index_select(0, indices).unsqueeze(1)
    return table.index_add(0, indices, _without_padding(indices, rows, padding_idx))


def _embedding_bag_per_sample_weights_backward(
    gradient: Any,
    weight: Any,
    indices: Any,
    offsets: Any,
    offset2bag: Any,
    mode: int,
    padding_idx: int = -1,
) -> Any:
    """The gradient of the factors of rows."""
    rows = gradient.index_select(0, _bags(indices, offsets)) * weight.index_select(0, indices)
    return _without_padding(indices, rows, padding_idx).sum(1)


def _without_padding(indices: Any, rows: Any, padding_idx: int) -> Any:
    """The rows, 0 where the number is that of padding."""
    if padding_idx < 0:
        return rows
    return torch_package().where((indices == padding_idx).unsqueeze(1), 0, rows)


def _embedding_renorm(weight: Any, indices: Any, max_norm: float, norm_type: float) -> Any:
    """The table with the rows that are looked up no longer than `max_norm`."""
    torch = torch_package()
    norms = torch.linalg.vector_norm(weight, norm_type, 1)
    looked_up = torch.zeros(weight.shape[0], dtype=torch.bool)
    looked_up = looked_up.index_fill(0, indices.reshape(-1), True)
    # The small number is torch's.
    factor = torch.where(norms > max_norm, max_norm / (norms + 1e-7), 1)
    return weight * torch.where(looked_up, factor, 1).unsqueeze(1)


def _dense(name: str) -> Callable[..., Any]:
    """A function of torch with a dense gradient, also where a sparse one is asked for."""

    def function(*args: Any, **keywords: Any) -> Any:
        original = getattr(torch_package().nn.functional, name)
        bound = signature(original).bind(*args, **keywords)
        return original(**{**bound.arguments, "sparse": False})

    return function


UNTRACEABLE: dict[str, Callable[..., Any]] = {
    f"nn.functional.{name}": _dense(name) for name in ("embedding", "embedding_bag")
}
"""Functions in torch by the names of those of torch that make sparse tensors."""


# -- writing to numbered places, and combining what meets there --------------------------------


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
    "_embedding_bag": _embedding_bag,
    "_embedding_bag_backward": _embedding_bag_backward,
    "_embedding_bag_dense_backward": _embedding_bag_dense_backward,
    "_embedding_bag_forward_only": _embedding_bag,
    "_embedding_bag_per_sample_weights_backward": _embedding_bag_per_sample_weights_backward,
    "embedding_renorm": _embedding_renorm,
    "index_reduce": _index_reduce,
    "masked_scatter": _masked_scatter,
    "masked_scatter_backward": _masked_scatter_backward,
    "nonzero_static": _nonzero_static,
    "put": _put,
}
"""Functions in torch by the names of operations."""
