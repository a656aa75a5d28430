"""Comparison with golden results."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from samples.ttnn_program import ProgramBuilder

from ttmlir.runtime import read_binary
from ttmlir.runtime.execution.executor import execute
from ttmlir.runtime.execution.prepare import prepare
from ttmlir.runtime.execution.steps import PreparedProgram
from ttmlir.runtime.golden import GoldenObserver, Tolerance, compare
from ttmlir.runtime.tensor import Numerics


def prepared_program(numerics: Numerics = Numerics.EXACT) -> PreparedProgram:
    """exp, then a sum over rows, then relu."""
    b = ProgramBuilder()
    x = b.to_device(b.input((4, 33)), element="bf16")
    y = b.eltwise("Exp", [x], debug_info='%1 = "ttnn.exp"(%0) loc("model.py":3:1)')
    fields = {"in": y, "type": "Sum", "dim_arg": [1], "keep_dim": True}
    z = b.compute("ReductionOp", (4, 1), "f32", **fields)
    b.output(b.eltwise("Relu", [z]))
    return prepare(read_binary(b.pack(), "test.ttnn").program(0), numerics)


def observe(prepared: PreparedProgram, tolerance: Tolerance) -> GoldenObserver:
    """Run with a golden run beside it."""
    x = np.random.default_rng(0).standard_normal((4, 33)).astype(np.float32)
    observer = GoldenObserver([x], tolerance, keep_tensors=True)
    execute(prepared, [x], observer)
    return observer


def test_right_programs_pass() -> None:
    """Every computing operation is compared, in both numerics."""
    for numerics in Numerics:
        observer = observe(prepared_program(numerics), Tolerance())
        assert [r.name for r in observer.results] == ["ttnn.exp", "ttnn.sum", "ttnn.relu"]
        assert observer.find_failure([], confirmed=False) is None
    x = np.random.default_rng(0).standard_normal((4, 33)).astype(np.float32)
    golden = observer.results[1].golden
    assert golden is not None
    assert golden.dtype == np.float64
    np.testing.assert_allclose(golden, np.exp(x.astype(np.float64)).sum(1, keepdims=True))


def test_the_first_wrong_operation_is_named() -> None:
    """A sum that forgets a column is found, although relu after it is off as well."""
    prepared = prepared_program()
    steps = list(prepared.steps)
    index = next(i for i, s in enumerate(steps) if s.call and s.call.definition.mnemonic == "sum")
    steps[index] = replace(steps[index], function=lambda x: x[:, ::-2].sum(1, keepdims=True))
    observer = observe(replace(prepared, steps=tuple(steps)), Tolerance())
    failure = observer.find_failure([], confirmed=True)
    assert failure is not None
    assert failure.name == "ttnn.sum"
    assert failure.operation.index == index
    assert [result.passed for result in observer.results] == [True, False, False]
    assert [result.inherited for result in observer.results] == [False, False, True]


@pytest.mark.parametrize("scale", [0, 1])
def test_differences_that_grow_count_where_outputs_are_off(scale: int) -> None:
    """The float32 next to 0.7, ten times, is 7 in float32 and less in float64, of which the floor
    is 6: the floor is right for its operand. The output is its product with 0 or 1."""
    b = ProgramBuilder()
    x, ten, last = (b.to_device(b.input((2, 3))) for _ in range(3))
    floor = b.eltwise("Floor", [b.eltwise("Multiply", [x, ten])])
    b.output(b.eltwise("Multiply", [floor, last]))
    prepared = prepare(read_binary(b.pack(), "test.ttnn").program(0), Numerics.EXACT)
    inputs = [np.full((2, 3), each, np.float32) for each in (0.7, 10, scale)]
    observer = GoldenObserver(inputs, Tolerance())
    outputs = execute(prepared, inputs, observer)
    assert [result.passed for result in observer.results] == [True, False, not scale]
    assert [result.inherited for result in observer.results] == [False, True, bool(scale)]
    assert observer.find_failure(outputs, confirmed=True) is None
    failure = observer.find_failure(outputs, confirmed=False)
    assert failure == (observer.results[1] if scale else None)


@pytest.mark.parametrize("wrong", [lambda x: 2 * x, lambda x: x + 3, lambda x: -x])
def test_wrong_scale_offset_and_sign_are_noticed(wrong: Callable[[np.ndarray], np.ndarray]) -> None:
    """Although the first two correlate perfectly."""
    expected = np.random.default_rng(1).standard_normal(1000)
    accuracy = compare(wrong(expected), expected, rtol=5e-2, atol=1e-3)
    assert not Tolerance().accepts(accuracy)


def test_noise_is_accepted_up_to_the_correlation() -> None:
    """Noise of a tenth of the numbers correlates with 0.995, of a fifth with 0.98."""
    rng = np.random.default_rng(2)
    expected, noise = rng.standard_normal(100_000), rng.standard_normal(100_000)
    for size, accepted in ((0.1, True), (0.2, False)):
        accuracy = compare(expected + size * noise, expected, rtol=5e-2, atol=1e-3)
        assert accuracy.pcc == pytest.approx(1 / math.sqrt(1 + size**2), abs=1e-3)
        assert accuracy.relative_root_mean_square_error == pytest.approx(size, rel=0.02)
        assert Tolerance().accepts(accuracy) is accepted


def test_report_entries() -> None:
    """Locations come from the debug text; numbers are plain."""
    observer = observe(prepared_program(), Tolerance())
    entry = observer.results[0].as_dict(observer.tolerance)
    assert entry["loc"] == '"model.py":3:1'
    assert entry["op"] == "ttnn.exp"
    assert entry["expected_pcc"] == 0.99
    assert entry["actual_pcc"] > 0.999999
    assert entry["allclose"] is True


def test_accuracy_of_known_tensors() -> None:
    """Numbers worked out by hand and by numpy.corrcoef."""
    actual, expected = np.array([1.0, 2.0, 4.0]), np.array([1.0, 2.0, 3.0])
    accuracy = compare(actual, expected, rtol=0, atol=0.5)
    assert accuracy.pcc == pytest.approx(np.corrcoef(actual, expected)[0, 1])
    assert accuracy.max_absolute_error == 1
    assert accuracy.mean_absolute_error == pytest.approx(1 / 3)
    assert accuracy.max_relative_error == pytest.approx(1 / 3)
    assert accuracy.root_mean_square_error == pytest.approx(math.sqrt(1 / 3))
    assert accuracy.cosine_similarity == pytest.approx(17 / math.sqrt(21 * 14))
    assert not accuracy.allclose
    assert compare(actual, expected, rtol=0, atol=1).allclose


@pytest.mark.parametrize("rtol", [0.0, 0.125, 0.25])
@pytest.mark.parametrize("atol", [0.0, 0.25, 0.5])
@pytest.mark.parametrize("error", [0.0, 0.25, -0.5, 0.75])
def test_tolerances_are_those_of_numpy(rtol: float, atol: float, error: float) -> None:
    """The bound grows with the expected number, whatever its sign; it is met at its end, too."""
    for expected in (np.array([2.0]), np.array([-2.0]), np.array([0.0])):
        accuracy = compare(expected + error, expected, rtol=rtol, atol=atol)
        assert accuracy.allclose == np.allclose(expected + error, expected, rtol=rtol, atol=atol)


def test_relative_errors_are_those_of_numbers_that_are_not_zero() -> None:
    """By hand: 1/2 and 1/4 of what was expected; the third number has no relative error."""
    actual, expected = np.array([3.0, -3.0, 0.5]), np.array([2.0, -4.0, 0.0])
    accuracy = compare(actual, expected, rtol=0, atol=0)
    assert accuracy.max_relative_error == 0.5
    assert accuracy.max_absolute_error == 1.0
    assert accuracy.mean_absolute_error == pytest.approx(2.5 / 3)
    assert accuracy.root_mean_square_error == pytest.approx(math.sqrt(2.25 / 3))


def test_infinities_and_nans_must_be_in_the_same_places() -> None:
    """Equal special values are ignored, others are failures."""
    expected = np.array([1.0, np.nan, np.inf, -np.inf, 2.0])
    assert compare(expected, expected, rtol=0, atol=0).pcc == 1
    wrong = np.array([1.0, np.nan, np.inf, np.inf, 2.0])
    accuracy = compare(wrong, expected, rtol=1, atol=1)
    assert (accuracy.mismatched_specials, accuracy.pcc, accuracy.allclose) == (1, 0, False)
    assert accuracy.as_dict()["max_absolute_error"] is None


@pytest.mark.parametrize(
    ("actual", "expected", "pcc"),
    [
        ([2.0, 2.0], [2.0, 2.0], 1.0),
        ([2.0, 2.0], [2.001, 2.001], 1.0),
        ([2.0, 2.0], [9.0, 9.0], 0.0),
        ([0.0, 0.0], [1.0, 2.0], 0.0),
        ([], [], 1.0),
        ([1.0, 2.0], [1.5, 1.5], 0.0),
        ([1.5, 1.5], [1.4999, 1.5001], 1.0),
        ([1.4999, 1.5001], [1.5, 1.5], 1.0),
        ([1e300, 2e300], [1e300, 2e300 * (1 + 1e-12)], 1.0),
    ],
)
def test_correlation_of_constant_empty_and_huge_tensors(
    actual: list[float], expected: list[float], pcc: float
) -> None:
    """Where the formula has no value or overflows."""
    result = compare(np.array(actual), np.array(expected), rtol=0, atol=0).pcc
    assert result == pytest.approx(pcc)


@given(arrays(np.float64, 9, elements=st.floats(-1e3, 1e3)), st.floats(0.1, 10))
def test_correlation_agrees_with_numpy(values: np.ndarray, scale: float) -> None:
    """On tensors that are not constant."""
    other = values * scale + np.arange(9)
    if np.ptp(values) < 1e-3 or np.ptp(other) < 1e-3:
        return
    expected = np.corrcoef(values, other)[0, 1]
    assert compare(values, other, rtol=0, atol=0).pcc == pytest.approx(expected, abs=1e-9)
