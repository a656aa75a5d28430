"""Operators of onnxruntime's own domain give what onnxruntime gave."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

onnx: Any = pytest.importorskip("onnx", reason="needs onnx")

from samples.onnx_graphs import model, node, value  # noqa: E402
from samples.onnx_runtime_models import RECORD, Case, cases  # noqa: E402

import ttmlir  # noqa: E402


@pytest.fixture(scope="module")
def recorded() -> Any:
    """Results by the names of cases."""
    return np.load(RECORD)


@pytest.mark.parametrize("case", [*cases()], ids=lambda case: case.name)
def test_results(case: Case, recorded: Any) -> None:
    """Those of each operator."""
    compiled = ttmlir.compile(case.proto(), *case.arguments)
    found = compiled(*case.arguments)
    results = list(found if case.results > 1 else [found])
    for place, each in enumerate(results[: case.compared]):
        expected = recorded[f"{case.name}.{place}"]
        assert (each.dtype, each.shape) == (expected.dtype, expected.shape)
        if each.dtype.kind in "iu":
            off = np.abs(each.astype(int) - expected)
            assert off.max() <= case.steps
            assert np.mean(off > 0) < 0.03
        else:
            np.testing.assert_allclose(each, expected, rtol=2e-4, atol=2e-5)


@pytest.mark.parametrize(
    ("operator", "inputs", "attributes", "message"),
    [
        ("MatMulNBits", "x x x", {"K": 5, "N": 3, "block_size": 16}, "does not have 3 rows of 5"),
        ("MatMulNBits", "x x x", {"K": 5, "N": 3}, "the attribute 'block_size' is missing"),
        ("FusedGemm", "x x", {"activation": "Erf", "transB": 1}, "activation is 'Erf'; supported"),
        ("Gelu", "x x", {}, "it has 2 inputs; there are X"),
        ("Sampling", "x", {}, "this operator is not supported"),
        ("SkipLayerNormalization", "x - x", {}, "the input 'skip' is missing"),
        (
            "MultiHeadAttention",
            "x",
            {"num_heads": 2},
            "'query' has 2 dimensions; it has to have 3 or 5",
        ),
        ("Attention", "x x", {}, "the input 'input' has 2 dimensions; it has to have 3"),
        (
            "RotaryEmbedding",
            "x x x x",
            {},
            "the input 'input' has 2 dimensions; it has to have 3 o",
        ),
    ],
)
def test_refusals(operator: str, inputs: str, attributes: dict[str, Any], message: str) -> None:
    """What does not fit, by the node."""
    proto = model(
        [node(operator, inputs, "y", domain="com.microsoft", **attributes)],
        [value("x", [5, 5])],
        [value("y", None)],
        domains=["com.microsoft"],
    )
    with pytest.raises(ttmlir.CompilationError, match=message):
        ttmlir.compile(proto, np.zeros((5, 5), np.float32))
