"""NumPy kernels that are faster or more exact than a row's reference function.

Operations that are not listed in `KERNELS` run their reference function. Kernels take the same
arguments. Sums of floating point numbers accumulate in float64, so that the result is the float32
nearest to the sum, or its neighbour, whatever the order of the elements.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ttmlir.optable.window import output_extent
from ttmlir.runtime.element import Array


def _sum(xp: Any, input: Array, *, keep_dim: bool, dim_arg: tuple[int, ...] | None = None) -> Array:
    return xp.sum(input, axis=dim_arg, keepdims=keep_dim, dtype=_accumulator(input))


def _mean(
    xp: Any, input: Array, *, keep_dim: bool, dim_arg: tuple[int, ...] | None = None
) -> Array:
    return xp.mean(input, axis=dim_arg, keepdims=keep_dim, dtype=np.float64)


def _prod(
    xp: Any, input: Array, *, keep_dim: bool, dim_arg: tuple[int, ...] | None = None
) -> Array:
    return xp.prod(input, axis=dim_arg, keepdims=keep_dim, dtype=_accumulator(input))


def _accumulator(input: Array) -> type[np.float64] | None:
    return np.float64 if input.dtype.kind == "f" else None


def _softmax(xp: Any, input: Array, *, dimension: int) -> Array:
    powers = input - xp.max(input, axis=dimension, keepdims=True)
    if powers.dtype.kind == "f":
        xp.exp(powers, out=powers)
    else:
        powers = xp.exp(powers)
    total = xp.sum(powers, axis=dimension, keepdims=True, dtype=np.float64)
    return xp.divide(powers, total.astype(powers.dtype), out=powers)


def _conv2d(
    xp: Any,
    input: Array,
    weight: Array,
    bias: Array | None = None,
    *,
    in_channels: int,
    out_channels: int,
    batch_size: int,
    input_height: int,
    input_width: int,
    kernel_height: int,
    kernel_width: int,
    stride_height: int,
    stride_width: int,
    padding_height: int,
    padding_width: int,
    dilation_height: int,
    dilation_width: int,
    groups: int,
) -> Array:
    """im2col and one matrix product per group; columns are ordered kernel y, x, channel."""
    image = input.reshape(batch_size, input_height, input_width, in_channels)
    if padding_height or padding_width:
        image = xp.pad(image, ((0, 0), (padding_height,) * 2, (padding_width,) * 2, (0, 0)))
    kernel = (kernel_height, kernel_width)
    stride = (stride_height, stride_width)
    dilation = (dilation_height, dilation_width)
    positions = (
        output_extent(
            input_height, kernel_height, stride_height, 2 * padding_height, dilation_height
        ),
        output_extent(input_width, kernel_width, stride_width, 2 * padding_width, dilation_width),
    )
    rows = batch_size * positions[0] * positions[1]
    taps = kernel_height * kernel_width
    group_in, group_out = in_channels // groups, out_channels // groups
    output = xp.empty((rows, out_channels), xp.result_type(input, weight))
    columns = xp.empty((batch_size, *positions, taps, group_in), input.dtype)
    for group in range(groups):
        channels = slice(group * group_in, (group + 1) * group_in)
        for tap, window in enumerate(_taps(image, kernel, stride, dilation, positions)):
            columns[..., tap, :] = window[..., channels]
        filters = weight[group * group_out : (group + 1) * group_out]
        matrix = filters.transpose(2, 3, 1, 0).reshape(taps * group_in, group_out)
        result = columns.reshape(rows, taps * group_in) @ matrix
        output[:, group * group_out : (group + 1) * group_out] = result
    if bias is not None:
        output = output + bias.reshape(1, out_channels)
    return output.reshape(batch_size, *positions, out_channels)


def _taps(
    image: Array,
    kernel: tuple[int, int],
    stride: tuple[int, int],
    dilation: tuple[int, int],
    positions: tuple[int, int],
) -> Iterator[Array]:
    """For each element of the window, row by row, the pixels (N, OH, OW, C) that it meets."""
    reach = [(count - 1) * step + 1 for count, step in zip(positions, stride, strict=True)]
    for y in range(kernel[0]):
        for x in range(kernel[1]):
            top, left = y * dilation[0], x * dilation[1]
            yield image[
                :,
                top : top + reach[0] : stride[0],
                left : left + reach[1] : stride[1],
            ]


def _max_pool2d(
    xp: Any,
    input: Array,
    *,
    batch_size: int,
    input_height: int,
    input_width: int,
    channels: int,
    kernel_height: int,
    kernel_width: int,
    stride_height: int,
    stride_width: int,
    dilation_height: int,
    dilation_width: int,
    ceil_mode: bool,
    padding_height: int,
    padding_width: int,
) -> Array:
    """Running maximum over the elements of the window; padding never wins."""
    image = input.reshape(batch_size, input_height, input_width, channels)
    extents = (input_height, input_width)
    kernel = (kernel_height, kernel_width)
    stride = (stride_height, stride_width)
    padding = (padding_height, padding_width)
    dilation = (dilation_height, dilation_width)
    positions = (
        output_extent(extents[0], kernel[0], stride[0], 2 * padding[0], dilation[0], ceil_mode),
        output_extent(extents[1], kernel[1], stride[1], 2 * padding[1], dilation[1], ceil_mode),
    )
    # With ceil_mode the last window may reach beyond the padding.
    margins = [
        (p, max(0, (n - 1) * s + d * (k - 1) + 1 - extent - p))
        for extent, k, s, p, d, n in zip(
            extents, kernel, stride, padding, dilation, positions, strict=True
        )
    ]
    if any(before or after for before, after in margins):
        image = xp.pad(image, ((0, 0), *margins, (0, 0)), constant_values=_lowest(image))
    taps = _taps(image, kernel, stride, dilation, positions)
    result = next(taps).copy()
    for window in taps:
        xp.maximum(result, window, out=result)
    return result


def _lowest(image: Array) -> Any:
    if image.dtype.kind == "f":
        return -np.inf
    return False if image.dtype.kind == "b" else np.iinfo(image.dtype).min


KERNELS: dict[str, Callable[..., Array]] = {
    "sum": _sum,
    "mean": _mean,
    "prod": _prod,
    "softmax": _softmax,
    "conv2d": _conv2d,
    "max_pool2d": _max_pool2d,
}
"""Kernels by mnemonic, called like the row's reference function."""
