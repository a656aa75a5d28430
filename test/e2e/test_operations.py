"""Every operation of the table, from TTIR text through the compiler and a file to numbers.

The expected numbers come from formulas written here (Python's `math`, loops, NumPy primitives), not
from the table's reference functions.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from oracles.elementwise_oracles import BINARY as BINARY_ORACLES
from oracles.elementwise_oracles import COMPARISONS, bits, each, few, special
from oracles.elementwise_oracles import UNARY as UNARY_ORACLES
from running.pass_runner import lowered
from samples.operation_cases import (
    DEFAULT_SHAPE,
    Case,
    check_estimate,
    check_numbers,
    compare_numbers,
    inputs_of,
    ttir,
)
from samples.window_cases import NORMALIZATIONS, WINDOWS

from ttmlir.interpreter import execute
from ttmlir.mlir.reporting import DiagnosticError
from ttmlir.optable import DEFINITIONS, indexing, ordering


def unary(op: str, function: Callable[..., Any], **options: Any) -> Case:
    """An operation on one tensor."""
    return Case(op, function, **options)


def binary(op: str, function: Callable[..., Any], **options: Any) -> Case:
    """An operation on two tensors, the second of which is one row for all."""
    options = {"shapes": (DEFAULT_SHAPE, (3, 1, 70))} | options
    return Case(op, function, **options)


ALL = ("f32", "bf16", "i32")
INTEGERS = ("i32", "i1")

UNARY = [
    *(
        unary(
            op,
            oracle.at_width(32),
            elements=oracle.elements,
            sample=oracle.sample,
            attributes=oracle.attributes,
        )
        for op, oracle in UNARY_ORACLES.items()
        if op != "bitcast_convert"
    ),
    unary("typecast", np.trunc, elements=("f32",), out_element="i32", id="typecast_f32_i32"),
    unary(
        "typecast", lambda x: x, elements=("i32",), out_element="f32", sample=few, id="typecast_i32"
    ),
    unary(
        "typecast", lambda x: x != 0, elements=ALL, out_element="i1", sample=few, id="typecast_i1"
    ),
    unary(
        "typecast",
        lambda x: x,
        elements=("i1",),
        out_element="f32",
        sample=bits,
        id="typecast_bits",
    ),
    unary("typecast", lambda x: x, elements=("f32",), out_element="bf16", id="typecast_bf16"),
    unary("isfinite", each(math.isfinite), out_element="i1", sample=special, id="isfinite_i1"),
    unary("bitwise_not", lambda x: 1 - x, elements=("i1",), sample=bits, id="bitwise_not_i1"),
    unary(
        "bitcast_convert",
        lambda x: x.astype(np.int32).view(np.float32),
        elements=("i32",),
        out_element="f32",
        sample=lambda rng, s: rng.standard_normal(s).astype(np.float32).view(np.int32),
    ),
]

BINARY = [
    *(
        binary(op, oracle.at_width(32), elements=oracle.elements, sample=oracle.sample)
        for op, oracle in BINARY_ORACLES.items()
    ),
    binary(
        "div",
        each(lambda x, y: int(x / y)),
        sample=lambda rng, s: rng.integers(1, 50, s) * rng.choice([-1, 1], s),
        elements=("i32",),
        id="div_i32",
    ),
    binary(
        "remainder",
        each(math.fmod),
        sample=lambda rng, s: rng.integers(1, 50, s) * rng.choice([-1, 1], s),
        elements=("i32",),
        id="remainder_i32",
    ),
    binary(
        "remainder",
        each(lambda x, y: math.fmod(x, y) if y else x),
        sample=few,
        elements=("i32",),
        id="remainder_by_0",
    ),
    binary("remainder", lambda x, y: x * (1 - y), elements=("i1",), sample=bits, id="remainder_i1"),
    *(
        binary(op, oracle, elements=ALL, out_element="i1", sample=few, id=f"{op}_i1")
        for op, oracle in COMPARISONS.items()
    ),
    binary("bitwise_xor", lambda x, y: x != y, elements=("i1",), sample=bits, id="bitwise_xor_i1"),
]


def choose(condition: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Element by element, in Python."""
    parts = np.broadcast_arrays(condition, x, y)
    flat = [b if a else c for a, b, c in zip(*(part.ravel() for part in parts), strict=True)]
    return np.array(flat).reshape(parts[0].shape)


TERNARY = [
    Case(
        "where",
        choose,
        ((3, 1, 70), DEFAULT_SHAPE, (33, 1)),
        DEFAULT_SHAPE,
        sample=few,
        elements=ALL,
    ),
    Case(
        "where",
        choose,
        ((3, 1, 70), DEFAULT_SHAPE, (33, 1)),
        DEFAULT_SHAPE,
        sample=bits,
        operand_elements=("i1", None, None),
        id="where_i1",
    ),
]


def reduced(
    function: Callable[[list[Any]], Any], dims: Sequence[int], keep: bool
) -> Callable[..., Any]:
    """A reduction by a function of lists."""

    def oracle(x: np.ndarray) -> np.ndarray:
        order = [i for i in range(x.ndim) if i not in dims] + list(dims)
        kept = [x.shape[i] for i in order[: x.ndim - len(dims)]]
        rows = x.transpose(order).reshape(math.prod(kept), -1)
        values = np.array([function(row.tolist()) for row in rows])
        shape = [1 if i in dims else n for i, n in enumerate(x.shape)] if keep else kept
        return values.reshape(shape)

    return oracle


def i32s(*numbers: int) -> str:
    """Entries of an array attribute."""
    return ", ".join(f"{number} : i32" for number in numbers)


LIST_FUNCTIONS: dict[str, Callable[[list[Any]], Any]] = {
    "sum": math.fsum,
    "mean": lambda row: math.fsum(row) / len(row),
    "max": max,
    "min": min,
    "prod": math.prod,
}

REDUCTIONS = [
    Case(
        op,
        reduced(function, dims, keep),
        out=out,
        attributes=f"dim_arg = [{i32s(*written)}], keep_dim = {str(keep).lower()}",
        sample=(lambda rng, shape: rng.uniform(0.9, 1.1, shape)) if op == "prod" else None,
        terms=70 * (33 if op == "prod" else 1) if op in ("sum", "mean", "prod") else 1,
        segments=False,
        id=f"{op}_{'keep' if keep else 'drop'}",
    )
    for op, function in LIST_FUNCTIONS.items()
    for dims, written, keep, out in (
        ((2,), (-1,), True, (3, 33, 1)),
        ((0, 2), (0, 2), False, (33,)),
    )
]
REDUCTIONS += [
    Case(
        op,
        reduced(function, dims, keep),
        shapes=((3, 33, 7),),
        out=out,
        attributes=f"dim_arg = [{i32s(*dims)}], keep_dim = {str(keep).lower()}",
        elements=elements,
        out_element=out_element,
        sample=sample,
        segments=False,
        id=f"{op}_{id}",
    )
    for op, function, elements, out_element, sample, id in (
        ("reduce_and", all, ("i1", "i32"), "i1", bits, "truth"),
        ("reduce_or", any, ("i1", "i32"), "i1", lambda r, s: r.integers(0, 9, s) == 0, "truth"),
        ("argmax", lambda row: row.index(max(row)), ("f32", "bf16", "i32"), "i32", few, "first"),
    )
    for dims, keep, out in (((2,), True, (3, 33, 1)), ((0, 2), False, (33,)))
]


def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Matrix product by its definition."""
    return (a[..., :, :, None] * b[..., None, :, :]).sum(-2)


def softmax(dimension: int) -> Callable[..., Any]:
    """Exponentials over their sum."""
    return lambda x: np.exp(x) / np.exp(x).sum(dimension, keepdims=True)


CONTRACTIONS = [
    Case("matmul", product, ((33, 70), (70, 5)), (33, 5), terms=70, segments=False),
    Case(
        "matmul",
        product,
        ((2, 3, 33, 40), (2, 3, 40, 7)),
        (2, 3, 33, 7),
        terms=40,
        segments=False,
        id="matmul_batch",
    ),
    Case(
        "matmul",
        product,
        ((9, 13), (13, 7)),
        (9, 7),
        elements=("i32",),
        sample=few,
        segments=False,
        id="matmul_i32",
    ),
    Case("softmax", softmax(2), attributes="dimension = -1 : si32", terms=70, segments=False),
    Case(
        "softmax",
        softmax(1),
        attributes="dimension = 1 : si32",
        terms=33,
        segments=False,
        id="softmax_1",
    ),
]


def swapped(x: np.ndarray) -> np.ndarray:
    """Dimensions 1 and 2 exchanged, index by index."""
    return np.array(
        [
            [[x[i, k, j] for k in range(x.shape[1])] for j in range(x.shape[2])]
            for i in range(x.shape[0])
        ]
    )


def sliced(x: np.ndarray) -> np.ndarray:
    """x[1:3, 2:31:4, -9:70:3], index by index."""
    return np.array(
        [[[x[i, j, k] for k in range(61, 70, 3)] for j in range(2, 31, 4)] for i in range(1, 3)]
    )


def padded(x: np.ndarray) -> np.ndarray:
    """One row of 1.5 above, two columns to the left and three to the right."""
    result = np.full((6, 12), 1.5)
    result[1:, 2:9] = x
    return result


MOVEMENT = [
    Case("transpose", swapped, out=(3, 70, 33), attributes="dim0 = 1 : si32, dim1 = -1 : si32"),
    Case(
        "concat",
        lambda x, y: np.array([[*p, *q] for p, q in zip(x, y, strict=True)]),
        ((33, 70), (33, 5)),
        (33, 75),
        "dim = -1 : si32",
    ),
    Case(
        "concat",
        lambda x, y, z: np.array([*x, *y, *z]),
        ((3, 5), (1, 5), (4, 5)),
        (8, 5),
        "dim = 0 : si32",
        id="concat_3",
    ),
    Case(
        "broadcast",
        lambda x: np.array([[row[0]] * 70 for row in x]),
        ((33, 1),),
        (33, 70),
        "dimension = [1]",
    ),
    Case(
        "reshape",
        lambda x: np.array(x.ravel().tolist()).reshape(9, 11, 70),
        out=(9, 11, 70),
        attributes="shape = [9 : i32, -1 : i32, 70 : i32]",
    ),
    Case("squeeze", lambda x: x[:, 0], ((3, 1, 70),), (3, 70), "dim = 1 : si32"),
    Case("unsqueeze", lambda x: x[:, None], ((3, 70),), (3, 1, 70), "dim = 1 : si32"),
    Case(
        "slice",
        sliced,
        out=(2, 8, 3),
        attributes=f"begins = [{i32s(1, 2, -9)}], ends = [{i32s(3, 31, 70)}], "
        f"step = [{i32s(1, 4, 3)}]",
    ),
    Case(
        "repeat",
        lambda x: np.array([[*row, *row, *row] for row in [*x, *x]]),
        ((3, 5),),
        (6, 15),
        "repeat_dimensions = array<i64: 2, 3>",
    ),
    Case(
        "permute",
        lambda x: np.array([x[:, :, k].tolist() for k in range(70)]),
        out=(70, 3, 33),
        attributes="permutation = array<i64: 2, 0, 1>",
    ),
    Case(
        "reverse",
        lambda x: np.array([[row[::-1] for row in part] for part in [*x][::-1]]),
        attributes="dimensions = array<i64: 2, 0>",
    ),
    Case("pad", padded, ((5, 7),), (6, 12), "padding = array<i32: 1, 0, 2, 3>, value = 1.5 : f32"),
]


MANY = "[[1.5, -2.0, 3.0], [4.0, 5.0, -6.25]]"
MANY_INTEGERS = "[[1, -2, 3], [4, 2147483647, -6]]"


def constant(values: Any, text: str, id: str, elements: tuple[str, ...] = ("f32", "bf16")) -> Case:
    """A constant and what its attribute says."""
    array = np.array(values)
    attribute = f"value = dense<{text}> : TYPE"
    return Case(
        "constant",
        lambda: array,
        (),
        array.shape,
        attribute,
        elements,
        segments=False,
        id=f"constant_{id}",
    )


CREATION = [
    Case(
        "arange",
        lambda: np.array([[5 - 3 * j for j in range(7)]] * 3),
        (),
        (3, 7),
        "start = 5 : si64, end = -16 : si64, step = -3 : si64, arange_dimension = 1 : i64",
        elements=ALL,
        segments=False,
    ),
    constant(np.full((3, 40), 2.5), "2.5", "splat"),
    constant(np.zeros((3, 40)), "0.0", "zero"),
    constant([[1.5, -2, 3], [4, 5, -6.25]], MANY, "many"),
    constant([[1, -2, 3], [4, 2**31 - 1, -6]], MANY_INTEGERS, "integers", ("i32",)),
    constant([[1, 0, 1]], "[[true, false, true]]", "bits", ("i1",)),
]

CASES = [
    *UNARY,
    *BINARY,
    *TERNARY,
    *REDUCTIONS,
    *CONTRACTIONS,
    *(replace(case, segments=False) for case in MOVEMENT),
    *WINDOWS,
    *NORMALIZATIONS,
    *CREATION,
]
USES = [
    pytest.param(case, element, id=f"{case.name}-{element}")
    for case in CASES
    for element in case.elements
]


def test_every_operation_is_used() -> None:
    """Memory for results and splat constants reach the file as `empty` and `full`."""
    elsewhere = {
        definition.mnemonic for definition in (*indexing.DEFINITIONS, *ordering.DEFINITIONS)
    }
    elsewhere |= {"dot_general", "convolution", "pooling"}
    assert {case.op for case in CASES} == set(DEFINITIONS) - {"empty", "full"} - elsewhere


@pytest.mark.parametrize("numerics", ["exact", "device"])
@pytest.mark.parametrize(("case", "element"), USES)
def test_operation(case: Case, element: str, numerics: str) -> None:
    """Numbers of the compiled operation, and an estimate of its time."""
    check_numbers(case, element, numerics)
    check_estimate(case, element)


LOOPS = ("ttir-composite-decomposition", "ttir-window-decomposition", "ttir-to-d2m")
WITHOUT_LOOPS = {"lgamma"}


@pytest.mark.parametrize(("case", "element"), USES)
def test_loops_over_tiles(case: Case, element: str) -> None:
    """Numbers of loops over tiles, interpreted; or what says that there are none, and where to."""
    arrays = inputs_of(case, element)
    if case.name not in WITHOUT_LOOPS:
        (result,) = execute(lowered(ttir(case, element), *LOOPS), arrays)
        compare_numbers(case, element, arrays, np.asarray(result))
        return
    with pytest.raises(DiagnosticError) as refused:
        lowered(ttir(case, element), *LOOPS)
    assert re.search(r"test.mlir:\d+:\d+: error: .*failed to legalize", str(refused.value))
    assert str(refused.value).endswith("use target='ttnn' (ttir-to-ttnn-backend-pipeline)")
