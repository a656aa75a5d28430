"""Operations with two results, numbers in order and their places, from TTIR text to numbers."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from running.pass_runner import TTNN_PIPELINE, lowered, printed
from samples.ttnn_program import ProgramBuilder

from ttmlir.cost import estimate_program
from ttmlir.mlir.reporting import DiagnosticError
from ttmlir.runtime import Binary, BinaryError, Tensor, open_device, read_binary, submit
from ttmlir.runtime.execution.executor import execute
from ttmlir.runtime.execution.prepare import prepare
from ttmlir.runtime.golden import GoldenObserver
from ttmlir.target.flatbuffer.ttnn import ttnn_to_flatbuffer

SHAPE = (3, 33, 70)
HOST = {"f32": np.float32, "bf16": ml_dtypes.bfloat16, "i32": np.int32}


@dataclass(frozen=True)
class Order:
    """What is asked of the order."""

    dim: int
    descending: bool
    count: int | None = None
    """Of `topk`; None for a sort."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Of both results."""
        shape = list(SHAPE)
        shape[self.dim] = shape[self.dim] if self.count is None else self.count
        return tuple(shape)


ORDERS = [
    Order(-1, False),
    Order(1, True),
    Order(0, False),
    Order(2, True, 5),
    Order(1, False, 33),
    Order(-3, True, 1),
]


def source(order: Order, element: str, index: str = "i32") -> str:
    """A function with the operation alone."""
    numbers, places = (
        f"tensor<{'x'.join((*map(str, order.shape), kind))}>" for kind in (element, index)
    )
    given = f"tensor<{'x'.join((*map(str, SHAPE), element))}>"
    way = str(order.descending).lower()
    if order.count is None:
        name, settings = "sort", f"descending = {way}, stable = true"
    else:
        name, settings = "topk", f"k = {order.count} : si32, largest = {way}, sorted = true"
    return f"""
#any = #tt.operand_constraint<dram|l1|scalar|tile|any_device|any_device_tile>
func.func @forward(%x: {given}) -> ({numbers}, {places}) {{
  %0 = tensor.empty() : {numbers}
  %1 = tensor.empty() : {places}
  %v, %i = "ttir.{name}"(%x, %0, %1) <{{dim = {order.dim} : si32, {settings},
      operand_constraints = [#any, #any, #any]}}>
      : ({given}, {numbers}, {places}) -> ({numbers}, {places})
  return %v, %i : {numbers}, {places}
}}
"""


def compiled(order: Order, element: str) -> Binary:
    """The program in a file."""
    module = lowered(source(order, element), TTNN_PIPELINE)
    return read_binary(ttnn_to_flatbuffer(module, mlir_source="", cpp_source=""), "test.ttnn")


def numbers(element: str) -> Any:
    """Few different numbers, zeros of both signs, infinities and NaN of both signs among them."""
    rng = np.random.default_rng(3)
    drawn = rng.integers(-4, 5, SHAPE).astype(np.float64)
    if element != "i32":
        for number in (math.nan, -math.nan, math.inf, -math.inf, -0.0):
            drawn[rng.random(SHAPE) < 0.05] = number
    return drawn.astype(HOST[element])


def expected_places(array: Any, order: Order) -> Any:
    """Places by Python's own sort, which is stable; NaN is above infinity."""

    def key(row: list[float]) -> Any:
        sign = -1 if order.descending else 1
        return lambda i: (sign * math.isnan(row[i]), 0 if math.isnan(row[i]) else sign * row[i])

    rows = np.moveaxis(array.astype(np.float64), order.dim, -1)
    flat = rows.reshape(-1, rows.shape[-1]).tolist()
    places = np.array([sorted(range(len(row)), key=key(row)) for row in flat])
    found = np.moveaxis(places.reshape(rows.shape), -1, order.dim)
    return found if order.count is None else np.take(found, range(order.count), order.dim)


@pytest.mark.parametrize("numerics", ["exact", "device"])
@pytest.mark.parametrize("element", HOST)
@pytest.mark.parametrize("order", ORDERS, ids=str)
def test_order(order: Order, element: str, numerics: str) -> None:
    """Both results, in types of their own; the numbers are those at the places, bit by bit."""
    array = numbers(element)
    device = open_device(numerics=numerics)
    found, places = submit(device, compiled(order, element), 0, [Tensor.from_numpy(array)])
    expected = expected_places(array, order)
    assert places.to_numpy().dtype == np.int32
    np.testing.assert_array_equal(places.to_numpy(), expected)
    assert found.to_numpy().dtype == HOST[element]
    wanted = np.take_along_axis(array, expected, order.dim)
    np.testing.assert_array_equal(np.isnan(found.to_numpy()), np.isnan(wanted))
    np.testing.assert_array_equal(
        np.nan_to_num(found.to_numpy().astype(np.float64)),
        np.nan_to_num(wanted.astype(np.float64)),
    )


def test_golden() -> None:
    """Both results are compared with the reference."""
    binary = compiled(ORDERS[0], "f32")
    array = numbers("f32")
    observer = GoldenObserver([array])
    execute(prepare(binary.program(0)), [array], observer)
    assert [each.name for each in observer.results if each.passed] == ["ttnn.sort"] * 2


def test_estimate() -> None:
    """The operation takes time, more for longer rows."""
    times: list[float] = []
    for order in (ORDERS[0], ORDERS[3]):
        operations = estimate_program(compiled(order, "f32").program(0), "n150").operations
        [found] = [each for each in operations if each.name in ("ttnn.sort", "ttnn.topk")]
        times.append(found.mid)
    assert min(times) > 0


def test_cpp() -> None:
    """Both results are assigned at once."""
    text = printed(source(ORDERS[3], "f32"), TTNN_PIPELINE, "convert-ttnn-to-emitc")
    assert re.search(
        r'%\d+:2 = emitc.call_opaque "ttnn::topk"\(%\d+, %\d+, %\d+\) \{args = \[0 : index, '
        r"5 : si32, 2 : si32, true, true, 1 : index, 2 : index\]\}",
        text,
    )


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("dim = -1 : si32", "dim = 3 : si32", "Dimension 3 is out of range for rank 3."),
        ("3x33x70xi32", "3x33x7xi32", "Output shape (3, 33, 7) must be (3, 33, 70)."),
        ("3x33x70xi32", "3x33x70xf32", "the second result has elements of f32; indices are int"),
        ("x: tensor<3x33x70xf32>", "x: tensor<3x33x70xbf16>", ""),
    ],
)
def test_invalid(old: str, new: str, words: str) -> None:
    """What the verifier says."""
    text = source(ORDERS[0], "f32").replace(old, new)
    if not words:
        text = text.replace(": (tensor<3x33x70xf32>,", ": (tensor<3x33x70xbf16>,")
        words = "the numbers are of bf16, and the first result of f32; they are the same"
    with pytest.raises(DiagnosticError, match=re.escape(words)):
        lowered(text)


def test_too_many() -> None:
    """More elements than there are."""
    with pytest.raises(DiagnosticError, match="k is 71, and dimension 2 has 70 elements; k is"):
        lowered(source(Order(2, True, 71), "f32"))


def written(outputs: Callable[[ProgramBuilder], list[Any]]) -> Binary:
    """A file whose sort of an input writes to these tensors."""
    b = ProgramBuilder()
    x = b.to_device(b.input((3, 5)))
    refs = outputs(b)
    b.op("SortOp", **{"in": x}, dim=1, descending=False, stable=True, outputs=refs)
    b.output(refs[0])
    return read_binary(b.pack(), "x.ttnn")


@pytest.mark.parametrize(
    ("outputs", "words"),
    [
        (lambda b: [b.empty((3, 5))], "field 'outputs' has 1 tensor; ttnn.sort makes 2"),
        (lambda b: [b.empty((3, 5))] * 2, "writes a tensor twice"),
        (
            lambda b: [b.empty((3, 5)), b.empty((3, 4), "i32")],
            "ttnn.sort makes 3x5, but one of its outputs is 3x4",
        ),
        (lambda b: [b.empty((3, 4)), b.empty((3, 4), "i32")], "its outputs is 3x4"),
    ],
)
def test_damaged_files(outputs: Callable[[ProgramBuilder], list[Any]], words: str) -> None:
    """Too few results, the same one twice, and others than the operation makes."""
    x = np.ones((3, 5), np.float32)
    with pytest.raises(BinaryError, match=re.escape(words)):
        submit(open_device(), written(outputs), 0, [Tensor.from_numpy(x)])
