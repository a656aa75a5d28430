"""Random programs note what they note as programs of g++; what is no C++ is refused by both."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from random import Random

import pytest
from oracles.kernel_oracle import RecordingApi, noted, noted_by_gcc
from samples.cpp_jumps import make_jumps
from samples.cpp_lifetimes import make_lifetimes
from samples.cpp_objects import make_objects
from samples.cpp_pointers import make_pointers
from samples.cpp_programs import damage, make_kernel

from ttmlir.cpp.errors import CppSyntaxError
from ttmlir.optable.kernel import Role
from ttmlir.sim.kernels import compile_kernel

_PROGRAMS = 40
"""So many are one kernel, and share its classes and functions."""
_PRELUDE = (
    "#include <array>\n#include <cstdint>\n#include <utility>\n"
    "template <typename T> void note(T value);\n"
)
needs_gcc = pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")


def check(seeds: range, folder: Path) -> None:
    """All kernels in one text of g++."""
    texts = [make_kernel(seed, _PROGRAMS) for seed in seeds]
    expected = noted_by_gcc(texts, folder)
    assert sum(map(len, expected)) > 100 * len(seeds)
    for seed, text, wanted in zip(seeds, texts, expected, strict=True):
        assert noted(text) == wanted, f"make_kernel({seed}, {_PROGRAMS})"


@needs_gcc
def test_random_programs(tmp_path: Path) -> None:
    """320 programs."""
    check(range(8), tmp_path)


@pytest.mark.exhaustive
@needs_gcc
@pytest.mark.parametrize("start", range(100, 600, 25))
def test_many_random_programs(start: int, tmp_path: Path) -> None:
    """20,000 programs."""
    check(range(start, start + 25), tmp_path)


def check_lifetimes(seeds: range, folder: Path) -> None:
    """All kernels in one text of g++; each is a function of its own."""
    texts = [make_lifetimes(seed, 1) for seed in seeds]
    for seed, text, wanted in zip(seeds, texts, noted_by_gcc(texts, folder), strict=True):
        assert noted(text) == wanted, f"make_lifetimes({seed}, 1)"


@needs_gcc
def test_random_lifetimes(tmp_path: Path) -> None:
    """Objects begin, move and end when they do with g++: 12 programs."""
    check_lifetimes(range(12), tmp_path)


@pytest.mark.exhaustive
@needs_gcc
@pytest.mark.parametrize("start", range(1000, 2000, 50))
def test_many_random_lifetimes(start: int, tmp_path: Path) -> None:
    """1,000 programs."""
    check_lifetimes(range(start, start + 50), tmp_path)


def check_pointers(seeds: range, folder: Path) -> None:
    """Programs that choose functions while they run; all kernels in one text of g++."""
    texts = [make_pointers(seed) for seed in seeds]
    for seed, text, wanted in zip(seeds, texts, noted_by_gcc(texts, folder), strict=True):
        assert noted(text) == wanted, f"make_pointers({seed})"


@needs_gcc
def test_random_pointers(tmp_path: Path) -> None:
    """16 programs."""
    check_pointers(range(16), tmp_path)


@pytest.mark.exhaustive
@needs_gcc
@pytest.mark.parametrize("start", range(1000, 2000, 50))
def test_many_random_pointers(start: int, tmp_path: Path) -> None:
    """1,000 programs."""
    check_pointers(range(start, start + 50), tmp_path)


def check_jumps(seeds: range, folder: Path) -> None:
    """Jumps, pointers to members and objects that may be missing, two functions of each kind."""
    texts = [make_jumps(seed, 2) for seed in seeds]
    for seed, text, wanted in zip(seeds, texts, noted_by_gcc(texts, folder), strict=True):
        assert noted(text) == wanted, f"make_jumps({seed}, 2)"


@needs_gcc
def test_random_jumps(tmp_path: Path) -> None:
    """24 functions."""
    check_jumps(range(4), tmp_path)


@pytest.mark.exhaustive
@needs_gcc
@pytest.mark.parametrize("start", range(1000, 1360, 20))
def test_many_random_jumps(start: int, tmp_path: Path) -> None:
    """2,160 functions."""
    check_jumps(range(start, start + 20), tmp_path)


def check_objects(seeds: range, folder: Path) -> None:
    """Five functions with classes of their own in each kernel; all kernels in one text of g++."""
    texts = [make_objects(seed, 5) for seed in seeds]
    for seed, text, wanted in zip(seeds, texts, noted_by_gcc(texts, folder), strict=True):
        assert noted(text) == wanted, f"make_objects({seed}, 5)"


@needs_gcc
def test_random_objects(tmp_path: Path) -> None:
    """Bit-fields, lambdas with captures, lists in braces and functions as values: 20 programs."""
    check_objects(range(4), tmp_path)


@pytest.mark.exhaustive
@needs_gcc
@pytest.mark.parametrize("start", range(1000, 2000, 50))
def test_many_random_objects(start: int, tmp_path: Path) -> None:
    """5,000 programs."""
    check_objects(range(start, start + 50), tmp_path)


def check_damaged(seeds: range, folder: Path) -> None:
    """Each kernel stands in a namespace of its own, whose lines tell whose errors they are."""
    texts = [damage(make_kernel(seed, 2), Random(seed)) for seed in seeds]
    lines = _PRELUDE.count("\n")
    source = _PRELUDE
    spans = list[range]()
    for seed, text in zip(seeds, texts, strict=True):
        source += f"namespace kernel_{seed} {{\n{text}\n}}\n"
        spans.append(range(lines + 1, source.count("\n") + 1))
        lines = source.count("\n")
    path = folder / "damaged.cpp"
    path.write_text(source)
    command = ["g++", "-w", "-std=c++17", "-fsyntax-only", "-fmax-errors=0", path]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    wrong = {int(each) for each in re.findall(r":(\d+):\d+: error", done.stderr)}
    assert wrong
    for seed, text, span in zip(seeds, texts, spans, strict=True):
        is_refused = _is_refused(text)
        assert is_refused == (not wrong.isdisjoint(span)), f"damage(make_kernel({seed}, 2), ...)"


def _is_refused(text: str) -> bool:
    try:
        compile_kernel(text, "kernel.cpp", Role.BRISC, api=RecordingApi)
    except CppSyntaxError:
        return True
    return False


@needs_gcc
def test_damaged_programs(tmp_path: Path) -> None:
    """Most are refused, by both."""
    check_damaged(range(60), tmp_path)


@pytest.mark.exhaustive
@needs_gcc
@pytest.mark.parametrize("start", range(1000, 2000, 200))
def test_many_damaged_programs(start: int, tmp_path: Path) -> None:
    """1,000 of them."""
    check_damaged(range(start, start + 200), tmp_path)
