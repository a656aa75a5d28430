"""Covariances, combinations and histograms, against torch itself."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest
from samples.torch_programs import check_all

import ttmlir

torch: Any = import_module("torch")

GENERATOR = torch.Generator().manual_seed(5)
X = torch.randn(4, 9, generator=GENERATOR)
COUNTS = torch.randint(1, 4, (9,), generator=GENERATOR)
WEIGHTS = torch.rand(9, generator=GENERATOR)


def test_covariances() -> None:
    """Of rows that count differently; torch looks at the sum of the weights while it traces."""
    check_all(
        """torch.cov(x)
        torch.cov(x[0])
        x.cov(correction=0)
        torch.cov(x, fweights=c)
        torch.cov(x, aweights=w)
        torch.cov(x, correction=2, fweights=c, aweights=w)
        torch.corrcoef(x)
        x[0].corrcoef()""",
        x=X,
        c=COUNTS,
        w=WEIGHTS,
    )


def test_combinations() -> None:
    """With and without replacement."""
    check_all("torch.combinations(x)\ntorch.combinations(x, 3, True)", x=X[0, :5])


def test_histograms() -> None:
    """Of given ranges and edges, of the numbers' own range, and of equal numbers."""
    check_all(
        """torch.histogram(x, 7)
        torch.histogram(x, 6, range=(-1.0, 1.0))
        torch.histogram(x, 7, range=(-1.0, 1.0), weight=x.abs(), density=True)
        torch.histogram(x, e)
        torch.histogram(x * 0 + 3, 4)""",
        x=X,
        e=torch.tensor([-2.0, -0.3, 0.2, 0.9]),
    )


@pytest.mark.parametrize(
    ("expression", "remedy"),
    [
        ("x.masked_select(x > 0)", "torch.where(mask, x, other) keeps the shape"),
        ("torch.combinations(x[x > 0])", "torch.where(condition, a, b) chooses between tensors"),
    ],
)
def test_shapes_that_depend_on_numbers_have_a_remedy(expression: str, remedy: str) -> None:
    """What to write instead is in the message, which torch's own words are not."""
    function = eval(f"lambda x: {expression}", {"torch": torch})
    with pytest.raises(ttmlir.CompilationError) as caught:
        ttmlir.compile(function, X[0])
    assert remedy in str(caught.value)
    assert "unbacked" not in str(caught.value)
