"""The Zen of Python, which Python ships, as numbers of letters."""

from __future__ import annotations

import codecs
from importlib.util import find_spec
from pathlib import Path

import numpy as np

_SOURCE = Path(find_spec("this").origin).read_text(encoding="utf-8")
TEXT = codecs.decode(_SOURCE.split('"""')[1], "rot13")
LETTERS = sorted(set(TEXT))


def encoded(text: str) -> np.ndarray:
    """The number of each letter."""
    return np.array([LETTERS.index(letter) for letter in text], np.int32)


def decoded(numbers) -> str:
    """The text of numbers."""
    return "".join(LETTERS[number] for number in numbers)


def pieces(count: int, batch: int, length: int):
    """`count` batches of pieces of the text, from random places."""
    starts = np.random.default_rng(0).integers(0, len(TEXT) - length, (count, batch, 1))
    numbers = encoded(TEXT)
    return [(numbers[each + np.arange(length)],) for each in starts]
