"""Handwritten digits: 1,797 images of 8x8 pixels that scikit-learn ships.

They are the test part of "Optical Recognition of Handwritten Digits" in the UCI repository.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Labels = NDArray[np.int64]

HELD_OUT = 450
SIDE = 8
CLASSES = 10
SEED = 2024


@dataclass(frozen=True)
class Dataset:
    """Images as rows of 64 pixels between 0 and 1, and the digits that they show."""

    images: Floats
    labels: Labels


def load_digits() -> tuple[Dataset, Dataset]:
    """The images in random order: those to train on and the held-out ones."""
    from sklearn import datasets

    pixels, digits = datasets.load_digits(return_X_y=True)
    order = np.random.default_rng(SEED).permutation(len(digits))
    images = (pixels[order] / 16.0).astype(np.float32)
    labels = digits[order].astype(np.int64)
    return (
        Dataset(images[:-HELD_OUT], labels[:-HELD_OUT]),
        Dataset(images[-HELD_OUT:], labels[-HELD_OUT:]),
    )


def accuracy(probabilities: Floats, labels: Labels) -> float:
    """The share of images whose most probable digit is the right one."""
    return float(np.mean(probabilities.argmax(axis=1) == labels))
