"""Random ttir programs as fused kernels on the simulator, against their evaluation with NumPy.

Each runs fused and unfused, in an order of threads of its own, with late copies, and clean under
the sanitizer. With device numerics, bounds are those of what the matrix unit takes of float32.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from running.kernel_runs import KERNEL_PIPELINE
from running.pass_runner import lowered
from samples.random_programs import (
    ALIASES,
    HOST,
    Precision,
    Program,
    Value,
    check_result,
    program_of,
)

from ttmlir.runtime import read_binary
from ttmlir.runtime.metal_program import MetalBinary
from ttmlir.runtime.metal_session import execute
from ttmlir.runtime.tensor import Numerics
from ttmlir.sim.options import SimOptions
from ttmlir.target.flatbuffer.ttmetal import ttmetal_to_flatbuffer

Array = np.ndarray[Any, Any]


class KernelProgram(Program):
    """A program of what kernels compute, most of it arithmetic."""

    precision: ClassVar = Precision(
        {"f32": 2.0**-20, "bf16": 2.0**-8}, {"f32": 24, "bf16": 8}, steps=16
    )
    extents: ClassVar = (1, 2, 5, 31, 33, 40, 70)
    missing: ClassVar = frozenset({"erfinv", "lgamma"})

    def growths(self) -> Sequence[Callable[[], None]]:
        """Moves are rarer, since simulating those of single elements takes long."""
        often = (self.smooth, self.arithmetic, self.reduction, self.matmul, self.softmax)
        return (*super().growths(), *often, *often, *often)


class DeviceProgram(KernelProgram):
    """One whose float32 numbers pass through registers of 19 bits."""

    precision: ClassVar = Precision(
        {"f32": 2.0**-8, "bf16": 2.0**-7}, {"f32": 8, "bf16": 8}, steps=16
    )


def run(
    text: str, inputs: Sequence[Array], options: str, numerics: Numerics, seed: int
) -> list[Array]:
    """The results of a program on the simulator, clean under the sanitizer."""
    module = lowered(text, f"{KERNEL_PIPELINE}={options}" if options else KERNEL_PIPELINE)
    binary = read_binary(ttmetal_to_flatbuffer(module), "random.ttm")
    assert isinstance(binary, MetalBinary)
    schedule = SimOptions(numerics=numerics, timed=False, schedule_seed=seed, delay_copies=True)
    result = execute(binary.metal_programs[0], inputs, schedule)
    assert not [finding for each in result.reports for finding in each.report.findings], text
    return result.outputs


def check(program: Program, returned: Sequence[Value], numerics: Numerics, seed: int) -> None:
    """Fused and unfused kernels compute what was foreseen; of odd seeds all sums have 32 bits."""
    text = ALIASES + program.text.returning(*(value.name for value in returned))
    inputs = [value.array.astype(HOST[value.element]) for value in program.inputs]
    sums = f"fp32-dest-acc-en={'true' if seed % 2 else 'auto'}"
    for options in (sums, f"enable-fusion=false {sums}"):
        results = run(text, inputs, options, numerics, seed)
        for value, result in zip(returned, results, strict=True):
            check_result(value, result, text)


KINDS = [KernelProgram, DeviceProgram]
SETTINGS: dict[str, Any] = {
    "deadline": None,
    "derandomize": True,
    "suppress_health_check": list(HealthCheck),
}
SEEDS, SIZES, SMALL = st.integers(0, 2**32 - 1), st.integers(2, 30), st.integers(2, 12)


def check_random(kind: type[Program], seed: int, size: int) -> None:
    """The program of a seed."""
    program, returned = program_of(seed, size, kind)
    check(program, returned, "device" if kind is DeviceProgram else "exact", seed % 7)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=3, **SETTINGS)
@given(SEEDS, SMALL)
def test_program(kind: type[Program], seed: int, size: int) -> None:
    """Fused and unfused kernels give the numbers that were foreseen; longer programs come below."""
    check_random(kind, seed, size)


@pytest.mark.exhaustive
@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=100, **SETTINGS)
@given(SEEDS, SIZES)
def test_many_programs(kind: type[Program], seed: int, size: int) -> None:
    """As `test_program`."""
    check_random(kind, seed, size)
