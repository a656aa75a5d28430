"""Products and distances of matrices and vectors."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from ttmlir.frontend.torch.elements import torch_package

_FEW_ROWS = 25
"""torch takes the product of matrices for more rows than these."""


def _addbmm(
    x: Any, batch1: Any, batch2: Any, *, beta: float = 1, alpha: float = 1
) -> Any:
    total = torch_package().bmm(batch1, batch2).sum(0)
    total = total if alpha == 1 else total * alpha
    return (x if beta == 1 else x * beta) + total if beta else total.expand_as(total)


def _trilinear(
    a: Any,
    b: Any,
    c: Any,
    expand1: Sequence[int],
    expand2: Sequence[int],
    expand3: Sequence[int],
    sumdim: Sequence[int],
    unroll_dim: int = 1,
) -> Any:
    """The sum over some dimensions of the product of three tensors, given those they lack."""
    expanded: list[Any] = []
    for tensor, dims in ((a, expand1), (b, expand2), (c, expand3)):
        for dim in sorted(dims):
            tensor = tensor.unsqueeze(dim)
        expanded.append(tensor)
    return (expanded[0] * expanded[2] * expanded[1]).sum(list(sumdim))


def _cdist(a: Any, b: Any, p: float, compute_mode: int | None = None) -> Any:
    """The distances of all rows from all rows, in the norm `p`."""
    torch = torch_package()
    rows = max(a.shape[-2], b.shape[-2])
    if p == 2 and compute_mode != 2 and (compute_mode == 1 or rows > _FEW_ROWS):
        squares = a.square().sum(-1, keepdim=True) + b.square().sum(-1).unsqueeze(-2)
        return torch.clamp(squares - 2 * (a @ b.transpose(-1, -2)), min=0).sqrt()
    return _norm(a.unsqueeze(-2) - b.unsqueeze(-3), p)


def _norm(difference: Any, p: float) -> Any:
    size = difference.abs()
    if p == 0:
        return (size != 0).to(difference.dtype).sum(-1)
    if p == 1:
        return size.sum(-1)
    if p == 2:
        return difference.square().sum(-1).sqrt()
    if math.isinf(p):
        return size.amax(-1)
    return size.pow(p).sum(-1).pow(1 / p)


def _pdist(x: Any, p: float = 2) -> Any:
    """The distances of each row from those after it."""
    torch = torch_package()
    first, second = torch.triu_indices(x.shape[0], x.shape[0], 1).unbind()
    return _norm(x[first] - x[second], p)


def _conv_tbc(x: Any, weight: Any, bias: Any, pad: int = 0) -> Any:
    """A convolution of (time, batch, channels)."""
    conv = torch_package().nn.functional.conv1d
    return conv(x.permute(1, 2, 0), weight.permute(2, 1, 0), bias, padding=pad).permute(2, 0, 1)


DECOMPOSITIONS: dict[str, Callable[..., Any]] = {
    "_cdist_forward": _cdist,
    "_pdist_forward": _pdist,
    "_trilinear": _trilinear,
    "addbmm": _addbmm,
    "conv_tbc": _conv_tbc,
}
"""Functions in torch by the names of operations."""
