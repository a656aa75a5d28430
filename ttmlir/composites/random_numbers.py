"""Generators of random words of 32 bits, and numbers of distributions.

Salmon et al., Parallel random numbers: as easy as 1, 2, 3 (2011). States are tensors of n numbers
of 64 bits as n rows of two words, the lower ones first: a key and a counter.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ttmlir.arrays.array import Array, concatenate

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

_HALF = 16
_LOWER = (1 << _HALF) - 1


def draw_threefry(state: Array, shape: Sequence[int], *, in_pairs: bool) -> tuple[Array, Array]:
    """Words of a shape, and the new counter, as XLA draws them on CPUs.

    The first dimension with an even extent (or else the longest) is halved; words of a pair are
    neighbours in it. With `in_pairs` they are along the last dimension.
    """
    extents = (*shape[:-1], 1, 2) if in_pairs else tuple(shape)
    even = (dim for dim, extent in enumerate(extents) if extent % 2 == 0)
    split = len(shape) if in_pairs else next(even, None)
    if split is None:
        extents = extents or (1,)
        split = extents.index(max(extents))
    halves = [-(-n // 2) if dim == split else n for dim, n in enumerate(extents)]
    count = math.prod(halves)
    key = _words(state, 0)
    pair = threefry(key, _count_up(_words(state, 1), count), _rotate)
    apart = [*halves[: split + 1], 1, *halves[split + 1 :]]
    joined = concatenate([_cut(word, count).reshape(apart) for word in pair], split + 1)
    both = [2 * half if dim == split else half for dim, half in enumerate(halves)]
    drawn = joined.reshape(both).slice([0] * len(both), extents)
    return drawn.reshape(shape), _advance(state, count)


def draw_philox(state: Array, shape: Sequence[int]) -> tuple[Array, Array]:
    """Words of a shape, and the new counter, as XLA draws them on CPUs; four of each count."""
    count = -(-math.prod(shape) // 4)
    counter = _words(state, 1)
    low = _count_up(counter, count)
    # Below the key, or the third number of the state, is what wraps around.
    above = _words(state, 2 if state.shape[0] == 3 else 0)
    third = _carry(low[1], counter[1]) + above[0]
    fourth = _carry(third, above[0]) + above[1]
    # Two rows of words, which the rounds treat alike.
    even, odd = _stack(low[0], third), _stack(low[1], fourth)
    key = state.cut(0, 0, 1).reshape((2, 1, 1))
    factors, steps = (
        state.constant(np.array(numbers, np.uint32).reshape(2, 1, 1))
        for numbers in (PHILOX_FACTORS, PHILOX_STEPS)
    )
    parts = _halves(factors)
    for turn in range(PHILOX_ROUNDS):
        if turn:
            key = key + steps
        upper = _upper_of_product(even, parts).reverse(0)
        even, odd = upper ^ odd ^ key, (even * factors).reverse(0)
    rows = [
        _cut(each.cut(0, n, n + 1), count).reshape((count, 1))
        for n in range(2)
        for each in (even, odd)
    ]
    drawn = concatenate(rows, 1).reshape((4 * count,))
    return drawn.cut(0, 0, math.prod(shape)).reshape(shape), _advance(state, count)


def _words(state: Array, number: int) -> tuple[Array, Array]:
    """Both words of a number of the state, as arrays of one element."""
    row = state.cut(0, number, number + 1)
    return row.cut(1, 0, 1), row.cut(1, 1, 2)


def _count_up(counter: Sequence[Array], count: int) -> tuple[Array, Array]:
    """So many numbers, each one more than the last, in rows that may be longer."""
    shape = (1, count) if count < ROW else (-(-count // ROW), ROW)
    numbers = counter[0].count(0, (math.prod(shape),), counter[0].dtype)
    low = numbers.reshape(shape) + counter[0]
    return low, _carry(low, counter[0]) + counter[1]


def _carry(total: Array, start: Array) -> Array:
    """1 where sums have wrapped around, so that they are less than what was added to."""
    return (total < start.broadcast(total.shape)).cast(total.dtype)


def _advance(state: Array, count: int) -> Array:
    """The words of the counter, so many further on."""
    carry: Array | int = count
    words: list[Array] = []
    for number in range(1, state.shape[0]):
        for word in _words(state, number):
            total = word + carry
            carry = _carry(total, word)
            words.append(total)
    return concatenate(words, 1).reshape((len(words) // 2, 2))


def _stack(first: Array, second: Array) -> Array:
    return concatenate([each.reshape((1, *each.shape)) for each in (first, second)], 0)


def _cut(words: Array, count: int) -> Array:
    """The first words, in one dimension."""
    return words.reshape((math.prod(words.shape),)).cut(0, 0, count)


def _rotate(word: Array, places: int) -> Array:
    return (word << places) | (word >> 32 - places)


def _halves(word: Array) -> tuple[Array, Array]:
    return word & _LOWER, word >> _HALF


def _upper_of_product(word: Array, factor: tuple[Array, Array]) -> Array:
    """The upper word of a product, the factor being given as halves of 16 bits."""
    low, high = _halves(word)
    middle = high * factor[0] + (low * factor[0] >> _HALF)
    lower, upper = _halves(middle)
    return high * factor[1] + upper + (low * factor[1] + lower >> _HALF)


def make_uniform(words: Array) -> Array:
    """Numbers of [0, 1) of 23 bits, as `jax.random.uniform` makes them."""
    return (words >> 9).cast("f32") * 2.0**-23


def make_normal(words: Array) -> Array:
    """Numbers of the normal distribution, as `jax.random.normal` makes them."""
    low = -1 + 2.0**-24
    return (make_uniform(words) * (1 - low) + low).erfinv() * math.sqrt(2)


def draw_between(number: int, first: Array, second: Array, *, is_normal: bool) -> Array:
    """Numbers of a distribution that no state counts: words of Threefry of the key `number`.

    `first` and `second`, of the shape and type of the result, are the least number and the end of
    uniform ones, or the mean and the deviation of normal ones, which are real.
    """
    key = np.array([[number, 0], [0, 0]], np.uint32)
    state = Array(first.carrier, first.carrier.constant(key, "ui32"), key.shape, "ui32")
    words, _ = draw_threefry(state, first.shape, in_pairs=False)
    if not first.is_real:
        return words.remainder((second - first).cast("ui32")).cast(first.dtype) + first
    found = make_normal(words) if is_normal else make_uniform(words)
    return found.cast(first.dtype) * (second if is_normal else second - first) + first
