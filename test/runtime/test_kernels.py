"""Kernels that replace reference functions, against loops over single elements."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest

from ttmlir.optable import DEFINITIONS
from ttmlir.runtime.execution.kernels import KERNELS

Window = dict[str, int]


def window(kernel: tuple[int, int], **options: tuple[int, int]) -> Window:
    """Window parameters with the neutral defaults."""
    parts = {"kernel": kernel, "stride": (1, 1), "dilation": (1, 1), "padding": (0, 0)} | options
    return {
        f"{k}_{axis}": v[i] for k, v in parts.items() for i, axis in enumerate(("height", "width"))
    }


def positions(extent: int, w: Window, axis: str, ceil_mode: bool = False) -> list[int]:
    """First element of the window at each position, counted from the unpadded image."""
    pad, stride = w[f"padding_{axis}"], w[f"stride_{axis}"]
    reach = w[f"dilation_{axis}"] * (w[f"kernel_{axis}"] - 1) + 1
    starts = []
    start = -pad
    while start + reach <= extent + pad or (
        ceil_mode and start < extent and start - stride + reach < extent + pad
    ):
        starts.append(start)
        start += stride
    return starts


def elements(
    image: np.ndarray, w: Window, y0: int, x0: int, n: int
) -> list[tuple[int, int, np.ndarray]]:
    """The window's elements that lie inside the image: (kernel y, kernel x, channels)."""
    inside = []
    for ky, kx in itertools.product(range(w["kernel_height"]), range(w["kernel_width"])):
        y, x = y0 + ky * w["dilation_height"], x0 + kx * w["dilation_width"]
        if 0 <= y < image.shape[1] and 0 <= x < image.shape[2]:
            inside.append((ky, kx, image[n, y, x]))
    return inside


CONV_CASES = [
    window((3, 3), padding=(1, 1)),
    window((1, 1)),
    window((2, 3), stride=(2, 1), padding=(0, 2)),
    window((3, 2), stride=(1, 3), dilation=(2, 1), padding=(2, 1)),
]


@pytest.mark.parametrize("w", CONV_CASES)
@pytest.mark.parametrize(("groups", "inner", "outer"), [(1, 4, 6), (2, 4, 6), (12, 36, 24)])
def test_conv2d(w: Window, groups: int, inner: int, outer: int) -> None:
    """Convolution, one multiplication at a time, in float64."""
    rng = np.random.default_rng(0)
    batch, height, width = 2, 6, 7
    image = rng.standard_normal((batch, height, width, inner)).astype(np.float32)
    kernel = (w["kernel_height"], w["kernel_width"])
    weight = rng.standard_normal((outer, inner // groups, *kernel)).astype(np.float32)
    bias = rng.standard_normal((1, 1, 1, outer)).astype(np.float32)
    rows, columns = positions(height, w, "height"), positions(width, w, "width")
    expected = np.zeros((batch, len(rows), len(columns), outer))
    for n, i, j, o in np.ndindex(expected.shape):
        first = o // (outer // groups) * (inner // groups)
        total = float(bias[0, 0, 0, o])
        for ky, kx, pixel in elements(image, w, rows[i], columns[j], n):
            total += float(
                pixel[first : first + inner // groups].astype(float) @ weight[o, :, ky, kx]
            )
        expected[n, i, j, o] = total
    parameters = {
        "in_channels": inner,
        "out_channels": outer,
        "batch_size": batch,
        "input_height": height,
        "input_width": width,
        "groups": groups,
        **w,
    }
    flat = image.reshape(1, 1, -1, inner)
    for kernel_function in (KERNELS["conv2d"], DEFINITIONS["conv2d"].reference):
        result = kernel_function(np, flat, weight, bias, **parameters)
        np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-5)
        assert result.dtype == np.float32


@pytest.mark.parametrize(
    "w",
    [
        window((2, 2), stride=(2, 2)),
        window((3, 2), stride=(2, 1), padding=(1, 1)),
        window((2, 3), dilation=(2, 1), padding=(1, 0)),
        window((2, 2), stride=(3, 2), padding=(1, 0)),
    ],
)
@pytest.mark.parametrize("ceil_mode", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.int32])
def test_max_pool2d(w: Window, ceil_mode: bool, dtype: type) -> None:
    """Maxima of all-negative images: padding must not win."""
    rng = np.random.default_rng(1)
    batch, height, width, channels = 2, 7, 6, 3
    image = (-10 * rng.random((batch, height, width, channels)) - 1).astype(dtype)
    rows = positions(height, w, "height", ceil_mode)
    columns = positions(width, w, "width", ceil_mode)
    expected = np.zeros((batch, len(rows), len(columns), channels))
    for n, i, j in itertools.product(range(batch), range(len(rows)), range(len(columns))):
        pixels = [pixel for *_, pixel in elements(image, w, rows[i], columns[j], n)]
        expected[n, i, j] = np.max(pixels, axis=0)
    parameters = {
        "batch_size": batch,
        "input_height": height,
        "input_width": width,
        "channels": channels,
        "ceil_mode": ceil_mode,
        **w,
    }
    result = KERNELS["max_pool2d"](np, image, **parameters)
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("dimension", [0, 1, -1])
def test_softmax(dimension: int) -> None:
    """Probabilities that sum to 1, also for numbers whose exponentials overflow."""
    x = np.random.default_rng(2).standard_normal((5, 33, 7)).astype(np.float32) * 300
    result = KERNELS["softmax"](np, x, dimension=dimension)
    powers = np.exp(x.astype(np.float64) - x.max(axis=dimension, keepdims=True))
    expected = powers / powers.sum(axis=dimension, keepdims=True)
    np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-30)
    assert result.dtype == np.float32


def test_softmax_of_rows() -> None:
    """Rows in many parts and long ones, masked numbers, and rows far below others."""
    rng = np.random.default_rng(4)
    for shape in ((1500, 40), (3, 2600), (2, 5, 1)):
        x = rng.standard_normal(shape).astype(np.float32)
        x[..., ::3] = -np.inf if shape[-1] > 1 else 0
        x[-1] -= 200
        powers = np.exp(x.astype(np.float64) - x.max(-1, keepdims=True))
        expected = powers / powers.sum(-1, keepdims=True)
        result = KERNELS["softmax"](np, x, dimension=len(shape) - 1)
        np.testing.assert_allclose(result, expected, rtol=2e-6)
    nothing = np.array([[0, 0], [-np.inf, -np.inf], [np.inf, 0], [np.nan, 0]], np.float32)
    with np.errstate(invalid="ignore"):
        result = KERNELS["softmax"](np, nothing, dimension=1)
    np.testing.assert_array_equal(result, [[0.5, 0.5], *[[np.nan] * 2] * 2, [np.nan] * 2])


@pytest.mark.parametrize("name", ["sum", "mean", "prod"])
@pytest.mark.parametrize("dims", [None, (0,), (1, -1)])
@pytest.mark.parametrize("keep", [True, False])
def test_reductions(name: str, dims: tuple[int, ...] | None, keep: bool) -> None:
    """Against Python's exact integers."""
    x = np.random.default_rng(3).integers(1, 3, (3, 4, 5))
    axes = range(3) if dims is None else [dim % 3 for dim in dims]
    kept = [range(1) if i in axes else range(extent) for i, extent in enumerate(x.shape)]
    expected = np.zeros([len(r) for r in kept])
    for index in itertools.product(*kept):
        part = x[tuple(slice(None) if i in axes else index[i] for i in range(3))]
        values = [int(value) for value in part.ravel()]
        total = int(np.prod(np.array(values, object))) if name == "prod" else sum(values)
        expected[index] = total / len(values) if name == "mean" else total
    if not keep:
        expected = expected.reshape([len(r) for i, r in enumerate(kept) if i not in axes])
    for dtype in (np.float32, np.int32):
        result = KERNELS[name](np, x.astype(dtype), keep_dim=keep, dim_arg=dims)
        np.testing.assert_allclose(result, expected, rtol=1e-7)


NUMBERS = np.array([0.0, 1e-30, 1e-4, 0.3, 1, 2.5, 3.94, 3.96, 6, 30, 200, 1e20], np.float32)


@pytest.mark.parametrize(
    ("mnemonic", "function"),
    [
        ("erf", math.erf),
        ("gelu", lambda x: x * math.erfc(-x / math.sqrt(2)) / 2),
        ("sigmoid", lambda x: 1 / (1 + math.exp(-x)) if x > -700 else 0.0),
        ("silu", lambda x: x / (1 + math.exp(-x)) if x > -700 else 0.0),
    ],
)
def test_functions(mnemonic: str, function: Callable[[float], float]) -> None:
    """Functions that NumPy lacks, in float32, of more numbers than are taken at a time."""
    rng = np.random.default_rng(5)
    x = (4 * rng.standard_normal((3, 11_000, 2))).astype(np.float32)
    x.flat[: 2 * NUMBERS.size] = [*NUMBERS, *-NUMBERS]
    operands = (
        x,
        x.transpose(2, 0, 1),
        x[:, ::3],
        np.broadcast_to(x[:, :1], (3, 5, 2)),
        x[0, 0, 1:],
    )
    for operand in (*operands, operands[-1].reshape(())):
        with np.errstate(over="ignore"):
            result = KERNELS[mnemonic](np, operand)
        expected = np.vectorize(lambda number: function(float(number)))(operand)
        np.testing.assert_allclose(result, expected, rtol=3e-7, atol=2.5e-7)
        assert result.dtype == np.float32
    with np.errstate(invalid="ignore"):
        assert np.isnan(KERNELS[mnemonic](np, np.array([np.nan], np.float32))).all()
