"""Bodies of linalg that compare and select, against the loops that they stand for, step by step."""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from running.pass_runner import executed, printed

from ttmlir.mlir.reporting import DiagnosticError

COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "gt": operator.gt,
    "ge": operator.ge,
    "lt": operator.lt,
    "le": operator.le,
}
ORDERS = list(itertools.product((False, True), (False, True)))
"""Whether the accumulated number stands first in the comparison, and in the choice."""


def compare(predicate: str, a: Any, b: Any, *, is_float: bool) -> bool:
    """What `arith.cmpf` and `arith.cmpi` say of two numbers."""
    kind, name = predicate[0], predicate[1:]
    if is_float and (np.isnan(a) or np.isnan(b)):
        return kind == "u"
    if not is_float and kind == "u":
        a, b = int(a) % 2**32, int(b) % 2**32
    return COMPARISONS[name](a, b)


def body(predicate: str, element: str, order: tuple[bool, bool]) -> str:
    """The operations that combine %x with %acc."""
    pairs = [("%acc, %x" if turned else "%x, %acc") for turned in order]
    kind = "cmpf" if element == "f32" else "cmpi"
    return (
        f"%c = arith.{kind} {predicate}, {pairs[0]} : {element}\n"
        f"%s = arith.select %c, {pairs[1]} : {element}\nlinalg.yield %s : {element}"
    )


def program(text: str, element: str) -> str:
    """A reduction over the first and the last loop."""
    return f"""
      func.func @f(%a: tensor<3x2x5x{element}>, %b: tensor<2x{element}>) -> tensor<2x{element}> {{
        %r = linalg.generic {{
          indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (j)>],
          iterator_types = ["reduction", "parallel", "reduction"]}}
          ins(%a : tensor<3x2x5x{element}>) outs(%b : tensor<2x{element}>) {{
        ^bb0(%x: {element}, %acc: {element}):
          {text}
        }} -> tensor<2x{element}>
        return %r : tensor<2x{element}>
      }}"""


def chosen(
    numbers: np.ndarray, start: np.ndarray, predicate: str, order: tuple[bool, bool]
) -> np.ndarray:
    """The loops, one number after the other."""
    is_float = numbers.dtype.kind == "f"
    result = start.copy()
    for i, j, k in np.ndindex(*numbers.shape):
        x, acc = numbers[i, j, k], result[j]
        a, b = (acc, x) if order[0] else (x, acc)
        holds = compare(predicate, a, b, is_float=is_float)
        result[j] = (x if holds else acc) if not order[1] else (acc if holds else x)
    return result


def with_nans(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Numbers among which are NaNs, at the end of a row, at the start, nowhere or everywhere."""
    rng = np.random.default_rng(seed)
    numbers = rng.integers(-9, 9, (3, 2, 5)).astype(np.float32)
    start = rng.integers(-20, 20, 2).astype(np.float32)
    numbers[rng.random(numbers.shape) < 0.15] = np.nan
    if seed % 4 == 0:
        numbers[2, :, 4] = np.nan
    if seed % 5 == 1:
        start[1] = np.nan
    if seed % 7 == 2:
        numbers[:] = np.nan
    if seed % 3 == 0:
        numbers[:, 0] = np.arange(15).reshape(3, 5) - 7
    return numbers, start


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("predicate", [k + name for k in "ou" for name in COMPARISONS])
def test_floats(predicate: str) -> None:
    """Whichever way a body asks, NaNs are taken and kept as it says."""
    for order in ORDERS:
        text = program(body(predicate, "f32", order), "f32")
        for seed in range(9):
            numbers, start = with_nans(seed)
            (found,) = executed(text, [numbers, start], "linalg-to-ttnn-pipeline")
            expected = chosen(numbers, start, predicate, order)
            np.testing.assert_array_equal(found, expected, err_msg=f"{order} {seed}")


@pytest.mark.parametrize("predicate", [k + name for k in "su" for name in COMPARISONS])
def test_integers(predicate: str) -> None:
    """With sign and without."""
    rng = np.random.default_rng(5)
    numbers = rng.integers(-(2**31), 2**31, (3, 2, 5)).astype(np.int32)
    start = rng.integers(-(2**31), 2**31, 2).astype(np.int32)
    for order in ORDERS:
        text = program(body(predicate, "i32", order), "i32")
        (found,) = executed(text, [numbers, start], "linalg-to-ttnn-pipeline")
        np.testing.assert_array_equal(found, chosen(numbers, start, predicate, order))


@pytest.mark.parametrize("predicate", ["sgt", "sle", "ugt", "ule"])
def test_truth_values(predicate: str) -> None:
    """As a number with sign, true is -1."""
    text = program(body(predicate, "i1", (False, False)), "i1")
    sign = -1 if predicate[0] == "s" else 1
    for count in (0, 1, 15):
        numbers = (np.arange(30).reshape(3, 2, 5) % 15) < count
        start = np.array([False, True])
        (found,) = executed(text, [numbers, start], "linalg-to-ttnn-pipeline")
        pick = max if predicate.endswith("gt") else min
        expected = [
            bool(sign * pick(sign * int(n) for n in (start[j], *numbers[:, j].ravel())))
            for j in range(2)
        ]
        assert found.tolist() == expected


def positions(condition: str, keeps: str = "arith.select %c, %x, %m : f32") -> str:
    """A reduction that keeps the largest number and its place."""
    return f"""
      func.func @f(%a: tensor<4x6xf32>, %b: tensor<4xf32>, %p: tensor<4xi32>)
          -> (tensor<4xf32>, tensor<4xi32>) {{
        %r:2 = linalg.generic {{
          indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>,
                           affine_map<(i, k) -> (i)>],
          iterator_types = ["parallel", "reduction"]}}
          ins(%a : tensor<4x6xf32>) outs(%b, %p : tensor<4xf32>, tensor<4xi32>) {{
        ^bb0(%x: f32, %m: f32, %q: i32):
          %zero = arith.constant 0.0 : f32
          %i = linalg.index 1 : index
          %k = arith.index_cast %i : index to i32
          %c = arith.cmpf {condition} : f32
          %s = {keeps}
          %t = arith.select %c, %k, %q : i32
          linalg.yield %s, %t : f32, i32
        }} -> (tensor<4xf32>, tensor<4xi32>)
        return %r#0, %r#1 : tensor<4xf32>, tensor<4xi32>
      }}"""


@pytest.mark.parametrize("condition", ["ogt, %x, %m", "olt, %m, %x"])
def test_positions(condition: str) -> None:
    """The first of the largest numbers, if it exceeds what is given to start with."""
    nan = np.nan
    numbers = np.array(
        [[1, 5, nan, 5, 2, 0], [nan, -3, -3, -9, nan, -4], [nan] * 6, [-2, -8, -4, -3, -2, -2]],
        np.float32,
    )
    for start in (np.full(4, -np.inf, np.float32), np.array([5, nan, 0, -3], np.float32)):
        best, place = start.copy(), np.array([7, 8, 9, 10], np.int32)
        inputs = [numbers, start, place.copy()]
        for row, column in np.ndindex(4, 6):
            if numbers[row, column] > best[row]:
                best[row], place[row] = numbers[row, column], column
        found = executed(positions(condition), inputs, "linalg-to-ttnn-pipeline")
        np.testing.assert_array_equal(found[0], best)
        np.testing.assert_array_equal(found[1], place)


@pytest.mark.parametrize("keeps", ["maximumf", "maxnumf"])
def test_positions_beside_a_maximum(keeps: str) -> None:
    """The largest number may be kept by an operation of its own."""
    numbers = np.array([[1, 5, 5], [-3, -9, -2], [0, -1, 0], [4, 2, 1]], np.float32)
    start, place = np.full(4, -np.inf, np.float32), np.zeros(4, np.int32)
    text = positions("ogt, %x, %m", f"arith.{keeps} %x, %m : f32").replace("4x6x", "4x3x")
    found = executed(text, [numbers, start, place], "linalg-to-ttnn-pipeline")
    np.testing.assert_array_equal(found[0], numbers.max(1))
    np.testing.assert_array_equal(found[1], numbers.argmax(1))


@pytest.mark.parametrize(
    ("condition", "keeps"),
    [
        ("ogt, %x, %zero", "arith.select %c, %x, %m : f32"),
        ("ogt, %x, %m", "arith.addf %x, %m : f32"),
        ("ogt, %x, %m", "arith.minimumf %x, %m : f32"),
        ("oge, %x, %m", "arith.select %c, %x, %m : f32"),
    ],
)
def test_other_positions_are_refused(condition: str, keeps: str) -> None:
    """What is compared with has to be the largest number so far."""
    with pytest.raises(DiagnosticError, match="combines elements over a loop in another way"):
        printed(positions(condition, keeps), "convert-linalg-to-ttir")


def test_no_elements() -> None:
    """The numbers to start with stay."""
    text = positions("ogt, %x, %m").replace("4x6x", "4x0x")
    start, place = np.float32([1, 2, 3, -np.inf]), np.int32([4, 3, 2, 1])
    inputs = [np.zeros((4, 0), np.float32), start, place]
    found = executed(text, inputs, "linalg-to-ttnn-pipeline")
    np.testing.assert_array_equal(found[0], start)
    np.testing.assert_array_equal(found[1], place)


FOLDS: dict[str, Callable[..., Any]] = {
    "andi": np.bitwise_and,
    "ori": np.bitwise_or,
    "xori": np.bitwise_xor,
    "maxui": lambda a, b: np.maximum(a.view(np.uint32), b.view(np.uint32)).view(np.int32),
    "minui": lambda a, b: np.minimum(a.view(np.uint32), b.view(np.uint32)).view(np.int32),
}


@pytest.mark.parametrize("name", FOLDS)
def test_bits_and_numbers_without_sign(name: str) -> None:
    """They are combined by halves, as no reduction does it."""
    rng = np.random.default_rng(3)
    a, b = (rng.integers(-(2**31), 2**31, shape).astype(np.int32) for shape in ((3, 2, 5), (2,)))
    if name == "andi":
        a, b = a | 0x55AA55AA, b | 0x55AA55AA
    expected = functools.reduce(FOLDS[name], [*a.transpose(0, 2, 1).reshape(15, 2), b])
    text = program(f"%s = arith.{name} %acc, %x : i32\nlinalg.yield %s : i32", "i32")
    (found,) = executed(text, [a, b], "linalg-to-ttnn-pipeline")
    np.testing.assert_array_equal(found, expected)


def test_sums_of_truth_values() -> None:
    """They wrap around: one is true if an odd number of terms is."""
    rng = np.random.default_rng(4)
    a, b = rng.random((3, 2, 5)) < 0.5, np.array([True, False])
    text = program("%s = arith.addi %x, %acc : i1\nlinalg.yield %s : i1", "i1")
    (found,) = executed(text, [a, b], "linalg-to-ttnn-pipeline")
    np.testing.assert_array_equal(found, a.sum((0, 2)) % 2 != b)
