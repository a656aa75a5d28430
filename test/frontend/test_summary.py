"""What a notebook or a terminal shows of a model."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

import ttmlir


def two_blocks(x: jax.Array) -> jax.Array:
    """Two scopes; weights are constants."""
    weights = np.linspace(-1, 1, 7 * 5, dtype=np.float32).reshape(7, 5)
    with jax.named_scope("encoder"):
        x = jnp.tanh(x @ weights)
    with jax.named_scope("head<b>"):
        return x.sum(axis=1)


def test_the_layers_of_jax_are_its_scopes() -> None:
    """With the operations that compute, and the numbers of constants."""
    summary = ttmlir.compile(two_blocks, jnp.ones((3, 7))).summary()
    layers = {layer.name: layer.operations for layer in summary.layers if layer.operations}
    assert layers["encoder"] == 2
    assert layers["head<b>"] >= 1
    assert summary.parameters == 35
    lines = str(summary).splitlines()
    assert lines[0] == "two_blocks(x: float32[3,7]) -> (float32[3])"
    assert lines[2].split() == ["layer", "operations", "parameters"]
    assert any(line.startswith("peak of dram") for line in lines)
    assert repr(summary) == str(summary)


def test_notebooks_get_a_table() -> None:
    """Names from programs are texts in it, never tags."""
    html = ttmlir.compile(two_blocks, jnp.ones((3, 7)))._repr_html_()
    assert "<table>" in html
    assert "head&lt;b&gt;" in html
    assert "<b>er" not in html


def test_the_layers_of_torch() -> None:
    """Its operations."""
    module = torch.nn.Sequential(torch.nn.Linear(7, 5), torch.nn.ReLU()).eval()
    summary = ttmlir.compile(module, torch.ones(3, 7)).summary()
    assert summary.parameters == 7 * 5 + 5
    assert [layer.name for layer in summary.layers][-1].endswith("relu")


def test_a_model_of_kernels() -> None:
    """Its operations are launches."""
    summary = ttmlir.compile(jnp.tanh, jnp.ones((3, 7)), target="kernels").summary()
    assert summary.operations == 1


def test_names_of_the_package() -> None:
    """They can be completed before they are loaded."""
    assert {"compile", "load", "CompiledModel", "LoadedModel"} <= set(dir(ttmlir))
    assert ttmlir.__version__ == "0.1.0"
    with pytest.raises(AttributeError, match="has no attribute 'compil'"):
        _ = ttmlir.compil
