"""StableHLO programs, from JAX or as text, compiled and run like a user's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import numpy as np
from running.pass_runner import executed

jax: Any = import_module("jax")

STABLEHLO_PIPELINE = "stablehlo-to-ttnn-pipeline"
TTIR_PIPELINE = "stablehlo-to-ttir-pipeline=spelling=2024"

_COMPILE_FAST = {
    "xla_backend_optimization_level": 0,
    "xla_llvm_disable_expensive_passes": True,
}
_ABSOLUTE = {"float32": 1e-6, "float64": 1e-6, "bfloat16": 1e-2, "float16": 1e-3}
_RELATIVE = {"float32": 2e-6, "float64": 2e-6, "bfloat16": 1.6e-2, "float16": 2e-3}


def stablehlo_of(function: Callable[..., Any], *inputs: Any) -> str:
    """The text that JAX makes of a function applied to such arrays.

    Arguments that the function does not use are kept.
    """
    return jax.jit(function, keep_unused=True).lower(*inputs).as_text()


def run_stablehlo(
    program: str | Callable[..., Any], inputs: Sequence[Any], pipeline: str = STABLEHLO_PIPELINE
) -> list[Any]:
    """The results of a text or of what JAX makes of a function: compiled, written, read and run."""
    text = program if isinstance(program, str) else stablehlo_of(program, *inputs)
    return executed(text, inputs, pipeline)


def check_against_jax(
    function: Callable[..., Any],
    *inputs: Any,
    rtol: float | None = None,
    atol: float | None = None,
) -> None:
    """Compile a function, run it, and compare all results with those of JAX.

    Integers and truth values must be equal, floating point numbers close for their type.
    """
    lowered = jax.jit(function, keep_unused=True).lower(*inputs)
    compiled = lowered.compile(compiler_options=_COMPILE_FAST)
    expected = [np.asarray(leaf) for leaf in jax.tree.leaves(compiled(*inputs))]
    results = run_stablehlo(lowered.as_text(), [np.asarray(value) for value in inputs])
    assert len(results) == len(expected)
    for result, correct in zip(results, expected, strict=True):
        assert result.shape == correct.shape
        assert result.dtype == correct.dtype
        if correct.dtype.kind in "biu":
            np.testing.assert_array_equal(result, correct)
            continue
        name = correct.dtype.name
        np.testing.assert_allclose(
            result.astype(np.float64),
            correct.astype(np.float64),
            rtol=_RELATIVE[name] if rtol is None else rtol,
            atol=_ABSOLUTE[name] if atol is None else atol,
        )
