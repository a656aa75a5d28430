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
class Parts:
    """Integers, and what makes numbers of them: they times all scales, less the product of shifts.

    All have as many dimensions and broadcast; the last two are groups and what stands in one.
    """

    integers: Bytes
    scales: tuple[Numbers, ...]
    shifts: tuple[Numbers, ...] = ()

    def numbers(self) -> Numbers:
        """The numbers in f32, groups after one another."""
        found = self.integers.astype(np.float32) * _product(self.scales)
        if self.shifts:
            found -= _product(self.shifts)
        return found.reshape((*found.shape[:-2], -1))

    def change(self, function: Callable[[Numbers], Numbers]) -> Parts:
        """The same with a function of each array."""
        scales, shifts = (tuple(map(function, each)) for each in (self.scales, self.shifts))
        return Parts(function(self.integers), scales, shifts)


def _product(factors: tuple[Numbers, ...]) -> Numbers:
    first, *others = (each.astype(np.float32) for each in factors)
    for each in others:
        first = first * each
    return first


@dataclass(frozen=True)
class BlockType:
    """How so many elements are stored in so many bytes."""

    name: str
    elements: int
    size: int
    split: Callable[[Bytes], Parts] | None = None
    """From blocks (count, size) to parts (count, groups, ...)."""
    dtype: Any = None
    """Of plain numbers."""

    def decode(self, blocks: Bytes) -> Numbers:
        """From blocks (count, size) to numbers (count, elements); from bytes to plain numbers."""
        return blocks.view(self.dtype) if self.split is None else self.split(blocks).numbers()


def _plain(name: str, dtype: Any) -> BlockType:
    kind = np.dtype(dtype)
    return BlockType(name, 1, kind.itemsize, dtype=kind)


def _f16(blocks: Bytes, at: int) -> Numbers:
    """The number of 16 bits that stands at a byte of each block."""
    return np.ascontiguousarray(blocks[:, at : at + 2]).view("<f2").reshape((-1, 1, 1))


def _nibbles(bytes_: Bytes) -> Bytes:
    """The lower halves of all bytes of a row, then the upper ones."""
    return np.concatenate([bytes_ & 15, bytes_ >> 4], axis=-1)


def _fifth_bits(bytes_: Bytes) -> Bytes:
    """32 bits, the lowest first, as the fifth ones of as many numbers."""
    return np.unpackbits(bytes_, axis=-1, bitorder="little") << 4


def _simple(integers: Bytes, zero: int, scale: Numbers, *shifts: Numbers) -> Parts:
    """Blocks of one group, whose integers are `zero` too large."""
    found = integers.view(np.int8) - np.int8(zero) if zero else integers
    return Parts(found[:, None, :], (scale,), shifts)


def _q4_0(blocks: Bytes) -> Parts:
    return _simple(_nibbles(blocks[:, 2:]), 8, _f16(blocks, 0))


def _q4_1(blocks: Bytes) -> Parts:
    return _simple(_nibbles(blocks[:, 4:]), 0, _f16(blocks, 0), -_f16(blocks, 2))


def _q5_0(blocks: Bytes) -> Parts:
    numbers = _nibbles(blocks[:, 6:]) | _fifth_bits(blocks[:, 2:6])
    return _simple(numbers, 16, _f16(blocks, 0))


def _q5_1(blocks: Bytes) -> Parts:
    numbers = _nibbles(blocks[:, 8:]) | _fifth_bits(blocks[:, 4:8])
    return _simple(numbers, 0, _f16(blocks, 0), -_f16(blocks, 2))


def _q8_0(blocks: Bytes) -> Parts:
    return _simple(np.ascontiguousarray(blocks[:, 2:]).view(np.int8), 0, _f16(blocks, 0))


def _grouped(integers: Bytes, blocks: Bytes) -> Parts:
    """Integers (count, 8, 32) with scales and shifts of 6 bits in 12 bytes, and those of blocks."""
    low, middle, high = blocks[:, 4:8], blocks[:, 8:12], blocks[:, 12:16]
    scales = np.concatenate([low & 63, (high & 15) | (low >> 6 << 4)], axis=1)
    shifts = np.concatenate([middle & 63, (high >> 4) | (middle >> 6 << 4)], axis=1)
    return Parts(
        integers,
        (scales[:, :, None], _f16(blocks, 0)),
        (shifts[:, :, None], _f16(blocks, 2)),
    )


def _q4_k(blocks: Bytes) -> Parts:
    bytes_ = blocks[:, 16:].reshape((-1, 4, 32))
    return _grouped(_nibbles(bytes_).reshape((-1, 8, 32)), blocks)


def _q5_k(blocks: Bytes) -> Parts:
    low = _nibbles(blocks[:, 48:].reshape((-1, 4, 32))).reshape((-1, 8, 32))
    shifts = np.arange(8, dtype=np.uint8).reshape((1, 8, 1))
    high = (blocks[:, None, 16:48] >> shifts) & 1
    return _grouped(low | high << 4, blocks)


def _q6_k(blocks: Bytes) -> Parts:
    low = _nibbles(blocks[:, :128].reshape((-1, 2, 64))).reshape((-1, 2, 4, 32))
    shifts = np.array([0, 2, 4, 6], np.uint8).reshape((1, 1, 4, 1))
    high = (blocks[:, 128:192].reshape((-1, 2, 1, 32)) >> shifts) & 3
    integers = (low | high << 4).reshape((-1, 16, 16)).view(np.int8) - np.int8(32)
    scales = np.ascontiguousarray(blocks[:, 192:208]).view(np.int8)
    return Parts(integers, (scales[:, :, None], _f16(blocks, 208)))


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
