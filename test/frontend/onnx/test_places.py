"""Places that are found when a model runs, as exporters write them for `masked_scatter`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

onnx: Any = pytest.importorskip("onnx", reason="needs onnx")

from samples.onnx_graphs import BOOL, INT64, model, node, numbers, value  # noqa: E402

import ttmlir  # noqa: E402

ROWS = [node("NonZero", "mask", "columns"), node("Transpose", "columns", "rows", perm=[1, 0])]
WEIGHTS = {"first": np.array([0]), "number": np.array(0), "all": np.array([-1])}

WAYS = {
    "an extent of one element": [node("Gather", "shape first", "count")],
    "an extent that is a scalar": [
        node("Gather", "shape number", "scalar"),
        node("Cast", "scalar", "wide", to=INT64),
        node("Unsqueeze", "wide first", "count"),
    ],
    "a part of the shape": [node("Shape", "rows", "count", end=1)],
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", [BOOL, INT64])
def test_elements_in_their_order(way: str, kind: int) -> None:
    """Another mask in each call, none and all of the places included."""
    nodes = [
        *ROWS,
        node("Shape", "rows", "shape"),
        *WAYS[way],
        node("Reshape", "source all", "flat"),
        node("Slice", "flat first count first", "some"),
        node("Reshape", "some all", "taken"),
        node("ScatterND", "x rows taken", "y"),
    ]
    inputs = [value("x", [3, 5]), value("mask", [3, 5], kind), value("source", [4, 5])]
    proto = model(nodes, inputs, [value("y", [3, 5])], WEIGHTS)
    x, source = numbers(3, 5), numbers(4, 5, seed=1)
    masks = [numbers(3, 5, seed=2) > 0.3, np.zeros((3, 5), bool), np.ones((3, 5), bool)]
    given = [each if kind == BOOL else each.astype(np.int64) * 7 for each in masks]
    compiled = ttmlir.compile(proto, x, given[0], source)
    for each, mask in zip(given, masks, strict=True):
        expected = x.copy()
        expected[mask] = source.reshape(-1)[: mask.sum()]
        np.testing.assert_array_equal(compiled(x, each, source), expected)


def count_of_mask(*nodes: Any) -> Any:
    """A model with a number for each place of a mask, as exporters write `x[mask] = 5`."""
    counting = [
        node("Cast", "mask", "ones", to=INT64),
        node("ReduceSum", "ones", "sum", keepdims=0),
        node("Reshape", "sum all", "count"),
        node("Expand", "five count", "fives"),
    ]
    inputs = [value("x", [3, 5]), value("mask", [3, 5], BOOL)]
    weights = {**WEIGHTS, "five": np.float32(5)}
    return model([*ROWS, *counting, *nodes], inputs, [value("y", None)], weights)


def test_one_number() -> None:
    """At the places of another mask in each call."""
    x, mask = numbers(3, 5), numbers(3, 5, seed=2) > 0.3
    compiled = ttmlir.compile(count_of_mask(node("ScatterND", "x rows fives", "y")), x, mask)
    for each in (mask, ~mask):
        np.testing.assert_array_equal(compiled(x, each), np.where(each, np.float32(5), x))


def test_one_number_elsewhere() -> None:
    """Then the model is compiled for one mask, or refused without one."""
    x, mask = numbers(3, 5), numbers(3, 5, seed=2) > 0.3
    proto = count_of_mask(node("Neg", "fives", "y"))
    compiled = ttmlir.compile(proto, x, mask)
    np.testing.assert_array_equal(compiled(x, mask), np.full(mask.sum(), -5, np.float32))
    with pytest.raises(ttmlir.InputError, match="was compiled for 'mask' = "):
        compiled(x, ~mask)
    message = r"node 'y' \(Neg\), which gives 'y': of an Expand before it the input 'shape' decides"
    with pytest.raises(ttmlir.CompilationError, match=message):
        ttmlir.compile(proto)


def test_extents_that_a_shape_has_not() -> None:
    """An error at compilation, as for other tensors."""
    nodes = [*ROWS, node("Shape", "rows", "shape"), node("Gather", "shape third", "y")]
    inputs = [value("mask", [3, 5], BOOL)]
    proto = model(nodes, inputs, [value("y", None)], {"third": np.array(2)})
    message = r"node 'y' \(Gather\).* 'indices' has indices from 2 to 2; the dimension has 2"
    with pytest.raises(ttmlir.CompilationError, match=message):
        ttmlir.compile(proto)


@pytest.mark.parametrize(
    ("nodes", "where"),
    [
        ([node("GatherND", "x rows", "y")], "node 'y' (GatherND)"),
        ([node("ScatterND", "x columns x", "y")], "node 'y' (ScatterND)"),
        ([node("SequenceConstruct", "rows", "y")], "node 'y' (SequenceConstruct)"),
        ([node("Identity", "rows", "y")], "node 'y' (Identity)"),
        ([node("MeanVarianceNormalization", "rows", "y")], "node 'y' (MeanVarianceNormalization)"),
        ([node("Shape", "rows", "y")], "node 'y' (Shape)"),
        ([node("Loop", "- - rows", "y", body=onnx.GraphProto())], "node 'y' (Loop)"),
    ],
)
def test_what_is_refused(nodes: list[Any], where: str) -> None:
    """Other uses, by the node that has them."""
    inputs = [value("x", [3, 5]), value("mask", [3, 5], BOOL)]
    proto = model([*ROWS, *nodes], inputs, [value("y", None)])
    with pytest.raises(ttmlir.CompilationError) as caught:
        ttmlir.compile(proto)
    assert str(caught.value) == (
        f"<model>: error: {where}, which gives 'y': how many elements are not 0 is known only when "
        "the model runs; Where keeps the shape"
    )
