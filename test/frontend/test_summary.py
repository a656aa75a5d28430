"""What a notebook or a terminal shows of a model."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

import ttmlir
from ttmlir.runtime import InputError


def two_blocks(x: jax.Array) -> jax.Array:
    """Two scopes; weights are constants."""
    weights = np.linspace(-1, 1, 7 * 5, dtype=np.float32).reshape(7, 5)
    with jax.named_scope("encoder"):
        x = jnp.tanh(x @ weights)
    with jax.named_scope("head<b>"):
        return x.sum(axis=1)


def test_the_layers_of_jax_are_its_scopes() -> None:
    """With the operations that compute, and the numbers of constants."""
    compiled = ttmlir.compile(two_blocks, jnp.ones((3, 7)))
    summary = compiled.summary()
    layers = {layer.name: layer.operations for layer in summary.layers if layer.operations}
    assert layers["encoder"] == 2
    assert layers["head<b>"] >= 1
    assert summary.parameters == 35
    lines = str(summary).splitlines()
    assert lines[0] == "two_blocks(x: float32[3,7]) -> (float32[3])"
    assert lines[2].split()[:5] == ["layer", "operations", "constants", "us", "share"]
    assert any(line.startswith("peak of dram") for line in lines)
    estimate = compiled.estimate()
    assert sum(each.nanoseconds for each in summary.layers) == pytest.approx(estimate.total.mid)
    assert repr(summary) == str(summary)


def test_notebooks_get_a_table() -> None:
    """Names from programs are texts in it, never tags."""
    html = ttmlir.compile(two_blocks, jnp.ones((3, 7)))._repr_html_()
    assert "<table>" in html
    assert "head&lt;b&gt;" in html
    assert "<b>er" not in html


def test_weights_are_on_the_device() -> None:
    """What follows from them alone is done once, wherever they come from."""
    module = torch.nn.Sequential(torch.nn.Linear(70, 50), torch.nn.GELU()).eval()
    x = torch.ones(30, 70)
    constants, arguments = (
        ttmlir.compile(module, x, board="n150", weights=weights).estimate()
        for weights in ("constants", "arguments")
    )
    assert constants.total.mid == pytest.approx(arguments.total.mid)
    assert constants.transfers.mid == pytest.approx(arguments.transfers.mid)
    names = [each.name for each in constants.in_call]
    assert names == ["ttnn.to_layout", "ttnn.matmul"]
    # Eight tiles of 32x32 float32, at 14 GB/s; weights are transposed on the device.
    early = ttmlir.compile(module, x, board="n150", weights="arguments", spelling="2024").estimate()
    (moved,) = (each.once.mid for each in early.operations if each.name == "ttnn.transpose")
    assert constants.once.mid == pytest.approx((3 * 2 + 2) * 4096 / 14 + moved)
    assert [each.once.mid > 0 for each in constants.operations].count(True) == 2
    lines = str(constants).splitlines()
    assert lines[1].startswith(
        "  before the first call: weights, and what follows from them alone "
    )


def test_the_layers_of_torch() -> None:
    """Its modules."""
    module = torch.nn.Sequential(torch.nn.Linear(7, 5), torch.nn.ReLU()).eval()
    summary = ttmlir.compile(module, torch.ones(3, 7)).summary()
    assert summary.parameters == 7 * 5 + 5
    assert [layer.name for layer in summary.layers] == ["0", "1"]


class _Masked(torch.nn.Module):
    """Scales that are all alike, a mask that is not learned, and a weight that is used twice."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = torch.nn.Linear(7, 7)
        self.tied = torch.nn.Linear(7, 7, bias=False)
        self.tied.weight = self.fc.weight
        self.block = torch.nn.Sequential(torch.nn.LayerNorm(7))
        self.register_buffer("mask", torch.tril(torch.ones(3, 7)))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.block(self.tied(self.fc(x))) * self.mask + torch.arange(7)


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("weights", ["constants", "arguments"])
@pytest.mark.parametrize("target", ["ttnn", "kernels"])
def test_parameters_of_torch(weights: Any, target: Any, tmp_path: Path) -> None:
    """As torch counts them, wherever they are kept; masks and positions are none."""
    module = _Masked().eval()
    compiled = ttmlir.compile(module, torch.ones(3, 7), weights=weights, target=target)
    summary = compiled.summary()
    assert summary.parameters == sum(each.numel() for each in module.parameters()) == 70
    layers = {layer.name: layer.parameters for layer in summary.layers if layer.parameters}
    assert layers == {"fc": 56, "block/0": 14}
    assert str(summary).splitlines()[2].split()[2] == "parameters"
    if weights == "constants":
        compiled.save(tmp_path / "model")
        assert ttmlir.load(tmp_path / "model").summary().parameters == 70


def test_many_layers() -> None:
    """The first 40 are shown, and then the 20 that take longest; those of a picture are ordered."""

    def deep(x: jax.Array) -> jax.Array:
        for index in range(43):
            with jax.named_scope(f"block{index}"):
                size = 7 + 64 * (index % 11)
                x = x @ np.full((x.shape[1], size), 0.01, np.float32)
        return x

    compiled = ttmlir.compile(deep, jnp.ones((3, 7)), board="n150")
    summary = compiled.summary()
    times = {layer.name: layer.nanoseconds for layer in summary.layers}
    assert len(times) == 43
    order = sorted(times, key=lambda name: -times[name])
    assert [layer.name for layer in summary.by_time().layers] == order
    first, second = str(summary).split("\n\n")[1:3]
    names = [layer.name for layer in summary.layers[:40]]
    assert [line.split()[0] for line in first.splitlines()] == ["layer", *names, "...", "all"]
    head, *rows = second.splitlines()
    assert head.startswith("20 that take longest  operations")
    assert [row.split()[0] for row in rows] == order[:20]
    assert summary.to_html().count("<table>") == 2
    _, layers = compiled.plot().figure.axes
    shown = [text.get_text() for text in layers.get_yticklabels()]
    assert shown == [*order[:20], "23 others"]


def test_a_model_of_kernels() -> None:
    """Its operations are launches."""
    summary = ttmlir.compile(jnp.tanh, jnp.ones((3, 7)), target="kernels").summary()
    assert summary.operations == 1
    assert str(summary).splitlines()[2].split() == ["layer", "operations", "constants"]


def test_boards() -> None:
    """Times are those of the board that is asked for."""
    compiled = ttmlir.compile(two_blocks, jnp.ones((3, 7)))
    assert "time on p150" in str(compiled.summary("p150"))
    with pytest.raises(InputError, match="no board 'n15'"):
        compiled.summary("n15")


def test_a_picture(tmp_path: Path) -> None:
    """A roofline and layers, in the formats that names of files say."""
    compiled = ttmlir.compile(two_blocks, jnp.ones((3, 7)))
    picture = compiled.plot("n150")
    assert repr(picture) == "ModelPlot(title='two_blocks on n150')"
    roofline, layers = picture.figure.axes
    assert "encoder" in [text.get_text() for text in layers.get_yticklabels()]
    assert roofline.get_xscale() == "log"
    bars = [bar.get_width() for bar in layers.patches]
    assert sum(bars) == pytest.approx(compiled.estimate("n150").total.mid / 1e3)
    assert picture.save(tmp_path / "model.png").read_bytes().startswith(b"\x89PNG")
    assert picture._repr_png_().startswith(b"\x89PNG")
    assert b"<svg" in picture.save(tmp_path / "model.svg").read_bytes()
    with pytest.raises(ValueError, match=r"model\.gif: a picture is written as \.png"):
        picture.save(tmp_path / "model.gif")


def test_names_in_a_picture_are_no_formulas(tmp_path: Path) -> None:
    """matplotlib reads markup between dollars, and stops where it is wrong."""
    text = """
        func.func @"f$\\\\frac{$"(%x: tensor<33x70xf32>) -> tensor<33x70xf32> {
          %0 = "ttir.neg"(%x) : (tensor<33x70xf32>) -> tensor<33x70xf32>
              loc("layer$\\\\frac{$"("m.py":1:1))
          return %0 : tensor<33x70xf32>
        }
    """
    picture = ttmlir.compile(text).plot("n150")
    assert picture.title == "f$\\frac{$ on n150"
    assert b"<svg" in picture.save(tmp_path / "model.svg").read_bytes()


def test_a_picture_without_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message says what to install."""
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r"pip install \"ttmlir-py\[plot\]\" installs it"):
        ttmlir.compile(two_blocks, jnp.ones((3, 7))).plot()


def test_names_of_the_package() -> None:
    """They can be completed before they are loaded."""
    assert {"compile", "load", "CompiledModel", "LoadedModel"} <= set(dir(ttmlir))
    assert ttmlir.__version__ == "0.1.0"
    with pytest.raises(AttributeError, match="has no attribute 'compil'"):
        _ = ttmlir.compil
