"""Models from the frontends become few launches: each norm, softmax and layer is one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from oracles.d2m_references import golden_results
from running.pass_runner import lowered
from torch import nn
from xdsl.dialects.builtin import ModuleOp

import ttmlir
from ttmlir.dialects import d2m
from ttmlir.interpreter import execute
from ttmlir.passes.d2m.references import reference_of

Array = np.ndarray[Any, Any]
PASSES = (
    "canonicalize",
    "ttir-composite-decomposition",
    "ttir-to-d2m",
    "d2m-mask-padding",
    "d2m-generic-fusion",
)
TOKENS, WIDTH, HEADS = 512, 768, 12
MODELS = Path(__file__).parents[3] / "models"


def launches(module: ModuleOp) -> list[list[str]]:
    """What each generic computes, without moves."""
    moves = {"reshape", "permute", "slice", "repeat", "full"}
    found: list[list[str]] = []
    for op in module.walk():
        if isinstance(op, d2m.GenericOp):
            reference = reference_of(op)
            assert reference is not None
            names = [row.mnemonic for row in reference.rows]
            found.append([name for name in names if name not in moves])
    return found


def check(text: str, inputs: list[Array], expected: Array, count: int) -> None:
    """A model in ttir computes what its framework does, in so many launches."""
    module = lowered(text, *PASSES)
    for (result,) in (execute(module, inputs), golden_results(module, inputs)):
        np.testing.assert_allclose(result, expected, rtol=2e-3, atol=2e-4)
    assert len(launches(module)) == count


def from_jax(function: Any, *inputs: Array) -> str:
    """The text of a function in ttir of 2024, whose passes these are."""
    return ttmlir.compile(jax.jit(function), *inputs, spelling="2024").text("ttir")


def normal(*shape: int, seed: int = 0) -> Array:
    """Numbers around 0."""
    return np.asarray(np.random.default_rng(seed).normal(size=shape), np.float32)


def norm_of_softmax(x: Any) -> Any:
    """Numbers of bf16, with more values in between than a core has circular buffers."""
    x = jax.nn.softmax(x, axis=1)
    deviation = jax.lax.rsqrt(x.var((1, 2), keepdims=True) + 1e-5)
    return (x - x.mean((1, 2), keepdims=True)) * deviation


def layer_norm(x: Any, scale: Any, offset: Any) -> Any:
    """As in many JAX models."""
    deviation = jax.lax.rsqrt(x.var(-1, keepdims=True) + 1e-5)
    return (x - x.mean(-1, keepdims=True)) * deviation * scale + offset


def rms_norm(x: Any, scale: Any) -> Any:
    """As in Llama."""
    return x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-6) * scale


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize(
    ("function", "shapes"),
    [
        (layer_norm, ((3, 33, 70), (70,), (70,))),
        (rms_norm, ((33, 70), (70,))),
        (lambda x: jax.nn.softmax(x), ((2, 33, 70),)),
        (lambda x: jax.nn.log_softmax(x), ((33, 70),)),
        (lambda x: jax.nn.gelu(x), ((33, 70),)),
        (lambda x: jax.nn.gelu(x, approximate=False), ((33, 70),)),
        (lambda x: jax.nn.silu(x), ((33, 70),)),
        (lambda x, y: jax.nn.standardize(x + y), ((33, 70), (33, 70))),
        (lambda x, w, b: jax.nn.relu(x @ w + b), ((33, 70), (70, 40), (40,))),
    ],
)
def test_functions_of_jax_are_one_launch(function: Any, shapes: Any) -> None:
    """Each on shapes that are no multiples of tiles."""
    inputs = [normal(*shape, seed=number) for number, shape in enumerate(shapes)]
    check(from_jax(function, *inputs), inputs, np.asarray(function(*inputs)), 1)


@pytest.mark.parametrize(
    "module",
    [
        nn.LayerNorm(70),
        nn.RMSNorm(70),
        nn.Softmax(-1),
        nn.GELU(),
        nn.GELU("tanh"),
        nn.SiLU(),
        nn.Sequential(nn.Linear(70, 40), nn.GELU()),
    ],
)
def test_modules_of_torch_are_one_launch(module: nn.Module) -> None:
    """Weights are constants or arguments of the program."""
    x = torch.tensor(normal(33, 70))
    compiled = ttmlir.compile(module.eval(), x)
    with torch.no_grad():
        expected = module(x).numpy()
    text = compiled.text("ttir")
    if "%arg1" in text:
        weights = [each.detach().numpy() for each in module.state_dict().values()]
        check(text, [x.numpy(), *weights], expected, 1)
    else:
        check(text, [x.numpy()], expected, 1)


def test_a_transformer_block_of_jax() -> None:
    """Norm, q k v, attention, projection, norm, and two layers."""

    def block(x: Any, *weights: Any) -> Any:
        qkv, out, up, down, scale, offset, bias = weights
        heads = (layer_norm(x, scale, offset) @ qkv).reshape(TOKENS, 3, HEADS, WIDTH // HEADS)
        q, k, v = (heads[:, part].transpose(1, 0, 2) for part in range(3))
        attention = jax.nn.softmax(q @ k.transpose(0, 2, 1) / 8.0) @ v
        x = x + attention.transpose(1, 0, 2).reshape(TOKENS, WIDTH) @ out
        return x + jax.nn.gelu(layer_norm(x, scale, offset) @ up + bias) @ down

    shapes = (
        (TOKENS, WIDTH),
        (WIDTH, 3 * WIDTH),
        (WIDTH, WIDTH),
        (WIDTH, 4 * WIDTH),
        (4 * WIDTH, WIDTH),
        (WIDTH,),
        (WIDTH,),
        (4 * WIDTH,),
    )
    found = launches(lowered(from_jax(block, *(jnp.zeros(each) for each in shapes)), *PASSES))
    assert len(found) == 7
    assert found[1] == ["matmul"]
    assert found[2][:3] == ["matmul", "div", "max"]
    assert found[2][-2:] == ["div", "matmul"]
    assert found[6] == ["matmul", "add"]


def test_a_transformer_block_of_torch() -> None:
    """The attention of torch computes with one token in each matrix."""

    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.before, self.between = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
            self.attention = nn.MultiheadAttention(WIDTH, HEADS, batch_first=True)
            self.up, self.down = nn.Linear(WIDTH, 128), nn.Linear(128, WIDTH)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            y = self.before(x)
            x = x + self.attention(y, y, y, need_weights=False)[0]
            return x + self.down(nn.functional.gelu(self.up(self.between(x))))

    compiled = ttmlir.compile(Block().eval(), torch.zeros(1, TOKENS, WIDTH))
    assert len(launches(lowered(compiled.text("ttir"), *PASSES))) == 7


@pytest.mark.parametrize(
    ("name", "count"),
    [("causal_attention", 1), ("layer_norm", 1), ("mlp", 1), ("attention", 4), ("eltwise", 1)],
)
def test_models_of_the_tests(name: str, count: int) -> None:
    """Views of parts of tiles are no end of a fusion."""
    text = (MODELS / f"{name}.mlir").read_text()
    assert len(launches(lowered(text, *PASSES))) == count


def test_softmax_of_jax() -> None:
    """JAX takes the larger of the largest number and -inf, over a dimension that it drops."""
    x = np.random.default_rng(5).standard_normal((3, 5, 40, 70)).astype(np.float32)
    expected = np.asarray(jax.nn.softmax(x, axis=-1))
    check(from_jax(lambda x: jax.nn.softmax(x, axis=-1), x), [x], expected, 1)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: jnp.minimum(jnp.full((7, 40), jnp.inf, x.dtype), x) + 1,
        lambda x: jnp.maximum(x, jnp.full((7, 40), -jnp.inf).T.reshape(7, 40)) + 1,
        lambda x: x * jnp.ones((7, 40), x.dtype) + 1,
    ],
    ids=["minimum", "maximum", "multiply"],
)
def test_what_an_identity_meets_takes_no_loop(function: Any) -> None:
    """NaN stays NaN."""
    x = np.random.default_rng(6).standard_normal((7, 40)).astype(np.float32)
    x[3, 5:9] = np.nan, np.inf, -np.inf, -0.0
    module = lowered(from_jax(function, x), *PASSES)
    (names,) = launches(module)
    assert names == ["add"]
    np.testing.assert_array_equal(execute(module, [x])[0], x + 1)


class NormOfSoftmax(nn.Module):
    """As many reductions as fit one launch."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Each reduces another set of dimensions."""
        x = nn.functional.layer_norm(nn.functional.gelu(x), (7, 7))
        x = torch.softmax(x, 1)
        return torch.softmax(x / (x.amax(2, keepdim=True) + 1), 2)


class SoftmaxOfSoftmax(nn.Module):
    """The same with values in between that are results, too."""

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """All are returned."""
        a = nn.functional.layer_norm(x, (7, 7))
        b = torch.softmax(a, 1)
        c = torch.softmax(b, 2)
        return a, b, c, c - c.mean(1, keepdim=True)


@pytest.mark.parametrize("model", [NormOfSoftmax(), SoftmaxOfSoftmax()])
def test_buffers_that_save_time_stop_where_a_core_has_no_more(model: nn.Module) -> None:
    """All 32 circular buffers of a core are used; what would be a 33rd is computed again."""
    x = torch.randn(7, 7, 7, generator=torch.Generator().manual_seed(0)).to(torch.bfloat16)
    results = ttmlir.compile(model, x, target="kernels")(x)
    expected = model(x.float())
    pairs: list[tuple[torch.Tensor, torch.Tensor]] = [(results, expected)]
    if isinstance(expected, tuple):
        pairs = list(zip(results, expected, strict=True))
    for result, each in pairs:
        # Of the intermediate results, each is rounded to 8 bits.
        np.testing.assert_allclose(
            result.float(), each, rtol=2**-5, atol=2**-5 * float(each.abs().max())
        )


def test_norm_of_a_softmax_in_bf16() -> None:
    """A softmax and a norm over other dimensions, of tiles that are padded in both."""
    x = jnp.asarray(normal(7, 7, 7), jnp.bfloat16)
    result = ttmlir.compile(jax.jit(norm_of_softmax), x, target="kernels")(x)
    expected = np.asarray(norm_of_softmax(x.astype(jnp.float32)))
    np.testing.assert_allclose(result.astype(np.float32), expected, atol=2**-5, rtol=2**-5)
