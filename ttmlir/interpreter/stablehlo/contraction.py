"""Sums of products and linear algebra, after the StableHLO specification."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation

from ttmlir.dialects.stablehlo.attrs import DotDimensionNumbersAttr
from ttmlir.dialects.stablehlo.enums import EnumAttr
from ttmlir.dialects.stablehlo.text.form import integer, integers
from ttmlir.interpreter.execution import Execution
from ttmlir.interpreter.stablehlo.movement import result_shape, without
from ttmlir.interpreter.values import Function
from ttmlir.runtime.element import Array

_LINALG: Any = np.linalg


def _dot_general(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    numbers = cast("DotDimensionNumbersAttr", op.properties["dot_dimension_numbers"])
    lhs, rhs = (summable(operand) for operand in operands)
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


def summable(array: Array) -> Array:
    """Truth values as numbers; integers as wide as they wrap around."""
    return array.astype(np.int64) if array.dtype.kind in "biu" else array


def _dot(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    return (np.dot(*(summable(operand) for operand in operands)),)


def _einsum(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    return (np.einsum(cast("StringAttr", op.properties["einsum_config"]).data, *operands),)


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
    "stablehlo.dot": _dot,
    "stablehlo.dot_general": _dot_general,
    "stablehlo.einsum": _einsum,
    "stablehlo.fft": _fft,
    "stablehlo.triangular_solve": _triangular_solve,
    "stablehlo.unary_einsum": _einsum,
}
"""Operations of this module by name."""
