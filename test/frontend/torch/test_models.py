"""Models of torch at two batch sizes, in both numerics."""

from __future__ import annotations

import math
from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest
from running.sampling import sampled

import ttmlir
from ttmlir.runtime.golden import compare

torch: Any = import_module("torch")
nn: Any = import_module("torch.nn")
F: Any = import_module("torch.nn.functional")

LEAST = {"exact": 0.999, "device": 0.99}


def check_model(model: Any, *args: Any) -> None:
    """The model agrees with torch in both numerics."""
    compiled = ttmlir.compile(model, *args)
    for numerics, least in LEAST.items():
        # A model with state goes on from call to call, and so does its reference.
        expected = compiled.flatten_results(compiled.reference(*args))
        results = compiled.flatten_results(compiled(*args, numerics=numerics))
        assert len(results) == len(expected) > 0
        for actual, wanted in zip(results, expected, strict=True):
            assert (actual.shape, actual.dtype) == (wanted.shape, wanted.dtype)
            accuracy = compare(actual, wanted, rtol=1e-2, atol=1e-3)
            assert accuracy.pcc > least, f"{numerics}: {accuracy}"
            if numerics == "exact":
                assert accuracy.max_absolute_error < 1e-4, accuracy


def lenet() -> Any:
    """Convolutions, both kinds of pooling, linear layers."""
    return nn.Sequential(
        *(nn.Conv2d(1, 6, 5, padding=2), nn.Tanh(), nn.AvgPool2d(2)),
        *(nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten()),
        *(nn.Linear(400, 30), nn.Sigmoid(), nn.Linear(30, 10), nn.Softmax(-1)),
    )


class Residual(nn.Module):
    """A block with a shorter path, as in ResNet."""

    def __init__(self) -> None:
        """Statistics that are not 0 and 1."""
        super().__init__()
        self.path = nn.Sequential(
            *(nn.Conv2d(4, 8, 3, 2, 1, bias=False), nn.BatchNorm2d(8), nn.ReLU()),
            *(nn.Conv2d(8, 8, 3, 1, 1, bias=False), nn.BatchNorm2d(8)),
        )
        self.short = nn.Sequential(nn.Conv2d(4, 8, 1, 2, bias=False), nn.BatchNorm2d(8))
        for part in self.modules():
            if isinstance(part, nn.BatchNorm2d):
                nn.init.normal_(part.running_mean)
                nn.init.uniform_(part.running_var, 0.5, 2)
                nn.init.normal_(part.weight)

    def forward(self, x: Any) -> Any:
        """The sum of both paths, and its mean."""
        y = torch.relu(self.path(x) + self.short(x))
        return y, F.adaptive_avg_pool2d(y, 1).flatten(1)


class Depthwise(nn.Module):
    """A block of MobileNet: depthwise convolution, squeeze and excitation."""

    def __init__(self) -> None:
        """Six channels."""
        super().__init__()
        self.wide = nn.Conv2d(6, 12, 1)
        self.depthwise = nn.Conv2d(12, 12, 3, padding=1, groups=12)
        self.gate = nn.Sequential(
            *(nn.AdaptiveAvgPool2d(1), nn.Conv2d(12, 3, 1), nn.ReLU()),
            *(nn.Conv2d(3, 12, 1), nn.Hardsigmoid()),
        )
        self.narrow = nn.Conv2d(12, 6, 1)

    def forward(self, x: Any) -> Any:
        """The block beside its input."""
        y = F.hardswish(self.depthwise(F.hardswish(self.wide(x))))
        return x + self.narrow(y * self.gate(y))


class Vision(nn.Module):
    """Patches, a token and one block."""

    def __init__(self) -> None:
        """Patches of 4x4."""
        super().__init__()
        self.patches = nn.Conv2d(3, 32, 4, stride=4)
        self.token = nn.Parameter(torch.randn(1, 1, 32))
        self.places = nn.Parameter(torch.randn(7, 32))
        self.block = nn.TransformerEncoderLayer(
            32, 4, 64, activation="gelu", batch_first=True, norm_first=True
        )

    def forward(self, images: Any) -> Any:
        """The token after the block."""
        x = self.patches(images).flatten(2).mT
        x = torch.cat([self.token.expand(len(x), 1, 32), x], 1) + self.places
        return self.block(x)[:, 0]


class CausalBlock(nn.Module):
    """A block of GPT whose keys and values of earlier steps are kept in buffers."""

    def __init__(self, batch: int, length: int = 8) -> None:
        """Two heads of 8 numbers."""
        super().__init__()
        self.norm, self.out = nn.LayerNorm(16), nn.Linear(16, 16)
        self.attend = nn.Linear(16, 48)
        self.mlp = nn.Sequential(nn.Linear(16, 32), nn.GELU(approximate="tanh"), nn.Linear(32, 16))
        for name in ("keys", "values"):
            self.register_buffer(name, torch.zeros(batch, 2, length, 8))

    def forward(self, x: Any, place: Any) -> Any:
        """One position for each sequence of the batch."""
        query, key, value = (
            part.unflatten(-1, (2, 8)).transpose(1, 2)
            for part in self.attend(self.norm(x)).chunk(3, -1)
        )
        self.keys.index_copy_(2, place, key)
        self.values.index_copy_(2, place, value)
        scores = query @ self.keys.mT / math.sqrt(8)
        future = torch.arange(self.keys.shape[2]) > place
        weights = scores.masked_fill(future, -math.inf).softmax(-1)
        y = (weights @ self.values).transpose(1, 2).flatten(2)
        x = x + self.out(y)
        return x + self.mlp(x)


class Recurrent(nn.Module):
    """LSTM and GRU, written out step by step."""

    def __init__(self) -> None:
        """Two layers, the second one of another kind."""
        super().__init__()
        self.lstm = nn.LSTM(5, 7, batch_first=True, bidirectional=True)
        self.gru = nn.GRU(14, 6, batch_first=True)

    def forward(self, x: Any) -> Any:
        """The outputs and the last states."""
        y, (hidden, cell) = self.lstm(x)
        return *self.gru(y), hidden, cell


MODELS: dict[str, tuple[Callable[[], Any], tuple[int, ...]]] = {
    "lenet": (lenet, (1, 28, 28)),
    "residual": (Residual, (4, 9, 7)),
    "depthwise": (Depthwise, (6, 7, 9)),
    "vision": (Vision, (3, 8, 12)),
    "recurrent": (Recurrent, (3, 5)),
    "encoder": (lambda: nn.TransformerEncoderLayer(16, 2, 24, batch_first=True), (5, 16)),
}


@pytest.mark.parametrize(("name", "batch"), sampled(MODELS, (1, 3)))
def test_model(name: str, batch: int) -> None:
    """Networks without state."""
    torch.manual_seed(0)
    make, shape = MODELS[name]
    check_model(make().eval(), torch.randn(batch, *shape))


@pytest.mark.parametrize("batch", [1, 2])
def test_decoding_with_kept_keys_and_values(batch: int) -> None:
    """Each step finds the keys and values of the steps before."""
    torch.manual_seed(0)
    model = CausalBlock(batch).eval()
    x = torch.randn(4, batch, 1, 16)
    compiled = ttmlir.compile(model, x[0], torch.tensor([0]))
    with torch.no_grad():
        for step in range(4):
            expected = model(x[step], torch.tensor([step]))
            torch.testing.assert_close(compiled(x[step], torch.tensor([step])), expected)


def test_attention_and_training_mode() -> None:
    """Weights of attention are results too; batch normalization in training changes its buffers."""
    torch.manual_seed(0)
    attention = nn.MultiheadAttention(16, 2, batch_first=True).eval()
    x, y = torch.randn(2, 5, 16), torch.randn(2, 3, 16)
    mask = torch.tensor([[False, False, True], [False, True, False]])
    check_model(lambda x, y, mask: attention(x, y, y, key_padding_mask=mask), x, y, mask)
    check_model(nn.BatchNorm1d(4).train(), torch.randn(6, 4) * 2 + 1)


def test_bfloat16() -> None:
    """A model of bfloat16, whose numbers the device rounds."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(70, 33), nn.GELU(), nn.LayerNorm(33), nn.Linear(33, 5))
    model = model.to(torch.bfloat16).eval()
    x = torch.randn(9, 70, dtype=torch.bfloat16)
    compiled = ttmlir.compile(model, x)
    (expected,) = compiled.flatten_results(compiled.reference(x))
    for numerics in LEAST:
        (result,) = compiled.flatten_results(compiled(x, numerics=numerics))
        assert compare(result, expected, rtol=1e-1, atol=1e-1).pcc > 0.999


def test_weights_are_those_of_the_time_of_compiling() -> None:
    """What happens to large weights afterwards changes neither results nor texts."""

    def build() -> Any:
        torch.manual_seed(0)
        return nn.Sequential(
            # Weights that fold into others, and ones that are transposed.
            nn.Conv2d(3, 900, 5, bias=False),
            nn.BatchNorm2d(900),
            nn.Flatten(),
            nn.Linear(900 * 4, 70),
        ).eval()

    x = torch.randn(2, 3, 6, 6, generator=torch.Generator().manual_seed(0))
    unchanged, model = ttmlir.compile(build(), x), build()
    compiled, expected = ttmlir.compile(model, x), model(x)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
    assert torch.allclose(compiled(x), expected, atol=1e-5)
    for stage in ("ttir", "ttnn"):
        assert compiled.text(stage) == unchanged.text(stage)
