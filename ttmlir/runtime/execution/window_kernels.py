"""NumPy kernels of convolutions and poolings of images.

Convolutions gather the pixels under the windows into a matrix, a block of positions at a time, and
leave the sums to the matrix product. Depthwise convolutions and poolings combine, element by
element of the window, what it meets at all positions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
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
    height, width = axes
    return _surround(image, height.margin, width.margin, fill)


def _surround(
    image: Array, lines: tuple[int, int], pixels: tuple[int, int], fill: Any = 0
) -> Array:
    """The image with some lines above and below and some pixels on the left and right."""
    if not any((*lines, *pixels)):
        return image
    (top, bottom), (left, right) = lines, pixels
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
    axes, shape = _even(parameters), _shape(parameters, "in_channels")
    if shape[1:3] == (1, 1) and parameters["groups"] == 1 and _meets_all(weight, axes):
        return _pack_pixels(weight, bias, axes, shape[0])
    convolve = _pack(weight, bias, axes, shape[0], parameters["groups"], often=often)
    return lambda input: convolve(_pad(input.reshape(shape), axes))


def _pack(
    weight: Array, bias: Array | None, axes: Axes, batch: int, groups: int, *, often: bool
) -> Function:
    """The convolution of images that have what is around them."""
    if groups == 1:
        multiply = _pack_matrix(weight, axes, batch, often=often)
    elif weight.shape[1] == 1:
        multiply = _pack_depthwise(weight, axes, groups)
    elif _fills_planes(weight, axes):
        multiply = _pack_planes(weight, axes, groups)
    else:
        multiply = _pack_groups(weight, axes, groups)
    if bias is None:
        return multiply
    # One long axis for the pixels of a row and their channels.
    offsets = np.tile(bias.reshape(-1), axes[1].positions)

    def convolve(image: Array) -> Array:
        output = multiply(image)
        lines = output.reshape(-1, offsets.size)
        lines = np.add(lines, offsets, out=lines if lines.dtype == offsets.dtype else None)
        return lines.reshape(output.shape)

    return convolve


def _elements_met(axis: WindowAxis) -> list[int]:
    """The element of the window that an only pixel meets, for each position that meets it."""
    found = (divmod(axis.low - n * axis.stride, axis.dilation) for n in range(axis.positions))
    return [element for element, rest in found if not rest and 0 <= element < axis.kernel]


def _meets_all(weight: Array, axes: Axes) -> bool:
    """True if several positions meet an only pixel, and no weight makes NaN of the zeros around it.

    Where one does not, products with 0 would make NaN of an infinite pixel.
    """
    has_several = any(axis.positions > 1 for axis in axes)
    meets = all(len(_elements_met(axis)) == axis.positions for axis in axes)
    return has_several and meets and bool(np.isfinite(weight).all())


def _pack_pixels(weight: Array, bias: Array | None, axes: Axes, batch: int) -> Function:
    """Images of one pixel, which meets one element of the window at each position."""
    outputs, inner, *_ = weight.shape
    rows, columns = map(_elements_met, axes)
    extents = (len(rows), len(columns))
    met = weight[:, :, rows][..., columns].transpose(1, 2, 3, 0)
    matrix = np.ascontiguousarray(met).reshape(inner, -1)
    offsets = None if bias is None else np.tile(bias.reshape(-1), math.prod(extents))

    def convolve(input: Array) -> Array:
        output = input.reshape(batch, inner) @ matrix
        if offsets is not None:
            output = np.add(output, offsets)
        return output.reshape(batch, *extents, outputs)

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
    """The weights of each group times planes of its channels, one for each line of the window.

    Pixels follow each other over the ends of lines, so that planes are moved in long pieces; sums
    at the ends of lines, whose windows would go on in the next line, are left out. Products with
    the columns of the window are added up where these are.
    """
    height, width = axes
    outputs, inner, *_ = weight.shape
    part, lines, columns = outputs // groups, height.kernel, width.kernel
    order = weight.reshape(groups, part, inner, lines, columns).transpose(0, 4, 1, 3, 2)
    matrices = np.ascontiguousarray(order).reshape(groups, columns * part, lines * inner)

    def multiply(image: Array) -> Array:
        batch, rows, line, channels = image.shape
        dtype = np.result_type(image, weight)
        result = np.empty((batch, height.positions, width.positions, outputs), dtype)
        # Behind the last line are as many numbers as the last windows reach over it.
        planes = np.zeros((channels, rows * line + width.reach), image.dtype)
        step = min(height.positions, max(1, _MOVED // (lines * channels * line)))
        plane, pixel = planes.strides
        strides = (inner * plane, height.dilation * line * pixel, plane, pixel)
        # New memory for each block would take longer than its numbers.
        reach = step * line + width.reach - 1
        moved = np.empty(groups * lines * inner * reach, image.dtype)
        room = np.empty(groups * columns * part * reach, dtype)
        added = np.empty(outputs * step * line, dtype)
        for number, first in product(range(batch), range(0, height.positions, step)):
            if not first:
                _transpose(image[number].reshape(-1, channels), planes[:, : rows * line])
            length = min(step, height.positions - first) * line
            shape = (groups, lines, inner, length + width.reach - 1)
            windows = moved[: math.prod(shape)].reshape(shape)
            windows[...] = as_strided(planes[:, first * line :], shape, strides, writeable=False)
            products = room[: groups * columns * part * shape[3]]
            products = products.reshape(groups, columns * part, -1)
            np.matmul(matrices, windows.reshape(groups, lines * inner, -1), out=products)
            products = products.reshape(groups, columns, part, -1)
            sums = added[: outputs * length].reshape(groups, part, length)
            np.copyto(sums, products[:, 0, :, :length])
            for column in range(1, columns):
                begin = column * width.dilation
                np.add(sums, products[:, column, :, begin : begin + length], out=sums)
            found = sums.reshape(outputs, -1, line)[..., : width.positions]
            into = result[number, first : first + step]
            for channel in range(0, outputs, _AT_A_TIME):
                some = slice(channel, channel + _AT_A_TIME)
                into[..., some] = found[some].transpose(1, 2, 0)
        return result

    return multiply


_AT_A_TIME = 32
"""Columns of a matrix that are transposed at a time, to stay in the cache."""


def _transpose(matrix: Array, into: Array) -> None:
    for first in range(0, len(matrix), 2 * _AT_A_TIME):
        some = slice(first, first + 2 * _AT_A_TIME)
        into[:, some] = matrix[some].T


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


# --- Transposed convolutions ----------------------------------------------------------------------
# The product of a pixel with element k of the window belongs to place `stride * pixel + dilation *
# k`. So the places that are alike modulo the stride, a phase, are a convolution with the elements
# of the window that meet them.


@dataclass(frozen=True, kw_only=True)
class _PhaseAxis:
    """What a transposed convolution does along one dimension of an image."""

    extent: int
    kernel: int
    stride: int
    dilation: int
    low: int
    """Places in front of the first one of the result."""
    result: int
    """Places of the result."""

    def taps(self, phase: int) -> list[int]:
        """The elements of the window that a phase meets, in the order of their pixels."""
        found = [k for k in range(self.kernel) if self.dilation * k % self.stride == phase]
        return found[::-1]

    def distances(self, phase: int) -> tuple[int, ...]:
        """How far these pixels are before the one that a place belongs to."""
        return tuple(self.dilation * k // self.stride for k in self.taps(phase))

    @property
    def alike(self) -> list[list[int]]:
        """The phases, those that meet the same pixels together."""
        phases: dict[tuple[int, ...], list[int]] = {}
        for phase in range(min(self.stride, self.low + self.result)):
            phases.setdefault(self.distances(phase), []).append(phase)
        return list(phases.values())

    @property
    def pixels(self) -> range:
        """The pixels that places of the result belong to, also beyond those that there are."""
        return range(self.low // self.stride, -(-(self.low + self.result) // self.stride))

    @property
    def margin(self) -> tuple[int, int]:
        """Pixels to add on both sides, so that each place meets some."""
        farthest = self.dilation * (self.kernel - 1) // self.stride
        return max(0, farthest - self.pixels.start), max(0, self.pixels.stop - self.extent)

    def window(self, phase: int) -> tuple[WindowAxis, slice]:
        """The window of a phase, and what it slides over of an image with margins."""
        farthest, *others = distances = self.distances(phase)
        first = self.margin[0] + self.pixels.start - farthest
        extent = len(self.pixels) + farthest - distances[-1]
        step = farthest - others[0] if others else 1
        axis = WindowAxis(extent=extent, kernel=len(distances), dilation=step)
        return axis, slice(first, first + extent)

    def places(self, phase: int) -> tuple[slice, slice]:
        """Where in the result a phase goes, and what of all its places."""
        first = self.pixels.start * self.stride + phase - self.low
        left_out = int(first < 0)
        first += left_out * self.stride
        count = max(0, -((first - self.result) // self.stride))
        return slice(first, None, self.stride), slice(left_out, left_out + count)


def _conv_transpose2d(
    xp: Any, input: Array, weight: Array, bias: Array | None = None, **parameters: Any
) -> Array:
    return pack_conv_transpose2d(parameters, weight, bias, often=False)(input)


def pack_conv_transpose2d(
    parameters: dict[str, Any], weight: Array, bias: Array | None = None, *, often: bool = True
) -> Function:
    """The transposed convolution of images with weights that are put in order once.

    Its results are in memory of their own.
    """
    groups, part = parameters["groups"], weight.shape[1]
    shape = _shape(parameters, "in_channels")
    axes = _phase_axes(parameters, shape[1:3], weight.shape[2:])
    height, width = axes
    offsets = np.zeros(groups * part, weight.dtype) if bias is None else bias.reshape(-1)
    phases = [
        _pack_phases(weight, offsets, axes, alike, (shape[0], groups), often=often)
        for alike in product(height.alike, width.alike)
    ]

    def convolve(input: Array) -> Array:
        image = _surround(input.reshape(shape), height.margin, width.margin)
        extents = (shape[0], height.result, width.result)
        result = np.empty((*extents, groups, part), np.result_type(image, weight))
        for put in phases:
            put(image, result)
        return result.reshape(*extents, groups * part)

    return convolve


def _phase_axes(
    parameters: dict[str, Any], extents: Sequence[int], kernel: Sequence[int]
) -> tuple[_PhaseAxis, _PhaseAxis]:
    p = parameters

    def axis_of(number: int, axis: str, low: str, high: str) -> _PhaseAxis:
        extent, elements = extents[number], kernel[number]
        stride, dilation, padding = p[f"stride_{axis}"], p[f"dilation_{axis}"], p[f"padding_{low}"]
        margins, more = padding + p[f"padding_{high}"], p[f"output_padding_{axis}"]
        return _PhaseAxis(
            extent=extent,
            kernel=elements,
            stride=stride,
            dilation=dilation,
            low=padding,
            result=transposed_extent(extent, elements, stride, margins, more, dilation),
        )

    return axis_of(0, "height", "top", "bottom"), axis_of(1, "width", "left", "right")


def _pack_phases(
    weight: Array,
    offsets: Array,
    axes: tuple[_PhaseAxis, _PhaseAxis],
    alike: tuple[list[int], list[int]],
    counts: tuple[int, int],
    *,
    often: bool,
) -> Callable[[Array, Array], None]:
    """What puts places that meet the same pixels of an image into a result (N, H, W, G, C).

    `alike` are their phases along the axes, and `counts` those of images and groups.
    """
    (height, width), (batch, groups) = axes, counts
    inner, part = len(weight) // groups, weight.shape[1]
    rows, columns = (
        [axis.taps(n) for n in phases] for axis, phases in zip(axes, alike, strict=True)
    )
    shape = (batch, len(height.pixels), len(width.pixels), groups, len(rows), len(columns), part)
    biases = np.broadcast_to(offsets.reshape(groups, 1, 1, part), shape[3:])
    across = [width.places(phase) for phase in alike[1]]
    places = list(product([height.places(phase) for phase in alike[0]], across))

    # Few channels are put one by one, in long lines of pixels.
    channels = [slice(None)] if part > _FEW_CHANNELS else range(part)

    def put(found: Array, result: Array) -> None:
        phases = np.ndindex(len(rows), len(columns))
        for ((down, of_rows), (right, of_columns)), (i, j) in zip(places, phases, strict=True):
            for channel in channels:
                each = found[:, of_rows, of_columns, :, i, j, channel]
                result[:, down, right, :, channel] = each

    if not rows[0] or not columns[0]:
        return lambda _, result: put(np.broadcast_to(biases, shape), result)
    elements = weight.reshape(groups, inner, part, *weight.shape[2:])
    # From (G, I, C, phase, KH, phase, KW).
    filters = elements[:, :, :, rows][..., columns].transpose(0, 3, 5, 2, 1, 4, 6)
    filters = filters.reshape(-1, inner, len(rows[0]), len(columns[0]))
    (tall, lines), (wide, pixels) = height.window(alike[0][0]), width.window(alike[1][0])
    convolve = _pack(filters, biases.reshape(-1), (tall, wide), batch, groups, often=often)
    return lambda image, result: put(convolve(image[:, lines, pixels]).reshape(shape), result)


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
