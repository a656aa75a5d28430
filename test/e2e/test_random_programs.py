"""Random ttir programs, compiled for ttnn and run, against their evaluation with NumPy."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from running.pass_runner import TTNN_PIPELINE, executed
from samples.random_programs import ALIASES, HOST, check_result, program_of

OPTIONS = ("", "=enable-grid-set=false", "=sharding-pass-enabled=true", "=mesh-shape=1,1,1")
BEFORE = ((), (), ("canonicalize",), ("cse",))


@settings(
    max_examples=75,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(3, 15),
    st.sampled_from(OPTIONS),
    st.sampled_from(BEFORE),
)
def test_program(seed: int, size: int, options: str, before: tuple[str, ...]) -> None:
    """Each returned value has the element type, the shape and the numbers that were foreseen."""
    program, returned = program_of(seed, size)
    text = ALIASES + program.text.returning(*(value.name for value in returned))
    inputs = [value.array.astype(HOST[value.element]) for value in program.inputs]
    results = executed(text, inputs, *before, TTNN_PIPELINE + options)
    for value, result in zip(returned, results, strict=True):
        assert result.dtype == HOST[value.element], text
        check_result(value, result, text)
