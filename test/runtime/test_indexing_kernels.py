"""Kernels that replace a reference function give the same numbers, in all of their cases."""

from __future__ import annotations

import numpy as np
import pytest
from running.randomness import TestGenerator

from ttmlir.optable import definition
from ttmlir.runtime.execution.kernels import KERNELS

_SCATTERS = [name for name in KERNELS if name.startswith("scatter")]
RNG = TestGenerator(__name__)


@pytest.mark.parametrize("largest", [3, 100, 2**15, 2**31 - 1])
@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.uint32, np.int64])
def test_integer_products(largest: int, dtype: type) -> None:
    """Sums wrap around as those of the type do, whether computed in it or not."""
    limits = np.iinfo(dtype)
    low, high = max(-largest, limits.min), min(largest, limits.max)
    a = RNG.integers(low, high, (2, 3, 40), endpoint=True).astype(dtype)
    b = RNG.integers(low, high, (2, 40, 5), endpoint=True).astype(dtype)
    exact = np.matmul(a.astype(object), b.astype(object))
    wrapped = np.array([int(x) % 2**64 for x in exact.ravel()], np.uint64).reshape(exact.shape)
    result = KERNELS["matmul"](np, a, b)
    assert result.dtype == dtype
    np.testing.assert_array_equal(result, wrapped.astype(dtype))


def test_other_products() -> None:
    """Truth values, numbers of other types, and no elements."""
    matmul = KERNELS["matmul"]
    bits = np.array([[True, False], [True, True]])
    assert matmul(np, bits, bits).tolist() == [[True, False], [True, True]]
    x = RNG.standard_normal((3, 4)).astype(np.float32)
    np.testing.assert_array_equal(matmul(np, x, x.T), x @ x.T)
    assert (
        matmul(np, np.zeros((2, 0), np.int32), np.zeros((0, 3), np.int32)).tolist() == [[0] * 3] * 2
    )


@pytest.mark.parametrize(("shape", "dim"), [((1, 6), 1), ((4, 6), 1), ((6, 1), 0), ((6, 5), -2)])
def test_gather(shape: tuple[int, ...], dim: int) -> None:
    """One list of numbers for all, or one for each place."""
    x = RNG.standard_normal((4, 5)).astype(np.float32)
    index = RNG.integers(0, x.shape[dim], shape)
    expected = np.take_along_axis(x, index, dim)
    np.testing.assert_array_equal(KERNELS["gather"](np, x, index, dim=dim), expected)
    with pytest.raises(ValueError, match="were picked from a dimension of"):
        KERNELS["gather"](np, x, index - 9, dim=dim)


@pytest.mark.parametrize("mnemonic", _SCATTERS)
@pytest.mark.parametrize("shape", [(7, 1), (7, 5), (1, 5)])
def test_scatter(mnemonic: str, shape: tuple[int, int]) -> None:
    """Against the reference, operands left as they are; some places do not exist."""
    rows = (4, 5) if shape[0] == 7 else (1, 5)
    dim = 0 if shape[0] == 7 else 1
    x = RNG.standard_normal(rows).astype(np.float32)
    source = RNG.standard_normal((shape[0], 5)).astype(np.float32)
    # Numbers that differ, since of several elements for one place any may win.
    places = RNG.permuted(np.broadcast_to(np.arange(-2, shape[dim] - 2), (5, shape[dim])), axis=1)
    index = places.T[:, : shape[1]] if dim == 0 else places[:1]
    before = x.copy()
    result = KERNELS[mnemonic](np, x, index, source, dim=dim)
    expected = definition(mnemonic).reference(np, x, index, source, dim=dim)
    np.testing.assert_array_equal(result, expected)
    np.testing.assert_array_equal(x, before)


@pytest.mark.parametrize("mnemonic", [name for name in _SCATTERS if name != "scatter"])
@pytest.mark.parametrize(("places", "rows"), [(9, 60), (3, 400), (70_000, 50)])
def test_scatter_of_many_rows_to_one_place(mnemonic: str, places: int, rows: int) -> None:
    """Rows for one place are combined in their order, few of them or many."""
    x = RNG.standard_normal((places, 3)).astype(np.float32)
    source = RNG.uniform(0.9, 1.1, (rows, 3)).astype(np.float32)
    index = RNG.integers(0, places, (rows, 1))
    functions = {"add": np.add, "maximum": np.maximum, "minimum": np.minimum}
    function = functions.get(mnemonic.removeprefix("scatter_"), np.multiply)
    expected = x.astype(np.float64)
    for place, row_of_source in zip(index[:, 0], source, strict=True):
        expected[place] = function(expected[place], row_of_source)
    result = KERNELS[mnemonic](np, x, index, source, dim=0)
    np.testing.assert_allclose(result, expected, rtol=1e-4)


def test_cumsum_accumulates_in_double_precision() -> None:
    """The last of many sums is the float32 next to the exact one."""
    x = RNG.random((2, 10_000)).astype(np.float32)
    result = KERNELS["cumsum"](np, x, dim=1).astype(np.float32)
    expected = np.float32([sum(map(float, line)) for line in x])
    np.testing.assert_array_equal(result[:, -1], expected)


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.uint8, np.bool_])
@pytest.mark.parametrize(("k", "dim"), [(1, 0), (2, 1), (5, -1), (6, 0), (20, 1), (0, 1)])
def test_the_largest_numbers(k: int, dim: int, dtype: type, largest: bool) -> None:
    """Many equal numbers, zeros of both signs, infinities: the first ones of equals are taken."""
    x = RNG.integers(0, 4, (50, 41, 3)).astype(dtype)
    if dtype is np.float32:
        x[RNG.random(x.shape) < 0.2] = np.inf
        x[RNG.random(x.shape) < 0.2] = -0.0
    k = min(k, x.shape[dim])
    settings = {"k": k, "dim": dim, "largest": largest, "sorted": True}
    for found, expected in zip(
        KERNELS["topk"](np, x, **settings),
        definition("topk").reference(np, x, **settings),
        strict=True,
    ):
        np.testing.assert_array_equal(found, expected)
    if dtype is np.float32:
        x[3, 4] = np.nan
        found = KERNELS["topk"](np, x, **settings)[0]
        np.testing.assert_array_equal(found, definition("topk").reference(np, x, **settings)[0])
