"""What a card makes of products and sums of tensors: the matrix unit on whole arrays.

A product goes through a DST of 16 or 32 bits, in blocks of tiles along the inner dimension, whose
partial sums wait in L1. Sums and averages go through a DST of 32 bits: along rows they are products
with a column of one number, along columns products with a row; the number is 1, or what divides,
cut to bfloat16. Wormhole leaves out the fourth phase of them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ttmlir.layout.enums import Arch, DataType, MathFidelity
from ttmlir.sim.machine import matrix_unit
from ttmlir.sim.machine.card_formats import FORMATS, add_in_l1, pack, pack_wide, unpack
from ttmlir.sim.machine.vector_unit import Array

LARGEST = 1 << 22
"""Multiplications that are computed bit by bit; of more, sums are rounded once."""

_TILE = 32
_COLUMNS = {Arch.WORMHOLE_B0: 8, Arch.BLACKHOLE: 13}
"""Columns of cores, which share tiles along the inner dimension if their number divides it."""
_NARROW = 8
"""How much longer one side of a narrow product is."""
_BLOCKS = (DataType.BFP_BF8, DataType.BFP_BF4)


class ProductFormats(NamedTuple):
    """Formats of a product's factors and of the result, and how it is computed."""

    in0: DataType
    in1: DataType
    out: DataType
    fidelity: MathFidelity
    wide: bool
    """Whether DST has 32 bits."""
    in_l1: bool
    """Whether partial sums are added by the packer, in L1."""


def default_formats(in0: DataType, in1: DataType, out: DataType, arch: Arch) -> ProductFormats:
    """How ttnn computes a product if nothing is said."""
    wide = out is DataType.F32
    fidelity = MathFidelity.HIFI2
    if in0 in _BLOCKS and in1 in _BLOCKS:
        fidelity = MathFidelity.LOFI
    elif in0 is in1 is DataType.F32:
        fidelity = MathFidelity.HIFI3 if arch is Arch.WORMHOLE_B0 else MathFidelity.HIFI4
    return ProductFormats(in0, in1, out, fidelity, wide, not wide)


def inner_block(rows: int, inner: int, columns: int, arch: Arch) -> int:
    """Tiles of the inner dimension that are multiplied before partial sums are packed."""
    height, depth, width = (-(-each // _TILE) for each in (rows, inner, columns))
    small, large = sorted((height, width))
    if small == 1 or large // small > _NARROW:
        return 2 - depth % 2
    cores = _COLUMNS[arch]
    return depth // cores if depth % cores == 0 else 1


def multiply_matrices(a: Array, b: Array, formats: ProductFormats, arch: Arch) -> Array | None:
    """The product of matrices (..., M, K) and (..., K, N), as a tensor of the format keeps it.

    None for more multiplications than `LARGEST`, and for formats whose bits are not known.
    """
    if arch not in _COLUMNS or b.ndim < 2 or a.ndim < 2 or not a.size or not b.size:
        return None
    if not {formats.in0, formats.in1, formats.out} <= FORMATS:
        return None
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    if math.prod(batch) * math.prod(a.shape[-2:]) * b.shape[-1] > LARGEST:
        return None
    left = unpack(a, formats.in0, wide=formats.wide)
    right = unpack(b, formats.in1, wide=formats.wide)
    shape = (*batch, a.shape[-2], b.shape[-1])
    block = _TILE * inner_block(a.shape[-2], a.shape[-1], b.shape[-1], arch)
    if math.prod(b.shape[:-2]) == 1:
        # Rows do not know each other.
        matrix = left.reshape(-1, left.shape[-1])
        other = right.reshape(right.shape[-2:])
        return _by_blocks(matrix, other, formats, arch, block).reshape(shape)
    result = np.empty(shape, np.float32)
    lefts = np.broadcast_to(left, (*batch, *left.shape[-2:]))
    rights = np.broadcast_to(right, (*batch, *right.shape[-2:]))
    for place in np.ndindex(*batch):
        result[place] = _by_blocks(lefts[place], rights[place], formats, arch, block)
    return result


def _by_blocks(a: Array, b: Array, formats: ProductFormats, arch: Arch, block: int) -> Array:
    """The product of two matrices; partial sums of all blocks but the last wait in L1."""
    wide = formats.wide
    waiting = formats.out
    if wide:
        waiting = DataType.F32
    elif formats.in_l1:
        waiting = DataType.BF16
    zeros = np.zeros((a.shape[0], b.shape[1]), np.float32)
    total = zeros
    starts = range(0, a.shape[1], block)
    for start in starts:
        part = slice(start, start + block)
        is_last = start == starts[-1]
        # What waits is taken up again by each block, or added to by the packer.
        onto = total if is_last or not formats.in_l1 else zeros
        dst = _product(a[:, part], b[part], formats.fidelity, arch, onto, wide=wide)
        if is_last:
            return pack(dst, formats.out, wide=wide)
        packed = pack(dst, waiting, wide=wide)
        if formats.in_l1 and start:
            packed = add_in_l1(total, packed, wide=wide)
        total = packed
    return total


def _product(
    a: Array,
    b: Array,
    fidelity: MathFidelity,
    arch: Arch,
    onto: Array | None = None,
    *,
    wide: bool,
) -> Array:
    missing = -a.shape[1] % _TILE
    start = np.zeros((a.shape[0], b.shape[1]), np.float32) if onto is None else onto
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


def sum_of_rows(
    array: Array, fidelity: MathFidelity, arch: Arch, *, wide: bool, factor: float = 1.0
) -> Array:
    """DST with the sums along the last dimension, times a factor; it stays as 1."""
    flat = array.reshape(-1, array.shape[-1])
    column = np.full((flat.shape[1], 1), factor, np.float32)
    return _product(flat, column, fidelity, arch, wide=wide).reshape(*array.shape[:-1], 1)


def _sum_rows(array: Array, factor: float, arch: Arch) -> Array:
    return pack_wide(sum_of_rows(array, _fidelity(arch), arch, wide=True, factor=factor))


def _sum_columns(array: Array, factor: float, arch: Arch) -> Array:
    # What is summed is in SrcA, with all that stands beside it as columns.
    flat = np.moveaxis(array, -2, 0).reshape(array.shape[-2], -1)
    row = np.full((1, flat.shape[0]), factor, np.float32)
    total = pack_wide(_product(row, flat, _fidelity(arch), arch, wide=True))
    shape = (*array.shape[:-2], array.shape[-1])
    return np.expand_dims(total.reshape(shape), -2)


def _cut(number: float) -> float:
    pattern = np.array([number], np.float32).view(np.uint32) & np.uint32(0xFFFF0000)
    return float(pattern.view(np.float32)[0])
