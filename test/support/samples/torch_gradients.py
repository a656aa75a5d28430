"""Gradients of expressions, compiled and by torch."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from samples.torch_programs import check_all

torch: Any = import_module("torch")


def numbers(*shape: int, seed: int = 0) -> Any:
    """Numbers of both signs."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def slopes(function: Any, *arguments: Any) -> Any:
    """The gradients of a weighted sum of what a function returns."""
    arguments = tuple(argument.detach().requires_grad_() for argument in arguments)
    result = function(*arguments)
    weights = torch.arange(result.numel(), dtype=result.dtype).reshape(result.shape).cos()
    return torch.autograd.grad((result * weights).sum(), arguments)


def check_slopes(cases: str, *, tolerance: float = 1e-5, **arguments: Any) -> None:
    """Compare gradients of expressions of `x`, or of the names before a colon."""
    lines: list[str] = []
    for line in filter(None, map(str.strip, cases.splitlines())):
        names, _, expression = line.rpartition(": ")
        names = names or "x"
        lines.append(f"slopes(lambda {names}: {expression}, {names})")
    names = {"slopes": slopes}
    check_all("\n".join(lines), tolerance=tolerance, names=names, **arguments)
