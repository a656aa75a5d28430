"""Programs of 2026 with weights in block floats and with quantized numbers, run."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from running.pass_runner import TTNN_PIPELINE

from ttmlir.compiler import compile_to_ttnn
from ttmlir.runtime import Numerics, open_device, submit
from ttmlir.runtime.loading import read_binary

_PRODUCT = """
func.func @main(%x: tensor<32x64xbf16>,
    %w: tensor<64x32xbf16> {ttcore.argument_type = #ttcore.argument_type<parameter>})
    -> tensor<32x32xbf16> {
  %0 = "ttir.matmul"(%x, %w) : (tensor<32x64xbf16>, tensor<64x32xbf16>) -> tensor<32x32xbf16>
  return %0 : tensor<32x32xbf16>
}
"""

_QUANTIZED = """
!fine = !quant.uniform<i8:f32:1, {0.25, 0.5:1, 0.75:-2}>
!coarse = !quant.uniform<i8:f32:1, {0.5:1, 1.0, 1.5:-2}>
func.func @main(%a: tensor<5x3xf32>) -> tensor<5x3xf32> {
  %0 = "ttir.quantize"(%a) : (tensor<5x3xf32>) -> tensor<5x3x!fine>
  %1 = "ttir.requantize"(%0) : (tensor<5x3x!fine>) -> tensor<5x3x!coarse>
  %2 = "ttir.dequantize"(%1) : (tensor<5x3x!coarse>) -> tensor<5x3xf32>
  return %2 : tensor<5x3xf32>
}
"""

_LOOKUP = """
func.func @main(%table: tensor<3x5xf32>) -> tensor<4x5xf32> {
  %0 = "ttir.constant"() <{value = dense<[2, 0, 1, 2]> : tensor<4xsi32>}> : () -> tensor<4xsi32>
  %1 = "ttir.embedding"(%0, %table) : (tensor<4xsi32>, tensor<3x5xf32>) -> tensor<4x5xf32>
  return %1 : tensor<4x5xf32>
}
"""


def _run(text: str, options: str, *inputs: NDArray[np.float32]) -> NDArray[np.float32]:
    binary = read_binary(compile_to_ttnn(text, f"{TTNN_PIPELINE}{{{options}}}"), "net.ttnn")
    given = [
        each.astype(ref.desc.element.host)
        for each, ref in zip(inputs, binary.program(0).inputs, strict=True)
    ]
    [result] = submit(open_device(numerics=Numerics.DEVICE), binary, 0, given)
    return result.to_numpy().astype(np.float32)


def test_weights_in_block_floats_lose_what_their_mantissas_do_not_hold() -> None:
    """Numbers of one block share an exponent: small ones beside a large one become 0."""
    x = np.eye(32, 64, dtype=np.float32)
    w = np.full((64, 32), 2.0**-9, np.float32)
    w[:, 0] = 1.0
    plain = _run(_PRODUCT, "enable-const-eval=true", x, w)
    narrow = _run(_PRODUCT, "experimental-weight-dtype=bfp_bf8", x, w)
    np.testing.assert_array_equal(plain[:, 1:16], 2.0**-9)
    np.testing.assert_array_equal(narrow[:, 0], 1.0)
    np.testing.assert_array_equal(narrow[:, 1:16], 0.0)
    # Sixteen numbers are a block.
    np.testing.assert_array_equal(narrow[:, 16:], 2.0**-9)


def test_quantized_numbers_are_rounded_by_scale_and_zero() -> None:
    """Each column has a scale and a zero of its own."""
    a = np.linspace(-4.0, 4.0, 15, dtype=np.float32).reshape(5, 3) + np.float32(0.03)
    fine, coarse = np.array([0.25, 0.5, 0.75]), np.array([0.5, 1.0, 1.5])
    first, second = np.array([0, 1, -2]), np.array([1, 0, -2])
    one = np.round(a / fine) + first
    other = np.round((one - first) * fine / coarse) + second
    expected = (other - second) * coarse
    np.testing.assert_allclose(_run(_QUANTIZED, "target-bit-width=32", a), expected, rtol=1e-6)


def test_constants_are_looked_up_as_other_integers() -> None:
    """Lookups take integers without a sign, which a constant of others is converted to."""
    table = np.arange(15, dtype=np.float32).reshape(3, 5)
    np.testing.assert_array_equal(
        _run(_LOOKUP, "enable-const-eval=false", table), table[[2, 0, 1, 2]]
    )
