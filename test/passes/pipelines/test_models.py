"""Whole models compute through the TTNN road what NumPy computes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from oracles.windows import convolved, max_pooled
from running.pass_runner import TTNN_PIPELINE, executed, lowered, printed

MODELS = Path(__file__).parents[2] / "models"


def _softmax(x: Any) -> Any:
    powers = np.exp(x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def _mlp(x: Any, w1: Any, b1: Any, w2: Any, b2: Any) -> Any:
    return _softmax(np.maximum(x @ w1 + b1, 0) @ w2 + b2)


def _convnet(image: Any, k1: Any, c1: Any, k2: Any, c2: Any, w: Any, b: Any) -> Any:
    x = np.maximum(convolved(image, k1, c1, padding=(1, 1, 1, 1)), 0)
    x = max_pooled(x, (2, 2), stride=(2, 2))
    x = np.maximum(convolved(x, k2, c2, padding=(0, 1, 0, 2)), 0)
    x = max_pooled(x, (2, 2), stride=(2, 2))
    return x.reshape(2, -1) @ w + b


def _attention(x: Any, wq: Any, wk: Any, wv: Any, wo: Any) -> Any:
    q, k, v = ((x @ w).reshape(7, 3, 8).transpose(1, 0, 2) for w in (wq, wk, wv))
    heads = _softmax(q @ k.transpose(0, 2, 1) / np.sqrt(8)) @ v
    return heads.transpose(1, 0, 2).reshape(7, 24) @ wo + x


def _layer_norm(x: Any, gamma: Any, beta: Any) -> Any:
    centred = x - x.mean(-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5) * gamma + beta


def _word_classifier(words: Any, table: Any, w: Any) -> Any:
    return 1 / (1 + np.exp(-(table[words].mean(0)[None] @ w)))


def _sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def _lstm_cell(x: Any, h: Any, c: Any, w: Any, b: Any) -> Any:
    enter, forget, candidate, leave = np.split(np.concatenate([x, h], 1) @ w + b, 4, axis=1)
    cell = _sigmoid(forget) * c + _sigmoid(enter) * np.tanh(candidate)
    return _sigmoid(leave) * np.tanh(cell), cell


def _residual_block(x: Any, k1: Any, c1: Any, k2: Any, c2: Any, shortcut: Any) -> Any:
    inner = np.maximum(convolved(x, k1, c1, stride=(2, 2), padding=(1, 1, 1, 1)), 0)
    inner = convolved(inner, k2, c2, padding=(1, 1, 1, 1))
    outer = convolved(x, shortcut, stride=(2, 2))
    return np.maximum(inner + outer, 0).mean((1, 2))


def _causal_attention(q: Any, k: Any, v: Any) -> Any:
    scores = np.where(np.tri(5, dtype=bool), q @ k.transpose(0, 2, 1), -1e9)
    return _softmax(scores) @ v


def _eltwise(gate: Any, x: Any, residual: Any, bias: Any) -> Any:
    return _sigmoid(gate) * x + np.maximum(residual - bias, 0)


_F = np.float32
_CASES: dict[str, tuple[Callable[..., Any], list[tuple[int, ...]]]] = {
    "mlp": (_mlp, [(5, 70), (70, 48), (1, 48), (48, 10), (1, 10)]),
    "convnet": (
        _convnet,
        [
            (2, 12, 20, 3),
            (8, 3, 3, 3),
            (1, 1, 1, 8),
            (16, 8, 2, 3),
            (1, 1, 1, 16),
            (240, 7),
            (1, 7),
        ],
    ),
    "attention": (_attention, [(7, 24), (24, 24), (24, 24), (24, 24), (24, 24)]),
    "layer_norm": (_layer_norm, [(33, 50), (50,), (50,)]),
    "lstm_cell": (_lstm_cell, [(5, 20), (5, 12), (5, 12), (32, 48), (1, 48)]),
    "residual_block": (
        _residual_block,
        [(1, 9, 11, 6), (10, 6, 3, 3), (1, 1, 1, 10), (10, 10, 3, 3), (1, 1, 1, 10), (10, 6, 1, 1)],
    ),
    "causal_attention": (_causal_attention, [(2, 5, 8)] * 3),
    "eltwise": (_eltwise, [(96, 160)] * 4),
    "word_classifier": (_word_classifier, [(11,), (100, 36), (36, 5)]),
}


def _inputs(name: str) -> list[Any]:
    rng = np.random.default_rng(7)
    inputs: list[Any] = [0.3 * rng.standard_normal(shape, _F) for shape in _CASES[name][1]]
    if name == "word_classifier":
        inputs[0] = rng.integers(0, 100, 11, np.int32)
    return inputs


def test_every_model_has_a_reference() -> None:
    """A model without one would not be tested."""
    in_ttir = {path.stem for path in MODELS.glob("*.mlir") if "ttir." in path.read_text()}
    assert in_ttir == set(_CASES)


@pytest.mark.parametrize(
    "options",
    ["", "enable-grid-set=false", "sharding-pass-enabled=true"],
    ids=["default", "no-grids", "sharded"],
)
@pytest.mark.parametrize("name", _CASES)
def test_model_computes_what_numpy_computes(name: str, options: str) -> None:
    """Whatever grids and memories are chosen, the numbers are the same."""
    inputs = _inputs(name)
    text = (MODELS / f"{name}.mlir").read_text()
    pipeline = f"{TTNN_PIPELINE}={options}" if options else TTNN_PIPELINE
    results = executed(text, inputs, pipeline)
    exact = [np.asarray(x, np.float64) if x.dtype == _F else x for x in inputs]
    reference = _CASES[name][0](*exact)
    references = reference if isinstance(reference, tuple) else (reference,)
    for result, right in zip(results, references, strict=True):
        assert result.dtype == _F
        np.testing.assert_allclose(result, right, rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("name", _CASES)
def test_lowering_leaves_no_ttir(name: str) -> None:
    """The lowered model consists of calls of the library."""
    text = (MODELS / f"{name}.mlir").read_text()
    names = {op.name.partition(".")[0] for op in lowered(text, TTNN_PIPELINE).walk()}
    assert names == {"builtin", "func", "ttnn"}


@pytest.mark.parametrize("name", _CASES)
def test_sharding_is_deterministic(name: str) -> None:
    """The order of operations does not depend on addresses."""
    text = (MODELS / f"{name}.mlir").read_text()
    pipeline = f"{TTNN_PIPELINE}=sharding-pass-enabled=true"
    assert printed(text, pipeline) == printed(text, pipeline)
