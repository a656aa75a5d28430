"""NumPy kernels of convolutions and poolings of images.

Convolutions gather the pixels under the windows into a matrix, a block of positions at a time, and
leave the sums to the matrix product. Depthwise convolutions and poolings combine, element by
element of the window, what it meets at all positions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from ttmlir.optable.window import WindowAxis, transposed_extent, window_axes, window_counts
from ttmlir.runtime.tensor import Array

Axes = tuple[WindowAxis, WindowAxis]
Function = Callable[[Array], Array]

_BLOCK = 1 << 16
"""Elements of the matrix of pixels that is made at a time."""


def _even(parameters: dict[str, Any]) -> Axes:
    """The axes of an operation whose padding is the same on both sides, unless it says all four."""
    if "padding_top" in parameters:
        return window_axes(parameters)
    sides = {"top": "height", "bottom": "height", "left": "width", "right": "width"}
    padding = {f"padding_{side}": parameters[f"padding_{axis}"] for side, axis in sides.items()}
    return window_axes(parameters, **padding)


def _shape(parameters: dict[str, Any], channels: str) -> tuple[int, ...]:
    names = ("batch_size", "input_height", "input_width", channels)
    return tuple(parameters[name] for name in names)


def _pad(image: Array, axes: Axes, fill: Any = 0) -> Array:
    """The image with what every position of the window needs around it."""
    margins = [axis.margin for axis in axes]
    if not any(before or after for before, after in margins):
        return image
    (top, bottom), (left, right) = margins
    batch, rows, columns, channels = image.shape
    shape = (batch, top + rows + bottom, left + columns + right, channels)
    # NumPy's own `pad` takes longer than small convolutions.
    padded = np.full(shape, fill, image.dtype)
    padded[:, top : top + rows, left : left + columns] = image
    return padded


def _taps(image: Array, axes: Axes) -> Iterator[Array]:
    """For each element of the window, row by row, the pixels (N, OH, OW, C) that it meets."""
    height, width = axes
    for top in range(0, height.reach, height.dilation):
        rows = slice(top, top + (height.positions - 1) * height.stride + 1, height.stride)
        for left in range(0, width.reach, width.dilation):
            columns = slice(left, left + (width.positions - 1) * width.stride + 1, width.stride)
            yield image[:, rows, columns]


def _conv2d(
    xp: Any, input: Array, weight: Array, bias: Array | None = None, **parameters: Any
) -> Array:
    return pack_conv2d(parameters, weight, bias, often=False)(input)


def pack_conv2d(
    parameters: dict[str, Any], weight: Array, bias: Array | None = None, *, often: bool = True
) -> Function:
    """The convolution of images with weights that are put in order once.

    Its results are in memory of their own. Weights of convolutions that are not called `often` stay
    in their order if there are more of them than pixels.
    """
    axes, groups = _even(parameters), parameters["groups"]
    shape = _shape(parameters, "in_channels")
    if groups > 1 and shape[-1] == groups:
        multiply = _pack_depthwise(weight, axes, groups)
    elif groups > 1 and _fills_planes(weight, axes):
        multiply = _pack_planes(weight, axes, groups)
    elif groups > 1:
        multiply = _pack_groups(weight, axes, groups)
    else:
        multiply = _pack_matrix(weight, axes, shape[0], often=often)
    # One long axis for the pixels of a row and their channels.
    offsets = None if bias is None else np.tile(bias.reshape(-1), axes[1].positions)

    def convolve(input: Array) -> Array:
        output = multiply(_pad(input.reshape(shape), axes))
        if offsets is None:
            return output
        lines = output.reshape(-1, offsets.size)
        lines = np.add(lines, offsets, out=lines if lines.dtype == offsets.dtype else None)
        return lines.reshape(output.shape)

    return convolve


def _pack_depthwise(weight: Array, axes: Axes, channels: int) -> Function:
    """Every channel on its own: sums, over the elements of the window, of products of rows."""
    outputs = weight.shape[0] // channels
    # Output of a channel, element of the window, channel.
    filters = weight.reshape(channels, outputs, *weight.shape[2:]).transpose(1, 2, 3, 0)
    goes_on = axes[1].stride == 1
    if goes_on:
        # Pixels of a row and their channels are one long axis, for which filters repeat.
        filters = np.tile(filters, axes[1].positions)

    def multiply(image: Array) -> Array:
        windows = _windows(image, axes)
        dtype = np.result_type(image, weight)
        result = np.empty((*windows.shape[:3], channels, outputs), dtype)
        for number, output in product(range(image.shape[0]), range(outputs)):
            sums = result[number, ..., output]
            if not goes_on:
                np.einsum("rcabx,abx->rcx", windows[number], filters[output], out=sums)
                continue
            lines = _lines(windows[number])
            if outputs == 1:
                rows = sums.reshape(len(lines), -1)
                np.einsum("rabx,abx->rx", lines, filters[output], out=rows)
            else:
                products = np.einsum("rabx,abx->rx", lines, filters[output])
                sums[...] = products.reshape(sums.shape)
        return result.reshape(*windows.shape[:3], channels * outputs)

    return multiply


def _lines(windows: Array) -> Array:
    """Windows (OH, OW, KH, KW, C) that go on by one pixel as rows (OH, KH, KW, OW * C)."""
    rows, columns, height, width, channels = windows.shape
    down, _, y, x, c = windows.strides
    shape = (rows, height, width, columns * channels)
    return as_strided(windows, shape, (down, y, x, c), writeable=False)


def _windows(image: Array, axes: Axes) -> Array:
    """The pixels under the window at all positions, (N, OH, OW, KH, KW, C), as a view."""
    height, width = axes
    image = np.ascontiguousarray(image)
    n, y, x, c = image.strides
    return as_strided(
        image,
        (
            image.shape[0],
            height.positions,
            width.positions,
            height.kernel,
            width.kernel,
            image.shape[3],
        ),
        (n, y * height.stride, x * width.stride, y * height.dilation, x * width.dilation, c),
        writeable=False,
    )


def _pack_matrix(weight: Array, axes: Axes, batch: int, *, often: bool) -> Function:
    """Matrices of pixels times one matrix of weights."""
    outputs, inner, *_ = weight.shape
    height, width = axes
    columns = height.kernel * width.kernel * inner
    shape = (batch, height.positions, width.positions)
    # Fewer pixels than weights: the pixels take the order of the weights.
    keeps_order = not often and math.prod(shape) < outputs
    if keeps_order:
        matrix = weight.reshape(outputs, columns).T
    else:
        matrix = np.ascontiguousarray(weight.transpose(2, 3, 1, 0)).reshape(columns, outputs)
    blocks = list(_blocks(batch, height.positions, width.positions * columns))

    def multiply(image: Array) -> Array:
        windows = _windows(image, axes)
        if keeps_order:
            windows = np.moveaxis(windows, -1, 3)
        result = np.empty((*shape, outputs), np.result_type(image, weight))
        for block in blocks:
            sums = result[block].reshape(-1, outputs)
            np.matmul(windows[block].reshape(-1, columns), matrix, out=sums)
        return result

    return multiply


_FEW_CHANNELS = 8
"""Channels of a group up to which moved planes take less time than windows of joined groups."""
_MANY_POSITIONS = 512
"""From so many positions of the window on."""
_MOVED = 1 << 18
"""Numbers of moved planes at a time, which a product needs to be large for."""


def _fills_planes(weight: Array, axes: Axes) -> bool:
    """True if `_pack_planes` is faster than `_pack_groups`."""
    height, width = axes
    is_dense = height.stride == width.stride == 1
    return (
        is_dense
        and weight.shape[1] <= _FEW_CHANNELS
        and height.positions * width.positions >= _MANY_POSITIONS
    )


def _pack_planes(weight: Array, axes: Axes, groups: int) -> Function:
    """The weights of each group times planes of its channels, one for each element of the window.

    Pixels follow each other over the ends of lines, so that planes are moved in long pieces; sums
    at the ends of lines, whose windows would go on in the next line, are left out.
    """
    height, width = axes
    outputs, inner, *kernel = weight.shape
    order = weight.reshape(groups, -1, inner, *kernel).transpose(0, 1, 3, 4, 2)
    matrices = np.ascontiguousarray(order).reshape(groups, outputs // groups, -1)
    taps = matrices.shape[2]

    def multiply(image: Array) -> Array:
        batch, rows, line, channels = image.shape
        dtype = np.result_type(image, weight)
        result = np.empty((batch, height.positions, width.positions, outputs), dtype)
        # Behind the last line are as many numbers as the last windows reach over it.
        planes = np.zeros((channels, rows * line + width.reach), image.dtype)
        step = min(height.positions, max(1, _MOVED // (taps * line)))
        moved = np.empty(taps * step * line, image.dtype)
        sums = np.empty((groups, outputs // groups, step * line), dtype)
        plane, pixel = planes.strides
        strides = (height.dilation * line * pixel, width.dilation * pixel, plane, pixel)
        for number in range(batch):
            planes[:, : rows * line].reshape(channels, rows, line)[...] = np.moveaxis(
                image[number], -1, 0
            )
            for first in range(0, height.positions, step):
                count = min(step, height.positions - first)
                shape = (*kernel, inner, count * line)
                windows = moved[: taps * count * line].reshape(shape)
                products = sums[..., : count * line]
                for group in range(groups):
                    begin = planes[group * inner :, first * line :]
                    windows[...] = as_strided(begin, shape, strides, writeable=False)
                    np.matmul(matrices[group], windows.reshape(taps, -1), out=products[group])
                lines = products.reshape(outputs, count, line)[..., : width.positions]
                result[number, first : first + count] = lines.transpose(1, 2, 0)
        return result

    return multiply


def _pack_groups(weight: Array, axes: Axes, groups: int, *, joined: bool = True) -> Function:
    """Matrices of pixels times the weights of each group."""
    height, width = axes
    matrices = _joined_groups(weight, groups, _JOINED if joined else 0)
    parts, columns, part = matrices.shape

    def multiply(image: Array) -> Array:
        if parts < groups and not np.isfinite(image).all():
            # Zeros between groups would make NaN of it.
            return _pack_groups(weight, axes, groups, joined=False)(image)
        shape = (image.shape[0], height.positions, width.positions)
        result = np.empty((*shape, parts, part), np.result_type(image, weight))
        blocks = list(_blocks(shape[0], height.positions, width.positions * columns))
        # Pixels of one part are together, so that windows are copied in longer pieces.
        for number, pixels in enumerate(_split_channels(image, parts)):
            windows = _windows(pixels, axes)
            for block in blocks:
                sums = windows[block].reshape(-1, columns) @ matrices[number]
                into = result[*block, :, number]
                into[...] = sums.reshape(into.shape)
        return result.reshape(*shape, parts * part)

    return multiply


def _split_channels(image: Array, parts: int) -> Array:
    """An image for each of some parts of the channels."""
    *shape, channels = image.shape
    apart = image.reshape(*shape, parts, channels // parts)
    return np.ascontiguousarray(np.moveaxis(apart, -2, 0))


_JOINED = 16
"""Channels that one product takes at least, if there are as many."""


def _joined_groups(weight: Array, groups: int, least: int) -> Array:
    """The weights as matrices (parts, KH * KW * channels, outputs).

    Some neighbouring groups make one part of up to `least` channels, with zeros between them, as
    products and copies of few channels take as long as of many.
    """
    outputs, inner, *kernel = weight.shape
    each = outputs // groups
    count = 1
    while count * 2 * inner <= least and groups % (count * 2) == 0:
        count *= 2
    parts = groups // count
    matrices = np.zeros((parts, *kernel, count, inner, count, each), weight.dtype)
    apart = weight.reshape(parts, count, each, inner, *kernel).transpose(0, 1, 4, 5, 3, 2)
    for number in range(count):
        matrices[:, :, :, number, :, number] = apart[:, number]
    return matrices.reshape(parts, -1, count * each)


def _blocks(batch: int, rows: int, elements: int) -> Iterator[tuple[slice, slice]]:
    """Images, or rows of an image, whose matrix of pixels has at most `_BLOCK` elements.

    `elements` is what one row of positions takes.
    """
    images = _BLOCK // max(1, rows * elements)
    if images:
        for first in range(0, batch, images):
            yield slice(first, first + images), slice(None)
        return
    step = max(1, _BLOCK // elements)
    for number in range(batch):
        for first in range(0, rows, step):
            yield slice(number, number + 1), slice(first, first + step)


def _conv_transpose2d(
    xp: Any, input: Array, weight: Array, bias: Array | None = None, **parameters: Any
) -> Array:
    """Products of all pixels and the weight, added up where they belong, in a wide image."""
    p = parameters
    image = input.reshape(_shape(p, "in_channels"))
    batch, rows, columns, channels = image.shape
    groups = p["groups"]
    inner, (_, part, *kernel) = channels // groups, weight.shape
    sides = (("height", "top", "bottom", rows), ("width", "left", "right", columns))
    strides = [p[f"stride_{axis}"] for axis, *_ in sides]
    dilations = [p[f"dilation_{axis}"] for axis, *_ in sides]
    extents = [
        transposed_extent(
            extent,
            kernel[number],
            strides[number],
            p[f"padding_{low}"] + p[f"padding_{high}"],
            p[f"output_padding_{axis}"],
            dilations[number],
        )
        for number, (axis, low, high, extent) in enumerate(sides)
    ]
    lows = [p["padding_top"], p["padding_left"]]
    wide = [
        max(low + extent, (count - 1) * stride + dilation * (k - 1) + 1)
        for low, extent, count, stride, dilation, k in zip(
            lows, extents, (rows, columns), strides, dilations, kernel, strict=True
        )
    ]
    dtype = np.result_type(image, weight)
    add_products = _add_by_phases if part <= _NARROW else _add_pixels
    result = np.empty((batch, *wide, groups * part), dtype)
    count = max(1, _BLOCK // (rows * columns * weight.size // inner))
    for first in range(0, batch, count):
        images = slice(first, first + count)
        result[images] = add_products(image[images], weight, groups, wide, strides, dilations)
    result = result[:, lows[0] : lows[0] + extents[0], lows[1] : lows[1] + extents[1]]
    return result if bias is None else result + bias.reshape(-1)


_NARROW = 8
"""Output features of a group that are too few to add up one pixel's at a time."""


def _add_pixels(
    image: Array,
    weight: Array,
    groups: int,
    wide: list[int],
    strides: list[int],
    dilations: list[int],
) -> Array:
    """The sums of products with all elements of the window, pixel by pixel."""
    batch, rows, columns, channels = image.shape
    inner, (_, part, *kernel) = channels // groups, weight.shape
    result = np.zeros((batch, *wide, groups, part), np.result_type(image, weight))
    # Input features of a group against its window and output features.
    matrices = weight.reshape(groups, inner, part, -1).transpose(0, 1, 3, 2)
    matrices = np.ascontiguousarray(matrices.reshape(groups, inner, -1))
    pixels = np.moveaxis(image.reshape(-1, groups, inner), 1, 0)
    products = (pixels @ matrices).reshape(groups, -1, rows, columns, *kernel, part)
    products = np.moveaxis(products, 0, -2)
    for y, x in np.ndindex(*kernel):
        top, left = y * dilations[0], x * dilations[1]
        lines = slice(top, top + (rows - 1) * strides[0] + 1, strides[0])
        across = slice(left, left + (columns - 1) * strides[1] + 1, strides[1])
        result[:, lines, across] += products[:, :, :, y, x]
    return result.reshape(batch, *wide, groups * part)


def _add_by_phases(
    image: Array,
    weight: Array,
    groups: int,
    wide: list[int],
    strides: list[int],
    dilations: list[int],
) -> Array:
    """The same, for all pixels of a feature at once.

    What is at a multiple of the stride is apart from what is after it, so that sums go along rows.
    """
    batch, rows, columns, channels = image.shape
    inner, (_, part, *kernel) = channels // groups, weight.shape
    matrices = np.ascontiguousarray(weight.reshape(groups, inner, -1).transpose(0, 2, 1))
    pixels = image.reshape(-1, groups, inner).transpose(1, 2, 0)
    products = (matrices @ pixels).reshape(groups, part, *kernel, batch, rows, columns)
    tall, broad = (-(-extent // stride) for extent, stride in zip(wide, strides, strict=True))
    phases = np.zeros((groups, part, *strides, batch, tall, broad), products.dtype)
    for y, x in np.ndindex(*kernel):
        top, row = divmod(y * dilations[0], strides[0])
        left, column = divmod(x * dilations[1], strides[1])
        sums = phases[:, :, row, column, :, top : top + rows, left : left + columns]
        sums += products[:, :, y, x]
    result = phases.transpose(4, 5, 2, 6, 3, 0, 1)
    result = result.reshape(batch, tall * strides[0], broad * strides[1], groups * part)
    return result[:, : wide[0], : wide[1]]


def _max_pool2d(xp: Any, input: Array, **parameters: Any) -> Array:
    """Running maximum over the elements of the window; padding never wins."""
    axes = _even(parameters)
    image = input.reshape(_shape(parameters, "channels"))
    taps = _taps(_pad(image, axes, _lowest(image)), axes)
    result = next(taps).copy()
    for window in taps:
        np.maximum(result, window, out=result)
    return result


def _lowest(image: Array) -> Any:
    if image.dtype.kind == "f":
        return -np.inf
    return False if image.dtype.kind == "b" else np.iinfo(image.dtype).min


def _avg_pool2d(xp: Any, input: Array, *, count_include_pad: bool, **parameters: Any) -> Array:
    """Sums along the height, then along the width, over the number of elements that count."""
    height, width = window_axes(parameters)
    image = _pad(input.reshape(_shape(parameters, "channels")), (height, width))
    wide = WindowAxis(extent=image.shape[2], kernel=1)
    total = _sum_of(_taps(image, (height, wide)))
    tall = WindowAxis(extent=total.shape[1], kernel=1)
    total = _sum_of(_taps(total, (tall, width)))
    rows, columns = window_counts((height, width), count_include_pad)
    counts = np.outer(rows, columns)[:, :, None]
    same = counts.flat[0] if counts.min() == counts.max() else counts
    return np.divide(total, same)


def _sum_of(windows: Iterator[Array]) -> Array:
    """The sum of arrays, in float64 if they hold floating point numbers."""
    first = next(windows)
    total = first.astype(np.float64 if first.dtype.kind == "f" else np.int64)
    for window in windows:
        total += window
    return total


KERNELS: dict[str, Callable[..., Array]] = {
    "conv2d": _conv2d,
    "conv_transpose2d": _conv_transpose2d,
    "max_pool2d": _max_pool2d,
    "avg_pool2d": _avg_pool2d,
}
"""Kernels by mnemonic, called like the definition's reference function."""
