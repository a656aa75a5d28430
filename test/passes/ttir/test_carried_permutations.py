"""Permutations that meet on the other side of what works in any order of the dimensions."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional

import ttmlir


def moves(model: nn.Module, *inputs: torch.Tensor) -> Counter[str]:
    """How often each operation moves a tensor, in a program of 2024 that agrees with torch."""
    model.eval()
    with torch.no_grad():
        compiled = ttmlir.compile(model, *inputs, spelling="2024")
        expected = model(*inputs)
        np.testing.assert_allclose(compiled(*inputs), expected, rtol=1e-4, atol=1e-5)
    names = re.findall(
        r'"ttnn\.(permute|transpose|reshape|pad|concat|slice)"', compiled.text("ttnn")
    )
    return Counter(names)


def conv(inputs: int, outputs: int) -> nn.Conv2d:
    """A convolution that keeps the image's extents."""
    return nn.Conv2d(inputs, outputs, 3, padding=1)


class Function(nn.Module):
    """A convolution before and one behind a function of NCHW images."""

    def __init__(self, between: str, channels: tuple[int, int] = (6, 6)) -> None:
        """Of the text of an expression."""
        super().__init__()
        self.first, self.last = conv(3, channels[0]), conv(channels[1], 5)
        self.scale = nn.Parameter(torch.rand(channels[0], 1, 1))
        self.between = between

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Evaluate."""
        names = {"x": self.first(x), "scale": self.scale, "F": functional, "torch": torch}
        return self.last(eval(self.between, names))  # Of texts in this file.


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize(
    "between",
    [
        "x.relu()",
        "F.hardswish(x) + x",
        "x * scale",
        "x * x.mean((2, 3), keepdim=True).sigmoid()",
        "x - x.sum(1, keepdim=True)",
        "x * (x.amax(3, keepdim=True) > 0.1)",
        "torch.softmax(x, 1)",
        "torch.cumsum(x, 2)",
        "F.pad(x, (1, 2, 0, 3))",
        "torch.cat([x[:, :2], x[:, 2:].tanh()], 1)",
        "F.batch_norm(x, scale[:, 0, 0], scale[:, 0, 0] + 1)",
    ],
)
def test_two_permutations_are_left(between: str) -> None:
    """One in front of all, and one behind."""
    found = moves(Function(between), torch.randn(2, 3, 7, 11))
    assert found["permute"] == 2
    assert not found["transpose"]


def test_what_reduces_pixels_needs_no_permutation() -> None:
    """Features are left in their order."""
    model = nn.Sequential(conv(3, 8), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())
    assert moves(model, torch.randn(2, 3, 7, 11))["permute"] == 1


def test_pixels_in_another_order_cannot_be_left() -> None:
    """A sum of rows leaves features before columns, which the convolution has behind them."""
    found = moves(Function("x.sum(2)[:, :, None] + x"), torch.randn(2, 3, 7, 11))
    assert found["permute"] + found["transpose"] >= 3


def test_results_that_leave_are_put_back_once() -> None:
    """The sum of two branches is used in the order of the model, too."""

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.one, self.other, self.last = conv(3, 6), conv(3, 6), conv(6, 6)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            both = (self.one(x) + self.other(x)).tanh()
            return torch.flatten(self.last(both), 1) + torch.flatten(both, 1)

    assert moves(Model(), torch.randn(2, 3, 7, 11))["permute"] == 3


def test_the_order_of_the_model_is_kept_where_it_costs_less() -> None:
    """One convolution in a long chain of sums does not turn all of them."""

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv = conv(3, 3)

        def forward(self, x: torch.Tensor, *others: torch.Tensor) -> torch.Tensor:
            x = self.conv(x)
            for other in others:
                x = (x + other).tanh()
            return x

    assert moves(Model(), *(torch.randn(2, 3, 7, 11) for _ in range(4)))["permute"] == 2


_STEPS = (
    "x = x.permute({order})",
    "x = x.tanh() + x",
    "y = x.sigmoid()",
    "x = x + y if x.shape == y.shape else x",
    "x = x * x.sigmoid().mean({dim}, keepdim=True)",
    "x = torch.cat([x, x.abs()], {dim})",
    "x = F.pad(x, (1, 0, 0, 2))",
    "x = x.narrow({dim}, 0, max(1, x.shape[{dim}] - 1))",
    "x = torch.softmax(x, {dim})",
    "x = x.amax({dim})[..., None]",
)


@settings(max_examples=12, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(_STEPS), st.permutations(range(4))), max_size=9))
def test_random_programs(steps: list[tuple[str, list[int]]]) -> None:
    """Permutations anywhere, some of whose results are used again."""
    orders = [(0, 2, 3, 1), (0, 3, 1, 2), (0, 1, 3, 2)]
    lines = [
        text.format(order=orders[order[0]] if order[0] < 3 else tuple(order), dim=order[1])
        for text, order in steps
    ]

    class Model(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            names: dict[str, Any] = {"x": x, "y": x, "F": functional, "torch": torch}
            for line in lines:
                exec(line, names)  # Of texts in this file.
            return names["x"] + 1

    moves(Model(), torch.randn(2, 3, 4, 5))
