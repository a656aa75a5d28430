"""Masks of padding go where it is known, and become a choice by a constant where it is not.

The interpreter fills what nothing was written to with NaN, so a mask that is missing shows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from oracles.d2m_references import golden_results
from running.d2m_interpreter import normal
from running.pass_runner import lowered
from samples.ttir_text import FunctionText, tensor
from xdsl.dialects.builtin import ModuleOp

from ttmlir.interpreter import execute

Array = np.ndarray[Any, Any]
PASSES = ("ttir-composite-decomposition", "ttir-to-d2m", "d2m-mask-padding")


def choices(module: ModuleOp) -> int:
    """The masks that are left."""
    names = [op.name for op in module.walk()]
    assert "d2m.tile_mask" not in names
    assert "linalg.index" not in names
    return names.count("d2m.tile_where")


def check(text: str, inputs: Sequence[Array], expected: Sequence[Array], masks: int) -> ModuleOp:
    """A function computes what is expected of it, with so many masks."""
    module = lowered(text, *PASSES)
    for results in (execute(module, inputs), golden_results(module, inputs)):
        for result, each in zip(results, expected, strict=True):
            np.testing.assert_allclose(result, each, rtol=1e-4, atol=1e-4)
    assert choices(module) == masks
    return module


OVER_ROWS = "dim_arg = [0 : i32], keep_dim = true"
OVER_COLUMNS = "dim_arg = [1 : i32], keep_dim = true"


@pytest.mark.parametrize(
    ("mnemonic", "masks"),
    [("sum", 0), ("max", 1)],
)
def test_what_the_host_pads(mnemonic: str, masks: int) -> None:
    """Zeros add nothing, but may be the largest numbers."""
    text = FunctionText([tensor(33, 70)])
    rows = text.op(mnemonic, ["%arg0"], tensor(33, 1), OVER_COLUMNS)
    x = normal(33, 70) - 9
    expected = getattr(x, mnemonic)(1, keepdims=True)
    check(text.returning(rows), [x], [expected], masks)


@pytest.mark.parametrize(
    ("mnemonics", "masks"),
    [
        (("sin",), 0),
        (("sqrt", "neg", "tanh"), 0),
        (("exp",), 1),
        (("exp", "log"), 0),
        (("cos", "sigmoid"), 1),
    ],
)
def test_elementwise_operations_on_zeros(mnemonics: Sequence[str], masks: int) -> None:
    """The padding is what the operations make of 0."""
    functions: dict[str, Any] = {
        "sin": np.sin,
        "sqrt": np.sqrt,
        "neg": np.negative,
        "tanh": np.tanh,
        "exp": np.exp,
        "log": np.log,
        "cos": np.cos,
        "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    }
    text = FunctionText([tensor(33, 70)])
    value, expected = "%arg0", abs(normal(33, 70))
    x = expected
    for mnemonic in mnemonics:
        value = text.op(mnemonic, [value], tensor(33, 70))
        expected = functions[mnemonic](expected)
    total = text.op("sum", [value], tensor(1, 70), OVER_ROWS)
    check(text.returning(total), [x], [expected.sum(0, keepdims=True)], masks)


@pytest.mark.parametrize(
    ("shape", "over", "masks"),
    [
        # The row is repeated into the rows beyond the last one, but has no more columns.
        ((1, 70), 0, 1),
        ((1, 70), 1, 0),
        ((33, 1), 0, 0),
        ((33, 1), 1, 1),
        ((1, 1), 0, 1),
        ((33, 70), 1, 0),
    ],
)
def test_repeated_rows_and_columns(shape: tuple[int, int], over: int, masks: int) -> None:
    """A row is repeated into padding below, a column into padding beside it."""
    text = FunctionText([tensor(33, 70), tensor(*shape)])
    value = text.op("add", ["%arg0", "%arg1"], tensor(33, 70))
    kept = (1, 70) if over == 0 else (33, 1)
    total = text.op("sum", [value], tensor(*kept), (OVER_ROWS, OVER_COLUMNS)[over])
    x, y = normal(33, 70), normal(*shape, seed=1)
    check(text.returning(total), [x, y], [(x + y).sum(over, keepdims=True)], masks)


def test_products_of_padded_tensors() -> None:
    """Rows of zeros make rows of zeros; a bias of one row ends that for the rows alone."""
    text = FunctionText([tensor(33, 70), tensor(70, 40), tensor(40), tensor(40, 33), tensor(5, 33)])
    product = text.op("matmul", ["%arg0", "%arg1"], tensor(33, 40))
    biased = text.op("add", [product, "%arg2"], tensor(33, 40))
    again = text.op("matmul", [biased, "%arg3"], tensor(33, 33))
    result = text.op("matmul", ["%arg4", again], tensor(5, 33))
    x, w, b = normal(33, 70), normal(70, 40, seed=1), normal(40, seed=2)
    v, u = normal(40, 33, seed=3), normal(5, 33, seed=4)
    check(text.returning(result), [x, w, b, v, u], [u @ ((x @ w + b) @ v)], 1)


def test_softmax() -> None:
    """The largest number and the sum are of rows; both masks are one constant."""
    text = FunctionText([tensor(33, 70)])
    y = text.op("softmax", ["%arg0"], tensor(33, 70), "dimension = 1 : si32")
    x = normal(33, 70) - 9
    powers = np.exp(x - x.max(1, keepdims=True))
    module = check(text.returning(y), [x], [powers / powers.sum(1, keepdims=True)], 2)
    constants = [op for op in module.walk() if op.name == "arith.constant"]
    assert [str(op.results[0].type) for op in constants] == ["tensor<32x70xf32>"]


@pytest.mark.parametrize("over", [(0,), (1,), (0, 1)])
@pytest.mark.parametrize("shape", [(5, 7), (64, 70), (70, 64), (3, 33, 65)])
def test_masks_of_rows_and_columns(shape: tuple[int, ...], over: tuple[int, ...]) -> None:
    """Constants have as many tiles as the masked dimensions."""
    dims = [len(shape) - 2 + dim for dim in over]
    kept = [1 if dim in dims else extent for dim, extent in enumerate(shape)]
    text = FunctionText([tensor(*shape)])
    listed = ", ".join(f"{dim} : i32" for dim in dims)
    largest = text.op("max", ["%arg0"], tensor(*kept), f"dim_arg = [{listed}], keep_dim = true")
    x = normal(*shape) - 9
    aligned = all(shape[dim] % 32 == 0 for dim in dims)
    check(text.returning(largest), [x], [x.max(tuple(dims), keepdims=True)], 0 if aligned else 1)


@pytest.mark.parametrize(
    ("begin", "end", "masks"), [(0, 33, 1), (32, 70, 1), (0, 64, 0), (32, 40, 1)]
)
def test_views_of_a_part(begin: int, end: int, masks: int) -> None:
    """Behind the end of a slice is data of the tensor, unless it begins and ends with it."""
    text = FunctionText([tensor(5, 70)])
    bounds = (
        f"begins = [0 : i32, {begin} : i32], ends = [5 : i32, {end} : i32], "
        "step = [1 : i32, 1 : i32]"
    )
    part = text.op("slice", ["%arg0"], tensor(5, end - begin), bounds)
    total = text.op("sum", [part], tensor(5, 1), OVER_COLUMNS)
    x = normal(5, 70)
    expected = x[:, begin:end].sum(1, keepdims=True)
    check(text.returning(total), [x], [expected], masks)


def test_views_that_reorder_outer_dimensions_keep_padding() -> None:
    """Heads and tokens change places; the columns are padded as before."""
    text = FunctionText([tensor(2, 3, 5, 70)])
    order = "permutation = array<i64: 1, 0, 2, 3>"
    moved = text.op("permute", ["%arg0"], tensor(3, 2, 5, 70), order)
    over = "dim_arg = [3 : i32], keep_dim = true"
    total = text.op("sum", [moved], tensor(3, 2, 5, 1), over)
    x = normal(2, 3, 5, 70)
    check(text.returning(total), [x], [x.transpose(1, 0, 2, 3).sum(3, keepdims=True)], 0)


def test_padding_by_a_number() -> None:
    """What was padding of a tensor is the number, too."""
    text = FunctionText([tensor(5, 7)])
    padded = text.op(
        "pad", ["%arg0"], tensor(40, 7), "padding = array<i32: 0, 35, 0, 0>, value = 2.0 : f32"
    )
    x = normal(5, 7)
    check(text.returning(padded), [x], [np.pad(x, ((0, 35), (0, 0)), constant_values=2)], 1)


def test_integers_are_masked_by_truth_values() -> None:
    """The choice is that of `where` on integers."""
    text = FunctionText([tensor(5, 7, element="i32")])
    padded = text.op(
        "pad",
        ["%arg0"],
        tensor(40, 7, element="i32"),
        "padding = array<i32: 0, 35, 0, 0>, value = 2.0 : f32",
    )
    x = np.arange(35, dtype=np.int32).reshape(5, 7)
    check(text.returning(padded), [x], [np.pad(x, ((0, 35), (0, 0)), constant_values=2)], 1)
