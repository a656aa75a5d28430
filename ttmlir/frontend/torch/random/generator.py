"""The generator: Threefry with 20 rounds on pairs of 32-bit words.

Word i of a seed is that of `jax.random.bits(jax.random.key(seed), (n,))[i]` for any n > i. Words
are int32 here, of the same bits: torch computes little with uint32.
"""

from __future__ import annotations

from typing import Any

from ttmlir.frontend.torch.elements import torch_package
from ttmlir.optable.generators import ROW, threefry


def draw_words(seed: Any, count: int) -> Any:
    """The first `count` words of a seed, which is an int32 tensor of no dimension."""
    torch = torch_package()
    rows = -(-count // ROW)
    number = torch.arange(rows * ROW, dtype=torch.int32).reshape(rows, ROW)
    left, right = threefry((0, seed), (0, number), _rotate)
    return (left ^ right).reshape(rows * ROW)[:count]


def _rotate(word: Any, places: int) -> Any:
    return (word << places) | shift_down(word, 32 - places)


def shift_down(word: Any, places: int) -> Any:
    """The upper bits of a word without sign, `places` further down."""
    return (word >> places) & ((1 << (32 - places)) - 1)


class Words:
    """The words of a program, which its operations take one after the other."""

    def __init__(self, seed: Any, count: int) -> None:
        """Compute all that will be taken."""
        self._words = draw_words(seed, count)
        self._taken = 0

    def take(self, count: int) -> Any:
        """The next words."""
        begin = self._taken
        self._taken += count
        return self._words[begin : self._taken]
