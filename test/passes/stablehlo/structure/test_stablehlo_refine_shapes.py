"""Shapes that follow from sizes which are constants, extents, or computed from these."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import export

import ttmlir

RANDOM = np.random.default_rng(6)
X = RANDOM.standard_normal((4, 3)).astype(np.float32)

CHAIN = """
func.func private @sums(%x: tensor<?x3xf32>) -> tensor<?xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1]
      : (tensor<?x3xf32>, tensor<f32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
func.func public @main(%b: tensor<4x3xf32>) -> tensor<?xf32> {
  %rows = stablehlo.get_dimension_size %b, dim = 0 : (tensor<4x3xf32>) -> tensor<i32>
  %0 = stablehlo.reshape %rows : (tensor<i32>) -> tensor<1xi32>
  %two = stablehlo.constant dense<2> : tensor<1xi32>
  %1 = stablehlo.multiply %0, %two : tensor<1xi32>
  %limits = stablehlo.constant dense<[7, 3, 9]> : tensor<3xi32>
  %2 = stablehlo.slice %limits [1:2] : (tensor<3xi32>) -> tensor<1xi32>
  %shape = stablehlo.concatenate %1, %2, dim = 0
      : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %3 = stablehlo.dynamic_iota %shape, dim = 0 : (tensor<2xi32>) -> tensor<?x3xf32>
  %4 = stablehlo.sqrt %3 : tensor<?x3xf32>
  %5 = stablehlo.concatenate %4, %b, dim = 0
      : (tensor<?x3xf32>, tensor<4x3xf32>) -> tensor<?x3xf32>
  %6 = call @sums(%5) : (tensor<?x3xf32>) -> tensor<?xf32>
  return %6 : tensor<?xf32>
}
"""


def test_sizes_are_computed() -> None:
    """Through arithmetic, slices, calls, and to the result of the function."""
    found = ttmlir.compile(CHAIN)(X)
    counted = np.sqrt(np.arange(8, dtype=np.float32))
    np.testing.assert_allclose(found, [*(counted * 3), *X.sum(1)], rtol=1e-6)


PADDED = """
func.func public @main(%b: tensor<4x3xf32>) -> tensor<?x?xf32> {
  %zero = stablehlo.constant dense<0.5> : tensor<f32>
  %low = stablehlo.constant dense<[1, 0]> : tensor<2xi32>
  %high = stablehlo.constant dense<[2, 1]> : tensor<2xi32>
  %0 = stablehlo.dynamic_pad %b, %zero, %low, %high, %high
      : (tensor<4x3xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>)
      -> tensor<?x?xf32>
  %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %begin = stablehlo.constant dense<[1, 0]> : tensor<2xi32>
  %end = stablehlo.constant dense<[6, 13]> : tensor<2xi32>
  %step = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %2 = stablehlo.real_dynamic_slice %1, %begin, %end, %step
      : (tensor<?x?xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x?xf32>
  return %2 : tensor<?x?xf32>
}
"""


def test_pads_and_slices() -> None:
    """Amounts of padding, starts and steps give shapes that no type says."""
    wide = np.full((4 + 3 * 2 + 3, 3 + 2 + 1), np.float32(0.5))
    wide[1:11:3, 0:5:2] = X
    np.testing.assert_array_equal(ttmlir.compile(PADDED)(X), wide.T[1:6, 0:13:2])


CUT = """
func.func @main(%b: tensor<4x3xf32>) -> (tensor<f32>, tensor<i32>) {
  %size = stablehlo.constant dense<2> : tensor<i32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.set_dimension_size %b, %size, dim = 0
      : (tensor<4x3xf32>, tensor<i32>) -> tensor<?x3xf32, #stablehlo.bounds<4, ?>>
  %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [0, 1]
      : (tensor<?x3xf32, #stablehlo.bounds<4, ?>>, tensor<f32>) -> tensor<f32>
  %2 = stablehlo.get_dimension_size %0, dim = 0
      : (tensor<?x3xf32, #stablehlo.bounds<4, ?>>) -> tensor<i32>
  return %1, %2 : tensor<f32>, tensor<i32>
}
"""


def test_what_is_behind_a_new_size_is_not_there() -> None:
    """A known size cuts a tensor off."""
    total, size = ttmlir.compile(CUT)(X)
    np.testing.assert_allclose(total, X[:2].sum(), rtol=1e-6)
    assert size == 2


LOOP = """
func.func @main(%b: tensor<4x3xf32>) -> tensor<?x3xf32> {
  %shape = stablehlo.constant dense<[4, 3]> : tensor<2xi32>
  %x = stablehlo.dynamic_reshape %b, %shape
      : (tensor<4x3xf32>, tensor<2xi32>) -> tensor<?x3xf32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %end = stablehlo.constant dense<3> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %y = %x) : tensor<i32>, tensor<?x3xf32>
  cond {
    %1 = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.add %i, %one : tensor<i32>
    %2 = BODY : tensor<?x3xf32>
    stablehlo.return %1, %2 : tensor<i32>, tensor<?x3xf32>
  }
  return %0#1 : tensor<?x3xf32>
}
"""


def test_loops_carry_one_shape() -> None:
    """What a loop begins with is the shape of its arguments and results."""
    text = LOOP.replace("BODY", "stablehlo.add %y, %y")
    np.testing.assert_array_equal(ttmlir.compile(text)(X), X * 8)


def test_loops_that_change_a_shape() -> None:
    """The message says which value, and that buffers have fixed sizes."""
    body = """stablehlo.concatenate %y, %y, dim = 0 : (tensor<?x3xf32>, tensor<?x3xf32>)
        -> tensor<?x3xf32>
    %3 = stablehlo.negate %2"""
    with pytest.raises(ttmlir.CompilationError) as caught:
        ttmlir.compile(LOOP.replace("BODY", body))
    message = str(caught.value)
    assert "value #1 of the loop is tensor<4x3xf32> before and tensor<8x3xf32> after" in message
    assert "pad it to one size" in message


def exported(function: Any, shape: str, constraints: tuple[str, ...] = ()) -> Any:
    """A function for symbolic extents, as a function of JAX."""
    symbols = export.symbolic_shape(shape, constraints=constraints)
    return export.export(jax.jit(function))(jax.ShapeDtypeStruct(symbols, jnp.float32)).call


def test_functions_exported_for_any_size() -> None:
    """A caller whose shapes are known makes all shapes known."""

    def padded(x: Any) -> Any:
        wide = jnp.concatenate([x, jnp.zeros((x.shape[0], 2))], axis=1)
        return wide.reshape(-1) + jnp.arange(x.shape[0] * 5)

    call = exported(padded, "a, 3", ("a >= 2",))
    found = ttmlir.compile(lambda x: call(x) * 2, X)(X)
    np.testing.assert_allclose(found, np.asarray(padded(X)) * 2, rtol=1e-6)


UNKNOWN = """
func.func @main(%b: tensor<?x3xf32>) -> tensor<i32> {
  %0 = stablehlo.get_dimension_size %b, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
  return %0 : tensor<i32>
}
"""


def test_sizes_of_arguments_that_are_open() -> None:
    """The reason is the device's."""
    with pytest.raises(ttmlir.CompilationError) as caught:
        ttmlir.compile(UNKNOWN)
    message = str(caught.value)
    assert ":3:8: error: failed to legalize operation 'stablehlo.get_dimension_size'" in message
    assert "buffers of fixed sizes; give every argument a static shape" in message
