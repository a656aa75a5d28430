"""Products and distances of matrices and vectors."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from ttmlir.frontend.torch.elements import torch_package

_FEW_ROWS = 25
"""torch takes the product of matrices for more rows than these."""


def _addbmm(x: Any, batch1: Any, batch2: Any, *, beta: float = 1, alpha: float = 1) -> Any:
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


def _cdist_backward(gradient: Any, a: Any, b: Any, p: float, distance: Any) -> Any:
    """The gradient of the first rows."""
    slope = _norm_slope(a.unsqueeze(-2) - b.unsqueeze(-3), distance.unsqueeze(-1), p)
    return (gradient.unsqueeze(-1) * slope).sum(-2)


def _pdist_backward(gradient: Any, x: Any, p: float, distance: Any) -> Any:
    torch = torch_package()
    first, second = torch.triu_indices(x.shape[0], x.shape[0], 1).unbind()
    slope = _norm_slope(x[first] - x[second], distance.unsqueeze(-1), p)
    part = gradient.unsqueeze(-1) * slope
    return torch.zeros_like(x).index_add(0, first, part).index_add(0, second, -part)


def _norm_slope(difference: Any, norm: Any, p: float) -> Any:
    """How the norm of the last dimension changes with its elements; not at all where it is 0."""
    torch = torch_package()
    if p == 0:
        return torch.zeros_like(difference)
    sign = difference.sign()
    if p == 1:
        return sign
    size = difference.abs()
    if math.isinf(p):
        return torch.where(size == norm, sign, 0)
    slope = difference / norm if p == 2 else sign * size.pow(p - 1) / norm.pow(p - 1)
    return torch.where(torch.logical_or(norm == 0, sign == 0), 0, slope)


def _conv_tbc(x: Any, weight: Any, bias: Any, pad: int = 0) -> Any:
    """A convolution of (time, batch, channels)."""
    conv = torch_package().nn.functional.conv1d
    return conv(x.permute(1, 2, 0), weight.permute(2, 1, 0), bias, padding=pad).permute(2, 0, 1)


def _grouped_mm(
    x: Any, weight: Any, offs: Any = None, bias: Any = None, out_dtype: Any = None
) -> Any:
    """Groups of rows, each times a matrix of its own: those of group i end before `offs[i]`.

    All rows are multiplied with one tall matrix, in which the matrices stand below each other; a
    row has its numbers at the place of its own matrix, and 0 at all others. Where there are fewer
    rows than matrices, each row takes its own.
    """
    torch = torch_package()
    if x.dim() != 2 or weight.dim() != 3 or offs is None:
        raise NotImplementedError(
            "grouped products take a matrix, a batch of matrices and the ends of groups of rows; "
            "write others as torch.bmm"
        )
    groups, depth, width = weight.shape
    position = torch.arange(x.shape[0]).unsqueeze(1)
    ends = offs.unsqueeze(0).to(torch.int64)
    is_after = position >= ends
    if x.shape[0] <= groups:
        number = torch.clamp(is_after.to(torch.int64).sum(1), max=groups - 1)
        found = torch.bmm(x.unsqueeze(1), weight.index_select(0, number)).squeeze(1)
        found = torch.where(is_after.narrow(1, groups - 1, 1), 0, found)
    else:
        begins = torch.cat(
            [torch.zeros_like(ends.narrow(1, 0, 1)), ends.narrow(1, 0, groups - 1)], 1
        )
        member = torch.logical_and(position >= begins, torch.logical_not(is_after))
        wide = torch.where(member.unsqueeze(2), x.unsqueeze(1), 0)
        found = wide.reshape(-1, groups * depth) @ weight.reshape(groups * depth, width)
    found = found if bias is None else found + bias
    return found if out_dtype is None else found.to(out_dtype)


DECOMPOSITIONS: dict[str, Callable[..., Any]] = {
    "_cdist_backward": _cdist_backward,
    "_cdist_forward": _cdist,
    "_grouped_mm": _grouped_mm,
    "_pdist_backward": _pdist_backward,
    "_pdist_forward": _pdist,
    "_trilinear": _trilinear,
    "addbmm": _addbmm,
    "conv_tbc": _conv_tbc,
    "transformers.grouped_mm_fallback": _grouped_mm,
}
"""Functions in torch by the names of operations."""
