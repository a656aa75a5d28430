"""Programs of JAX and torch whose scripts were run on the real ttnn library; see `card.py`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import torch
from jax import lax
from torch import nn

Program = tuple[Callable[..., Any], tuple[Any, ...]]
_MAKERS: dict[str, Callable[[np.random.Generator], Program]] = {}
_BF16 = jnp.bfloat16


def _program(
    make: Callable[[np.random.Generator], Program],
) -> Callable[[np.random.Generator], Program]:
    _MAKERS[make.__name__.strip("_")] = make
    return make


def program_names() -> list[str]:
    """Names of all programs."""
    return [*_MAKERS]


def make_program(name: str) -> Program:
    """A function or a module, and its arguments: the same ones each time."""
    torch.manual_seed(3)
    return _MAKERS[name](np.random.default_rng(7))


def _normal(generator: np.random.Generator, *shape: int, dtype: Any = _BF16) -> Any:
    return jnp.asarray(generator.normal(size=shape), dtype)


def _positive(generator: np.random.Generator, *shape: int, dtype: Any = _BF16) -> Any:
    return jnp.asarray(generator.uniform(0.3, 2.0, size=shape), dtype)


def _integers(generator: np.random.Generator, most: int, *shape: int) -> Any:
    return jnp.asarray(generator.integers(0, most, size=shape), jnp.int32)


def _elementwise(
    name: str, function: Callable[..., Any], *kinds: str, shape: tuple[int, ...] = (33, 70)
) -> None:
    """A program of operands of the same shape: normal, positive or whole numbers of a type."""

    def make(generator: np.random.Generator) -> Program:
        def operand(kind: str) -> Any:
            if kind == "int":
                return _integers(generator, 50, *shape)
            draw = _positive if kind.startswith("+") else _normal
            return draw(
                generator, *shape, dtype={"bf16": _BF16, "f32": jnp.float32}[kind[-4:].lstrip("+")]
            )

        return function, tuple(map(operand, kinds))

    _MAKERS[name] = make


_elementwise("add_f32", lambda a, b: a + b, "f32", "f32")
_elementwise("arithmetic", lambda a, b: (a + b) * (a - b) / b, "bf16", "+bf16")
_elementwise("exponentials", lambda a, b: jnp.exp(a) + jnp.log(b), "bf16", "+bf16")
_elementwise("roots", lambda a: jnp.sqrt(a) + lax.rsqrt(a), "+bf16")
_elementwise("trigonometry", lambda a: jnp.sin(a) + jnp.cos(a), "bf16")
_elementwise("tanh", jnp.tanh, "bf16")
_elementwise("sigmoid", jax.nn.sigmoid, "bf16")
_elementwise("gelu", jax.nn.gelu, "bf16")
_elementwise("silu", jax.nn.silu, "bf16")
_elementwise("relu_and_leaky_relu", lambda a: jax.nn.relu(a) + jax.nn.leaky_relu(a), "bf16")
_elementwise("erf", jax.scipy.special.erf, "bf16")
_elementwise("power", lambda a: a**3, "bf16")
_elementwise("power_of_tensors", jnp.power, "+bf16", "bf16")
_elementwise("absolute_and_sign", lambda a: jnp.abs(a) + jnp.sign(a), "bf16")
_elementwise("rounding", lambda a: jnp.floor(a) + jnp.ceil(a), "bf16")
_elementwise(
    "maximum_minimum", lambda a, b: jnp.maximum(a, b) - jnp.minimum(a, 0.5), "bf16", "bf16"
)
_elementwise("clip", lambda a: jnp.clip(a, -0.5, 0.75), "bf16")
_elementwise("where", lambda a, b: jnp.where(a > b, a, b * 2), "bf16", "bf16")
_elementwise("comparisons", lambda a, b: (a < b) & (a != 0) | (b >= 1), "bf16", "bf16")
_elementwise("integers_sum", lambda a, b: a + b, "int", "int")
_elementwise("integers_bits", lambda a, b: (a & b) | (a ^ 5), "int", "int")
_elementwise("casts", lambda a, b: a.astype(jnp.float32) + b, "int", "f32")
_elementwise("remainder", lambda a, b: a % b, "bf16", "+bf16")
_elementwise("expm1_log1p", lambda a, b: jnp.expm1(a) + jnp.log1p(b), "bf16", "+bf16")
_elementwise("tangent", lambda a: jnp.tan(a * 0.5), "bf16")
_elementwise("angles", jnp.arctan2, "bf16", "+bf16")
_elementwise("cube_root", jnp.cbrt, "bf16")
_elementwise("whole", jnp.round, "bf16")
_elementwise("is_finite", lambda a: jnp.isfinite(a / jnp.maximum(a, 0)), "bf16")
_elementwise("negate_f32", lambda a: -a, "f32")
_elementwise("subtract_f32", lambda a, b: (a - b) * a, "f32", "f32")
_elementwise("exponential_f32", jnp.exp, "f32")
_elementwise("integers_products", lambda a, b: a * b - 7, "int", "int")
_elementwise("integers_division", lambda a: a // 3, "int")
_elementwise("integers_shift", lambda a: (a << 2) | (a >> 1), "int")
_elementwise("integers_order", lambda a, b: jnp.where(a > b, a, -b), "int", "int")
_elementwise("logic", lambda a, b: jnp.logical_xor(a > 0, ~(b > 0)), "bf16", "bf16")
_elementwise("rank_4", lambda a, b: a * b + 1, "bf16", "bf16", shape=(2, 3, 5, 37))


@_program
def _broadcast(generator: np.random.Generator) -> Program:
    return lambda a, b: a + b, (_normal(generator, 33, 1), _normal(generator, 70))


@_program
def _matmul(generator: np.random.Generator) -> Program:
    return jnp.matmul, (_normal(generator, 33, 70), _normal(generator, 70, 50))


@_program
def _matmul_f32(generator: np.random.Generator) -> Program:
    f32 = jnp.float32
    return jnp.matmul, (
        _normal(generator, 33, 70, dtype=f32),
        _normal(generator, 70, 50, dtype=f32),
    )


@_program
def _matmul_batched(generator: np.random.Generator) -> Program:
    return jnp.matmul, (_normal(generator, 3, 33, 70), _normal(generator, 3, 70, 41))


@_program
def _einsum(generator: np.random.Generator) -> Program:
    def contract(a: Any, b: Any) -> Any:
        return jnp.einsum("bqhd,bkhd->bhqk", a, b)

    return contract, (_normal(generator, 2, 9, 3, 40), _normal(generator, 2, 7, 3, 40))


@_program
def _softmax(generator: np.random.Generator) -> Program:
    return lambda x: jax.nn.softmax(x, axis=-1), (_normal(generator, 33, 70),)


@_program
def _softmax_over_rows(generator: np.random.Generator) -> Program:
    return lambda x: jax.nn.softmax(x, axis=0), (_normal(generator, 33, 70),)


@_program
def _log_softmax(generator: np.random.Generator) -> Program:
    return lambda x: jax.nn.log_softmax(x, axis=-1), (_normal(generator, 33, 70),)


@_program
def _layer_norm(generator: np.random.Generator) -> Program:
    module = nn.LayerNorm(70).bfloat16()
    return module, (torch.randn(33, 70).bfloat16(),)


@_program
def _layer_norm_f32(generator: np.random.Generator) -> Program:
    return nn.LayerNorm(70), (torch.randn(33, 70),)


@_program
def _rms_norm(generator: np.random.Generator) -> Program:
    return nn.RMSNorm(70).bfloat16(), (torch.randn(33, 70).bfloat16(),)


@_program
def _batch_norm(generator: np.random.Generator) -> Program:
    return nn.BatchNorm2d(5).bfloat16().eval(), (torch.randn(2, 5, 7, 9).bfloat16(),)


@_program
def _group_norm(generator: np.random.Generator) -> Program:
    return nn.GroupNorm(2, 6).bfloat16(), (torch.randn(2, 6, 7, 9).bfloat16(),)


@_program
def _reduce_sum(generator: np.random.Generator) -> Program:
    return lambda x: x.sum(axis=1), (_normal(generator, 33, 70),)


@_program
def _reduce_mean_rows(generator: np.random.Generator) -> Program:
    return lambda x: x.mean(axis=0, keepdims=True), (_normal(generator, 33, 70),)


@_program
def _reduce_max(generator: np.random.Generator) -> Program:
    return lambda x: x.max(axis=-1), (_normal(generator, 33, 70),)


@_program
def _reduce_all(generator: np.random.Generator) -> Program:
    return lambda x: (x.sum(), x.min()), (_normal(generator, 33, 70),)


@_program
def _reduce_product(generator: np.random.Generator) -> Program:
    return lambda x: x.prod(axis=1), (_positive(generator, 33, 7),)


@_program
def _variance(generator: np.random.Generator) -> Program:
    return lambda x: x.var(axis=-1), (_normal(generator, 33, 70),)


@_program
def _argmax(generator: np.random.Generator) -> Program:
    return lambda x: jnp.argmax(x, axis=-1), (_normal(generator, 33, 70),)


@_program
def _sort(generator: np.random.Generator) -> Program:
    return lambda x: jnp.sort(x, axis=-1), (_normal(generator, 33, 70),)


@_program
def _topk(generator: np.random.Generator) -> Program:
    def largest(x: torch.Tensor) -> torch.Tensor:
        return torch.topk(x, 5, dim=-1).values

    return largest, (torch.randn(33, 70).bfloat16(),)


@_program
def _cumsum(generator: np.random.Generator) -> Program:
    return lambda x: jnp.cumsum(x, axis=1), (_normal(generator, 33, 20),)


@_program
def _cumsum_torch(generator: np.random.Generator) -> Program:
    return lambda x: torch.cumsum(x, 1), (torch.randn(33, 20).bfloat16(),)


@_program
def _transpose(generator: np.random.Generator) -> Program:
    return jnp.transpose, (_normal(generator, 33, 70),)


@_program
def _permute(generator: np.random.Generator) -> Program:
    return lambda x: jnp.transpose(x, (0, 2, 3, 1)), (_normal(generator, 2, 5, 7, 33),)


@_program
def _reshape(generator: np.random.Generator) -> Program:
    return lambda x: x.reshape(14, 165), (_normal(generator, 33, 70),)


@_program
def _concatenate(generator: np.random.Generator) -> Program:
    def join(a: Any, b: Any) -> Any:
        return jnp.concatenate([a, b], axis=1)

    return join, (_normal(generator, 33, 70), _normal(generator, 33, 7))


@_program
def _slice(generator: np.random.Generator) -> Program:
    return lambda x: x[3:20, 5:61:2], (_normal(generator, 33, 70),)


@_program
def _dynamic_slice(generator: np.random.Generator) -> Program:
    def take(x: Any, start: Any) -> Any:
        return lax.dynamic_slice_in_dim(x, start, 8, axis=0)

    return take, (_normal(generator, 33, 70), jnp.int32(5))


@_program
def _pad(generator: np.random.Generator) -> Program:
    return lambda x: jnp.pad(x, ((0, 3), (0, 5))), (_normal(generator, 33, 70),)


@_program
def _tile(generator: np.random.Generator) -> Program:
    return lambda x: jnp.tile(x, (2, 3)), (_normal(generator, 5, 33),)


@_program
def _reverse(generator: np.random.Generator) -> Program:
    return lambda x: x[::-1], (_normal(generator, 33, 70),)


@_program
def _iota(generator: np.random.Generator) -> Program:
    def add(x: Any) -> Any:
        return x + jnp.arange(70, dtype=jnp.float32)

    return add, (_normal(generator, 33, 70, dtype=jnp.float32),)


@_program
def _triangle(generator: np.random.Generator) -> Program:
    return jnp.tril, (_normal(generator, 33, 33),)


@_program
def _embedding(generator: np.random.Generator) -> Program:
    return nn.Embedding(50, 70).bfloat16(), (torch.arange(33).reshape(3, 11) % 50,)


@_program
def _embedding_f32(generator: np.random.Generator) -> Program:
    return nn.Embedding(50, 70), (torch.arange(33).reshape(3, 11) % 50,)


@_program
def _gather(generator: np.random.Generator) -> Program:
    def pick(x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
        return torch.gather(x, 1, index)

    return pick, (torch.randn(33, 70).bfloat16(), torch.randint(0, 70, (33, 5)))


@_program
def _take_rows(generator: np.random.Generator) -> Program:
    return lambda x, i: x[i], (_normal(generator, 33, 70), _integers(generator, 33, 6))


@_program
def _scatter(generator: np.random.Generator) -> Program:
    def put(x: Any, i: Any, values: Any) -> Any:
        return x.at[i].set(values)

    return put, (_normal(generator, 33, 70), jnp.asarray([3, 17, 30]), _normal(generator, 3, 70))


@_program
def _scatter_add(generator: np.random.Generator) -> Program:
    def put(x: Any, i: Any, values: Any) -> Any:
        return x.at[i].add(values)

    f32 = jnp.float32
    rows = _normal(generator, 3, 70, dtype=f32)
    return put, (_normal(generator, 33, 70, dtype=f32), jnp.asarray([3, 17, 30]), rows)


@_program
def _one_hot(generator: np.random.Generator) -> Program:
    return lambda i: jax.nn.one_hot(i, 40), (_integers(generator, 40, 33),)


@_program
def _convolution(generator: np.random.Generator) -> Program:
    module = nn.Conv2d(3, 8, 3, stride=2, padding=1).bfloat16()
    return module, (torch.randn(1, 3, 17, 19).bfloat16(),)


@_program
def _convolution_1x1(generator: np.random.Generator) -> Program:
    module = nn.Conv2d(16, 32, 1, bias=False).bfloat16()
    return module, (torch.randn(1, 16, 9, 11).bfloat16(),)


@_program
def _convolution_1d(generator: np.random.Generator) -> Program:
    return nn.Conv1d(4, 8, 3).bfloat16(), (torch.randn(1, 4, 30).bfloat16(),)


@_program
def _convolution_depthwise(generator: np.random.Generator) -> Program:
    module = nn.Conv2d(32, 32, 3, padding=1, groups=32).bfloat16()
    return module, (torch.randn(1, 32, 9, 11).bfloat16(),)


@_program
def _convolution_transposed(generator: np.random.Generator) -> Program:
    module = nn.ConvTranspose2d(8, 4, 2, stride=2).bfloat16()
    return module, (torch.randn(1, 8, 7, 9).bfloat16(),)


@_program
def _convolution_transposed_same(generator: np.random.Generator) -> Program:
    def convolve(x: Any, w: Any) -> Any:
        return lax.conv_transpose(x, w, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))

    return convolve, (_normal(generator, 1, 8, 8, 16), _normal(generator, 3, 3, 16, 8))


@_program
def _max_pool(generator: np.random.Generator) -> Program:
    return nn.MaxPool2d(2), (torch.randn(1, 32, 8, 12).bfloat16(),)


@_program
def _average_pool(generator: np.random.Generator) -> Program:
    return nn.AvgPool2d(2), (torch.randn(1, 32, 8, 12).bfloat16(),)


@_program
def _global_pool(generator: np.random.Generator) -> Program:
    return nn.AdaptiveAvgPool2d(1), (torch.randn(1, 32, 8, 12).bfloat16(),)


@_program
def _upsample(generator: np.random.Generator) -> Program:
    return nn.Upsample(scale_factor=2), (torch.randn(1, 32, 5, 7).bfloat16(),)


@_program
def _attention(generator: np.random.Generator) -> Program:
    heads = [torch.randn(1, 2, 33, 64).bfloat16() for _ in range(3)]
    return nn.functional.scaled_dot_product_attention, tuple(heads)


@_program
def _attention_causal(generator: np.random.Generator) -> Program:
    def attend(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        return nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)

    return attend, tuple(torch.randn(1, 2, 64, 32).bfloat16() for _ in range(3))


@_program
def _attention_jax(generator: np.random.Generator) -> Program:
    def attend(q: Any, k: Any, v: Any) -> Any:
        return jax.nn.softmax(q @ k.T / 8, axis=-1) @ v

    return attend, tuple(_normal(generator, 33, 64) for _ in range(3))


@_program
def _mlp(generator: np.random.Generator) -> Program:
    layers = nn.Sequential(nn.Linear(70, 64), nn.ReLU(), nn.Linear(64, 10), nn.Softmax(-1))
    return layers.bfloat16(), (torch.randn(33, 70).bfloat16(),)


@_program
def _mlp_jax(generator: np.random.Generator) -> Program:
    w1, w2 = _normal(generator, 70, 64), _normal(generator, 64, 10)

    def forward(x: Any, bias: Any) -> Any:
        return jax.nn.gelu(x @ w1 + bias) @ w2

    return forward, (_normal(generator, 33, 70), _normal(generator, 64))


class _Block(nn.Module):
    """A layer of a transformer."""

    def __init__(self) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(64, 2, batch_first=True)
        self.norm = nn.LayerNorm(64)
        self.up, self.down = nn.Linear(64, 96), nn.Linear(96, 64)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Attention, then two products."""
        x = x + self.attention(x, x, x, need_weights=False)[0]
        return x + self.down(nn.functional.gelu(self.up(self.norm(x))))


@_program
def _transformer_block(generator: np.random.Generator) -> Program:
    return _Block().bfloat16().eval(), (torch.randn(1, 33, 64).bfloat16(),)


@_program
def _small_cnn(generator: np.random.Generator) -> Program:
    layers = nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(32, 10),
    )
    return layers.bfloat16().eval(), (torch.randn(1, 3, 16, 16).bfloat16(),)


@_program
def _lstm_cell(generator: np.random.Generator) -> Program:
    cell = nn.LSTMCell(20, 33).bfloat16()
    return cell, (torch.randn(5, 20).bfloat16(),)


@_program
def _decode_step(generator: np.random.Generator) -> Program:
    def step(q: Any, k: Any, v: Any, keys: Any, values: Any, position: Any) -> Any:
        keys = lax.dynamic_update_slice_in_dim(keys, k, position, axis=1)
        values = lax.dynamic_update_slice_in_dim(values, v, position, axis=1)
        scores = jnp.einsum("hd,hkd->hk", q, keys) / 8
        scores = jnp.where(jnp.arange(32) <= position, scores, -1e9)
        weights = jax.nn.softmax(scores, axis=-1)
        return jnp.einsum("hk,hkd->hd", weights, values), keys, values

    new = [_normal(generator, 4, 64), _normal(generator, 4, 1, 64), _normal(generator, 4, 1, 64)]
    caches = [_normal(generator, 4, 32, 64), _normal(generator, 4, 32, 64)]
    return step, (*new, *caches, jnp.int32(9))


@_program
def _training_step(generator: np.random.Generator) -> Program:
    def step(w: Any, b: Any, x: Any, y: Any) -> Any:
        def loss(w: Any, b: Any) -> Any:
            return jnp.mean((jnp.tanh(x @ w + b) - y) ** 2)

        value, (dw, db) = jax.value_and_grad(loss, argnums=(0, 1))(w, b)
        return w - 0.1 * dw, b - 0.1 * db, value

    arrays = [(70, 5), (5,), (33, 70), (33, 5)]
    return step, tuple(_normal(generator, *shape) for shape in arrays)


@_program
def _cross_entropy(generator: np.random.Generator) -> Program:
    return nn.CrossEntropyLoss(), (torch.randn(33, 10).bfloat16(), torch.arange(33) % 10)


@_program
def _cumsum_reversed(generator: np.random.Generator) -> Program:
    def add(x: Any) -> Any:
        return lax.cumsum(x, 1, reverse=True)

    return add, (_normal(generator, 33, 20),)


@_program
def _cumprod(generator: np.random.Generator) -> Program:
    return lambda x: lax.cumprod(x, 1), (_positive(generator, 33, 7),)


@_program
def _any_and_all(generator: np.random.Generator) -> Program:
    def ask(x: Any) -> Any:
        return (x > 2).any(axis=1), (x > -2).all(axis=0)

    return ask, (_normal(generator, 33, 70),)


@_program
def _argsort(generator: np.random.Generator) -> Program:
    return lambda x: jnp.argsort(x, axis=1), (_normal(generator, 33, 70, dtype=jnp.float32),)


@_program
def _roll(generator: np.random.Generator) -> Program:
    return lambda x: torch.roll(x, 2, 1), (torch.randn(33, 70).bfloat16(),)


@_program
def _stack_and_split(generator: np.random.Generator) -> Program:
    def rearrange(a: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return torch.stack([a, b], 1).flatten(1).split([35, 105], 1)

    return rearrange, (torch.randn(33, 70).bfloat16(), torch.randn(33, 70).bfloat16())


@_program
def _gru(generator: np.random.Generator) -> Program:
    return nn.GRU(20, 33).bfloat16(), (torch.randn(3, 5, 20).bfloat16(),)


@_program
def _convolution_3d(generator: np.random.Generator) -> Program:
    return nn.Conv3d(4, 8, 2).bfloat16(), (torch.randn(1, 4, 3, 5, 7).bfloat16(),)


@_program
def _convolution_jax(generator: np.random.Generator) -> Program:
    def convolve(x: Any, w: Any) -> Any:
        return lax.conv_general_dilated(
            x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
        )

    return convolve, (_normal(generator, 1, 9, 11, 8), _normal(generator, 3, 3, 8, 16))


@_program
def _max_pool_strided(generator: np.random.Generator) -> Program:
    return nn.MaxPool2d(3, stride=2, padding=1), (torch.randn(1, 32, 9, 11).bfloat16(),)


@_program
def _upsample_bilinear(generator: np.random.Generator) -> Program:
    module = nn.Upsample(scale_factor=2, mode="bilinear")
    return module, (torch.randn(1, 32, 5, 7).bfloat16(),)


@_program
def _residual_block(generator: np.random.Generator) -> Program:
    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first = nn.Conv2d(32, 32, 3, padding=1, bias=False)
            self.norm = nn.BatchNorm2d(32)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.relu(x + self.norm(self.first(x)))

    return Block().bfloat16().eval(), (torch.randn(1, 32, 8, 8).bfloat16(),)


@_program
def _gated_mlp(generator: np.random.Generator) -> Program:
    def forward(x: Any, gate: Any, up: Any, down: Any) -> Any:
        return (jax.nn.silu(x @ gate) * (x @ up)) @ down

    shapes = [(33, 64), (64, 96), (64, 96), (96, 64)]
    return forward, tuple(_normal(generator, *shape) for shape in shapes)


@_program
def _cosine_similarity(generator: np.random.Generator) -> Program:
    arrays = torch.randn(33, 70).bfloat16(), torch.randn(33, 70).bfloat16()
    return nn.CosineSimilarity(dim=1), arrays


@_program
def _huber_loss(generator: np.random.Generator) -> Program:
    arrays = torch.randn(33, 70).bfloat16(), torch.randn(33, 70).bfloat16()
    return nn.HuberLoss(), arrays


@_program
def _while_loop(generator: np.random.Generator) -> Program:
    def repeat(x: Any) -> Any:
        return lax.fori_loop(0, 3, lambda _, value: value * 0.5 + 1, x)

    return repeat, (_normal(generator, 33, 70),)


@_program
def _rotary(generator: np.random.Generator) -> Program:
    def rotate(x: Any, cos: Any, sin: Any) -> Any:
        low, high = jnp.split(x, 2, axis=-1)
        return x * cos + jnp.concatenate([-high, low], axis=-1) * sin

    arrays = [(1, 2, 33, 64), (33, 64), (33, 64)]
    return rotate, tuple(_normal(generator, *shape) for shape in arrays)


_SIGNED = [0, 1, -1, 2, -2, 3, -3, 7, 10, 2**31 - 1, -(2**31) + 1, 65536, -16777217, 123456789]
_UNSIGNED = [0, 1, 2, 3, 7, 10, 255, 65537, 2**31 - 1, 2**31, 2**31 + 1, 2**32 - 1, 2**32 - 2]


def _pairs(numbers: list[int], dtype: Any) -> tuple[Any, Any]:
    """Each number beside each that divides."""
    first, second = np.meshgrid(numbers, [each for each in numbers if each])
    return jnp.asarray(first.astype(dtype)), jnp.asarray(second.astype(dtype))


@_program
def _integers_quotients(generator: np.random.Generator) -> Program:
    def divide(a: Any, b: Any) -> Any:
        return lax.div(a, b), lax.rem(a, b), a // b, a % b

    return divide, _pairs(_SIGNED, np.int32)


@_program
def _unsigned_quotients(generator: np.random.Generator) -> Program:
    def divide(a: Any, b: Any) -> Any:
        return lax.div(a, b), lax.rem(a, b), jnp.clip(a, 3, 100000)

    return divide, _pairs(_UNSIGNED, np.uint32)


_elementwise("remainder_signed", lax.rem, "f32", "+f32")


@_program
def _small_integers(generator: np.random.Generator) -> Program:
    def compute(a: Any, b: Any) -> Any:
        joined = jnp.concatenate([a[1:, 3:40], a[:-1, 2:39]], axis=1)
        return ~a, lax.div(a, b), jnp.maximum(a, b), joined, jnp.tile(a.reshape(70, 33), (2, 1))

    small = jnp.asarray(generator.integers(0, 256, (33, 70)), jnp.uint8)
    return compute, (small, jnp.maximum(small[::-1], 1))


@_program
def _short_integers(generator: np.random.Generator) -> Program:
    def compute(a: Any, b: Any) -> Any:
        return ~a, lax.div(a, b), jnp.minimum(a, b), a.reshape(70, 33)

    short = jnp.asarray(generator.integers(0, 65536, (33, 70)), jnp.uint16)
    return compute, (short, jnp.maximum(short[::-1], 1))


@_program
def _cumulative_extremes(generator: np.random.Generator) -> Program:
    def scan(x: Any) -> Any:
        return lax.cummax(x, 1), lax.cummin(x, 0, reverse=True), lax.cumlogsumexp(x, 1)

    return scan, (_normal(generator, 5, 33, dtype=jnp.float32),)


@_program
def _bits_of_rows(generator: np.random.Generator) -> Program:
    def reduce(x: Any) -> Any:
        return lax.reduce_and(x | 5, (1,)), lax.reduce_or(x, (0,)), lax.reduce_xor(x, (0, 1))

    return reduce, (_integers(generator, 1 << 20, 5, 7),)


@_program
def _reduced_precision(generator: np.random.Generator) -> Program:
    def round_to(x: Any) -> Any:
        return tuple(lax.reduce_precision(x, *bits) for bits in ((8, 7), (5, 10), (5, 2)))

    return round_to, (_normal(generator, 33, 70, dtype=jnp.float32) * 1000,)


@_program
def _average_pool_f32(generator: np.random.Generator) -> Program:
    return nn.AvgPool2d(2), (torch.randn(1, 8, 16, 16),)


@_program
def _loop_of_given_length(generator: np.random.Generator) -> Program:
    def repeat(x: Any, count: Any) -> Any:
        return lax.fori_loop(0, count, lambda _, value: value * 0.5 + 1, x)

    return repeat, (_normal(generator, 33, 70), jnp.int32(3))


@_program
def _scan_of_rows(generator: np.random.Generator) -> Program:
    def step(carried: Any, row: Any) -> Any:
        return carried * 0.5 + row, carried

    def scan(x: Any) -> Any:
        return lax.scan(step, jnp.zeros(33), x)

    return scan, (_normal(generator, 5, 33, dtype=jnp.float32),)


@_program
def _top_of_experts(generator: np.random.Generator) -> Program:
    def choose(x: Any) -> Any:
        values, places = lax.top_k(x, 2)
        return jnp.where(places == jnp.arange(2), values, 0.0), jnp.isfinite(x)

    return choose, (_normal(generator, 33, 64, dtype=jnp.float32),)


@_program
def _sort_integers(generator: np.random.Generator) -> Program:
    def order(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return torch.sort(x, dim=0, descending=True, stable=True)

    return order, (
        torch.from_numpy(generator.integers(-(1 << 31), 1 << 31, size=(9, 37), dtype="i4")),
    )


@_program
def _largest_integers(generator: np.random.Generator) -> Program:
    def largest(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return torch.topk(x, 5, dim=1)

    return largest, (torch.from_numpy(generator.permutation(99).reshape(3, 33)),)


@_program
def _matmul_of_heads(generator: np.random.Generator) -> Program:
    return torch.matmul, (torch.randn(2, 4, 7, 40), torch.randn(4, 40, 14))
