"""Norms in files of 2026, against torch."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from running.randomness import TestGenerator
from torch.nn import functional

import ttmlir

RANDOM = TestGenerator(__name__)


@pytest.mark.parametrize("kind", ["rms_norm", "layer_norm"])
def test_norms_of_long_rows_are_those_of_torch(kind: str) -> None:
    """Columns are divided over cores at level 3; 7 rows are padded to 32."""
    x, w = (RANDOM.normal(size=shape).astype(np.float32) for shape in ((7, 1024), (1024,)))
    type_ = "tensor<7x1024xf32>"
    text = f"""func.func @main(%x: {type_}, %w: tensor<1024xf32>) -> {type_} {{
      %0 = "ttir.{kind}"(%x, %w) <{{epsilon = 1.0e-5 : f32, normalized_shape = array<i64: 1024>,
        operandSegmentSizes = array<i32: 1, 1, 0>}}>
        : ({type_}, tensor<1024xf32>) -> {type_}
      return %0 : {type_}
    }}"""
    compiled = ttmlir.compile(f"module {{ {text} }}", spelling="2026", optimization_level=3)
    assert "width_sharded" in compiled.text("ttnn")
    function = functional.rms_norm if kind == "rms_norm" else functional.layer_norm
    expected = function(*map(torch.from_numpy, (x,)), (1024,), torch.from_numpy(w), eps=1e-5)
    np.testing.assert_allclose(np.asarray(compiled(x, w)), expected, atol=5e-6)


def test_rows_that_are_too_long_for_shards_stay_in_dram() -> None:
    """Five cores would have 1,250 columns of tiles each, which no L1 has."""
    x = torch.from_numpy(RANDOM.normal(size=(1, 200_000)).astype(np.float32))
    compiled = ttmlir.compile(lambda x: functional.rms_norm(x, (200_000,)), x, optimization_level=3)
    assert "width_sharded" not in compiled.text("ttnn")
    np.testing.assert_allclose(compiled(x), functional.rms_norm(x, (200_000,)), atol=5e-6)
