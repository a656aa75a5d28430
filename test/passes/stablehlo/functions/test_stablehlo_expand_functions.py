"""Scatters with functions of their own, scans and approximate top-k, against XLA."""

# ruff: noqa: E501 (operations stand on one line)

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from oracles import stablehlo_oracle
from running.randomness import TestGenerator
from samples.stablehlo_programs import check_against_jax

import ttmlir

RANDOM = TestGenerator(__name__)
X = RANDOM.standard_normal((5, 7)).astype(np.float32)
ROW = RANDOM.standard_normal(7).astype(np.float32)
TWICE = np.array([3, 1, 3, -2, 9], np.int32)
NEW = RANDOM.standard_normal(5).astype(np.float32)


def check(text: str, *inputs: Any) -> None:
    """Compare a program with XLA."""
    found = ttmlir.compile(text)(*inputs)
    expected = stablehlo_oracle.executed(text, list(inputs))
    for result, correct in zip(
        found if isinstance(found, tuple) else [found], expected, strict=True
    ):
        assert result.dtype == correct.dtype
        np.testing.assert_allclose(result, correct, rtol=2e-6, atol=1e-6)


# -- scatter -----------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["subtract", "divide", "power"])
def test_updates_by_name(method: str) -> None:
    """Numbers that are named twice are updated twice; those outside are left alone."""
    check_against_jax(lambda x, i, u: getattr(x.at[i], method)(u), abs(ROW), TWICE, NEW)


def test_functions_of_old_elements() -> None:
    """Applied once for each time that an element is named, in slices once."""
    check_against_jax(lambda x, i: x.at[i].apply(jnp.sin), ROW, TWICE)
    check_against_jax(lambda x: x.at[1:3, ::2].apply(jnp.exp), X)


BATCHED = """
func.func @main(%x: tensor<2x5x4x6xf32>, %i: tensor<3x2x7x2xi32>, %u: tensor<3x2x7x4x3xf32>) -> tensor<2x5x4x6xf32> {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [3, 4], inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [1], scatter_dims_to_operand_dims = [3, 1], index_vector_dim = 3>}> ({
  ^bb0(%old: tensor<f32>, %new: tensor<f32>):
    %1 = stablehlo.subtract %new, %old : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<2x5x4x6xf32>, tensor<3x2x7x2xi32>, tensor<3x2x7x4x3xf32>) -> tensor<2x5x4x6xf32>
  return %0 : tensor<2x5x4x6xf32>
}
"""
SEVERAL = """
func.func @main(%x: tensor<5x4xf32>, %y: tensor<5x4xi32>, %i: tensor<3x1xi32>, %u: tensor<3x4xf32>, %v: tensor<3x4xi32>) -> (tensor<5x4xf32>, tensor<5x4xi32>) {
  %0:2 = "stablehlo.scatter"(%x, %y, %i, %u, %v) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<i32>, %c: tensor<f32>, %d: tensor<i32>):
    %1 = stablehlo.subtract %a, %c : tensor<f32>
    %2 = stablehlo.compare GT, %a, %c : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %3 = stablehlo.select %2, %b, %d : tensor<i1>, tensor<i32>
    stablehlo.return %1, %3 : tensor<f32>, tensor<i32>
  }) : (tensor<5x4xf32>, tensor<5x4xi32>, tensor<3x1xi32>, tensor<3x4xf32>, tensor<3x4xi32>) -> (tensor<5x4xf32>, tensor<5x4xi32>)
  return %0#0, %0#1 : tensor<5x4xf32>, tensor<5x4xi32>
}
"""
BITS = """
func.func @main(%x: tensor<7xi32>, %i: tensor<4xi32>, %u: tensor<4xi32>) -> tensor<7xi32> {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %1 = stablehlo.xor %a, %b : tensor<i32>
    stablehlo.return %1 : tensor<i32>
  }) : (tensor<7xi32>, tensor<4xi32>, tensor<4xi32>) -> tensor<7xi32>
  return %0 : tensor<7xi32>
}
"""


def test_windows_in_batches() -> None:
    """Windows that meet, one after the other, with dimensions in an unusual order."""
    indices = RANDOM.integers(-1, 5, (3, 2, 7, 2)).astype(np.int32)
    x = RANDOM.standard_normal((2, 5, 4, 6)).astype(np.float32)
    check(BATCHED, x, indices, RANDOM.standard_normal((3, 2, 7, 4, 3)).astype(np.float32))


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("indices", [[0, 4, 2], [3, 3, 3], [4, -1, 4]])
def test_several_inputs(indices: list[int]) -> None:
    """A function of all of them."""
    x, u = (RANDOM.standard_normal((n, 4)).astype(np.float32) for n in (5, 3))
    y, v = (RANDOM.integers(-9, 9, (n, 4)).astype(np.int32) for n in (5, 3))
    rows = np.array(indices, np.int32).reshape(3, 1)
    check(SEVERAL, x, y, rows, u, v)
    check(
        SEVERAL.replace(
            "index_vector_dim = 1>}>", "index_vector_dim = 1>, unique_indices = true}>"
        ),
        x,
        y,
        np.array([[1], [0], [4]], np.int32),
        u,
        v,
    )


def test_bits_of_elements() -> None:
    """An operation that is commutative, and has no scatter of its own."""
    x, u = RANDOM.integers(-99, 99, 7, np.int32), RANDOM.integers(-99, 99, 4, np.int32)
    check(BITS, x, np.array([2, 6, 2, 2], np.int32), u)


# -- scans -------------------------------------------------------------------------------------

SCAN = """
func.func @main(%x: tensor<4x3xf32>, %i: tensor<4xf32>) -> (tensor<4x3xf32>, tensor<4xf32>) {
  %0:2 = "chlo.scan"(%x, %i) <{dimension = 1 : i64, is_reverse = REVERSE, operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 1, 1>}> ({
  ^bb0(%a: tensor<4xf32>, %c: tensor<4xf32>):
    %1 = stablehlo.cosine %c : tensor<4xf32>
    %2 = stablehlo.multiply %a, %1 : tensor<4xf32>
    %3 = stablehlo.add %2, %c : tensor<4xf32>
    stablehlo.return %2, %3 : tensor<4xf32>, tensor<4xf32>
  }) : (tensor<4x3xf32>, tensor<4xf32>) -> (tensor<4x3xf32>, tensor<4xf32>)
  return %0#0, %0#1 : tensor<4x3xf32>, tensor<4xf32>
}
"""
COUNTED = """
func.func @main(%i: tensor<f32>) -> (tensor<3xf32>, tensor<f32>) {
  %0:2 = "chlo.scan"(%i) <{dimension = 0 : i64, scan_dim_size = 3 : i64, operandSegmentSizes = array<i32: 0, 1>, resultSegmentSizes = array<i32: 1, 1>}> ({
  ^bb0(%c: tensor<f32>):
    %1 = stablehlo.add %c, %c : tensor<f32>
    stablehlo.return %c, %1 : tensor<f32>, tensor<f32>
  }) : (tensor<f32>) -> (tensor<3xf32>, tensor<f32>)
  return %0#0, %0#1 : tensor<3xf32>, tensor<f32>
}
"""


@pytest.mark.parametrize("is_reversed", [False, True])
def test_scan(is_reversed: bool) -> None:
    """Along the second dimension, from either end."""
    x, start = (RANDOM.standard_normal(shape).astype(np.float32) for shape in ((4, 3), 4))
    check(SCAN.replace("REVERSE", str(is_reversed).lower()), x, start)


def test_scan_without_inputs() -> None:
    """The number of steps is an attribute."""
    check(COUNTED, np.float32(1.5))


# -- approximate top-k -------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["approx_max_k", "approx_min_k"])
def test_approximate_top_k(name: str) -> None:
    """All of the best are found, along any dimension; so are their gradients."""
    function = getattr(lax, name)
    values, places = ttmlir.compile(lambda x: function(x, 2, reduction_dimension=0), X)(X)
    order = np.argsort(X if "min" in name else -X, axis=0)[:2]
    np.testing.assert_array_equal(places, order)
    np.testing.assert_array_equal(values, np.take_along_axis(X, order, 0))
    gradient = ttmlir.compile(jax.grad(lambda x: function(x, 2)[0].sum()), X)(X)
    order = np.argsort(X if "min" in name else -X, axis=1)[:, :2]
    expected = np.zeros_like(X)
    np.put_along_axis(expected, order, 1, 1)
    np.testing.assert_array_equal(gradient, expected)


def test_approximate_top_k_as_text() -> None:
    """The comparator is a function beside that of the program."""
    text = jax.jit(lambda x: lax.approx_max_k(x, 3)[0]).lower(X).as_text()
    found = ttmlir.compile(text)(X)
    np.testing.assert_array_equal(found, -np.sort(-X, axis=1)[:, :3])


def test_approximate_top_k_without_a_comparator() -> None:
    """The message says what the call needs."""
    text = """func.func @main(%x: tensor<7xf32>, %z: tensor<f32>) -> tensor<3xf32> {
  %0 = stablehlo.custom_call @ApproxTopK(%x, %z) : (tensor<7xf32>, tensor<f32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}"""
    with pytest.raises(ttmlir.CompilationError) as caught:
        ttmlir.compile(text)
    assert ":2:8: error: failed to legalize operation 'stablehlo.custom_call'" in str(caught.value)
    assert "names one comparator in called_computations" in str(caught.value)
