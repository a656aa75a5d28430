"""Models of torch whose weights are shapes: they are estimated, and cannot be run."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode

import ttmlir
from ttmlir.runtime.errors import InputError


def network() -> tuple[nn.Module, torch.Tensor]:
    """Two layers, and an example of their input."""
    layers = nn.Sequential(nn.Linear(96, 352), nn.ReLU(), nn.Linear(352, 70))
    return layers, torch.zeros(33, 96)


@pytest.mark.parametrize("kind", ["meta", "fake"])
def test_estimates_are_those_of_numbers(kind: str) -> None:
    """The program is the same; a call says what has no numbers, and where there may be none."""
    with torch.device("meta") if kind == "meta" else FakeTensorMode():
        layers, x = network()
    shapes = ttmlir.compile(layers, x, weights="arguments", board="n150")
    numbers = ttmlir.compile(*network(), weights="arguments", board="n150")
    assert shapes.estimate().total == numbers.estimate().total
    assert str(shapes.summary()) == str(numbers.summary())
    with pytest.raises(InputError, match=r"'0\.weight' is a shape without numbers"):
        shapes(torch.zeros(33, 96))
    with pytest.raises(InputError, match="which is no constant: compile with weights='arguments'"):
        ttmlir.compile(layers, x)
