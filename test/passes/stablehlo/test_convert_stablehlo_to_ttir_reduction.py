"""StableHLO's reductions as JAX computes them, through files and the runtime."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from running.pass_runner import printed
from samples.stablehlo_programs import check_against_jax, jax, run_stablehlo

from ttmlir.dialects import DIALECTS
from ttmlir.mlir.context import make_context
from ttmlir.mlir.reader import parse_module
from ttmlir.mlir.reporting import DiagnosticError
from ttmlir.passes.stablehlo.stablehlo_bodies import combiners

lax, jnp = jax.lax, jax.numpy


def floats(*shape: int, dtype: Any = np.float32) -> Any:
    """Numbers around 0."""
    return np.random.default_rng(len(shape)).standard_normal(shape).astype(dtype)


def integers(*shape: int, dtype: Any = np.int32) -> Any:
    """Integers of which many are equal."""
    return np.random.default_rng(len(shape)).integers(0, 9, shape).astype(dtype)


DIMENSIONS = (0, 2, (0, 2), (1, 2), (0, 1, 2))


@pytest.mark.parametrize("dtype", [np.float32, ml_dtypes.bfloat16], ids=["f32", "bf16"])
def test_floats(dtype: Any) -> None:
    """Over one dimension, several, and all, which leaves a scalar."""
    check_against_jax(
        lambda x: [
            reduce(x, axis=dims)
            for dims in DIMENSIONS
            for reduce in (jnp.sum, jnp.max, jnp.min, jnp.prod)
        ],
        floats(3, 5, 7, dtype=dtype),
        rtol=1e-4 if dtype is np.float32 else 0.1,
    )


@pytest.mark.parametrize("dtype", [np.int32, np.int8, np.uint8, np.uint32], ids=str)
def test_integers(dtype: Any) -> None:
    """Sums and products wrap."""
    x = integers(3, 5, 7, dtype=dtype) * dtype(11)
    check_against_jax(
        lambda x: (
            jnp.sum(x, axis=1, dtype=x.dtype),
            jnp.sum(x, dtype=x.dtype),
            jnp.prod(x[:, :, 0], axis=1, dtype=x.dtype),
            jnp.max(x, axis=(0, 2)),
            jnp.min(x, axis=0),
        ),
        x,
    )


def test_truth() -> None:
    """All, any, and numbers that are counted."""
    check_against_jax(
        lambda x: (
            jnp.all(x, axis=1),
            jnp.any(x, axis=(0, 2)),
            jnp.all(x),
            jnp.max(x, axis=0),
            jnp.min(x, axis=2),
            jnp.sum(x, axis=1),
            jnp.mean(x, axis=1),
        ),
        integers(3, 5, 7) > 1,
    )


def reduced(function: Callable[..., Any], init: Any, dims: tuple[int, ...]) -> Callable[..., Any]:
    """A reduction with an initial value."""
    return lambda x: lax.reduce(x, jnp.asarray(init, x.dtype), function, dims)


def test_initial_values() -> None:
    """Neutral ones, others, those known at run time; over no dimension."""
    check_against_jax(
        lambda x, b: (
            reduced(lax.add, 3, (1,))(x),
            reduced(lax.mul, 2, (0, 1))(x),
            reduced(lax.max, 0.5, (0,))(x),
            reduced(lax.min, jnp.inf, (0,))(x),
            reduced(lax.min, -0.25, ())(x),
            reduced(lax.add, 0, ())(x) * 2,
            lax.reduce(x, x[0, 0], lax.max, (1,)),
            reduced(lax.bitwise_or, True, (0,))(b),
            reduced(lax.bitwise_and, False, (1,))(b),
        ),
        *(floats(3, 5), floats(3, 5) > 0),
    )


def test_several_reductions_at_once() -> None:
    """Each result has its own operation."""
    check_against_jax(
        lambda x, y: lax.reduce(
            (x, y),
            (np.float32(0), np.float32(1)),
            lambda a, b: (a[0] + b[0], b[1] * a[1]),
            (1,),
        ),
        *(floats(3, 5), floats(3, 5) * 2),
        rtol=1e-5,
    )


def test_no_elements() -> None:
    """The initial value is the result."""
    check_against_jax(
        lambda x: (
            jnp.sum(x, axis=0),
            jnp.prod(x, axis=0),
            jnp.max(x, axis=0, initial=-jnp.inf),
            jnp.min(x, initial=7),
            jnp.all(x > 0, axis=0),
        ),
        floats(0, 5),
    )


@pytest.mark.parametrize("shape", [(3, 0, 2), (0, 0, 4)])
def test_bodies_that_combine_no_elements(shape: tuple[int, ...]) -> None:
    """Positions, and bodies of several operations: the initial values are the result."""

    def larger(a: Any, b: Any) -> Any:
        first = (a[0] > b[0]) | ((a[0] == b[0]) & (a[1] < b[1]))
        return jnp.where(first, a[0], b[0]), jnp.where(first, a[1], b[1])

    check_against_jax(
        lambda x, y: (
            lax.reduce((x, y), (np.float32(-np.inf), np.int32(7)), larger, (1,)),
            lax.reduce(x, np.float32(2.5), lambda a, b: lax.sin(a - b), (0, 1)),
        ),
        *(floats(*shape), integers(*shape)),
    )


def test_positions() -> None:
    """The first of equal numbers; NaN is the largest and the smallest."""
    with_nan = np.float32([[1, np.nan, 3], [2, 1, 2], [-np.inf, -np.inf, -np.inf]])
    check_against_jax(
        lambda x, i, u, b, n: [
            pick(values, axis=axis)
            for pick in (jnp.argmax, jnp.argmin)
            for values in (x, i, u, b, n)
            for axis in (0, 1, None)
        ],
        *(floats(5, 7), integers(5, 7) - 4, integers(5, 7, dtype=np.uint8)),
        *(integers(5, 7) > 4, with_nan),
    )


def test_numbers_with_positions() -> None:
    """Both results of one reduction; the choice between equal numbers may be the order's."""

    def pick(a: Any, b: Any) -> Any:
        first = a[0] <= b[0]
        return jnp.where(first, a[0], b[0]), jnp.where(first, a[1], b[1])

    check_against_jax(
        lambda x: lax.reduce(
            (x, lax.broadcasted_iota(jnp.int32, x.shape, 1)), (np.float32(np.inf), 0), pick, (1,)
        ),
        floats(5, 7),
    )


def test_softmax_and_normalization() -> None:
    """Reductions whose results are repeated again."""
    check_against_jax(
        lambda x: (
            jax.nn.softmax(x),
            jax.nn.logsumexp(x, axis=0),
            (x - x.mean(1, keepdims=True)) / jnp.sqrt(x.var(1, keepdims=True) + 1e-5),
        ),
        floats(33, 70),
        rtol=2e-5,
        atol=2e-6,
    )


def reduction(body: str, element: str = "f32", init: str = "0.0", positions: str = "%i") -> str:
    """A function that reduces, with a body of two results if it returns two."""
    types = f"tensor<3x5x{element}>"
    scalar = f"tensor<{element}>"
    if "%j" not in body:
        return f"""
          func.func @f(%x: {types}) -> tensor<3x{element}> {{
            %init = stablehlo.constant dense<{init}> : {scalar}
            %0 = "stablehlo.reduce"(%x, %init) <{{dimensions = array<i64: 1>}}> ({{
            ^bb0(%a: {scalar}, %b: {scalar}):
              {body}
            }}) : ({types}, {scalar}) -> tensor<3x{element}>
            return %0 : tensor<3x{element}>
          }}"""
    return f"""
      func.func @f(%x: {types}, %other: tensor<3x5xi32>) -> tensor<3xi32> {{
        %init = stablehlo.constant dense<{init}> : {scalar}
        %zero = stablehlo.constant dense<0> : tensor<i32>
        %i = stablehlo.iota dim = 1 : tensor<3x5xi32>
        %0:2 = "stablehlo.reduce"(%x, {positions}, %init, %zero)
            <{{dimensions = array<i64: 1>}}> ({{
        ^bb0(%a: {scalar}, %i_a: tensor<i32>, %b: {scalar}, %j: tensor<i32>):
          {body}
        }}) : ({types}, tensor<3x5xi32>, {scalar}, tensor<i32>)
            -> (tensor<3x{element}>, tensor<3xi32>)
        return %0#1 : tensor<3xi32>
      }}"""


def picking(comparison: str, first: str = "%a", second: str = "%b") -> str:
    """A body that keeps a number with its position."""
    pair = "(tensor<f32>, tensor<f32>) -> tensor<i1>"
    return f"""%p = stablehlo.compare {comparison}, {first}, {second}, FLOAT : {pair}
      %v = stablehlo.select %p, %a, %b : tensor<i1>, tensor<f32>
      %k = stablehlo.select %p, %i_a, %j : tensor<i1>, tensor<i32>
      stablehlo.return %v, %k : tensor<f32>, tensor<i32>"""


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("dtype", [np.int32, np.int8, np.uint8, np.uint32, np.bool_], ids=str)
def test_bits(dtype: Any) -> None:
    """And, or and exclusive or of bits, over whole dimensions and over windows."""
    x = np.random.default_rng(1).integers(0, 255, (3, 7, 5)).astype(dtype)
    ones = dtype(True) if dtype is np.bool_ else ~dtype(0)

    def reduced(x: Any) -> list[Any]:
        results: list[Any] = []
        for combine, init in (
            (lax.bitwise_and, ones),
            (lax.bitwise_or, dtype(0)),
            (lax.bitwise_xor, dtype(0)),
            (lax.bitwise_xor, dtype(1)),
        ):
            results += [lax.reduce(x, init, combine, dims) for dims in ((0,), (1, 2), (0, 1, 2))]
            windows = ((1, 2, 3), (1, 1, 2), "SAME")
            # Padding counts each of its elements, which matters with this start.
            if (combine, init) != (lax.bitwise_xor, 1):
                results.append(lax.reduce_window(x, init, combine, *windows))
        return results

    check_against_jax(reduced, x)


def test_bodies_of_several_operations() -> None:
    """Several results at once, in the order of the elements, from any initial value."""
    x, y = floats(3, 7, 5), floats(3, 7, 5) + 1

    def log_add(a: Any, b: Any) -> Any:
        return jnp.maximum(a, b) + jnp.log1p(jnp.exp(-jnp.abs(a - b)))

    def affine(a: Any, b: Any) -> Any:
        return a[0] * b[0], a[1] * b[0] + b[1]

    def complex_product(a: Any, b: Any) -> Any:
        return a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]

    check_against_jax(
        lambda x, y: (
            lax.reduce(x, np.float32(-2), log_add, (1,)),
            lax.reduce(x, np.float32(-np.inf), lambda a, b: jnp.where(a > b, a, b), (0, 2)),
            *lax.reduce((x, y), (np.float32(1), np.float32(0)), affine, (1,)),
            *lax.reduce((x, y), (np.float32(1), np.float32(0)), complex_product, (0, 2)),
        ),
        x,
        y,
        rtol=1e-4,
    )


@pytest.mark.parametrize(
    ("body", "init", "pick"),
    [
        (picking("GT"), "0xFF800000", np.argmax),
        (picking("GE"), "0xFF800000", np.argmax),
        (picking("LT", "%b", "%a"), "0xFF800000", np.argmax),
        (picking("LT"), "0x7F800000", np.argmin),
        (picking("LE"), "0x7F800000", np.argmin),
        (picking("GE", "%b", "%a"), "0x7F800000", np.argmin),
    ],
)
def test_positions_whichever_of_equal_numbers_is_kept(body: str, init: str, pick: Any) -> None:
    """A body may keep the first or the second of two equal numbers: both are an argmax."""
    text = reduction(body, init=init)
    assert "ttir.argmax" in printed(text, "convert-stablehlo-to-ttir=spelling=2024")
    x = floats(3, 5)
    found = run_stablehlo(text, [x, np.zeros((3, 5), np.int32)])
    np.testing.assert_array_equal(found[0], pick(x, axis=1))


def test_positions_of_another_order_and_start() -> None:
    """A number with its position where argmax does not fit: bodies in their full generality."""
    found = run_stablehlo(
        reduction(picking("GT"), init="0.5", positions="%other"),
        [x := floats(3, 5), other := integers(3, 5)],
    )
    best = np.argmax(x, axis=1)
    expected = np.where(x.max(axis=1) > 0.5, np.take_along_axis(other, best[:, None], 1)[:, 0], 0)
    np.testing.assert_array_equal(found[0], expected)


RESHAPED = """%1 = stablehlo.reshape %a : (tensor<f32>) -> tensor<1xf32>
  %2 = stablehlo.reshape %1 : (tensor<1xf32>) -> tensor<f32>
  %3 = stablehlo.add %2, %b : tensor<f32>
  stablehlo.return %3 : tensor<f32>"""
REFUSED = {
    "other operations": (
        reduction(RESHAPED),
        "its body computes stablehlo.reshape, stablehlo.reshape, stablehlo.add; supported are "
        "bodies of elementwise operations",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name: str) -> None:
    """Bodies are named by what they compute."""
    text, expected = REFUSED[name]
    with pytest.raises(DiagnosticError) as error:
        printed(text, "convert-stablehlo-to-ttir=spelling=2024")
    message = str(error.value)
    found = re.match(
        r"test\.mlir:\d+:\d+: error: failed to legalize operation 'stablehlo.reduce': ", message
    )
    assert found is not None
    assert expected in message


@pytest.mark.parametrize(
    ("text", "expected"),
    [(picking("GT"), [2, 0, 4]), (picking("LT", "%b", "%a"), [2, 0, 4])],
    ids=["greater", "turned"],
)
def test_bodies_are_known_by_what_they_do(text: str, expected: list[int]) -> None:
    """The same function in other words."""
    x = np.float32([[0, 1, 2, 1, -1], [3, 0, 0, 0, 0], [0, 0, 0, 0, 1]])
    (result,) = run_stablehlo(reduction(text, init="0xFF800000"), [x, np.zeros((3, 5), np.int32)])
    assert result.tolist() == expected


FOLDS: dict[str, Callable[[Any, Any], Any]] = {
    "difference": lambda a, b: a - b,
    "weighted": lambda a, b: a * 0.5 + b,
    "polynomial": lambda a, b: a * b + 1,
    "mean of two": lambda a, b: (a + b) / 2,
    "distance": lambda a, b: abs(a - b),
}


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("name", FOLDS)
def test_bodies_that_are_not_associative(name: str) -> None:
    """One element after the other is folded into the initial value, as XLA does it."""
    check_against_jax(
        lambda x: (
            reduced(FOLDS[name], 0.25, (1,))(x),
            reduced(FOLDS[name], 2, (0, 2))(x),
            reduced(FOLDS[name], -1, ())(x),
        ),
        floats(5, 7, 3),
        rtol=1e-5,
    )


def test_bodies_of_several_results_that_are_not_associative() -> None:
    """A running mean: the number of elements so far, and their mean."""
    check_against_jax(
        lambda x, n: lax.reduce(
            (n, x),
            (np.float32(0), np.float32(0)),
            lambda a, b: (a[0] + b[0], a[1] + (b[1] - a[1]) / (a[0] + b[0])),
            (1,),
        ),
        *(floats(3, 9), np.ones((3, 9), np.float32)),
        rtol=1e-5,
    )


@pytest.mark.parametrize("shape", [(3, 33), (20, 20)])
def test_too_many_elements_in_order(shape: tuple[int, int]) -> None:
    """XLA folds long dimensions in parts; the message says what is supported."""
    dims = (1,) if shape[1] == 33 else (0, 1)
    with pytest.raises(DiagnosticError, match="which is not associative: the result depends on"):
        run_stablehlo(reduced(lambda a, b: a - b, 0, dims), [floats(*shape)])


@pytest.mark.parametrize("argument", ["%a", "%b"])
def test_one_argument_twice_is_no_sum(argument: str) -> None:
    """A body has to combine both of its arguments."""
    body = f"%1 = stablehlo.add {argument}, {argument} : tensor<f32>\n"
    body += "stablehlo.return %1 : tensor<f32>"
    region = next(
        op.regions[0]
        for op in parse_module(reduction(body), "x.mlir", make_context(DIALECTS)).walk()
        if op.name == "stablehlo.reduce"
    )
    assert combiners(region) is None
    x = floats(3, 5)
    (result,) = run_stablehlo(reduction(body, init="1.0"), [x])
    expected = np.full(3, 2.0**5) if argument == "%a" else 2 * x[:, -1]
    np.testing.assert_array_equal(result, expected)
