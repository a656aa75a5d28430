"""Programs that tt-mlir aborts on, or compiles to something else, compute the right numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from oracles.windows import Padding, convolved, max_pooled
from running.pass_runner import executed
from running.randomness import TestGenerator
from samples.ttir_text import FunctionText, tensor

from ttmlir.mlir.reporting import DiagnosticError

WIDE = tensor(33, 70)
ROW = tensor(1, 70)
_RNG = TestGenerator(__name__)


_L1 = "ttir-layout=init-memory-space=l1 default-memory-space=l1 default-device-memory-layout=none"
_TO_TTNN = "convert-ttir-to-ttnn"


def _numbers(*shape: int) -> Any:
    return _RNG.standard_normal(shape, np.float32)


X, Y, B = _numbers(33, 70), _numbers(33, 70), _numbers(1, 70)


def _check(text: str, inputs: list[Any], *expected: Any, **tolerance: float) -> None:
    results = executed(text, inputs)
    assert len(results) == len(expected)
    for result, right in zip(results, expected, strict=True):
        assert result.shape == np.shape(right)
        np.testing.assert_allclose(
            result.astype(np.float64), np.asarray(right, np.float64), **{"rtol": 1e-5} | tolerance
        )


# -- values and their uses ---------------------------------------------------------------------


def test_unused_argument() -> None:
    """An argument that nothing uses has a layout like the others."""
    f = FunctionText([WIDE, tensor(3, element="i64")])
    _check(f.returning(f.op("neg", ["%arg0"], WIDE)), [X, np.zeros(3, np.int64)], -X)


def test_unused_results() -> None:
    """Operations and constants whose results nobody uses stay, and do no harm."""
    f = FunctionText([WIDE])
    f.op("exp", ["%arg0"], WIDE)
    f.constant("2.5", WIDE)
    f.empty(WIDE)
    _check(f.returning("%arg0"), [X], X)


@pytest.mark.parametrize("second", ["#device", "#tile"])
def test_one_destination_of_two_operations(second: str) -> None:
    """Each operation gets a destination of its own, in its own layout."""
    f = FunctionText([WIDE])
    out = f.empty(WIDE)
    first = f.op("neg", ["%arg0"], WIDE, out=out)
    other = f.op("abs", ["%arg0"], WIDE, out=out, constraint=second)
    _check(f.returning(first, other), [X], -X, abs(X))


def test_constant_in_three_layouts() -> None:
    """A constant used in rows, in tiles and on the host exists in each of these layouts."""
    f = FunctionText([WIDE])
    c = f.constant("2.5", WIDE)
    total = f.op("add", ["%arg0", c], WIDE)
    product = f.op("multiply", [total, c], WIDE, constraint="#tile")
    _check(f.returning(total, product, c), [X], X + 2.5, (X + 2.5) * 2.5, np.full(X.shape, 2.5))


def test_argument_as_destination() -> None:
    """What the destination held does not matter."""
    f = FunctionText([WIDE, WIDE])
    _check(f.returning(f.op("neg", ["%arg0"], WIDE, out="%arg1")), [X, Y], -X)


def test_result_as_destination() -> None:
    """A value that is used as a destination keeps its number for its other users."""
    f = FunctionText([WIDE])
    first = f.op("abs", ["%arg0"], WIDE)
    second = f.op("neg", ["%arg0"], WIDE, out=first)
    third = f.op("add", [first, second], WIDE, out=second)
    _check(f.returning(first, second, third), [X], abs(X), -X, abs(X) - X)


def test_one_destination_in_its_layout() -> None:
    """A destination that needs no new layout is not shared, either."""
    f = FunctionText([WIDE])
    out = f.empty(WIDE)
    first = f.op("neg", ["%arg0"], WIDE, out=out)
    other = f.op("abs", ["%arg0"], WIDE, out=out)
    text = f.returning(first, other)
    right = executed(text, [X], "ttir-load-system-desc", "ttir-implicit-device", _L1, _TO_TTNN)
    np.testing.assert_array_equal(right, [-X, abs(X)])


def test_two_outputs_of_one_function() -> None:
    """The same value may be returned twice."""
    f = FunctionText([WIDE])
    value = f.op("neg", ["%arg0"], WIDE)
    _check(f.returning(value, "%arg0", value), [X], -X, X, -X)


# -- ranks and element types -------------------------------------------------------------------


@pytest.mark.parametrize("constraint", ["#device", "#tile"])
def test_rank_0(constraint: str) -> None:
    """A tensor without dimensions is one element."""
    scalar = tensor()
    f = FunctionText([scalar, WIDE], constraint=constraint)
    negative = f.op("neg", ["%arg0"], scalar)
    total = f.op("add", ["%arg1", "%arg0"], WIDE)
    everything = f.op("sum", ["%arg1"], scalar, "keep_dim = false")
    _check(
        f.returning(negative, total, everything),
        [np.float32(3), X],
        -3.0,
        X + 3,
        X.sum(dtype=np.float64),
        rtol=1e-4,
    )


_DTYPES = {
    "f64": np.float64,
    "i64": np.int64,
    "i32": np.int32,
    "si32": np.int32,
    "ui32": np.uint32,
    "i16": np.int16,
    "i8": np.int8,
    "ui8": np.uint8,
    "i1": np.bool_,
}


@pytest.mark.parametrize("constraint", ["#device", "#tile"])
@pytest.mark.parametrize("element", _DTYPES)
def test_element_types(element: str, constraint: str) -> None:
    """Every element type can be stored in rows and in tiles."""
    low = 0 if element in ("ui32", "ui8", "i1") else -9
    high = 2 if element == "i1" else 9
    x, y = (_RNG.integers(low, high, (5, 37)).astype(_DTYPES[element]) for _ in range(2))
    type_ = tensor(5, 37, element=element)
    f = FunctionText([type_, type_], constraint=constraint)
    text = f.returning(f.op("maximum", ["%arg0", "%arg1"], type_))
    [result] = executed(text, [x, y])
    assert result.dtype == _DTYPES[element]
    np.testing.assert_array_equal(result, np.maximum(x, y))


def test_comparison_to_boolean() -> None:
    """The result of a comparison is boolean."""
    boolean = tensor(33, 70, element="i1")
    f = FunctionText([WIDE, WIDE])
    _check(f.returning(f.op("ge", ["%arg0", "%arg1"], boolean)), [X, Y], X >= Y)


# -- constants ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("element", "value", "number"),
    [
        ("f32", "0.0", 0.0),
        ("f32", "0x7FC00000", np.nan),
        ("f32", "0xFF800000", -np.inf),
        ("bf16", "1.5", 1.5),
        ("bf16", "0.0", 0.0),
        ("f16", "-2.0", -2.0),
        ("f64", "0.5", 0.5),
        ("i1", "true", 1),
        ("i1", "false", 0),
        ("i8", "-3", -3),
        ("i16", "300", 300),
        ("i32", "7", 7),
        ("i32", "16777217", 16777217),
        ("si32", "-5", -5),
        ("ui32", "4000000000", 4000000000),
        ("i64", "123456789012", 123456789012),
        ("index", "7", 7),
    ],
)
def test_constant_of_one_value(element: str, value: str, number: float) -> None:
    """A constant has exactly its value, also where a 32-bit float cannot hold it."""
    type_ = tensor(5, 7, element=element)
    f = FunctionText()
    [result] = executed(f.returning(f.constant(value, type_)), [])
    np.testing.assert_array_equal(result.astype(np.float64), np.full((5, 7), number, np.float64))


@pytest.mark.parametrize("element", ["f32", "i32", "i64", "bf16"])
def test_constant_of_many_values(element: str) -> None:
    """A constant with different elements keeps their order."""
    values = np.array([[1, 2, 3], [4, 5, -6]])
    literal = str(values.tolist()) if "i" in element else str(values.astype(float).tolist())
    f = FunctionText()
    _check(f.returning(f.constant(literal, tensor(2, 3, element=element))), [], values)


# -- broadcasts --------------------------------------------------------------------------------

_KEEP_ROWS = "dimension = [0]"


def test_broadcast_to_operand_of_addition() -> None:
    """Addition repeats the row by itself."""
    f = FunctionText([ROW, WIDE])
    whole = f.op("broadcast", ["%arg0"], WIDE, _KEEP_ROWS)
    _check(f.returning(f.op("add", [whole, "%arg1"], WIDE)), [B, X], B + X)


def test_broadcast_to_return() -> None:
    """The caller gets the whole tensor, even if another user takes the row."""
    f = FunctionText([ROW, WIDE])
    whole = f.op("broadcast", ["%arg0"], WIDE, _KEEP_ROWS)
    total = f.op("add", [whole, "%arg1"], WIDE)
    _check(f.returning(whole, total), [B, X], np.broadcast_to(B, X.shape), B + X)


def test_broadcast_to_both_operands() -> None:
    """If no operand has the full shape, one of them has to be repeated."""
    f = FunctionText([ROW])
    whole = f.op("broadcast", ["%arg0"], WIDE, _KEEP_ROWS)
    _check(f.returning(f.op("add", [whole, whole], WIDE)), [B], np.broadcast_to(2 * B, X.shape))


def test_broadcast_to_unary_operation() -> None:
    """A unary operation does not change the shape."""
    f = FunctionText([ROW])
    whole = f.op("broadcast", ["%arg0"], WIDE, _KEEP_ROWS)
    _check(f.returning(f.op("neg", [whole], WIDE)), [B], np.broadcast_to(-B, X.shape))


def test_broadcast_to_sum() -> None:
    """A sum counts every repetition."""
    f = FunctionText([ROW])
    whole = f.op("broadcast", ["%arg0"], WIDE, _KEEP_ROWS)
    total = f.op("sum", [whole], ROW, "keep_dim = true, dim_arg = [0 : i32]")
    _check(f.returning(total), [B], 33 * B)


def test_broadcast_to_concat() -> None:
    """A concatenation needs all rows."""
    both = tensor(66, 70)
    f = FunctionText([ROW, WIDE])
    whole = f.op("broadcast", ["%arg0"], WIDE, _KEEP_ROWS)
    joined = f.op("concat", [whole, "%arg1"], both, "dim = -2 : si32")
    _check(f.returning(joined), [B, X], np.concatenate([np.broadcast_to(B, X.shape), X]))


def test_broadcast_in_another_layout() -> None:
    """A move to tiles needs the whole tensor."""
    f = FunctionText([ROW, WIDE])
    whole = f.op("broadcast", ["%arg0"], WIDE, _KEEP_ROWS)
    total = f.op("add", [whole, "%arg1"], WIDE, constraint="#tile")
    _check(f.returning(total), [B, X], B + X)


def test_broadcast_of_broadcast() -> None:
    """Rows first, then matrices."""
    deep = tensor(2, 33, 70)
    f = FunctionText([ROW])
    whole = f.op("broadcast", ["%arg0"], WIDE, _KEEP_ROWS)
    deeper = f.op("broadcast", [whole], deep, "dimension = [1, 2]")
    _check(f.returning(deeper), [B], np.broadcast_to(B, (2, 33, 70)))


def test_broadcast_of_columns_given_by_dimension() -> None:
    """`dimension` may put a vector somewhere else than at the last dimension."""
    column = _numbers(33)
    f = FunctionText([tensor(33), WIDE])
    whole = f.op("broadcast", ["%arg0"], WIDE, _KEEP_ROWS)
    _check(f.returning(f.op("add", [whole, "%arg1"], WIDE)), [column, X], column[:, None] + X)


@pytest.mark.parametrize("shape", [(3, 0), (3, 1), (0,), ()])
def test_broadcast_to_no_elements(shape: tuple[int, ...]) -> None:
    """A tensor without elements is what a repetition of nothing, or no repetition, makes."""
    empty = tensor(3, 0)
    f = FunctionText([tensor(*shape)])
    whole = f.op("broadcast", ["%arg0"], empty, "dimension = [0, 1]")
    total = f.op("cumsum", [whole], empty, "dim = 0 : si32")
    value = np.ones(shape, np.float32)
    _check(f.returning(total, whole), [value], np.zeros((3, 0)), np.zeros((3, 0)))


@pytest.mark.parametrize("shape", [(), (1,), (1, 1)])
def test_total(shape: tuple[int, ...]) -> None:
    """The sum of all elements has no dimensions, or as many of extent 1 as the program says."""
    f = FunctionText([WIDE])
    value = f.op("sum", ["%arg0"], tensor(*shape), "keep_dim = false")
    _check(f.returning(value), [X], X.sum(dtype=float).reshape(shape), rtol=1e-4, atol=1e-4)


def test_bits_of_floats() -> None:
    """Operations on bits say what they take."""
    f = FunctionText([WIDE])
    text = f.returning(f.op("bitwise_or", ["%arg0", "%arg0"], WIDE))
    with pytest.raises(DiagnosticError, match="takes integers, but an input has elements of f32"):
        executed(text, [X])


# -- shapes ------------------------------------------------------------------------------------


def test_unsqueeze_at_the_end() -> None:
    """The new dimension may be the last one."""
    long = tensor(33, 70, 1)
    f = FunctionText([WIDE])
    value = f.op("unsqueeze", ["%arg0"], long, "dim = -1 : si32")
    _check(f.returning(value), [X], X[..., None])


_PADDINGS: list[Padding] = [(0, 0, 0, 0), (1, 1, 1, 1), (1, 0, 0, 2), (0, 1, 2, 2)]


def _window_attributes(stride: tuple[int, int], padding: Padding) -> str:
    sides = zip(("top", "bottom", "left", "right"), padding, strict=True)
    values = {
        "stride_height": stride[0],
        "stride_width": stride[1],
        "dilation_height": 1,
        "dilation_width": 1,
        **{f"padding_{side}": count for side, count in sides},
    }
    return ", ".join(f"{name} = {value} : si32" for name, value in values.items())


@pytest.mark.parametrize("padding", _PADDINGS)
@pytest.mark.parametrize("rank", [3, 4])
@pytest.mark.parametrize("with_bias", [False, True])
def test_convolution(padding: Padding, rank: int, with_bias: bool) -> None:
    """Padding may differ from side to side, and one image may come without a batch."""
    image, weight = _numbers(1 if rank == 3 else 2, 7, 9, 3), _numbers(8, 3, 3, 2)
    bias = _numbers(1, 1, 1, 8)
    right = convolved(image, weight, bias if with_bias else 0.0, stride=(2, 1), padding=padding)
    if rank == 3:
        image, right = image[0], right[0]
    inputs = [image, weight, bias][: 2 + with_bias]
    f = FunctionText([tensor(*array.shape) for array in inputs])
    attributes = _window_attributes((2, 1), padding) + ", groups = 1 : si32"
    value = f.op("conv2d", [*f.types], tensor(*right.shape), attributes)
    _check(f.returning(value), inputs, right, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("padding", _PADDINGS)
@pytest.mark.parametrize("is_flat", [False, True])
@pytest.mark.parametrize("element", ["f32", "i32"])
def test_pooling(padding: Padding, is_flat: bool, element: str) -> None:
    """Padding never wins, whatever the sign of the numbers; several images are a batch."""
    image = _RNG.integers(-90, -10, (3, 7, 9, 5)).astype({"f32": "f4", "i32": "i4"}[element])
    right = max_pooled(image, (2, 3), stride=(2, 1), padding=padding)
    attributes = _window_attributes((2, 1), padding)
    attributes += ", kernel_height = 2 : si32, kernel_width = 3 : si32, ceil_mode = false"
    if is_flat:
        attributes += ", original_height = 7 : si32, original_width = 9 : si32"
        image, right = image.reshape(1, 1, -1, 5), right.reshape(1, 1, -1, 5)
    f = FunctionText([tensor(*image.shape, element=element)])
    value = f.op("max_pool2d", ["%arg0"], tensor(*right.shape, element=element), attributes)
    _check(f.returning(value), [image], right)


@pytest.mark.parametrize("extents", [(4, 4), (7, 9), (6, 5)])
@pytest.mark.parametrize("padding", [*_PADDINGS, (0, 1, 0, 0), (1, 0, 0, 1)])
@pytest.mark.parametrize("stride", [(2, 2), (3, 2)])
def test_pooling_with_ceil_mode(
    extents: tuple[int, int], padding: Padding, stride: tuple[int, int]
) -> None:
    """Whether a last window counts depends on the image, not on the padding behind it."""
    image = _numbers(2, *extents, 3)
    right = max_pooled(image, (2, 2), stride=stride, padding=padding, ceil_mode=True)
    attributes = _window_attributes(stride, padding)
    attributes += ", kernel_height = 2 : si32, kernel_width = 2 : si32, ceil_mode = true"
    f = FunctionText([tensor(*image.shape)])
    value = f.op("max_pool2d", ["%arg0"], tensor(*right.shape), attributes)
    _check(f.returning(value), [image], right)
