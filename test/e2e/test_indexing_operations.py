"""Operations that read and write by number, and general products, from text to numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from samples.operation_cases import Case, Shape, check_estimate, check_numbers

from ttmlir.optable import indexing


def picked(x: np.ndarray, index: np.ndarray) -> np.ndarray:
    """Elements one by one, numbered along dimension 1."""
    rows = range(x.shape[0])
    return np.array([[x[i, int(n)] for n in index[i % len(index)]] for i in rows])


def written(combine: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """Elements put one by one to rows of a tensor; those for rows that are not there are lost."""

    def oracle(x: np.ndarray, index: np.ndarray, source: np.ndarray) -> np.ndarray:
        result = x.copy()
        for i, j in np.ndindex(source.shape):
            row = int(index[i, j % index.shape[1]])
            if 0 <= row < len(x):
                result[row, j] = combine(result[row, j], source[i, j])
        return result

    return oracle


def moved_inside(begins: np.ndarray, extents: Shape, sizes: Shape) -> list[int]:
    """Begins of a slice that stays within the borders."""
    return [
        sorted((0, int(begin), extent - size))[1]
        for begin, extent, size in zip(begins, extents, sizes, strict=True)
    ]


def cut(x: np.ndarray, begins: np.ndarray) -> np.ndarray:
    """A slice of 5x64."""
    row, column = moved_inside(begins, x.shape, (5, 64))
    return np.array([x[row + i].tolist()[column : column + 64] for i in range(5)])


def replaced(x: np.ndarray, update: np.ndarray, begins: np.ndarray) -> np.ndarray:
    """A slice put in place of another, element by element."""
    row, column = moved_inside(begins, x.shape, update.shape)
    result = x.copy()
    for i, j in np.ndindex(update.shape):
        result[row + i, column + j] = update[i, j]
    return result


def numbered(rng: np.random.Generator, shape: Shape) -> np.ndarray:
    """Numbers from -3 to 5, of which -3 to -1 are no places of elements; no two are equal."""
    return rng.permuted(np.broadcast_to(np.arange(-3, 6)[:, None], shape), axis=0)


COMBINATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "scatter": lambda old, new: new,
    "scatter_add": lambda old, new: old + new,
    "scatter_multiply": lambda old, new: old * new,
    "scatter_maximum": max,
    "scatter_minimum": min,
}


def looked_up(indices: np.ndarray, table: np.ndarray) -> np.ndarray:
    """Rows one by one."""
    return np.stack([table[int(i)] for i in indices.ravel()]).reshape(*indices.shape, -1)


INDEXING = [
    Case(
        "embedding",
        looked_up,
        ((4, 7), (50, 33)),
        (4, 7, 33),
        numbers=lambda rng, shape: rng.integers(0, 50, shape),
        operand_elements=("i32", None),
        segments=False,
    ),
    Case(
        "gather",
        picked,
        ((33, 50), (33, 4)),
        (33, 4),
        "dim = -1 : si32",
        numbers=lambda rng, shape: rng.integers(0, 50, shape),
        operand_elements=(None, "i32"),
    ),
    Case(
        "gather",
        picked,
        ((3, 50), (1, 70)),
        (3, 70),
        "dim = 1 : si32",
        elements=("f32", "i32"),
        numbers=lambda rng, shape: rng.integers(0, 50, shape),
        operand_elements=(None, "i32"),
        id="gather_columns",
    ),
    *(
        Case(
            op,
            written(combine),
            ((6, 7), (9, columns), (9, 7)),
            (6, 7),
            "dim = 0 : si32",
            elements=("f32", "i32"),
            numbers=numbered,
            operand_elements=(None, "i32", None),
            terms=9,
            id=f"{op}_{columns}",
        )
        for op, combine in COMBINATIONS.items()
        for columns in (1, 7)
    ),
    Case(
        "slice_dynamic",
        cut,
        ((33, 70), (2,)),
        (5, 64),
        "sizes = array<i64: 5, 64>",
        numbers=lambda rng, shape: rng.choice([-2, 3, 30], shape),
        operand_elements=(None, "i32"),
    ),
    Case(
        "slice_write",
        replaced,
        ((33, 70), (5, 64), (2,)),
        (33, 70),
        numbers=lambda rng, shape: rng.choice([-2, 3, 30], shape),
        operand_elements=(None, None, "i32"),
    ),
    Case(
        "cumsum",
        lambda x: np.array([[math.fsum(row[: k + 1]) for k in range(70)] for row in x]),
        ((33, 70),),
        (33, 70),
        "dim = -1 : si32",
        terms=70,
    ),
    Case(
        "dot_general",
        lambda a, b: np.array([[a[k, i] @ b[i, :, k] for i in range(3)] for k in range(33)]),
        ((33, 3, 70), (3, 70, 33)),
        (33, 3),
        "batch_dims_lhs = array<i64: 0, 1>, contract_dims_lhs = array<i64: 2>, "
        "batch_dims_rhs = array<i64: 2, 0>, contract_dims_rhs = array<i64: 1>",
        terms=70,
    ),
]
USES = [
    pytest.param(case, element, id=f"{case.name}-{element}")
    for case in (replace(case, segments=False) for case in INDEXING)
    for element in case.elements
]


def test_every_operation_is_used() -> None:
    """None is forgotten."""
    assert {case.op for case in INDEXING} == {
        *(definition.mnemonic for definition in indexing.DEFINITIONS),
        "dot_general",
    }


@pytest.mark.parametrize("numerics", ["exact", "device"])
@pytest.mark.parametrize(("case", "element"), USES)
def test_operation(case: Case, element: str, numerics: str) -> None:
    """Numbers of the compiled operation, and an estimate of its time."""
    check_numbers(case, element, numerics)
    check_estimate(case, element)
