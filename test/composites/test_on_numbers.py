"""Composites on numbers of NumPy, against NumPy and torch: what programs compute is folded so."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import pytest
from running.randomness import TestGenerator

from ttmlir.arrays.array import Array
from ttmlir.arrays.carriers import ShapeCarrier, array_of
from ttmlir.composites import arithmetic, indexing, interpolation, normalization, statistics
from ttmlir.composites.contraction import einsum
from ttmlir.composites.convolution import Convolution
from ttmlir.composites.windows import find_maxima
from ttmlir.errors import ArgumentError
from ttmlir.optable.window import WindowAxis

torch: Any = import_module("torch")
RANDOM = TestGenerator(__name__)
X = RANDOM.normal(size=(3, 37)).astype(np.float32)


def check(found: Array, expected: Any, atol: float = 0) -> None:
    """Compare shape and numbers."""
    expected = np.asarray(expected)
    assert found.shape == expected.shape
    np.testing.assert_allclose(found.value, expected, atol, atol)


def test_running_values() -> None:
    """Products, extremes with their last places, and sums of exponentials."""
    x = array_of(X)
    check(statistics.multiply_running(x, 1), np.cumprod(X, 1), 1e-4)
    check(statistics.add_exponentials_running(x, 1), np.logaddexp.accumulate(X, 1), 1e-5)
    for largest, function in ((True, torch.cummax), (False, torch.cummin)):
        expected = function(torch.from_numpy(np.round(X)), 1)
        found = statistics.find_running_extreme(array_of(np.round(X)), 1, largest=largest)
        for one, other in zip(found, expected, strict=True):
            check(one, other)
    infinite = array_of(np.array([-np.inf, np.inf], np.float32))
    check(statistics.add_exponentials(infinite, infinite), [-np.inf, np.inf])


@pytest.mark.parametrize("right", [False, True])
@pytest.mark.parametrize("count", [7, 100])
def test_places_among_sorted_numbers(count: int, right: bool) -> None:
    """By comparison with all, and by halving."""
    boundaries = np.round(np.linspace(-2, 2, count), 1).astype(np.float32)
    values = np.round(X, 1)
    found = statistics.search_sorted(array_of(boundaries), array_of(values), right=right)
    check(found, np.searchsorted(boundaries, values, "right" if right else "left"))


def test_order_statistics_and_histograms() -> None:
    """Medians with NaN and without, the most frequent number, sums between edges."""
    with_nan = X.copy()
    with_nan[0, 3] = np.nan
    found = statistics.median(array_of(with_nan), 1)[0].squeeze(1)
    check(found, torch.median(torch.from_numpy(with_nan), 1).values)
    found = statistics.nanmedian(array_of(with_nan), 1)[0].squeeze(1)
    check(found, torch.nanmedian(torch.from_numpy(with_nan), 1).values)
    found = statistics.mode(array_of(np.round(X)), 1)[0].squeeze(1)
    check(found, torch.mode(torch.from_numpy(np.round(X)), 1).values)
    counts, edges = np.histogram(X, 6)
    found_edges = statistics.make_histogram_edges(array_of(X), 6, None)
    check(found_edges, edges, 1e-6)
    check(statistics.add_between_edges(array_of(X), found_edges), counts)
    check(statistics.count_in_equal_parts(array_of(X), 5, -1, 1), np.histogram(X, 5, (-1, 1))[0])


@pytest.mark.parametrize("order", [0, 1, 2, 3, float("inf")])
def test_distances(order: float) -> None:
    """Of all rows, of pairs of rows, and how they change."""
    a, b = X[:, :5], X[:, 5:10]
    rows = torch.from_numpy(a).requires_grad_()
    expected = torch.cdist(rows, torch.from_numpy(b), p=order)
    given = array_of(a), array_of(b)
    distances = statistics.measure_distances(*given, order, by_products=False)
    check(distances, expected.detach(), 1e-5)
    expected.sum().backward()
    slope = statistics.differentiate_distances(distances.fill(1), *given, order, distances)
    check(slope, rows.grad, 1e-4)
    found = statistics.measure_own_distances(array_of(a), order)
    check(found, torch.pdist(torch.from_numpy(a), order), 1e-5)


def test_parts_of_numbers() -> None:
    """Divisors, fractions and exponents, signs of zeros and NaN."""
    a, b = np.array([0, 12, -18, 7, 144]), np.array([5, 18, 12, 0, 233])
    check(arithmetic.gcd(array_of(a), array_of(b)), np.gcd(a, b))
    check(arithmetic.lcm(array_of(a), array_of(b)), np.lcm(a, b))
    ends = np.array([0.0, -0.0, 1.5, -1e-40, np.inf, -np.nan, 3e38], np.float32)
    for found, expected in zip(arithmetic.frexp(array_of(ends)), np.frexp(ends), strict=True):
        is_finite = np.isfinite(ends)
        np.testing.assert_array_equal(found.value[is_finite], expected[is_finite])
    check(arithmetic.signbit(array_of(ends)), np.signbit(ends))
    powers = np.array([3, -3, 100, 140, -2, 1, 0], np.int32)
    check(arithmetic.ldexp(array_of(ends), array_of(powers)), np.ldexp(ends, powers))


def test_indices() -> None:
    """As NumPy's own, with dimensions in between and values that meet."""
    x = RANDOM.normal(size=(4, 5, 6))
    i, j = np.array([[0, -1], [2, 2]]), np.array([1, 3])
    for indices in ((i, None, j), (None, i, j), (i,), (None, j)):
        numpys = tuple(slice(None) if each is None else each for each in indices)
        given = [None if each is None else array_of(each) for each in indices]
        check(indexing.read_at(array_of(x), given), x[numpys])
        values = RANDOM.normal(size=x[numpys].shape)
        expected = x.copy()
        np.add.at(expected, numpys, values)
        found = indexing.write_at(array_of(x), given, array_of(values), "add")
        check(found, expected, 1e-12)


def test_normalization_and_attention() -> None:
    """Groups, and heads that queries share."""
    x = RANDOM.normal(size=(2, 4, 5)).astype(np.float32)
    value, _, _ = normalization.group_norm(array_of(x), 2, None, None, 1e-5)
    check(value, torch.nn.functional.group_norm(torch.from_numpy(x), 2), 1e-5)
    query, key = (RANDOM.normal(size=(1, n, 5, 8)).astype(np.float32) for n in (4, 2))
    wide = normalization.repeat_heads(array_of(key), 4)
    found = normalization.attend(array_of(query), wide, wide, None, 8**-0.5, causal=True)
    attention = torch.nn.functional.scaled_dot_product_attention
    tensors = [torch.from_numpy(each) for each in (query, key, key)]
    check(found, attention(*tensors, is_causal=True, enable_gqa=True), 1e-5)


def test_images() -> None:
    """A transposed convolution, places of maxima, and a grid that reaches over the edges."""
    image = RANDOM.normal(size=(2, 3, 6, 7)).astype(np.float32)
    weight = RANDOM.normal(size=(3, 2, 3, 2)).astype(np.float32)
    tensor, kernel = torch.from_numpy(image), torch.from_numpy(weight)
    geometry = Convolution((2, 1), (1, 0), (1, 2), (1, 0), groups=1, transposed=True)
    expected = torch.nn.functional.conv_transpose2d(
        tensor, kernel, stride=(2, 1), padding=(1, 0), dilation=(1, 2), output_padding=(1, 0)
    )
    found = geometry.compute(array_of(image), array_of(weight), expected.shape[2:])
    check(found, expected, 1e-4)
    axes = [WindowAxis(extent=n, kernel=3, stride=2, low=1, high=1) for n in (6, 7)]
    pool = torch.nn.functional.max_pool2d
    check(find_maxima(array_of(image), axes), pool(tensor, 3, 2, 1, return_indices=True)[1])
    grid = (RANDOM.normal(size=(2, 4, 5, 2)) * 1.2).astype(np.float32)
    sample = torch.nn.functional.grid_sample
    for kind in interpolation.Kernel:
        name = {"LINEAR": "bilinear", "CUBIC": "bicubic"}.get(kind.name, "nearest")
        for outside in interpolation.Outside:
            expected = sample(
                tensor,
                torch.from_numpy(grid),
                name,
                outside.name.lower(),
                align_corners=False,
            )
            given = array_of(image), array_of(grid), kind, outside
            check(interpolation.sample_grid(*given, align_corners=False), expected, 1e-4)


def test_shapes_alone() -> None:
    """Without numbers, shapes follow."""
    carrier = ShapeCarrier()
    x = Array(carrier, None, (4, 6, 8), "f32")
    assert statistics.norm(x, 2, [1], keep=False).shape == (4, 8)
    assert normalization.softmax(x, -1).shape == x.shape
    assert (x @ Array(carrier, None, (8, 3), "f32")).shape == (4, 6, 3)


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [
        ("ij,jk->ik", [(3, 5), (5, 7)]),
        ("ij, kj", [(3, 5), (7, 5)]),
        ("...ij,...jk->...ik", [(2, 1, 3, 5), (4, 5, 7)]),
        ("bhwkc,hkc->bhw", [(2, 3, 4, 5, 6), (3, 5, 6)]),
        ("ii->i", [(5, 5)]),
        ("iji->j", [(4, 3, 4)]),
        ("ijk->", [(2, 3, 4)]),
        ("i,j,k->kij", [(2,), (3,), (4,)]),
        ("i...->...", [(5, 2, 3)]),
    ],
)
def test_einsum(equation: str, shapes: list[tuple[int, ...]]) -> None:
    """As NumPy's."""
    arrays = [RANDOM.normal(size=shape).astype(np.float32) for shape in shapes]
    check(einsum(equation, [*map(array_of, arrays)]), np.einsum(equation, *arrays), 1e-5)


@pytest.mark.parametrize(
    ("equation", "message"),
    [
        ("ij->i", "has 1 terms for 2 tensors"),
        ("ijk,jk->i", "does not fit a tensor of 2 dimensions"),
        ("ij,jk->im", "has wrong letters"),
        ("i1,jk->ij", "does not fit"),
    ],
)
def test_what_is_no_equation(equation: str, message: str) -> None:
    """The message says what does not fit."""
    arrays = [array_of(np.ones((3, 5))), array_of(np.ones((5, 7)))]
    with pytest.raises(ArgumentError, match=message):
        einsum(equation, arrays)
