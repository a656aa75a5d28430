"""What a card makes of products and sums of tensors of bfloat16: the matrix unit on whole arrays.

Products go through a DST of the bits that are asked for. Sums and averages go through one of 32
bits: along rows they are products with a column of one number, along columns products with a row;
the number is 1, or what divides, cut to bfloat16. Wormhole leaves out the fourth phase of them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ttmlir.layout.enums import Arch, MathFidelity
from ttmlir.sim.machine import matrix_unit
from ttmlir.sim.machine.vector_unit import Array, pack_bfloat16

LARGEST = 1 << 22
"""Multiplications that are computed bit by bit; of more, sums are rounded once."""

_TILE = 32


def matmul_bfloat16(
    a: Array, b: Array, fidelity: MathFidelity, arch: Arch, *, wide: bool
) -> Array | None:
    """The product of matrices (..., M, K) and (K, N) through a DST of 16 bits, or of 32.

    None for more multiplications than `LARGEST`, for a second factor of several matrices, and for a
    DST of 32 bits on Wormhole, of which there are no bits to hold it to.
    """
    if wide and arch is not Arch.BLACKHOLE:
        return None
    if b.ndim < 2 or a.ndim < 2 or math.prod(b.shape[:-2]) != 1:
        return None
    rows = a.reshape(-1, a.shape[-1])
    if not rows.size or not b.size or rows.size * b.shape[-1] > LARGEST:
        return None
    product = _product(rows, b.reshape(b.shape[-2:]), fidelity, arch, wide=wide)
    shape = (*a.shape[:-1], b.shape[-1])
    packed = _pack_wide(product) if wide else pack_bfloat16(product)
    return packed.reshape(*(1,) * (b.ndim - a.ndim), *shape)


def _product(a: Array, b: Array, fidelity: MathFidelity, arch: Arch, *, wide: bool) -> Array:
    missing = -a.shape[1] % _TILE
    start = np.zeros((a.shape[0], b.shape[1]), np.float32)
    return matrix_unit.matmul(
        np.pad(a, ((0, 0), (0, missing))),
        np.pad(b, ((0, missing), (0, 0))),
        start,
        fidelity,
        wide=wide,
        wormhole=arch is Arch.WORMHOLE_B0,
    )


def reduce_bfloat16(
    array: Array, dims: Sequence[int], arch: Arch, *, averages: bool
) -> Array | None:
    """The sum or the average along the last dimension, the one before, or both, which stay as 1.

    None along other dimensions and for more numbers than `LARGEST`.
    """
    wanted = {dim % array.ndim for dim in dims} if array.ndim > 1 else set[int]()
    rows, columns = array.ndim - 1, array.ndim - 2
    if not wanted or not wanted <= {rows, columns} or not 0 < array.size <= LARGEST:
        return None
    count = math.prod(array.shape[dim] for dim in wanted)
    factor = _cut(1 / count) if averages else 1.0
    if rows in wanted:
        # Of both, the second step divides.
        array = _sum_rows(array, 1.0 if columns in wanted else factor, arch)
    return _sum_columns(array, factor, arch) if columns in wanted else array


def _fidelity(arch: Arch) -> MathFidelity:
    return MathFidelity.HIFI3 if arch is Arch.WORMHOLE_B0 else MathFidelity.HIFI4


def _sum_rows(array: Array, factor: float, arch: Arch) -> Array:
    flat = array.reshape(-1, array.shape[-1])
    column = np.full((flat.shape[1], 1), factor, np.float32)
    total = _product(flat, column, _fidelity(arch), arch, wide=True)
    return _pack_wide(total).reshape(*array.shape[:-1], 1)


def _sum_columns(array: Array, factor: float, arch: Arch) -> Array:
    # What is summed is in SrcA, with all that stands beside it as columns.
    flat = np.moveaxis(array, -2, 0).reshape(array.shape[-2], -1)
    row = np.full((1, flat.shape[0]), factor, np.float32)
    total = _pack_wide(_product(row, flat, _fidelity(arch), arch, wide=True))
    shape = (*array.shape[:-2], array.shape[-1])
    return np.expand_dims(total.reshape(shape), -2)


def _cut(number: float) -> float:
    pattern = np.array([number], np.float32).view(np.uint32) & np.uint32(0xFFFF0000)
    return float(pattern.view(np.float32)[0])


def _pack_wide(values: Array) -> Array:
    """A DST of 32 bits packed to bfloat16: ties away from zero."""
    pattern = np.ascontiguousarray(values, np.float32).view(np.uint32) + np.uint32(0x8000)
    return pack_bfloat16(pattern.view(np.float32))
