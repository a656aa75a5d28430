"""Tables of rows that numbers choose: bags of rows, their gradients, and rows of limited length."""

from __future__ import annotations

from collections.abc import Callable
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


DECOMPOSITIONS: dict[str, Callable[..., Any]] = {
    "_embedding_bag": _embedding_bag,
    "_embedding_bag_backward": _embedding_bag_backward,
    "_embedding_bag_dense_backward": _embedding_bag_dense_backward,
    "_embedding_bag_forward_only": _embedding_bag,
    "_embedding_bag_per_sample_weights_backward": _embedding_bag_per_sample_weights_backward,
    "embedding_renorm": _embedding_renorm,
}
"""Functions in torch by the names of operations."""


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
