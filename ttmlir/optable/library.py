"""Operations of the ttnn library that only files of 2026 hold.

No dialect of this project has them: the runtime and the estimates alone know their definitions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from ttmlir.errors import ArgumentError
from ttmlir.optable import caches
from ttmlir.optable.indexing import scanned_shape
from ttmlir.optable.op_definition import (
    Family,
    Kind,
    OpDefinition,
    Operand,
    Parameter,
    Shape,
    require,
)
from ttmlir.optable.reduction import reduced_shape
from ttmlir.optable.window import even_window_axes, image_shape, window_extents

_SINCE = "2026-09"


def _library(
    mnemonic: str,
    summary: str,
    family: Family,
    operands: str,
    reference: Callable[..., Any],
    result_shape: Callable[..., Shape] | None,
    parameters: Sequence[tuple[str, Kind]] = (),
    results: tuple[str, ...] = ("result",),
) -> OpDefinition:
    return OpDefinition(
        mnemonic=mnemonic,
        summary=summary,
        family=family,
        operands=tuple(
            Operand(name=name.rstrip("?"), optional=name.endswith("?")) for name in operands.split()
        ),
        results=results,
        parameters=tuple(Parameter(name=name, kind=kind) for name, kind in parameters),
        reference=reference,
        result_shape=result_shape,
        in_ttir=False,
        in_ttnn=False,
        flatbuffer=None,
        since=_SINCE,
    )


# --- Bits -----------------------------------------------------------------------------------------


def round_to_bits(xp: Any, x: Any, *, exponent_bits: int, mantissa_bits: int) -> Any:
    """Numbers of so many bits of exponent and mantissa: ties to even, beyond infinite or 0."""
    if not (1 <= exponent_bits <= 11 and 0 <= mantissa_bits <= 52):
        raise ArgumentError(f"no numbers have {exponent_bits} and {mantissa_bits} bits")
    value = xp.asarray(x, xp.float64)
    bias = (1 << (exponent_bits - 1)) - 1
    fraction, exponent = xp.frexp(value)
    steps = float(1 << (mantissa_bits + 1))
    rounded = xp.ldexp(xp.rint(fraction * steps) / steps, exponent)
    largest = xp.ldexp(2.0 - 2.0**-mantissa_bits, bias)
    rounded = xp.where(xp.abs(rounded) > largest, xp.copysign(xp.inf, value), rounded)
    is_small = xp.abs(rounded) < xp.ldexp(1.0, 1 - bias)
    rounded = xp.where(is_small, xp.copysign(0.0, value), rounded)
    return xp.where(xp.isfinite(value), rounded, value)


def _reduce_bits(function: str) -> Callable[..., Any]:
    def reference(
        xp: Any, input: Any, *, keep_dim: bool, dim_arg: tuple[int, ...] | None = None
    ) -> Any:
        if not xp.issubdtype(input.dtype, xp.integer):
            raise ArgumentError("only integers have bits that can be combined")
        combine: Any = getattr(xp, f"bitwise_{function}")
        return combine.reduce(input, axis=dim_arg, keepdims=keep_dim)

    return reference


# --- Running results ------------------------------------------------------------------------------

_RUNNING: dict[str, str] = {
    "max": "maximum",
    "min": "minimum",
    "logsumexp": "logaddexp",
    "prod": "multiply",
}
"""Functions of NumPy by what is gathered up."""


def _cumulative_shape(input: Shape, *, dim: int, reduction: str, reverse: bool) -> Shape:
    return scanned_shape(input, dim=dim)


def _cumulative(xp: Any, input: Any, *, dim: int, reduction: str, reverse: bool) -> Any:
    combine: Any = getattr(xp, _RUNNING[reduction])
    values = xp.flip(input, dim) if reverse else input
    result = combine.accumulate(values, axis=dim)
    return xp.flip(result, dim) if reverse else result


# --- Slices at places of an index -----------------------------------------------------------------
# The first dimension of the input is a batch, the next ones are indexed, the rest are rows; what is
# indexed may be one dimension of as many elements. The index holds, for each batch or for all, a
# place in each indexed dimension for each slice.


def _sliced_extents(
    input: Shape, index: Shape, sizes: Shape, windows: Shape, column: bool
) -> tuple[int, int, Shape]:
    """Number of batches and slices, and the extents of a row; ValueError where they do not fit."""
    if len(input) < 2 or len(index) != 3:
        raise ArgumentError("Input and index must have a batch and places.")
    require(len(sizes) == len(windows) == index[1], "An index must have a place per dimension.")
    batch, (batches, _, count) = input[:1], index
    require(batches == 1 or (batches,) == batch, "The index must be for one batch or for all.")
    indexed = 1 if input[1] == math.prod(sizes) else len(sizes)
    row = () if column else input[1 + indexed :]
    require(
        math.prod(sizes) * math.prod(row) == math.prod(input[1:]),
        "The indexed dimensions and the rows must be those of the input.",
    )
    require(
        all(0 < part <= size for part, size in zip(windows, sizes, strict=True)),
        "Slices must be within the indexed dimensions.",
    )
    return math.prod(batch), count, row


def _rows_gathered_shape(
    input: Shape,
    index: Shape,
    *,
    sizes: Shape,
    windows: Shape,
    column: bool,
    fill_out_of_bounds: bool = False,
) -> Shape:
    del fill_out_of_bounds
    batch, count, row = _sliced_extents(input, index, sizes, windows, column)
    return (batch, count * math.prod(windows), *row)


def _rows_scattered_shape(
    input: Shape,
    index: Shape,
    source: Shape,
    *,
    sizes: Shape,
    windows: Shape,
    column: bool,
    reduction: str,
) -> Shape:
    wanted = _rows_gathered_shape(input, index, sizes=sizes, windows=windows, column=column)
    require(math.prod(source) == math.prod(wanted), "The source must have a number for each place.")
    return input


def _row_numbers(xp: Any, starts: Any, sizes: Shape, windows: Shape) -> Any:
    """Numbers of the rows of slices: batch, slice, row; -1 for slices that reach outside."""
    inside: Any = True
    numbers: Any = xp.zeros((starts.shape[0], starts.shape[2], 1), xp.int64)
    for place, (size, window) in enumerate(zip(sizes, windows, strict=True)):
        start = starts[:, place, :, None]
        inside = inside & (start >= 0) & (start + window <= size)
        places = start + xp.arange(window)
        # Without slices no extent follows from the others.
        shape = (*places.shape[:2], numbers.shape[2] * window)
        numbers = xp.reshape(numbers[..., None] * size + places[:, :, None], shape)
    return xp.where(inside, numbers, -1)


def _rows_gather(
    xp: Any,
    input: Any,
    index: Any,
    *,
    sizes: Shape,
    windows: Shape,
    column: bool,
    fill_out_of_bounds: bool = False,
) -> Any:
    batch, _, row = _sliced_extents(input.shape, index.shape, sizes, windows, column)
    starts = xp.asarray(index).astype(xp.int64)
    last = xp.asarray([size - window for size, window in zip(sizes, windows, strict=True)])
    # A slice that would reach over the border is moved inside.
    numbers = _row_numbers(xp, xp.clip(starts, 0, last[:, None]), sizes, windows)
    numbers = xp.broadcast_to(xp.reshape(numbers, (index.shape[0], -1)), (batch, numbers[0].size))
    rows = xp.reshape(input, (batch, math.prod(sizes), *row))
    found = rows[xp.arange(batch)[:, None], numbers]
    if not fill_out_of_bounds:
        return found
    inside = xp.reshape(_row_numbers(xp, starts, sizes, windows) >= 0, (index.shape[0], -1))
    inside = xp.broadcast_to(inside, numbers.shape)
    return xp.where(xp.reshape(inside, (*numbers.shape, *(1 for _ in row))), found, 0)


_COMBINERS: dict[str, str] = {"sum": "add", "prod": "multiply", "max": "maximum", "min": "minimum"}


def scattered_rows(
    input: Shape, index: Any, *, sizes: Shape, windows: Shape, column: bool
) -> tuple[Any, Shape]:
    """Numbers of the rows that slices are written to, those of all batches one after another, -1
    for what reaches outside; and the shape of a row."""
    import numpy as np

    batch, _, row = _sliced_extents(input, index.shape, sizes, windows, column)
    numbers = _row_numbers(np, index.astype(np.int64), sizes, windows)
    numbers = np.broadcast_to(np.reshape(numbers, (index.shape[0], -1)), (batch, numbers[0].size))
    first = np.arange(batch)[:, None] * math.prod(sizes)
    return np.where(numbers >= 0, numbers + first, -1).reshape(-1), row


def _rows_scatter(
    xp: Any,
    input: Any,
    index: Any,
    source: Any,
    *,
    sizes: Shape,
    windows: Shape,
    column: bool,
    reduction: str,
) -> Any:
    batch, _, row = _sliced_extents(input.shape, index.shape, sizes, windows, column)
    numbers = _row_numbers(xp, xp.asarray(index).astype(xp.int64), sizes, windows)
    numbers = xp.broadcast_to(xp.reshape(numbers, (index.shape[0], -1)), (batch, numbers[0].size))
    output = xp.array(xp.reshape(input, (batch, math.prod(sizes), *row)))
    updates = xp.reshape(source, (*numbers.shape, *row)).astype(output.dtype)
    # Slices that reach outside are dropped.
    batches, places = xp.nonzero(numbers >= 0)
    target = batches, numbers[batches, places]
    if reduction in _COMBINERS:
        combine: Any = getattr(xp, _COMBINERS[reduction])
        combine.at(output, target, updates[batches, places])
    else:
        output[target] = updates[batches, places]
    return xp.reshape(output, input.shape)


# --- Pooling with places --------------------------------------------------------------------------


def _pooled_places_shape(input: Shape, **p: Any) -> Shape:
    image = image_shape(input, p["channels"], p)
    return (1, 1, image[0] * math.prod(window_extents(even_window_axes(p))), image[3])


def _max_pool2d_with_indices(xp: Any, input: Any, **p: Any) -> tuple[Any, Any]:
    """The largest numbers and their places, counted row by row in each image."""
    height, width = even_window_axes(p)
    batch, channels = p["batch_size"], p["channels"]
    image = xp.reshape(input, (batch, p["input_height"], p["input_width"], channels))
    shape = (batch, height.positions, width.positions, channels)
    values, places = xp.full(shape, -xp.inf), xp.zeros(shape, xp.int64)
    top = xp.arange(height.positions)[:, None] * height.stride - height.low
    left = xp.arange(width.positions) * width.stride - width.low
    for down in range(0, height.reach, height.dilation):
        for right in range(0, width.reach, width.dilation):
            y, x = xp.broadcast_arrays(top + down, left + right)
            inside = (y >= 0) & (y < image.shape[1]) & (x >= 0) & (x < image.shape[2])
            found = image[:, xp.where(inside, y, 0), xp.where(inside, x, 0)]
            is_larger = inside[..., None] & (found > values)
            values = xp.where(is_larger, found, values)
            places = xp.where(is_larger, (y * image.shape[2] + x)[..., None], places)
    flat = (1, 1, -1, channels)
    return xp.reshape(values, flat), xp.reshape(places, flat)


_REDUCED = (("keep_dim", Kind.BOOL), ("dim_arg", Kind.I32_ARRAY))
_SLICES = (("sizes", Kind.DENSE_I64), ("windows", Kind.DENSE_I64), ("column", Kind.BOOL))

DEFINITIONS: dict[str, OpDefinition] = {
    each.mnemonic: each
    for each in (
        _library(
            "reduce_precision",
            "Numbers rounded to so many bits.",
            Family.UNARY,
            "input",
            round_to_bits,
            None,
            (("exponent_bits", Kind.I32), ("mantissa_bits", Kind.I32)),
        ),
        *(
            _library(
                f"reduce_bitwise_{function}",
                "Bits of integers combined over dimensions.",
                Family.REDUCTION,
                "input",
                _reduce_bits(function),
                reduced_shape,
                _REDUCED,
            )
            for function in ("and", "or", "xor")
        ),
        _library(
            "cumulative",
            "What a reduction gives for all elements up to each one of a dimension.",
            Family.NORMALIZATION,
            "input",
            _cumulative,
            _cumulative_shape,
            (("dim", Kind.SI32), ("reduction", Kind.STRING), ("reverse", Kind.BOOL)),
        ),
        _library(
            "rows_gather",
            "Slices that begin at places of an index; one that would reach over the border is "
            "moved inside, or 0 with `fill_out_of_bounds`.",
            Family.LOOKUP,
            "input index",
            _rows_gather,
            _rows_gathered_shape,
            (*_SLICES, ("fill_out_of_bounds", Kind.BOOL)),
        ),
        _library(
            "rows_scatter",
            "A tensor with slices written to places of an index; those that would reach over the "
            "border are dropped.",
            Family.LOOKUP,
            "input index source",
            _rows_scatter,
            _rows_scattered_shape,
            (*_SLICES, ("reduction", Kind.STRING)),
        ),
        _library(
            "max_pool2d_with_indices",
            "Largest value under each position of a window, and its place in the image.",
            Family.WINDOW,
            "input",
            _max_pool2d_with_indices,
            _pooled_places_shape,
            results=("values", "indices"),
        ),
        _library(
            "fill_cache",
            "A cache with the first positions of a user.",
            Family.LOOKUP,
            "cache input",
            caches.fill,
            caches.filled_shape,
            (("batch_offset", Kind.I32),),
        ),
        _library(
            "update_cache",
            "A cache with one position of all users.",
            Family.LOOKUP,
            "cache input update_index",
            caches.update_all,
            caches.updated_all_shape,
            (("batch_offset", Kind.I32),),
        ),
        _library(
            "paged_fill_cache",
            "A cache of pages with the first positions of users.",
            Family.LOOKUP,
            "cache input page_table batch_idx_tensor?",
            caches.fill_pages,
            caches.filled_pages_shape,
        ),
        _library(
            "paged_update_cache",
            "A cache, in pages or not, with a position of its own for each user.",
            Family.LOOKUP,
            "cache input update_index page_table?",
            caches.update_each,
            caches.updated_each_shape,
            (("share_cache", Kind.BOOL),),
        ),
    )
}
"""By mnemonic."""
