"""Drawn digits: those of a display of seven bars, moved, with noise."""

from __future__ import annotations

import torch

SIDE = 12
BARS = {
    # Rows and columns in a digit that is 7 high and 4 wide.
    "a": (slice(0, 1), slice(0, 4)),
    "b": (slice(0, 4), slice(3, 4)),
    "c": (slice(3, 7), slice(3, 4)),
    "d": (slice(6, 7), slice(0, 4)),
    "e": (slice(3, 7), slice(0, 1)),
    "f": (slice(0, 4), slice(0, 1)),
    "g": (slice(3, 4), slice(0, 4)),
}
DIGITS = ("abcdef", "bc", "abged", "abgcd", "fgbc", "afgcd", "afgedc", "abc", "abcdefg", "abcdfg")


def draw_digits(count: int, generator: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
    """Images of random digits, and the digits."""
    labels = torch.randint(0, 10, (count,), generator=generator)
    places = torch.randint(1, 4, (count, 2), generator=generator)
    images = torch.randn(count, 1, SIDE, SIDE, generator=generator) * 0.2
    for image, label, (row, column) in zip(images, labels, places.tolist(), strict=True):
        for bar in DIGITS[label]:
            rows, columns = BARS[bar]
            image[0, row : row + 7, column : column + 4][rows, columns] += 1
    return images, labels
