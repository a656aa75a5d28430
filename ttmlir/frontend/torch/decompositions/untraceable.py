"""Functions of torch that look at numbers while it traces them, replaced for that time.

Some compute by what they find. Others look for mistakes, and do nothing but raise an error if there
is one: a compiled model leaves that out, as Python leaves out assertions with `-O`.
"""

from __future__ import annotations

import math
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from ttmlir.frontend.torch.decompositions.statistics import UNTRACEABLE
from ttmlir.frontend.torch.elements import torch_package


@contextmanager
def replace_untraceable() -> Generator[None]:
    """Let functions and methods that torch cannot trace be ours, and distributions not validate."""
    torch = torch_package()
    replacements: dict[Any, Any] = {
        owner: function
        for name, function in UNTRACEABLE.items()
        for owner in (getattr(torch, name), getattr(torch.Tensor, name, None))
    }
    replacements[torch.nn.functional.gaussian_nll_loss] = _gaussian_nll_loss

    class Replacing(torch.overrides.TorchFunctionMode):
        def __torch_function__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            return replacements.get(func, func)(*args, **(kwargs or {}))

    with _no_validation(torch.distributions.Distribution), Replacing():
        yield


@contextmanager
def _no_validation(base: Any) -> Generator[None]:
    """Let no distribution look at its parameters and samples, also those that are told to."""

    def write(distribution: Any, value: bool) -> None:
        vars(distribution)["_validate_args"] = value

    before = base._validate_args
    base._validate_args = property(lambda _: False, write)
    try:
        yield
    finally:
        base._validate_args = before


def _gaussian_nll_loss(
    input: Any,
    target: Any,
    var: Any,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Any:
    """As `torch.nn.functional.gaussian_nll_loss`, which refuses variances below 0 besides."""
    torch = torch_package()
    if isinstance(var, float):
        var = var * torch.ones_like(input)
    if var.shape != input.shape:
        if input.shape[:-1] == var.shape:
            var = var.unsqueeze(-1)
        elif input.ndim != var.ndim or _different_sizes(input, var) != [1]:
            raise ValueError("var is of incorrect size")
    var = var.clone()
    # The loss is steeper below the limit, too: a variance can come back from there.
    with torch.no_grad():
        var.clamp_(min=eps)
    loss = 0.5 * (torch.log(var) + (input - target) ** 2 / var)
    if full:
        loss = loss + 0.5 * math.log(2 * math.pi)
    reductions = {"none": lambda: loss, "mean": loss.mean, "sum": loss.sum}
    if reduction not in reductions:
        raise ValueError(f"{reduction} is not valid")
    return reductions[reduction]()


def _different_sizes(input: Any, var: Any) -> list[int]:
    """The sizes of `var` where the two have others."""
    return [size for size, other in zip(var.shape, input.shape, strict=True) if size != other]
