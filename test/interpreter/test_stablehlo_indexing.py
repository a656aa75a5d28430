"""Gather, scatter and sort with every arrangement of their dimensions, against XLA and NumPy."""

# ruff: noqa: E501 (operations stand on one line)

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from oracles.stablehlo_oracle import executed

from ttmlir.dialects import DIALECTS
from ttmlir.interpreter import execute
from ttmlir.mlir.context import make_context
from ttmlir.mlir.reader import parse_module


def run(text: str, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The results of a module's text."""
    return execute(parse_module(text, "program.mlir", make_context(DIALECTS)), inputs)


def type_of(shape: Sequence[int]) -> str:
    """A tensor of 32-bit integers."""
    return f"tensor<{''.join(f'{extent}x' for extent in shape)}i32>"


def integers(shape: Sequence[int], low: int, high: int, seed: int) -> np.ndarray:
    """Integers from `low` to below `high`."""
    return np.random.default_rng(seed).integers(low, high, shape).astype(np.int32)


GATHERS = {
    "rows": ((9, 3), (4, 1), "offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1", (1, 3), (4, 3)),
    "numbers that are no vectors": ((9, 3), (4,), "offset_dims = [0], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1", (1, 2), (2, 4)),
    "vectors in the middle, windows apart": ((5, 6, 7), (3, 2, 4), "offset_dims = [0, 2], collapsed_slice_dims = [1], start_index_map = [2, 0], index_vector_dim = 1", (2, 1, 3), (2, 3, 3, 4)),
    "vectors first": ((5, 6), (2, 3), "offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [1, 0], index_vector_dim = 0", (1, 4), (3, 4)),
    "batches that are crossed": ((4, 2, 5), (2, 4, 3, 1), "collapsed_slice_dims = [2], operand_batching_dims = [0, 1], start_indices_batching_dims = [1, 0], start_index_map = [2], index_vector_dim = 3", (1, 1, 1), (2, 4, 3)),
    "batches after the vectors": ((4, 2, 5), (1, 2, 4), "offset_dims = [1], operand_batching_dims = [0, 1], start_indices_batching_dims = [2, 1], start_index_map = [2], index_vector_dim = 0", (1, 1, 3), (2, 3, 4)),
    "batches around the vectors": ((4, 2, 5), (2, 1, 4), "collapsed_slice_dims = [2], operand_batching_dims = [0, 1], start_indices_batching_dims = [2, 0], start_index_map = [2], index_vector_dim = 1", (1, 1, 1), (2, 4)),
    "one whole window": ((3, 4), (2,), "offset_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 0", (2, 3), (2, 3)),
}  # fmt: skip
"""Shapes of the tensor and of the indices, dimensions, extents of the slices, result's shape."""


@pytest.mark.parametrize("name", GATHERS)
def test_gather(name: str) -> None:
    """Slices from anywhere; starts outside are moved inside."""
    shape, indices, dims, sizes, result = GATHERS[name]
    types = f"{type_of(shape)}, {type_of(indices)}"
    text = f"""func.func public @main(%x: {type_of(shape)}, %i: {type_of(indices)}) -> {type_of(result)} {{
      %0 = "stablehlo.gather"(%x, %i) <{{dimension_numbers = #stablehlo.gather<{dims}>, slice_sizes = array<i64: {", ".join(map(str, sizes))}>}}> : ({types}) -> {type_of(result)}
      return %0 : {type_of(result)}
    }}"""
    inputs = [np.arange(np.prod(shape), dtype=np.int32).reshape(shape), integers(indices, -2, 9, 1)]
    [got] = run(text, inputs)
    np.testing.assert_array_equal(got, executed(text, inputs)[0])


SCATTERS = {
    "rows": ((9, 3), (4, 1), (4, 3), "update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1"),
    "numbers that are no vectors": ((9, 3), (4,), (2, 4), "update_window_dims = [0], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1"),
    "vectors in the middle, windows apart": ((5, 6, 7), (3, 2, 4), (2, 3, 3, 4), "update_window_dims = [0, 2], inserted_window_dims = [1], scatter_dims_to_operand_dims = [2, 0], index_vector_dim = 1"),
    "vectors first": ((5, 6), (2, 3), (3, 2), "update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [1, 0], index_vector_dim = 0"),
    "batches that are crossed": ((4, 2, 5), (2, 4, 3, 1), (2, 4, 3), "inserted_window_dims = [2], input_batching_dims = [0, 1], scatter_indices_batching_dims = [1, 0], scatter_dims_to_operand_dims = [2], index_vector_dim = 3"),
    "batches after the vectors": ((4, 2, 5), (1, 2, 4), (2, 3, 4), "update_window_dims = [1], input_batching_dims = [0, 1], scatter_indices_batching_dims = [2, 1], scatter_dims_to_operand_dims = [2], index_vector_dim = 0"),
    "one whole window": ((9, 8), (2,), (2, 3), "update_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 0"),
}  # fmt: skip
"""Shapes of the tensor, the indices and the updates, dimensions."""


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("name", SCATTERS)
def test_scatter(name: str, seed: int) -> None:
    """Updates that meet add up; those of places outside are left out."""
    shape, indices, updates, dims = SCATTERS[name]
    types = f"{type_of(shape)}, {type_of(indices)}, {type_of(updates)}"
    text = f"""func.func public @main(%x: {type_of(shape)}, %i: {type_of(indices)}, %u: {type_of(updates)}) -> {type_of(shape)} {{
      %0 = "stablehlo.scatter"(%x, %i, %u) <{{scatter_dimension_numbers = #stablehlo.scatter<{dims}>}}> ({{
      ^bb0(%a: tensor<i32>, %b: tensor<i32>):
        %1 = stablehlo.add %a, %b : tensor<i32>
        stablehlo.return %1 : tensor<i32>
      }}) : ({types}) -> {type_of(shape)}
      return %0 : {type_of(shape)}
    }}"""
    inputs = [
        np.zeros(shape, np.int32),
        np.array([0, 1, 2, 50, -9], np.int32)[integers(indices, 0, 5, seed)],
        integers(updates, 1, 1000, 3),
    ]
    [got] = run(text, inputs)
    np.testing.assert_array_equal(got, executed(text, inputs)[0])


@pytest.mark.parametrize("length", [0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 65])
def test_sort_by_a_function(length: int) -> None:
    """Equal numbers keep their order, whatever the length; other operands move along."""
    keys = integers((length, 2), 0, max(1, length // 2), length)
    places = np.tile(np.arange(length, dtype=np.int32)[:, None], (1, 2))
    type_ = type_of((length, 2))
    text = f"""func.func @main(%x: {type_}, %y: {type_}) -> ({type_}, {type_}) {{
      %0:2 = "stablehlo.sort"(%x, %y) <{{dimension = 0 : i64, is_stable = true}}> ({{
      ^bb0(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<i32>, %d: tensor<i32>):
        %1 = stablehlo.negate %a : tensor<i32>
        %2 = stablehlo.negate %b : tensor<i32>
        %3 = stablehlo.compare LT, %1, %2 : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %3 : tensor<i1>
      }}) : ({type_}, {type_}) -> ({type_}, {type_})
      return %0#0, %0#1 : {type_}, {type_}
    }}"""
    order = np.argsort(-keys, axis=0, kind="stable")
    got = run(text, [keys, places])
    np.testing.assert_array_equal(got[0], np.take_along_axis(keys, order, 0))
    np.testing.assert_array_equal(got[1], order)
