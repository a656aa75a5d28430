"""What torch looks at only to raise an error is left out of compiled models.

Expected values are what torch computes.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest

import ttmlir

torch: Any = import_module("torch")
F: Any = import_module("torch.nn.functional")
distributions: Any = import_module("torch.distributions")

X = torch.tensor([[0.5, -2.0, 0.3], [1.25, 3.0, -1.0]])
VARIANCE = torch.tensor([[0.5, 2.0, 1e-9], [1.0, 0.25, 4.0]])


class Holding(torch.nn.Module):
    """Distributions that were made before, with and without validation."""

    def __init__(self) -> None:
        """One of each."""
        super().__init__()
        self.prior = distributions.Normal(0.0, torch.tensor([1.0, 2.0, 0.5]))
        self.other = distributions.Laplace(0.0, 2.0, validate_args=True)

    def forward(self, x: Any) -> Any:
        """How likely numbers are."""
        return self.prior.log_prob(x) + self.other.log_prob(x)


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "Normal": lambda x: distributions.Normal(x, x.exp()).log_prob(x * 2),
    "Normal, validated": lambda x: distributions.Normal(x, x.exp(), validate_args=True).entropy(),
    "Categorical": lambda x: distributions.Categorical(logits=x).log_prob(torch.tensor([2, 0])),
    "Independent": lambda x: distributions.Independent(
        distributions.Bernoulli(logits=x), 1
    ).log_prob((x > 0).float()),
    "a divergence": lambda x: distributions.kl_divergence(
        distributions.Normal(x, 1.0), distributions.Normal(0.0, 2.0)
    ),
    "held by a module": Holding(),
    "gaussian_nll_loss": lambda x: F.gaussian_nll_loss(x, x * 2, VARIANCE, full=True),
    "gaussian_nll_loss, a row": lambda x: F.gaussian_nll_loss(
        x, x * 2, x.abs().sum(1), reduction="none"
    ),
    "gaussian_nll_loss, a column": lambda x: F.gaussian_nll_loss(
        x, x - 1, x.abs().sum(1, keepdim=True), reduction="sum"
    ),
    "gaussian_nll_loss, a number": lambda x: torch.nn.GaussianNLLLoss()(x, x - 1, 0.75),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_checks_are_left_out(name: str) -> None:
    """The numbers are those of torch."""
    function = FUNCTIONS[name]
    torch.testing.assert_close(
        ttmlir.compile(function, X)(X), function(X), atol=1e-5, rtol=1e-5, check_stride=False
    )


def test_distributions_validate_again_afterwards(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiling changes nothing for others."""
    # torch.compile turns validation off for its whole process.
    monkeypatch.setattr(distributions.Distribution, "_validate_args", True)
    ttmlir.compile(Holding(), X)
    module = Holding()
    assert (module.prior._validate_args, module.other._validate_args) == (True, True)
    with pytest.raises(ValueError, match="Expected parameter scale"):
        distributions.Normal(0.0, -1.0)


def test_shapes_are_still_looked_at() -> None:
    """Numbers are not, shapes are."""
    with pytest.raises(ttmlir.CompilationError, match="var of shape"):
        ttmlir.compile(lambda x: F.gaussian_nll_loss(x, x, x[:, :2] * 2), X)
    with pytest.raises(ttmlir.CompilationError, match="average is not valid"):
        ttmlir.compile(lambda x: F.gaussian_nll_loss(x, x, x, reduction="average"), X)
