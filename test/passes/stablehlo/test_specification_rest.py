"""Operations of StableHLO and CHLO that few programs have, against XLA and NumPy."""

# ruff: noqa: E501 (operations stand on one line)

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from oracles import stablehlo_oracle
from running.pass_runner import executed

from ttmlir.mlir.reporting.diagnostics import DiagnosticError

Numbers = NDArray[Any]
PIPELINE = "stablehlo-to-ttnn-pipeline"
RANDOM = np.random.default_rng(3)
X, Y = (RANDOM.standard_normal((3, 5)).astype(np.float32) for _ in range(2))
ROW = RANDOM.standard_normal(5).astype(np.float32)
INTEGERS = RANDOM.integers(-40, 40, (3, 5)).astype(np.int32)
NAMES = {"float32": "f32", "int32": "i32", "uint32": "ui32", "bool": "i1", "int8": "i8"}


def type_of(value: Numbers) -> str:
    """The type of an array as MLIR writes it."""
    return f"tensor<{''.join(f'{extent}x' for extent in value.shape)}{NAMES[value.dtype.name]}>"


def program(body: str, result: str, *inputs: Numbers) -> str:
    """A function whose arguments are %0, %1 ..., and whose result is %r."""
    arguments = ", ".join(f"%{n}: {type_of(value)}" for n, value in enumerate(inputs))
    return f"func.func public @main({arguments}) -> {result} {{\n{body}\n return %r : {result}\n}}"


def run(body: str, result: str, *inputs: Numbers) -> Numbers:
    """What a program computes after the pipeline."""
    (found,) = executed(program(body, result, *inputs), list(inputs), PIPELINE)
    return found


def check(body: str, result: str, *inputs: Numbers) -> None:
    """Compare with XLA."""
    found = run(body, result, *inputs)
    (expected,) = stablehlo_oracle.executed(program(body, result, *inputs), inputs)
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=2e-6, atol=1e-6)


# -- broadcasts --------------------------------------------------------------------------------

BROADCAST = ("add", "atan2", "divide", "maximum", "minimum", "multiply", "remainder", "subtract")


@pytest.mark.parametrize("name", BROADCAST)
def test_broadcast_row(name: str) -> None:
    """The dimensions of the smaller operand are the last ones."""
    body = (
        f"%r = chlo.broadcast_{name} %0, %1 : (tensor<3x5xf32>, tensor<5xf32>) -> tensor<3x5xf32>"
    )
    check(body, "tensor<3x5xf32>", X, ROW)


def test_broadcast_power() -> None:
    """Of one number with many."""
    body = "%r = chlo.broadcast_power %1, %0 : (tensor<f32>, tensor<3x5xf32>) -> tensor<3x5xf32>"
    check(body, "tensor<3x5xf32>", X, np.array(2.5, np.float32))


@pytest.mark.parametrize(
    "name", ["and", "or", "xor", "shift_left", "shift_right_arithmetic", "shift_right_logical"]
)
def test_broadcast_bits(name: str) -> None:
    """Both operands may have extents of 1."""
    left, right = INTEGERS[:, :1], np.arange(5, dtype=np.int32).reshape(1, 5)
    body = (
        f"%r = chlo.broadcast_{name} %0, %1 : (tensor<3x1xi32>, tensor<1x5xi32>) -> tensor<3x5xi32>"
    )
    check(body, "tensor<3x5xi32>", left, right)


def test_broadcast_dimensions() -> None:
    """They may be said."""
    body = "%r = chlo.broadcast_subtract %1, %0 {broadcast_dimensions = array<i64: 0>} : (tensor<3xf32>, tensor<3x5xf32>) -> tensor<3x5xf32>"
    found = run(body, "tensor<3x5xf32>", X, ROW[:3])
    np.testing.assert_array_equal(found, ROW[:3, None] - X)


def test_broadcast_compare_and_select() -> None:
    """Truth of pairs, and what it chooses."""
    body = (
        "%c = chlo.broadcast_compare %0, %1 {comparison_direction = #chlo<comparison_direction GT>} : (tensor<3x5xf32>, tensor<5xf32>) -> tensor<3x5xi1>\n"
        "%r = chlo.broadcast_select %c, %1, %0 : (tensor<3x5xi1>, tensor<5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32>"
    )
    np.testing.assert_array_equal(run(body, "tensor<3x5xf32>", X, ROW), np.minimum(X, ROW))


def test_broadcast_complex() -> None:
    """Parts of different shapes."""
    body = (
        "%c = chlo.broadcast_complex %0, %1 : (tensor<3x5xf32>, tensor<5xf32>) -> tensor<3x5xcomplex<f32>>\n"
        "%d = chlo.conj %c : tensor<3x5xcomplex<f32>> -> tensor<3x5xcomplex<f32>>\n"
        "%r = stablehlo.imag %d : (tensor<3x5xcomplex<f32>>) -> tensor<3x5xf32>"
    )
    expected = np.broadcast_to(-ROW, (3, 5))
    np.testing.assert_array_equal(run(body, "tensor<3x5xf32>", X, ROW), expected)


def test_constants() -> None:
    """One that is written, one in the shape of an operand; a real number is its conjugate."""
    body = (
        "%a = chlo.constant dense<2.0> : tensor<3x5xf32>\n"
        '%b = "chlo.constant_like"(%0) <{value = 0.5 : f32}> : (tensor<3x5xf32>) -> tensor<3x5xf32>\n'
        "%c = chlo.conj %0 : tensor<3x5xf32> -> tensor<3x5xf32>\n"
        "%d = stablehlo.multiply %a, %b : tensor<3x5xf32>\n"
        "%r = stablehlo.add %c, %d : tensor<3x5xf32>"
    )
    np.testing.assert_array_equal(run(body, "tensor<3x5xf32>", X), X + 1)


# -- structure ---------------------------------------------------------------------------------


def test_tuples_tokens_and_numbers_of_devices() -> None:
    """Tuples in tuples are taken apart; tokens are gone; one device is number 0."""
    body = (
        "%k = stablehlo.create_token : !stablehlo.token\n"
        "%l = stablehlo.after_all %k, %k : !stablehlo.token\n"
        "%t = stablehlo.tuple %0, %1 : tuple<tensor<3x5xf32>, tensor<5xf32>>\n"
        "%u = stablehlo.tuple %t, %0 : tuple<tuple<tensor<3x5xf32>, tensor<5xf32>>, tensor<3x5xf32>>\n"
        "%v = stablehlo.get_tuple_element %u[0] : (tuple<tuple<tensor<3x5xf32>, tensor<5xf32>>, tensor<3x5xf32>>) -> tuple<tensor<3x5xf32>, tensor<5xf32>>\n"
        "%w = stablehlo.get_tuple_element %v[1] : (tuple<tensor<3x5xf32>, tensor<5xf32>>) -> tensor<5xf32>\n"
        "%p = stablehlo.partition_id : tensor<ui32>\n"
        "%q = stablehlo.replica_id : tensor<ui32>\n"
        "%s = stablehlo.add %p, %q : tensor<ui32>\n"
        "%f = stablehlo.convert %s : (tensor<ui32>) -> tensor<f32>\n"
        "%r = chlo.broadcast_add %w, %f : (tensor<5xf32>, tensor<f32>) -> tensor<5xf32>"
    )
    np.testing.assert_array_equal(run(body, "tensor<5xf32>", X, ROW), ROW)


def test_map() -> None:
    """A function of each element, with a constant."""
    body = (
        '%r = "stablehlo.map"(%0, %1) <{dimensions = array<i64: 0, 1>}> ({\n'
        "^bb0(%a: tensor<f32>, %b: tensor<f32>):\n"
        " %c = stablehlo.constant dense<3.0> : tensor<f32>\n"
        " %d = stablehlo.multiply %a, %c : tensor<f32>\n"
        " %e = stablehlo.compare GT, %d, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"
        " %f = stablehlo.select %e, %d, %c : tensor<i1>, tensor<f32>\n"
        " stablehlo.return %f : tensor<f32>\n"
        "}) : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32>"
    )
    check(body, "tensor<3x5xf32>", X, Y)


# -- contractions and slices -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("config", "left", "right"),
    [
        ("ij,jk->ik", (3, 5), (5, 4)),
        ("ij,jk->ki", (3, 5), (5, 4)),
        ("bij,bkj->kbi", (2, 3, 5), (2, 4, 5)),
        ("ij,ij->", (3, 5), (3, 5)),
        ("i,j->ji", (3,), (5,)),
        ("ijl,jk->ik", (3, 5, 2), (5, 4)),
        ("...ij,...jk->...ik", (2, 3, 5), (2, 5, 4)),
    ],
)
def test_einsum(config: str, left: tuple[int, ...], right: tuple[int, ...]) -> None:
    """Products, their sums, and what has only one operand."""
    a, b = (RANDOM.standard_normal(shape).astype(np.float32) for shape in (left, right))
    expected = np.asarray(np.einsum(config, a, b))
    result = type_of(expected)
    body = f'%r = stablehlo.einsum %0, %1, config = "{config}" : ({type_of(a)}, {type_of(b)}) -> {result}'
    np.testing.assert_allclose(run(body, result, a, b), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("config", ["ijk->kij", "ijk->ik", "ijk->", "...k->..."])
def test_unary_einsum(config: str) -> None:
    """Sums and orders of the dimensions."""
    a = RANDOM.standard_normal((2, 3, 5)).astype(np.float32)
    expected = np.asarray(np.einsum(config, a))
    result = type_of(expected)
    body = f'%r = stablehlo.unary_einsum %0, config = "{config}" : ({type_of(a)}) -> {result}'
    np.testing.assert_allclose(run(body, result, a), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ("ii,jk->ik", "a dimension stands twice in a term"),
        ("ij,jk->il", "no operand has the dimension 'l'"),
        ("ijl,jk->ik", "the term 'ijl' does not fit an operand of 2 dimensions"),
        ("ij,jk", 'it has to be of the form "ij,jk->ik"'),
        ("ij,ik->jk", "the extents 3 and 5 have one name"),
    ],
)
def test_einsum_refused(config: str, message: str) -> None:
    """With what is wrong about it."""
    body = f'%r = stablehlo.einsum %0, %1, config = "{config}" : (tensor<3x5xf32>, tensor<5x3xf32>) -> tensor<3x3xf32>'
    with pytest.raises(DiagnosticError) as error:
        run(body, "tensor<3x3xf32>", X, np.ascontiguousarray(Y.T))
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("dim", "batches", "operand", "index"),
    [(0, 0, (6, 4), (3,)), (1, 0, (2, 6, 4), (3, 2)), (1, 1, (2, 6, 4), (2, 3)), (2, 1, (2, 4, 6), (2, 3))],
)  # fmt: skip
def test_torch_index_select(
    dim: int, batches: int, operand: tuple[int, ...], index: tuple[int, ...]
) -> None:
    """Whole slices by number, for each batch."""
    values = RANDOM.standard_normal(operand).astype(np.float32)
    places = RANDOM.integers(0, 6, index).astype(np.int32)
    if batches:
        pairs = zip(values, places, strict=True)
        expected = np.stack([np.take(a, b, axis=dim - 1) for a, b in pairs])
    else:
        expected = np.take(values, places, axis=dim)
    result = type_of(expected)
    body = f'%r = "stablehlo.torch_index_select"(%0, %1) <{{dim = {dim} : i64, batch_dims = {batches} : i64}}> : ({type_of(values)}, {type_of(places)}) -> {result}'
    np.testing.assert_array_equal(run(body, result, values, places), expected)


# -- sizes that are constants ------------------------------------------------------------------


def size(name: str, *numbers: int) -> str:
    """A constant of indices."""
    return f"%{name} = stablehlo.constant dense<{[*numbers]}> : tensor<{len(numbers)}xi64>\n"


X_TYPE = "tensor<3x5xf32>"
INDEX = "tensor<2xi64>"
DYNAMIC: dict[str, tuple[str, str, Callable[[Numbers], Numbers]]] = {
    "reshape": (
        size("s", 5, 3) + f"%r = stablehlo.dynamic_reshape %0, %s : ({X_TYPE}, {INDEX}) -> tensor<5x3xf32>",
        "tensor<5x3xf32>",
        lambda x: x.reshape(5, 3),
    ),
    "broadcast_in_dim": (
        size("s", 2, 3, 5) + f"%r = stablehlo.dynamic_broadcast_in_dim %0, %s, dims = [1, 2] : ({X_TYPE}, tensor<3xi64>) -> tensor<2x3x5xf32>",
        "tensor<2x3x5xf32>",
        lambda x: np.broadcast_to(x, (2, 3, 5)),
    ),
    "iota": (
        size("s", 3, 5) + f"%i = stablehlo.dynamic_iota %s, dim = 1 : ({INDEX}) -> {X_TYPE}\n %r = stablehlo.add %i, %0 : {X_TYPE}",
        X_TYPE,
        lambda x: x + np.arange(5, dtype=np.float32),
    ),
    "pad": (
        size("l", 1, 0) + size("h", 0, 2) + size("i", 1, 0) + "%z = stablehlo.constant dense<7.0> : tensor<f32>\n"
        + f"%r = stablehlo.dynamic_pad %0, %z, %l, %h, %i : ({X_TYPE}, tensor<f32>, {INDEX}, {INDEX}, {INDEX}) -> tensor<6x7xf32>",
        "tensor<6x7xf32>",
        lambda x: np.pad(np.insert(x, [1, 2], 7, 0), ((1, 0), (0, 2)), constant_values=7),
    ),
    "slice": (
        size("b", 1, 0) + size("e", 3, 5) + size("t", 1, 2)
        + f"%r = stablehlo.real_dynamic_slice %0, %b, %e, %t : ({X_TYPE}, {INDEX}, {INDEX}, {INDEX}) -> tensor<2x3xf32>",
        "tensor<2x3xf32>",
        lambda x: x[1:3, ::2],
    ),
    "gather": (
        "%n = stablehlo.constant dense<[2, 0]> : tensor<2xi64>\n" + size("s", 1, 5)
        + '%r = "stablehlo.dynamic_gather"(%0, %n, %s) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false}> : (tensor<3x5xf32>, tensor<2xi64>, tensor<2xi64>) -> tensor<2x5xf32>',
        "tensor<2x5xf32>",
        lambda x: x[[2, 0]],
    ),
    "extents": (
        f"%a = stablehlo.get_dimension_size %0, dim = 0 : ({X_TYPE}) -> tensor<i32>\n"
        f"%b = stablehlo.get_dimension_size %0, dim = 1 : ({X_TYPE}) -> tensor<i32>\n"
        "%c = stablehlo.multiply %a, %b : tensor<i32>\n"
        "%d = stablehlo.reshape %c : (tensor<i32>) -> tensor<1xi32>\n"
        "%o = stablehlo.constant dense<1> : tensor<1xi32>\n"
        "%s = stablehlo.concatenate %d, %o, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>\n"
        f"%r = stablehlo.dynamic_reshape %0, %s : ({X_TYPE}, tensor<2xi32>) -> tensor<15x1xf32>",
        "tensor<15x1xf32>",
        lambda x: x.reshape(15, 1),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", DYNAMIC)
def test_sizes_that_are_constants(name: str) -> None:
    """Each operation becomes its static form."""
    body, result, expected = DYNAMIC[name]
    np.testing.assert_array_equal(run(body, result, X), expected(X))


def test_dynamic_conv() -> None:
    """The padding is a constant."""
    image = RANDOM.standard_normal((1, 6, 7, 2)).astype(np.float32)
    weight = RANDOM.standard_normal((3, 2, 2, 4)).astype(np.float32)
    numbers = "dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64"
    padding = "dense<[[1, 2], [0, 1]]> : tensor<2x2xi64>"
    types = f"{type_of(image)}, {type_of(weight)}"
    result = "tensor<1x7x7x4xf32>"
    dynamic = f'%p = stablehlo.constant {padding}\n%r = "stablehlo.dynamic_conv"(%0, %1, %p) <{{{numbers}}}> : ({types}, tensor<2x2xi64>) -> {result}'
    static = f'%r = "stablehlo.convolution"(%0, %1) <{{{numbers}, padding = {padding}}}> : ({types}) -> {result}'
    (expected,) = stablehlo_oracle.executed(program(static, result, image, weight), [image, weight])
    found = run(dynamic, result, image, weight)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            "%s = stablehlo.convert %1 : (tensor<2xi32>) -> tensor<2xi64>\n%q = stablehlo.constant dense<1> : tensor<2xi64>\n%r = stablehlo.real_dynamic_slice %0, %s, %s, %q : (tensor<3x5xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<3x5xf32>",
            "the starts depend on what the program computes; supported are constants",
        ),
        (
            size("b", 1, 0) + size("e", 9, 5) + size("t", 1, 1) + "%r = stablehlo.real_dynamic_slice %0, %b, %e, %t : (tensor<3x5xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<3x5xf32>",
            "starts and limits have to be in order and inside of the operand",
        ),
        (
            "%r = chlo.broadcast_add %0, %1 : (tensor<3x5xf32>, tensor<2xi32>) -> tensor<3x5xf32>",
            "extents 5 and 2 of dimension 1 cannot be broadcast",
        ),
    ],
)  # fmt: skip
def test_refused(body: str, message: str) -> None:
    """With the reason, and what is supported."""
    with pytest.raises(DiagnosticError) as error:
        run(body, X_TYPE, X, np.zeros(2, np.int32))
    assert message in str(error.value)
