"""StableHLO texts of whole models compute, through files and the runtime, what NumPy computes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from running.kernel_runs import run_kernels
from running.pass_runner import body, executed, printed

MODELS = Path(__file__).parents[2] / "models" / "stablehlo"
PIPELINE = "stablehlo-to-ttnn-pipeline"


def recurrent_tagger(words: Any, gates: Any, candidates: Any, out: Any) -> list[Any]:
    """A recurrent network word by word."""
    state = np.zeros((words.shape[1], gates.shape[1]))
    tags: list[Any] = []
    for word in words:
        joined = np.concatenate([word, state], axis=1)
        gate = 1 / (1 + np.exp(-(joined @ gates)))
        state = (1 - gate) * state + gate * np.tanh(joined @ candidates)
        tags.append((state @ out).argmax(-1))
    powers = np.exp(state @ out)
    return [powers / powers.sum(-1, keepdims=True), np.array(tags)]


MODEL = (MODELS / "recurrent_tagger.mlir").read_text()


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("options", ["", "=enable-grid-set=false", "=sharding-pass-enabled=true"])
def test_recurrent_tagger(options: str) -> None:
    """The loop is written out, the called functions are part of main, tags are exact."""
    rng = np.random.default_rng(3)
    shapes = ((4, 3, 5), (13, 8), (13, 8), (8, 6))
    inputs = [rng.standard_normal(shape).astype(np.float32) for shape in shapes]
    results = executed(MODEL, inputs, PIPELINE + options)
    expected = recurrent_tagger(*(array.astype(np.float64) for array in inputs))
    np.testing.assert_allclose(results[0], expected[0], rtol=1e-5)
    np.testing.assert_array_equal(results[1], expected[1])
    assert results[1].dtype == np.int32


@pytest.mark.exhaustive
def test_recurrent_tagger_as_kernels() -> None:
    """What the loop writes to computed places is written there by kernels, too."""
    rng = np.random.default_rng(3)
    shapes = ((4, 3, 5), (13, 8), (13, 8), (8, 6))
    inputs = [rng.standard_normal(shape).astype(np.float32) for shape in shapes]
    results = run_kernels(
        printed(MODEL, "stablehlo-to-ttir-pipeline=spelling=2024"), *inputs
    ).outputs
    expected = recurrent_tagger(*(array.astype(np.float64) for array in inputs))
    np.testing.assert_allclose(results[0], expected[0], rtol=1e-4)
    np.testing.assert_array_equal(results[1], expected[1])


def test_indices_of_a_loop_are_constants() -> None:
    """What a loop reads by its counter becomes a slice."""
    lines = body(MODEL, "stablehlo-to-ttir-pipeline=spelling=2024")
    text = "\n".join(lines)
    assert text.count('"ttir.matmul"') == 4 * 3 + 1
    assert printed(MODEL, "stablehlo-to-ttir-pipeline=spelling=2024").count("func.func") == 1
    assert "dynamic" not in text
