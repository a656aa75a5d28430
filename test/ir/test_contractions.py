"""Which sums and products a contraction over named dimensions becomes."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import FileLineColLoc, IntAttr, StringAttr, TensorType, f32
from xdsl.ir import Block

from ttmlir.arrays.array import contract
from ttmlir.ir.builder import Builder, TTIRCarrier, array_in
from ttmlir.ir.tensor_types import value_shape

HERE = FileLineColLoc(StringAttr("here.mlir"), IntAttr(3), IntAttr(5))
EXTENTS = {"a": 2, "b": 3, "c": 5, "d": 7}


@pytest.mark.parametrize(
    ("first", "second", "result", "expected"),
    [
        ("ab", "bc", "ac", [("matmul", (2, 5))]),
        ("dab", "dbc", "dac", [("matmul", (7, 2, 5))]),
        ("ba", "bc", "ac", [("dot_general", (2, 5))]),
        ("ab", "bc", "ca", [("matmul", (2, 5)), ("transpose", (5, 2))]),
        ("abc", "cd", "ad", [("sum", (2, 5)), ("matmul", (2, 7))]),
        ("bac", "cd", "ad", [("sum", (2, 5)), ("matmul", (2, 7))]),
        ("ac", "cdb", "ad", [("sum", (5, 7)), ("matmul", (2, 7))]),
        ("ab", "cbd", "ad", [("sum", (3, 7)), ("matmul", (2, 7))]),
        ("ad", "bc", "", [("sum", ()), ("sum", ()), ("dot_general", ())]),
        ("a", "b", "ab", [("dot_general", (2, 3))]),
        ("ab", "ab", "a", [("dot_general", (2,))]),
    ],
)
def test_contractions(
    first: str, second: str, result: str, expected: list[tuple[str, tuple[int, ...]]]
) -> None:
    """What only one operand has and the result has not is summed up before the product."""
    shapes = [tuple(EXTENTS[dim] for dim in dims) for dims in (first, second)]
    block = Block(arg_types=[TensorType(f32, shape) for shape in shapes])
    carrier = TTIRCarrier(Builder(block, HERE))
    a, b = (array_in(carrier, argument) for argument in block.args)
    found = contract(a, first, b, second, result)
    assert value_shape(found.value) == found.shape
    assert found.shape == tuple(EXTENTS[dim] for dim in result)
    made = [op for op in block.ops if op.name.startswith("ttir.")]
    assert [(op.name.removeprefix("ttir."), value_shape(op.results[0])) for op in made] == expected
    for op in made:
        op.verify()
