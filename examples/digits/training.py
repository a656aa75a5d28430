"""A classifier of handwritten digits, trained with NumPy alone.

The data are the 1,797 images of 8x8 pixels that scikit-learn ships (the test part of "Optical
Recognition of Handwritten Digits", UCI). The network is a stack of dense layers with ReLU between
them and softmax at the end; training is Adam on the cross entropy. The generator is seeded, so the
same NumPy gives the same weights every time.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Labels = NDArray[np.int64]

WIDTHS = (64, 96, 48, 10)
HELD_OUT = 450
EPOCHS = 60
BATCH = 64
LEARNING_RATE = 2e-3
WEIGHT_DECAY = 1e-4
SEED = 2024


@dataclass(frozen=True)
class Dataset:
    """Images in rows of 64 pixels between 0 and 1, and the digits that they show."""

    images: Floats
    labels: Labels


@dataclass(frozen=True)
class Layer:
    """A dense layer: `x @ weight + bias`."""

    weight: Floats
    bias: Floats
    """One row, so that it broadcasts over the batch."""


Network = tuple[Layer, ...]


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


def predict(network: Network, images: Floats) -> Floats:
    """The probability of each digit for each image."""
    return _softmax(_activations(network, images)[-1])


def accuracy(probabilities: Floats, labels: Labels) -> float:
    """The share of images whose most probable digit is the right one."""
    return float(np.mean(probabilities.argmax(axis=1) == labels))


def train(data: Dataset) -> Network:
    """A network whose weights come from the data."""
    rng = np.random.default_rng(SEED)
    parameters = _initial_parameters(rng)
    optimizer = _Adam(parameters)
    for _ in range(EPOCHS):
        order = rng.permutation(len(data.labels))
        for start in range(0, len(order), BATCH):
            rows = order[start : start + BATCH]
            optimizer.step(_gradients(_layers(parameters), data.images[rows], data.labels[rows]))
    return _layers(parameters)


def _initial_parameters(rng: np.random.Generator) -> list[Floats]:
    """Weight and bias of every layer; the spread of the weights keeps ReLU's variance."""
    parameters = list[Floats]()
    for rows, columns in pairwise(WIDTHS):
        weight = rng.normal(0.0, np.sqrt(2.0 / rows), (rows, columns))
        parameters += [weight.astype(np.float32), np.zeros((1, columns), np.float32)]
    return parameters


def _layers(parameters: list[Floats]) -> Network:
    return tuple(Layer(*pair) for pair in zip(parameters[::2], parameters[1::2], strict=True))


def _activations(network: Network, images: Floats) -> list[Floats]:
    """The input of every layer, and last the logits."""
    values = [images]
    for layer in network[:-1]:
        values.append(np.maximum(values[-1] @ layer.weight + layer.bias, 0))
    values.append(values[-1] @ network[-1].weight + network[-1].bias)
    return values


def _softmax(logits: Floats) -> Floats:
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def _gradients(network: Network, images: Floats, labels: Labels) -> list[Floats]:
    """Gradients of the mean cross entropy, in the order of the parameters."""
    *inputs, logits = _activations(network, images)
    error = _softmax(logits)
    error[np.arange(len(labels)), labels] -= 1
    error /= len(labels)
    gradients = list[Floats]()
    for layer, value in zip(reversed(network), reversed(inputs), strict=True):
        weight = value.T @ error + WEIGHT_DECAY * layer.weight
        gradients = [weight, error.sum(axis=0, keepdims=True), *gradients]
        error = (error @ layer.weight.T) * (value > 0)
    return gradients


class _Adam:
    """Adam (Kingma and Ba, 2015); changes the parameters in place."""

    def __init__(self, parameters: list[Floats]) -> None:
        self.parameters = parameters
        self.means = [np.zeros_like(p) for p in parameters]
        self.squares = [np.zeros_like(p) for p in parameters]
        self.steps = 0

    def step(self, gradients: list[Floats]) -> None:
        self.steps += 1
        rate = LEARNING_RATE * np.sqrt(1 - 0.999**self.steps) / (1 - 0.9**self.steps)
        for p, g, mean, square in zip(
            self.parameters, gradients, self.means, self.squares, strict=True
        ):
            mean += 0.1 * (g - mean)
            square += 0.001 * (g * g - square)
            p -= (rate * mean / (np.sqrt(square) + 1e-8)).astype(np.float32)
