"""Pooling over any dimensions, and the average of image windows.

`ttir.pooling` is the general form: a window over all dimensions of a tensor, with padding of each
side and dilation of input and window, whose elements are combined by `pooling_method`: `max`,
`min`, `sum`, `average`, `product`, `and` or `or`. What is added around or between the elements
never counts, except that `average` divides by the full size of the window. It never reaches ttnn:
`ttir-decomposition` turns it into poolings of images, cumulative sums or elementwise operations.

`ttir.avg_pool2d` takes NHWC images, as `ttir.max_pool2d` does, with padding of its own for each
side. With `count_include_pad` it divides by the number of elements of the padded image under the
window, otherwise by those of the image.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ttmlir.optable.row import Family, Flatbuffer, Kind, Operand, Parameter, Row, Shape
from ttmlir.optable.shapes import require
from ttmlir.optable.window.axes import (
    WindowAxis,
    image_parameters,
    image_shape,
    window_axes,
    window_extents,
)

_SINCE = "2026-08"

COMBINERS = {
    "max": "maximum",
    "min": "minimum",
    "sum": "add",
    "product": "multiply",
    "and": "logical_and",
    "or": "logical_or",
}
"""For each method of `ttir.pooling` that combines the elements of a window two by two, the mnemonic
of the operation that does."""
METHODS = ("max", "min", "sum", "average", "product", "and", "or")
"""What `ttir.pooling` does with the elements of a window."""


def method_of(combiner: Row) -> str | None:
    """The method that combines elements by an operation; None if there is none."""
    return next((name for name, found in COMBINERS.items() if found == combiner.mnemonic), None)


def pooling_axes(input: Shape, parameters: dict[str, Any]) -> tuple[WindowAxis, ...]:
    """The window along each dimension of the input with its holes and padding."""
    names = ("window_dimensions", "window_strides", "base_dilations", "window_dilations")
    for name in names:
        require(
            len(parameters[name]) == len(input),
            f"{name} must have one entry for each of the {len(input)} dimensions",
        )
    padding = parameters["padding"]
    require(
        len(padding) == 2 * len(input),
        f"padding must have two entries for each of the {len(input)} dimensions",
    )
    axes: list[WindowAxis] = []
    for dim, extent in enumerate(input):
        dilation = parameters["base_dilations"][dim]
        require(dilation >= 1, f"base dilation of dimension {dim} must be positive")
        axis = WindowAxis(
            # Negative padding cuts off what the window does not see.
            extent=(extent - 1) * dilation + 1 + padding[2 * dim] + padding[2 * dim + 1],
            kernel=parameters["window_dimensions"][dim],
            stride=parameters["window_strides"][dim],
            dilation=parameters["window_dilations"][dim],
        )
        axes.append(axis.checked(f"dimension {dim}"))
    return tuple(axes)


def pooled_shape(input: Shape, **parameters: Any) -> Shape:
    """Shape of a general pooling: the positions of the window along each dimension."""
    method = parameters["pooling_method"]
    require(method in METHODS, f'pooling method "{method}" must be one of {", ".join(METHODS)}')
    return tuple(axis.positions for axis in pooling_axes(input, parameters))


def avg_pool2d_shape(input: Shape, **parameters: Any) -> Shape:
    """Shape of averages of the image that the parameters describe."""
    image = image_shape(input, parameters["channels"], parameters)
    return (image[0], *window_extents(window_axes(parameters)), image[3])


def _neutral(xp: Any, method: str, dtype: Any) -> Any:
    """The value that changes no result."""
    if method in ("max", "min"):
        if xp.issubdtype(dtype, xp.integer):
            limits = xp.iinfo(dtype)
            return limits.min if method == "max" else limits.max
        if xp.issubdtype(dtype, xp.bool_):
            return method == "min"
        return -xp.inf if method == "max" else xp.inf
    return 1 if method in ("product", "and") else 0


def _pooling(xp: Any, input: Any, **parameters: Any) -> Any:
    axes = pooling_axes(input.shape, parameters)
    method = parameters["pooling_method"]
    steps, padding = parameters["base_dilations"], parameters["padding"]
    fill = _neutral(xp, method, input.dtype)
    extents = [(n - 1) * step + 1 for n, step in zip(input.shape, steps, strict=True)]
    spread = xp.full(extents, fill, input.dtype)
    spread[tuple(slice(None, None, step) for step in steps)] = input
    pairs = list(zip(padding[::2], padding[1::2], strict=True))
    margins = [(max(low, 0), max(high, 0)) for low, high in pairs]
    padded = xp.pad(spread, margins, constant_values=fill)
    padded = padded[
        tuple(
            slice(max(-low, 0), extent - max(-high, 0))
            for (low, high), extent in zip(pairs, padded.shape, strict=True)
        )
    ]
    if not axes:
        return padded
    view = xp.lib.stride_tricks.sliding_window_view(padded, [axis.reach for axis in axes])
    starts = [slice(None, None, axis.stride) for axis in axes]
    taps = [slice(None, None, axis.dilation) for axis in axes]
    view = view[(*starts, *taps)]
    over = tuple(range(len(axes), 2 * len(axes)))
    combine = {"product": xp.prod, "and": xp.all, "or": xp.any, "max": xp.max, "min": xp.min}
    if method in combine:
        return combine[method](view, axis=over)
    total = xp.sum(view, axis=over)
    if method == "sum":
        return total
    count = 1
    for axis in axes:
        count *= axis.kernel
    return total / count


def window_counts(
    axes: Sequence[WindowAxis], count_include_pad: bool
) -> tuple[list[int], list[int]]:
    """Elements that count, for each position along the height and along the width.

    Their product is what an average divides by; where a window lies in the padding alone, that is
    1, since its sum is 0.
    """
    rows, columns = ([max(1, n) for n in axis.covered(count_include_pad)] for axis in axes)
    return rows, columns


def _avg_pool2d(xp: Any, input: Any, *, count_include_pad: bool, **parameters: Any) -> Any:
    shape = (
        *(parameters["batch_size"], parameters["input_height"]),
        *(parameters["input_width"], parameters["channels"]),
    )
    axes = window_axes(parameters)
    image = xp.pad(xp.reshape(input, shape), ((0, 0), *(axis.margin for axis in axes), (0, 0)))
    total: Any = 0
    height, width = axes
    for top in range(0, height.reach, height.dilation):
        rows = slice(top, top + (height.positions - 1) * height.stride + 1, height.stride)
        for left in range(0, width.reach, width.dilation):
            columns = slice(left, left + (width.positions - 1) * width.stride + 1, width.stride)
            total = total + image[:, rows, columns]
    by_row, by_column = (xp.asarray(n) for n in window_counts(axes, count_include_pad))
    return total / (by_row[:, None, None] * by_column[:, None])


_WINDOW = (
    *("kernel_height", "kernel_width", "stride_height", "stride_width"),
    *("dilation_height", "dilation_width"),
)
_IMAGE = ("batch_size", "input_height", "input_width", "channels")
_PADDING = ("padding_left", "padding_right", "padding_top", "padding_bottom")
_MODES = (
    Parameter(
        name="ceil_mode", kind=Kind.BOOL, doc="Round the number of positions up instead of down."
    ),
    Parameter(
        name="count_include_pad",
        kind=Kind.BOOL,
        doc="Divide by the number of elements with padding instead of those of the image.",
    ),
)


def _parameters(*names: str) -> tuple[Parameter, ...]:
    return tuple(Parameter(name=name, kind=Kind.SI32) for name in names)


ROWS = (
    Row(
        mnemonic="pooling",
        summary="Combination of the elements under each position of a window over all dimensions.",
        family=Family.WINDOW,
        operands=(Operand(name="input"),),
        parameters=(
            Parameter(name="pooling_method", kind=Kind.STRING, doc=f"One of {', '.join(METHODS)}."),
            *(
                Parameter(name=name, kind=Kind.DENSE_I64, doc=doc)
                for name, doc in (
                    ("window_dimensions", "Extents of the window."),
                    ("window_strides", "Distances of its positions."),
                    ("base_dilations", "Distances of the input's elements."),
                    ("window_dilations", "Distances of the elements under the window."),
                    ("padding", "Padding below and above, two entries per dimension."),
                )
            ),
        ),
        reference=_pooling,
        result_shape=pooled_shape,
        in_ttnn=False,
        flatbuffer=None,
        since=_SINCE,
    ),
    Row(
        mnemonic="avg_pool2d",
        summary="Average under each position of a window.",
        formula="output[n, y, x, c] = sum over i, j of "
        "input[n, y*sh + i*dh - pt, x*sw + j*dw - pl, c] / number of elements",
        family=Family.WINDOW,
        operands=(Operand(name="input"),),
        parameters=(*_parameters(*_IMAGE, *_WINDOW, *_PADDING), *_MODES),
        ttir_parameters=(*_parameters(*_WINDOW, *_PADDING), *_MODES),
        reference=_avg_pool2d,
        result_shape=avg_pool2d_shape,
        device=True,
        ttnn_parameters=image_parameters,
        flatbuffer=Flatbuffer(
            table="AvgPool2dOp",
            fields=(
                ("in", "input"),
                ("out", "output"),
                ("device", "device"),
                *((name, name) for name in (*_IMAGE, *_WINDOW, *_PADDING)),
                ("ceil_mode", "ceil_mode"),
                ("count_include_pad", "count_include_pad"),
            ),
        ),
        since=_SINCE,
    ),
)
