"""How a card brings the numbers of tensors into its registers, and back: unpacker and packer.

The packer takes DST of 16 or 32 bits. To bfloat16 it rounds 32 bits, ties away from zero; for block
floats it leaves 7 significant bits, the leading one included, before the numbers of a block share
an exponent, and drops those beyond the format's. Sums that are accumulated in L1 are rounded there.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np

from ttmlir.layout.data_format import BLOCK, BLOCK_FLOATS
from ttmlir.layout.enums import DataType
from ttmlir.sim.machine.numerics import (
    Register,
    numbers_of_blocks,
    share_exponents,
    to_source,
)
from ttmlir.sim.machine.vector_unit import (
    Array,
    all_within,
    pack_bfloat16,
    span,
    to_small_integer,
)

FORMATS = frozenset({DataType.F32, DataType.BF16, DataType.BFP_BF8, DataType.BFP_BF4})
"""Formats of tensors whose bits are known."""


def unpack(values: Array, data_type: DataType, *, wide: bool) -> Array:
    """Numbers of a tensor in SrcA or SrcB, of a kernel whose DST has 32 bits or not."""
    if data_type is not DataType.F32:
        return values
    whole = np.ascontiguousarray(values, np.float32)
    return to_source(whole, Register.TF32 if wide else Register.BF16)


def pack(dst: Array, data_type: DataType, *, wide: bool) -> Array:
    """Numbers of DST, of 32 bits or not, as a tensor keeps them."""
    if data_type in BLOCK_FLOATS:
        return _pack_block_float(dst, data_type)
    if not wide:
        return pack_bfloat16(dst)
    return dst if data_type is DataType.F32 else pack_wide(dst)


_FAR_FROM_LIMITS = span(2.0**-120, 2.0**120)


def pack_wide(values: Array) -> Array:
    """A DST of 32 bits packed to bfloat16: ties away from zero."""
    pattern = np.ascontiguousarray(values, np.float32).view(np.uint32)
    numbers = (pattern + np.uint32(0x8000)).view(np.float32)
    if all_within(numbers, _FAR_FROM_LIMITS):
        return pack_bfloat16(numbers)
    is_special = pattern & np.uint32(0x7F800000) == 0x7F800000
    rounded = np.where(is_special, pattern, pattern + np.uint32(0x8000))
    return pack_bfloat16(rounded.view(np.float32))


def _pack_block_float(dst: Array, data_type: DataType, *, to_6_bits: bool = True) -> Array:
    """Block floats in rows of the last dimension, of which every 16 numbers are a block."""
    columns = dst.shape[-1] if dst.ndim else 1
    rows = pack_bfloat16(dst).reshape(-1, columns)
    patterns = np.pad(rows, ((0, 0), (0, -columns % BLOCK))).view(np.uint32)
    blocks = patterns.reshape(-1, BLOCK)
    exponents, numbers = share_exponents(blocks, data_type, to_6_bits=to_6_bits)
    stored = numbers_of_blocks(exponents, numbers, data_type).reshape(patterns.shape)
    return stored[:, :columns].reshape(dst.shape)


def cast(values: Array, source: DataType, target: DataType) -> Array | None:
    """Numbers of a tensor of one format in another; None where they are cut, or kept, as they are.

    Integers become bfloat16 first, halves away from zero, as whole numbers of 16 bits are found;
    float32 is cut for block floats. Only to those of 4 bits mantissas are rounded to 6 bits before.
    """
    found = _cast(np.atleast_1d(values), source, target)
    return None if found is None else found.reshape(values.shape)


def _cast(values: Array, source: DataType, target: DataType) -> Array | None:
    is_whole = values.dtype.kind in "iu"
    if target is DataType.U16 and source in FORMATS:
        whole = to_small_integer(values, 65535, signed=False)
        return whole.astype(np.uint16)
    if target is DataType.U16 and source is DataType.U32:
        return values.clip(0, 65535).astype(np.uint16)
    if target in BLOCK_FLOATS and (is_whole or source in FORMATS):
        dst = pack_wide(values.astype(np.float32)) if is_whole else values
        return _pack_block_float(dst, target, to_6_bits=target is DataType.BFP_BF4)
    if target is DataType.BF16 and is_whole:
        return pack_wide(values.astype(np.float32))
    if target is DataType.BF16 and source is DataType.F32:
        return pack_bfloat16(values.astype(ml_dtypes.bfloat16).astype(np.float32))
    return None


def add_in_l1(total: Array, addend: Array, *, wide: bool) -> Array:
    """Sums of numbers that were packed to float32, or to bfloat16, where they are kept."""
    with np.errstate(all="ignore"):
        result = total + addend
        if not wide:
            result = result.astype(ml_dtypes.bfloat16).astype(np.float32)
    is_denormal = result.view(np.uint32) & np.uint32(0x7F800000) == 0
    return np.where(is_denormal, np.copysign(np.float32(0), result), result)
