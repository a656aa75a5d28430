"""A stack of dense layers with ReLU between them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from data import CLASSES, SIDE, Floats, Labels
from network_text import FunctionBody
from training import logits_gradient, spread

WIDTHS = (SIDE * SIDE, 96, 48, CLASSES)


class Perceptron:
    """Parameters: weight and bias of each layer; a bias is one row that the batch shares."""

    name = "perceptron"

    def input_shape(self, batch: int) -> tuple[int, ...]:
        """Rows of pixels."""
        return (batch, WIDTHS[0])

    def initial_parameters(self, rng: np.random.Generator) -> list[Floats]:
        """Random weights, biases of 0."""
        return [
            parameter
            for rows, columns in pairwise(WIDTHS)
            for parameter in (
                spread(rng, rows, (rows, columns)),
                np.zeros((1, columns), np.float32),
            )
        ]

    def logits(self, parameters: list[Floats], images: Floats) -> Floats:
        """The output of the last layer."""
        return self._values(parameters, images)[-1]

    def gradients(self, parameters: list[Floats], images: Floats, labels: Labels) -> list[Floats]:
        """By back-propagation through the layers."""
        *inputs, logits = self._values(parameters, images)
        error = logits_gradient(logits, labels)
        gradients: list[Floats] = []
        for weight, value in zip(parameters[-2::-2], reversed(inputs), strict=True):
            gradients = [value.T @ error, error.sum(axis=0, keepdims=True), *gradients]
            error = (error @ weight.T) * (value > 0)
        return gradients

    def to_ttir(self, parameters: list[Floats], batch: int, element: str) -> str:
        """A product, a sum and a ReLU for each layer."""
        body = FunctionBody(element)
        value = body.argument("images", self.input_shape(batch))
        layers = list(zip(parameters[::2], parameters[1::2], strict=True))
        for number, (weight, bias) in enumerate(layers, start=1):
            value = body.dense(value, weight, bias, str(number))
            if number < len(layers):
                value = body.elementwise("relu", [value], value.shape)
        return body.function(body.softmax(value))

    def _values(self, parameters: list[Floats], images: Floats) -> list[Floats]:
        """The input of every layer, and last the logits."""
        values = [images]
        for weight, bias in zip(parameters[::2], parameters[1::2], strict=True):
            values.append(np.maximum(values[-1] @ weight + bias, 0))
        values[-1] = values[-2] @ parameters[-2] + parameters[-1]
        return values
