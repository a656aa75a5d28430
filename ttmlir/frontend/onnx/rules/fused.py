"""Operators of onnxruntime's own domain that its optimizers make of several ones.

The package `onnx` has no schemas of them: `INPUTS` names their inputs, and rules know defaults.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ttmlir.arrays.array import Array, concatenate
from ttmlir.arrays.carriers import array_of
from ttmlir.composites import indexing, normalization
from ttmlir.composites.arithmetic import tanh_gelu
from ttmlir.frontend.onnx.call import Call, Rule
from ttmlir.frontend.onnx.elements import Tensor
from ttmlir.frontend.onnx.rules import contraction, elementwise, movement, window
from ttmlir.frontend.onnx.rules import indexing as indexing_rules


def attribute(call: Call, name: str, default: Any) -> Any:
    """An attribute, or the default that onnxruntime has for it."""
    return default if call[name] is None else call[name]


# -- activations -----------------------------------------------------------------------------------


def _fast_gelu(call: Call) -> Array:
    x, bias = call.array("X"), call.optional("bias")
    return tanh_gelu(x if bias is None else x + bias)


def _quick_gelu(call: Call) -> Array:
    return elementwise.swish(call.array("X"), float(attribute(call, "alpha", 1.702)))


def _activate(call: Call, x: Array) -> Array:
    """What the attribute `activation` says, with its numbers."""
    kind = str(attribute(call, "activation", ""))
    given = list(call["activation_params"] or ())
    for place, name in enumerate(("alpha", "beta")):
        if call[f"activation_{name}"] is not None and len(given) == place:
            given.append(call[f"activation_{name}"])

    def number(place: int, default: float) -> float:
        return float(given[place]) if place < len(given) else default

    functions: Mapping[str, Callable[[], Array]] = {
        "": lambda: x,
        "Clip": lambda: x.limit(number(0, -math.inf), number(1, math.inf)),
        "HardSigmoid": lambda: elementwise.hard_sigmoid(x, number(0, 0.2), number(1, 0.5)),
        "LeakyRelu": lambda: (x < 0).where(x * number(0, 0.01), x),
        "Relu": x.relu,
        "Sigmoid": x.sigmoid,
        "Tanh": x.tanh,
    }
    if kind not in functions:
        call.refuse(f"activation is '{kind}'; supported are {', '.join(sorted(functions)[1:])}")
    return functions[kind]()


# -- products --------------------------------------------------------------------------------------


def _matmul(call: Call) -> Array:
    """`alpha * A @ B`, of which either is transposed, also by its batches."""
    a, b = (_transposed(call, call.array(name), name) for name in ("A", "B"))
    product, alpha = a @ b, float(attribute(call, "alpha", 1))
    return product if alpha == 1 else product * alpha


def _transposed(call: Call, x: Array, name: str) -> Array:
    if call[f"transBatch{name}"] and x.rank > 2:
        x = x.permute([*range(1, x.rank - 1), 0, x.rank - 1])
    return x.transpose() if call[f"trans{name}"] and x.rank > 1 else x


def _convolve(call: Call) -> Array:
    found = window.RULES["Conv"](call.with_defaults(group=1, auto_pad="NOTSET"))
    other = call.optional("Z")
    return _activate(call, found if other is None else found + other)


def channels_first(x: Array) -> Array:
    """Images whose channels go last as those of the standard."""
    return x.permute((0, x.rank - 1, *range(1, x.rank - 1)))


def channels_last(x: Array) -> Array:
    """Images of the standard with their channels after the places."""
    return x.permute((0, *range(2, x.rank), 1))


def _with_channels_last(rule: Rule, *images: str) -> Rule:
    """A rule whose images and whose result have their channels last."""

    def swapped(call: Call) -> Array:
        inputs = {
            name: Tensor.of(channels_first(call.array(name))) for name in images if call.has(name)
        }
        return channels_last(rule(replace(call, inputs={**call.inputs, **inputs})))

    return swapped


def _pool_maxima(call: Call) -> Array:
    return window.RULES["MaxPool"](replace(call.with_defaults(auto_pad="NOTSET"), outputs=("y",)))


def _gemm(call: Call) -> Array:
    found = contraction.RULES["Gemm"](call.with_defaults(alpha=1.0, beta=1.0))
    return _activate(call, found)


def _distances(call: Call) -> Array:
    """Between all rows of two matrices."""
    kind = str(attribute(call, "metric", "sqeuclidean"))
    if kind not in ("sqeuclidean", "euclidean"):
        call.refuse(f"metric is '{kind}'; euclidean and sqeuclidean are supported")
    a, b = call.of_rank("A", 2), call.of_rank("B", 2)
    call.check_size((a.shape[0], b.shape[0], a.shape[1]), a.dtype)
    squares = (a.unsqueeze(1) - b.unsqueeze(0)).square().sum(2, keep=False)
    return squares.sqrt() if kind == "euclidean" else squares


# -- normalizations --------------------------------------------------------------------------------


def _epsilon(call: Call, default: float = 1e-12) -> float:
    return float(attribute(call, "epsilon", default))


def _sum_of(call: Call) -> Array:
    x = call.array("input") + call.array("skip")
    bias = call.optional("bias")
    return x if bias is None else x + bias


def _skip_layer_norm(call: Call) -> tuple[Array, Array, Array, Array]:
    x = _sum_of(call)
    value, mean, scale = normalization.layer_norm(x, 1, None, None, _epsilon(call))
    value = normalization.scale_channels(value, call.array("gamma"), call.optional("beta"))
    return value, mean, scale, x


def _skip_rms_norm(call: Call) -> tuple[Array, ...]:
    x = _sum_of(call)
    if call.is_used(1) or call.is_used(2):
        call.refuse("means and variances are not among the results that are supported")
    value = normalization.rms_norm(x, (x.rank - 1,), _epsilon(call)) * call.array("gamma")
    return value, x, x, x


def _rms_norm(call: Call) -> Array:
    """The norm of models before the standard had one."""
    x = call.array("X")
    dims = range(call.dim(x.rank, default=-1), x.rank)
    wide = x.cast("f32") if x.dtype in ("f16", "bf16") else x
    return normalization.rms_norm(wide, dims, _epsilon(call, 1e-5)).cast(x.dtype) * call.array(
        "scale"
    )


def _embed(call: Call) -> tuple[Array, Array, Array]:
    """The norm of the sum of the rows of words, positions and segments, and lengths by a mask."""
    words = call.of_rank("input_ids", 2)
    batch, length = words.shape
    found = indexing.take(call.array("word_embedding"), 0, words.cast("i64"))
    table, places = call.array("position_embedding"), call.optional("position_ids")
    if places is None:
        found = found + table.cut(0, 0, length).unsqueeze(0)
    else:
        found = found + indexing.take(table, 0, places.cast("i64"))
    segments = call.optional("segment_ids")
    if segments is not None:
        table = call.array("segment_embedding")
        found = found + indexing.take(table, 0, segments.cast("i64"))
    value, _, _ = normalization.layer_norm(found, 1, None, None, _epsilon(call))
    mask = call.optional("mask")
    lengths = call.fill(0, (batch,), "i32") if mask is None else mask.sum(1, keep=False)
    value = normalization.scale_channels(value, call.array("gamma"), call.array("beta"))
    return value, lengths.cast("i32"), found


# -- movement --------------------------------------------------------------------------------------


def _expand_dims(call: Call) -> Array:
    x, dim = call.array("X"), int(call.numbers("axis").reshape(-1)[0])
    return x.unsqueeze(call.dims(x.rank + 1, (dim,), "axis")[0])


def rotate(x: Array, cosines: Array, sines: Array, *, interleaved: bool) -> Array:
    """Pairs of the first elements of rows (..., width), turned; elements after them stay.

    Cosines and sines (..., pairs) broadcast. Pairs are halves, or neighbours if `interleaved`.
    """
    last, pairs = x.rank - 1, cosines.shape[-1]
    turned = x.cut(last, 0, 2 * pairs)
    apart = (*x.shape[:-1], pairs, 2) if interleaved else (*x.shape[:-1], 2, pairs)
    dim = last + 1 if interleaved else last
    first, second = (
        turned.reshape(apart).cut(dim, place, place + 1).reshape((*x.shape[:-1], pairs))
        for place in (0, 1)
    )
    parts = first * cosines - second * sines, second * cosines + first * sines
    found = concatenate([each.unsqueeze(dim) for each in parts], dim)
    found = found.reshape(turned.shape)
    rest = x.cut(last, 2 * pairs, x.shape[-1])
    return concatenate([found, rest], last) if rest.shape[-1] else found


def split_heads(call: Call, x: Array, heads: int) -> Array:
    """Rows (batch, length, heads * width) as (batch, heads, length, width)."""
    batch, length, width = x.shape
    if heads < 1 or width % heads:
        call.refuse(f"{width} features do not make {heads} heads")
    return x.reshape((batch, length, heads, width // heads)).permute((0, 2, 1, 3))


def read_turns(call: Call) -> list[Array]:
    """The tables of cosines and sines."""
    return [call.of_rank(f"{name}_cache", 2) for name in ("cos", "sin")]


def _rotary_embedding(call: Call) -> Array:
    x, tables = call.of_rank("input", 3, 4), read_turns(call)
    heads, width = int(attribute(call, "num_heads", 0)), x.shape[-1]
    if call["is_packed_batching"]:
        call.refuse("batches that are packed into one (is_packed_batching) are not supported")
    if x.rank == 3:
        rows = split_heads(call, x, heads or width // max(2 * tables[0].shape[1], 1))
    else:
        rows = x
    places = call.array("position_ids").cast("i64")
    if places.rank < 2:
        steps = array_of(np.arange(rows.shape[2]))
        places = places.reshape((1, 1)) + steps.reshape((1, rows.shape[2]))
    turns = [indexing.take(each, 0, places).unsqueeze(1).cast(x.dtype) for each in tables]
    found = rotate(rows, turns[0], turns[1], interleaved=bool(call["interleaved"]))
    return normalization.join_heads(found) if x.rank == 3 else found


def _with(rule: Rule, **defaults: Any) -> Rule:
    """The rule of an operator of the standard with the defaults of its attributes."""
    return lambda call: rule(call.with_defaults(**defaults))


RULES: dict[str, Rule] = {
    "BiasGelu": lambda call: (call.array("A") + call.array("B")).gelu(),
    "CDist": _distances,
    "EmbedLayerNormalization": _embed,
    "ExpandDims": _expand_dims,
    "FastGelu": _fast_gelu,
    "FusedConv": _convolve,
    "FusedGemm": _gemm,
    "FusedMatMul": _matmul,
    "GatherND": indexing_rules.RULES["GatherND"],
    "Gelu": lambda call: call.array("X").gelu(),
    "GridSample": _with(
        window.RULES["GridSample"], mode="bilinear", padding_mode="zeros", align_corners=0
    ),
    "Inverse": contraction.invert,
    "NhwcConv": _with_channels_last(_convolve, "X"),
    "NhwcFusedConv": _with_channels_last(_convolve, "X", "Z"),
    "NhwcMaxPool": _with_channels_last(_pool_maxima, "X"),
    "QuickGelu": _quick_gelu,
    "RotaryEmbedding": _rotary_embedding,
    "SkipLayerNormalization": _skip_layer_norm,
    "SkipSimplifiedLayerNormalization": _skip_rms_norm,
    "TransposeMatMul": _matmul,
    "Trilu": _with(movement.RULES["Trilu"], upper=1),
}
"""Rules by the names of operators of the domain `com.microsoft`."""

STANDARD_RULES: dict[str, Rule] = {"SimplifiedLayerNormalization": _rms_norm}
"""Rules of operators that onnxruntime adds to the standard's domain."""

INPUTS: dict[str, str] = {
    "BiasGelu": "A B",
    "CDist": "A B",
    "EmbedLayerNormalization": "input_ids segment_ids word_embedding position_embedding "
    "segment_embedding gamma beta mask position_ids",
    "ExpandDims": "X axis",
    "FastGelu": "X bias",
    "FusedConv": "X W B Z",
    "FusedGemm": "A B C",
    "FusedMatMul": "A B",
    "GatherND": "data indices",
    "Gelu": "X",
    "GridSample": "X grid",
    "Inverse": "X",
    "NhwcConv": "X W B",
    "NhwcFusedConv": "X W B Z",
    "NhwcMaxPool": "X",
    "QuickGelu": "X",
    "RotaryEmbedding": "input position_ids cos_cache sin_cache",
    "SimplifiedLayerNormalization": "X scale",
    "SkipLayerNormalization": "input skip gamma beta bias",
    "SkipSimplifiedLayerNormalization": "input skip gamma bias",
    "TransposeMatMul": "A B",
    "Trilu": "input k",
}
"""Names of inputs, in their order."""
