"""Shapes that are known only when a model runs: what masks select, boxes, different elements."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

onnx: Any = pytest.importorskip("onnx", reason="needs onnx")

from samples.onnx_graphs import BOOL, FLOAT, INT64, model, node, numbers, value  # noqa: E402

import ttmlir  # noqa: E402
from ttmlir.errors import ArgumentError  # noqa: E402
from ttmlir.frontend.onnx.graphs import names_in  # noqa: E402

MASKS = [numbers(3, 5, seed=2) > 0.3, np.zeros((3, 5), bool), np.ones((3, 5), bool)]
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
    given = [each if kind == BOOL else each.astype(np.int64) * 7 for each in MASKS]
    compiled = ttmlir.compile(proto, x, given[0], source)
    for each, mask in zip(given, MASKS, strict=True):
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


def test_extents_that_a_shape_has_not() -> None:
    """An error at compilation, as for other tensors."""
    nodes = [*ROWS, node("Shape", "rows", "shape"), node("Gather", "shape third", "y")]
    inputs = [value("mask", [3, 5], BOOL)]
    proto = model(nodes, inputs, [value("y", None)], {"third": np.array(2)})
    message = r"node 'y' \(Gather\).* 'indices' has indices from 2 to 2; the dimension has 2"
    with pytest.raises(ttmlir.CompilationError, match=message):
        ttmlir.compile(proto)


def test_one_number() -> None:
    """At the places of another mask in each call."""
    x, mask = numbers(3, 5), numbers(3, 5, seed=2) > 0.3
    compiled = ttmlir.compile(count_of_mask(node("ScatterND", "x rows fives", "y")), x, mask)
    for each in (mask, ~mask):
        np.testing.assert_array_equal(compiled(x, each), np.where(each, np.float32(5), x))


def test_one_number_elsewhere() -> None:
    """As many numbers as the mask has true elements."""
    x = numbers(3, 5)
    compiled = ttmlir.compile(count_of_mask(node("Neg", "fives", "y")))
    for mask in MASKS:
        np.testing.assert_array_equal(compiled(x, mask), np.full(mask.sum(), -5, np.float32))


# -- what is computed of x[mask] -----------------------------------------------------------------

SELECTED = [*ROWS, node("GatherND", "x rows", "some")]
CHOSEN = [node("Compress", "x choice", "some", axis=0)]
MORE = {
    **WEIGHTS,
    **{name: np.array([n]) for name, n in (("zero", 0), ("one", 1), ("two", 2), ("four", 4))},
    "last": np.array([-1]),
    "early": np.array([-100]),
    "late": np.array([100]),
    "less": np.array([-5]),
    "unit": np.array(1),
    "room": np.array(15),
    "pair": np.array([1, 2]),
    "pairs": np.array([-1, 2]),
    "half": np.float32([0.3]),
    "little": np.float32(0.02),
    "matrix": numbers(5, 4, seed=9),
    "row": numbers(1, 4, seed=9),
    "bias": numbers(4, seed=8),
    "limit": np.array(30),
    "some_times": np.array(2),
    "true": np.array(True),
    "start": np.float32([0]),
}

COMPUTED: dict[str, tuple[list[Any], str]] = {
    "as it is": ([node("Shape", "some", "s"), node("Size", "some", "n")], "some rows s n"),
    "sums": (
        [
            *(
                node(f"Reduce{name}", "some", name, keepdims=0)
                for name in ("Sum", "Mean", "Prod", "Max", "Min", "L2", "LogSumExp")
            ),
            node("Unsqueeze", "some one", "column"),
            node("ReduceMean", "column one", "same", keepdims=0),
            node("CumSum", "some number", "running", reverse=1),
        ],
        "Sum Mean Prod Max Min L2 LogSumExp same running",
    ),
    "each element": (
        [
            node("Shape", "some", "s"),
            node("ConstantOfShape", "s", "zeros"),
            node("Greater", "some half", "large"),
            node("Where", "large some zeros", "y"),
            node("Compress", "some large", "z"),
            node("NonZero", "large", "where"),
        ],
        "y z where",
    ),
    "one after the other": (
        [
            node("Reshape", "x all", "flat"),
            node("Concat", "some flat some", "y", axis=0),
            node("Concat", "flat some", "z", axis=0),
            node("SequenceConstruct", "some half", "both"),
            node("ConcatFromSequence", "both", "w", axis=0),
        ],
        "y z w",
    ),
    "parts": (
        [
            node("Size", "some", "n"),
            node("Unsqueeze", "n first", "end"),
            node("Neg", "end", "from_end"),
            node("Reshape", "x all", "flat"),
            node("Slice", "flat first end", "e"),
            node("Slice", "flat from_end late", "f"),
            node("Slice", "some first from_end", "g"),
            node("Concat", "some flat", "both", axis=0),
            node("Shape", "flat", "rest"),
            node("Concat", "end rest", "sizes", axis=0),
            node("Split", "both sizes", "h i", axis=0),
            node("Slice", "some first two", "a"),
            node("Slice", "some two late first two", "b"),
            node("Slice", "some last early first last", "c"),
            node("Slice", "some less last", "d"),
        ],
        "a b c d e g h i",
    ),
    "the largest": (
        [
            node("Shape", "some", "s"),
            node("Min", "s four", "k"),
            node("TopK", "some k", "values places"),
            node("Gather", "some places", "again"),
            node("Concat", "some half", "more", axis=0),
            node("ArgMax", "more", "most", axis=0, keepdims=0),
            node("ArgMin", "more", "least", axis=0, select_last_index=1),
        ],
        "values places again most least",
    ),
    "counted": (
        [
            node("Size", "some", "n"),
            node("Range", "number n unit", "r"),
            node("Reshape", "x all", "flat"),
            node("ScatterElements", "flat r some", "y"),
            node("Sub", "room n", "missing"),
            node("Unsqueeze", "missing first", "wide"),
            node("Concat", "first wide", "pads", axis=0),
            node("Pad", "some pads little", "z"),
        ],
        "r y z",
    ),
    "shapes": (
        [
            node("Unsqueeze", "some one", "column"),
            node("Tile", "column pair", "wide"),
            node("Reshape", "wide all", "flat"),
            node("Reshape", "flat pairs", "again"),
            node("Softmax", "again", "y", axis=0),
            node("Shape", "some", "s"),
            node("Concat", "s four", "to", axis=0),
            node("Expand", "column to", "z"),
        ],
        "flat again y z",
    ),
    "products": (
        [
            node("Unsqueeze", "some one", "column"),
            node("Transpose", "column", "line"),
            node("MatMul", "line column", "y"),
            node("Gemm", "column row bias", "dense"),
            node("LayerNormalization", "dense bias bias", "z"),
        ],
        "y z",
    ),
    "written back": (
        [
            node("Mul", "some half", "halves"),
            node("ScatterND", "x rows halves", "y"),
            node("ScatterND", "x rows halves", "z", reduction="add"),
        ],
        "y z",
    ),
    "different ones": (
        [
            node("Round", "some", "whole"),
            node("Unique", "whole", "a b c d"),
            node("Unique", "whole", "e f g h", sorted=0),
        ],
        "a b c d e f g h",
    ),
}


def results(names: str) -> list[Any]:
    """Outputs whose types the model does not say."""
    return [onnx.ValueInfoProto(name=name) for name in names.split()]


def used(nodes: Sequence[Any]) -> dict[str, Any]:
    """The weights that nodes, or graphs inside, take."""
    taken = {name for each in nodes for name in names_in(each)}
    return {name: numbers for name, numbers in MORE.items() if name in taken}


def check(proto: Any, calls: Sequence[Sequence[Any]], compiled: Any = None) -> None:
    """Each call gives what the reference implementation of ONNX does, in its shapes."""
    compiled = compiled or ttmlir.compile(proto)
    reference = import_module("onnx.reference").ReferenceEvaluator(proto)
    names = [each.name for each in proto.graph.input]
    for call in calls:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            expected = reference.run(None, dict(zip(names, call, strict=True)))
        found = compiled(*call)
        for a, b in zip(found if isinstance(found, tuple) else [found], expected, strict=True):
            assert (a.shape, a.dtype) == (np.shape(b), np.asarray(b).dtype)
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


def selecting(nodes: Sequence[Any], outputs: str) -> Any:
    """A model of `x[mask]`, and what is computed of it."""
    nodes = [*SELECTED, *nodes]
    inputs = [value("x", [3, 5]), value("mask", [3, 5], BOOL)]
    return model(nodes, inputs, results(outputs), used(nodes))


def calls() -> list[tuple[Any, ...]]:
    """Some, none and all elements."""
    return [(numbers(3, 5, seed=3 + n), mask) for n, mask in enumerate(MASKS)]


@pytest.mark.parametrize("name", COMPUTED)
def test_computed(name: str) -> None:
    """Of some, none and all elements."""
    check(selecting(*COMPUTED[name]), calls())


ROWWISE: dict[str, tuple[list[Any], str]] = {
    "each row": (
        [
            node("MatMul", "some matrix", "y"),
            node("TopK", "some two", "values places", axis=1),
            node("GatherElements", "some places", "again", axis=1),
            node("Split", "some", "left right", axis=1, num_outputs=2),
        ],
        "y values places again left right",
    ),
    "pairs of rows": (
        [
            node("Unsqueeze", "some zero", "a"),
            node("Unsqueeze", "some one", "b"),
            node("Sub", "a b", "apart"),
            node("ReduceL2", "apart two", "distances", keepdims=0),
            node("Reshape", "distances all", "flat"),
            node("ReduceMax", "distances", "largest", keepdims=0),
            node("Transpose", "some", "turned"),
            node("MatMul", "turned some", "products"),
            node("Concat", "distances distances", "twice", axis=1),
            node("Shape", "twice", "shape"),
            node("Slice", "shape last early first last", "reversed"),
            node("Reshape", "twice reversed", "other"),
        ],
        "distances flat largest products twice other",
    ),
    "different rows": (
        [
            node("Round", "some", "whole"),
            node("Slice", "whole first two one", "narrow"),
            node("Unique", "narrow", "a b c d", axis=0),
        ],
        "a b c d",
    ),
}


@pytest.mark.parametrize("name", ROWWISE)
def test_chosen_rows(name: str) -> None:
    """Of some, none and all rows; the size of two dimensions may be open."""
    nodes, outputs = ROWWISE[name]
    nodes = [*CHOSEN, *nodes]
    inputs = [value("x", [3, 5]), value("choice", [3], BOOL)]
    proto = model(nodes, inputs, results(outputs), used(nodes))
    choices = [np.array([True, False, True]), np.zeros(3, bool), np.ones(3, bool)]
    check(proto, [(numbers(3, 5, seed=3 + n), each) for n, each in enumerate(choices)])


def test_sizes_of_one_are_broadcast() -> None:
    """Two selections of other sizes go together if one of them has a single element."""
    nodes = [
        node("Compress", "x a", "some"),
        node("Compress", "x b", "others"),
        node("Add", "some others", "y"),
        node("Slice", "x first two", "pair"),
        node("Mul", "some pair", "z"),
    ]
    inputs = [value("x", [6]), value("a", [6], BOOL), value("b", [6], BOOL)]
    proto = model(nodes, inputs, results("y z"), used(nodes))
    x, one = numbers(6), np.arange(6) == 4
    pair = np.array([True, False, True, False, False, False])
    check(proto, [(x, one, pair), (x, pair, one), (x, pair, pair)])


def test_parts_beyond_the_end() -> None:
    """There are no elements, known or not."""
    nodes = [
        node("Slice", "x late late", "none"),
        node("Slice", "none first two one", "y"),
        node("TopK", "y one", "z z_places", axis=1),
        node("Slice", "some late late", "w"),
    ]
    check(selecting(nodes, "y z w"), calls()[:1])


def test_models_that_keep_state() -> None:
    """What is selected is returned beside it."""
    nodes = [
        node("Add", "sum x", "new"),
        node("Greater", "new half", "large"),
        node("Compress", "new large", "y"),
    ]
    inputs = [value("x", [5]), value("sum", [5])]
    proto = model(nodes, inputs, results("y new"), used(nodes))
    x = numbers(5)
    compiled = ttmlir.compile(proto, x, x * 0, keep=["sum"])
    total = x * 0
    for factor in (1, 2, -3):
        total = total + x * factor
        np.testing.assert_allclose(compiled(x * np.float32(factor)), total[total > 0.3], rtol=1e-5)


def test_buckets_are_refused() -> None:
    """Padding would be selected, too."""
    nodes = [node("NonZero", "x", "y")]
    proto = model(nodes, [value("x", ["n"])], results("y"))
    with pytest.raises(ArgumentError, match="sizes of results depend on numbers"):
        ttmlir.compile(proto, numbers(3), buckets={"x": {0: (4, 8)}})


def test_different_columns() -> None:
    """In the order of the first ones; ONNX's reference takes rows then."""
    nodes = [node("Unique", "x", "y first which count", axis=1, sorted=0)]
    proto = model(nodes, [value("x", [2, 6])], results("y first which count"))
    x = np.array([[3, 1, 3, 1, 1, 3], [5, 2, 5, 0, 2, 5]], np.float32)
    found = ttmlir.compile(proto)(x)
    expected = (x[:, [0, 1, 3]], [0, 1, 3], [0, 1, 0, 2, 1, 0], [3, 2, 1])
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_array_equal(a, b)


def test_compress_takes_short_conditions() -> None:
    """Elements beyond the condition are left out."""
    proto = model(
        [node("Compress", "x c", "y"), node("Compress", "x d", "z", axis=1)],
        [value("x", [3, 5]), value("c", [7], BOOL), value("d", [2], BOOL)],
        results("y z"),
    )
    given = numbers(7, seed=1) > 0
    check(proto, [(numbers(3, 5), given, given[2:4]), (numbers(3, 5), ~given, given[:2])])


# -- loops and branches ----------------------------------------------------------------------------


def graph(nodes: Sequence[Any], inputs: Sequence[Any], outputs: str) -> Any:
    """A graph that a node has."""
    return onnx.helper.make_graph(nodes, "inner", inputs, results(outputs))


STATE = [value("number", [], INT64), value("go", [], BOOL)]
FILTER = [
    node("Greater", "old half", "large"),
    node("Compress", "old large", "new", axis=0),
    node("Identity", "go", "on"),
]
ADD = [
    node("Gather", "some number", "each"),
    node("Add", "old each", "new"),
    node("Identity", "go", "on"),
    node("Identity", "new", "copy"),
]


def test_branches_of_other_shapes() -> None:
    """Where nothing is selected, there is another tensor."""
    nodes = [
        node("Size", "some", "n"),
        node("Equal", "n number", "is_empty"),
        node(
            "If",
            "is_empty",
            "y",
            then_branch=graph([node("Identity", "half", "a")], [], "a"),
            else_branch=graph([node("Mul", "some some", "b")], [], "b"),
        ),
        node("ReduceSum", "y", "z"),
    ]
    check(selecting(nodes, "y z"), calls())


def test_loops_that_carry_and_count() -> None:
    """State of an open size, and as many rows as there are elements."""
    filtering = graph(FILTER, [*STATE, value("old", None)], "on new")
    adding = graph(ADD, [*STATE, value("old", [1])], "on new copy")
    nodes = [
        node("Loop", "some_times true some", "y", body=filtering),
        node("Size", "some", "n"),
        node("Loop", "n true start", "z rows_", body=adding),
    ]
    compiled = ttmlir.compile(proto := selecting(nodes, "y z rows_"))
    check(proto, calls()[::2], compiled)
    # ONNX's reference cannot stack no rows.
    kept, total, rows = compiled(*calls()[1])
    assert (kept.shape, total.tolist(), rows.shape) == ((0,), [0], (0, 1))


def test_loops_that_end_by_data(tmp_path: Path) -> None:
    """They give a row for each iteration, also as a file."""
    nodes = [
        node("Mul", "old half", "new"),
        node("ReduceMax", "new", "largest", keepdims=0),
        node("Greater", "largest little", "on"),
        node("Identity", "new", "copy"),
    ]
    body = graph(nodes, [*STATE, value("old", [5])], "on new copy")
    outer = [
        node("Loop", "limit true x", "y rows", body=body),
        node("ReduceMean", "rows first", "mean", keepdims=0),
    ]
    proto = model(outer, [value("x", [5])], results("y rows mean"), used(outer))
    given = [(np.abs(numbers(5)),), (np.abs(numbers(5, seed=3)) * 50,)]
    compiled = ttmlir.compile(proto)
    check(proto, given, compiled)
    compiled.save(tmp_path / "loop.ttnn")
    check(proto, given, ttmlir.load(tmp_path / "loop.ttnn"))


def test_large_branches_of_other_shapes() -> None:
    """They become functions, which give results of the larger extents."""
    long = [node("Mul", f"v{n} half", f"v{n + 1}") for n in range(40)]
    other = [node("Neg", f"u{n}", f"u{n + 1}") for n in range(41)]
    nodes = [
        node("Greater", "largest little", "is_large"),
        node(
            "If",
            "is_large",
            "y",
            then_branch=graph([node("Mul", "x half", "v0"), *long], [], "v40"),
            else_branch=graph([node("Slice", "x one two", "u0"), *other], [], "u41"),
        ),
    ]
    nodes = [node("ReduceMax", "x", "largest", keepdims=0), *nodes]
    proto = model(nodes, [value("x", [3, 5])], results("y"), used(nodes))
    compiled = ttmlir.compile(proto)
    assert "ttir.case" in compiled.text("ttir")
    check(proto, [(numbers(3, 5),), (-np.abs(numbers(3, 5)),)], compiled)


# -- boxes -----------------------------------------------------------------------------------------


def boxes(batches: int, count: int, *, seed: int, center: int = 0) -> Any:
    """Boxes of which many overlap, some with exchanged corners."""
    random = np.random.default_rng(seed)
    middle, size = random.uniform(0, 9, (2, batches, count, 2)).astype(np.float32)
    size = 1 + size / 2
    if center:
        return np.concatenate([middle, size], 2)
    corners = np.concatenate([middle - size / 2, middle + size / 2], 2)
    is_turned = random.random((batches, count, 1)) > 0.7
    return np.where(is_turned, corners[..., [2, 3, 0, 1]], corners)


def suppressing(
    shape: tuple[int, int, int], *more: Any, center: int = 0, outputs: str = "y", **given: Any
) -> Any:
    """A model of NonMaxSuppression of so many batches, classes and boxes."""
    batches, classes, count = shape
    inputs = [value("boxes", [batches, count, 4]), value("scores", [batches, classes, count])]
    names = [name if given.get(name) is not None else "-" for name in ("most", "overlap", "least")]
    first = node(
        "NonMaxSuppression", f"boxes scores {' '.join(names)}", "y", center_point_box=center
    )
    if given.get("most") == "input":
        inputs.append(value("most", [1], INT64))
    numbers_of = {
        "most": np.array([given.get("most")]),
        **{name: np.array([given.get(name)], np.float32) for name in ("overlap", "least")},
    }
    weights = {name: numbers_of[name] for name in names if name != "-" and given[name] != "input"}
    return model([first, *more], inputs, results(outputs), {**weights, **used(more)})


def scored(shape: tuple[int, int, int], *, center: int = 0, ties: bool = False) -> list[Any]:
    """Boxes and scores: some, those of which none is good enough, and all at one place."""
    batches, classes, count = shape
    scores = np.random.default_rng(7).random((batches, classes, count), np.float32)
    scores = np.round(scores * 4) / 4 if ties else scores
    some = boxes(batches, count, seed=1, center=center)
    return [(some, scores), (some, scores * 0), (np.repeat(some[:, :1], count, 1), scores)]


@pytest.mark.parametrize(
    ("shape", "given"),
    [
        ((2, 3, 9), {"most": 4, "overlap": 0.3, "least": 0.2}),
        ((2, 2, 9), {"most": 100, "overlap": 0.4, "least": 0.2, "center": 1}),
        ((1, 1, 8), {"most": 5, "overlap": 0.2}),
        ((1, 2, 6), {"most": 0, "overlap": 0.2}),
    ],
)
def test_boxes(shape: tuple[int, int, int], given: dict[str, Any]) -> None:
    """The best ones of each batch and class; of equal scores the first box."""
    center = int(given.get("center", 0))
    some = [scored(shape, center=center, ties=ties) for ties in (False, True)]
    check(suppressing(shape, **given), [*some[0], *some[1]])


def test_number_of_boxes_by_data() -> None:
    """How many there are at most may be an argument."""
    shape = 2, 2, 6
    proto = suppressing(shape, most="input", overlap=0.4)
    given = [(*each, np.array([n])) for n, each in zip((2, 0, 9), scored(shape), strict=True)]
    check(proto, given)


def test_detections(tmp_path: Path) -> None:
    """Numbers of images, boxes, classes and scores, as exporters of YOLO write them; as a file."""
    gathering = [
        node("Slice", "y zero one one", "images"),
        node("Slice", "y two late one", "places"),
        node("Concat", "images places", "where", axis=1),
        node("GatherND", "boxes where", "chosen"),
        node("GatherND", "scores y", "sure"),
        node("Unsqueeze", "sure one", "column"),
        node("Slice", "y one two one", "classes"),
        node("Cast", "classes", "names", to=FLOAT),
        node("Concat", "chosen names column", "found", axis=1),
        node("Shape", "sure", "count"),
        node("Min", "count four", "k"),
        node("TopK", "sure k", "best order", axis=0),
        node("Gather", "found order", "z"),
    ]
    shape = 2, 3, 9
    given = {"most": 4, "overlap": 0.4, "least": 0.2}
    proto = suppressing(shape, *gathering, outputs="images found best z", **given)
    compiled = ttmlir.compile(proto)
    check(proto, scored(shape), compiled)
    compiled.save(tmp_path / "detector.ttnn")
    check(proto, scored(shape), ttmlir.load(tmp_path / "detector.ttnn"))


# -- what is refused -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ([node("Det", "some", "y")], "the input 'X' is FLOAT[0 to 15]: its size is known only"),
        (
            [node("Squeeze", "some", "y")],
            "the input 'data' is FLOAT[0 to 15]: which extents are 1 is known only when the model "
            "runs; give it axes",
        ),
        (
            [
                node("Shape", "some", "s"),
                node("Concat", "s all", "t", axis=0),
                node("Pad", "x t", "y"),
            ],
            "pads has 2 numbers; it has to have 4",
        ),
        (
            [node("Reshape", "some four", "s"), node("Reshape", "s two", "y")],
            "the 4 elements of the shape [4] do not fit [2]",
        ),
    ],
)
def test_what_is_refused(nodes: list[Any], message: str) -> None:
    """By the node that needs another size."""
    with pytest.raises(ttmlir.CompilationError) as caught:
        ttmlir.compile(selecting(nodes, "y"))
    operator = nodes[-1].op_type
    assert f"node 'y' ({operator}), which gives 'y': {message}" in str(caught.value)


def test_shapes_of_boxes_are_checked() -> None:
    """The message says both."""
    message = r"boxes have the shape \[1, 5, 4\] and scores \[1, 2, 6\]; they have to be \[batches"
    nodes = [node("NonMaxSuppression", "boxes scores", "y")]
    inputs = [value("boxes", [1, 5, 4]), value("scores", [1, 2, 6])]
    with pytest.raises(ttmlir.CompilationError, match=message):
        ttmlir.compile(model(nodes, inputs, results("y")))
