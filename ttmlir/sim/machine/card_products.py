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
from ttmlir.sim.machine.card_formats import FORMATS, add_in_l1, pack, unpack
from ttmlir.sim.machine.vector_unit import Array, vector_unit

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


def has_bits(
    a: Sequence[int],
    b: Sequence[int],
    formats: ProductFormats,
    arch: Arch,
    bias: DataType | None = None,
) -> bool:
    """Whether the bits of a product of matrices of these shapes are known.

    Not of more multiplications than `LARGEST`, of other formats, and of matrices that do not fit
    each other.
    """
    if arch not in _COLUMNS or min(len(a), len(b)) < 2 or a[-1] != b[-2]:
        return False
    kept = {formats.in0, formats.in1, formats.out}
    if not kept <= FORMATS or not (bias is None or bias in FORMATS):
        return False
    try:
        batch = np.broadcast_shapes(tuple(a[:-2]), tuple(b[:-2]))
    except ValueError:
        return False
    return 0 < math.prod(batch) * math.prod(a[-2:]) * b[-1] <= LARGEST


@np.errstate(all="ignore")
def multiply_matrices(
    a: Array,
    b: Array,
    formats: ProductFormats,
    arch: Arch,
    bias: tuple[Array, DataType] | None = None,
    block: int | None = None,
) -> Array | None:
    """The product of matrices (..., M, K) and (..., K, N), as a tensor of the format keeps it.

    A bias is a row that is added to all rows. Blocks take so many tiles of the inner dimension,
    by default as many as ttnn chooses.

    None where `has_bits` says no.
    """
    if not has_bits(a.shape, b.shape, formats, arch, None if bias is None else bias[1]):
        return None
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    left = unpack(a, formats.in0, wide=formats.wide)
    right = unpack(b, formats.in1, wide=formats.wide)
    shape = (*batch, a.shape[-2], b.shape[-1])
    block = _TILE * (block or inner_block(a.shape[-2], a.shape[-1], b.shape[-1], arch))
    if math.prod(b.shape[:-2]) == 1:
        # Rows do not know each other.
        matrix = left.reshape(-1, left.shape[-1])
        other = right.reshape(right.shape[-2:])
        return _by_blocks(matrix, other, formats, arch, block, bias).reshape(shape)
    result = np.empty(shape, np.float32)
    lefts = np.broadcast_to(left, (*batch, *left.shape[-2:]))
    rights = np.broadcast_to(right, (*batch, *right.shape[-2:]))
    for place in np.ndindex(*batch):
        result[place] = _by_blocks(lefts[place], rights[place], formats, arch, block, bias)
    return result


def _by_blocks(
    a: Array,
    b: Array,
    formats: ProductFormats,
    arch: Arch,
    block: int,
    bias: tuple[Array, DataType] | None,
) -> Array:
    """The product of two matrices; partial sums of blocks wait in L1, all of them for a bias."""
    wide, in_l1 = formats.wide, formats.in_l1 and a.shape[1] > block
    waiting = formats.out
    if wide:
        waiting = DataType.F32
    elif in_l1:
        waiting = DataType.BF16
    total = zeros = np.zeros((a.shape[0], b.shape[1]), np.float32)
    for start in range(0, a.shape[1], block):
        part = slice(start, start + block)
        is_last = bias is None and start + block >= a.shape[1]
        # What waits is taken up again by each block, or added to by the packer.
        onto = total if is_last or not in_l1 else zeros
        dst = _product(a[:, part], b[part], formats.fidelity, arch, onto, wide=wide)
        if is_last:
            return pack(dst, formats.out, wide=wide)
        packed = pack(dst, waiting, wide=wide)
        if in_l1 and start:
            packed = add_in_l1(total, packed, wide=wide)
        total = packed
    assert bias is not None, "without one the last block returns"
    dst = matrix_unit.add(
        unpack(total, waiting, wide=wide),
        unpack(bias[0].reshape(1, -1), bias[1], wide=wide),
        wide=wide,
        wormhole=arch is Arch.WORMHOLE_B0,
    )
    return pack(dst, formats.out, wide=wide)


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
    if missing:
        a, b = np.pad(a, ((0, 0), (0, missing))), np.pad(b, ((0, missing), (0, 0)))
    start = np.zeros((a.shape[0], b.shape[1]), np.float32) if onto is None else onto
    return matrix_unit.matmul(
        a,
        b,
        start,
        fidelity,
        wide=wide,
        wormhole=arch is Arch.WORMHOLE_B0,
    )


@np.errstate(all="ignore")
def reduce_tensor(
    name: str, array: Array, dims: Sequence[int], data_type: DataType, arch: Arch
) -> Array | None:
    """`sum`, `mean` or `max` along dimensions, which stay as 1.

    Along the last two dimensions or one of the others. None for more numbers than
    `LARGEST`, and where the bits are not known.
    """
    if arch not in _COLUMNS or data_type not in FORMATS:
        return None
    if data_type is DataType.F32 and (arch is not Arch.BLACKHOLE or name == "max"):
        return None
    if array.ndim < 2 or not 0 < array.size <= LARGEST:
        return None
    wanted = {dim % array.ndim for dim in dims}
    if name == "max":
        if array.ndim - 1 in wanted:
            return None
        return pack(array.max(axis=tuple(wanted), keepdims=True), data_type, wide=True)
    count = math.prod(array.shape[dim] for dim in wanted)
    if data_type is DataType.F32:
        return _reduce_float32(array, wanted, 1 / count if name == "mean" else 1.0, arch)
    factor = _cut(1 / count) if name == "mean" else 1.0
    if len(wanted) == 1 and min(wanted) < array.ndim - 2:
        (dim,) = wanted
        if name == "sum":
            return pack(_sum_tiles(np.moveaxis(array, dim, 0), arch, dim), data_type, wide=True)
        # Other dimensions are moved to where columns are.
        moved = _sum_columns(np.moveaxis(array, dim, -2), factor, data_type, arch)
        return np.moveaxis(moved, -2, dim)
    return _reduce_matrices(array, wanted, factor, data_type, arch)


def _reduce_matrices(
    array: Array, dims: set[int], factor: float, data_type: DataType, arch: Arch
) -> Array | None:
    """Sums along one or both of the last two dimensions, times a factor."""
    rows, columns = array.ndim - 1, array.ndim - 2
    if not dims or not dims <= {rows, columns}:
        return None
    if rows in dims and data_type is not DataType.BF16:
        # What becomes of blocks when their dimension goes is not known.
        return None
    if rows in dims:
        # Of both, the second step divides.
        array = _sum_rows(array, 1.0 if columns in dims else factor, data_type, arch)
    return _sum_columns(array, factor, data_type, arch) if columns in dims else array


def _reduce_float32(array: Array, dims: set[int], factor: float, arch: Arch) -> Array | None:
    """Sums of float32 times a factor: the vector unit adds tiles, then numbers of one tile."""
    unit, last = vector_unit(arch), array.ndim - 1
    if len(dims) != 1 and dims != {last, last - 1}:
        return None

    def in_four(parts: Sequence[Array]) -> Array:
        return unit.add(unit.add(unit.add(parts[2], parts[3]), parts[1]), parts[0])

    for dim in sorted(dims, reverse=True):
        parts = np.moveaxis(array, dim, 0)
        missing = -len(parts) % _TILE
        parts = np.pad(parts, [(0, missing), *[(0, 0)] * (array.ndim - 1)])
        tile, *others = parts.reshape(-1, _TILE, *parts.shape[1:])
        for each in others:
            tile = unit.add(tile, each)
        if dim == last:
            # By the face, the lane and whether columns are odd.
            faces = tile.reshape(2, 8, 2, *tile.shape[1:])
            total = in_four([faces[face, :, odd] for face in (0, 1) for odd in (0, 1)])
            for half in (4, 2, 1):
                total = unit.add(total[:half], total[half : 2 * half])
            total = total[0]
        else:
            # By the face, the register and the row in it.
            faces = tile.reshape(2, 4, 4, *tile.shape[1:])
            total = in_four([*unit.add(in_four([*faces[0]]), in_four([*faces[1]]))])
        array = np.expand_dims(total, dim)
    return array if factor == 1 else unit.mul(array, np.float32(factor))


def _sum_tiles(parts: Array, arch: Arch, dim: int) -> Array:
    """DST with tiles that are added one after another."""
    zeros = total = np.zeros(parts.shape[1:], np.float32)
    for part in parts:
        total = matrix_unit.add(
            part, zeros, wide=True, wormhole=arch is Arch.WORMHOLE_B0, dst=total
        )
    return np.expand_dims(total, dim)


@np.errstate(all="ignore")
def multiply_along(array: Array, dim: int, data_type: DataType, arch: Arch) -> Array | None:
    """The product along a dimension, which stays as 1: tiles are multiplied one after another.

    None as for `reduce_tensor`, and for float32 on Wormhole.
    """
    wide, wormhole = data_type is DataType.F32, arch is Arch.WORMHOLE_B0
    if arch not in _COLUMNS or data_type not in (DataType.BF16, DataType.F32):
        return None
    if (wide and wormhole) or not array.ndim or not 0 < array.size <= LARGEST:
        return None
    total, *others = np.moveaxis(array, dim, 0)
    for each in others:
        total = matrix_unit.multiply(
            unpack(total, data_type, wide=wide),
            unpack(each, data_type, wide=wide),
            MathFidelity.HIFI4,
            wide=wide,
            wormhole=wormhole,
        )
    return np.expand_dims(pack(total, data_type, wide=wide), dim)


@np.errstate(all="ignore")
def accumulate(array: Array, dim: int, data_type: DataType, arch: Arch) -> Array | None:
    """The sums up to each number along one of the last two dimensions, of bfloat16."""
    if arch not in _COLUMNS or data_type is not DataType.BF16:
        return None
    if array.ndim - 1 - dim % max(1, array.ndim) > 1 or not 0 < array.size <= LARGEST:
        return None
    unit, sums = vector_unit(arch), np.empty(array.shape, np.float32)
    total = np.zeros_like(np.take(array, 0, dim))
    for place in range(array.shape[dim]):
        total = unit.add(total, np.take(array, place, dim))
        np.moveaxis(sums, dim, 0)[place] = total
    return pack(sums, data_type, wide=True)


def _fidelity(arch: Arch) -> MathFidelity:
    return MathFidelity.HIFI3 if arch is Arch.WORMHOLE_B0 else MathFidelity.HIFI4


def sum_of_rows(
    array: Array, fidelity: MathFidelity, arch: Arch, *, wide: bool, factor: float = 1.0
) -> Array:
    """DST with the sums along the last dimension, times a factor; it stays as 1."""
    flat = array.reshape(-1, array.shape[-1])
    column = np.full((flat.shape[1], 1), factor, np.float32)
    return _product(flat, column, fidelity, arch, wide=wide).reshape(*array.shape[:-1], 1)


def _sum_rows(array: Array, factor: float, data_type: DataType, arch: Arch) -> Array:
    total = sum_of_rows(array, _fidelity(arch), arch, wide=True, factor=factor)
    return pack(total, data_type, wide=True)


def _sum_columns(array: Array, factor: float, data_type: DataType, arch: Arch) -> Array:
    # What is summed is in SrcA, with all that stands beside it as columns.
    flat = np.moveaxis(array, -2, 0).reshape(array.shape[-2], -1)
    row = np.full((1, flat.shape[0]), factor, np.float32)
    total = _product(row, flat, _fidelity(arch), arch, wide=True)
    shape = (*array.shape[:-2], array.shape[-1])
    return pack(np.expand_dims(total.reshape(shape), -2), data_type, wide=True)


def _cut(number: float) -> float:
    pattern = np.array([number], np.float32).view(np.uint32) & np.uint32(0xFFFF0000)
    return float(pattern.view(np.float32)[0])
