"""Products of integers are exact, however many are added."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

onnx: Any = pytest.importorskip("onnx", reason="needs onnx")

from samples.onnx_graphs import model, node, value  # noqa: E402

import ttmlir  # noqa: E402

KIND = onnx.TensorProto
A = np.random.default_rng(0).integers(200, 256, (3, 700)).astype(np.uint8)


def test_matmul() -> None:
    """Sums beyond 2^24, of which f32 does not hold each."""
    b = np.random.default_rng(1).integers(-128, -90, (700, 5)).astype(np.int8)
    proto = model(
        [node("MatMulInteger", "a b za zb", "y")],
        [value("a", [3, 700], KIND.UINT8), value("b", [700, 5], KIND.INT8)],
        [value("y", [3, 5], KIND.INT32)],
        {"za": np.array(1, np.uint8), "zb": np.arange(120, 125).astype(np.int8)},
    )
    expected = (A.astype(np.int64) - 1) @ (b.astype(np.int64) - np.arange(120, 125))
    assert np.abs(expected).min() > 1 << 24
    np.testing.assert_array_equal(ttmlir.compile(proto, A, b)(A, b), expected)


def test_conv() -> None:
    """Channels are added in parts, in each of two groups."""
    x = A[:, :600].reshape(3, 150, 2, 2)
    w = np.random.default_rng(2).integers(190, 256, (4, 75, 2, 2)).astype(np.uint8)
    proto = model(
        [node("ConvInteger", "x w zx", "y", group=2)],
        [value("x", [3, 150, 2, 2], KIND.UINT8), value("w", [4, 75, 2, 2], KIND.UINT8)],
        [value("y", [3, 4, 1, 1], KIND.INT32)],
        {"zx": np.array(2, np.uint8)},
    )
    parts = np.split(x.astype(np.int64) - 2, 2, 1), np.split(w.astype(np.int64), 2)
    expected = np.concatenate(
        [np.einsum("ncij,ocij->no", a, b) for a, b in zip(*parts, strict=True)], 1
    )
    found = ttmlir.compile(proto, x, w)(x, w)
    np.testing.assert_array_equal(found[:, :, 0, 0], expected)


def test_qlinear_matmul() -> None:
    """Rounded once, from exact sums, and saturated."""
    a, b = A[:, :40].astype(np.int16), np.random.default_rng(3).integers(0, 256, (40, 6))
    weights = {
        "sa": np.float32(0.02),
        "za": np.array(220, np.uint8),
        "sb": np.float32(0.03),
        "zb": np.array(100, np.uint8),
        "sy": np.float32(0.5),
        "zy": np.array(90, np.uint8),
    }
    proto = model(
        [node("QLinearMatMul", "a sa za b sb zb sy zy", "y")],
        [value("a", [3, 40], KIND.UINT8), value("b", [40, 6], KIND.UINT8)],
        [value("y", [3, 6], KIND.UINT8)],
        weights,
    )
    given = a.astype(np.uint8), b.astype(np.uint8)
    sums = (a - 220.0) @ (b - 100.0) * (0.02 * 0.03 / 0.5)
    expected = np.clip(np.rint(sums) + 90, 0, 255)
    np.testing.assert_array_equal(ttmlir.compile(proto, *given)(*given), expected)
