"""Operations on the windows of images."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr
from xdsl.ir import Operation

from ttmlir.dialects.stablehlo.attrs import ConvDimensionNumbersAttr
from ttmlir.dialects.stablehlo.text.form import integer, integers
from ttmlir.interpreter.execution import Execution
from ttmlir.interpreter.stablehlo.contraction import summable
from ttmlir.interpreter.stablehlo.movement import counted, padded
from ttmlir.interpreter.stablehlo.reduction import apply_region, combine, single_ufunc
from ttmlir.interpreter.values import Function
from ttmlir.runtime.element import Array


def _ones(op: Operation, name: str, count: int) -> tuple[int, ...]:
    return integers(op, name) or (1,) * count


def _window_extents(
    shape: Sequence[int], window: Sequence[int], strides: Sequence[int], dilations: Sequence[int]
) -> list[int]:
    """How many windows fit in each dimension."""
    return [
        max(0, (size - (taps - 1) * dilation - 1) // stride + 1)
        for size, taps, stride, dilation in zip(shape, window, strides, dilations, strict=True)
    ]


def _element_of_each(
    array: Array,
    place: Sequence[int],
    extents: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
) -> Array:
    """The element at one place of all windows."""
    parts = zip(place, extents, strides, dilations, strict=True)
    return array[
        tuple(
            slice(tap * dilation, tap * dilation + max(0, extent - 1) * stride + 1, stride)
            if extent
            else slice(0)
            for tap, extent, stride, dilation in parts
        )
    ]


def _reduce_window(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    count = len(operands) // 2
    starts = operands[count:]
    rank = operands[0].ndim
    window = integers(op, "window_dimensions")
    strides = _ones(op, "window_strides", rank)
    dilations = _ones(op, "window_dilations", rank)
    low, high = zip(*window_padding(op, rank), strict=True) if rank else ((), ())
    gaps = [factor - 1 for factor in _ones(op, "base_dilations", rank)]
    inputs = [
        padded(array, start[()], low, high, gaps)
        for array, start in zip(operands[:count], starts, strict=True)
    ]
    extents = _window_extents(inputs[0].shape, window, strides, dilations)
    totals: list[Array] = [np.broadcast_to(start, extents) for start in starts]
    ufunc = single_ufunc(op.regions[0])
    for place in product(*map(range, window)):
        elements = [_element_of_each(array, place, extents, strides, dilations) for array in inputs]
        if ufunc is not None:
            totals = [ufunc(totals[0], elements[0])]
        else:
            totals = apply_region(execution, op.regions[0], [*totals, *elements])
    return totals


def _select_and_scatter(
    execution: Execution, op: Operation, operands: Sequence[Any]
) -> Sequence[Any]:
    array, source, start = operands
    rank = array.ndim
    window = _ones(op, "window_dimensions", rank)
    strides = _ones(op, "window_strides", rank)
    ones = (1,) * rank
    low, high = zip(*window_padding(op, rank), strict=True) if rank else ((), ())
    numbers: Array = counted(array.size).reshape(array.shape)
    places = padded(numbers, -1, low, high)
    extents = _window_extents(places.shape, window, strides, ones)
    flat = array.reshape(-1)
    chosen = np.full(extents, -1)
    for place in product(*map(range, window)):
        candidate = _element_of_each(places, place, extents, strides, ones)
        (keeps,) = apply_region(execution, op.regions[0], [flat[chosen], flat[candidate]])
        chosen = np.where((candidate >= 0) & ((chosen < 0) | ~keeps), candidate, chosen)
    result: Array = np.broadcast_to(start, array.shape).copy().reshape(-1)
    taken = chosen.reshape(-1)
    hit = taken >= 0
    combine(execution, op.regions[1], [result], taken[hit], [source.reshape(-1)[hit]])
    return (result.reshape(array.shape),)


def window_padding(op: Operation, count: int) -> list[tuple[int, int]]:
    """Low and high padding of each dimension."""
    attr = op.properties.get("padding")
    if attr is None:
        return [(0, 0)] * count
    values = cast("DenseIntOrFPElementsAttr", attr).get_values()
    flat = [int(cast("int", value)) for value in values]
    if len(flat) == 1:
        flat *= 2 * count
    return list(zip(flat[::2], flat[1::2], strict=True))


def _convolution(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    numbers = cast("ConvDimensionNumbersAttr", op.properties["dimension_numbers"])
    lhs, rhs = (summable(operand) for operand in operands)
    spatial = len(numbers.input_spatial_dimensions)
    image = lhs.transpose(
        numbers.input_batch_dimension,
        *numbers.input_spatial_dimensions,
        numbers.input_feature_dimension,
    )
    kernel = rhs.transpose(
        *numbers.kernel_spatial_dimensions,
        numbers.kernel_input_feature_dimension,
        numbers.kernel_output_feature_dimension,
    )
    reversal = integers(op, "window_reversal")
    kernel = np.flip(kernel, tuple(dim for dim, flag in enumerate(reversal) if flag))
    low, high = zip(*((0, 0), *window_padding(op, spatial), (0, 0)), strict=True)
    gaps = [0, *(factor - 1 for factor in _ones(op, "lhs_dilation", spatial)), 0]
    image = padded(image, 0, low, high, gaps)
    batch_groups = integer(op, "batch_group_count")
    groups = integer(op, "feature_group_count")
    result = _group(
        image,
        kernel,
        _ones(op, "window_strides", spatial),
        _ones(op, "rhs_dilation", spatial),
        (groups, batch_groups),
    )
    order = [0] * (spatial + 2)
    order[numbers.output_batch_dimension] = 0
    order[numbers.output_feature_dimension] = spatial + 1
    for number, dim in enumerate(numbers.output_spatial_dimensions):
        order[dim] = number + 1
    return (result.transpose(order),)


def _group(
    image: Array,
    kernel: Array,
    strides: Sequence[int],
    dilations: Sequence[int],
    counts: tuple[int, int],
) -> Array:
    """Each group of features, or of batches, with its part of the kernel."""
    groups, batch_groups = counts
    count = max(groups, batch_groups)
    images = np.split(image, count, 0 if batch_groups > 1 else -1)
    kernels = np.split(kernel, count, -1)
    parts = [
        _convolve(part, weights, strides, dilations)
        for part, weights in zip(images, kernels, strict=True)
    ]
    return np.concatenate(parts, -1)


def _convolve(
    image: Array, kernel: Array, strides: Sequence[int], dilations: Sequence[int]
) -> Array:
    window = kernel.shape[:-2]
    extents = [
        max(0, (size - (taps - 1) * dilation - 1) // stride + 1) if taps else 0
        for size, taps, dilation, stride in zip(
            image.shape[1:-1], window, dilations, strides, strict=True
        )
    ]
    total = np.zeros((image.shape[0], *extents, kernel.shape[-1]), np.result_type(image, kernel))
    for place in product(*map(range, window)):
        part = tuple(
            slice(tap * dilation, tap * dilation + (extent - 1) * stride + 1, stride)
            for tap, dilation, extent, stride in zip(
                place, dilations, extents, strides, strict=True
            )
        )
        if 0 not in extents:
            total += image[(slice(None), *part)] @ kernel[place]
    return total


WINDOW: dict[str, Function] = {
    "stablehlo.convolution": _convolution,
    "stablehlo.reduce_window": _reduce_window,
    "stablehlo.select_and_scatter": _select_and_scatter,
}
"""Operations of this module by name."""
