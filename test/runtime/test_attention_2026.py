"""Records of attention in files of 2026, against torch."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from running.randomness import TestGenerator
from torch.nn import functional

import ttmlir

OPTIONS = "enable-ttnn-decomposition-pass=false"
RANDOM = TestGenerator(__name__)


def run(body: str, *arrays: np.ndarray) -> list[np.ndarray]:
    """The results of a function of ttir of 2026; `body` is all but the module."""
    compiled = ttmlir.compile(f"module {{ {body} }}", spelling="2026", options=OPTIONS)
    found = compiled(*arrays)
    return [np.asarray(each) for each in (found if isinstance(found, (tuple, list)) else [found])]


def normal(*shape: int) -> np.ndarray:
    """Random numbers."""
    return RANDOM.normal(size=shape).astype(np.float32)


@pytest.mark.parametrize("kind", ["plain", "causal", "masked", "grouped"])
def test_attention_is_that_of_torch(kind: str) -> None:
    """Without a mask, with one of its own or of the arguments, and with shared heads of keys."""
    groups, rows, positions = (2 if kind == "grouped" else 6), 37, (37 if kind == "causal" else 45)
    q, k, v = normal(3, 6, rows, 64), *(normal(3, groups, positions, 64) for _ in range(2))
    mask = normal(3, 1, rows, positions)
    types = [f"tensor<{'x'.join(map(str, each.shape))}xf32>" for each in (q, k, v, mask)]
    given, segments = (", %m", "1, 1, 1, 1, 0") if kind == "masked" else ("", "1, 1, 1, 0, 0")
    used = types if kind == "masked" else types[:3]
    causal = str(kind == "causal").lower()
    last = f", %m: {types[3]}" if kind == "masked" else ""
    text = f"""
    func.func @main(%q: {types[0]}, %k: {types[1]}, %v: {types[2]}{last}) -> {types[0]} {{
      %0 = "ttir.scaled_dot_product_attention"(%q, %k, %v{given}) <{{is_causal = {causal},
        scale = 0.2 : f32, operandSegmentSizes = array<i32: {segments}>}}>
        : ({", ".join(used)}) -> {types[0]}
      return %0 : {types[0]}
    }}"""
    arrays = (q, k, v, mask) if kind == "masked" else (q, k, v)
    [found] = run(text, *arrays)
    expected = functional.scaled_dot_product_attention(
        *map(torch.from_numpy, (q, k, v)),
        attn_mask=torch.from_numpy(mask) if kind == "masked" else None,
        is_causal=kind == "causal",
        scale=0.2,
        enable_gqa=kind == "grouped",
    )
    np.testing.assert_allclose(found, expected, atol=2e-6)
