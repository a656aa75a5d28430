"""Loops over tiles compute what NumPy computes; padding is never read.

The interpreter fills what is beyond the shape of a tensor with NaN, so that a reduction or product
that reads it shows.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from running.d2m_interpreter import (
    HOST,
    PASS,
    Shape,
    check,
    normal,
    reduce_attributes,
    refusal,
    text_of,
    whole,
)
from running.pass_runner import lowered, printed
from samples.ttir_text import FunctionText, tensor

import ttmlir
from ttmlir.interpreter import execute
from ttmlir.mlir.option_values import OptionError
from ttmlir.mlir.reporting import DiagnosticError

# --- Elementwise ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options", ["", "collapse-tensors-2d=false", "default-input-memspace=dram"]
)
@pytest.mark.parametrize(
    "shape", [(), (1,), (70,), (33, 70), (2, 5, 7), (2, 1, 40, 3), (2, 3, 1, 33, 65)]
)
def test_ranks(shape: Shape, options: str) -> None:
    """Tensors of rank 0 to 5, in pairs of dimensions and of full rank."""
    x, y = normal(*shape), normal(*shape, seed=1)
    check("subtract", [x, y], x - y, options=options)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ((33, 70), (1, 70)),
        ((33, 70), (33, 1)),
        ((33, 70), (1, 1)),
        ((33, 70), (70,)),
        ((33, 70), ()),
        ((1, 70), (33, 1)),
        ((2, 3, 40, 17), (3, 1, 17)),
        ((2, 1, 40, 1), (3, 1, 17)),
        ((4, 1, 2, 33, 5), (3, 1, 33, 1)),
        ((5,), (1,)),
        ((1, 5), (1, 1)),
        ((3, 1, 1), (1, 40, 40)),
    ],
)
def test_broadcasts(first: Shape, second: Shape) -> None:
    """Rows, columns, numbers and matrices are repeated, of either operand."""
    x, y = normal(*first), normal(*second, seed=1)
    check("subtract", [x, y], x - y)
    check("subtract", [y, x], y - x)


@pytest.mark.parametrize("element", ["i8", "ui8", "i16", "ui16", "i32", "ui32", "i64", "ui64"])
@pytest.mark.parametrize("mnemonic", ["add", "multiply", "maximum", "ge", "bitwise_xor"])
def test_integers(mnemonic: str, element: str) -> None:
    """Short ones are widened with their sign; longer ones keep the lower 32 bits."""
    dtype = np.dtype(HOST[element])
    narrow = np.dtype(f"{dtype.kind}{min(dtype.itemsize, 4)}")
    x, y = (whole(narrow, 33, 7, seed=n).astype(dtype) for n in range(2))
    functions: dict[str, Callable[..., Any]] = {
        "add": np.add,
        "multiply": np.multiply,
        "maximum": np.maximum,
        "ge": np.greater_equal,
        "bitwise_xor": np.bitwise_xor,
    }
    expected = functions[mnemonic](x.astype(narrow), y.astype(narrow)).astype(dtype)
    check(mnemonic, [x, y], expected, tolerance=0)


@pytest.mark.parametrize("mnemonic", ["ceil", "floor", "round", "trunc"])
def test_what_leaves_integers_as_they_are(mnemonic: str) -> None:
    """Those beyond the largest one with a sign, too."""
    x = whole(np.uint32, 5, 40)
    check(mnemonic, [x], x, tolerance=0)


@pytest.mark.parametrize("mnemonic", ["abs", "relu", "neg", "sign", "isfinite"])
def test_functions_of_integers_without_sign(mnemonic: str) -> None:
    """Numbers from 2^31 are positive; the opposite of a number is its complement to 2^32."""
    x = whole(np.uint32, 33, 7)
    x[0, :5] = [0, 1, 2**31 - 1, 2**31, 2**32 - 1]
    expected = {
        "abs": x,
        "relu": x,
        "neg": (2**32 - x.astype(np.uint64)).astype(np.uint32),
        "sign": (x > 0).astype(np.uint32),
        "isfinite": np.ones_like(x),
    }
    check(mnemonic, [x], expected[mnemonic], tolerance=0)


@pytest.mark.parametrize("element", ["i8", "ui8", "i16", "ui16"])
def test_shifts_of_short_integers(element: str) -> None:
    """They have their own width; zeros from above are refused where there may be signs."""
    dtype = np.dtype(HOST[element])
    x, places = whole(dtype, 33, 7), np.resize([0, 1, 5, 7, 8, 15, 16, 40, 127], (33, 7))
    distance = places.astype(dtype)
    left = (x.astype(np.int64) << distance.astype(np.int64)).astype(dtype)
    right = (x.astype(np.int64) >> distance.astype(np.int64)).astype(dtype)
    check("logical_left_shift", [x, distance], left, tolerance=0)
    check("right_shift", [x, distance], right, tolerance=0)
    if element.startswith("u"):
        check("logical_right_shift", [x, distance], right, tolerance=0)
    else:
        message = refusal("logical_right_shift", [x, distance], x)
        assert f"kernels do not compute logical_right_shift of {element}" in message


@pytest.mark.parametrize(
    ("least", "most"),
    [(5, 2**31), (2**31 + 256, 3 * 2**30), (-1, 77), (0.5, 2**32), (-(2.0**40), 2.0**40)],
)
def test_limits_of_integers_without_sign(least: float, most: float) -> None:
    """Limits are compared without sign; those that no element has limit nothing."""
    x = whole(np.uint32, 33, 7)
    x[0, :5] = [0, 1, 2**31 - 1, 2**31, 2**32 - 1]
    expected = np.clip(x.astype(np.float64), least, most)
    expected = np.minimum(expected, 2**32 - 1).astype(np.uint32)
    check("clamp", [x], expected, f"min = {least:.9e} : f32, max = {most:.9e} : f32", tolerance=0)


@pytest.mark.parametrize("target", ["f32", "bf16", "f16", "i1", "i8", "ui8", "i16", "i32", "ui32"])
@pytest.mark.parametrize("source", ["f32", "bf16", "i1", "i8", "ui16", "i32", "i64"])
def test_conversions(source: str, target: str) -> None:
    """Numbers that both types have are the same in both; truth values ask what is not 0."""
    numbers = np.array([[0, 1, 2, 100, 0], [3, 7, 0, 64, 127]])
    x = numbers.astype(HOST[source])
    expected = x.astype(np.int64) != 0 if target == "i1" else x.astype(np.int64)
    check("typecast", [x], expected.astype(HOST[target]), tolerance=0)


def test_signs_of_short_integers() -> None:
    """A negative number of 8 bits is negative in 32."""
    x = np.array([[-128, -1, 5]], np.int8)
    check("typecast", [x], x.astype(np.int32), tolerance=0)
    check("typecast", [x], x.astype(np.float32), tolerance=0)
    check("typecast", [x.view(np.uint8)], x.view(np.uint8).astype(np.int32), tolerance=0)


def test_choice_by_numbers() -> None:
    """The condition is a truth value, or a number that is not 0; each is repeated."""
    x, y = normal(33, 70), normal(1, 70, seed=1)
    for condition in (x[:, :1] > 0, np.round(x[:, :1])):
        check("where", [condition, x, y], np.where(condition != 0, x, y))
    numbers = whole(np.int32, 33, 70)
    for condition in (x > 0, np.round(x)):
        check("where", [condition, numbers, numbers[:1]], np.where(condition, numbers, numbers[:1]))


def test_arithmetic_of_truth_values() -> None:
    """Sums and products of truth values are logic."""
    x, y = normal(33, 5) > 0, normal(33, 5, seed=1) > 0
    check("add", [x, y], x | y)
    check("multiply", [x, y], x & y)
    check("subtract", [x, y], x ^ y)
    check("maximum", [x, y], x | y)


def test_one_number_for_all_is_filled_into_tiles() -> None:
    """A splat is no operand; it is a tensor only where it is returned."""
    text = FunctionText([tensor(33, 70)])
    two, row = text.constant("2.0", tensor(33, 70)), text.constant("3.0", tensor(70))
    product = text.op("multiply", ["%arg0", two], tensor(33, 70))
    total = text.op("add", [product, row], tensor(33, 70))
    source = text.returning(total, row)
    module = lowered(source, PASS)
    generics = [op for op in module.walk() if op.name == "d2m.generic"]
    assert [len(op.operands) for op in generics] == [2, 2, 1]
    x = normal(33, 70)
    result, constant = execute(module, [x], poisons_padding=True)
    np.testing.assert_allclose(result, x * 2 + 3, rtol=1e-6)
    np.testing.assert_array_equal(constant, np.full(70, 3, np.float32))


def test_one_operand_used_twice_is_read_once() -> None:
    """`x * x` has one input."""
    text = FunctionText([tensor(5, 7)])
    module = lowered(text.returning(text.op("multiply", ["%arg0", "%arg0"], tensor(5, 7))), PASS)
    (generic,) = (op for op in module.walk() if op.name == "d2m.generic")
    assert len(generic.operands) == 2
    x = normal(5, 7)
    np.testing.assert_allclose(execute(module, [x], poisons_padding=True)[0], x * x, rtol=1e-6)


def test_parameters() -> None:
    """Limits and slopes are attributes of the operation on tiles."""
    x = normal(33, 70) * 3
    check("clamp", [x], x.clip(-1, 2), "min = -1.0 : f32, max = 2.0 : f32")
    expected = np.where(x > 0, x, np.float32(0.25) * x)
    check("leaky_relu", [x], expected, "parameter = 0.25 : f32")


def test_equal_operations_are_computed_once() -> None:
    """Also where their operands are results of equal ones, or equal constants."""
    text = FunctionText([tensor(33, 70), tensor(33, 70)])
    sums: list[str] = []
    for left, right in (("%arg0", "%arg1"), ("%arg0", "%arg1"), ("%arg1", "%arg0")):
        product = text.op("subtract", [left, right], tensor(33, 70))
        two = text.constant("2.0", tensor(33, 70))
        sums.append(text.op("multiply", [product, two], tensor(33, 70)))
    module = printed(text.returning(*sums), "ttir-load-system-desc", PASS)
    assert module.count('"d2m.tile_sub"') == module.count('"d2m.tile_mul"') == 2
    assert len(re.findall(r"d2m.to_layout .* hostInfo", module)) == 3
    steep, flat = (
        text.op("leaky_relu", ["%arg0"], tensor(33, 70), f"parameter = {slope} : f32")
        for slope in (0.5, 0.25)
    )
    module = printed(text.returning(steep, flat), "ttir-load-system-desc", PASS)
    assert module.count('"d2m.tile_leaky_relu"') == 2


# --- Products ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ((33, 70), (70, 5)),
        ((1, 1), (1, 1)),
        ((64, 32), (32, 96)),
        ((2, 3, 33, 40), (2, 3, 40, 7)),
        ((2, 3, 33, 40), (1, 1, 40, 7)),
        ((2, 1, 5, 33), (1, 3, 33, 65)),
    ],
)
def test_products(first: Shape, second: Shape) -> None:
    """Batches are repeated, and the padding of what is summed over is not read."""
    x, y = normal(*first), normal(*second, seed=1)
    expected = (x.astype(np.float64)[..., None] * y.astype(np.float64)[..., None, :, :]).sum(-2)
    check("matmul", [x, y], expected.astype(np.float32), tolerance=1e-4)


def dot_attributes(lhs: tuple[Shape, Shape], rhs: tuple[Shape, Shape]) -> str:
    """Batch and contracting dimensions of both operands."""
    return ", ".join(
        f"{name}_dims_{side} = array<i64: {', '.join(map(str, dims))}>"
        if dims
        else f"{name}_dims_{side} = array<i64>"
        for side, pair in (("lhs", lhs), ("rhs", rhs))
        for name, dims in zip(("batch", "contract"), pair, strict=True)
    )


@pytest.mark.parametrize(
    ("equation", "first", "second", "lhs", "rhs"),
    [
        ("bmk,bnk->bmn", (2, 33, 40), (2, 7, 40), ((0,), (2,)), ((0,), (2,))),
        ("bkm,bkn->bmn", (2, 40, 33), (2, 40, 7), ((0,), (1,)), ((0,), (1,))),
        ("hbkm,bhnk->bhmn", (3, 2, 40, 33), (2, 3, 7, 40), ((1, 0), (2,)), ((0, 1), (3,))),
        ("cmk,cnk->mn", (3, 33, 40), (3, 7, 40), ((), (0, 2)), ((), (0, 2))),
        ("amk,kn->amn", (3, 33, 40), (40, 7), ((), (2,)), ((), (0,))),
        ("k,k->", (70,), (70,), ((), (0,)), ((), (0,))),
        ("mk,k->m", (33, 70), (70,), ((), (1,)), ((), (0,))),
        ("mk,kan->man", (64, 70), (70, 3, 64), ((), (1,)), ((), (0,))),
        ("mk,kan->man", (5, 70), (70, 3, 7), ((), (1,)), ((), (0,))),
        ("mabk,bnk->bman", (5, 2, 3, 40), (3, 7, 40), ((2,), (3,)), ((0,), (2,))),
        ("abk,nbk->an", (7, 5, 3), (4, 5, 3), ((), (1, 2)), ((), (1, 2))),
    ],
)
def test_general_products(equation: str, first: Shape, second: Shape, lhs: Any, rhs: Any) -> None:
    """Batches, free and contracting dimensions in any order, without moves where tiles allow."""
    x, y = normal(*first), normal(*second, seed=1)
    expected = np.einsum(equation, x.astype(np.float64), y.astype(np.float64)).astype(np.float32)
    check("dot_general", [x, y], expected, dot_attributes(lhs, rhs), tolerance=1e-4)


@pytest.mark.parametrize("dtype", [np.int32, np.uint32, np.int16, np.uint8])
@pytest.mark.parametrize(
    ("first", "second"), [((33, 40), (40, 50)), ((3, 5, 33), (1, 33, 7)), ((1, 1), (1, 3))]
)
def test_products_of_integers(dtype: Any, first: Shape, second: Shape) -> None:
    """With the wrap of their type."""
    x, y = whole(dtype, *first), whole(dtype, *second, seed=1)
    check("matmul", [x, y], np.matmul(x, y, dtype=dtype), tolerance=0)


def test_general_products_of_integers() -> None:
    """Of vectors, too."""
    x, y = whole(np.int32, 3, 40, 5), whole(np.int32, 40, 3, 7, seed=1)
    expected = np.einsum("bkm,kbn->bmn", x, y, dtype=np.int32)
    check("dot_general", [x, y], expected, dot_attributes(((0,), (1,)), ((1,), (0,))), tolerance=0)
    x, y = x[:, 0, 0], y[0, :, 0]
    check("dot_general", [x, y], x @ y, dot_attributes(((), (0,)), ((), (0,))), tolerance=0)


def test_products_of_truth_values() -> None:
    """One of both is true where one of the terms is."""
    x, y = normal(33, 70) > 1.5, normal(70, 5, seed=1) > 1
    expected = (x[:, :, None] & y).any(axis=1)
    check("matmul", [x, y], expected, tolerance=0)


def test_products_of_two_kinds_are_refused() -> None:
    """The message names them."""
    x, y = normal(5, 7), whole(np.int32, 7, 5)
    message = refusal("matmul", [x, y], x @ x.T)
    assert "of floating-point numbers or of others, got f32, i32, f32; convert the" in message
    assert "ttir.typecast or use target='ttnn' (ttir-to-ttnn-backend-pipeline)" in message


# --- Reductions ----------------------------------------------------------------------------------

REDUCTIONS: dict[str, Callable[..., Any]] = {
    "sum": np.sum,
    "mean": np.mean,
    "max": np.max,
    "min": np.min,
}


@pytest.mark.parametrize("mnemonic", REDUCTIONS)
@pytest.mark.parametrize(
    "dims", [(0,), (1,), (2,), (3,), (0, 2), (1, 3), (2, 3), (0, 1), (-1, -2, 0), None]
)
def test_reductions(mnemonic: str, dims: Shape | None) -> None:
    """Over dimensions inside and outside of tiles, whose padding is not read."""
    x = normal(3, 2, 33, 70) - 9 * (mnemonic == "max") + 9 * (mnemonic == "min")
    expected = REDUCTIONS[mnemonic](x.astype(np.float64), axis=dims, keepdims=True)
    attributes = reduce_attributes(dims, keep=True)
    check(mnemonic, [x], np.asarray(expected, np.float32), attributes, tolerance=1e-4)


@pytest.mark.parametrize(
    ("shape", "dims"),
    [((33, 70), (0,)), ((33, 70), (1,)), ((33, 70), None), ((70,), (0,)), ((3, 33, 70), (0,))],
)
def test_reductions_that_drop_dimensions(shape: Shape, dims: Shape | None) -> None:
    """A row may become a column, and the other way round."""
    x = normal(*shape)
    expected = np.asarray(x.sum(dims, dtype=np.float64), np.float32)
    check("sum", [x], expected, reduce_attributes(dims, keep=False), tolerance=1e-4)


def test_reductions_of_integers() -> None:
    """They are combined one by one, inside of tiles too, with the wrap of their type."""
    x = whole(np.int16, 5, 3, 40) // 16
    combine = {"sum": np.add, "max": np.maximum, "min": np.minimum, "prod": np.multiply}
    for mnemonic, function in combine.items():
        for dims in ((0,), (1,), (2,), (0, 2), (0, 1, 2)):
            expected = function.reduce(x, axis=dims, keepdims=True, dtype=np.int16)
            check(mnemonic, [x], expected, reduce_attributes(dims, keep=True), tolerance=0)
    y = whole(np.int32, 33, 70)
    expected = np.add.reduce(y, axis=1, dtype=np.int32)
    check("sum", [y], expected, reduce_attributes((1,), keep=False), tolerance=0)


def test_numbers_that_do_not_fit_are_refused() -> None:
    """A row of numbers keeps within its type."""
    text = FunctionText()
    attributes = "start = 0 : si64, end = 300 : si64, step = 2 : si64, arange_dimension = 0 : i64"
    type_ = tensor(150, element="i8")
    numbers = text.define(f'"ttir.arange"() <{{{attributes}}}> : () -> {type_}', type_)
    with pytest.raises(DiagnosticError, match="counts from 0 to 298, which i8 does not hold; use"):
        lowered(text.returning(numbers), PASS)


def test_products_of_elements() -> None:
    """Of floating-point numbers inside of tiles."""
    x = 1 + normal(3, 33, 7) / 8
    for dims in ((0,), (1,), (2,), (1, 2)):
        expected = np.asarray(x.prod(dims, keepdims=True, dtype=np.float64), np.float32)
        check("prod", [x], expected, reduce_attributes(dims, keep=True), tolerance=1e-4)


def test_mean_of_integers_is_refused() -> None:
    """The message says what to convert."""
    x = whole(np.int32, 5, 7)
    message = refusal("mean", [x], x[:, :1], reduce_attributes((1,), keep=True))
    assert "kernels compute the mean of floating-point numbers, got i32; convert" in message


@pytest.mark.parametrize("dtype", [np.float32, ml_dtypes.bfloat16, np.int32])
@pytest.mark.parametrize("dims", [(0,), (1,), (2,), (1, 2), (0, 2), None])
def test_positions_of_the_largest(dtype: Any, dims: Shape | None) -> None:
    """The first one of equals, in row-major order."""
    x = np.random.default_rng(0).integers(-9, 9, (3, 40, 70)).astype(dtype)
    axes = tuple(range(3)) if dims is None else dims
    kept = [axis for axis in range(3) if axis not in axes]
    rows = x.transpose((*kept, *axes)).reshape(*(x.shape[axis] for axis in kept), -1)
    expected = np.asarray(rows.argmax(-1), np.int32)
    check("argmax", [x], expected, reduce_attributes(dims, keep=False), tolerance=0)


def test_position_of_the_first_nan() -> None:
    """NaN counts as largest."""
    x = normal(5, 40)
    x[1, 7] = x[1, 30] = np.nan
    x[1, 3] = np.inf
    expected = np.asarray(x.argmax(1, keepdims=True), np.int32)
    check("argmax", [x], expected, reduce_attributes((1,), keep=True), tolerance=0)


@pytest.mark.parametrize("dim", [0, 1, -1])
def test_running_sums(dim: int) -> None:
    """Along any dimension, of infinities and of integers too."""
    x = normal(3, 33, 70)
    expected = x.astype(np.float64).cumsum(dim).astype(np.float32)
    check("cumsum", [x], expected, f"dim = {dim} : si32", tolerance=1e-4)
    x[1, 5, 6] = np.inf
    check("cumsum", [x], x.cumsum(dim), f"dim = {dim} : si32", tolerance=1e-4)
    y = whole(np.int16, 3, 33, 70)
    check("cumsum", [y], y.cumsum(dim, dtype=np.int16), f"dim = {dim} : si32", tolerance=0)


@pytest.mark.parametrize("numbers", [(5,), (2, 33), (2, 1, 5)])
def test_rows_of_a_table(numbers: Shape) -> None:
    """Looked up by numbers of any shape."""
    table = normal(70, 40)
    rows = np.random.default_rng(1).integers(0, 70, numbers, np.int32)
    check("embedding", [rows, table], table[rows])
    half = table.astype(ml_dtypes.bfloat16)
    check("embedding", [rows.astype(np.uint32), half], half[rows], tolerance=0)


def test_reductions_of_truth_values() -> None:
    """All and any, over dimensions inside of tiles too."""
    x = normal(3, 33, 7) > -1
    for dims in ((0,), (1,), (1, 2)):
        attributes = reduce_attributes(dims, keep=True)
        check("reduce_and", [x], x.all(dims, keepdims=True), attributes)
        check("reduce_or", [~x], (~x).any(dims, keepdims=True), attributes)


# --- What is refused -----------------------------------------------------------------------------


def test_operations_without_loops_are_refused() -> None:
    """Messages name the operation, what takes it apart, and the other pipeline."""
    x = normal(5, 7)
    message = refusal("softmax", [x], x, "dimension = 0 : si32")
    assert message.startswith("test.mlir:")
    assert ": error: failed to legalize" in message
    assert "there are no kernels for it; run ttir-composite-decomposition before, or" in message
    assert "or use target='ttnn' (ttir-to-ttnn-backend-pipeline)" in message


def test_operations_without_kernels_are_refused() -> None:
    """From Python, what to do is an argument."""
    with pytest.raises(ttmlir.CompilationError) as caught:
        ttmlir.compile(
            jax.scipy.special.gammaln,
            jnp.ones((5, 7)),
            target="kernels",
            options="library-fallback=false",
        )
    assert "'ttir.lgamma': kernels do not compute lgamma of f32; on f32 they" in str(caught.value)
    assert "use target='ttnn' (ttir-to-ttnn-backend-pipeline)" in str(caught.value)
    assert "decomposition" not in str(caught.value)


def test_other_dialects_are_refused() -> None:
    """The message names the pipeline that makes ttir of them."""
    type_ = tensor(5, 7)
    text = FunctionText([type_])
    result = text.define(f"stablehlo.tanh %arg0 : {type_}", type_)
    with pytest.raises(DiagnosticError) as refused:
        lowered(text.returning(result), PASS)
    message = str(refused.value)
    assert "ttir-to-d2m takes ttir, func and tensor.empty operations" in message
    assert "run stablehlo-to-ttir-pipeline before" in message


def test_tensors_without_elements_are_refused() -> None:
    """There is no tile to begin with."""
    x = np.zeros((0, 7), np.float32)
    assert "has no elements; tiles hold tensors of at least one" in refusal("exp", [x], x)


@pytest.mark.parametrize("shape", [(2**63 - 1,), (2**31, 7), (2**30, 2**30)])
def test_tensors_that_no_memory_holds_are_refused(shape: tuple[int, ...]) -> None:
    """Strides and shapes would not fit into the attributes of what is made."""
    type_ = tensor(*shape)
    text = FunctionText([type_])
    result = text.op("neg", ["%arg0"], type_)
    with pytest.raises(DiagnosticError) as refused:
        lowered(text.returning(result), PASS)
    assert f"'ttir.neg': {type_} is too large: a dimension has at most 2147483647 and" in str(
        refused.value
    )


def test_what_has_no_elements_and_no_use_is_left_out() -> None:
    """Parts of a scan, and what is joined with others."""
    x, none = normal(5, 7), tensor(0, 7)
    text = FunctionText([tensor(5, 7)])
    bounds = "begins = [2 : i32, 0 : i32], ends = [2 : i32, 7 : i32], step = [1 : i32, 1 : i32]"
    part = text.op("slice", ["%arg0"], none, bounds)
    text.op("exp", [part], none)
    joined = text.op("concat", [part, "%arg0"], tensor(5, 7), "dim = 0 : si32")
    source = text.returning(text.op("exp", [joined], tensor(5, 7)))
    [result] = execute(lowered(source, "ttir-composite-decomposition", PASS), [x])
    np.testing.assert_allclose(result, np.exp(x), rtol=1e-6)


def test_complex_numbers_are_refused() -> None:
    """They have no format."""
    text = FunctionText(["tensor<2xcomplex<f32>>"])
    source = text.returning(text.op("exp", ["%arg0"], "tensor<2xcomplex<f32>>"))
    with pytest.raises(DiagnosticError, match="element type 'complex<f32>' cannot be laid out"):
        lowered(source, PASS)


def test_memories_of_hosts_are_refused() -> None:
    """Tiles lie on the device."""
    x = normal(5, 7)
    message = "--default-input-memspace option: expected l1 or dram, got system"
    with pytest.raises(OptionError, match=message):
        lowered(text_of("exp", [x], x), f"{PASS}=default-input-memspace=system")


# --- Options -------------------------------------------------------------------------------------


def test_memories() -> None:
    """Arguments and results are where the options say."""
    x = normal(5, 7)
    options = "default-input-memspace=dram default-output-memspace=l1"
    text = printed(text_of("exp", [x], x), f"{PASS}={options}")
    assert text.count("undef, dram>") == text.count("undef, l1>") == 1
    check("exp", [x], np.exp(x), options=options)


def test_dimensions_are_merged_where_nothing_tells_them_apart() -> None:
    """A function of elementwise operations on one shape works on matrices."""
    x, row = normal(2, 3, 33, 70), normal(70)
    merged = printed(text_of("exp", [x], x), PASS)
    assert "dense<[[0, 3], [3, 4]]>" in merged
    assert "tensor<1x1x12x3x!ttcore.tile" in merged
    whole_rank = printed(text_of("exp", [x], x), f"{PASS}=collapse-tensors-2d=false")
    assert "dense<> : tensor<0x2xi64>" in whole_rank
    told_apart = printed(text_of("add", [x, row], x), PASS)
    assert "tensor<1x1x1x1x2x3x2x3x!ttcore.tile" in told_apart


def test_layouts_of_ttnn_are_cast() -> None:
    """In ttnn mode a tensor that has a layout is where ttnn has it."""
    memory = "memref<1x1x!tt.tile<32x32, f32>, #tt.memory_space<dram>>"
    layout = f"#tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, {memory}, interleaved>"
    type_ = f"tensor<32x32xf32, {layout}>"
    text = FunctionText([type_])
    source = text.returning(text.op("exp", ["%arg0"], type_))
    out = printed(source, f"{PASS}=ttnn-mode=true")
    assert out.count("ttir.ttnn_metal_layout_cast") == 2
    assert "d2m.to_layout" not in out


def test_tensors_of_the_host_are_refused_in_ttnn_mode() -> None:
    """The message names the tensor, and what to leave out."""
    with pytest.raises(DiagnosticError) as refused:
        lowered(text_of("exp", [normal(5, 7)], normal(5, 7)), f"{PASS}=ttnn-mode=true")
    assert (
        "'func.func' op has tensor<5x7xf32> as its argument 0, a tensor of the host; with "
        "ttnn-mode arguments and results have a #ttnn.ttnn_layout in device memory, as ttnn_jit "
        "gives them. Leave ttnn-mode out for tensors of the host"
    ) in str(refused.value)
