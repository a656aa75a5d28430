"""A fused softmax in C++ as an operation of torch: eager, with a gradient, exported and compiled.

    python examples/bridge/torch_softmax.py

The kernel runs on the simulator wherever torch calls it, and is part of the file that the model is
compiled to. It is the one of `jax_softmax.py`.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from softmax_program import build_softmax

import ttmlir
from ttmlir.bridge import TorchKernel

KERNEL = TorchKernel("softmax", build_softmax, grid=(8,))


class Softmax(torch.autograd.Function):
    """Softmax along the last dimension, by the kernel."""

    @staticmethod
    def forward(context: Any, x: torch.Tensor) -> torch.Tensor:
        """The result, which is all that the gradient needs."""
        y = KERNEL(x, out_shape=x)
        context.save_for_backward(y)
        return y

    @staticmethod
    def backward(context: Any, gradient: torch.Tensor) -> torch.Tensor:
        """y * (gradient - sum of y * gradient)."""
        (y,) = context.saved_tensors
        return y * (gradient - (y * gradient).sum(-1, keepdim=True))


class Attention(torch.nn.Module):
    """The kernel between products of matrices."""

    def __init__(self, width: int) -> None:
        """Weights of one head."""
        super().__init__()
        self.query, self.key, self.value = (torch.nn.Linear(width, width) for _ in range(3))

    def forward(self, x: torch.Tensor, *, by_kernel: bool = True) -> torch.Tensor:
        """Attention of a sequence to itself."""
        scores = self.query(x) @ self.key(x).mT / math.sqrt(x.shape[-1])
        weights = Softmax.apply(scores) if by_kernel else torch.softmax(scores, -1)
        return weights @ self.value(x)


def report(what: str, result: torch.Tensor, expected: torch.Tensor) -> None:
    """Print how far results are apart; AssertionError if that is too far."""
    error = float((result - expected).detach().abs().max())
    print(f"{what}: largest error {error:.1e}")
    assert error < 1e-2, what


def main() -> None:
    """Run the block in each way."""
    torch.manual_seed(0)
    model, x = Attention(48), torch.randn(96, 48, requires_grad=True)
    expected = model(x, by_kernel=False)
    report("eager", model(x), expected)
    run = KERNEL.last_run
    assert run is not None
    print(f"softmax of 96x96 on 3 cores: {run.cycles} cycles")

    (wanted,) = torch.autograd.grad((expected**2).sum(), x)
    (gradient,) = torch.autograd.grad((model(x) ** 2).sum(), x)
    report("gradient", gradient, wanted)

    x = x.detach()
    exported = torch.export.export(model, (x,))
    compiled = ttmlir.compile(exported)
    report("compiled", compiled(x), expected)
    compiled.save("torch_softmax.ttnn")
    print("saved torch_softmax.ttnn: ttrt run executes it")


if __name__ == "__main__":
    main()
