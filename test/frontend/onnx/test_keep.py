"""Inputs of models of ONNX that stay in the compiled model: what ONNX computes with them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

onnx: Any = pytest.importorskip("onnx", reason="needs onnx")

from samples.onnx_graphs import INT64, model, node, numbers, value  # noqa: E402

import ttmlir  # noqa: E402

RUNTIME = pytest.importorskip("onnx.reference", reason="needs onnx").ReferenceEvaluator


def recurrent() -> Any:
    """Two states between other inputs, whose new values have another order among the nodes."""
    return model(
        [
            node("MatMul", "x weight", "inner"),
            node("Add", "inner past.h", "sum"),
            node("Tanh", "sum", "present.h"),
            node("Mul", "present.h scale", "y"),
            node("Add", "past.c one", "present.c"),
            node("ReduceSum", "present.h", "total", keepdims=0),
        ],
        [
            value("past.h", [2, 5]),
            value("x", [2, 3]),
            value("past.c", [1], INT64),
            value("scale", [1]),
        ],
        [
            value("y", [2, 5]),
            value("total", []),
            value("present.h", [2, 5]),
            value("present.c", [1], INT64),
        ],
        {"weight": numbers(3, 5), "one": np.array([1])},
    )


def examples() -> dict[str, Any]:
    """Of all inputs."""
    return {
        "past.h": numbers(2, 5, seed=1),
        "x": numbers(2, 3, seed=2),
        "past.c": np.array([4]),
        "scale": np.array([3], np.float32),
    }


@pytest.mark.parametrize("weights", ["constants", "arguments"])
@pytest.mark.parametrize("keep", ["past", ["past.c", "past.h"]])
def test_states_stay_in_the_model(weights: Any, keep: Any, tmp_path: Path) -> None:
    """Calls pass and return the others, by position or by name, and may begin again."""
    runtime, first = RUNTIME(recurrent()), examples()
    compiled = ttmlir.compile(recurrent(), *first.values(), keep=keep, weights=weights)
    assert [name for name, _ in compiled.inputs] == ["x", "scale"]
    given, x, scale = dict(first), first["x"], first["scale"]
    for step in range(3):
        y, total, given["past.h"], given["past.c"] = runtime.run(None, {**given, "x": x + step})
        for found in (compiled.reference(x + step, scale), compiled(x + step, scale=scale)):
            np.testing.assert_allclose(found[0], y, rtol=1e-5)
            np.testing.assert_allclose(found[1], total, rtol=1e-4)
    arrays = compiled.flatten_results(found)
    np.testing.assert_allclose(arrays[0], given["past.h"], rtol=1e-5)
    assert arrays[1].tolist() == [7]
    path = compiled.save(tmp_path / "step.ttnn", golden=True)
    left = {} if weights == "constants" else {"weight": numbers(3, 5)}
    loaded = ttmlir.load(path, weights={**left, "past.h": given["past.h"], "past.c": [0]})
    np.testing.assert_allclose(loaded(x, scale)[0], runtime.run(["y"], {**given, "x": x})[0], 1e-4)
    compiled.restart()
    np.testing.assert_allclose(compiled(x, scale)[0], runtime.run(["y"], first)[0], rtol=1e-5)


def test_one_of_several(tmp_path: Path) -> None:
    """Only the last output is a new value; a file is called by names, as its examples are."""
    first = examples()
    compiled = ttmlir.compile(recurrent(), example_kwargs=first, keep=["past.c"])
    del first["past.c"]
    assert len(compiled(**first)) == 3
    loaded: Any = ttmlir.load(compiled.save(tmp_path / "x.ttnn"), weights={"past.c": [4]})
    np.testing.assert_array_equal(loaded(**first)[2], compiled(**first)[2])


def test_programs_share_states_and_begin_with_zeros() -> None:
    """Models that know their shapes need no examples."""
    double = model(
        [node("Add", "past.h past.h", "twice")], [value("past.h", [2, 5])], [value("twice", [2, 5])]
    )
    add = model(
        [node("Add", "past.h x", "sum"), node("Neg", "sum", "y")],
        [value("x", [5]), value("past.h", [2, 5])],
        [value("y", [2, 5]), value("sum", [2, 5])],
    )
    programs = ttmlir.compile_programs(
        {"double": ttmlir.Example(double), "add": ttmlir.Example(add)}, keep="past.h"
    )
    x = numbers(5)
    np.testing.assert_array_equal(programs.add(x)[1], -x)
    assert programs.double() is None
    np.testing.assert_allclose(programs.add(x)[0], -3 * x, rtol=1e-6)


@pytest.mark.parametrize(
    ("keep", "message"),
    [
        (
            ["state"],
            "no argument of 'net' is named 'state'; arguments are past.h, x, past.c, scale",
        ),
        (["x"], r"returns \(i64\[1\]\) in place of 'x', which is \(f32\[2,3\]\); the new values"),
        (["past", "x"], r"returns \(f32\[\]\) in place of 'past.h', which is \(f32\[2,5\]\)"),
        (["past", "x", "scale"], r"returns \(f32\[\]\) in place of 'x', which"),
    ],
)
def test_what_cannot_be_kept(keep: Any, message: str) -> None:
    """Names that no input has, and outputs that are not alike."""
    with pytest.raises(ttmlir.Error, match=message):
        ttmlir.compile(recurrent(), *examples().values(), keep=keep)


def test_calls_that_do_not_fit() -> None:
    """What is kept is not passed."""
    compiled = ttmlir.compile(recurrent(), *examples().values(), keep="past")
    x, scale = examples()["x"], [3]
    for args, kwargs, message in (
        (
            (x, scale),
            {"past.h": x},
            "'net' keeps 'past.h', which a call does not pass; inputs are x",
        ),
        ((x, scale, x), {}, r"'net' takes 2 inputs \(x, scale\), got 3 by position"),
        ((x, scale), {"x": x}, "'net': 'x' is given by position, too"),
    ):
        with pytest.raises(ttmlir.InputError, match=message):
            compiled(*args, **kwargs)
