"""Loops and branches in files: what they compute, and files that are damaged or mean ill."""

from __future__ import annotations

import numpy as np
import pytest
from running.confinement import confined
from samples.control_programs import SHAPE, calling, function, goes_on, packed
from samples.ttnn_program import ProgramBuilder, Ref

from ttmlir.errors import Error
from ttmlir.limits import ITERATIONS_VARIABLE, MAX_CALL_DEPTH, MEMORY_VARIABLE
from ttmlir.runtime import BinaryError, open_device, read_binary, submit

X = np.arange(15, dtype=np.float32).reshape(SHAPE)


def run(data: bytes) -> np.ndarray:
    """The result for numbers from 0 on."""
    [result] = submit(open_device(), read_binary(data, "loops.ttnn"), 0, [X])
    return result.to_numpy()


def test_a_counted_loop() -> None:
    """Each iteration adds the argument."""
    np.testing.assert_array_equal(run(packed(function("f"), body=0, trip_count=7)), 8 * X)
    np.testing.assert_array_equal(run(packed(function("f"), body=0, trip_count=0)), X)


def test_a_loop_with_a_condition() -> None:
    """The last number is 14, and grows by 14 while it is below 100."""
    result = run(packed(function("f"), goes_on(), body=0, condition=1))
    np.testing.assert_array_equal(result, 8 * X)


@pytest.mark.parametrize(("index", "factor"), [(0.0, 2), (1.0, 0), (2.0, 0), (-1.0, 0)])
def test_a_branch(index: float, factor: int) -> None:
    """An index that is no place stands for the last one."""
    b = ProgramBuilder()
    x = b.to_device(b.input(SHAPE))
    number, out = b.empty((1, 1)), b.empty(SHAPE)
    b.op("FullOp", device=b.device, out=number, fill_value=index)
    b.op("CaseOp", index=number, inputs=[x, x], outputs=[out], branches=[0, 1])
    b.output(out)
    branches = [function("f").table(), function("g", "Subtract").table()]
    np.testing.assert_array_equal(run(b.pack(functions=branches)), factor * X)


def test_loops_in_loops() -> None:
    """Three iterations of two."""
    result = run(packed(function("f"), calling("g", 0), body=1, trip_count=3))
    np.testing.assert_array_equal(result, 7 * X)


def one_input() -> ProgramBuilder:
    """A function of one argument."""
    b = ProgramBuilder("one", first_id=1000)
    b.output(b.input(SHAPE, space="DeviceDRAM"), on_device=True)
    return b


def no_output() -> ProgramBuilder:
    """A function without results."""
    b = ProgramBuilder("none", first_id=1000)
    for _ in range(2):
        b.input(SHAPE, space="DeviceDRAM")
    return b


def from_host() -> ProgramBuilder:
    """A function of tensors of the host."""
    b = ProgramBuilder("host", first_id=1000)
    x, _ = (b.to_device(b.input(SHAPE)) for _ in range(2))
    b.output(x, on_device=True)
    return b


F = function("f")
DAMAGED: dict[str, tuple[bytes, str]] = {
    "no function": (packed(body=0, trip_count=1), "calls function 0, but the file has 0"),
    "no such function": (packed(F, body=9, trip_count=1), "calls function 9, but the file has 1"),
    "no such condition": (
        packed(F, body=0, condition=1),
        "calls function 1, but the file has 1",
    ),
    "calls itself": (
        packed(calling("g", 0), body=0, trip_count=1),
        "function 0 'g': operation 2 (WhileOp, loc(\"WhileOp\")): calls function 0, which is not "
        "before function 0; functions call only those before them, so that none calls itself",
    ),
    "call each other": (
        packed(calling("g", 1), calling("h", 0), body=0, trip_count=1),
        "calls function 1, which is not before function 0",
    ),
    "too few arguments": (
        packed(one_input(), body=0, trip_count=1),
        "function 0 'one' takes 1 tensor, but the operation has 2",
    ),
    "too few results": (
        packed(no_output(), body=0, trip_count=1),
        "function 0 'none' returns 0 tensors, but the operation has 1",
    ),
    "another shape": (
        packed(function("f", shape=(5, 3)), body=0, trip_count=1),
        "function 0 'f': input 0 has shape (3, 5) instead of (5, 3)",
    ),
    "from the host": (
        packed(from_host(), body=0, trip_count=1),
        "function 0 'host': input 0 has memory space",
    ),
    "fewer than no iterations": (packed(F, body=0, trip_count=-2), "has -2 iterations"),
    "a condition of many numbers": (
        packed(F, body=0, condition=0),
        "function 0 is its condition, but does not return one element",
    ),
    "more results than arguments": (
        packed(F, body=0, trip_count=1, inputs=[]),
        "carries 1 tensor, but has 0 inputs",
    ),
    "no branches": (
        packed(F, table="CaseOp", index=None, branches=[0]),
        "field 'index' is missing",
    ),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_damaged_files_are_refused(name: str) -> None:
    """Before anything runs, with the place in the file."""
    data, message = DAMAGED[name]
    with pytest.raises(BinaryError) as caught:
        run(data)
    assert "loops.ttnn: " in str(caught.value)
    assert message in str(caught.value)


def test_an_index_is_one_number() -> None:
    """A tensor of many is refused, as is a branch without functions."""
    for branches, message in (([0], "its index has 15 elements"), ([], "has no branches")):
        b = ProgramBuilder()
        x = b.to_device(b.input(SHAPE))
        number, out = (x if branches else b.empty((1, 1))), b.empty(SHAPE)
        b.op("CaseOp", index=number, inputs=[x, x], outputs=[out], branches=branches)
        b.output(out)
        with pytest.raises(BinaryError, match=message):
            run(b.pack(functions=[F.table()]))


def test_calls_nest_up_to_a_limit() -> None:
    """However many functions there are, none of them needs Python's stack."""
    most = MAX_CALL_DEPTH - 1
    chain = [F, *(calling(f"g{n}", n) for n in range(10 * most))]
    np.testing.assert_array_equal(run(packed(*chain[:5], body=4, trip_count=1)), 17 * X)
    with pytest.raises(BinaryError, match=f"nest more than {MAX_CALL_DEPTH} deep"):
        run(packed(*chain, body=len(chain) - 1, trip_count=1))


@pytest.mark.parametrize("trip_count", [-1, 1 << 62])
def test_loops_come_to_an_end(trip_count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """All iterations of a run count, those of inner loops, too."""
    monkeypatch.setenv(ITERATIONS_VARIABLE, "2000")
    zero = function("zero", "Multiply")
    data = packed(F, goes_on(), calling("g", 0), zero, body=3, condition=1, trip_count=trip_count)
    with confined(megabytes=400, cpu_seconds=10), pytest.raises(Error) as caught:
        submit(open_device(), read_binary(data, "loops.ttnn"), 0, [0 * X])
    assert "have made 2000 iterations and would go on; the environment variable" in str(
        caught.value
    )
    inner = packed(F, calling("g", 0), body=1, trip_count=700)
    with pytest.raises(Error, match="have made 2000 iterations"):
        run(inner)


def test_memory_of_functions_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a function takes is there beside what its caller holds."""
    monkeypatch.setenv(MEMORY_VARIABLE, "0.25")
    b = ProgramBuilder("large", first_id=1000)
    x, _ = (b.input(SHAPE, space="DeviceDRAM") for _ in range(2))
    large: Ref = b.empty((1 << 14, 1 << 13))
    b.op("FullOp", device=b.device, out=large, fill_value=1.0)
    b.eltwise("Relu", [large])
    b.output(x, on_device=True)
    with (
        confined(megabytes=400, cpu_seconds=10),
        pytest.raises(BinaryError, match=r"at most 0\.25"),
    ):
        run(packed(b, body=0, trip_count=1))
