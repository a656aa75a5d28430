"""Edges and named computations of Shardy on simulated meshes, against NumPy on whole arrays."""

from __future__ import annotations

import numpy as np
import pytest

from ttmlir.frontend.dispatch import compile

PROGRAM = """\
sdy.mesh @mesh = <["x"={x}, "y"={y}]>
func.func private @callee(%a: tensor<12x14xf32>) -> tensor<12x14xf32> {{
  %0 = sdy.func_data_flow_edge %a : tensor<12x14xf32>
  %1 = stablehlo.negate %0 : tensor<12x14xf32>
  return %1 : tensor<12x14xf32>
}}
func.func @main(%a: tensor<12x10xf32>, %b: tensor<10x14xf32>, %n: tensor<i32>)
    -> (tensor<12x14xf32>, tensor<14xf32>) {{
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = sdy.named_computation<"product">(%a, %b)
      in_shardings=[<@mesh, [{{"x"}}, {{"y"}}]>, <@mesh, [{{"y", ?}}, {{?}}]>]
      out_shardings=[<@mesh, [{{"y"}}, {{"x"}}]>]
      (%c: tensor<12x10xf32>, %d: tensor<10x14xf32>) {{
    %1 = stablehlo.dot_general %c, %d, contracting_dims = [1] x [0]
        : (tensor<12x10xf32>, tensor<10x14xf32>) -> tensor<12x14xf32>
    %2 = sdy.named_computation<"square">(%1) (%e: tensor<12x14xf32>) {{
      %3 = stablehlo.multiply %e, %e : tensor<12x14xf32>
      sdy.return %3 : tensor<12x14xf32>
    }} : (tensor<12x14xf32>) -> tensor<12x14xf32>
    %4 = sdy.data_flow_edge %2 : tensor<12x14xf32>
    sdy.return %4 : tensor<12x14xf32>
  }} : (tensor<12x10xf32>, tensor<10x14xf32>) -> tensor<12x14xf32>
  %5:2 = stablehlo.while(%i = %n, %s = %0) : tensor<i32>, tensor<12x14xf32>
    cond {{
      %end = stablehlo.constant dense<3> : tensor<i32>
      %6 = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %6 : tensor<i1>
    }} do {{
      %one = stablehlo.constant dense<1> : tensor<i32>
      %7 = stablehlo.add %i, %one : tensor<i32>
      %8 = func.call @callee(%s) : (tensor<12x14xf32>) -> tensor<12x14xf32>
      %9 = sdy.func_data_flow_edge %8 : tensor<12x14xf32>
      %10 = stablehlo.tanh %9 : tensor<12x14xf32>
      stablehlo.return %7, %10 : tensor<i32>, tensor<12x14xf32>
    }}
  %11 = sdy.data_flow_edge %5#1 sharding=<@mesh, [{{"x", "y"}}, {{}}]> : tensor<12x14xf32>
  %12 = stablehlo.reduce(%11 init: %zero) applies stablehlo.add across dimensions = [0]
      : (tensor<12x14xf32>, tensor<f32>) -> tensor<14xf32>
  return %11, %12 : tensor<12x14xf32>, tensor<14xf32>
}}
"""


@pytest.mark.parametrize(("x", "y"), [(2, 2), (1, 2), (1, 1)])
def test_edges_and_named_computations(x: int, y: int) -> None:
    """What the devices compute is what one computes."""
    random = np.random.default_rng(5)
    a = random.uniform(-1, 1, (12, 10)).astype(np.float32)
    b = random.uniform(-1, 1, (10, 14)).astype(np.float32)
    expected = (a @ b) ** 2
    for _ in range(2):
        expected = np.tanh(-expected)
    model = compile(PROGRAM.format(x=x, y=y))
    whole, total = model(a, b, np.int32(1))
    np.testing.assert_allclose(whole, expected, rtol=2e-5, atol=2e-6)
    np.testing.assert_allclose(total, expected.sum(0), rtol=2e-5, atol=2e-5)
    parts, _ = model.run_on_devices(a, b, np.int32(1))
    assert [part.shape for part in parts] == [(12 // (x * y), 14)] * (x * y)
