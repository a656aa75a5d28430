"""A transformer in StableHLO, operation by operation as JAX writes it, and the same in NumPy.

    python test/bench/transformer.py 12 > transformer.mlir

Weights are arguments of the program. No framework is needed.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[np.float32]]
Shape = tuple[int, ...]

EPSILON = 1e-5
GELU_SCALE = math.sqrt(2 / math.pi)


@dataclass(frozen=True)
class Size:
    """Extents of a transformer."""

    layers: int
    batch: int = 1
    sequence: int = 128
    width: int = 512
    heads: int = 8

    @property
    def head_width(self) -> int:
        """Numbers per position that one head looks at."""
        return self.width // self.heads

    def layer_shapes(self) -> list[Shape]:
        """Shapes of the weights of a layer, in the order of the arguments."""
        width = self.width
        projections = [(width, width), (width,)] * 4
        return [
            *[(width,)] * 2,
            *projections,
            *[(width,)] * 2,
            *[(width, 4 * width), (4 * width,), (4 * width, width), (width,)],
        ]


def type_of(shape: Sequence[int]) -> str:
    """The type of a tensor of floats."""
    return f"tensor<{''.join(f'{extent}x' for extent in shape)}f32>"


class Writer:
    """Writes operations of one function."""

    def __init__(self) -> None:
        """Start without operations."""
        self.lines: list[str] = []
        self.shapes: dict[str, Shape] = {}

    def op(self, text: str, shape: Shape) -> str:
        """Add an operation with one result; its name."""
        name = f"%{len(self.lines)}"
        self.lines.append(f"    {name} = {text}")
        self.shapes[name] = shape
        return name

    def elementwise(self, name: str, *operands: str) -> str:
        """An operation on tensors of one shape."""
        shape = self.shapes[operands[0]]
        return self.op(f"stablehlo.{name} {', '.join(operands)} : {type_of(shape)}", shape)

    def number(self, value: float, shape: Shape) -> str:
        """A number repeated to a shape."""
        scalar = self.op(f"stablehlo.constant dense<{value:e}> : tensor<f32>", ())
        return self.broadcast(scalar, (), shape)

    def broadcast(self, operand: str, dims: Sequence[int], shape: Shape) -> str:
        """An operand repeated to a shape."""
        return self.op(
            f"stablehlo.broadcast_in_dim {operand}, dims = {[*dims]} : "
            f"({type_of(self.shapes[operand])}) -> {type_of(shape)}",
            shape,
        )

    def reduce(self, kind: str, initial: str, operand: str) -> str:
        """A reduction over the last dimension, which is kept."""
        shape = self.shapes[operand]
        kept = shape[:-1]
        start = self.op(f"stablehlo.constant dense<{initial}> : tensor<f32>", ())
        reduced = self.op(
            f"stablehlo.reduce({operand} init: {start}) applies stablehlo.{kind} across "
            f"dimensions = [{len(kept)}] : ({type_of(shape)}, tensor<f32>) -> {type_of(kept)}",
            kept,
        )
        return self.broadcast(reduced, range(len(kept)), (*kept, 1))

    def repeat(self, operand: str, extent: int) -> str:
        """An operand whose last extent is 1, repeated along it."""
        shape = self.shapes[operand]
        return self.broadcast(operand, range(len(shape)), (*shape[:-1], extent))

    def product(
        self, a: str, b: str, contracting: tuple[int, int], shape: Shape, batching: int = 0
    ) -> str:
        """A product over one dimension of each operand."""
        batch = f"batching_dims = {[*range(batching)]} x {[*range(batching)]}, " if batching else ""
        return self.op(
            f"stablehlo.dot_general {a}, {b}, {batch}contracting_dims = [{contracting[0]}] x "
            f"[{contracting[1]}] : ({type_of(self.shapes[a])}, {type_of(self.shapes[b])}) -> "
            f"{type_of(shape)}",
            shape,
        )

    def reshape(self, operand: str, shape: Shape) -> str:
        """The same elements in another shape."""
        source = type_of(self.shapes[operand])
        return self.op(f"stablehlo.reshape {operand} : ({source}) -> {type_of(shape)}", shape)

    def transpose(self, operand: str, order: Sequence[int]) -> str:
        """Dimensions in another order."""
        shape = tuple(self.shapes[operand][i] for i in order)
        source = type_of(self.shapes[operand])
        return self.op(
            f"stablehlo.transpose {operand}, dims = {[*order]} : ({source}) -> {type_of(shape)}",
            shape,
        )

    # Parts of a layer.

    def normalized(self, x: str, scale: str, bias: str) -> str:
        """Layer normalization."""
        shape = self.shapes[x]
        width = shape[-1]
        mean = self.elementwise("divide", *self._sum_and_count(x))
        centered = self.elementwise("subtract", x, self.repeat(mean, width))
        square = self.elementwise("multiply", centered, centered)
        variance = self.elementwise("divide", *self._sum_and_count(square))
        shifted = self.elementwise("add", variance, self.number(EPSILON, self.shapes[variance]))
        factor = self.repeat(self.elementwise("rsqrt", shifted), width)
        result = self.elementwise("multiply", centered, factor)
        last = [len(shape) - 1]
        result = self.elementwise("multiply", result, self.broadcast(scale, last, shape))
        return self.elementwise("add", result, self.broadcast(bias, last, shape))

    def _sum_and_count(self, x: str) -> tuple[str, str]:
        total = self.reduce("add", "0.0", x)
        return total, self.number(self.shapes[x][-1], self.shapes[total])

    def dense(self, x: str, weight: str, bias: str) -> str:
        """A product with a matrix and a bias."""
        shape = (*self.shapes[x][:-1], self.shapes[weight][1])
        result = self.product(x, weight, (len(shape) - 1, 0), shape)
        return self.elementwise("add", result, self.broadcast(bias, [len(shape) - 1], shape))

    def softmax(self, x: str) -> str:
        """Exponentials scaled to the sum 1."""
        extent = self.shapes[x][-1]
        largest = self.reduce("maximum", "0xFF800000", x)
        power = self.elementwise(
            "exponential", self.elementwise("subtract", x, self.repeat(largest, extent))
        )
        total = self.reduce("add", "0.0", power)
        return self.elementwise("divide", power, self.repeat(total, extent))

    def gelu(self, x: str) -> str:
        """The approximation with tanh."""
        shape = self.shapes[x]
        cube = self.elementwise("multiply", self.elementwise("multiply", x, x), x)
        cube = self.elementwise("multiply", cube, self.number(0.044715, shape))
        inner = self.elementwise("add", x, cube)
        inner = self.elementwise("multiply", inner, self.number(GELU_SCALE, shape))
        inner = self.elementwise("add", self.elementwise("tanh", inner), self.number(1, shape))
        return self.elementwise(
            "multiply", x, self.elementwise("multiply", inner, self.number(0.5, shape))
        )


def stablehlo_text(size: Size) -> str:
    """A module with the function `main` of a transformer."""
    writer = Writer()
    shapes = [(size.batch, size.sequence, size.width), *size.layer_shapes() * size.layers]
    names = [f"%arg{i}" for i in range(len(shapes))]
    writer.shapes.update(zip(names, shapes, strict=True))
    x, per_layer = names[0], len(size.layer_shapes())
    for layer in range(size.layers):
        x = _layer(writer, size, x, names[1 + layer * per_layer : 1 + (layer + 1) * per_layer])
    arguments = ", ".join(f"{n}: {type_of(s)}" for n, s in zip(names, shapes, strict=True))
    result = type_of(shapes[0])
    body = "\n".join(writer.lines)
    return (
        f"module @transformer {{\n  func.func public @main({arguments}) -> {result} {{\n{body}\n"
        f"    return {x} : {result}\n  }}\n}}\n"
    )


def _layer(writer: Writer, size: Size, x: str, weights: Sequence[str]) -> str:
    scale1, bias1, wq, bq, wk, bk, wv, bv, wo, bo, scale2, bias2, w1, b1, w2, b2 = weights
    split = (size.batch, size.sequence, size.heads, size.head_width)
    normal = writer.normalized(x, scale1, bias1)
    q, k, v = (
        writer.transpose(writer.reshape(writer.dense(normal, w, b), split), (0, 2, 1, 3))
        for w, b in ((wq, bq), (wk, bk), (wv, bv))
    )
    square = (size.batch, size.heads, size.sequence, size.sequence)
    scores = writer.product(q, k, (3, 3), square, batching=2)
    factor = writer.number(1 / math.sqrt(size.head_width), square)
    shares = writer.softmax(writer.elementwise("multiply", scores, factor))
    heads = (size.batch, size.heads, size.sequence, size.head_width)
    mixed = writer.transpose(writer.product(shares, v, (3, 2), heads, batching=2), (0, 2, 1, 3))
    mixed = writer.reshape(mixed, writer.shapes[x])
    x = writer.elementwise("add", x, writer.dense(mixed, wo, bo))
    hidden = writer.gelu(writer.dense(writer.normalized(x, scale2, bias2), w1, b1))
    return writer.elementwise("add", x, writer.dense(hidden, w2, b2))


def random_inputs(size: Size, seed: int = 0) -> list[Array]:
    """Arguments of the program: matrices that keep sizes as they are, small biases."""
    rng = np.random.default_rng(seed)
    shapes = [(size.batch, size.sequence, size.width), *size.layer_shapes() * size.layers]
    return [
        rng.standard_normal(shape, np.float32)
        * np.float32(1 if len(shape) == 3 else 1 / math.sqrt(shape[0]))
        for shape in shapes
    ]


def numpy_transformer(size: Size, x: Array, *weights: Array) -> Array:
    """The same as somebody would write it with NumPy, operation by operation."""
    split = (size.batch, size.sequence, size.heads, size.head_width)
    per_layer = len(size.layer_shapes())
    for layer in range(size.layers):
        scale1, bias1, wq, bq, wk, bk, wv, bv, wo, bo, scale2, bias2, w1, b1, w2, b2 = weights[
            layer * per_layer : (layer + 1) * per_layer
        ]
        normal = _normalized(x, scale1, bias1)
        q, k, v = (
            (normal @ w + b).reshape(split).transpose(0, 2, 1, 3)
            for w, b in ((wq, bq), (wk, bk), (wv, bv))
        )
        scores = q @ k.swapaxes(2, 3) * np.float32(1 / math.sqrt(size.head_width))
        powers = np.exp(scores - scores.max(3, keepdims=True))
        shares = powers / powers.sum(3, keepdims=True)
        x = x + ((shares @ v).transpose(0, 2, 1, 3).reshape(x.shape) @ wo + bo)
        hidden = _normalized(x, scale2, bias2) @ w1 + b1
        inner = (hidden + hidden * hidden * hidden * np.float32(0.044715)) * np.float32(GELU_SCALE)
        x = x + (hidden * ((np.tanh(inner) + np.float32(1)) * np.float32(0.5)) @ w2 + b2)
    return x


def _normalized(x: Array, scale: Array, bias: Array) -> Array:
    width = np.float32(x.shape[-1])
    centered = x - x.sum(-1, keepdims=True) / width
    variance = (centered * centered).sum(-1, keepdims=True) / width
    return centered * (1 / np.sqrt(variance + np.float32(EPSILON))) * scale + bias


if __name__ == "__main__":
    print(stablehlo_text(Size(int(sys.argv[1]) if len(sys.argv) > 1 else 12)), end="")
