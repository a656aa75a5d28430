"""The shapes of linalg's operations: what MLIR refuses is refused, what it accepts is computed."""

from __future__ import annotations

import io
import re
from contextlib import redirect_stderr
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from running.pass_runner import executed
from running.randomness import TestGenerator

from ttmlir.tools.opt.driver import run_opt

MODELS = Path(__file__).parents[2] / "models"
_RNG = TestGenerator(__name__)


def test_image_that_windows_do_not_reach() -> None:
    """A result may have fewer windows than would fit."""
    image = _RNG.uniform(-1, 1, (1, 9, 10, 2)).astype(np.float32)
    weight = _RNG.uniform(-1, 1, (3, 2, 2, 4)).astype(np.float32)
    text = """
      func.func @f(%a: tensor<1x9x10x2xf32>, %w: tensor<3x2x2x4xf32>)
          -> (tensor<1x5x3x4xf32>, tensor<1x4x6x2xf32>) {
        %zero = arith.constant 0.0 : f32
        %0 = tensor.empty() : tensor<1x5x3x4xf32>
        %1 = linalg.fill ins(%zero : f32) outs(%0 : tensor<1x5x3x4xf32>) -> tensor<1x5x3x4xf32>
        %2 = linalg.conv_2d_nhwc_hwcf {strides = dense<[1, 2]> : tensor<2xi64>}
          ins(%a, %w : tensor<1x9x10x2xf32>, tensor<3x2x2x4xf32>)
          outs(%1 : tensor<1x5x3x4xf32>) -> tensor<1x5x3x4xf32>
        %3 = tensor.empty() : tensor<1x4x6x2xf32>
        %4 = linalg.fill ins(%zero : f32) outs(%3 : tensor<1x4x6x2xf32>) -> tensor<1x4x6x2xf32>
        %window = tensor.empty() : tensor<2x3xf32>
        %5 = linalg.pooling_nhwc_sum ins(%a, %window : tensor<1x9x10x2xf32>, tensor<2x3xf32>)
          outs(%4 : tensor<1x4x6x2xf32>) -> tensor<1x4x6x2xf32>
        return %2, %5 : tensor<1x5x3x4xf32>, tensor<1x4x6x2xf32>
      }"""
    convolved, pooled = executed(text, [image, weight], "linalg-to-ttnn-pipeline")
    windows = np.lib.stride_tricks.sliding_window_view(image, (3, 2), axis=(1, 2))[:, :5, :6:2]
    np.testing.assert_allclose(
        convolved, np.einsum("nyxcij,ijco->nyxo", windows, weight), 1e-5, 1e-5
    )
    windows = np.lib.stride_tricks.sliding_window_view(image, (2, 3), axis=(1, 2))[:, :4, :6]
    np.testing.assert_allclose(pooled, windows.sum((-2, -1)), 1e-5, 1e-5)


_WORD = re.compile(r"(?<=[ (<\[x])[0-9]+(?=[,x>\] ])|\b(?:f32|i32|i8|max|add|parallel|reduction)\b")
_PIECES = (
    *("0", "1", "2", "3", "5", "-1", "7", "24", "999999", "?"),
    *("f32", "i32", "i1", "bf16", "max", "sum", "add", "parallel", "reduction"),
)


@st.composite
def _changed(draw: st.DrawFn, source: str) -> str:
    """A text with a few numbers and words replaced; most still parse."""
    for _ in range(draw(st.integers(1, 2))):
        word = draw(st.sampled_from(list(_WORD.finditer(source))))
        same = [piece for piece in _PIECES if piece[:1].isalpha() == word[0][0].isalpha()]
        source = source[: word.start()] + draw(st.sampled_from(same)) + source[word.end() :]
    return source


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize(
    ("model", "pipeline"),
    [
        ("tosa_convnet.mlir", "tosa-to-ttir-pipeline"),
        ("linalg_attention.mlir", "linalg-to-ttir-pipeline"),
    ],
)
@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_changed_models_are_converted_or_refused(
    tmp_path: Path, model: str, pipeline: str, data: st.DataObject
) -> None:
    """Every refusal is about the text, not about operations of ttir."""
    text = data.draw(_changed((MODELS / model).read_text()))
    source, output = tmp_path / "in.mlir", tmp_path / "out.mlir"
    source.write_text(text)
    errors = io.StringIO()
    with redirect_stderr(errors):
        status = run_opt([f"--{pipeline}", str(source), "-o", str(output)], {})
    assert "internal error" not in errors.getvalue()
    assert "mistake in ttmlir" not in errors.getvalue()
    assert (status == 0) or "error: " in errors.getvalue()
