"""ONNX's own tests of backends: what is recorded of all, and some of them again."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("onnx", reason="needs onnx")

from backend_tests import KINDS, OTHER, REFUSED, Verdict, judge, load, load_modules, read_record

TOTALS, OTHERS = read_record()
RECORDED = {(each.kind, each.name): each for each in OTHERS}

MODULES = (
    *("add", "averagepool", "cast", "clip", "concat", "conv", "convtranspose", "cumsum", "dropout"),
    *("einsum", "gemm", "gridsample", "gru", "if", "instancenorm", "layernormalization", "loop"),
    *("lstm", "matmul", "maxpool", "nonmaxsuppression", "optional_get_element", "pad", "prelu"),
    *("qlinearconv", "reduce_log_sum_exp", "scan", "scatternd", "softmax", "split", "stft", "topk"),
    *("unique", "where"),
)
"""Modules of tests of nodes that run each time."""

FEW = 6
"""Tests that run of each module, and of each other kind."""


def test_share() -> None:
    """What is recorded: of tests of nodes, those of strings, training and decoding included."""
    assert [*TOTALS] == list(KINDS)
    assert TOTALS["node"] == 1884
    refused = sum(each.kind == "node" for each in OTHERS)
    assert refused <= 0.05 * TOTALS["node"]
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
        for test in spread([each for each in load_modules([module]) if module_of(each)], 1):
            found = judge(test)
            assert found == expected(found)


def module_of(test: Any) -> bool:
    """Whether a test has not been taken yet."""
    is_new = test.name not in _SEEN
    _SEEN.add(test.name)
    return is_new


_SEEN = set[str]()


@pytest.mark.parametrize("kind", KINDS[1:])
def test_some_models(kind: str) -> None:
    """Small models, and those that torch's first exporter made."""
    for test in spread(load(kind), FEW):
        found = judge(test)
        assert found == expected(found)
