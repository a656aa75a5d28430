"""The loss of a normal distribution, whose variances torch checks while it traces."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ttmlir.frontend.torch.elements import torch_package


def _gaussian_nll_loss(
    x: Any,
    target: Any,
    var: Any,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Any:
    """Half of log(var) + (x - target)^2 / var; a smaller variance than `eps` counts as `eps`."""
    torch = torch_package()
    var = torch.as_tensor(var, dtype=x.dtype)
    if var.dim() and var.shape != x.shape:
        if var.shape == x.shape[:-1]:
            var = var.unsqueeze(-1)
        elif var.shape != (*x.shape[:-1], 1):
            raise ValueError(f"var of shape {tuple(var.shape)} for an input of {tuple(x.shape)}")
    # torch does not differentiate that.
    var = var + (torch.clamp(var, min=eps) - var).detach()
    loss = (var.log() + (x - target).square() / var) / 2
    if full:
        loss = loss + math.log(2 * math.pi) / 2
    reductions = {"none": lambda: loss, "mean": loss.mean, "sum": loss.sum}
    if reduction not in reductions:
        raise ValueError(f"{reduction} is not valid")
    return reductions[reduction]()


UNTRACEABLE: dict[str, Callable[..., Any]] = {"nn.functional.gaussian_nll_loss": _gaussian_nll_loss}
"""Functions in torch by the names of those of torch that look at numbers while they are traced."""
