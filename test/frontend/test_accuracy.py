"""`ttmlir.compile(..., accuracy=0.99)`: formats that leave results as accurate as was asked for."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
import torch

import ttmlir
from ttmlir.errors import ArgumentError, ArgumentTypeError


class Layers(torch.nn.Module):
    """Two layers that are alike, and another one."""

    def __init__(self) -> None:
        """The last one has most of the weights."""
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(384, 384) for _ in range(2))
        self.last = torch.nn.Linear(384, 2048)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Of rows."""
        for layer in self.layers:
            x = torch.relu(layer(x))
        return self.last(x)


@cache
def compile_layers(accuracy: float | None) -> tuple[Any, torch.Tensor, torch.Tensor]:
    """The model, its input, and what torch computes in 64 bits."""
    torch.manual_seed(7)
    layers, x = Layers(), torch.randn(7, 384)
    with torch.no_grad():
        exact = layers.double()(x.double())
    layers.bfloat16()
    model = ttmlir.compile(
        *(layers, x.bfloat16()), board="n150", optimization_level=3, accuracy=accuracy
    )
    return model, x.bfloat16(), exact


def correlate(model: Any, x: torch.Tensor, exact: torch.Tensor) -> float:
    """The correlation of what the device gives."""
    found = np.asarray(model(x, numerics="device").float().detach(), np.float64)
    return float(np.corrcoef(found.ravel(), exact.numpy().ravel())[0, 1])


@pytest.mark.parametrize(("accuracy", "kinds"), [(0.9, {"bfp_bf4"}), (0.9995, {"bfp_bf8"})])
def test_formats_are_as_narrow_as_the_accuracy_allows(accuracy: float, kinds: set[str]) -> None:
    """Four bits leave about 0.99 of a product of random numbers, eight more than 0.9999."""
    plain, x, exact = compile_layers(None)
    model, _, _ = compile_layers(accuracy)
    formats = model.formats
    assert plain.formats is None
    assert {each.weights for each in formats.choices} == kinds
    assert correlate(model, x, exact) > accuracy
    assert formats.choices[-1].pcc == pytest.approx(correlate(model, x, exact), abs=1e-3)
    assert model.estimate().total.mid / 1e3 == pytest.approx(formats.choices[-1].us)
    assert formats.us == pytest.approx(plain.estimate().total.mid / 1e3)
    assert formats.choices[-1].us < formats.us
    assert set(formats.options.split()) < set(model.options.split())
    assert [each.name for each in formats.choices] == ["last/linear", "layers/*/linear"]
    assert [len(each.places) for each in formats.choices] == [1, 2]
    assert kinds.pop() in str(formats)


def test_nothing_is_chosen_without_room() -> None:
    """Results of bfloat16 do not correlate by 1 with those of more bits."""
    with pytest.warns(UserWarning, match="accuracy=1 is not reached: .* the PCC is 0.9999"):
        model, _, _ = compile_layers(1.0)
    assert not model.formats.choices
    assert model.formats.options == ""


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"accuracy": 99}, ArgumentError, "accuracy=99 is no correlation; give one of up to 1"),
        ({"accuracy": "0.99"}, ArgumentTypeError, "accuracy is a str; give the least correlation"),
        ({"accuracy": 0.9, "target": "kernels"}, ArgumentError, "is for target='ttnn'"),
        ({"accuracy": 0.9, "buckets": {"x": {0: (8,)}}}, ArgumentError, "leave out buckets"),
    ],
)
def test_what_is_no_accuracy(given: dict[str, Any], error: type[Exception], message: str) -> None:
    """It is refused before the model is looked at."""
    with pytest.raises(error, match=message):
        ttmlir.compile(torch.nn.Linear(8, 8), torch.randn(8, 8), **given)


def test_results_that_are_no_numbers_measure_nothing() -> None:
    """A correlation of NaN with NaN would allow anything."""
    model, x = torch.nn.Linear(40, 70).bfloat16(), torch.full((3, 40), torch.nan).bfloat16()
    with pytest.raises(ArgumentError, match="result 0 has no finite number to compare"):
        ttmlir.compile(model, x, accuracy=0.9)
