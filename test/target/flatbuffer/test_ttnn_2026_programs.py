"""Text of ttir of 2026 to ttnn of 2026, to a file, and run: compared with NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from ttmlir import compiler
from ttmlir.runtime.loading import read_binary
from ttmlir.runtime.session import submit, to_host
from ttmlir.runtime.tensor import open_device

ATTENTION = """
func.func @main(
    %q: tensor<2x3x17x8xf32> {ttcore.argument_type = #ttcore.argument_type<input>},
    %w: tensor<8x8xf32> {ttcore.argument_type = #ttcore.argument_type<parameter>},
    %g: tensor<8xf32> {ttcore.argument_type = #ttcore.argument_type<parameter>})
    -> tensor<2x17x24xf32> {
  %0 = "ttir.matmul"(%q, %w)
      : (tensor<2x3x17x8xf32>, tensor<8x8xf32>) -> tensor<2x3x17x8xf32>
  %1 = "ttir.rms_norm"(%0, %g)
      <{normalized_shape = array<i64: 8>, operandSegmentSizes = array<i32: 1, 1, 0>}>
      : (tensor<2x3x17x8xf32>, tensor<8xf32>) -> tensor<2x3x17x8xf32>
  %2 = "ttir.scaled_dot_product_attention"(%1, %1, %q)
      <{is_causal = true, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>}>
      : (tensor<2x3x17x8xf32>, tensor<2x3x17x8xf32>, tensor<2x3x17x8xf32>) -> tensor<2x3x17x8xf32>
  %3 = "ttir.concatenate_heads"(%2) : (tensor<2x3x17x8xf32>) -> tensor<2x17x24xf32>
  return %3 : tensor<2x17x24xf32>
}
"""


@pytest.mark.parametrize("board", ["n150", "p150"])
def test_heads_of_attention(board: str) -> None:
    """Heads, positions and sizes differ, so that none can stand for another."""
    rng = np.random.default_rng(5)
    shapes = (2, 3, 17, 8), (8, 8), (8,)
    q, w, g = (rng.standard_normal(shape).astype(np.float32) for shape in shapes)
    projected = q @ w
    normed = projected / np.sqrt((projected**2).mean(-1, keepdims=True) + 1e-5) * g
    scores = normed @ normed.transpose(0, 1, 3, 2) / np.sqrt(8)
    scores = np.where(np.tril(np.ones((17, 17), bool)), scores, -np.inf)
    grown = np.exp(scores - scores.max(-1, keepdims=True))
    heads = grown / grown.sum(-1, keepdims=True) @ q
    wanted = heads.transpose(0, 2, 1, 3).reshape(2, 17, 24)

    pipeline = f"ttir-to-ttnn-backend-pipeline{{system-desc-path={board}}}"
    data = compiler.write_ttnn(compiler.lower(ATTENTION, pipeline))
    (result,) = submit(open_device(), read_binary(data, "attention.ttnn"), 0, [q, w, g])
    np.testing.assert_allclose(to_host(result).to_numpy(), wanted, rtol=1e-5, atol=1e-5)
