"""A transformer in StableHLO, operation by operation as JAX writes it, and the same in NumPy.

A test compares the operations with those that JAX writes.

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
MINUS_INFINITY = "0xFF800000"
NAN = "0x7FC00000"

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
    vocabulary: int = 1000

    @property
    def head_width(self) -> int:
        """Numbers per position that one head looks at."""
        return self.width // self.heads

    @property
    def input_shape(self) -> Shape:
        """The shape between layers."""
        return (self.batch, self.sequence, self.width)

    @property
    def score_shape(self) -> Shape:
        """The shape of the scores of attention."""
        return (self.batch, self.heads, self.sequence, self.sequence)

    @property
    def table_shapes(self) -> list[Shape]:
        """Shapes of the vectors of tokens and of positions."""
        return [(self.vocabulary, self.width), (2 * self.sequence, self.width)]

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


def type_of(shape: Sequence[int], element: str = "f32") -> str:
    """The type of a tensor."""
    return f"tensor<{''.join(f'{extent}x' for extent in shape)}{element}>"


class Writer:
    """Writes operations of one function."""

    def __init__(self, arguments: Sequence[tuple[Shape, str]]) -> None:
        """Start without operations; arguments have shapes and element types."""
        self.arguments = [f"%arg{i}" for i in range(len(arguments))]
        self.lines: list[str] = []
        self.shapes = {f"%arg{i}": shape for i, (shape, _) in enumerate(arguments)}
        self.elements = {f"%arg{i}": element for i, (_, element) in enumerate(arguments)}

    def function(self, name: str, result: str, visibility: str = "private") -> str:
        """The function with all operations."""
        arguments = ", ".join(f"{each}: {self.type(each)}" for each in self.arguments)
        lines = [*self.lines, f"    return {result} : {self.type(result)}"]
        head = f"  func.func {visibility} @{name}({arguments}) -> {self.type(result)} {{"
        return "\n".join([head, *lines, "  }\n"])

    def type(self, name: str) -> str:
        """The type of a value."""
        return type_of(self.shapes[name], self.elements[name])

    def op(self, text: str, shape: Shape, element: str = "f32") -> str:
        """Add an operation with one result; its name."""
        name = f"%{len(self.lines)}"
        self.lines.append(f"    {name} = {text}")
        self.shapes[name], self.elements[name] = shape, element
        return name

    def elementwise(self, name: str, *operands: str) -> str:
        """An operation on tensors of one type."""
        first = operands[0]
        text = f"stablehlo.{name} {', '.join(operands)} : {self.type(first)}"
        return self.op(text, self.shapes[first], self.elements[first])

    def call(self, name: str, *operands: str, shape: Shape, element: str = "f32") -> str:
        """A call of another function."""
        types = ", ".join(map(self.type, operands))
        text = f"call @{name}({', '.join(operands)}) : ({types}) -> {type_of(shape, element)}"
        return self.op(text, shape, element)

    def scalar(self, value: float | str, element: str = "f32") -> str:
        """A constant."""
        text = f"{value:e}" if isinstance(value, float) else value
        return self.op(f"stablehlo.constant dense<{text}> : {type_of((), element)}", (), element)

    def number(self, value: float | str, shape: Shape, element: str = "f32") -> str:
        """A number repeated to a shape."""
        return self.broadcast(self.scalar(value, element), (), shape)

    def broadcast(self, operand: str, dims: Sequence[int], shape: Shape) -> str:
        """An operand repeated to a shape."""
        element = self.elements[operand]
        return self.op(
            f"stablehlo.broadcast_in_dim {operand}, dims = {[*dims]} : "
            f"({self.type(operand)}) -> {type_of(shape, element)}",
            shape,
            element,
        )

    def reduce(self, kind: str, initial: float | str, operand: str) -> str:
        """A reduction over the last dimension."""
        kept = self.shapes[operand][:-1]
        start = self.scalar(initial)
        return self.op(
            f"stablehlo.reduce({operand} init: {start}) applies stablehlo.{kind} across "
            f"dimensions = [{len(kept)}] : ({self.type(operand)}, tensor<f32>) -> {type_of(kept)}",
            kept,
        )

    def kept(self, operand: str) -> str:
        """An operand with a last dimension of extent 1."""
        shape = self.shapes[operand]
        return self.broadcast(operand, range(len(shape)), (*shape, 1))

    def repeat(self, operand: str, shape: Shape) -> str:
        """An operand of the same rank, repeated to a shape."""
        return self.broadcast(operand, range(len(shape)), shape)

    def repeat_vector(self, operand: str, shape: Shape) -> str:
        """A vector along the last dimension, repeated to a shape."""
        last = len(shape) - 1
        row = self.broadcast(operand, [last], (*[1] * last, shape[-1]))
        return self.repeat(row, shape)

    def product(
        self, a: str, b: str, contracting: tuple[int, int], shape: Shape, batching: int = 0
    ) -> str:
        """A product over one dimension of each operand."""
        batch = f"batching_dims = {[*range(batching)]} x {[*range(batching)]}, " if batching else ""
        return self.op(
            f"stablehlo.dot_general {a}, {b}, {batch}contracting_dims = [{contracting[0]}] x "
            f"[{contracting[1]}], precision = [DEFAULT, DEFAULT] : "
            f"({self.type(a)}, {self.type(b)}) -> {type_of(shape)}",
            shape,
        )

    def compare(self, direction: str, a: str, b: str, kind: str = "SIGNED") -> str:
        """A comparison."""
        shape = self.shapes[a]
        types = f"({self.type(a)}, {self.type(b)}) -> {type_of(shape, 'i1')}"
        return self.op(f"stablehlo.compare {direction}, {a}, {b}, {kind} : {types}", shape, "i1")

    def select(self, condition: str, a: str, b: str) -> str:
        """One or the other."""
        types = f"{self.type(condition)}, {self.type(a)}"
        text = f"stablehlo.select {condition}, {a}, {b} : {types}"
        return self.op(text, self.shapes[a], self.elements[a])

    def convert(self, operand: str) -> str:
        """Floats from a tensor, even of floats."""
        shape = self.shapes[operand]
        types = f"({self.type(operand)}) -> {type_of(shape)}"
        return self.op(f"stablehlo.convert {operand} : {types}", shape)

    def reshape(self, operand: str, shape: Shape) -> str:
        """The same elements in another shape."""
        types = f"({self.type(operand)}) -> {type_of(shape)}"
        return self.op(f"stablehlo.reshape {operand} : {types}", shape)

    def transpose(self, operand: str, order: Sequence[int]) -> str:
        """Dimensions in another order."""
        shape = tuple(self.shapes[operand][i] for i in order)
        types = f"({self.type(operand)}) -> {type_of(shape)}"
        return self.op(f"stablehlo.transpose {operand}, dims = {[*order]} : {types}", shape)

    # Parts of a layer.

    def mean(self, x: str) -> str:
        """Mean over the last dimension, which is kept."""
        total = self.kept(self.reduce("add", 0.0, x))
        return self.elementwise(
            "divide", total, self.number(float(self.shapes[x][-1]), self.shapes[total])
        )

    def normalized(self, x: str, scale: str, bias: str) -> str:
        """Layer normalization."""
        shape = self.shapes[x]
        mean = self.mean(x)
        variance = self.call("_var", x, self.scalar("0", "i32"), shape=self.shapes[mean])
        centered = self.elementwise("subtract", x, self.repeat(mean, shape))
        shifted = self.elementwise("add", variance, self.number(EPSILON, self.shapes[variance]))
        factor = self.repeat(self.elementwise("rsqrt", shifted), shape)
        result = self.elementwise("multiply", centered, factor)
        result = self.elementwise("multiply", result, self.repeat_vector(scale, shape))
        return self.elementwise("add", result, self.repeat_vector(bias, shape))

    def dense(self, x: str, weight: str, bias: str) -> str:
        """A product with a matrix and a bias."""
        shape = (*self.shapes[x][:-1], self.shapes[weight][1])
        result = self.product(x, weight, (len(shape) - 1, 0), shape)
        return self.elementwise("add", result, self.repeat_vector(bias, shape))

    def softmax(self, x: str) -> str:
        """Exponentials scaled to the sum 1."""
        shape = self.shapes[x]
        largest = self.reduce("maximum", MINUS_INFINITY, x)
        least = self.number(MINUS_INFINITY, shape[:-1])
        largest = self.kept(self.elementwise("maximum", least, largest))
        power = self.elementwise(
            "exponential", self.elementwise("subtract", x, self.repeat(largest, shape))
        )
        total = self.kept(self.reduce("add", 0.0, power))
        return self.elementwise("divide", power, self.repeat(total, shape))

    def gelu(self, x: str) -> str:
        """The approximation with tanh."""
        shape = self.shapes[x]
        cube = self.elementwise("multiply", self.elementwise("multiply", x, x), x)
        cube = self.elementwise("multiply", self.number(0.044715, shape), cube)
        inner = self.elementwise("add", x, cube)
        inner = self.elementwise("multiply", self.number(GELU_SCALE, shape), inner)
        inner = self.elementwise("add", self.number(1.0, shape), self.elementwise("tanh", inner))
        return self.elementwise(
            "multiply", x, self.elementwise("multiply", self.number(0.5, shape), inner)
        )


def stablehlo_text(size: Size) -> str:
    """A module with the function `main` of a transformer, and the functions that it calls."""
    weights = [(shape, "f32") for shape in [*size.table_shapes, *size.layer_shapes() * size.layers]]
    writer = Writer([((size.batch, size.sequence), "i32"), *weights])
    tokens, words, places, *rest = writer.arguments
    x = _embedded(writer, size, tokens, words, places)
    mask = writer.number("true", (size.sequence, size.sequence), "i1")
    mask = writer.call("tril", mask, shape=writer.shapes[mask], element="i1")
    per_layer = len(size.layer_shapes())
    for start in range(0, len(rest), per_layer):
        x = _layer(writer, size, x, mask, rest[start : start + per_layer])
    functions = [writer.function("main", x, "public"), _tril(size), *_variance(size), _masked(size)]
    return f"module @transformer {{\n{''.join(functions)}}}\n"


def _embedded(writer: Writer, size: Size, tokens: str, words: str, places: str) -> str:
    """Vectors of tokens, which may be counted from the end, and of positions."""
    shape = writer.shapes[tokens]
    is_negative = writer.compare("LT", tokens, writer.number("0", shape, "i32"))
    shifted = writer.elementwise("add", tokens, writer.number(str(size.vocabulary), shape, "i32"))
    tokens = writer.kept(writer.select(is_negative, shifted, tokens))
    x = writer.op(
        f'"stablehlo.gather"({words}, {tokens}) <{{dimension_numbers = #stablehlo.gather<'
        "offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], "
        "index_vector_dim = 2>, indices_are_sorted = false, "
        f"slice_sizes = array<i64: 1, {size.width}>}}> : "
        f"({writer.type(words)}, {writer.type(tokens)}) -> {type_of(size.input_shape)}",
        size.input_shape,
    )
    rows = (size.sequence, size.width)
    places = writer.op(
        f"stablehlo.slice {places} [0:{rows[0]}, 0:{rows[1]}] : "
        f"({writer.type(places)}) -> {type_of(rows)}",
        rows,
    )
    places = writer.broadcast(places, [1, 2], (1, *rows))
    return writer.elementwise("add", x, writer.repeat(places, size.input_shape))


def _layer(writer: Writer, size: Size, x: str, mask: str, weights: Sequence[str]) -> str:
    scale1, bias1, wq, bq, wk, bk, wv, bv, wo, bo, scale2, bias2, w1, b1, w2, b2 = weights
    split = (size.batch, size.sequence, size.heads, size.head_width)
    normal = writer.normalized(x, scale1, bias1)
    q, k, v = (
        writer.transpose(writer.reshape(writer.dense(normal, w, b), split), (0, 2, 1, 3))
        for w, b in ((wq, bq), (wk, bk), (wv, bv))
    )
    square = size.score_shape
    k = writer.transpose(k, (0, 1, 3, 2))
    scores = writer.product(q, k, (3, 2), square, batching=2)
    factor = writer.number(math.sqrt(size.head_width), square)
    scores = writer.elementwise("divide", scores, factor)
    least = writer.scalar(MINUS_INFINITY)
    shares = writer.softmax(writer.call("_where_0", mask, scores, least, shape=square))
    heads = (size.batch, size.heads, size.sequence, size.head_width)
    mixed = writer.transpose(writer.product(shares, v, (3, 2), heads, batching=2), (0, 2, 1, 3))
    mixed = writer.reshape(mixed, writer.shapes[x])
    x = writer.elementwise("add", x, writer.dense(mixed, wo, bo))
    hidden = writer.gelu(writer.dense(writer.normalized(x, scale2, bias2), w1, b1))
    return writer.elementwise("add", x, writer.dense(hidden, w2, b2))


# The functions of jax.numpy that JAX calls.


def _tril(size: Size) -> str:
    shape = (size.sequence, size.sequence)
    writer = Writer([(shape, "i1")])
    rows = writer.op(f"stablehlo.iota dim = 0 : {type_of(shape, 'i32')}", shape, "i32")
    rows = writer.elementwise("add", rows, writer.number("0", shape, "i32"))
    columns = writer.op(f"stablehlo.iota dim = 1 : {type_of(shape, 'i32')}", shape, "i32")
    is_below = writer.compare("GE", rows, columns)
    no = writer.number("false", shape, "i1")
    return writer.function("tril", writer.select(is_below, "%arg0", no))


def _variance(size: Size) -> tuple[str, str]:
    writer = Writer([(size.input_shape, "f32"), ((), "i32")])
    mean = writer.repeat(writer.mean("%arg0"), size.input_shape)
    centered = writer.elementwise("subtract", "%arg0", mean)
    type_ = type_of(size.input_shape)
    square = writer.op(f"chlo.square {centered} : {type_} -> {type_}", size.input_shape)
    correction = writer.convert("%arg1")
    count = writer.elementwise("subtract", writer.scalar(float(size.width)), correction)
    total = writer.kept(writer.reduce("add", 0.0, square))
    shape = writer.shapes[total]
    variance = writer.elementwise("divide", total, writer.broadcast(count, (), shape))
    is_valid = writer.compare("GT", count, writer.scalar(0.0), "FLOAT")
    variance = writer.call("_where", is_valid, variance, writer.scalar(NAN), shape=shape)

    where = Writer([((), "i1"), (shape, "f32"), ((), "f32")])
    other = where.broadcast(where.convert("%arg2"), (), shape)
    chosen = where.select("%arg0", "%arg1", other)
    return writer.function("_var", variance), where.function("_where", chosen)


def _masked(size: Size) -> str:
    shape = size.score_shape
    writer = Writer([(shape[2:], "i1"), (shape, "f32"), ((), "f32")])
    other = writer.convert("%arg2")
    mask = writer.broadcast("%arg0", [2, 3], shape)
    other = writer.broadcast(other, (), shape)
    return writer.function("_where_0", writer.select(mask, "%arg1", other))


def random_inputs(size: Size, seed: int = 0) -> list[np.ndarray]:
    """Arguments of the program: tokens, matrices that keep sizes as they are, small biases."""
    rng = np.random.default_rng(seed)
    shape, vocabulary = (size.batch, size.sequence), size.vocabulary
    tokens = rng.integers(-vocabulary, vocabulary, shape, np.int32)
    tables = [rng.standard_normal(shape, np.float32) for shape in size.table_shapes]
    weights = [
        rng.standard_normal(shape, np.float32) / np.float32(math.sqrt(shape[0]))
        for shape in size.layer_shapes() * size.layers
    ]
    return [tokens, *tables, *weights]


def numpy_transformer(
    size: Size, tokens: np.ndarray, words: Array, places: Array, *weights: Array
) -> Array:
    """The same as somebody would write it with NumPy, operation by operation."""
    x = words[tokens] + places[: size.sequence]
    mask = np.tril(np.ones((size.sequence, size.sequence), np.bool_))
    split = (size.batch, size.sequence, size.heads, size.head_width)
    per_layer = len(size.layer_shapes())
    for layer in range(size.layers):
        scale1, bias1, wq, bq, wk, bk, wv, bv, wo, bo, scale2, bias2, w1, b1, w2, b2 = weights[
            layer * per_layer : (layer + 1) * per_layer
        ]
        normal = normalize(x, scale1, bias1)
        q, k, v = (
            (normal @ w + b).reshape(split).transpose(0, 2, 1, 3)
            for w, b in ((wq, bq), (wk, bk), (wv, bv))
        )
        scores = q @ k.swapaxes(2, 3) / np.float32(math.sqrt(size.head_width))
        scores = np.where(mask, scores, np.float32(-np.inf))
        powers = np.exp(scores - scores.max(3, keepdims=True))
        shares = powers / powers.sum(3, keepdims=True)
        x = x + ((shares @ v).transpose(0, 2, 1, 3).reshape(x.shape) @ wo + bo)
        hidden = normalize(x, scale2, bias2) @ w1 + b1
        inner = (hidden + hidden * hidden * hidden * np.float32(0.044715)) * np.float32(GELU_SCALE)
        x = x + (hidden * ((np.tanh(inner) + np.float32(1)) * np.float32(0.5)) @ w2 + b2)
    return x


def normalize(x: Array, scale: Array, bias: Array) -> Array:
    """Layer normalization with NumPy."""
    width = np.float32(x.shape[-1])
    centered = x - x.sum(-1, keepdims=True) / width
    variance = (centered * centered).sum(-1, keepdims=True) / width
    return centered * (1 / np.sqrt(variance + np.float32(EPSILON))) * scale + bias


if __name__ == "__main__":
    print(stablehlo_text(Size(int(sys.argv[1]) if len(sys.argv) > 1 else 12)), end="")
