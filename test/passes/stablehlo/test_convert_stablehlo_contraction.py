"""What sums of products of JAX compute after conversion, against NumPy's einsum."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jax import lax
from jax import numpy as jnp
from ml_dtypes import bfloat16
from running.pass_runner import body, executed

from ttmlir.mlir.reporting import DiagnosticError

PIPELINE = "stablehlo-to-ttnn-pipeline"


def text_of(function: Any, *arrays: Any) -> str:
    """The StableHLO of a function of JAX."""
    return str(jax.jit(function).lower(*arrays).as_text())


@st.composite
def equations(draw: st.DrawFn) -> tuple[str, str, str]:
    """Labels of two operands in any order, and of the general product of them."""
    batch, contract, left, right = (
        draw(st.sampled_from(labels)) for labels in (("", "a", "ab"), ("", "c", "cd"), "e", "fg")
    )
    left = draw(st.sampled_from(("", left, "eh")))
    lhs = "".join(draw(st.permutations(batch + contract + left)))
    rhs = "".join(draw(st.permutations(batch + contract + right)))
    free = [[label for label in side if label in own] for side, own in ((lhs, left), (rhs, right))]
    return lhs, rhs, batch + "".join(free[0]) + "".join(free[1])


EXTENTS = dict(zip("abcdefgh", (2, 3, 4, 1, 5, 2, 3, 33), strict=True))


@settings(max_examples=20, deadline=None)
@given(equations())
def test_any_dimension_numbers(equation: tuple[str, str, str]) -> None:
    """JAX keeps the dimension numbers as they are given."""
    lhs, rhs, out = equation
    shapes = [[EXTENTS[label] for label in labels] for labels in (lhs, rhs)]
    rng = np.random.default_rng(3)
    a, b = (rng.standard_normal(shape).astype(np.float32) for shape in shapes)
    batch = [label for label in out if label in lhs and label in rhs]
    contract = sorted(set(lhs) & set(rhs) - {*batch})
    numbers = tuple(
        tuple([side.index(label) for label in labels] for side in (lhs, rhs))
        for labels in (contract, batch)
    )
    text = text_of(lambda a, b: lax.dot_general(a, b, numbers), a, b)
    (result,) = executed(text, [a, b], PIPELINE)
    expected = np.einsum(f"{lhs},{rhs}->{out}", a.astype(np.float64), b)
    assert result.shape == expected.shape
    np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("inputs", "output"),
    [
        (("bfloat16", "bfloat16"), "float32"),
        (("float32", "float32"), "float32"),
        (("int8", "int8"), "int32"),
        (("int32", "int32"), "int32"),
        (("uint8", "uint8"), "uint32"),
    ],
)
def test_element_types(inputs: tuple[str, str], output: str) -> None:
    """Sums have the type of the result: 100 products of 100 and 100 fit in no i8."""
    dtypes = [bfloat16 if name == "bfloat16" else np.dtype(name) for name in inputs]
    a = np.full((3, 100), 100).astype(dtypes[0])
    b = np.arange(200).reshape(100, 2).clip(0, 100).astype(dtypes[1])
    text = text_of(lambda a, b: jnp.matmul(a, b, preferred_element_type=output), a, b)
    (result,) = executed(text, [a, b], PIPELINE)
    assert result.dtype == np.dtype(output)
    expected = a.astype(np.int64) @ b.astype(np.int64)
    np.testing.assert_allclose(result.astype(np.int64), expected)


def stablehlo(op: str, lhs: str, rhs: str, out: str, attributes: str = "") -> str:
    """A function with one product in the generic form."""
    return (
        f"func.func @f(%a: tensor<{lhs}>, %b: tensor<{rhs}>) -> tensor<{out}> {{\n"
        f'  %0 = "stablehlo.{op}"(%a, %b) {attributes} '
        f": (tensor<{lhs}>, tensor<{rhs}>) -> tensor<{out}>\n"
        f"  return %0 : tensor<{out}>\n}}\n"
    )


@pytest.mark.parametrize(
    ("lhs", "rhs", "out"),
    [("5x7", "7x3", "5x3"), ("7", "7x3", "3"), ("5x7", "7", "5"), ("7", "7", "")],
)
def test_dot(lhs: str, rhs: str, out: str) -> None:
    """Vectors and matrices."""
    spelled = [f"{shape}xf32".removeprefix("x") for shape in (lhs, rhs, out)]
    rng = np.random.default_rng(4)
    shapes = [[int(extent) for extent in shape.split("x")] for shape in (lhs, rhs)]
    a, b = (rng.standard_normal(shape).astype(np.float32) for shape in shapes)
    (result,) = executed(stablehlo("dot", *spelled), [a, b], PIPELINE)
    np.testing.assert_allclose(result, a @ b, rtol=1e-5)
    assert result.shape == (a @ b).shape


def test_product_of_matrices_is_a_matmul() -> None:
    """As in tt-mlir: no general product in between."""
    plain = "<{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], RHS>}>"
    kept = plain.replace("RHS", "rhs_contracting_dimensions = [0]")
    lines = body(
        stablehlo("dot_general", "5x7xf32", "7x3xf32", "5x3xf32", kept),
        "convert-stablehlo-to-ttir=spelling=2024",
    )
    assert '"ttir.matmul"' in lines[1]
    turned = plain.replace("RHS", "rhs_contracting_dimensions = [1]")
    lines = body(
        stablehlo("dot_general", "5x7xf32", "3x7xf32", "5x3xf32", turned),
        "convert-stablehlo-to-ttir=spelling=2024",
    )
    assert '"ttir.dot_general"' in lines[1]


def test_refusals() -> None:
    """Each says what to do instead."""
    with pytest.raises(DiagnosticError, match="run stablehlo-expand-operations"):
        body(
            stablehlo("einsum", "5x7xf32", "7x3xf32", "5x3xf32", '{einsum_config = "ab,bc->ac"}'),
            "convert-stablehlo-to-ttir=spelling=2024",
        )
    with pytest.raises(DiagnosticError, match="give every tensor a static shape"):
        body(
            stablehlo("dot", "?x7xf32", "7x3xf32", "?x3xf32"),
            "convert-stablehlo-to-ttir=spelling=2024",
        )
