"""StableHLO's generators of random numbers, bit for bit those of XLA on the CPU."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import pytest
from oracles import stablehlo_oracle
from running.pass_runner import executed

import ttmlir
from ttmlir.mlir.reporting import DiagnosticError

jax: Any = import_module("jax")
lax: Any = import_module("jax.lax")
PIPELINE = "stablehlo-to-ttnn-pipeline"

ALGORITHMS = {
    "THREE_FRY": lax.RandomAlgorithm.RNG_THREE_FRY,
    "PHILOX": lax.RandomAlgorithm.RNG_PHILOX,
    "DEFAULT": lax.RandomAlgorithm.RNG_DEFAULT,
}
# The lower word of the counter is about to wrap around.
STATE = np.array([1, 0x89ABCDEF, 0xFFFFFFFE, 2], np.uint32)


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize(
    ("algorithm", "shape", "dtype"),
    [
        *((name, (5,), "uint32") for name in ALGORITHMS),
        *(("THREE_FRY", (3, 5), "uint8"), ("THREE_FRY", (3, 4, 5), "uint16")),
        *(("THREE_FRY", (), "uint32"), ("THREE_FRY", (2, 1100), "uint32")),
        *(("DEFAULT", (3, 5), "uint16"), ("DEFAULT", (), "uint8"), ("DEFAULT", (4500,), "uint32")),
    ],
)
def test_words_and_states(algorithm: str, shape: tuple[int, ...], dtype: str) -> None:
    """The numbers and the new state are XLA's in both numerics."""

    def draw(state: Any) -> Any:
        return lax.rng_bit_generator(
            state, shape, dtype=np.dtype(dtype), algorithm=ALGORITHMS[algorithm]
        )

    expected = jax.jit(draw)(STATE)
    compiled = ttmlir.compile(draw, STATE)
    for numerics in ("exact", "device"):
        for ours, theirs in zip(compiled(STATE, numerics=numerics), expected, strict=True):
            np.testing.assert_array_equal(np.asarray(ours), np.asarray(theirs))


def module_of(algorithm: str, count: int, result: str) -> str:
    """A module whose argument is a state of so many numbers of 64 bits."""
    state = f"tensor<{count}xui64>"
    return f"""func.func public @main(%state: {state}) -> ({state}, {result}) {{
      %0:2 = stablehlo.rng_bit_generator %state, algorithm = {algorithm}
          : ({state}) -> ({state}, {result})
      return %0#0, %0#1 : {state}, {result}
    }}"""


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize(
    ("algorithm", "count", "result"),
    [
        *(("THREE_FRY", 2, "tensor<3x5xui64>"), ("PHILOX", 2, "tensor<5xui64>")),
        *(("PHILOX", 3, "tensor<7x3xui32>"), ("THREE_FRY", 2, "tensor<0xui32>")),
        *(("DEFAULT", 3, "tensor<f32>"), ("DEFAULT", 2, "tensor<6xi8>")),
    ],
)
def test_states_of_64_bits(algorithm: str, count: int, result: str) -> None:
    """All states and types of results; what wraps around carries into what is above."""
    state = np.array([2**64 - 5, 2**64 - 1, 7], np.uint64)[:count]
    text = module_of(algorithm, count, result)
    found = executed(text, [state], PIPELINE)
    with jax.enable_x64(True):
        expected = stablehlo_oracle.executed(text, [state])
    for ours, theirs in zip(found, expected, strict=True):
        assert (ours.shape, ours.tobytes()) == (theirs.shape, theirs.tobytes())


def draw(distribution: str, kind: str, low: str, high: str) -> Any:
    """Two draws of one program, which have different keys."""
    result = f"tensor<40x50x{kind}>"
    drawing = f"""stablehlo.rng %low, %high, %shape, distribution = {distribution}
        : (tensor<{kind}>, tensor<{kind}>, tensor<2xi64>) -> {result}"""
    text = f"""func.func public @main() -> ({result}, {result}) {{
      %low = stablehlo.constant dense<{low}> : tensor<{kind}>
      %high = stablehlo.constant dense<{high}> : tensor<{kind}>
      %shape = stablehlo.constant dense<[40, 50]> : tensor<2xi64>
      %0 = {drawing}
      %1 = {drawing}
      return %0, %1 : {result}, {result}
    }}"""
    return executed(text, [], PIPELINE)


def test_draws_without_a_state() -> None:
    """Words of Threefry with the keys 2 and 1, the same in each run."""
    found = draw("UNIFORM", "f32", "-2.0", "3.0")
    for key, ours in zip((2, 1), found, strict=True):
        state = np.array([key, 0, 0, 0], np.uint32)
        _, words = lax.rng_bit_generator(state, (40, 50), algorithm=ALGORITHMS["THREE_FRY"])
        uniform = (np.asarray(words) >> 9) * np.float32(2**-23)
        np.testing.assert_allclose(ours, uniform * 5 - 2, rtol=1e-6, atol=1e-6)
    normal = draw("NORMAL", "f32", "1.0", "2.0")[0]
    assert abs(normal.mean() - 1) < 0.2
    assert abs(normal.std() - 2) < 0.2
    whole = draw("UNIFORM", "i32", "-3", "4")[0]
    assert set(whole.ravel().tolist()) == set(range(-3, 4))


def test_keys_of_jax() -> None:
    """Numbers of keys whose generator XLA has, and keys that are made of those."""

    def draw_all(data: Any) -> Any:
        key = jax.random.wrap_key_data(data, impl="rbg")
        unsafe = jax.random.wrap_key_data(data, impl="unsafe_rbg")
        first, second = jax.random.split(unsafe)
        return (
            jax.random.uniform(key, (3, 5)),
            jax.random.randint(first, (7,), -3, 100),
            jax.random.key_data(jax.random.fold_in(second, 3)),
            jax.random.key_data(jax.random.split(key)),
        )

    expected = jax.jit(draw_all)(STATE)
    compiled = ttmlir.compile(draw_all, STATE)
    for numerics in ("exact", "device"):
        for ours, theirs in zip(compiled(STATE, numerics=numerics), expected, strict=True):
            np.testing.assert_array_equal(np.asarray(ours), np.asarray(theirs))


def test_refused() -> None:
    """A state of another size, and whole numbers of a normal distribution."""
    with pytest.raises(DiagnosticError, match="the state of THREE_FRY has 2 numbers of 64 bits"):
        executed(module_of("THREE_FRY", 3, "tensor<4xui32>"), [STATE], PIPELINE)
    with pytest.raises(DiagnosticError, match="have to be floating point numbers"):
        draw("NORMAL", "i32", "0", "1")
