"""Generators of random words, as formulas over any words that have `+` and `^`.

Salmon et al., Parallel random numbers: as easy as 1, 2, 3 (2011).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY = 0x1BD11BDA

ROW = 1024
"""Words are computed in rows, which fill tiles."""


def threefry(
    key: tuple[Any, Any], counter: tuple[Any, Any], rotate: Callable[[Any, int], Any]
) -> tuple[Any, Any]:
    """Threefry with 20 rounds on pairs of words of 32 bits, whose sums wrap around.

    Words of keys and counters may be numbers where they are known. `rotate` moves the bits of a
    word up, those at the top to the bottom.
    """
    keys = (*key, key[0] ^ key[1] ^ _PARITY)
    left, right = counter[0] + keys[0], counter[1] + keys[1]
    for turn in range(5):
        for places in _ROTATIONS[turn % 2]:
            left = left + right
            right = left ^ rotate(right, places)
        left = left + keys[(turn + 1) % 3]
        right = right + (keys[(turn + 2) % 3] + (turn + 1))
    return left, right


PHILOX_FACTORS = (0xD2511F53, 0xCD9E8D57)
PHILOX_STEPS = (0x9E3779B9, 0xBB67AE85)
"""What the words of a key grow by in each round."""
PHILOX_ROUNDS = 10
