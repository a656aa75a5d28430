"""Random JAX functions: the runtime and both interpreters compute what JAX does."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import pytest
from samples.random_jax import random_program

import ttmlir
from ttmlir.compiler import parse
from ttmlir.interpreter import execute

SEEDS = (2003, 2006, 2011, 2018, 2022, 2031, 2050)


def assert_as_jax(results: list[Any], expected: list[Any], tolerances: list[float]) -> None:
    """Integers, truth values and exact floats are equal, others close to each other."""
    for result, wanted, tolerance in zip(results, expected, tolerances, strict=True):
        got, correct = np.asarray(result), np.asarray(wanted)
        assert (got.shape, got.dtype) == (correct.shape, correct.dtype)
        if correct.dtype.kind not in "biu":
            got, correct = got.astype(np.float64), correct.astype(np.float64)
        if tolerance == 0 or correct.dtype.kind in "biu":
            np.testing.assert_array_equal(got, correct)
        else:
            largest = max(1.0, np.abs(correct).max(initial=0.0))
            np.testing.assert_allclose(got, correct, rtol=tolerance, atol=tolerance * largest)


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("seed", SEEDS)
def test_all_agree_with_jax(seed: int) -> None:
    """On programs of up to ten operations, whose text a failure shows."""
    program = random_program(seed)
    print(program)
    expected = list(jax.jit(lambda *values: program(*values))(*program.inputs))

    def function(*values: Any) -> Any:
        return program(*values)

    model = ttmlir.compile(function, *program.inputs)
    assert_as_jax(list(model(*program.inputs)), expected, program.tolerances)
    kept = jax.jit(function).trace(*program.inputs).lower()._lowering.compile_args["kept_var_idx"]
    early = ttmlir.compile(function, *program.inputs, spelling="2024")
    assert_as_jax(list(early(*program.inputs)), expected, program.tolerances)
    for stage in ("stablehlo", "ttir"):
        module = parse(early.text(stage))
        (main,) = (op for op in module.ops if op.sym_name.data == "main")
        inputs = program.inputs
        if len(main.args) != len(inputs):
            inputs = [value for number, value in enumerate(inputs) if number in kept]
        assert_as_jax(execute(module, inputs), expected, program.tolerances)
