"""The transformer that is measured is the one that JAX writes."""

from __future__ import annotations

import math
import re
from collections import Counter
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from transformer import Size, numpy_transformer, random_inputs, stablehlo_text

jax: Any = pytest.importorskip("jax")
jnp: Any = import_module("jax.numpy")

SIZE = Size(2, batch=2, sequence=5, width=12, heads=3, vocabulary=17)


def jax_transformer(tokens: Any, words: Any, places: Any, *weights: Any) -> Any:
    """The same, as somebody would write it with JAX."""
    x = words[tokens] + places[: SIZE.sequence]
    mask = jnp.tril(jnp.ones((SIZE.sequence, SIZE.sequence), bool))
    split = (SIZE.batch, SIZE.sequence, SIZE.heads, SIZE.head_width)
    per_layer = len(SIZE.layer_shapes())
    for start in range(0, len(weights), per_layer):
        scale1, bias1, wq, bq, wk, bk, wv, bv, wo, bo, scale2, bias2, w1, b1, w2, b2 = weights[
            start : start + per_layer
        ]
        normal = normalized(x, scale1, bias1)
        q, k, v = (
            (normal @ w + b).reshape(split).transpose(0, 2, 1, 3)
            for w, b in ((wq, bq), (wk, bk), (wv, bv))
        )
        scores = q @ k.swapaxes(2, 3) / math.sqrt(SIZE.head_width)
        shares = jax.nn.softmax(jnp.where(mask, scores, -jnp.inf), -1)
        x = x + ((shares @ v).transpose(0, 2, 1, 3).reshape(x.shape) @ wo + bo)
        x = x + (jax.nn.gelu(normalized(x, scale2, bias2) @ w1 + b1) @ w2 + b2)
    return x


def normalized(x: Any, scale: Any, bias: Any) -> Any:
    """Layer normalization."""
    mean, variance = (each(x, -1, keepdims=True) for each in (jnp.mean, jnp.var))
    return (x - mean) * jax.lax.rsqrt(variance + 1e-5) * scale + bias


def operations(text: str) -> Counter[str]:
    """How often each operation and each call is in a text."""
    return Counter(re.findall(r"(?:stablehlo|chlo|func)\.\w+|call @\w+", text))


def test_operations_are_those_that_jax_writes() -> None:
    """As many of each, calls of private functions included."""
    text = jax.jit(jax_transformer).lower(*random_inputs(SIZE)).as_text()
    assert operations(stablehlo_text(SIZE)) == operations(text)


def test_numbers_are_those_of_jax() -> None:
    """What the file is compared with computes what JAX computes; places are asymmetric."""
    inputs = random_inputs(SIZE)
    expected = np.asarray(jax_transformer(*inputs))
    np.testing.assert_allclose(numpy_transformer(SIZE, *inputs), expected, rtol=1e-4, atol=1e-5)
