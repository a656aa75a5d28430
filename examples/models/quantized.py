"""Quantized networks: a CNN of torch in PT2E's reference form, and StableHLO's quantized types."""

from __future__ import annotations

import sys
import warnings

import numpy as np
import torch
from report import agrees
from torch.ao.quantization import get_default_qconfig_mapping, quantize_fx

import ttmlir

LAYER = """
!image = !quant.uniform<i8:f32, 0.05:5>
!weight = !quant.uniform<i8<-127:127>:f32:1, {0.01,0.02,0.04}>
!result = !quant.uniform<u8:f32, 0.1:128>
func.func @layer(%x: tensor<4x70xf32>, %w: tensor<70x3x!weight>) -> tensor<4x3x!result> {
  %0 = stablehlo.uniform_quantize %x : (tensor<4x70xf32>) -> tensor<4x70x!image>
  %1 = stablehlo.dot_general %0, %w, contracting_dims = [1] x [0]
      : (tensor<4x70x!image>, tensor<70x3x!weight>) -> tensor<4x3x!result>
  return %1 : tensor<4x3x!result>
}
"""


def quantize(model, *examples):
    """The model with scales from examples, as prepare_pt2e and convert_pt2e of torchao leave it."""
    with warnings.catch_warnings():
        # torch tells that its observers move to torchao.
        warnings.simplefilter("ignore")
        observed = quantize_fx.prepare_fx(model, get_default_qconfig_mapping("x86"), examples)
        observed(*examples)
        return quantize_fx._convert_to_reference_decomposed_fx(observed)


def run_layer() -> bool:
    """True if a product of quantized tensors has the integers that NumPy computes."""
    rng = np.random.default_rng(0)
    x = rng.normal(0, 2, (4, 70)).astype(np.float32)
    weight = rng.integers(-127, 128, (70, 3)).astype(np.int8)
    image = np.clip(np.rint(x / np.float32(0.05)) + 5, -128, 127).astype(np.int64)
    sums = (image - 5) @ weight.astype(np.int64)
    scales = 0.05 * np.array([0.01, 0.02, 0.04]) / 0.1
    expected = np.clip(np.rint(sums * scales) + 128, 0, 255)
    result = ttmlir.compile(LAYER)(x, weight)
    print(f"layer: {result.dtype}, {np.mean(result == expected):.0%} as NumPy computes")
    return bool(np.abs(result - expected).max() <= 1)


def main() -> int:
    """Exit status 0 if both agree."""
    torch.manual_seed(0)
    images = torch.randn(8, 1, 16, 16)
    cnn = torch.nn.Sequential(
        *(torch.nn.Conv2d(1, 8, 3), torch.nn.BatchNorm2d(8), torch.nn.ReLU()),
        *(torch.nn.MaxPool2d(2), torch.nn.Conv2d(8, 16, 3), torch.nn.ReLU()),
        *(torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(16, 10)),
    ).eval()
    quantized = quantize(cnn, images)
    compiled = ttmlir.compile(quantized, images)
    good = agrees(compiled, images)
    with torch.no_grad():
        error = (compiled(images) - cnn(images)).abs().max().item()
    print(f"  {error:.3f} at most from the network before it was quantized")
    return 0 if run_layer() and good else 1


if __name__ == "__main__":
    sys.exit(main())
