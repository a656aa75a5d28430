"""ONNX's own tests of backends: what is recorded of all, and some of them again."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("onnx", reason="needs onnx")

from running.onnx_backend import (
    KINDS,
    OTHER,
    REFUSED,
    Verdict,
    judge,
    load,
    load_module,
    read_record,
)

# The package makes infinities when it is imported, and some models are of f64.
pytestmark = pytest.mark.filterwarnings("ignore")

TOTALS, OTHERS = read_record()
RECORDED = {(each.kind, each.name): each for each in OTHERS}

MODULES = (
    *("add", "cast", "clip", "concat", "conv", "convtranspose", "cumsum", "dropout"),
    *(
        "einsum",
        "gemm",
        "gridsample",
        "gru",
        "if_",
        "instance_normalization",
        "layernormalization",
        "loop",
    ),
    *("lstm", "matmul", "lppool", "nonmaxsuppression", "optionalgetelement", "pad", "prelu"),
    *("adam", "col2im", "dequantizelinear", "dft", "resize", "quantizelinear", "sequenceinsert"),
    *("qlinearconv", "reduce_log_sum_exp", "scan", "scatternd", "softmax", "split", "stft", "topk"),
    *("unique", "where"),
)
"""Modules of tests of nodes that run each time."""

FEW = 6
"""Tests that run of each other kind."""


def test_share() -> None:
    """What is recorded: of tests of nodes, those of strings, training and decoding included."""
    assert [*TOTALS] == list(KINDS)
    assert TOTALS["node"] == 1884
    assert sum(each.kind == "node" for each in OTHERS) <= 0.041 * TOTALS["node"]
    # Strings, and gradients that a model asks for.
    assert {each.kind for each in OTHERS if each.state == REFUSED} == {"node", "simple"}
    assert sum(each.kind == "simple" for each in OTHERS) == 8
    assert all(each.reason for each in OTHERS if each.state == REFUSED)
    # Those round between operations of 16 bits, or compare numbers near 0 with rounded ones.
    assert all(
        "bf16" in each.name or "dft_inverse" in each.name for each in OTHERS if each.state == OTHER
    )


def spread(tests: list[Any], count: int) -> list[Any]:
    """Some of many."""
    ordered = sorted(tests, key=lambda test: test.name)
    return ordered[:: max(1, len(ordered) // count)][:count]


def expected(verdict: Verdict) -> Verdict:
    """What is recorded of a test."""
    return RECORDED.get((verdict.kind, verdict.name), Verdict(verdict.kind, verdict.name, "right"))


def test_some_nodes() -> None:
    """They are what they were."""
    for module in MODULES:
        for test in spread(load_module(module), 1):
            found = judge(test)
            assert found == expected(found)


@pytest.mark.parametrize("kind", KINDS[1:])
def test_some_models(kind: str) -> None:
    """Small models, and those that torch's first exporter made."""
    for test in spread(load(kind), FEW):
        found = judge(test)
        assert found == expected(found)
