"""Whole models in tosa and linalg compute what NumPy computes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from oracles.mlir_opt import mlir_opt
from running.pass_runner import executed
from running.randomness import TestGenerator

import ttmlir

MODELS = Path(__file__).parents[2] / "models"
_RNG = TestGenerator(__name__)


def _real(*shape: int) -> np.ndarray:
    return _RNG.uniform(-1, 1, shape).astype(np.float32)


def _softmax(x: Any) -> Any:
    powers = np.exp(x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def _windows(x: Any, extents: tuple[int, int]) -> Any:
    return np.lib.stride_tricks.sliding_window_view(x, extents, axis=(1, 2))


def _convnet(image: Any, w0: Any, b0: Any, w1: Any, b1: Any, w2: Any) -> Any:
    padded = np.pad(image, ((0, 0), (1, 1), (1, 1), (0, 0)))
    x = np.einsum("nyxcij,oijc->nyxo", _windows(padded, (3, 3)), w0) + b0
    x = np.pad(np.clip(x, 0, 6), ((0, 0), (0, 0), (1, 0), (0, 0)), constant_values=-np.inf)
    x = _windows(x, (3, 2))[:, ::2, ::3].max((-2, -1))
    x = np.pad(x, ((0, 0), (1, 1), (0, 2), (0, 0)))
    x = np.einsum("nyxcij,ijcm->nyxcm", _windows(x, (3, 3)), w1).reshape(2, 4, 4, 10) + b1
    x = x / (1 + np.exp(-x))
    return _softmax(x.mean((1, 2)) @ w2)


def test_convnet() -> None:
    """Convolutions, pools, activations, a product, softmax and argmax in tosa."""
    shapes = ((2, 9, 11, 3), (5, 3, 3, 3), (5,), (3, 3, 5, 2), (10,), (10, 4))
    inputs = [_real(*shape) for shape in shapes]
    text = (MODELS / "tosa_convnet.mlir").read_text()
    scores, best = executed(text, inputs, "tosa-to-ttnn-pipeline")
    expected = _convnet(*inputs)
    np.testing.assert_allclose(scores, expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(best, expected.argmax(1))


def _attention(x: Any, wq: Any, wk: Any, wv: Any, wo: Any) -> Any:
    q, k, v = ((x @ w).reshape(7, 3, 8).transpose(1, 0, 2) for w in (wq, wk, wv))
    heads = _softmax(q @ k.transpose(0, 2, 1) / np.sqrt(8)) @ v
    return heads.transpose(1, 0, 2).reshape(7, 24) @ wo + x


def test_attention() -> None:
    """Attention in linalg, as written and with all named operations as loops."""
    inputs = [_real(7, 24), *(_real(24, 24) for _ in range(4))]
    text = (MODELS / "linalg_attention.mlir").read_text()
    loops = mlir_opt(text, "--linalg-generalize-named-ops")
    for form in (text, loops, mlir_opt(loops, "--inline", "--linalg-fuse-elementwise-ops")):
        (result,) = executed(form, inputs, "linalg-to-ttnn-pipeline")
        np.testing.assert_allclose(result, _attention(*inputs), rtol=1e-4, atol=1e-5)


_ML_PROGRAM = """
  module {
    ml_program.global private @w(dense<[[1.5, -2.0]]> : tensor<1x2xf32>) : tensor<1x2xf32>
    ml_program.global private @factor(4.0 : f32) : f32
    ml_program.subgraph @f(%a: tensor<3x2xf32>) -> tensor<3x2xf32> {
      %0 = ml_program.global_load_const @w : tensor<1x2xf32>
      %1 = tosa.add %a, %0 : (tensor<3x2xf32>, tensor<1x2xf32>) -> tensor<3x2xf32>
      %factor = ml_program.global_load @factor : f32
      %2 = tensor.splat %factor : tensor<3x2xf32>
      %3 = arith.mulf %1, %2 : tensor<3x2xf32>
      ml_program.output %3 : tensor<3x2xf32>
    }
  }"""


def test_ml_program() -> None:
    """Functions and constants that a framework keeps beside them, in both forms of the text."""
    a = _real(3, 2)
    expected = (a + np.float32([1.5, -2])) * 4
    generic = mlir_opt(_ML_PROGRAM, "--mlir-print-op-generic")
    function = _ML_PROGRAM.replace(".subgraph", ".func").replace(".output", ".return")
    for text in (_ML_PROGRAM, generic, function):
        (result,) = executed(text, [a], "tosa-to-ttnn-pipeline")
        np.testing.assert_array_equal(result, expected)
        np.testing.assert_array_equal(ttmlir.compile(text)(a), expected)


def test_models_compile_in_one_call() -> None:
    """`ttmlir.compile` tells the dialects by the operations of the function."""
    x = _real(7, 24)
    weights = [_real(24, 24) for _ in range(4)]
    compiled = ttmlir.compile(MODELS / "linalg_attention.mlir")
    np.testing.assert_allclose(compiled(x, *weights), _attention(x, *weights), 1e-4, 1e-5)
    shapes = ((2, 9, 11, 3), (5, 3, 3, 3), (5,), (3, 3, 5, 2), (10,), (10, 4))
    inputs = [_real(*shape) for shape in shapes]
    scores, _ = ttmlir.compile(MODELS / "tosa_convnet.mlir")(*inputs)
    np.testing.assert_allclose(scores, _convnet(*inputs), 1e-5, 1e-6)
