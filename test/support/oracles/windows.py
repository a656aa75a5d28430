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
    ceil_mode: bool = False,
) -> Any:
    """Largest value under each position of a window over an NHWC image.

    With `ceil_mode`, torch's rule: a window that reaches beyond the padding counts if it starts
    inside the image or the padding in front.
    """
    if ceil_mode:
        top, bottom, left, right = padding
        bottom = _beyond(image.shape[1], kernel[0], stride[0], top, bottom)
        right = _beyond(image.shape[2], kernel[1], stride[1], left, right)
        padding = top, bottom, left, right
    return _slid(image, kernel, stride, padding, -np.inf, lambda window: window.max((1, 2)))


def _beyond(extent: int, kernel: int, stride: int, low: int, high: int) -> int:
    """Elements behind an image so that the windows that count, and no others, are in it."""
    last = start = -low
    while start < extent and start < extent + high - kernel + stride:
        last, start = start, start + stride
    return last + kernel - extent


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
    padded = np.pad(np.asarray(image, np.float64), np.maximum(margins, 0), constant_values=margin)
    padded = padded[:, : padded.shape[1] + min(bottom, 0), : padded.shape[2] + min(right, 0)]
    rows = range(0, padded.shape[1] - kernel[0] + 1, stride[0])
    columns = range(0, padded.shape[2] - kernel[1] + 1, stride[1])
    lines = [
        np.stack([apply(padded[:, y : y + kernel[0], x : x + kernel[1]]) for x in columns], 1)
        for y in rows
    ]
    return np.stack(lines, 1)
