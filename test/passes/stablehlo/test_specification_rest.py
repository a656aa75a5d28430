"""Operations of StableHLO and CHLO that few programs have, against XLA and NumPy."""

# ruff: noqa: E501 (operations stand on one line)

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from jax import lax
from numpy.typing import NDArray
from oracles import stablehlo_oracle
from running.pass_runner import executed
from running.randomness import TestGenerator

from ttmlir.mlir.reporting import DiagnosticError

Numbers = NDArray[Any]
PIPELINE = "stablehlo-to-ttnn-pipeline"
RANDOM = TestGenerator(__name__)
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
        ("ijl,jk->ik", "the term 'ijl' does not fit an operand of rank 2"),
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
            "the starts depend on what the program computes, and programs of devices have buffers of fixed",
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


# -- devices -----------------------------------------------------------------------------------

GROUP = "replica_groups = dense<0> : tensor<1x1xi64>"
SUM = "({\n^bb0(%a: tensor<f32>, %b: tensor<f32>):\n%s = stablehlo.add %a, %b : tensor<f32>\nstablehlo.return %s : tensor<f32>\n})"
ONE_DEVICE = {
    "all_reduce": f"<{{{GROUP}}}> {SUM}",
    "all_gather": f"<{{all_gather_dim = 1 : i64, {GROUP}}}>",
    "reduce_scatter": f"<{{scatter_dimension = 1 : i64, {GROUP}}}> {SUM}",
    "all_to_all": f"<{{split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 1 : i64, {GROUP}}}>",
    "collective_permute": "<{source_target_pairs = dense<0> : tensor<1x2xi64>}>",
    "cross-replica-sum": f"<{{{GROUP}}}>",
}


@pytest.mark.parametrize("name", ONE_DEVICE)
def test_one_device(name: str) -> None:
    """It has nobody to exchange anything with."""
    body = f'%r = "stablehlo.{name}"(%0) {ONE_DEVICE[name]} : ({X_TYPE}) -> {X_TYPE}'
    check(body, X_TYPE, X)


def test_one_device_of_its_own() -> None:
    """What nobody sends is 0; a group of all devices is one device; XLA's CPU has no broadcast."""
    empty = "<{source_target_pairs = dense<> : tensor<0x2xi64>}>"
    check(f'%r = "stablehlo.collective_permute"(%0) {empty} : ({X_TYPE}) -> {X_TYPE}', X_TYPE, X)
    everybody = "<{replica_groups = dense<> : tensor<0x0xi64>}>"
    check(f'%r = "stablehlo.all_reduce"(%0) {everybody} {SUM} : ({X_TYPE}) -> {X_TYPE}', X_TYPE, X)
    broadcast = f'%r = "stablehlo.collective_broadcast"(%0) <{{{GROUP}}}> : ({X_TYPE}) -> {X_TYPE}'
    np.testing.assert_array_equal(run(broadcast, X_TYPE, X), X)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            f'%r = "stablehlo.cross-replica-sum"(%0) <{{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}}> : ({X_TYPE}) -> {X_TYPE}',
            "its groups have 2 devices, and programs run on one; compile the function for a mesh",
        ),
        (
            f'%r = "stablehlo.collective_permute"(%0) <{{source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}}> : ({X_TYPE}) -> {X_TYPE}',
            "the pairs [0, 1] name more than device 0",
        ),
        (
            f'%q = "stablehlo.all_gather"(%0) <{{all_gather_dim = 1 : i64, {GROUP}}}> : ({X_TYPE}) -> tensor<3x10xf32>\n%r = stablehlo.slice %q [0:3, 0:5] : (tensor<3x10xf32>) -> {X_TYPE}',
            "tensor<3x5xf32> becomes tensor<3x10xf32>, and programs run on one",
        ),
    ],
)  # fmt: skip
def test_several_devices(body: str, message: str) -> None:
    """Refused, with the reason."""
    with pytest.raises(DiagnosticError) as error:
        run(body, X_TYPE, X)
    assert message in str(error.value)


# -- what other versions of StableHLO spell as calls -------------------------------------------


@pytest.mark.parametrize("name", ["mhlo.erf", "mhlo.asinh", "chlo.digamma", "mhlo.square"])
def test_calls_that_mean_operations(name: str) -> None:
    """The same as the operation of CHLO."""
    operation = "chlo." + name.partition(".")[2]
    call = f"%r = stablehlo.custom_call @{name}(%0) {{mhlo.version = 1 : i64}} : ({X_TYPE}) -> {X_TYPE}"
    expected = run(f'%r = "{operation}"(%0) : ({X_TYPE}) -> {X_TYPE}', X_TYPE, X)
    np.testing.assert_array_equal(run(call, X_TYPE, X), expected)


def test_composites_with_regions() -> None:
    """Their function says what they mean."""
    text = f"""func.func private @g(%x: {X_TYPE}) -> {X_TYPE} {{
  %0 = stablehlo.negate %x : {X_TYPE}
  return %0 : {X_TYPE}
}}
func.func public @main(%x: {X_TYPE}) -> {X_TYPE} {{
  %0 = "stablehlo.composite"(%x) <{{name = "a.b", decomposition = @g}}> ({{
  ^bb0(%a: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }}) : ({X_TYPE}) -> {X_TYPE}
  return %0 : {X_TYPE}
}}"""
    np.testing.assert_array_equal(executed(text, [X], PIPELINE)[0], -X)


# -- products of groups ------------------------------------------------------------------------

RAGGED = {
    "rows": ([], [], [1], [1], [0], [0], (9, 4), (3, 4, 6), [2, 0, 5]),
    "rows in batches": ([0], [1], [2], [2], [1], [0], (2, 9, 4), (3, 2, 4, 6), [[2, 4, 3], [0, 5, 1]]),
    "rows behind others": ([], [], [2], [1], [1], [0], (2, 9, 4), (3, 4, 6), [[2, 4, 3], [0, 5, 1]]),
    "terms": ([], [], [0], [0], [0], [], (9, 4), (9, 6), [2, 4, 3]),
    "terms in batches": ([0], [0], [1], [1], [1], [], (2, 9, 4), (2, 9, 6), [[2, 4], [0, 5]]),
    "batches": ([0], [0], [2], [1], [0], [], (5, 9, 4), (5, 4, 6), [2, 3]),
}  # fmt: skip


@pytest.mark.parametrize("case", RAGGED)
def test_ragged_dot(case: str) -> None:
    """Rows, terms and batches in groups, against what JAX computes."""
    batch, other_batch, terms, other_terms, ragged, group, left, right, sizes = RAGGED[case]
    numbers = lax.RaggedDotDimensionNumbers(
        ((terms, other_terms), (batch, other_batch)), ragged, group
    )
    a, b = (RANDOM.standard_normal(shape).astype(np.float32) for shape in (left, right))
    counts = np.array(sizes, np.int32)
    expected = np.asarray(lax.ragged_dot_general(a, b, counts, numbers))
    lists = {
        "lhs_batching_dimensions": batch,
        "rhs_batching_dimensions": other_batch,
        "lhs_contracting_dimensions": terms,
        "rhs_contracting_dimensions": other_terms,
        "lhs_ragged_dimensions": ragged,
        "rhs_group_dimensions": group,
    }
    attribute = ", ".join(f"{name} = {dims}" for name, dims in lists.items() if dims)
    result = type_of(expected)
    types = ", ".join(map(type_of, (a, b, counts)))
    body = f'%r = "chlo.ragged_dot"(%0, %1, %2) <{{ragged_dot_dimension_numbers = #chlo.ragged_dot<{attribute}>}}> : ({types}) -> {result}'
    np.testing.assert_allclose(run(body, result, a, b, counts), expected, rtol=1e-5, atol=1e-5)


def test_kernel_of_inverse_functions() -> None:
    """Near the branch points, on both axes and far away."""
    real = np.array([0, 1, -1, 0.5, -0.5, 1 + 1e-6, 3, 0, 2e12, 1e-8, -7, 0.999], np.float32)
    imag = np.array([0, 0, 0, -2, 1e-4, 1e-7, 0, 5, 1, -1e-8, 4e11, 1e-5], np.float32)
    type_ = f"tensor<{len(real)}xf32>"
    complex_ = f"tensor<{len(real)}xcomplex<f32>>"
    body = (
        f"%2 = stablehlo.complex %0, %1 : {complex_}\n"
        f"%3 = chlo._asin_acos_kernel %2 : {complex_} -> {complex_}\n"
        f"%4 = stablehlo.real %3 : ({complex_}) -> {type_}\n"
        f"%5 = stablehlo.imag %3 : ({complex_}) -> {type_}\n"
    )
    for part in ("%4", "%5"):
        chosen = f"{body}%r = stablehlo.add {part}, {part} : {type_}"
        [expected] = stablehlo_oracle.executed(program(chosen, type_, real, imag), [real, imag])
        np.testing.assert_allclose(run(chosen, type_, real, imag), expected, rtol=5e-6, atol=0)


# -- the total order ---------------------------------------------------------------------------

SPECIAL = np.array([0, -0.0, np.nan, -np.nan, 1, -1, np.inf, -np.inf, 2, -2], np.float32)
SPECIAL[2:4] = np.copysign(np.float32(np.nan), np.array([1, -1], np.float32))


@pytest.mark.parametrize("direction", ["LT", "GT"])
def test_sort_in_total_order(direction: str) -> None:
    """-0 comes before 0, and NaN with a sign before all."""
    body = f"""%i = stablehlo.iota dim = 0 : tensor<10xi32>
%s, %r = "stablehlo.sort"(%0, %i) <{{dimension = 0 : i64, is_stable = true}}> ({{
^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>):
  %t = stablehlo.compare {direction}, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
  stablehlo.return %t : tensor<i1>
}}) : (tensor<10xf32>, tensor<10xi32>) -> (tensor<10xf32>, tensor<10xi32>)"""
    check(body, "tensor<10xi32>", SPECIAL)
    order = run(body, "tensor<10xi32>", SPECIAL)
    found = run(body.replace("%s, %r =", "%r, %s ="), "tensor<10xf32>", SPECIAL)
    np.testing.assert_array_equal(found.view(np.int32), SPECIAL[order].view(np.int32))


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("merge", ["multiply", "maximum", "minimum"])
def test_select_and_scatter(merge: str) -> None:
    """What goes to one place is merged, and with the initial value."""
    body = f"""%z = stablehlo.constant dense<1.5> : tensor<f32>
%r = "stablehlo.select_and_scatter"(%0, %1, %z) <{{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 1, 2>}}> ({{
^bb0(%a: tensor<f32>, %b: tensor<f32>):
  %t = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
  stablehlo.return %t : tensor<i1>
}}, {{
^bb0(%a: tensor<f32>, %b: tensor<f32>):
  %t = stablehlo.{merge} %a, %b : tensor<f32>
  stablehlo.return %t : tensor<f32>
}}) : ({X_TYPE}, tensor<2x2xf32>, tensor<f32>) -> {X_TYPE}"""
    check(body, X_TYPE, X, Y[:2, :2].copy())
