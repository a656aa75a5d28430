"""Tuples, tokens and what is started asynchronously, as arguments, results and in between."""

# ruff: noqa: E501 (types of tuples stand on one line)

from __future__ import annotations

import jax
import numpy as np
import pytest
from oracles import stablehlo_oracle

import ttmlir
from ttmlir.runtime.errors import InputError

RANDOM = np.random.default_rng(5)
X, Y = (RANDOM.standard_normal((2, 3)).astype(np.float32) for _ in range(2))
T = "tensor<2x3xf32>"
TOKEN = "!stablehlo.token"

NESTED = f"""
func.func public @main(%a: tuple<{T}, tuple<tensor<f32>, {TOKEN}>>, %t: {TOKEN}, %b: {T})
    -> (tuple<{T}, tuple<tensor<f32>, {T}>>, {TOKEN}) {{
  %0 = stablehlo.get_tuple_element %a[0] : (tuple<{T}, tuple<tensor<f32>, {TOKEN}>>) -> {T}
  %1 = stablehlo.get_tuple_element %a[1] : (tuple<{T}, tuple<tensor<f32>, {TOKEN}>>) -> tuple<tensor<f32>, {TOKEN}>
  %2 = stablehlo.get_tuple_element %1[0] : (tuple<tensor<f32>, {TOKEN}>) -> tensor<f32>
  %3 = stablehlo.subtract %0, %b : {T}
  %4 = stablehlo.tuple %2, %3 : tuple<tensor<f32>, {T}>
  %5 = stablehlo.tuple %0, %4 : tuple<{T}, tuple<tensor<f32>, {T}>>
  return %5, %t : tuple<{T}, tuple<tensor<f32>, {T}>>, {TOKEN}
}}
"""


def test_a_program_takes_and_gives_tuples() -> None:
    """They are tuples of Python; tokens are nothing that a caller gives or gets."""
    compiled = ttmlir.compile(NESTED)
    first, (number, difference) = compiled((X, (np.float32(3),)), Y)
    np.testing.assert_array_equal(first, X)
    np.testing.assert_array_equal(number, np.float32(3))
    np.testing.assert_array_equal(difference, X - Y)
    with pytest.raises(InputError, match="argument 0 has 2 items, got 1"):
        compiled((X,), Y)


LOOP = f"""
func.func private @step(%x: tuple<{T}, {TOKEN}>) -> tuple<{T}, {TOKEN}> {{
  %0 = stablehlo.get_tuple_element %x[0] : (tuple<{T}, {TOKEN}>) -> {T}
  %1 = stablehlo.get_tuple_element %x[1] : (tuple<{T}, {TOKEN}>) -> {TOKEN}
  %2 = stablehlo.cosine %0 : {T}
  %3 = stablehlo.tuple %2, %1 : tuple<{T}, {TOKEN}>
  return %3 : tuple<{T}, {TOKEN}>
}}
func.func public @main(%x: {T}) -> {T} {{
  %t = stablehlo.create_token : {TOKEN}
  %b:2 = stablehlo.optimization_barrier %x, %t : {T}, {TOKEN}
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %end = stablehlo.constant dense<COUNT> : tensor<i32>
  %0:3 = stablehlo.while(%i = %zero, %y = %b#0, %token = %b#1) : tensor<i32>, {T}, {TOKEN}
  cond {{
    %1 = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }} do {{
    %one = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.add %i, %one : tensor<i32>
    %after = stablehlo.after_all %token, %t : {TOKEN}
    %2 = stablehlo.tuple %y, %after : tuple<{T}, {TOKEN}>
    %3 = func.call @step(%2) : (tuple<{T}, {TOKEN}>) -> tuple<{T}, {TOKEN}>
    %4 = stablehlo.get_tuple_element %3[0] : (tuple<{T}, {TOKEN}>) -> {T}
    %5 = stablehlo.get_tuple_element %3[1] : (tuple<{T}, {TOKEN}>) -> {TOKEN}
    stablehlo.return %1, %4, %5 : tensor<i32>, {T}, {TOKEN}
  }}
  %6:2 = "stablehlo.case"(%0#0) ({{
    stablehlo.return %0#1, %0#2 : {T}, {TOKEN}
  }}, {{
    %7 = stablehlo.negate %0#1 : {T}
    %8 = stablehlo.after_all : {TOKEN}
    stablehlo.return %7, %8 : {T}, {TOKEN}
  }}) : (tensor<i32>) -> ({T}, {TOKEN})
  return %6#0 : {T}
}}
"""
STARTED = f"""
func.func private @unused(%x: {T}) -> {T} {{
  return %x : {T}
}}
func.func public @main(%x: {T}) -> ({T}, {T}) {{
  %0 = "stablehlo.async_start"(%x) ({{
  ^bb0(%a: {T}):
    %1 = "stablehlo.collective_permute"(%a) <{{source_target_pairs = dense<0> : tensor<1x2xi64>}}> : ({T}) -> {T}
    %2 = stablehlo.negate %1 : {T}
    stablehlo.return %1, %2 : {T}, {T}
  }}) : ({T}) -> !stablehlo.future<{T}, {T}>
  %3:2 = "stablehlo.async_done"(%0) : (!stablehlo.future<{T}, {T}>) -> ({T}, {T})
  return %3#1, %3#0 : {T}, {T}
}}
"""


@pytest.mark.parametrize("count", [3, 300])
def test_tokens_go_through_loops_calls_and_branches(count: int) -> None:
    """Loops that are written out, and loops of the program."""
    text = LOOP.replace("COUNT", str(count))
    [expected] = stablehlo_oracle.executed(text, [X])
    np.testing.assert_allclose(ttmlir.compile(text)(X), expected, rtol=1e-5)


def test_what_is_started_is_computed_there() -> None:
    """A future holds the results of its region, also several of them."""
    opposite, same = ttmlir.compile(STARTED)(X)
    np.testing.assert_array_equal(opposite, -X)
    np.testing.assert_array_equal(same, X)


def test_tokens_of_jax() -> None:
    """`jax.lax.create_token` makes one that nobody uses."""

    def function(x: jax.Array) -> jax.Array:
        token = jax.lax.create_token(x)
        jax.lax.after_all(token)
        return x * 2

    np.testing.assert_array_equal(ttmlir.compile(function, X)(X), X * 2)


@pytest.mark.parametrize(
    ("operation", "types"),
    [
        ('"stablehlo.infeed"(%t)', f"({TOKEN}) -> ({T}, {TOKEN})"),
        ('"stablehlo.outfeed"(%x, %t)', f"({T}, {TOKEN}) -> {TOKEN}"),
    ],
)
def test_what_needs_another_program(operation: str, types: str) -> None:
    """The message says what a device does, and where numbers come in and go out."""
    count = ":2" if "infeed" in operation else ""
    text = (
        f"func.func @main(%x: {T}) -> {T} {{\n"
        f"  %t = stablehlo.create_token : {TOKEN}\n"
        f"  %0{count} = {operation} : {types}\n  return %x : {T}\n}}"
    )
    name = operation.split('"')[1]
    with pytest.raises(ttmlir.CompilationError) as caught:
        ttmlir.compile(text)
    message = str(caught.value)
    assert f":3:8: error: failed to legalize operation '{name}'" in message or (
        f":3:10: error: failed to legalize operation '{name}'" in message
    )
    assert "devices take all arguments when a program begins" in message
    assert "make it an argument or a result of the function" in message
