"""Integers of 2 and 4 bits and floating point numbers of few, against JAX and ml_dtypes."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from running.randomness import TestGenerator

import ttmlir

jax: Any = import_module("jax")
jnp: Any = import_module("jax.numpy")
RANDOM = TestGenerator(__name__)
pytestmark = pytest.mark.filterwarnings("ignore:.*are kept as:UserWarning")


def check_equal(function: Callable[..., Any], *arguments: Any) -> None:
    """Compile a function of JAX; types and numbers are those that JAX computes."""
    compiled = ttmlir.compile(function, *arguments)
    for numerics in ("exact", "device"):
        actual = jax.tree.leaves(compiled(*arguments, numerics=numerics))
        for got, want in zip(actual, jax.tree.leaves(function(*arguments)), strict=True):
            assert got.dtype == want.dtype
            a, b = (np.asarray(each).astype(np.float32) for each in (got, want))
            np.testing.assert_array_equal(a, b)


INTEGERS = {"int4": (-8, 8), "uint4": (0, 16), "int2": (-2, 2), "uint2": (0, 4)}


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("name", INTEGERS)
def test_integers(name: str) -> None:
    """Arithmetic wraps at their own bits; they move, and become others."""
    dtype = getattr(jnp, name)
    x, y = (jnp.asarray(RANDOM.integers(*INTEGERS[name], (5, 33)), dtype) for _ in range(2))

    def arithmetic(x: Any, y: Any) -> Any:
        return x * y + x - y, jnp.maximum(x, y), x.max(1), x < y

    def conversions(x: Any, y: Any) -> Any:
        wide = x.astype(jnp.int32) * 3 - y.astype(jnp.int32)
        return wide, wide.astype(dtype), x.astype(jnp.float32) * 0.5

    def shift(x: Any, y: Any) -> Any:
        return jax.lax.shift_right_logical(x, jnp.ones_like(x)), y.T[3:7]

    def choose(x: Any, y: Any) -> Any:
        return jnp.concatenate([x, y]), jnp.where(x > y, x, y)

    for function in (arithmetic, conversions, shift):
        check_equal(function, x, y)
    # XLA cannot do this on CPUs.
    for got, want in zip(
        ttmlir.compile(choose, x, y)(x, y),
        choose(x.astype(jnp.int8), y.astype(jnp.int8)),
        strict=True,
    ):
        np.testing.assert_array_equal(np.asarray(got).astype(np.int8), want)


@pytest.mark.parametrize("spelling", ["2024", "2026"])
def test_products_of_integers(spelling: Any) -> None:
    """XLA has none on CPUs; sums of NumPy are the oracle. Weights of the model are constants."""
    x, w = (RANDOM.integers(-8, 8, shape).astype(ml_dtypes.int4) for shape in ((5, 70), (70, 3)))
    weight = jnp.asarray(w)

    def function(x: Any) -> Any:
        dims = (((1,), (0,)), ((), ()))
        return jax.lax.dot_general(x, weight, dims, preferred_element_type=jnp.int32)

    result = ttmlir.compile(function, jnp.asarray(x), spelling=spelling)(x)
    np.testing.assert_array_equal(result, x.astype(np.int32) @ w.astype(np.int32))


FLOATS = (
    *("float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e4m3"),
    *("float8_e4m3b11fnuz", "float8_e3m4", "float4_e2m1fn"),
)
LARGE = [np.inf, -np.inf, 0, -0.0, 6, 7, 240, 248, 249, 448, 464, 465, 57344, 61440, 61441]


def samples(*, positive: bool = False) -> Any:
    """Numbers of all magnitudes, NaN and the edges of formats."""
    numbers = RANDOM.standard_normal(300) * 10.0 ** RANDOM.integers(-6, 6, 300)
    found = np.concatenate([numbers, [np.nan], LARGE]).astype(np.float32)
    return jnp.asarray(np.abs(found[:300]) if positive else found)


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("name", FLOATS)
def test_floats(name: str) -> None:
    """Rounded to the format after each operation, from and to it."""
    dtype = getattr(jnp, name)
    x = samples()

    def function(x: Any, y: Any) -> Any:
        return x.astype(dtype), y + y * y, y.astype(jnp.float32), jnp.maximum(y, -y)

    check_equal(function, x, x.astype(dtype))


def test_scales() -> None:
    """Powers of two, of a block of numbers of 4 bits: MX formats as they are written out."""

    def to_scales(x: Any) -> Any:
        return x.astype(jnp.float8_e8m0fnu)

    def multiply(x: Any, s: Any) -> Any:
        return x.astype(jnp.float32) * s.astype(jnp.float32)

    check_equal(to_scales, samples(positive=True))
    blocks = jnp.asarray(RANDOM.standard_normal((5, 32)), jnp.float4_e2m1fn)
    scales = samples(positive=True)[:5, None].astype(jnp.float8_e8m0fnu)
    check_equal(multiply, blocks, scales)


@pytest.mark.parametrize("name", ["float6_e2m3fn", "float6_e3m2fn"])
def test_floats_of_6_bits(name: str) -> None:
    """In StableHLO, as JAX has no such dtypes."""
    keyword = {"float6_e2m3fn": "f6E2M3FN", "float6_e3m2fn": "f6E3M2FN"}[name]
    text = f"""
    func.func @main(%x: tensor<7x43xf32>) -> tensor<7x43x{keyword}> {{
      %0 = stablehlo.convert %x : (tensor<7x43xf32>) -> tensor<7x43x{keyword}>
      return %0 : tensor<7x43x{keyword}>
    }}"""
    x = np.asarray(samples())[:301].reshape(7, 43)
    expected = x.astype(getattr(ml_dtypes, name)).astype(np.float32)
    result = ttmlir.compile(text)(x).astype(np.float32)
    np.testing.assert_array_equal(result, expected)


def test_products_of_floats() -> None:
    """Sums are in f32."""
    a, b = (jnp.asarray(RANDOM.standard_normal(s), jnp.float8_e4m3fn) for s in ((5, 33), (33, 7)))

    def multiply(a: Any, b: Any) -> Any:
        return jnp.dot(a, b, preferred_element_type=jnp.float32)

    compiled = ttmlir.compile(multiply, a, b)
    expected = np.asarray(a).astype(np.float64) @ np.asarray(b).astype(np.float64)
    np.testing.assert_allclose(compiled(a, b), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.filterwarnings("default:.*are kept as:UserWarning")
def test_wider_types_are_told() -> None:
    """By a warning, which the model keeps."""
    x = jnp.asarray([1, -2, 3], jnp.int4)

    def double(x: Any) -> Any:
        return x + x

    with pytest.warns(UserWarning, match="tensors of i4 are kept as i8 on the device"):
        compiled = ttmlir.compile(double, x)
    assert compiled.warnings == ("tensors of i4 are kept as i8 on the device",)


def test_bits_are_refused() -> None:
    """At the line of the program."""
    text = """
    func.func @main(%x: tensor<3xi4>) -> tensor<3xi4> {
      %0 = stablehlo.count_leading_zeros %x : tensor<3xi4>
      return %0 : tensor<3xi4>
    }"""
    with pytest.raises(
        ttmlir.CompilationError, match=r"3:12: .*numbers of i4 as i8, .*convert them to i8"
    ):
        ttmlir.compile(text)
