"""StableHLO's sorting as JAX and others write it, through files and the runtime."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from running.pass_runner import executed, printed
from samples.stablehlo_programs import check_against_jax, jax

import ttmlir
from ttmlir.mlir.reporting import DiagnosticError

lax, jnp = jax.lax, jax.numpy
PIPELINE = "stablehlo-to-ttir-pipeline=spelling=2024"


def few(*shape: int, dtype: Any = np.float32, seed: int = 0) -> Any:
    """Numbers of which many are equal; of floating point ones, some are NaN or infinite."""
    rng = np.random.default_rng(seed)
    drawn = rng.integers(-4, 5, shape).astype(np.float64)
    if np.dtype(dtype).kind not in "iub":
        for number in (np.nan, np.inf, -np.inf):
            drawn[rng.random(shape) < 0.05] = number
    return drawn.astype(dtype)


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("dtype", [np.float32, ml_dtypes.bfloat16, np.int32, np.int8], ids=str)
def test_one_tensor(dtype: Any) -> None:
    """Values and places, along every dimension, in both directions."""
    check_against_jax(
        lambda x: (
            jnp.sort(x, axis=0),
            jnp.sort(x, axis=1, descending=True),
            jnp.argsort(x, axis=1),
            jnp.argsort(x, axis=-1, descending=True),
            jnp.sort(x, axis=None),
            jnp.argsort(x, axis=1, stable=False).shape[0] + x,
        ),
        few(3, 37, 5, dtype=dtype),
    )


def test_other_types() -> None:
    """Truth values and numbers without sign."""
    check_against_jax(
        lambda b, u: (jnp.sort(b, axis=0), jnp.argsort(b, axis=0), jnp.sort(u, axis=1)),
        *(few(5, 7, dtype=np.int32) > 0, np.arange(250, 285).reshape(5, 7).astype(np.uint8)),
    )


def test_several_tensors() -> None:
    """Keys, what is carried along, and several keys in turn."""
    check_against_jax(
        lambda x, i: (
            lax.sort_key_val(x, i, dimension=1),
            lax.sort((i, x, x * 2), dimension=0, num_keys=2),
            lax.sort((x, i), dimension=2, num_keys=1),
            jnp.lexsort((x, i), axis=1),
            jnp.lexsort((x[:, :, 0], i[:, :, 0], x[:, :, 1])),
        ),
        *(few(3, 37, 5), few(3, 37, 5, dtype=np.int32, seed=1)),
    )


def test_top_k() -> None:
    """The first ones of equals; of one element, and of integers."""
    x = np.nan_to_num(few(3, 37))
    check_against_jax(
        lambda x, i: (lax.top_k(x, 5), lax.top_k(x, 1), lax.top_k(i, 7), lax.top_k(-x, 3)),
        *(x, few(3, 37, dtype=np.int32)),
    )


def test_what_is_made_of_sorting() -> None:
    """Medians, quantiles, ranks, different numbers, places among others."""
    check_against_jax(
        lambda x, i: (
            jnp.median(x, axis=1),
            jnp.nanmedian(x, axis=1),
            jnp.quantile(x, jnp.array([0.1, 0.7]), axis=1),
            jnp.percentile(x, 30, axis=0),
            jnp.unique(i, size=9, return_inverse=True, return_counts=True),
            jnp.searchsorted(jnp.sort(i[0]), i[1]),
            jnp.searchsorted(jnp.sort(i[0]), i[1], method="sort"),
            jax.scipy.stats.rankdata(i, axis=1),
        ),
        *(few(3, 37), few(3, 37, dtype=np.int32)),
        rtol=1e-5,
    )


def sorting(body: str, elements: str = "f32", attributes: str = "is_stable = true") -> str:
    """A sort of a row by a comparator, whose text returns `%r`."""
    scalar, row = f"tensor<{elements}>", f"tensor<7x{elements}>"
    return f"""
func.func @main(%x: {row}, %y: tensor<7xi32>) -> ({row}, tensor<7xi32>) {{
  %0:2 = "stablehlo.sort"(%x, %y) <{{dimension = 0 : i64, {attributes}}}> ({{
  ^bb0(%a: {scalar}, %b: {scalar}, %c: tensor<i32>, %d: tensor<i32>):
    {body}
    stablehlo.return %r : tensor<i1>
  }}) : ({row}, tensor<7xi32>) -> ({row}, tensor<7xi32>)
  return %0#0, %0#1 : {row}, tensor<7xi32>
}}
"""


def compare(direction: str, a: str, b: str, kind: str = "f32", how: str = "FLOAT") -> str:
    """A comparison."""
    types = f"(tensor<{kind}>, tensor<{kind}>) -> tensor<i1>"
    return f"stablehlo.compare {direction}, {a}, {b}, {how} : {types}"


KEYS, VALUES = [3.0, 1.0, 2.0, 1.0, 3.0, -0.0, 0.0], [5, 1, 2, 0, 4, 1, 0]
COMPARATORS: dict[str, tuple[str, Callable[[tuple[float, int]], Any]]] = {
    "less": (f"%r = {compare('LT', '%a', '%b')}", lambda p: p[0]),
    "greater": (f"%r = {compare('GT', '%a', '%b')}", lambda p: -p[0]),
    "exchanged": (f"%r = {compare('GT', '%b', '%a')}", lambda p: p[0]),
    "of the second": (f"%r = {compare('LT', '%c', '%d', 'i32', 'SIGNED')}", lambda p: p[1]),
    "not at least": (
        f"%0 = {compare('GE', '%a', '%b')}\n    %r = stablehlo.not %0 : tensor<i1>",
        lambda p: p[0],
    ),
    "negated": (
        "%0 = stablehlo.negate %a : tensor<f32>\n    %1 = stablehlo.negate %b : tensor<f32>\n"
        f"    %r = {compare('LT', '%0', '%1')}",
        lambda p: -p[0],
    ),
    "ties": (
        f"%0 = {compare('GT', '%a', '%b')}\n    %1 = {compare('EQ', '%a', '%b')}\n"
        f"    %2 = {compare('LT', '%c', '%d', 'i32', 'SIGNED')}\n"
        "    %3 = stablehlo.and %1, %2 : tensor<i1>\n    %r = stablehlo.or %0, %3 : tensor<i1>",
        lambda p: (-p[0], p[1]),
    ),
    "ties chosen": (
        f"%0 = {compare('LT', '%a', '%b')}\n    %1 = {compare('EQ', '%a', '%b')}\n"
        f"    %2 = {compare('GT', '%c', '%d', 'i32', 'SIGNED')}\n"
        "    %r = stablehlo.select %1, %2, %0 : tensor<i1>, tensor<i1>",
        lambda p: (p[0], -p[1]),
    ),
}


@pytest.mark.parametrize("name", COMPARATORS)
def test_comparators(name: str) -> None:
    """Forms that comparators have; Python's sort is stable, too."""
    body, key = COMPARATORS[name]
    given = [np.array(KEYS, np.float32), np.array(VALUES, np.int32)]
    found = executed(sorting(body), given, "stablehlo-to-ttnn-pipeline")
    wanted = sorted(zip(KEYS, VALUES, strict=True), key=key)
    assert [*zip(*(each.tolist() for each in found), strict=True)] == wanted


@pytest.mark.parametrize(
    ("body", "elements"),
    [
        (f"%r = {compare('LE', '%a', '%b')}", "f32"),
        (f"%r = {compare('GE', '%a', '%b')}", "f32"),
        (f"%0 = stablehlo.abs %a : tensor<f32>\n    %r = {compare('LT', '%0', '%b')}", "f32"),
        (
            "%0 = stablehlo.constant dense<1.0> : tensor<f32>\n"
            f"    %r = {compare('LT', '%a', '%0')}",
            "f32",
        ),
        (
            f"%0 = {compare('LT', '%a', '%b')}\n"
            f"    %1 = {compare('LT', '%c', '%d', 'i32', 'SIGNED')}\n"
            "    %r = stablehlo.xor %0, %1 : tensor<i1>",
            "f32",
        ),
    ],
)
def test_refused_comparators(body: str, elements: str) -> None:
    """Equal elements that precede each other, functions of elements, and no order at all."""
    with pytest.raises(DiagnosticError, match="its comparator computes ") as caught:
        printed(sorting(body, elements), PIPELINE)
    assert "supported are comparators that order by operands as numbers, asc" in str(caught.value)


def test_negated_integers() -> None:
    """The smallest integer is its own negative: such a comparator does not order by numbers."""
    body = (
        "%0 = stablehlo.negate %c : tensor<i32>\n    %1 = stablehlo.negate %d : tensor<i32>\n"
        f"    %r = {compare('LT', '%0', '%1', 'i32', 'SIGNED')}"
    )
    with pytest.raises(DiagnosticError, match="its comparator computes"):
        printed(sorting(body), PIPELINE)


def test_no_order() -> None:
    """A comparator that is never true, rows of one element, and numbers without dimensions."""
    never = sorting("%r = stablehlo.constant dense<false> : tensor<i1>")
    assert "ttir.sort" not in printed(never, PIPELINE)
    check_against_jax(lambda x: (jnp.sort(x, axis=1), lax.sort(x, dimension=1)), few(3, 1))


def test_places_are_not_moved() -> None:
    """A count that is sorted along becomes the places themselves, also as the last key."""
    text = printed(
        """
func.func @main(%x: tensor<3x7xf32>) -> (tensor<3x7xf32>, tensor<3x7xi32>) {
  %i = stablehlo.iota dim = 1 : tensor<3x7xi32>
  %0:2 = "stablehlo.sort"(%x, %i) <{dimension = 1 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>):
    %1 = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %2 = stablehlo.compare EQ, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %3 = stablehlo.compare LT, %c, %d : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %4 = stablehlo.select %2, %3, %1 : tensor<i1>, tensor<i1>
    stablehlo.return %4 : tensor<i1>
  }) : (tensor<3x7xf32>, tensor<3x7xi32>) -> (tensor<3x7xf32>, tensor<3x7xi32>)
  return %0#0, %0#1 : tensor<3x7xf32>, tensor<3x7xi32>
}
""",
        PIPELINE,
    )
    assert text.count("ttir.sort") == 1
    assert "ttir.gather" not in text


CALL = """
func.func @main(%x: tensor<3x7xf32>) -> (tensor<3x2xf32>, tensor<3x2xi32>) {
  %0:2 = stablehlo.custom_call @mhlo.topk(%x) {mhlo.attributes = {ATTRIBUTES},
      mhlo.version = 1 : i64} : (tensor<3x7xf32>) -> (tensor<3x2xf32>, tensor<3x2xi32>)
  return %0#0, %0#1 : tensor<3x2xf32>, tensor<3x2xi32>
}
"""


@pytest.mark.parametrize("largest", [True, False])
def test_calls_of_mhlo(largest: bool) -> None:
    """The custom call that stands for `mhlo.topk`."""
    x = np.random.default_rng(0).permutation(21).reshape(3, 7).astype(np.float32)
    text = CALL.replace("ATTRIBUTES", f"k = 2 : i64, largest = {str(largest).lower()}")
    values, places = executed(text, [x], "stablehlo-to-ttnn-pipeline")
    order = np.argsort(-x if largest else x, 1)[:, :2]
    np.testing.assert_array_equal(places, order)
    np.testing.assert_array_equal(values, np.take_along_axis(x, order, 1))


def test_calls_that_do_not_say_how_many() -> None:
    """The message shows what they say."""
    with pytest.raises(DiagnosticError, match=re.escape("mhlo.attributes = {k = 3 : i64, larg")):
        printed(CALL.replace("ATTRIBUTES", "largest = true"), PIPELINE)


COMPOSITE = """
func.func private @meaning(%x: tensor<3x7xf32>) -> (tensor<3x2xf32>, tensor<3x2xi32>) {
  %0 = stablehlo.constant dense<1.0> : tensor<3x2xf32>
  %1 = stablehlo.constant dense<1> : tensor<3x2xi32>
  return %0, %1 : tensor<3x2xf32>, tensor<3x2xi32>
}
func.func @main(%x: tensor<3x7xf32>) -> (tensor<3x2xf32>, tensor<3x2xi32>) {
  %0:2 = "stablehlo.composite"(%x) <{name = "chlo.top_k", decomposition = @meaning,
      composite_attributes = {K}, version = 1 : i32}>
      : (tensor<3x7xf32>) -> (tensor<3x2xf32>, tensor<3x2xi32>)
  return %0#0, %0#1 : tensor<3x2xf32>, tensor<3x2xi32>
}
"""


def test_exported_top_k() -> None:
    """JAX exports the operation as a composite, whose own meaning is left away."""
    text = printed(COMPOSITE.replace("K", "k = 2 : i64"), PIPELINE)
    assert text.count("ttir.topk") == 1
    assert text.count("func.func") == 1
    without = printed(COMPOSITE.replace("{K}", "{}"), PIPELINE)
    assert "ttir.topk" not in without
    exported = jax.export.export(jax.jit(lambda x: lax.top_k(x, 2)))(np.ones((3, 7), np.float32))
    values, places = ttmlir.compile(exported)(np.array([[3, 1, 4, 1, 5, 9, 2]] * 3, np.float32))
    assert values.tolist() == [[9, 5]] * 3
    assert places.tolist() == [[5, 4]] * 3
