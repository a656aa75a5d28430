"""Special functions of CHLO against SciPy in double precision, and NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import pytest
from numpy.typing import NDArray
from running.pass_runner import executed
from running.randomness import TestGenerator
from scipy import special

import ttmlir

Numbers = NDArray[Any]
RANDOM = TestGenerator(__name__)
POSITIVE = np.concatenate([np.geomspace(1e-3, 90, 40), np.arange(0.5, 9.5)]).astype(np.float32)
LEFT = (RANDOM.uniform(-5, 0, 30)).astype(np.float32)
PIPELINE = "stablehlo-to-ttnn-pipeline"


def check(
    function: Callable[..., Any],
    reference: Callable[..., Any],
    *inputs: Numbers,
    tolerance: float = 1e-5,
) -> None:
    """Compare what a compiled function computes with a reference in double precision."""
    found = ttmlir.compile(function, *inputs)(*inputs)
    expected = reference(*(value.astype(np.float64) for value in inputs))
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


def test_digamma() -> None:
    """Right of 0 and left of it; NaN at its poles."""
    check(jax.lax.digamma, special.digamma, POSITIVE)
    check(jax.lax.digamma, special.digamma, LEFT, tolerance=1e-4)
    poles = np.array([0, -1, -7, np.nan, np.inf], np.float32)
    found = ttmlir.compile(jax.lax.digamma, poles)(poles)
    np.testing.assert_array_equal(found, [np.nan, np.nan, np.nan, np.nan, np.inf])


def test_bessel_i1e() -> None:
    """Odd, near 0 and far from it."""
    numbers = np.concatenate([-POSITIVE, POSITIVE, np.array([0, 8, 1e4], np.float32)])
    check(jax.lax.bessel_i1e, special.i1e, numbers)


@pytest.mark.parametrize("exponent", [1.5, 2, 4, 7.25])
def test_zeta(exponent: float) -> None:
    """Hurwitz's sums."""
    numbers = POSITIVE[POSITIVE > 0.02]
    check(jax.lax.zeta, special.zeta, np.full_like(numbers, exponent), numbers)


def test_zeta_outside_of_its_domain() -> None:
    """Infinite at poles, NaN where there is no value, as in XLA."""
    s = np.array([1, 0.5, 2, 2.5, 2], np.float32)
    q = np.array([3, 3, -2, -2.5, 0], np.float32)
    found = ttmlir.compile(jax.lax.zeta, s, q)(s, q)
    np.testing.assert_array_equal(found, jax.lax.zeta(s, q))


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("order", [0, 1, 2, 5])
def test_polygamma(order: int) -> None:
    """Derivatives of digamma."""
    numbers = POSITIVE[POSITIVE > 0.05]
    check(jax.lax.polygamma, special.polygamma, np.full_like(numbers, order), numbers)


def test_next_after() -> None:
    """Up, down, across 0, to infinity, and from NaN."""
    x = np.array([1, 1, -1, -1, 0, 0, np.inf, 3, 3, np.nan, 1, -0.0, 3.4028235e38], np.float32)
    y = np.array([2, 0, 0, -2, 1, -1, 0, 3, np.inf, 1, np.nan, 0, np.inf], np.float32)
    found = ttmlir.compile(jax.lax.nextafter, x, y)(x, y)
    with np.errstate(over="ignore"):
        expected = np.nextafter(x, y)
    np.testing.assert_array_equal(found, expected)


WIDTHS = {"i32": np.int32, "ui32": np.uint32, "i16": np.int16, "ui16": np.uint16, "i8": np.int8}


@pytest.mark.parametrize("name", WIDTHS)
def test_mulhi(name: str) -> None:
    """The upper half of each product."""
    limits = np.iinfo(WIDTHS[name])
    values = RANDOM.integers(limits.min, limits.max, (2, 40), endpoint=True)
    values[:, :4] = [[limits.min, limits.max, limits.min, 0], [limits.min, limits.max, 1, 7]]
    expected = (values[0].astype(object) * values[1].astype(object)) >> limits.bits
    type_ = f"tensor<40x{name}>"
    text = (
        f"func.func public @main(%a: {type_}, %b: {type_}) -> {type_} {{\n"
        f"  %r = chlo.mulhi %a, %b : {type_}, {type_} -> {type_}\n  return %r : {type_}\n}}"
    )
    inputs = [row.astype(WIDTHS[name]) for row in values]
    (found,) = executed(text, inputs, PIPELINE)
    np.testing.assert_array_equal(found, expected.astype(WIDTHS[name]))
