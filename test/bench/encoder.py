"""Layers of an encoder in StableHLO: attention and a perceptron, each after a norm.

    python test/bench/encoder.py 12 > encoder.mlir

Unlike the transformer of `transformer.py` it is in bf16, without embedding and mask, and its norms
are written in operations. Weights are arguments of the program.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence

import numpy as np
from ml_dtypes import bfloat16
from transformer import EPSILON, GELU_SCALE, Array, Size, Writer, normalize

BLOCK = Size(1, sequence=512, width=768, heads=12)
"""The layer that is measured."""


class EncoderWriter(Writer):
    """Writes operations of an encoder."""

    def normalized(self, x: str, scale: str, bias: str) -> str:
        """Layer normalization in operations, without a function."""
        shape = self.shapes[x]
        centered = self.elementwise("subtract", x, self.repeat(self.mean(x), shape))
        variance = self.mean(self.elementwise("multiply", centered, centered))
        shifted = self.elementwise("add", variance, self.number(EPSILON, self.shapes[variance]))
        factor = self.repeat(self.elementwise("rsqrt", shifted), shape)
        result = self.elementwise("multiply", centered, factor)
        result = self.elementwise("multiply", result, self.repeat_vector(scale, shape))
        return self.elementwise("add", result, self.repeat_vector(bias, shape))

    def layer(self, size: Size, x: str, weights: Sequence[str]) -> str:
        """One layer; `weights` are in the order of `Size.layer_shapes`."""
        scale1, bias1, wq, bq, wk, bk, wv, bv, wo, bo, scale2, bias2, w1, b1, w2, b2 = weights
        split = (size.batch, size.sequence, size.heads, size.head_width)
        normal = self.normalized(x, scale1, bias1)
        q, k, v = (
            self.transpose(self.reshape(self.dense(normal, w, b), split), (0, 2, 1, 3))
            for w, b in ((wq, bq), (wk, bk), (wv, bv))
        )
        k = self.transpose(k, (0, 1, 3, 2))
        scores = self.product(q, k, (3, 2), size.score_shape, batching=2)
        factor = self.number(1 / math.sqrt(size.head_width), size.score_shape)
        shares = self.softmax(self.elementwise("multiply", scores, factor))
        heads = (size.batch, size.heads, size.sequence, size.head_width)
        mixed = self.transpose(self.product(shares, v, (3, 2), heads, batching=2), (0, 2, 1, 3))
        mixed = self.reshape(mixed, self.shapes[x])
        x = self.elementwise("add", x, self.dense(mixed, wo, bo))
        hidden = self.gelu(self.dense(self.normalized(x, scale2, bias2), w1, b1))
        return self.elementwise("add", x, self.dense(hidden, w2, b2))


def encoder_text(size: Size) -> str:
    """A module with the function `main` of the layers."""
    shapes = [size.input_shape, *size.layer_shapes() * size.layers]
    writer = EncoderWriter([(shape, "f32") for shape in shapes])
    x, *weights = writer.arguments
    per_layer = len(size.layer_shapes())
    for start in range(0, len(weights), per_layer):
        x = writer.layer(size, x, weights[start : start + per_layer])
    text = f"module @encoder {{\n{writer.function('main', x, 'public')}}}\n"
    # The only number that is spelled in bits is minus infinity, whose upper half is bf16's.
    return text.replace("0xFF800000", "0xFF80").replace("f32", "bf16")


def random_inputs(size: Size, seed: int = 0) -> list[np.ndarray]:
    """Arguments of the program: matrices keep the size of numbers, scales and biases are small."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(size.input_shape).astype(np.float32)
    weights = [
        rng.standard_normal(shape).astype(np.float32) / np.float32(math.sqrt(shape[0]))
        for shape in size.layer_shapes() * size.layers
    ]
    return [each.astype(bfloat16) for each in (x, *weights)]


def numpy_encoder(size: Size, x: Array, *weights: Array) -> Array:
    """The same as somebody would write it with NumPy, in float32."""
    x, *weights = (each.astype(np.float32) for each in (x, *weights))
    split = (size.batch, size.sequence, size.heads, size.head_width)
    per_layer = len(size.layer_shapes())
    for start in range(0, len(weights), per_layer):
        scale1, bias1, wq, bq, wk, bk, wv, bv, wo, bo, scale2, bias2, w1, b1, w2, b2 = weights[
            start : start + per_layer
        ]
        normal = normalize(x, scale1, bias1)
        q, k, v = (
            (normal @ w + b).reshape(split).transpose(0, 2, 1, 3)
            for w, b in ((wq, bq), (wk, bk), (wv, bv))
        )
        scores = q @ k.swapaxes(2, 3) / np.float32(math.sqrt(size.head_width))
        powers = np.exp(scores - scores.max(3, keepdims=True))
        shares = powers / powers.sum(3, keepdims=True)
        x = x + ((shares @ v).transpose(0, 2, 1, 3).reshape(x.shape) @ wo + bo)
        hidden = normalize(x, scale2, bias2) @ w1 + b1
        inner = (hidden + hidden**3 * np.float32(0.044715)) * np.float32(GELU_SCALE)
        x = x + (hidden * ((np.tanh(inner) + np.float32(1)) * np.float32(0.5)) @ w2 + b2)
    return x


if __name__ == "__main__":
    layers = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    print(encoder_text(Size(layers, sequence=512, width=768, heads=12)), end="")
