"""A convolution with ReLU and max pooling, then a dense layer."""

from __future__ import annotations

import numpy as np
from data import CLASSES, SIDE, Floats, Labels
from network_text import FunctionBody
from training import logits_gradient, spread

CHANNELS = 12
KERNEL = 3
HALF = SIDE // 2
FEATURES = HALF * HALF * CHANNELS


class ConvNet:
    """Parameters: the kernel (CHANNELS, 1, 3, 3) and its bias, the weight and its bias."""

    name = "convnet"

    def input_shape(self, batch: int) -> tuple[int, ...]:
        """Images with one channel, which is the last dimension."""
        return (batch, SIDE, SIDE, 1)

    def initial_parameters(self, rng: np.random.Generator) -> list[Floats]:
        """Random kernel and weight, biases of 0."""
        return [
            spread(rng, KERNEL * KERNEL, (CHANNELS, 1, KERNEL, KERNEL)),
            np.zeros((1, 1, 1, CHANNELS), np.float32),
            spread(rng, FEATURES, (FEATURES, CLASSES)),
            np.zeros((1, CLASSES), np.float32),
        ]

    def logits(self, parameters: list[Floats], images: Floats) -> Floats:
        """The output of the dense layer."""
        _, _, weight, bias = parameters
        _, _, features = self._features(parameters, images)
        return features.reshape(-1, FEATURES) @ weight + bias

    def gradients(self, parameters: list[Floats], images: Floats, labels: Labels) -> list[Floats]:
        """By back-propagation: the error of a maximum goes to all places where it is found."""
        _, _, weight, bias = parameters
        patches, activations, features = self._features(parameters, images)
        rows = features.reshape(-1, FEATURES)
        error = logits_gradient(rows @ weight + bias, labels)
        is_maximum = activations == _enlarged(features)
        finds = is_maximum.reshape(-1, HALF, 2, HALF, 2, CHANNELS).sum(axis=(2, 4))
        shares = (error @ weight.T).reshape(features.shape) / finds.astype(np.float32)
        inner = _enlarged(shares) * (is_maximum & (activations > 0))
        kernel = np.einsum("nyxk,nyxc->ck", patches, inner).reshape(parameters[0].shape)
        biases = inner.sum(axis=(0, 1, 2)).reshape(1, 1, 1, CHANNELS)
        return [kernel, biases, rows.T @ error, error.sum(axis=0, keepdims=True)]

    def to_ttir(self, parameters: list[Floats], batch: int, element: str) -> str:
        """One operation for each step; pixels become rows again before the dense layer."""
        kernel, kernel_bias, weight, bias = parameters
        body = FunctionBody(element)
        images = body.argument("images", self.input_shape(batch))
        sides = ("left", "right", "top", "bottom")
        convolved = body.operation(
            "conv2d",
            [images, body.constant("kernel", kernel), body.constant("kernel_bias", kernel_bias)],
            (batch, SIDE, SIDE, CHANNELS),
            {
                **_both("stride", 1),
                **_both("dilation", 1),
                "groups": "1 : si32",
                **{f"padding_{side}": f"{KERNEL // 2} : si32" for side in sides},
            },
        )
        positive = body.elementwise("relu", [convolved], convolved.shape)
        pooled = body.operation(
            "max_pool2d",
            [positive],
            (batch, HALF, HALF, CHANNELS),
            {
                **_both("kernel", 2),
                **_both("stride", 2),
                **_both("dilation", 1),
                "ceil_mode": "false",
                **{f"padding_{side}": "0 : si32" for side in sides},
            },
        )
        shape = f"[{batch} : i32, {FEATURES} : i32]"
        rows = body.operation("reshape", [pooled], (batch, FEATURES), {"shape": shape})
        return body.function(body.softmax(body.dense(rows, weight, bias, "")))

    def _features(self, parameters: list[Floats], images: Floats) -> tuple[Floats, Floats, Floats]:
        """The 3x3 patch around each pixel, the activations, and their maxima in 2x2 windows."""
        kernel, kernel_bias, _, _ = parameters
        padded = np.pad(images.reshape(-1, SIDE, SIDE), ((0, 0), (1, 1), (1, 1)))
        patches = np.stack(
            [padded[:, y : y + SIDE, x : x + SIDE] for y in range(KERNEL) for x in range(KERNEL)],
            axis=-1,
        )
        activations = np.maximum(patches @ kernel.reshape(CHANNELS, -1).T + kernel_bias, 0)
        windows = activations.reshape(-1, HALF, 2, HALF, 2, CHANNELS)
        return patches, activations, windows.max(axis=(2, 4))


def _enlarged(features: Floats) -> Floats:
    """Each feature at the four positions of its window."""
    return features.repeat(2, axis=1).repeat(2, axis=2)


def _both(stem: str, value: int) -> dict[str, str]:
    """A parameter for the height and the width."""
    return {f"{stem}_{axis}": f"{value} : si32" for axis in ("height", "width")}
