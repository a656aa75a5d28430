"""Random programs of integers: CPython, the simulator and g++ agree on what they print."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from oracles.kernel_oracle import run_by_gcc
from oracles.python_oracle import ARGUMENTS, NOTE, by_python, by_simulator, compiled
from samples.python_kernels import PythonKernel

from ttmlir.compiler import transform
from ttmlir.target.cpp.emitter import emit_cpp


@settings(deadline=None, max_examples=12, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_cpython_and_the_simulator_agree(seed: int, optimize: bool) -> None:
    """A kernel computes what its Python says."""
    text = PythonKernel(random.Random(seed)).text()
    assert by_simulator(compiled(text, optimize=optimize)) == by_python(text)


def test_cpython_and_gcc_agree(tmp_path: Path) -> None:
    """The C++ of a kernel is what a C++ compiler takes it for."""
    texts = [PythonKernel(random.Random(seed)).text() for seed in range(24)]
    kernels = [compiled(text, optimize=seed % 2 == 1) for seed, text in enumerate(texts)]
    assert run_by_gcc(kernels, ARGUMENTS, tmp_path) == [by_python(text) for text in texts]


@pytest.mark.exhaustive
def test_the_road_through_emitc_agrees_too(tmp_path: Path) -> None:
    """convert-ttkernel-to-emitc and the printer of emitc, loops and arrays included."""
    texts = [PythonKernel(random.Random(seed), NOTE).text() for seed in range(100, 130)]
    programs = list[str]()
    for text in texts:
        module = compiled(text).module
        transform(module, "convert-ttkernel-to-emitc")
        function = emit_cpp(module)
        programs.append(function.replace("void kernel()", "void kernel_main()"))
    assert run_by_gcc(programs, ARGUMENTS, tmp_path) == [by_python(text) for text in texts]
