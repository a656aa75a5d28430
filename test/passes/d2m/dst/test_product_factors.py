"""Factors that move to fewer tiles, and operands of the matrix unit, against NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from ml_dtypes import bfloat16
from running.pass_runner import lowered
from xdsl.dialects.builtin import MemRefType

import ttmlir
from ttmlir.dialects import d2m
from ttmlir.runtime import read_binary
from ttmlir.runtime.metal_program import MetalProgram
from ttmlir.runtime.metal_session import execute
from ttmlir.sim.options import SimOptions
from ttmlir.target.flatbuffer.ttmetal import ttmetal_to_flatbuffer

Array = np.ndarray[Any, Any]
PASSES = (
    *("ttir-load-system-desc", "canonicalize", "ttir-composite-decomposition", "ttir-to-d2m"),
    *("d2m-mask-padding", "d2m-generic-fusion", "ttcore-one-shot-bufferize"),
    "d2m-insert-scratch-buffers",
)


def numbers(*shape: int, seed: int = 0, element: Any = bfloat16) -> Array:
    """Normally distributed ones."""
    return np.random.default_rng(seed).normal(size=shape).astype(element)


def text_of(function: Callable[..., Any], *inputs: Array, spelling: str = "2024") -> str:
    """A function of jax in ttir."""
    return ttmlir.compile(jax.jit(function), *inputs, spelling=spelling).text("ttir")


def bodies(text: str) -> list[tuple[str, tuple[int, ...]]]:
    """What loops compute behind the pass, and how many tiles they write."""
    found: list[tuple[str, tuple[int, ...]]] = []
    for op in lowered(text, *PASSES).walk():
        if op.name == "linalg.generic":
            names = [each.name.removeprefix("d2m.tile_") for each in op.regions[0].block.ops]
            type_ = op.operands[-1].type
            assert isinstance(type_, MemRefType)
            found.append((" ".join(names[:-1]), tuple(type_.get_shape())))
    return found


def run(text: str, *inputs: Array) -> Array:
    """The result on the chip's numbers, clean and the same in three schedules."""
    module = lowered(text, "ttir-to-ttmetal-pipeline")
    [program] = read_binary(ttmetal_to_flatbuffer(module), "test.ttm").programs
    assert isinstance(program, MetalProgram)
    arrays = [each.astype(np.float32) for each in inputs]
    results: list[Array] = []
    for seed in (None, 1, 2):
        done = execute(program, arrays, SimOptions(numerics="device", schedule_seed=seed))
        assert not [finding for each in done.reports for finding in each.report.findings]
        results.append(np.asarray(done.outputs[0]))
    np.testing.assert_array_equal(results[0], results[1])
    np.testing.assert_array_equal(results[0], results[2])
    return results[0]


def attention(scale: float) -> Callable[..., Any]:
    """Shares of the rows of v, by scores of q and k."""

    def function(q: Any, k: Any, v: Any) -> Any:
        scores = jnp.einsum("hqd,hkd->hqk", q, k) * jnp.bfloat16(scale)
        return jax.nn.softmax(scores, axis=-1) @ v

    return function


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize(("scale", "keys"), [(0.25, 96), (0.3, 96), (0.25, 100)])
def test_attention(scale: float, keys: int) -> None:
    """Results are divided, not shares; powers of two scale q, and other numbers the scores.

    Shares whose padding is masked stay what is divided.
    """
    q, k, v = numbers(2, 70, 40), numbers(2, keys, 40, seed=1), numbers(2, keys, 40, seed=2)
    text = text_of(attention(scale), q, k, v)
    stages = bodies(text)
    (scaled,) = (shape for names, shape in stages if names in ("fill mul", "mul fill"))
    columns = -(-keys // 32)
    assert scaled == ((2, 3, 2) if scale == 0.25 else (2, 3, columns))
    divided = [shape for names, shape in stages if names == "bcast mul"]
    assert divided == [(2, 3, 2 if keys % 32 == 0 else columns)]
    x, y, z = (each.astype(np.float64) for each in (q, k, v))
    scores = x @ y.swapaxes(1, 2) * float(bfloat16(scale))
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    expected = powers / powers.sum(-1, keepdims=True) @ z
    np.testing.assert_allclose(run(text, q, k, v), expected, atol=0.03)


def test_factors_that_stay() -> None:
    """A result with more columns than its factor is not divided afterwards."""

    def function(x: Any, y: Any) -> Any:
        return jax.nn.softmax(x, axis=-1) @ y

    x, y = numbers(70, 40), numbers(40, 150, seed=1)
    text = text_of(function, x, y)
    assert (2, 5) not in [shape[-2:] for names, shape in bodies(text) if names == "bcast mul"]
    powers = np.exp(x.astype(np.float64) - x.astype(np.float64).max(-1, keepdims=True))
    expected = powers / powers.sum(-1, keepdims=True) @ y.astype(np.float64)
    np.testing.assert_allclose(run(text, x, y), expected, atol=0.03)


def test_tensors_that_are_several_operands() -> None:
    """In the form of 2026, whose loads name tensors: a tensor of ones is an operand twice."""
    x, y = numbers(70, 40), numbers(40, 150, seed=1)
    text = text_of(lambda x, y: jax.nn.softmax(x, axis=-1) @ y, x, y, spelling="2026")
    generics = [op for op in lowered(text, *PASSES[:-1]).walk() if isinstance(op, d2m.GenericOp)]
    assert [len(set(each.buffers)) - len(each.buffers) for each in generics] == [0, -1]
    assert all([each.kind for each in op.threads] == [d2m.ThreadKind.UNIFIED] for op in generics)


def gelu(x: Any) -> Any:
    """By tanh, in operations."""
    half, one = jnp.bfloat16(0.5), jnp.bfloat16(1)
    inner = (x + x * x * x * jnp.bfloat16(0.0447)) * jnp.bfloat16(0.797)
    return x * ((jnp.tanh(inner) + one) * half)


def test_long_bodies() -> None:
    """The argument of gelu and its constants come from buffers; the matrix unit does the rest."""

    def function(x: Any, y: Any) -> Any:
        return gelu(x + y)

    x, y = numbers(70, 100), numbers(100, seed=1)
    text = text_of(function, x, y)
    *first, last = (names for names, _ in bodies(text))
    assert "fill" not in last.split()
    assert first.count("fill") == 4
    module = lowered(text, "ttir-to-ttmetal-pipeline")
    kernels = str(module)
    assert "binary_dest_reuse_tiles" in kernels
    assert "mul_unary_tile" not in kernels
    assert "mul_binary_tile" not in kernels
    total = (x + y).astype(np.float64)
    inner = (total + total**3 * 0.0447) * 0.797
    expected = total * (np.tanh(inner) + 1) / 2
    np.testing.assert_allclose(run(text, x, y), expected, rtol=0.03, atol=0.03)


@pytest.mark.parametrize(
    ("element", "call"), [(bfloat16, "div_unary_tile"), (np.float32, "div_binary_tile")]
)
def test_quotients_by_a_number(element: Any, call: str) -> None:
    """In 16 bits the reciprocal is as good, and takes a tenth of the time."""

    def function(x: Any) -> Any:
        return jnp.sin(x) / jnp.asarray(7, x.dtype)

    x = numbers(40, 70, element=element)
    text = text_of(function, x)
    assert call in str(lowered(text, "ttir-to-ttmetal-pipeline"))
    expected = np.sin(x.astype(np.float64)) / 7
    tolerance = 2.0**-7 if element is bfloat16 else 1e-5
    np.testing.assert_allclose(run(text, x), expected, rtol=tolerance, atol=1e-4)


def test_transposed_factors() -> None:
    """Tiles of rows of the right factor are read in the order in which a call takes them."""
    q, k = numbers(70, 64), numbers(150, 64, seed=1)
    text = text_of(lambda q, k: jax.lax.dot_general(q, k, (((1,), (1,)), ((), ()))), q, k)
    views = [
        str(op)
        for op in lowered(text, *PASSES, "d2m-grid-selection").walk()
        if op.name == "d2m.view_layout"
    ]
    # 2 by 5 tiles, of which the buffer has 5 by 2.
    assert any("memref<1x5x2x1x!tt.tile" in each and "(0, 0, d1, d2)" in each for each in views)
    expected = q.astype(np.float64) @ k.astype(np.float64).T
    np.testing.assert_allclose(run(text, q, k), expected, rtol=0.02, atol=0.2)
