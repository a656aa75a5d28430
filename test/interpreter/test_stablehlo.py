"""What StableHLO's operations compute is compared with JAX and with XLA's compiler."""

# ruff: noqa: E501 (operations stand on one line)

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import pytest
from oracles.stablehlo_oracle import executed
from samples.jax_corpus import CORPUS, lowered, values

from ttmlir.dialects import DIALECTS
from ttmlir.interpreter import execute
from ttmlir.mlir.context import make_context
from ttmlir.mlir.reader import parse_module
from ttmlir.mlir.reporting import DiagnosticError

REFUSED = {
    "linear_algebra": "calls 'lapack_spotrf_ffi', which only the framework's own runtime has",
}
TOLERANCE = {2: 2e-2, 4: 2e-4, 8: 2e-4}


def run(text: str, inputs: list[Any]) -> list[Any]:
    """The results of a module's text."""
    return execute(parse_module(text, "program.mlir", make_context(DIALECTS)), inputs)


def assert_same(got: list[Any], expected: list[Any]) -> None:
    """Same number, shapes and kinds; floats within the tolerance of their width."""
    assert len(got) == len(expected)
    for result, wanted in zip(got, expected, strict=True):
        wanted = np.asarray(wanted)
        assert result.shape == wanted.shape
        if wanted.dtype.kind in "biu":
            np.testing.assert_array_equal(result, wanted)
            continue
        tolerance = TOLERANCE[min(wanted.dtype.itemsize, 8)]
        kind = np.complex128 if wanted.dtype.kind == "c" else np.float64
        np.testing.assert_allclose(
            result.astype(kind), wanted.astype(kind), rtol=tolerance, atol=tolerance
        )


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("name", [name for name in CORPUS if name not in (*REFUSED, "random_bits")])
def test_programs_compute_what_jax_does(name: str) -> None:
    """All results of each program of the corpus."""
    function, arguments = CORPUS[name]()
    program = lowered(name)
    kept = program._lowering.compile_args["kept_var_idx"]
    inputs = [leaf for i, leaf in enumerate(jax.tree.leaves(arguments)) if i in kept]
    expected = jax.tree.leaves(jax.jit(function)(*arguments))
    assert_same(run(program.as_text(), inputs), expected)


@pytest.mark.parametrize("name", REFUSED)
def test_foreign_code_is_refused(name: str) -> None:
    """Code that only a framework has."""
    _, arguments = CORPUS[name]()
    with pytest.raises(DiagnosticError) as caught:
        run(lowered(name).as_text(), jax.tree.leaves(arguments))
    assert REFUSED[name] in str(caught.value)


IMAGE = "tensor<2x3x5xf32>"
VECTOR = "tensor<3xf32>"
ORDERED = np.array(
    [0xFFFFFFFF, 0xFFC00000, 0xFF800000, 0x80000001, 0x80000000, 0, 1, 0x7F800000, 0x7FFFFFFF],
    np.uint32,
).view(np.float32)
"""From the least number to the greatest in total order: NaN, infinity, denormal, zero."""
SPECIAL = np.array([[0.5, -0.5, 2.5, -np.inf], [np.nan, -0.0, 1e38, 1.4999999]], np.float32)
PROGRAMS: dict[str, tuple[str, list[Any]]] = {
    "batch_norm_inference": (
        f"""func.func public @main(%x: {IMAGE}, %a: {VECTOR}, %b: {VECTOR}) -> {IMAGE} {{
          %0 = "stablehlo.batch_norm_inference"(%x, %a, %b, %b, %a) <{{epsilon = 1.0e-2 : f32, feature_index = 1 : i64}}> : ({IMAGE}, {VECTOR}, {VECTOR}, {VECTOR}, {VECTOR}) -> {IMAGE}
          return %0 : {IMAGE}
        }}""",
        [values(2, 3, 5), np.abs(values(3)) + 1, values(3, seed=1)],
    ),
    "batch_norm_training": (
        f"""func.func public @main(%x: {IMAGE}, %a: {VECTOR}, %b: {VECTOR}) -> ({IMAGE}, {VECTOR}, {VECTOR}) {{
          %0:3 = "stablehlo.batch_norm_training"(%x, %a, %b) <{{epsilon = 1.0e-2 : f32, feature_index = 1 : i64}}> : ({IMAGE}, {VECTOR}, {VECTOR}) -> ({IMAGE}, {VECTOR}, {VECTOR})
          return %0#0, %0#1, %0#2 : {IMAGE}, {VECTOR}, {VECTOR}
        }}""",
        [values(2, 3, 5), values(3), values(3, seed=1)],
    ),
    "batch_norm_grad": (
        f"""func.func public @main(%x: {IMAGE}, %a: {VECTOR}, %b: {VECTOR}, %g: {IMAGE}) -> ({IMAGE}, {VECTOR}, {VECTOR}) {{
          %0:3 = "stablehlo.batch_norm_grad"(%x, %a, %b, %a, %g) <{{epsilon = 1.0e-2 : f32, feature_index = 1 : i64}}> : ({IMAGE}, {VECTOR}, {VECTOR}, {VECTOR}, {IMAGE}) -> ({IMAGE}, {VECTOR}, {VECTOR})
          return %0#0, %0#1, %0#2 : {IMAGE}, {VECTOR}, {VECTOR}
        }}""",
        [values(2, 3, 5), np.abs(values(3)) + 1, values(3, seed=1), values(2, 3, 5, seed=2)],
    ),
    "rounding": (
        """func.func public @main(%x: tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xi32>) {
          %0 = stablehlo.round_nearest_afz %x : tensor<2x4xf32>
          %1 = stablehlo.round_nearest_even %x : tensor<2x4xf32>
          %2 = stablehlo.reduce_precision %x, format = e5m2 : tensor<2x4xf32>
          %3 = stablehlo.bitcast_convert %0 : (tensor<2x4xf32>) -> tensor<2x4xi32>
          return %0, %1, %2, %3 : tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xi32>
        }""",
        [np.where(np.isnan(SPECIAL), 3.5, SPECIAL)],
    ),
    "total_order": (
        """func.func public @main(%x: tensor<2x4xf32>, %y: tensor<2x4xf32>) -> (tensor<2x4xi1>, tensor<2x4xi1>) {
          %0 = stablehlo.compare LT, %x, %y, TOTALORDER : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xi1>
          %1 = stablehlo.compare NE, %x, %y, FLOAT : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xi1>
          return %0, %1 : tensor<2x4xi1>, tensor<2x4xi1>
        }""",
        [SPECIAL, np.abs(SPECIAL[::-1])],
    ),
    "total_order_of_every_kind_of_number": (
        """func.func public @main(%x: tensor<9x9xf32>, %y: tensor<9x9xf32>) -> tensor<9x9xi1> {
          %0 = stablehlo.compare LT, %x, %y, TOTALORDER : (tensor<9x9xf32>, tensor<9x9xf32>) -> tensor<9x9xi1>
          return %0 : tensor<9x9xi1>
        }""",
        [np.tile(ORDERED, (9, 1)), np.tile(ORDERED[:, None], (1, 9))],
    ),
    "map": (
        """func.func public @main(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> tensor<2x3xf32> {
          %0 = "stablehlo.map"(%x, %y) <{dimensions = array<i64: 0, 1>}> ({
          ^bb0(%a: tensor<f32>, %b: tensor<f32>):
            %c = stablehlo.constant dense<2.0> : tensor<f32>
            %1 = stablehlo.multiply %a, %c : tensor<f32>
            %2 = stablehlo.subtract %1, %b : tensor<f32>
            stablehlo.return %2 : tensor<f32>
          }) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
          return %0 : tensor<2x3xf32>
        }""",
        [values(2, 3), values(2, 3, seed=1)],
    ),
    "fold_by_a_function_that_is_not_commutative": (
        """func.func public @main(%x: tensor<4x3xf32>, %s: tensor<f32>) -> tensor<3xf32> {
          %0 = stablehlo.reduce(%x init: %s) across dimensions = [0] : (tensor<4x3xf32>, tensor<f32>) -> tensor<3xf32>
           reducer(%a: tensor<f32>, %b: tensor<f32>)  {
            %1 = stablehlo.abs %b : tensor<f32>
            %2 = stablehlo.maximum %a, %1 : tensor<f32>
            stablehlo.return %2 : tensor<f32>
          }
          return %0 : tensor<3xf32>
        }""",
        [values(4, 3), np.float32(0.25)],
    ),
    "scatter_by_a_function": (
        """func.func public @main(%x: tensor<5x2xf32>, %i: tensor<4x1xi32>, %u: tensor<4x2xf32>) -> tensor<5x2xf32> {
          %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
          ^bb0(%a: tensor<f32>, %b: tensor<f32>):
            %1 = stablehlo.multiply %b, %b : tensor<f32>
            %2 = stablehlo.add %a, %1 : tensor<f32>
            stablehlo.return %2 : tensor<f32>
          }) : (tensor<5x2xf32>, tensor<4x1xi32>, tensor<4x2xf32>) -> tensor<5x2xf32>
          return %0 : tensor<5x2xf32>
        }""",
        [values(5, 2), np.array([[3], [1], [3], [9]], np.int32), values(4, 2, seed=1)],
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_operations_compute_what_xla_does(name: str) -> None:
    """Operations that JAX does not use, and their corners."""
    text, inputs = PROGRAMS[name]
    assert_same(run(text, inputs), executed(text, inputs))


def test_digamma_has_poles_and_reflects() -> None:
    """Known numbers: psi(1) = -gamma, psi(1/2) = -gamma - 2 log 2, psi(-1/2) = psi(1/2) + 2."""
    text = """func.func @main(%x: tensor<5xf32>) -> tensor<5xf32> {
      %0 = chlo.digamma %x : tensor<5xf32> -> tensor<5xf32>
      return %0 : tensor<5xf32>
    }"""
    gamma = 0.5772156649
    half = -gamma - 2 * np.log(2)
    expected = np.array([-gamma, half, half + 2, 1 - gamma, np.nan])
    (got,) = run(text, [np.array([1, 0.5, -0.5, 2, -3], np.float32)])
    np.testing.assert_allclose(got, expected, rtol=1e-6)


def test_infinite_parts_of_complex_numbers_stay_apart() -> None:
    """An infinite imaginary part makes no NaN of the real one, nor of what is computed of it."""
    text = """func.func @main(%x: tensor<3xf32>, %y: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
      %0 = stablehlo.complex %x, %y : tensor<3xcomplex<f32>>
      %1 = stablehlo.real %0 : (tensor<3xcomplex<f32>>) -> tensor<3xf32>
      %2 = stablehlo.abs %0 : (tensor<3xcomplex<f32>>) -> tensor<3xf32>
      return %1, %2 : tensor<3xf32>, tensor<3xf32>
    }"""
    x, y = np.array([1, 3, -2], np.float32), np.array([np.inf, 4, -np.inf], np.float32)
    real, size = run(text, [x, y])
    np.testing.assert_array_equal(real, x)
    np.testing.assert_array_equal(size, [np.inf, 5, np.inf])


@pytest.mark.parametrize("algorithm", ["RNG_THREE_FRY", "RNG_PHILOX"])
@pytest.mark.parametrize("dtype", ["uint8", "uint16", "uint32"])
def test_random_bits(algorithm: str, dtype: str) -> None:
    """Numbers and states of XLA's generators, bit for bit."""

    def function(state: Any) -> Any:
        kind = getattr(jax.lax.RandomAlgorithm, algorithm)
        return jax.lax.rng_bit_generator(state, (3, 5), dtype=np.dtype(dtype), algorithm=kind)

    state = np.array([2**32 - 1, 7, 2**32 - 2, 2**32 - 1], np.uint32)
    text = jax.jit(function).lower(state).as_text()
    for found, expected in zip(run(text, [state]), jax.jit(function)(state), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_draws_without_a_state() -> None:
    """Words of Threefry, whose keys are the numbers of the draws from the end of the module."""
    program = jax.jit(lambda: [jax.lax.rng_uniform(-2.0, 3.0, (4, 5)) for _ in range(2)])
    for key, found in zip((2, 1), run(program.lower().as_text(), []), strict=True):
        state = np.array([key, 0, 0, 0], np.uint32)
        kind = jax.lax.RandomAlgorithm.RNG_THREE_FRY
        _, words = jax.lax.rng_bit_generator(state, (4, 5), algorithm=kind)
        uniform = (np.asarray(words) >> 9) * np.float32(2**-23)
        np.testing.assert_allclose(found, uniform * 5 - 2, rtol=1e-6, atol=1e-6)


def test_integers_that_numpy_lacks() -> None:
    """Integers of 4 bits wrap at 4 bits, and floats saturate there, as in JAX."""

    def function(x: Any, y: Any, z: Any) -> Any:
        summed = jax.lax.add(x, x)
        to = jax.lax.convert_element_type
        return (
            *(summed, jax.lax.mul(y, y), jax.lax.sub(y, y + y), to(summed, np.int32)),
            *(to(z, "int4"), to(z, "uint4"), to(x, "uint4"), to(y, "int4"), jax.lax.max(x, summed)),
        )

    x = np.array([7, -8, 0, 3, -1]).astype("int4")
    y = np.array([9, 15, 1, 0, 8]).astype("uint4")
    z = np.array([7.9, 8.0, -9.0, 100.0, -1.5], np.float32)
    jitted = jax.jit(function)
    expected = [np.asarray(each).astype(np.int32) for each in jitted(x, y, z)]
    wide = [x.astype(np.int8), y.astype(np.uint8), z]
    assert_same(
        [each.astype(np.int32) for each in run(jitted.lower(x, y, z).as_text(), wide)], expected
    )


def test_constants_of_4_bits() -> None:
    """The highest bit is the sign, unless the type has none."""
    text = (
        "func.func @f() -> (tensor<4xi4>, tensor<4xui4>, tensor<2xi2>) {\n"
        "  %0 = stablehlo.constant dense<[1, -8, 7, -1]> : tensor<4xi4>\n"
        "  %1 = stablehlo.constant dense<[1, 8, 7, 15]> : tensor<4xui4>\n"
        "  %2 = stablehlo.constant dense<-2> : tensor<2xi2>\n"
        "  return %0, %1, %2 : tensor<4xi4>, tensor<4xui4>, tensor<2xi2>\n}\n"
    )
    assert [each.tolist() for each in run(text, [])] == [[1, -8, 7, -1], [1, 8, 7, 15], [-2, -2]]


@pytest.mark.parametrize(("body", "expected"), [("%a, %a", [0, 0]), ("%b, %b", [6, 12])])
def test_reducers_that_use_one_argument_twice(body: str, expected: list[float]) -> None:
    """They are no sums, whatever the operation is called."""
    x = np.arange(6, dtype=np.float32).reshape(2, 3) + 1
    (got,) = run(reduction_by(f"stablehlo.add {body}"), [x])
    assert got.tolist() == expected


def reduction_by(body: str) -> str:
    """A reduction of rows from 0 by an operation on %a, what is there, and %b."""
    return f"""func.func @f(%x: tensor<2x3xf32>) -> tensor<2xf32> {{
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce"(%x, %c) <{{dimensions = array<i64: 1>}}> ({{
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = {body} : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }}) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}}
"""
