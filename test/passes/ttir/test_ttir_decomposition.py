"""General operations compute the same after they are taken apart: what NumPy's einsum says."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from running.pass_runner import body, executed
from samples.ttir_text import FunctionText, tensor

Dims = tuple[int, ...]


def dot_general(
    lhs: Dims, rhs: Dims, out: Dims, dims: dict[str, Dims], element: str = "f32"
) -> str:
    """A function with one `ttir.dot_general`."""
    text = FunctionText([tensor(*lhs, element=element), tensor(*rhs, element=element)])
    attributes = ", ".join(
        f"{name} = array<i64{':' if numbers else ''} {', '.join(map(str, numbers))}>"
        for name, numbers in dims.items()
    )
    inputs = ["%arg0", "%arg1"]
    result = text.op("dot_general", inputs, tensor(*out, element=element), attributes)
    return text.returning(result)


def spelled(lhs: str, rhs: str, out: str) -> dict[str, Dims]:
    """The dimension numbers of an einsum whose result is in the order of a general product."""
    batch = [letter for letter in out if letter in lhs and letter in rhs]
    contract = [letter for letter in lhs if letter in rhs and letter not in batch]
    return {
        f"{kind}_dims_{side}": tuple(labels.index(letter) for letter in letters)
        for kind, letters in (("batch", batch), ("contract", contract))
        for side, labels in (("lhs", lhs), ("rhs", rhs))
    }


@st.composite
def products(draw: st.DrawFn) -> tuple[str, str, str, dict[str, int]]:
    """Labels of the operands and the result of a product, and the extents of the labels."""
    counts = [draw(st.integers(0, 2)) for _ in range(4)]
    letters = iter("abcdefgh")
    batch, contract, left, right = ([next(letters) for _ in range(n)] for n in counts)
    lhs = draw(st.permutations([*batch, *contract, *left]))
    rhs = draw(st.permutations([*batch, *contract, *right]))
    free_left = [letter for letter in lhs if letter in left]
    free_right = [letter for letter in rhs if letter in right]
    out = [*draw(st.permutations(batch)), *free_left, *free_right]
    extents = {letter: draw(st.sampled_from((1, 2, 3, 5))) for letter in {*lhs, *rhs}}
    return "".join(lhs), "".join(rhs), "".join(out), extents


@settings(max_examples=30, deadline=None)
@given(products())
def test_any_dimensions(product: tuple[str, str, str, dict[str, int]]) -> None:
    """Batches, sums and free dimensions in any number and order, none at all included."""
    lhs, rhs, out, extents = product
    shapes = [tuple(extents[letter] for letter in labels) for labels in (lhs, rhs, out)]
    rng = np.random.default_rng(5)
    arrays = [rng.integers(-4, 5, shape).astype(np.int32) for shape in shapes[:2]]
    dims = spelled(lhs, rhs, out)
    text = dot_general(shapes[0], shapes[1], shapes[2], dims, element="i32")
    (result,) = executed(text, arrays)
    np.testing.assert_array_equal(result, np.einsum(f"{lhs},{rhs}->{out}", *arrays))
    assert result.shape == shapes[2]


@pytest.mark.parametrize(
    ("equation", "operations"),
    [
        # Where the operands are in order, nothing moves.
        ("ij,jk->ik", ["matmul"]),
        ("bhqd,bhdk->bhqk", ["matmul"]),
        ("bsd,df->bsf", ["reshape", "matmul", "reshape"]),
        # An exchange of two dimensions moves nothing either.
        ("ij,kj->ik", ["transpose", "matmul"]),
        ("bqhd,bkhd->bhqk", ["transpose", "permute", "matmul"]),
        # Neighbours are merged before they move.
        ("cdab,cd->ab", ["reshape", "transpose", "reshape", "matmul", "reshape"]),
        ("i,j->ij", ["reshape", "reshape", "matmul"]),
        ("k,k->", ["reshape", "reshape", "matmul", "reshape"]),
    ],
)
def test_operations(equation: str, operations: list[str]) -> None:
    """What a product becomes."""
    operands, out = equation.split("->")
    lhs, rhs = operands.split(",")
    extents = {letter: 2 + i for i, letter in enumerate(sorted({*lhs, *rhs}))}
    shapes = [tuple(extents[letter] for letter in labels) for labels in (lhs, rhs, out)]
    text = dot_general(shapes[0], shapes[1], shapes[2], spelled(lhs, rhs, out))
    lines = body(text, "ttir-decomposition")
    found = [line.partition('"ttir.')[2].partition('"')[0] for line in lines if "ttir." in line]
    assert found == operations
    assert sum("tensor.empty" in line for line in lines) == len(operations)
