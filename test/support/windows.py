"""Convolution and pooling in plain loops over NumPy arrays, to compare with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Padding = tuple[int, int, int, int]
"""Rows above, rows below, columns left, columns right."""


def convolved(
    image: Any,
    weight: Any,
    bias: Any = 0.0,
    *,
    stride: tuple[int, int] = (1, 1),
    padding: Padding = (0, 0, 0, 0),
) -> Any:
    """Cross-correlation of an NHWC image with an OIHW weight."""

    def apply(window: Any) -> Any:
        return np.einsum("nhwc,ochw->no", window, weight) + np.reshape(bias, -1)

    return _slid(image, weight.shape[2:], stride, padding, 0.0, apply)


def max_pooled(
    image: Any,
    kernel: tuple[int, int],
    *,
    stride: tuple[int, int] = (1, 1),
    padding: Padding = (0, 0, 0, 0),
) -> Any:
    """Largest value under each position of a window over an NHWC image."""
    return _slid(image, kernel, stride, padding, -np.inf, lambda window: window.max((1, 2)))


def _slid(
    image: Any,
    kernel: tuple[int, int],
    stride: tuple[int, int],
    padding: Padding,
    margin: float,
    apply: Callable[[Any], Any],
) -> Any:
    top, bottom, left, right = padding
    margins = ((0, 0), (top, bottom), (left, right), (0, 0))
    padded = np.pad(np.asarray(image, np.float64), margins, constant_values=margin)
    rows = range(0, padded.shape[1] - kernel[0] + 1, stride[0])
    columns = range(0, padded.shape[2] - kernel[1] + 1, stride[1])
    lines = [
        np.stack([apply(padded[:, y : y + kernel[0], x : x + kernel[1]]) for x in columns], 1)
        for y in rows
    ]
    return np.stack(lines, 1)
