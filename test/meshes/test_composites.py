"""Composites of the library on meshes: which dimensions stay in parts, and what is computed."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from ttmlir.frontend.dispatch import compile

Array = Any

MESH = 'sdy.mesh @mesh = <["x"=2, "y"=4]>\n'


def text_of(name: str, words: str, result: str, *operands: tuple[str, str], body: str = "") -> str:
    """A program of one composite, whose arguments have types and shardings."""
    types = ", ".join(f"%a{n}: tensor<{type_}>" for n, (type_, _) in enumerate(operands))
    divided = ", ".join(
        f"%a{n}: tensor<{type_}> {{sdy.sharding = #sdy.sharding<@mesh, [{dims}]>}}"
        for n, (type_, dims) in enumerate(operands)
    )
    names = ", ".join(f"%a{n}" for n in range(len(operands)))
    given = ", ".join(f"tensor<{type_}>" for type_, _ in operands)
    return (
        f"{MESH}func.func private @meaning({types}) -> tensor<{result}> {{\n"
        f"  {body or f'return %a0 : tensor<{result}>'}\n}}\n"
        f"func.func @main({divided}) -> tensor<{result}> {{\n"
        f'  %0 = stablehlo.composite "tenstorrent.{name}" {names} '
        f"{{composite_attributes = {{{words}}}, decomposition = @meaning}} : ({given}) -> "
        f"tensor<{result}>\n  return %0 : tensor<{result}>\n}}\n"
    )


def rms(x: Array, w: Array) -> Array:
    """Numbers of a row divided by the root of their mean square."""
    return x / np.sqrt(np.mean(x * x, -1, keepdims=True) + 1e-5) * w


def layer(x: Array, w: Array, b: Array) -> Array:
    """Rows with the mean 0 and the variance 1."""
    centered = x - x.mean(-1, keepdims=True)
    return centered / np.sqrt(np.mean(centered**2, -1, keepdims=True) + 1e-5) * w + b


def attend(q: Array, k: Array, v: Array, mask: Array) -> Array:
    """Attention of all heads."""
    scores = np.einsum("bhqd,bhkd->bhqk", q, k) * 0.125 + mask
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return np.einsum("bhqk,bhkd->bhqd", weights / weights.sum(-1, keepdims=True), v)


NORM = "epsilon = 1.0e-5 : f32, normalized_shape = dense<40> : tensor<1xi64>"
ROWS = ("4x8x40xf32", '{"x"}, {"y"}, {}')
HEADS = ("2x4x33x64xf32", '{"x"}, {"y"}, {}, {}')


@pytest.mark.parametrize(
    ("name", "words", "operands", "function", "part"),
    [
        ("rms_norm", NORM, [ROWS, ("40xf32", "{}")], rms, (2, 2, 40)),
        ("layer_norm", NORM, [ROWS, ("40xf32", "{}"), ("40xf32", "{}")], layer, (2, 2, 40)),
        (
            "scaled_dot_product_attention",
            "is_causal = false, scale = 0.125 : f32",
            [HEADS, HEADS, HEADS, ("2x1x33x33xf32", '{"x"}, {}, {}, {}')],
            attend,
            (1, 1, 33, 64),
        ),
    ],
)
def test_parts_stay_parts(
    name: str, words: str, operands: list[tuple[str, str]], function: Any, part: tuple[int, ...]
) -> None:
    """Each device computes what it has, and exchanges nothing."""
    model = compile(text_of(name, words, operands[0][0], *operands))
    rng = np.random.default_rng(5)
    arrays = [
        rng.standard_normal([int(each) for each in type_.split("x")[:-1]], np.float32)
        for type_, _ in operands
    ]
    expected = function(*(array.astype(np.float64) for array in arrays))
    np.testing.assert_allclose(model(*arrays), expected, rtol=2e-5, atol=2e-5)
    assert {each.shape for each in model.run_on_devices(*arrays)[0]} == {part}
    exchanges = re.findall(r"ttir\.(all_\w+|reduce_scatter|collective_\w+)", model.text("ttir"))
    assert not exchanges
    assert f'"ttir.{name}"' in model.text("ttir")


GELU_BY_TANH = """%c = stablehlo.constant dense<0.044715> : tensor<6x20xf32>
  %s = stablehlo.constant dense<0.797884583> : tensor<6x20xf32>
  %h = stablehlo.constant dense<0.5> : tensor<6x20xf32>
  %o = stablehlo.constant dense<1.0> : tensor<6x20xf32>
  %1 = stablehlo.multiply %a0, %a0 : tensor<6x20xf32>
  %2 = stablehlo.multiply %1, %a0 : tensor<6x20xf32>
  %3 = stablehlo.multiply %2, %c : tensor<6x20xf32>
  %4 = stablehlo.add %a0, %3 : tensor<6x20xf32>
  %5 = stablehlo.multiply %4, %s : tensor<6x20xf32>
  %6 = stablehlo.tanh %5 : tensor<6x20xf32>
  %7 = stablehlo.add %6, %o : tensor<6x20xf32>
  %8 = stablehlo.multiply %7, %a0 : tensor<6x20xf32>
  %9 = stablehlo.multiply %8, %h : tensor<6x20xf32>
  return %9 : tensor<6x20xf32>"""


@pytest.mark.parametrize("dims", ['{"x"}, {"y"}', "{}, {}"])
def test_gelu_by_tanh_is_not_that_by_erf(dims: str) -> None:
    """The composite is computed as it says, which differs by 5e-4, and in parts."""
    text = text_of("gelu_tanh", "", "6x20xf32", ("6x20xf32", dims), body=GELU_BY_TANH)
    x = np.linspace(-4, 4, 120, dtype=np.float32).reshape(6, 20)
    wide = x.astype(np.float64)
    expected = wide / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (wide + 0.044715 * wide**3)))
    model = compile(text, spelling="2026")
    np.testing.assert_allclose(model(x), expected, atol=1e-6)
    if "x" in dims:
        assert model.run_on_devices(x)[0][7].shape == (3, 5)
