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
            np.testing.assert_allclose(each, expected, rtol=2e-4, atol=case.tolerance)


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
        (
            "MoE",
            "x x x - x",
            {},
            "weights of the layers 1 and 2 have to be given, with 3 dimension",
        ),
        (
            "QMoE",
            "x x x x",
            {"quant_type": "fp4"},
            "quant_type is 'fp4'; weights that are integers",
        ),
        ("MatMulBnb4", "x x x", {"quant_type": 1, "N": 1, "K": 5, "block_size": 16}, "25 bytes"),
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


def test_queries_and_keys_with_norms() -> None:
    """Heads are normalized in front of the rotation, as a norm in the model does it."""
    heads = {"domain": "com.microsoft", "num_heads": 2, "kv_num_heads": 2}
    norm = {"axis": -1, "epsilon": 1e-6}
    inner = node("GroupQueryAttention", "q k x - - used total", "y", **heads)
    apart = [
        node("Reshape", "x apart", "rows"),
        *(node("SimplifiedLayerNormalization", f"rows {n}", f"{n}4", **norm) for n in ("a", "b")),
        node("Reshape", "a4 joined", "q"),
        node("Reshape", "b4 joined", "k"),
        inner,
    ]
    weights = {
        "apart": np.array([1, 3, 2, 4]),
        "joined": np.array([1, 3, 8]),
        "used": np.array([2], np.int32),
        "total": np.array(3, np.int32),
        **{name: np.linspace(0.5, 2, 4, dtype=np.float32) for name in ("a", "b")},
    }
    words = "x x x - - used total - - - - - - - a b"
    x = np.random.default_rng(0).standard_normal((1, 3, 8)).astype(np.float32)
    sides = [value("x", x.shape)], [value("y", None)], weights
    found, expected = (
        ttmlir.compile(model(nodes, *sides, domains=["com.microsoft"]), x)(x)
        for nodes in ([node("GroupQueryAttention", words, "y", **heads)], apart)
    )
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
