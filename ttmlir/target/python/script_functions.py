"""Helpers of scripts that ttmlir writes; this file stands beside them. It needs ttnn and NumPy."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import reduce
from pathlib import Path
from typing import Any, ClassVar, cast

import numpy as np
import ttnn


class DeviceGetter:
    """The device that a script runs on, which is opened when it is first asked for."""

    l1_small_size: ClassVar[int] = 1 << 15
    _devices: ClassVar[dict[tuple[int, ...], Any]] = {}

    @classmethod
    def get_device(cls, mesh_shape: tuple[int, ...]) -> Any:
        """The device with this shape."""
        if mesh_shape not in cls._devices:
            cls._devices[mesh_shape] = ttnn.open_mesh_device(
                mesh_shape=ttnn.MeshShape(*mesh_shape), l1_small_size=cls.l1_small_size
            )
        return cls._devices[mesh_shape]

    @classmethod
    def use(cls, device: Any) -> None:
        """Take a device that somebody else has opened, and closes."""
        cls._devices = {tuple(device.shape): device, (1, 1): device}

    @classmethod
    def close(cls) -> None:
        """Close what was opened."""
        while cls._devices:
            ttnn.close_mesh_device(cls._devices.popitem()[1])


def compute_once(cache: dict[Any, Any], function: Callable[..., Any], *inputs: Any) -> Any:
    """What a function of constants gives: it is called the first time only."""
    if function not in cache:
        cache[function] = function(*inputs)
    return cache[function]


def _as_list(results: Any) -> list[Any]:
    if isinstance(results, (list, tuple)):
        return [*cast("Sequence[Any]", results)]
    return [results]


def _as_results(values: Sequence[Any]) -> Any:
    return values[0] if len(values) == 1 else tuple(values)


def _own(results: Sequence[Any], inputs: Sequence[Any]) -> list[Any]:
    """Results of which none is an input: those end before results do."""
    known = {*map(id, inputs)}
    found: list[Any] = []
    for result in results:
        if id(result) in known and ttnn.is_tensor_storage_on_device(result):
            found.append(ttnn.clone(result))
        else:
            found.append(result)
        known.add(id(result))
    return found


def _whole_numbers(numbers: Sequence[int], shape: Sequence[int], device: Any) -> Any:
    """A tensor of integers in tiles."""
    array = np.array(numbers, np.int32).reshape(tuple(shape))
    return ttnn.to_device(ttnn.Tensor(array, ttnn.int32, layout=ttnn.TILE_LAYOUT), device)


def _starts(index: Any) -> list[Any]:
    """The starts of slices in each of the indexed dimensions: [batch, slices, 1] in tiles."""
    batch, places, count = index.shape
    rows = ttnn.to_layout(index, ttnn.ROW_MAJOR_LAYOUT)
    parts = [ttnn.slice(rows, [0, place, 0], [batch, place + 1, count]) for place in range(places)]
    shape = [batch, count, 1]
    return [
        ttnn.typecast(ttnn.to_layout(ttnn.reshape(part, shape), ttnn.TILE_LAYOUT), ttnn.int32)
        for part in parts
    ]


def _row_numbers(starts: Sequence[Any], sizes: Sequence[int], windows: Sequence[int]) -> Any:
    """The numbers of the rows of slices, slice by slice: [batch, rows, 1] in tiles."""
    strides = [math.prod(sizes[place + 1 :]) for place in range(len(sizes))]
    numbers = None
    for start, stride in zip(starts, strides, strict=True):
        part = start if stride == 1 else ttnn.multiply(start, stride)
        numbers = part if numbers is None else ttnn.add(numbers, part)
    offsets = [0]
    for window, stride in zip(windows, strides, strict=True):
        offsets = [offset + step * stride for offset in offsets for step in range(window)]
    batch, count, _ = starts[0].shape
    if len(offsets) > 1:
        within = _whole_numbers(offsets, [1, 1, len(offsets)], starts[0].device())
        numbers = ttnn.add(ttnn.repeat(numbers, [1, 1, len(offsets)]), within)
    return ttnn.reshape(numbers, [batch, count * len(offsets), 1])


def _placed_index(numbers: Any, batch: int, width: int) -> tuple[Any, int, list[int]]:
    """An index for each element of rows, the dimension to look up, and the index's shape.

    Columns are looked up as one row.
    """
    if numbers.shape[0] < batch:
        numbers = ttnn.repeat(numbers, [batch, 1, 1])
    rows = numbers.shape[1]
    index = ttnn.typecast(numbers, ttnn.uint32)
    if width == 1:
        return ttnn.reshape(index, [batch, 1, rows]), 2, [batch, 1, rows]
    return ttnn.repeat(index, [1, 1, width]), 1, [batch, rows, width]


def _table(tensor: Any, count: int, width: int) -> Any:
    """A tensor as rows of numbers, or as one row of its columns."""
    rows = ttnn.to_layout(tensor, ttnn.ROW_MAJOR_LAYOUT)
    batch = tensor.shape[0]
    return ttnn.reshape(rows, [batch, count, width] if width > 1 else [batch, 1, count])


def _row_of(tensor: Any, sizes: Sequence[int]) -> list[int]:
    """The extents behind those that are indexed, which may be one."""
    indexed = 1 if tensor.shape[1] == math.prod(sizes) else len(sizes)
    return [*tensor.shape][1 + indexed :]


def rows_gather(
    tensor: Any,
    index: Any,
    *,
    sizes: Sequence[int],
    windows: Sequence[int],
    column: bool = False,
    fill_out_of_bounds: bool = False,
    memory_config: Any = None,
) -> Any:
    """Slices of a tensor that begin at places of an index; those over the border are moved inside,
    or are 0.

    The library of this version has `gather` only, which takes an index for each element.
    """
    row = [] if column else _row_of(tensor, sizes)
    inside = [
        ttnn.minimum(ttnn.maximum(start, 0), size - window)
        for start, size, window in zip(_starts(index), sizes, windows, strict=True)
    ]
    numbers = _row_numbers(inside, sizes, windows)
    width = math.prod(row)
    places, dim, _ = _placed_index(numbers, tensor.shape[0], width)
    table = ttnn.to_layout(_table(tensor, math.prod(sizes), width), ttnn.TILE_LAYOUT)
    found = ttnn.gather(table, dim, index=places)
    if fill_out_of_bounds:
        found = _filled(found, _starts(index), inside, math.prod(windows))
    found = ttnn.to_layout(found, ttnn.ROW_MAJOR_LAYOUT)
    result = ttnn.reshape(found, [tensor.shape[0], numbers.shape[1], *row])
    return _placed(result, tensor.layout, memory_config)


def _filled(found: Any, starts: Sequence[Any], inside: Sequence[Any], rows: int) -> Any:
    """What was looked up, and 0 for slices, of so many rows, that were moved inside."""
    parts = [
        ttnn.typecast(ttnn.eq(start, moved), ttnn.float32)
        for start, moved in zip(starts, inside, strict=True)
    ]
    mask: Any = reduce(ttnn.multiply, parts)
    batch, count, _ = mask.shape
    if rows > 1:
        mask = ttnn.repeat(mask, [1, 1, rows])
    is_row = found.shape[1] == 1 and count * rows > 1
    mask = ttnn.reshape(mask, [batch, 1, count * rows] if is_row else [batch, count * rows, 1])
    return ttnn.where(mask, found, 0.0)


def embedding_of_rows(
    index: Any, weight: Any, *, layout: Any, dtype: Any = None, memory_config: Any = None
) -> Any:
    """Rows of a table of any type; those of bfloat16 are what `ttnn.embedding` takes."""
    count, width = [*weight.shape][-2:]
    table = ttnn.reshape(ttnn.to_layout(weight, ttnn.ROW_MAJOR_LAYOUT), [1, count, width])
    places = ttnn.reshape(ttnn.to_layout(index, ttnn.ROW_MAJOR_LAYOUT), [1, 1, -1])
    found = rows_gather(table, places, sizes=[count], windows=[1])
    found = ttnn.reshape(found, [*index.shape, width])
    typed = found if dtype in (None, found.dtype) else ttnn.typecast(found, dtype)
    return _placed(typed, layout, memory_config)


def rows_scatter(
    tensor: Any,
    index: Any,
    updates: Any,
    *,
    sizes: Sequence[int],
    windows: Sequence[int],
    column: bool = False,
    reduce: str | None = None,
    memory_config: Any = None,
    write: Callable[..., Any] | None = None,
) -> Any:
    """A tensor with slices written to places of an index; those over the border are dropped.

    They are written to a row behind the last one, by `write`, which is `ttnn.scatter`.
    """
    row = [] if column else _row_of(tensor, sizes)
    count, width = math.prod(sizes), math.prod(row)
    starts, is_inside = _starts(index), None
    for start, size, window in zip(starts, sizes, windows, strict=True):
        fits = ttnn.logical_and(ttnn.ge(start, 0), ttnn.le(start, size - window))
        is_inside = fits if is_inside is None else ttnn.logical_and(is_inside, fits)
    per_slice = math.prod(windows)
    numbers = _row_numbers(starts, sizes, windows)
    if per_slice > 1:
        is_inside = ttnn.repeat(is_inside, [1, 1, per_slice])
    is_inside = ttnn.reshape(ttnn.typecast(is_inside, ttnn.int32), [*numbers.shape])
    numbers = ttnn.where(is_inside, numbers, ttnn.full_like(numbers, count))
    places, dim, shape = _placed_index(numbers, tensor.shape[0], width)
    places = ttnn.to_layout(places, ttnn.ROW_MAJOR_LAYOUT)
    table = _table(tensor, count, width)
    end = [*table.shape]
    behind = [1 if each == dim else extent for each, extent in enumerate(end)]
    spare = ttnn.zeros(behind, table.dtype, ttnn.ROW_MAJOR_LAYOUT, device=table.device())
    source = ttnn.reshape(ttnn.to_layout(updates, ttnn.ROW_MAJOR_LAYOUT), shape)
    table = ttnn.concat([table, spare], dim)
    written = (write or ttnn.scatter)(table, dim, places, source, reduce=reduce)
    result = ttnn.reshape(ttnn.slice(written, [0, 0, 0], end), [*tensor.shape])
    return _placed(result, tensor.layout, memory_config)


def rows_scatter_extremes(tensor: Any, index: Any, updates: Any, **others: Any) -> Any:
    """As `rows_scatter`, of maxima or minima."""
    return rows_scatter(tensor, index, updates, write=_scatter_extremes, **others)


def _lines(tensor: Any, dim: int) -> Any:
    """A tensor as lines along a dimension, in tiles."""
    shape = [*tensor.shape]
    inner = math.prod(shape[dim + 1 :])
    rows = ttnn.to_layout(tensor, ttnn.ROW_MAJOR_LAYOUT)
    rows = ttnn.reshape(rows, [math.prod(shape[:dim]), shape[dim], inner])
    if inner > 1:
        rows = ttnn.permute(rows, [0, 2, 1])
    lines = ttnn.reshape(rows, [math.prod(shape) // shape[dim], shape[dim]])
    return ttnn.to_layout(lines, ttnn.TILE_LAYOUT)


def _scatter_extremes(tensor: Any, dim: int, index: Any, source: Any, *, reduce: str) -> Any:
    """Maxima or minima of numbers and those scattered to them: the library adds and multiplies.

    Each number is compared with all indices of its line, so that memory is for their product.
    """
    shape = [*tensor.shape]
    combine = {"max": "maximum", "min": "minimum"}[reduce]
    numbers, source = _lines(tensor, dim), _lines(source, dim)
    index = ttnn.typecast(_lines(index, dim), ttnn.int32)
    (count, extent), places = numbers.shape, index.shape[1]
    own = ttnn.repeat(ttnn.reshape(numbers, [count, extent, 1]), [1, 1, places])
    given, wanted = (
        ttnn.repeat(ttnn.reshape(each, [count, 1, places]), [1, extent, 1])
        for each in (source, index)
    )
    place = _whole_numbers(range(extent), [1, extent, 1], tensor.device())
    is_here = ttnn.typecast(ttnn.eq(wanted, place), own.dtype)
    found = ttnn.where(is_here, given, own)
    most = reduce_bits(found, operation=combine, dim=[2], keepdim=False)
    lines = getattr(ttnn, combine)(ttnn.to_layout(most, ttnn.TILE_LAYOUT), numbers)
    inner = math.prod(shape[dim + 1 :])
    rows = ttnn.to_layout(lines, ttnn.ROW_MAJOR_LAYOUT)
    if inner > 1:
        rows = ttnn.permute(ttnn.reshape(rows, [count // inner, inner, extent]), [0, 2, 1])
    return _placed(ttnn.reshape(rows, shape), tensor.layout, None)


def _placed(tensor: Any, layout: Any, memory_config: Any) -> Any:
    """A tensor in the layout and memory that the program goes on with."""
    moved = ttnn.to_layout(tensor, layout)
    return moved if memory_config is None else ttnn.to_memory_config(moved, memory_config)


def divide_unsigned(tensor: Any, divisor: Any, *, memory_config: Any = None) -> Any:
    """Quotients of uint32, rounded down; the library divides numbers with a sign.

    Half of a number has none, so that twice its quotient is at most 1 too small. No number is twice
    a divisor that has all 32 bits.
    """
    half, large = (
        ttnn.typecast(ttnn.logical_right_shift(each, ttnn.full_like(each, bits)), ttnn.int32)
        for each, bits in ((tensor, 1), (divisor, 31))
    )
    signed = ttnn.typecast(divisor, ttnn.int32)
    quotient = ttnn.div(half, signed, rounding_mode="trunc", dtype=ttnn.int32)
    quotient = ttnn.where(large, ttnn.zeros_like(quotient), quotient)
    quotient = ttnn.typecast(quotient, ttnn.uint32)
    quotient = ttnn.add(quotient, quotient)
    rest = ttnn.subtract(tensor, ttnn.multiply(quotient, divisor))
    more = ttnn.typecast(ttnn.ge(rest, divisor), ttnn.uint32)
    return ttnn.add(quotient, more, memory_config=memory_config)


def clamp_unsigned(tensor: Any, *, min: int, max: int, memory_config: Any = None) -> Any:
    """Numbers of uint32 between two bounds."""
    return ttnn.minimum(ttnn.maximum(tensor, min), max, memory_config=memory_config)


def _part(tensor: Any, dim: int, begin: int, end: int) -> Any:
    """What lies between two places of a dimension."""
    extents = [*tensor.shape]
    begins = [begin if each == dim else 0 for each in range(len(extents))]
    ends = [end if each == dim else extent for each, extent in enumerate(extents)]
    return ttnn.slice(tensor, begins, ends)


def _ranks(tensor: Any, is_before: Callable[..., Any]) -> Any:
    """How many integers of its row stand before each one: [rows, count] of int32, in tiles.

    Those are `is_before` it, or equal and on its left. 2^24 pairs are compared at once.
    """
    rows, count = tensor.shape
    row, column = (ttnn.reshape(tensor, shape) for shape in ([rows, 1, count], [rows, count, 1]))
    places = _whole_numbers(range(count), [1, 1, count], tensor.device())
    step = max(1, (1 << 24) // (rows * count))
    found = list[Any]()
    for begin in range(0, count, step):
        own = range(begin, min(begin + step, count))
        part = _part(column, 1, begin, own.stop)
        before, equal = (
            ttnn.typecast(each, ttnn.int32) for each in (is_before(row, part), ttnn.eq(row, part))
        )
        is_left = ttnn.lt(places, _whole_numbers(own, [1, len(own), 1], tensor.device()))
        found.append(ttnn.sum(ttnn.add(before, ttnn.logical_and(equal, is_left)), -1))
    return found[0] if len(found) == 1 else ttnn.concat(found, 1)


def sort_integers(
    tensor: Any, *, dim: int, descending: bool, stable: bool = True, memory_config: Any = None
) -> tuple[Any, Any]:
    """Sorted integers of 32 bits, and where they were; the library sorts floats and uint16."""
    rank = len(tensor.shape)
    order = [*range(rank)]
    order[dim], order[-1] = order[-1], order[dim]
    moved = ttnn.permute(tensor, order)
    table = ttnn.reshape(moved, [-1, moved.shape[-1]])
    ranks = ttnn.typecast(_ranks(table, ttnn.gt if descending else ttnn.lt), ttnn.uint32)
    rows, count = table.shape
    places = _whole_numbers([*range(count)] * rows, [rows, count], tensor.device())
    ranks, places = (ttnn.to_layout(each, ttnn.ROW_MAJOR_LAYOUT) for each in (ranks, places))
    places = ttnn.scatter(ttnn.zeros_like(places), 1, ranks, places)
    places = ttnn.typecast(ttnn.to_layout(places, ttnn.TILE_LAYOUT), ttnn.uint32)
    results = [
        ttnn.permute(ttnn.reshape(each, [*moved.shape]), order)
        for each in (ttnn.gather(table, 1, index=places), places)
    ]
    first, second = (_placed(each, tensor.layout, memory_config) for each in results)
    return first, second


def topk_integers(
    tensor: Any,
    *,
    k: int,
    dim: int,
    largest: bool,
    sorted: bool = True,
    memory_config: Any = None,
) -> tuple[Any, Any]:
    """The k largest or smallest integers, in order, and where they were."""
    results = sort_integers(tensor, dim=dim, descending=largest, memory_config=memory_config)
    first, second = (_part(each, dim % len(tensor.shape), 0, k) for each in results)
    return first, second


def slice_at(
    tensor: Any,
    *,
    starts: Any,
    sizes: Sequence[int],
    slice_step: Sequence[int] | None = None,
    memory_config: Any = None,
) -> Any:
    """The slice of these sizes that begins where a tensor says."""
    begins = [int(each) for each in _on_host(starts).to_list()]
    steps = [1] * len(sizes) if slice_step is None else [*slice_step]
    ends = [
        begin + (size - 1) * step + 1
        for begin, size, step in zip(begins, sizes, steps, strict=True)
    ]
    return ttnn.slice(tensor, begins, ends, steps, memory_config=memory_config)


def reduce_bits(
    tensor: Any,
    *,
    operation: str,
    dim: Sequence[int] | None,
    keepdim: bool,
    memory_config: Any = None,
) -> Any:
    """Integers over dimensions, combined bit by bit: the second half with the first one."""
    combine = getattr(ttnn, operation)
    rank = len(tensor.shape)
    dims = [each % rank for each in (range(rank) if dim is None else dim)]
    kept = [extent for place, extent in enumerate(tensor.shape) if place not in dims]
    for place in dims:
        while (count := tensor.shape[place]) > 1:
            half = count // 2
            first = combine(
                _part(tensor, place, 0, half), _part(tensor, place, count - half, count)
            )
            middle = [_part(tensor, place, half, half + 1)] if count % 2 else []
            tensor = ttnn.concat([first, *middle], place) if middle else first
    result = tensor if keepdim else ttnn.reshape(tensor, kept)
    return _placed(result, result.layout, memory_config)


def _log_of_sum(first: Any, second: Any) -> Any:
    most = ttnn.maximum(first, second)
    parts = [ttnn.exp(ttnn.subtract(each, most)) for each in (first, second)]
    return ttnn.add(most, ttnn.log(ttnn.add(*parts)))


def cumulative(
    tensor: Any, *, dim: int, reduction: str, reverse: bool, memory_config: Any = None
) -> Any:
    """Maxima, minima or logarithms of sums of all numbers as far as each place."""
    combine = {"max": ttnn.maximum, "min": ttnn.minimum, "logsumexp": _log_of_sum}[reduction]
    count, step = tensor.shape[dim], 1
    while step < count:
        early, late = (
            _part(tensor, dim, 0, count - step),
            _part(tensor, dim, step, count),
        )
        new = combine(early, late)
        if reverse:
            parts = [new, _part(tensor, dim, count - step, count)]
        else:
            parts = [_part(tensor, dim, 0, step), new]
        tensor = ttnn.concat(parts, dim)
        step *= 2
    return _placed(tensor, tensor.layout, memory_config)


def adamw(
    param: Any,
    grad: Any,
    exp_avg: Any,
    exp_avg_sq: Any,
    *,
    lr: Any,
    beta1_pow: Any,
    beta2_pow: Any,
    beta1: float,
    beta2: float,
    epsilon: float,
    weight_decay: float,
    max_exp_avg_sq: Any = None,
    stochastic_rounding: bool = False,
) -> None:
    """A step of the optimizer, which changes the parameter and its averages.

    `beta1_pow` and `beta2_pow` are the factors to the power of the number of the step.
    """
    mean = ttnn.add(ttnn.multiply(exp_avg, beta1), ttnn.multiply(grad, 1 - beta1))
    square = ttnn.multiply(ttnn.multiply(grad, grad), 1 - beta2)
    square = ttnn.add(ttnn.multiply(exp_avg_sq, beta2), square)
    ttnn.copy(mean, exp_avg)
    ttnn.copy(square, exp_avg_sq)
    if max_exp_avg_sq is not None:
        square = ttnn.maximum(max_exp_avg_sq, square)
        ttnn.copy(square, max_exp_avg_sq)
    size = ttnn.divide(ttnn.sqrt(square), ttnn.sqrt(ttnn.rsub(beta2_pow, 1.0)))
    step = ttnn.divide(lr, ttnn.rsub(beta1_pow, 1.0))
    change = ttnn.multiply(ttnn.divide(mean, ttnn.add(size, epsilon)), step)
    kept = ttnn.multiply(param, ttnn.rsub(ttnn.multiply(lr, weight_decay), 1.0))
    ttnn.copy(ttnn.subtract(kept, change), param)


def average_dilated_windows(
    tensor: Any,
    *,
    batch_size: int,
    input_h: int,
    input_w: int,
    channels: int,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    divisor_override: int | None = None,
    memory_config: Any = None,
    **others: Any,
) -> Any:
    """Averages of windows with places left out, of flat images whose margins count as zeros."""
    image = ttnn.reshape(
        ttnn.to_layout(tensor, ttnn.ROW_MAJOR_LAYOUT), [batch_size, input_h, input_w, channels]
    )
    if any(padding):
        sides = [*padding] if len(padding) > 2 else [padding[0], *padding, padding[1]]
        image = ttnn.pad(image, [(0, 0), (sides[0], sides[1]), (sides[2], sides[3]), (0, 0)], 0.0)
    counts = [
        (extent - apart * (size - 1) - 1) // step + 1
        for extent, size, step, apart in zip(
            [*image.shape][1:3], kernel_size, stride, dilation, strict=True
        )
    ]
    divisor = divisor_override or math.prod(kernel_size)
    total = None
    for place in range(math.prod(kernel_size)):
        first = [
            each * apart
            for each, apart in zip(divmod(place, kernel_size[1]), dilation, strict=True)
        ]
        last = [
            begin + (count - 1) * step + 1
            for begin, count, step in zip(first, counts, stride, strict=True)
        ]
        seen = ttnn.slice(image, [0, *first, 0], [batch_size, *last, channels], [1, *stride, 1])
        seen = ttnn.to_layout(seen, ttnn.TILE_LAYOUT)
        total = seen if total is None else ttnn.add(total, seen)
    rows = ttnn.to_layout(ttnn.multiply(total, 1 / divisor), ttnn.ROW_MAJOR_LAYOUT)
    flat = ttnn.reshape(rows, [1, 1, batch_size * math.prod(counts), channels])
    return _placed(flat, tensor.layout, memory_config)


def reduce_precision(
    tensor: Any, *, exponent_bits: int, mantissa_bits: int, memory_config: Any = None
) -> Any:
    """Numbers rounded to fewer bits, ties to even; what is too large or too small has no place."""
    dtype = tensor.dtype
    wide = ttnn.typecast(tensor, ttnn.float32)
    result = wide
    drop = 23 - mantissa_bits
    if drop > 0:
        bits = ttnn.bitcast(wide, ttnn.int32)
        last = ttnn.bitwise_and(ttnn.bitwise_right_shift(bits, drop), 1)
        bits = ttnn.add(ttnn.add(bits, last), (1 << (drop - 1)) - 1)
        rounded = ttnn.bitcast(ttnn.bitwise_and(bits, -(1 << drop)), ttnn.float32)
        result = ttnn.where(ttnn.isfinite(wide), rounded, wide)
    if exponent_bits < 8:
        bias = (1 << (exponent_bits - 1)) - 1
        size = ttnn.abs(result)
        infinite = ttnn.multiply(ttnn.sign(result), float("inf"))
        result = ttnn.where(ttnn.ge(size, 2.0 ** (bias + 1)), infinite, result)
        result = ttnn.where(ttnn.lt(size, 2.0 ** (1 - bias)), 0.0, result)
    return ttnn.typecast(_placed(result, result.layout, memory_config), dtype)


def batch_norm_training(
    tensor: Any, *, running_mean: Any = None, running_var: Any = None, **others: Any
) -> tuple[Any, Any, Any]:
    """A normalized batch, and the mean and the variance, which the library keeps in its inputs."""
    shape = (1, tensor.shape[1], 1, 1)
    kept = [
        ttnn.zeros(shape, tensor.dtype, ttnn.TILE_LAYOUT, device=tensor.device())
        if each is None
        else each
        for each in (running_mean, running_var)
    ]
    result = ttnn.batch_norm(tensor, running_mean=kept[0], running_var=kept[1], **others)
    return result, *kept


def _on_host(tensor: Any) -> Any:
    """The numbers of a tensor, wherever it lies."""
    return ttnn.from_device(tensor).to(ttnn.ROW_MAJOR_LAYOUT)


def distribute_tensor(tensor: Any, *, mapper: Any, mesh_device: Any) -> Any:
    """A tensor divided over the devices of a mesh."""
    return ttnn.distribute_tensor(tensor, ttnn.create_mesh_mapper(mesh_device, mapper))


def point_to_point(
    tensor: Any, kept: Any, *, sender_coord: Sequence[int], receiver_coord: Sequence[int]
) -> Any:
    """What devices keep, but one of them gets what another one has."""
    sender, receiver = (ttnn.MeshCoordinate(*each) for each in (sender_coord, receiver_coord))
    # The library writes into what devices keep, which ends before the result does.
    return ttnn.point_to_point(tensor, sender, receiver, output_tensor=ttnn.clone(kept))


def aggregate_tensor(tensor: Any, *, composer: Any, mesh_device: Any) -> Any:
    """A tensor put together from the devices of a mesh."""
    return ttnn.aggregate_tensor(tensor, ttnn.create_mesh_composer(mesh_device, composer))


def update_cache(cache: Any, tensor: Any, *, update_idx: Any, batch_offset: int) -> Any:
    """Write to a cache at the place that a tensor says."""
    place = int(item(update_idx))
    return ttnn.update_cache(cache, tensor, place, batch_offset=batch_offset)


def item(tensor: Any) -> int | float:
    """The one number of a tensor, wherever that lies."""
    return _on_host(tensor).item()


def count_trips(initial: Any, limit: Any, step: Any) -> int:
    """How often a loop runs that counts; its bounds are numbers, or tensors of one."""
    first, last, by = (
        each if isinstance(each, int) else int(item(each)) for each in (initial, limit, step)
    )
    return max(0, -((first - last) // by))


def while_loop(
    end: int | Callable[..., Any],
    body: Callable[..., Any],
    state_count: int,
    outputs: Sequence[int],
    *values: Any,
) -> Any:
    """What a loop carries at its end; `end` is a number of iterations, or asks to go on.

    The first values are carried; `outputs` numbers the results.
    """
    state, others = list(values[:state_count]), values[state_count:]
    iteration = 0
    while iteration < end if isinstance(end, int) else item(end(*state, *others)):
        state = _as_list(body(*state, *others))
        iteration += 1
    return _as_results(_own([state[index] for index in outputs], values))


def case(functions: Sequence[Callable[..., Any]], index: Any, *inputs: Any) -> Any:
    """What the function with this number gives; of numbers beyond, the last one."""
    number = int(item(index))
    results = functions[number if 0 <= number < len(functions) else -1](*inputs)
    return _as_results(_own(_as_list(results), inputs))


def _numbers(array: Any) -> Any:
    """A tensor of an array, on the host."""
    kinds = {"f": ttnn.float32, "i": ttnn.int32, "b": ttnn.int32, "u": ttnn.uint32}
    flat = array.flatten().tolist()
    return ttnn.Tensor(flat, list(array.shape), kinds[array.dtype.kind], ttnn.ROW_MAJOR_LAYOUT)


def load_tensor(
    path: str, layout: Any, dtype: Any = None, device: Any = None, memory_config: Any = None
) -> Any:
    """A tensor of a file, as a program takes it.

    The file is one of `ttnn.dump_tensor`, or the numbers as NumPy writes them, under the same name
    but for `.npy` at its end. Its directory is that of this file, or the one that the script runs
    in.
    """
    beside = Path(__file__).parent / path
    numbers = beside.with_suffix(".npy")
    tensor = (
        _numbers(np.load(numbers))
        if numbers.exists()
        else ttnn.load_tensor(str(beside if beside.exists() else path))
    )
    if dtype is not None and tensor.dtype != dtype:
        tensor = ttnn.to_dtype(tensor, dtype)
    if tensor.layout != layout:
        tensor = ttnn.to_layout(tensor, layout)
    return tensor if device is None else ttnn.to_device(tensor, device, memory_config)
