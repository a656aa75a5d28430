"""Blocks of GGUF as loops over single numbers decode them, one after the other as in ggml's C."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence

import ml_dtypes
import numpy as np
import pytest

from ttmlir.frontend.weights.blocks import TYPES

Numbers = list[np.float32]


def half(block: bytes, at: int) -> np.float32:
    """A number of 16 bits."""
    return np.float32(struct.unpack_from("<e", block, at)[0])


def nibble(block: bytes, at: int, upper: bool) -> int:
    """Half a byte."""
    return block[at] >> 4 if upper else block[at] & 15


def simple(block: bytes, first: int, offset: int, shift: np.float32) -> Numbers:
    """32 numbers of 4 bits, and perhaps a fifth one in the bytes before."""
    scale = half(block, 0)
    found: Numbers = []
    for place in range(32):
        number = nibble(block, first + place % 16, place >= 16)
        if first > 5:
            bits = int.from_bytes(block[first - 4 : first], "little")
            number |= (bits >> place & 1) << 4
        found.append(np.float32(number - offset) * scale + shift)
    return found


def scale_of(block: bytes, group: int) -> tuple[int, int]:
    """The scale and the offset of a group, of 6 bits each."""
    bytes_ = block[4:16]
    if group < 4:
        return bytes_[group] & 63, bytes_[group + 4] & 63
    return (
        bytes_[group + 4] & 15 | bytes_[group - 4] >> 6 << 4,
        bytes_[group + 4] >> 4 | bytes_[group] >> 6 << 4,
    )


def super_block(block: bytes, first: int) -> Numbers:
    """256 numbers in 8 groups."""
    found: Numbers = []
    for place in range(256):
        group, within = divmod(place, 32)
        number = nibble(block, first + group // 2 * 32 + within, group % 2 == 1)
        if first == 48:
            number |= (block[16 + within] >> group & 1) << 4
        scale, offset = scale_of(block, group)
        whole, least = half(block, 0) * np.float32(scale), half(block, 2) * np.float32(offset)
        found.append(np.float32(number) * whole - least)
    return found


def six_bits(block: bytes) -> Numbers:
    """256 numbers of 6 bits in 16 groups."""
    found: Numbers = []
    for place in range(256):
        side, rest = divmod(place, 128)
        quarter, within = divmod(rest, 32)
        low = nibble(block, side * 64 + quarter % 2 * 32 + within, quarter >= 2)
        high = block[128 + side * 32 + within] >> 2 * quarter & 3
        [scale] = struct.unpack_from("<b", block, 192 + place // 16)
        found.append(np.float32((low | high << 4) - 32) * (half(block, 208) * np.float32(scale)))
    return found


def eight_bits(block: bytes) -> Numbers:
    """32 numbers with a sign."""
    return [np.float32(each) * half(block, 0) for each in struct.unpack_from("<32b", block, 2)]


ZERO = np.float32(0)
DECODERS: dict[str, tuple[Callable[[bytes], Numbers], Sequence[int]]] = {
    "Q4_0": (lambda block: simple(block, 2, 8, ZERO), (0,)),
    "Q4_1": (lambda block: simple(block, 4, 0, half(block, 2)), (0, 2)),
    "Q5_0": (lambda block: simple(block, 6, 16, ZERO), (0,)),
    "Q5_1": (lambda block: simple(block, 8, 0, half(block, 2)), (0, 2)),
    "Q8_0": (eight_bits, (0,)),
    "Q4_K": (lambda block: super_block(block, 16), (0, 2)),
    "Q5_K": (lambda block: super_block(block, 48), (0, 2)),
    "Q6_K": (six_bits, (208,)),
}
"""How a block is decoded, and where its scales stand."""


@pytest.mark.parametrize("name", DECODERS)
def test_blocks(name: str) -> None:
    """Every bit counts."""
    decode, scales = DECODERS[name]
    kind = next(each for each in TYPES.values() if each.name == name)
    random = np.random.default_rng(len(name))
    blocks = random.integers(0, 256, (5, kind.size)).astype(np.uint8)
    for place in scales:
        numbers = random.standard_normal((5, 1)).astype(np.float16)
        blocks[:, place : place + 2] = numbers.view(np.uint8)
    expected = [decode(block.tobytes()) for block in blocks]
    np.testing.assert_array_equal(kind.decode(blocks), np.array(expected))


def test_types_are_covered() -> None:
    """Those of blocks are all decoded above; plain ones are NumPy's."""
    assert {each.name for each in TYPES.values() if each.elements > 1} == set(DECODERS)
    half_ones = np.array([1.5, -3], ml_dtypes.bfloat16)
    found = TYPES[30].decode(half_ones.view(np.uint8))
    np.testing.assert_array_equal(found.astype(np.float32), [1.5, -3])
