"""Loops and branches of ONNX, which are written out if they are short, and functions if not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

onnx: Any = pytest.importorskip("onnx", reason="needs onnx")

from samples.onnx_graphs import BOOL, FLOAT, INT64, helper, model, node, numbers, value  # noqa: E402

import ttmlir  # noqa: E402

RUNTIME = pytest.importorskip("onnx.reference", reason="needs onnx").ReferenceEvaluator


def check(proto: Any, *inputs: Any, operations: tuple[str, ...] = (), expected: Any = None) -> Any:
    """Compile, run, and compare with NumPy or ONNX's own implementation; operations of ttir."""
    compiled = ttmlir.compile(proto, *inputs)
    if expected is None:
        names = [each.name for each in proto.graph.input]
        expected = RUNTIME(proto).run(None, dict(zip(names, inputs, strict=True)))
    found = compiled(*inputs)
    found = found if isinstance(found, tuple) else (found,)
    for got, right in zip(found, expected, strict=True):
        np.testing.assert_allclose(got, right, rtol=1e-4, atol=1e-5)
    text = compiled.text("ttir")
    for operation in ("ttir.while", "ttir.case"):
        assert (operation in text) == (operation in operations)
    return compiled


def graph(nodes: list[Any], inputs: list[Any], outputs: list[Any], **weights: Any) -> Any:
    """A graph that is an attribute."""
    initializers = [onnx.numpy_helper.from_array(each, name) for name, each in weights.items()]
    return helper.make_graph(nodes, "inner", inputs, outputs, initializers)


def loop(count: int | None, *, by_data: bool = False, rows: bool = False) -> Any:
    """x = tanh(x * w) + i, as often as a number says, or while its sum stays below 40."""
    inner = [
        node("Mul", "x w", "scaled"),
        node("Tanh", "scaled", "soft"),
        node("Cast", "i", "number", to=FLOAT),
        node("Add", "soft number", "new"),
        node("ReduceSum", "new", "total", keepdims=0),
        node("Less", "total limit", "smaller") if by_data else node("Identity", "go", "smaller"),
    ]
    inner_outputs = [value("smaller", [], BOOL), value("new", [3, 5])]
    body = graph(
        inner,
        [value("i", [], INT64), value("go", [], BOOL), value("x", [3, 5])],
        inner_outputs + [value("soft", [3, 5])] * rows,
        limit=np.float32(40),
    )
    nodes = [
        node("Mul", "given two", "w"),
        node("Loop", f"{'count' if count else '-'} true given", "y" + " rows" * rows, body=body),
    ]
    weights: dict[str, Any] = {"two": np.float32(2), "true": np.array(True)}
    if count:
        weights["count"] = np.array(count, np.int64)
    outputs = [value("y", [3, 5])] + [value("rows", ["n", 3, 5])] * rows
    return model(nodes, [value("given", [3, 5])], outputs, weights)


def run_loop(x: Any, count: int, *, limit: float = np.inf, rows: bool = False) -> list[Any]:
    """What the loop computes."""
    factor, found = 2 * x, []
    for number in range(count):
        soft = np.tanh(x * factor)
        found.append(soft)
        x = soft + np.float32(number)
        if not x.sum() < limit:
            break
    return [x, np.stack(found)] if rows else [x]


@pytest.mark.parametrize("rows", [False, True])
def test_short_loops_are_written_out(rows: bool) -> None:
    """And those of 0 iterations are nothing."""
    x = numbers(3, 5)
    check(loop(7, rows=rows), x, expected=run_loop(x, 7, rows=rows))


@pytest.mark.parametrize("rows", [False, True])
def test_long_loops_call_a_function(rows: bool) -> None:
    """What the graph takes from around it is passed along."""
    x = numbers(3, 5)
    expected = run_loop(x, 90, rows=rows)
    compiled = check(loop(90, rows=rows), x, operations=("ttir.while",), expected=expected)
    assert "trip_count = 90" in compiled.text("ttir")


def test_loops_that_end_by_data() -> None:
    """With and without a limit; how many rows there are at most has to be known."""
    for count in (None, 5, 90):
        x = numbers(3, 5)
        expected = run_loop(x, count or 1000, limit=40)
        check(loop(count, by_data=True), x, operations=("ttir.while",), expected=expected)
    expected = run_loop(x, 90, limit=40, rows=True)
    check(loop(90, by_data=True, rows=True), x, operations=("ttir.while",), expected=expected)
    with pytest.raises(ttmlir.CompilationError, match="data decide when it ends; give it a number"):
        ttmlir.compile(loop(None, by_data=True, rows=True), numbers(3, 5))


def branches(count: int) -> Any:
    """The result of many operations on one of two sides, by the sign of a sum."""

    def side(operator: str) -> Any:
        inner = [node("Add", "x w", "x0")]
        inner += [node(operator, f"x{i}", f"x{i + 1}") for i in range(count)]
        return graph(inner, [], [value(f"x{count}", [4, 3])])

    nodes = [
        node("ReduceSum", "x", "total", keepdims=0),
        node("Greater", "total zero", "positive"),
        node("If", "positive", "y", then_branch=side("Sin"), else_branch=side("Sigmoid")),
    ]
    weights = {"zero": np.float32(0), "w": numbers(4, 3, seed=3)}
    return model(nodes, [value("x", [4, 3])], [value("y", [4, 3])], weights)


@pytest.mark.parametrize("sign", [1, -1])
def test_branches_by_data(sign: int) -> None:
    """Of small ones, both are computed; of others, a function is called."""
    x = sign * np.abs(numbers(4, 3))
    check(branches(3), x)
    check(branches(20), x, operations=("ttir.case",))


def test_branches_of_other_ranks_need_the_condition() -> None:
    """An example says it, and the model is compiled for it alone."""
    sides = [
        graph([node("Identity", "x", "a")], [], [value("a", [4, 3])]),
        graph([node("Unsqueeze", "x axis", "b")], [], [value("b", [1, 4, 3])], axis=np.array([0])),
    ]
    nodes = [node("If", "c", "y", then_branch=sides[0], else_branch=sides[1])]
    proto = model(nodes, [value("c", [], BOOL), value("x", [4, 3])], [value("y", None)])
    x = numbers(4, 3)
    compiled = check(proto, np.array(False), x)
    with pytest.raises(ttmlir.InputError, match=r"compiled for 'c' = False, which decides about"):
        compiled(np.array(True), x)


@pytest.mark.parametrize(("length", "operations"), [(9, ()), (200, ("ttir.while",))])
def test_scans(length: int, operations: tuple[str, ...]) -> None:
    """Rows from the end on, and results along another dimension."""
    inner = [
        node("Mul", "state decay", "old"),
        node("Add", "old row", "new"),
        node("Relu", "new", "positive"),
    ]
    body = graph(
        inner,
        [value("state", [4]), value("row", [4])],
        [value("new", [4]), value("positive", [4])],
        decay=np.float32(0.7),
    )
    scan = node(
        "Scan",
        "start rows",
        "last all",
        body=body,
        num_scan_inputs=1,
        scan_input_axes=[1],
        scan_input_directions=[1],
        scan_output_axes=[1],
    )
    proto = model(
        [scan],
        [value("start", [4]), value("rows", [4, length])],
        [value("last", [4]), value("all", [4, length])],
    )
    start, rows = numbers(4), numbers(4, length, seed=5)
    state, found = start, []
    for place in reversed(range(length)):
        state = state * np.float32(0.7) + rows[:, place]
        found.append(np.maximum(state, 0))
    expected = [state, np.stack(found, 1)]
    check(proto, start, rows, operations=operations, expected=expected)


def test_functions_of_the_model() -> None:
    """With attributes that the call has, defaults, and functions that call others."""
    attribute = helper.make_attribute("slope", 0.5)
    reference = node("LeakyRelu", "x", "soft")
    reference.attribute.append(
        onnx.AttributeProto(name="alpha", ref_attr_name="slope", type=onnx.AttributeProto.FLOAT)
    )
    sets = [helper.make_opsetid("", 21), helper.make_opsetid("mine", 1)]
    first = helper.make_function(
        "mine", "Soft", ["x"], ["soft"], [reference], sets, [], [attribute]
    )
    second = helper.make_function(
        "mine",
        "Twice",
        ["x"],
        ["y"],
        [node("Soft", "x", "a", domain="mine"), node("Soft", "a", "y", domain="mine", slope=0.25)],
        sets,
    )
    proto = model(
        [node("Twice", "x", "y", domain="mine")],
        [value("x", [3, 7])],
        [value("y", [3, 7])],
        functions=[first, second],
        domains=["mine"],
    )
    x = numbers(3, 7)
    compiled = ttmlir.compile(proto, x)
    np.testing.assert_allclose(compiled(x), np.where(x < 0, x * 0.125, x), rtol=1e-5)


def test_gates_are_clipped_and_memory_is_not() -> None:
    """A step of an LSTM with peepholes, as onnxruntime computes it."""
    x, w, r, hidden, memory, peepholes = (
        numbers(*shape, seed=seed)
        for seed, shape in enumerate(((2, 3), (20, 3), (20, 5), (2, 5), (2, 5), (3, 5)))
    )
    memory *= 3
    names = "x w r - - h c p"
    proto = model(
        [node("LSTM", names, "- y memory", hidden_size=5, clip=0.5)],
        [value(name, None) for name in "xwrhcp"],
        [value("y", None), value("memory", None)],
    )
    enter, leave, forget, new = np.split(x @ w.T + hidden @ r.T, 4, axis=1)

    def gate(z: Any) -> Any:
        return 1 / (1 + np.exp(-z.clip(-0.5, 0.5)))

    kept = gate(forget + peepholes[2] * memory) * memory
    after = kept + gate(enter + peepholes[0] * memory) * np.tanh(new.clip(-0.5, 0.5))
    output = gate(leave + peepholes[1] * after) * np.tanh(after)
    inputs = [x[None], w[None], r[None], hidden[None], memory[None], peepholes.reshape(1, 15)]
    compiled = ttmlir.compile(proto, *inputs)
    for found, expected in zip(compiled(*inputs), (output, after), strict=True):
        np.testing.assert_allclose(found[0], expected, rtol=1e-5, atol=1e-6)
