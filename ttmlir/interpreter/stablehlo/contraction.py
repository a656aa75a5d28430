"""Sums of products and linear algebra, after the StableHLO specification."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, StringAttr
from xdsl.ir import Operation

from ttmlir.dialects.stablehlo.attrs import ConvDimensionNumbersAttr, DotDimensionNumbersAttr
from ttmlir.dialects.stablehlo.enums import EnumAttr
from ttmlir.dialects.stablehlo.text.form import integer, integers
from ttmlir.interpreter.execution import Execution
from ttmlir.interpreter.stablehlo.movement import padded, result_shape, without
from ttmlir.interpreter.values import Function
from ttmlir.runtime.element import Array

_LINALG: Any = np.linalg


def _dot_general(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    numbers = cast("DotDimensionNumbersAttr", op.properties["dot_dimension_numbers"])
    lhs, rhs = (_summable(operand) for operand in operands)
    batches = numbers.lhs_batching_dimensions, numbers.rhs_batching_dimensions
    summed = numbers.lhs_contracting_dimensions, numbers.rhs_contracting_dimensions
    free = [
        without(array.ndim, batch, contracted)
        for array, batch, contracted in zip((lhs, rhs), batches, summed, strict=True)
    ]
    left = lhs.transpose(*batches[0], *free[0], *summed[0])
    right = rhs.transpose(*batches[1], *summed[1], *free[1])
    batch_shape = [lhs.shape[dim] for dim in batches[0]]
    depth = int(np.prod([lhs.shape[dim] for dim in summed[0]], dtype=np.int64))
    rows = int(np.prod([lhs.shape[dim] for dim in free[0]], dtype=np.int64))
    columns = int(np.prod([rhs.shape[dim] for dim in free[1]], dtype=np.int64))
    multiplied = np.matmul(
        left.reshape(*batch_shape, rows, depth), right.reshape(*batch_shape, depth, columns)
    )
    return (multiplied.reshape(result_shape(op)),)


def _summable(array: Array) -> Array:
    """Truth values as numbers; integers as wide as they wrap around."""
    return array.astype(np.int64) if array.dtype.kind in "biu" else array


def _dot(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    return (np.dot(*(_summable(operand) for operand in operands)),)


def _einsum(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    return (np.einsum(cast("StringAttr", op.properties["einsum_config"]).data, *operands),)


def _ones(op: Operation, name: str, count: int) -> tuple[int, ...]:
    return integers(op, name) or (1,) * count


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
    lhs, rhs = (_summable(operand) for operand in operands)
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


def _cholesky(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    lower = "lower" in op.properties and bool(integer(op, "lower"))
    (matrix,) = operands
    transposed = np.conj(np.swapaxes(matrix, -1, -2))
    half = np.tril(matrix) if lower else np.tril(transposed)
    diagonal = half * np.eye(matrix.shape[-1], dtype=matrix.dtype)
    factor = _LINALG.cholesky(half + np.conj(np.swapaxes(half, -1, -2)) - diagonal)
    return (factor if lower else np.conj(np.swapaxes(factor, -1, -2)),)


def _triangular_solve(
    execution: Execution, op: Operation, operands: Sequence[Any]
) -> Sequence[Any]:
    matrix, target = operands
    left, lower, unit = (
        bool(integer(op, name)) for name in ("left_side", "lower", "unit_diagonal")
    )
    matrix = np.tril(matrix) if lower else np.triu(matrix)
    if unit:
        diagonal = np.eye(matrix.shape[-1], dtype=matrix.dtype)
        matrix = matrix * (1 - diagonal) + diagonal
    transposed = cast("EnumAttr", op.properties["transpose_a"]).data
    if transposed in ("TRANSPOSE", "ADJOINT"):
        matrix = np.swapaxes(matrix, -1, -2)
    if transposed == "ADJOINT":
        matrix = np.conj(matrix)
    if left:
        return (_LINALG.solve(matrix, target),)
    solved = _LINALG.solve(np.swapaxes(matrix, -1, -2), np.swapaxes(target, -1, -2))
    return (np.swapaxes(solved, -1, -2),)


def _fft(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    lengths = integers(op, "fft_length")
    axes = range(-len(lengths), 0)
    kind = cast("EnumAttr", op.properties["fft_type"]).data
    if kind == "RFFT":
        return (np.fft.rfftn(operands[0], lengths, axes),)
    if kind == "IRFFT":
        return (np.fft.irfftn(operands[0], lengths, axes),)
    return ((np.fft.fftn if kind == "FFT" else np.fft.ifftn)(operands[0], lengths, axes),)


CONTRACTION: dict[str, Function] = {
    "stablehlo.cholesky": _cholesky,
    "stablehlo.convolution": _convolution,
    "stablehlo.dot": _dot,
    "stablehlo.dot_general": _dot_general,
    "stablehlo.einsum": _einsum,
    "stablehlo.fft": _fft,
    "stablehlo.triangular_solve": _triangular_solve,
    "stablehlo.unary_einsum": _einsum,
}
"""Operations of this module by name."""
