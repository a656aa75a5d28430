"""Losses of labels whose scores should be above those of all others by a margin."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ttmlir.frontend.torch.elements import torch_package

_NONE, _MEAN, _SUM = range(3)
"""How torch numbers the ways to reduce a loss."""


def _multilabel_margin_loss(x: Any, target: Any, reduction: int) -> tuple[Any, Any]:
    """How far labels are from being above all others by 1, and which numbers are labels.

    Those of a row end in front of its first -1. torch's own decomposition takes the scores of
    other rows for those of labels.
    """
    torch = torch_package()
    counts, below, member = _compare_labels(x, target)
    is_target = member.any(-2)
    loss = torch.where(counts, torch.clamp(below, min=0), 0).sum((-2, -1)) / x.shape[-1]
    if reduction == _NONE:
        loss = loss.reshape(x.shape[:-1])
    else:
        loss = loss.mean() if reduction == _MEAN else loss.sum()
    return loss, is_target.to(x.dtype).reshape(target.shape)


def _compare_labels(x: Any, target: Any) -> tuple[Any, Any, Any]:
    """Of all pairs (row, label, element): whether they count, how far, and which are the label."""
    torch = torch_package()
    rows, labels = (each.reshape(-1, each.shape[-1]) for each in (x, target))
    is_label = (labels == -1).to(torch.int32).cumsum(-1) == 0
    label = torch.where(is_label, labels, 0)
    same = label.unsqueeze(-1) == torch.arange(rows.shape[-1])
    member = torch.logical_and(same, is_label.unsqueeze(-1))
    below = 1 - (rows.gather(-1, label).unsqueeze(-1) - rows.unsqueeze(-2))
    others = torch.logical_not(member.any(-2)).unsqueeze(-2)
    return torch.logical_and(is_label.unsqueeze(-1), others), below, member


def _multilabel_margin_loss_backward(
    gradient: Any, x: Any, target: Any, reduction: int, is_target: Any
) -> Any:
    torch = torch_package()
    counts, below, member = _compare_labels(x, target)
    pushed = torch.logical_and(counts, below > 0).to(x.dtype)
    # Each pair moves the element up and its label down.
    slope = pushed.sum(1) - (pushed.sum(2, keepdim=True) * member).sum(1)
    return _scale(gradient, slope, reduction).reshape(x.shape)


def _multi_margin_loss_backward(
    gradient: Any,
    x: Any,
    target: Any,
    p: float,
    margin: float,
    weight: Any = None,
    reduction: int = _MEAN,
) -> Any:
    torch = torch_package()
    rows, label = x.reshape(-1, x.shape[-1]), target.reshape(-1, 1)
    is_label = label == torch.arange(rows.shape[1])
    below = margin - rows.gather(1, label) + rows
    slope = (below > 0).to(x.dtype) if p == 1 else 2 * torch.clamp(below, min=0)
    slope = torch.where(is_label, 0, slope)
    slope = torch.where(is_label, -slope.sum(1, keepdim=True), slope)
    if weight is not None:
        slope = slope * weight[label]
    return _scale(gradient, slope, reduction).reshape(x.shape)


def _scale(gradient: Any, slope: Any, reduction: int) -> Any:
    """What rows of slopes are in the reduced loss, which is a mean over the elements of a row."""
    count, width = slope.shape
    slope = slope / (width * count if reduction == _MEAN else width)
    return slope * (gradient.reshape(-1, 1) if reduction == _NONE else gradient)


DECOMPOSITIONS: dict[str, Callable[..., Any]] = {
    "multi_margin_loss_backward": _multi_margin_loss_backward,
    "multilabel_margin_loss_backward": _multilabel_margin_loss_backward,
    "multilabel_margin_loss_forward": _multilabel_margin_loss,
}
"""Functions in torch by the names of operations."""
