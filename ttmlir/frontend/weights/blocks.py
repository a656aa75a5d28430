"""Types of elements of GGUF files: plain numbers, and blocks of small integers with scales.

Rows of a tensor are whole blocks. The names and layouts are those of ggml.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[Any]
Numbers = NDArray[Any]


@dataclass(frozen=True)
class BlockType:
    """How so many elements are stored in so many bytes."""

    name: str
    elements: int
    size: int
    decode: Callable[[Bytes], Numbers]
    """From blocks (count, size) to numbers (count, elements)."""


def _plain(name: str, dtype: Any) -> BlockType:
    kind = np.dtype(dtype)
    return BlockType(name, 1, kind.itemsize, lambda blocks: blocks.view(kind))


def _f16(blocks: Bytes, at: int) -> Numbers:
    """The numbers of 16 bits that stand at a byte of each block, as a column."""
    return np.ascontiguousarray(blocks[:, at : at + 2]).view("<f2").astype(np.float32)


def _nibbles(bytes_: Bytes) -> Bytes:
    """The lower halves of all bytes of a row, then the upper ones."""
    return np.concatenate([bytes_ & 15, bytes_ >> 4], axis=-1)


def _fifth_bits(bytes_: Bytes) -> Bytes:
    """32 bits, the lowest first, as the fifth ones of as many numbers."""
    return np.unpackbits(bytes_, axis=-1, bitorder="little") << 4


def _q4_0(blocks: Bytes) -> Numbers:
    return (_nibbles(blocks[:, 2:]).astype(np.float32) - 8) * _f16(blocks, 0)


def _q4_1(blocks: Bytes) -> Numbers:
    return _nibbles(blocks[:, 4:]) * _f16(blocks, 0) + _f16(blocks, 2)


def _q5_0(blocks: Bytes) -> Numbers:
    numbers = _nibbles(blocks[:, 6:]) | _fifth_bits(blocks[:, 2:6])
    return (numbers.astype(np.float32) - 16) * _f16(blocks, 0)


def _q5_1(blocks: Bytes) -> Numbers:
    numbers = _nibbles(blocks[:, 8:]) | _fifth_bits(blocks[:, 4:8])
    return numbers * _f16(blocks, 0) + _f16(blocks, 2)


def _q8_0(blocks: Bytes) -> Numbers:
    return blocks[:, 2:].view(np.int8) * _f16(blocks, 0)


def _scales(blocks: Bytes) -> tuple[Numbers, Numbers]:
    """Scales and offsets of 8 groups of 32, of 6 bits in 12 bytes, times those of blocks."""
    low, middle, high = blocks[:, 4:8], blocks[:, 8:12], blocks[:, 12:16]
    scales = np.concatenate([low & 63, (high & 15) | (low >> 6 << 4)], axis=1)
    offsets = np.concatenate([middle & 63, (high >> 4) | (middle >> 6 << 4)], axis=1)
    return scales * _f16(blocks, 0), offsets * _f16(blocks, 2)


def _grouped(numbers: Bytes, blocks: Bytes) -> Numbers:
    """Numbers (count, groups, 32), scaled and shifted."""
    scales, offsets = _scales(blocks)
    found = numbers * scales[:, :, None] - offsets[:, :, None]
    return found.reshape((len(blocks), 256))


def _q4_k(blocks: Bytes) -> Numbers:
    bytes_ = blocks[:, 16:].reshape((-1, 4, 32))
    return _grouped(_nibbles(bytes_).reshape((-1, 8, 32)), blocks)


def _q5_k(blocks: Bytes) -> Numbers:
    low = _nibbles(blocks[:, 48:].reshape((-1, 4, 32))).reshape((-1, 8, 32))
    shifts = np.arange(8, dtype=np.uint8).reshape((1, 8, 1))
    high = (blocks[:, None, 16:48] >> shifts) & 1
    return _grouped(low | high << 4, blocks)


def _q6_k(blocks: Bytes) -> Numbers:
    low = _nibbles(blocks[:, :128].reshape((-1, 2, 64))).reshape((-1, 2, 4, 32))
    shifts = np.array([0, 2, 4, 6], np.uint8).reshape((1, 1, 4, 1))
    high = (blocks[:, 128:192].reshape((-1, 2, 1, 32)) >> shifts) & 3
    numbers = (low | high << 4).astype(np.float32).reshape((-1, 16, 16)) - 32
    scales = blocks[:, 192:208].view(np.int8) * _f16(blocks, 208)
    return (numbers * scales[:, :, None]).reshape((-1, 256))


TYPES: Mapping[int, BlockType] = {
    0: _plain("F32", "<f4"),
    1: _plain("F16", "<f2"),
    2: BlockType("Q4_0", 32, 18, _q4_0),
    3: BlockType("Q4_1", 32, 20, _q4_1),
    6: BlockType("Q5_0", 32, 22, _q5_0),
    7: BlockType("Q5_1", 32, 24, _q5_1),
    8: BlockType("Q8_0", 32, 34, _q8_0),
    12: BlockType("Q4_K", 256, 144, _q4_k),
    13: BlockType("Q5_K", 256, 176, _q5_k),
    14: BlockType("Q6_K", 256, 210, _q6_k),
    24: _plain("I8", "<i1"),
    25: _plain("I16", "<i2"),
    26: _plain("I32", "<i4"),
    27: _plain("I64", "<i8"),
    28: _plain("F64", "<f8"),
    30: _plain("BF16", ml_dtypes.bfloat16),
}
"""By the numbers that files have for them."""
