"""Loops over tiles compute what NumPy computes; padding is never read.

The interpreter fills what is beyond the shape of a tensor with NaN, so that a reduction or product
that reads it shows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from oracles.d2m_references import golden_results
from running.pass_runner import lowered, printed
from samples.ttir_text import FunctionText, tensor

from ttmlir.interpreter import execute
from ttmlir.mlir.reporting.diagnostics import DiagnosticError

PASS = "ttir-to-d2m"
HOST: dict[str, Any] = {
    "f32": np.float32,
    "f64": np.float64,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "i1": np.bool_,
    **{f"{sign}i{bits}": np.dtype(f"{sign}int{bits}") for sign in "u" for bits in (8, 16, 32, 64)},
    **{f"i{bits}": np.dtype(f"int{bits}") for bits in (8, 16, 32, 64)},
}
Array = np.ndarray
Shape = tuple[int, ...]


def type_of(array: Array) -> str:
    """The type of a tensor that is an array."""
    keyword = next(name for name, host in HOST.items() if array.dtype == host)
    return tensor(*array.shape, element=keyword)


def text_of(mnemonic: str, inputs: Sequence[Array], result: Array, attributes: str = "") -> str:
    """A function that does one operation."""
    text = FunctionText([type_of(each) for each in inputs])
    names = [f"%arg{number}" for number in range(len(inputs))]
    return text.returning(text.op(mnemonic, names, type_of(result), attributes))


def check(
    mnemonic: str,
    inputs: Sequence[Array],
    expected: Array,
    attributes: str = "",
    tolerance: float = 2e-6,
    options: str = "",
) -> None:
    """Compare an operation on arrays with what is expected of it."""
    passes = f"{PASS}={options}" if options else PASS
    module = lowered(text_of(mnemonic, inputs, expected, attributes), passes)
    assert not [op.name for op in module.walk() if op.name.startswith("ttir.")]
    (result,) = execute(module, inputs)
    assert result.dtype == expected.dtype
    kind = np.float64 if expected.dtype.kind not in "biu" else expected.dtype
    np.testing.assert_allclose(
        result.astype(kind), expected.astype(kind), rtol=tolerance, atol=tolerance
    )
    (golden,) = golden_results(module, inputs)
    if kind in (np.int64, np.uint64):
        # Golden runs compute with 64 bits, of which tiles keep the lower 32.
        golden = golden.astype(np.dtype(f"{expected.dtype.kind}4"))
    golden = golden.astype(expected.dtype).astype(kind)
    np.testing.assert_allclose(golden, expected.astype(kind), rtol=tolerance, atol=tolerance)


def refusal(mnemonic: str, inputs: Sequence[Array], result: Array, attributes: str = "") -> str:
    """Why there are no loops for an operation."""
    with pytest.raises(DiagnosticError) as refused:
        lowered(text_of(mnemonic, inputs, result, attributes), PASS)
    return str(refused.value)


def normal(*shape: int, seed: int = 0) -> Array:
    """Numbers around 0."""
    return np.asarray(np.random.default_rng(seed).normal(size=shape), np.float32)


def whole(dtype: Any, *shape: int, seed: int = 0) -> Array:
    """Integers over the whole range of a type."""
    limits = np.iinfo(dtype)
    rng = np.random.default_rng(seed)
    return rng.integers(limits.min, limits.max, shape, dtype, endpoint=True)


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
    result, constant = execute(module, [x])
    np.testing.assert_allclose(result, x * 2 + 3, rtol=1e-6)
    np.testing.assert_array_equal(constant, np.full(70, 3, np.float32))


def test_one_operand_used_twice_is_read_once() -> None:
    """`x * x` has one input."""
    text = FunctionText([tensor(5, 7)])
    module = lowered(text.returning(text.op("multiply", ["%arg0", "%arg0"], tensor(5, 7))), PASS)
    (generic,) = (op for op in module.walk() if op.name == "d2m.generic")
    assert len(generic.operands) == 2
    x = normal(5, 7)
    np.testing.assert_allclose(execute(module, [x])[0], x * x, rtol=1e-6)


def test_parameters() -> None:
    """Limits and slopes are attributes of the operation on tiles."""
    x = normal(33, 70) * 3
    check("clamp", [x], x.clip(-1, 2), "min = -1.0 : f32, max = 2.0 : f32")
    expected = np.where(x > 0, x, np.float32(0.25) * x)
    check("leaky_relu", [x], expected, "parameter = 0.25 : f32")


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
    ],
)
def test_general_products(equation: str, first: Shape, second: Shape, lhs: Any, rhs: Any) -> None:
    """Batches, free and contracting dimensions in any order, without moves where tiles allow."""
    x, y = normal(*first), normal(*second, seed=1)
    expected = np.einsum(equation, x.astype(np.float64), y.astype(np.float64)).astype(np.float32)
    if equation == "mk,kan->man":
        message = refusal("dot_general", [x, y], expected, dot_attributes(lhs, rhs))
        assert "moves parts of tiles of 32x32" in message
        return
    check("dot_general", [x, y], expected, dot_attributes(lhs, rhs), tolerance=1e-4)


def test_products_of_integers_are_refused() -> None:
    """The matrix unit has floating-point numbers only."""
    x = whole(np.int32, 5, 7)
    message = refusal("matmul", [x, x.T], x @ x.T)
    assert "the matrix unit multiplies floating-point numbers, got i32" in message
    assert "ttir.typecast or use ttir-to-ttnn-backend-pipeline" in message


# --- Reductions ----------------------------------------------------------------------------------

REDUCTIONS: dict[str, Callable[..., Any]] = {
    "sum": np.sum,
    "mean": np.mean,
    "max": np.max,
    "min": np.min,
}


def reduce_attributes(dims: Shape | None, keep: bool) -> str:
    """Dimensions of a reduction."""
    listed = "" if dims is None else f"dim_arg = [{', '.join(f'{d} : i32' for d in dims)}], "
    return f"{listed}keep_dim = {str(keep).lower()}"


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
    """Outside of tiles integers are combined; inside they are refused."""
    x = whole(np.int16, 5, 3, 40) // 16
    combine = {"sum": np.add, "max": np.maximum, "min": np.minimum, "prod": np.multiply}
    for mnemonic, function in combine.items():
        expected = function.reduce(x, axis=0, keepdims=True, dtype=np.int16)
        check(mnemonic, [x], expected, reduce_attributes((0,), keep=True), tolerance=0)
    message = refusal("sum", [x], x[..., :1], reduce_attributes((2,), keep=True))
    assert "kernels do not compute the sum of i32 over dimension 2 of [5, 3, 40]" in message


def test_reductions_of_truth_values() -> None:
    """All and any, over dimensions inside of tiles too."""
    x = normal(3, 33, 7) > -1
    for dims in ((0,), (1,), (1, 2)):
        attributes = reduce_attributes(dims, keep=True)
        check("reduce_and", [x], x.all(dims, keepdims=True), attributes)
        check("reduce_or", [~x], (~x).any(dims, keepdims=True), attributes)


# --- Movement ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shape", "target"),
    [
        ((4, 33, 70), (2, 2, 33, 70)),
        ((2, 2, 33, 70), (4, 33, 70)),
        ((33, 70), (1, 33, 70)),
        ((2, 64, 70), (128, 70)),
        ((128, 70), (2, 1, 64, 70)),
        ((6, 32, 5), (2, 96, 5)),
        ((70,), (70, 1)),
        ((70, 1), (70,)),
        ((2, 3, 1, 70), (3, 2, 70, 1)),
        ((1,), ()),
    ],
)
def test_reshapes(shape: Shape, target: Shape) -> None:
    """Tiles stay whole: the last dimensions, multiples of 32 rows, rows as columns."""
    x = normal(*shape)
    listed = ", ".join(f"{extent} : i32" for extent in target)
    check("reshape", [x], x.reshape(target), f"shape = [{listed}]", tolerance=0)


@pytest.mark.parametrize(
    ("shape", "order"),
    [
        ((33, 70), (1, 0)),
        ((2, 3, 33, 70), (1, 0, 2, 3)),
        ((2, 3, 33, 70), (1, 0, 3, 2)),
        ((4, 2, 3, 33, 5), (2, 0, 1, 4, 3)),
        ((2, 1, 33, 70), (1, 0, 2, 3)),
    ],
)
def test_permutations(shape: Shape, order: Shape) -> None:
    """Of the outer dimensions, and of the last two."""
    x = normal(*shape)
    listed = ", ".join(map(str, order))
    check("permute", [x], x.transpose(order), f"permutation = array<i64: {listed}>", tolerance=0)


def test_slices() -> None:
    """Any step outside of tiles; inside from a multiple of 32 on."""
    x = normal(5, 7, 70, 130)
    expected = x[1:5:3, 2:3, 32:70, 64:70]
    attributes = (
        "begins = [1 : i32, 2 : i32, 32 : i32, -66 : i32], ends = [5 : i32, 3 : i32, 70 : i32, "
        "70 : i32], step = [3 : i32, 1 : i32, 1 : i32, 1 : i32]"
    )
    check("slice", [x], expected, attributes, tolerance=0)
    part = x[0, 0]
    check(
        "slice",
        [part],
        part[:33, :5],
        "begins = [0 : i32, 0 : i32], ends = [33 : i32, 5 : i32], step = [1 : i32, 1 : i32]",
        tolerance=0,
    )


@pytest.mark.parametrize(
    ("shapes", "dim"),
    [
        (((2, 33, 5), (1, 33, 5), (3, 33, 5)), 0),
        (((64, 5), (33, 5)), 0),
        (((33, 32), (33, 64), (33, 7)), -1),
        (((5,),), 0),
    ],
)
def test_concatenations(shapes: Sequence[Shape], dim: int) -> None:
    """Along outer dimensions, and of parts of whole tiles."""
    parts = [normal(*shape, seed=n) for n, shape in enumerate(shapes)]
    check("concat", parts, np.concatenate(parts, dim), f"dim = {dim} : si32", tolerance=0)


def test_padding() -> None:
    """By any number behind, by whole tiles in front."""
    x = normal(2, 33, 40)
    widths = ((1, 2), (32, 5), (0, 3))
    attributes = "padding = array<i32: 1, 2, 32, 5, 0, 3>, value = 1.5 : f32"
    check("pad", [x], np.pad(x, widths, constant_values=1.5), attributes, tolerance=0)
    y = whole(np.int32, 3, 7)
    attributes = "padding = array<i32: 0, 1, 0, 40>, value = -3.0 : f32"
    expected = np.pad(y, ((0, 1), (0, 40)), constant_values=-3)
    check("pad", [y], expected, attributes, tolerance=0)


def test_repetitions() -> None:
    """Of outer dimensions, of whole tiles, and of single rows and columns."""
    for shape, counts in (((2, 33, 5), (3, 1, 1)), ((32, 1), (2, 40)), ((1, 64), (5, 2))):
        x = normal(*shape)
        listed = ", ".join(map(str, counts))
        attributes = f"repeat_dimensions = array<i64: {listed}>"
        check("repeat", [x], np.tile(x, counts), attributes, tolerance=0)


def test_placed_broadcast() -> None:
    """A vector becomes a column that is repeated."""
    x = normal(33)
    expected = np.broadcast_to(x[:, None], (2, 33, 70)).copy()
    check("broadcast", [x], expected, "dimension = [1]", tolerance=0)


def test_opposite_order() -> None:
    """Of outer dimensions."""
    x = normal(3, 2, 33, 5)
    check("reverse", [x], x[::-1, ::-1].copy(), "dimensions = array<i64: 0, 1>", tolerance=0)


# --- What is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mnemonic", "shape", "target", "attributes", "words"),
    [
        (
            "permute",
            (2, 3, 5, 7),
            (2, 5, 3, 7),
            "permutation = array<i64: 0, 2, 1, 3>",
            "the permutation [0, 2, 1, 3] of [2, 3, 5, 7] moves parts of tiles of 32x32; kernels "
            "move whole ones: permutations that keep or exchange the last two dimensions; use "
            "ttir-to-ttnn-backend-pipeline",
        ),
        (
            "reshape",
            (5, 7),
            (7, 5),
            "shape = [7 : i32, 5 : i32]",
            "the reshape from [5, 7] to [7, 5] moves parts of tiles",
        ),
        (
            "pad",
            (5, 7),
            (6, 7),
            "padding = array<i32: 1, 0, 0, 0>, value = 0.0 : f32",
            "the padding of 1 in front of dimension 0 moves parts of tiles",
        ),
        (
            "slice",
            (5, 70),
            (5, 6),
            "begins = [0 : i32, 64 : i32], ends = [5 : i32, 70 : i32], step = [1 : i32, 1 : i32]",
            "",
        ),
        (
            "slice",
            (5, 70),
            (5, 2),
            "begins = [0 : i32, 64 : i32], ends = [5 : i32, 68 : i32], step = [1 : i32, 2 : i32]",
            "the slice from 64 by 2 of dimension 1 moves parts of tiles",
        ),
        (
            "repeat",
            (5, 7),
            (10, 7),
            "repeat_dimensions = array<i64: 2, 1>",
            "the repetition of 5 elements of dimension -2 moves parts of tiles",
        ),
        (
            "cumsum",
            (5, 7),
            (5, 7),
            "dim = 0 : si32",
            "ttir-to-d2m has no loops over tiles for it; use ttir-to-ttnn-backend-pipeline",
        ),
    ],
)
def test_refusals(mnemonic: str, shape: Shape, target: Shape, attributes: str, words: str) -> None:
    """Messages say what would be moved, what is supported, and the other pipeline."""
    x, y = normal(*shape), normal(*target)
    if not words:
        lowered(text_of(mnemonic, [x], y, attributes), PASS)
        return
    message = refusal(mnemonic, [x], y, attributes)
    assert message.startswith("test.mlir:")
    assert ": error: failed to legalize" in message
    assert words in message


def test_tensors_without_elements_are_refused() -> None:
    """There is no tile to begin with."""
    x = np.zeros((0, 7), np.float32)
    assert "has no elements; tiles hold tensors of at least one" in refusal("exp", [x], x)


def test_complex_numbers_are_refused() -> None:
    """They have no format."""
    text = FunctionText(["tensor<2xcomplex<f32>>"])
    source = text.returning(text.op("exp", ["%arg0"], "tensor<2xcomplex<f32>>"))
    with pytest.raises(DiagnosticError, match="element type 'complex<f32>' cannot be laid out"):
        lowered(source, PASS)


def test_memories_of_hosts_are_refused() -> None:
    """Tiles lie on the device."""
    x = normal(5, 7)
    with pytest.raises(DiagnosticError, match="default-input-memspace is l1 or dram, got system"):
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
