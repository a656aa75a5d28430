"""Networks in JAX, compiled, compute what JAX computes."""

from __future__ import annotations

import pytest

jax = pytest.importorskip("jax", reason="needs JAX")

from running.sampling import sampled  # noqa: E402
from samples.jax_models import MODELS  # noqa: E402

import ttmlir  # noqa: E402
from ttmlir.runtime.golden import compare  # noqa: E402

LEAST_CORRELATION = {"exact": 0.999, "device": 0.99}


@pytest.mark.parametrize(("name", "batch"), sampled(MODELS, (2, 5)))
def test_models_agree_with_jax(name: str, batch: int) -> None:
    """Every result, at two batch sizes and in both numerics."""
    function, arguments = MODELS[name](batch)
    compiled = ttmlir.compile(function, *arguments)
    expected = compiled.reference(*arguments)
    for numerics, least in LEAST_CORRELATION.items():
        results = compiled(*arguments, numerics=numerics)
        assert jax.tree.structure(results) == jax.tree.structure(expected)
        for actual, golden in zip(
            compiled.flatten_results(results), compiled.flatten_results(expected), strict=True
        ):
            assert (actual.shape, actual.dtype) == (golden.shape, golden.dtype)
            accuracy = compare(actual, golden, rtol=1e-3, atol=1e-4)
            assert accuracy.pcc > least
            assert accuracy.allclose or numerics == "device"


@pytest.mark.parametrize("name", ["mlp", "lstm"])
def test_models_in_bf16_stay_close_in_the_numerics_of_the_device(name: str) -> None:
    """What is stored has 8 bits of mantissa; JAX in 32 bits is the judge."""
    function, arguments = MODELS[name](3)
    short = jax.tree.map(lambda array: array.astype("bfloat16"), arguments)
    compiled = ttmlir.compile(function, *short)
    exact = compiled.flatten_results(jax.jit(function)(*arguments))
    rounded = compiled.flatten_results(compiled(*short, numerics="device"))
    for actual, golden in zip(rounded, exact, strict=True):
        accuracy = compare(actual, golden, rtol=5e-2, atol=5e-2)
        assert 0.99 < accuracy.pcc < 1
