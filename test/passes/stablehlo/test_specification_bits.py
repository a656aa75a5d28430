"""Bits of numbers between widths, and rounding to formats without a type, against JAX."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from numpy.typing import NDArray
from running.randomness import TestGenerator

import ttmlir

RANDOM = TestGenerator(__name__)
SPECIAL = np.array([[np.inf, -np.inf, np.nan, -0.0], [1e38, -1e-38, 3e-5, 65520]], np.float32)
NUMBERS = np.concatenate(
    [
        SPECIAL,
        RANDOM.standard_normal((5, 4)).astype(np.float32),
        np.exp(RANDOM.uniform(-20, 20, (9, 4))).astype(np.float32),
    ]
)


def check(function: Any, *inputs: NDArray[Any]) -> None:
    """The same numbers as JAX."""
    found, expected = ttmlir.compile(function, *inputs)(*inputs), function(*inputs)
    np.testing.assert_array_equal(np.asarray(found), np.asarray(expected))


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize(
    ("source", "target"),
    [
        *(("int32", "int8"), ("int32", "uint8"), ("int32", "int16"), ("int16", "uint8")),
        *(("float32", "uint8"), ("float32", "float16"), ("float16", "int8"), ("uint32", "uint16")),
    ],
)
def test_between_widths(source: str, target: str) -> None:
    """Several narrow numbers for each wide one, and back."""
    dtype = np.dtype(source)
    if dtype.kind == "f":
        wide = RANDOM.standard_normal((3, 5)).astype(dtype)
    else:
        limits = np.iinfo(dtype)
        wide = RANDOM.integers(limits.min, limits.max, (3, 5), dtype)
    check(partial(lax.bitcast_convert_type, new_dtype=jnp.dtype(target)), wide)
    narrow = np.asarray(lax.bitcast_convert_type(wide, jnp.dtype(target)))
    if not np.isnan(narrow.astype(np.float32)).any():
        check(partial(lax.bitcast_convert_type, new_dtype=jnp.dtype(source)), narrow)


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("bits", [(4, 3), (5, 2), (3, 4), (8, 0), (8, 12), (5, 23), (2, 1)])
def test_rounding_to_formats_without_a_type(bits: tuple[int, int]) -> None:
    """Ties to even, overflow to infinity, and 0 below the least normal number."""
    round_to = partial(lax.reduce_precision, exponent_bits=bits[0], mantissa_bits=bits[1])
    check(round_to, NUMBERS)
    with np.errstate(over="ignore"):
        half = NUMBERS.astype(np.float16)
    check(round_to, half)
