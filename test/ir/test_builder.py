"""What the builders create, where, and that nothing else makes destinations."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    FileLineColLoc,
    IntAttr,
    IntegerType,
    Signedness,
    StringAttr,
    TensorType,
    f32,
    i1,
    i32,
)
from xdsl.dialects.tensor import EmptyOp
from xdsl.ir import Block, Operation, SSAValue

from ttmlir.dialects import ttir
from ttmlir.errors import InputError
from ttmlir.ir.builder import Builder, OpBuilder, Style
from ttmlir.ir.constants import constant_indices, constant_numbers, splat_number
from ttmlir.ir.rewriting import erase_unused
from ttmlir.ir.tensor_types import invert_permutation, limits_of, value_shape
from ttmlir.mlir.reporting import DiagnosticError

ROOT = Path(__file__).resolve().parents[2]
HERE = FileLineColLoc(StringAttr("here.mlir"), IntAttr(3), IntAttr(5))


def make_builder(*shape: int) -> tuple[Builder, SSAValue]:
    """A builder at the end of a block, and the block's argument of this shape."""
    block = Block(arg_types=[TensorType(f32, shape)])
    return Builder(block, HERE), block.args[0]


def names_in(block: Block) -> list[str]:
    """The names of the operations of a block."""
    return [op.name for op in block.ops]


def evaluate(value: SSAValue, argument: np.ndarray) -> np.ndarray:
    """What operations that move elements make of the block's argument, by the definitions'
    meanings."""
    owner = value.owner
    if not isinstance(owner, Operation):
        return argument
    assert isinstance(owner, ttir.TTIRTableOp)
    inputs = [evaluate(operand, argument) for operand in owner.inputs]
    parameters = owner.parameters()
    if owner.DEFINITION.mnemonic == "broadcast":
        return np.broadcast_to(inputs[0], value_shape(value))
    return owner.DEFINITION.reference(np, *inputs, **parameters)


# -- where ---------------------------------------------------------------------------------------


def test_operations_go_to_the_end_of_a_block() -> None:
    """With the location of the builder; a destination stands before what writes to it."""
    builder, x = make_builder(2, 3)
    result = builder.create("abs", (x,), x.type)
    builder.create("neg", (result,), x.type)
    assert names_in(builder.block) == ["tensor.empty", "ttir.abs", "tensor.empty", "ttir.neg"]
    assert {op.location for op in builder.block.ops} == {HERE}


def test_operations_go_before_an_operation() -> None:
    """With its location, not with that of its neighbours."""
    builder, x = make_builder(2, 3)
    last = builder.create("abs", (x,), x.type).owner
    assert isinstance(last, Operation)
    other = FileLineColLoc(StringAttr("there.mlir"), IntAttr(7), IntAttr(1))
    last.location = other
    Builder.before(last).create_empty(x.type)
    assert names_in(builder.block) == ["tensor.empty", "tensor.empty", "ttir.abs"]
    assert [op.location for op in builder.block.ops] == [HERE, other, other]


def test_a_builder_needs_a_block() -> None:
    """An operation on its own has no place in front of it."""
    with pytest.raises(AssertionError, match="only operations in a block"):
        OpBuilder.before(EmptyOp.create(result_types=[TensorType(f32, [2])]))


# -- destinations --------------------------------------------------------------------------------


class WithoutDestinations(Builder):
    """Spells operations as values."""

    style = Style(destinations=False)


def test_the_style_decides_on_destinations() -> None:
    """Without destinations, no tensor is made and the operation has no operand for it."""
    block = Block(arg_types=[TensorType(f32, [2, 3])])
    builder = WithoutDestinations(block, HERE)
    builder.reshape(block.args[0], (3, 2))
    builder.move_to_layout(block.args[0], TensorType(f32, [2, 3]))
    assert names_in(block) == ["ttir.reshape", "ttir.to_layout"]
    assert [len(op.operands) for op in block.ops] == [1, 1]
    reshape = block.first_op
    assert reshape is not None
    assert "operand_constraints" not in reshape.properties
    assert reshape.results[0].type == TensorType(f32, [3, 2])


def test_a_destination_that_is_given_is_used() -> None:
    """No other is made."""
    builder, x = make_builder(2, 3)
    own = builder.create_empty(x.type)
    new = builder.create_op(ttir.ToLayoutOp, (x,), (x.type,), inits=(own,))
    assert names_in(builder.block) == ["tensor.empty", "ttir.to_layout"]
    assert new.inits == (own,)
    assert new.written_results == {1: new.results[0]}


BUILDERS = ("builder",)


def destination_makers(path: Path) -> list[str]:
    """Calls in a file that make an empty tensor or an operation in destination-passing style."""
    found: list[str] = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Call(func=ast.Attribute(attr="dps")):
                found.append(f"{path.name}:{node.lineno}")
            case ast.Call(func=ast.Attribute(value=made, attr="create" | "make" | "get")):
                if ast.unparse(made).split(".")[-1] == "EmptyOp":
                    found.append(f"{path.name}:{node.lineno}")
            case ast.Call(func=called) if ast.unparse(called).split(".")[-1] == "EmptyOp":
                found.append(f"{path.name}:{node.lineno}")
            case _:
                pass
    return found


def test_only_builders_make_destinations() -> None:
    """So that operations without them need no change elsewhere."""
    builders = {ROOT / "ttmlir" / "ir" / f"{name}.py" for name in BUILDERS}
    rooms = ("dialects", "ir", "passes", "frontend")
    paths = [path for room in rooms for path in sorted((ROOT / "ttmlir" / room).rglob("*.py"))]
    assert [
        each for path in paths if path not in builders for each in destination_makers(path)
    ] == []
    assert all(destination_makers(path) for path in builders)


# -- movement ------------------------------------------------------------------------------------


def test_what_changes_nothing_creates_nothing() -> None:
    """The input is the result."""
    builder, x = make_builder(2, 3)
    assert builder.reshape(x, (2, 3)) is x
    assert builder.permute(x, (0, 1)) is x
    assert builder.broadcast(x, (2, 3)) is x
    assert builder.slice(x, (0, 0), (2, 3)) is x
    assert builder.slice_along(x, 1, 0, 3) is x
    assert builder.concat([x], 0) is x
    assert builder.pad(x, [(0, 0), (0, 0)], 1.0) is x
    assert builder.dilate(x, 1, 1, 0.0) is x
    assert builder.cast(x, f32) is x
    assert names_in(builder.block) == []


def test_an_exchange_of_two_dimensions_is_a_transpose() -> None:
    """In the reference's order of dimensions; other orders are a permutation."""
    builder, x = make_builder(2, 3, 5)
    swapped = builder.permute(x, (2, 1, 0)).owner
    turned = builder.permute(x, (2, 0, 1)).owner
    assert isinstance(swapped, ttir.TTIRTableOp)
    assert isinstance(turned, ttir.TTIRTableOp)
    assert (swapped.name, swapped.parameters()) == ("ttir.transpose", {"dim0": 2, "dim1": 0})
    assert (turned.name, turned.parameters()) == ("ttir.permute", {"permutation": (2, 0, 1)})


X = np.arange(30, dtype=np.float32).reshape(2, 3, 5)


def test_movements_mean_what_numpy_does() -> None:
    """Each on a tensor of three different extents."""
    builder, x = make_builder(*X.shape)
    padded = np.pad(X, [(0, 1), (2, 0), (0, 0)], constant_values=9)[:, :, 1:4]
    dilated = np.full((2, 7, 5), -1, np.float32)
    dilated[:, ::3] = X
    for value, expected in (
        (builder.reshape(x, [5, 6]), X.reshape(5, 6)),
        (builder.transpose(x, 0, 2), X.swapaxes(0, 2)),
        (builder.permute(x, (1, 2, 0)), X.transpose(1, 2, 0)),
        (builder.slice(x, (0, 1, 0), (2, 3, 5), (1, 1, 2)), X[:, 1:, ::2]),
        (builder.slice_along(x, 2, 1, 5, 3), X[:, :, 1:5:3]),
        (builder.broadcast(x, (4, 2, 3, 5)), np.broadcast_to(X, (4, 2, 3, 5))),
        (builder.concat([x, builder.slice_along(x, 1, 0, 2)], 1), np.concatenate([X, X[:, :2]], 1)),
        (builder.pad(x, [(0, 1), (2, 0), (-1, -1)], 9.0), padded),
        (builder.dilate(x, 1, 3, -1.0), dilated),
    ):
        assert value_shape(value) == expected.shape
        np.testing.assert_array_equal(evaluate(value, X), expected)


def test_parts_without_elements_are_left_out() -> None:
    """Unless there are no others."""
    builder, x = make_builder(2, 3)
    empty = builder.create_empty(TensorType(f32, (2, 0)))
    assert builder.concat([empty, x, empty], 1) is x
    assert builder.concat([empty, empty], 1) is empty


def test_the_definition_infers_the_shape() -> None:
    """From operands and parameters."""
    builder, x = make_builder(2, 3, 5)
    result = builder.create_inferred("sum", x, keep_dim=False, dim_arg=(1,))
    assert result.type == TensorType(f32, (2, 5))


def test_a_shape_that_is_not_known_is_refused() -> None:
    """At the operation that is converted, by its name."""
    block = Block(arg_types=[TensorType(f32, (2, DYNAMIC_INDEX))])
    user = EmptyOp.create(result_types=[TensorType(f32, (2, 3))], location=HERE)
    block.add_op(user)
    with pytest.raises(DiagnosticError) as caught:
        Builder.before(user).create("abs", (block.args[0],), block.args[0].type)
    assert "here.mlir:3:5: error: failed to legalize operation 'tensor.empty'" in str(caught.value)
    assert "the shape of tensor<2x?xf32> is not known" in str(caught.value)


# -- constants -----------------------------------------------------------------------------------


def test_numbers_of_constants() -> None:
    """Of splats, lists and truth values, through what repeats and reshapes them."""
    builder, x = make_builder(2, 3)
    numbers = builder.create_numbers([4, -5, 6], TensorType(i32, (3,)))
    truth = builder.create_splat(-1, TensorType(i1, (2, 2)))
    half = builder.create_scalar(0.5, f32)
    assert constant_numbers(numbers) == (4, -5, 6)
    assert constant_indices(builder.reshape(numbers, (3, 1))) == (4, -5, 6)
    assert splat_number(numbers) is None
    assert constant_numbers(truth) == (1, 1, 1, 1)
    assert splat_number(truth) == 1
    assert splat_number(builder.broadcast(builder.reshape(half, (1, 1)), (4, 7))) == 0.5
    assert constant_numbers(x) is None
    assert constant_indices(half) is None


def test_users_of_what_is_unused_go_first() -> None:
    """A chain of unused operations vanishes in one call; what is used stays."""
    builder, x = make_builder(2, 3)
    kept = builder.create("abs", (x,), x.type)
    builder.create("neg", (builder.create("exp", (kept,), x.type),), x.type)
    erase_unused(op for op in builder.block.ops if op.name in ("ttir.neg", "ttir.exp"))
    assert names_in(builder.block) == ["tensor.empty", "ttir.abs", "tensor.empty", "tensor.empty"]


# -- types ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("element", "low", "high"),
    [("i8", -128, 127), ("ui16", 0, 65535), ("i1", 0, 1), ("f32", -np.inf, np.inf)],
)
def test_limits_of_element_types(element: str, low: float, high: float) -> None:
    """Numbers that no other of the type is below or above."""
    types = {
        "i8": IntegerType(8),
        "ui16": IntegerType(16, Signedness.UNSIGNED),
        "i1": i1,
        "f32": f32,
    }
    assert limits_of(types[element]) == (low, high)


def test_an_inverse_undoes_a_permutation() -> None:
    """Here is one that is not its own inverse."""
    assert invert_permutation((2, 0, 1)) == (1, 2, 0)


def test_operations_that_there_are_not() -> None:
    """The message has near names."""
    builder, value = make_builder(2, 3)
    with pytest.raises(InputError, match=r"operation 'ttir.sigmoyd'; did you mean sigmoid"):
        builder.create("sigmoyd", (value,), value.type)
    with pytest.raises(KeyError, match=r"'ttir.frobnicate'; docs/ops.md lists them$"):
        builder.create("frobnicate", (value,), value.type)
