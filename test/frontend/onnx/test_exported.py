"""Modules of torch that its exporter writes as ONNX give the results of the modules."""

from __future__ import annotations

import io
import warnings
from typing import Any

import numpy as np
import pytest

pytest.importorskip("onnx", reason="needs onnx")
torch = pytest.importorskip("torch", reason="needs torch")

import ttmlir  # noqa: E402

nn: Any = torch.nn
functional: Any = torch.nn.functional


class Convolutions(nn.Module):
    """A network for images, there and back."""

    def __init__(self) -> None:
        """Its layers."""
        super().__init__()
        self.enter = nn.Conv2d(3, 8, 3, padding=1, stride=2)
        self.norm = nn.BatchNorm2d(8)
        self.deep = nn.Conv2d(8, 8, 3, groups=8, padding=1)
        self.pool = nn.MaxPool2d(2, ceil_mode=True)
        self.up = nn.Upsample(scale_factor=2, mode="bilinear")
        self.back = nn.ConvTranspose2d(8, 8, 3, stride=2, output_padding=1, padding=1)
        self.dense = nn.Linear(8, 5)

    def forward(self, x: Any) -> Any:
        """What it computes."""
        x = functional.hardswish(self.deep(torch.relu(self.norm(self.enter(x)))))
        x = self.back(self.up(self.pool(x)))
        means = functional.avg_pool2d(x, 3, 2, 1, count_include_pad=False).mean((2, 3))
        return self.dense(means).softmax(-1)


class Attention(nn.Module):
    """A block of a language model, whose length is open."""

    def __init__(self) -> None:
        """Its layers."""
        super().__init__()
        self.table = nn.Embedding(50, 32)
        self.places = nn.Parameter(torch.randn(16, 32))
        self.norm = nn.LayerNorm(32)
        self.qkv = nn.Linear(32, 96)
        self.dense = nn.Linear(32, 50)

    def forward(self, tokens: Any) -> Any:
        """What it computes."""
        x = self.table(tokens) + self.places[: tokens.shape[1]]
        batch, length, width = x.shape
        parts = self.qkv(self.norm(x)).chunk(3, -1)
        q, k, v = (each.view(batch, length, 4, width // 4).transpose(1, 2) for each in parts)
        y = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.dense(functional.gelu(x + y.transpose(1, 2).reshape(x.shape)))


class Recurrent(nn.Module):
    """Networks with a state, in both directions."""

    def __init__(self) -> None:
        """Its layers."""
        super().__init__()
        self.lstm = nn.LSTM(6, 10, bidirectional=True)
        self.gru = nn.GRU(20, 7)
        self.rnn = nn.RNN(7, 4, nonlinearity="relu")

    def forward(self, x: Any) -> Any:
        """What it computes."""
        return self.rnn(self.gru(self.lstm(x)[0])[0])[0]


class Indexing(nn.Module):
    """Elements at places, sorted, added up and written."""

    def forward(self, x: Any, index: Any) -> Any:
        """What it computes."""
        sums = x.cumsum(1)
        largest = torch.topk(sums, 3, dim=1).values
        written = torch.scatter(x, 1, index, torch.gather(sums, 1, index))
        row = x.clone()
        row[:, 1:3] = 0
        padded = functional.pad(row, (1, 2), mode="reflect")
        return largest, written, padded, x.sort(1).values, torch.einsum("ij,kj->ik", x, row)


def export(module: Any, inputs: tuple[Any, ...], **options: Any) -> bytes:
    """What the exporter writes."""
    file = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(module.eval(), inputs, file, dynamo=False, **options)
    return file.getvalue()


def check(model: bytes, module: Any, *inputs: Any) -> Any:
    """Compile, and compare with the module."""
    compiled = ttmlir.compile(model, *inputs)
    with torch.no_grad():
        expected = module(*inputs)
    found = compiled(*inputs)
    pairs = zip(found, expected, strict=True) if isinstance(found, tuple) else [(found, expected)]
    for got, right in pairs:
        np.testing.assert_allclose(got, right.numpy(), rtol=1e-4, atol=1e-5)
    return compiled


def test_convolutions() -> None:
    """Layers have the names of modules, and their parameters."""
    torch.manual_seed(1)
    module, x = Convolutions(), torch.randn(2, 3, 22, 26)
    compiled = check(export(module, (x,)), module, x)
    counts = {each.name: each.parameters for each in compiled.summary().layers}
    # The exporter folds the normalization into the first one, and renames its weights.
    assert (counts["back"], counts["dense"]) == (584, 45)


def test_open_lengths() -> None:
    """One file is compiled for several lengths."""
    torch.manual_seed(2)
    module = Attention()
    model = export(
        module,
        (torch.randint(0, 50, (2, 11)),),
        input_names=["tokens"],
        dynamic_axes={"tokens": {0: "batch", 1: "length"}},
    )
    for shape in ((2, 11), (1, 5)):
        check(model, module, torch.randint(0, 50, shape))


@pytest.mark.parametrize(("length", "is_loop"), [(4, False), (80, True)])
def test_recurrent(length: int, is_loop: bool) -> None:
    """Short sequences are written out, long ones are loops."""
    torch.manual_seed(3)
    module, x = Recurrent(), torch.randn(length, 3, 6)
    compiled = check(export(module, (x,)), module, x)
    assert ("ttir.while" in compiled.text("ttir")) == is_loop


def test_indexing() -> None:
    """Several results."""
    torch.manual_seed(4)
    inputs = torch.randn(4, 7), torch.randint(0, 7, (4, 7))
    # Of places that are written twice, any may be last.
    inputs = inputs[0], inputs[1].argsort(1)
    check(export(Indexing(), inputs), Indexing(), *inputs)
