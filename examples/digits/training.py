"""Training with NumPy alone: Adam on the cross entropy of a softmax.

The generator is seeded, so the same NumPy gives the same weights every time.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from data import SEED, Dataset, Floats, Labels

EPOCHS = 60
BATCH = 64
LEARNING_RATE = 2e-3


class Model(Protocol):
    """A classifier; its parameters are a list of arrays that training changes."""

    name: str

    def initial_parameters(self, rng: np.random.Generator) -> list[Floats]:
        """Random parameters to start from."""
        ...

    def input_shape(self, batch: int) -> tuple[int, ...]:
        """The shape of that many images."""
        ...

    def logits(self, parameters: list[Floats], images: Floats) -> Floats:
        """One number for each image and digit; the largest is the answer."""
        ...

    def gradients(self, parameters: list[Floats], images: Floats, labels: Labels) -> list[Floats]:
        """Derivatives of the mean cross entropy, one for each parameter."""
        ...

    def to_ttir(self, parameters: list[Floats], batch: int, element: str) -> str:
        """The text of a module whose function `forward` gives the probabilities of a batch."""
        ...


def train(model: Model, data: Dataset) -> list[Floats]:
    """Parameters that come from the data."""
    rng = np.random.default_rng(SEED)
    parameters = model.initial_parameters(rng)
    optimizer = _Adam(parameters)
    for _ in range(EPOCHS):
        order = rng.permutation(len(data.labels))
        for start in range(0, len(order), BATCH):
            rows = order[start : start + BATCH]
            optimizer.step(model.gradients(parameters, data.images[rows], data.labels[rows]))
    return parameters


def predict(model: Model, parameters: list[Floats], images: Floats) -> Floats:
    """The probability of each digit for each image."""
    return softmax(model.logits(parameters, images))


def softmax(logits: Floats) -> Floats:
    """Exponentials of each row, scaled to the sum 1."""
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def logits_gradient(logits: Floats, labels: Labels) -> Floats:
    """The derivative of the mean cross entropy by the logits."""
    error = softmax(logits)
    error[np.arange(len(labels)), labels] -= 1
    return error / np.float32(len(labels))


def spread(rng: np.random.Generator, inputs: int, shape: tuple[int, ...]) -> Floats:
    """Random weights that keep the variance of `inputs` values through a ReLU."""
    return rng.normal(0.0, np.sqrt(2.0 / inputs), shape).astype(np.float32)


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
