"""Recurrent layers over sequences of several lengths, which are numbers in a tensor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn.utils import rnn

import ttmlir

PACK: Any = rnn.pack_padded_sequence
PAD: Any = rnn.pad_packed_sequence
LAYERS: dict[str, Any] = {
    "lstm": lambda: nn.LSTM(4, 6, batch_first=True),
    "lstm both ways": lambda: nn.LSTM(4, 6, num_layers=2, bidirectional=True, batch_first=True),
    "lstm with projections": lambda: nn.LSTM(4, 6, proj_size=3, batch_first=True),
    "gru": lambda: nn.GRU(4, 6, num_layers=2, dropout=0.5, batch_first=True),
    "tanh": lambda: nn.RNN(4, 6, bidirectional=True, batch_first=True),
    "relu": lambda: nn.RNN(4, 6, nonlinearity="relu", bias=False, batch_first=True),
}


class _Reader(nn.Module):
    """Packs, changes each row, and pads again."""

    def __init__(self, layer: nn.Module) -> None:
        super().__init__()
        self.layer, self.scale = layer, nn.Linear(4, 4)

    def forward(self, x: Any, lengths: Any) -> Any:
        packed = PACK(x, lengths, batch_first=True, enforce_sorted=False)
        data = torch.tanh(self.scale(packed.data))
        _, sizes, order, back = packed
        y, states = self.layer(rnn.PackedSequence(data, sizes, order, back))
        return PAD(y, batch_first=True, padding_value=-1.5), states


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("name", LAYERS)
def test_lengths_are_an_argument(name: str) -> None:
    """One program for all lengths, in any order."""
    torch.manual_seed(0)
    model, x = _Reader(LAYERS[name]()).eval(), torch.randn(3, 5, 4)
    compiled = ttmlir.compile(model, x, torch.tensor([5, 2, 3]))
    for lengths in ([5, 2, 3], [1, 5, 5], [1, 4, 5]):
        found = torch.utils._pytree.tree_leaves(compiled(x, torch.tensor(lengths)))
        wanted = torch.utils._pytree.tree_leaves(model(x, torch.tensor(lengths)))
        for result, expected in zip(found, wanted, strict=True):
            torch.testing.assert_close(torch.as_tensor(result), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.exhaustive
def test_lists_of_lengths_and_a_total() -> None:
    """Steps first, with more rows than the longest has."""
    torch.manual_seed(0)
    layer, x = nn.GRU(4, 6), torch.randn(5, 2, 4)

    def model(x: Any) -> Any:
        return PAD(layer(PACK(x, [5, 2]))[0], total_length=7)[0]

    with torch.no_grad():
        torch.testing.assert_close(ttmlir.compile(model, x)(x), model(x), rtol=1e-5, atol=1e-6)


def test_training() -> None:
    """Gradients go through the steps that each sequence has."""
    torch.manual_seed(0)
    model, x, lengths = _Reader(nn.GRU(4, 6, batch_first=True)), torch.randn(2, 4, 4), [4, 2]

    def loss(x: Any) -> Any:
        return model(x, torch.tensor(lengths))[0][0].square().sum()

    found = ttmlir.compile(torch.func.grad(loss), x)(x)
    own = x.clone().requires_grad_()
    loss(own).backward()
    assert own.grad is not None
    torch.testing.assert_close(found, own.grad, rtol=1e-4, atol=1e-5)
    assert not found[1, 2:].any()


COUNTING: list[Callable[[Any], Any]] = [
    lambda packed: packed.data.sum(),
    lambda packed: packed.data.shape[0],
    lambda packed: torch.cat([packed.data, packed.data]),
    lambda packed: packed.batch_sizes[1],
]


@pytest.mark.parametrize("function", COUNTING)
def test_rows_are_not_counted(function: Any) -> None:
    """Their number is not known, so sums over them would be wrong."""
    with pytest.raises(ttmlir.CompilationError, match="as many rows as the lengths say") as caught:
        ttmlir.compile(lambda x: function(PACK(x, [3, 2])), torch.randn(3, 2, 4))
    assert "test_packed_sequences.py:" in str(caught.value)
