"""Damages binary files, with a seed: bytes and words are changed, swapped and copied."""

from __future__ import annotations

import random
from collections.abc import Iterator

_WORD = 4
_EXTREMES = (
    *(0, 1, 2, 4, 7, 8, 31, 32, 33, 64, 255, 1024, 4096, 65535, 65536, 1 << 20, 1 << 24, 1 << 30),
    *((1 << 31) - 1, 1 << 31, (1 << 32) - 1, (1 << 32) - 4, (1 << 32) - 8),
)


def mutants(data: bytes, count: int, seed: int) -> Iterator[bytes]:
    """`count` damaged copies of a file, the same for the same seed."""
    rng = random.Random(seed)
    for _ in range(count):
        damaged = bytearray(data)
        for _ in range(rng.choice((1, 1, 1, 2, 3))):
            rng.choice(_DAMAGES)(damaged, rng)
        yield bytes(damaged)


def _place(data: bytearray, rng: random.Random) -> int:
    return rng.randrange(max(1, len(data) // _WORD)) * _WORD


def _alter_byte(data: bytearray, rng: random.Random) -> None:
    data[rng.randrange(len(data))] = rng.choice((0, 1, 127, 128, 255, rng.randrange(256)))


def _alter_bit(data: bytearray, rng: random.Random) -> None:
    data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)


def _set_word(data: bytearray, rng: random.Random) -> None:
    place = _place(data, rng)
    data[place : place + _WORD] = rng.choice(_EXTREMES).to_bytes(_WORD, "little")


def _swap_words(data: bytearray, rng: random.Random) -> None:
    a, b = _place(data, rng), _place(data, rng)
    if rng.random() < 0.5:
        b = min(a + _WORD, len(data) // _WORD * _WORD - _WORD)
    data[a : a + _WORD], data[b : b + _WORD] = data[b : b + _WORD], data[a : a + _WORD]


def _copy_words(data: bytearray, rng: random.Random) -> None:
    source, target, size = _place(data, rng), _place(data, rng), rng.choice((4, 8, 32))
    piece = data[source : source + size]
    data[target : target + len(piece)] = piece


def _cut(data: bytearray, rng: random.Random) -> None:
    del data[rng.randrange(12, len(data)) :]


_DAMAGES = (
    _alter_byte,
    _alter_bit,
    _set_word,
    _set_word,
    _swap_words,
    _swap_words,
    _copy_words,
    _cut,
)
