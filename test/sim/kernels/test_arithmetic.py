"""Compiled kernels calculate what g++ makes of the same text."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from oracles.kernel_oracle import noted, noted_by_gcc, run
from samples.kernel_programs import Program

INPUTS = sorted((Path(__file__).parent / "Inputs").glob("*.cpp"))
MEMORY = sorted((Path(__file__).parent / "Inputs" / "memory").glob("*.cpp"))


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("path", INPUTS, ids=lambda path: path.stem)
def test_hand_written_programs(path: Path, tmp_path: Path) -> None:
    """Every number is the one that g++ finds."""
    text = path.read_text()
    assert noted(text) == noted_by_gcc([text], tmp_path)[0]


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("argument", [0, 1])
@pytest.mark.parametrize("path", MEMORY, ids=lambda path: path.stem)
def test_programs_with_memory(path: Path, argument: int, tmp_path: Path) -> None:
    """`AT(n)` is a place in memory: address n of a core, n bytes behind the start for g++."""
    text = path.read_text()
    got = run("#define AT(place) (place)\n" + text, argument).noted
    around = (
        "static uint32_t storage[1024];\n#define AT(place) ((char*)storage + place)\n"
        f"template <typename T> T get_arg_val(int index) {{ return {argument}; }}\n"
    )
    assert list(map(int, got)) == noted_by_gcc([around + text], tmp_path)[0]


@settings(
    max_examples=3,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.lists(st.integers(0, 2**32), min_size=8, max_size=8))
def test_random_programs(tmp_path: Path, seeds: list[int]) -> None:
    """Programs of every operator, loop and kind of parameter note the same numbers."""
    texts = [Program(seed).text() for seed in seeds]
    assert [noted(text) for text in texts] == noted_by_gcc(texts, tmp_path)
